//! Numbers of runs between flows, and of runs of which a window counts.

use std::fs;
use std::path::Path;

use ccanalyze::Analysis;
use ccanalyze::analyze::{Config, Watch};
use ccanalyze::study::{Metric, StudyPlan, StudyResults, Values};

use super::cli::run;
use super::directions::Wire;
use super::support::{capture, close, records, with_records};

const MS: u64 = 1_000_000;

/// A folder with one run, `1.pcap`, and a study of it over this window.
pub(crate) fn folder_with(wire: Wire) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("1.pcap"), wire.pcap()).unwrap();
    folder
}

/// Writes the manifest of a study with this window.
fn write_study(folder: &Path, window: &str) {
    write_study_with(folder, &format!("window = \"{window}\""));
}

/// The same with this line of how runs are analysed.
fn write_study_with(folder: &Path, analysis: &str) {
    let manifest = format!(
        "[analysis]\n{analysis}\n[conditions]\ncapacity = \"10Mbit\"\n[[runs]]\nfiles = \"{{run}}.pcap\"\n"
    );
    fs::write(folder.join("s.toml"), manifest).unwrap();
}

pub(crate) fn study(folder: &Path, window: &str) -> StudyResults {
    write_study(folder, window);
    carry_out(folder)
}

fn carry_out(folder: &Path) -> StudyResults {
    let plan = StudyPlan::read(&folder.join("s.toml")).unwrap();
    plan.carry_out(None, &Watch::default())
}

/// Steps of packets that leave from `first_ms` to `last_ms`, one every `every_ms`, for a flow of [`Wire`], which counts
/// from 1 ms.
fn steps(first_ms: u64, every_ms: u64, last_ms: u64) -> impl Iterator<Item = u64> {
    let further = (last_ms - first_ms) / every_ms;
    let rest = (0..further).map(move |_| every_ms * MS);
    std::iter::once((first_ms - 1) * MS).chain(rest)
}

/// A packet of A every 10 ms from 1 s to 5 s, and one of B every 20 ms from 2 s to 3 s.
pub(crate) fn long_and_short() -> Wire {
    let mut wire = Wire::default();
    wire.flow([1, 3], 1001, steps(1000, 10, 5000));
    wire.flow([2, 3], 1002, steps(2000, 20, 3000));
    wire
}

/// The sample of rank `ceil(q n)` of all flows' together, within 1 % (METRICS.md R2): one flow alone has others.
#[test]
fn quantiles_of_a_run_are_of_the_samples_of_all_its_flows() {
    let folder = tempfile::tempdir().unwrap();
    let two = capture("two-flows-cubic-bbr.pcap.zst");
    fs::copy(&two, folder.path().join("1.pcap")).unwrap();
    let config = Config {
        segments: true,
        ..Config::default()
    };
    let analysis = Analysis::of([two], &config);
    let flows = analysis.captures[0].flows();
    let mut samples: Vec<i64> = flows
        .flat_map(|flow| flow.record.segments().iter())
        .filter_map(|segment| segment.rtt.map(|(ns, _)| ns))
        .collect();
    samples.sort_unstable();
    let manifest = "[[runs]]\nfiles = \"{run}.pcap\"\n";
    fs::write(folder.path().join("s.toml"), manifest).unwrap();
    let run = &carry_out(folder.path()).runs[0];
    for (metric, q) in [
        (Metric::RttNsP50, 0.50),
        (Metric::RttNsP95, 0.95),
        (Metric::RttNsP99, 0.99),
    ] {
        let rank = (q * samples.len() as f64).ceil() as usize;
        let exact = samples[rank - 1] as f64;
        close(run.values.get(metric).unwrap(), exact, 0.01);
    }
    // They are the run's alone: each of its flows has another median.
    let medians = run.flows.iter().map(|flow| &flow.measure.values);
    let medians = medians.map(|values| values.get(Metric::RttNsP50).unwrap());
    let of_run = run.values.get(Metric::RttNsP50).unwrap();
    for median in medians {
        assert!(
            (median / of_run - 1.0).abs() > 0.01,
            "{median} for {of_run}"
        );
    }
    let windowed = &study(folder.path(), "skip 0.5s").runs[0];
    assert_eq!(windowed.values.get(Metric::RttNsP50), None);
}

/// Whatever was sent before a window and is acknowledged in it, overhead is that of what passed in it (METRICS.md Y3). These
/// were captured at their senders, where all that is repeated passes twice: in full packets, nearly all.
#[test]
fn overhead_in_a_window_is_that_of_what_was_sent_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let two = capture("two-flows-cubic-bbr.pcap.zst");
    fs::copy(two, folder.path().join("1.pcap")).unwrap();
    for window in ["0.2s+0.4s", "0.3s+0.9s", "skip 0.5s"] {
        let results = study(folder.path(), window);
        let run = &results.runs[0];
        let mut found = Vec::new();
        // Over IPv4, and over IPv6.
        for (flow, headers) in run.flows.iter().zip([52.0 / 1448.0, 72.0 / 1428.0]) {
            let number = |metric| flow.measure.values.get(metric).unwrap();
            let overhead = number(Metric::Overhead);
            let fresh = number(Metric::IpBytes) / (1.0 + overhead);
            let sent = (fresh + number(Metric::RetransmittedBytes)) * (1.0 + headers);
            close(sent, number(Metric::IpBytes), 0.002);
            found.push(overhead);
        }
        let [one, other] = found[..] else {
            panic!("{window}: {found:?}");
        };
        let both = run.values.get(Metric::Overhead).unwrap();
        assert!(one.min(other) < both && both < one.max(other), "{window}");
    }
}

#[test]
fn fness_and_jain_are_taken_over_what_of_their_spans_lies_in_the_window() {
    let folder = folder_with(long_and_short());
    for (window, packets) in [
        // B's span, 2 s to 3 s, both ends included.
        ("all", Some([101.0, 51.0])),
        ("skip 0s", Some([101.0, 51.0])),
        ("overlap", Some([101.0, 51.0])),
        // 2.5 s to 3 s of it.
        ("1.5s+1s", Some([51.0, 26.0])),
        // B has not begun, and B has ended.
        ("200ms+500ms", None),
        ("skip 2.5s", None),
    ] {
        let results = study(folder.path(), window);
        let run = &results.runs[0];
        assert_eq!(run.error, None, "{window}");
        let [fness, jain] = [Metric::Fness, Metric::Jain].map(|metric| run.values.get(metric));
        let expected = packets.map(|[a, b]: [f64; 2]| b / a - 1.0);
        assert_eq!(fness, expected, "{window}");
        let expected = packets.map(|[a, b]| (a + b).powi(2) / (2.0 * (a * a + b * b)));
        assert_eq!(jain.is_some(), expected.is_some(), "{window}");
        assert!(
            (jain.unwrap_or(0.0) - expected.unwrap_or(0.0)).abs() < 1e-12,
            "{window}"
        );
    }
}

#[test]
fn a_flow_that_sends_nothing_in_the_window_is_said() {
    let folder = folder_with(long_and_short());
    for (window, said) in [
        ("200ms+500ms", Some("begins after it")),
        ("skip 2.5s", Some("ended before it")),
        ("1.5s+1s", None),
        ("all", None),
    ] {
        write_study(folder.path(), window);
        let args = ["study", "s.toml", "--out", "s", "--no-charts"];
        let run = run(folder.path(), &args);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let words = "warning: 1.pcap: 1 of 2 flows sends nothing in the window (10.0.0.2:1002 to 10.0.0.3:80 ";
        assert_eq!(run.stderr.contains(words), said.is_some(), "{}", run.stderr);
        let why = said.map_or_else(String::new, |said| format!("{words}{said}"));
        assert!(run.stderr.contains(&why), "{}", run.stderr);
    }
}

/// The last record is A's last ACK, 4.005 s after its first packet; 1000 bytes are acknowledged every 10 ms.
#[test]
fn a_window_ends_where_its_capture_does() {
    const START_NS: i64 = 1_000_000_000;
    let folder = folder_with(long_and_short());
    for (window, until_ns, said) in [
        ("1s+3s", 4_000_000_000, None),
        // The part of a bin at its end counts with a window or without.
        ("1s+3050ms", 4_005_000_001, None),
        (
            "1s+10s",
            4_005_000_001,
            Some(
                "for 7.0 s when the capture has ended, and ends with its last record: 3.0 of 10.0 s count",
            ),
        ),
    ] {
        let results = study(folder.path(), window);
        let run = &results.runs[0];
        let end_ns = run.window_ns.map(|(_, end)| end);
        assert_eq!(end_ns, Some(START_NS + until_ns), "{window}");
        let goodput_bps = run.flows[0].measure.values.get(Metric::GoodputBps);
        assert_eq!(goodput_bps, Some(800_000.0), "{window}");
        let warning = warnings_of(folder.path());
        let words = "warning: 1.pcap: its window goes on ";
        assert_eq!(warning.contains(words), said.is_some(), "{warning}");
        assert!(warning.contains(said.unwrap_or("")), "{warning}");
        // A run that was kept is told as one that was analysed.
        assert_eq!(warnings_of(folder.path()), warning);
    }
    let run = &study(folder.path(), "3950ms+10s").runs[0];
    let error = "its window holds no whole bin of 100 ms before the last record: make it begin earlier, or `bin` in [analysis] shorter";
    assert_eq!(run.error.as_deref(), Some(error));
}

/// What `ccanalyze study` says of the study in this folder.
fn warnings_of(folder: &Path) -> String {
    let args = ["study", "s.toml", "--out", "s", "--no-charts"];
    let run = run(folder, &args);
    assert_eq!(run.status, 0, "{}", run.stderr);
    run.stderr
}

/// Two flows of which nothing is acknowledged from 1 s on, though they go on sending.
#[test]
fn a_run_that_got_nothing_in_its_window_has_a_goodput_of_0_as_its_flows_have() {
    let mut wire = Wire::default();
    for (sender, port) in [(1, 1001), (2, 1002)] {
        wire.flow([sender, 3], port, steps(500, 10, 900));
        for late in 0..40_u32 {
            let at_ns = (1000 + 50 * u64::from(late)) * MS;
            let seq = 41_001 + 1000 * late;
            wire.packet(at_ns, [sender, 3], [port, 80], [seq, 1], 1000);
        }
    }
    let folder = folder_with(wire);
    let results = study(folder.path(), "1s+1s");
    let run = &results.runs[0];
    let rates = [Metric::AckedBytes, Metric::GoodputBps, Metric::Utilisation];
    for metric in rates {
        for flow in &run.flows {
            assert_eq!(flow.measure.values.get(metric), Some(0.0), "{metric:?}");
        }
        assert_eq!(run.values.get(metric), Some(0.0), "{metric:?}");
    }
    // Each sent 20 packets of 1040 bytes in the second.
    let sent_bps = run.values.get(Metric::ThroughputBps);
    assert_eq!(sent_bps, Some(2.0 * 20.0 * 1040.0 * 8.0));
}

/// A flow of one packet has no time span: it is not compared, though it has enough payload to count.
#[test]
fn only_flows_with_a_time_span_share_the_link() {
    let mut wire = Wire::default();
    wire.flow([1, 3], 1001, steps(500, 10, 900));
    wire.flow([2, 3], 1002, steps(500, 10, 900));
    wire.flow([4, 3], 1003, steps(600, 10, 600));
    let folder = folder_with(wire);
    let run = &study(folder.path(), "all").runs[0];
    assert_eq!(run.flows.len(), 3);
    // Of two equal downloads: 1 + 1/2, both have the same rate, and together twice that of each.
    let shared = [Metric::SharingBound, Metric::SharingRatio, Metric::Jain];
    let shared = shared.map(|metric| run.values.get(metric));
    assert_eq!(shared, [Some(1.5), Some(1.0), Some(1.0)]);
}

/// A flow of 2 packets beside two of 401: it counts in the run, as `min_flow` says, but it is no rival of theirs (N2).
#[test]
fn a_flow_with_less_than_a_hundredth_of_the_largest_shares_nothing() {
    let mut wire = Wire::default();
    wire.flow([1, 3], 1001, steps(500, 1, 900));
    wire.flow([2, 3], 1002, steps(500, 1, 900));
    wire.flow([4, 3], 1003, steps(600, 10, 610));
    let folder = folder_with(wire);
    write_study_with(folder.path(), "min_flow = \"1kB\"");
    let run = &carry_out(folder.path()).runs[0];
    assert_eq!(run.flows.len(), 3);
    let shared = [Metric::SharingBound, Metric::Jain].map(|metric| run.values.get(metric));
    assert_eq!(shared, [Some(1.5), Some(1.0)]);
}

#[test]
fn a_window_has_no_numbers_of_flows_whose_bins_in_it_are_missing() {
    let folder = folder_with(long_and_short());
    let of_window = |window: &str, bins_max| {
        write_study(folder.path(), window);
        let mut plan = StudyPlan::read(&folder.path().join("s.toml")).unwrap();
        plan.config.bins_max = bins_max;
        let results = plan.carry_out(None, &Watch::default());
        let run = &results.runs[0];
        assert_eq!(run.error, None, "{window}");
        run.values.clone()
    };
    let counted = [
        Metric::GoodputBps,
        Metric::ThroughputBps,
        Metric::AckedBytes,
        Metric::DataPackets,
    ];
    // A is kept from 1 s to 2 s and has more, B begins at 2 s and has 11 bins, of which the last is not kept.
    for (window, is_known) in [("0s+900ms", true), ("skip 1s", false), ("900ms+2s", false)] {
        let (whole, cut) = (of_window(window, u32::MAX), of_window(window, 10));
        for metric in counted {
            let value = whole.get(metric);
            assert!(value.is_some(), "{window}: {metric:?}");
            let expected = value.filter(|_| is_known);
            assert_eq!(cut.get(metric), expected, "{window}: {metric:?}");
        }
        // Those come from the curves of payload.
        assert_eq!(whole.get(Metric::Fness), cut.get(Metric::Fness), "{window}");
    }
}

/// A flow that never sees the queue empty waits in it nonetheless, as one shows that takes the same path (METRICS.md Y2).
#[test]
fn how_full_the_queue_was_is_told_by_the_smallest_rtt_of_the_path() {
    // A full buffer takes 20 ms.
    let conditions = "capacity = \"10Mbit\"\nbuffer = \"25kB\"\n";
    let named = format!("{conditions}base_rtt = \"5ms\"\n");
    for (hosts, conditions, share) in [
        ([1, 3], conditions, Some(0.5)),
        ([2, 3], conditions, Some(0.0)),
        ([2, 3], &named, Some(0.5)),
        // The other way is another path: what waits there is not in this queue.
        ([3, 1], conditions, None),
        ([3, 1], &named, None),
    ] {
        let mut wire = Wire::default();
        // Acknowledged after 5 ms each, and after 15 ms. Two at a time come quicker than any link lets them go.
        let pairs = (0..400).map(|packet| [20 * MS - 10_000, 10_000][packet % 2]);
        wire.flow([1, 3], 1001, pairs);
        for late in 0..100_u32 {
            let (at_ns, seq) = ((2000 + 20 * u64::from(late)) * MS, 1 + 1000 * late);
            wire.packet(at_ns, hosts, [1002, 80], [seq, 1], 1000);
            let back = [hosts[1], hosts[0]];
            wire.packet(at_ns + 15 * MS, back, [80, 1002], [1, seq + 1000], 0);
        }
        let folder = folder_with(wire);
        let manifest = format!("[[runs]]\nfiles = \"{{run}}.pcap\"\n[conditions]\n{conditions}");
        fs::write(folder.path().join("s.toml"), manifest).unwrap();
        let results = carry_out(folder.path());
        let of = |values: &Values| values.get(Metric::QueueShare);
        let run = &results.runs[0];
        let of_each = [0, 1].map(|flow| of(&run.flows[flow].measure.values));
        for (found, expected) in of_each.into_iter().zip([Some(0.0), share]) {
            assert_eq!(found.is_some(), expected.is_some());
            close(found.unwrap_or(0.0), expected.unwrap_or(0.0), 1e-9);
        }
        // 400 samples of the first flow, 100 of the second.
        close(of(&run.values).unwrap(), share.unwrap_or(0.0) / 5.0, 1e-9);
    }
}

/// Packets that do not come at the rate of the link may be of either side of its queue: the manifest knows.
#[test]
fn a_capture_that_the_manifest_names_behind_the_queue_tells_nothing_of_it_by_its_round_trips() {
    let mut wire = Wire::default();
    let pairs = (0..400).map(|packet| [20 * MS - 10_000, 10_000][packet % 2]);
    wire.flow([1, 3], 1001, pairs);
    let folder = folder_with(wire);
    fs::copy(folder.path().join("1.pcap"), folder.path().join("other")).unwrap();
    for (other, share) in [("", Some(0.0)), ("after", Some(0.0)), ("before", None)] {
        let point = if other.is_empty() {
            String::new()
        } else {
            format!("{other} = \"other\"\n")
        };
        let manifest = format!(
            "[[runs]]\nfiles = \"{{run}}.pcap\"\n{point}[conditions]\ncapacity = \"10Mbit\"\nbuffer = \"25kB\"\n"
        );
        fs::write(folder.path().join("s.toml"), manifest).unwrap();
        let run = &carry_out(folder.path()).runs[0];
        assert_eq!(run.error, None, "{other}");
        assert_eq!(run.values.get(Metric::QueueShare), share, "{other}");
    }
}

#[test]
fn groups_whose_runs_count_over_different_lengths_are_said() {
    // One flow of 4 s, and beside another one of 1 s.
    let folder = folder_with(long_and_short());
    let mut alone = Wire::default();
    alone.flow([1, 3], 1003, steps(1000, 10, 5000));
    fs::write(folder.path().join("2.pcap"), alone.pcap()).unwrap();
    for (window, said) in [
        (
            "overlap",
            Some("those of run = 1 over 1.0 s and those of run = 2 over 4.0 s"),
        ),
        ("1s+500ms", None),
        ("all", None),
    ] {
        let manifest = format!(
            "[study]\ngroup_by = [\"run\"]\n[[runs]]\nfiles = \"{{run}}.pcap\"\nwindow = \"{window}\"\n"
        );
        fs::write(folder.path().join("s.toml"), manifest).unwrap();
        let run = run(
            folder.path(),
            &["study", "s.toml", "--out", "s", "--no-charts"],
        );
        assert_eq!(run.status, 0, "{}", run.stderr);
        let is_said = run.stderr.contains("different lengths of time");
        assert_eq!(is_said, said.is_some(), "{window}: {}", run.stderr);
        assert!(run.stderr.contains(said.unwrap_or("")), "{}", run.stderr);
    }
}

/// A twentieth more is what runs of one length differ by, as the last bin of a download is cut where it ends.
#[test]
fn groups_of_nearly_the_same_length_are_not_said() {
    let folder = folder_with(long_and_short());
    fs::copy(folder.path().join("1.pcap"), folder.path().join("2.pcap")).unwrap();
    for (second, is_said) in [("1s+2s", false), ("1s+2100ms", false), ("1s+2300ms", true)] {
        let manifest = format!(
            "[study]\ngroup_by = [\"run\"]\n[[runs]]\nfiles = \"1.pcap\"\nlabels = {{ run = \"1\" }}\nwindow = \"1s+2s\"\n[[runs]]\nfiles = \"2.pcap\"\nlabels = {{ run = \"2\" }}\nwindow = \"{second}\"\n"
        );
        fs::write(folder.path().join("s.toml"), manifest).unwrap();
        let run = run(
            folder.path(),
            &["study", "s.toml", "--out", "s", "--no-charts"],
        );
        assert_eq!(run.status, 0, "{}", run.stderr);
        let said = run.stderr.contains("different lengths of time");
        assert_eq!(said, is_said, "{second}: {}", run.stderr);
    }
}

/// Means of completion times are of the downloads that had ended, however few these are.
#[test]
fn completion_times_of_few_flows_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(capture("drop-one.pcap")).unwrap();
    let begun = with_records(&whole, records(&whole).take(100));
    fs::write(
        folder.path().join("s.toml"),
        "[analysis]\nmin_flow = \"10kB\"\n[[runs]]\nfiles = \"{run}.pcap\"\n",
    )
    .unwrap();
    let warning = |captures: &[&[u8]]| {
        for (number, bytes) in captures.iter().enumerate() {
            fs::write(folder.path().join(format!("{number}.pcap")), bytes).unwrap();
        }
        let run = run(
            folder.path(),
            &["study", "s.toml", "--out", "s", "--no-charts"],
        );
        assert_eq!(run.status, 0, "{}", run.stderr);
        let said = run.stderr.lines();
        let mut said = said.filter(|line| line.contains("had completed when"));
        said.next().map(str::to_owned)
    };
    assert_eq!(warning(&[&whole, &begun]), None, "one of two");
    assert_eq!(warning(&[&begun, &begun]), None, "none completed");
    let said = warning(&[&whole, &begun, &begun]).unwrap();
    assert!(
        said.starts_with("warning: 1 of 3 flows had completed"),
        "{said}"
    );
}

/// What the longer flow sends before the shorter one begins, or when it has ended, is no matter of who gives way.
#[test]
fn flows_that_are_compared_while_one_is_not_there_are_told_of() {
    // A sends from 1 s to 5 s; the later B goes on when A, the shorter, has ended.
    let with = |later_ms: &[u64], options: &[&str]| {
        let mut wire = Wire::default();
        wire.flow([1, 3], 1001, steps(1000, 10, 5000));
        for (port, &from_ms) in (1002..).zip(later_ms) {
            wire.flow([2, 3], port, steps(from_ms, 10, 7000));
        }
        let folder = folder_with(wire);
        let mut arguments = vec!["1.pcap", "--out", "r.csv", "--no-charts"];
        arguments.extend(options);
        let plain = run(folder.path(), &arguments).stderr;
        (folder, plain)
    };
    let fness = "fness is over the time of the shorter flow";

    let (folder, plain) = with(&[2500], &[]);
    let told = "of which 1.500 s of 4.000 s pass without the other one: `--fness-window 0s+2s`";
    assert!(plain.contains(&format!("{fness}, {told}")), "{plain}");
    let study = |window: &str| {
        write_study(folder.path(), window);
        run(
            folder.path(),
            &["study", "s.toml", "--out", "s", "--no-charts"],
        )
        .stderr
    };
    let told =
        "1.pcap: its fness is over the time of the shorter flow, of which 1.500 s of 4.000 s";
    let said = study("all");
    assert!(said.contains(told), "{said}");
    assert!(said.contains("`window = \"overlap\"` is"), "{said}");
    let said = study("overlap");
    assert!(!said.contains("shorter flow"), "{said}");

    // What is advised leaves nothing to be told.
    let (_, plain) = with(&[2500], &["--fness-window", "0s+2s"]);
    assert!(!plain.contains("shorter flow"), "{plain}");
    // A tenth of it changes little.
    let (_, plain) = with(&[1400], &[]);
    assert!(!plain.contains("shorter flow"), "{plain}");
    let (_, plain) = with(&[1410], &[]);
    assert!(plain.contains("410 s of 4.000 s pass"), "{plain}");
    // They meet at an instant, of which a window cannot be.
    let (_, plain) = with(&[5000], &[]);
    assert!(plain.contains("2.000 s of 2.000 s pass"), "{plain}");
    assert!(!plain.contains("0s+"), "{plain}");
    // Of three pairs two: B and C end together, and the shorter of them is within the other.
    let (_, plain) = with(&[2500, 3000], &[]);
    let told = "fness of 2 pairs is over the time of the shorter flow, of which 2.000 s of 4.000 s";
    assert!(plain.contains(told), "{plain}");
}

/// C7, O2: the numbers of the emulator, as in `truth.rs`. Bins do not keep how many packets a frame was.
#[test]
fn runs_with_offload_have_the_overhead_of_the_wire_and_windows_of_them_have_none() {
    let folder = tempfile::tempdir().unwrap();
    let of_run = |name: &str, window: &str| {
        fs::copy(capture(name), folder.path().join("1.pcap")).unwrap();
        let values = study(folder.path(), window).runs[0].values.clone();
        [
            Metric::WireIpBytes,
            Metric::WireOverhead,
            Metric::WireRetransmittedPackets,
            Metric::Overhead,
        ]
        .map(|metric| values.get(metric))
    };
    let offload = "segmentation-offload.pcap.zst";
    let [ip_bytes, overhead, repeated, plain] = of_run(offload, "all");
    assert_eq!((ip_bytes, repeated), (Some(5_191_824.0), Some(8.0)));
    close(overhead.unwrap(), 191_824.0 / 5e6, 1e-9);
    assert!(plain < overhead, "{plain:?}");
    let [ip_bytes, overhead, repeated, plain] = of_run(offload, "skip 100ms");
    assert_eq!((ip_bytes, overhead, repeated), (None, None, None));
    assert!(plain.is_some());
    // Without offload they are the same, in a window as in the whole, of one flow as of two together.
    for name in ["drop-one.pcap", "two-flows-cubic-bbr.pcap.zst"] {
        for window in ["all", "skip 100ms"] {
            let [_, overhead, repeated, plain] = of_run(name, window);
            assert!(plain.is_some() && repeated > Some(0.0), "{name}, {window}");
            assert_eq!(overhead, plain, "{name}, {window}");
        }
    }
}
