//! What is dealt out to several charts, and what is not.

use super::*;

/// Heights of the bars of cubic on the chart of each of two places, with this goodput at each.
fn heights(home: (&str, f64), office: (&str, f64)) -> [f64; 2] {
    let mut draft = Draft::new(&[("place", None), ("scenario", None)]);
    for (place, bps) in [home, office] {
        for scenario in 0..20 {
            let name = format!("case-{scenario}");
            draft.run(&[place, &name], &[], &[goodput("cubic", bps)]);
            draft.run(&[place, &name], &[], &[goodput("bbr", bps / 2.0)]);
        }
    }
    let charts = draft.charts(&[]);
    ["bars-goodput-01", "bars-goodput-02"].map(|stem| bars_of(named(&charts, stem), "cubic")[0])
}

#[test]
fn bars_of_one_kind_have_one_scale_on_all_charts_unless_some_would_not_be_seen() {
    let [home, office] = heights(("home", 8e6), ("office", 4e6));
    assert!((home / office - 2.0).abs() < 0.02, "{home} {office}");
    // A name may have what stands between names of labels.
    let [home, office] = heights(("home", 8e6), ("office, upstairs", 4e6));
    assert!((home / office - 2.0).abs() < 0.02, "{home} {office}");
    let [home, office] = heights(("home", 8e8), ("office", 8e6));
    assert!((home / office - 1.0).abs() < 0.02, "{home} {office}");
}

#[test]
fn pairs_with_few_runs_share_a_chart_and_bear_their_numbers() {
    let mut draft = Draft::new(&[("buffer", None)]);
    let flow = |variant| FlowOf(variant, (0, 10), &[]);
    let add = |draft: &mut Draft, fness: f64| {
        for buffer in ["deep", "shallow"] {
            for (a, b) in [("bbr", "bbr"), ("bbr", "cubic"), ("cubic", "cubic")] {
                draft.run(&[buffer], &[(Metric::Fness, fness)], &[flow(a), flow(b)]);
            }
        }
    };
    add(&mut draft, 0.25);
    let charts = draft.charts(&[]);
    let canvas = named(&charts, "fness");
    let numbers = texts(canvas)
        .iter()
        .filter(|text| text.contains("0.25"))
        .count();
    assert_eq!(numbers, 6, "{:?}", texts(canvas));
    assert!(has(canvas, "bbr | cubic, shallow"), "{:?}", texts(canvas));
    // Three runs of each begin to have a shape.
    add(&mut draft, 0.5);
    add(&mut draft, 0.75);
    let charts = draft.charts(&[]);
    for stem in ["fness-01", "fness-02"] {
        assert!(!has(named(&charts, stem), "0.25"));
    }
}
