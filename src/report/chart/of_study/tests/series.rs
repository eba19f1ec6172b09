//! Runs in steps of time.

use super::*;

/// The report of goodput, with whatever delay there is.
fn report() -> [ReportPlan; 1] {
    [ReportPlan::Series(SeriesReport {
        variant: 0,
        of: SeriesOf::Runs,
        step_ns: 1_000_000_000,
        rate: SeriesKind::Goodput,
        delay: None,
    })]
}

/// Goodput of a variant at these times in ms, a run each.
fn charts(runs: &[&[(i64, f64)]]) -> Vec<StudyChart> {
    let mut draft = Draft::new(&[]);
    for points in runs {
        draft.run(&[], &[], &[FlowOf("cubic", (0, 10), &[])]);
        let run = draft.0.runs.last_mut().unwrap();
        let point = |&(at_ms, bps): &(i64, f64)| {
            SeriesPoint::new(at_ms * 1_000_000, [Some(bps), None, None, None])
        };
        run.series = points.iter().map(point).collect();
    }
    draft.charts(&report())
}

/// Points of each line that is drawn as a line of data, from left to right.
fn lines(canvas: &Canvas) -> Vec<usize> {
    let colour = super::super::super::palette::variant("cubic").colour;
    let lines = canvas.shapes.iter().filter_map(|shape| match shape {
        Shape::Line { points, stroke } if stroke.colour == colour => Some(points.len()),
        _ => None,
    });
    // Two points are those of the legend, or of a whisker.
    lines.filter(|&points| points > 2).collect()
}

#[test]
fn a_line_over_time_is_cut_where_steps_are_missing() {
    // Every second, but none from 5 to 20 s; and one alone at 40 s.
    let times = (0..5).chain(20..30).chain([40]);
    let points: Vec<(i64, f64)> = times.map(|at| (1000 * at, 5e6 + at as f64 * 1e5)).collect();
    let drawn = charts(&[&points]);
    assert_eq!(lines(named(&drawn, "series")), [5, 10]);
    // Where another run goes on meanwhile, so does their mean.
    let whole: Vec<(i64, f64)> = (0..41).map(|at| (1000 * at, 6e6)).collect();
    let drawn = charts(&[&points, &whole]);
    assert_eq!(lines(named(&drawn, "series")), [41]);
}

#[test]
fn a_line_over_time_ends_where_half_of_the_runs_have_ended() {
    let run = |seconds: i64| -> Vec<(i64, f64)> {
        (0..seconds)
            .map(|at| (1000 * at, 5e6 + at as f64 * 1e5))
            .collect()
    };
    let (short, long) = (run(10), run(20));
    let drawn = charts(&[&short, &long, &short]);
    let canvas = named(&drawn, "series");
    assert_eq!(lines(canvas), [10]);
    assert!(has(canvas, "n = 3"), "{:?}", texts(canvas));
    let said = "up to where half of a variant’s runs have ended";
    assert!(has(canvas, said), "{:?}", texts(canvas));
    let drawn = charts(&[&long, &long, &short]);
    assert_eq!(lines(named(&drawn, "series")), [20]);
    assert!(!has(named(&drawn, "series"), said));
}

#[test]
fn times_that_are_not_quite_even_leave_no_gap() {
    // 1.1 s apart every tenth time: now and then no point is in a step of a second.
    let mut at_ms = 0;
    let points: Vec<(i64, f64)> = (0..50)
        .map(|place| {
            at_ms += if place % 10 == 9 { 1400 } else { 1000 };
            (at_ms, 5e6 + f64::from(place) * 1e5)
        })
        .collect();
    let drawn = charts(&[&points]);
    assert_eq!(lines(named(&drawn, "series")), [50]);
}

#[test]
fn two_points_of_one_run_are_one_value_of_a_step() {
    let points = |twice: bool| -> Vec<(i64, f64)> {
        let all = (0..30).flat_map(|at| [(1000 * at, 5e6), (1000 * at + 300, 1e6)]);
        all.filter(|&(at, _)| at % 1000 == 0 || twice && at == 10_300)
            .collect()
    };
    // Four runs have an interval, one has none however many points a step has.
    for (runs, has_interval) in [(1, false), (4, true)] {
        let points = points(true);
        let drawn = charts(&vec![points.as_slice(); runs]);
        let canvas = named(&drawn, "series");
        let found = texts(canvas).contains(&"95 % confidence interval");
        assert_eq!(found, has_interval, "{:?}", texts(canvas));
        assert!(!has(canvas, "each run") && !has(canvas, "largest run"));
        assert!(has(canvas, &format!("n = {runs}")));
        assert!(!has(canvas, "n = 1 to 2"));
    }
}

#[test]
fn titles_of_boxes_name_what_is_there() {
    let points: Vec<(i64, f64)> = (0..30).map(|at| (1000 * at, 5e6 + at as f64)).collect();
    let drawn = charts(&[&points]);
    let canvas = named(&drawn, "series-boxes");
    assert!(
        has(canvas, "Goodput") && !has(canvas, " beside "),
        "{:?}",
        texts(canvas)
    );
}

#[test]
fn boxes_are_called_by_their_panels_and_by_what_their_values_are_of() {
    let mut draft = Draft::new(&[]);
    for (variant, bps) in [("cubic", 5e6), ("bbr", 6e6)] {
        for run in 0..6 {
            let bps = bps + f64::from(run) * 1e5;
            let numbers = [
                (Metric::GoodputBps, bps),
                (Metric::CompletionNs, 1e15 / bps),
            ];
            // Measured elsewhere: no flows are known.
            draft.run(&[], &numbers, &[]);
            let labels = &mut draft.0.runs.last_mut().unwrap().labels;
            labels[0] = draft.0.labels[0].value(variant).ok();
        }
    }
    let charts = draft.charts(&[]);
    let canvas = named(&charts, "boxes");
    for wanted in ["Goodput and completion time by variant", "values of runs"] {
        assert!(has(canvas, wanted), "{wanted}: {:?}", texts(canvas));
    }
    assert!(!has(canvas, "delay") && !has(canvas, "values of flows"));
}
