//! Which files there are: a folder walked in a fixed order.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::template::Template;

/// Folders within folders; deeper ones are not looked into.
const DEPTH_MAX: usize = 32;

/// Endings of capture files; another one for compression may follow.
pub(super) const CAPTURE_ENDINGS: [&str; 4] = [".pcap", ".pcapng", ".cap", ".ntar"];
/// Endings of tables and archives that were measured elsewhere.
pub(super) const TABLE_ENDINGS: [&str; 3] = [".flent", ".csv", ".parquet"];
/// What may follow these: nothing, or the ending of a compression.
pub(super) const COMPRESSION_ENDINGS: [&str; 5] = ["", ".gz", ".zst", ".xz", ".lz4"];

/// What is below a folder, by the path from it, with `/` between the parts, sorted.
#[derive(Debug, Default)]
pub(super) struct Below {
    /// Files, and where they are.
    pub(super) files: Vec<(String, PathBuf)>,
    /// Links to folders, which are not followed, so that none is walked twice.
    pub(super) links: Vec<String>,
}

/// Files below a folder.
///
/// # Errors
/// The folder, or one in it, cannot be read.
pub(super) fn below(folder: &Path) -> io::Result<Below> {
    let mut below = Below::default();
    walk(folder, "", 0, &mut below)?;
    below.files.sort();
    below.links.sort();
    Ok(below)
}

fn walk(folder: &Path, prefix: &str, depth: usize, below: &mut Below) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if depth < DEPTH_MAX {
                walk(&entry.path(), &format!("{name}/"), depth + 1, below)?;
            }
        } else if kind.is_symlink() && entry.path().is_dir() {
            below.links.push(name);
        } else if kind.is_file() || kind.is_symlink() {
            // A link that leads nowhere is said when it is opened: left out here, nobody would miss the run.
            below.files.push((name, entry.path()));
        }
    }
    Ok(())
}

/// A file that a template names: its path as the manifest would write it, where it is, and what
/// its name says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// From the study's folder, with `/` between the parts.
    pub(super) name: String,
    /// Where it is.
    pub(super) path: PathBuf,
    /// Labels and their values.
    pub(super) labels: Vec<(String, String)>,
}

/// The files that a template names, by name.
///
/// # Errors
/// The folder that the template begins with cannot be read.
pub(super) fn find(folder: &Path, template: &Template) -> io::Result<Vec<Found>> {
    // Only the folders after the fixed beginning are walked.
    let text = template.text();
    let fixed = text.find(['{', '*', '?']).unwrap_or(text.len());
    let start = text[..fixed].rfind('/').map_or(0, |slash| slash + 1);
    let (beginning, _) = text.split_at(start);
    let found = below(&folder.join(beginning))?
        .files
        .into_iter()
        .filter_map(|(rest, path)| {
            let name = format!("{beginning}{rest}");
            let labels = template.take_apart(&name)?;
            Some(Found { name, path, labels })
        });
    Ok(found.collect())
}

/// Whether a file is called like a capture.
pub(super) fn is_capture(name: &str) -> bool {
    ends_in(name, &CAPTURE_ENDINGS)
}

/// Whether a file is called like a table that was measured elsewhere.
pub(super) fn is_table(name: &str) -> bool {
    ends_in(name, &TABLE_ENDINGS)
}

/// The name of the first file of a capture that goes on in this one, and the number that this one has behind it: as
/// `tcpdump -C` begins a new file when one is full, `x.pcap` goes on in `x.pcap1`; with `-W` there is `x.pcap0`.
pub(super) fn further_part(name: &str) -> Option<(String, u64)> {
    let numbered = without_compression(name);
    let plain = numbered.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let number = numbered[plain.len()..].parse().ok()?;
    let first = format!("{plain}{}", &name[numbered.len()..]);
    is_capture(&first).then_some((first, number))
}

/// The second file of a capture that begins with this one, where it is there: see [`further_part`].
pub(super) fn next_part(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let plain = without_compression(name);
    let next = path.with_file_name(format!("{plain}1{}", &name[plain.len()..]));
    next.is_file().then_some(next)
}

/// A name without the ending of a compression.
pub(super) fn without_compression(name: &str) -> &str {
    let mut endings = COMPRESSION_ENDINGS
        .iter()
        .filter(|ending| !ending.is_empty());
    endings
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(name)
}

/// Whether a file ends so, compressed or not.
fn ends_in(name: &str, endings: &[&str]) -> bool {
    let lower = name.to_lowercase();
    COMPRESSION_ENDINGS.iter().any(|compression| {
        lower
            .strip_suffix(compression)
            .is_some_and(|plain| endings.iter().any(|ending| plain.ends_with(ending)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_go_on_from_another_one_are_known_by_its_name_and_a_number() {
        for (name, expected) in [
            ("a/x.pcap1", Some(("a/x.pcap", 1))),
            ("x.pcap0", Some(("x.pcap", 0))),
            ("x.pcapng12.gz", Some(("x.pcapng.gz", 12))),
            ("x.pcap", None),
            ("x.pcap.gz", None),
            ("x1.pcap", None),
            ("x.csv1", None),
        ] {
            let expected = expected.map(|(first, number)| (first.to_owned(), number));
            assert_eq!(further_part(name), expected, "{name}");
        }
    }

    #[test]
    fn templates_find_files_below_their_fixed_beginning() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "a/x-1/e.pcap",
            "a/y-2/e.pcap",
            "a/y-2/f.pcap",
            "b/x-1/e.pcap",
            "note.txt",
        ] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let names = |text: &str| -> Vec<String> {
            let template = Template::parse(text).unwrap();
            let found = find(folder.path(), &template).unwrap();
            found.into_iter().map(|found| found.name).collect()
        };
        assert_eq!(
            names("a/{cca}-{n}/e.pcap"),
            ["a/x-1/e.pcap", "a/y-2/e.pcap"]
        );
        assert_eq!(names("**/x-{n}/e.pcap"), ["a/x-1/e.pcap", "b/x-1/e.pcap"]);
        assert_eq!(names("*.txt"), ["note.txt"]);
        assert!(find(folder.path(), &Template::parse("c/{x}").unwrap()).is_err());
    }
}
