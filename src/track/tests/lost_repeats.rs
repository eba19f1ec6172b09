//! Timers of senders that do not find out which of their repeats are lost, while data and ACKs go on (METRICS.md RT5, RT12).

use std::fmt::Write as _;

use super::{opened, play};
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

    /// Why the first and the last of some was repeated that pass behind all.
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
