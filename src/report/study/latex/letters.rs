//! Words in LaTeX: what has a meaning there is written otherwise, and what its usual fonts lack is said.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Words as LaTeX sets them, letter by letter.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    let mut before = None;
    for c in text.chars() {
        // These would be set as one sign.
        if let (Some('-'), '-')
        | (Some('?' | '!' | '`'), '`')
        | (Some('\''), '\'')
        | (Some(','), ',') = (before, c)
        {
            escaped.push_str("{}");
        }
        before = Some(c);
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '<' => escaped.push_str("\\textless{}"),
            '>' => escaped.push_str("\\textgreater{}"),
            '|' => escaped.push_str("\\textbar{}"),
            '−' => escaped.push_str("$-$"),
            c if c.is_control() => escaped.push(' '),
            c => match SIGNS.iter().find(|(sign, _)| *sign == c) {
                Some((_, name)) => {
                    let _ = write!(escaped, "$\\{name}$");
                }
                None => escaped.push(c),
            },
        }
    }
    escaped
}

/// The cells of a row. What looks like an option or the star of the command before it is not taken for one.
pub(super) fn row<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let row = cells.collect::<Vec<_>>().join(" & ");
    if row.trim_start().starts_with(['[', '*']) {
        format!("{{}}{row}")
    } else {
        row
    }
}

/// A comment on what letters need, where there are some that `pdflatex` does not set by itself.
pub(super) fn needs(text: &str) -> Option<String> {
    const SHOWN: usize = 12;
    let lacking: BTreeSet<char> = text.chars().filter(|&c| !is_usual(c)).collect();
    if lacking.is_empty() {
        return None;
    }
    let shown: String = lacking.iter().take(SHOWN).collect();
    let what = if lacking.iter().all(|&c| T1.contains(c)) {
        "\\usepackage[T1]{fontenc}"
    } else {
        "xelatex or lualatex, and a font that has them: \\usepackage{fontspec} \\setmainfont{FreeSerif}"
    };
    Some(format!("% letters such as {shown} need {what}\n"))
}

/// Whether a letter needs no package.
fn is_usual(c: char) -> bool {
    match c {
        '\n' | ' '..='~' => true,
        '\u{a0}'..='\u{17f}' => !T1.contains(c) && !"ĦħĸĿŀŉŦŧſ".contains(c),
        c => "ȘșȚț‐‑‒–—―‘’“”†‡•…‰€™←→".contains(c),
    }
}

/// Letters that LaTeX has in fonts of the encoding T1.
const T1: &str = "«»ÐÞðþĄąĐđĘęĮįŊŋŲų‚„‹›";

/// Signs that LaTeX has by name.
const SIGNS: [(char, &str); 40] = [
    ('µ', "mu"),
    ('α', "alpha"),
    ('β', "beta"),
    ('γ', "gamma"),
    ('δ', "delta"),
    ('ε', "varepsilon"),
    ('ζ', "zeta"),
    ('η', "eta"),
    ('θ', "theta"),
    ('ι', "iota"),
    ('κ', "kappa"),
    ('λ', "lambda"),
    ('μ', "mu"),
    ('ν', "nu"),
    ('ξ', "xi"),
    ('π', "pi"),
    ('ρ', "rho"),
    ('ς', "varsigma"),
    ('σ', "sigma"),
    ('τ', "tau"),
    ('υ', "upsilon"),
    ('φ', "varphi"),
    ('χ', "chi"),
    ('ψ', "psi"),
    ('ω', "omega"),
    ('Γ', "Gamma"),
    ('Δ', "Delta"),
    ('Θ', "Theta"),
    ('Λ', "Lambda"),
    ('Ξ', "Xi"),
    ('Π', "Pi"),
    ('Σ', "Sigma"),
    ('Φ', "Phi"),
    ('Ψ', "Psi"),
    ('Ω', "Omega"),
    ('≤', "le"),
    ('≥', "ge"),
    ('≠', "ne"),
    ('≈', "approx"),
    ('∞', "infty"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_meaning_is_escaped() {
        for (text, expected) in [
            (
                "50% of a_b & c\\d > e",
                "50\\% of a\\_b \\& c\\textbackslash{}d \\textgreater{} e",
            ),
            ("RTT (µs)", "RTT ($\\mu$s)"),
            ("α ≤\tΩ", "$\\alpha$ $\\le$ $\\Omega$"),
            ("a---b ?`c ''d''", "a-{}-{}-b ?{}`c '{}'d'{}'"),
        ] {
            assert_eq!(escaped(text), expected);
        }
    }

    #[test]
    fn a_row_is_no_option_of_what_is_before_it() {
        assert_eq!(row(["[1]", "2"].into_iter()), "{}[1] & 2");
        assert_eq!(row(["*", "2"].into_iter()), "{}* & 2");
        assert_eq!(row(["", "[2]"].into_iter()), " & [2]");
    }

    #[test]
    fn letters_that_need_something_are_said() {
        assert_eq!(needs("Zoë – Şırnak\n"), None);
        let needed = |text: &str| needs(text).unwrap();
        assert_eq!(
            needed("łąka"),
            "% letters such as ą need \\usepackage[T1]{fontenc}\n"
        );
        assert!(needed("ąж").contains("xelatex"));
    }
}
