//! Whether a queue is why packets take longer than others, or delays only change (METRICS.md B5).
//!
//! In a queue a packet waits for what is ahead of it: the more, the longer, even where the link's rate changes. Where
//! each is only delayed by chance, as much is on its way ahead of those that take long as of those that do not.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::calibrate::Calibration;
use super::clock::Heading;
use super::envelope::LARGE_MIN;
use super::idle::LATE_NS_MAX;
use super::spool::{Kind, Spool};

/// Whether what the packets of a way wait goes with what is ahead of them, as far as enough of them tell.
pub(super) fn goes_with_backlog(
    spool: &Spool,
    headings: &[Option<Heading>],
    known: &Calibration,
    heading: Heading,
) -> bool {
    let transit_ns = known.links[heading as usize].transit_ns;
    let mut ahead = Ahead::default();
    let (mut of_large, mut of_all) = (Told::default(), Told::default());
    let notes = spool.notes(heading);
    for note in notes.filter(|note| note.kind == Kind::Passed) {
        if note.heading(headings) != heading {
            continue;
        }
        let passed = known.passed(&note);
        let at = passed.at.saturating_add(transit_ns);
        ahead.leave_until(at);
        if ahead.packets() >= PACKETS_MIN {
            let waited_ns = passed.left_at.saturating_sub(at) as f64;
            of_all.add(ahead.bytes as f64, waited_ns);
            if note.ip_len >= LARGE_MIN {
                of_large.add(ahead.bytes as f64, waited_ns);
            }
        }
        ahead.come(passed.left_at, note.ip_len);
    }
    let told = of_large.goes_together().or_else(|| of_all.goes_together());
    told.unwrap_or(true)
}

/// What was ahead of packets and how long they waited: all of them, and so many that follow each other. Where a rate
/// changes in steps, what waits goes with what is ahead as long as it is the same, and as much waits at any rate.
#[derive(Debug, Default)]
struct Told {
    all: Together,
    latest: Together,
    /// How they go together in each window that tells.
    windows: Vec<f64>,
}

impl Told {
    fn add(&mut self, ahead: f64, waited_ns: f64) {
        self.all.add(ahead, waited_ns);
        self.latest.add(ahead, waited_ns);
        if self.latest.count == COUNT_MIN {
            let told = std::mem::take(&mut self.latest);
            let tells = told.deviation_of_other() > LATE_NS_MAX as f64;
            self.windows.extend(told.correlation().filter(|_| tells));
        }
    }

    /// Whether the two go together; `None` where packets are too few to tell.
    fn goes_together(&mut self) -> Option<bool> {
        if self.all.correlation()? >= CORRELATION_MIN {
            return Some(true);
        }
        let middle = self.windows.len() / 2;
        if self.windows.len() < WINDOWS_MIN {
            return Some(false);
        }
        let (_, middle, _) = self.windows.select_nth_unstable_by(middle, f64::total_cmp);
        Some(*middle >= CORRELATION_MIN)
    }
}

/// What has come in and not left.
#[derive(Debug, Default)]
struct Ahead {
    leaving: BinaryHeap<Reverse<(i64, u32)>>,
    bytes: u64,
}

impl Ahead {
    fn packets(&self) -> usize {
        self.leaving.len()
    }

    fn come(&mut self, leaves: i64, bytes: u32) {
        self.leaving.push(Reverse((leaves, bytes)));
        self.bytes += u64::from(bytes);
    }

    fn leave_until(&mut self, at: i64) {
        while let Some(&Reverse((leaves, bytes))) = self.leaving.peek()
            && leaves <= at
        {
            self.leaving.pop();
            self.bytes -= u64::from(bytes);
        }
    }
}

/// How two quantities go together, by running means (Welford).
#[derive(Clone, Copy, Debug, Default)]
struct Together {
    count: u64,
    means: [f64; 2],
    squares: [f64; 2],
    products: f64,
}

impl Together {
    fn add(&mut self, one: f64, other: f64) {
        self.count += 1;
        let values = [one, other];
        let before = [0, 1].map(|at: usize| values[at] - self.means[at]);
        for at in [0, 1] {
            self.means[at] += before[at] / self.count as f64;
            self.squares[at] += before[at] * (values[at] - self.means[at]);
        }
        self.products += before[0] * (values[1] - self.means[1]);
    }

    fn deviation_of_other(&self) -> f64 {
        (self.squares[1] / self.count.max(1) as f64).sqrt()
    }

    /// Pearson's correlation; `None` where they are few, or one does not change.
    fn correlation(&self) -> Option<f64> {
        let spread = (self.squares[0] * self.squares[1]).sqrt();
        (self.count >= COUNT_MIN && spread > 0.0).then(|| self.products / spread)
    }
}

/// Packets ahead from which on a packet tells: with fewer, where the first of them is in its sending counts too much.
const PACKETS_MIN: usize = 2;

/// Packets from which on they are believed, and of a window.
const COUNT_MIN: u64 = 32;

/// From which on waits go with what is ahead: of queues whose rate changes by factors it is 0.55 to 0.9, of delays by
/// chance -0.15 to 0.4.
const CORRELATION_MIN: f64 = 0.5;

/// Windows from which on the middle one is believed.
const WINDOWS_MIN: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn together_is_how_one_goes_with_the_other() {
        let of = |other: fn(f64) -> f64| {
            let mut together = Together::default();
            (0..100).for_each(|n| together.add(f64::from(n), other(f64::from(n))));
            together.correlation()
        };
        let near =
            |told: Option<f64>, truth: f64| told.is_some_and(|told| (told - truth).abs() < 1e-9);
        assert!(near(of(|n| 3.0 * n + 7.0), 1.0));
        assert!(near(of(|n| -n), -1.0));
        // Symmetric about the middle.
        assert!(near(of(|n| (n - 49.5).abs()), 0.0));
        assert_eq!(of(|_| 5.0), None);
    }

    /// Up to 15 packets wait for 1 ms each or, of each four hundred the last, one or two for 8 ms.
    #[test]
    fn where_the_rate_changes_in_steps_waits_go_with_what_is_ahead_meanwhile() {
        let told = |waits_ns: fn(u32, u32) -> u32| {
            let mut told = Told::default();
            for n in 0..1600 {
                let is_slow = n / 100 % 4 == 3;
                let (ahead, each) = if is_slow {
                    (1 + n % 2, 8)
                } else {
                    (n * 7 % 16, 1)
                };
                told.add(
                    f64::from(1500 * ahead),
                    f64::from(waits_ns(n, ahead * each)),
                );
            }
            let together = told.all.correlation().unwrap() >= CORRELATION_MIN;
            (together, told.goes_together())
        };
        assert_eq!(told(|_, turn| turn * 1_000_000), (false, Some(true)));
        // Each by chance.
        assert_eq!(told(|n, _| n * 7919 % 101 * 100_000), (false, Some(false)));
        // By less than stamps are late.
        assert_eq!(told(|_, turn| turn * 10_000), (false, Some(false)));
    }

    #[test]
    fn what_has_left_is_not_ahead() {
        let mut ahead = Ahead::default();
        for (leaves, bytes) in [(30, 1500), (10, 100), (20, 700)] {
            ahead.come(leaves, bytes);
        }
        ahead.leave_until(20);
        assert_eq!((ahead.packets(), ahead.bytes), (1, 1500));
    }
}
