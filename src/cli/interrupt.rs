//! Ctrl-C, SIGTERM and SIGHUP: the first ends the reading, the second everything; of a study, which keeps
//! what it found of each run, the first one does. And the limit of a file's size, which ends nothing.

#[cfg(unix)]
use std::io::Read as _;
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
        terminal::say("interrupted: finishing with what has been read; again to stop at once");
    };
    on_signal(handler);
}

/// Calls `handler` for each signal that asks the process to end, but for those that whoever started it lets it ignore,
/// as `nohup` does, and a shell with what runs in the background of a script. Without a thread for it, or where the
/// system has no such signals, one ends the process, which is all that is lost.
fn on_signal(mut handler: impl FnMut() + Send + 'static) {
    #[cfg(unix)]
    {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        let ignored = ignored_signals();
        let heeded = [SIGINT, SIGTERM, SIGHUP].into_iter();
        let heeded = heeded.filter(move |&signal| ignored >> (signal - 1) & 1 == 0);
        let (deaf, is_deaf) = std::sync::mpsc::channel::<()>();
        let listen = move || {
            let signals = signal_hook::iterator::Signals::new(heeded);
            drop(deaf);
            let Ok(mut signals) = signals else { return };
            for _ in signals.forever() {
                handler();
            }
        };
        let _ = std::thread::Builder::new().spawn(listen);
        // Nothing is begun that a signal would leave behind: this ends when they are listened to, or nobody can.
        let _ = is_deaf.recv();
    }
    #[cfg(not(unix))]
    let _ = ctrlc::set_handler(move || handler());
}

/// The signals that the process was started to ignore, a bit each, where the system says so.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    // Some 1,500 bytes: room for them, so that one read takes them all.
    let mut said = String::with_capacity(4096);
    let status = std::fs::File::open("/proc/self/status");
    let _ = status.and_then(|mut status| status.read_to_string(&mut said));
    let mask = said.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
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
    on_signal(handler);
}
