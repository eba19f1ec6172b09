//! The link behind the queue: its rate, and where the second point stands (METRICS.md B5).

use super::envelope::LARGE_MIN;
use crate::metric;

/// Where packets are stamped when they have left the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TapPlace {
    /// When the link has sent them: a packet leaves the queue when the one before it is stamped.
    #[default]
    AfterLink,
    /// When the link begins to send them: a packet leaves the queue when it is stamped.
    BeforeLink,
}

impl TapPlace {
    /// A name for tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AfterLink => "after_link",
            Self::BeforeLink => "before_link",
        }
    }
}

shown_by_name!(TapPlace);

/// What lies between two points besides the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Link {
    /// Where the second point stands.
    pub tap: TapPlace,
    /// What a packet takes from point to point when nothing waits and sending takes no time, in ns.
    pub transit_ns: i64,
}

impl Link {
    /// When a packet left the queue, in ns: between when it came and when it was stamped.
    /// `left_before` is when the packet before it had been sent.
    #[inline]
    pub(super) fn leaves(&self, came: i64, stamped: i64, left_before: Option<i64>) -> i64 {
        let stamp = match self.tap {
            TapPlace::AfterLink => left_before.unwrap_or(came),
            TapPlace::BeforeLink => stamped,
        };
        stamp
            .saturating_sub(self.transit_ns)
            .clamp(came.min(stamped), stamped.max(came))
            .max(came)
    }
}

/// When a packet passed, by the first point's clock, in ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    /// When it came in.
    pub(super) at: i64,
    /// When it was stamped where it left.
    pub(super) left_at: i64,
    /// When the packet before it had been.
    pub(super) left_before: Option<i64>,
}

impl Passed {
    /// Its delay, if it found the link idle.
    pub(super) fn idle_ns(&self) -> Option<i64> {
        (self.at >= self.left_before.unwrap_or(i64::MIN))
            .then(|| self.left_at.saturating_sub(self.at))
    }

    /// How long the link took for it, if it had been waiting when the one before it left.
    pub(super) fn served_ns(&self, link: &Link) -> Option<i64> {
        let before = self.left_before?;
        (self.at < before.saturating_sub(link.transit_ns))
            .then(|| self.left_at.saturating_sub(before).max(0))
    }
}

/// Some of many values, evenly chosen.
#[derive(Clone, Debug)]
pub(super) struct Samples<T> {
    pub(super) kept: Vec<T>,
    /// One in so many is kept.
    every: u64,
    seen: u64,
}

impl<T> Default for Samples<T> {
    fn default() -> Self {
        Self {
            kept: Vec::new(),
            every: 1,
            seen: 0,
        }
    }
}

impl<T> Samples<T> {
    #[inline]
    pub(super) fn add(&mut self, value: T) {
        if self.seen.is_multiple_of(self.every) {
            if self.kept.len() == SAMPLES_MAX {
                let mut keep = false;
                self.kept.retain(|_| {
                    keep = !keep;
                    keep
                });
                self.every *= 2;
            }
            self.kept.push(value);
        }
        self.seen += 1;
    }

    /// What this part of them stays below, of what is computed of them; `None` where they are
    /// few.
    pub(super) fn part<K: Ord>(&self, part: f64, of: impl Fn(&T) -> K) -> Option<K> {
        let mut values: Vec<K> = self.kept.iter().map(of).collect();
        if values.len() < SAMPLES_MIN {
            return None;
        }
        let at = (values.len() as f64 * part) as usize;
        let at = at.min(values.len() - 1);
        values.select_nth_unstable(at);
        Some(values.swap_remove(at))
    }
}

impl Samples<u64> {
    /// The mean of the smallest, up to this part of them; `None` where they are few.
    fn mean_of_least(&self, part: f64) -> Option<f64> {
        let mut values = self.kept.clone();
        if values.len() < SAMPLES_MIN {
            return None;
        }
        let count = (values.len() as f64 * part) as usize;
        let count = count.clamp(1, values.len());
        values.select_nth_unstable(count - 1);
        let sum: f64 = values[..count].iter().map(|&value| value as f64).sum();
        Some(sum / count as f64)
    }
}

/// How many times as long packets took for which it took long as those for which it took short: a tenth took longer and
/// a tenth shorter. `None` where they are few.
fn spread(samples: &Samples<u64>) -> Option<f64> {
    let part = |part| samples.part(part, |&picoseconds| picoseconds.max(1));
    let (low, high) = part(QUICK).zip(part(1.0 - QUICK))?;
    Some(high as f64 / low as f64)
}

/// Whether the middle half of packets took the same for a byte, within a factor of two; `None` where they are few.
fn agree(samples: &Samples<u64>) -> Option<bool> {
    let part = |part| samples.part(part, |&picoseconds| picoseconds);
    let (low, high) = part(0.25).zip(part(0.75))?;
    Some(high <= low.saturating_mul(2))
}

/// How long a link of this rate sends so many bytes, in ns.
pub(super) fn sending_ns(bytes: u32, rate_bps: f64) -> f64 {
    f64::from(bytes) * 8e9 / rate_bps
}

/// What the link was seen to do, by the times between packets that follow each other.
///
/// A link that stamps packets when it has sent them took that time for the later one. One that stamps them when it
/// begins to, as a shaper does that may owe (HTB), took it for the one before. Packets of several sizes tell.
#[derive(Clone, Debug, Default)]
pub(super) struct Dispersion {
    of_later: Served,
    of_before: Served,
    /// When the latest packet left, and its bytes.
    last: Option<(i64, u32)>,
}

impl Dispersion {
    /// A packet passed the link.
    #[inline]
    pub(super) fn see(&mut self, bytes: u32, passed: &Passed, link: &Link) {
        let last = self.last.replace((passed.left_at, bytes));
        let Some(ns) = passed.served_ns(link) else {
            return;
        };
        self.of_later.add(bytes, ns);
        if let Some((at, before)) = last
            && passed.left_before == Some(at)
        {
            self.of_before.add(before, ns);
        }
    }

    /// What the link took, for those packets that agree.
    pub(super) fn served(&self) -> &Served {
        let (before, later) = (&self.of_before, &self.of_later);
        // How many times less spread those before show, of large packets or, where these do not tell, of all.
        let steadier = |of: fn(&Served) -> &Samples<u64>| {
            let spreads = spread(of(before)).zip(spread(of(later)));
            spreads.map_or(1.0, |(before, later)| later / before)
        };
        let of_large = steadier(|served| &served.samples);
        let agree = if (1.0 / STEADIER..=STEADIER).contains(&of_large) {
            steadier(|served| &served.all) > STEADIER
        } else {
            of_large > STEADIER
        };
        if agree && 2 * before.all.seen > later.all.seen {
            &self.of_before
        } else {
            &self.of_later
        }
    }
}

/// How long the link took for packets that had waited.
#[derive(Clone, Debug, Default)]
pub(super) struct Served {
    /// Picoseconds a byte, of large packets, of others, and of all.
    samples: Samples<u64>,
    small: Samples<u64>,
    all: Samples<u64>,
    bytes: u64,
    ns: i64,
}

impl Served {
    /// A packet of `bytes` left `ns` after the one before it, and had been waiting since.
    #[inline]
    pub(super) fn add(&mut self, bytes: u32, ns: i64) {
        self.bytes += u64::from(bytes);
        self.ns = self.ns.saturating_add(ns);
        let picoseconds = (ns.max(0) as u64).saturating_mul(1000) / u64::from(bytes.max(1));
        self.all.add(picoseconds);
        if bytes >= LARGE_MIN {
            self.samples.add(picoseconds);
        } else {
            self.small.add(picoseconds);
        }
    }

    /// Whether small packets alone show a link: it takes the same for a byte of each. Where they only came with some
    /// jitter, one that was late seems to have kept those behind it waiting, for any time.
    fn is_shown_by_small(&self) -> bool {
        agree(&self.small) == Some(true)
    }

    /// Whether packets, the large ones if there are any, do not agree in what the link takes for a byte: its rate
    /// changes, stamps come in bursts, or there is no such link.
    pub(super) fn is_uneven(&self) -> bool {
        match agree(&self.samples) {
            Some(agree) => !agree || self.middle_bps().is_none(),
            None => agree(&self.small) == Some(false),
        }
    }

    /// What the link took for a byte when it was quick, in ns: for a tenth of large packets it took
    /// less. `None` where they are few.
    pub(super) fn quick_ns_per_byte(&self) -> Option<f64> {
        let picoseconds = self.samples.part(QUICK, |&picoseconds| picoseconds)?;
        Some(picoseconds as f64 / 1000.0)
    }

    /// The rate at which the link sent when it was quick: a tenth of large packets was sent quicker, as where its rate
    /// is not constant. `None` where they are few, or stamps come in bursts.
    pub(super) fn quick_bps(&self) -> Option<f64> {
        let middle_bps = self.middle_bps()?;
        let quick_bps = 8.0 / self.quick_ns_per_byte()? * 1e9;
        Some(quick_bps.clamp(middle_bps, QUICKER_MAX * middle_bps))
    }

    /// The rate of the middle one of all large packets, so that neither a pause nor late stamps decide. `None` where
    /// they are few, or stamps come in bursts: then it took much less than all but the few that took longest.
    fn middle_bps(&self) -> Option<f64> {
        let picoseconds = self.samples.part(0.5, |&picoseconds| picoseconds)? as f64;
        let mean = self.samples.mean_of_least(STEADY)?;
        (2.0 * picoseconds > mean).then_some(8e12 / picoseconds)
    }

    /// Rate of the link in IP bits per second: of the middle one of all large packets; over all packets where there are
    /// few, where they do not agree, or where stamps come in bursts. `None` where it was busy for less than 1 % of
    /// `duration_ns`, or where there are none but small ones that do not agree.
    pub(super) fn rate_bps(&self, duration_ns: i64) -> Option<f64> {
        let idle = self.ns <= duration_ns / 100;
        if idle || self.samples.seen == 0 && !self.is_shown_by_small() {
            return None;
        }
        let middle_bps = self.middle_bps().filter(|_| !self.is_uneven());
        middle_bps.or_else(|| metric::rate_bps(self.bytes, self.ns))
    }
}

/// Part of the packets that were sent quicker than a link's quick ones.
const QUICK: f64 = 0.1;
/// What is quicker than the middle one by more than this is a stamp that was late before it.
const QUICKER_MAX: f64 = 8.0;
/// How many times less spread shows which packets the times between them are of: sizes differ by more.
const STEADIER: f64 = 4.0;
/// Part of the packets without those that the link was down for, or stamps were late for.
const STEADY: f64 = 0.99;
/// Samples from which on a part of them is believed.
const SAMPLES_MIN: usize = 32;
/// Samples kept.
const SAMPLES_MAX: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acks_show_a_link_that_takes_the_same_for_each() {
        let served = |ns: &dyn Fn(i64) -> i64| {
            let mut served = Served::default();
            (0..100).for_each(|packet| served.add(52, ns(packet)));
            served.rate_bps(1_000_000)
        };
        // 52 bytes in 416 us, or in up to a tenth more.
        let steady = served(&|packet| 416_000 + packet % 10 * 4000);
        assert!(steady.is_some_and(|bps| (bps - 0.96e6).abs() < 0.01e6));
        // Some microseconds to a millisecond: they came late by chance.
        assert_eq!(served(&|packet| 10_000 * (packet + 1)), None);
    }

    /// ACKs of 60 bytes between packets of 1500, all of which wait, on a link of 10 Mbit/s.
    #[test]
    fn a_shaper_that_sends_first_and_waits_then_took_the_time_for_the_packet_before() {
        let rate_bps = |tap: TapPlace, sizes: &[u32]| {
            let link = Link { tap, transit_ns: 0 };
            let mut dispersion = Dispersion::default();
            let (mut at, mut before) = (1_000_000_000, sizes[sizes.len() - 1]);
            for bytes in sizes.repeat(100) {
                let timed = match tap {
                    TapPlace::AfterLink => bytes,
                    TapPlace::BeforeLink => before,
                };
                let left_at = at + sending_ns(timed, 10e6) as i64;
                let passed = Passed {
                    at: 0,
                    left_at,
                    left_before: Some(at),
                };
                dispersion.see(bytes, &passed, &link);
                (at, before) = (left_at, bytes);
            }
            dispersion.served().rate_bps(1_000_000_000)
        };
        for sizes in [
            &[1500, 60, 60, 1500, 60][..],
            &[1500, 60],
            &[1500, 1500, 60],
        ] {
            assert_eq!(rate_bps(TapPlace::AfterLink, sizes), Some(10e6));
            assert_eq!(rate_bps(TapPlace::BeforeLink, sizes), Some(10e6));
        }
    }

    /// The link sends 1500 bytes in 1.2 ms, stamps come with every fourth packet, or it is down for 1.5 s.
    #[test]
    fn a_pause_does_not_decide_the_rate_nor_do_stamps_that_come_in_bursts() {
        let rate_bps = |gaps: &[i64]| {
            let mut served = Served::default();
            for &ns in gaps {
                served.add(1500, ns);
            }
            served.rate_bps(gaps.iter().sum())
        };
        assert_eq!(rate_bps(&[1_200_000; 200]), Some(10e6));
        assert_eq!(rate_bps(&[0, 0, 0, 4_800_000].repeat(50)), Some(10e6));
        let mut down = [1_200_000; 200];
        down[100] = 1_500_000_000;
        assert_eq!(rate_bps(&down), Some(10e6));
    }

    /// At 40 Mbit/s, as for a quarter of the packets, 1500 bytes take 0.3 ms: a quarter of what the middle one takes.
    #[test]
    fn a_tenth_of_large_packets_shows_what_the_link_sent_at_when_it_was_quick() {
        let mut served = Served::default();
        for ns in [300_000, 1_200_000, 1_200_000, 3_000_000].repeat(50) {
            served.add(1500, ns);
        }
        assert_eq!(served.quick_bps(), Some(40e6));
    }
}
