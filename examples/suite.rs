//! Writes every case of the truth suite as seen from every vantage point, for other tools:
//! `cargo run --no-default-features --example suite -- FOLDER`.

#[expect(dead_code, reason = "the answers are the test's business")]
#[path = "../tests/suite/mod.rs"]
mod suite;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let folder: PathBuf = std::env::args_os().nth(1).ok_or("which folder?")?.into();
    fs::create_dir_all(&folder)?;
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/suite");
    for script in suite::load(&traces)? {
        let played = suite::play::play(&script)?;
        for (position, vantage) in suite::script::VANTAGES.iter().enumerate() {
            let path = folder.join(format!("{}.{vantage}.pcap", script.name));
            fs::write(path, suite::wire::pcap(&script, &played, position))?;
        }
    }
    Ok(())
}
