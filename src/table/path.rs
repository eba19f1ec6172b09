//! What happened between two points (METRICS.md, "Between two points"): flows, hops, bins, episodes, packets.

mod packets;

use super::blocks::{self, Blocks};
use super::schema::{self, Column, TableSchema, column_list};
use crate::path::{
    DropCause, FlowBin, Heading, Hop, PathAnalysis, PathConfig, PathFlow, QueueBin, QueueLimit, Way,
};

pub use packets::PacketTable;

/// The tables of a path, made block by block, but for that of its packets, which is a [`PacketTable`].
#[derive(Clone, Copy, Debug)]
pub struct PathTables<'a> {
    analysis: &'a PathAnalysis,
    config: &'a PathConfig,
}

impl<'a> PathTables<'a> {
    /// The tables of an analysis made with `config`.
    #[must_use]
    pub fn of(analysis: &'a PathAnalysis, config: &'a PathConfig) -> Self {
        Self { analysis, config }
    }

    fn hops(self) -> impl Iterator<Item = (u64, &'a Hop)> {
        (1_u64..).zip(&self.analysis.hops)
    }

    fn flow_rows(self) -> impl Iterator<Item = FlowRow<'a>> {
        let config = self.config;
        self.hops().flat_map(move |(number, hop)| {
            let flows = hop.flows_in_order().into_iter();
            flows.map(move |flow| FlowRow {
                config,
                number,
                hop,
                flow,
            })
        })
    }

    fn way_rows(self) -> impl Iterator<Item = WayRow<'a>> {
        let config = self.config;
        self.hops().flat_map(move |(number, hop)| {
            let ways = hop.ways.iter().filter(|way| way.span.is_some());
            ways.map(move |way| WayRow::of(number, hop, way, config))
        })
    }

    /// One row per flow and hop.
    #[must_use]
    pub fn flows(self) -> Blocks<'a> {
        blocks::of_rows(flow_columns, self.flow_rows())
    }

    /// One row per hop and way.
    #[must_use]
    pub fn ways(self) -> Blocks<'a> {
        blocks::of_rows(way_columns, self.way_rows())
    }

    /// One row per hop, way and bin.
    #[must_use]
    pub fn series(self) -> Blocks<'a> {
        let rows = self.way_rows().flat_map(|of| {
            let bins = of.way.bins.iter();
            bins.map(move |bin| BinRow { of, bin })
        });
        blocks::of_rows(bin_columns, rows)
    }

    /// One row per flow, hop and bin.
    #[must_use]
    pub fn flow_series(self) -> Blocks<'a> {
        let rows = self.flow_rows().flat_map(|of| {
            let bins = of.flow.bins.iter();
            bins.map(move |bin| FlowBinRow { of, bin })
        });
        blocks::of_rows(flow_bin_columns, rows)
    }

    /// One row per episode of drops.
    #[must_use]
    pub fn episodes(self) -> Blocks<'a> {
        let rows = self.way_rows().flat_map(|of| {
            let episodes = (1_u64..).zip(&of.way.episodes);
            episodes.map(move |(episode_number, episode)| EpisodeRow {
                of,
                episode_number,
                episode,
            })
        });
        blocks::of_rows(episode_columns, rows)
    }
}

/// Every table with its columns, for the documentation's test.
pub(super) fn schemas() -> Vec<TableSchema> {
    vec![
        schema::describe("path", &flow_columns()),
        schema::describe("path.hops", &way_columns()),
        schema::describe("path.series", &bin_columns()),
        schema::describe("path.flow_series", &flow_bin_columns()),
        schema::describe("path.episodes", &episode_columns()),
        schema::describe("path packets", &packets::packet_columns()),
    ]
}

/// A flow at a hop.
#[derive(Clone, Copy)]
struct FlowRow<'a> {
    config: &'a PathConfig,
    number: u64,
    hop: &'a Hop,
    flow: &'a PathFlow,
}

impl FlowRow<'_> {
    fn way(&self) -> &Way {
        &self.hop.ways[self.flow.heading as usize]
    }

    /// Part of all byte time in the queue of its way.
    fn queue_share(&self) -> Option<f64> {
        self.way().share(self.flow)
    }

    fn cause(&self, cause: DropCause) -> u64 {
        self.flow.dropped_by_cause[cause as usize]
    }
}

fn flow_columns<'a>() -> Vec<Column<FlowRow<'a>>> {
    column_list![
    "hop" "-" Count |row| Some(row.number);
    "way" "B1" Name |row| Some(row.flow.heading.name());
    "src_ip" "-" Address |row| Some(row.flow.key.src.ip());
    "src_port" "-" Count |row| Some(u64::from(row.flow.key.src.port()));
    "dst_ip" "-" Address |row| Some(row.flow.key.dst.ip());
    "dst_port" "-" Count |row| Some(u64::from(row.flow.key.dst.port()));
    "name" "-" Text |row| Some(row.config.names.of_key(&row.flow.key)?.to_string());
    "protocol" "-" Count |row| Some(u64::from(row.flow.key.protocol));
    "first_ns" "-" Whole |row| Some(row.flow.first_ns);
    "packets" "B1" Count |row| Some(row.flow.packets);
    "ip_bytes" "B1" Count |row| Some(row.flow.ip_bytes);
    "passed_packets" "B1" Count |row| Some(row.flow.passed_packets);
    "passed_bytes" "B1" Count |row| Some(row.flow.passed_bytes);
    "dropped_packets" "B6" Count |row| Some(row.flow.dropped_packets);
    "dropped_data_packets" "B6" Count |row| Some(row.flow.dropped_data_packets);
    "dropped_bytes" "B6" Count |row| Some(row.flow.dropped_bytes);
    "loss_rate" "B6" Real |row| row.flow.loss_rate();
    "dropped_full" "B6" Count |row| Some(row.cause(DropCause::Full));
    "dropped_early" "B6" Count |row| Some(row.cause(DropCause::Early));
    "dropped_idle" "B6" Count |row| Some(row.cause(DropCause::Idle));
    "dropped_run_max" "B7" Count |row| Some(row.flow.dropped_run_max);
    "episodes" "B7" Count |row| Some(row.flow.episodes);
    "episodes_shared" "B7" Count |row| Some(row.flow.episodes_shared);
    "delay_ns_min" "B3" Whole |row| row.flow.delay.ns_min();
    "delay_ns_mean" "B3" Real |row| row.flow.delay.ns_mean();
    "delay_ns_max" "B3" Whole |row| row.flow.delay.ns_max();
    "delay_ns_p50" "B3" Whole |row| row.flow.delay.ns_quantile(0.50);
    "delay_ns_p95" "B3" Whole |row| row.flow.delay.ns_quantile(0.95);
    "delay_ns_p99" "B3" Whole |row| row.flow.delay.ns_quantile(0.99);
    "queue_delay_ns_mean" "B4" Real |row| row.flow.queue_delay.ns_mean();
    "queue_delay_ns_p95" "B4" Whole |row| row.flow.queue_delay.ns_quantile(0.95);
    "queue_delay_ns_max" "B4" Whole |row| row.flow.queue_delay.ns_max();
    "queue_share" "B4" Real FlowRow::queue_share;
    "reordered_packets" "B1" Count |row| Some(row.flow.reordered_packets);
    "ce_marked_packets" "B1" Count |row| Some(row.flow.ce_marked_packets);
    "appeared_packets" "B1" Count |row| Some(row.flow.appeared_packets);
    "undecided_packets" "B1" Count |row| Some(row.flow.undecided_packets);
    "uncertain_packets" "B1" Count |row| Some(row.flow.uncertain_packets);
    ]
}

/// One way of a hop.
#[derive(Clone, Copy)]
struct WayRow<'a> {
    number: u64,
    hop: &'a Hop,
    way: &'a Way,
    config: &'a PathConfig,
    /// The rate that utilisation is relative to.
    link_bps: Option<f64>,
}

impl<'a> WayRow<'a> {
    fn of(number: u64, hop: &'a Hop, way: &'a Way, config: &'a PathConfig) -> Self {
        Self {
            number,
            hop,
            way,
            config,
            link_bps: way.link_bps(hop.capacity_bps, config.bin_ns),
        }
    }

    /// Where packets come in, and where they leave.
    fn points(&self) -> [&str; 2] {
        let [first, second] = &self.hop.points;
        match self.way.heading {
            Heading::Forward => [first, second],
            Heading::Reverse => [second, first],
        }
    }

    fn flows(&self) -> impl Iterator<Item = &PathFlow> {
        let heading = self.way.heading;
        let flows = self.hop.flows.iter().flatten();
        flows.filter(move |flow| flow.heading == heading)
    }

    fn sum(&self, of: fn(&PathFlow) -> u64) -> u64 {
        self.flows().map(of).sum()
    }

    fn drops(&self, cause: DropCause) -> u64 {
        let drops = self.way.drops.iter();
        drops.filter(|drop| drop.cause == cause).count() as u64
    }

    /// The mean over all packets that passed, of flows that have one.
    fn delays(&self, of: fn(&PathFlow) -> Option<f64>) -> Option<f64> {
        let means = self
            .flows()
            .filter_map(|flow| Some((of(flow)?, flow.passed_packets as f64)));
        let (sum, passed) = means.fold((0.0, 0.0), |(sum, passed), (mean, packets)| {
            (sum + mean * packets, passed + packets)
        });
        (passed > 0.0).then(|| sum / passed)
    }

    fn occupancy(&self) -> Option<f64> {
        let (packets, bytes) = (self.way.packets_mean()?, self.way.bytes_mean()?);
        self.way.occupancy(packets, bytes)
    }

    fn occupancy_max(&self) -> Option<f64> {
        let max = self.way.queue()?.max_counted();
        self.way.limit?.share(max.packets as f64, max.bytes as f64)
    }

    fn limit(&self, of: fn(QueueLimit) -> Option<u64>) -> Option<u64> {
        self.way.limit.and_then(of)
    }
}

fn packets_of(limit: QueueLimit) -> Option<u64> {
    match limit {
        QueueLimit::Packets(packets) => Some(packets),
        QueueLimit::Bytes(_) => None,
    }
}

fn bytes_of(limit: QueueLimit) -> Option<u64> {
    match limit {
        QueueLimit::Packets(_) => None,
        QueueLimit::Bytes(bytes) => Some(bytes),
    }
}

fn way_columns<'a>() -> Vec<Column<WayRow<'a>>> {
    column_list![
    "hop" "-" Count |row| Some(row.number);
    "way" "B1" Name |row| Some(row.way.heading.name());
    "before" "-" Text |row| Some(row.points()[0].to_owned());
    "after" "-" Text |row| Some(row.points()[1].to_owned());
    "start_ns" "-" Whole |row| Some(row.way.span?.0);
    "end_ns" "-" Whole |row| Some(row.way.span?.1);
    "packets" "B1" Count |row| Some(row.sum(|flow| flow.packets));
    "ip_bytes" "B1" Count |row| Some(row.sum(|flow| flow.ip_bytes));
    "flows" "B1" Count |row| Some(row.flows().count() as u64);
    "dropped_packets" "B6" Count |row| Some(row.way.drops.len() as u64);
    "dropped_bytes" "B6" Count |row| Some(row.sum(|flow| flow.dropped_bytes));
    "dropped_full" "B6" Count |row| Some(row.drops(DropCause::Full));
    "dropped_early" "B6" Count |row| Some(row.drops(DropCause::Early));
    "dropped_idle" "B6" Count |row| Some(row.drops(DropCause::Idle));
    "drop_pattern" "B6" Name |row| Some(row.way.pattern()?.name());
    "episodes" "B7" Count |row| Some(row.way.episodes.len() as u64);
    "episodes_shared" "B7" Count |row| Some(row.way.episodes.iter().filter(|episode| episode.flows.len() > 1).count() as u64);
    "dropped_run_max" "B7" Count |row| Some(row.way.drops.iter().map(|drop| drop.run_before + 1).max().unwrap_or(0));
    "delay_ns_min" "B3" Whole |row| row.flows().filter_map(|flow| flow.delay.ns_min()).min();
    "delay_ns_mean" "B3" Real |row| row.delays(|flow| flow.delay.ns_mean());
    "delay_ns_max" "B3" Whole |row| row.flows().filter_map(|flow| flow.delay.ns_max()).max();
    "queue_delay_ns_mean" "B4" Real |row| row.delays(|flow| flow.queue_delay.ns_mean());
    "queue_delay_ns_max" "B4" Whole |row| row.flows().filter_map(|flow| flow.queue_delay.ns_max()).max();
    "queue_packets_mean" "B4" Real |row| row.way.packets_mean();
    "queue_bytes_mean" "B4" Real |row| row.way.bytes_mean();
    "queue_packets_max" "B4" Count |row| Some(row.way.queue()?.max().packets);
    "queue_bytes_max" "B4" Count |row| Some(row.way.queue()?.max().bytes);
    "limit_packets" "B4" Count |row| row.limit(packets_of);
    "limit_bytes" "B4" Count |row| row.limit(bytes_of);
    "limit_header_bytes" "B6" Count |row| row.limit(bytes_of).map(|_| row.way.header_bytes);
    "limit_is_estimated" "B4" Truth |row| row.way.limit.map(|_| row.way.limit_is_estimated);
    "occupancy_mean" "B4" Real WayRow::occupancy;
    "occupancy_max" "B4" Real WayRow::occupancy_max;
    "standing_packets" "B4" Real |row| Some(row.way.standing(row.config.bin_ns)?.0);
    "standing_bytes" "B4" Real |row| Some(row.way.standing(row.config.bin_ns)?.1);
    "busy_share" "B4" Real |row| row.way.busy_share();
    "rate_estimated_bps" "B5" Real |row| row.way.rate_bps;
    "delivered_bps_max" "B5" Real |row| row.way.delivered_bps_max(row.config.bin_ns);
    "utilisation" "B5" Real |row| row.way.utilisation(row.link_bps?);
    "tap_place" "B5" Name |row| Some(row.way.link.tap.name());
    "transit_ns" "B5" Whole |row| Some(row.way.link.transit_ns);
    "clock_offset_ns" "B2" Real |row| Some(row.hop.clock_estimate.as_ref()?.clock.offset_ns);
    "clock_drift_ppm" "B2" Real |row| Some(row.hop.clock_estimate.as_ref()?.clock.drift * 1e6);
    "clock_pieces" "B2" Count |row| Some(row.hop.clock_estimate.as_ref()?.pieces as u64);
    "clock_steps" "B2" Count |row| Some(row.hop.clock_estimate.as_ref()?.steps.len() as u64);
    "clock_step_ns_max" "B2" Real |row| row.hop.clock_estimate.as_ref()?.steps.iter().map(|step| step.by_ns).max_by(|one, other| one.abs().total_cmp(&other.abs()));
    "clock_uncertainty_ns" "B2" Real |row| row.hop.clock_estimate.as_ref()?.uncertainty_ns;
    "clock_corrected" "B2" Truth |row| Some(row.hop.clock_is_fixed());
    "reordered_packets" "B1" Count |row| Some(row.sum(|flow| flow.reordered_packets));
    "ce_marked_packets" "B1" Count |row| Some(row.sum(|flow| flow.ce_marked_packets));
    "appeared_packets" "B1" Count |row| Some(row.sum(|flow| flow.appeared_packets));
    "undecided_packets" "B1" Count |row| Some(row.sum(|flow| flow.undecided_packets));
    "uncertain_packets" "B1" Count |row| Some(row.sum(|flow| flow.uncertain_packets));
    "quality" "B1" Text |row| Some(row.hop.quality().join(","));
    ]
}

/// How long a way lasts within a bin, in ns; at least 1.
fn lasts_ns(way: &Way, bin: i64, bin_ns: i64) -> f64 {
    way.lasts_ns(bin, bin_ns).max(1) as f64
}

/// The queue of a way in a bin.
struct BinRow<'a> {
    of: WayRow<'a>,
    bin: &'a QueueBin,
}

impl BinRow<'_> {
    fn lasts_ns(&self) -> f64 {
        lasts_ns(self.of.way, self.bin.index, self.of.config.bin_ns)
    }

    fn packets_mean(&self) -> f64 {
        self.bin.packets_ns as f64 / self.lasts_ns()
    }

    fn bytes_mean(&self) -> f64 {
        self.bin.bytes_ns as f64 / self.lasts_ns()
    }

    fn occupancy_max(&self) -> Option<f64> {
        let way = self.of.way.queue()?;
        let max = self.bin.max_with_headers(way.header_bytes);
        way.limit?.share(max.packets as f64, max.bytes as f64)
    }

    fn utilisation(&self) -> Option<f64> {
        let sent = self.bin.left.bytes as f64 * 8e9 / self.lasts_ns();
        Some(sent / self.of.link_bps?)
    }
}

fn bin_columns<'a>() -> Vec<Column<BinRow<'a>>> {
    column_list![
    "hop" "-" Count |row| Some(row.of.number);
    "way" "B1" Name |row| Some(row.of.way.heading.name());
    "bin" "-" Whole |row| Some(row.bin.index);
    "bin_start_ns" "-" Whole |row| Some(row.of.hop.bin_start_ns(row.bin.index));
    "arrived_packets" "B1" Count |row| Some(row.bin.arrived.packets + row.bin.dropped.packets);
    "arrived_bytes" "B1" Count |row| Some(row.bin.arrived.bytes + row.bin.dropped.bytes);
    "left_packets" "B4" Count |row| Some(row.bin.left.packets);
    "left_bytes" "B4" Count |row| Some(row.bin.left.bytes);
    "dropped_packets" "B6" Count |row| Some(row.bin.dropped.packets);
    "dropped_bytes" "B6" Count |row| Some(row.bin.dropped.bytes);
    "queue_packets_mean" "B4" Real |row| row.of.way.queue().map(|_| row.packets_mean());
    "queue_bytes_mean" "B4" Real |row| row.of.way.queue().map(|_| row.bytes_mean());
    "queue_packets_min" "B4" Count |row| row.of.way.queue().map(|_| row.bin.min.packets);
    "queue_bytes_min" "B4" Count |row| row.of.way.queue().map(|_| row.bin.min.bytes);
    "queue_packets_max" "B4" Count |row| row.of.way.queue().map(|_| row.bin.max.packets);
    "queue_bytes_max" "B4" Count |row| row.of.way.queue().map(|_| row.bin.max.bytes);
    "queue_packets_end" "B4" Count |row| row.of.way.queue().map(|_| row.bin.end.packets);
    "queue_bytes_end" "B4" Count |row| row.of.way.queue().map(|_| row.bin.end.bytes);
    "occupancy_mean" "B4" Real |row| row.of.way.queue()?.occupancy(row.packets_mean(), row.bytes_mean());
    "occupancy_max" "B4" Real BinRow::occupancy_max;
    "utilisation" "B5" Real BinRow::utilisation;
    ]
}

/// A flow in a bin.
struct FlowBinRow<'a> {
    of: FlowRow<'a>,
    bin: &'a FlowBin,
}

impl FlowBinRow<'_> {
    fn queue_bytes_mean(&self) -> Option<f64> {
        let way = self.of.way().queue()?;
        let lasts_ns = lasts_ns(way, self.bin.index, self.of.hop.bin_ns);
        Some(self.bin.waited_byte_ns as f64 / lasts_ns)
    }
}

fn flow_bin_columns<'a>() -> Vec<Column<FlowBinRow<'a>>> {
    column_list![
    "hop" "-" Count |row| Some(row.of.number);
    "way" "B1" Name |row| Some(row.of.flow.heading.name());
    "src_ip" "-" Address |row| Some(row.of.flow.key.src.ip());
    "src_port" "-" Count |row| Some(u64::from(row.of.flow.key.src.port()));
    "dst_ip" "-" Address |row| Some(row.of.flow.key.dst.ip());
    "dst_port" "-" Count |row| Some(u64::from(row.of.flow.key.dst.port()));
    "bin" "-" Whole |row| Some(row.bin.index);
    "bin_start_ns" "-" Whole |row| Some(row.of.hop.bin_start_ns(row.bin.index));
    "passed_packets" "B1" Count |row| Some(row.bin.passed_packets);
    "passed_bytes" "B1" Count |row| Some(row.bin.passed_bytes);
    "dropped_packets" "B6" Count |row| Some(row.bin.dropped_packets);
    "delay_ns_min" "B3" Whole |row| (row.bin.passed_packets > 0).then_some(row.bin.delay_ns_min);
    "delay_ns_mean" "B3" Real |row| row.bin.delay_ns_mean();
    "delay_ns_max" "B3" Whole |row| (row.bin.passed_packets > 0).then_some(row.bin.delay_ns_max);
    "queue_bytes_mean" "B4" Real FlowBinRow::queue_bytes_mean;
    ]
}

/// An episode of drops.
struct EpisodeRow<'a> {
    of: WayRow<'a>,
    episode_number: u64,
    episode: &'a crate::path::Episode,
}

impl EpisodeRow<'_> {
    /// `10.0.0.1:80>10.0.0.2:5001=3` or `[fd77::1]:80>[fd77::2]:5001=3` for each flow that lost.
    fn flows(&self) -> String {
        let flows = self.episode.flows.iter().filter_map(|&(number, drops)| {
            let flow = self.of.hop.flows.get(number as usize)?.as_ref()?;
            Some(format!("{}>{}={drops}", flow.key.src, flow.key.dst))
        });
        flows.collect::<Vec<_>>().join(",")
    }
}

fn episode_columns<'a>() -> Vec<Column<EpisodeRow<'a>>> {
    column_list![
    "hop" "-" Count |row| Some(row.of.number);
    "way" "B1" Name |row| Some(row.of.way.heading.name());
    "episode" "-" Count |row| Some(row.episode_number);
    "start_ns" "B7" Whole |row| Some(row.episode.start_ns);
    "end_ns" "B7" Whole |row| Some(row.episode.end_ns);
    "dropped_packets" "B7" Count |row| Some(row.episode.drops);
    "dropped_bytes" "B7" Count |row| Some(row.episode.bytes);
    "dropped_run_max" "B7" Count |row| Some(row.episode.run_max);
    "queue_packets" "B7" Count |row| row.of.way.queue().map(|_| row.episode.found.packets);
    "queue_bytes" "B7" Count |row| row.of.way.queue().map(|_| row.episode.found.bytes);
    "flows" "B7" Count |row| Some(row.episode.flows.len() as u64);
    "dropped_by_flow" "B7" Text |row| Some(row.flows());
    ]
}
