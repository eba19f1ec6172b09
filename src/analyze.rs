//! Who runs it, on how many cores, and in what order results come back.
//!
//! [`Analysis::of`] is the library's front door: captures in, [`CaptureAnalysis`] out. Other tools
//! that have packets already push them: into a [`PacketAnalysis`] for the same results, into an [`Engine`] to hear what
//! each packet means.

mod ahead;
mod capture;
mod chunk;
mod config;
mod directions;
mod emptiest;
mod engine;
mod figures;
mod first;
mod flow;
mod frames;
mod gathered;
mod link;
mod memory;
mod merge;
mod names;
mod order;
mod packets;
mod pairs;
mod parts;
mod pings;
mod pipeline;
mod pruning;
mod shard;
mod totals;
mod tracking;
mod watch;
mod workers;

use std::path::Path;
use std::sync::Mutex;

#[cfg(feature = "tables")]
pub(crate) use ahead::all_ahead;
pub use capture::{CaptureAnalysis, DeliveredMost};
pub use config::{Capacity, CaptureInput, Config, FnessWindow, PairConfig};
pub use directions::{counts_towards_capacity, goes_the_main_way};
pub use emptiest::{NeverEmpty, never_seen_empty};
pub use engine::{Engine, EngineFacts};
pub use figures::FlowFigures;
#[cfg(feature = "cli")]
pub(crate) use first::keep_first;
#[cfg(feature = "charts")]
pub(crate) use flow::counts_beside;
pub use flow::{Flow, Limited, OfCapture, Quality};
pub use frames::FrameIndex;
pub use link::{LinkRates, LinkSide, is_behind_link};
pub use memory::GivenUp;
pub use names::FlowNames;
pub use order::Disorder;
pub use packets::PacketAnalysis;
pub use pairs::{Pair, PairBin, Pairs, Sharing};
pub use pings::Ping;
pub use totals::{CaptureQuality, CaptureTotals, Delivered};
pub use watch::Watch;
use workers::Workers;

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
        let workers = Workers::new(config);
        let threads = workers.threads();
        let at_a_time = threads.min(config.captures_max).min(inputs.len()).max(1);
        // Analysis has work for two or three threads as fast as one decompresses.
        let decompressors = (threads / at_a_time).saturating_sub(2);
        // Captures are handed out by threads outside the pool, which do nothing else while they wait.
        let next = Mutex::new(inputs.into_iter().enumerate());
        let done = Mutex::new(Vec::new());
        let work = || {
            while let Some((index, input)) = next.lock().ok().and_then(|mut inputs| inputs.next()) {
                let analysis =
                    workers.install(|| pipeline::analyze(input, config, decompressors, watch));
                let reduced = reduce(index, analysis);
                if let Ok(mut done) = done.lock() {
                    done.push((index, reduced));
                }
            }
        };
        std::thread::scope(|scope| {
            let start = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
            // One capture at a time needs no thread but this one.
            let needs_none = workers.are_none() || at_a_time == 1;
            let wanted = if needs_none { 0 } else { at_a_time };
            let started: Vec<_> = (0..wanted).filter_map(start).collect();
            if started.is_empty() && workers.are_none() {
                // All of them as part of one pool.
                workers.install(work);
            } else if started.is_empty() {
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
