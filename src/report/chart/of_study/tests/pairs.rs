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
fn pairs_that_are_seen_from_references_have_charts_for_each() {
    let mut draft = Draft::new(&[]);
    let sent_again = &[(Metric::RetransmittedPackets, 7.0)];
    let flow = |variant| FlowOf(variant, (0, 10), sent_again);
    for (first, second) in [("a", "b"), ("b", "a"), ("b", "c"), ("c", "d")] {
        let numbers = [(Metric::Fness, 0.5)];
        draft.run(&[], &numbers, &[flow(first), flow(second)]);
    }
    let value = |text| draft.0.labels[0].value(text).unwrap();
    let report = ReportPlan::Pairs {
        variant: 0,
        references: vec![value("b"), value("a")],
    };
    let charts = draft.charts(&[report]);
    let of = |stem: &str| texts(named(&charts, stem));
    // In the order of the manifest: b beside a and c, a beside b; behind them pairs of neither.
    let [b, a, others] = ["fness-01", "fness-02", "fness-03"].map(of);
    for said in [
        "Fairness of b and others – draft",
        "fness (−1: b alone, 0: even, 1: the other alone)",
        "b started first",
        "the other started first",
        "a",
        "c",
    ] {
        assert!(b.contains(&said), "{said}: {b:?}");
    }
    // The run's fness counts from the flow that started first: b is A in all of these.
    let numbers = |texts: &[&str]| {
        let numbers = texts.iter().filter(|text| text.contains("0.50"));
        numbers.map(|text| (*text).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&b), ["0.50", "−0.50", "0.50"]);
    assert!(a.contains(&"Fairness of a and others – draft"), "{a:?}");
    assert_eq!(numbers(&a), ["0.50", "−0.50"]);
    assert!(others.contains(&"Fairness of pairs A | B – draft"));
    assert!(others.contains(&"c | d"), "{others:?}");
    // Maps have those alone as first flows: of two maps the columns b and a, the rows a, b and c.
    let maps = of("pair-retransmissions");
    let count = |name: &str| maps.iter().filter(|text| **text == name).count();
    assert_eq!(
        [count("a"), count("b"), count("c"), count("d")],
        [4, 4, 2, 0]
    );
}

#[test]
fn retransmissions_of_pairs_are_told_of_either_flow_by_who_started_first() {
    let mut draft = Draft::new(&[("buffer", None)]);
    let sent_again = |packets: f64| -> &'static [(Metric, f64)] {
        Box::leak(Box::new([(Metric::RetransmittedPackets, packets)]))
    };
    // Of bbr first and cubic second two runs, of which one has no retransmission.
    for (first, second) in [
        (("bbr", 603.0), ("bbr", 261.0)),
        (("bbr", 400.0), ("cubic", 84.0)),
        (("bbr", 200.0), ("cubic", 0.0)),
        (("cubic", 106.0), ("bbr", 373.0)),
    ] {
        let flows = [first, second].map(|(of, packets)| FlowOf(of, (0, 10), sent_again(packets)));
        draft.run(&["0.5bdp"], &[], &flows);
    }
    let charts = draft.charts(&[]);
    let texts = texts(named(&charts, "pair-retransmissions"));
    for said in [
        "Retransmissions of two flows – draft: buffer 0.5bdp",
        "mean of runs, n = 1 to 2",
        "of the first flow",
        "of the second flow",
    ] {
        assert!(texts.contains(&said), "{said}: {texts:?}");
    }
    // Rows are of the second flow, columns of the first; nobody tried cubic against itself.
    let from = texts
        .iter()
        .position(|text| *text == "of the first flow")
        .unwrap();
    let numbers = texts[from..].iter().filter(|text| {
        **text == "–"
            || text
                .chars()
                .all(|letter| letter.is_ascii_digit() || letter == '.')
    });
    let numbers: Vec<&str> = numbers.copied().collect();
    assert_eq!(numbers, ["603", "106", "300", "–", "261", "373", "42", "–"]);
    // Nothing but zeros is no chart.
    let mut draft = Draft::new(&[]);
    for (first, second) in [("bbr", "cubic"), ("cubic", "bbr")] {
        let flow = |of| FlowOf(of, (0, 10), sent_again(0.0));
        draft.run(&[], &[], &[flow(first), flow(second)]);
    }
    let charts = draft.charts(&[]);
    assert!(
        charts
            .iter()
            .all(|chart| chart.stem != "pair-retransmissions")
    );
}

#[test]
fn maps_of_pairs_fit_a_slide_with_their_names() {
    let variants = ["bbrv1", "bbrv2", "bbrv3", "cubic", "illinois", "westwood+"];
    let mut draft = Draft::new(&[("buffer", None)]);
    for buffer in ["0.5bdp", "2bdp"] {
        for first in variants {
            for second in variants {
                let flow = |of| FlowOf(of, (0, 10), &[(Metric::RetransmittedPackets, 594.0)]);
                draft.run(&[buffer], &[], &[flow(first), flow(second)]);
            }
        }
    }
    let style = Style {
        size: Size::Slide,
        theme: Theme::Dark,
    };
    let charts = of_study(&[], &draft.0, style).charts;
    let maps = charts
        .iter()
        .filter(|chart| chart.stem.starts_with("pair-"));
    let maps: Vec<&Canvas> = maps.map(|chart| &chart.canvas).collect();
    assert_eq!(maps.len(), 2);
    for canvas in maps {
        assert_legible(canvas);
        assert!(canvas.height <= style.size.height(), "{}", canvas.height);
        let texts = texts(canvas);
        assert!(texts.iter().all(|text| !text.contains('…')), "{texts:?}");
    }
}

#[test]
fn fairness_and_completion_times_of_many_settings_fit_slides() {
    let mut draft = Draft::new(&[("buffer", None)]);
    for buffer in 0..16 {
        let buffer = format!("buffer-{buffer}");
        for (short, long) in [("bbr", "cubic"), ("cubic", "bbr")] {
            let flow = |name, seconds: i64, bytes: f64| -> FlowOf<'_> {
                let numbers = vec![
                    (Metric::AckedBytes, bytes),
                    (Metric::CompletionNs, 1e9 * seconds as f64),
                ];
                FlowOf(name, (0, seconds), numbers.leak())
            };
            let flows = [flow(long, 30, 1e8), flow(short, 5, 1e6)];
            draft.run(&[&buffer], &[(Metric::Fness, 0.25)], &flows);
        }
    }
    let style = Style {
        size: Size::Slide,
        theme: Theme::Light,
    };
    let charts = of_study(&[], &draft.0, style).charts;
    for (kind, number) in [("fness", 32), ("completion", 0)] {
        let of_kind = charts.iter().filter(|chart| chart.stem.starts_with(kind));
        let of_kind: Vec<&Canvas> = of_kind.map(|chart| &chart.canvas).collect();
        assert!(of_kind.len() > 1, "{kind}");
        for canvas in &of_kind {
            assert_legible(canvas);
            assert!(
                canvas.height <= style.size.height(),
                "{kind}: {}",
                canvas.height
            );
        }
        let texts = of_kind.iter().flat_map(|canvas| texts(canvas));
        let numbers = texts.filter(|text| text.trim_start_matches('−') == "0.25");
        assert_eq!(numbers.count(), number, "{kind}");
    }
}

/// On a slide each setting has a chart of its own: also one that only one variant was tried with, which a chart of all
/// settings has, too. What is compared from chart to chart has the same colours.
#[test]
fn maps_of_pairs_on_slides_of_their_own_lack_nothing_and_share_their_colours() {
    let mut draft = Draft::new(&[("buffer", None)]);
    let few = |of| FlowOf(of, (0, 10), &[(Metric::RetransmittedPackets, 16.0)]);
    let many = |of| FlowOf(of, (0, 10), &[(Metric::RetransmittedPackets, 400.0)]);
    for buffer in ["0.5bdp", "2bdp", "4bdp"] {
        draft.run(&[buffer], &[], &[few("cubic"), few("cubic")]);
        draft.run(&[buffer], &[], &[few("bbr"), few("cubic")]);
    }
    draft.run(&["codel"], &[], &[many("cubic"), many("cubic")]);
    let style = Style {
        size: Size::Slide,
        theme: Theme::Dark,
    };
    let charts = of_study(&[], &draft.0, style).charts;
    let maps = charts
        .iter()
        .filter(|chart| chart.stem.starts_with("pair-retransmissions"));
    let maps: Vec<Vec<&str>> = maps.map(|chart| texts(&chart.canvas)).collect();
    assert!(maps.len() > 1, "{maps:?}");
    let is_of_codel = |text: &&str| text.contains("codel");
    assert!(maps.iter().flatten().any(is_of_codel), "{maps:?}");
    // 200 is of no cell, but of the scale of all.
    assert!(maps.iter().all(|texts| texts.contains(&"200")), "{maps:?}");
    // Where nothing but one variant ran there is nothing to see.
    let mut draft = Draft::new(&[]);
    draft.run(&[], &[], &[few("cubic"), few("cubic")]);
    let charts = draft.charts(&[]);
    let is_map = |chart: &StudyChart| chart.stem == "pair-retransmissions";
    assert!(!charts.iter().any(is_map));
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
