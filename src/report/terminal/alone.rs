//! Time of a comparison in which one of the two flows was not there: fness tells then who was there, too.

use crate::analyze::{CaptureAnalysis, Config, Flow};
use crate::observe::Span;
use crate::study::{Metric, StudyResults};
use crate::time::CaptureTime;

use super::pairs::compared;
use super::runs::first_of;
use super::{counted, duration};

/// One part in so many of the time of a comparison changes who got more of it, where the other flow was not there.
const NOTICED: i64 = 10;

/// The time that two flows are compared over without a window (METRICS.md N1).
struct Compared {
    /// For how long only one of them was there, in ns.
    alone_ns: i64,
    /// All of it, in ns.
    all_ns: i64,
}

impl Compared {
    /// Of two flows, where it is noticed that one of them is not there all the time; `None` where they never meet.
    fn partly(a: Span, b: Span) -> Option<Self> {
        let all_ns = a.shorter(b).length_ns();
        let alone_ns = all_ns - a.common(b)?.length_ns();
        (alone_ns > all_ns / NOTICED).then_some(Self { alone_ns, all_ns })
    }

    /// How much of it, in words.
    fn words(&self) -> String {
        format!(
            "{} of {} pass without the other one",
            duration(self.alone_ns),
            duration(self.all_ns)
        )
    }
}

/// That pairs of a capture are compared over a time of which one of the two was not there for more than a tenth, and which
/// window leaves that out. Only those that the table of pairs has count.
pub(super) fn of_pairs(
    capture: &CaptureAnalysis,
    flows: &[Flow<'_>],
    config: &Config,
) -> Option<String> {
    if config.pairs.window.is_some() {
        return None;
    }
    let partly = compared(capture, flows).filter_map(|pair| {
        let [a, b] = [pair.a, pair.b].map(|place| flows[place].data_span());
        Compared::partly(a?, b?)
    });
    let partly: Vec<Compared> = partly.collect();
    let most = partly.iter().max_by_key(|of| of.alone_ns)?;
    let words = most.words();
    Some(match partly.as_slice() {
        // Those that meet at an instant have no time of their own.
        [only] if only.all_ns > only.alone_ns => format!(
            "fness is over the time of the shorter flow, of which {words}: `--fness-window 0s+{}` compares while both send",
            window(only.all_ns - only.alone_ns)
        ),
        several => format!(
            "fness of {} is over the time of the shorter flow, of which {words} in one of them: `--fness-window` compares over a time after the later one's start",
            counted(several.len() as u64, "pair")
        ),
    })
}

/// The same of the runs of a study that have no window; one is said of all.
pub(super) fn of_runs(results: &StudyResults) -> Option<String> {
    first_of(results.runs.iter().filter_map(|run| {
        let [first, second] = run.flows.as_slice() else {
            return None;
        };
        // Flows that do not compete have none.
        run.values.get(Metric::Fness)?;
        let is_whole = run.window_ns.is_none();
        let spans = [first, second].map(|flow| flow.measure.span_ns.map(span));
        let compared = is_whole.then(|| Compared::partly(spans[0]?, spans[1]?));
        let said = format!(
            "its fness is over the time of the shorter flow, of which {}: `window = \"overlap\"` is the time in which both send",
            compared.flatten()?.words()
        );
        Some((run.name.as_str(), said))
    }))
}

fn span((first_ns, last_ns): (i64, i64)) -> Span {
    Span {
        first: CaptureTime::from_ns(first_ns),
        last: CaptureTime::from_ns(last_ns),
    }
}

/// A time as an option takes it, no longer than this.
fn window(ns: i64) -> String {
    match ns {
        1_000_000_000.. => format!("{}s", ns / 1_000_000_000),
        1_000_000.. => format!("{}ms", ns / 1_000_000),
        _ => format!("{ns}ns"),
    }
}
