//! A group of rows as packed columns: what a file of columns is written from.

use super::{Place, SegmentRows, SegmentTable};
use crate::event::{ClassifiedSegment, LossPlace, Reason, RttLabel, Verdict};
use crate::table::packed::{Keys, Numbers, Packed, Shared};

/// Rows that are taken at a time: so few that they stay in the cache while column after column
/// takes its part of them.
const BLOCK_ROWS: usize = 512;

/// Rows one after the other, as columns.
#[derive(Default)]
pub struct SegmentGroup {
    rows: usize,
    /// By their places in the table.
    flows: Keys,
    /// By their places in the table, plus one; 0 for none.
    files: Keys,
    frames: Numbers,
    times: Numbers,
    seqs: Numbers,
    offsets: Numbers,
    payload_lens: Keys,
    /// By their places in `judgements`.
    verdicts: Keys,
    judgements: Vec<Verdict>,
    rtts: Numbers,
    /// By their numbers plus one; 0 for none.
    rtt_labels: Keys,
    in_flight: Numbers,
}

impl SegmentGroup {
    /// Takes the next rows, `rows_max` at most, in the place of those that it had.
    pub(super) fn refill(&mut self, rows: &mut SegmentRows<'_>, rows_max: usize) {
        self.clear();
        let mut block: Vec<(Place, ClassifiedSegment)> = Vec::with_capacity(BLOCK_ROWS);
        while self.rows < rows_max {
            block.clear();
            let wanted = BLOCK_ROWS.min(rows_max - self.rows);
            rows.take(wanted, |place, segment| block.push((place, segment)));
            if block.is_empty() {
                break;
            }
            self.add(&block);
        }
    }

    fn clear(&mut self) {
        self.rows = 0;
        self.judgements.clear();
        for keys in [
            &mut self.flows,
            &mut self.files,
            &mut self.payload_lens,
            &mut self.verdicts,
            &mut self.rtt_labels,
        ] {
            keys.clear();
        }
        for numbers in [
            &mut self.frames,
            &mut self.times,
            &mut self.seqs,
            &mut self.offsets,
            &mut self.rtts,
            &mut self.in_flight,
        ] {
            numbers.clear();
        }
    }

    fn add(&mut self, block: &[(Place, ClassifiedSegment)]) {
        self.rows += block.len();
        let places = || block.iter().map(|(place, _)| place);
        let segments = || block.iter().map(|(_, segment)| segment);
        places().for_each(|place| self.flows.push(place.flow));
        places().for_each(|place| self.files.push(place.file));
        self.frames
            .extend_some(places().map(|place| (place.file > 0).then_some(place.frame as i64)));
        self.times
            .extend(segments().map(|segment| segment.at.as_ns()));
        self.seqs
            .extend(segments().map(|segment| i64::from(segment.seq.0)));
        self.offsets
            .extend(segments().map(|segment| segment.offset));
        segments().for_each(|segment| self.payload_lens.push(segment.payload_len));
        for segment in segments() {
            let judgement = self.judgement(segment.verdict);
            self.verdicts.push(judgement);
        }
        self.rtts
            .extend_some(segments().map(|segment| segment.rtt.map(|(ns, _)| ns)));
        for segment in segments() {
            let label = segment.rtt.map_or(0, |(_, label)| label as u32 + 1);
            self.rtt_labels.push(label);
        }
        let in_flight = |bytes: u64| bytes as i64;
        self.in_flight
            .extend_some(segments().map(|segment| segment.in_flight_bytes.map(in_flight)));
    }

    /// Place of a verdict among those of the group.
    #[inline]
    fn judgement(&mut self, verdict: Verdict) -> u32 {
        let place = self.judgements.iter().position(|known| *known == verdict);
        let place = place.unwrap_or_else(|| {
            self.judgements.push(verdict);
            self.judgements.len() - 1
        });
        place as u32
    }

    /// How many rows it has.
    pub(super) fn len(&self) -> usize {
        self.rows
    }

    /// Its columns, in the order of the table.
    pub(super) fn columns<'a>(&'a self, table: &'a SegmentTable<'a>) -> Vec<Packed<'a>> {
        let of = |flow: u32| &table.flows[flow as usize];
        let text = |text: &'a str| Some(Shared::Text(text));
        let count = |count: u64| Some(Shared::Whole(count as i64));
        let judged = |name: fn(&Verdict) -> Option<&'static str>| {
            let name = move |place: u32| name(&self.judgements[place as usize]);
            self.verdicts
                .column(move |place| name(place).map(Shared::Text))
        };
        let label = |label: u32| {
            let label = RttLabel::ALL.get((label as usize).checked_sub(1)?)?;
            Some(Shared::Text(label.name()))
        };
        vec![
            self.flows.column(|flow| text(&of(flow).capture.name)),
            self.flows.column(|flow| count(of(flow).connection_id)),
            self.flows.column(|flow| text(&of(flow).src)),
            self.flows.column(|flow| count(of(flow).ports().0)),
            self.flows.column(|flow| text(&of(flow).dst)),
            self.flows.column(|flow| count(of(flow).ports().1)),
            self.files.column(|file| table.file(file).map(Shared::Text)),
            Packed::Numbers(&self.frames),
            Packed::Numbers(&self.times),
            Packed::Numbers(&self.seqs),
            Packed::Numbers(&self.offsets),
            self.payload_lens.column(|len| count(len.into())),
            judged(|verdict| Some(verdict.class.name())),
            judged(|verdict| verdict.reason.map(Reason::name)),
            judged(|verdict| verdict.lost.map(LossPlace::name)),
            judged(|verdict| Some(verdict.evidence.name())),
            judged(|verdict| Some(verdict.confidence.name())),
            Packed::Numbers(&self.rtts),
            self.rtt_labels.column(label),
            Packed::Numbers(&self.in_flight),
        ]
    }
}
