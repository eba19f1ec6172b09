//! The natural order of words: digits in them count as numbers.

use std::cmp::Ordering;

/// By letters, and by numbers where both have digits: `10m`, `20m`, `100m`; `0.5bdp`, `2bdp`, `10bdp`.
///
/// Digits with one point among them are a decimal number, those with several (addresses, versions) a number each.
/// Words that differ are never equal.
pub(super) fn natural_order(a: &str, b: &str) -> Ordering {
    Parts::of(a).cmp(Parts::of(b)).then_with(|| a.cmp(b))
}

/// A part of a word; numbers come before letters.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Part<'a> {
    Number(Number<'a>),
    Letters(&'a str),
}

/// A number by its digits, however many these are.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Number<'a> {
    /// Digits before the point, zeros in front left out: more of them are more.
    digits: usize,
    whole: &'a str,
    /// Digits behind the point, zeros at the end left out.
    fraction: &'a str,
}

impl<'a> Number<'a> {
    fn of(whole: &'a str, fraction: &'a str) -> Part<'a> {
        let whole = whole.trim_start_matches('0');
        Part::Number(Self {
            digits: whole.len(),
            whole,
            fraction: fraction.trim_end_matches('0'),
        })
    }
}

/// What is left of a word, part by part.
struct Parts<'a> {
    rest: &'a str,
    /// Among numbers with several points between them.
    is_dotted: bool,
}

impl<'a> Parts<'a> {
    fn of(rest: &'a str) -> Self {
        Self {
            rest,
            is_dotted: false,
        }
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let is_digit = |c: char| c.is_ascii_digit();
        let digits = |text: &str| text.find(|c| !is_digit(c)).unwrap_or(text.len());
        let first = self.rest.chars().next()?;
        if !is_digit(first) {
            let letters = self.rest.find(is_digit).unwrap_or(self.rest.len());
            let letters = self.take(letters);
            self.is_dotted &= letters == ".";
            return Some(Part::Letters(letters));
        }
        let whole = digits(self.rest);
        let behind = |at: usize| self.rest[at..].strip_prefix('.').map_or(0, digits);
        let fraction = behind(whole);
        self.is_dotted |= fraction > 0 && behind(whole + 1 + fraction) > 0;
        let whole = self.take(whole);
        if fraction == 0 || self.is_dotted {
            return Some(Number::of(whole, ""));
        }
        let fraction = &self.take(1 + fraction)[1..];
        Some(Number::of(whole, fraction))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted<const N: usize>(mut words: [&str; N]) -> [&str; N] {
        words.sort_by(|a, b| natural_order(a, b));
        words
    }

    #[test]
    fn digits_are_numbers() {
        for words in [
            ["10m", "20m", "100m"],
            ["0.25bdp", "0.5bdp", "10bdp"],
            ["run-2-b", "run-10", "run-10-a"],
            ["10.0.0.2", "10.0.0.10", "10.0.1.1"],
            ["2", "10", "bbr"],
            ["bbr", "bbr2", "bbr10"],
            ["9", "99999999999999999999999", "100000000000000000000000"],
            ["", "1.", "1.5"],
            ["ü2", "ü10", "ü10.5"],
        ] {
            let [a, b, c] = words;
            for mixed in [[c, b, a], [b, a, c], [c, a, b]] {
                assert_eq!(sorted(mixed), words);
            }
        }
    }

    #[test]
    fn what_is_written_otherwise_is_not_the_same() {
        for (a, b) in [("1", "01"), ("1.5", "1.50"), ("a", "A")] {
            assert_ne!(natural_order(a, b), Ordering::Equal);
            assert_eq!(natural_order(a, b), natural_order(b, a).reverse());
        }
    }

    proptest::proptest! {
        /// Sorting needs an order: of any three words, what is before the middle one is before the last.
        #[test]
        fn any_words_have_an_order(words in proptest::collection::vec("[.01a9-]{0,6}", 3)) {
            let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
            words.sort_by(|a, b| natural_order(a, b));
            proptest::prop_assert!(natural_order(words[0], words[2]).is_le());
            proptest::prop_assert!(natural_order(words[0], words[1]).is_le());
        }
    }
}
