//! What of a study is not as its manifest means it, in words.

use std::collections::{BTreeMap, BTreeSet};

use crate::decode::Endpoint;
use crate::study::{
    COMPARED_MAX, Composition, FlowKey, FlowRule, Group, KINDS_MAX, LabelValue, Metric,
    PathCapacity, ReportPlan, ReportTable, SampleKind, StudyFlow, StudyPlan, StudyResults,
    StudyRun, VARIANTS, Values,
};
use crate::time::CaptureTime;

use super::alone;
use super::capacity::overfull;
use super::captured::captured;
use super::lengths::{few_completions, windows_beyond_captures, windows_of_different_length};
use super::queues::{
    buffers_without_bdp, captured_behind_link, queue_never_seen_empty, refuted_base_rtts,
    refuted_buffers, refuted_capacities, side_not_known,
};
use super::rotated::{runs_of_one_capture, runs_without_further_parts};
use super::runs::{first_of, labelled};
use super::{counted, rate};

/// The warnings of a study, in the order in which they are printed and stand on its page: what makes its results other than they are meant, and
/// what its manifest names and no run has.
#[must_use]
pub(crate) fn study_warnings(plan: &StudyPlan, results: &StudyResults) -> Vec<String> {
    let mut said = flows_without_a_label(plan, results);
    said.extend(captured(results));
    let of_results = [
        too_much_for_capacity(results),
        flows_above_capacity(results),
        traces_beside_runs(results),
        silent_in_window(results),
        windows_beyond_captures(results),
        alone::of_runs(results),
        windows_of_different_length(results),
        few_completions(results),
        refuted_buffers(results),
        refuted_capacities(results),
        refuted_base_rtts(results),
        buffers_without_bdp(results),
        captured_behind_link(results),
        side_not_known(results),
        queue_never_seen_empty(plan, results),
        runs_without_further_parts(plan),
        runs_of_one_capture(results),
        flows_of_many_kinds(results),
        no_repetitions(results),
        measured_twice(results),
    ];
    said.extend(of_results.into_iter().flatten());
    said.extend(told_apart_by_nothing(plan, results));
    said.extend(too_many_to_compare(results));
    said.extend(taken_together(plan, results));
    said.extend(empty_reports(plan, results));
    said.extend(starts_of_nobody(plan, results));
    said.extend(baselines_that_nothing_has(plan, results));
    said
}

/// Which flows were to get a label and got none, and what would give them one.
fn flows_without_a_label(plan: &StudyPlan, results: &StudyResults) -> Vec<String> {
    let rules = plan.runs.iter().flat_map(|run| &run.flow_rules);
    let places: BTreeSet<usize> = rules.map(|rule| rule.label).collect();
    let unlabelled = |place| unlabelled(plan, results, place);
    places.into_iter().filter_map(unlabelled).collect()
}

/// Values of the baseline that no run and no flow has.
fn baselines_that_nothing_has(plan: &StudyPlan, results: &StudyResults) -> Vec<String> {
    let is_missing = |&&(place, ref value): &&(usize, LabelValue)| {
        let of_flows = results.runs.iter().flat_map(|run| &run.flows);
        let of_flows = of_flows.map(|flow| &flow.labels);
        let mut labels = results.runs.iter().map(|run| &run.labels).chain(of_flows);
        !labels.any(|labels| labels[place].as_ref() == Some(value))
    };
    let missing = plan.baseline.iter().filter(is_missing);
    let said = missing.map(|(place, value)| {
        let name = &plan.labels[*place].name;
        format!(
            "baseline: nothing has {name} = \"{}\", so change_percent is empty: give it a value that some runs have",
            value.text()
        )
    });
    said.collect()
}

/// Runs whose flows are of more kinds than are named one by one: as a rule flows of many runs that were taken for one.
fn flows_of_many_kinds(results: &StudyResults) -> Option<String> {
    let label = |&place: &usize| results.labels[place].name.as_str();
    let telling: Vec<&str> = results.group_by.iter().map(label).collect();
    first_of(results.runs.iter().filter_map(|run| {
        let composition = Composition::of_run(run, &results.group_by);
        (composition.kinds() > KINDS_MAX).then(|| {
            let said = format!(
                "has {}, told apart by {}: where these did not share a link, write every label that tells runs apart in `run`, or `compositions = \"together\"`",
                composition.words(),
                telling.join(", ")
            );
            (run.name.as_str(), said)
        })
    }))
}

/// Runs through which more came than their capacity lets through; one is said of all, as it is one
/// line of the manifest that is wrong.
fn too_much_for_capacity(results: &StudyResults) -> Option<String> {
    first_of(results.runs.iter().filter_map(|run| {
        let said = overfull(rates(run, &run.values)?)?;
        Some((run.name.as_str(), said))
    }))
}

/// Runs during which their capacity trace does not change: it may be of another time; one is said of all.
fn traces_beside_runs(results: &StudyResults) -> Option<String> {
    first_of(results.runs.iter().filter_map(|run| {
        let capacity = run.conditions.capacity.as_ref()?;
        let (first, last) = run.span_ns?;
        let (start, end) = run.window_ns.unwrap_or((first, last));
        let [first, start, end] = [first, start, end].map(CaptureTime::from_ns);
        let said = || {
            let held = rate(capacity.mean_bps(first, start, end));
            format!(
                "its capacity trace has no other rate that begins during the run, so that {held} counts all along: are the unit of its times (`time_unit`) and what they count from (`origin`) right?"
            )
        };
        capacity
            .is_beside(first, start, end)
            .then(|| (run.name.as_str(), said()))
    }))
}

/// Labels of which the table of comparisons lacks something, as they have too many values there.
fn too_many_to_compare(results: &StudyResults) -> Vec<String> {
    let said = results.uncompared.iter().map(|(&place, values)| {
        let label = &results.labels[place].name;
        let mut compared = results.comparisons.iter();
        let which = if compared.any(|of| of.label == place) {
            "has those alone of metrics and settings that have fewer"
        } else {
            "has none of them"
        };
        format!(
            "label '{label}' has {values} values, too many to compare two by two ({COMPARED_MAX} at most): `comparisons` {which}, `tests` says whether they differ; if it only numbers runs, leave it out of group_by"
        )
    });
    said.collect()
}

/// Runs of which single flows have a goodput above the capacity, though all together have not: as a rule flows of a few
/// packets, of which the first takes no time. One run is said of all.
fn flows_above_capacity(results: &StudyResults) -> Option<String> {
    first_of(results.runs.iter().filter_map(|run| {
        let exceeds = |&(passed_bps, capacity_bps): &(f64, f64)| passed_bps > capacity_bps;
        if rates(run, &run.values).as_ref().is_some_and(exceeds) {
            return None;
        }
        let flows = run.flows.iter().map(|flow| &flow.measure.values);
        let above = flows.filter_map(|of| Some((of, rates(run, of).filter(exceeds)?)));
        let above: Vec<_> = above.collect();
        let most = above.iter().max_by(|(_, a), (_, b)| a.0.total_cmp(&b.0));
        let &(of, (most_bps, capacity_bps)) = most?;
        let bytes = of.get(Metric::AckedBytes);
        let bytes = bytes.map_or_else(String::new, |bytes| {
            format!(" ({})", counted(bytes as u64, "byte"))
        });
        let said = format!(
            "{} of {} with a goodput above the capacity given, {}, the most {}{bytes}: what is told of these by the capacity, such as utilisation, is wrong; `min_flow` leaves out flows of captures that are too small to fill a link",
            above.len(),
            counted(run.flows.len() as u64, "flow"),
            rate(capacity_bps),
            rate(most_bps),
        );
        Some((run.name.as_str(), said))
    }))
}

/// Runs of which flows that count send nothing in the window; one is said of all.
fn silent_in_window(results: &StudyResults) -> Option<String> {
    let is_silent = |flow: &&StudyFlow| flow.measure.values.get(Metric::DataPackets) == Some(0.0);
    first_of(results.runs.iter().filter_map(|run| {
        let (start_ns, end_ns) = run.window_ns?;
        let silent: Vec<&StudyFlow> = run.flows.iter().filter(is_silent).collect();
        let first = &silent.first()?.measure;
        let (ends, (first_ns, last_ns)) = (first.ends?, first.span_ns?);
        let sends = if silent.len() == 1 { "sends" } else { "send" };
        let why = match () {
            () if last_ns < start_ns => "ended before it",
            () if first_ns >= end_ns => "begins after it",
            () => "pauses in it",
        };
        let said = format!(
            "{} of {} {sends} nothing in the window ({} to {} {why}), so that 0 is what it got there in all means: `window = \"overlap\"` is the time in which all are active, and `min_flow` leaves out small ones",
            silent.len(),
            counted(run.flows.len() as u64, "flow"),
            ends.sender,
            ends.receiver,
        );
        Some((run.name.as_str(), said))
    }))
}

/// Goodput of a run or of one of its flows, and what the capacity let through in its time.
fn rates(run: &StudyRun, values: &Values) -> Option<(f64, f64)> {
    let mut goodput_bps = values.get(Metric::GoodputBps)?;
    let capacity_bps = match run.conditions.capacity.as_ref()? {
        PathCapacity::Constant(bps) => {
            // Of one direction of the link.
            let used = values.get(Metric::Utilisation);
            goodput_bps = used.map_or(goodput_bps, |used| used * bps);
            *bps
        }
        PathCapacity::Trace(_) => goodput_bps / values.get(Metric::Utilisation)?,
    };
    // An ACK in a window may be of what came before it.
    let passed_bps = match run.window_ns {
        Some(_) => goodput_bps.min(values.get(Metric::ThroughputBps)?),
        None => goodput_bps,
    };
    Some((passed_bps, capacity_bps))
}

/// Before 1980 no clock of a capture is right: it is that of a simulator, which begins at 0 in every
/// run, with the same addresses and ports.
const DATED_NS: i64 = 10 * 365 * 86_400 * 1_000_000_000;

/// A flow of a run: when it was, by the ends that it was between.
struct Found<'a> {
    ends: [Endpoint; 2],
    start_ns: i64,
    end_ns: i64,
    /// Place of its run.
    run: usize,
    flow: &'a StudyFlow,
}

impl Found<'_> {
    /// Whether another one, between the same ends and later or at the same time, is of the same
    /// connection.
    fn is_same(&self, later: &Self) -> bool {
        let bytes = |found: &Self| found.flow.measure.values.get(Metric::IpBytes);
        let alike = (self.start_ns, self.end_ns) == (later.start_ns, later.end_ns)
            && bytes(self) == bytes(later);
        later.start_ns <= self.end_ns && (later.start_ns >= DATED_NS || alike)
    }
}

/// That what is said of one pair holds for so many others, too.
fn so_do_others(pairs: usize) -> String {
    match pairs {
        0 => String::new(),
        1 => "; so does another pair".to_owned(),
        pairs => format!("; so do {}", counted(pairs as u64, "other pair")),
    }
}

/// Runs of one group that hold the same connection, as copies of a capture do and captures of one
/// run at two points: they repeat nothing.
fn no_repetitions(results: &StudyResults) -> Option<String> {
    let mut found = flows_of_captures(results);
    let key = |end: Endpoint| (end.octets(), end.port());
    found.sort_by_key(|found| (found.ends.map(key), found.start_ns, found.run));
    let group = |run: usize| {
        let labels = &results.runs[run].labels;
        results.group_by.iter().map(move |&place| &labels[place])
    };
    let mut pairs: BTreeSet<[usize; 2]> = BTreeSet::new();
    let mut first = None;
    for flows in found.chunk_by(|one, other| one.ends == other.ends) {
        for (place, one) in flows.iter().enumerate() {
            let later = flows[place + 1..].iter();
            for other in later.take_while(|other| other.start_ns <= one.end_ns) {
                let differ = one.run != other.run && one.is_same(other);
                if differ && group(one.run).eq(group(other.run)) {
                    pairs.insert([one.run.min(other.run), one.run.max(other.run)]);
                    first.get_or_insert((one, other));
                }
            }
        }
    }
    let (one, other) = first?;
    let [sender, receiver] = one.ends;
    let name = |found: &Found<'_>| &results.runs[found.run].name;
    let more = so_do_others(pairs.len() - 1);
    Some(format!(
        "{} and {} hold the same connection, {sender} to {receiver}, and are in one group: they count as two repetitions there and are one (a label that tells them apart, or `except`, helps){more}",
        name(one),
        name(other)
    ))
}

/// Measured runs that are one repetition by all their labels with another run, as a table and a copy of it are, or a
/// table and the capture that it was made from: both say a number of it.
fn measured_twice(results: &StudyResults) -> Option<String> {
    let is_numbered = |run: &&StudyRun| {
        let mut places = results.repetition.iter();
        places.any(|&place| run.labels[place].is_some())
    };
    // A capture has records. Of two captures their connections tell whether they are one run.
    let is_measured = |run: &StudyRun| run.records.is_none();
    let mut known: BTreeMap<&[Option<LabelValue>], Vec<&StudyRun>> = BTreeMap::new();
    let mut pairs = Vec::new();
    for run in results.runs.iter().filter(is_numbered) {
        let says = |of: &StudyRun, metric: Metric| of.values.get(metric).is_some();
        let both = |other: &&&StudyRun| {
            let mut metrics = Metric::ALL.iter().copied();
            (is_measured(other) || is_measured(run))
                && metrics.any(|metric| says(other, metric) && says(run, metric))
        };
        let before = known.entry(&run.labels).or_default();
        pairs.extend(before.iter().find(both).map(|other| (*other, run)));
        before.push(run);
    }
    let &(one, other) = pairs.first()?;
    let repetition = results.repetition.iter();
    let repetition = repetition.map(|&place| (place, &one.labels[place]));
    let more = so_do_others(pairs.len() - 1);
    Some(format!(
        "{} and {} are the same repetition by all their labels, {}: they count as two and are one (a label that tells them apart, or `except`, helps){more}",
        one.name,
        other.name,
        labelled(results, repetition)
    ))
}

fn flows_of_captures(results: &StudyResults) -> Vec<Found<'_>> {
    let runs = results.runs.iter().enumerate();
    let flows = runs.flat_map(|(run, of)| of.flows.iter().map(move |flow| (run, flow)));
    flows
        .filter_map(|(run, flow)| {
            let ends = flow.measure.ends?;
            let (start_ns, end_ns) = flow.measure.span_ns?;
            Some(Found {
                ends: [ends.sender, ends.receiver],
                start_ns,
                end_ns,
                run,
                flow,
            })
        })
        .collect()
}

/// Runs that a report takes together though different flows share the link in them, which groups and tests keep apart;
/// one of them for each report.
fn taken_together(plan: &StudyPlan, results: &StudyResults) -> Vec<String> {
    let reports = plan.reports.iter().filter_map(|report| match report {
        ReportPlan::Mobility { .. } => Some(("mobility", SampleKind::Flow)),
        ReportPlan::Series(_) => Some(("series", SampleKind::Run)),
        _ => None,
    });
    let said = |(name, kind): (&str, SampleKind)| {
        let groups = results.groups.windows(2);
        let alike = |two: &&[Group]| {
            let is_of_kind = (two[0].kind, two[1].kind) == (kind, kind);
            is_of_kind && two[0].key == two[1].key && two[0].composition != two[1].composition
        };
        let two = groups.into_iter().find(alike)?;
        let labels = results.group_by.iter().copied().zip(&two[0].key);
        let flows = |of: &Group| of.composition.as_ref().map(Composition::words);
        Some(format!(
            "report '{name}' takes runs of {} and of {} together, which have the same labels ({}): one more in group_by that tells them apart keeps them apart, such as labels = {{ set = \"alone\" }} in [[runs]]",
            flows(&two[0])?,
            flows(&two[1])?,
            labelled(results, labels)
        ))
    };
    reports.filter_map(said).collect()
}

/// Reports that have no rows, and what they would take.
fn empty_reports(plan: &StudyPlan, results: &StudyResults) -> Vec<String> {
    let is_empty = |report: &&ReportPlan| {
        let mut tables = results.reports.iter();
        let main = tables.find(|table| table.name == report.name());
        main.is_some_and(ReportTable::is_empty)
    };
    let empty = plan.reports.iter().filter(is_empty);
    let said = |report: &ReportPlan| {
        format!(
            "report '{}' has no rows: it takes {}",
            report.name(),
            report.takes()
        )
    };
    empty.map(said).collect()
}

/// Flows that rules were to give a label and that have none: how many, of which the first is which.
fn unlabelled(plan: &StudyPlan, results: &StudyResults, place: usize) -> Option<String> {
    let mut lacking: Vec<(&str, &FlowRule, &StudyFlow)> = Vec::new();
    let (mut runs, mut any) = (0, false);
    for (planned, run) in plan.runs.iter().zip(&results.runs) {
        let before = lacking.len();
        any |= run.flows.iter().any(|flow| flow.labels[place].is_some());
        if let Some(rule) = planned.flow_rules.iter().find(|rule| rule.label == place) {
            let flows = run.flows.iter();
            let flows = flows.filter(|flow| flow.labels[place].is_none());
            lacking.extend(flows.map(|flow| (run.name.as_str(), rule, flow)));
        }
        runs += u64::from(lacking.len() > before);
    }
    let &(run, rule, flow) = lacking.first()?;
    let name = &plan.labels[place].name;
    let of_runs = counted(runs, "run");
    let flows = counted(lacking.len() as u64, "flow");
    let which = if any {
        format!("{flows} of {of_runs} got none, and stand in groups of their own")
    } else {
        "no flow has got one".to_owned()
    };
    let looked_at = rule.looked_at(flow.measure.ends.as_ref(), flow.start);
    let (example, remedy) = match looked_at {
        Some((words, key)) => (format!("{words} of {run}"), format!("name {key} there, or")),
        None => (format!("number {} of {run}", flow.start), String::new()),
    };
    Some(format!(
        "label '{name}': {which}: no `values` of its [[runs.flows]] fits; the first is {example}: {remedy} give all that are left a value by `other`"
    ))
}

/// Values by the order of start that no flow gets, as no run has so many flows.
fn starts_of_nobody(plan: &StudyPlan, results: &StudyResults) -> Vec<String> {
    // By label and number of values, as each run has its own copy of a rule: the first run with most flows.
    let mut known: BTreeMap<(usize, usize), &StudyRun> = BTreeMap::new();
    for (planned, run) in plan.runs.iter().zip(&results.runs) {
        let rules = planned.flow_rules.iter();
        let rules = rules.filter(|rule| rule.key == FlowKey::Start && run.error.is_none());
        for rule in rules {
            let most = known.entry((rule.label, rule.cases.len())).or_insert(run);
            if run.flows.len() > most.flows.len() {
                *most = run;
            }
        }
    }
    let short = known
        .iter()
        .filter(|((_, values), run)| *values > run.flows.len());
    let said = short.map(|(&(label, values), run)| {
        format!(
            "label '{}': {values} values by the order of start, and no run has so many flows that count: {} has {}",
            plan.labels[label].name,
            run.name,
            counted(run.flows.len() as u64, "flow"),
        )
    });
    said.collect()
}

/// Runs that hold several flows which nothing tells apart: which is the first, and what would.
fn told_apart_by_nothing(plan: &StudyPlan, results: &StudyResults) -> Option<String> {
    /// So many flows are shown how they could be told apart.
    const SHOWN: usize = 4;
    let labels = plan.labels.iter().enumerate();
    let telling = labels.filter(|(_, of)| of.of_flows || VARIANTS.contains(&of.name.as_str()));
    let telling: Vec<usize> = telling.map(|(place, _)| place).collect();
    let is_told = |flow: &StudyFlow| telling.iter().any(|&place| flow.labels[place].is_some());
    let runs = plan.runs.iter().zip(&results.runs);
    let runs = runs.filter(|(planned, run)| {
        planned.flow_rules.is_empty() && run.flows.len() > 1 && !run.flows.iter().any(is_told)
    });
    let mut runs = runs.map(|(_, run)| run);
    let first = runs.next()?;
    let more = match runs.count() {
        0 => String::new(),
        more => format!(" (nor those of {})", counted(more as u64, "other run")),
    };
    let ends = first.flows.iter().map(|flow| flow.measure.ends);
    let ports: Option<BTreeSet<u16>> = ends.map(|ends| Some(ends?.server().port())).collect();
    let rest = if first.flows.len() > SHOWN {
        ", ..."
    } else {
        ""
    };
    let rule = if let Some(ports) = ports.filter(|ports| ports.len() == first.flows.len()) {
        let values = ports.iter().map(|port| format!("{port} = \"...\""));
        let values: Vec<String> = values.take(SHOWN).collect();
        let values = values.join(", ");
        format!("by = \"server\", values = {{ {values}{rest} }}")
    } else {
        let values = vec!["\"...\""; first.flows.len().min(SHOWN)];
        let values = values.join(", ");
        format!("by = \"start\", values = [{values}{rest}]")
    };
    Some(format!(
        "nothing tells the {} of {} apart{more}: [[runs.flows]] gives flows labels of their own, such as label = \"cca\", {rule}",
        counted(first.flows.len() as u64, "flow"),
        first.name
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{FlowMeasure, Values};

    /// A flow between the same ends that took 10 s from then on.
    fn flow(ip_bytes: f64) -> StudyFlow {
        let mut values = Values::default();
        values.set(Metric::IpBytes, Some(ip_bytes));
        StudyFlow {
            labels: Vec::new(),
            start: 1,
            measure: FlowMeasure {
                connection_id: None,
                ends: None,
                span_ns: None,
                values,
                quality: String::new(),
                samples: Vec::new(),
                silent_bins: 0,
                series: Vec::new(),
            },
        }
    }

    #[test]
    fn other_pairs_are_counted_in_words_that_fit_one() {
        assert_eq!(so_do_others(0), "");
        assert_eq!(so_do_others(1), "; so does another pair");
        assert_eq!(so_do_others(1200), "; so do 1,200 other pairs");
    }

    #[test]
    fn simulated_runs_begin_at_the_same_time_and_are_not_the_same() {
        const SECOND_NS: i64 = 1_000_000_000;
        let now_ns = 1_700_000_000 * SECOND_NS;
        let flows = [flow(1e6), flow(2e6)];
        let end = Endpoint::v4([10, 0, 0, 1], 5001);
        let found = |flow, start_ns| Found {
            ends: [end, end],
            start_ns,
            end_ns: start_ns + 10 * SECOND_NS,
            run: 0,
            flow,
        };
        let [one, other] = &flows;
        for (first, second, same) in [
            (found(one, now_ns), found(other, now_ns + SECOND_NS), true),
            (
                found(one, now_ns),
                found(one, now_ns + 11 * SECOND_NS),
                false,
            ),
            (found(one, 0), found(one, 0), true),
            (found(one, 0), found(other, 0), false),
            (found(one, 0), found(one, SECOND_NS), false),
        ] {
            assert_eq!(first.is_same(&second), same, "{}", second.start_ns);
        }
    }
}
