//! How far the log and the captures are apart, whatever is made of them.

use std::collections::BTreeMap;

use ccanalyze::path::{Heading, Hop, PacketFate};

use crate::compare::{Near, changes};
use crate::truth::Scenario;

/// What no analysis of the captures could do better, and why.
#[derive(Default)]
pub(crate) struct Limits {
    /// The queue over time, as the log's own waits make it where the captures saw packets come.
    pub(crate) series: Near,
    /// Waits, after the one number was taken from all that brings them nearest to the log's.
    pub(crate) waits: Near,
    /// That number: the middle difference, in ns.
    pub(crate) longer: i64,
    /// How long after a refused packet was stamped the log's clock was read for it, in ns.
    pub(crate) read_late: Vec<i64>,
    /// How much later a packet was stamped than the log has it, in ns: less when it came, its
    /// logged wait and the time to send it.
    pub(crate) left_late: Vec<i64>,
}

pub(crate) fn of(hop: &Hop, scenario: &Scenario) -> Limits {
    if scenario.joined.is_empty() {
        return Limits::default();
    }
    let read_late = forward(hop).filter_map(|packet| {
        let read = scenario.refused.get(&packet.entry_frame?)?;
        (packet.exit_frame.is_none()).then_some(read - packet.at_ns)
    });
    let left_late = forward(hop).filter_map(|packet| {
        let sending = f64::from(packet.ip_len) * 8e9 / scenario.rate_bps?;
        Some(packet.delay_ns? - logged(&packet, scenario)? - sending.round() as i64)
    });
    let (longer, waits) = best_waits(hop, scenario);
    Limits {
        longer,
        waits,
        series: maxima(hop, scenario, true),
        read_late: read_late.collect(),
        left_late: left_late.collect(),
    }
}

/// Packets of the way forward.
pub(crate) fn forward(hop: &Hop) -> impl Iterator<Item = PacketFate> {
    hop.packets.iter().filter(|packet| {
        let flow = hop.flows[packet.flow as usize].as_ref();
        flow.is_some_and(|flow| flow.heading == Heading::Forward)
    })
}

/// What the log says that a packet on its way forward waited.
fn logged(packet: &PacketFate, scenario: &Scenario) -> Option<i64> {
    scenario.joined.get(&packet.exit_frame?)?.1
}

/// How long a packet waited, by the log, that was dropped later.
pub(crate) fn held(packet: &PacketFate, scenario: &Scenario) -> Option<i64> {
    let dropped = scenario.dropped_later.get(&packet.entry_frame?)?;
    (packet.exit_frame.is_none()).then_some(dropped - packet.at_ns)
}

/// The largest queue in each 10 ms of the log, as our waits make it or the log's.
pub(crate) fn maxima(hop: &Hop, scenario: &Scenario, by_log: bool) -> Near {
    let changes = changes(hop, |packet| {
        let logged = logged(packet, scenario).or_else(|| held(packet, scenario));
        logged.filter(|_| by_log).or(packet.queue_delay_ns)
    });
    let interval = |at: i64| (at - scenario.origin_ns).div_euclid(INTERVAL_NS);
    let mut largest: BTreeMap<i64, i64> = BTreeMap::new();
    let (mut waiting, mut last) = (0, i64::MIN);
    for (at, change) in changes {
        let here = interval(at);
        for idle in last.max(here - INTERVALS_MAX)..here {
            largest.insert(idle + 1, waiting);
        }
        last = here;
        waiting += change;
        let most = largest.entry(here).or_default();
        *most = (*most).max(waiting);
    }
    let mut near = Near::default();
    for (ms, &truth) in &scenario.maxima {
        let ours = largest.get(&(ms * 1_000_000 / INTERVAL_NS));
        near.add((truth as i64).abs_diff(ours.copied().unwrap_or(0)), 1);
    }
    near
}

/// Waits against the log's, less the middle difference of those that waited.
fn best_waits(hop: &Hop, scenario: &Scenario) -> (i64, Near) {
    let waits = || {
        forward(hop).filter_map(|packet| {
            let logged = logged(&packet, scenario)?;
            Some((packet.queue_delay_ns?, logged))
        })
    };
    let waited = waits().filter(|&(ours, logged)| ours > 0 && logged > 0);
    let shift = part(waited.map(|(ours, logged)| ours - logged).collect(), 0.5);
    let mut near = Near::default();
    for (ours, logged) in waits() {
        let shifted = if ours > 0 { (ours - shift).max(0) } else { 0 };
        near.add(shifted.abs_diff(logged), 20_000);
    }
    (shift, near)
}

/// What this part of some values stays below; 0 without values.
pub(crate) fn part(mut values: Vec<i64>, part: f64) -> i64 {
    values.sort_unstable();
    let at = (values.len() as f64 * part) as usize;
    let last = values.len().saturating_sub(1);
    values.get(at.min(last)).copied().unwrap_or(0)
}

/// Length of the log's intervals.
const INTERVAL_NS: i64 = 10_000_000;
/// Intervals without a change that are filled in: 100 s of them.
const INTERVALS_MAX: i64 = 10_000;
