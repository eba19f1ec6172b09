//! What a file seems to be that is no capture.

/// What a file that is no capture may be.
pub(super) fn looks_like(first: &[u8]) -> Option<&'static str> {
    const KNOWN: [(&[u8], &str); 20] = [
        (
            b"snoop\0\0\0",
            "a Sun snoop capture (convert it: editcap -F pcapng)",
        ),
        (
            b"GMBU",
            "a Microsoft Network Monitor capture (convert it: editcap -F pcapng)",
        ),
        (
            b"RTSS",
            "a Microsoft Network Monitor capture (convert it: editcap -F pcapng)",
        ),
        (
            b"TRSNIFF data",
            "a Sniffer capture (convert it: editcap -F pcapng)",
        ),
        (
            b"XCP\0",
            "a NetXray capture (convert it: editcap -F pcapng)",
        ),
        (b"\x7fELF", "an ELF program"),
        (b"PK\x03\x04", "a zip archive (unpack it first)"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive (unpack it first)"),
        (b"BZh", "a bzip2 file (unpack it first)"),
        (b"\x1f\x9d", "a compress (.Z) file (unpack it first)"),
        (
            b"\x1f\x8b",
            "a gzip file inside a compressed file (unpack it once)",
        ),
        (
            b"\x28\xb5\x2f\xfd",
            "a zstd file inside a compressed file (unpack it once)",
        ),
        (
            b"\xfd7zXZ\0",
            "an xz file inside a compressed file (unpack it once)",
        ),
        (b"PAR1", "a Parquet file"),
        (b"ARROW1", "an Arrow file"),
        (b"\x89PNG", "a PNG image"),
        (b"%PDF", "a PDF document"),
        (
            b"version https://git-lfs",
            "a git-lfs pointer (fetch the file: git lfs pull)",
        ),
        (b"<", "HTML or XML text (a failed download?)"),
        (b"{", "JSON text"),
    ];
    if let Some((_, what)) = KNOWN.iter().find(|(magic, _)| first.starts_with(magic)) {
        return Some(what);
    }
    if first.get(257..262) == Some(b"ustar") {
        return Some("a tar archive (unpack it first)");
    }
    if is_erf(first) {
        return Some("an ERF capture of Endace's (convert it: editcap -F pcapng)");
    }
    let text = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | 0x20..=0x7e | 0x80..);
    first.iter().take(256).all(text).then_some("text")
}

/// Whether two records of the extensible record format follow each other, which no number at its beginning tells: both
/// make sense, and the second one's time is near the first one's.
fn is_erf(first: &[u8]) -> bool {
    const NEAR_S: u32 = 3600;
    erf_record(first).is_some_and(|(at, len)| {
        let next = first.get(len..).and_then(erf_record);
        next.is_some_and(|(then, _)| then.abs_diff(at) <= NEAR_S)
    })
}

/// In which second a record of that format was made, and its length with its header.
fn erf_record(bytes: &[u8]) -> Option<(u32, usize)> {
    const HEADER_LEN: usize = 16;
    // 48 is padding; the first bit says that headers follow.
    const TYPES: std::ops::RangeInclusive<u8> = 1..=48;
    let &[_, _, _, _, s0, s1, s2, s3, kind, _, high, low, ..] =
        bytes.first_chunk::<HEADER_LEN>()?;
    let len = usize::from(u16::from_be_bytes([high, low]));
    let makes_sense = TYPES.contains(&(kind & 0x7f)) && len >= HEADER_LEN;
    makes_sense.then_some((u32::from_le_bytes([s0, s1, s2, s3]), len))
}
