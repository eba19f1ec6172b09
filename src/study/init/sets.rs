//! What tells experiments apart whose names give the same labels: the words that their names have and others lack.

use std::collections::{BTreeMap, BTreeSet};

use super::guess::Shape;
use super::meanings::{Guess, unused};
use super::measured::Section;
use super::names::{SEPARATORS, stem_of};
use super::of_groups;

/// Name of the label that tells sections apart.
const SET: &str = "set";

/// A section of the draft: a template of its files and the labels that they get.
pub(super) struct Kind<'a> {
    template: &'a str,
    labels: BTreeSet<&'a str>,
}

impl<'a> Kind<'a> {
    pub(super) fn of_shape(shape: &'a Shape, numbering: &[&str]) -> Self {
        Self::of(shape.plain(), &shape.labels, numbering)
    }

    pub(super) fn of_section(section: &'a Section) -> Self {
        Self::of(&section.template, &section.labels, &[])
    }

    fn of(template: &'a str, labels: &'a [Guess], numbering: &[&str]) -> Self {
        let names = labels.iter().map(|guess| guess.name.as_str());
        Self {
            template,
            labels: of_groups(names, numbering).collect(),
        }
    }
}

/// The label that tells sections apart whose other labels do not, and its value for each.
pub(super) fn set_of(
    kinds: &[Kind<'_>],
    labels: &BTreeMap<&str, Guess>,
) -> Option<(Guess, Vec<String>)> {
    let values = sets(kinds)?;
    let used: Vec<String> = labels.keys().map(|&name| name.to_owned()).collect();
    let guess = Guess {
        name: unused(SET.to_owned(), &used),
        values: values.clone(),
        unit: None,
    };
    Some((guess, values))
}

/// A value for each section where some would be taken together as repetitions: those that give the
/// same labels. Nothing else needs one.
fn sets(kinds: &[Kind<'_>]) -> Option<Vec<String>> {
    // Files of one form in two sections, as they end in different ways, are of one experiment.
    let mut all: Vec<&Kind<'_>> = Vec::new();
    let place_of = |all: &[&Kind<'_>], kind: &Kind<'_>| {
        let mut all = all.iter();
        all.position(|known| known.template == kind.template && known.labels == kind.labels)
    };
    for kind in kinds {
        if place_of(&all, kind).is_none() {
            all.push(kind);
        }
    }
    let mut labels = BTreeSet::new();
    if all.iter().all(|kind| labels.insert(&kind.labels)) {
        return None;
    }
    let words: Vec<Vec<&str>> = all.iter().map(|kind| words(kind.template)).collect();
    let in_all = |word: &&str| words.iter().all(|words| words.contains(word));
    let own = words.iter().map(|words| {
        let own = words.iter().filter(|word| !in_all(word)).copied();
        own.collect::<Vec<_>>().join("-")
    });
    let own: Vec<String> = own.collect();
    let distinct: BTreeSet<&String> = own.iter().filter(|own| !own.is_empty()).collect();
    let values = if distinct.len() == all.len() {
        own
    } else {
        (1..=all.len()).map(|number| number.to_string()).collect()
    };
    let value = |kind| Some(values[place_of(&all, kind)?].clone());
    kinds.iter().map(value).collect()
}

/// The words of a template that stand in all names.
pub(super) fn words(template: &str) -> Vec<&str> {
    let words = stem_of(template).0.split(SEPARATORS);
    words
        .filter(|word| !word.is_empty() && !word.contains(['{', '}', '?', '*']))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kinds: &[(&str, &[&str])]) -> Option<Vec<String>> {
        let kinds: Vec<Kind<'_>> = kinds
            .iter()
            .map(|(template, labels)| Kind {
                template,
                labels: labels.iter().copied().collect(),
            })
            .collect();
        sets(&kinds)
    }

    #[test]
    fn sections_with_the_same_labels_are_told_apart_by_their_words() {
        let found = of(&[
            (
                "April-2025__rrul-????-??-??T??????.??????.{cca}.flent.gz",
                &["cca"],
            ),
            (
                "April-2025__rtt_fair-????-??-??T??????.??????.{cca}.flent.gz",
                &["cca"],
            ),
            ("April-2025__tcp_{flows}.{cca}.flent.gz", &["cca", "flows"]),
        ]);
        assert_eq!(found.unwrap(), ["rrul", "rtt-fair", "tcp"]);
    }

    #[test]
    fn what_labels_tell_apart_needs_no_other() {
        let found = of(&[
            ("single/{cca}-{rate}.pcap", &["cca", "rate"]),
            ("pairs/{first}-{second}.pcap", &["first", "second"]),
        ]);
        assert_eq!(found, None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn names_without_words_of_their_own_are_numbered() {
        let found = of(&[
            ("a/{cca}-{rate}.pcap", &["cca"]),
            ("a/{cca}_{rate}.pcap", &["cca"]),
        ]);
        assert_eq!(found.unwrap(), ["1", "2"]);
    }
}
