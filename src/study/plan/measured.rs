//! Runs that come as tables: read while the study is planned, so that what is wrong with them is
//! known before any capture is analysed.

mod numbers;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::labelling::TEXT;
use super::settings::meant;
use super::{Draft, MeasuredDraft, Texts, files_without, with_labels};
use crate::study::files::{self, Found};
use crate::study::import::{ImportError, MeasuredFormat, MeasuredTable, Place, flent_flows};
use crate::study::manifest::{
    Document, LabelSection, Located, Manifest, MeasuredSection, suggestion,
};
use crate::study::measure::RunMeasure;
use crate::study::metrics::{Metric, Values};
use crate::study::template::Template;
use crate::study::window::Window;

/// Runs of one table. A table with more rows that are runs is no study.
const RUNS_MAX: usize = 1 << 16;

/// What a row of a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rows {
    /// A run.
    Runs,
    /// A flow of a run.
    Flows,
    /// A point in time of a run.
    Points,
}

/// The runs of all tables, in the order of the manifest.
pub(super) fn drafts<'m>(
    manifest: &'m Manifest,
    folder: &std::path::Path,
    document: &mut Document,
) -> Vec<Draft<'m>> {
    let mut drafts = Vec::new();
    for section in &manifest.measured {
        let template = section.lines.as_ref().map(|lines| {
            Template::parse(&lines.value).map_err(|fault| {
                let message = format!("in '{}': {fault}", lines.value);
                document.mistake_of_files(lines.line, message);
            })
        });
        let Ok(template) = template.transpose() else {
            continue;
        };
        let as_written = columns_as_written(manifest, section);
        let general = manifest.analysis.window.as_ref();
        let mut faults = Faults::default();
        for (files, found) in files_without(&section.files, &section.except, folder, document) {
            let table = match &template {
                Some(template) => MeasuredTable::read_lines(&found.path, template, &as_written),
                None => MeasuredTable::read_as_written(&found.path, &as_written),
            };
            let window = section.window.as_ref().or(general);
            let window = meant(window, document, Window::parse).unwrap_or_default();
            let context = Context {
                section,
                files,
                found: &found,
                window,
            };
            match table {
                Ok(table) => {
                    let mut reader = Reader {
                        context,
                        table: &table,
                        document: &mut *document,
                        faults: Vec::new(),
                    };
                    drafts.extend(reader.drafts());
                    faults.of_file(&found.name, reader.faults);
                }
                Err(error) => match context.unreadable(&error, document) {
                    Ok(draft) => drafts.push(draft),
                    Err(fault) => faults.of_file(&found.name, vec![(files.line, fault)]),
                },
            }
        }
        faults.say(document);
    }
    drafts
}

/// The columns of a section that are labels of which the manifest says that they are texts.
fn columns_as_written<'m>(manifest: &'m Manifest, section: &'m MeasuredSection) -> Vec<&'m str> {
    let is_text = |label: &str| {
        let mut sections = manifest.labels.iter();
        let is_it = |of: &&LabelSection| of.name.value == label && of.unit.is_none();
        let kind = sections.find(is_it).and_then(|of| of.kind.as_ref());
        kind.is_some_and(|kind| kind.value == TEXT)
    };
    let columns = section.columns.iter();
    let columns = columns.filter(|(label, _)| is_text(&label.value));
    columns.map(|(_, column)| column.value.as_str()).collect()
}

/// What is wrong with the tables of a section: the first fault that a line has, and in how many
/// more files it has one.
#[derive(Default)]
struct Faults {
    /// File and fault by line, and the other files.
    by_line: BTreeMap<usize, (String, String, BTreeSet<String>)>,
}

impl Faults {
    fn of_file(&mut self, file: &str, faults: Vec<(usize, String)>) {
        for (line, fault) in faults {
            let first = || (file.to_owned(), fault, BTreeSet::new());
            let (known, _, others) = self.by_line.entry(line).or_insert_with(first);
            if known != file {
                others.insert(file.to_owned());
            }
        }
    }

    fn say(self, document: &mut Document) {
        for (line, (file, fault, others)) in self.by_line {
            let message = match others.len() {
                0 => format!("{file}: {fault}"),
                1 => format!("{file}: {fault} (and so in 1 more file)"),
                n => format!("{file}: {fault} (and so in {n} more files)"),
            };
            document.mistake_of_files(line, message);
        }
    }
}

/// Names what several sections make of the same rows by what their labels say; where these are the
/// same too, it is a mistake.
pub(super) fn told_apart(drafts: &mut [Draft<'_>], document: &mut Document) {
    let mut known: HashMap<String, (Texts, usize)> = HashMap::new();
    for draft in drafts.iter_mut().filter(|draft| draft.measured.is_some()) {
        let (texts, line) = (draft.texts.clone(), draft.line);
        let Some((before, line_before)) = known.insert(draft.name.clone(), (texts, line)) else {
            continue;
        };
        if pairs(&before).eq(pairs(&draft.texts)) {
            let kind = format!("already a run by line {line_before}");
            let message = || format!("{} is {kind}: each may count only once", draft.name);
            document.mistake_of_run(line, kind.clone(), &draft.name, message);
        }
        let values = pairs(&draft.texts).map(|(label, text)| format!("{label}={text}"));
        draft.name = named(&draft.name, values);
    }
}

/// Labels and their values.
fn pairs(texts: &Texts) -> impl Iterator<Item = (&str, &str)> {
    texts
        .iter()
        .map(|(label, text)| (label.as_str(), text.value.as_str()))
}

/// Where a table comes from.
#[derive(Clone, Copy)]
struct Context<'m, 'a> {
    section: &'m MeasuredSection,
    files: &'m Located<String>,
    found: &'a Found,
    window: Window,
}

impl<'m> Context<'m, '_> {
    /// Labels that the name of the file gives.
    fn labels_of_name(&self) -> Texts {
        let labels = self.found.labels.iter();
        labels
            .map(|(name, text)| (name.clone(), self.files.with(text.clone())))
            .collect()
    }

    fn draft(&self, name: String, texts: Texts, measured: MeasuredDraft) -> Draft<'m> {
        Draft {
            name,
            file: self.found.name.clone(),
            path: self.found.path.clone(),
            line: self.files.line,
            conditions: &self.section.conditions,
            flows: &[],
            window: self.section.window.as_ref(),
            before: None,
            after: None,
            captured: None,
            texts,
            measured: Some(measured),
        }
    }

    /// An archive of flent that cannot be read is a run, which failed.
    ///
    /// # Errors
    /// It is another table, of which nobody knows the runs: what is wrong with it.
    fn unreadable(
        &self,
        error: &ImportError,
        document: &mut Document,
    ) -> Result<Draft<'m>, String> {
        if files::is_capture(&self.found.name) {
            return Err("is a capture and no table: name it in a [[runs]] section".to_owned());
        }
        let fault = error.in_its_file();
        if !self.found.name.contains(".flent") {
            return Err(fault);
        }
        let texts = with_labels(self.labels_of_name(), &self.section.labels, document);
        let measured = MeasuredDraft {
            outcome: Err(fault),
            flows: Vec::new(),
        };
        Ok(self.draft(self.found.name.clone(), texts, measured))
    }
}

/// Makes runs of a table.
struct Reader<'m, 'a> {
    context: Context<'m, 'a>,
    table: &'a MeasuredTable,
    document: &'a mut Document,
    /// What is wrong with the table, and which line asks for it.
    faults: Vec<(usize, String)>,
}

impl<'m> Reader<'m, '_> {
    fn drafts(&mut self) -> Vec<Draft<'m>> {
        let drafts = match self.rows() {
            None => None,
            Some(Rows::Runs) => self.runs(),
            Some(Rows::Flows) => self.flows(),
            Some(Rows::Points) => self.points(),
        };
        let mut drafts = drafts.unwrap_or_default();
        if drafts.len() > RUNS_MAX {
            let message = format!(
                "has {} runs, more than {RUNS_MAX}: are its rows \"points\" in time?",
                drafts.len()
            );
            self.fault(self.context.files.line, message);
            drafts.clear();
        }
        drafts
    }

    /// What is wrong whatever the table is.
    fn mistake(&mut self, line: usize, message: impl Into<String>) {
        self.document.mistake(line, message);
    }

    /// What is wrong with this table.
    fn fault(&mut self, line: usize, message: impl Into<String>) {
        self.faults.push((line, message.into()));
    }

    /// What a row of the table is; a mistake where the section asks for what it cannot be.
    fn rows(&mut self) -> Option<Rows> {
        let section = self.context.section;
        let is_flent = self.table.format == MeasuredFormat::Flent;
        let rows = match section
            .rows
            .as_ref()
            .map(|rows| (rows.value.as_str(), rows.line))
        {
            None if is_flent => Rows::Points,
            None | Some(("runs", _)) => Rows::Runs,
            Some(("flows", _)) => Rows::Flows,
            Some(("points", _)) => Rows::Points,
            Some((other, line)) => {
                let hint = suggestion(other, &["runs", "flows", "points"]);
                self.mistake(line, format!("rows cannot be '{other}'{hint}"));
                return None;
            }
        };
        if let (true, Some(given), Rows::Runs | Rows::Flows) = (is_flent, &section.rows, rows) {
            let message = "is an archive of flent, whose rows are points in time: write rows = \"points\", or leave it out";
            self.fault(given.line, message);
            return None;
        }
        self.only_for(rows, section.window.as_ref(), "window", &[Rows::Points]);
        let time = section.time.as_ref().and_then(|time| time.names.first());
        self.only_for(rows, time, "time", &[Rows::Points]);
        let run = section.run.first();
        self.only_for(rows, run, "run", &[Rows::Flows, Rows::Points]);
        Some(rows)
    }

    /// A mistake where something is given that says nothing about such rows.
    fn only_for(&mut self, rows: Rows, given: Option<&Located<String>>, key: &str, of: &[Rows]) {
        if let Some(given) = given.filter(|_| !of.contains(&rows)) {
            let needed = if of.contains(&Rows::Flows) {
                "\"flows\" or \"points\""
            } else {
                "\"points\""
            };
            let message = format!("'{key}' says nothing here: it needs rows = {needed}");
            self.mistake(given.line, message);
        }
    }

    /// A run a row.
    fn runs(&mut self) -> Option<Vec<Draft<'m>>> {
        let labels = self.label_cells();
        let metrics = self.metrics(false);
        let (labels, metrics) = (labels?, metrics?);
        let rows = 0..self.table.rows();
        Some(
            rows.map(|row| {
                let texts = self.texts(&Texts::new(), &labels, row);
                let measured = MeasuredDraft {
                    outcome: Ok(RunMeasure::of_values(numbers::values(&metrics, row))),
                    flows: Vec::new(),
                };
                let name = self.name_of_row(row);
                self.context.draft(name, texts, measured)
            })
            .collect(),
        )
    }

    /// A flow a row; rows with the same values in the columns of `run` are flows of one run.
    fn flows(&mut self) -> Option<Vec<Draft<'m>>> {
        let labels = self.label_cells();
        let metrics = self.metrics(true);
        let groups = self.groups(&[]);
        let (labels, metrics) = (labels?, metrics?);
        let mut drafts = Vec::new();
        for (name, rows) in groups? {
            let own: Vec<Texts> = rows.iter().map(|&row| cells_of(&labels, row)).collect();
            // What all flows share is said of the run.
            let shared: Texts = own[0]
                .iter()
                .filter(|text| own.iter().all(|flow| flow.contains(text)))
                .cloned()
                .collect();
            let flows: Vec<Values> = rows
                .iter()
                .map(|&row| numbers::values(&metrics, row))
                .collect();
            let without = |texts: Texts| -> Texts {
                let mut texts = texts;
                texts.retain(|text| !shared.contains(text));
                texts
            };
            let measured = MeasuredDraft {
                outcome: Ok(RunMeasure::of_flows(flows)),
                flows: own.into_iter().map(without).collect(),
            };
            let mut texts = self.context.labels_of_name();
            texts.extend(shared.clone());
            let texts = with_labels(texts, &self.context.section.labels, self.document);
            drafts.push(self.context.draft(name, texts, measured));
        }
        Some(drafts)
    }

    /// Points in time of one run, of several beside each other in columns, or one below the other.
    fn points(&mut self) -> Option<Vec<Draft<'m>>> {
        let labels = self.label_cells();
        let label_columns: Vec<&Located<String>> = self
            .context
            .section
            .columns
            .iter()
            .map(|(_, column)| column)
            .collect();
        let groups = self.groups(&label_columns);
        let time = self.time();
        let series = self.series();
        let (labels, groups, time, series) = (labels?, groups?, time?, series?);
        let mut drafts = Vec::new();
        for (assigned, series) in &series {
            for (name, rows) in &groups {
                let mut texts = self.texts(assigned, &labels, rows[0]);
                texts.retain(|(_, text)| !text.value.is_empty());
                let outcome = match numbers::points(&time, series, rows) {
                    Ok(points) => RunMeasure::of_points(&points, self.context.window)
                        .map(|measure| self.with_flows(measure, assigned)),
                    Err((row, fault)) => {
                        let place = self.table.place(row);
                        self.fault(self.context.section.line, format!("{place}: {fault}"));
                        return None;
                    }
                };
                let assigned = assigned
                    .iter()
                    .map(|(label, text)| format!("{label}={}", text.value));
                let name = named(name, assigned);
                let flows = Vec::new();
                let measured = MeasuredDraft { outcome, flows };
                drafts.push(self.context.draft(name, texts, measured));
            }
        }
        Some(drafts)
    }

    /// A run with the number of its flows, where an archive of flent tells it and the manifest does not.
    fn with_flows(&self, mut measure: RunMeasure, assigned: &Texts) -> RunMeasure {
        let is_flent = self.table.format == MeasuredFormat::Flent && assigned.is_empty();
        if is_flent && measure.values.get(Metric::Flows).is_none() {
            let flows = flent_flows(self.table);
            let flows = flows.map(|flows| flows as f64);
            measure.values.set(Metric::Flows, flows);
        }
        measure
    }

    /// Labels of a row: by the name of the file and of columns, by its cells, by the section.
    fn texts(&mut self, assigned: &Texts, labels: &[LabelCells], row: usize) -> Texts {
        let mut texts = self.context.labels_of_name();
        texts.extend(assigned.iter().cloned());
        texts.extend(cells_of(labels, row));
        with_labels(texts, &self.context.section.labels, self.document)
    }

    /// The cells of the columns that are labels; a mistake where there is no such column.
    fn label_cells(&mut self) -> Option<Vec<LabelCells>> {
        let columns = &self.context.section.columns;
        let cells: Vec<Option<LabelCells>> = columns
            .iter()
            .map(|(label, column)| {
                Some(LabelCells {
                    label: label.clone(),
                    cells: self.cells(column)?,
                })
            })
            .collect();
        cells.into_iter().collect()
    }

    /// The cells of a column as texts.
    fn cells(&mut self, column: &Located<String>) -> Option<Vec<Option<String>>> {
        let name = self.existing(std::slice::from_ref(column))?;
        match self.table.texts(&name.value) {
            Ok(texts) => {
                let owned = texts.into_iter().map(|text| Some(text?.into_owned()));
                Some(owned.collect())
            }
            Err(kind) => {
                self.fault(column.line, kind.to_string());
                None
            }
        }
    }

    /// Rows that belong to one run, by name: those with the same values in the columns of `run` and
    /// in `further` ones; all of them without any such column.
    fn groups(&mut self, further: &[&Located<String>]) -> Option<Vec<(String, Vec<usize>)>> {
        let columns: Vec<&Located<String>> = self
            .context
            .section
            .run
            .iter()
            .chain(further.iter().copied())
            .collect();
        let mut cells = Vec::new();
        for column in columns {
            cells.push((column.value.clone(), self.cells(column)?));
        }
        let mut groups: BTreeMap<Vec<Option<&str>>, Vec<usize>> = BTreeMap::new();
        for row in 0..self.table.rows() {
            let key = cells.iter().map(|(_, cells)| cells[row].as_deref());
            groups.entry(key.collect()).or_default().push(row);
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by_key(|(_, rows)| rows[0]);
        let named = groups.into_iter().map(|(key, rows)| {
            let values = cells
                .iter()
                .zip(key)
                .map(|((name, _), value)| format!("{name}={}", value.unwrap_or("-")));
            (named(&self.context.found.name, values), rows)
        });
        Some(named.collect())
    }

    /// What to call the run of a row.
    fn name_of_row(&self, row: usize) -> String {
        let file = &self.context.found.name;
        match self.table.place(row) {
            Place::Line(line) | Place::LineColumn(line, _) => format!("{file}:{line}"),
            Place::Row(row) => format!("{file}#{row}"),
        }
    }
}

/// A label and its text in each row.
struct LabelCells {
    label: Located<String>,
    cells: Vec<Option<String>>,
}

/// The labels of a row; empty cells give none.
fn cells_of(labels: &[LabelCells], row: usize) -> Texts {
    let text = |cells: &LabelCells| {
        let text = cells.cells[row].clone()?;
        Some((cells.label.value.clone(), cells.label.with(text)))
    };
    labels.iter().filter_map(text).collect()
}

/// A name with what tells it from others of the same file: `file [a=1,b=2]`.
fn named(file: &str, values: impl Iterator<Item = String>) -> String {
    let values: Vec<String> = values.collect();
    if values.is_empty() {
        return file.to_owned();
    }
    match file.strip_suffix(']') {
        Some(file) => format!("{file},{}]", values.join(",")),
        None => format!("{file} [{}]", values.join(",")),
    }
}
