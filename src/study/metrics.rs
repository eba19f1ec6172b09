//! The numbers of a run and of a flow that a study compares.

use super::units::Dimension;
use crate::metric::{self, Better};

/// Defines the metrics once: variant, name of the column, entry in METRICS.md, better way.
macro_rules! metrics {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:literal $entry:literal $better:ident;)*) => {
        /// A number that a run, a flow or both have. Names and units as in the tables.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Metric {
            $($(#[doc = $doc])+ $variant,)*
        }

        impl Metric {
            /// All of them, in the order of the tables.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its name, unit last.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// Its entry in METRICS.md.
            #[must_use]
            pub const fn entry(self) -> &'static str {
                match self { $(Self::$variant => $entry),* }
            }

            /// Which way is better; `None` where neither is by itself.
            #[must_use]
            pub const fn better(self) -> Option<Better> {
                match self { $(Self::$variant => better!($better)),* }
            }
        }
    };
}

shown_by_name!(Metric);

macro_rules! better {
    (More) => {
        Some(Better::More)
    };
    (Less) => {
        Some(Better::Less)
    };
    (Neither) => {
        None
    };
}

metrics! {
    /// Goodput; of a run: of all its flows together.
    GoodputBps "goodput_bps" "G1" More;
    /// Throughput at the IP layer.
    ThroughputBps "throughput_bps" "G2" Neither;
    /// IP bytes.
    IpBytes "ip_bytes" "C2" Less;
    /// IP bytes on the wire.
    WireIpBytes "wire_ip_bytes" "C7" Less;
    /// Acknowledged payload bytes.
    AckedBytes "acked_bytes" "C5" More;
    /// IP bytes over acknowledged bytes, less 1.
    Overhead "overhead" "O1" Less;
    /// IP bytes on the wire over acknowledged bytes, less 1.
    WireOverhead "wire_overhead" "O2" Less;
    /// Goodput over capacity.
    Utilisation "utilisation" "N5" More;
    /// From the first data segment after the handshake to the last one.
    CompletionNs "completion_ns" "F1" Less;
    /// Handshake.
    HandshakeRttNs "handshake_rtt_ns" "F2" Less;
    /// Smallest round-trip time.
    RttNsMin "rtt_ns_min" "R2" Less;
    /// Mean round-trip time.
    RttNsMean "rtt_ns_mean" "R2" Less;
    /// Largest round-trip time.
    RttNsMax "rtt_ns_max" "R2" Less;
    /// Median round-trip time.
    RttNsP50 "rtt_ns_p50" "R2" Less;
    /// 95 % quantile of the round-trip times.
    RttNsP95 "rtt_ns_p95" "R2" Less;
    /// 99 % quantile of the round-trip times.
    RttNsP99 "rtt_ns_p99" "R2" Less;
    /// Mean round-trip time less the smallest.
    QueueDelayNsMean "queue_delay_ns_mean" "R5" Less;
    /// Queueing delay in percent of a full buffer.
    QueueShare "queue_share" "Y2" Less;
    /// What waited in the queue over its limit, from captures before and after it; of a flow: its part.
    QueueOccupancy "queue_occupancy" "Y6" Less;
    /// Packets that the queue dropped, from captures before and after it.
    QueueDroppedPackets "queue_dropped_packets" "Y6" Less;
    /// Packets with payload.
    DataPackets "data_packets" "C1" Neither;
    /// Data segments sent again.
    RetransmittedPackets "retransmitted_packets" "X1" Less;
    /// Packets sent again, on the wire.
    WireRetransmittedPackets "wire_retransmitted_packets" "C7" Less;
    /// Payload bytes sent again.
    RetransmittedBytes "retransmitted_bytes" "X1" Less;
    /// Share of data packets that were sent again.
    RetransmissionRate "retransmission_rate" "X1" Less;
    /// Largest number of bytes in flight.
    InFlightBytesMax "in_flight_bytes_max" "I1" Neither;
    /// Balanced metric, mean over the bins.
    Pm "pm" "P1" More;
    /// Its part A: goodput.
    PmGoodput "pm_goodput" "P1" More;
    /// Its part B: delay.
    PmDelay "pm_delay" "P1" More;
    /// Its part C: retransmissions.
    PmRetransmission "pm_retransmission" "P1" More;
    /// Harm done to goodput.
    HarmGoodput "harm_goodput" "N4" Less;
    /// Harm done to the mean round-trip time.
    HarmRtt "harm_rtt" "N4" Less;
    /// Harm done to the completion time.
    HarmCompletion "harm_completion" "N4" Less;
    /// Number of flows.
    Flows "flow_count" "Y1" Neither;
    /// Pairwise fairness of the first and the second flow.
    Fness "fness" "N1" Neither;
    /// Jain's index.
    Jain "jain" "N2" More;
    /// Sharing ratio.
    SharingRatio "sharing_ratio" "N3" Neither;
    /// Bound of the sharing ratio.
    SharingBound "sharing_bound" "N3" Neither;
    /// Smallest ping.
    PingNsMin "ping_ns_min" "PING" Less;
    /// Mean ping.
    PingNsMean "ping_ns_mean" "PING" Less;
    /// Largest ping.
    PingNsMax "ping_ns_max" "PING" Less;
    /// Share of pings without reply.
    PingLoss "ping_loss" "PING" Less;
    /// Predicted throughput; only of measured tables that have it.
    PredictedBps "predicted_bps" "T2" Neither;
    /// Predicted over measured goodput, less 1.
    PredictionError "prediction_error" "T5" Neither;
}

impl Metric {
    /// Whether a single flow has it; else only runs do.
    #[must_use]
    pub const fn is_of_flows(self) -> bool {
        (self as usize) < Self::Flows as usize
    }

    /// Whether it is a ratio that is read in percent.
    #[must_use]
    pub const fn is_share(self) -> bool {
        matches!(
            self,
            Self::Overhead
                | Self::WireOverhead
                | Self::Utilisation
                | Self::QueueShare
                | Self::QueueOccupancy
                | Self::RetransmissionRate
                | Self::PingLoss
                | Self::PredictionError
        )
    }

    /// What its numbers measure: bit/s, ns or bytes. `None` for counts and ratios.
    #[must_use]
    pub fn dimension(self) -> Option<Dimension> {
        let mut words = self.name().split('_');
        words.find_map(|word| match word {
            "bps" => Some(Dimension::Rate),
            "ns" => Some(Dimension::Time),
            "bytes" => Some(Dimension::Size),
            _ => None,
        })
    }

    /// Whether it is a number of things.
    #[must_use]
    pub const fn is_count(self) -> bool {
        matches!(
            self,
            Self::DataPackets
                | Self::QueueDroppedPackets
                | Self::RetransmittedPackets
                | Self::WireRetransmittedPackets
                | Self::Flows
        )
    }

    /// The metric of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|metric| metric.name() == name)
    }
}

/// A number for each metric that is defined.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    values: Vec<Option<f64>>,
}

impl Values {
    /// The number of a metric.
    #[must_use]
    pub fn get(&self, metric: Metric) -> Option<f64> {
        self.values.get(metric as usize).copied().flatten()
    }

    /// Sets it; what is not finite is undefined.
    pub fn set(&mut self, metric: Metric, value: Option<f64>) {
        if self.values.is_empty() {
            self.values = vec![None; Metric::ALL.len()];
        }
        self.values[metric as usize] = value.filter(|value| value.is_finite());
    }

    /// Means over several flows; of each metric over those that have it.
    pub(super) fn mean_of(flows: &[&Self]) -> Self {
        let mut means = Self::default();
        for &metric in Metric::ALL {
            let known: Vec<f64> = flows.iter().filter_map(|flow| flow.get(metric)).collect();
            means.set(metric, metric::stats::mean(&known));
        }
        means
    }

    /// Sets what follows for several flows together from the counts of each: the sums, unknown where
    /// one's count is, and their ratios.
    pub(super) fn set_sums(&mut self, flows: &[&Self]) {
        for metric in [
            Metric::IpBytes,
            Metric::WireIpBytes,
            Metric::AckedBytes,
            Metric::DataPackets,
            Metric::RetransmittedPackets,
            Metric::WireRetransmittedPackets,
            Metric::RetransmittedBytes,
        ] {
            self.set(metric, flows.iter().map(|flow| flow.get(metric)).sum());
        }
        for (metric, ratio) in self.ratios() {
            self.set(metric, ratio);
        }
    }

    /// What follows from counts, where nothing else is known (METRICS.md Y7): the share of packets that were sent again
    /// (X1, of segments, which come in more packets where some are in fragments), and the overhead (O1, O2).
    pub(super) fn ratios(&self) -> [(Metric, Option<f64>); 3] {
        let rate = self
            .get(Metric::RetransmittedPackets)
            .zip(self.get(Metric::DataPackets))
            .map(|(again, packets)| again / packets);
        let overhead = |ip_bytes: Metric| {
            let (ip, acked) = (self.get(ip_bytes)?, self.get(Metric::AckedBytes)?);
            metric::overhead(ip as u64, acked as u64)
        };
        [
            (Metric::RetransmissionRate, rate),
            (Metric::Overhead, overhead(Metric::IpBytes)),
            (Metric::WireOverhead, overhead(Metric::WireIpBytes)),
        ]
    }

    /// All of them, in the order of [`Metric::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Metric, Option<f64>)> {
        Metric::ALL
            .iter()
            .copied()
            .map(|metric| (metric, self.get(metric)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ties of ranks are of numbers that are the same to the last bit.
    #[test]
    fn a_mean_is_the_same_in_whatever_order_and_of_what_is_known() {
        let of = |goodput_bps: &[f64]| {
            let flows: Vec<Values> = goodput_bps
                .iter()
                .map(|&bps| {
                    let mut values = Values::default();
                    values.set(Metric::GoodputBps, Some(bps));
                    values
                })
                .chain([Values::default()])
                .collect();
            Values::mean_of(&flows.iter().collect::<Vec<_>>())
        };
        // Added up as they stand, one is 0.6 and the other 0.6000000000000001.
        assert_eq!(of(&[0.1, 0.2, 0.3]), of(&[0.3, 0.2, 0.1]));
        assert_eq!(of(&[]).get(Metric::GoodputBps), None);
    }
}
