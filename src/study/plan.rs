//! What will be done: the manifest understood, with the files that are there, before any is read.

mod conditions;
mod labelling;
mod measured;
mod settings;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use super::conditions::Conditions;
use super::files::{self, Found};
use super::labels::{FlowRule, Label, LabelValue};
use super::manifest::{
    ConditionsSection, Document, FlowSection, Located, Manifest, ManifestError, RunsSection,
    did_you_mean, folder_of, nearest, suggestion,
};
use super::measure::RunMeasure;
use super::measured::MeasuredRun;
use super::metrics::Metric;
use super::queue::QueuePoints;
use super::reports::ReportPlan;
use super::template::{self, Template};
use super::window::Window;
use crate::analyze::{Config, LinkSide};
use crate::capture::display_name;
use conditions::{RunPlanner, Traces};

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
    /// Captures of it before and after the queue, where there are any.
    pub queue: Option<QueuePoints>,
    /// On which side of its queue the run itself was captured, as far as the manifest says.
    pub captured: LinkSide,
    /// What was measured of it elsewhere; `None` where it is a capture, to be analysed.
    pub measured: Option<MeasuredRun>,
    /// A file in which its capture goes on, by its name: as `tcpdump -C` leaves them.
    pub next_part: Option<PathBuf>,
}

/// What one sample of a group of flows is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Samples {
    /// The mean over the flows of a run with the same labels: flows of one run are not independent.
    #[default]
    Runs,
    /// Each flow.
    Flows,
}

/// What stands for several runs in charts of bars and of lines, and in the summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Average {
    /// Their mean, with its confidence interval.
    #[default]
    Mean,
    /// Their median, with the quartiles.
    Median,
}

/// Whether runs in which different numbers of flows, or flows of different kinds, share the link are in one group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compositions {
    /// Each is a group of its own.
    #[default]
    Apart,
    /// They are taken together.
    Together,
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
    /// Its runs, by file name; those of one table in its order.
    pub runs: Vec<PlannedRun>,
    /// The files of capacities that change, which were read with the manifest.
    pub traces: BTreeSet<PathBuf>,
    /// How captures are analysed; its memory is that of all runs together, an eighth for each.
    pub config: Config,
    /// What of that bears on the results, as text: a run analysed with another is analysed again.
    pub options: String,
    /// Flows with less payload do not count, in bytes; `None`: those below 1 % of the largest.
    pub min_flow_bytes: Option<u64>,
    /// Labels whose values make the groups, by place.
    pub group_by: Vec<usize>,
    /// Labels that tell repetitions apart, by place.
    pub repetition: Vec<usize>,
    /// Labels that are tested for an effect, by place.
    pub tests: Vec<usize>,
    /// What changes are relative to.
    pub baseline: Vec<(usize, LabelValue)>,
    /// Labels that a solo run shares with the flows it is compared with, by place, where they are named.
    pub same: Option<Vec<usize>>,
    /// Metrics of groups and tests.
    pub metrics: Vec<Metric>,
    /// What one sample of a group of flows is.
    pub samples: Samples,
    /// What stands for several runs.
    pub average: Average,
    /// Whether runs of different flows are in one group.
    pub compositions: Compositions,
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
        let beside = folder_of(path);
        // Said once, and not of every file in it.
        let folder = manifest.study.folder.as_ref();
        let missing = folder.filter(|folder| !beside.join(&folder.value).is_dir());
        if let Some(folder) = missing {
            let whole = beside.join(&folder.value);
            document.mistake(folder.line, format!(
                "the folder '{}' is not there: it is looked for at {}, since a relative path counts from the manifest",
                folder.value,
                display_name(&std::path::absolute(&whole).unwrap_or(whole))
            ));
        }
        let mut document = document.sound()?;
        let plan = Self::of(&manifest, &beside, &mut document);
        document.verdict(plan)
    }

    /// Understands a manifest whose paths are relative to `beside`.
    pub(super) fn of(manifest: &Manifest, beside: &Path, document: &mut Document) -> Self {
        let folder = match &manifest.study.folder {
            Some(folder) => beside.join(&folder.value),
            None => beside.to_path_buf(),
        };
        let mut drafts = drafts(manifest, &folder, document);
        let (labels, values) = labelling::typed(manifest, &drafts, document);
        let settings = settings::Settings {
            manifest,
            labels: &labels,
            values: &values,
            runs: &[],
        };
        let mut traces = Traces::new();
        let runs = planned_runs(&mut drafts, &settings, &folder, &mut traces, document);
        let settings = settings::Settings {
            runs: &runs,
            ..settings
        };
        let config = settings.config(document);
        let min_flow_bytes = settings.min_flow_bytes(document);
        let options = settings.options(&config, min_flow_bytes);
        let repetition = settings.repetition(document);
        let (group_by, tests) = settings.grouping(&repetition, document);
        settings.must_name_values(document);
        let baseline = settings.baseline(&group_by, document);
        let same = settings.same(document);
        let metrics = settings.metrics(document);
        let samples = settings.samples(document);
        let average = settings.average(document);
        let compositions = settings.compositions(document);
        let reports = settings.reports(&config, &metrics, &group_by, document);
        Self {
            name: manifest
                .study
                .name
                .as_ref()
                .map_or_else(|| "study".to_owned(), |name| name.value.clone()),
            manifest: manifest.text.clone(),
            runs,
            traces: traces.into_keys().map(|(path, _)| path).collect(),
            config,
            options,
            min_flow_bytes,
            group_by,
            repetition,
            tests,
            baseline,
            same,
            metrics,
            samples,
            average,
            compositions,
            reports,
            labels,
        }
    }
}

/// Runs with labels, rules and conditions understood.
fn planned_runs(
    drafts: &mut [Draft<'_>],
    settings: &settings::Settings<'_>,
    folder: &Path,
    traces: &mut Traces,
    document: &mut Document,
) -> Vec<PlannedRun> {
    let (manifest, labels) = (settings.manifest, settings.labels);
    let mut runs = Vec::new();
    for (draft, values) in drafts.iter_mut().zip(settings.values) {
        let measured = draft.measured.take();
        let measured = measured.map(|run| labelling::measured(run, &draft.name, labels, document));
        let mut planner = RunPlanner {
            draft,
            labels,
            folder,
            traces: &mut *traces,
            document: &mut *document,
        };
        let conditions = planner.conditions(&manifest.conditions, draft.conditions);
        let queue = planner.queue();
        let captured = planner.captured(queue.as_ref());
        let rules = draft.flows.iter().chain(&manifest.flows);
        let flow_rules = rules
            .filter_map(|rule| labelling::flow_rule(rule, labels, &draft.texts, planner.document))
            .collect();
        runs.push(PlannedRun {
            name: draft.name.clone(),
            next_part: files::next_part(&draft.path).filter(|_| measured.is_none()),
            path: draft.path.clone(),
            labels: values.clone(),
            flow_rules,
            conditions,
            window: settings.window(draft.window, document),
            queue,
            captured,
            measured,
        });
    }
    runs
}

/// Labels and their texts, with the lines that gave them.
type Texts = Vec<(String, Located<String>)>;

/// A run whose labels are still texts.
#[derive(Debug)]
pub(super) struct Draft<'m> {
    name: String,
    /// Its file as the manifest would write it.
    file: String,
    path: PathBuf,
    /// The line that named its file.
    line: usize,
    /// What its section says about conditions, flows and window.
    conditions: &'m ConditionsSection,
    flows: &'m [FlowSection],
    window: Option<&'m Located<String>>,
    /// Its captures before and after the queue.
    before: Option<&'m Located<String>>,
    after: Option<&'m Located<String>>,
    /// On which side of the queue it was captured itself.
    captured: Option<&'m Located<String>>,
    texts: Texts,
    /// What was measured of it elsewhere.
    measured: Option<MeasuredDraft>,
}

/// A run that was measured elsewhere, with labels of its flows that are still texts.
#[derive(Debug)]
pub(super) struct MeasuredDraft {
    outcome: Result<RunMeasure, String>,
    flows: Vec<Texts>,
}

/// The runs of all sections, each once, by name.
fn drafts<'m>(manifest: &'m Manifest, folder: &Path, document: &mut Document) -> Vec<Draft<'m>> {
    if manifest.runs.is_empty() && manifest.measured.is_empty() {
        document.mistake(
            1,
            "there are no runs: write [[runs]] with files = \"{cca}_{run}.pcap\", or [[measured]] for tables",
        );
    }
    let mut drafts = captures(manifest, folder, document);
    drafts.extend(measured::drafts(manifest, folder, document));
    // By file; those of one file in its order.
    drafts.sort_by(|a, b| a.file.cmp(&b.file));
    measured::told_apart(&mut drafts, document);
    drafts
}

/// The captures of all sections, each once.
fn captures<'m>(manifest: &'m Manifest, folder: &Path, document: &mut Document) -> Vec<Draft<'m>> {
    let mut drafts: Vec<Draft<'_>> = Vec::new();
    let mut known: HashMap<PathBuf, (usize, String)> = HashMap::new();
    for section in &manifest.runs {
        let mut found = files_without(&section.files, &section.except, folder, document);
        let points = points_of(section, &found, folder);
        found.retain(|(_, found)| !points.contains(&found.path));
        for (files, found) in found {
            if files::is_table(&found.name) {
                let message = format!(
                    "{} is a table and no capture: name it in a [[measured]] section",
                    found.name
                );
                document.mistake(files.line, message);
                continue;
            }
            let place = found
                .path
                .canonicalize()
                .unwrap_or_else(|_| found.path.clone());
            if let Some((line, before)) = known.get(&place) {
                let same = if *before == found.name {
                    String::new()
                } else {
                    format!("the same file as {before}, which is ")
                };
                let message = || {
                    format!(
                        "{} is {same}already a run by line {line}: each capture may count only once",
                        found.name
                    )
                };
                let kind = format!("already a run by line {line}");
                document.mistake_of_run(files.line, kind, &found.name, message);
                continue;
            }
            known.insert(place, (files.line, found.name.clone()));
            let from_name = found
                .labels
                .iter()
                .map(|(name, text)| (name.clone(), files.with(text.clone())))
                .collect();
            drafts.push(Draft {
                texts: with_labels(from_name, &section.labels, document),
                file: found.name.clone(),
                name: found.name,
                path: found.path,
                line: files.line,
                conditions: &section.conditions,
                flows: &section.flows,
                window: section.window.as_ref(),
                before: section.before.as_ref(),
                after: section.after.as_ref(),
                captured: section.captured.as_ref(),
                measured: None,
            });
        }
    }
    drafts
}

/// The captures before and after the queue of the other files of a section: they are no runs of their own, though a
/// template may match their names, too (`{cca}_{run}.pcap` those of `{cca}_{run}-in.pcap`).
fn points_of(
    section: &RunsSection,
    found: &[(&Located<String>, Found)],
    folder: &Path,
) -> HashSet<PathBuf> {
    let texts = [&section.before, &section.after];
    let of_file = |found: &Found| -> Vec<PathBuf> {
        let value_of = |name: &str| {
            let given = section.labels.iter().find(|(label, _)| label.value == name);
            let given = given.map(|(_, text)| &text.value);
            let told = found.labels.iter().find(|(label, _)| label == name);
            told.map(|(_, text)| text).or(given).cloned()
        };
        let texts = texts.iter().filter_map(|text| text.as_ref());
        let filled = texts.filter_map(|text| template::fill(&text.value, value_of).ok());
        let paths = filled.map(|name| folder.join(name));
        paths.filter(|path| *path != found.path).collect()
    };
    found.iter().flat_map(|(_, found)| of_file(found)).collect()
}

/// The files that `files` names and `except` does not, with the entry that names each.
fn files_without<'m>(
    files: &'m [Located<String>],
    except: &[Located<String>],
    folder: &Path,
    document: &mut Document,
) -> Vec<(&'m Located<String>, Found)> {
    let left_out: HashSet<String> = except
        .iter()
        .flat_map(|files| files_of(files, folder, document))
        .map(|found| found.name)
        .collect();
    let mut all = Vec::new();
    for files in files {
        let found = files_of(files, folder, document).into_iter();
        all.extend(
            found
                .filter(|found| !left_out.contains(&found.name))
                .map(|found| (files, found)),
        );
    }
    all
}

/// The files that one entry of `files` names.
fn files_of(files: &Located<String>, folder: &Path, document: &mut Document) -> Vec<Found> {
    let template = match Template::parse(&files.value) {
        Ok(template) => template,
        Err(fault) => {
            document.mistake_of_files(files.line, format!("in '{}': {fault}", files.value));
            return Vec::new();
        }
    };
    if !files.value.contains(['{', '*', '?']) {
        let path = folder.join(&files.value);
        if !path.is_file() {
            document.mistake_of_files(files.line, missing(&path, folder));
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
        Ok(found) if !found.is_empty() => return found,
        // A folder that the template begins with and that is not there has no file either.
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let message = format!(
                "'{}': a folder below {} cannot be read ({error})",
                files.value,
                display_name(folder)
            );
            document.mistake_of_files(files.line, message);
        }
        _ => {
            let message = format!(
                "'{}' matches no file below {}; `ccanalyze study init {}` shows what is there",
                files.value,
                display_name(folder),
                display_name(folder)
            );
            document.mistake_of_files(files.line, message);
        }
    }
    Vec::new()
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
    // A list of all files would be no hint.
    let hint = nearest(&name, &names).map_or_else(String::new, did_you_mean);
    format!("{}: there is no such file{hint}", display_name(path))
}

/// Labels of a run: those that are known of it, and those that its section gives it besides.
fn with_labels(
    mut texts: Texts,
    labels: &[(Located<String>, Located<String>)],
    document: &mut Document,
) -> Texts {
    for (name, text) in labels {
        if let Some((_, known)) = texts.iter().find(|(known, _)| *known == name.value) {
            let message = format!(
                "label '{}' comes from line {} already",
                name.value, known.line
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

/// Flow rules of a manifest, with the section they are in.
pub(super) fn all_flow_sections(manifest: &Manifest) -> impl Iterator<Item = &FlowSection> {
    manifest
        .flows
        .iter()
        .chain(manifest.runs.iter().flat_map(|section| &section.flows))
}
