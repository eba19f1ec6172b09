//! Which flows of several captures are drawn side by side where there is no room for all: those that shared a link for
//! long before those that were there for a moment, whatever their size, and where even they are too many, of each
//! capture those that got most beside those that got least, as both are what such a chart is about.

use super::super::rivals::largest_places;
use super::axis::grouped;
use super::label::count;

/// So many times as long as others is long.
const LONG: i64 = 2;

/// A flow that may be drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    /// Its payload, in bytes.
    pub(super) payload: u64,
    /// From its first to its last data.
    pub(super) span_ns: i64,
}

/// What is drawn, and how much is not.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Selection {
    /// Places of the chosen flows of each capture, in order.
    pub(super) chosen: Vec<Vec<usize>>,
    /// Captures of which none is drawn, and their flows.
    others: (usize, usize),
    /// Flows of the captures that are drawn: between those that got most and those that got least.
    between: usize,
    /// Those that did not last.
    short: usize,
}

impl Selection {
    /// At most so many of the flows of each capture, the largest first.
    pub(super) fn of(captures: &[Vec<Candidate>], rows: usize) -> Self {
        let all: usize = captures.iter().map(Vec::len).sum();
        if all <= rows {
            return Self {
                chosen: captures.iter().map(|of| (0..of.len()).collect()).collect(),
                ..Self::default()
            };
        }
        let long: Vec<Vec<usize>> = captures.iter().map(|of| long(of)).collect();
        let taken = captures_taken(&long, rows);
        let mut selection = Self {
            chosen: vec![Vec::new(); captures.len()],
            ..Self::default()
        };
        for (capture, &rows) in rows_of_each(&long, &taken, rows).iter().enumerate() {
            let (flows, long) = (&captures[capture], &long[capture]);
            if taken[capture] {
                selection.chosen[capture] = most_and_least(flows, long, rows);
                selection.between += long.len() - rows;
                selection.short += flows.len() - long.len();
            } else if !flows.is_empty() {
                selection.others.0 += 1;
                selection.others.1 += flows.len();
            }
        }
        let drawn: usize = selection.chosen.iter().map(Vec::len).sum();
        selection.add_short(captures, &long, (&taken, rows - drawn));
        selection
    }

    /// The largest of those that did not last, where there is room for some.
    fn add_short(
        &mut self,
        captures: &[Vec<Candidate>],
        long: &[Vec<usize>],
        (taken, rows): (&[bool], usize),
    ) {
        if rows == 0 {
            return;
        }
        let mut short: Vec<(u64, usize, usize)> = Vec::new();
        let drawn = captures
            .iter()
            .enumerate()
            .filter(|&(capture, _)| taken[capture]);
        for (capture, flows) in drawn {
            let is_short = |place: &usize| long[capture].binary_search(place).is_err();
            let places = (0..flows.len()).filter(is_short);
            short.extend(places.map(|place| (flows[place].payload, capture, place)));
        }
        short
            .sort_by_key(|&(payload, capture, place)| (std::cmp::Reverse(payload), capture, place));
        let sizes: Vec<u64> = short.iter().map(|&(payload, ..)| payload).collect();
        for index in largest_places(&sizes, rows) {
            let (_, capture, place) = short[index];
            self.chosen[capture].push(place);
            self.short -= 1;
        }
        self.chosen
            .iter_mut()
            .for_each(|places| places.sort_unstable());
    }

    /// How many flows are not drawn, by which rule: these, and `small` ones beside the largest of their capture; empty
    /// where all are drawn.
    pub(super) fn left_out(&self, small: usize) -> String {
        let (captures, of_captures) = self.others;
        let parts = [
            (
                of_captures,
                format!("of {}", count(captures, "other capture")),
            ),
            (
                self.between,
                "between those that sent most and least".to_owned(),
            ),
            (
                self.short,
                "that lasted less than half as long as another".to_owned(),
            ),
            (small, "under 1 % of the largest".to_owned()),
        ];
        let parts: Vec<(usize, String)> = parts.into_iter().filter(|&(n, _)| n > 0).collect();
        if let [(n, rule)] = parts.as_slice() {
            return format!("{} {rule} not drawn", count(*n, "flow"));
        }
        let all: usize = parts.iter().map(|&(n, _)| n).sum();
        let each = parts
            .iter()
            .map(|(n, rule)| format!("{} {rule}", grouped(*n as u64)));
        match all {
            0 => String::new(),
            _ => format!(
                "{} not drawn: {}",
                count(all, "flow"),
                each.collect::<Vec<_>>().join(", ")
            ),
        }
    }
}

/// The places of those that lasted at least half as long as the one that lasted longest.
fn long(flows: &[Candidate]) -> Vec<usize> {
    let longest_ns = flows.iter().map(|flow| flow.span_ns).max().unwrap_or(0);
    let is_long = |&place: &usize| flows[place].span_ns.saturating_mul(LONG) >= longest_ns;
    (0..flows.len()).filter(is_long).collect()
}

/// Rows that a capture needs, at least: one for the flow that sent most, and one for that which sent least.
fn least_rows(long: &[usize]) -> usize {
    long.len().min(2)
}

/// Which captures are drawn: as many as have room for what they need, from all over.
fn captures_taken(long: &[Vec<usize>], rows: usize) -> Vec<bool> {
    let with_flows: Vec<usize> = (0..long.len()).filter(|&of| !long[of].is_empty()).collect();
    let all = with_flows.len();
    let spread = |n: usize| (0..n).map(move |index| index * all / n);
    let fits = |n: &usize| {
        let needed = spread(*n).map(|index| least_rows(&long[with_flows[index]]));
        needed.sum::<usize>() <= rows
    };
    let n = (1..=all).rev().find(fits).unwrap_or(all.min(1));
    let mut taken = vec![false; long.len()];
    spread(n).for_each(|index| taken[with_flows[index]] = true);
    taken
}

/// How many of its flows that lasted are drawn of each capture: what it needs, and the same more of each.
fn rows_of_each(long: &[Vec<usize>], taken: &[bool], rows: usize) -> Vec<usize> {
    let mut each: Vec<usize> = long
        .iter()
        .zip(taken)
        .map(|(long, &taken)| if taken { least_rows(long).min(rows) } else { 0 })
        .collect();
    let mut left = rows.saturating_sub(each.iter().sum());
    loop {
        let before = left;
        for ((of, long), _) in each
            .iter_mut()
            .zip(long)
            .zip(taken)
            .filter(|(_, taken)| **taken)
        {
            if left > 0 && *of < long.len() {
                *of += 1;
                left -= 1;
            }
        }
        if left == before {
            return each;
        }
    }
}

/// So many of these flows, which are in the order of their sizes: half of them the largest, half the smallest.
fn most_and_least(flows: &[Candidate], places: &[usize], rows: usize) -> Vec<usize> {
    if rows >= places.len() {
        return places.to_vec();
    }
    let sizes: Vec<u64> = places.iter().map(|&place| flows[place].payload).collect();
    let most = largest_places(&sizes, rows.div_ceil(2));
    let rest = (0..places.len()).rev();
    let rest: Vec<usize> = rest
        .filter(|index| most.binary_search(index).is_err())
        .collect();
    let smallness: Vec<u64> = rest.iter().map(|&index| u64::MAX - sizes[index]).collect();
    let least = largest_places(&smallness, rows / 2);
    let least = least.into_iter().map(|index| rest[index]);
    let mut chosen: Vec<usize> = most
        .iter()
        .copied()
        .chain(least)
        .map(|index| places[index])
        .collect();
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flows(of: &[(u64, i64)]) -> Vec<Candidate> {
        let flow = |&(payload, span_ns): &(u64, i64)| Candidate { payload, span_ns };
        of.iter().map(flow).collect()
    }

    #[test]
    fn flows_that_got_little_of_a_link_stay_and_large_short_ones_go() {
        // A pair of which one starved, and a capture of downloads one after the other.
        let captures = [
            flows(&[(900, 10), (9, 9)]),
            flows(&[(800, 10), (700, 4), (600, 4), (500, 4)]),
        ];
        let selection = Selection::of(&captures, 4);
        assert_eq!(selection.chosen, [vec![0, 1], vec![0, 1]]);
        let said = "2 flows that lasted less than half as long as another not drawn";
        assert_eq!(selection.left_out(0), said);
        let both = "7 flows not drawn: 2 that lasted less than half as long as another, 5 under 1 % of the largest";
        assert_eq!(selection.left_out(5), both);
    }

    #[test]
    fn of_many_pairs_some_are_drawn_whole() {
        let captures = vec![flows(&[(900, 10), (9, 9)]); 9];
        let selection = Selection::of(&captures, 7);
        let drawn: Vec<usize> = (0..9)
            .filter(|&of| !selection.chosen[of].is_empty())
            .collect();
        assert_eq!(drawn, [0, 3, 6]);
        assert!(drawn.iter().all(|&of| selection.chosen[of] == [0, 1]));
        assert_eq!(
            selection.left_out(0),
            "12 flows of 6 other captures not drawn"
        );
    }

    #[test]
    fn of_many_flows_of_a_link_those_that_got_most_and_least_are_drawn() {
        let sizes: Vec<(u64, i64)> = (0..9).map(|place| (900 - place, 10)).collect();
        let selection = Selection::of(&[flows(&sizes)], 5);
        assert_eq!(selection.chosen, [vec![0, 1, 2, 7, 8]]);
        let said = "4 flows between those that sent most and least not drawn";
        assert_eq!(selection.left_out(0), said);
        // Of equal ones some from all over.
        let selection = Selection::of(&[flows(&[(5, 10); 12])], 4);
        assert_eq!(selection.chosen[0].len(), 4);
        assert!(
            selection.chosen[0]
                .iter()
                .any(|&place| (4..8).contains(&place))
        );
        // A capture with room for more gets what others do not need.
        let three = flows(&[(9, 1), (8, 1), (7, 1)]);
        let captures = [three.clone(), flows(&[(9, 1)]), three];
        let chosen = Selection::of(&captures, 6).chosen;
        assert_eq!(chosen, [vec![0, 1, 2], vec![0], vec![0, 2]]);
    }

    #[test]
    fn no_more_is_drawn_than_there_is_room_for_and_all_else_is_counted() {
        for captures in 0..6 {
            for each in 0..6_usize {
                for rows in 1..20 {
                    let of =
                        |place: usize| (100 - place as u64, if place % 3 == 1 { 1 } else { 9 });
                    let of: Vec<(u64, i64)> = (0..each).map(of).collect();
                    let selection = Selection::of(&vec![flows(&of); captures], rows);
                    let drawn: usize = selection.chosen.iter().map(Vec::len).sum();
                    let all = captures * each;
                    assert!(
                        (all.min(1)..=rows).contains(&drawn),
                        "{captures} {each} {rows}"
                    );
                    let not = selection.others.1 + selection.between + selection.short;
                    assert_eq!(drawn + not, all, "{captures} {each} {rows}");
                }
            }
        }
    }
}
