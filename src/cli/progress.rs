//! A line that shows how far a run is, where there is a terminal to show it on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::analyze::Watch;
use crate::report::terminal;

/// How often the line moves.
const TICK: Duration = Duration::from_millis(100);

/// Ticks before it is shown: what is over sooner needs none.
const TICKS_UNSEEN: u32 = 3;

/// Bytes are counted as in the options: 1 MB is 1,000,000.
const BAR: &str = "{wide_bar} {percent:>3} % of {decimal_total_bytes}  {decimal_bytes_per_sec}  {eta} left  {msg}";
/// Nothing has been read yet, so nobody knows how long it takes.
const BAR_BEGUN: &str = "{wide_bar} {percent:>3} % of {decimal_total_bytes}  {msg}";
const PIPE: &str = "{spinner} {decimal_bytes}  {decimal_bytes_per_sec}  {msg}";
const NOTE: &str = "{spinner} {msg}";

/// What is done when all has been read.
pub(super) const WRITING: &str = "writing tables and charts";

/// What there is to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    /// Captures.
    pub(super) captures: usize,
    /// Bytes of all their files; `None` when one is no file.
    pub(super) total_bytes: Option<u64>,
}

/// Runs `work` while a bar shows how far it is.
pub(super) fn with_bar<T>(watch: &Watch, scope: Scope, quiet: bool, work: impl FnOnce() -> T) -> T {
    with_line(quiet, |line| show(line, watch, scope), work)
}

/// Runs `work` while a line says what is done.
pub(super) fn with_note<T>(note: &'static str, quiet: bool, work: impl FnOnce() -> T) -> T {
    let show = |line: &ProgressBar| {
        style(line, NOTE);
        line.set_message(note);
        line.tick();
    };
    with_line(quiet, show, work)
}

fn with_line<T>(quiet: bool, show: impl Fn(&ProgressBar) + Sync, work: impl FnOnce() -> T) -> T {
    if quiet || !terminal::progress_is_seen() {
        return work();
    }
    let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let shower = std::thread::Builder::new().spawn_scoped(threads, || {
            let mut ticks = 0_u32;
            while !done.load(Ordering::Acquire) {
                // Also while it is not seen: how fast it goes is known when it is.
                show(&line);
                if ticks == TICKS_UNSEEN {
                    terminal::note_progress(true);
                    line.set_draw_target(ProgressDrawTarget::stderr());
                }
                ticks = ticks.saturating_add(1);
                std::thread::park_timeout(TICK);
            }
        });
        let result = work();
        done.store(true, Ordering::Release);
        // Without a thread to be had, nothing is shown.
        if let Ok(shower) = shower {
            shower.thread().unpark();
            let _ = shower.join();
        }
        line.finish_and_clear();
        terminal::note_progress(false);
        result
    })
}

fn show(line: &ProgressBar, watch: &Watch, scope: Scope) {
    let read = watch.bytes_consumed();
    // The look comes first: a length without it is shown in another one.
    match scope.total_bytes.filter(|&total| total > 0) {
        Some(total) => {
            style(line, if read > 0 { BAR } else { BAR_BEGUN });
            line.set_length(total);
        }
        // Tables were read with the manifest.
        _ if scope.captures == 0 => style(line, NOTE),
        _ => style(line, PIPE),
    }
    line.set_message(message(scope, watch.captures_done(), watch.records()));
    line.set_position(read);
    line.tick();
}

/// What has been done, in captures; of a single one, in packets; without any, what is done. Those of a pipe, which may
/// be slow and without end, are counted late.
fn message(scope: Scope, captures_done: u64, records: u64) -> String {
    match (scope.captures, scope.total_bytes) {
        (0, _) => "statistics".to_owned(),
        (1, None) => "Ctrl-C ends the reading".to_owned(),
        (1, _) => format!("{} packets", HumanCount(records)),
        (all, _) => format!("{captures_done}/{all} captures"),
    }
}

fn style(line: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        line.set_style(style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_a_look() {
        for template in [BAR, BAR_BEGUN, PIPE, NOTE] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }

    #[test]
    fn one_capture_is_counted_in_packets() {
        let message = |captures, total_bytes| {
            let scope = Scope {
                captures,
                total_bytes,
            };
            message(scope, 2, 12_345)
        };
        assert_eq!(message(1, Some(1 << 20)), "12,345 packets");
        assert_eq!(message(3, Some(1 << 20)), "2/3 captures");
        assert_eq!(message(3, None), "2/3 captures");
        assert_eq!(message(1, None), "Ctrl-C ends the reading");
        assert_eq!(message(0, Some(0)), "statistics");
    }
}
