//! One row per flow and bin (METRICS.md, "Over time").

use super::blocks::{self, Blocks};
use super::schema::{Column, column_list};
use crate::analyze::{Analysis, CaptureAnalysis, Config, Flow};
use crate::decode::Endpoint;
use crate::metric::{self, Balance};
use crate::observe::{Bin, Bins};

/// What a row is made of.
pub(super) struct BinRow<'a> {
    capture: &'a CaptureAnalysis,
    flow: Flow<'a>,
    ends: (Endpoint, Endpoint),
    bin: Bin,
    config: &'a Config,
    /// Whether ACKs tell what was delivered, or it is of UDP.
    is_told: bool,
    /// Whether its round trips are known.
    is_timed: bool,
    balance: Option<Balance>,
}

impl BinRow<'_> {
    /// Goodput of the bin in bits per second.
    fn goodput_bps(&self) -> Option<f64> {
        let bytes = self.is_told.then(|| self.flow.delivered_in(&self.bin))?;
        metric::rate_bps(bytes, self.config.bin_ns)
    }

    /// Itself where it is of TCP: of UDP what takes sequence numbers and ACKs to tell is not known.
    fn tcp(&self) -> Option<&Self> {
        self.flow.tcp().and(Some(self))
    }
}

/// The first `len` of some bins of a flow.
#[derive(Clone)]
struct Part<'a> {
    capture: &'a CaptureAnalysis,
    flow: Flow<'a>,
    bins: Bins<'a>,
    len: usize,
}

/// The table, block by block.
pub(super) fn blocks<'a>(analysis: &'a Analysis, config: &'a Config) -> Blocks<'a> {
    let rows_max = blocks::rows_max(columns().len());
    let captures = analysis.captures.iter();
    let mut parts = captures
        .flat_map(|capture| capture.flows().map(move |flow| Part::of(capture, flow)))
        .filter(|part| part.len > 0);
    let mut rest: Option<Part<'a>> = None;
    let groups = std::iter::from_fn(move || {
        let (mut group, mut room): (Vec<Part<'a>>, usize) = (Vec::new(), rows_max);
        while room > 0
            && let Some(mut part) = rest.take().or_else(|| parts.next())
        {
            let first = part.split_off(room);
            room -= first.len;
            group.push(first);
            rest = (part.len > 0).then_some(part);
        }
        (!group.is_empty()).then_some(group)
    });
    blocks::of_groups(columns, groups, |group| {
        let len = group.iter().map(|part| part.len).sum();
        (len, group.into_iter().flat_map(|part| part.rows(config)))
    })
}

impl<'a> Part<'a> {
    /// All bins of a flow.
    fn of(capture: &'a CaptureAnalysis, flow: Flow<'a>) -> Self {
        let bins = flow.record.series().bins();
        Self {
            capture,
            flow,
            len: bins.len(),
            bins,
        }
    }

    /// Takes off the first bins, `len_max` at most and at least one.
    fn split_off(&mut self, len_max: usize) -> Self {
        let first = Self {
            len: self.len.min(len_max),
            ..self.clone()
        };
        self.len -= first.len;
        // Each is behind the one before, so those in between are gone through: once.
        if self.len > 0 {
            self.bins.nth(first.len - 1);
        }
        first
    }

    fn rows(self, config: &'a Config) -> impl Iterator<Item = BinRow<'a>> + use<'a> {
        let Self {
            capture,
            flow,
            bins,
            len,
        } = self;
        let (floor_ns, ends) = (floor_ns(&flow, config), flow.ends());
        let is_told = flow.delivered_bytes().is_some();
        let is_timed = flow.is_timed();
        bins.take(len).map(move |bin| BinRow {
            capture,
            flow,
            ends,
            bin,
            config,
            is_told,
            is_timed,
            balance: balance(floor_ns, &bin, config),
        })
    }
}

/// The smallest RTT of a flow, in ns, where the balanced metric is wanted of its bins.
fn floor_ns(flow: &Flow<'_>, config: &Config) -> Option<i64> {
    config.capacity?;
    flow.balance_floor_ns()
}

/// The balanced metric of one bin (METRICS.md P1).
fn balance(floor_ns: Option<i64>, bin: &Bin, config: &Config) -> Option<Balance> {
    bin.balance(
        config.bin_ns,
        config.capacity?.bps,
        floor_ns?,
        config.weights,
    )
}

/// Mean of the balanced metric over the bins in which it is defined; none where bins are missing.
pub(crate) fn pm_mean(flow: &Flow<'_>, config: &Config) -> Option<f64> {
    // Without it none is defined: said here, for a look at all bins takes its time.
    let floor_ns = floor_ns(flow, config)?;
    let bins = flow.record.series().whole()?;
    let values = bins.filter_map(|bin| Some(balance(Some(floor_ns), &bin, config)?.pm));
    metric::stats::mean(&values.collect::<Vec<_>>())
}

pub(super) fn columns<'a>() -> Vec<Column<BinRow<'a>>> {
    column_list![
    "capture" "-" Name |row| Some(&row.capture.name);
    "connection_id" "-" Count |row| Some(row.flow.connection_id);
    "src_ip" "-" Address |row| Some(row.ends.0.ip());
    "src_port" "-" Count |row| Some(u64::from(row.ends.0.port()));
    "dst_ip" "-" Address |row| Some(row.ends.1.ip());
    "dst_port" "-" Count |row| Some(u64::from(row.ends.1.port()));
    "bin" "-" Whole |row| Some(row.bin.index);
    "bin_start_ns" "-" Whole |row| Some(row.capture.origin.as_ns().saturating_add(row.bin.index.saturating_mul(row.config.bin_ns)));
    "acked_bytes" "C5" Count |row| row.is_told.then_some(row.tcp()?.bin.acked_bytes);
    "goodput_bps" "G1" Real BinRow::goodput_bps;
    "ip_bytes" "C2" Count |row| Some(row.bin.ip_bytes);
    "payload_bytes" "C3" Count |row| Some(row.bin.payload_bytes);
    "data_packets" "C1" Count |row| Some(row.bin.data_packets);
    "retransmitted_packets" "X1" Count |row| Some(row.tcp()?.bin.retransmitted_packets);
    "retransmitted_bytes" "X1" Count |row| Some(row.tcp()?.bin.retransmitted_bytes);
    "rtt_samples" "R2" Count |row| row.is_timed.then_some(row.bin.rtt_samples);
    "rtt_ns_min" "R2" Whole |row| (row.bin.rtt_samples > 0).then_some(row.bin.rtt_ns_min);
    "rtt_ns_mean" "R2" Real |row| row.bin.rtt_ns_mean();
    "rtt_ns_max" "R2" Whole |row| (row.bin.rtt_samples > 0).then_some(row.bin.rtt_ns_max);
    "in_flight_bytes_max" "I1" Count |row| row.bin.in_flight_bytes_max;
    "pm" "P1" Real |row| Some(row.balance?.pm);
    "pm_goodput" "P1" Real |row| Some(row.balance?.goodput);
    "pm_delay" "P1" Real |row| Some(row.balance?.delay);
    "pm_retransmission" "P1" Real |row| Some(row.balance?.retransmission);
    ]
}
