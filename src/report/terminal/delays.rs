//! Delays in words, each in the unit that suits it.

pub(in crate::report) fn millis(ns: f64) -> String {
    digits(ns / 1e6)
}

/// Three digits, with three behind the point at most; 0 only for nothing at all.
fn digits(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let digits = match number.abs() {
        ..0.0995 => 3,
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{number:.digits$}")
}

/// Delays in ns, from the smallest to the largest, in the unit that suits the longest.
pub(in crate::report) fn delays(ns: [f64; 3]) -> String {
    let (unit, unit_ns) = match ns[2].max(-ns[0]) {
        ..999_500.0 => ("µs", 1e3),
        longest => long_unit(longest),
    };
    let [min, mean, max] = ns.map(|ns| digits(ns / unit_ns));
    format!("{min}/{mean}/{max} {unit}")
}

/// The unit of a delay, and its length in ns: milliseconds, but no thousands of them that nobody reads.
fn long_unit(ns: f64) -> (&'static str, f64) {
    match ns {
        ..10e9 => ("ms", 1e6),
        ..7200e9 => ("s", 1e9),
        ..172_800e9 => ("h", 3600e9),
        _ => ("days", 86_400e9),
    }
}

/// A delay in ns, in milliseconds or, where these would be too many or a fraction of one, in what is longer or shorter.
pub(in crate::report) fn delay(ns: f64) -> String {
    let (unit, unit_ns) = match ns.abs() {
        // Nothing at all is in milliseconds, as most are.
        f64::MIN_POSITIVE..999_500.0 => ("µs", 1e3),
        rest => long_unit(rest),
    };
    format!("{} {unit}", digits(ns / unit_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_have_the_unit_that_suits_the_largest() {
        for (ns, text) in [
            ([0.0, 400.0, 1000.0], "0/0.40/1.00 µs"),
            ([12_345.0, 300_000.0, 999_000.0], "12.3/300/999 µs"),
            ([3000.0, 80_000.0, 1_450_000.0], "0.003/0.080/1.45 ms"),
            ([2.04e6, 12.34e6, 1234e6], "2.04/12.3/1234 ms"),
            ([2.04e6, 12.34e6, 9.9e9], "2.04/12.3/9900 ms"),
            ([2e9, 12.34e9, 7199e9], "2.00/12.3/7199 s"),
            ([36e9, 7200e9, 36_000e9], "0.010/2.00/10.0 h"),
            // A clock that was set, in a capture of the year 0.
            ([0.0, 1e15, 4_294_971_589_967e6], "0/11.6/49710 days"),
            ([-12.5e9, -1.5e9, 2e6], "-12.5/-1.50/0.002 s"),
        ] {
            assert_eq!(delays(ns), text);
        }
    }

    #[test]
    fn a_delay_has_three_digits_in_the_unit_that_suits_it() {
        for (ns, text) in [
            (0.0, "0 ms"),
            (3160.0, "3.16 µs"),
            (-6150.0, "-6.15 µs"),
            (999_499.0, "999 µs"),
            (999_500.0, "1.00 ms"),
            (54.6e6, "54.6 ms"),
            (9.99e9, "9990 ms"),
            (12e9, "12.0 s"),
        ] {
            assert_eq!(delay(ns), text);
        }
    }
}
