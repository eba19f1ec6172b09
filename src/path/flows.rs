//! What each flow met between two points (METRICS.md B3, B4, B6).

use super::clock::Heading;
use super::delays::PathDelays;
use super::sighting::FlowKey;
use crate::observe::DelayDistribution;

/// One flow between two points.
#[derive(Clone, Debug)]
pub struct PathFlow {
    /// Who talks to whom, as seen where its packets come in.
    pub key: FlowKey,
    /// Which way it goes.
    pub heading: Heading,
    /// When its first packet came in, by the first point's clock, in ns; where none was seen coming in, when the first
    /// one left.
    pub first_ns: i64,
    /// Packets that came in within the time that both captures cover.
    pub packets: u64,
    /// IP bytes of these packets.
    pub ip_bytes: u64,
    /// Packets that came in and left.
    pub passed_packets: u64,
    /// IP bytes that came in and left.
    pub passed_bytes: u64,
    /// Packets that came in and never left.
    pub dropped_packets: u64,
    /// Packets with TCP payload that came in and never left.
    pub dropped_data_packets: u64,
    /// IP bytes that never left.
    pub dropped_bytes: u64,
    /// Drops by cause, by the place of a [`DropCause`](super::DropCause): at a full queue, before it was full, at an
    /// empty one.
    pub dropped_by_cause: [u64; 3],
    /// Most drops in a row without one of its packets between them that passed.
    pub dropped_run_max: u64,
    /// Packets that left without having come in: the capture missed them there, or something
    /// between the points made them, such as a second copy.
    pub appeared_packets: u64,
    /// Packets too near to an end of a capture, or in a gap of one, to say what became of them.
    pub undecided_packets: u64,
    /// Packets that others with the same headers could be taken for.
    pub uncertain_packets: u64,
    /// Packets that left after one that had come in later.
    pub reordered_packets: u64,
    /// Packets that left marked "congestion experienced" and had come in without.
    pub ce_marked_packets: u64,
    /// Delays from point to point.
    pub delay: PathDelays,
    /// Part of the delays that was spent waiting in the queue.
    pub queue_delay: DelayDistribution,
    /// IP bytes times the ns that they waited.
    pub waited_byte_ns: u128,
    /// Episodes in which it lost packets.
    pub episodes: u64,
    /// Episodes in which it lost packets and others did, too.
    pub episodes_shared: u64,
    /// Bins in which it was active.
    pub bins: Vec<FlowBin>,
    pub(super) run: u64,
    has_come_in: bool,
}

/// A flow in one bin of time, by when its packets came in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowBin {
    /// Number of the bin, from the first packet of either point on ([`Hop::origin_ns`](super::Hop::origin_ns)).
    pub index: i64,
    /// Packets that passed.
    pub passed_packets: u64,
    /// IP bytes that passed.
    pub passed_bytes: u64,
    /// Packets dropped.
    pub dropped_packets: u64,
    /// Smallest delay, in ns; meaningless where nothing passed.
    pub delay_ns_min: i64,
    /// Sum of delays, in ns.
    pub delay_ns_sum: i64,
    /// Largest delay, in ns; meaningless where nothing passed.
    pub delay_ns_max: i64,
    /// IP bytes times the ns that they waited.
    pub waited_byte_ns: u128,
}

impl FlowBin {
    /// Mean delay in ns; `None` where nothing passed.
    #[must_use]
    pub fn delay_ns_mean(&self) -> Option<f64> {
        (self.passed_packets > 0).then(|| self.delay_ns_sum as f64 / self.passed_packets as f64)
    }
}

impl PathFlow {
    pub(super) fn new(key: FlowKey, heading: Heading) -> Self {
        Self {
            key,
            heading,
            first_ns: i64::MAX,
            packets: 0,
            ip_bytes: 0,
            passed_packets: 0,
            passed_bytes: 0,
            dropped_packets: 0,
            dropped_data_packets: 0,
            dropped_bytes: 0,
            dropped_by_cause: [0; 3],
            dropped_run_max: 0,
            appeared_packets: 0,
            undecided_packets: 0,
            uncertain_packets: 0,
            reordered_packets: 0,
            ce_marked_packets: 0,
            delay: PathDelays::default(),
            queue_delay: DelayDistribution::default(),
            waited_byte_ns: 0,
            episodes: 0,
            episodes_shared: 0,
            bins: Vec::new(),
            run: 0,
            has_come_in: false,
        }
    }

    /// A packet was seen at `at`, where it came in or where it left.
    pub(super) fn see(&mut self, at: i64, comes_in: bool) {
        if comes_in && !self.has_come_in {
            (self.first_ns, self.has_come_in) = (at, true);
        } else if comes_in == self.has_come_in {
            self.first_ns = self.first_ns.min(at);
        }
    }

    /// Part of its packets that were dropped; `None` where none came in.
    #[must_use]
    pub fn loss_rate(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.dropped_packets as f64 / self.packets as f64)
    }

    pub(super) fn bin(&mut self, index: i64) -> &mut FlowBin {
        // Times that step back go where the walk is.
        if self.bins.last().is_none_or(|last| last.index < index) {
            self.bins.push(FlowBin {
                index,
                ..FlowBin::default()
            });
        }
        let last = self.bins.len() - 1;
        &mut self.bins[last]
    }

    /// A packet of it passed: `delay_ns` from point to point, `waited_ns` of it in the queue, if there is one.
    pub(super) fn pass(&mut self, bin: i64, ip_len: u32, delay_ns: i64, waited_ns: Option<i64>) {
        let bytes = u64::from(ip_len);
        let waited = u128::from(ip_len) * waited_ns.unwrap_or(0).max(0) as u128;
        self.packets += 1;
        self.ip_bytes += bytes;
        self.passed_packets += 1;
        self.passed_bytes += bytes;
        self.delay.add(delay_ns);
        if let Some(waited_ns) = waited_ns {
            self.queue_delay.add(waited_ns);
        }
        self.waited_byte_ns += waited;
        self.run = 0;
        let bin = self.bin(bin);
        if bin.passed_packets == 0 {
            bin.delay_ns_min = delay_ns;
            bin.delay_ns_max = delay_ns;
        }
        bin.passed_packets += 1;
        bin.passed_bytes += bytes;
        bin.delay_ns_min = bin.delay_ns_min.min(delay_ns);
        bin.delay_ns_max = bin.delay_ns_max.max(delay_ns);
        bin.delay_ns_sum = bin.delay_ns_sum.saturating_add(delay_ns);
        bin.waited_byte_ns += waited;
    }

    /// A packet of it of which nobody knows when it came in or left waited so long, as far as is known.
    pub(super) fn hold(&mut self, bin: i64, ip_len: u32, waited_ns: i64) {
        let waited = u128::from(ip_len) * waited_ns.max(0) as u128;
        self.undecided_packets += 1;
        self.waited_byte_ns += waited;
        if waited > 0 {
            self.bin(bin).waited_byte_ns += waited;
        }
    }

    /// A packet of it was dropped, after `waited_ns` in the queue, where that had taken it.
    pub(super) fn lose(&mut self, bin: i64, ip_len: u32, has_payload: bool, waited_ns: i64) {
        let waited = u128::from(ip_len) * waited_ns.max(0) as u128;
        self.waited_byte_ns += waited;
        self.bin(bin).waited_byte_ns += waited;
        self.packets += 1;
        self.ip_bytes += u64::from(ip_len);
        self.dropped_packets += 1;
        self.dropped_data_packets += u64::from(has_payload);
        self.dropped_bytes += u64::from(ip_len);
        self.run += 1;
        self.dropped_run_max = self.dropped_run_max.max(self.run);
        self.bin(bin).dropped_packets += 1;
    }
}
