//! What the parts of file names may mean.

use crate::study::labels::is_repetition;
use crate::study::template::is_name;
use crate::study::units::{Dimension, parse};

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
pub(super) const VANTAGES: [&str; 8] = [
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

/// Whether a value is what `known` ones are: an algorithm, a number, one with such a unit, or one of them. Of other
/// words nobody knows.
pub(super) fn is_of_the_kind(value: &str, known: &[String]) -> bool {
    let value = [value.to_owned()];
    let both = |is: &dyn Fn(&[String]) -> bool| is(known) && is(&value);
    let is_number = |value: &String| {
        let digits = value.strip_prefix('-').unwrap_or(value);
        digits.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    both(&is_cca)
        || both(&|values| values.iter().all(is_number))
        || (UNITS.iter()).any(|&(dimension, _)| both(&|values| have_unit(values, dimension)))
        || known.contains(&value[0])
}

/// What comes before the values of a part, and what they may be.
pub(super) fn named(values: &[String], ccas: usize, used: &[String]) -> (String, String) {
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
    } else if written_as(Dimension::Size) {
        "size"
    } else if written_as(Dimension::Rate) && !may_be_sizes(values) {
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

/// Whether values are numbers with nothing before or behind them.
pub(super) fn is_bare(values: &[String]) -> bool {
    let is_number = |value: &String| value.chars().all(|c| c.is_ascii_digit() || c == '.');
    values.len() > 1 && values.iter().all(is_number)
}

/// Which of the parts of names that are bare numbers tells repetitions apart, if no part says it in words: the last that
/// counts from 0 or 1 on without gaps, as names end in the number of the run; else the last.
pub(super) fn repetition_of(parts: &[Vec<String>]) -> Option<usize> {
    let is_said = |values: &Vec<String>| {
        let numbered = |value: &String| value.ends_with(|c: char| c.is_ascii_digit());
        let letters = common_letters(values).to_lowercase();
        values.len() > 1 && values.iter().all(numbered) && is_repetition(&letters)
    };
    let counts = |values: &[String]| {
        let mut numbers: Vec<u64> = values
            .iter()
            .filter_map(|value| value.parse().ok())
            .collect();
        numbers.sort_unstable();
        let first = numbers.first().copied().unwrap_or(2);
        first < 2
            && numbers.len() == values.len()
            && (first..).zip(&numbers).all(|(at, of)| at == *of)
    };
    if parts.iter().any(is_said) {
        return None;
    }
    let bare = || (0..parts.len()).filter(|&place| is_bare(&parts[place]));
    bare()
        .rfind(|&place| counts(&parts[place]))
        .or(bare().next_back())
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
pub(super) const UNITS: [(Dimension, &str); 6] = [
    (Dimension::Time, "ms"),
    (Dimension::Bdp, "BDP"),
    (Dimension::Packets, "packets"),
    (Dimension::Rate, "Mbit"),
    (Dimension::Size, "kB"),
    (Dimension::Percent, "%"),
];

/// Whether values that may be read as rates are as likely sizes: below 1 Mbit/s, with nothing but `k` behind them.
fn may_be_sizes(values: &[String]) -> bool {
    let is_small = |value: &String| {
        value.ends_with(['k', 'K']) && parse(value, Dimension::Rate).is_ok_and(|bps| bps < 1e6)
    };
    values.iter().all(is_small)
}

/// The unit that values of rates and times, under a label of this `name`, are held in.
pub(super) fn unit_of(name: &str, values: &[String]) -> Option<&'static str> {
    if name != "rate" && may_be_sizes(values) {
        return None;
    }
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
    let sign = usize::from(text.starts_with('-'));
    let end = text[sign..].find(|c: char| !c.is_ascii_digit() && c != '.');
    let end = end.map_or(text.len(), |end| sign + end);
    text[..end].parse().ok()
}
