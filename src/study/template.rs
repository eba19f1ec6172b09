//! File names taken apart: `{cca}-{rate}/run{run}.pcap` finds files and says what they are.

use std::ops::Range;

use regex::Regex;

/// A pattern of paths in which `{name}` stands for a label, `*` for anything within one folder or
/// file name, `?` for one character of it, and `**/` for any folders.
///
/// The value of a label holds no `/`, and none of `-` and `_` that stands next to it: in
/// `{cca}-{rate}.pcap` no value has a `-`, so that names with more parts are not taken for this
/// kind. That of `{name*}` may hold them.
#[derive(Clone, Debug)]
pub struct Template {
    text: String,
    regex: Regex,
    /// The label of each group of the regular expression, in order.
    labels: Vec<String>,
}

/// What is wrong with a template, and where in its text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TemplateFault {
    /// The part that is wrong.
    pub at: Range<usize>,
    /// What is wrong with it.
    pub message: String,
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// A brace without its partner, a label whose name is no name, or two with nothing between them.
    pub fn parse(text: &str) -> Result<Self, TemplateFault> {
        let mut pattern = String::from("^");
        let mut labels = Vec::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let at = text.len() - rest.len();
            let taken = match c {
                '{' => {
                    let (name, value, len) = label(text, at)?;
                    labels.push(name.to_owned());
                    pattern.push_str(value);
                    len
                }
                '}' => return Err(fault(at..at + 1, "'}' without '{'")),
                '*' if rest.starts_with("**/") => {
                    pattern.push_str("(?:[^/]+/)*");
                    3
                }
                '*' => {
                    pattern.push_str("[^/]*?");
                    1
                }
                '?' => {
                    pattern.push_str("[^/]");
                    1
                }
                _ => {
                    pattern.push_str(&regex::escape(&rest[..c.len_utf8()]));
                    c.len_utf8()
                }
            };
            rest = &rest[taken..];
        }
        pattern.push('$');
        let regex =
            Regex::new(&pattern).map_err(|_| fault(0..text.len(), "the template is too long"))?;
        Ok(Self {
            text: text.to_owned(),
            regex,
            labels,
        })
    }

    /// As it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The labels it gives, each once, in the order of their first places.
    #[must_use]
    pub fn labels(&self) -> Vec<&str> {
        let mut unique: Vec<&str> = Vec::new();
        for label in &self.labels {
            if !unique.contains(&label.as_str()) {
                unique.push(label);
            }
        }
        unique
    }

    /// What a path says, label by label; `None` where it is not of this kind. A label that stands
    /// in two places must have the same value in both.
    #[must_use]
    pub fn take_apart(&self, path: &str) -> Option<Vec<(String, String)>> {
        let found = self.regex.captures(path)?;
        let mut values: Vec<(String, String)> = Vec::new();
        for (index, label) in self.labels.iter().enumerate() {
            let value = found.get(index + 1)?.as_str();
            match values.iter().find(|(name, _)| name == label) {
                Some((_, known)) if known != value => return None,
                Some(_) => {}
                None => values.push((label.clone(), value.to_owned())),
            }
        }
        Some(values)
    }
}

/// The label whose brace opens at `at`: its name, what its value may be, and how many bytes it takes.
fn label(text: &str, at: usize) -> Result<(&str, &'static str, usize), TemplateFault> {
    let (before, rest) = text.split_at(at);
    let Some(end) = rest.find('}') else {
        return Err(fault(at..text.len(), "'{' without '}'"));
    };
    let inside = &rest[1..end];
    let name = inside.trim_end_matches('*');
    if !is_name(name) {
        let message =
            format!("'{{{name}}}' is no label: write letters, digits and '_' between the braces");
        return Err(TemplateFault {
            at: at..at + end + 1,
            message,
        });
    }
    let after = &rest[end + 1..];
    // What may be anything, and nothing, is no end.
    let wild = after.trim_start_matches(['*', '?']);
    if let Some((next, _)) = wild.strip_prefix('{').and_then(|next| next.split_once('}')) {
        let next = next.trim_end_matches('*');
        let message = format!(
            "nothing tells where '{{{name}}}' ends and '{{{next}}}' begins: write what stands between them in the names, as in '{{{name}}}-{{{next}}}', or take both for one label"
        );
        return Err(TemplateFault {
            at: at..text.len() - wild.len(),
            message,
        });
    }
    let value = if name == inside {
        value_pattern(before, after)
    } else {
        "([^/]+?)"
    };
    Ok((name, value, end + 1))
}

/// What the value of a label between `before` and `after` may be.
fn value_pattern(before: &str, after: &str) -> &'static str {
    let beside = |separator| before.ends_with(separator) || after.starts_with(separator);
    match (beside('-'), beside('_')) {
        (false, false) => "([^/]+?)",
        (true, false) => "([^/-]+?)",
        (false, true) => "([^/_]+?)",
        (true, true) => "([^/_-]+?)",
    }
}

/// Puts labels' values where `{name}` stands in `text`.
///
/// # Errors
/// Names the first label that has no value, or a brace without its partner.
pub(super) fn fill(
    text: &str,
    value_of: impl Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let end = rest[start..]
            .find('}')
            .ok_or_else(|| format!("'{text}' has '{{' without '}}'"))?
            + start;
        let name = &rest[start + 1..end];
        let value = value_of(name).ok_or_else(|| format!("there is no label '{name}'"))?;
        filled.push_str(&rest[..start]);
        filled.push_str(&value);
        rest = &rest[end + 1..];
    }
    filled.push_str(rest);
    Ok(filled)
}

/// The labels that `{name}` asks for in `text`.
pub(super) fn wanted(text: &str) -> impl Iterator<Item = &str> {
    text.split('{')
        .skip(1)
        .filter_map(|rest| Some(rest.split_once('}')?.0))
}

/// Whether a label can be called so: letters, digits, `_`, no digit first.
#[must_use]
pub(super) fn is_name(name: &str) -> bool {
    name.chars().next().is_some_and(|c| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn fault(at: Range<usize>, message: &str) -> TemplateFault {
    TemplateFault {
        at,
        message: message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(template: &str, path: &str) -> Option<String> {
        let found = Template::parse(template).unwrap().take_apart(path)?;
        Some(
            found
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect::<Vec<_>>()
                .join(" "),
        )
    }

    #[test]
    fn names_are_taken_apart_between_fixed_parts() {
        for (template, path, expected) in [
            (
                "single/{cca}-{rate}-rtt{rtt}-{buffer}/egress.pcap.zst",
                "single/cubic-10m-rtt68-deep/egress.pcap.zst",
                Some("cca=cubic rate=10m rtt=68 buffer=deep"),
            ),
            ("{cca}-{rate}.pcap", "a/cubic-10m.pcap", None),
            (
                "**/{cca}-{rate}.pcap",
                "a/b/cubic-10m.pcap",
                Some("cca=cubic rate=10m"),
            ),
            ("**/{cca}.pcap", "bbr.pcap", Some("cca=bbr")),
            ("*/{cca}?.pcap", "x/bbr1.pcap", Some("cca=bbr")),
            ("{cca}-{rate}.pcap", "x-y-10m.pcap", None),
            ("{name}.pcap", "x-y-10m.pcap", Some("name=x-y-10m")),
            ("s7-{name}.pcap", "s7-x-y.pcap", None),
            ("s7-{name*}.pcap", "s7-x-y.pcap", Some("name=x-y")),
            ("{a}.pcap", "x.pcap.zst", None),
            ("a+b({n}).pcap", "a+b(3).pcap", Some("n=3")),
            (
                "{cca}/{cca}_{run}.pcap",
                "bbr/bbr_1.pcap",
                Some("cca=bbr run=1"),
            ),
            ("{cca}/{cca}_{run}.pcap", "bbr/reno_1.pcap", None),
        ] {
            assert_eq!(
                values(template, path).as_deref(),
                expected,
                "{template} on {path}"
            );
        }
    }

    #[test]
    fn a_fault_says_where_it_is() {
        let fault = Template::parse("a/{cca-{x}.pcap").unwrap_err();
        assert_eq!(fault.at, 2..10);
        assert!(Template::parse("a}").is_err());
        assert!(Template::parse("{a").is_err());
        assert!(Template::parse("{1a}").is_err());
        // `cubic50` is `c` and `ubic50` as well as `cubic` and `50`.
        for text in [
            "{cca}{rate}_1.pcap",
            "{cca*}{rate}_1.pcap",
            "{cca}*{rate}_1.pcap",
        ] {
            let fault = Template::parse(text).unwrap_err();
            assert_eq!(fault.at.start, 0);
            let said = "nothing tells where '{cca}' ends and '{rate}' begins";
            assert!(fault.message.starts_with(said), "{}", fault.message);
        }
        assert!(Template::parse("{cca}*-{rate}/{run}.pcap").is_ok());
    }

    #[test]
    fn values_fill_the_places_of_their_labels() {
        let value_of = |name: &str| (name == "rate").then(|| "10m".to_owned());
        assert_eq!(fill("{rate}bit", value_of).unwrap(), "10mbit");
        assert!(
            fill("{speed}bit", value_of)
                .unwrap_err()
                .contains("'speed'")
        );
        assert_eq!(wanted("{a} and {b}").collect::<Vec<_>>(), ["a", "b"]);
    }
}
