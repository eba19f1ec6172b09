//! SYNs that nothing has followed: what floods and scans consist of, kept as they came, at a small
//! part of what a connection takes.

use hashbrown::HashTable;

use crate::decode::{Ecn, Endpoint, SackBlocks, Segment, SynOptions, TcpFlags, Timestamps};
use crate::seq::Seq;
use crate::time::CaptureTime;

/// The SYNs of one shard after which nothing has come.
#[derive(Debug, Default)]
pub(super) struct HalfOpen {
    /// Places in `syns`, by the hash of the ends.
    index: HashTable<u32>,
    syns: Vec<Syn>,
}

/// A segment, without what a SYN that is kept here never has.
#[derive(Clone, Copy, Debug)]
struct Syn {
    hash: u64,
    at: CaptureTime,
    ordinal: u64,
    src: Endpoint,
    dst: Endpoint,
    seq: Seq,
    ack: Seq,
    ip_len: u32,
    flags: TcpFlags,
    window: u16,
    ip_id: Option<u16>,
    ecn: Ecn,
    timestamps: Option<Timestamps>,
    options: SynOptions,
    length_from_frame: bool,
    header_cut: bool,
}

// Five million of these are a scan of half an hour: half a gigabyte.
const _: () = assert!(size_of::<Syn>() <= 112);

impl Syn {
    fn is_between(&self, segment: &Segment) -> bool {
        (self.src == segment.src && self.dst == segment.dst)
            || (self.src == segment.dst && self.dst == segment.src)
    }

    fn segment(&self) -> Segment {
        Segment {
            at: self.at,
            ordinal: self.ordinal,
            src: self.src,
            dst: self.dst,
            seq: self.seq,
            ack: self.ack,
            flags: self.flags,
            window: self.window,
            payload_len: 0,
            ip_len: self.ip_len,
            ip_packets: 1,
            ip_id: self.ip_id,
            ecn: self.ecn,
            timestamps: self.timestamps,
            syn: self.options,
            sack: SackBlocks::default(),
            length_from_frame: self.length_from_frame,
            header_cut: self.header_cut,
        }
    }
}

impl HalfOpen {
    /// Whether a segment is a SYN that can be kept here: the usual one, of one packet and without
    /// payload.
    pub(super) fn takes(segment: &Segment) -> bool {
        let others = TcpFlags::ACK.with(TcpFlags::FIN).with(TcpFlags::RST);
        segment.flags.has(TcpFlags::SYN)
            && !segment.flags.any(others)
            && segment.payload_len == 0
            && segment.ip_packets == 1
            && segment.sack.as_slice().is_empty()
    }

    /// Bytes that one takes.
    pub(super) const SYN_BYTES: usize = size_of::<Syn>();

    /// How many there is room for.
    pub(super) fn room(&self) -> usize {
        self.syns.capacity()
    }

    /// Gives back memory that is not in use.
    pub(super) fn shrink(&mut self) {
        self.syns.shrink_to(self.syns.len() / 4 * 5);
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.syns.len()
    }

    /// Keeps a SYN between ends that none is kept of.
    pub(super) fn add(&mut self, hash: u64, segment: &Segment) {
        let place = self.syns.len() as u32;
        self.syns.push(Syn {
            hash,
            at: segment.at,
            ordinal: segment.ordinal,
            src: segment.src,
            dst: segment.dst,
            seq: segment.seq,
            ack: segment.ack,
            ip_len: segment.ip_len,
            flags: segment.flags,
            window: segment.window,
            ip_id: segment.ip_id,
            ecn: segment.ecn,
            timestamps: segment.timestamps,
            options: segment.syn,
            length_from_frame: segment.length_from_frame,
            header_cut: segment.header_cut,
        });
        let syns = &self.syns;
        self.index
            .insert_unique(hash, place, |&place| syns[place as usize].hash);
    }

    /// Takes out the SYN between the ends of a segment, in either direction.
    pub(super) fn take(&mut self, hash: u64, segment: &Segment) -> Option<Segment> {
        let place = *self
            .index
            .find(hash, |&place| self.syns[place as usize].is_between(segment))?;
        Some(self.remove(place as usize))
    }

    /// Takes out all that are from `until` or before it.
    pub(super) fn take_until(&mut self, until: CaptureTime) -> Vec<Segment> {
        let mut taken = Vec::new();
        for place in (0..self.syns.len()).rev() {
            if self.syns[place].at <= until {
                taken.push(self.remove(place));
            }
        }
        taken
    }

    /// Takes out the quarter that has waited longest.
    pub(super) fn take_oldest(&mut self) -> Vec<Segment> {
        let mut times: Vec<CaptureTime> = self.syns.iter().map(|syn| syn.at).collect();
        let quarter = times.len() / 4;
        if times.is_empty() {
            return Vec::new();
        }
        let (_, &mut until, _) = times.select_nth_unstable(quarter);
        self.take_until(until)
    }

    fn remove(&mut self, place: usize) -> Segment {
        let syn = self.syns.swap_remove(place);
        let (last, place) = (self.syns.len() as u32, place as u32);
        if let Ok(entry) = self.index.find_entry(syn.hash, |&entry| entry == place) {
            entry.remove();
        }
        if let Some(moved) = self.syns.get(place as usize)
            && let Some(entry) = self.index.find_mut(moved.hash, |&entry| entry == last)
        {
            *entry = place;
        }
        syn.segment()
    }
}
