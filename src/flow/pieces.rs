//! A vector in pieces: as it grows nothing is copied, and it takes little more than what it holds.

use std::ops::{Index, IndexMut};

/// Elements of a piece.
const PIECE_LEN: usize = 64;

/// A vector whose elements lie in pieces of the same length.
///
/// One in a single piece takes up to three times what it holds while it grows, and an allocator
/// that keeps what it is given back for a while holds on to it.
#[derive(Clone, Debug)]
pub(super) struct Pieces<T> {
    /// All full but those behind the last element: that one's is full in part, later ones are empty.
    pieces: Vec<Vec<T>>,
    len: usize,
}

impl<T> Default for Pieces<T> {
    fn default() -> Self {
        Self {
            pieces: Vec::new(),
            len: 0,
        }
    }
}

impl<T> Pieces<T> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Memory that it takes, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.pieces.len() * PIECE_LEN * size_of::<T>()
            + self.pieces.capacity() * size_of::<Vec<T>>()
    }

    /// Gives back the pieces that are not in use.
    pub(super) fn shrink(&mut self) {
        self.pieces.truncate(self.len.div_ceil(PIECE_LEN));
    }

    pub(super) fn push(&mut self, element: T) {
        if self.len == self.pieces.len() * PIECE_LEN {
            self.pieces.push(Vec::with_capacity(PIECE_LEN));
        }
        self.pieces[self.len / PIECE_LEN].push(element);
        self.len += 1;
    }

    /// Takes out the element at `place`, into which the last one moves; `None` where there is none.
    pub(super) fn swap_remove(&mut self, place: usize) -> Option<T> {
        if place >= self.len {
            return None;
        }
        self.len -= 1;
        let last = self.pieces[self.len / PIECE_LEN].pop()?;
        Some(match self.get_mut(place) {
            Some(element) => std::mem::replace(element, last),
            None => last,
        })
    }

    pub(super) fn get(&self, place: usize) -> Option<&T> {
        self.pieces.get(place / PIECE_LEN)?.get(place % PIECE_LEN)
    }

    pub(super) fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        let piece = self.pieces.get_mut(place / PIECE_LEN)?;
        piece.get_mut(place % PIECE_LEN)
    }

    /// The elements; each piece is given back behind its last one.
    pub(super) fn into_iter(self) -> impl Iterator<Item = T> {
        self.pieces.into_iter().flatten()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.pieces.iter().flatten()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.pieces.iter_mut().flatten()
    }
}

impl<T> Index<usize> for Pieces<T> {
    type Output = T;

    fn index(&self, place: usize) -> &T {
        &self.pieces[place / PIECE_LEN][place % PIECE_LEN]
    }
}

impl<T> IndexMut<usize> for Pieces<T> {
    fn index_mut(&mut self, place: usize) -> &mut T {
        &mut self.pieces[place / PIECE_LEN][place % PIECE_LEN]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What is done to a vector: an element is pushed, one is taken out, or room is given back.
    fn steps() -> impl Strategy<Value = Vec<(bool, usize)>> {
        let many = prop_oneof![4 => Just((true, 300)), 3 => (any::<bool>(), 0..300_usize)];
        proptest::collection::vec(many, 1..30)
    }

    proptest! {
        #[test]
        fn it_does_what_a_vector_does(steps in steps()) {
            let (mut pieces, mut vector) = (Pieces::default(), Vec::new());
            for (grows, count) in steps {
                for number in 0..count {
                    if grows {
                        pieces.push(number);
                        vector.push(number);
                    } else {
                        let place = number * 7 % (vector.len() + 1);
                        let expected = (place < vector.len()).then(|| vector.swap_remove(place));
                        prop_assert_eq!(pieces.swap_remove(place), expected);
                    }
                }
                if count % 5 == 0 {
                    pieces.shrink();
                    prop_assert!(pieces.pieces.len() * PIECE_LEN < pieces.len() + PIECE_LEN);
                }
                prop_assert_eq!(pieces.len(), vector.len());
                prop_assert_eq!(pieces.get(vector.len()), None);
            }
            pieces.iter_mut().for_each(|number| *number += 1);
            let expected: Vec<usize> = vector.iter().map(|number| number + 1).collect();
            prop_assert_eq!(pieces.iter().copied().collect::<Vec<_>>(), expected.clone());
            for (place, &number) in expected.iter().enumerate() {
                prop_assert_eq!(pieces[place], number);
            }
            prop_assert_eq!(pieces.into_iter().collect::<Vec<_>>(), expected);
        }
    }
}
