//! Pings of a capture over time: what others meet on the link meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use crate::analyze::Ping;
use crate::study::words::Thousands;

use super::ChartOptions;
use super::axis::{Axis, Quantity};
use super::canvas::{Canvas, Point, Stroke};
use super::choice::Scene;
use super::frame::{Panel, header};
use super::label::{count, joined};
use super::legend::Swatch;
use super::palette::{Colour, LINES, LineStyle};
use super::plot::{Bins, height_below, marked};
use super::style::Size;
use super::thin;

/// A line goes on from a ping to the next where these are no more than so many times the usual time apart.
const REACH: f64 = 2.5;

/// Of the strokes that stand for pings without an answer, above the time axis.
const LOST: f64 = 14.0;

/// So many of a line are each marked; of more some are.
const EACH_MAX: usize = 60;

/// When a ping was sent, in s; what it took, in s, where it was answered.
type Sent = (f64, Option<f64>);

/// Who asked whom, and the pings.
struct Asked {
    name: String,
    pings: Vec<Sent>,
}

impl Asked {
    /// Its pings without one that is missing in between, by what they took.
    fn parts(&self) -> Vec<Vec<(f64, f64)>> {
        let usual = self.usual_s();
        let mut parts: Vec<Vec<(f64, f64)>> = Vec::new();
        let mut last: Option<f64> = None;
        for &(at, took) in &self.pings {
            let Some(took) = took else {
                last = None;
                continue;
            };
            let goes_on = last.is_some_and(|before| at - before <= REACH * usual);
            match parts.last_mut() {
                Some(part) if goes_on => part.push((at, took)),
                _ => parts.push(vec![(at, took)]),
            }
            last = Some(at);
        }
        parts
    }

    /// The usual time from one to the next: the median.
    fn usual_s(&self) -> f64 {
        let mut steps: Vec<f64> = self
            .pings
            .windows(2)
            .map(|two| two[1].0 - two[0].0)
            .collect();
        steps.sort_by(f64::total_cmp);
        steps.get(steps.len() / 2).copied().unwrap_or(0.0)
    }
}

/// The round trip of each ping, by who asked whom; none without an answer.
pub(super) fn draw(scene: &Scene<'_>, options: &ChartOptions) -> Option<Canvas> {
    let all = asked(scene);
    let drawn = &all[..all.len().min(scene.lines_max())];
    let pings = || drawn.iter().flat_map(|of| &of.pings);
    let took = || pings().filter_map(|&(_, took)| took);
    let extent = (took().reduce(f64::min)?, took().reduce(f64::max)?);
    let ticks_max = match scene.style.size {
        Size::TwoColumns => 8,
        _ => 6,
    };
    let y = Axis::for_any_delays(Quantity::PING, extent, took(), ticks_max);
    let (sent, answered) = (pings().count() as u64, took().count() as u64);
    let lost = sent - answered;
    let notes = [
        format!(
            "{}, {}",
            Thousands::Thin.counted(sent, "ping"),
            match lost {
                0 => "all answered".to_owned(),
                lost => format!("{lost} without an answer"),
            }
        ),
        match all.len() - drawn.len() {
            0 => String::new(),
            more => format!(
                "those of {} not drawn",
                count(more, "further pair of hosts")
            ),
        },
    ];
    let lines = || drawn.iter().zip(LINES);
    let mut legend: Vec<(Swatch, String)> = lines()
        .map(|(of, style)| (Swatch::Line(style), of.name.clone()))
        .collect();
    if lost > 0 {
        legend.push((Swatch::Tick(Colour::INK, 3.0), "no answer".to_owned()));
    }
    let mut canvas = Canvas::new(scene.style, scene.style.size.height());
    let title = format!("Pings – {}", scene.title);
    let top = header(&mut canvas, &title, &joined(&notes), &legend);
    canvas.height = height_below(scene.style.size, top);
    let bins = with_pings(Bins::of(scene, options.bin_ns)?, drawn);
    let x = bins.axis(scene.style);
    let panel = Panel::between(&canvas, top, canvas.height - 16.0, x, y);
    panel.draw_back(&mut canvas);
    let all = drawn.len();
    for (rank, (of, style)) in lines().enumerate().rev() {
        of.draw(&mut canvas, &panel, style, (rank, all));
    }
    Some(canvas)
}

/// The same bins, and those of pings before and after them.
fn with_pings(bins: Bins, drawn: &[Asked]) -> Bins {
    let times = drawn.iter().flat_map(|of| &of.pings);
    let indices = times.map(|&(at, _)| (at / bins.length_s).floor() as i64);
    indices.fold(bins, |bins, index| Bins {
        first: bins.first.min(index),
        last: bins.last.max(index),
        ..bins
    })
}

impl Asked {
    /// Draws the line, which is one of so many.
    fn draw(
        &self,
        canvas: &mut Canvas,
        panel: &Panel,
        style: LineStyle,
        (rank, lines): (usize, usize),
    ) {
        let stroke = Stroke::solid(style.colour, 3.0);
        let at = |&(x, y): &(f64, f64)| panel.at(x, y);
        let parts = self.parts();
        for part in &parts {
            canvas.line(&thin::line(part.iter().map(at)), stroke);
        }
        let all: Vec<Point> = parts.iter().flatten().map(at).collect();
        let marks = if all.len() <= EACH_MAX {
            all
        } else {
            let alone = parts.iter().filter(|part| part.len() == 1);
            let mut marks = marked(&all, rank, lines);
            marks.extend(apart(alone.flatten().map(at)));
            marks
        };
        for mark in marks {
            canvas.marker(mark, 7.0, style.marker, style.colour);
        }
        let lost = self.pings.iter().filter(|(_, took)| took.is_none());
        for (x, _) in apart(lost.map(|&(x, _)| panel.at(x, panel.y.min))) {
            let ends = [(x, panel.bottom), (x, panel.bottom - LOST)];
            canvas.line(&ends, Stroke::solid(style.colour, 3.0));
        }
    }
}

/// Points without those that others hide.
fn apart(points: impl Iterator<Item = Point>) -> impl Iterator<Item = Point> {
    /// Closer ones are not told apart: half of a mark, or of the width of a stroke.
    const APART: f64 = 2.0;
    let mut taken = BTreeSet::new();
    let place = |at: f64| (at / APART).floor() as i64;
    points.filter(move |&(x, y)| taken.insert((place(x), place(y))))
}

/// Pings by who asked whom, those with most first.
fn asked(scene: &Scene<'_>) -> Vec<Asked> {
    let mut asked: BTreeMap<(IpAddr, IpAddr), Vec<Sent>> = BTreeMap::new();
    for ping in &scene.capture.pings {
        let Ping {
            at,
            src,
            dst,
            rtt_ns,
            ..
        } = *ping;
        let at = at.since(scene.capture.origin) as f64 / 1e9;
        let took = rtt_ns.map(|ns| ns as f64 / 1e9);
        asked.entry((src, dst)).or_default().push((at, took));
    }
    let asked = asked.into_iter().map(|((src, dst), mut pings)| {
        pings.sort_by(|one, other| one.0.total_cmp(&other.0));
        Asked {
            name: format!("{src} → {dst}"),
            pings,
        }
    });
    let mut asked: Vec<Asked> = asked.collect();
    asked.sort_by_key(|of| std::cmp::Reverse(of.pings.len()));
    asked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_where_a_ping_is_missing_or_has_no_answer() {
        let of = |pings: &[Sent]| {
            let asked = Asked {
                name: String::new(),
                pings: pings.to_vec(),
            };
            asked.parts().iter().map(Vec::len).collect::<Vec<_>>()
        };
        let every = |second: f64| (second, Some(0.02));
        assert_eq!(of(&[0.0, 1.0, 2.0, 3.1].map(every)), [4]);
        assert_eq!(of(&[0.0, 1.0, 2.0, 6.0, 7.0].map(every)), [3, 2]);
        let mut lost = [0.0, 1.0, 2.0, 3.0, 4.0].map(every);
        lost[2].1 = None;
        assert_eq!(of(&lost), [2, 2]);
        assert_eq!(of(&[(0.0, None)]), [0; 0]);
    }

    /// Of a flood that nobody answers: no more strokes than a picture shows.
    #[test]
    fn points_that_others_hide_are_not_drawn() {
        let flood = (0..1_000_000).map(|index| (f64::from(index) * 1e-3, 50.0));
        assert_eq!(apart(flood).count(), 500);
        let few = [(1.0, 1.0), (1.0, 4.0), (5.0, 1.0)];
        assert_eq!(apart(few.into_iter()).collect::<Vec<_>>(), few);
    }
}
