//! Whether a file is had more cheaply by mapping it than by reading it: that is the machine's and the file's, so it is
//! measured.
//!
//! A page that is mapped costs an entry in the page tables, or a share of one where the system keeps 2 MiB of the file in one
//! piece; of what is mapped, each record's headers come from memory, which is a wait where records are small. A page that
//! is read costs its copy, payload and all. Which of them is less is not known beforehand: under a hypervisor that keeps page
//! tables of its own in step an entry may cost twice the copy, elsewhere a fraction of it. The same records come out
//! either way.

use std::fs::File;

/// Whether to map a file from `from` on, where its records take so many bytes. Takes some tenths of a millisecond.
pub(super) fn mapping_pays(file: &File, from: u64, record_bytes: usize) -> bool {
    measure::mapping_is_faster(file, from, record_bytes).unwrap_or(false)
}

#[cfg(unix)]
mod measure {
    use std::fs::File;
    use std::hint::black_box;
    use std::io;
    use std::os::unix::fs::FileExt;
    use std::time::{Duration, Instant};

    use super::super::mapping::{ALIGNMENT_BYTES, Mapping};
    use super::super::reader::READ_BYTES;

    /// What is had at a time: as much as the system may map in one piece.
    const PIECE_BYTES: usize = ALIGNMENT_BYTES as usize;

    /// How often either way, each time another piece: what was touched before is in the cache.
    const ROUNDS: u64 = 2;

    /// Bytes of a record that are looked at: of no packet are the headers in one line of the cache.
    const LOOKED_AT: [usize; 2] = [0, 64];

    /// By the faster of two turns.
    pub(super) fn mapping_is_faster(
        file: &File,
        from: u64,
        record_bytes: usize,
    ) -> io::Result<bool> {
        let mut buffer = vec![0; READ_BYTES];
        let (mut read, mut mapped) = (Duration::MAX, Duration::MAX);
        let first = from.next_multiple_of(ALIGNMENT_BYTES);
        for round in 0..ROUNDS {
            let start = first + 2 * round * ALIGNMENT_BYTES;
            mapped = mapped.min(time(|| {
                let mapping = Mapping::new(file, start, PIECE_BYTES)?;
                black_box(look_at(mapping.bytes(), record_bytes));
                Ok(())
            })?);
            let start = start + ALIGNMENT_BYTES;
            read = read.min(time(|| {
                for offset in (0..ALIGNMENT_BYTES).step_by(READ_BYTES) {
                    file.read_exact_at(&mut buffer, start + offset)?;
                    black_box(look_at(&buffer, record_bytes));
                }
                Ok(())
            })?);
        }
        Ok(mapped < read)
    }

    fn look_at(bytes: &[u8], record_bytes: usize) -> u8 {
        bytes.chunks(record_bytes.max(1)).fold(0, |seen, record| {
            LOOKED_AT
                .iter()
                .filter_map(|&place| record.get(place))
                .fold(seen, |seen, byte| seen ^ byte)
        })
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "chooses between two ways to the same bytes: no result depends on it"
    )]
    fn time(work: impl FnOnce() -> io::Result<()>) -> io::Result<Duration> {
        let start = Instant::now();
        work()?;
        Ok(start.elapsed())
    }
}

#[cfg(not(unix))]
mod measure {
    use std::fs::File;
    use std::io;

    /// Nothing is mapped here.
    pub(super) fn mapping_is_faster(
        _file: &File,
        _from: u64,
        _record_bytes: usize,
    ) -> io::Result<bool> {
        Ok(false)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::measure::mapping_is_faster;

    #[test]
    fn a_file_that_is_too_short_or_got_shorter_is_no_reason_to_map_or_to_crash() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(10 << 20).unwrap();
        for record_bytes in [0, 1, 1000, usize::MAX] {
            mapping_is_faster(&file, 1, record_bytes).unwrap();
        }
        mapping_is_faster(&file, (2 << 20) + 1, 1000).unwrap_err();
        mapping_is_faster(&file, 20 << 20, 1000).unwrap_err();
        for len in [5 << 20, 1, 0] {
            file.set_len(len).unwrap();
            mapping_is_faster(&file, 1, 1000).unwrap_err();
        }
    }
}
