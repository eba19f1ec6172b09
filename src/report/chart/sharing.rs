//! How the flows of a capture share the link over time: who has which part of it, how evenly.

use std::collections::BTreeMap;

use crate::analyze::{Delivered, Flow, Pair, is_behind_link};
use crate::metric;
use crate::observe;
use crate::time::CaptureTime;

use super::super::rivals::{Rivals, largest_pairs, together};
use super::axis::{Axis, Quantity, grouped};
use super::canvas::{Canvas, Stroke};
use super::choice::{NamedFlow, Scene};
use super::fill::Fill;
use super::frame::{Panel, header};
use super::label::count;
use super::legend::Swatch;
use super::palette::{Colour, LINES, LineStyle, Marker, OTHER, OTHER_NAMES as PAIRS};
use super::plot::{Bins, Caption, Drawing, Line, Part, Plot, PlotScale, Sample, stacked};
use super::{ChartOptions, IDLE};

/// Pairs of flows whose fness over time is drawn; more cannot be told apart.
const PAIRS_MAX: usize = 6;

/// Bins of the fairness over time: as many as the widest chart has pixels.
const BINS_MAX: i64 = 2048;

/// A share of one in so many is not seen.
const SEEN: u64 = 200;

/// So much of a capacity, which is one of goodput, passes a link with its headers; what is more waits before it, or is
/// dropped there.
const PASSES: f64 = 1.1;

/// So many bytes pass behind a link at once where packets are merged there (offload).
const MERGED: f64 = 65_536.0;

/// A link is busy that carries so much of its capacity.
const BUSY: f64 = 0.9;

/// So many bytes that always wait are a queue, where they add so much to the smallest round-trip time: hosts take their
/// time, too.
const QUEUED: f64 = 3_000.0;
const QUEUED_SHARE: f64 = 0.05;

/// IP bytes of some flows in each joined bin.
struct Layer {
    name: String,
    colour: Colour,
    bytes: BTreeMap<i64, u64>,
}

impl Layer {
    /// Whether it has a part of all that was sent, and leaves one.
    fn is_seen_among(&self, layers: &[Self]) -> bool {
        let sum = |layer: &Self| layer.bytes.values().sum::<u64>();
        let all: u64 = layers.iter().map(sum).sum();
        let seen = all.div_ceil(SEEN);
        (seen..=all - seen).contains(&sum(self))
    }

    fn of(flows: &[&NamedFlow<'_>], name: String, colour: Colour, joined: i64) -> Self {
        let mut bytes = BTreeMap::new();
        for bin in flows
            .iter()
            .flat_map(|flow| flow.flow.record.series().bins())
        {
            *bytes.entry(bin.index.div_euclid(joined)).or_default() += bin.ip_bytes;
        }
        Self {
            name,
            colour,
            bytes,
        }
    }
}

/// The flows' shares, of the capacity where it is known, otherwise of what all sent together;
/// above each other. Before a queue they are of what is offered, which may be more than all. None without flows.
pub(super) fn stacked_area(scene: &Scene<'_>, options: &ChartOptions) -> Option<Canvas> {
    // A share is a mean over a stretch of time: no more of these than can be seen.
    let room = scene.style.size.width() / 2.5;
    let (bins, joined) = Bins::of(scene, options.bin_ns)?.joined(room as i64);
    let sharers = rivals(scene);
    let (bins, missing) = known(bins, joined, &sharers)?;
    // Of what all sent, a part has shares, too.
    let (bins, of_last) = match options.capacity_bps {
        Some(_) => bins.whole(scene, joined),
        None => (bins, None),
    };
    let layers = layers(scene, joined);
    let total = |bin: i64| -> u64 {
        layers
            .iter()
            .filter_map(|layer| layer.bytes.get(&bin))
            .sum()
    };
    // Of what one flow sent it has all, and so it looks where the others are too small to be seen.
    if options.capacity_bps.is_none() && !layers.iter().any(|layer| layer.is_seen_among(&layers)) {
        return None;
    }
    // Capacity is a rate of goodput, but what is sent is close to it, headers included.
    let whole = |bin: i64| match options.capacity_bps {
        Some(bps) => bps * bins.covered_s(bin) / 8.0,
        None => total(bin) as f64,
    };
    let peak = (bins.first..=bins.last)
        .filter(|&bin| total(bin) > 0)
        .map(|bin| total(bin) as f64 / whole(bin))
        .fold(0.0, f64::max);
    if peak <= 0.0 {
        return None;
    }
    let mut legend: Vec<(Swatch, String)> = layers
        .iter()
        .map(|layer| (Swatch::Bar(layer.colour), layer.name.clone()))
        .collect();
    let above = (bins.first..=bins.last).map(|bin| total(bin) as f64 - PASSES * whole(bin));
    let above: f64 = above.filter(|&bytes| bytes > 0.0).sum();
    let capacity = options.capacity_bps;
    let words = Words::of(capacity, |bps| {
        let flows = scene.flows.iter().map(|named| &named.flow);
        let is_full = above > MERGED || peak > BUSY && is_queue_behind(&sharers, bps);
        is_full && is_delivered_within(scene, bps) && !is_behind_link(flows, options.bin_ns)
    });
    let line = capacity.filter(|_| peak > 1.0);
    let line = line.map(|_| Stroke::dashed(Colour::INK, 2.5));
    legend.extend(line.map(|line| (Swatch::Stroke(line), "capacity".to_owned())));
    let mut notes = vec![format!("IP bytes in {}", bins.words())];
    notes.extend(of_last);
    notes.push(words.note);
    notes.extend(other_way(scene));
    notes.extend(missing);
    notes.extend(scene.capture.udp_beside().map(|[udp, all]| {
        let [udp, all] = [udp, all].map(grouped);
        format!("without UDP, {udp} of {all} packets")
    }));
    let height = scene.style.size.height();
    let mut canvas = Canvas::new(scene.style, height);
    let top = header(
        &mut canvas,
        &format!("{} – {}", words.title, scene.title),
        &super::label::joined(&notes),
        &legend,
    );
    canvas.height = height.max((top + 0.55 * height).ceil());
    // Of a link that is nearly idle the whole axis would be a panel without data.
    let most = if peak < IDLE { peak } else { peak.max(1.0) };
    let y = Axis::linear(Quantity::SHARE.called(words.axis), 0.0, most, 5);
    let panel = Panel::between(
        &canvas,
        top,
        canvas.height - 16.0,
        bins.axis(scene.style),
        y,
    );
    panel.draw_back(&mut canvas);
    draw_layers(&mut canvas, &panel, &layers, &bins, whole);
    if let Some(line) = line {
        let (_, y) = panel.at(panel.x.min, 1.0);
        canvas.line(&[(panel.left, y), (panel.right, y)], line);
    }
    Some(canvas)
}

/// Whether what flows were delivered is within a capacity: where they were delivered more, it is not that of the link.
fn is_delivered_within(scene: &Scene<'_>, capacity_bps: f64) -> bool {
    let delivered = scene.capture.delivered_towards_capacity();
    let goodput_bps = delivered.and_then(Delivered::goodput_bps);
    goodput_bps.is_some_and(|bps| bps <= capacity_bps)
}

/// Whether the queue of a busy link lies behind the vantage point: some of what passed here was lost there, or flows with
/// most of the payload waited all the time (a short one may have waited for its receiver alone). Then what was sent is
/// not what was got of the link. Where neither is, both are the same.
fn is_queue_behind(flows: &[&NamedFlow<'_>], capacity_bps: f64) -> bool {
    let waits = |named: &NamedFlow<'_>| {
        let least_ns = named.flow.summary().rtt.ns_min()?;
        let series = named.flow.record.series();
        let standing_ns = observe::standing_queue_ns(series.bins().rtts_ns_min(), least_ns)?;
        let bytes = standing_ns / 1e9 * capacity_bps / 8.0;
        Some(bytes > QUEUED && standing_ns > QUEUED_SHARE * least_ns as f64)
    };
    let (mut waiting, mut all) = (0, 0);
    for named in flows {
        if named.flow.summary().incidents().lost_downstream > 0 {
            return true;
        }
        let payload_bytes = named.flow.payload_bytes();
        all += payload_bytes;
        if waits(named).unwrap_or(false) {
            waiting += payload_bytes;
        }
    }
    2 * waiting > all
}

/// What shares are, and of what.
struct Words {
    title: &'static str,
    axis: &'static str,
    note: String,
}

impl Words {
    fn of(capacity_bps: Option<f64>, is_before_link: impl Fn(f64) -> bool) -> Self {
        let Some(bps) = capacity_bps else {
            return Self {
                title: "Share of what was sent",
                axis: "Share of all bytes sent",
                note: "without --capacity: of what all flows sent".to_owned(),
            };
        };
        let capacity = format!("capacity {}", Quantity::GOODPUT.format(bps));
        if is_before_link(bps) {
            Self {
                title: "Offered to the link",
                axis: "Sent, of the capacity",
                note: format!(
                    "{capacity} · captured before its queue, where what is above it waits or is dropped"
                ),
            }
        } else {
            Self {
                title: "Share of the link",
                axis: "Share of the capacity",
                note: capacity,
            }
        }
    }
}

/// The flows that go the main way: of the largest a layer each, then the others together.
fn layers(scene: &Scene<'_>, joined: i64) -> Vec<Layer> {
    let (shown, rest) = scene.largest(scene.lines_max());
    let takes_part = |flow: &&NamedFlow<'_>| flow.goes_main_way;
    // Each in the colour that it has in the other charts, where those that go the other way have theirs.
    let mut layers: Vec<Layer> = shown
        .into_iter()
        .zip(LINES)
        .filter(|(flow, _)| takes_part(flow))
        .map(|(flow, style)| Layer::of(&[flow], flow.name.to_string(), style.colour, joined))
        .collect();
    let others = rest.into_iter().chain(&scene.small).filter(takes_part);
    let others: Vec<&NamedFlow<'_>> = others.collect();
    if !others.is_empty() {
        let name = format!("other ({})", count(others.len(), "flow"));
        layers.push(Layer::of(&others, name, OTHER.colour, joined));
    }
    layers
}

/// Each layer on top of those before it, as steps.
fn draw_layers(
    canvas: &mut Canvas,
    panel: &Panel,
    layers: &[Layer],
    bins: &Bins,
    whole: impl Fn(i64) -> f64,
) {
    let mut floor: BTreeMap<i64, f64> = BTreeMap::new();
    for layer in layers {
        let mut above = Vec::new();
        let mut below = Vec::new();
        for bin in bins.first..=bins.last {
            let share = layer.bytes.get(&bin).copied().unwrap_or(0) as f64 / whole(bin).max(1.0);
            let base = floor.entry(bin).or_default();
            let top = *base + share;
            let start = bin as f64 * bins.length_s;
            for at in [start, start + bins.length_s] {
                above.push(panel.at(at, top));
                below.push(panel.at(at, *base));
            }
            *base = top;
        }
        let rim = above.clone();
        above.extend(below.into_iter().rev());
        canvas.area(above, layer.colour, 1.0);
        // Neighbours are told apart by more than colour.
        canvas.line(&rim, Stroke::solid(Colour::Paper, 1.0));
    }
}

/// Jain's index in each bin, and fness of the pairs of the largest flows. None where there are not two flows at the same time in two
/// bins.
pub(super) fn fairness(scene: &Scene<'_>, options: &ChartOptions) -> Option<Canvas> {
    // Bytes are compared over a stretch of time: no more of these than can be seen.
    let (bins, joined) = Bins::of(scene, options.bin_ns)?.joined(BINS_MAX);
    let rivals = rivals(scene);
    let (bins, missing) = known(bins, joined, &rivals)?;
    let mut jain = jain_line(&rivals, joined);
    jain.samples.retain(|sample| sample.bin <= bins.last);
    // One point is no course.
    if jain.samples.len() < 2 {
        return None;
    }
    let mut parts = vec![Part::Plot(Plot {
        what: "Jain’s index",
        lines: vec![jain],
        extent: (0.0, 1.0),
        scale: PlotScale::Full(Quantity::JAIN),
        reference: None,
        drawing: Drawing::Line,
        notes: Vec::new(),
    })];
    let (pairs, pairs_left_out) = pair_lines(scene, options, joined);
    if !pairs.is_empty() {
        parts.push(Part::Plot(Plot {
            what: "fness",
            lines: pairs,
            extent: (-1.0, 1.0),
            scale: PlotScale::Full(
                Quantity::FNESS.called("fness (−1: A alone, 0: even, 1: B alone)"),
            ),
            reference: None,
            drawing: Drawing::Line,
            notes: Vec::new(),
        }));
    }
    let mut notes = vec![format!(
        "payload in {}, n = {}; only bins within each flow’s first and last data",
        bins.words(),
        count(rivals.len(), "flow")
    )];
    notes.extend(pairs_left_out);
    notes.extend(other_way(scene));
    notes.extend(missing);
    Some(stacked(
        "Fairness over time",
        &notes,
        &parts,
        &Caption::of(scene),
        &bins,
    ))
}

/// Flows that compete, without those under one hundredth of the largest.
fn rivals<'a, 's>(scene: &'s Scene<'a>) -> Vec<&'s NamedFlow<'a>> {
    let flows = scene.flows.iter();
    flows.filter(|flow| flow.goes_main_way).collect()
}

/// The joined bins up to where bins of one of these flows are missing, which would look as if it sent nothing; what is
/// to be said of that. None where none of a flow's is there.
fn known(mut bins: Bins, joined: i64, flows: &[&NamedFlow<'_>]) -> Option<(Bins, Option<String>)> {
    let through = |flow: &&NamedFlow<'_>| flow.flow.record.series().complete_through();
    let last = flows.iter().map(through).min().flatten()?;
    bins.last = bins.last.min(last.saturating_add(1).div_euclid(joined) - 1);
    let cut = flows.iter().map(through);
    let missing = match cut.filter(|&through| through < Some(i64::MAX)).count() {
        0 => None,
        n => Some(format!(
            "up to where bins of {} are missing",
            count(n, "flow")
        )),
    };
    (bins.first <= bins.last).then_some((bins, missing))
}

/// What to say of flows of some size that go the other way, where there are any.
fn other_way(scene: &Scene<'_>) -> Option<String> {
    let flows = scene.flows.iter();
    let others = flows.filter(|flow| !flow.goes_main_way).count();
    (others > 0).then(|| format!("{} the other way not shown", count(others, "flow")))
}

/// Joined bins between a flow's first and last with data, without these two, by number.
fn inner_bins(flow: &NamedFlow<'_>, joined: i64) -> impl Iterator<Item = (i64, u64)> + use<> {
    let mut bytes: BTreeMap<i64, u64> = BTreeMap::new();
    for bin in flow.flow.record.series().bins() {
        if bin.payload_bytes > 0 {
            let sum = bytes.entry(bin.index.div_euclid(joined)).or_default();
            *sum += bin.payload_bytes;
        }
    }
    let first = bytes.keys().next().map_or(i64::MAX, |&bin| bin);
    let last = bytes.keys().next_back().map_or(i64::MIN, |&bin| bin);
    (first.saturating_add(1)..last).map(move |bin| (bin, bytes.get(&bin).copied().unwrap_or(0)))
}

pub(super) fn jain_line(rivals: &[&NamedFlow<'_>], joined: i64) -> Line {
    let mut bins: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    for flow in rivals {
        for (bin, bytes) in inner_bins(flow, joined) {
            bins.entry(bin).or_default().push(bytes as f64);
        }
    }
    let samples = bins
        .into_iter()
        .filter(|(_, bytes)| bytes.len() > 1)
        .filter_map(|(bin, bytes)| {
            Some(Sample {
                bin,
                value: metric::jain_index(bytes)?,
                range: None,
            })
        });
    Line {
        name: "all flows".to_owned(),
        style: LineStyle {
            colour: Colour::INK,
            marker: Marker::Disc,
            fill: Fill::Plain,
        },
        samples: samples.collect(),
    }
}

/// A line a pair: of many those of the largest flows that were together for long. What is said of the others.
fn pair_lines(
    scene: &Scene<'_>,
    options: &ChartOptions,
    joined: i64,
) -> (Vec<Line>, Option<String>) {
    let by_place: BTreeMap<usize, &NamedFlow<'_>> =
        scene.flows.iter().map(|flow| (flow.place, flow)).collect();
    let flows: Vec<Flow<'_>> = scene.capture.flows().collect();
    let of_pair = |pair: &Pair| Some([*by_place.get(&pair.a)?, *by_place.get(&pair.b)?]);
    let competing = scene.capture.pairs.pairs.iter().filter_map(|pair| {
        let both @ [a, b] = of_pair(pair)?;
        let compete = a.flow.connection_id != b.flow.connection_id && !pair.is_momentary(&flows);
        compete.then_some((pair, both))
    });
    let competing: Vec<_> = competing.collect();
    let all = competing.len();
    let bin_ns = options.bin_ns.max(1).saturating_mul(joined);
    let since_origin = |at: CaptureTime| at.since(scene.capture.origin);
    // Those bins that the span has whole, too: it may be a window that was asked for.
    let with_bins = competing.into_iter().filter_map(|(pair, both)| {
        let span = together(pair, &flows)?;
        let begin = since_origin(span.first.plus_ns(-1)).div_euclid(bin_ns) + 1;
        let end = since_origin(span.last.plus_ns(1)).div_euclid(bin_ns);
        Some((pair, both, begin..end))
    });
    let drawable: Vec<_> = with_bins.filter(|(_, _, bins)| !bins.is_empty()).collect();
    let rivals = drawable
        .iter()
        .map(|(pair, ..)| Rivals::of(0, pair, &flows));
    let chosen = largest_pairs(&rivals.collect::<Vec<_>>(), PAIRS_MAX);
    let chosen = chosen.into_iter().map(|place| &drawable[place]);
    let lines = chosen.map(|(_, [a, b], bins)| {
        let of_b: BTreeMap<i64, u64> = inner_bins(b, joined).collect();
        let samples = inner_bins(a, joined).filter_map(|(bin, bytes_a)| {
            let bytes_b = *of_b.get(&bin).filter(|_| bins.contains(&bin))?;
            Some(Sample {
                bin,
                value: metric::fness(bytes_a, bytes_b)?,
                range: None,
            })
        });
        (
            format!("A: {} | B: {}", a.name, b.name),
            samples.collect::<Vec<_>>(),
        )
    });
    let lines: Vec<Line> = lines
        .filter(|(_, samples)| !samples.is_empty())
        // First what is least like the colours of the first flows.
        .zip(PAIRS.into_iter().cycle().skip(1))
        .map(|((name, samples), style)| Line {
            name,
            style,
            samples,
        })
        .collect();
    let drawn = lines.len();
    let is_choice = drawable.len() > PAIRS_MAX && drawn > 0;
    let left_out = is_choice.then(|| {
        format!(
            "fness of {} of the largest flows, {} not drawn",
            count(drawn, "pair"),
            count(all - drawn, "pair")
        )
    });
    (lines, left_out)
}
