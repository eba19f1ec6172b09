//! tcptrace and tshark: how they are run, and what they print.

use std::collections::BTreeMap;
use std::fs;
use std::net::IpAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use ccanalyze::capture::{CaptureError, CaptureReader, CaptureSource, ReadOptions, Window};

use crate::inputs::Ends;
use crate::wire::{Format, Packet};

/// Captures with more frames are not given to tshark, which is slow.
pub(crate) const TSHARK_FRAMES: u64 = 6_000;

/// What a peer says of the data of one direction of a connection.
#[derive(Clone, Default)]
pub(crate) struct PeerFlow {
    data_packets: u64,
    pub(crate) retransmissions: u64,
    pub(crate) out_of_order: u64,
    pub(crate) rtt_samples: u64,
    /// Smallest, mean and largest in microseconds, steps of 100 (tcptrace alone).
    pub(crate) rtt_micros: Option<[f64; 3]>,
}

/// The flows with payload of a capture by their ends, in the order in which they began.
pub(crate) type PeerFlows = BTreeMap<Ends, Vec<PeerFlow>>;

/// Which peers there are: their versions as they print them.
pub(crate) struct Peers {
    pub(crate) tcptrace: Option<String>,
    pub(crate) tshark: Option<String>,
}

impl Peers {
    /// Asks both for their versions.
    pub(crate) fn installed() -> Self {
        let version = |program: &str, option: &str, sign: &str| {
            let output = Command::new(program)
                .arg(option)
                .stdin(Stdio::null())
                .output()
                .ok()?;
            let text = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&text);
            let line = text.lines().find(|line| line.contains(sign))?;
            let line = line.trim_start_matches("Version: ").trim();
            Some(line.trim_end_matches('.').to_owned())
        };
        Self {
            tcptrace: version("tcptrace", "-version", "tcptrace -- version"),
            tshark: version("tshark", "--version", "TShark"),
        }
    }
}

/// What both peers say of a capture; none where one is not installed or, for tshark, the capture
/// is too long.
pub(crate) struct Opinions {
    pub(crate) tcptrace: Option<PeerFlows>,
    pub(crate) tshark: Option<PeerFlows>,
}

impl Opinions {
    /// Runs the peers on a capture of so many frames.
    pub(crate) fn of(
        peers: &Peers,
        capture: &Path,
        frames: u64,
        scratch: &Path,
    ) -> Result<Self, String> {
        let short = frames <= TSHARK_FRAMES;
        if peers.tcptrace.is_none() && (peers.tshark.is_none() || !short) {
            return Ok(Self {
                tcptrace: None,
                tshark: None,
            });
        }
        let folder = tempfile::tempdir_in(scratch).map_err(|error| error.to_string())?;
        let plain = folder.path().join("capture.pcap");
        fs::write(&plain, plain_pcap(capture)?).map_err(|error| error.to_string())?;
        let tcptrace = match peers.tcptrace {
            Some(_) => Some(tcptrace_flows(&run(
                Command::new("tcptrace").args(["-n", "-l", "-r"]),
                &plain,
            )?)),
            None => None,
        };
        let tshark = match peers.tshark {
            Some(_) if short => Some(tshark_flows(&run(&mut tshark_command(), &plain)?)),
            _ => None,
        };
        Ok(Self { tcptrace, tshark })
    }
}

/// What the program prints about the file.
fn run(command: &mut Command, file: &Path) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .arg(file)
        .current_dir(file.parent().unwrap_or(Path::new(".")))
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The capture uncompressed, with microseconds: what tcptrace is made for.
fn plain_pcap(path: &Path) -> Result<Vec<u8>, String> {
    let failed = |error: CaptureError| error.to_string();
    let sources = vec![CaptureSource::File(path.to_path_buf())];
    let mut reader = CaptureReader::open(sources, &ReadOptions::default()).map_err(failed)?;
    let (mut window, mut packets, mut link) = (Window::new(), Vec::new(), 0);
    while reader.read_window(&mut window).map_err(failed)? {
        packets.extend(window.all().map(|record| {
            link = record.link.0;
            Packet {
                at_ns: record.at.as_ns(),
                bytes: record.bytes.to_vec(),
                original_len: record.original_len,
            }
        }));
    }
    let format = Format {
        tick_ns: 1000,
        link,
        ..Format::RAW
    };
    Ok(format.file(&packets))
}

fn keep(flows: &mut PeerFlows, ends: Ends, flow: PeerFlow) {
    if flow.data_packets > 0 {
        flows.entry(ends).or_default().push(flow);
    }
}

/// Reads `tcptrace -n -l -r`.
fn tcptrace_flows(text: &str) -> PeerFlows {
    let mut flows = PeerFlows::new();
    for block in text.split("\nTCP connection ").skip(1) {
        let hosts: Vec<(IpAddr, u16)> = block
            .lines()
            .filter_map(|line| {
                let host = line.trim().strip_prefix("host ")?;
                let (ip, port) = host.split_once(": ")?.1.trim().rsplit_once(':')?;
                Some((ip.parse().ok()?, port.parse().ok()?))
            })
            .collect();
        let [a, b] = hosts[..] else {
            continue;
        };
        for (column, ends) in [(0, (a.0, a.1, b.0, b.1)), (1, (b.0, b.1, a.0, a.1))] {
            let value = |label: &str| -> Option<f64> {
                let line = block
                    .lines()
                    .find(|line| line.trim_start().starts_with(label))?;
                let after = line.split(label).nth(1 + column)?;
                after.split_whitespace().next()?.parse().ok()
            };
            let count = |label: &str| value(label).unwrap_or(0.0) as u64;
            let rtt = || {
                let ms = [value("RTT min:")?, value("RTT avg:")?, value("RTT max:")?];
                Some(ms.map(|ms| ms * 1e3))
            };
            let rtt_samples = count("RTT samples:");
            let flow = PeerFlow {
                data_packets: count("actual data pkts:"),
                retransmissions: count("rexmt data pkts:"),
                out_of_order: count("outoforder pkts:"),
                rtt_samples,
                rtt_micros: rtt().filter(|_| rtt_samples > 0),
            };
            keep(&mut flows, ends, flow);
        }
    }
    flows
}

fn tshark_command() -> Command {
    let mut command = Command::new("tshark");
    command.args(["-n", "-Y", "tcp", "-o", "tcp.desegment_tcp_streams:FALSE"]);
    command.args(["-T", "fields"]);
    for field in [
        "tcp.stream",
        "ip.src",
        "ipv6.src",
        "tcp.srcport",
        "ip.dst",
        "ipv6.dst",
        "tcp.dstport",
        "tcp.len",
        "tcp.analysis.out_of_order",
        "tcp.analysis.retransmission",
        "tcp.analysis.fast_retransmission",
        "tcp.analysis.spurious_retransmission",
    ] {
        command.args(["-e", field]);
    }
    command.arg("-r");
    command
}

/// Reads the fields that [`tshark_command`] asks for.
fn tshark_flows(text: &str) -> PeerFlows {
    let mut streams: BTreeMap<(u64, Ends), PeerFlow> = BTreeMap::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let field = |index: usize| fields.get(index).copied().unwrap_or_default();
        let row = || {
            let either = |index: usize| [field(index), field(index + 1)].concat().parse().ok();
            let stream: u64 = field(0).parse().ok()?;
            let ends: Ends = (
                either(1)?,
                field(3).parse().ok()?,
                either(4)?,
                field(6).parse().ok()?,
            );
            let len: u32 = field(7).parse().ok()?;
            Some((stream, ends, len))
        };
        let Some((stream, ends, len)) = row() else {
            continue;
        };
        if len == 0 {
            continue;
        }
        let flow = streams.entry((stream, ends)).or_default();
        flow.data_packets += 1;
        flow.out_of_order += u64::from(!field(8).is_empty());
        flow.retransmissions += u64::from((9..12).any(|index| !field(index).is_empty()));
    }
    let mut flows = PeerFlows::new();
    for ((_, ends), flow) in streams {
        keep(&mut flows, ends, flow);
    }
    flows
}
