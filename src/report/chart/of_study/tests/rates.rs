//! Runs over links of several rates: what of them stands beside each other, and what is taken together.

use super::*;

/// Four runs of each variant at 10 Mbit/s and at 20, twice as fast there. The links are known to the study, or not.
fn two_rates(is_known: bool) -> Draft {
    let mut draft = Draft::new(&[("buffer", None), ("rate", None)]);
    for (rate, capacity_bps) in [("10m", 10e6), ("20m", 20e6)] {
        for (variant, share) in [("bbr", 0.5), ("cubic", 0.8)] {
            for buffer in ["deep", "shallow"] {
                for _ in 0..2 {
                    let mut numbers = vec![
                        (Metric::GoodputBps, share * capacity_bps),
                        (Metric::RttNsMean, 20e6),
                        (Metric::RetransmissionRate, 0.01),
                    ];
                    numbers.extend(is_known.then_some((Metric::Utilisation, share)));
                    let flow = FlowOf(variant, (0, 9), &numbers);
                    draft.run(&[buffer, rate], &numbers, &[flow]);
                    let run = draft.0.runs.last_mut().unwrap();
                    let capacity = PathCapacity::Constant(capacity_bps);
                    run.conditions.capacity = is_known.then_some(capacity);
                }
            }
        }
    }
    draft
}

fn stems<'c>(charts: &'c [StudyChart], kind: &str) -> Vec<&'c str> {
    let stems = charts.iter().map(|chart| chart.stem.as_str());
    stems.filter(|stem| stem.starts_with(kind)).collect()
}

#[test]
fn goodput_over_links_of_several_capacities_is_utilisation() {
    let mut draft = two_rates(true);
    // With the rate as a setting, and with the runs of both rates together.
    for group_by in [vec![0, 1, 2], vec![0, 1]] {
        draft.0.group_by = group_by;
        let charts = draft.charts(&[]);
        assert!(stems(&charts, "bars-goodput").is_empty());
        let bars = named(&charts, "bars-utilisation");
        for wanted in ["Utilisation (%)", "80.0", "50.0"] {
            assert!(has(bars, wanted), "{wanted}: {:?}", texts(bars));
        }
        let spider = named(&charts, "spider");
        assert!(has(spider, "80.0 %") && !has(spider, "Mbit/s"));
    }
}

#[test]
fn boxes_of_one_setting_have_goodput_and_of_several_rates_utilisation() {
    let mut draft = two_rates(true);
    draft.0.group_by = vec![0, 2];
    let charts = draft.charts(&[]);
    for stem in ["boxes-01", "boxes-02"] {
        assert!(has(named(&charts, stem), "Goodput (Mbit/s)"), "{stem}");
    }
    // Nor do groups keep capacities apart that the rate does not make.
    draft.0.group_by = vec![0, 1];
    let charts = draft.charts(&[]);
    for stem in ["boxes-01", "boxes-02"] {
        let boxes = named(&charts, stem);
        assert!(has(boxes, "Utilisation (%)"), "{:?}", texts(boxes));
    }
    // Two runs of each buffer and rate are too few for boxes of their own.
    draft.0.group_by = vec![0, 1, 2];
    let charts = draft.charts(&[]);
    for stem in ["boxes-01", "boxes-02"] {
        let boxes = named(&charts, stem);
        assert!(has(boxes, "2 settings together"), "{:?}", texts(boxes));
        assert!(has(boxes, "Utilisation (%)"), "{:?}", texts(boxes));
    }
}

#[test]
fn links_of_several_rates_of_which_no_capacity_is_known_have_charts_of_their_own() {
    let charts = two_rates(false).charts(&[]);
    for kind in ["bars-goodput", "bars-latency", "spider"] {
        let stems = stems(&charts, kind);
        assert_eq!(stems.len(), 2, "{stems:?}");
        for (stem, rate) in stems.into_iter().zip(["10m", "20m"]) {
            assert!(has(named(&charts, stem), rate), "{stem}");
        }
    }
    // 8 of 10 Mbit/s are as high as 16 of 20: each chart has the axis of its rate.
    let heights = ["bars-goodput-01", "bars-goodput-02"]
        .map(|stem| bars_of(named(&charts, stem), "cubic")[0]);
    assert!((heights[0] - heights[1]).abs() < 0.02, "{heights:?}");
    // Boxes take both buffers together, but never both rates.
    for stem in stems(&charts, "boxes") {
        let boxes = named(&charts, stem);
        let rates = ["10m", "20m"].map(|rate| has(boxes, rate));
        assert_ne!(rates[0], rates[1], "{:?}", texts(boxes));
    }
}

#[test]
fn runs_of_several_rates_that_are_taken_together_are_said() {
    let mut draft = two_rates(false);
    let note = "runs at 2 rates together";
    for (group_by, said) in [(vec![0, 1, 2], false), (vec![0, 1], true)] {
        draft.0.group_by = group_by;
        let charts = draft.charts(&[]);
        for kind in ["bars-goodput", "boxes", "spider"] {
            for stem in stems(&charts, kind) {
                assert_eq!(has(named(&charts, stem), note), said, "{stem}");
            }
        }
    }
}

#[test]
fn links_of_more_rates_than_there_are_charts_stand_beside_each_other() {
    let mut draft = Draft::new(&[("rate", Some("Mbit"))]);
    for rate in 1..20 {
        let goodput_bps = f64::from(rate) * 1e6;
        draft.run(&[&rate.to_string()], &[], &[goodput("bbr", goodput_bps)]);
        draft.0.runs.last_mut().unwrap().conditions.capacity = None;
    }
    assert_eq!(stems(&draft.charts(&[]), "bars-goodput"), ["bars-goodput"]);
}

#[test]
fn labels_whose_names_end_in_a_unit_are_read_with_it() {
    let mut draft = Draft::new(&[("buffer_kb", None), ("cross_flows", None)]);
    for label in &mut draft.0.labels[1..] {
        label.kind = LabelKind::Number(None);
    }
    for (buffer, flows) in [("25", "2"), ("150", "1")] {
        draft.run(&[buffer, flows], &[], &[goodput("cubic", 4e6)]);
    }
    let charts = draft.charts(&[]);
    let bars = named(&charts, "bars-goodput");
    for wanted in ["buffer 25\u{a0}kB,", "buffer 150\u{a0}kB,", "cross flows 2"] {
        assert!(has(bars, wanted), "{wanted}: {:?}", texts(bars));
    }
}
