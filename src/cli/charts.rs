//! How charts are drawn: the same options for every command that draws some.

use crate::report::chart::{Size, Style, Theme};

/// How charts are drawn.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct ChartArgs {
    /// Draw charts as SVG instead of PNG
    #[arg(long)]
    pub svg: bool,

    /// Size of the charts: one-column (of a paper with two), two-columns or slide
    #[arg(long, value_name = "SIZE", default_value = "two-columns")]
    pub chart_size: Size,

    /// What the charts are drawn on: light or dark
    #[arg(long, value_name = "THEME", default_value = "light")]
    pub chart_theme: Theme,

    /// Draw no charts
    #[arg(long, conflicts_with = "svg")]
    pub no_charts: bool,
}

impl ChartArgs {
    pub(super) fn style(self) -> Style {
        Style {
            size: self.chart_size,
            theme: self.chart_theme,
        }
    }
}
