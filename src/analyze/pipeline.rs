//! From files to results: windows are read and decoded while the ones before are tracked.

use std::ops::Range;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use rayon::prelude::*;

use super::capture::{CaptureAnalysis, CaptureFacts};
use super::config::{CaptureInput, Config};
use super::frames::FrameIndex;
use super::memory::{GivenUp, Memory};
use super::pings::Pings;
use super::pruning::Pruning;
use crate::capture::{CaptureError, CaptureReader, Progress, ReadOptions, Record, Window};
use crate::decode::{
    Decoded, Echo, Fragment, FragmentTable, Segment, Skip, Tally, Usual, decode_each, decode_into,
    nearly_usual, unknown_link,
};
use crate::flow::{BatchPart, ConnectionTable, SHARDS, SegmentBatch, shard_of};
use crate::observe::{RecordConfig, Recorder, Span};
use crate::time::CaptureTime;

/// Records decoded by one task: enough to make the task worth its start, few enough that a window
/// keeps several threads busy.
const CHUNK_RECORDS: usize = 2048;

/// Bytes of records in a window, for each of two to four threads: enough that they wait for each other seldom, and that
/// the state of a connection is fetched for many of its packets at once; beyond that, what is taken from one step
/// to the next only leaves the cache on the way.
const WINDOW_BYTES_PER_THREAD: usize = 512 << 10;

/// Lets other threads see how far a run is, and stop it.
#[derive(Debug, Default)]
pub struct Watch {
    stopped: Arc<AtomicBool>,
    progress: Mutex<Vec<Progress>>,
    records: AtomicU64,
    done: AtomicU64,
}

impl Watch {
    /// Bytes read so far, of all captures opened.
    #[must_use]
    pub fn bytes_consumed(&self) -> u64 {
        self.all(|progress| Some(progress.bytes_consumed()))
            .unwrap_or(0)
    }

    /// Bytes to be read, of all captures opened so far; `None` when one of them is a pipe.
    #[must_use]
    pub fn bytes_total(&self) -> Option<u64> {
        self.all(Progress::bytes_total)
    }

    /// Records read so far.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records.load(Ordering::Relaxed)
    }

    /// Captures finished.
    #[must_use]
    pub fn captures_done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Ends the run soon: what has been read is analysed, the rest is not read, and each capture
    /// says so in its errors.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether the run was told to stop.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// What [`stop`](Self::stop) sets, for who waits for what comes from a pipe.
    pub(crate) fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stopped)
    }

    fn all(&self, what: impl Fn(&Progress) -> Option<u64>) -> Option<u64> {
        self.progress.lock().ok()?.iter().map(what).sum()
    }

    /// Counts records that were read.
    pub(crate) fn add_records(&self, records: u64) {
        self.records.fetch_add(records, Ordering::Relaxed);
    }

    /// Counts a capture that was read to its end.
    pub(crate) fn add_done(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts what is read from another capture.
    pub(crate) fn add(&self, progress: Progress) {
        if let Ok(mut all) = self.progress.lock() {
            all.push(progress);
        }
    }
}

/// What one window says, by shard.
#[derive(Debug, Default)]
struct Batch {
    chunks: Vec<Chunk>,
    /// Segments put together from fragments, by ordinal.
    whole: Vec<Segment>,
    /// Positions of its records in the capture.
    ordinals: Range<u64>,
}

/// What one task decoded.
#[derive(Debug, Default)]
struct Chunk {
    segments: SegmentBatch,
    fragments: Vec<Fragment>,
    echoes: Vec<Echo>,
    tally: Tally,
    span: Option<Span>,
}

impl Chunk {
    fn clear(&mut self, first_ordinal: u64) {
        self.segments.clear(first_ordinal);
        self.fragments.clear();
        self.echoes.clear();
        self.tally = Tally::default();
        self.span = None;
    }

    fn fill(
        &mut self,
        window: &Window,
        records: Range<usize>,
        first_ordinal: u64,
        config: &Config,
    ) {
        let first_ordinal = first_ordinal + records.start as u64;
        self.clear(first_ordinal);
        // Two loops: in the usual one nothing is asked.
        if config.filter.is_none() {
            self.take_all(window, records, first_ordinal, config, |_| true);
        } else {
            let wants = |usual: &Usual| config.wants(|| usual.ends());
            self.take_all(window, records, first_ordinal, config, wants);
        }
        self.segments.sort();
    }

    /// Decodes records, of which `wants` says whether what a usual one holds is wanted.
    #[inline(always)]
    fn take_all(
        &mut self,
        window: &Window,
        records: Range<usize>,
        first_ordinal: u64,
        config: &Config,
        wants: impl Fn(&Usual) -> bool,
    ) {
        let mut decoded = Decoded::Skipped(Skip::NonIp);
        let (mut first, mut last) = (CaptureTime::MAX, CaptureTime::MIN);
        for (after_records, record) in (0..).zip(window.records(records)) {
            (first, last) = (first.min(record.at), last.max(record.at));
            match self.segments.push_usual(&record, after_records, &wants) {
                Some(true) => {}
                Some(false) => self.tally.add(Skip::Filtered),
                None => {
                    let ordinal = first_ordinal + u64::from(after_records);
                    self.take_odd(record, ordinal, config, &mut decoded);
                }
            }
        }
        self.span = (first <= last).then_some(Span { first, last });
    }

    /// What is in a record that is not just as nearly all are; `decoded` is room for that.
    // Apart, so that the usual way has the registers for itself.
    #[inline(never)]
    fn take_odd(
        &mut self,
        record: Record<'_>,
        ordinal: u64,
        config: &Config,
        decoded: &mut Decoded,
    ) {
        if let Some(segment) = nearly_usual(&record, ordinal) {
            self.take(&segment, config);
            return;
        }
        decode_into(&record, ordinal, &config.decode, decoded);
        match decoded {
            Decoded::Segment(segment) => self.take(segment, config),
            Decoded::FirstOf(..) => self.take_each(&record, ordinal, config),
            Decoded::Fragment(fragment) => self.fragments.push(*fragment),
            Decoded::Echo(echo) => {
                self.tally.add(Skip::Icmp);
                let filter = config.filter.as_ref();
                if filter.is_none_or(|filter| filter.keeps_ping(echo.src, echo.dst)) {
                    self.echoes.push(*echo);
                }
            }
            Decoded::Skipped(Skip::UnknownLinkType) => self.skip_unknown(&record),
            Decoded::Skipped(skip) => self.tally.add(*skip),
        }
    }

    /// The segments of a record that holds several.
    #[cold]
    fn take_each(&mut self, record: &Record<'_>, ordinal: u64, config: &Config) {
        let mut any = false;
        decode_each(record, ordinal, &config.decode, &mut |segment| {
            if config.wants(|| (segment.src, segment.dst)) {
                self.segments.push(shard_of(segment), segment);
                any = true;
            }
        });
        if !any {
            self.tally.add(Skip::Filtered);
        }
    }

    #[cold]
    fn skip_unknown(&mut self, record: &Record<'_>) {
        self.tally.add_unknown(unknown_link(record));
    }

    #[inline]
    fn take(&mut self, segment: &Segment, config: &Config) {
        if config.wants(|| (segment.src, segment.dst)) {
            self.segments.push(shard_of(segment), segment);
        } else {
            self.tally.add(Skip::Filtered);
        }
    }
}

/// The part that turns records into segments, one window after the other.
struct Source<'a> {
    config: &'a Config,
    watch: &'a Watch,
    name: String,
    reader: CaptureReader,
    window: Window,
    fragments: FragmentTable,
    pings: Pings,
    frames: FrameIndex,
    tally: Tally,
    records: u64,
    filtered_whole: u64,
    span: Option<Span>,
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
            fragments: FragmentTable::new(),
            pings: Pings::default(),
            frames: FrameIndex::default(),
            tally: Tally::default(),
            records: 0,
            filtered_whole: 0,
            span: None,
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
    fn facts(self, origin: CaptureTime, given_up: GivenUp, cut_by_limit: u64) -> CaptureFacts {
        let mut tally = self.tally;
        tally.merge(&self.fragments.skipped());
        tally.add_many(Skip::Filtered, self.filtered_whole);
        CaptureFacts {
            name: self.name,
            files: self.reader.files().to_vec(),
            records: self.records,
            tcp_records: self.records - tally.total(),
            tally,
            span: self.span,
            origin,
            frames: self.frames,
            pings: self.pings.into_pings(),
            given_up,
            cut_by_limit,
            errors: self.errors,
        }
    }

    /// Reads and decodes the next window into `batch`. `false` at the end.
    fn next(&mut self, batch: &mut Batch) -> bool {
        loop {
            if self.begun && self.watch.is_stopped() && !self.reader.is_at_end() {
                let (name, records) = (self.name.clone().into(), self.records);
                self.errors.push(CaptureError::interrupted(name, records));
                return false;
            }
            self.begun = true;
            match self.reader.read_window(&mut self.window) {
                Ok(true) => self.decode(batch),
                Ok(false) => return false,
                // Said above.
                Err(error) if error.is_interrupted() => continue,
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
        self.frames.add(self.records, &self.window);
        let first = self.records;
        self.records += self.window.len() as u64;
        batch.ordinals = first..self.records;
        batch.whole.clear();
        for chunk in &batch.chunks {
            self.tally.merge(&chunk.tally);
            if let Some(span) = chunk.span {
                self.span = Some(Span {
                    first: self
                        .span
                        .map_or(span.first, |whole| whole.first.min(span.first)),
                    last: self
                        .span
                        .map_or(span.last, |whole| whole.last.max(span.last)),
                });
            }
            chunk
                .echoes
                .iter()
                .for_each(|echo| self.pings.on_echo(echo));
            for &fragment in &chunk.fragments {
                let Some(segment) = self.fragments.push(fragment) else {
                    continue;
                };
                if self.config.wants(|| (segment.src, segment.dst)) {
                    batch.whole.push(segment);
                } else {
                    self.filtered_whole += u64::from(segment.ip_packets);
                }
            }
        }
        true
    }

    /// Decodes the window into the chunks of `batch`.
    fn decode(&self, batch: &mut Batch) {
        let first_ordinal = self.records;
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
                chunk.fill(
                    window,
                    start..(start + CHUNK_RECORDS).min(window.len()),
                    first_ordinal,
                    config,
                );
            });
    }
}

/// Tracks one window's segments, and looks at how much memory that takes where it is time to.
fn track_all<const SEGMENTS: bool>(
    tables: &mut [ConnectionTable<Recorder<SEGMENTS>>],
    batch: &Batch,
    memory: &mut Memory,
    pruning: &mut Pruning,
) {
    let Range { mut start, end } = batch.ordinals;
    loop {
        let until = memory.next_look().min(pruning.next_look());
        if until >= end {
            break;
        }
        track(tables, batch, start..until);
        if memory.next_look() == until {
            memory.look(tables);
        }
        if pruning.next_look() == until {
            pruning.look(tables);
        }
        start = until;
    }
    track(tables, batch, start..end);
}

/// The segments whose positions are among `ordinals`.
fn part<'a>(segments: &'a [Segment], ordinals: &Range<u64>) -> &'a [Segment] {
    let start = segments.partition_point(|segment| segment.ordinal < ordinals.start);
    let end = segments.partition_point(|segment| segment.ordinal < ordinals.end);
    &segments[start..end]
}

/// Tracks those of one window's segments that are among `ordinals`, shard by shard.
fn track<const SEGMENTS: bool>(
    tables: &mut [ConnectionTable<Recorder<SEGMENTS>>],
    batch: &Batch,
    ordinals: Range<u64>,
) {
    let all = ordinals == batch.ordinals;
    tables
        .par_iter_mut()
        .enumerate()
        .for_each(|(shard, table)| {
            let mut whole = part(&batch.whole, &ordinals)
                .iter()
                .filter(|segment| shard_of(segment) == shard)
                .peekable();
            let parts = batch.chunks.iter().map(|chunk| {
                if all {
                    chunk.segments.all(shard)
                } else {
                    chunk.segments.within(shard, &ordinals)
                }
            });
            if whole.peek().is_none() {
                table.on_segments(parts);
                return;
            }
            for segment in parts.flat_map(BatchPart::segments) {
                while let Some(earlier) = whole.next_if(|whole| whole.ordinal < segment.ordinal) {
                    table.on_segment(earlier);
                }
                table.on_segment(&segment);
            }
            whole.for_each(|segment| table.on_segment(segment));
        });
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
        return CaptureAnalysis::unread(name, error);
    }
    let options = ReadOptions {
        window_bytes: WINDOW_BYTES_PER_THREAD * rayon::current_num_threads().clamp(2, 4),
        io: config.io,
        repair: config.repair,
        decompressors,
        stop: watch.stop_flag(),
    };
    let analysis = match CaptureReader::open(sources, &options) {
        Err(error) => CaptureAnalysis::unread(name, error),
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
    let curve_growth = Arc::new(AtomicUsize::new(0));
    let mut tables = tables::<SEGMENTS>(config, origin, &curve_growth);
    let mut memory = Memory::new(config.memory_bytes);
    let mut shown = 0;
    let mut pruning = Pruning::new(config.pairs, config.time_sequence, curve_growth);
    while more {
        std::mem::swap(&mut ahead, &mut behind);
        watch.records.fetch_add(
            std::mem::replace(&mut shown, source.records).abs_diff(source.records),
            Ordering::Relaxed,
        );
        (more, ()) = rayon::join(
            || {
                let more = source.next(&mut ahead);
                // By a thread that has nothing else to do, or by this one before it goes on: nobody waits for it.
                if let Some(left) = source.reader.take_behind() {
                    rayon::spawn(move || drop(left));
                }
                more
            },
            || track_all(&mut tables, &behind, &mut memory, &mut pruning),
        );
    }
    // The records that connections come to at the end take their room.
    drop((ahead, behind));
    pruning.end(&mut tables);
    let (recorders, table_facts): (Vec<_>, Vec<_>) =
        tables.into_par_iter().map(ConnectionTable::finish).unzip();
    let cut_by_limit = table_facts.iter().map(|facts| facts.cut_by_limit).sum();
    let given_up = memory.given_up(&recorders);
    let facts = source.facts(origin, given_up, cut_by_limit);
    CaptureAnalysis::merge(facts, recorders, config)
}

/// A table for each shard. Bins are counted from `origin`.
fn tables<const SEGMENTS: bool>(
    config: &Config,
    origin: CaptureTime,
    curve_growth: &Arc<AtomicUsize>,
) -> Vec<ConnectionTable<Recorder<SEGMENTS>>> {
    let record = RecordConfig {
        origin,
        bin_ns: config.bin_ns,
        bins_max: config.bins_max,
        time_sequence: config.time_sequence,
        gaps: config.gaps,
        curves: config.pairs.top > 1,
        curve_growth: curve_growth.clone(),
    };
    (0..SHARDS)
        .map(|_| ConnectionTable::new(Recorder::new(record.clone()), config.limits))
        .collect()
}

#[cfg(test)]
mod tests;
