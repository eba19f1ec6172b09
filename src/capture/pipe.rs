//! Pipes are waited for in steps, so that who is told to stop does, also where nothing comes.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How long is waited at a time, in ms.
const STEP_MS: u8 = 100;

/// How often a pipe is waited for that was told to stop: what writes into it is mostly told as
/// well, and hands over what it still holds.
const WAITS_AFTER_STOP: u8 = 5;

/// A pipe, or whatever else bytes come from in their own time.
pub(super) struct Pipe {
    file: File,
    stop: Arc<AtomicBool>,
    waits_left: u8,
}

impl Pipe {
    /// Reads `file` until it ends or `stop` is set.
    pub(super) fn new(file: File, stop: Arc<AtomicBool>) -> Self {
        Self {
            file,
            stop,
            waits_left: WAITS_AFTER_STOP,
        }
    }

    /// Standard input, past the buffer of the library: what is in that, no look at the pipe shows.
    #[cfg(unix)]
    pub(super) fn stdin(stop: Arc<AtomicBool>) -> io::Result<Self> {
        use std::os::fd::AsFd as _;
        let stdin = io::stdin().as_fd().try_clone_to_owned()?;
        Ok(Self::new(stdin.into(), stop))
    }

    /// Standard input.
    #[cfg(windows)]
    pub(super) fn stdin(stop: Arc<AtomicBool>) -> io::Result<Self> {
        use std::os::windows::io::AsHandle as _;
        let stdin = io::stdin().as_handle().try_clone_to_owned()?;
        Ok(Self::new(stdin.into(), stop))
    }

    /// Waits for bytes or the end of the pipe; whether that has come, and not the order to stop.
    fn wait(&mut self) -> io::Result<bool> {
        while !self.stop.load(Ordering::Relaxed) {
            if has_come(&self.file, STEP_MS)? {
                return Ok(true);
            }
        }
        // What is there already is read; what comes drop by drop would go on for ever.
        while !has_come(&self.file, 0)? {
            let Some(left) = self.waits_left.checked_sub(1) else {
                return Ok(false);
            };
            self.waits_left = left;
            if has_come(&self.file, STEP_MS)? {
                break;
            }
        }
        Ok(true)
    }
}

impl Read for Pipe {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.wait()? {
            match self.file.read(buf) {
                // Somebody else who reads it as well was faster.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
        Err(io::Error::other("the reading was stopped"))
    }
}

/// Opens a file; a named pipe without waiting for who writes into it: there the first bytes are
/// waited for, where who is told to stop does.
#[cfg(target_os = "linux")]
pub(super) fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
    let is_pipe = std::fs::metadata(path).is_ok_and(|meta| meta.file_type().is_fifo());
    let mut options = File::options();
    options.read(true);
    if is_pipe {
        options.custom_flags(libc::O_NONBLOCK);
    }
    options.open(path)
}

/// Opens a file. Whether a pipe into which nobody writes yet has ended, not every system tells as
/// Linux does: elsewhere the opening waits.
#[cfg(not(target_os = "linux"))]
pub(super) fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Whether bytes, or the end, come within so many milliseconds.
#[cfg(unix)]
fn has_come(file: &File, within_ms: u8) -> io::Result<bool> {
    use std::os::fd::AsFd as _;

    use nix::errno::Errno;
    use nix::poll::{PollFd, PollFlags, poll};

    let mut looked_at = [PollFd::new(file.as_fd(), PollFlags::POLLIN)];
    match poll(&mut looked_at, within_ms) {
        Ok(come) => Ok(come > 0),
        // A signal came meanwhile.
        Err(Errno::EINTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Not known here: the reading itself waits.
#[cfg(not(unix))]
fn has_come(_: &File, _: u8) -> io::Result<bool> {
    Ok(true)
}
