//! Records that are not in the order of their times, as where several processors or interfaces were captured into one
//! file: they are put in order before they are walked, as what waits is told by times (METRICS.md B1).

use super::sighting::Sighting;
use super::steps::STEP_MIN_NS;

/// Puts the packets of one point in the order of their times, batch by batch; of equal times in that of their records.
#[derive(Debug)]
pub(super) struct Arranger {
    /// A packet goes back behind those that are dated later by less than this, in ns. What is further back in time is
    /// where the clock was set, and stays there.
    within_ns: i64,
    /// The newest packets, in order, which others may still belong before.
    held: Vec<Sighting>,
    /// Time of the newest packet since the clock was set last.
    newest: i64,
    /// Time of the last packet, in the order of records.
    last: i64,
    /// How many were dated before the packet in front of them by as much as a clock is set by, and by how much at most,
    /// in ns.
    backwards: u64,
    backwards_ns_max: i64,
    /// How many stayed where they were, further back in time.
    left: u64,
    packets: u64,
}

impl Arranger {
    pub(super) fn new(within_ns: i64) -> Self {
        Self {
            within_ns,
            held: Vec::new(),
            newest: i64::MIN,
            last: i64::MIN,
            backwards: 0,
            backwards_ns_max: 0,
            left: 0,
            packets: 0,
        }
    }

    /// Gives back what was held, for further packets to be put behind it.
    pub(super) fn give_back(&mut self, to: &mut Vec<Sighting>) {
        to.append(&mut self.held);
    }

    /// Puts packets in order, of which the first so many had been held, and holds the newest, unless there are no more
    /// to come.
    pub(super) fn arrange(&mut self, packets: &mut Vec<Sighting>, held: usize, goes_on: bool) {
        let mut start = 0;
        self.packets += (packets.len() - held) as u64;
        if packets.is_sorted_by_key(|packet| packet.at) {
            self.newest = packets.last().map_or(self.newest, |packet| packet.at);
            self.last = self.newest;
        } else {
            for index in held..packets.len() {
                let at = packets[index].at;
                self.see(at);
                if self.newest.saturating_sub(at) < self.within_ns {
                    self.newest = self.newest.max(at);
                } else {
                    packets[start..index].sort_by_key(|packet| packet.at);
                    self.left += u64::from(index > 0);
                    (start, self.newest) = (index, at);
                }
            }
            packets[start..].sort_by_key(|packet| packet.at);
        }
        if goes_on {
            let since = self.newest.saturating_sub(self.within_ns);
            let older = packets[start..].partition_point(|packet| packet.at <= since);
            let first = (start + older).max(packets.len().saturating_sub(HELD_MAX));
            self.held.extend(packets.drain(first..));
        }
    }

    fn see(&mut self, at: i64) {
        let backwards_ns = self.last.saturating_sub(at);
        if (STEP_MIN_NS..=WITHIN_NS_MAX).contains(&backwards_ns) {
            self.backwards += 1;
            self.backwards_ns_max = self.backwards_ns_max.max(backwards_ns);
        }
        self.last = at;
    }

    /// Within what time packets are to be put in order, in ns: in more than clocks are set by where so many go back
    /// that no clock was set as often.
    pub(super) fn needed_ns(&self) -> i64 {
        if self.are_many(self.backwards) {
            2 * self.backwards_ns_max
        } else {
            self.within_ns
        }
    }

    /// How many stayed where they were, if a clock is not set as often.
    pub(super) fn left(&self) -> u64 {
        if self.are_many(self.left) {
            self.left
        } else {
            0
        }
    }

    fn are_many(&self, backwards: u64) -> bool {
        backwards >= MANY && backwards >= self.packets / ONE_IN
    }
}

/// What is further back than this is no disorder of a capture, in ns.
const WITHIN_NS_MAX: i64 = 100_000_000;

/// Packets that are held at most; with more in the time, some of those that come late are not put in order: 2.5 MiB.
const HELD_MAX: usize = 1 << 16;

/// Times that go backwards from which on they are no clock's that was set, if one of so many packets is.
const MANY: u64 = 16;
const ONE_IN: u64 = 10_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::path::spool::Signs;

    fn seen(at: i64, frame: u64) -> Sighting {
        Sighting {
            at,
            key: 0,
            frame,
            flow: 0,
            ip_len: 40,
            checksum: 0,
            has: Signs::default(),
        }
    }

    /// The records in the order that they are put in, which come in batches of so many.
    fn arranged(times: &[i64], within_ns: i64, batch: usize) -> (Vec<u64>, Arranger) {
        let mut arranger = Arranger::new(within_ns);
        let mut frames = Vec::new();
        let all: Vec<Sighting> = (1..)
            .zip(times)
            .map(|(frame, &at)| seen(at, frame))
            .collect();
        for (number, part) in all.chunks(batch).enumerate() {
            let mut packets = Vec::new();
            arranger.give_back(&mut packets);
            let held = packets.len();
            packets.extend(part);
            arranger.arrange(&mut packets, held, (number + 1) * batch < all.len());
            frames.extend(packets.iter().map(|packet| packet.frame));
        }
        (frames, arranger)
    }

    #[test]
    fn what_is_late_goes_back_behind_what_is_older_and_a_clock_that_was_set_stays_so() {
        let order = |times: &[i64]| arranged(times, 10, 100).0;
        assert_eq!(order(&[1, 5, 3, 5, 4, 9]), [1, 3, 5, 2, 4, 6]);
        // Set back by 10, and two records that are dated wrong.
        assert_eq!(order(&[50, 55, 52, 45, 44, 46]), [1, 3, 2, 5, 4, 6]);
        assert_eq!(order(&[1, 2, 900, 3, -900, 5, 4]), [1, 2, 3, 4, 5, 7, 6]);
    }

    /// Sixteen of the packets are 3 ms late: in twice that all are in order.
    #[test]
    fn many_times_that_go_backwards_are_no_clock_that_was_set() {
        let times = |late: u64| -> Vec<i64> {
            let at = |n: u64| n.cast_signed() * 2 * STEP_MIN_NS;
            let late = |n: u64| {
                if n % 4 == 3 && n / 4 < late {
                    5 * STEP_MIN_NS
                } else {
                    0
                }
            };
            (0..100).map(|n| at(n) - late(n)).collect()
        };
        let told = |late| {
            let (_, arranger) = arranged(&times(late), STEP_MIN_NS, 7);
            (arranger.needed_ns(), arranger.left())
        };
        assert_eq!(told(16), (6 * STEP_MIN_NS, 16));
        assert_eq!(told(15), (STEP_MIN_NS, 0));
        assert!(!times(16).is_sorted());
        let (frames, arranger) = arranged(&times(16), 6 * STEP_MIN_NS, 7);
        assert_eq!(arranger.left(), 0);
        let at = |frame: &u64| times(16)[*frame as usize - 1];
        assert!(frames.is_sorted_by_key(at));
    }

    proptest! {
        #[test]
        fn the_order_does_not_depend_on_batches(
            times in prop::collection::vec(0_i64..200, 0..200),
            within_ns in 1_i64..50,
            batch in 1_usize..40,
        ) {
            let whole = arranged(&times, within_ns, usize::MAX).0;
            prop_assert_eq!(arranged(&times, within_ns, batch).0, whole);
        }
    }
}
