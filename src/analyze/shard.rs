//! A shard's connections and, where they are asked for, its conversations of UDP.

use std::ops::RangeInclusive;

use super::config::Config;
use crate::flow::{ConnectionTable, ConversationTable, TableFacts, YoungPayload};
use crate::observe::{LiveConnection, RecordConfig, Recorder};

/// What has its ends in one shard.
#[derive(Clone)]
pub(super) struct Shard<const SEGMENTS: bool> {
    pub(super) connections: ConnectionTable<Recorder<SEGMENTS>>,
    pub(super) conversations: Option<ConversationTable<Recorder<SEGMENTS>>>,
}

impl<const SEGMENTS: bool> Shard<SEGMENTS> {
    pub(super) fn new(record: &RecordConfig, config: &Config) -> Self {
        let conversations = config.udp.then(|| {
            // Of a stream that is not known there is no sequence.
            let record = RecordConfig {
                time_sequence: false,
                ..record.clone()
            };
            ConversationTable::new(Recorder::new(record), config.limits.connections_max)
        });
        Self {
            connections: ConnectionTable::new(Recorder::new(record.clone()), config.limits),
            conversations,
        }
    }

    /// What is kept of what has ended.
    pub(super) fn recorders_mut(&mut self) -> impl Iterator<Item = &mut Recorder<SEGMENTS>> {
        let others = self.conversations.iter_mut();
        std::iter::once(self.connections.observer_mut())
            .chain(others.map(ConversationTable::observer_mut))
    }

    /// What is kept of what goes on, but of the young.
    pub(super) fn sinks_mut(&mut self) -> impl Iterator<Item = &mut LiveConnection<SEGMENTS>> {
        let others = self.conversations.iter_mut();
        self.connections
            .sinks_mut()
            .chain(others.flat_map(ConversationTable::sinks_mut))
    }

    /// How many go on, without connections of one packet.
    pub(super) fn len(&self) -> usize {
        self.connections.len()
            + self
                .conversations
                .as_ref()
                .map_or(0, ConversationTable::len)
    }

    /// Payload of each young one, in bytes, without connections of one packet.
    pub(super) fn young_bytes(&self) -> impl Iterator<Item = u64> {
        let others = self.conversations.iter();
        self.connections
            .young_bytes()
            .chain(others.flat_map(ConversationTable::young_bytes))
    }

    /// Payload of each direction of those of them whose total of both lies in `bytes`.
    pub(super) fn young_payloads(
        &self,
        bytes: RangeInclusive<u64>,
    ) -> impl Iterator<Item = YoungPayload> {
        let others = self.conversations.iter();
        let of_others = bytes.clone();
        self.connections
            .young_payloads(bytes)
            .chain(others.flat_map(move |table| table.young_payloads(of_others.clone())))
    }

    /// The records have ended: what is kept of all, and what was held.
    pub(super) fn finish(self) -> impl Iterator<Item = (Recorder<SEGMENTS>, TableFacts)> {
        let others = self.conversations.map(ConversationTable::finish);
        std::iter::once(self.connections.finish()).chain(others)
    }
}

/// Memory.
impl<const SEGMENTS: bool> Shard<SEGMENTS> {
    /// What all takes, in bytes, and will take of what goes on.
    pub(super) fn memory_bytes(&mut self) -> usize {
        let kept: usize = self.recorders_mut().map(|kept| kept.memory_bytes()).sum();
        let others = self
            .conversations
            .as_ref()
            .map_or(0, ConversationTable::memory_bytes);
        self.connections.memory_bytes() + others + kept
    }

    /// How many were put away by limits.
    pub(super) fn put_away(&self) -> u64 {
        let others = self.conversations.as_ref().map(ConversationTable::facts);
        self.connections.facts().cut_by_limit + others.map_or(0, |facts| facts.cut_by_limit)
    }

    /// Puts away what has been silent for so long, in ns of capture time.
    pub(super) fn put_away_silent(&mut self, silent_ns: i64) {
        self.connections.put_away_silent(silent_ns);
        if let Some(others) = &mut self.conversations {
            others.put_away_silent(silent_ns);
        }
    }

    /// Memory that would be free without what goes on, in bytes.
    pub(super) fn excess_bytes(&self) -> usize {
        let others = self.conversations.as_ref();
        self.connections.excess_bytes() + others.map_or(0, ConversationTable::excess_bytes)
    }

    /// Puts away a quarter of what holds more than what is kept of it.
    pub(super) fn put_away_excess(&mut self) {
        self.connections.put_away_excess();
        if let Some(others) = &mut self.conversations {
            others.put_away_excess();
        }
    }

    /// Payload of all flows or of what has several, in bytes, and memory of it that can be given up.
    pub(super) fn details(&mut self) -> Vec<(u64, usize)> {
        let mut details: Vec<(u64, usize)> = self.connections.young_details().collect();
        if let Some(others) = &self.conversations {
            details.extend(others.young_details());
        }
        details.extend(self.recorders_mut().flat_map(|kept| kept.details()));
        details.extend(self.sinks_mut().flat_map(|sink| sink.details()));
        details
    }

    /// Gives up what can be given up of flows with at most so much payload.
    pub(super) fn give_up_details(&mut self, payload_bytes: u64) {
        for kept in self.recorders_mut() {
            kept.give_up_details(payload_bytes);
        }
        let table = &mut self.connections;
        table.give_up(|sink| sink.give_up_details(payload_bytes));
        table.give_up_young(payload_bytes);
        if let Some(others) = &mut self.conversations {
            others.give_up(payload_bytes, |sink| sink.give_up_details(payload_bytes));
        }
    }
}
