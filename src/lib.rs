//! Goodput, latency, loss, reordering and fairness of TCP flows, from packet captures.

pub mod analyze;
pub mod capture;
pub mod decode;
pub mod event;
pub mod flow;
pub mod metric;
pub mod observe;
pub mod seq;
pub mod time;
pub mod track;

pub use analyze::Analysis;
