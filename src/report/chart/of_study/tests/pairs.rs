//! Runs of two flows: fairness, and short flows beside long ones.

use super::*;

#[test]
fn fairness_is_seen_from_the_same_flow_whichever_started_first() {
    let mut draft = Draft::new(&[]);
    let flow = |variant| FlowOf(variant, (0, 10), &[]);
    // The run's fness counts from the flow that started first: 0.5 is more for the second.
    for (first, second) in [("bbr", "cubic"), ("cubic", "bbr")] {
        draft.run(&[], &[(Metric::Fness, 0.5)], &[flow(first), flow(second)]);
    }
    let charts = draft.charts(&[]);
    let canvas = named(&charts, "fness");
    assert!(has(canvas, "bbr | cubic"), "{:?}", texts(canvas));
    let mut points = Vec::new();
    for shape in &canvas.shapes {
        if let Shape::Marker { at, .. } = shape {
            points.push(*at);
        }
    }
    // Two swatches of the legend, then a point for each order: cubic has more where bbr started
    // first, bbr where cubic did.
    let [.., a_first, b_first] = points.as_slice() else {
        panic!("{points:?}");
    };
    assert!(a_first.0 < b_first.0, "orders stand side by side");
    assert!(a_first.1 < b_first.1, "above is more for B: {points:?}");
    let even = canvas.shapes.iter().find_map(|shape| match shape {
        Shape::Line { points, stroke } if stroke.colour == super::super::super::Colour::GREY => {
            Some(points[0].1)
        }
        _ => None,
    });
    let even = even.unwrap();
    assert!(((even - a_first.1) - (b_first.1 - even)).abs() < 0.01);
}

#[test]
fn flows_that_end_together_or_last_equally_long_are_not_short() {
    let mut draft = Draft::new(&[("case", None)]);
    let bytes = |bytes: f64, seconds: f64| -> &'static [(Metric, f64)] {
        Box::leak(Box::new([
            (Metric::AckedBytes, bytes),
            (Metric::CompletionNs, seconds * 1e9),
        ]))
    };
    draft.run(
        &["short"],
        &[],
        &[
            FlowOf("cubic", (0, 12), bytes(10e6, 12.0)),
            FlowOf("bbr", (4, 7), bytes(2.5e6, 3.0)),
        ],
    );
    draft.run(
        &["starved"],
        &[],
        &[
            FlowOf("cubic", (0, 45), bytes(50e6, 45.0)),
            FlowOf("bbr", (1, 46), bytes(1e6, 45.0)),
        ],
    );
    // Both run for 8 s, the second from 4 s on.
    draft.run(
        &["timed"],
        &[],
        &[
            FlowOf("cubic", (0, 8), bytes(10e6, 8.0)),
            FlowOf("bbr", (4, 12), bytes(1e6, 8.0)),
        ],
    );
    let charts = draft.charts(&[]);
    let canvas = named(&charts, "completion");
    assert!(has(canvas, "draft: short"), "{:?}", texts(canvas));
    assert!(!has(canvas, "starved") && !has(canvas, "timed"));
    let names = texts(canvas).join(" ");
    assert!(names.contains("bbr beside long") && names.contains("cubic beside short"));
}

#[test]
fn flows_that_had_not_completed_have_no_completion_time_in_charts() {
    let mut draft = Draft::new(&[]);
    let long = [(Metric::AckedBytes, 10e6), (Metric::CompletionNs, 12e9)];
    let short = [
        (Metric::AckedBytes, 1e6),
        (Metric::CompletionNs, 3e9),
        (Metric::GoodputBps, 2e6),
    ];
    for _ in 0..4 {
        for (one, other) in [("cubic", "bbr"), ("bbr", "cubic")] {
            let flows = [FlowOf(one, (0, 12), &long), FlowOf(other, (4, 7), &short)];
            draft.run(&[], &[], &flows);
        }
    }
    let charts = draft.charts(&[]);
    for kind in ["boxes", "completion"] {
        assert!(!has(named(&charts, kind), "not completed"), "{kind}");
    }
    assert!(has(named(&charts, "completion"), "n = 4"));
    // Cut off: three long flows, and all short ones of the other variant.
    for (run, flow) in [(0, 0), (2, 0), (4, 0), (1, 1), (3, 1), (5, 1), (7, 1)] {
        draft.0.runs[run].flows[flow].measure.quality = "super_segments,unfinished".to_owned();
    }
    let charts = draft.charts(&[]);
    for kind in ["boxes", "completion"] {
        let canvas = named(&charts, kind);
        let said = "without the completion times of 7 flows that had not completed";
        assert!(has(canvas, said), "{kind}: {:?}", texts(canvas));
    }
    let canvas = named(&charts, "completion");
    assert!(has(canvas, "n = 1 to 4"), "{:?}", texts(canvas));
    let names = texts(canvas).join(" ");
    assert!(
        names.contains("bbr beside long") && !names.contains("cubic beside long"),
        "{names}"
    );
}
