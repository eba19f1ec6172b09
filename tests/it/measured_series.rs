//! Measured runs over time: series in columns, in rows, in archives of flent; and captures in steps.

use std::fs;
use std::io::Write;

use ccanalyze::Analysis;
use ccanalyze::analyze::{Config, Watch};
use ccanalyze::observe::Bin;
use ccanalyze::study::{Metric, SeriesKind, SeriesPoint, StudyPlan};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::measured::{carried_out, folder_with, mistakes, run};
use super::published::{column, numbers, report};
use super::support::{capture, close, root};

const POINTS: &str = "\
t,a mbit,b mbit,ping a
0.0,,1,5
0.2,10,2,6
0.4,20,3,
0.6,30,4,8
";

const OF_POINTS: &str = r#"
[study]
report = "series"
[[measured]]
files = "points.csv"
rows = "points"
time = { column = "t", unit = "s" }
[measured.metrics]
goodput_bps = { column = "{cca} mbit", unit = "Mbit" }
ping_ns = { column = "ping {cca}", unit = "ms" }
"#;

#[test]
fn columns_beside_each_other_are_runs_over_time() {
    let folder = folder_with(&[("points.csv", POINTS)], OF_POINTS);
    let results = carried_out(folder.path());
    let a = run(&results, "points.csv [cca=a]");
    assert_eq!(a.values.get(Metric::GoodputBps), Some(20e6));
    assert_eq!(a.values.get(Metric::PingNsMax), Some(8e6));
    close(a.values.get(Metric::PingNsMean).unwrap(), 19e6 / 3.0, 1e-12);
    assert_eq!(a.series.len(), 4);
    let b = run(&results, "points.csv [cca=b]");
    assert_eq!(b.values.get(Metric::GoodputBps), Some(2.5e6));
    assert_eq!(b.values.get(Metric::PingNsMean), None);
    // By hand: means 20 and 2.5 of 3 and 4 values, squares within 200 and 5; 5000/49 x 3 + 2500/49 x 4
    // around the mean of all, 10: 300 + 225.
    let anova = report(&results, "series-anova");
    assert_eq!(
        column(anova, "source"),
        ["Between Groups", "Within Groups", "Total"]
    );
    let ss: Vec<f64> = numbers(anova, "ss").into_iter().flatten().collect();
    for (found, expected) in ss.into_iter().zip([525.0, 205.0, 730.0]) {
        close(found, expected, 1e-12);
    }
}

#[test]
fn a_window_and_a_number_of_points_cut_a_run_over_time() {
    let windowed = OF_POINTS.replace("rows = ", "window = \"0.2s+0.3s\"\nrows = ");
    let folder = folder_with(&[("points.csv", POINTS)], &windowed);
    let results = carried_out(folder.path());
    // From 0.2 s after the first point, which has a ping only, to before 0.5 s.
    let a = run(&results, "points.csv [cca=a]");
    assert_eq!(a.values.get(Metric::GoodputBps), Some(15e6));
    let first_two = OF_POINTS.replace("unit = \"Mbit\"", "unit = \"Mbit\", points = 2");
    let folder = folder_with(&[("points.csv", POINTS)], &first_two);
    let results = carried_out(folder.path());
    assert_eq!(
        run(&results, "points.csv [cca=a]")
            .values
            .get(Metric::GoodputBps),
        Some(15e6)
    );
    assert_eq!(
        run(&results, "points.csv [cca=b]")
            .values
            .get(Metric::GoodputBps),
        Some(1.5e6)
    );
}

/// METRICS.md R5: delays of queues count from the smallest round-trip time of all, also where a window counts.
#[test]
fn a_window_has_its_queues_from_the_smallest_of_the_whole_run() {
    let manifest = r#"
[[measured]]
files = "points.csv"
rows = "points"
window = "skip 2s"
time = { column = "t", unit = "s" }
[measured.metrics]
rtt_ns = { column = "rtt", unit = "ms" }
"#;
    let points = "t,rtt\n0,10\n1,20\n2,30\n3,40\n";
    let folder = folder_with(&[("points.csv", points)], manifest);
    let results = carried_out(folder.path());
    let values = &run(&results, "points.csv").values;
    assert_eq!(values.get(Metric::RttNsMin), Some(30e6));
    close(values.get(Metric::QueueDelayNsMean).unwrap(), 25e6, 1e-12);
}

#[test]
fn rows_below_each_other_are_runs_over_time_too() {
    let table = "cca,t_ms,rtt_ms\nbbr,0,20\nbbr,100,30\ncubic,0,40\ncubic,100,60\n";
    let manifest = r#"
[study]
group_by = ["cca"]
[[measured]]
files = "long.csv"
rows = "points"
time = "t_ms"
columns = { cca = "cca" }
metrics = { rtt_ns = "rtt_ms" }
"#;
    let folder = folder_with(&[("long.csv", table)], manifest);
    let results = carried_out(folder.path());
    let cubic = run(&results, "long.csv [cca=cubic]");
    assert_eq!(cubic.values.get(Metric::RttNsMean), Some(50e6));
    assert_eq!(cubic.values.get(Metric::QueueDelayNsMean), Some(10e6));
    let unordered = table.replace("cubic,100", "cubic,-100");
    let folder = folder_with(&[("long.csv", &unordered)], manifest);
    let found = mistakes(folder.path());
    assert!(found.contains("line 5: times must ascend"), "{found}");
    // A point without a time would be lost; a row without anything is none.
    let untimed = table.replace("cubic,100", "cubic,");
    let folder = folder_with(&[("long.csv", &untimed)], manifest);
    let found = mistakes(folder.path());
    assert!(found.contains("line 5: has values, but no time"), "{found}");
    let blank = format!("{table}cubic,,\n");
    let folder = folder_with(&[("long.csv", &blank)], manifest);
    let results = carried_out(folder.path());
    let cubic = run(&results, "long.csv [cca=cubic]");
    assert_eq!(cubic.values.get(Metric::RttNsMean), Some(50e6));
}

const ARCHIVE: &str = r#"{"version": 4, "metadata": {"SERIES_META": {"TCP upload": {"UNITS": "Mbits/s"},
"Ping (ms) ICMP": {"UNITS": "ms"}}}, "x_values": [0.0, 0.2, 0.4],
"results": {"TCP upload": [90.0, null, 94.0], "Ping (ms) ICMP": [2.0, 3.0, 4.0]},
"raw_values": {"Ping (ms) ICMP": [{"t": 1.0, "val": 1.5}, {"t": 1.1, "val": 4.5}]}}"#;

#[test]
fn an_archive_of_flent_is_a_run_in_its_own_units_and_a_broken_one_is_left_out() {
    let folder = folder_with(
        &[],
        r#"
[study]
group_by = ["cca"]
report = "series"
[[measured]]
files = "{cca}_{run}.flent.gz"
[measured.metrics]
goodput_bps = ["TCP upload sum", "TCP upload"]
ping_ns = "Ping (ms) ICMP"
"#,
    );
    let mut gz = GzEncoder::new(Vec::new(), Compression::default());
    gz.write_all(ARCHIVE.as_bytes()).unwrap();
    let bytes = gz.finish().unwrap();
    fs::write(folder.path().join("bbr_1.flent.gz"), &bytes).unwrap();
    let half = &bytes[..bytes.len() / 2];
    fs::write(folder.path().join("bbr_2.flent.gz"), half).unwrap();
    let results = carried_out(folder.path());
    let whole = run(&results, "bbr_1.flent.gz");
    assert_eq!(whole.values.get(Metric::GoodputBps), Some(92e6));
    // The single pings, not those interpolated to the common times.
    assert_eq!(whole.values.get(Metric::PingNsMin), Some(1.5e6));
    assert_eq!(whole.values.get(Metric::PingNsMax), Some(4.5e6));
    let broken = run(&results, "bbr_2.flent.gz");
    assert!(broken.error.is_some());
    let group = &results.groups[0];
    assert_eq!((group.statistics.n, group.runs_failed), (1, 1));
    // The command writes the tables all the same, and its exit status tells.
    let manifest = folder.path().join("study.toml");
    let found = super::cli::run(folder.path(), &["study", "study.toml", "--out", "out"]);
    assert_eq!(found.status, 1);
    assert!(
        folder
            .path()
            .join("out/report-series-boxes.parquet")
            .is_file()
    );
    let asked_wrongly = fs::read_to_string(&manifest)
        .unwrap()
        .replace("files =", "rows = \"runs\"\nfiles =");
    fs::write(&manifest, asked_wrongly).unwrap();
    assert!(mistakes(folder.path()).contains("whose rows are points in time"));
}

#[test]
fn a_capture_in_steps_adds_up_to_its_bins_and_stands_beside_an_archive() {
    let folder = folder_with(
        &[("points.csv", POINTS)],
        &format!("{OF_POINTS}\n[[runs]]\nfiles = \"{{cca}}.pcap.zst\"\n"),
    );
    fs::copy(
        capture("two-flows-cubic-bbr.pcap.zst"),
        folder.path().join("both.pcap.zst"),
    )
    .unwrap();
    let plan = StudyPlan::read(&folder.path().join("study.toml")).unwrap();
    let cache = folder.path().join("cache");
    let results = plan.carry_out(Some(&cache), &Watch::default());
    let both = run(&results, "both.pcap.zst");
    let bytes = |kind| -> f64 {
        let rates = both.series.iter().filter_map(|point| point.get(kind));
        rates.map(|bps| bps * 0.2 / 8.0).sum()
    };
    // All that the downloads did in bins of 100 ms from the first step on, which is the first after that in which they
    // began, to the last before that in which they ended.
    let steps = |point: &SeriesPoint| point.time_ns / 200_000_000;
    let (first, last) = (both.series.first().unwrap(), both.series.last().unwrap());
    let capture = capture("two-flows-cubic-bbr.pcap.zst");
    let analysis = Analysis::of([capture], &Config::default());
    let flows = analysis.captures[0].flows();
    let downloads = flows.filter(|flow| flow.payload_bytes() > 1_000_000);
    let bins: Vec<Bin> = downloads
        .flat_map(|flow| flow.record.series().bins())
        .collect();
    let within = |bin: &&Bin| (2 * steps(first)..2 * steps(last) + 2).contains(&bin.index);
    let sum = |of: fn(&Bin) -> u64| bins.iter().filter(within).map(of).sum::<u64>() as f64;
    close(bytes(SeriesKind::Goodput), sum(|bin| bin.acked_bytes), 1e-9);
    close(bytes(SeriesKind::Throughput), sum(|bin| bin.ip_bytes), 1e-9);
    let ends = bins.iter().map(|bin| bin.index / 2);
    assert_eq!(ends.clone().min(), Some(steps(first) - 1));
    assert_eq!(ends.max(), Some(steps(last) + 1));
    let steps = both.series.windows(2);
    assert!(
        steps
            .map(|pair| pair[1].time_ns - pair[0].time_ns)
            .all(|ns| ns == 200_000_000)
    );
    // Round-trip times lie within those of the whole run.
    let rtts = both.series.iter().filter_map(|p| p.get(SeriesKind::Rtt));
    let value = |metric| both.values.get(metric).unwrap();
    let (least, most) = (value(Metric::RttNsMin), value(Metric::RttNsMax));
    assert!(rtts.into_iter().all(|ns| (least..=most).contains(&ns)));
    // Pings where a run has them, round-trip times where it has none.
    let series = report(&results, "series");
    let (runs, delays) = (column(series, "capture"), column(series, "delay"));
    for (run, delay) in runs.iter().zip(&delays) {
        let expected = match run.as_str() {
            "both.pcap.zst" => "rtt_ms",
            "points.csv [cca=a]" => "ping_ms",
            _ => "",
        };
        assert!(delay.is_empty() || delay == expected, "{run}: {delay}");
    }
    // What was kept is what was measured.
    let again = plan.carry_out(Some(&cache), &Watch::default());
    assert_eq!(again.cached, 1);
    assert_eq!(run(&again, "both.pcap.zst").series, both.series);
}

#[test]
fn what_a_series_cannot_show_is_a_mistake() {
    for (option, said) in [
        (
            "step = \"250ms\"",
            "a step of 250 ms is no whole number of bins of 100 ms",
        ),
        ("step = \"0.2\"", "has no unit of time"),
        ("rate = \"rtt_ns\"", "'rate' cannot be 'rtt_ns'"),
        ("delay = \"ping\"", "did you mean 'ping_ns'?"),
        (
            "stop = \"1s\"",
            "unknown key 'stop' in [reports.series]; did you mean 'step'?",
        ),
    ] {
        let manifest = format!("{OF_POINTS}\n[reports.series]\n{option}\n");
        let folder = folder_with(&[("points.csv", POINTS)], &manifest);
        let found = mistakes(folder.path());
        assert!(
            found.contains("study.toml:13: ") && found.contains(said),
            "{found}"
        );
    }
}

#[test]
fn the_measured_sections_of_the_readme_have_no_mistake() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let mut blocks = readme
        .split("```toml\n")
        .filter_map(|rest| rest.split("```").next());
    let manifest = blocks.find(|block| block.starts_with("[[measured]]"));
    let folder = folder_with(&[], manifest.unwrap());
    for name in ["iperf", "flent"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let results = "algo,bw_mbps,rep,goodput_mbps,retransmits\nbbr,50,1,47.1,12\n";
    fs::write(folder.path().join("iperf/results.csv"), results).unwrap();
    let archive = folder.path().join("flent/cubic_50_1.flent.gz");
    fs::write(archive, ARCHIVE).unwrap();
    let results = carried_out(folder.path());
    let goodput = |name: &str| run(&results, name).values.get(Metric::GoodputBps);
    assert_eq!(goodput("iperf/results.csv:2"), Some(47.1e6));
    assert_eq!(goodput("flent/cubic_50_1.flent.gz"), Some(92e6));
}
