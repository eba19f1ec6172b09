//! Whether a SYN begins the next connection on the same ports, or is a stray one.
//!
//! Anybody can send a SYN between two hosts that talk: an old duplicate turns up, another host
//! guesses the ports. The receiver answers with an ACK of what it has (RFC 9293 section 3.10.7.4,
//! RFC 5961 section 4) and the connection goes on. A host that has lost the connection sends the
//! same SYN and means it. Only what follows tells the two apart: a SYN-ACK for this very SYN, or
//! segments in its sequence space, against segments of its sender that continue what was sent
//! before. (Zeek keeps such a SYN in the connection and calls it weird; Wireshark begins a new stream
//! at once.)

use super::Connection;
use super::half::HalfFlow;
use super::handshake::NETWORK_COPY_NS;
use crate::decode::{Segment, TcpFlags};
use crate::event::{Direction, FlowSink, PacketArrival};
use crate::seq::Seq;

/// No further than this, in bytes, is a segment expected from where its stream was last seen: more
/// than most windows, and little beside all numbers.
const NEAR: i64 = 1 << 24;

/// Where a segment with SYN belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SynPlace {
    /// To this connection.
    Here,
    /// It begins the next one.
    Next,
    /// To either: what follows will tell.
    Open,
}

/// What a segment says of a SYN before it whose place is [open](SynPlace::Open).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SynSign {
    /// It began the next connection.
    Next,
    /// It was a stray: its sender goes on with this connection.
    Stray,
    /// Nothing.
    None,
}

impl Connection {
    /// Where a segment of direction `dir` with SYN belongs (RFC 9293 section 3.6.1).
    #[must_use]
    pub(crate) fn syn_place(&self, dir: Direction, segment: &Segment) -> SynPlace {
        let (half, peer) = (
            &self.halves[dir.index()],
            &self.halves[dir.reversed().index()],
        );
        // By its SYN, or by data that was recorded before it.
        let known = half.begins_at(segment.seq.plus(1));
        let closing = self.handshake.closing();
        let over = closing.is_over();
        if known {
            // A capture that is played again and again, as tcpreplay does, has the same number each time.
            let again =
                over && !segment.flags.has(TcpFlags::ACK) && self.is_long_after(dir, segment);
            return if again {
                SynPlace::Open
            } else {
                SynPlace::Here
            };
        }
        if !segment.flags.has(TcpFlags::ACK) {
            // A second SYN with another number is a new attempt, unless it turns out otherwise. What a
            // reset made useless may still be under way, and comes between the SYN and its answer; and a peer
            // that waits for the ACK of its FIN, or in TIME-WAIT, may answer for what was before. So may the other side
            // begin when it has refused one.
            let begun = half.has_syn || half.sent_data || peer.sent_data || over;
            return if begun {
                SynPlace::Open
            } else {
                SynPlace::Here
            };
        }
        // The answer to a SYN of this connection belongs to it, whatever was tried before. Who has sent data has
        // answered: a stack that begins with the same number each time gets another answer the next time.
        let begun = half.sent_data || half.una.is_some();
        let answers = peer.has_syn && peer.begins_at(segment.ack) && !half.sent_data;
        let is_foreign = if half.has_syn {
            begun && !answers
        } else {
            let continues = half.may_begin(segment.seq.plus(1)) && peer.may_begin(segment.ack);
            !continues && (!peer.has_syn || begun && !answers)
        };
        if over && half.sent_data && half.has_syn {
            SynPlace::Next
        } else if is_foreign {
            SynPlace::Open
        } else {
            SynPlace::Here
        }
    }

    /// Whether a SYN comes so long after the latest one of this connection that it is no copy which the network made.
    fn is_long_after(&self, dir: Direction, segment: &Segment) -> bool {
        let opening = self.handshake.opening(dir);
        opening.is_some_and(|opening| segment.at.since(opening.at) >= NETWORK_COPY_NS)
    }

    /// What a segment of direction `dir` says of `syn`, of direction `syn_dir`, whose place is open.
    #[must_use]
    pub(crate) fn sign_about(
        &self,
        syn_dir: Direction,
        syn: &Segment,
        dir: Direction,
        segment: &Segment,
    ) -> SynSign {
        let flags = segment.flags;
        let first = syn.seq.plus(1);
        let half = &self.halves[syn_dir.index()];
        let over = self.handshake.closing().is_over();
        // Of a stream that has ended no number but that of the next one is met just so.
        let begins = |number: Seq| half.is_nearer_to(first, number) || (over && number == first);
        if flags.has(TcpFlags::SYN) {
            let beyond = i64::from(segment.ack.offset_from(first));
            let answers = dir != syn_dir
                && flags.has(TcpFlags::ACK)
                && (0..=i64::from(syn.payload_len)).contains(&beyond);
            return if answers {
                SynSign::Next
            } else {
                SynSign::None
            };
        }
        if dir == syn_dir {
            // A reset answers the ACK that a SYN of the next connection gets from the earlier one.
            if flags.any(TcpFlags::RST) {
                SynSign::None
            } else if half.has_syn && half.begins_at(syn.seq.plus(1)) {
                // Of one that is over nothing else begins where it began.
                if segment.seq == first {
                    SynSign::Next
                } else {
                    SynSign::None
                }
            } else if begins(segment.seq) {
                SynSign::Next
            } else if over {
                // Nobody goes on with a connection that was reset, or that both sides have closed.
                SynSign::None
            } else {
                SynSign::Stray
            }
        } else if flags.has(TcpFlags::ACK) && begins(segment.ack) {
            SynSign::Next
        } else {
            SynSign::None
        }
    }

    /// A SYN of direction `dir` passed that this connection outlived. What payload it has is of the connection that it
    /// would have begun, and no part of this stream.
    pub(crate) fn on_stray_syn<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        sink: &mut S,
    ) {
        let packet = PacketArrival {
            payload_len: 0,
            ..PacketArrival::from(segment)
        };
        sink.packet(dir, &packet);
        self.halves[dir.index()].strays.add();
    }
}

impl HalfFlow {
    /// Whether the stream, of which the capture missed the SYN, may begin at `first`: not behind what was
    /// seen first, and not far before it.
    fn may_begin(&self, first: Seq) -> bool {
        self.unwrapper().is_none_or(|unwrapper| {
            (-NEAR..=0).contains(&i64::from(first.offset_from(unwrapper.base())))
        })
    }

    /// Whether a sequence or ACK number belongs to a stream that begins at `first` and not to this.
    fn is_nearer_to(&self, first: Seq, number: Seq) -> bool {
        let beyond = i64::from(number.offset_from(first));
        if !(0..=NEAR).contains(&beyond) {
            return false;
        }
        let Some(unwrapper) = self.unwrapper() else {
            return true;
        };
        let offset = unwrapper.offset(number, self.high);
        // Nothing comes behind a FIN but the number that it takes itself.
        let highest = self.fin.map_or(self.high + NEAR, |fin| fin + 1);
        let own = (self.high - NEAR..=highest).contains(&offset);
        // Where both are possible, a gap that ends at just this number would be a coincidence.
        !own || (beyond == 0 && offset > self.high + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Endpoint;

    /// IP and payload bytes of the packets that are told of.
    #[derive(Default)]
    struct Bytes(Vec<(u32, u32)>);

    impl FlowSink for Bytes {
        fn packet(&mut self, _: Direction, packet: &PacketArrival) {
            self.0.push((packet.ip_len, packet.payload_len));
        }
    }

    #[test]
    fn the_payload_of_a_stray_syn_is_none_of_the_flow_that_outlived_it() {
        let syn = Segment {
            flags: TcpFlags::SYN,
            payload_len: 100,
            ip_len: 140,
            ..Segment::empty(
                Endpoint::v4([10, 0, 0, 1], 1000),
                Endpoint::v4([10, 0, 0, 2], 80),
            )
        };
        let (mut connection, mut told) = (Connection::new(), Bytes::default());
        connection.on_stray_syn(Direction::Forward, &syn, &mut told);
        assert_eq!(told.0, [(140, 0)]);
        assert_eq!(connection.state(Direction::Forward).strays, 1);
    }
}
