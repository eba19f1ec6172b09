//! One row a data segment (METRICS.md section 2).

use polars::prelude::DataFrame;

use super::addresses::Addresses;
use super::schema::{self, Column, column_list};
use crate::analyze::{Analysis, CaptureAnalysis, Flow};
use crate::event::{ClassifiedSegment, LossPlace, Reason};

/// What the rows of one flow have in common, written once for all of them.
struct OfFlow<'a> {
    capture: &'a CaptureAnalysis,
    files: &'a [String],
    flow: Flow<'a>,
    addresses: Addresses,
}

/// What a row is made of.
#[derive(Clone, Copy)]
pub(super) struct SegmentRow<'a> {
    of: &'a OfFlow<'a>,
    segment: &'a ClassifiedSegment,
}

impl SegmentRow<'_> {
    /// Place of its file among the capture's, and its number there.
    fn frame(&self) -> Option<(usize, u64)> {
        self.of.capture.frames.frame(self.segment.ordinal)
    }
}

/// Calls `each` with the rows of all segments, by capture and in the order they passed, no more than
/// `rows_max` at a time; with none at all where there are none.
///
/// # Errors
/// Those of `each`.
pub fn segment_blocks<E>(
    analysis: &Analysis,
    rows_max: usize,
    mut each: impl FnMut(DataFrame) -> Result<(), E>,
) -> Result<(), E> {
    let files: Vec<Vec<String>> = analysis.captures.iter().map(file_names).collect();
    let flows: Vec<Vec<OfFlow<'_>>> = analysis
        .captures
        .iter()
        .zip(&files)
        .map(|(capture, files)| {
            let flows = capture.flows().map(|flow| OfFlow {
                capture,
                files,
                flow,
                addresses: Addresses::of(&flow),
            });
            flows.collect()
        })
        .collect();
    let mut rows = Vec::new();
    for flows in &flows {
        let first = rows.len();
        for of in flows {
            let segments = of.flow.record.segments.iter();
            rows.extend(segments.map(|segment| SegmentRow { of, segment }));
        }
        rows[first..].sort_by_key(|row: &SegmentRow<'_>| row.segment.ordinal);
    }
    if rows.is_empty() {
        return each(schema::frame(&columns(), &rows));
    }
    rows.chunks(rows_max.max(1))
        .try_for_each(|block| each(schema::frame(&columns(), block)))
}

fn file_names(capture: &CaptureAnalysis) -> Vec<String> {
    let names = capture.files.iter();
    names.map(|file| file.path.display().to_string()).collect()
}

pub(super) fn columns<'a>() -> Vec<Column<SegmentRow<'a>>> {
    column_list![
    "capture" "-" Name |row| Some(&row.of.capture.name);
    "connection_id" "-" Count |row| Some(row.of.flow.connection_id);
    "src_ip" "-" Name |row| Some(&row.of.addresses.src);
    "src_port" "-" Count |row| Some(u64::from(row.of.flow.ends().0.port()));
    "dst_ip" "-" Name |row| Some(&row.of.addresses.dst);
    "dst_port" "-" Count |row| Some(u64::from(row.of.flow.ends().1.port()));
    "file" "-" Name |row| row.of.files.get(row.frame()?.0).map(String::as_str);
    "frame" "-" Count |row| row.frame().map(|(_, frame)| frame);
    "time_ns" "-" Whole |row| Some(row.segment.at.as_ns());
    "seq" "-" Count |row| Some(u64::from(row.segment.seq.0));
    "offset" "-" Whole |row| Some(row.segment.offset);
    "payload_len" "C3" Count |row| Some(u64::from(row.segment.payload_len));
    "class" "CLASS" Name |row| Some(row.segment.verdict.class.name());
    "reason" "CLASS" Name |row| row.segment.verdict.reason.map(Reason::name);
    "lost" "X3" Name |row| row.segment.verdict.lost.map(LossPlace::name);
    "evidence" "CLASS" Name |row| Some(row.segment.verdict.evidence.name());
    "confidence" "CLASS" Name |row| Some(row.segment.verdict.confidence.name());
    "rtt_ns" "R1" Whole |row| row.segment.rtt.map(|(ns, _)| ns);
    "rtt_label" "R1" Name |row| row.segment.rtt.map(|(_, label)| label.name());
    "in_flight_bytes" "I1" Count |row| row.segment.in_flight_bytes;
    ]
}
