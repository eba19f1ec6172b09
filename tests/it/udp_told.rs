//! What the command and studies tell of UDP.

use std::fs;

use ccanalyze::analyze::Watch;
use ccanalyze::study::{Metric, StudyPlan};

use super::cli::run;
use super::support::close;
use super::udp::{both, in_order, tcp_flow, udp_flow};
use super::wire::pcap;

/// The interval of a run's throughput is that of all its flows, also of those without ACKs (METRICS.md G1, G2).
#[test]
fn a_runs_throughput_is_over_the_time_of_flows_without_acks_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut packets = tcp_flow();
    packets.retain(|packet| packet.bytes[12..16] == [10, 0, 0, 1]);
    packets.extend(udp_flow().into_iter().take(100));
    let file = pcap(in_order(packets));
    fs::write(folder.path().join("1.pcap"), file).unwrap();
    let manifest = "[analysis]\nudp = true\n[[runs]]\nfiles = \"{run}.pcap\"\n";
    fs::write(folder.path().join("s.toml"), manifest).unwrap();
    let plan = StudyPlan::read(&folder.path().join("s.toml")).unwrap();
    let results = plan.carry_out(None, &Watch::default());
    let values = &results.runs[0].values;
    assert_eq!(values.get(Metric::GoodputBps), None);
    // 1000 packets of 1040 bytes and 100 of 528, from 2 to 1001 ms.
    let expected = 8.0 * f64::from(1000 * 1040 + 100 * 528) / 0.999;
    close(values.get(Metric::ThroughputBps).unwrap(), expected, 1e-9);
}

#[test]
fn the_command_tells_of_udp_where_it_is_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("both.pcap"), pcap(both())).unwrap();
    let without = run(folder.path(), &["both.pcap"]);
    assert_eq!(without.status, 0, "{}", without.stderr);
    assert!(
        without.stderr.contains("analysed only with --udp"),
        "{}",
        without.stderr
    );
    assert!(!without.stdout.contains("┆ udp"), "{}", without.stdout);
    let args = [
        "both.pcap",
        "--udp",
        "--svg",
        "--out",
        "r.csv",
        "--report",
        "r.html",
    ];
    let with = run(folder.path(), &args);
    assert_eq!(with.status, 0, "{}", with.stderr);
    assert!(!with.stderr.contains("UDP"), "{}", with.stderr);
    let said = &with.stdout;
    assert!(said.contains("2,000 TCP, 502 UDP; "), "{said}");
    let row = said.lines().find(|line| line.contains("┆ udp")).unwrap();
    assert!(
        row.contains("4.01 Mbit/s") && row.contains("250 kB"),
        "{row}"
    );
    // Neither 0 retransmissions nor 0 packets out of order.
    assert_eq!(
        row.split('┆').filter(|cell| cell.trim() == "-").count(),
        4,
        "{row}"
    );
    let charts = fs::read_dir(folder.path().join("r.charts")).unwrap();
    let charts = charts.map(|entry| entry.unwrap().path());
    let shares: Vec<_> = charts
        .filter(|path| path.to_string_lossy().ends_with("-share.svg"))
        .collect();
    let text = fs::read_to_string(&shares[0]).unwrap();
    assert!(
        text.contains("(UDP)") && !text.contains("without UDP"),
        "{text}"
    );
    let page = fs::read_to_string(folder.path().join("r.html")).unwrap();
    assert!(page.contains("2,502 records, 502 of UDP, nothing skipped"));
    let chart = |kind: &str| {
        let name = format!("r.charts/01-both-{kind}.svg");
        fs::read_to_string(folder.path().join(name)).unwrap()
    };
    assert!(chart("goodput").contains("of UDP: all bytes seen"));
    // UDP alone: what it is about, and that it can be had.
    fs::write(folder.path().join("udp.pcap"), pcap(udp_flow())).unwrap();
    let alone = run(folder.path(), &["udp.pcap"]);
    assert!(
        alone.stdout.contains("analysed only with --udp"),
        "{}",
        alone.stdout
    );
    let alone = run(folder.path(), &["udp.pcap", "--udp"]);
    assert!(alone.stdout.contains("2 flows"), "{}", alone.stdout);
}

#[test]
fn a_variant_of_a_study_may_be_of_udp() {
    let folder = tempfile::tempdir().unwrap();
    let packets = both();
    // A run between other ports, so that the label tells them apart.
    let moved = packets.iter().map(|packet| {
        let mut packet = packet.clone();
        if packet.bytes[9] == 17 {
            let port = if packet.bytes[15] == 1 { 20 } else { 22 };
            packet.bytes[port..port + 2].copy_from_slice(&4433_u16.to_be_bytes());
        }
        packet
    });
    fs::write(folder.path().join("a_1.pcap"), pcap(moved)).unwrap();
    let manifest = "[analysis]\nudp = true\n[[runs]]\nfiles = \"a_{run}.pcap\"\n\
        [runs.conditions]\ncapacity = \"20Mbit\"\n\
        [[flows]]\nlabel = \"cca\"\nby = \"server\"\nvalues = { 443 = \"cubic\", 4433 = \"quic\" }\n";
    let results = |window: &str| {
        let manifest = manifest.replace("_{run}.pcap\"\n", &format!("_{{run}}.pcap\"\n{window}"));
        fs::write(folder.path().join("study.toml"), manifest).unwrap();
        let plan = StudyPlan::read(&folder.path().join("study.toml")).unwrap();
        plan.carry_out(None, &Watch::default())
    };
    let whole = results("");
    let run = &whole.runs[0];
    assert_eq!(run.flows.len(), 2);
    let (tcp, udp) = (&run.flows[0].measure.values, &run.flows[1].measure.values);
    close(
        udp.get(Metric::GoodputBps).unwrap(),
        250_000.0 * 8.0 / 0.499,
        1e-12,
    );
    let unknown = [
        Metric::AckedBytes,
        Metric::Overhead,
        Metric::RttNsMean,
        Metric::RetransmittedPackets,
        Metric::RetransmissionRate,
        Metric::InFlightBytesMax,
    ];
    for metric in unknown {
        assert!(
            tcp.get(metric).is_some() && udp.get(metric).is_none(),
            "{metric:?}"
        );
    }
    close(
        run.values.get(Metric::Fness).unwrap(),
        -1.0 + 250.0 / 499.0,
        1e-12,
    );
    // 1,000 and 250 kB, from 2 to 1006 ms.
    let goodput_bps = 1_250_000.0 * 8.0 / 1.004;
    close(
        run.values.get(Metric::GoodputBps).unwrap(),
        goodput_bps,
        1e-12,
    );
    close(
        run.values.get(Metric::Utilisation).unwrap(),
        goodput_bps / 20e6,
        1e-12,
    );
    assert_eq!(run.values.get(Metric::RetransmittedPackets), None);
    // Where both are between the same ports, by what they are.
    let same = folder.path().join("same");
    fs::create_dir(&same).unwrap();
    fs::write(same.join("a_1.pcap"), pcap(&packets)).unwrap();
    let by_transport = manifest.replace("\"server\"", "\"transport\"");
    let by_transport = by_transport
        .replace("4433 =", "udp =")
        .replace("443 =", "tcp =");
    fs::write(same.join("study.toml"), by_transport).unwrap();
    let plan = StudyPlan::read(&same.join("study.toml")).unwrap();
    let named = plan.carry_out(None, &Watch::default());
    for (flow, expected) in named.runs[0].flows.iter().zip(["cubic", "quic"]) {
        let mut labels = flow.labels.iter().flatten();
        assert!(
            labels.any(|value| value.text() == expected),
            "{:?}",
            flow.labels
        );
    }
    // From 202 to 402 ms, in bins of 100 that begin at 2: 200 packets each.
    let part = results("window = \"0.2s+0.2s\"\n");
    let values = &part.runs[0].flows[1].measure.values;
    close(
        values.get(Metric::GoodputBps).unwrap(),
        500.0 * 8.0 * 1000.0,
        1e-12,
    );
    assert_eq!(values.get(Metric::RetransmittedPackets), None);
    let all = part.runs[0].values.get(Metric::GoodputBps).unwrap();
    close(all, 1500.0 * 8.0 * 1000.0, 1e-12);
}

/// What was measured without UDP is not what there is with it, and what there is of UDP stays so.
#[test]
fn runs_that_were_kept_without_udp_are_analysed_again_with_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a_1.pcap"), pcap(both())).unwrap();
    let kept = folder.path().join("kept");
    let of = |analysis: &str| {
        let manifest = format!(
            "{analysis}[[runs]]\nfiles = \"a_{{run}}.pcap\"\n[[flows]]\nlabel = \"of\"\n\
             by = \"transport\"\nvalues = {{ tcp = \"tcp\", udp = \"udp\" }}\n"
        );
        fs::write(folder.path().join("study.toml"), manifest).unwrap();
        let plan = StudyPlan::read(&folder.path().join("study.toml")).unwrap();
        let results = plan.carry_out(Some(&kept), &Watch::default());
        let labels = results.runs[0].flows.iter().map(|flow| {
            let labels = flow.labels.iter().flatten();
            labels.last().unwrap().text().to_owned()
        });
        (labels.collect::<Vec<_>>(), results.cached)
    };
    let udp = "[analysis]\nudp = true\n";
    assert_eq!(of(""), (vec!["tcp".to_owned()], 0));
    for cached in [0, 1] {
        assert_eq!(
            of(udp),
            (["tcp", "udp"].map(str::to_owned).to_vec(), cached)
        );
    }
}

/// What takes ACKs to tell is not drawn of UDP, and none of it is said to be none.
#[test]
fn what_is_not_known_of_udp_is_said_in_the_chart_of_all_over_time() {
    let folder = tempfile::tempdir().unwrap();
    for (name, packets, said) in [
        ("udp", udp_flow(), "not known"),
        ("both", both(), "none"),
        ("tcp", tcp_flow(), "none"),
    ] {
        let file = format!("{name}.pcap");
        fs::write(folder.path().join(&file), pcap(in_order(packets))).unwrap();
        let args = [&file, "--udp", "--svg", "--out", "r.csv"];
        let written = run(folder.path(), &args);
        assert_eq!(written.status, 0, "{}", written.stderr);
        let chart = format!("r.charts/01-{name}-over-time.svg");
        let text = fs::read_to_string(folder.path().join(chart)).unwrap();
        let found = |words: &str| text.lines().filter(|line| *line == words).count();
        assert_eq!(found(said), 1, "{name}: {text}");
        assert_eq!(found("none") + found("not known"), 1, "{name}: {text}");
    }
}
