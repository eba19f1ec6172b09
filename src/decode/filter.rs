//! Which segments the user wants: an expression over hosts, networks and ports.

use std::fmt;
use std::net::IpAddr;

use super::segment::Endpoint;

/// A filter in the words of tcpdump (pcap-filter(7)), as far as they are about addresses and ports.
///
/// - `host A`, `net A/len`, `port N`, `portrange N-M`, each with `src` or `dst` before it if only
///   that side counts; an address or network alone means `host` or `net`;
/// - `ip` and `ip6` (also before another primitive), and `tcp`, which is always so;
/// - `not` or `!`, `and` or `&&`, `or` or `||`, and parentheses. As in tcpdump, `and` and `or` bind
///   equally and from the left, and in `port 80 or 443` the keyword need not be repeated.
///
/// Of pings the addresses count alone: what names a port, or `tcp`, matches none, as in tcpdump.
///
/// Without `src` and `dst`, a filter keeps both directions of a connection or neither. With them it
/// may cut one direction away, and what needs both (RTT, goodput by ACKs) is then not to be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    root: Group,
}

impl Filter {
    /// Reads an expression.
    ///
    /// # Errors
    /// Says where it could not be read on, and what was expected there.
    pub fn parse(expression: &str) -> Result<Self, FilterError> {
        let tokens = tokens(expression);
        let mut parser = Parser {
            tokens: &tokens,
            at: 0,
            last: None,
        };
        let root = parser.group(0)?;
        match parser.peek() {
            None => Ok(Self { root }),
            Some(_) => Err(parser.error("`and`, `or` or the end")),
        }
    }

    /// Whether a segment from `src` to `dst` is wanted.
    #[must_use]
    pub fn keeps(&self, src: &Endpoint, dst: &Endpoint) -> bool {
        let is_tcp = true;
        self.root.keeps(&Packet { src, dst, is_tcp })
    }

    /// Whether a ping from `src` to `dst` is wanted.
    #[must_use]
    pub fn keeps_ping(&self, src: IpAddr, dst: IpAddr) -> bool {
        let [src, dst] = [src, dst].map(|address| match address {
            IpAddr::V4(v4) => Endpoint::v4(v4.octets(), 0),
            IpAddr::V6(v6) => Endpoint::v6(v6.octets(), 0),
        });
        self.root.keeps(&Packet {
            src: &src,
            dst: &dst,
            is_tcp: false,
        })
    }
}

/// Why an expression is not a filter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct FilterError {
    /// Where it went wrong, in characters from 1.
    pub column: usize,
    /// What should have been there.
    pub expected: &'static str,
    /// What was there; `None` at the end of the expression.
    pub found: Option<String>,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "column {}: expected {}, found ",
            self.column, self.expected
        )?;
        match &self.found {
            Some(found) => write!(f, "`{found}`")?,
            None => f.write_str("the end")?,
        }
        if self.found.as_deref().is_some_and(is_for_display) {
            f.write_str(
                "; filters are written as for tcpdump (`host 10.0.0.1 and port 443`), not as Wireshark's display filters",
            )?;
        }
        Ok(())
    }
}

/// Whether a word is of a display filter, wireshark-filter(4): a field, or a comparison.
fn is_for_display(word: &str) -> bool {
    const PROTOCOLS: [&str; 8] = ["eth", "frame", "http", "ip", "ipv6", "tcp", "tls", "udp"];
    let is_field = |(protocol, _): (&str, &str)| PROTOCOLS.contains(&protocol);
    word.split_once('.').is_some_and(is_field)
        || word.contains("==")
        || word.starts_with("!=")
        || ["eq", "ne", "contains", "matches"].contains(&word)
}

/// What a filter looks at.
#[derive(Clone, Copy)]
struct Packet<'a> {
    src: &'a Endpoint,
    dst: &'a Endpoint,
    /// It has ports.
    is_tcp: bool,
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
    /// `tcp` stands before it, or alone.
    tcp: bool,
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
        let &Packet { src, dst, is_tcp } = packet;
        let needs_tcp = self.tcp || matches!(self.what, What::Ports { .. });
        let is_other = |version| version != Version::of(src);
        if needs_tcp && !is_tcp || self.version.is_some_and(is_other) {
            return false;
        }
        match self.side {
            Side::Either => self.what.matches(src) || self.what.matches(dst),
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

    /// The addresses that share the first `len` bits with `address`.
    fn net(address: IpAddr, len: Option<u32>) -> Option<Self> {
        let (octets, bits_before) = match address {
            IpAddr::V4(v4) => (v4.to_ipv6_mapped().octets(), 96),
            IpAddr::V6(v6) => (v6.octets(), 0),
        };
        let host_bits = match len {
            Some(len) => 128_u32.checked_sub(bits_before)?.checked_sub(len)?,
            None => 0,
        };
        let mask = u128::MAX.checked_shl(host_bits).unwrap_or(0);
        let bits = u128::from_be_bytes(octets) & mask;
        let version = Version::of(&Endpoint::v6(bits.to_be_bytes(), 0));
        Some(Self::Net {
            version,
            bits,
            mask,
        })
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

struct Token<'a> {
    text: &'a str,
    column: usize,
}

fn tokens(expression: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = expression.trim_end();
    let mut column = 1;
    loop {
        let trimmed = rest.trim_start();
        column += rest.chars().count() - trimmed.chars().count();
        rest = trimmed;
        let len = match rest.chars().next() {
            None => break,
            Some('(' | ')' | '!') => 1,
            Some('&') if rest.starts_with("&&") => 2,
            Some('|') if rest.starts_with("||") => 2,
            Some(first) => {
                let start = first.len_utf8();
                rest[start..]
                    .find(|c: char| c.is_whitespace() || "()!&|".contains(c))
                    .map_or(rest.len(), |at| start + at)
            }
        };
        let (text, behind) = rest.split_at(len);
        tokens.push(Token { text, column });
        column += text.chars().count();
        rest = behind;
    }
    // A last one to point at when something is missing.
    tokens.push(Token { text: "", column });
    tokens
}

struct Parser<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
    /// Side and kind of the last primitive, for values that follow without keywords.
    last: Option<(Side, Kind)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Host,
    Net,
    Port,
    PortRange,
}

impl<'a> Parser<'a> {
    fn group(&mut self, depth: usize) -> Result<Group, FilterError> {
        let mut terms = Vec::new();
        let mut join = Join::Or;
        loop {
            let mut negated = false;
            while self.take(&["not", "!"]) {
                negated = !negated;
            }
            let operand = if self.peek() == Some("(") {
                if depth == PARENTHESES_MAX {
                    return Err(self.error("fewer parentheses"));
                }
                self.at += 1;
                let group = self.group(depth + 1)?;
                if !self.take(&[")"]) {
                    return Err(self.error("`and`, `or` or `)`"));
                }
                Operand::Group(group)
            } else {
                Operand::Test(self.primitive()?)
            };
            terms.push(Term {
                join,
                negated,
                operand,
            });
            join = if self.take(&["and", "&&"]) {
                Join::And
            } else if self.take(&["or", "||"]) {
                Join::Or
            } else {
                return Ok(Group { terms });
            };
        }
    }

    fn primitive(&mut self) -> Result<Test, FilterError> {
        let version = match self.peek() {
            Some("ip") => Some(Version::V4),
            Some("ip6") => Some(Version::V6),
            _ => None,
        };
        let tcp = self.peek() == Some("tcp");
        if self.take(&["ip", "ip6", "tcp"])
            && !matches!(
                self.peek(),
                Some("src" | "dst" | "host" | "net" | "port" | "portrange")
            )
        {
            return Ok(Test {
                version,
                tcp,
                side: Side::Either,
                what: What::Anything,
            });
        }
        let side = if self.take(&["src"]) {
            Some(Side::Src)
        } else if self.take(&["dst"]) {
            Some(Side::Dst)
        } else {
            None
        };
        let kind = match self.peek() {
            Some("host") => Some(Kind::Host),
            Some("net") => Some(Kind::Net),
            Some("port") => Some(Kind::Port),
            Some("portrange") => Some(Kind::PortRange),
            _ => None,
        };
        self.at += usize::from(kind.is_some());
        let (side, kind) = self.qualifiers(side, kind)?;
        self.last = Some((side, kind));
        Ok(Test {
            version,
            tcp,
            side,
            what: self.value(kind)?,
        })
    }

    /// Side and kind of the value that comes next: as said, or else as said last, or else by what
    /// it looks like.
    fn qualifiers(
        &self,
        side: Option<Side>,
        kind: Option<Kind>,
    ) -> Result<(Side, Kind), FilterError> {
        if let Some(kind) = kind {
            return Ok((side.unwrap_or(Side::Either), kind));
        }
        let Some(value) = self.peek() else {
            return Err(self.error("a host, net or port"));
        };
        let is_address = value.contains([':', '.']);
        let kind = match (is_address, self.last) {
            (true, _) if value.contains('/') => Kind::Net,
            (true, _) => Kind::Host,
            (false, Some((_, Kind::Port | Kind::PortRange))) if value.contains('-') => {
                Kind::PortRange
            }
            (false, Some((_, Kind::Port | Kind::PortRange))) => Kind::Port,
            (false, _) => {
                return Err(self.error("`host`, `net`, `port`, `portrange` or an address"));
            }
        };
        let as_before = match self.last {
            Some((side, Kind::Host | Kind::Net)) if is_address => side,
            Some((side, Kind::Port | Kind::PortRange)) if !is_address => side,
            _ => Side::Either,
        };
        Ok((side.unwrap_or(as_before), kind))
    }

    fn value(&mut self, kind: Kind) -> Result<What, FilterError> {
        let text = self.peek().unwrap_or_default();
        let (what, expected) = match kind {
            Kind::Host => (
                text.parse()
                    .ok()
                    .and_then(|address| What::net(address, None)),
                "an IP address",
            ),
            Kind::Net => (
                parse_net(text),
                "a network like 10.0.0.0/8 or 2001:db8::/32",
            ),
            Kind::Port => (
                text.parse().ok().map(|port| What::Ports {
                    first: port,
                    last: port,
                }),
                "a port number",
            ),
            Kind::PortRange => (parse_range(text), "a range of ports like 5000-5010"),
        };
        let what = what.ok_or_else(|| self.error(expected))?;
        self.at += 1;
        Ok(what)
    }

    fn peek(&self) -> Option<&'a str> {
        self.tokens
            .get(self.at)
            .map(|token| token.text)
            .filter(|text| !text.is_empty())
    }

    fn take(&mut self, any_of: &[&str]) -> bool {
        let is_there = self.peek().is_some_and(|text| any_of.contains(&text));
        self.at += usize::from(is_there);
        is_there
    }

    fn error(&self, expected: &'static str) -> FilterError {
        FilterError {
            column: self.tokens.get(self.at).map_or(1, |token| token.column),
            expected,
            found: self.peek().map(str::to_owned),
        }
    }
}

fn parse_net(text: &str) -> Option<What> {
    let (address, len) = text.split_once('/')?;
    What::net(address.parse().ok()?, Some(len.parse().ok()?))
}

fn parse_range(text: &str) -> Option<What> {
    let (first, last) = text.split_once('-')?;
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some(What::Ports { first, last })
}

/// Parentheses within parentheses: reading and asking recurse this deep.
const PARENTHESES_MAX: usize = 32;

#[cfg(test)]
mod tests;
