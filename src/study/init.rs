//! A manifest drafted from the files that are there.

mod captured;
mod guess;
mod kinds;
mod meanings;
mod measured;
mod names;
mod points;
mod sets;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::compare::COMPARED_MAX;
use super::files;
use super::labels::is_repetition;
use super::template::Template;
use super::units::{Dimension, parse};
use super::words::Thousands;
use crate::capture::display_name;
use guess::Shape;
use meanings::Guess;
use measured::Section;
use points::Points;
use sets::{Kind, set_of};

/// Files listed one by one where no template fits them.
const LISTED_MAX: usize = 1000;

/// Algorithms whose names are drafted, too.
const NAMED_MAX: usize = 12;

/// Why no manifest could be drafted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DraftError {
    /// The folder cannot be read.
    #[error(
        "{}: cannot be read ({source}): name the folder that the captures are in",
        display_name(path)
    )]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is nothing to draft from.
    #[error(
        "{}: there are no captures in it (files that end in .pcap, .pcapng or .cap, compressed or not){}{}{}",
        display_name(path),
        part.as_ref().map_or_else(String::new, |part| format!("; {part} is a part of one, as `tcpdump -C` leaves them: a run is one file, which `mergecap -w` makes of its parts")),
        if links.is_empty() { String::new() } else { format!("; links to folders are not followed: {}", shown(links)) },
        table.as_ref().map_or_else(String::new, |table| format!("; of what was measured already, such as {table}, no column has a name that says its metric: write a [[measured]] section with `files`, and below [measured.metrics] which column is what, such as goodput_bps = {{ column = \"NAME\", unit = \"Mbit\" }}"))
    )]
    NoCaptures {
        /// The folder.
        path: PathBuf,
        /// A file that is a part of a capture.
        part: Option<String>,
        /// A table that is there, in words.
        table: Option<String>,
        /// Links to folders that are in it.
        links: Vec<String>,
    },
    /// The template is none.
    #[error("--template '{template}': {message}")]
    Template {
        /// The template.
        template: String,
        /// What is wrong with it.
        message: String,
    },
    /// The template fits no file.
    #[error("--template '{template}' fits none of the {files} captures, such as {example}")]
    NothingFits {
        /// The template.
        template: String,
        /// How many captures there are.
        files: usize,
        /// One of them.
        example: String,
    },
}

/// Drafts a manifest for the captures below a folder; `template` takes their names apart, else it
/// is guessed from what separates the parts of the names. Tables and archives that were measured
/// already become runs where there are no captures; beside captures, of which they may be results,
/// their sections are comments.
///
/// # Errors
/// [`DraftError`]: no captures there, or a template that fits none.
pub fn draft(folder: &Path, template: Option<&str>) -> Result<String, DraftError> {
    let below = files::below(folder).map_err(|source| DraftError::Folder {
        path: folder.to_path_buf(),
        source,
    })?;
    let links = below.links;
    let (names, others): (Vec<String>, Vec<String>) = below
        .files
        .into_iter()
        .map(|(name, _)| name)
        .partition(|name| files::is_capture(name));
    let is_part = |name: &String| files::further_part(name).is_some();
    let (parts, others): (Vec<String>, Vec<String>) = others.into_iter().partition(is_part);
    let tables: Vec<String> = others
        .into_iter()
        .filter(|name| files::is_table(name))
        .collect();
    let measured = if template.is_some() {
        Vec::new()
    } else {
        measured::sections(folder, &tables)
    };
    let mut text = match (names.first(), template) {
        (None, _) if measured.is_empty() => {
            return Err(DraftError::NoCaptures {
                path: folder.to_path_buf(),
                part: parts.into_iter().next(),
                table: (tables.first()).map(|table| measured::described(folder, table)),
                links,
            });
        }
        (None, _) => written(folder, &[], &[], &measured),
        (Some(_), None) => of_names(folder, &names, &measured),
        (Some(example), Some(template)) => of_template(folder, &names, template, example)?,
    };
    further_parts(&mut text, &parts);
    if !links.is_empty() {
        let links = shown(&links);
        let _ = writeln!(text, "\n# Left out: what links to folders lead to: {links}");
    }
    Ok(text)
}

/// Says of files that they are no captures of their own, and what makes a run of them.
fn further_parts(text: &mut String, parts: &[String]) {
    let first = parts.first().and_then(|part| files::further_part(part));
    let Some((first, _)) = first else { return };
    let why = "in which captures go on that began in others, as `tcpdump -C` begins a new file when one is full";
    left_out(text, why, parts);
    let first = first.rsplit('/').next().unwrap_or(&first);
    let plain = files::without_compression(first);
    let _ = writeln!(
        text,
        "# A run is one file: `mergecap -w whole/{plain} {plain}*` makes one of such parts, for `ccanalyze study init whole`."
    );
}

/// A manifest for the captures that a template fits, which says of the others that they are left out.
fn of_template(
    folder: &Path,
    names: &[String],
    template: &str,
    example: &str,
) -> Result<String, DraftError> {
    let parsed = Template::parse(template).map_err(|fault| DraftError::Template {
        template: template.to_owned(),
        message: fault.message,
    })?;
    let points = Points::of(names);
    let shape = guess::shape_by(&parsed, names, &points);
    if shape.files == 0 {
        return Err(DraftError::NothingFits {
            template: template.to_owned(),
            files: names.len(),
            example: example.to_owned(),
        });
    }
    let own = names.iter().filter(|name| shape.fits(name));
    let own: BTreeSet<&str> = own.map(String::as_str).collect();
    let has_points = shape.around.is_some();
    let is_said = |name: &str| own.contains(name) || has_points && points.is_beside(name, &own);
    let others = names.iter().filter(|name| !is_said(name)).cloned();
    let others: Vec<String> = others.collect();
    let mut text = written(folder, &[shape], &[], &[]);
    left_out(&mut text, "which the template does not fit", &others);
    Ok(text)
}

/// Says which files are in no section.
fn left_out(text: &mut String, why: &str, names: &[String]) {
    if !names.is_empty() {
        let files = counted(names.len());
        let _ = writeln!(text, "\n# Left out: {files} {why}: {}", shown(names));
    }
}

/// A manifest for captures of these names, taken apart by what separates their parts.
fn of_names(folder: &Path, names: &[String], measured: &[Section]) -> String {
    let (points, shapes) = shapes_at_points(names);
    let fits = |name: &String| shapes.iter().any(|shape| shape.fits(name));
    let (mut rest, mut untold) = (Vec::new(), Vec::new());
    for name in names
        .iter()
        .filter(|name| !fits(name) && !points.is_part(name))
    {
        match guess::spelled(name, names) {
            Some(spelled) => rest.push(spelled),
            None => untold.push(name.clone()),
        }
    }
    let mut text = written(folder, &shapes, &rest, measured);
    let why = "with letters that a manifest cannot tell from others";
    left_out(&mut text, why, &untold);
    text
}

/// The shapes of captures, and which of these belong to one run: those that a section can name.
fn shapes_at_points(names: &[String]) -> (Points<'_>, Vec<Shape>) {
    let mut points = Points::of(names);
    loop {
        let shapes = guess::shapes_at(names, &points);
        let is_said = |name: &str| {
            shapes
                .iter()
                .any(|shape| shape.around.is_some() && shape.fits(name))
        };
        let unsaid: Vec<&str> = points.mains().filter(|name| !is_said(name)).collect();
        if unsaid.is_empty() {
            return (points, shapes);
        }
        points.forget(&unsaid);
    }
}

/// `rest` are files without a shape.
fn written(folder: &Path, shapes: &[Shape], rest: &[String], measured: &[Section]) -> String {
    let has_captures = !shapes.is_empty() || !rest.is_empty();
    let mut labels = labels_of(shapes, if has_captures { &[] } else { measured });
    let numbering = numbering(shapes, &labels);
    let kinds: Vec<Kind<'_>> = if has_captures {
        let kinds = shapes.iter();
        kinds
            .map(|shape| Kind::of_shape(shape, &numbering))
            .collect()
    } else {
        measured.iter().map(Kind::of_section).collect()
    };
    let set = set_of(&kinds, &labels);
    if let Some((guess, _)) = &set {
        labels.insert(&guess.name, guess.clone());
    }
    let mut text = head(folder, &labels, &numbering);
    for (name, guess) in &labels {
        label(&mut text, name, guess);
    }
    let set_line = |place: usize| match &set {
        Some((guess, values)) => format!(
            "labels = {{ {} = {} }}  # what tells these runs from others with the same labels\n",
            guess.name,
            quoted(&values[place])
        ),
        None => String::new(),
    };
    for (place, shape) in shapes.iter().enumerate() {
        runs(&mut text, shape, &set_line(place));
    }
    listed(&mut text, rest);
    if has_captures && !measured.is_empty() {
        text.push_str("\n# Measured already: runs of their own, or results of these captures?\n");
    }
    for (place, section) in measured.iter().enumerate() {
        if has_captures {
            let whole = format!("{}{}", section.head, section.rest);
            let lines = whole.trim_start().lines();
            text.extend(lines.map(|line| format!("# {line}\n")));
        } else {
            text.push_str(&section.head);
            text.push_str(&set_line(place));
            text.push_str(&section.rest);
        }
    }
    text
}

/// The labels of captures and tables, by name.
fn labels_of<'a>(shapes: &'a [Shape], measured: &'a [Section]) -> BTreeMap<&'a str, Guess> {
    let mut labels: BTreeMap<&str, Guess> = BTreeMap::new();
    let of_captures = shapes.iter().flat_map(|shape| &shape.labels);
    let of_tables = measured.iter().flat_map(|section| &section.labels);
    for guess in of_captures.chain(of_tables) {
        let known = labels.entry(&guess.name).or_insert_with(|| guess.clone());
        // What is written in two ways in two places is a text.
        known.take_in(guess);
    }
    labels
}

/// What is to be said of a label, if anything is.
fn label(text: &mut String, name: &str, guess: &Guess) {
    if let Some(unit) = guess.unit {
        let _ = writeln!(text, "\n[labels.{name}]\nunit = {}", quoted(unit));
    } else if let Some(unit) = guess.usual_unit() {
        let _ = writeln!(
            text,
            "\n[labels.{name}]\nunit = {}  # a guess: the names have numbers alone",
            quoted(unit)
        );
    } else if guess.values == ["deep", "shallow"] {
        let _ = writeln!(text, "\n[labels.{name}]\norder = [\"shallow\", \"deep\"]");
    } else if name == "cca" && guess.values.len() <= NAMED_MAX {
        // Of words that differ by case alone, and of those that are capitals already, there is nothing to show.
        let capitals: BTreeSet<String> = guess
            .values
            .iter()
            .map(|value| value.to_uppercase())
            .collect();
        if capitals.len() < guess.values.len()
            || guess.values.iter().any(|value| capitals.contains(value))
        {
            return;
        }
        let named = guess.values.iter();
        let named =
            named.map(|value| format!("{} = {}", quoted(value), quoted(&value.to_uppercase())));
        let _ = writeln!(
            text,
            "\n# What tables and charts call them:\n# [labels.{name}]\n# names = {{ {} }}",
            named.collect::<Vec<_>>().join(", ")
        );
    }
}

/// The section of the captures of one shape; `set_line` says what tells them from others.
fn runs(text: &mut String, shape: &Shape, set_line: &str) {
    let _ = writeln!(text, "\n[[runs]]");
    captured::runs(text, shape);
    for guess in &shape.labels {
        let _ = writeln!(text, "# {}: {}", guess.name, shown(&guess.values));
    }
    text.push_str(&files_of(shape));
    captured::points(text, shape);
    text.push_str(set_line);
    conditions(text, shape);
    flows(text, shape);
}

/// Labels that make groups: those that do not only tell repetitions apart.
fn of_groups<'a>(
    names: impl Iterator<Item = &'a str>,
    numbering: &[&str],
) -> impl Iterator<Item = &'a str> {
    names.filter(|name| !is_repetition(name) && !numbering.contains(name))
}

/// Labels that are another one for each of many files: by them nothing could be compared.
fn numbering<'a>(shapes: &[Shape], labels: &BTreeMap<&'a str, Guess>) -> Vec<&'a str> {
    let is_of_one_file = |name: &str| {
        shapes.iter().all(|shape| {
            let mut labels = shape.labels.iter().filter(|guess| guess.name == name);
            labels.all(|guess| guess.values.len() == shape.files)
        })
    };
    let many = labels.iter().filter(|&(name, guess)| {
        !shapes.is_empty() && guess.values.len() > COMPARED_MAX && is_of_one_file(name)
    });
    many.map(|(&name, _)| name)
        .filter(|name| !is_repetition(name))
        .collect()
}

/// What the study is called, where its files are, and which labels make its groups.
fn head(folder: &Path, labels: &BTreeMap<&str, Guess>, numbering: &[&str]) -> String {
    let mut text = String::from(
        "# A study, drafted from the names of its files. Read it, rename the labels, say what is known\n# of the conditions, then run: ccanalyze study study.toml --out study/\n\n[study]\n",
    );
    // Nobody knows yet where the manifest will be, and a relative path counts from there.
    let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let whole = whole.canonicalize().unwrap_or(whole);
    let name = whole
        .file_name()
        .map_or_else(|| "study".into(), |name| name.to_string_lossy());
    let _ = writeln!(text, "name = {}", quoted(&name));
    let _ = writeln!(
        text,
        "# Where the files are; a relative path counts from this manifest."
    );
    let _ = writeln!(text, "folder = {}", quoted(&whole.to_string_lossy()));
    let grouped = of_groups(labels.keys().copied(), numbering);
    let grouped: Vec<String> = grouped.map(quoted).collect();
    let _ = writeln!(text, "group_by = [{}]", grouped.join(", "));
    if !numbering.is_empty() {
        let repeated: Vec<String> = numbering.iter().copied().map(quoted).collect();
        let _ = writeln!(
            text,
            "# Another one for each file: in group_by, each file would be a group of its own.\nrepetition = [{}]",
            repeated.join(", ")
        );
    }
    if ["first", "second"].map(|name| labels.contains_key(name)) == [true; 2] {
        let ordered = ["first", "second"].map(quoted);
        let mut others: Vec<String> = grouped;
        others.retain(|name| !ordered.contains(name) && *name != quoted("cca"));
        others.push(quoted("cca"));
        let _ = writeln!(
            text,
            "# where flows get their algorithms by [[runs.flows]], see below:\n# group_by = [{}]",
            others.join(", ")
        );
    }
    if let Some(guess) = labels.get("cca")
        && let Some(value) = guess.values.first()
    {
        let _ = writeln!(text, "# baseline = {{ cca = {} }}", quoted(value));
    }
    let _ = writeln!(text, "# report = \"pairs\"");
    text
}

/// Files that no template fits, one by one.
fn listed(text: &mut String, rest: &[String]) {
    if rest.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\n[[runs]]\n# No template was found for the names of these; sections with `labels` of their own can say what they are."
    );
    let _ = writeln!(text, "files = [");
    for name in rest.iter().take(LISTED_MAX) {
        let _ = writeln!(text, "  {},", quoted(name));
    }
    let _ = writeln!(text, "]");
    if rest.len() > LISTED_MAX {
        let _ = writeln!(text, "# and {} more", rest.len() - LISTED_MAX);
    }
}

/// What is known of the conditions, and what could be said.
fn conditions(text: &mut String, shape: &Shape) {
    let unit_of = |name: &str| {
        let guess = shape.labels.iter().find(|guess| guess.name == name)?;
        guess.unit
    };
    let _ = writeln!(text, "[runs.conditions]");
    if unit_of("rate").is_some() {
        let _ = writeln!(text, "capacity = \"{{rate}}\"");
    } else {
        let said = rate_in_all(shape);
        let said =
            said.map(|mbps| format!("# capacity = \"{mbps}Mbit\"  # as the names seem to say"));
        let line = said.unwrap_or_else(|| "# capacity = \"50Mbit\"".to_owned());
        let _ = writeln!(text, "{line}");
    }
    let mut rtts = shape.labels.iter().filter(|guess| guess.name == "rtt");
    match (rtts.next(), unit_of("rtt")) {
        // A delay of 0 that was added to that of the path is not the path's.
        (Some(rtts), _) if rtts.values.iter().any(|value| is_zero(value)) => {
            let _ = writeln!(text, "# base_rtt = \"{{rtt}}\"");
        }
        (Some(_), Some(_)) => {
            let _ = writeln!(text, "base_rtt = \"{{rtt}}\"");
        }
        (Some(rtts), None) if rtts.values.iter().all(|value| value.parse::<f64>().is_ok()) => {
            let _ = writeln!(text, "base_rtt = \"{{rtt}}ms\"  # a guess");
        }
        // Words, such as `rtt18`, stand for times that only who chose them can tell.
        (Some(rtts), None) => {
            let _ = writeln!(text, "# base_rtt = {}", by_value(rtts, "20ms"));
        }
        (None, _) => {
            let _ = writeln!(text, "# base_rtt = \"20ms\"");
        }
    }
    let buffers = shape.labels.iter().find(|guess| guess.name == "buffer");
    let buffer = match buffers {
        Some(buffers) if buffers.unit.is_some() => quoted("{buffer}"),
        Some(buffers) => by_value(buffers, "100 packets"),
        None => quoted("100 packets"),
    };
    let _ = writeln!(text, "# buffer = {buffer}\n# qdisc = \"droptail\"");
}

/// A condition that has a value of its own for each of a label's, to be filled in.
fn by_value(label: &Guess, example: &str) -> String {
    let each = label.values.iter();
    let each = each.map(|value| format!("{} = {}", quoted(value), quoted(example)));
    let each: Vec<String> = each.collect();
    format!("{{ by = {}, {} }}", quoted(&label.name), each.join(", "))
}

/// The one rate that all names of a shape have in them, in Mbit/s: what is no number alone.
fn rate_in_all(shape: &Shape) -> Option<f64> {
    let rate = |word: &str| {
        let has_unit = word.ends_with(|letter: char| letter.is_alphabetic());
        let bps = parse(word, Dimension::Rate).ok();
        bps.filter(|bps| has_unit && (1e3..1e12).contains(bps))
    };
    let mut templates = shape.texts().map(|template| {
        let mut rates = sets::words(template).into_iter().filter_map(rate);
        let first = rates.next()?;
        rates.next().is_none().then_some(first / 1e6)
    });
    let first = templates.next()??;
    templates.all(|other| other == Some(first)).then_some(first)
}

/// The files of a shape in TOML: its templates, and what these fit besides.
fn files_of(shape: &Shape) -> String {
    let one_or_several = |texts: &mut dyn Iterator<Item = String>| match &*texts.collect::<Vec<_>>()
    {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    let mut text = format!(
        "files = {}\n",
        one_or_several(&mut shape.texts().map(quoted))
    );
    if !shape.except.is_empty() {
        let except = shape.except.iter();
        let mut except = except.map(|text| quoted(text));
        let _ = writeln!(
            text,
            "except = {}  # else the template fits them",
            one_or_several(&mut except)
        );
    }
    text
}

/// Whether a number, with a unit or without, is 0.
fn is_zero(value: &str) -> bool {
    let number = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    number.parse().is_ok_and(|number: f64| number == 0.0)
}

/// How flows get labels of their own, where names say two algorithms: in which order they began,
/// no name says.
fn flows(text: &mut String, shape: &Shape) {
    let has = |name: &str| shape.labels.iter().any(|guess| guess.name == name);
    if has("first") && has("second") {
        text.push_str(
            "# If the flows of a run began in this order, each gets its own algorithm by this (group_by\n# above goes with it):\n# [[runs.flows]]\n# label = \"cca\"\n# by = \"start\"\n# values = [\"{first}\", \"{second}\"]\n",
        );
    }
}

fn counted(files: usize) -> String {
    Thousands::Comma.counted(files as u64, "file")
}

/// The first values, and how many more there are.
fn shown(values: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = values
        .iter()
        .take(SHOWN)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ")
        .replace(char::is_control, " ");
    if values.len() > SHOWN {
        let _ = write!(text, ", and {} more", values.len() - SHOWN);
    }
    text
}

/// A TOML string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(c);
            }
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", c as u32);
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests;
