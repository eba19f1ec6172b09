//! Flows over time: goodput, RTT, bytes in flight.

use std::collections::BTreeMap;

use crate::observe::Bin;

use super::ChartOptions;
use super::axis::{Axis, Quantity, grouped, nice_step};
use super::canvas::{Canvas, Point, Stroke};
use super::choice::{NamedFlow, Scene, left_out};
use super::frame::{HEIGHT, Panel, Swatch, WIDTH, header};
use super::label::count;
use super::palette::{Colour, LINES, LINES_MAX, LineStyle, OTHER};

/// Points of one line; bins are joined until there are no more. More than one in two pixels
/// cannot be seen.
const POINTS_MAX: i64 = 750;

/// One value of a line, at the middle of its bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// Number of the joined bin.
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

/// How time is cut for a chart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bins {
    /// How many bins of the series make one of the chart.
    joined: i64,
    /// Length of one of the chart, in seconds.
    length_s: f64,
    first: i64,
    last: i64,
}

impl Bins {
    pub(super) fn of(scene: &Scene<'_>, bin_ns: i64) -> Option<Self> {
        let (first, last) = scene.bin_span()?;
        let joined = nice_step((last - first + 1) as f64, POINTS_MAX as usize).max(1.0) as i64;
        let length_s = (joined * bin_ns) as f64 / 1e9;
        Some(Self {
            joined,
            length_s,
            first: first.div_euclid(joined),
            last: last.div_euclid(joined),
        })
    }

    /// A flow's bins, joined.
    fn join(&self, bins: &[Bin]) -> Vec<Bin> {
        let mut result: Vec<Bin> = Vec::new();
        for bin in bins {
            let index = bin.index.div_euclid(self.joined);
            match result.last_mut().filter(|last| last.index == index) {
                None => result.push(Bin { index, ..*bin }),
                Some(last) => add(last, bin),
            }
        }
        result
    }

    /// The time axis: from the first packet on, unless nothing was sent for long.
    fn axis(&self) -> Axis {
        let (first, end) = (
            self.first as f64 * self.length_s,
            (self.last + 1) as f64 * self.length_s,
        );
        let start = if first < 0.0 || first > 0.25 * end {
            first
        } else {
            0.0
        };
        Axis::tight(Quantity::TIME, start, end, 12)
    }

    /// The middle of a bin, in seconds.
    fn middle_s(&self, bin: i64) -> f64 {
        (bin as f64 + 0.5) * self.length_s
    }

    /// Their length, in words.
    fn words(&self) -> String {
        format!("bins of {}", Quantity::TIME.format(self.length_s))
    }
}

/// What joined bins have together.
fn add(bin: &mut Bin, other: &Bin) {
    if other.rtt_samples > 0 {
        let none = bin.rtt_samples == 0;
        bin.rtt_ns_min = if none {
            other.rtt_ns_min
        } else {
            bin.rtt_ns_min.min(other.rtt_ns_min)
        };
        bin.rtt_ns_max = if none {
            other.rtt_ns_max
        } else {
            bin.rtt_ns_max.max(other.rtt_ns_max)
        };
        bin.rtt_samples += other.rtt_samples;
        bin.rtt_ns_sum = bin.rtt_ns_sum.saturating_add(other.rtt_ns_sum);
    }
    bin.acked_bytes += other.acked_bytes;
    bin.payload_bytes += other.payload_bytes;
    bin.retransmitted_bytes += other.retransmitted_bytes;
    bin.in_flight_bytes_max = bin.in_flight_bytes_max.max(other.in_flight_bytes_max);
}

/// Goodput of each flow; a bin without any, between others, is 0.
pub(super) fn goodput(scene: &Scene<'_>, options: &ChartOptions) -> Option<Canvas> {
    let bins = Bins::of(scene, options.bin_ns)?;
    let (shown, rest) = scene.largest(LINES_MAX);
    let mut lines: Vec<Line> = shown
        .iter()
        .zip(LINES)
        .map(|(flow, style)| goodput_line(&[*flow], flow.name.clone(), style, &bins))
        .collect();
    let small_only = rest.is_empty();
    let others: Vec<&NamedFlow<'_>> = rest.into_iter().chain(&scene.small).collect();
    if !small_only {
        lines.push(goodput_line(
            &others,
            format!("other ({})", count(others.len(), "flow")),
            OTHER,
            &bins,
        ));
    }
    if lines
        .iter()
        .all(|line| line.samples.iter().all(|sample| sample.value <= 0.0))
    {
        return None;
    }
    let peak = lines
        .iter()
        .flat_map(|line| &line.samples)
        .map(|sample| sample.value)
        .fold(0.0, f64::max);
    let y = Axis::linear(
        Quantity::GOODPUT,
        0.0,
        peak.max(options.capacity_bps.unwrap_or(0.0)),
        8,
    );
    let mut legend = legend(&lines);
    let capacity = options
        .capacity_bps
        .map(|bps| (bps, Stroke::dashed(Colour::INK, 2.5)));
    if let Some((bps, stroke)) = capacity {
        legend.push((
            Swatch::Stroke(stroke),
            format!("capacity, {}", Quantity::GOODPUT.format(bps)),
        ));
    }
    let one_way = scene
        .flows
        .iter()
        .any(|flow| flow.flow.record.state.acked_bytes.is_none());
    let notes = [
        bins.words(),
        if small_only {
            left_out(0, scene.small.len())
        } else {
            String::new()
        },
        if one_way {
            "without ACKs: new bytes seen".to_owned()
        } else {
            String::new()
        },
    ];
    let (mut canvas, panel) = frame("Goodput", scene, &notes, &legend, bins.axis(), y);
    if let Some((bps, stroke)) = capacity {
        let (from, to) = (panel.at(panel.x.min, bps), panel.at(panel.x.max, bps));
        canvas.line(&[from, to], stroke);
    }
    draw_lines(&mut canvas, &panel, &lines, &bins);
    Some(canvas)
}

/// Goodput of some flows together, from their first bin with data to their last with an ACK.
pub(super) fn goodput_line(
    flows: &[&NamedFlow<'_>],
    name: String,
    style: LineStyle,
    bins: &Bins,
) -> Line {
    let mut bytes: BTreeMap<i64, u64> = BTreeMap::new();
    for flow in flows {
        let acked = flow.flow.record.state.acked_bytes.is_some();
        for bin in bins.join(flow.flow.record.series.bins()) {
            let seen = bin.payload_bytes.saturating_sub(bin.retransmitted_bytes);
            let news = if acked { bin.acked_bytes } else { seen };
            if news > 0 || bin.payload_bytes > 0 {
                *bytes.entry(bin.index).or_default() += news;
            }
        }
    }
    let span = bytes
        .keys()
        .next()
        .copied()
        .zip(bytes.keys().next_back().copied());
    let samples = span
        .into_iter()
        .flat_map(|(first, last)| first..=last)
        .map(|bin| {
            let value = 8.0 * bytes.get(&bin).copied().unwrap_or(0) as f64 / bins.length_s;
            Sample {
                bin,
                value,
                range: None,
            }
        });
    Line {
        name,
        style,
        samples: samples.collect(),
    }
}

/// Mean RTT of each flow, with the range of each bin. None without samples.
pub(super) fn rtt(scene: &Scene<'_>, options: &ChartOptions) -> Option<Canvas> {
    let bins = Bins::of(scene, options.bin_ns)?;
    let lines = lines(scene, |flow| {
        let joined = bins.join(flow.flow.record.series.bins());
        let samples = joined.iter().filter_map(|bin| {
            let range = (bin.rtt_ns_min as f64 / 1e9, bin.rtt_ns_max as f64 / 1e9);
            Some(Sample {
                bin: bin.index,
                value: bin.rtt_ns_mean()? / 1e9,
                range: Some(range),
            })
        });
        samples.collect()
    });
    let ranges = || {
        lines
            .iter()
            .flat_map(|line| &line.samples)
            .filter_map(|sample| sample.range)
    };
    let (min, max) = (
        ranges().map(|(min, _)| min).fold(f64::INFINITY, f64::min),
        ranges().map(|(_, max)| max).fold(0.0, f64::max),
    );
    if max <= 0.0 {
        return None;
    }
    // Nothing is quicker than a nanosecond, and a log scale has no 0.
    let y = Axis::for_delays(Quantity::RTT, min.max(1e-9), max, 8);
    let mut legend = legend(&lines);
    legend.push((
        Swatch::Band(Colour::INK),
        "smallest to largest in a bin".to_owned(),
    ));
    let samples: u64 = scene
        .flows
        .iter()
        .take(LINES_MAX)
        .map(|flow| flow.flow.summary().rtt.samples())
        .sum();
    let notes = [
        format!("mean in {}, n = {} samples", bins.words(), grouped(samples)),
        undrawn(scene, lines.len()),
    ];
    let (mut canvas, panel) = frame("RTT", scene, &notes, &legend, bins.axis(), y);
    draw_lines(&mut canvas, &panel, &lines, &bins);
    Some(canvas)
}

/// Bytes in flight of each flow, the largest of each bin. None where no ACK was seen.
pub(super) fn in_flight(scene: &Scene<'_>, options: &ChartOptions) -> Option<Canvas> {
    let bins = Bins::of(scene, options.bin_ns)?;
    let lines = lines(scene, |flow| {
        let joined = bins.join(flow.flow.record.series.bins());
        let samples = joined.iter().filter_map(|bin| {
            Some(Sample {
                bin: bin.index,
                value: bin.in_flight_bytes_max? as f64,
                range: None,
            })
        });
        samples.collect()
    });
    let peak = lines
        .iter()
        .flat_map(|line| &line.samples)
        .map(|sample| sample.value)
        .fold(0.0, f64::max);
    if peak <= 0.0 {
        return None;
    }
    let y = Axis::linear(Quantity::IN_FLIGHT, 0.0, peak, 8);
    let notes = [
        format!("largest value in {}", bins.words()),
        undrawn(scene, lines.len()),
    ];
    let (mut canvas, panel) = frame(
        "Bytes in flight",
        scene,
        &notes,
        &legend(&lines),
        bins.axis(),
        y,
    );
    draw_lines(&mut canvas, &panel, &lines, &bins);
    Some(canvas)
}

/// A line for each of the largest flows that have any samples.
fn lines(scene: &Scene<'_>, samples: impl Fn(&NamedFlow<'_>) -> Vec<Sample>) -> Vec<Line> {
    let (shown, _) = scene.largest(LINES_MAX);
    let lines = shown.into_iter().zip(LINES).map(|(flow, style)| Line {
        name: flow.name.clone(),
        style,
        samples: samples(flow),
    });
    lines.filter(|line| !line.samples.is_empty()).collect()
}

fn undrawn(scene: &Scene<'_>, drawn: usize) -> String {
    left_out(scene.flows.len() - drawn, scene.small.len())
}

fn legend(lines: &[Line]) -> Vec<(Swatch, String)> {
    lines
        .iter()
        .map(|line| (Swatch::Line(line.style), line.name.clone()))
        .collect()
}

fn frame(
    what: &str,
    scene: &Scene<'_>,
    notes: &[String],
    legend: &[(Swatch, String)],
    x: Axis,
    y: Axis,
) -> (Canvas, Panel) {
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    let notes: Vec<&str> = notes
        .iter()
        .map(String::as_str)
        .filter(|note| !note.is_empty())
        .collect();
    let top = header(
        &mut canvas,
        &format!("{what} – {}", scene.title),
        &notes.join(" · "),
        legend,
    );
    let panel = Panel::between(&canvas, top, HEIGHT - 16.0, x, y);
    panel.draw_back(&mut canvas);
    (canvas, panel)
}

fn draw_lines(canvas: &mut Canvas, panel: &Panel, lines: &[Line], bins: &Bins) {
    // Bands of many flows must not add up to a wall.
    let opacity = (0.3 / (lines.len() as f64).sqrt()).clamp(0.1, 0.22);
    for line in lines {
        for run in runs(&line.samples) {
            draw_band(canvas, panel, run, line.style.colour, opacity, bins);
        }
    }
    for (rank, line) in lines.iter().enumerate().rev() {
        let at = |sample: &Sample| panel.at(bins.middle_s(sample.bin), sample.value);
        for run in runs(&line.samples) {
            let points: Vec<Point> = run.iter().map(at).collect();
            if points.len() == 1 {
                canvas.marker(points[0], 5.0, line.style.marker, line.style.colour);
            } else {
                canvas.line(&points, Stroke::solid(line.style.colour, 3.0));
            }
        }
        let points: Vec<Point> = line.samples.iter().map(at).collect();
        for point in marked(&points, rank, lines.len()) {
            canvas.marker(point, 7.0, line.style.marker, line.style.colour);
        }
    }
}

/// Stretches of bins without a gap.
pub(super) fn runs(samples: &[Sample]) -> impl Iterator<Item = &[Sample]> {
    samples.chunk_by(|one, next| next.bin == one.bin + 1)
}

fn draw_band(
    canvas: &mut Canvas,
    panel: &Panel,
    run: &[Sample],
    colour: Colour,
    opacity: f64,
    bins: &Bins,
) {
    let corner = |sample: &Sample, top: bool| {
        let (min, max) = sample.range?;
        Some(panel.at(bins.middle_s(sample.bin), if top { max } else { min }))
    };
    let mut outline: Vec<Point> = run
        .iter()
        .filter_map(|sample| corner(sample, true))
        .collect();
    let below: Vec<Point> = run
        .iter()
        .rev()
        .filter_map(|sample| corner(sample, false))
        .collect();
    if let ([high], [low]) = (outline.as_slice(), below.as_slice()) {
        canvas.line(&[*high, *low], Stroke::solid(colour, 1.5));
    } else {
        outline.extend(below);
        if !outline.is_empty() {
            canvas.area(outline, colour, opacity);
        }
    }
}

/// About eight points of a line get a marker, each line's at other places than its neighbours'; a
/// short line has one in its middle.
fn marked(points: &[Point], rank: usize, lines: usize) -> Vec<Point> {
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
