//! Ranges in one slice, of which the lower or the upper ones move, whichever are fewer: a ring would do the same, but
//! what is asked of it with every ACK takes longer.

use std::ops::Range;

use crate::track::ranges::StreamRange;

#[derive(Clone, Debug, Default)]
pub(super) struct RangeList {
    /// Those from `gone` on; what lies below is room for lower ones, of which there is none without any.
    all: Vec<StreamRange>,
    gone: usize,
}

impl RangeList {
    /// How many there is room for.
    pub(super) fn capacity(&self) -> usize {
        self.all.capacity()
    }

    #[inline]
    pub(super) fn last(&self) -> Option<&StreamRange> {
        self.all.last()
    }

    #[inline]
    pub(super) fn last_mut(&mut self) -> Option<&mut StreamRange> {
        self.all.last_mut()
    }

    #[inline]
    pub(super) fn as_slice(&self) -> &[StreamRange] {
        self.all.get(self.gone..).unwrap_or_default()
    }

    #[inline]
    pub(super) fn as_mut_slice(&mut self) -> &mut [StreamRange] {
        self.all.get_mut(self.gone..).unwrap_or_default()
    }

    /// Puts one before that at `place`.
    pub(super) fn insert(&mut self, place: usize, range: StreamRange) {
        let len = self.all.len() - self.gone;
        if place < len - place {
            if self.gone == 0 {
                // As many as it takes to come here again, so that it does not matter how many are moved.
                let room = len / 2 + 1;
                self.all.splice(..0, std::iter::repeat_n(range, room));
                self.gone = room;
            }
            let place = self.gone + place;
            self.all.copy_within(self.gone..place, self.gone - 1);
            self.gone -= 1;
            self.all[place - 1] = range;
        } else {
            if self.all.len() == self.all.capacity() && self.gone > len {
                self.all.drain(..self.gone);
                self.gone = 0;
            }
            self.all.insert(self.gone + place, range);
        }
    }

    /// Takes out those at `places`.
    pub(super) fn remove(&mut self, places: Range<usize>) {
        let (start, end) = (self.gone + places.start, self.gone + places.end);
        if places.start < self.all.len() - end {
            let gone = self.gone + (end - start);
            self.all.copy_within(self.gone..start, gone);
            self.gone = gone;
        } else {
            self.all.drain(start..end);
        }
        if self.gone == self.all.len() {
            self.all.clear();
            self.gone = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_vector_in_which_less_is_moved(
            steps in proptest::collection::vec((0_usize..100, 0_usize..4, any::<bool>()), 0..200),
        ) {
            let (mut list, mut vector) = (RangeList::default(), Vec::new());
            for (number, (place, len, removes)) in (0..).zip(steps) {
                let place = place * vector.len() / 99;
                if removes {
                    let end = (place + len).min(vector.len());
                    list.remove(place..end);
                    vector.drain(place..end);
                } else {
                    let range = StreamRange { start: number, end: number };
                    list.insert(place, range);
                    vector.insert(place, range);
                }
                prop_assert_eq!(list.as_slice(), &vector[..]);
                prop_assert_eq!(list.last(), vector.last());
                prop_assert_eq!(list.as_mut_slice(), &vector[..]);
                prop_assert!(list.capacity() >= vector.len());
            }
        }
    }
}
