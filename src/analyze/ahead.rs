//! Flows and connections gone through one after the other, which are somewhere else in the memory each.

use super::flow::Flow;
use crate::observe::{ConnectionRecord, Wanted, expect_ahead};

/// All of these flows; what comes soon is asked for on the way.
pub(crate) fn all_ahead<'s, 'a>(
    flows: &'s [Flow<'a>],
    wanted: Wanted,
) -> impl Iterator<Item = &'s Flow<'a>> {
    flows.iter().enumerate().map(move |(place, flow)| {
        expect_ahead(flows, place, wanted, |flow| flow.connection());
        flow
    })
}

/// These connections; what comes soon is asked for on the way.
pub(super) fn connections_ahead(
    connections: &[(u64, Box<ConnectionRecord>)],
    wanted: Wanted,
) -> impl Iterator<Item = &(u64, Box<ConnectionRecord>)> {
    connections
        .iter()
        .enumerate()
        .map(move |(place, connection)| {
            expect_ahead(connections, place, wanted, |(_, record)| record);
            connection
        })
}
