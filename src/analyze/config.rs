//! What a run is asked for.

use std::path::{Path, PathBuf};

use super::FlowNames;
use crate::capture::{CaptureSource, Io, display_name};
use crate::decode::{Datagram, DecodeOptions, Endpoint, Filter};
use crate::flow::ConnectionLimits;
use crate::metric::BalanceWeights;
use crate::observe::{BIN_NS, MEMORY_BYTES};

/// One capture: a file, or several files that follow each other in time.
#[derive(Debug)]
pub struct CaptureInput {
    /// What the results call it: the path as given.
    pub name: String,
    /// Where it is read from: one at least.
    pub sources: Vec<CaptureSource>,
}

impl CaptureInput {
    /// A file as a capture of its own; `-` is standard input.
    #[must_use]
    pub fn file(path: &Path) -> Self {
        let source = if path == Path::new("-") {
            CaptureSource::Stdin
        } else {
            CaptureSource::File(path.to_path_buf())
        };
        Self {
            name: display_name(path).to_string(),
            sources: vec![source],
        }
    }

    /// Rotated files as one capture, called by the first of them.
    #[must_use]
    pub fn concatenated(paths: &[PathBuf]) -> Self {
        let name = paths
            .first()
            .map_or_else(String::new, |path| display_name(path).to_string());
        let sources = paths
            .iter()
            .flat_map(|path| Self::file(path).sources)
            .collect();
        Self { name, sources }
    }
}

/// Capacity of the link that the flows share, in bits per second of goodput.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// Bits per second.
    pub bps: f64,
}

/// The time span over which two flows are compared, where it is not the shorter flow's.
///
/// ```
/// use ccanalyze::Analysis;
/// use ccanalyze::analyze::{Config, FnessWindow, PairConfig};
///
/// // Half a second, without the first 200 ms.
/// let window = FnessWindow {
///     offset_ns: 200_000_000,
///     length_ns: 500_000_000,
/// };
/// let config = Config {
///     pairs: PairConfig {
///         window: Some(window),
///         ..PairConfig::default()
///     },
///     ..Config::default()
/// };
/// let downloads = "testdata/captures/two-flows-cubic-bbr.pcap.zst";
/// let analysis = Analysis::of([downloads], &config);
/// let pair = analysis.captures[0].pairs.pairs[0];
/// // The end is the last instant of it.
/// assert_eq!(pair.end.since(pair.start) + 1, window.length_ns);
/// assert!(pair.bytes_b > 2 * pair.bytes_a);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FnessWindow {
    /// Begins so long after the first data of the later flow, in ns; in [`Config::windows`], of the first of all.
    pub offset_ns: i64,
    /// Lasts so long, in ns, at least 1: of less there is nothing to compare.
    pub length_ns: i64,
}

/// Which flows are compared with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PairConfig {
    /// So many of the flows with the most payload (METRICS.md, "Between flows"). Each is compared with each: time and
    /// results grow with the square of it.
    pub top: usize,
    /// Over which span; `None` is the timespan of the shorter flow.
    pub window: Option<FnessWindow>,
}

impl Default for PairConfig {
    fn default() -> Self {
        Self {
            top: 64,
            window: None,
        }
    }
}

/// What a run is asked for. The default is what the command does without options.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// How records are decoded.
    pub decode: DecodeOptions,
    /// Which packets count; all, without a filter.
    pub filter: Option<Filter>,
    /// Length of a bin of the series, in ns, at least 1.
    pub bin_ns: i64,
    /// Bins of one flow's series, at least 1. Those that come later are not kept, and the flow says
    /// so in its quality.
    pub bins_max: u32,
    /// Memory that the analysis of one capture may hold, in bytes. Beyond it, things are given up:
    /// [`CaptureAnalysis::given_up`](super::CaptureAnalysis::given_up). No count depends on them but on connections
    /// that were put away: what goes on after that counts as a new one.
    ///
    /// The numbers of each flow are results, and are kept whatever it is: some 300 bytes. It bounds neither those nor
    /// what the caller makes of them. It is that of each capture: who analyses several at a time, or keeps their results,
    /// divides it among them, as the command does with what it is told.
    pub memory_bytes: u64,
    /// Capacity of the shared link, for utilisation and the balanced metric in tables (METRICS.md N5, P1). No number of
    /// a [`CaptureAnalysis`](super::CaptureAnalysis) depends on it. Without tables, [`metric::utilisation`] makes
    /// utilisation of it and a goodput, as of
    /// [`delivered_towards_capacity`](super::CaptureAnalysis::delivered_towards_capacity).
    ///
    /// [`metric::utilisation`]: crate::metric::utilisation
    pub capacity: Option<Capacity>,
    /// Weights of the balanced metric in tables (METRICS.md P1); without these, [`metric::balance()`] takes them.
    ///
    /// [`metric::balance()`]: crate::metric::balance()
    pub weights: BalanceWeights,
    /// What flows are called in tables, on the terminal and on pages; charts are told by their own options. No number
    /// depends on it.
    pub names: FlowNames,
    /// Which flows are compared.
    pub pairs: PairConfig,
    /// Windows of the capture in which payload will be asked for, by
    /// [`Flow::payload_within`](super::Flow::payload_within) or [`Sharing::of`](super::Sharing::of): it is known to the
    /// byte where they begin and end, as where flows do, whichever flow is taken for the first.
    pub windows: Vec<FnessWindow>,
    /// Conversations of UDP are flows, too: of what they are made is in METRICS.md, "Flows of UDP".
    pub udp: bool,
    /// Keep a row for each data segment.
    pub segments: bool,
    /// Keep the time sequence of each capture's largest flow, for its chart.
    pub time_sequence: bool,
    /// Keep how far apart the data packets of each flow are, for its chart.
    pub gaps: bool,
    /// When connections are put away.
    pub limits: ConnectionLimits,
    /// Threads to work with, up to 1024; `None` and 0 are one a core.
    pub threads: Option<usize>,
    /// Captures that are analysed at a time, at most, at least 1; no more than there are threads.
    pub captures_max: usize,
    /// How files are taken in; changes nothing but the time taken.
    pub io: Io,
    /// Go on behind damage in a file, at the next records that make sense.
    pub repair: bool,
}

impl Config {
    /// Whether the filter, where there is one, lets a segment through.
    #[inline]
    pub(super) fn wants(&self, ends: impl FnOnce() -> (Endpoint, Endpoint)) -> bool {
        self.filter.as_ref().is_none_or(|filter| {
            let (src, dst) = ends();
            filter.keeps(&src, &dst)
        })
    }

    /// The same of a datagram.
    pub(super) fn wants_datagram(&self, datagram: &Datagram) -> bool {
        let filter = self.filter.as_ref();
        filter.is_none_or(|filter| filter.keeps_datagram(&datagram.src, &datagram.dst))
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            decode: DecodeOptions::default(),
            filter: None,
            bin_ns: BIN_NS,
            bins_max: 1 << 20,
            memory_bytes: MEMORY_BYTES,
            capacity: None,
            weights: BalanceWeights::default(),
            names: FlowNames::default(),
            pairs: PairConfig::default(),
            windows: Vec::new(),
            udp: false,
            segments: false,
            time_sequence: false,
            gaps: false,
            limits: ConnectionLimits::default(),
            threads: None,
            captures_max: usize::MAX,
            io: Io::default(),
            repair: false,
        }
    }
}
