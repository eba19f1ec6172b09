//! Whether a file is had more cheaply by mapping it than by reading it: that is the machine's, so it is measured.
//!
//! A page that is mapped costs an entry in the page tables, one that is read costs its copy. Which of them is less is
//! not known beforehand: under a hypervisor that keeps page tables of its own in step an entry may cost twice the copy,
//! elsewhere a fraction of it. The same records come out either way.

use std::fs::File;
use std::sync::OnceLock;

/// Whether to map files like this one. Measured once in the life of the process, on the first that is asked about.
pub(super) fn mapping_pays(file: &File) -> bool {
    static PAYS: OnceLock<bool> = OnceLock::new();
    *PAYS.get_or_init(|| measure::mapping_is_faster(file).unwrap_or(false))
}

#[cfg(unix)]
mod measure {
    use std::fs::File;
    use std::hint::black_box;
    use std::io;
    use std::os::unix::fs::FileExt;
    use std::time::{Duration, Instant};

    use super::super::mapping::Mapping;

    /// Bytes from the file's start that are had both ways.
    const PIECE_BYTES: usize = 256 << 10;

    /// How often: the first time brings the pages of file and buffer, the rest is for what else disturbs.
    const ROUNDS: usize = 4;

    /// Bytes from one that is touched to the next: each page is met, however small.
    const STEP_BYTES: usize = 4096;

    /// By the fastest of some turns, which takes some tenths of a millisecond.
    pub(super) fn mapping_is_faster(file: &File) -> io::Result<bool> {
        let mut buffer = vec![0; PIECE_BYTES];
        let (mut read, mut mapped) = (Duration::MAX, Duration::MAX);
        for _ in 0..ROUNDS {
            mapped = mapped.min(time(|| {
                let mapping = Mapping::new(file, 0, PIECE_BYTES)?;
                black_box(touch(mapping.bytes()));
                Ok(())
            })?);
            read = read.min(time(|| {
                file.read_exact_at(&mut buffer, 0)?;
                black_box(touch(&buffer));
                Ok(())
            })?);
        }
        Ok(mapped < read)
    }

    fn touch(bytes: &[u8]) -> u8 {
        bytes
            .iter()
            .step_by(STEP_BYTES)
            .fold(0, |sum, byte| sum ^ byte)
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
    pub(super) fn mapping_is_faster(_file: &File) -> io::Result<bool> {
        Ok(false)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::measure::mapping_is_faster;

    #[test]
    fn a_file_that_got_shorter_meanwhile_is_no_reason_to_map_or_to_crash() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        mapping_is_faster(&file).unwrap();
        for len in [1, 0] {
            file.set_len(len).unwrap();
            mapping_is_faster(&file).unwrap_err();
        }
    }
}
