//! Records that are decoded one after the other, and what they say.

use std::ops::Range;

use super::config::Config;
use super::order::RecordTimes;
use crate::capture::Record;
use crate::decode::{
    Datagram, Datagrams, Decoded, Echo, Fragment, Segment, Skip, Tally, Usual, decode_datagrams,
    decode_each, decode_into, nearly_usual, unknown_link,
};
use crate::flow::{SHARDS, SegmentBatch, shard_of, shard_of_datagram};

/// What records that follow each other say: those of a window, or packets that were pushed since the batch before.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Parts of it, in their order.
    pub(super) chunks: Vec<Chunk>,
    /// Segments put together from fragments, by ordinal.
    pub(super) whole: Vec<Segment>,
    /// Datagrams put together from fragments, by ordinal.
    pub(super) whole_datagrams: Vec<Datagram>,
    /// Positions of its records in the capture.
    pub(super) ordinals: Range<u64>,
}

/// A part of a batch, which one task decodes.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    /// Position of its first record in the capture.
    first_ordinal: u64,
    /// By shard, once they are sorted.
    pub(super) segments: SegmentBatch,
    /// Segments besides the first of each record that holds several.
    further_segments: u64,
    pub(super) fragments: Vec<Fragment>,
    /// By shard, where they are asked for and there are any.
    datagrams: Vec<Vec<Datagram>>,
    /// Room for those of a record, and parts of others.
    udp: Datagrams,
    pub(super) echoes: Vec<Echo>,
    pub(super) tally: Tally,
    /// Of its records.
    times: RecordTimes,
}

impl Chunk {
    /// Forgets all; the record that comes next is at `first_ordinal`.
    pub(super) fn clear(&mut self, first_ordinal: u64) {
        self.first_ordinal = first_ordinal;
        self.segments.clear(first_ordinal);
        self.further_segments = 0;
        self.fragments.clear();
        self.datagrams.iter_mut().for_each(Vec::clear);
        self.udp.clear();
        self.echoes.clear();
        self.tally = Tally::default();
        self.times = RecordTimes::default();
    }

    /// Records that gave segments: one each, but of a record that holds several.
    pub(super) fn records_in_segments(&self) -> u64 {
        self.segments.len() as u64 - self.further_segments
    }

    /// The times before it, with those of its records.
    pub(super) fn times_after(&self, before: RecordTimes) -> RecordTimes {
        before.joined(self.times, self.first_ordinal)
    }

    /// The datagrams of a shard, by ordinal.
    pub(super) fn datagrams(&self, shard: usize) -> &[Datagram] {
        self.datagrams.get(shard).map_or(&[], Vec::as_slice)
    }

    /// Parts of datagrams.
    pub(super) fn datagram_fragments(&self) -> &[Fragment] {
        &self.udp.fragments
    }

    /// Takes these records alone, of which the first is at `first_ordinal`, and sorts their segments.
    pub(super) fn fill<'a>(
        &mut self,
        records: impl Iterator<Item = Record<'a>>,
        first_ordinal: u64,
        config: &Config,
    ) {
        self.clear(first_ordinal);
        // Two loops: in the usual one nothing is asked.
        if config.filter.is_none() {
            self.take_all(records, config, |_| true);
        } else {
            let wants = |usual: &Usual| config.wants(|| usual.ends());
            self.take_all(records, config, wants);
        }
        self.segments.sort();
    }

    /// Takes one more record, so many behind the first. Before its segments are looked at they have to be sorted.
    pub(super) fn push(&mut self, record: Record<'_>, after_records: u32, config: &Config) {
        let at = record.at;
        let wants = |usual: &Usual| config.wants(|| usual.ends());
        let mut decoded = Decoded::Skipped(Skip::NonIp);
        self.take_one(record, after_records, config, wants, &mut decoded);
        let first_ordinal = self.first_ordinal;
        self.times
            .note(at, || first_ordinal + u64::from(after_records));
    }

    /// Decodes records, of which `wants` says whether what a usual one holds is wanted.
    #[inline(always)]
    fn take_all<'a>(
        &mut self,
        records: impl Iterator<Item = Record<'a>>,
        config: &Config,
        wants: impl Fn(&Usual) -> bool,
    ) {
        let mut decoded = Decoded::Skipped(Skip::NonIp);
        let mut times = RecordTimes::default();
        for (after_records, record) in (0..).zip(records) {
            times.note(record.at, || self.first_ordinal + u64::from(after_records));
            self.take_one(record, after_records, config, &wants, &mut decoded);
        }
        self.times = times;
    }

    /// Decodes a record, so many behind the first; `decoded` is room for what is not usual.
    #[inline(always)]
    fn take_one(
        &mut self,
        record: Record<'_>,
        after_records: u32,
        config: &Config,
        wants: impl Fn(&Usual) -> bool,
        decoded: &mut Decoded,
    ) {
        match self.segments.push_usual(&record, after_records, wants) {
            Some(true) => {}
            Some(false) => self.tally.add(Skip::Filtered),
            None => {
                let ordinal = self.first_ordinal + u64::from(after_records);
                self.take_odd(record, ordinal, config, decoded);
            }
        }
    }

    /// What is in a record that is not just as nearly all are; `decoded` is room for that.
    // Apart, so that the usual way has the registers for itself.
    #[inline(never)]
    fn take_odd(
        &mut self,
        record: Record<'_>,
        ordinal: u64,
        config: &Config,
        decoded: &mut Decoded,
    ) {
        if let Some(segment) = nearly_usual(&record, ordinal) {
            self.take(&segment, config);
            return;
        }
        if config.udp {
            if self.decode_datagrams(&record, ordinal, config, decoded) {
                return;
            }
        } else {
            decode_into(&record, ordinal, &config.decode, decoded);
        }
        match decoded {
            Decoded::Segment(segment) => self.take(segment, config),
            Decoded::FirstOf(..) => self.take_each(&record, ordinal, config),
            Decoded::Fragment(fragment) => self.fragments.push(*fragment),
            Decoded::Echo(echo) => {
                self.tally.add(Skip::Icmp);
                let filter = config.filter.as_ref();
                if filter.is_none_or(|filter| filter.keeps_ping(echo.src, echo.dst)) {
                    self.echoes.push(*echo);
                }
            }
            Decoded::Skipped(Skip::UnknownLinkType) => self.skip_unknown(&record),
            Decoded::Skipped(skip) => self.tally.add(*skip),
        }
    }

    /// Decodes a record to `decoded`, and takes its datagrams: they count as skipped all the same. Whether it is a part
    /// of one, and counts with that.
    #[inline(never)]
    fn decode_datagrams(
        &mut self,
        record: &Record<'_>,
        ordinal: u64,
        config: &Config,
        decoded: &mut Decoded,
    ) -> bool {
        let before = self.udp.fragments.len();
        decode_datagrams(record, ordinal, &config.decode, decoded, &mut self.udp);
        let is_of_udp = matches!(decoded, Decoded::Skipped(Skip::Udp | Skip::LaterFragment));
        let parts = &mut self.udp.fragments[before..];
        if is_of_udp && self.udp.whole.is_empty() && parts.len() == 1 {
            return true;
        }
        let mut is_left_out = is_of_udp && parts.is_empty() && !self.udp.whole.is_empty();
        for part in parts {
            part.has_record = false;
        }
        for datagram in self.udp.whole.drain(..) {
            if config.wants_datagram(&datagram) {
                self.datagrams.resize_with(SHARDS, Vec::new);
                self.datagrams[shard_of_datagram(&datagram)].push(datagram);
                is_left_out = false;
            }
        }
        if is_left_out {
            *decoded = Decoded::Skipped(Skip::Filtered);
        }
        false
    }

    /// The segments of a record that holds several.
    #[cold]
    fn take_each(&mut self, record: &Record<'_>, ordinal: u64, config: &Config) {
        let before = self.segments.len();
        decode_each(record, ordinal, &config.decode, &mut |segment| {
            if config.wants(|| (segment.src, segment.dst)) {
                self.segments.push(shard_of(segment), segment);
            }
        });
        match (self.segments.len() - before).checked_sub(1) {
            Some(further) => self.further_segments += further as u64,
            None => self.tally.add(Skip::Filtered),
        }
    }

    #[cold]
    fn skip_unknown(&mut self, record: &Record<'_>) {
        self.tally.add_unknown(unknown_link(record));
    }

    #[inline]
    fn take(&mut self, segment: &Segment, config: &Config) {
        if config.wants(|| (segment.src, segment.dst)) {
            self.segments.push(shard_of(segment), segment);
        } else {
            self.tally.add(Skip::Filtered);
        }
    }
}
