//! Connections of one packet so far: what floods and scans consist of, and damage that looks like
//! packets. The packet is kept as it came, at a small part of what a connection takes.

use hashbrown::HashTable;

use crate::decode::{Ecn, Endpoint, SackBlocks, Segment, SynOptions, TcpFlags, Timestamps};
use crate::seq::Seq;
use crate::time::CaptureTime;

/// The first packets of one shard after which nothing has come.
#[derive(Debug, Default)]
pub(super) struct HalfOpen {
    /// Places in `firsts`, by the hash of the ends.
    index: HashTable<u32>,
    firsts: Vec<First>,
    /// How many of them have payload.
    with_payload: usize,
}

/// A segment, without what none that is kept here has.
#[derive(Clone, Copy, Debug)]
struct First {
    hash: u64,
    at: CaptureTime,
    ordinal: u64,
    src: Endpoint,
    dst: Endpoint,
    seq: Seq,
    ack: Seq,
    ip_len: u32,
    payload_len: u32,
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
const _: () = assert!(size_of::<First>() <= 120);

impl First {
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
            payload_len: self.payload_len,
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
    /// Whether a segment can be kept here: the usual one, which came in one packet and reports no
    /// ranges.
    pub(super) fn takes(segment: &Segment) -> bool {
        segment.ip_packets == 1 && segment.sack.as_slice().is_empty()
    }

    /// Bytes that one takes.
    pub(super) const FIRST_BYTES: usize = size_of::<First>();

    /// How many there is room for.
    pub(super) fn room(&self) -> usize {
        self.firsts.capacity()
    }

    /// Gives back memory that is not in use.
    pub(super) fn shrink(&mut self) {
        self.firsts.shrink_to(self.firsts.len() / 4 * 5);
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.firsts.len()
    }

    /// How many have payload.
    pub(super) fn with_payload(&self) -> usize {
        self.with_payload
    }

    /// When those with payload were captured, and how much they have.
    pub(super) fn payloads(&self) -> impl Iterator<Item = (CaptureTime, u32)> {
        let all = self.firsts.iter().filter(|first| first.payload_len > 0);
        all.map(|first| (first.at, first.payload_len))
    }

    /// Keeps a segment between ends that none is kept of.
    pub(super) fn add(&mut self, hash: u64, segment: &Segment) {
        self.with_payload += usize::from(segment.payload_len > 0);
        let place = self.firsts.len() as u32;
        self.firsts.push(First {
            hash,
            at: segment.at,
            ordinal: segment.ordinal,
            src: segment.src,
            dst: segment.dst,
            seq: segment.seq,
            ack: segment.ack,
            ip_len: segment.ip_len,
            payload_len: segment.payload_len,
            flags: segment.flags,
            window: segment.window,
            ip_id: segment.ip_id,
            ecn: segment.ecn,
            timestamps: segment.timestamps,
            options: segment.syn,
            length_from_frame: segment.length_from_frame,
            header_cut: segment.header_cut,
        });
        let firsts = &self.firsts;
        self.index
            .insert_unique(hash, place, |&place| firsts[place as usize].hash);
    }

    /// Takes out the one between the ends of a segment, in either direction.
    pub(super) fn take(&mut self, hash: u64, segment: &Segment) -> Option<Segment> {
        let place = *self.index.find(hash, |&place| {
            self.firsts[place as usize].is_between(segment)
        })?;
        Some(self.remove(place as usize))
    }

    /// Takes out all that are from `until` or before it.
    pub(super) fn take_until(&mut self, until: CaptureTime) -> Vec<Segment> {
        self.take_all(|first| first.at <= until)
    }

    /// Takes out a quarter: first those without payload, then those that have waited longest.
    pub(super) fn take_quarter(&mut self) -> Vec<Segment> {
        let rank = |first: &First| (first.payload_len > 0, first.at);
        let mut ranks: Vec<_> = self.firsts.iter().map(rank).collect();
        let quarter = ranks.len() / 4;
        if ranks.is_empty() {
            return Vec::new();
        }
        let (_, &mut until, _) = ranks.select_nth_unstable(quarter);
        self.take_all(|first| rank(first) <= until)
    }

    /// Takes out the half of those without payload that has waited longest.
    pub(super) fn take_silent_half(&mut self) -> Vec<Segment> {
        let silent = self.firsts.iter().filter(|first| first.payload_len == 0);
        let mut times: Vec<CaptureTime> = silent.map(|first| first.at).collect();
        let half = times.len() / 2;
        if times.is_empty() {
            return Vec::new();
        }
        let (_, &mut until, _) = times.select_nth_unstable(half);
        self.take_all(|first| first.payload_len == 0 && first.at <= until)
    }

    fn take_all(&mut self, wanted: impl Fn(&First) -> bool) -> Vec<Segment> {
        let mut taken = Vec::new();
        for place in (0..self.firsts.len()).rev() {
            if wanted(&self.firsts[place]) {
                taken.push(self.remove(place));
            }
        }
        taken
    }

    fn remove(&mut self, place: usize) -> Segment {
        let first = self.firsts.swap_remove(place);
        self.with_payload -= usize::from(first.payload_len > 0);
        let (last, place) = (self.firsts.len() as u32, place as u32);
        if let Ok(entry) = self.index.find_entry(first.hash, |&entry| entry == place) {
            entry.remove();
        }
        if let Some(moved) = self.firsts.get(place as usize)
            && let Some(entry) = self.index.find_mut(moved.hash, |&entry| entry == last)
        {
            *entry = place;
        }
        first.segment()
    }
}
