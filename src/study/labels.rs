//! What runs and flows are called by: typed labels, their values and their order.

mod reserved;

use std::cmp::Ordering;
use std::fmt;

pub use reserved::RESERVED;

use super::natural::natural_order;
use super::units::Unit;
use crate::decode::{Endpoint, Filter, Transport};
use crate::event::Direction;

/// Names of labels that only number repetitions.
pub(super) const REPETITIONS: [&str; 6] =
    ["run", "rep", "repetition", "iteration", "trial", "seed"];

/// Whether a label of this name only tells repetitions apart: by their number or, as a name is of one run, by that.
pub(super) fn is_repetition(name: &str) -> bool {
    REPETITIONS.contains(&name) || name == "name"
}

/// What stands for the value that flows do not have, where others of their run have one.
pub const UNLABELLED: &str = "unlabelled";

/// What kind of values a label has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LabelKind {
    /// Words.
    Text,
    /// Numbers, with the unit they are held in, if any.
    Number(Option<Unit>),
}

/// A label: something that tells runs or flows apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: LabelKind,
    /// Its values in the order of tables and charts, where one was given.
    pub order: Vec<String>,
    /// Words as files and rules give them, and what tables and charts call them instead. No name is such a word of
    /// another.
    pub names: Vec<(String, String)>,
    /// Its values belong to flows rather than to whole runs.
    pub of_flows: bool,
}

impl Label {
    /// The name of its column: with the unit last.
    #[must_use]
    pub fn column(&self) -> String {
        match self.kind {
            LabelKind::Number(Some(unit)) if !self.name.ends_with(unit.suffix) => {
                format!("{}_{}", self.name, unit.suffix)
            }
            _ => self.name.clone(),
        }
    }

    /// A value of this label.
    ///
    /// # Errors
    /// Says why `text` is none: no number, a unit of something else, not in the order given.
    pub fn value(&self, text: &str) -> Result<LabelValue, String> {
        let number = self.number(text)?;
        let called = self.called(text);
        let rank = if self.order.is_empty() {
            None
        } else {
            // The order may name numbers as the tables show them, without the unit that files give them.
            let is_it = |known: &String| match number {
                Some(number) => self.number(known) == Ok(Some(number)),
                None => self.called(known) == called,
            };
            let rank = self.order.iter().position(is_it);
            Some(rank.ok_or_else(|| {
                let hint = super::manifest::suggestion(text, &self.order);
                format!(
                    "'{text}' is not in the order of label '{}'{hint}",
                    self.name
                )
            })?)
        };
        // Two ways to write one number are one value.
        let text = number.map_or_else(|| called.to_owned(), |number| number.to_string());
        Ok(LabelValue {
            text,
            place: ValuePlace { rank, number },
            further: Vec::new(),
        })
    }

    /// What a word is called: itself, unless it has a name.
    pub(super) fn called<'t>(&'t self, text: &'t str) -> &'t str {
        let mut names = self.names.iter();
        let name = names.find(|(word, _)| word == text);
        name.map_or(text, |(_, name)| name)
    }

    /// The number that is written so, in the unit of the label; none of a label of words.
    fn number(&self, text: &str) -> Result<Option<f64>, String> {
        let number = match self.kind {
            LabelKind::Text => return Ok(None),
            LabelKind::Number(None) => text
                .trim()
                .parse::<f64>()
                .ok()
                .filter(|number| number.is_finite())
                .ok_or_else(|| format!("'{text}' is no number"))?,
            LabelKind::Number(Some(unit)) => unit.parse(text)?,
        };
        // A zero with a sign is zero.
        Ok(Some(number + 0.0))
    }
}

/// One value of a label.
#[derive(Clone, Debug)]
pub struct LabelValue {
    text: String,
    /// Of several joined values that of the first.
    place: ValuePlace,
    /// Those of the others.
    further: Vec<ValuePlace>,
}

/// As [`text`](LabelValue::text).
impl fmt::Display for LabelValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// Where a value stands among others, as far as its text does not say.
#[derive(Clone, Copy, Debug)]
struct ValuePlace {
    /// Among those that the manifest puts in order.
    rank: Option<usize>,
    number: Option<f64>,
}

impl ValuePlace {
    /// Behind all others.
    const LAST: Self = Self {
        rank: Some(usize::MAX),
        number: Some(f64::INFINITY),
    };

    /// Whether there is anything to go by.
    fn is_told(self) -> bool {
        self.rank.is_some() || self.number.is_some()
    }
}

impl PartialEq for ValuePlace {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for ValuePlace {}

impl PartialOrd for ValuePlace {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By the order given, then by number.
impl Ord for ValuePlace {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = match (self.number, other.number) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        };
        self.rank.cmp(&other.rank).then(numbers)
    }
}

impl LabelValue {
    /// As text; numbers without their unit.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// As a number in the unit of its label.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        self.place.number.filter(|_| self.further.is_empty())
    }

    /// What a run is called whose flows have several of the known values, from these joined by `+` in any order; `None`
    /// where the text is not that.
    #[must_use]
    pub fn joined_of(text: &str, known: &[Self]) -> Option<Self> {
        let mut parts = Vec::new();
        let mut rest = Some(text);
        while let Some(text) = rest {
            // The longest first: a name may end in `+` itself, as Westwood+.
            let is_next = |name: &str| {
                let behind = text.strip_prefix(name);
                behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('+'))
            };
            let next = known.iter().filter(|value| is_next(value.text()));
            let next = next.max_by_key(|value| value.text().len());
            let name = match next {
                Some(value) => value.text(),
                None if is_next(UNLABELLED) => UNLABELLED,
                None => return None,
            };
            parts.push(next.cloned());
            rest = text[name.len()..].strip_prefix('+');
        }
        if parts.len() > 1 {
            Self::joined(&parts)
        } else {
            None
        }
    }

    /// The value of a run whose flows have several: the distinct ones, in order, joined by `+`.
    /// Flows without one are a part of it too: its numbers are not those of the others alone.
    #[must_use]
    pub fn joined(values: &[Option<Self>]) -> Option<Self> {
        let mut distinct: Vec<&Self> = values.iter().flatten().collect();
        distinct.sort();
        distinct.dedup();
        let lacking = values.iter().any(Option::is_none);
        match distinct[..] {
            [] => None,
            [one] if !lacking => Some(one.clone()),
            [first, ..] => {
                let mut texts: Vec<&str> = distinct.iter().map(|value| value.text()).collect();
                texts.extend(lacking.then_some(UNLABELLED));
                // Without these the text tells all, so that this is the same value as one which is written so.
                let mut further = Vec::new();
                if first.place.is_told() {
                    further.extend(distinct[1..].iter().map(|value| value.place));
                    further.extend(lacking.then_some(ValuePlace::LAST));
                }
                Some(Self {
                    text: texts.join("+"),
                    place: first.place,
                    further,
                })
            }
        }
    }
}

impl PartialEq for LabelValue {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for LabelValue {}

impl PartialOrd for LabelValue {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By the order given, then by number, of joined values one after the other; then by text with numbers in it.
impl Ord for LabelValue {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place
            .cmp(&other.place)
            .then_with(|| self.further.cmp(&other.further))
            .then_with(|| natural_order(&self.text, &other.text))
    }
}

/// What tells the flows of a run apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlowKey {
    /// Address, network or port of who accepted the connection.
    Server,
    /// Of who opened it.
    Client,
    /// Of who sends the payload.
    Sender,
    /// Of who receives it.
    Receiver,
    /// Of either end.
    Either,
    /// The order in which the flows sent their first payload: 1 is the first.
    Start,
    /// Whether they are of TCP or of UDP.
    Transport,
}

/// Gives flows a label.
#[derive(Clone, Debug)]
pub struct FlowRule {
    /// Place of the label among those of the study.
    pub label: usize,
    /// What tells flows apart.
    pub key: FlowKey,
    /// Which flows have which value; the first that fits counts.
    pub cases: Vec<(FlowCase, LabelValue)>,
    /// The value of all others.
    pub other: Option<LabelValue>,
}

/// Which flows a case is about.
#[derive(Clone, Debug)]
pub enum FlowCase {
    /// Those at an end that fits: a port, an address, a network.
    End(Box<Filter>),
    /// The one that started as number n, from 1.
    Start(usize),
    /// Those of TCP, or those of UDP.
    Transport(Transport),
}

impl FlowRule {
    /// The value of a flow between these ends that started as number `start`, from 1, of its run.
    /// Without ends only rules by start and `other` say anything.
    #[must_use]
    pub fn value_of(&self, flow: Option<&FlowEnds>, start: usize) -> Option<LabelValue> {
        let ends = flow.map_or([None, None], |flow| flow.at(self.key));
        self.cases
            .iter()
            .find(|(case, _)| match case {
                FlowCase::Start(number) => *number == start,
                FlowCase::Transport(one) => flow.is_some_and(|flow| flow.transport == *one),
                FlowCase::End(filter) => ends.iter().flatten().any(|end| filter.keeps(end, end)),
            })
            .map(|(_, value)| value)
            .or(self.other.as_ref())
            .cloned()
    }

    /// The values that it gives.
    pub(super) fn values(&self) -> impl Iterator<Item = &LabelValue> {
        let cases = self.cases.iter().map(|(_, value)| value);
        cases.chain(&self.other)
    }

    /// What it looks at in a flow, in words, and what would stand for that in `values`; none of a
    /// flow whose ends are not known.
    #[must_use]
    pub fn looked_at(&self, flow: Option<&FlowEnds>, start: usize) -> Option<(String, String)> {
        let word = match self.key {
            FlowKey::Start => {
                return Some((
                    format!("number {start} to start"),
                    format!("number {start}"),
                ));
            }
            FlowKey::Transport => {
                let name = flow?.transport.name();
                return Some((format!("transport {name}"), name.to_owned()));
            }
            FlowKey::Server => "server",
            FlowKey::Client => "client",
            FlowKey::Sender => "sender",
            FlowKey::Receiver => "receiver",
            FlowKey::Either => "ends",
        };
        let ends: Vec<Endpoint> = flow?.at(self.key).into_iter().flatten().collect();
        let shown: Vec<String> = ends.iter().map(Endpoint::to_string).collect();
        // Of two ends the receiver's is the one that is known beforehand, as a rule.
        let port = ends.last()?.port();
        Some((format!("{word} {}", shown.join(" and ")), port.to_string()))
    }
}

/// Who sends a flow's payload, who receives it, and which of them opened the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowEnds {
    /// Who sends the payload.
    pub sender: Endpoint,
    /// Who receives it.
    pub receiver: Endpoint,
    /// Forward where the sender opened the connection.
    pub direction: Direction,
    /// What its packets are of.
    pub transport: Transport,
}

impl FlowEnds {
    /// Who opened the connection.
    fn client(&self) -> Endpoint {
        match self.direction {
            Direction::Forward => self.sender,
            Direction::Reverse => self.receiver,
        }
    }

    /// Who accepted it.
    #[must_use]
    pub fn server(&self) -> Endpoint {
        match self.direction {
            Direction::Forward => self.receiver,
            Direction::Reverse => self.sender,
        }
    }

    /// The ends that a key is about.
    fn at(&self, key: FlowKey) -> [Option<Endpoint>; 2] {
        match key {
            FlowKey::Server => [Some(self.server()), None],
            FlowKey::Client => [Some(self.client()), None],
            FlowKey::Sender => [Some(self.sender), None],
            FlowKey::Receiver => [Some(self.receiver), None],
            FlowKey::Either => [Some(self.sender), Some(self.receiver)],
            FlowKey::Start | FlowKey::Transport => [None, None],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(kind: LabelKind, order: &[&str]) -> Label {
        Label {
            name: "rate".to_owned(),
            kind,
            order: order.iter().map(|&value| value.to_owned()).collect(),
            names: Vec::new(),
            of_flows: false,
        }
    }

    #[test]
    fn numbers_are_ordered_as_numbers_and_units_do_not_tell_values_apart() {
        let rate = label(LabelKind::Number(Unit::named("Mbit").ok()), &[]);
        let mut values = ["1Gbit", "50m", "9Mbit/s"].map(|text| rate.value(text).unwrap());
        values.sort();
        assert_eq!(values.each_ref().map(LabelValue::text), ["9", "50", "1000"]);
        assert_eq!(rate.value("1Gbit").unwrap(), rate.value("1000").unwrap());
        assert!(rate.value("5ms").is_err());
        assert_eq!(rate.column(), "rate_mbps");
        let signal = label(LabelKind::Number(None), &[]);
        let mut values = ["5", "-40", "-0.0", "-100"].map(|text| signal.value(text).unwrap());
        assert_eq!(values[2], signal.value("0").unwrap());
        values.sort();
        assert_eq!(
            values.each_ref().map(LabelValue::text),
            ["-100", "-40", "0", "5"]
        );
    }

    #[test]
    fn words_with_numbers_are_ordered_by_these_unless_an_order_is_given() {
        let rates = ["100m", "20m", "10m"];
        for (order, expected) in [(&[][..], ["10m", "20m", "100m"]), (&rates, rates)] {
            let rate = label(LabelKind::Text, order);
            let mut values = rates.map(|text| rate.value(text).unwrap());
            values.sort();
            assert_eq!(values.each_ref().map(LabelValue::text), expected);
        }
    }

    #[test]
    fn the_order_given_counts_and_what_is_not_in_it_is_a_mistake() {
        let buffer = label(LabelKind::Text, &["shallow", "deep"]);
        assert!(buffer.value("shallow").unwrap() < buffer.value("deep").unwrap());
        assert!(
            buffer
                .value("shalow")
                .unwrap_err()
                .contains("did you mean 'shallow'")
        );
        // Numbers are those of the unit, however they are written.
        let unit = Unit::named("BDP").ok();
        for order in [["2", "0.5"], ["2bdp", "0.50"]] {
            let buffer = label(LabelKind::Number(unit), &order);
            assert!(buffer.value("2bdp").unwrap() < buffer.value("0.5BDP").unwrap());
            assert!(buffer.value("1bdp").is_err());
        }
    }

    #[test]
    fn a_run_is_called_by_all_values_of_its_flows() {
        let cca = label(LabelKind::Text, &[]);
        let value = |text: &str| cca.value(text).ok();
        let joined = |values: &[Option<LabelValue>]| {
            LabelValue::joined(values).map(|value| value.text().to_owned())
        };
        assert_eq!(
            joined(&[value("cubic"), value("bbr"), value("cubic")]).as_deref(),
            Some("bbr+cubic")
        );
        assert_eq!(
            joined(&[value("cubic"), None, value("cubic")]).as_deref(),
            Some("cubic+unlabelled")
        );
        assert_eq!(joined(&[None]), None);
    }

    #[test]
    fn joined_values_are_ordered_by_all_of_their_parts() {
        let words = label(LabelKind::Text, &["reno", "cubic", "bbr"]);
        let numbers = label(LabelKind::Number(None), &[]);
        for (label, expected) in [
            (
                words,
                // Each behind its first part, and in the order of the second: by text bbr would be before cubic.
                &[
                    "reno",
                    "reno+cubic",
                    "reno+bbr",
                    "reno+unlabelled",
                    "cubic",
                    "cubic+bbr",
                    "bbr",
                ],
            ),
            (
                numbers,
                &["5", "5+20", "5+100", "5+unlabelled", "20", "20+100", "100"],
            ),
        ] {
            let value = |text: &&str| {
                let parts = text.split('+').map(|part| label.value(part).ok());
                LabelValue::joined(&parts.collect::<Vec<_>>()).unwrap()
            };
            let mut values: Vec<LabelValue> = expected.iter().rev().map(value).collect();
            values.sort();
            let texts: Vec<&str> = values.iter().map(LabelValue::text).collect();
            assert_eq!(texts, expected);
        }
        // Where nothing but the text tells the order, what is written joined is the same value.
        let words = label(LabelKind::Text, &[]);
        let joined = ["cubic", "bbr"].map(|text| words.value(text).ok());
        assert_eq!(LabelValue::joined(&joined), words.value("bbr+cubic").ok());
    }

    #[test]
    fn what_a_run_of_several_values_is_called_may_be_written_in_any_order() {
        let cca = label(LabelKind::Text, &["cubic", "westwood+", "bbr"]);
        let known = ["cubic", "westwood+", "bbr"].map(|text| cca.value(text).unwrap());
        let named = |text: &str| {
            let joined = LabelValue::joined_of(text, &known);
            joined.map(|value| value.text().to_owned())
        };
        // In the order given, as runs are called.
        assert_eq!(named("bbr+cubic").as_deref(), Some("cubic+bbr"));
        assert_eq!(
            named("bbr+westwood++cubic").as_deref(),
            Some("cubic+westwood++bbr")
        );
        assert_eq!(named("unlabelled+bbr").as_deref(), Some("bbr+unlabelled"));
        for no in ["bbr", "bbr+", "bbr+reno", "+bbr", ""] {
            assert_eq!(named(no), None, "{no}");
        }
        let run = LabelValue::joined(&[known.first().cloned(), known.last().cloned()]);
        assert_eq!(LabelValue::joined_of("bbr+cubic", &known), run);
    }
}
