//! Names in lines below boxes, bars and points.

use super::canvas::{Align, Canvas};
use super::fit::wrap;
use super::letters::LABEL;

/// Between two lines.
const LINE: f64 = 28.0;

/// Draws a name in lines below the data.
pub(super) fn draw_name(canvas: &mut Canvas, name: &str, at: (f64, f64), width: f64, lines: usize) {
    for (line, text) in wrap(name, LABEL, width, lines).iter().enumerate() {
        let baseline = at.1 + 32.0 + line as f64 * LINE;
        canvas.text((at.0, baseline), text, LABEL, Align::Centre);
    }
}

/// The height that names below the data take, each in a width of its own.
pub(super) fn below<'n>(names: impl Iterator<Item = &'n str>, width: f64, lines: usize) -> f64 {
    let lines = names
        .map(|name| wrap(name, LABEL, width, lines).len())
        .max();
    20.0 + lines.unwrap_or(0) as f64 * LINE
}
