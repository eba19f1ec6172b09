//! A capture clock that was set back, told from packets that were captured in disorder.

use super::half::HalfFlow;
use crate::decode::{Segment, TcpFlags};

/// So many packets of a direction, one after the other, that are dated before the latest one: of disorder a few, which
/// the next packet ends; a clock that was set stays behind until it has caught up.
const IN_A_ROW: u8 = 4;

/// Packets of one direction in a row that are dated before the latest one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DatedBack {
    packets: u8,
    /// The last of them, by the number of packets before it, of which its last digits tell the next one.
    last: u8,
}

impl DatedBack {
    /// One more, behind so many packets: whether it is one too many for disorder.
    fn note(&mut self, before: u64) -> bool {
        let before = before as u8;
        let goes_on = self.packets > 0 && before == self.last.wrapping_add(1);
        self.packets = if goes_on { self.packets + 1 } else { 1 };
        self.last = before;
        let is_set = self.packets == IN_A_ROW;
        if is_set {
            self.packets = 0;
        }
        is_set
    }
}

/// A segment of `sender` is [dated back](super::times::Times::is_dated_back). Where the clock was set, nothing is known of
/// the time between what passed before and what answers it (METRICS.md R1); until that is known, nothing of what this
/// segment itself answers.
#[cold]
#[inline(never)]
pub(super) fn on_dated_back(sender: &mut HalfFlow, peer: &mut HalfFlow, segment: &Segment) {
    if sender.dated_back.note(sender.packets) {
        for half in [sender, peer] {
            half.in_flight.take_samples(i64::MAX, half.packets);
            half.echoes.forget();
            // Once, and not by the next packet of the other side again.
            half.times.set_back(segment.at);
        }
    } else if segment.flags.has(TcpFlags::ACK) {
        peer.take_samples_told_by(segment);
    }
}

impl HalfFlow {
    /// What a segment of the peer answers gives no sample.
    fn take_samples_told_by(&mut self, segment: &Segment) {
        let (Some(unwrapper), Some(una)) = (self.unwrapper(), self.una) else {
            return;
        };
        let told = segment.sack.as_slice().iter().map(|block| block.end);
        let told = told.chain([segment.ack]);
        let below = told.map(|end| unwrapper.offset(end, una)).max();
        let below = below.unwrap_or(una);
        self.in_flight.take_samples(below, self.packets);
        if let Some(timestamps) = segment.timestamps {
            // It says when it passes, and is not asked.
            let _ = self.echoes.echoed(timestamps.echo, segment.at);
        }
    }
}
