//! Where in its files a record of a capture is.

use crate::capture::Window;

/// From positions in a capture to frame numbers in its files.
#[derive(Clone, Debug, Default)]
pub struct FrameIndex {
    /// First ordinal, file, and frame number of it; one entry a file that has records.
    starts: Vec<(u64, usize, u64)>,
}

impl FrameIndex {
    /// That of records which follow each other from the first.
    pub(super) fn of_one_file() -> Self {
        Self {
            starts: vec![(0, 0, 1)],
        }
    }

    pub(super) fn add(&mut self, first_ordinal: u64, window: &Window) {
        let file = window.file();
        if !window.is_empty() && self.starts.last().is_none_or(|&(_, last, _)| last != file) {
            self.starts
                .push((first_ordinal, file, window.record(0).frame));
        }
    }

    /// As [`frame`](Self::frame), and the first position that is not of the same file.
    #[must_use]
    pub fn frames_from(&self, ordinal: u64) -> Option<(usize, u64, u64)> {
        let (file, frame) = self.frame(ordinal)?;
        let next = self
            .starts
            .partition_point(|&(first, _, _)| first <= ordinal);
        let end = self
            .starts
            .get(next)
            .map_or(u64::MAX, |&(first, _, _)| first);
        Some((file, frame, end))
    }

    /// File (its place among those of the capture) and frame number, from 1, of a record.
    #[must_use]
    pub fn frame(&self, ordinal: u64) -> Option<(usize, u64)> {
        let index = self
            .starts
            .partition_point(|&(first, _, _)| first <= ordinal)
            .checked_sub(1)?;
        let (first, file, frame) = self.starts[index];
        Some((file, frame + (ordinal - first)))
    }
}
