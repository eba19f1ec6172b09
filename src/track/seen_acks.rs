//! ACKs that pass again as copies: of a capture of all interfaces of a router, or by the network.
//!
//! Where each packet is seen before and after a queue, others pass between the two sightings of an
//! ACK, which then says nothing for the second time. Nothing is remembered before a copy of any
//! packet was seen.

use std::collections::VecDeque;

use super::classify::TIMER_NS_MIN;
use super::half::HalfFlow;
use super::rtt::later;
use crate::decode::Segment;
use crate::time::CaptureTime;

/// Packets of one direction remembered; one more forgets the oldest.
const SEEN_MAX: usize = 256;

/// Packets of one direction that passed lately, in the room of a pointer where no copies are seen.
#[derive(Debug, Default)]
pub(super) struct SeenAcks(Option<Box<Seen>>);

/// When each passed, and what it looked like.
#[derive(Debug, Default)]
struct Seen(VecDeque<(CaptureTime, u64)>);

impl SeenAcks {
    /// Copies pass of packets of this connection.
    pub(super) fn expect_copies(&mut self) {
        self.0.get_or_insert_default();
    }

    #[inline]
    pub(super) fn expects_copies(&self) -> bool {
        self.0.is_some()
    }

    /// Memory that they hold besides this, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        let room = self.0.as_ref().map_or(0, |seen| seen.0.capacity());
        room * size_of::<(CaptureTime, u64)>()
    }

    /// Whether a packet that looks like `segment` has passed lately; it has now.
    fn note(&mut self, segment: &Segment) -> bool {
        let Some(Seen(seen)) = self.0.as_deref_mut() else {
            return false;
        };
        let look = look(segment);
        // Nothing holds a copy up for as long as a timer takes.
        let lately = |&&(at, _): &&(CaptureTime, u64)| segment.at.since(at) < TIMER_NS_MIN;
        let mut recent = seen.iter().rev().take_while(lately);
        let passed = recent.any(|&(_, other)| other == look);
        if seen.len() == SEEN_MAX {
            seen.pop_front();
        }
        seen.push_back((segment.at, look));
        passed
    }
}

/// All that a segment says, in a number that another one hardly has (FNV-1a).
fn look(segment: &Segment) -> u64 {
    let (value, echo) = segment.timestamps.map_or((0, 0), |ts| (ts.value, ts.echo));
    let blocks = segment.sack.as_slice().iter();
    let blocks = blocks.flat_map(|block| [block.start.0, block.end.0]);
    let id = segment.ip_id.map_or(0, u32::from);
    let rest = u32::from(segment.window) << 16 | u32::from(segment.flags.0);
    [
        segment.seq.0,
        segment.payload_len,
        segment.ack.0,
        value,
        echo,
        id,
        rest,
    ]
    .into_iter()
    .chain(blocks)
    .fold(0xcbf2_9ce4_8422_2325, |hash: u64, word| {
        (hash ^ u64::from(word)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

impl HalfFlow {
    /// Whether what `segment` of this sender says of the peer's data was said by the very same packet before; `sacks`: the
    /// sender reports by SACK what it has got.
    #[cold]
    pub(super) fn has_said(&mut self, segment: &Segment, sacks: bool) -> bool {
        let blocks = !segment.sack.as_slice().is_empty();
        if (segment.payload_len > 0 && !blocks) || !self.seen_acks.note(segment) {
            return false;
        }
        let numbered = self.is_numbered(segment);
        let newest = self.echoes.newest();
        let is_old = segment
            .timestamps
            .is_some_and(|ts| newest.is_some_and(|newest| later(newest, ts.value)));
        // One that says the same in the same tick of the clock tells that something came, and with SACK what did.
        numbered || is_old || blocks || sacks
    }
}
