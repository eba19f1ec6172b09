//! What of UDP is counted, as what, and what cannot be known beside it.

use ccanalyze::Analysis;
use ccanalyze::analyze::{
    CaptureAnalysis, CaptureInput, Config, Flow, Quality, Watch, is_behind_link,
};
use ccanalyze::capture::CaptureSource;
use ccanalyze::decode::{Filter, Skip};
use ccanalyze::table::Tables;

use super::support::csv;
use super::udp::{MS, analyzed, crowd, in_order, of_udp, tcp_flow, udp, udp_flow, with_udp};
use super::wire::{Format, Packet};

/// Columns of the table of captures, of one with these packets.
fn of_capture(packets: &[Packet], columns: [&str; 2]) -> [String; 2] {
    let config = with_udp();
    let table = csv(&mut Tables::of(&analyzed(packets, &config), &config).captures);
    let lines: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split(',').collect())
        .collect();
    columns.map(|column| {
        let place = lines[0].iter().position(|name| *name == column).unwrap();
        lines[1][place].to_owned()
    })
}

/// METRICS.md R7 and R8: 1 MB of TCP, at the pace of a link of 8.32 Mbit/s, and so much of UDP.
#[test]
fn rates_of_a_link_are_not_known_beside_more_than_a_hundredth_of_udp() {
    let with = |payload: u16| {
        let more = udp(500 * MS + MS / 2, [3, 4], [7000, 7001], payload);
        in_order([tcp_flow(), vec![more]].concat())
    };
    let [few, more] = [10_101, 10_102].map(with);
    let capacity = ["capacity_estimated_bps", "utilisation_estimated"];
    let link = ["link_bps_estimated", "link_utilisation_estimated"];
    for columns in [capacity, link] {
        let told = of_capture(&few, columns);
        assert!(told.iter().all(|value| !value.is_empty()), "{told:?}");
    }
    assert_eq!(of_capture(&more, capacity), ["", ""]);
    // The link is known by TCP, but not what passed it.
    let [link_bps, share] = of_capture(&more, link);
    assert_eq!(
        (&link_bps, share.as_str()),
        (&of_capture(&few, link)[0], "")
    );
    let alone = in_order(udp_flow());
    for columns in [capacity, link] {
        assert_eq!(of_capture(&alone, columns), ["", ""]);
    }
}

/// METRICS.md R8: most of the payload of TCP tells, however much there is of UDP, which shows no link.
#[test]
fn where_a_capture_was_taken_is_told_without_udp() {
    let much = (0..1000).map(|index| udp(2 * MS + MS / 2 + index * MS, [3, 4], [7000, 7001], 1400));
    let beside = in_order(much.chain(tcp_flow()).collect());
    for (packets, expected) in [(tcp_flow(), true), (beside, true), (udp_flow(), false)] {
        let analysis = analyzed(&in_order(packets), &with_udp());
        let flows: Vec<Flow<'_>> = analysis.captures[0].flows().collect();
        let bin_ns = Config::default().bin_ns;
        assert_eq!(is_behind_link(&flows, bin_ns), expected);
    }
}

#[test]
fn marks_and_lengths_of_frames_count_in_their_direction() {
    let mut packets = in_order(udp_flow());
    let sent = packets
        .iter_mut()
        .filter(|packet| packet.bytes[12..16] == [10, 0, 0, 1]);
    for (packet, ecn) in sent.zip([3, 2, 3, 1, 0]) {
        packet.bytes[1] = ecn;
    }
    // As a host's own frames have it before hardware cuts them: neither IP nor UDP says how long they are.
    let long = packets.last_mut().unwrap();
    long.bytes[2..4].fill(0);
    long.bytes[24..26].fill(0);
    let analysis = analyzed(&packets, &with_udp());
    let udp = of_udp(&analysis.captures[0]);
    let counts = |flow: &Flow<'_>| {
        let summary = flow.summary();
        let odd = summary.incidents();
        (odd.ce_marks, odd.lengths_from_frame)
    };
    assert_eq!((counts(&udp[0]), counts(&udp[1])), ((2, 1), (0, 0)));
    assert_eq!(udp[0].payload_bytes(), 250_000);
    assert_eq!(udp[0].quality(), [Quality::Udp, Quality::LengthsFromFrame]);
    assert_eq!(udp[1].quality(), [Quality::Udp]);
}

/// METRICS.md F1 and Q1: from the first in the capture to the latest time, however they are in order between.
#[test]
fn times_out_of_order_neither_end_a_conversation_nor_make_it_shorter() {
    for more in [0, 40] {
        let mut times: Vec<i64> = vec![100, 300, 200, 400, 150];
        times.extend((0..more).map(|index| 160 + index));
        let packets = times
            .iter()
            .map(|&ms| udp(ms * MS, [1, 2], [443, 5000], 500));
        let packets: Vec<Packet> = packets.collect();
        let analysis = analyzed(&packets, &with_udp());
        let udp = of_udp(&analysis.captures[0]);
        let [flow] = udp[..] else { panic!("{udp:?}") };
        assert_eq!(flow.completion_ns(), Some(300 * MS), "{more}");
        assert_eq!(flow.goodput_interval_ns(), Some((300 * MS, false)));
        assert_eq!(flow.payload_bytes(), 500 * times.len() as u64);
        assert_eq!(flow.quality(), [Quality::Udp, Quality::ClockSteppedBack]);
        let steps = flow.summary().incidents().clock_steps_back;
        assert_eq!(steps, 2 + more as u64);
        let bins: Vec<(i64, u64)> = flow
            .record
            .series()
            .bins()
            .map(|bin| (bin.index, bin.data_packets))
            .collect();
        let late = 2 + more as u64;
        assert_eq!(bins, [(0, late), (1, 1), (2, 1), (3, 1)], "{more}");
    }
}

/// How many records count for each of these.
fn skipped(capture: &CaptureAnalysis) -> [u64; 4] {
    let reasons = [
        Skip::Udp,
        Skip::LaterFragment,
        Skip::FragmentIncomplete,
        Skip::Filtered,
    ];
    reasons.map(|reason| capture.skipped.count(reason))
}

#[test]
fn a_fragment_counts_for_what_becomes_of_its_datagram() {
    let packets = crowd();
    let of = |packets: &[Packet], config: &Config| {
        let capture = analyzed(packets, config).captures.remove(0);
        assert_eq!(
            capture.tcp_records + capture.skipped.total(),
            capture.records
        );
        skipped(&capture)
    };
    let whole = 502 + 12_000;
    assert_eq!(of(&packets, &with_udp()), [whole + 600, 0, 0, 0]);
    assert_eq!(of(&packets, &Config::default()), [whole + 300, 300, 0, 0]);
    // Of one datagram the first fragment is missing, as of a tunnel that is entered, of another one the second.
    let is_part = |packet: &Packet| packet.bytes[6..8] != [0x40, 0];
    let mut number = 0;
    let mut some = packets.clone();
    some.retain(|packet| {
        number += usize::from(is_part(packet));
        !is_part(packet) || number != 1 && number != 4
    });
    assert_eq!(of(&some, &with_udp()), [whole + 596, 1, 1, 0]);
}

#[test]
fn udp_that_a_filter_leaves_out_counts_as_such() {
    let of = |expression: &str| {
        let config = Config {
            filter: Some(Filter::parse(expression).unwrap()),
            ..with_udp()
        };
        let capture = analyzed(&crowd(), &config).captures.remove(0);
        // Who leaves it out has asked for that.
        assert_eq!(capture.udp_beside(), None);
        assert_eq!(capture.udp_records(), Some(skipped(&capture)[0]));
        (capture.tcp_records, skipped(&capture))
    };
    assert_eq!(of("tcp"), (2000, [0, 0, 0, 13_102]));
    assert_eq!(of("udp"), (0, [13_102, 0, 0, 2000]));
    assert_eq!(of("port 7001"), (0, [600, 0, 0, 14_502]));
    assert_eq!(of("not port 7001"), (2000, [12_502, 0, 0, 600]));
}

/// An aggregate of Wi-Fi is one record, whatever is in it.
#[test]
fn a_record_of_several_frames_counts_once() {
    let parts: Vec<Packet> = crowd()
        .into_iter()
        .filter(|packet| packet.bytes[6..8] != [0x40, 0])
        .take(2)
        .collect();
    let segment = tcp_flow().remove(0);
    let whole = udp(0, [1, 2], [443, 5000], 500);
    let config = with_udp();
    let of = |frames: &[&Packet]| {
        let mut bytes = [&[0x88, 1, 0, 0][..], &[2; 18], &[0, 0, 0x80, 0]].concat();
        for frame in frames {
            let mut packet = frame.bytes.clone();
            packet.resize(packet.len().next_multiple_of(4), 0);
            let len = (packet.len() as u16 + 8).to_be_bytes();
            let llc = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
            // Together with these a multiple of four.
            let subframe = [&[2; 12], &len[..], &llc, &packet, &[0; 2]].concat();
            bytes.extend(subframe);
        }
        let packet = Packet {
            at_ns: 0,
            original_len: bytes.len() as u32,
            bytes,
        };
        let file = Format {
            link: 105,
            ..Format::RAW
        };
        let name = "wifi".to_owned();
        let reader = Box::new(std::io::Cursor::new(file.file([packet])));
        let input = CaptureInput {
            name: name.clone(),
            sources: vec![CaptureSource::Reader { name, reader }],
        };
        let analysis = Analysis::run(vec![input], &config, &Watch::default());
        let capture = &analysis.captures[0];
        let flows = capture.flows().map(|flow| flow.transport().name());
        (
            flows.collect::<Vec<_>>(),
            capture.tcp_records,
            skipped(capture),
        )
    };
    let (first, later) = (&parts[0], &parts[1]);
    assert_eq!(of(&[first, later]), (vec!["udp"], 0, [1, 0, 0, 0]));
    assert_eq!(of(&[later, first]), (vec!["udp"], 0, [0, 1, 0, 0]));
    assert_eq!(of(&[first]), (vec![], 0, [0, 0, 1, 0]));
    assert_eq!(of(&[&segment, first]), (vec!["tcp"], 1, [0; 4]));
    assert_eq!(of(&[&whole, &whole]), (vec!["udp"], 0, [1, 0, 0, 0]));
}
