//! Large data made small without a difference that could be seen.
//!
//! Of all points of a line that fall into one column of pixels, the picture depends on four alone:
//! the first, the lowest, the highest and the last (Jugel et al., "M4", VLDB 2014). So a line of
//! ten million points is drawn as one of a few thousand, and no extreme is lost.

use super::canvas::Point;

/// Width of a column, in units of layout: half a pixel at most sizes.
const COLUMN: f64 = 0.5;

fn column(x: f64) -> i64 {
    (x / COLUMN).floor() as i64
}

/// A line, thinned. Points must be in order of x.
pub(super) fn line(points: impl IntoIterator<Item = Point>) -> Vec<Point> {
    extremes(points, |point| column(point.0), |point| point.1)
}

/// Of all things in a column the first, the lowest, the highest and the last. They must be in order
/// of their columns.
pub(super) fn extremes<T: Copy>(
    things: impl IntoIterator<Item = T>,
    column: impl Fn(&T) -> i64,
    height: impl Fn(&T) -> f64,
) -> Vec<T> {
    let mut result = Vec::new();
    let mut current: Option<(i64, [(usize, T); 4])> = None;
    for here in things.into_iter().enumerate() {
        let (_, thing) = here;
        let at = column(&thing);
        match &mut current {
            Some((column, [_, lowest, highest, last])) if *column == at => {
                if height(&thing) < height(&lowest.1) {
                    *lowest = here;
                }
                if height(&thing) > height(&highest.1) {
                    *highest = here;
                }
                *last = here;
            }
            _ => {
                if let Some((_, four)) = current.replace((at, [here; 4])) {
                    put(&mut result, four);
                }
            }
        }
    }
    if let Some((_, four)) = current {
        put(&mut result, four);
    }
    result
}

/// First, lowest, highest and last of a column, in the order they came.
fn put<T: Copy>(result: &mut Vec<T>, mut four: [(usize, T); 4]) {
    four.sort_by_key(|&(index, _)| index);
    let mut last = None;
    for (index, thing) in four {
        if last != Some(index) {
            result.push(thing);
        }
        last = Some(index);
    }
}

/// One piece of the area between two lines: x, and the two y.
pub(super) type Slice = (f64, f64, f64);

/// The area between two lines, thinned: of a column, the extremes of both. In order of x.
pub(super) fn band(slices: impl IntoIterator<Item = Slice>) -> Vec<Slice> {
    let mut result: Vec<Slice> = Vec::new();
    for (x, one, two) in slices {
        let (top, bottom) = (one.min(two), one.max(two));
        match result.last_mut() {
            Some(last) if column(last.0) == column(x) => {
                last.1 = last.1.min(top);
                last.2 = last.2.max(bottom);
            }
            _ => result.push((x, top, bottom)),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A saw with a spike here and there: no two neighbours are alike.
    fn saw(points: usize, width: f64) -> impl Iterator<Item = Point> {
        (0..points).map(move |index| {
            let spike = if index % 99_991 == 5 { 300.0 } else { 0.0 };
            let y = (index * 7919 % 101) as f64 + spike;
            (index as f64 / points as f64 * width, y)
        })
    }

    /// Lowest and highest y in each column.
    fn extremes(
        points: impl Iterator<Item = Point>,
    ) -> std::collections::BTreeMap<i64, (f64, f64)> {
        let mut result = std::collections::BTreeMap::new();
        for (x, y) in points {
            let entry = result.entry(column(x)).or_insert((y, y));
            *entry = (entry.0.min(y), entry.1.max(y));
        }
        result
    }

    #[test]
    fn of_a_million_points_a_few_thousand_are_left_with_every_extreme() {
        let thinned = line(saw(1_000_000, 1500.0));
        assert!(thinned.len() <= 4 * 3000, "{}", thinned.len());
        assert_eq!(
            extremes(thinned.iter().copied()),
            extremes(saw(1_000_000, 1500.0))
        );
        assert!(thinned.is_sorted_by(|one, two| one.0 <= two.0));
    }

    #[test]
    fn what_fits_is_left_alone() {
        let points: Vec<Point> = saw(1000, 1500.0).collect();
        assert_eq!(line(points.iter().copied()), points);
    }

    #[test]
    fn columns_stay_connected_as_they_were() {
        // The last point of a column and the first of the next are the ends of what joins them.
        let points = [(0.1, 5.0), (0.2, 9.0), (0.3, 1.0), (0.4, 4.0), (0.6, 7.0)];
        assert_eq!(line(points), points);
        let more = [
            (0.1, 5.0),
            (0.15, 6.0),
            (0.2, 9.0),
            (0.3, 1.0),
            (0.35, 2.0),
            (0.4, 4.0),
        ];
        assert_eq!(line(more), [more[0], more[2], more[3], more[5]]);
    }

    #[test]
    fn a_band_keeps_its_rims() {
        let slices = [(0.0, 5.0, 6.0), (0.2, 9.0, 4.0), (0.7, 1.0, 2.0)];
        assert_eq!(band(slices), [(0.0, 4.0, 9.0), (0.7, 1.0, 2.0)]);
    }
}
