//! Who runs it, on how many cores, and in what order results come back.
//!
//! [`Analysis::of`] is the library's front door: captures in, [`CaptureAnalysis`] out. Other tools
//! that have packets already push them: into a [`PacketAnalysis`] for the same results, into an [`Engine`] to hear what
//! each packet means.

mod capture;
mod chunk;
mod config;
mod directions;
mod engine;
mod figures;
mod flow;
mod frames;
mod gathered;
mod link;
mod memory;
mod merge;
mod packets;
mod pairs;
mod parts;
mod pings;
mod pipeline;
mod pruning;
mod totals;
mod tracking;
mod watch;

use std::path::Path;
use std::sync::Mutex;

use rayon::{ThreadPool, ThreadPoolBuilder};

pub use capture::CaptureAnalysis;
pub use config::{Capacity, CaptureInput, Config, FnessWindow, PairConfig};
pub use directions::{counts_towards_capacity, goes_the_main_way};
pub use engine::{Engine, EngineFacts};
pub use figures::FlowFigures;
#[cfg(any(feature = "tables", feature = "charts"))]
pub(crate) use flow::all_ahead;
pub use flow::{Flow, Limited, Quality};
pub use frames::FrameIndex;
pub use link::{LinkRates, is_behind_link};
pub use memory::GivenUp;
pub use packets::PacketAnalysis;
pub use pairs::{Pair, PairBin, Pairs, Sharing};
pub use pings::Ping;
pub use totals::{CaptureQuality, CaptureTotals, Delivered};
pub use watch::Watch;

/// Threads that a run works with at most: more than there are cores anywhere only take time to begin.
const THREADS_MAX: usize = 1024;

/// The results of a run: one entry a capture, in the order they were given.
#[derive(Debug)]
pub struct Analysis {
    /// One entry a capture.
    pub captures: Vec<CaptureAnalysis>,
}

impl Analysis {
    /// Analyses capture files, each as a capture of its own, on all cores.
    ///
    /// Never fails as a whole: a capture that cannot be read to its end keeps what was read before
    /// and says why in [`CaptureAnalysis::errors`].
    ///
    /// ```
    /// use ccanalyze::Analysis;
    /// use ccanalyze::analyze::Config;
    ///
    /// let analysis = Analysis::of(["testdata/captures/drop-one.pcap"], &Config::default());
    /// let capture = &analysis.captures[0];
    /// assert!(capture.error().is_none());
    /// // The download: the flow with the most payload.
    /// let flow = capture.flows().max_by_key(|flow| flow.summary().payload_bytes).unwrap();
    /// assert_eq!(flow.summary().incidents().retransmitted_packets, 1);
    /// assert!(flow.goodput_bps().unwrap() > 10e6);
    /// ```
    pub fn of<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>, config: &Config) -> Self {
        let inputs = paths
            .into_iter()
            .map(|path| CaptureInput::file(path.as_ref()))
            .collect();
        Self::run(inputs, config, &Watch::default())
    }

    /// Analyses captures of any kind while `watch` tells others how far it is.
    ///
    /// How many threads [`Config::threads`] allows changes nothing but the time taken.
    #[must_use]
    pub fn run(inputs: Vec<CaptureInput>, config: &Config, watch: &Watch) -> Self {
        Self {
            captures: Self::each(inputs, config, watch, |_, capture| capture),
        }
    }

    /// Analyses captures and keeps of each only what `reduce` makes of it, given its place among
    /// `inputs`: with many captures, no more are held at a time than there are threads, and than
    /// [`Config::captures_max`].
    ///
    /// Returns what `reduce` made, in the order of `inputs`.
    pub fn each<T: Send>(
        inputs: Vec<CaptureInput>,
        config: &Config,
        watch: &Watch,
        reduce: impl Fn(usize, CaptureAnalysis) -> T + Sync,
    ) -> Vec<T> {
        let several = pool(config);
        // No threads to be had: the slow way, on this one, is still a way. It can be part of one pool only, and is of
        // the first.
        let is_alone = several.is_none();
        let alone = || {
            let this_one = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
            this_one.build().ok()
        };
        let pool = several.or_else(alone);
        let threads = pool.as_ref().map_or(1, ThreadPool::current_num_threads);
        let at_a_time = threads.min(config.captures_max).min(inputs.len()).max(1);
        // Analysis has work for two or three threads as fast as one decompresses.
        let decompressors = (threads / at_a_time).saturating_sub(2);
        // Captures are handed out by threads outside the pool: one that waits for a window of its
        // capture must not begin another capture on the same stack.
        let next = Mutex::new(inputs.into_iter().enumerate());
        let done = Mutex::new(Vec::new());
        let work = || {
            while let Some((index, input)) = next.lock().ok().and_then(|mut inputs| inputs.next()) {
                let analyze = || pipeline::analyze(input, config, decompressors, watch);
                let analysis = match &pool {
                    Some(pool) => pool.install(analyze),
                    None => analyze(),
                };
                let reduced = reduce(index, analysis);
                if let Ok(mut done) = done.lock() {
                    done.push((index, reduced));
                }
            }
        };
        std::thread::scope(|scope| {
            let start = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
            // One capture needs no other thread than this, unless it is of a pool, and would begin other work of that
            // while it waits.
            let is_one = at_a_time == 1 && rayon::current_thread_index().is_none();
            let wanted = if is_alone || is_one { 0 } else { at_a_time };
            let started: Vec<_> = (0..wanted).filter_map(start).collect();
            if started.is_empty() {
                work();
            }
            for thread in started {
                // What `reduce` says when it panics is for its caller.
                if let Err(panic) = thread.join() {
                    std::panic::resume_unwind(panic);
                }
            }
        });
        let mut done = done.into_inner().unwrap_or_default();
        done.sort_by_key(|&(index, _)| index);
        done.into_iter().map(|(_, reduced)| reduced).collect()
    }
}

/// As many threads as a run is asked to work with; `None` where they are not to be had.
fn pool(config: &Config) -> Option<ThreadPool> {
    let threads = config.threads.unwrap_or(0).min(THREADS_MAX);
    ThreadPoolBuilder::new().num_threads(threads).build().ok()
}
