//! What a trace file says.

use super::sender::Plan;

/// An end host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    A,
    B,
}

impl Host {
    pub(crate) const fn index(self) -> usize {
        self as usize
    }

    pub(crate) const fn peer(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// Where captures are taken, by position on the path: at A, between, at B.
pub(crate) const VANTAGES: [&str; 3] = ["sender", "middle", "receiver"];

/// How hosts number their IP packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ids {
    /// IPv4, up by one a packet.
    Counting,
    /// IPv4, up by one a packet of the host, and a third of them belong to other connections.
    Shared,
    /// IPv4, always 0.
    Zero,
    /// IPv4, without order.
    Random,
    /// IPv6 has none.
    Absent,
}

/// Which part of the path, as seen from the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leg {
    /// From its host to the middle.
    Up,
    /// From the middle to the other host.
    Down,
}

/// What becomes of a packet on one leg.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Lost,
    /// Arrives so many ns later than usual.
    Late(i64),
    /// Waits until this instant, if it would have been on its way earlier.
    Held(i64),
    /// A copy made by the network follows so many ns later.
    Twice(i64),
    /// Marked congestion experienced.
    Ce,
}

/// A fate of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fated {
    pub(crate) leg: Leg,
    pub(crate) fate: Fate,
}

/// A fate of everything that a host emits during some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spell {
    pub(crate) host: Host,
    pub(crate) from_ns: i64,
    pub(crate) until_ns: i64,
    pub(crate) fated: Fated,
}

/// What a host does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Syn,
    /// A SYN that carries so many bytes (RFC 7413).
    SynData(u32),
    SynAck,
    Ack,
    Fin,
    Rst,
    /// Payload: first byte and length.
    Data(i64, u32),
    /// Below the next byte, with so many bytes.
    KeepAlive(u32),
    /// Into a closed window: 0 bytes just below the next one, as Linux does, or 1 new byte.
    Probe(u32),
    /// From now on it advertises so many bytes; nothing is sent.
    Window(u32),
    /// The ports are used anew, with these ISNs; nothing is sent.
    Incarnation(u32, u32),
}

/// One scripted step.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) at_ns: i64,
    pub(crate) host: Host,
    pub(crate) what: What,
    /// The script says that the host has emitted all these bytes before.
    pub(crate) rtx: bool,
    pub(crate) fin: bool,
    pub(crate) cwr: bool,
    pub(crate) urg: bool,
    /// Emitted as one super-segment with the others of this number.
    pub(crate) group: Option<usize>,
    pub(crate) fates: Vec<Fated>,
    pub(crate) line: usize,
}

/// Which packets the capture tool records.
#[derive(Clone, Debug, Default)]
pub(crate) struct Captured {
    /// Only what this host emits.
    pub(crate) only: Option<Host>,
    /// Only from this instant on.
    pub(crate) from_ns: i64,
    /// Not the first emissions of these bytes: the tool dropped them.
    pub(crate) dropped: Vec<std::ops::Range<i64>>,
}

/// An answer written by hand.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    /// Position of the vantage point.
    pub(crate) vantage: usize,
    /// Number of the incarnation, from 0, and the flow's sender.
    pub(crate) flow: (usize, Host),
    pub(crate) field: String,
    pub(crate) value: String,
}

/// A truth that the packets do not tell, and the answer that they suggest.
#[derive(Clone, Debug)]
pub(crate) struct Undecided {
    pub(crate) vantage: usize,
    pub(crate) flow: (usize, Host),
    pub(crate) field: String,
    pub(crate) value: String,
    /// Another case, in which the same packets pass and something else is true.
    pub(crate) twin: Option<String>,
}

/// An answer that is known to come out wrong.
#[derive(Clone, Debug)]
pub(crate) struct KnownWrong {
    pub(crate) vantage: usize,
    pub(crate) flow: (usize, Host),
    pub(crate) field: String,
    pub(crate) reason: String,
}

/// A case.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) ids: Ids,
    /// The ids that A and B used last before.
    pub(crate) last_ids: [u16; 2],
    pub(crate) timestamps: bool,
    pub(crate) sack: bool,
    pub(crate) window_scale: Option<u8>,
    pub(crate) ecn: bool,
    /// Payload of a full segment.
    pub(crate) segment: u32,
    pub(crate) isn: [u32; 2],
    /// Delay from A to M and from M to B, then back: from B to M and from M to A.
    pub(crate) delay_ns: [[i64; 2]; 2],
    /// ACK at least every so many segments, and at the latest so many ns after the first.
    pub(crate) ack_every: u32,
    pub(crate) ack_within_ns: i64,
    /// Hosts emit SYN-ACKs and ACKs by themselves.
    pub(crate) answers: bool,
    /// From the arrival of a packet to the emission of the answer, in ns.
    pub(crate) turn_ns: i64,
    pub(crate) window: u32,
    pub(crate) captured: Captured,
    /// A decides for itself what to send, once connected, and chance what becomes of it.
    pub(crate) plan: Option<Plan>,
    pub(crate) spells: Vec<Spell>,
    pub(crate) steps: Vec<Step>,
    pub(crate) expected: Vec<Expected>,
    pub(crate) undecided: Vec<Undecided>,
    pub(crate) known_wrong: Vec<KnownWrong>,
}

impl Script {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            about: String::new(),
            ids: Ids::Counting,
            last_ids: [100, 60000],
            timestamps: true,
            sack: true,
            window_scale: Some(7),
            ecn: false,
            segment: 1448,
            isn: [1000, 5000],
            delay_ns: [[10_000_000; 2]; 2],
            ack_every: 1,
            ack_within_ns: 40_000_000,
            answers: true,
            turn_ns: 10_000,
            window: 4 << 20,
            captured: Captured::default(),
            plan: None,
            spells: Vec::new(),
            steps: Vec::new(),
            expected: Vec::new(),
            undecided: Vec::new(),
            known_wrong: Vec::new(),
        }
    }
}
