//! The document: round-trip times.

use crate::Results;
use crate::inputs::POINTS;
use crate::markdown::{head, number, optional, peer, row};
use crate::report::Rows;
use crate::tally::Ns3Tally;

/// Section 6.
pub(crate) fn delays(text: &mut String, results: &Results, rows: &Rows, ns3: &[Ns3Tally; 4]) {
    text.push_str(
        "
## 6. Round-trip times

Against truth: ns-3's `rtt_clean` (data packet to the first ACK that points to its end, both seen at the point, nothing lower in between)
against our `rtt_exact` and tcptrace's RTT. Mean absolute errors over flows, in microseconds. The captures have steps of 1 us (or 1 ns), tcptrace prints steps of 100 us.
",
    );
    head(
        text,
        1,
        "ns-3 point | flows | samples: truth | ours | tcptrace | ours: min | mean | \
         max | tcptrace: min | mean | max",
    );
    let tcptrace = results.peers.tcptrace.as_ref();
    let cells_of = |means: Option<[f64; 3]>, installed: bool| -> Vec<String> {
        let cells = |index: usize| {
            if installed {
                optional(means.map(|means| means[index]), 1)
            } else {
                "not installed".into()
            }
        };
        (0..3).map(cells).collect()
    };
    for (point, tally) in POINTS.into_iter().zip(ns3) {
        let mut cells = vec![
            point.into(),
            number(tally.our_rtt.flows),
            number(tally.true_samples),
            number(tally.our_samples),
            peer(tcptrace, tally.tcptrace_samples),
        ];
        cells.extend(cells_of(tally.our_rtt.means(), true));
        cells.extend(cells_of(tally.tcptrace_rtt.means(), tcptrace.is_some()));
        row(text, &cells);
    }
    text.push_str(
        "
The lab has no such truth per flow. What follows is agreement only, no truth: our samples labelled `clean` against tcptrace's RTT, flows that have both.
tcptrace also counts handshake and FIN, samples that a hole below held back, and ACKs for more than two segments, so the largest differ.
",
    );
    head(
        text,
        1,
        "lab vantage | flows | mean difference of min (us) | mean | max | \
         flows within 100 us: min | mean | max",
    );
    for (_, vantage, tally) in rows.iter().filter(|row| row.0 == "all") {
        let mut cells = vec![(*vantage).to_owned(), peer(tcptrace, tally.agreement.flows)];
        cells.extend(cells_of(tally.agreement.means(), tcptrace.is_some()));
        let percent = tally
            .agreement
            .shares()
            .map(|shares| shares.map(|share| 100.0 * share));
        cells.extend(
            cells_of(percent, tcptrace.is_some())
                .into_iter()
                .map(|cell| {
                    if percent.is_some() {
                        format!("{cell} %")
                    } else {
                        cell
                    }
                }),
        );
        row(text, &cells);
    }
}
