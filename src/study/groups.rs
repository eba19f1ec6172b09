//! Runs and flows with the same labels taken together.

use std::collections::BTreeMap;

use super::composition::Composition;
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
    pub const ALL: [Self; 2] = [Self::Run, Self::Flow];

    /// The word in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Flow => "flow",
        }
    }
}

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
type Kin = (GroupKey, Option<Composition>);

/// Samples of all groups.
#[derive(Debug)]
pub(super) struct Samplings {
    groups: BTreeMap<(SampleKind, Kin), Vec<Values>>,
}

impl Samplings {
    pub(super) fn of(plan: &StudyPlan, runs: &[StudyRun]) -> Self {
        let mut groups: BTreeMap<(SampleKind, Kin), Vec<Values>> = BTreeMap::new();
        for run in runs.iter().filter(|run| run.error.is_none()) {
            let composition = match plan.compositions {
                Compositions::Apart => Some(Composition::of_run(run, &plan.group_by)),
                Compositions::Together => None,
            };
            let key = key_of(plan, &run.labels);
            groups
                .entry((SampleKind::Run, (key, composition.clone())))
                .or_default()
                .push(run.values.clone());
            let mut of_run: BTreeMap<GroupKey, Vec<&Values>> = BTreeMap::new();
            for flow in &run.flows {
                let key = key_of(plan, &flow.labels);
                of_run.entry(key).or_default().push(&flow.measure.values);
            }
            for (key, values) in of_run {
                let kin = (key, composition.clone());
                let samples = groups.entry((SampleKind::Flow, kin)).or_default();
                match plan.samples {
                    Samples::Flows => samples.extend(values.into_iter().cloned()),
                    Samples::Runs => samples.push(mean_of(&values)),
                }
            }
        }
        Self { groups }
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

fn key_of(plan: &StudyPlan, labels: &[Option<LabelValue>]) -> GroupKey {
    plan.group_by
        .iter()
        .map(|&place| labels[place].clone())
        .collect()
}

/// Means over several flows; of each metric over those that have it.
fn mean_of(values: &[&Values]) -> Values {
    let mut mean = Values::default();
    for metric in Metric::ALL {
        let known: Vec<f64> = values
            .iter()
            .filter_map(|values| values.get(metric))
            .collect();
        let value = (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64);
        mean.set(metric, value);
    }
    mean
}

/// Statistics of every group and metric.
pub(super) fn all(plan: &StudyPlan, runs: &[StudyRun], samplings: &Samplings) -> Vec<Group> {
    let mut groups = Vec::new();
    for kind in SampleKind::ALL {
        for &metric in &plan.metrics {
            let described: BTreeMap<&Kin, Describe> = samplings
                .of_metric(kind, metric)
                .filter_map(|(kin, samples)| Some((kin, Describe::of(&samples)?)))
                .collect();
            for (&kin, &statistics) in &described {
                let (key, composition) = kin;
                let baseline_mean = baseline_key(plan, key)
                    .and_then(|baseline| peer(&described, kind, &baseline, kin))
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

/// Of the groups with the baseline's labels the one that `kin` is compared with: of runs of the same flows; where
/// labels tell the flows of runs (one composition each), the one there is; of whole runs else the one of as many flows.
fn peer(
    described: &BTreeMap<&Kin, Describe>,
    kind: SampleKind,
    baseline: &GroupKey,
    kin: &Kin,
) -> Option<Describe> {
    let flows = |of: &Option<Composition>| of.as_ref().map(Composition::flows);
    let with = |key: &GroupKey| -> Vec<Candidate> {
        // These stand beside each other, one without a composition first.
        let first = (key.clone(), None);
        let groups = described.range::<&Kin, _>(&first..);
        let groups = groups.take_while(|((of, _), _)| of == key);
        groups
            .map(|((_, of), &statistics)| Candidate {
                is_alike: *of == kin.1,
                has_as_many: flows(of) == flows(&kin.1),
                statistics,
            })
            .collect()
    };
    let candidates = with(baseline);
    let same = candidates.iter().find(|of| of.is_alike);
    let only = || match candidates.as_slice() {
        [only] if with(&kin.0).len() == 1 => Some(only),
        _ => None,
    };
    let as_many = || {
        let mut found = candidates
            .iter()
            .filter(|of| kind == SampleKind::Run && of.has_as_many);
        found.next().filter(|_| found.next().is_none())
    };
    let found = same.or_else(only).or_else(as_many);
    found.map(|of| of.statistics)
}

/// A group that another one may be compared with.
struct Candidate {
    /// Whether it is of runs of the same flows.
    is_alike: bool,
    /// Whether it is of as many flows.
    has_as_many: bool,
    statistics: Describe,
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
