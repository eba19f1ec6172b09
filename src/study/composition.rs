//! How many flows of what share the link in a run.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::labels::{LabelValue, UNLABELLED};
use super::metrics::Metric;
use super::results::StudyRun;
use super::words::Thousands;

/// Kinds of flows of a run that are named one by one: each row of its groups names them.
pub const KINDS_MAX: usize = 16;

/// The flows of a run, by what tells them apart (METRICS.md Y9).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Composition {
    /// So many of one kind.
    Same(usize),
    /// Several kinds: how many of each. Shared, as each group and each comparison of the run has them.
    Mixed(Kinds),
}

/// So many flows of each kind. Two of one run are known to be equal without a look at each kind.
#[derive(Clone, Debug, Eq)]
pub struct Kinds(Arc<[(usize, String)]>);

impl PartialEq for Kinds {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl PartialOrd for Kinds {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Kinds {
    fn cmp(&self, other: &Self) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) {
            Ordering::Equal
        } else {
            self.0.cmp(&other.0)
        }
    }
}

/// Values of labels that tell flows apart; what has none is last, as in what runs are called.
pub(super) type Kind<'r> = Vec<(bool, Option<&'r LabelValue>)>;

/// The values of some labels, as kinds of flows are ordered by.
pub(super) fn kind_of<'r>(labels: &'r [Option<LabelValue>], places: &[usize]) -> Kind<'r> {
    let values = places.iter().map(|&place| labels[place].as_ref());
    values.map(|value| (value.is_none(), value)).collect()
}

impl Composition {
    /// From pairs of a count and a kind.
    #[must_use]
    pub fn of(parts: Vec<(usize, String)>) -> Self {
        match parts[..] {
            [] => Self::Same(0),
            [(flows, _)] => Self::Same(flows),
            _ => Self::Mixed(Kinds(parts.into())),
        }
    }

    /// Of the flows of a run, by their values of these labels; a run without flows had one, unless it says otherwise.
    pub(crate) fn of_run(run: &StudyRun, places: &[usize]) -> Self {
        if run.flows.is_empty() {
            let known = run.values.get(Metric::Flows);
            return Self::Same(known.map_or(1, |flows| flows as usize));
        }
        let differ = |&&place: &&usize| {
            let first = &run.flows[0].labels[place];
            run.flows.iter().any(|flow| flow.labels[place] != *first)
        };
        let telling: Vec<usize> = places.iter().filter(differ).copied().collect();
        let mut parts: BTreeMap<Kind<'_>, usize> = BTreeMap::new();
        for flow in &run.flows {
            let kind = kind_of(&flow.labels, &telling);
            *parts.entry(kind).or_default() += 1;
        }
        let named = parts.into_iter().map(|(values, flows)| {
            let texts = values.into_iter();
            let texts = texts.map(|(_, value)| value.map_or(UNLABELLED, LabelValue::text));
            (flows, texts.collect::<Vec<_>>().join(" "))
        });
        Self::of(named.collect())
    }

    /// All its flows.
    #[must_use]
    pub fn flows(&self) -> usize {
        match self {
            Self::Same(flows) => *flows,
            Self::Mixed(parts) => parts.0.iter().map(|(flows, _)| flows).sum(),
        }
    }

    /// Whether there are several flows of a kind.
    #[must_use]
    pub fn has_several_of_a_kind(&self) -> bool {
        match self {
            Self::Same(flows) => *flows > 1,
            Self::Mixed(parts) => parts.0.iter().any(|(flows, _)| *flows > 1),
        }
    }

    /// How many kinds of flows there are.
    #[must_use]
    pub fn kinds(&self) -> usize {
        match self {
            Self::Same(_) => 1,
            Self::Mixed(parts) => parts.0.len(),
        }
    }

    /// In words: `1 flow`, `3 bbr + 3 cubic`; of more than [`KINDS_MAX`] kinds how many, `1,200 flows of 60 kinds`.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Same(1) => "1 flow".to_owned(),
            Self::Same(flows) => format!("{flows} flows"),
            Self::Mixed(parts) if parts.0.len() > KINDS_MAX => {
                let [flows, kinds] = [self.flows(), parts.0.len()]
                    .map(|number| Thousands::Comma.grouped(number as u64));
                format!("{flows} flows of {kinds} kinds")
            }
            Self::Mixed(parts) => {
                let parts = parts
                    .0
                    .iter()
                    .map(|(flows, name)| format!("{flows} {name}"));
                parts.collect::<Vec<_>>().join(" + ")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::groups::SampleKind;
    use super::super::plan::StudyPlan;
    use super::super::reports::Cells;
    use super::super::results::StudyResults;
    use super::*;
    use crate::analyze::Watch;

    /// Two runs each of a flow alone, of both against each other, and of two of Cubic.
    const FLOWS: &str = "rep,cca,set,goodput_bps
1,cubic,1,100\n2,cubic,1,110\n3,bbr,1,90\n4,bbr,1,94
5,cubic,2,20\n5,bbr,2,80\n6,cubic,2,24\n6,bbr,2,76
7,cubic,2,50\n7,cubic,2,50\n8,cubic,2,46\n8,cubic,2,54\n";

    fn study(section: &str) -> StudyResults {
        study_of(FLOWS, section)
    }

    fn study_of(flows: &str, section: &str) -> StudyResults {
        let baseline = if section.contains("\"cca\"") && flows.contains("cubic") {
            "baseline = { cca = \"cubic\" }"
        } else {
            ""
        };
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("flows.csv"), flows).unwrap();
        let manifest = format!(
            "[study]\n{baseline}\nmetrics = [\"goodput_bps\", \"acked_bytes\"]\n{section}\n[[measured]]\nfiles = \"flows.csv\"\nrows = \"flows\"\nrun = [\"rep\"]\ncolumns = {{ rep = \"rep\", cca = \"cca\", set = \"set\" }}\nlabels = {{ net = \"home\" }}\n[measured.metrics]\ngoodput_bps = \"goodput_bps\"\nacked_bytes = {{ column = \"goodput_bps\", unit = \"B\" }}\n"
        );
        std::fs::write(folder.path().join("study.toml"), manifest).unwrap();
        let plan = StudyPlan::read(&folder.path().join("study.toml")).unwrap();
        plan.carry_out(None, &Watch::default())
    }

    /// Label, composition, n, mean and mean of the baseline of the groups of flows.
    fn groups(results: &StudyResults) -> Vec<(String, String, usize, f64, Option<f64>)> {
        let groups = results.groups.iter();
        groups
            .filter(|group| group.kind == SampleKind::Flow && group.metric == Metric::GoodputBps)
            .map(|group| {
                let words = group.composition.as_ref().map(Composition::words);
                (
                    group.key[0].as_ref().unwrap().text().to_owned(),
                    words.unwrap_or_default(),
                    group.statistics.n,
                    group.statistics.mean,
                    group.baseline_mean,
                )
            })
            .collect()
    }

    #[test]
    fn flows_alone_and_flows_that_compete_are_groups_of_their_own() {
        let results = study("group_by = [\"cca\"]");
        let row = |cca: &str, flows: &str, mean, baseline| {
            (cca.to_owned(), flows.to_owned(), 2, mean, baseline)
        };
        assert_eq!(
            groups(&results),
            [
                row("bbr", "1 flow", 92.0, Some(105.0)),
                row("bbr", "1 bbr + 1 cubic", 78.0, Some(22.0)),
                row("cubic", "1 flow", 105.0, None),
                row("cubic", "2 flows", 50.0, None),
                row("cubic", "1 bbr + 1 cubic", 22.0, None),
            ]
        );
        // What is compared is alike but for the label: alone with alone, mixed with mixed.
        let flows = results.comparisons.iter();
        let flows =
            flows.filter(|of| of.kind == SampleKind::Flow && of.metric == Metric::GoodputBps);
        let compared: Vec<_> = flows
            .map(|of| (of.composition_a.clone().unwrap().words(), of.mean_a))
            .collect();
        let expected = [
            ("1 flow".to_owned(), Some(92.0)),
            ("1 bbr + 1 cubic".to_owned(), Some(78.0)),
        ];
        assert_eq!(compared, expected);
        let tested = results.tests.iter();
        let tested = tested.filter(|test| test.metric == Metric::GoodputBps);
        let tested = tested.map(|test| (test.kind, test.n));
        let flows: Vec<_> = tested
            .filter(|(kind, _)| *kind == SampleKind::Flow)
            .collect();
        assert_eq!(flows, [(SampleKind::Flow, 4); 2]);
    }

    #[test]
    fn a_label_that_tells_compositions_is_compared_over_them() {
        // `set` is how many flows there are.
        let mut results = study("group_by = [\"set\"]").comparisons;
        results.retain(|of| of.kind == SampleKind::Flow && of.metric == Metric::GoodputBps);
        assert_eq!(results.len(), 1);
        let words = [&results[0].composition_a, &results[0].composition_b];
        let words = words.map(|of| of.as_ref().unwrap().words());
        assert_eq!(words, ["1 flow", "2 flows"]);
        assert_eq!((results[0].n_a, results[0].n_b), (4, 4));
    }

    #[test]
    fn a_heat_map_has_lines_of_their_own_for_runs_of_different_flows() {
        let lines = |compositions: &str| {
            let section = format!(
                "group_by = [\"net\", \"cca\"]\nreport = \"heat-map\"\n{compositions}\n[reports.heat-map]\nmetric = \"acked_bytes\"\nrows = \"net\"\ncolumns = \"cca\"\n"
            );
            let mut results = study(&section);
            let columns = results.reports.remove(0).columns;
            let texts = |name: &str| {
                let column = columns.iter().find(|column| column.name == name)?;
                let Cells::Text(cells) = &column.cells else {
                    return None;
                };
                Some(cells.iter().flatten().cloned().collect::<Vec<_>>())
            };
            (texts("composition"), texts("net").unwrap().len())
        };
        let words = ["1 flow", "2 flows", "1 bbr + 1 cubic"].map(str::to_owned);
        assert_eq!(lines(""), (Some(words.to_vec()), 3));
        assert_eq!(lines("compositions = \"together\""), (None, 1));
    }

    #[test]
    fn tests_over_runs_of_as_many_flows_say_how_many() {
        // Runs of two flows: alike, and mixed. The label tells which, as runs of both are called `bbr+cubic`.
        let flows = FLOWS.replace(",76", ",80").replace(",54", ",58");
        let mut tests = study_of(&flows, "group_by = [\"cca\"]").tests;
        tests.retain(|of| of.kind == SampleKind::Run && of.metric == Metric::AckedBytes);
        let words: Vec<_> = tests
            .iter()
            .map(super::super::Test::composition_words)
            .collect();
        let expected = ["1 flow", "2 flows, mixed differently"];
        assert_eq!(words, expected.map(|words| Some(words.to_owned())));
        // Of runs of one flow and of two: they have nothing in common.
        let mut tests = study("group_by = [\"set\"]").tests;
        tests.retain(|of| of.kind == SampleKind::Flow && of.metric == Metric::GoodputBps);
        assert_eq!(tests.len(), 1);
        assert_eq!(tests[0].composition_words(), None);
    }

    #[test]
    fn flows_without_a_value_are_last() {
        let flows = "rep,cca,set,goodput_bps\n1,,1,10\n1,bbr,1,20\n";
        let results = study_of(flows, "group_by = [\"cca\"]");
        let mut words = results
            .groups
            .iter()
            .filter_map(|of| of.composition.as_ref());
        let words = words.next().map(Composition::words);
        assert_eq!(words.as_deref(), Some("1 bbr + 1 unlabelled"));
    }

    #[test]
    fn compositions_are_taken_together_where_that_is_said() {
        let results = study("group_by = [\"cca\"]\ncompositions = \"together\"");
        let n: Vec<_> = groups(&results)
            .into_iter()
            .map(|(cca, words, n, ..)| (cca, words, n))
            .collect();
        let group = |cca: &str, n| (cca.to_owned(), String::new(), n);
        assert_eq!(n, [group("bbr", 4), group("cubic", 6)]);
    }

    #[test]
    fn of_many_kinds_their_number_alone_is_told_and_groups_share_them() {
        let of = |kinds: usize| {
            let parts = (0..kinds).map(|kind| (100, format!("v{kind}")));
            Composition::of(parts.collect())
        };
        assert!(of(KINDS_MAX).words().ends_with(" + 100 v15"));
        let many = of(KINDS_MAX + 1);
        assert_eq!(many.words(), "1,700 flows of 17 kinds");
        let (Composition::Mixed(parts), Composition::Mixed(copied)) = (&many, &many.clone()) else {
            panic!("{many:?}");
        };
        assert!(Arc::ptr_eq(&parts.0, &copied.0));
        assert_eq!(many, of(KINDS_MAX + 1));
        assert_ne!(many, of(KINDS_MAX + 2));
    }
}
