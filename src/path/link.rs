//! The link behind the queue: its rate, and where the second point stands (METRICS.md B5).

use super::queue::QueueBin;

/// Where packets are stamped when they have left the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// `left_before` is the stamp of the packet that left before it.
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

    /// Whether two links give the same queue, when sending a packet takes `sending_ns`.
    pub(super) fn is_near(&self, other: &Self, sending_ns: Option<f64>) -> bool {
        let near = sending_ns.map_or(20_000.0, |ns| (ns / 200.0).clamp(500.0, 20_000.0));
        self.tap == other.tap && (self.transit_ns.abs_diff(other.transit_ns) as f64) <= near
    }
}

/// Delays of packets that found the link idle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IdleDelays {
    /// Length and delay of the quickest small packet, and of the quickest large one.
    small: Option<(u32, i64)>,
    large: Option<(u32, i64)>,
}

impl IdleDelays {
    #[inline]
    pub(super) fn add(&mut self, ip_len: u32, delay_ns: i64) {
        let quickest = match ip_len {
            ..=SMALL_MAX => &mut self.small,
            LARGE_MIN.. => &mut self.large,
            _ => return,
        };
        if quickest.is_none_or(|(_, ns)| delay_ns < ns) {
            *quickest = Some((ip_len, delay_ns));
        }
    }

    /// The link, from its rate: a point behind it sees large packets later than small ones, by
    /// the time that sending them takes.
    pub(super) fn link(&self, rate_bps: Option<f64>) -> Link {
        let quickest = [self.small, self.large].into_iter().flatten();
        let Some(rate_bps) = rate_bps else {
            // Hardly anything ever waited, so it does not matter.
            return Link {
                tap: TapPlace::AfterLink,
                transit_ns: quickest.map(|(_, ns)| ns).min().unwrap_or(0).max(0),
            };
        };
        let sending_ns = |bytes: u32| sending_ns(bytes, rate_bps);
        let behind = match (self.small, self.large) {
            (Some(small), Some(large)) => {
                (large.1 - small.1) as f64 > sending_ns(large.0 - small.0) / 2.0
            }
            (None, Some(one)) | (Some(one), None) => one.1 as f64 > sending_ns(one.0) * 0.9,
            (None, None) => true,
        };
        let rest = |(bytes, ns): (u32, i64)| {
            if behind {
                ns - sending_ns(bytes).round() as i64
            } else {
                ns
            }
        };
        Link {
            tap: if behind {
                TapPlace::AfterLink
            } else {
                TapPlace::BeforeLink
            },
            transit_ns: quickest.map(rest).min().unwrap_or(0).max(0),
        }
    }
}

/// How long a link of this rate sends so many bytes, in ns.
pub(super) fn sending_ns(bytes: u32, rate_bps: f64) -> f64 {
    f64::from(bytes) * 8e9 / rate_bps
}

/// Rate of the link in IP bits per second: what it sent while more was waiting. Of the rates of
/// all bins the middle one by bytes, so that neither a pause nor a short spell decides; over all
/// together where no bin holds enough. `None` where it was busy for less than 1 % of the time.
pub(super) fn rate_bps(bins: &[QueueBin], duration_ns: i64) -> Option<f64> {
    let served_ns: i64 = bins.iter().map(|bin| bin.served_ns).sum();
    if served_ns <= duration_ns / 100 {
        return None;
    }
    let rate = |bytes: u64, ns: i64| (ns > 0).then(|| bytes as f64 * 8e9 / ns as f64);
    let mut rates: Vec<(f64, u64)> = bins
        .iter()
        .filter(|bin| bin.served_bytes >= SERVED_MIN)
        .filter_map(|bin| Some((rate(bin.served_bytes, bin.served_ns)?, bin.served_bytes)))
        .collect();
    rates.sort_by(|one, other| one.0.total_cmp(&other.0));
    let half = rates.iter().map(|(_, bytes)| bytes).sum::<u64>() / 2;
    let mut below = 0;
    let middle = rates.iter().find(|(_, bytes)| {
        below += bytes;
        below > half
    });
    middle.map(|(bps, _)| *bps).or_else(|| {
        let bytes = bins.iter().map(|bin| bin.served_bytes).sum();
        rate(bytes, served_ns)
    })
}

/// IP bytes that a bin must have been sent for its rate to count: some full packets.
const SERVED_MIN: u64 = 6000;
/// IP bytes up to which a packet is small: ACKs and handshakes.
const SMALL_MAX: u32 = 200;
/// IP bytes from which a packet is large.
const LARGE_MIN: u32 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    /// At 10 Mbit/s 1500 bytes take 1.2 ms, and 60 bytes 48 us.
    #[test]
    fn a_point_behind_the_link_sees_large_packets_later() {
        let mut idle = IdleDelays::default();
        idle.add(60, 55_000);
        idle.add(1500, 1_210_000);
        idle.add(1500, 1_300_000);
        let link = idle.link(Some(10e6));
        assert_eq!((link.tap, link.transit_ns), (TapPlace::AfterLink, 7000));
        // It came at 100, but the packet before it was stamped at 900,000.
        assert_eq!(link.leaves(100, 2_100_000, Some(900_000)), 893_000);
        assert_eq!(link.leaves(900_000, 2_100_000, Some(100)), 900_000);
    }

    #[test]
    fn a_point_before_the_link_sees_all_at_once() {
        let mut idle = IdleDelays::default();
        idle.add(60, 5000);
        idle.add(1500, 6000);
        let link = idle.link(Some(10e6));
        assert_eq!((link.tap, link.transit_ns), (TapPlace::BeforeLink, 5000));
        assert_eq!(link.leaves(100, 2_100_000, Some(900_000)), 2_095_000);
    }
}
