//! The dependencies keep to the policy of `deny.toml`: licences, doubles, who may reach a network,
//! where they come from. Offline, from what Cargo has fetched already.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use super::support::{files_below, root};

/// A package that a build or a test here takes in.
struct Package {
    name: String,
    version: String,
    licence: String,
}

/// All of them, and none that is only optional: by Cargo's own word.
fn packages() -> Vec<Package> {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--locked",
            "--edges",
            "normal,build,dev",
        ])
        .args(["--target", "x86_64-unknown-linux-gnu", "--prefix", "none"])
        .args(["--format", "{p}|{l}|"])
        .current_dir(root())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let packages: Vec<Package> = lines
        .lines()
        .filter_map(|line| {
            // `name v1.2.3 (path or remark)|licence|`, and a mark where it was listed before.
            let (package, rest) = line.split_once('|')?;
            let mut words = package.split(' ');
            Some(Package {
                name: words.next()?.to_owned(),
                version: words.next()?.trim_start_matches('v').to_owned(),
                licence: rest.split('|').next()?.to_owned(),
            })
        })
        .collect();
    assert!(packages.len() > 100, "cargo tree lists packages: {lines}");
    packages
}

/// The strings of the list `name` of deny.toml, a line each.
fn policy(name: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join("deny.toml")).unwrap();
    let start = format!("{name} = [");
    text.lines()
        .skip_while(|line| *line != start)
        .skip(1)
        .take_while(|line| *line != "]")
        .map(str::to_owned)
        .collect()
}

/// What stands in quotes, by place.
fn quoted(line: &str) -> Vec<&str> {
    line.split('"').skip(1).step_by(2).collect()
}

#[test]
fn every_licence_is_one_of_those_allowed() {
    let lines = policy("allow");
    let allowed: BTreeSet<&str> = lines.iter().flat_map(|line| quoted(line)).collect();
    assert!(allowed.contains("MIT"), "deny.toml was read");
    for package in packages() {
        assert!(
            permits(&package.licence, &allowed),
            "{} {}: licence '{}' is not allowed by deny.toml",
            package.name,
            package.version,
            package.licence
        );
    }
}

/// Whether an expression (SPDX, or the older `MIT/Apache-2.0`) can be met: `and` binds closer than
/// `or`, and parentheses do not lie within parentheses in any licence we know.
fn permits(licence: &str, allowed: &BTreeSet<&str>) -> bool {
    // What stands in parentheses becomes a licence that is allowed, or one that is not.
    if let Some((before, rest)) = licence.split_once('(')
        && let Some((inner, after)) = rest.split_once(')')
    {
        let word = if permits(inner, allowed) {
            "MIT"
        } else {
            "none"
        };
        return permits(&format!("{before}{word}{after}"), allowed);
    }
    licence.replace('/', " OR ").split(" OR ").any(|choice| {
        choice
            .split(" AND ")
            .all(|each| allowed.contains(each.trim()))
    })
}

#[test]
fn licence_expressions_are_read_as_they_are_meant() {
    let allowed = BTreeSet::from(["MIT", "ISC"]);
    for (licence, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("MIT AND GPL-3.0", false),
        ("MIT AND ISC", true),
        ("(GPL-3.0 OR MIT) AND ISC", true),
        ("(GPL-3.0 OR MIT) AND GPL-2.0", false),
        ("", false),
    ] {
        assert_eq!(permits(licence, &allowed), expected, "{licence}");
    }
}

#[test]
fn two_versions_of_a_crate_are_listed_with_the_reason() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages() {
        let versions = versions.entry(package.name).or_default();
        versions.insert(package.version);
    }
    let lines = policy("skip");
    let mut listed: BTreeSet<&str> = BTreeSet::new();
    for line in &lines {
        let [name, reason] = quoted(line)[..] else {
            panic!("a crate and a reason: {line}");
        };
        assert!(!reason.is_empty(), "{line}");
        listed.insert(name);
    }
    for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
        let left: Vec<&String> = versions
            .iter()
            .filter(|version| !listed.remove(format!("{name}@{version}").as_str()))
            .collect();
        assert!(
            left.len() <= 1,
            "{name} comes in versions {left:?}: bring them together, or list all but one in deny.toml with the reason"
        );
    }
    assert!(
        listed.is_empty(),
        "no longer there twice, take it out of deny.toml: {listed:?}"
    );
}

#[test]
fn nothing_that_opens_connections_is_taken_in() {
    let lines = policy("deny");
    let denied: BTreeSet<&str> = lines.iter().flat_map(|line| quoted(line)).collect();
    assert!(denied.contains("reqwest"), "deny.toml was read");
    for package in packages() {
        let name = package.name.as_str();
        assert!(!denied.contains(name), "deny.toml does not allow {name}");
    }
    // And our own code opens none.
    for path in files_below(&root().join("src")) {
        let code = fs::read_to_string(&path).unwrap();
        for word in ["TcpStream", "TcpListener", "UdpSocket", "UnixStream"] {
            assert!(!code.contains(word), "{}: {word}", path.display());
        }
    }
}

#[test]
fn everything_comes_from_crates_io_with_a_checksum() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    for package in lock.split("[[package]]").skip(1) {
        if package.contains("name = \"ccanalyze\"") {
            continue;
        }
        let from = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";
        assert!(
            package.contains(from) && package.contains("checksum = "),
            "{package}"
        );
    }
}
