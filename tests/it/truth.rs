//! Numbers against what really happened: counted by those who made the captures, not by us.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use ccanalyze::Analysis;
use ccanalyze::analyze::{
    CaptureAnalysis, Config, Flow, FnessWindow, LinkSide, PairConfig, Pairs, Quality,
    is_behind_link,
};
use serde_json::Value;

use super::support::{capture, root, shared};

/// Goodput, relative: truth is rounded, and captures to the tick of their clock.
const GOODPUT_TOLERANCE: f64 = 1e-6;

#[test]
fn shipped_captures_give_the_numbers_of_the_testbed() {
    let text = fs::read_to_string(root().join("testdata/expected/truth.csv")).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut analysed: HashMap<String, Analysis> = HashMap::new();
    let mut faults = Vec::new();
    for line in lines {
        let row: HashMap<&str, &str> = header.iter().copied().zip(line.split(',')).collect();
        let analysis = analysed
            .entry(row["capture"].to_owned())
            .or_insert_with(|| analyse(&capture(row["capture"])));
        let ends = (
            socket(row["src_ip"], row["src_port"]),
            socket(row["dst_ip"], row["dst_port"]),
        );
        let nth: usize = row["nth"].parse().unwrap();
        let Some(flow) = find(&analysis.captures[0], &ends, nth) else {
            faults.push(format!("{line}: there is no such flow"));
            continue;
        };
        let number = |name: &str| row[name].parse::<f64>().ok();
        let mut check = Check::new(format!("{} {} > {}", row["capture"], ends.0, ends.1));
        let summary = flow.summary();
        let state = flow.state();
        check.equal("packets", number("packets"), summary.packets);
        check.equal("data_packets", number("data_packets"), summary.data_packets);
        check.equal("ip_bytes", number("ip_bytes"), summary.ip_bytes);
        check.equal(
            "payload_bytes",
            number("payload_bytes"),
            summary.payload_bytes,
        );
        check.equal("unique_bytes", number("unique_bytes"), state.unique_bytes);
        check.equal(
            "acked_bytes",
            number("acked_bytes"),
            state.acked_bytes.unwrap_or(0),
        );
        check.equal(
            "retransmissions",
            number("retransmissions"),
            summary.incidents().retransmitted_packets,
        );
        check.near("goodput_bps", number("goodput_bps"), flow.goodput_bps());
        faults.append(&mut check.faults);
    }
    assert_eq!(
        analysed.len(),
        super::support::captures().len(),
        "captures with truth"
    );
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_scenario_of_the_testbed_gives_its_totals_at_every_vantage_point() {
    let Some(folder) = shared("lab") else {
        return;
    };
    let mut faults = Vec::new();
    let mut flows = 0;
    for scenario in folders(&folder) {
        let truth: Value =
            serde_json::from_str(&fs::read_to_string(scenario.join("truth.json")).unwrap())
                .unwrap();
        for vantage in ["sender", "ingress", "egress", "client"] {
            let path = scenario.join(format!("{vantage}.pcap.zst"));
            if path.exists() {
                let analysis = analyse(&path);
                flows += compare_lab(&analysis.captures[0], &truth, vantage, &mut faults);
            }
        }
    }
    assert!(flows > 0);
    eprintln!("note: {flows} flows of the testbed were compared");
    assert!(
        faults.is_empty(),
        "{} of {flows} flows: {faults:#?}",
        faults.len()
    );
}

#[test]
fn every_scenario_of_the_simulator_gives_its_totals_at_every_vantage_point() {
    let Some(folder) = shared("ns3") else {
        return;
    };
    let mut faults = Vec::new();
    let mut flows = 0;
    for group in folders(&folder) {
        for scenario in folders(&group) {
            let truth = fs::read_to_string(scenario.join("truth.json")).unwrap();
            let truth: Value = serde_json::from_str(&truth).unwrap();
            for point in ["sender", "ingress", "egress", "receiver"] {
                let all = scenario.join(format!("{point}.pcap.zst"));
                for (index, flow) in list(&truth["flows"]).iter().enumerate() {
                    let own = scenario.join(format!("{point}{index}.pcap.zst"));
                    let path = if all.exists() { &all } else { &own };
                    if path.exists() {
                        flows += 1;
                        compare_ns3(path, flow, point, &mut faults);
                    }
                }
            }
        }
    }
    let lines = fs::read_to_string(folder.join("loss-grid/truth.jsonl")).unwrap_or_default();
    for line in lines.lines() {
        let truth: Value = serde_json::from_str(line).unwrap();
        let name = truth["scenario"].as_str().unwrap_or_default();
        let path = folder.join(format!("loss-grid/{name}.pcap.zst"));
        if path.exists() {
            flows += 1;
            compare_ns3(&path, &truth["flows"][0], "egress", &mut faults);
        }
    }
    assert!(flows > 0);
    eprintln!("note: {flows} flows of the simulator were compared");
    assert!(
        faults.is_empty(),
        "{} of {flows} flows: {faults:#?}",
        faults.len()
    );
}

/// All flows of one testbed capture against `seen_at`; returns how many.
fn compare_lab(
    capture: &CaptureAnalysis,
    truth: &Value,
    vantage: &str,
    faults: &mut Vec<String>,
) -> usize {
    // Connections one after another may have the same ends: the nth of truth is the nth found.
    let mut seen: HashMap<(String, String), usize> = HashMap::new();
    let mut flows = 0;
    for connection in list(&truth["flows"]) {
        let at = &connection["seen_at"][vantage];
        let server = socket(&text(&connection["server"]), &text(&connection["sport"]));
        let client = socket(&text(&connection["client"]), &text(&connection["cport"]));
        for (way, src, dst) in [("down", &server, &client), ("up", &client, &server)] {
            let number = |name: &str| at[format!("{way}_{name}")].as_f64();
            if number("data_packets").is_none_or(|packets| packets < 1.0) {
                continue;
            }
            flows += 1;
            let ends = (src.clone(), dst.clone());
            let nth = seen.entry(ends.clone()).or_default();
            let name = format!("{} {src} > {dst} #{nth}", capture.name);
            let Some(flow) = find(capture, &ends, *nth) else {
                faults.push(format!("{name}: there is no such flow"));
                continue;
            };
            *nth += 1;
            let summary = flow.summary();
            let mut check = Check::new(name);
            check.equal("packets", number("packets"), summary.packets);
            check.equal("data_packets", number("data_packets"), summary.data_packets);
            check.equal("ip_bytes", number("ip_bytes"), summary.ip_bytes);
            check.equal(
                "payload_bytes",
                number("payload_bytes"),
                summary.payload_bytes,
            );
            let acked = flow.state().acked_bytes.unwrap_or(0);
            check.equal("acked_bytes", number("acked_bytes"), acked);
            check.near("goodput_bps", number("goodput_bps"), flow.goodput_bps());
            faults.append(&mut check.faults);
        }
    }
    flows
}

/// One flow of a simulator capture against `points`.
fn compare_ns3(path: &Path, truth: &Value, point: &str, faults: &mut Vec<String>) {
    let analysis = analyse(path);
    let capture = &analysis.captures[0];
    let src = socket(&text(&truth["src"]), &text(&truth["sport"]));
    let dst = socket(&text(&truth["dst"]), &text(&truth["dport"]));
    let mut check = Check::new(format!("{} {src} > {dst}", path.display()));
    let truth = &truth["points"][point];
    let number = |name: &str| truth[name].as_f64();
    let Some(flow) = find(capture, &(src, dst), 0) else {
        if number("data_packets").is_some_and(|packets| packets > 0.0) {
            faults.push(format!("{}: there is no such flow", check.what));
        }
        return;
    };
    let summary = flow.summary();
    check.equal("fwd_packets", number("fwd_packets"), summary.packets);
    check.equal("fwd_ip_bytes", number("fwd_ip_bytes"), summary.ip_bytes);
    check.equal("data_packets", number("data_packets"), summary.data_packets);
    check.equal("data_bytes", number("data_bytes"), summary.payload_bytes);
    check.equal(
        "unique_bytes",
        number("unique_bytes"),
        flow.state().unique_bytes,
    );
    let reverse = flow.connection().facts().packets[flow.dir().reversed().index()];
    check.equal("rev_packets", number("rev_packets"), reverse);
    let acked = flow.state().acked_bytes.unwrap_or(0);
    check.equal("acked_bytes", number("acked_bytes"), acked);
    // The simulator's last new ACK may be that of the FIN alone, and its times are finer.
    let interval_s = number("t_last_new_ack_s")
        .zip(number("t_first_data_s"))
        .map(|(last, first)| last - first);
    let found = flow.goodput_interval_ns();
    let found_s = found.and_then(|(ns, by_acks)| by_acks.then_some(ns as f64 / 1e9));
    if let Some(expected) = interval_s
        && found_s.is_none_or(|found| (expected - found).abs() > 2e-6)
    {
        check.faults.push(format!(
            "{}: interval {expected} s, found {found:?}",
            check.what
        ));
    }
    faults.append(&mut check.faults);
}

/// METRICS.md N1: bins at the ends of the span count what passed within it.
#[test]
fn bins_of_a_pair_add_up_to_the_pair() {
    let windows = [
        (0, 2_000_000_000),
        (123_456_789, 1_000_000_007),
        (50_000_000, 30_000_000),
    ];
    let windows = windows.map(|(offset_ns, length_ns)| {
        Some(FnessWindow {
            offset_ns,
            length_ns,
        })
    });
    for window in [None].into_iter().chain(windows) {
        let pairs = PairConfig { top: 64, window };
        let config = Config {
            pairs,
            ..Config::default()
        };
        let path = capture("two-flows-cubic-bbr.pcap.zst");
        let analysis = Analysis::of([path], &config);
        let capture = &analysis.captures[0];
        let flows: Vec<Flow<'_>> = capture.flows().collect();
        assert!(!capture.pairs.pairs.is_empty());
        for pair in &capture.pairs.pairs {
            let of_pair = [&flows[pair.a], &flows[pair.b]];
            let bins = Pairs::bins(of_pair, pair, capture);
            let bytes_a: u64 = bins.iter().map(|bin| bin.bytes_a).sum();
            let bytes_b: u64 = bins.iter().map(|bin| bin.bytes_b).sum();
            assert!(pair.exact && pair.bytes_a + pair.bytes_b > 0);
            assert_eq!(
                (bytes_a, bytes_b),
                (pair.bytes_a, pair.bytes_b),
                "{window:?}"
            );
        }
    }
}

/// METRICS.md R8: a queue that packets have left shows in no round trip, which charts of delays say.
#[test]
fn captures_from_behind_a_link_are_told_from_those_before_it() {
    let Some(lab) = shared("lab") else { return };
    for run in ["cubic-deep", "cubic-shallow", "reno-deep", "bbr-deep"] {
        let run = lab.join(format!("s1-single-50m-{run}"));
        for (place, is_behind) in [
            ("sender", false),
            ("ingress", false),
            ("egress", true),
            ("client", true),
        ] {
            let analysis = analyse(&run.join(place).with_extension("pcap.zst"));
            let flows: Vec<Flow<'_>> = analysis.captures[0].flows().collect();
            let bin_ns = Config::default().bin_ns;
            assert_eq!(
                is_behind_link(&flows, bin_ns),
                is_behind,
                "{place} of {}",
                run.display()
            );
            // The link has 50 Mbit/s.
            let side = LinkSide::of(&flows, bin_ns, &(30e6..=40e6));
            assert_ne!(side, LinkSide::Behind, "{place} of {}", run.display());
        }
    }
}

fn analyse(path: &Path) -> Analysis {
    let config = Config {
        pairs: PairConfig {
            top: 1,
            ..PairConfig::default()
        },
        ..Config::default()
    };
    let analysis = Analysis::of([path], &config);
    assert!(
        analysis.captures[0].errors.is_empty(),
        "{:?}",
        analysis.captures[0].errors
    );
    analysis
}

/// The `nth` flow, from 0, between two ends, in the order of the capture.
fn find<'a>(capture: &'a CaptureAnalysis, ends: &(String, String), nth: usize) -> Option<Flow<'a>> {
    let name = |end: ccanalyze::decode::Endpoint| format!("{} {}", end.ip(), end.port());
    capture
        .flows()
        .filter(|flow| {
            let (src, dst) = flow.ends();
            name(src) == ends.0 && name(dst) == ends.1
        })
        .nth(nth)
}

fn socket(ip: &str, port: &str) -> String {
    format!("{ip} {port}")
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn folders(around: &Path) -> Vec<std::path::PathBuf> {
    let mut folders: Vec<_> = fs::read_dir(around)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}

/// Comparisons of one flow, and those that failed.
struct Check {
    what: String,
    faults: Vec<String>,
}

impl Check {
    fn new(what: String) -> Self {
        Self {
            what,
            faults: Vec::new(),
        }
    }

    /// A count, where truth has one.
    fn equal(&mut self, name: &str, expected: Option<f64>, found: u64) {
        if let Some(expected) = expected
            && (expected - found as f64).abs() > 0.0
        {
            self.faults
                .push(format!("{}: {name} {expected}, found {found}", self.what));
        }
    }

    /// A rate, where truth has one: to a millionth, or to the 0.1 bit/s that truth is rounded to.
    fn near(&mut self, name: &str, expected: Option<f64>, found: Option<f64>) {
        if let Some(expected) = expected {
            let found = found.unwrap_or(f64::NAN);
            let close = (found - expected).abs() <= (expected * GOODPUT_TOLERANCE).max(0.1);
            if !close {
                self.faults
                    .push(format!("{}: {name} {expected}, found {found}", self.what));
            }
        }
    }
}

#[test]
fn a_download_whose_acks_lost_options_to_the_snap_length_says_so() {
    // Of 96 bytes an IPv6 ACK has 42 for TCP: too few for timestamps and two SACK blocks. tshark counts
    // 251 of them with a header longer than that, all of the client, which sends next to nothing.
    let analysis = analyse(&capture("ipv6-loss.pcap.zst"));
    let capture = &analysis.captures[0];
    assert_eq!(capture.quality().headers_cut, 251);
    let download = capture.flows().max_by_key(Flow::payload_bytes);
    let download = download.unwrap();
    assert_eq!(download.summary().incidents().headers_cut, 0);
    assert!(download.quality().contains(&Quality::HeadersCut));
}

/// Packets, IP bytes, retransmitted packets and overhead of what the server sends, each as it is on the wire.
fn on_the_wire(path: &Path) -> (u64, u64, u64, f64) {
    let analysis = analyse(path);
    let flow = analysis.captures[0].flows().max_by_key(Flow::payload_bytes);
    let flow = flow.unwrap();
    let (figures, incidents) = (flow.figures(), flow.summary().incidents().clone());
    (
        figures.wire_packets(&incidents),
        figures.wire_ip_bytes(&incidents),
        figures.wire_retransmitted_packets(&incidents),
        flow.wire_overhead().unwrap(),
    )
}

/// C7, O2: the emulator counted 3,466 packets of the server, of 5,191,824 bytes, 8 of them retransmissions, in 915 frames
/// before segmentation, of which 5 repeat something; 5,000,000 bytes of payload were acknowledged.
#[test]
fn frames_of_offload_count_as_the_packets_that_the_network_saw() {
    let path = capture("segmentation-offload.pcap.zst");
    let (packets, ip_bytes, repeated, overhead) = on_the_wire(&path);
    let analysis = analyse(&path);
    let flow = analysis.captures[0].flows().max_by_key(Flow::payload_bytes);
    // X3: the queue dropped eight packets.
    assert_eq!(flow.unwrap().summary().incidents().lost_downstream, 8);
    assert_eq!((packets, ip_bytes, repeated), (3466, 5_191_824, 8));
    assert!((overhead - 191_824.0 / 5e6).abs() < 1e-9, "{overhead}");
    // Without offload there is nothing to take apart.
    let path = capture("drop-one.pcap");
    let analysis = analyse(&path);
    let flow = analysis.captures[0].flows().max_by_key(Flow::payload_bytes);
    let plain = flow.unwrap();
    let (packets, ip_bytes, repeated, overhead) = on_the_wire(&path);
    let counts = plain.summary();
    assert_eq!((packets, ip_bytes), (counts.packets, counts.ip_bytes));
    assert_eq!(repeated, counts.incidents().retransmitted_packets);
    assert_eq!(Some(overhead), plain.overhead());
}

/// C7: of two points between which nothing is lost, one has frames of offload and the other has each packet.
#[test]
fn a_point_with_offload_tells_of_as_many_packets_as_one_without() {
    for (scenario, merged, plain) in [
        ("s8-tso", "sender", "ingress"),
        ("s8-gro-ingress", "ingress", "sender"),
        ("s8-gro-client", "client", "egress"),
    ] {
        let Some(folder) = shared("lab").map(|lab| lab.join(scenario)) else {
            return;
        };
        let of_point = |point: &str| on_the_wire(&folder.join(format!("{point}.pcap.zst")));
        let frames = analyse(&folder.join(format!("{merged}.pcap.zst")));
        assert!(
            frames.captures[0].quality().super_segments > 700,
            "{scenario}"
        );
        assert_eq!(of_point(merged), of_point(plain), "{scenario}");
    }
}
