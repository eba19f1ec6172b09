//! Points whose clocks are wrong.

use super::parts::in_parts;
use super::*;

/// The second clock is 3 s ahead and gains 50 ppm.
#[test]
fn clocks_that_contradict_each_other_are_corrected() {
    let skewed = |at: i64| at + 3 * SECOND + (at - SECOND) / 20_000;
    let mut points = [Vec::new(), Vec::new()];
    for n in 0..2000_u16 {
        let at = SECOND + i64::from(n) * 10 * MS;
        let queue = i64::from(n % 7) * 100 * US;
        points[0].push(data(n, at));
        points[1].push(data(n, skewed(at + 40 * US + queue)));
        points[0].push(ack(n, at + 6 * MS));
        points[1].push(ack(n, skewed(at + 6 * MS - 20 * US)));
    }
    let hop = hop(&points[0], &points[1]);
    assert!(hop.clock_is_fixed());
    assert!(
        (hop.clock.drift * 1e6 - 50.0).abs() < 0.5,
        "{:?}",
        hop.clock
    );
    let uncertainty = hop.clock_estimate.as_ref().unwrap().uncertainty_ns.unwrap();
    assert!(uncertainty < 35_000.0, "half of 60 us: {uncertainty}");
    let flow = flow(&hop, Heading::Forward);
    for (ours, truth) in [
        (flow.delay.ns_min().unwrap(), 40 * US),
        (flow.delay.ns_max().unwrap(), 640 * US),
    ] {
        assert!((ours - truth).abs() < 100 * US, "{ours} for {truth}");
    }
    assert_eq!(flow.passed_packets, 2000);
}

/// Behind a slow link packets come 1.2 ms apart and each is acknowledged 0.7 ms after the one before, or more: on a way
/// that takes as long as that, or longer, each comes while the one before it is still on its way, and none waits.
#[test]
fn packets_that_follow_each_other_on_a_long_way_show_no_link() {
    for ahead in [0, 3 * SECOND] {
        let mut points = [Vec::new(), Vec::new()];
        let mut acked_at = SECOND;
        for n in 0..2000_u16 {
            let at = SECOND + i64::from(n) * 1200 * US;
            acked_at = (acked_at + 700 * US).max(at + 3 * MS + i64::from(n % 8) * 250 * US);
            // Stamps are late by 12 us at most, and back by 24.
            let late = i64::from(n % 13) * US;
            points[0].push(data(n, at));
            points[1].push(Packet {
                ahead,
                ..data(n, at + MS + late)
            });
            points[1].push(Packet {
                ahead,
                ..ack(n, acked_at)
            });
            points[0].push(ack(n, acked_at + MS + 2 * late));
        }
        let hop = hop(&points[0], &points[1]);
        let clock = hop.clock_estimate.as_ref().unwrap();
        let error = clock.clock.offset_ns - ahead as f64;
        // Both ways take 1 ms: so the offset is exact, and not surer than by half of 2 ms.
        assert!(error.abs() <= 1000.0, "{error}");
        let uncertainty = clock.uncertainty_ns.unwrap();
        assert!((1e6..1.02e6).contains(&uncertainty), "{uncertainty}");
        for way in &hop.ways {
            assert_eq!(way.rate_bps, None, "{:?}", way.heading);
            assert_eq!(way.max().packets, 0, "{:?}", way.heading);
        }
    }
}

/// The second clock is 10 ms behind, and believed: of 2 ms forward 8 less than nothing are left, and of 1 ms back 11.
#[test]
fn by_clocks_that_are_kept_packets_arrive_before_they_left() {
    let [first, second] = download(|packet| {
        let ahead = -10 * MS;
        Some(Packet { ahead, ..packet })
    });
    let config = PathConfig {
        clock: ClockChoice::Keep,
        ..PathConfig::default()
    };
    let analysis = analyse(&[&first, &second], &config).unwrap();
    let hop = &analysis.hops[0];
    for (heading, delay) in [(Heading::Forward, -8 * MS), (Heading::Reverse, 11 * MS)] {
        let delays = &flow(hop, heading).delay;
        let told = [delays.ns_min(), delays.ns_quantile(0.0), delays.ns_max()];
        assert!(
            told.iter()
                .all(|&ns| (ns.unwrap() - delay).abs() <= delay.abs() / 100)
        );
        assert_eq!(delays.ns_mean(), Some(delay as f64));
        assert_eq!(delays.ns_min(), Some(delay));
    }
    assert_eq!(hop.negative_delays(), Some(-8 * MS));
    assert_eq!(hop.quality(), ["negative_delays"]);
}

/// What the `n`th packet waits: up to 3.2 ms and back.
fn waits(n: u16) -> i64 {
    i64::from((n % 16).min(16 - n % 16)) * 400 * US
}

/// A download of 2000 packets, 1 ms apart, of which each waits for a while and takes 5 ms besides;
/// ACKs take 5 ms. How far the clock of each point is ahead at a time.
fn download_with_clocks(ahead: impl Fn(usize, i64) -> i64) -> [Vec<Packet>; 2] {
    let mut points = [Vec::new(), Vec::new()];
    for n in 0..2000_u16 {
        let at = SECOND + i64::from(n) * MS;
        let queue = waits(n);
        let seen = [
            (0, data(n, at)),
            (1, data(n, at + 5 * MS + queue)),
            (1, ack(n, at + 9 * MS)),
            (0, ack(n, at + 14 * MS)),
        ];
        for (point, packet) in seen {
            let ahead = ahead(point, packet.at);
            points[point].push(Packet { ahead, ..packet });
        }
    }
    points
}

/// The second clock is 3 s ahead, and one of the two is set by 10 ms half-way: packets are on their
/// way then, both ways, and each is told to be dated before or after it.
#[test]
fn a_clock_that_is_set_is_seen_to_the_packet() {
    for (point, by) in [(0, 10), (0, -10), (1, 10), (1, -10)] {
        let set_at = 2 * SECOND + 300 * US;
        let ahead = |of: usize, at: i64| {
            let set = if of == point && at >= set_at {
                by * MS
            } else {
                0
            };
            of as i64 * 3 * SECOND + set
        };
        let points = download_with_clocks(ahead);
        let config = PathConfig {
            packets: true,
            ..PathConfig::default()
        };
        let analysis = analyse(&[&points[0], &points[1]], &config).unwrap();
        let hop = &analysis.hops[0];
        let clock = hop.clock_estimate.as_ref().unwrap();
        let steps: Vec<_> = clock.steps.iter().map(|step| step.point).collect();
        assert_eq!(steps, [point], "{by} ms at {point}");
        assert!(
            (clock.steps[0].by_ns - (by * MS) as f64).abs() < 10_000.0,
            "{clock:?}"
        );
        assert!(hop.clock_is_set());
        assert_eq!(hop.packets.len(), 4000);
        let mut numbers = [0_u16; 2];
        let mut errors = [Vec::new(), Vec::new()];
        for packet in &hop.packets {
            let flow = hop.flows[packet.flow as usize].as_ref().unwrap();
            let number = &mut numbers[flow.heading as usize];
            let truth = match flow.heading {
                Heading::Forward => 5 * MS + waits(*number),
                Heading::Reverse => 5 * MS,
            };
            *number += 1;
            errors[flow.heading as usize].push(packet.delay_ns.unwrap() - truth);
        }
        for errors in errors {
            // The offset may be off by what is stated, but alike for all.
            let (least, most) = (*errors.iter().min().unwrap(), *errors.iter().max().unwrap());
            assert!(
                most - least <= 10 * US,
                "{by} ms at {point}: {least} to {most}"
            );
            assert!(most.abs() as f64 <= clock.uncertainty_ns.unwrap());
        }
        let reordered = hop
            .flows
            .iter()
            .flatten()
            .map(|flow| flow.reordered_packets);
        assert_eq!(reordered.sum::<u64>(), 0);
    }
}

/// Records are counted through the parts of a point: what a clock was set by holds from one of them on, to the end.
#[test]
fn a_clock_that_is_set_in_one_part_of_a_capture_stays_so_in_the_next() {
    let set_at = 2 * SECOND + 300 * US;
    let set = |of: usize, at: i64| if of == 1 && at >= set_at { 10 * MS } else { 0 };
    let points = download_with_clocks(|of, at| of as i64 * 3 * SECOND + set(of, at));
    let folder = tempfile::tempdir().unwrap();
    let points = [0, 1].map(|point| {
        let folder = folder.path().join(point.to_string());
        fs::create_dir(&folder).unwrap();
        Point::files(in_parts(&folder, &points[point], 3))
    });
    let config = PathConfig {
        packets: true,
        ..PathConfig::default()
    };
    let analysis = PathAnalysis::of(&points, &config).unwrap();
    let hop = &analysis.hops[0];
    let clock = hop.clock_estimate.as_ref().unwrap();
    assert_eq!(clock.steps.len(), 1, "{clock:?}");
    let uncertainty = clock.uncertainty_ns.unwrap();
    // Half of 10 ms of the round trip, and a tick of stamps that show whole milliseconds; it is that and the step where
    // the step is not seen to the packet.
    assert_eq!(uncertainty as i64, 6_000_000);
    let delay = &flow(hop, Heading::Reverse).delay;
    let (least, most) = (delay.ns_min().unwrap(), delay.ns_max().unwrap());
    assert!(most - least <= 10 * US, "{least} to {most}");
    let last = hop
        .packets
        .iter()
        .filter_map(|packet| packet.entry_frame)
        .max();
    assert_eq!(last, Some(4000), "the last ACK");
}

/// For a while data and ACKs wait 5 ms more. A clock would make the one longer and the other
/// shorter.
#[test]
fn delays_that_change_at_once_are_no_clock_that_was_set() {
    let mut points = [Vec::new(), Vec::new()];
    for n in 0..2000_u16 {
        let at = SECOND + i64::from(n) * MS;
        let wait = if (700..1400).contains(&n) { 5 * MS } else { 0 };
        let ahead = 3 * SECOND;
        let second = |packet: Packet| Packet { ahead, ..packet };
        points[0].push(data(n, at));
        points[1].push(second(data(n, at + 5 * MS + wait)));
        points[1].push(second(ack(n, at + 15 * MS)));
        points[0].push(ack(n, at + 20 * MS + wait));
    }
    let hop = hop(&points[0], &points[1]);
    assert!(hop.clock_estimate.unwrap().steps.is_empty());
}

/// Stamps are cut to whole milliseconds, of which files of nanoseconds say nothing, by one clock that both points share
/// or by two that are apart. Packets take less than one, both ways.
#[test]
fn the_offset_is_no_surer_than_the_stamps_are_fine() {
    for tick in [US, MS, 10 * MS] {
        for ahead in [0, 3 * SECOND + 700 * US] {
            let cut = |at: i64| at / tick * tick;
            let mut points = [Vec::new(), Vec::new()];
            for n in 0..2000_u16 {
                let at = SECOND + i64::from(n) * 1_377_311;
                points[0].push(data(n, cut(at)));
                points[1].push(data(n, cut(at + 40 * US + ahead)));
                points[1].push(ack(n, cut(at + 60 * US + ahead)));
                points[0].push(ack(n, cut(at + 80 * US)));
            }
            let hop = hop(&points[0], &points[1]);
            let clock = hop.clock_estimate.as_ref().unwrap();
            let uncertainty = clock.uncertainty_ns.unwrap();
            assert!(uncertainty >= tick as f64, "{tick} ns: {uncertainty}");
            let error = clock.clock.offset_ns - ahead as f64;
            assert!(error.abs() <= uncertainty, "{tick} ns: {error}");
            // Half of 60 us, and what the stamps leave open.
            assert!(uncertainty <= 2.0 * tick as f64 + 31_000.0, "{uncertainty}");
        }
    }
}

/// By more than packets are waited for: half a minute, or most of a year, as where a clock without a battery is set.
#[test]
fn a_clock_that_is_set_by_much_is_followed() {
    for (point, by) in [(0, 30), (0, -30), (1, 30), (1, -30), (1, 20_000_000)] {
        for set_at in [1200, 2000, 2900] {
            let ahead = |of: usize, at: i64| {
                let is_set = of == point && at >= set_at * MS + 300 * US;
                100 * SECOND + if is_set { by * SECOND } else { 0 }
            };
            let points = download_with_clocks(ahead);
            let hop = hop(&points[0], &points[1]);
            for (heading, least, most) in [
                (Heading::Forward, 5 * MS, 8200 * US),
                (Heading::Reverse, 5 * MS, 5 * MS),
            ] {
                let flow = flow(&hop, heading);
                assert_eq!((flow.packets, flow.passed_packets), (2000, 2000));
                for (ours, truth) in [(flow.delay.ns_min(), least), (flow.delay.ns_max(), most)] {
                    let off = ours.unwrap() - truth;
                    assert!(off.abs() < 3 * MS, "{point} {by} {set_at}: {off}");
                }
            }
            assert!(hop.clock_is_set());
        }
    }
}

/// One record is an hour late, or early: all others are what they are.
#[test]
fn a_record_that_is_dated_wrong_moves_no_other() {
    for by in [3600, -3600] {
        let [mut first, second] = download_with_clocks(|_, _| 0);
        first[2000].ahead = by * SECOND;
        let hop = hop(&first, &second);
        assert!(!hop.clock_is_fixed());
        for heading in [Heading::Forward, Heading::Reverse] {
            let flow = flow(&hop, heading);
            assert_eq!((flow.packets, flow.passed_packets), (2000, 2000));
            assert!(flow.delay.ns_max().unwrap() < 20 * MS);
        }
    }
}
