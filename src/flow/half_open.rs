//! Connections of one packet so far: what floods and scans consist of, and damage that looks like
//! packets. The packet is kept as it came, at a small part of what a connection takes.

use hashbrown::HashTable;

use super::kept::Kept;
use crate::decode::{Endpoint, Segment};
use crate::event::Direction;
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

/// A first packet, from `src` to `dst`.
#[derive(Clone, Copy, Debug)]
struct First {
    hash: u64,
    src: Endpoint,
    dst: Endpoint,
    packet: Kept,
}

// Five million of these are a scan of half an hour: half a gigabyte.
const _: () = assert!(size_of::<First>() <= 112);

impl First {
    fn is_between(&self, segment: &Segment) -> bool {
        (self.src == segment.src && self.dst == segment.dst)
            || (self.src == segment.dst && self.dst == segment.src)
    }

    fn segment(&self) -> Segment {
        self.packet.segment((self.src, self.dst))
    }

    fn at(&self) -> CaptureTime {
        self.packet.at()
    }

    fn payload_len(&self) -> u32 {
        self.packet.payload_len()
    }
}

impl HalfOpen {
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
        let all = self.firsts.iter().filter(|first| first.payload_len() > 0);
        all.map(|first| (first.at(), first.payload_len()))
    }

    /// Keeps a segment between ends that none is kept of.
    pub(super) fn add(&mut self, hash: u64, segment: &Segment) {
        self.with_payload += usize::from(segment.payload_len > 0);
        let place = self.firsts.len() as u32;
        self.firsts.push(First {
            hash,
            src: segment.src,
            dst: segment.dst,
            packet: Kept::of(Direction::Forward, segment),
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
        self.take_all(|first| first.at() <= until)
    }

    /// Takes out a quarter: first those without payload, then those that have waited longest.
    pub(super) fn take_quarter(&mut self) -> Vec<Segment> {
        let rank = |first: &First| (first.payload_len() > 0, first.at());
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
        let silent = self.firsts.iter().filter(|first| first.payload_len() == 0);
        let mut times: Vec<CaptureTime> = silent.map(First::at).collect();
        let half = times.len() / 2;
        if times.is_empty() {
            return Vec::new();
        }
        let (_, &mut until, _) = times.select_nth_unstable(half);
        self.take_all(|first| first.payload_len() == 0 && first.at() <= until)
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
        self.with_payload -= usize::from(first.payload_len() > 0);
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
