//! How a connection opens and closes: SYN, SYN-ACK, FIN, RST, and what the SYNs agree on.

use crate::decode::{Segment, SynOptions, TcpFlags, Timestamps};
use crate::event::Direction;
use crate::seq::Seq;
use crate::time::CaptureTime;

/// One direction's SYN.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// When its last copy before the answer passed.
    pub at: CaptureTime,
    /// Its sequence number: the ISN.
    pub isn: Seq,
    /// Its options.
    pub options: SynOptions,
    /// Payload that it carried, in bytes (RFC 7413).
    pub payload_len: u16,
    /// Its timestamps option.
    pub timestamps: Option<Timestamps>,
    /// Copies of it that passed.
    pub copies: u32,
    /// It carried ACK: an answer to the peer's SYN.
    pub answer: bool,
    /// ECE and CWR as an ECN setup needs them (RFC 3168 section 6.1.1).
    pub ecn: bool,
}

impl Opening {
    /// Whether a number comes right behind it: alone, or with some or all of its payload (RFC 7413 section
    /// 4.2). That is what its answer acknowledges, and where its sender goes on.
    fn ends_at(&self, number: Seq) -> bool {
        u32::try_from(number.offset_from(self.isn.plus(1)))
            .is_ok_and(|beyond| beyond <= u32::from(self.payload_len))
    }
}

/// How far a connection is on its way to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Closing {
    /// A FIN of the forward and of the reverse direction passed.
    pub fin: [bool; 2],
    /// An RST passed.
    pub reset: bool,
}

impl Closing {
    /// Whether no new data can come: both sides have sent FIN, or one RST.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.reset || (self.fin[0] && self.fin[1])
    }
}

/// What was seen of a connection's opening and closing.
#[derive(Clone, Debug, Default)]
pub struct Handshake {
    openings: [Option<Opening>; 2],
    /// SYN to SYN-ACK, and SYN-ACK to the ACK that completes it.
    answer_ns: Option<i64>,
    confirm_ns: Option<i64>,
    answer_dir: Option<Direction>,
    completed_by: Option<Direction>,
    confirmed: bool,
    closing: Closing,
}

impl Handshake {
    /// The SYN of a direction, where it was seen.
    #[must_use]
    pub fn opening(&self, dir: Direction) -> Option<&Opening> {
        self.openings[dir.index()].as_ref()
    }

    /// How it closes.
    #[must_use]
    pub fn closing(&self) -> Closing {
        self.closing
    }

    /// SYN to SYN-ACK to ACK, in ns, with its halves towards the server and towards the client
    /// (METRICS.md F2). `None` where a part was not seen or could be matched with several copies.
    #[must_use]
    pub fn round_trip_ns(&self) -> Option<(i64, i64, i64)> {
        let (server, client) = (self.answer_ns?, self.confirm_ns?);
        Some((server + client, server, client))
    }

    /// SYN to SYN-ACK, in ns: vantage point - server - vantage point.
    #[must_use]
    pub fn towards_server_ns(&self) -> Option<i64> {
        self.answer_ns
    }

    /// SYN-ACK to ACK, in ns: vantage point - client - vantage point.
    #[must_use]
    pub fn towards_client_ns(&self) -> Option<i64> {
        self.confirm_ns
    }

    /// The half of the path beyond the vantage point on the side of who sends in `dir`.
    pub(super) fn half_ns(&self, dir: Direction) -> Option<i64> {
        let answering = self.answer_dir?;
        if dir == answering {
            self.answer_ns
        } else {
            self.confirm_ns
        }
    }

    /// Whether the segment just taken, of direction `dir`, completed a round trip.
    pub(super) fn took_round_trip(&mut self, dir: Direction) -> bool {
        let done = self.completed_by == Some(dir);
        self.completed_by = None;
        done
    }

    /// Both sides' window shifts, where both announced one; both 0 where both SYNs were seen and
    /// one did not.
    pub(super) fn window_scales(&self) -> Option<[u8; 2]> {
        let [Some(forward), Some(reverse)] = &self.openings else {
            return None;
        };
        match (forward.options.window_scale, reverse.options.window_scale) {
            (Some(forward), Some(reverse)) => Some([forward, reverse]),
            _ => Some([0, 0]),
        }
    }

    /// The MSS that a direction's SYN announced: an upper bound for what its peer sends.
    pub(super) fn mss(&self, dir: Direction) -> Option<u16> {
        self.opening(dir).and_then(|opening| opening.options.mss)
    }

    /// Whether both SYNs allow `option`; `None` where one was not seen.
    #[must_use]
    pub fn agreed(&self, option: impl Fn(&Opening) -> bool) -> Option<bool> {
        let [Some(forward), Some(reverse)] = &self.openings else {
            return None;
        };
        Some(option(forward) && option(reverse))
    }

    /// Whether a segment just taken completed a round trip.
    #[inline]
    pub(super) fn is_pending(&self) -> bool {
        self.completed_by.is_some()
    }

    #[inline]
    pub(super) fn on_segment(&mut self, dir: Direction, segment: &Segment) {
        if !self.confirmed || segment.flags.has(TcpFlags::SYN) {
            self.on_news(dir, segment);
        }
    }

    /// A FIN or RST that its sender can have sent.
    pub(super) fn on_end(&mut self, dir: Direction, flags: TcpFlags) {
        self.closing.fin[dir.index()] |= flags.has(TcpFlags::FIN);
        self.closing.reset |= flags.has(TcpFlags::RST);
    }

    fn on_news(&mut self, dir: Direction, segment: &Segment) {
        let flags = segment.flags;
        if flags.has(TcpFlags::SYN) {
            self.on_syn(dir, segment);
        } else if flags.has(TcpFlags::ACK) && !flags.any(TcpFlags::RST) && !self.confirmed {
            self.on_first_ack(dir, segment);
        }
    }

    fn on_syn(&mut self, dir: Direction, segment: &Segment) {
        let answer = segment.flags.has(TcpFlags::ACK);
        let ecn = if answer {
            segment.flags.any(TcpFlags::ECE)
        } else {
            segment.flags.has(TcpFlags::ECE.with(TcpFlags::CWR))
        };
        let copies = match self.opening(dir) {
            Some(known) if known.isn == segment.seq => known.copies + 1,
            // A late answer of another host, or to another attempt.
            Some(_) if self.confirmed => return,
            _ => 1,
        };
        self.openings[dir.index()] = Some(Opening {
            at: segment.at,
            isn: segment.seq,
            options: segment.syn,
            payload_len: u16::try_from(segment.payload_len).unwrap_or(u16::MAX),
            timestamps: segment.timestamps,
            copies,
            answer,
            ecn,
        });
        if answer
            && self.answer_ns.is_none()
            && let Some(ask) = self.openings[dir.reversed().index()].as_ref()
            && ask.ends_at(segment.ack)
        {
            // Of several SYNs the echo tells which was answered; without it none counts (Karn).
            let known = ask.copies == 1
                || matches!((ask.timestamps, segment.timestamps), (Some(own), Some(answer)) if own.value == answer.echo);
            self.answer_ns = known
                .then(|| segment.at.since(ask.at))
                .filter(|&ns| ns >= 0);
            self.answer_dir = Some(dir);
        }
    }

    fn on_first_ack(&mut self, dir: Direction, segment: &Segment) {
        let Some(answer) = self.openings[dir.reversed().index()]
            .as_ref()
            .filter(|opening| opening.answer)
        else {
            return;
        };
        if !answer.ends_at(segment.ack) {
            return;
        }
        self.confirmed = true;
        let known = answer.copies == 1
            || matches!((answer.timestamps, segment.timestamps), (Some(own), Some(ack)) if own.value == ack.echo);
        // What the client sent first carries its first number; where something higher came before it, that
        // was lost or is late, and when it was sent nobody knows.
        let first = self.opening(dir).is_none_or(|own| own.ends_at(segment.seq));
        let ns = segment.at.since(answer.at);
        if known && first && ns >= 0 {
            self.confirm_ns = Some(ns);
            self.completed_by = Some(dir);
        }
    }
}
