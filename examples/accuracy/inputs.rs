//! The captures, and what is known to be true of them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Vantage points of the lab, from the server to the client.
pub(crate) const VANTAGES: [&str; 4] = ["sender", "ingress", "egress", "client"];
/// Points of the ns-3 captures, from the sender to the receiver.
pub(crate) const POINTS: [&str; 4] = ["sender", "ingress", "egress", "receiver"];

/// Who sends to whom: address and port of both.
pub(crate) type Ends = (IpAddr, u16, IpAddr, u16);

/// A capture file with its truth.
pub(crate) struct Capture<T> {
    /// Path below the shared folder, without the ending: `lab/s1-.../sender`.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    /// Place in [`VANTAGES`] or [`POINTS`].
    pub(crate) point: usize,
    /// ns-3: the only flow whose packets pass there.
    pub(crate) only_flow: Option<usize>,
    pub(crate) truth: Arc<T>,
}

/// `truth.json` of a lab scenario, as far as it is used.
#[derive(Deserialize)]
pub(crate) struct LabTruth {
    pub(crate) flows: Vec<LabFlow>,
}

/// A connection of a lab scenario.
#[derive(Deserialize)]
pub(crate) struct LabFlow {
    pub(crate) flow: usize,
    server: IpAddr,
    sport: u16,
    client: IpAddr,
    cport: u16,
    /// By `direction.place.cause`.
    pub(crate) network_events: BTreeMap<String, NetworkEvents>,
}

/// How often something happened on the path.
#[derive(Deserialize)]
pub(crate) struct NetworkEvents {
    pub(crate) data_packets: u64,
}

impl LabFlow {
    /// Ends of a direction: from the server (`down`) or to it.
    pub(crate) fn ends(&self, down: bool) -> Ends {
        if down {
            (self.server, self.sport, self.client, self.cport)
        } else {
            (self.client, self.cport, self.server, self.sport)
        }
    }
}

/// `truth.json` of an ns-3 scenario, as far as it is used.
#[derive(Deserialize)]
pub(crate) struct Ns3Truth {
    #[serde(default)]
    scenario: String,
    pub(crate) flows: Vec<Ns3Flow>,
}

/// A flow of an ns-3 scenario.
#[derive(Deserialize)]
pub(crate) struct Ns3Flow {
    pub(crate) flow: usize,
    src: IpAddr,
    sport: u16,
    dst: IpAddr,
    dport: u16,
    pub(crate) points: BTreeMap<String, Ns3Point>,
}

impl Ns3Flow {
    /// Its ends.
    pub(crate) fn ends(&self) -> Ends {
        (self.src, self.sport, self.dst, self.dport)
    }
}

/// What passed at one point of the simulation.
#[derive(Clone, Deserialize)]
pub(crate) struct Ns3Point {
    pub(crate) data_packets: u64,
    pub(crate) fill_rexmt: u64,
    pub(crate) dup_rexmt: u64,
    pub(crate) in_order_rexmt: u64,
    pub(crate) fill_original: u64,
    pub(crate) dup_network: u64,
    /// Packets that end where the first ACK after them points.
    pub(crate) rtt_exact: Ns3Rtt,
    /// Of these, where nothing lower passed in between.
    pub(crate) rtt_clean: Ns3Rtt,
}

/// Delays from data packet to ACK, in milliseconds.
#[derive(Clone, Deserialize)]
pub(crate) struct Ns3Rtt {
    pub(crate) n: u64,
    min_ms: Option<f64>,
    mean_ms: Option<f64>,
    max_ms: Option<f64>,
}

impl Ns3Rtt {
    /// Smallest, mean and largest in microseconds; none without samples.
    pub(crate) fn micros(&self) -> Option<[f64; 3]> {
        let micros = [self.min_ms?, self.mean_ms?, self.max_ms?].map(|ms| ms * 1e3);
        (self.n > 0).then_some(micros)
    }
}

/// What a frame of a lab capture is, by the log of the emulator.
pub(crate) struct TrueFrame {
    pub(crate) flow: usize,
    pub(crate) down: bool,
    pub(crate) len: u32,
    /// `n`, `r`, `p`, `c` or `-` as in the folder's README.
    pub(crate) kind: u8,
    pub(crate) copy: bool,
    pub(crate) spurious: bool,
    pub(crate) late: bool,
}

/// Bytes of a file; a failure names the file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn json<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|error| format!("{}: {error}", path.display()))
}

/// Names in a folder, sorted.
fn listing(folder: &Path) -> Result<Vec<String>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        names.push(
            entry
                .map_err(failed)?
                .file_name()
                .to_string_lossy()
                .into_owned(),
        );
    }
    names.sort_unstable();
    Ok(names)
}

/// All captures of the lab.
pub(crate) fn lab_captures(shared: &Path) -> Result<Vec<Capture<LabTruth>>, String> {
    let lab = shared.join("lab");
    let mut captures = Vec::new();
    for scenario in listing(&lab)? {
        let folder = lab.join(&scenario);
        let file = folder.join("truth.json");
        if !file.is_file() {
            continue;
        }
        let truth = Arc::new(json(&file, &read(&file)?)?);
        for (point, vantage) in VANTAGES.into_iter().enumerate() {
            let path = folder.join(format!("{vantage}.pcap.zst"));
            if path.is_file() {
                captures.push(Capture {
                    name: format!("lab/{scenario}/{vantage}"),
                    path,
                    point,
                    only_flow: None,
                    truth: Arc::clone(&truth),
                });
            }
        }
    }
    Ok(captures)
}

/// All captures of ns-3.
pub(crate) fn ns3_captures(shared: &Path) -> Result<Vec<Capture<Ns3Truth>>, String> {
    let ns3 = shared.join("ns3");
    let mut captures = Vec::new();
    for set in listing(&ns3)? {
        if set == "loss-grid" || !ns3.join(&set).is_dir() {
            continue;
        }
        for scenario in listing(&ns3.join(&set))? {
            let folder = ns3.join(&set).join(&scenario);
            let file = folder.join("truth.json");
            if !file.is_file() {
                continue;
            }
            let truth = Arc::new(json(&file, &read(&file)?)?);
            for name in listing(&folder)? {
                let Some(stem) = name.strip_suffix(".pcap.zst") else {
                    continue;
                };
                let word = stem.trim_end_matches(|c: char| c.is_ascii_digit());
                let Some(point) = POINTS.iter().position(|&point| point == word) else {
                    continue;
                };
                captures.push(Capture {
                    name: format!("ns3/{set}/{scenario}/{stem}"),
                    path: folder.join(&name),
                    point,
                    only_flow: stem[word.len()..].parse().ok(),
                    truth: Arc::clone(&truth),
                });
            }
        }
    }
    loss_grid(&ns3.join("loss-grid"), &mut captures)?;
    Ok(captures)
}

/// The captures of `loss-grid`, whose truths share one file.
fn loss_grid(folder: &Path, captures: &mut Vec<Capture<Ns3Truth>>) -> Result<(), String> {
    let file = folder.join("truth.jsonl");
    for line in read(&file)?.split(|&byte| byte == b'\n') {
        if line.is_empty() {
            continue;
        }
        let truth: Ns3Truth = json(&file, line)?;
        let path = folder.join(format!("{}.pcap.zst", truth.scenario));
        if path.is_file() {
            captures.push(Capture {
                name: format!("ns3/loss-grid/{}/egress", truth.scenario),
                path,
                point: 2,
                only_flow: None,
                truth: Arc::new(truth),
            });
        }
    }
    Ok(())
}

/// The truth about each frame of a lab capture, by frame number.
pub(crate) fn true_frames(capture: &Path) -> Result<BTreeMap<u64, TrueFrame>, String> {
    let name = capture
        .to_string_lossy()
        .replace(".pcap.zst", ".truth.csv.gz");
    let path = Path::new(&name);
    let mut text = String::new();
    MultiGzDecoder::new(read(path)?.as_slice())
        .read_to_string(&mut text)
        .map_err(|error| format!("{name}: {error}"))?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = |name: &str| header.iter().position(|&column| column == name);
    let columns = [
        "frame", "flow", "dir", "len", "kind", "copy", "spurious", "late",
    ]
    .map(column);
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            let [frame, flow, dir, len, kind, copy, spurious, late] =
                columns.map(|column| column.and_then(|column| fields.get(column).copied()));
            let row = || {
                let row = TrueFrame {
                    flow: flow?.parse().ok()?,
                    down: dir? == "d",
                    len: len?.parse().ok()?,
                    kind: *kind?.as_bytes().first()?,
                    copy: copy? == "1",
                    spurious: spurious? == "1",
                    late: late? == "1",
                };
                Some((frame?.parse().ok()?, row))
            };
            row().ok_or_else(|| format!("{name}: not understood: {line}"))
        })
        .collect()
}
