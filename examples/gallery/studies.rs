//! The figures of five published studies: those that `ccanalyze study` draws of the manifests in
//! `examples/studies`, and two whose runs are too few here, by what is within them.

use std::path::Path;

use ccanalyze::analyze::{Config, Pairs, Watch};
use ccanalyze::report::chart::{BoxPanel, Boxes, FnessPair, FnessScatter, Quantity, of_study};
use ccanalyze::study::StudyPlan;

use super::{Failure, Gallery};

/// Manifest, the beginning of the chart's file name, and what it is called in the gallery.
const FIGURES: [(&str, &str, &str); 14] = [
    ("access-network", "bars-goodput", "study-bars-goodput"),
    ("access-network", "bars-latency", "study-bars-latency"),
    ("access-network", "bars-overhead", "study-bars-overhead"),
    ("streams", "series-boxes-04", "study-boxes"),
    ("streams", "series-08", "study-series"),
    ("loss-grid", "map", "study-heat-map"),
    ("loss-grid", "split-01", "study-split-maps"),
    ("loss-grid", "split-path-02", "study-split-path"),
    ("loss-grid", "lines-loss", "study-lines"),
    (
        "split-accuracy",
        "split-accuracy-01",
        "study-split-accuracy",
    ),
    ("mobility", "spider", "study-spider"),
    ("mobility", "pm-ecdf", "study-ecdf"),
    ("pairs", "queue-share", "study-queue-share"),
    (
        "pairs",
        "pair-retransmissions",
        "study-pair-retransmissions",
    ),
];

pub(super) fn draw(gallery: &Gallery) -> Result<(), Failure> {
    let mut manifests: Vec<&str> = FIGURES.map(|(manifest, _, _)| manifest).to_vec();
    manifests.dedup();
    for manifest in manifests {
        of_manifest(gallery, manifest)?;
    }
    fness(gallery)?;
    short(gallery)
}

/// The charts of a study, as the command draws them.
fn of_manifest(gallery: &Gallery, manifest: &str) -> Result<(), Failure> {
    let wanted = || {
        let figures = FIGURES.iter().filter(|(of, _, _)| *of == manifest);
        figures.filter(|(_, _, name)| gallery.wants(name))
    };
    if wanted().next().is_none() {
        return Ok(());
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples/studies")
        .join(manifest)
        .with_extension("toml");
    // The captures may be elsewhere here.
    let captures = gallery.captures.canonicalize()?;
    let text = std::fs::read_to_string(path)?;
    let text = text.replace("../../../shared", &captures.to_string_lossy());
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("study.toml");
    std::fs::write(&path, text)?;
    let plan = StudyPlan::read(&path)?;
    let results = plan.carry_out(None, &Watch::default());
    let charts = of_study(&plan.reports, &results, gallery.style).charts;
    for (_, stem, name) in wanted() {
        let found = charts.iter().find(|chart| chart.stem == *stem);
        gallery.draw(name, |_| Ok(found.map(|chart| chart.canvas.clone())))?;
    }
    Ok(())
}

/// fness of pairs in both orders of start, in each second in which both were active: these captures
/// have one run of each.
fn fness(gallery: &Gallery) -> Result<(), Failure> {
    let config = Config {
        bin_ns: 1_000_000_000,
        ..Config::default()
    };
    let seconds = |first: &str, second: &str| -> Result<Vec<f64>, Failure> {
        let capture = format!("ns3/pairs/{first}-{second}-2bdp/egress.pcap.zst");
        let analysis = gallery.analyse(&capture, &config)?;
        let capture = &analysis.captures[0];
        let flows: Vec<_> = capture.flows().collect();
        // Of the two downloads, not of what asked for them.
        let bytes = |place: usize| flows[place].payload_bytes();
        let mut pairs = capture.pairs.pairs.iter();
        let downloads = pairs.find(|pair| bytes(pair.a).min(bytes(pair.b)) > 1_000_000);
        let bins =
            downloads.map(|pair| Pairs::bins([&flows[pair.a], &flows[pair.b]], pair, capture));
        let bins = bins.unwrap_or_default();
        Ok(bins.iter().filter_map(|bin| bin.fness).collect())
    };
    gallery.draw("study-fness", |style| {
        let mut pairs = Vec::new();
        for (a, b) in [
            ("cubic", "cubic"),
            ("reno", "reno"),
            ("bbr", "bbr"),
            ("cubic", "reno"),
            ("cubic", "bbr"),
            ("reno", "bbr"),
        ] {
            // The run's A is what started first: in the other order that is B.
            let turned = if a == b { Vec::new() } else { seconds(b, a)? };
            let b_first = turned.iter().map(|value| -value).collect();
            pairs.push(FnessPair {
                name: format!("{a} | {b}"),
                a_first: seconds(a, b)?,
                b_first,
            });
        }
        let scatter = FnessScatter {
            title: "Fairness of pairs – 10 Mbit/s, 50 ms, buffer 2 BDP".to_owned(),
            note: String::new(),
            point: "a second of a run".to_owned(),
            a: None,
            pairs,
        };
        Ok(scatter.draw(style))
    })
}

/// Completion times of short downloads, one after another.
fn short(gallery: &Gallery) -> Result<(), Failure> {
    gallery.draw("study-completion", |style| {
        let capture = "lab/s7-many-short/ingress.pcap.zst";
        let analysis = gallery.analyse(capture, &Config::default())?;
        // Only the downloads, not what asked for them.
        let of = |port: u16, bytes: u64| -> Vec<f64> {
            let flows = analysis.captures[0].flows();
            flows
                .filter(|flow| flow.ends().0.port() == port)
                .filter(|flow| flow.payload_bytes() >= bytes)
                .filter_map(|flow| Some(flow.completion_ns()? as f64 / 1e9))
                .collect()
        };
        let boxes = Boxes {
            title:
                "Completion time of short downloads, size and base RTT below – 20 Mbit/s, 1 % loss"
                    .to_owned(),
            note: "one after another, three at a time".to_owned(),
            panels: vec![BoxPanel {
                quantity: Quantity::COMPLETION,
                samples: vec![
                    ("cubic, 15 kB, 40 ms".to_owned(), of(5001, 15_000)),
                    ("bbr, 60 kB, 80 ms".to_owned(), of(5002, 60_000)),
                ],
            }],
        };
        Ok(boxes.draw(style))
    })
}
