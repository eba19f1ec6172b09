//! What the command says of a filter that leaves out more than was meant.

use super::cli::run;
use super::support::capture;

#[test]
fn where_no_flow_is_found_it_is_said_why() {
    let good = capture("drop-one.pcap");
    let good = good.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (filter, why) in [
        ("host 192.0.2.1", "no packet matches the filter"),
        ("port 9", "no packet matches the filter"),
    ] {
        let run = run(folder.path(), &[good, "--filter", filter]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert!(run.stdout.contains(why), "{filter}: {}", run.stdout);
    }
}

#[test]
fn a_filter_that_leaves_out_acks_is_said() {
    let good = capture("drop-one.pcap");
    let good = good.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (filter, is_said) in [("dst port 5001", true), ("port 5001", false)] {
        let run = run(folder.path(), &[good, "--no-charts", "--filter", filter]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let said = "no round-trip times; where it is the filter that left out the other one";
        assert_eq!(run.stderr.contains(said), is_said, "{}", run.stderr);
    }
}
