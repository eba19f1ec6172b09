//! Tables as text, and what is wrong with them.

use super::*;

fn parse(text: &str) -> MeasuredTable {
    MeasuredTable::parse(text.as_bytes(), &[]).unwrap_or_else(|fault| panic!("{}", message(fault)))
}

fn message(fault: error::Fault) -> String {
    fault.in_file(Path::new("runs.csv")).to_string()
}

/// The message that a file gives; without a fault the test fails.
fn fault(bytes: &[u8]) -> String {
    match MeasuredTable::parse(bytes, &[]) {
        Ok(table) => panic!("no fault: {table:?}"),
        Err(fault) => message(fault),
    }
}

fn numbers(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().copied().map(Some).collect()
}

#[test]
fn a_csv_has_columns_of_numbers_and_of_texts() {
    let table = parse("algo,rtt_ms,goodput\nbbr,10.0,9.54\n\"cubic, tuned\",1e2,\n");
    assert_eq!((table.format, table.rows()), (MeasuredFormat::Csv, 2));
    assert_eq!(table.numbers("rtt_ms").unwrap(), numbers(&[10.0, 100.0]));
    assert_eq!(table.numbers("goodput").unwrap(), [Some(9.54), None]);
    assert_eq!(
        table.texts("algo").unwrap(),
        [Some("bbr".into()), Some("cubic, tuned".into())]
    );
    // As a label, a number is as short as it can be.
    assert_eq!(
        table.texts("rtt_ms").unwrap(),
        [Some("10".into()), Some("100".into())]
    );
}

#[test]
fn separators_spaces_byte_order_marks_and_line_ends_are_told_by_the_text() {
    for text in [
        "a,b\n1,2\n3,4\n",
        "a;b\n1;2\n3;4",
        "a\tb\r\n1\t2\r\n3\t4\r\n",
        "\u{feff}a,b\n1,2\n3,4\n",
        "a, b\n 1, 2\n\n3 ,\"4\"\n",
    ] {
        let table = parse(text);
        assert_eq!(
            table.numbers("a").unwrap(),
            numbers(&[1.0, 3.0]),
            "{text:?}"
        );
        assert_eq!(
            table.numbers("b").unwrap(),
            numbers(&[2.0, 4.0]),
            "{text:?}"
        );
    }
}

#[test]
fn words_for_nothing_are_empty_cells() {
    let table = parse("a,b\n1,x\nNaN,null\nnone,N/A\n,\nNA,y\n");
    assert_eq!(
        table.numbers("a").unwrap(),
        [Some(1.0), None, None, None, None]
    );
    assert_eq!(
        table.texts("b").unwrap(),
        [Some("x".into()), None, None, None, Some("y".into())]
    );
}

#[test]
fn a_cell_that_is_no_number_is_named_by_line_and_column_name() {
    let table = parse("goodput,cca\n1,bbr\n\"2\n\",bbr\nfast,bbr\n3,bbr\n");
    // The cell before ends its line within quotes, so the row begins on line 5.
    assert_eq!(
        table.numbers("goodput").unwrap_err().to_string(),
        "line 5: 'fast' in column 'goodput' is not a number"
    );
    let table = parse("goodput\n1\ninf\n");
    assert_eq!(
        table.numbers("goodput").unwrap_err().to_string(),
        "line 3: 'inf' in column 'goodput' is not a number"
    );
}

#[test]
fn lines_are_those_of_the_file_however_they_end() {
    for text in [
        "a\n1\n\n\nx\n",
        "a\r\n1\r\n2\r\n3\r\nx\r\n",
        "\u{feff}a\r\n1\r\n\r\n\r\nx\r\n",
    ] {
        let error = parse(text).numbers("a").unwrap_err().to_string();
        assert!(error.starts_with("line 5: 'x'"), "{text:?}: {error}");
    }
    assert!(fault(b"a,b\r\n1,2\r\n\r\n3\r\n").starts_with("runs.csv: line 4: this row"));
}

#[test]
fn columns_are_found_by_name_or_place() {
    let table = parse("0;0;rate;\n1;2;3;4\n");
    assert_eq!(table.numbers("rate").unwrap(), numbers(&[3.0]));
    assert_eq!(table.numbers("#2").unwrap(), numbers(&[2.0]));
    assert_eq!(table.numbers("").unwrap(), numbers(&[4.0]));
    assert_eq!(
        table.column("0").unwrap_err().to_string(),
        "has two columns '0', the 1. and the 2.: say '#1' or '#2'"
    );
    assert_eq!(
        table.column("delay").unwrap_err().to_string(),
        "has no column 'delay': it has '0', '0', 'rate', ''"
    );
    assert!(table.column("#5").is_err() && table.column("#0").is_err());
}

#[test]
fn labels_are_what_cells_say_and_not_what_they_are_worth() {
    let table = parse("kernel,aqm,run,goodput\n5.1,none,007,1.50\n5.10,codel,7,None\n,NA,1e-5,2\n");
    let texts = |name: &str| -> Vec<Option<String>> {
        let texts = table.texts(name).unwrap().into_iter();
        texts.map(|text| text.map(Cow::into_owned)).collect()
    };
    let some = |text: &str| Some(text.to_owned());
    // Kernel 5.10 came nine releases after 5.1.
    assert_eq!(texts("kernel"), [some("5.1"), some("5.10"), None]);
    // Without a queue discipline is a value, not measured is none.
    assert_eq!(texts("aqm"), [some("none"), some("codel"), None]);
    assert_eq!(texts("run"), [some("007"), some("7"), some("0.00001")]);
    assert_eq!(
        table.numbers("goodput").unwrap(),
        [Some(1.5), None, Some(2.0)]
    );
    assert_eq!(
        table.numbers("run").unwrap(),
        [Some(7.0), Some(7.0), Some(1e-5)]
    );
}

#[test]
fn labels_that_are_texts_have_all_digits_that_are_written() {
    let rows = "5.0,5.0\n1e3,1e3\n+5,+5\n5,5\n,\n";
    let csv = format!("version,rate\n{rows}");
    let texts = |table: &MeasuredTable, name: &str| -> Vec<Option<String>> {
        let texts = table.texts(name).unwrap().into_iter();
        texts.map(|text| text.map(Cow::into_owned)).collect()
    };
    let some = |texts: [&str; 4]| -> Vec<Option<String>> {
        let texts = texts.map(|text| Some(text.to_owned()));
        texts.into_iter().chain([None]).collect()
    };
    for as_written in ["version", "#1"] {
        let table = MeasuredTable::parse(csv.as_bytes(), &[as_written]).unwrap();
        assert_eq!(texts(&table, "version"), some(["5.0", "1e3", "+5", "5"]));
        assert_eq!(texts(&table, "rate"), some(["5", "1000", "5", "5"]));
        let worth = [Some(5.0), Some(1000.0), Some(5.0), Some(5.0), None];
        assert_eq!(table.numbers("version").unwrap(), worth);
    }
    let template = Template::parse("{version},{rate}").unwrap();
    let table = lines::parse(b"5.0,5.0\n", &template, &["version"]).unwrap();
    assert_eq!(texts(&table, "version"), [Some("5.0".to_owned())]);
    assert_eq!(texts(&table, "rate"), [Some("5".to_owned())]);
}

#[test]
fn faults_of_a_csv_name_the_line() {
    assert_eq!(
        fault(b"a,b\n1,2\n3\n"),
        "runs.csv: line 3: this row has 1 cells, but the header has 2: is a quote or a separator missing?"
    );
    assert_eq!(
        fault(b"a,b\n1,2\n\xff,4\n"),
        "runs.csv: line 3: is not text in UTF-8: save it as UTF-8"
    );
    assert_eq!(fault(b"a,b\n"), "runs.csv: has a header but no rows");
    for empty in [b"".as_slice(), b"\n \n"] {
        assert_eq!(
            fault(empty),
            "runs.csv: is empty: expected a table as CSV or Parquet, or a flent archive"
        );
    }
}

#[test]
fn a_text_of_separators_alone_takes_no_memory() {
    let commas = vec![b','; CELLS_MAX as usize + 1];
    assert_eq!(
        fault(&commas),
        "runs.csv: has 16777218 cells, but 16777216 is the limit: leave columns out, or split it"
    );
}

#[test]
fn a_flent_archive_has_times_series_and_metadata() {
    let table = parse(
        r#"{"version": 4, "x_values": [0.0, 0.2], "later": [{}],
            "results": {"TCP upload": [null, 94.1], "Ping (ms) ICMP": [1.5, 2]},
            "raw_values": {"Ping (ms) ICMP": [{"seq": 0, "t": 100.5, "val": 1.5}, {"t": 100.7}],
                           "TCP upload": [{"dur": 0.2, "t": 101, "val": null}]},
            "metadata": {"NAME": "tcp_1up", "LENGTH": 60, "NOTE": null, "HOSTS": ["h"],
                         "SERIES_META": {"TCP upload": {"UNITS": "Mbits/s"}}}}"#,
    );
    assert_eq!((table.format, table.rows()), (MeasuredFormat::Flent, 2));
    assert_eq!(table.numbers("time_s").unwrap(), numbers(&[0.0, 0.2]));
    assert_eq!(table.numbers("TCP upload").unwrap(), [None, Some(94.1)]);
    assert_eq!(
        table.series,
        [MeasuredSeries {
            name: "Ping (ms) ICMP".to_owned(),
            points: vec![(100.5, 1.5)],
        }]
    );
    let metadata: Vec<(&str, &str)> = table
        .metadata
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect();
    assert_eq!(
        metadata,
        [
            ("LENGTH", "60"),
            ("NAME", "tcp_1up"),
            ("SERIES_META.TCP upload.UNITS", "Mbits/s")
        ]
    );
}

#[test]
fn faults_of_a_flent_archive_name_the_place() {
    assert_eq!(
        fault(b"{\"start\": {},\n \"end\": {}}"),
        "runs.csv: line 2, column 11: cannot be read as a flent archive (JSON with `results` and `x_values`): missing field `results`"
    );
    assert_eq!(
        fault(b"{\"version\": 4, \"results\": {\"a\": [1, \"x\"]}}"),
        "runs.csv: line 1, column 39: cannot be read as a flent archive (JSON with `results` and `x_values`): invalid type: string \"x\", expected f64"
    );
    assert_eq!(
        fault(br#"{"version": 4, "results": {"a": [1]}, "x_values": [1, 2]}"#),
        "runs.csv: series 'a' has 1 values, but there are 2 times (`x_values`)"
    );
    assert_eq!(
        fault(br#"{"version": 5, "results": {}, "x_values": []}"#),
        "runs.csv: is a flent archive of version 5; versions 1 to 4 can be read"
    );
    assert!(fault(b"{\"version\": 4, \"resul").contains("line 1, column 21: "));
}

#[test]
fn metadata_may_be_nested_deeper_than_a_stack() {
    let depth = 100_000;
    let text = [
        br#"{"version": 4, "results": {}, "x_values": [], "metadata": "#.to_vec(),
        br#"{"a":"#.repeat(depth),
        b"1".to_vec(),
        b"}".repeat(depth + 1),
    ];
    let table = MeasuredTable::parse(&text.concat(), &[]).unwrap();
    assert!(table.metadata.is_empty());
}

mod parquet_files {
    use polars::prelude::*;

    use super::*;

    fn file(columns: Vec<Column>) -> Vec<u8> {
        let mut frame = DataFrame::new_infer_height(columns).unwrap();
        let mut bytes = Vec::new();
        ParquetWriter::new(&mut bytes).finish(&mut frame).unwrap();
        bytes
    }

    fn example() -> Vec<u8> {
        file(vec![
            Column::new("cca".into(), ["bbr", "cubic"]),
            Column::new("rtt_ns".into(), [20_000_000_i64, 40_000_000]),
            Column::new("goodput_bps".into(), [Some(9.5e6), None]),
            Column::new("loss".into(), [f64::NAN, 0.01]),
            Column::new("ecn".into(), [true, false]),
        ])
    }

    #[test]
    fn a_parquet_table_has_the_same_columns() {
        let table = MeasuredTable::parse(&example(), &[]).unwrap();
        assert_eq!((table.format, table.rows()), (MeasuredFormat::Parquet, 2));
        assert_eq!(table.numbers("rtt_ns").unwrap(), numbers(&[2e7, 4e7]));
        assert_eq!(table.numbers("goodput_bps").unwrap(), [Some(9.5e6), None]);
        assert_eq!(table.numbers("loss").unwrap(), [None, Some(0.01)]);
        assert_eq!(
            table.texts("ecn").unwrap(),
            [Some("true".into()), Some("false".into())]
        );
        assert_eq!(
            table.numbers("cca").unwrap_err().to_string(),
            "row 1: 'bbr' in column 'cca' is not a number"
        );
    }

    /// Small numbers as pandas stores them, decimals as databases do, and columns that are neither numbers nor texts,
    /// which are in the way of none that are. Written by pyarrow from the values below.
    #[test]
    fn a_parquet_table_is_read_whatever_its_columns_are() {
        let bytes = include_bytes!("../../../testdata/tables/types.parquet");
        let table = MeasuredTable::parse(bytes, &[]).unwrap();
        assert_eq!(table.rows(), 2);
        for (name, expected) in [
            ("small", [Some(-1.0), Some(2.0)]),
            ("short", [Some(-300.0), Some(300.0)]),
            ("byte", [Some(200.0), None]),
            ("port", [Some(5001.0), Some(65535.0)]),
            ("loss", [Some(f64::from(0.1_f32)), Some(0.25)]),
            ("goodput_mbps", [Some(9.25), Some(-0.01)]),
            ("rtt_ns", [Some(2e7), Some(4e7)]),
            // By its place: those that are not read count.
            ("#14", [Some(2e7), Some(4e7)]),
        ] {
            assert_eq!(table.numbers(name).unwrap(), expected, "{name}");
        }
        // As a label a number of half the digits is as short as it was written.
        assert_eq!(
            table.texts("loss").unwrap(),
            [Some("0.1".into()), Some("0.25".into())]
        );
        for (name, kind) in [
            ("half", "float of 16 bits"),
            ("began", "timestamp"),
            ("day", "date"),
            ("took", "duration"),
            ("rtts", "list"),
            ("host", "struct"),
        ] {
            let said = table.texts(name).unwrap_err().to_string();
            let expected = format!("column '{name}' is of type {kind}, neither number nor text");
            assert!(said.starts_with(&expected), "{said}");
            assert_eq!(table.numbers(name).unwrap_err().to_string(), said);
        }
    }

    #[test]
    fn a_parquet_file_that_was_cut_short_is_refused() {
        let whole = example();
        for cut in 0..whole.len() {
            assert!(
                MeasuredTable::parse(&whole[..cut], &[]).is_err(),
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn no_damage_of_the_end_of_a_parquet_file_is_a_panic() {
        let whole = example();
        // Its length stands before the last magic number.
        let (length, _) = whole[whole.len() - 8..].split_first_chunk().unwrap();
        let end = whole.len() - 8 - u32::from_le_bytes(*length) as usize;
        for place in end..whole.len() {
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[place] ^= 1 << bit;
                let _ = MeasuredTable::parse(&damaged, &[]);
            }
        }
    }

    /// A file of several kinds of pages: with a dictionary, plain, with nulls, compressed.
    fn pages() -> Vec<u8> {
        let n = 400_u32;
        let mut frame = DataFrame::new_infer_height(vec![
            Column::new(
                "cca".into(),
                (0..n)
                    .map(|i| ["bbr", "cubic", "reno"][i as usize % 3])
                    .collect::<Vec<_>>(),
            ),
            Column::new("run".into(), (0..n).collect::<Vec<_>>()),
            Column::new(
                "goodput_bps".into(),
                (0..n)
                    .map(|i| (i % 7 > 0).then(|| f64::from(i) * 1.1))
                    .collect::<Vec<_>>(),
            ),
        ])
        .unwrap();
        let mut bytes = Vec::new();
        ParquetWriter::new(&mut bytes)
            .with_data_page_size(Some(512))
            .finish(&mut frame)
            .unwrap();
        bytes
    }

    #[test]
    fn no_damage_of_the_pages_of_a_parquet_file_is_a_panic_or_takes_the_memory() {
        for whole in [example(), pages()] {
            for place in 0..whole.len() {
                for value in [0, 0x7f, 0xff, whole[place] ^ 1, whole[place] ^ 0x80] {
                    let mut damaged = whole.clone();
                    damaged[place] = value;
                    if let Ok(table) = MeasuredTable::parse(&damaged, &[]) {
                        assert!(table.columns.iter().all(|c| c.values.len() == table.rows()));
                    }
                }
            }
        }
    }
}

#[test]
fn an_archive_of_flent_tells_how_many_flows_it_had() {
    let flows = |names: &[&str]| {
        let results: Vec<String> = names
            .iter()
            .map(|name| format!("{name:?}: [1.0]"))
            .collect();
        let archive = format!(
            "{{\"version\": 4, \"x_values\": [0.0], \"results\": {{{}}}}}",
            results.join(", ")
        );
        super::flent::flows(&super::flent::parse(archive.as_bytes()).unwrap())
    };
    assert_eq!(flows(&["TCP upload", "Ping (ms) ICMP"]), Some(1));
    // What is beside a part of itself is their sum; what sockets say is no flow.
    let parts = [
        "TCP upload",
        "TCP upload::1",
        "TCP upload::2",
        "TCP upload::1::tcp_cwnd",
        "TCP upload::tcp_rtt",
    ];
    assert_eq!(flows(&parts), Some(2));
    let both_ways = [
        "TCP download BE",
        "TCP download BK",
        "TCP download avg",
        "TCP download sum",
        "TCP upload BE",
        "TCP upload BE::tcp_rtt",
        "TCP upload avg",
        "TCP totals",
        "TCP upload fairness",
    ];
    assert_eq!(flows(&both_ways), Some(3));
    assert_eq!(flows(&["Ping (ms) ICMP"]), None);
}
