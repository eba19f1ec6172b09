//! Where things are, and small tools that several modules need.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use ccanalyze::Analysis;
use ccanalyze::analyze::{CaptureInput, Config, Watch};
use ccanalyze::capture::CaptureSource;
use ccanalyze::table::Tables;
use polars::prelude::{CsvWriter, DataFrame, SerWriter};

use super::wire::{Format, Packet, tcp4};

mod records;
pub(crate) use records::{
    FILE_HEADER, RECORD_HEADER, field, later, records, records_mut, snapped, with_records,
};

/// The folder of the crate, as cargo tells it when tests are run: a test that was built in one
/// checkout may be run in another one, where both share a target folder.
pub(crate) fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from("."), PathBuf::from)
    });
    &ROOT
}

/// A capture of `testdata/captures`.
pub(crate) fn capture(name: &str) -> PathBuf {
    root().join("testdata/captures").join(name)
}

/// All captures of `testdata/captures`, by name.
pub(crate) fn captures() -> Vec<PathBuf> {
    let mut paths = files_below(&root().join("testdata/captures"));
    paths.sort();
    assert!(!paths.is_empty(), "testdata/captures is empty");
    paths
}

/// A folder of captures that are too many to be shipped: beside the crate, in `../shared`, or where
/// `CCANALYZE_SHARED` says. `None`, with a note, where nothing is beside the crate and nobody says where; where
/// something is, all of it is to be there.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let asked_for = std::env::var_os("CCANALYZE_SHARED").map(PathBuf::from);
    let is_asked_for = asked_for.is_some();
    let all = asked_for.unwrap_or_else(|| root().join("../shared"));
    let folder = all.join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(
        !is_asked_for && !all.exists(),
        "{} is not there, and {} is where captures are",
        folder.display(),
        all.display()
    );
    eprintln!(
        "note: {} is not there, nothing was compared",
        folder.display()
    );
    None
}

/// The same for what names it as it stands beside the crate: the manifests of `examples/studies`. `None`, with a note,
/// also where it is elsewhere.
pub(crate) fn shared_beside(name: &str) -> Option<PathBuf> {
    let folder = shared(name)?;
    if folder.starts_with(root()) {
        return Some(folder);
    }
    eprintln!(
        "note: {} is not beside the crate, nothing was compared",
        folder.display()
    );
    None
}

/// Every regular file in a folder and the folders in it.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            paths.extend(files_below(&path));
        } else if path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    paths
}

/// A table as text: equal texts are equal tables.
pub(crate) fn csv(table: &mut DataFrame) -> String {
    let mut bytes = Vec::new();
    CsvWriter::new(&mut bytes).finish(table).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The flows table of capture bytes that are called `capture`, whatever they came from.
pub(crate) fn flows_of(bytes: Vec<u8>) -> String {
    csv(&mut tables_of(bytes).flows)
}

/// All tables of capture bytes.
pub(crate) fn tables_of(bytes: Vec<u8>) -> Tables {
    let reader = Box::new(std::io::Cursor::new(bytes));
    let name = "capture".to_owned();
    let input = CaptureInput {
        name: name.clone(),
        sources: vec![CaptureSource::Reader { name, reader }],
    };
    let config = Config::default();
    let analysis = Analysis::run(vec![input], &config, &Watch::default());
    for capture in &analysis.captures {
        assert!(capture.errors.is_empty(), "{:?}", capture.errors);
    }
    Tables::of(&analysis, &config)
}

/// Panics where a value is further from what is expected than `relative` of that.
#[track_caller]
pub(crate) fn close(value: f64, expected: f64, relative: f64) {
    assert!(
        (value - expected).abs() <= relative * expected.abs(),
        "{value:e} is not {expected:e}"
    );
}

/// Raw IP, with microseconds.
pub(crate) const RAW_US: Format = Format {
    tick_ns: 1000,
    ..Format::RAW
};

/// A pcap file of raw IPv4: so many connections, all alive at the same time, one way only, of which
/// each sends 10 bytes in each of so many seconds.
pub(crate) fn connections(connections: u16, seconds: u32) -> Vec<u8> {
    let packet = |second: u32, port: u16| {
        let at_us = i64::from(second) * 1_000_000 + i64::from(port);
        let ends = [([10, 0, 0, 1], 1000 + port), ([10, 0, 0, 2], 80)];
        let mut bytes = tcp4(ends, [1 + 10 * second, 0], 0x18, 10);
        bytes.resize(50, 0);
        Packet::ipv4(at_us * 1000, bytes)
    };
    let of_second = |second| (0..connections).map(move |port| packet(second, port));
    RAW_US.file((0..seconds).flat_map(of_second))
}
