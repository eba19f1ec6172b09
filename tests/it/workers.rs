//! How many threads work, and how files are taken in, changes the time taken, and nothing else.

use ccanalyze::Analysis;
use ccanalyze::analyze::{Capacity, CaptureInput, Config, Watch};
use ccanalyze::capture::Io;
use ccanalyze::table::{Block, PackedTable as _, SegmentTable, Tables};

use super::support::{captures, csv};

#[test]
fn eight_workers_find_what_one_finds() {
    let alone = tables(1, Io::Read);
    for (threads, io) in [(2, Io::Mapped), (8, Io::Auto)] {
        for ((name, expected), (_, found)) in alone.iter().zip(tables(threads, io)) {
            assert!(
                found == *expected,
                "{name} differs with {threads} threads and {io:?}"
            );
        }
    }
}

/// All tables over all captures of testdata, as text.
fn tables(threads: usize, io: Io) -> Vec<(&'static str, String)> {
    let config = Config {
        threads: Some(threads),
        io,
        segments: true,
        capacity: Some(Capacity { bps: 20e6 }),
        ..Config::default()
    };
    let paths = captures();
    let mut inputs: Vec<CaptureInput> = paths.iter().map(|path| CaptureInput::file(path)).collect();
    // All of them as one capture too: many connections at once, in several files.
    inputs.push(CaptureInput::concatenated(&paths));
    let analysis = Analysis::run(inputs, &config, &Watch::default());
    let mut tables = Tables::of(&analysis, &config);
    let mut texts = vec![
        ("flows", csv(&mut tables.flows)),
        ("pairs", csv(&mut tables.pairs)),
        ("pair_series", csv(&mut tables.pair_series)),
        ("series", csv(&mut tables.series)),
        ("captures", csv(&mut tables.captures)),
    ];
    // In blocks that end within captures.
    let segments = SegmentTable::of(&analysis);
    let blocks = segments.blocks(1000).map(Block::into_frame);
    texts.extend(blocks.map(|mut table| ("segments", csv(&mut table))));
    texts
}

/// The table of segments is made in blocks, since it may be larger than the capture.
#[test]
fn blocks_of_segments_put_together_are_the_table() {
    let config = Config {
        segments: true,
        ..Config::default()
    };
    let analysis = Analysis::of(captures(), &config);
    let segments = SegmentTable::of(&analysis);
    let whole = segments.blocks(usize::MAX).into_frame();
    let blocks: Vec<_> = segments.blocks(997).map(Block::into_frame).collect();
    assert!(blocks.len() > 10, "{} blocks", blocks.len());
    assert!(blocks.iter().all(|block| block.height() <= 997));
    let parts = segments.blocks(997).into_frame();
    assert_eq!(parts.height(), whole.height());
    assert!(parts.equals_missing(&whole));
}
