//! Captures of both sides of a queue, called like the run that they belong to and `-in`, `-out`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::guess::Shape;
use super::names::stem_of;
use super::{files_of, quoted};

/// What names of captures before and after a queue end with.
const ENDINGS: [[&str; 2]; 4] = [
    ["in", "out"],
    ["ingress", "egress"],
    ["before", "after"],
    ["pre", "post"],
];
/// What stands before that.
const SEPARATORS: [char; 3] = ['-', '_', '.'];

/// Runs with a capture of each side of the queue.
pub(super) struct Sides {
    /// What the names of these captures have besides the run's.
    endings: [String; 2],
    /// The runs, called as if they had neither.
    runs: BTreeSet<String>,
    /// There is a capture that is called so, too.
    has_own: bool,
}

impl Sides {
    /// Finds them, where each capture of the one side has one of the other, and either all or none have one that is
    /// called like both, without what tells the side.
    pub(super) fn of(names: &[String]) -> Option<Self> {
        let pairs = ENDINGS.iter();
        let mut pairs = pairs.flat_map(|words| SEPARATORS.map(|separator| (words, separator)));
        pairs.find_map(|(words, separator)| {
            let endings = words.map(|word| format!("{separator}{word}"));
            let [runs, others] = endings.each_ref().map(|ending| {
                let runs = names.iter().filter_map(|name| without(name, ending));
                runs.collect::<BTreeSet<String>>()
            });
            let own = names.iter().filter(|&name| runs.contains(name)).count();
            let is_told = !runs.is_empty() && runs == others && [0, runs.len()].contains(&own);
            is_told.then_some(Self {
                endings,
                runs,
                has_own: own > 0,
            })
        })
    }

    /// What the runs are called, in place of their captures.
    pub(super) fn runs(&self, names: &[String]) -> Vec<String> {
        let is_side = |name: &String| {
            let runs = self
                .endings
                .iter()
                .filter_map(|ending| without(name, ending));
            runs.into_iter().any(|run| self.runs.contains(&run))
        };
        let others = names.iter().filter(|name| !is_side(name)).cloned();
        let runs: BTreeSet<String> = others.chain(self.runs.iter().cloned()).collect();
        runs.into_iter().collect()
    }

    /// The files of a shape, with their captures at both sides if they have any; `None` where some have none, or
    /// there is no one template.
    pub(super) fn files(&self, shape: &Shape, names: &[String]) -> Option<String> {
        let fitting = names.iter().filter(|name| shape.fits(name));
        let (sided, others): (Vec<_>, Vec<_>) = fitting.partition(|&name| self.runs.contains(name));
        if sided.is_empty() {
            return Some(files_of(shape));
        }
        let mut templates = shape.texts();
        let template = templates.next()?;
        // The captures at both sides are named, not looked for.
        let is_sought = template.contains('?') || !shape.except.is_empty();
        if templates.next().is_some() || !others.is_empty() || is_sought {
            return None;
        }
        let [before, after] = self
            .endings
            .each_ref()
            .map(|ending| quoted(&with(template, ending)));
        let mut text = String::new();
        if self.has_own {
            text.push_str(&files_of(shape));
            let _ = writeln!(text, "before = {before}");
        } else {
            let _ = writeln!(text, "files = {before}");
        }
        let _ = writeln!(text, "after = {after}");
        Some(text)
    }
}

/// A name without what its stem ends with, if it does.
fn without(name: &str, ending: &str) -> Option<String> {
    let (stem, rest) = stem_of(name);
    let stem = stem.strip_suffix(ending)?;
    let is_named = !stem.is_empty() && !stem.ends_with('/');
    is_named.then(|| format!("{stem}{rest}"))
}

fn with(name: &str, ending: &str) -> String {
    let (stem, rest) = stem_of(name);
    format!("{stem}{ending}{rest}")
}
