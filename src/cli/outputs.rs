//! Files and folders that commands begin before the first byte is read, and what is said in them.

use std::path::{Path, PathBuf};

use anyhow::ensure;

use super::charts::ChartArgs;
use crate::report::tables::{Metadata, TableFormat, sibling};
use crate::report::{OutputFolder, Pending};

/// Begins one table, in the format that its name asks for.
pub(super) fn begin_table(path: &Path) -> anyhow::Result<Pending> {
    TableFormat::of(path)?;
    Ok(Pending::create(path)?)
}

/// Begins a table beside that of `--out`.
pub(super) fn begin_beside(out: &Path, table: &str) -> anyhow::Result<Pending> {
    Ok(Pending::create(&sibling(out, table))?)
}

/// Begins the folder of charts beside the tables of `--out`, if charts are wanted.
pub(super) fn begin_charts(out: &Path, charts: ChartArgs) -> anyhow::Result<Option<OutputFolder>> {
    let folder = (!charts.no_charts).then(|| OutputFolder::create(&out.with_extension("charts")));
    Ok(folder.transpose()?)
}

/// Checks that `--out` and another option do not name one file.
pub(super) fn ensure_apart(
    out: Option<&PathBuf>,
    option: &str,
    other: Option<&PathBuf>,
) -> anyhow::Result<()> {
    if let (Some(out), Some(other)) = (out, other) {
        ensure!(
            out != other,
            "{}: --out and {option} cannot share a file",
            out.display()
        );
    }
    Ok(())
}

/// Program, version, options and captures.
pub(super) fn metadata<'a>(
    options: &serde_json::Value,
    captures: impl Iterator<Item = &'a PathBuf>,
) -> Metadata {
    let names: Vec<String> = captures.map(|path| path.display().to_string()).collect();
    let said = [
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("options", options.to_string()),
        ("captures", serde_json::json!(names).to_string()),
    ];
    said.map(|(what, said)| (format!("ccanalyze.{what}"), said))
        .into()
}
