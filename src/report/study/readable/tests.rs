//! What columns are called, and which unit their numbers have.

use super::*;
use polars::prelude::{DataFrame, df};

fn of(frame: DataFrame, keys: &[&str]) -> Vec<(String, Vec<String>)> {
    with_shares(frame, keys, &[])
}

fn with_shares(frame: DataFrame, keys: &[&str], shares: &[&str]) -> Vec<(String, Vec<String>)> {
    let table = StudyTable {
        name: "groups".to_owned(),
        title: "Of groups".to_owned(),
        label: "tab:s-groups".to_owned(),
        keys: keys.iter().map(|&key| key.to_owned()).collect(),
        shares: shares.iter().map(|&name| name.to_owned()).collect(),
        above: BTreeMap::new(),
        usual: BTreeMap::new(),
        frame,
    };
    let shown = |column: ReadableColumn| {
        let cells = column.cells.iter().map(super::super::text::shown);
        (column.heading, cells.collect())
    };
    columns(&table).into_iter().map(shown).collect()
}

fn column(heading: &str, cells: &[&str]) -> (String, Vec<String>) {
    let cells = cells.iter().map(|&cell| cell.to_owned());
    (heading.to_owned(), cells.collect())
}

#[test]
fn labels_keep_their_digits_and_other_numbers_four() {
    let frame = df!(
        "rate_mbps" => [1234.56, 1234.57, 5.1 + 1e-15],
        "session" => [20_251_127_153_000.0, 20_251_127_153_001.0, -40.0],
        "time_s" => [0.123_456, 1.0, 2.0],
        "n" => [1234.56, 1234.57, 3.0]
    );
    let found = of(frame.unwrap(), &["rate_mbps", "session", "time_s"]);
    assert_eq!(
        found,
        [
            column("Rate (Mbit/s)", &["1234.56", "1234.57", "5.1"]),
            column("Session", &["20251127153000", "20251127153001", "-40"]),
            column("Time (s)", &["0.1235", "1", "2"]),
            column("n", &["1235", "1235", "3"]),
        ]
    );
}

#[test]
fn a_column_has_the_unit_of_its_middle_number() {
    let frame = df!(
        "goodput_bps" => [94_123_456.0, 1_500_000.0, 880_000_000.0],
        "rtt_ns_min" => [23_345_678.0, 900_000.0, 41_000_000.0],
        "acked_bytes" => [10_000_000_u64, 10_000_000, 0],
        "overhead" => [0.036, 0.041_234, 0.5],
        "records" => [10_786_u64, 1, 2],
        "change_percent" => [-3.5, 0.0, 12_345.6],
    );
    let expected = [
        column("Goodput (Mbit/s)", &["94.12", "1.5", "880"]),
        column("Min. RTT (ms)", &["23.35", "0.9", "41"]),
        column("Acknowledged (MB)", &["10", "10", "0"]),
        column("Overhead (%)", &["3.6", "4.123", "50"]),
        column("Records", &["10786", "1", "2"]),
        column("Change (%)", &["-3.5", "0", "12346"]),
    ];
    assert_eq!(of(frame.unwrap(), &[]), expected);
}

#[test]
fn ratios_whose_columns_are_called_otherwise_are_in_percent_too() {
    let frame = df!("cca" => ["bbr"], "delay_ms_20" => [0.836_71], "runs" => [0.5]);
    let shown = with_shares(frame.unwrap(), &["cca"], &["delay_ms_20"]);
    let expected = [
        column("CCA", &["bbr"]),
        column("Delay 20 ms (%)", &["83.67"]),
        column("Runs", &["0.5"]),
    ];
    assert_eq!(shown, expected);
    // What a row is about is said in the row.
    let frame = df!("measure" => ["retransmission_rate"], "delay_ms_20" => [0.0007]);
    let shown = with_shares(frame.unwrap(), &[], &["delay_ms_20"]);
    assert!(shown[0].1[0].ends_with(" (%)"), "{shown:?}");
    assert_eq!(shown[1], column("Delay 20 ms", &["0.07"]));
}

#[test]
fn rows_of_a_metric_have_one_unit_and_what_is_squared_its_square() {
    let frame = df!(
        "metric" => ["goodput_bps", "rtt_ns_mean", "goodput_bps", "jain"],
        "n" => [3_u64, 3, 4, 2],
        "mean" => [50e6, 2_500.0, 800e3, 0.9],
        "ms_within" => [4e12, 9e6, 1e12, 0.25],
    );
    let expected = [
        column(
            "Metric",
            &[
                "Goodput (Mbit/s)",
                "Mean RTT (µs)",
                "Goodput (Mbit/s)",
                "Jain's index",
            ],
        ),
        column("n", &["3", "3", "4", "2"]),
        column("Mean", &["50", "2.5", "0.8", "0.9"]),
        column("MS within", &["4", "9", "1", "0.25"]),
    ];
    assert_eq!(of(frame.unwrap(), &[]), expected);
}

#[test]
fn labels_and_columns_in_other_units_stay_as_they_are() {
    let frame = df!(
        "cca" => ["bbr"],
        "rate_kbps" => [50_000.0],
        "size_bytes" => [1e6],
        "other_rtt_ms_max" => [0.25],
        "change_goodput_mbps_percent" => [7.0],
        "delay_ms_20" => [0.5],
        "buffer_deep" => [12e6],
    );
    let expected = [
        column("CCA", &["bbr"]),
        column("Rate (kbit/s)", &["50000"]),
        column("Size (B)", &["1000000"]),
        column("Other RTT max (ms)", &["0.25"]),
        column("Change goodput (%)", &["7"]),
        column("Delay 20 ms", &["0.5"]),
        column("Buffer deep", &["12000000"]),
    ];
    assert_eq!(
        of(frame.unwrap(), &["cca", "rate_kbps", "size_bytes"]),
        expected
    );
}

#[test]
fn no_two_columns_of_a_table_are_called_alike() {
    let schemas = crate::table::all_schemas().into_iter();
    for schema in schemas.filter(|schema| schema.name.starts_with("study/")) {
        let mut headings: Vec<String> = schema
            .columns
            .iter()
            .map(|column| heading(column.name, Scale::own(column.name).symbol))
            .collect();
        headings.sort();
        for alike in headings.windows(2) {
            assert_ne!(alike[0], alike[1], "{}", schema.name);
        }
        assert!(headings.iter().all(|heading| !heading.contains('_')));
    }
}

#[test]
fn instants_are_dates() {
    for (ns, text) in [
        (0, "1970-01-01 00:00:00.000"),
        (1_709_208_000_500_000_000, "2024-02-29 12:00:00.500"),
        (1_735_689_599_999_999_999, "2024-12-31 23:59:59.999"),
        (951_782_400_000_000_000, "2000-02-29 00:00:00.000"),
        (-1, "1969-12-31 23:59:59.999"),
    ] {
        assert_eq!(in_utc(&Cell::Whole(ns)), Cell::Text(text.to_owned()));
    }
}

#[test]
fn how_many_runs_a_mean_is_of_is_said_where_no_mean_has_an_interval() {
    let frame = df!(
        "cca" => ["bbr", "reno"],
        "n" => [3_u64, 3],
        "completion_s_mean" => [None, Some(3.91)],
        "completion_s_ci95_half" => [None::<f64>, None],
        "completion_s_n" => [None, Some(1_u64)],
    );
    let expected = [
        column("CCA", &["bbr", "reno"]),
        column("n", &["3", "3"]),
        column("Completion (s)", &["", "3.91 (n = 1)"]),
    ];
    assert_eq!(of(frame.unwrap(), &["cca"]), expected);
}

#[test]
fn a_metric_that_varies_little_has_the_unit_that_it_has_in_other_tables() {
    let table = StudyTable {
        name: "tests".to_owned(),
        title: "Whether a label matters".to_owned(),
        label: "tab:s-groups".to_owned(),
        keys: vec!["metric".to_owned()],
        shares: Vec::new(),
        above: BTreeMap::new(),
        usual: BTreeMap::from([("goodput_bps".to_owned(), 18.8e6)]),
        frame: df!(
            "metric" => ["goodput_bps", "goodput_bps"],
            "ms_within" => [4e10, 25e10],
            "anova_f" => [0.5, 0.25],
        )
        .unwrap(),
    };
    let columns = columns(&table);
    let shown = |column: &ReadableColumn| {
        let cells = column.cells.iter().map(super::super::text::shown);
        cells.collect::<Vec<String>>()
    };
    assert_eq!(shown(&columns[0]), ["Goodput (Mbit/s)"; 2]);
    assert_eq!(shown(&columns[1]), ["0.04", "0.25"]);
}

#[test]
fn no_probability_is_0() {
    let frame = df!("cca" => ["bbr", "reno"], "p" => [0.0, 2.7e-57], "f" => [651.8, 0.0]);
    let expected = [
        column("CCA", &["bbr", "reno"]),
        column("P", &["< 10^-300", "2.700e-57"]),
        column("F", &["651.8", "0"]),
    ];
    assert_eq!(of(frame.unwrap(), &["cca"]), expected);
}
