//! How far a run is, for others to see, and how they end it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::capture::Progress;

/// Lets other threads see how far a run is, and stop it.
///
/// ```
/// use std::path::Path;
/// use std::thread;
/// use std::time::Duration;
///
/// use ccanalyze::Analysis;
/// use ccanalyze::analyze::{CaptureInput, Config, Watch};
/// use ccanalyze::capture::CaptureErrorKind;
///
/// let inputs = || vec![CaptureInput::file(Path::new("testdata/captures/drop-one.pcap"))];
/// let watch = Watch::default();
/// let analysis = thread::scope(|scope| {
///     let run = scope.spawn(|| Analysis::run(inputs(), &Config::default(), &watch));
///     while !run.is_finished() {
///         println!("{} of {:?} bytes", watch.bytes_consumed(), watch.bytes_total());
///         thread::sleep(Duration::from_millis(10));
///     }
///     run.join().unwrap()
/// });
/// assert_eq!(watch.records(), analysis.captures[0].records);
/// assert_eq!(watch.captures_done(), 1);
///
/// // A run that is told to stop has what was read by then, which is nothing here, and says so.
/// let watch = Watch::default();
/// watch.stop();
/// let analysis = Analysis::run(inputs(), &Config::default(), &watch);
/// let error = analysis.captures[0].error().unwrap();
/// assert!(matches!(error.kind, CaptureErrorKind::Interrupted));
/// ```
#[derive(Debug, Default)]
pub struct Watch {
    stopped: Arc<AtomicBool>,
    progress: Mutex<Vec<Progress>>,
    records: AtomicU64,
    done: AtomicU64,
}

impl Watch {
    /// Bytes read so far, of all captures opened.
    #[must_use]
    pub fn bytes_consumed(&self) -> u64 {
        self.all(|progress| Some(progress.bytes_consumed()))
            .unwrap_or(0)
    }

    /// Bytes to be read, of all captures opened so far; `None` when one of them is a pipe.
    #[must_use]
    pub fn bytes_total(&self) -> Option<u64> {
        self.all(Progress::bytes_total)
    }

    /// Records read so far.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records.load(Ordering::Relaxed)
    }

    /// Captures finished.
    #[must_use]
    pub fn captures_done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Ends the run soon: what has been read is analysed, the rest is not read, and each capture
    /// says so in its errors. Files and pipes are not waited for any longer; a reader
    /// ([`CaptureSource::Reader`](crate::capture::CaptureSource::Reader)) that waits for bytes is not interrupted, so that
    /// the run goes on until it returns.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether the run was told to stop.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// What [`stop`](Self::stop) sets, for who waits for what comes from a pipe.
    pub(crate) fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stopped)
    }

    fn all(&self, what: impl Fn(&Progress) -> Option<u64>) -> Option<u64> {
        self.progress.lock().ok()?.iter().map(what).sum()
    }

    /// Counts records that were read.
    pub(crate) fn add_records(&self, records: u64) {
        self.records.fetch_add(records, Ordering::Relaxed);
    }

    /// Counts a capture that is done with.
    pub(crate) fn add_done(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts what is read from another capture.
    pub(crate) fn add(&self, progress: Progress) {
        if let Ok(mut all) = self.progress.lock() {
            all.push(progress);
        }
    }
}
