//! Tables of reports, made column by column.

use super::{Cells, ReportColumn, ReportTable};
use crate::study::labels::LabelValue;
use crate::study::results::StudyResults;

/// Rows of a report being made, with columns taken from them.
pub(super) struct Builder<R> {
    rows: Vec<R>,
    columns: Vec<ReportColumn>,
}

impl<R> Builder<R> {
    pub(super) fn new(rows: Vec<R>) -> Self {
        Self {
            rows,
            columns: Vec::new(),
        }
    }

    /// Whether this is so of any row.
    pub(super) fn any(&self, is: impl Fn(&R) -> bool) -> bool {
        self.rows.iter().any(is)
    }

    /// Adds a column. One that a label is called like already says whose it is.
    fn add(mut self, name: impl Into<String>, cells: Cells) -> Self {
        let mut name = name.into();
        while self.columns.iter().any(|column| column.name == name) {
            name = format!("report_{name}");
        }
        self.columns.push(ReportColumn {
            name,
            cells,
            is_share: false,
            above: None,
        });
        self
    }

    pub(super) fn text(self, name: impl Into<String>, of: impl Fn(&R) -> Option<String>) -> Self {
        let cells = self.rows.iter().map(of).collect();
        self.add(name, Cells::Text(cells))
    }

    pub(super) fn real(self, name: impl Into<String>, of: impl Fn(&R) -> Option<f64>) -> Self {
        let cells = self.rows.iter().map(of).collect();
        self.add(name, Cells::Real(cells))
    }

    /// Ratios that are read in percent.
    pub(super) fn share(self, name: impl Into<String>, of: impl Fn(&R) -> Option<f64>) -> Self {
        let mut all = self.real(name, of);
        if let Some(column) = all.columns.last_mut() {
            column.is_share = true;
        }
        all
    }

    /// The last column below what it has in common with its neighbours, which its name begins with: `bbr` of `bbr_rtt_ms`.
    pub(super) fn below(mut self, above: &str) -> Self {
        if let Some(column) = self.columns.last_mut() {
            column.above = Some(above.to_owned());
        }
        self
    }

    pub(super) fn count(self, name: impl Into<String>, of: impl Fn(&R) -> Option<u64>) -> Self {
        let cells = self.rows.iter().map(of).collect();
        self.add(name, Cells::Count(cells))
    }

    /// A column for each of these labels that any row has, from the key of a row.
    pub(super) fn labels(
        mut self,
        results: &StudyResults,
        places: &[usize],
        key_of: impl Fn(&R) -> &Vec<Option<LabelValue>>,
    ) -> Self {
        for (index, &place) in places.iter().enumerate() {
            if self.rows.iter().any(|row| key_of(row)[index].is_some()) {
                let name = results.labels[place].column();
                self = self.label(name, |row| key_of(row)[index].as_ref());
            }
        }
        self
    }

    /// A column of the values of a label: of numbers, where all are.
    pub(super) fn label(
        self,
        name: impl Into<String>,
        of: impl Fn(&R) -> Option<&LabelValue>,
    ) -> Self {
        let values = || self.rows.iter().map(&of);
        let mut known = values().flatten().peekable();
        let cells = if known.peek().is_some() && known.all(|value| value.number().is_some()) {
            Cells::Real(values().map(|value| value?.number()).collect())
        } else {
            let text = |value: &LabelValue| value.text().to_owned();
            Cells::Text(values().map(|value| value.map(text)).collect())
        };
        self.add(name, cells)
    }

    pub(super) fn table(self, name: &str, title: &str) -> ReportTable {
        ReportTable {
            name: name.to_owned(),
            title: title.to_owned(),
            columns: self.columns,
        }
    }
}
