//! One row per ICMP echo request (METRICS.md, "Over time").

use super::schema::{Column, column_list};
use crate::analyze::{Analysis, CaptureAnalysis, Ping};

/// What a row is made of.
pub(super) struct PingRow<'a> {
    capture: &'a CaptureAnalysis,
    ping: Ping,
}

pub(super) fn rows(analysis: &Analysis) -> impl Iterator<Item = PingRow<'_>> {
    analysis.captures.iter().flat_map(|capture| {
        let pings = capture.pings.iter();
        pings.map(move |&ping| PingRow { capture, ping })
    })
}

pub(super) fn columns<'a>() -> Vec<Column<PingRow<'a>>> {
    column_list![
    "capture" "-" Name |row| Some(&row.capture.name);
    "src_ip" "-" Address |row| Some(row.ping.src);
    "dst_ip" "-" Address |row| Some(row.ping.dst);
    "identifier" "-" Count |row| Some(u64::from(row.ping.identifier));
    "sequence" "-" Count |row| Some(u64::from(row.ping.sequence));
    "time_ns" "-" Whole |row| Some(row.ping.at.as_ns());
    "rtt_ns" "PING" Whole |row| row.ping.rtt_ns;
    ]
}
