//! What will be done: the manifest understood, with the files that are there, before any is read.

mod labelling;
mod settings;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::conditions::{
    Buffer, CapacityTrace, Conditions, PathCapacity, TraceColumns, TraceOrigin,
};
use super::files::{self, Found};
use super::labels::{FlowRule, Label, LabelValue};
use super::manifest::{
    ConditionText, ConditionsSection, Document, FlowSection, Located, Manifest, ManifestError,
    RunsSection, TraceSection, folder_of, suggestion,
};
use super::metrics::Metric;
use super::reports::ReportPlan;
use super::template::{self, Template};
use super::units::{Dimension, Unit, parse_rate, parse_time};
use super::window::Window;
use crate::analyze::Config;

/// Bytes of a capacity trace; a larger file is none.
const TRACE_BYTES_MAX: u64 = 64 << 20;

/// One run: a capture and what is known of it beforehand.
#[derive(Clone, Debug)]
pub struct PlannedRun {
    /// Its file as the manifest would write it: from the study's folder.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// The value of each label of the study; `None` where it has none.
    pub labels: Vec<Option<LabelValue>>,
    /// What gives its flows their labels.
    pub flow_rules: Vec<FlowRule>,
    /// Under what conditions it took place.
    pub conditions: Conditions,
    /// Which part of it counts.
    pub window: Window,
}

/// What one sample of a group of flows is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Samples {
    /// The mean over the flows of a run with the same labels: flows of one run are not independent.
    #[default]
    Runs,
    /// Each flow.
    Flows,
}

/// A study, ready to be carried out.
#[derive(Debug)]
pub struct StudyPlan {
    /// What it is called.
    pub name: String,
    /// The text of its manifest.
    pub manifest: String,
    /// Its labels.
    pub labels: Vec<Label>,
    /// Its runs, by file name.
    pub runs: Vec<PlannedRun>,
    /// How captures are analysed.
    pub config: Config,
    /// What of that bears on the results, as text: a run analysed with another is analysed again.
    pub options: String,
    /// Flows with less payload do not count, in bytes; `None`: those below 1 % of the largest.
    pub min_flow_bytes: Option<u64>,
    /// Labels whose values make the groups, by place.
    pub group_by: Vec<usize>,
    /// Labels that are tested for an effect, by place.
    pub tests: Vec<usize>,
    /// What changes are relative to.
    pub baseline: Vec<(usize, LabelValue)>,
    /// Labels that a solo run shares with the flows it is compared with, by place.
    pub same: Vec<usize>,
    /// Metrics of groups and tests.
    pub metrics: Vec<Metric>,
    /// What one sample of a group of flows is.
    pub samples: Samples,
    /// Built-in reports.
    pub reports: Vec<ReportPlan>,
}

impl StudyPlan {
    /// Reads a manifest and looks for its files.
    ///
    /// # Errors
    /// [`ManifestError`] with every mistake: what is wrong on which line, and what may be meant.
    pub fn read(path: &Path) -> Result<Self, ManifestError> {
        let (manifest, mut document) = Manifest::read(path)?;
        let plan = Self::of(&manifest, &folder_of(path), &mut document);
        document.verdict(plan)
    }

    /// Understands a manifest whose paths are relative to `beside`.
    pub(super) fn of(manifest: &Manifest, beside: &Path, document: &mut Document) -> Self {
        let folder = match &manifest.study.folder {
            Some(folder) => beside.join(&folder.value),
            None => beside.to_path_buf(),
        };
        let drafts = drafts(manifest, &folder, document);
        let (labels, values) = labelling::typed(manifest, &drafts, document);
        let settings = settings::Settings {
            manifest,
            labels: &labels,
            values: &values,
        };
        let mut traces = HashMap::new();
        let mut runs: Vec<PlannedRun> = Vec::new();
        for (draft, values) in drafts.iter().zip(&values) {
            let section = &manifest.runs[draft.section];
            let mut planner = RunPlanner {
                draft,
                folder: &folder,
                traces: &mut traces,
                document: &mut *document,
            };
            let conditions = planner.conditions(&manifest.conditions, &section.conditions);
            let rules = section.flows.iter().chain(&manifest.flows);
            let flow_rules = rules
                .filter_map(|rule| {
                    labelling::flow_rule(rule, &labels, &draft.texts, planner.document)
                })
                .collect();
            runs.push(PlannedRun {
                name: draft.found.name.clone(),
                path: draft.found.path.clone(),
                labels: values.clone(),
                flow_rules,
                conditions,
                window: settings.window(section, document),
            });
        }
        let config = settings.config(document);
        let min_flow_bytes = settings.min_flow_bytes(document);
        let options = settings.options(&config, min_flow_bytes);
        let (group_by, tests) = settings.grouping(document);
        let baseline = settings.baseline(document);
        let same = settings.same(&group_by, document);
        let metrics = settings.metrics(document);
        let samples = settings.samples(document);
        let reports = settings.reports(document);
        Self {
            name: manifest
                .study
                .name
                .as_ref()
                .map_or_else(|| "study".to_owned(), |name| name.value.clone()),
            manifest: manifest.text.clone(),
            runs,
            config,
            options,
            min_flow_bytes,
            group_by,
            tests,
            baseline,
            same,
            metrics,
            samples,
            reports,
            labels,
        }
    }
}

/// A run whose labels are still texts.
#[derive(Debug)]
pub(super) struct Draft {
    found: Found,
    /// Place of its section among those of the manifest.
    section: usize,
    /// Labels and their texts, with the lines that gave them.
    texts: Vec<(String, Located<String>)>,
}

/// The files of all sections, each once, by name.
fn drafts(manifest: &Manifest, folder: &Path, document: &mut Document) -> Vec<Draft> {
    if manifest.runs.is_empty() {
        document.mistake(
            1,
            "there are no runs: write [[runs]] with files = \"{cca}_{run}.pcap\"",
        );
    }
    let mut drafts: Vec<Draft> = Vec::new();
    let mut lines: HashMap<PathBuf, usize> = HashMap::new();
    for (index, section) in manifest.runs.iter().enumerate() {
        let left_out: HashSet<String> = section
            .except
            .iter()
            .flat_map(|files| files_of(files, folder, document))
            .map(|found| found.name)
            .collect();
        for files in &section.files {
            for found in files_of(files, folder, document) {
                if left_out.contains(&found.name) {
                    continue;
                }
                let place = found
                    .path
                    .canonicalize()
                    .unwrap_or_else(|_| found.path.clone());
                if let Some(line) = lines.insert(place, files.line) {
                    let message = format!(
                        "{} is already a run by line {line}: each capture may count only once",
                        found.name
                    );
                    document.mistake(files.line, message);
                    continue;
                }
                let texts = texts_of(section, files, &found, document);
                drafts.push(Draft {
                    found,
                    section: index,
                    texts,
                });
            }
        }
    }
    drafts.sort_by(|a, b| a.found.name.cmp(&b.found.name));
    drafts
}

/// The files that one entry of `files` names.
fn files_of(files: &Located<String>, folder: &Path, document: &mut Document) -> Vec<Found> {
    let template = match Template::parse(&files.value) {
        Ok(template) => template,
        Err(fault) => {
            document.mistake(
                files.line,
                format!("in '{}': {}", files.value, fault.message),
            );
            return Vec::new();
        }
    };
    if !files.value.contains(['{', '*', '?']) {
        let path = folder.join(&files.value);
        if !path.is_file() {
            document.mistake(files.line, missing(&path, folder));
            return Vec::new();
        }
        let name = files.value.clone();
        return vec![Found {
            name,
            path,
            labels: Vec::new(),
        }];
    }
    match files::find(folder, &template) {
        Ok(found) if found.is_empty() => {
            let message = format!(
                "'{}' matches no file below {}; `ccanalyze study init {}` shows what is there",
                files.value,
                folder.display(),
                folder.display()
            );
            document.mistake(files.line, message);
            found
        }
        Ok(found) => found,
        Err(error) => {
            let message = format!(
                "'{}': {} cannot be read ({error})",
                files.value,
                folder.display()
            );
            document.mistake(files.line, message);
            Vec::new()
        }
    }
}

/// What to say about a file that is not there: with the one that may be meant.
fn missing(path: &Path, folder: &Path) -> String {
    let beside = path.parent().unwrap_or(folder);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut names: Vec<String> = std::fs::read_dir(beside)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    names.sort();
    let hint = suggestion(&name, &names);
    // A list of all files is no hint.
    let hint = if hint.contains("mean") {
        hint
    } else {
        String::new()
    };
    format!("{}: there is no such file{hint}", path.display())
}

/// Labels of a file: from its name, and from its section.
fn texts_of(
    section: &RunsSection,
    files: &Located<String>,
    found: &Found,
    document: &mut Document,
) -> Vec<(String, Located<String>)> {
    let mut texts: Vec<(String, Located<String>)> = found
        .labels
        .iter()
        .map(|(name, text)| (name.clone(), files.with(text.clone())))
        .collect();
    for (name, text) in &section.labels {
        if texts.iter().any(|(known, _)| *known == name.value) {
            let message = format!(
                "label '{}' comes from the file name already (line {})",
                name.value, files.line
            );
            document.mistake(name.line, message);
            continue;
        }
        match filled(&text.value, &texts) {
            Ok(value) => texts.push((name.value.clone(), text.with(value))),
            Err(message) => document.mistake(text.line, message),
        }
    }
    texts
}

/// A text with the labels of a run in the places of `{label}`.
fn filled(text: &str, texts: &[(String, Located<String>)]) -> Result<String, String> {
    let value_of = |name: &str| {
        let (_, text) = texts.iter().find(|(known, _)| known == name)?;
        Some(text.value.clone())
    };
    template::fill(text, value_of).map_err(|message| {
        let names: Vec<&str> = texts.iter().map(|(name, _)| name.as_str()).collect();
        let hint = template::wanted(text)
            .find(|name| !names.contains(name))
            .map_or_else(String::new, |name| suggestion(name, &names));
        format!("'{text}': {message} here{hint}")
    })
}

/// Understands what a section says about one of its runs.
struct RunPlanner<'a> {
    draft: &'a Draft,
    folder: &'a Path,
    /// Traces read before, by path and columns.
    traces: &'a mut HashMap<String, Option<CapacityTrace>>,
    document: &'a mut Document,
}

impl RunPlanner<'_> {
    /// The conditions of the run: what its section says, else what the study says.
    fn conditions(&mut self, study: &ConditionsSection, own: &ConditionsSection) -> Conditions {
        let text = |pick: fn(&ConditionsSection) -> Option<&ConditionText>| {
            pick(own).or_else(|| pick(study))
        };
        let own_capacity = own.capacity.is_some() || own.trace.is_some();
        let capacity_of = if own_capacity { own } else { study };
        let capacity = match &capacity_of.trace {
            Some(trace) => self.trace(trace).map(PathCapacity::Trace),
            None => self
                .condition(capacity_of.capacity.as_ref(), parse_rate)
                .map(PathCapacity::Constant),
        };
        let base_rtt_ns = self.condition(text(|section| section.base_rtt.as_ref()), parse_time);
        let buffer = self.condition(text(|section| section.buffer.as_ref()), Buffer::parse);
        let qdisc = text(|section| section.qdisc.as_ref());
        let qdisc = self.condition(qdisc, |text| Ok(text.to_owned()));
        Conditions {
            capacity,
            base_rtt_ns,
            buffer,
            qdisc,
        }
    }

    /// A condition understood by `parse`.
    fn condition<T>(
        &mut self,
        condition: Option<&ConditionText>,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let (by, cases) = match condition? {
            ConditionText::Same(text) => return self.meant(Some(text), parse),
            ConditionText::By(by, cases) => (by, cases),
        };
        let texts = &self.draft.texts;
        let Some((_, value)) = texts.iter().find(|(name, _)| *name == by.value) else {
            let names: Vec<&str> = texts.iter().map(|(name, _)| name.as_str()).collect();
            let hint = suggestion(&by.value, &names);
            let message = format!("there is no label '{}' here{hint}", by.value);
            self.document.mistake(by.line, message);
            return None;
        };
        let Some((_, text)) = cases.iter().find(|(case, _)| case.value == value.value) else {
            let known: Vec<&str> = cases.iter().map(|(case, _)| case.value.as_str()).collect();
            let message = format!(
                "{} = '{}' has no value here{}",
                by.value,
                value.value,
                suggestion(&value.value, &known)
            );
            self.document.mistake(by.line, message);
            return None;
        };
        self.meant(Some(text), parse)
    }

    /// A text with labels filled in, understood by `parse`; a mistake where it cannot be.
    fn meant<T>(
        &mut self,
        text: Option<&Located<String>>,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let text = text?;
        let value = filled(&text.value, &self.draft.texts).and_then(|full| {
            parse(&full).map_err(|message| {
                if full == text.value {
                    message
                } else {
                    format!(
                        "{message} (from '{}', for {})",
                        text.value, self.draft.found.name
                    )
                }
            })
        });
        match value {
            Ok(value) => Some(value),
            Err(message) => {
                self.document.mistake(text.line, message);
                None
            }
        }
    }

    fn trace(&mut self, section: &TraceSection) -> Option<CapacityTrace> {
        let file = self.meant(Some(&section.file), |text| Ok(text.to_owned()))?;
        let columns = self.columns(section)?;
        let key = format!("{file} {columns:?}");
        if let Some(known) = self.traces.get(&key) {
            return known.clone();
        }
        let path = self.folder.join(&file);
        let trace = if path.is_file() {
            read_trace(&path)
                .and_then(|text| CapacityTrace::from_csv(&text, &columns))
                .map_err(|message| format!("{}: {message}", path.display()))
        } else {
            Err(missing(&path, self.folder))
        };
        let trace = match trace {
            Ok(trace) => Some(trace),
            Err(message) => {
                self.document.mistake(section.file.line, message);
                None
            }
        };
        self.traces.insert(key, trace.clone());
        trace
    }

    fn columns(&mut self, section: &TraceSection) -> Option<TraceColumns> {
        let mut factor = |text: Option<&Located<String>>, dimension: Dimension, usual: f64| {
            let Some(text) = text else {
                return Some(usual);
            };
            match Unit::named(&text.value) {
                Ok(unit) if unit.dimension == dimension => Some(unit.factor),
                Ok(_) => {
                    let message =
                        format!("'{}' is no unit of {}", text.value, dimension.described());
                    self.document.mistake(text.line, message);
                    None
                }
                Err(message) => {
                    self.document.mistake(text.line, message);
                    None
                }
            }
        };
        let time_unit_ns = factor(section.time_unit.as_ref(), Dimension::Time, 1e9);
        let rate_unit_bps = factor(section.rate_unit.as_ref(), Dimension::Rate, 1e6);
        let origin = match section
            .origin
            .as_ref()
            .map(|text| (text.value.as_str(), text.line))
        {
            None | Some(("first record", _)) => Some(TraceOrigin::FirstRecord),
            Some(("epoch", _)) => Some(TraceOrigin::Epoch),
            Some((other, line)) => {
                let message = format!(
                    "origin '{other}' is unknown: the times of a trace count from the \"first record\" of the capture, or from the \"epoch\" as the capture's"
                );
                self.document.mistake(line, message);
                None
            }
        };
        Some(TraceColumns {
            time: section.time.value.clone(),
            time_unit_ns: time_unit_ns?,
            rate: section.rate.value.clone(),
            rate_unit_bps: rate_unit_bps?,
            origin: origin?,
        })
    }
}

fn read_trace(path: &Path) -> Result<String, String> {
    let bytes = crate::capture::read_small_file(path, TRACE_BYTES_MAX)
        .map_err(|error| format!("cannot be read ({error})"))?;
    String::from_utf8(bytes).map_err(|_| "is no text".to_owned())
}

/// Flow rules of a manifest, with the section they are in.
pub(super) fn all_flow_sections(manifest: &Manifest) -> impl Iterator<Item = &FlowSection> {
    manifest
        .flows
        .iter()
        .chain(manifest.runs.iter().flat_map(|section| &section.flows))
}
