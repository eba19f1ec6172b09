//! Fills polygons with smooth edges.
//!
//! What several polygons cover together counts once, so that a line can be put together from pieces
//! that overlap: a rasteriser of letters, which adds up what each covers, would draw its joints bold.

use std::ops::Range;

use super::canvas::Point;

/// Parts that a pixel is cut into, across and down.
const PARTS: i64 = 4;

/// The coverage of a pixel that is wholly inside.
pub(super) const WHOLE: u16 = (PARTS * PARTS) as u16;

/// One side of a polygon, on its way down.
#[derive(Clone, Copy, Debug)]
struct Side {
    /// Where it crosses the next row of parts, in parts.
    x: f64,
    /// How much farther right it is a row below.
    slope: f64,
    /// The rows of parts that it crosses: from one to before another.
    from: i64,
    to: i64,
    /// Whether the polygon's inside begins (1) or ends (-1) to its right, or the other way round.
    winding: i32,
}

/// Sides of the polygons that are filled together. Kept from one filling to the next for its memory.
#[derive(Debug, Default)]
pub(super) struct Outline {
    sides: Vec<Side>,
    crossed: Vec<Side>,
    /// By how much the coverage of each pixel of a row differs from that of the pixel to its left.
    steps: Vec<i16>,
}

impl Outline {
    /// Adds a polygon, whose places are in pixels. One that is not finite leaves no mark.
    pub(super) fn add(&mut self, corners: impl IntoIterator<Item = Point>) {
        let before = self.sides.len();
        let mut corners = corners.into_iter();
        let Some(first) = corners.next() else { return };
        let mut last = first;
        for corner in corners.chain([first]) {
            if !(corner.0.is_finite() && corner.1.is_finite()) {
                self.sides.truncate(before);
                return;
            }
            self.add_side(last, corner);
            last = corner;
        }
    }

    fn add_side(&mut self, one: Point, other: Point) {
        let (high, low, winding) = if one.1 <= other.1 {
            (one, other, 1)
        } else {
            (other, one, -1)
        };
        let parts = PARTS as f64;
        // A row is crossed in its middle.
        let row = |y: f64| (y * parts - 0.5).ceil() as i64;
        let (from, to) = (row(high.1), row(low.1));
        if from < to {
            let slope = (low.0 - high.0) / (low.1 - high.1);
            let down = from as f64 + 0.5 - high.1 * parts;
            self.sides.push(Side {
                x: high.0 * parts + down * slope,
                slope,
                from,
                to,
                winding,
            });
        }
    }

    /// Calls `run` with row, columns and coverage (1 to [`WHOLE`]) of every run of pixels that lie
    /// inside, within a width and height; then there are no polygons any more.
    pub(super) fn fill(
        &mut self,
        (width, height): (usize, usize),
        mut run: impl FnMut(usize, Range<usize>, u16),
    ) {
        self.sides.sort_by_key(|side| side.from);
        self.crossed.clear();
        self.steps.resize(width + 2, 0);
        let end = self.sides.iter().map(|side| side.to).max().unwrap_or(0);
        let end = end.min(height as i64 * PARTS);
        let start = self.sides.first().map_or(0, |side| side.from.max(0));
        let mut next = 0;
        for y in start / PARTS..=end / PARTS {
            let mut touched = width..0;
            for row in (y * PARTS).max(start)..((y + 1) * PARTS).min(end) {
                self.crossed.retain(|side| side.to > row);
                while let Some(side) = self.sides.get(next).filter(|side| side.from <= row) {
                    next += 1;
                    if side.to > row {
                        let x = side.x + (row - side.from) as f64 * side.slope;
                        self.crossed.push(Side { x, ..*side });
                    }
                }
                self.cross(width, &mut touched);
            }
            self.finish_row(touched, |columns, coverage| {
                run(y as usize, columns, coverage);
            });
        }
        self.sides.clear();
    }

    /// Adds what one row of parts covers, and goes down to the next.
    fn cross(&mut self, width: usize, touched: &mut Range<usize>) {
        self.crossed.sort_by(|one, two| one.x.total_cmp(&two.x));
        let limit = width as i64 * PARTS;
        let mut winding = 0;
        let mut begin = 0;
        for side in &mut self.crossed {
            let x = (side.x.round() as i64).clamp(0, limit);
            if winding == 0 {
                begin = x;
            }
            winding += side.winding;
            if winding == 0 && x > begin {
                for (at, sign) in [(begin, 1), (x, -1)] {
                    let (column, right) = ((at / PARTS) as usize, (at % PARTS) as i16);
                    self.steps[column] += sign * (PARTS as i16 - right);
                    self.steps[column + 1] += sign * right;
                }
                touched.start = touched.start.min((begin / PARTS) as usize);
                touched.end = touched.end.max((x / PARTS) as usize + 1);
            }
            side.x += side.slope;
        }
    }

    /// Tells the runs of a row of pixels, and leaves the row empty.
    fn finish_row(&mut self, touched: Range<usize>, mut run: impl FnMut(Range<usize>, u16)) {
        let mut coverage = 0;
        let mut begin = touched.start;
        for column in touched.start..=touched.end {
            let step = std::mem::take(&mut self.steps[column]);
            if step != 0 {
                if coverage > 0 {
                    run(begin..column, coverage as u16);
                }
                begin = column;
                coverage += step;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Coverage of each pixel of a picture of 8 by 4.
    fn filled(polygons: &[&[Point]]) -> [[u16; 8]; 4] {
        let mut outline = Outline::default();
        for polygon in polygons {
            outline.add(polygon.iter().copied());
        }
        let mut found = [[0; 8]; 4];
        outline.fill((8, 4), |y, columns, coverage| {
            for at in &mut found[y][columns] {
                assert_eq!(*at, 0, "told twice");
                *at = coverage;
            }
        });
        // Nothing is left of it.
        outline.fill((8, 4), |y, columns, _| panic!("{y} {columns:?}"));
        found
    }

    fn rectangle(left: f64, top: f64, right: f64, bottom: f64) -> [Point; 4] {
        [(left, top), (right, top), (right, bottom), (left, bottom)]
    }

    #[test]
    fn a_pixel_is_covered_by_the_share_of_it_that_lies_inside() {
        // Halves of pixels at the left and below, a quarter in the corner.
        let found = filled(&[&rectangle(1.5, 1.0, 4.0, 2.5)]);
        assert_eq!(found[0], [0; 8]);
        assert_eq!(found[1], [0, 8, 16, 16, 0, 0, 0, 0]);
        assert_eq!(found[2], [0, 4, 8, 8, 0, 0, 0, 0]);
        assert_eq!(found[3], [0; 8]);
        // Below a diagonal lies half of each pixel that it crosses; a part is inside or is not.
        let triangle = filled(&[&[(0.0, 0.0), (4.0, 4.0), (0.0, 4.0)]]);
        for (y, row) in triangle.iter().enumerate() {
            assert_eq!(row[..y], [16; 8][..y]);
            assert!(row[y].abs_diff(8) <= 2, "{row:?}");
            assert_eq!(row[y + 1..], [0; 8][y + 1..]);
        }
    }

    #[test]
    fn what_two_polygons_cover_counts_once() {
        let one = rectangle(0.5, 0.0, 3.5, 1.0);
        let other = rectangle(1.5, 0.0, 4.5, 1.0);
        let found = filled(&[&one, &other]);
        assert_eq!(found[0], [8, 16, 16, 16, 8, 0, 0, 0]);
        // Also at the rims, where both cover half.
        assert_eq!(filled(&[&one, &one])[0], filled(&[&one])[0]);
    }

    #[test]
    fn what_lies_outside_leaves_no_mark_and_costs_nothing() {
        let whole = filled(&[&rectangle(-1e9, -1e9, 1e9, 1e9)]);
        assert_eq!(whole, [[WHOLE; 8]; 4]);
        for (dx, dy) in [(-20.0, 0.0), (20.0, 0.0), (0.0, -20.0), (0.0, 20.0)] {
            let beside = rectangle(dx, dy, dx + 8.0, dy + 4.0);
            assert_eq!(filled(&[&beside]), [[0; 8]; 4], "{dx} {dy}");
        }
        assert_eq!(filled(&[&rectangle(1.0, 1.0, f64::NAN, 2.0)]), [[0; 8]; 4]);
        assert_eq!(filled(&[&[]]), [[0; 8]; 4]);
        assert_eq!(filled(&[&[(1.0, 1.0)]]), [[0; 8]; 4]);
    }
}
