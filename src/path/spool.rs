//! What became of each packet, kept small until clocks and links are known (METRICS.md B2, B5).
//!
//! Times are those of the points' own clocks, so that a note stays true whatever the clocks turn
//! out to be. Notes are written as differences to the one before, in 24 bytes each, where a capture
//! has 100 and more; those few that do not fit, after a pause of seconds, are written in full.

use std::collections::HashSet;

use foldhash::fast::FixedState;

use super::clock::{Heading, Side};

/// What became of one packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) kind: Kind,
    pub(super) flow: u32,
    pub(super) ip_len: u32,
    /// When it came in, by the clock of the point where it did; in what appeared when it left.
    pub(super) at: i64,
    /// When it left, and when the packet before it did, by the clock of the point where they did.
    pub(super) left_at: i64,
    pub(super) left_before: Option<i64>,
    /// Its record where it came in, and where it left; of what appeared only the latter.
    pub(super) frame: u64,
    pub(super) left_frame: u64,
    pub(super) has: Signs,
}

impl Note {
    /// Which way its flow goes, by those of all flows: forward, where nothing told.
    #[inline]
    pub(super) fn heading(&self, headings: &[Option<Heading>]) -> Heading {
        let heading = headings.get(self.flow as usize).copied().flatten();
        heading.unwrap_or(Heading::Forward)
    }

    /// The point where it came in, or was seen alone.
    #[inline]
    pub(super) fn seen_at(&self) -> Side {
        self.has.seen_at()
    }

    /// What became of it, now that it is known which way its flow goes: what was seen at one point
    /// alone came in there, or left there.
    #[inline]
    pub(super) fn kind_of(&self, heading: Heading) -> Kind {
        let came_in = self.seen_at() == Side::entry(heading);
        match (self.kind, came_in) {
            (Kind::Passed, _) => Kind::Passed,
            (_, true) => Kind::Lost,
            (_, false) => Kind::Appeared,
        }
    }
}

/// What a packet is noted as. Of what was seen at one point alone it may turn out the other of
/// [`Lost`](Self::Lost) and [`Appeared`](Self::Appeared) ([`Note::kind_of`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// It came in and left.
    #[default]
    Passed,
    /// It came in.
    Lost,
    /// It left.
    Appeared,
}

/// Properties of a packet, each a bit; a note keeps the lower eight and [`QUICK`](Self::QUICK).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Signs(u16);

impl Signs {
    pub(super) const PAYLOAD: u16 = 1;
    pub(super) const UNCERTAIN: u16 = 2;
    pub(super) const OVERTAKEN: u16 = 4;
    /// It came in without a mark and left with one.
    pub(super) const MARKED: u16 = 8;
    /// It asks for a connection: a SYN, but no answer to one.
    pub(super) const SYN: u16 = 16;
    /// The capture at the exit had ended when it was given up.
    pub(super) const EXIT_ENDED: u16 = 32;
    /// A packet of its flow that came in later had left by then.
    pub(super) const LATER_LEFT: u16 = 64;
    /// It came in at the second point, or was seen there alone.
    const AT_SECOND: u16 = 128;
    /// Marked "congestion experienced" where it was seen.
    pub(super) const CE: u16 = 256;
    /// It left, not seen to come in, after one with the same headers that had been found.
    pub(super) const COPY: u16 = 512;

    /// No IP id tells it from others with the same headers.
    pub(super) const NO_ID: u16 = 1024;
    /// It has none, and took clearly less than others of its way did lately: it may be another, and tells of no clock.
    pub(super) const QUICK: u16 = 1 << 12;

    /// What a note keeps.
    pub(super) fn noted(self) -> Self {
        Self(self.0 & NOTED)
    }

    #[inline]
    pub(super) fn set(&mut self, sign: u16, holds: bool) {
        self.0 |= if holds { sign } else { 0 };
    }

    #[inline]
    pub(super) fn has(self, sign: u16) -> bool {
        self.0 & sign != 0
    }

    #[inline]
    pub(super) fn set_seen_at(&mut self, side: Side) {
        self.set(Self::AT_SECOND, side == Side::Second);
    }

    #[inline]
    fn seen_at(self) -> Side {
        if self.has(Self::AT_SECOND) {
            Side::Second
        } else {
            Side::First
        }
    }
}

/// What a note keeps; the bits between say how it is written.
const NOTED: u16 = 0xff | Signs::QUICK;
const LOST: u16 = 1 << 8;
const APPEARED: u16 = 2 << 8;
const AFTER_ANOTHER: u16 = 4 << 8;
const IN_FULL: u16 = 8 << 8;

/// Notes, those of each way in the order they were made: each way is gone through on its own.
#[derive(Debug, Default)]
pub(super) struct Spool {
    ways: [Lane; 2],
    blocks_max: usize,
    lost: u64,
    overtaken: u64,
    left_out: HashSet<u32, FixedState>,
}

/// The notes of one way.
#[derive(Debug, Default)]
struct Lane {
    blocks: Vec<Vec<u8>>,
    last: Last,
}

/// What notes are written as differences to: the note before, by the point where its packet came in.
type Last = [Before; 2];

/// What matters of a note for the next one. What did not leave keeps the delay of the packet before
/// it.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    at: i64,
    /// From coming in to leaving.
    raw: i64,
    frame: u64,
    left_frame: u64,
}

impl Spool {
    /// A spool that takes so much memory at most, and no more than 256 MiB; but one block.
    pub(super) fn new(bytes_max: u64) -> Self {
        Self {
            blocks_max: (bytes_max / BLOCK as u64).clamp(1, BLOCKS_MAX) as usize,
            ..Self::default()
        }
    }

    /// Whether no more should be added: memory is bounded.
    pub(super) fn is_full(&self) -> bool {
        self.blocks() >= self.blocks_max
    }

    /// Whether it can be gone through several times in no time.
    pub(super) fn is_short(&self) -> bool {
        self.blocks() <= BLOCKS_SHORT
    }

    fn blocks(&self) -> usize {
        self.ways.iter().map(|lane| lane.blocks.len()).sum()
    }

    /// Adds a note of a packet that goes one way. As long as it is not known which, it may be either:
    /// who reads a way leaves out what turned out to go the other.
    #[inline]
    pub(super) fn add(&mut self, note: &Note, heading: Option<Heading>) {
        match heading {
            Some(heading) => self.ways[heading as usize].add(note),
            None => self.ways.iter_mut().for_each(|lane| lane.add(note)),
        }
        self.lost += u64::from(note.kind == Kind::Lost);
        self.overtaken += u64::from(note.has.has(Signs::OVERTAKEN));
    }

    /// How many packets were lost.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// How many packets were overtaken by one of their flow.
    pub(super) fn overtaken(&self) -> u64 {
        self.overtaken
    }

    /// Leaves out these flows, of which it is not known which way they go; how many packets that are.
    pub(super) fn leave_out(&mut self, flows: &HashSet<u32, FixedState>) -> u64 {
        if flows.is_empty() {
            return 0;
        }
        let left_out = |note: &Note| flows.contains(&note.flow);
        let packets = self.notes(Heading::Forward).filter(left_out).count();
        self.left_out.clone_from(flows);
        packets as u64
    }

    /// The notes of one way, from the first on, and those that were of neither yet.
    pub(super) fn notes(&self, heading: Heading) -> Notes<'_> {
        Notes {
            blocks: &self.ways[heading as usize].blocks,
            at: 0,
            last: Last::default(),
            left_out: &self.left_out,
        }
    }
}

impl Lane {
    #[inline]
    fn add(&mut self, note: &Note) {
        let room = self.blocks.last().map_or(0, |block| BLOCK - block.len());
        if room < LONG {
            self.blocks.push(Vec::with_capacity(BLOCK));
        }
        if let Some(block) = self.blocks.last_mut() {
            write(note, &mut self.last, block);
        }
    }
}

/// Reads one way of a spool.
pub(super) struct Notes<'a> {
    blocks: &'a [Vec<u8>],
    at: usize,
    last: Last,
    left_out: &'a HashSet<u32, FixedState>,
}

impl Iterator for Notes<'_> {
    type Item = Note;

    #[inline]
    fn next(&mut self) -> Option<Note> {
        loop {
            let (block, rest) = self.blocks.split_first()?;
            if let Some(note) = read(block, &mut self.at, &mut self.last) {
                if !self.left_out.is_empty() && self.left_out.contains(&note.flow) {
                    continue;
                }
                return Some(note);
            }
            self.blocks = rest;
            self.at = 0;
        }
    }
}

impl Before {
    #[inline]
    fn follow(&mut self, note: &Note) {
        self.at = note.at;
        self.frame = note.frame;
        if note.kind == Kind::Passed {
            self.raw = note.left_at.wrapping_sub(note.at);
            self.left_frame = note.left_frame;
        }
    }
}

#[inline]
fn write(note: &Note, last: &mut Last, out: &mut Vec<u8>) {
    let last = &mut last[note.seen_at() as usize];
    let kind = match note.kind {
        Kind::Passed => 0,
        Kind::Lost => LOST,
        Kind::Appeared => APPEARED,
    };
    let after = if note.left_before.is_some() {
        AFTER_ANOTHER
    } else {
        0
    };
    // What is not noted would be read as how the note is written.
    let signs = note.has.noted().0 | kind | after;
    match short(note, last, signs) {
        Some(short) => out.extend_from_slice(&short),
        None => out.extend_from_slice(&long(note, signs)),
    }
    last.follow(note);
}

/// A note as differences, where all fit.
#[inline]
fn short(note: &Note, last: &Before, signs: u16) -> Option<[u8; SHORT]> {
    let small = |value: i64| i32::try_from(value).ok();
    let (mut raw, mut gap, mut left_frames) = (0, 0, 0);
    if note.kind == Kind::Passed {
        raw = small(note.left_at.wrapping_sub(note.at).wrapping_sub(last.raw))?;
        left_frames = u16::try_from(note.left_frame.wrapping_sub(last.left_frame)).ok()?;
        if let Some(before) = note.left_before {
            gap = small(note.left_at.wrapping_sub(before))?;
        }
    }
    let frames = u16::try_from(note.frame.wrapping_sub(last.frame)).ok()?;
    let ip_len = u16::try_from(note.ip_len).ok()?;
    let came = small(note.at.wrapping_sub(last.at))?;
    let mut bytes = [0; SHORT];
    bytes[..2].copy_from_slice(&signs.to_le_bytes());
    bytes[2..4].copy_from_slice(&ip_len.to_le_bytes());
    bytes[4..8].copy_from_slice(&note.flow.to_le_bytes());
    bytes[8..12].copy_from_slice(&came.to_le_bytes());
    bytes[12..16].copy_from_slice(&raw.to_le_bytes());
    bytes[16..20].copy_from_slice(&gap.to_le_bytes());
    bytes[20..22].copy_from_slice(&frames.to_le_bytes());
    bytes[22..].copy_from_slice(&left_frames.to_le_bytes());
    Some(bytes)
}

fn long(note: &Note, signs: u16) -> [u8; LONG] {
    let mut bytes = [0; LONG];
    bytes[..2].copy_from_slice(&(signs | IN_FULL).to_le_bytes());
    bytes[4..8].copy_from_slice(&note.flow.to_le_bytes());
    bytes[8..12].copy_from_slice(&note.ip_len.to_le_bytes());
    let wide = [
        note.at.cast_unsigned(),
        note.left_at.cast_unsigned(),
        note.left_before.unwrap_or(0).cast_unsigned(),
        note.frame,
        note.left_frame,
    ];
    for (place, value) in bytes[16..].chunks_exact_mut(8).zip(wide) {
        place.copy_from_slice(&value.to_le_bytes());
    }
    bytes
}

/// The note at `at`; `None` at the end.
#[inline]
fn read(block: &[u8], at: &mut usize, last: &mut Last) -> Option<Note> {
    let bytes = block.get(*at..)?.first_chunk::<SHORT>()?;
    let u16_at = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let u32_at =
        |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let small = |at: usize| i64::from(u32_at(at).cast_signed());
    let signs = u16_at(0);
    let last = &mut last[Signs(signs).seen_at() as usize];
    let mut note = Note {
        kind: match signs & (LOST | APPEARED) {
            0 => Kind::Passed,
            LOST => Kind::Lost,
            _ => Kind::Appeared,
        },
        has: Signs(signs & NOTED),
        flow: u32_at(4),
        ..Note::default()
    };
    if signs & IN_FULL != 0 {
        read_long(block.get(*at..)?.first_chunk::<LONG>()?, signs, &mut note);
        *at += LONG;
    } else {
        note.ip_len = u32::from(u16_at(2));
        note.at = last.at.wrapping_add(small(8));
        note.frame = last.frame.wrapping_add(u64::from(u16_at(20)));
        if note.kind == Kind::Passed {
            let raw = last.raw.wrapping_add(small(12));
            note.left_at = note.at.wrapping_add(raw);
            note.left_frame = last.left_frame.wrapping_add(u64::from(u16_at(22)));
            if signs & AFTER_ANOTHER != 0 {
                note.left_before = Some(note.left_at.wrapping_sub(small(16)));
            }
        }
        *at += SHORT;
    }
    last.follow(&note);
    Some(note)
}

#[cold]
fn read_long(bytes: &[u8; LONG], signs: u16, note: &mut Note) {
    note.ip_len = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
    let mut wide = [0; 5];
    let (eights, _) = bytes[16..].as_chunks::<8>();
    for (value, eight) in wide.iter_mut().zip(eights) {
        *value = u64::from_le_bytes(*eight);
    }
    note.at = wide[0].cast_signed();
    note.left_at = wide[1].cast_signed();
    note.left_before = (signs & AFTER_ANOTHER != 0).then_some(wide[2].cast_signed());
    note.frame = wide[3];
    note.left_frame = wide[4];
}

/// Bytes allocated at a time.
const BLOCK: usize = 1 << 20;
/// Bytes of a note, and of one in full.
const SHORT: usize = 24;
const LONG: usize = 56;
/// Blocks kept: 256 MiB, some 11 million packets.
const BLOCKS_MAX: u64 = 256;
/// Blocks that are few: some 350,000 packets.
const BLOCKS_SHORT: usize = 8;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn note() -> impl Strategy<Value = Note> {
        let times = (any::<i64>(), any::<i64>(), any::<Option<i64>>());
        let numbers = (any::<u32>(), any::<u32>(), any::<u64>(), any::<u64>());
        (0..3_u8, 0..256_u16, times, numbers).prop_map(|(kind, signs, times, numbers)| {
            let passed = kind == 0;
            Note {
                kind: [Kind::Passed, Kind::Lost, Kind::Appeared][usize::from(kind)],
                flow: numbers.0,
                ip_len: numbers.1,
                at: times.0,
                left_at: if passed { times.1 } else { 0 },
                left_before: times.2.filter(|_| passed),
                frame: numbers.2,
                left_frame: if passed { numbers.3 } else { 0 },
                has: Signs(signs),
            }
        })
    }

    fn heading() -> impl Strategy<Value = Option<Heading>> {
        prop_oneof![
            Just(None),
            Just(Some(Heading::Forward)),
            Just(Some(Heading::Reverse)),
        ]
    }

    proptest! {
        #[test]
        fn what_was_noted_is_read_again(
            notes in proptest::collection::vec((note(), heading()), 0..300),
        ) {
            let mut spool = Spool::new(u64::MAX);
            for &(note, heading) in &notes {
                spool.add(&note, heading);
            }
            for way in [Heading::Forward, Heading::Reverse] {
                let read: Vec<Note> = spool.notes(way).collect();
                let of_way = notes.iter().filter(|(_, heading)| heading.is_none_or(|it| it == way));
                let noted: Vec<Note> = of_way.map(|&(note, _)| note).collect();
                prop_assert_eq!(read, noted);
            }
            let lost = notes.iter().filter(|(note, _)| note.kind == Kind::Lost).count();
            prop_assert_eq!(spool.lost(), lost as u64);
        }
    }

    /// All signs that a packet may have, of which a note keeps some: the others are bits that say how it is written.
    #[test]
    fn signs_that_are_not_noted_change_no_note() {
        let note = Note {
            at: 5,
            left_at: 7,
            has: Signs(!Signs::AT_SECOND),
            ..Note::default()
        };
        let mut spool = Spool::new(u64::MAX);
        spool.add(&note, Some(Heading::Forward));
        let read: Vec<Note> = spool.notes(Heading::Forward).collect();
        let has = note.has.noted();
        assert_eq!(read, [Note { has, ..note }]);
    }

    /// A download's packets every 120 us, with delays that differ by less than 8 ms.
    #[test]
    fn only_the_first_of_usual_packets_is_written_in_full() {
        let mut spool = Spool::new(u64::MAX);
        for packet in 0..10_000_u64 {
            let at = 1_700_000_000_000_000_000 + packet.cast_signed() * 120_000;
            let left_at = at + 20_000_000 + packet.cast_signed() * 7919 % 8_000_000;
            let note = Note {
                flow: 3,
                ip_len: 1500,
                at,
                left_at,
                left_before: Some(left_at - 120_000),
                frame: packet * 2,
                left_frame: packet * 2,
                ..Note::default()
            };
            spool.add(&note, Some(Heading::Forward));
        }
        let bytes: usize = spool.ways[0].blocks.iter().map(Vec::len).sum();
        assert_eq!(bytes, LONG + 9999 * SHORT);
        assert!(!spool.is_full());
        assert_eq!(spool.notes(Heading::Forward).count(), 10_000);
        assert_eq!(spool.notes(Heading::Reverse).count(), 0);
    }

    #[test]
    fn a_spool_is_full_at_what_it_may_take_and_at_256_mib() {
        for (bytes_max, blocks_max) in [(0, 1), (3 << 20, 3), (1 << 30, 256), (u64::MAX, 256)] {
            assert_eq!(Spool::new(bytes_max).blocks_max, blocks_max);
        }
    }
}
