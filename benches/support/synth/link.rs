//! What happens on the link.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::{self, Write};

use super::connection::{Connection, NEVER, Step};
use super::file::File;
use super::packet::{ACK, Packet, Wrap, ends, wrap_of};
use super::random::Random;
use super::{Counts, FRAME_NS, FlowTruth, MSS, PACKET_NS, Profile, Synth, Truth};

/// What opens connections, and how those that it opens send.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrivals {
    /// Connections that stay, opened in the first `opening_ns` ns.
    pub(super) elephants: u64,
    pub(super) opening_ns: u64,
    /// Segments in a burst of theirs, and mean time from burst to burst, in ns.
    pub(super) burst: u32,
    pub(super) rest_ns: u64,
    /// Mean time between short connections, in ns.
    pub(super) mouse_ns: u64,
    /// Round-trip time of all connections, where it does not vary, in ns.
    pub(super) round_ns: Option<u64>,
}

impl Arrivals {
    pub(super) fn of(synth: &Synth) -> Self {
        let filling = |elephants: u64, burst: u32, percent: u64| Self {
            elephants,
            opening_ns: 20_000_000,
            burst,
            rest_ns: elephants * u64::from(burst) * FRAME_NS * 100 / percent,
            mouse_ns: NEVER,
            round_ns: None,
        };
        match synth.profile {
            Profile::Bulk | Profile::PcapInPayload | Profile::Acks => filling(16, 16, 95),
            Profile::Mix => Self {
                opening_ns: 100_000_000,
                mouse_ns: 120 * PACKET_NS,
                ..filling(200, 16, 70)
            },
            Profile::Many(connections) => {
                let length_ns = synth.packets * PACKET_NS;
                // Four packets open a connection; a burst makes three.
                let bursts = (synth.packets / connections.max(1)).saturating_sub(4) / 3;
                Self {
                    elephants: connections,
                    opening_ns: length_ns * 6 / 10,
                    burst: 2,
                    rest_ns: length_ns / (2 * bursts.max(1)),
                    mouse_ns: NEVER,
                    round_ns: None,
                }
            }
            Profile::One => Self {
                opening_ns: 1,
                round_ns: Some(20_000 * FRAME_NS),
                ..filling(1, 64, 100)
            },
            Profile::Ugly => Self {
                opening_ns: 1_000_000,
                mouse_ns: 60 * PACKET_NS,
                ..filling(14, 8, 50)
            },
        }
    }
}

/// All connections.
pub(super) struct Link {
    pub(super) arrivals: Arrivals,
    pub(super) random: Random,
    pub(super) ugly: bool,
    pub(super) losses: u64,
    pub(super) connections: Vec<Option<Box<Connection>>>,
    pub(super) free: Vec<u32>,
    /// When each connection is due; [`ELEPHANT`] and [`MOUSE`] open new ones.
    pub(super) heap: BinaryHeap<Reverse<(u64, u32)>>,
    pub(super) opened: u64,
    pub(super) opened_elephants: u64,
}

pub(super) const ELEPHANT: u32 = u32::MAX;
pub(super) const MOUSE: u32 = u32::MAX - 1;

impl Link {
    pub(super) fn new(synth: &Synth) -> Self {
        let arrivals = Arrivals::of(synth);
        let mut heap = BinaryHeap::new();
        heap.push(Reverse((0, ELEPHANT)));
        if arrivals.mouse_ns != NEVER {
            heap.push(Reverse((0, MOUSE)));
        }
        Self {
            arrivals,
            random: Random::of(synth.seed),
            ugly: synth.profile == Profile::Ugly,
            losses: synth.losses,
            connections: Vec::new(),
            free: Vec::new(),
            heap,
            opened: 0,
            opened_elephants: 0,
        }
    }

    pub(super) fn play<W: Write>(
        mut self,
        synth: &Synth,
        file: &mut File<W>,
        truth: &mut Truth,
    ) -> io::Result<()> {
        while file.records < synth.packets {
            let Some(mut top) = self.heap.peek_mut() else {
                break;
            };
            let Reverse((at, index)) = *top;
            if index >= MOUSE {
                std::collections::binary_heap::PeekMut::pop(top);
                self.open(at, index);
                continue;
            }
            let Some(connection) = &mut self.connections[index as usize] else {
                break;
            };
            connection.advance(at, &mut self.random, file)?;
            let due = connection.due();
            if due == NEVER {
                std::collections::binary_heap::PeekMut::pop(top);
                if let Some(connection) = self.connections[index as usize].take() {
                    connection.tell(truth);
                }
                self.free.push(index);
            } else {
                // Only sinks from the top: cheaper than to take it out and put it back.
                *top = Reverse((due, index));
            }
        }
        for connection in self.connections.into_iter().flatten() {
            connection.tell(truth);
        }
        Ok(())
    }

    pub(super) fn open(&mut self, at: u64, kind: u32) {
        let arrivals = self.arrivals;
        let elephant = kind == ELEPHANT;
        let random = &mut self.random;
        if elephant {
            self.opened_elephants += 1;
            if self.opened_elephants < arrivals.elephants {
                let gap = 2 * arrivals.opening_ns / arrivals.elephants;
                self.heap.push(Reverse((at + random.below(gap + 1), kind)));
            }
        } else {
            let gap = random.below(2 * arrivals.mouse_ns + 1);
            self.heap.push(Reverse((at + gap, kind)));
        }
        let round_ns = arrivals
            .round_ns
            .unwrap_or(2_000_000 + random.below(60_000_000));
        let up_ns = 40_000 + random.below(360_000);
        let total = if elephant {
            NEVER
        } else {
            // Pareto with an exponent of 1.2, from 4 to 2,000 segments.
            let segments = 4.0 * random.unit().max(1e-9).powf(-1.0 / 1.2);
            segments.min(2000.0) as u64 * u64::from(MSS) - random.below(u64::from(MSS))
        };
        let number = self.opened;
        self.opened += 1;
        let wrap = if self.ugly {
            wrap_of(number)
        } else {
            Wrap::Plain
        };
        // Every fourth stream wraps soon.
        let server_isn = if number % 4 == 1 {
            u32::MAX - random.below(60_000) as u32
        } else {
            random.next() as u32
        };
        let rest_ns = arrivals.rest_ns / 2 + random.below(arrivals.rest_ns.max(1));
        let connection = Connection {
            number,
            wrap,
            up_ns,
            down_ns: round_ns - up_ns,
            step: Some((at, Step::Syn)),
            client_isn: random.next() as u32,
            server_isn,
            client_id: random.next() as u16,
            server_id: random.next() as u16,
            client_clock: random.next() as u32,
            server_clock: random.next() as u32,
            request_len: 100 + random.below(400) as u32,
            total,
            next: 0,
            next_at: NEVER,
            burst: if elephant { arrivals.burst } else { 10 },
            burst_left: 0,
            rest_ns: if !elephant {
                round_ns
            } else if arrivals.elephants == 1 {
                FRAME_NS * u64::from(arrivals.burst)
            } else {
                rest_ns
            },
            growing: !elephant,
            late: None,
            late_at: NEVER,
            passed: 0,
            late_behind: None,
            lost: Vec::new(),
            again: VecDeque::new(),
            expected: 0,
            above: Vec::new(),
            last_ack: 0,
            held_until: NEVER,
            recent: 0,
            echo: 0,
            echo_next: (NEVER, 0),
            answers: VecDeque::new(),
            keep_alives: if self.ugly && number.is_multiple_of(3) {
                2
            } else {
                0
            },
            losses: self.losses,
            up: Counts::default(),
            down: Counts::default(),
        };
        let index = if let Some(index) = self.free.pop() {
            self.connections[index as usize] = Some(Box::new(connection));
            index
        } else {
            self.connections.push(Some(Box::new(connection)));
            (self.connections.len() - 1) as u32
        };
        self.heap.push(Reverse((at, index)));
    }
}

/// ACKs and nothing else, but for one request each.
pub(super) fn storm<W: Write>(
    synth: &Synth,
    file: &mut File<W>,
    truth: &mut Truth,
) -> io::Result<()> {
    const CONNECTIONS: usize = 64;
    const REQUEST: u32 = 6;
    let mut random = Random::of(synth.seed);
    let mut acks = [0_u32; CONNECTIONS];
    let mut counts = [Counts::default(); CONNECTIONS];
    acks.fill_with(|| random.next() as u32);
    let isns = acks;
    while file.records < synth.packets {
        let index = random.below(CONNECTIONS as u64) as usize;
        let counted = &mut counts[index];
        let first = counted.packets == 0;
        let packet = Packet {
            at: file.records * 67 + file.records / 5,
            number: index as u64,
            wrap: Wrap::Plain,
            down: false,
            id: counted.packets as u16,
            seq: isns[index].wrapping_add(if first { 0 } else { REQUEST }),
            ack: acks[index],
            flags: ACK,
            offset: 0,
            len: if first { REQUEST } else { 0 },
            tsval: 0,
            tsecr: 0,
            sack: [(0, 0); 3],
            sacks: 0,
            timestamps: false,
        };
        acks[index] = acks[index].wrapping_add(2 * MSS);
        let (packets, bytes) = file.packet(&packet)?;
        counted.packets += packets;
        counted.ip_bytes += bytes;
        if first {
            counted.data_packets = 1;
            counted.payload_bytes = u64::from(REQUEST);
            counted.unique_bytes = u64::from(REQUEST);
        }
    }
    for (number, counts) in counts.into_iter().enumerate() {
        let (src, dst) = ends(number as u64, Wrap::Plain);
        if counts.data_packets > 0 {
            truth.total.add(&counts);
            truth.flows.push(FlowTruth { src, dst, counts });
        }
    }
    Ok(())
}
