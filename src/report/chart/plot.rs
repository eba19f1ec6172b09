//! Lines over bins of time: how they are put into a figure, alone or in panels above each other.

use super::axis::{Axis, Quantity};
use super::canvas::{Align, Canvas, Point, Stroke};
use super::choice::Scene;
use super::frame::{
    COLUMN_GAP, Panel, ROOM_MIN, ROOM_MIN_SLIDE, X_AXIS_HEIGHT, Y_TITLE_HEIGHT, header,
};
use super::label::joined;
use super::legend::Swatch;
use super::letters::{MARGIN, SUBTITLE};
use super::palette::{Colour, LineStyle};
use super::style::{Size, Style};
use super::thin;

mod bins;

pub(super) use bins::Bins;

/// One value of a line, at the middle of its bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// Number of the bin.
    pub(super) bin: i64,
    pub(super) value: f64,
    /// Smallest and largest value in the bin, where these are of interest.
    pub(super) range: Option<(f64, f64)>,
}

/// One flow's values; bins without data have none.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) style: LineStyle,
    pub(super) samples: Vec<Sample>,
}

impl Line {
    /// Its values, and the ends of their ranges.
    fn values(&self) -> impl Iterator<Item = f64> {
        self.samples.iter().flat_map(|sample| {
            let (low, high) = sample.range.unwrap_or((sample.value, sample.value));
            [low, sample.value, high]
        })
    }
}

/// What a figure is called, and how it looks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Caption {
    /// What it is of, behind what it shows.
    pub(super) title: String,
    pub(super) style: Style,
}

impl Caption {
    pub(super) fn of(scene: &Scene<'_>) -> Self {
        Self {
            title: scene.title.clone(),
            style: scene.style,
        }
    }
}

/// What is drawn in one panel.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plot {
    /// What it is about, for the title.
    pub(super) what: &'static str,
    pub(super) lines: Vec<Line>,
    /// From the smallest to the largest value.
    pub(super) extent: (f64, f64),
    pub(super) scale: PlotScale,
    /// A value that all are compared with, and its name.
    pub(super) reference: Option<(f64, String)>,
    /// How its lines are drawn.
    pub(super) drawing: Drawing,
    /// How its values came about.
    pub(super) notes: Vec<String>,
}

/// How the values of a bin are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drawing {
    /// A point in the middle of the bin, on a line.
    Line,
    /// The same, with a band from the smallest to the largest value.
    Band,
    /// As long as the bin: a count, of which there is none in between.
    Steps,
}

/// How the vertical axis of a plot is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PlotScale {
    /// From 0.
    Linear(Quantity),
    /// Of delays: log where they spread over decades, not from 0 where all are close together.
    Delays(Quantity),
    /// From the smallest to the largest value that there can be.
    Full(Quantity),
}

/// How lines are told apart from what they are compared with.
const REFERENCE: Stroke = Stroke::dashed(Colour::INK, 2.5);

impl Plot {
    /// Smallest and largest value or range of some lines; `None` without any.
    pub(super) fn extent_of(lines: &[Line]) -> Option<(f64, f64)> {
        let values = || lines.iter().flat_map(Line::values);
        Some((values().reduce(f64::min)?, values().reduce(f64::max)?))
    }

    /// The least value that counts: of each line all but a twentieth are above it.
    fn middle(&self) -> Option<f64> {
        let of_line = |line: &Line| {
            let mut values: Vec<f64> = line.samples.iter().map(|sample| sample.value).collect();
            let place = values.len() / 20;
            let (_, &mut middle, _) = (place < values.len())
                .then(|| values.select_nth_unstable_by(place, f64::total_cmp))?;
            Some(middle)
        };
        self.lines.iter().filter_map(of_line).reduce(f64::min)
    }

    fn axis(&self, ticks_max: usize) -> Axis {
        let (min, max) = self.extent;
        match self.scale {
            PlotScale::Linear(quantity) => {
                let reference = self.reference.as_ref().map_or(0.0, |&(value, _)| value);
                Axis::linear_above(quantity, min.min(0.0), max.max(reference), ticks_max)
            }
            PlotScale::Delays(quantity) => {
                let values = self.lines.iter().flat_map(Line::values);
                Axis::for_ranges(quantity, self.extent, values, self.middle(), ticks_max)
            }
            PlotScale::Full(quantity) => Axis::linear(quantity, min, max, ticks_max),
        }
    }

    fn legend(&self) -> Vec<(Swatch, String)> {
        let mut legend: Vec<(Swatch, String)> = self
            .lines
            .iter()
            .map(|line| (Swatch::Line(line.style), line.name.clone()))
            .collect();
        if let Some((_, name)) = &self.reference {
            legend.push((Swatch::Stroke(REFERENCE), name.clone()));
        }
        if self.drawing == Drawing::Band {
            legend.push((
                Swatch::Band(Colour::INK),
                "smallest to largest in a bin".to_owned(),
            ));
        }
        legend
    }

    /// A figure of its own.
    pub(super) fn figure(&self, caption: &Caption, bins: &Bins) -> Canvas {
        let height = caption.style.size.height();
        let mut canvas = Canvas::new(caption.style, height);
        let top = header(
            &mut canvas,
            &format!("{} – {}", self.what, caption.title),
            &joined(&self.notes),
            &self.legend(),
        );
        canvas.height = height_below(caption.style.size, top);
        let panel = Panel::between(
            &canvas,
            top,
            canvas.height - 16.0,
            bins.axis(caption.style),
            self.axis(if caption.style.size == Size::TwoColumns {
                8
            } else {
                6
            }),
        );
        panel.draw_back(&mut canvas);
        self.draw(&mut canvas, &panel, bins);
        canvas
    }

    fn draw(&self, canvas: &mut Canvas, panel: &Panel, bins: &Bins) {
        if let Some((value, _)) = &self.reference {
            let (from, to) = (panel.at(panel.x.min, *value), panel.at(panel.x.max, *value));
            canvas.line(&[from, to], REFERENCE);
        }
        draw_lines(canvas, panel, self, bins);
    }
}

/// The height of a figure with one panel, which begins below so much: a long legend takes nothing from it, but on a slide,
/// which has a height.
pub(super) fn height_below(size: Size, top: f64) -> f64 {
    let height = size.height();
    let least = match size {
        Size::Slide => Y_TITLE_HEIGHT + ROOM_MIN + X_AXIS_HEIGHT + 16.0,
        _ => 0.55 * height,
    };
    height.max((top + least).ceil())
}

/// One panel of several: a plot, or what is said in its place.
pub(super) enum Part {
    Plot(Plot),
    /// The name of its vertical axis, and why there is nothing to be seen.
    Nothing(String, &'static str),
}

/// Between panels below each other, in pixels.
const ROW_GAP: f64 = 30.0;

impl Part {
    fn axis(&self) -> Axis {
        match self {
            Self::Plot(plot) => plot.axis(4),
            Self::Nothing(title, _) => Axis {
                title: title.clone(),
                ticks: Vec::new(),
                ..Axis::linear(Quantity::FNESS, 0.0, 1.0, 1)
            },
        }
    }

    fn draw(&self, canvas: &mut Canvas, panel: &Panel, bins: &Bins) {
        match self {
            Self::Plot(plot) => plot.draw(canvas, panel, bins),
            Self::Nothing(_, reason) => {
                let middle = panel.at(
                    f64::midpoint(panel.x.min, panel.x.max),
                    f64::midpoint(panel.y.min, panel.y.max),
                );
                canvas.text(middle, reason, SUBTITLE, Align::Centre);
            }
        }
    }
}

/// What stands in the legends of all plots: lines first, each once; then what they have in common.
fn legend_of(parts: &[Part]) -> Vec<(Swatch, String)> {
    let mut legend: Vec<(Swatch, String)> = Vec::new();
    for part in parts {
        let Part::Plot(plot) = part else {
            continue;
        };
        for entry in plot.legend() {
            if !legend.contains(&entry) {
                legend.push(entry);
            }
        }
    }
    legend.sort_by_key(|(swatch, _)| !matches!(swatch, Swatch::Line(_)));
    legend
}

/// Plots above each other, on one time axis.
pub(super) fn stacked(
    what: &str,
    notes: &[String],
    parts: &[Part],
    caption: &Caption,
    bins: &Bins,
) -> Canvas {
    let height = caption.style.size.height();
    let mut canvas = Canvas::new(caption.style, height);
    let title = format!("{what} – {}", caption.title);
    let top = header(&mut canvas, &title, &joined(notes), &legend_of(parts));
    // A slide is as wide as it is high twice over, and no higher: panels in two columns.
    let is_wide = caption.style.size == Size::Slide && parts.len() > 1;
    let columns = if is_wide { 2 } else { 1 };
    let rows = parts.len().div_ceil(columns);
    let between = (rows - 1) as f64 * ROW_GAP;
    let room = if columns > 1 {
        let left = height - top - between - X_AXIS_HEIGHT - 16.0;
        left / rows as f64 - Y_TITLE_HEIGHT
    } else {
        (0.9 / rows as f64).clamp(0.24, 0.4) * height
    };
    let room = room.max(if is_wide { ROOM_MIN_SLIDE } else { ROOM_MIN });
    let x = bins.axis(caption.style);
    let axes: Vec<Axis> = parts.iter().map(Part::axis).collect();
    let labels = axes
        .iter()
        .map(|axis| Panel::between(&canvas, 0.0, height, x.clone(), axis.clone()).left)
        .fold(0.0, f64::max)
        - MARGIN;
    let pitch = (canvas.width - 2.0 * MARGIN + COLUMN_GAP) / columns as f64;
    for (index, (part, axis)) in parts.iter().zip(axes).enumerate() {
        let (row, column) = (index / columns, index % columns);
        let left = MARGIN + column as f64 * pitch;
        let top = top + Y_TITLE_HEIGHT + row as f64 * (Y_TITLE_HEIGHT + room + ROW_GAP);
        let panel = Panel {
            rim: left,
            left: left + labels,
            top,
            right: left + pitch - COLUMN_GAP - 10.0,
            bottom: top + room,
            x: x.clone(),
            y: axis,
        };
        // Of columns of unequal height each has a time axis at its end.
        if index + columns >= parts.len() {
            panel.draw_back(&mut canvas);
        } else {
            panel.draw_back_above(&mut canvas);
        }
        part.draw(&mut canvas, &panel, bins);
    }
    let panels = rows as f64 * (Y_TITLE_HEIGHT + room) + between;
    let end = top + panels + X_AXIS_HEIGHT + 16.0;
    canvas.height = end.ceil();
    canvas
}

fn draw_lines(canvas: &mut Canvas, panel: &Panel, plot: &Plot, bins: &Bins) {
    let lines = &plot.lines;
    // Bands of many flows must not add up to a wall.
    let opacity = (0.3 / (lines.len() as f64).sqrt()).clamp(0.1, 0.22);
    for line in lines {
        for run in runs(&line.samples, bins.reach()) {
            draw_band(canvas, panel, run, line.style.colour, opacity, bins);
        }
    }
    for (rank, line) in lines.iter().enumerate().rev() {
        let at = |sample: &Sample| panel.at(bins.middle_s(sample.bin), sample.value);
        let along = |sample: &Sample| {
            let middle_s = bins.middle_s(sample.bin);
            let ends = [-0.5, 0.5].map(|part| middle_s + part * bins.length_s);
            ends.map(|end| panel.at(end.clamp(panel.x.min, panel.x.max), sample.value))
        };
        let mut all: Vec<Point> = Vec::new();
        for run in runs(&line.samples, bins.reach()) {
            if plot.drawing == Drawing::Steps {
                let corners: Vec<Point> = run.iter().flat_map(along).collect();
                let outline = thin::line(from_zero_to_zero(panel, &corners));
                canvas.line(&outline, Stroke::solid(line.style.colour, 3.0));
                all.extend(thin::line(corners));
                continue;
            }
            let points = thin::line(run.iter().map(at));
            let alone = match (run, points.as_slice()) {
                ([one], _) => Some(at(one)),
                (_, &[one]) => Some(one),
                _ => None,
            };
            if let Some(alone) = alone {
                canvas.marker(alone, 5.0, line.style.marker, line.style.colour);
            } else {
                canvas.line(&points, Stroke::solid(line.style.colour, 3.0));
            }
            all.extend(points);
        }
        for point in marked(&all, rank, lines.len()) {
            canvas.marker(point, 7.0, line.style.marker, line.style.colour);
        }
    }
}

/// The corners of steps with those that they come up from and go back to: no bin before or after them counts anything.
fn from_zero_to_zero(panel: &Panel, corners: &[Point]) -> Vec<Point> {
    let (_, zero) = panel.at(panel.x.min, 0.0);
    let foot = |corner: Option<&Point>| {
        let above = corner.filter(|&&(_, y)| y < zero);
        above.map(|&(x, _)| (x, zero))
    };
    let (before, after) = (foot(corners.first()), foot(corners.last()));
    let corners = corners.iter().copied();
    before.into_iter().chain(corners).chain(after).collect()
}

/// Samples without a gap: neighbours are at most `reach` bins apart.
pub(super) fn runs(samples: &[Sample], reach: i64) -> impl Iterator<Item = &[Sample]> {
    samples.chunk_by(move |one, next| next.bin - one.bin <= reach)
}

fn draw_band(
    canvas: &mut Canvas,
    panel: &Panel,
    run: &[Sample],
    colour: Colour,
    opacity: f64,
    bins: &Bins,
) {
    let slices = thin::band(run.iter().filter_map(|sample| {
        let (min, max) = sample.range?;
        let ((x, low), (_, high)) = (
            panel.at(bins.middle_s(sample.bin), min),
            panel.at(bins.middle_s(sample.bin), max),
        );
        Some((x, low, high))
    }));
    if let [(x, high, low)] = slices.as_slice() {
        canvas.line(&[(*x, *high), (*x, *low)], Stroke::solid(colour, 1.5));
    } else if !slices.is_empty() {
        canvas.area(outline(&slices), colour, opacity);
    }
}

/// The rim of an area between two lines.
pub(super) fn outline(slices: &[thin::Slice]) -> Vec<Point> {
    let above = slices.iter().map(|&(x, high, _)| (x, high));
    let below = slices.iter().rev().map(|&(x, _, low)| (x, low));
    above.chain(below).collect()
}

/// About eight points of a line get a marker, each line's at other places than its neighbours'; a
/// short line has one in its middle.
pub(super) fn marked(points: &[Point], rank: usize, lines: usize) -> Vec<Point> {
    const SPACING: f64 = 180.0;
    let shift = SPACING * rank as f64 / lines.max(1) as f64;
    let mut next = points.first().map_or(0.0, |first| first.0) + shift;
    let mut result = Vec::new();
    for &point in points {
        if point.0 >= next {
            result.push(point);
            next += SPACING * (((point.0 - next) / SPACING).floor() + 1.0);
        }
    }
    if result.is_empty() {
        result.extend(points.get(points.len() / 2));
    }
    result
}

#[cfg(test)]
mod tests;
