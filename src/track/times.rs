//! When what matters of one direction passed last.

use std::hint::cold_path;

use crate::time::CaptureTime;

/// A packet that is dated before the one before it by no more, in ns, was captured in disorder, as by several queues of a
/// network card; by more, the clock may have been set back.
const DISORDER_NS: i64 = 1_000_000;

/// When something of one direction passed last; `None` before it did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// Its latest packet, unless the clock was set back since; the earliest instant before the first.
    // No option: every packet is compared with it.
    latest_packet_at: CaptureTime,
    /// Payload, but for copies that the network made, or its FIN.
    pub(super) data_at: Option<CaptureTime>,
    /// The peer's last packet before the data that is judged.
    pub(super) heard_at: Option<CaptureTime>,
    /// An ACK with which the cumulative ACK moved.
    pub(super) progress_at: Option<CaptureTime>,
    /// Latest transmission among all bytes that the cumulative ACK has passed: what was sent
    /// before it, and above it in the stream, had to wait for it.
    pub(super) released_latest: Option<CaptureTime>,
    /// An ACK without payload that did not move while data was outstanding, where SACK does not tell; the earliest
    /// instant before one.
    pub(super) stood_at: CaptureTime,
    /// Latest transmission among all that SACK has reported.
    pub(super) reported_latest: Option<CaptureTime>,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            latest_packet_at: CaptureTime::MIN,
            data_at: None,
            heard_at: None,
            progress_at: None,
            released_latest: None,
            stood_at: CaptureTime::MIN,
            reported_latest: None,
        }
    }
}

impl Times {
    /// A packet passes at `at`.
    #[inline]
    pub(super) fn note_packet(&mut self, at: CaptureTime) {
        self.latest_packet_at = self.latest_packet_at.max(at);
    }

    /// When the last packet passed, or the latest one.
    #[inline]
    pub(super) fn packet_at(&self) -> Option<CaptureTime> {
        (self.latest_packet_at > CaptureTime::MIN).then_some(self.latest_packet_at)
    }

    /// How long no packet had passed at `at`, in ns; 0 before the first.
    pub(super) fn silence_ns(&self, at: CaptureTime) -> i64 {
        self.packet_at().map_or(0, |last| at.since(last))
    }

    /// Whether a packet that passes at `at` is dated before the latest one by more than network cards swap packets.
    #[inline]
    pub(super) fn is_dated_back(&self, at: CaptureTime) -> bool {
        at < self.latest_packet_at && {
            cold_path();
            self.latest_packet_at.since(at) > DISORDER_NS
        }
    }

    /// The clock was set back before a packet that passes at `at`: nothing passed later.
    pub(super) fn set_back(&mut self, at: CaptureTime) {
        self.latest_packet_at = self.latest_packet_at.min(at);
    }

    /// The latest transmission that the cumulative ACK has passed, by the clock at `at`: where that was set back since,
    /// nothing is later any more.
    #[inline]
    pub(super) fn latest_released_by(&self, at: CaptureTime) -> Option<CaptureTime> {
        self.released_latest.filter(|&latest| latest <= at)
    }
}

#[cfg(test)]
mod tests {
    use super::Times;
    use crate::time::CaptureTime;

    #[test]
    fn after_a_clock_was_set_back_nothing_is_later() {
        let [early, late] = [1_000, 2_000].map(CaptureTime::from_ns);
        let times = Times {
            latest_packet_at: early,
            released_latest: Some(late),
            ..Times::default()
        };
        assert_eq!(times.latest_released_by(late), Some(late));
        assert_eq!(times.latest_released_by(early), None);
        assert_eq!(times.silence_ns(late), 1_000);
        assert_eq!(Times::default().silence_ns(late), 0);
    }

    #[test]
    fn packets_are_dated_back_by_more_than_network_cards_swap_them() {
        let times = Times {
            latest_packet_at: CaptureTime::from_ns(5_000_000),
            ..Times::default()
        };
        let is_dated_back = |ns| times.is_dated_back(CaptureTime::from_ns(ns));
        assert!(is_dated_back(3_999_999));
        assert!(
            !is_dated_back(4_000_000) && !is_dated_back(5_000_000) && !is_dated_back(6_000_000)
        );
        assert!(!Times::default().is_dated_back(CaptureTime::MIN));
    }
}
