//! What does not fit the stream, until what follows tells whether it was a stray.

use super::half::{HalfFlow, REACH_MAX};
use crate::decode::Segment;

/// Segments of one direction, and ACKs of it, that lie where the sender cannot be: in most flows
/// there are none, and then this takes no room.
#[derive(Debug, Default)]
pub(super) struct Strays(Option<Box<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    segments: u64,
    /// Where the last segment out of reach ended.
    data_end: Option<i64>,
    /// The last ACK of what cannot have been sent, while no other makes progress, and the end of its
    /// window.
    ack: Option<(i64, i64)>,
}

impl Strays {
    /// Segments out of reach, and SYNs of no connection.
    pub(super) fn segments(&self) -> u64 {
        self.0.as_ref().map_or(0, |seen| seen.segments)
    }

    /// One more.
    pub(super) fn add(&mut self) {
        self.0.get_or_insert_default().segments += 1;
    }

    /// A segment out of reach covers `offset..end`; whether it continues the last one.
    pub(super) fn continues(&mut self, offset: i64, end: i64) -> bool {
        self.add();
        let seen = self.0.get_or_insert_default();
        seen.data_end.replace(end) == Some(offset)
    }

    /// Whether an ACK waits for what follows.
    pub(super) fn has_ack(&self) -> bool {
        self.0.as_ref().is_some_and(|seen| seen.ack.is_some())
    }

    /// An ACK that was believed has moved on.
    pub(super) fn forget_ack(&mut self) {
        if let Some(seen) = &mut self.0 {
            seen.ack = None;
        }
    }
}

impl HalfFlow {
    /// Whether an ACK up to `ack` is to be believed, or acknowledges what cannot have been sent (RFC
    /// 9293 section 3.10.7.4): more than was seen and than the receiver had room for.
    ///
    /// Where the capture has lost so much, the receiver goes on from there: the next ACK is above this
    /// one and within its window.
    #[inline]
    pub(super) fn believes(&mut self, segment: &Segment, ack: i64) -> bool {
        ack <= self.high || self.may_have_sent(ack) || self.goes_on_from_stray(segment, ack)
    }

    /// Whether the window lets the sender come to `end`.
    fn may_have_sent(&self, end: i64) -> bool {
        let room = self.window_end.map_or(self.high + REACH_MAX, |window_end| {
            window_end.max(self.high)
        });
        let fin = self.fin.unwrap_or(i64::MIN);
        end <= room.max(fin) + self.slack()
    }

    /// By how much senders go beyond a window: FINs, probes, and a window that is too small for one
    /// packet, in bytes.
    fn slack(&self) -> i64 {
        let packet = self.largest_payload.max(self.mss.map_or(0, u32::from));
        i64::from(packet) + 1
    }

    #[cold]
    fn goes_on_from_stray(&mut self, segment: &Segment, ack: i64) -> bool {
        let slack = self.slack();
        let window = i64::from(segment.window) << self.window_scale.unwrap_or(0);
        let earlier = self
            .strays
            .0
            .get_or_insert_default()
            .ack
            .replace((ack, ack + window));
        earlier.is_some_and(|(earlier, end)| earlier < ack && ack <= end + slack)
    }
}
