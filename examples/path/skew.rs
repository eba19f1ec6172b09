//! Captures whose clock is wrong.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::records::{each, format_of};
use crate::wire::Packet;

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

/// A copy of a capture as a pcap file, whose clock is wrong.
pub(crate) fn copy(path: &Path, wrong: Wrong) -> Result<NamedTempFile, String> {
    let failed = |error: io::Error| format!("{}: {error}", path.display());
    let mut link = 0;
    let facts = each(path, |record| link = record.link.0)?;
    let format = format_of(&facts, link);
    let (first, last) = facts.span.unwrap_or_default();
    let (first, last) = (first.as_ns(), last.as_ns());
    let mut copy = NamedTempFile::with_suffix(".pcap").map_err(failed)?;
    let mut out = BufWriter::with_capacity(1 << 20, &mut copy);
    let mut written = out.write_all(&format.head());
    each(path, |record| {
        let at_ns = record.at.as_ns();
        let packet = Packet {
            at_ns: at_ns + wrong.ahead_ns(at_ns - first, last - first),
            bytes: record.bytes.to_vec(),
            original_len: record.original_len,
        };
        if written.is_ok() {
            written = out.write_all(&format.record(&packet));
        }
    })?;
    written.and_then(|()| out.flush()).map_err(failed)?;
    drop(out);
    Ok(copy)
}
