//! What is kept of each connection: counts, distributions, series.

mod dispersion;
mod estimates;
mod live_series;
mod memory;
mod payload_curve;
mod quantiles;
mod record;
mod recorder;
mod segment_rows;
mod series;
mod summary;
mod time_sequence;

pub use dispersion::Spacing;
pub use estimates::{delivery_bps_max, standing_queue_ns};
pub use memory::MEMORY_BYTES;
pub use payload_curve::{BytesBy, PayloadCurve};
pub use quantiles::{DelayBucket, DelayDistribution, DelayStats};
pub use record::{ConnectionFacts, ConnectionRecord, FlowRecord, OutlinedFlow, RecordParts};
pub(crate) use record::{Wanted, expect_ahead};
pub use recorder::{LiveConnection, RecordConfig, Recorder};
pub use segment_rows::{Ordinals, Rest, SegmentIter, SegmentRows};
pub use series::{BIN_NS, Bin, Bins, Delivery, Series};
pub use summary::{DirectionSummary, Incidents, Outline, Span};
pub use time_sequence::{Mark, MarkKind, Reach, Slot, TimeSequence};
