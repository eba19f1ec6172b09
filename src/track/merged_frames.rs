//! Frames that network cards merged: how long their packets are, told from the ids that they took.

use super::half::HalfFlow;
use super::ids::Step;
use super::in_flight::Marks;
use super::packet_size::Mss;
use crate::decode::Segment;
use crate::event::Signal;

/// Packets looked at before one.
const LATELY_MAX: usize = 64;

impl HalfFlow {
    /// What a frame tells that is so many packets on the wire: each has headers like those of the frame.
    pub(super) fn super_segment(&self, segment: &Segment, packets: u16) -> Signal {
        let headers_len = segment.ip_len.saturating_sub(segment.payload_len);
        let full_len = self.packet_size.mss.of_full(segment.timestamps.is_some());
        Signal::SuperSegment {
            further: packets.saturating_sub(1),
            headers_len: u16::try_from(headers_len).unwrap_or(u16::MAX),
            full_len: full_len.unwrap_or(u16::MAX),
        }
    }

    /// How many packets on the wire so many bytes are of a copy with this `TSval`, 0 where there are no timestamps.
    pub(super) fn wire_packets(&self, len: u32, tsval: u32) -> u16 {
        self.packet_size.mss.packets(len, tsval != 0)
    }

    /// The ids that a segment skips may be those of the frame that it goes on from: where a path takes less than the
    /// receiver announced, or nobody knows what it did, frames that network cards merge are of more packets. The
    /// segment's step, knowing that.
    pub(super) fn learn_packet_len(&mut self, segment: &Segment, step: Step) -> Step {
        if !matches!(step, Step::Ahead(_) | Step::Early(_)) {
            return step;
        }
        let skipped = self.ids.last_skipped();
        if self.learn_cut_len(segment, skipped) {
            return Step::Ahead(0);
        }
        let mss = self.packet_size.mss;
        let goes_on = if mss.get().is_some() {
            let continues = self.continues(segment.seq, segment.payload_len);
            continues && !self.owes_ack
        } else {
            // Longer than a packet of Ethernet, the frame took several ids whatever else was sent.
            let goes_on_at = self.unwrapper().map(|unwrapper| unwrapper.seq(self.high));
            goes_on_at == Some(segment.seq)
        };
        if segment.payload_len == 0 || !goes_on {
            return step;
        }
        let stamped = segment.timestamps.is_some();
        let index = self.in_flight.overlapping(self.high - 1, self.high).start;
        let frame = self.in_flight.get(index).filter(|frame| {
            frame.end() == self.high && frame.copies <= 1 && !frame.marks.has(Marks::CONTINUES)
        });
        let Some(len) = frame.map(|frame| frame.len) else {
            return step;
        };
        let is_several = mss.may_be_several(len, stamped);
        if !is_several && mss.get().is_none() {
            return step;
        }
        // What would be one packet, or may be followed by repeats, is several where others have told how long packets are.
        let takes_others = mss.get().is_some() && (!is_several || self.repair.goes_on());
        let packets = mss.packets(len, stamped).saturating_add(skipped);
        let told = self
            .emissions
            .note_frame(len, packets)
            .filter(|&(len, is_known)| {
                (is_known || !takes_others) && self.may_be_packet_len(len, stamped)
            });
        let is_likely = mss.get().is_none() && Mss::is_usual(len, packets);
        if told.is_none() && !is_likely {
            return step;
        }
        if let Some((packet_len, true)) = told {
            self.take_packet_len(packet_len, segment);
        }
        self.ids.explain_last(skipped.into());
        if matches!(step, Step::Early(_)) {
            Step::Early(0)
        } else {
            Step::Ahead(0)
        }
    }

    /// Where a router said that packets are too big, the ids of the first repeat that is cut anew tell how long packets may
    /// be from now on. Whether that is so of those that were `skipped` before `segment`.
    #[cold]
    fn learn_cut_len(&mut self, segment: &Segment, skipped: u16) -> bool {
        let (mss, stamped) = (self.packet_size.mss, segment.timestamps.is_some());
        let Some(len) = self.emissions.take_cut(self.packets) else {
            return false;
        };
        let packets = mss.packets(len, stamped).saturating_add(skipped);
        // What would be one packet may be one, behind which others were lost.
        let is_several = mss.get().is_some() && mss.may_be_several(len, stamped);
        let is_exact = is_several && len.is_multiple_of(packets.into());
        if is_exact {
            self.take_packet_len(len / u32::from(packets), segment);
            self.ids.explain_last(skipped.into());
        }
        is_exact
    }

    /// Packets are known to carry so many bytes, and so `segment` is known to be how many.
    fn take_packet_len(&mut self, packet_len: u32, segment: &Segment) {
        let stamped = segment.timestamps.is_some();
        self.packet_size.mss = Mss::of_packets(packet_len, stamped);
        let packets = self.packet_size.mss.packets(segment.payload_len, stamped);
        self.ids.count_last(packets);
    }

    /// Whether the packets of merged frames may have so many bytes: not where longer ones passed alone lately, nor
    /// where that is a half, a third and so on of what was announced, as where so many connections send frames of one size
    /// in turns, or more than is usual where nobody knows what was.
    fn may_be_packet_len(&self, packet_len: u32, stamped: bool) -> bool {
        let mss = self.packet_size.mss;
        let announced = mss.get().map_or(0, u32::from);
        if mss.may_be_several(packet_len, stamped) {
            return false;
        }
        let shares = announced / packet_len.max(1);
        let is_share = shares > 1 && packet_len * shares > announced - announced / 16;
        let mut lately = self
            .lately(LATELY_MAX)
            .filter(|sent| !mss.may_be_several(sent.len, stamped));
        !is_share
            && lately.all(|sent| sent.len <= packet_len || sent.len.is_multiple_of(packet_len))
    }
}
