//! What the files of charts are called.

use super::label::visible;

/// The beginning of a capture's file names: its number in the run, from 1, and its name in letters and digits of any
/// script. Of ASCII there is besides what is safe everywhere, and nothing that is not seen. The number makes it unique.
pub(super) fn file_stem(index: usize, captures: usize, name: &str) -> String {
    /// Longer names are cut: some file systems end at 143 bytes.
    const NAME_MAX: usize = 80;
    let is_safe = |c: char| match c {
        '.' | '_' | '-' => true,
        c if c.is_ascii() => c.is_alphanumeric(),
        // Marks that stand on letters are none; some systems write `u` and two dots for `ü`.
        c => !c.is_whitespace() && c != char::REPLACEMENT_CHARACTER && visible(c) == c,
    };
    let letters = name.chars().map(|c| if is_safe(c) { c } else { '-' });
    let safe: String = letters.collect();
    let safe = safe.trim_matches(['.', '-']);
    // The end of a path says more than its beginning.
    let cut = safe.len().saturating_sub(NAME_MAX);
    let safe = &safe[safe.ceil_char_boundary(cut)..];
    let digits = captures.to_string().len().max(2);
    format!(
        "{:0digits$}-{}",
        index + 1,
        if safe.is_empty() { "capture" } else { safe }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_unique_and_safe() {
        assert_eq!(file_stem(0, 3, "a/egress"), "01-a-egress");
        assert_eq!(file_stem(11, 200, "Übung 1: \"x\""), "012-Übung-1---x");
        // As macOS writes it, with a mark on the letter; Greek, Hindi, Chinese.
        for name in ["U\u{308}bung", "μέτρηση", "माप-1", "测量_1"] {
            assert_eq!(file_stem(0, 1, name), format!("01-{name}"));
        }
        // Separators, control characters, what turns the direction of text, what is no letter any more.
        let hidden = "a/b\\c\u{0}d\ne\u{85}f\u{202e}g\u{2028}h\u{a0}i\u{fffd}j";
        assert_eq!(file_stem(0, 1, hidden), "01-a-b-c-d-e-f-g-h-i-j");
        assert_eq!(
            file_stem(0, 1, &"ü".repeat(100)),
            format!("01-{}", "ü".repeat(40))
        );
        assert_eq!(file_stem(0, 1, &"测".repeat(100)).len(), 3 + 78);
        assert_eq!(file_stem(0, 1, "../.."), "01-capture");
        assert_eq!(file_stem(0, 1, &"long/".repeat(100)).len(), 83);
        assert_ne!(file_stem(0, 2, "same"), file_stem(1, 2, "same"));
    }
}
