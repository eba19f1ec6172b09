//! Which charts a study gets, what is drawn where, and that nothing is cut or covered.

mod completions;
mod delays;
mod flows;
mod lines;
mod looks;
mod mobility;
mod pages;
mod pair_series;
mod pairs;
mod rates;
mod series;

use super::super::canvas::Shape;
use super::super::style::{Size, Theme};
use super::super::tests::{assert_legible, texts};
use super::*;
use crate::metric::stats::Describe;
use crate::study::units::Unit;
use crate::study::{
    Average, Composition, FlowMeasure, GridLabels, Group, HeatMapReport, Label, LabelKind, Sample,
    SampleKind, SeriesKind, SeriesOf, SeriesPoint, SeriesReport, Shortfall, StudyFlow, StudyRun,
    Values,
};

fn label(name: &str, unit: Option<&str>) -> Label {
    Label {
        name: name.to_owned(),
        kind: unit.map_or(LabelKind::Text, |unit| {
            LabelKind::Number(Unit::named(unit).ok())
        }),
        order: Vec::new(),
        names: Vec::new(),
        of_flows: name == "cca",
    }
}

/// A flow: its variant, its first and last second, and its numbers.
struct FlowOf<'a>(&'a str, (i64, i64), &'a [(Metric, f64)]);

/// A study that is being put together.
struct Draft(StudyResults);

impl Draft {
    /// A study whose first label is the variant.
    fn new(labels: &[(&str, Option<&str>)]) -> Self {
        let labels: Vec<Label> = [("cca", None)]
            .iter()
            .chain(labels)
            .map(|(name, unit)| label(name, *unit))
            .collect();
        Self(StudyResults {
            name: "draft".to_owned(),
            manifest: String::new(),
            repetition: Vec::new(),
            average: Average::default(),
            bin_ns: 100_000_000,
            group_by: (0..labels.len()).collect(),
            labels,
            runs: Vec::new(),
            groups: Vec::new(),
            comparisons: Vec::new(),
            uncompared: BTreeMap::new(),
            tests: Vec::new(),
            reports: Vec::new(),
            cached: 0,
        })
    }

    /// Adds a run: values of the labels behind the variant's, numbers of the run, flows.
    fn run(&mut self, labels: &[&str], numbers: &[(Metric, f64)], flows: &[FlowOf<'_>]) {
        let values_of = |numbers: &[(Metric, f64)]| {
            let mut values = Values::default();
            for &(metric, value) in numbers {
                values.set(metric, Some(value));
            }
            values
        };
        let all = &self.0.labels;
        let labels_with = |variant: &str| {
            let texts = [variant].into_iter().chain(labels.iter().copied());
            let named = all.iter().zip(texts);
            named
                .map(|(label, text)| label.value(text).ok())
                .collect::<Vec<_>>()
        };
        let flow = |(index, of): (usize, &FlowOf<'_>)| StudyFlow {
            labels: labels_with(of.0),
            start: index + 1,
            measure: FlowMeasure {
                connection_id: Some(index as u64),
                ends: None,
                span_ns: Some((of.1.0 * 1_000_000_000, of.1.1 * 1_000_000_000)),
                values: values_of(of.2),
                quality: String::new(),
                samples: Vec::<Sample>::new(),
                silent_bins: 0,
                series: Vec::new(),
            },
        };
        let run = StudyRun {
            name: format!("{}.pcap", self.0.runs.len()),
            labels: labels_with(flows.first().map_or("", |flow| flow.0)),
            conditions: Conditions {
                capacity: Some(PathCapacity::Constant(10e6)),
                ..Conditions::default()
            },
            span_ns: None,
            records: None,
            window_ns: None,
            values: values_of(numbers),
            flows: flows.iter().enumerate().map(flow).collect(),
            flows_left_out: None,
            series: Vec::new(),
            shortfall: Shortfall::default(),
            error: None,
        };
        self.0.runs.push(run);
    }

    /// Adds the group of three runs with these values of all labels.
    fn group(&mut self, labels: &[&str], metric: Metric, mean: f64, change_percent: Option<f64>) {
        let named = self.0.labels.iter().zip(labels);
        self.0.groups.push(Group {
            kind: SampleKind::Run,
            key: named.map(|(label, text)| label.value(text).ok()).collect(),
            composition: Some(Composition::Same(1)),
            metric,
            runs_failed: 0,
            statistics: Describe::of(&[mean; 3]).unwrap(),
            baseline_mean: None,
            change_percent,
        });
    }

    fn charts(&self, reports: &[ReportPlan]) -> Vec<StudyChart> {
        of_study(reports, &self.0, Style::default()).charts
    }
}

fn named<'c>(charts: &'c [StudyChart], stem: &str) -> &'c Canvas {
    let found = charts.iter().find(|chart| chart.stem == stem);
    let stems: Vec<&str> = charts.iter().map(|chart| chart.stem.as_str()).collect();
    &found
        .unwrap_or_else(|| panic!("no {stem} in {stems:?}"))
        .canvas
}

fn has(canvas: &Canvas, wanted: &str) -> bool {
    texts(canvas).iter().any(|text| text.contains(wanted))
}

/// Heights of the bars of a variant, without the swatch of the legend.
fn bars_of(canvas: &Canvas, variant: &str) -> Vec<f64> {
    let wanted = super::super::palette::variant(variant).colour;
    let mut heights = Vec::new();
    for shape in &canvas.shapes {
        if let Shape::Rect { from, to, colour } = shape
            && *colour == wanted
        {
            heights.push(to.1 - from.1);
        }
    }
    heights[1..].to_vec()
}

fn goodput(variant: &str, bps: f64) -> FlowOf<'_> {
    // Numbers that all flows of a test may share live as long as it.
    FlowOf(
        variant,
        (0, 10),
        Box::leak(Box::new([(Metric::GoodputBps, bps)])),
    )
}

#[test]
fn bars_tell_one_flow_from_six_and_from_three_and_three() {
    let mut draft = Draft::new(&[("buffer", None)]);
    for more in [0.0, 2e6] {
        draft.run(&["deep"], &[], &[goodput("cubic", 40e6 + more)]);
        draft.run(&["deep"], &[], &[goodput("bbr", 20e6 + more)]);
        let six = |variant| [(); 6].map(|()| goodput(variant, 5e6 + more));
        draft.run(&["deep"], &[], &six("cubic"));
        draft.run(&["deep"], &[], &six("bbr"));
        let three = |variant, bps| [(); 3].map(|()| goodput(variant, bps));
        let mixed = [three("cubic", 10e6 + more), three("bbr", 4e6 + more)].concat_flows();
        draft.run(&["deep"], &[], &mixed);
    }
    let charts = draft.charts(&[]);
    let canvas = named(&charts, "bars-goodput");
    for wanted in ["1 flow", "6 flows", "deep", "n = 2", "dots: each run"] {
        assert!(has(canvas, wanted), "{wanted}: {:?}", texts(canvas));
    }
    let names = texts(canvas).join(" ");
    assert!(names.contains("3 bbr + 3 cubic"), "{names}");
    // Means of two runs each: 41, 6 and 11 Mbit/s; 21, 6 and 5.
    let cubic = bars_of(canvas, "cubic");
    let per_mbps = cubic[0] / 41.0;
    for (heights, means) in [
        (cubic, [41.0, 6.0, 11.0]),
        (bars_of(canvas, "bbr"), [21.0, 6.0, 5.0]),
    ] {
        assert_eq!(heights.len(), 3);
        for (height, mean) in heights.iter().zip(means) {
            assert!((height / per_mbps - mean).abs() < 0.01, "{heights:?}");
        }
    }
}

#[test]
fn flows_that_a_label_tells_apart_are_no_part_of_each_others_mean() {
    // A long flow beside two short ones of the same variant: 18 Mbit/s, and 2 and 4.
    let mut draft = Draft::new(&[("role", None)]);
    for (variant, more) in [("bbr", 0.0), ("cubic", 1e6)]
        .into_iter()
        .flat_map(|of| [of; 2])
    {
        let of = [18e6, 2e6, 4e6].map(|bps| goodput(variant, bps + more));
        draft.run(&["bulk"], &[], &of);
        let role = draft.0.labels[1].value("short").ok();
        for flow in &mut draft.0.runs.last_mut().unwrap().flows[1..] {
            flow.labels[1].clone_from(&role);
        }
    }
    let charts = draft.charts(&[]);
    let canvas = named(&charts, "bars-goodput");
    let names = texts(canvas).join(" ");
    assert!(names.contains("1 bulk + 2 short"), "{names}");
    let cubic = bars_of(canvas, "cubic");
    let per_mbps = cubic[0] / 19.0;
    for (heights, means) in [(cubic, [19.0, 4.0]), (bars_of(canvas, "bbr"), [18.0, 3.0])] {
        assert_eq!(heights.len(), 2);
        for (height, mean) in heights.iter().zip(means) {
            assert!((height / per_mbps - mean).abs() < 0.01, "{heights:?}");
        }
    }
}

/// Arrays of flows put together.
trait Together<'a> {
    fn concat_flows(self) -> Vec<FlowOf<'a>>;
}

impl<'a> Together<'a> for [[FlowOf<'a>; 3]; 2] {
    fn concat_flows(self) -> Vec<FlowOf<'a>> {
        self.into_iter().flatten().collect()
    }
}

#[test]
fn many_settings_are_dealt_out_to_charts_where_a_label_changes() {
    let mut draft = Draft::new(&[("place", None), ("scenario", None)]);
    for place in ["home", "office"] {
        for scenario in 0..20 {
            let name = format!("case-{scenario}");
            draft.run(&[place, &name], &[], &[goodput("cubic", 1e6)]);
            draft.run(&[place, &name], &[], &[goodput("bbr", 2e6)]);
        }
    }
    let charts = draft.charts(&[]);
    // 40 settings, 24 of which have room on a chart: one chart a place.
    for (stem, place) in [("bars-goodput-01", "home"), ("bars-goodput-02", "office")] {
        let canvas = named(&charts, stem);
        assert!(
            has(canvas, &format!("draft: {place}")),
            "{:?}",
            texts(canvas)
        );
        assert_eq!(bars_of(canvas, "bbr").len(), 20);
        assert!(has(canvas, "case-7") && has(canvas, "case-19"));
    }
    assert!(charts.iter().all(|chart| chart.stem != "bars-goodput-03"));
}

#[test]
fn a_setting_without_the_value_that_others_have_is_called_so() {
    let mut draft = Draft::new(&[("buffer", Some("kB")), ("place", None)]);
    for buffer in ["", "10kB", "80kB"] {
        draft.run(&[buffer, "home"], &[], &[goodput("cubic", 1e6)]);
        draft.run(&[buffer, "home"], &[], &[goodput("bbr", 2e6)]);
    }
    let charts = draft.charts(&[]);
    let canvas = named(&charts, "bars-goodput");
    for name in ["buffer not given", "buffer 10 kB", "buffer 80 kB"] {
        let is_there = texts(canvas)
            .iter()
            .any(|text| text.replace('\u{a0}', " ") == name);
        assert!(is_there, "{name}: {:?}", texts(canvas));
    }
    // What none has is nothing that tells them apart.
    let mut draft = Draft::new(&[("buffer", Some("kB")), ("place", None)]);
    draft.run(&["", "home"], &[], &[goodput("cubic", 1e6)]);
    draft.run(&["", "office"], &[], &[goodput("cubic", 2e6)]);
    let charts = draft.charts(&[]);
    assert!(!has(named(&charts, "bars-goodput"), "buffer not given"));
}

#[test]
fn negative_values_have_a_minus_sign() {
    let mut draft = Draft::new(&[("rssi", None)]);
    draft.0.labels[1].kind = LabelKind::Number(None);
    // Also beside a map; a name with a hyphen keeps it.
    let of_map = |place: usize, text| grid::texts(&[draft.0.labels[place].value(text).unwrap()]);
    assert_eq!(of_map(1, "-40"), ["−40"]);
    assert_eq!(of_map(0, "bbr-v3"), ["bbr-v3"]);
    for rssi in ["-40", "-100"] {
        draft.run(&[rssi], &[], &[goodput("cubic", 1e6)]);
        draft.run(&[rssi], &[], &[goodput("bbr", 2e6)]);
    }
    let charts = draft.charts(&[]);
    let canvas = named(&charts, "bars-goodput");
    assert!(
        has(canvas, "rssi −40") && has(canvas, "rssi −100"),
        "{:?}",
        texts(canvas)
    );
}

#[test]
fn charts_of_the_same_settings_are_numbered_in_their_titles() {
    let mut draft = Draft::new(&[("place", None), ("scenario", None)]);
    for scenario in 0..400 {
        let name = format!("case-{scenario}");
        draft.run(&["home", &name], &[], &[goodput("cubic", 1e6)]);
    }
    let StudyCharts { charts, left_out } = of_study(&[], &draft.0, Style::default());
    // 24 settings have room on a chart, and 12 charts of a kind are drawn.
    for (stem, part) in [
        ("bars-goodput-01", "1 of 17"),
        ("bars-goodput-12", "12 of 17"),
    ] {
        let title = format!("Goodput – draft: home, part {part}");
        assert!(has(named(&charts, stem), &title), "{title}");
    }
    assert_eq!(left_out, ["bars-goodput"]);
}

fn grid() -> Draft {
    let mut draft = Draft::new(&[("loss", Some("%")), ("owd", Some("ms"))]);
    // Goodput falls with loss and delay: 8, 4, 2 Mbit/s over 20, 40, 60 ms, halved with loss.
    for (loss, share) in [("0", 1.0), ("1", 0.5)] {
        for (delay, bps) in [("20", 8e6), ("40", 4e6), ("60", 2e6)] {
            let of_run = [
                (Metric::GoodputBps, bps * share),
                (Metric::Utilisation, bps * share / 10e6),
            ];
            draft.run(&[loss, delay], &of_run, &[goodput("cubic", bps * share)]);
        }
    }
    draft
}

fn grid_report() -> [ReportPlan; 1] {
    [ReportPlan::UtilisationGrid {
        labels: GridLabels {
            variant: 0,
            loss: 1,
            delay: 2,
            rate: None,
        },
        paths: Vec::new(),
    }]
}

/// Numbers in the cells of a figure, in the order they were drawn.
fn numbers(canvas: &Canvas) -> Vec<&str> {
    let mut numbers = Vec::new();
    for shape in &canvas.shapes {
        // What stands on a colour has the colour of no text beside it.
        if let Shape::Text { text, font, .. } = shape
            && matches!(font.colour, super::super::Colour::Exact(..))
        {
            numbers.push(text.as_str());
        }
    }
    numbers
}

#[test]
fn maps_have_losses_below_each_other_and_delays_side_by_side() {
    let charts = grid().charts(&grid_report());
    let canvas = named(&charts, "map");
    assert_eq!(
        numbers(canvas),
        ["80.0", "40.0", "20.0", "40.0", "20.0", "10.0"]
    );
    for wanted in ["Utilisation (%)", "Loss (%)", "OWD (ms)", "n = 1", "cubic"] {
        assert!(has(canvas, wanted), "{wanted}: {:?}", texts(canvas));
    }
}

#[test]
fn the_heat_map_of_the_report_shows_means_and_their_change() {
    let mut draft = Draft::new(&[("rtt", Some("ms")), ("rate", Some("Mbit"))]);
    // Cubic gets 4 and 8 Mbit/s over 10 ms, half of it over 20; BBR half as much again.
    for (rtt, share) in [("10", 1.0), ("20", 0.5)] {
        for (rate, bps) in [("5", 4e6), ("10", 8e6)] {
            draft.group(&["cubic", rtt, rate], Metric::GoodputBps, bps * share, None);
            let change = Some(50.0);
            draft.group(
                &["bbr", rtt, rate],
                Metric::GoodputBps,
                1.5 * bps * share,
                change,
            );
        }
    }
    let report = |rows, columns| {
        ReportPlan::HeatMap(HeatMapReport {
            metric: Metric::GoodputBps,
            rows,
            columns,
        })
    };
    let charts = draft.charts(&[report(1, 2)]);
    let means = named(&charts, "heat-map");
    // A map for each variant, by name: 6, 12, 3, 6 and 4, 8, 2, 4.
    assert_eq!(
        numbers(means),
        [
            "6.00", "12.0", "3.00", "6.00", "4.00", "8.00", "2.00", "4.00"
        ]
    );
    for wanted in [
        "Goodput (Mbit/s)",
        "RTT (ms)",
        "Rate (Mbit/s)",
        "bbr",
        "n = 3",
    ] {
        assert!(has(means, wanted), "{wanted}: {:?}", texts(means));
    }
    // The baseline is compared with nothing.
    let changes = named(&charts, "heat-map-change");
    assert_eq!(numbers(changes), ["50.0"; 4]);
    assert!(has(changes, "Change (%)"), "{:?}", texts(changes));
    // Over the variant there is one map a rate.
    let turned = draft.charts(&[report(0, 1)]);
    assert!(has(named(&turned, "heat-map"), "CCA"));
    for size in [Size::OneColumn, Size::TwoColumns, Size::Slide] {
        let theme = Theme::Dark;
        for chart in of_study(&[report(1, 2)], &draft.0, Style { size, theme }).charts {
            assert_legible(&chart.canvas);
        }
    }
}

#[test]
fn a_split_is_predicted_by_the_slower_segment() {
    let charts = grid().charts(&grid_report());
    let canvas = named(&charts, "split");
    assert!(has(canvas, "cubic split after 20"), "{:?}", texts(canvas));
    // Behind 20 ms without loss (8 Mbit/s): segments of 20 and 40 ms make paths of 40 and 60 ms.
    let measured = ["40.0", "20.0", "20.0", "10.0"];
    // The slower of 8 and: 8 and 4 without loss, 4 and 2 with.
    let predicted = ["80.0", "40.0", "40.0", "20.0"];
    let difference = ["40.0", "20.0", "20.0", "10.0"];
    assert_eq!(numbers(canvas), [measured, predicted, difference].concat());
    assert!(has(canvas, "% points"));
}

#[test]
fn a_note_speaks_of_several_flows_only_where_there_are_some() {
    let note = "of several flows of a variant in a run: their mean";
    let one = FlowOf("bbr", (0, 9), &[(Metric::GoodputBps, 9e6)]);
    for (flows, said) in [(1, false), (2, true)] {
        let flows: Vec<FlowOf<'_>> = (0..flows).map(|_| FlowOf(one.0, one.1, one.2)).collect();
        let mut draft = Draft::new(&[("rate", Some("Mbit"))]);
        draft.run(&["10"], &[], &flows);
        let charts = draft.charts(&[]);
        assert_eq!(has(named(&charts, "bars-goodput"), note), said);
    }
}

#[test]
fn measured_and_predicted_splits_stand_beside_their_difference() {
    let mut draft = Draft::new(&[
        ("loss", Some("%")),
        ("delay_1", Some("ms")),
        ("delay_2", Some("ms")),
        ("rate_1", Some("Mbit")),
    ]);
    // The delays and the rate make the map, the loss a chart.
    draft.0.group_by = vec![0, 1];
    for (rate, measured) in [("10", 8e6), ("30", 24e6)] {
        for (first, second, more) in [("20", "60", 0.0), ("60", "20", 1e6)] {
            let numbers = [
                (Metric::GoodputBps, measured + more),
                (Metric::PredictedBps, measured + 2.0 * more),
            ];
            draft.run(&["2", first, second, rate], &numbers, &[]);
        }
    }
    let charts = draft.charts(&[ReportPlan::SplitAccuracy]);
    let canvas = named(&charts, "split-accuracy");
    for wanted in [
        "Delay 1 | Delay 2 (ms)",
        "Rate 1 (Mbit/s)",
        "20 | 60",
        "loss 2",
        "Goodput, difference (Mbit/s)",
    ] {
        assert!(has(canvas, wanted), "{wanted}: {:?}", texts(canvas));
    }
    assert_eq!(
        numbers(canvas),
        [
            ["8.00", "9.00", "24.0", "25.0"],
            ["8.00", "10.0", "24.0", "26.0"],
            ["0", "1.00", "0", "1.00"]
        ]
        .concat()
    );
}

#[test]
fn steps_of_time_become_boxes_and_lines() {
    let mut draft = Draft::new(&[("streams", None)]);
    for (variant, bps, ping_ns) in [("cubic", 60e6, 200e6), ("bbr", 90e6, 10e6)] {
        draft.run(&["four"], &[], &[FlowOf(variant, (0, 10), &[])]);
        let steps = 0..50;
        let run = draft.0.runs.last_mut().unwrap();
        run.series = steps
            .map(|step| {
                let values = [Some(bps), None, None, Some(ping_ns)];
                SeriesPoint::new(1_000_000_000 + step * 200_000_000, values)
            })
            .collect();
    }
    let report = ReportPlan::Series(SeriesReport {
        variant: 0,
        of: SeriesOf::Runs,
        step_ns: 200_000_000,
        rate: SeriesKind::Goodput,
        delay: None,
    });
    let charts = draft.charts(&[report]);
    let boxes = named(&charts, "series-boxes");
    for wanted in ["Goodput (Mbit/s)", "Ping RTT", "n = 50", "draft: four"] {
        assert!(has(boxes, wanted), "{wanted}: {:?}", texts(boxes));
    }
    let lines = named(&charts, "series-02");
    for wanted in [
        "Ping RTT (ms)",
        "steps of 200 ms",
        "Time since the first step (s)",
    ] {
        assert!(has(lines, wanted), "{wanted}: {:?}", texts(lines));
    }
}

#[test]
fn no_chart_is_cut_whatever_the_study_is_like() {
    let long = "a place that somebody described with very many words and_without-any_need-at-all";
    let mut drafts = vec![grid(), Draft::new(&[])];
    for (variants, settings) in [(1, 1), (2, 2), (6, 6), (3, 40)] {
        let mut draft = Draft::new(&[("where", None), ("rate", Some("Gbit"))]);
        for setting in 0..settings {
            for variant in 0..variants {
                let name = format!("variant{variant}");
                let bps = [0.0, 1e3, 7e6, 10e9][(setting + variant) % 4];
                let numbers: &[(Metric, f64)] = Box::leak(Box::new([
                    (Metric::GoodputBps, bps),
                    (Metric::RttNsMean, 1e5 * 10_f64.powi((variant % 5) as i32)),
                    (Metric::Overhead, 0.04),
                    (Metric::RetransmissionRate, 0.0),
                    (Metric::RetransmittedPackets, 12_345.0),
                    (Metric::CompletionNs, 3e9),
                    (Metric::AckedBytes, 1e6),
                    (Metric::QueueShare, 1.5),
                ]));
                let place = format!("{long} {}", setting % 20);
                let rate = format!("{}", setting % 3);
                for _ in 0..5 {
                    let flow = || FlowOf(&name, (0, 10), numbers);
                    draft.run(&[&place, &rate], &[], &[flow()]);
                    let pair = [(Metric::Fness, 0.9), (Metric::QueueShare, 0.0)];
                    draft.run(&[&place, &rate], &pair, &[flow(), flow()]);
                }
            }
        }
        drafts.push(draft);
    }
    for draft in &drafts {
        for size in [Size::OneColumn, Size::TwoColumns, Size::Slide] {
            let style = Style {
                size,
                theme: Theme::Light,
            };
            for chart in of_study(&[], &draft.0, style).charts {
                assert_legible(&chart.canvas);
            }
        }
    }
    assert!(drafts[1].charts(&[]).is_empty(), "nothing was measured");
}
