//! What of a text comes to a terminal.

use std::borrow::Cow;

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
}
