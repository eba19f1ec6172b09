//! Two points of a path, from a script: what passed, what was dropped, doubled or changed on the way.

use std::collections::BTreeMap;
use std::fs;

use ccanalyze::path::{
    ClockChoice, Heading, Hop, Outcome, PathAnalysis, PathConfig, PathFlow, Point,
};

use super::packets::{Packet, STEP_BYTES, Twist, pcap, play};

/// Bytes of a packet in the script: its step, what happens to it, and how long it takes.
pub(crate) const CROSSING_BYTES: usize = STEP_BYTES + 2;

/// A script: a byte for all of it, then packets.
pub(crate) fn path(script: &[u8]) {
    let Some((&whole, crossings)) = script.split_first() else {
        return;
    };
    let points = cross(crossings, whole & 1 != 0);
    let folder = tempfile::tempdir().expect("there is room for files");
    let files = [0, 1].map(|point| {
        let file = folder.path().join(point.to_string());
        fs::write(&file, pcap(&points[point])).expect("there is room for files");
        Point::file(file)
    });
    let config = PathConfig {
        clock: [ClockChoice::Keep, ClockChoice::Auto, ClockChoice::Fix]
            [usize::from(whole >> 1) % 3],
        // With as good as none of it packets are given up, and notes are used up as they come.
        memory_bytes: if whole & 64 == 0 { u64::MAX } else { 0 },
        patience_ns: if whole & 128 == 0 {
            10_000_000_000
        } else {
            3_000_000
        },
        packets: true,
        ..PathConfig::default()
    };
    if let Ok(analysis) = PathAnalysis::of(&files, &config) {
        holds(&analysis.hops[0], &points, config.clock);
    }
}

/// What the two points see.
fn cross(script: &[u8], sorted: bool) -> [Vec<Packet>; 2] {
    let (crossings, _) = script.as_chunks::<CROSSING_BYTES>();
    let steps: Vec<u8> = crossings
        .iter()
        .flat_map(|crossing| &crossing[..STEP_BYTES])
        .copied()
        .collect();
    let mut points: [Vec<Packet>; 2] = [Vec::new(), Vec::new()];
    for (packet, crossing) in play(&steps, Twist::default()).into_iter().zip(crossings) {
        let [fate, delay] = [crossing[STEP_BYTES], crossing[STEP_BYTES + 1]];
        let mut later = packet.clone();
        // Up to 25 ms; or without an end in sight.
        later.at_ns += i64::from(delay) * if fate & 16 == 0 { 100_000 } else { 20_000_000 };
        let from = usize::from(fate & 8 != 0);
        let to = 1 - from;
        match fate & 7 {
            3 => points[from].push(packet),
            4 => points[to].push(later),
            5 => {
                points[from].push(packet);
                points[to].extend([later.clone(), later]);
            }
            6 => {
                let place = usize::from(delay) % later.bytes.len();
                later.bytes[place] ^= 1;
                points[from].push(packet);
                points[to].push(later);
            }
            7 => {
                points[from].extend([packet.clone(), packet]);
                points[to].push(later);
            }
            _ => {
                points[from].push(packet);
                points[to].push(later);
            }
        }
    }
    if sorted {
        for point in &mut points {
            point.sort_by_key(|packet| packet.at_ns);
        }
    }
    points
}

/// What must hold whatever was found.
fn holds(hop: &Hop, points: &[Vec<Packet>; 2], clock: ClockChoice) {
    let flow_of = |number: u32| hop.flows[number as usize].as_ref();
    for fate in &hop.packets {
        let heading = flow_of(fate.flow).expect("a packet has a flow").heading;
        let (entry, exit) = match heading {
            Heading::Forward => (0, 1),
            Heading::Reverse => (1, 0),
        };
        let at = |point: usize, frame: Option<u64>| {
            frame.map(|frame| points[point][frame as usize - 1].at_ns)
        };
        let (came, left) = (at(entry, fate.entry_frame), at(exit, fate.exit_frame));
        let seen = (came.is_some(), left.is_some());
        match fate.outcome {
            Outcome::Passed => assert_eq!(seen, (true, true)),
            Outcome::Dropped => assert_eq!(seen, (true, false)),
            Outcome::Appeared => assert_eq!(seen, (false, true)),
            Outcome::Undecided => assert!(seen.0 != seen.1),
        }
        assert_eq!(fate.delay_ns.is_some(), fate.outcome == Outcome::Passed);
        assert!(fate.queue_delay_ns.is_none_or(|ns| ns >= 0), "{fate:?}");
        if let (ClockChoice::Keep, Some(came), Some(left)) = (clock, came, left) {
            assert_eq!(fate.delay_ns, Some(left - came), "{fate:?}");
        }
    }
    if hop.facts.iter().all(|facts| facts.super_segments == 0) {
        each_once(hop, points);
    }
    let outcomes = |number: usize, outcome: Outcome| {
        let of_flow = hop
            .packets
            .iter()
            .filter(|fate| fate.flow as usize == number);
        of_flow.filter(|fate| fate.outcome == outcome).count() as u64
    };
    for (number, flow) in hop.flows.iter().enumerate() {
        let Some(flow) = flow else { continue };
        assert_eq!(flow.passed_packets, outcomes(number, Outcome::Passed));
        assert_eq!(flow.dropped_packets, outcomes(number, Outcome::Dropped));
        assert_eq!(flow.appeared_packets, outcomes(number, Outcome::Appeared));
        assert_eq!(flow.undecided_packets, outcomes(number, Outcome::Undecided));
        assert_eq!(flow.packets, flow.passed_packets + flow.dropped_packets);
        assert_eq!(
            flow.dropped_by_cause.iter().sum::<u64>(),
            flow.dropped_packets
        );
        let of_bins =
            |of: fn(&ccanalyze::path::FlowBin) -> u64| -> u64 { flow.bins.iter().map(of).sum() };
        assert_eq!(flow.passed_packets, of_bins(|bin| bin.passed_packets));
        assert_eq!(flow.dropped_packets, of_bins(|bin| bin.dropped_packets));
    }
    for way in &hop.ways {
        let of_flows = |of: fn(&PathFlow) -> u64| -> u64 {
            let flows = hop.flows.iter().flatten();
            flows
                .filter(|flow| flow.heading == way.heading)
                .map(of)
                .sum()
        };
        let of_bins =
            |of: fn(&ccanalyze::path::QueueBin) -> u64| -> u64 { way.bins.iter().map(of).sum() };
        let passed = of_flows(|flow| flow.passed_packets);
        assert_eq!(of_bins(|bin| bin.arrived.packets), passed);
        // What was in the queue when the captures began left it, too (B4).
        let undecided = of_flows(|flow| flow.undecided_packets);
        let left = of_bins(|bin| bin.left.packets);
        assert!((passed..=passed + undecided).contains(&left), "{left}");
        let dropped = of_flows(|flow| flow.dropped_packets);
        assert_eq!(of_bins(|bin| bin.dropped.packets), dropped);
        assert_eq!(way.drops.len() as u64, dropped);
        assert!(way.bins.windows(2).all(|two| two[0].index < two[1].index));
    }
}

/// Each packet of either point is one of those whose fate is told, and of one only.
fn each_once(hop: &Hop, points: &[Vec<Packet>; 2]) {
    let mut told: [BTreeMap<u64, u32>; 2] = [BTreeMap::new(), BTreeMap::new()];
    for fate in &hop.packets {
        let heading = hop.flows[fate.flow as usize]
            .as_ref()
            .map(|flow| flow.heading);
        let frames = match heading {
            Some(Heading::Reverse) => [fate.exit_frame, fate.entry_frame],
            _ => [fate.entry_frame, fate.exit_frame],
        };
        for (told, frame) in told.iter_mut().zip(frames) {
            if let Some(frame) = frame {
                *told.entry(frame).or_default() += 1;
            }
        }
    }
    let mut untold = 0;
    for (point, told) in told.iter().enumerate() {
        let facts = &hop.facts[point];
        assert_eq!(facts.records, points[point].len() as u64);
        assert!(told.len() as u64 <= facts.packets);
        untold += facts.packets - told.len() as u64;
        assert!(told.values().all(|&times| times == 1), "{told:?}");
    }
    // What is answered at one point was not on its way to the other (B1).
    assert_eq!(untold, hop.left_aside.packets);
}
