//! The document: what is still wrong, one by one.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::Results;
use crate::compare::WrongCount;
use crate::inputs::VANTAGES;
use crate::markdown::{head, number, row};

/// So many flows are listed one by one.
const LISTED: usize = 20;

/// Wrong frames of one kind and cause.
#[derive(Default)]
struct Cluster<'a> {
    points: [u64; 4],
    scenarios: BTreeMap<&'a str, u64>,
    example: Option<(&'a str, u64)>,
}

/// Section 7.
pub(crate) fn sections(results: &Results) -> String {
    let mut text = String::from("\n## 7. What is still wrong\n\n### Frames of the lab\n");
    frames(&mut text, results);
    let mut lab = Vec::new();
    for (capture, outcome) in &results.lab {
        lab.extend(named(&capture.name, &outcome.wrong_counts));
    }
    let (mut simulated, mut delays) = (Vec::new(), Vec::new());
    for (capture, outcome) in &results.ns3 {
        simulated.extend(named(&capture.name, &outcome.wrong_counts));
        delays.extend(named(&capture.name, &outcome.wrong_delays));
    }
    text.push_str("\n### Losses of the lab\n");
    counts(&mut text, lab, "counted by");
    text.push_str("\n### Counts of ns-3\n");
    counts(&mut text, simulated, "true retransmissions that");
    text.push_str(
        "\nThe simulation counts the network's copy of a retransmission as a retransmission, we count it as a duplicate: that is the difference in `c09`.\n",
    );
    text.push_str(
        "\n### Mean round-trip times of ns-3\n\nFlows whose mean (ours: `rtt_exact`) is more than 100 us from the mean of the simulation's `rtt_clean`, which leaves out packets during whose wait\nanything lower passed. Beside it the simulation's `rtt_exact`, which keeps them. Ours (METRICS.md R3) is neither: it leaves out waits for a hole and packets sent\ntwice, but keeps packets during whose wait an unneeded repeat of lower bytes passed: the ACK did not wait for that one. In the captures looked at (`c06`, `c08`) those are\nthe samples that differ.\n",
    );
    counts(
        &mut text,
        delays,
        "our samples | `rtt_clean` samples | `rtt_exact` samples | `rtt_exact` mean",
    );
    text.push_str(UNDECIDABLE);
    text
}

/// The counts with the name of their capture.
fn named<'a>(
    name: &'a str,
    wrong: &'a [WrongCount],
) -> impl Iterator<Item = (&'a str, &'a WrongCount)> {
    wrong.iter().map(move |wrong| (name, wrong))
}

fn frames(text: &mut String, results: &Results) {
    let mut clusters: BTreeMap<(&str, &str), Cluster<'_>> = BTreeMap::new();
    for (capture, outcome) in &results.lab {
        for wrong in &outcome.wrong_frames {
            let cluster = clusters.entry((wrong.what, wrong.cause)).or_default();
            cluster.points[capture.point] += 1;
            let scenario = capture.name.split('/').nth(1).unwrap_or_default();
            *cluster.scenarios.entry(scenario).or_default() += 1;
            cluster.example.get_or_insert((&capture.name, wrong.frame));
        }
    }
    if clusters.is_empty() {
        text.push_str("\nNone.\n");
        return;
    }
    let columns = format!(
        "error | cause | scenarios (frames) | example | {}",
        VANTAGES.join(" | ")
    );
    head(text, 4, &columns);
    for ((what, cause), cluster) in clusters {
        let mut cells = vec![what.to_owned(), cause.to_owned()];
        let scenarios: Vec<String> = cluster
            .scenarios
            .iter()
            .map(|(scenario, frames)| format!("{scenario} ({frames})"))
            .collect();
        cells.push(scenarios.join(", "));
        cells.push(cluster.example.map_or_else(String::new, |(name, frame)| {
            format!("`../shared/{name}.pcap.zst` frame {frame}")
        }));
        cells.extend(cluster.points.map(number));
        row(text, &cells);
    }
}

fn counts(text: &mut String, mut wrong: Vec<(&str, &WrongCount)>, note: &str) {
    if wrong.is_empty() {
        text.push_str("\nNone.\n");
        return;
    }
    wrong.sort_by_key(|(name, wrong)| (std::cmp::Reverse(wrong.truth.abs_diff(wrong.ours)), *name));
    head(
        text,
        4,
        &format!("capture | what | flow | {note} | truth | ours | difference"),
    );
    for (name, wrong) in wrong.iter().take(LISTED) {
        row(
            text,
            &[
                format!("`{name}`"),
                wrong.what.into(),
                wrong.flow.clone(),
                wrong.note.clone(),
                number(wrong.truth),
                number(wrong.ours),
                format!("{:+}", wrong.ours.cast_signed() - wrong.truth.cast_signed()),
            ],
        );
    }
    if let Some(rest) = wrong.get(LISTED..).filter(|rest| !rest.is_empty()) {
        let sum: u64 = rest
            .iter()
            .map(|(_, wrong)| wrong.truth.abs_diff(wrong.ours))
            .sum();
        let _ = writeln!(
            text,
            "\nand {} more, differing by {} in all.",
            rest.len(),
            number(sum)
        );
    }
}

const UNDECIDABLE: &str = "
### What the packets do not decide

* A retransmission whose first copy was lost before the vantage point together with everything sent after it extends the highest byte, as new data does.
  Only IP ids that count up by one tell that packets are missing; IPv6 has none, and hosts that randomise them or set 0 give none. Even with ids, which bytes
  the missing packets carried is an inference from the order in which senders work.
* Whether a retransmission was needed shows in a DSACK or an echoed older timestamp. Without SACK and timestamps nothing comes back that tells, least at the sender,
  where the ACK that would have made it unneeded had not yet arrived. An ACK with the DSACK can itself be lost.
* A loss behind the vantage point shows only in the repair: the retransmission that passes. A packet lost and never repeated before the capture ends, and
  a spurious retransmission that nothing gives away, make the count of losses wrong by one each.
* What a sender did before the capture began, and packets that the capture itself dropped, are no losses and no retransmissions of the path; they look alike.
* In captures with offload a frame is several packets. How many follows from its length, and so `wire_*` and losses count packets (METRICS.md C7, O2); classes, reasons and copies are those of frames.
";
