//! What the chart of shares says that it shows.

use super::*;
use crate::decode::Skip;

/// Two flows.
fn two() -> Vec<Packet> {
    [
        download(1, 0, 300, |_| false),
        download(2, 0, 300, |_| false),
    ]
    .concat()
}

fn with_capacity(options: &ChartOptions, bps: f64) -> ChartOptions {
    ChartOptions {
        capacity_bps: Some(bps),
        ..options.clone()
    }
}

/// Dashed lines of data: the capacity.
fn dashed(canvas: &Canvas) -> usize {
    let is_dashed = |shape: &&Shape| match shape {
        Shape::Line { stroke, points } => {
            *stroke == Stroke::dashed(Colour::INK, 2.5) && points[1].0 - points[0].0 > 100.0
        }
        _ => false,
    };
    canvas.shapes.iter().filter(is_dashed).count()
}

#[test]
fn what_is_more_than_the_link_carries_is_offered_to_it() {
    // All of it twice, as if the queue had dropped half of it: 3.3 Mbit/s.
    let twice = [1, 2].map(|host| download(host, 0, 300, |_| true));
    with_scene(twice.concat(), |scene, options| {
        let drawn = |bps: f64| {
            let options = with_capacity(options, bps);
            sharing::stacked_area(scene, &options).unwrap()
        };
        for (bps, title, axis, lines) in [
            (2e6, "Offered to the link", "Sent, of the capacity (%)", 1),
            // No more than the headers of a full link, but half of it was lost behind here.
            (3.2e6, "Offered to the link", "Sent, of the capacity (%)", 1),
            (5e6, "Share of the link", "Share of the capacity (%)", 0),
            // Less than what was delivered is none.
            (1e6, "Share of the link", "Share of the capacity (%)", 1),
        ] {
            let canvas = drawn(bps);
            let found = texts(&canvas).join(" | ");
            assert!(found.contains(title) && found.contains(axis), "{found}");
            let is_offered = found.contains("captured before its queue");
            assert_eq!(is_offered, axis.starts_with("Sent"), "{found}");
            assert_eq!(dashed(&canvas), lines, "{bps}");
        }
    });
}

/// Packets at the pace of a link whose rate changes, of which the capacity is the mean: they have passed it.
#[test]
fn what_passed_a_link_that_was_quicker_for_a_while_is_a_share_of_it() {
    let mut packets = download(1, 0, 400, |_| false);
    for (place, packet) in packets.iter_mut().enumerate() {
        let number = place as u32 / 2;
        let quick_us = 1_000 * number.min(300);
        let slow_us = 20_000 * number.saturating_sub(300);
        packet.at_us = quick_us + slow_us + if place % 2 == 1 { 20_001 } else { 0 };
    }
    with_scene(packets, |scene, options| {
        let options = with_capacity(options, 1.5e6);
        let canvas = sharing::stacked_area(scene, &options).unwrap();
        let found = texts(&canvas).join(" | ");
        assert!(found.contains("Share of the link"), "{found}");
    });
}

#[test]
fn much_udp_that_has_no_share_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut analysis = analyze(folder.path(), two());
    let mut said = |more: u64| {
        analysis.captures[0].skipped.add_many(Skip::Udp, more);
        let options = with_capacity(&ChartOptions::default(), 5e6);
        let scenes = Scene::of(&analysis, &options);
        let canvas = sharing::stacked_area(&scenes[0], &options).unwrap();
        texts(&canvas).join(" ")
    };
    // Of 1,200 packets of TCP.
    let few = said(20);
    assert!(!few.contains("UDP"), "{few}");
    let many = said(380);
    assert!(many.contains("without UDP, 400 of 1600 packets"), "{many}");
}

/// Two downloads in bursts of ten packets, whose ACKs come after 20 ms, and from the fifth burst on so much later.
fn two_that_wait(later_us: u32) -> Vec<Packet> {
    let mut packets = [1, 2]
        .map(|host| download(host, 0, 300, |_| false))
        .concat();
    for (place, packet) in packets.iter_mut().enumerate() {
        let number = (place as u32 % 600) / 2;
        // All of a burst at once: nothing tells of a link that they have passed.
        packet.at_us -= number % 10 * 10_000;
        if place % 2 == 1 && number >= 50 {
            packet.at_us += later_us;
        }
    }
    packets
}

/// A twentieth of what passed waits, as short flows do for receivers that put ACKs off.
#[test]
fn what_waits_of_little_payload_is_no_queue_of_the_link() {
    let mut packets = two_that_wait(0);
    let mut few = download(3, 0, 30, |_| false);
    for packet in few.iter_mut().filter(|packet| packet.payload == 0) {
        packet.at_us += if packet.at_us > 50_000 { 40_000 } else { 0 };
    }
    packets.extend(few);
    with_scene(packets, |scene, options| {
        let options = with_capacity(options, 1.8e6);
        let canvas = sharing::stacked_area(scene, &options).unwrap();
        let found = texts(&canvas).join(" | ");
        assert!(found.contains("Share of the link"), "{found}");
    });
}

#[test]
fn what_waits_behind_the_vantage_point_is_offered_to_the_link_there() {
    for (later_us, capacity_bps, title) in [
        (0, 1.7e6, "Share of the link"),
        (40_000, 1.7e6, "Offered to the link"),
        // A link that is half idle does not make anything wait.
        (40_000, 4e6, "Share of the link"),
    ] {
        with_scene(two_that_wait(later_us), |scene, options| {
            let options = with_capacity(options, capacity_bps);
            let canvas = sharing::stacked_area(scene, &options).unwrap();
            let found = texts(&canvas).join(" | ");
            assert!(found.contains(title), "{later_us} {found}");
        });
    }
}
