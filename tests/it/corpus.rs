//! Whatever a file holds, it gives a result or an error.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use ccanalyze::Analysis;
use ccanalyze::analyze::Config;
use ccanalyze::table::Tables;

use super::support::{captures, files_below, shared};

#[test]
fn no_capture_of_the_corpus_makes_the_program_panic() {
    let Some(folder) = shared("corpus") else {
        return;
    };
    check(&files_below(&folder));
}

/// Each capture of testdata, cut at many places and with bytes turned over.
#[test]
fn no_damage_makes_the_program_panic() {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for path in captures() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        for eighth in 1..8 {
            let mut damaged = bytes.clone();
            for at in (eighth * 37..damaged.len()).step_by(damaged.len() / 8 + 1) {
                damaged[at] ^= 0xff;
            }
            damaged.truncate(bytes.len() * eighth / 8 + eighth);
            let path = folder.path().join(format!("{eighth}-{name}"));
            std::fs::write(&path, damaged).unwrap();
            paths.push(path);
        }
    }
    check(&paths);
}

fn check(paths: &[PathBuf]) {
    assert!(!paths.is_empty());
    let panicked: Vec<&PathBuf> = paths
        .iter()
        .filter(|path| catch_unwind(AssertUnwindSafe(|| analyse(path))).is_err())
        .collect();
    assert!(panicked.is_empty(), "panics on {panicked:#?}");
}

fn analyse(path: &Path) {
    let config = Config {
        segments: true,
        ..Config::default()
    };
    let analysis = Analysis::of([path], &config);
    let capture = &analysis.captures[0];
    assert_eq!(
        capture.records,
        capture.tcp_records + capture.skipped.total()
    );
    assert_eq!(Tables::of(&analysis, &config).captures.height(), 1);
}
