//! What a manifest tells a report, in its section.

use super::{
    Context, DELAYS, GridLabels, HeatMapReport, LOSSES, RATES, STEP_NS, SeriesReport, SplitPath,
    VARIANTS, rate_label, summary,
};
use crate::study::labels::{LabelKind, LabelValue};
use crate::study::manifest::{Document, Located, ReportSection, suggestion};
use crate::study::measure::{SeriesKind, SeriesOf};
use crate::study::metrics::Metric;
use crate::study::units::{Dimension, parse_time, time_in_words};

/// What a manifest tells a report.
pub(super) struct Options<'a> {
    pub(super) name: &'a Located<String>,
    pub(super) section: Option<&'a ReportSection>,
    pub(super) context: &'a Context<'a>,
    pub(super) document: &'a mut Document,
}

impl Options<'_> {
    pub(super) fn heat_map(&mut self) -> Option<HeatMapReport> {
        let metric = self.metric();
        let (rows, columns) = (self.axis("rows"), self.axis("columns"));
        if rows.is_some() && rows == columns {
            let message = "the rows and the columns of a heat map are two labels";
            self.document.mistake(self.name.line, message);
        }
        Some(HeatMapReport {
            metric: metric?,
            rows: rows?,
            columns: columns?,
        })
    }

    pub(super) fn series(&mut self) -> Option<SeriesReport> {
        let (of, step_ns) = (self.series_of(), self.step());
        let (rate, delay) = (self.rate(), self.delay());
        Some(SeriesReport {
            variant: self.variant()?,
            of: of?,
            step_ns: step_ns?,
            rate: rate?,
            delay: delay.ok()?,
        })
    }

    pub(super) fn grid(&mut self) -> Option<GridLabels> {
        Some(GridLabels {
            variant: self.variant()?,
            loss: self.measure("loss", &LOSSES, Dimension::Percent, "%")?,
            delay: self.measure("delay", &DELAYS, Dimension::Time, "ms")?,
            rate: match self.get("rate") {
                Some(_) => self.label("rate", &RATES),
                None => rate_label(self.context.labels),
            },
        })
    }

    /// The paths that a grid shows by themselves.
    pub(super) fn paths(&mut self, labels: GridLabels) -> Option<Vec<SplitPath>> {
        let mut paths: Vec<SplitPath> = Vec::new();
        let given = self.all("paths").to_vec();
        for text in &given {
            match SplitPath::parse(&text.value, labels, self.context) {
                Ok(path) if paths.contains(&path) => {
                    let message = format!("path '{}' is named twice", text.value);
                    self.document.mistake(text.line, message);
                }
                Ok(path) => paths.push(path),
                Err(message) => self.document.mistake_of_labels(text.line, message),
            }
        }
        (paths.len() == given.len()).then_some(paths)
    }

    /// Only these may be given, each with one value.
    pub(super) fn only(&mut self, keys: &[&str]) {
        self.only_with_lists(keys, &[]);
    }

    /// The same, but that `lists` may have several.
    pub(super) fn only_with_lists(&mut self, keys: &[&str], lists: &[&str]) {
        for (key, values) in self.section.iter().flat_map(|section| &section.options) {
            if !keys.contains(&key.value.as_str()) {
                let message = format!(
                    "unknown key '{}' in [reports.{}]{}",
                    key.value,
                    self.name.value,
                    suggestion(&key.value, keys)
                );
                self.document.mistake(key.line, message);
            } else if let Some(second) = values.get(1)
                && !lists.contains(&key.value.as_str())
            {
                let message = format!(
                    "'{}' in [reports.{}] is one value and no list",
                    key.value, self.name.value
                );
                self.document.mistake(second.line, message);
            }
        }
    }

    fn get(&self, key: &str) -> Option<&Located<String>> {
        self.all(key).first()
    }

    /// All values of a key.
    fn all(&self, key: &str) -> &[Located<String>] {
        let options = self.section.iter().flat_map(|section| &section.options);
        let mut named = options.filter(|(name, _)| name.value == key);
        named.next().map_or(&[], |(_, values)| values)
    }

    /// The label of a role: the one that is given, else one with a usual name.
    fn label(&mut self, role: &str, usual: &[&str]) -> Option<usize> {
        let labels = self.context.labels;
        let given = self.get(role).cloned();
        let names: Vec<&str> = labels.iter().map(|label| label.name.as_str()).collect();
        let Some(given) = given else {
            return usual
                .iter()
                .find_map(|usual| names.iter().position(|name| name == usual));
        };
        let place = names.iter().position(|name| *name == given.value);
        if place.is_none() {
            let hint = suggestion(&given.value, &names);
            let message = format!("there is no label '{}'{hint}", given.value);
            self.document.mistake_of_labels(given.line, message);
        }
        place
    }

    /// The label that tells TCP variants apart.
    pub(super) fn variant(&mut self) -> Option<usize> {
        let place = self.label("variant", &VARIANTS);
        if place.is_none() && self.get("variant").is_none() {
            self.lacks("variant", "which label tells the TCP variants apart");
        }
        place
    }

    /// A label of numbers with a unit.
    fn measure(
        &mut self,
        role: &str,
        usual: &[&str],
        dimension: Dimension,
        example: &str,
    ) -> Option<usize> {
        let place = self.label(role, usual);
        let Some(place) = place else {
            if self.get(role).is_none() {
                self.lacks(role, &format!("which label is the {role}"));
            }
            return None;
        };
        let label = &self.context.labels[place];
        let fits =
            matches!(label.kind, LabelKind::Number(Some(unit)) if unit.dimension == dimension);
        if !fits {
            let message = format!(
                "report '{}' needs label '{1}' with a unit of {2}: write [labels.{1}] with unit = \"{example}\"",
                self.name.value,
                label.name,
                dimension.described()
            );
            self.document.mistake(self.name.line, message);
        }
        fits.then_some(place)
    }

    /// Notes that an option is missing.
    fn lacks(&mut self, key: &str, what: &str) {
        let names: Vec<&str> = self
            .context
            .labels
            .iter()
            .map(|label| label.name.as_str())
            .collect();
        let message = format!(
            "report '{0}' must know {what}: write {key} = \"...\" in [reports.{0}]; labels are {1}",
            self.name.value,
            names.join(", ")
        );
        self.document.mistake_of_labels(self.name.line, message);
    }

    /// The metric of the cells of a heat map; goodput where none is given.
    fn metric(&mut self) -> Option<Metric> {
        let Some(given) = self.get("metric").cloned() else {
            return Some(Metric::GoodputBps);
        };
        let known: Vec<&str> = self
            .context
            .metrics
            .iter()
            .map(|metric| metric.name())
            .collect();
        let metric =
            Metric::named(&given.value).filter(|metric| self.context.metrics.contains(metric));
        if metric.is_none() {
            let hint = suggestion(&given.value, &known);
            let message = format!("the study has no metric '{}'{hint}", given.value);
            self.document.mistake(given.line, message);
        }
        metric
    }

    /// A label of groups whose values are the lines or the columns of a heat map.
    fn axis(&mut self, key: &str) -> Option<usize> {
        let given = self.get(key).cloned();
        let Some(given) = given else {
            self.lacks(key, &format!("which label makes its {key}"));
            return None;
        };
        let place = self.label(key, &[])?;
        if !self.context.group_by.contains(&place) {
            let message = format!(
                "label '{}' is not in group_by, whose labels alone make groups: add it there",
                given.value
            );
            self.document.mistake(given.line, message);
            return None;
        }
        Some(place)
    }

    /// The step of a series: a whole number of bins.
    fn step(&mut self) -> Option<i64> {
        let bin_ns = self.context.bin_ns;
        let given = self.get("step").cloned();
        let step_ns = given
            .as_ref()
            .map_or(Ok(STEP_NS), |text| parse_time(&text.value));
        let step_ns = step_ns.and_then(|step_ns| {
            if step_ns > 0 && step_ns % bin_ns == 0 {
                return Ok(step_ns);
            }
            Err(format!(
                "a step of {} is no whole number of bins of {}: write another step in [reports.series], or another bin in [analysis]",
                time_in_words(step_ns),
                time_in_words(bin_ns)
            ))
        });
        let line = given.map_or(self.name.line, |text| text.line);
        step_ns
            .map_err(|message| self.document.mistake(line, message))
            .ok()
    }

    /// What a series follows over time: runs where the manifest does not say it.
    fn series_of(&mut self) -> Option<SeriesOf> {
        let all = [SeriesOf::Runs, SeriesOf::Flows];
        let of = self.one_of("of", &all.map(|of| (of.name(), of))).ok()?;
        Some(of.unwrap_or_default())
    }

    /// What a series shows: goodput, or throughput.
    fn rate(&mut self) -> Option<SeriesKind> {
        let kinds = [SeriesKind::Goodput, SeriesKind::Throughput];
        let rate = self.kind("rate", kinds).ok()?;
        Some(rate.unwrap_or(kinds[0]))
    }

    /// What it shows beside that: pings or round-trip times, where the manifest says which.
    fn delay(&mut self) -> Result<Option<SeriesKind>, ()> {
        self.kind("delay", [SeriesKind::Ping, SeriesKind::Rtt])
    }

    /// One of two kinds, where one is given; an error where it is neither, which was said.
    fn kind(&mut self, key: &str, kinds: [SeriesKind; 2]) -> Result<Option<SeriesKind>, ()> {
        self.one_of(key, &kinds.map(|kind| (kind.name(), kind)))
    }

    /// One of several values by its name, where one is given; an error where it is none of them, which was said.
    fn one_of<T: Copy>(&mut self, key: &str, all: &[(&str, T)]) -> Result<Option<T>, ()> {
        let Some(given) = self.get(key).cloned() else {
            return Ok(None);
        };
        let found = all.iter().find(|(name, _)| *name == given.value);
        if found.is_none() {
            let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
            let hint = suggestion(&given.value, &names);
            let message = format!("'{key}' cannot be '{}'{hint}", given.value);
            self.document.mistake(given.line, message);
        }
        found.map(|&(_, value)| Some(value)).ok_or(())
    }

    /// The label whose values have columns of their own, where one is given; an error where it is none of groups, which
    /// was said.
    pub(super) fn columns(&mut self) -> Result<Option<usize>, ()> {
        if self.get("columns").is_none() {
            return Ok(None);
        }
        self.axis("columns").map(Some).ok_or(())
    }

    /// What a summary tells of delays.
    pub(super) fn delay_metric(&mut self) -> Option<Metric> {
        let all = summary::DELAYS.map(|metric| (metric.name(), metric));
        let metric = self.one_of("delay", &all).ok()?;
        Some(metric.unwrap_or(summary::DELAYS[0]))
    }

    /// The variants that the pairs are seen from: none where the manifest names none.
    pub(super) fn references(&mut self, variant: usize) -> Option<Vec<LabelValue>> {
        let mut references: Vec<LabelValue> = Vec::new();
        for given in self.all("reference").to_vec() {
            match (self.context.value)(variant, &given.value) {
                Ok(value) if references.contains(&value) => {
                    let message = format!("reference '{}' is named twice", given.value);
                    self.document.mistake(given.line, message);
                }
                Ok(value) => references.push(value),
                Err(message) => {
                    self.document.mistake_of_labels(given.line, message);
                    return None;
                }
            }
        }
        Some(references)
    }

    /// The variant that others are compared with.
    pub(super) fn reference(&mut self, variant: usize) -> Option<LabelValue> {
        let Some(given) = self.get("reference").cloned() else {
            let message = format!(
                "report '{0}' compares one variant with all others: write reference = \"...\" in [reports.{0}]",
                self.name.value
            );
            self.document.mistake(self.name.line, message);
            return None;
        };
        (self.context.value)(variant, &given.value)
            .map_err(|message| self.document.mistake_of_labels(given.line, message))
            .ok()
    }
}
