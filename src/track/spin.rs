//! The spin bit of QUIC: what it shows on purpose of its round trips (RFC 9000 section 17.4, RFC 9312 section 3.8).

use super::Handshake;
use super::quic_handshake::QuicHandshake;
use crate::decode::QuicHeader;
use crate::event::{Direction, FlowSink, RttLabel, RttSample};
use crate::time::CaptureTime;

/// Payload from which on a datagram is no mere ACK, in bytes: whoever gets it has to answer, within 25 ms unless it was
/// agreed otherwise (RFC 9000 section 13.2.1). An ACK, to which nobody owes an answer, takes a hundred, and with all ranges
/// that implementations keep some 300.
const ANSWERED_LEN: u32 = 400;

/// Datagrams of one direction out of their turn, one after the other, from which on nothing is believed of before.
const LATE_MAX: u8 = 3;

/// A direction turns once a round trip: not sooner than this part of the last one, or a late datagram looks like it.
const SOONER: i64 = 4;

/// Turns by which it is believed who is the client, and how many are counted.
const ROLES_MIN: i8 = 2;
const ROLES_MAX: i8 = 8;

/// Datagrams that have to fit before any round trip counts, as many more for each that did not, and for each turn, which
/// chance brings about with every other one; of the latter so many in all, as few may pass in a round trip.
const FITTING_MIN: u64 = 32;
const FITTING_FOR_CONTRARY: u64 = 8;
const FITTING_FOR_TURN: u64 = 2;
const FITTING_FOR_TURNS_MAX: u64 = 64;

/// Datagrams of one direction that begin with the same connection ID until one with another has changed it: where there is
/// none, what is there is encrypted, and another one each time.
const SAME_ID_MIN: u8 = 8;

/// Round trips that wait until enough fits.
const WAITING_MAX: usize = 64;

/// The round trips of a conversation that may be QUIC's.
///
/// The client sends the opposite of the value that came last, the server the same, so that values turn once a round trip,
/// the client's and the server's in their turns. From a turn of one side to that of the other it takes one round trip
/// between here and the latter: the first echo of what the former sent (METRICS.md R4), and where that had to be answered
/// an RTT sample of it (METRICS.md R1).
///
/// A datagram that is late has the value from before. It is told by that the side that turned last cannot turn again, nor so
/// soon as the other side may, where that is near, nor to a value as after turns of the other side; and by those that follow,
/// which have the new value again: a round trip counts when the next one of its side, or a turn of the other, confirms it.
///
/// Endpoints may leave the bit as it is, and then there is no turn, or choose it by chance for each packet: then half of
/// the datagrams differ from the one before, and half of these are out of their turn, as otherwise those that are late
/// alone.
#[derive(Clone, Debug, Default)]
pub struct RoundTrips {
    handshake: QuicHandshake,
    version: Version,
    /// What is believed to be the value of each direction.
    values: [Option<bool>; 2],
    /// Datagrams of each direction that came out of their turn, one after the other.
    late: [u8; 2],
    /// How the latest datagram of each direction began, and how many began like it.
    ids: [([u8; 4], u8); 2],
    /// The latest turn.
    turned: Option<Turn>,
    /// The one that it answers, as long as no other datagram confirms it.
    answered: Option<Turn>,
    rhythm: Rhythm,
    /// Turns after which values were as they are where the forward side is the client, less those after which they were as
    /// where the other one is: the client makes them differ, the server the same.
    roles: i8,
    /// It was not seen whose turn it is.
    is_lost: bool,
    /// Datagrams with the bit.
    datagrams: u64,
    /// Those of them that turned, and those that came out of their turn.
    turns: u64,
    contrary: u64,
    waiting: Vec<(Turn, CaptureTime)>,
}

/// How often directions turn.
#[derive(Clone, Copy, Debug, Default)]
struct Rhythm {
    /// When each did last.
    turned_at: [Option<CaptureTime>; 2],
    /// How long the last full round trip took, of either.
    period_ns: Option<i64>,
}

/// What is known of who speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Version {
    /// No handshake was seen: QUIC, as long as all that passes could be.
    #[default]
    Unseen,
    /// Of QUIC, with a spin bit.
    Spinning,
    /// Of something else, or of a version that is not known.
    Other,
}

/// A value that was another than those of its direction before.
#[derive(Clone, Copy, Debug)]
struct Turn {
    dir: Direction,
    at: CaptureTime,
    /// Its datagram has to be answered.
    is_answered: bool,
    /// Nothing speaks against it: neither what came before, nor what came out of its turn since.
    is_sure: bool,
}

impl Rhythm {
    /// Whether a direction turned too short a time before `at` to do so again.
    fn is_too_soon(&self, dir: Direction, at: CaptureTime) -> bool {
        let since = self.turned_at[dir.index()].zip(self.period_ns);
        since.is_some_and(|(last, period_ns)| at.since(last) < period_ns / SOONER)
    }

    fn turn(&mut self, dir: Direction, at: CaptureTime) {
        if let Some(last) = self.turned_at[dir.index()].replace(at) {
            self.period_ns = Some(at.since(last));
        }
    }
}

impl Version {
    /// `None` of a negotiation.
    fn of(version: u32) -> Option<Self> {
        // Reserved to find out who does not negotiate (RFC 9000 section 15).
        if version == 0 || version & 0x0f0f_0f0f == 0x0a0a_0a0a {
            return None;
        }
        Some(if QuicHeader::is_as_of_version_1(version) {
            Self::Spinning
        } else {
            Self::Other
        })
    }
}

impl RoundTrips {
    /// The next datagram of the conversation passed, with so much payload, which begins with `header`.
    pub fn pass(&mut self, dir: Direction, at: CaptureTime, payload_len: u32, header: QuicHeader) {
        let (spin, id) = match header {
            QuicHeader::Long { version, packets } => {
                self.handshake.pass_long(dir, at, version, packets);
                // What has been agreed on goes on, whatever else uses the same ports (RFC 9443).
                if self.version != Version::Spinning
                    && let Some(version) = Version::of(version)
                {
                    self.version = version;
                }
                return;
            }
            QuicHeader::Short { fixed, spin, id } => {
                self.handshake.pass_short(dir);
                if !fixed {
                    // Of QUIC that hides it (RFC 9287), or of what else uses the same ports.
                    if self.version == Version::Unseen {
                        self.version = Version::Other;
                    }
                    return;
                }
                (spin, id)
            }
        };
        if self.version == Version::Other {
            return;
        }
        self.datagrams += 1;
        let value = self.values[dir.index()].replace(spin);
        let late = std::mem::take(&mut self.late[dir.index()]);
        if self.has_changed_id(dir, id) {
            // It begins with 0 again, whatever came (RFC 9000 section 17.4).
            self.lose();
        } else if value.is_none_or(|value| value == spin) {
            if self.turned.is_some_and(|turned| turned.dir == dir) {
                self.confirm();
            }
        } else if self.is_out_of_turn(dir, at) || !self.fits_roles(dir, spin) {
            self.contrary += 1;
            if let Some(turned) = self.turned.as_mut().filter(|turned| turned.dir == dir) {
                // The other side's turn in between may not have been seen.
                turned.is_sure = false;
            }
            if late + 1 < LATE_MAX {
                self.late[dir.index()] = late + 1;
                self.values[dir.index()] = value;
            } else {
                self.lose();
            }
        } else {
            self.turn(dir, at, payload_len >= ANSWERED_LEN);
        }
    }

    fn is_out_of_turn(&self, dir: Direction, at: CaptureTime) -> bool {
        let has_turned = self.turned.is_some_and(|turned| turned.dir == dir);
        has_turned || self.rhythm.is_too_soon(dir, at)
    }

    /// Whether values are then as after other turns of this direction.
    fn fits_roles(&mut self, dir: Direction, spin: bool) -> bool {
        let Some(other) = self.values[dir.reversed().index()] else {
            return true;
        };
        let is_of_client = spin != other;
        let forward = if is_of_client == (dir == Direction::Forward) {
            1
        } else {
            -1
        };
        let before = self.roles;
        self.roles = (before + forward).clamp(-ROLES_MAX, ROLES_MAX);
        before * forward > -ROLES_MIN
    }

    fn turn(&mut self, dir: Direction, at: CaptureTime, is_answered: bool) {
        // The other side's, which this one answers.
        self.confirm();
        self.answered = self.turned.replace(Turn {
            dir,
            at,
            is_answered,
            is_sure: !std::mem::take(&mut self.is_lost),
        });
        self.rhythm.turn(dir, at);
        self.turns += 1;
    }

    /// The latest turn was one: what it answers took a round trip.
    fn confirm(&mut self) {
        let (Some(before), Some(turned)) = (self.answered.take(), self.turned) else {
            return;
        };
        // Not where the capture's clock stepped back.
        if before.is_sure && turned.at >= before.at && self.waiting.len() < WAITING_MAX {
            self.waiting.push((before, turned.at));
        }
    }

    /// Nothing is known of whose turn it is, nor how long a round trip takes.
    fn lose(&mut self) {
        self.turned = None;
        self.answered = None;
        self.rhythm = Rhythm::default();
        self.is_lost = true;
    }

    /// Whether a direction uses another connection ID from now on.
    fn has_changed_id(&mut self, dir: Direction, id: [u8; 4]) -> bool {
        let (before, same) = &mut self.ids[dir.index()];
        if std::mem::replace(before, id) == id {
            *same = same.saturating_add(1);
            return false;
        }
        std::mem::replace(same, 1) >= SAME_ID_MIN
    }

    /// Tells of the round trips since it was asked last, if what passed so far shows that they are some.
    pub fn tell(&mut self, sink: &mut impl FlowSink) {
        let for_turns = (FITTING_FOR_TURN * self.turns).min(FITTING_FOR_TURNS_MAX);
        if self.datagrams < FITTING_MIN + FITTING_FOR_CONTRARY * self.contrary + for_turns {
            return;
        }
        for (turn, at) in self.waiting.drain(..) {
            let rtt_ns = at.since(turn.at);
            sink.timestamp_rtt(turn.dir, at, rtt_ns);
            if turn.is_answered {
                let sample = RttSample {
                    at,
                    sent_at: turn.at,
                    rtt_ns,
                    exact: false,
                    label: RttLabel::Clean,
                };
                sink.rtt(turn.dir, &sample);
            }
        }
    }

    /// How the connection opened, as far as it was seen (METRICS.md F2).
    #[must_use]
    pub fn handshake(&self) -> Option<Handshake> {
        self.handshake.times()
    }

    /// Memory that it holds besides itself, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.waiting.capacity() * size_of::<(Turn, CaptureTime)>()
    }
}
