//! Connections of a few packets: kept as these packets, which take a fifth of what they come to.
//!
//! Most connections of a busy link end young. Their state is made when they end, all packets one after
//! the other while it is in the cache, instead of being fetched from memory for each of them.

use std::ops::RangeInclusive;

use super::packets::{PacketStore, RUNS_MAX, Young};
use super::{ConnectionIdentity, ConnectionTable, Head, Observer, Tracked};
use crate::decode::{Segment, TcpFlags};
use crate::event::{Direction, FlowSink};
use crate::flow::kept::{Kept, Start};
use crate::time::CaptureTime;
use crate::track::{Connection, TrackLimits};

/// Connections whose packets are told side by side: the first of each, then the second of each, and so on.
///
/// What one connection comes to, from its SYN to its record, takes more code than the cache of instructions holds, and
/// little of that twice. Where it is there, the others take it, too; and the states of so many are in the cache of
/// data.
pub(super) const SIDE_BY_SIDE: usize = 8;

/// A young connection, and the state that its packets come to.
pub(super) struct GrowingUp<'a, F> {
    pub(super) identity: &'a ConnectionIdentity,
    pub(super) young: &'a mut Young,
    pub(super) flow: &'a mut Tracked<F>,
}

impl<F: FlowSink> GrowingUp<'_, F> {
    /// Tells the states of these connections, [so many](SIDE_BY_SIDE) at most, of their packets, which are taken out of
    /// `store`.
    #[inline(never)]
    pub(super) fn tell<O: Observer<Sink = F>>(all: &mut [Self], store: &mut PacketStore) {
        for one in &mut *all {
            one.make_room(store);
        }
        for run in 0..RUNS_MAX {
            let mut packets: [&[Kept]; SIDE_BY_SIDE] = [&[]; SIDE_BY_SIDE];
            for (packets, one) in packets.iter_mut().zip(&*all) {
                *packets = store.run_of(one.young, run);
            }
            let most = packets.iter().map(|packets| packets.len()).max();
            for place in 0..most.unwrap_or(0) {
                for (packets, one) in packets.iter().zip(&mut *all) {
                    if let Some(packet) = packets.get(place) {
                        one.take(packet);
                    }
                }
            }
        }
        for Self { young, flow, .. } in all {
            store.clear(young);
            if young.gave_up {
                O::give_up(&mut flow.sink);
            }
        }
    }

    fn make_room(&mut self, store: &PacketStore) {
        let mut with_payload = [0; 2];
        store.iter(self.young).for_each(|packet| {
            with_payload[packet.dir().index()] += usize::from(packet.payload_len() > 0);
        });
        self.flow.connection.make_room(with_payload, F::SEGMENTS);
    }

    // In the loop that takes one packet after the other.
    #[inline(always)]
    fn take(&mut self, packet: &Kept) {
        let Tracked { connection, sink } = &mut *self.flow;
        let dir = packet.dir();
        if let Some(plain) = packet.plain(self.identity) {
            connection.on_plain(dir, plain, sink);
        } else {
            let segment = packet.segment(self.identity.ends(dir), self.identity.start());
            connection.on_segment(dir, &segment, sink);
        }
    }
}

impl<F> Tracked<F> {
    pub(super) fn new(limits: TrackLimits, sink: F) -> Box<Self> {
        Box::new(Self {
            connection: Connection::with_limits(limits),
            sink,
        })
    }
}

impl Head {
    /// Memory that what is kept of a young connection will take: without what can be given up, and
    /// that.
    pub(super) fn expected_bytes<O: Observer>(&self) -> (usize, usize) {
        let young = &self.young;
        if young.payload_bytes() == 0 {
            return (0, 0);
        }
        let (kept, details) = O::expected_bytes(young.parts.into(), young.len());
        (kept, if young.gave_up { 0 } else { details })
    }

    /// Payload of a young connection in both directions, where they have any.
    fn payloads_when_young(&self, store: &PacketStore) -> [Option<YoungPayload>; 2] {
        let start = self.identity.start();
        let mut payloads = [None::<YoungPayload>; 2];
        for packet in store.iter(&self.young) {
            let bytes = u64::from(packet.payload_len());
            if bytes == 0 {
                continue;
            }
            let at = packet.at(start);
            match &mut payloads[packet.dir().index()] {
                Some(payload) => {
                    payload.bytes += bytes;
                    payload.last_at = payload.last_at.max(at);
                }
                none => {
                    *none = Some(YoungPayload {
                        bytes,
                        first_at: at,
                        last_at: at,
                    });
                }
            }
        }
        payloads
    }
}

/// Payload of a young connection in one direction.
#[derive(Clone, Copy, Debug)]
pub struct YoungPayload {
    /// How much, in bytes.
    pub bytes: u64,
    /// When the first packet with some passed.
    pub first_at: CaptureTime,
    /// The latest of these times.
    pub last_at: CaptureTime,
}

impl<O: Observer> ConnectionTable<O> {
    /// The state of the connection at `index`, which is young no longer.
    #[inline]
    pub(super) fn state(&mut self, index: usize) -> &mut Tracked<O::Sink> {
        let (head, observer) = (&mut self.heads[index], &mut self.observer);
        let limits = self.limits.track;
        let store = &mut self.young;
        self.tracked[index].get_or_insert_with(|| {
            let mut flow = Tracked::new(limits, observer.open(&head.identity));
            let one = GrowingUp {
                identity: &head.identity,
                young: &mut head.young,
                flow: &mut *flow,
            };
            GrowingUp::tell::<O>(&mut [one], store);
            flow
        })
    }

    /// Makes the states of those of these connections, [so many](SIDE_BY_SIDE) at most, that are young.
    pub(super) fn grow_up(&mut self, indices: &[usize]) {
        let young = indices
            .iter()
            .filter(|&&index| self.tracked[index].is_none());
        let mut young: Vec<_> = young
            .map(|&index| {
                let head = &mut self.heads[index];
                let sink = self.observer.open(&head.identity);
                let flow = Tracked::new(self.limits.track, sink);
                (index, head.identity, std::mem::take(&mut head.young), flow)
            })
            .collect();
        let all = young
            .iter_mut()
            .map(|(_, identity, young, flow)| GrowingUp {
                identity,
                young,
                flow,
            });
        GrowingUp::tell::<O>(&mut all.collect::<Vec<_>>(), &mut self.young);
        for (index, _, young, flow) in young {
            self.heads[index].young = young;
            self.tracked[index] = Some(flow);
        }
    }

    /// Keeps a segment of a connection without state, which `put` puts in its place; `false` where that
    /// has to take it.
    // In its place, and in one function: one that is handed on is copied in other pieces than it was written
    // in, and for these the processor waits until all that was written before is in the cache.
    #[inline(always)]
    pub(super) fn keep(
        &mut self,
        index: usize,
        put: impl FnOnce(Start, &mut Kept) -> Option<()>,
    ) -> bool {
        if !O::WAITS {
            return false;
        }
        let head = &mut self.heads[index];
        let is_first = head.young.is_empty();
        let Some(place) = self.young.place(&mut head.young) else {
            return false;
        };
        let start = head.identity.start();
        if put(start, place).is_none() {
            self.young.leave(&head.young);
            return false;
        }
        let (at, payload_len) = (place.at(start), place.payload_len());
        let ends = place.flags().any(TcpFlags::FIN.with(TcpFlags::RST));
        let had_payload = head.young.payload_bytes() > 0;
        let takes_room = head.young.is_at_start();
        head.young.take(payload_len, ends);
        // Its last time is its first packet's, until that is here.
        let apart = is_first || self.observer.is_apart(head.last_at, at);
        head.young.parts += u8::from(apart);
        head.last_at = head.last_at.max(at);
        // Nothing else changes what it holds, or will.
        if takes_room || apart || !had_payload {
            self.count_memory(index);
        }
        true
    }

    /// A segment that only a connection's state can tell the place of ends its youth.
    #[inline]
    pub(super) fn grow_up_for(&mut self, index: usize, dir: Direction, segment: &Segment) {
        if self.tracked[index].is_none()
            && (!self.is_prompt(index, segment.at) || self.is_syn_or_waits(index, segment))
            && !self.answers_syn(index, dir, segment)
        {
            self.state(index);
        }
    }

    /// Whether a segment is a SYN-ACK that comes promptly after nothing but a SYN: nothing has
    /// been seen that could make it anything but the answer.
    fn answers_syn(&self, index: usize, dir: Direction, segment: &Segment) -> bool {
        let mut packets = self.young.iter(&self.heads[index].young);
        let (Some(syn), None) = (packets.next(), packets.next()) else {
            return false;
        };
        let (syn_flags, flags) = (syn.flags(), segment.flags);
        self.is_prompt(index, segment.at)
            && flags.has(TcpFlags::SYN.with(TcpFlags::ACK))
            && syn_flags.has(TcpFlags::SYN)
            && !syn_flags.has(TcpFlags::ACK)
            && syn.dir() != dir
    }

    /// Payload of each young connection, those of one packet among them, in bytes, and memory that can be given up of
    /// it.
    pub fn young_details(&self) -> impl Iterator<Item = (u64, usize)> {
        let (_, single_bytes) = Self::single_bytes();
        let singles = self.half_open.details();
        let young = self.heads.iter().filter(|head| !head.young.is_empty());
        young
            .map(|head| (head.young.payload_bytes(), head.expected_bytes::<O>().1))
            .chain(singles.map(move |payload_bytes| (payload_bytes, single_bytes)))
    }

    /// Gives up what can be given up of the young connections with at most so much payload.
    pub fn give_up_young(&mut self, payload_bytes: u64) {
        self.half_open.give_up(payload_bytes);
        for index in 0..self.heads.len() {
            let head = &mut self.heads[index];
            if !head.young.is_empty() && head.young.payload_bytes() <= payload_bytes {
                head.young.gave_up = true;
                self.count_memory(index);
            }
        }
    }

    /// Payload of each young connection, in bytes.
    pub fn young_bytes(&self) -> impl Iterator<Item = u64> {
        let young = self.heads.iter().filter(|head| !head.young.is_empty());
        young.map(|head| head.young.payload_bytes())
    }

    /// Payload of each direction of the young connections whose total of both lies in `bytes`.
    pub fn young_payloads(&self, bytes: RangeInclusive<u64>) -> impl Iterator<Item = YoungPayload> {
        /// Connections ahead: what takes as long as to fetch one's packets.
        const AHEAD: usize = 4;
        let counts = move |head: &&Head| bytes.contains(&head.young.payload_bytes());
        (0..self.heads.len()).flat_map(move |index| {
            if let Some(next) = self.heads.get(index + AHEAD).filter(&counts) {
                self.young.expect_all(&next.young);
            }
            let head = Some(&self.heads[index]).filter(&counts);
            let payloads = head.map(|head| head.payloads_when_young(&self.young));
            payloads.into_iter().flatten().flatten()
        })
    }
}
