//! What records say besides segments, put together in the order of the capture.

use super::capture::CaptureFacts;
use super::chunk::Batch;
use super::config::Config;
use super::order::RecordTimes;
use super::pings::Pings;
use crate::decode::{FragmentTable, Skip, Tally};

/// What the records so far say besides segments.
#[derive(Default)]
pub(super) struct Gathered {
    fragments: FragmentTable,
    /// Those of UDP.
    datagrams: FragmentTable,
    pings: Pings,
    tally: Tally,
    records: u64,
    /// Records of TCP, counted where they are taken: all others are to be in the tally.
    tcp_records: u64,
    times: RecordTimes,
}

impl Gathered {
    /// Records taken so far: the position of the one that comes next.
    pub(super) fn records(&self) -> u64 {
        self.records
    }

    /// Takes what the next records said, and puts fragments together: what becomes whole joins the batch, unless it is
    /// not wanted.
    pub(super) fn take(&mut self, batch: &mut Batch, records: u64, config: &Config) {
        let first = self.records;
        self.records += records;
        batch.ordinals = first..self.records;
        batch.whole.clear();
        batch.whole_datagrams.clear();
        for chunk in &batch.chunks {
            self.tally.merge(&chunk.tally);
            self.tcp_records += chunk.records_in_segments();
            self.times = chunk.times_after(self.times);
            chunk
                .echoes
                .iter()
                .for_each(|echo| self.pings.on_echo(echo));
            for &fragment in chunk.datagram_fragments() {
                let before = self.datagrams.records_in_whole();
                let Some(datagram) = self.datagrams.push_datagram(fragment) else {
                    continue;
                };
                let records = self.datagrams.records_in_whole() - before;
                if config.wants_datagram(&datagram) {
                    batch.whole_datagrams.push(datagram);
                    self.tally.add_many(Skip::Udp, records);
                } else {
                    self.tally.add_many(Skip::Filtered, records);
                }
            }
            for &fragment in &chunk.fragments {
                let before = self.fragments.records_in_whole();
                let Some(segment) = self.fragments.push(fragment) else {
                    continue;
                };
                let records = self.fragments.records_in_whole() - before;
                if config.wants(|| (segment.src, segment.dst)) {
                    batch.whole.push(segment);
                    self.tcp_records += records;
                } else {
                    self.tally.add_many(Skip::Filtered, records);
                }
            }
        }
    }

    /// The facts of the capture, as far as its records tell them.
    pub(super) fn facts(&self) -> CaptureFacts {
        let mut tally = self.tally;
        tally.merge(&self.fragments.skipped());
        tally.merge(&self.datagrams.skipped());
        CaptureFacts {
            records: self.records,
            tcp_records: self.tcp_records,
            tally,
            span: self.times.span(),
            disorder: self.times.disorder(),
            pings: self.pings.pings().to_vec(),
            ..CaptureFacts::default()
        }
    }
}
