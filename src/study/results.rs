//! A study carried out: its runs and flows with labels, and what they say together.

use std::collections::BTreeMap;
use std::path::Path;

use super::cache::{Cache, CacheKey};
use super::compare::{self, Comparison, Test};
use super::composition::Composition;
use super::conditions::Conditions;
use super::groups::{self, Group, GroupKey, SampleKind};
use super::harm;
use super::labels::{Label, LabelValue};
use super::measure::{FlowMeasure, MeasureOptions, RunMeasure, SeriesOf, SeriesPoint, Shortfall};
use super::metrics::{Metric, Values};
use super::plan::{Average, PlannedRun, StudyPlan};
use super::queue::{self, QueuePoints};
use super::reports::{ReportPlan, ReportTable};
use crate::analyze::{Analysis, CaptureAnalysis, CaptureInput, Config, FnessWindow, Watch};

/// What came out of a study: plain data, from which tables and charts are made.
#[derive(Clone, Debug)]
pub struct StudyResults {
    /// What it is called.
    pub name: String,
    /// The text of its manifest.
    pub manifest: String,
    /// Its labels.
    pub labels: Vec<Label>,
    /// Places of the labels whose values make the groups.
    pub group_by: Vec<usize>,
    /// Places of the labels that tell repetitions apart.
    pub repetition: Vec<usize>,
    /// What stands for several runs in its charts and its summary.
    pub average: Average,
    /// How long a bin of its captures lasts, in ns.
    pub bin_ns: i64,
    /// Its runs, by file name; those that failed too.
    pub runs: Vec<StudyRun>,
    /// Statistics of each group and metric.
    pub groups: Vec<Group>,
    /// Pairwise comparisons.
    pub comparisons: Vec<Comparison>,
    /// Labels of too many values to be compared two by two, by place, and how many these are.
    pub uncompared: BTreeMap<usize, usize>,
    /// Tests for an effect of each label.
    pub tests: Vec<Test>,
    /// Tables of the built-in reports.
    pub reports: Vec<ReportTable>,
    /// Runs that were not analysed again.
    pub cached: usize,
}

impl StudyResults {
    /// The labels that make the groups, each with the value that a group has of it.
    pub fn labels_of<'a>(
        &'a self,
        group: &'a Group,
    ) -> impl Iterator<Item = (&'a Label, Option<&'a LabelValue>)> {
        let labels = self.group_by.iter().map(|&place| &self.labels[place]);
        labels.zip(group.key.iter().map(Option::as_ref))
    }

    /// Whether labels do not tell the groups of this kind and metric: some have the same ones, and differ by the flows
    /// of their runs.
    #[must_use]
    pub fn tells_compositions_apart(&self, kind: SampleKind, metric: Metric) -> bool {
        let groups = self.groups.iter();
        let groups = groups.filter(|group| (group.kind, group.metric) == (kind, metric));
        let keys: Vec<&GroupKey> = groups.map(|group| &group.key).collect();
        keys.windows(2).any(|two| two[0] == two[1])
    }
}

/// One run with its labels and numbers.
#[derive(Clone, Debug)]
pub struct StudyRun {
    /// Its file, from the study's folder.
    pub name: String,
    /// The value of each label; where its flows have several, all of them joined.
    pub labels: Vec<Option<LabelValue>>,
    /// Under what conditions it took place.
    pub conditions: Conditions,
    /// First and last record, in ns since the epoch.
    pub span_ns: Option<(i64, i64)>,
    /// Records of the capture.
    pub records: Option<u64>,
    /// First instant that counts and the one after the last, where only a part does.
    pub window_ns: Option<(i64, i64)>,
    /// Its numbers; none where it failed.
    pub values: Values,
    /// Its flows, in the order of their first payload.
    pub flows: Vec<StudyFlow>,
    /// Flows that were too small to count.
    pub flows_left_out: Option<u64>,
    /// The run over time; empty where no report asks for it.
    pub series: Vec<SeriesPoint>,
    /// What of its captures is not in these numbers.
    pub shortfall: Shortfall,
    /// Why it failed and is left out of all statistics.
    pub error: Option<String>,
}

impl StudyRun {
    /// Whether it is a run of one flow; so is one measured elsewhere that does not say how many it had (METRICS.md
    /// Y9).
    #[must_use]
    pub fn is_one_flow(&self) -> bool {
        Composition::of_run(self, &[]).flows() == 1
    }
}

/// One flow with its labels and numbers.
#[derive(Clone, Debug)]
pub struct StudyFlow {
    /// The value of each label.
    pub labels: Vec<Option<LabelValue>>,
    /// Its place in the order of start, from 1.
    pub start: usize,
    /// Its numbers.
    pub measure: FlowMeasure,
}

/// Runs that are analysed at a time at most: each has its share of the memory.
const RUNS_AT_A_TIME: usize = 8;

/// What the numbers of a queue depend on: the state of both captures.
fn queue_state(points: &QueuePoints) -> [Option<CacheKey>; 2] {
    [&points.before, &points.after].map(|path| CacheKey::of(path, "").ok())
}

impl StudyPlan {
    /// Carries the study out: analyses what was not analysed before, several runs at a time, each
    /// dropped as soon as it is reduced to numbers.
    ///
    /// `cache` is the folder in which numbers of runs are kept; `None` keeps none.
    #[must_use]
    pub fn carry_out(&self, cache: Option<&Path>, watch: &Watch) -> StudyResults {
        let cache = cache.map(|folder| Cache::new(folder.to_path_buf()));
        // The share is the same for any number of runs and threads, so that runs need not be
        // analysed again when others are added.
        let config = Config {
            memory_bytes: self.config.memory_bytes / RUNS_AT_A_TIME as u64,
            captures_max: RUNS_AT_A_TIME,
            windows: self.windows(),
            ..self.config.clone()
        };
        let keys: Vec<Option<CacheKey>> = self
            .runs
            .iter()
            .map(|run| cache.as_ref().and_then(|_| self.key(run, &config)))
            .collect();
        let mut outcomes: Vec<Option<Result<RunMeasure, String>>> = keys
            .iter()
            .map(|key| cache.as_ref()?.get(key.as_ref()?).map(Ok))
            .collect();
        let cached = outcomes.iter().flatten().count();
        let missing: Vec<usize> = (0..self.runs.len())
            .filter(|&index| outcomes[index].is_none() && self.runs[index].measured.is_none())
            .collect();
        let inputs = missing
            .iter()
            .map(|&index| CaptureInput::file(&self.runs[index].path))
            .collect();
        let found = Analysis::each(inputs, &config, watch, |place, capture| {
            let outcome = self.measure(&self.runs[missing[place]], &config, capture);
            if let (Some(cache), Some(key), Ok(measure)) = (&cache, &keys[missing[place]], &outcome)
            {
                // Without it the run is analysed again next time, no more.
                let _ = cache.put(key, measure);
            }
            outcome
        });
        for (index, outcome) in missing.into_iter().zip(found) {
            outcomes[index] = Some(outcome);
        }
        let runs = self
            .runs
            .iter()
            .zip(outcomes)
            .map(|(run, outcome)| {
                let measured = run.measured.as_ref();
                let outcome = measured
                    .map(|measured| measured.outcome_under(&run.conditions))
                    .or(outcome)
                    .unwrap_or_else(|| Err("it was not analysed".to_owned()));
                self.labelled(run, outcome)
            })
            .collect();
        self.results(runs, cached)
    }

    /// The windows of all runs that lie otherwise than flows do, each once.
    fn windows(&self) -> Vec<FnessWindow> {
        let ahead = self.runs.iter().filter_map(|run| run.window.ahead());
        let mut windows: Vec<FnessWindow> = Vec::new();
        for window in ahead {
            if !windows.contains(&window) {
                windows.push(window);
            }
        }
        windows
    }

    /// Whether reports need every sample, and the series of what, in steps of what length.
    fn kept(&self) -> (bool, Option<(SeriesOf, i64)>) {
        let samples = self.reports.iter().any(ReportPlan::needs_samples);
        (samples, self.reports.iter().find_map(ReportPlan::steps))
    }

    /// What the numbers of a run depend on; none of one that was measured elsewhere.
    fn key(&self, run: &PlannedRun, config: &Config) -> Option<CacheKey> {
        if run.measured.is_some() {
            return None;
        }
        let (samples, steps) = self.kept();
        let options = format!(
            "{} {} {} {:?} {:?} {samples} {steps:?} {:?} {:?}",
            self.options,
            config.memory_bytes,
            config.repair,
            run.conditions,
            run.window,
            run.queue.as_ref().map(queue_state),
            run.captured
        );
        CacheKey::of(&run.path, &options).ok()
    }

    /// The numbers of a run, those of its queue among them.
    fn measure(
        &self,
        run: &PlannedRun,
        config: &Config,
        capture: CaptureAnalysis,
    ) -> Result<RunMeasure, String> {
        let (samples, steps) = self.kept();
        let options = MeasureOptions {
            config,
            conditions: &run.conditions,
            window: run.window,
            min_flow_bytes: self.min_flow_bytes,
            captured: run.captured,
            samples,
            steps,
        };
        let mut measure = RunMeasure::of(&capture, &options)?;
        // Its memory is what the queue may take.
        drop(capture);
        if let Some(points) = &run.queue {
            queue::add(&mut measure, points, config, &run.conditions)?;
        }
        Ok(measure)
    }

    /// A run with its labels and those of its flows.
    fn labelled(&self, run: &PlannedRun, outcome: Result<RunMeasure, String>) -> StudyRun {
        let (measure, error) = match outcome {
            Ok(measure) => (measure, None),
            Err(error) => (RunMeasure::of_values(Values::default()), Some(error)),
        };
        let flows = measure.flows.into_iter().enumerate();
        let flows: Vec<StudyFlow> = flows
            .map(|(index, measure)| StudyFlow {
                labels: self.labels_of_flow(run, index, &measure),
                start: index + 1,
                measure,
            })
            .collect();
        StudyRun {
            name: run.name.clone(),
            labels: self.labels_of_run(run, &flows),
            conditions: run.conditions.clone(),
            span_ns: measure.span_ns,
            records: measure.records,
            window_ns: measure.window_ns,
            values: measure.values,
            flows,
            flows_left_out: measure.flows_left_out,
            series: measure.series,
            shortfall: measure.shortfall,
            error,
        }
    }

    /// The labels of a run: where its flows have their own, these joined.
    fn labels_of_run(&self, run: &PlannedRun, flows: &[StudyFlow]) -> Vec<Option<LabelValue>> {
        let mut labels = run.labels.clone();
        let of_flows = self.labels.iter().enumerate();
        for (place, _) in of_flows.filter(|(_, label)| label.of_flows && !flows.is_empty()) {
            let values = flows.iter().map(|flow| flow.labels[place].clone());
            labels[place] = LabelValue::joined(&values.collect::<Vec<_>>());
        }
        labels
    }

    /// The labels of a flow, by its place from 0: its own, else what rules make of its ends or its
    /// place, else those of its run.
    fn labels_of_flow(
        &self,
        run: &PlannedRun,
        index: usize,
        measure: &FlowMeasure,
    ) -> Vec<Option<LabelValue>> {
        let own = run
            .measured
            .as_ref()
            .and_then(|run| run.flow_labels.get(index));
        let by_rule = |place: usize| {
            let mut rules = run.flow_rules.iter().filter(|rule| rule.label == place);
            rules.find_map(|rule| rule.value_of(measure.ends.as_ref(), index + 1))
        };
        (0..self.labels.len())
            .map(|place| {
                own.and_then(|labels| labels[place].clone())
                    .or_else(|| by_rule(place))
                    .or_else(|| run.labels[place].clone())
            })
            .collect()
    }

    /// What labelled runs say together.
    fn results(&self, mut runs: Vec<StudyRun>, cached: usize) -> StudyResults {
        harm::add(self, &mut runs);
        let samples = groups::Samplings::of(self, &runs);
        let (comparisons, uncompared) = compare::comparisons(self, &samples);
        let mut results = StudyResults {
            name: self.name.clone(),
            manifest: self.manifest.clone(),
            labels: self.labels.clone(),
            group_by: self.group_by.clone(),
            repetition: self.repetition.clone(),
            average: self.average,
            bin_ns: self.config.bin_ns.max(1),
            groups: groups::all(self, &runs, &samples),
            comparisons,
            uncompared,
            tests: compare::tests(self, &samples),
            runs,
            reports: Vec::new(),
            cached,
        };
        results.reports = self
            .reports
            .iter()
            .flat_map(|report| report.tables(&results, &samples))
            .collect();
        results
    }
}
