//! Charts.
use super::ReportError;
use crate::Analysis;
use std::path::{Path, PathBuf};
/// How charts are drawn.
pub struct ChartOptions {
    /// SVG.
    pub svg: bool,
    /// Bin.
    pub bin_ns: i64,
    /// Capacity.
    pub capacity_bps: Option<f64>,
}
/// Draws.
/// # Errors
/// none
pub fn draw_all(_: &Analysis, _: &Path, _: &ChartOptions) -> Result<Vec<PathBuf>, ReportError> {
    Ok(Vec::new())
}
