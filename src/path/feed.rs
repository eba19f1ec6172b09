//! Reads one point's captures and turns records into sightings, ahead of those who match them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::SyncSender;

use super::sighting::{FlowKey, Identity, Print, Sighting};
use crate::capture::{CaptureError, CaptureReader, CaptureSource, ReadOptions, Window};
use crate::decode::{DecodeOptions, Filter};

/// A place on the path where packets were captured: a file, or rotated files that follow each
/// other. Files are read more than once, so standard input is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// What the results call it: the first path as given.
    pub name: String,
    /// Its files.
    pub files: Vec<PathBuf>,
}

impl Point {
    /// The point whose packets are in one file.
    #[must_use]
    pub fn file(path: PathBuf) -> Self {
        Self {
            name: path.display().to_string(),
            files: vec![path],
        }
    }
}

/// What is known of a point when it has been read.
#[derive(Debug, Default)]
pub struct PointFacts {
    /// Records read.
    pub records: u64,
    /// IP packets among them that were followed; the pieces of a frame of offload count each.
    pub packets: u64,
    /// Frames that held several packets (offload).
    pub super_segments: u64,
    /// Packets whose TCP header the snap length cut.
    pub headers_cut: u64,
    /// Records older than the one before them.
    pub clock_steps_back: u64,
    /// There were so many flows that some are not told apart.
    pub flows_left_out: bool,
    /// Time of the first and the last packet by the point's own clock, in ns.
    pub span: Option<(i64, i64)>,
    /// What kept its files from being read to their end.
    pub errors: Vec<CaptureError>,
}

/// How records become sightings.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    pub(super) decode: DecodeOptions,
    pub(super) filter: Option<Filter>,
    pub(super) identity: Identity,
    /// Payload of one packet of a flow whose frames hold several, in bytes.
    pub(super) pieces: HashMap<FlowKey, u32>,
}

/// What one window of a capture says.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) sightings: Vec<Sighting>,
    /// Flows seen for the first time: numbers go on where the last batch's ended.
    pub(super) new_flows: Vec<FlowKey>,
}

/// Reads a point from its start to its end.
pub(super) struct Feed<'a> {
    reader: CaptureReader,
    window: Window,
    sight: &'a Sight,
    flows: HashMap<FlowKey, u32>,
    facts: PointFacts,
}

impl<'a> Feed<'a> {
    pub(super) fn open(point: &Point, sight: &'a Sight) -> Result<Self, CaptureError> {
        Ok(Self {
            reader: open(point)?,
            window: Window::new(),
            sight,
            flows: HashMap::new(),
            facts: PointFacts::default(),
        })
    }

    /// Sends batch after batch until the end, or until nobody listens.
    pub(super) fn run(mut self, out: &SyncSender<Batch>) -> PointFacts {
        while let Some(batch) = self.next() {
            if out.send(batch).is_err() {
                break;
            }
        }
        self.facts
    }

    fn next(&mut self) -> Option<Batch> {
        loop {
            match self.reader.read_window(&mut self.window) {
                Ok(true) => break,
                Ok(false) => return None,
                // A damaged file of several does not end the capture.
                Err(error) => self.facts.errors.push(error),
            }
        }
        self.facts.records += self.window.len() as u64;
        let mut batch = Batch {
            sightings: Vec::with_capacity(self.window.len()),
            new_flows: Vec::new(),
        };
        for index in 0..self.window.len() {
            let record = self.window.record(index);
            let filter = self.sight.filter.as_ref();
            if let Some(print) = Print::of(&record, self.sight.decode, filter) {
                self.add(&print, &mut batch);
            }
        }
        Some(batch)
    }

    /// The point's number of a flow.
    fn flow(&mut self, key: FlowKey, batch: &mut Batch) -> u32 {
        if let Some(&number) = self.flows.get(&key) {
            return number;
        }
        let number = self.flows.len() as u32;
        let key = if self.flows.len() < FLOWS_MAX {
            key
        } else {
            self.facts.flows_left_out = true;
            FlowKey::others()
        };
        *self.flows.entry(key).or_insert_with(|| {
            batch.new_flows.push(key);
            number
        })
    }

    fn add(&mut self, print: &Print, batch: &mut Batch) {
        let last = self.facts.span.map_or(print.at, |(_, last)| last);
        self.facts.clock_steps_back += u64::from(print.at < last);
        let first = self.facts.span.map_or(print.at, |(first, _)| first);
        self.facts.span = Some((first.min(print.at), last.max(print.at)));
        self.facts.headers_cut += u64::from(print.header_cut());
        let flow = self.flow(print.flow, batch);
        let piece = self.sight.pieces.get(&print.flow).copied().unwrap_or(0);
        let before = batch.sightings.len();
        let parts = print.split(piece);
        batch
            .sightings
            .extend(parts.map(|part| Sighting::of(&part, flow, self.sight.identity)));
        let parts = (batch.sightings.len() - before) as u64;
        self.facts.packets += parts;
        self.facts.super_segments += u64::from(parts > 1);
    }
}

/// The headers of a point's packets that `wanted` says yes to, at most `max` of them, from among
/// the first `records_max` records.
pub(super) fn prints(
    point: &Point,
    sight: &Sight,
    records_max: u64,
    max: usize,
    wanted: impl Fn(&Print) -> bool,
) -> Result<Vec<Print>, CaptureError> {
    let mut reader = open(point)?;
    let mut window = Window::new();
    let mut prints = Vec::new();
    let mut records = 0;
    // A capture that is damaged further on is still a capture; the walk itself reports it.
    while let Ok(true) = reader.read_window(&mut window) {
        for index in 0..window.len() {
            if records == records_max || prints.len() == max {
                return Ok(prints);
            }
            records += 1;
            let print = Print::of(&window.record(index), sight.decode, sight.filter.as_ref());
            prints.extend(print.filter(&wanted));
        }
    }
    Ok(prints)
}

/// Flows of one point that are told apart; all further ones are one together.
const FLOWS_MAX: usize = 1 << 20;

fn open(point: &Point) -> Result<CaptureReader, CaptureError> {
    let sources = point.files.iter().cloned().map(CaptureSource::File);
    CaptureReader::open(sources.collect(), &ReadOptions::default())
}
