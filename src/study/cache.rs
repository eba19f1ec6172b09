//! Runs analysed before: kept beside the results until their file, the options or the program change.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::labels::FlowEnds;
use super::measure::{FlowMeasure, RunMeasure, Sample, SeriesPoint, Shortfall};
use super::metrics::{Metric, Values};
use crate::analyze::{GivenUp, LinkSide};
use crate::decode::{Endpoint, Transport};
use crate::event::Direction;

/// Bytes of the file's begin and end that are compared.
const ENDS_BYTES: u64 = 64 << 10;

/// Changes whenever what a run is reduced to changes.
const SHAPE: u32 = 15;

/// Measures of runs, one file each, in a folder of its own.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    folder: PathBuf,
}

/// What a measure depends on: when it is equal, the measure is still true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CacheKey {
    place: String,
    state: String,
}

impl CacheKey {
    /// The key of a file analysed with `options`, the text of all that bears on the outcome.
    ///
    /// Files are told apart by path; a file counts as changed when its size, the time of its last
    /// change, its begin or its end does.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn of(path: &Path, options: &str) -> io::Result<Self> {
        let mut file = fs::File::open(path)?;
        let meta = file.metadata()?;
        let changed_ns = changed_ns(&meta);
        let mut ends = Vec::new();
        (&mut file).take(ENDS_BYTES).read_to_end(&mut ends)?;
        if meta.len() > ENDS_BYTES {
            file.seek(SeekFrom::End(-(ENDS_BYTES.min(meta.len()) as i64)))?;
            file.take(ENDS_BYTES).read_to_end(&mut ends)?;
        }
        let place = path.canonicalize()?;
        // The standard hasher may differ between compilers: then a run is analysed again, no more.
        Ok(Self {
            place: place.to_string_lossy().into_owned(),
            state: format!(
                "{} {SHAPE} {} {} {changed_ns} {:016x} {:016x}",
                env!("CARGO_PKG_VERSION"),
                program(),
                meta.len(),
                hash(&ends),
                hash(&options),
            ),
        })
    }
}

/// The program that runs, by its size and the time of its last change: what another build measured may be another
/// number though the version is the same. Empty where the system does not say.
fn program() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let file = std::env::current_exe().and_then(fs::metadata);
        file.map_or_else(
            |_| String::new(),
            |file| format!("{}-{}", file.len(), changed_ns(&file)),
        )
    })
}

/// When a file was changed last, in ns since 1970; 0 where the system does not say.
fn changed_ns(file: &fs::Metadata) -> u128 {
    let changed = file.modified().ok();
    let since = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_nanos())
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Cache {
    /// A cache in `folder`, which is made when the first measure is kept.
    #[must_use]
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The measure of a run that was analysed before under the same key.
    #[must_use]
    pub(super) fn get(&self, key: &CacheKey) -> Option<RunMeasure> {
        let text = fs::read(self.file(key)).ok()?;
        let entry: Entry = serde_json::from_slice(&text).ok()?;
        (entry.place == key.place && entry.state == key.state)
            .then(|| entry.run.measure())
            .flatten()
    }

    /// Keeps the measure of a run.
    ///
    /// # Errors
    /// The folder cannot be written to; the study goes on without.
    pub(super) fn put(&self, key: &CacheKey, run: &RunMeasure) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        // Links, here and below, would lead out of the folder that was asked for.
        if fs::symlink_metadata(&self.folder)?.is_symlink() {
            return Err(io::Error::other("the folder of kept runs is a link"));
        }
        let entry = Entry {
            place: key.place.clone(),
            state: key.state.clone(),
            run: RunShape::of(run),
        };
        let file = self.file(key);
        let part = file.with_extension(format!("{}.part", std::process::id()));
        let _ = fs::remove_file(&part);
        let text = serde_json::to_vec(&entry)?;
        let kept = fs::File::create_new(&part)
            .and_then(|mut made| made.write_all(&text))
            .and_then(|()| fs::rename(&part, &file));
        if kept.is_err() {
            // As on a disk that is full: a part of an entry helps nobody.
            let _ = fs::remove_file(&part);
        }
        kept
    }

    fn file(&self, key: &CacheKey) -> PathBuf {
        self.folder.join(format!("{:016x}.json", hash(&key.place)))
    }
}

/// A float as its bits: what comes back is what was put in, to the last digit.
type Bits = Option<u64>;

#[derive(Serialize, Deserialize)]
struct Entry {
    place: String,
    state: String,
    run: RunShape,
}

/// A step of time.
type PointShape = (i64, [Bits; 4]);

#[derive(Serialize, Deserialize)]
struct RunShape {
    span_ns: Option<(i64, i64)>,
    records: Option<u64>,
    window_ns: Option<(i64, i64)>,
    values: Vec<Bits>,
    flows: Vec<FlowShape>,
    flows_left_out: Option<u64>,
    series: Vec<PointShape>,
    damage: (u64, u64),
    given_up: (u64, u64, bool),
    buffer_refuted: bool,
    capacity_refuted: bool,
    /// Before, behind; none where it is not known.
    captured: Option<bool>,
    window_beyond_ns: Option<i64>,
    dropped_packets: u64,
    udp_beside: Option<[u64; 2]>,
}

#[derive(Serialize, Deserialize)]
struct FlowShape {
    connection_id: Option<u64>,
    ends: Option<EndsShape>,
    span_ns: Option<(i64, i64)>,
    values: Vec<Bits>,
    quality: String,
    samples: Vec<(i64, Bits, Bits, Option<u64>, Bits)>,
    silent_bins: u64,
    series: Vec<PointShape>,
}

/// The side of the link: behind it or before it.
fn side_of(is_behind: bool) -> LinkSide {
    if is_behind {
        LinkSide::Behind
    } else {
        LinkSide::Before
    }
}

/// Sender, receiver, and whether the sender opened the connection.
type EndsShape = ((IpAddr, u16), (IpAddr, u16), bool, bool);

impl RunShape {
    fn of(run: &RunMeasure) -> Self {
        Self {
            span_ns: run.span_ns,
            records: run.records,
            window_ns: run.window_ns,
            values: bits(&run.values),
            flows: run.flows.iter().map(FlowShape::of).collect(),
            flows_left_out: run.flows_left_out,
            series: shapes_of(&run.series),
            damage: (run.shortfall.damaged_places, run.shortfall.skipped_bytes),
            given_up: (
                run.shortfall.given_up.flows_without_series,
                run.shortfall.given_up.connections,
                run.shortfall.given_up.time_sequences,
            ),
            buffer_refuted: run.shortfall.buffer_refuted,
            capacity_refuted: run.shortfall.capacity_refuted,
            captured: match run.shortfall.captured {
                LinkSide::Unknown => None,
                side => Some(side == LinkSide::Behind),
            },
            window_beyond_ns: run.shortfall.window_beyond_ns,
            dropped_packets: run.shortfall.dropped_packets,
            udp_beside: run.shortfall.udp_beside,
        }
    }

    fn measure(self) -> Option<RunMeasure> {
        let (damaged_places, skipped_bytes) = self.damage;
        let (flows_without_series, connections, time_sequences) = self.given_up;
        Some(RunMeasure {
            span_ns: self.span_ns,
            records: self.records,
            window_ns: self.window_ns,
            values: values(&self.values)?,
            flows: self
                .flows
                .into_iter()
                .map(FlowShape::measure)
                .collect::<Option<_>>()?,
            flows_left_out: self.flows_left_out,
            series: points_of(self.series),
            shortfall: Shortfall {
                damaged_places,
                skipped_bytes,
                given_up: GivenUp {
                    flows_without_series,
                    connections,
                    time_sequences,
                },
                buffer_refuted: self.buffer_refuted,
                capacity_refuted: self.capacity_refuted,
                captured: self.captured.map_or(LinkSide::Unknown, side_of),
                window_beyond_ns: self.window_beyond_ns,
                dropped_packets: self.dropped_packets,
                udp_beside: self.udp_beside,
            },
        })
    }
}

impl FlowShape {
    fn of(flow: &FlowMeasure) -> Self {
        let end = |endpoint: Endpoint| (endpoint.ip(), endpoint.port());
        Self {
            connection_id: flow.connection_id,
            ends: flow.ends.map(|ends| {
                let forward = ends.direction == Direction::Forward;
                let udp = ends.transport == Transport::Udp;
                (end(ends.sender), end(ends.receiver), forward, udp)
            }),
            span_ns: flow.span_ns,
            values: bits(&flow.values),
            quality: flow.quality.clone(),
            silent_bins: flow.silent_bins,
            series: shapes_of(&flow.series),
            samples: flow
                .samples
                .iter()
                .map(|sample| {
                    (
                        sample.time_ns,
                        sample.goodput_bps.map(f64::to_bits),
                        sample.rtt_ns_mean.map(f64::to_bits),
                        sample.retransmitted_packets,
                        sample.pm.map(f64::to_bits),
                    )
                })
                .collect(),
        }
    }

    fn measure(self) -> Option<FlowMeasure> {
        let end = |(address, port): (IpAddr, u16)| match address {
            IpAddr::V4(address) => Endpoint::v4(address.octets(), port),
            IpAddr::V6(address) => Endpoint::v6(address.octets(), port),
        };
        let ends = |(sender, receiver, forward, udp): EndsShape| FlowEnds {
            sender: end(sender),
            receiver: end(receiver),
            direction: if forward {
                Direction::Forward
            } else {
                Direction::Reverse
            },
            transport: if udp { Transport::Udp } else { Transport::Tcp },
        };
        Some(FlowMeasure {
            connection_id: self.connection_id,
            ends: self.ends.map(ends),
            span_ns: self.span_ns,
            values: values(&self.values)?,
            quality: self.quality,
            silent_bins: self.silent_bins,
            series: points_of(self.series),
            samples: self
                .samples
                .into_iter()
                .map(
                    |(time_ns, goodput, rtt, retransmitted_packets, pm)| Sample {
                        time_ns,
                        goodput_bps: goodput.map(f64::from_bits),
                        rtt_ns_mean: rtt.map(f64::from_bits),
                        retransmitted_packets,
                        pm: pm.map(f64::from_bits),
                    },
                )
                .collect(),
        })
    }
}

fn shapes_of(series: &[SeriesPoint]) -> Vec<PointShape> {
    let shape = |point: &SeriesPoint| {
        let values = point.values();
        (point.time_ns, values.map(|value| value.map(f64::to_bits)))
    };
    series.iter().map(shape).collect()
}

fn points_of(shapes: Vec<PointShape>) -> Vec<SeriesPoint> {
    let point = |(time_ns, bits): PointShape| {
        SeriesPoint::new(time_ns, bits.map(|bits| bits.map(f64::from_bits)))
    };
    shapes.into_iter().map(point).collect()
}

fn bits(values: &Values) -> Vec<Bits> {
    values
        .iter()
        .map(|(_, value)| value.map(f64::to_bits))
        .collect()
}

fn values(bits: &[Bits]) -> Option<Values> {
    let mut values = Values::default();
    if bits.len() != Metric::ALL.len() {
        return None;
    }
    for (metric, bits) in Metric::ALL.iter().copied().zip(bits) {
        values.set(metric, bits.map(f64::from_bits));
    }
    Some(values)
}
