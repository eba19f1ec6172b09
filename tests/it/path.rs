//! Two points along a path: the emulator's log, a testbed's published numbers, the command.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::net::IpAddr;
use std::path::Path;
use std::process::Command;

use ccanalyze::path::{Heading, Hop, PathAnalysis, PathConfig, Point, QueueBin};
use serde_json::Value;

use super::path_said::says_only_that_one_is_a_copy;
use super::support::{capture, close, field, records, shared, with_records};

/// Sender and receiver, with their ports.
type Ends = (IpAddr, u16, IpAddr, u16);

fn hop(first: &Path, second: &Path) -> Hop {
    let points = [first, second].map(|path| Point::file(path.to_path_buf()));
    let mut analysis = PathAnalysis::of(&points, &PathConfig::default()).unwrap();
    analysis.hops.remove(0)
}

fn drops(hop: &Hop) -> BTreeMap<Ends, u64> {
    let mut drops = BTreeMap::new();
    for flow in hop.flows_in_order() {
        let (src, dst) = (flow.key.src, flow.key.dst);
        let ends = (src.ip(), src.port(), dst.ip(), dst.port());
        *drops.entry(ends).or_default() += flow.dropped_packets;
    }
    drops.retain(|_, drops| *drops > 0);
    drops
}

/// What truth.json of a lab scenario says was dropped between ingress and egress.
fn logged(folder: &Path) -> BTreeMap<Ends, u64> {
    let text = fs::read_to_string(folder.join("truth.json")).unwrap();
    let truth: Value = serde_json::from_str(&text).unwrap();
    let mut drops = BTreeMap::new();
    for flow in truth["flows"].as_array().unwrap() {
        let address = |name: &str| flow[name].as_str().unwrap().parse::<IpAddr>().unwrap();
        let port = |name: &str| flow[name].as_u64().unwrap() as u16;
        let server = (address("server"), port("sport"));
        let client = (address("client"), port("cport"));
        for (event, counts) in flow["network_events"].as_object().unwrap() {
            let parts: Vec<&str> = event.split('.').collect();
            let (from, to) = if parts[0] == "down" {
                (server, client)
            } else {
                (client, server)
            };
            if parts[1] == "bn" && parts[2].contains("drop") {
                let ends = (from.0, from.1, to.0, to.1);
                *drops.entry(ends).or_default() += counts["packets"].as_u64().unwrap();
            }
        }
    }
    drops
}

/// Every drop between the two captures is in the emulator's log, flow by flow, and no other.
#[test]
fn drops_of_every_flow_are_those_that_the_emulator_logged() {
    let Some(lab) = shared("lab") else { return };
    let mut all = 0;
    for entry in fs::read_dir(lab).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        let hop = hop(
            &folder.join("ingress.pcap.zst"),
            &folder.join("egress.pcap.zst"),
        );
        let truth = logged(&folder);
        assert_eq!(drops(&hop), truth, "{}", folder.display());
        // What waited was some flow's, also where the queue dropped what it had taken (B4).
        for heading in [Heading::Forward, Heading::Reverse] {
            let flows = hop.flows_in_order();
            let flows = flows.iter().filter(|flow| flow.heading == heading);
            let waited: u128 = flows.map(|flow| flow.waited_byte_ns).sum();
            let bins = &hop.ways[heading as usize].bins;
            let all: u128 = bins.iter().map(|bin| bin.bytes_ns).sum();
            assert_eq!(waited, all, "{}", folder.display());
        }
        all += truth.values().sum::<u64>();
    }
    // The sum of the README's column of drops at the bottleneck.
    assert_eq!(all, 9691);
}

/// Records of a compressed pcap of the lab from `from` on, before `to`, in ns since 1970; and the time of its first
/// one.
fn cut(path: &Path, from: i64, to: i64) -> (Vec<u8>, i64) {
    let bytes = zstd::decode_all(fs::File::open(path).unwrap()).unwrap();
    let time =
        |record: &[u8]| i64::from(field(record, 0)) * 1_000_000_000 + i64::from(field(record, 4));
    let kept = records(&bytes).filter(|record| (from..to).contains(&time(record)));
    let first = records(&bytes).next();
    (with_records(&bytes, kept), time(first.unwrap()))
}

/// METRICS.md B4: what is in the queue when captures begin or end waits there, although nobody sees it come in or
/// leave.
#[test]
fn captures_cut_from_others_show_the_same_queue() {
    const BIN_NS: i64 = 100_000_000;
    let Some(lab) = shared("lab") else { return };
    for (run, begins) in [
        ("s1-single-50m-reno-deep", 8),
        ("s1-single-100m-bbr-deep", 3),
        ("s3-two-cubic-cubic-2bdp", 80),
        ("s2-six-mixed", 30),
    ] {
        let paths =
            ["ingress", "egress"].map(|at| lab.join(run).join(at).with_extension("pcap.zst"));
        let whole = hop(&paths[0], &paths[1]);
        let whole = &whole.ways[Heading::Forward as usize];
        // Bins of a time in which the link is never idle; the second point's capture may end earlier.
        let (_, start) = cut(&paths[0], 0, 0);
        for (ends, exit_ends) in [(begins + 5, begins + 5), (begins + 5, begins + 3)] {
            let folder = tempfile::tempdir().unwrap();
            let parts = [ends, exit_ends].map(|bin| start + bin * BIN_NS);
            let parts = [0, 1].map(|point| {
                let path = folder.path().join(format!("{point}.pcap"));
                let from = start + begins * BIN_NS;
                fs::write(&path, cut(&paths[point], from, parts[point]).0).unwrap();
                path
            });
            let part = hop(&parts[0], &parts[1]);
            assert!(part.quality().is_empty(), "{run}: {:?}", part.quality());
            let part = &part.ways[Heading::Forward as usize];
            assert_eq!(part.bins.len() as i64, exit_ends - begins, "{run}");
            for cut in &part.bins {
                let is_same = |bin: &&QueueBin| bin.index == cut.index + begins;
                let bin = whole.bins.iter().find(is_same).unwrap();
                let expected = bin.packets_ns as f64 / BIN_NS as f64;
                let found = cut.packets_ns as f64 / part.lasts_ns(cut.index, BIN_NS) as f64;
                // The first and the last packets of the parts are some microseconds from the bins' ends.
                assert!(
                    (found - expected).abs() <= 1.0 + expected / 100.0,
                    "{run}, bin {}: {found} packets, but {expected}",
                    bin.index
                );
            }
        }
    }
}

/// 1500-byte packets at 10 Mbit/s: the configured rate and limit are found without being told.
#[test]
fn rate_and_limit_of_a_bottleneck_are_found() {
    let Some(lab) = shared("lab/s3-two-bbr-bbr-0.5bdp") else {
        return;
    };
    let hop = hop(&lab.join("ingress.pcap.zst"), &lab.join("egress.pcap.zst"));
    let way = &hop.ways[Heading::Forward as usize];
    let rate = way.rate_bps.unwrap();
    assert!((rate / 10e6 - 1.0).abs() < 0.001, "{rate}");
    // 31,250 bytes hold 20 full packets.
    let limit = way.limit.unwrap();
    assert_eq!(limit.share(20.0, 30_000.0), Some(1.0), "{limit:?}");
    assert!(way.drops.iter().all(|drop| drop.cause.name() == "full"));
}

/// A testbed that others tapped before (s1) and after (s3) its bottleneck of 10 Mbit/s. Their
/// tables, made from these captures: throughput at s3 in bins of 200 ms counts 9.90 Mbit/s of
/// Ethernet frames of 1500 bytes and less (`throughput.csv`, fourth pair of columns), no packet lost
/// between the points but retransmissions of the start.
#[test]
fn a_published_testbed_shows_its_bottleneck() {
    let Some(corpus) = shared("corpus/bbrv2-behaviour-analysis") else {
        return;
    };
    let capture = |point: &str| corpus.join(format!("1121_143647_example_bbrv2__{point}.pcap.gz"));
    let hop = hop(&capture("s1"), &capture("s3"));
    let way = &hop.ways[Heading::Forward as usize];
    let bytes: u64 = way.bins.iter().map(|bin| bin.left.bytes).sum();
    let bps = bytes as f64 * 8e9 / way.duration_ns().unwrap() as f64;
    assert!((bps / 9.90e6 - 1.0).abs() < 0.01, "{bps}");
    assert_eq!(way.drops.len(), 0);
    assert!(!hop.clock_is_fixed());

    // Per flow, in the order they began: bytes that passed, as `throughput.csv` counts them, and
    // the round trip at s1 (`avg_rtt.csv`), of which the way to s3 is all but the 40 ms that
    // netem adds behind it and what the hosts and the ACK take, less than 1 ms.
    let studies = shared("corpus/studies/bbrv2-behaviour-analysis").unwrap();
    let throughput = published(&studies, "throughput");
    let rtts = published(&studies, "avg_rtt");
    let flows = hop.flows_in_order();
    let flows = flows.iter().filter(|flow| flow.heading == Heading::Forward);
    for (index, flow) in flows.enumerate() {
        // Intervals of 200 ms, in bits per second; what comes in the last one, which is not a
        // whole one, is left out: 84 kB at 3.36 Mbit/s.
        let bytes: f64 = throughput[index].iter().sum::<f64>() * 0.2 / 8.0;
        let more = flow.passed_bytes as f64 - bytes;
        assert!((0.0..84_000.0).contains(&more), "{more} of {bytes}");
        let rtt_ms = rtts[index].iter().sum::<f64>() / rtts[index].len() as f64;
        let behind_ms = rtt_ms - flow.delay.ns_mean().unwrap() / 1e6;
        assert!((40.0..41.0).contains(&behind_ms), "{behind_ms}");
    }
}

/// The values of each flow in one of the testbed's tables: pairs of time and value, flow by flow.
fn published(folder: &Path, name: &str) -> Vec<Vec<f64>> {
    let path = folder.join(format!(
        "1121_143647_example_bbrv2__csv_data__{name}.csv.gz"
    ));
    let mut text = String::new();
    flate2::read::GzDecoder::new(fs::File::open(path).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    let mut columns = vec![Vec::new(); 3];
    for row in text.lines().skip(1) {
        let cells: Vec<&str> = row.split(';').collect();
        for (column, value) in columns.iter_mut().zip(cells.chunks_exact(2)) {
            column.extend(value[1].parse::<f64>());
        }
    }
    columns
}

#[test]
fn the_command_writes_all_tables_of_a_path() {
    let captures = super::support::root().join("testdata/captures");
    let folder = tempfile::tempdir().unwrap();
    let capture = captures.join("two-flows-cubic-bbr.pcap.zst");
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_ccanalyze"))
            .arg("path")
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let capture = capture.to_str().unwrap();
    // A capture against a copy of itself: all passes at once.
    fs::copy(capture, folder.path().join("copy.pcap.zst")).unwrap();
    let both = ["--before", capture, "--after", "copy.pcap.zst"];
    let (status, errors) = run(&[&both[..], &["--capacity", "10kbit", "-q"]].concat());
    assert_eq!((status, errors.as_str()), (Some(0), ""));
    let (_, errors) = run(&[&both[..], &["--capacity", "10kbit"]].concat());
    assert!(
        errors.contains("as much left as the capacity given, 10.0 kbit/s"),
        "{errors}"
    );
    let files = [
        "--out",
        "p.csv",
        "--packets",
        "all.csv",
        "--report",
        "p.html",
    ];
    let (status, errors) = run(&[&both[..], &files].concat());
    assert_eq!(status, Some(0));
    assert!(says_only_that_one_is_a_copy(&errors), "{errors}");
    let page = fs::read_to_string(folder.path().join("p.html")).unwrap();
    assert!(page.contains("to copy.pcap.zst</h1>"), "{page}");
    let alone = [
        "--report",
        "dark.html",
        "--no-charts",
        "--chart-theme",
        "dark",
    ];
    let (status, errors) = run(&[&both[..], &alone].concat());
    assert_eq!(status, Some(0));
    assert!(says_only_that_one_is_a_copy(&errors), "{errors}");
    let page = fs::read_to_string(folder.path().join("dark.html")).unwrap();
    assert!(page.contains("<body class=\"dark\">"), "{page}");
    for table in [
        "p",
        "p.hops",
        "p.series",
        "p.flow_series",
        "p.episodes",
        "all",
    ] {
        assert!(
            folder.path().join(format!("{table}.csv")).exists(),
            "{table}"
        );
    }
    let hops = fs::read_to_string(folder.path().join("p.hops.csv")).unwrap();
    let header: Vec<&str> = hops.lines().next().unwrap().split(',').collect();
    let dropped = header
        .iter()
        .position(|&name| name == "dropped_packets")
        .unwrap();
    for row in hops.lines().skip(1) {
        assert_eq!(row.split(',').nth(dropped), Some("0"), "{row}");
    }
    for (arguments, what) in [
        (&["--before", capture][..], "--after"),
        (&["--point", capture][..], "--point"),
        (&["--before", "-", "--after", capture][..], "standard input"),
        (
            &["--before", capture, "--after", capture, "--limit", "10"][..],
            "100p",
        ),
        (
            &[
                "--before",
                capture,
                "--after",
                "copy.pcap.zst",
                "--report",
                "p.pdf",
            ][..],
            "end in .html",
        ),
    ] {
        let (status, errors) = run(arguments);
        assert_eq!(status, Some(2), "{arguments:?}");
        assert!(errors.contains(what), "{arguments:?}: {errors}");
    }
    let other = captures.join("drop-one.pcap");
    let (status, errors) = run(&["--before", capture, "--after", other.to_str().unwrap()]);
    assert_eq!(status, Some(2));
    assert!(errors.contains("none of its packets"), "{errors}");
}

/// The rows of a table, by column.
fn rows(file: &Path) -> Vec<BTreeMap<String, String>> {
    let table = fs::read_to_string(file).unwrap();
    let mut lines = table.lines().map(|line| line.split(','));
    let header: Vec<&str> = lines.next().unwrap().collect();
    let of_row = |row| {
        header
            .iter()
            .map(|name| (*name).to_owned())
            .zip(row)
            .collect()
    };
    lines
        .map(|row| of_row(row.map(str::to_owned).collect::<Vec<_>>()))
        .collect()
}

/// The tables of a path between two points of the lab, by their names.
fn tables(
    folder: &Path,
    points: [&str; 2],
    more: &[&str],
) -> Option<impl Fn(&str) -> Vec<BTreeMap<String, String>>> {
    let lab = shared("lab")?;
    let points = points.map(|point| lab.join(point).with_extension("pcap.zst"));
    let [before, after] = points.each_ref().map(|path| path.to_str().unwrap());
    let run = [
        "path",
        "--before",
        before,
        "--after",
        after,
        "--out",
        "p.csv",
        "--no-charts",
        "-q",
    ];
    super::cli::run(folder, &[&run[..], more].concat());
    let folder = folder.to_path_buf();
    Some(move |name: &str| rows(&folder.join(format!("p.{name}.csv"))))
}

/// Over the time that a way lasts in them, also in the first and the last.
#[test]
fn the_bins_of_a_way_and_of_its_flows_add_up_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let Some(table) = tables(folder.path(), ["s7-clean/ingress", "s7-clean/egress"], &[]) else {
        return;
    };
    let number = |row: &BTreeMap<String, String>, name: &str| row[name].parse::<f64>().unwrap();
    let whole = |row: &BTreeMap<String, String>, name: &str| row[name].parse::<i64>().unwrap();
    let way = &table("hops")[0];
    let [start, end] = ["start_ns", "end_ns"].map(|name| whole(way, name));
    // By the table, of the way forward: each value times what of its bin, of 100 ms, the way lasts.
    let sum = |name: &str, column: &str| {
        let bins = table(name)
            .into_iter()
            .filter(|row| row["way"] == "forward");
        let of_bin = |row| {
            let bin = whole(&row, "bin_start_ns");
            let lasts = (bin + 100_000_000).min(end) - bin.max(start);
            number(&row, column) * lasts as f64
        };
        bins.map(of_bin).sum::<f64>() / (end - start) as f64
    };
    for (table, column) in [
        ("series", "utilisation"),
        ("series", "queue_bytes_mean"),
        ("flow_series", "queue_bytes_mean"),
    ] {
        close(sum(table, column), number(way, column), 1e-9);
    }
}

/// Where each is delayed by chance nothing waits, not even 0 packets, and whatever the limit is said to be.
#[test]
fn without_a_queue_no_column_tells_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let points = ["s7-jitter/sender", "s7-jitter/ingress"];
    let Some(table) = tables(folder.path(), points, &["--limit", "100p"]) else {
        return;
    };
    let is_null = |name: &str, columns: &[&str]| {
        let of_way = table(name)
            .into_iter()
            .filter(|row| row["way"] == "forward");
        let rows: Vec<_> = of_way.collect();
        assert!(!rows.is_empty());
        for (row, column) in rows
            .iter()
            .flat_map(|row| columns.iter().map(move |column| (row, column)))
        {
            assert_eq!(row[*column], "", "{name}.{column}");
        }
    };
    let of_queue = ["queue_packets_mean", "occupancy_mean", "occupancy_max"];
    is_null("series", &of_queue);
    is_null("hops", &of_queue);
    is_null(
        "hops",
        &[
            "queue_delay_ns_mean",
            "queue_delay_ns_max",
            "standing_packets",
            "busy_share",
        ],
    );
}

/// Three packets in a row never come to the later point: an episode, of one flow.
#[test]
fn an_episode_names_who_lost_with_ports_apart_from_addresses_of_ipv6() {
    /// The longest records are packets with data; these are some of the server's, one behind the other.
    const LOST: std::ops::Range<usize> = 40..43;
    let folder = tempfile::tempdir().unwrap();
    let [before, after] = ["before.pcap", "after.pcap"].map(|name| folder.path().join(name));
    let whole = fs::File::open(capture("ipv6-loss.pcap.zst")).unwrap();
    let whole = zstd::decode_all(whole).unwrap();
    let mut data = 0;
    let kept = records(&whole).filter(|record| {
        let has_data = field(record, 12) > 1000;
        data += usize::from(has_data);
        !(has_data && LOST.contains(&(data - 1)))
    });
    fs::write(&after, with_records(&whole, kept)).unwrap();
    fs::write(&before, &whole).unwrap();
    let paths = [&before, &after].map(|path| path.to_str().unwrap());
    let run = super::cli::run(
        folder.path(),
        &[
            "path",
            "--before",
            paths[0],
            "--after",
            paths[1],
            "--out",
            "p.csv",
            "--no-charts",
            "--report",
            "p.html",
            "--name",
            "src host fd77::1=CUBIC",
        ],
    );
    assert_eq!(run.status, 0, "{}", run.stderr);
    let page = fs::read_to_string(folder.path().join("p.html")).unwrap();
    let loser = ">CUBIC: [fd77::1]:5001 → [fd77::200:1]:50968: 3<";
    assert!(page.replace("<wbr>", "").contains(loser), "{page}");
    let episodes = rows(&folder.path().join("p.episodes.csv"));
    assert_eq!(episodes.len(), 1, "{episodes:?}");
    let said = &episodes[0]["dropped_by_flow"];
    assert_eq!(said, "[fd77::1]:5001>[fd77::200:1]:50968=3");
}

/// A limit and a capacity are of one queue, and of several points nobody knows which.
#[test]
fn with_several_points_the_hop_is_named_whose_queue_is_given() {
    let refused = |arguments: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_ccanalyze"))
            .arg("path")
            .args(arguments.split(' '))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    for (arguments, what) in [
        ("--point a --point b --point c -c 1Mbit", "--hop"),
        ("--before a --after b --hop 1", "--limit and --capacity"),
        (
            "--point a --point b --limit 9p --hop 2",
            "the last one here is 1",
        ),
        ("--point a --point b --limit 9p --hop 0", "counted from 1"),
    ] {
        let errors = refused(arguments);
        assert!(errors.contains(what), "{arguments}: {errors}");
    }
}

/// The colour of the line in front of a name in the legend of a chart.
fn colour_of<'s>(svg: &'s str, name: &str) -> &'s str {
    let at = svg.find(name).unwrap_or_else(|| panic!("no {name}"));
    let stroke = svg[..at].rfind("stroke=\"#").unwrap();
    &svg[stroke + 8..stroke + 15]
}

#[test]
fn a_flow_has_one_colour_in_the_charts_of_captures_and_of_a_path() {
    let Some(lab) = shared("lab") else { return };
    // Cubic comes first, and BBR sends more.
    let run = lab.join("s3-two-cubic-bbr-2bdp");
    let point = |name: &str| run.join(format!("{name}.pcap.zst"));
    let folder = tempfile::tempdir().unwrap();
    let [before, after] = ["ingress", "egress"].map(point);
    let run = |args: &[&std::ffi::OsStr]| {
        let mut command = super::cli::command(folder.path());
        assert!(
            command
                .args(args)
                .arg("--svg")
                .output()
                .unwrap()
                .status
                .success()
        );
    };
    run(&[before.as_os_str(), "--out".as_ref(), "one.csv".as_ref()]);
    run(&[
        "path".as_ref(),
        "--before".as_ref(),
        before.as_os_str(),
        "--after".as_ref(),
        after.as_os_str(),
        "--out".as_ref(),
        "both.csv".as_ref(),
    ]);
    let read = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
    let one = read("one.charts/01-ingress-goodput.svg");
    let both = read("both.charts/hop-1-forward.svg");
    let names = ["10.77.0.1", "10.77.0.2"];
    let colours = names.map(|name| colour_of(&one, name).to_owned());
    assert_ne!(colours[0], colours[1]);
    assert_eq!(names.map(|name| colour_of(&both, name).to_owned()), colours);
}
