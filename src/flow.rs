//! Whose segment is it: connections by their endpoints.

mod half_open;
mod kept;
mod key;
mod pieces;
mod prefetch;
mod table;
#[cfg(test)]
mod tests;

pub use key::{SHARDS, shard_of};
pub(crate) use prefetch::prefetch;
pub use table::{FlowIdentity, FlowLimits, FlowTable, Observer, TableFacts};
