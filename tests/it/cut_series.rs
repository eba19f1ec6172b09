//! Flows of which bins are missing: what is made of all bins is null then, not too small.

use ccanalyze::analyze::{Analysis, Config};
use ccanalyze::table::Tables;
use polars::prelude::{AnyValue, DataFrame};

use super::study_windows::{folder_with, long_and_short};
use super::support::{capture, csv};

/// Two flows that share a link for some seconds, with so many bins of each.
fn tables(bins_max: u32) -> Tables {
    let config = Config {
        bins_max,
        ..Config::default()
    };
    let analysis = Analysis::of([capture("two-flows-cubic-bbr.pcap.zst")], &config);
    Tables::of(&analysis, &config)
}

/// How many values of a column are null, and how many there are.
fn nulls(table: &DataFrame, column: &str) -> (usize, usize) {
    let column = table.column(column).unwrap();
    (column.null_count(), column.len())
}

#[test]
fn pairs_over_time_end_where_bins_of_a_flow_are_missing() {
    let folder = folder_with(long_and_short());
    let rows = |bins_max| {
        let config = Config {
            bins_max,
            ..Config::default()
        };
        let analysis = Analysis::of([folder.path().join("1.pcap")], &config);
        csv(&mut Tables::of(&analysis, &config).pair_series)
    };
    // Of bins of 100 ms A has 41, B eleven from the eleventh of A on, in which they are compared.
    let whole = rows(41);
    assert_eq!(whole.lines().count(), 1 + 11, "{whole}");
    for (bins_max, compared) in [(15, 5), (20, 10), (10, 0), (0, 0)] {
        let cut = rows(bins_max);
        assert_eq!(cut.lines().count(), 1 + compared, "{bins_max}: {cut}");
        assert!(whole.starts_with(&cut), "{bins_max}: {cut}");
    }
}

#[test]
fn what_is_made_of_all_bins_is_null_where_some_are_missing() {
    let (whole, cut) = (tables(u32::MAX), tables(10));
    for column in ["standing_queue_ns", "delivery_bps_max"] {
        let (nulls_whole, rows) = nulls(&whole.flows, column);
        assert!(nulls_whole < rows, "{column}");
        let kept = cut.flows.column("quality").unwrap();
        for row in 0..rows {
            let is_cut = kept.get(row).unwrap().to_string().contains("series_cut");
            let value = cut.flows.column(column).unwrap().get(row).unwrap();
            let before = whole.flows.column(column).unwrap().get(row).unwrap();
            let expected = if is_cut { AnyValue::Null } else { before };
            assert_eq!(value, expected, "{column} of row {row}");
        }
    }
    for column in ["capacity_estimated_bps", "utilisation_estimated"] {
        assert_eq!(nulls(&whole.captures, column), (0, 1), "{column}");
        assert_eq!(nulls(&cut.captures, column), (1, 1), "{column}");
    }
    // Counts are those of all packets.
    for column in ["payload_bytes", "acked_bytes", "rtt_ns_mean"] {
        let values = |tables: &Tables| tables.flows.column(column).unwrap().clone();
        assert_eq!(values(&whole), values(&cut), "{column}");
    }
}
