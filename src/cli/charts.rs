//! How charts are drawn: the same options for every command that draws some.

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::report::chart::{Size, Style, Theme};

/// How charts are drawn.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct ChartArgs {
    /// Draw charts as SVG instead of PNG
    #[arg(long)]
    pub svg: bool,

    /// Size of the charts: one column of a paper, two of them, or a slide
    #[arg(long, value_name = "SIZE", default_value = "two-columns", value_parser = sizes())]
    pub chart_size: Size,

    /// What the charts are drawn on
    #[arg(long, value_name = "THEME", default_value = "light", value_parser = themes())]
    pub chart_theme: Theme,

    /// Draw no charts
    #[arg(long, conflicts_with = "svg")]
    pub no_charts: bool,
}

fn sizes() -> impl TypedValueParser<Value = Size> {
    PossibleValuesParser::new(Size::NAMES).try_map(|name| name.parse::<Size>())
}

fn themes() -> impl TypedValueParser<Value = Theme> {
    PossibleValuesParser::new(Theme::NAMES).try_map(|name| name.parse::<Theme>())
}

impl ChartArgs {
    pub(super) fn style(self) -> Style {
        Style {
            size: self.chart_size,
            theme: self.chart_theme,
        }
    }
}
