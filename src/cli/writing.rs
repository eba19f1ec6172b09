//! Results on their way to the places that were begun for them: of every command in one order.

use std::path::{Path, PathBuf};

use super::outputs::warn_of_letters;
use crate::capture::display_name;
use crate::report::chart::{ChartError, ChartFault, Drawn, attempt};
use crate::report::html::Page;
use crate::report::tables::{Metadata, Workers, fill, fill_packed};
use crate::report::{OutputFolder, Pending, ReportError, terminal};
use crate::table::{Blocks, PackedTable};

/// What a command writes.
///
/// All of it is complete before the first of it is put in its place: a disk that is full leaves the results that were
/// there. A chart that cannot be drawn keeps nothing else from its place.
pub(super) struct Writing<'a> {
    metadata: &'a Metadata,
    workers: Workers,
    /// Whether nothing is said of what is written.
    quiet: bool,
    tables: Vec<Pending>,
    charts: Option<OutputFolder>,
    page: Option<Pending>,
    /// Why charts could not be drawn, a line each.
    undrawn: Vec<String>,
    /// Files that the folder of charts holds.
    drawn: usize,
}

/// What was written.
pub(super) struct Written {
    /// Tables, the folder of charts, the page.
    pub(super) files: Vec<PathBuf>,
    /// How many files that are, with those in the folder.
    pub(super) count: usize,
    /// Whether all charts are there that there was something to draw in.
    pub(super) is_drawn: bool,
}

impl<'a> Writing<'a> {
    pub(super) fn new(metadata: &'a Metadata, workers: Workers, quiet: bool) -> Self {
        Self {
            metadata,
            workers,
            quiet,
            tables: Vec::new(),
            charts: None,
            page: None,
            undrawn: Vec::new(),
            drawn: 0,
        }
    }

    pub(super) fn workers(&self) -> &Workers {
        &self.workers
    }

    /// Writes a table, which will come to its place behind those before.
    pub(super) fn table(
        &mut self,
        table: Blocks<'_>,
        mut pending: Pending,
    ) -> Result<(), ReportError> {
        fill(table, &mut pending, self.metadata, &self.workers)?;
        self.tables.push(pending);
        Ok(())
    }

    /// Writes a table whose rows are kept small.
    pub(super) fn packed_table(
        &mut self,
        table: &impl PackedTable,
        mut pending: Pending,
    ) -> Result<(), ReportError> {
        fill_packed(table, &mut pending, self.metadata, &self.workers)?;
        self.tables.push(pending);
        Ok(())
    }

    /// Takes tables that are complete.
    pub(super) fn complete_tables(&mut self, tables: Vec<Pending>) {
        self.tables.extend(tables);
    }

    /// What is composed for charts; nothing where that cannot be done.
    pub(super) fn composed<T: Default>(&mut self, compose: impl FnOnce() -> T) -> T {
        attempt(compose).unwrap_or_else(|said| {
            self.undrawn.push(format!("charts cannot be drawn: {said}"));
            T::default()
        })
    }

    /// Lets charts be drawn into their folder, and says which letters they show question marks for.
    pub(super) fn charts(
        &mut self,
        folder: OutputFolder,
        draw: impl FnOnce(&Path) -> Result<Drawn, ChartError>,
    ) -> Result<(), ReportError> {
        let drawn = attempt(|| draw(folder.filling())).unwrap_or_else(|said| {
            let mut drawn = Drawn::default();
            drawn.undrawn.push(ChartError {
                path: folder.filling().to_path_buf(),
                fault: ChartFault::Drawing(said),
            });
            Ok(drawn)
        });
        let drawn = drawn.map_err(|error| folder.failed(error))?;
        warn_of_letters(&drawn.lacking, self.quiet);
        let undrawn = drawn.undrawn.into_iter();
        let undrawn = undrawn.map(|error| folder.failed(error).to_string());
        self.undrawn.extend(undrawn);
        self.drawn = drawn.names.len();
        self.charts = Some(folder);
        Ok(())
    }

    /// Writes a page, as far as it can be put together.
    pub(super) fn page(
        &mut self,
        page: impl FnOnce() -> Page,
        mut pending: Pending,
    ) -> Result<(), ReportError> {
        let name = display_name(pending.path());
        let page = match attempt(page) {
            Ok(page) => page,
            Err(said) => {
                let undrawn = format!("{name}: the page cannot be put together: {said}");
                self.undrawn.push(undrawn);
                return Ok(());
            }
        };
        let undrawn = page.undrawn().into_iter();
        self.undrawn
            .extend(undrawn.map(|said| format!("{name}: {said}")));
        page.write(&mut pending)
            .map_err(|source| ReportError::Write {
                path: pending.path().to_path_buf(),
                source,
            })?;
        pending.complete()?;
        self.page = Some(pending);
        Ok(())
    }

    /// Puts all of it in its place, and says what could not be drawn. The page comes last: when it is there, what it is
    /// about is.
    pub(super) fn put_in_place(self) -> Result<Written, ReportError> {
        let tables = self.tables.into_iter().map(Pending::commit);
        let mut written = tables.collect::<Result<Vec<_>, _>>()?;
        let count = written.len() + self.drawn + usize::from(self.page.is_some());
        if let Some(folder) = self.charts {
            written.extend(folder.commit()?);
        }
        if let Some(page) = self.page {
            written.push(page.commit()?);
        }
        say_undrawn(&self.undrawn);
        Ok(Written {
            files: written,
            count,
            is_drawn: self.undrawn.is_empty(),
        })
    }
}

/// Says what could not be drawn, and what to do about it.
fn say_undrawn(undrawn: &[String]) {
    /// The others will be for the same reason.
    const SHOWN: usize = 4;
    if undrawn.is_empty() {
        return;
    }
    for said in undrawn.iter().take(SHOWN) {
        terminal::say(&format!("warning: {said}"));
    }
    let more = undrawn.len().saturating_sub(SHOWN);
    if more > 0 {
        terminal::say(&format!("warning: {more} more could not be drawn"));
    }
    terminal::say(&format!(
        "warning: tables are not touched by that, and all else was written; it is a mistake of ccanalyze: what was called, and these lines, are to be told at {}",
        env!("CARGO_PKG_REPOSITORY")
    ));
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::report::chart::Theme;

    fn page(title: &str) -> Page {
        Page {
            title: title.to_owned(),
            subtitle: String::new(),
            theme: Theme::Light,
            sections: Vec::new(),
        }
    }

    /// Writes a table, charts and a page; what was written, and the names in the folder.
    fn write(
        draw: impl FnOnce(&Path) -> Result<Drawn, ChartError>,
        compose: impl FnOnce() -> Page,
    ) -> (Result<Written, ReportError>, Vec<String>) {
        let around = tempfile::tempdir().unwrap();
        let at = |name: &str| around.path().join(name);
        fs::write(at("r.csv"), "old").unwrap();
        fs::write(at("r.html"), "old").unwrap();
        let metadata = Metadata::new();
        let mut writing = Writing::new(&metadata, Workers::new(Some(1)), true);
        let mut table = Pending::create(&at("r.csv")).unwrap();
        std::io::Write::write_all(&mut table, b"new").unwrap();
        writing.complete_tables(vec![table]);
        let folder = OutputFolder::create(&at("r.charts")).unwrap();
        let charts = writing.charts(folder, draw);
        let page = Pending::create(&at("r.html")).unwrap();
        let written = charts
            .and_then(|()| writing.page(compose, page))
            .and_then(|()| writing.put_in_place());
        let content = |name: &str| fs::read_to_string(at(name)).unwrap();
        let mut names: Vec<String> = fs::read_dir(around.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.push(content("r.csv"));
        names.push(
            if content("r.html") == "old" {
                "old"
            } else {
                "new"
            }
            .to_owned(),
        );
        names.sort();
        (written, names)
    }

    fn one_chart(folder: &Path) -> Drawn {
        fs::write(folder.join("one.png"), "").unwrap();
        Drawn::default()
    }

    fn error(folder: &Path, fault: ChartFault) -> ChartError {
        let path = folder.join("other.png");
        ChartError { path, fault }
    }

    #[test]
    fn what_cannot_be_drawn_keeps_nothing_else_from_its_place() {
        let all = ["new", "new", "r.charts", "r.csv", "r.html"];
        let (written, names) = write(|folder| Ok(one_chart(folder)), || page("r"));
        assert!(written.unwrap().is_drawn);
        assert_eq!(names, all);
        let one_of_two = |folder: &Path| {
            let mut drawn = one_chart(folder);
            let undrawn = error(folder, ChartFault::Drawing("no room".to_owned()));
            drawn.undrawn.push(undrawn);
            Ok(drawn)
        };
        let (written, names) = write(one_of_two, || page("r"));
        assert!(!written.unwrap().is_drawn);
        assert_eq!(names, all);
        let panics = |folder: &Path| panic!("no room in {}", one_chart(folder).names.len());
        let (written, names) = write(panics, || page("r"));
        assert!(!written.unwrap().is_drawn);
        assert_eq!(names, all);
        let none = |_: &Path| Ok(Drawn::default());
        let (written, names) = write(none, || panic!("no page"));
        let written = written.unwrap();
        assert!(!written.is_drawn);
        assert_eq!(written.files.len(), 1);
        assert_eq!(names, ["new", "old", "r.csv", "r.html"]);
    }

    #[test]
    fn a_disk_that_is_full_leaves_what_was_there() {
        let full = |folder: &Path| {
            one_chart(folder);
            Err(error(folder, ChartFault::Writing("no space".to_owned())))
        };
        let (written, names) = write(full, || page("r"));
        let said = written.err().unwrap().to_string();
        assert!(
            said.ends_with("other.png: the chart cannot be written: no space"),
            "{said}"
        );
        assert!(said.contains("r.charts"), "{said}");
        assert_eq!(names, ["old", "old", "r.csv", "r.html"]);
    }
}
