//! A flow over time, in bins of fixed length (METRICS.md section 4).

use crate::time::CaptureTime;

/// One bin of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    /// Number of the bin: 0 begins with the capture's first record.
    pub index: i64,
    /// Payload bytes newly acknowledged.
    pub acked_bytes: u64,
    /// IP bytes.
    pub ip_bytes: u64,
    /// Payload bytes, every copy counted.
    pub payload_bytes: u64,
    /// Packets with payload.
    pub data_packets: u64,
    /// Packets that are retransmissions.
    pub retransmitted_packets: u64,
    /// Their payload bytes.
    pub retransmitted_bytes: u64,
    /// RTT samples whose ACK passed in this bin.
    pub rtt_samples: u64,
    /// Sum of them, in ns.
    pub rtt_ns_sum: i64,
    /// Smallest, in ns; meaningless without samples.
    pub rtt_ns_min: i64,
    /// Largest, in ns; meaningless without samples.
    pub rtt_ns_max: i64,
    /// Largest number of bytes in flight, at the data segments of this bin.
    pub in_flight_bytes_max: Option<u64>,
}

impl Bin {
    /// Mean RTT, in ns; `None` without samples.
    #[must_use]
    pub fn rtt_ns_mean(&self) -> Option<f64> {
        (self.rtt_samples > 0).then(|| self.rtt_ns_sum as f64 / self.rtt_samples as f64)
    }
}

/// The bins of one flow in which anything happened, in order.
#[derive(Clone, Debug)]
pub struct Series {
    bins: Vec<Bin>,
    bins_max: u32,
    /// Not all bins are there; the last of `bins` is none then, but takes what belongs to others.
    cut: bool,
}

impl Series {
    /// The bins, in order of time.
    #[must_use]
    pub fn bins(&self) -> &[Bin] {
        let kept = self.bins.len() - usize::from(self.cut);
        &self.bins[..kept]
    }

    /// Whether bins are missing: there were too many, or they were given up.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Whether all bins were given up.
    #[must_use]
    pub fn is_given_up(&self) -> bool {
        self.bins_max == 0
    }

    /// Gives up all bins.
    pub fn give_up(&mut self) {
        self.bins = vec![Bin::default()];
        self.cut = true;
        self.bins_max = 0;
    }

    /// Memory that the bins take, in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.bins.capacity() * size_of::<Bin>()
    }

    /// Place in `bins` of the bin with this number, which is made where there is none and room for it;
    /// otherwise of that which takes what belongs to others.
    fn place_of(&mut self, index: i64) -> usize {
        let kept = self.bins();
        let place = kept.partition_point(|bin| bin.index < index);
        if kept.get(place).is_some_and(|bin| bin.index == index) {
            return place;
        }
        if kept.len() >= self.bins_max as usize {
            if !self.cut {
                self.cut = true;
                self.bins.push(Bin::default());
            }
            return self.bins.len() - 1;
        }
        if self.bins.len() == self.bins.capacity() {
            // Most flows end in their first bins: room for one, then for twice as many, where a
            // vector would begin with four.
            self.bins.reserve_exact(self.bins.len().max(1));
        }
        let bin = Bin {
            index,
            ..Bin::default()
        };
        self.bins.insert(place, bin);
        place
    }
}

/// Number of the bin of the instant `at`; bin 0 begins at `origin`, each is `bin_ns` (at least 1)
/// long.
pub(super) fn bin_of(origin: CaptureTime, bin_ns: i64, at: CaptureTime) -> i64 {
    at.since(origin).div_euclid(bin_ns.max(1))
}

/// The series of a flow that is alive.
#[derive(Debug)]
pub(super) struct LiveSeries {
    series: Series,
    origin: CaptureTime,
    bin_ns: i64,
    /// The bin last used and when it ends: nearly always the one wanted next.
    current: usize,
    current_start: CaptureTime,
    current_end: CaptureTime,
}

impl LiveSeries {
    /// No bins yet; bin 0 begins at `origin`, each is `bin_ns` (at least 1) long, and no more than
    /// `bins_max` are kept: the first that are used.
    pub(super) fn new(origin: CaptureTime, bin_ns: i64, bins_max: u32) -> Self {
        Self {
            series: Series {
                bins: Vec::new(),
                bins_max,
                cut: false,
            },
            origin,
            bin_ns: bin_ns.max(1),
            current: 0,
            current_start: CaptureTime::MAX,
            current_end: CaptureTime::MIN,
        }
    }

    /// What there is so far.
    pub(super) fn so_far(&self) -> &Series {
        &self.series
    }

    /// The flow has ended.
    pub(super) fn into_series(self) -> Series {
        self.series
    }

    /// Gives up all bins, those to come too.
    pub(super) fn give_up(&mut self) {
        self.series.give_up();
        self.current = 0;
        (self.current_start, self.current_end) = (CaptureTime::MIN, CaptureTime::MAX);
    }

    /// The bin of the instant `at`.
    #[inline]
    pub(super) fn at(&mut self, at: CaptureTime) -> &mut Bin {
        if at < self.current_start || at >= self.current_end {
            self.turn_to(at);
        }
        &mut self.series.bins[self.current]
    }

    #[cold]
    fn turn_to(&mut self, at: CaptureTime) {
        let index = bin_of(self.origin, self.bin_ns, at);
        self.current_start = self.origin.plus_ns(index.saturating_mul(self.bin_ns));
        self.current_end = self.current_start.plus_ns(self.bin_ns);
        self.current = self.series.place_of(index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_sparse_and_in_order_even_when_the_clock_steps_back() {
        let mut series = LiveSeries::new(CaptureTime::from_ns(1000), 100, 10);
        for ns in [1000, 1099, 5000, 1100, 900, 1000] {
            series.at(CaptureTime::from_ns(ns)).data_packets += 1;
        }
        let bins: Vec<(i64, u64)> = series
            .so_far()
            .bins()
            .iter()
            .map(|bin| (bin.index, bin.data_packets))
            .collect();
        assert_eq!(bins, [(-1, 1), (0, 3), (1, 1), (40, 1)]);
    }

    #[test]
    fn beyond_the_limit_the_first_bins_stay_and_the_series_says_so() {
        let mut series = LiveSeries::new(CaptureTime::from_ns(0), 100, 3);
        for ns in [0, 100, 200, 300, 400, 50, 150, -1, 250] {
            series.at(CaptureTime::from_ns(ns)).data_packets += 1;
        }
        let counts: Vec<(i64, u64)> = series
            .so_far()
            .bins()
            .iter()
            .map(|bin| (bin.index, bin.data_packets))
            .collect();
        assert_eq!(counts, [(0, 2), (1, 2), (2, 2)]);
        assert!(series.so_far().is_cut());
        series.give_up();
        series.at(CaptureTime::from_ns(0)).data_packets += 1;
        series.at(CaptureTime::MAX).data_packets += 1;
        let series = series.into_series();
        assert!(series.bins().is_empty() && series.is_cut());
    }
}
