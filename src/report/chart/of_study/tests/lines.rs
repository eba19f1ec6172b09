//! Lines over labels with numbers.

use super::*;

#[test]
fn lines_run_over_labels_with_three_numbers_and_more() {
    let charts = grid().charts(&grid_report());
    let canvas = named(&charts, "lines-delay");
    assert!(has(canvas, "OWD (ms)") && has(canvas, "n = 2"));
    // The legend says what the bands are.
    assert!(texts(canvas).contains(&"smallest to largest"));
    assert!(has(
        canvas,
        "of every loss, with their smallest and largest"
    ));
    // Two losses are no line.
    assert!(charts.iter().all(|chart| chart.stem != "lines-loss"));
}

#[test]
fn lines_over_delay_are_of_one_loss_where_delays_have_different_ones() {
    let mut draft = grid();
    // The longest delay with the higher loss alone: a line over all would fall by that, too.
    let slow = [(Metric::GoodputBps, 1e6)];
    draft.run(&["1", "80"], &slow, &[goodput("cubic", 1e6)]);
    let charts = draft.charts(&grid_report());
    let lines: Vec<&StudyChart> = charts
        .iter()
        .filter(|chart| chart.stem.starts_with("lines-delay"))
        .collect();
    assert_eq!(lines.len(), 2);
    let together = |chart: &&StudyChart| has(&chart.canvas, "of every loss");
    assert!(!lines.iter().any(together));
}

#[test]
fn a_chart_over_a_label_has_its_name_if_that_makes_a_file_name() {
    for (label, stem) in [("rate", "lines-rate"), ("../rate", "lines-label-2")] {
        let mut draft = Draft::new(&[(label, Some("Mbit"))]);
        for rate in ["10", "20", "50"] {
            draft.run(
                &[rate],
                &[],
                &[FlowOf("bbr", (0, 9), &[(Metric::GoodputBps, 9e6)])],
            );
        }
        let charts = draft.charts(&[]);
        named(&charts, stem);
    }
}

#[test]
fn numbers_of_a_label_have_its_unit_and_room_for_each() {
    let mut draft = Draft::new(&[("rate", Some("Mbit"))]);
    for rate in ["10", "100", "500", "1000"] {
        draft.run(&[rate], &[], &[goodput("cubic", 9e6)]);
    }
    let charts = draft.charts(&[]);
    let canvas = named(&charts, "lines-rate");
    assert!(
        has(canvas, "Rate (Mbit/s, log scale)"),
        "{:?}",
        texts(canvas)
    );
    for tick in ["10", "100", "500", "1000"] {
        assert!(texts(canvas).contains(&tick), "{:?}", texts(canvas));
    }
}

#[test]
fn lines_of_medians_have_bands_of_quartiles() {
    let canvas = |average: Average| {
        let mut draft = Draft::new(&[("rate", Some("Mbit"))]);
        draft.0.average = average;
        for rate in ["10", "20", "50"] {
            for bps in [90e6, 2e6, 1e6, 3e6, 4e6] {
                draft.run(&[rate], &[], &[goodput("bbr", bps)]);
            }
            draft.run(&[rate], &[], &[goodput("cubic", 3e6)]);
        }
        named(&draft.charts(&[]), "lines-rate").clone()
    };
    let line = |canvas: &Canvas, variant: &str| {
        let colour = super::super::super::palette::variant(variant).colour;
        let mut lines = canvas.shapes.iter().filter_map(|shape| match shape {
            Shape::Line { points, stroke } if stroke.colour == colour => Some(points.clone()),
            _ => None,
        });
        // Two points are those of the legend.
        lines.find(|points| points.len() == 3).unwrap()
    };
    // Of 1, 2, 3, 4 and 90 the median is 3, as the other has.
    let medians = canvas(Average::Median);
    assert_eq!(line(&medians, "bbr"), line(&medians, "cubic"));
    assert!(has(&medians, "median of runs, with quartiles"));
    assert!(texts(&medians).contains(&"quartiles"));
    let means = canvas(Average::Mean);
    assert_ne!(line(&means, "bbr"), line(&means, "cubic"));
    assert!(!has(&means, "quartiles") && !has(&means, "median"));
}
