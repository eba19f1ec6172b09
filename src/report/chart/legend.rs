//! The names of what is drawn, between title and data.

use super::canvas::{Align, Canvas, Point, Stroke};
use super::fit::shorten;
use super::font::text_width;
use super::frame::{HALF_DIGIT, LABEL, MARGIN};
use super::palette::{Colour, LineStyle, Marker};

/// What is shown before a name and the space behind it, in pixels.
const SWATCH: f64 = 52.0;
/// Between two columns, in pixels.
const GAP: f64 = 36.0;
/// The height of a row, in pixels.
const ROW: f64 = 32.0;

/// What a legend shows before the name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Swatch {
    Line(LineStyle),
    Stroke(Stroke),
    Mark(Marker, Colour),
    Bar(Colour),
    /// A bar with its strokes.
    Filled(LineStyle),
    /// A short vertical bar.
    Tick(Colour, f64),
    /// The translucent area about a line.
    Band(Colour),
}

/// Draws entries row by row; returns where the space below them begins.
pub(super) fn draw(canvas: &mut Canvas, top: f64, entries: &[(Swatch, String)]) -> f64 {
    let room = canvas.width - 2.0 * MARGIN;
    let widths: Vec<f64> = entries
        .iter()
        .map(|(_, text)| SWATCH + text_width(text, LABEL))
        .collect();
    let columns = columns(&widths, room);
    let rows = entries.chunks(columns.len());
    let bottom = top + rows.len() as f64 * ROW + 8.0;
    for (row, entries) in rows.enumerate() {
        let y = top + row as f64 * ROW + ROW / 2.0;
        let mut x = MARGIN;
        for ((swatch, text), width) in entries.iter().zip(&columns) {
            draw_swatch(canvas, *swatch, (x, y));
            let text = shorten(text, LABEL, width - SWATCH);
            let at = (x + SWATCH, y + HALF_DIGIT * LABEL.px);
            canvas.text(at, &text, LABEL, Align::Left);
            x += width + GAP;
        }
    }
    bottom
}

/// How wide each column is for entries of these widths, row by row: as many columns as fit, one at least, each as wide as
/// its widest entry.
fn columns(widths: &[f64], room: f64) -> Vec<f64> {
    let in_columns = |count: usize| -> Vec<f64> {
        let column = |first: usize| widths.iter().skip(first).step_by(count);
        (0..count)
            .map(|first| column(first).copied().fold(0.0, f64::max))
            .collect()
    };
    for rows in 1..widths.len() {
        // Six entries look better as three and three than as five and one.
        let columns = in_columns(widths.len().div_ceil(rows));
        if columns.iter().sum::<f64>() + GAP * (columns.len() - 1) as f64 <= room {
            return columns;
        }
    }
    let widest = widths.iter().copied().fold(0.0, f64::max);
    vec![widest.min(room)]
}

fn draw_swatch(canvas: &mut Canvas, swatch: Swatch, (x, y): Point) {
    let ends = [(x, y), (x + 40.0, y)];
    let middle = (x + 20.0, y);
    match swatch {
        Swatch::Line(style) => {
            canvas.line(&ends, Stroke::solid(style.colour, 3.0));
            canvas.marker(middle, 7.0, style.marker, style.colour);
        }
        Swatch::Stroke(stroke) => canvas.line(&ends, stroke),
        Swatch::Mark(marker, colour) => canvas.marker(middle, 7.0, marker, colour),
        Swatch::Bar(colour) => canvas.rect((x, y - 9.0), (x + 40.0, y + 9.0), colour),
        Swatch::Filled(style) => canvas.bar((x, y - 9.0), (x + 40.0, y + 9.0), style),
        Swatch::Tick(colour, width) => {
            canvas.rect(
                (x + 20.0 - width / 2.0, y - 11.0),
                (x + 20.0 + width / 2.0, y + 11.0),
                colour,
            );
        }
        Swatch::Band(colour) => {
            let corners = vec![
                (x, y - 9.0),
                (x + 40.0, y - 9.0),
                (x + 40.0, y + 9.0),
                (x, y + 9.0),
            ];
            canvas.area(corners, colour, 0.25);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_entry() {
        // 100 + 300 and the gap fit 440, in rows of two: 100 and 300, 90 and 80, 70 alone.
        let widths = [100.0, 300.0, 90.0, 80.0, 70.0];
        assert_eq!(columns(&widths, 440.0), [100.0, 300.0]);
        // All of them and four gaps fit, or by one pixel do not.
        let all = 640.0 + 4.0 * GAP;
        assert_eq!(columns(&widths, all), widths);
        assert_eq!(columns(&widths, all - 1.0), [100.0, 300.0, 90.0]);
    }

    #[test]
    fn entries_that_do_not_fit_beside_each_other_are_below_each_other_and_no_wider_than_the_chart()
    {
        assert_eq!(columns(&[300.0, 200.0], 500.0), [300.0]);
        assert_eq!(columns(&[300.0, 900.0], 500.0), [500.0]);
        assert_eq!(columns(&[], 500.0), [0.0]);
    }

    #[test]
    fn six_are_three_and_three_where_five_would_fit() {
        assert_eq!(columns(&[50.0; 6], 5.0 * 50.0 + 4.0 * GAP).len(), 3);
    }
}
