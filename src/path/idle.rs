//! Packets that found the link idle: what they took beside sending, and where the second point stands (METRICS.md B5).

use super::envelope::{LARGE_MIN, SMALL_MAX};
use super::link::{Link, Passed, Samples, TapPlace, sending_ns};

/// A packet that found the link idle.
#[derive(Clone, Copy, Debug)]
struct Idle {
    ip_len: u32,
    delay_ns: i64,
    /// How long ago the packet before it had been stamped.
    since_ns: i64,
}

/// Delays of packets that found the link idle.
#[derive(Clone, Debug, Default)]
pub(super) struct IdleDelays {
    /// Length and delay of the quickest small packet, and of the quickest large one.
    small: Option<(u32, i64)>,
    large: Option<(u32, i64)>,
    small_samples: Samples<Idle>,
    samples: Samples<Idle>,
    /// Bytes of the longest packet of all that passed.
    longest: u32,
}

impl IdleDelays {
    #[inline]
    pub(super) fn see(&mut self, ip_len: u32, passed: &Passed) {
        self.longest = self.longest.max(ip_len);
        let Some(delay_ns) = passed.idle_ns() else {
            return;
        };
        let (quickest, samples) = match ip_len {
            ..=SMALL_MAX => (&mut self.small, &mut self.small_samples),
            LARGE_MIN.. => (&mut self.large, &mut self.samples),
            _ => return,
        };
        samples.add(Idle {
            ip_len,
            delay_ns,
            since_ns: passed
                .at
                .saturating_sub(passed.left_before.unwrap_or(i64::MIN)),
        });
        if quickest.is_none_or(|(_, ns)| delay_ns < ns) {
            *quickest = Some((ip_len, delay_ns));
        }
    }

    /// The least that a packet took beyond sending, in ns: less than nothing where clocks are
    /// apart. `link` says whether it was stamped when it had been sent.
    pub(super) fn least_ns(&self, link: &Link, rate_bps: f64) -> Option<i64> {
        let sending = |bytes: u32| match link.tap {
            TapPlace::AfterLink => sending_ns(bytes, rate_bps).round() as i64,
            TapPlace::BeforeLink => 0,
        };
        let quickest = [self.small, self.large].into_iter().flatten();
        quickest
            .map(|(bytes, ns)| ns.saturating_sub(sending(bytes)))
            .min()
    }

    /// The link, from its rate. `apart_ns` is what clocks that are apart may have taken from delays; `quick_bps` is
    /// what the link sent at when it was quick, where its rate is not constant: so did the quickest packets come.
    pub(super) fn link(
        &self,
        rate_bps: Option<f64>,
        quick_bps: Option<f64>,
        apart_ns: i64,
    ) -> Link {
        let quickest = [self.small, self.large].into_iter().flatten();
        let Some(rate_bps) = rate_bps else {
            // Hardly anything ever waited, so it does not matter.
            return Link {
                tap: TapPlace::AfterLink,
                transit_ns: quickest.map(|(_, ns)| ns).min().unwrap_or(0).max(0),
            };
        };
        let quick_bps = quick_bps.unwrap_or(rate_bps);
        let behind = !self.are_stamped_before(rate_bps, quick_bps, apart_ns);
        let sending_ns = |bytes: u32| sending_ns(bytes, rate_bps);
        let rest = |(bytes, ns): (u32, i64)| {
            if behind {
                ns.saturating_sub(sending_ns(bytes).round() as i64)
            } else {
                ns
            }
        };
        // One that took less than sending it was sent at a higher rate: the other tells.
        let least = quickest.map(rest).filter(|&ns| ns >= 0).min().unwrap_or(0);
        // Stamps are late as a rule, by some microseconds, and later where a node that slept must
        // wake up, which one with a queue need not: so not the middle packet, but the third that
        // was quickest, shows by how much. What takes longer than that is another queue.
        let usual = self
            .samples
            .part(AWAKE, |idle| rest((idle.ip_len, idle.delay_ns)));
        let transit_ns = usual
            .filter(|usual| (least..=least.saturating_add(LATE_NS_MAX)).contains(usual))
            .unwrap_or(least);
        Link {
            tap: if behind {
                TapPlace::AfterLink
            } else {
                TapPlace::BeforeLink
            },
            transit_ns,
        }
    }

    /// Whether packets are stamped when the link begins to send them. Then large ones take no longer than small ones,
    /// but for those that came while the one before them, which had been stamped, was still being sent; so only those
    /// count that came later. Nearly all of them must be quick: where the node stood still when a packet came in, its
    /// delay is too short, wherever the other point stands. Where all packets are small, they tell themselves.
    fn are_stamped_before(&self, rate_bps: f64, quick_bps: f64, apart_ns: i64) -> bool {
        let free_ns = sending_ns(self.longest, rate_bps);
        let is_quick = |idle: &Idle| match self.small {
            Some((bytes, ns)) if idle.ip_len >= LARGE_MIN => {
                let half_ns = sending_ns(idle.ip_len - bytes, quick_bps) / 2.0;
                let longer_ns = idle.delay_ns.saturating_sub(ns);
                longer_ns as f64 <= half_ns.min(LATE_NS_MAX as f64)
            }
            _ => {
                let sending_ns = sending_ns(idle.ip_len, quick_bps);
                idle.delay_ns.saturating_add(apart_ns) as f64 <= sending_ns * 0.9
            }
        };
        let samples = if self.longest > SMALL_MAX {
            &self.samples
        } else {
            &self.small_samples
        };
        let (mut all, mut quick) = (0, 0);
        for idle in &samples.kept {
            let is_quick = is_quick(idle);
            // One that came sooner and was quick did not wait, as behind a token bucket that lets some pass at once.
            if idle.since_ns as f64 >= free_ns || is_quick {
                all += 1;
                quick += usize::from(is_quick);
            }
        }
        all >= QUICK_MIN && quick * 4 >= all * 3
    }
}

/// Part of the packets that found the link idle, but no node asleep.
const AWAKE: f64 = 1.0 / 3.0;
/// Stamps are late by no more than this as a rule, in ns.
pub(super) const LATE_NS_MAX: i64 = 100_000;
/// Packets from which on it is no chance that they were quick: two may have come while a node stood still.
const QUICK_MIN: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    impl IdleDelays {
        /// A packet that came in a second after the one before it had been stamped.
        fn add(&mut self, ip_len: u32, delay_ns: i64) {
            self.add_after(1_000_000_000, ip_len, delay_ns);
        }

        /// One that came in so much later.
        fn add_after(&mut self, since_ns: i64, ip_len: u32, delay_ns: i64) {
            let passed = Passed {
                at: since_ns,
                left_at: since_ns + delay_ns,
                left_before: Some(0),
            };
            self.see(ip_len, &passed);
        }
    }

    /// At 10 Mbit/s 1500 bytes take 1.2 ms, and 60 bytes 48 us.
    #[test]
    fn a_point_behind_the_link_sees_large_packets_later() {
        let mut idle = IdleDelays::default();
        idle.add(60, 55_000);
        idle.add(1500, 1_210_000);
        idle.add(1500, 1_300_000);
        let link = idle.link(Some(10e6), None, 0);
        assert_eq!((link.tap, link.transit_ns), (TapPlace::AfterLink, 7000));
        // It came at 100, but the packet before it was stamped at 900,000.
        assert_eq!(link.leaves(100, 2_100_000, Some(900_000)), 893_000);
        assert_eq!(link.leaves(900_000, 2_100_000, Some(100)), 900_000);
    }

    /// Of 40 packets of 1500 bytes, which take 1.2 ms to send, 10 take 10 us more, 10 take 20, and
    /// 20 take 40: these woke someone up. A third of them is 14.
    #[test]
    fn transit_is_that_of_a_node_that_is_awake() {
        let mut idle = IdleDelays::default();
        for late in [10_000, 20_000, 40_000, 40_000] {
            for _ in 0..10 {
                idle.add(1500, 1_200_000 + late);
            }
        }
        assert_eq!(idle.link(Some(10e6), None, 0).transit_ns, 20_000);
    }

    /// At 15 Mbit/s 1500 bytes take 0.8 ms: less than at the usual 10 Mbit/s. 60 bytes take 48 us there.
    #[test]
    fn a_packet_sent_at_a_higher_rate_tells_no_transit() {
        let mut idle = IdleDelays::default();
        idle.add(60, 68_000);
        idle.add(1500, 820_000);
        assert_eq!(idle.link(Some(10e6), None, 0).transit_ns, 20_000);
    }

    #[test]
    fn a_point_before_the_link_sees_all_at_once() {
        let mut idle = IdleDelays::default();
        idle.add(60, 5000);
        (0..3).for_each(|_| idle.add(1500, 6000));
        // These waited until the one before them had been sent.
        (0..9).for_each(|_| idle.add_after(100_000, 1500, 1_100_000));
        let link = idle.link(Some(10e6), None, 0);
        assert_eq!((link.tap, link.transit_ns), (TapPlace::BeforeLink, 5000));
        assert_eq!(link.leaves(100, 2_100_000, Some(900_000)), 2_095_000);
    }

    /// A token bucket of three packets: the first of a flight came after a pause, and two more close behind it, which would
    /// have waited for the link. So do those that come close behind another one at a link that has no tokens left.
    #[test]
    fn a_token_bucket_lets_some_pass_at_once() {
        let mut idle = IdleDelays::default();
        idle.add(60, 5000);
        idle.add(1500, 6000);
        (0..2).for_each(|_| idle.add_after(20_000, 1500, 4000));
        (0..9).for_each(|_| idle.add_after(20_000, 1500, 1_180_000));
        assert_eq!(idle.link(Some(10e6), None, 0).tap, TapPlace::BeforeLink);
    }

    /// At 10 Mbit/s 1500 bytes take 1.2 ms; of ten packets two came in while the node stood still: stamped late.
    #[test]
    fn a_few_quick_packets_do_not_show_a_point_before_the_link() {
        let tap = |quick, slow| {
            let mut idle = IdleDelays::default();
            idle.add(60, 55_000);
            (0..quick).for_each(|_| idle.add(1500, 60_000));
            (0..slow).for_each(|_| idle.add(1500, 1_210_000));
            idle.link(Some(10e6), None, 0).tap
        };
        assert_eq!(tap(2, 8), TapPlace::AfterLink);
        assert_eq!(tap(8, 2), TapPlace::BeforeLink);
        // Two that came together may both be late.
        assert_eq!(tap(2, 0), TapPlace::AfterLink);
    }

    /// A SYN of 60 bytes took 20 us instead of 48, and packets that all waited are longer.
    #[test]
    fn small_packets_tell_alone_only_where_all_are_small() {
        let tap = |waiting: u32| {
            let mut idle = IdleDelays::default();
            (0..4).for_each(|_| idle.add(60, 20_000));
            idle.add_after(-1, waiting, 2_000_000);
            idle.link(Some(10e6), None, 0).tap
        };
        assert_eq!(tap(60), TapPlace::BeforeLink);
        assert_eq!(tap(576), TapPlace::AfterLink);
        assert_eq!(tap(1500), TapPlace::AfterLink);
    }

    /// At 4 Mbit/s 1500 bytes take 3 ms, but the link had a rate of 64 Mbit/s whenever it was idle: 188 us.
    #[test]
    fn large_packets_that_take_longer_than_small_ones_were_sent() {
        let mut idle = IdleDelays::default();
        idle.add(60, 26_000);
        (0..9).for_each(|_| idle.add(1500, 200_000));
        assert_eq!(idle.link(Some(4e6), None, 0).tap, TapPlace::AfterLink);
    }

    /// At 80 Mbit/s, as the link was quick, the 1440 bytes more take 144 us. In front of it both are sent at once.
    #[test]
    fn where_the_rate_is_not_constant_the_quickest_packet_came_at_the_highest() {
        let tap = |large_ns| {
            let mut idle = IdleDelays::default();
            idle.add(60, 22_000);
            (0..4).for_each(|_| idle.add(1500, large_ns));
            idle.link(Some(10e6), Some(80e6), 0).tap
        };
        assert_eq!(tap(22_000 + 95_000), TapPlace::AfterLink);
        assert_eq!(tap(23_000), TapPlace::BeforeLink);
    }
}
