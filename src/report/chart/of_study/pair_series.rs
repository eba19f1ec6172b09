//! Two flows against each other over time: the median goodput of either over the runs of a pair, with quartiles.

use std::collections::BTreeMap;

use crate::study::{LabelValue, Metric, Sample, StudyFlow};

use super::super::axis::Quantity;
use super::super::bands::BandLines;
use super::super::canvas::Canvas;
use super::super::interval::Estimate;
use super::super::looks::Looks;
use super::amounts::median_of;
use super::series::are_most;
use super::settings::{Page, Setting, name_of};
use super::{Study, StudyCharts, drawn};

/// Steps of a chart: more are noise.
const STEPS_MAX: i64 = 50;

/// Bins that a step may last: powers of ten, twice and five times these.
const STEPS: [i64; 3] = [1, 2, 5];

/// Flows that begin within such a share of the time of both begin together: who is ahead by more may keep what he got.
const TOGETHER: f64 = 0.01;

type Variant = Option<LabelValue>;

/// Runs of two variants: those of the flow called A, and of B.
#[derive(Default)]
struct PairRuns<'r> {
    runs: Vec<[&'r [Sample]; 2]>,
    /// Of some a part counts alone.
    has_windows: bool,
}

/// The variants of A and B, and who began first: 0 is A; none where both began together.
type Pair = (Variant, Variant, Option<usize>);

type Pairs<'r> = BTreeMap<Pair, PairRuns<'r>>;

/// A chart for each pair with two runs or more of which the goodput of the flows is known over time.
pub(super) fn goodput(study: &Study<'_>, charts: &mut StudyCharts) {
    let mut found: BTreeMap<Setting, Pairs<'_>> = BTreeMap::new();
    for (run, flows) in study.pairs() {
        if let Some((pair, samples)) = pair_of(study, flows) {
            let pairs = found.entry(study.setting_of_pair(run)).or_default();
            let of = pairs.entry(pair).or_default();
            of.runs.push(samples);
            of.has_windows |= run.window_ns.is_some();
        }
    }
    // Of one run its own charts tell.
    for pairs in found.values_mut() {
        pairs.retain(|_, of| of.runs.len() > 1);
    }
    found.retain(|_, pairs| !pairs.is_empty());
    let pages = study.settings(&[]).pages(found, 1, |_| 1);
    let canvases = pages.iter().flat_map(|page| {
        let pairs = page.entries.iter().flat_map(|(_, pairs)| pairs);
        pairs.map(move |(pair, of)| draw(study, page, pair, of))
    });
    charts.add(super::pairs::TOPIC, "pair-goodput", canvases);
}

/// Which pair a run is of, with the samples of its flows: the one whose variant stands first is A.
fn pair_of<'r>(study: &Study<'_>, flows: [&'r StudyFlow; 2]) -> Option<(Pair, [&'r [Sample]; 2])> {
    let samples = flows.map(|flow| flow.measure.samples.as_slice());
    if samples.iter().any(|samples| samples.is_empty()) {
        return None;
    }
    // Within a window both may have samples from its beginning on, whoever began first.
    let [one, two] = flows.map(|flow| flow.measure.span_ns);
    let (one, two) = (one?, two?);
    let [first, second] = study.variants_of_pair(flows)?;
    let all_ns = one.1.max(two.1).abs_diff(one.0.min(two.0));
    let begin_together = two.0.abs_diff(one.0) as f64 <= TOGETHER * all_ns as f64;
    let is_turned = second < first;
    let began = usize::from(is_turned);
    // Flows of one variant are told apart by who began, whenever that was.
    let order = (!begin_together || first == second).then_some(began);
    let [a, b] = samples;
    Some(if is_turned {
        ((second, first, order), [b, a])
    } else {
        ((first, second, order), [a, b])
    })
}

fn draw(
    study: &Study<'_>,
    page: &Page<Pairs<'_>>,
    (a, b, order): &Pair,
    pair: &PairRuns<'_>,
) -> Option<Canvas> {
    let names = [a, b].map(|variant| name_of(variant.as_ref()));
    let is_same = a == b;
    let lines = if is_same {
        ["first", "second"].map(|which| format!("{}, {which}", names[0]))
    } else {
        names.clone()
    };
    let own = Looks::of(lines.iter().map(String::as_str));
    let looks = if is_same { &own } else { &study.looks };
    let bin_ns = study.results.bin_ns;
    let step_bins = pair.step_bins(bin_ns);
    let step_s = step_bins as f64 * bin_ns as f64 / 1e9;
    let of_flow = |flow: usize| {
        let steps: Vec<(i64, Vec<f64>)> = pair.steps(flow, bin_ns, step_bins).into_iter().collect();
        let parts = steps.chunk_by(|(one, _), (next, _)| one + 1 == *next);
        let point = |(step, values): &(i64, Vec<f64>)| {
            Some(((*step as f64 + 0.5) * step_s, median_of(values)?))
        };
        let name = &lines[flow];
        let parts = parts.map(|part| (name.clone(), part.iter().filter_map(point).collect()));
        parts.collect::<Vec<(String, Vec<(f64, Estimate)>)>>()
    };
    // Runs in which one of them began clearly first have a chart of their own.
    let mut pairs = page.entries.iter().flat_map(|(_, pairs)| pairs.keys());
    let has_orders = pairs.any(|of| (&of.0, &of.1) == (a, b) && of.2.is_some());
    let order = match (order, is_same) {
        (Some(first), false) => format!(", {} first", names[*first]),
        (None, false) if has_orders => ", begun together".to_owned(),
        _ => String::new(),
    };
    let condition = page.common.words();
    let condition = if condition.is_empty() {
        condition
    } else {
        format!(", {condition}")
    };
    let drawn_lines = [0, 1].map(of_flow);
    let too_short = drawn_lines.iter().zip(&lines);
    let too_short: Vec<String> = too_short
        .filter(|(parts, _)| parts.iter().all(|(_, points)| points.is_empty()))
        .map(|(_, name)| format!("; {name} lasts too short for a step in most runs"))
        .collect();
    let chart = BandLines {
        title: study.title(
            "Goodput of two flows over time",
            &format!("{} | {}{order}{condition}", names[0], names[1]),
        ),
        note: format!(
            "steps of {}; median of runs{}",
            Quantity::TIME.format(step_s),
            too_short.concat()
        ),
        interval: "quartiles",
        x: Quantity::TIME,
        x_name: if pair.has_windows {
            "Time since the window began".to_owned()
        } else {
            "Time since the first flow began".to_owned()
        },
        y: drawn(Metric::GoodputBps).0,
        lines: drawn_lines.into_iter().flatten().collect(),
    };
    chart.draw_as(study.style, looks)
}

impl PairRuns<'_> {
    /// How many bins a step lasts, so that there are no more steps than can be told apart.
    fn step_bins(&self, bin_ns: i64) -> i64 {
        let spans = self.runs.iter().map(|run| {
            let last = run.iter().filter_map(|samples| samples.last());
            let last_ns = last.map(|sample| sample.time_ns).max().unwrap_or(0);
            last_ns.saturating_sub(began_ns(run)) / bin_ns
        });
        let bins = spans.max().unwrap_or(0);
        let mut ladder = (0..).flat_map(|power| STEPS.map(|step| step * 10_i64.pow(power)));
        ladder.find(|step| bins / step <= STEPS_MAX).unwrap_or(1)
    }

    /// What a flow got in each step that most runs have, a value a run that has all of it. Bins in which a flow begins or
    /// ends are less than a bin.
    fn steps(&self, flow: usize, bin_ns: i64, step_bins: i64) -> BTreeMap<i64, Vec<f64>> {
        let mut steps: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
        for run in &self.runs {
            let began_ns = began_ns(run);
            let mut own: BTreeMap<i64, (i64, f64)> = BTreeMap::new();
            let inner = run[flow]
                .split_first()
                .and_then(|(_, rest)| rest.split_last());
            for sample in inner.into_iter().flat_map(|(_, inner)| inner) {
                let Some(goodput_bps) = sample.goodput_bps else {
                    continue;
                };
                let after_ns = sample.time_ns.saturating_sub(began_ns);
                let step = after_ns.div_euclid(bin_ns * step_bins);
                let (bins, sum) = own.entry(step).or_default();
                *bins += 1;
                *sum += goodput_bps;
            }
            for (step, (bins, sum)) in own {
                if bins == step_bins {
                    steps.entry(step).or_default().push(sum / bins as f64);
                }
            }
        }
        steps.retain(|_, values| are_most(values.len(), self.runs.len()));
        steps
    }
}

/// When the first of two flows began.
fn began_ns(run: &[&[Sample]; 2]) -> i64 {
    let first = run.iter().filter_map(|samples| samples.first());
    first.map(|sample| sample.time_ns).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::super::interval::Spread;
    use super::*;

    /// A flow with these goodputs in bins of 10 ms from one on.
    fn samples(first: i64, goodputs: &[f64]) -> Vec<Sample> {
        let sample = |(bin, &goodput_bps): (i64, &f64)| Sample {
            time_ns: (first + bin) * 10_000_000,
            goodput_bps: Some(goodput_bps),
            ..Sample::default()
        };
        (0..).zip(goodputs).map(sample).collect()
    }

    #[test]
    fn a_step_is_the_mean_of_its_bins_where_a_flow_has_all_of_them() {
        let (one, two) = (
            samples(7, &[1.0; 9]),
            samples(8, &[9.0, 2.0, 4.0, 6.0, 8.0, 9.0]),
        );
        let other = samples(3, &[9.0, 9.0, 5.0, 5.0, 9.0]);
        let pair = PairRuns {
            runs: vec![[&one, &two], [&one, &two], [&one, &other]],
            has_windows: false,
        };
        // Bins from the first of both: 2 and 3, 4 and 5 between its first and last; of the third run 1 to 3, begun
        // earlier.
        let steps = pair.steps(1, 10_000_000, 2);
        let expected = [(1, vec![3.0, 3.0, 5.0]), (2, vec![7.0, 7.0])];
        assert_eq!(steps.into_iter().collect::<Vec<_>>(), expected);
        // What one of three runs has is the median of none.
        assert!(pair.steps(0, 10_000_000, 1).keys().all(|&step| step < 8));
    }

    #[test]
    fn steps_are_as_long_as_leaves_lines_to_be_seen() {
        let of = |bins: usize| {
            let all = samples(0, &vec![1.0; bins]);
            let pair = PairRuns {
                runs: vec![[&all, &all]],
                has_windows: false,
            };
            pair.step_bins(10_000_000)
        };
        assert_eq!(
            [of(20), of(51), of(90), of(600), of(60_001)],
            [1, 1, 2, 20, 2000]
        );
    }

    #[test]
    fn whatever_a_capture_is_dated_its_steps_are_few() {
        let at = |time_ns| Sample {
            time_ns,
            ..Sample::default()
        };
        let all = [i64::MIN, -1, 0, i64::MAX].map(at);
        let pair = PairRuns {
            runs: vec![[&all, &all]; 2],
            has_windows: false,
        };
        let bin_ns = 1;
        let step_bins = pair.step_bins(bin_ns);
        assert!(i64::MAX / step_bins <= STEPS_MAX);
        assert!(pair.steps(0, bin_ns, step_bins).is_empty());
    }

    #[test]
    fn quartiles_are_of_four_runs_or_more() {
        let of = |values: &[f64]| median_of(values).unwrap();
        let five = of(&[5.0, 1.0, 2.0, 4.0, 30.0]);
        assert_eq!((five.value, five.n), (4.0, 5));
        assert_eq!(five.spread, Spread::Interval(2.0, 5.0));
        assert_eq!(of(&[3.0, 1.0, 2.0]).spread, Spread::Three([1.0, 2.0, 3.0]));
        assert_eq!(
            (of(&[3.0]).value, of(&[3.0]).spread),
            (3.0, Spread::Unknown)
        );
    }
}
