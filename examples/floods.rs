//! What attackers send, a packet or a few from each of very many: how long it takes, and how much
//! memory.
//!
//! ```console
//! $ cargo run --release --no-default-features --example floods -- 70000
//! ```
//!
//! analyses a capture of each kind with so many turns, each by a process of its own, and prints a
//! line each: time, bytes of the capture (which is made while it is read, so that it takes no
//! memory), and the most memory that the process ever had. With the name of a kind behind the
//! number it does that one. Memory is known on Linux only.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "it measures and tells"
)]

#[path = "../tests/robust/torrents.rs"]
#[allow(dead_code, reason = "shared with tests, which use other parts")]
mod torrents;
#[path = "../tests/support/wire.rs"]
#[allow(dead_code, reason = "shared with tests, which use other parts")]
mod wire;

use std::io::{self, Read};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use ccanalyze::Analysis;
use ccanalyze::analyze::{CaptureInput, Config, Watch};
use ccanalyze::capture::CaptureSource;
use torrents::{TORRENTS, Torrent};

fn main() -> io::Result<ExitCode> {
    let mut args = std::env::args().skip(1);
    let Some(turns) = args.next().and_then(|turns| turns.parse().ok()) else {
        println!("usage: floods TURNS [KIND]");
        return Ok(ExitCode::from(2));
    };
    let mut worst = true;
    match args.next() {
        Some(name) => {
            let of_name = TORRENTS.iter().filter(|torrent| torrent.name == name);
            for torrent in of_name {
                measure(torrent, turns);
            }
        }
        None => {
            for torrent in &TORRENTS {
                let program = std::env::current_exe()?;
                let turns = turns.to_string();
                let run = Command::new(program)
                    .args([&turns, torrent.name])
                    .status()?;
                worst &= run.success();
            }
        }
    }
    Ok(ExitCode::from(u8::from(!worst)))
}

fn measure(torrent: &Torrent, turns: u64) {
    let bytes = Arc::new(AtomicU64::new(0));
    let reader = Box::new(Counted {
        reader: torrent.reader(turns),
        bytes: Arc::clone(&bytes),
    });
    let name = torrent.name.to_owned();
    let sources = vec![CaptureSource::Reader {
        name: name.clone(),
        reader,
    }];
    let start = Instant::now();
    let input = CaptureInput { name, sources };
    let analysis = Analysis::run(vec![input], &Config::default(), &Watch::default());
    let capture = &analysis.captures[0];
    println!(
        "{}: {} records, {} connections, {:.1} MB in {:.2} s, {:.1} MB of memory",
        torrent.name,
        capture.records,
        capture.connections_total,
        bytes.load(Ordering::Relaxed) as f64 / 1e6,
        start.elapsed().as_secs_f64(),
        torrents::peak_bytes() as f64 / 1e6,
    );
    for error in &capture.errors {
        println!("  {error}");
    }
}

/// Counts what is read.
struct Counted<R> {
    reader: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buf)?;
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
