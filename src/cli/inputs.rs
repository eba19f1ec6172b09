//! What is read of captures, and which of their packets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::decode::{DecodeOptions, Filter, TunnelLayer};

/// The filter of `--filter`.
pub(super) fn filter(expression: Option<&str>) -> anyhow::Result<Option<Filter>> {
    let parse = |expression: &str| {
        Filter::parse(expression).with_context(|| format!("--filter '{expression}'"))
    };
    expression.map(parse).transpose()
}

/// How records are decoded with and without `--outer`.
pub(super) fn decode_options(outer: bool) -> DecodeOptions {
    DecodeOptions {
        layer: if outer {
            TunnelLayer::Outermost
        } else {
            TunnelLayer::Innermost
        },
    }
}

/// A file that is given twice.
pub(super) struct Twice<'a> {
    /// As it is written the second time.
    pub(super) path: &'a Path,
    /// Whether both are in one group of files.
    pub(super) is_one_group: bool,
}

/// What two names of one file have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum FileId {
    /// Its device and its number there, which hard links share.
    #[cfg(unix)]
    Inode(u64, u64),
    /// Its name without links.
    #[cfg(not(unix))]
    Name(PathBuf),
}

impl FileId {
    /// `None` of what is not there.
    fn of(path: &Path) -> Option<Self> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let is_stdin = path == Path::new("-");
            let path = if is_stdin {
                Path::new("/dev/stdin")
            } else {
                path
            };
            let there = path.metadata().ok()?;
            Some(Self::Inode(there.dev(), there.ino()))
        }
        #[cfg(not(unix))]
        path.canonicalize().ok().map(Self::Name)
    }
}

/// The first file of some groups that is given twice, however it is written.
pub(super) fn given_twice<'a>(groups: impl Iterator<Item = &'a [PathBuf]>) -> Option<Twice<'a>> {
    let mut seen: BTreeMap<FileId, usize> = BTreeMap::new();
    let files = groups
        .enumerate()
        .flat_map(|(group, files)| files.iter().map(move |path| (group, path)));
    for (group, path) in files {
        // What is not there is said when it is opened.
        let Some(file) = FileId::of(path) else {
            continue;
        };
        if let Some(earlier) = seen.insert(file, group) {
            return Some(Twice {
                path,
                is_one_group: earlier == group,
            });
        }
    }
    None
}
