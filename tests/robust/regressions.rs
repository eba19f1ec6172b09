//! Inputs that once broke something, each with a sentence in `testdata/regressions/README.md`.

use std::fs;
use std::path::Path;

use super::checks::CHECKS;

#[test]
fn what_once_broke_something_does_no_longer() {
    let folder = Path::new("testdata/regressions");
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    for (name, check) in CHECKS {
        let Ok(inputs) = fs::read_dir(folder.join(name)) else {
            continue;
        };
        for input in inputs {
            let path = input.unwrap().path();
            let file = path.file_name().unwrap().to_string_lossy().into_owned();
            let row = format!("`{name}/{file}`");
            assert!(readme.contains(&row), "{row} has no row in the README");
            check(&fs::read(&path).unwrap());
        }
    }
}

/// A folder that belongs to no check would never be replayed.
#[test]
fn every_folder_of_regressions_is_replayed() {
    let folder = Path::new("testdata/regressions");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let known = CHECKS.iter().any(|&(check, _)| check == name);
        assert!(known || name == "README.md", "{name} is no check");
    }
}
