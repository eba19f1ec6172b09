//! Panels of one size in rows and columns.

use super::axis::Axis;
use super::canvas::Canvas;
use super::frame::{Panel, X_AXIS_HEIGHT, Y_TITLE_HEIGHT};
use super::letters::MARGIN;
use super::style::{Size, Style};

/// Between columns, in units of layout.
const GAP: f64 = 40.0;

/// How high the data of rows of panels are, in units of layout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RowHeights {
    /// Of one alone, at least.
    pub(super) alone: f64,
    /// Of each of several.
    pub(super) each: f64,
    /// Of each of many on a slide, at least.
    pub(super) least: f64,
}

/// Where panels are placed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tiles {
    top: f64,
    columns: usize,
    /// From the left rim of a panel with its labels to that of the next.
    pitch: f64,
    /// Width of the labels of vertical axes.
    labels: f64,
    /// Height of the data.
    room: f64,
    /// Height of what is below the data.
    below: f64,
}

impl Tiles {
    /// Places for `panels`, from `top` on, at most `columns_max` beside each other. One row fills
    /// the canvas; several get a share of its height each.
    pub(super) fn new(
        canvas: &Canvas,
        top: f64,
        panels: usize,
        columns_max: usize,
        labels: f64,
    ) -> Self {
        let columns = panels.clamp(1, columns_max.max(1));
        let rows = panels.div_ceil(columns).max(1);
        // As many in each row as can be.
        let columns = panels.div_ceil(rows).max(1);
        let height = canvas.style.size.height();
        let room = if rows == 1 {
            (height - top - Y_TITLE_HEIGHT - X_AXIS_HEIGHT - 16.0).max(0.4 * height)
        } else {
            0.38 * height
        };
        Self {
            top,
            columns,
            pitch: (canvas.width - 2.0 * MARGIN + GAP) / columns as f64,
            labels: labels.max(70.0),
            room,
            below: X_AXIS_HEIGHT,
        }
    }

    /// The same `panels` with more below the data: one row fills the canvas, several have a height each. A slide holds
    /// so much and no more, so that many are lower there, rather than a part of a slide.
    pub(super) fn above_names(
        self,
        style: Style,
        panels: usize,
        below: f64,
        heights: RowHeights,
    ) -> Self {
        let height = style.size.height();
        let rows = self.rows(panels);
        let room = if rows == 1 {
            (height - self.top - Y_TITLE_HEIGHT - below - 16.0).max(heights.alone)
        } else if style.size == Size::Slide {
            let row = (height - self.top - 16.0) / rows as f64;
            (row - Y_TITLE_HEIGHT - below - 6.0).clamp(heights.least, heights.each)
        } else {
            heights.each
        };
        Self {
            room,
            below,
            ..self
        }
    }

    fn rows(&self, panels: usize) -> usize {
        panels.div_ceil(self.columns).max(1)
    }

    /// Height of the data of a panel.
    pub(super) fn room(&self) -> f64 {
        self.room
    }

    /// Width of the data of a panel.
    pub(super) fn width(&self) -> f64 {
        self.pitch - GAP - self.labels - 10.0
    }

    /// The panel of this place.
    pub(super) fn panel(&self, index: usize, x: Axis, y: Axis) -> Panel {
        let (row, column) = (index / self.columns, index % self.columns);
        let rim = MARGIN + column as f64 * self.pitch;
        let left = rim + self.labels;
        let top = self.top
            + Y_TITLE_HEIGHT
            + row as f64 * (Y_TITLE_HEIGHT + self.room + self.below + 6.0);
        Panel {
            rim,
            left,
            top,
            right: left + self.width(),
            bottom: top + self.room,
            x,
            y,
        }
    }

    /// The height of a canvas with so many panels.
    pub(super) fn height(&self, panels: usize) -> f64 {
        let rows = self.rows(panels) as f64;
        let row = Y_TITLE_HEIGHT + self.room + self.below;
        (self.top + rows * row + (rows - 1.0) * 6.0 + 16.0).ceil()
    }
}

/// As many panels beside each other as a size has room for.
pub(super) fn columns_max(style: Style, roomy: usize) -> usize {
    if style.size == Size::OneColumn {
        1.max(roomy / 2)
    } else {
        roomy
    }
}
