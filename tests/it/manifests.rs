//! Manifests that are damaged, hostile or absurd: said what is wrong with them, on which line, and no
//! harm done.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use ccanalyze::study::StudyPlan;

use super::cli::{names, run};
use super::noise::Noise;
use super::support::{capture, root};

/// Words that manifests are made of, and some that they are broken with.
fn words() -> Vec<String> {
    let dictionary = fs::read_to_string(root().join("fuzz/dictionaries/manifest.dict")).unwrap();
    dictionary
        .lines()
        .filter_map(|line| line.strip_prefix('"')?.strip_suffix('"'))
        .map(|word| {
            word.replace("\\x0a", "\n")
                .replace("\\\"", "\"")
                .replace("\\\\", "\\")
        })
        .collect()
}

/// The manifests to begin with: those of the examples, and one that uses every section.
fn seeds() -> Vec<String> {
    let mut files: Vec<_> = fs::read_dir(root().join("examples/studies"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    files.sort();
    let mut seeds: Vec<String> = files
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    seeds.extend(
        fs::read_to_string(root().join("README.md"))
            .unwrap()
            .split("```toml\n")
            .skip(1)
            .filter_map(|rest| Some(rest.split("```").next()?.to_owned())),
    );
    seeds
}

/// Puts words in, takes parts out, repeats them, flips bytes.
fn mutate(text: &str, words: &[String], noise: &mut Noise) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=noise.below(6) {
        let (a, b) = (noise.below(bytes.len() + 1), noise.below(40));
        let b = (a + b).min(bytes.len());
        match noise.below(6) {
            0 => drop(bytes.splice(a..a, words[noise.below(words.len())].bytes())),
            1 => drop(bytes.splice(a..b, words[noise.below(words.len())].bytes())),
            2 => drop(bytes.drain(a..b)),
            3 => {
                let part = bytes[a..b].to_vec();
                let to = noise.below(bytes.len() + 1);
                bytes.splice(to..to, part);
            }
            4 => bytes.truncate(a),
            _ => {
                if let Some(byte) = bytes.get_mut(a) {
                    *byte = noise.below(256) as u8;
                }
            }
        }
    }
    bytes
}

/// Reads that many mutants of each seed, beside a capture that some of them name.
fn mutants_are_read_or_refused(each: usize) {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(
        capture("drop-one.pcap"),
        folder.path().join("cubic_20m_1.pcap"),
    )
    .unwrap();
    let path = folder.path().join("study.toml");
    let before = names(folder.path());
    let (words, mut noise) = (words(), Noise(0x2545_f491_4f6c_dd1d));
    let (mut plans, mut refused) = (0, 0);
    for seed in seeds() {
        let lines = seed.lines().count();
        for _ in 0..each {
            // The folders of the seeds are not looked into: they are large, and not always there.
            let seed = seed.replace("folder = ", "name = ");
            let bytes = mutate(&seed, &words, &mut noise);
            fs::write(&path, &bytes).unwrap();
            match StudyPlan::read(&path) {
                Ok(_) => plans += 1,
                Err(error) => {
                    refused += 1;
                    let text = error.to_string();
                    assert!(!text.is_empty());
                    let most = String::from_utf8_lossy(&bytes).split('\n').count();
                    for mistake in &error.mistakes {
                        assert!(
                            (1..=most).contains(&mistake.line),
                            "{} of {lines}: {text}",
                            mistake.line
                        );
                    }
                }
            }
        }
    }
    assert!(refused > each && plans + refused > 0, "{plans} {refused}");
    assert_eq!(
        names(folder.path()),
        before
            .union(&BTreeSet::from(["study.toml".to_owned()]))
            .cloned()
            .collect()
    );
}

#[test]
fn mutated_manifests_are_read_or_refused_with_a_line() {
    mutants_are_read_or_refused(300);
}

/// `cargo test --release --test it million -- --ignored`.
#[test]
#[ignore = "takes an hour"]
fn a_million_mutated_manifests_are_read_or_refused() {
    mutants_are_read_or_refused(1_000_000 / seeds().len() + 1);
}

#[test]
fn what_is_no_manifest_is_refused_before_it_is_read_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    for (name, why) in [
        // Endless, and without a size.
        ("/dev/zero", "too large for a manifest"),
        (".", "directory"),
        ("missing.toml", "there is no such file"),
    ] {
        let run = run(folder.path(), &["study", name, "--out", "out"]);
        assert_eq!(run.status, 2, "{}", run.stderr);
        assert!(run.stderr.contains(why), "{name}: {}", run.stderr);
    }
}

/// All that is below a folder, with what is in it.
fn contents(folder: &Path) -> BTreeSet<(String, Vec<u8>)> {
    let mut all = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            all.extend(contents(&path));
        } else {
            all.insert((
                path.display().to_string(),
                fs::read(&path).unwrap_or_default(),
            ));
        }
    }
    all
}

#[test]
fn paths_in_a_manifest_lead_to_captures_and_no_result_out_of_its_folder() {
    let around = tempfile::tempdir().unwrap();
    let study = around.path().join("study");
    let other = around.path().join("other");
    fs::create_dir_all(&study).unwrap();
    fs::create_dir_all(&other).unwrap();
    fs::copy(capture("drop-one.pcap"), other.join("cubic_1.pcap")).unwrap();
    symlink(other.join("cubic_1.pcap"), study.join("linked_1.pcap")).unwrap();
    symlink("nowhere", study.join("dangling_1.pcap")).unwrap();
    symlink(&study, study.join("loop")).unwrap();
    let before = contents(around.path());
    let absolute = format!("{}/{{cca}}_{{run}}.pcap", other.display());
    for (files, labels) in [
        (absolute.as_str(), ""),
        ("../other/{cca}_{run}.pcap", ""),
        (
            "{cca}_{run}.pcap",
            "labels = { place = \"../../../escape\" }",
        ),
        (
            "**/{cca}_{run}.pcap",
            "labels = { place = \"/tmp/escape\" }",
        ),
    ] {
        let manifest = format!(
            "[study]\nname = \"../../escape\"\ngroup_by = [\"cca\"]\n[[runs]]\nfiles = \"{files}\"\n{labels}\n"
        );
        fs::write(study.join("study.toml"), manifest).unwrap();
        let run = run(&study, &["study", "study.toml", "--out", "out"]);
        // A link that leads nowhere is a run that failed, and not one that is not there.
        let dangling = run.stderr.contains("dangling_1.pcap: left out: ");
        assert_eq!(dangling, !labels.is_empty(), "{files}: {}", run.stderr);
        assert_eq!(run.status, i32::from(dangling), "{files}: {}", run.stderr);
        assert!(study.join("out/groups.parquet").exists() || !names(&study.join("out")).is_empty());
        fs::remove_dir_all(study.join("out")).unwrap();
        fs::remove_file(study.join("study.toml")).unwrap();
        assert_eq!(contents(around.path()), before, "{files}");
    }
}

#[test]
fn links_in_the_folder_of_results_are_replaced_and_not_followed() {
    let around = tempfile::tempdir().unwrap();
    let (study, victim) = (around.path().join("study"), around.path().join("victim"));
    let out = study.join("out");
    fs::create_dir_all(&out).unwrap();
    fs::create_dir_all(victim.join("kept")).unwrap();
    fs::write(victim.join("precious"), "precious").unwrap();
    fs::copy(capture("drop-one.pcap"), study.join("cubic_1.pcap")).unwrap();
    let manifest = "[[runs]]\nfiles = \"{cca}_{run}.pcap\"\n";
    fs::write(study.join("study.toml"), manifest).unwrap();
    let args = ["study", "study.toml", "--out", "out"];
    // Every file that a study writes, and the folder of kept runs, lead elsewhere.
    assert_eq!(run(&study, &args).status, 0);
    let files = names(&out);
    assert!(files.len() > 3, "{files:?}");
    fs::remove_dir_all(&out).unwrap();
    fs::create_dir(&out).unwrap();
    for name in &files {
        let target = if name == "cache" {
            victim.join("kept")
        } else {
            victim.join("precious")
        };
        symlink(target, out.join(name)).unwrap();
    }
    let before = contents(&victim);
    let again = run(&study, &args);
    assert_eq!(again.status, 0, "{}", again.stderr);
    assert_eq!(contents(&victim), before);
    for name in files.iter().filter(|name| *name != "cache") {
        assert!(!out.join(name).is_symlink(), "{name}");
    }
}
