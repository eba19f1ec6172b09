//! What was in a queue when the capture began in which it would have come in, or went on behind a gap (METRICS.md B4).

use super::calibrate::Calibration;
use super::clock::Heading;
use super::spool::{Kind, Spool};

/// Each time that a capture began or went on, in order.
#[derive(Debug, Default)]
pub(super) struct Beginnings {
    all: Vec<Beginning>,
    /// The next one that the queue comes to.
    next: usize,
}

#[derive(Debug)]
struct Beginning {
    start: i64,
    /// Until when what was seen to leave may have been in the queue then: within the longest delay so far.
    until: Option<i64>,
    /// When each was stamped where it left, in that order, and its bytes.
    held: Vec<(i64, u32)>,
    /// For how long each waited since then, in ns.
    waited_ns: std::vec::IntoIter<i64>,
}

impl Beginnings {
    /// Finds what was in the queue of a way at each of these times, which are in order.
    pub(super) fn find(
        starts: Vec<i64>,
        spool: &Spool,
        headings: &[Option<Heading>],
        calibration: &Calibration,
        heading: Heading,
    ) -> Self {
        let all = starts.into_iter().map(Beginning::of).collect();
        let mut beginnings = Self { all, next: 0 };
        let notes = spool.notes(heading);
        for note in notes.filter(|note| note.heading(headings) == heading) {
            match note.kind_of(heading) {
                Kind::Passed => {
                    let passed = calibration.passed(&note);
                    if let Some(beginning) = beginnings.before(passed.at) {
                        let delay_ns = passed.left_at.saturating_sub(passed.at);
                        beginning.pass(passed.at, delay_ns);
                    }
                }
                Kind::Appeared => {
                    let at = calibration.aligned(note.seen_at(), note.at, note.frame);
                    if let Some(beginning) = beginnings.before(at.saturating_sub(1))
                        && beginning.held.len() < HELD_AT_BEGINNING_MAX
                    {
                        beginning.held.push((at, note.ip_len));
                    }
                }
                Kind::Lost => {}
            }
        }
        for beginning in &mut beginnings.all {
            let until = beginning.until();
            beginning.held.retain(|&(at, _)| at < until);
        }
        beginnings
    }

    /// The latest beginning by then.
    fn before(&mut self, at: i64) -> Option<&mut Beginning> {
        let behind = self.all.partition_point(|beginning| beginning.start <= at);
        self.all.get_mut(behind.checked_sub(1)?)
    }

    /// Comes to each beginning until `at`: `hold` takes when it was and what was in the queue, and gives for how long
    /// each waited since.
    pub(super) fn come_to(
        &mut self,
        at: i64,
        mut hold: impl FnMut(i64, &[(i64, u32)]) -> Vec<i64>,
    ) {
        while let Some(beginning) = self.all.get_mut(self.next)
            && beginning.start <= at
        {
            beginning.waited_ns = hold(beginning.start, &beginning.held).into_iter();
            self.next += 1;
        }
    }

    /// Since when, and for how long, the packet waited that was seen to leave at `at`, the next one of these.
    pub(super) fn take(&mut self, at: i64) -> Option<(i64, i64)> {
        let beginning = self.before(at.saturating_sub(1))?;
        let is_one = at < beginning.until();
        let waited_ns = is_one.then(|| beginning.waited_ns.next()).flatten()?;
        Some((beginning.start, waited_ns))
    }
}

impl Beginning {
    fn of(start: i64) -> Self {
        Self {
            start,
            until: None,
            held: Vec::new(),
            waited_ns: Vec::new().into_iter(),
        }
    }

    /// A packet came in at `at`, and took so long.
    fn pass(&mut self, at: i64, delay_ns: i64) {
        if self.until.is_none_or(|until| at <= until) {
            self.until = self.until.max(Some(self.start.saturating_add(delay_ns)));
        }
    }

    fn until(&self) -> i64 {
        self.until.unwrap_or(self.start)
    }
}

/// No queue holds more packets.
const HELD_AT_BEGINNING_MAX: usize = 1 << 20;
