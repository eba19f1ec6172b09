//! A progress bar where there is a terminal to show it on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::analyze::Watch;
use crate::report::terminal;

/// How often the bar moves.
const TICK: Duration = Duration::from_millis(100);

/// Runs `work` while a bar shows how far it is.
pub(super) fn with_bar<T: Send>(
    watch: &Watch,
    captures: usize,
    quiet: bool,
    work: impl FnOnce() -> T + Send,
) -> T {
    if quiet || !terminal::progress_is_seen() {
        return work();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let shower = scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                show(&bar, watch, captures);
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

fn show(bar: &ProgressBar, watch: &Watch, captures: usize) {
    // A bar over bytes needs their sum, which is known when all captures have been opened and none
    // is a pipe; until then a spinner tells what was read.
    let total = watch
        .bytes_total()
        .filter(|&total| total > 0 && watch.captures_opened() == captures);
    let style = match total {
        Some(total) => {
            bar.set_length(total);
            "{bar:32} {percent:>3} %  {bytes}/{total_bytes}  {bytes_per_sec}  {eta} left  {msg}"
        }
        None => "{spinner} {bytes}  {bytes_per_sec}  {msg}",
    };
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar.set_message(format!(
        "{} of {captures} captures, {} packets",
        watch.captures_done(),
        watch.records()
    ));
    bar.set_position(watch.bytes_consumed());
    bar.tick();
}
