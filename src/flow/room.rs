//! Which go first where there are too many.

/// The rank that is at `place` in their order; `None` where there are no more than that.
pub(super) fn rank_at<R: Ord + Copy>(mut ranks: Vec<R>, place: usize) -> Option<R> {
    if place >= ranks.len() {
        return None;
    }
    let (_, &mut rank, _) = ranks.select_nth_unstable(place);
    Some(rank)
}
