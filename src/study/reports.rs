//! The tables of published studies as built-in reports.

mod access_network;
mod builder;
mod heat_map;
mod mobility;
mod options;
mod pairs;
mod series;
mod split_accuracy;
mod split_paths;
mod summary;
mod utilisation_grid;

use super::groups::Samplings;
use super::labels::{Label, LabelKind, LabelValue};
use super::manifest::{Document, Located, ReportSection, suggestion};
use super::measure::SeriesOf;
use super::metrics::Metric;
use super::results::StudyResults;
use super::units::Dimension;
use builder::Builder;
pub use heat_map::HeatMapReport;
#[cfg(feature = "charts")]
pub(crate) use mobility::means_over_bins;
use options::Options;
#[cfg(feature = "charts")]
pub(crate) use pairs::seen_from;
#[cfg(feature = "charts")]
pub(crate) use series::SeriesLine;
pub use series::SeriesReport;
pub use split_paths::{PathSegment, SplitPath};
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
        /// The variants that pairs are seen from; none: of each pair the one that stands first.
        references: Vec<LabelValue>,
    },
    /// Runs in steps of time with pings beside.
    Series(SeriesReport),
    /// Predicted beside measured throughput.
    SplitAccuracy,
    /// Means with their confidence intervals, of the metrics that most papers are about.
    Summary {
        /// What it tells of delays.
        delay: Metric,
        /// Place of the label whose values have columns of their own; `None`: all make rows.
        columns: Option<usize>,
    },
    /// Utilisation over loss and delay, and what splitting connections would gain.
    UtilisationGrid {
        /// What makes the grid.
        labels: GridLabels,
        /// Paths of two of its places that are shown by themselves.
        paths: Vec<SplitPath>,
    },
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
                options.only_with_lists(&["variant", "reference"], &["reference"]);
                let variant = options.variant()?;
                let references = options.references(variant)?;
                Some(Self::Pairs {
                    variant,
                    references,
                })
            }
            "series" => {
                options.only(&["variant", "of", "step", "rate", "delay"]);
                options.series().map(Self::Series)
            }
            "split-accuracy" => {
                options.only(&[]);
                Some(Self::SplitAccuracy)
            }
            "summary" => {
                options.only(&["delay", "columns"]);
                let (delay, columns) = (options.delay_metric(), options.columns());
                Some(Self::Summary {
                    delay: delay?,
                    columns: columns.ok()?,
                })
            }
            "utilisation-grid" => {
                let keys = ["variant", "loss", "delay", "rate", "paths"];
                options.only_with_lists(&keys, &["paths"]);
                let labels = options.grid()?;
                let paths = options.paths(labels)?;
                Some(Self::UtilisationGrid { labels, paths })
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
            Self::UtilisationGrid { .. } => "utilisation-grid",
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
            Self::UtilisationGrid { .. } => "runs of one flow with a capacity, a loss and a delay",
        }
    }

    /// Whether it needs flows over time.
    #[must_use]
    pub const fn needs_samples(&self) -> bool {
        matches!(self, Self::Mobility { .. } | Self::Pairs { .. })
    }

    /// What it needs over time, and in steps of how many ns.
    #[must_use]
    pub const fn steps(&self) -> Option<(SeriesOf, i64)> {
        match self {
            Self::Series(report) => Some((report.of, report.step_ns)),
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
            Self::Pairs {
                variant,
                references,
            } => pairs::tables(results, *variant, references),
            Self::Series(report) => series::tables(results, *report),
            Self::SplitAccuracy => split_accuracy::tables(results),
            Self::Summary { delay, columns } => summary::tables(results, samples, *delay, *columns),
            Self::UtilisationGrid { labels, paths } => {
                utilisation_grid::tables(results, *labels, paths)
            }
        }
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
    /// What stands above it and its neighbours, where these have it in common: its name begins with that.
    pub above: Option<String>,
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
