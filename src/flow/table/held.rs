//! SYNs of which only what follows tells whose they are.

use super::{ConnectionIdentity, ConnectionTable, Observer};
use crate::decode::{Segment, TcpFlags};
use crate::event::Direction;
use crate::track::{Connection, SynPlace, SynSign};

/// SYNs held of one connection: one that is repeated until its sender gives up comes seven times
/// (`tcp_syn_retries` of Linux). One more lets the first go.
const HELD_MAX: usize = 8;

impl<O: Observer> ConnectionTable<O> {
    /// Whether a segment with SYN, or while SYNs are held, begins or goes on with the next
    /// connection.
    #[cold]
    pub(super) fn begins_next(&self, index: usize, dir: Direction, segment: &Segment) -> bool {
        let is_next = |connection: &Connection| {
            segment.flags.has(TcpFlags::SYN) && connection.syn_place(dir, segment) == SynPlace::Next
        };
        self.connection(index).is_some_and(is_next) || self.answered(index, dir, segment).is_some()
    }

    /// The state of the connection at `index`. A young one has none, and nothing that came to it is in doubt.
    fn connection(&self, index: usize) -> Option<&Connection> {
        Some(&self.tracked[index].as_ref()?.connection)
    }

    /// The latest SYN held that a segment shows to have begun the next connection.
    fn answered(&self, index: usize, dir: Direction, segment: &Segment) -> Option<&Segment> {
        let connection = self.connection(index)?;
        let held = &self.heads[index].syns;
        held.iter().rev().find(|syn| {
            let sign = connection.sign_about(self.direction(index, syn), syn, dir, segment);
            sign == SynSign::Next
        })
    }

    /// Ends the connection at `index`, before a segment that does not belong to it, and begins the
    /// next one, with the SYNs held that are the next one's.
    #[cold]
    pub(super) fn succeed(
        &mut self,
        hash: u64,
        index: usize,
        dir: Direction,
        segment: &Segment,
    ) -> (usize, Direction) {
        if self.fell_silent(index, segment) {
            // As if it had been put away in the meantime: what was held of it came to nothing.
            self.close(index, false);
            let index = self.open(hash, ConnectionIdentity::of(segment));
            return (index, self.direction(index, segment));
        }
        let first = self.answered(index, dir, segment).unwrap_or(segment);
        let (src, seq) = (first.src, first.seq);
        let held = std::mem::take(&mut self.heads[index].syns);
        self.close(index, false);
        // Where both sides open at once, each answers the other's SYN with the number of its own (RFC 9293 section
        // 3.5).
        let begins = segment.flags.has(TcpFlags::SYN.with(TcpFlags::ACK));
        let (own, others): (Vec<Segment>, Vec<Segment>) = held.into_iter().partition(|syn| {
            (syn.src == src && syn.seq == seq)
                || (begins && syn.src == segment.src && syn.seq == segment.seq)
        });
        self.put_away_attempts(&others, false);
        let index = self.open(hash, ConnectionIdentity::of(own.first().unwrap_or(segment)));
        for syn in &own {
            self.pass(index, self.direction(index, syn), syn);
        }
        (index, self.direction(index, segment))
    }

    /// Holds a segment with SYN whose connection is not known yet; `false`: it belongs here.
    #[cold]
    pub(super) fn hold(&mut self, index: usize, dir: Direction, segment: &Segment) -> bool {
        let Some(connection) = self
            .connection(index)
            .filter(|connection| connection.syn_place(dir, segment) == SynPlace::Open)
        else {
            return false;
        };
        let is_live = connection.has_payload() && !connection.handshake().closing().is_over();
        let head = &mut self.heads[index];
        head.last_at = head.last_at.max(segment.at);
        let oldest = (head.syns.len() >= HELD_MAX).then(|| head.syns.remove(0));
        head.syns.push(*segment);
        if let Some(oldest) = oldest {
            if is_live {
                self.pass_stray(index, &oldest);
            } else {
                self.put_away_attempts(&[oldest], false);
            }
        }
        true
    }

    /// A segment passes while SYNs are held: those that it shows to be strays are let go.
    #[cold]
    pub(super) fn let_strays_go(&mut self, index: usize, dir: Direction, segment: &Segment) {
        let Some(connection) = self.connection(index) else {
            return;
        };
        let is_stray = |syn: &Segment| {
            let sign = connection.sign_about(self.direction(index, syn), syn, dir, segment);
            sign == SynSign::Stray
        };
        let held = self.heads[index].syns.iter().copied();
        let (strays, open): (Vec<Segment>, Vec<Segment>) = held.partition(is_stray);
        self.heads[index].syns = open.into();
        for stray in &strays {
            self.pass_stray(index, stray);
        }
    }

    fn pass_stray(&mut self, index: usize, syn: &Segment) {
        let dir = self.direction(index, syn);
        let flow = self.state(index);
        flow.connection.on_stray_syn(dir, syn, &mut flow.sink);
    }

    /// Nothing showed what SYNs were: each, with its repeats, is an attempt of its own.
    #[cold]
    pub(super) fn put_away_attempts(&mut self, syns: &[Segment], cut_by_limit: bool) {
        let mut rest = syns.to_vec();
        while let Some(first) = rest.first().copied() {
            let (attempt, others): (Vec<Segment>, Vec<Segment>) = rest
                .into_iter()
                .partition(|syn| syn.src == first.src && syn.seq == first.seq);
            self.put_away(&attempt, false, cut_by_limit);
            rest = others;
        }
    }
}
