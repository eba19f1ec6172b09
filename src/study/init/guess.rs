//! What the parts of file names may mean.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::kinds::told_apart;
use crate::study::files::{CAPTURE_ENDINGS, COMPRESSION_ENDINGS, TABLE_ENDINGS};
use crate::study::template::{Template, is_name};
use crate::study::units::{Dimension, parse};

/// Characters that separate the parts of names.
pub(super) const SEPARATORS: [char; 3] = ['/', '_', '-'];

/// Names of congestion control algorithms.
const CCAS: [&str; 26] = [
    "reno",
    "newreno",
    "linuxreno",
    "cubic",
    "bbr",
    "bbr1",
    "bbr2",
    "bbr3",
    "bbrv1",
    "bbrv2",
    "bbrv3",
    "vegas",
    "westwood",
    "illinois",
    "bic",
    "htcp",
    "hybla",
    "yeah",
    "dctcp",
    "copa",
    "pcc",
    "vivace",
    "ledbat",
    "scalable",
    "veno",
    "prague",
];

/// Places at which captures are taken.
const VANTAGES: [&str; 8] = [
    "sender",
    "receiver",
    "ingress",
    "egress",
    "client",
    "server",
    "router",
    "bottleneck",
];

/// A label that the names seem to give.
#[derive(Clone, Debug)]
pub(super) struct Guess {
    pub(super) name: String,
    /// Its values, sorted, each once.
    pub(super) values: Vec<String>,
    /// The unit they are written with.
    pub(super) unit: Option<&'static str>,
}

impl Guess {
    /// The unit that numbers without one usually have under such a name.
    pub(super) fn usual_unit(&self) -> Option<&'static str> {
        let unit = match self.name.as_str() {
            "loss" | "plr" => "%",
            "delay" | "owd" | "latency" | "rtt" => "ms",
            _ => return None,
        };
        let are_numbers = self.values.iter().all(|value| {
            let number = value.parse::<f64>();
            number.is_ok_and(|number| number.is_finite() && number >= 0.0)
        });
        (are_numbers && !self.values.is_empty()).then_some(unit)
    }

    /// The same label with the values of another place.
    pub(super) fn take_in(&mut self, other: &Self) {
        self.values.extend(other.values.iter().cloned());
        self.values = distinct(std::mem::take(&mut self.values));
        self.unit = self.unit.filter(|_| self.unit == other.unit);
    }
}

/// Files with names of one shape.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) files: usize,
    pub(super) labels: Vec<Guess>,
    /// Alike but for the endings of compression.
    templates: Vec<Template>,
}

impl Shape {
    /// The shape of templates that give the same labels.
    pub(super) fn of(templates: Vec<Template>, names: &[String]) -> Self {
        let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut files = 0;
        for found in names.iter().filter_map(|name| take_apart(&templates, name)) {
            files += 1;
            for (label, value) in found {
                values.entry(label).or_default().push(value);
            }
        }
        let labels = templates.first().map_or_else(Vec::new, Template::labels);
        let labels = labels
            .into_iter()
            .map(|name| {
                let values = distinct(values.remove(name).unwrap_or_default());
                let unit = unit_of(&values);
                Guess {
                    name: name.to_owned(),
                    values,
                    unit,
                }
            })
            .collect();
        Self {
            files,
            labels,
            templates,
        }
    }

    pub(super) fn fits(&self, name: &str) -> bool {
        take_apart(&self.templates, name).is_some()
    }

    /// Its templates as they are written.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.templates.iter().map(Template::text)
    }
}

/// What the first template that fits says of a name.
fn take_apart(templates: &[Template], name: &str) -> Option<Vec<(String, String)>> {
    let mut templates = templates.iter();
    templates.find_map(|template| template.take_apart(name))
}

/// What files of one kind have in common: the folder at the top, what separates the parts, and the
/// ending without that of compression.
type Class = (String, String, String);

fn class_of(name: &str) -> Class {
    let (stem, ending) = stem_of(name);
    let folder = name.split_once('/').map_or("", |(folder, _)| folder);
    // Files in folders of one kind belong together; what is apart at the top stays apart.
    let top = if folder.contains(SEPARATORS) {
        ""
    } else {
        folder
    };
    let ending = ending.to_ascii_lowercase();
    let mut compressions = COMPRESSION_ENDINGS.iter().filter(|end| !end.is_empty());
    let plain = compressions.find_map(|end| ending.strip_suffix(end));
    let (_, separators) = parts_of(stem);
    (
        top.to_owned(),
        separators.into_iter().collect(),
        plain.unwrap_or(&ending).to_owned(),
    )
}

/// The shapes of names, each of more than one file that no shape before it fits.
pub(super) fn shapes(names: &[String]) -> Vec<Shape> {
    let mut classes: BTreeMap<Class, Vec<&String>> = BTreeMap::new();
    for name in names {
        classes.entry(class_of(name)).or_default().push(name);
    }
    let mut shapes: Vec<Shape> = Vec::new();
    for members in classes
        .into_values()
        .flat_map(|members| forms(members, names))
    {
        if members.len() < 2
            || members
                .iter()
                .any(|name| name.contains(['{', '}', '*', '?']))
        {
            continue;
        }
        let Some(templates) = templates_of(&members) else {
            continue;
        };
        if fit_alone(&templates, &members, names)
            && !shapes
                .iter()
                .any(|shape| members.iter().any(|name| shape.fits(name)))
        {
            let members: Vec<String> = members.into_iter().cloned().collect();
            shapes.push(Shape::of(templates, &members));
        }
    }
    shapes
}

/// Whether of all names these members fit the templates, and no others: a shape must not take what belongs to another.
fn fit_alone(templates: &[Template], members: &[&String], names: &[String]) -> bool {
    let members: BTreeSet<&String> = members.iter().copied().collect();
    let fits = |name: &String| take_apart(templates, name).is_some();
    names
        .iter()
        .all(|name| fits(name) == members.contains(name))
}

/// The names of a class by what their parts mean, where a template for each takes none of another's.
fn forms<'n>(members: Vec<&'n String>, names: &[String]) -> Vec<Vec<&'n String>> {
    let forms = told_apart(&members);
    let is_sound = |form: &Vec<&String>| {
        templates_of(form).is_some_and(|templates| fit_alone(&templates, form, names))
    };
    if forms.len() > 1 && forms.iter().all(is_sound) {
        forms
    } else {
        vec![members]
    }
}

/// A template for each ending of these names; none where one would be too long.
fn templates_of(names: &[&String]) -> Option<Vec<Template>> {
    let stem = template_of(names);
    let endings = names.iter().map(|name| stem_of(name).1);
    let templates = endings
        .collect::<BTreeSet<_>>()
        .into_iter()
        .map(|ending| Template::parse(&format!("{stem}{ending}")).ok());
    templates.collect()
}

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
    let mut parts: Vec<&str> = rest.split(SEPARATORS).collect();
    let mut separators: Vec<char> = rest.chars().filter(|c| SEPARATORS.contains(c)).collect();
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

/// What these names have in common, but for their endings.
fn template_of(names: &[&String]) -> String {
    let parts: Vec<Vec<&str>> = names
        .iter()
        .map(|name| parts_of(stem_of(name).0).0)
        .collect();
    let (_, separators) = parts_of(stem_of(names[0]).0);
    let columns = parts.first().map_or(0, Vec::len);
    let values_at = |column: usize| {
        distinct(
            parts
                .iter()
                .filter_map(|parts| parts.get(column))
                .map(|&part| part.to_owned())
                .collect(),
        )
    };
    let ccas = (0..columns)
        .filter(|&column| is_cca(&values_at(column)) && values_at(column).len() > 1)
        .count();
    let mut template = String::new();
    let mut used: Vec<String> = Vec::new();
    for column in 0..columns {
        let values = values_at(column);
        if let [only] = &values[..] {
            template.push_str(only);
        } else {
            let (prefix, name) = named(&values, ccas, &used);
            let behind = column.checked_sub(1).and_then(|last| separators.get(last));
            let name = match behind {
                Some('.') if name == "label1" => "title".to_owned(),
                _ => name,
            };
            let name = unused(name, &used);
            let _ = write!(template, "{prefix}{{{name}}}");
            used.push(name);
        }
        template.extend(separators.get(column));
    }
    template
}

/// What comes before the values of a part, and what they may be.
fn named(values: &[String], ccas: usize, used: &[String]) -> (String, String) {
    let written_as = |dimension| have_unit(values, dimension);
    let one_of = |words: &[&str]| {
        let mut values = values.iter();
        values.all(|value| words.contains(&value.to_lowercase().as_str()))
    };
    let name = if is_cca(values) {
        match (ccas, used.iter().any(|name| name == "first")) {
            (0 | 1, _) => "cca",
            (_, false) => "first",
            (_, true) => "second",
        }
    } else if written_as(Dimension::Time) {
        "rtt"
    } else if written_as(Dimension::Bdp)
        || written_as(Dimension::Packets)
        || one_of(&["deep", "shallow", "small", "large", "medium"])
    {
        "buffer"
    } else if written_as(Dimension::Rate) {
        "rate"
    } else if written_as(Dimension::Percent) {
        "loss"
    } else if one_of(&VANTAGES) {
        "vantage"
    } else {
        let prefix = common_letters(values);
        let numbered = |value: &String| {
            let rest = &value[prefix.len()..];
            !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit() || c == '.')
        };
        if values.iter().all(numbered) {
            let name = prefix.to_lowercase();
            let name = if is_name(&name) {
                name
            } else {
                "run".to_owned()
            };
            return (prefix.to_owned(), name);
        }
        return (String::new(), "label1".to_owned());
    };
    (String::new(), name.to_owned())
}

/// A name that is not used yet: with a number behind it, if need be.
pub(super) fn unused(name: String, used: &[String]) -> String {
    let stem = name
        .trim_end_matches(|c: char| c.is_ascii_digit())
        .to_owned();
    let mut free = name;
    let mut number = 2;
    while used.contains(&free) {
        free = format!("{stem}{number}");
        number += 1;
    }
    free
}

pub(super) fn is_cca(values: &[String]) -> bool {
    let is_known = |value: &String| {
        let plain = value.to_lowercase().replace('-', "");
        // Westwood+ is the only one of its kind; no other variant has such a sign.
        CCAS.contains(&plain.strip_suffix('+').unwrap_or(&plain))
    };
    values.iter().all(is_known)
}

/// The letters that all values begin with.
fn common_letters(values: &[String]) -> &str {
    let Some(first) = values.first() else {
        return "";
    };
    let shared = |length: usize| {
        values
            .iter()
            .all(|value| value.as_bytes().get(..length) == first.as_bytes().get(..length))
    };
    let letters = first.bytes().take_while(u8::is_ascii_alphabetic).count();
    let length = (0..=letters)
        .rev()
        .find(|&length| shared(length))
        .unwrap_or(0);
    &first[..length]
}

/// Whether all values are written with a unit of a dimension.
pub(super) fn have_unit(values: &[String], dimension: Dimension) -> bool {
    let has = |value: &String| {
        value.ends_with(|c: char| c.is_ascii_alphabetic() || c == '%')
            && parse(value, dimension).is_ok()
    };
    !values.is_empty() && values.iter().all(has)
}

/// The dimensions that values may be written in, and the unit that each is held in.
pub(super) const UNITS: [(Dimension, &str); 5] = [
    (Dimension::Time, "ms"),
    (Dimension::Bdp, "BDP"),
    (Dimension::Packets, "packets"),
    (Dimension::Rate, "Mbit"),
    (Dimension::Percent, "%"),
];

/// The unit that values of rates and times are held in.
fn unit_of(values: &[String]) -> Option<&'static str> {
    let mut units = UNITS.into_iter();
    units.find_map(|(dimension, unit)| have_unit(values, dimension).then_some(unit))
}

/// Values in their order, each once: those without a number first, numbers by size, by text then.
pub(super) fn distinct(values: Vec<String>) -> Vec<String> {
    let dimension = UNITS
        .into_iter()
        .map(|(dimension, _)| dimension)
        .find(|&dimension| have_unit(&values, dimension));
    let number = |value: &str| match dimension {
        Some(dimension) => parse(value, dimension).ok(),
        None => leading_number(value),
    };
    let mut numbered: Vec<(f64, String)> = values
        .into_iter()
        .map(|value| (number(&value).unwrap_or(f64::NEG_INFINITY), value))
        .collect();
    numbered.sort_by(|(a, one), (b, other)| a.total_cmp(b).then_with(|| one.cmp(other)));
    numbered.dedup();
    numbered.into_iter().map(|(_, value)| value).collect()
}

/// The number that a text begins with.
fn leading_number(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    text.get(..end.unwrap_or(text.len()))?.parse().ok()
}
