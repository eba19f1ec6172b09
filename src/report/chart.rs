//! Charts of a run, for papers: PNG or SVG, readable at half their size and without colour vision.
//!
//! For each capture: goodput, RTT, bytes in flight and retransmissions over time, in one figure and
//! alone; queueing delay, shares of the link and fairness over time; how RTTs, the gaps between
//! packets and, of many flows, completion times are distributed; and the time-sequence graph of its largest flow. For the run: goodput,
//! overhead and RTT by flow, and fairness by pair. A chart without data is not written: RTT and
//! bytes in flight need ACKs, retransmissions need one, the time-sequence graph needs
//! [`Config::time_sequence`](crate::analyze::Config::time_sequence), gaps need
//! [`Config::gaps`](crate::analyze::Config::gaps), fairness needs two flows at the same time.
//!
//! ```
//! use ccanalyze::Analysis;
//! use ccanalyze::analyze::Config;
//! use ccanalyze::report::chart::{ChartError, ChartOptions, draw_all, for_each_chart};
//!
//! let config = Config { time_sequence: true, ..Config::default() };
//! let analysis = Analysis::of(["testdata/captures/drop-one.pcap"], &config);
//! let options = ChartOptions::default();
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! // All charts of a run: `drop-one-goodput.png`, `drop-one-rtt.png` ...
//! let drawn = draw_all(&analysis, folder, &options)?;
//! assert!(drawn.names.iter().all(|name| folder.join(name).is_file()));
//!
//! // One of them, as SVG.
//! for_each_chart(&analysis, &options, |_capture, stem, canvas| {
//!     if stem.ends_with("-time-sequence") {
//!         canvas.save(folder, "sequence", true)?;
//!     }
//!     Ok::<(), ChartError>(())
//! })?;
//! assert!(folder.join("sequence.svg").is_file());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A chart is first put together as data (`canvas.rs`), which is what the tests look at, and then
//! handed to the drawing library.

mod axis;
mod bands;
mod bars;
mod bitmap;
mod boxes;
mod brush;
mod canvas;
mod choice;
mod column_names;
mod completion;
mod counts;
mod delays;
mod densities;
mod distribution;
mod error;
mod file_name;
mod fill;
mod fit;
mod fness;
mod font;
mod frame;
mod grouped_bars;
mod heat_map;
mod interval;
mod label;
mod legend;
mod letters;
mod looks;
mod names_below;
mod of_study;
mod over_time;
mod palette;
pub mod path;
mod pings;
mod plot;
mod raster;
mod rows;
mod selection;
mod sharing;
mod spider;
#[cfg(test)]
mod study_tests;
mod style;
#[cfg(test)]
pub(super) mod tests;
mod thin;
mod tiles;
mod time_sequence;
mod vector;
mod vision;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::analyze::{Analysis, FlowNames};
use crate::observe::BIN_NS;

pub use axis::Quantity;
pub use bands::BandLines;
pub use boxes::{BoxPanel, Boxes};
pub use canvas::Canvas;
pub use densities::{FnessPair, FnessScatter};
pub use distribution::{Distribution, Distributions};
pub(crate) use error::attempt;
pub use error::{ChartError, ChartFault};
pub use fill::Fill;
#[cfg(feature = "cli")]
pub(super) use font::{BOLD as BOLD_FONT, REGULAR as FONT};
pub use grouped_bars::{Bar, GroupedBars};
pub use heat_map::{HeatMap, HeatMaps, HeatScale};
pub use interval::{Estimate, Spread};
#[cfg(feature = "cli")]
pub(super) use label::visible;
pub use looks::Looks;
pub use of_study::{CHARTS_MAX, StudyChart, StudyCharts, of_study};
pub use palette::{Colour, LineStyle, Marker, variant};
pub use spider::{SpiderShape, Spiders};
pub use style::{Size, Style, Theme};

use choice::Scene;
use over_time::Four;
use plot::{Bins, Caption, Plot};

/// How charts are drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartOptions {
    /// SVG instead of PNG.
    pub svg: bool,
    /// How large they are, and what they are drawn on.
    pub style: Style,
    /// Length of the bins that the run was analysed with, in ns
    /// ([`CaptureAnalysis::bin_ns`](crate::analyze::CaptureAnalysis::bin_ns)): with any other, axes of time and rates are
    /// wrong.
    pub bin_ns: i64,
    /// Capacity of the shared link in bits per second of goodput, drawn as a dashed line.
    pub capacity_bps: Option<f64>,
    /// What each capture was taken under, for titles (`bbr, 50 Mbit/s, loss 2 %`); by the order of
    /// the captures. May be shorter than these, and entries may be empty.
    pub conditions: Vec<String>,
    /// What flows are called.
    pub names: FlowNames,
    /// Threads that put charts on bitmaps; by default one for each core.
    pub threads: Option<usize>,
}

impl Default for ChartOptions {
    fn default() -> Self {
        Self {
            svg: false,
            style: Style::default(),
            bin_ns: BIN_NS,
            capacity_bps: None,
            conditions: Vec::new(),
            names: FlowNames::default(),
            threads: None,
        }
    }
}

/// What is below this share of the capacity is not seen on an axis that reaches it.
const IDLE: f64 = 0.1;

impl ChartOptions {
    /// The capacity with its name, for a line beside goodputs up to `most`; where it would press these flat, what is
    /// said in its place.
    fn capacity_beside(&self, most: f64) -> (Option<(f64, String)>, String) {
        let Some(bps) = self.capacity_bps else {
            return (None, String::new());
        };
        let name = format!("capacity, {}", Quantity::GOODPUT.format(bps));
        if most < IDLE * bps {
            (None, format!("{name}, far beyond the axis"))
        } else {
            (Some((bps, name)), String::new())
        }
    }
}

/// What was drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// Names of the files, in a fixed order.
    pub names: Vec<PathBuf>,
    /// Letters that PNGs show a question mark for, since the font lacks them; an SVG has them.
    pub lacking: BTreeSet<char>,
    /// Charts that could not be drawn, and so have no file.
    pub undrawn: Vec<ChartError>,
}

impl Drawn {
    fn add(&mut self, other: Self) {
        self.names.extend(other.names);
        self.lacking.extend(other.lacking);
        self.undrawn.extend(other.undrawn);
    }
}

/// Draws all charts of a run into `folder`, which exists.
///
/// # Errors
///
/// The first chart that cannot be written; one that cannot be drawn keeps no other from it.
pub fn draw_all(
    analysis: &Analysis,
    folder: &Path,
    options: &ChartOptions,
) -> Result<Drawn, ChartError> {
    /// Charts that wait to be drawn together: enough for every core, few enough to be held.
    const BATCH: usize = 64;
    let artists = Artists::new(options.threads);
    let save = |(stem, canvas): &(String, Canvas)| save(canvas, folder, stem, options.svg);
    let mut drawn = Drawn::default();
    let mut waiting = Vec::new();
    let composed = attempt(|| {
        for_each_chart(analysis, options, |_, stem, canvas| {
            waiting.push((stem.to_string(), canvas));
            if waiting.len() == BATCH {
                drawn.add(artists.each(&waiting, save)?);
                waiting.clear();
            }
            Ok(())
        })
    });
    let lost = match composed {
        Ok(composed) => composed.map(|()| None)?,
        Err(said) => Some(said),
    };
    drawn.add(artists.each(&waiting, save)?);
    // Which one it was, and those behind it, nobody knows.
    drawn.undrawn.extend(lost.map(|said| ChartError {
        path: folder.to_path_buf(),
        fault: ChartFault::Drawing(said),
    }));
    Ok(drawn)
}

/// Writes charts of a study into `folder`, which exists.
///
/// # Errors
///
/// The first chart that cannot be written; one that cannot be drawn keeps no other from it.
pub fn save_study(
    charts: &[StudyChart],
    folder: &Path,
    svg: bool,
    threads: Option<usize>,
) -> Result<Drawn, ChartError> {
    let save = |chart: &StudyChart| save(&chart.canvas, folder, &chart.stem, svg);
    Artists::new(threads).each(charts, save)
}

/// Writes one chart, or says why it cannot be drawn.
fn save(canvas: &Canvas, folder: &Path, stem: &str, svg: bool) -> Result<Drawn, ChartError> {
    let mut drawn = Drawn::default();
    match canvas.save(folder, stem, svg) {
        Ok(name) => drawn.names.push(name),
        Err(
            error @ ChartError {
                fault: ChartFault::Drawing(_),
                ..
            },
        ) => drawn.undrawn.push(error),
        Err(error) => return Err(error),
    }
    if !svg {
        drawn.lacking = canvas.lacking();
    }
    Ok(drawn)
}

/// What the file of a chart says of itself, so that a later run knows what it may put another in the place of:
/// that it is a chart, and what it was called.
pub(super) fn mark(stem: &str) -> String {
    use std::fmt::Write as _;

    let mut mark = String::from("ccanalyze chart ");
    for letter in stem.chars() {
        match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => mark.push(letter),
            // A string takes whatever is written.
            _ => drop(write!(mark, "%{:x}", u32::from(letter))),
        }
    }
    mark.push(';');
    mark
}

/// Threads that draw charts side by side.
struct Artists(Option<rayon::ThreadPool>);

impl Artists {
    /// So many; by default one for each core.
    fn new(threads: Option<usize>) -> Self {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0));
        // No threads to be had: the slow way is still a way.
        Self(pool.build().ok())
    }

    /// What `save` makes of each chart, in their order.
    fn each<T: Sync>(
        &self,
        charts: &[T],
        save: impl Fn(&T) -> Result<Drawn, ChartError> + Send + Sync,
    ) -> Result<Drawn, ChartError> {
        let each: Result<Vec<Drawn>, ChartError> = match &self.0 {
            Some(pool) => pool.install(|| charts.par_iter().map(save).collect()),
            None => charts.iter().map(save).collect(),
        };
        let mut drawn = Drawn::default();
        each?.into_iter().for_each(|one| drawn.add(one));
        Ok(drawn)
    }
}

/// Calls `each` with every chart of a run, in a fixed order: the place of its capture, or none
/// where it shows several; the beginning of its file name; and the chart.
///
/// # Errors
///
/// Those of `each`.
pub fn for_each_chart<E>(
    analysis: &Analysis,
    options: &ChartOptions,
    mut each: impl FnMut(Option<usize>, &str, Canvas) -> Result<(), E>,
) -> Result<(), E> {
    let scenes = Scene::of(analysis, options);
    for scene in &scenes {
        let alone = |plot: Option<Plot>| {
            Some(plot?.figure(&Caption::of(scene), &Bins::of(scene, options.bin_ns)?))
        };
        let four = Four::of(scene, options);
        for (what, canvas) in [
            ("over-time", over_time::together(&four, scene, options)),
            ("goodput", alone(four.goodput)),
            ("rtt", alone(four.rtt)),
            ("in-flight", alone(four.in_flight)),
            ("retransmissions", alone(four.retransmissions)),
            ("queue-delay", alone(over_time::queue_delay(scene, options))),
            ("pings", pings::draw(scene, options)),
            ("time-sequence", time_sequence::draw(scene)),
            ("rtt-distribution", delays::rtt(scene)),
            ("gaps", delays::gaps(scene)),
            ("completion", completion::draw(scene, options)),
            ("share", sharing::stacked_area(scene, options)),
            ("fairness", sharing::fairness(scene, options)),
        ] {
            if let Some(canvas) = canvas {
                each(Some(scene.place), &format!("{}-{what}", scene.stem), canvas)?;
            }
        }
    }
    for (stem, canvas) in [
        ("flows-goodput", bars::goodput(&scenes, options)),
        ("flows-overhead", bars::overhead(&scenes, options.style)),
        ("flows-rtt", bars::rtt(&scenes, options.style)),
        ("pairs-fness", fness::draw(&scenes, options.style)),
    ] {
        if let Some(canvas) = canvas {
            each(None, stem, canvas)?;
        }
    }
    Ok(())
}
