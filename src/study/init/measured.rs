//! Sections for what was measured already: tables and archives that are there.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use super::guess;
use super::meanings::{self, Guess};
use super::{counted, files_of, quoted, shown};
use crate::study::import::{MeasuredColumn, MeasuredFormat, MeasuredTable, MeasuredValues};
use crate::study::labels::{REPETITIONS, RESERVED};
use crate::study::metrics::Metric;
use crate::study::template::is_name;
use crate::study::units::{Dimension, Unit};

/// Kinds of names that are looked into; further ones are left out. Of each, tables that are looked
/// into, for not all of a kind need to have the same columns.
const KINDS_MAX: usize = 64;
const TABLES_MAX: usize = 256;

/// Bytes of a table that is looked into, as it is on the disk.
const TABLE_BYTES_MAX: u64 = 16 << 20;

/// Values of a column that numbers conditions, not results.
const VALUES_MAX: usize = 32;

/// Series of flent that are the goodput of all streams, best first; one stream has no sum.
const FLENT_GOODPUT: [&[&str]; 3] = [
    &["TCP totals"],
    &["TCP upload sum", "TCP upload"],
    &["TCP download sum", "TCP download"],
];

/// A section for tables whose metrics are known by their names.
pub(super) struct Section {
    /// A template of its files.
    pub(super) template: String,
    /// Lines of the manifest, up to those that say which files it is about.
    pub(super) head: String,
    /// Those behind.
    pub(super) rest: String,
    /// The labels that it gives.
    pub(super) labels: Vec<Guess>,
}

/// Sections for the tables of a folder, of which one of each kind of name is looked into.
pub(super) fn sections(folder: &Path, tables: &[String]) -> Vec<Section> {
    let shapes = guess::shapes(tables);
    let alone = tables.iter().filter(|name| {
        let is_plain = !name.contains(['{', '}', '*', '?']);
        is_plain && !shapes.iter().any(|shape| shape.fits(name))
    });
    let mut kinds: Vec<Kind<'_>> = Vec::new();
    for shape in &shapes {
        kinds.push(Kind {
            files: files_of(shape),
            template: shape.texts().next().unwrap_or_default().to_owned(),
            names: tables.iter().filter(|name| shape.fits(name)).collect(),
            labels: shape.labels.clone(),
        });
    }
    kinds.extend(alone.map(|name| Kind {
        files: format!("files = {}\n", quoted(name)),
        template: name.clone(),
        names: vec![name],
        labels: Vec::new(),
    }));
    let kinds = kinds.into_iter().take(KINDS_MAX);
    kinds.filter_map(|kind| section(folder, kind)).collect()
}

/// Tables with names of one kind.
struct Kind<'n> {
    /// What names them, in TOML.
    files: String,
    /// The first of these.
    template: String,
    names: Vec<&'n String>,
    /// What their names say.
    labels: Vec<Guess>,
}

/// A table that no section could be made of, in words: its name, and its columns if it has any.
pub(super) fn described(folder: &Path, name: &str) -> String {
    const SHOWN: usize = 6;
    let table = read(&folder.join(name));
    let columns = table.iter().flat_map(|table| &table.columns);
    let columns: Vec<String> = columns.map(|column| column.name.clone()).collect();
    if columns.is_empty() {
        return name.to_owned();
    }
    let mut text = format!(
        "{name} (columns: {}",
        columns[..columns.len().min(SHOWN)].join(", ")
    );
    if columns.len() > SHOWN {
        let _ = write!(text, " and {} more", columns.len() - SHOWN);
    }
    text + ")"
}

fn read(path: &Path) -> Option<MeasuredTable> {
    let bytes = std::fs::metadata(path).ok()?.len();
    // What is no table after all is nothing to draft from.
    (bytes <= TABLE_BYTES_MAX)
        .then(|| MeasuredTable::read(path).ok())
        .flatten()
}

/// None where no metric is known by its name in all tables.
fn section(folder: &Path, kind: Kind<'_>) -> Option<Section> {
    let mut tables = kind.names.iter().take(TABLES_MAX);
    let table = &tables.find_map(|name| read(&folder.join(name)))?;
    let is_flent = table.format == MeasuredFormat::Flent;
    let time = table.columns.iter().find(|column| is_time(column));
    let time = time.filter(|_| !is_flent);
    let points = is_flent || time.is_some();
    let of = |table: &MeasuredTable| {
        if is_flent {
            flent_metrics(table)
        } else {
            column_metrics(table, points)
        }
    };
    let others = tables.filter_map(|name| Some(of(&read(&folder.join(name))?)));
    let metrics = others.fold(of(table), |so_far, other| in_common(so_far, &other));
    if metrics.is_empty() {
        return None;
    }
    let of_columns = if points {
        Vec::new()
    } else {
        labels(table, &metrics, &kind.labels)
    };
    let head = section_head(&kind, &of_columns);
    let rest = section_rest(time, &of_columns, &metrics);
    let labels = of_columns.into_iter().map(|(guess, _)| guess);
    let labels = kind.labels.into_iter().chain(labels).collect();
    Some(Section {
        template: kind.template,
        head,
        rest,
        labels,
    })
}

fn section_head(kind: &Kind<'_>, of_columns: &[(Guess, &str)]) -> String {
    let mut text = String::from("\n[[measured]]\n");
    let _ = writeln!(text, "# {}", counted(kind.names.len()));
    for guess in kind
        .labels
        .iter()
        .chain(of_columns.iter().map(|(guess, _)| guess))
    {
        let _ = writeln!(text, "# {}: {}", guess.name, shown(&guess.values));
    }
    text.push_str(&kind.files);
    text
}

fn section_rest(
    time: Option<&MeasuredColumn>,
    of_columns: &[(Guess, &str)],
    metrics: &[MetricOf],
) -> String {
    let mut text = String::new();
    if let Some(time) = time {
        let (column, unit) = (quoted(&time.name), unit_of_time(&time.name));
        let _ = writeln!(text, "rows = \"points\"");
        let _ = writeln!(text, "time = {{ column = {column}, unit = \"{unit}\" }}");
    }
    if !of_columns.is_empty() {
        let columns = of_columns.iter();
        let columns: Vec<String> = columns
            .map(|(guess, column)| format!("{} = {}", guess.name, quoted(column)))
            .collect();
        let _ = writeln!(text, "columns = {{ {} }}", columns.join(", "));
    }
    let _ = writeln!(text, "[measured.metrics]");
    for (metric, columns) in metrics {
        let quoted: Vec<String> = columns.iter().map(|column| quoted(column)).collect();
        let _ = match quoted.as_slice() {
            [one] => writeln!(text, "{metric} = {one}"),
            // The first that a table has.
            several => writeln!(text, "{metric} = [{}]", several.join(", ")),
        };
    }
    let _ = writeln!(
        text,
        "[measured.conditions]\n# capacity = \"50Mbit\"\n# base_rtt = \"20ms\""
    );
    text
}

/// A metric, and the columns of which the first that is there is it.
type MetricOf = (String, Vec<String>);

/// Metrics that tables have so far and another has too: with a column that is there in each.
fn in_common(so_far: Vec<MetricOf>, other: &[MetricOf]) -> Vec<MetricOf> {
    let found = |metric: &str| other.iter().find(|(known, _)| known == metric);
    so_far
        .into_iter()
        .filter_map(|(metric, mut columns)| {
            let (_, more) = found(&metric)?;
            for column in more {
                if !columns.contains(column) {
                    columns.push(column.clone());
                }
            }
            Some((metric, columns))
        })
        .collect()
}

fn flent_metrics(table: &MeasuredTable) -> Vec<MetricOf> {
    let there = |name: &str| table.columns.iter().any(|column| column.name == name);
    let mut series = FLENT_GOODPUT.into_iter();
    let mut metrics = Vec::new();
    if let Some(names) = series.find(|names| names.iter().any(|name| there(name))) {
        let names = names.iter().map(|&name| name.to_owned());
        metrics.push(("goodput_bps".to_owned(), names.collect()));
    }
    let mut columns = table.columns.iter().map(|column| column.name.clone());
    let ping = columns.find(|name| name.starts_with("Ping (ms)"));
    metrics.extend(ping.map(|name| ("ping_ns".to_owned(), vec![name])));
    metrics
}

/// Columns of numbers whose names say what they are, each metric once.
fn column_metrics(table: &MeasuredTable, points: bool) -> Vec<MetricOf> {
    let mut metrics: Vec<MetricOf> = Vec::new();
    for column in &table.columns {
        let is_number = matches!(column.values, MeasuredValues::Numbers(_));
        let metric = metric_of(&column.name, points).filter(|_| is_number);
        let metric = metric.filter(|metric| metrics.iter().all(|(known, _)| known != metric));
        metrics.extend(metric.map(|metric| (metric, vec![column.name.clone()])));
    }
    metrics
}

/// Labels that columns seem to give, with the column; not of what is measured, nor what the names
/// of the files say already.
fn labels<'t>(
    table: &'t MeasuredTable,
    metrics: &[MetricOf],
    of_name: &[Guess],
) -> Vec<(Guess, &'t str)> {
    let mut labels: Vec<(Guess, &str)> = Vec::new();
    let is_measured = |name: &String| metrics.iter().any(|(_, columns)| columns.contains(name));
    let columns = table.columns.iter();
    for column in columns.filter(|column| !is_measured(&column.name)) {
        let taken = |name: &str| {
            let here = labels.iter().map(|(guess, _)| guess);
            here.chain(of_name).any(|guess| guess.name == name)
        };
        let guess = label(column).filter(|guess| !taken(&guess.name));
        labels.extend(guess.map(|guess| (guess, column.name.as_str())));
    }
    labels
}

/// The metric that the name of a column says, with its unit.
fn metric_of(column: &str, points: bool) -> Option<String> {
    let lower = column.to_lowercase();
    let words: Vec<&str> = lower.split('_').collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
    let ends = |known: &[&str]| words.last().is_some_and(|word| known.contains(word));
    let is_rate = ends(&["bps", "kbps", "mbps", "gbps"]);
    let is_time = ends(&["ns", "us", "ms", "s"]);
    let found = if has(&["goodput"]) && is_rate {
        "goodput_bps"
    } else if has(&["throughput", "bitrate"]) && is_rate {
        "throughput_bps"
    } else if points && has(&["ping"]) && is_time {
        "ping_ns"
    } else if points && has(&["rtt", "srtt"]) && is_time {
        "rtt_ns"
    } else if has(&["rtt", "ping"]) && has(&["mean", "avg", "average"]) && is_time {
        if has(&["rtt"]) {
            "rtt_ns_mean"
        } else {
            "ping_ns_mean"
        }
    } else if !points
        && has(&["retransmits", "retransmissions", "retransmitted"])
        && words.len() == 1
    {
        "retransmitted_packets"
    } else if !points && Metric::named(&lower).is_some() {
        lower.as_str()
    } else {
        return None;
    };
    Some(found.to_owned())
}

/// Whether the rows are points in time by this column: numbers that never go back.
fn is_time(column: &MeasuredColumn) -> bool {
    let lower = column.name.to_lowercase();
    let stem = ["_ns", "_us", "_ms", "_s"]
        .iter()
        .find_map(|unit| lower.strip_suffix(unit))
        .unwrap_or(&lower);
    let MeasuredValues::Numbers(values) = &column.values else {
        return false;
    };
    let known = ["t", "time", "timestamp", "elapsed", "seconds"].contains(&stem);
    let present: Vec<f64> = values.iter().copied().flatten().collect();
    known && present.len() > 2 && present.is_sorted() && present.first() < present.last()
}

fn unit_of_time(column: &str) -> &'static str {
    let unit = Unit::guessed(&column.to_lowercase());
    let unit = unit.filter(|unit| unit.dimension == Dimension::Time);
    unit.map_or("s", Unit::name)
}

/// The label that a column seems to give: texts, or few different numbers.
fn label(column: &MeasuredColumn) -> Option<Guess> {
    let lower = column.name.to_lowercase();
    let is_repetition = REPETITIONS.contains(&lower.as_str());
    let is_text = matches!(column.values, MeasuredValues::Texts(_));
    let values: Vec<_> = column.texts().flatten().collect();
    let rows = values.len();
    let distinct: BTreeSet<String> = values.into_iter().map(Cow::into_owned).collect();
    let few = distinct.len() <= VALUES_MAX && (is_text || distinct.len() * 2 <= rows);
    let unit = Unit::guessed(&lower).filter(|_| !is_text);
    let bare = unit.and_then(|unit| lower.strip_suffix(unit.suffix)?.strip_suffix('_'));
    let name = match bare.unwrap_or(&lower) {
        "algo" | "algorithm" | "cc" | "variant" | "congestion_control" => "cca".to_owned(),
        _ if is_repetition => "run".to_owned(),
        name => name.replace(|c: char| !c.is_ascii_alphanumeric(), "_"),
    };
    let usable = is_name(&name) && !RESERVED.contains(&name.as_str());
    ((few || is_repetition) && !distinct.is_empty() && usable).then(|| Guess {
        name,
        values: meanings::distinct(distinct.into_iter().collect()),
        unit: unit.map(Unit::name),
    })
}

#[cfg(test)]
mod tests {
    use super::super::draft;
    use crate::study::StudyPlan;

    fn folder_of(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    /// The runs of a draft, which has to be a manifest without mistakes.
    fn drafted(files: &[(&str, &str)]) -> (String, StudyPlan) {
        let folder = folder_of(files);
        let text = draft(folder.path(), None).unwrap();
        let path = folder.path().join("study.toml");
        std::fs::write(&path, &text).unwrap();
        let plan = StudyPlan::read(&path).unwrap_or_else(|error| panic!("{error}\n{text}"));
        (text, plan)
    }

    fn labels(plan: &StudyPlan) -> Vec<&str> {
        let labels = plan.labels.iter();
        labels.map(|label| label.name.as_str()).collect()
    }

    #[test]
    fn a_table_becomes_runs_by_the_names_of_its_columns() {
        let rows = "algo,rtt_ms,rep,goodput_mbps,retransmits,note\n\
            bbr,10,1,9.5,0,a\nbbr,10,2,9.4,1,b\ncubic,10,1,9.1,7,c\ncubic,10,2,9.0,9,d\n";
        let (text, plan) = drafted(&[("results.csv", rows)]);
        assert_eq!(plan.runs.len(), 4, "{text}");
        for label in ["cca", "rtt", "run"] {
            assert!(labels(&plan).contains(&label), "{label} in {text}");
        }
        for line in [
            "goodput_bps = \"goodput_mbps\"",
            "retransmitted_packets = \"retransmits\"",
            "[labels.rtt]\nunit = \"ms\"",
            "# cca: bbr, cubic",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }

    #[test]
    fn tables_over_time_and_archives_are_a_run_each() {
        let points = "time_s,throughput_mbps,rtt_ms\n0,1,20\n0.2,2,21\n0.4,3,22\n";
        let archive = r#"{"version": 4, "x_values": [0.0, 0.2], "metadata": {"SERIES_META":
            {"TCP upload": {"UNITS": "Mbits/s"}, "Ping (ms) ICMP": {"UNITS": "ms"}}},
            "results": {"TCP upload": [9.0, 9.5], "Ping (ms) ICMP": [20.0, 21.0]}}"#;
        let (text, plan) = drafted(&[
            ("cubic_50m_1.csv", points),
            ("bbr_50m_1.csv", points),
            ("cubic_50m_1.flent", archive),
            ("bbr_50m_1.flent", archive),
        ]);
        assert_eq!(plan.runs.len(), 4, "{text}");
        assert!(labels(&plan).contains(&"cca"), "{text}");
        for line in [
            "files = \"{cca}_50m_1.csv\"",
            "time = { column = \"time_s\", unit = \"s\" }",
            "throughput_bps = \"throughput_mbps\"",
            "rtt_ns = \"rtt_ms\"",
            "files = \"{cca}_50m_1.flent\"",
            "goodput_bps = [\"TCP upload sum\", \"TCP upload\"]",
            "ping_ns = \"Ping (ms) ICMP\"",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }

    #[test]
    fn names_of_flent_say_when_and_with_what_title() {
        let archive = r#"{"version": 4, "x_values": [0.0, 0.2], "metadata": {"SERIES_META":
            {"TCP upload": {"UNITS": "Mbits/s"}}}, "results": {"TCP upload": [9.0, 9.5]}}"#;
        let names = [
            "tcp_1up-2025-04-04T204924.834026.bbr-v3.flent",
            "tcp_1up-2025-04-04T205055.399974.cubic.flent",
            "tcp_8up-2025-04-04T204221.104252.bbr-v3.flent",
            "cc-rtt_fair-2025-04-05T115338.760129.bbr3-reno.flent",
            "cc-rtt_fair-2025-04-05T115917.251367.cubic-reno.flent",
        ];
        let (text, plan) = drafted(&names.map(|name| (name, archive)));
        assert_eq!(plan.runs.len(), names.len(), "{text}");
        for line in [
            "files = \"tcp_{label1}-????-??-??T??????.??????.{cca}.flent\"",
            "# cca: bbr-v3, cubic",
            "files = \"cc-rtt_fair-????-??-??T??????.??????.{title}.flent\"",
            "# title: bbr3-reno, cubic-reno",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }

    #[test]
    fn files_of_one_kind_need_not_have_the_same_columns() {
        let archive = |ping: &str| {
            format!(
                r#"{{"version": 4, "x_values": [0.0, 0.2], "metadata": {{"SERIES_META":
                {{"TCP upload": {{"UNITS": "Mbits/s"}}, "{ping}": {{"UNITS": "ms"}}}}}},
                "results": {{"TCP upload": [9.0, 9.5], "{ping}": [20.0, 21.0]}}}}"#
            )
        };
        let (a, b) = (
            archive("Ping (ms) ICMP1 10.0.0.1"),
            archive("Ping (ms) ICMP"),
        );
        let (text, plan) = drafted(&[("cubic_1.flent", &a), ("cubic_2.flent", &b)]);
        assert_eq!(plan.runs.len(), 2, "{text}");
        let line = "ping_ns = [\"Ping (ms) ICMP1 10.0.0.1\", \"Ping (ms) ICMP\"]";
        assert!(text.contains(line), "{text}");
        // What only some have is left out: it would be a mistake of the others.
        let none = archive("else");
        let (text, _) = drafted(&[("cubic_1.flent", &a), ("cubic_2.flent", &none)]);
        assert!(
            !text.contains("ping_ns") && text.contains("goodput_bps"),
            "{text}"
        );
    }

    #[test]
    fn beside_captures_tables_are_comments() {
        let rows = "algo,goodput_mbps\nbbr,9.5\ncubic,9.1\n";
        let (text, plan) = drafted(&[("a_1.pcap", ""), ("a_2.pcap", ""), ("results.csv", rows)]);
        assert_eq!(plan.runs.len(), 2, "{text}");
        assert!(text.contains("# goodput_bps = \"goodput_mbps\""), "{text}");
    }

    #[test]
    fn a_table_whose_columns_say_nothing_is_named() {
        let folder = folder_of(&[("odd.csv", "a,b\n1,2\n")]);
        let error = draft(folder.path(), None).unwrap_err().to_string();
        assert!(
            error.contains("such as odd.csv (columns: a, b), no column has"),
            "{error}"
        );
    }
}
