//! Queues that drop what they had taken, when its turn comes (METRICS.md B6).
//!
//! `CoDel` drops at the head: a packet has waited like any other, and goes when the next one of its
//! queue begins to be sent. From outside that cannot be seen, but its law can (RFC 8289 section
//! 5.5): the n-th drop in a row comes 100 ms / sqrt(n) after the one before it, and nothing is
//! dropped that waited less than 5 ms.

use super::account::Known;
use super::calibrate::Calibration;
use super::clock::{Heading, Side};
use super::spool::{Kind, Spool};

/// When packets of one way left that were dropped.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// The queue drops at the head.
    pub(super) at_head: bool,
    /// When each packet that was dropped by then left, in ns by the first point's clock; one for each
    /// note of the way of what was seen at one point alone, `None` where it did not wait.
    pub(super) until: Vec<Option<i64>>,
}

/// A packet that was dropped.
#[derive(Clone, Copy, Debug)]
struct Lost {
    flow: u32,
    at: i64,
    /// When the next packet of its flow, and of its way, left the queue.
    until: [Option<i64>; 2],
    /// How long these had waited.
    next_waited_ns: [i64; 2],
}

impl Lost {
    /// When it left, if flows (0) or all packets (1) have a queue.
    fn held_ns(&self, queue: usize) -> Option<i64> {
        Some(self.until[queue]?.saturating_sub(self.at))
    }

    /// Whether it may have waited for its turn: the next packet did, too. Else it was lost on a way on which nothing
    /// waited, and only its flow paused.
    fn may_have_waited(&self, queue: usize) -> bool {
        let held_ns = self.held_ns(queue);
        held_ns.is_some_and(|held_ns| held_ns >= TARGET_NS - STAMPS_NS)
            && self.next_waited_ns[queue] >= NEXT_NS_MIN
    }
}

/// Finds out whether drops of a way were at the head, and until when the dropped packets waited.
pub(super) fn find(spool: &Spool, known: &Known, calibration: &Calibration, way: Heading) -> Held {
    if spool.lost() < ROW_MIN as u64 {
        return Held::default();
    }
    let noted = lost(spool, known, calibration, way);
    let lost: Vec<&Lost> = noted.iter().flatten().collect();
    let sending_ns = calibration.sending_ns(way as usize);
    let queue = [0, 1]
        .into_iter()
        .find(|&queue| follows_law(&lost, queue, sending_ns));
    let until = |lost: &Option<Lost>| lost.as_ref()?.until[queue?];
    Held {
        at_head: queue.is_some(),
        until: noted.iter().map(until).collect(),
    }
}

/// The packets of the notes of a way that were seen at one point alone, in their order; `None` for
/// those that appeared, went the other way, or lie in a gap of a capture.
fn lost(
    spool: &Spool,
    known: &Known,
    calibration: &Calibration,
    way: Heading,
) -> Vec<Option<Lost>> {
    let headings = &known.headings;
    let exit = Side::exit(way);
    let mut all: Vec<Option<Lost>> = Vec::new();
    // Those that the next packet of a flow, or of the way, is waited for.
    let mut of_flow: Vec<Vec<usize>> = vec![Vec::new(); headings.len()];
    let mut of_way: Vec<usize> = Vec::new();
    let link = &calibration.links[way as usize];
    for note in spool.notes(way) {
        let flow = note.flow as usize;
        if note.heading(headings) != way {
            all.extend((note.kind != Kind::Passed).then_some(None));
            continue;
        }
        match note.kind_of(way) {
            Kind::Passed => {
                if of_way.is_empty() && of_flow[flow].is_empty() {
                    continue;
                }
                let packet = calibration.passed(&note);
                let leaves = link.leaves(packet.at, packet.left_at, packet.left_before);
                for (waiting, queue) in [(&mut of_flow[flow], 0), (&mut of_way, 1)] {
                    for index in waiting.drain(..) {
                        if let Some(lost) = &mut all[index] {
                            lost.until[queue] = Some(leaves);
                            lost.next_waited_ns[queue] = leaves.saturating_sub(packet.at);
                        }
                    }
                }
            }
            // Nobody knows that it was dropped.
            Kind::Lost if known.gaps.hides(exit, &note, way).is_some() => all.push(None),
            Kind::Lost => {
                of_flow[flow].push(all.len());
                of_way.push(all.len());
                all.push(Some(Lost {
                    flow: note.flow,
                    at: calibration.passed(&note).at,
                    until: [None; 2],
                    next_waited_ns: [0; 2],
                }));
            }
            Kind::Appeared => all.push(None),
        }
    }
    all
}

/// Whether drops come when `CoDel` would drop, in queues of each flow (0) or of all packets (1).
fn follows_law(lost: &[&Lost], queue: usize, sending_ns: f64) -> bool {
    let left = lost.iter().filter(|lost| lost.until[queue].is_some());
    let (mut long, mut all) = (0, 0);
    for lost in left {
        all += 1;
        long += usize::from(lost.may_have_waited(queue));
    }
    if all == 0 || long * 20 < all * 19 {
        return false;
    }
    let mut drops: Vec<(u32, i64)> = lost
        .iter()
        .filter_map(|lost| {
            let flow = if queue == 0 { lost.flow } else { 0 };
            Some((flow, lost.until[queue]?))
        })
        .collect();
    drops.sort_unstable();
    let (mut told, mut as_told, mut near) = (0, 0, 0);
    let (mut firsts, mut firsts_as_told) = (0, 0);
    for queue in drops.chunk_by(|one, next| one.0 == next.0) {
        let gaps: Vec<f64> = queue
            .windows(2)
            .map(|pair| pair[1].1.saturating_sub(pair[0].1) as f64)
            .collect();
        near += gaps.iter().filter(|&&gap| gap < 4.0 * sending_ns).count();
        // What ends a row of drops tells nothing.
        for row in gaps.split(|&gap| gap > INTERVAL_NS * 1.05) {
            for pair in stretches(row).windows(2) {
                let off = pair[0].misses(pair[1]);
                told += 1;
                as_told += usize::from(off <= 0.25);
                // Of the first ones in a row each gap is much shorter than the one before it.
                let is_first = pair[0].drops == 1 && pair[0].ns > INTERVAL_NS * 0.55;
                firsts += usize::from(is_first);
                firsts_as_told += usize::from(is_first && off <= 0.1);
            }
        }
    }
    let in_rows = as_told >= ROW_MIN && as_told * 2 >= told;
    let begin = firsts_as_told >= FIRST_MIN && firsts_as_told * 2 >= firsts;
    in_rows && begin && near * 10 <= lost.len()
}

/// Drops of a row that follow each other.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    drops: u32,
    /// From the one before the first to the last.
    ns: f64,
}

/// A row of gaps between drops, in ns, each as long as it is or, where they are short, several together: queues take
/// turns, and a drop waits for its queue's, but the next one comes when it would have otherwise (RFC 8289 section 5.5).
fn stretches(row: &[f64]) -> Vec<Stretch> {
    let mut all = Vec::new();
    let mut open = Stretch { drops: 0, ns: 0.0 };
    for &gap in row {
        if gap >= STRETCH_NS {
            open = Stretch { drops: 0, ns: 0.0 };
        }
        open.drops += 1;
        open.ns += gap;
        if open.ns >= STRETCH_NS {
            all.push(open);
            open = Stretch { drops: 0, ns: 0.0 };
        }
    }
    all
}

impl Stretch {
    /// By what part of it the next one is longer or shorter than by the law.
    fn misses(self, next: Self) -> f64 {
        let gap = self.ns / f64::from(self.drops);
        let next_gap = next.ns / f64::from(next.drops);
        // So many drops of the row came by the middle of the one, and of the other.
        let count = (INTERVAL_NS / gap).powi(2);
        let next_count = count + f64::from(self.drops + next.drops) / 2.0;
        let off = (next_gap * next_count.sqrt() / INTERVAL_NS - 1.0).abs();
        // Linux takes one step of Newton's method a drop for the root, and at the second has a half.
        if self.drops == 1 && (gap / INTERVAL_NS - 1.0).abs() <= 0.05 {
            off.min((next_gap * 2.0 / INTERVAL_NS - 1.0).abs())
        } else {
            off
        }
    }
}

/// `CoDel`'s target and interval, as they are unless someone sets them (RFC 8289 section 4.4).
const TARGET_NS: i64 = 5_000_000;
const INTERVAL_NS: f64 = 1e8;
/// Turns of a few queues are short beside this.
const STRETCH_NS: f64 = 4e7;
/// Stamps may say that a packet waited so much less than it did.
const STAMPS_NS: i64 = 100_000;
/// A packet has waited that took so much longer: stamps and a node that sleeps are late by less as a rule.
const NEXT_NS_MIN: i64 = 1_000_000;
/// Drops that come when they should from which on it is no chance.
const ROW_MIN: usize = 3;
/// Of these at the beginnings of rows: drops at regular intervals follow the law further on, too.
const FIRST_MIN: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// Drops of one queue at these times in ms, of packets that waited 20 ms.
    fn is_law(times: &[i64]) -> bool {
        let lost: Vec<Lost> = times
            .iter()
            .map(|&ms| Lost {
                flow: 0,
                at: (ms - 20) * MS,
                until: [Some(ms * MS); 2],
                next_waited_ns: [20 * MS; 2],
            })
            .collect();
        follows_law(&lost.iter().collect::<Vec<_>>(), 0, 1.2e6)
    }

    /// 100, 71, 58, 50, 45 ms apart: RFC 8289.
    #[test]
    fn drops_that_come_ever_sooner_are_codels() {
        assert!(is_law(&[200, 300, 371, 429, 479, 524]));
        let twice = [200, 300, 371, 429, 2000, 2100, 2171];
        assert!(is_law(&twice));
    }

    /// Linux: 100, 50, 56, 49, 44 ms.
    #[test]
    fn drops_of_a_queue_that_waits_for_its_turn_are_codels() {
        let late = [4, 0, 3, 1, 5, 2, 0, 4, 1, 3];
        let mut times = vec![200, 300, 350, 406, 455, 499];
        // Others come into the queue, and it waits for its turn.
        let mut due = 499;
        for count in 6..60 {
            due += (100.0 / f64::from(count).sqrt()) as i64;
            times.push(due + 2 * late[count as usize % late.len()]);
        }
        times.extend([3200, 3300, 3350, 3406, 3455, 3499]);
        assert!(is_law(&times));
    }

    #[test]
    fn rare_drops_with_pauses_like_those_of_rows_are_not() {
        assert!(!is_law(&[
            0, 60, 107, 170, 260, 300, 371, 429, 500, 590, 670
        ]));
    }

    #[test]
    fn drops_at_regular_intervals_bursts_and_a_few_are_not() {
        assert!(!is_law(&[0, 20, 40, 60, 80, 100, 120, 140]));
        assert!(!is_law(&[0, 100, 200, 300, 400, 500]));
        assert!(!is_law(&[0, 1, 3, 5, 6, 8, 100, 101, 103, 105]));
        assert!(!is_law(&[0, 100, 171]));
    }

    #[test]
    fn nothing_is_dropped_that_waited_less_than_the_target() {
        let lost = [200, 300, 371, 429, 479].map(|ms| Lost {
            flow: 0,
            at: (ms - 2) * MS,
            until: [Some(ms * MS); 2],
            next_waited_ns: [2 * MS; 2],
        });
        assert!(!follows_law(&lost.iter().collect::<Vec<_>>(), 0, 1.2e6));
    }

    /// The next packet of each drop came 20 ms later and went on at once.
    #[test]
    fn where_the_next_packet_did_not_wait_nothing_was_dropped_at_the_head() {
        let law = |next_waited_ns: i64| {
            let lost = [200, 300, 371, 429, 479, 524].map(|ms| Lost {
                flow: 0,
                at: (ms - 20) * MS,
                until: [Some(ms * MS); 2],
                next_waited_ns: [next_waited_ns; 2],
            });
            follows_law(&lost.iter().collect::<Vec<_>>(), 0, 1.2e6)
        };
        assert!(law(15 * MS));
        assert!(!law(MS / 10));
    }
}
