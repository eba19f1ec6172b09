//! The figures of five published studies, from captures.

use std::collections::BTreeMap;

use ccanalyze::metric::stats::Describe;
use ccanalyze::report::chart::{
    BandLines, BoxPanel, Boxes, Distribution, Distributions, Estimate, FnessPair, FnessScatter,
    GroupedBars, HeatMap, HeatMaps, HeatScale, Quantity, SpiderShape, Spiders, variant,
};

use super::runs::{FlowNumbers, RunNumbers};
use super::{Failure, Gallery};

const CI: &str = "bars: mean, whiskers: 95 % confidence interval of the mean over flows";

/// Captures that several charts need, each analysed once.
struct Library<'a> {
    gallery: &'a Gallery,
    runs: BTreeMap<String, RunNumbers>,
}

impl Library<'_> {
    fn run(&mut self, capture: &str, bps: f64) -> Result<&RunNumbers, Failure> {
        if !self.runs.contains_key(capture) {
            let run = RunNumbers::of(self.gallery, capture, bps)?;
            self.runs.insert(capture.to_owned(), run);
        }
        Ok(&self.runs[capture])
    }
}

pub(super) fn draw(gallery: &Gallery) -> Result<(), Failure> {
    let mut library = Library {
        gallery,
        runs: BTreeMap::new(),
    };
    bars(gallery, &mut library)?;
    boxes(gallery, &mut library)?;
    loss_and_delay(gallery, &mut library)?;
    mobility(gallery, &mut library)?;
    pairs(gallery, &mut library)?;
    short_and_long(gallery, &mut library)
}

fn estimate(values: &[f64]) -> Option<Estimate> {
    let found = Describe::of(values)?;
    Some(Estimate {
        value: found.mean,
        interval: found.ci95.map(|interval| (interval.low, interval.high)),
        n: found.n as u64,
    })
}

/// Variant against variant for 1, 6 and 3 + 3 connections: goodput, latency, overhead.
fn bars(gallery: &Gallery, library: &mut Library<'_>) -> Result<(), Failure> {
    type Number = fn(&FlowNumbers) -> Option<f64>;
    let measures: [(&str, &str, Quantity, Number); 3] = [
        ("study-bars-goodput", "Goodput", Quantity::GOODPUT, |flow| {
            flow.goodput_bps
        }),
        ("study-bars-latency", "Mean RTT", Quantity::RTT, |flow| {
            flow.rtt_s
        }),
        (
            "study-bars-overhead",
            "Overhead",
            Quantity::OVERHEAD,
            |flow| flow.overhead,
        ),
    ];
    for (name, what, quantity, number) in measures {
        gallery.draw(name, |style| {
            let mut group = |name: &str, runs: &[(&str, &str, Option<u8>)]| {
                let bars = runs.iter().map(|&(cca, capture, odd)| {
                    let run = library.run(&format!("lab/{capture}/ingress.pcap.zst"), 50e6)?;
                    let of_cca = |flow: &&FlowNumbers| odd.is_none_or(|odd| flow.sender % 2 == odd);
                    let values: Vec<f64> =
                        run.flows.iter().filter(of_cca).filter_map(number).collect();
                    Ok((cca.to_owned(), estimate(&values)))
                });
                let bars = bars.collect::<Result<Vec<_>, Failure>>()?;
                Ok::<_, Failure>((name.to_owned(), bars))
            };
            let groups = vec![
                group(
                    "1, buffer of 1000 packets",
                    &[
                        ("cubic", "s1-single-50m-cubic-deep", None),
                        ("bbr", "s1-single-50m-bbr-deep", None),
                        ("reno", "s1-single-50m-reno-deep", None),
                    ],
                )?,
                group(
                    "1, buffer of 10 packets",
                    &[
                        ("cubic", "s1-single-50m-cubic-shallow", None),
                        ("bbr", "s1-single-50m-bbr-shallow", None),
                        ("reno", "s1-single-50m-reno-shallow", None),
                    ],
                )?,
                group(
                    "6 of one",
                    &[("cubic", "s2-six-cubic", None), ("bbr", "s2-six-bbr", None)],
                )?,
                group(
                    "3 + 3",
                    &[
                        ("cubic", "s2-six-mixed", Some(1)),
                        ("bbr", "s2-six-mixed", Some(0)),
                    ],
                )?,
            ];
            let bars = GroupedBars {
                title: format!("{what} of each download – 50 Mbit/s"),
                note: CI.to_owned(),
                quantity,
                groups,
            };
            Ok(bars.draw(style))
        })?;
    }
    Ok(())
}

const SETTINGS: [(&str, &str); 2] = [
    ("deep", "buffer of 1000 packets"),
    ("shallow", "buffer of 10 packets"),
];

/// Box and whisker of goodput beside round-trip time, and spider plots, of each variant.
fn boxes(gallery: &Gallery, library: &mut Library<'_>) -> Result<(), Failure> {
    if !gallery.wants("study-boxes") && !gallery.wants("study-spider") {
        return Ok(());
    }
    let mut goodputs = Vec::new();
    let mut rtts = Vec::new();
    let mut panels = Vec::new();
    for (folder, setting) in SETTINGS {
        let mut shapes = Vec::new();
        for cca in ["cubic", "reno", "bbr"] {
            let capture = format!("lab/s1-single-50m-{cca}-{folder}/sender.pcap.zst");
            let flow = &library.run(&capture, 50e6)?.flows[0];
            goodputs.push((format!("{cca}, {folder}"), flow.goodputs.clone()));
            rtts.push((format!("{cca}, {folder}"), flow.rtts.clone()));
            shapes.push(SpiderShape {
                name: cca.to_owned(),
                values: vec![flow.goodput_bps, flow.rtt_s, Some(flow.retransmission_rate)],
                n: 1,
            });
        }
        panels.push((setting.to_owned(), shapes));
    }
    gallery.draw("study-boxes", |style| {
        let boxes = Boxes {
            title: "Goodput beside RTT – 50 Mbit/s, 23 ms, deep and shallow buffer".to_owned(),
            note: "values of 100 ms, at the sender".to_owned(),
            panels: vec![
                BoxPanel {
                    quantity: Quantity::GOODPUT,
                    samples: goodputs,
                },
                BoxPanel {
                    quantity: Quantity::RTT,
                    samples: rtts,
                },
            ],
        };
        Ok(boxes.draw(style))
    })?;
    gallery.draw("study-spider", |style| {
        let spiders = Spiders {
            title: "Goodput, delay, retransmissions – 50 Mbit/s, 23 ms".to_owned(),
            note: "one run each, at the sender".to_owned(),
            axes: vec![
                Quantity::GOODPUT,
                Quantity::RTT,
                Quantity::RETRANSMISSION_RATE,
            ],
            panels,
        };
        Ok(spiders.draw(style))
    })
}

const LOSSES: [u32; 5] = [0, 1, 2, 3, 4];
const DELAYS: [u32; 6] = [1, 20, 40, 60, 80, 100];

/// Utilisation over loss and delay, what splitting the path would give, and lines over loss.
fn loss_and_delay(gallery: &Gallery, library: &mut Library<'_>) -> Result<(), Failure> {
    const BPS: f64 = 10e6;
    let mut utilisation = |cca: &str, loss: u32, owd: u32| -> Result<Option<f64>, Failure> {
        let capture = format!("ns3/loss-grid/{cca}-loss{loss}-owd{owd}-seed1.pcap.zst");
        let run = library.run(&capture, BPS)?;
        Ok(run
            .flows
            .first()
            .and_then(|flow| flow.goodput_bps)
            .map(|bps| bps / BPS))
    };
    let columns = (
        "One-way delay (ms)".to_owned(),
        DELAYS.map(|delay| delay.to_string()).to_vec(),
    );
    let rows = (
        "Loss (%)".to_owned(),
        LOSSES.map(|loss| loss.to_string()).to_vec(),
    );
    let mut map = |cca: &str| -> Result<Vec<Vec<Option<f64>>>, Failure> {
        LOSSES
            .iter()
            .map(|&loss| {
                DELAYS
                    .iter()
                    .map(|&owd| utilisation(cca, loss, owd))
                    .collect()
            })
            .collect()
    };
    if !gallery.wants("study-heat-map")
        && !gallery.wants("study-split-maps")
        && !gallery.wants("study-lines")
    {
        return Ok(());
    }
    let cubic = map("cubic")?;
    let bbr = map("bbr")?;
    gallery.draw("study-heat-map", |style| {
        let maps = HeatMaps {
            title: "Utilisation over loss and delay – 10 Mbit/s, buffer of 100 packets".to_owned(),
            note: "one run of 10 s each, n = 1".to_owned(),
            quantity: Quantity::UTILISATION,
            columns: columns.clone(),
            rows: rows.clone(),
            maps: vec![amount("cubic", &cubic), amount("bbr", &bbr)],
        };
        Ok(maps.draw(style))
    })?;
    split_maps(gallery, &cubic, &rows)?;
    gallery.draw("study-lines", |style| {
        let line = |name: &str, map: &[Vec<Option<f64>>]| {
            let points = LOSSES.iter().zip(map).filter_map(|(&loss, row)| {
                let values: Vec<f64> = row.iter().flatten().map(|share| share * BPS).collect();
                Some((f64::from(loss) / 100.0, estimate(&values)?))
            });
            (name.to_owned(), points.collect())
        };
        let lines = BandLines {
            title: "Goodput over loss – 10 Mbit/s, one-way delays of 1 to 100 ms".to_owned(),
            note: "lines: mean over the delays, bands: its 95 % confidence interval".to_owned(),
            x: Quantity::LOSS,
            x_name: "Loss".to_owned(),
            y: Quantity::GOODPUT,
            lines: vec![line("cubic", &cubic), line("bbr", &bbr)],
        };
        Ok(lines.draw(style))
    })
}

fn amount(name: &str, cells: &[Vec<Option<f64>>]) -> HeatMap {
    HeatMap {
        name: name.to_owned(),
        scale: HeatScale::Amount,
        cells: cells.to_vec(),
    }
}

/// What splitting a path in two would give: measured, predicted, and the difference.
fn split_maps(
    gallery: &Gallery,
    cubic: &[Vec<Option<f64>>],
    rows: &(String, Vec<String>),
) -> Result<(), Failure> {
    gallery.draw("study-split-maps", |style| {
        // A lossless segment of 20 ms before one with loss: end to end, delays add up; split, the
        // slower segment decides.
        let segments = [20_usize, 40, 60, 80];
        let place = |owd: usize| DELAYS.iter().position(|&delay| delay as usize == owd);
        let cell = |owd: usize, loss: usize| place(owd).and_then(|place| cubic[loss][place]);
        let all = |of: &dyn Fn(usize, usize) -> Option<f64>| -> Vec<Vec<Option<f64>>> {
            (0..LOSSES.len())
                .map(|loss| segments.iter().map(|&owd| of(owd, loss)).collect())
                .collect()
        };
        let whole = |owd: usize, loss: usize| cell(owd + 20, loss);
        let split = |owd: usize, loss: usize| Some(cell(20, 0)?.min(cell(owd, loss)?));
        let gain = |owd: usize, loss: usize| Some(split(owd, loss)? - whole(owd, loss)?);
        let maps = HeatMaps {
            title: "A proxy after 20 ms without loss – cubic, 10 Mbit/s".to_owned(),
            note: "predicted: the slower segment alone; one run of 10 s each, n = 1".to_owned(),
            quantity: Quantity::UTILISATION,
            columns: (
                "One-way delay of the second segment (ms)".to_owned(),
                segments.map(|owd| owd.to_string()).to_vec(),
            ),
            rows: rows.clone(),
            maps: vec![
                amount("end to end, measured", &all(&whole)),
                amount("split, predicted", &all(&split)),
                HeatMap {
                    name: "difference".to_owned(),
                    scale: HeatScale::Difference,
                    cells: all(&gain),
                },
            ],
        };
        Ok(maps.draw(style))
    })
}

const MOVING: [(&str, &str); 2] = [
    ("rise15-rtt18", "5 to 40 Mbit/s, 18 ms"),
    ("fall15-rtt68", "40 to 5 Mbit/s, 68 ms"),
];

/// The distribution of the balanced metric while the capacity changes.
fn mobility(gallery: &Gallery, library: &mut Library<'_>) -> Result<(), Failure> {
    gallery.draw("study-ecdf", |style| {
        let mut panels = Vec::new();
        for (folder, title) in MOVING {
            let mut distributions = Vec::new();
            for cca in ["cubic", "reno", "westwood", "illinois", "bbr"] {
                let capture = format!("ns3/mobility/{cca}-{folder}/egress.pcap.zst");
                let flow = &library.run(&capture, 40e6)?.flows[0];
                distributions.push(Distribution::of_values(
                    cca.to_owned(),
                    variant(cca),
                    &flow.pms,
                ));
            }
            panels.push((title.to_owned(), distributions));
        }
        let distributions = Distributions {
            title: "Balanced metric while the capacity changes in 15 s".to_owned(),
            note: "values of 100 ms, against a capacity of 40 Mbit/s".to_owned(),
            quantity: Quantity::PM,
            panels,
            histogram: false,
        };
        Ok(distributions.draw(style))
    })
}

/// fness of pairs in both orders of start, and who fills the queue.
fn pairs(gallery: &Gallery, library: &mut Library<'_>) -> Result<(), Failure> {
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
            let mut fness = |first: &str, second: &str| {
                let capture = format!("ns3/pairs/{first}-{second}-2bdp/egress.pcap.zst");
                Ok::<_, Failure>(library.run(&capture, 10e6)?.fness.clone())
            };
            let a_first = fness(a, b)?;
            // The run's A is what started first: here that is B.
            let b_first = fness(b, a)?.iter().map(|value| -value).collect();
            pairs.push(FnessPair {
                name: format!("{a} | {b}"),
                a_first,
                b_first,
            });
        }
        let scatter = FnessScatter {
            title: "Fairness of pairs – 10 Mbit/s, 50 ms, buffer 2 BDP".to_owned(),
            note: String::new(),
            point: "a second of a run".to_owned(),
            pairs,
        };
        Ok(scatter.draw(style))
    })?;
    gallery.draw("study-queue-share", |style| {
        let ccas = ["cubic", "bbr"];
        let mut maps = Vec::new();
        for (name, buffer, bytes) in [
            ("buffer 0.5 BDP", "0.5bdp", 31_250.0),
            ("buffer 2 BDP", "2bdp", 125_000.0),
        ] {
            let full_s = bytes * 8.0 / 10e6;
            let cells = ccas.map(|second| {
                ccas.map(|first| {
                    let capture = format!("lab/s3-two-{first}-{second}-{buffer}/ingress.pcap.zst");
                    let run = library.run(&capture, 10e6)?;
                    let delays: Vec<f64> = run
                        .flows
                        .iter()
                        .filter_map(|flow| flow.queue_delay_s)
                        .collect();
                    Ok::<_, Failure>(Describe::of(&delays).map(|found| found.mean / full_s))
                })
            });
            let cells = cells
                .into_iter()
                .map(|row| row.into_iter().collect::<Result<Vec<_>, _>>())
                .collect::<Result<Vec<_>, _>>()?;
            maps.push(HeatMap {
                name: name.to_owned(),
                scale: HeatScale::Amount,
                cells,
            });
        }
        let names = ccas.map(str::to_owned).to_vec();
        let maps = HeatMaps {
            title: "Mean queueing delay over that of a full buffer – 10 Mbit/s, 50 ms".to_owned(),
            note: "mean of both flows, one run of 45 s each, n = 1".to_owned(),
            quantity: Quantity::SHARE.called("Share of the buffer"),
            columns: ("First flow".to_owned(), names.clone()),
            rows: ("Second flow".to_owned(), names),
            maps,
        };
        Ok(maps.draw(style))
    })
}

/// Completion times of short downloads, alone and against a long one.
fn short_and_long(gallery: &Gallery, library: &mut Library<'_>) -> Result<(), Failure> {
    gallery.draw("study-completion", |style| {
        let short = library.run("lab/s7-many-short/ingress.pcap.zst", 20e6)?;
        // Only the downloads, not what asked for them.
        let of = |server: u8, bytes: u64| -> Vec<f64> {
            let flows = short.flows.iter();
            flows
                .filter(|flow| flow.sender == server && flow.payload_bytes >= bytes)
                .map(|flow| flow.completion_s)
                .collect()
        };
        let samples = vec![
            ("cubic, 15 kB, 40 ms".to_owned(), of(1, 15_000)),
            ("bbr, 60 kB, 80 ms".to_owned(), of(2, 60_000)),
        ];
        let boxes = Boxes {
            title:
                "Completion time of short downloads, size and base RTT below – 20 Mbit/s, 1 % loss"
                    .to_owned(),
            note: "one after another, three at a time".to_owned(),
            panels: vec![BoxPanel {
                quantity: Quantity::COMPLETION,
                samples,
            }],
        };
        Ok(boxes.draw(style))
    })
}
