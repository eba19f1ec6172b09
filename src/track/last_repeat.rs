//! Where the last repeat ended.

use std::num::NonZeroU32;

/// Up to where the last data packet, but for copies of the network, repeated bytes; nothing where it repeated none.
///
/// Kept as the distance from the highest byte seen, which takes half the room of an offset: it is given with each call,
/// and is that of the packet itself, since any later data packet replaces this, and a FIN above missing data
/// [moves](Self::below) it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastRepeat(Option<NonZeroU32>);

impl LastRepeat {
    /// The last data packet was no repeat.
    pub(super) const NONE: Self = Self(None);

    /// It repeated bytes up to `end`, at or below the highest byte seen, `high`; as good as none where that is 4 GiB above.
    pub(super) fn up_to(end: i64, high: i64) -> Self {
        let above = u32::try_from(high - end + 1).ok();
        Self(above.and_then(NonZeroU32::new))
    }

    /// The same repeat, where the highest byte seen, which was `high`, is `higher`.
    pub(super) fn below(self, higher: i64, high: i64) -> Self {
        self.end(high)
            .map_or(Self::NONE, |end| Self::up_to(end, higher))
    }

    /// Whether there was one.
    #[inline]
    pub(super) fn is_some(self) -> bool {
        self.0.is_some()
    }

    /// Where it ended.
    #[inline]
    pub(super) fn end(self, high: i64) -> Option<i64> {
        self.0.map(|above| high - i64::from(above.get()) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::LastRepeat;

    #[test]
    fn it_ends_where_it_ended() {
        assert_eq!(LastRepeat::NONE.end(7), None);
        for end in [0, 6, 7] {
            let repeat = LastRepeat::up_to(end, 7);
            assert_eq!(repeat.end(7), Some(end));
            assert_eq!(repeat.below(1000, 7).end(1000), Some(end));
        }
        let furthest = i64::from(u32::MAX) - 1;
        assert_eq!(LastRepeat::up_to(0, furthest).end(furthest), Some(0));
        assert!(!LastRepeat::up_to(0, furthest + 1).is_some());
    }
}
