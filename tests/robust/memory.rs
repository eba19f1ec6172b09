//! Little memory: what is given up, in which order, that counts stay, and that it is the same
//! however the capture is read.

use ccanalyze::analyze::{CaptureAnalysis, Config, Quality};
use ccanalyze::capture::CaptureSource;
use ccanalyze::event::Direction;

use super::answers::{Pieces, analyze_with};
use super::packets::{Packet, pcap};
use super::wire::tcp4;

/// The ends of connection `number`, the first of which is a host of its own.
fn ends(number: u16) -> [([u8; 4], u16); 2] {
    let [high, low] = number.to_be_bytes();
    [([10, 1, high, low], 40_000), ([10, 0, 0, 1], 80)]
}

fn at_ns(ms: u32) -> i64 {
    1_700_000_000_000_000_000 + i64::from(ms) * 1_000_000
}

/// Data of `len` bytes, the `turn`th of connection `number`.
fn data(number: u16, turn: u32, len: u16, at_ms: u32) -> Packet {
    let numbers = [1 + turn * u32::from(len), 0];
    Packet::ipv4(at_ns(at_ms), tcp4(ends(number), numbers, 0x18, len))
}

/// 600 connections that each send in 30 bins; the higher the number, the more.
fn talkers() -> Vec<u8> {
    talking(30)
}

fn talking(turns: u32) -> Vec<u8> {
    let packets: Vec<Packet> = (0..turns)
        .flat_map(|turn| (0..600).map(move |number| data(number, turn, 10 + number, 1000 * turn)))
        .collect();
    pcap(&packets)
}

fn analyze(
    bytes: &[u8],
    memory_bytes: u64,
    piece: usize,
    threads: usize,
    segments: bool,
) -> CaptureAnalysis {
    let config = Config {
        memory_bytes,
        segments,
        threads: Some(threads),
        ..Config::default()
    };
    let reader = Box::new(Pieces {
        bytes: bytes.to_vec(),
        piece,
        at: 0,
    });
    let name = "talkers".to_owned();
    analyze_with(vec![CaptureSource::Reader { name, reader }], &config)
}

/// With as much memory as is just too little, whatever records take today.
fn with_too_little(bytes: &[u8], start_bytes: u64) -> CaptureAnalysis {
    (0..30)
        .map(|step| analyze(bytes, start_bytes * (30 - step) / 30, usize::MAX, 2, false))
        .find(|capture| capture.given_up.anything())
        .unwrap()
}

/// Everything that is told, without what was given up.
fn counts(capture: &CaptureAnalysis) -> Vec<String> {
    let flow = |flow: ccanalyze::analyze::Flow<'_>| {
        format!("{:?} {:?} {:?}", flow.ends(), flow.summary(), flow.state())
    };
    capture.flows().map(flow).collect()
}

#[test]
fn series_of_the_smallest_flows_are_given_up_and_no_count() {
    let bytes = talkers();
    let all = analyze(&bytes, u64::MAX, usize::MAX, 1, false);
    assert!(!all.given_up.anything());
    let few = with_too_little(&bytes, 12_000_000);
    assert_eq!(counts(&few), counts(&all));
    assert_eq!((few.cut_by_limit, few.given_up.connections), (0, 0));
    let cut: Vec<bool> = few
        .flows()
        .map(|flow| flow.record.series().is_cut())
        .collect();
    let given_up = cut.iter().filter(|&&cut| cut).count();
    assert!((10..590).contains(&given_up), "{given_up}");
    assert_eq!(few.given_up.flows_without_series, given_up as u64);
    // Connections are in the order of their numbers, which is that of their sizes.
    assert!(
        cut.is_sorted_by(|one, next| one >= next),
        "the smallest first"
    );
    for (flow, whole) in few.flows().zip(all.flows()) {
        let series = flow.record.series();
        assert_eq!(
            flow.quality().contains(&Quality::SeriesCut),
            series.is_cut()
        );
        if series.is_cut() {
            assert!(series.bins().len() == 0);
        } else {
            assert!(series.bins().eq(whole.record.series().bins()));
        }
    }
}

/// Of many connections of one packet each, rows take more than their numbers do.
#[test]
fn rows_of_flows_of_one_packet_count_and_are_given_up() {
    let rows = |packets: &[Packet], memory_bytes, segments| {
        let capture = analyze(&pcap(packets), memory_bytes, usize::MAX, 2, segments);
        let flow = |flow: ccanalyze::analyze::Flow<'_>| {
            let is_cut = flow.quality().contains(&Quality::SeriesCut);
            (flow.record.segments().len(), is_cut)
        };
        let rows: Vec<_> = capture.flows().map(flow).collect();
        let given_up = rows.iter().filter(|&&(_, is_cut)| is_cut).count();
        assert_eq!(capture.given_up.flows_without_series, given_up as u64);
        assert_eq!(capture.given_up.connections, 0);
        (rows, counts(&capture))
    };
    let mut packets: Vec<Packet> = (0..2000).map(|number| data(number, 0, 100, 1)).collect();
    let all = rows(&packets, u64::MAX, true);
    assert_eq!(all.0, vec![(1, false); 2000]);
    // Enough for all but rows.
    assert_eq!(rows(&packets, 2_000_000, false).0, vec![(0, false); 2000]);
    let few = rows(&packets, 2_000_000, true);
    assert_eq!(few.1, all.1);
    let given_up = few.0.iter().filter(|&&rows| rows == (0, true)).count();
    assert!((1000..2000).contains(&given_up), "{given_up}");
    let kept = few.0.iter().filter(|&&rows| rows == (1, false)).count();
    assert_eq!(given_up + kept, 2000);
    // Where one more follows there is room again, but what was given up stays so.
    packets.extend((0..10).map(|number| data(number, 1, 100, 5000)));
    assert_eq!(few.0[..10], [(0, true); 10]);
    assert_eq!(rows(&packets, 2_000_000, true).0, few.0);
}

#[test]
fn what_is_given_up_depends_on_the_capture_alone() {
    let bytes = talkers();
    for (memory_bytes, segments) in [(1_200_000, false), (2_500_000, true)] {
        let told = |piece, threads| {
            let capture = analyze(&bytes, memory_bytes, piece, threads, segments);
            let flows: Vec<_> = capture
                .flows()
                .map(|flow| {
                    let rows = flow.record.segments().len();
                    (
                        flow.quality(),
                        flow.record.series().bins().collect::<Vec<_>>(),
                        rows,
                    )
                })
                .collect();
            (
                capture.given_up,
                capture.cut_by_limit,
                counts(&capture),
                flows,
            )
        };
        let once = told(usize::MAX, 1);
        assert!(once.0.anything());
        assert!(once == told(10_007, 1), "pieces, {memory_bytes}");
        assert!(once == told(usize::MAX, 3), "threads, {memory_bytes}");
    }
}

#[test]
fn connections_that_are_silent_are_put_away_before_series_are_given_up() {
    // Two thousand connections that send twice (of one packet hardly anything is kept), and eleven
    // minutes later a hundred others that talk.
    let mut packets: Vec<Packet> = (0..2)
        .flat_map(|turn| (0..2000).map(move |number| data(number, turn, 100, turn)))
        .collect();
    for turn in 0..100 {
        packets.extend((2000..2100).map(|number| data(number, turn, 500, 700_000 + 1000 * turn)));
    }
    let bytes = pcap(&packets);
    let capture = with_too_little(&bytes, 15_000_000);
    assert_eq!(capture.connections_total, 2100);
    let given_up = capture.given_up;
    assert!(
        given_up.connections > 1000 && given_up.flows_without_series == 0,
        "{given_up:?}"
    );
    assert_eq!(capture.given_up.connections, capture.cut_by_limit);
    for flow in capture.flows() {
        let talks = flow.summary().data_packets == 100;
        // A shard's clock stands still while nothing comes to it.
        assert!(!(talks && flow.connection().facts().cut_by_limit));
        assert_eq!(flow.dir(), Direction::Forward);
    }
}

#[test]
fn where_records_alone_are_too_many_no_connection_is_put_away_in_vain() {
    // The packets of none take more than its record will, and 600 records take more than there is.
    let bytes = talking(6);
    let all = analyze(&bytes, u64::MAX, usize::MAX, 1, false);
    for memory_bytes in [1000, 100_000, 400_000] {
        let few = analyze(&bytes, memory_bytes, usize::MAX, 2, false);
        assert_eq!(few.given_up.flows_without_series, 600);
        assert_eq!((few.given_up.connections, few.connections_total), (0, 600));
        assert_eq!(counts(&few), counts(&all));
    }
}

#[test]
fn connections_that_hold_much_are_put_away_and_no_packet_is_lost() {
    // 40 that are never answered: 3000 segments in flight each, which take a hundred times what their
    // record does.
    let turns = 0..3000;
    let packets: Vec<Packet> = turns
        .flat_map(|turn| (0..40).map(move |number| data(number, turn, 100, turn)))
        .collect();
    let bytes = pcap(&packets);
    let told = |memory_bytes| {
        let capture = analyze(&bytes, memory_bytes, usize::MAX, 2, false);
        let packets = capture.flows().map(|flow| flow.summary().data_packets);
        (capture.given_up.connections, packets.sum::<u64>())
    };
    assert_eq!(told(u64::MAX), (0, 120_000));
    let (put_away, packets) = told(2_000_000);
    assert!((40..4000).contains(&put_away), "{put_away}");
    assert_eq!(packets, 120_000);
}

#[test]
fn a_flow_of_more_bins_than_may_be_keeps_the_first() {
    let packets: Vec<Packet> = (0..1000)
        .map(|turn| data(1, turn, 10, 1000 * turn))
        .collect();
    let config = Config {
        bins_max: 100,
        ..Config::default()
    };
    let reader = Box::new(std::io::Cursor::new(pcap(&packets)));
    let name = "long".to_owned();
    let capture = analyze_with(vec![CaptureSource::Reader { name, reader }], &config);
    let flow = capture.flows().next().unwrap();
    assert_eq!(flow.summary().data_packets, 1000);
    assert_eq!(flow.record.series().bins().len(), 100);
    assert_eq!(flow.record.series().bins().last().unwrap().index, 990);
    assert!(flow.quality().contains(&Quality::SeriesCut));
}

#[test]
fn a_year_of_silence_takes_no_bins() {
    // Keep-alive data an hour apart, for a year: a bin each.
    let year: Vec<Packet> = (0..8760)
        .map(|hour| {
            let mut packet = data(1, hour, 10, 0);
            packet.at_ns += i64::from(hour) * 3_600_000_000_000;
            packet
        })
        .collect();
    let capture = analyze(&pcap(&year), u64::MAX, usize::MAX, 1, false);
    let bins: usize = capture
        .flows()
        .map(|flow| flow.record.series().bins().len())
        .sum();
    assert_eq!(bins, 8760);
}

#[test]
fn segments_in_flight_beyond_the_limit_lose_their_round_trip_and_are_said_to() {
    let mut packets: Vec<Packet> = (0..100).map(|turn| data(1, turn, 10, turn)).collect();
    // All acknowledged at once.
    let [sender, receiver] = ends(1);
    let ack = tcp4([receiver, sender], [1, 1001], 0x10, 0);
    packets.push(Packet::ipv4(at_ns(500), ack));
    let told = |in_flight_max| {
        let mut config = Config::default();
        config.limits.track.in_flight_max = in_flight_max;
        let reader = Box::new(std::io::Cursor::new(pcap(&packets)));
        let name = "flight".to_owned();
        let capture = analyze_with(vec![CaptureSource::Reader { name, reader }], &config);
        let flow = capture.flows().next().unwrap();
        (
            flow.summary().rtt.samples(),
            flow.summary().data_packets,
            flow.state().acked_bytes,
            flow.quality().contains(&Quality::LimitHit),
        )
    };
    let (samples, packets, acked, is_said) = told(1 << 20);
    assert!(!is_said);
    // As many as are remembered are no more.
    assert!(!told(100).3 && told(99).3);
    assert_eq!((packets, acked), (100, Some(1000)));
    let few = told(8);
    assert_eq!((few.1, few.2, few.3), (packets, acked, true));
    assert!(few.0 <= samples && samples > 0, "{few:?} {samples}");
}
