//! The names of what is drawn, between title and data.

use std::collections::BTreeSet;

use super::canvas::{Align, Canvas, Point, Stroke};
use super::fit::{shorten, wrap};
use super::font::text_width;
use super::letters::{HALF_DIGIT, LABEL, MARGIN};
use super::palette::{Colour, LineStyle, Marker};
use super::style::Size;

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

/// From one line of a name to the next, in pixels.
const LINE: f64 = 28.0;
/// Lines of a name that is wider than the chart, where names are few or differ in their middle alone. Of many each has
/// one, as the legend would be higher than the data, and so on a slide, which has a height.
const LINES_MAX: usize = 3;
const FEW: usize = 6;

/// What is shown, and its name.
type Entry = (Swatch, String);

/// Draws entries row by row; returns where the space below them begins.
pub(super) fn draw(canvas: &mut Canvas, top: f64, entries: &[Entry]) -> f64 {
    let room = canvas.width - 2.0 * MARGIN;
    let lines_max = if canvas.style.size == Size::Slide || !needs_lines(entries, room - SWATCH) {
        1
    } else {
        LINES_MAX
    };
    let mut y = top + ROW / 2.0;
    for (entries, columns) in blocks(entries, room) {
        for entries in entries.chunks(columns.len()) {
            let mut x = MARGIN;
            let mut lines_most = 1;
            for ((swatch, text), width) in entries.iter().zip(&columns) {
                draw_swatch(canvas, *swatch, (x, y));
                let lines = wrap(text, LABEL, width - SWATCH, lines_max);
                for (place, line) in lines.iter().enumerate() {
                    let baseline = y + HALF_DIGIT * LABEL.px + place as f64 * LINE;
                    canvas.text((x + SWATCH, baseline), line, LABEL, Align::Left);
                }
                lines_most = lines_most.max(lines.len());
                x += width + GAP;
            }
            y += ROW + (lines_most - 1) as f64 * LINE;
        }
    }
    y - ROW / 2.0 + 8.0
}

/// Entries, and how wide their columns are.
type Block<'a> = (Vec<&'a Entry>, Vec<f64>);

/// All in the same columns, or where wide ones would leave room for one alone, first the others in several, then these
/// below each other.
fn blocks(entries: &[Entry], room: f64) -> Vec<Block<'_>> {
    let all = block(entries.iter().collect(), room);
    let is_wide = |entry: &&Entry| width(entry) > (room - GAP) / 2.0;
    let (wide, others): (Vec<_>, Vec<_>) = entries.iter().partition(is_wide);
    let others = block(others, room);
    if wide.is_empty() || all.1.len() > 1 || others.1.len() < 2 {
        vec![all]
    } else {
        vec![others, block(wide, room)]
    }
}

fn block(entries: Vec<&Entry>, room: f64) -> Block<'_> {
    let widths: Vec<f64> = entries.iter().map(|entry| width(entry)).collect();
    let columns = columns(&widths, room);
    (entries, columns)
}

/// What an entry takes, in pixels.
fn width((_, text): &Entry) -> f64 {
    SWATCH + text_width(text, LABEL)
}

/// Whether names are few, or some would be the same without their middles.
fn needs_lines(entries: &[Entry], room: f64) -> bool {
    let texts: BTreeSet<&str> = entries.iter().map(|(_, text)| text.as_str()).collect();
    let short: BTreeSet<String> = texts
        .iter()
        .map(|text| shorten(text, LABEL, room))
        .collect();
    entries.len() <= FEW || short.len() < texts.len()
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
    use crate::report::chart::canvas::Shape;
    use crate::report::chart::style::Style;

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

    #[test]
    fn wide_entries_are_below_the_columns_of_the_others() {
        let entry = |name: &str| (Swatch::Bar(Colour::BLUE), name.to_owned());
        let wide = entry("a limit that takes more than half of the room there is");
        let [a, b, c] = ["a flow", "one", "or another"].map(entry);
        let entries = [a, wide.clone(), b, c];
        let names = |(entries, columns): Block<'_>| -> (Vec<String>, usize) {
            let names = entries.iter().map(|(_, name)| name.clone());
            (names.collect(), columns.len())
        };
        let found: Vec<_> = blocks(&entries, 600.0).into_iter().map(names).collect();
        let others = ["a flow", "one", "or another"].map(str::to_owned).to_vec();
        assert_eq!(found, [(others, 3), (vec![wide.1.clone()], 1)]);
        // Where all fit beside each other they stay in their order, and so where there is a single other one.
        let of_room = |room, entries: &[Entry]| blocks(entries, room).len();
        assert_eq!(of_room(3000.0, &entries), 1);
        assert_eq!(of_room(600.0, &entries[..2]), 1);
        let style = Style {
            size: Size::OneColumn,
            ..Style::default()
        };
        let mut canvas = Canvas::new(style, 640.0);
        let bottom = draw(&mut canvas, 100.0, &entries);
        assert_eq!((bottom, canvas.width), (100.0 + 2.0 * ROW + 8.0, 900.0));
    }

    #[test]
    fn names_that_differ_in_their_middle_do_so_in_the_legend_of_one_column() {
        let name = |gain: &str| {
            let rest = "with a window of twice the product of bandwidth and delay";
            format!("ours, paced at {gain} times the rate of the link, {rest}")
        };
        let entries = ["1.25", "1.75"].map(|gain| (Swatch::Bar(Colour::BLUE), name(gain)));
        let drawn = |size: Size| {
            let style = Style {
                size,
                ..Style::default()
            };
            let mut canvas = Canvas::new(style, 640.0);
            let bottom = draw(&mut canvas, 100.0, &entries);
            let texts = canvas.shapes.into_iter().filter_map(|shape| match shape {
                Shape::Text { text, at, .. } => Some((text, at.1)),
                _ => None,
            });
            (texts.collect::<Vec<(String, f64)>>(), bottom)
        };
        let (texts, bottom) = drawn(Size::OneColumn);
        let all: Vec<&str> = texts.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(all.join(" "), format!("{} {}", name("1.25"), name("1.75")));
        assert!(
            texts
                .windows(2)
                .all(|pair| pair[1].1 - pair[0].1 >= LINE - 1e-9)
        );
        assert!(texts.last().unwrap().1 < bottom, "{texts:?} {bottom}");
        // On a slide each has a line, and so of many where their ends tell them apart.
        let (texts, bottom) = drawn(Size::Slide);
        assert_eq!((texts.len(), bottom), (2, 100.0 + 2.0 * ROW + 8.0));
        let many = |told_apart: &str| -> Vec<Entry> {
            let name = |of| name("1.25").replace(told_apart, &format!("{told_apart}{of}"));
            (0..9)
                .map(|of| (Swatch::Bar(Colour::BLUE), name(of)))
                .collect()
        };
        let room = 900.0 - 2.0 * MARGIN - SWATCH;
        assert!(!needs_lines(&many("ours"), room));
        assert!(needs_lines(&many("with"), room));
    }
}
