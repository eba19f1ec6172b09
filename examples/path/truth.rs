//! What the emulator and the simulator logged about the queue.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use serde_json::Value;

use crate::records::first_ns;

/// Sender and receiver, with their ports.
pub(crate) type Ends = (IpAddr, u16, IpAddr, u16);

/// A scenario with captures before and after the queue.
#[derive(Default)]
pub(crate) struct Scenario {
    /// `lab` or `ns3`, and the folder's name.
    pub(crate) name: String,
    pub(crate) before: PathBuf,
    pub(crate) after: PathBuf,
    /// Packets dropped between the two, by sender, receiver and cause in the log's words.
    pub(crate) drops: BTreeMap<(Ends, String), u64>,
    /// Sum over packets of the time that each waited, in ns.
    pub(crate) waits_ns: Option<f64>,
    /// By record of the capture after the queue: record before it, and wait in ns where logged.
    pub(crate) joined: BTreeMap<u64, (u64, Option<i64>)>,
    /// Largest queue in intervals of 10 ms, by their start in ms after the run's first packet.
    pub(crate) maxima: BTreeMap<i64, u64>,
    /// When that was, in ns.
    pub(crate) origin_ns: i64,
    /// When the log's clock was read for a packet that the queue refused, in ns, by the packet's
    /// record before the queue.
    pub(crate) refused: BTreeMap<u64, i64>,
    /// When packets were dropped that the queue had taken, in the same way.
    pub(crate) dropped_later: BTreeMap<u64, i64>,
    /// Rate of the link in IP bits per second, where it was the same all the time.
    pub(crate) rate_bps: Option<f64>,
    /// Packets waiting at instants, in ns.
    pub(crate) samples: Vec<(i64, u64)>,
}

/// All lab scenarios.
pub(crate) fn lab(shared: &Path) -> Result<Vec<Scenario>, String> {
    folders(&shared.join("lab"))?
        .iter()
        .map(|folder| lab_scenario(folder))
        .collect()
}

fn lab_scenario(folder: &Path) -> Result<Scenario, String> {
    let truth = json(&folder.join("truth.json"))?;
    let ends = flow_ends(&truth, LAB_ENDS);
    let before = true_frames(&folder.join("ingress.truth.csv.gz"))?;
    let by_identity: BTreeMap<(u64, u64), u64> = before
        .iter()
        .map(|frame| ((frame.uid, frame.copy), frame.frame))
        .collect();
    let mut drops = BTreeMap::new();
    let (mut refused, mut dropped_later) = (BTreeMap::new(), BTreeMap::new());
    for row in csv(&folder.join("drops.csv.gz"))? {
        let flow: usize = number(&row[4])?;
        if row[2] == "bn" && row[1].contains("drop") {
            let down = row[3] == "down";
            *drops
                .entry((towards(ends[flow], down), row[1].clone()))
                .or_default() += 1;
            let frame = by_identity.get(&(number(&row[5])?, number(&row[6])?));
            if let (true, Some(&frame)) = (down, frame) {
                let at_once = row[1] != "codel-drop";
                let drops = if at_once {
                    &mut refused
                } else {
                    &mut dropped_later
                };
                drops.insert(frame, number(&row[0])?);
            }
        }
    }
    let after = true_frames(&folder.join("egress.truth.csv.gz"))?;
    let joined = after
        .iter()
        .filter_map(|frame| {
            let before = by_identity.get(&(frame.uid, frame.copy))?;
            Some((frame.frame, (*before, frame.wait_ns)))
        })
        .collect();
    let waits = after.iter().filter_map(|frame| frame.wait_ns);
    let maxima = csv(&folder.join("queue.csv.gz"))?
        .iter()
        .map(|row| Ok((number(&row[0])?, number(&row[1])?)))
        .collect::<Result<_, String>>()?;
    let origin_ns =
        first_ns(&folder.join("sender.pcap.zst"))?.min(first_ns(&folder.join("client.pcap.zst"))?);
    Ok(Scenario {
        drops,
        waits_ns: Some(waits.sum::<i64>() as f64),
        joined,
        maxima,
        origin_ns,
        refused,
        dropped_later,
        rate_bps: lab_rate_bps(&truth),
        ..captured("lab", folder)
    })
}

struct TrueFrame {
    frame: u64,
    uid: u64,
    copy: u64,
    wait_ns: Option<i64>,
}

fn true_frames(path: &Path) -> Result<Vec<TrueFrame>, String> {
    csv(path)?
        .iter()
        .map(|row| {
            let wait = row.get(10).filter(|wait| !wait.is_empty());
            Ok(TrueFrame {
                frame: number(&row[0])?,
                uid: number(&row[1])?,
                copy: number(&row[2])?,
                wait_ns: wait
                    .map(|wait| Ok::<_, String>(number::<i64>(wait)? * 1000))
                    .transpose()?,
            })
        })
        .collect()
}

/// All ns-3 scenarios with captures at both points.
pub(crate) fn ns3(shared: &Path) -> Result<Vec<Scenario>, String> {
    folders(&shared.join("ns3/core"))?
        .iter()
        .map(|folder| ns3_scenario(folder))
        .collect()
}

fn ns3_scenario(folder: &Path) -> Result<Scenario, String> {
    let truth = json(&folder.join("truth.json"))?;
    let ends = flow_ends(&truth, NS3_ENDS);
    let mut drops = BTreeMap::new();
    for row in csv(&folder.join("drops.csv.zst"))? {
        if row[6] == "bottleneck" {
            let flow: usize = number(&row[1])?;
            *drops.entry((ends[flow], row[5].clone())).or_default() += 1;
        }
    }
    let samples = csv(&folder.join("queue.csv.zst"))?
        .iter()
        .map(|row| {
            let at: f64 = number(&row[0])?;
            let waiting = number::<u64>(&row[1])? + number::<u64>(&row[3])?;
            Ok(((at * 1e9).round() as i64, waiting))
        })
        .collect::<Result<_, String>>()?;
    Ok(Scenario {
        drops,
        samples,
        ..captured("ns3", folder)
    })
}

/// A scenario of which nothing but its captures is known.
fn captured(kind: &str, folder: &Path) -> Scenario {
    Scenario {
        name: name(kind, folder),
        before: folder.join("ingress.pcap.zst"),
        after: folder.join("egress.pcap.zst"),
        ..Scenario::default()
    }
}

/// What sender, its port, receiver and its port are called in `truth.json`.
const LAB_ENDS: [&str; 4] = ["server", "sport", "client", "cport"];
const NS3_ENDS: [&str; 4] = ["src", "sport", "dst", "dport"];

fn flow_ends(truth: &Value, names: [&str; 4]) -> Vec<Ends> {
    let flows = truth["flows"].as_array().into_iter().flatten();
    let ends = flows.filter_map(|flow| {
        let host = |name: &str| flow[name].as_str()?.parse().ok();
        let port = |name: &str| Some(flow[name].as_u64()? as u16);
        Some((
            host(names[0])?,
            port(names[1])?,
            host(names[2])?,
            port(names[3])?,
        ))
    });
    ends.collect()
}

/// Rate of the emulator's link, where it was the same all the time.
fn lab_rate_bps(truth: &Value) -> Option<f64> {
    let configured = &truth["configured"];
    configured["rate_bps"]
        .as_f64()
        .filter(|_| configured["rate_steps"].is_null())
}

/// A link of a known rate, and captures around it.
pub(crate) struct Link {
    /// Its set of scenarios and its folder's name.
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    /// IP bits a second.
    pub(crate) rate_bps: f64,
    /// Who sends data over it.
    pub(crate) senders: BTreeSet<IpAddr>,
}

/// Links whose rate does not change: of the lab and of all simulations.
pub(crate) fn links(shared: &Path) -> Result<Vec<Link>, String> {
    let mut links = Vec::new();
    for set in ["lab", "ns3/core", "ns3/single", "ns3/pairs", "ns3/mix"] {
        for folder in folders(&shared.join(set))? {
            let truth = json(&folder.join("truth.json"))?;
            let (rate_bps, names) = if set == "lab" {
                (lab_rate_bps(&truth), LAB_ENDS)
            } else {
                let config = &truth["config"];
                let rate = config["bottleneck_mbps"].as_f64().map(|mbps| mbps * 1e6);
                (rate.filter(|_| config["variable_rate"] == false), NS3_ENDS)
            };
            let senders = flow_ends(&truth, names).iter().map(|ends| ends.0).collect();
            links.extend(rate_bps.map(|rate_bps| Link {
                name: name(set, &folder),
                folder,
                rate_bps,
                senders,
            }));
        }
    }
    Ok(links)
}

fn towards(ends: Ends, down: bool) -> Ends {
    let (server, sport, client, cport) = ends;
    if down {
        ends
    } else {
        (client, cport, server, sport)
    }
}

fn name(kind: &str, folder: &Path) -> String {
    let folder = folder.file_name().unwrap_or_default().to_string_lossy();
    format!("{kind}/{folder}")
}

fn folders(around: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error| format!("{}: {error}", around.display());
    let mut folders = Vec::new();
    for entry in fs::read_dir(around).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

fn json(path: &Path) -> Result<Value, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The cells of each row but the head.
pub(crate) fn csv(path: &Path) -> Result<Vec<Vec<String>>, String> {
    let failed = |error| format!("{}: {error}", path.display());
    let bytes = fs::read(path).map_err(failed)?;
    let mut text = String::new();
    if path.extension().is_some_and(|ending| ending == "zst") {
        zstd::stream::read::Decoder::new(&bytes[..])
            .and_then(|mut reader| reader.read_to_string(&mut text))
            .map_err(failed)?;
    } else {
        MultiGzDecoder::new(&bytes[..])
            .read_to_string(&mut text)
            .map_err(failed)?;
    }
    let rows = text.lines().skip(1);
    Ok(rows
        .map(|row| row.split(',').map(str::to_owned).collect())
        .collect())
}

pub(crate) fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("'{text}' is no number"))
}
