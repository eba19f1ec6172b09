//! What flows delivered of which no ACKs were seen, beside others; and time in which nothing was delivered at either end
//! of what counts.

use std::fs;
use std::path::Path;

use ccanalyze::Analysis;
use ccanalyze::analyze::{Capacity, Config, Watch};
use ccanalyze::metric::stats::mean;
use ccanalyze::study::{Metric, SeriesKind, SeriesPoint, StudyPlan, StudyResults};
use ccanalyze::table::Tables;

use super::cli::run;
use super::path_pings::echo;
use super::published::{column, numbers, report};
use super::study_windows::long_and_short;
use super::support::{close, csv};
use super::udp::{MS, analyzed, in_order};
use super::wire::{Packet, pcap, tcp4};

/// A flow from this host to 10.0.0.9: 1000 bytes at each of these times, in ms, acknowledged 5 ms later or by no ACK that
/// was seen.
fn flow(host: u8, times_ms: impl IntoIterator<Item = i64>, are_acks_seen: bool) -> Vec<Packet> {
    let ends = [([10, 0, 0, host], 443), ([10, 0, 0, 9], 5000)];
    let mut packets = Vec::new();
    for (index, at_ms) in times_ms.into_iter().enumerate() {
        let seq = 1 + 1000 * index as u32;
        let data = tcp4(ends, [seq, 1], 0x10, 1000);
        packets.push(Packet::ipv4(at_ms * MS, data));
        if are_acks_seen {
            let ack = tcp4([ends[1], ends[0]], [1, seq + 1000], 0x10, 0);
            packets.push(Packet::ipv4((at_ms + 5) * MS, ack));
        }
    }
    packets
}

/// Two flows of 2 s, of which the second has so many packets, with or without ACKs.
fn two_flows(second: i64, are_acks_seen: bool) -> Vec<Packet> {
    let first = flow(1, 0..2000, true);
    let step = 2000 / second;
    let second = flow(2, (0..second).map(|index| index * step), are_acks_seen);
    in_order([first, second].concat())
}

fn with_capacity() -> Config {
    Config {
        capacity: Some(Capacity { bps: 20e6 }),
        ..Config::default()
    }
}

fn carried_out(folder: &Path, packets: &[Packet], manifest: &str) -> StudyResults {
    fs::write(folder.join("1.pcap"), pcap(packets)).unwrap();
    fs::write(folder.join("s.toml"), manifest).unwrap();
    let plan = StudyPlan::read(&folder.join("s.toml")).unwrap();
    plan.carry_out(None, &Watch::default())
}

/// METRICS.md, "Not known": null and never 0, which sums would take for nothing delivered.
#[test]
fn what_flows_delivered_together_is_not_known_where_one_has_no_acks() {
    let config = with_capacity();
    let together = |packets: &[Packet]| {
        let analysis = analyzed(packets, &config);
        let capture = &analysis.captures[0];
        let counted = capture.delivered_towards_capacity();
        let most = capture.delivered_most();
        let known = [
            capture.goodput_bps(),
            counted.and_then(ccanalyze::analyze::Delivered::goodput_bps),
            most.bps(),
            capture.pairs.sharing_ratio,
        ];
        (known.map(|value| value.is_some()), capture.pairs.jain)
    };
    let (known, _) = together(&two_flows(2000, true));
    assert_eq!(known, [true; 4]);
    let (known, jain) = together(&two_flows(2000, false));
    assert_eq!(known, [false; 4]);
    // What passed is known of both.
    close(jain.unwrap(), 1.0, 1e-9);
    // One hundredth of all bears on nothing: 20,000 of 2,020,000 bytes, and not 25,000.
    let (known, _) = together(&two_flows(20, false));
    assert_eq!(known, [true; 4]);
    let (known, _) = together(&two_flows(25, false));
    assert_eq!(known, [false; 4]);
}

#[test]
fn bins_without_acks_have_no_goodput_but_what_passed() {
    let config = with_capacity();
    let analysis = analyzed(&two_flows(2000, false), &config);
    let series = csv(&mut Tables::of(&analysis, &config).series);
    let mut lines = series
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let place = |name: &str| names.iter().position(|of| *of == name).unwrap();
    let told: Vec<_> = ["src_ip", "acked_bytes", "goodput_bps", "payload_bytes"]
        .map(place)
        .into();
    let mut bins = [0, 0];
    for line in lines {
        let [host, acked, goodput, payload] = told[..] else {
            unreachable!()
        };
        let is_second = usize::from(line[host] == "10.0.0.2");
        bins[is_second] += 1;
        assert_eq!(line[acked].is_empty(), is_second == 1, "{line:?}");
        assert_eq!(line[goodput].is_empty(), is_second == 1, "{line:?}");
        assert!(is_second == 0 || line[payload] == "100000", "{line:?}");
    }
    assert!(bins.iter().all(|&bins| bins >= 20), "{bins:?}");
}

#[test]
fn reports_take_what_nobody_tells_for_unknown_not_for_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let manifest =
        "[study]\nreport = [\"series\", \"mobility\"]\n[[runs]]\nfiles = \"{cca}.pcap\"\n";
    let results = carried_out(folder.path(), &two_flows(2000, false), manifest);
    let steps = &results.runs[0].series;
    assert!(steps.len() >= 9, "{}", steps.len());
    for step in steps {
        assert_eq!(step.get(SeriesKind::Goodput), None);
        assert!(step.get(SeriesKind::Throughput) > Some(0.0));
    }
    // The flow that has ACKs got 8 Mbit/s; its first and last bins are a little less than whole.
    let mobility = report(&results, "mobility");
    assert_eq!(column(mobility, "runs"), ["1"]);
    let goodput_mbps = numbers(mobility, "goodput_mbps_mean")[0].unwrap();
    assert!((7.5..8.0).contains(&goodput_mbps), "{goodput_mbps}");
    let flows = results.runs[0].flows.iter();
    let one_way: Vec<_> = flows
        .filter(|flow| flow.measure.values.get(Metric::AckedBytes).is_none())
        .collect();
    assert_eq!(one_way.len(), 1);
    let samples = &one_way[0].measure.samples;
    assert!(samples.len() >= 20 && samples.iter().all(|sample| sample.goodput_bps.is_none()));
}

/// METRICS.md Y8: steps count that lie as a whole between the first data and the last new ACK, whatever happened in them.
#[test]
fn steps_in_which_nothing_happened_count_at_either_end_too() {
    let starts = |steps: &[SeriesPoint]| -> Vec<i64> {
        let starts = steps.iter().map(|step| step.time_ns / (100 * MS));
        starts.collect()
    };
    let manifest = |window: &str| {
        format!(
            "[analysis]\nwindow = \"{window}\"\n[study]\nreport = \"series\"\n[[runs]]\nfiles = \"{{cca}}.pcap\"\n"
        )
    };
    let of = |times_ms: &[i64], window: &str| {
        let folder = tempfile::tempdir().unwrap();
        let packets = flow(1, times_ms.iter().copied(), true);
        let results = carried_out(folder.path(), &packets, &manifest(window));
        results.runs[0].series.clone()
    };
    // From 0 to 3.045 s after the first record; at 3.0 s a step begins that does not end within that.
    let bursts = of(&[0, 1010, 2020, 3040], "all");
    assert_eq!(
        starts(&bursts),
        (0..15).map(|step| 2 * step).collect::<Vec<_>>()
    );
    let goodputs: Vec<f64> = bursts
        .iter()
        .filter_map(|step| step.get(SeriesKind::Goodput))
        .collect();
    assert_eq!(goodputs.len(), 15);
    // All but the last of four packets.
    close(mean(&goodputs).unwrap(), 3000.0 * 8.0 / 3.0, 1e-9);
    // From 0.35 to 1.85 s lie steps from 0.4 to 1.8 s.
    let windowed = of(&[0, 1010, 2020, 3040], "350ms+1500ms");
    assert_eq!(starts(&windowed), [4, 6, 8, 10, 12, 14, 16]);
    // Where none is whole, those count in which something happened, and none between them.
    assert_eq!(starts(&of(&[0, 20], "all")), [0]);
    let folder = tempfile::tempdir().unwrap();
    let mut packets = flow(1, [0, 20], true);
    let alone = tcp4(
        [([10, 0, 0, 1], 443), ([10, 0, 0, 9], 5000)],
        [2001, 1],
        0x10,
        0,
    );
    packets.push(Packet::ipv4(1000 * MS, alone));
    // A ping is something as well.
    let hosts = [[10, 0, 0, 1], [10, 0, 0, 9]];
    packets.push(Packet::ipv4(500 * MS, echo(hosts, 8, 1, 1)));
    packets.push(Packet::ipv4(510 * MS, echo([hosts[1], hosts[0]], 0, 1, 1)));
    let results = carried_out(folder.path(), &in_order(packets), &manifest("all"));
    let steps = &results.runs[0].series;
    assert_eq!(starts(steps), [0, 4, 10]);
    assert_eq!(steps[1].get(SeriesKind::Ping), Some(10e6));
}

/// METRICS.md Y3: in a window a flow's goodput is over the time of all its bins, and so is the mean of these.
#[test]
fn in_a_window_a_flow_is_told_over_all_of_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("1.pcap"), long_and_short().pcap()).unwrap();
    let manifest = "[analysis]\nwindow = \"500ms+3s\"\nbin = \"100ms\"\n[study]\nreport = \"mobility\"\n[[runs]]\nfiles = \"{cca}.pcap\"\n";
    fs::write(folder.path().join("s.toml"), manifest).unwrap();
    let plan = StudyPlan::read(&folder.path().join("s.toml")).unwrap();
    let results = plan.carry_out(None, &Watch::default());
    let flows = &results.runs[0].flows;
    assert_eq!(flows.len(), 2);
    let mut goodputs_mbps = 0.0;
    for flow in flows {
        let bins = flow.measure.samples.len() as u64 + flow.measure.silent_bins;
        assert_eq!(bins, 30);
        goodputs_mbps += flow.measure.values.get(Metric::GoodputBps).unwrap() / 1e6;
    }
    let mobility = report(&results, "mobility");
    assert_eq!(column(mobility, "samples"), ["60"]);
    let mean_mbps = numbers(mobility, "goodput_mbps_mean")[0].unwrap();
    close(mean_mbps, goodputs_mbps / 2.0, 1e-9);
}

/// Of two flows one has ACKs: what is said of the capacity is of the other.
#[test]
fn a_capacity_that_some_flows_do_not_answer_to_is_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("1.pcap"), pcap(two_flows(2000, false))).unwrap();
    let run = run(folder.path(), &["1.pcap", "--capacity", "20Mbit"]);
    let said =
        "of 1 of 2 flows no ACKs were seen: --capacity gives no utilisation of all flows together;";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert!(!run.stdout.contains("utilisation"), "{}", run.stdout);
}

/// The analysis is what the tests above take it for.
#[test]
fn a_flow_of_these_has_acks_or_none() {
    let analysis: Analysis = analyzed(&two_flows(2000, false), &Config::default());
    let mut acked = Vec::new();
    for flow in analysis.captures[0]
        .flows()
        .filter(|flow| flow.payload_bytes() > 0)
    {
        acked.push(flow.delivered_bytes());
    }
    assert_eq!(acked, [Some(2_000_000), None]);
}
