//! Numbers as people read them: `1 flow`, `1,234 flows`.

/// How thousands are set apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thousands {
    /// By commas, in text that is copied: `1,234`.
    Comma,
    /// By thin spaces, in pictures, where four digits are read at a glance: `1234`, `12 345`.
    #[cfg(feature = "charts")]
    Thin,
}

impl Thousands {
    /// A number with its thousands apart.
    pub(crate) fn grouped(self, number: u64) -> String {
        self.apart(&number.to_string())
    }

    /// `1 flow`, `2 flows`.
    pub(crate) fn counted(self, number: u64, noun: &str) -> String {
        let end = if number == 1 { "" } else { "s" };
        format!("{} {noun}{end}", self.grouped(number))
    }

    /// Digits with their thousands apart.
    pub(crate) fn apart(self, digits: &str) -> String {
        let (apart, whole_max) = match self {
            Self::Comma => (',', 3),
            #[cfg(feature = "charts")]
            Self::Thin => ('\u{2009}', 4),
        };
        if digits.len() <= whole_max {
            return digits.to_owned();
        }
        let mut text = String::new();
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                text.push(apart);
            }
            text.push(digit);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one_and_thousands_are_apart() {
        for (number, said) in [
            (0, "0 flows"),
            (1, "1 flow"),
            (999, "999 flows"),
            (1234, "1,234 flows"),
            (1_234_567, "1,234,567 flows"),
        ] {
            assert_eq!(Thousands::Comma.counted(number, "flow"), said);
        }
    }

    #[cfg(feature = "charts")]
    #[test]
    fn in_pictures_four_digits_stay_together() {
        let said = [1, 1234, 12_345, 1_234_567].map(|n| Thousands::Thin.counted(n, "flow"));
        let expected = [
            "1 flow",
            "1234 flows",
            "12\u{2009}345 flows",
            "1\u{2009}234\u{2009}567 flows",
        ];
        assert_eq!(said, expected);
    }
}
