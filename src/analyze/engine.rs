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
/// The only clock is that of the packets: a connection that is silent ends when a later packet, of any, or
/// [`pass_time`](Self::pass_time) shows it. That takes a minute and some seconds longer than [`ConnectionLimits`] say, as a
/// single packet may have an absurd time. Of connections of one packet, or of a SYN and its answer, nothing is told before
/// more comes, or they end, and they end later still: refused ones after twice the silence of those that are over, others
/// after an eighth more than what is idle. Memory follows the connections that are alive: [`ConnectionLimits`] bound
/// these and what is remembered of each, and what the observer and its sinks keep is up to them. A sink that needs what
/// all share holds a reference to it of its own.
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
/// let mut engine = Engine::new(All::default());
/// for (ms, bytes) in [
///     (0, packet(false, 1, 1, b"data")),
///     (20, packet(true, 1, 5, b"")),
///     (30, packet(false, 5, 1, b"more")),
///     (55, packet(true, 1, 9, b"")),
/// ] {
///     engine.push(CaptureTime::from_ns(ms * 1_000_000), LinkType::RAW_IP, &bytes, bytes.len() as u32);
/// }
/// // What there is so far: the connection is still alive, so its sink has not come back.
/// assert_eq!((engine.facts().records, engine.connections(), engine.observer().0.len()), (4, 1, 0));
/// let (all, facts) = engine.finish();
/// assert_eq!(all.0, [20_000_000, 25_000_000]);
/// assert_eq!((facts.records, facts.skipped.total()), (4, 0));
/// ```
///
/// Who wants the numbers of flows as these end has an observer in [`Recorder`](crate::observe::Recorder). What was taken
/// out of it is no more held:
///
/// ```
/// use ccanalyze::analyze::{Engine, Flow};
/// # use ccanalyze::capture::{CaptureReader, ReadOptions, Window};
/// use ccanalyze::observe::{RecordConfig, Recorder};
///
/// let mut told = 0;
/// let mut tell = |recorder: &mut Recorder<false>| {
///     for connection in recorder.take_ended() {
///         for flow in connection.flows().map(Flow::of_record) {
///             let (src, dst) = flow.ends();
///             let rtt_ns = flow.summary().rtt.ns_quantile(0.5);
///             println!("{src} > {dst}: {:?} bit/s, {rtt_ns:?} ns", flow.goodput_bps());
///             told += 1;
///         }
///     }
/// };
/// let mut engine = Engine::new(Recorder::new(RecordConfig::default()));
/// # let source = std::path::PathBuf::from("testdata/captures/port-reuse-loss.pcap.zst").into();
/// # let mut capture = CaptureReader::open(vec![source], &ReadOptions::default())?;
/// # let mut window = Window::new();
/// # while capture.read_window(&mut window)? {
/// # for packet in window.all() {
/// engine.push(packet.at, packet.link, packet.bytes, packet.original_len);
/// tell(engine.observer_mut());
/// # }
/// # }
/// // The packets have ended, and with them what was alive.
/// tell(&mut engine.finish().0);
/// assert!(told > 2);
/// # Ok::<(), ccanalyze::capture::CaptureError>(())
/// ```
pub struct Engine<O: Observer> {
    options: DecodeOptions,
    table: ConnectionTable<O>,
    fragments: FragmentTable,
    tally: Tally,
    records: u64,
}

/// With all connections: what there is so far is what a clone is [finished](Self::finish) with.
impl<O: Observer + Clone> Clone for Engine<O>
where
    O::Sink: Clone,
{
    fn clone(&self) -> Self {
        Self {
            options: self.options,
            table: self.table.clone(),
            fragments: self.fragments.clone(),
            tally: self.tally,
            records: self.records,
        }
    }
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

    /// Nothing passed until `at`: ends the connections that a packet of that time would have shown to be over. For live
    /// captures, whose link may fall silent; call it every few seconds, as one call counts for 60 s at most, and
    /// for nothing where it is a month ahead: as packets with absurd times do, until a thousand have come.
    pub fn pass_time(&mut self, at: CaptureTime) {
        self.table.pass_time(at);
    }

    /// The observer, while packets still come.
    #[must_use]
    pub fn observer(&self) -> &O {
        self.table.observer()
    }

    /// The observer, to take out of it what it has gathered so far.
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
#[non_exhaustive]
pub struct EngineFacts {
    /// Packets pushed. Those that were not skipped belong to TCP segments.
    pub records: u64,
    /// Packets that were skipped, by reason.
    pub skipped: Tally,
    /// What limits took away: who has an observer that gives up nothing by itself learns here whether all is there.
    pub table: TableFacts,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::{Flow, Quality};
    use crate::observe::{FlowRecord, RecordConfig, Recorder};

    const S: i64 = 1_000_000_000;

    /// A packet of 10.0.0.1:80 > 10.0.0.2:1024 with 4 bytes of payload and, `last`, the FIN; or the answer.
    fn packet(answer: bool, seq: u32, ack: u32, last: bool) -> Vec<u8> {
        let payload: &[u8] = if answer { b"" } else { b"data" };
        let mut bytes = vec![0x45, 0, 0, 40 + payload.len() as u8, 0, 0, 0x40, 0, 64, 6];
        bytes.extend([0, 0]);
        let (a, b) = ([10, 0, 0, 1, 0, 80], [10, 0, 0, 2, 4, 0]);
        let (src, dst) = if answer { (b, a) } else { (a, b) };
        bytes.extend([&src[..4], &dst[..4], &src[4..], &dst[4..]].concat());
        bytes.extend([seq.to_be_bytes(), ack.to_be_bytes()].concat());
        bytes.extend([0x50, 0x10 | u8::from(last), 1, 0, 0, 0, 0, 0]);
        bytes.extend(payload);
        bytes
    }

    fn push(engine: &mut Engine<Recorder<false>>, at: i64, bytes: &[u8]) {
        let len = bytes.len() as u32;
        engine.push(CaptureTime::from_ns(at), LinkType::RAW_IP, bytes, len);
    }

    #[test]
    fn connections_end_on_a_silent_link_and_are_told_of_once() {
        let mut engine = Engine::new(Recorder::new(RecordConfig::default()));
        push(&mut engine, S, &packet(false, 1, 1, false));
        push(&mut engine, S + 20, &packet(true, 1, 5, false));
        push(&mut engine, 2 * S, &packet(false, 5, 1, true));
        push(&mut engine, 2 * S + 20, &packet(true, 1, 10, true));
        push(&mut engine, 2 * S + 30, &packet(true, 2, 10, false));
        assert!(engine.observer_mut().take_ended().is_empty());
        let limits = ConnectionLimits::of_all();
        let soon = 2 * S + limits.linger_ns;
        engine.pass_time(CaptureTime::from_ns(soon));
        assert_eq!(engine.connections(), 1, "one instant may be absurd");
        for later in 1..=8 {
            engine.pass_time(CaptureTime::from_ns(soon + later * 10 * S));
        }
        assert_eq!(engine.connections(), 0);
        let ended = engine.observer_mut().take_ended();
        let flows: Vec<_> = ended.iter().flat_map(|one| one.flows()).collect();
        assert_eq!((flows.len(), flows[0].payload_bytes()), (1, 8));
        let goodput_bps = Flow::of_record(flows[0]).goodput_bps();
        assert_eq!(goodput_bps.map(f64::round), Some(64.0));
        assert!(engine.finish().0.take_ended().is_empty());
    }

    #[test]
    fn a_clone_tells_what_there_is_so_far() {
        let payloads = |engine: Engine<Recorder<false>>| {
            let (mut recorder, facts) = engine.finish();
            let ended = recorder.take_ended();
            let flows = ended.iter().flat_map(|one| one.flows());
            let payloads: Vec<u64> = flows.map(FlowRecord::payload_bytes).collect();
            (payloads, facts.records)
        };
        let mut engine = Engine::new(Recorder::new(RecordConfig::default()));
        push(&mut engine, S, &packet(false, 1, 1, false));
        push(&mut engine, S + 20, &packet(true, 1, 5, false));
        assert_eq!(payloads(engine.clone()), (vec![4], 2));
        push(&mut engine, 2 * S, &packet(false, 5, 1, true));
        assert_eq!(payloads(engine.clone()), (vec![8], 3));
        assert_eq!(payloads(engine), (vec![8], 3));
    }

    #[test]
    fn flows_lack_no_series_that_was_not_asked_for() {
        let quality = |bins_max, steps: &[i64]| {
            let config = RecordConfig {
                bins_max,
                ..RecordConfig::default()
            };
            let mut engine = Engine::new(Recorder::new(config));
            for (place, &at) in steps.iter().enumerate() {
                let seq = 1 + 4 * place as u32;
                push(&mut engine, at, &packet(false, seq, 1, false));
                push(&mut engine, at + 20, &packet(true, 1, seq + 4, false));
            }
            let ended = engine.finish().0.take_ended();
            let flow = ended[0].flows().next().map(Flow::of_record).unwrap();
            let bins: Vec<i64> = flow.record.series().bins().map(|bin| bin.index).collect();
            let is_cut = flow.quality().contains(&Quality::SeriesCut);
            (bins, is_cut)
        };
        assert_eq!(RecordConfig::default().bins_max, None);
        assert_eq!(quality(None, &[S, 2 * S, 3 * S]), (vec![], false));
        assert_eq!(quality(Some(1), &[S, 2 * S]), (vec![10], true));
        assert_eq!(quality(Some(2), &[S, 2 * S]), (vec![10, 20], false));
        assert_eq!(quality(Some(0), &[S]), (vec![], true));
    }

    #[test]
    fn what_was_taken_out_takes_no_memory() {
        let mut engine = Engine::new(Recorder::new(RecordConfig::default()));
        let mut held = Vec::new();
        for round in 0..4 {
            // A connection without payload, of which nothing is to be taken out, and one with some; each too long after
            // the one before to be of it.
            let at = round * 20_000 * S;
            push(&mut engine, at, &packet(true, 1, 1, false));
            push(&mut engine, at + 10, &packet(true, 1, 1, false));
            push(&mut engine, at + 10_000 * S, &packet(false, 1, 1, false));
            push(
                &mut engine,
                at + 10_000 * S + 10,
                &packet(true, 1, 5, false),
            );
            let taken = engine.observer_mut().take_ended();
            let recorder = engine.observer();
            assert_eq!(recorder.silent.len() + recorder.connections.len(), 0);
            held.push((taken.len(), recorder.memory_bytes()));
        }
        assert!(held.iter().any(|&(taken, _)| taken > 0), "{held:?}");
        let grown = held[3].1.saturating_sub(held[2].1);
        assert_eq!(grown, 0, "{held:?}");
    }

    #[test]
    fn what_was_taken_out_is_of_no_account_to_what_follows() {
        let config = RecordConfig {
            curves: true,
            time_sequence: true,
            ..RecordConfig::default()
        };
        let mut engine = Engine::new(Recorder::new(config));
        for round in 0..3 {
            // Too long after the connection before to be of it.
            let at = round * 10_000 * S;
            push(&mut engine, at, &packet(false, 1, 1, false));
            push(&mut engine, at + 20, &packet(true, 1, 5, false));
            push(&mut engine, at + 30, &packet(false, 5, 1, false));
            assert_eq!(
                engine.observer_mut().take_ended().len(),
                usize::from(round > 0)
            );
        }
        let mut recorder = engine.finish().0;
        let last = recorder.take_ended();
        assert_eq!(recorder.comparable().count(), 0);
        let flow = last[0].flows().next();
        assert!(flow.is_some_and(|flow| flow.time_sequence().is_some()));
    }
}
