//! Sums over captures.

use std::ops::AddAssign;

/// A struct that is added field by field.
macro_rules! summed {
    ($(#[$attribute:meta])* pub(crate) struct $name:ident {
        $($(#[$note:meta])* pub(crate) $field:ident: $type:ty,)*
    }) => {
        $(#[$attribute])*
        pub(crate) struct $name {
            $($(#[$note])* pub(crate) $field: $type,)*
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                $(self.$field += other.$field;)*
            }
        }
    };
}

summed! {
    /// How well frames of a kind were found.
    #[derive(Clone, Copy, Default)]
    pub(crate) struct Score {
        pub(crate) found: u64,
        pub(crate) missed: u64,
        pub(crate) wrong: u64,
    }
}

impl Score {
    /// Takes a frame: whether it is of the kind, and whether it was said to be. False when that
    /// was an error.
    pub(crate) fn take(&mut self, is: bool, said: bool) -> bool {
        self.found += u64::from(is && said);
        self.missed += u64::from(is && !said);
        self.wrong += u64::from(!is && said);
        is == said
    }

    /// Frames that are of the kind.
    pub(crate) fn truth(&self) -> u64 {
        self.found + self.missed
    }

    /// Harmonic mean of precision and recall; none where there was nothing to find.
    pub(crate) fn f1(&self) -> Option<f64> {
        let all = 2 * self.found + self.missed + self.wrong;
        (all > 0).then(|| 2.0 * self.found as f64 / all as f64)
    }
}

summed! {
    /// Counts per flow direction against the true ones: sums of absolute differences.
    #[derive(Clone, Copy, Default)]
    pub(crate) struct CountErrors {
        pub(crate) truth: u64,
        pub(crate) ours: u64,
        pub(crate) tcptrace: u64,
        /// Of the captures that tshark was run on.
        pub(crate) short_truth: u64,
        pub(crate) short_ours: u64,
        pub(crate) short_tcptrace: u64,
        pub(crate) tshark: u64,
    }
}

/// The counts of one flow direction; none where a peer was not run.
pub(crate) struct Counted {
    pub(crate) ours: u64,
    pub(crate) tcptrace: Option<u64>,
    pub(crate) tshark: Option<u64>,
}

impl CountErrors {
    /// Takes a flow direction. The truth is `least`; up to `most` is no error either (frames that
    /// are partly of the kind).
    pub(crate) fn take(&mut self, least: u64, most: u64, counted: &Counted) {
        let error = |count: u64| least.saturating_sub(count) + count.saturating_sub(most);
        let (ours, tcptrace) = (error(counted.ours), counted.tcptrace.map_or(0, error));
        self.truth += least;
        self.ours += ours;
        self.tcptrace += tcptrace;
        if let Some(tshark) = counted.tshark {
            self.short_truth += least;
            self.short_ours += ours;
            self.short_tcptrace += tcptrace;
            self.tshark += error(tshark);
        }
    }
}

summed! {
    /// A sum against the true one, and in how many flows they differ.
    #[derive(Clone, Copy, Default)]
    pub(crate) struct Sums {
        pub(crate) truth: u64,
        pub(crate) ours: u64,
        pub(crate) error: u64,
        pub(crate) flows_that_differ: u64,
    }
}

impl Sums {
    /// Takes a flow.
    pub(crate) fn take(&mut self, truth: u64, ours: u64) {
        self.truth += truth;
        self.ours += ours;
        self.error += truth.abs_diff(ours);
        self.flows_that_differ += u64::from(truth != ours);
    }
}

/// Differences of smallest, mean and largest delay, in microseconds.
#[derive(Clone, Copy, Default)]
pub(crate) struct Delays {
    pub(crate) flows: u64,
    sums: [f64; 3],
    within: [u64; 3],
}

impl Delays {
    /// Takes a flow.
    pub(crate) fn take(&mut self, a: [f64; 3], b: [f64; 3]) {
        self.flows += 1;
        for (index, (a, b)) in a.into_iter().zip(b).enumerate() {
            self.sums[index] += (a - b).abs();
            self.within[index] += u64::from((a - b).abs() <= 100.0);
        }
    }

    /// Mean absolute differences; none without flows.
    pub(crate) fn means(&self) -> Option<[f64; 3]> {
        (self.flows > 0).then(|| self.sums.map(|sum| sum / self.flows as f64))
    }

    /// Shares of the flows that differ by at most 100 microseconds.
    pub(crate) fn shares(&self) -> Option<[f64; 3]> {
        (self.flows > 0).then(|| self.within.map(|flows| flows as f64 / self.flows as f64))
    }
}

impl AddAssign for Delays {
    fn add_assign(&mut self, other: Self) {
        self.flows += other.flows;
        for index in 0..3 {
            self.sums[index] += other.sums[index];
            self.within[index] += other.within[index];
        }
    }
}

summed! {
    /// What was found at one vantage point in one group of lab scenarios.
    #[derive(Clone, Copy, Default)]
    pub(crate) struct LabTally {
        pub(crate) captures: u64,
        pub(crate) frames: u64,
        pub(crate) data_frames: u64,
        /// Frames that are part first transmission, part retransmission: not judged.
        pub(crate) partly: u64,
        /// Frames with payload in one of truth and rows alone.
        pub(crate) unjoined: u64,
        pub(crate) flows: u64,
        /// Flow directions that tcptrace said nothing about.
        pub(crate) unreported_by_tcptrace: u64,
        /// Likewise tshark.
        pub(crate) unreported_by_tshark: u64,
        pub(crate) short_captures: u64,
        pub(crate) retransmitted: Score,
        pub(crate) late: Score,
        pub(crate) duplicate: Score,
        pub(crate) spurious: Score,
        pub(crate) ambiguous: u64,
        pub(crate) anomalies: u64,
        pub(crate) retransmission_counts: CountErrors,
        pub(crate) late_counts: CountErrors,
        pub(crate) lost_upstream: Sums,
        pub(crate) lost_downstream: Sums,
        /// Our clean samples against tcptrace.
        pub(crate) agreement: Delays,
    }
}

summed! {
    /// What was found at one point of the ns-3 captures.
    #[derive(Clone, Copy, Default)]
    pub(crate) struct Ns3Tally {
        pub(crate) captures: u64,
        pub(crate) frames: u64,
        pub(crate) short_captures: u64,
        pub(crate) flows: u64,
        pub(crate) retransmissions: CountErrors,
        pub(crate) late: CountErrors,
        pub(crate) duplicates: Sums,
        pub(crate) true_samples: u64,
        pub(crate) our_samples: u64,
        pub(crate) tcptrace_samples: u64,
        pub(crate) our_rtt: Delays,
        pub(crate) tcptrace_rtt: Delays,
    }
}
