//! Instants of a capture: integer nanoseconds, and nothing that reads a clock.

use std::fmt;
use std::num::NonZeroU64;

/// An instant as the capture stamped it, in nanoseconds since the Unix epoch.
///
/// Range: that of `i64` (the years 1677 to 2262) but for its lowest number. Captures with absurd
/// clocks saturate rather than wrap; differences saturate too, so no pair of instants can panic.
///
/// Held with the sign bit turned over, which keeps the order and leaves 0 unused: an
/// `Option<CaptureTime>` takes no more room, and a connection holds a score of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaptureTime(NonZeroU64);

const SIGN: u64 = 1 << 63;

impl CaptureTime {
    /// The earliest instant that can be held: before every packet.
    pub const MIN: Self = Self(NonZeroU64::MIN);
    /// The latest instant that can be held: after every packet.
    pub const MAX: Self = Self(NonZeroU64::MAX);

    /// The instant `ns` nanoseconds after the Unix epoch (before it, when negative).
    #[inline]
    #[must_use]
    pub const fn from_ns(ns: i64) -> Self {
        match NonZeroU64::new(ns.cast_unsigned() ^ SIGN) {
            Some(turned) => Self(turned),
            None => Self::MIN,
        }
    }

    /// Nanoseconds since the Unix epoch.
    #[inline]
    #[must_use]
    pub const fn as_ns(self) -> i64 {
        (self.0.get() ^ SIGN).cast_signed()
    }

    /// Nanoseconds from `earlier` to `self`; negative when `self` is the earlier one. Saturates.
    #[inline]
    #[must_use]
    pub const fn since(self, earlier: Self) -> i64 {
        self.as_ns().saturating_sub(earlier.as_ns())
    }

    /// The instant `ns` nanoseconds after this one. Saturates.
    #[inline]
    #[must_use]
    pub const fn plus_ns(self, ns: i64) -> Self {
        Self::from_ns(self.as_ns().saturating_add(ns))
    }
}

impl Default for CaptureTime {
    /// The Unix epoch.
    fn default() -> Self {
        Self::from_ns(0)
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
    fn differences_of_extreme_instants_saturate() {
        assert_eq!(CaptureTime::MAX.since(CaptureTime::MIN), i64::MAX);
        assert_eq!(CaptureTime::MIN.since(CaptureTime::MAX), i64::MIN);
        assert_eq!(CaptureTime::MAX.plus_ns(1), CaptureTime::MAX);
        assert_eq!(CaptureTime::from_ns(i64::MIN), CaptureTime::MIN);
    }

    #[test]
    fn the_order_is_that_of_the_nanoseconds_and_none_takes_no_room() {
        let ns = [
            i64::MIN + 1,
            -1_000,
            -1,
            0,
            1,
            1_700_000_000_000_000_000,
            i64::MAX,
        ];
        let instants = ns.map(CaptureTime::from_ns);
        assert!(instants.is_sorted());
        assert_eq!(instants.map(CaptureTime::as_ns), ns);
        assert_eq!(size_of::<Option<CaptureTime>>(), size_of::<i64>());
    }
}
