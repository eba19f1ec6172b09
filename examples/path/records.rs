//! Records of captures, one by one.

use std::path::Path;

use ccanalyze::capture::{
    CaptureError, CaptureReader, CaptureSource, FileFacts, ReadOptions, Record, TimeResolution,
    Window,
};

use crate::wire::Format;

/// Goes through the records of a file, and gives what is known of it then.
pub(crate) fn each(path: &Path, mut see: impl FnMut(Record<'_>)) -> Result<FileFacts, String> {
    let failed = |error: CaptureError| error.to_string();
    let mut reader = open(path, &ReadOptions::default()).map_err(failed)?;
    let mut window = Window::new();
    while reader.read_window(&mut window).map_err(failed)? {
        window.all().for_each(&mut see);
    }
    Ok(reader.files()[0].clone())
}

/// When the frames of a file were captured, in ns.
pub(crate) fn times_ns(path: &Path) -> Result<Vec<i64>, String> {
    let mut times = Vec::new();
    each(path, |record| times.push(record.at.as_ns()))?;
    Ok(times)
}

/// When the first one was.
pub(crate) fn first_ns(path: &Path) -> Result<i64, String> {
    let one = ReadOptions {
        window_bytes: 1,
        ..ReadOptions::default()
    };
    let mut window = Window::new();
    open(path, &one)
        .and_then(|mut reader| reader.read_window(&mut window))
        .map_err(|error| error.to_string())?;
    let first = window.all().next();
    let first = first.ok_or_else(|| format!("{}: is empty", path.display()))?;
    Ok(first.at.as_ns())
}

fn open(path: &Path, options: &ReadOptions) -> Result<CaptureReader, CaptureError> {
    CaptureReader::open(vec![CaptureSource::File(path.to_path_buf())], options)
}

/// The pcap format that says of a file what this one says, with records of such a link.
pub(crate) fn format_of(facts: &FileFacts, link: u16) -> Format {
    let is_coarse = facts.resolution == Some(TimeResolution::MICROSECONDS);
    Format {
        tick_ns: if is_coarse { 1000 } else { 1 },
        snap: facts.snap_len.unwrap_or(Format::RAW.snap),
        link,
        ..Format::RAW
    }
}
