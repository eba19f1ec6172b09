//! Times of a study that do not compare: of runs that are not as long as each other, and of flows that had not ended.

use std::collections::BTreeMap;

use crate::metric::stats;
use crate::study::{Metric, StudyFlow, StudyResults, StudyRun};

use super::counted;
use super::runs::{first_of, labelled};

/// So many times the length of another group's runs is another length.
const LONGER: f64 = 1.1;

/// That groups of which at least one has a window count over different lengths of time, in which more or less happens;
/// downloads without a window last as long as they take.
pub(super) fn windows_of_different_length(results: &StudyResults) -> Option<String> {
    let mut runs = results.runs.iter();
    if !runs.any(|run| run.window_ns.is_some()) {
        return None;
    }
    let mut of_groups: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for run in &results.runs {
        if let Some(seconds) = seconds_that_count(run) {
            let group = results.group_by.iter();
            let group = labelled(results, group.map(|&place| (place, &run.labels[place])));
            of_groups.entry(group).or_default().push(seconds);
        }
    }
    let means = of_groups.into_iter();
    let means = means.filter_map(|(name, seconds)| Some((name, stats::mean(&seconds)?)));
    let mut means: Vec<(String, f64)> = means.collect();
    means.sort_by(|a, b| a.1.total_cmp(&b.1));
    let ((short, shortest), (long, longest)) = (means.first()?, means.last()?);
    (*longest > LONGER * shortest).then(|| {
        format!(
            "runs count over different lengths of time, those of {short} over {shortest:.1} s and those of {long} over {longest:.1} s in the mean: counts and bytes of such groups (`retransmitted_packets`, `queue_dropped_packets`, `acked_bytes`) differ for that alone, and rates (`retransmission_rate`, `overhead`) where slow start, and what was in flight when a flow was reset, count in the ones and not in the others; `window` makes runs as long as each other"
        )
    })
}

/// Runs whose window would go on when their capture has ended, in which nobody knows what passed; one is said of all.
pub(super) fn windows_beyond_captures(results: &StudyResults) -> Option<String> {
    first_of(results.runs.iter().filter_map(|run| {
        let beyond_ns = run.shortfall.window_beyond_ns?;
        let (start_ns, end_ns) = run.window_ns?;
        let counted_ns = end_ns - start_ns;
        let [beyond, counted, meant] =
            [beyond_ns, counted_ns, counted_ns + beyond_ns].map(|ns| ns as f64 / 1e9);
        let said = format!(
            "its window goes on for {beyond:.1} s when the capture has ended, and ends with its last record: {counted:.1} of {meant:.1} s count"
        );
        Some((run.name.as_str(), said))
    }))
}

/// That few of the flows that run to their end had come to it when their captures ended, so that means of completion times
/// are of these alone; where none had, there is none that could mislead.
pub(super) fn few_completions(results: &StudyResults) -> Option<String> {
    let whole = results.runs.iter().filter(|run| run.window_ns.is_none());
    let flows = || whole.clone().flat_map(|run| &run.flows);
    let unfinished = flows().filter(|flow| flow.measure.is_unfinished()).count();
    let has_completed = |flow: &&StudyFlow| flow.measure.values.get(Metric::CompletionNs).is_some();
    let completed = flows().filter(has_completed).count();
    (0 < completed && completed < unfinished).then(|| {
        format!(
            "{completed} of {} had completed when their captures ended (`quality` of the others is `unfinished` or `reset`), so that completion times and what is made of them are of few: capture until the downloads have ended, where these matter",
            counted((completed + unfinished) as u64, "flow")
        )
    })
}

/// The time that a run's numbers are over, in seconds: its window, or from the first to the last payload of its flows.
fn seconds_that_count(run: &StudyRun) -> Option<f64> {
    let spans = || run.flows.iter().filter_map(|flow| flow.measure.span_ns);
    let of_flows = || {
        let first = spans().map(|(first, _)| first).min()?;
        Some((first, spans().map(|(_, last)| last).max()?))
    };
    let (start_ns, end_ns) = run.window_ns.or_else(of_flows)?;
    Some((end_ns - start_ns) as f64 / 1e9)
}
