//! One row a data segment (METRICS.md section 2).

use super::schema::{Column, column_list};
use crate::analyze::{Analysis, CaptureAnalysis, Flow};
use crate::event::ClassifiedSegment;

/// What a row is made of.
pub(super) struct SegmentRow<'a> {
    capture: &'a CaptureAnalysis,
    flow: Flow<'a>,
    segment: &'a ClassifiedSegment,
}

pub(super) fn rows(analysis: &Analysis) -> Vec<SegmentRow<'_>> {
    let mut rows = Vec::new();
    for capture in &analysis.captures {
        let first = rows.len();
        for flow in capture.flows() {
            rows.extend(flow.record.segments.iter().map(|segment| SegmentRow {
                capture,
                flow,
                segment,
            }));
        }
        rows[first..].sort_by_key(|row: &SegmentRow<'_>| row.segment.ordinal);
    }
    rows
}

pub(super) fn columns<'a>() -> Vec<Column<SegmentRow<'a>>> {
    column_list![
    "capture" "-" Text |row| Some(row.capture.name.clone());
    "connection_id" "-" Count |row| Some(row.flow.connection_id);
    "src_ip" "-" Text |row| Some(row.flow.ends().0.ip().to_string());
    "src_port" "-" Count |row| Some(u64::from(row.flow.ends().0.port()));
    "dst_ip" "-" Text |row| Some(row.flow.ends().1.ip().to_string());
    "dst_port" "-" Count |row| Some(u64::from(row.flow.ends().1.port()));
    "file" "-" Text |row| Some(row.capture.files.get(row.capture.frames.frame(row.segment.ordinal)?.0)?.path.display().to_string());
    "frame" "-" Count |row| row.capture.frames.frame(row.segment.ordinal).map(|(_, frame)| frame);
    "time_ns" "-" Whole |row| Some(row.segment.at.as_ns());
    "seq" "-" Count |row| Some(u64::from(row.segment.seq.0));
    "offset" "-" Whole |row| Some(row.segment.offset);
    "payload_len" "C3" Count |row| Some(u64::from(row.segment.payload_len));
    "class" "CLASS" Text |row| Some(row.segment.verdict.class.name().into());
    "reason" "CLASS" Text |row| row.segment.verdict.reason.map(|reason| reason.name().into());
    "lost" "X3" Text |row| row.segment.verdict.lost.map(|place| place.name().into());
    "evidence" "CLASS" Text |row| Some(row.segment.verdict.evidence.name().into());
    "confidence" "CLASS" Text |row| Some(row.segment.verdict.confidence.name().into());
    "rtt_ns" "R1" Whole |row| row.segment.rtt.map(|(ns, _)| ns);
    "rtt_label" "R1" Text |row| row.segment.rtt.map(|(_, label)| label.name().into());
    "in_flight_bytes" "I1" Count |row| row.segment.in_flight_bytes;
    ]
}
