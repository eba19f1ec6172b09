//! Chance decides what becomes of the packets, a sender that keeps to the RFCs repeats what is lost, and every
//! judgement that the packets decide must be the truth.
//!
//! IP ids count up by one, SACK and timestamps are on. What is asserted, and why it must hold:
//!
//! - A packet seen twice is a `duplicate` the second time: it carries the id of the first.
//! - A first emission that extends the highest byte seen is `new`, one below it is `reordered`: its id is lower than
//!   that of whatever was seen above it, or of the repeat that overtook it.
//! - A repeat below the highest byte seen is a `retransmission`: its bytes passed, or its id is above that of the
//!   packet that opened the hole. Not asserted where a repeat of bytes that never passed was itself overtaken:
//!   then ids show a late packet, and not which emission it was.
//! - What extends the highest byte seen after packets were lost before it may be a first emission or
//!   a repeat; the ids that are missing do not say what they carried. There, only the share of wrong
//!   answers is bounded.
//! - With losses alone, each emission that is missing at the vantage point has an id that was skipped
//!   (`lost_upstream`), and each that is missing at the receiver is repeated here or upstream.
//! - With delays alone, a repeat is always unneeded, and a DSACK says so, since no ACK is lost.

use std::collections::HashSet;

use ccanalyze::event::{Class, RttLabel};

use super::suite::play::{Kind, Played, play};
use super::suite::script::{Host, Script, VANTAGES};
use super::suite::sender::{Dice, Odds, Plan};
use super::suite::truth::{FIELDS, truth};
use super::suite::wire::pcap;
use super::{analyze, ours};

/// Paths that each test plays.
const PATHS: u64 = 40;

fn script(plan: Plan) -> Script {
    let mut script = Script::new("random");
    // The middle is anywhere between the hosts.
    let near = 1 + (plan.seed % 10) as i64 * 2;
    script.delay_ns = [
        [near * 1_000_000, (20 - near) * 1_000_000],
        [(20 - near) * 1_000_000, near * 1_000_000],
    ];
    // Sequence numbers wrap within half of the flows, ids in some.
    script.isn = [u32::MAX - 300_000 * (plan.seed % 2) as u32, 77];
    script.plan = Some(plan);
    let syn = super::suite::parse::script("syn", "# .\n0ms A syn").expect("a well-formed trace");
    script.steps = syn.steps;
    script
}

fn plan(seed: u64) -> Plan {
    Plan {
        seed,
        segments: 300,
        window: 10 + (seed % 7) as usize * 10,
        late_ns: 12_000_000,
        ..Plan::default()
    }
}

/// What a packet must be taken for, by the order of emissions and what passed before; `None` where
/// that is not decided by the packets.
fn expected(played: &Played, vantage: usize) -> Vec<(usize, Option<Class>, bool)> {
    let mut known = HashSet::new();
    let mut passed = super::suite::host::Ranges::default();
    let (mut high, mut newest) = (0, 0);
    let mut expected = Vec::new();
    for (record, seen) in played.seen[vantage].iter().enumerate() {
        let packet = &played.packets[seen.packet];
        if packet.host != Host::A || packet.kind != Kind::Data {
            continue;
        }
        let (start, end) = (packet.start, packet.start + i64::from(packet.len));
        let overtaken = seen.packet < newest;
        let (class, extends) = if !known.insert(seen.packet) {
            (Some(Class::Duplicate), false)
        } else if start >= high {
            (None, true)
        } else if !packet.rtx {
            (Some(Class::Reordered), false)
        } else if overtaken && !passed.covers(start, end) {
            (None, false)
        } else {
            (Some(Class::Retransmission), false)
        };
        expected.push((record, class, extends));
        passed.insert(start, end, 0);
        high = high.max(end);
        newest = newest.max(seen.packet);
    }
    expected
}

#[test]
fn whatever_happens_each_packet_is_taken_for_what_it_is() {
    let (mut wrong, mut open, mut open_wrong, mut judged) = (Vec::new(), 0, 0, 0);
    for seed in 0..PATHS {
        let mut dice = Dice::new(seed);
        let mut odds = |lost, late, twice| Odds {
            lost: dice.below(lost),
            late: dice.below(late),
            twice: dice.below(twice),
        };
        let script = script(Plan {
            data: [odds(80, 80, 30), odds(80, 80, 30)],
            acks: [odds(150, 80, 1), odds(150, 80, 1)],
            ..plan(seed)
        });
        let played = play(&script).expect("the sender keeps to the rules");
        for (vantage, name) in VANTAGES.iter().enumerate() {
            let analysis = analyze("random", pcap(&script, &played, vantage));
            let flow = analysis.flows().next().expect("one flow");
            let rows = flow.record.segments();
            let expected = expected(&played, vantage);
            assert_eq!(rows.len(), expected.len(), "a row a data packet");
            for (row, (record, class, extends)) in rows.iter().zip(expected) {
                assert_eq!(row.ordinal, record as u64);
                let packet = &played.packets[played.seen[vantage][record].packet];
                judged += 1;
                if extends {
                    let truth = if packet.rtx {
                        Class::Retransmission
                    } else {
                        Class::New
                    };
                    open += 1;
                    open_wrong += usize::from(row.verdict.class != truth);
                } else if class.is_some_and(|class| class != row.verdict.class) {
                    wrong.push(format!(
                        "seed {seed} {name} frame {}: {:?} instead of {:?}",
                        record + 1,
                        row.verdict,
                        class
                    ));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {judged}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(
        open_wrong * 100 <= open,
        "{open_wrong} of {open} that extend the highest byte"
    );
}

/// The flow's answers that are not the truth.
fn compare(plan: Plan, fields: &[&str], wrong: &mut Vec<String>) {
    let script = script(plan);
    let played = play(&script).expect("the sender keeps to the rules");
    for (vantage, name) in VANTAGES.iter().enumerate() {
        let analysis = analyze("random", pcap(&script, &played, vantage));
        let flow = analysis.flows().next().expect("one flow");
        let truth = truth(&script, &played, vantage, (0, Host::A));
        for (field, truth) in FIELDS.iter().zip(truth) {
            let ours = ours(&flow, field);
            if fields.contains(field) && ours != truth {
                wrong.push(format!(
                    "seed {} {name} {field}: {ours} instead of {truth}",
                    plan.seed
                ));
            }
        }
        let clean = flow
            .record
            .segments()
            .iter()
            .filter_map(|row| match row.rtt {
                Some((ns, RttLabel::Clean)) => Some(ns),
                _ => None,
            });
        let legs = if vantage == 2 {
            0
        } else {
            script.delay_ns[0][vantage..].iter().sum::<i64>()
        };
        // An answer to an earlier packet may be under way in the receiver.
        let least = 2 * legs;
        let most = least
            + script.turn_ns
            + if plan.data[1].late > 0 || plan.data[0].late > 0 {
                2 * plan.late_ns
            } else {
                0
            };
        wrong.extend(clean.filter(|ns| !(least..=most).contains(ns)).map(|ns| {
            format!(
                "seed {} {name}: a clean round trip of {ns} ns, not {least}..={most}",
                plan.seed
            )
        }));
    }
}

#[test]
fn losses_alone_are_all_found_where_they_happened() {
    let mut wrong = Vec::new();
    let lost = |lost| Odds {
        lost,
        ..Odds::default()
    };
    for seed in 0..PATHS {
        let data = [lost(seed % 4 * 15), lost(seed / 4 % 4 * 15)];
        let fields = [
            "reordered",
            "duplicates",
            "ambiguous",
            "unneeded",
            "lost_upstream",
            "lost_downstream",
            "reordered_at_receiver",
            "unique_bytes",
            "acked_bytes",
            "unseen_bytes",
        ];
        compare(Plan { data, ..plan(seed) }, &fields, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn delays_alone_are_no_losses() {
    let mut wrong = Vec::new();
    let late = |late| Odds {
        late,
        ..Odds::default()
    };
    for seed in 0..PATHS {
        let data = [late(seed % 4 * 20), late(seed / 4 % 4 * 20)];
        let fields = [
            "retransmitted",
            "duplicates",
            "ambiguous",
            "unneeded",
            "lost_upstream",
            "lost_downstream",
            "unique_bytes",
            "acked_bytes",
            "unseen_bytes",
        ];
        compare(Plan { data, ..plan(seed) }, &fields, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
