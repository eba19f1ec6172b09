//! Shard results in one order: that of each connection's first record, whatever ran where.

use super::capture::{CaptureAnalysis, CaptureFacts};
use super::config::Config;
use super::pairs::Pairs;
use crate::observe::{ConnectionRecord, Recorder};

impl CaptureAnalysis {
    pub(super) fn merge<const SEGMENTS: bool>(
        facts: CaptureFacts,
        recorders: Vec<Recorder<SEGMENTS>>,
        config: &Config,
    ) -> Self {
        assert_eq!(
            facts.records,
            facts.tcp_records + facts.tally.total(),
            "a record got lost"
        );
        // Each with its first record beside it: sorted where they are, they would be fetched from all over
        // the memory again and again.
        let mut connections: Vec<(u64, Box<ConnectionRecord>)> = Vec::new();
        let mut silent: Vec<u64> = Vec::new();
        for mut recorder in recorders {
            let records = recorder.connections.into_iter();
            connections.extend(records.map(|record| (record.identity.first_ordinal, record)));
            silent.append(&mut recorder.silent);
        }
        connections.sort_unstable_by_key(|&(first_ordinal, _)| first_ordinal);
        silent.sort_unstable();
        let connections_total = (connections.len() + silent.len()) as u64;
        for (rank, (id, _)) in connections.iter_mut().enumerate() {
            let before = silent.partition_point(|&ordinal| ordinal < *id);
            *id = (rank + before) as u64;
        }
        let mut analysis = Self {
            connections,
            connections_total,
            has_udp: config.udp,
            ..Self::of_facts(facts, config)
        };
        analysis.pairs = Pairs::of(&analysis, config.pairs);
        analysis
    }
}
