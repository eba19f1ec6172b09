//! One row per data segment (METRICS.md, "What a data segment is").

mod group;
mod in_order;

use std::ops::Range;

use super::blocks::{self, Blocks};
use super::packed::{Packed, PackedTable};
use super::schema::{Column, column_list};
use crate::analyze::{Analysis, CaptureAnalysis, Flow};
use crate::capture::display_name;
use crate::decode::Endpoint;
use crate::event::{ClassifiedSegment, Direction, LossPlace, Reason};
use crate::flow::ConnectionIdentity;
use crate::observe;

use group::SegmentGroup;
use in_order::InOrder;

/// A flow that has rows, and what these have in common, written once for all of them.
struct OfFlow<'a> {
    capture: &'a CaptureAnalysis,
    connection_id: u64,
    connection: &'a ConnectionIdentity,
    dir: Direction,
    segments: &'a observe::SegmentRows,
    src: Box<str>,
    dst: Box<str>,
}

impl<'a> OfFlow<'a> {
    /// `None` of a flow without rows, as where they were given up: of many small flows what is said of each takes more
    /// than its rows.
    fn of(capture: &'a CaptureAnalysis, flow: &Flow<'a>) -> Option<Self> {
        let segments = flow.record.segments();
        let (src, dst) = flow.ends();
        let text = |end: Endpoint| end.ip().to_string().into();
        (!segments.is_empty()).then(|| Self {
            capture,
            connection_id: flow.connection_id,
            connection: &flow.connection().identity,
            dir: flow.record.dir,
            segments,
            src: text(src),
            dst: text(dst),
        })
    }

    fn ports(&self) -> (u64, u64) {
        let (src, dst) = self.connection.ends(self.dir);
        (src.port().into(), dst.port().into())
    }
}

/// The table of the segments of a run, of which no more is made at a time than is asked for.
pub struct SegmentTable<'a> {
    captures: Vec<OfCapture<'a>>,
    flows: Vec<OfFlow<'a>>,
    files: Vec<String>,
}

/// Where the flows and files of a capture are among all.
struct OfCapture<'a> {
    capture: &'a CaptureAnalysis,
    flows: Range<usize>,
    first_file: usize,
}

impl<'a> SegmentTable<'a> {
    /// Of the segments of an analysis.
    #[must_use]
    pub fn of(analysis: &'a Analysis) -> Self {
        let mut table = Self {
            captures: Vec::new(),
            flows: Vec::new(),
            files: Vec::new(),
        };
        for capture in &analysis.captures {
            let first_flow = table.flows.len();
            let flows = capture.flows();
            table
                .flows
                .extend(flows.filter_map(|flow| OfFlow::of(capture, &flow)));
            table.captures.push(OfCapture {
                capture,
                flows: first_flow..table.flows.len(),
                first_file: table.files.len(),
            });
            let files = capture.files.iter();
            table
                .files
                .extend(files.map(|file| display_name(&file.path).to_string()));
        }
        table
    }

    /// The file of a row, by its place plus one.
    fn file(&self, place: u32) -> Option<&str> {
        let file = self.files.get((place as usize).checked_sub(1)?);
        file.map(String::as_str)
    }
}

impl PackedTable for SegmentTable<'_> {
    type Rows<'a>
        = SegmentRows<'a>
    where
        Self: 'a;
    type Group = SegmentGroup;

    /// By capture and in the order they passed.
    fn rows(&self) -> SegmentRows<'_> {
        SegmentRows {
            table: self,
            current: None,
            next: 0,
        }
    }

    fn refill(group: &mut SegmentGroup, rows: &mut SegmentRows<'_>, rows_max: usize) {
        group.refill(rows, rows_max);
    }

    fn len(group: &SegmentGroup) -> usize {
        group.len()
    }

    fn columns<'a>(&'a self, group: &'a SegmentGroup) -> Vec<Packed<'a>> {
        group.columns(self)
    }

    fn blocks(&self, rows_max: usize) -> Blocks<'_> {
        let mut rows = self.rows();
        let groups = std::iter::from_fn(move || {
            let group = rows.next_rows(rows_max.max(1));
            (!group.is_empty()).then_some(group)
        });
        blocks::of_groups(columns, groups, |group| (group.len(), group))
    }
}

/// The rows of a table, one after the other.
pub struct SegmentRows<'a> {
    table: &'a SegmentTable<'a>,
    current: Option<(&'a OfCapture<'a>, InOrder<'a>)>,
    /// The capture after the current one.
    next: usize,
}

/// What a row is made of.
#[derive(Clone, Copy)]
pub(super) struct SegmentRow<'a> {
    table: &'a SegmentTable<'a>,
    place: Place,
    segment: ClassifiedSegment,
}

/// Where a row belongs.
#[derive(Clone, Copy)]
struct Place {
    /// Place of its flow in the table.
    flow: u32,
    /// Place of its file in the table plus one; 0 for none.
    file: u32,
    /// Its number in that file, from 1.
    frame: u64,
}

impl<'a> SegmentRows<'a> {
    /// Calls `each` with the next rows, as many as are wanted at most.
    #[inline]
    fn take(&mut self, mut wanted: usize, mut each: impl FnMut(Place, ClassifiedSegment)) {
        while wanted > 0 {
            if let Some((of, segments)) = &mut self.current {
                // The file of the row before, whose frames follow each other.
                let (mut file, mut lead, mut end) = (0, 0, 0);
                wanted = segments.take(wanted, |flow, segment| {
                    let ordinal = segment.ordinal;
                    if ordinal >= end {
                        let found = of.capture.frames.frames_from(ordinal);
                        file = found.map_or(0, |(file, ..)| (of.first_file + file) as u32 + 1);
                        lead = found.map_or(0, |(_, frame, _)| frame.wrapping_sub(ordinal));
                        end = found.map_or(ordinal + 1, |(.., end)| end);
                    }
                    let place = Place {
                        flow: of.flows.start as u32 + flow,
                        file,
                        frame: lead.wrapping_add(ordinal),
                    };
                    each(place, segment);
                });
                if wanted == 0 {
                    return;
                }
            }
            let Some(of) = self.table.captures.get(self.next) else {
                return;
            };
            self.next += 1;
            let flows = &self.table.flows[of.flows.clone()];
            self.current = Some((of, InOrder::new(flows)));
        }
    }

    /// The next rows, no more than `rows_max`.
    fn next_rows(&mut self, rows_max: usize) -> Vec<SegmentRow<'a>> {
        let table = self.table;
        let mut rows = Vec::new();
        self.take(rows_max, |place, segment| {
            rows.push(SegmentRow {
                table,
                place,
                segment,
            });
        });
        rows
    }
}

impl<'a> SegmentRow<'a> {
    fn of(&self) -> &'a OfFlow<'a> {
        &self.table.flows[self.place.flow as usize]
    }

    fn file(&self) -> Option<&str> {
        self.table.file(self.place.file)
    }

    fn frame(&self) -> Option<u64> {
        (self.place.file > 0).then_some(self.place.frame)
    }
}

pub(super) fn columns<'a>() -> Vec<Column<SegmentRow<'a>>> {
    column_list![
    "capture" "-" Name |row| Some(&row.of().capture.name);
    "connection_id" "-" Count |row| Some(row.of().connection_id);
    "src_ip" "-" Name |row| Some(&*row.of().src);
    "src_port" "-" Count |row| Some(row.of().ports().0);
    "dst_ip" "-" Name |row| Some(&*row.of().dst);
    "dst_port" "-" Count |row| Some(row.of().ports().1);
    "file" "-" Name SegmentRow::file;
    "frame" "-" Count SegmentRow::frame;
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
