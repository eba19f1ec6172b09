//! Flows against each other (METRICS.md, "Between flows").

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::capture::CaptureAnalysis;
use super::config::{FnessWindow, PairConfig};
use super::first::keep_first;
use super::flow::Flow;
use super::totals::Delivered;
use crate::metric;
use crate::observe::{BytesBy, Span};
use crate::time::CaptureTime;

/// Two flows over one time span. A began first; of two that began at once, the one whose
/// connection is older.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Place of A among the capture's flows.
    pub a: usize,
    /// Place of B among the capture's flows.
    pub b: usize,
    /// Start of the span.
    pub start: CaptureTime,
    /// Its last instant.
    pub end: CaptureTime,
    /// Payload bytes of A seen in it.
    pub bytes_a: u64,
    /// Payload bytes of B seen in it.
    pub bytes_b: u64,
    /// Both counts are exact; otherwise one is interpolated.
    pub exact: bool,
    /// Pairwise fairness (METRICS.md N1).
    pub fness: Option<f64>,
}

impl Pair {
    /// Whether they were together for less than a round trip of either, by its smallest RTT: who got more then is who sent
    /// then. `flows` are those of the capture.
    #[must_use]
    pub fn is_momentary(&self, flows: &[Flow<'_>]) -> bool {
        let rtt_ns_min = |place: usize| flows.get(place)?.figures().rtt_stats().ns_min();
        let longer = rtt_ns_min(self.a).max(rtt_ns_min(self.b));
        longer.is_some_and(|rtt_ns| self.end.since(self.start) < rtt_ns)
    }
}

/// One bin of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairBin {
    /// Number of the bin.
    pub index: i64,
    /// Payload bytes of A in it.
    pub bytes_a: u64,
    /// Payload bytes of B in it.
    pub bytes_b: u64,
    /// Pairwise fairness in it.
    pub fness: Option<f64>,
}

/// The pairs of a capture, and how all its paired flows share.
///
/// ```
/// use ccanalyze::Analysis;
/// use ccanalyze::analyze::{Config, Flow, Pairs};
///
/// let downloads = "testdata/captures/two-flows-cubic-bbr.pcap.zst";
/// let analysis = Analysis::of([downloads], &Config::default());
/// let capture = &analysis.captures[0];
/// // 1 if both had sent as much, one half if one had sent all of it.
/// let jain = capture.pairs.jain.unwrap();
/// assert!((0.8..0.95).contains(&jain));
/// let flows: Vec<Flow<'_>> = capture.flows().collect();
/// for pair in &capture.pairs.pairs {
///     let (a, b) = (&flows[pair.a], &flows[pair.b]);
///     println!("{} and {}: {:?}", a.ends().0, b.ends().0, pair.fness);
///     // The same over time: A is ahead for the first 300 ms, then B.
///     for bin in Pairs::bins([a, b], pair, capture) {
///         let after_ms = bin.index * capture.bin_ns / 1_000_000;
///         println!("{after_ms} ms: {:?}", bin.fness);
///     }
/// }
/// assert_eq!(capture.pairs.pairs.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs {
    /// One entry a pair that goes the same way and whose spans overlap.
    pub pairs: Vec<Pair>,
    /// Flows that were compared: places among the capture's flows.
    pub paired: Vec<usize>,
    /// Flows left out because only the largest are paired.
    pub left_out: usize,
    /// Jain's index over the mean rates of the paired flows in the span common to all of them
    /// (METRICS.md N2); `None` with fewer than two, or without such a span.
    pub jain: Option<f64>,
    /// Mean goodput over a fair share (METRICS.md N3), of the paired flows.
    pub sharing_ratio: Option<f64>,
    /// Upper bound of the sharing ratio (METRICS.md N3).
    pub sharing_bound: Option<f64>,
}

impl Pairs {
    pub(super) fn of(analysis: &CaptureAnalysis, config: PairConfig) -> Self {
        let candidates = analysis
            .flows()
            .enumerate()
            .filter(|(_, flow)| has_time_span(flow));
        // Of two with as much payload the first.
        let rank = |&(place, ref flow): &(usize, Flow<'_>)| (Reverse(flow.payload_bytes()), place);
        let (mut flows, all) = keep_first(candidates, config.top, rank);
        let left_out = all - flows.len();
        flows.sort_unstable_by_key(|&(place, _)| place);
        // Of all flows, as utilisation is: the largest alone may go the other way. Of one there is nothing to tell.
        let main_way = if flows.len() < 2 {
            &[]
        } else {
            analysis.main_way()
        };
        let mut pairs = Vec::new();
        for (rank, first) in flows.iter().enumerate() {
            for second in &flows[rank + 1..] {
                // What goes the other way takes nothing from it.
                if main_way[first.0] == main_way[second.0] {
                    pairs.extend(compare(first, second, config.window));
                }
            }
        }
        let (compared, goes): (Vec<Flow<'_>>, Vec<bool>) = flows
            .iter()
            .map(|&(place, flow)| (flow, main_way.get(place) == Some(&true)))
            .unzip();
        let sharing = Sharing::of(&compared, &goes, None);
        Self {
            pairs,
            paired: flows.into_iter().map(|(place, _)| place).collect(),
            left_out,
            jain: sharing.jain,
            sharing_ratio: sharing.ratio,
            sharing_bound: sharing.bound,
        }
    }

    /// One pair, of `a` and `b`, over time, bin by bin: the bins of the pair's span in which either sent, and of those
    /// at its ends what passed within it. None from where on bins of either are missing: what it sent in them is not
    /// known. All are of the one `capture`.
    #[must_use]
    pub fn bins([a, b]: [&Flow<'_>; 2], pair: &Pair, capture: &CaptureAnalysis) -> Vec<PairBin> {
        let bin_ns = capture.bin_ns.max(1);
        let bin_of = |at: CaptureTime| at.since(capture.origin).div_euclid(bin_ns);
        let span = Span {
            first: pair.start,
            last: pair.end,
        };
        let within = bin_of(span.first)..=bin_of(span.last);
        let known = [a, b].map(|flow| flow.record.series().complete_through());
        let known_through = known.into_iter().min().flatten();
        let mut bytes: BTreeMap<i64, (u64, u64)> = BTreeMap::new();
        for (index, bytes_a) in payload_by_bin(a, span, &within) {
            bytes.entry(index).or_default().0 = bytes_a;
        }
        for (index, bytes_b) in payload_by_bin(b, span, &within) {
            bytes.entry(index).or_default().1 = bytes_b;
        }
        bytes
            .into_iter()
            .filter(|&(index, (a, b))| Some(index) <= known_through && a + b > 0)
            .map(|(index, (a, b))| PairBin {
                index,
                bytes_a: a,
                bytes_b: b,
                fness: metric::fness(a, b),
            })
            .collect()
    }
}

/// Payload of a flow in the bins `within`, those of a span: of the first and the last what passed in the span, where
/// the flow's curve knows that to the byte.
fn payload_by_bin(flow: &Flow<'_>, span: Span, within: &RangeInclusive<i64>) -> BTreeMap<i64, u64> {
    let (first, last) = (*within.start(), *within.end());
    let mut bytes = BTreeMap::new();
    let (mut below_first, mut through_last) = (0, 0);
    for bin in flow.record.series().bins().deliveries() {
        if bin.index < first {
            below_first += bin.payload_bytes;
        }
        if bin.index <= last {
            through_last += bin.payload_bytes;
        }
        if within.contains(&bin.index) {
            bytes.insert(bin.index, bin.payload_bytes);
        }
    }
    let curve = flow.record.curve();
    let mut leave_out = |index, outside: u64| {
        if let Some(bytes) = bytes.get_mut(&index) {
            *bytes = bytes.saturating_sub(outside);
        }
    };
    if let BytesBy::Exact(before) = curve.bytes_by(span.first.plus_ns(-1)) {
        leave_out(first, before.saturating_sub(below_first));
    }
    if let BytesBy::Exact(until) = curve.bytes_by(span.last) {
        leave_out(last, through_last.saturating_sub(until));
    }
    bytes
}

/// Compares two flows, each with its place; `None` where they were never active at the same time.
fn compare(
    first: &(usize, Flow<'_>),
    second: &(usize, Flow<'_>),
    window: Option<FnessWindow>,
) -> Option<Pair> {
    let (span_first, span_second) = (first.1.data_span()?, second.1.data_span()?);
    let (a, b) = if span_second.first < span_first.first {
        (second, first)
    } else {
        (first, second)
    };
    let both = span_first.common(span_second)?;
    let span = match window {
        None => span_first.shorter(span_second),
        Some(window) if window.length_ns <= 0 => return None,
        Some(window) => {
            let start = both.first.plus_ns(window.offset_ns);
            Span {
                first: start,
                last: start.plus_ns(window.length_ns.saturating_sub(1)),
            }
        }
    };
    let (bytes_a, exact_a) = a.1.payload_within(span);
    let (bytes_b, exact_b) = b.1.payload_within(span);
    Some(Pair {
        a: a.0,
        b: b.0,
        start: span.first,
        end: span.last,
        bytes_a,
        bytes_b,
        exact: exact_a && exact_b,
        fness: metric::fness(bytes_a, bytes_b),
    })
}

/// How flows share a link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sharing {
    /// Jain's index of their payload rates over their common span (METRICS.md N2).
    pub jain: Option<f64>,
    /// That is of payload known to the byte: see [`Flow::payload_within`].
    pub exact: bool,
    /// Mean goodput over a fair share (METRICS.md N3).
    pub ratio: Option<f64>,
    /// Upper bound of the ratio (METRICS.md N3).
    pub bound: Option<f64>,
}

impl Sharing {
    /// How flows share the link, those that compete for it (METRICS.md N2); undefined for fewer than two of them.
    /// `main_way` says which go the main way (N0). Jain's index is taken over the common span of those that compete, and
    /// no more of it than lies `within`, where that is given.
    #[must_use]
    pub fn of(flows: &[Flow<'_>], main_way: &[bool], within: Option<Span>) -> Self {
        let rivals = rivals(flows, main_way);
        if rivals.len() < 2 {
            return Self::default();
        }
        let spans: Vec<Span> = rivals.iter().filter_map(Flow::data_span).collect();
        // An instant is a span, too, as it is for pairs.
        let mut all = spans.iter().copied().chain(within);
        let common = all
            .next()
            .and_then(|first| all.try_fold(first, Span::common));
        let mut exact = true;
        let jain = common.and_then(|common| {
            let rates = rivals.iter().map(|flow| {
                let (bytes, is_exact) = flow.payload_within(common);
                exact &= is_exact;
                bytes as f64
            });
            metric::jain_index(rates)
        });
        let total = Delivered::of(rivals.iter().copied()).and_then(Delivered::goodput_bps);
        let goodputs: Vec<f64> = rivals.iter().filter_map(Flow::goodput_bps).collect();
        Self {
            jain,
            exact,
            ratio: total.and_then(|total| metric::sharing_ratio(&goodputs, total)),
            bound: Some(metric::sharing_bound(rivals.len())),
        }
    }
}

/// Whether a flow can be compared: one of a single packet has no time span to be compared over.
fn has_time_span(flow: &Flow<'_>) -> bool {
    flow.data_span().is_some_and(|span| span.length_ns() > 0)
}

/// The flows that compete (METRICS.md N2), of some of which `main_way` says which go the main way.
fn rivals<'a>(flows: &[Flow<'a>], main_way: &[bool]) -> Vec<Flow<'a>> {
    let compared = || {
        flows
            .iter()
            .zip(main_way)
            .filter(|(flow, _)| has_time_span(flow))
    };
    let payloads = compared().map(|(flow, _)| flow.payload_bytes());
    let largest = payloads.max().unwrap_or(0);
    let rivals = compared().filter(|&(flow, &goes)| goes && flow.counts_beside(largest));
    rivals.map(|(&flow, _)| flow).collect()
}
