//! The layout of ARCHITECTURE.md holds: rooms use rooms above them, and foreign crates stay home.

use std::fs;
use std::path::Path;

use super::support::{files_below, root};

/// The rooms, each of which may use those before it.
const ROOMS: &[&str] = &[
    "packing", "prefetch", "time", "seq", "capture", "decode", "event", "track", "flow", "metric",
    "observe", "analyze", "path", "study", "table", "report", "cli",
];

/// The files in which a foreign crate may be named: those whose path begins so. Crates without
/// any are at home everywhere.
const HOMES: &[(&str, &[&str])] = &[
    ("pcap_parser", &["capture"]),
    ("flate2", &["capture", "report/chart"]),
    ("zstd", &["capture", "report/tables/packed"]),
    ("liblzma", &["capture"]),
    ("lz4_flex", &["capture"]),
    ("memchr", &["capture"]),
    ("memmap2", &["capture/mapping"]),
    ("nix", &["capture/pipe"]),
    ("libc", &["capture/mapping", "capture/pipe"]),
    ("etherparse", &["decode"]),
    ("bytemuck", &["flow"]),
    (
        "foldhash",
        &[
            "analyze/directions",
            "decode/fragments",
            "flow",
            "path",
            "report/chart/bitmap",
            "report/chart/font",
            "report/chart/label",
            "report/tables/packed",
            "table/packed",
        ],
    ),
    ("statrs", &["metric/stats/distribution"]),
    (
        "thin_vec",
        &[
            "flow/table",
            "observe/dispersion",
            "observe/quantiles",
            "track/half",
            "track/handshake",
            "track/old_copies",
            "track/scoreboard",
            "track/turns",
        ],
    ),
    ("rayon", &["analyze", "report/chart", "report/tables"]),
    ("csv", &["study/import"]),
    (
        "polars",
        &["study/import/parquet", "table", "report/tables"],
    ),
    ("polars_parquet", &["report/tables"]),
    ("plotters", &["report/chart"]),
    ("png", &["report/chart"]),
    ("tiny_skia", &["report/chart"]),
    ("base64", &["report/html"]),
    ("ab_glyph", &["report/chart"]),
    ("comfy_table", &["report/terminal"]),
    ("terminal_size", &["report/terminal"]),
    ("clap", &["cli", "main"]),
    ("clap_complete", &["cli"]),
    ("clap_mangen", &["cli/manuals"]),
    ("anyhow", &["cli", "report/terminal"]),
    ("ctrlc", &["cli/interrupt"]),
    ("signal_hook", &["cli/interrupt"]),
    ("mimalloc", &["main"]),
    ("indicatif", &["cli"]),
    ("regex", &["study/template"]),
    ("serde", &["study/cache", "study/import"]),
    ("serde_json", &["cli", "study/cache", "study/import"]),
    ("strsim", &["study/manifest"]),
    ("toml", &["study/manifest"]),
    ("thiserror", &[]),
];

/// What only some rooms may touch of the standard library.
const OUTSIDE_WORLD: &[(&str, &[&str])] = &[
    (
        "File::open",
        &["capture", "study/cache", "study/import", "report/output"],
    ),
    (
        "fs::read",
        &[
            "capture",
            "study",
            "report/output",
            "report/study",
            "cli/interrupt",
        ],
    ),
    (
        "std::fs",
        &[
            "capture",
            "study",
            "report/output",
            "report/chart",
            "report/study",
            "cli/interrupt",
        ],
    ),
    ("std::env", &["report/terminal", "cli", "study/cache"]),
    (
        "std::time",
        &["capture/cost", "cli", "report/output", "study/cache"],
    ),
    ("println!", &["report/terminal"]),
];

#[test]
fn the_documented_rooms_are_these_in_this_order_with_their_crates() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, section) = text.split_once("## Rooms").unwrap();
    let rows: Vec<(&str, &str)> = section
        .lines()
        .take_while(|line| !line.starts_with("## "))
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .collect();
    let rooms: Vec<&str> = rows.iter().map(|&(room, _)| room).collect();
    assert_eq!(rooms, ROOMS);
    for (crate_name, homes) in HOMES {
        let name = crate_name.replace('_', "-");
        for home in *homes {
            let room = home.split('/').next().unwrap();
            // What only puts rooms together has no row.
            let row = rows.iter().find(|&&(other, _)| other == room);
            assert!(
                row.is_none_or(|(_, row)| row.contains(&name) || row.contains(crate_name)),
                "{name} is at home in {room}, whose row does not say so"
            );
        }
    }
}

#[test]
fn what_the_architecture_names_is_there() {
    let texts = ["ARCHITECTURE.md", "docs/DESIGN.md"];
    let text = texts.map(|name| fs::read_to_string(root().join(name)).unwrap());
    let text = text.concat();
    let files: Vec<_> = files_below(&root().join("src"))
        .iter()
        .map(|path| (name_of(path), code_of(path)))
        .collect();
    let declares = |code: &str, name: &str| {
        let begins = [
            "impl",
            "pub struct",
            "pub(super) struct",
            "struct",
            "pub trait",
            "pub enum",
        ];
        code.lines()
            .map(str::trim_start)
            .any(|line| begins.iter().any(|begin| line.starts_with(begin)) && names(line, name))
    };
    let is_there = |name: &str| match name.strip_suffix(".rs") {
        Some(file) => {
            let end = format!("/{file}");
            root().join(name).exists() || files.iter().any(|(file, _)| file.ends_with(&end))
        }
        None => match name.split_once("::") {
            Some((of, what)) => files
                .iter()
                .any(|(_, code)| declares(code, of) && names(code, what)),
            None => files.iter().any(|(_, code)| names(code, name)),
        },
    };
    // What the system calls its own.
    let foreign = ["MADV_POPULATE_READ", "SIGBUS"];
    let is_name = |name: &&str| {
        let code = name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_:".contains(c));
        name.strip_suffix(".rs").is_some()
            || code && name.starts_with(|c: char| c.is_ascii_uppercase())
    };
    let named: Vec<&str> = text.split('`').skip(1).step_by(2).filter(is_name).collect();
    assert!(named.len() > 200, "{}", named.len());
    let faults: Vec<_> = named
        .into_iter()
        .filter(|name| !foreign.contains(name) && !is_there(name))
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_room_uses_only_rooms_above_it() {
    let mut faults = Vec::new();
    for (file, code) in sources() {
        let Some(room) = room_of(&file) else {
            continue;
        };
        for used in crate_names(&code) {
            // What lib.rs hands on under a shorter name.
            let used = if used == "Analysis" { "analyze" } else { used };
            let Some(place) = place(used) else {
                faults.push(format!("{file}: crate::{used} is in no room"));
                continue;
            };
            if place > room {
                faults.push(format!("{file}: uses {used}, which is below it"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn foreign_crates_are_named_only_at_home() {
    let mut faults = Vec::new();
    for (file, code) in sources() {
        for &(name, homes) in HOMES {
            if names(&code, &format!("{name}::")) && !is_home(&file, homes) {
                faults.push(format!("{file}: names {name}"));
            }
        }
        for &(name, homes) in OUTSIDE_WORLD {
            if names(&code, name) && !is_home(&file, homes) {
                faults.push(format!("{file}: uses {name}"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// The compiler denies `unsafe` wherever the lint is not lifted by name; so where it is lifted counts.
#[test]
fn unsafe_is_in_two_files() {
    let faults: Vec<_> = sources()
        .into_iter()
        .filter(|(file, code)| {
            names(code, "unsafe_code") && !["capture/mapping", "prefetch"].contains(&file.as_str())
        })
        .map(|(file, _)| file)
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_dependency_has_a_home() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let mut is_list = false;
    let mut names = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            // Those of some systems, too, but not those of tests.
            is_list = line == "[dependencies]" || line.ends_with(".dependencies]");
        } else if let Some((name, _)) = line.split_once(" =").filter(|_| is_list) {
            names.push(name.replace('-', "_"));
        }
    }
    assert!(
        ["nix", "ctrlc", "rayon"]
            .iter()
            .all(|known| names.iter().any(|name| name == known))
    );
    for name in names {
        assert!(
            HOMES.iter().any(|&(home, _)| home == name),
            "{name} is in Cargo.toml, but no room is its home"
        );
    }
}

/// Every file of `src/` without comments and tests, by its path in `src/` without ending.
fn sources() -> Vec<(String, String)> {
    let src = root().join("src");
    files_below(&src)
        .iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .map(|path| (name_of(path.strip_prefix(&src).unwrap()), code_of(path)))
        .filter(|(file, _)| !file.split('/').any(|part| part == "tests"))
        .collect()
}

fn name_of(path: &Path) -> String {
    path.with_extension("").to_string_lossy().replace('\\', "/")
}

/// The lines of a file that are neither comments nor its tests, which stand at its end.
fn code_of(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let code = text
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The place of a file's room; `None` for lib.rs and main.rs, which only put rooms together.
fn room_of(file: &str) -> Option<usize> {
    let room = file.split('/').next().unwrap_or(file);
    if room == "lib" || room == "main" {
        return None;
    }
    Some(place(room).unwrap_or_else(|| panic!("{file} is in no room")))
}

fn place(room: &str) -> Option<usize> {
    ROOMS.iter().position(|&name| name == room)
}

/// What stands behind each `crate::`.
fn crate_names(code: &str) -> Vec<&str> {
    assert!(!code.contains("crate::{"), "one `use crate::` a room");
    code.split("crate::")
        .skip(1)
        .map(|rest| {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
            &rest[..end.unwrap_or(rest.len())]
        })
        .collect()
}

/// Whether `what` is in `code`, not as the end of a longer name.
fn names(code: &str, what: &str) -> bool {
    code.match_indices(what).any(|(at, _)| {
        let before = code[..at].chars().next_back().unwrap_or(' ');
        !(before.is_alphanumeric() || before == '_' || (before == ':' && !what.contains("std")))
            || what == "fs::read" && code[..at].ends_with("std::")
    })
}

fn is_home(file: &str, homes: &[&str]) -> bool {
    homes.is_empty() || homes.iter().any(|home| file.starts_with(home))
}
