//! Groups, comparisons and tests as tables.

use polars::prelude::DataFrame;

use super::with_labels;
use crate::study::{Comparison, Composition, Group, LabelValue, StudyResults, Test};
use crate::table::filled::frame;
use crate::table::schema::{Column, column_list};

/// What a row of comparisons or tests is made of, with the name of its label.
pub(in crate::table) struct Named<'a, T> {
    label: &'a str,
    of: &'a T,
}

/// Name, title and content of each table.
pub(super) fn tables(results: &StudyResults) -> [(&'static str, &'static str, DataFrame); 3] {
    let groups: Vec<&Group> = results.groups.iter().collect();
    let comparisons: Vec<_> = results
        .comparisons
        .iter()
        .map(|of| Named {
            label: &results.labels[of.label].name,
            of,
        })
        .collect();
    let tests: Vec<_> = results
        .tests
        .iter()
        .map(|of| Named {
            label: &results.labels[of.label].name,
            of,
        })
        .collect();
    let places = &results.group_by;
    [
        (
            "groups",
            "statistics of each group and metric",
            with_labels(
                frame(&group_columns(), &groups),
                &groups,
                results,
                places,
                1,
                |group| &group.key,
            ),
        ),
        (
            "comparisons",
            "groups that differ in one label, compared in pairs",
            with_labels(
                frame(&comparison_columns(), &comparisons),
                &comparisons,
                results,
                places,
                4,
                |row| &row.of.within,
            ),
        ),
        (
            "tests",
            "tests whether a label matters",
            with_labels(
                frame(&test_columns(), &tests),
                &tests,
                results,
                places,
                4,
                |row| &row.of.within,
            ),
        ),
    ]
}

pub(in crate::table) fn group_columns<'a>() -> Vec<Column<&'a Group>> {
    column_list![
    "sample" "Y5" Text |group| Some(group.kind.name().to_owned());
    "composition" "Y9" Text |group| group.composition.as_ref().map(Composition::words);
    "metric" "-" Text |group| Some(group.metric.name().to_owned());
    "runs_failed" "Y5" Count |group| Some(group.runs_failed as u64);
    "n" "S1" Count |group| Some(group.statistics.n as u64);
    "mean" "S1" Real |group| Some(group.statistics.mean);
    "median" "S1" Real |group| Some(group.statistics.median);
    "std_dev" "S1" Real |group| group.statistics.std_dev;
    "q1" "S2" Real |group| Some(group.statistics.q1);
    "q3" "S2" Real |group| Some(group.statistics.q3);
    "ci95_low" "S3" Real |group| Some(group.statistics.ci95?.low);
    "ci95_high" "S3" Real |group| Some(group.statistics.ci95?.high);
    "min" "S1" Real |group| Some(group.statistics.min);
    "max" "S1" Real |group| Some(group.statistics.max);
    "baseline_mean" "S5" Real |group| group.baseline_mean;
    "change_percent" "S5" Real |group| group.change_percent;
    ]
}

fn text(value: Option<&LabelValue>) -> Option<String> {
    value.map(|value| value.text().to_owned())
}

fn scope(overall: bool) -> String {
    if overall { "overall" } else { "within" }.to_owned()
}

pub(in crate::table) fn comparison_columns<'a>() -> Vec<Column<Named<'a, Comparison>>> {
    column_list![
    "sample" "Y5" Text |row| Some(row.of.kind.name().to_owned());
    "metric" "-" Text |row| Some(row.of.metric.name().to_owned());
    "label" "Y5" Text |row| Some(row.label.to_owned());
    "scope" "Y5" Text |row| Some(scope(row.of.overall));
    "a" "S8" Text |row| text(row.of.a.as_ref());
    "b" "S8" Text |row| text(row.of.b.as_ref());
    "composition_a" "Y9" Text |row| row.of.composition_a.as_ref().map(Composition::words);
    "composition_b" "Y9" Text |row| row.of.composition_b.as_ref().map(Composition::words);
    "n_a" "S8" Count |row| Some(row.of.n_a as u64);
    "n_b" "S8" Count |row| Some(row.of.n_b as u64);
    "mean_a" "S1" Real |row| row.of.mean_a;
    "mean_b" "S1" Real |row| row.of.mean_b;
    "difference" "S8" Real |row| Some(row.of.welch.difference);
    "ci95_low" "S8" Real |row| Some(row.of.welch.ci95?.low);
    "ci95_high" "S8" Real |row| Some(row.of.welch.ci95?.high);
    "change_percent" "S5" Real |row| row.of.change_percent;
    "welch_t" "S8" Real |row| row.of.welch.statistic;
    "welch_df" "S8" Real |row| row.of.welch.df;
    "welch_p" "S8" Real |row| row.of.welch.p;
    "welch_p_holm" "S8" Real |row| row.of.welch.p_holm;
    "cohen_d" "S8" Real |row| row.of.welch.effect;
    "rank_u" "S8" Real |row| row.of.ranks?.statistic;
    "rank_p" "S8" Real |row| row.of.ranks?.p;
    "rank_p_holm" "S8" Real |row| row.of.ranks?.p_holm;
    "rank_effect" "S8" Real |row| row.of.ranks?.effect;
    ]
}

pub(in crate::table) fn test_columns<'a>() -> Vec<Column<Named<'a, Test>>> {
    column_list![
    "sample" "Y5" Text |row| Some(row.of.kind.name().to_owned());
    "metric" "-" Text |row| Some(row.of.metric.name().to_owned());
    "label" "Y5" Text |row| Some(row.label.to_owned());
    "scope" "Y5" Text |row| Some(scope(row.of.overall));
    "composition" "Y9" Text |row| row.of.composition_words();
    "levels" "Y5" Count |row| Some(row.of.levels as u64);
    "n" "Y5" Count |row| Some(row.of.n as u64);
    "ss_between" "S6" Real |row| Some(row.of.anova.as_ref()?.between.ss);
    "df_between" "S6" Count |row| Some(row.of.anova.as_ref()?.between.df);
    "ms_between" "S6" Real |row| Some(row.of.anova.as_ref()?.between.ms);
    "ss_within" "S6" Real |row| Some(row.of.anova.as_ref()?.within.ss);
    "df_within" "S6" Count |row| Some(row.of.anova.as_ref()?.within.df);
    "ms_within" "S6" Real |row| Some(row.of.anova.as_ref()?.within.ms);
    "anova_f" "S6" Real |row| row.of.anova.as_ref()?.f;
    "anova_p" "S6" Real |row| row.of.anova.as_ref()?.p;
    "f_crit" "S6" Real |row| Some(row.of.anova.as_ref()?.f_crit);
    "eta_squared" "S6" Real |row| row.of.anova.as_ref()?.eta_squared();
    "omega_squared" "S6" Real |row| row.of.anova.as_ref()?.omega_squared();
    "kruskal_h" "S7" Real |row| Some(row.of.kruskal_wallis?.h);
    "kruskal_df" "S7" Count |row| Some(row.of.kruskal_wallis?.df);
    "kruskal_p" "S7" Real |row| Some(row.of.kruskal_wallis?.p);
    "epsilon_squared" "S7" Real |row| Some(row.of.kruskal_wallis?.epsilon_squared);
    ]
}
