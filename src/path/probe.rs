//! A first look at both points: how packets are told apart, how far the clocks are apart, and
//! which way each flow goes.

use std::collections::{BTreeMap, HashMap, VecDeque};

use foldhash::fast::FixedState;

use super::clock::{Clock, ClockChoice, Heading};
use super::copies::{first_copies, times_seen};
use super::jumps::{self, APART_NS};
use super::others::{UdpTally, query_identifier};
use super::rules::{Rules, UdpChecksums};
use super::sighting::{FlowKey, Print};
use super::stamps;

/// What the first look found.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    pub(super) rules: Rules,
    /// The second clock against the first, roughly.
    pub(super) clock: Clock,
    /// Which way flows go, by the flow at either point.
    pub(super) headings: HashMap<FlowKey, Heading>,
    /// Whether packets of addresses of a link are among those that are at both points.
    pub(super) link_local: bool,
    /// Packets found at both points.
    pub(super) matches: usize,
    /// How many of these are of each flow, by its names at both points.
    pub(super) found: BTreeMap<[FlowKey; 2], usize>,
    /// How often each point has a packet.
    pub(super) times_seen: [u32; 2],
    /// The tick that the stamps of each point show, in ns.
    pub(super) shown_tick_ns: [Option<u32>; 2],
}

/// A packet that was found at both points: its flow at each, and its raw delay.
#[derive(Clone, Copy, Debug)]
struct Match {
    flows: [FlowKey; 2],
    raw: i64,
    second_at: i64,
}

impl Match {
    /// Two packets of one key; `None` where they are pings of two series: their identifiers are translated with an
    /// address alone (RFC 5508 section 3.1), and all else of them may be the same, as of those of another run.
    fn of(one: &Print, other: &Print) -> Option<Self> {
        let is_translated = one.flow.of_hosts() != other.flow.of_hosts();
        let is_one =
            is_translated || query_identifier(&one.packet) == query_identifier(&other.packet);
        is_one.then(|| Self {
            flows: [one.flow, other.flow],
            raw: other.at.saturating_sub(one.at),
            second_at: other.at,
        })
    }
}

/// Compares the headers of some packets of each point. `None` where no packet is at both.
pub(super) fn compare(mut points: [Vec<Print>; 2], choice: ClockChoice) -> Option<Probe> {
    for prints in &mut points {
        jumps::mend(prints, |print| &mut print.at);
    }
    let times_seen = points.each_ref().map(|prints| times_seen(prints));
    let shown_tick_ns = points
        .each_ref()
        .map(|prints| stamps::shown_tick_ns(prints));
    let [first, second] = points;
    let first = first_copies(first, times_seen[0]);
    let second = first_copies(second, times_seen[1]);
    let points = [&first[..], &second[..]];
    let (rules, matches) = best_matches(points)?;
    let matches = up_to_jump(matches);
    let headings = headings(&matches);
    let by_heading = |heading: Heading| {
        let of = &headings;
        matches
            .iter()
            .filter(move |m| of.get(&m.flows[0]) == Some(&heading))
            .map(|m| m.raw)
    };
    let low = by_heading(Heading::Forward).min();
    let high = by_heading(Heading::Reverse).max();
    let offset = offset_ns(low, high, choice);
    let clock = Clock::even(offset as f64, 0.0, matches.first()?.second_at);
    let mut both = HashMap::new();
    for m in &matches {
        if let Some(&heading) = headings.get(&m.flows[0]) {
            both.extend(m.flows.map(|flow| (flow, heading)));
        }
    }
    let mut of_flows: BTreeMap<[FlowKey; 2], usize> = BTreeMap::new();
    for m in &matches {
        *of_flows.entry(m.flows).or_default() += 1;
    }
    Some(Probe {
        found: of_flows,
        rules,
        clock,
        headings: both,
        link_local: matches.iter().any(|m| m.flows[0].is_link_local()),
        matches: matches.len(),
        times_seen,
        shown_tick_ns,
    })
}

/// The packets that were found at both points, and by which rules. `None` where no packet is at both.
fn best_matches(points: [&[Print]; 2]) -> Option<(Rules, Vec<Match>)> {
    // No more can be found than one point has.
    let at_most = points[0].len().min(points[1].len());
    let find = |repeats: Repeats| {
        let mut found = Vec::new();
        for rules in Rules::all(udp_checksums(points)) {
            let matches = matches(points, rules, repeats);
            let is_best = matches.len() * 20 >= at_most * 19;
            found.push((rules, matches));
            if is_best {
                break;
            }
        }
        found
    };
    let mut found = find(Repeats::TellNothing);
    if found.iter().all(|(_, matches)| matches.len() < MATCHES_MIN) {
        found = find(Repeats::InOrder);
    }
    let most = found.iter().map(|(_, matches)| matches.len()).max()?;
    if most == 0 {
        return None;
    }
    // The strictest that finds as good as all: what is loose takes different packets for one.
    found
        .into_iter()
        .find(|(_, matches)| matches.len() * 20 >= most * 19)
}

/// How far the second clock is ahead of the first, in ns, by the least of the raw delays of the way forward and the
/// most of those of the way back.
fn offset_ns(low: Option<i64>, high: Option<i64>, choice: ClockChoice) -> i64 {
    let believable =
        low.is_none_or(|low| low >= -TOLERANCE_NS) && high.is_none_or(|high| high <= TOLERANCE_NS);
    match (choice, low, high) {
        (ClockChoice::Keep, ..) => 0,
        (ClockChoice::Auto, ..) if believable => 0,
        (_, Some(low), Some(high)) => low.midpoint(high),
        (_, Some(only), None) | (_, None, Some(only)) => only,
        (_, None, None) => 0,
    }
}

/// Whether checksums of UDP tell packets apart at both points.
fn udp_checksums(points: [&[Print]; 2]) -> UdpChecksums {
    let told = points.map(|prints| {
        let mut tally = UdpTally::default();
        for print in prints {
            tally.see(&print.packet);
        }
        tally.told()
    });
    told[0].max(told[1])
}

/// The packets before a clock was set, where that is told by enough of them.
fn up_to_jump(mut matches: Vec<Match>) -> Vec<Match> {
    let jumps = |pair: &[Match]| pair[0].raw.abs_diff(pair[1].raw) > APART_NS.unsigned_abs() / 2;
    if let Some(at) = matches.windows(2).position(jumps)
        && at >= MATCHES_MIN
    {
        matches.truncate(at + 1);
    }
    matches
}

/// What packets say whose headers a point has more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repeats {
    TellNothing,
    /// As long as none is lost, each is at the other point in its turn.
    InOrder,
}

/// Packets whose headers are at each point exactly once, or each in its turn.
fn matches(points: [&[Print]; 2], rules: Rules, repeats: Repeats) -> Vec<Match> {
    if repeats == Repeats::InOrder {
        return matches_in_order(points, rules);
    }
    let [first, second] = points.map(|prints| {
        let mut by_key: HashMap<u64, Option<&Print>, FixedState> = HashMap::default();
        by_key.reserve(prints.len());
        for print in prints {
            by_key
                .entry(print.key(rules))
                .and_modify(|known| *known = None)
                .or_insert(Some(print));
        }
        by_key
    });
    // In the order of the first point, so that nothing depends on how the map is laid out.
    points[0]
        .iter()
        .filter_map(|print| {
            let key = print.key(rules);
            let one = (*first.get(&key)?)?;
            let other = (*second.get(&key)?)?;
            Match::of(one, other)
        })
        .collect()
}

/// The packets of each header in the order of both points.
fn matches_in_order(points: [&[Print]; 2], rules: Rules) -> Vec<Match> {
    let mut waiting: HashMap<u64, VecDeque<&Print>, FixedState> = HashMap::default();
    for print in points[1] {
        waiting
            .entry(print.key(rules))
            .or_default()
            .push_back(print);
    }
    let find = |one: &Print| {
        let other = waiting.get_mut(&one.key(rules))?.pop_front()?;
        Match::of(one, other)
    };
    points[0].iter().filter_map(find).collect()
}

/// The middle raw delay of each flow, by its name at the first point.
fn raw_delays(matches: &[Match]) -> BTreeMap<FlowKey, i64> {
    let mut delays: BTreeMap<FlowKey, Vec<i64>> = BTreeMap::new();
    for m in matches {
        delays.entry(m.flows[0]).or_default().push(m.raw);
    }
    let middle = |mut delays: Vec<i64>| {
        delays.sort_unstable();
        delays[delays.len() / 2]
    };
    delays
        .into_iter()
        .map(|(flow, delays)| (flow, middle(delays)))
        .collect()
}

/// How many more packets of a flow have a larger raw delay than the packet of the other way before
/// them than have a smaller one: clocks that change hardly do so between two packets.
fn votes(matches: &[Match]) -> HashMap<FlowKey, i64> {
    let mut last: HashMap<FlowKey, i64> = HashMap::new();
    let mut votes: HashMap<FlowKey, i64> = HashMap::new();
    for m in matches {
        let flow = m.flows[0];
        // Once only: what follows it is further away, and a clock may be set in between.
        if let Some(back) = last.remove(&flow.reversed()) {
            *votes.entry(flow).or_default() += m.raw.cmp(&back) as i64;
        }
        last.insert(flow, m.raw);
    }
    votes
}

/// Of a conversation's two ways, the one with the larger raw delays goes forward. A flow alone
/// goes forward where its raw delay is above those of the ways back, or if there are none.
fn headings(matches: &[Match]) -> HashMap<FlowKey, Heading> {
    let flows = &raw_delays(matches);
    let votes = votes(matches);
    let mut headings = HashMap::new();
    let mut bounds: Option<(i64, i64)> = None;
    for (&flow, &raw) in flows {
        let Some(&back) = flows.get(&flow.reversed()) else {
            continue;
        };
        let votes = votes.get(&flow).copied().unwrap_or(0)
            - votes.get(&flow.reversed()).copied().unwrap_or(0);
        let is_forward = if votes == 0 { raw >= back } else { votes > 0 };
        let heading = if is_forward {
            Heading::Forward
        } else {
            Heading::Reverse
        };
        headings.insert(flow, heading);
        let (low, high) = (raw.min(back), raw.max(back));
        bounds = Some(bounds.map_or((low, high), |b| (b.0.max(low), b.1.min(high))));
    }
    for (&flow, &raw) in flows {
        let is_back = match bounds {
            Some((low, high)) => raw < low.midpoint(high),
            // By the clocks, if they are believed; else as the points were named.
            None => raw < 0 && raw > -BELIEVED_NS,
        };
        headings.entry(flow).or_insert(if is_back {
            Heading::Reverse
        } else {
            Heading::Forward
        });
    }
    headings
}

/// Packets in common that make a look enough.
pub(super) const MATCHES_MIN: usize = 16;

/// Clocks may seem to contradict each other by so much: two steps of the usual microseconds.
pub(super) const TOLERANCE_NS: i64 = 2000;

/// A flow without a way back whose packets are seen first at the second point goes back, unless
/// it takes longer than any queue: then the clocks are apart.
const BELIEVED_NS: i64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Endpoint;
    use crate::time::CaptureTime;

    #[test]
    fn delays_of_both_ways_are_compared_however_far_apart_they_are() {
        let there = FlowKey {
            src: Endpoint::v4([10, 0, 0, 1], 80),
            dst: Endpoint::v4([10, 0, 0, 2], 5001),
            protocol: 6,
        };
        let furthest = CaptureTime::MAX.since(CaptureTime::MIN);
        let found = |flow: FlowKey, raw| Match {
            flows: [flow; 2],
            raw,
            second_at: 0,
        };
        let back = there.reversed();
        let pair = |first: i64, second: i64| votes(&[found(back, first), found(there, second)]);
        assert_eq!(pair(-furthest, furthest)[&there], 1);
        assert_eq!(pair(furthest, -furthest)[&there], -1);
        assert_eq!(pair(furthest, furthest)[&there], 0);
    }
}
