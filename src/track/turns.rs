//! Which turn of a sender's ids one belongs to: they come round after 65,536 packets, of which a long and quick path
//! holds more at a time.

use thin_vec::ThinVec;

use crate::time::CaptureTime;

/// Ids from one note to the next: a quarter of a turn, so that what passed between two was sent near both.
const NOTE_IDS: u64 = 1 << 14;

/// Notes kept, for as many packets as are remembered in flight unless asked otherwise: beyond, the older half goes.
const NOTES_MAX: usize = 256;

/// When a sender's ids had come how far: a note every [`NOTE_IDS`], so none in flows that are shorter.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns(ThinVec<Note>);

/// The highest id so far, unwrapped, and when that packet passed.
#[derive(Clone, Copy, Debug)]
struct Note {
    id: u64,
    at: CaptureTime,
}

impl Turns {
    /// Memory that they hold besides this, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.0.capacity() * size_of::<Note>()
    }

    /// Whether an id takes a note that follows upon the one before it.
    #[inline]
    pub(super) fn are_due(id: u16) -> bool {
        u64::from(id).is_multiple_of(NOTE_IDS)
    }

    /// The highest id, unwrapped, went up from `before` to `id` by a packet that passes at `at`.
    pub(super) fn note(&mut self, before: u64, id: u64, at: CaptureTime) {
        if id / NOTE_IDS <= before / NOTE_IDS {
            return;
        }
        if self.0.len() == NOTES_MAX {
            self.0.drain(..NOTES_MAX / 2);
        }
        self.0.push(Note { id, at });
    }

    /// An unwrapped id near those of packets that passed at `at`; `None` where all are near the highest.
    #[inline]
    pub(super) fn near(&self, at: CaptureTime) -> Option<u64> {
        let first = self.0.first()?;
        // Mostly asked for what was sent within the last round trip.
        let before = self.0.iter().rev().find(|note| note.at <= at);
        Some(match before {
            Some(note) => note.id + NOTE_IDS / 2,
            None => first.id - NOTE_IDS / 2,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passed_is_placed_in_the_turn_of_that_time_as_far_as_it_is_remembered() {
        // One id a microsecond, 4.9 million of them.
        let at = |id: u64| CaptureTime::from_ns(1_000 * id.cast_signed());
        let mut turns = Turns::default();
        assert_eq!(turns.near(at(7)), None);
        let ids = 300 * NOTE_IDS;
        for id in NOTE_IDS + 1..=ids {
            turns.note(id - 1, id, at(id));
        }
        assert!(turns.memory_bytes() <= 2 * NOTES_MAX * size_of::<Note>());
        let kept_from = ids - (NOTES_MAX / 2) as u64 * NOTE_IDS;
        for id in (kept_from..=ids).step_by(999) {
            let distance = turns.near(at(id)).unwrap().abs_diff(id);
            assert!(distance <= NOTE_IDS / 2, "{id}: {distance}");
        }
    }
}
