//! The threads that decompress parts.

use std::io::{Cursor, Read};
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use super::super::Compression;

/// Threads of this process that decompress parts now. Many files that are read at a time share them.
static HELPERS: AtomicUsize = AtomicUsize::new(0);

/// Threads there can be for it, whatever is asked for: each holds a part, and what it becomes.
const HELPERS_MAX: usize = 8;

/// Bytes that a part is expected to become at least.
const EXPANDED_BYTES: usize = 1 << 20;

/// What a part came to. Its room is used again and again, and never cleared.
#[derive(Default)]
pub(super) struct Decompressed {
    room: Vec<u8>,
    filled: usize,
}

impl Deref for Decompressed {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.room.get(..self.filled).unwrap_or_default()
    }
}

/// A part to be decompressed.
pub(super) struct Job {
    pub(super) compressed: Arc<[u8]>,
    pub(super) format: Compression,
    /// Bytes that it may become.
    pub(super) bytes_max: usize,
    pub(super) room: Decompressed,
}

impl Job {
    /// What the part comes to; `None` where it does not end cleanly, or is too long to be held.
    pub(super) fn carry_out(self) -> Option<Decompressed> {
        let input = Cursor::new(self.compressed);
        let mut decoder = self.format.stream(input, &Arc::default(), false).ok()?;
        let mut bytes = self.room;
        bytes.filled = 0;
        loop {
            if bytes.filled == bytes.room.len() {
                let wanted = bytes.filled + bytes.filled.max(EXPANDED_BYTES);
                bytes.room.resize(wanted.min(self.bytes_max + 1), 0);
            }
            match decoder.read(bytes.room.get_mut(bytes.filled..)?).ok()? {
                0 => return Some(bytes),
                read => bytes.filled += read,
            }
            if bytes.filled > self.bytes_max {
                return None;
            }
        }
    }
}

/// Where what became of a part that was handed over comes out, and where it is put.
pub(super) type Outcome = Receiver<Option<Decompressed>>;
type Given = (Job, SyncSender<Option<Decompressed>>);

/// The threads for the parts of one stream, begun when they are needed.
pub(super) struct Helpers {
    wanted: usize,
    jobs: Option<Sender<Given>>,
}

impl Helpers {
    pub(super) fn new(wanted: usize) -> Self {
        Self {
            wanted: wanted.min(HELPERS_MAX),
            jobs: None,
        }
    }

    /// How many there would be.
    pub(super) fn wanted(&self) -> usize {
        self.wanted
    }

    /// Lets them go once they have done what they were given.
    pub(super) fn dismiss(&mut self) {
        self.jobs = None;
    }

    /// Has a part decompressed; `None` where there is no thread to be had for it.
    pub(super) fn decompress(&mut self, job: Job) -> Option<Outcome> {
        if self.jobs.is_none() {
            self.jobs = begin(self.wanted);
        }
        let (give, outcome) = sync_channel(1);
        self.jobs.as_ref()?.send((job, give)).ok()?;
        Some(outcome)
    }
}

/// Begins up to so many threads.
fn begin(wanted: usize) -> Option<Sender<Given>> {
    let (jobs, queue) = channel();
    let queue = Arc::new(Mutex::new(queue));
    let begun = (0..wanted).filter(|_| {
        let Some(place) = Helper::one_more() else {
            return false;
        };
        let queue = Arc::clone(&queue);
        let thread = thread::Builder::new().name("decompress".to_owned());
        let work = move || {
            let _place = place;
            take_parts(&queue);
        };
        thread.spawn(work).is_ok()
    });
    (begun.count() > 0).then_some(jobs)
}

/// One of [`HELPERS`], for as long as this lives.
struct Helper;

impl Helper {
    fn one_more() -> Option<Self> {
        let more = |helpers| (helpers < HELPERS_MAX).then_some(helpers + 1);
        HELPERS
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .ok()
            .map(|_| Self)
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        HELPERS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Decompresses one part after the other, until there will be no more.
fn take_parts(queue: &Mutex<Receiver<Given>>) {
    loop {
        let next = queue.lock().map(|queue| queue.recv());
        let Ok(Ok((job, give))) = next else {
            return;
        };
        // Nobody waits for it when its stream is done with.
        let _ = give.send(job.carry_out());
    }
}
