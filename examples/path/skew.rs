//! Captures whose clock is wrong.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// What is wrong with a clock that is 3 s ahead at the first packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It gains 50 ppm.
    Fast,
    /// It gains 50 ppm for the first half, and loses as much in the second.
    Turning,
    /// It gains 50 ppm, and is set forward by 10 ms half-way.
    SetForward,
    /// It gains 50 ppm, and is set back by 10 ms half-way.
    SetBack,
    /// The same of the first capture's clock.
    FirstSetForward,
    /// The same of the first capture's clock.
    FirstSetBack,
}

impl Wrong {
    /// All, with words for them.
    pub(crate) const ALL: [(Self, &str); 6] = [
        (Self::Fast, "3 s ahead, gains 50 ppm"),
        (Self::Turning, "gains 50 ppm, from half-way loses 50 ppm"),
        (
            Self::SetForward,
            "gains 50 ppm, set forward by 10 ms half-way",
        ),
        (Self::SetBack, "gains 50 ppm, set back by 10 ms half-way"),
        (
            Self::FirstSetForward,
            "the first one's so, set forward by 10 ms",
        ),
        (Self::FirstSetBack, "the first one's so, set back by 10 ms"),
    ];

    /// Whether it is the clock of the first capture.
    pub(crate) const fn is_first(self) -> bool {
        matches!(self, Self::FirstSetForward | Self::FirstSetBack)
    }

    /// By how much it is ahead so many ns after the first packet, of so many to the last.
    fn ahead_ns(self, since: i64, duration: i64) -> i64 {
        let half = duration / 2;
        let gained = match self {
            Self::Turning => since.min(2 * half - since),
            _ => since,
        };
        let set = match self {
            Self::SetForward | Self::FirstSetForward if since >= half => 10_000_000,
            Self::SetBack | Self::FirstSetBack if since >= half => -10_000_000,
            _ => 0,
        };
        3_000_000_000 + gained / 20_000 + set
    }
}

/// A copy of a pcap file, plain or compressed, whose clock is wrong.
pub(crate) fn copy(path: &Path, wrong: Wrong) -> Result<NamedTempFile, String> {
    let mut bytes = read(path)?;
    let Stamps { step_ns, times } = stamps(path, &bytes)?;
    let first = times.first().map_or(0, |&(_, time)| time);
    let last = times.last().map_or(0, |&(_, time)| time);
    for (at, time) in times {
        let time = time + wrong.ahead_ns(time - first, last - first);
        let (seconds, rest) = (time / 1_000_000_000, time % 1_000_000_000);
        bytes[at..at + 4].copy_from_slice(&(seconds as u32).to_le_bytes());
        bytes[at + 4..at + 8].copy_from_slice(&((rest / step_ns) as u32).to_le_bytes());
    }
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut copy = NamedTempFile::with_suffix(".pcap").map_err(failed)?;
    copy.write_all(&bytes).map_err(failed)?;
    Ok(copy)
}

/// When the frames of a pcap file were captured, in ns.
pub(crate) fn times_ns(path: &Path) -> Result<Vec<i64>, String> {
    let stamps = stamps(path, &read(path)?)?;
    Ok(stamps.times.into_iter().map(|(_, time)| time).collect())
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
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
    Ok(bytes)
}

/// Where the records of a pcap file are, when they were captured, and of how many ns a unit is.
struct Stamps {
    step_ns: i64,
    times: Vec<(usize, i64)>,
}

fn stamps(path: &Path, bytes: &[u8]) -> Result<Stamps, String> {
    let little =
        |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let step_ns = match little(0) {
        0xa1b2_3c4d => 1,
        0xa1b2_c3d4 => 1000,
        _ => return Err(format!("{}: is no little-endian pcap file", path.display())),
    };
    let mut times = Vec::new();
    let mut at = 24;
    while at + 16 <= bytes.len() {
        let time = i64::from(little(at)) * 1_000_000_000 + i64::from(little(at + 4)) * step_ns;
        times.push((at, time));
        at += 16 + little(at + 8) as usize;
    }
    Ok(Stamps { step_ns, times })
}
