//! Where the maps of a figure are, and how large their cells: as large as a slide or a page allows.

use std::collections::BTreeSet;

use super::{GAP, HeatMap, HeatMaps, LINE, NumberStyle};
use crate::report::chart::canvas::{Canvas, Type};
use crate::report::chart::column_names::ColumnNames;
use crate::report::chart::fit::{shorten_apart, wrap};
use crate::report::chart::font::text_width;
use crate::report::chart::letters::{AXIS_TITLE, LABEL, MARGIN};
use crate::report::chart::style::Size;
use crate::report::chart::tiles::columns_max;

/// Above a map: its name in a line and the name of its rows.
const NAME_HEIGHT: f64 = 72.0;
/// Below the names of its columns: the first line of what they are.
const COLUMNS_HEIGHT: f64 = 50.0;
/// Between two rows of maps.
const ROW_GAP: f64 = 14.0;
/// Height of a cell, and what it may come down to on a page and on a slide; a width that still shows a number.
const CELL_HEIGHT: f64 = 54.0;
const CELL_HEIGHT_LOW: f64 = 34.0;
const CELL_HEIGHT_MIN: f64 = 26.0;
const CELL_WIDTH_MIN: f64 = 40.0;

/// What the maps of a figure have in common.
pub(super) struct Grid {
    /// Maps in a row.
    pub(super) in_row: usize,
    /// Width of the names of the rows, and these.
    pub(super) labels: f64,
    pub(super) rows: Vec<String>,
    /// From a map to the one beside it.
    pitch: f64,
    pub(super) titles: MapNames,
    /// Width and height of a cell.
    pub(super) cell: (f64, f64),
    /// How the names of the columns are written, and what these are, in lines.
    pub(super) columns: Columns,
    /// How the numbers are written.
    pub(super) number: NumberStyle,
}

impl Grid {
    /// The grid of maps from `top` on.
    pub(super) fn of(maps: &HeatMaps, canvas: &Canvas, top: f64) -> Self {
        let labels = maps
            .rows
            .1
            .iter()
            .map(|name| text_width(name, LABEL))
            .fold(0.0, f64::max)
            .min(0.2 * canvas.width);
        let room = Room {
            maps,
            canvas,
            top,
            labels,
        };
        let (in_row, cell_height) = room.shape();
        let rows: Vec<&str> = maps.rows.1.iter().map(String::as_str).collect();
        Self {
            in_row,
            labels,
            rows: shorten_apart(&rows, LABEL, labels),
            pitch: room.pitch(in_row),
            titles: room.titles(in_row),
            cell: (room.cell(in_row), cell_height),
            columns: room.columns(in_row),
            number: maps.number_style(room.cell(in_row)),
        }
    }

    /// Width of a map with the names of its rows.
    pub(super) fn width(&self) -> f64 {
        self.pitch - GAP
    }

    /// The upper left corner of a map.
    pub(super) fn corner(&self, index: usize, top: f64) -> (f64, f64) {
        (
            MARGIN + (index % self.in_row) as f64 * self.pitch,
            top + (index / self.in_row) as f64 * self.row_height(),
        )
    }

    /// Of a row of maps, with what is between two.
    pub(super) fn row_height(&self) -> f64 {
        let cells = self.cell.1 * self.rows.len() as f64;
        self.titles.height + cells + self.columns.height + ROW_GAP
    }
}

/// What is below a map.
pub(super) struct Columns {
    /// How the names of the columns are written.
    pub(super) names: ColumnNames,
    /// What these are, in lines.
    pub(super) title: Vec<String>,
    height: f64,
}

/// What maps share: they may be so many in a row, or another number.
struct Room<'a> {
    maps: &'a HeatMaps,
    canvas: &'a Canvas,
    top: f64,
    /// Width of the names of the rows.
    labels: f64,
}

impl Room<'_> {
    /// From a map to the one beside it.
    fn pitch(&self, in_row: usize) -> f64 {
        (self.canvas.width - 2.0 * MARGIN + GAP) / in_row as f64
    }

    /// Width of a cell.
    fn cell(&self, in_row: usize) -> f64 {
        let columns = self.maps.columns.1.len() as f64;
        (self.pitch(in_row) - GAP - self.labels - 14.0) / columns
    }

    fn titles(&self, in_row: usize) -> MapNames {
        MapNames::of(&self.maps.maps, self.pitch(in_row) - GAP)
    }

    fn columns(&self, in_row: usize) -> Columns {
        let (title, names) = &self.maps.columns;
        let cell = self.cell(in_row);
        let title = wrap(title, LABEL, cell * names.len() as f64, 2);
        let names = ColumnNames::of(names, cell);
        let lines = title.len().saturating_sub(1) as f64;
        Columns {
            height: names.height() + COLUMNS_HEIGHT + LINE * lines,
            names,
            title,
        }
    }

    /// Height of a cell with which the maps are no more than a slide or a page holds.
    fn low(&self, in_row: usize) -> f64 {
        let rows = self.maps.maps.len().div_ceil(in_row) as f64;
        let height = self.canvas.style.size.height_max();
        let room = (height - self.top - 9.0) / rows - ROW_GAP;
        let (above, below) = (self.titles(in_row).height, self.columns(in_row).height);
        (room - above - below) / self.maps.rows.1.len() as f64
    }

    /// How many maps are in a row, and the height of a cell.
    fn shape(&self) -> (usize, f64) {
        let in_row = self.in_row();
        if self.canvas.style.size != Size::Slide {
            return (in_row, self.low(in_row).clamp(CELL_HEIGHT_LOW, CELL_HEIGHT));
        }
        // More of them beside each other rather than lower cells than can be read.
        let fits = |in_row: usize| {
            let height = self.low(in_row);
            (height >= CELL_HEIGHT_MIN).then_some((in_row, height.min(CELL_HEIGHT)))
        };
        let mut narrower = (in_row..=self.maps.maps.len())
            .filter(|&wider| wider == in_row || self.cell(wider) >= CELL_WIDTH_MIN);
        narrower.find_map(fits).unwrap_or((in_row, CELL_HEIGHT))
    }

    /// Maps beside each other: as many as there is room for, fewer where then every column has room
    /// for its name; and as many in each row as can be.
    fn in_row(&self) -> usize {
        let (maps, columns) = (self.maps.maps.len(), &self.maps.columns.1);
        let roomy = (18 / columns.len()).clamp(1, 4);
        let most = maps.clamp(1, columns_max(self.canvas.style, roomy));
        let even = |in_row: usize| maps.div_ceil(maps.div_ceil(in_row));
        let widths = columns.iter().map(|name| text_width(name, LABEL));
        let widest = widths.fold(0.0, f64::max);
        let named = (1..=most)
            .rev()
            .find(|&in_row| self.cell(even(in_row)) >= widest + 8.0);
        // Half as many maps in a row make the figure twice as high, more would not help it.
        let named = named.filter(|&in_row| 2 * in_row >= most);
        even(named.unwrap_or(most).max(1))
    }
}

/// Letters in which all names have room, somewhat smaller ones if need be; where that does not help, these.
fn fitting(font: Type, names: &[&str], room: f64) -> Type {
    let fits = |font: &Type| names.iter().all(|name| text_width(name, *font) <= room);
    let smaller = [21.0, 19.0, 17.0].map(|px| Type { px, ..font });
    let mut fonts = [font].into_iter().chain(smaller);
    fonts.find(fits).unwrap_or(font)
}

/// How the names of maps are written, above each: in two lines where these make names whole.
pub(super) struct MapNames {
    pub(super) font: Type,
    pub(super) lines: Vec<Vec<String>>,
    /// With the name of the rows.
    pub(super) height: f64,
}

impl MapNames {
    fn of(maps: &[HeatMap], width: f64) -> Self {
        let names: Vec<&str> = maps.iter().map(|map| map.name.as_str()).collect();
        let font = fitting(AXIS_TITLE, &names, width);
        let lines = names.iter().map(|name| wrap(name, font, width, 2));
        let mut lines: Vec<Vec<String>> = lines.collect();
        let different = |of: BTreeSet<&Vec<String>>| of.len();
        if different(lines.iter().collect()) < names.iter().collect::<BTreeSet<_>>().len() {
            let apart = shorten_apart(&names, font, width);
            lines = apart.into_iter().map(|name| vec![name]).collect();
        }
        let most = lines.iter().map(Vec::len).max().unwrap_or(1);
        Self {
            font,
            lines,
            height: NAME_HEIGHT + LINE * most.saturating_sub(1) as f64,
        }
    }
}
