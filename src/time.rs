//! Instants of a capture: integer nanoseconds, and nothing that reads a clock.

/// An instant as the capture stamped it, in nanoseconds since the Unix epoch.
///
/// Range: the whole of `i64` (the years 1677 to 2262). Captures with absurd clocks saturate
/// rather than wrap; differences saturate too, so no pair of instants can panic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaptureTime(i64);

impl CaptureTime {
    /// The earliest instant that can be held: before every packet.
    pub const MIN: Self = Self(i64::MIN);
    /// The latest instant that can be held: after every packet.
    pub const MAX: Self = Self(i64::MAX);

    /// The instant `ns` nanoseconds after the Unix epoch (before it, when negative).
    #[must_use]
    pub const fn from_ns(ns: i64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since the Unix epoch.
    #[must_use]
    pub const fn as_ns(self) -> i64 {
        self.0
    }

    /// Nanoseconds from `earlier` to `self`; negative when `self` is the earlier one. Saturates.
    #[must_use]
    pub const fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The instant `ns` nanoseconds after this one. Saturates.
    #[must_use]
    pub const fn plus_ns(self, ns: i64) -> Self {
        Self(self.0.saturating_add(ns))
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
    }
}
