//! Flows of runs in steps of time.

use super::*;

/// The report of each flow, of goodput with whatever delay there is.
fn report() -> [ReportPlan; 1] {
    [ReportPlan::Series(SeriesReport {
        variant: 0,
        of: SeriesOf::Flows,
        step_ns: 1_000_000_000,
        rate: SeriesKind::Goodput,
        delay: None,
    })]
}

/// A flow: its variant, its first second, and what it got in each.
type Flow<'a> = (&'a str, i64, &'a [f64]);

fn draft_of(runs: &[&[Flow<'_>]]) -> Draft {
    let mut draft = Draft::new(&[]);
    for flows in runs {
        let flows_of: Vec<FlowOf<'_>> = flows
            .iter()
            .map(|&(variant, ..)| FlowOf(variant, (0, 10), &[]))
            .collect();
        draft.run(&[], &[], &flows_of);
        let run = draft.0.runs.last_mut().unwrap();
        for (flow, &(_, first, bps)) in run.flows.iter_mut().zip(*flows) {
            let point = |(second, &bps): (i64, &f64)| {
                SeriesPoint::new(second * 1_000_000_000, [Some(bps), None, None, None])
            };
            flow.measure.series = (first..).zip(bps).map(point).collect();
        }
    }
    draft
}

fn charts(runs: &[&[Flow<'_>]]) -> Vec<StudyChart> {
    draft_of(runs).charts(&report())
}

fn colour_of(variant: &str) -> super::super::super::palette::Colour {
    super::super::super::palette::variant(variant).colour
}

/// Where the line of a variant runs; two points are those of the legend.
fn line_of(canvas: &Canvas, variant: &str) -> Vec<(f64, f64)> {
    let mut lines = canvas.shapes.iter().filter_map(|shape| match shape {
        Shape::Line { points, stroke } if stroke.colour == colour_of(variant) => Some(points),
        _ => None,
    });
    let line = lines.find(|points| points.len() > 2);
    line.unwrap_or_else(|| panic!("no line of {variant}: {:?}", texts(canvas)))
        .clone()
}

/// Upper and lower end of the band of a variant.
fn band_of(canvas: &Canvas, variant: &str) -> (f64, f64) {
    let mut bands = canvas.shapes.iter().filter_map(|shape| match shape {
        Shape::Area { points, colour, .. } if *colour == colour_of(variant) => Some(points),
        _ => None,
    });
    let heights = bands
        .next()
        .unwrap()
        .iter()
        .map(|&(_, height)| (height, height));
    heights
        .reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
        .unwrap()
}

#[test]
fn a_flow_that_joins_another_begins_behind_it() {
    let charts = charts(&[&[("cubic", 3, &[5e6; 9]), ("bbr", 7, &[4e6; 5])]]);
    let canvas = named(&charts, "series");
    let [first, second] = ["cubic", "bbr"].map(|variant| line_of(canvas, variant));
    assert_eq!((first.len(), second.len()), (9, 5));
    // Both by the clock of their run, which begins with its first step.
    let across = |line: &[(f64, f64)]| line.iter().map(|&(x, _)| x).collect::<Vec<_>>();
    assert_eq!(across(&second), across(&first[4..]));
    assert!(second[0].1 > first[0].1, "4 below 5 Mbit/s");
    let boxes = named(&charts, "series-boxes");
    for said in ["values of steps of time of each flow", "n = 5 to 9"] {
        assert!(has(boxes, said), "{said}: {:?}", texts(boxes));
    }
    assert!(!has(canvas, "several flows"), "{:?}", texts(canvas));
}

#[test]
fn flows_of_one_variant_in_a_run_are_one_value_of_it() {
    let flows: [Flow<'_>; 3] = [
        ("cubic", 0, &[2e6; 4]),
        ("cubic", 0, &[6e6; 4]),
        ("bbr", 0, &[4e6; 4]),
    ];
    let charts = charts(&[&flows, &flows]);
    let canvas = named(&charts, "series");
    // The mean of 2 and 6 Mbit/s is what the other has.
    assert_eq!(line_of(canvas, "cubic"), line_of(canvas, "bbr"));
    for said in [
        "of several flows of a variant in a run: their mean",
        "n = 2",
    ] {
        assert!(has(canvas, said), "{said}: {:?}", texts(canvas));
    }
    // Boxes are of all of them.
    assert!(has(named(&charts, "series-boxes"), "n = 8 to 16"));
}

#[test]
fn medians_over_time_have_bands_of_quartiles() {
    let runs = [90e6, 2e6, 1e6, 3e6, 4e6].map(|bps| [bps; 4]);
    let flows = runs.iter().map(|bps| [("bbr", 0, bps.as_slice())]);
    let low_high = [2e6, 4e6].map(|bps| [bps; 4]);
    let [low, high] = low_high.each_ref().map(<[f64; 4]>::as_slice);
    let of_bbr: Vec<[Flow<'_>; 1]> = flows.collect();
    let mut runs: Vec<&[Flow<'_>]> = of_bbr.iter().map(<[_; 1]>::as_slice).collect();
    let others: [Flow<'_>; 2] = [("cubic", 0, low), ("reno", 0, high)];
    runs.push(&others);
    let draft = |average: Average| {
        let mut draft = draft_of(&runs);
        draft.0.average = average;
        let charts = draft.charts(&report());
        named(&charts, "series").clone()
    };
    let canvas = draft(Average::Median);
    // Quartiles of 1, 2, 3, 4 and 90 are 2 and 4, which the others have: the band lies between their lines.
    let heights = ["reno", "bbr", "cubic"].map(|variant| line_of(&canvas, variant)[0].1);
    assert!(
        heights[0] < heights[1] && heights[1] < heights[2],
        "{heights:?}"
    );
    assert_eq!(band_of(&canvas, "bbr"), (heights[0], heights[2]));
    for said in ["median of runs, with quartiles", "quartiles"] {
        assert!(has(&canvas, said), "{said}: {:?}", texts(&canvas));
    }
    let canvas = draft(Average::Mean);
    assert!(!has(&canvas, "quartiles"), "{:?}", texts(&canvas));
}
