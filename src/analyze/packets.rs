//! From packets to results: for programs that have packets, and no capture of them.

use std::fmt;

use super::capture::{CaptureAnalysis, CaptureFacts};
use super::chunk::{Batch, Chunk};
use super::config::Config;
use super::frames::FrameIndex;
use super::gathered::Gathered;
use super::tracking::Tracking;
use super::workers::Workers;
use crate::capture::{LinkType, Record};
use crate::time::CaptureTime;

/// Packets that are tracked together: enough that the state of a connection is fetched for many of its packets at once.
const BATCH_PACKETS: u32 = if cfg!(test) { 7 } else { 8192 };

/// Analyses packets that a program hands over one by one, in the order in which they passed: the results are those of a
/// capture that holds them, but that they name no file.
///
/// Of a packet nothing is kept but its headers, until some thousands are tracked together. What it holds follows the
/// flows, and [`Config::memory_bytes`] limits it as it does for a capture; what has to do with files, and how many
/// captures there are at a time, plays no part. Each has [threads](Config::threads) of its own: with many of them,
/// `threads: Some(1)` is enough.
///
/// ```
/// use ccanalyze::analyze::{Config, PacketAnalysis};
/// use ccanalyze::capture::{CaptureReader, CaptureSource, ReadOptions, Window};
///
/// // Packets from anywhere; here they are those of a capture.
/// let source = CaptureSource::File("testdata/captures/drop-one.pcap".into());
/// let mut capture = CaptureReader::open(vec![source], &ReadOptions::default())?;
/// let mut window = Window::new();
/// let mut packets = PacketAnalysis::new("my link", Config::default());
/// while capture.read_window(&mut window)? {
///     for packet in window.all() {
///         packets.push(packet.at, packet.link, packet.bytes, packet.original_len);
///     }
/// }
/// // Whenever one wants to know, with more to come; and in the end.
/// assert_eq!(packets.so_far().records, 752);
/// let found = packets.finish();
/// assert_eq!((found.name.as_str(), found.records), ("my link", 752));
/// // The download, of which the bottleneck dropped one packet.
/// let flow = found.flows().max_by_key(|flow| flow.payload_bytes()).unwrap();
/// assert_eq!(flow.summary().incidents().retransmitted_packets, 1);
/// # Ok::<(), ccanalyze::capture::CaptureError>(())
/// ```
pub struct PacketAnalysis {
    config: Config,
    name: String,
    workers: Workers,
    /// The packets that wait to be tracked, in its one chunk.
    batch: Batch,
    waiting: u32,
    gathered: Gathered,
    /// Since the first packet: its instant, and the connections.
    begun: Option<(CaptureTime, Connections)>,
}

/// Without packets and connections, of which there may be millions.
impl fmt::Debug for PacketAnalysis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PacketAnalysis")
            .field("name", &self.name)
            .field("config", &self.config)
            .field("waiting", &self.waiting)
            .finish_non_exhaustive()
    }
}

/// With rows for segments, or without.
enum Connections {
    Alone(Tracking<false>),
    WithSegments(Tracking<true>),
}

impl Connections {
    fn new(config: &Config, origin: CaptureTime) -> Self {
        if config.segments {
            Self::WithSegments(Tracking::new(config, origin))
        } else {
            Self::Alone(Tracking::new(config, origin))
        }
    }

    fn take(&mut self, batch: &Batch) {
        match self {
            Self::Alone(tracking) => tracking.take(batch),
            Self::WithSegments(tracking) => tracking.take(batch),
        }
    }

    fn finish(self, facts: CaptureFacts, config: &Config) -> CaptureAnalysis {
        match self {
            Self::Alone(tracking) => tracking.finish(facts, config),
            Self::WithSegments(tracking) => tracking.finish(facts, config),
        }
    }

    fn so_far(&mut self, facts: CaptureFacts, config: &Config) -> CaptureAnalysis {
        match self {
            Self::Alone(tracking) => tracking.so_far(facts, config),
            Self::WithSegments(tracking) => tracking.so_far(facts, config),
        }
    }
}

impl PacketAnalysis {
    /// One that has seen nothing. The results call it `name`, where those of a capture have its path.
    #[must_use]
    pub fn new(name: impl Into<String>, config: Config) -> Self {
        Self {
            name: name.into(),
            workers: Workers::new(&config),
            batch: Batch {
                chunks: vec![Chunk::default()],
                ..Batch::default()
            },
            waiting: 0,
            gathered: Gathered::default(),
            begun: None,
            config,
        }
    }

    /// Takes the next packet: when it passed, what its bytes begin with, the bytes, all or the first of them, and its
    /// length on the wire. Bins of series are counted from the first packet.
    pub fn push(&mut self, at: CaptureTime, link: LinkType, bytes: &[u8], original_len: u32) {
        let config = &self.config;
        self.begun
            .get_or_insert_with(|| (at, Connections::new(config, at)));
        let record = Record {
            frame: self.gathered.records() + u64::from(self.waiting) + 1,
            at,
            link,
            bytes,
            original_len,
        };
        for chunk in &mut self.batch.chunks {
            chunk.push(record, self.waiting, config);
        }
        self.waiting += 1;
        if self.waiting >= BATCH_PACKETS {
            self.track();
        }
    }

    /// What was found so far: the results if the packets ended here. More may come after it, and what is found in the end
    /// does not depend on it. All connections are copied for it, also those that have ended: meanwhile it takes the memory
    /// twice, beyond [`Config::memory_bytes`], and the time it takes grows with them.
    pub fn so_far(&mut self) -> CaptureAnalysis {
        self.track();
        let facts = self.facts();
        let config = &self.config;
        match &mut self.begun {
            Some((_, connections)) => self.workers.install(|| connections.so_far(facts, config)),
            None => CaptureAnalysis::of_facts(facts, config),
        }
    }

    /// The packets have ended: what was found.
    #[must_use]
    pub fn finish(mut self) -> CaptureAnalysis {
        self.track();
        let facts = self.facts();
        let config = &self.config;
        match self.begun {
            Some((_, connections)) => self.workers.install(|| connections.finish(facts, config)),
            None => CaptureAnalysis::of_facts(facts, config),
        }
    }

    /// What is known besides connections.
    fn facts(&self) -> CaptureFacts {
        let facts = CaptureFacts {
            name: self.name.clone(),
            ..self.gathered.facts()
        };
        match self.begun {
            Some((origin, _)) => CaptureFacts {
                origin,
                frames: FrameIndex::of_one_file(),
                ..facts
            },
            None => facts,
        }
    }

    /// Tracks those that wait.
    fn track(&mut self) {
        let Self {
            batch,
            gathered,
            begun,
            config,
            workers,
            waiting,
            ..
        } = self;
        let records = u64::from(std::mem::take(waiting));
        for chunk in &mut batch.chunks {
            chunk.segments.sort();
        }
        gathered.take(batch, records, config);
        if let Some((_, connections)) = begun {
            workers.install(|| connections.take(batch));
        }
        for chunk in &mut batch.chunks {
            chunk.clear(gathered.records());
        }
    }
}

#[cfg(test)]
mod tests;
