//! Draws `docs/gallery/`: each kind of chart once, from captures of a testbed and of a simulator.
//!
//! ```console
//! cargo run --release --example gallery -- CAPTURES docs/gallery
//! ```
//!
//! `CAPTURES` is a folder with `lab/` and `ns3/`, one folder a scenario below each, and `corpus/studies/`. A third
//! argument draws only the charts whose names begin so; `--size` and `--theme` stand before all of them.

#![expect(clippy::print_stdout, reason = "it tells what it drew")]

mod studies;

use std::path::PathBuf;

use ccanalyze::Analysis;
use ccanalyze::analyze::{Capacity, Config, FlowNames};
use ccanalyze::path::{PathAnalysis, PathConfig, Point};
use ccanalyze::report::chart::{Canvas, ChartOptions, Size, Style, Theme, for_each_chart, path};

/// What is drawn, of what, and where to.
struct Gallery {
    captures: PathBuf,
    out: PathBuf,
    only: String,
    style: Style,
}

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut style = Style {
        size: Size::OneColumn,
        theme: Theme::Light,
    };
    let mut places = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().unwrap_or_default();
        match argument.as_str() {
            "--size" => style.size = value().parse()?,
            "--theme" => style.theme = value().parse()?,
            _ => places.push(argument),
        }
    }
    let [captures, out, ..] = places.as_slice() else {
        return Err("usage: gallery [--size SIZE] [--theme THEME] CAPTURES OUT [NAME]".into());
    };
    let gallery = Gallery {
        captures: captures.into(),
        out: out.into(),
        only: places.get(2).cloned().unwrap_or_default(),
        style,
    };
    std::fs::create_dir_all(&gallery.out)?;
    gallery.of_captures()?;
    studies::draw(&gallery)
}

impl Gallery {
    /// Draws a chart if it is wanted.
    fn draw(
        &self,
        name: &str,
        chart: impl FnOnce(Style) -> Result<Option<Canvas>, Failure>,
    ) -> Result<(), Failure> {
        if !self.wants(name) {
            return Ok(());
        }
        let canvas = chart(self.style)?.ok_or_else(|| format!("{name}: nothing to draw"))?;
        canvas.save(&self.out, name, false)?;
        println!("{name}.png");
        Ok(())
    }

    /// Whether a chart is wanted.
    fn wants(&self, name: &str) -> bool {
        name.starts_with(&self.only)
    }

    /// A scenario's capture, analysed.
    fn analyse(&self, capture: &str, config: &Config) -> Result<Analysis, Failure> {
        let path = self.captures.join(capture);
        let analysis = Analysis::of([&path], config);
        match analysis.captures[0].error() {
            Some(error) => Err(format!("{}: {error}", path.display()).into()),
            None => Ok(analysis),
        }
    }

    /// The charts of one capture, each from a capture that shows what it is for.
    fn of_captures(&self) -> Result<(), Failure> {
        let two = "lab/s3-two-cubic-bbr-2bdp/ingress.pcap.zst";
        let six = "lab/s2-six-mixed/ingress.pcap.zst";
        let drops = "lab/s7-drop4/sender.pcap.zst";
        let short = "lab/s7-many-short/client.pcap.zst";
        self.of_capture(
            two,
            10e6,
            "cubic first, then bbr, 10 Mbit/s, 50 ms, buffer 2 BDP",
            &["over-time", "share", "fairness", "queue-delay", "in-flight"],
        )?;
        self.of_capture(
            six,
            50e6,
            "3 cubic + 3 bbr, 50 Mbit/s, 23 ms",
            &[
                "goodput",
                "rtt",
                "retransmissions",
                "rtt-distribution",
                "gaps",
                "flows-goodput",
                "flows-overhead",
                "flows-rtt",
                "pairs-fness",
            ],
        )?;
        self.of_capture(drops, 20e6, "four packets dropped", &["time-sequence"])?;
        let conditions = "downloads of 3, 15 and 60 kB, 20 Mbit/s, RTT 20, 40 and 80 ms, loss 1 %";
        self.of_capture(short, 20e6, conditions, &["completion"])?;
        self.of_path("lab/s2-six-mixed")
    }

    /// The chart of the queue between two captures of a scenario.
    fn of_path(&self, scenario: &str) -> Result<(), Failure> {
        if !self.wants("path") {
            return Ok(());
        }
        let point = |name: &str| {
            let capture = format!("{scenario}/{name}.pcap.zst");
            Point::file(self.captures.join(capture))
        };
        let points = [point("ingress"), point("egress")];
        let analysis = PathAnalysis::of(&points, &PathConfig::default())?;
        path::save_all(
            &path::of_path(&analysis, &FlowNames::default(), self.style),
            &self.out,
            false,
        )?;
        let drawn = self.out.join("hop-1-forward.png");
        std::fs::rename(drawn, self.out.join("path.png"))?;
        println!("path.png");
        Ok(())
    }

    fn of_capture(
        &self,
        capture: &str,
        bps: f64,
        condition: &str,
        wanted: &[&str],
    ) -> Result<(), Failure> {
        if !wanted.iter().any(|name| name.starts_with(&self.only)) {
            return Ok(());
        }
        let config = Config {
            capacity: Some(Capacity { bps }),
            time_sequence: true,
            gaps: true,
            ..Config::default()
        };
        let analysis = self.analyse(capture, &config)?;
        let options = ChartOptions {
            style: self.style,
            capacity_bps: Some(bps),
            conditions: vec![condition.to_owned()],
            ..ChartOptions::default()
        };
        for_each_chart(&analysis, &options, |place, stem, canvas| {
            // Those of a capture begin with its number and name.
            let parts = if place.is_some() { 3 } else { 1 };
            let name = stem.splitn(parts, '-').last().unwrap_or(stem);
            if wanted.contains(&name) {
                self.draw(name, |_| Ok(Some(canvas)))?;
            }
            Ok(())
        })
    }
}
