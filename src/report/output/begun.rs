//! What has been begun and is not complete, so that nothing of it is left behind.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long what is left behind has to have lain there: who begins something holds a lock on it a moment later.
const LEFT_MIN: Duration = Duration::from_mins(1);

static BEGUN: Mutex<Begun> = Mutex::new(Begun {
    parts: Vec::new(),
    folders: Vec::new(),
    left: BTreeMap::new(),
});

struct Begun {
    /// Files and folders under names of their own.
    parts: Vec<PathBuf>,
    /// Folders that were made for these, inner ones after outer ones.
    folders: Vec<PathBuf>,
    /// The parts that lay in a folder when the first one of this process was begun in it.
    left: BTreeMap<PathBuf, Vec<OsString>>,
}

fn begun() -> MutexGuard<'static, Begun> {
    BEGUN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes everything that was begun and is not complete, for a process that ends at once.
pub fn abandon() {
    let mut begun = begun();
    for part in std::mem::take(&mut begun.parts) {
        // What has been put in its place, or was never filled, is not there any more.
        let _ = fs::remove_file(&part).or_else(|_| fs::remove_dir_all(&part));
    }
    begun.remove_empty_folders();
    // Until the process ends nobody begins anything more.
    std::mem::forget(begun);
}

/// Makes something beside `path` under a name that nobody uses, whatever other processes left
/// there; the folder around it, too, where it is not there.
pub(super) fn begin<T>(
    path: &Path,
    make: impl Fn(&Path) -> io::Result<T>,
) -> io::Result<(PathBuf, T)> {
    // Held while it is made: a signal finds all that is there.
    let mut begun = begun();
    begun.remove_left(path);
    let mut folder = path.parent();
    loop {
        let part = beside(path);
        match make(&part) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => match folder.take() {
                Some(folder) => begun.make(folder)?,
                None => return Err(error),
            },
            Err(error) => return Err(error),
            Ok(made) => {
                begun.parts.push(part.clone());
                return Ok((part, made));
            }
        }
    }
}

/// Something begun is complete or given up.
pub(super) fn forget(part: &Path) {
    let mut begun = begun();
    begun.parts.retain(|path| path != part);
    begun.remove_empty_folders();
}

impl Begun {
    fn make(&mut self, folder: &Path) -> io::Result<()> {
        let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let missing: Vec<&Path> = folder.ancestors().take_while(is_missing).collect();
        let missing = missing.into_iter().rev().map(Path::to_path_buf);
        self.folders.extend(missing);
        let made = fs::create_dir_all(folder);
        if made.is_err() {
            self.remove_empty_folders();
        }
        made
    }

    /// Removes folders that were made for what was given up since; others stay, and what is in them.
    fn remove_empty_folders(&mut self) {
        let mut kept = Vec::new();
        while let Some(folder) = self.folders.pop() {
            // It may be empty all the same, as what is to be in `new/../a.csv` is beside it.
            if self.parts.iter().any(|part| part.starts_with(&folder)) {
                kept.push(folder);
                continue;
            }
            match fs::remove_dir(&folder) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(_) => kept.push(folder),
            }
        }
        kept.reverse();
        self.folders = kept;
    }

    /// Removes parts of `path` whose process is gone, as one that was killed left them.
    fn remove_left(&mut self, path: &Path) {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return;
        };
        let left = self.left.entry(folder.to_path_buf());
        let left = left.or_insert_with(|| parts_in(folder));
        for part in left.iter().filter(|part| is_part_of(part, name)) {
            let part = path.with_file_name(part);
            if is_left(&part) {
                let _ = fs::remove_file(&part).or_else(|_| fs::remove_dir_all(&part));
            }
        }
    }
}

/// A name beside `path` that no other process of this host uses.
pub(super) fn beside(path: &Path) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}-{number}.part", std::process::id()));
    path.with_file_name(name)
}

/// Whether a name is one that [`beside`] makes of another.
fn is_part_of(part: &OsStr, name: &OsStr) -> bool {
    let part = part.as_encoded_bytes().strip_prefix(b".");
    let rest = part.and_then(|part| part.strip_prefix(name.as_encoded_bytes()));
    let numbers = rest.and_then(|rest| rest.strip_prefix(b".")?.strip_suffix(b".part"));
    numbers.is_some_and(|numbers| {
        numbers
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b'-')
    })
}

/// The names in a folder that end as those of parts do.
fn parts_in(folder: &Path) -> Vec<OsString> {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name());
    names
        .filter(|name| name.as_encoded_bytes().ends_with(b".part"))
        .collect()
}

/// Whether nobody is at work on a part: it has lain there for a while, and its lock is free.
fn is_left(part: &Path) -> bool {
    let written = fs::metadata(part).and_then(|part| part.modified());
    let age = written.ok().and_then(|written| written.elapsed().ok());
    age.is_some_and(|age| age >= LEFT_MIN) && hold(part).is_some()
}

/// The lock of a part, which is held for as long as what is returned is there; `None` where another
/// process holds it, the file system knows no locks, or the system lets nobody write what is locked.
pub(super) fn hold(part: &Path) -> Option<File> {
    let part = File::open(part).ok().filter(|_| cfg!(unix))?;
    part.try_lock().ok()?;
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets a file be so much older than it is.
    fn age(path: &Path, age: Duration) {
        let file = File::open(path).unwrap();
        let modified = file.metadata().unwrap().modified().unwrap();
        file.set_modified(modified - age).unwrap();
    }

    #[test]
    fn what_a_killed_process_left_is_removed_by_the_next_one() {
        let around = tempfile::tempdir().unwrap();
        let at = |name: &str| around.path().join(name);
        let old = LEFT_MIN + Duration::from_secs(1);
        for name in [
            ".r.csv.123-4.part",
            ".r.csv.123-5.part",
            ".r.csv.123-6.part",
            ".other.csv.123-4.part",
            ".r.csv.notes.part",
            "r.csv.123-4.part",
        ] {
            fs::write(at(name), "x").unwrap();
            // One is of now.
            if name != ".r.csv.123-5.part" {
                age(&at(name), old);
            }
        }
        fs::create_dir(at(".r.csv.99-0.part")).unwrap();
        fs::write(at(".r.csv.99-0.part").join("a.png"), "x").unwrap();
        age(&at(".r.csv.99-0.part"), old);
        // And one of somebody who is at work still.
        let held = hold(&at(".r.csv.123-6.part")).unwrap();
        let (part, file) = begin(&at("r.csv"), |part| File::create_new(part)).unwrap();
        assert!(!at(".r.csv.123-4.part").exists());
        assert!(!at(".r.csv.99-0.part").exists());
        for stays in [
            ".r.csv.123-5.part",
            ".r.csv.123-6.part",
            ".other.csv.123-4.part",
            ".r.csv.notes.part",
            "r.csv.123-4.part",
        ] {
            assert!(at(stays).exists(), "{stays}");
        }
        drop((held, file));
        fs::remove_file(&part).unwrap();
        forget(&part);
    }

    #[test]
    fn a_folder_stays_as_long_as_the_way_to_a_part_leads_through_it() {
        let around = tempfile::tempdir().unwrap();
        let at = |name: &str| around.path().join(name);
        let make = |path: &Path| File::create_new(path).map(drop);
        let names = ["new/../one.csv", "new/../two.csv"];
        let parts = names.map(|name| begin(&at(name), make).unwrap().0);
        for (part, name) in parts.iter().zip(names) {
            fs::rename(part, at(name)).unwrap();
            forget(part);
        }
        assert!(at("one.csv").exists() && at("two.csv").exists());
        assert!(!at("new").exists());
    }

    #[test]
    fn folders_made_for_what_is_given_up_go_with_it() {
        let around = tempfile::tempdir().unwrap();
        let at = |name: &str| around.path().join(name);
        let make = |path: &Path| File::create_new(path).map(drop);
        let (one, ()) = begin(&at("a/b/c/one.csv"), make).unwrap();
        let (other, ()) = begin(&at("a/other.csv"), make).unwrap();
        fs::remove_file(&one).unwrap();
        forget(&one);
        assert!(!at("a/b").exists());
        // This one was put in its place.
        fs::rename(&other, at("a/other.csv")).unwrap();
        forget(&other);
        assert!(at("a/other.csv").exists());
        // Nor does an empty one go that was there before.
        fs::create_dir(at("mine")).unwrap();
        let (part, ()) = begin(&at("mine/r.csv"), make).unwrap();
        fs::remove_file(&part).unwrap();
        forget(&part);
        assert!(at("mine").exists());
    }
}
