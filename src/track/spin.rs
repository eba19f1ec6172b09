//! The spin bit of QUIC: what it shows on purpose of its round trips (RFC 9000 section 17.4, RFC 9312 section 3.8).

use crate::decode::QuicHeader;
use crate::event::{Direction, FlowSink, RttLabel, RttSample};
use crate::time::CaptureTime;

/// Payload from which on a datagram is no mere ACK, in bytes: whoever gets it has to answer, within 25 ms unless it was
/// agreed otherwise (RFC 9000 section 13.2.1). An ACK, to which nobody owes an answer, takes a hundred, and with all ranges
/// that implementations keep some 300.
const ANSWERED_LEN: u32 = 400;

/// Datagrams of one direction that turn back one after the other until it is believed that the direction did: a few that
/// are late follow each other, too.
const LATE_MAX: u8 = 3;

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
/// Endpoints may leave the bit as it is, and then there is no turn, or choose it by chance for each packet: then half of
/// the datagrams differ from the one before, and half of these turn back out of their turn, as otherwise those that are
/// late alone.
#[derive(Debug, Default)]
pub struct RoundTrips {
    version: Version,
    /// What is believed to be the value of each direction.
    values: [Option<bool>; 2],
    /// Datagrams of each direction that turned back, one after the other.
    late: [u8; 2],
    /// How the latest datagram of each direction began, and how many began like it.
    ids: [([u8; 4], u8); 2],
    /// The latest turn.
    turned: Option<Turn>,
    /// Datagrams with the bit.
    datagrams: u64,
    /// Those of them that turned, and those that turned back.
    turns: u64,
    contrary: u64,
    waiting: Vec<(Turn, CaptureTime)>,
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
}

impl Version {
    /// `None` of a negotiation.
    fn of(version: u32) -> Option<Self> {
        /// Versions 1 and 2 (RFC 9000, 9369).
        const FINAL: [u32; 2] = [1, 0x6b33_43cf];
        // Reserved to find out who does not negotiate (RFC 9000 section 15).
        if version == 0 || version & 0x0f0f_0f0f == 0x0a0a_0a0a {
            return None;
        }
        // Drafts 17 to 34: with the bit where it is now.
        let is_known = FINAL.contains(&version) || (0xff00_0011..=0xff00_0022).contains(&version);
        Some(if is_known {
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
            QuicHeader::Long { version } => {
                // What has been agreed on goes on, whatever else uses the same ports (RFC 9443).
                if self.version != Version::Spinning
                    && let Some(version) = Version::of(version)
                {
                    self.version = version;
                }
                return;
            }
            QuicHeader::Short { fixed, spin, id } => {
                if self.version == Version::Unseen && !fixed {
                    self.version = Version::Other;
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
            self.turned = None;
            return;
        }
        if value.is_none_or(|value| value == spin) {
            return;
        }
        let turn = Turn {
            dir,
            at,
            is_answered: payload_len >= ANSWERED_LEN,
        };
        match self.turned {
            Some(before) if before.dir == dir => {
                self.contrary += 1;
                if late + 1 < LATE_MAX {
                    self.late[dir.index()] = late + 1;
                    self.values[dir.index()] = value;
                } else {
                    // The other side's turn in between was not seen.
                    self.turned = None;
                }
            }
            before => {
                self.turned = Some(turn);
                self.turns += 1;
                // Not where the capture's clock stepped back.
                if let Some(before) = before
                    && at >= before.at
                    && self.waiting.len() < WAITING_MAX
                {
                    self.waiting.push((before, at));
                }
            }
        }
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

    /// Memory that it holds besides itself, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.waiting.capacity() * size_of::<(Turn, CaptureTime)>()
    }
}
