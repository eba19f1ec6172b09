//! Instants of a capture: integer nanoseconds, and nothing that reads a clock.

use std::fmt;
use std::num::NonZeroU64;

/// A second, in nanoseconds.
pub(crate) const SECOND_NS: i64 = 1_000_000_000;

/// An instant as the capture stamped it, in nanoseconds since the Unix epoch.
///
/// Range: less than 2^62 ns before or after the epoch (the years 1824 to 2116), which holds whatever
/// a pcap file can say. Captures with absurd clocks saturate rather than wrap, and any two instants
/// are less than 2^63 ns apart, so that a difference is one subtraction: a dozen are taken for every packet.
///
/// Held from 2^62 ns before the epoch on, which keeps the order and leaves 0 unused: an
/// `Option<CaptureTime>` takes no more room, and a connection holds a score of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaptureTime(NonZeroU64);

/// The epoch, as it is held.
const EPOCH: i64 = 1 << 62;

impl CaptureTime {
    /// The earliest instant that can be held: before every packet.
    pub const MIN: Self = Self(NonZeroU64::MIN);
    /// The latest instant that can be held: after every packet.
    pub const MAX: Self = Self::from_ns(EPOCH - 1);

    /// The instant `ns` nanoseconds after the Unix epoch (before it, when negative). Saturates.
    #[inline]
    #[must_use]
    pub const fn from_ns(ns: i64) -> Self {
        // The latest instant is held as the largest number: what is later saturates there.
        Self::held(ns.saturating_add(EPOCH))
    }

    /// The instant that is held so; the earliest for what is below it.
    #[inline]
    const fn held(held: i64) -> Self {
        let held = if held > 0 { held } else { 1 };
        match NonZeroU64::new(held.cast_unsigned()) {
            Some(held) => Self(held),
            None => Self::MIN,
        }
    }

    /// Nanoseconds since the Unix epoch.
    #[inline]
    #[must_use]
    pub const fn as_ns(self) -> i64 {
        self.0.get().cast_signed() - EPOCH
    }

    /// Nanoseconds from `earlier` to `self`; negative when `self` is the earlier one.
    #[inline]
    #[must_use]
    pub const fn since(self, earlier: Self) -> i64 {
        // Both are in 1..2^63.
        self.0.get().cast_signed() - earlier.0.get().cast_signed()
    }

    /// The instant `ns` nanoseconds after this one. Saturates.
    #[inline]
    #[must_use]
    pub const fn plus_ns(self, ns: i64) -> Self {
        Self::held(self.0.get().cast_signed().saturating_add(ns))
    }
}

impl Default for CaptureTime {
    /// The Unix epoch.
    fn default() -> Self {
        Self::from_ns(0)
    }
}

/// Seconds since the Unix epoch, to the nanosecond, as `tcpdump -tt` has them: `1700000000.000000001`.
impl fmt::Display for CaptureTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NS_PER_S: u64 = SECOND_NS.unsigned_abs();
        let ns = self.as_ns();
        let (s, rest) = (ns.unsigned_abs() / NS_PER_S, ns.unsigned_abs() % NS_PER_S);
        f.pad_integral(ns >= 0, "", &format!("{s}.{rest:09}"))
    }
}

impl fmt::Debug for CaptureTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CaptureTime").field(&self.as_ns()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extreme_instants_saturate_and_their_differences_fit() {
        assert_eq!(CaptureTime::from_ns(i64::MIN), CaptureTime::MIN);
        assert_eq!(CaptureTime::from_ns(-EPOCH), CaptureTime::MIN);
        assert_eq!(CaptureTime::from_ns(EPOCH), CaptureTime::MAX);
        assert_eq!(CaptureTime::from_ns(i64::MAX), CaptureTime::MAX);
        assert_eq!(CaptureTime::MAX.plus_ns(1), CaptureTime::MAX);
        assert_eq!(CaptureTime::MAX.plus_ns(i64::MIN), CaptureTime::MIN);
        assert_eq!(CaptureTime::MIN.plus_ns(i64::MAX), CaptureTime::MAX);
        let apart_ns = 2 * (EPOCH - 1);
        assert_eq!(CaptureTime::MAX.since(CaptureTime::MIN), apart_ns);
        assert_eq!(CaptureTime::MIN.since(CaptureTime::MAX), -apart_ns);
    }

    #[test]
    fn whatever_a_pcap_file_says_fits() {
        let last_ns = i64::from(u32::MAX) * 1_000_000_000 + i64::from(u32::MAX) * 1_000;
        assert_eq!(CaptureTime::from_ns(last_ns).as_ns(), last_ns);
    }

    #[test]
    fn an_instant_is_shown_in_seconds_to_the_nanosecond() {
        let shown = |ns| CaptureTime::from_ns(ns).to_string();
        assert_eq!(shown(1_700_000_000_000_000_001), "1700000000.000000001");
        assert_eq!(shown(0), "0.000000000");
        assert_eq!(shown(-1_500_000_000), "-1.500000000");
        assert_eq!(shown(-1), "-0.000000001");
        assert_eq!(CaptureTime::MIN.to_string(), "-4611686018.427387903");
        assert_eq!(format!("{:>13}", CaptureTime::from_ns(1)), "  0.000000001");
    }

    #[test]
    fn the_order_is_that_of_the_nanoseconds_and_none_takes_no_room() {
        let ns = [
            1 - EPOCH,
            -1_000,
            -1,
            0,
            1,
            1_700_000_000_000_000_000,
            EPOCH - 1,
        ];
        let instants = ns.map(CaptureTime::from_ns);
        assert!(instants.is_sorted());
        assert_eq!(instants.map(CaptureTime::as_ns), ns);
        assert_eq!(size_of::<Option<CaptureTime>>(), size_of::<i64>());
    }
}
