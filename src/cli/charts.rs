//! How charts are drawn: the same options for every command that draws some.

use super::values::{Naming, one_of, parse_name};
use crate::analyze::FlowNames;
use crate::report::chart::{Size, Style, Theme};
use crate::report::terminal;

/// What pages of HTML have, too.
const THEME: &str = "--chart-theme";

/// How charts are drawn.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct ChartArgs {
    /// Draw charts as SVG instead of PNG
    #[arg(long)]
    pub svg: bool,

    /// Size of the charts: one column of a paper, two of them, or a slide
    #[arg(long, value_name = "SIZE", default_value = Size::default().name(), value_parser = one_of(Size::ALL, Size::name))]
    pub chart_size: Size,

    /// What the charts are drawn on
    #[arg(long, value_name = "THEME", default_value = Theme::default().name(), value_parser = one_of(Theme::ALL, Theme::name))]
    pub chart_theme: Theme,

    /// Draw no charts
    #[arg(long)]
    pub no_charts: bool,
}

impl ChartArgs {
    /// Options that differ from what they are by default.
    pub(super) fn given(self) -> impl Iterator<Item = &'static str> {
        let options = [
            ("--svg", self.svg),
            ("--chart-size", self.chart_size != Size::default()),
            (THEME, self.chart_theme != Theme::default()),
        ];
        let given = options.into_iter().filter(|&(_, is_given)| is_given);
        given.map(|(option, _)| option)
    }

    /// Says which options do nothing since no charts are drawn; a page has the theme all the same. `others` are such
    /// ones, too.
    pub(super) fn warn_without_effect(self, has_page: bool, quiet: bool) {
        if quiet || !self.no_charts {
            return;
        }
        for option in self
            .given()
            .filter(|&option| !(has_page && option == THEME))
        {
            terminal::say(&format!(
                "warning: {option}: has no effect with --no-charts"
            ));
        }
    }

    /// Says which options do nothing since neither a folder of charts nor a page is written; `others` are such ones, too.
    pub(super) fn warn_without_place(
        self,
        others: impl IntoIterator<Item = &'static str>,
        quiet: bool,
    ) {
        for option in self.given().chain(others).filter(|_| !quiet) {
            terminal::say(&format!(
                "warning: {option}: has no effect without --out or --report, which it is about"
            ));
        }
    }

    pub(super) fn style(self) -> Style {
        Style {
            size: self.chart_size,
            theme: self.chart_theme,
        }
    }
}

/// What flows are called.
#[derive(Clone, Debug, clap::Args)]
pub struct NameArgs {
    /// Call flows NAME that match EXPRESSION, which is a port or as that of --filter: `5001=cubic`, `src
    /// host 10.0.0.2=upload`; of several that match the first counts
    #[arg(long = "name", value_name = "EXPRESSION=NAME", value_parser = parse_name)]
    pub names: Vec<Naming>,
}

impl NameArgs {
    /// Adds the names to what files say of how they were made; where there are none, files say what they always did.
    pub(super) fn tell(&self, options: &mut serde_json::Value) {
        if !self.names.is_empty() {
            let names = self.names.iter();
            let names = names.map(|naming| format!("{}={}", naming.expression, naming.name));
            options["names"] = names.collect();
        }
    }

    pub(super) fn flow_names(&self) -> FlowNames {
        let mut names = FlowNames::default();
        for naming in &self.names {
            names.add(naming.filter.clone(), &naming.name);
        }
        names
    }
}

/// Says which names no flow has.
pub(super) fn warn_of_unused(names: &[&str]) {
    for name in names {
        terminal::say(&format!("warning: --name: no flow is called '{name}'"));
    }
}
