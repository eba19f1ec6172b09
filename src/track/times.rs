//! When what matters of one direction passed last.

use crate::time::CaptureTime;

/// When something of one direction passed last; `None` before it did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// A packet of it.
    pub(super) packet_at: Option<CaptureTime>,
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
    // No option, which would take as much again of each connection.
    pub(super) stood_at: CaptureTime,
    /// Latest transmission among all that SACK has reported.
    pub(super) reported_latest: Option<CaptureTime>,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            packet_at: None,
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
    /// How long no packet had passed at `at`, in ns; 0 before the first.
    pub(super) fn silence_ns(&self, at: CaptureTime) -> i64 {
        self.packet_at.map_or(0, |last| at.since(last))
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
            packet_at: Some(early),
            released_latest: Some(late),
            ..Times::default()
        };
        assert_eq!(times.latest_released_by(late), Some(late));
        assert_eq!(times.latest_released_by(early), None);
        assert_eq!(times.silence_ns(late), 1_000);
        assert_eq!(Times::default().silence_ns(late), 0);
    }
}
