//! The chart of a capture's pings.

use std::fs;

use super::cli::run;
use super::study_windows::{folder_with, long_and_short};

#[test]
fn pings_are_drawn_over_time_by_who_asked_whom() {
    let mut wire = long_and_short();
    for second in 0..10 {
        let at_ns = 1_000_000_000 + 400_000_000 * u64::from(second);
        wire.ping(
            at_ns,
            [1, 3],
            second,
            20_000_000 + 1_000_000 * u64::from(second),
        );
        if second < 4 {
            wire.ping(at_ns, [4, 5], second, 90_000_000);
        }
    }
    wire.ping_without_answer(5_000_000_000, [1, 3], 10);
    let folder = folder_with(wire);
    let drawn = |args: &[&str]| {
        let output = run(
            folder.path(),
            &[&["1.pcap", "-o", "r.csv", "--svg"], args].concat(),
        );
        assert_eq!(output.status, 0, "{}", output.stderr);
        fs::read_to_string(folder.path().join("r.charts/01-1-pings.svg")).ok()
    };
    let svg = drawn(&[]).unwrap();
    for said in [
        "Pings – 1",
        "15 pings, 1 without an answer",
        "10.0.0.1 → 10.0.0.3",
        "10.0.0.4 → 10.0.0.5",
        "no answer",
        "Ping RTT",
    ] {
        assert!(svg.contains(said), "{said}: {svg}");
    }
    // Without any there is no chart, and of those that are left nothing is said of others.
    let svg = drawn(&["--filter", "host 10.0.0.4 or tcp"]).unwrap();
    assert!(svg.contains("4 pings, all answered"), "{svg}");
    assert!(!svg.contains("no answer"), "{svg}");
    assert!(drawn(&["--filter", "tcp"]).is_none());
}
