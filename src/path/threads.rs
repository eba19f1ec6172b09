//! Work that is done side by side.

use std::panic::resume_unwind;
use std::thread::{self, Builder, ScopedJoinHandle};

/// What both come to; one after the other where no thread is to be had.
pub(super) fn both<A, B: Send>(here: impl FnOnce() -> A, there: impl Fn() -> B + Sync) -> (A, B) {
    thread::scope(|scope| {
        let other = Builder::new().spawn_scoped(scope, &there);
        let one = here();
        (one, other.map_or_else(|_| there(), joined))
    })
}

/// What a thread came to. It has no reason to panic; if it does, its part is not left out of the numbers: it ends this
/// one, too.
pub(super) fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::both;

    #[test]
    fn a_panic_of_either_is_one_of_both() {
        assert_eq!(both(|| 1, || "two"), (1, "two"));
        let lost = catch_unwind(|| both(|| 1, || -> i32 { panic!("no number") }));
        assert!(lost.is_err());
    }
}
