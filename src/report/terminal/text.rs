//! What of a text comes to a terminal.

use std::borrow::Cow;

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

/// A text without what the name of a file could make a terminal do: control characters, but for ends of lines and tabs,
/// are written as escapes.
pub(super) fn printable(text: &str) -> Cow<'_, str> {
    let acts = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
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
