//! Records of pcap files in little-endian order: gone through, changed, left out.

/// Bytes of a file before its first record.
pub(crate) const FILE_HEADER: usize = 24;

/// Bytes of a record before its data: seconds, fraction, captured and original length.
pub(crate) const RECORD_HEADER: usize = 16;

/// The records of a file, each with its header.
pub(crate) fn records(pcap: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = &pcap[FILE_HEADER..];
    std::iter::from_fn(move || {
        let record;
        (record, rest) = rest.split_at(first_len(rest)?);
        Some(record)
    })
}

/// The same, to be changed where they stand.
pub(crate) fn records_mut(pcap: &mut [u8]) -> impl Iterator<Item = &mut [u8]> {
    let mut rest = &mut pcap[FILE_HEADER..];
    std::iter::from_fn(move || {
        let len = first_len(rest)?;
        let record;
        (record, rest) = std::mem::take(&mut rest).split_at_mut(len);
        Some(record)
    })
}

fn first_len(records: &[u8]) -> Option<usize> {
    (!records.is_empty()).then(|| RECORD_HEADER + field(records, 8) as usize)
}

/// A field of a record's header, or of a file's.
pub(crate) fn field(header: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(header[at..at + 4].try_into().unwrap())
}

/// The file with other records.
pub(crate) fn with_records<'r>(
    pcap: &[u8],
    records: impl IntoIterator<Item = &'r [u8]>,
) -> Vec<u8> {
    let mut file = pcap[..FILE_HEADER].to_vec();
    records.into_iter().for_each(|record| file.extend(record));
    file
}

/// The file so many seconds later.
pub(crate) fn later(mut pcap: Vec<u8>, seconds: u32) -> Vec<u8> {
    for record in records_mut(&mut pcap) {
        let second = field(record, 0) + seconds;
        record[..4].copy_from_slice(&second.to_le_bytes());
    }
    pcap
}

/// The file with each of its records cut to a snap length.
pub(crate) fn snapped(pcap: &[u8], snap: usize) -> Vec<u8> {
    let mut kept = pcap[..FILE_HEADER].to_vec();
    for record in records(pcap) {
        let length = (record.len() - RECORD_HEADER).min(snap);
        kept.extend(&record[..8]);
        kept.extend((length as u32).to_le_bytes());
        kept.extend(&record[12..RECORD_HEADER + length]);
    }
    kept
}
