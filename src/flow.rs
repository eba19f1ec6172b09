//! Whose segment is it: connections by their endpoints; and conversations of UDP.

mod batch;
mod both;
mod clock;
mod conversations;
mod half_open;
mod index;
mod kept;
mod key;
mod pieces;
mod room;
mod table;
#[cfg(test)]
mod tests;

// Of the pipeline alone, and public all the same: as names of the crate they change what the compiler inlines
// elsewhere, and a packet takes six instructions more (`benches/instructions.rs`).
#[doc(hidden)]
pub use batch::{BatchPart, SegmentBatch};
pub use conversations::{CONVERSATION_SILENCE_NS, ConversationTable};
pub use key::{SHARDS, shard_of, shard_of_datagram};
pub use table::{
    ConnectionIdentity, ConnectionLimits, ConnectionTable, Observer, TableFacts, YoungPayload,
};
