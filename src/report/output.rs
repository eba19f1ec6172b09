//! Files and folders that appear under their name only when they are complete.

mod begun;
#[cfg(feature = "charts")]
mod folder;

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf, is_separator};

pub use begun::abandon;
#[cfg(feature = "charts")]
pub use folder::OutputFolder;

use super::ReportError;
use begun::{begin, forget};

/// A file being written: under a name of its own beside the final one, until it is complete.
///
/// Dropped without [`commit`](Self::commit), it leaves nothing behind, and what stood under the
/// final name still does.
#[derive(Debug)]
pub struct Pending {
    path: PathBuf,
    part: PathBuf,
    file: Option<BufWriter<File>>,
    /// The complete file, which stays open until it is in its place: its lock says that somebody is at work on it.
    complete: Option<File>,
    /// What the system said when something could not be written.
    refusal: Option<io::Error>,
}

impl Pending {
    /// Begins to write `path`; the folder that it is in is made where it is not there. A link of that name will be
    /// replaced itself: nothing is written where others let it lead.
    ///
    /// # Errors
    /// [`ReportError::Write`] when the folder cannot be made or may not be written to, or what is there is no file or
    /// may not be written over.
    pub fn create(path: &Path) -> Result<Self, ReportError> {
        // An earlier result stays until this one is complete, so it must not be opened; and a file
        // of the same temporary name belongs to somebody else.
        let begun = may_be_replaced(path).and_then(|()| begin(path, |part| File::create_new(part)));
        let (part, file) = begun.map_err(|source| ReportError::Write {
            path: path.to_path_buf(),
            source,
        })?;
        // Where there are no locks, what a killed process leaves stays.
        let _ = file.try_lock();
        Ok(Self {
            path: path.to_path_buf(),
            complete: None,
            part,
            file: Some(BufWriter::new(file)),
            refusal: None,
        })
    }

    /// The final name.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Brings the last bytes to the disk: what can fail for want of room has not failed then.
    ///
    /// # Errors
    /// [`ReportError::Write`] when they cannot be written; the place is untouched.
    pub fn complete(&mut self) -> Result<(), ReportError> {
        let Some(file) = self.file.take() else {
            return Ok(());
        };
        let written = file.into_inner().map_err(io::IntoInnerError::into_error);
        let written = written.and_then(|file| file.sync_data().map(|()| file));
        self.complete = Some(written.map_err(|source| self.failed(source))?);
        Ok(())
    }

    /// Puts the complete file in its place, in one step.
    ///
    /// # Errors
    /// [`ReportError::Write`] when the last bytes cannot be written; the place is untouched then.
    pub fn commit(mut self) -> Result<PathBuf, ReportError> {
        self.complete()?;
        self.put().map_err(|source| self.failed(source))?;
        Ok(self.path.clone())
    }

    /// Who may read what was there may read what takes its place, and nobody else.
    fn put(&self) -> io::Result<()> {
        if let Ok(replaced) = fs::symlink_metadata(&self.path)
            && replaced.is_file()
        {
            fs::set_permissions(&self.part, replaced.permissions())?;
        }
        fs::rename(&self.part, &self.path)
    }

    /// Gives it up for having nothing to say; what an earlier run wrote under the final name goes
    /// too, for it would be taken for this run's. That it is of an earlier run is told by `words`,
    /// such as the names of columns, which are all in it; any other file stays.
    ///
    /// # Errors
    /// [`ReportError::Write`] when it cannot be removed.
    pub fn withdraw(self, words: &[&str]) -> Result<(), ReportError> {
        remove_older(&self.path, words).map(drop)
    }

    /// What kept it from being written, in the system's words where it was the system: writers of formats pass on
    /// little of them.
    pub(super) fn failed_with(&mut self, message: String) -> ReportError {
        match self.refusal.take() {
            Some(source) => self.failed(source),
            None => ReportError::Format {
                path: self.path.clone(),
                message,
            },
        }
    }

    /// Keeps the first thing that the system said.
    fn noted<T>(&mut self, written: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &written
            && self.refusal.is_none()
        {
            self.refusal = Some(io::Error::new(error.kind(), error.to_string()));
        }
        written
    }

    fn failed(&self, source: io::Error) -> ReportError {
        ReportError::Write {
            path: self.path.clone(),
            source,
        }
    }
}

/// Whether a file may take the place of what is there.
fn may_be_replaced(path: &Path) -> io::Result<()> {
    // What ends in a separator is a folder, too, if one that is not there: the file could not take that name.
    let ends = path.as_os_str().as_encoded_bytes().last();
    let is_named_as_folder = ends.is_some_and(|&byte| is_separator(byte.into()));
    let refused = match fs::symlink_metadata(path) {
        _ if path.is_dir() => io::ErrorKind::IsADirectory,
        _ if is_named_as_folder => {
            let why = "it ends as the name of a folder does";
            return Err(io::Error::new(io::ErrorKind::InvalidFilename, why));
        }
        Ok(there) if there.is_symlink() => return Ok(()),
        Ok(there) if !there.is_file() => io::ErrorKind::Unsupported,
        Ok(there) if there.permissions().readonly() => io::ErrorKind::ReadOnlyFilesystem,
        _ => return Ok(()),
    };
    Err(refused.into())
}

/// How much of either end of a file is looked at for what tells who wrote it: tables have their
/// columns there in any format.
const END_BYTES: u64 = 256 << 10;

/// Removes a file that an earlier run wrote, which all `words` in it tell; any other stays, and so
/// does one that cannot be read. Whether it was removed.
pub(super) fn remove_older(path: &Path, words: &[&str]) -> Result<bool, ReportError> {
    let is_older = |ends: Vec<u8>| words.iter().all(|word| contains(&ends, word.as_bytes()));
    if !ends(path).ok().flatten().is_some_and(is_older) {
        return Ok(false);
    }
    match fs::remove_file(path) {
        // Another process has removed it since.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        removed => removed.map(|()| true).map_err(|source| ReportError::Write {
            path: path.to_path_buf(),
            source,
        }),
    }
}

/// The first and the last bytes of a file; `None` of what is no file.
fn ends(path: &Path) -> io::Result<Option<Vec<u8>>> {
    if !fs::metadata(path)?.is_file() {
        return Ok(None);
    }
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    Read::by_ref(&mut file)
        .take(END_BYTES)
        .read_to_end(&mut bytes)?;
    // No byte twice where the ends overlap.
    let tail = length.saturating_sub(END_BYTES).max(bytes.len() as u64);
    file.seek(SeekFrom::Start(tail))?;
    file.take(END_BYTES).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

fn contains(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len().max(1)).any(|part| part == word)
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.as_mut().map_or(Ok(0), |file| file.write(bytes));
        self.noted(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.file.as_mut().map_or(Ok(()), Write::flush);
        self.noted(flushed)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        // After a commit there is nothing left under this name, and that is no error.
        let _ = fs::remove_file(&self.part);
        forget(&self.part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_stands_under_the_name_before_the_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.csv");
        fs::write(&path, "old").unwrap();
        let mut pending = Pending::create(&path).unwrap();
        pending.write_all(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        drop(pending);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "a part file was left behind"
        );
        let mut pending = Pending::create(&path).unwrap();
        pending.write_all(b"new").unwrap();
        pending.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_an_earlier_run_wrote_is_told_from_what_somebody_else_did() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.pings.csv");
        let withdraw = || {
            let pending = Pending::create(&path).unwrap();
            pending.withdraw(&["identifier", "rtt_ns"]).unwrap();
            path.exists()
        };
        assert!(!withdraw(), "none was there");
        fs::write(&path, "capture,identifier,rtt_ns\na,1,2\n").unwrap();
        assert!(!withdraw());
        fs::write(&path, "ping,rtt_ns\n").unwrap();
        assert!(withdraw(), "not a table of ours");
        // Long files are looked at where they begin and where they end.
        let long = [&vec![b'x'; 600_000][..], b"identifier rtt_ns"].concat();
        fs::write(&path, long).unwrap();
        assert!(!withdraw());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
