//! What is told of a data segment, and the rows that wait until nothing can change them.

use super::earlier_copies::Opened;
use super::half::HalfFlow;
use super::strays::first_byte;
use crate::decode::Segment;
use crate::event::{
    Class, ClassifiedSegment, DataArrival, Direction, Evidence, FlowSink, LossPlace, Verdict,
};
use crate::seq::Seq;
use crate::time::CaptureTime;

/// What a data segment turned out to be; the fields are those of [`DataArrival`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) verdict: Verdict,
    pub(super) unique_len: u32,
    pub(super) repeated_len: u32,
    pub(super) extent: Option<(u32, i64)>,
    /// The first copy was lost upstream.
    pub(super) lost_upstream: bool,
    /// Copies that passed here and are now known to be lost.
    pub(super) lost_downstream: u32,
}

impl Taken {
    /// A segment of `len` bytes, `unique_len` of them not seen before: a retransmission repeats all
    /// of its bytes, others none.
    pub(super) fn of(verdict: Verdict, unique_len: u32, len: u32) -> Self {
        let repeats = verdict.class == Class::Retransmission;
        Self {
            verdict,
            unique_len,
            repeated_len: if repeats { len } else { 0 },
            extent: None,
            lost_upstream: verdict.lost == Some(LossPlace::Upstream),
            lost_downstream: 0,
        }
    }
}

impl HalfFlow {
    /// How many packets of this direction passed since the hole opened into which a late original falls at `at`, and
    /// how long ago that was; of one whose hole is not known, that it was late.
    pub(super) fn extent(
        &self,
        verdict: Verdict,
        opened: Option<Opened>,
        at: CaptureTime,
    ) -> Option<(u32, i64)> {
        let since = |opened: Opened| {
            let packets = self.packets.saturating_sub(opened.after);
            (packets as u32, at.since(opened.at))
        };
        (verdict.class == Class::Reordered).then(|| opened.map_or((1, 0), since))
    }

    /// Tells the sink what a segment turned out to be, and keeps a row where rows are wanted.
    pub(super) fn report<S: FlowSink>(
        &mut self,
        dir: Direction,
        segment: &Segment,
        offset: i64,
        taken: Taken,
        sink: &mut S,
    ) {
        let arrival = DataArrival {
            ordinal: segment.ordinal,
            at: segment.at,
            offset,
            payload_len: segment.payload_len,
            unique_len: taken.unique_len,
            repeated_len: taken.repeated_len,
            in_flight_bytes: self.in_flight_bytes(),
            verdict: taken.verdict,
            extent: taken.extent,
        };
        sink.data(dir, &arrival);
        if S::SEGMENTS {
            self.keep_row(first_byte(segment), &arrival);
        }
    }

    /// Keeps a row of a segment that was reported, whose first byte has this number.
    fn keep_row(&mut self, seq: Seq, arrival: &DataArrival) {
        let number = self.rows.push(row_of(seq, arrival));
        let &DataArrival {
            offset,
            payload_len,
            verdict,
            ..
        } = arrival;
        // A probe of a byte that was sent is no copy that could be judged again.
        let probes = matches!(verdict.class, Class::KeepAlive | Class::WindowProbe);
        // Nor is a repeat that a later one has overtaken.
        let is_overtaken = verdict.class == Class::Retransmission
            && arrival.unique_len == 0
            && verdict.evidence != Evidence::SeenBefore;
        if !(verdict.class == Class::Duplicate
            || (probes && arrival.unique_len == 0)
            || is_overtaken)
        {
            let end = offset + i64::from(payload_len);
            for index in self.in_flight.overlapping(offset, end) {
                if let Some(sent) = self.in_flight.get_mut(index)
                    && (verdict.class != Class::Reordered || sent.copies <= 1)
                {
                    sent.row = number;
                }
            }
        }
    }

    /// The same of the next part of the stream, which is the last that is in flight.
    #[inline]
    pub(super) fn keep_next_row(&mut self, seq: Seq, arrival: &DataArrival) {
        let number = self.rows.push(row_of(seq, arrival));
        if let Some(sent) = self.in_flight.last_mut() {
            sent.row = number;
        }
    }

    /// Hands the rows to the sink that nothing can change any more.
    pub(super) fn release_rows<S: FlowSink>(&mut self, dir: Direction, sink: &mut S) {
        if S::SEGMENTS {
            let lowest = self.in_flight.lowest_start();
            self.release_rows_below(dir, lowest.unwrap_or(i64::MIN), sink);
        }
    }

    /// Hands all rows to the sink: nothing more will come.
    pub(super) fn release_all_rows<S: FlowSink>(&mut self, dir: Direction, sink: &mut S) {
        if S::SEGMENTS {
            self.release_rows_below(dir, i64::MAX, sink);
        }
    }

    fn release_rows_below<S: FlowSink>(&mut self, dir: Direction, floor: i64, sink: &mut S) {
        // Longer than segments are in flight they need not wait, as nothing changes them then.
        let most = self.in_flight.ranges_max;
        self.rows
            .take_final(floor, most, |row| sink.segment(dir, row));
    }
}

/// What is known of a segment when it passes.
#[inline]
fn row_of(seq: Seq, arrival: &DataArrival) -> ClassifiedSegment {
    ClassifiedSegment {
        ordinal: arrival.ordinal,
        at: arrival.at,
        seq,
        offset: arrival.offset,
        payload_len: arrival.payload_len,
        verdict: arrival.verdict,
        rtt: None,
        in_flight_bytes: arrival.in_flight_bytes,
    }
}
