//! What the columns are called, and their types: results as tables.
//!
//! Each table is a list of [`schema::Column`]s, the one place where a column gets its name, its
//! unit, its type and its entry in METRICS.md.

pub mod schema;

pub mod cells;

mod addresses;
mod captures;
mod flows;
mod packed;
mod pairs;
mod path;
mod pings;
mod segments;
mod series;
mod study;

pub use packed::{Numbers, Packed, Shared};
pub use segments::{SegmentGroup, SegmentTable, segment_blocks};
pub use study::{StudyTable, study_tables};

use polars::prelude::DataFrame;

use crate::analyze::{Analysis, Config};

pub use path::PathTables;

/// The tables of a run, but for that of its segments, which [`segment_blocks`] makes.
#[derive(Debug)]
pub struct Tables {
    /// One row a flow.
    pub flows: DataFrame,
    /// One row a pair of flows.
    pub pairs: DataFrame,
    /// One row a pair of flows and bin.
    pub pair_series: DataFrame,
    /// One row a flow and bin.
    pub series: DataFrame,
    /// One row a capture.
    pub captures: DataFrame,
    /// One row an ICMP echo request; none where no capture has any.
    pub pings: DataFrame,
}

impl Tables {
    /// The tables of an analysis made with `config`.
    #[must_use]
    pub fn of(analysis: &Analysis, config: &Config) -> Self {
        Self {
            flows: schema::frame(&flows::columns(), &flows::rows(analysis, config)),
            pairs: schema::frame(&pairs::columns(), &pairs::rows(analysis)),
            pair_series: schema::frame(&pairs::bin_columns(), &pairs::bin_rows(analysis, config)),
            series: schema::frame(&series::columns(), &series::rows(analysis, config)),
            captures: schema::frame(&captures::columns(), &captures::rows(analysis, config)),
            pings: schema::frame(&pings::columns(), &pings::rows(analysis)),
        }
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
