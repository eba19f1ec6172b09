//! An ns-3 capture against the counts and delays of the simulation.

use std::path::Path;

use crate::compare::{Outcome, WrongCount, analyze, ends_of, opinion};
use crate::inputs::{Capture, Ns3Truth, POINTS};
use crate::markdown::number;
use crate::peers::{Opinions, PeerFlow, Peers};
use crate::tally::{Counted, Ns3Tally};

/// Mean delays further from the truth are listed one by one, in microseconds.
const RTT_LISTED_US: f64 = 100.0;

/// An ns-3 capture: counts and delays of each flow.
pub(crate) fn compare(
    capture: &Capture<Ns3Truth>,
    peers: &Peers,
    scratch: &Path,
) -> Result<Outcome<Ns3Tally>, String> {
    let analysis = analyze(&capture.path)?;
    let opinions = Opinions::of(peers, &capture.path, analysis.records, scratch)?;
    let mut tally = Ns3Tally {
        captures: 1,
        frames: analysis.records,
        short_captures: u64::from(opinions.tshark.is_some()),
        ..Ns3Tally::default()
    };
    let (mut wrong_counts, mut wrong_delays) = (Vec::new(), Vec::new());
    for truth in &capture.truth.flows {
        let Some(point) = truth.points.get(POINTS[capture.point]).filter(|point| {
            point.data_packets > 0 && capture.only_flow.is_none_or(|only| only == truth.flow)
        }) else {
            continue;
        };
        let ends = truth.ends();
        let flow_number = truth.flow.to_string();
        let ours = analysis.flows().find(|flow| ends_of(flow) == ends);
        let summary = ours.map(|flow| flow.summary().clone()).unwrap_or_default();
        let seen = summary.incidents();
        let tcptrace = opinion(opinions.tcptrace.as_ref(), &ends, 0);
        let tshark = opinion(opinions.tshark.as_ref(), &ends, 0);
        let counted = |ours: u64, of: fn(&PeerFlow) -> u64| Counted {
            ours,
            tcptrace: tcptrace.as_ref().map(|(flow, _)| of(flow)),
            tshark: tshark.as_ref().map(|(flow, _)| of(flow)),
        };
        tally.flows += 1;
        let repeats = point.fill_rexmt + point.dup_rexmt + point.in_order_rexmt;
        let counts = counted(seen.retransmitted_packets, |flow| flow.retransmissions);
        tally.retransmissions.take(repeats, repeats, &counts);
        let late = point.fill_original;
        let counts = counted(seen.reordered_packets, |flow| flow.out_of_order);
        tally.late.take(late, late, &counts);
        tally
            .duplicates
            .take(point.dup_network, seen.duplicate_packets);
        for (what, truth_count, our_count) in [
            ("retransmissions", repeats, seen.retransmitted_packets),
            ("late originals", late, seen.reordered_packets),
            ("duplicates", point.dup_network, seen.duplicate_packets),
        ] {
            if truth_count != our_count {
                wrong_counts.push(WrongCount {
                    what,
                    flow: flow_number.clone(),
                    truth: truth_count,
                    ours: our_count,
                    note: format!("{} extend the highest byte", point.in_order_rexmt),
                });
            }
        }
        let rtt = &summary.rtt_exact;
        let peer = tcptrace.map(|(flow, _)| flow).unwrap_or_default();
        tally.true_samples += point.rtt_clean.n;
        tally.our_samples += rtt.samples();
        tally.tcptrace_samples += peer.rtt_samples;
        if let Some(truth) = point.rtt_clean.micros() {
            if let (Some(min), Some(mean), Some(max)) = (rtt.ns_min(), rtt.ns_mean(), rtt.ns_max())
            {
                let ours = [min as f64, mean, max as f64].map(|ns| ns / 1e3);
                tally.our_rtt.take(ours, truth);
                if (mean / 1e3 - truth[1]).abs() > RTT_LISTED_US {
                    wrong_delays.push(WrongCount {
                        what: "mean RTT (us)",
                        flow: flow_number.clone(),
                        truth: truth[1].round() as u64,
                        ours: (mean / 1e3).round() as u64,
                        note: format!(
                            "{} | {} | {} | {:.0}",
                            number(rtt.samples()),
                            number(point.rtt_clean.n),
                            number(point.rtt_exact.n),
                            point.rtt_exact.micros().map_or(0.0, |micros| micros[1])
                        ),
                    });
                }
            }
            if let Some(rtt_micros) = peer.rtt_micros {
                tally.tcptrace_rtt.take(rtt_micros, truth);
            }
        }
    }
    Ok(Outcome {
        tally,
        wrong_frames: Vec::new(),
        wrong_counts,
        wrong_delays,
    })
}
