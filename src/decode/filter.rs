//! Which segments the user wants: an expression over hosts, networks and ports.

use std::net::IpAddr;

use super::datagram::Transport;
use super::segment::Endpoint;

pub use parse::FilterError;

mod parse;

/// A filter in the words of tcpdump (pcap-filter(7)), as far as they are about addresses and ports.
///
/// - `host A`, `net A/len`, `port N`, `portrange N-M`, each with `src` or `dst` before it if only
///   that side counts (`src and dst` if both must match, `src or dst` as without); an address or
///   network alone means `host` or `net`;
/// - networks also as `net A mask M`, and of IPv4 by their first numbers: `net 10.1` is `10.1.0.0/16`;
/// - `ip`, `ip6`, `tcp` and `udp`, also before another primitive;
/// - `not` or `!`, `and` or `&&`, `or` or `||`, and parentheses. As in tcpdump, `and` and `or` bind
///   equally and from the left, and in `port 80 or 443` the keyword need not be repeated.
///
/// Of pings the addresses count alone: what names a port, `tcp` or `udp` matches none, as in tcpdump.
///
/// Without `src` and `dst`, a filter keeps both directions of a connection or neither. With them it
/// may cut one direction away, and what needs both (RTT, goodput by ACKs) is then not to be had.
///
/// ```
/// use ccanalyze::decode::{Endpoint, Filter};
///
/// let filter: Filter = "tcp and not port 22".parse()?;
/// let peer = Endpoint::v4([10, 0, 0, 2], 40_000);
/// let kept = [443, 22].map(|port| filter.keeps(&peer, &Endpoint::v4([10, 0, 0, 1], port)));
/// assert_eq!(kept, [true, false]);
/// # Ok::<(), ccanalyze::decode::FilterError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    root: Group,
}

impl Filter {
    /// Whether a segment from `src` to `dst` is wanted.
    #[must_use]
    pub fn keeps(&self, src: &Endpoint, dst: &Endpoint) -> bool {
        self.keeps_of(Some(Transport::Tcp), true, src, dst)
    }

    /// Whether a datagram of UDP from `src` to `dst` is wanted.
    #[must_use]
    pub fn keeps_datagram(&self, src: &Endpoint, dst: &Endpoint) -> bool {
        self.keeps_of(Some(Transport::Udp), true, src, dst)
    }

    /// Whether a ping from `src` to `dst` is wanted.
    #[must_use]
    pub fn keeps_ping(&self, src: IpAddr, dst: IpAddr) -> bool {
        let [src, dst] = [src, dst].map(|address| match address {
            IpAddr::V4(v4) => Endpoint::v4(v4.octets(), 0),
            IpAddr::V6(v6) => Endpoint::v6(v6.octets(), 0),
        });
        self.keeps_of(None, false, &src, &dst)
    }

    /// Whether an IP packet from `src` to `dst` is wanted, whatever it carries. `has_ports`: these have its ports, as
    /// of SCTP, too; later fragments have none.
    #[must_use]
    pub fn keeps_packet(
        &self,
        protocol: u8,
        has_ports: bool,
        src: &Endpoint,
        dst: &Endpoint,
    ) -> bool {
        self.keeps_of(Transport::of(protocol), has_ports, src, dst)
    }

    #[inline]
    fn keeps_of(
        &self,
        transport: Option<Transport>,
        has_ports: bool,
        src: &Endpoint,
        dst: &Endpoint,
    ) -> bool {
        self.root.keeps(&Packet {
            src,
            dst,
            transport,
            has_ports,
        })
    }
}

/// What a filter looks at.
#[derive(Clone, Copy)]
struct Packet<'a> {
    src: &'a Endpoint,
    dst: &'a Endpoint,
    /// What it is of, of these two.
    transport: Option<Transport>,
    /// Whether both ends have its ports.
    has_ports: bool,
}

/// Terms joined from the left, which is all that operators of one precedence need.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    join: Join,
    negated: bool,
    operand: Operand,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    And,
    Or,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Operand {
    Group(Group),
    Test(Test),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Test {
    version: Option<Version>,
    /// `tcp` or `udp` stands before it, or alone.
    transport: Option<Transport>,
    side: Side,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    V4,
    V6,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Either,
    Both,
    Src,
    Dst,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Anything,
    Net {
        version: Version,
        bits: u128,
        mask: u128,
    },
    Ports {
        first: u16,
        last: u16,
    },
}

impl Group {
    fn keeps(&self, packet: &Packet<'_>) -> bool {
        let mut kept = false;
        for term in &self.terms {
            // `and` after a no, or `or` after a yes, changes nothing.
            if kept == (term.join == Join::And) {
                kept = term.keeps(packet);
            }
        }
        kept
    }
}

impl Term {
    fn keeps(&self, packet: &Packet<'_>) -> bool {
        let keeps = match &self.operand {
            Operand::Group(group) => group.keeps(packet),
            Operand::Test(test) => test.keeps(packet),
        };
        keeps != self.negated
    }
}

impl Test {
    fn keeps(&self, packet: &Packet<'_>) -> bool {
        let &Packet {
            src,
            dst,
            transport,
            has_ports,
        } = packet;
        let lacks_ports = !has_ports && matches!(self.what, What::Ports { .. });
        let is_other = self.transport.is_some_and(|one| Some(one) != transport);
        let is_other_version = |version| version != Version::of(src);
        if lacks_ports || is_other || self.version.is_some_and(is_other_version) {
            return false;
        }
        match self.side {
            Side::Either => self.what.matches(src) || self.what.matches(dst),
            Side::Both => self.what.matches(src) && self.what.matches(dst),
            Side::Src => self.what.matches(src),
            Side::Dst => self.what.matches(dst),
        }
    }
}

impl What {
    fn matches(&self, endpoint: &Endpoint) -> bool {
        match *self {
            Self::Anything => true,
            // `::/0` is no IPv4 address, although an endpoint holds those as IPv6.
            Self::Net {
                version,
                bits,
                mask,
            } => {
                u128::from_be_bytes(endpoint.octets()) & mask == bits
                    && Version::of(endpoint) == version
            }
            Self::Ports { first, last } => (first..=last).contains(&endpoint.port()),
        }
    }

    /// This address alone.
    fn host(address: IpAddr) -> Self {
        Self::masked(address, u128::MAX)
    }

    /// The addresses that share the first `len` bits with `address`; `None` if it has not that many.
    fn net(address: IpAddr, len: u32) -> Option<Self> {
        let bits: u32 = if address.is_ipv4() { 32 } else { 128 };
        let host_bits = bits.checked_sub(len)?;
        let mask = u128::MAX.checked_shl(host_bits).unwrap_or(0);
        Some(Self::masked(address, mask))
    }

    /// The addresses that share the bits of `mask` with `address`; of an IPv4 address these are its last 32.
    fn masked(address: IpAddr, mask: u128) -> Self {
        let octets = match address {
            IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
            IpAddr::V6(v6) => v6.octets(),
        };
        let bits = u128::from_be_bytes(octets) & mask;
        let version = Version::of(&Endpoint::v6(bits.to_be_bytes(), 0));
        Self::Net {
            version,
            bits,
            mask,
        }
    }
}

impl Version {
    fn of(endpoint: &Endpoint) -> Self {
        match endpoint.octets() {
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ..] => Self::V4,
            _ => Self::V6,
        }
    }
}

#[cfg(test)]
mod tests;
