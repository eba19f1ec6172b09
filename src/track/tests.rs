//! Traces as text.
//!
//! A line is a packet: `ms A>B words`, A being the opener. Words:
//!
//! | word | meaning |
//! | --- | --- |
//! | `data 0..1000` | payload, by offset in the sender's stream |
//! | `at 999` | no payload, but a sequence number other than the next |
//! | `ack 1000` | cumulative ACK, by offset in the peer's stream |
//! | `sack 2000..3000` | a SACK block; several in the option's order |
//! | `ts 7/3` | `TSval` 7, `TSecr` 3 |
//! | `id 5` | IPv4 identification; without it none, as in IPv6 |
//! | `cut` | the snap length cut the options off |
//! | `parts 3` | in so many IP fragments |
//! | `long` | as long as it is by IPv6 with timestamps and SACK blocks |
//! | `win 0` | window on the wire; 500 without it |
//! | `ect`, `ce` | marked as ECN-capable, or as having met congestion |
//! | `syn`, `fin`, `rst`, `psh`, `ae`, `ece`, `cwr` | flags; a SYN carries MSS 1000, window scale 7 and SACK permitted |
//! | `bare` | none of these options |
//! | `ttl 128` | time to live, of a SYN; 64 without it |
//!
//! The initial sequence numbers are 999 (A) and 4999 (B) unless a line `isn A 4294967000` says
//! otherwise.

mod anew;
mod answers;
mod asked_long_ago;
mod beyond;
mod classes;
mod clocks;
mod duplicates;
mod early_repeats;
mod echoes;
mod ends;
mod first_flights;
mod handshakes;
mod held;
mod limits;
mod long_flights;
mod lost_edges;
mod lost_repeats;
mod many_parts;
mod marks;
mod merged_copies;
mod merged_frames;
mod missing_records;
mod numbers;
mod own_ids;
mod probes;
mod quic_handshake;
mod quiet;
mod reasons;
mod repairs;
mod repeats;
mod round_trips;
mod rounds;
mod samples;
mod seen_acks;
mod signs;
mod skipped_above;
mod skipped_ids;
mod spin;
mod strays;
mod tail_probes;
mod tails;
mod ticks;
mod timers;
mod too_long;
mod unasked;
mod undone;
mod unneeded;

use std::fmt::Write as _;
use std::num::NonZeroU16;

use super::*;
use crate::decode::{Ecn, Endpoint, SackBlock, SynOptions, Timestamps};
use crate::event::{
    Acked, Amendment, Class, ClassifiedSegment, DataArrival, LossPlace, Reason, Recovery,
    RttSample, Signal, Verdict,
};
use crate::seq::Seq;
use crate::time::CaptureTime;

/// SYN, SYN-ACK, ACK: 20 ms towards the receiver, 10 ms towards the sender.
const HANDSHAKE: &str = " 0 A>B syn
     20 B>A syn ack 0
     30 A>B ack 0 id 1
     ";

/// Expects the final class of every data segment of A, in the order they passed: `ms class
/// range`, reason, place of loss, evidence other than the sequence, `again` and the bytes
/// repeated where only a part is, `rtt`, ms and label.
fn check(trace: &str, expected: &str) {
    let expected: Vec<&str> = expected.lines().map(str::trim).collect();
    let seen = play(trace);
    assert_eq!(seen.rows.len(), seen.data.len(), "a row each data segment");
    let rows: Vec<String> = seen
        .rows
        .iter()
        .zip(&seen.data)
        .map(|(row, data)| describe(row, data))
        .collect();
    assert_eq!(rows, expected, "\n{}", rows.join("\n"));
}

/// Expects the signs about A's data: `ms sign`.
fn check_signs(trace: &str, expected: &[&str]) {
    assert_eq!(play(trace).signs, expected);
}

/// Expects the bytes in flight at each data segment of A.
fn check_in_flight(trace: &str, expected: &[Option<u64>]) {
    let seen = play(trace);
    let in_flight: Vec<Option<u64>> = seen.data.iter().map(|data| data.in_flight_bytes).collect();
    assert_eq!(in_flight, expected);
}

fn describe(row: &ClassifiedSegment, data: &DataArrival) -> String {
    let verdict = row.verdict;
    let mut text = format!(
        "{} {} {}..{}",
        row.at.as_ns() / 1_000_000,
        verdict.class.name(),
        row.offset,
        row.offset + i64::from(row.payload_len)
    );
    let words = [
        verdict.reason.map(crate::event::Reason::name),
        verdict.lost.map(LossPlace::name),
        (verdict.evidence != crate::event::Evidence::Sequence).then(|| verdict.evidence.name()),
    ];
    for word in words.into_iter().flatten() {
        let _ = write!(text, " {word}");
    }
    if data.repeated_len > 0 && data.repeated_len < data.payload_len {
        let _ = write!(text, " again {}", data.repeated_len);
    }
    if let Some((ns, label)) = row.rtt {
        let _ = write!(text, " rtt {} {}", ns / 1_000_000, label.name());
    }
    text
}

/// What A's data gave rise to.
#[derive(Default)]
struct Seen {
    rows: Vec<ClassifiedSegment>,
    data: Vec<DataArrival>,
    /// What each of them is, as far as events tell: made without the rows, and in the end the same.
    verdicts: Vec<Verdict>,
    signs: Vec<String>,
    recoveries: Vec<String>,
    /// R1, in ms.
    rtts_ms: Vec<i64>,
    /// How many of them are R3's.
    exact_rtts: usize,
    /// R4, in ms.
    timestamp_rtts_ms: Vec<i64>,
    /// Packets lost upstream and downstream.
    lost: [i64; 2],
    /// Judgements that were changed.
    amendments: usize,
    /// Payload newly acknowledged by any ACK, in bytes.
    acked: u64,
    /// When the ACK passed that told of progress last, in ms.
    acked_at: i64,
    /// What each ACK that told of progress points to.
    acks: Vec<i64>,
    /// When ACKs passed that were the first to report payload, in ms, and how much.
    delivered: Vec<(i64, u64)>,
    handshake: Option<(i64, i64, i64)>,
    state: HalfState,
    closing: Closing,
}

impl FlowSink for Seen {
    const SEGMENTS: bool = true;

    fn data(&mut self, dir: Direction, data: &DataArrival) {
        if dir == Direction::Forward {
            self.data.push(*data);
            self.verdicts.push(data.verdict);
        }
    }

    fn segment(&mut self, dir: Direction, segment: &ClassifiedSegment) {
        if dir == Direction::Forward {
            self.rows.push(*segment);
        }
    }

    fn signal(&mut self, dir: Direction, at: CaptureTime, signal: Signal) {
        if dir == Direction::Forward {
            self.signs
                .push(format!("{} {signal:?}", at.as_ns() / 1_000_000));
        }
    }

    fn rtt(&mut self, dir: Direction, sample: &RttSample) {
        if dir == Direction::Forward {
            self.rtts_ms.push(sample.rtt_ns / 1_000_000);
            self.exact_rtts += usize::from(sample.exact);
        }
    }

    fn timestamp_rtt(&mut self, dir: Direction, _at: CaptureTime, rtt_ns: i64) {
        if dir == Direction::Forward {
            self.timestamp_rtts_ms.push(rtt_ns / 1_000_000);
        }
    }

    fn lost(&mut self, dir: Direction, place: LossPlace, packets: i32) {
        if dir == Direction::Forward {
            self.lost[usize::from(place == LossPlace::Downstream)] += i64::from(packets);
        }
    }

    fn amended(&mut self, dir: Direction, amendment: &Amendment) {
        if dir == Direction::Reverse {
            return;
        }
        self.amendments += 1;
        let Some(ordinal) = amendment.ordinal else {
            return;
        };
        let place = self.data.iter().position(|data| data.ordinal == ordinal);
        let place = place.expect("what is judged again was told of");
        let data = &self.data[place];
        assert_eq!(amendment.sent_at, data.at);
        let (start, end) = (
            amendment.offset,
            amendment.offset + i64::from(amendment.payload_len),
        );
        assert!(data.offset <= start && end <= data.offset + i64::from(data.payload_len));
        self.verdicts[place] = amendment.now;
    }

    fn acked(&mut self, dir: Direction, acked: &Acked) {
        if dir == Direction::Forward {
            self.acked += acked.bytes;
            self.acks.push(acked.ack);
            self.acked_at = acked.at.as_ns() / 1_000_000;
        }
    }

    fn delivered(&mut self, dir: Direction, at: CaptureTime, bytes: u64) {
        if dir == Direction::Forward {
            self.delivered.push((at.as_ns() / 1_000_000, bytes));
        }
    }

    fn acked_less(&mut self, dir: Direction, at: CaptureTime, bytes: u64) {
        if dir == Direction::Forward {
            assert_eq!(self.acked_at, at.as_ns() / 1_000_000);
            self.acked -= bytes;
        }
    }

    fn recovery(&mut self, dir: Direction, recovery: &Recovery) {
        if dir == Direction::Forward {
            let kind = if recovery.timeout { "timeout" } else { "fast" };
            let (start, end) = (recovery.start.as_ns(), recovery.end.as_ns());
            self.recoveries
                .push(format!("{}..{} {kind}", start / 1_000_000, end / 1_000_000));
        }
    }
}

fn play(trace: &str) -> Seen {
    let mut connection = Connection::new();
    let mut seen = Seen::default();
    let mut sides = [Side::new(999), Side::new(4999)];
    for (ordinal, line) in trace.lines().map(str::trim).enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [] => {}
            ["isn", side, isn] => {
                sides[usize::from(side == "B")] = Side::new(isn.parse().unwrap());
            }
            [ms, way, ref words @ ..] => {
                let dir = match way {
                    "A>B" => Direction::Forward,
                    "B>A" => Direction::Reverse,
                    _ => panic!("which way is '{line}'?"),
                };
                let at = CaptureTime::from_ns(ms.parse::<i64>().unwrap() * 1_000_000);
                let segment = packet(dir, at, ordinal as u64, words, &mut sides);
                connection.on_segment(dir, &segment, &mut seen);
            }
            _ => panic!("what is '{line}'?"),
        }
    }
    connection.finish(&mut seen);
    let ordinals = seen.rows.iter().map(|row| row.ordinal);
    assert!(ordinals.eq(seen.data.iter().map(|data| data.ordinal)));
    let verdicts = seen.rows.iter().map(|row| row.verdict);
    assert!(
        verdicts.eq(seen.verdicts.iter().copied()),
        "amendments name their segments"
    );
    seen.handshake = connection.handshake().round_trip_ns();
    seen.state = connection.state(Direction::Forward);
    seen.closing = connection.handshake().closing();
    seen
}

/// One end: where its stream begins, and what it sends next.
struct Side {
    first: Seq,
    next: i64,
}

impl Side {
    fn new(isn: u32) -> Self {
        Self {
            first: Seq(isn).plus(1),
            next: 0,
        }
    }

    fn seq(&self, offset: i64) -> Seq {
        self.first.plus(offset as u32)
    }
}

fn packet(
    dir: Direction,
    at: CaptureTime,
    ordinal: u64,
    words: &[&str],
    sides: &mut [Side; 2],
) -> Segment {
    let ends = [
        Endpoint::v4([10, 0, 0, 1], 1000),
        Endpoint::v4([10, 0, 0, 2], 80),
    ];
    let (own, peer) = (dir.index(), dir.reversed().index());
    let mut segment = Segment {
        at,
        ordinal,
        seq: sides[own].seq(sides[own].next),
        ..Segment::empty(ends[own], ends[peer])
    };
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        let mut next = || *words.next().unwrap_or_else(|| panic!("'{word}' of what?"));
        match word {
            "data" => {
                let (start, end) = range(next());
                segment.seq = sides[own].seq(start);
                segment.payload_len = (end - start) as u32;
                segment.ip_len += segment.payload_len;
                sides[own].next = sides[own].next.max(end);
            }
            "at" => segment.seq = sides[own].seq(next().parse().unwrap()),
            "ack" => {
                segment.flags = segment.flags.with(TcpFlags::ACK);
                segment.ack = sides[peer].seq(next().parse().unwrap());
            }
            "sack" => {
                let (start, end) = range(next());
                segment.sack.push(SackBlock {
                    start: sides[peer].seq(start),
                    end: sides[peer].seq(end),
                });
            }
            "ts" => {
                let (value, echo) = next().split_once('/').unwrap();
                segment.timestamps = Some(Timestamps {
                    value: value.parse().unwrap(),
                    echo: echo.parse().unwrap(),
                });
            }
            "id" => segment.ip_id = Some(next().parse().unwrap()),
            "win" => segment.window = next().parse().unwrap(),
            "cut" => segment.header_cut = true,
            "parts" => segment.ip_packets = next().parse().unwrap(),
            "long" => segment.ip_len += 56,
            "syn" => {
                segment.flags = segment.flags.with(TcpFlags::SYN);
                segment.seq = sides[own].seq(-1);
                segment.syn = SynOptions {
                    mss: NonZeroU16::new(1000),
                    window_scale: Some(7),
                    sack_permitted: true,
                    multipath: false,
                    ttl_above_64: false,
                };
            }
            "ttl" => segment.syn.ttl_above_64 = next().parse::<u8>().unwrap() > 64,
            "bare" => segment.syn = SynOptions::default(),
            "fin" => segment.flags = segment.flags.with(TcpFlags::FIN),
            "rst" => segment.flags = segment.flags.with(TcpFlags::RST),
            "psh" => segment.flags = segment.flags.with(TcpFlags::PSH),
            "ae" => segment.flags = segment.flags.with(TcpFlags::AE),
            "ece" => segment.flags = segment.flags.with(TcpFlags::ECE),
            "cwr" => segment.flags = segment.flags.with(TcpFlags::CWR),
            "ect" => segment.ecn = Ecn::Ect0,
            "ce" => segment.ecn = Ecn::Ce,
            _ => panic!("what is '{word}'?"),
        }
    }
    segment
}

fn range(text: &str) -> (i64, i64) {
    let (start, end) = text.split_once("..").unwrap();
    (start.parse().unwrap(), end.parse().unwrap())
}

/// A trace of an opened connection.
fn opened(trace: &str) -> String {
    format!("{HANDSHAKE}{trace}")
}

/// The same of hosts that agreed on no SACK.
fn opened_bare(trace: &str) -> String {
    opened("").replace("syn", "syn bare") + trace
}

/// Why the last data of a trace was repeated, if it was.
fn last_reason(trace: &str) -> Option<Reason> {
    let rows = play(trace).rows;
    rows.last().and_then(|row| row.verdict.reason)
}
