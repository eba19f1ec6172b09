//! What of a study's queues is not as its manifest means it, in words.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::analyze::LinkSide;
use crate::study::{Buffer, Metric, ReportPlan, StudyFlow, StudyPlan, StudyResults, StudyRun};

use super::runs::first_of;
use super::{delay, millis};

/// What counts from each flow's own smallest round-trip time.
const DELAY: Metric = Metric::QueueDelayNsMean;

/// Runs whose queue is not what the conditions say; one is said of all.
pub(super) fn refuted_buffers(results: &StudyResults) -> Option<String> {
    let refuted = |run: &&StudyRun| run.shortfall.buffer_refuted;
    first_of(results.runs.iter().filter(refuted).map(|run| {
        let said = "what waited in its queue contradicts the buffer given: how full the queue was is told by the limit that the drops show, if they show one, and all else by the buffer";
        (run.name.as_str(), said.to_owned())
    }))
}

/// Runs whose link cannot have had the capacity of the conditions all the time; one is said of all.
pub(super) fn refuted_capacities(results: &StudyResults) -> Option<String> {
    let refuted = |run: &&StudyRun| run.shortfall.capacity_refuted;
    first_of(results.runs.iter().filter(refuted).map(|run| {
        let said = "what left its queue, and while how much waited there, contradicts the capacity given: what is told by that, such as utilisation and `queue_share`, is wrong; `ccanalyze path` of its two captures tells the link's rate";
        (run.name.as_str(), said.to_owned())
    }))
}

/// Runs of which a handshake took less than the path is said to take when it is empty, by more than what clocks and delays
/// are off by; one is said of all. A handshake is timed to both ends, so that it does not matter where it was seen; runs of
/// which a window counts have none.
pub(super) fn refuted_base_rtts(results: &StudyResults) -> Option<String> {
    first_of(results.runs.iter().filter_map(|run| {
        let given = run.conditions.base_rtt_ns? as f64;
        let handshakes = run.flows.iter().filter_map(|flow| {
            let values = &flow.measure.values;
            values.get(Metric::HandshakeRttNs)
        });
        let least = handshakes.reduce(f64::min)?;
        (least < 0.9 * given).then(|| {
            let said = format!(
                "a handshake of it took {}, less than the RTT of the empty path given (`base_rtt`), {}: unless a proxy answered, what is told by that, such as a BDP, is wrong",
                delay(least),
                delay(given)
            );
            (run.name.as_str(), said)
        })
    }))
}

/// Runs whose buffer is said in BDP, and one of the two that this takes is not; one is said of all.
pub(super) fn buffers_without_bdp(results: &StudyResults) -> Option<String> {
    first_of(results.runs.iter().filter_map(|run| {
        let conditions = &run.conditions;
        let Some(Buffer::Bdp(_)) = conditions.buffer else {
            return None;
        };
        let missing = match (&conditions.capacity, conditions.base_rtt_ns) {
            (Some(_), None) => "base_rtt",
            (None, Some(_)) => "capacity",
            _ => return None,
        };
        let said = format!(
            "its buffer is in BDP, which takes `capacity` and `base_rtt`: without `{missing}` it is of no size, and there is no `queue_share`"
        );
        Some((run.name.as_str(), said))
    }))
}

/// Runs whose round-trip times say nothing of the queue of their link, and no second capture does; one is said of all.
pub(super) fn captured_behind_link(results: &StudyResults) -> Option<String> {
    let lacks_queue = |run: &&StudyRun| {
        let has = |metric| run.values.get(metric).is_some();
        run.shortfall.captured == LinkSide::Behind
            && has(Metric::RttNsMean)
            && !has(Metric::QueueOccupancy)
    };
    first_of(results.runs.iter().filter(lacks_queue).map(|run| {
        let said = "was captured behind the link, so that its round-trip times lack the queue there: where these matter, capture at the sender, or name captures from both sides (`before`, `after`)";
        (run.name.as_str(), said.to_owned())
    }))
}

/// Runs of which it is not known whether their round-trip times have the queue of the link, where the conditions let these
/// tell how full it was; one is said of all.
pub(super) fn side_not_known(results: &StudyResults) -> Option<String> {
    let is_wanted = |run: &&StudyRun| {
        let conditions = &run.conditions;
        run.records.is_some()
            && run.shortfall.captured == LinkSide::Unknown
            && conditions
                .capacity_bps()
                .and(conditions.buffer_bytes())
                .is_some()
            && run.values.get(Metric::RttNsMean).is_some()
    };
    first_of(results.runs.iter().filter(is_wanted).map(|run| {
        let said = "shows not on which side of the queue it was captured, so that it has no `queue_share`: write captured = \"before\" or \"after\" below [[runs]]";
        (run.name.as_str(), said.to_owned())
    }))
}

/// Runs of which a flow never saw the queue as empty as another one on its path did, where queueing delays are compared and
/// tested, or the summary tells of them: they count from each flow's own smallest round-trip time; one is said of all.
pub(super) fn queue_never_seen_empty(plan: &StudyPlan, results: &StudyResults) -> Option<String> {
    let tells = |report: &ReportPlan| matches!(report, ReportPlan::Summary { delay: of, .. } if *of == DELAY);
    if !plan.metrics.contains(&DELAY) && !plan.reports.iter().any(tells) {
        return None;
    }
    let of_run = |run: &StudyRun| {
        let (own, path) = lacking(run.flows.iter().filter_map(counted_from))?;
        Some(format!(
            "{} counts from each flow's own smallest round-trip time, of one {} ms, where another between the same hosts had {} ms: it lacks what that flow always waited; `queue_share` counts from the smallest of all, and `ccanalyze path` measures it",
            DELAY.name(),
            millis(own),
            millis(path)
        ))
    };
    first_of(
        results
            .runs
            .iter()
            .filter_map(|run| Some((run.name.as_str(), of_run(run)?))),
    )
}

/// The hosts of a flow, the smallest round-trip time that its queueing delay counts from, of the whole flow also where a
/// window counts, and that delay, in ns.
type CountedFrom = ([IpAddr; 2], f64, f64);

fn counted_from(flow: &StudyFlow) -> Option<CountedFrom> {
    let (ends, values) = (flow.measure.ends?, &flow.measure.values);
    let hosts = [ends.sender.ip(), ends.receiver.ip()];
    let delay_ns = values.get(DELAY)?;
    Some((hosts, values.get(Metric::RttNsMean)? - delay_ns, delay_ns))
}

/// Of the flow whose queueing delay lacks a quarter of itself or more, the one that lacks most: its own smallest
/// round-trip time, and that of another between the same hosts.
fn lacking(flows: impl Iterator<Item = CountedFrom> + Clone) -> Option<(f64, f64)> {
    let mut smallest: BTreeMap<[IpAddr; 2], f64> = BTreeMap::new();
    for (hosts, own, _) in flows.clone() {
        let known = smallest.entry(hosts).or_insert(own);
        *known = known.min(own);
    }
    let lacks = flows.filter_map(|(hosts, own, delay_ns)| {
        let least = *smallest.get(&hosts)?;
        (own - least > delay_ns / 4.0).then_some((own, least))
    });
    lacks.max_by(|a, b| (a.0 - a.1).total_cmp(&(b.0 - b.1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_flow_always_waited_is_missed_only_beside_one_between_the_same_hosts() {
        let hosts = |last: u8| [[10, 0, 0, 1], [10, 0, 0, last]].map(IpAddr::from);
        // One that begins when another has filled the queue: 54 ms on average, never below 29.
        let late = (hosts(2), 29e6, 25e6);
        let first = (hosts(2), 1e6, 53e6);
        let of = |flows: &[CountedFrom]| lacking(flows.iter().copied());
        assert_eq!(of(&[first, late]), Some((29e6, 1e6)));
        assert_eq!(of(&[late]), None);
        assert_eq!(of(&[(hosts(3), 1e6, 53e6), late]), None);
        // A millisecond of 25 is not what matters.
        assert_eq!(of(&[first, (hosts(2), 2e6, 52e6)]), None);
    }
}
