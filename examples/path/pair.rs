//! A pair of captures as if a queue stood between them, made of one.

use std::collections::VecDeque;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::records::{each, format_of};
use crate::wire::Packet;

/// Writes what a queue of `LIMIT` packets before a link, 2 % faster than the packets come on
/// average, would let through of a generated capture (`examples/synth`): packets to a higher port
/// come in at the first point and leave at the second, the others come back 1 ms later than
/// they were seen at the second. The first point's capture is the given one.
pub(crate) fn write(capture: &Path, after: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", capture.display());
    let (mut bytes, mut records, mut link) = (Vec::new(), Vec::new(), 0);
    let facts = each(capture, |record| {
        let start = bytes.len();
        bytes.extend(record.bytes);
        link = record.link.0;
        records.push(Record {
            at: record.at.as_ns(),
            start,
            end: bytes.len(),
            original_len: record.original_len,
        });
    })?;
    // Behind Ethernet and IPv4.
    let forward = |record: &Record| {
        let ports = bytes[record.start..record.end].get(34..38);
        ports.is_some_and(|ports| ports[..2] < ports[2..])
    };
    let sent: u64 = records
        .iter()
        .filter(|record| forward(record))
        .map(|record| u64::from(record.original_len))
        .sum();
    let (Some(first), Some(last)) = (records.first(), records.last()) else {
        return Err(format!("{}: is empty", capture.display()));
    };
    let ns_per_byte = (last.at - first.at) as f64 / sent as f64 / 1.02;
    let mut leaves: VecDeque<i64> = VecDeque::new();
    let mut free = i64::MIN;
    let mut seen: Vec<(i64, usize)> = Vec::with_capacity(records.len());
    for (index, record) in records.iter().enumerate() {
        if !forward(record) {
            seen.push((record.at - 1_000_000, index));
            continue;
        }
        while leaves.front().is_some_and(|&starts| starts <= record.at) {
            leaves.pop_front();
        }
        if leaves.len() == LIMIT {
            continue;
        }
        let starts = record.at.max(free);
        free = starts + (f64::from(record.original_len) * ns_per_byte) as i64;
        leaves.push_back(starts);
        seen.push((free, index));
    }
    seen.sort_unstable();
    let file = fs::File::create(after).map_err(failed)?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let format = format_of(&facts, link);
    out.write_all(&format.head()).map_err(failed)?;
    for (at_ns, index) in seen {
        let record = &records[index];
        let packet = Packet {
            at_ns,
            bytes: bytes[record.start..record.end].to_vec(),
            original_len: record.original_len,
        };
        out.write_all(&format.record(&packet)).map_err(failed)?;
    }
    out.flush().map_err(failed)
}

struct Record {
    at: i64,
    start: usize,
    end: usize,
    original_len: u32,
}

/// Packets that the queue holds.
const LIMIT: usize = 200;
