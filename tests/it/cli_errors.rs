//! What the command says about input and outputs it cannot use, and how it exits.

use std::fs;
use std::path::Path;

use super::cli::{Run, names, run};
use super::support::{RAW_US, RECORD_HEADER, capture, field, later, records, records_mut, snapped};
use super::wire::{self, Format, Packet};

const ETHERNET: Format = Format {
    link: wire::ETHERNET,
    ..RAW_US
};

/// Writes `bytes` as a capture, analyses it, and expects the exit status and the words.
fn check(bytes: &[u8], status: i32, words: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.pcap"), bytes).unwrap();
    let run = run(folder.path(), &["in.pcap", "--out", "r.csv", "--no-charts"]);
    assert_eq!(run.status, status, "{}", run.stderr);
    for word in words {
        assert!(run.stderr.contains(word), "'{word}' in: {}", run.stderr);
    }
    let written = names(folder.path()).contains("r.csv");
    assert_eq!(
        written,
        status < 2,
        "results are there unless the status is 2"
    );
    assert!(!run.stderr.contains("panicked"));
    run
}

#[test]
fn a_file_that_is_no_capture_is_refused_with_what_it_looks_like_or_begins_with() {
    let expected = ": expected pcap or pcapng";
    let text = format!("in.pcap: is not a capture but looks like text{expected}");
    check(b"hello, this is text", 2, &[&text]);
    let unknown = format!("in.pcap: is not a capture but begins with 01 02 03{expected}");
    check(&[1, 2, 3], 2, &[&unknown]);
}

#[test]
fn a_compressed_capture_that_was_cut_short_is_told_so_once() {
    let bytes = fs::read(capture("two-flows-cubic-bbr.pcap.zst")).unwrap();
    let run = check(
        &bytes[..bytes.len() / 2],
        1,
        &["the zstd stream ends early"],
    );
    let line = run.stderr.lines().next().unwrap();
    assert!(line.ends_with(" records before it are used"), "{line}");
}

/// 54 bytes are all headers of TCP over IPv4, and of IPv6 they end before those of TCP begin.
#[test]
fn headers_that_the_snap_length_cut_off_are_missed_and_the_length_to_use_is_said() {
    let advice = "capture with a snap length of 128 or more, with tunnels of 192 or more";
    let read = |name: &str| zstd::decode_all(fs::File::open(capture(name)).unwrap()).unwrap();
    let run = check(&snapped(&read("ipv6-loss.pcap.zst"), 54), 0, &[]);
    let said = "No TCP flow with payload: all packets were cut by the snap length";
    assert!(
        run.stdout.contains(said) && run.stdout.contains(advice),
        "{}",
        run.stdout
    );
    let both = snapped(&read("two-flows-cubic-bbr.pcap.zst"), 54);
    let said =
        "packets before the end of their headers: they are missing, and so may be whole flows";
    let run = check(&both, 0, &[said, advice]);
    assert!(
        run.stdout.contains("1 connection, 2 flows"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_missing_capture_is_named_once() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["none.pcap"][..],
        &["path", "--before", "none.pcap", "--after", "none.pcap"],
    ] {
        let run = run(folder.path(), arguments);
        assert_eq!(run.status, 2, "{}", run.stderr);
        // The system's words for it say nothing more.
        let said = "error: none.pcap: does not exist\n";
        assert!(run.stderr.starts_with(said), "{}", run.stderr);
    }
}

#[test]
fn a_command_that_is_not_known_is_told_which_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(folder.path(), &["stdy", "study.toml"]);
    assert_eq!(run.status, 2, "{}", run.stderr);
    let said = "error: stdy: does not exist; if this is to be a command, there are `path`, `study`, `completions` and `man`\n\
                error: study.toml: does not exist\n";
    assert!(run.stderr.starts_with(said), "{}", run.stderr);
}

#[test]
fn an_empty_file_is_refused() {
    check(b"", 2, &["in.pcap", "is empty"]);
}

#[test]
fn a_header_without_records_is_a_capture_without_flows() {
    let run = check(&ETHERNET.head(), 0, &[]);
    let said = "\nNo TCP flow with payload: no packet was captured; check the interface, ";
    assert!(run.stdout.contains(said), "{}", run.stdout);
    // Cut short within the first record, it may have had many.
    let cut = [&ETHERNET.head()[..], &[0; 8]].concat();
    let run = check(&cut, 2, &["in.pcap: "]);
    assert!(!run.stdout.contains("no packet"), "{}", run.stdout);
}

#[test]
fn a_capture_of_a_link_type_nobody_knows_says_which_it_is() {
    let packet = Packet {
        at_ns: 1_000_000_000,
        bytes: vec![9; 4],
        original_len: 4,
    };
    let format = Format {
        link: 189,
        ..ETHERNET
    };
    let run = check(&format.file([packet]), 0, &[]);
    let said = "\nNo TCP flow with payload: link type 189 (USB_LINUX) is not known: ";
    assert!(run.stdout.contains(said), "{}", run.stdout);
}

#[test]
fn a_record_of_four_gigabytes_is_damage_not_memory() {
    let record = [[1, 0, 0, 0], [0; 4], [0xff; 4], [0xff; 4]].concat();
    let words = ["record 1 at byte 24", "4294967295 bytes", "damaged"];
    check(&[ETHERNET.head(), record].concat(), 2, &words);
}

#[test]
fn a_capture_cut_short_gives_what_was_read_and_status_1() {
    let mut bytes = fs::read(capture("drop-one.pcap")).unwrap();
    bytes.truncate(40_000);
    let run = check(&bytes, 1, &["in.pcap", "cut short"]);
    assert!(run.stdout.contains("10.77.0.1:5001"), "{}", run.stdout);
}

#[test]
fn one_bad_capture_does_not_lose_the_others() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bad"), "this is no capture").unwrap();
    let good = capture("drop-one.pcap");
    let run = run(
        folder.path(),
        &[
            "bad",
            good.to_str().unwrap(),
            "--out",
            "r.csv",
            "--no-charts",
        ],
    );
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert!(
        run.stderr.contains("bad: is not a capture"),
        "{}",
        run.stderr
    );
    // As if it held no packets, its line would look like a result.
    assert!(
        run.stdout.starts_with("#1 bad: not read\n"),
        "{}",
        run.stdout
    );
    let table = fs::read_to_string(folder.path().join("r.csv")).unwrap();
    assert_eq!(table.lines().count(), 3, "a header and two flows");
}

#[test]
fn the_name_of_a_file_does_nothing_to_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    // What makes terminals write red from there on.
    let (found, missing) = ("a\u{1b}[31mb.pcap", "no\u{1b}[31mb.pcap");
    std::fs::copy(capture("drop-one.pcap"), folder.path().join(found)).unwrap();
    let run = run(folder.path(), &[found, missing]);
    assert_eq!(run.status, 1, "{}", run.stderr);
    for (text, name) in [(&run.stdout, "a"), (&run.stderr, "no")] {
        assert!(
            text.contains(&format!("{name}\\u{{1b}}[31mb.pcap")),
            "{text:?}"
        );
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
}

#[test]
fn tables_cannot_share_a_file_whatever_leads_to_its_folder() {
    let good = capture("drop-one.pcap");
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().file_name().unwrap().to_str().unwrap();
    for (around, words) in [
        (format!("../{name}/r.csv"), "cannot share a file"),
        (
            format!("../{name}/r.pairs.csv"),
            "give --segments another name",
        ),
        // Through a folder that is not there yet.
        ("./new/../r.csv".to_owned(), "cannot share a file"),
    ] {
        let args = [
            good.to_str().unwrap(),
            "--out",
            "r.csv",
            "--segments",
            &around,
        ];
        let run = run(folder.path(), &args);
        assert_eq!(run.status, 2, "{}", run.stderr);
        assert!(run.stderr.contains(words), "{}", run.stderr);
        assert!(names(folder.path()).is_empty());
    }
}

/// Runs the command in an empty folder, where it writes nothing and says these words.
fn check_refused(args: &[&str], words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let run = run(folder.path(), args);
    assert_eq!(run.status, 2, "{args:?}: {}", run.stderr);
    for word in words {
        assert!(
            run.stderr.contains(word),
            "{args:?}: '{word}' in: {}",
            run.stderr
        );
    }
    assert!(
        names(folder.path()).is_empty(),
        "{args:?}: {:?}",
        names(folder.path())
    );
    assert_eq!(run.stdout, "", "{args:?}");
}

#[test]
fn what_cannot_be_honoured_is_named_and_nothing_is_written() {
    let good = capture("drop-one.pcap");
    let good = good.to_str().unwrap();
    for (args, words) in [
        (
            &["missing.pcap"][..],
            &["missing.pcap", "does not exist"][..],
        ),
        (&["."], &["is a directory"]),
        (
            &["*.none"],
            &["*.none", "if this is a pattern, no file matches it"],
        ),
        (
            &["--concat", good, good],
            &["drop-one.pcap: is given twice"],
        ),
        (
            &[good, "--out", "/dev/null/r.csv"],
            &["/dev/null/r.csv: cannot be written: a file stands where a folder is to be; remove"],
        ),
        (&[good, "--out", "r.xlsx"], &["r.xlsx", "ending must be"]),
        (&[good, "--out", "r"], &["ending must be"]),
        (
            &[good, "--filter", "port eighty"],
            &["--filter 'port eighty'", "column 6"],
        ),
        (
            &[good, "--capacity", "fast"],
            &[
                "--capacity",
                "does not begin with a number: write a rate (50Mbit",
            ],
        ),
        (&[good, "--capacity", "0Mbit"], &["must be above 0"]),
        (&[good, "-c", "-5Mbit"], &["--capacity", "is below 0"]),
        (
            &[good, "--top", "-1"],
            &["'-1' for '--top <N>'", "at least"],
        ),
        (
            &[good, "--capacity", "50"],
            &["write the unit, such as 50Mbit"],
        ),
        (&[good, "--bin", "100"], &["--bin", "no unit of time"]),
        (&[good, "--bin", "0ms"], &["--bin"]),
        (
            &[good, "--fness-window", "5s"],
            &["--fness-window", "no window"],
        ),
        (&[good, "--threads", "0"], &["--threads", "at least 1"]),
        (&[good, "--top", "few"], &["--top", "no whole number"]),
        (&[good, "--max-holes", "7"], &["--max-holes", "at least 8"]),
        (&["-", "-"], &["standard input can be read only once"]),
        (
            &[good, "--out", "r.csv", "--segments", "r.csv"],
            &["cannot share a file"],
        ),
        (
            &[good, "--out", "r.csv", "--segments", "./r.pairs.csv"],
            &["r.pairs.csv", "give --segments another name"],
        ),
        (&[good, "--no-such-option"], &["--no-such-option"]),
        (
            &["-q", "study", "s.toml", "--out", "s"],
            &["'study' is a command and comes first"],
        ),
        (
            &["-q", "path", "--before", good, "--after", good],
            &["tip: 'path' is a command and comes first"],
        ),
        (&[], &["CAPTURE"]),
    ] {
        check_refused(args, words);
    }
}

#[test]
fn other_commands_say_what_they_cannot_honour() {
    let good = capture("drop-one.pcap");
    let good = good.to_str().unwrap();
    let other = capture("keep-alive.pcap");
    let other = other.to_str().unwrap();
    for (args, words) in [
        (
            &[
                "path",
                "--before",
                good,
                "--after",
                other,
                "--out",
                "r.csv",
                "--packets",
                "r.hops.csv",
            ][..],
            &["r.hops.csv", "give --packets another name"][..],
        ),
        (
            &["study", good, "--out", "s"],
            &["drop-one.pcap", "it is no text", "study init"],
        ),
        (
            &["study", "none.toml", "--out", "s"],
            &["none.toml", "there is no such file", "study init"],
        ),
        (
            &["study", "init", good],
            &["drop-one.pcap", "name the folder"],
        ),
    ] {
        check_refused(args, words);
    }
}

#[test]
fn what_is_done_for_nothing_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let good = capture("drop-one.pcap").display().to_string();
    for (more, said) in [
        (
            &[good.as_str()][..],
            "is given twice, and so are its results",
        ),
        (&["--svg"], "--svg: has no effect without --out or --report"),
        (&["--bin", "1s"], "--bin: has no effect"),
        (
            &["--segments", "s.csv", "--no-charts"],
            "--no-charts: has no effect without --out or --report",
        ),
        // Behind a link of 20 Mbit/s, and of which the packets tell.
        (&["--capacity", "1Gbit"], "its packets show a link of "),
        (
            &["--out", "r.csv", "--no-charts", "--svg"],
            "warning: --svg: has no effect with --no-charts\n",
        ),
        (
            &["--bin", "1s", "--out", "r.csv"],
            "lasts 522 ms, less than two bins: charts over time show more with --bin 10ms",
        ),
    ] {
        let run = run(folder.path(), &[&[good.as_str()], more].concat());
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert!(run.stderr.contains(said), "{more:?}: {}", run.stderr);
    }
    // The same an hour later, as a part of it: charts would show the hour.
    let an_hour_later = later(fs::read(&good).unwrap(), 3600);
    fs::write(folder.path().join("later.pcap"), an_hour_later).unwrap();
    let args = ["--concat", &good, "later.pcap", "--out", "r.csv"];
    let apart = run(folder.path(), &args);
    let said = "for 3,599 of 3,600 s no flow sent anything, and charts over time show hardly more than that: without --concat";
    assert!(apart.stderr.contains(said), "{}", apart.stderr);
    let study = "[[runs]]\nfiles = \"later.pcap\"\n";
    fs::write(folder.path().join("study.toml"), study).unwrap();
    let dark = [
        "study",
        "study.toml",
        "--out",
        "s",
        "--no-charts",
        "--chart-theme",
        "dark",
        "--svg",
    ];
    for (page, said) in [(&[][..], 2), (&["--report", "s.html"], 1)] {
        let run = run(folder.path(), &[&dark, page].concat());
        assert_eq!(run.status, 0, "{}", run.stderr);
        let lines = run.stderr.lines();
        let without = lines.filter(|line| line.ends_with(": has no effect with --no-charts"));
        assert_eq!(without.count(), said, "{}", run.stderr);
    }
    let run = run(folder.path(), &["study.toml"]);
    let said = "is for `ccanalyze study MANIFEST --out FOLDER`";
    assert!(run.stderr.contains(said), "{}", run.stderr);
}

/// The same capture by a clock that counts in so many nanoseconds.
fn coarsened(mut pcap: Vec<u8>, tick_ns: u32) -> Vec<u8> {
    assert_eq!(field(&pcap, 0), 0xa1b2_3c4d, "nanoseconds, little-endian");
    for record in records_mut(&mut pcap) {
        let ns = field(record, 4) / tick_ns * tick_ns;
        record[4..8].copy_from_slice(&ns.to_le_bytes());
    }
    pcap
}

#[test]
fn a_clock_that_is_coarser_than_the_file_could_be_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let pcap = fs::read(capture("drop-one.pcap")).unwrap();
    for (tick_ns, said) in [
        (1, None),
        (
            1_000_000,
            Some("in steps of 1,000,000 ns, coarse for the shortest"),
        ),
        (
            100_000_000,
            Some("in steps of 100,000,000 ns: round-trip times are as coarse"),
        ),
    ] {
        fs::write(
            folder.path().join("x.pcap"),
            coarsened(pcap.clone(), tick_ns),
        )
        .unwrap();
        let run = run(folder.path(), &["x.pcap"]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let shown = run
            .stderr
            .lines()
            .find(|line| line.contains("timestamps come"));
        assert_eq!(shown.is_some(), said.is_some(), "{}", run.stderr);
        assert!(
            said.is_none_or(|said| run.stderr.contains(said)),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn udp_beside_the_flows_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let tcp = fs::read(capture("drop-one.pcap")).unwrap();
    // The SYN once more, as UDP: IP's protocol is 23 bytes into the frame.
    let mut datagram = records(&tcp).next().unwrap().to_vec();
    assert_eq!(datagram[RECORD_HEADER + 23], 6);
    datagram[RECORD_HEADER + 23] = 17;
    // 752 packets are TCP; one in twenty is said.
    for (datagrams, said) in [
        (39, None),
        (40, Some("40 of 792 packets of TCP and UDP are UDP")),
    ] {
        let mut pcap = tcp.clone();
        pcap.extend(datagram.repeat(datagrams));
        fs::write(folder.path().join("x.pcap"), pcap).unwrap();
        let run = run(folder.path(), &["x.pcap"]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let shown = run.stderr.lines().find(|line| line.contains(" are UDP"));
        assert_eq!(shown.is_some(), said.is_some(), "{}", run.stderr);
        assert!(
            said.is_none_or(|said| run.stderr.contains(said)),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_capture_is_no_path_with_itself() {
    let folder = tempfile::tempdir().unwrap();
    let [good, other] =
        ["drop-one.pcap", "keep-alive.pcap"].map(|name| capture(name).display().to_string());
    // The same file by another name.
    let again = good.replace("/captures/", "/captures/../captures/");
    for (points, said) in [
        (
            vec!["--before", &good, "--after", &again],
            "is given at two points",
        ),
        (
            vec!["--point", &good, &again, "--point", &other],
            "is given twice at one point",
        ),
    ] {
        let run = run(folder.path(), &[&["path"], &points[..]].concat());
        assert_eq!(run.status, 2, "{}", run.stderr);
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
}

#[test]
fn a_study_says_that_a_window_is_behind_the_end_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(capture("drop-one.pcap"), folder.path().join("a_1.pcap")).unwrap();
    let manifest = "[[runs]]\nfiles = \"{cca}_{run}.pcap\"\nwindow = \"500s+5s\"\n";
    fs::write(folder.path().join("study.toml"), manifest).unwrap();
    let run = run(folder.path(), &["study", "study.toml", "--out", "s"]);
    assert_eq!(run.status, 2, "{}", run.stderr);
    let said = "a_1.pcap: left out: its window begins 500.0 s after the first payload";
    assert!(run.stderr.contains(said), "{}", run.stderr);
}

#[test]
fn a_fness_window_behind_the_end_of_the_flows_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let two = capture("two-flows-cubic-bbr.pcap.zst");
    let two = two.to_str().unwrap();
    let with = |window: &str| {
        let args = [two, "--out", "r.csv", "--no-charts", "--fness-window"];
        let run = run(folder.path(), &[&args[..], &[window]].concat());
        assert_eq!(run.status, 0, "{}", run.stderr);
        run.stderr
    };
    let said = "all pairs of flows had ended when the window of --fness-window begins";
    let behind = with("500s+5s");
    assert!(behind.contains(said), "{behind}");
    let within = with("100ms+500ms");
    assert!(!within.contains("--fness-window"), "{within}");
    // The whole capture is 1.7 s long.
    let beyond = with("100ms+10s");
    let said = "s and more of its 10.0 s when both flows of a pair have ended: rates in it count that time, too";
    assert!(beyond.contains(said), "{beyond}");
}

#[test]
fn an_output_that_is_a_directory_is_refused_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("r.csv")).unwrap();
    let good = capture("drop-one.pcap");
    // The name of one that is not there, too, with none of the tables beside it.
    let is_one = "it is a directory";
    let would_be = "it ends as the name of a folder does";
    for (option, name, why) in [
        ("--out", "r.csv", is_one),
        ("--out", "s.csv/", would_be),
        ("--report", "s.html/", would_be),
    ] {
        let run = run(folder.path(), &[good.to_str().unwrap(), option, name]);
        assert_eq!(run.status, 2);
        let said = format!("error: {name}: cannot be written: {why}; take another name\n");
        assert_eq!(run.stderr, said);
    }
    assert!(Path::is_dir(&folder.path().join("r.csv")));
    assert_eq!(names(folder.path()).len(), 1);
}

#[test]
fn captures_put_together_by_cat_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["drop-one.pcap", "keep-alive.pcap"]
        .map(|name| std::fs::read(super::support::capture(name)).unwrap());
    std::fs::write(
        folder.path().join("both.pcap"),
        [first.clone(), second].concat(),
    )
    .unwrap();
    let all = run(folder.path(), &["both.pcap"]);
    assert_eq!(all.status, 1, "{}", all.stderr);
    let said = format!("at byte {}: another capture begins", first.len());
    assert!(all.stderr.contains(&said), "{}", all.stderr);
    // capinfos counts 752 and 150 packets in them.
    assert!(all.stdout.contains("752 packets"), "{}", all.stdout);
    let repaired = run(folder.path(), &["both.pcap", "--repair"]);
    assert!(
        repaired.stdout.contains("902 packets"),
        "{}",
        repaired.stdout
    );
}
