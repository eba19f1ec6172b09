//! Whether a file is had more cheaply by mapping it than by reading it: that is the machine's and the file's, so it is
//! measured.
//!
//! A page that is mapped costs an entry in the page tables, or a share of one where the system keeps 2 MiB of the file in one
//! piece; of what is mapped, each record's headers come from memory, which is a wait where records are small. A page that
//! is read costs its copy, payload and all. Which of them is less is not known beforehand: under a hypervisor that keeps page
//! tables of its own in step an entry may cost twice the copy, elsewhere a fraction of it. The same records come out
//! either way.

use std::fs::File;
use std::time::{Duration, Instant};

/// Whether to map a file from `from` on, where its records take so many bytes: what that may cost then. Takes some tenths
/// of a millisecond.
pub(super) fn mapping_pays(file: &File, from: u64, record_bytes: usize) -> Option<Budget> {
    measure::budget(file, from, record_bytes).ok()?
}

/// What entering pages in the page tables may cost before reading is less, and what it has.
#[derive(Debug)]
pub(super) struct Budget {
    allowed_ns_per_mib: u64,
    spent: Duration,
    bytes: usize,
}

impl Budget {
    /// Bytes after which it is looked at: what comes first is not the rule.
    const LOOK_BYTES: usize = 8 << 20;

    pub(super) fn new(allowed: Duration, bytes: usize) -> Self {
        Self {
            allowed_ns_per_mib: (allowed.as_nanos() << 20) as u64 / bytes.max(1) as u64,
            spent: Duration::ZERO,
            bytes: 0,
        }
    }

    /// Does the work that enters so many bytes.
    pub(super) fn spend(&mut self, bytes: usize, work: impl FnOnce()) {
        if self.bytes >= 2 * Self::LOOK_BYTES {
            (self.spent, self.bytes) = (self.spent / 2, self.bytes / 2);
        }
        self.spent += time(work).0;
        self.bytes += bytes;
    }

    /// Whether more was spent of late than is allowed.
    pub(super) fn is_exceeded(&self) -> bool {
        let allowed_ns = (u128::from(self.allowed_ns_per_mib) * self.bytes as u128) >> 20;
        self.bytes >= Self::LOOK_BYTES && self.spent.as_nanos() > allowed_ns
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

    /// How often either way, each time another piece: what was touched before is in the cache.
    const ROUNDS: u64 = 2;

    /// Bytes of a record that are looked at: of no packet are the headers in one line of the cache.
    const LOOKED_AT: [usize; 2] = [0, 64];

    /// By the faster of two turns.
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
        // As much more as it was less than reading.
        let spare = read.checked_sub(mapped).filter(|spare| !spare.is_zero());
        Ok(spare.map(|spare| Budget::new(entered + spare, PIECE_BYTES)))
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
    use super::measure::budget;

    #[test]
    fn a_file_that_is_too_short_or_got_shorter_is_no_reason_to_map_or_to_crash() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(10 << 20).unwrap();
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
    fn a_budget_is_exceeded_by_what_was_spent_of_late() {
        // 10 us a MiB.
        let mut budget = Budget::new(Duration::from_micros(20), 2 << 20);
        let mut after = |bytes: usize, spent_us: u64| {
            budget.spend(bytes, || {});
            budget.spent += Duration::from_micros(spent_us);
            budget.is_exceeded()
        };
        assert!(!after(4 << 20, 1_000), "too early to tell");
        assert!(after(4 << 20, 0));
        // It goes into the past: 1 ms becomes half of it and so on.
        let spent: Vec<bool> = (0..8).map(|_| after(16 << 20, 0)).collect();
        assert!(spent[0] && !spent[7], "{spent:?}");
    }
}
