//! Long lists, on several threads.

use rayon::prelude::*;

/// What `of` makes of parts of a list, in their order. A long list is gone through on all threads of the pool that this
/// is called in; outside of one, on this thread alone.
pub(super) fn in_parts<T: Sync, R: Send>(
    items: &[T],
    of: impl Fn(&[T]) -> R + Send + Sync,
) -> Vec<R> {
    /// Enough that handing a part to another thread costs nothing beside it.
    const PART: usize = 8192;
    if rayon::current_thread_index().is_none() {
        return vec![of(items)];
    }
    items.par_chunks(PART).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_list_are_the_list_in_order() {
        let items: Vec<u32> = (0..100_000).collect();
        let of = || in_parts(&items, <[u32]>::to_vec);
        assert_eq!(of(), [items.as_slice()]);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build();
        let parts = pool.unwrap().install(of);
        assert!(parts.len() > 3);
        assert_eq!(parts.concat(), items);
    }
}
