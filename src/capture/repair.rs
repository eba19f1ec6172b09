//! Finds the way back to whole records behind damage: what `--repair` does.
//!
//! A step looks at one record. One that makes sense, followed by one that does, is taken. Where one
//! does not, the file may only be odd (a writer's habits, a clock that was set): then its records
//! still follow each other by their lengths, and are taken as they are. Where they do not, the bytes
//! up to the next run of records that make sense are passed over, and noted as a [`Gap`].
//!
//! Each decision rests on the next [`VIEW_BYTES`] of the file, or on the whole block where that is longer, and nothing
//! else, so that it does not depend on how the bytes come in. All of this is off the usual path: without damage to be
//! looked for, no record comes here.

mod pcap;
mod pcapng;

use std::fmt;

use super::error::BlockFault;
use super::pcap::begins_file;
use super::pcapng::begins_section;
use super::reader::{Walker, recognise};
use super::record::Entry;
use crate::time::CaptureTime;

/// Bytes from a record on that decide about it: room for a dozen of the largest packets.
const VIEW_BYTES: usize = 4 << 20;

/// Gaps of one file that are noted one by one; all are counted.
const GAPS_NOTED: usize = 32;

/// More bytes than one packet has.
const PACKET_BYTES: usize = 1 << 16;

/// How far apart two records in a row may be dated, in ns, to bear each other out: a day.
const NEAR_NS: i64 = 86_400 * 1_000_000_000;

/// A place at which a damaged file was repaired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Number of the record that should have begun there, from 1; the next whole one has it now.
    pub record_index: u64,
    /// Where the damage was noticed, in bytes from the start of the uncompressed file.
    pub offset_bytes: u64,
    /// Bytes that were passed over: 0 where a record is cut short and the next begins inside it.
    pub skipped_bytes: u64,
    /// What was there.
    pub damage: Damage,
}

/// What is found instead of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Damage {
    /// Bytes that are no record.
    Garbage,
    /// A record that has fewer bytes than it claims: the next one begins inside it.
    Cut,
    /// A pcapng block that is whole but contradicts itself or the blocks before it.
    Block(BlockFault),
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (record, at, bytes) = (self.record_index, self.offset_bytes, self.skipped_bytes);
        write!(f, "record {record} at byte {at}: ")?;
        match self.damage {
            Damage::Garbage => write!(f, "{bytes} bytes are no record"),
            Damage::Cut => {
                f.write_str("the record before it is cut short, and this one begins inside it")
            }
            Damage::Block(fault) => {
                write!(f, "{bytes} bytes are blocks that cannot be used: {fault}")
            }
        }
    }
}

/// The damage of one file, and how far its repair is.
#[derive(Debug, Default)]
pub(super) struct Repair {
    /// Time of the record before, if there is one.
    last_at: Option<CaptureTime>,
    /// Records that begin before this place in the file are taken as they are.
    trusted_until: u64,
    /// The way is lost: looking for the next run of records.
    lost: bool,
    gaps: Vec<Gap>,
    /// Record and place at which the last gap ends.
    gap_end: Option<(u64, u64)>,
    gaps_total: u64,
    skipped_bytes: u64,
}

/// The next bytes of a file.
#[derive(Clone, Copy)]
struct View<'a> {
    /// At most [`VIEW_BYTES`].
    bytes: &'a [u8],
    /// Whether the file ends where they do.
    ends: bool,
}

impl<'a> View<'a> {
    /// The view from `at` on; `None` when more bytes have to be read to have it.
    fn of(bytes: &'a [u8], at: usize, at_end: bool) -> Option<Self> {
        let rest = bytes.get(at..).unwrap_or_default();
        match rest.get(..VIEW_BYTES) {
            Some(bytes) => Some(Self {
                bytes,
                ends: at_end && rest.len() == VIEW_BYTES,
            }),
            None => at_end.then_some(Self {
                bytes: rest,
                ends: true,
            }),
        }
    }

    /// The part of it from `at` on.
    fn from(self, at: usize) -> Self {
        Self {
            bytes: self.bytes.get(at..).unwrap_or_default(),
            ..self
        }
    }
}

/// What one look at the next bytes comes to.
enum Step {
    /// A record or block of so many bytes that can be used; its record is among the entries.
    Taken(usize),
    /// The record is cut after so many bytes: there the next one begins.
    Cut(usize),
    /// So many bytes are a block that cannot be used.
    Unusable(usize, BlockFault),
    /// Nothing here is a record.
    Lost,
    /// More bytes are needed than there are, so many from here; at the end of the file: what is
    /// left is a record cut short.
    Needs(usize),
}

/// Where in the file a step looks.
struct Place<'a> {
    bytes: &'a [u8],
    at: usize,
    /// No more bytes will come.
    at_end: bool,
    last_at: Option<CaptureTime>,
    /// Records that begin within so many bytes from here are taken as they are.
    trusted_bytes: u64,
}

/// The capture that begins here, as where files were put behind each other (`cat a.pcap b.pcap`), and the bytes of its
/// header; only where the records behind it bear each other out, until behind `beyond`. Its times and packets are what
/// its own header says.
fn another_capture(view: View<'_>, beyond: usize) -> Option<(Walker, usize)> {
    let (walker, header_bytes) = recognise(view.bytes).ok()?;
    let records = view.from(header_bytes);
    let is_one = match &walker {
        Walker::Pcap(walker) => {
            pcap::is_run_beyond(walker, records, beyond.saturating_sub(header_bytes), None)
        }
        Walker::Pcapng(walker) => pcapng::is_run(walker, records),
    };
    is_one.then_some((walker, header_bytes))
}

impl Repair {
    /// As `Walker::walk`, but goes on behind damage. `base` is the place in the file of the first of
    /// `bytes`, `records` the number of records before them, and `at_end` says that there are no
    /// more bytes.
    pub(super) fn walk(
        &mut self,
        walker: &mut Walker,
        (base, records): (u64, u64),
        (bytes, at): (&[u8], &mut usize),
        at_end: bool,
        entries: &mut Vec<Entry>,
    ) -> usize {
        loop {
            let index = records + entries.len() as u64 + 1;
            let offset = base + *at as u64;
            if self.lost {
                match self.go_on(walker, (base, index), (bytes, &mut *at), at_end) {
                    Some(need) => return need,
                    None => continue,
                }
            }
            let rest = bytes.get(*at..).unwrap_or_default();
            let is_pcap = matches!(walker, Walker::Pcap(_));
            if begins_file(rest) || is_pcap && begins_section(rest) {
                let Some(view) = View::of(bytes, *at, at_end) else {
                    return VIEW_BYTES;
                };
                if let Some((next, header_bytes)) = another_capture(view, 0) {
                    self.skip(index, offset, header_bytes as u64, Damage::Garbage);
                    (*walker, self.last_at) = (next, None);
                    *at += header_bytes;
                    continue;
                }
            }
            let place = Place {
                bytes,
                at: *at,
                at_end,
                last_at: self.last_at,
                trusted_bytes: self.trusted_until.saturating_sub(offset),
            };
            let step = match walker {
                Walker::Pcap(walker) => {
                    let (step, trusted_bytes) = pcap::step(walker, &place, entries);
                    self.trust(offset + trusted_bytes as u64);
                    step
                }
                Walker::Pcapng(walker) => pcapng::step(walker, &place, entries),
            };
            match step {
                Step::Taken(bytes) => *at += bytes,
                Step::Cut(bytes) => {
                    *at += bytes;
                    let index = records + entries.len() as u64 + 1;
                    self.skip(index, base + *at as u64, 0, Damage::Cut);
                }
                Step::Unusable(bytes, fault) => {
                    self.skip(index, offset, bytes as u64, Damage::Block(fault));
                    *at += bytes;
                }
                Step::Lost => self.lost = true,
                Step::Needs(need) => return need,
            }
            self.last_at = entries.last().map(|entry| entry.at).or(self.last_at);
        }
    }

    /// Goes on at the next run of records, the first of which is number `index`; where there is none in these bytes,
    /// how many are needed.
    fn go_on(
        &mut self,
        walker: &Walker,
        (base, index): (u64, u64),
        (bytes, at): (&[u8], &mut usize),
        at_end: bool,
    ) -> Option<usize> {
        let (next, need) = match self.look_for_record(walker, (bytes, *at), at_end) {
            Ok(next) => (next, None),
            Err((next, need)) => (next, Some(need)),
        };
        let offset = base + *at as u64;
        self.skip(index, offset, (next - *at) as u64, Damage::Garbage);
        *at = next;
        if need.is_some() {
            return need;
        }
        if *at == bytes.len() {
            return Some(1);
        }
        self.lost = false;
        self.trust(base + *at as u64 + 1);
        None
    }

    /// The first place from `at` on at which a run of records begins, or the end of the file;
    /// `Err`: nothing before that place, and how many bytes are needed from there.
    fn look_for_record(
        &self,
        walker: &Walker,
        (bytes, at): (&[u8], usize),
        at_end: bool,
    ) -> Result<usize, (usize, usize)> {
        let header_bytes = match walker {
            Walker::Pcap(walker) => walker.shape().header_bytes,
            Walker::Pcapng(_) => pcapng::HEAD_BYTES,
        };
        for place in at.. {
            let rest = bytes.get(place..).unwrap_or_default();
            if rest.len() < header_bytes {
                return if at_end {
                    Ok(bytes.len())
                } else {
                    Err((place, header_bytes))
                };
            }
            let begins_capture = begins_file(rest);
            let begins = match walker {
                _ if begins_capture => true,
                Walker::Pcap(walker) => pcap::could_begin(walker, rest),
                Walker::Pcapng(walker) => pcapng::could_begin(walker, rest),
            };
            if !begins {
                continue;
            }
            let Some(view) = View::of(bytes, place, at_end) else {
                return Err((place, VIEW_BYTES));
            };
            let proven = match walker {
                // In what is lost there may be packets that carry one.
                _ if begins_capture && another_capture(view, PACKET_BYTES).is_some() => true,
                Walker::Pcap(walker) => pcap::is_run(walker, view, self.last_at),
                Walker::Pcapng(walker) => pcapng::is_run(walker, view),
            };
            if proven {
                return Ok(place);
            }
        }
        Ok(bytes.len())
    }

    /// Notes that bytes were passed over; those that follow on what was noted last belong to it.
    fn skip(&mut self, record_index: u64, offset_bytes: u64, skipped_bytes: u64, damage: Damage) {
        if skipped_bytes == 0 && damage != Damage::Cut {
            return;
        }
        self.skipped_bytes += skipped_bytes;
        let goes_on = self.gap_end == Some((record_index, offset_bytes));
        self.gap_end = Some((record_index, offset_bytes + skipped_bytes));
        self.gaps_total += u64::from(!goes_on);
        if !goes_on && self.gaps.len() < GAPS_NOTED {
            self.gaps.push(Gap {
                record_index,
                offset_bytes,
                skipped_bytes,
                damage,
            });
        } else if goes_on
            && self.gaps_total <= GAPS_NOTED as u64
            && let Some(last) = self.gaps.last_mut()
        {
            last.skipped_bytes += skipped_bytes;
        }
    }

    fn trust(&mut self, until: u64) {
        self.trusted_until = self.trusted_until.max(until);
    }

    pub(super) fn describe(&self, facts: &mut super::FileFacts) {
        if self.gaps_total > 0 {
            facts.gaps.clone_from(&self.gaps);
            facts.gaps_total = self.gaps_total;
            facts.skipped_bytes = self.skipped_bytes;
        }
    }
}
