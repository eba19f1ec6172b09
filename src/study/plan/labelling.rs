//! Labels: which there are, of what type, and the value of each for each run.

use std::collections::BTreeSet;

use super::{Draft, MeasuredDraft, Texts, all_flow_sections, filled};
use crate::decode::{Filter, Transport};
use crate::study::labels::{FlowCase, FlowKey, FlowRule, Label, LabelKind, LabelValue, RESERVED};
use crate::study::manifest::{Document, FlowSection, LabelSection, Located, Manifest, suggestion};
use crate::study::measured::MeasuredRun;
use crate::study::template::{Template, is_name};
use crate::study::units::Unit;

/// The type of a label that is not a number, whatever its values look like.
pub(super) const TEXT: &str = "text";

/// The labels of a study, and the value of each for each run.
pub(super) fn typed(
    manifest: &Manifest,
    drafts: &[Draft<'_>],
    document: &mut Document,
) -> (Vec<Label>, Vec<Vec<Option<LabelValue>>>) {
    let given = given_names(manifest);
    let mut names: Vec<&Located<String>> = manifest
        .labels
        .iter()
        .map(|section| &section.name)
        .collect();
    for name in &given {
        if !names.iter().any(|known| known.value == name.value) {
            names.push(name);
        }
    }
    let given_texts: Vec<&str> = given.iter().map(|name| name.value.as_str()).collect();
    for section in &manifest.labels {
        if !given_texts.contains(&section.name.value.as_str()) {
            let message = format!(
                "no run has a label '{}'{}",
                section.name.value,
                suggestion(&section.name.value, &given_texts)
            );
            document.mistake_of_labels(section.name.line, message);
        }
    }
    let labels: Vec<Label> = names
        .iter()
        .map(|name| label(name, manifest, drafts, document))
        .collect();
    for (index, (label, name)) in labels.iter().zip(&names).enumerate() {
        let column = label.column();
        let taken = RESERVED.contains(&column.as_str())
            || crate::study::Metric::named(&column).is_some()
            || labels[..index].iter().any(|other| other.column() == column);
        if taken {
            let message = format!(
                "a label cannot be called '{}': the tables have a column '{column}' already",
                name.value
            );
            document.mistake(name.line, message);
        }
    }
    let values = values(&labels, drafts, document);
    (labels, values)
}

/// Names of labels in the order in which the manifest gives them, each with its line.
fn given_names(manifest: &Manifest) -> Vec<Located<String>> {
    let mut names: Vec<Located<String>> = Vec::new();
    let mut add = |name: Located<String>| {
        if !names.iter().any(|known| known.value == name.value) {
            names.push(name);
        }
    };
    for section in &manifest.runs {
        for files in &section.files {
            if let Ok(template) = Template::parse(&files.value) {
                for name in template.labels() {
                    add(files.with(name.to_owned()));
                }
            }
        }
        section
            .labels
            .iter()
            .for_each(|(name, _)| add(name.clone()));
    }
    for section in &manifest.measured {
        let columns = section.metrics.iter().flat_map(|(_, column)| &column.names);
        for text in section.files.iter().chain(columns) {
            if let Ok(template) = Template::parse(&text.value) {
                for name in template.labels() {
                    add(text.with(name.to_owned()));
                }
            }
        }
        let labels = section.columns.iter().chain(&section.labels);
        labels.for_each(|(name, _)| add(name.clone()));
    }
    all_flow_sections(manifest).for_each(|rule| add(rule.label.clone()));
    names
}

fn label(
    name: &Located<String>,
    manifest: &Manifest,
    drafts: &[Draft<'_>],
    document: &mut Document,
) -> Label {
    if !is_name(&name.value) {
        let message = format!(
            "a label cannot be called '{}': write letters, digits and '_'",
            name.value
        );
        document.mistake(name.line, message);
    }
    let section = manifest
        .labels
        .iter()
        .find(|section| section.name.value == name.value);
    let given = section.and_then(|section| section.order.as_ref());
    let given = given.map_or(&[][..], Vec::as_slice);
    let order: Vec<String> = given.iter().map(|value| value.value.clone()).collect();
    let names = section.map_or_else(Vec::new, |section| {
        let words = words_of(&name.value, manifest, drafts);
        value_names(section, &words, document)
    });
    let kind = section
        .and_then(|section| declared_kind(section, drafts, document))
        .unwrap_or_else(|| {
            let are_words = !order.is_empty() || !names.is_empty();
            let numbers = !are_words && all_numbers(&name.value, manifest, drafts);
            if numbers {
                LabelKind::Number(None)
            } else {
                LabelKind::Text
            }
        });
    let label = Label {
        name: name.value.clone(),
        kind,
        order,
        names,
        of_flows: all_flow_sections(manifest).any(|rule| rule.label.value == name.value)
            || measured_flows(drafts).any(|texts| has(texts, &name.value)),
    };
    // A word and its name are one value.
    let called = given.iter().map(|value| Located {
        line: value.line,
        value: label.called(&value.value).to_owned(),
    });
    document.mistake_of_repeats(&called.collect::<Vec<_>>(), |value| {
        format!(
            "'{value}' is named a second time in the order of label '{}'",
            name.value
        )
    });
    label
}

/// What the values of a label are called, by what files and rules say.
fn value_names(
    section: &LabelSection,
    words: &BTreeSet<&str>,
    document: &mut Document,
) -> Vec<(String, String)> {
    let label = &section.name.value;
    let is_number = section.unit.is_some()
        || (section.kind.as_ref()).is_some_and(|kind| kind.value == "number");
    if let Some((word, _)) = section.names.first().filter(|_| is_number) {
        let message = format!(
            "the values of label '{label}' are numbers: only words have names, which type = \"text\" makes them"
        );
        document.mistake(word.line, message);
        return Vec::new();
    }
    for (place, (word, name)) in section.names.iter().enumerate() {
        let mut others = section.names.iter().enumerate();
        let taken = others.find(|&(other, (of, called))| {
            other != place
                && (of.value == name.value || (other < place && called.value == name.value))
        });
        let message = match taken {
            _ if name.value.trim().is_empty() => {
                format!("'{}' of label '{label}' needs a name", word.value)
            }
            Some((_, (other, _))) => format!(
                "label '{label}': '{}' cannot be called '{}', which is '{}': what is to be one has one word in the files",
                word.value, name.value, other.value
            ),
            None if name.value != word.value && words.contains(name.value.as_str()) => format!(
                "label '{label}': '{}' cannot be called '{}', which others are: what is to be one has one word in the files",
                word.value, name.value
            ),
            None => continue,
        };
        document.mistake(name.line, message);
    }
    let names = section.names.iter();
    names
        .map(|(word, name)| (word.value.clone(), name.value.clone()))
        .collect()
}

/// The words that files and rules have for values of a label.
fn words_of<'a>(label: &str, manifest: &'a Manifest, drafts: &'a [Draft<'_>]) -> BTreeSet<&'a str> {
    let mut words: BTreeSet<&str> = texts_of(label, drafts).collect();
    for text in texts_of_rules(label, manifest) {
        let of_label = text.strip_prefix('{').and_then(|of| of.strip_suffix('}'));
        match of_label {
            Some(other) => words.extend(texts_of(other, drafts)),
            None => drop(words.insert(text)),
        }
    }
    words
}

/// What files and tables have for values of a label.
fn texts_of<'a>(label: &str, drafts: &'a [Draft<'_>]) -> impl Iterator<Item = &'a str> {
    let of_drafts = drafts.iter().map(|draft| &draft.texts);
    let texts = of_drafts.chain(measured_flows(drafts)).flatten();
    let of_label = texts.filter(move |(known, _)| known == label);
    of_label.map(|(_, text)| text.value.as_str())
}

/// What rules have for them: texts in which `{label}` stands for the value of another.
fn texts_of_rules<'a>(label: &str, manifest: &'a Manifest) -> impl Iterator<Item = &'a str> {
    let rules = all_flow_sections(manifest).filter(move |rule| rule.label.value == label);
    let values = rules.flat_map(|rule| {
        let values = rule.values.iter().map(|(_, value)| value);
        values.chain(&rule.other)
    });
    values.map(|value| value.value.as_str())
}

/// Labels that flows which were measured elsewhere have of their own.
fn measured_flows<'a>(drafts: &'a [Draft<'_>]) -> impl Iterator<Item = &'a Texts> {
    let measured = drafts.iter().filter_map(|draft| draft.measured.as_ref());
    measured.flat_map(|run| &run.flows)
}

fn has(texts: &Texts, name: &str) -> bool {
    texts.iter().any(|(known, _)| known == name)
}

fn declared_kind(
    section: &LabelSection,
    drafts: &[Draft<'_>],
    document: &mut Document,
) -> Option<LabelKind> {
    if let Some(named) = &section.unit {
        return match Unit::named(&named.value) {
            Ok(unit) => {
                let unit = fitting_unit(unit, named, &section.name.value, drafts, document);
                Some(LabelKind::Number(Some(unit)))
            }
            Err(message) => {
                document.mistake(named.line, message);
                None
            }
        };
    }
    let kind = section.kind.as_ref()?;
    match kind.value.as_str() {
        TEXT => Some(LabelKind::Text),
        "number" => Some(LabelKind::Number(None)),
        other => {
            let hint = suggestion(other, &[TEXT, "number"]);
            document.mistake(kind.line, format!("'{other}' is no type of a label{hint}"));
            None
        }
    }
}

/// The unit that was declared of a label, unless it is one of something that no value of the label is, and all are in
/// another: then that is the mistake, and not the values.
fn fitting_unit(
    unit: Unit,
    named: &Located<String>,
    label: &str,
    drafts: &[Draft<'_>],
    document: &mut Document,
) -> Unit {
    let texts = || texts_of(label, drafts);
    let first = texts().next();
    let Some((first, other)) = first.and_then(|text| Some((text, Unit::written(text)?))) else {
        return unit;
    };
    if !texts().all(|text| unit.parse(text).is_err() && other.parse(text).is_ok()) {
        return unit;
    }
    let message = format!(
        "'{}' is a unit of {}, and the values of label '{label}', such as '{first}', are {}: write unit = \"{}\"",
        named.value,
        unit.dimension.described(),
        other.dimension.described(),
        other.name()
    );
    document.mistake(named.line, message);
    other
}

/// Whether a text is a plain number, of no more digits than numbers of 64 bits tell apart: a longer one is a name.
fn is_plain_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain = digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    let counting = digits.replace('.', "");
    let counting = counting.trim_start_matches('0').len();
    is_plain && counting <= f64::DIGITS as usize && digits.parse::<f64>().is_ok()
}

/// Whether every value of a label whose type is not said is a plain number.
fn all_numbers(name: &str, manifest: &Manifest, drafts: &[Draft<'_>]) -> bool {
    let mut texts = texts_of(name, drafts).chain(texts_of_rules(name, manifest));
    let mut any = false;
    texts.all(|text| {
        any = true;
        is_plain_number(text)
    }) && any
}

fn values(
    labels: &[Label],
    drafts: &[Draft<'_>],
    document: &mut Document,
) -> Vec<Vec<Option<LabelValue>>> {
    drafts
        .iter()
        .map(|draft| values_of(labels, &draft.texts, &draft.name, document))
        .collect()
}

fn values_of(
    labels: &[Label],
    texts: &Texts,
    run: &str,
    document: &mut Document,
) -> Vec<Option<LabelValue>> {
    let mut value_of = |label: &Label| {
        let (_, text) = texts.iter().find(|(name, _)| *name == label.name)?;
        match label.value(&text.value) {
            Ok(value) => Some(value),
            Err(message) => {
                // A template that is wrong for one file is wrong for many.
                document.mistake_of_run(text.line, &label.name, run, || {
                    format!("{run}: label '{}': {message}", label.name)
                });
                None
            }
        }
    };
    labels.iter().map(&mut value_of).collect()
}

/// A run that was measured elsewhere, with the labels of its flows.
pub(super) fn measured(
    run: MeasuredDraft,
    name: &str,
    labels: &[Label],
    document: &mut Document,
) -> MeasuredRun {
    let flows = run.flows.iter();
    MeasuredRun {
        flow_labels: flows
            .map(|texts| values_of(labels, texts, name, document))
            .collect(),
        outcome: run.outcome,
    }
}

/// What a section says about the flows of a run with these labels.
pub(super) fn flow_rule(
    section: &FlowSection,
    labels: &[Label],
    texts: &[(String, Located<String>)],
    document: &mut Document,
) -> Option<FlowRule> {
    let place = labels
        .iter()
        .position(|label| label.name == section.label.value)?;
    let keys = [
        ("server", FlowKey::Server),
        ("client", FlowKey::Client),
        ("sender", FlowKey::Sender),
        ("receiver", FlowKey::Receiver),
        ("either", FlowKey::Either),
        ("start", FlowKey::Start),
        ("transport", FlowKey::Transport),
    ];
    let Some((_, key)) = keys.into_iter().find(|(name, _)| *name == section.by.value) else {
        let names = keys.map(|(name, _)| name);
        let hint = suggestion(&section.by.value, &names);
        let message = format!("flows cannot be told apart by '{}'{hint}", section.by.value);
        document.mistake(section.by.line, message);
        return None;
    };
    let mut value = |text: &Located<String>| {
        let value = filled(&text.value, texts).and_then(|text| labels[place].value(&text));
        value
            .map_err(|message| document.mistake(text.line, message))
            .ok()
    };
    let mut cases = Vec::new();
    for (place, (case, text)) in (1..).zip(&section.values) {
        cases.push((place, case, value(text)?));
    }
    let other = match &section.other {
        Some(text) => Some(value(text)?),
        None => None,
    };
    let cases = cases
        .into_iter()
        .filter_map(
            |(place, case, value)| match flow_case(key, place, &case.value) {
                Ok(case) => Some((case, value)),
                Err(message) => {
                    document.mistake(case.line, message);
                    None
                }
            },
        )
        .collect();
    Some(FlowRule {
        label: place,
        key,
        cases,
        other,
    })
}

/// The flows that a key of `values` stands for, which is at `place` among them, from 1.
fn flow_case(key: FlowKey, place: usize, text: &str) -> Result<FlowCase, String> {
    if key == FlowKey::Start {
        return Ok(FlowCase::Start(place));
    }
    if key == FlowKey::Transport {
        let known = [Transport::Tcp, Transport::Udp].into_iter();
        let found = known.clone().find(|transport| transport.name() == text);
        return found
            .map(FlowCase::Transport)
            .ok_or_else(|| format!("'{text}' is no transport: write tcp or udp"));
    }
    let is_port = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let expression = match text.split_once('-') {
        _ if is_port(text) => format!("port {text}"),
        Some((first, last)) if is_port(first) && is_port(last) => format!("portrange {text}"),
        _ if text.contains('/') => format!("net {text}"),
        _ => format!("host {text}"),
    };
    let filter = Filter::parse(&expression).map_err(|error| {
        format!("'{text}' is no port, address or network such as 5001, 5001-5010, 10.0.0.1 or 10.0.0.0/24: {error}")
    })?;
    Ok(FlowCase::End(Box::new(filter)))
}

#[cfg(test)]
mod tests {
    use super::is_plain_number;

    #[test]
    fn a_plain_number_may_be_negative_and_has_no_more_digits_than_are_told_apart() {
        for text in [
            "5",
            "5.10",
            "-40",
            "-0",
            "007",
            ".5",
            "0.000123456789012345",
            "999999999999999",
        ] {
            assert!(is_plain_number(text), "{text}");
        }
        for text in [
            "",
            "-",
            ".",
            "--4",
            "4-",
            "1e5",
            "+4",
            "5.1.2",
            "20251127153000123",
            "-40dBm",
            "inf",
        ] {
            assert!(!is_plain_number(text), "{text}");
        }
    }
}
