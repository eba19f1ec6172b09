//! Charts of a run, for papers: PNG or SVG, readable at half their size and without colour vision.
//!
//! For each capture: goodput, RTT and bytes in flight over time, and the time-sequence graph of
//! its largest flow. For the run: goodput, overhead and RTT by flow, and fairness by pair. A chart
//! without data is not written: RTT and bytes in flight need ACKs, the time-sequence graph needs
//! [`Config::time_sequence`](crate::analyze::Config::time_sequence), pairs need two flows at the
//! same time.
//!
//! A chart is first put together as data (`canvas.rs`), which is what the tests look at, and then
//! handed to the drawing library.

mod axis;
mod bars;
mod canvas;
mod choice;
mod fness;
mod font;
mod frame;
mod label;
mod over_time;
mod palette;
#[cfg(test)]
mod tests;
mod time_sequence;

use std::path::{Path, PathBuf};

use crate::analyze::Analysis;

pub use canvas::ChartError;

use canvas::Canvas;
use choice::Scene;

/// How charts are drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartOptions {
    /// SVG instead of PNG.
    pub svg: bool,
    /// Length of the bins that the run was analysed with, in ns.
    pub bin_ns: i64,
    /// Capacity of the shared link in bits per second of goodput, drawn as a dashed line.
    pub capacity_bps: Option<f64>,
    /// What each capture was taken under, for titles (`bbr, 50 Mbit/s, loss 2 %`); by the order of
    /// the captures. May be shorter than these, and entries may be empty.
    pub conditions: Vec<String>,
}

impl Default for ChartOptions {
    fn default() -> Self {
        Self {
            svg: false,
            bin_ns: 100_000_000,
            capacity_bps: None,
            conditions: Vec::new(),
        }
    }
}

/// Draws all charts of a run into `folder`, which exists, and returns the names of the files
/// written, in a fixed order.
///
/// # Errors
///
/// The first chart that cannot be written.
pub fn draw_all(
    analysis: &Analysis,
    folder: &Path,
    options: &ChartOptions,
) -> Result<Vec<PathBuf>, ChartError> {
    let scenes = Scene::of(analysis, options);
    let mut written = Vec::new();
    let mut save = |stem: String, canvas: Option<Canvas>| -> Result<(), ChartError> {
        if let Some(canvas) = canvas {
            written.push(canvas.save(folder, &stem, options.svg)?);
        }
        Ok(())
    };
    for scene in &scenes {
        save(
            format!("{}-goodput", scene.stem),
            over_time::goodput(scene, options),
        )?;
        save(
            format!("{}-rtt", scene.stem),
            over_time::rtt(scene, options),
        )?;
        save(
            format!("{}-in-flight", scene.stem),
            over_time::in_flight(scene, options),
        )?;
        save(
            format!("{}-time-sequence", scene.stem),
            time_sequence::draw(scene),
        )?;
    }
    save("flows-goodput".to_owned(), bars::goodput(&scenes, options))?;
    save("flows-overhead".to_owned(), bars::overhead(&scenes))?;
    save("flows-rtt".to_owned(), bars::rtt(&scenes))?;
    save("pairs-fness".to_owned(), fness::draw(&scenes))?;
    Ok(written)
}
