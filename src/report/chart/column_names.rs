//! Names below the columns of a map: each is there and whole as long as that can be, however narrow the columns.

use super::canvas::{Align, Canvas, Type};
use super::fit::{shorten_apart, wrap};
use super::font::text_width;
use super::letters::{LABEL, baseline};

/// From the columns to the baseline of a line below them, and between two lines.
const FIRST: f64 = 30.0;
const LINE: f64 = 27.0;
/// Above and below names that read upwards.
const RIM: f64 = 9.0;
/// The longest that these get.
const LONGEST: f64 = 280.0;
const LINES_MAX: usize = 3;
/// Between two names.
const GAP: f64 = 8.0;

/// How names are written below columns of one width.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ColumnNames {
    /// In one line or a few.
    Lines { font: Type, lines: Vec<Vec<String>> },
    /// Numbers of which only each so-many-th has room: the others follow from these.
    Sparse { font: Type, step: usize },
    /// Upwards, for there is no room for words.
    Upwards { font: Type, texts: Vec<String> },
}

impl ColumnNames {
    /// For columns so wide.
    pub(super) fn of(names: &[String], width: f64) -> Self {
        let room = width - GAP;
        let fonts = [LABEL.px, 21.0, 19.0, 17.0].map(|px| Type { px, ..LABEL });
        let whole = |lines_max: usize, font: Type| {
            let lines = names.iter().map(|name| wrap(name, font, room, lines_max));
            let lines: Vec<Vec<String>> = lines.collect();
            let fits = |line: &String| !line.contains('…') && text_width(line, font) <= room;
            let all_fit = lines.iter().flatten().all(fits);
            all_fit.then_some(Self::Lines { font, lines })
        };
        let across = |lines_max: usize| fonts.iter().find_map(|&font| whole(lines_max, font));
        if let Some(line) = across(1) {
            return line;
        }
        if names.iter().all(|name| is_of_numbers(name)) {
            let widest = names.iter().map(|name| text_width(name, LABEL));
            let widest = widest.fold(0.0, f64::max);
            let step = ((widest + GAP) / width).ceil().max(1.0) as usize;
            return Self::Sparse { font: LABEL, step };
        }
        across(LINES_MAX).unwrap_or_else(|| {
            let px = (width - 2.0).clamp(11.0, LABEL.px);
            let font = Type { px, ..LABEL };
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let texts = shorten_apart(&names, font, LONGEST);
            Self::Upwards { font, texts }
        })
    }

    /// Height that they take below the columns.
    pub(super) fn height(&self) -> f64 {
        match self {
            Self::Lines { lines, .. } => {
                let most = lines.iter().map(Vec::len).max().unwrap_or(1);
                FIRST + LINE * most.saturating_sub(1) as f64
            }
            Self::Sparse { .. } => FIRST,
            Self::Upwards { font, texts } => {
                let widths = texts.iter().map(|text| text_width(text, *font));
                widths.fold(0.0, f64::max) + 2.0 * RIM
            }
        }
    }

    /// Writes them below columns that begin and end there.
    pub(super) fn draw(&self, canvas: &mut Canvas, names: &[String], at: (f64, f64), width: f64) {
        let (left, bottom) = at;
        let middle = |column: usize| left + (column as f64 + 0.5) * width;
        match self {
            Self::Lines { font, lines } => {
                for (column, lines) in lines.iter().enumerate() {
                    for (line, text) in lines.iter().enumerate() {
                        let at = (middle(column), bottom + FIRST + LINE * line as f64);
                        canvas.text(at, text, *font, Align::Centre);
                    }
                }
            }
            Self::Sparse { font, step } => {
                for (column, name) in names.iter().enumerate().step_by(*step) {
                    let at = (middle(column), bottom + FIRST);
                    canvas.text(at, name, *font, Align::Centre);
                }
            }
            Self::Upwards { font, texts } => {
                for (column, text) in texts.iter().enumerate() {
                    let at = (baseline(middle(column), *font), bottom + RIM);
                    canvas.text(at, text, *font, Align::Upwards);
                }
            }
        }
    }
}

/// Numbers, or several such as `1 | 80`.
fn is_of_numbers(name: &str) -> bool {
    let mut parts = name.split(" | ");
    parts.all(|part| part.parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn every_word_is_there_and_whole() {
        let variants = names(&["bbr", "bbrv3+illinois", "westwood+"]);
        let shown = |width| match ColumnNames::of(&variants, width) {
            ColumnNames::Lines { lines, .. } => lines.iter().map(|lines| lines.concat()).collect(),
            ColumnNames::Upwards { texts, .. } => texts,
            ColumnNames::Sparse { .. } => Vec::new(),
        };
        for width in [300.0, 110.0, 60.0, 20.0] {
            assert_eq!(shown(width), variants, "{width}");
        }
        let lines = |width| match ColumnNames::of(&variants, width) {
            ColumnNames::Lines { lines, .. } => lines.iter().map(Vec::len).max(),
            _ => None,
        };
        assert_eq!(
            (lines(300.0), lines(110.0), lines(60.0)),
            (Some(1), Some(2), None)
        );
    }

    #[test]
    fn of_numbers_some_are_enough() {
        let delays = names(&["1", "20", "40", "60", "80", "100"]);
        let step = |width| match ColumnNames::of(&delays, width) {
            ColumnNames::Sparse { step, .. } => step,
            ColumnNames::Lines { .. } => 1,
            ColumnNames::Upwards { .. } => 0,
        };
        assert_eq!((step(60.0), step(30.0)), (1, 2));
        assert!(is_of_numbers("1 | 80") && !is_of_numbers("cubic | 80"));
    }

    #[test]
    fn names_that_read_upwards_keep_apart() {
        let pairs: Vec<String> = (0..21)
            .map(|pair| format!("bbrv{pair}+westwood+"))
            .collect();
        let mut canvas = Canvas::new(crate::report::chart::Style::default(), 600.0);
        let shown = ColumnNames::of(&pairs, 30.0);
        shown.draw(&mut canvas, &pairs, (100.0, 100.0), 30.0);
        canvas.text(
            (100.0, 100.0 + shown.height() + 23.0),
            "CCA",
            LABEL,
            Align::Left,
        );
        assert_eq!(canvas.shapes.len(), 22);
        super::super::tests::assert_legible(&canvas);
    }
}
