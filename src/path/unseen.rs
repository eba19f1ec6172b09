//! What one point captured and the other did not, as the one had another capture filter (METRICS.md B1).

use super::clock::Side;
use super::flows::PathFlow;
use super::others::{ICMP, ICMPV6, TCP, UDP};
use super::sighting::FlowKey;

/// Packets of one kind of which not one is at the other point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unseen {
    /// Of what kind they are.
    pub kind: UnseenKind,
    /// Which point has them, the first (0) or the second (1): its place in [`Hop::points`](super::Hop::points).
    pub point: usize,
    /// Their flows.
    pub flows: u64,
    /// How many they are.
    pub packets: u64,
}

/// What capture filters tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnseenKind {
    /// TCP, which a filter such as `udp` leaves out.
    Tcp,
    /// UDP, which a filter such as `tcp` leaves out.
    Udp,
    /// ICMP of IPv4 and IPv6.
    Icmp,
    /// IPv4, which the filter `ip6` leaves out.
    V4,
    /// IPv6, which the filter `ip` leaves out.
    V6,
}

impl UnseenKind {
    const ALL: [Self; 5] = [Self::Tcp, Self::Udp, Self::Icmp, Self::V4, Self::V6];

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
            Self::Icmp => "ICMP",
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        }
    }

    fn is_of(self, key: &FlowKey) -> bool {
        match self {
            Self::Tcp => key.protocol == TCP,
            Self::Udp => key.protocol == UDP,
            Self::Icmp => matches!(key.protocol, ICMP | ICMPV6),
            Self::V4 => key.src.ip().is_ipv4(),
            Self::V6 => key.src.ip().is_ipv6(),
        }
    }
}

/// Kinds of packets of which a point has many, and the other one not one, while others passed; with their flows.
pub(super) fn find(flows: &[&PathFlow]) -> Vec<(Unseen, Vec<FlowKey>)> {
    let mut all: Vec<(Unseen, Vec<FlowKey>)> = Vec::new();
    for kind in UnseenKind::ALL {
        let of_kind = flows.iter().copied().filter(|flow| kind.is_of(&flow.key));
        let of_kind: Vec<&PathFlow> = of_kind.collect();
        let seen = Side::BOTH.map(|point| of_kind.iter().map(|flow| seen_at(flow, point)).sum());
        let (point, packets) = match seen {
            [packets, 0] => (Side::First, packets),
            [0, packets] => (Side::Second, packets),
            _ => continue,
        };
        let keys: Vec<FlowKey> = of_kind.iter().map(|flow| flow.key).collect();
        let is_told = keys
            .iter()
            .all(|key| all.iter().any(|(_, told)| told.contains(key)));
        if packets >= UNSEEN_MIN && !is_told && passed_meanwhile(flows, &of_kind) >= UNSEEN_MIN {
            let unseen = Unseen {
                kind,
                point: point as usize,
                flows: keys.len() as u64,
                packets,
            };
            all.push((unseen, keys));
        }
    }
    all
}

/// How many packets of a flow a point has.
fn seen_at(flow: &PathFlow, point: Side) -> u64 {
    let alone = if Side::entry(flow.heading) == point {
        flow.dropped_packets
    } else {
        flow.appeared_packets
    };
    flow.passed_packets + alone
}

/// Packets that passed between the first and the last one of some flows.
fn passed_meanwhile(flows: &[&PathFlow], of_kind: &[&PathFlow]) -> u64 {
    let bins = || {
        of_kind
            .iter()
            .flat_map(|flow| &flow.bins)
            .map(|bin| bin.index)
    };
    let (Some(first), Some(last)) = (bins().min(), bins().max()) else {
        return 0;
    };
    let all = flows.iter().flat_map(|flow| &flow.bins);
    let meanwhile = all.filter(|bin| (first..=last).contains(&bin.index));
    meanwhile.map(|bin| bin.passed_packets).sum()
}

/// So many packets of which the other point has none are no chance (METRICS.md B1).
pub(crate) const UNSEEN_MIN: u64 = 100;
