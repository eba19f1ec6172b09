//! Whether groups differ: analysis of variance, a rank test beside it, and pairs of groups.

use std::collections::{BTreeMap, BTreeSet};

use super::composition::Composition;
use super::groups::{GroupKey, SampleKind, Samplings};
use super::labels::LabelValue;
use super::metrics::Metric;
use super::plan::StudyPlan;
use crate::metric::stats::{
    Anova, KruskalWallis, PairComparison, PairTest, change_percent, compare_pairs, mean,
};

/// Values of a label that are compared two by two. Of more of them only whether the label matters is tested: their
/// pairs grow with the square of their number, and say no more.
pub const COMPARED_MAX: usize = 64;

/// Groups that differ in one label only, or all of them, and a test whether that label matters.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// What the samples are numbers of.
    pub kind: SampleKind,
    /// The metric.
    pub metric: Metric,
    /// Place of the label.
    pub label: usize,
    /// Values of the other labels that all samples share, in the order of the study's groups; all
    /// `None` where samples are taken together whatever their other labels are.
    pub within: GroupKey,
    /// The samples are taken together whatever their other labels are.
    pub overall: bool,
    /// The flows of the runs that all samples are from; `None` where these differ by the label, or do not matter.
    pub composition: Option<Composition>,
    /// How many flows the runs have that all samples are from; `None` where they differ in that, or it does not matter.
    pub flows: Option<usize>,
    /// Values of the label that are compared.
    pub levels: usize,
    /// Samples in all.
    pub n: usize,
    /// Analysis of variance.
    pub anova: Option<Anova>,
    /// Rank test.
    pub kruskal_wallis: Option<KruskalWallis>,
}

impl Test {
    /// The flows of the runs in words: what they are, or else how many; no two tests of a metric and a label that are
    /// alike but for the runs have the same.
    #[must_use]
    pub fn composition_words(&self) -> Option<String> {
        let mixed = || Some(format!("{} flows, mixed differently", self.flows?));
        let alike = self.composition.as_ref();
        alike.map(Composition::words).or_else(mixed)
    }
}

/// Two groups that differ in one label only.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What the samples are numbers of.
    pub kind: SampleKind,
    /// The metric.
    pub metric: Metric,
    /// Place of the label.
    pub label: usize,
    /// As [`Test::within`].
    pub within: GroupKey,
    /// As [`Test::overall`].
    pub overall: bool,
    /// The label's value in the first group.
    pub a: Option<LabelValue>,
    /// The label's value in the second.
    pub b: Option<LabelValue>,
    /// The flows of the runs of the first; `None` where they do not matter.
    pub composition_a: Option<Composition>,
    /// The flows of the runs of the second; `None` where they do not matter.
    pub composition_b: Option<Composition>,
    /// Samples of the first.
    pub n_a: usize,
    /// Samples of the second.
    pub n_b: usize,
    /// Mean of the first.
    pub mean_a: Option<f64>,
    /// Mean of the second.
    pub mean_b: Option<f64>,
    /// Change from the second to the first, in percent of the second.
    pub change_percent: Option<f64>,
    /// Welch's t.
    pub welch: PairComparison,
    /// Mann and Whitney's U.
    pub ranks: Option<PairComparison>,
}

/// A value of the label that is compared, and the flows of the runs that have it.
type Level = (Option<LabelValue>, Option<Composition>);

/// What is known of what is compared, by the value of a label, or of several, and the flows of the runs that have it.
pub(super) type LevelsOf<V, T> = BTreeMap<(V, Option<Composition>), T>;

/// Samples by what is compared.
type Levels = LevelsOf<Option<LabelValue>, Vec<f64>>;

/// Samples that are compared: by the values of one label, all else equal.
struct Stratum {
    kind: SampleKind,
    metric: Metric,
    label: usize,
    within: GroupKey,
    overall: bool,
    levels: Vec<Level>,
    samples: Vec<Vec<f64>>,
}

impl Stratum {
    /// The flows of the runs that all its samples are from.
    fn composition(&self) -> Option<&Composition> {
        let (_, first) = self.levels.first()?;
        let common = self.levels.iter().all(|(_, of)| of == first);
        first.as_ref().filter(|_| common)
    }

    /// How many flows the runs have that all its samples are from.
    fn flows(&self) -> Option<usize> {
        let levels = self.levels.iter();
        let mut flows = levels.map(|(_, of)| of.as_ref().map(Composition::flows));
        let first = flows.next()??;
        flows.all(|flows| flows == Some(first)).then_some(first)
    }
}

/// Tests every label for an effect on every metric.
pub(super) fn tests(plan: &StudyPlan, samplings: &Samplings) -> Vec<Test> {
    strata(plan, samplings)
        .map(|stratum| Test {
            kind: stratum.kind,
            metric: stratum.metric,
            label: stratum.label,
            composition: stratum.composition().cloned(),
            flows: stratum.flows(),
            levels: stratum.levels.len(),
            n: stratum.samples.iter().map(Vec::len).sum(),
            anova: Anova::of_samples(&stratum.samples),
            kruskal_wallis: KruskalWallis::of(&stratum.samples),
            within: stratum.within,
            overall: stratum.overall,
        })
        .filter(|test| test.anova.is_some() || test.kruskal_wallis.is_some())
        .collect()
}

/// Labels of which more than [`COMPARED_MAX`] values are there to be compared, by place, and how many at most.
pub(super) type Uncompared = BTreeMap<usize, usize>;

/// Compares every two values of every label, where there are not too many of them.
pub(super) fn comparisons(
    plan: &StudyPlan,
    samplings: &Samplings,
) -> (Vec<Comparison>, Uncompared) {
    let mut comparisons = Vec::new();
    let mut uncompared = Uncompared::new();
    for stratum in strata(plan, samplings) {
        let values = stratum.levels.len();
        if values > COMPARED_MAX {
            let most = uncompared.entry(stratum.label).or_default();
            *most = values.max(*most);
            continue;
        }
        let pairs = |test| compare_pairs(&stratum.samples, test).unwrap_or_default();
        // Both have the same pairs in the same order, or none.
        let ranks = pairs(PairTest::MannWhitney);
        for (place, welch) in pairs(PairTest::WelchT).into_iter().enumerate() {
            let ranks = ranks.get(place).copied();
            let (a, b) = (&stratum.samples[welch.a], &stratum.samples[welch.b]);
            let (mean_a, mean_b) = (mean(a), mean(b));
            comparisons.push(Comparison {
                kind: stratum.kind,
                metric: stratum.metric,
                label: stratum.label,
                within: stratum.within.clone(),
                overall: stratum.overall,
                a: stratum.levels[welch.a].0.clone(),
                b: stratum.levels[welch.b].0.clone(),
                composition_a: stratum.levels[welch.a].1.clone(),
                composition_b: stratum.levels[welch.b].1.clone(),
                n_a: a.len(),
                n_b: b.len(),
                mean_a,
                mean_b,
                change_percent: mean_a.zip(mean_b).and_then(|(a, b)| change_percent(a, b)),
                welch,
                ranks,
            });
        }
    }
    (comparisons, uncompared)
}

/// All that is compared, in the order of the tables.
fn strata<'a>(plan: &'a StudyPlan, samplings: &'a Samplings) -> impl Iterator<Item = Stratum> + 'a {
    let tested = plan.tests.iter().filter_map(|&label| {
        let index = plan.group_by.iter().position(|&place| place == label)?;
        Some((label, index))
    });
    tested.flat_map(move |(label, index)| {
        SampleKind::ALL.iter().copied().flat_map(move |kind| {
            plan.metrics
                .iter()
                .flat_map(move |&metric| strata_of(samplings, kind, metric, label, index))
        })
    })
}

fn strata_of(
    samplings: &Samplings,
    kind: SampleKind,
    metric: Metric,
    label: usize,
    index: usize,
) -> Vec<Stratum> {
    let mut within: BTreeMap<GroupKey, Levels> = BTreeMap::new();
    for ((key, composition), samples) in samplings.of_metric(kind, metric) {
        // Samples without the label say nothing about it.
        let Some(level) = key[index].clone() else {
            continue;
        };
        let mut others = key.clone();
        others[index] = None;
        let level = (Some(level), composition.clone());
        let levels = within.entry(others).or_default();
        levels.entry(level).or_default().extend(samples);
    }
    let several = within.len() > 1;
    let nothing: GroupKey = within
        .keys()
        .next()
        .map(|key| vec![None; key.len()])
        .unwrap_or_default();
    let all = balanced(kind, &within).into_iter();
    let all = all.map(|levels| (nothing.clone(), levels, true));
    let each = within.into_iter().filter(|_| several);
    let each = each.flat_map(|(key, levels)| {
        let apart = comparable(kind, levels).into_iter();
        apart.map(move |levels| (key.clone(), levels, false))
    });
    all.chain(each)
        .map(|(within, levels, overall)| {
            let (levels, samples) = levels.into_iter().unzip();
            Stratum {
                kind,
                metric,
                label,
                within,
                overall,
                levels,
                samples,
            }
        })
        .collect()
}

/// What is compared whatever the other labels are, given what there is for each of their values: samples of those alone
/// that have all values that are compared. What others have would show where a value was measured, not what it does.
fn balanced(kind: SampleKind, within: &BTreeMap<GroupKey, Levels>) -> Vec<Levels> {
    let mut all = Levels::new();
    for (level, samples) in within.values().flatten() {
        let taken = all.entry(level.clone()).or_default();
        taken.extend_from_slice(samples);
    }
    let apart = comparable(kind, all).into_iter().map(|compared| {
        let of = |levels: &Levels| -> Levels {
            let kept = levels
                .iter()
                .filter(|(level, _)| compared.contains_key(level));
            kept.map(|(level, samples)| (level.clone(), samples.clone()))
                .collect()
        };
        let mut balanced = Levels::new();
        for levels in within.values().map(of) {
            if values(&levels) == values(&compared) {
                for (level, samples) in levels {
                    balanced.entry(level).or_default().extend(samples);
                }
            }
        }
        balanced
    });
    apart.filter(|levels| levels.len() > 1).collect()
}

/// The values of the label that samples are there for.
fn values<V: Ord, T>(levels: &LevelsOf<V, T>) -> BTreeSet<&V> {
    levels.keys().map(|(value, _)| value).collect()
}

/// What is compared with each other of these: where the flows of the runs go by the label all of it, as it is the label
/// that tells them; else, of whole runs, what is from runs of as many flows, if these go by the label; else what is
/// from runs of the same flows.
pub(super) fn comparable<V: Ord, T>(
    kind: SampleKind,
    levels: LevelsOf<V, T>,
) -> Vec<LevelsOf<V, T>> {
    let flows = |of: &Option<Composition>| of.as_ref().map(Composition::flows);
    let kinds = apart(vec![levels], |of| {
        flows(of).filter(|_| kind == SampleKind::Run)
    });
    let kinds = apart(kinds, Clone::clone);
    kinds
        .into_iter()
        .filter(|levels| levels.len() > 1)
        .collect()
}

/// Takes those apart in which a value of the label has flows of several kinds, by what `of` says of these.
fn apart<V: Ord, T, K: Ord>(
    kinds: Vec<LevelsOf<V, T>>,
    of: impl Fn(&Option<Composition>) -> K,
) -> Vec<LevelsOf<V, T>> {
    let mut all = Vec::new();
    for levels in kinds {
        if values(&levels).len() == levels.len() {
            all.push(levels);
            continue;
        }
        let mut parts: BTreeMap<K, LevelsOf<V, T>> = BTreeMap::new();
        for (level, samples) in levels {
            let part = parts.entry(of(&level.1)).or_default();
            part.insert(level, samples);
        }
        all.extend(parts.into_values());
    }
    all
}
