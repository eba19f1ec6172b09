//! Rows of measured tables: which count, as what, and how often.

use super::measured::{carried_out, folder_with};
use super::published::{column, numbers, report};

/// A row is a run; of two variants alone, in one table as runs and in the other with numbers of flows.
const MANIFEST: &str = r#"
[study]
group_by = ["cca"]
report = "access-network"
[reports.access-network]
reference = "bbr"

[[measured]]
files = "runs.csv"
columns = { cca = "cca" }
[measured.metrics]
goodput_bps = { column = "goodput", unit = "Mbit" }
"#;

#[test]
fn a_row_that_says_of_no_flows_is_a_run_of_one_in_the_report_of_access_networks() {
    let runs = "cca,goodput,flows\nbbr,9,\nbbr,11,1\nbbr,90,2\nreno,8,\n";
    let manifest = format!("{MANIFEST}flow_count = \"flows\"\n");
    let folder = folder_with(&[("runs.csv", runs)], &manifest);
    let results = carried_out(folder.path());
    let table = report(&results, "access-network");
    assert_eq!(column(table, "other"), ["reno"]);
    assert_eq!(column(table, "connections"), ["1 connection"]);
    // 9 and 11, mean 10; what each of two flows had of 90 nobody knows.
    assert_eq!(column(table, "reference_runs"), ["2"]);
    assert_eq!(numbers(table, "reference_goodput_mbps"), [Some(10.0)]);
    // 10 is a quarter more than 8.
    assert_eq!(numbers(table, "change_goodput_percent"), [Some(25.0)]);
}
