//! One row per capture.

use std::collections::BTreeMap;

use super::schema::{Column, column_list};
use crate::analyze::{
    Analysis, CaptureAnalysis, CaptureQuality, Config, Delivered, DeliveredMost, Flow, LinkRates,
    all_ahead, counts_towards_capacity,
};
use crate::metric;
use crate::observe::Wanted;
use crate::time::SECOND_NS;

/// What is worked out of a whole capture, for its row and those of its flows and pairs.
#[derive(Debug)]
pub(super) struct CaptureFigures<'a> {
    pub(super) links: LinkRates,
    /// Flows of pairs, by their place among all: few of them, of a million flows perhaps.
    pub(super) paired: BTreeMap<usize, Flow<'a>>,
    /// What the flows that the capacity of the link is for delivered.
    counted: Option<Delivered>,
    /// The highest rate that these flows together were delivered for a second.
    delivered_most: DeliveredMost,
}

impl<'a> CaptureFigures<'a> {
    pub(super) fn of(capture: &'a CaptureAnalysis) -> Self {
        // Kept by the capture: summed up here, where threads may share in it.
        let _ = capture.totals();
        let flows: Vec<Flow<'_>> = capture.flows().collect();
        // Estimates are of one direction of the link, too.
        let counts = counts_towards_capacity(&flows, capture.main_way());
        let counted = flows.iter().zip(counts).filter(|&(_, counts)| counts);
        let counted: Vec<Flow<'_>> = counted.map(|(&flow, _)| flow).collect();
        let paired = capture.pairs.paired.iter();
        Self {
            links: LinkRates::of(&flows, capture.main_way(), capture.bin_ns),
            paired: paired.map(|&place| (place, flows[place])).collect(),
            delivered_most: DeliveredMost::of(&counted, capture.bin_ns),
            counted: Delivered::of(all_ahead(&counted, Wanted::Outlines).copied()),
        }
    }
}

/// What a row is made of.
pub(super) struct CaptureRow<'a> {
    capture: &'a CaptureAnalysis,
    config: &'a Config,
    figures: &'a CaptureFigures<'a>,
}

pub(super) fn rows<'a>(
    analysis: &'a Analysis,
    config: &'a Config,
    figures: &'a [CaptureFigures<'a>],
) -> impl Iterator<Item = CaptureRow<'a>> {
    let captures = analysis.captures.iter().zip(figures);
    captures.map(move |(capture, figures)| CaptureRow {
        capture,
        config,
        figures,
    })
}

impl CaptureRow<'_> {
    fn drops(&self) -> Option<u64> {
        let drops = self.capture.files.iter().filter_map(|file| file.drops);
        drops.reduce(u64::saturating_add)
    }

    fn quality(&self) -> CaptureQuality {
        self.capture.quality()
    }

    /// Goodput of the flows that the capacity of the link is for.
    fn counted_bps(&self) -> Option<f64> {
        self.figures.counted?.goodput_bps()
    }

    /// Of a second's delivery, so there is none where the goodput is that of less.
    fn utilisation_estimated(&self) -> Option<f64> {
        let figures = self.figures;
        let long_enough = figures.counted?.span.length_ns() >= SECOND_NS;
        let capacity_bps = figures.delivered_most.bps().filter(|_| long_enough)?;
        metric::utilisation(self.counted_bps()?, capacity_bps)
    }

    /// Rate of the link that most bytes of the main way passed, from the dispersion of packets.
    fn link_bps_estimated(&self) -> Option<f64> {
        let figures = self.figures;
        figures
            .links
            .shared_bps(figures.delivered_most.bps_at_least)
    }

    /// Not with much UDP or TCP without ACKs, of which nobody knows what passed that link.
    fn link_utilisation_estimated(&self) -> Option<f64> {
        let lacks_acks = self.figures.delivered_most.lacks_acks;
        let link_bps = self.link_bps_estimated().filter(|_| !lacks_acks)?;
        metric::utilisation(self.counted_bps()?, link_bps)
    }
}

pub(super) fn columns<'a>() -> Vec<Column<CaptureRow<'a>>> {
    column_list![
    "capture" "-" Name |row| Some(&row.capture.name);
    "files" "-" Count |row| Some(row.capture.files.len() as u64);
    "format" "-" Text |row| row.capture.files.first()?.format.map(|format| format.to_string());
    "timestamp_tick_ns" "-" Real |row| Some(row.capture.files.first()?.resolution?.step_ns());
    "snap_len_bytes" "-" Count |row| row.capture.files.first()?.snap_len.map(u64::from);
    "start_ns" "-" Whole |row| Some(row.capture.span?.first.as_ns());
    "end_ns" "-" Whole |row| Some(row.capture.span?.last.as_ns());
    "records" "-" Count |row| Some(row.capture.records);
    "untimed_records" "Q1" Count |row| Some(row.capture.files.iter().map(|file| file.untimed_records).sum());
    "tcp_records" "-" Count |row| Some(row.capture.tcp_records);
    "skipped_records" "-" Count |row| Some(row.capture.skipped.total());
    "skipped_by_reason" "-" Text |row| Some(row.capture.skipped.iter().filter(|&(_, n)| n > 0).map(|(skip, n)| format!("{}={n}", skip.name())).collect::<Vec<_>>().join(","));
    "capture_drops" "-" Count CaptureRow::drops;
    "damaged_places" "Q1" Count |row| Some(row.capture.files.iter().map(|file| file.gaps_total).sum());
    "damaged_bytes" "Q1" Count |row| Some(row.capture.files.iter().map(|file| file.skipped_bytes).sum());
    "connections_put_away" "Q1" Count |row| Some(row.capture.cut_by_limit);
    "flows_without_series" "Q1" Count |row| Some(row.capture.given_up.flows_without_series);
    "unseen_bytes" "Q1" Count |row| Some(row.quality().unseen_bytes);
    "duplicate_packets" "Q1" Count |row| Some(row.quality().duplicate_packets);
    "headers_cut" "Q1" Count |row| Some(row.quality().headers_cut);
    "super_segments" "Q1" Count |row| Some(row.quality().super_segments);
    "lengths_from_frame" "Q1" Count |row| Some(row.quality().lengths_from_frame);
    "time_steps_back" "Q1" Count |row| Some(row.capture.disorder.map_or(0, |disorder| disorder.steps_back));
    "clock_steps_back" "Q1" Count |row| Some(row.quality().clock_steps_back);
    "one_way_flows" "Q1" Count |row| Some(row.quality().one_way_flows);
    "mid_stream_flows" "Q1" Count |row| Some(row.quality().mid_stream_flows);
    "copied_flows" "Q1" Count |row| Some(row.quality().copied_flows);
    "connections" "-" Count |row| Some(row.capture.connections_total);
    "flows" "-" Count |row| Some(row.capture.totals().flows);
    "goodput_bps" "G1" Real |row| row.capture.goodput_bps();
    "utilisation" "N5" Real |row| metric::utilisation(row.counted_bps()?, row.config.capacity?.bps);
    "capacity_estimated_bps" "R7" Real |row| row.figures.delivered_most.bps();
    "utilisation_estimated" "R7" Real CaptureRow::utilisation_estimated;
    "link_bps_estimated" "R8" Real CaptureRow::link_bps_estimated;
    "link_utilisation_estimated" "R8" Real CaptureRow::link_utilisation_estimated;
    "jain" "N2" Real |row| row.capture.pairs.jain;
    "sharing_ratio" "N3" Real |row| row.capture.pairs.sharing_ratio;
    "sharing_bound" "N3" Real |row| row.capture.pairs.sharing_bound;
    "paired_flows" "N1" Count |row| Some(row.capture.pairs.paired.len() as u64);
    "flows_left_unpaired" "N1" Count |row| Some(row.capture.pairs.left_out as u64);
    "error" "-" Text |row| row.capture.error().map(ToString::to_string);
    ]
}
