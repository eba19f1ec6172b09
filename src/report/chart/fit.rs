//! Texts in the room that they have: in lines, and without their middle where even these are too few.

use std::collections::BTreeSet;

use super::canvas::Type;
use super::font::text_width;

/// A text no wider than `width` pixels: where it is longer, its middle gives way to an ellipsis,
/// for beginnings and ends are what tells names apart; of a flow or a pair, those of each end. Words stay whole, as
/// half a number is another one, but where these are too long.
pub(super) fn shorten(text: &str, font: Type, width: f64) -> String {
    if text_width(text, font) <= width {
        return text.to_owned();
    }
    for between in [" | ", ARROW] {
        let parts: Vec<&str> = text.split(between).collect();
        let room = width - text_width(between, font) * (parts.len() - 1) as f64;
        // Of a few letters nothing can be told; but what an arrow is between are two ends, and its last letters tell each.
        let enough = |letters| room >= text_width(letters, font) * parts.len() as f64;
        if parts.len() > 1 && enough("0000…0000") {
            return shorten_each(&parts, font, room, shorten).join(between);
        }
        if parts.len() > 1 && between == ARROW && enough("…0000") {
            return shorten_each(&parts, font, room, end_of).join(between);
        }
    }
    if let Some(short) = without_words(text, font, width) {
        return short;
    }
    let letters: Vec<char> = text.chars().collect();
    let cut = |kept: usize| -> String {
        let head = kept / 2;
        let tail = letters.len() - (kept - head);
        letters[..head]
            .iter()
            .chain(&['…'])
            .chain(&letters[tail..])
            .collect()
    };
    // The widest of those that fit.
    let (mut low, mut high) = (0, letters.len());
    while low + 1 < high {
        let middle = usize::midpoint(low, high);
        if text_width(&cut(middle), font) <= width {
            low = middle;
        } else {
            high = middle;
        }
    }
    cut(low)
}

/// What stands between the ends of a flow.
const ARROW: &str = " → ";

/// The end of a text, as much of it as `width` pixels hold behind an ellipsis.
fn end_of(text: &str, font: Type, width: f64) -> String {
    if text_width(text, font) <= width {
        return text.to_owned();
    }
    let starts = text.char_indices().skip(1);
    // Addresses may have lost their middle already.
    let ends = starts.map(|(start, _)| text[start..].trim_start_matches('…'));
    let mut ends = ends.map(|end| format!("…{end}"));
    let fits = |end: &String| text_width(end, font) <= width;
    ends.find(fits).unwrap_or_else(|| "…".to_owned())
}

/// Texts no wider than `width` pixels, as [`shorten`] has them; those that would be the same without their middles keep
/// what tells them apart, and what they have in common gives way.
pub(super) fn shorten_apart(texts: &[&str], font: Type, width: f64) -> Vec<String> {
    let mut short: Vec<String> = texts
        .iter()
        .map(|text| shorten(text, font, width))
        .collect();
    let all = short.clone();
    let mut clashing: BTreeSet<&str> = BTreeSet::new();
    for (text, same) in texts.iter().zip(&all) {
        let mut others = texts.iter().zip(&all);
        if others.any(|(other, of)| of == same && other != text) {
            clashing.insert(same);
        }
    }
    for same in clashing {
        let alike = || (0..texts.len()).filter(|&place| all[place] == same);
        let letters: Vec<Vec<char>> = alike()
            .map(|place| texts[place].chars().collect())
            .collect();
        let (before, behind) = in_common(&letters);
        for (place, letters) in alike().zip(&letters) {
            let own = (before, letters.len() - behind);
            if let Some(found) = around(letters, own, font, width) {
                short[place] = found;
            }
        }
    }
    short
}

/// How many letters some texts have in common at their beginnings, and at their ends behind these.
fn in_common(texts: &[Vec<char>]) -> (usize, usize) {
    let shortest = texts.iter().map(Vec::len).min().unwrap_or(0);
    let all = |letter: &dyn Fn(&[char]) -> char| {
        let mut letters = texts.iter().map(|text| letter(text));
        let first = letters.next();
        letters.all(|of| Some(of) == first)
    };
    let before = (0..shortest).take_while(|&at| all(&|text| text[at]));
    let before = before.count();
    let behind = (0..shortest - before).take_while(|&at| all(&|text| text[text.len() - 1 - at]));
    (before, behind.count())
}

/// The letters of a text from one place to another and as many about them as there is room for; none where there is
/// none for these alone.
fn around(
    letters: &[char],
    (mut from, mut to): (usize, usize),
    font: Type,
    width: f64,
) -> Option<String> {
    let cut = |from: usize, to: usize| {
        let gap = |is_cut: bool| if is_cut { "…" } else { "" };
        let kept: String = letters[from..to].iter().collect();
        format!("{}{kept}{}", gap(from > 0), gap(to < letters.len()))
    };
    let fits = |(from, to): (usize, usize)| text_width(&cut(from, to), font) <= width;
    if !fits((from, to)) {
        return None;
    }
    loop {
        let left = (from > 0).then(|| (from - 1, to));
        let right = (to < letters.len()).then(|| (from, to + 1));
        let wider = left.filter(|&wider| fits(wider));
        (from, to) = wider.unwrap_or((from, to));
        let right = right.map(|(_, to)| (from, to)).filter(|&wider| fits(wider));
        (from, to) = right.unwrap_or((from, to));
        if wider.is_none() && right.is_none() {
            return Some(cut(from, to));
        }
    }
}

/// The first words of a text and its last ones about an ellipsis; none where these would leave half of the room empty.
fn without_words(text: &str, font: Type, width: f64) -> Option<String> {
    let words = words(text, font, width);
    let (mut head, mut tail) = (1, 1);
    let wide = |words: &[String]| text_width(&words.join(" "), font);
    let cut = |head: usize, tail: usize| {
        let (first, last) = (&words[..head], &words[words.len() - tail..]);
        format!("{} … {}", first.join(" "), last.join(" "))
    };
    let fits = |head: usize, tail: usize| {
        head + tail < words.len() && text_width(&cut(head, tail), font) <= width
    };
    if !fits(head, tail) {
        return None;
    }
    loop {
        let is_front_heavy = wide(&words[..head]) > wide(&words[words.len() - tail..]);
        let (front, back) = ((head + 1, tail), (head, tail + 1));
        let order = if is_front_heavy {
            [back, front]
        } else {
            [front, back]
        };
        match order.into_iter().find(|&(head, tail)| fits(head, tail)) {
            Some(longer) => (head, tail) = longer,
            None => break,
        }
    }
    let short = cut(head, tail);
    (text_width(&short, font) >= width / 2.0).then_some(short)
}

/// Texts that take no more than `room` together: those that need less than an even share keep all, others give way as
/// `shorten` has it.
fn shorten_each(
    texts: &[&str],
    font: Type,
    room: f64,
    shorten: fn(&str, Type, f64) -> String,
) -> Vec<String> {
    let even = room / texts.len() as f64;
    let widths = texts.iter().map(|text| text_width(text, font));
    let (short, long): (Vec<f64>, Vec<f64>) = widths.partition(|&width| width <= even);
    let left = room - short.iter().sum::<f64>();
    let share = left / long.len().max(1) as f64;
    let texts = texts.iter();
    texts
        .map(|text| shorten(text, font, share.max(even)))
        .collect()
}

/// A text in lines no wider than `width` pixels, as [`fill`] has them; where that takes no more lines, they end where a
/// part of the text does: behind a comma or the like.
pub(super) fn wrap(text: &str, font: Type, width: f64, lines_max: usize) -> Vec<String> {
    let lines = fill(text, font, width, lines_max);
    let parts: Vec<String> = words(text, font, width)
        .chunk_by(|word, _| !word.ends_with([',', ';', '·']))
        .map(|words| words.join(" "))
        .collect();
    let are_whole = parts.iter().all(|part| text_width(part, font) <= width);
    if lines.len() < 2 || !are_whole {
        return lines;
    }
    let parts = parts.iter().map(|part| (" ", part.as_str()));
    let by_part = filled(parts, font, width, usize::MAX);
    if by_part.len() == lines.len() {
        by_part
    } else {
        lines
    }
}

/// A text in lines no wider than `width` pixels, each with as much as it holds: broken between words but not between a
/// number and its unit, and within words that are wider behind a hyphen or the like; the last of `lines_max` is
/// shortened.
pub(super) fn fill(text: &str, font: Type, width: f64, lines_max: usize) -> Vec<String> {
    let words = words(text, font, width);
    // Each piece with what stands before it, unless it begins a line.
    let pieces = words.iter().flat_map(|word| {
        let parts = if text_width(word, font) > width {
            parts_of_word(word)
        } else {
            vec![word.as_str()]
        };
        let before = |index: usize| if index == 0 { " " } else { "" };
        let placed = parts.into_iter().enumerate();
        placed.map(move |(index, part)| (before(index), part))
    });
    filled(pieces, font, width, lines_max)
}

/// Pieces, each with what stands before it, in as few lines as hold them; the last of `lines_max` is shortened.
fn filled<'t>(
    pieces: impl Iterator<Item = (&'t str, &'t str)>,
    font: Type,
    width: f64,
    lines_max: usize,
) -> Vec<String> {
    let mut pieces = pieces.peekable();
    let mut lines: Vec<String> = Vec::new();
    while pieces.peek().is_some() {
        let is_last = lines.len() + 1 == lines_max;
        let mut line = String::new();
        while let Some(&(before, piece)) = pieces.peek() {
            if line.is_empty() {
                line.push_str(piece);
            } else {
                let longer = format!("{line}{before}{piece}");
                if !is_last && text_width(&longer, font) > width {
                    break;
                }
                line = longer;
            }
            pieces.next();
        }
        lines.push(shorten(line.trim_end(), font, width));
    }
    lines
}

/// Where a word that is too wide may be broken; not within a unit such as `Mbit/s`.
fn parts_of_word(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut begin = 0;
    for (index, letter) in word.char_indices() {
        let end = index + letter.len_utf8();
        let rest = word[end..].trim_end_matches(',');
        let breaks = match letter {
            // Chinese and Japanese have no blanks.
            '\u{a0}' | '-' | '_' | '+' | ',' | '\u{2e80}'..='\u{9fff}' => true,
            '/' => rest.chars().count() > 2,
            _ => false,
        };
        if breaks && end < word.len() {
            parts.push(&word[begin..end]);
            begin = end;
        }
    }
    parts.push(&word[begin..]);
    parts
}

/// The words of a text; a number and what it counts are one, a label and its number (`RTT 18 ms`), if there is room for
/// all of it, and so are both sides of an equals sign.
fn words(text: &str, font: Type, width: f64) -> Vec<String> {
    let fits = |words: &str| text_width(words, font) <= width;
    let is_number = |word: &str| {
        let word = word.trim_start_matches('(');
        !word.is_empty() && word.chars().all(|c| c.is_ascii_digit() || ".,".contains(c))
    };
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if let Some(last) = words.last_mut() {
            if word == "=" || last.ends_with('=') {
                *last = format!("{last} {word}");
                continue;
            }
            let both = format!("{last} {word}");
            if is_number(last) && !last.ends_with(',') && fits(&both) {
                *last = both;
                continue;
            }
        }
        words.push(word.to_owned());
    }
    let mut labelled: Vec<String> = Vec::new();
    for word in words {
        let begins_with_number = word.starts_with(|c: char| c.is_ascii_digit());
        match labelled.last_mut() {
            Some(last) if begins_with_number && last.ends_with(char::is_alphabetic) => {
                let both = format!("{last} {word}");
                if fits(&both) {
                    *last = both;
                } else {
                    labelled.push(word);
                }
            }
            _ => labelled.push(word),
        }
    }
    labelled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::letters::LABEL;

    #[test]
    fn long_texts_are_broken_between_words() {
        let text = "mean in bins of 100 ms, n = 12 samples · 3 flows not drawn";
        let lines = wrap(text, LABEL, 320.0, 4);
        assert!(lines.len() > 1 && lines.join(" ") == text, "{lines:?}");
        assert!(lines.iter().all(|line| text_width(line, LABEL) <= 320.0));
        assert_eq!(wrap(text, LABEL, 2000.0, 4), [text]);
        let short = wrap(text, LABEL, 320.0, 1);
        assert!(short.len() == 1 && short[0].contains('…'), "{short:?}");
        assert_eq!(wrap("", LABEL, 320.0, 4), Vec::<String>::new());
        // A number stays with its unit, though it alone would fit; unless both are too wide.
        let fits = text_width("cubic, 50 M", LABEL);
        assert_eq!(
            wrap("cubic, 50 Mbit/s", LABEL, fits, 4),
            ["cubic,", "50 Mbit/s"]
        );
        let fits = text_width("Mbit/s", LABEL);
        assert_eq!(wrap("50 Mbit/s", LABEL, fits, 4), ["50", "Mbit/s"]);
        let fits = text_width("s2-six-mixed (3 c", LABEL);
        assert_eq!(
            wrap("s2-six-mixed (3 cubic + 3 bbr)", LABEL, fits, 4),
            ["s2-six-mixed", "(3 cubic + 3 bbr)"]
        );
        // And so does a label with its number.
        let fits = text_width("deep, 50 Mbit/s, RTT", LABEL);
        assert_eq!(
            wrap("deep, 50 Mbit/s, RTT 18 ms", LABEL, fits, 4),
            ["deep, 50 Mbit/s,", "RTT 18 ms"]
        );
        let fits = text_width("0.5bdp", LABEL);
        assert_eq!(wrap("buffer 0.5bdp", LABEL, fits, 4), ["buffer", "0.5bdp"]);
        let word = wrap("a-long_word/without+blanks, 5 ms", LABEL, 110.0, 6);
        assert!(
            word.len() > 2 && word.iter().all(|line| !line.contains('…')),
            "{word:?}"
        );
        assert_eq!(
            word.concat().replace(' ', ""),
            "a-long_word/without+blanks,5ms"
        );
        // A unit is not broken, and a count keeps what it counts.
        let fits = text_width("100 Mbit/", LABEL);
        assert_eq!(
            wrap("100\u{a0}Mbit/s, rtt 5\u{a0}ms", LABEL, fits, 4),
            ["100", "Mbit/s,", "rtt 5\u{a0}ms"]
        );
        let fits = text_width("their mean · n", LABEL);
        assert_eq!(
            wrap("their mean · n = 2", LABEL, fits, 4),
            ["their mean ·", "n = 2"]
        );
    }

    #[test]
    fn lines_end_where_parts_of_a_text_do_if_that_takes_no_more_of_them() {
        for (text, lines) in [
            (
                "loss_1: 0\u{a0}%, loss_2: 0\u{a0}%",
                &["loss_1: 0\u{a0}%,", "loss_2: 0\u{a0}%"][..],
            ),
            (
                "two, buffer 2bdp, sender, 1 bbr + 1 cubic",
                &["two, buffer 2bdp,", "sender,", "1 bbr + 1 cubic"],
            ),
            // One part alone is wider than a line.
            (
                "cubic beside long bbr, sender",
                &["cubic beside", "long bbr, sender"],
            ),
        ] {
            assert_eq!(wrap(text, LABEL, 190.0, 5), lines);
        }
        // But a line more is worse.
        let text = "deep queue, three against three, fifty";
        let width = text_width("three against three,", LABEL);
        assert_eq!(
            wrap(text, LABEL, width, 5),
            ["deep queue, three", "against three, fifty"]
        );
    }

    #[test]
    fn no_word_and_no_number_is_cut_where_words_alone_leave_enough() {
        let title = "20 Mbit/s, several, ingress, 25 bbr + 25 cubic + 25 reno";
        // Cut anywhere it would read "…5 bbr": another number.
        for width in [350.0, 400.0, 450.0, 500.0] {
            let short = shorten(title, LABEL, width);
            let (first, last) = short.split_once(" … ").unwrap();
            assert!(
                title.starts_with(&format!("{first} ")) && title.ends_with(&format!(" {last}")),
                "{short}"
            );
            assert!(text_width(&short, LABEL) <= width, "{short}");
            // A number stays with what it counts.
            assert!(last.starts_with(['2', '+']), "{short}");
        }
        // Of long words there would be nothing left.
        let name = "deep a-very-long-capture-name-that-nobody-can-read/egress x";
        let short = shorten(name, LABEL, 300.0);
        assert!(short.starts_with("deep a-very"), "{short}");
    }

    #[test]
    fn names_that_differ_in_their_middles_keep_these() {
        let names: Vec<String> = (0..12)
            .map(|of| {
                format!("a-congestion-control-with-a-long-name-of-kind-{of:02}-and-more-behind-it")
            })
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).chain(["bbr"]).collect();
        let short = shorten_apart(&names, LABEL, 300.0);
        for (of, text) in short.iter().enumerate().take(12) {
            assert!(text.contains(&format!("-{of:02}-")), "{text}");
            assert!(text.starts_with('…') && text.ends_with('…'), "{text}");
            assert!(text_width(text, LABEL) <= 300.0, "{text}");
        }
        assert_eq!(short[12], "bbr");
        // Names that differ at their ends are as ever, and so is one that comes twice.
        let ends = [
            names[0],
            "a-congestion-control-with-a-long-name-of-kind-00-at-last",
            names[0],
        ];
        let short = shorten_apart(&ends, LABEL, 300.0);
        assert_eq!(short, ends.map(|name| shorten(name, LABEL, 300.0)));
    }

    #[test]
    fn long_names_lose_their_middle() {
        let name = "a-very-long-capture-name-that-nobody-can-read/egress";
        let short = shorten(name, LABEL, 300.0);
        assert!(
            short.starts_with("a-very-") && short.ends_with("egress") && short.contains('…'),
            "{short}"
        );
        assert!(text_width(&short, LABEL) <= 300.0);
        assert_eq!(shorten("short", LABEL, 300.0), "short");
        // Flows are told apart by their ends, which stand in the middle of the text.
        let flow = "2001:db8:1234:5678:9abc::1001 → 2001:db8:ffff:eeee:dddd::aaaa";
        let short = shorten(flow, LABEL, 400.0);
        assert!(text_width(&short, LABEL) <= 400.0, "{short}");
        let (from, to) = short.split_once(" → ").unwrap();
        assert!(
            from.starts_with("2001:") && from.ends_with("1001"),
            "{short}"
        );
        assert!(to.starts_with("2001:") && to.ends_with("aaaa"), "{short}");
        let uneven = shorten("10.0.0.1 → 2001:db8:ffff:eeee:dddd::aaaa", LABEL, 400.0);
        assert!(uneven.starts_with("10.0.0.1 → 2001:"), "{uneven}");
        assert!(text_width(&uneven, LABEL) <= 400.0, "{uneven}");
        assert_eq!(shorten(name, LABEL, 0.0), "…");
        // Where room is short the ends of both are left, and never the sender's beginning with the receiver's end.
        let flow = "2001:db8:77:1::1 → 2001:db8:88:1::1";
        let least = text_width("…0000 → …0000", LABEL);
        for width in [1.05 * least, 1.1 * least, 1.3 * least, 1.5 * least] {
            let short = shorten(flow, LABEL, width);
            assert!(text_width(&short, LABEL) <= width, "{short}");
            let (from, to) = short.split_once(" → ").unwrap();
            assert!(from.ends_with(":1") && to.ends_with(":1"), "{short}");
        }
        let cut = shorten("2001:…:2222 → 2001:…:4444", LABEL, 1.3 * least);
        assert_eq!(cut, "…:2222 → …:4444");
        // A short end keeps all.
        let room = 2.0 * text_width("10.0.0.1", LABEL) + text_width(" → ", LABEL);
        let uneven = shorten("10.0.0.1 → 2001:db8:88:1::1", LABEL, room);
        assert!(
            uneven.starts_with("10.0.0.1 → …") && uneven.ends_with(":1"),
            "{uneven}"
        );
    }
}
