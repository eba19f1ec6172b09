//! Files that appear under their name only when they are complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use super::ReportError;
use super::chart::{ChartError, mark};

/// What has been begun and is not complete, for [`abandon`].
static BEGUN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes everything that was begun and is not complete, for a process that ends at once.
pub fn abandon() {
    let Ok(begun) = BEGUN.lock() else { return };
    for path in begun.iter() {
        // What has been put in its place, or was never filled, is not there any more.
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
    }
}

/// Makes something beside `path` under a name that nobody uses, whatever other processes or an
/// earlier one that was killed left there.
fn begin<T>(path: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
    let mut folder = path.parent();
    loop {
        let temporary = beside(path);
        match make(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => match folder.take() {
                Some(folder) => fs::create_dir_all(folder)?,
                None => return Err(error),
            },
            Err(error) => return Err(error),
            Ok(made) => {
                if let Ok(mut begun) = BEGUN.lock() {
                    begun.push(temporary.clone());
                }
                return Ok((temporary, made));
            }
        }
    }
}

/// Something begun is complete or given up.
fn forget(temporary: &Path) {
    if let Ok(mut begun) = BEGUN.lock() {
        begun.retain(|path| path != temporary);
    }
}

/// A file being written: under a name of its own beside the final one, until it is complete.
///
/// Dropped without [`commit`](Self::commit), it leaves nothing behind, and what stood under the
/// final name still does.
#[derive(Debug)]
pub struct Pending {
    path: PathBuf,
    temporary: PathBuf,
    file: Option<BufWriter<File>>,
    /// What the system said when something could not be written.
    refusal: Option<io::Error>,
}

impl Pending {
    /// Begins to write `path`; the folder that it is in is made where it is not there.
    ///
    /// # Errors
    /// [`ReportError::Write`] when the folder cannot be made or may not be written to.
    pub fn create(path: &Path) -> Result<Self, ReportError> {
        if path.is_dir() {
            let source = io::Error::new(io::ErrorKind::IsADirectory, "it is a directory");
            return Err(ReportError::Write {
                path: path.to_path_buf(),
                source,
            });
        }
        // An earlier result stays until this one is complete, so it must not be opened; and a file
        // of the same temporary name belongs to somebody else.
        let (temporary, file) =
            begin(path, |path| File::create_new(path)).map_err(|source| ReportError::Write {
                path: path.to_path_buf(),
                source,
            })?;
        Ok(Self {
            path: path.to_path_buf(),
            temporary,
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
        file.into_inner()
            .map_err(io::IntoInnerError::into_error)
            .and_then(|file| file.sync_data())
            .map_err(|source| self.failed(source))
    }

    /// Puts the complete file in its place, in one step.
    ///
    /// # Errors
    /// [`ReportError::Write`] when the last bytes cannot be written; the place is untouched then.
    pub fn commit(mut self) -> Result<PathBuf, ReportError> {
        self.complete()?;
        fs::rename(&self.temporary, &self.path).map_err(|source| self.failed(source))?;
        Ok(self.path.clone())
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

    /// What kept it from being written, in the system's words where it was the system: writers of formats pass on little of
    /// them.
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
        let _ = fs::remove_file(&self.temporary);
        forget(&self.temporary);
    }
}

/// A folder of files being made: filled under a name of its own, then put in the place of the old.
#[derive(Debug)]
pub struct OutputFolder {
    path: PathBuf,
    temporary: PathBuf,
}

impl OutputFolder {
    /// Begins to fill `path` with charts; the folder around it is made where it is not there.
    ///
    /// # Errors
    /// [`ReportError::Write`] when the folder around it cannot be made or may not be written to, or
    /// a file has its name; [`ReportError::Occupied`] when an older one holds what is no chart.
    pub fn create(path: &Path) -> Result<Self, ReportError> {
        // A link is replaced itself: what it leads to stays.
        if path.exists() && !path.is_symlink() {
            let found = match stranger(path) {
                // Another process has taken it away since.
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                found => found.map_err(|source| ReportError::Write {
                    path: path.to_path_buf(),
                    source,
                })?,
            };
            if let Some(found) = found {
                return Err(ReportError::Occupied {
                    path: path.to_path_buf(),
                    found,
                });
            }
        }
        let (temporary, ()) =
            begin(path, |path| fs::create_dir(path)).map_err(|source| ReportError::Write {
                path: path.to_path_buf(),
                source,
            })?;
        Ok(Self {
            path: path.to_path_buf(),
            temporary,
        })
    }

    /// Where to put the files.
    #[must_use]
    pub fn filling(&self) -> &Path {
        &self.temporary
    }

    /// What kept a chart from being written, by the name that it would have got: nobody knows that of the folder being filled.
    #[cfg(feature = "charts")]
    #[must_use]
    pub fn failed(&self, error: ChartError) -> ReportError {
        let path = error.path.strip_prefix(&self.temporary);
        let path = path.map_or_else(|_| error.path.clone(), |name| self.path.join(name));
        ChartError { path, ..error }.into()
    }

    /// Puts the folder in the place of an older one; where nothing was put into it, there is none
    /// afterwards, for the older one's charts are of another run.
    ///
    /// # Errors
    /// [`ReportError::Write`] when that fails; the older one is in its place then.
    pub fn commit(self) -> Result<Option<PathBuf>, ReportError> {
        self.put()
            .map(|is_there| is_there.then(|| self.path.clone()))
            .map_err(|source| ReportError::Write {
                path: self.path.clone(),
                source,
            })
    }

    /// Whether there is a folder in the place afterwards.
    fn put(&self) -> io::Result<bool> {
        let is_empty = fs::read_dir(&self.temporary)?.next().is_none();
        // No step may ask first and act later: what another process puts here or takes away in
        // between is found by the step itself, and whoever comes last has the place.
        loop {
            let old = self.take_old()?;
            if !is_empty && let Err(error) = fs::rename(&self.temporary, &self.path) {
                if is_taken(&error) {
                    discard(old)?;
                    continue;
                }
                // Best effort: it is the first mistake that is told.
                old.map(|old| fs::rename(old, &self.path));
                return Err(error);
            }
            discard(old)?;
            return Ok(!is_empty);
        }
    }

    /// Takes what stands in the place out of it, under a name of its own; `None` where nothing does.
    fn take_old(&self) -> io::Result<Option<PathBuf>> {
        let old = beside(&self.path);
        match fs::rename(&self.path, &old) {
            Ok(()) => Ok(Some(old)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Whether a folder could not be put in a place because something stands there.
fn is_taken(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
    matches!(
        error.kind(),
        AlreadyExists | DirectoryNotEmpty | NotADirectory
    )
}

/// Removes what was taken out of its place.
fn discard(old: Option<PathBuf>) -> io::Result<()> {
    old.map_or(Ok(()), fs::remove_dir_all)
}

impl Drop for OutputFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.temporary);
        forget(&self.temporary);
    }
}

/// The first name of something in a folder that is no chart of an earlier run: what somebody else put there.
fn stranger(folder: &Path) -> io::Result<Option<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_type()?.is_file() || !is_chart(&entry.path())? {
            found.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(found.into_iter().min())
}

/// Whether a file is a chart, under the name that it was written with.
fn is_chart(path: &Path) -> io::Result<bool> {
    /// Where charts say what they are.
    const HEAD_BYTES: u64 = 4 << 10;
    let ending = path.extension().and_then(|ending| ending.to_str());
    let (Some(stem), Some("png" | "svg")) = (path.file_stem(), ending) else {
        return Ok(false);
    };
    let mut head = Vec::new();
    File::open(path)?.take(HEAD_BYTES).read_to_end(&mut head)?;
    let mark = mark(&stem.to_string_lossy());
    Ok(contains(&head, mark.as_bytes()))
}

/// A name beside `path` that no other process of this host uses.
fn beside(path: &Path) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}-{number}.part", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put_chart(folder: &Path, name: &str) {
        let stem = name.trim_end_matches(".png");
        fs::write(folder.join(name), format!("PNG {}", mark(stem))).unwrap();
    }

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

    #[test]
    fn a_folder_replaces_the_old_one_as_a_whole() {
        let around = tempfile::tempdir().unwrap();
        let path = around.path().join("charts");
        fs::create_dir(&path).unwrap();
        put_chart(&path, "old.png");
        let folder = OutputFolder::create(&path).unwrap();
        put_chart(folder.filling(), "new.png");
        assert!(path.join("old.png").exists());
        folder.commit().unwrap();
        assert!(!path.join("old.png").exists());
        assert!(path.join("new.png").exists());
        assert_eq!(fs::read_dir(around.path()).unwrap().count(), 1);
    }

    #[test]
    fn folders_put_in_one_place_at_the_same_time_replace_each_other() {
        let around = tempfile::tempdir().unwrap();
        let path = around.path().join("charts");
        let commits = |name: &str| {
            for _ in 0..100 {
                let folder = OutputFolder::create(&path).unwrap();
                put_chart(folder.filling(), name);
                folder.commit().unwrap();
            }
        };
        std::thread::scope(|scope| {
            for name in ["1.png", "2.png", "3.png", "4.png"] {
                scope.spawn(move || commits(name));
            }
        });
        // One of them, whole, and nothing beside it.
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1);
        assert_eq!(fs::read_dir(around.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_without_charts_is_not_left() {
        let around = tempfile::tempdir().unwrap();
        let path = around.path().join("charts");
        let empty = OutputFolder::create(&path).unwrap();
        assert_eq!(empty.commit().unwrap(), None);
        assert_eq!(fs::read_dir(around.path()).unwrap().count(), 0);
        // Neither are charts of an earlier run.
        fs::create_dir(&path).unwrap();
        put_chart(&path, "old.png");
        let empty = OutputFolder::create(&path).unwrap();
        assert_eq!(empty.commit().unwrap(), None);
        assert_eq!(fs::read_dir(around.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_with_what_is_no_chart_is_left_alone() {
        let around = tempfile::tempdir().unwrap();
        let path = around.path().join("charts");
        fs::create_dir(&path).unwrap();
        put_chart(&path, "old.png");
        fs::write(path.join("notes.txt"), "mine").unwrap();
        let refused = OutputFolder::create(&path).unwrap_err().to_string();
        assert!(
            refused.contains("'notes.txt' in it is no chart"),
            "{refused}"
        );
        assert_eq!(fs::read_dir(around.path()).unwrap().count(), 1);
        fs::remove_file(path.join("notes.txt")).unwrap();
        OutputFolder::create(&path).unwrap();
        // A picture of somebody's own, and a chart under a name that somebody gave it.
        for (name, bytes) in [
            ("figure.png", "PNG".to_owned()),
            ("best.png", format!("PNG {}", mark("old"))),
        ] {
            fs::write(path.join(name), bytes).unwrap();
            let refused = OutputFolder::create(&path).unwrap_err().to_string();
            assert!(refused.contains(name), "{refused}");
            fs::remove_file(path.join(name)).unwrap();
        }
        let file = around.path().join("file");
        fs::write(&file, "").unwrap();
        let refused = OutputFolder::create(&file).unwrap_err().to_string();
        assert!(refused.contains("a file stands where"), "{refused}");
    }
}
