//! Datagrams of TCP, and of UDP for those who ask, that came in IP fragments.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use super::datagram::Datagram;
use super::ip::{self, IpHeader};
use super::rest::Rest;
use super::segment::{Ecn, Endpoint, Segment};
use super::skip::{Skip, Tally};
use super::{Decoded, TunnelLayer, Way, tcp};
use crate::time::CaptureTime;

/// A part of a fragmented IP datagram that is TCP, or may be, or of one that is UDP (RFC 791 section 3.2, RFC 8200
/// section 4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// When it was captured.
    pub at: CaptureTime,
    /// Position of its record in the capture.
    pub ordinal: u64,
    /// Who sent it. The port is 0: it is in the header of TCP or UDP, which may be in another fragment.
    pub src: Endpoint,
    /// Whom it is for, at port 0.
    pub dst: Endpoint,
    /// What the datagram carries: TCP (6), UDP (17), or an extension header before it.
    pub protocol: u8,
    /// Number of the datagram, equal in all its fragments.
    pub identification: u32,
    /// Where in the datagram its payload begins, in bytes.
    pub offset: u32,
    /// Its part of the datagram's payload, in bytes, by the IP header.
    pub payload_len: u32,
    /// Whether it is not the last part.
    pub more_fragments: bool,
    /// IP total length of the fragment, in bytes.
    pub ip_len: u32,
    /// IPv4 identification; `None` for IPv6.
    pub ip_id: Option<u16>,
    /// ECN bits of the fragment.
    pub ecn: Ecn,
    /// The IP length was 0 and the lengths are by the frame's.
    pub length_from_frame: bool,
    /// Whether its record counts with it: one that holds more than this fragment may count for that.
    pub has_record: bool,
    /// What it tells about the headers at the datagram's start.
    pub(super) head: Head,
}

/// Puts datagrams together from their fragments, in whatever order these come: those of TCP, or those of UDP.
///
/// Only lengths and the first bytes are kept, never payload. At most [`FRAGMENTS_MAX`] datagrams
/// wait, the oldest is given up for one more; each for 30 s of capture time (RFC 791's
/// reassembly timer is 15 s, RFC 8200's 60 s).
///
/// A copy of a fragment, as of a mirror port, waits for the rest of a copy of the datagram; from
/// the second on it counts in `ip_packets` and `ip_len` of the first. A fragment that
/// contradicts what waits under its number is of another datagram: numbers come again within
/// seconds (RFC 4963), and the rest of the one before is lost.
#[derive(Clone, Debug, Default)]
pub struct FragmentTable {
    /// Never walked, so that its order tells nobody anything.
    pending: HashMap<Key, Pending, RandomState>,
    /// Keys by the order of their first fragments.
    order: BTreeMap<u64, Key>,
    begun: u64,
    records_in_whole: u64,
    skipped: Tally,
}

impl FragmentTable {
    /// A table with nothing waiting.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a fragment. When it was the last one missing, gives the segment, with the time and
    /// ordinal of this fragment and the lengths of all.
    pub fn push(&mut self, fragment: Fragment) -> Option<Segment> {
        let whole = self.add(&fragment)?;
        match whole.segment(&fragment) {
            Ok(segment) => {
                self.records_in_whole += u64::from(whole.records);
                Some(segment)
            }
            Err(skip) => {
                self.skipped.add_many(skip, u64::from(whole.records));
                None
            }
        }
    }

    /// The same in a table of UDP.
    pub fn push_datagram(&mut self, fragment: Fragment) -> Option<Datagram> {
        let whole = self.add(&fragment)?;
        let records = u64::from(whole.records);
        let datagram = whole.datagram(&fragment);
        if datagram.is_some() {
            self.records_in_whole += records;
        } else {
            self.skipped.add_many(Skip::Udp, records);
        }
        datagram
    }

    /// The datagram of which this fragment was the last one missing.
    fn add(&mut self, fragment: &Fragment) -> Option<Pending> {
        self.expire(fragment.at);
        let key = self.datagram_of(fragment);
        let begun = &mut self.begun;
        let order = &mut self.order;
        let pending = self.pending.entry(key).or_insert_with(|| {
            *begun += 1;
            order.insert(*begun, key);
            Pending::new(*begun, fragment.at)
        });
        match pending.add(fragment) {
            Progress::Waiting => {
                if self.pending.len() > FRAGMENTS_MAX {
                    self.give_up_oldest();
                }
                None
            }
            Progress::Whole => self.remove(key),
            Progress::Hopeless => {
                self.give_up(key);
                None
            }
        }
    }

    /// Records whose fragments are in the segments or datagrams given out: as many as their `ip_packets`, but for those
    /// that count for something else.
    #[must_use]
    pub fn records_in_whole(&self) -> u64 {
        self.records_in_whole
    }

    /// Records that gave no segment: of datagrams given up, of those still waiting, and of whole
    /// ones that are not TCP after all; or, in a table of UDP, no datagram.
    #[must_use]
    pub fn skipped(&self) -> Tally {
        let mut skipped = self.skipped;
        for key in self.order.values() {
            self.pending[key].skip(&mut skipped);
        }
        skipped
    }

    /// The datagram that lacks this fragment: one that waits, or else a new one.
    fn datagram_of(&mut self, fragment: &Fragment) -> Key {
        let nth = |copy| Key {
            src: fragment.src,
            dst: fragment.dst,
            identification: fragment.identification,
            copy,
        };
        if self.pending.is_empty() {
            return nth(0);
        }
        let mut free = None;
        for key in (0..COPIES_MAX).map(nth) {
            match self.pending.get(&key) {
                Some(pending) if pending.head.contradicts(&fragment.head) => {
                    self.give_up(key);
                    free = free.or(Some(key));
                }
                Some(pending) if pending.has(fragment) => {}
                Some(_) => return key,
                None => free = free.or(Some(key)),
            }
        }
        free.unwrap_or(nth(0))
    }

    fn expire(&mut self, now: CaptureTime) {
        while let Some(key) = self.order.values().next()
            && now.since(self.pending[key].begun_at) > WAIT_NS
        {
            self.give_up_oldest();
        }
    }

    fn give_up_oldest(&mut self) {
        if let Some(&key) = self.order.values().next() {
            self.give_up(key);
        }
    }

    fn give_up(&mut self, key: Key) {
        if let Some(pending) = self.remove(key) {
            pending.skip(&mut self.skipped);
        }
    }

    fn remove(&mut self, key: Key) -> Option<Pending> {
        let pending = self.pending.remove(&key)?;
        self.order.remove(&pending.begun);
        Some(pending)
    }
}

/// Fragmented datagrams that wait at once; the oldest is given up for one more.
pub const FRAGMENTS_MAX: usize = 1024;

/// Copies of one datagram that wait at once, each for what it lacks itself.
const COPIES_MAX: u8 = 2;

/// How long the first fragment of a datagram waits for the last, in nanoseconds.
const WAIT_NS: i64 = 30_000_000_000;

/// Gaps in a datagram plus one; a datagram with more is given up. 64 KiB over Ethernet is 45
/// fragments.
const RANGES_MAX: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    src: Endpoint,
    dst: Endpoint,
    identification: u32,
    /// Which of its copies.
    copy: u8,
}

/// A datagram of which something is missing.
#[derive(Clone, Debug)]
struct Pending {
    begun: u64,
    begun_at: CaptureTime,
    packets: u32,
    /// Records that count with it.
    records: u32,
    /// Whether all that is known of it is UDP's.
    is_udp: bool,
    ip_len: u32,
    length_from_frame: bool,
    /// CE, if one of the fragments has it (RFC 3168 section 5.3); else as the first one has it.
    ecn: Option<Ecn>,
    /// Of the fragment at offset 0; the others may say something else (RFC 8200 section 4.5).
    protocol: Option<u8>,
    /// Payload of the datagram, known from its last fragment.
    total_len: Option<u32>,
    /// Parts that are there: disjoint, ascending, with gaps between them.
    ranges: Vec<(u32, u32)>,
    head: Head,
}

enum Progress {
    Waiting,
    Whole,
    Hopeless,
}

impl Pending {
    fn new(begun: u64, begun_at: CaptureTime) -> Self {
        Self {
            begun,
            begun_at,
            packets: 0,
            records: 0,
            is_udp: false,
            ip_len: 0,
            length_from_frame: false,
            ecn: None,
            protocol: None,
            total_len: None,
            ranges: Vec::new(),
            head: Head::default(),
        }
    }

    fn add(&mut self, fragment: &Fragment) -> Progress {
        self.packets += 1;
        self.records += u32::from(fragment.has_record);
        self.is_udp = fragment.protocol == ip::UDP;
        self.ip_len = self.ip_len.saturating_add(fragment.ip_len);
        self.length_from_frame |= fragment.length_from_frame;
        if self.ecn.is_none() || fragment.ecn == Ecn::Ce {
            self.ecn = Some(fragment.ecn);
        }
        if fragment.offset == 0 {
            self.protocol.get_or_insert(fragment.protocol);
        }
        self.head.fill(&fragment.head);
        let end = fragment.offset.saturating_add(fragment.payload_len);
        if !fragment.more_fragments {
            self.total_len.get_or_insert(end);
        }
        self.cover(fragment.offset, end);
        match (self.ranges.as_slice(), self.total_len) {
            ([(0, end), ..], Some(total)) if *end >= total => Progress::Whole,
            (ranges, _) if ranges.len() > RANGES_MAX => Progress::Hopeless,
            _ => Progress::Waiting,
        }
    }

    /// Whether all of a fragment is there.
    fn has(&self, fragment: &Fragment) -> bool {
        let end = fragment.offset.saturating_add(fragment.payload_len);
        let mut ranges = self.ranges.iter();
        ranges.any(|&(from, to)| from <= fragment.offset && end <= to)
    }

    /// Adds `start..end` to the parts that are there.
    fn cover(&mut self, mut start: u32, mut end: u32) {
        self.ranges.retain(|&(from, to)| {
            let is_apart = to < start || end < from;
            if !is_apart {
                start = start.min(from);
                end = end.max(to);
            }
            is_apart
        });
        let at = self.ranges.partition_point(|&(from, _)| from < start);
        self.ranges.insert(at, (start, end));
    }

    /// Counts its records, as others of its fragments did not come.
    fn skip(&self, skipped: &mut Tally) {
        // Those of a tunnel's packet wait for a first one that was entered.
        let skip = if self.is_udp && self.protocol.is_none() {
            Skip::LaterFragment
        } else {
            Skip::FragmentIncomplete
        };
        skipped.add_many(skip, u64::from(self.records));
    }

    fn segment(&self, last: &Fragment) -> Result<Segment, Skip> {
        let (Some(protocol), Some(total_len)) = (self.protocol, self.total_len) else {
            return Err(Skip::FragmentIncomplete);
        };
        // Fragments that contradict each other may know bytes beyond the end.
        let rest = Rest::new(self.head.known(), total_len).of_len(total_len as usize);
        let (protocol, inside) = ip::extensions(protocol, rest)?;
        if protocol != ip::TCP {
            return Err(Skip::OtherProtocol);
        }
        let header = self.header(last);
        let mut found = Decoded::Skipped(Skip::MalformedTcp);
        let way = Way {
            at: last.at,
            ordinal: last.ordinal,
            layer: TunnelLayer::default(),
            depth: 0,
            found: &mut found,
            inner: None,
            each: None,
            datagrams: None,
        };
        tcp::segment(way, &header, inside)?;
        match found {
            Decoded::Segment(segment) => Ok(segment),
            _ => Err(Skip::MalformedTcp),
        }
    }

    /// The UDP datagram; `None` where it is none after all, or its fragments contradict each other.
    fn datagram(&self, last: &Fragment) -> Option<Datagram> {
        let total_len = self.total_len? as usize;
        let rest = Rest::new(self.head.known(), 0).of_len(total_len);
        let (protocol, inside) = ip::extensions(self.protocol?, rest).ok()?;
        let header = self.header(last);
        (protocol == ip::UDP)
            .then(|| Datagram::of(last.at, last.ordinal, &header, inside))
            .flatten()
    }

    /// What the IP headers say together, of which `last` came last.
    fn header(&self, last: &Fragment) -> IpHeader {
        IpHeader {
            src: last.src,
            dst: last.dst,
            len: self.ip_len,
            packets: u16::try_from(self.packets).unwrap_or(u16::MAX),
            id: last.ip_id,
            ecn: self.ecn.unwrap_or_default(),
            // Each has its own, and no SYN comes in fragments.
            ttl: 0,
            length_from_frame: self.length_from_frame,
        }
    }
}

/// The first bytes of a datagram's payload, as far as they are known: enough for the TCP header,
/// even when small fragments cut through it. Behind extension headers, the last TCP options may
/// be beyond; they count as cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    bytes: [u8; Self::LEN],
    /// Bit `n` is set when byte `n` is known.
    known: u64,
}

impl Head {
    const LEN: usize = u64::BITS as usize;

    /// From the captured `bytes` at `offset` of the payload.
    pub(super) fn of(offset: u32, bytes: &[u8]) -> Self {
        let mut head = Self::default();
        for (at, byte) in (offset as usize..Self::LEN).zip(bytes) {
            head.bytes[at] = *byte;
            head.known |= 1 << at;
        }
        head
    }

    /// Adds what `other` knows more.
    fn fill(&mut self, other: &Self) {
        let news = other.known & !self.known;
        if news == 0 {
            return;
        }
        for at in 0..Self::LEN {
            if news >> at & 1 == 1 {
                self.bytes[at] = other.bytes[at];
            }
        }
        self.known |= news;
    }

    /// Whether a byte that both know is not the same.
    fn contradicts(&self, other: &Self) -> bool {
        let both = self.known & other.known;
        let differs = |at: usize| both >> at & 1 == 1 && self.bytes[at] != other.bytes[at];
        both != 0 && (0..Self::LEN).any(differs)
    }

    /// The bytes up to the first unknown one.
    fn known(&self) -> &[u8] {
        &self.bytes[..self.known.trailing_ones() as usize]
    }
}

impl Default for Head {
    fn default() -> Self {
        Self {
            bytes: [0; Self::LEN],
            known: 0,
        }
    }
}

const _: () = assert!(Head::LEN >= tcp::HEADER_LEN_MAX);
