//! The truth suite: TCP connections played along a path from readable scripts, so that for every
//! packet at every vantage point it is known what became of it (`testdata/suite/README.md`).

pub(crate) mod host;
pub(crate) mod parse;
pub(crate) mod play;
pub(crate) mod script;
pub(crate) mod sender;
pub(crate) mod truth;
pub(crate) mod wire;

use std::fs;
use std::io;
use std::path::Path;

use script::Script;

/// All traces of a folder, by name.
pub(crate) fn load(folder: &Path) -> io::Result<Vec<Script>> {
    let mut paths: Vec<_> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|end| end == "trace"));
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let name = path
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned())
                .unwrap_or_default();
            parse::script(&name, &fs::read_to_string(path)?)
                .map_err(|error| io::Error::other(format!("{name}: {error}")))
        })
        .collect()
}
