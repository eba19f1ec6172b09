//! Rotated captures as runs of a study, each of which is one file.

use std::fs;

use super::cli::run;
use super::support::{capture, records, with_records};

/// A recorder that begins a new file now and then, as runs, and as a run with a file beside it.
#[test]
fn parts_of_one_capture_as_runs_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(capture("drop-one.pcap")).unwrap();
    let part = |places: std::ops::Range<usize>| {
        with_records(
            &whole,
            records(&whole).skip(places.start).take(places.len()),
        )
    };
    let goes_on = "10.77.0.1:5001 to 10.77.200.1:35364 goes on from a_1.pcap to a_2.pcap: these are parts of one capture";
    let beside = "a_1.pcap: a_1.pcap1 stands beside it, as `tcpdump -C` leaves the parts of one capture, and is not counted: a run is one file";
    for (second, files, said) in [
        ("a_2.pcap", "a_{run}.pcap", Some(goes_on)),
        ("a_1.pcap1", "a_{run}.pcap", Some(beside)),
        // A run that is a file of a capture, and no other run is.
        ("a_2.pcap", "a_1.pcap", None),
    ] {
        fs::write(folder.path().join("a_1.pcap"), part(0..400)).unwrap();
        fs::write(folder.path().join(second), part(400..800)).unwrap();
        let study = format!("[[runs]]\nfiles = \"{files}\"\n");
        fs::write(folder.path().join("s.toml"), study).unwrap();
        let args = ["study", "s.toml", "--out", "s", "--no-charts"];
        let run = run(folder.path(), &args);
        assert_eq!(run.status, 0, "{}", run.stderr);
        for text in [goes_on, beside] {
            let is_said = run.stderr.contains(&format!("warning: {text}"));
            assert_eq!(is_said, said == Some(text), "{second}: {}", run.stderr);
        }
        fs::remove_file(folder.path().join(second)).unwrap();
    }
}
