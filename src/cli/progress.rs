//! A progress bar where there is a terminal to show it on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::analyze::Watch;
use crate::report::terminal;

/// How often the bar moves.
const TICK: Duration = Duration::from_millis(100);

/// What there is to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    /// Captures.
    pub(super) captures: usize,
    /// Bytes of all their files; `None` when one is no file.
    pub(super) total_bytes: Option<u64>,
}

/// Runs `work` while a bar shows how far it is.
pub(super) fn with_bar<T: Send>(
    watch: &Watch,
    scope: Scope,
    quiet: bool,
    work: impl FnOnce() -> T + Send,
) -> T {
    if quiet || !terminal::progress_is_seen() {
        return work();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let shower = threads.spawn(|| {
            while !done.load(Ordering::Acquire) {
                show(&bar, watch, scope);
                std::thread::park_timeout(TICK);
            }
        });
        let result = work();
        done.store(true, Ordering::Release);
        shower.thread().unpark();
        let _ = shower.join();
        bar.finish_and_clear();
        result
    })
}

fn show(bar: &ProgressBar, watch: &Watch, scope: Scope) {
    let style = match scope.total_bytes.filter(|&total| total > 0) {
        Some(total) => {
            bar.set_length(total);
            "{wide_bar} {percent:>3} % of {total_bytes}  {bytes_per_sec}  {eta} left  {msg}"
        }
        None => "{spinner} {bytes}  {bytes_per_sec}  {msg}",
    };
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    let (done, captures) = (watch.captures_done(), scope.captures);
    bar.set_message(format!("{done}/{captures} captures"));
    bar.set_position(watch.bytes_consumed());
    bar.tick();
}
