//! Connections of a few packets: kept as these packets, which take a fifth of what they come to.
//!
//! Most connections of a busy link end young. Their state is made when they end, all packets one after
//! the other while it is in the cache, instead of being fetched from memory for each of them.

use super::{Flow, FlowTable, Head, Observer, TableFacts};
use crate::decode::{Segment, TcpFlags};
use crate::event::{Direction, FlowSink};
use crate::flow::kept::{Kept, Start};
use crate::prefetch::prefetch;
use crate::time::CaptureTime;
use crate::track::{Connection, TrackLimits};

/// Packets of a young connection, at most: as many as take a page's request and answer.
const PACKETS_MAX: usize = 22;

/// Packets that room is made for at first: those of a handshake or a scan, which come no further.
const PACKETS_FIRST: usize = 3;

/// And then at a time.
const PACKETS_MORE: usize = 4;

impl<F: FlowSink> Flow<F> {
    /// The state that the packets of a young connection, taken out of `head`, come to.
    #[inline(never)]
    pub(super) fn of<O: Observer<Flow = F>>(
        head: &mut Head,
        observer: &mut O,
        limits: TrackLimits,
        facts: &mut TableFacts,
    ) -> Box<Self> {
        let mut flow = Box::new(Self {
            connection: Connection::with_limits(limits),
            sink: observer.open(&head.identity),
        });
        let start = head.identity.start();
        for packet in std::mem::take(&mut head.young) {
            let dir = packet.dir();
            let segment = packet.segment(head.identity.ends(dir), start);
            flow.connection.on_segment(dir, &segment, &mut flow.sink);
        }
        if head.gave_up {
            facts.given_up_young += O::give_up(&mut flow.sink);
        }
        flow
    }
}

impl Head {
    /// Payload of a young connection, in bytes.
    fn young_bytes(&self) -> u64 {
        let lens = self.young.iter().map(Kept::payload_len);
        lens.map(u64::from).sum()
    }

    /// Begins to fetch the packets of a young connection.
    pub(super) fn expect_end(&self) {
        self.young.iter().for_each(prefetch);
    }

    /// Begins to fetch the place of a young connection's next packet.
    pub(super) fn expect_packet(&mut self) {
        if let Some(place) = self.young.spare_capacity_mut().first() {
            prefetch(place);
        }
    }

    /// Memory that what is kept of a young connection will take: without what can be given up, and
    /// that.
    pub(super) fn expected_bytes<O: Observer>(&self) -> (usize, usize) {
        if !self.young_payload {
            return (0, 0);
        }
        let (kept, details) = O::expected_bytes(usize::from(self.parts));
        (kept, if self.gave_up { 0 } else { details })
    }

    /// Payload of a young connection in direction `dir`: bytes, first and last instant.
    fn payload_when_young(&self, dir: Direction) -> Option<(u64, CaptureTime, CaptureTime)> {
        let start = self.identity.start();
        let packets = self.young.iter();
        packets
            .filter(|packet| packet.dir() == dir && packet.payload_len() > 0)
            .map(|packet| {
                let at = packet.at(start);
                (u64::from(packet.payload_len()), at, at)
            })
            .reduce(|(bytes, first, last), (more, _, at)| (bytes + more, first, last.max(at)))
    }
}

impl<O: Observer> FlowTable<O> {
    /// The state of the connection at `index`, which is young no longer.
    #[inline]
    pub(super) fn state(&mut self, index: usize) -> &mut Flow<O::Flow> {
        let (head, observer) = (&mut self.heads[index], &mut self.observer);
        let (limits, facts) = (self.limits.track, &mut self.facts);
        self.flows[index].get_or_insert_with(|| Flow::of(head, observer, limits, facts))
    }

    /// Keeps a segment of a connection without state, as `kept` has it; `false` where that has to take it.
    #[inline]
    pub(super) fn keep(&mut self, index: usize, kept: impl FnOnce(Start) -> Option<Kept>) -> bool {
        let head = &self.heads[index];
        if !O::WAITS || head.young.len() == PACKETS_MAX {
            return false;
        }
        let start = head.identity.start();
        let Some(packet) = kept(start) else {
            return false;
        };
        self.add_young(index, start, packet);
        true
    }

    #[inline(never)]
    fn add_young(&mut self, index: usize, start: Start, packet: Kept) {
        let head = &mut self.heads[index];
        if head.young.len() == head.young.capacity() {
            let more = if head.young.is_empty() {
                PACKETS_FIRST
            } else {
                PACKETS_MORE
            };
            head.young.reserve_exact(more);
        }
        // Its last time is its first packet's, until that is here.
        let at = packet.at(start);
        let apart = head.young.is_empty() || self.observer.is_apart(head.last_at, at);
        head.parts += u8::from(apart);
        head.young_payload |= packet.payload_len() > 0;
        head.young_ends |= packet.flags().any(TcpFlags::FIN.with(TcpFlags::RST));
        head.last_at = head.last_at.max(at);
        head.young.push(packet);
    }

    /// A segment that only a connection's state can tell the place of ends its youth.
    #[inline]
    pub(super) fn grow_up_for(&mut self, index: usize, dir: Direction, segment: &Segment) {
        if self.flows[index].is_none()
            && (!self.is_prompt(index, segment.at) || self.is_syn_or_waits(index, segment))
            && !self.answers_syn(index, dir, segment)
        {
            self.state(index);
        }
    }

    /// Whether a segment is a SYN-ACK that comes promptly after nothing but a SYN: nothing has
    /// been seen that could make it anything but the answer.
    fn answers_syn(&self, index: usize, dir: Direction, segment: &Segment) -> bool {
        let [syn] = &self.heads[index].young[..] else {
            return false;
        };
        let (syn_flags, flags) = (syn.flags(), segment.flags);
        self.is_prompt(index, segment.at)
            && flags.has(TcpFlags::SYN.with(TcpFlags::ACK))
            && syn_flags.has(TcpFlags::SYN)
            && !syn_flags.has(TcpFlags::ACK)
            && syn.dir() != dir
    }

    /// Payload of each young connection, in bytes, and memory that can be given up of it.
    pub fn young_details(&self) -> impl Iterator<Item = (u64, usize)> {
        let young = self.heads.iter().filter(|head| !head.young.is_empty());
        young.map(|head| (head.young_bytes(), head.expected_bytes::<O>().1))
    }

    /// Gives up what can be given up of the young connections with at most so much payload. Their
    /// flows are [counted](TableFacts::given_up_young) when they are there.
    pub fn give_up_young(&mut self, payload_bytes: u64) {
        for index in 0..self.heads.len() {
            let head = &mut self.heads[index];
            if !head.young.is_empty() && head.young_bytes() <= payload_bytes {
                head.gave_up = true;
                self.count_memory(index);
            }
        }
    }

    /// Payload of the young connections, direction by direction: bytes, first and last instant.
    pub fn young_payloads(&self) -> impl Iterator<Item = (u64, CaptureTime, CaptureTime)> {
        self.heads.iter().flat_map(|head| {
            [Direction::Forward, Direction::Reverse]
                .into_iter()
                .filter_map(|dir| head.payload_when_young(dir))
        })
    }
}
