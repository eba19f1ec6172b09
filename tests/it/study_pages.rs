//! What is printed of a study stands on its page, too.

use std::fs;

use super::cli::run;
use super::support::capture;

#[test]
fn a_report_that_takes_flows_alone_and_flows_that_compete_together_says_it() {
    let folder = tempfile::tempdir().unwrap();
    for (from, to) in [
        ("drop-one.pcap", "cubic_alone_1.pcap"),
        ("two-flows-cubic-bbr.pcap.zst", "cubic_pair_1.pcap"),
    ] {
        fs::copy(capture(from), folder.path().join(to)).unwrap();
    }
    let study = |group_by: &str, report: &str| {
        let study = format!(
            "[study]\ngroup_by = {group_by}\nreport = \"{report}\"\n[[runs]]\nfiles = \"{{cca}}_{{set}}_{{run}}.pcap\"\nconditions = {{ capacity = \"20Mbit\" }}\n"
        );
        fs::write(folder.path().join("s.toml"), study).unwrap();
        let args = [
            "study",
            "s.toml",
            "--no-charts",
            "-o",
            "s",
            "--report",
            "s.html",
        ];
        let run = run(folder.path(), &args);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let page = fs::read_to_string(folder.path().join("s.html")).unwrap();
        let text = "of 2 flows together";
        assert_eq!(page.contains(text), run.stderr.contains(text), "{page}");
        run.stderr
    };
    for report in ["series", "mobility"] {
        let said = study("[\"cca\"]", report);
        let line = format!(
            "report '{report}' takes runs of 1 flow and of 2 flows together, which have the same labels (cca = cubic)"
        );
        assert!(said.contains(&line), "{said}");
        assert!(!study("[\"cca\", \"set\"]", report).contains("together"));
    }
    assert!(!study("[\"cca\"]", "pairs").contains("together"));
}
