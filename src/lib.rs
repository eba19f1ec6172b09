//! Goodput, latency, loss, reordering and fairness of TCP flows, from packet captures.
//!
//! A flow is one direction of a connection. What each number means, its unit and its source, is in
//! [METRICS.md](definitions), whose ids (G1, R2, ...) the documentation of types and functions refers to.
//!
//! ```
//! use ccanalyze::Analysis;
//! use ccanalyze::analyze::Config;
//!
//! let analysis = Analysis::of(["testdata/captures/two-flows-cubic-bbr.pcap.zst"], &Config::default());
//! let capture = &analysis.captures[0];
//! // Never without results for what could be read, and never silent about the rest.
//! assert!(capture.errors.is_empty());
//! // Two downloads of 1.2 MB compete; their requests are flows, too.
//! let downloads: Vec<_> = capture.flows().filter(|flow| flow.summary().payload_bytes > 1_000_000).collect();
//! assert_eq!(downloads.len(), 2);
//! for flow in downloads {
//!     let summary = flow.summary();
//!     assert!(flow.goodput_bps() < Some(20e6), "the link has 20 Mbit/s");
//!     assert!(summary.rtt.ns_min() > Some(40_000_000), "and a delay of 40 ms");
//! }
//! ```
//!
//! # Where to begin
//!
//! | there are | and wanted is | begin with |
//! | --- | --- | --- |
//! | capture files, pipes, readers | results of flows, pairs, captures | [`Analysis`]; [`analyze::Config`] has the options of the command |
//! | many captures | a few numbers of each | [`Analysis::each`], which holds no more of them than there are threads |
//! | packets | results of flows, pairs, as of a capture that holds them | [`analyze::PacketAnalysis`] |
//! | packets that still come | the same, of those so far, time and again | [`analyze::PacketAnalysis::so_far`] |
//! | packets | to hear of round trips, repeats, ACKs as they come | [`analyze::Engine`] with a [`flow::Observer`] and its [`event::FlowSink`] |
//! | packets that go on without end | results of flows as these end | [`analyze::Engine`] with an [`observe::Recorder`] |
//! | captures | records, or decoded headers, alone | [`capture::CaptureReader`], [`decode::decode`] |
//! | captures before and behind a queue | drops and delays of each packet | [`path::PathAnalysis`] |
//! | numbers of one's own | fairness, balance, intervals, tests | [`metric`]: pure functions |
//! | results | data frames (feature `tables`) | `table::RunTables`; `table::polars` is the library of their types |
//! | data frames | files of tables | `report::tables` |
//! | results | charts, as PNG and SVG (feature `charts`) | `report::chart::draw_all`, or `for_each_chart` |
//! | a manifest of runs | statistics, comparisons | `study::StudyPlan` |
//!
//! # What always holds
//!
//! The same captures and options give the same results, whatever the number of threads and the way files are read.
//! No input makes it panic, or take memory without bound: what a damaged file held up to there is in the results, and
//! [`capture::CaptureError`] says which file, record and byte. Instants are integers of nanoseconds
//! ([`time::CaptureTime`]), and what was not seen is `None`, never 0, but for the smallest and largest of a bin, which
//! mean nothing where it has none ([`observe::Bin`], [`path::FlowBin`]).
//!
//! # Features
//!
//! `cli` (the command), `tables` (Parquet, Arrow, CSV and JSON lines, studies) and `charts` (PNG and SVG, with tables)
//! are on by default. Without them the crate is the engine alone, which compiles in a fraction of the time.

/// Each is shown as its word, which is that of tables where it is in one.
macro_rules! shown_by_name {
    ($($shown:ty),+) => {
        $(impl std::fmt::Display for $shown {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        })+
    };
}

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

/// The page that documentation refers to by ids, METRICS.md, to be read beside it.
#[cfg(doc)]
#[doc = include_str!("../METRICS.md")]
pub mod definitions {}

pub use analyze::Analysis;

/// The example in README.md is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
