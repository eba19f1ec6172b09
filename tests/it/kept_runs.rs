//! Which runs of a study are not analysed again.

use std::fs;
use std::io::Write as _;
use std::process::Command;

use super::support::capture;

/// Another build of one version may measure another number.
#[test]
fn runs_that_another_build_measured_are_measured_again() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(capture("drop-one.pcap"), folder.path().join("cubic_1.pcap")).unwrap();
    let manifest = "[[runs]]\nfiles = \"{cca}_{run}.pcap\"\n";
    fs::write(folder.path().join("s.toml"), manifest).unwrap();
    let program = folder.path().join("ccanalyze");
    fs::copy(env!("CARGO_BIN_EXE_ccanalyze"), &program).unwrap();
    let is_kept = || {
        let mut command = Command::new(&program);
        command.args(["study", "s.toml", "--out", "s", "--no-charts"]);
        let output = command.current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8(output.stdout).unwrap();
        said.contains("1 run had not changed")
    };
    assert!(!is_kept());
    assert!(is_kept());
    let mut file = fs::OpenOptions::new().append(true).open(&program).unwrap();
    file.write_all(b"\0").unwrap();
    drop(file);
    assert!(!is_kept());
}
