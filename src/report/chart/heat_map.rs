//! Heat maps with the number in each cell: one value for each pair of conditions.

use std::collections::BTreeSet;

use super::axis::{Axis, Quantity, number, significant};
use super::canvas::{Align, Canvas, Type};
use super::column_names::ColumnNames;
use super::fit::{shorten, shorten_apart, wrap};
use super::font::text_width;
use super::frame::{AXIS_TITLE, LABEL, MARGIN, baseline, header};
use super::palette::{Colour, Ramp};
use super::style::{Size, Style};
use super::tiles::columns_max;

/// What the colours of a map stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeatScale {
    /// More is darker; all maps of this kind in a figure share the scale.
    Amount,
    /// Below and above 0 in two colours; all maps of this kind in a figure share the scale.
    Difference,
    /// The same, of a quantity that is a change by itself.
    Change,
}

impl HeatScale {
    const ALL: [Self; 3] = [Self::Amount, Self::Difference, Self::Change];
}

/// One map.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// What it shows: a variant; `measured`, `predicted`, `difference`.
    pub name: String,
    /// What its colours stand for.
    pub scale: HeatScale,
    /// Values, row by row from the top, in the base unit; `None` where nothing was measured.
    pub cells: Vec<Vec<Option<f64>>>,
}

/// Maps over the same two conditions, beside each other.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMaps {
    /// What it is about, and under which condition.
    pub title: String,
    /// What each number is (`median of n = 20 runs`).
    pub note: String,
    /// What is measured.
    pub quantity: Quantity,
    /// What the columns are, with its unit, and each of them.
    pub columns: (String, Vec<String>),
    /// What the rows are, with its unit, and each of them, from the top.
    pub rows: (String, Vec<String>),
    /// The maps.
    pub maps: Vec<HeatMap>,
}

/// A change to twice as much: nothing falls by more than all, and colours that went on would leave little of them for
/// the usual.
const TWICE: f64 = 1.0;

/// Above a map: its name in a line and the name of its rows.
const NAME_HEIGHT: f64 = 72.0;
/// Below the names of its columns: the first line of what they are, and each further one.
const COLUMNS_HEIGHT: f64 = 50.0;
const LINE: f64 = 28.0;
const GAP: f64 = 44.0;
/// Height of a cell, and what it may come down to on a page and on a slide; a width that still shows a number.
const CELL_HEIGHT: f64 = 54.0;
const CELL_HEIGHT_LOW: f64 = 34.0;
const CELL_HEIGHT_MIN: f64 = 26.0;
const CELL_WIDTH_MIN: f64 = 40.0;

impl HeatMaps {
    fn values(&self, scale: HeatScale) -> impl Iterator<Item = f64> {
        self.maps
            .iter()
            .filter(move |map| map.scale == scale)
            .flat_map(|map| map.cells.iter().flatten())
            .filter_map(|cell| cell.filter(|value| value.is_finite()))
    }

    /// Lowest and highest value of a scale: from 0, or as far below it as above. Amounts go to `amount` at least.
    fn range(&self, scale: HeatScale, amount: f64) -> Option<(f64, f64)> {
        let min = self.values(scale).reduce(f64::min)?;
        let max = self.values(scale).reduce(f64::max)?;
        let max = match scale {
            HeatScale::Amount => max.max(amount),
            HeatScale::Difference | HeatScale::Change => max,
        };
        let end = min.abs().max(max.abs());
        let end = if end > 0.0 { end } else { 1.0 };
        Some(match scale {
            HeatScale::Amount if min >= 0.0 => (0.0, end),
            HeatScale::Amount => (min, max),
            HeatScale::Difference => (-end, end),
            HeatScale::Change => (-end.min(TWICE), end.min(TWICE)),
        })
    }

    /// The figure; none without any value.
    #[must_use]
    pub fn draw(&self, style: Style) -> Option<Canvas> {
        self.draw_up_to(0.0, style)
    }

    /// The same with colours for amounts up to this one at least, so that those of several figures are the same.
    #[must_use]
    pub fn draw_up_to(&self, amount: f64, style: Style) -> Option<Canvas> {
        let ranges: Vec<(HeatScale, (f64, f64))> = HeatScale::ALL
            .into_iter()
            .filter_map(|scale| Some((scale, self.range(scale, amount)?)))
            .collect();
        if ranges.is_empty() || self.columns.1.is_empty() || self.rows.1.is_empty() {
            return None;
        }
        let mut canvas = Canvas::new(style, style.size.height());
        let top = header(&mut canvas, &self.title, &self.note, &[]);
        let top = self.draw_scales(&mut canvas, top, &ranges);
        let labels = self
            .rows
            .1
            .iter()
            .map(|name| text_width(name, LABEL))
            .fold(0.0, f64::max)
            .min(0.2 * canvas.width);
        let pitch = |in_row: usize| (canvas.width - 2.0 * MARGIN + GAP) / in_row as f64;
        let columns = self.columns.1.len();
        let cell = |in_row: usize| (pitch(in_row) - GAP - labels - 14.0) / columns as f64;
        let mut in_row = self.in_row(style, cell);
        let named = |in_row: usize| {
            let names = ColumnNames::of(&self.columns.1, cell(in_row));
            let columns = wrap(&self.columns.0, LABEL, cell(in_row) * columns as f64, 2);
            let lines = columns.len().saturating_sub(1) as f64;
            let below = names.height() + COLUMNS_HEIGHT + LINE * lines;
            (names, columns, below)
        };
        let titles = |in_row: usize| MapNames::of(&self.maps, pitch(in_row) - GAP);
        // Lower cells rather than more than a slide or a page holds.
        let low = |in_row: usize| {
            let maps_high = self.maps.len().div_ceil(in_row) as f64;
            let room = (style.size.height_max() - top - 9.0) / maps_high - 14.0;
            let (_, _, below) = named(in_row);
            let above = titles(in_row).height;
            (room - above - below) / self.rows.1.len() as f64
        };
        let mut cell_height = low(in_row).clamp(CELL_HEIGHT_LOW, CELL_HEIGHT);
        if style.size == Size::Slide {
            // More of them beside each other, too.
            cell_height = CELL_HEIGHT;
            let fits = |in_row: usize| {
                let height = low(in_row);
                (height >= CELL_HEIGHT_MIN).then_some((in_row, height.min(CELL_HEIGHT)))
            };
            let narrower = (in_row..=self.maps.len())
                .filter(|&wider| wider == in_row || cell(wider) >= CELL_WIDTH_MIN);
            if let Some(found) = narrower.clone().find_map(fits) {
                (in_row, cell_height) = found;
            }
        }
        let rows = self.maps.len().div_ceil(in_row);
        let (names, columns, below) = named(in_row);
        let titles = titles(in_row);
        let (pitch, cell) = (pitch(in_row), (cell(in_row), cell_height));
        let map_height = titles.height + cell.1 * self.rows.1.len() as f64 + below;
        let rows_named: Vec<&str> = self.rows.1.iter().map(String::as_str).collect();
        let grid = Grid {
            labels,
            rows: shorten_apart(&rows_named, LABEL, labels),
            width: pitch - GAP,
            titles,
            cell,
            names,
            columns,
            number: self.number_style(cell.0),
        };
        for (index, map) in self.maps.iter().enumerate() {
            let corner = (
                MARGIN + (index % in_row) as f64 * pitch,
                top + (index / in_row) as f64 * (map_height + 14.0),
            );
            self.draw_map(&mut canvas, (index, map), corner, &grid, &ranges);
        }
        canvas.height = (top + rows as f64 * (map_height + 14.0) + 8.0).ceil();
        Some(canvas)
    }

    /// Maps beside each other: as many as there is room for, fewer where then every column has room
    /// for its name; and as many in each row as can be.
    fn in_row(&self, style: Style, cell: impl Fn(usize) -> f64) -> usize {
        let roomy = (18 / self.columns.1.len()).clamp(1, 4);
        let most = self.maps.len().clamp(1, columns_max(style, roomy));
        let even = |in_row: usize| self.maps.len().div_ceil(self.maps.len().div_ceil(in_row));
        let widths = self.columns.1.iter().map(|name| text_width(name, LABEL));
        let widest = widths.fold(0.0, f64::max);
        let named = (1..=most)
            .rev()
            .find(|&in_row| cell(even(in_row)) >= widest + 8.0);
        // Half as many maps in a row make the figure twice as high, more would not help it.
        let named = named.filter(|&in_row| 2 * in_row >= most);
        even(named.unwrap_or(most).max(1))
    }

    /// Strips of the colours with what they stand for.
    fn draw_scales(
        &self,
        canvas: &mut Canvas,
        top: f64,
        ranges: &[(HeatScale, (f64, f64))],
    ) -> f64 {
        const STEPS: usize = 60;
        let width = ((canvas.width - 2.0 * MARGIN - GAP) / 2.0).min(520.0);
        for (place, &(scale, (min, max))) in ranges.iter().enumerate() {
            let left = MARGIN + place as f64 * (width + GAP);
            let axis = Axis::tight_in(self.quantity, self.end(), min, max, 6);
            let title = match scale {
                HeatScale::Change if self.values(scale).any(|value| value > TWICE) => {
                    format!("{}, one colour from 100 % on", axis.title)
                }
                HeatScale::Amount | HeatScale::Change => axis.title.clone(),
                // 20 % less 10 % is not 10 %.
                HeatScale::Difference => axis
                    .title
                    .replace(" (", ", difference (")
                    .replace("(%)", "(% points)"),
            };
            let room = if ranges.len() == 1 {
                canvas.width - 2.0 * MARGIN
            } else {
                width
            };
            let title = shorten(&title, AXIS_TITLE, room);
            canvas.text((left, top + 24.0), &title, AXIS_TITLE, Align::Left);
            for step in 0..STEPS {
                let share = |step: usize| step as f64 / STEPS as f64;
                canvas.rect(
                    (left + share(step) * width, top + 38.0),
                    // Without a seam between them.
                    (
                        (left + share(step + 1) * width + 1.0).min(left + width),
                        top + 58.0,
                    ),
                    ramp(scale).at((step as f64 + 0.5) / STEPS as f64),
                );
            }
            let mut free_from = left;
            for (value, text) in &axis.ticks {
                let half = text_width(text, LABEL) / 2.0;
                let x = left + axis.share(*value) * width;
                // The outer ones stay within the strip, those without room are left out.
                let x = x.clamp(left + half, left + width - half);
                if x - half >= free_from {
                    canvas.text((x, top + 82.0), text, LABEL, Align::Centre);
                    free_from = x + half + 8.0;
                }
            }
        }
        top + 104.0
    }

    fn draw_map(
        &self,
        canvas: &mut Canvas,
        (index, map): (usize, &HeatMap),
        (left, top): (f64, f64),
        grid: &Grid,
        ranges: &[(HeatScale, (f64, f64))],
    ) {
        let Grid { labels, cell, .. } = *grid;
        let titles = &grid.titles;
        for (line, text) in titles.lines[index].iter().enumerate() {
            let at = (left, top + 26.0 + line as f64 * LINE);
            canvas.text(at, text, titles.font, Align::Left);
        }
        let rows = shorten(&self.rows.0, LABEL, grid.width);
        let at = (left, top + titles.height - 14.0);
        canvas.text(at, &rows, LABEL, Align::Left);
        let (left, top) = (left + labels + 14.0, top + titles.height);
        let range = ranges.iter().find(|(scale, _)| *scale == map.scale);
        let (min, max) = range.map_or((0.0, 1.0), |&(_, range)| range);
        for (row, name) in grid.rows.iter().enumerate() {
            let middle = top + (row as f64 + 0.5) * cell.1;
            canvas.text(
                (left - 12.0, baseline(middle, LABEL)),
                name,
                LABEL,
                Align::Right,
            );
            for column in 0..self.columns.1.len() {
                let value = map.cells.get(row).and_then(|cells| cells.get(column));
                let value = value.copied().flatten().filter(|value| value.is_finite());
                let from = (left + column as f64 * cell.0, top + row as f64 * cell.1);
                let share = value.map(|value| (value - min) / (max - min));
                self.draw_cell(
                    canvas,
                    from,
                    grid,
                    value,
                    share.map(|share| ramp(map.scale).at(share)),
                );
            }
        }
        let bottom = top + self.rows.1.len() as f64 * cell.1;
        grid.names
            .draw(canvas, &self.columns.1, (left, bottom), cell.0);
        let below = bottom + grid.names.height() + 32.0;
        let middle = left + cell.0 * self.columns.1.len() as f64 / 2.0;
        for (line, text) in grid.columns.iter().enumerate() {
            canvas.text(
                (middle, below + line as f64 * LINE),
                text,
                LABEL,
                Align::Centre,
            );
        }
    }

    fn draw_cell(
        &self,
        canvas: &mut Canvas,
        from: (f64, f64),
        grid: &Grid,
        value: Option<f64>,
        colour: Option<Colour>,
    ) {
        let to = (from.0 + grid.cell.0 - 2.0, from.1 + grid.cell.1 - 2.0);
        let middle = (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1));
        let (Some(value), Some(colour)) = (value, colour) else {
            canvas.rect(from, to, Colour::GRID);
            canvas.text(
                (middle.0, baseline(middle.1, LABEL)),
                "–",
                LABEL,
                Align::Centre,
            );
            return;
        };
        canvas.rect(from, to, colour);
        let text = self.number(value, grid.number.fine);
        let font = number_font(grid.number.px, colour.text_on());
        if text_width(&text, font) <= grid.cell.0 - 6.0 {
            canvas.text(
                (middle.0, baseline(middle.1, font)),
                &text,
                font,
                Align::Centre,
            );
        }
    }

    /// How the numbers are written: of one size and all with as many digits as there is room for, they can be compared.
    fn number_style(&self, width: f64) -> NumberStyle {
        const SIZES: [f64; 6] = [23.0, 21.0, 19.0, 17.0, 15.0, 13.0];
        // Three digits each are worth smaller ones, but not the smallest.
        let fine = SIZES[..4].iter().map(|&px| NumberStyle { px, fine: true });
        let coarse = SIZES.iter().map(|&px| NumberStyle { px, fine: false });
        let smallest = NumberStyle {
            px: SIZES[5],
            fine: false,
        };
        let values = || {
            let maps = self.maps.iter();
            maps.flat_map(|map| map.cells.iter().flatten()).flatten()
        };
        let fits = |style: &NumberStyle| {
            let font = number_font(style.px, Colour::INK);
            let mut texts = values().map(|&value| self.number(value, style.fine));
            texts.all(|text| text_width(&text, font) <= width - 6.0)
        };
        fine.chain(coarse).find(fits).unwrap_or(smallest)
    }

    /// The largest value on any scale: all have its unit.
    fn end(&self) -> f64 {
        HeatScale::ALL
            .into_iter()
            .filter_map(|scale| self.range(scale, 0.0))
            .map(|(min, max)| min.abs().max(max.abs()))
            .fold(0.0, f64::max)
    }

    /// The number in a cell, in the unit of the scale: `fine` with three digits of its own, or with those of the
    /// largest.
    fn number(&self, value: f64, fine: bool) -> String {
        let end = self.end();
        let (_, size) = self.quantity.unit(end);
        let values = HeatScale::ALL
            .into_iter()
            .flat_map(|scale| self.values(scale));
        if self.quantity.is_count() && values.map(f64::fract).all(|part| part == 0.0) {
            return number(value, 0);
        }
        if fine {
            // What is next to nothing beside the others, as a difference may be, has no more decimals than they.
            let is_next_to_nothing = value != 0.0 && value.abs() < size / 10.0 && end >= size;
            return if is_next_to_nothing {
                number(value / size, 3)
            } else {
                significant(value / size)
            };
        }
        let digits = if end / size >= 99.5 {
            0
        } else if end / size >= 9.95 {
            1
        } else {
            2
        };
        number(value / size, digits)
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
struct MapNames {
    font: Type,
    lines: Vec<Vec<String>>,
    /// With the name of the rows.
    height: f64,
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

/// What the maps of a figure have in common.
struct Grid {
    /// Width of the names of the rows, and these.
    labels: f64,
    rows: Vec<String>,
    /// Width of a map with these.
    width: f64,
    titles: MapNames,
    /// Width and height of a cell.
    cell: (f64, f64),
    /// How the names of the columns are written, and what these are, in lines.
    names: ColumnNames,
    columns: Vec<String>,
    /// How the numbers are written.
    number: NumberStyle,
}

/// How the numbers of a figure are written.
#[derive(Clone, Copy, Debug, PartialEq)]
struct NumberStyle {
    px: f64,
    /// With three digits each.
    fine: bool,
}

const fn number_font(px: f64, colour: Colour) -> Type {
    Type {
        px,
        bold: false,
        colour,
    }
}

const fn ramp(scale: HeatScale) -> Ramp {
    match scale {
        HeatScale::Amount => Ramp::Amount,
        HeatScale::Difference | HeatScale::Change => Ramp::Difference,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_legible, texts};
    use super::*;
    use crate::report::chart::canvas::Shape;

    #[test]
    fn every_column_has_its_name_also_on_a_slide() {
        let variants = ["bbrv1", "bbrv2", "bbrv3", "cubic", "illinois", "westwood+"];
        let names = || variants.map(str::to_owned).to_vec();
        let map = |name: &str| HeatMap {
            name: name.to_owned(),
            scale: HeatScale::Amount,
            cells: vec![vec![Some(0.715); 6]; 6],
        };
        let figure = HeatMaps {
            title: "Mean queueing delay over that of a full buffer".to_owned(),
            note: "both flows together".to_owned(),
            quantity: Quantity::SHARE,
            columns: ("First flow".to_owned(), names()),
            rows: ("Second flow".to_owned(), names()),
            maps: vec![map("buffer 0.5bdp"), map("buffer 2bdp")],
        };
        for size in [Size::OneColumn, Size::TwoColumns, Size::Slide] {
            let style = Style {
                size,
                ..Style::default()
            };
            let canvas = figure.draw(style).unwrap();
            super::super::tests::assert_legible(&canvas);
            let texts = super::super::tests::texts(&canvas);
            for variant in variants {
                let found = texts.iter().filter(|text| **text == variant).count();
                // Of a row and of a column of each map.
                assert_eq!(found, 4, "{size:?}: {texts:?}");
            }
            assert!(size != Size::Slide || canvas.height <= size.height());
        }
    }

    #[test]
    fn numbers_have_three_digits_where_there_is_room() {
        let numbers = |values: [f64; 3], columns: usize| -> Vec<String> {
            let row: Vec<Option<f64>> = values.map(Some).to_vec();
            let row: Vec<Option<f64>> = row.into_iter().cycle().take(columns).collect();
            let figure = HeatMaps {
                title: String::new(),
                note: String::new(),
                quantity: Quantity::GOODPUT,
                columns: (String::new(), vec!["x".to_owned(); columns]),
                rows: (String::new(), vec!["y".to_owned()]),
                maps: vec![HeatMap {
                    name: String::new(),
                    scale: HeatScale::Amount,
                    cells: vec![row],
                }],
            };
            let shapes = figure.draw(Style::default()).unwrap().shapes;
            let texts = shapes.into_iter().filter_map(|shape| match shape {
                Shape::Text { text, font, .. } if matches!(font.colour, Colour::Exact(..)) => {
                    Some(text)
                }
                _ => None,
            });
            texts.take(3).collect()
        };
        // 10.4 and 9.27 Mbit/s differ by a tenth; 957 Mbit/s has the largest number.
        let far_apart = [10.4e6, 9.27e6, 957e6];
        assert_eq!(numbers(far_apart, 3), ["10.4", "9.27", "957"]);
        assert_eq!(numbers(far_apart, 42), ["10", "9", "957"]);
        assert_eq!(
            numbers([0.012e6, -0.098e6, 9.12e6], 3),
            ["0.012", "−0.098", "9.12"]
        );
    }

    #[test]
    fn names_of_maps_that_are_wider_than_these_have_two_lines() {
        let map = |name: &str| HeatMap {
            name: name.to_owned(),
            scale: HeatScale::Amount,
            cells: vec![vec![Some(111.0), Some(124.0), None]; 3],
        };
        let variants = ["reno", "cubic", "bbr"].map(str::to_owned).to_vec();
        let maps = HeatMaps {
            title: "Retransmissions of two flows".to_owned(),
            note: String::new(),
            quantity: Quantity::RETRANSMISSIONS,
            columns: ("First flow".to_owned(), variants.clone()),
            rows: ("Second flow".to_owned(), variants),
            maps: ["0.5bdp", "2bdp"]
                .iter()
                .flat_map(|buffer| ["first", "second"].map(|of| (buffer, of)))
                .map(|(buffer, of)| map(&format!("buffer {buffer}, of the {of} flow")))
                .collect(),
        };
        let style = Style {
            size: Size::Slide,
            ..Style::default()
        };
        let canvas = maps.draw(style).unwrap();
        let shown = texts(&canvas);
        // Four of them have a quarter of the slide each, and one line would hold half of a name.
        for part in ["buffer 0.5bdp,", "of the first flow", "of the second flow"] {
            assert!(shown.contains(&part), "{part} in {shown:?}");
        }
        assert!(shown.iter().all(|text| !text.contains('…')), "{shown:?}");
        assert_legible(&canvas);
    }
}
