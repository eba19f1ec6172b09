//! What can happen to a flow, and who is told.

use crate::decode::{Datagram, Ecn, Plain, Segment, TcpFlags};
use crate::seq::Seq;
use crate::time::CaptureTime;

/// One of the two directions of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Sent by the opener: who sent the SYN or, in a capture that starts later, the first segment.
    Forward,
    /// Sent by its peer.
    Reverse,
}

impl Direction {
    /// The other direction.
    #[inline]
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::Forward => Self::Reverse,
            Self::Reverse => Self::Forward,
        }
    }

    /// The word in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
        }
    }

    /// 0 for forward, 1 for reverse.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// What a data segment is (METRICS.md, "What a data segment is").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Extends the highest byte seen.
    New,
    /// The same packet a second time, copied by the network or the capture.
    Duplicate,
    /// At most one byte just below the next expected one, on an idle flow (RFC 9293 section 3.8.4).
    KeepAlive,
    /// A byte into a closed window (RFC 9293 section 3.8.6.1).
    WindowProbe,
    /// The sender emitted these bytes a second time.
    Retransmission,
    /// Fills a hole, but is the first copy: delayed on its way.
    Reordered,
    /// Fills a hole, and nothing decides how it came about.
    Ambiguous,
}

impl Class {
    /// The word in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Duplicate => "duplicate",
            Self::KeepAlive => "keep_alive",
            Self::WindowProbe => "window_probe",
            Self::Retransmission => "retransmission",
            Self::Reordered => "reordered",
            Self::Ambiguous => "ambiguous",
        }
    }
}

/// Why a segment was retransmitted (METRICS.md, "What a data segment is").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// Duplicate ACKs, SACK or RACK asked for it (RFC 5681, 6675, 8985).
    Fast,
    /// Silence of at least a retransmission timeout (RFC 6298).
    Timeout,
    /// A tail loss probe (RFC 8985 section 7).
    TailProbe,
    /// The receiver had the bytes already.
    Unneeded,
}

impl Reason {
    /// The word in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Timeout => "timeout",
            Self::TailProbe => "tail_probe",
            Self::Unneeded => "unneeded",
        }
    }
}

/// Where the copy that a retransmission replaces was lost (METRICS.md X3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LossPlace {
    /// Between the sender and the vantage point.
    Upstream,
    /// Between the vantage point and the receiver.
    Downstream,
}

impl LossPlace {
    /// The word in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Upstream => "upstream",
            Self::Downstream => "downstream",
        }
    }
}

/// What decided the class (METRICS.md, "What a data segment is", the evidence ladder).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Evidence {
    /// Its place in the stream alone.
    Sequence,
    /// IP identification, where the flow's ids count up by one.
    IpId,
    /// `TSval` against that of neighbours (RFC 7323).
    Tsval,
    /// The ECN field: new data is marked as ECN-capable, what is repeated is not (RFC 3168 section 6.1.5).
    Ecn,
    /// The bytes were seen here before.
    SeenBefore,
    /// The SACK scoreboard or duplicate ACKs asked for it.
    Sack,
    /// The receiver told later that it had had the bytes before: by a DSACK (RFC 2883), an echoed older timestamp
    /// (RFC 3522) or, where no DSACKs are sent, a duplicate ACK for old data (RFC 9293 section 3.10.7.4). One word for
    /// all three, as they prove the same, and take back a timeout alike (METRICS.md RU2, RU3, RU5).
    Dsack,
    /// Time against the vantage point - sender - vantage point half of the path.
    Timing,
    /// Nothing.
    None,
}

impl Evidence {
    /// The word in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sequence => "sequence",
            Self::IpId => "ip_id",
            Self::Tsval => "tsval",
            Self::Ecn => "ecn",
            Self::SeenBefore => "seen_before",
            Self::Sack => "sack",
            Self::Dsack => "dsack",
            Self::Timing => "timing",
            Self::None => "none",
        }
    }
}

/// How far a class can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// A guess: another explanation is nearly as good.
    Low,
    /// The other explanations need an unlikely coincidence.
    Medium,
    /// The packets prove it, as far as the end hosts keep to the RFCs.
    High,
}

impl Confidence {
    /// The word in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// The judgement on one data segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Verdict {
    /// What it is.
    pub class: Class,
    /// Why it was sent, for retransmissions.
    pub reason: Option<Reason>,
    /// Where the copy it replaces was lost, for retransmissions that were needed.
    pub lost: Option<LossPlace>,
    /// What decided the class.
    pub evidence: Evidence,
    /// How sure that is.
    pub confidence: Confidence,
}

impl Verdict {
    /// A first transmission in its place.
    pub const NEW: Self = Self::of(Class::New, Evidence::Sequence, Confidence::High);

    /// A class that needs no reason.
    #[must_use]
    pub const fn of(class: Class, evidence: Evidence, confidence: Confidence) -> Self {
        Self {
            class,
            reason: None,
            lost: None,
            evidence,
            confidence,
        }
    }
}

const _: () = {
    let mut place = 0;
    while place < RttLabel::ALL.len() {
        assert!(RttLabel::ALL[place] as usize == place);
        place += 1;
    }
};

/// What kind of moment an RTT sample was taken in (METRICS.md, "What a data segment is").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RttLabel {
    /// The segment ends where an ACK for at most two segments points.
    Clean,
    /// Covered together with the segment after it: the receiver waited for that one.
    DelayedAck,
    /// Covered by an ACK for more than two segments.
    StretchAck,
    /// Reported by SACK before the cumulative ACK came.
    Sack,
    /// Taken while losses were being repaired, or decided by `TSecr`.
    Recovery,
}

impl RttLabel {
    /// All of them, each at the place of its number.
    pub const ALL: &'static [Self] = &[
        Self::Clean,
        Self::DelayedAck,
        Self::StretchAck,
        Self::Sack,
        Self::Recovery,
    ];

    /// The word in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::DelayedAck => "delayed_ack",
            Self::StretchAck => "stretch_ack",
            Self::Sack => "sack",
            Self::Recovery => "recovery",
        }
    }
}

/// The delay from a data segment to the first ACK that covers its last byte (METRICS.md R1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RttSample {
    /// When the ACK passed.
    pub at: CaptureTime,
    /// When the segment had passed.
    pub sent_at: CaptureTime,
    /// The difference, in nanoseconds: vantage point - receiver - vantage point.
    pub rtt_ns: i64,
    /// Whether the segment ends where the ACK points (METRICS.md R3).
    pub exact: bool,
    /// What kind of moment it was.
    pub label: RttLabel,
}

/// A packet as it arrives, before its meaning is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PacketArrival {
    /// When it passed.
    pub at: CaptureTime,
    /// Position of its record in the capture, from 0.
    pub ordinal: u64,
    /// TCP's control bits; none of a datagram.
    pub flags: TcpFlags,
    /// Payload as the IP header tells it, in bytes.
    pub payload_len: u32,
    /// Length of the IP packet, or of all that it was put together from, in bytes.
    pub ip_len: u32,
    /// IP packets that it came in: several where it was fragmented.
    pub ip_packets: u16,
    /// ECN bits of the IP header.
    pub ecn: Ecn,
    /// The IP header told no length, and that of the frame was taken.
    pub length_from_frame: bool,
    /// The capture cut the TCP header.
    pub header_cut: bool,
}

impl From<&Segment> for PacketArrival {
    #[inline]
    fn from(segment: &Segment) -> Self {
        Self {
            at: segment.at,
            ordinal: segment.ordinal,
            flags: segment.flags,
            payload_len: segment.payload_len,
            ip_len: segment.ip_len,
            ip_packets: segment.ip_packets,
            ecn: segment.ecn,
            length_from_frame: segment.length_from_frame,
            header_cut: segment.header_cut,
        }
    }
}

impl From<&Datagram> for PacketArrival {
    fn from(datagram: &Datagram) -> Self {
        Self {
            at: datagram.at,
            ordinal: datagram.ordinal,
            flags: TcpFlags::default(),
            payload_len: datagram.payload_len,
            ip_len: datagram.ip_len,
            ip_packets: datagram.ip_packets,
            ecn: datagram.ecn,
            length_from_frame: datagram.length_from_frame,
            header_cut: false,
        }
    }
}

impl PacketArrival {
    /// A plain segment passed.
    #[inline]
    pub(crate) fn of_plain(plain: impl Plain) -> Self {
        Self {
            at: plain.at(),
            ordinal: plain.ordinal(),
            // All that it can have, so that who asks for another is told at once.
            flags: plain.flags().only(TcpFlags::ACK.with(TcpFlags::PSH)),
            payload_len: plain.payload_len(),
            ip_len: plain.ip_len(),
            ip_packets: 1,
            ecn: plain.ecn(),
            length_from_frame: false,
            header_cut: false,
        }
    }
}

/// A data segment as it arrives, judged by what is known at that moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DataArrival {
    /// Position of its record in the capture, from 0: that of its [`PacketArrival`] and its [`ClassifiedSegment`]. With
    /// [`offset`](Self::offset) it names the segment in its direction, as a record of Wi-Fi may hold several.
    pub ordinal: u64,
    /// When it passed.
    pub at: CaptureTime,
    /// Stream offset of its first byte; negative below the first byte seen, in a capture that
    /// starts mid-flow.
    pub offset: i64,
    /// Payload, in bytes.
    pub payload_len: u32,
    /// How many of them were not seen here before.
    pub unique_len: u32,
    /// How many of them were sent before, by the verdict: all of a retransmission's, the old part
    /// of a segment that is partly new, none otherwise.
    pub repeated_len: u32,
    /// Bytes in flight with this segment (METRICS.md I1); `None` before the first ACK.
    pub in_flight_bytes: Option<u64>,
    /// The judgement.
    pub verdict: Verdict,
    /// For a late original: how many packets that were sent after it came before it (RFC 4737
    /// section 4.2.1, reordering extent), and by how many nanoseconds it was late.
    pub extent: Option<(u32, i64)>,
}

/// A judgement changed by what came later: a DSACK, an echoed timestamp, a late original, ids that turn out to count.
///
/// A segment of which a part was repeated since may be judged again by what is left of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Amendment {
    /// Position of the segment's record in the capture, as in its [`DataArrival`]. Known where a sink asks for
    /// [`SEGMENTS`](FlowSink::SEGMENTS), as the [`ClassifiedSegment`] that is still to come has the new judgement
    /// then; `None` where that has been told before, or judges by other parts of the segment.
    pub ordinal: Option<u64>,
    /// When the segment had passed.
    pub sent_at: CaptureTime,
    /// Stream offset of the first byte that is judged again.
    pub offset: i64,
    /// How many bytes are judged again, mostly all of its payload.
    pub payload_len: u32,
    /// What it was taken for.
    pub was: Verdict,
    /// What it is.
    pub now: Verdict,
}

/// An ACK that covers more of a direction's stream than any before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Acked {
    /// When it passed.
    pub at: CaptureTime,
    /// Payload bytes newly covered; 0 where these passed before the capture began.
    pub bytes: u64,
    /// Stream offset that the ACK points to: all below it has arrived. Below 0 in what passed before the capture began.
    pub ack: i64,
}

/// Bytes `start..end` of a direction's stream, and when something happened to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamPart {
    /// When it happened.
    pub at: CaptureTime,
    /// Stream offset of the first byte.
    pub start: i64,
    /// Stream offset after the last byte.
    pub end: i64,
}

/// A data segment with its final class: one row of `--segments` (METRICS.md, "What a data segment is").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClassifiedSegment {
    /// Position of its record in the capture.
    pub ordinal: u64,
    /// When it passed.
    pub at: CaptureTime,
    /// Sequence number on the wire.
    pub seq: Seq,
    /// Unwrapped stream offset of its first byte; negative below the first byte seen, in a
    /// capture that starts mid-flow.
    pub offset: i64,
    /// TCP payload, in bytes.
    pub payload_len: u32,
    /// The final judgement.
    pub verdict: Verdict,
    /// RTT sample of this segment, in ns, and its label (METRICS.md R1).
    pub rtt: Option<(i64, RttLabel)>,
    /// Bytes in flight with this segment (METRICS.md I1); `None` before the first ACK.
    pub in_flight_bytes: Option<u64>,
}

/// A repair of losses (METRICS.md X8): from the first retransmission until everything sent before
/// it is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Recovery {
    /// When the first retransmission passed.
    pub start: CaptureTime,
    /// When the ACK passed that ended it, or the last packet, where none did.
    pub end: CaptureTime,
    /// A timeout began it or came within it.
    pub timeout: bool,
}

/// A sign in one direction's packets, or in the ACKs that answer them, that counts without being data (METRICS.md X7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Signal {
    /// A duplicate ACK (RFC 5681 section 2).
    DupAck,
    /// SACK blocks on one ACK, DSACKs not counted (RFC 2018).
    SackBlocks(u8),
    /// A DSACK (RFC 2883).
    Dsack,
    /// The receiver advertised a window of zero.
    ZeroWindow,
    /// The sender filled the advertised window to its end.
    WindowFull,
    /// A keep-alive by the sender.
    KeepAlive,
    /// A probe by the sender into a closed window.
    WindowProbe,
    /// The sender's segment is more than one packet on the wire: captured before segmentation or
    /// after merging (offload; METRICS.md C7).
    SuperSegment {
        /// Packets besides the first one.
        further: u16,
        /// Headers of each, of IP and TCP, in bytes.
        headers_len: u16,
        /// Payload of each but the last, which may have less, in bytes.
        full_len: u16,
    },
    /// SACK closed a hole for which no second copy passed here: reordered at the receiver.
    ReorderedAtReceiver,
}

shown_by_name!(
    Direction, Class, Reason, LossPlace, Evidence, Confidence, RttLabel
);

/// Receives what the flow engine finds, in capture order within a connection.
///
/// The engine pushes; a sink keeps what it needs. Every method does nothing by default. `dir` is
/// the direction of the data that an event is about: for an ACK, the opposite of the way the ACK
/// went.
///
/// A retransmission is [`data`](Self::data) whose verdict says so ([`Class::Retransmission`]), and data may turn out to be
/// one, or to be none, when it is [`amended`](Self::amended). Who can wait has each segment once, with what it turned out
/// to be, as a [`segment`](Self::segment).
pub trait FlowSink {
    /// Whether [`segment`](Self::segment) is wanted. It costs a queue of every data segment until
    /// its class is final.
    const SEGMENTS: bool = false;

    /// Events come soon: time to fetch from memory what they will change.
    fn expect_events(&self) {}
    /// They come next: time to fetch what the memory points to that [`expect_events`](Self::expect_events) asked for.
    fn expect_details(&self) {}
    /// A packet of direction `dir` passed: every one, with or without payload, before its meaning
    /// is known.
    fn packet(&mut self, _dir: Direction, _packet: &PacketArrival) {}
    /// A data segment of direction `dir` passed.
    fn data(&mut self, _dir: Direction, _data: &DataArrival) {}
    /// An earlier judgement was changed by later evidence: by the packet that passed last, of either direction, or by the
    /// end.
    fn amended(&mut self, _dir: Direction, _amendment: &Amendment) {}
    /// Packets of direction `dir` turned out to be lost at `place`: so many of them or, below 0, as
    /// many fewer than was thought (METRICS.md X3).
    fn lost(&mut self, _dir: Direction, _place: LossPlace, _packets: i32) {}
    /// An RTT sample of a data segment of direction `dir`.
    fn rtt(&mut self, _dir: Direction, _sample: &RttSample) {}
    /// The first echo of a `TSval` of direction `dir` passed, `rtt_ns` after the `TSval` itself
    /// (METRICS.md R4): the delay vantage point - receiver of `dir` - vantage point. Of QUIC, the first echo of a spin bit.
    fn timestamp_rtt(&mut self, _dir: Direction, _at: CaptureTime, _rtt_ns: i64) {}
    /// An ACK covered more of direction `dir`.
    fn acked(&mut self, _dir: Direction, _acked: &Acked) {}
    /// An ACK of data of direction `dir`, which passed at `at`, was the first to report so many bytes of payload, by its
    /// number or by SACK: they came since the ACK before. 0 where nobody knows how many came since then, or, where data
    /// passed at `at`, that it was not on its way when all before had come.
    fn delivered(&mut self, _dir: Direction, _at: CaptureTime, _bytes: u64) {}
    /// An ACK covered more of direction `dir`, and was the first to report it: [`acked`](Self::acked) and
    /// [`delivered`](Self::delivered) in one.
    fn acked_at_once(&mut self, dir: Direction, acked: &Acked) {
        self.acked(dir, acked);
        if acked.bytes > 0 {
            self.delivered(dir, acked.at, acked.bytes);
        }
    }
    /// The ACK that passed at `at`, the last that covered more, covered so many bytes less than it seemed to: its last
    /// number was that of a FIN that passed later. These may be more than that ACK was told with, as they may have been
    /// told with ACKs before it: who subtracts them from what that one brought must stop at 0.
    fn acked_less(&mut self, _dir: Direction, _at: CaptureTime, _bytes: u64) {}
    /// An ACK advertised room up to the stream offset `end` of direction `dir`; called for every
    /// ACK whose window scale is known.
    fn window(&mut self, _dir: Direction, _at: CaptureTime, _end: i64) {}
    /// SACK reported bytes of direction `dir` that it had not reported before.
    fn sacked(&mut self, _dir: Direction, _part: &StreamPart) {}
    /// A segment of direction `dir` left a hole below it: bytes not seen so far.
    fn hole(&mut self, _dir: Direction, _part: &StreamPart) {}
    /// A repair of losses of direction `dir` is over. Where an amendment turns its first retransmission into new data
    /// later, there was no repair.
    fn recovery(&mut self, _dir: Direction, _recovery: &Recovery) {}
    /// A countable sign about direction `dir`.
    fn signal(&mut self, _dir: Direction, _at: CaptureTime, _signal: Signal) {}
    /// A data segment of direction `dir` has its final class. In the order the segments passed,
    /// within one direction; called only where [`SEGMENTS`](Self::SEGMENTS) is true.
    fn segment(&mut self, _dir: Direction, _segment: &ClassifiedSegment) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_tables_are_shown_and_padded() {
        let (dir, class) = (Direction::Reverse, Class::KeepAlive);
        assert_eq!(format!("{dir}|{class:>12}"), "reverse|  keep_alive");
    }
}
