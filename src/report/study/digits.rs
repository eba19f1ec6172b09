//! Numbers as they are read: rounded to the digits that count.

use crate::report::digits::to_digits;

/// A number with four digits that count, and all before the point; very large and very small ones with an exponent.
pub(in crate::report) fn rounded(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let exponent = number.abs().log10().floor() as i32;
    if !(-5..15).contains(&exponent) {
        return format!("{number:.3e}");
    }
    let digits = (3 - exponent).max(0) as usize;
    let text = format!("{number:.digits$}");
    if text.contains('.') {
        let text = text.trim_end_matches('0').trim_end_matches('.');
        return if text == "-0" {
            "0".to_owned()
        } else {
            text.to_owned()
        };
    }
    text
}

/// A number with all digits that it was given: as many as are told apart, which leaves out what a change of units leaves
/// behind.
pub(in crate::report) fn in_full(number: f64) -> String {
    to_digits(number, f64::DIGITS as usize).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_four_digits() {
        for (number, text) in [
            (0.0, "0"),
            (0.5, "0.5"),
            (2.0, "2"),
            (1_404.103_3, "1404"),
            (151.064_491, "151.1"),
            (12_345_678.9, "12345679"),
            (0.000_123_456_78, "0.0001235"),
            (2.69e-57, "2.690e-57"),
            (-3.631_23, "-3.631"),
        ] {
            assert_eq!(rounded(number), text);
        }
    }
}
