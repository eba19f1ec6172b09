//! The options that bound memory, as typed and as meant.

use clap::Args;

use super::values::{parse_size, whole};
use crate::analyze::Config;
use crate::flow::{ConnectionLimits, SHARDS};
use crate::track::TrackLimits;

/// Least memory of one of several captures: a small part of a small limit would be of no use.
const MEMORY_BYTES_MIN: u64 = 64_000_000;

/// What holds for captures whatever is done with them: options of every command that reads some.
#[derive(Clone, Copy, Debug, Args)]
pub struct CaptureArgs {
    /// Memory for what is kept of the captures, such as `4GB` or `512MiB`; several share it, with
    /// 64 MB each at least, and so do the runs of a study, each with an eighth. Beyond it series and
    /// rows of the smallest flows are given up, and silent connections put away, which count as new
    /// ones when they go on; the column `quality` says so
    #[arg(long, value_name = "SIZE", default_value = "4GB", value_parser = parse_size)]
    pub memory: u64,

    /// Go on behind damage in a file at the next records that make sense, and say how many bytes
    /// were skipped; by default a damaged file is used up to the damage
    #[arg(long)]
    pub repair: bool,
}

/// How much is kept of connections, and of what.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Limits")]
#[expect(clippy::struct_field_names, reason = "each is called as the option is")]
pub struct LimitArgs {
    /// Follow at most N connections at a time, a 32nd of N in each of 32 parts that they are spread
    /// over; beyond that those without payload, then those silent longest, are put away and marked
    /// `limit_hit`. Each takes 2 kB and more
    // Connections are meant; the first name stays for those who use it.
    #[arg(long, visible_alias = "max-connections", value_name = "N", default_value_t = ConnectionLimits::of_all().connections_max as u64, value_parser = whole::<u64, 1, { u64::MAX }>)]
    pub max_flows: u64,

    /// Keep at most N connections of one packet so far, or of a SYN and its answer, as in floods and
    /// scans, a 32nd of N in each part; beyond that those without payload, then those silent longest,
    /// are put away. Each takes 110 bytes, an answer 40 more
    #[arg(long, value_name = "N", default_value_t = ConnectionLimits::of_all().half_open_max as u64, value_parser = whole::<u64, 1, { u64::MAX }>)]
    pub max_half_open: u64,

    /// Keep at most N bins of a flow's series, the first; beyond that the flow is marked
    /// `series_cut`. Each takes some 20 bytes, and bins in which nothing happened none
    #[arg(long, value_name = "N", default_value_t = Config::default().bins_max, value_parser = whole::<u32, 1, { u32::MAX as u64 }>)]
    pub max_bins: u32,

    /// Remember at most N segments in flight of a flow; beyond that the oldest give no round-trip
    /// time, and a copy of them has nothing to be compared with. Each takes up to 100 bytes
    #[arg(long, value_name = "N", default_value_t = TrackLimits::default().in_flight_max, value_parser = whole::<u32, 8, { u32::MAX as u64 }>)]
    pub max_in_flight: u32,

    /// Remember at most N holes in the bytes of a flow; beyond that the lowest count as lost by the
    /// capture
    #[arg(long, value_name = "N", default_value_t = TrackLimits::default().holes_max, value_parser = whole::<u32, 8, { u32::MAX as u64 }>)]
    pub max_holes: u32,
}

impl CaptureArgs {
    /// Memory for each of so many captures that are kept at a time, in bytes.
    pub(super) fn memory_bytes_each(self, captures: usize) -> u64 {
        let share = self.memory / captures.max(1) as u64;
        share.max(MEMORY_BYTES_MIN.min(self.memory))
    }
}

impl LimitArgs {
    /// Sets the limits of an analysis.
    pub(super) fn apply(self, config: &mut Config) {
        // Connections are spread over the shards evenly, as near as a hash does it. All together are not counted:
        // what is put away would depend on which thread is ahead.
        config.limits = ConnectionLimits {
            connections_max: (self.max_flows as usize).div_ceil(SHARDS),
            half_open_max: (self.max_half_open as usize).div_ceil(SHARDS),
            track: TrackLimits {
                in_flight_max: self.max_in_flight,
                holes_max: self.max_holes,
            },
            ..config.limits
        };
        config.bins_max = self.max_bins;
    }
}
