//! Goodput of two flows over time.

use super::*;
use crate::study::Sample;

/// A second of a flow in bins of 10 ms, from one on.
fn second(first_bin: i64, goodput_bps: f64) -> Vec<Sample> {
    let sample = |bin: i64| Sample {
        time_ns: (first_bin + bin) * 10_000_000,
        goodput_bps: Some(goodput_bps),
        ..Sample::default()
    };
    (0..100).map(sample).collect()
}

/// Runs of two flows each: the variant, the bin in which it begins and its goodput.
fn draft_of(runs: &[[(&str, i64, f64); 2]]) -> Draft {
    let mut draft = Draft::new(&[]);
    draft.0.bin_ns = 10_000_000;
    for run in runs {
        draft.run(
            &[],
            &[],
            &run.map(|(variant, ..)| FlowOf(variant, (0, 1), &[])),
        );
        let flows = &mut draft.0.runs.last_mut().unwrap().flows;
        for (flow, &(_, first, bps)) in flows.iter_mut().zip(run) {
            flow.measure.samples = second(first, bps);
            let ns = |bin: i64| bin * 10_000_000;
            flow.measure.span_ns = Some((ns(first), ns(first + 100)));
        }
    }
    draft
}

fn drawn(runs: &[[(&str, i64, f64); 2]]) -> Vec<StudyChart> {
    draft_of(runs).charts(&[])
}

fn of_pairs(charts: &[StudyChart]) -> Vec<String> {
    let charts = charts
        .iter()
        .filter(|chart| chart.stem.starts_with("pair-goodput"));
    charts.map(|chart| texts(&chart.canvas).join(" ")).collect()
}

#[test]
fn runs_of_a_pair_are_one_chart_with_medians_and_quartiles() {
    // Whoever stands first: both begin at once.
    let runs: Vec<_> = (0..4)
        .map(|run| {
            let of = [("bbr", 0, 6e6 + 1e6 * f64::from(run)), ("cubic", 1, 2e6)];
            if run % 2 == 0 { of } else { [of[1], of[0]] }
        })
        .collect();
    let found = of_pairs(&drawn(&runs));
    let [chart] = found.as_slice() else {
        panic!("{found:?}");
    };
    for said in [
        "Goodput of two flows over time – draft: bbr | cubic",
        "steps of 20.0 ms; median of runs · n = 4",
        "quartiles",
        "Time since the first flow began",
    ] {
        assert!(chart.contains(said), "{said}: {chart}");
    }
    let mut windowed = draft_of(&runs);
    windowed.0.runs[1].window_ns = Some((0, 1_000_000_000));
    let found = of_pairs(&windowed.charts(&[]));
    assert!(
        found[0].contains("Time since the window began"),
        "{found:?}"
    );
    // Of one run there is nothing to take together.
    assert!(of_pairs(&drawn(&runs[..1])).is_empty());
}

#[test]
fn orders_of_start_are_apart_where_they_matter() {
    let [bbr, cubic] = [("bbr", 0, 6e6), ("cubic", 50, 2e6)];
    let turned = [("cubic", 0, 2e6), ("bbr", 50, 6e6)];
    let found = of_pairs(&drawn(&[[bbr, cubic], turned, [bbr, cubic], turned]));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("bbr | cubic, bbr first"), "{found:?}");
    assert!(found[1].contains("bbr | cubic, cubic first"), "{found:?}");
    // Beside these it is said of runs in which both begin at once, and of such alone it goes without saying.
    let at_once = [bbr, ("cubic", 1, 2e6)];
    let found = of_pairs(&drawn(&[[bbr, cubic], [bbr, cubic], at_once, at_once]));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].contains("bbr | cubic, begun together"),
        "{found:?}"
    );
    let found = of_pairs(&drawn(&[at_once, at_once]));
    assert!(
        !found[0].contains("together,") && !found[0].contains("begun"),
        "{found:?}"
    );
    // Two in a hundred bins are no accident, and what was ahead may stay so.
    let found = of_pairs(&drawn(&[
        [("bbr", 0, 6e6), ("cubic", 2, 2e6)],
        turned,
        at_once,
        at_once,
    ]));
    assert!(!found[0].contains("n = 3"), "{found:?}");
    // Of a window that both have from its beginning on, too.
    let runs = [[bbr, cubic], turned, [bbr, cubic], turned];
    let mut draft = draft_of(&runs);
    for (run, flows) in draft.0.runs.iter_mut().zip(runs) {
        run.window_ns = Some((600_000_000, 1_000_000_000));
        for (flow, (_, _, bps)) in run.flows.iter_mut().zip(flows) {
            flow.measure.samples = second(60, bps)[..40].to_vec();
        }
    }
    assert_eq!(of_pairs(&draft.charts(&[])).len(), 2);
    let same = [("bbr", 0, 6e6), ("bbr", 50, 2e6)];
    let found = of_pairs(&drawn(&[same, same]));
    assert!(
        found[0].contains("bbr, first") && found[0].contains("bbr, second"),
        "{found:?}"
    );
}

#[test]
fn a_flow_that_is_too_short_to_be_drawn_is_said_to_be_so() {
    let mut draft = draft_of(&[[("bulk", 0, 6e6), ("short", 50, 2e6)]; 3]);
    for run in &mut draft.0.runs {
        run.flows[1].measure.samples.truncate(2);
    }
    let found = of_pairs(&draft.charts(&[]));
    let said = "; short lasts too short for a step in most runs";
    assert!(found[0].contains(said), "{found:?}");
    assert!(!found[0].contains("; bulk lasts"), "{found:?}");
}
