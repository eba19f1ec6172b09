//! Files and folders that commands begin before the first byte is read, and what is said in them.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use anyhow::{bail, ensure};

use super::charts::ChartArgs;
use crate::capture::display_name;
use crate::report::tables::{Metadata, prepare, sibling};
use crate::report::{OutputFolder, Pending, terminal};

/// Begins one table, in the format that its name asks for.
pub(super) fn begin_table(path: &Path) -> anyhow::Result<Pending> {
    prepare(path)?;
    Ok(Pending::create(path)?)
}

/// Begins a table beside that of `--out`.
pub(super) fn begin_beside(out: &Path, table: &str) -> anyhow::Result<Pending> {
    Ok(Pending::create(&sibling(out, table))?)
}

/// Begins to write a page.
pub(super) fn begin_page(path: &Path) -> anyhow::Result<Pending> {
    let html = path.extension().is_some_and(|ending| {
        ending.eq_ignore_ascii_case("html") || ending.eq_ignore_ascii_case("htm")
    });
    ensure!(
        html,
        "{}: a report is an HTML page: let its name end in .html",
        display_name(path)
    );
    Ok(Pending::create(path)?)
}

/// Begins a folder of charts, if charts are wanted; otherwise says that those of an earlier run stay,
/// where there are some.
pub(super) fn begin_charts(
    folder: &Path,
    charts: ChartArgs,
    quiet: bool,
) -> anyhow::Result<Option<OutputFolder>> {
    if !charts.no_charts {
        return Ok(Some(OutputFolder::create(folder)?));
    }
    if !quiet && folder.is_dir() {
        terminal::say(&format!(
            "warning: {}: those of an earlier run stay, for --no-charts puts none in their place",
            display_name(folder)
        ));
    }
    Ok(None)
}

/// Checks that nothing else is to be written into a folder of charts, which is replaced as a whole.
pub(super) fn ensure_outside<'a>(
    folder: &Path,
    charts: ChartArgs,
    mut others: impl Iterator<Item = &'a PathBuf>,
) -> anyhow::Result<()> {
    let there = |path: &Path| path.canonicalize().unwrap_or_else(|_| whole(path));
    let folder = there(folder);
    let within = |path: &&PathBuf| {
        let beside = path.parent().map(there);
        beside.is_some_and(|beside| beside.starts_with(&folder))
    };
    if let (false, Some(path)) = (charts.no_charts, others.find(within)) {
        bail!(
            "{}: is in a folder of charts, which is replaced as a whole: write it elsewhere",
            display_name(path)
        );
    }
    Ok(())
}

/// Says once which letters charts show question marks for.
pub(super) fn warn_of_letters(lacking: &BTreeSet<char>, quiet: bool) {
    const SHOWN: usize = 12;
    if quiet || lacking.is_empty() {
        return;
    }
    let shown: String = lacking.iter().take(SHOWN).collect();
    let more = if lacking.len() > SHOWN { "…" } else { "" };
    terminal::say(&format!(
        "warning: charts show a question mark for each letter that the font of PNGs lacks: {shown}{more}; --svg draws them with the fonts of whoever looks at them"
    ));
}

/// The folder of charts beside the tables of `--out`.
pub(super) fn charts_beside(out: &Path) -> PathBuf {
    out.with_extension("charts")
}

/// Checks that `--out`, with the tables that it writes beside its own, and another option do not
/// name one file.
pub(super) fn ensure_apart(
    out: Option<&PathBuf>,
    tables: &[&str],
    option: &str,
    other: Option<&PathBuf>,
) -> anyhow::Result<()> {
    let (Some(out), Some(other)) = (out, other) else {
        return Ok(());
    };
    ensure!(
        whole(out) != whole(other),
        "{}: --out and {option} cannot share a file",
        display_name(out)
    );
    let mut siblings = tables.iter().map(|table| sibling(out, table));
    ensure!(
        siblings.all(|table| whole(&table) != whole(other)),
        "{}: --out writes a table of this name beside its own: give {option} another name",
        display_name(other)
    );
    Ok(())
}

/// A path however it is written, such as with `./` before or through a link to the folder, and whether it is there or
/// not.
fn whole(path: &Path) -> PathBuf {
    entry(path).unwrap_or_else(|| {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let mut whole = PathBuf::new();
        for part in absolute.components() {
            if part == Component::ParentDir {
                // What is not there yet will be a folder of that name.
                whole = whole.canonicalize().unwrap_or(whole);
                whole.pop();
            } else {
                whole.push(part);
            }
        }
        entry(&whole).unwrap_or(whole)
    })
}

/// Where a file is in a folder that is there: a link in the place of results is replaced, not followed.
fn entry(path: &Path) -> Option<PathBuf> {
    let folder = match path.parent()? {
        beside if beside.as_os_str().is_empty() => Path::new("."),
        folder => folder,
    };
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}

/// Checks that nothing that is read would be written over.
pub(super) fn ensure_spared<'a>(
    inputs: impl Iterator<Item = &'a Path>,
    mut outputs: impl Iterator<Item = PathBuf>,
) -> anyhow::Result<()> {
    // What is not there is said when it is opened.
    let names = |path: &Path| [entry(path), path.canonicalize().ok()];
    let inputs: BTreeSet<PathBuf> = inputs.flat_map(names).flatten().collect();
    let is_input = |path: &PathBuf| entry(path).is_some_and(|path| inputs.contains(&path));
    if let Some(path) = outputs.find(is_input) {
        bail!(
            "{}: is one of the files that are read, and results would be written over it: give them another name or folder",
            display_name(&path)
        );
    }
    Ok(())
}

/// A table of `--out` and those that are written beside it.
pub(super) fn with_siblings<'a>(
    out: Option<&'a PathBuf>,
    tables: &'a [&str],
) -> impl Iterator<Item = PathBuf> + 'a {
    let siblings = |out: &'a PathBuf| tables.iter().map(move |table| sibling(out, table));
    out.cloned()
        .into_iter()
        .chain(out.into_iter().flat_map(siblings))
}

/// Program, version, options and captures.
pub(super) fn metadata<'a>(
    options: &serde_json::Value,
    captures: impl Iterator<Item = &'a PathBuf>,
) -> Metadata {
    let names: Vec<String> = captures
        .map(|path| display_name(path).to_string())
        .collect();
    let said = [
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("options", options.to_string()),
        ("captures", serde_json::json!(names).to_string()),
    ];
    said.map(|(what, said)| (format!("ccanalyze.{what}"), said))
        .into()
}
