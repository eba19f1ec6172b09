//! A regular file as a sequence of mapped parts, of which only the one in use is held.

use std::fs::File;
use std::io;
use std::sync::Arc;

use super::cost::{Budget, mapping_pays};
use super::mapping::{ALIGNMENT_BYTES, Mapping};

/// Bytes mapped at a time. What is behind is unmapped, so that no more than three of these are
/// resident; small enough for many captures at once, large enough for the calls not to count.
const PART_BYTES: usize = 32 << 20;

/// A file that is mapped part by part.
#[derive(Debug)]
pub(super) struct MappedFile {
    file: Arc<File>,
    part: Option<Part>,
    /// The part before, which nothing looks at any more.
    behind: Option<Part>,
    /// What that may cost, where it is mapped because reading it takes longer.
    budget: Option<Budget>,
}

/// Some bytes of the file that are mapped at a time.
#[derive(Debug)]
pub(super) struct Part {
    mapping: Arc<Mapping>,
    /// Where in the file it begins and ends.
    start: u64,
    end: u64,
}

/// Some bytes of a mapped part, which stays mapped for as long as this lives.
#[derive(Clone, Debug)]
pub(super) struct View {
    mapping: Arc<Mapping>,
    start: usize,
    end: usize,
    /// Whether the file ended there when it was mapped.
    pub(super) at_end: bool,
}

impl View {
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.mapping.bytes()[self.start..self.end]
    }
}

impl MappedFile {
    pub(super) fn new(file: Arc<File>) -> Self {
        Self {
            file,
            part: None,
            behind: None,
            budget: None,
        }
    }

    /// Whether that is faster than reading it from `from` on, on this machine, where records take so many bytes.
    pub(super) fn pays(&mut self, from: u64, record_bytes: usize) -> bool {
        self.budget = mapping_pays(&self.file, from, record_bytes);
        self.budget.is_some()
    }

    /// To be mapped as long as that costs no more.
    #[cfg(test)]
    pub(super) fn within(self, budget: Budget) -> Self {
        Self {
            budget: Some(budget),
            ..self
        }
    }

    /// Whether it was faster when it was asked, and is not any more.
    pub(super) fn costs_too_much(&self) -> bool {
        self.budget.as_ref().is_some_and(Budget::is_exceeded)
    }

    /// The `wanted` bytes from `offset` on, or as many as there are: none at the end of the file.
    ///
    /// # Errors
    /// The file cannot be mapped.
    pub(super) fn view(&mut self, offset: u64, wanted: usize) -> io::Result<Option<View>> {
        let wanted_end = offset + wanted as u64;
        let holds = |part: &Part| part.start <= offset && wanted_end <= part.end;
        if !self.part.as_ref().is_some_and(holds) {
            self.behind = self.part.take();
            // Asked each time: the file may have grown.
            let size = self.file.metadata()?.len();
            if size <= offset {
                return Ok(None);
            }
            let start = offset / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
            let end = wanted_end.max(start + PART_BYTES as u64).min(size);
            let len = usize::try_from(end - start).map_err(io::Error::other)?;
            let mapping = Arc::new(Mapping::new(&self.file, start, len)?);
            self.part = Some(Part {
                mapping,
                start,
                end,
            });
        }
        Ok(self.part.as_ref().map(|part| {
            let start = (offset - part.start) as usize;
            let end = (wanted_end.min(part.end) - part.start) as usize;
            if let Some(budget) = &mut self.budget {
                budget.spend(end - start, || part.mapping.enter(start..end));
            }
            View {
                mapping: Arc::clone(&part.mapping),
                start,
                end,
                at_end: wanted_end > part.end,
            }
        }))
    }

    /// The part that was left, where that has not been asked for since. It is unmapped when it is dropped, page by page.
    pub(super) fn take_behind(&mut self) -> Option<Part> {
        self.behind.take()
    }

    /// Whether all that was mapped last is still there: what was found in it is what the file holds.
    pub(super) fn is_whole(&self) -> bool {
        self.part.as_ref().is_none_or(|part| {
            // Zeros after the end of the file, in its last page, are told by its size alone.
            let size = self.file.metadata().map_or(0, |meta| meta.len());
            size >= part.end && !part.mapping.is_lost()
        })
    }
}
