//! The manifest as text: where each value stands, and what is wrong with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::capture::display_name;

/// A value and the line it stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::study) struct Located<T> {
    /// The value.
    pub value: T,
    /// Its line in the manifest, from 1.
    pub line: usize,
}

impl<T> Located<T> {
    /// Another value at the same place.
    pub(in crate::study) fn with<U>(&self, value: U) -> Located<U> {
        Located {
            value,
            line: self.line,
        }
    }
}

/// Something in a manifest that cannot be meant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mistake {
    /// Its line, from 1.
    pub line: usize,
    /// What is wrong, and what may have been meant.
    pub message: String,
}

/// A manifest that cannot be followed: nothing was analysed.
#[derive(Debug)]
pub struct ManifestError {
    /// The manifest.
    pub path: PathBuf,
    /// Why it could not be read at all.
    pub source: Option<std::io::Error>,
    /// All that is wrong in it, by line.
    pub mistakes: Vec<Mistake>,
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = display_name(&self.path);
        if let Some(source) = &self.source {
            return write!(f, "{path}: cannot be read ({source})");
        }
        for (index, Mistake { line, message }) in self.mistakes.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{path}:{line}: {message}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ManifestError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|error| error as _)
    }
}

/// A manifest being read: its lines, and the mistakes found so far.
#[derive(Debug)]
pub(in crate::study) struct Document {
    path: PathBuf,
    /// Where each line begins.
    starts: Vec<usize>,
    mistakes: Vec<Mistake>,
    /// Whether files are missing, and with them runs and what these would give.
    lacks_files: bool,
    /// Mistakes that several runs may have in common, by line and by what is the same of them.
    of_runs: BTreeMap<(usize, String), OfRuns>,
}

/// A mistake as it shows in runs.
#[derive(Debug)]
struct OfRuns {
    /// What is said of the first of them.
    message: String,
    runs: BTreeSet<String>,
}

impl Document {
    /// A manifest of this text, without mistakes so far.
    pub(in crate::study) fn new(path: &Path, text: &str) -> Self {
        let starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        Self {
            path: path.to_path_buf(),
            starts,
            mistakes: Vec::new(),
            lacks_files: false,
            of_runs: BTreeMap::new(),
        }
    }

    /// The line of a place in the text, from 1.
    pub(in crate::study) fn line(&self, span: &Range<usize>) -> usize {
        self.starts.partition_point(|&start| start <= span.start)
    }

    /// Notes what is wrong on a line.
    pub(in crate::study) fn mistake(&mut self, line: usize, message: impl Into<String>) {
        let mistake = Mistake {
            line,
            message: message.into(),
        };
        if !self.mistakes.contains(&mistake) {
            self.mistakes.push(mistake);
        }
    }

    /// Notes each of these that has been named before, in the words of `message`.
    pub(in crate::study) fn mistake_of_repeats(
        &mut self,
        names: &[Located<String>],
        message: impl Fn(&str) -> String,
    ) {
        for (place, name) in names.iter().enumerate() {
            if names[..place].iter().any(|of| of.value == name.value) {
                self.mistake(name.line, message(&name.value));
            }
        }
    }

    /// Notes what is wrong with files on a line, so that their runs are missing.
    pub(in crate::study) fn mistake_of_files(&mut self, line: usize, message: impl Into<String>) {
        self.lacks_files = true;
        self.mistake(line, message);
    }

    /// Notes that there is no such label or value of one, unless what would give it may be missing: that has been said.
    pub(in crate::study) fn mistake_of_labels(&mut self, line: usize, message: impl Into<String>) {
        if !self.lacks_files {
            self.mistake(line, message);
        }
    }

    /// Notes what is wrong on a line as it shows in a run. Where the same is wrong in others, it is said of the first
    /// one, with the number of the others.
    pub(in crate::study) fn mistake_of_run(
        &mut self,
        line: usize,
        same: impl Into<String>,
        run: &str,
        message: impl FnOnce() -> String,
    ) {
        let of_runs = self.of_runs.entry((line, same.into()));
        let of_runs = of_runs.or_insert_with(|| OfRuns {
            message: message(),
            runs: BTreeSet::new(),
        });
        of_runs.runs.insert(run.to_owned());
    }

    /// `value`, if all is well.
    ///
    /// # Errors
    /// All mistakes, by line.
    pub(in crate::study) fn verdict<T>(self, value: T) -> Result<T, ManifestError> {
        self.sound().map(|_| value)
    }

    /// Whether all is well so far.
    pub(in crate::study) fn is_sound(&self) -> bool {
        self.mistakes.is_empty() && self.of_runs.is_empty()
    }

    /// The document, if all is well so far: where what follows would only be more of the same.
    ///
    /// # Errors
    /// All mistakes, by line.
    pub(in crate::study) fn sound(mut self) -> Result<Self, ManifestError> {
        for ((line, _), OfRuns { message, runs }) in std::mem::take(&mut self.of_runs) {
            let message = match runs.len() {
                0 | 1 => message,
                2 => format!("{message} (and so for 1 more run)"),
                n => format!("{message} (and so for {} more runs)", n - 1),
            };
            self.mistake(line, message);
        }
        if self.mistakes.is_empty() {
            return Ok(self);
        }
        self.mistakes.sort();
        Err(ManifestError {
            path: self.path,
            source: None,
            mistakes: self.mistakes,
        })
    }
}

/// One table of a manifest, of which only known keys may be given.
pub(in crate::study) struct Section<'a> {
    /// What to call it in messages, such as `[study]`.
    name: String,
    table: &'a DeTable<'a>,
    /// The line it begins on.
    pub(in crate::study) line: usize,
}

impl<'a> Section<'a> {
    /// A table and the keys that it may have; others are mistakes.
    pub(in crate::study) fn new(
        document: &mut Document,
        name: &str,
        table: &'a DeTable<'a>,
        span: &Range<usize>,
        keys: &[&str],
    ) -> Self {
        for key in table.keys() {
            if !keys.contains(&key.get_ref().as_ref()) {
                let line = document.line(&key.span());
                let message = format!(
                    "unknown key '{}' in {name}{}",
                    key.get_ref(),
                    suggestion(key.get_ref(), keys)
                );
                document.mistake(line, message);
            }
        }
        Self {
            name: name.to_owned(),
            table,
            line: document.line(span),
        }
    }

    /// The value of a key.
    pub(in crate::study) fn get(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.get(key)
    }

    /// A text, or a number or truth value as it is written.
    pub(in crate::study) fn text(
        &self,
        document: &mut Document,
        key: &str,
    ) -> Option<Located<String>> {
        let value = self.get(key)?;
        let text = scalar(document, value);
        if text.is_none() {
            self.wrong(document, key, "a text");
        }
        text
    }

    /// One text or a list of them.
    pub(in crate::study) fn texts(
        &self,
        document: &mut Document,
        key: &str,
    ) -> Option<Vec<Located<String>>> {
        self.scalars(document, key, "a text or a list of texts")
    }

    /// A scalar or a list of them, as texts; with what to say it must be where it is something else.
    pub(in crate::study) fn scalars(
        &self,
        document: &mut Document,
        key: &str,
        what: &str,
    ) -> Option<Vec<Located<String>>> {
        let value = self.get(key)?;
        let values: Option<Vec<_>> = match value.get_ref() {
            DeValue::Array(values) => values.iter().map(|value| scalar(document, value)).collect(),
            _ => scalar(document, value).map(|text| vec![text]),
        };
        if values.is_none() {
            self.wrong(document, key, what);
        }
        values
    }

    /// A table of texts: keys and values, in the order they are written.
    pub(in crate::study) fn pairs(
        &self,
        document: &mut Document,
        key: &str,
    ) -> Option<Vec<(Located<String>, Located<String>)>> {
        let value = self.get(key)?;
        let pairs = value.get_ref().as_table().and_then(|table| {
            in_order(table)
                .into_iter()
                .map(|(name, value)| {
                    let line = document.line(&name.span());
                    let name = Located {
                        value: name.get_ref().to_string(),
                        line,
                    };
                    Some((name, scalar(document, value)?))
                })
                .collect()
        });
        if pairs.is_none() {
            self.wrong(
                document,
                key,
                "a table of texts, such as { cca = \"cubic\" }",
            );
        }
        pairs
    }

    /// A true or false.
    pub(in crate::study) fn truth(&self, document: &mut Document, key: &str) -> Option<bool> {
        let value = self.get(key)?.get_ref().as_bool();
        if value.is_none() {
            self.wrong(document, key, "true or false");
        }
        value
    }

    /// The tables of an array of tables, each with its place.
    pub(in crate::study) fn tables(
        &self,
        document: &mut Document,
        key: &str,
    ) -> Vec<(&'a DeTable<'a>, Range<usize>)> {
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        let tables: Option<Vec<_>> = value.get_ref().as_array().and_then(|array| {
            array
                .iter()
                .map(|value| Some((value.get_ref().as_table()?, value.span())))
                .collect()
        });
        tables.unwrap_or_else(|| {
            self.wrong(document, key, &format!("a list of tables: write [[{key}]]"));
            Vec::new()
        })
    }

    /// Notes that a value is not what it should be.
    pub(in crate::study) fn wrong(&self, document: &mut Document, key: &str, expected: &str) {
        let line = self
            .get(key)
            .map_or(self.line, |value| document.line(&value.span()));
        let message = format!("'{key}' in {} must be {expected}", self.name);
        document.mistake(line, message);
    }

    /// Keys and values in the order they are written.
    pub(in crate::study) fn entries(
        &self,
    ) -> Vec<(
        &'a Spanned<toml::de::DeString<'a>>,
        &'a Spanned<DeValue<'a>>,
    )> {
        in_order(self.table)
    }
}

type Entry<'a> = (
    &'a Spanned<toml::de::DeString<'a>>,
    &'a Spanned<DeValue<'a>>,
);

fn in_order<'a>(table: &'a DeTable<'a>) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry<'a>> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// A scalar as text; `None` for lists and tables.
fn scalar(document: &Document, value: &Spanned<DeValue<'_>>) -> Option<Located<String>> {
    let text = match value.get_ref() {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.as_str().to_owned(),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(_) | DeValue::Table(_) => return None,
    };
    Some(Located {
        value: text,
        line: document.line(&value.span()),
    })
}

/// `; did you mean 'x'?` where one of `known` is close, the list of them otherwise.
pub(in crate::study) fn suggestion<S: AsRef<str>>(given: &str, known: &[S]) -> String {
    let all: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    match (nearest(given, known), all.as_slice()) {
        (Some(name), _) => did_you_mean(name),
        (None, []) => String::new(),
        (None, [one]) => format!("; there is {one}"),
        (None, all) => format!("; there are {}", all.join(", ")),
    }
}

/// `; did you mean 'x'?`
pub(in crate::study) fn did_you_mean(name: &str) -> String {
    format!("; did you mean '{name}'?")
}

/// The one of `known` that may be meant, if any is close.
pub(in crate::study) fn nearest<'k, S: AsRef<str>>(given: &str, known: &'k [S]) -> Option<&'k str> {
    let lower = given.to_lowercase();
    known
        .iter()
        .map(|name| {
            let known = name.as_ref().to_lowercase();
            // What is only cut short, such as a name without its unit, is next.
            let distance = if !lower.is_empty() && known.starts_with(&lower) {
                1
            } else {
                strsim::damerau_levenshtein(&lower, &known)
            };
            (distance, name.as_ref())
        })
        .min()
        // Half of the letters may be wrong.
        .filter(|&(distance, name)| distance * 2 <= name.chars().count())
        .map(|(_, name)| name)
}
