//! Heat maps with the number in each cell: one value for each pair of conditions.

mod grid;

use super::axis::{Axis, Quantity, number, significant};
use super::canvas::{Align, Canvas, Type};
use super::fit::shorten;
use super::font::text_width;
use super::frame::header;
use super::letters::{AXIS_TITLE, LABEL, MARGIN, baseline};
use super::palette::{Colour, Ramp};
use super::style::Style;
use grid::Grid;

/// What the colours of a map stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

/// A line of names, and between two maps.
const LINE: f64 = 28.0;
const GAP: f64 = 44.0;

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
        let grid = Grid::of(self, &canvas, top);
        for (index, map) in self.maps.iter().enumerate() {
            let corner = grid.corner(index, top);
            self.draw_map(&mut canvas, (index, map), corner, &grid, &ranges);
        }
        let rows = self.maps.len().div_ceil(grid.in_row);
        canvas.height = (top + rows as f64 * grid.row_height() + 8.0).ceil();
        Some(canvas)
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
        let rows = shorten(&self.rows.0, LABEL, grid.width());
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
        let names = &grid.columns.names;
        names.draw(canvas, &self.columns.1, (left, bottom), cell.0);
        let below = bottom + names.height() + 32.0;
        let middle = left + cell.0 * self.columns.1.len() as f64 / 2.0;
        for (line, text) in grid.columns.title.iter().enumerate() {
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
    use super::super::style::Size;
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
