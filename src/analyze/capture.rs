//! What was found in one capture.

use std::sync::OnceLock;

use super::ahead::{all_ahead, connections_ahead};
use super::config::Config;
use super::directions::{counts_towards_capacity, goes_the_main_way};
use super::flow::{Flow, OfCapture};
use super::frames::FrameIndex;
use super::memory::GivenUp;
use super::order::Disorder;
use super::pairs::Pairs;
use super::pings::Ping;
use super::totals::{CaptureQuality, CaptureTotals, Delivered};
use crate::capture::{CaptureError, FileFacts};
use crate::decode::{Skip, Tally};
use crate::observe::{ConnectionRecord, Span, Wanted, delivery_bps_max};
use crate::time::CaptureTime;

/// What is known of a capture besides its connections.
#[derive(Default)]
pub(super) struct CaptureFacts {
    pub(super) name: String,
    pub(super) files: Vec<FileFacts>,
    pub(super) records: u64,
    pub(super) tcp_records: u64,
    pub(super) tally: Tally,
    pub(super) span: Option<Span>,
    pub(super) disorder: Option<Disorder>,
    pub(super) origin: CaptureTime,
    pub(super) frames: FrameIndex,
    pub(super) pings: Vec<Ping>,
    pub(super) cut_by_limit: u64,
    pub(super) given_up: GivenUp,
    pub(super) errors: Vec<CaptureError>,
}

/// Everything found in one capture.
#[derive(Debug)]
pub struct CaptureAnalysis {
    /// The capture: the path as given.
    pub name: String,
    /// The files it was read from.
    pub files: Vec<FileFacts>,
    /// Records read.
    pub records: u64,
    /// Records that belong to a TCP segment that was analysed.
    pub tcp_records: u64,
    /// Records that were skipped, by reason. With [`tcp_records`](Self::tcp_records) they add up
    /// to [`records`](Self::records). UDP is among them, also where its conversations are flows.
    pub skipped: Tally,
    /// First and last instant of all records.
    pub span: Option<Span>,
    /// Records that are older than the one before them, if any are.
    pub disorder: Option<Disorder>,
    /// Start of bin 0 of all series.
    pub origin: CaptureTime,
    /// How long each bin of them lasts, in ns, at least 1: what is made of bins is asked for with this.
    pub bin_ns: i64,
    /// Frame numbers.
    pub frames: FrameIndex,
    /// Whether conversations of UDP were asked for ([`Config::udp`](super::Config::udp)): among the connections.
    pub has_udp: bool,
    /// Connections with payload, by their first record, each with its `connection_id`.
    pub connections: Vec<(u64, Box<ConnectionRecord>)>,
    /// Connections in all, also those without payload.
    pub connections_total: u64,
    /// Connections put away because too many were alive at once.
    pub cut_by_limit: u64,
    /// What was given up for want of memory.
    pub given_up: GivenUp,
    /// Flows compared with each other.
    pub pairs: Pairs,
    /// ICMP echo requests.
    pub pings: Vec<Ping>,
    /// What kept it from being read to its end, of each file that failed; empty when all went well.
    pub errors: Vec<CaptureError>,
    /// Once they were asked for.
    pub(super) totals: OnceLock<CaptureTotals>,
    /// Which flows go the main way, once that was asked for.
    pub(super) main_way: OnceLock<Vec<bool>>,
}

impl CaptureAnalysis {
    /// A capture that could not even be opened.
    pub(super) fn unread(name: String, error: CaptureError, config: &Config) -> Self {
        let facts = CaptureFacts {
            name,
            errors: vec![error],
            ..CaptureFacts::default()
        };
        Self::of_facts(facts, config)
    }

    /// One of which no connection is known.
    pub(super) fn of_facts(facts: CaptureFacts, config: &Config) -> Self {
        Self {
            name: facts.name,
            files: facts.files,
            records: facts.records,
            tcp_records: facts.tcp_records,
            skipped: facts.tally,
            span: facts.span,
            disorder: facts.disorder,
            origin: facts.origin,
            bin_ns: config.bin_ns.max(1),
            frames: facts.frames,
            has_udp: false,
            connections: Vec::new(),
            connections_total: 0,
            cut_by_limit: facts.cut_by_limit,
            given_up: facts.given_up,
            pairs: Pairs::default(),
            pings: facts.pings,
            errors: facts.errors,
            totals: OnceLock::new(),
            main_way: OnceLock::new(),
        }
    }

    /// The first thing that kept it from being read to its end.
    #[must_use]
    pub fn error(&self) -> Option<&CaptureError> {
        self.errors.first()
    }

    /// Whether a file was damaged, and reading went on behind the damage.
    #[must_use]
    pub fn is_repaired(&self) -> bool {
        self.files.iter().any(|file| file.gaps_total > 0)
    }

    /// Goodput of all flows together, in bits per second: all acked bytes, and the payload of UDP, from the first data
    /// to the last new ACK, or the last data of UDP (METRICS.md G1); `None` with an empty interval.
    #[must_use]
    pub fn goodput_bps(&self) -> Option<f64> {
        self.delivered()?.goodput_bps()
    }

    /// The bytes and the interval that [`goodput_bps`](Self::goodput_bps) divides; `None` where there is no data, or no
    /// new ACK.
    #[must_use]
    pub fn delivered(&self) -> Option<Delivered> {
        self.totals().delivered()
    }

    /// Whether each of its [`flows`](Self::flows) goes the main way (METRICS.md N0): found out once, of all of them, so
    /// that whatever is told of some is told of the same way.
    #[must_use]
    pub fn main_way(&self) -> &[bool] {
        self.main_way.get_or_init(|| {
            let flows: Vec<Flow<'_>> = self.flows().collect();
            goes_the_main_way(&flows)
        })
    }

    /// The flows that a link's capacity is for (METRICS.md N5): those of one of its directions or, where next to
    /// nothing goes the other way, all.
    #[must_use]
    pub fn towards_capacity(&self) -> Vec<Flow<'_>> {
        let flows: Vec<Flow<'_>> = self.flows().collect();
        let counts = counts_towards_capacity(&flows, self.main_way());
        let flows = flows.into_iter().zip(counts);
        flows
            .filter_map(|(flow, counts)| counts.then_some(flow))
            .collect()
    }

    /// What these flows delivered together: what utilisation is made of.
    #[must_use]
    pub fn delivered_towards_capacity(&self) -> Option<Delivered> {
        Delivered::of(all_ahead(&self.towards_capacity(), Wanted::Outlines).copied())
    }

    /// The highest rate that these flows together were delivered for a second (METRICS.md R7).
    #[must_use]
    pub fn delivered_most(&self) -> DeliveredMost {
        DeliveredMost::of(&self.towards_capacity(), self.bin_ns)
    }

    /// What bears on the capture's numbers, summed over its flows.
    #[must_use]
    pub fn quality(&self) -> CaptureQuality {
        self.totals().quality
    }

    /// Sums over all flows: each connection is looked at once, when they are first asked for, and what they were then
    /// they stay.
    #[must_use]
    pub fn totals(&self) -> &CaptureTotals {
        if let Some(totals) = self.totals.get() {
            return totals;
        }
        // Not while others wait for it: on a pool, whoever sums them up may be handed one of those on the way.
        let totals = CaptureTotals::of(&self.connections, self.of_capture());
        self.totals.get_or_init(|| totals)
    }

    /// Packets of UDP that are wanted, where its conversations are flows.
    #[must_use]
    pub fn udp_records(&self) -> Option<u64> {
        self.has_udp.then(|| self.skipped.count(Skip::Udp))
    }

    /// Why records are in no flow, each with how many, where there are any: [`skipped`](Self::skipped), but for
    /// [those of UDP](Self::udp_records).
    pub fn left_out(&self) -> impl Iterator<Item = (Skip, u64)> {
        let skipped = self.skipped.iter();
        skipped.filter(|&(skip, n)| n > 0 && !(self.has_udp && skip == Skip::Udp))
    }

    /// Packets of UDP, and of TCP and UDP together, where the former are many beside its flows, with which they share a
    /// link, and none of these.
    #[must_use]
    pub fn udp_beside(&self) -> Option<[u64; 2]> {
        /// Of so many packets one is UDP where that is many.
        const UDP_SHARE: u64 = 20;
        let udp = self.skipped.count(Skip::Udp);
        let all = udp + self.tcp_records;
        let is_much = !self.has_udp
            && udp > 0
            && udp.saturating_mul(UDP_SHARE) >= all
            && self.totals().flows > 0;
        is_much.then_some([udp, all])
    }

    /// The flows, by connection, forward before reverse.
    pub fn flows(&self) -> impl Iterator<Item = Flow<'_>> {
        let connections = connections_ahead(&self.connections, Wanted::Outlines);
        let within = self.of_capture();
        connections.flat_map(move |(id, connection)| Flow::all_of(*id, connection.parts(), within))
    }

    /// What bears on each of its flows.
    fn of_capture(&self) -> OfCapture<'_> {
        let steps = self.files.iter().filter_map(|file| file.resolution);
        let steps_ns = steps.map(|resolution| resolution.step_ns() as u32);
        OfCapture {
            clock_step_ns: steps_ns.max().unwrap_or(0),
            has_put_away: self.cut_by_limit > 0,
            disorder: self.disorder.as_ref(),
        }
    }
}

/// The highest rate that flows together were delivered for a second (METRICS.md R7), in bits of payload a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeliveredMost {
    /// As far as bins are there: no less was delivered. `None` where no second has any.
    pub bps_at_least: Option<f64>,
    /// Flows with more than one hundredth of the payload lack bins, so that it may have been more.
    pub lacks_bins: bool,
    /// Flows of UDP, and those without ACKs, have more than one hundredth of the payload, of which nobody knows what arrived.
    pub lacks_acks: bool,
}

impl DeliveredMost {
    /// Of these flows, whose series have bins of [`bin_ns`](CaptureAnalysis::bin_ns): with any other, so many bins as are
    /// taken for a second last longer or shorter than one, and the rate is none that there was.
    #[must_use]
    pub fn of(flows: &[Flow<'_>], bin_ns: i64) -> Self {
        // In one pass, as each flow is fetched from another place of the memory: all of them are asked for their bins.
        let (mut all_bytes, mut cut_bytes, mut untold_bytes) = (0_u64, 0_u64, 0_u64);
        let series = all_ahead(flows, Wanted::All).filter_map(|flow| {
            let (series, payload_bytes) = (flow.record.series(), flow.payload_bytes());
            all_bytes = all_bytes.saturating_add(payload_bytes);
            if flow.tcp().is_none() || flow.delivered_bytes().is_none() {
                untold_bytes = untold_bytes.saturating_add(payload_bytes);
                return None;
            }
            if series.is_cut() {
                cut_bytes = cut_bytes.saturating_add(payload_bytes);
            }
            Some(series.bins().deliveries())
        });
        Self {
            bps_at_least: delivery_bps_max(series, bin_ns),
            lacks_bins: cut_bytes.saturating_mul(100) > all_bytes,
            lacks_acks: untold_bytes.saturating_mul(100) > all_bytes,
        }
    }

    /// What is known to be the most; `None` where bins or ACKs are missing, too.
    #[must_use]
    pub fn bps(self) -> Option<f64> {
        let lacks = self.lacks_bins || self.lacks_acks;
        self.bps_at_least.filter(|_| !lacks)
    }
}

#[cfg(test)]
mod tests;
