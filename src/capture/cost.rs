//! Whether a file is had more cheaply by mapping it than by reading it: that is the machine's and the file's, so it is
//! measured.
//!
//! A page that is mapped costs an entry in the page tables, or a share of one where the system keeps 2 MiB of the file
//! in one piece; of what is mapped, each record's headers come from memory, which is a wait where records are small. A
//! page that is read costs its copy, payload and all. Which of them is less is not known beforehand: under a hypervisor
//! that keeps page tables of its own in step an entry may cost twice the copy, elsewhere a fraction of it. The same
//! records come out either way.

use std::fs::File;
use std::time::{Duration, Instant};

/// Whether to map a file from `from` on, where its records take so many bytes: what that may cost then. Takes some
/// tenths of a millisecond.
pub(super) fn mapping_pays(file: &File, from: u64, record_bytes: usize) -> Option<Budget> {
    measure::budget(file, from, record_bytes).ok()?
}

/// What entering pages in the page tables may cost before reading is less, and for how long it was more.
#[derive(Debug)]
pub(super) struct Budget {
    allowed_ns_per_mib: u64,
    /// Bytes in a row that cost more.
    exceeded_bytes: usize,
}

impl Budget {
    /// Bytes in a row after which that is the rule. A thread that lost its processor for a moment, as happens all the
    /// time on a machine that others use, is no reason to change.
    const LOOK_BYTES: usize = 24 << 20;

    #[cfg(any(unix, test))]
    pub(super) fn new(allowed: Duration, bytes: usize) -> Self {
        Self {
            allowed_ns_per_mib: (allowed.as_nanos() << 20) as u64 / bytes.max(1) as u64,
            exceeded_bytes: 0,
        }
    }

    /// Does the work that enters so many bytes.
    pub(super) fn spend(&mut self, bytes: usize, work: impl FnOnce()) {
        let (spent, ()) = time(work);
        self.note(bytes, spent);
    }

    fn note(&mut self, bytes: usize, spent: Duration) {
        let allowed_ns = (u128::from(self.allowed_ns_per_mib) * bytes as u128) >> 20;
        let is_within = spent.as_nanos() <= allowed_ns;
        self.exceeded_bytes = if is_within {
            0
        } else {
            self.exceeded_bytes.saturating_add(bytes)
        };
    }

    /// Whether more than is allowed was spent again and again of late.
    pub(super) fn is_exceeded(&self) -> bool {
        self.exceeded_bytes >= Self::LOOK_BYTES
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "chooses between two ways to the same bytes: no result depends on it"
)]
fn time<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let done = work();
    (start.elapsed(), done)
}

#[cfg(unix)]
mod measure {
    use std::fs::File;
    use std::hint::black_box;
    use std::io;
    use std::os::unix::fs::FileExt;
    use std::time::Duration;

    use super::super::mapping::{ALIGNMENT_BYTES, Mapping};
    use super::super::reader::READ_BYTES;
    use super::{Budget, time};

    /// What is had at a time: as much as the system may map in one piece.
    const PIECE_BYTES: usize = ALIGNMENT_BYTES as usize;

    /// How often either way, each time another piece: what was touched before is in the cache. What is had first costs
    /// more, mapped above all: tables of pages have to be made.
    const ROUNDS: u64 = 3;

    /// Bytes of a record that are looked at: of no packet are the headers in one line of the cache.
    const LOOKED_AT: [usize; 2] = [0, 64];

    /// Records of so many bytes take as long mapped as read where either takes as long here. What is read goes to a
    /// window that is larger than the cache, and comes back from it, which is about [`WINDOW_TENTHS`] of its copy; of
    /// what is mapped, each record's headers are waited for, which is as much where records are as small as this
    /// (measured with records of 325, 485, 645, and 870 bytes, of files that the system keeps in small pieces and in
    /// large ones).
    const EVEN_RECORD_BYTES: u128 = 600;
    const WINDOW_TENTHS: u128 = 8;

    /// By the fastest turn of each.
    pub(super) fn budget(
        file: &File,
        from: u64,
        record_bytes: usize,
    ) -> io::Result<Option<Budget>> {
        let mut buffer = vec![0; READ_BYTES];
        let (mut read, mut mapped) = (Duration::MAX, Duration::MAX);
        let mut entered = Duration::ZERO;
        let first = from.next_multiple_of(ALIGNMENT_BYTES);
        for round in 0..ROUNDS {
            let start = first + 2 * round * ALIGNMENT_BYTES;
            let (whole, entering) = time(|| {
                let mapping = Mapping::new(file, start, PIECE_BYTES)?;
                let (entering, ()) = time(|| mapping.enter(0..PIECE_BYTES));
                black_box(look_at(mapping.bytes(), record_bytes));
                io::Result::Ok(entering)
            });
            let entering = entering?;
            if whole < mapped {
                (mapped, entered) = (whole, entering);
            }
            let start = start + ALIGNMENT_BYTES;
            let (whole, done) = time(|| {
                for offset in (0..ALIGNMENT_BYTES).step_by(READ_BYTES) {
                    file.read_exact_at(&mut buffer, start + offset)?;
                    black_box(look_at(&buffer, record_bytes));
                }
                io::Result::Ok(())
            });
            done?;
            read = read.min(whole);
        }
        // As much more as it is less than reading.
        let spare = worth(read, record_bytes)
            .checked_sub(mapped)
            .filter(|spare| !spare.is_zero());
        Ok(spare.map(|spare| Budget::new(entered + spare, PIECE_BYTES)))
    }

    /// How long what is read in this time may take when it is mapped, so that records of so many bytes are had as soon.
    pub(super) fn worth(read: Duration, record_bytes: usize) -> Duration {
        let record_bytes = record_bytes.max(1) as u128;
        let worth = read.as_nanos() * (10 + WINDOW_TENTHS) / 10;
        let waits = read.as_nanos() * WINDOW_TENTHS * EVEN_RECORD_BYTES / (10 * record_bytes);
        Duration::from_nanos(worth.saturating_sub(waits) as u64)
    }

    fn look_at(bytes: &[u8], record_bytes: usize) -> u8 {
        bytes.chunks(record_bytes.max(1)).fold(0, |seen, record| {
            LOOKED_AT
                .iter()
                .filter_map(|&place| record.get(place))
                .fold(seen, |seen, byte| seen ^ byte)
        })
    }
}

#[cfg(not(unix))]
mod measure {
    use std::fs::File;
    use std::io;

    use super::Budget;

    /// Nothing is mapped here.
    pub(super) fn budget(
        _file: &File,
        _from: u64,
        _record_bytes: usize,
    ) -> io::Result<Option<Budget>> {
        Ok(None)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::Duration;

    use super::Budget;
    use super::measure::{budget, worth};

    #[test]
    fn a_file_that_is_too_short_or_got_shorter_is_no_reason_to_map_or_to_crash() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(14 << 20).unwrap();
        for record_bytes in [0, 1, 1000, usize::MAX] {
            budget(&file, 1, record_bytes).unwrap();
        }
        budget(&file, (2 << 20) + 1, 1000).unwrap_err();
        budget(&file, 20 << 20, 1000).unwrap_err();
        for len in [5 << 20, 1, 0] {
            file.set_len(len).unwrap();
            budget(&file, 1, 1000).unwrap_err();
        }
    }

    #[test]
    fn larger_records_are_worth_more_of_the_time_that_reading_takes() {
        let worth_of = |record_bytes| worth(Duration::from_micros(100), record_bytes).as_micros();
        assert_eq!(worth_of(600), 100, "as much");
        assert_eq!(worth_of(1200), 140);
        assert_eq!(worth_of(400), 60);
        assert_eq!(worth_of(1), 0, "never");
        assert_eq!(worth_of(usize::MAX), 180);
    }

    #[test]
    fn a_budget_is_exceeded_by_what_was_spent_again_and_again() {
        // 10 us a MiB.
        let mut budget = Budget::new(Duration::from_micros(20), 2 << 20);
        let mut after = |mib: usize, spent_us: u64| {
            budget.note(mib << 20, Duration::from_micros(spent_us));
            budget.is_exceeded()
        };
        assert!(!after(64, 640), "that much is allowed");
        assert!(!after(23, 231), "too early to tell");
        assert!(!after(1, 10), "once more as it should be");
        assert!(!after(12, 1_000_000), "a moment's pause");
        assert!(after(12, 121));
        assert!(!after(12, 120));
    }
}
