//! Whose segment is it: connections by their endpoints.

mod key;
mod table;

pub use key::{ConnectionKey, SHARDS, shard_of};
pub use table::{FlowIdentity, FlowLimits, FlowTable, Observer, TableFacts};
