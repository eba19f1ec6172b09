//! Goodput, latency, loss, reordering and fairness of TCP flows, from packet captures.

pub mod analyze;
pub mod capture;
#[cfg(feature = "cli")]
pub mod cli;
pub mod decode;
pub mod event;
pub mod flow;
pub mod metric;
pub mod observe;
mod packing;
pub mod path;
mod prefetch;
#[cfg(feature = "tables")]
pub mod report;
pub mod seq;
#[cfg(feature = "tables")]
pub mod study;
#[cfg(feature = "tables")]
pub mod table;
pub mod time;
pub mod track;

pub use analyze::Analysis;

/// The example in README.md is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
