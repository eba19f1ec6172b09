//! Finds connections by the hash of their ends.
//!
//! A flat table: one line of memory tells nearly always, and it can be asked for before it is needed.

use crate::prefetch::prefetch;

/// Marks a slot that is free: no table has so many connections.
const FREE: u32 = u32::MAX;

/// Slots of the smallest table that has any.
const SLOTS_MIN: usize = 16;

/// A connection's place, with as much of its hash as tells it from nearly all others: a probe that fails
/// does not touch the connection.
#[derive(Clone, Copy, Debug)]
struct Slot {
    tag: u32,
    place: u32,
}

impl Slot {
    const NOTHING: Self = Self {
        tag: 0,
        place: FREE,
    };

    fn is_free(self) -> bool {
        self.place == FREE
    }
}

/// Places of connections, each as near behind the slot that its tag names as others leave room: Knuth, The
/// Art of Computer Programming, section 6.4, algorithms L and R.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// A power of two, of which a quarter is free; or none at all.
    slots: Vec<Slot>,
    len: usize,
}

impl Index {
    /// Memory that an entry takes, in bytes, with the slots left free.
    pub(super) const ENTRY_BYTES: usize = 2 * size_of::<Slot>();

    /// Begins to fetch what [`find`](Self::find) will look at first.
    #[inline]
    pub(super) fn expect(&self, hash: u64) {
        if let Some(slot) = self.slots.get(self.home(tag_of(hash))) {
            prefetch(slot);
        }
    }

    /// The first connection of this hash that `is` accepts by its place.
    #[inline]
    pub(super) fn find(&self, hash: u64, is: impl FnMut(usize) -> bool) -> Option<usize> {
        let slot = self.slot_of(hash, is)?;
        Some(self.slots[slot].place as usize)
    }

    /// Adds a connection.
    #[inline]
    pub(super) fn insert(&mut self, hash: u64, place: usize) {
        if (self.len + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        self.put(Slot {
            tag: tag_of(hash),
            place: place as u32,
        });
        self.len += 1;
    }

    /// The connection at `from` is at `to` now.
    #[inline]
    pub(super) fn renumber(&mut self, hash: u64, from: usize, to: usize) {
        if let Some(slot) = self.slot_of(hash, |place| place == from) {
            self.slots[slot].place = to as u32;
        }
    }

    /// Takes a connection out.
    pub(super) fn remove(&mut self, hash: u64, place: usize) {
        let Some(mut gap) = self.slot_of(hash, |other| other == place) else {
            return;
        };
        // What comes behind moves up, unless it would come before where its probe begins.
        let mut next = gap;
        loop {
            next = self.after(next);
            let slot = self.slots[next];
            if slot.is_free() {
                break;
            }
            let way = |from: usize, to: usize| to.wrapping_sub(from) & self.mask();
            if way(self.home(slot.tag), next) >= way(gap, next) {
                self.slots[gap] = slot;
                gap = next;
            }
        }
        self.slots[gap] = Slot::NOTHING;
        self.len -= 1;
    }

    #[inline]
    fn slot_of(&self, hash: u64, mut is: impl FnMut(usize) -> bool) -> Option<usize> {
        let tag = tag_of(hash);
        let mut at = self.home(tag);
        loop {
            let slot = *self.slots.get(at)?;
            if slot.is_free() {
                return None;
            }
            if slot.tag == tag && is(slot.place as usize) {
                return Some(at);
            }
            at = self.after(at);
        }
    }

    fn put(&mut self, slot: Slot) {
        let mut at = self.home(slot.tag);
        while !self.slots[at].is_free() {
            at = self.after(at);
        }
        self.slots[at] = slot;
    }

    #[cold]
    fn grow(&mut self) {
        let len = (self.slots.len() * 2).max(SLOTS_MIN);
        let before = std::mem::replace(&mut self.slots, vec![Slot::NOTHING; len]);
        let taken = before.into_iter().filter(|slot| !slot.is_free());
        taken.for_each(|slot| self.put(slot));
    }

    #[inline]
    fn mask(&self) -> usize {
        self.slots.len().wrapping_sub(1)
    }

    #[inline]
    fn home(&self, tag: u32) -> usize {
        tag as usize & self.mask()
    }

    #[inline]
    fn after(&self, at: usize) -> usize {
        (at + 1) & self.mask()
    }
}

#[inline]
fn tag_of(hash: u64) -> u32 {
    hash as u32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Insert { hash: u64 },
        Remove { which: usize },
        Renumber { which: usize },
    }

    /// Hashes of few different homes, some at the end of the slots, so that probes are long, wrap around
    /// and run into each other; some are equal.
    fn hashes() -> impl Strategy<Value = u64> {
        let home = prop_oneof![0_u64..4, 13_u64..16, 61_u64..64];
        (home, 0_u64..3).prop_map(|(home, above)| above << 8 | home)
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            3 => hashes().prop_map(|hash| Step::Insert { hash }),
            2 => any::<usize>().prop_map(|which| Step::Remove { which }),
            1 => any::<usize>().prop_map(|which| Step::Renumber { which }),
        ];
        prop::collection::vec(step, 0..200)
    }

    /// All places of a hash, as they are found one after the other.
    fn places(index: &Index, hash: u64) -> Vec<usize> {
        let mut places = Vec::new();
        let found = index.find(hash, |place| {
            places.push(place);
            false
        });
        assert_eq!(found, None);
        places.sort_unstable();
        places
    }

    proptest! {
        /// After whatever comes and goes, each hash has the places that a plain list of all has.
        #[test]
        fn finds_what_a_list_of_all_finds(steps in steps()) {
            let mut index = Index::default();
            let mut all: Vec<(u64, usize)> = Vec::new();
            for (new, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Insert { hash } => {
                        index.insert(hash, new);
                        all.push((hash, new));
                    }
                    Step::Remove { which } if !all.is_empty() => {
                        let (hash, place) = all.swap_remove(which % all.len());
                        index.remove(hash, place);
                    }
                    Step::Renumber { which } if !all.is_empty() => {
                        let which = which % all.len();
                        let (hash, place) = &mut all[which];
                        index.renumber(*hash, *place, new);
                        *place = new;
                    }
                    Step::Remove { .. } | Step::Renumber { .. } => {}
                }
                prop_assert_eq!(index.len, all.len());
                for hash in (0..3).flat_map(|above| (0..64).map(move |home| above << 8 | home)) {
                    let of_it = all.iter().filter(|&&(other, _)| other == hash);
                    let mut expected: Vec<usize> = of_it.map(|&(_, place)| place).collect();
                    expected.sort_unstable();
                    prop_assert_eq!(places(&index, hash), expected);
                }
            }
        }
    }

    /// What is not there is looked for until the first free slot: there always is one, and it is near.
    #[test]
    fn a_quarter_of_the_slots_stays_free() {
        let mut index = Index::default();
        assert_eq!(index.find(7, |_| true), None);
        for place in 0..10_000 {
            index.insert(place as u64, place);
            let free = index.slots.iter().filter(|slot| slot.is_free()).count();
            assert!(
                free * 4 >= index.slots.len(),
                "{free} of {}",
                index.slots.len()
            );
        }
    }
}
