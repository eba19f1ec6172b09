//! Under which settings runs took place, in words, and how settings are dealt out to charts.

use std::collections::{BTreeMap, BTreeSet};

use crate::study::units::Unit;
use crate::study::{Composition, Label, LabelKind, LabelValue, StudyResults, UNLABELLED, Values};

/// Settings are dealt out to charts by the values of a label with at most so many of them.
pub(super) const PARTS_MAX: usize = 12;

/// Longer values say what they are, whatever they begin with.
const SHORT: usize = 8;

/// Values of labels, in the order of [`Settings::places`], and how many flows of what share the
/// link, where that matters.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Setting {
    labels: Vec<Option<LabelValue>>,
    flows: Option<Composition>,
}

impl Setting {
    /// The same setting, with the flows of its run.
    pub(super) fn with(self, flows: Composition) -> Self {
        self.among(Some(flows))
    }

    /// The same setting, with the flows of its runs, where these matter.
    pub(super) fn among(self, flows: Option<Composition>) -> Self {
        Self { flows, ..self }
    }

    /// Whether a variant has several flows in a run.
    pub(super) fn has_several_of_a_variant(&self) -> bool {
        let flows = self.flows.as_ref();
        flows.is_some_and(Composition::has_several_of_a_kind)
    }

    /// Some of its labels alone, of runs of the same flows: what a flow gets alone and beside others are two things.
    pub(super) fn only(&self, kept: &[usize]) -> Self {
        Self {
            labels: kept
                .iter()
                .map(|&index| self.labels[index].clone())
                .collect(),
            flows: self.flows.clone(),
        }
    }

    /// Its parts: a word for each, by the labels that have a value.
    fn parts(&self, settings: &Settings<'_>) -> Vec<Option<String>> {
        let labels = self.labels.iter().zip(&settings.places);
        let mut parts: Vec<Option<String>> = labels
            .map(|(value, &place)| match value {
                Some(value) => Some(words(&settings.results.labels[place], value)),
                None if settings.variant == Some(place) => Some(UNLABELLED.to_owned()),
                None => None,
            })
            .collect();
        parts.push(self.flows.as_ref().map(Composition::words));
        parts
    }
}

/// What one variant has in a run: all its flows; of a run that was measured elsewhere without them,
/// the run itself.
pub(super) struct Part<'r> {
    pub(super) variant: Option<LabelValue>,
    /// Values of all labels.
    pub(super) labels: &'r [Option<LabelValue>],
    /// Numbers of each flow.
    pub(super) values: Vec<&'r Values>,
    /// Of each of these, whether its flow had not completed when the capture ended.
    pub(super) unfinished: Vec<bool>,
    /// Whether these are of the run.
    pub(super) whole: bool,
}

/// What is drawn on one chart: settings with what belongs to each.
pub(super) struct Page<T> {
    /// What all of them have in common.
    pub(super) common: Common,
    /// What tells each apart, in words, and what belongs to it.
    pub(super) entries: Vec<(String, T)>,
}

/// What settings have in common: the words of each label for themselves.
#[derive(PartialEq)]
pub(super) struct Common(Vec<String>);

impl Common {
    /// All of it.
    pub(super) fn words(&self) -> String {
        self.0.join(", ")
    }

    /// All but the last: pages of the same kin are told apart by that alone.
    pub(super) fn kin(&self) -> &[String] {
        self.0.split_last().map_or(&[], |(_, kin)| kin)
    }
}

/// The labels that make settings.
pub(super) struct Settings<'a> {
    results: &'a StudyResults,
    places: Vec<usize>,
    /// The label that tells variants apart, where its values have charts of their own: so have runs without any.
    variant: Option<usize>,
}

impl<'a> Settings<'a> {
    /// All labels that make groups but some.
    pub(super) fn of(results: &'a StudyResults, without: &[Option<usize>]) -> Self {
        let places = results.group_by.iter().copied();
        Self {
            results,
            places: places
                .filter(|&place| !without.contains(&Some(place)))
                .collect(),
            variant: None,
        }
    }

    /// The same, in which runs without a variant are called so.
    pub(super) fn with_variant(self, variant: Option<usize>) -> Self {
        Self { variant, ..self }
    }

    /// The setting that these values of all labels make.
    pub(super) fn setting(&self, labels: &[Option<LabelValue>]) -> Setting {
        Setting {
            labels: self
                .places
                .iter()
                .map(|&place| labels[place].clone())
                .collect(),
            flows: None,
        }
    }

    /// The value that a setting has of the label at this place among all.
    pub(super) fn value<'s>(&self, setting: &'s Setting, place: usize) -> Option<&'s LabelValue> {
        let index = self.places.iter().position(|&of| of == place)?;
        setting.labels[index].as_ref()
    }

    /// Of its labels, the first and that at this place among all.
    pub(super) fn first_and(&self, place: Option<usize>) -> Vec<usize> {
        let places = self.places.iter().enumerate();
        let kept = places.filter(|&(index, &of)| index == 0 || Some(of) == place);
        kept.map(|(index, _)| index).collect()
    }

    /// The same with some of its labels alone.
    pub(super) fn only(&self, kept: &[usize]) -> Self {
        Self {
            places: kept.iter().map(|&index| self.places[index]).collect(),
            ..*self
        }
    }

    /// Deals settings out to pages with room for `capacity`, each taking its `weight`.
    pub(super) fn pages<T>(
        &self,
        settings: BTreeMap<Setting, T>,
        capacity: usize,
        weight: impl Fn(&T) -> usize,
    ) -> Vec<Page<T>> {
        let mut pages = Vec::new();
        let weighed = settings
            .into_iter()
            .map(|(setting, of)| (setting, weight(&of).max(1), of))
            .collect();
        split(weighed, capacity, &mut |page| pages.push(self.page(page)));
        number_alike(&mut pages);
        pages
    }

    fn page<T>(&self, settings: Vec<Weighed<T>>) -> Page<T> {
        let mut parts: Vec<Vec<Option<String>>> = settings
            .iter()
            .map(|(setting, _, _)| setting.parts(self))
            .collect();
        // That a flow was alone goes without saying unless it tells settings apart.
        for (index, (setting, _, _)) in settings.iter().enumerate() {
            let mut others = settings.iter().enumerate();
            let told_apart =
                others.any(|(other, (of, _, _))| other != index && of.labels == setting.labels);
            let alone = matches!(setting.flows, Some(Composition::Same(1)));
            if alone && !told_apart {
                parts[index].pop();
                parts[index].push(None);
            }
        }
        let is_common = |place: usize| parts.iter().all(|of| of[place] == parts[0][place]);
        let words = |of: &[Option<String>], common: bool| -> Vec<String> {
            let kept = (0..of.len()).filter(|&place| is_common(place) == common);
            kept.filter_map(|place| of[place].clone()).collect()
        };
        // What tells one apart may be that it has no value.
        let lacking = (0..self.places.len()).find(|&place| !is_common(place));
        let named = |of: &[Option<String>]| match (words(of, false), lacking) {
            (words, Some(place)) if words.is_empty() => {
                let label = &self.results.labels[self.places[place]];
                format!("{} not given", written(label))
            }
            (words, _) => words.join(", "),
        };
        Page {
            common: Common(parts.first().map_or_else(Vec::new, |of| words(of, true))),
            entries: settings
                .into_iter()
                .zip(&parts)
                .map(|((_, _, of), parts)| (named(parts), of))
                .collect(),
        }
    }
}

/// Numbers pages of the same words, which could not be told apart by their titles.
fn number_alike<T>(pages: &mut [Page<T>]) {
    for alike in pages.chunk_by_mut(|one, next| one.common == next.common) {
        let all = alike.len();
        if all < 2 {
            continue;
        }
        for (index, page) in alike.iter_mut().enumerate() {
            page.common.0.push(format!("part {} of {all}", index + 1));
        }
    }
}

type Weighed<T> = (Setting, usize, T);

/// Cuts settings, which are in order, where their first label with a few values changes; where no
/// label has a few, wherever a page is full.
fn split<T>(settings: Vec<Weighed<T>>, capacity: usize, each: &mut impl FnMut(Vec<Weighed<T>>)) {
    let total: usize = settings.iter().map(|(_, weight, _)| weight).sum();
    if settings.is_empty() {
        return;
    }
    if total <= capacity || settings.len() == 1 {
        each(settings);
        return;
    }
    let labels = settings[0].0.labels.len();
    let by = (0..labels).find(|&index| {
        let values: BTreeSet<&Option<LabelValue>> = settings
            .iter()
            .map(|(setting, _, _)| &setting.labels[index])
            .collect();
        (2..=PARTS_MAX).contains(&values.len())
    });
    if let Some(by) = by {
        let mut parts: BTreeMap<Option<LabelValue>, Vec<Weighed<T>>> = BTreeMap::new();
        for of in settings {
            parts.entry(of.0.labels[by].clone()).or_default().push(of);
        }
        for part in parts.into_values() {
            split(part, capacity, each);
        }
        return;
    }
    // All pages alike rather than a full one and the rest.
    let room = total.div_ceil(total.div_ceil(capacity));
    let (mut page, mut taken) = (Vec::new(), 0);
    for of in settings {
        if taken + of.1 > room.max(of.1) {
            each(std::mem::take(&mut page));
            taken = 0;
        }
        taken += of.1;
        page.push(of);
    }
    each(page);
}

pub(super) fn is_number(label: &Label) -> bool {
    matches!(label.kind, LabelKind::Number(_))
}

/// A value of a label as it stands in a title or below a bar: with its unit; with the label's name
/// where a number alone would not tell what it is.
fn words(label: &Label, value: &LabelValue) -> String {
    let text = text_of(value);
    let text = match (value.number(), unit(label)) {
        // Words, or several values in one.
        (None, _) | (Some(_), "") => text,
        // A number and its unit are not parted.
        (Some(_), unit) => format!("{text}\u{a0}{unit}"),
    };
    let named = text.starts_with(|letter: char| letter.is_alphabetic());
    let name = written(label);
    if named || label.name == "rate" || !is_number(label) && text.chars().count() > SHORT {
        text
    } else {
        let mark = if name.ends_with(|letter: char| letter.is_ascii_digit()) {
            ":"
        } else {
            ""
        };
        format!("{name}{mark} {text}")
    }
}

/// A value of a label as it stands in a text, without its unit: numbers have a minus sign.
pub(super) fn text_of(value: &LabelValue) -> String {
    match value.number() {
        Some(_) => value.text().replace('-', "−"),
        None => value.text().to_owned(),
    }
}

/// A label's name as it stands in a text: in words, as tables have it, abbreviations of the field in capitals, without
/// the unit that stands behind its numbers.
pub(super) fn written(label: &Label) -> String {
    let name = ending(label).map_or(label.name.as_str(), |(name, _)| name);
    let word = |word: &str| match word {
        "rtt" | "owd" | "bdp" | "cca" | "aqm" | "ecn" | "mss" | "iw" => word.to_ascii_uppercase(),
        word => word.to_owned(),
    };
    let words = name.split('_').filter(|part| !part.is_empty());
    words.map(word).collect::<Vec<_>>().join(" ")
}

/// The unit of a label, as it is written behind numbers.
pub(super) fn unit(label: &Label) -> &'static str {
    match label.kind {
        LabelKind::Number(Some(unit)) => unit.symbol(),
        _ => ending(label).map_or("", |(_, unit)| unit.symbol()),
    }
}

/// The name of a label of numbers, and the unit that it ends in: that of its numbers, as in tables.
fn ending(label: &Label) -> Option<(&str, Unit)> {
    let (name, word) = label.name.rsplit_once('_')?;
    let unit = Unit::ending(word)?;
    let is_own = match label.kind {
        LabelKind::Text => false,
        LabelKind::Number(declared) => declared.is_none_or(|of| of == unit),
    };
    (is_own && !name.is_empty()).then_some((name, unit))
}

/// A label as the name of an axis: `Loss`, and with its unit.
pub(super) fn axis_name(label: &Label) -> (String, String) {
    let written = written(label);
    let mut letters = written.chars();
    let name: String = letters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(letters)
        .collect();
    let whole = match unit(label) {
        "" => name.clone(),
        unit => format!("{name} ({unit})"),
    };
    (name, whole)
}

/// A variant in words.
pub(super) fn name_of(value: Option<&LabelValue>) -> String {
    value.map_or_else(|| UNLABELLED.to_owned(), |value| value.text().to_owned())
}
