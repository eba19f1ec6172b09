//! `--name`: what flows are called.

use std::fs;
use std::path::Path;

use super::cli::{Run, run};
use super::support::{capture, later};

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
}

/// Two columns of a table.
fn columns(table: &Path, names: [&str; 2]) -> Vec<[String; 2]> {
    let text = fs::read_to_string(table).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let places = names.map(|name| head.iter().position(|of| *of == name).unwrap());
    let row = |line: Vec<&str>| places.map(|place| line[place].to_owned());
    lines.map(row).collect()
}

/// Both flows of a connection are of its port; `src port` is one of them.
#[test]
fn the_terminal_tables_and_the_page_have_names_beside_the_ends() {
    let two = capture("two-flows-cubic-bbr.pcap.zst");
    let two = two.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let named = |names: &[&str]| -> Run {
        let names = names.iter().flat_map(|name| ["--name", name]);
        let outputs = ["--no-charts", "--out", "o.csv", "--report", "o.html"];
        let all = [two].into_iter().chain(outputs).chain(names);
        let run = run(folder.path(), &all.collect::<Vec<_>>());
        assert_eq!((run.status, run.stderr.contains("--name")), (0, false));
        run
    };
    let table = |name: &str| folder.path().join(name);
    let plain = named(&[]);
    assert!(!plain.stdout.contains("┆ name "), "{}", plain.stdout);
    let flows = columns(&table("o.csv"), ["dst_port", "name"]);
    assert!(flows.iter().all(|[_, name]| name.is_empty()), "{flows:?}");

    let both = named(&["5001=CUBIC", "src port 5002=BBR"]);
    let flows = columns(&table("o.csv"), ["src_port", "name"]);
    let expected = [
        ["36634", "CUBIC"],
        ["5001", "CUBIC"],
        ["47126", ""],
        ["5002", "BBR"],
    ];
    assert_eq!(flows, expected.map(|row| row.map(str::to_owned)));
    // Only flows that carry enough are compared: the two downloads are among these.
    let pairs = columns(&table("o.pairs.csv"), ["a_name", "b_name"]);
    assert!(
        pairs.contains(&["CUBIC".to_owned(), "BBR".to_owned()]),
        "{pairs:?}"
    );
    for row in [
        "│ CUBIC ┆ 10.77.0.1:5001 > 10.77.200.1:36634   ┆ 6.12 Mbit/s ┆",
        "│       ┆ [fd77::200:1]:47126 > [fd77::1]:5002 ┆",
        "│ CUBIC ┆ 10.77.0.1:5001 > 10.77.200.1:36634   ┆ 7.06 Mbit/s ┆ 33.0 %",
        "│ BBR   ┆ [fd77::1]:5002 > [fd77::200:1]:47126 ┆ 14.3 Mbit/s ┆ 67.0 %",
    ] {
        assert!(both.stdout.contains(row), "{row}: {}", both.stdout);
    }
    // Where a line may be broken tells nothing.
    let page = fs::read_to_string(table("o.html")).unwrap();
    let page = page.replace("<wbr>", "");
    for cell in [">name<", ">CUBIC<", ">BBR: [fd77::1]:5002 → "] {
        assert!(page.contains(cell), "{cell}");
    }
}

#[test]
fn flows_of_a_path_have_names_beside_their_ends() {
    let folder = tempfile::tempdir().unwrap();
    let before = fs::read(capture("drop-one.pcap")).unwrap();
    fs::write(folder.path().join("after.pcap"), later(before.clone(), 1)).unwrap();
    fs::write(folder.path().join("before.pcap"), before).unwrap();
    let points = ["path", "--before", "before.pcap", "--after", "after.pcap"];
    let outputs = ["--no-charts", "--out", "p.csv", "--report", "p.html"];
    let names = ["--name", "src port 5001=answer", "--name", "5009=nobody"];
    let run = run(folder.path(), &[&points[..], &outputs, &names].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    let warning = "warning: --name: no flow is called 'nobody'\n";
    assert!(run.stderr.contains(warning), "{}", run.stderr);
    let mut flows = columns(&folder.path().join("p.csv"), ["src_port", "name"]);
    flows.sort();
    let expected = [["35364", ""], ["5001", "answer"]];
    assert_eq!(flows, expected.map(|row| row.map(str::to_owned)));
    let row = "│ answer ┆ 10.77.0.1:5001 > 10.77.200.1:35364 ┆";
    assert!(run.stdout.contains(row), "{}", run.stdout);
    let page = fs::read_to_string(folder.path().join("p.html")).unwrap();
    assert!(page.contains(">name<") && page.contains(">answer<"));
}

#[test]
fn what_is_no_name_is_refused() {
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
            &[one, "--name", "5001=two\nlines"],
            2,
            r#""two\nlines" is no name: write it in one line"#,
        ),
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

/// JSON, CSV and HTML each have characters that mean something.
#[test]
fn names_may_have_letters_that_mean_something_elsewhere() {
    let two = capture("two-flows-cubic-bbr.pcap.zst");
    let two = two.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let written = |out: &str, names: &[&str]| {
        let outputs = ["--no-charts", "--out", out, "--report", "o.html"];
        let all = [two]
            .into_iter()
            .chain(outputs)
            .chain(names.iter().copied());
        let run = run(folder.path(), &all.collect::<Vec<_>>());
        assert_eq!(run.status, 0, "{}", run.stderr);
        let bytes = fs::read(folder.path().join(out)).unwrap();
        let page = fs::read_to_string(folder.path().join("o.html")).unwrap();
        (
            String::from_utf8_lossy(&bytes).into_owned(),
            page,
            run.stdout,
        )
    };
    let name = r#"5001=a, "b" = <i>fast, and so long that a line has no room</i>"#;
    let names = ["--name", name];
    // How the file was made.
    let told = |table: &str| table.contains(r#""names":["#);
    let (table, page, terminal) = written("o.parquet", &names);
    let escaped =
        r#""names":["port 5001=a, \"b\" = <i>fast, and so long that a line has no room</i>"]"#;
    assert!(told(&table) && table.contains(escaped));
    assert!(page.contains("&lt;i&gt;fast") && !page.contains("<i>fast"));
    let cut: String = name[5..].chars().take(23).collect();
    assert!(terminal.contains(&format!("│ {cut}… ┆")), "{terminal}");
    let (table, ..) = written("o.csv", &names);
    let cell = r#","a, ""b"" = <i>fast, and so long that a line has no room</i>","#;
    assert!(table.contains(cell));
    assert!(!told(&written("p.parquet", &[]).0));
}
