//! The push interface: for tools that have packets already.

use std::fmt;

use crate::capture::{LinkType, Record};
use crate::decode::{DecodeOptions, Decoded, FragmentTable, Tally, decode, decode_each};
use crate::flow::{ConnectionLimits, ConnectionTable, Observer, TableFacts};
use crate::time::CaptureTime;

/// Takes packets one by one, in capture order, and tells an [`Observer`] what they mean.
///
/// Single-threaded and without I/O. The command runs the same state machines, spread over cores. Packets of UDP are
/// counted as skipped: they have no state that could be told.
///
/// The only clock is that of the packets: a connection that is silent ends when a later packet, of any, shows it. Of
/// connections of one packet, or of a SYN and its answer, nothing is told before more comes, or they end. Memory
/// follows the connections that are alive: [`ConnectionLimits`] bound these and what is remembered of each, and what
/// the observer and its sinks keep is up to them. A sink that needs what all share holds a reference to it of its own.
///
/// ```
/// use ccanalyze::analyze::Engine;
/// use ccanalyze::capture::LinkType;
/// use ccanalyze::event::{Direction, FlowSink, RttSample};
/// use ccanalyze::flow::{ConnectionIdentity, Observer};
/// use ccanalyze::time::CaptureTime;
/// use ccanalyze::track::Connection;
///
/// /// Collects the round-trip times of each connection.
/// #[derive(Default)]
/// struct Rtts(Vec<i64>);
/// impl FlowSink for Rtts {
///     fn rtt(&mut self, _dir: Direction, sample: &RttSample) {
///         self.0.push(sample.rtt_ns);
///     }
/// }
/// #[derive(Default)]
/// struct All(Vec<i64>);
/// impl Observer for All {
///     type Sink = Rtts;
///     fn open(&mut self, _identity: &ConnectionIdentity) -> Rtts {
///         Rtts::default()
///     }
///     fn close(&mut self, _identity: &ConnectionIdentity, _connection: &Connection, flow: Rtts, _cut: bool) {
///         self.0.extend(flow.0);
///     }
/// }
///
/// // A raw IPv4 packet: 10.0.0.1:80 > 10.0.0.2:1024, or its answer, with or without 4 bytes of payload.
/// fn packet(answer: bool, seq: u32, ack: u32, payload: &[u8]) -> Vec<u8> {
///     let mut bytes = vec![0x45, 0, 0, 40 + payload.len() as u8, 0, 0, 0x40, 0, 64, 6, 0, 0];
///     let (a, b) = ([10, 0, 0, 1, 0, 80], [10, 0, 0, 2, 4, 0]);
///     let (src, dst) = if answer { (b, a) } else { (a, b) };
///     bytes.extend([&src[..4], &dst[..4], &src[4..], &dst[4..]].concat());
///     bytes.extend([seq.to_be_bytes(), ack.to_be_bytes()].concat());
///     bytes.extend([0x50, 0x10, 1, 0, 0, 0, 0, 0]);
///     bytes.extend(payload);
///     bytes
/// }
///
/// const RAW_IP: LinkType = LinkType(101);
/// let mut engine = Engine::new(All::default());
/// for (ms, bytes) in [
///     (0, packet(false, 1, 1, b"data")),
///     (20, packet(true, 1, 5, b"")),
///     (30, packet(false, 5, 1, b"more")),
///     (55, packet(true, 1, 9, b"")),
/// ] {
///     engine.push(CaptureTime::from_ns(ms * 1_000_000), RAW_IP, &bytes, bytes.len() as u32);
/// }
/// // What there is so far: the connection is still alive, so its sink has not come back.
/// assert_eq!((engine.facts().records, engine.connections(), engine.observer().0.len()), (4, 1, 0));
/// let (all, facts) = engine.finish();
/// assert_eq!(all.0, [20_000_000, 25_000_000]);
/// assert_eq!((facts.records, facts.skipped.total()), (4, 0));
/// ```
pub struct Engine<O: Observer> {
    options: DecodeOptions,
    table: ConnectionTable<O>,
    fragments: FragmentTable,
    tally: Tally,
    records: u64,
}

/// Whatever the observer is: without it, and without what it keeps.
impl<O: Observer> fmt::Debug for Engine<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("options", &self.options)
            .field("records", &self.records)
            .field("table", &self.table)
            .finish_non_exhaustive()
    }
}

impl<O: Observer> Engine<O> {
    /// An engine that has seen nothing, with default options and limits.
    #[must_use]
    pub fn new(observer: O) -> Self {
        Self::with_options(
            observer,
            DecodeOptions::default(),
            ConnectionLimits::of_all(),
        )
    }

    /// An engine with options and limits of its own. It is one table: [`ConnectionLimits::of_all`] are the usual
    /// limits of that, where [`ConnectionLimits::default`] are those of a shard.
    #[must_use]
    pub fn with_options(observer: O, options: DecodeOptions, limits: ConnectionLimits) -> Self {
        Self {
            options,
            table: ConnectionTable::new(observer, limits),
            fragments: FragmentTable::new(),
            tally: Tally::default(),
            records: 0,
        }
    }

    /// Takes the next packet: when it was captured, what its bytes begin with, the captured bytes,
    /// and its length on the wire.
    pub fn push(&mut self, at: CaptureTime, link: LinkType, bytes: &[u8], original_len: u32) {
        let ordinal = self.records;
        self.records += 1;
        let record = Record {
            frame: self.records,
            at,
            link,
            bytes,
            original_len,
        };
        match decode(&record, ordinal, &self.options) {
            Decoded::Segment(segment) => self.table.on_segment(&segment),
            Decoded::FirstOf(..) => decode_each(&record, ordinal, &self.options, &mut |segment| {
                self.table.on_segment(segment);
            }),
            Decoded::Fragment(fragment) => {
                if let Some(segment) = self.fragments.push(fragment) {
                    self.table.on_segment(&segment);
                }
            }
            Decoded::Echo(_) => self.tally.add(crate::decode::Skip::Icmp),
            Decoded::Skipped(skip) => self.tally.add(skip),
        }
    }

    /// The observer, while packets still come.
    #[must_use]
    pub fn observer(&self) -> &O {
        self.table.observer()
    }

    /// The same, to take out of it what it has gathered so far.
    pub fn observer_mut(&mut self) -> &mut O {
        self.table.observer_mut()
    }

    /// How many connections are alive, but for those of one packet, or of a SYN and its answer.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.table.len()
    }

    /// What was seen so far besides the connections. Fragments of which others are still to come count as skipped until
    /// these do.
    #[must_use]
    pub fn facts(&self) -> EngineFacts {
        let mut skipped = self.tally;
        skipped.merge(&self.fragments.skipped());
        EngineFacts {
            records: self.records,
            skipped,
            table: self.table.facts(),
        }
    }

    /// The packets have ended: closes all connections and hands back the observer, and what was seen besides them.
    pub fn finish(self) -> (O, EngineFacts) {
        let facts = self.facts();
        let (observer, table) = self.table.finish();
        (observer, EngineFacts { table, ..facts })
    }
}

/// What an [`Engine`] has seen besides the connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineFacts {
    /// Packets pushed. Those that were not skipped belong to TCP segments.
    pub records: u64,
    /// Packets that were skipped, by reason.
    pub skipped: Tally,
    /// What limits took away: who has an observer that gives up nothing by itself learns here whether all is there.
    pub table: TableFacts,
}
