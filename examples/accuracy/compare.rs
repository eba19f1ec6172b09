//! What comparing a capture with its truth has in common, lab or ns-3.

use std::path::Path;

use ccanalyze::Analysis;
use ccanalyze::analyze::{CaptureAnalysis, Config, Flow};

use crate::inputs::Ends;
use crate::peers::{PeerFlow, PeerFlows};

/// A frame of a lab capture that we got wrong.
pub(crate) struct WrongFrame {
    pub(crate) what: &'static str,
    pub(crate) cause: &'static str,
    pub(crate) frame: u64,
}

/// A count of a flow that we got wrong.
pub(crate) struct WrongCount {
    pub(crate) what: &'static str,
    /// Connection and direction, as in the truth.
    pub(crate) flow: String,
    pub(crate) truth: u64,
    pub(crate) ours: u64,
    /// What is known of it besides.
    pub(crate) note: String,
}

/// What came out of one capture.
pub(crate) struct Outcome<T> {
    pub(crate) tally: T,
    pub(crate) wrong_frames: Vec<WrongFrame>,
    pub(crate) wrong_counts: Vec<WrongCount>,
    /// Mean delays far from the truth, in microseconds.
    pub(crate) wrong_delays: Vec<WrongCount>,
}

/// Our analysis, with rows for segments.
pub(crate) fn analyze(path: &Path) -> Result<CaptureAnalysis, String> {
    let config = Config {
        segments: true,
        threads: Some(1),
        ..Config::default()
    };
    let capture = Analysis::of([path], &config).captures.pop();
    let capture = capture.ok_or_else(|| format!("{}: not analysed", path.display()))?;
    match capture.error() {
        Some(error) => Err(format!("{}: {error}", path.display())),
        None => Ok(capture),
    }
}

/// Who sends to whom.
pub(crate) fn ends_of(flow: &Flow<'_>) -> Ends {
    let (src, dst) = flow.ends();
    (src.ip(), src.port(), dst.ip(), dst.port())
}

/// What a peer that was run says of the flow of that rank; nothing found where it lists none.
pub(crate) fn opinion(
    flows: Option<&PeerFlows>,
    ends: &Ends,
    rank: usize,
) -> Option<(PeerFlow, bool)> {
    let listed = flows?.get(ends).and_then(|flows| flows.get(rank));
    Some((listed.cloned().unwrap_or_default(), listed.is_some()))
}
