//! Which bytes make sense as pcap records.

use super::{Place, Step, VIEW_BYTES, View, another_capture};
use crate::capture::RECORD_BYTES_MAX;
use crate::capture::pcap::{Header, PcapWalker, begins_file};
use crate::capture::record::Entry;
use crate::time::CaptureTime;

/// Captured length, in bytes, of the largest record that makes sense by itself: what `tcpdump`
/// captures at most. A longer one has to be borne out by what follows it.
const CAPTURED_MAX: u32 = 262_144;

/// Some writers add a link header to the snap length.
const LINK_HEADER_BYTES: u32 = 64;

/// Records in a row that are a run: dated near the record before, or only near each other.
const RUN_RECORDS: usize = 3;
const FAR_RUN_RECORDS: usize = 12;

/// Records in a row that follow each other by their lengths alone, however odd they are.
const ODD_RUN_RECORDS: usize = 8;

/// After so many of them, none dated near the record before, it is seen whether others go on beside them: once, as they
/// may be made to be many.
const DOUBTED_RECORDS: usize = 64;

/// Places in one record at which another may begin that are looked at: a capture of a capture has
/// many, each with a long run behind it.
const STARTS_MAX: usize = 64;

/// How far apart two records may be dated to bear each other out, in seconds.
const NEAR_SECONDS: i64 = super::NEAR_NS / 1_000_000_000;

/// Looks at the record at `place`; also gives within how many bytes from there records are to be
/// taken as they are.
pub(super) fn step(
    walker: &PcapWalker,
    place: &Place<'_>,
    entries: &mut Vec<Entry>,
) -> (Step, usize) {
    let rest = place.bytes.get(place.at..).unwrap_or_default();
    let header_bytes = walker.shape().header_bytes;
    let Some(header) = walker.shape().header(rest) else {
        return (Step::Needs(header_bytes), 0);
    };
    let mut trusted_bytes = usize::try_from(place.trusted_bytes).unwrap_or(usize::MAX);
    let makes_sense = is_sensible(walker, header, seconds(place.last_at));
    if trusted_bytes == 0 && !makes_sense {
        let Some(view) = View::of(rest, 0, place.at_end) else {
            return (Step::Needs(VIEW_BYTES), 0);
        };
        trusted_bytes = odd_bytes(walker, view, 0, seconds(place.last_at));
        if trusted_bytes == 0 {
            return (Step::Lost, 0);
        }
    }
    let end = header_bytes + header.captured_len as usize;
    let cut = |entries: &mut Vec<Entry>, at: usize| {
        let captured_len = (at - header_bytes) as u32;
        entries.push(Entry {
            captured_len,
            ..walker.entry(header, place.at + header_bytes)
        });
        (Step::Cut(at), 0)
    };
    let last = Some(i64::from(header.seconds));
    let inside = |whole: View<'_>| run_inside(walker, whole, (end, end), last);
    if end > rest.len() {
        let all = View {
            bytes: rest,
            ends: true,
        };
        return match Some(all)
            .filter(|_| place.at_end && makes_sense)
            .and_then(inside)
        {
            Some(at) => cut(entries, at),
            None => (Step::Needs(end), trusted_bytes),
        };
    }
    if end >= trusted_bytes {
        match rest
            .get(end..)
            .and_then(|behind| walker.shape().header(behind))
        {
            None if !place.at_end => return (Step::Needs(end + header_bytes), trusted_bytes),
            None => {}
            Some(next) if is_sensible(walker, next, last) => {}
            Some(_) => {
                let Some(view) = View::of(rest, end, place.at_end) else {
                    return (Step::Needs(end + VIEW_BYTES), trusted_bytes);
                };
                let whole = View {
                    bytes: &rest[..end + view.bytes.len()],
                    ..view
                };
                let odd = odd_bytes(walker, whole, end, last);
                if odd > 0 {
                    trusted_bytes = end + odd;
                } else if makes_sense && let Some(at) = inside(whole) {
                    return cut(entries, at);
                }
            }
        }
    }
    entries.push(walker.entry(header, place.at + header_bytes));
    (Step::Taken(end), trusted_bytes)
}

/// Whether a run of records could begin here, by the first header alone.
pub(super) fn could_begin(walker: &PcapWalker, rest: &[u8]) -> bool {
    walker
        .shape()
        .header(rest)
        .is_some_and(|header| is_sensible(walker, header, None))
}

/// Whether a run of records begins here.
pub(super) fn is_run(walker: &PcapWalker, view: View<'_>, last_at: Option<CaptureTime>) -> bool {
    is_run_beyond(walker, view, 0, seconds(last_at))
}

/// Whether the records from here on bear each other out, until behind `beyond`.
pub(super) fn is_run_beyond(
    walker: &PcapWalker,
    view: View<'_>,
    beyond: usize,
    last: Option<i64>,
) -> bool {
    let shape = walker.shape();
    let (mut at, mut records, mut before) = (0, 0, None);
    let mut near = true;
    loop {
        let rest = view.from(at).bytes;
        let header = shape.header(rest);
        if records == 0 {
            near = header.is_some_and(|header| is_near(header, last));
        }
        if rest.is_empty() && view.ends {
            return records >= if near { 1 } else { RUN_RECORDS };
        }
        let whole =
            header.filter(|header| header.captured_len as usize <= rest.len() - shape.header_bytes);
        match (header, whole) {
            (Some(header), _) if !is_sensible(walker, header, before) => return false,
            (_, Some(header)) => {
                records += 1;
                at += shape.header_bytes + header.captured_len as usize;
                before = Some(i64::from(header.seconds));
                let enough = if near { RUN_RECORDS } else { FAR_RUN_RECORDS };
                if records >= enough && at > beyond {
                    return true;
                }
            }
            // The last record is cut short, or out of view.
            (_, None) => return near && records >= if view.ends { 1 } else { 2 },
        }
    }
}

/// Where in the first `until` bytes, which begin with a record dated near `last`, another one begins that others follow
/// until behind `beyond`; or a capture with such records.
fn run_inside(
    walker: &PcapWalker,
    view: View<'_>,
    (until, beyond): (usize, usize),
    last: Option<i64>,
) -> Option<usize> {
    let header_bytes = walker.shape().header_bytes;
    (header_bytes..until.min(view.bytes.len()))
        .map(|at| (at, view.from(at)))
        .filter(|(_, here)| could_begin(walker, here.bytes) || begins_file(here.bytes))
        .take(STARTS_MAX)
        .find(|&(at, here)| {
            let beyond = beyond.saturating_sub(at);
            is_run_beyond(walker, here, beyond, last) || another_capture(here, beyond).is_some()
        })
        .map(|(at, _)| at)
}

/// Within how many bytes from `start` on records follow each other by their lengths, however odd they are: up to a
/// run of sensible ones, to the end, or over a good number of them. 0 when they do not.
fn odd_bytes(walker: &PcapWalker, whole: View<'_>, start: usize, last: Option<i64>) -> usize {
    let shape = walker.shape();
    let view = whole.from(start);
    let (mut at, mut first_end, mut any_near) = (0, 0, false);
    // Where some bytes are missing, what is read as a length may be the other one of the same record, for as long as
    // the two are equal. No time bears that out, and the records themselves do go on.
    let is_shifted = |at: usize, first_end: usize| {
        let packet_max = CAPTURED_MAX as usize;
        let first_end = first_end.min(packet_max);
        let beyond = at.min(first_end + packet_max);
        run_inside(walker, whole, (start + first_end, start + beyond), last).is_some()
    };
    for records in 0.. {
        let here = view.from(at);
        if is_run_beyond(walker, here, 0, last) {
            return at + 1;
        }
        if records > 0 && view.ends && here.bytes.is_empty() {
            return at;
        }
        let follows = shape.header(here.bytes).filter(|header| {
            let room = here.bytes.len() - shape.header_bytes;
            !header.is_no_record() && header.captured_len as usize <= room
        });
        let Some(header) = follows else {
            let is_run = records >= ODD_RUN_RECORDS
                && (any_near || records >= DOUBTED_RECORDS || !is_shifted(at, first_end));
            return if is_run { at } else { 0 };
        };
        at += shape.header_bytes + header.captured_len as usize;
        if records == 0 {
            first_end = at;
        } else {
            any_near |= is_near(header, last);
        }
        if records + 1 == DOUBTED_RECORDS && !any_near && is_shifted(at, first_end) {
            return 0;
        }
    }
    0
}

/// Whether a header is one that any writer would write, dated near the record before.
fn is_sensible(walker: &PcapWalker, header: Header, last: Option<i64>) -> bool {
    let captured_max = match walker.snap_len() {
        snap_len @ 1..=CAPTURED_MAX => snap_len,
        _ => CAPTURED_MAX,
    };
    header.fraction < walker.shape().fraction_end()
        && (1..=captured_max + LINK_HEADER_BYTES).contains(&header.captured_len)
        && (header.captured_len..=RECORD_BYTES_MAX).contains(&header.original_len)
        && is_near(header, last)
}

fn is_near(header: Header, last: Option<i64>) -> bool {
    last.is_none_or(|last| (i64::from(header.seconds) - last).abs() <= NEAR_SECONDS)
}

fn seconds(at: Option<CaptureTime>) -> Option<i64> {
    at.map(|at| at.as_ns().div_euclid(1_000_000_000))
}
