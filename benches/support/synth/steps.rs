//! What happens next on a connection, and what passes the vantage point.

use std::io::{self, Write};

use super::connection::{Answer, Connection, Flying, Lost, NEVER, Step};
use super::file::File;
use super::packet::{ACK, FIN, PSH, Packet, SYN, ends};
use super::random::Random;
use super::{FRAME_NS, FlowTruth, MSS, TIMEOUT_NS, Truth};

impl Connection {
    /// Lets happen what is due at `at`.
    pub(super) fn advance<W: Write>(
        &mut self,
        at: u64,
        random: &mut Random,
        file: &mut File<W>,
    ) -> io::Result<()> {
        if self.next_at == at {
            return self.send(at, random, file);
        }
        if self.answers.front().is_some_and(|answer| answer.at == at)
            && let Some(answer) = self.answers.pop_front()
        {
            return self.pass_answer(&answer, file);
        }
        if self.held_until == at {
            self.answer(at);
            return Ok(());
        }
        if self.late_at == at {
            self.late_at = NEVER;
            if let Some((_, flying)) = self.late.take() {
                // Those that should have overtaken it may have been lost before they passed.
                self.down.reordered += u64::from(self.passed > flying.offset);
                self.pass(at, &flying, file)?;
                self.deliver(at, &flying);
            }
            return Ok(());
        }
        if self.again.front().is_some_and(|&(due, _)| due == at)
            && let Some((_, lost)) = self.again.pop_front()
        {
            let flying = Flying {
                offset: lost.offset,
                len: lost.len,
                id: self.server_id(),
                tsval: Self::stamp(self.server_clock, at),
                again: true,
                seen: lost.seen,
            };
            self.pass(at, &flying, file)?;
            self.deliver(at, &flying);
            return Ok(());
        }
        match self.step {
            Some((due, step)) if due == at => self.take(at, step, file),
            _ => Ok(()),
        }
    }

    /// The server sends its next segment.
    pub(super) fn send<W: Write>(
        &mut self,
        at: u64,
        random: &mut Random,
        file: &mut File<W>,
    ) -> io::Result<()> {
        if self.burst_left == 0 {
            self.burst_left = self.burst;
            if self.growing {
                self.burst = (self.burst * 2).min(256);
            }
        }
        self.burst_left -= 1;
        let len = (self.total - self.next).min(u64::from(MSS)) as u32;
        let flying = Flying {
            offset: self.next,
            len,
            id: self.server_id(),
            tsval: Self::stamp(self.server_clock, at),
            again: false,
            seen: false,
        };
        self.next += u64::from(len);
        let last = self.next == self.total;
        let before =
            u64::from(self.burst_left).min(((self.total - self.next) / u64::from(MSS)).min(8));
        self.next_at = if last {
            NEVER
        } else if self.burst_left > 0 {
            at + FRAME_NS
        } else {
            // From the start of this burst to the start of the next.
            let took = FRAME_NS * (u64::from(self.burst.min(256)) - 1);
            at + self
                .rest_ns
                .saturating_sub(if self.growing { 0 } else { took })
                .max(FRAME_NS)
        };
        // One draw decides between the rare fates.
        match random.below(10_000) {
            fate if fate < self.losses => {
                // Half are lost before they pass, half behind.
                let seen = fate < self.losses / 2;
                if seen {
                    self.pass(at, &flying, file)?;
                }
                self.lost.push(Lost {
                    offset: flying.offset,
                    len,
                    seen,
                    missing: 3,
                });
            }
            9990..=9994 if before > 0 && self.late.is_none() => {
                self.late = Some((1 + random.below(before) as u32, flying));
                return Ok(());
            }
            9995..=9999 if before > 0 && self.late_behind.is_none() => {
                self.pass(at, &flying, file)?;
                self.late_behind = Some((1 + random.below(before) as u32, flying));
                return Ok(());
            }
            _ => {
                self.pass(at, &flying, file)?;
                self.deliver(at, &flying);
            }
        }
        self.count_down(at);
        if last {
            let due = at + self.up_ns + self.down_ns + TIMEOUT_NS;
            for (place, lost) in std::mem::take(&mut self.lost).into_iter().enumerate() {
                self.again.push_back((due + FRAME_NS * place as u64, lost));
            }
        }
        Ok(())
    }

    /// One more segment has passed those that are overtaken.
    pub(super) fn count_down(&mut self, at: u64) {
        if let Some((before, _)) = &mut self.late {
            *before -= 1;
            if *before == 0 {
                self.late_at = at + 100;
            }
        }
        if let Some((before, flying)) = &mut self.late_behind {
            *before -= 1;
            if *before == 0 {
                let flying = *flying;
                self.late_behind = None;
                self.deliver(at, &flying);
            }
        }
    }

    /// A data segment passes the vantage point.
    pub(super) fn pass<W: Write>(
        &mut self,
        at: u64,
        flying: &Flying,
        file: &mut File<W>,
    ) -> io::Result<()> {
        if at >= self.echo_next.0 {
            self.echo = self.echo_next.1;
            self.echo_next.0 = NEVER;
        }
        let packet = Packet {
            id: flying.id,
            seq: self.server_seq(flying.offset),
            ack: self.client_isn.wrapping_add(1 + self.request_len),
            flags: ACK
                | if flying.offset + u64::from(flying.len) == self.total {
                    PSH
                } else {
                    0
                },
            offset: flying.offset,
            len: flying.len,
            tsval: flying.tsval,
            tsecr: self.echo,
            ..self.packet(at, true)
        };
        let (packets, bytes) = file.packet(&packet)?;
        let len = u64::from(flying.len);
        self.passed = self.passed.max(flying.offset);
        self.up.acked_bytes = u64::from(self.request_len);
        self.down.packets += packets;
        self.down.data_packets += packets;
        self.down.ip_bytes += bytes;
        self.down.payload_bytes += len;
        self.down.unique_bytes += if flying.seen { 0 } else { len };
        self.down.retransmissions += u64::from(flying.again);
        Ok(())
    }

    /// An ACK passes the vantage point.
    pub(super) fn pass_answer<W: Write>(
        &mut self,
        answer: &Answer,
        file: &mut File<W>,
    ) -> io::Result<()> {
        let mut packet = Packet {
            id: self.client_id(),
            seq: self.client_isn.wrapping_add(1 + self.request_len),
            ack: self.server_seq(answer.ack),
            tsval: answer.tsval,
            tsecr: answer.tsecr,
            sacks: answer.sacks,
            ..self.packet(answer.at, false)
        };
        for (to, from) in packet.sack.iter_mut().zip(&answer.sack) {
            *to = (self.server_seq(from.0), self.server_seq(from.1));
        }
        self.count_up(file.packet(&packet)?);
        self.down.acked_bytes = self.down.acked_bytes.max(answer.ack);
        if self.echo_next.0 == NEVER {
            self.echo_next = (answer.at + self.up_ns, answer.tsval);
        }
        if answer.ack == self.total {
            let next = if self.keep_alives > 0 {
                (answer.at + 20_000_000, Step::KeepAlive)
            } else {
                (answer.at + self.up_ns, Step::ServerFin)
            };
            self.step = Some(next);
        }
        Ok(())
    }

    pub(super) fn count_up(&mut self, (packets, bytes): (u64, u64)) {
        self.up.packets += packets;
        self.up.ip_bytes += bytes;
    }

    pub(super) fn count_down_empty(&mut self, (packets, bytes): (u64, u64)) {
        self.down.packets += packets;
        self.down.ip_bytes += bytes;
    }

    /// A packet of the client, or of the server, without payload.
    pub(super) fn empty(&mut self, at: u64, down: bool) -> Packet {
        let packet = self.packet(at, down);
        if down {
            Packet {
                id: self.server_id(),
                seq: self.server_seq(self.next),
                ack: self.client_isn.wrapping_add(1 + self.request_len),
                tsval: Self::stamp(self.server_clock, at),
                tsecr: self.echo,
                ..packet
            }
        } else {
            Packet {
                id: self.client_id(),
                seq: self.client_isn.wrapping_add(1 + self.request_len),
                ack: self.server_seq(self.expected),
                tsval: Self::stamp(self.client_clock, at),
                tsecr: self.recent,
                ..packet
            }
        }
    }

    /// Handshake, request and end.
    pub(super) fn take<W: Write>(
        &mut self,
        at: u64,
        step: Step,
        file: &mut File<W>,
    ) -> io::Result<()> {
        let down = matches!(
            step,
            Step::SynAck | Step::KeepAlive | Step::ServerFin | Step::LastAck
        );
        let mut packet = self.empty(at, down);
        self.step = None;
        match step {
            Step::Syn => {
                packet.seq = self.client_isn;
                packet.ack = 0;
                packet.flags = SYN;
                packet.tsecr = 0;
                self.echo = packet.tsval;
                self.step = Some((at + self.up_ns, Step::SynAck));
            }
            Step::SynAck => {
                packet.seq = self.server_isn;
                packet.ack = self.client_isn.wrapping_add(1);
                packet.flags = SYN | ACK;
                self.recent = packet.tsval;
                self.step = Some((at + self.down_ns, Step::HandshakeAck));
            }
            Step::HandshakeAck => {
                packet.seq = self.client_isn.wrapping_add(1);
                packet.ack = self.server_seq(0);
                self.step = Some((at + 20_000, Step::Request));
            }
            Step::Request => {
                packet.seq = self.client_isn.wrapping_add(1);
                packet.ack = self.server_seq(0);
                packet.flags = ACK | PSH;
                packet.len = self.request_len;
                self.echo = packet.tsval;
                self.up.data_packets += 1;
                self.up.payload_bytes += u64::from(self.request_len);
                self.up.unique_bytes += u64::from(self.request_len);
                self.next_at = at + self.up_ns;
            }
            Step::KeepAlive => {
                self.keep_alives -= 1;
                packet.seq = self.server_seq(self.total - 1);
                // Some systems send a byte, others none.
                packet.len = u32::from(self.keep_alives);
                packet.offset = self.total - 1;
                self.down.payload_bytes += u64::from(packet.len);
                self.down.data_packets += u64::from(packet.len);
                self.step = Some((at + self.down_ns, Step::KeepAliveAnswer));
            }
            Step::KeepAliveAnswer => {
                self.step = Some(if self.keep_alives > 0 {
                    (at + 20_000_000, Step::KeepAlive)
                } else {
                    (at + self.up_ns, Step::ServerFin)
                });
            }
            Step::ServerFin => {
                packet.flags = FIN | ACK;
                self.step = Some((at + self.down_ns, Step::ClientFin));
            }
            Step::ClientFin => {
                packet.flags = FIN | ACK;
                packet.ack = packet.ack.wrapping_add(1);
                self.step = Some((at + self.up_ns, Step::LastAck));
            }
            Step::LastAck => {
                packet.seq = packet.seq.wrapping_add(1);
                packet.ack = packet.ack.wrapping_add(1);
            }
        }
        let written = file.packet(&packet)?;
        if down {
            self.count_down_empty(written);
        } else {
            self.count_up(written);
        }
        Ok(())
    }

    /// Enters what passed into the truth.
    pub(super) fn tell(&self, truth: &mut Truth) {
        let (client, server) = ends(self.number, self.wrap);
        for (src, dst, counts) in [(client, server, self.up), (server, client, self.down)] {
            if counts.data_packets > 0 {
                truth.total.add(&counts);
                truth.flows.push(FlowTruth { src, dst, counts });
            }
        }
    }
}
