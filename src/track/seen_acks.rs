//! ACKs that pass again as copies: of a capture of all interfaces of a router, or by the network.
//!
//! Where each packet is seen before and after a queue, others pass between the two sightings of an
//! ACK, which then says nothing for the second time. Nothing is remembered before a copy of any
//! packet was seen.

use super::delays::TIMER_NS_MIN;
use super::half::HalfFlow;
use super::rtt::later;
use crate::decode::Segment;
use crate::time::CaptureTime;

/// Packets of one direction remembered, of each set the latest: 4 KiB.
const SEEN_MAX: usize = SETS * WAYS;

/// Sets of packets, by what they look like.
const SETS: usize = 64;

/// Packets of a set, which take a cache line.
const WAYS: usize = 8;

/// Packets after which no copies are expected any more: the network made the one that was seen, not the capture.
const UNCOPIED_MAX: u16 = 1024;

/// Packets of one direction that passed lately, in the room of a pointer where no copies are seen.
#[derive(Clone, Debug, Default)]
pub(super) struct SeenAcks(Option<Box<Seen>>);

#[derive(Clone, Debug)]
struct Seen {
    /// The latest first.
    sets: [[Look; WAYS]; SETS],
    /// Packets since the last one that had passed before.
    uncopied: u16,
    /// A copy of this sender's data has passed, of which the peer has not been told.
    is_news: bool,
    /// How many of its packets had passed when the last one did.
    copied_at: u64,
}

/// Bits of a time in ns below [`unit_of`] it.
const UNIT_BITS: u32 = 20;

/// A time in units of about a millisecond, which come again after 52 days; never 0, which stands for no time.
fn unit_of(at: CaptureTime) -> u32 {
    ((at.as_ns() >> UNIT_BITS) as u32).max(1)
}

/// When a packet passed, and what it looked like.
#[derive(Clone, Copy, Debug, Default)]
struct Look {
    /// The [unit](unit_of) of that time.
    unit: u32,
    hash: u32,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            sets: [[Look::default(); WAYS]; SETS],
            uncopied: 0,
            is_news: false,
            copied_at: 0,
        }
    }
}

impl Seen {
    /// Whether a packet with this `look` passed lately, before one passes `at`.
    fn note(&mut self, look: u64, at: CaptureTime) -> bool {
        /// Nothing holds a copy up for as long as a timer takes.
        const LATELY: i32 = (TIMER_NS_MIN >> UNIT_BITS) as i32;
        let now = Look {
            unit: unit_of(at),
            hash: (look >> 16) as u32,
        };
        let set = &mut self.sets[(look >> 58) as usize % SETS];
        let place = set.iter().position(|other| other.hash == now.hash);
        let passed = place.is_some_and(|place| {
            let age = now.unit.wrapping_sub(set[place].unit);
            // Below 0 where the clock was set back.
            (-LATELY..LATELY).contains(&age.cast_signed())
        });
        set.copy_within(..place.unwrap_or(WAYS - 1), 1);
        set[0] = now;
        self.uncopied = if passed { 0 } else { self.uncopied + 1 };
        passed
    }
}

impl SeenAcks {
    /// Copies may pass of packets of this direction: one of a packet of the connection has.
    pub(super) fn expect_copies(&mut self) {
        self.0.get_or_insert_default();
    }

    /// A copy of this sender's data has passed, as one of so many `packets` of it.
    pub(super) fn on_copy(&mut self, packets: u64) {
        let seen = self.0.get_or_insert_default();
        (seen.is_news, seen.copied_at) = (true, packets);
    }

    /// Whether one was among the last few of this sender's `packets`, as where each of them has a copy.
    pub(super) fn are_copied(&self, packets: u64) -> bool {
        /// Copies are lost, too, and others come in between.
        const FEW: u64 = 4;
        let seen = self.0.as_deref().filter(|seen| seen.copied_at > 0);
        seen.is_some_and(|seen| packets - seen.copied_at <= FEW)
    }

    /// Whether one has since this was asked last.
    #[inline]
    pub(super) fn take_news(&mut self) -> bool {
        let seen = self.0.as_deref_mut();
        seen.is_some_and(|seen| std::mem::take(&mut seen.is_news))
    }

    #[inline]
    pub(super) fn expects_copies(&self) -> bool {
        self.0.is_some()
    }

    /// Memory that they hold besides this, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |_| size_of::<Seen>())
    }

    /// Whether a packet that looks like `segment` has passed lately; it has now.
    fn note(&mut self, segment: &Segment) -> bool {
        let Some(seen) = self.0.as_deref_mut() else {
            return false;
        };
        let passed = seen.note(look(segment), segment.at);
        if seen.uncopied == UNCOPIED_MAX {
            self.0 = None;
        }
        passed
    }
}

const _: () = assert!(SEEN_MAX * size_of::<Look>() == 4096);

/// All that a segment says, in a number that another one hardly has (FNV-1a), which differs from that of another in its
/// highest bits, too.
fn look(segment: &Segment) -> u64 {
    let (value, echo) = segment.timestamps.map_or((0, 0), |ts| (ts.value, ts.echo));
    let blocks = segment.sack.as_slice().iter();
    let blocks = blocks.flat_map(|block| [block.start.0, block.end.0]);
    let id = segment.ip_id.map_or(0, u32::from);
    let rest = u32::from(segment.window) << 16 | u32::from(segment.flags.0);
    let hash = [
        segment.seq.0,
        segment.ip_len,
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
    });
    (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl HalfFlow {
    /// A copy of a packet has passed: more may, of either direction.
    #[cold]
    pub(super) fn expect_copies(&mut self, peer: &mut Self) {
        self.seen_acks.expect_copies();
        peer.seen_acks.expect_copies();
    }

    /// Whether what `segment` of this sender says of the peer's data was said by the very same packet before; `sacks`:
    /// the sender reports by SACK what it has got.
    #[cold]
    pub(super) fn has_said(&mut self, segment: &Segment, sacks: bool) -> bool {
        let blocks = !segment.sack.as_slice().is_empty();
        // A byte may be one that only asks for an ACK.
        if (segment.payload_len > 1 && !blocks) || !self.seen_acks.note(segment) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passed_weeks_ago_did_not_pass_lately() {
        let at = |s: i64| CaptureTime::from_ns(s * 1_000_000_000);
        let mut seen = Seen::default();
        assert!(!seen.note(7 << 16, at(100)));
        assert!(seen.note(7 << 16, at(100)));
        assert!(!seen.note(7 << 16, at(30 * 86_400)));
    }
}
