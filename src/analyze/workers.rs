//! The threads that a run works with.

use std::panic::resume_unwind;
use std::thread::Builder;

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::config::Config;

/// Threads that a run works with at most: more than there are cores anywhere only take time to begin.
const THREADS_MAX: usize = 1024;

/// As many threads as a run is asked to work with; none where they are not to be had.
pub(super) struct Workers(Option<ThreadPool>);

impl Workers {
    pub(super) fn new(config: &Config) -> Self {
        let threads = config.threads.unwrap_or(0).min(THREADS_MAX);
        Self(ThreadPoolBuilder::new().num_threads(threads).build().ok())
    }

    /// How many there are, at least the one that asks.
    pub(super) fn threads(&self) -> usize {
        let pool = self.0.as_ref();
        pool.map_or(1, ThreadPool::current_num_threads)
    }

    /// Whether no thread but the one that asks is to be had.
    pub(super) fn are_none(&self) -> bool {
        self.0.is_none()
    }

    /// Does work on these threads, and waits for it. It does nothing else while it waits, which a thread of another pool
    /// would by itself: whatever that began would lie on the same stack, and might wait for what this one holds.
    pub(super) fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let Some(pool) = &self.0 else {
            return alone(work);
        };
        if rayon::current_thread_index().is_none() {
            return pool.install(work);
        }
        let (mut work, mut done) = (Some(work), None);
        let mut begin = || done = work.take().map(|work| pool.install(work));
        let waited = std::thread::scope(|scope| {
            let waiting = Builder::new().spawn_scoped(scope, &mut begin).ok()?;
            Some(waiting.join())
        });
        match waited {
            Some(Err(panic)) => resume_unwind(panic),
            Some(Ok(())) => {}
            // No thread to wait for it.
            None => begin(),
        }
        done.unwrap_or_else(|| unreachable!("the work was begun"))
    }
}

/// No threads to be had: the slow way, on this one, is still a way. It can be part of one pool only, and stays of the
/// first.
fn alone<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let this_one = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    match this_one.build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}
