//! Ticks of a capture file → nanoseconds since the epoch, in integers.

use super::TimeResolution;
use crate::time::{CaptureTime, SECOND_NS};

/// The clock of one pcapng interface: how long its ticks are, and what they count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    scale: Scale,
    /// `if_tsoffset` in nanoseconds: any `i64` of seconds fits.
    offset_ns: i128,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    /// A tick is this many nanoseconds.
    Multiply(u64),
    /// This many ticks are a nanosecond.
    Divide(u64),
    /// A tick is 2 to the minus this many seconds.
    Shift(u8),
    /// So fine that all of 2^64 ticks are less than a nanosecond.
    Nothing,
}

impl Clock {
    /// The clock of an interface, from the values of `if_tsresol` and `if_tsoffset` (seconds).
    pub(super) fn new(resolution: TimeResolution, offset_seconds: i64) -> Self {
        let scale = match resolution {
            TimeResolution::PowerOfTen(digits @ 0..=9) => {
                Scale::Multiply(10u64.pow(u32::from(9 - digits)))
            }
            TimeResolution::PowerOfTen(digits @ 10..=28) => {
                Scale::Divide(10u64.pow(u32::from(digits - 9)))
            }
            TimeResolution::PowerOfTwo(bits @ 0..=94) => Scale::Shift(bits),
            TimeResolution::PowerOfTen(_) | TimeResolution::PowerOfTwo(_) => Scale::Nothing,
        };
        Self {
            scale,
            offset_ns: i128::from(offset_seconds) * i128::from(SECOND_NS),
        }
    }

    /// The instant of `ticks`: what is finer than a nanosecond is cut, what does not fit saturates.
    #[inline]
    pub(super) fn at(self, ticks: u64) -> CaptureTime {
        if let Scale::Multiply(ns_per_tick) = self.scale
            && self.offset_ns == 0
            && let Some(ns) = ticks.checked_mul(ns_per_tick)
            && let Ok(ns) = i64::try_from(ns)
        {
            return CaptureTime::from_ns(ns);
        }
        self.at_any(ticks)
    }

    fn at_any(self, ticks: u64) -> CaptureTime {
        let ticks = i128::from(ticks);
        // At most 2^64 * 10^9, far below 2^127.
        let ns = match self.scale {
            Scale::Multiply(ns_per_tick) => ticks * i128::from(ns_per_tick),
            Scale::Divide(ticks_per_ns) => ticks / i128::from(ticks_per_ns),
            Scale::Shift(bits) => (ticks * i128::from(SECOND_NS)) >> bits,
            Scale::Nothing => 0,
        };
        let ns = (ns + self.offset_ns).clamp(i128::from(i64::MIN), i128::from(i64::MAX));
        CaptureTime::from_ns(ns as i64)
    }
}

/// The value of an `if_tsresol` option: bit 7 tells the base, the others the exponent.
pub(super) fn resolution_from_option(value: u8) -> TimeResolution {
    if value & 0x80 == 0 {
        TimeResolution::PowerOfTen(value)
    } else {
        TimeResolution::PowerOfTwo(value & 0x7f)
    }
}

/// The instant of a pcap record: unsigned seconds, and a fraction in units of `ns_per_unit` that
/// may exceed a second (some writers do not carry). The largest values stay below 2^62.
#[inline]
pub(super) fn pcap_time(seconds: u32, fraction: u32, ns_per_unit: i64) -> CaptureTime {
    CaptureTime::from_ns(i64::from(seconds) * SECOND_NS + i64::from(fraction) * ns_per_unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(option: u8, offset: i64, ticks: u64) -> i64 {
        Clock::new(resolution_from_option(option), offset)
            .at(ticks)
            .as_ns()
    }

    #[test]
    fn ticks_of_every_resolution_become_nanoseconds() {
        for (option, ticks, expected) in [
            (0, 5, 5_000_000_000),
            (3, 5_123, 5_123_000_000),
            (6, 5_123_456, 5_123_456_000),
            (9, 5_123_456_789, 5_123_456_789),
            (12, 5_123_456_789_012, 5_123_456_789),
            (28, u64::MAX, 1),
            (29, u64::MAX, 0),
            (127, u64::MAX, 0),
            (0x80, 7, 7_000_000_000),
            (0x8a, 1024 + 512, 1_500_000_000),
            (0x94, (3 << 20) + (1 << 18), 3_250_000_000),
            (0xa0, (9 << 32) + (1 << 31), 9_500_000_000),
            (0xbf, 1 << 63, 1_000_000_000),
            (0xc0, u64::MAX, 999_999_999),
            (0xff, u64::MAX, 0),
        ] {
            assert_eq!(ns(option, 0, ticks), expected, "if_tsresol {option:#x}");
        }
    }

    #[test]
    fn offsets_add_seconds_of_either_sign() {
        assert_eq!(ns(6, 1, 500_000), 1_500_000_000);
        assert_eq!(ns(9, -2, 500_000_000), -1_500_000_000);
        assert_eq!(ns(0x8a, 10, 512), 10_500_000_000);
    }

    #[test]
    fn absurd_clocks_saturate() {
        let (min, max) = (CaptureTime::MIN.as_ns(), CaptureTime::MAX.as_ns());
        assert_eq!(ns(0, 0, u64::MAX), max);
        assert_eq!(ns(6, i64::MIN, 0), min);
        assert_eq!(ns(6, i64::MAX, u64::MAX), max);
    }

    #[test]
    fn pcap_seconds_are_unsigned_and_fractions_carry() {
        assert_eq!(
            pcap_time(u32::MAX, 0, 1_000).as_ns(),
            4_294_967_295_000_000_000
        );
        assert_eq!(pcap_time(1, 1_500_000, 1_000).as_ns(), 2_500_000_000);
        assert_eq!(pcap_time(1, u32::MAX, 1).as_ns(), 5_294_967_295);
        assert!(pcap_time(u32::MAX, u32::MAX, 1_000).as_ns() > 0);
    }
}
