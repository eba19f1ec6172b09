//! What happened between two points, over time: what waited, delay by flow, drops by flow.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use crate::analyze::{FlowNames, counts_beside};
use crate::path::{FlowBin, Heading, Hop, PathAnalysis, PathFlow, QueueBin, QueueLimit, Way};

use super::axis::{Quantity, grouped};
use super::canvas::Canvas;
use super::error::ChartError;
use super::label::{FlowEnds, FlowName, capture_names, flow_names};
use super::palette::{LINES, LINES_MAX, LineStyle, OTHER, OTHER_NAMES};
use super::plot::{Bins, Caption, Drawing, Line, Part, Plot, PlotScale, Sample, stacked};
use super::style::Style;
use super::{Drawn, save};

/// A chart of a path.
#[derive(Clone, Debug)]
pub struct PathChart {
    /// The beginning of its file name: letters, digits and `-`.
    pub stem: String,
    /// The chart.
    pub canvas: Canvas,
}

/// The charts of a path: for each hop, and each way of it on which packets waited or were dropped, the queue, the delay
/// of the largest flows, as they are called, and their drops above each other.
#[must_use]
pub fn of_path(analysis: &PathAnalysis, flows: &FlowNames, style: Style) -> Vec<PathChart> {
    let mut charts = Vec::new();
    for (number, hop) in (1..).zip(&analysis.hops) {
        let [before, after] = &hop.points;
        let names = capture_names(&[before.as_str(), after.as_str()], 2);
        for way in &hop.ways {
            let (from, to) = match way.heading {
                Heading::Forward => (&names[0], &names[1]),
                Heading::Reverse => (&names[1], &names[0]),
            };
            let caption = Caption {
                title: format!("{from} to {to}"),
                style,
            };
            if let Some(canvas) = over_time(hop, way, flows, &caption) {
                let stem = format!("hop-{number}-{}", way.heading.name());
                charts.push(PathChart { stem, canvas });
            }
        }
    }
    charts
}

/// Writes charts of a path into `folder`, which exists.
///
/// # Errors
/// The first chart that cannot be written; one that cannot be drawn keeps no other from it.
pub fn save_all(charts: &[PathChart], folder: &Path, svg: bool) -> Result<Drawn, ChartError> {
    let mut drawn = Drawn::default();
    for chart in charts {
        drawn.add(save(&chart.canvas, folder, &chart.stem, svg)?);
    }
    Ok(drawn)
}

/// Whether anything of a way changes over time: not where hardly anything waited and nothing was dropped.
fn changes(way: &Way) -> bool {
    let waited = way.busy_share().is_some_and(|share| share >= WAITED_MIN);
    waited || way.has_jitter || !way.drops.is_empty()
}

/// Queue, delay and drops of one way. `None` where [nothing changes](changes).
fn over_time(hop: &Hop, way: &Way, names: &FlowNames, caption: &Caption) -> Option<Canvas> {
    if !changes(way) {
        return None;
    }
    let bins = Bins {
        length_s: hop.bin_ns as f64 / 1e9,
        first: way.bins.first()?.index,
        last: way.bins.last()?.index,
        covered_s: None,
    };
    let (flows, all) = drawn_flows(hop, way.heading);
    let taken: Vec<LineStyle> = flows.iter().map(|&(_, style)| style).collect();
    let smaller = smaller_drops(hop, way.heading, &flows, all);
    let left_out = match (all - flows.len(), &smaller) {
        (0, _) => String::new(),
        (1, None) => "1 smaller flow is not drawn".to_owned(),
        (1, Some(_)) => "of 1 smaller flow only drops are drawn".to_owned(),
        (more, None) => format!("{} smaller flows are not drawn", grouped(more as u64)),
        (more, Some(_)) => format!(
            "of {} smaller flows only drops are drawn",
            grouped(more as u64)
        ),
    };
    let ends = flows
        .iter()
        .map(|(flow, _)| FlowEnds::of_path(&flow.key, names));
    let names = flow_names(&ends.collect::<Vec<_>>());
    let named = flows.iter().zip(&names);
    let named: Vec<(&PathFlow, LineStyle, &FlowName)> = named
        .map(|(&(flow, style), name)| (flow, style, name))
        .collect();
    let parts = [
        way.queue()
            .and_then(|way| queue(way, hop.bin_ns, queue_style(&taken))),
        by_flow(
            &named,
            delay_samples,
            None,
            "Delay",
            PlotScale::Linear(Quantity::DELAY),
            Drawing::Band,
        ),
        by_flow(
            &named,
            drop_samples,
            smaller.clone(),
            "Drops",
            PlotScale::Linear(Quantity::RETRANSMISSIONS.called("Drops")),
            Drawing::Steps,
        ),
    ];
    let parts = parts.into_iter().flatten().map(Part::Plot);
    let parts: Vec<Part> = parts.collect();
    let notes = [
        format!(
            "{} of {} packets dropped",
            grouped(way.drops.len() as u64),
            grouped(way.arrived().packets)
        ),
        bins.words(),
        left_out,
    ];
    let what = if way.has_jitter { "Delay" } else { "Queue" };
    Some(stacked(what, &notes, &parts, caption, &bins))
}

/// The largest flows of a way, each in the look that its connection has in the charts of the captures, and how many
/// flows there are: looks go by the order of first packets there, among the largest of both ways. A connection that
/// carries data both ways is two flows there with a look each, and here has one.
fn drawn_flows(hop: &Hop, heading: Heading) -> (Vec<(&PathFlow, LineStyle)>, usize) {
    let flows: Vec<&PathFlow> = hop.flows_in_order();
    // As there, the side that sent more of a connection is the flow, and the other one its ACKs.
    let ends = |flow: &PathFlow| {
        let (one, other) = (flow.key.src, flow.key.dst);
        (one.min(other), one.max(other), flow.key.protocol)
    };
    let mut bytes: BTreeMap<_, u64> = BTreeMap::new();
    for flow in &flows {
        let most = bytes.entry(ends(flow)).or_default();
        *most = flow.ip_bytes.max(*most);
    }
    let largest = bytes.values().copied().max().unwrap_or(0);
    let mut own: Vec<&PathFlow> = flows.clone();
    own.retain(|flow| flow.heading == heading);
    let all = own.len();
    own.retain(|flow| counts_beside(bytes[&ends(flow)], largest));
    own.sort_by_key(|flow| (Reverse(bytes[&ends(flow)]), flow.first_ns, flow.key));
    own.truncate(LINES_MAX);
    let mut connections: Vec<_> = Vec::new();
    for flow in &flows {
        if !connections.contains(&ends(flow)) && own.iter().any(|of| ends(of) == ends(flow)) {
            connections.push(ends(flow));
        }
    }
    let styled = connections.iter().zip(LINES).filter_map(|(wanted, style)| {
        let found = own.iter().find(|flow| ends(flow) == *wanted)?;
        Some((*found, style))
    });
    (styled.collect(), all)
}

/// The queue, where no flow looks so.
const QUEUE: LineStyle = LINES[6];

/// What waits is counted in: as its limit is, with the headers that the queue adds to bytes.
struct Unit {
    name: &'static str,
    quantity: Quantity,
    least: fn(&QueueBin, u64) -> u64,
    most: fn(&QueueBin, u64) -> u64,
    integral: fn(&QueueBin, u64) -> u128,
}

impl Unit {
    fn of(limit: Option<QueueLimit>) -> Self {
        match limit {
            Some(QueueLimit::Bytes(_)) => Self {
                name: "bytes waiting",
                quantity: Quantity::IN_FLIGHT.called("Queue length"),
                least: |bin, header| bin.min.with_headers(header).bytes,
                most: |bin, header| bin.max_with_headers(header).bytes,
                integral: |bin, header| bin.bytes_ns + bin.packets_ns * u128::from(header),
            },
            _ => Self {
                name: "packets waiting",
                quantity: Quantity::RETRANSMISSIONS.called("Queue length"),
                least: |bin, _| bin.min.packets,
                most: |bin, _| bin.max.packets,
                integral: |bin, _| bin.packets_ns,
            },
        }
    }
}

/// What was dropped of the flows of a way that are not `drawn`, together; `None` where that is nothing.
fn smaller_drops(
    hop: &Hop,
    heading: Heading,
    drawn: &[(&PathFlow, LineStyle)],
    all: usize,
) -> Option<Line> {
    let flows = hop.flows.iter().flatten();
    let smaller = flows
        .filter(|flow| flow.heading == heading && !drawn.iter().any(|of| of.0.key == flow.key));
    let samples = dropped_together(smaller.flat_map(|flow| &flow.bins))?;
    let name = match all - drawn.len() {
        1 => "1 smaller flow".to_owned(),
        more => format!("{} smaller flows", grouped(more as u64)),
    };
    Some(Line {
        name,
        style: OTHER,
        samples,
    })
}

/// Packets dropped in each bin of several flows; `None` where there are none.
fn dropped_together<'b>(bins: impl Iterator<Item = &'b FlowBin>) -> Option<Vec<Sample>> {
    let mut dropped: BTreeMap<i64, u64> = BTreeMap::new();
    for bin in bins {
        *dropped.entry(bin.index).or_default() += bin.dropped_packets;
    }
    let samples = dropped.iter().map(|(&bin, &packets)| Sample {
        bin,
        value: packets as f64,
        range: None,
    });
    let any = dropped.values().any(|&packets| packets > 0);
    any.then(|| samples.collect())
}

/// How the queue looks beside flows that look like these.
fn queue_style(taken: &[LineStyle]) -> LineStyle {
    if taken.contains(&QUEUE) {
        OTHER_NAMES[6]
    } else {
        QUEUE
    }
}

/// Packets waiting, or bytes, as the queue counts them, where it is limited by these: mean of each bin, and least to most.
fn queue(way: &Way, bin_ns: i64, style: LineStyle) -> Option<Plot> {
    let (unit, header) = (Unit::of(way.limit), way.header_bytes);
    let mut samples: Vec<Sample> = Vec::new();
    for bin in &way.bins {
        // Bins in which nothing happened: nothing waited.
        let next = samples.last().map_or(bin.index, |last| last.bin + 1);
        let idle = (next..bin.index).take(IDLE_MAX).map(|bin| Sample {
            bin,
            value: 0.0,
            range: None,
        });
        samples.extend(idle);
        samples.push(Sample {
            bin: bin.index,
            value: (unit.integral)(bin, header) as f64
                / way.lasts_ns(bin.index, bin_ns).max(1) as f64,
            range: Some((
                (unit.least)(bin, header) as f64,
                (unit.most)(bin, header) as f64,
            )),
        });
    }
    let lines = vec![Line {
        name: unit.name.to_owned(),
        style,
        samples,
    }];
    let extent = Plot::extent_of(&lines)?;
    let basis = if way.limit_is_estimated {
        "as the drops show"
    } else {
        "given"
    };
    let reference = way.limit.map(|limit| match limit {
        QueueLimit::Packets(packets) => {
            let name = format!("limit, {} packets ({basis})", grouped(packets));
            (packets as f64, name)
        }
        QueueLimit::Bytes(bytes) => {
            let size = unit.quantity.format(bytes as f64);
            (bytes as f64, format!("limit, {size} ({basis})"))
        }
    });
    Some(Plot {
        what: "Queue",
        lines,
        extent,
        scale: PlotScale::Linear(unit.quantity),
        reference,
        drawing: Drawing::Band,
        notes: Vec::new(),
    })
}

fn by_flow(
    flows: &[(&PathFlow, LineStyle, &FlowName)],
    samples: fn(&PathFlow) -> Vec<Sample>,
    together: Option<Line>,
    what: &'static str,
    scale: PlotScale,
    drawing: Drawing,
) -> Option<Plot> {
    let lines: Vec<Line> = flows
        .iter()
        .map(|&(flow, style, name)| Line {
            name: name.to_string(),
            style,
            samples: samples(flow),
        })
        .chain(together)
        .filter(|line| line.samples.iter().any(|sample| sample.value > 0.0))
        .collect();
    let extent = Plot::extent_of(&lines)?;
    Some(Plot {
        what,
        lines,
        extent,
        scale,
        reference: None,
        drawing,
        notes: Vec::new(),
    })
}

/// Mean delay of each bin in seconds, and smallest to largest.
fn delay_samples(flow: &PathFlow) -> Vec<Sample> {
    let samples = flow.bins.iter().filter_map(|bin| {
        let range = (
            bin.delay_ns_min.max(0) as f64 / 1e9,
            bin.delay_ns_max.max(0) as f64 / 1e9,
        );
        Some(Sample {
            bin: bin.index,
            value: bin.delay_ns_mean()?.max(0.0) / 1e9,
            range: Some(range),
        })
    });
    samples.collect()
}

/// Packets dropped in each bin.
fn drop_samples(flow: &PathFlow) -> Vec<Sample> {
    let samples = flow.bins.iter().map(|bin| Sample {
        bin: bin.index,
        value: bin.dropped_packets as f64,
        range: None,
    });
    samples.collect()
}

/// Part of the time in which something must have waited for a queue to be worth a chart.
const WAITED_MIN: f64 = 0.01;

/// Bins in a row without a packet that are drawn; a longer pause is a gap.
const IDLE_MAX: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Endpoint;
    use crate::path::Amount;
    use crate::path::{FlowKey, Link};

    #[test]
    fn flows_of_udp_are_called_so_beside_those_of_tcp() {
        let key = |protocol| FlowKey {
            src: Endpoint::v4([10, 0, 0, 1], 5004),
            dst: Endpoint::v4([10, 0, 0, 2], 5004),
            protocol,
        };
        let named = |given: &[(&str, &str)]| {
            let mut called = FlowNames::default();
            for (filter, name) in given {
                called.add(filter.parse().unwrap(), name);
            }
            let ends = [6, 17].map(|protocol| FlowEnds::of_path(&key(protocol), &called));
            flow_names(&ends).iter().map(ToString::to_string).collect()
        };
        let names: Vec<String> = named(&[]);
        assert_eq!(names, ["10.0.0.1 → 10.0.0.2", "10.0.0.1 → 10.0.0.2 (UDP)"]);
        // A name that was given says all that is to be said, and the first that fits counts.
        let names: Vec<String> = named(&[("udp", "video"), ("port 5004", "cubic")]);
        assert_eq!(names, ["cubic", "video"]);
    }

    #[test]
    fn drops_of_flows_that_are_not_drawn_are_so_together() {
        let bin = |index, dropped_packets| FlowBin {
            index,
            dropped_packets,
            ..FlowBin::default()
        };
        let (one, other) = ([bin(3, 2), bin(4, 0)], [bin(1, 1), bin(3, 4)]);
        let together = dropped_together(one.iter().chain(&other)).unwrap();
        let values: Vec<(i64, f64)> = together.iter().map(|of| (of.bin, of.value)).collect();
        assert_eq!(values, [(1, 1.0), (3, 6.0), (4, 0.0)]);
        assert!(dropped_together(one[1..].iter()).is_none());
    }

    fn way(bins: Vec<QueueBin>) -> Way {
        Way {
            heading: Heading::Forward,
            link: Link::default(),
            rate_bps: None,
            span: Some((0, 1_000_000_000)),
            unseen: Vec::new(),
            origin_ns: 0,
            bins,
            limit: Some(QueueLimit::Packets(10)),
            limit_is_estimated: true,
            limit_refuted: None,
            header_bytes: 0,
            drops: Vec::new(),
            episodes: Vec::new(),
            drops_at_head: false,
            has_jitter: false,
            waited_byte_ns: 0,
            several_queues: false,
            is_incomplete: false,
            series_cut: false,
            early_is_shown: false,
            asked_for: None,
        }
    }

    #[test]
    fn delays_by_chance_are_drawn_though_nothing_waits() {
        let mut way = way(vec![QueueBin::default()]);
        assert!(!changes(&way));
        way.has_jitter = true;
        assert!(changes(&way));
    }

    #[test]
    fn a_limit_of_bytes_is_drawn_beside_the_bytes_that_waited() {
        let bin = QueueBin {
            bytes_ns: 60_000 * 100_000_000,
            max: Amount {
                packets: 50,
                bytes: 75_000,
            },
            ..QueueBin::default()
        };
        let mut way = way(vec![bin]);
        way.limit = Some(QueueLimit::Bytes(125_000));
        way.limit_is_estimated = false;
        let plot = queue(&way, 100_000_000, QUEUE).unwrap();
        let sample = plot.lines[0].samples[0];
        assert_eq!(
            (sample.value, sample.range),
            (60_000.0, Some((0.0, 75_000.0)))
        );
        assert_eq!(plot.lines[0].name, "bytes waiting");
        assert_eq!(
            plot.reference,
            Some((125_000.0, "limit, 125 kB (given)".to_owned()))
        );
    }

    #[test]
    fn the_queue_looks_like_none_of_the_flows() {
        assert_eq!(queue_style(&LINES[..6]), QUEUE);
        let beside_all = queue_style(&LINES);
        let colours = LINES.map(|of| of.colour);
        assert!(!colours.contains(&beside_all.colour), "{beside_all:?}");
    }

    #[test]
    fn the_queue_is_0_where_nothing_happened_and_its_limit_is_drawn() {
        let bin = |index, packets: u64| QueueBin {
            index,
            packets_ns: u128::from(packets) * 100_000_000,
            max: Amount {
                packets: packets + 1,
                bytes: 0,
            },
            ..QueueBin::default()
        };
        let plot = queue(&way(vec![bin(0, 4), bin(3, 2)]), 100_000_000, QUEUE).unwrap();
        let values: Vec<f64> = plot.lines[0].samples.iter().map(|one| one.value).collect();
        assert_eq!(values, [4.0, 0.0, 0.0, 2.0]);
        assert_eq!(plot.extent, (0.0, 5.0));
        let (limit, name) = plot.reference.unwrap();
        assert!((limit - 10.0).abs() < f64::EPSILON);
        assert_eq!(name, "limit, 10 packets (as the drops show)");
    }
}
