//! What many runs say together.
//!
//! A manifest names runs, labels and conditions; with the files that are there it
//! becomes a [`StudyPlan`]; carried out, that becomes [`StudyResults`]: runs, flows and groups as
//! plain data, from which tables and charts are made. [`draft`] drafts a manifest from files.
//!
//! ```
//! use ccanalyze::analyze::Watch;
//! use ccanalyze::study::{Metric, SampleKind, StudyPlan};
//!
//! # let folder = tempfile::tempdir()?;
//! # let manifest = folder.path().join("study.toml");
//! # let captures = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/captures");
//! # let text = format!("[study]\nname = 'losses'\nfolder = '{captures}'\ngroup_by = ['what']\n[[runs]]\nfiles = '{{what}}-loss.pcap.zst'\n");
//! # std::fs::write(&manifest, text)?;
//! let plan = StudyPlan::read(&manifest)?;
//! // Without a folder that remembers what runs came to.
//! let results = plan.carry_out(None, &Watch::default());
//! assert!(results.runs.iter().all(|run| run.error.is_none()));
//! let groups = results.groups.iter();
//! for group in groups.filter(|group| (group.metric, group.kind) == (Metric::GoodputBps, SampleKind::Run)) {
//!     for (label, value) in results.labels_of(group) {
//!         print!("{} = {}, ", label.name, value.map_or("-", |value| value.text()));
//!     }
//!     let goodput = &group.statistics;
//!     println!("{} runs: {} bit/s", goodput.n, goodput.mean);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cache;
mod compare;
mod composition;
mod conditions;
mod files;
mod groups;
mod harm;
pub mod import;
mod init;
mod labels;
mod manifest;
mod measure;
mod measured;
mod metrics;
mod natural;
mod plan;
mod queue;
mod reports;
mod results;
mod template;
pub mod units;
mod window;
pub(crate) mod words;

pub use compare::{COMPARED_MAX, Comparison, Test};
pub use composition::{Composition, KINDS_MAX, Kinds};
pub use conditions::{
    Buffer, CapacityTrace, Conditions, PACKET_BYTES, PathCapacity, TraceColumns, TraceOrigin,
};
pub use groups::{Group, GroupKey, SampleKind};
pub use init::{DraftError, draft};
pub use labels::{
    FlowCase, FlowEnds, FlowKey, FlowRule, Label, LabelKind, LabelValue, RESERVED, UNLABELLED,
};
pub use manifest::{ManifestError, Mistake};
#[cfg(feature = "cli")]
pub(crate) use measure::with_causes;
pub use measure::{
    FlowMeasure, MeasureOptions, RunMeasure, Sample, SeriesKind, SeriesOf, SeriesPoint, Shortfall,
};
pub use measured::MeasuredRun;
pub use metrics::{Metric, Values};
pub use plan::{Average, Compositions, PlannedRun, Samples, StudyPlan};
pub use queue::QueuePoints;
pub use reports::{
    Cells, GridLabels, HeatMapReport, PathSegment, ReportColumn, ReportPlan, ReportTable,
    SeriesReport, SplitPath,
};
#[cfg(feature = "charts")]
pub(crate) use reports::{LOSSES, SeriesLine, VARIANTS, means_over_bins, rate_label, seen_from};
pub use results::{StudyFlow, StudyResults, StudyRun};
pub use template::{Template, TemplateFault};
pub use window::Window;
