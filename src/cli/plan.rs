//! Arguments checked and outputs opened, before the first byte is read.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};

use super::args::{Args, IoChoice};
use crate::analyze::{Capacity, CaptureInput, Config, FnessWindow, PairConfig};
use crate::capture::Io;
use crate::decode::{DecodeOptions, Filter, TunnelLayer};
use crate::report::chart::Style;
use crate::report::tables::{Metadata, TableFormat, sibling};
use crate::report::{OutputFolder, Pending};

/// What will be done.
pub struct Plan {
    /// The captures.
    pub(super) inputs: Vec<CaptureInput>,
    /// How they are analysed.
    pub(super) config: Config,
    /// Print nothing but errors.
    pub(super) quiet: bool,
    /// What goes into the files about how they were made.
    pub(super) metadata: Metadata,
    /// Where the results go.
    pub(super) outputs: Outputs,
}

/// Files and folders begun.
#[derive(Default)]
pub(super) struct Outputs {
    pub(super) results: Option<ResultFiles>,
    pub(super) segments: Option<Pending>,
    pub(super) charts: Option<OutputFolder>,
    pub(super) report: Option<Pending>,
    /// Whether the report has charts.
    pub(super) report_charts: bool,
    pub(super) svg: bool,
    pub(super) style: Style,
}

/// The tables of `--out`.
pub(super) struct ResultFiles {
    pub(super) flows: Pending,
    pub(super) pairs: Pending,
    pub(super) pair_series: Pending,
    pub(super) series: Pending,
    pub(super) captures: Pending,
    pub(super) pings: Pending,
}

impl Plan {
    /// Checks the arguments against each other and begins the outputs.
    ///
    /// # Errors
    /// Names the first argument that cannot be honoured.
    pub fn from_args(args: &Args) -> anyhow::Result<Self> {
        let stdin = args
            .captures
            .iter()
            .filter(|path| *path == Path::new("-"))
            .count();
        ensure!(stdin <= 1, "-: standard input can be read only once");
        ensure!(args.bin > 0, "--bin: must be longer than nothing");
        let filter = args
            .filter
            .as_deref()
            .map(|expression| {
                Filter::parse(expression).with_context(|| format!("--filter '{expression}'"))
            })
            .transpose()?;
        let metadata = metadata(args);
        let charts = (args.out.is_some() || args.report.is_some()) && !args.no_charts;
        let mut config = Config {
            decode: DecodeOptions {
                layer: if args.outer {
                    TunnelLayer::Outermost
                } else {
                    TunnelLayer::Innermost
                },
            },
            filter,
            bin_ns: args.bin,
            capacity: args.capacity.map(|bps| Capacity { bps }),
            pairs: PairConfig {
                top: args.top,
                window: args.fness_window,
            },
            segments: args.segments.is_some(),
            time_sequence: charts,
            gaps: charts,
            threads: args.threads.map(usize::from),
            io: match args.io {
                IoChoice::Auto => Io::Auto,
                IoChoice::Mmap => Io::Mapped,
                IoChoice::Read => Io::Read,
            },
            ..Config::default()
        };
        if args.out.is_none() && args.report.is_none() {
            // Nobody will see the pairs.
            config.pairs.top = config.pairs.top.min(1);
        }
        let outputs = open_outputs(args)?;
        let inputs = if args.concat {
            vec![CaptureInput::concatenated(&args.captures)]
        } else {
            args.captures
                .iter()
                .map(|path| CaptureInput::file(path))
                .collect()
        };
        Ok(Self {
            inputs,
            config,
            quiet: args.quiet,
            metadata,
            outputs,
        })
    }
}

fn open_outputs(args: &Args) -> anyhow::Result<Outputs> {
    let mut outputs = Outputs {
        svg: args.svg,
        style: Style {
            size: args.chart_size,
            theme: args.chart_theme,
        },
        ..Outputs::default()
    };
    if let (Some(out), Some(segments)) = (&args.out, &args.segments) {
        ensure!(
            out != segments,
            "{}: --out and --segments cannot share a file",
            out.display()
        );
    }
    if let Some(out) = &args.out {
        TableFormat::of(out)?;
        let begin = |table: &str| Pending::create(&sibling(out, table));
        outputs.results = Some(ResultFiles {
            flows: Pending::create(out)?,
            pairs: begin("pairs")?,
            pair_series: begin("pair_series")?,
            series: begin("series")?,
            captures: begin("captures")?,
            pings: begin("pings")?,
        });
        if !args.no_charts {
            outputs.charts = Some(OutputFolder::create(&out.with_extension("charts"))?);
        }
    }
    if let Some(report) = &args.report {
        let html = report.extension().is_some_and(|ending| {
            ending.eq_ignore_ascii_case("html") || ending.eq_ignore_ascii_case("htm")
        });
        ensure!(
            html,
            "{}: a report is an HTML page: let its name end in .html",
            report.display()
        );
        outputs.report = Some(Pending::create(report)?);
        outputs.report_charts = !args.no_charts;
    }
    if let Some(segments) = &args.segments {
        TableFormat::of(segments)?;
        outputs.segments = Some(Pending::create(segments)?);
    }
    Ok(outputs)
}

/// Program, version, options and captures. Threads are left out: they change nothing.
fn metadata(args: &Args) -> Metadata {
    let names = |paths: &[PathBuf]| {
        paths
            .iter()
            .map(|path| path.display().to_string())
            .collect::<Vec<_>>()
    };
    let options = serde_json::json!({
        "concat": args.concat,
        "filter": args.filter,
        "outer": args.outer,
        "capacity_bps": args.capacity,
        "bin_ns": args.bin,
        "fness_window_ns": args.fness_window.map(|window| [window.offset_ns, window.length_ns]),
        "top": args.top,
    });
    vec![
        (
            "ccanalyze.version".to_owned(),
            env!("CARGO_PKG_VERSION").to_owned(),
        ),
        ("ccanalyze.options".to_owned(), options.to_string()),
        (
            "ccanalyze.captures".to_owned(),
            serde_json::json!(names(&args.captures)).to_string(),
        ),
    ]
}

/// A number and the rest: the unit.
fn split_unit(text: &str) -> Result<(f64, &str), String> {
    let text = text.trim();
    let digits = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number
        .parse()
        .map_err(|_| format!("'{text}' does not begin with a number"))?;
    Ok((number, unit.trim()))
}

/// A rate such as `50Mbit`, `1.5 Gbit/s` or `10M`, in bits per second.
pub(super) fn parse_rate(text: &str) -> Result<f64, String> {
    let (number, unit) = split_unit(text)?;
    let unit = unit
        .strip_suffix("/s")
        .or_else(|| unit.strip_suffix("ps"))
        .unwrap_or(unit);
    let prefix = unit
        .strip_suffix("bit")
        .or_else(|| unit.strip_suffix('b'))
        .unwrap_or(unit);
    let factor = match prefix {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" | "m" => 1e6,
        "G" | "g" => 1e9,
        "T" | "t" => 1e12,
        _ => {
            return Err(format!(
                "'{text}' has no unit of a rate: write it as 50Mbit, 1.5Gbit/s or 800kbit"
            ));
        }
    };
    let bps = number * factor;
    if bps > 0.0 {
        Ok(bps)
    } else {
        Err(format!("'{text}' is no rate: it must be above 0"))
    }
}

/// A time such as `100ms`, `0.2s` or `1 min`, in nanoseconds.
pub(super) fn parse_time(text: &str) -> Result<i64, String> {
    let (number, unit) = split_unit(text)?;
    let factor = match unit {
        "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "min" => 60e9,
        "h" => 3600e9,
        _ => {
            return Err(format!(
                "'{text}' has no unit of time: write it as 100ms, 0.2s or 5min"
            ));
        }
    };
    let ns = number * factor;
    // 2^53 ns are 104 days; a float counts no further exactly.
    if ns < 9e15 {
        Ok(ns.round() as i64)
    } else {
        Err(format!("'{text}' is longer than 100 days"))
    }
}

/// A window such as `5s+35s`.
pub(super) fn parse_window(text: &str) -> Result<FnessWindow, String> {
    let Some((offset, length)) = text.split_once('+') else {
        return Err(format!(
            "'{text}' is no window: write offset and length as 5s+35s"
        ));
    };
    let window = FnessWindow {
        offset_ns: parse_time(offset)?,
        length_ns: parse_time(length)?,
    };
    if window.length_ns > 0 {
        Ok(window)
    } else {
        Err(format!("'{text}': the length must be above 0"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_come_in_the_spellings_that_people_use() {
        for (text, bps) in [
            ("50Mbit", 50e6),
            ("1.5 Gbit/s", 1.5e9),
            ("10M", 10e6),
            ("800kbps", 8e5),
            ("9600", 9600.0),
        ] {
            assert_eq!(parse_rate(text), Ok(bps), "{text}");
        }
        for text in ["", "fast", "50 apples", "0Mbit", "50MB"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_need_a_unit() {
        for (text, ns) in [
            ("100ms", 100_000_000),
            ("0.2s", 200_000_000),
            ("1min", 60_000_000_000),
        ] {
            assert_eq!(parse_time(text), Ok(ns), "{text}");
        }
        for text in ["100", "ms", "-1s", "1e9s", "400000min"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_window_is_offset_and_length() {
        let window = FnessWindow {
            offset_ns: 5_000_000_000,
            length_ns: 35_000_000_000,
        };
        assert_eq!(parse_window("5s+35s"), Ok(window));
        assert!(parse_window("5s").is_err());
        assert!(parse_window("5s+0s").is_err());
    }
}
