//! Folders of charts, which replace an older one as a whole.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::begun::{begin, beside, forget, hold};
use super::contains;
use crate::report::ReportError;
use crate::report::chart::{ChartError, mark};

/// A folder of charts being made: filled under a name of its own, then put in the place of the old.
#[derive(Debug)]
pub struct OutputFolder {
    path: PathBuf,
    part: PathBuf,
    /// Says that somebody is at work on it.
    _held: Option<File>,
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
        let (part, ()) =
            begin(path, |part| fs::create_dir(part)).map_err(|source| ReportError::Write {
                path: path.to_path_buf(),
                source,
            })?;
        Ok(Self {
            path: path.to_path_buf(),
            _held: hold(&part),
            part,
        })
    }

    /// Where to put the files.
    #[must_use]
    pub fn filling(&self) -> &Path {
        &self.part
    }

    /// What kept a chart from being written, by the name that it would have got: nobody knows that of the folder being
    /// filled.
    #[must_use]
    pub fn failed(&self, error: ChartError) -> ChartError {
        let path = match error.path.strip_prefix(&self.part) {
            Ok(name) if name.as_os_str().is_empty() => self.path.clone(),
            Ok(name) => self.path.join(name),
            Err(_) => error.path,
        };
        ChartError { path, ..error }
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
        let is_empty = fs::read_dir(&self.part)?.next().is_none();
        // No step may ask first and act later: what another process puts here or takes away in
        // between is found by the step itself, and whoever comes last has the place.
        loop {
            let old = self.take_old()?;
            if !is_empty && let Err(error) = fs::rename(&self.part, &self.path) {
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
        let _ = fs::remove_dir_all(&self.part);
        forget(&self.part);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn put_chart(folder: &Path, name: &str) {
        let stem = name.trim_end_matches(".png");
        fs::write(folder.join(name), format!("PNG {}", mark(stem))).unwrap();
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
