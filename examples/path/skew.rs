//! Captures whose clock is wrong.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// A copy of a pcap file, plain or compressed, whose clock is 3 s ahead at the first packet and then gains
/// 50 ppm.
pub(crate) fn copy(path: &Path) -> Result<NamedTempFile, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut bytes = Vec::new();
    let mut file = BufReader::new(File::open(path).map_err(failed)?);
    if path.extension().is_some_and(|ending| ending == "zst") {
        zstd::stream::read::Decoder::new(file)
            .and_then(|mut reader| reader.read_to_end(&mut bytes))
            .map_err(failed)?;
    } else {
        file.read_to_end(&mut bytes).map_err(failed)?;
    }
    let little =
        |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let step_ns = match little(0) {
        0xa1b2_3c4d => 1,
        0xa1b2_c3d4 => 1000,
        _ => return Err(format!("{}: is no little-endian pcap file", path.display())),
    };
    let mut changes = Vec::new();
    let (mut at, mut first) = (24, None);
    while at + 16 <= bytes.len() {
        let time = i64::from(little(at)) * 1_000_000_000 + i64::from(little(at + 4)) * step_ns;
        let since = time - *first.get_or_insert(time);
        let skewed = time + 3_000_000_000 + since / 20_000;
        changes.push((at, skewed));
        at += 16 + little(at + 8) as usize;
    }
    for (at, time) in changes {
        let (seconds, rest) = (time / 1_000_000_000, time % 1_000_000_000);
        bytes[at..at + 4].copy_from_slice(&(seconds as u32).to_le_bytes());
        bytes[at + 4..at + 8].copy_from_slice(&((rest / step_ns) as u32).to_le_bytes());
    }
    let mut copy = NamedTempFile::with_suffix(".pcap").map_err(failed)?;
    copy.write_all(&bytes).map_err(failed)?;
    Ok(copy)
}
