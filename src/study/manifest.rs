//! The file that describes a study, read as it is written.
//!
//! [`Manifest::parse`] knows sections, keys and the shape of their values; what they mean together
//! with the files that are there is the business of [`StudyPlan`](super::StudyPlan).

mod document;
mod flows;
mod measured;

use std::io::{ErrorKind, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::de::DeTable;

use document::Section;
pub(super) use document::{Document, Located, did_you_mean, nearest, suggestion};
pub use document::{ManifestError, Mistake};
pub(super) use flows::FlowSection;
use flows::flow_rules;
pub(super) use measured::{ColumnText, MeasuredSection};

/// Bytes of a manifest; a larger file is none.
const MANIFEST_BYTES_MAX: u64 = 4 << 20;

/// A study as its manifest describes it. Texts are as written; each knows its line.
#[derive(Clone, Debug, Default)]
pub(super) struct Manifest {
    /// All of it, as it was read.
    pub text: String,
    /// `[study]`.
    pub study: StudySection,
    /// `[analysis]`.
    pub analysis: AnalysisSection,
    /// `[labels.NAME]`.
    pub labels: Vec<LabelSection>,
    /// `[conditions]`: of all runs that do not say otherwise.
    pub conditions: ConditionsSection,
    /// `[[flows]]`: for all runs.
    pub flows: Vec<FlowSection>,
    /// `[[runs]]`.
    pub runs: Vec<RunsSection>,
    /// `[[measured]]`.
    pub measured: Vec<MeasuredSection>,
    /// `[reports.NAME]`: what built-in reports need to know.
    pub reports: Vec<ReportSection>,
}

/// `[study]`.
#[derive(Clone, Debug, Default)]
pub(super) struct StudySection {
    /// What the study is called.
    pub name: Option<Located<String>>,
    /// Where the files of its runs are; beside the manifest, without it.
    pub folder: Option<Located<String>>,
    /// Built-in reports.
    pub report: Vec<Located<String>>,
    /// Labels whose values make the groups.
    pub group_by: Option<Vec<Located<String>>>,
    /// Labels that only number repetitions.
    pub repetition: Option<Vec<Located<String>>>,
    /// Labels that are tested for an effect.
    pub test: Option<Vec<Located<String>>>,
    /// What changes are relative to.
    pub baseline: Vec<(Located<String>, Located<String>)>,
    /// Metrics of groups and tests.
    pub metrics: Option<Vec<Located<String>>>,
    /// What one sample of a group of flows is.
    pub samples: Option<Located<String>>,
    /// What charts and the summary show of several runs.
    pub average: Option<Located<String>>,
    /// Whether runs of different flows stand in one group.
    pub compositions: Option<Located<String>>,
    /// Labels that a solo run shares with the flows it is compared with for harm.
    pub same: Option<Vec<Located<String>>>,
}

/// `[analysis]`.
#[derive(Clone, Debug, Default)]
pub(super) struct AnalysisSection {
    /// Only these packets.
    pub filter: Option<Located<String>>,
    /// The outermost TCP header.
    pub outer: bool,
    /// Conversations of UDP are flows, too.
    pub udp: bool,
    /// Length of a bin.
    pub bin: Option<Located<String>>,
    /// Which part of a run counts.
    pub window: Option<Located<String>>,
    /// Flows with less payload do not count.
    pub min_flow: Option<Located<String>>,
    /// Weights of the balanced metric.
    pub weights: Option<Vec<Located<String>>>,
}

/// `[labels.NAME]`.
#[derive(Clone, Debug)]
pub(super) struct LabelSection {
    /// Its name.
    pub name: Located<String>,
    /// `text` or `number`.
    pub kind: Option<Located<String>>,
    /// Unit of its numbers.
    pub unit: Option<Located<String>>,
    /// Its values in order.
    pub order: Option<Vec<Located<String>>>,
    /// What its values are called, by what files and rules say.
    pub names: Vec<(Located<String>, Located<String>)>,
}

/// `[conditions]` or `[runs.conditions]`; `{label}` in a text stands for the label's value.
#[derive(Clone, Debug, Default)]
pub(super) struct ConditionsSection {
    /// A constant capacity.
    pub capacity: Option<ConditionText>,
    /// A capacity that changes.
    pub trace: Option<TraceSection>,
    /// Round-trip time of the empty path.
    pub base_rtt: Option<ConditionText>,
    /// Limit of the queue.
    pub buffer: Option<ConditionText>,
    /// Queue discipline.
    pub qdisc: Option<ConditionText>,
}

/// A condition: the same for all runs, or one for each value of a label.
#[derive(Clone, Debug)]
pub(super) enum ConditionText {
    /// `buffer = "100 packets"`.
    Same(Located<String>),
    /// `buffer = { by = "buffer", shallow = "10 packets", deep = "1000 packets" }`.
    By(Located<String>, Vec<(Located<String>, Located<String>)>),
}

/// `capacity = { trace = ... }`.
#[derive(Clone, Debug)]
pub(super) struct TraceSection {
    /// The CSV file.
    pub file: Located<String>,
    /// Column of times.
    pub time: Located<String>,
    /// Unit of the times.
    pub time_unit: Option<Located<String>>,
    /// Column of rates.
    pub rate: Located<String>,
    /// Unit of the rates.
    pub rate_unit: Option<Located<String>>,
    /// Where its time begins.
    pub origin: Option<Located<String>>,
}

/// `[[runs]]`.
#[derive(Clone, Debug)]
pub(super) struct RunsSection {
    /// Files, or templates of their names.
    pub files: Vec<Located<String>>,
    /// Files that are not meant, or templates of their names.
    pub except: Vec<Located<String>>,
    /// Labels of all of them.
    pub labels: Vec<(Located<String>, Located<String>)>,
    /// Their conditions.
    pub conditions: ConditionsSection,
    /// Which part of them counts.
    pub window: Option<Located<String>>,
    /// Captures of them before the queue.
    pub before: Option<Located<String>>,
    /// Captures of them after the queue.
    pub after: Option<Located<String>>,
    /// On which side of the queue they themselves were captured.
    pub captured: Option<Located<String>>,
    /// Labels of their flows.
    pub flows: Vec<FlowSection>,
}

/// `[reports.NAME]`.
#[derive(Clone, Debug)]
pub(super) struct ReportSection {
    /// The report.
    pub name: Located<String>,
    /// What it is told.
    pub options: Vec<(Located<String>, Vec<Located<String>>)>,
}

impl Manifest {
    /// Reads a manifest; mistakes go into the document that comes back with it.
    ///
    /// # Errors
    /// [`ManifestError`] where the file cannot be read, or is not TOML.
    pub(super) fn read(path: &Path) -> Result<(Self, Document), ManifestError> {
        let failed = |source| ManifestError {
            path: path.to_path_buf(),
            source: Some(source),
            mistakes: Vec::new(),
        };
        // What is no regular file may have no size, and no end.
        let file = std::fs::File::open(path).map_err(|error| failed(no_manifest(error)))?;
        let mut text = String::new();
        let read = file.take(MANIFEST_BYTES_MAX + 1).read_to_string(&mut text);
        if read.map_err(|error| failed(no_manifest(error)))? as u64 > MANIFEST_BYTES_MAX {
            return Err(failed(std::io::Error::other("too large for a manifest")));
        }
        Self::parse(path, &text)
    }

    /// Reads the text of a manifest.
    ///
    /// # Errors
    /// [`ManifestError`] where it is not TOML.
    pub(super) fn parse(path: &Path, text: &str) -> Result<(Self, Document), ManifestError> {
        let mut document = Document::new(path, text);
        let root = match DeTable::parse(text) {
            Ok(root) => root,
            Err(error) => {
                let line = document.line(&error.span().unwrap_or(0..0));
                document.mistake(line, format!("this is not TOML: {}", error.message()));
                return Err(match document.verdict(()) {
                    Err(error) => error,
                    Ok(()) => ManifestError {
                        path: path.to_path_buf(),
                        source: None,
                        mistakes: Vec::new(),
                    },
                });
            }
        };
        let keys = [
            "study",
            "analysis",
            "labels",
            "conditions",
            "flows",
            "runs",
            "measured",
            "reports",
        ];
        let section = Section::new(
            &mut document,
            "the manifest",
            root.get_ref(),
            &root.span(),
            &keys,
        );
        let mut manifest = Self::of(&mut document, &section);
        text.clone_into(&mut manifest.text);
        Ok((manifest, document))
    }

    fn of(document: &mut Document, root: &Section<'_>) -> Self {
        let mut manifest = Self::default();
        if let Some((table, span)) = table_of(document, root, "study") {
            manifest.study = study(document, table, &span);
        }
        if let Some((table, span)) = table_of(document, root, "analysis") {
            manifest.analysis = analysis(document, table, &span);
        }
        if let Some((table, span)) = table_of(document, root, "conditions") {
            manifest.conditions = conditions(document, "[conditions]", table, &span);
        }
        manifest.labels = named_tables(document, root, "labels", |document, name, table, span| {
            let title = format!("[labels.{}]", name.value);
            let section = Section::new(
                document,
                &title,
                table,
                span,
                &["type", "unit", "order", "names"],
            );
            LabelSection {
                name,
                kind: section.text(document, "type"),
                unit: section.text(document, "unit"),
                order: section.texts(document, "order"),
                names: section.pairs(document, "names").unwrap_or_default(),
            }
        });
        manifest.reports =
            named_tables(document, root, "reports", |document, name, table, span| {
                let title = format!("[reports.{}]", name.value);
                let keys: Vec<&str> = table.keys().map(|key| key.get_ref().as_ref()).collect();
                let section = Section::new(document, &title, table, span, &keys);
                let options = section
                    .entries()
                    .into_iter()
                    .filter_map(|(key, _)| {
                        let values = section.texts(document, key.get_ref())?;
                        let key = Located {
                            value: key.get_ref().to_string(),
                            line: document.line(&key.span()),
                        };
                        Some((key, values))
                    })
                    .collect();
                ReportSection { name, options }
            });
        manifest.flows = flow_rules(document, root, "[[flows]]");
        manifest.runs = root
            .tables(document, "runs")
            .into_iter()
            .map(|(table, span)| runs(document, table, &span))
            .collect();
        manifest.measured = root
            .tables(document, "measured")
            .into_iter()
            .map(|(table, span)| measured::section(document, table, &span))
            .collect();
        manifest
    }
}

fn table_of<'a>(
    document: &mut Document,
    root: &Section<'a>,
    key: &str,
) -> Option<(&'a DeTable<'a>, Range<usize>)> {
    let value = root.get(key)?;
    let table = value.get_ref().as_table();
    if table.is_none() {
        root.wrong(document, key, &format!("a table: write [{key}]"));
    }
    Some((table?, value.span()))
}

/// Tables below a key, each with the name it is under, in the order they are written.
fn named_tables<T>(
    document: &mut Document,
    root: &Section<'_>,
    key: &str,
    mut each: impl FnMut(&mut Document, Located<String>, &DeTable<'_>, &Range<usize>) -> T,
) -> Vec<T> {
    let Some((table, span)) = table_of(document, root, key) else {
        return Vec::new();
    };
    let names: Vec<&str> = table.keys().map(|key| key.get_ref().as_ref()).collect();
    let section = Section::new(document, &format!("[{key}]"), table, &span, &names);
    let mut found = Vec::new();
    for (name, value) in section.entries() {
        let Some(inner) = value.get_ref().as_table() else {
            section.wrong(
                document,
                name.get_ref(),
                &format!("a table: write [{key}.{}]", name.get_ref()),
            );
            continue;
        };
        let name = Located {
            value: name.get_ref().to_string(),
            line: document.line(&name.span()),
        };
        found.push(each(document, name, inner, &value.span()));
    }
    found
}

fn study(document: &mut Document, table: &DeTable<'_>, span: &Range<usize>) -> StudySection {
    let keys = [
        "name",
        "folder",
        "report",
        "group_by",
        "repetition",
        "test",
        "baseline",
        "metrics",
        "samples",
        "average",
        "compositions",
        "same",
    ];
    let section = Section::new(document, "[study]", table, span, &keys);
    StudySection {
        name: section.text(document, "name"),
        folder: section.text(document, "folder"),
        report: section.texts(document, "report").unwrap_or_default(),
        group_by: section.texts(document, "group_by"),
        repetition: section.texts(document, "repetition"),
        test: section.texts(document, "test"),
        baseline: section.pairs(document, "baseline").unwrap_or_default(),
        metrics: section.texts(document, "metrics"),
        samples: section.text(document, "samples"),
        average: section.text(document, "average"),
        compositions: section.text(document, "compositions"),
        same: section.texts(document, "same"),
    }
}

fn analysis(document: &mut Document, table: &DeTable<'_>, span: &Range<usize>) -> AnalysisSection {
    let keys = [
        "filter", "outer", "udp", "bin", "window", "min_flow", "weights",
    ];
    let section = Section::new(document, "[analysis]", table, span, &keys);
    AnalysisSection {
        filter: section.text(document, "filter"),
        outer: section.truth(document, "outer").unwrap_or(false),
        udp: section.truth(document, "udp").unwrap_or(false),
        bin: section.text(document, "bin"),
        window: section.text(document, "window"),
        min_flow: section.text(document, "min_flow"),
        weights: section.scalars(document, "weights", "three numbers, such as [1, 1, 1]"),
    }
}

fn conditions(
    document: &mut Document,
    title: &str,
    table: &DeTable<'_>,
    span: &Range<usize>,
) -> ConditionsSection {
    let keys = ["capacity", "base_rtt", "buffer", "qdisc"];
    let section = Section::new(document, title, table, span, &keys);
    let trace = section
        .get("capacity")
        .and_then(|value| Some((value.get_ref().as_table()?, value.span())))
        .filter(|(table, _)| !table.contains_key("by"));
    let (capacity, trace) = match trace {
        Some((table, span)) => (None, capacity_trace(document, table, &span)),
        None => (condition(document, &section, "capacity"), None),
    };
    ConditionsSection {
        capacity,
        trace,
        base_rtt: condition(document, &section, "base_rtt"),
        buffer: condition(document, &section, "buffer"),
        qdisc: condition(document, &section, "qdisc"),
    }
}

fn condition(document: &mut Document, section: &Section<'_>, key: &str) -> Option<ConditionText> {
    if !section.get(key)?.get_ref().is_table() {
        return section.text(document, key).map(ConditionText::Same);
    }
    let mut cases = section.pairs(document, key)?;
    let Some(by) = cases.iter().position(|(name, _)| name.value == "by") else {
        let expected = "a text, or a table such as { by = \"buffer\", shallow = \"10 packets\" }";
        section.wrong(document, key, expected);
        return None;
    };
    let (_, by) = cases.remove(by);
    Some(ConditionText::By(by, cases))
}

fn capacity_trace(
    document: &mut Document,
    table: &DeTable<'_>,
    span: &Range<usize>,
) -> Option<TraceSection> {
    let keys = ["trace", "time", "time_unit", "rate", "rate_unit", "origin"];
    let section = Section::new(document, "capacity", table, span, &keys);
    let required = |document: &mut Document, key: &str| {
        let text = section.text(document, key);
        if text.is_none() && section.get(key).is_none() {
            let message = format!(
                "capacity lacks '{key}': write {{ trace = \"rates.csv\", time = \"t_s\", rate = \"rate_mbps\" }} with the names of its columns"
            );
            document.mistake(section.line, message);
        }
        text
    };
    let (file, time, rate) = (
        required(document, "trace"),
        required(document, "time"),
        required(document, "rate"),
    );
    let time_unit = section.text(document, "time_unit");
    let rate_unit = section.text(document, "rate_unit");
    let origin = section.text(document, "origin");
    Some(TraceSection {
        file: file?,
        time: time?,
        time_unit,
        rate: rate?,
        rate_unit,
        origin,
    })
}

fn runs(document: &mut Document, table: &DeTable<'_>, span: &Range<usize>) -> RunsSection {
    let keys = [
        "files",
        "except",
        "labels",
        "conditions",
        "window",
        "before",
        "after",
        "captured",
        "flows",
    ];
    let section = Section::new(document, "[[runs]]", table, span, &keys);
    if section.get("files").is_none() {
        let message = "[[runs]] lacks 'files': write files = \"{cca}_{run}.pcap\", with a label in braces where names differ";
        document.mistake(section.line, message);
    }
    RunsSection {
        files: section.texts(document, "files").unwrap_or_default(),
        except: section.texts(document, "except").unwrap_or_default(),
        labels: section.pairs(document, "labels").unwrap_or_default(),
        conditions: inner_conditions(document, &section, "runs"),
        window: section.text(document, "window"),
        before: section.text(document, "before"),
        after: section.text(document, "after"),
        captured: section.text(document, "captured"),
        flows: flow_rules(document, &section, "[[runs.flows]]"),
    }
}

/// The conditions of a section of runs that is called `of`.
fn inner_conditions(document: &mut Document, section: &Section<'_>, of: &str) -> ConditionsSection {
    let title = format!("[{of}.conditions]");
    let Some(value) = section.get("conditions") else {
        return ConditionsSection::default();
    };
    let Some(table) = value.get_ref().as_table() else {
        section.wrong(document, "conditions", &format!("a table: write {title}"));
        return ConditionsSection::default();
    };
    conditions(document, &title, table, &value.span())
}

/// What is wrong with a file that is no manifest, and how to come by one.
fn no_manifest(error: std::io::Error) -> std::io::Error {
    let what = match error.kind() {
        ErrorKind::NotFound => "there is no such file",
        ErrorKind::IsADirectory => "it is a directory",
        ErrorKind::InvalidData => "it is no text, and a manifest is",
        _ => return error,
    };
    let way =
        "`ccanalyze study init FOLDER > study.toml` drafts a manifest of the captures in FOLDER";
    std::io::Error::new(error.kind(), format!("{what}; {way}"))
}

/// The folder that a manifest's paths are relative to.
#[must_use]
pub(super) fn folder_of(manifest: &Path) -> PathBuf {
    match manifest.parent() {
        Some(parent) if parent != Path::new("") => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}
