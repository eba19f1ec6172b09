//! Which flows are drawn, and what is common to the charts of a capture.

use crate::analyze::{Analysis, CaptureAnalysis, Flow, FlowFigures, FlowNames, all_ahead};
use crate::observe::{Span, Wanted};

use super::super::rivals::largest_places;
use super::ChartOptions;
use super::file_name::file_stem;
use super::label::{FlowEnds, FlowName, capture_names, count, flow_names};
use super::palette::LINES_MAX;
use super::style::{Size, Style};

/// A flow with its name.
#[derive(Clone, Debug)]
pub(super) struct NamedFlow<'a> {
    pub(super) flow: Flow<'a>,
    pub(super) name: FlowName,
    /// Place among the capture's flows.
    pub(super) place: usize,
    /// Its payload, in bytes.
    pub(super) payload: u64,
    /// Whether an ACK of it was seen.
    pub(super) is_acked: bool,
    /// What bars are drawn of; nothing of what is too small to be drawn.
    pub(super) values: BarValues,
    /// First and last bin in which it did anything; `None` of what is too small.
    bin_span: Option<(i64, i64)>,
    /// Whether it shares the link with the largest: those that go the other way, as requests do and uploads beside
    /// downloads, take nothing from them.
    pub(super) goes_main_way: bool,
    /// Whether it is small as it got next to nothing of a link that it shared with the largest for half of its time or
    /// longer: what it had to send, the network kept it from. Those that had nothing to send are just small.
    is_starved: bool,
}

/// What flows are compared by. Of a hundred thousand flows each is asked of all, and some dozens are drawn: here they
/// are unpacked in the order in which they lie in the memory, once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BarValues {
    pub(super) goodput_bps: Option<f64>,
    pub(super) overhead: Option<f64>,
    /// Smallest, mean and largest, in seconds.
    pub(super) rtt_s: Option<[f64; 3]>,
    /// From its first to its last data.
    pub(super) span_ns: i64,
}

impl BarValues {
    fn of(figures: &FlowFigures<'_>) -> Self {
        let rtt = figures.rtt_stats();
        let rtt_s = || {
            let (min, max) = (rtt.ns_min()? as f64, rtt.ns_max()? as f64);
            Some([min / 1e9, rtt.ns_mean()? / 1e9, max / 1e9])
        };
        Self {
            goodput_bps: figures.goodput_bps(),
            overhead: figures.wire_overhead(&figures.incidents()),
            rtt_s: rtt_s(),
            span_ns: figures
                .outline()
                .data_span
                .map_or(0, |span| span.length_ns()),
        }
    }
}

/// A capture as the charts see it.
pub(super) struct Scene<'a> {
    pub(super) capture: &'a CaptureAnalysis,
    /// Its place in the run.
    pub(super) place: usize,
    pub(super) style: Style,
    /// Its name and condition, for titles.
    pub(super) title: String,
    /// The beginning of its file names.
    pub(super) stem: String,
    /// Flows of at least one hundredth of the largest, the largest first.
    pub(super) flows: Vec<NamedFlow<'a>>,
    /// The others.
    pub(super) small: Vec<NamedFlow<'a>>,
    /// First and last bin in which any of `flows` did anything.
    pub(super) bin_span: Option<(i64, i64)>,
}

impl<'a> Scene<'a> {
    /// The captures of a run that have flows.
    pub(super) fn of(analysis: &'a Analysis, options: &ChartOptions) -> Vec<Self> {
        let captures = &analysis.captures;
        let paths: Vec<&str> = captures
            .iter()
            .map(|capture| capture.name.as_str())
            .collect();
        let stems = capture_names(&paths, 1);
        // Captures tend to be called by the vantage point; the folder says what was measured.
        let names = capture_names(&paths, 2);
        captures
            .iter()
            .zip(names.into_iter().zip(stems))
            .enumerate()
            .filter(|(_, (capture, _))| capture.flows().next().is_some())
            .map(|(index, (capture, (name, stem)))| {
                let condition = options
                    .conditions
                    .get(index)
                    .filter(|condition| !condition.is_empty());
                let title = condition
                    .map_or_else(|| name.clone(), |condition| format!("{name} ({condition})"));
                let (flows, small) = split(capture, &options.names);
                Self {
                    capture,
                    place: index,
                    style: options.style,
                    title,
                    stem: file_stem(index, captures.len(), &stem),
                    bin_span: bin_span(&flows),
                    flows,
                    small,
                }
            })
            .collect()
    }

    /// Small flows that the largest starved.
    pub(super) fn starved(&self) -> impl Iterator<Item = &NamedFlow<'a>> {
        self.small.iter().filter(|flow| flow.is_starved)
    }

    /// Lines of flows that a chart has room for: on a slide, which has a height, fewer where not all flows have one
    /// anyway.
    pub(super) fn lines_max(&self) -> usize {
        if self.style.size == Size::Slide && self.flows.len() > LINES_MAX {
            LINES_MAX - 2
        } else {
            LINES_MAX
        }
    }

    /// The `n` largest flows in the order of their first packets, which is the same wherever the
    /// capture was taken: so a flow keeps its colour; and the others.
    pub(super) fn largest(&self, n: usize) -> (Vec<&NamedFlow<'a>>, Vec<&NamedFlow<'a>>) {
        let sizes: Vec<u64> = self.flows.iter().map(|flow| flow.payload).collect();
        let chosen = largest_places(&sizes, n);
        let mut shown: Vec<&NamedFlow<'a>> = chosen.iter().map(|&rank| &self.flows[rank]).collect();
        shown.sort_by_key(|flow| flow.place);
        let others = self.flows.iter().enumerate();
        let others = others.filter(|(rank, _)| chosen.binary_search(rank).is_err());
        (shown, others.map(|(_, flow)| flow).collect())
    }
}

/// First and last bin in which any of these flows did anything.
fn bin_span(flows: &[NamedFlow<'_>]) -> Option<(i64, i64)> {
    let spans = flows.iter().filter_map(|flow| flow.bin_span);
    spans.reduce(|(first, last), (begin, end)| (first.min(begin), last.max(end)))
}

/// The same of one flow, whose bins are in order.
fn bin_span_of(flow: &Flow<'_>) -> Option<(i64, i64)> {
    let mut bins = flow.record.series().bins().map(|bin| bin.index);
    let first = bins.next()?;
    Some((first, bins.last().unwrap_or(first)))
}

/// A capture's flows by size, and those that are too small to be drawn.
fn split<'a>(
    capture: &'a CaptureAnalysis,
    names: &FlowNames,
) -> (Vec<NamedFlow<'a>>, Vec<NamedFlow<'a>>) {
    let all: Vec<Flow<'a>> = capture.flows().collect();
    let sizes = all_ahead(&all, Wanted::Outlines).map(|flow| (flow.payload_bytes(), flow));
    // Of equal ones the first.
    let largest = sizes.reduce(|one, next| if next.0 > one.0 { next } else { one });
    let (largest, rival) =
        largest.map_or((0, None), |(bytes, flow)| (bytes, flow.record.data_span()));
    let named = all_ahead(&all, Wanted::All).zip(capture.main_way());
    let named = named.enumerate().map(|(place, (&flow, &goes_main_way))| {
        let figures = flow.figures();
        let is_drawn = flow.counts_beside(largest);
        let is_starved = !is_drawn && goes_main_way && is_starved(&figures, rival);
        NamedFlow {
            flow,
            name: FlowName::alone(flow.ends(), flow.tcp().is_none()),
            place,
            payload: figures.outline().payload_bytes,
            is_acked: figures.state().acked_bytes.is_some(),
            is_starved,
            values: if is_drawn || is_starved {
                BarValues::of(&figures)
            } else {
                BarValues::default()
            },
            bin_span: is_drawn.then(|| bin_span_of(&flow)).flatten(),
            goes_main_way,
        }
    });
    let mut flows: Vec<NamedFlow<'a>> = named.collect();
    flows.sort_by_cached_key(|flow| (std::cmp::Reverse(flow.payload), flow.place));
    let drawn = flows.partition_point(|flow| flow.flow.counts_beside(largest));
    let mut small = flows.split_off(drawn);
    let starved = small.iter_mut().filter(|flow| flow.is_starved);
    name_together(flows.iter_mut().chain(starved).collect(), names);
    (flows, small)
}

/// Names flows by what tells those apart that may be drawn: of others, such as control connections, no chart tells.
fn name_together(mut flows: Vec<&mut NamedFlow<'_>>, names: &FlowNames) {
    flows.sort_by_key(|flow| flow.place);
    let ends = flows.iter().map(|flow| FlowEnds::of(&flow.flow, names));
    let ends: Vec<FlowEnds> = ends.collect();
    for (flow, name) in flows.into_iter().zip(flow_names(&ends)) {
        flow.name = name;
    }
}

/// Whether the network limited a flow for most of its time, which is half of that of its rival or more of it.
fn is_starved(figures: &FlowFigures<'_>, rival: Option<Span>) -> bool {
    let spans = figures.outline().data_span.zip(rival);
    spans.is_some_and(|(own, rival)| is_beside(own, rival))
        && figures
            .limited_by()
            .is_some_and(|limited| limited.network > 0.5)
}

/// Whether a flow was there for half of the time of its rival.
fn is_beside(own: Span, rival: Span) -> bool {
    let (first, last) = (own.first.max(rival.first), own.last.min(rival.last));
    last.since(first).saturating_mul(2) >= rival.length_ns()
}

/// What is not drawn, in words; empty when all is.
pub(super) fn left_out(large: usize, small: usize) -> String {
    others(large, small, "not drawn")
}

/// What is done with the flows that are not drawn each, so many of them large themselves; empty without any.
pub(super) fn others(large: usize, small: usize, what: &str) -> String {
    match (large, small) {
        (0, 0) => String::new(),
        (0, small) => format!("{} under 1 % of the largest {what}", count(small, "flow")),
        (large, 0) => format!("{} {what}", count(large, "other flow")),
        (large, small) => {
            format!(
                "{} {what}, {small} of them under 1 % of the largest",
                count(large + small, "other flow")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::CaptureTime;

    #[test]
    fn who_is_there_for_half_of_the_time_is_beside_whatever_they_are_dated() {
        let span = |first, last| Span { first, last };
        let at = |ns| CaptureTime::from_ns(ns);
        let rival = span(at(10), at(20));
        assert!(is_beside(span(at(15), at(99)), rival));
        assert!(!is_beside(span(at(16), at(99)), rival));
        let always = span(CaptureTime::MIN, CaptureTime::MAX);
        assert!(is_beside(always, always));
        let [begin, end] = [CaptureTime::MIN, CaptureTime::MAX].map(|at| span(at, at));
        assert!(!is_beside(begin, end));
    }
}
