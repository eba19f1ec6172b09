//! Flows of which bins are missing, and captures that end within one: they are not drawn as if less had been sent.

use super::*;

/// Two flows of 2 s at 100 packets a second, in 20 bins each of which so many are kept; the second is twice as large.
fn with_bins(bins_max: u32, check: impl Fn(&Scene<'_>, &ChartOptions)) {
    let mut large = download(2, 0, 200, |_| false);
    for packet in &mut large {
        packet.payload *= 2;
    }
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        bins_max,
        ..Config::default()
    };
    let packets = [download(1, 0, 200, |_| false), large].concat();
    let analysis = analyze_with(folder.path(), packets, config);
    let options = ChartOptions::default();
    check(&Scene::of(&analysis, &options)[0], &options);
}

/// Where the areas of a chart begin and end, from left to right.
fn areas(canvas: &Canvas) -> (f64, f64) {
    let points = canvas.shapes.iter().filter_map(|shape| match shape {
        Shape::Area { points, .. } => Some(points.iter().map(|point| point.0)),
        _ => None,
    });
    points
        .flatten()
        .fold((f64::MAX, f64::MIN), |(left, right), x| {
            (left.min(x), right.max(x))
        })
}

#[test]
fn shares_and_fairness_end_where_bins_of_a_flow_are_missing() {
    with_bins(8, |scene, options| {
        let share = sharing::stacked_area(scene, options).unwrap();
        let fairness = sharing::fairness(scene, options).unwrap();
        for chart in [&share, &fairness] {
            let said = texts(chart).join(" ");
            assert!(
                said.contains("up to where bins of 2 flows are missing"),
                "{said}"
            );
        }
        let (left, right) = areas(&share);
        assert!(left < right, "what is known is drawn");
    });
    with_bins(100, |scene, options| {
        let share = sharing::stacked_area(scene, options).unwrap();
        let said = texts(&share).join(" ");
        assert!(!said.contains("missing"), "{said}");
    });
}

#[test]
fn where_no_bin_of_a_flow_was_kept_there_is_no_chart_of_shares() {
    with_bins(0, |scene, options| {
        assert_eq!(sharing::stacked_area(scene, options), None);
        assert_eq!(sharing::fairness(scene, options), None);
    });
}

/// A packet of 1000 bytes every 10 ms in bins of 100 ms, with its ACK 20 ms behind it.
#[test]
fn the_bin_in_which_a_capture_ends_is_no_lower_than_others() {
    let said = "the last, captured in part, left out";
    for (packets, last, is_left_out) in [
        // The last ACK after 1.03 s, and after 1.09 s: nearly all of a bin.
        (102, 9, true),
        (108, 10, false),
        // Of two bins, one is no course.
        (15, 1, false),
        // A hundred of them: nobody sees that one is not there.
        (1002, 99, false),
    ] {
        with_scene(download(1, 0, packets, |_| false), |scene, options| {
            let goodput = over_time::goodput(scene, options).unwrap();
            let samples = &goodput.lines[0].samples;
            assert_eq!(samples.last().unwrap().bin, last, "{packets}");
            assert_eq!(goodput.notes.join(" ").contains(said), is_left_out);
            let with_capacity = ChartOptions {
                capacity_bps: Some(1e6),
                ..options.clone()
            };
            let share = sharing::stacked_area(scene, &with_capacity).unwrap();
            assert_eq!(texts(&share).join(" ").contains(said), is_left_out);
            // What is not drawn takes no room.
            let (left, right) = areas(&share);
            assert!(right > 0.9 * share.width && left < right, "{packets}");
        });
    }
}

/// A bin of 100 ms in which the capture ends 30 ms after its begin.
#[test]
fn a_flow_of_the_last_bin_alone_is_drawn_at_its_rate_there() {
    // The second one sends 5 packets in 4 ms, and its last ACK comes after 9.026 s.
    let mut late = download(2, 9000, 5, |_| false);
    for packet in &mut late {
        packet.at_us = 9_000_000
            + (packet.at_us - 9_000_000) / 10
            + if packet.payload > 0 { 0 } else { 20_000 };
    }
    let packets = [download(1, 0, 100, |_| false), late].concat();
    with_scene(packets, |scene, options| {
        let goodput = over_time::goodput(scene, options).unwrap();
        assert_eq!(goodput.lines.len(), 2, "{:?}", goodput.notes);
        let samples = &goodput.lines[1].samples;
        assert_eq!((samples.len(), samples[0].bin), (1, 90));
        // 5000 bytes in 26 ms, not in 100.
        let bps = samples[0].value;
        assert!((1.5e6..1.6e6).contains(&bps), "{bps}");
        let said = goodput.notes.join(" ");
        assert!(
            said.contains("the last: over the 26 ms of it that were captured"),
            "{said}"
        );
        let with_capacity = ChartOptions {
            capacity_bps: Some(2e6),
            ..options.clone()
        };
        let share = sharing::stacked_area(scene, &with_capacity).unwrap();
        let said = texts(&share).join(" ");
        assert!(said.contains("that were captured"), "{said}");
        let four = Four::of(scene, options);
        let said = texts(&over_time::together(&four, scene, options).unwrap()).join(" ");
        assert!(said.contains("goodput: the last: over"), "{said}");
    });
}
