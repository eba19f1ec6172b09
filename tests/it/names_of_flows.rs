//! `--name`: what charts call flows.

use std::fs;
use std::path::Path;

use super::cli::run;
use super::support::capture;

/// All charts that are in a folder, as text.
fn charts(folder: &Path) -> String {
    let charts = fs::read_dir(folder).unwrap();
    let text = charts.map(|chart| fs::read_to_string(chart.unwrap().path()).unwrap());
    text.collect()
}

/// Cubic's server is `10.77.0.1`, port 5001, BBR's is `fd77::1`, port 5002 (testdata/README.md).
#[test]
fn charts_call_flows_as_they_are_named() {
    let two = capture("two-flows-cubic-bbr.pcap.zst");
    let two = two.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let named = |names: &[&str]| {
        let names = names.iter().flat_map(|name| ["--name", name]);
        let all = [two, "--svg", "--out", "o.csv"].into_iter().chain(names);
        let run = run(folder.path(), &all.collect::<Vec<_>>());
        assert_eq!(run.status, 0, "{}", run.stderr);
        (charts(&folder.path().join("o.charts")), run.stderr)
    };
    let of_ends = |charts: &str| ["10.77.0.1", "fd77:"].map(|end| charts.contains(end));
    let (plain, _) = named(&[]);
    assert_eq!(of_ends(&plain), [true, true]);
    let (both, said) = named(&["5001=CUBIC", "src host fd77::1 = BBR (v1)"]);
    assert_eq!(of_ends(&both), [false, false]);
    assert!(both.contains("\nCUBIC\n") && both.contains("\nBBR (v1)\n"));
    assert!(!said.contains("--name"), "{said}");
    // The other has its ends, and a name that nothing has is a mistake as a rule.
    let (one, said) = named(&["port 5001=CUBIC", "5003=Reno", "ip=IPv4"]);
    assert_eq!(of_ends(&one), [false, true]);
    assert!(one.contains("\nCUBIC\n") && !one.contains("Reno"));
    for nobody in ["Reno", "IPv4"] {
        let warning = format!("warning: --name: no flow is called '{nobody}'\n");
        assert!(said.contains(&warning), "{said}");
    }
    // Tables have no names.
    let flows = fs::read_to_string(folder.path().join("o.csv")).unwrap();
    assert!(flows.contains("10.77.0.1") && !flows.contains("CUBIC"));
}

#[test]
fn what_is_no_name_is_refused_and_where_it_does_nothing_that_is_said() {
    let one = capture("drop-one.pcap");
    let one = one.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (arguments, status, said) in [
        (
            &[one, "--name", "5001"][..],
            2,
            "'5001' names nothing: write it as 5001=cubic",
        ),
        (&[one, "--name", "5001= "], 2, "'5001= ' names nothing"),
        (&[one, "--name", "=x"], 2, "'=x' names nothing"),
        (
            &[one, "--name", "70000=x"],
            2,
            "'70000' is no port: at most 65535",
        ),
        (
            &[one, "--name", "prt 5001=x"],
            2,
            "'prt 5001': column 1: expected",
        ),
        (
            &[one, "--name", "5009=x"],
            0,
            "--name: has no effect without --out or --report",
        ),
        (
            &[one, "--name", "5009=x", "--no-charts", "--out", "o.csv"],
            0,
            "--name: has no effect with --no-charts",
        ),
        (
            &["study", "s.toml", "--out", "s", "--name", "5001=x"],
            2,
            "the manifest says it: `names` of [labels.cca]",
        ),
    ] {
        let run = run(folder.path(), arguments);
        assert_eq!(run.status, status, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(said), "{arguments:?}: {}", run.stderr);
        assert!(!run.stderr.contains("no flow is called"), "{}", run.stderr);
    }
}
