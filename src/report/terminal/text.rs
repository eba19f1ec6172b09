//! What of a text comes to a terminal.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::counted;
use crate::capture::acts;

/// A message without the numbers of the system's errors, which tell nobody anything:
/// `No such file or directory (os error 2)`.
pub(super) fn without_numbers(message: &str) -> String {
    let mut parts = message.split(" (os error ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((number, rest)) if number.parse::<i32>().is_ok() => text.push_str(rest),
            _ => {
                text.push_str(" (os error ");
                text.push_str(part);
            }
        }
    }
    text
}

/// A text without what the name of a file could make a terminal do: characters that act on those around them, but for
/// ends of lines and tabs, are written as escapes.
pub(super) fn printable(text: &str) -> Cow<'_, str> {
    let acts = |letter: char| acts(letter) && !matches!(letter, '\n' | '\t');
    if !text.contains(acts) {
        return text.into();
    }
    let mut shown = String::new();
    for letter in text.chars() {
        if acts(letter) {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    shown.into()
}

/// Warnings of captures by what these are called: what is said of many, but for its numbers, is said of the first, and of
/// how many others it is so.
pub(super) fn gathered(all: Vec<(String, String)>) -> Vec<String> {
    /// What is said of so many captures is said of each.
    const SAID_OF_EACH: usize = 4;
    let kind = |warning: &str| -> String {
        let is_number = |letter: char| letter.is_ascii_digit() || ",.".contains(letter);
        warning.split(is_number).collect()
    };
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    for (_, warning) in &all {
        *alike.entry(kind(warning)).or_default() += 1;
    }
    let said = all.into_iter().filter_map(|(name, warning)| {
        let alike = alike.get_mut(&kind(&warning))?;
        match *alike {
            0 => None,
            count if count > SAID_OF_EACH => {
                let others = counted(count as u64 - 1, "other capture");
                *alike = 0;
                Some(format!(
                    "{name}: {warning}; so it is of {others}, each by its own numbers"
                ))
            }
            _ => Some(format!("{name}: {warning}")),
        }
    });
    said.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_tabs_stay_and_nothing_else_acts() {
        let text = "a\tb\nc\u{1b}[2J\u{202e}d\u{2066}e\u{200f}f\u{2028}g";
        let shown = "a\tb\nc\\u{1b}[2J\\u{202e}d\\u{2066}e\\u{200f}f\\u{2028}g";
        assert_eq!(printable(text), shown);
        assert_eq!(printable("Ä → 日本"), "Ä → 日本");
    }

    #[test]
    fn what_is_said_of_many_captures_is_said_once() {
        let warning =
            |text: &str, number: usize| (format!("{number}.pcap"), format!("{text} {number} ms"));
        for (captures, lines) in [(4, 5), (5, 2)] {
            let mut all: Vec<(String, String)> =
                (0..captures).map(|at| warning("lasts", at)).collect();
            all.insert(2, warning("pauses", 7));
            let said = gathered(all);
            assert_eq!(said.len(), lines, "{said:?}");
            assert!(said.contains(&"7.pcap: pauses 7 ms".to_owned()), "{said:?}");
            let others =
                "0.pcap: lasts 0 ms; so it is of 4 other captures, each by its own numbers";
            assert_eq!(said[0] == others, captures > 4, "{said:?}");
        }
    }
}
