//! Results on their way to the places that were begun for them: of every command in one order.

use std::path::{Path, PathBuf};

use super::outputs::warn_of_letters;
use crate::report::chart::{ChartError, Drawn};
use crate::report::html::Page;
use crate::report::tables::{Metadata, Workers, fill, fill_packed};
use crate::report::{OutputFolder, Pending, ReportError};
use crate::table::{Blocks, PackedTable};

/// What a command writes.
///
/// All of it is complete before the first of it is put in its place: a disk that is full leaves the results that were
/// there.
pub(super) struct Writing<'a> {
    metadata: &'a Metadata,
    workers: Workers,
    /// Whether nothing is said of what is written.
    quiet: bool,
    tables: Vec<Pending>,
    charts: Option<OutputFolder>,
    page: Option<Pending>,
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

    /// Lets charts be drawn into their folder, and says which letters they show question marks for.
    pub(super) fn charts(
        &mut self,
        folder: OutputFolder,
        draw: impl FnOnce(&Path) -> Result<Drawn, ChartError>,
    ) -> Result<(), ReportError> {
        let drawn = draw(folder.filling()).map_err(|error| folder.failed(error))?;
        warn_of_letters(&drawn.lacking, self.quiet);
        self.charts = Some(folder);
        Ok(())
    }

    /// Writes a page that could be put together.
    pub(super) fn page(
        &mut self,
        page: Result<Page, String>,
        mut pending: Pending,
    ) -> Result<(), ReportError> {
        let page = page.map_err(|message| ReportError::Format {
            path: pending.path().to_path_buf(),
            message,
        })?;
        page.write(&mut pending)
            .map_err(|source| ReportError::Write {
                path: pending.path().to_path_buf(),
                source,
            })?;
        pending.complete()?;
        self.page = Some(pending);
        Ok(())
    }

    /// Puts all of it in its place; what was put. The page comes last: when it is there, what it is about is.
    pub(super) fn put_in_place(self) -> Result<Vec<PathBuf>, ReportError> {
        let tables = self.tables.into_iter().map(Pending::commit);
        let mut written = tables.collect::<Result<Vec<_>, _>>()?;
        if let Some(folder) = self.charts {
            written.extend(folder.commit()?);
        }
        if let Some(page) = self.page {
            written.push(page.commit()?);
        }
        Ok(written)
    }
}
