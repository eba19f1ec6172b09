//! Names of files, in parts.

use super::points::is_point;
use crate::study::files::{CAPTURE_ENDINGS, TABLE_ENDINGS};

/// Characters that separate the parts of names.
pub(super) const SEPARATORS: [char; 3] = ['/', '_', '-'];

/// A name without the endings of captures, tables and compression, and those.
pub(super) fn stem_of(name: &str) -> (&str, &str) {
    let start = name.rfind('/').map_or(0, |slash| slash + 1);
    // Other letters may take another number of bytes in lower case.
    let lower = name.to_ascii_lowercase();
    let ending = CAPTURE_ENDINGS
        .iter()
        .chain(&TABLE_ENDINGS)
        .filter_map(|ending| lower.rfind(ending))
        .filter(|&at| at >= start)
        .max()
        .unwrap_or(name.len());
    name.split_at(ending)
}

/// When flent made an archive, as it is written in its name; and what stands for it in a template.
/// What is behind it is one part, a title that may hold anything.
const MADE: &str = "0000-00-00T000000.000000";
const MADE_TEMPLATE: &str = "????-??-??T??????.??????";

/// The parts of a name without its ending, and what separates them.
pub(super) fn parts_of(stem: &str) -> (Vec<&str>, Vec<char>) {
    let (rest, title) = match made_at(stem) {
        Some(at) => (&stem[..at], Some(&stem[at + MADE.len()..])),
        None => (stem, None),
    };
    let (mut parts, mut separators) = separated(rest);
    // A word for the point of a capture is a part behind a full stop, too, which else may be one of a number.
    if let Some(last) = parts.last_mut()
        && let Some((ahead, word)) = last.rsplit_once('.')
        && !ahead.is_empty()
        && is_point(word)
    {
        *last = ahead;
        separators.push('.');
        parts.push(word);
    }
    if let Some(title) = title {
        // The separator before it leaves an empty part.
        if let Some(last) = parts.last_mut() {
            *last = MADE_TEMPLATE;
        }
        if let Some(title) = title.strip_prefix('.') {
            separators.push('.');
            parts.push(title);
        }
    }
    (parts, separators)
}

/// What stands between separators, and these. One in front of a number, as in `-40dBm`, is its sign.
fn separated(name: &str) -> (Vec<&str>, Vec<char>) {
    let (mut parts, mut separators) = (Vec::new(), Vec::new());
    let mut start = 0;
    for (at, separator) in name.match_indices(SEPARATORS) {
        let is_first = at == start && separators.last() != Some(&'-');
        if is_first && is_negative(&name[at..]) {
            continue;
        }
        parts.push(&name[start..at]);
        separators.extend(separator.chars());
        start = at + separator.len();
    }
    parts.push(&name[start..]);
    (parts, separators)
}

/// Whether a text begins with a negative number, and not with a `-` that separates it from the part behind.
fn is_negative(text: &str) -> bool {
    let Some(number) = text.strip_prefix('-') else {
        return false;
    };
    let end = number.find(SEPARATORS);
    let is_in_dashes = end.is_some_and(|end| number[end..].starts_with('-'));
    number.starts_with(|c: char| c.is_ascii_digit()) && !is_in_dashes
}

/// Where the time of flent begins, behind a separator and before a title or the end.
fn made_at(stem: &str) -> Option<usize> {
    let is_made = |text: &str| {
        let letters = text.bytes().zip(MADE.bytes());
        text.len() == MADE.len()
            && letters.into_iter().all(|(letter, of)| match of {
                b'0' => letter.is_ascii_digit(),
                of => letter == of,
            })
    };
    let separators = stem.match_indices(SEPARATORS);
    let mut behind = separators.map(|(at, separator)| at + separator.len());
    behind.find(|&at| {
        let made = stem.get(at..at + MADE.len());
        let rest = stem.get(at + MADE.len()..);
        made.is_some_and(is_made)
            && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.') && rest.len() > 1)
    })
}
