//! Names of one form that mean different things: `single-50m-bbr-deep` and `two-bbr-cubic-2bdp`.

use super::meanings::{UNITS, have_unit, is_cca};
use super::names::{parts_of, stem_of};
use crate::study::units::Dimension;

/// What a part of a name seems to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// An algorithm.
    Cca,
    /// A number with its unit.
    Quantity(Dimension),
    /// Letters and a number: `d100`.
    Numbered,
    /// Any other word: an algorithm that is not known, or `deep` beside `2bdp`.
    Word,
}

impl Part {
    fn of(text: &str) -> Self {
        let values = [text.to_owned()];
        let letters = text.trim_end_matches(|c: char| c.is_ascii_digit());
        // Three flows of it: `reno3`.
        if is_cca(&values) || is_cca(&[letters.to_owned()]) {
            return Self::Cca;
        }
        let mut units = UNITS.iter().map(|&(dimension, _)| dimension);
        if let Some(dimension) = units.find(|&dimension| have_unit(&values, dimension)) {
            return Self::Quantity(dimension);
        }
        let is_numbered = letters.len() < text.len() && !letters.is_empty();
        if is_numbered && letters.chars().all(|c| c.is_ascii_alphabetic()) {
            Self::Numbered
        } else {
            Self::Word
        }
    }
}

/// The names of one form by what their parts mean; all together where that does not differ.
pub(super) fn told_apart<'n>(names: &[&'n String]) -> Vec<Vec<&'n String>> {
    let kinds: Vec<Vec<Part>> = names
        .iter()
        .map(|name| {
            parts_of(stem_of(name).0)
                .0
                .into_iter()
                .map(Part::of)
                .collect()
        })
        .collect();
    let columns = kinds.iter().map(Vec::len).min().unwrap_or(0);
    for column in 0..columns {
        let parts: Vec<Part> = kinds.iter().map(|kinds| kinds[column]).collect();
        let at = |row: usize| parts[row];
        let mut found: Vec<(Part, Vec<&String>)> = Vec::new();
        for (row, name) in names
            .iter()
            .enumerate()
            .filter(|&(row, _)| at(row) != Part::Word)
        {
            match found.iter_mut().find(|(part, _)| *part == at(row)) {
                Some((_, of)) => of.push(name),
                None => found.push((at(row), vec![name])),
            }
        }
        // Numbers behind different words are what tells scenarios apart, and one file is no form.
        if found.len() < 2 || found.iter().any(|(_, of)| of.len() < 2) {
            continue;
        }
        found.sort_by_key(|(_, of)| std::cmp::Reverse(of.len()));
        let words = names
            .iter()
            .enumerate()
            .filter(|&(row, _)| at(row) == Part::Word);
        found[0].1.extend(words.map(|(_, name)| *name));
        let parts = found.into_iter().flat_map(|(_, of)| told_apart(&of));
        return parts.collect();
    }
    vec![names.to_vec()]
}
