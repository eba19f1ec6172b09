//! One row per pair of flows, and one a pair and bin (METRICS.md, "Between flows").

use super::captures::CaptureFigures;
use super::schema::{Column, column_list};
use crate::analyze::{Analysis, CaptureAnalysis, Config, Flow, Pair, PairBin, Pairs};

/// What a row is made of.
#[derive(Clone, Copy)]
pub(super) struct PairRow<'a> {
    capture: &'a CaptureAnalysis,
    a: Flow<'a>,
    b: Flow<'a>,
    pair: Pair,
    config: &'a Config,
}

impl PairRow<'_> {
    fn name(&self, flow: &Flow<'_>) -> Option<String> {
        Some(self.config.names.of(flow)?.to_string())
    }
}

/// What a row of the pair series is made of.
pub(super) struct PairBinRow<'a> {
    pair: PairRow<'a>,
    bin: PairBin,
}

pub(super) fn rows<'a>(
    analysis: &'a Analysis,
    config: &'a Config,
    figures: &'a [CaptureFigures<'a>],
) -> impl Iterator<Item = PairRow<'a>> {
    let captures = analysis.captures.iter().zip(figures);
    captures.flat_map(move |(capture, figures)| {
        let flows = &figures.paired;
        let pairs = capture.pairs.pairs.iter();
        pairs.map(move |&pair| PairRow {
            capture,
            a: flows[&pair.a],
            b: flows[&pair.b],
            pair,
            config,
        })
    })
}

pub(super) fn bin_rows<'a>(
    analysis: &'a Analysis,
    config: &'a Config,
    figures: &'a [CaptureFigures<'a>],
) -> impl Iterator<Item = PairBinRow<'a>> {
    rows(analysis, config, figures).flat_map(move |pair| {
        let bins = Pairs::bins([&pair.a, &pair.b], &pair.pair, pair.capture);
        let bins = bins.into_iter();
        bins.map(move |bin| PairBinRow { pair, bin })
    })
}

pub(super) fn columns<'a>() -> Vec<Column<PairRow<'a>>> {
    column_list![
    "capture" "-" Name |row| Some(&row.capture.name);
    "a_connection_id" "-" Count |row| Some(row.a.connection_id);
    "a_src_ip" "-" Address |row| Some(row.a.ends().0.ip());
    "a_src_port" "-" Count |row| Some(u64::from(row.a.ends().0.port()));
    "a_dst_ip" "-" Address |row| Some(row.a.ends().1.ip());
    "a_dst_port" "-" Count |row| Some(u64::from(row.a.ends().1.port()));
    "a_name" "-" Text |row| row.name(&row.a);
    "b_connection_id" "-" Count |row| Some(row.b.connection_id);
    "b_src_ip" "-" Address |row| Some(row.b.ends().0.ip());
    "b_src_port" "-" Count |row| Some(u64::from(row.b.ends().0.port()));
    "b_dst_ip" "-" Address |row| Some(row.b.ends().1.ip());
    "b_dst_port" "-" Count |row| Some(u64::from(row.b.ends().1.port()));
    "b_name" "-" Text |row| row.name(&row.b);
    "start_ns" "N1" Whole |row| Some(row.pair.start.as_ns());
    "end_ns" "N1" Whole |row| Some(row.pair.end.as_ns());
    "a_payload_bytes" "N1" Count |row| Some(row.pair.bytes_a);
    "b_payload_bytes" "N1" Count |row| Some(row.pair.bytes_b);
    "exact" "N1" Truth |row| Some(row.pair.exact);
    "fness" "N1" Real |row| row.pair.fness;
    ]
}

pub(super) fn bin_columns<'a>() -> Vec<Column<PairBinRow<'a>>> {
    column_list![
    "capture" "-" Name |row| Some(&row.pair.capture.name);
    "a_connection_id" "-" Count |row| Some(row.pair.a.connection_id);
    "a_src_ip" "-" Address |row| Some(row.pair.a.ends().0.ip());
    "a_src_port" "-" Count |row| Some(u64::from(row.pair.a.ends().0.port()));
    "b_connection_id" "-" Count |row| Some(row.pair.b.connection_id);
    "b_src_ip" "-" Address |row| Some(row.pair.b.ends().0.ip());
    "b_src_port" "-" Count |row| Some(u64::from(row.pair.b.ends().0.port()));
    "bin" "-" Whole |row| Some(row.bin.index);
    "bin_start_ns" "-" Whole |row| Some(row.pair.capture.origin.as_ns().saturating_add(row.bin.index.saturating_mul(row.pair.capture.bin_ns)));
    "a_payload_bytes" "N1" Count |row| Some(row.bin.bytes_a);
    "b_payload_bytes" "N1" Count |row| Some(row.bin.bytes_b);
    "fness" "N1" Real |row| row.bin.fness;
    ]
}
