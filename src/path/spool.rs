//! What became of each packet, kept small until clocks and links are known (METRICS.md B2, B5).
//!
//! Times are those of the points' own clocks, so that a note stays true whatever the clocks turn
//! out to be. Notes are written as differences to the one before, in bytes of seven bits: 15 bytes
//! a packet or so, where a capture has 100 and more.

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

/// Properties of a packet, each a bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Signs(u16);

impl Signs {
    pub(super) const PAYLOAD: u16 = 1;
    pub(super) const UNCERTAIN: u16 = 2;
    pub(super) const OVERTAKEN: u16 = 4;
    /// It came in without a mark and left with one.
    pub(super) const MARKED: u16 = 8;
    pub(super) const SYN: u16 = 16;
    /// The capture at the exit had ended when it was given up.
    pub(super) const EXIT_ENDED: u16 = 32;
    /// A packet of its flow that came in later had left by then.
    pub(super) const LATER_LEFT: u16 = 64;
    /// It came in, or appeared, at the second point.
    pub(super) const AT_SECOND: u16 = 128;

    #[inline]
    pub(super) fn set(&mut self, sign: u16, holds: bool) {
        self.0 |= if holds { sign } else { 0 };
    }

    #[inline]
    pub(super) fn has(self, sign: u16) -> bool {
        self.0 & sign != 0
    }
}

const LOST: u16 = 1 << 8;
const APPEARED: u16 = 2 << 8;
const AFTER_ANOTHER: u16 = 4 << 8;

/// Notes in the order they were made.
#[derive(Debug, Default)]
pub(super) struct Spool {
    blocks: Vec<Vec<u8>>,
    last: Last,
    lost: u64,
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
    /// Whether no more should be added: memory is bounded.
    pub(super) fn is_full(&self) -> bool {
        self.blocks.len() >= BLOCKS_MAX
    }

    #[inline]
    pub(super) fn add(&mut self, note: &Note) {
        let room = self.blocks.last().map_or(0, |block| BLOCK - block.len());
        if room < NOTE_MAX {
            self.blocks.push(Vec::with_capacity(BLOCK));
        }
        let Some(block) = self.blocks.last_mut() else {
            return;
        };
        write(note, &mut self.last, block);
        self.lost += u64::from(note.kind == Kind::Lost);
    }

    /// How many packets were lost.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// All notes, from the first on.
    pub(super) fn notes(&self) -> Notes<'_> {
        Notes {
            blocks: &self.blocks,
            at: 0,
            last: Last::default(),
        }
    }
}

/// Reads a spool.
pub(super) struct Notes<'a> {
    blocks: &'a [Vec<u8>],
    at: usize,
    last: Last,
}

impl Iterator for Notes<'_> {
    type Item = Note;

    #[inline]
    fn next(&mut self) -> Option<Note> {
        let (block, rest) = self.blocks.split_first()?;
        if self.at == block.len() {
            self.blocks = rest;
            self.at = 0;
            return self.next();
        }
        Some(read(block, &mut self.at, &mut self.last))
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
    let last = &mut last[usize::from(note.has.has(Signs::AT_SECOND))];
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
    put(out, u64::from(note.has.0 | kind | after));
    put(out, u64::from(note.flow));
    put(out, u64::from(note.ip_len));
    put_signed(out, note.at.wrapping_sub(last.at));
    put_signed(out, note.frame.wrapping_sub(last.frame).cast_signed());
    if note.kind == Kind::Passed {
        let raw = note.left_at.wrapping_sub(note.at);
        put_signed(out, raw.wrapping_sub(last.raw));
        put_signed(
            out,
            note.left_frame.wrapping_sub(last.left_frame).cast_signed(),
        );
        if let Some(before) = note.left_before {
            put_signed(out, note.left_at.wrapping_sub(before));
        }
    }
    last.follow(note);
}

#[inline]
fn read(block: &[u8], at: &mut usize, last: &mut Last) -> Note {
    let signs = take(block, at) as u16;
    let last = &mut last[usize::from(signs & Signs::AT_SECOND != 0)];
    let kind = match signs & (LOST | APPEARED) {
        0 => Kind::Passed,
        LOST => Kind::Lost,
        _ => Kind::Appeared,
    };
    let mut note = Note {
        kind,
        has: Signs(signs & 0xff),
        flow: take(block, at) as u32,
        ip_len: take(block, at) as u32,
        at: last.at.wrapping_add(take_signed(block, at)),
        frame: last.frame.wrapping_add_signed(take_signed(block, at)),
        ..Note::default()
    };
    if kind == Kind::Passed {
        note.left_at = note
            .at
            .wrapping_add(last.raw.wrapping_add(take_signed(block, at)));
        note.left_frame = last.left_frame.wrapping_add_signed(take_signed(block, at));
        if signs & AFTER_ANOTHER != 0 {
            note.left_before = Some(note.left_at.wrapping_sub(take_signed(block, at)));
        }
    }
    last.follow(&note);
    note
}

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
#[inline]
fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The sign in the lowest bit, so that small differences either way are short.
#[inline]
fn put_signed(out: &mut Vec<u8>, value: i64) {
    put(out, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

#[inline]
fn take(block: &[u8], at: &mut usize) -> u64 {
    let eight = block.get(*at..).and_then(<[u8]>::first_chunk::<8>);
    if let Some(eight) = eight {
        let word = u64::from_le_bytes(*eight);
        let last = !word & 0x8080_8080_8080_8080;
        if last != 0 {
            let bits = last.trailing_zeros() + 1;
            *at += bits as usize / 8;
            return sevens(word & (u64::MAX >> (64 - bits)));
        }
    }
    take_slowly(block, at)
}

/// Puts the lower seven bits of all bytes together: of two neighbours, of two pairs, of two fours.
#[inline]
fn sevens(word: u64) -> u64 {
    let word = word & 0x7f7f_7f7f_7f7f_7f7f;
    let word = word & 0x007f_007f_007f_007f | (word & 0x7f00_7f00_7f00_7f00) >> 1;
    let word = word & 0x0000_3fff_0000_3fff | (word & 0x3fff_0000_3fff_0000) >> 2;
    word & 0x0fff_ffff | (word & 0x0fff_ffff_0000_0000) >> 4
}

/// Byte by byte: long numbers, and those at the end of a block.
#[cold]
fn take_slowly(block: &[u8], at: &mut usize) -> u64 {
    let (mut value, mut shift) = (0, 0);
    while let Some(&byte) = block.get(*at) {
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 || shift > 63 {
            break;
        }
    }
    value
}

#[inline]
fn take_signed(block: &[u8], at: &mut usize) -> i64 {
    let value = take(block, at);
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// Bytes allocated at a time.
const BLOCK: usize = 1 << 20;
/// A note is never longer: eight numbers of ten bytes at most.
const NOTE_MAX: usize = 80;
/// Blocks kept: 256 MiB, some 17 million packets.
const BLOCKS_MAX: usize = 256;

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

    proptest! {
        #[test]
        fn what_was_noted_is_read_again(notes in proptest::collection::vec(note(), 0..300)) {
            let mut spool = Spool::default();
            for note in &notes {
                spool.add(note);
            }
            let read: Vec<Note> = spool.notes().collect();
            prop_assert_eq!(read, notes);
        }
    }

    /// A download's packets every 120 us, with delays that differ by less than 8 ms.
    #[test]
    fn a_usual_packet_takes_a_few_bytes() {
        let mut spool = Spool::default();
        for packet in 0..10_000_u64 {
            let at = 1_700_000_000_000_000_000 + packet.cast_signed() * 120_000;
            let left_at = at + 20_000_000 + packet.cast_signed() * 7919 % 8_000_000;
            spool.add(&Note {
                flow: 3,
                ip_len: 1500,
                at,
                left_at,
                left_before: Some(left_at - 120_000),
                frame: packet * 2,
                left_frame: packet * 2,
                ..Note::default()
            });
        }
        let bytes: usize = spool.blocks.iter().map(Vec::len).sum();
        assert!(bytes < 17 * 10_000, "{bytes}");
        assert!(!spool.is_full());
        assert_eq!(spool.notes().count(), 10_000);
    }
}
