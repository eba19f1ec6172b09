//! Generated captures: what the analysis says is what was generated, whatever the traffic, the
//! file format, the snap length and the number of threads.

use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::net::SocketAddr;

use ccanalyze::Analysis;
use ccanalyze::analyze::{CaptureAnalysis, CaptureInput, Config, Watch};
use traces::{Counts, Format, Profile, Synth, Truth};

#[path = "../../benches/support/synth/mod.rs"]
#[allow(
    dead_code,
    reason = "shared with benches and an example, which use other parts"
)]
pub(crate) mod traces;

fn analyze(synth: &Synth, threads: usize) -> (CaptureAnalysis, Truth) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    let truth = synth
        .write(BufWriter::new(&mut file))
        .expect("a full disk?");
    file.flush().expect("a full disk?");
    let config = Config {
        threads: Some(threads),
        ..Config::default()
    };
    let input = CaptureInput::file(file.path());
    let analysis = Analysis::run(vec![input], &config, &Watch::default());
    let capture = analysis.captures.into_iter().next().expect("one capture");
    assert!(capture.error().is_none(), "{:?}", capture.error());
    assert_eq!(capture.records, truth.records);
    (capture, truth)
}

/// What the analysis counted of each flow.
fn counted(capture: &CaptureAnalysis) -> HashMap<(SocketAddr, SocketAddr), Counts> {
    let mut flows = HashMap::new();
    for flow in capture.flows() {
        let (src, dst) = flow.ends();
        let ends = (SocketAddr::from(src), SocketAddr::from(dst));
        let summary = flow.summary();
        let counts = Counts {
            packets: summary.packets,
            data_packets: summary.data_packets,
            ip_bytes: summary.ip_bytes,
            payload_bytes: summary.payload_bytes,
            unique_bytes: flow.state().unique_bytes,
            acked_bytes: flow.state().acked_bytes.unwrap_or(0),
            retransmissions: summary.incidents().retransmitted_packets,
            reordered: summary.incidents().reordered_packets,
        };
        assert!(flows.insert(ends, counts).is_none(), "one flow became two");
    }
    flows
}

/// Compares each flow; prints those that differ.
fn check(synth: Synth) {
    for threads in [1, 2] {
        let (capture, truth) = analyze(&synth, threads);
        let mut found = counted(&capture);
        let mut differences = Vec::new();
        for flow in &truth.flows {
            let counts = found.remove(&(flow.src, flow.dst));
            if counts != Some(flow.counts) {
                differences.push(format!(
                    "{} > {}\n  true  {:?}\n  found {counts:?}",
                    flow.src, flow.dst, flow.counts
                ));
            }
        }
        assert!(
            differences.is_empty(),
            "{synth:?} on {threads} threads: {} of {} flows differ, the first:\n{}",
            differences.len(),
            truth.flows.len(),
            differences[..differences.len().min(5)].join("\n")
        );
        assert!(found.is_empty(), "flows that are not there: {found:?}");
    }
}

#[test]
fn elephants() {
    check(Synth::new(Profile::Bulk, 100_000).snapped());
    check(Synth::new(Profile::Bulk, 30_000));
}

#[test]
fn elephants_and_mice() {
    check(Synth::new(Profile::Mix, 300_000).snapped());
    check(Synth {
        format: Format::Pcapng,
        seed: 3,
        ..Synth::new(Profile::Mix, 100_000).snapped()
    });
    check(Synth {
        format: Format::Micros,
        seed: 4,
        ..Synth::new(Profile::Mix, 100_000).snapped()
    });
}

#[test]
fn many_flows_at_a_time() {
    check(Synth::new(Profile::Many(10_000), 100_000).snapped());
}

#[test]
fn one_flow_with_much_in_flight() {
    check(Synth::new(Profile::One, 200_000).snapped());
}

#[test]
fn a_storm_of_acks() {
    check(Synth::new(Profile::Acks, 100_000));
}

#[test]
fn what_networks_do_to_packets() {
    for seed in 1..4 {
        check(Synth {
            seed,
            ..Synth::new(Profile::Ugly, 100_000).snapped()
        });
        check(Synth {
            seed,
            format: Format::Pcapng,
            ..Synth::new(Profile::Ugly, 20_000)
        });
    }
}

#[test]
fn captures_within_payload() {
    check(Synth::new(Profile::PcapInPayload, 30_000));
    check(Synth {
        format: Format::Pcapng,
        ..Synth::new(Profile::PcapInPayload, 30_000)
    });
}
