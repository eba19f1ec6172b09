//! How variants of a study look, and that charts fit slides.

use super::super::super::palette::Colour;
use super::*;

/// The colours of data of all boxes, bars and samples.
fn colours(canvas: &Canvas) -> Vec<(u8, u8, u8)> {
    let mut found: Vec<(u8, u8, u8)> = Vec::new();
    for shape in &canvas.shapes {
        if let Shape::Rect { colour, .. } = shape
            && matches!(colour, Colour::Data(..))
        {
            let rgb = colour.rgb(Theme::Light);
            if !found.contains(&rgb) {
                found.push(rgb);
            }
        }
    }
    found
}

#[test]
fn variants_of_a_study_have_colours_of_their_own_in_all_its_charts() {
    let mut draft = Draft::new(&[]);
    let names = ["bbr", "bbr+cubic", "bbr-lt", "bbr1", "cubic"];
    for name in names {
        for mbps in [1.0, 2.0, 3.0, 5.0, 6.0] {
            draft.run(&[], &[], &[goodput(name, mbps * 1e6)]);
        }
    }
    let charts = draft.charts(&[]);
    let [bars, boxes] = ["bars-goodput", "boxes"].map(|stem| colours(named(&charts, stem)));
    assert_eq!(bars.len(), names.len());
    assert_eq!(bars, boxes);
}

#[test]
fn legends_have_the_order_of_bars() {
    let mut draft = Draft::new(&[("buffer", None)]);
    // The first group has no bbr, and cubic has two runs there.
    for (buffer, name) in [("a", "cubic"), ("a", "cubic"), ("a", "reno"), ("b", "bbr")] {
        draft.run(&[buffer], &[], &[goodput(name, 4e6)]);
    }
    let charts = draft.charts(&[]);
    let bars = named(&charts, "bars-goodput");
    let names = ["bbr", "cubic", "reno"];
    let found = texts(bars).into_iter().filter(|text| names.contains(text));
    assert_eq!(found.collect::<Vec<_>>(), names);
    let said = "mean of runs · dots: each run · n = 1 to 2";
    assert!(has(bars, said), "{:?}", texts(bars));
}

#[test]
fn only_bars_of_more_than_three_runs_have_an_interval() {
    let intervals = |runs: &[u64]| {
        let mut draft = Draft::new(&[("buffer", None)]);
        for (buffer, &runs) in ["a", "b"].into_iter().zip(runs) {
            for run in 0..runs {
                draft.run(&[buffer], &[], &[goodput("cubic", 4e6 + run as f64 * 1e5)]);
            }
        }
        let charts = draft.charts(&[]);
        let bars = named(&charts, "bars-goodput");
        let both = [
            has(bars, "confidence interval"),
            has(bars, "dots: each run"),
        ];
        (both, has(bars, "1 where there is no interval"))
    };
    assert_eq!(intervals(&[2, 3]), ([false, true], false));
    assert_eq!(intervals(&[3, 4]), ([true, true], false));
    assert_eq!(intervals(&[4, 5]), ([true, false], false));
    assert_eq!(intervals(&[1, 4]), ([true, false], true));
}

#[test]
fn bars_and_boxes_fit_a_slide() {
    let mut draft = Draft::new(&[("buffer", None)]);
    let buffers: Vec<String> = (0..16).map(|of| format!("buffer of {of}")).collect();
    // The first one has values enough for boxes.
    for buffer in buffers.iter().chain([&buffers[0]; 3]) {
        for name in ["bbr", "cubic", "reno", "vegas", "illinois", "westwood"] {
            let numbers = [
                (Metric::GoodputBps, 4e6),
                (Metric::RttNsMean, 5e7),
                (Metric::CompletionNs, 3e9),
            ];
            draft.run(&[buffer], &[], &[FlowOf(name, (0, 10), &numbers)]);
        }
    }
    let style = Style {
        size: Size::Slide,
        theme: Theme::Light,
    };
    let charts = of_study(&[], &draft.0, style).charts;
    for (kind, least) in [("bars-goodput", 2), ("boxes", 3)] {
        let of_kind = charts.iter().filter(|chart| chart.stem.starts_with(kind));
        let heights: Vec<u32> = of_kind.map(|chart| chart.canvas.pixels().1).collect();
        assert!(
            (least..=CHARTS_MAX).contains(&heights.len()),
            "{kind}: {heights:?}"
        );
        assert!(
            heights.iter().all(|&height| height <= 1080),
            "{kind}: {heights:?}"
        );
    }
}

#[test]
fn boxes_of_several_settings_are_of_runs_of_the_same_flows() {
    let mut draft = Draft::new(&[("rate", None), ("buffer", None)]);
    // Alone each variant has four runs at a rate, two in each buffer; beside the other two.
    for buffer in ["deep", "shallow"] {
        for repetition in 0..2 {
            for variant in ["bbr", "cubic"] {
                draft.run(&["10m", buffer], &[], &[goodput(variant, 9e6)]);
            }
            if repetition == 0 {
                let both = [goodput("bbr", 1e6), goodput("cubic", 2e6)];
                draft.run(&["10m", buffer], &[], &both);
            }
        }
    }
    let charts = draft.charts(&[]);
    let canvas = named(&charts, "boxes");
    for wanted in ["2 settings together", "n = 4"] {
        assert!(has(canvas, wanted), "{wanted}: {:?}", texts(canvas));
    }
}

#[test]
fn a_heat_map_is_of_runs_of_the_same_flows() {
    let mut draft = Draft::new(&[("rtt", Some("ms")), ("rate", Some("Mbit"))]);
    for flows in [1, 2] {
        draft.group(
            &["cubic", "10", "5"],
            Metric::GoodputBps,
            1e6 * flows as f64,
            None,
        );
        draft.0.groups.last_mut().unwrap().composition = Some(Composition::Same(flows));
    }
    let report = HeatMapReport {
        metric: Metric::GoodputBps,
        rows: 1,
        columns: 2,
    };
    let charts = draft.charts(&[ReportPlan::HeatMap(report)]);
    let canvas = named(&charts, "heat-map");
    for wanted in ["1 flow", "2 flows", "1.00", "2.00"] {
        assert!(
            texts(canvas).contains(&wanted),
            "{wanted}: {:?}",
            texts(canvas)
        );
    }
}

#[test]
fn runs_without_flows_had_one_unless_they_say_otherwise() {
    let mut draft = Draft::new(&[("rate", None)]);
    let (one, three) = ((Metric::Flows, 1.0), (Metric::Flows, 3.0));
    let variant = draft.0.labels[0].value("bbr").ok();
    for (told, goodput_bps) in [(None, 4e6), (Some(one), 6e6), (Some(three), 2e6)] {
        let mut numbers = vec![(Metric::GoodputBps, goodput_bps)];
        numbers.extend(told);
        draft.run(&["10m"], &numbers, &[]);
        let run = draft.0.runs.last_mut().unwrap();
        run.labels[0].clone_from(&variant);
    }
    let charts = draft.charts(&[]);
    let bars = charts
        .iter()
        .filter(|chart| chart.stem.starts_with("bars-goodput"));
    let told: Vec<&str> = bars.flat_map(|chart| texts(&chart.canvas)).collect();
    let with = |word: &str| told.iter().filter(|text| text.contains(word)).count();
    // Two settings, not three: the first two runs are of the same.
    assert_eq!(
        (with("1 flow"), with("3 flows"), with("0 flows")),
        (1, 1, 0),
        "{told:?}"
    );
}

#[test]
fn the_map_of_runs_without_a_variant_says_that_they_have_none() {
    let mut draft = Draft::new(&[("loss", Some("%")), ("delay", Some("ms"))]);
    for cca in ["cubic", "bbr", ""] {
        for loss in ["0", "1"] {
            draft.group(&[cca, loss, "20"], Metric::GoodputBps, 8e6, None);
        }
    }
    // An empty text is a value, too; none is none.
    for group in &mut draft.0.groups[4..] {
        group.key[0] = None;
    }
    let report = HeatMapReport {
        metric: Metric::GoodputBps,
        rows: 1,
        columns: 2,
    };
    let charts = draft.charts(&[ReportPlan::HeatMap(report)]);
    let texts = texts(named(&charts, "heat-map"));
    for name in ["bbr", "cubic", "unlabelled"] {
        assert!(texts.contains(&name), "{name} in {texts:?}");
    }
}

#[test]
fn without_a_variant_all_charts_say_all_runs_and_look_plain() {
    let mut draft = Draft::new(&[("loss", Some("%")), ("delay", Some("ms"))]);
    // None of the labels that tell variants, nor one that makes groups.
    "place".clone_into(&mut draft.0.labels[0].name);
    draft.0.group_by = vec![1, 2];
    for loss in ["0", "1"] {
        for delay in ["1", "20", "40"] {
            let numbers = [(Metric::GoodputBps, 8e6), (Metric::Utilisation, 0.8)];
            draft.run(&[loss, delay], &numbers, &[FlowOf("lab", (0, 9), &numbers)]);
        }
    }
    let charts = draft.charts(&[]);
    for stem in ["bars-goodput", "lines-delay", "map"] {
        let drawn = named(&charts, stem);
        let texts = texts(drawn);
        assert!(texts.contains(&"all runs"), "{stem}: {texts:?}");
        assert!(!texts.contains(&"unlabelled"), "{stem}: {texts:?}");
    }
    let plain = Colour::BLUE.rgb(Theme::Light);
    assert_eq!(colours(named(&charts, "bars-goodput")), [plain]);
}

#[test]
fn rows_of_a_map_are_told_apart_however_long_their_names() {
    let mut draft = Draft::new(&[("loss", Some("%"))]);
    let name = |of: usize| {
        format!("a-congestion-control-with-a-long-name-of-kind-{of:02}-and-more-behind-it")
    };
    for of in 0..12 {
        for loss in ["0", "1"] {
            draft.group(&[&name(of), loss], Metric::GoodputBps, 8e6, None);
        }
    }
    let report = HeatMapReport {
        metric: Metric::GoodputBps,
        rows: 0,
        columns: 1,
    };
    let charts = draft.charts(&[ReportPlan::HeatMap(report)]);
    let texts = texts(named(&charts, "heat-map"));
    for of in 0..12 {
        let own = format!("-kind-{of:02}-");
        let rows = texts.iter().filter(|text| text.contains(&own));
        assert_eq!(rows.count(), 1, "{own} in {texts:?}");
    }
}

#[test]
fn boxes_and_maps_of_many_variants_fit_a_page() {
    let mut draft = Draft::new(&[("loss", Some("%"))]);
    for of in 0..40 {
        let name = format!("variant-{of:02}");
        for mbps in [1.0, 2.0, 3.0, 5.0, 6.0] {
            let numbers = [
                (Metric::GoodputBps, mbps * 1e6),
                (Metric::RttNsMean, mbps * 5e7),
                (Metric::CompletionNs, 3e9 / mbps),
            ];
            draft.run(&["0"], &[], &[FlowOf(&name, (0, 10), &numbers)]);
        }
        draft.group(&[&name, "0"], Metric::GoodputBps, 8e6, None);
        draft.group(&[&name, "1"], Metric::GoodputBps, 4e6, None);
    }
    let report = HeatMapReport {
        metric: Metric::GoodputBps,
        rows: 0,
        columns: 1,
    };
    let charts = draft.charts(&[ReportPlan::HeatMap(report)]);
    // Of each quantity one: goodput, RTT, completion times.
    for stem in ["boxes-01", "boxes-02", "boxes-03", "heat-map"] {
        let canvas = named(&charts, stem);
        assert_legible(canvas);
        let page = Size::TwoColumns.height_max();
        assert!(canvas.height <= page, "{stem}: {}", canvas.height);
    }
}
