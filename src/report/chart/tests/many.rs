//! What is said of flows over time.

use super::*;

#[test]
fn flows_that_are_one_line_of_goodput_are_not_said_to_be_missing_there() {
    let flows =
        (1..=10).map(|host| download(host, 0, if host == 10 { 2 } else { 300 }, |n| n == 9));
    let packets: Vec<_> = flows.collect::<Vec<_>>().concat();
    with_scene(packets, |scene, options| {
        let all = over_time::together(&Four::of(scene, options), scene, options).unwrap();
        let said = "2 other flows in the panel of goodput alone, as one line, 1 of them under 1 %";
        let found = texts(&all).join(" ");
        assert!(
            found.contains(said) && found.contains("other (2 flows)"),
            "{found}"
        );
        // On its own each is told what it lacks.
        let rtt = over_time::rtt(scene, options);
        let again = over_time::retransmissions(scene, options);
        for plot in [rtt, again] {
            let said = texts(&alone(plot, scene).unwrap()).join(" ");
            assert!(
                said.contains("2 other flows not drawn, 1 of them"),
                "{said}"
            );
        }
    });
}

#[test]
fn of_equal_flows_those_drawn_are_from_all_over_the_capture() {
    let flows = (1..=16).map(|host| download(host, 0, 50, |_| false));
    let packets: Vec<_> = flows.collect::<Vec<_>>().concat();
    with_scene(packets, |scene, _| {
        let (shown, others) = scene.largest(8);
        let places = |flows: &[&NamedFlow<'_>]| -> Vec<usize> {
            flows.iter().map(|flow| flow.place).collect()
        };
        let second: Vec<usize> = (0..16).step_by(2).collect();
        assert_eq!(places(&shown), second);
        assert_eq!(others.len(), 8);
        assert!(places(&others).iter().all(|place| !second.contains(place)));
    });
}

#[test]
fn a_pair_has_the_colour_of_no_flow() {
    let packets = [
        download(1, 0, 200, |_| false),
        download(2, 0, 200, |_| false),
    ]
    .concat();
    with_scene(packets, |scene, options| {
        let drawn = sharing::fairness(scene, options).unwrap();
        let found = texts(&drawn).join(" ");
        assert!(found.contains("A: "), "{found}");
        let of_a_flow = |shape: &Shape| match shape {
            Shape::Line { stroke, .. } => {
                LINES[..2].iter().any(|flow| flow.colour == stroke.colour)
            }
            _ => false,
        };
        assert!(!drawn.shapes.iter().any(of_a_flow));
    });
}

#[test]
fn of_many_pairs_fness_over_time_is_of_large_flows_that_were_together_for_long() {
    // The first flow ends soon, and has pairs with all the others before these have any of their own.
    let long = (2..=6).map(|host| download(host, 300, 400, |_| false));
    let packets = [
        download(1, 0, 60, |_| false),
        long.collect::<Vec<_>>().concat(),
    ]
    .concat();
    with_scene(packets, |scene, options| {
        assert_eq!(scene.capture.pairs.pairs.len(), 15);
        let drawn = sharing::fairness(scene, options).unwrap();
        let said = texts(&drawn);
        let pairs: Vec<_> = said.iter().filter(|text| text.contains("A: ")).collect();
        assert_eq!(pairs.len(), 6, "{said:?}");
        assert!(
            !pairs.iter().any(|pair| pair.contains("10.0.0.1 ")),
            "{pairs:?}"
        );
        let left_out = "fness of 6 pairs of the largest flows, 9 pairs not drawn";
        assert!(said.iter().any(|text| text.contains(left_out)), "{said:?}");
    });
    // Four flows have six pairs: all of them.
    let four = (1..=4).map(|host| download(host, 0, 200, |_| false));
    with_scene(four.collect::<Vec<_>>().concat(), |scene, options| {
        let drawn = sharing::fairness(scene, options).unwrap();
        let said = texts(&drawn);
        assert_eq!(said.iter().filter(|text| text.contains("A: ")).count(), 6);
        assert!(
            !said.iter().any(|text| text.contains("not drawn")),
            "{said:?}"
        );
    });
}

#[test]
fn a_flow_that_sent_nearly_all_has_no_chart_of_its_share() {
    let with_second = |packets: u32| {
        [
            download(1, 0, 300, |_| false),
            download(2, 0, packets, |_| false),
        ]
        .concat()
    };
    with_scene(with_second(30), |scene, options| {
        assert!(sharing::stacked_area(scene, options).is_some());
    });
    with_scene(with_second(1), |scene, options| {
        assert_eq!(sharing::stacked_area(scene, options), None);
        // Of a capacity it has a part all the same.
        let capacity = ChartOptions {
            capacity_bps: Some(10e6),
            ..options.clone()
        };
        assert!(sharing::stacked_area(scene, &capacity).is_some());
    });
}

#[test]
fn a_share_has_the_colour_that_its_flow_has_in_other_charts() {
    // The second flow goes the other way: it has a colour, but no share.
    let mut upload = download(2, 1, 300, |_| false);
    for packet in &mut upload {
        std::mem::swap(&mut packet.src, &mut packet.dst);
    }
    let downloads = [1, 3].map(|host| download(host, u32::from(host), 300, |_| false));
    with_scene([downloads.concat(), upload].concat(), |scene, options| {
        let goodput = over_time::goodput(scene, options).unwrap();
        let lines = goodput.lines.iter();
        let of_lines: Vec<(String, Colour)> = lines
            .map(|line| (line.name.clone(), line.style.colour))
            .collect();
        let share = sharing::stacked_area(scene, options).unwrap();
        let areas = share.shapes.iter().filter_map(|shape| match shape {
            Shape::Area { colour, .. } => Some(*colour),
            _ => None,
        });
        let downloads = of_lines.iter().filter(|(name, _)| name.ends_with("200"));
        let wanted: Vec<Colour> = downloads.map(|(_, colour)| *colour).collect();
        assert_eq!((of_lines.len(), wanted.len()), (3, 2), "{of_lines:?}");
        assert_eq!(areas.collect::<Vec<_>>(), wanted);
    });
}

#[test]
fn that_no_ack_was_seen_is_said_of_flows_without_any() {
    for (acked, said) in [(true, "not known"), (false, "no ACK was seen")] {
        let mut packets = download(1, 0, 300, |_| false);
        packets.retain(|packet| acked || packet.payload > 0);
        with_scene(packets, |scene, options| {
            let four = Four {
                in_flight: None,
                ..Four::of(scene, options)
            };
            let all = over_time::together(&four, scene, options).unwrap();
            let found = texts(&all);
            assert!(found.contains(&said), "{said}: {found:?}");
        });
    }
}

#[test]
fn goodputs_far_below_the_capacity_are_seen() {
    let packets = [download(1, 0, 200, |_| false)].concat();
    with_scene(packets, |scene, options| {
        let drawn = |capacity_bps: f64| {
            let options = ChartOptions {
                capacity_bps: Some(capacity_bps),
                ..options.clone()
            };
            let plot = over_time::goodput(scene, &options).unwrap();
            assert_eq!(plot.reference.is_some(), capacity_bps < 10e6);
            let all = over_time::together(&Four::of(scene, &options), scene, &options);
            let bars = bars::goodput(std::slice::from_ref(scene), &options);
            [alone(Some(plot), scene), all, bars].map(Option::unwrap)
        };
        // The flow has 800 kbit/s: it is compared with a line at 1 Mbit/s, and one at 1 Tbit/s leaves nothing of it.
        for chart in drawn(1e6) {
            let said = texts(&chart);
            assert!(said.contains(&"capacity, 1.00 Mbit/s"), "{said:?}");
        }
        // So does one at 10 Mbit/s nearly, a few percent of whose axis it has.
        for (capacity_bps, called) in [(1e12, "1000 Gbit/s"), (10e6, "10.0 Mbit/s")] {
            for chart in drawn(capacity_bps) {
                let said = texts(&chart);
                let far = format!("capacity, {called}, far beyond the axis");
                assert!(said.iter().any(|text| text.contains(&far)), "{said:?}");
                assert!(
                    said.iter().any(|text| text.contains("(kbit/s)")),
                    "{said:?}"
                );
            }
        }
    });
}

#[test]
fn shares_of_a_link_that_is_nearly_idle_are_seen() {
    let packets = [download(1, 0, 200, |_| false)].concat();
    with_scene(packets, |scene, options| {
        let top = |capacity_bps: f64| {
            let options = ChartOptions {
                capacity_bps: Some(capacity_bps),
                ..options.clone()
            };
            let drawn = sharing::stacked_area(scene, &options).unwrap();
            let heights = drawn.shapes.iter().filter_map(|shape| match shape {
                Shape::Area { points, .. } => Some(points.iter().map(|at| at.1)),
                _ => None,
            });
            let heights: Vec<f64> = heights.flatten().collect();
            let of = |pick: fn(f64, f64) -> f64| heights.iter().copied().reduce(pick).unwrap();
            of(f64::max) - of(f64::min)
        };
        for capacity_bps in [1e12, 10e6] {
            let top = top(capacity_bps);
            assert!(top > 200.0, "{top}");
        }
    });
}

#[test]
fn one_sample_and_the_length_of_bins_are_said_as_they_are_read() {
    with_scene(download(1, 0, 1, |_| false), |scene, options| {
        let options = ChartOptions {
            bin_ns: 1_000_000_000,
            ..options.clone()
        };
        let plot = over_time::rtt(scene, &options).unwrap();
        assert_eq!(plot.notes[0], "mean in bins of 1 s, n = 1 sample");
    });
}

#[test]
fn a_flow_that_another_starved_is_drawn_beside_it_however_little_it_got() {
    // Every 1.5 s a packet, which is answered late: always under way. And who had nothing to say.
    let slow = |host: u8, wait_ms: u32| {
        let packets = download(host, 0, 8, |_| false).into_iter();
        packets.map(move |packet| {
            let number = packet.seq.max(packet.ack) / 1000 - u32::from(packet.payload == 0);
            let wait_ms = if packet.payload == 0 { wait_ms } else { 0 };
            Packet {
                at_us: (1500 * number + wait_ms) * 1000 + 7,
                ..packet
            }
        })
    };
    let large = download(1, 0, 1200, |_| false).into_iter();
    let packets = large.chain(slow(2, 1400)).chain(slow(3, 20)).collect();
    with_scene(packets, |scene, options| {
        assert_eq!((scene.flows.len(), scene.small.len()), (1, 2));
        let chart = bars::goodput(std::slice::from_ref(scene), options).unwrap();
        let found = texts(&chart);
        let has = |name: &str| found.contains(&name);
        assert!(
            has("10.0.0.1 → 10.0.0.200") && has("10.0.0.2 → 10.0.0.200"),
            "{found:?}"
        );
        assert!(!has("10.0.0.3 → 10.0.0.200"), "{found:?}");
        let said = "n = 2 flows in 1 capture · 1 flow under 1 % of the largest not drawn";
        assert!(has(said), "{found:?}");
    });
}

/// A flow that no chart draws, such as the control connection of a measurement, does not decide how others are named.
#[test]
fn flows_are_named_by_what_tells_those_apart_that_are_drawn() {
    let packets = [(1, 300), (2, 300), (11, 2), (12, 2)]
        .map(|(host, packets)| download(host, 0, packets, |_| false));
    let mut packets = packets.concat();
    packets.sort_by_key(|packet| packet.at_us);
    let mut file = capture(&packets);
    // All of one server, at ports 5001 and 5002, each to a port of its own.
    for record in file[24..].as_chunks_mut::<56>().0 {
        let ip = &mut record[16..];
        let host = ip[15].min(ip[19]);
        let ports = [5000 + u16::from(host % 10), 40_000 - u16::from(host)];
        let is_data = ip[15] == host;
        let hosts = [1, 200];
        for (place, of) in (0..).zip(if is_data { [0, 1] } else { [1, 0] }) {
            ip[15 + 4 * place] = hosts[of];
            ip[20 + 2 * place..22 + 2 * place].copy_from_slice(&ports[of].to_be_bytes());
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("generated.pcap");
    std::fs::write(&path, file).unwrap();
    let analysis = Analysis::of([path], &Config::default());
    let scenes = Scene::of(&analysis, &ChartOptions::default());
    let names = scenes[0].flows.iter().map(|flow| flow.name.to_string());
    let server = [5001, 5002].map(|port| format!("10.0.0.1:{port} → 10.0.0.200"));
    assert_eq!(names.collect::<Vec<_>>(), server);
    assert_eq!(scenes[0].small.len(), 2);
}
