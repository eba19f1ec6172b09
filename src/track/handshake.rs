//! How a connection opens and closes: SYN, SYN-ACK, FIN, RST, and what the SYNs agree on.

mod packed;

pub(crate) use packed::HANDSHAKE_NUMBERS;

use std::num::NonZeroU16;

use thin_vec::ThinVec;

use crate::decode::{Segment, SynOptions, TcpFlags, Timestamps};
use crate::event::Direction;
use crate::seq::Seq;
use crate::time::CaptureTime;

use super::rtt::is_delay;

/// One direction's SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// When its last copy before the answer passed.
    pub at: CaptureTime,
    /// Its sequence number: the ISN.
    pub isn: Seq,
    /// Its options, merged over all copies: a SYN without an answer may be repeated with fewer options (RFC 3168).
    pub options: SynOptions,
    /// Payload that a copy of it carried, in bytes (RFC 7413).
    pub payload_len: u16,
    /// The timestamps option of its last copy that has one.
    pub timestamps: Option<Timestamps>,
    /// Copies of it that its sender made, as far as these can be told from the network's; saturates.
    pub copies: u16,
    /// It carried ACK: an answer to the peer's SYN.
    pub answer: bool,
    /// ECN as any copy of the SYN asks for it, or as the last SYN-ACK answers.
    pub ecn: EcnSetup,
    /// The snap length cut its header: options that are not there may have been.
    pub header_cut: bool,
    /// Its sender gave a copy before it the same `TSval`, or none: an echo cannot tell them apart.
    same_clock: bool,
}

/// How marks of congestion are fed back, as the flags of SYNs set it up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EcnSetup {
    /// Not at all.
    #[default]
    None,
    /// ECE until CWR comes (RFC 3168 section 6.1.1).
    Classic,
    /// AE, CWR and ECE count marks (RFC 9768 section 3.1).
    Accurate,
}

impl EcnSetup {
    /// By the flags of a SYN, or of its `answer`.
    fn of(flags: TcpFlags, answer: bool) -> Self {
        let bits = [TcpFlags::AE, TcpFlags::CWR, TcpFlags::ECE].map(|bit| flags.has(bit));
        match (answer, bits) {
            // The answer says how the SYN itself was marked (RFC 9768 table 2).
            (false, [true, true, true]) | (true, [false, true, _] | [true, _, false]) => {
                Self::Accurate
            }
            (false, [false, true, true]) | (true, [_, false, true]) => Self::Classic,
            _ => Self::None,
        }
    }
}

/// What the first timer of a handshake waits, in ns (RFC 6298 section 2.1).
const TIMER_NS: i64 = 1_000_000_000;

/// What a client sends before it hears more than the SYN-ACK: its SYN and a first flight, in bytes (RFC 6928 section 2).
const FLIGHT_BYTES: i32 = 14_601;

/// Copies that come sooner than this were made by the network or a mirror port: no sender's timer is that quick.
pub(super) const NETWORK_COPY_NS: i64 = 100_000_000;

/// SYN-ACKs with other numbers that are remembered: as many as servers behind a balancer may answer before the client
/// does.
const PASSED_OVER_MAX: usize = 8;

impl Opening {
    /// Whether a number comes right behind it: alone, or with some or all of its payload (RFC 7413 section
    /// 4.2). That is what its answer acknowledges, and where its sender goes on.
    fn ends_at(&self, number: Seq) -> bool {
        u32::try_from(number.offset_from(self.isn.plus(1)))
            .is_ok_and(|beyond| beyond <= u32::from(self.payload_len))
    }

    /// Whether its last copy is what a segment with these timestamps answers. Of several the echo tells; without it
    /// none counts (Karn), nor does an earlier one that is echoed: who had that already echoes it in the answer to the
    /// last one, too.
    fn is_answered_by(&self, answer: Option<Timestamps>) -> bool {
        let echoed = match (self.timestamps, answer) {
            (Some(own), Some(answer)) => own.value == answer.echo,
            _ => false,
        };
        self.copies == 1 || echoed && !self.same_clock
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

/// What was seen of the answer to the SYN-ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Confirmation {
    /// Nothing.
    #[default]
    None,
    /// Something that its sender sent later.
    Overtaken,
    /// The answer, or nobody waits for it any more.
    Done,
}

/// What was seen of a connection's opening and closing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Handshake {
    openings: [Option<Opening>; 2],
    /// SYN to SYN-ACK, and SYN-ACK to the ACK that completes it.
    answer_ns: Option<i64>,
    confirm_ns: Option<i64>,
    answer_dir: Option<Direction>,
    completed_by: Option<Direction>,
    confirmation: Confirmation,
    closing: Closing,
    /// SYN-ACKs before the last one, with other numbers: which of them the client takes its ACK tells.
    passed_over: ThinVec<Opening>,
    /// Lower half of the IP id of the last SYN of each direction, 0 without one: another one is its sender's repeat.
    /// Where room was left.
    syn_ids: [u8; 2],
}

impl Handshake {
    /// The SYN of a direction, where it was seen.
    #[must_use]
    pub fn opening(&self, dir: Direction) -> Option<&Opening> {
        self.openings[dir.index()].as_ref()
    }

    /// One of which no SYN was seen, with the times that its halves took, in ns.
    pub(super) fn that_took(answer_ns: Option<i64>, confirm_ns: Option<i64>) -> Self {
        Self {
            answer_ns,
            confirm_ns,
            ..Self::default()
        }
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
        Some((server.saturating_add(client), server, client))
    }

    /// Whether a part of it that took so long was ended by a timer's repeat, and says nothing of the path: it did if
    /// something was repeated, else the path may be as long.
    pub(super) fn may_be_timers(&self, ns: i64) -> bool {
        ns >= TIMER_NS && self.openings.iter().flatten().any(|own| own.copies > 1)
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
    /// one did not. `None` where that may have been cut off.
    pub(super) fn window_scales(&self) -> Option<[u8; 2]> {
        let [Some(forward), Some(reverse)] = &self.openings else {
            return None;
        };
        let scales = (forward.options.window_scale, reverse.options.window_scale);
        if let (Some(forward), Some(reverse)) = scales {
            return Some([forward, reverse]);
        }
        let agreed = self.agreed(|opening| opening.options.window_scale.is_some());
        (agreed == Some(false)).then_some([0, 0])
    }

    /// The MSS that a direction's SYN announced: an upper bound for what its peer sends.
    pub(super) fn mss(&self, dir: Direction) -> Option<u16> {
        self.opening(dir)
            .and_then(|opening| opening.options.mss)
            .map(NonZeroU16::get)
    }

    /// Whether both SYNs have `option`; `None` where one was not seen, or where it may have been cut off.
    #[must_use]
    pub fn agreed(&self, option: impl Fn(&Opening) -> bool) -> Option<bool> {
        let [Some(forward), Some(reverse)] = &self.openings else {
            return None;
        };
        let both = [forward, reverse];
        if both.iter().any(|of| !option(of) && !of.header_cut) {
            return Some(false);
        }
        both.iter().all(|of| option(of)).then_some(true)
    }

    /// What both SYNs set up; `None` where one was not seen.
    #[must_use]
    pub fn ecn(&self) -> Option<EcnSetup> {
        let [Some(forward), Some(reverse)] = &self.openings else {
            return None;
        };
        let (ask, answer) = if forward.answer {
            (reverse.ecn, forward.ecn)
        } else {
            (forward.ecn, reverse.ecn)
        };
        Some(match (ask, answer) {
            (EcnSetup::Accurate, EcnSetup::Accurate) => EcnSetup::Accurate,
            // A server that knows only that answers so.
            (EcnSetup::Accurate | EcnSetup::Classic, EcnSetup::Classic) => EcnSetup::Classic,
            _ => EcnSetup::None,
        })
    }

    fn is_confirmed(&self) -> bool {
        self.confirmation == Confirmation::Done
    }

    /// Whether a segment of this direction may confirm a SYN that was seen, as an ACK does.
    #[inline]
    pub(super) fn awaits(&self, dir: Direction) -> bool {
        !self.is_confirmed() && self.openings[dir.reversed().index()].is_some()
    }

    /// A segment passed: whether it tells that another SYN-ACK than the last one is the connection's.
    #[inline]
    pub(super) fn on_segment(&mut self, dir: Direction, segment: &Segment) -> bool {
        (self.awaits(dir) || segment.flags.has(TcpFlags::SYN)) && self.on_news(dir, segment)
    }

    /// A FIN or RST that its sender can have sent.
    pub(super) fn on_end(&mut self, dir: Direction, flags: TcpFlags) {
        self.closing.fin[dir.index()] |= flags.has(TcpFlags::FIN);
        self.closing.reset |= flags.has(TcpFlags::RST);
    }

    fn on_news(&mut self, dir: Direction, segment: &Segment) -> bool {
        let flags = segment.flags;
        let may_choose =
            !(self.passed_over.is_empty() || flags.any(TcpFlags::SYN.with(TcpFlags::RST)));
        let chooses = may_choose && self.chooses(dir, segment);
        if flags.has(TcpFlags::SYN) {
            self.on_syn(dir, segment);
        } else if flags.has(TcpFlags::ACK) && !flags.any(TcpFlags::RST) && !self.is_confirmed() {
            self.on_first_ack(dir, segment);
        }
        chooses
    }

    /// Several SYN-ACKs with numbers of their own have passed: the client takes the first that comes to it (RFC 9293 section
    /// 3.10.7.3) and acknowledges that one, behind which the server goes on. Whether it is not the last.
    #[cold]
    fn chooses(&mut self, dir: Direction, segment: &Segment) -> bool {
        let ack = segment.flags.has(TcpFlags::ACK).then_some(segment.ack);
        for (side, number) in [(dir.reversed(), ack), (dir, Some(segment.seq))] {
            let taken = self.openings[side.index()].as_mut();
            if let (Some(taken), Some(number)) = (taken, number)
                && taken.answer
                && !taken.ends_at(number)
                && let Some(chosen) = self.passed_over.iter_mut().find(|of| of.ends_at(number))
            {
                std::mem::swap(taken, chosen);
                self.answer_ns = self.took_to_answer(side);
                return true;
            }
        }
        false
    }

    // Within the other it would have each ACK save registers for it.
    #[cold]
    #[inline(never)]
    fn on_syn(&mut self, dir: Direction, segment: &Segment) {
        let answer = segment.flags.has(TcpFlags::ACK);
        let clock = |timestamps: Option<Timestamps>| timestamps.map(|own| own.value);
        let ecn = EcnSetup::of(segment.flags, answer);
        let (mut options, mut timestamps) = (segment.syn, segment.timestamps);
        let mut header_cut = segment.header_cut;
        let mut payload_len = u16::try_from(segment.payload_len).unwrap_or(u16::MAX);
        let mut at = segment.at;
        let id = segment.ip_id.unwrap_or(0) as u8;
        let (copies, same_clock, ecn) = match self.opening(dir) {
            Some(known) if known.isn == segment.seq => {
                // Who gets no answer repeats its SYN without the flags (RFC 3168 section 6.1.1.1), and goes by
                // the answer all the same: that of the first copy may just have been late.
                let ecn = if answer { ecn } else { ecn.max(known.ecn) };
                // The same goes for options: an answer has none that the copy did not have that it answers
                // (RFC 7323 sections 2.2 and 3.2, RFC 2018 section 2).
                options = options.or(known.options);
                timestamps = timestamps.or(known.timestamps);
                header_cut &= known.header_cut;
                payload_len = payload_len.max(known.payload_len);
                let alike = clock(known.timestamps) == clock(timestamps);
                let by_sender =
                    segment.at.since(known.at) > NETWORK_COPY_NS || id != self.syn_ids[dir.index()];
                let same_clock =
                    alike && (by_sender || known.same_clock || segment.timestamps.is_none());
                // What the network copied is one packet, that of the first copy, as data and its ACKs are (X5).
                let own = u16::from(by_sender || !alike);
                if answer && !known.answer {
                    // A SYN that crossed the other side's is no copy of the SYN-ACK that answers that (RFC 9293
                    // section 3.5).
                    (1, false, ecn)
                } else {
                    if own == 0 {
                        at = known.at;
                    }
                    (known.copies.saturating_add(own), same_clock, ecn)
                }
            }
            // A late answer of another host, or to another attempt.
            Some(_) if self.is_confirmed() => return,
            Some(known) if known.answer && answer => {
                if self.passed_over.len() < PASSED_OVER_MAX {
                    self.passed_over.push(*known);
                }
                self.answer_ns = None;
                (1, false, ecn)
            }
            _ => (1, false, ecn),
        };
        self.syn_ids[dir.index()] = id;
        self.openings[dir.index()] = Some(Opening {
            at,
            isn: segment.seq,
            options,
            payload_len,
            timestamps,
            copies,
            answer,
            ecn,
            header_cut,
            same_clock,
        });
        if answer
            && self.answer_ns.is_none()
            && let Some(ask) = self.openings[dir.reversed().index()].as_ref()
            && ask.ends_at(segment.ack)
        {
            self.answer_ns = self.took_to_answer(dir);
            self.answer_dir = Some(dir);
        }
    }

    /// What the SYN-ACK of `dir` took, in ns; `None` where it is not known which copy of the SYN it answers.
    fn took_to_answer(&self, dir: Direction) -> Option<i64> {
        let (answer, ask) = (self.opening(dir)?, self.opening(dir.reversed())?);
        let took_ns = answer.at.since(ask.at);
        (ask.is_answered_by(answer.timestamps) && is_delay(took_ns)).then_some(took_ns)
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
        let known = answer.is_answered_by(segment.timestamps);
        // What the client sent first carries its first number; where something higher came before it, that
        // was lost or is late: when it was sent is known only of what has no payload, as that comes before all else.
        let own = self.opening(dir);
        let first = own.is_none_or(|own| own.ends_at(segment.seq));
        let ahead = own.map_or(0, |own| segment.seq.offset_from(own.isn));
        // Where both opened at once, both answer (RFC 9293 section 3.5), and the first answer is the half that is measured.
        let have_both_answered = own.is_some_and(|own| own.answer);
        let may_be_late = (1..=FLIGHT_BYTES).contains(&ahead);
        let is_overtaken = self.confirmation == Confirmation::Overtaken;
        if may_be_late && !(first && (segment.payload_len == 0 || !is_overtaken)) {
            self.confirmation = Confirmation::Overtaken;
            return;
        }
        self.confirmation = Confirmation::Done;
        self.passed_over = ThinVec::new();
        let ns = segment.at.since(answer.at);
        if known && first && !have_both_answered && is_delay(ns) {
            self.confirm_ns = Some(ns);
            self.completed_by = Some(dir);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Endpoint;

    /// A SYN of `dir` with a window scale, which the snap length may have cut off.
    fn syn(dir: Direction, window_scale: Option<u8>, header_cut: bool) -> Segment {
        let ends = [
            Endpoint::v4([10, 0, 0, 1], 1),
            Endpoint::v4([10, 0, 0, 2], 2),
        ];
        let mut segment = Segment::empty(ends[dir.index()], ends[dir.reversed().index()]);
        segment.flags = match dir {
            Direction::Forward => TcpFlags::SYN,
            Direction::Reverse => TcpFlags::SYN.with(TcpFlags::ACK),
        };
        segment.syn.window_scale = window_scale;
        segment.header_cut = header_cut;
        segment
    }

    #[test]
    fn an_option_that_was_cut_off_is_unknown_unless_the_other_side_lacks_it() {
        let scales = |forward: (Option<u8>, bool), reverse: (Option<u8>, bool)| {
            let mut handshake = Handshake::default();
            handshake.on_segment(
                Direction::Forward,
                &syn(Direction::Forward, forward.0, forward.1),
            );
            handshake.on_segment(
                Direction::Reverse,
                &syn(Direction::Reverse, reverse.0, reverse.1),
            );
            let agreed = handshake.agreed(|of| of.options.window_scale.is_some());
            (handshake.window_scales(), agreed)
        };
        let (seven, none, cut) = ((Some(7), false), (None, false), (None, true));
        assert_eq!(scales(seven, seven), (Some([7, 7]), Some(true)));
        assert_eq!(scales(seven, none), (Some([0, 0]), Some(false)));
        assert_eq!(scales(cut, none), (Some([0, 0]), Some(false)));
        assert_eq!(scales(seven, cut), (None, None));
        assert_eq!(scales(cut, cut), (None, None));
        // Something behind it was cut off.
        assert_eq!(scales((Some(7), true), seven), (Some([7, 7]), Some(true)));
    }

    #[test]
    fn of_a_flood_of_answers_few_are_remembered() {
        let mut handshake = Handshake::default();
        handshake.on_segment(Direction::Forward, &syn(Direction::Forward, None, false));
        for number in 0..1000 {
            let mut answer = syn(Direction::Reverse, None, false);
            answer.seq = Seq(number * 1000);
            handshake.on_segment(Direction::Reverse, &answer);
        }
        assert_eq!(handshake.passed_over.len(), PASSED_OVER_MAX);
    }

    #[test]
    fn the_flags_of_both_syns_set_ecn_up() {
        let ecn = |asked: TcpFlags, answered: TcpFlags| {
            let mut handshake = Handshake::default();
            let mut ask = syn(Direction::Forward, None, false);
            ask.flags = ask.flags.with(asked);
            let mut answer = syn(Direction::Reverse, None, false);
            answer.flags = answer.flags.with(answered);
            handshake.on_segment(Direction::Forward, &ask);
            handshake.on_segment(Direction::Reverse, &answer);
            handshake.ecn().unwrap()
        };
        let (ae, cwr, ece) = (TcpFlags::AE, TcpFlags::CWR, TcpFlags::ECE);
        let none = TcpFlags::default();
        let classic = cwr.with(ece);
        assert_eq!(ecn(classic, ece), EcnSetup::Classic);
        // A server that gives back what it does not know (RFC 3168 section 6.1.1).
        assert_eq!(ecn(classic, classic), EcnSetup::None);
        assert_eq!(ecn(classic, none), EcnSetup::None);
        assert_eq!(ecn(none, ece), EcnSetup::None);
        // RFC 9768 table 2: the SYN came without a mark, as ECT(1), ECT(0) and CE.
        let accurate = classic.with(ae);
        for answer in [cwr, cwr.with(ece), ae, ae.with(cwr)] {
            assert_eq!(ecn(accurate, answer), EcnSetup::Accurate);
            assert_eq!(ecn(classic, answer), EcnSetup::None);
        }
        // An older server, one with the nonce of RFC 3540, one that gives all back, and one without.
        assert_eq!(ecn(accurate, ece), EcnSetup::Classic);
        assert_eq!(ecn(accurate, ece.with(ae)), EcnSetup::Classic);
        assert_eq!(ecn(accurate, accurate), EcnSetup::None);
        assert_eq!(ecn(accurate, none), EcnSetup::None);
    }

    #[test]
    fn a_syn_repeated_without_ecn_leaves_it_to_the_answer() {
        let classic = TcpFlags::CWR.with(TcpFlags::ECE);
        let none = TcpFlags::default();
        for (answered, agreed) in [
            // What the first copy asked for: it had arrived.
            (TcpFlags::ECE, EcnSetup::Classic),
            (none, EcnSetup::None),
        ] {
            let mut handshake = Handshake::default();
            for asked in [classic, none] {
                let mut ask = syn(Direction::Forward, None, false);
                ask.flags = ask.flags.with(asked);
                handshake.on_segment(Direction::Forward, &ask);
            }
            let mut answer = syn(Direction::Reverse, None, false);
            answer.flags = answer.flags.with(answered);
            handshake.on_segment(Direction::Reverse, &answer);
            assert_eq!(handshake.ecn(), Some(agreed));
        }
    }

    #[test]
    fn a_syn_repeated_without_options_leaves_them_to_the_answer() {
        // METRICS.md H1. The answer to the first copy comes behind the second one; a third one comes late.
        let agreed = |answered: Option<u8>| {
            let mut handshake = Handshake::default();
            let clock = Some(Timestamps { value: 1, echo: 0 });
            let mut first = syn(Direction::Forward, Some(5), false);
            (first.timestamps, first.syn.sack_permitted) = (clock, true);
            let mut answer = syn(Direction::Reverse, answered, false);
            answer.timestamps = clock.filter(|_| answered.is_some());
            answer.syn.sack_permitted = answered.is_some();
            let bare = syn(Direction::Forward, None, false);
            handshake.on_segment(Direction::Forward, &first);
            handshake.on_segment(Direction::Forward, &bare);
            handshake.on_segment(Direction::Reverse, &answer);
            handshake.on_segment(Direction::Forward, &bare);
            let sack = handshake.agreed(|of| of.options.sack_permitted);
            let clocks = handshake.agreed(|of| of.timestamps.is_some());
            (handshake.window_scales(), sack, clocks)
        };
        assert_eq!(agreed(Some(7)), (Some([5, 7]), Some(true), Some(true)));
        // It was the second copy that arrived.
        assert_eq!(agreed(None), (Some([0, 0]), Some(false), Some(false)));
    }

    #[test]
    fn payload_of_a_syn_repeated_without_it_may_be_acknowledged() {
        // METRICS.md F2. The repeat of the SYN is bare (RFC 7413 section 4.1.3), the answer is that to its first copy.
        let mut handshake = Handshake::default();
        let mut ask = syn(Direction::Forward, None, false);
        ask.payload_len = 500;
        handshake.on_segment(Direction::Forward, &ask);
        ask.payload_len = 0;
        ask.at = CaptureTime::from_ns(1_000_000_000);
        handshake.on_segment(Direction::Forward, &ask);
        let mut answer = syn(Direction::Reverse, None, false);
        (answer.at, answer.ack) = (CaptureTime::from_ns(1_100_000_000), Seq(501));
        handshake.on_segment(Direction::Reverse, &answer);
        let mut last = ask;
        (last.flags, last.at) = (TcpFlags::ACK, CaptureTime::from_ns(1_110_000_000));
        (last.seq, last.ack) = (Seq(501), Seq(1));
        handshake.on_segment(Direction::Forward, &last);
        // Which copy was answered is not known.
        assert_eq!(handshake.towards_server_ns(), None);
        assert_eq!(handshake.towards_client_ns(), Some(10_000_000));
    }
}
