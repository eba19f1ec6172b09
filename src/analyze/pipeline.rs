//! From files to results: windows are read and decoded while the ones before are tracked.

use rayon::prelude::*;

use super::capture::{CaptureAnalysis, CaptureFacts};
use super::chunk::{Batch, Chunk};
use super::config::{CaptureInput, Config};
use super::frames::FrameIndex;
use super::gathered::Gathered;
use super::tracking::Tracking;
use super::watch::Watch;
use crate::capture::{CaptureError, CaptureReader, ReadOptions, Window};
use crate::time::CaptureTime;

/// Records decoded by one task: enough to make the task worth its start, few enough that a window
/// keeps several threads busy.
const CHUNK_RECORDS: usize = 2048;

/// Bytes of records in a window, for each of two to four threads: enough that they wait for each other seldom, and that
/// the state of a connection is fetched for many of its packets at once; beyond that, what is taken from one step
/// to the next only leaves the cache on the way.
const WINDOW_BYTES_PER_THREAD: usize = 512 << 10;

/// The part that turns records into segments, one window after the other.
struct Source<'a> {
    config: &'a Config,
    watch: &'a Watch,
    name: String,
    reader: CaptureReader,
    window: Window,
    gathered: Gathered,
    frames: FrameIndex,
    errors: Vec<CaptureError>,
    /// Whether a window has been asked for: what was read to know the format is in the first one.
    begun: bool,
}

impl<'a> Source<'a> {
    fn new(name: String, reader: CaptureReader, config: &'a Config, watch: &'a Watch) -> Self {
        Self {
            config,
            watch,
            name,
            reader,
            window: Window::new(),
            gathered: Gathered::default(),
            frames: FrameIndex::default(),
            errors: Vec::new(),
            begun: false,
        }
    }

    /// When the capture's first record was captured, as long as the first window is at hand.
    fn origin(&self) -> CaptureTime {
        if self.window.is_empty() {
            CaptureTime::default()
        } else {
            self.window.record(0).at
        }
    }

    /// What was found besides connections.
    fn into_facts(self, origin: CaptureTime) -> CaptureFacts {
        CaptureFacts {
            name: self.name,
            files: self.reader.files().to_vec(),
            origin,
            frames: self.frames,
            errors: self.errors,
            ..self.gathered.facts()
        }
    }

    /// Reads and decodes the next window into `batch`. `false` at the end.
    fn next(&mut self, batch: &mut Batch) -> bool {
        loop {
            if self.begun && self.watch.is_stopped() && !self.reader.is_at_end() {
                self.note_interruption();
                return false;
            }
            self.begun = true;
            match self.reader.read_window(&mut self.window) {
                Ok(true) => self.decode(batch),
                Ok(false) => return false,
                // Before the first record of a pipe, which has ended with it.
                Err(error) if error.is_interrupted() => {
                    self.note_interruption();
                    return false;
                }
                // A damaged file of several does not end the capture.
                Err(error) => {
                    self.errors.push(error);
                    continue;
                }
            }
            match self.reader.confirm(&mut self.window) {
                Ok(true) => break,
                // The file was truncated meanwhile: what is left of the window is in memory now.
                Ok(false) => {
                    self.decode(batch);
                    break;
                }
                Err(error) => self.errors.push(error),
            }
        }
        self.frames.add(self.gathered.records(), &self.window);
        let records = self.window.len() as u64;
        self.gathered.take(batch, records, self.config);
        true
    }

    /// That the run was told to stop when so many records had been read.
    fn note_interruption(&mut self) {
        let (name, records) = (self.name.clone().into(), self.gathered.records());
        self.errors.push(CaptureError::interrupted(name, records));
    }

    /// Decodes the window into the chunks of `batch`.
    fn decode(&self, batch: &mut Batch) {
        let first_ordinal = self.gathered.records();
        let chunks = self.window.len().div_ceil(CHUNK_RECORDS);
        batch
            .chunks
            .resize_with(chunks.max(batch.chunks.len()), Chunk::default);
        let unused = batch.chunks[chunks..].iter_mut();
        unused.for_each(|chunk| chunk.clear(first_ordinal));
        let (window, config) = (&self.window, self.config);
        batch.chunks[..chunks]
            .par_iter_mut()
            .enumerate()
            .for_each(|(index, chunk)| {
                let start = index * CHUNK_RECORDS;
                let records = start..(start + CHUNK_RECORDS).min(window.len());
                chunk.fill(
                    window.records(records),
                    first_ordinal + start as u64,
                    config,
                );
            });
    }
}

/// Analyses one capture. Up to so many `decompressors` may decompress it side by side.
pub(super) fn analyze(
    input: CaptureInput,
    config: &Config,
    decompressors: usize,
    watch: &Watch,
) -> CaptureAnalysis {
    let CaptureInput { name, sources } = input;
    if watch.is_stopped() {
        let error = CaptureError::interrupted(name.as_str().into(), 0);
        return CaptureAnalysis::unread(name, error, config);
    }
    let options = ReadOptions {
        window_bytes: WINDOW_BYTES_PER_THREAD * rayon::current_num_threads().clamp(2, 4),
        io: config.io,
        repair: config.repair,
        decompressors,
        stop: watch.stop_flag(),
    };
    let opened = if sources.is_empty() {
        Err(CaptureError::without_sources(name.as_str().into()))
    } else {
        CaptureReader::open(sources, &options)
    };
    let analysis = match opened {
        Err(error) => CaptureAnalysis::unread(name, error, config),
        Ok(reader) => {
            watch.add(reader.progress());
            if config.segments {
                read::<true>(name, reader, config, watch)
            } else {
                read::<false>(name, reader, config, watch)
            }
        }
    };
    watch.add_done();
    analysis
}

fn read<const SEGMENTS: bool>(
    name: String,
    reader: CaptureReader,
    config: &Config,
    watch: &Watch,
) -> CaptureAnalysis {
    let mut source = Source::new(name, reader, config, watch);
    let (mut ahead, mut behind) = (Batch::default(), Batch::default());
    let mut more = source.next(&mut ahead);
    let origin = source.origin();
    let mut tracking = Tracking::<SEGMENTS>::new(config, origin);
    let mut shown = 0;
    while more {
        std::mem::swap(&mut ahead, &mut behind);
        let records = source.gathered.records();
        watch.add_records(records - std::mem::replace(&mut shown, records));
        (more, ()) = rayon::join(
            || {
                let more = source.next(&mut ahead);
                // By a thread that has nothing else to do, or by this one before it goes on: nobody waits for it.
                if let Some(left) = source.reader.take_behind() {
                    rayon::spawn(move || drop(left));
                }
                more
            },
            || tracking.take(&behind),
        );
    }
    // The records that connections come to at the end take their room.
    drop((ahead, behind));
    tracking.finish(source.into_facts(origin), config)
}
