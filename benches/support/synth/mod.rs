//! Deterministic traces of a 10 Gbit/s link, and the truth about them.
//!
//! [`Synth::write`] plays TCP connections event by event and writes what a vantage point near the
//! servers sees, so that flows interleave as on a link. Servers answer a request with data;
//! clients acknowledge every second segment, or after 40 ms. Segments get lost before or behind
//! the vantage point (0.1 % each), are reported missing by SACK and repeated a round trip later;
//! others are overtaken by up to eight (0.05 % before, 0.05 % behind). Rounds take 2 to 62 ms.
//!
//! The same [`Synth`] always gives the same bytes. What is kept in memory are the connections
//! alive and what they have in flight, never the packets written. TCP checksums are zero, as
//! where they are left to the network card.

mod connection;
mod file;
mod link;
mod packet;
mod random;
mod steps;
pub(crate) mod workloads;

use std::io::{self, Write};
use std::net::SocketAddr;

use file::File;
use link::{Link, storm};

/// What kind of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// 16 elephants that fill the link.
    Bulk,
    /// 200 elephants, and a mouse every 120 packets: 50,000 flows in 6 million packets.
    Mix,
    /// So many connections, all open at the same time, two segments now and then on each.
    Many(u64),
    /// A single connection with 20,000 segments in flight.
    One,
    /// Frames of 64 bytes at 14.88 million a second: ACKs of 64 connections, one way only.
    Acks,
    /// VLAN, `QinQ`, IPv6, IP options, fragments, keep-alives, sequence wrap, a clock that steps
    /// back; in pcapng also a second interface with SLL2.
    Ugly,
    /// [`Bulk`](Self::Bulk) that carries pcap files: records within payload.
    PcapInPayload,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// pcap with microseconds.
    Micros,
    /// pcap with nanoseconds.
    Nanos,
    /// pcapng with nanoseconds.
    Pcapng,
}

/// A trace to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Synth {
    /// Kind of traffic.
    pub(crate) profile: Profile,
    /// Records to write, all of them packets.
    pub(crate) packets: u64,
    /// Bytes kept of each packet; `u32::MAX` keeps all.
    pub(crate) snap: u32,
    /// Another seed, another trace of the same kind.
    pub(crate) seed: u64,
    /// File format.
    pub(crate) format: Format,
    /// Segments that get lost of 10,000, half of them before and half behind the vantage point.
    pub(crate) losses: u64,
}

/// One direction of a connection that carried payload, or the sum of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// IP packets.
    pub(crate) packets: u64,
    /// IP packets with payload.
    pub(crate) data_packets: u64,
    /// Sum of IP total lengths.
    pub(crate) ip_bytes: u64,
    /// Payload bytes, every copy counted.
    pub(crate) payload_bytes: u64,
    /// Distinct stream bytes that passed.
    pub(crate) unique_bytes: u64,
    /// Payload bytes below the highest ACK that passed.
    pub(crate) acked_bytes: u64,
    /// Segments that were not the first emission of their bytes.
    pub(crate) retransmissions: u64,
    /// First emissions overtaken before they passed.
    pub(crate) reordered: u64,
}

impl Counts {
    /// Adds all counts of `other`.
    pub(crate) fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.data_packets += other.data_packets;
        self.ip_bytes += other.ip_bytes;
        self.payload_bytes += other.payload_bytes;
        self.unique_bytes += other.unique_bytes;
        self.acked_bytes += other.acked_bytes;
        self.retransmissions += other.retransmissions;
        self.reordered += other.reordered;
    }
}

/// A flow, and what is true of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowTruth {
    /// Sender.
    pub(crate) src: SocketAddr,
    /// Receiver.
    pub(crate) dst: SocketAddr,
    /// What passed.
    pub(crate) counts: Counts,
}

/// What is true of a trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Truth {
    /// Records written.
    pub(crate) records: u64,
    /// Bytes written.
    pub(crate) file_bytes: u64,
    /// All flows together.
    pub(crate) total: Counts,
    /// Each flow, in no particular order.
    pub(crate) flows: Vec<FlowTruth>,
}

impl Synth {
    /// A pcap file with nanoseconds and whole packets, of seed 7.
    pub(crate) fn new(profile: Profile, packets: u64) -> Self {
        Self {
            profile,
            packets,
            snap: u32::MAX,
            seed: 7,
            format: Format::Nanos,
            losses: 20,
        }
    }

    /// Keeps 96 bytes of each packet.
    pub(crate) fn snapped(self) -> Self {
        Self { snap: 96, ..self }
    }

    /// Writes the trace to `out`, which should be buffered.
    pub(crate) fn write<W: Write>(&self, out: W) -> io::Result<Truth> {
        let mut file = File::begin(self, out)?;
        let mut truth = Truth::default();
        match self.profile {
            Profile::Acks => storm(self, &mut file, &mut truth)?,
            _ => Link::new(self).play(self, &mut file, &mut truth)?,
        }
        file.out.flush()?;
        truth.records = file.records;
        truth.file_bytes = file.bytes;
        Ok(truth)
    }
}

/// Payload of a full segment with timestamps, in bytes.
const MSS: u32 = 1448;

/// Time that a full frame takes at 10 Gbit/s, in ns.
const FRAME_NS: u64 = 1230;

/// Mean time between packets of a link full of data one way and ACKs the other, in ns.
const PACKET_NS: u64 = 870;

/// When traces begin, in ns since the epoch.
const EPOCH_NS: u64 = 1_700_000_000_000_000_000;

/// Longest that a client holds back an ACK, in ns.
const DELAYED_ACK_NS: u64 = 40_000_000;

/// What a sender waits before it repeats its last segments, besides a round trip, in ns.
const TIMEOUT_NS: u64 = 200_000_000;
