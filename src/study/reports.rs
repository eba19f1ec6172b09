//! The tables of published studies as built-in reports.

mod access_network;
mod builder;
mod heat_map;
mod mobility;
mod pairs;
mod series;
mod split_accuracy;
mod summary;
mod utilisation_grid;

use super::groups::Samplings;
use super::labels::{Label, LabelKind, LabelValue};
use super::manifest::{Document, Located, ReportSection, suggestion};
use super::measure::SeriesKind;
use super::metrics::Metric;
use super::results::StudyResults;
use super::units::{Dimension, parse_time, time_in_words};
use builder::Builder;
pub use heat_map::HeatMapReport;
pub use series::SeriesReport;
pub use utilisation_grid::GridLabels;

/// The built-in reports.
const NAMES: [&str; 8] = [
    "access-network",
    "heat-map",
    "mobility",
    "pairs",
    "series",
    "split-accuracy",
    "summary",
    "utilisation-grid",
];

/// Steps of a series where the manifest does not say it, in ns: those of flent.
const STEP_NS: i64 = 200_000_000;

/// Names that the label which tells TCP variants apart usually has.
pub(crate) const VARIANTS: [&str; 5] = ["cca", "variant", "tcp", "algorithm", "cc"];

/// A built-in report and what it needs to know.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ReportPlan {
    /// One TCP variant beside others, over access networks and buffers.
    AccessNetwork {
        /// Place of the label that tells variants apart.
        variant: usize,
        /// The variant that the others are compared with.
        reference: LabelValue,
    },
    /// A metric over two labels.
    HeatMap(HeatMapReport),
    /// Goodput, delay and the balanced metric while the capacity changes.
    Mobility {
        /// Place of the label that tells variants apart.
        variant: usize,
    },
    /// Two flows against each other, in both orders of start.
    Pairs {
        /// Place of the label that tells variants apart.
        variant: usize,
    },
    /// Runs in steps of time with pings beside.
    Series(SeriesReport),
    /// Predicted beside measured throughput.
    SplitAccuracy,
    /// Means with their confidence intervals, of the metrics that most papers are about.
    Summary {
        /// What it tells of delays.
        delay: Metric,
    },
    /// Utilisation over loss and delay, and what splitting connections would gain.
    UtilisationGrid(GridLabels),
}

/// Names that labels of a grid usually have: of the loss, of the one-way delay, of the rate.
pub(crate) const LOSSES: [&str; 2] = ["loss", "plr"];
const DELAYS: [&str; 3] = ["delay", "owd", "latency"];
const RATES: [&str; 3] = ["rate", "bandwidth", "capacity"];

/// The label of the link's rate: one with a usual name, or the only one with a unit of rates.
pub(crate) fn rate_label(labels: &[Label]) -> Option<usize> {
    let named = |usual: &&str| labels.iter().position(|label| label.name == *usual);
    let has_unit = |label: &Label| matches!(label.kind, LabelKind::Number(Some(unit)) if unit.dimension == Dimension::Rate);
    let only = || {
        let mut places = (0..labels.len()).filter(|&place| has_unit(&labels[place]));
        places.next().filter(|_| places.next().is_none())
    };
    RATES.iter().find_map(named).or_else(only)
}

/// What reports are understood with.
pub(super) struct Context<'a> {
    pub(super) labels: &'a [Label],
    pub(super) sections: &'a [ReportSection],
    /// Bins of captures, in ns.
    pub(super) bin_ns: i64,
    /// Metrics of the study's groups.
    pub(super) metrics: &'a [Metric],
    /// Labels that make the groups, by place.
    pub(super) group_by: &'a [usize],
    /// A value that some run has.
    pub(super) value: &'a dyn Fn(usize, &str) -> Result<LabelValue, String>,
}

impl ReportPlan {
    /// The report of this name; a mistake where there is none, or where it lacks something.
    pub(super) fn of(
        name: &Located<String>,
        context: &Context<'_>,
        document: &mut Document,
    ) -> Option<Self> {
        let section = context
            .sections
            .iter()
            .find(|section| section.name.value == name.value);
        let mut options = Options {
            name,
            section,
            context,
            document,
        };
        match name.value.as_str() {
            "access-network" => {
                options.only(&["variant", "reference"]);
                let variant = options.variant()?;
                let reference = options.reference(variant)?;
                Some(Self::AccessNetwork { variant, reference })
            }
            "heat-map" => {
                options.only(&["metric", "rows", "columns"]);
                options.heat_map().map(Self::HeatMap)
            }
            "mobility" => {
                options.only(&["variant"]);
                let variant = options.variant()?;
                Some(Self::Mobility { variant })
            }
            "pairs" => {
                options.only(&["variant"]);
                let variant = options.variant()?;
                Some(Self::Pairs { variant })
            }
            "series" => {
                options.only(&["variant", "step", "rate", "delay"]);
                options.series().map(Self::Series)
            }
            "split-accuracy" => {
                options.only(&[]);
                Some(Self::SplitAccuracy)
            }
            "summary" => {
                options.only(&["delay"]);
                let delay = options.delay_metric()?;
                Some(Self::Summary { delay })
            }
            "utilisation-grid" => {
                options.only(&["variant", "loss", "delay", "rate"]);
                options.grid().map(Self::UtilisationGrid)
            }
            other => {
                let message = format!("there is no report '{other}'{}", suggestion(other, &NAMES));
                options.document.mistake(name.line, message);
                None
            }
        }
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::AccessNetwork { .. } => "access-network",
            Self::HeatMap(_) => "heat-map",
            Self::Mobility { .. } => "mobility",
            Self::Pairs { .. } => "pairs",
            Self::Series(_) => "series",
            Self::SplitAccuracy => "split-accuracy",
            Self::Summary { .. } => "summary",
            Self::UtilisationGrid(_) => "utilisation-grid",
        }
    }

    /// What it takes, in words: it has no rows where there is nothing of it.
    #[must_use]
    pub const fn takes(&self) -> &'static str {
        match self {
            Self::AccessNetwork { .. } => {
                "runs of its reference, and of other variants where all other labels are the same"
            }
            Self::HeatMap(_) => "runs that have its metric and the labels of its rows and columns",
            Self::Mobility { .. } => "captures with flows over time",
            Self::Pairs { .. } => "runs of two flows",
            Self::Series(_) => "captures, or tables with a row for each point in time",
            Self::SplitAccuracy => "runs with goodput_bps and predicted_bps",
            Self::Summary { .. } => "runs that have one of its metrics",
            Self::UtilisationGrid(_) => "runs of one flow with a capacity, a loss and a delay",
        }
    }

    /// Whether it needs flows over time.
    #[must_use]
    pub const fn needs_samples(&self) -> bool {
        matches!(self, Self::Mobility { .. } | Self::Pairs { .. })
    }

    /// The step in which it needs runs over time, in ns.
    #[must_use]
    pub const fn step_ns(&self) -> Option<i64> {
        match self {
            Self::Series(report) => Some(report.step_ns),
            _ => None,
        }
    }

    /// Its tables.
    pub(super) fn tables(&self, results: &StudyResults, samples: &Samplings) -> Vec<ReportTable> {
        match self {
            Self::AccessNetwork { variant, reference } => {
                access_network::tables(results, *variant, reference)
            }
            Self::HeatMap(report) => heat_map::tables(results, *report),
            Self::Mobility { variant } => mobility::tables(results, *variant),
            Self::Pairs { variant } => pairs::tables(results, *variant),
            Self::Series(report) => series::tables(results, *report),
            Self::SplitAccuracy => split_accuracy::tables(results),
            Self::Summary { delay } => summary::tables(results, samples, *delay),
            Self::UtilisationGrid(labels) => utilisation_grid::tables(results, *labels),
        }
    }
}

/// What a manifest tells a report.
struct Options<'a> {
    name: &'a Located<String>,
    section: Option<&'a ReportSection>,
    context: &'a Context<'a>,
    document: &'a mut Document,
}

impl Options<'_> {
    fn heat_map(&mut self) -> Option<HeatMapReport> {
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

    fn series(&mut self) -> Option<SeriesReport> {
        let (step_ns, rate, delay) = (self.step(), self.rate(), self.delay());
        Some(SeriesReport {
            variant: self.variant()?,
            step_ns: step_ns?,
            rate: rate?,
            delay: delay.ok()?,
        })
    }

    fn grid(&mut self) -> Option<GridLabels> {
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

    /// Only these may be given.
    fn only(&mut self, keys: &[&str]) {
        for (key, _) in self.section.iter().flat_map(|section| &section.options) {
            if !keys.contains(&key.value.as_str()) {
                let message = format!(
                    "unknown key '{}' in [reports.{}]{}",
                    key.value,
                    self.name.value,
                    suggestion(&key.value, keys)
                );
                self.document.mistake(key.line, message);
            }
        }
    }

    fn get(&self, key: &str) -> Option<&Located<String>> {
        let (_, values) = self
            .section?
            .options
            .iter()
            .find(|(name, _)| name.value == key)?;
        values.first()
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
    fn variant(&mut self) -> Option<usize> {
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
            let message = format!("label '{}' is not in group_by", given.value);
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
        let Some(given) = self.get(key).cloned() else {
            return Ok(None);
        };
        let kind = SeriesKind::named(&given.value).filter(|kind| kinds.contains(kind));
        if kind.is_none() {
            let hint = suggestion(&given.value, &kinds.map(SeriesKind::name));
            let message = format!("'{key}' cannot be '{}'{hint}", given.value);
            self.document.mistake(given.line, message);
        }
        kind.map(Some).ok_or(())
    }

    /// What a summary tells of delays.
    fn delay_metric(&mut self) -> Option<Metric> {
        let Some(given) = self.get("delay").cloned() else {
            return Some(summary::DELAYS[0]);
        };
        let metric = Metric::named(&given.value).filter(|of| summary::DELAYS.contains(of));
        if metric.is_none() {
            let hint = suggestion(&given.value, &summary::DELAYS.map(Metric::name));
            let message = format!("'delay' cannot be '{}'{hint}", given.value);
            self.document.mistake(given.line, message);
        }
        metric
    }

    /// The variant that others are compared with.
    fn reference(&mut self, variant: usize) -> Option<LabelValue> {
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

/// A table of a report: plain data.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportTable {
    /// Its name, for files: letters, digits and `-`.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Its columns, all of the same length.
    pub columns: Vec<ReportColumn>,
}

impl ReportTable {
    /// Whether it has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns.iter().all(|column| match &column.cells {
            Cells::Text(cells) => cells.is_empty(),
            Cells::Real(cells) => cells.is_empty(),
            Cells::Count(cells) => cells.is_empty(),
        })
    }
}

/// A column of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportColumn {
    /// Its name, unit last.
    pub name: String,
    /// Its cells.
    pub cells: Cells,
    /// Ratios that are read in percent, which its name does not say.
    pub is_share: bool,
}

/// The cells of a column; `None` is empty.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Words.
    Text(Vec<Option<String>>),
    /// Numbers.
    Real(Vec<Option<f64>>),
    /// Counts.
    Count(Vec<Option<u64>>),
}

/// Values of labels.
fn key(labels: &[Option<LabelValue>], places: &[usize]) -> Vec<Option<LabelValue>> {
    places.iter().map(|&place| labels[place].clone()).collect()
}

/// Places of the labels that make groups and belong to whole runs, besides `variant`.
fn conditions(results: &StudyResults, variant: usize) -> Vec<usize> {
    results
        .group_by
        .iter()
        .copied()
        .filter(|&place| place != variant && !results.labels[place].of_flows)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::units::Unit;

    #[test]
    fn the_label_of_the_rate_has_its_name_or_is_the_only_one_with_such_a_unit() {
        let label = |name: &str, unit: &str| Label {
            name: name.to_owned(),
            kind: LabelKind::Number(Unit::named(unit).ok()),
            order: Vec::new(),
            names: Vec::new(),
            of_flows: false,
        };
        let (rtt, bw) = (label("rtt", "ms"), label("bw", "Mbit"));
        let (cross, rate) = (label("cross", "Mbit"), label("rate", "none"));
        assert_eq!(rate_label(&[rtt.clone(), bw.clone()]), Some(1));
        // Which of two it is nobody knows, unless one is called so.
        assert_eq!(rate_label(&[bw.clone(), cross.clone()]), None);
        assert_eq!(rate_label(&[bw, cross, rate]), Some(2));
        assert_eq!(rate_label(&[rtt]), None);
    }
}
