//! How a connection of QUIC opens: a round trip as that of SYN, SYN-ACK and ACK (RFC 9312 section 3.8.1).

use super::rtt::is_delay;
use super::{Connection, Handshake};
use crate::decode::QuicPackets;
use crate::event::Direction;
use crate::time::CaptureTime;

/// Datagrams of one flight follow each other sooner than this; a timer's repeat comes later: without an answer the first
/// timer waits for a second, where more is known of the path for three round trips (RFC 9002 section 6.2.2).
const FLIGHT_NS: i64 = 25_000_000;

/// What was seen of the beginning of a connection, and the times that it took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct QuicHandshake {
    stage: Stage,
    /// From the client's Initial to the server's answer, in ns.
    answer_ns: Option<i64>,
    /// From the server's first Handshake packet to the client's, in ns.
    confirm_ns: Option<i64>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Stage {
    /// Nothing has passed.
    #[default]
    New,
    /// Initials of the client, which sends in this direction.
    Asked(Direction, Flight),
    /// The server has answered, as by a Retry, an ACK or another list of versions.
    Answered(Direction),
    /// It has sent Handshake packets.
    Greeted(Direction, Flight),
    /// What comes tells nothing more.
    Over,
}

/// Datagrams of one side before the other answers.
#[derive(Clone, Copy, Debug)]
struct Flight {
    first: CaptureTime,
    last: CaptureTime,
    /// Some came so much later that they may be a timer's repeat: which of them is answered is not known.
    is_repeated: bool,
}

impl Flight {
    fn begin(at: CaptureTime) -> Self {
        Self {
            first: at,
            last: at,
            is_repeated: false,
        }
    }

    fn add(&mut self, at: CaptureTime) {
        self.is_repeated |= at.since(self.last) >= FLIGHT_NS;
        self.last = at;
    }

    /// How long the answer took that passes now.
    fn answered_after_ns(&self, at: CaptureTime) -> Option<i64> {
        let took_ns = at.since(self.first);
        (!self.is_repeated && is_delay(took_ns)).then_some(took_ns)
    }
}

impl Connection {
    /// One that opened like this, and of which nothing else is known.
    pub(crate) fn opened(handshake: Handshake) -> Self {
        Self {
            handshake,
            ..Self::new()
        }
    }
}

impl Stage {
    /// The direction of the client, where anything was seen of it and more can be.
    fn client(self) -> Option<Direction> {
        match self {
            Self::Asked(client, _) | Self::Answered(client) | Self::Greeted(client, _) => {
                Some(client)
            }
            Self::New | Self::Over => None,
        }
    }
}

impl QuicHandshake {
    /// A datagram passed that begins with a long header, of this version, and holds these packets.
    pub(super) fn pass_long(
        &mut self,
        dir: Direction,
        at: CaptureTime,
        version: u32,
        packets: QuicPackets,
    ) {
        self.stage = match self.stage {
            // Who asks with a version that nobody knows is told others.
            Stage::New if packets == QuicPackets::default() => Stage::New,
            Stage::New
                if packets.has(QuicPackets::INITIAL) && !packets.has(QuicPackets::HANDSHAKE) =>
            {
                Stage::Asked(dir, Flight::begin(at))
            }
            Stage::New | Stage::Over => Stage::Over,
            stage if stage.client() == Some(dir) => self.by_client(stage, at, packets),
            stage => self.by_server(stage, at, version, packets),
        };
    }

    /// Where a datagram of the client leads to.
    fn by_client(&mut self, stage: Stage, at: CaptureTime, packets: QuicPackets) -> Stage {
        let is_handshake = packets.has(QuicPackets::HANDSHAKE);
        match stage {
            Stage::Greeted(_, flight) if is_handshake => {
                self.confirm_ns = flight.answered_after_ns(at);
                Stage::Over
            }
            // Handshake packets come from the server first: this is not the client, or the server's were not captured.
            _ if is_handshake => {
                self.answer_ns = None;
                Stage::Over
            }
            Stage::Greeted(..) if packets.has(QuicPackets::CUT) => Stage::Over,
            Stage::Asked(client, mut flight) if packets.has(QuicPackets::INITIAL) => {
                flight.add(at);
                Stage::Asked(client, flight)
            }
            stage => stage,
        }
    }

    /// Where a datagram of the server leads to.
    fn by_server(
        &mut self,
        stage: Stage,
        at: CaptureTime,
        version: u32,
        packets: QuicPackets,
    ) -> Stage {
        const ANSWERS: QuicPackets = QuicPackets::INITIAL
            .and(QuicPackets::HANDSHAKE)
            .and(QuicPackets::RETRY);
        match stage {
            Stage::Asked(client, flight) if version == 0 || packets.has(ANSWERS) => {
                self.answer_ns = flight.answered_after_ns(at);
                Self::answered(client, at, packets)
            }
            Stage::Answered(client) => Self::answered(client, at, packets),
            // A repeat of its Initial alone tells as much: without that nobody reads what is behind it.
            Stage::Greeted(client, mut flight) => {
                flight.add(at);
                Stage::Greeted(client, flight)
            }
            stage => stage,
        }
    }

    /// The same once the server has answered.
    fn answered(client: Direction, at: CaptureTime, packets: QuicPackets) -> Stage {
        if packets.has(QuicPackets::HANDSHAKE) {
            Stage::Greeted(client, Flight::begin(at))
        } else if packets.has(QuicPackets::CUT) {
            // Whether there is one was not captured.
            Stage::Over
        } else {
            Stage::Answered(client)
        }
    }

    /// A datagram passed that begins with a short header: a client has none before its Handshake packets.
    pub(super) fn pass_short(&mut self, dir: Direction) {
        if self.stage.client().is_none_or(|client| client == dir) {
            self.stage = Stage::Over;
        }
    }

    /// What it took; `None` where nothing of it is known.
    pub(super) fn times(&self) -> Option<Handshake> {
        let is_known = self.answer_ns.is_some() || self.confirm_ns.is_some();
        is_known.then(|| Handshake::that_took(self.answer_ns, self.confirm_ns))
    }
}
