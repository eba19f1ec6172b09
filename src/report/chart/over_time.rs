//! Flows over time: goodput, RTT, queueing delay, bytes in flight, retransmissions.

use std::collections::BTreeMap;

use crate::analyze::{Flow, is_behind_link, never_seen_empty};
use crate::observe::Series;
use crate::study::words::Thousands;

use super::ChartOptions;
use super::axis::Quantity;
use super::canvas::Canvas;
use super::choice::{NamedFlow, Scene, left_out, others};
use super::label::{count, joined};
use super::palette::{LINES, LineStyle, OTHER};
use super::plot::{Bins, Caption, Drawing, Line, Part, Plot, PlotScale, Sample, stacked};

/// Goodput of each flow; a bin without any, between others, is 0.
pub(super) fn goodput(scene: &Scene<'_>, options: &ChartOptions) -> Option<Plot> {
    let mut bins = Bins::of(scene, options.bin_ns)?;
    let (means, joined) = wide_bins(&bins, scene);
    let (means, of_last) = means.whole(scene, joined);
    bins.last = bins.last.min((means.last + 1) * joined - 1);
    let means = (means, joined);
    let (shown, rest) = scene.largest(scene.lines_max());
    let mut lines: Vec<Line> = shown
        .iter()
        .zip(LINES)
        .map(|(flow, style)| goodput_line(&[*flow], flow.name.to_string(), style, (&bins, means)))
        .filter(|line| !line.samples.is_empty())
        .collect();
    let missing = shown.len() - lines.len();
    let small_only = rest.is_empty();
    let others: Vec<&NamedFlow<'_>> = rest.into_iter().chain(&scene.small).collect();
    if !small_only {
        lines.push(goodput_line(
            &others,
            format!("other ({})", count(others.len(), "flow")),
            OTHER,
            (&bins, means),
        ));
    }
    let extent = Plot::extent_of(&lines).filter(|&(_, peak)| peak > 0.0)?;
    let (capacity, far_capacity) = options.capacity_beside(extent.1);
    let tcp = |named: &&NamedFlow<'_>| named.flow.tcp().is_some();
    let one_way = scene.flows.iter().filter(tcp).any(|flow| !flow.is_acked);
    let udp = !scene.flows.iter().all(|named| tcp(&named));
    Some(Plot {
        what: "Goodput",
        lines,
        extent,
        scale: PlotScale::Linear(Quantity::GOODPUT),
        reference: capacity,
        drawing: Drawing::Line,
        notes: vec![
            means.0.words(),
            of_last.unwrap_or_default(),
            left_out(missing, if small_only { scene.small.len() } else { 0 }),
            if one_way {
                "without ACKs: new bytes seen".to_owned()
            } else {
                String::new()
            },
            if udp {
                "of UDP: all bytes seen".to_owned()
            } else {
                String::new()
            },
            cut(scene),
            far_capacity,
        ],
    })
}

/// The bins over which goodput and bytes in flight are drawn, and how many of the flows' make one. They are told of a
/// stretch of time: of no more of these than can be seen, or a flow that sends a packet now and then is drawn as an area.
fn wide_bins(bins: &Bins, scene: &Scene<'_>) -> (Bins, i64) {
    bins.joined((2.0 * scene.style.size.width()) as i64)
}

/// Goodput of some flows together, from their first bin with data to their last with an ACK: over bins of the flows, or such
/// as are made of several.
pub(super) fn goodput_line(
    flows: &[&NamedFlow<'_>],
    name: String,
    style: LineStyle,
    (bins, (means, joined)): (&Bins, (Bins, i64)),
) -> Line {
    let rate = |bin: i64, bytes: u64| 8.0 * bytes as f64 / means.covered_s(bin);
    let samples = if let ([flow], 1) = (flows, joined) {
        bins.thinned(bins.filled(news(flow), rate))
    } else {
        let mut sums: BTreeMap<i64, u64> = BTreeMap::new();
        for (bin, bytes) in flows.iter().flat_map(|flow| news(flow)) {
            *sums.entry(bin.div_euclid(joined)).or_default() += bytes;
        }
        bins.thinned(bins.spread(means.filled(sums.into_iter(), rate), joined))
    };
    Line {
        name,
        style,
        samples,
    }
}

/// Bytes of each bin of a flow in which data was sent or acknowledged: acknowledged, or without
/// ACKs new.
fn news<'a>(flow: &'a NamedFlow<'_>) -> impl Iterator<Item = (i64, u64)> + use<'a> {
    let acked = flow.is_acked;
    flow.flow.record.series().bins().filter_map(move |bin| {
        let seen = bin.payload_bytes.saturating_sub(bin.retransmitted_bytes);
        let news = if acked { bin.acked_bytes } else { seen };
        (news > 0 || bin.payload_bytes > 0).then_some((bin.index, news))
    })
}

/// Mean RTT of each flow, with the range of each bin. None without samples.
pub(super) fn rtt(scene: &Scene<'_>, options: &ChartOptions) -> Option<Plot> {
    let (lines, notes) = delays(scene, options, |_| 0.0)?;
    Some(Plot {
        what: "RTT",
        extent: Plot::extent_of(&lines).filter(|&(_, max)| max > 0.0)?,
        lines,
        scale: PlotScale::Delays(Quantity::RTT),
        reference: None,
        drawing: Drawing::Band,
        notes,
    })
}

/// Mean queueing delay of each flow (METRICS.md R5): RTT less the smallest of the flow.
pub(super) fn queue_delay(scene: &Scene<'_>, options: &ChartOptions) -> Option<Plot> {
    let (lines, mut notes) = delays(scene, options, |flow| {
        flow.flow.summary().rtt.ns_min().unwrap_or(0) as f64 / 1e9
    })?;
    notes.insert(0, "RTT less the flow's smallest".to_owned());
    notes.extend(too_low(scene));
    Some(Plot {
        what: "Queueing delay",
        extent: Plot::extent_of(&lines).filter(|&(_, max)| max > 0.0)?,
        lines,
        scale: PlotScale::Linear(Quantity::QUEUE_DELAY),
        reference: None,
        drawing: Drawing::Band,
        notes,
    })
}

/// That delays of some drawn flows are too low, as their own smallest RTT had a queue in it: another between the same hosts
/// had a smaller one at the same time.
fn too_low(scene: &Scene<'_>) -> Option<String> {
    let (shown, _) = scene.largest(scene.lines_max());
    let flows: Vec<Flow<'_>> = shown.iter().map(|named| named.flow).collect();
    let all = never_seen_empty(&flows);
    let most = all.iter().max_by_key(|of| of.lacks_ns())?;
    let by = Quantity::QUEUE_DELAY.format(most.lacks_ns() as f64 / 1e9);
    let name = &shown[most.flow].name;
    Some(match all.len() {
        1 => format!("{name}: too low by {by} at least"),
        flows => format!("of {flows} flows too low, of {name} by {by} at least"),
    })
}

/// RTTs over a floor of each flow, and how they came about.
fn delays(
    scene: &Scene<'_>,
    options: &ChartOptions,
    floor_s: impl Fn(&NamedFlow<'_>) -> f64,
) -> Option<(Vec<Line>, Vec<String>)> {
    let bins = Bins::of(scene, options.bin_ns)?;
    let lines = lines(scene, |flow| {
        let floor = floor_s(flow);
        let samples = flow.flow.record.series().bins().filter_map(|bin| {
            let over = |ns: f64| (ns / 1e9 - floor).max(0.0);
            let range = (over(bin.rtt_ns_min as f64), over(bin.rtt_ns_max as f64));
            Some(Sample {
                bin: bin.index,
                value: over(bin.rtt_ns_mean()?),
                range: Some(range),
            })
        });
        bins.thinned(samples)
    });
    let drawn = || {
        let flows = scene.flows.iter().take(scene.lines_max());
        flows.map(|named| &named.flow)
    };
    let samples: u64 = drawn().map(|flow| flow.summary().rtt.samples()).sum();
    let mut notes = vec![
        format!(
            "mean in {}, n = {}",
            bins.words(),
            Thousands::Thin.counted(samples, "sample")
        ),
        undrawn(scene, lines.len()),
    ];
    if is_behind_link(drawn(), options.bin_ns) {
        notes.push("captured behind the link, without its queue".to_owned());
    }
    (!lines.is_empty()).then_some((lines, notes))
}

/// Bytes in flight of each flow, the largest of each bin. None where no ACK was seen.
pub(super) fn in_flight(scene: &Scene<'_>, options: &ChartOptions) -> Option<Plot> {
    let bins = Bins::of(scene, options.bin_ns)?;
    let (wide, joined) = wide_bins(&bins, scene);
    let lines = lines(scene, |flow| {
        let series = flow.flow.record.series().bins();
        let largest = series.filter_map(|bin| Some((bin.index, bin.in_flight_bytes_max?)));
        let mut samples: Vec<Sample> = Vec::new();
        for (bin, bytes) in largest {
            let (bin, value) = (bin.div_euclid(joined), bytes as f64);
            match samples.last_mut().filter(|last| last.bin == bin) {
                Some(last) => last.value = last.value.max(value),
                None => samples.push(Sample {
                    bin,
                    value,
                    range: None,
                }),
            }
        }
        bins.thinned(bins.spread(samples.into_iter(), joined))
    });
    let notes = vec![
        format!("largest value in {}", wide.words()),
        undrawn(scene, lines.len()),
    ];
    Some(Plot {
        what: "Bytes in flight",
        extent: Plot::extent_of(&lines).filter(|&(_, peak)| peak > 0.0)?,
        lines,
        scale: PlotScale::Linear(Quantity::IN_FLIGHT),
        reference: None,
        drawing: Drawing::Line,
        notes,
    })
}

/// Retransmitted packets of each flow and bin, from its first to its last bin with data. None
/// where nothing was sent again.
pub(super) fn retransmissions(scene: &Scene<'_>, options: &ChartOptions) -> Option<Plot> {
    let bins = Bins::of(scene, options.bin_ns)?;
    let lines = lines(scene, |flow| {
        let series = flow.flow.record.series().bins();
        let amounts = series
            .filter(|bin| bin.data_packets > 0 && flow.flow.tcp().is_some())
            .map(|bin| (bin.index, bin.retransmitted_packets));
        bins.thinned(bins.filled(amounts, |_, packets| packets as f64))
    });
    let notes = vec![
        format!("packets in {}", bins.words()),
        undrawn(scene, lines.len()),
    ];
    Some(Plot {
        what: "Retransmissions",
        extent: Plot::extent_of(&lines).filter(|&(_, peak)| peak > 0.0)?,
        lines,
        scale: PlotScale::Linear(Quantity::RETRANSMISSIONS),
        reference: None,
        drawing: Drawing::Steps,
        notes,
    })
}

/// What is drawn both together and alone; each is `None` where there is nothing to be seen.
pub(super) struct Four {
    pub(super) goodput: Option<Plot>,
    pub(super) rtt: Option<Plot>,
    pub(super) in_flight: Option<Plot>,
    pub(super) retransmissions: Option<Plot>,
}

impl Four {
    pub(super) fn of(scene: &Scene<'_>, options: &ChartOptions) -> Self {
        Self {
            goodput: goodput(scene, options),
            rtt: rtt(scene, options),
            in_flight: in_flight(scene, options),
            retransmissions: retransmissions(scene, options),
        }
    }
}

/// Goodput, RTT, bytes in flight and retransmissions on one time axis.
pub(super) fn together(four: &Four, scene: &Scene<'_>, options: &ChartOptions) -> Option<Canvas> {
    let bins = Bins::of(scene, options.bin_ns)?;
    let part = |plot: &Option<Plot>, quantity: Quantity, reason| match plot {
        Some(plot) => Part::Plot(plot.clone()),
        None => Part::Nothing(quantity.name.to_owned(), reason),
    };
    let (shown, _) = scene.largest(scene.lines_max());
    let no_flight = if shown.iter().any(|flow| flow.is_acked) {
        "not known"
    } else {
        "no ACK was seen"
    };
    let no_repeats = if shown.iter().any(|named| named.flow.tcp().is_some()) {
        "none"
    } else {
        "not known"
    };
    let parts = [
        part(&four.goodput, Quantity::GOODPUT, "nothing was acknowledged"),
        part(&four.rtt, Quantity::RTT, "no RTT sample"),
        part(&four.in_flight, Quantity::IN_FLIGHT, no_flight),
        part(&four.retransmissions, Quantity::RETRANSMISSIONS, no_repeats),
    ];
    // Goodputs add up: where large flows are too many, all the others are one line there.
    let (rest, small) = (
        scene.flows.len().saturating_sub(scene.lines_max()),
        scene.small.len(),
    );
    let beside = if rest > 0 {
        others(rest, small, "in the panel of goodput alone, as one line")
    } else {
        left_out(0, small)
    };
    let goodput = four.goodput.as_ref();
    let far_capacity = goodput.map(|plot| options.capacity_beside(plot.extent.1).1);
    let told = |words: &str, bins: &Bins| format!("{}: {words}", bins.words());
    let in_flight = "largest number of bytes in flight";
    let (wide, joined_bins) = wide_bins(&bins, scene);
    let [first, second] = match joined_bins {
        1 => {
            let all = format!("mean RTT, {in_flight}, number of retransmitted packets");
            [told(&all, &bins), String::new()]
        }
        _ => [
            told("mean RTT, number of retransmitted packets", &bins),
            told(&format!("goodput, {in_flight}"), &wide),
        ],
    };
    let notes = [
        first,
        second,
        goodput
            .and(wide.whole(scene, joined_bins).1)
            .map_or_else(String::new, |said| format!("goodput: {said}")),
        joined(&[beside, cut(scene)]),
        far_capacity.unwrap_or_default(),
    ];
    Some(stacked(
        "Flows over time",
        &notes,
        &parts,
        &Caption::of(scene),
        &bins,
    ))
}

/// A line for each of the largest flows that have any samples.
fn lines(scene: &Scene<'_>, samples: impl Fn(&NamedFlow<'_>) -> Vec<Sample>) -> Vec<Line> {
    let (shown, _) = scene.largest(scene.lines_max());
    let lines = shown.into_iter().zip(LINES).map(|(flow, style)| Line {
        name: flow.name.to_string(),
        style,
        samples: samples(flow),
    });
    lines.filter(|line| !line.samples.is_empty()).collect()
}

fn undrawn(scene: &Scene<'_>, drawn: usize) -> String {
    let left_out = left_out(scene.flows.len() - drawn, scene.small.len());
    joined(&[left_out, cut(scene)])
}

/// What is said where bins are missing.
fn cut(scene: &Scene<'_>) -> String {
    let (shown, _) = scene.largest(scene.lines_max());
    let series = shown.iter().map(|flow| flow.flow.record.series());
    let (given_up, cut): (Vec<_>, Vec<_>) =
        series.filter(Series::is_cut).partition(Series::is_given_up);
    let said = |n: usize, why: &str| match n {
        0 => String::new(),
        n => format!("{} {why}", count(n, "flow")),
    };
    joined(&[
        said(cut.len(), "cut: too many bins"),
        said(
            given_up.len(),
            "not shown: bins given up for want of memory",
        ),
    ])
}
