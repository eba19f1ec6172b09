//! Which part of a run counts.

use super::units::parse_time;
use crate::analyze::FnessWindow;
use crate::observe::Span;
use crate::time::CaptureTime;

/// The part of a run that its metrics are taken over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Window {
    /// All of it.
    #[default]
    All,
    /// From the last flow's first payload to the first flow's last payload: while all are active.
    Overlap,
    /// All but the first time, in ns after the first payload.
    Skip(i64),
    /// From `offset_ns` after the first payload on, `length_ns` long.
    Span {
        /// Begins so long after the first payload, in ns.
        offset_ns: i64,
        /// Lasts so long, in ns, at least 1.
        length_ns: i64,
    },
}

impl Window {
    /// A window such as `all`, `overlap`, `skip 5s` or `5s+35s`.
    ///
    /// # Errors
    /// Says how a window is written.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Some(skipped) = text.strip_prefix("skip ") {
            return parse_time(skipped).map(Self::Skip);
        }
        if let Some((offset, length)) = text.split_once('+') {
            let (offset_ns, length_ns) = (parse_time(offset)?, parse_time(length)?);
            if length_ns > 0 {
                return Ok(Self::Span {
                    offset_ns,
                    length_ns,
                });
            }
            return Err(format!("'{text}' lasts no time"));
        }
        match text {
            "all" => Ok(Self::All),
            "overlap" => Ok(Self::Overlap),
            _ => Err(format!(
                "'{text}' is no window: write all, overlap, \"skip 5s\", or offset and length as \"5s+35s\""
            )),
        }
    }

    /// What an analysis has to know before, so that payload is exact where it begins and ends; `None` where that is where
    /// flows begin and end.
    #[must_use]
    pub fn ahead(self) -> Option<FnessWindow> {
        match self {
            Self::All | Self::Overlap => None,
            Self::Skip(offset_ns) => Some(FnessWindow {
                offset_ns,
                length_ns: i64::MAX,
            }),
            Self::Span {
                offset_ns,
                length_ns,
            } => Some(FnessWindow {
                offset_ns,
                length_ns,
            }),
        }
    }

    /// Its first instant and the one after its last, for flows with these data spans. `None` is
    /// the whole run; an empty window ends where it begins.
    #[must_use]
    pub fn within(self, flows: &[Span]) -> Option<(CaptureTime, CaptureTime)> {
        let first = flows.iter().map(|span| span.first).min()?;
        let last = flows.iter().map(|span| span.last).max()?;
        let (start, end) = match self {
            Self::All => return None,
            Self::Overlap => {
                let start = flows.iter().map(|span| span.first).max()?;
                (start, flows.iter().map(|span| span.last).min()?.plus_ns(1))
            }
            Self::Skip(skipped) => (first.plus_ns(skipped), last.plus_ns(1)),
            Self::Span {
                offset_ns,
                length_ns,
            } => {
                let start = first.plus_ns(offset_ns);
                (start, start.plus_ns(length_ns))
            }
        };
        Some((start, end.max(start)))
    }
}

/// Numbers of the first bin and of the one after the last.
pub(super) type BinRange = (i64, i64);

/// The bins that lie as a whole between two instants, which are in ns since the bins begin.
pub(super) fn whole_bins((start_ns, end_ns): (i64, i64), bin_ns: i64) -> BinRange {
    let is_partial = start_ns.rem_euclid(bin_ns) > 0;
    let first = start_ns
        .div_euclid(bin_ns)
        .saturating_add(i64::from(is_partial));
    (first, end_ns.div_euclid(bin_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(first: i64, last: i64) -> Span {
        Span {
            first: CaptureTime::from_ns(first),
            last: CaptureTime::from_ns(last),
        }
    }

    #[test]
    fn windows_are_cut_from_the_flows_that_count() {
        let flows = [span(100, 1000), span(400, 2000)];
        for (text, expected) in [
            ("all", None),
            ("overlap", Some((400, 1001))),
            ("skip 300ns", Some((400, 2001))),
            ("500ns+200ns", Some((600, 800))),
        ] {
            let within = Window::parse(text).unwrap().within(&flows);
            let within = within.map(|(start, end)| (start.as_ns(), end.as_ns()));
            assert_eq!(within, expected, "{text}");
        }
        // Flows that were never active together: an empty window, not a negative one.
        let apart = [span(0, 10), span(20, 30)];
        let (start, end) = Window::Overlap.within(&apart).unwrap();
        assert_eq!(start, end);
    }

    #[test]
    fn what_is_no_window_is_said() {
        for text in ["", "5s", "skip", "skip 5", "5s+0s", "middle"] {
            assert!(Window::parse(text).is_err(), "{text}");
        }
    }
}
