//! Records that are not in order of time, as where several interfaces were captured into one file.

use std::fs;

use ccanalyze::Analysis;
use ccanalyze::analyze::{CaptureAnalysis, Config, Flow, Quality};

use super::cli::run;
use super::support::{FILE_HEADER, RECORD_HEADER, capture, field, later, records, with_records};

/// A download of half a second, of which each 64 records have those of the server before those of the client.
fn in_blocks(pcap: &[u8]) -> Vec<u8> {
    let all: Vec<&[u8]> = records(pcap).collect();
    let blocks = all.chunks(64).flat_map(|block| {
        let of = |is_server: bool| {
            // Ethernet, IPv4 without options: the source port.
            let is_sent_by_server =
                |record: &[u8]| record[RECORD_HEADER + 34..][..2] == 5001_u16.to_be_bytes();
            let records = block.iter().copied();
            records.filter(move |record| is_sent_by_server(record) == is_server)
        };
        of(true).chain(of(false))
    });
    with_records(pcap, blocks)
}

/// How many records are older than the one before by more than 100 us, and by how much at most, in us.
fn steps_back(pcap: &[u8]) -> (u64, i64) {
    let fraction = if field(pcap, 0) == 0xa1b2_3c4d {
        1000
    } else {
        1
    };
    let us = |record: &[u8]| {
        i64::from(field(record, 0)) * 1_000_000 + i64::from(field(record, 4) / fraction)
    };
    let times: Vec<i64> = records(pcap).map(us).collect();
    let back = times.windows(2).map(|pair| pair[0] - pair[1]);
    let back: Vec<i64> = back.filter(|&us| us > 100).collect();
    (back.len() as u64, back.iter().copied().max().unwrap_or(0))
}

fn is_flagged(capture: &CaptureAnalysis) -> Vec<bool> {
    let flows = capture.flows();
    flows
        .map(|flow| flow.quality().contains(&Quality::ClockSteppedBack))
        .collect()
}

/// METRICS.md Q1. No direction steps back within itself, so nothing else would tell.
#[test]
fn directions_in_blocks_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("taps.pcap");
    let ordered = fs::read(capture("drop-one.pcap")).unwrap();
    assert!(ordered.len() > FILE_HEADER);
    for (pcap, is_mixed) in [(in_blocks(&ordered), true), (ordered, false)] {
        fs::write(&file, &pcap).unwrap();
        let analysis = Analysis::of([&file], &Config::default());
        let [taps] = &analysis.captures[..] else {
            panic!()
        };
        let told = taps.disorder.as_ref();
        let told = told.map(|disorder| (disorder.steps_back, disorder.largest_ns / 1000));
        assert_eq!(told.unwrap_or_default(), steps_back(&pcap));
        assert_eq!(told.is_some(), is_mixed);
        assert_eq!(taps.quality().clock_steps_back, 0);
        let flagged = is_flagged(taps);
        assert!(flagged.len() >= 2 && flagged.iter().all(|&flagged| flagged == is_mixed));
        let said = run(folder.path(), &["taps.pcap"]).stderr;
        assert_eq!(
            said.contains("older than the one before, by up to"),
            is_mixed,
            "{said}"
        );
        assert_eq!(
            said.contains("`reordercap` puts records in order"),
            is_mixed,
            "{said}"
        );
    }
}

/// Flows that had not begun when times came twice are not touched.
#[test]
fn only_flows_that_last_through_it_are_touched() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("one.pcap");
    let ordered = fs::read(capture("drop-one.pcap")).unwrap();
    // Two runs of a second and a minute after, one behind the other: only the first is in blocks.
    let later = later(ordered.clone(), 60);
    let mut pcap = in_blocks(&ordered);
    pcap.extend_from_slice(&later[FILE_HEADER..]);
    fs::write(&file, &pcap).unwrap();
    let analysis = Analysis::of([&file], &Config::default());
    let [both] = &analysis.captures[..] else {
        panic!()
    };
    let begins_in_order = both.span.unwrap().first.plus_ns(30_000_000_000);
    let is_of_first = |flow: Flow<'_>| flow.data_span().unwrap().first < begins_in_order;
    let first: Vec<bool> = both.flows().map(is_of_first).collect();
    assert!(first.contains(&true) && first.contains(&false));
    assert_eq!(is_flagged(both), first);
}
