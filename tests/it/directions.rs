//! A link has a capacity for each of its directions: an upload takes nothing from a download.

use std::fs;

use ccanalyze::Analysis;
use ccanalyze::analyze::{Config, Watch};
use ccanalyze::metric;
use ccanalyze::study::{Metric, StudyPlan};

use super::cli::run;
use super::support::{capture, close};

/// Ethernet, and where addresses begin in an IPv4 header.
const ADDRESSES: usize = 14 + 12;

/// The download of `drop-one.pcap`, and beside each of its packets another one: with the addresses the other way round
/// (an upload of its own), or with another port (a second download).
fn doubled(upload: bool) -> Vec<u8> {
    let bytes = fs::read(capture("drop-one.pcap")).unwrap();
    let (header, mut rest) = bytes.split_at(24);
    let mut made = header.to_vec();
    while !rest.is_empty() {
        let length = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        let (record, further) = rest.split_at(16 + length);
        let mut other = record.to_vec();
        let at = 16 + ADDRESSES;
        if upload {
            other[at..at + 8].rotate_left(4);
        } else {
            // The ports follow; the client's is the one above 30,000.
            let client = if other[at + 8] > 100 { at + 8 } else { at + 10 };
            other[client] ^= 1;
        }
        made.extend_from_slice(record);
        made.extend_from_slice(&other);
        rest = further;
    }
    made
}

#[test]
fn flows_in_opposite_directions_do_not_compete() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.pcap");
    fs::write(&path, doubled(false)).unwrap();
    let analysis = Analysis::of([&path], &Config::default());
    let both = &analysis.captures[0];
    assert_eq!(both.pairs.jain, Some(1.0));
    assert_eq!(both.pairs.sharing_ratio, Some(1.0));
    let largest = both.flows().map(|flow| flow.payload_bytes()).max();
    let is_large = |flow: usize| {
        let bytes = both.flows().nth(flow).unwrap().payload_bytes();
        Some(bytes) == largest
    };
    let large = both.pairs.pairs.iter();
    assert_eq!(
        large
            .filter(|pair| is_large(pair.a) && is_large(pair.b))
            .count(),
        1
    );

    fs::write(&path, doubled(true)).unwrap();
    let analysis = Analysis::of([&path], &Config::default());
    let opposite = &analysis.captures[0];
    assert_eq!(opposite.flows().count(), 4);
    assert_eq!(
        (opposite.pairs.jain, opposite.pairs.sharing_ratio),
        (None, None)
    );
    let flows: Vec<_> = opposite.flows().collect();
    for pair in &opposite.pairs.pairs {
        let senders = [pair.a, pair.b].map(|place| flows[place].ends().0.ip());
        assert_eq!(senders[0], senders[1]);
    }
    assert_eq!(opposite.towards_capacity().len(), 2);
}

#[test]
fn a_run_has_the_utilisation_of_one_direction_of_its_link() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(capture("drop-one.pcap"), folder.path().join("one.pcap")).unwrap();
    fs::write(folder.path().join("two.pcap"), doubled(true)).unwrap();
    let manifest = "[[runs]]\nfiles = \"{name}.pcap\"\n[runs.conditions]\ncapacity = \"20Mbit\"\n";
    fs::write(folder.path().join("study.toml"), manifest).unwrap();
    let plan = StudyPlan::read(&folder.path().join("study.toml")).unwrap();
    let results = plan.carry_out(None, &Watch::default());
    let values = [0, 1].map(|run| results.runs[run].values.clone());
    assert_eq!(results.runs[1].flows.len(), 2);
    let goodput = values[0].get(Metric::GoodputBps).unwrap();
    let used = metric::utilisation(goodput, 20e6).unwrap();
    // The upload has the answers of the download, and the other way round: all it takes is one packet longer.
    close(values[1].get(Metric::Utilisation).unwrap(), used, 0.01);
    close(
        values[1].get(Metric::GoodputBps).unwrap(),
        2.0 * goodput,
        0.02,
    );
    assert_eq!(
        (values[1].get(Metric::Fness), values[1].get(Metric::Jain)),
        (None, None)
    );
}

#[test]
fn requests_count_towards_the_goodput_that_utilisation_is_made_of() {
    let analysis = Analysis::of([&capture("drop-one.pcap")], &Config::default());
    let download = &analysis.captures[0];
    assert_eq!(download.flows().count(), 2);
    // 64 bytes of 600 kB go the other way.
    assert_eq!(download.towards_capacity().len(), 2);
    assert_eq!(download.delivered_towards_capacity(), download.delivered());
}

#[test]
fn the_share_of_the_link_is_that_of_one_direction() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(capture("drop-one.pcap"), folder.path().join("one.pcap")).unwrap();
    fs::write(folder.path().join("two.pcap"), doubled(true)).unwrap();
    let said = ["one.pcap", "two.pcap"].map(|name| {
        let args = [name, "--capacity", "20Mbit", "--svg", "--out", "r.parquet"];
        let output = run(folder.path(), &args);
        assert_eq!(output.status, 0);
        output.stdout
    });
    let percent = said.each_ref().map(|said| {
        let (_, behind) = said.split_once("utilisation ").unwrap();
        let (number, _) = behind.split_once(" %").unwrap();
        number.parse::<f64>().unwrap()
    });
    // The upload has the answers of the download: all it takes is a packet longer.
    close(percent[1], percent[0], 0.01);
    assert!(!said[1].contains("flows together"), "{}", said[1]);
    let charts = fs::read_dir(folder.path().join("r.charts")).unwrap();
    let charts = charts.map(|entry| entry.unwrap().path());
    let shares: Vec<_> = charts
        .filter(|path| path.to_string_lossy().ends_with("-share.svg"))
        .collect();
    assert_eq!(shares.len(), 1);
    let text = fs::read_to_string(&shares[0]).unwrap();
    assert!(text.contains("1 flow the other way not shown"), "{text}");
}
