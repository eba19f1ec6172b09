//! What the columns are called, and their types: results as tables.
//!
//! Each table is a list of columns ([`schema`]), the one place where a column gets its name, its
//! unit, its type and its entry in METRICS.md.
//!
//! ```
//! use ccanalyze::Analysis;
//! use ccanalyze::analyze::Config;
//! use ccanalyze::table::RunTables;
//! use ccanalyze::table::polars::prelude::*;
//!
//! let config = Config::default();
//! let analysis = Analysis::of(["testdata/captures/two-flows-cubic-bbr.pcap.zst"], &config);
//! let flows: DataFrame = RunTables::of(&analysis, &config).flows().into_frame();
//! // Two downloads and their requests.
//! assert_eq!(flows.height(), 4);
//! let goodput_bps: Vec<Option<f64>> = flows.column("goodput_bps")?.f64()?.iter().collect();
//! let by_flow: Vec<Option<f64>> = analysis.captures[0].flows().map(|flow| flow.goodput_bps()).collect();
//! assert_eq!(goodput_bps, by_flow);
//! # Ok::<(), PolarsError>(())
//! ```
//!
//! [`report::tables`](crate::report::tables) writes them to files.

pub mod schema;

pub mod cells;

mod blocks;
mod captures;
mod filled;
mod flows;
mod packed;
mod pairs;
mod path;
mod pings;
mod segments;
mod series;
mod study;

pub use blocks::{Block, Blocks};
pub use filled::Filled;
pub use packed::{Numbers, Packed, PackedTable, Shared, Texts, Values};
pub use segments::SegmentTable;
#[cfg(feature = "cli")]
pub(crate) use series::pm_mean;
pub use study::{StudyTable, study_tables};

/// The library that makes data frames, in the version whose types are here. Who wants more of it than this crate does
/// (lazy frames, say) depends on it, too, in the same version and with these features.
pub use polars;

use polars::prelude::DataFrame;

use crate::analyze::{Analysis, Config};

use captures::CaptureFigures;

pub use path::{PacketTable, PathTables};

/// The tables of a run, but for that of its segments, which is a [`SegmentTable`].
#[derive(Debug)]
pub struct Tables {
    /// One row per flow.
    pub flows: DataFrame,
    /// One row per pair of flows.
    pub pairs: DataFrame,
    /// One row per pair of flows and bin.
    pub pair_series: DataFrame,
    /// One row per flow and bin.
    pub series: DataFrame,
    /// One row per capture.
    pub captures: DataFrame,
    /// One row per ICMP echo request; none where no capture has any.
    pub pings: DataFrame,
}

impl Tables {
    /// The tables of an analysis made with `config`: all in memory at once, which [`RunTables`] avoid.
    #[must_use]
    pub fn of(analysis: &Analysis, config: &Config) -> Self {
        let tables = RunTables::of(analysis, config);
        Self {
            flows: tables.flows().into_frame(),
            pairs: tables.pairs().into_frame(),
            pair_series: tables.pair_series().into_frame(),
            series: tables.series().into_frame(),
            captures: tables.captures().into_frame(),
            pings: tables.pings().into_frame(),
        }
    }
}

/// The tables of a run, made block by block: of a million flows, all at once are gigabytes.
#[derive(Debug)]
pub struct RunTables<'a> {
    analysis: &'a Analysis,
    config: &'a Config,
    /// By capture.
    figures: Vec<CaptureFigures<'a>>,
}

impl<'a> RunTables<'a> {
    /// The tables of an analysis made with `config`. Works out what rows of captures are made of: of very many flows on
    /// all threads of the pool that it is called in, if it is.
    #[must_use]
    pub fn of(analysis: &'a Analysis, config: &'a Config) -> Self {
        let captures = analysis.captures.iter();
        let figures = captures.map(CaptureFigures::of);
        Self {
            analysis,
            config,
            figures: figures.collect(),
        }
    }

    /// One row per flow.
    #[must_use]
    pub fn flows(&self) -> Blocks<'_> {
        flows::blocks(self.analysis, self.config, &self.figures)
    }

    /// One row per pair of flows.
    #[must_use]
    pub fn pairs(&self) -> Blocks<'_> {
        let rows = pairs::rows(self.analysis, self.config, &self.figures);
        blocks::of_rows(pairs::columns, rows)
    }

    /// One row per pair of flows and bin.
    #[must_use]
    pub fn pair_series(&self) -> Blocks<'_> {
        let rows = pairs::bin_rows(self.analysis, self.config, &self.figures);
        blocks::of_rows(pairs::bin_columns, rows)
    }

    /// One row per flow and bin.
    #[must_use]
    pub fn series(&self) -> Blocks<'_> {
        series::blocks(self.analysis, self.config)
    }

    /// One row per capture.
    #[must_use]
    pub fn captures(&self) -> Blocks<'_> {
        let rows = captures::rows(self.analysis, self.config, &self.figures);
        blocks::of_rows(captures::columns, rows)
    }

    /// One row per ICMP echo request; none where no capture has any.
    #[must_use]
    pub fn pings(&self) -> Blocks<'_> {
        blocks::of_rows(pings::columns, pings::rows(self.analysis))
    }
}

/// Every table with its columns, for the documentation's test.
#[must_use]
pub fn all_schemas() -> Vec<schema::TableSchema> {
    let mut schemas = vec![
        schema::describe("results", &flows::columns()),
        schema::describe("results.pairs", &pairs::columns()),
        schema::describe("results.pair_series", &pairs::bin_columns()),
        schema::describe("results.series", &series::columns()),
        schema::describe("results.captures", &captures::columns()),
        schema::describe("results.pings", &pings::columns()),
        schema::describe("segments", &segments::columns()),
        schema::describe("study/runs", &study::run_columns()),
        schema::describe("study/flows", &study::flow_columns()),
        schema::describe("study/groups", &study::group_columns()),
        schema::describe("study/comparisons", &study::comparison_columns()),
        schema::describe("study/tests", &study::test_columns()),
    ];
    schemas.extend(path::schemas());
    schemas
}
