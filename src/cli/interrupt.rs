//! Ctrl-C and SIGTERM: the first ends the reading, the second everything; of a study, which keeps
//! what it found of each run, the first one does. And the limit of a file's size, which ends nothing.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::analyze::Watch;
use crate::report::{abandon, terminal};

/// Status of a process that was told to stop at once: what shells give for one that Ctrl-C ended.
const STOPPED_AT_ONCE: i32 = 130;

/// Lets the first signal stop what `watch` watches, so that what was read is still written, and
/// the second end the process, with nothing left behind that is not complete.
pub(super) fn listen(watch: &Arc<Watch>) {
    let watch = Arc::clone(watch);
    let told = AtomicBool::new(false);
    let handler = move || {
        if told.swap(true, Ordering::Relaxed) {
            abandon();
            process::exit(STOPPED_AT_ONCE);
        }
        watch.stop();
        terminal::say(
            "interrupted: what has been read is analysed and written; again to stop at once",
        );
    };
    // Without a handler a signal ends the process, which is all that is lost.
    let _ = ctrlc::set_handler(handler);
}

/// Lets a file that reached the limit of the shell (`ulimit -f`) be an error of writing it, as a full disk is. Without
/// a handler of its signal that ends the process, with all left behind that is not complete.
pub(super) fn take_size_limit_as_error() {
    // Whether it came is nobody's question: who writes is told.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

/// Lets a signal end the process with nothing left behind that is not complete.
pub(super) fn end_cleanly(said: &'static str) {
    let handler = move || {
        terminal::say(said);
        abandon();
        process::exit(STOPPED_AT_ONCE);
    };
    let _ = ctrlc::set_handler(handler);
}
