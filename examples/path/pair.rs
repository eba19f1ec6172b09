//! A pair of captures as if a queue stood between them, made of one.

use std::collections::VecDeque;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes what a queue of `LIMIT` packets before a link, 2 % faster than the packets come on
/// average, would let through of a generated capture (`examples/synth`): packets to a higher port
/// come in at the first point and leave at the second, the others come back 1 ms later than
/// they were seen at the second. The first point's capture is the given one.
pub(crate) fn write(capture: &Path, after: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", capture.display());
    let bytes = fs::read(capture).map_err(failed)?;
    let records = records(&bytes)?;
    let forward = |start: usize| {
        let port = |at: usize| u16::from_be_bytes([bytes[start + 50 + at], bytes[start + 51 + at]]);
        port(0) < port(2)
    };
    let sent: u64 = records
        .iter()
        .filter(|record| forward(record.start))
        .map(|record| record.original_len)
        .sum();
    let (Some(first), Some(last)) = (records.first(), records.last()) else {
        return Err(format!("{}: is empty", capture.display()));
    };
    let ns_per_byte = (last.at - first.at) as f64 / sent as f64 / 1.02;
    let mut leaves: VecDeque<i64> = VecDeque::new();
    let mut free = i64::MIN;
    let mut seen: Vec<(i64, usize)> = Vec::with_capacity(records.len());
    for (index, record) in records.iter().enumerate() {
        if !forward(record.start) {
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
        free = starts + (record.original_len as f64 * ns_per_byte) as i64;
        leaves.push_back(starts);
        seen.push((free, index));
    }
    seen.sort_unstable();
    let file = fs::File::create(after).map_err(failed)?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    out.write_all(&bytes[..24]).map_err(failed)?;
    for (at, index) in seen {
        let record = &records[index];
        let time = [at / 1_000_000_000, at % 1_000_000_000].map(|part| part as u32);
        out.write_all(&time[0].to_le_bytes()).map_err(failed)?;
        out.write_all(&time[1].to_le_bytes()).map_err(failed)?;
        out.write_all(&bytes[record.start + 8..record.end])
            .map_err(failed)?;
    }
    out.flush().map_err(failed)
}

struct Record {
    at: i64,
    start: usize,
    end: usize,
    original_len: u64,
}

fn records(bytes: &[u8]) -> Result<Vec<Record>, String> {
    let little =
        |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    if bytes.len() < 24 || little(0) != 0xa1b2_3c4d {
        return Err("a pair is made of a little-endian pcap file in nanoseconds".to_owned());
    }
    let (mut records, mut start) = (Vec::new(), 24);
    while start + 16 + 54 <= bytes.len() {
        let end = start + 16 + little(start + 8) as usize;
        records.push(Record {
            at: i64::from(little(start)) * 1_000_000_000 + i64::from(little(start + 4)),
            start,
            end: end.min(bytes.len()),
            original_len: u64::from(little(start + 12)),
        });
        start = end;
    }
    Ok(records)
}

/// Packets that the queue holds.
const LIMIT: usize = 200;
