//! Conditions of a run: what its section says, with its labels filled in.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::{Draft, filled, missing};
use crate::analyze::LinkSide;
use crate::capture::display_name;
use crate::study::conditions::{
    Buffer, CapacityTrace, Conditions, PathCapacity, TraceColumns, TraceOrigin,
};
use crate::study::import::MeasuredTable;
use crate::study::labels::{Label, LabelKind};
use crate::study::manifest::{
    ConditionText, ConditionsSection, Document, Located, TraceSection, suggestion,
};
use crate::study::queue::QueuePoints;
use crate::study::units::{Dimension, Unit, parse_rate, parse_time};

/// Capacity traces that were read, by their file and what of it is meant.
pub(super) type Traces = HashMap<(PathBuf, String), Result<CapacityTrace, String>>;

/// Understands what a section says about one of its runs.
pub(super) struct RunPlanner<'a> {
    pub(super) draft: &'a Draft<'a>,
    pub(super) labels: &'a [Label],
    pub(super) folder: &'a Path,
    /// Traces read before.
    pub(super) traces: &'a mut Traces,
    pub(super) document: &'a mut Document,
}

impl RunPlanner<'_> {
    /// The conditions of the run: what its section says, else what the study says.
    pub(super) fn conditions(
        &mut self,
        study: &ConditionsSection,
        own: &ConditionsSection,
    ) -> Conditions {
        let text = |pick: fn(&ConditionsSection) -> Option<&ConditionText>| {
            pick(own).or_else(|| pick(study))
        };
        let own_capacity = own.capacity.is_some() || own.trace.is_some();
        let capacity_of = if own_capacity { own } else { study };
        let capacity = match &capacity_of.trace {
            Some(trace) => self.trace(trace).map(PathCapacity::Trace),
            None => self
                .condition(capacity_of.capacity.as_ref(), parse_rate)
                .map(PathCapacity::Constant),
        };
        let base_rtt_ns = self.condition(text(|section| section.base_rtt.as_ref()), parse_base_rtt);
        let buffer = self.condition(text(|section| section.buffer.as_ref()), Buffer::parse);
        let qdisc = text(|section| section.qdisc.as_ref());
        let qdisc = self.condition(qdisc, |text| Ok(text.to_owned()));
        Conditions {
            capacity,
            base_rtt_ns,
            buffer,
            qdisc,
        }
    }

    /// The captures before and after the queue: those that its section names, the run itself in the
    /// place of the one that it does not.
    pub(super) fn queue(&mut self) -> Option<QueuePoints> {
        let draft = self.draft;
        if draft.before.is_none() && draft.after.is_none() {
            return None;
        }
        let before = self.point(draft.before);
        let after = self.point(draft.after);
        let (before, after) = (before?, after?);
        if before == after {
            let line = draft
                .before
                .or(draft.after)
                .map_or(draft.line, |text| text.line);
            self.document
                .mistake_of_run(line, "the same capture", &draft.name, || {
                    format!(
                        "{}: before and after the queue is the same capture, {}",
                        draft.name,
                        display_name(&before)
                    )
                });
            return None;
        }
        Some(QueuePoints { before, after })
    }

    /// On which side of the queue the run itself was captured, as its section says, or as it is one of the captures there.
    pub(super) fn captured(&mut self, queue: Option<&QueuePoints>) -> LinkSide {
        let draft = self.draft;
        let Some(text) = draft.captured else {
            return queue.map_or_else(LinkSide::default, |points| points.side(&draft.path));
        };
        if draft.before.is_some() || draft.after.is_some() {
            let said = "'captured' is not needed where 'before' or 'after' names the other side: leave it out";
            self.document.mistake(text.line, said);
        }
        let side = self.meant(Some(text), |side| match side {
            "before" => Ok(LinkSide::Before),
            "after" => Ok(LinkSide::Behind),
            other => {
                let hint = suggestion(other, &["before", "after"]);
                Err(format!(
                    "a capture is taken \"before\" the queue or \"after\" it, not '{other}'{hint}"
                ))
            }
        });
        side.unwrap_or_default()
    }

    /// A capture that a text names for the run; a mistake where it is not there.
    fn point(&mut self, text: Option<&Located<String>>) -> Option<PathBuf> {
        let Some(text) = text else {
            return Some(self.draft.path.clone());
        };
        let name = self.meant(Some(text), |text| Ok(text.to_owned()))?;
        let path = self.folder.join(name);
        if !path.is_file() {
            self.is_missing(text.line, &path);
            return None;
        }
        Some(path)
    }

    /// Notes that a file which the run needs is not there.
    fn is_missing(&mut self, line: usize, path: &Path) {
        let (run, folder) = (&self.draft.name, self.folder);
        self.document
            .mistake_of_run(line, "no such file", run, || missing(path, folder));
    }

    /// A condition understood by `parse`.
    fn condition<T>(
        &mut self,
        condition: Option<&ConditionText>,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let (by, cases) = match condition? {
            ConditionText::Same(text) => return self.said(text, parse),
            ConditionText::By(by, cases) => (by, cases),
        };
        let texts = &self.draft.texts;
        let Some((_, value)) = texts.iter().find(|(name, _)| *name == by.value) else {
            let names: Vec<&str> = texts.iter().map(|(name, _)| name.as_str()).collect();
            let hint = suggestion(&by.value, &names);
            let message = format!("there is no label '{}' here{hint}", by.value);
            self.document.mistake(by.line, message);
            return None;
        };
        let Some((_, text)) = cases.iter().find(|(case, _)| case.value == value.value) else {
            let known: Vec<&str> = cases.iter().map(|(case, _)| case.value.as_str()).collect();
            let message = format!(
                "{} = '{}' has no value here{}",
                by.value,
                value.value,
                suggestion(&value.value, &known)
            );
            self.document.mistake(by.line, message);
            return None;
        };
        self.said(text, parse)
    }

    /// What a condition says; a mistake where it takes the numbers of a label for something that its unit does not measure.
    fn said<T>(
        &mut self,
        text: &Located<String>,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        if let Some(message) = self.other_unit(&text.value) {
            self.document.mistake(text.line, message);
            return None;
        }
        self.meant(Some(text), parse)
    }

    /// What is wrong with a text that is a label and a unit which does not measure what that of the label does.
    fn other_unit(&self, text: &str) -> Option<String> {
        let (name, written) = text.strip_prefix('{')?.split_once('}')?;
        let label = self.labels.iter().find(|label| label.name == name)?;
        let (LabelKind::Number(Some(unit)), Some(here)) =
            (label.kind, Unit::written(&format!("1{written}")))
        else {
            return None;
        };
        (here.dimension != unit.dimension).then(|| {
            format!(
                "label '{name}' is {} by its unit '{}', and here its numbers are {}: write the same unit at both places",
                unit.dimension.described(),
                unit.name(),
                here.dimension.described()
            )
        })
    }

    /// A text with labels filled in, understood by `parse`; a mistake where it cannot be.
    fn meant<T>(
        &mut self,
        text: Option<&Located<String>>,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let text = text?;
        let full = match filled(&text.value, &self.draft.texts) {
            Ok(full) => full,
            Err(message) => {
                self.document.mistake(text.line, message);
                return None;
            }
        };
        let message = match parse(&full) {
            Ok(value) => return Some(value),
            Err(message) => message,
        };
        if full == text.value {
            self.document.mistake(text.line, message);
        } else if let Some(with_unit) = self.with_unit(&text.value, &full, parse) {
            // It is so of all values.
            let message = format!(
                "the values of '{0}' have no unit here: write \"{with_unit}\"",
                text.value
            );
            self.document.mistake(text.line, message);
        } else {
            let run = &self.draft.name;
            self.document.mistake_of_run(text.line, &message, run, || {
                format!("{message} (from '{}', for {run})", text.value)
            });
        }
        None
    }

    /// A text that is a label and nothing else, with the unit of that label behind it: where its value with the unit is
    /// understood.
    fn with_unit<T>(
        &self,
        text: &str,
        full: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Option<String> {
        let name = text.strip_prefix('{')?.strip_suffix('}')?;
        let label = self.labels.iter().find(|label| label.name == name)?;
        let LabelKind::Number(Some(unit)) = label.kind else {
            return None;
        };
        let unit = unit.name();
        parse(&format!("{full}{unit}")).ok()?;
        Some(format!("{text}{unit}"))
    }

    fn trace(&mut self, section: &TraceSection) -> Option<CapacityTrace> {
        let file = self.meant(Some(&section.file), |text| Ok(text.to_owned()))?;
        let columns = self.columns(section)?;
        let path = self.folder.join(&file);
        if !path.is_file() {
            self.is_missing(section.file.line, &path);
            return None;
        }
        let key = (path.clone(), format!("{columns:?}"));
        match (self.traces.entry(key)).or_insert_with(|| read_trace(&path, &columns)) {
            Ok(trace) => Some(trace.clone()),
            Err(message) => {
                let (line, run) = (section.file.line, &self.draft.name);
                self.document.mistake_of_run(line, &*message, run, || {
                    format!("{}: {message}", display_name(&path))
                });
                None
            }
        }
    }

    fn columns(&mut self, section: &TraceSection) -> Option<TraceColumns> {
        let mut factor = |text: Option<&Located<String>>, dimension: Dimension, usual: f64| {
            let Some(text) = text else {
                return Some(usual);
            };
            match Unit::named(&text.value) {
                Ok(unit) if unit.dimension == dimension => Some(unit.factor),
                Ok(_) => {
                    let message =
                        format!("'{}' is no unit of {}", text.value, dimension.described());
                    self.document.mistake(text.line, message);
                    None
                }
                Err(message) => {
                    self.document.mistake(text.line, message);
                    None
                }
            }
        };
        let time_unit_ns = factor(section.time_unit.as_ref(), Dimension::Time, 1e9);
        let rate_unit_bps = factor(section.rate_unit.as_ref(), Dimension::Rate, 1e6);
        let origin = match section
            .origin
            .as_ref()
            .map(|text| (text.value.as_str(), text.line))
        {
            None | Some(("first record", _)) => Some(TraceOrigin::FirstRecord),
            Some(("epoch", _)) => Some(TraceOrigin::Epoch),
            Some((other, line)) => {
                let message = format!(
                    "origin '{other}' is unknown: the times of a trace count from the \"first record\" of the capture, or from the \"epoch\" as the capture's"
                );
                self.document.mistake(line, message);
                None
            }
        };
        Some(TraceColumns {
            time: section.time.value.clone(),
            time_unit_ns: time_unit_ns?,
            rate: section.rate.value.clone(),
            rate_unit_bps: rate_unit_bps?,
            origin: origin?,
        })
    }
}

fn parse_base_rtt(text: &str) -> Result<i64, String> {
    match parse_time(text)? {
        0 => Err(format!(
            "'{text}' is no round-trip time: it must be above 0"
        )),
        ns => Ok(ns),
    }
}

fn read_trace(path: &Path, columns: &TraceColumns) -> Result<CapacityTrace, String> {
    let table = MeasuredTable::read(path).map_err(|error| error.in_its_file())?;
    CapacityTrace::of_table(&table, columns)
}
