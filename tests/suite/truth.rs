//! What is true of a flow at a vantage point, from what was played alone.

use super::host::Ranges;
use super::play::{Kind, Packet, Played, Seen};
use super::script::{Host, Script};
use super::wire::{is_captured, is_dropped};

/// What is compared, in this order, by the names of METRICS.md. `clean_rtt` is the span of the
/// round-trip times labelled clean.
pub(crate) const FIELDS: [&str; 19] = [
    "retransmitted",
    "reordered",
    "duplicates",
    "ambiguous",
    "unneeded",
    "lost_upstream",
    "lost_downstream",
    "reordered_at_receiver",
    "keepalives",
    "window_probes",
    "dsacks",
    "zero_windows",
    "ce_marks",
    "ece_echoes",
    "unique_bytes",
    "acked_bytes",
    "unseen_bytes",
    "rows_new",
    "clean_rtt",
];

/// The flows of a script that carry payload at a vantage point: incarnation and sender.
pub(crate) fn flows(script: &Script, played: &Played, vantage: usize) -> Vec<(usize, Host)> {
    let mut flows = Vec::new();
    for seen in &played.seen[vantage] {
        let packet = &played.packets[seen.packet];
        let flow = (packet.incarnation, packet.host);
        if packet.len > 0 && is_captured(script, packet, seen) && !flows.contains(&flow) {
            flows.push(flow);
        }
    }
    flows
}

/// One flow at one vantage point.
struct View<'p> {
    played: &'p Played,
    /// The flow's payload, here and at its receiver, in the order of arrival.
    here: Vec<(Seen, &'p Packet)>,
    there: Vec<(Seen, &'p Packet)>,
    /// The answers, here.
    answers: Vec<&'p Packet>,
    /// All emissions of payload that could have been captured.
    emitted: Vec<usize>,
    /// The SYN is here: the first byte of the stream is known.
    syn: bool,
}

/// The values of [`FIELDS`].
pub(crate) fn truth(
    script: &Script,
    played: &Played,
    vantage: usize,
    flow: (usize, Host),
) -> Vec<String> {
    let of = |position: usize, host: Host| {
        played.seen[position]
            .iter()
            .map(|seen| (*seen, &played.packets[seen.packet]))
            .filter(move |(_, packet)| packet.host == host && packet.incarnation == flow.0)
    };
    let own = of(vantage, flow.1).filter(|(seen, packet)| is_captured(script, packet, seen));
    let here: Vec<_> = own.collect();
    let ce_marks = here.iter().filter(|(seen, _)| seen.ce).count();
    let empty = |kind| {
        here.iter()
            .filter(|(_, packet)| packet.kind == kind)
            .count()
    };
    let (keepalives, window_probes) = (empty(Kind::KeepAlive), empty(Kind::Probe));
    let legs = if flow.1 == Host::A {
        vantage
    } else {
        2 - vantage
    };
    let delay_ns: i64 = script.delay_ns[flow.1.index()][..legs].iter().sum();
    let view = View {
        played,
        here: here
            .iter()
            .copied()
            .filter(|(_, packet)| packet.len > 0)
            .collect(),
        there: of(2 * flow.1.peer().index(), flow.1).collect(),
        answers: of(vantage, flow.1.peer())
            .filter(|(seen, packet)| is_captured(script, packet, seen))
            .map(|(_, packet)| packet)
            .collect(),
        syn: here.iter().any(|(_, packet)| packet.flags.syn),
        emitted: (0..played.packets.len())
            .filter(|&index| {
                let packet = &played.packets[index];
                packet.host == flow.1
                    && packet.incarnation == flow.0
                    && packet.kind == Kind::Data
                    && !is_dropped(script, packet)
                    && packet.at_ns + delay_ns >= script.captured.from_ns
                    && script.captured.only.is_none_or(|host| host == flow.1)
            })
            .collect(),
    };
    let answers = |holds: fn(&Packet) -> bool| view.answers.iter().filter(|p| holds(p)).count();
    let zero = |p: &Packet| {
        p.window == 0 && p.ack.is_some() && !p.flags.syn && !p.flags.fin && !p.flags.rst
    };
    let round_trip_ns = round_trip_ns(script, vantage, flow.1);
    let (unique, acked) = view.bytes();
    let fields: [String; 19] = [
        view.retransmitted().count().to_string(),
        view.reordered().to_string(),
        view.duplicates().to_string(),
        "0".to_owned(),
        view.retransmitted()
            .filter(|&index| view.is_unneeded(index))
            .count()
            .to_string(),
        view.lost_upstream().to_string(),
        view.lost_downstream().to_string(),
        view.reordered_at_receiver().to_string(),
        keepalives.to_string(),
        window_probes.to_string(),
        answers(|packet| packet.dsack).to_string(),
        answers(zero).to_string(),
        ce_marks.to_string(),
        answers(|packet| packet.flags.ece && !packet.flags.syn).to_string(),
        unique.to_string(),
        acked.map_or_else(|| "none".to_owned(), |bytes| bytes.to_string()),
        acked
            .map_or(0, |bytes| bytes.saturating_sub(unique))
            .to_string(),
        view.first_in_order(legs == 0).to_string(),
        format!("{}us", round_trip_ns as f64 / 1e3),
    ];
    fields.to_vec()
}

/// Vantage point - receiver - vantage point without any queue.
fn round_trip_ns(script: &Script, vantage: usize, sender: Host) -> i64 {
    let legs = |from: Host, wanted: [bool; 2]| -> i64 {
        let delays = script.delay_ns[from.index()].iter().zip(wanted);
        delays.filter(|(_, wanted)| *wanted).map(|(ns, _)| ns).sum()
    };
    let far = if sender == Host::A {
        2 - vantage
    } else {
        vantage
    };
    let (up, down) = (far > 1, far > 0);
    legs(sender, [up, down]) + legs(sender.peer(), [down, up]) + script.turn_ns
}

impl View<'_> {
    fn packet(&self, index: usize) -> &Packet {
        &self.played.packets[index]
    }

    fn was_seen(list: &[(Seen, &Packet)], index: usize) -> bool {
        list.iter().any(|(seen, _)| seen.packet == index)
    }

    /// When the first copy of an emission came.
    fn place(list: &[(Seen, &Packet)], index: usize) -> Option<usize> {
        list.iter().position(|(seen, _)| seen.packet == index)
    }

    /// Second emissions that came by here, each once.
    fn retransmitted(&self) -> impl Iterator<Item = usize> {
        self.emitted
            .iter()
            .copied()
            .filter(|&index| self.packet(index).rtx && Self::was_seen(&self.here, index))
    }

    /// Whether emissions before it bring all its bytes to the receiver, now or later.
    fn is_unneeded(&self, index: usize) -> bool {
        let mut arrived = Ranges::default();
        for (seen, packet) in &self.there {
            if seen.packet < index && packet.kind == Kind::Data {
                arrived.insert(packet.start, packet.start + i64::from(packet.len), 0);
            }
        }
        let packet = self.packet(index);
        arrived.covers(packet.start, packet.start + i64::from(packet.len))
    }

    /// First emissions that came by after something that was emitted after them (RFC 4737), and
    /// below the highest byte: what only a repeat has overtaken is in its place in the stream.
    fn reordered(&self) -> usize {
        let (mut newest, mut high) = (0, 0);
        let mut known = Vec::new();
        let mut late = 0;
        for (seen, packet) in &self.here {
            if packet.kind != Kind::Data || known.contains(&seen.packet) {
                continue;
            }
            known.push(seen.packet);
            late += usize::from(!packet.rtx && seen.packet < newest && packet.start < high);
            newest = newest.max(seen.packet);
            high = high.max(packet.start + i64::from(packet.len));
        }
        late
    }

    fn duplicates(&self) -> usize {
        let data = self
            .here
            .iter()
            .filter(|(_, packet)| packet.kind == Kind::Data);
        let mut packets: Vec<usize> = data.map(|(seen, _)| seen.packet).collect();
        let all = packets.len();
        packets.sort_unstable();
        packets.dedup();
        all - packets.len()
    }

    fn lost_upstream(&self) -> usize {
        self.emitted
            .iter()
            .filter(|&&index| !Self::was_seen(&self.here, index))
            .count()
    }

    fn lost_downstream(&self) -> usize {
        self.emitted
            .iter()
            .filter(|&&index| {
                Self::was_seen(&self.here, index)
                    && !Self::was_seen(&self.there, index)
                    && !self.is_unneeded(index)
            })
            .count()
    }

    /// Bytes emitted once that overtook nothing here, but were overtaken after.
    fn reordered_at_receiver(&self) -> usize {
        self.emitted
            .iter()
            .filter(|&&index| {
                let packet = self.packet(index);
                let end = packet.start + i64::from(packet.len);
                let (Some(here), Some(there)) = (
                    Self::place(&self.here, index),
                    Self::place(&self.there, index),
                ) else {
                    return false;
                };
                let once = !packet.rtx
                    && !self.emitted.iter().any(|&other| {
                        let other = self.packet(other);
                        other.rtx
                            && other.start < end
                            && packet.start < other.start + i64::from(other.len)
                    });
                let overtaken = self.there[..there].iter().any(|(seen, _)| {
                    seen.packet > index
                        && self.packet(seen.packet).start > packet.start
                        && Self::place(&self.here, seen.packet).is_some_and(|other| other > here)
                });
                once && overtaken
            })
            .count()
    }

    /// First emissions that came by in order, as records: a super-segment is one before it is cut.
    fn first_in_order(&self, before_cut: bool) -> usize {
        let mut groups = Vec::new();
        let mut records = 0;
        for &index in &self.emitted {
            let packet = self.packet(index);
            if packet.rtx || !Self::was_seen(&self.here, index) {
                continue;
            }
            if before_cut && packet.group.is_some() {
                if groups.contains(&packet.group) {
                    continue;
                }
                groups.push(packet.group);
            }
            records += 1;
        }
        records - self.reordered()
    }

    /// Distinct bytes seen, and those that an ACK covers: from the first byte of the stream or,
    /// where its SYN was not captured, from the first byte seen.
    fn bytes(&self) -> (u64, Option<u64>) {
        let mut seen = Ranges::default();
        for (_, packet) in self.here.iter().filter(|(_, p)| p.kind != Kind::KeepAlive) {
            seen.insert(packet.start, packet.start + i64::from(packet.len), 0);
        }
        let top = self.stream_end();
        let acks = self.answers.iter().filter(|packet| !packet.flags.rst);
        let highest = acks.filter_map(|packet| packet.ack).max();
        let first = self.here.first().map_or(0, |(_, packet)| packet.start);
        let base = if self.syn { 0 } else { first };
        (
            seen.bytes(),
            highest.map(|ack| (ack.min(top) - base).max(0) as u64),
        )
    }

    /// Just after the last byte that the receiver got: an ACK beyond it covers the FIN.
    fn stream_end(&self) -> i64 {
        let ends = self
            .there
            .iter()
            .filter(|(_, packet)| packet.len > 0)
            .map(|(_, packet)| packet.start + i64::from(packet.len));
        ends.max().unwrap_or(0)
    }
}
