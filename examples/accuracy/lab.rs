//! A lab capture against the truth about each frame.

use std::collections::BTreeMap;
use std::path::Path;

use ccanalyze::analyze::{CaptureAnalysis, Flow};
use ccanalyze::event::{Class, ClassifiedSegment, Evidence, Reason, RttLabel};

use crate::compare::{Outcome, WrongCount, WrongFrame, analyze, opinion};
use crate::inputs::{Capture, Ends, LabTruth, TrueFrame, true_frames};
use crate::peers::{Opinions, PeerFlow, Peers};
use crate::tally::{Counted, LabTally};

/// A direction of a connection in a lab capture: what is true and what we say.
#[derive(Default)]
struct LabDirection {
    first_frame: u64,
    retransmitted: u64,
    partly: u64,
    late: u64,
    our_retransmitted: u64,
    our_late: u64,
    our_lost: [u64; 2],
    /// What our loss upstream was counted by.
    note: &'static str,
    /// Smallest, sum and largest of our clean samples in ns, and their number.
    clean: Option<(i64, i64, i64, u64)>,
}

/// A lab capture: each frame with payload, and the counts of each flow direction.
pub(crate) fn compare(
    capture: &Capture<LabTruth>,
    peers: &Peers,
    scratch: &Path,
) -> Result<Outcome<LabTally>, String> {
    let analysis = analyze(&capture.path)?;
    let frames = true_frames(&capture.path)?;
    let opinions = Opinions::of(peers, &capture.path, analysis.records, scratch)?;
    let mut outcome = Outcome {
        tally: LabTally {
            captures: 1,
            frames: analysis.records,
            short_captures: u64::from(opinions.tshark.is_some()),
            ..LabTally::default()
        },
        wrong_frames: Vec::new(),
        wrong_counts: Vec::new(),
        wrong_delays: Vec::new(),
    };
    let mut directions: BTreeMap<(usize, bool), LabDirection> = BTreeMap::new();
    for (&number, frame) in frames.iter().filter(|(_, frame)| frame.len > 0) {
        outcome.tally.data_frames += 1;
        let direction = directions
            .entry((frame.flow, frame.down))
            .or_insert_with(|| LabDirection {
                first_frame: number,
                ..LabDirection::default()
            });
        direction.retransmitted += u64::from(frame.kind == b'r' && !frame.copy);
        direction.partly += u64::from(frame.kind == b'p');
        direction.late += u64::from(is_late(frame));
    }
    outcome.tally.unjoined = outcome.tally.data_frames;
    for flow in analysis.flows() {
        judge_flow(&analysis, &flow, &frames, &mut directions, &mut outcome);
    }
    count(capture, &directions, &opinions, &mut outcome);
    Ok(outcome)
}

/// A first transmission that came after something sent later.
fn is_late(frame: &TrueFrame) -> bool {
    frame.late && frame.kind == b'n' && !frame.copy
}

/// Each data segment of one of our flows against the truth about its frame.
fn judge_flow(
    analysis: &CaptureAnalysis,
    flow: &Flow<'_>,
    frames: &BTreeMap<u64, TrueFrame>,
    directions: &mut BTreeMap<(usize, bool), LabDirection>,
    outcome: &mut Outcome<LabTally>,
) {
    let mut place = None;
    let mut clean = None;
    for segment in flow.record.segments() {
        let number = analysis.frames.frame(segment.ordinal).map_or(0, |at| at.1);
        let Some(frame) = frames.get(&number).filter(|frame| frame.len > 0) else {
            outcome.tally.unjoined += 1;
            continue;
        };
        outcome.tally.unjoined -= 1;
        place.get_or_insert((frame.flow, frame.down));
        judge(number, frame, &segment, flow, outcome);
        if let Some((ns, RttLabel::Clean)) = segment.rtt {
            let (min, sum, max, n) = clean.unwrap_or((ns, 0, ns, 0));
            clean = Some((ns.min(min), sum + ns, ns.max(max), n + 1));
        }
    }
    if let Some(direction) = place.and_then(|place| directions.get_mut(&place)) {
        let summary = flow.summary();
        direction.our_retransmitted += summary.incidents().retransmitted_packets;
        direction.our_late += summary.incidents().reordered_packets;
        direction.our_lost[0] += flow.lost_upstream();
        direction.note = if flow.ends().0.ip().is_ipv6() {
            "IPv6, so no IP ids: repaired holes alone"
        } else if flow.lost_upstream() > summary.data_packets {
            "more skipped IP ids than data packets: lost ACKs, or a jump of the ids"
        } else if flow.lost_upstream() > summary.incidents().lost_upstream {
            "skipped IP ids"
        } else {
            "repaired holes"
        };
        direction.our_lost[1] += summary.incidents().lost_downstream;
        direction.clean = clean;
    }
}

fn judge(
    number: u64,
    frame: &TrueFrame,
    segment: &ClassifiedSegment,
    flow: &Flow<'_>,
    outcome: &mut Outcome<LabTally>,
) {
    let (tally, class) = (&mut outcome.tally, segment.verdict.class);
    let repeat = frame.kind == b'r' && !frame.copy;
    let is = [repeat, is_late(frame), frame.copy, repeat && frame.spurious];
    tally.ambiguous += u64::from(class == Class::Ambiguous);
    tally.anomalies += u64::from(is[0] || is[1] || is[2]);
    if frame.kind == b'p' {
        tally.partly += 1;
        return;
    }
    let said = [
        class == Class::Retransmission,
        class == Class::Reordered,
        class == Class::Duplicate,
        segment.verdict.reason == Some(Reason::Unneeded),
    ];
    let scores = [
        &mut tally.retransmitted,
        &mut tally.late,
        &mut tally.duplicate,
        &mut tally.spurious,
    ];
    for (kind, score) in scores.into_iter().enumerate() {
        // What is a copy made by the network is judged as such alone.
        if (kind == 0 || kind == 1) && frame.copy {
            continue;
        }
        if !score.take(is[kind], said[kind]) {
            outcome.wrong_frames.push(WrongFrame {
                what: WHAT[kind][usize::from(said[kind])],
                cause: cause(kind, said[kind], segment, flow),
                frame: number,
            });
        }
    }
}

/// Errors by kind: missed, false.
const WHAT: [[&str; 2]; 4] = [
    ["retransmission missed", "retransmission false"],
    ["late original missed", "late original false"],
    ["duplicate missed", "duplicate false"],
    ["spurious missed", "spurious false"],
];

/// Why an error was made, as far as it is evident.
fn cause(kind: usize, said: bool, segment: &ClassifiedSegment, flow: &Flow<'_>) -> &'static str {
    let verdict = segment.verdict;
    let handshake = flow.connection().handshake();
    let without_sack = handshake.agreed(|opening| opening.options.sack_permitted) == Some(false);
    let without_timestamps =
        handshake.agreed(|opening| opening.timestamps.is_some()) == Some(false);
    match (kind, said, verdict.class) {
        (0, false, Class::New) if flow.ends().0.ip().is_ipv6() => {
            "IPv6, so no IP ids: the first copy and all that was sent after it were lost before this point, the repeat extends the highest byte like new data"
        }
        (0, false, Class::New) => {
            "the first copy and all that was sent after it were lost before this point: the repeat extends the highest byte like new data, and the skipped IP ids did not tell"
        }
        (0, false, Class::Reordered) => "taken for a late original",
        (0, false, Class::Ambiguous) => "left ambiguous",
        (0, true, _) if verdict.evidence == Evidence::IpId => {
            "new data after skipped IP ids, taken for the repeat of what those carried: the order in which the sender worked was played through wrongly"
        }
        (0, true, _) => "fills a hole or repeats bytes, taken for a second emission",
        (3, false, _) if without_sack && without_timestamps => {
            "neither SACK nor timestamps: no DSACK and no echo can tell that it was not needed"
        }
        (3, false, _) if without_sack => "no SACK, and the timestamp echo did not tell",
        (3, false, _) if without_timestamps => "no timestamps, and no DSACK was seen",
        (3, false, _) => {
            "no DSACK and no older echo speaks of it; where the original came late, its timestamp was older than the left edge's, so the receiver threw it away (PAWS, RFC 7323 section 5), and the repeat was needed after all, which the log does not know"
        }
        (3, true, _) if verdict.evidence == Evidence::Timing => {
            "the ACK came in less than half the time that any had taken, so it was taken for the answer to an earlier copy"
        }
        (3, true, _) => "a later DSACK or timestamp echo was taken to speak of it",
        (_, false, _) => "not recognised",
        (_, true, _) => "recognised wrongly",
    }
}

/// The counts of each flow direction: ours and the peers'.
fn count(
    capture: &Capture<LabTruth>,
    directions: &BTreeMap<(usize, bool), LabDirection>,
    opinions: &Opinions,
    outcome: &mut Outcome<LabTally>,
) {
    let mut ranks: BTreeMap<Ends, usize> = BTreeMap::new();
    let mut order: Vec<_> = directions.iter().collect();
    order.sort_by_key(|(_, direction)| direction.first_frame);
    for (&(index, down), direction) in order {
        let Some(flow) = capture.truth.flows.iter().find(|flow| flow.flow == index) else {
            continue;
        };
        let tally = &mut outcome.tally;
        let ends = flow.ends(down);
        let rank = ranks.entry(ends).or_default();
        let tcptrace = opinion(opinions.tcptrace.as_ref(), &ends, *rank);
        let tshark = opinion(opinions.tshark.as_ref(), &ends, *rank);
        *rank += 1;
        tally.flows += 1;
        tally.unreported_by_tcptrace += u64::from(tcptrace.as_ref().is_some_and(|peer| !peer.1));
        tally.unreported_by_tshark += u64::from(tshark.as_ref().is_some_and(|peer| !peer.1));
        let counted = |ours: u64, of: fn(&PeerFlow) -> u64| Counted {
            ours,
            tcptrace: tcptrace.as_ref().map(|(flow, _)| of(flow)),
            tshark: tshark.as_ref().map(|(flow, _)| of(flow)),
        };
        tally.retransmission_counts.take(
            direction.retransmitted,
            direction.retransmitted + direction.partly,
            &counted(direction.our_retransmitted, |flow| flow.retransmissions),
        );
        tally.late_counts.take(
            direction.late,
            direction.late,
            &counted(direction.our_late, |flow| flow.out_of_order),
        );
        if let (Some((min, sum, max, n)), Some((peer, _))) = (direction.clean, &tcptrace)
            && let Some(rtt_micros) = peer.rtt_micros
        {
            let ours = [min as f64, sum as f64 / n as f64, max as f64].map(|ns| ns / 1e3);
            tally.agreement.take(ours, rtt_micros);
        }
        // What the path dropped, by whether it had passed here.
        let (word, places) = if down {
            ("down", ["wan", "bn", "acc"])
        } else {
            ("up", ["acc", "bn", "wan"])
        };
        let before = &places[..if down {
            capture.point
        } else {
            3 - capture.point
        }];
        let mut lost = [0, 0];
        for (event, happened) in &flow.network_events {
            let mut words = event.splitn(3, '.');
            let here = words.next() == Some(word);
            let place = words.next().unwrap_or_default();
            if here && words.next().is_some_and(|cause| cause.contains("drop")) {
                lost[usize::from(!before.contains(&place))] += happened.data_packets;
            }
        }
        tally.lost_upstream.take(lost[0], direction.our_lost[0]);
        tally.lost_downstream.take(lost[1], direction.our_lost[1]);
        for (place, what) in ["lost upstream", "lost downstream"].into_iter().enumerate() {
            if lost[place] != direction.our_lost[place] {
                outcome.wrong_counts.push(WrongCount {
                    what,
                    flow: format!("{index} {word}"),
                    truth: lost[place],
                    ours: direction.our_lost[place],
                    note: [direction.note, "repeats taken for needed or not"][place].to_owned(),
                });
            }
        }
    }
}
