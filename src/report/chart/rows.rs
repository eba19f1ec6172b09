//! Rows below each other, as bars of flows and of pairs are: how many, and how high.

use super::canvas::Canvas;
use super::style::{Size, Style};

/// Rows in one chart.
const ROWS_MAX: usize = 40;

/// Heights of a row with the space around it, in pixels; of the last one letters take nearly all.
const HEIGHTS: [f64; 6] = [38.0, 34.0, 31.0, 28.0, 26.0, 24.4];

/// Height of a group's name.
pub(super) const GROUP: f64 = 46.0;

/// What rows get.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Room {
    /// So many at most.
    pub(super) rows: usize,
    /// Each so high.
    pub(super) height: f64,
}

impl Room {
    /// Half of the height of a bar.
    pub(super) fn half_bar(self) -> f64 {
        (0.38 * self.height).min(12.0)
    }
}

/// A chart of rows; on a slide, which has a height, with rows that are lower, and then with as many as it holds.
pub(super) fn fitted(style: Style, draw: impl Fn(Room) -> Option<Canvas>) -> Option<Canvas> {
    let mut heights = HEIGHTS.into_iter();
    let mut room = Room {
        rows: ROWS_MAX,
        height: heights.next()?,
    };
    loop {
        let canvas = draw(room)?;
        let excess = canvas.height - style.size.height();
        if style.size != Size::Slide || excess <= 0.0 || room.rows == 1 {
            return Some(canvas);
        }
        if let Some(height) = heights.next() {
            room.height = height;
        } else {
            // A row that goes may take its group's name with it.
            let least = (excess / (room.height + GROUP)).ceil() as usize;
            room.rows = room.rows.saturating_sub(least.max(1)).max(1);
        }
    }
}
