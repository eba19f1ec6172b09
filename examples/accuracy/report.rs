//! The document: what was compared, and the tables.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::inputs::{POINTS, VANTAGES};
use crate::markdown::{head, number, optional, peer, row};
use crate::peers::TSHARK_FRAMES;
use crate::tally::{CountErrors, LabTally, Ns3Tally, Score, Sums};
use crate::{Results, delays};

/// Groups of lab scenarios, and what they are.
const GROUPS: [(&str, &str); 9] = [
    ("s1", "one download"),
    ("s2", "six downloads at once"),
    ("s3", "two competing downloads"),
    ("s4", "short against long download"),
    ("s5", "random loss, delays 1 to 100 ms"),
    (
        "s6",
        "reordering, loss, duplication without SACK, without timestamps",
    ),
    (
        "s7",
        "single events: one drop, one late packet, timeouts, IPv6, uploads",
    ),
    ("s8", "segmentation and receive offload"),
    ("s9", "full packets"),
];

/// Sums by group (`all` last) and vantage point, in the order of the tables.
pub(crate) type Rows = Vec<(&'static str, &'static str, LabTally)>;

fn rows(results: &Results) -> Rows {
    let mut sums: BTreeMap<(usize, usize), LabTally> = BTreeMap::new();
    for (capture, outcome) in &results.lab {
        let group = GROUPS
            .iter()
            .position(|(group, _)| capture.name.starts_with(&format!("lab/{group}-")));
        for group in [group, Some(GROUPS.len())].into_iter().flatten() {
            *sums.entry((group, capture.point)).or_default() += outcome.tally;
        }
    }
    sums.into_iter()
        .map(|((group, point), tally)| {
            let group = GROUPS.get(group).map_or("all", |&(group, _)| group);
            (group, VANTAGES[point], tally)
        })
        .collect()
}

/// Sections 1 to 6.
pub(crate) fn tables(results: &Results) -> String {
    let rows = rows(results);
    let mut ns3 = [Ns3Tally::default(); 4];
    for (capture, outcome) in &results.ns3 {
        ns3[capture.point] += outcome.tally;
    }
    let mut text = String::new();
    about(&mut text, results, &rows, &ns3);
    retransmissions(&mut text, results, &rows, &ns3);
    reordering(&mut text, results, &rows, &ns3);
    others(&mut text, &rows, &ns3);
    losses(&mut text, &rows);
    delays::delays(&mut text, results, &rows, &ns3);
    text
}

fn about(text: &mut String, results: &Results, rows: &Rows, ns3: &[Ns3Tally; 4]) {
    let mut lab = LabTally::default();
    for (_, _, tally) in rows.iter().filter(|(group, _, _)| *group == "all") {
        lab += *tally;
    }
    let mut simulated = Ns3Tally::default();
    for tally in ns3 {
        simulated += *tally;
    }
    let version =
        |version: Option<&String>| version.map_or("not installed".into(), |v| format!("`{v}`"));
    let _ = write!(
        text,
        "# Accuracy

Generated; do not edit. Written by

```sh
cargo run --release --no-default-features --example accuracy -- ../shared > docs/ACCURACY.md
```

## 1. What is compared with what

| | |
| --- | --- |
| ccanalyze | {}, default configuration with rows for segments |
| tcptrace | {}, `tcptrace -n -l -r` on the capture as plain pcap with microseconds |
| tshark | {}, `tcp.analysis.*`; only captures of at most {} frames (it is slow): {} of the lab's, {} of ns-3's |
| lab | {} captures, {} frames, {} with payload: real Linux TCP over an emulated path whose log says for each frame whether it is a first transmission, a retransmission, late, a copy (`../shared/lab/README.md`) |
| ns-3 | {} captures, {} frames: simulated TCP, counts and delays per flow taken inside the simulation (`../shared/ns3/README.md`) |
",
        env!("CARGO_PKG_VERSION"),
        version(results.peers.tcptrace.as_ref()),
        version(results.peers.tshark.as_ref()),
        number(TSHARK_FRAMES),
        lab.short_captures,
        simulated.short_captures,
        lab.captures,
        number(lab.frames),
        number(lab.data_frames),
        simulated.captures,
        number(simulated.frames),
    );
    let _ = write!(
        text,
        "
Our rows and the log are joined on the frame number; {} frames with payload are in one of them alone. The truth is what the
sender did, also where the capture cannot show it: at the egress and the client the first copy of a lost packet never passed.
Vantage points: sender, ingress (before the bottleneck queue), egress (after it), client. A flow is one direction of a connection
that carries payload. Errors of counts are sums of absolute differences over flows, so errors in opposite directions do not cancel.
tcptrace lists nothing for {} of {} flows, tshark for {}; that counts as zero found.
",
        lab.unjoined, lab.unreported_by_tcptrace, number(lab.flows), lab.unreported_by_tshark,
    );
    head(text, 2, "group | scenarios");
    for (group, what) in GROUPS {
        row(text, &[group.into(), what.into()]);
    }
}

/// Cells of errors of counts: truth and errors everywhere, then of the short captures, if any.
fn count_cells(results: &Results, counts: &CountErrors, short_captures: u64) -> Vec<String> {
    let peers = &results.peers;
    let (tcptrace, tshark) = (peers.tcptrace.as_ref(), peers.tshark.as_ref());
    let mut cells = vec![
        number(counts.truth),
        number(counts.ours),
        peer(tcptrace, counts.tcptrace),
    ];
    if tshark.is_some() && short_captures == 0 {
        cells.extend(std::iter::repeat_n("-".to_owned(), 4));
    } else {
        cells.extend([
            peer(tshark, counts.short_truth),
            peer(tshark, counts.short_ours),
            peer(tcptrace.and(tshark), counts.short_tcptrace),
            peer(tshark, counts.tshark),
        ]);
    }
    cells
}

fn score_cells(score: &Score) -> Vec<String> {
    vec![
        number(score.truth()),
        number(score.found),
        number(score.wrong),
        optional(score.f1(), 4),
    ]
}

fn place_cells(group: &str, vantage: &str) -> Vec<String> {
    vec![group.into(), vantage.into()]
}

/// Columns after group and vantage point: frames found, then errors of counts.
fn compared_head(text: &mut String) {
    head(
        text,
        2,
        "group | vantage | true frames | ours found | ours false | ours F1 | \
         flow counts: truth | error ours | error tcptrace | truth (short) | \
         error ours (short) | error tcptrace (short) | error tshark (short)",
    );
}

fn ns3_head(text: &mut String) {
    head(
        text,
        1,
        "ns-3 point | flows | flow counts: truth | error ours | error tcptrace | \
         truth (short) | error ours (short) | error tcptrace (short) | \
         error tshark (short)",
    );
}

fn retransmissions(text: &mut String, results: &Results, rows: &Rows, ns3: &[Ns3Tally; 4]) {
    let partly: u64 = rows
        .iter()
        .filter(|row| row.0 == "all")
        .map(|row| row.2.partly)
        .sum();
    let _ = write!(
        text,
        "
## 2. Retransmissions

True frames: kind `r`, a sender's second emission of the bytes. Left out: the network's own copies, and frames
merged from first transmissions and retransmissions (kind `p`, {partly} with payload in these captures; in the flow counts they may count or not).
tcptrace: \"rexmt data pkts\". tshark: retransmission, fast or spurious retransmission. *Short*: the captures of at most {} frames that tshark was run on.
",
        number(TSHARK_FRAMES)
    );
    compared_head(text);
    for (group, vantage, tally) in rows {
        let mut cells = place_cells(group, vantage);
        cells.extend(score_cells(&tally.retransmitted));
        cells.extend(count_cells(
            results,
            &tally.retransmission_counts,
            tally.short_captures,
        ));
        row(text, &cells);
    }
    ns3_head(text);
    for (point, tally) in POINTS.into_iter().zip(ns3) {
        let mut cells = place_cells(point, &number(tally.flows));
        cells.extend(count_cells(
            results,
            &tally.retransmissions,
            tally.short_captures,
        ));
        row(text, &cells);
    }
}

fn reordering(text: &mut String, results: &Results, rows: &Rows, ns3: &[Ns3Tally; 4]) {
    text.push_str(
        "
## 3. Reordering

True frames: first transmissions that arrived after something sent later. Ours: class `reordered`. tcptrace: \"outoforder pkts\",
tshark: `tcp.analysis.out_of_order`. Most of the peers' errors are retransmissions: tcptrace calls those that fill a hole out of order, tshark those that
come within an initial round trip of the highest byte, so each such frame is an error here and in section 2. Groups where nobody counts any are left out.
",
    );
    compared_head(text);
    for (group, vantage, tally) in rows {
        let quiet = tally.late.truth() + tally.late.wrong == 0
            && tally.late_counts.tcptrace + tally.late_counts.tshark == 0;
        if quiet {
            continue;
        }
        let mut cells = place_cells(group, vantage);
        cells.extend(score_cells(&tally.late));
        cells.extend(count_cells(
            results,
            &tally.late_counts,
            tally.short_captures,
        ));
        row(text, &cells);
    }
    ns3_head(text);
    for (point, tally) in POINTS.into_iter().zip(ns3) {
        let mut cells = place_cells(point, &number(tally.flows));
        cells.extend(count_cells(results, &tally.late, tally.short_captures));
        row(text, &cells);
    }
}

fn others(text: &mut String, rows: &Rows, ns3: &[Ns3Tally; 4]) {
    text.push_str(
        "
## 4. Duplicates, spurious retransmissions, ambiguous

Duplicates: copies made by the network. Spurious: retransmissions whose bytes all reached the receiver by earlier transmissions, against reason
`unneeded`. Ambiguous: our segments of that class, as a share of true anomalies (retransmissions, late originals, copies). Groups with neither
copies nor spurious retransmissions nor ambiguous segments are left out.
",
    );
    head(
        text,
        2,
        "group | vantage | copies | found | false | F1 | spurious | found | false | F1 | \
         ambiguous | anomalies | share",
    );
    for (group, vantage, tally) in rows {
        let [copies, spurious] = [tally.duplicate, tally.spurious];
        if *group != "all"
            && copies.f1().is_none()
            && spurious.f1().is_none()
            && tally.ambiguous == 0
        {
            continue;
        }
        let mut cells = place_cells(group, vantage);
        cells.extend(score_cells(&copies));
        cells.extend(score_cells(&spurious));
        let share =
            (tally.anomalies > 0).then(|| 100.0 * tally.ambiguous as f64 / tally.anomalies as f64);
        cells.extend([
            number(tally.ambiguous),
            number(tally.anomalies),
            share.map_or_else(|| "-".into(), |share| format!("{share:.2} %")),
        ]);
        row(text, &cells);
    }
    head(
        text,
        1,
        "ns-3 point | copies: truth | ours | error | flows that differ",
    );
    for (point, tally) in POINTS.into_iter().zip(ns3) {
        let mut cells = vec![point.into()];
        cells.extend(sum_cells(&tally.duplicates));
        row(text, &cells);
    }
}

fn sum_cells(sums: &Sums) -> Vec<String> {
    [sums.truth, sums.ours, sums.error, sums.flows_that_differ]
        .map(number)
        .to_vec()
}

fn losses(text: &mut String, rows: &Rows) {
    text.push_str(
        "
## 5. Losses up- and downstream of the vantage point

Truth: data packets that the path dropped before (upstream) and behind (downstream) the vantage point, whatever the cause. Ours: `lost_upstream`,
`lost_downstream`. Large errors upstream come from few flows, see section 7. Neither tcptrace nor tshark has such a count.
",
    );
    head(
        text,
        2,
        "group | vantage | upstream: truth | ours | error | flows that differ | \
         downstream: truth | ours | error | flows that differ",
    );
    for (group, vantage, tally) in rows {
        let mut cells = place_cells(group, vantage);
        cells.extend(sum_cells(&tally.lost_upstream));
        cells.extend(sum_cells(&tally.lost_downstream));
        row(text, &cells);
    }
}
