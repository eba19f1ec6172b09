//! Runs and flows with the same labels taken together.

use std::collections::BTreeMap;

use super::compare::{LevelsOf, comparable};
use super::composition::{Composition, kind_of};
use super::labels::LabelValue;
use super::metrics::{Metric, Values};
use super::plan::{Compositions, Samples, StudyPlan};
use super::results::StudyRun;
use crate::metric::stats::{Describe, change_percent};

/// What the samples of a group are numbers of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SampleKind {
    /// Whole runs.
    Run,
    /// Flows.
    Flow,
}

impl SampleKind {
    /// Both, in the order of the tables.
    pub const ALL: &'static [Self] = &[Self::Run, Self::Flow];

    /// The word in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Flow => "flow",
        }
    }
}

shown_by_name!(SampleKind);

/// Values of the labels that make the groups, in their order.
pub type GroupKey = Vec<Option<LabelValue>>;

/// Statistics of one metric over one group.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// What its samples are numbers of.
    pub kind: SampleKind,
    /// Its values of the labels in [`StudyResults::group_by`](super::StudyResults::group_by).
    pub key: GroupKey,
    /// The flows of its runs; `None` where runs are taken together whatever that is.
    pub composition: Option<Composition>,
    /// The metric.
    pub metric: Metric,
    /// Runs of these labels that failed and are left out, as far as their labels tell.
    pub runs_failed: usize,
    /// Statistics of the samples.
    pub statistics: Describe,
    /// Mean of the group that it is compared with.
    pub baseline_mean: Option<f64>,
    /// Change of the mean against that, in percent of it.
    pub change_percent: Option<f64>,
}

/// What runs and flows of a group have in common: labels, and the flows of the run.
pub(super) type Kin = (GroupKey, Option<Composition>);

/// Samples of all groups.
#[derive(Debug)]
pub(super) struct Samplings {
    groups: BTreeMap<(SampleKind, Kin), Vec<Values>>,
    /// Runs of which no flows are known.
    closed: BTreeMap<(Kin, Had), Vec<Values>>,
}

/// What a sample tells that may be of a run of which no flows are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Had {
    /// What one flow had.
    OneFlow,
    /// What several flows had together.
    Several,
}

impl Samplings {
    pub(super) fn of(plan: &StudyPlan, runs: &[StudyRun]) -> Self {
        let mut groups: BTreeMap<(SampleKind, Kin), Vec<Values>> = BTreeMap::new();
        let mut closed: BTreeMap<(Kin, Had), Vec<Values>> = BTreeMap::new();
        for run in runs.iter().filter(|run| run.error.is_none()) {
            let composition = match plan.compositions {
                Compositions::Apart => Some(Composition::of_run(run, &plan.group_by)),
                Compositions::Together => None,
            };
            let kin = (key_of(plan, &run.labels), composition.clone());
            if run.flows.is_empty() {
                let had = if run.is_one_flow() {
                    Had::OneFlow
                } else {
                    Had::Several
                };
                let samples = closed.entry((kin.clone(), had)).or_default();
                samples.push(run.values.clone());
            }
            let samples = groups.entry((SampleKind::Run, kin)).or_default();
            samples.push(of_run(plan, run));
            let mut of_flows: BTreeMap<GroupKey, Vec<&Values>> = BTreeMap::new();
            for flow in &run.flows {
                let key = key_of(plan, &flow.labels);
                of_flows.entry(key).or_default().push(&flow.measure.values);
            }
            for (key, values) in of_flows {
                let kin = (key, composition.clone());
                let samples = groups.entry((SampleKind::Flow, kin)).or_default();
                match plan.samples {
                    Samples::Flows => samples.extend(values.into_iter().cloned()),
                    Samples::Runs => samples.push(Values::mean_of(&values)),
                }
            }
        }
        Self { groups, closed }
    }

    /// What single flows had, also those of runs of which no more is known, and what several had together in such runs,
    /// by group.
    pub(super) fn of_any(&self, metric: Metric) -> BTreeMap<(&Kin, Had), Vec<f64>> {
        let flows = self.of_metric(SampleKind::Flow, metric);
        let flows = flows.map(|(kin, samples)| ((kin, Had::OneFlow), samples));
        let mut all: BTreeMap<(&Kin, Had), Vec<f64>> = flows.collect();
        for ((kin, had), values) in &self.closed {
            let mut samples = values.iter().filter_map(|values| values.get(metric));
            if let Some(first) = samples.next() {
                let known = all.entry((kin, *had)).or_default();
                known.push(first);
                known.extend(samples);
            }
        }
        all
    }

    /// Groups of a kind, each with its samples of a metric; those without any are left out.
    pub(super) fn of_metric(
        &self,
        kind: SampleKind,
        metric: Metric,
    ) -> impl Iterator<Item = (&Kin, Vec<f64>)> {
        self.groups
            .iter()
            .filter(move |((of, _), _)| *of == kind)
            .map(move |((_, kin), values)| {
                let samples = values.iter().filter_map(|values| values.get(metric));
                (kin, samples.collect::<Vec<f64>>())
            })
            .filter(|(_, samples)| !samples.is_empty())
    }
}

/// The numbers of a run as samples of its group.
fn of_run(plan: &StudyPlan, run: &StudyRun) -> Values {
    let mut values = run.values.clone();
    if let ([first, second], Some(fness)) = (run.flows.as_slice(), values.get(Metric::Fness)) {
        let flows = [first, second].map(|flow| flow.labels.as_slice());
        let fness = seen_alike(fness, flows, &plan.group_by);
        values.set(Metric::Fness, Some(fness));
    }
    values
}

/// The fness of the first of two flows with these labels, as seen from the same one in all runs of a group, whichever
/// began first: where labels tell them apart, from the one that the composition names first (METRICS.md Y5).
fn seen_alike(fness: f64, flows: [&[Option<LabelValue>]; 2], group_by: &[usize]) -> f64 {
    let [first, second] = flows.map(|labels| kind_of(labels, group_by));
    if second < first { -fness } else { fness }
}

fn key_of(plan: &StudyPlan, labels: &[Option<LabelValue>]) -> GroupKey {
    plan.group_by
        .iter()
        .map(|&place| labels[place].clone())
        .collect()
}

/// Statistics of every group and metric.
pub(super) fn all(plan: &StudyPlan, runs: &[StudyRun], samplings: &Samplings) -> Vec<Group> {
    let mut groups = Vec::new();
    for &kind in SampleKind::ALL {
        for &metric in &plan.metrics {
            let described: BTreeMap<&Kin, Describe> = samplings
                .of_metric(kind, metric)
                .filter_map(|(kin, samples)| Some((kin, Describe::of(&samples)?)))
                .collect();
            let mut peers = Peers::of(kind, &described);
            for (&kin, &statistics) in &described {
                let (key, composition) = kin;
                let baseline_mean = baseline_key(plan, key)
                    .and_then(|baseline| peers.of_baseline(&baseline, kin))
                    .map(|baseline| baseline.mean);
                groups.push(Group {
                    kind,
                    key: key.clone(),
                    composition: composition.clone(),
                    metric,
                    runs_failed: failed(plan, runs, key),
                    statistics,
                    baseline_mean,
                    change_percent: baseline_mean
                        .and_then(|baseline| change_percent(statistics.mean, baseline)),
                });
            }
        }
    }
    // By group, then by metric: what is read together stands together.
    groups.sort_by_cached_key(|of| (of.kind, of.key.clone(), of.composition.clone(), of.metric));
    groups
}

/// Statistics by the values of some labels, of groups with equal values of all others.
type Sets = Vec<LevelsOf<Vec<LabelValue>, Describe>>;

/// Which groups are compared with which.
struct Peers<'a> {
    kind: SampleKind,
    described: &'a BTreeMap<&'a Kin, Describe>,
    /// What is compared with each other, by the places of the labels that it differs in, then by all other labels.
    sets: BTreeMap<Vec<usize>, BTreeMap<GroupKey, Sets>>,
}

impl<'a> Peers<'a> {
    fn of(kind: SampleKind, described: &'a BTreeMap<&'a Kin, Describe>) -> Self {
        Self {
            kind,
            described,
            sets: BTreeMap::new(),
        }
    }

    /// Of the groups with the baseline's labels the one that `kin` is compared with: of runs of the same flows, else
    /// the one that tests and comparisons take together with it.
    fn of_baseline(&mut self, baseline: &GroupKey, kin: &Kin) -> Option<Describe> {
        let (key, composition) = kin;
        let alike = (baseline.clone(), composition.clone());
        if let Some(same) = self.described.get(&alike) {
            return Some(*same);
        }
        let differ: Vec<usize> = (0..key.len())
            .filter(|&index| key[index] != baseline[index])
            .collect();
        let (others, own) = split(key, &differ);
        let (_, wanted) = split(baseline, &differ);
        let own = (own?, composition.clone());
        let (kind, described) = (self.kind, self.described);
        let sets = self.sets.entry(differ);
        let sets = sets.or_insert_with_key(|differ| sets_of(kind, described, differ));
        let set = sets
            .get(&others)?
            .iter()
            .find(|set| set.contains_key(&own))?;
        let found = set
            .iter()
            .find(|((value, _), _)| Some(value) == wanted.as_ref());
        found.map(|(_, statistics)| *statistics)
    }
}

/// What is compared with each other of groups that differ in these labels alone.
fn sets_of(
    kind: SampleKind,
    described: &BTreeMap<&Kin, Describe>,
    differ: &[usize],
) -> BTreeMap<GroupKey, Sets> {
    let mut all: BTreeMap<GroupKey, LevelsOf<Vec<LabelValue>, Describe>> = BTreeMap::new();
    for (&(key, composition), &statistics) in described {
        // What lacks a label says nothing about it.
        if let (others, Some(values)) = split(key, differ) {
            let levels = all.entry(others).or_default();
            levels.insert((values, composition.clone()), statistics);
        }
    }
    let sets = all.into_iter();
    sets.map(|(others, levels)| (others, comparable(kind, levels)))
        .collect()
}

/// A key without its values at these places, and these, if it has all of them.
fn split(key: &GroupKey, places: &[usize]) -> (GroupKey, Option<Vec<LabelValue>>) {
    let mut others = key.clone();
    let values = places.iter().map(|&place| others[place].take());
    let values: Vec<Option<LabelValue>> = values.collect();
    (others, values.into_iter().collect())
}

/// The group that `key` is compared with; `None` where it is that itself.
fn baseline_key(plan: &StudyPlan, key: &GroupKey) -> Option<GroupKey> {
    let mut baseline = key.clone();
    for (place, value) in &plan.baseline {
        let index = plan.group_by.iter().position(|label| label == place)?;
        baseline[index] = Some(value.clone());
    }
    (baseline != *key).then_some(baseline)
}

/// Failed runs that would have been in the group; labels that only their flows would have told
/// are not known of them.
fn failed(plan: &StudyPlan, runs: &[StudyRun], key: &GroupKey) -> usize {
    runs.iter()
        .filter(|run| run.error.is_some())
        .filter(|run| {
            plan.group_by.iter().zip(key).all(|(&place, value)| {
                plan.labels[place].of_flows && run.labels[place].is_none()
                    || run.labels[place] == *value
            })
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::super::labels::{Label, LabelKind};
    use super::*;

    fn key(values: &[&str]) -> GroupKey {
        let label = Label {
            name: "cca".to_owned(),
            kind: LabelKind::Text,
            order: Vec::new(),
            names: Vec::new(),
            of_flows: true,
        };
        let values = values.iter().map(|text| label.value(text).ok());
        values.collect()
    }

    /// So many flows of one kind.
    fn same(flows: usize) -> Composition {
        Composition::Same(flows)
    }

    /// The mean of the baseline of a group of 6 flows of BBR, where the others are these: variant, flows and mean.
    fn baseline_mean(kind: SampleKind, others: &[(&str, Composition, f64)]) -> Option<f64> {
        let own = ("bbr", same(6), 60.0);
        let groups = std::iter::once(&own).chain(others);
        let kin = |(cca, composition, mean): &(&str, Composition, f64)| {
            let kin = (key(&[cca, "deep"]), Some(composition.clone()));
            Some((kin, Describe::of(&[*mean])?))
        };
        let groups: Vec<(Kin, Describe)> = groups.filter_map(kin).collect();
        let described = groups.iter().map(|(kin, of)| (kin, *of)).collect();
        let mut peers = Peers::of(kind, &described);
        let found = peers.of_baseline(&key(&["reno", "deep"]), &groups[0].0);
        found.map(|baseline| baseline.mean)
    }

    #[test]
    fn fairness_is_seen_from_one_flow_whichever_began_first() {
        let seen =
            |first: &[&str], second: &[&str]| seen_alike(0.5, [&key(first), &key(second)], &[0]);
        assert!(seen(&["bbr"], &["cubic"]) > 0.0);
        assert!(seen(&["cubic"], &["bbr"]) < 0.0);
        // Of two of a kind the first to begin, whatever labels differ that make no groups.
        assert!(seen(&["bbr", "b"], &["bbr", "a"]) > 0.0);
        // What has no value is last.
        assert!(seen_alike(0.5, [&[None], &key(&["bbr"])], &[0]) < 0.0);
    }

    /// METRICS.md, rules of Y5.
    #[test]
    fn a_baseline_of_another_composition_counts_where_each_value_of_the_label_has_one() {
        let mixed = Composition::of(vec![(4, "reno".to_owned()), (2, "cubic".to_owned())]);
        let reno = |flows| ("reno", same(flows), flows as f64);
        let cubic = |flows| ("cubic", same(flows), 100.0);
        for (others, of_runs, of_flows) in [
            // Its own composition, whatever else there is.
            (vec![reno(1), reno(6)], Some(6.0), Some(6.0)),
            // Each variant has one composition, so the variant tells it.
            (vec![reno(1)], Some(1.0), Some(1.0)),
            (vec![reno(1), cubic(4)], Some(1.0), Some(1.0)),
            // A third one has two, so it does not.
            (vec![reno(1), cubic(1), cubic(6)], None, None),
            // Of runs of as many flows each has one; what a flow gets in these is another quantity.
            (vec![reno(1), ("reno", mixed.clone(), 3.0)], Some(3.0), None),
            // Of as many flows the third one has two.
            (
                vec![
                    reno(1),
                    ("reno", mixed.clone(), 3.0),
                    cubic(6),
                    ("cubic", mixed, 5.0),
                ],
                None,
                None,
            ),
        ] {
            let [run, flow] =
                [SampleKind::Run, SampleKind::Flow].map(|kind| baseline_mean(kind, &others));
            assert_eq!((run, flow), (of_runs, of_flows), "{others:?}");
        }
    }
}
