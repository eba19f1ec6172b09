//! Which flows never saw the queue of their path as empty as another one did.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::flow::Flow;
use crate::observe::Span;

/// A flow whose smallest round-trip time is well above that of another between the same hosts at the same time: its
/// queueing delay (METRICS.md R5) lacks the difference at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeverEmpty {
    /// Its place among the flows that were asked about.
    pub flow: usize,
    /// Its smallest round-trip time.
    pub own_ns: i64,
    /// That of the other one.
    pub least_ns: i64,
}

impl NeverEmpty {
    /// How much its queueing delay is too low at least.
    #[must_use]
    pub const fn lacks_ns(&self) -> i64 {
        self.own_ns.saturating_sub(self.least_ns)
    }
}

/// What is asked of a flow.
#[derive(Clone, Copy, Debug)]
struct Seen {
    flow: usize,
    hosts: (IpAddr, IpAddr),
    span: Span,
    own_ns: i64,
}

/// The flows that never saw their path empty, by place, among those that count beside the largest.
#[must_use]
pub fn never_seen_empty(flows: &[Flow<'_>]) -> Vec<NeverEmpty> {
    let largest = flows.iter().map(Flow::payload_bytes).max().unwrap_or(0);
    let counting = flows.iter().enumerate();
    let counting = counting.filter(|(_, flow)| flow.counts_beside(largest));
    let seen = counting.filter_map(|(place, flow)| {
        Some(Seen {
            flow: place,
            hosts: flow.hosts(),
            span: flow.data_span()?,
            own_ns: flow.figures().rtt_stats().ns_min()?,
        })
    });
    of_seen(seen)
}

fn of_seen(seen: impl Iterator<Item = Seen>) -> Vec<NeverEmpty> {
    /// Closer ones may differ by what their receivers wait.
    const APART_NS: i64 = 1_000_000;
    /// So many with the smallest times are held against each flow of their hosts.
    const HELD_MAX: usize = 64;
    let mut paths: BTreeMap<(IpAddr, IpAddr), Vec<Seen>> = BTreeMap::new();
    for flow in seen {
        paths.entry(flow.hosts).or_default().push(flow);
    }
    let mut all = Vec::new();
    for flows in paths.values_mut() {
        flows.sort_by_key(|flow| flow.own_ns);
        for one in flows.iter() {
            let meets = |other: &&Seen| {
                other.span.first <= one.span.last && one.span.first <= other.span.last
            };
            let Some(other) = flows.iter().take(HELD_MAX).find(meets) else {
                continue;
            };
            let apart_ns = one.own_ns.saturating_sub(other.own_ns);
            if apart_ns > APART_NS && apart_ns > other.own_ns / 10 {
                all.push(NeverEmpty {
                    flow: one.flow,
                    own_ns: one.own_ns,
                    least_ns: other.own_ns,
                });
            }
        }
    }
    all.sort_by_key(|of| of.flow);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::CaptureTime;

    #[test]
    fn a_flow_is_held_against_those_between_its_hosts_that_it_meets() {
        let of = |flow: usize, receiver: u8, seconds: [i64; 2], own_ms: i64| Seen {
            flow,
            hosts: ([10, 0, 0, 1].into(), [10, 0, 0, receiver].into()),
            span: Span {
                first: CaptureTime::from_ns(seconds[0] * 1_000_000_000),
                last: CaptureTime::from_ns(seconds[1] * 1_000_000_000),
            },
            own_ns: own_ms * 1_000_000,
        };
        let lacking = |flows: &[Seen]| -> Vec<(usize, i64)> {
            let all = of_seen(flows.iter().copied());
            all.iter().map(|of| (of.flow, of.lacks_ns())).collect()
        };
        let first = of(0, 2, [0, 10], 20);
        assert_eq!(lacking(&[first, of(1, 2, [5, 9], 35)]), [(1, 15_000_000)]);
        // Later, to another host, or hardly larger.
        assert_eq!(lacking(&[first, of(1, 2, [11, 19], 35)]), []);
        assert_eq!(lacking(&[first, of(1, 3, [5, 9], 35)]), []);
        assert_eq!(lacking(&[first, of(1, 2, [5, 9], 22)]), []);
        assert_eq!(lacking(&[of(0, 2, [0, 10], 1), of(1, 2, [5, 9], 2)]), []);
    }
}
