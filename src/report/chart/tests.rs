use std::path::Path;

mod incomplete;
mod many;
mod sequences;
mod shares;
mod wide_bins;

use super::canvas::Stroke;
use super::canvas::{Align, Shape};
use super::choice::{NamedFlow, Scene};
use super::font::text_width;
use super::label::{FlowName, count};
use super::over_time::{self, Four, goodput_line};
use super::palette::{Colour, LINES};
use super::plot::{Bins, Caption, Part, Plot, Sample, runs, stacked};
use super::style::{Size, Style, Theme};
use super::{
    Canvas, ChartOptions, bars, delays, draw_all, fness, raster, sharing, thin, time_sequence,
};
use crate::Analysis;
use crate::analyze::Config;
use crate::capture::tests::build::Pcap;

/// A raw IPv4 packet of host `10.0.0.<src>` to `10.0.0.<dst>`; the rest of the payload is cut off.
#[derive(Clone, Copy)]
pub(in crate::report) struct Packet {
    at_us: u32,
    src: u8,
    dst: u8,
    seq: u32,
    ack: u32,
    payload: u16,
}

/// The capture of some packets, as a file.
fn capture(packets: &[Packet]) -> Vec<u8> {
    let mut file = Pcap::raw_ip(0xa1b2_c3d4);
    for packet in packets {
        let len = 40 + packet.payload;
        let mut bytes = vec![0x45, 0];
        bytes.extend(len.to_be_bytes());
        bytes.extend([
            0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, packet.src, 10, 0, 0, packet.dst,
        ]);
        let ports = [u16::from(packet.src), u16::from(packet.dst)];
        bytes.extend(ports.iter().flat_map(|port| port.to_be_bytes()));
        bytes.extend([packet.seq.to_be_bytes(), packet.ack.to_be_bytes()].concat());
        bytes.extend([0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
        let (seconds, micros) = (packet.at_us / 1_000_000, packet.at_us % 1_000_000);
        file = file.cut_record(seconds, micros, &bytes, u32::from(len));
    }
    file.bytes
}

/// `packets` data segments of 1000 bytes, one every 10 ms from `start_ms` on, each answered after
/// 20 ms; those whose number `lost` names come a second time after 50 ms.
pub(in crate::report) fn download(
    host: u8,
    start_ms: u32,
    packets: u32,
    lost: impl Fn(u32) -> bool,
) -> Vec<Packet> {
    let mut all = Vec::new();
    for number in 0..packets {
        let at_us = (start_ms + 10 * number) * 1000;
        let data = |at_us| Packet {
            at_us,
            src: host,
            dst: 200,
            seq: 1 + 1000 * number,
            ack: 1,
            payload: 1000,
        };
        let ack = |at_us| Packet {
            at_us,
            src: 200,
            dst: host,
            seq: 1,
            ack: 1001 + 1000 * number,
            payload: 0,
        };
        all.push(data(at_us));
        if lost(number) {
            all.push(data(at_us + 50_000));
            all.push(ack(at_us + 70_001));
        } else {
            all.push(ack(at_us + 20_001));
        }
    }
    all
}

pub(in crate::report) fn analyze(folder: &Path, packets: Vec<Packet>) -> Analysis {
    analyze_with(folder, packets, Config::default())
}

fn analyze_with(folder: &Path, mut packets: Vec<Packet>, config: Config) -> Analysis {
    packets.sort_by_key(|packet| packet.at_us);
    let path = folder.join("generated.pcap");
    std::fs::write(&path, capture(&packets)).unwrap();
    Analysis::of(
        [path],
        &Config {
            time_sequence: true,
            gaps: true,
            ..config
        },
    )
}

/// Analyses `packets` and hands the only capture's scene to `check`.
fn with_scene(packets: Vec<Packet>, check: impl Fn(&Scene<'_>, &ChartOptions)) {
    let folder = tempfile::tempdir().unwrap();
    let analysis = analyze(folder.path(), packets);
    assert!(analysis.captures[0].error().is_none());
    let options = ChartOptions::default();
    let scenes = Scene::of(&analysis, &options);
    check(&scenes[0], &options);
}

pub(super) fn texts(canvas: &Canvas) -> Vec<&str> {
    let mut texts = Vec::new();
    for shape in &canvas.shapes {
        if let Shape::Text { text, .. } = shape {
            texts.push(text.as_str());
        }
    }
    texts
}

/// A plot as a figure of its own.
fn alone(plot: Option<Plot>, scene: &Scene<'_>) -> Option<Canvas> {
    let bins = Bins::of(scene, ChartOptions::default().bin_ns)?;
    Some(plot?.figure(&Caption::of(scene), &bins))
}

/// Every text lies within the chart, and no two cover each other.
pub(super) fn assert_legible(canvas: &Canvas) {
    let mut boxes: Vec<(f64, f64, f64, f64, &str)> = Vec::new();
    for shape in &canvas.shapes {
        let Shape::Text {
            at,
            text,
            font,
            align,
        } = shape
        else {
            continue;
        };
        let width = text_width(text, *font);
        // From the height of a digit to what hangs below the line.
        let (above, below) = (0.75 * font.px, 0.2 * font.px);
        let level = |left: f64| {
            (
                left,
                at.1 - above,
                left + width,
                at.1 + below,
                text.as_str(),
            )
        };
        boxes.push(match align {
            Align::Left => level(at.0),
            Align::Centre => level(at.0 - width / 2.0),
            Align::Right => level(at.0 - width),
            Align::Upwards => (at.0 - above, at.1, at.0 + below, at.1 + width, text),
        });
    }
    for (index, one) in boxes.iter().enumerate() {
        assert!(
            one.0 >= 0.0 && one.1 >= 0.0 && one.2 <= canvas.width && one.3 <= canvas.height,
            "cut: {one:?}"
        );
        for other in &boxes[..index] {
            let apart =
                one.2 <= other.0 || other.2 <= one.0 || one.3 <= other.1 || other.3 <= one.1;
            assert!(apart, "{one:?} covers {other:?}");
        }
    }
}

#[test]
fn each_column_of_panels_has_a_time_axis_at_its_end() {
    let bins = Bins {
        length_s: 0.1,
        first: 0,
        last: 50,
        covered_s: None,
    };
    // A slide has two columns, paper has one.
    for (size, panels, axes) in [
        (Size::Slide, 1, 1),
        (Size::Slide, 2, 2),
        (Size::Slide, 3, 2),
        (Size::Slide, 4, 2),
        (Size::TwoColumns, 3, 1),
    ] {
        let caption = Caption {
            title: "capture".to_owned(),
            style: Style {
                size,
                theme: Theme::Light,
            },
        };
        let nothing = || Part::Nothing("RTT".to_owned(), "no RTT sample");
        let parts: Vec<Part> = (0..panels).map(|_| nothing()).collect();
        let canvas = stacked("Flows", &[], &parts, &caption, &bins);
        let texts = texts(&canvas);
        let titles = texts.iter().filter(|text| text.starts_with("Time since"));
        assert_eq!(titles.count(), axes, "{panels} panels: {texts:?}");
        assert_legible(&canvas);
    }
}

#[test]
fn all_charts_of_a_run_are_written_in_full_size() {
    let folder = tempfile::tempdir().unwrap();
    let packets = [
        download(1, 0, 300, |number| number % 50 == 7),
        download(2, 500, 200, |_| false),
    ]
    .concat();
    let analysis = analyze(folder.path(), packets);
    let options = ChartOptions {
        style: Style {
            size: Size::OneColumn,
            theme: Theme::Dark,
        },
        ..ChartOptions::default()
    };
    let names = draw_all(&analysis, folder.path(), &options).unwrap().names;
    let expected = [
        "01-generated-over-time.png",
        "01-generated-goodput.png",
        "01-generated-rtt.png",
        "01-generated-in-flight.png",
        "01-generated-retransmissions.png",
        "01-generated-queue-delay.png",
        "01-generated-time-sequence.png",
        "01-generated-rtt-distribution.png",
        "01-generated-gaps.png",
        "01-generated-share.png",
        "01-generated-fairness.png",
        "flows-goodput.png",
        "flows-overhead.png",
        "flows-rtt.png",
        "pairs-fness.png",
    ];
    assert_eq!(names, expected.map(Path::new));
    let goodput = std::fs::read(folder.path().join(expected[1])).unwrap();
    assert_eq!(&goodput[1..4], b"PNG");
    // The first chunk holds width and height.
    assert_eq!(
        &goodput[16..24],
        [900_u32.to_be_bytes(), 640_u32.to_be_bytes()].concat()
    );
}

#[test]
fn an_svg_is_as_large_as_the_png_and_holds_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let analysis = analyze(folder.path(), download(1, 0, 100, |_| false));
    let options = ChartOptions {
        svg: true,
        conditions: vec!["bbr, 50 Mbit/s".to_owned()],
        ..ChartOptions::default()
    };
    let names = draw_all(&analysis, folder.path(), &options).unwrap().names;
    // One flow has nobody to share with.
    assert!(!names.contains(&"pairs-fness.svg".into()), "{names:?}");
    let svg = std::fs::read_to_string(folder.path().join("01-generated-goodput.svg")).unwrap();
    // As wide as two columns, and 9 by 16.
    let head = "<svg width=\"182.0mm\" height=\"102.4mm\" viewBox=\"0 0 16000 9000\"";
    assert!(svg.starts_with(head), "{}", &svg[..100]);
    assert!(svg.contains("/generated (bbr, 50 Mbit/s)") && svg.contains("10.0.0.1 → 10.0.0.200"));
}

#[test]
fn a_run_without_flows_has_no_charts() {
    let folder = tempfile::tempdir().unwrap();
    let analysis = analyze(folder.path(), Vec::new());
    let options = ChartOptions::default();
    let names = draw_all(&analysis, folder.path(), &options).unwrap().names;
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn without_acks_there_is_goodput_but_no_rtt() {
    let packets = download(1, 0, 100, |_| false)
        .into_iter()
        .filter(|packet| packet.payload > 0)
        .collect();
    with_scene(packets, |scene, options| {
        let goodput = alone(over_time::goodput(scene, options), scene).unwrap();
        assert!(
            texts(&goodput)
                .iter()
                .any(|text| text.contains("without ACKs"))
        );
        assert_eq!(over_time::rtt(scene, options), None);
        assert_eq!(over_time::in_flight(scene, options), None);
        assert_eq!(bars::rtt(std::slice::from_ref(scene), options.style), None);
    });
}

#[test]
fn idle_bins_are_zero_goodput_and_no_rtt() {
    // Half a second of silence between two halves.
    let mut packets = download(1, 0, 100, |_| false);
    for packet in &mut packets {
        packet.at_us += if packet.at_us >= 500_000 { 500_000 } else { 0 };
    }
    with_scene(packets, |scene, options| {
        let bins = Bins::of(scene, options.bin_ns).unwrap();
        let line = goodput_line(
            &[&scene.flows[0]],
            String::new(),
            LINES[0],
            (&bins, (bins, 1)),
        );
        let idle: Vec<i64> = line
            .samples
            .iter()
            .filter(|sample| sample.value <= 0.0)
            .map(|sample| sample.bin)
            .collect();
        assert_eq!(idle, [5, 6, 7, 8, 9]);
        // A packet of 1000 bytes every 10 ms.
        assert!((line.samples[1].value - 800_000.0).abs() < 1.0);
    });
}

#[test]
fn lines_break_where_bins_have_no_data() {
    let sample = |bin| Sample {
        bin,
        value: 1.0,
        range: None,
    };
    let samples = [0, 1, 2, 5, 7, 8].map(sample);
    let lengths: Vec<usize> = runs(&samples, 1).map(<[Sample]>::len).collect();
    assert_eq!(lengths, [3, 1, 2]);
}

#[test]
fn small_flows_are_left_out_and_counted() {
    let packets = [
        download(1, 0, 300, |_| false),
        download(2, 0, 2, |_| false),
        download(3, 0, 3, |_| false),
    ]
    .concat();
    with_scene(packets, |scene, options| {
        let names: Vec<String> = scene
            .flows
            .iter()
            .map(|flow| flow.name.to_string())
            .collect();
        assert_eq!(names, ["10.0.0.1 → 10.0.0.200", "10.0.0.3 → 10.0.0.200"]);
        let note = "1 flow under 1 % of the largest not drawn";
        let goodput = alone(over_time::goodput(scene, options), scene).unwrap();
        assert!(
            texts(&goodput).iter().any(|text| text.ends_with(note)),
            "{:?}",
            texts(&goodput)
        );
        let bars = bars::goodput(std::slice::from_ref(scene), options).unwrap();
        assert!(
            texts(&bars).iter().any(|text| text.ends_with(note)),
            "{:?}",
            texts(&bars)
        );
    });
}

#[test]
fn the_ninth_flow_and_those_after_it_share_a_line() {
    let packets = (1..=20)
        .map(|host| download(host, u32::from(host), 50, |_| false))
        .collect::<Vec<_>>()
        .concat();
    with_scene(packets, |scene, options| {
        let goodput = alone(over_time::goodput(scene, options), scene).unwrap();
        assert!(texts(&goodput).contains(&"other (12 flows)"));
        let fness = fness::draw(std::slice::from_ref(scene), options.style).unwrap();
        let shown = texts(&fness);
        let subtitle =
            "n = 40 pairs of the largest flows · 150 pairs not drawn · all to 10.0.0.200";
        assert!(shown.contains(&subtitle), "{shown:?}");
    });
}

#[test]
fn jain_by_bin_is_that_of_the_payload_in_it() {
    // Host 2 sends half as many packets of the same size: (2 + 1)^2 / (2 (2^2 + 1^2)) = 0.9.
    let mut half = download(2, 0, 100, |_| false);
    for packet in &mut half {
        packet.at_us *= 2;
    }
    let packets = [download(1, 0, 200, |_| false), half].concat();
    with_scene(packets, |scene, options| {
        let rivals: Vec<&NamedFlow<'_>> = scene.flows.iter().collect();
        let line = sharing::jain_line(&rivals, 1);
        // The first and the last of the 20 bins with data are not whole.
        let bins: Vec<i64> = line.samples.iter().map(|sample| sample.bin).collect();
        assert_eq!(bins, (1..19).collect::<Vec<_>>());
        assert!(
            line.samples
                .iter()
                .all(|sample| (sample.value - 0.9).abs() < 1e-9)
        );
        let drawn = sharing::fairness(scene, options).unwrap();
        assert!(texts(&drawn).contains(&"Jain’s index"));
    });
    with_scene(download(1, 0, 200, |_| false), |scene, options| {
        assert_eq!(sharing::fairness(scene, options), None);
    });
}

#[test]
fn gaps_are_those_between_the_data_packets() {
    with_scene(download(1, 0, 101, |_| false), |scene, _| {
        let gaps = scene.flows[0].flow.record.gaps().unwrap();
        assert_eq!(gaps.samples(), 100);
        assert_eq!(
            (gaps.ns_min(), gaps.ns_max()),
            (Some(10_000_000), Some(10_000_000))
        );
    });
}

#[test]
fn shares_add_up_to_what_was_sent() {
    let packets = [
        download(1, 0, 100, |_| false),
        download(2, 0, 100, |_| false),
    ]
    .concat();
    with_scene(packets, |scene, options| {
        let canvas = sharing::stacked_area(scene, options).unwrap();
        let areas: Vec<&Vec<(f64, f64)>> = canvas
            .shapes
            .iter()
            .filter_map(|shape| match shape {
                Shape::Area { points, .. } => Some(points),
                _ => None,
            })
            .collect();
        assert_eq!(areas.len(), 2);
        let heights =
            |points: &[(f64, f64)]| points.iter().map(|point| point.1).collect::<Vec<_>>();
        // Both send the same: the first fills the lower half, the second begins where it ends.
        let (one, two) = (heights(areas[0]), heights(areas[1]));
        let (low, middle, high) = (one[one.len() - 1], one[0], two[0]);
        assert!(
            (low - middle - (middle - high)).abs() < 1.0,
            "{low} {middle} {high}"
        );
        assert!((two[two.len() - 1] - middle).abs() < 1e-9);
    });
}

#[test]
fn no_text_is_cut_or_covered_whatever_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    for flows in [1_u8, 2, 6, 45] {
        let packets = (1..=flows)
            .map(|host| download(host, u32::from(host) * 3, 60, |n| n % 9 == 4))
            .collect::<Vec<_>>();
        let mut analysis = analyze(folder.path(), packets.concat());
        analysis.captures[0].name = format!("a/{}/egress.pcap", "very-long-folder-".repeat(20));
        for size in [Size::OneColumn, Size::TwoColumns, Size::Slide] {
            if size != Size::OneColumn && flows == 1 || size == Size::Slide && flows == 45 {
                continue;
            }
            let options = ChartOptions {
                capacity_bps: Some(10e6),
                style: Style {
                    size,
                    theme: Theme::Light,
                },
                ..ChartOptions::default()
            };
            let mut scenes = Scene::of(&analysis, &options);
            for (number, flow) in (1_000_000..).zip(&mut scenes[0].flows) {
                flow.name = FlowName::longest(number);
            }
            let drawn = all(&scenes, &options);
            drawn.iter().for_each(assert_legible);
            let pairs = if flows > 1 { 2 } else { 0 };
            assert_eq!(drawn.len(), 13 + pairs, "{}", count(flows.into(), "flow"));
        }
    }
}

#[test]
fn charts_of_a_run_are_no_higher_than_the_slide_that_they_are_for() {
    let folder = tempfile::tempdir().unwrap();
    for flows in [1_u8, 2, 6, 9, 45] {
        let packets = (1..=flows)
            .map(|host| download(host, u32::from(host) * 3, 60, |n| n % 9 == 4))
            .collect::<Vec<_>>();
        let analysis = analyze(folder.path(), packets.concat());
        let options = ChartOptions {
            capacity_bps: Some(10e6),
            style: Style {
                size: Size::Slide,
                theme: Theme::Light,
            },
            ..ChartOptions::default()
        };
        let scenes = Scene::of(&analysis, &options);
        let drawn = all(&scenes, &options);
        if flows == 6 {
            // All pairs of six flows are there.
            let said = texts(&drawn[drawn.len() - 1]);
            assert!(
                said.iter().any(|text| text.starts_with("n = 15 pairs")),
                "{said:?}"
            );
        }
        for canvas in drawn {
            assert_legible(&canvas);
            let title = texts(&canvas).remove(0);
            assert!(
                canvas.height <= Size::Slide.height(),
                "{title}: {}",
                canvas.height
            );
        }
    }
}

/// Every chart of a run of one capture.
fn all(scenes: &[Scene<'_>], options: &ChartOptions) -> Vec<Canvas> {
    let scene = &scenes[0];
    [
        over_time::together(&Four::of(scene, options), scene, options),
        alone(over_time::goodput(scene, options), scene),
        alone(over_time::rtt(scene, options), scene),
        alone(over_time::in_flight(scene, options), scene),
        alone(over_time::retransmissions(scene, options), scene),
        alone(over_time::queue_delay(scene, options), scene),
        time_sequence::draw(scene),
        delays::rtt(scene),
        delays::gaps(scene),
        sharing::stacked_area(scene, options),
        sharing::fairness(scene, options),
        bars::goodput(scenes, options),
        bars::overhead(scenes, options.style),
        bars::rtt(scenes, options.style),
        fness::draw(scenes, options.style),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Mean difference of two pictures' channels, from 0 to 255.
pub(super) fn difference(one: &Canvas, two: &Canvas) -> f64 {
    assert_eq!(one.pixels(), two.pixels());
    let pixels = |canvas| raster::with_pixels(canvas, <[_]>::to_vec);
    let [one, two] = [one, two].map(|canvas| pixels(canvas).into_flattened());
    let sum: u64 = one
        .iter()
        .zip(&two)
        .map(|(one, two)| u64::from(one.abs_diff(*two)))
        .sum();
    sum as f64 / one.len() as f64
}

#[test]
fn a_thinned_line_looks_like_the_whole_one() {
    let whole: Vec<(f64, f64)> = (0..30_000_usize)
        .map(|index| {
            let x = 20.0 + index as f64 * 0.02;
            (x, 150.0 + (index * 7919 % 101) as f64 * (x / 30.0).sin())
        })
        .collect();
    let draw = |points: &[(f64, f64)]| {
        let mut canvas = Canvas::new(Style::default(), 300.0);
        canvas.width = 640.0;
        canvas.line(points, Stroke::solid(Colour::BLUE, 3.0));
        canvas
    };
    let thinned = thin::line(whole.iter().copied());
    assert!(thinned.len() * 5 < whole.len(), "{}", thinned.len());
    let found = difference(&draw(&whole), &draw(&thinned));
    // One channel in a thousand may differ by 255; nothing at all differs by far more.
    assert!(found < 0.25, "{found}");
    assert!(difference(&draw(&whole), &draw(&[])) > 10.0);
}
