//! Timers of senders that do not find out which of their repeats are lost, while data and ACKs go on (METRICS.md RT5, RT12).

use std::fmt::Write as _;

use super::{last_reason, opened, play};
use crate::event::Reason;

/// A segment of 1000 bytes passes each 5 ms from 100 until `until`, its ACK 20 ms later, and what answers that after another 10.
struct Told<'a> {
    until: u32,
    /// Segments whose first copy does not arrive.
    lost: &'a [u32],
    /// Whether that passes here.
    seen: bool,
    /// When which of them are repeated here, and whether that arrives.
    repeats: &'a [(u32, u32, bool)],
}

impl Told<'_> {
    fn trace(&self) -> String {
        let firsts = (100..self.until).step_by(5).zip(0..);
        let mut packets: Vec<(u32, u32, bool, bool)> = firsts
            .map(|(at, n)| {
                (
                    at,
                    n,
                    self.seen || !self.lost.contains(&n),
                    !self.lost.contains(&n),
                )
            })
            .collect();
        packets.extend(
            self.repeats
                .iter()
                .map(|&(at, n, arrives)| (at, n, true, arrives)),
        );
        packets.sort_unstable();
        let mut lines = Vec::new();
        let (mut came, mut edge, mut brought) = (Vec::new(), 0, 1);
        for &(at, n, passes, arrives) in &packets {
            if passes {
                lines.push((at, stamped(at, n)));
            }
            if !arrives {
                continue;
            }
            came.push(n);
            came.sort_unstable();
            if n == edge {
                brought = at;
            }
            while came.contains(&edge) {
                edge += 1;
            }
            let mut line = format!("{} B>A ack {edge}000", at + 20);
            for (from, to) in blocks(&came, edge) {
                let _ = write!(line, " sack {from}000..{to}000");
            }
            let _ = write!(line, " ts {}/{brought}", at + 20);
            lines.push((at + 20, line));
        }
        lines.sort_by_key(|&(at, _)| at);
        let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
        opened(&(lines.join("\n") + "\n"))
    }

    /// Why segment `n` was repeated at `ms`.
    fn reason(&self, ms: u32, n: u32) -> Option<Reason> {
        last_reason(&(self.trace() + &stamped(ms, n)))
    }

    /// The same of the first and the last of some that pass behind all.
    fn reasons(&self, then: &[(u32, u32)]) -> [Option<Reason>; 2] {
        let then: Vec<String> = then.iter().map(|&(ms, n)| stamped(ms, n)).collect();
        let rows = play(&(self.trace() + &then.join("\n"))).rows;
        let first = &rows[rows.len() - then.len()];
        [first, rows.last().unwrap()].map(|row| row.verdict.reason)
    }
}

/// Segment `n` passes at `ms`, and echoes the latest ACK that passed 10 ms before.
fn stamped(ms: u32, n: u32) -> String {
    let echo = if ms < 130 { 1 } else { (ms - 10) / 5 * 5 };
    format!("{ms} A>B data {n}000..{}000 ack 0 ts {ms}/{echo}", n + 1)
}

/// The same line without any of `what`, but for timestamps behind.
fn without(line: &str, what: &str) -> String {
    let (line, ts) = line.split_once(" ts ").unwrap_or((line, ""));
    let line = line.split(what).next().unwrap();
    if ts.is_empty() {
        line.to_owned()
    } else {
        format!("{line} ts {ts}")
    }
}

/// What came above the left edge, the highest three of it.
fn blocks(came: &[u32], edge: u32) -> Vec<(u32, u32)> {
    let mut blocks: Vec<(u32, u32)> = Vec::new();
    for &n in came.iter().filter(|&&n| n > edge) {
        match blocks.last_mut() {
            Some(block) if block.1 == n => block.1 += 1,
            _ => blocks.push((n, n + 1)),
        }
    }
    blocks.into_iter().rev().take(3).collect()
}

const TIMER: Option<Reason> = Some(Reason::Timeout);
const ASKED: Option<Reason> = Some(Reason::Fast);

#[test]
fn who_would_have_repeated_it_three_times_by_then_has_no_other_way_than_its_timer() {
    // The ACK moves to segment 9, which was asked for at 170, when segment 2 comes: 20 ms after that was repeated. What
    // it echoes tells of all until 11 to 15 ms before. A round trip takes 30 ms.
    let reason = |at: u32, ms: u32, above: &[(u32, u32, bool)]| {
        let repeats = [&[(at, 2, true)], above].concat();
        let told = Told {
            until: ms,
            lost: &[2, 9, 14, 18],
            seen: false,
            repeats: &repeats,
        };
        told.reason(ms, 9)
    };
    assert_eq!(reason(158, 331, &[]), TIMER);
    // Not four round trips.
    assert_eq!(reason(158, 294, &[]), ASKED);
    // Not half the time of a timer since the ACK moved.
    assert_eq!(reason(203, 328, &[]), ASKED);
    // Who goes back below what it repeated finds out that a repeat was lost.
    let (in_turn, back) = (
        [(213, 14, true), (223, 18, true)],
        [(213, 18, true), (223, 14, true)],
    );
    assert_eq!(reason(158, 331, &in_turn), TIMER);
    assert_eq!(reason(158, 331, &back), ASKED);
}

#[test]
fn what_goes_on_as_acks_come_may_be_the_timers() {
    let told = |until: u32, repeats: &[(u32, u32, bool)], then: &[(u32, u32)]| {
        let told = Told {
            until,
            lost: &[2, 9, 14, 18],
            seen: false,
            repeats,
        };
        told.reasons(then)
    };
    let edge = &[(158, 2, true)];
    let (next, over) = (&[(371, 9), (372, 14)], &[(371, 9), (372, 18), (373, 14)]);
    assert_eq!(told(371, edge, next), [TIMER; 2]);
    // Who has given up all goes on from the lowest on.
    assert_eq!(told(371, edge, over), [TIMER, ASKED]);
    // No ACK has come to it since.
    assert_eq!(told(340, edge, &[(371, 9), (372, 14)]), [ASKED; 2]);
    // New data is sent as the window opens.
    assert_eq!(told(371, edge, &[(371, 9), (372, 55)])[0], ASKED);
    // It finds out which of its repeats are lost.
    let back = &[(158, 2, true), (213, 18, false), (223, 14, false)];
    assert_eq!(told(371, back, next), [ASKED; 2]);
}

#[test]
fn what_goes_on_in_a_burst_may_be_the_timers_where_acks_are_on_their_way() {
    let told = |until: u32| {
        let told = Told {
            until,
            lost: &[2, 9],
            seen: true,
            repeats: &[(163, 2, false), (164, 9, false)],
        };
        told.reasons(&[(331, 2), (332, 9)])
    };
    assert_eq!(told(331), [TIMER; 2]);
    // The last ACK has come to its sender before, at 325.
    assert_eq!(told(300), [ASKED; 2]);
}

#[test]
fn without_sack_no_ack_but_that_of_the_timers_repeat_opens_the_window() {
    let told = Told {
        until: 331,
        lost: &[2, 9],
        seen: true,
        repeats: &[(163, 2, false)],
    };
    let bare = told.trace().replace("syn", "syn bare");
    let bare: Vec<String> = bare.lines().map(|line| without(line, " sack ")).collect();
    let then = [stamped(331, 2), stamped(332, 9)].join("\n");
    let rows = play(&(bare.join("\n") + "\n" + &then)).rows;
    let reasons = rows[rows.len() - 2..].iter().map(|row| row.verdict.reason);
    assert!(reasons.eq([ASKED; 2]));
}

#[test]
fn what_was_asked_for_long_ago_may_have_been_repeated_before_it_came_here() {
    // Asked for at 145, and the ACK moved last at 125.
    let told = |until: u32, lost: &[u32], repeats: &[(u32, u32, bool)]| {
        let told = Told {
            until,
            lost,
            seen: true,
            repeats,
        };
        told.trace()
    };
    let reason = |ms: u32, lost: &[u32], repeats: &[(u32, u32, bool)]| {
        last_reason(&(told(ms, lost, repeats) + &stamped(ms, 2)))
    };
    assert_eq!(reason(331, &[2], &[]), TIMER);
    assert_eq!(reason(231, &[2], &[]), ASKED);
    // Two that came do not ask for it, and the third was told of at 310.
    let few: Vec<u32> = [2].into_iter().chain(5..38).collect();
    assert_eq!(reason(331, &few, &[]), ASKED);
    // When what was repeated came first nobody knows.
    assert_eq!(reason(331, &[2, 5], &[(293, 5, true)]), TIMER);
    // It had heard all that passed.
    assert_eq!(
        last_reason(&(told(306, &[2], &[]) + &stamped(337, 2))),
        TIMER
    );
    // Without timestamps only of who has repeated something above as it was asked for.
    let untimed = |repeats: &[(u32, u32, bool)]| {
        let trace = told(331, &[2, 9], repeats) + &stamped(331, 2);
        let lines = trace.lines().map(|line| line.split(" ts ").next().unwrap());
        last_reason(&lines.collect::<Vec<_>>().join("\n"))
    };
    assert_eq!(untimed(&[(193, 9, true)]), TIMER);
    assert_eq!(untimed(&[]), ASKED);
    // Its sender takes no clock, as it misses what the peer sent.
    let missing =
        "201 B>A data 0..100 ack 2000 ts 201/105\n202 B>A data 100..200 ack 2000 ts 202/105\n";
    let trace = told(331, &[2], &[]).replace("205 A>B", &format!("{missing}205 A>B"));
    assert_eq!(last_reason(&(trace + &stamped(331, 2))), ASKED);
}

#[test]
fn what_was_repeated_here_was_asked_for_again_by_what_was_sent_since() {
    // The repeat at 253 was the first that came here; what was sent next is told of at 275 to 285.
    let reason = |ms: u32, repeats: &[(u32, u32, bool)]| {
        let told = Told {
            until: ms,
            lost: &[2],
            seen: false,
            repeats,
        };
        told.reason(ms, 2)
    };
    assert_eq!(reason(331, &[(253, 2, false)]), ASKED);
    assert_eq!(reason(421, &[(253, 2, false)]), TIMER);
    // Of two that came here new data that went on tells: 2 ms later it is no burst.
    let told = Told {
        until: 331,
        lost: &[2],
        seen: true,
        repeats: &[(163, 2, false)],
    };
    assert_eq!(told.reasons(&[(331, 2), (333, 47)])[0], TIMER);
}

#[test]
fn new_data_tells_of_timers_that_were_not_set_anew() {
    // The repeat at 163 was lost, as was told of at 185. The ACK moved last at 125.
    let reason = |until: u32, ms: u32| {
        let told = Told {
            until,
            lost: &[2],
            seen: true,
            repeats: &[(163, 2, false)],
        };
        told.reason(ms, 2)
    };
    assert_eq!(reason(265, 266), TIMER);
    assert_eq!(reason(220, 221), ASKED);
    // It may have waited for as long as packets may be overtaken.
    assert_eq!(reason(205, 266), ASKED);
}

#[test]
fn an_ack_that_makes_progress_sets_the_timer_of_a_lost_repeat_anew() {
    // 2000..3000 is lost again at 431, as SACK tells of what was sent after that.
    let reason = |acked_at: u32, sent_later_at: u32| {
        last_reason(&opened(&format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             103 A>B data 3000..4000
             104 A>B data 4000..5000
             400 A>B data 0..1000
             420 B>A ack 1000
             430 A>B data 1000..2000
             431 A>B data 2000..3000
             {acked_at} B>A ack 2000
             {sent_later_at} A>B data 3000..4000
             671 B>A ack 2000 sack 3000..4000
             681 A>B data 2000..3000"
        )))
    };
    assert_eq!(reason(551, 640), Some(Reason::Fast));
    // What SACK tells does not.
    assert_eq!(reason(451, 640), Some(Reason::Timeout));
    // What was sent at 560 tells of the loss long before 681: who repeats it only then has waited for a timer.
    assert_eq!(reason(551, 560), Some(Reason::Timeout));
}
