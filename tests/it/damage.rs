//! What a user sees of captures that are damaged, absurd, or change while they are read.

use std::fs;
use std::io::Write as _;

use super::cli::{command, run};
use super::support::{FILE_HEADER, RAW_US, capture, connections, records, records_mut};
use super::wire::{Format, Packet, tcp4};

/// A capture of 752 records, with 5000 bytes of no meaning before a record in its middle: its
/// bytes, and where they begin.
pub(crate) fn damaged() -> (Vec<u8>, usize) {
    let mut bytes = fs::read(capture("drop-one.pcap")).unwrap();
    let before: usize = records(&bytes).take(400).map(<[u8]>::len).sum();
    let at = FILE_HEADER + before;
    bytes.splice(at..at, [0xa5; 5000]);
    (bytes, at)
}

#[test]
fn garbage_in_a_file_ends_it_and_repair_goes_on_behind_it() {
    let folder = tempfile::tempdir().unwrap();
    let (bytes, at) = damaged();
    fs::write(folder.path().join("bad.pcap"), bytes).unwrap();
    let args = ["bad.pcap", "--no-charts", "--out", "r.csv"];
    let table = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let plain = run(folder.path(), &args);
    assert_eq!(plain.status, 1, "{}", plain.stderr);
    assert!(
        plain.stderr.contains(&format!(
            "error: bad.pcap: record 401 at byte {at}: record length of 2779096485 bytes, but 16777216 is the largest that can be: the file is damaged from here on; the 400 records before it are used; --repair goes on behind the damage"
        )),
        "{}",
        plain.stderr
    );
    // Repaired, the numbers are those of the file without the damage.
    let mut tables = Vec::new();
    for more in [
        ["--io", "mmap", "--threads", "1"],
        ["--io", "read", "--threads", "1"],
        ["--io", "mmap", "--threads", "2"],
        ["--io", "auto", "--threads", "3"],
    ] {
        let mended = run(folder.path(), &[&args[..], &["--repair"], &more].concat());
        assert_eq!(mended.status, 1, "{}", mended.stderr);
        for line in [
            format!(
                "warning: bad.pcap: record 401 at byte {at}: 5000 bytes are no record; repaired\n"
            ),
            "warning: bad.pcap: damaged in one place, 5,000 bytes were skipped".to_owned(),
        ] {
            assert!(mended.stderr.contains(&line), "{}", mended.stderr);
        }
        tables.push((
            table("r.csv"),
            table("r.series.csv"),
            table("r.captures.csv"),
        ));
    }
    assert!(tables.windows(2).all(|pair| pair[0] == pair[1]));
    let mut piped = command(folder.path());
    piped.args(["-", "--repair"]);
    piped.stdin(fs::File::open(folder.path().join("bad.pcap")).unwrap());
    let piped = String::from_utf8(piped.output().unwrap().stderr).unwrap();
    assert!(
        piped.contains("warning: standard input: record 401 at byte ")
            && piped.contains("warning: standard input: damaged in one place, "),
        "{piped}"
    );
    let whole = capture("drop-one.pcap");
    fs::copy(whole, folder.path().join("bad.pcap")).unwrap();
    let intact = run(folder.path(), &[&args[..], &["--repair"]].concat());
    assert_eq!(intact.status, 0, "{}", intact.stderr);
    assert_eq!(tables[0].0, table("r.csv"));
    assert_eq!(tables[0].1, table("r.series.csv"));
    assert!(tables[0].2.contains(",1,5000,"), "{}", tables[0].2);
    assert!(table("r.captures.csv").contains(",0,0,"));
}

#[test]
fn too_little_memory_is_told_with_what_was_given_up() {
    let folder = tempfile::tempdir().unwrap();
    // 3000 one-way connections that each send 10 bytes in 20 bins.
    fs::write(folder.path().join("many.pcap"), connections(3000, 20)).unwrap();
    let args = ["many.pcap", "--no-charts", "--out", "r.csv"];
    let all = run(folder.path(), &args);
    assert_eq!(all.status, 0, "{}", all.stderr);
    assert!(!all.stderr.contains("memory"), "{}", all.stderr);
    let few = run(folder.path(), &[&args[..], &["--memory", "9MB"]].concat());
    assert_eq!(few.status, 0, "{}", few.stderr);
    assert!(
        few.stderr.contains("warning: many.pcap: the memory limit was reached and this was given up: series and rows of the ")
            && few.stderr.contains("; no count depends on it, and --memory raises it"),
        "{}",
        few.stderr
    );
    let table = fs::read_to_string(folder.path().join("r.csv")).unwrap();
    assert!(table.contains("series_cut"));
    for wrong in ["4", "1kB", "much"] {
        let refused = run(folder.path(), &["many.pcap", "--memory", wrong]);
        assert_eq!(refused.status, 2);
        assert!(refused.stderr.contains("--memory"), "{}", refused.stderr);
    }
}

/// A pcap file of raw IPv4 packets, with a snap length of 40: each a data packet of 10 bytes, dated
/// by what is given in seconds, that a record of `captured` bytes holds.
fn dated(records: &[(u32, usize)]) -> Vec<u8> {
    let packets = (0..).zip(records).map(|(index, &(second, captured))| {
        let ends = [([10, 0, 0, 1], 1024), ([10, 0, 0, 2], 80)];
        let mut bytes = tcp4(ends, [1 + 10 * index, 0], 0x18, 10);
        bytes.resize(captured, 0);
        Packet::ipv4(i64::from(second) * 1_000_000_000, bytes)
    });
    let format = Format { snap: 40, ..RAW_US };
    format.file(packets)
}

/// What is said of such a file, and the packets of each of its flows.
fn said_of(records: &[(u32, usize)]) -> (i32, String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("odd.pcap"), dated(records)).unwrap();
    let run = run(
        folder.path(),
        &["odd.pcap", "--no-charts", "--out", "r.csv"],
    );
    let table = fs::read_to_string(folder.path().join("r.csv")).unwrap();
    let mut lines = table.lines();
    let place = |line: &str| line.split(',').position(|name| name == "data_packets");
    let column = lines.next().and_then(place).unwrap();
    let cell = |line: &str| line.split(',').nth(column).unwrap().to_owned();
    let packets = lines.map(cell).collect();
    (run.status, run.stderr, packets)
}

#[test]
fn absurd_times_are_told_and_lose_no_packet() {
    let day = 1_700_000_000;
    let usual: Vec<(u32, usize)> = (0..20).map(|second| (day + second, 50)).collect();
    let (status, said, packets) = said_of(&usual);
    assert_eq!((status, packets), (0, vec!["20".to_owned()]));
    assert!(
        !said.contains("dated wrong") && !said.contains("same time"),
        "{said}"
    );
    // A zero, the last second that a pcap file can name, and a clock that starts at zero.
    for (index, second) in [(7, 0), (7, u32::MAX), (0, 0), (19, u32::MAX)] {
        let mut odd = usual.clone();
        odd[index].0 = second;
        let (status, said, packets) = said_of(&odd);
        assert_eq!(
            (status, packets),
            (0, vec!["20".to_owned()]),
            "{index} {second}: {said}"
        );
        assert!(
            said.contains("warning: odd.pcap: its records are ")
                && said.contains(" days apart: some are dated wrong (0, or a clock that was set)"),
            "{said}"
        );
    }
    let zeros: Vec<(u32, usize)> = (0..20).map(|_| (0, 50)).collect();
    let (status, said, packets) = said_of(&zeros);
    assert_eq!((status, packets), (0, vec!["20".to_owned()]), "{said}");
    assert!(
        said.contains("all its records have the same time"),
        "{said}"
    );
}

/// Where ACKs come at the very time of their data, that is all there is to say of times.
#[test]
fn how_fine_times_are_is_not_told_where_there_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = fs::read(capture("drop-one.pcap")).unwrap();
    records_mut(&mut bytes).for_each(|record| record[..8].fill(0));
    fs::write(folder.path().join("a.pcap"), bytes).unwrap();
    let run = run(folder.path(), &["a.pcap"]);
    let all = "warning: a.pcap: all its records have the same time, as those of Simple Packet Blocks have: there are no rates, and round-trip times of 0 are none\n";
    assert_eq!(run.stderr, all);
}

#[test]
fn a_clock_that_steps_back_is_told_with_how_often() {
    let day = 1_700_000_000;
    // An hour back, once.
    let stepped: Vec<(u32, usize)> = (0..20)
        .map(|index| {
            (
                if index < 10 {
                    day + index
                } else {
                    day - 3600 + index
                },
                50,
            )
        })
        .collect();
    let (status, said, packets) = said_of(&stepped);
    assert_eq!((status, packets), (0, vec!["20".to_owned()]), "{said}");
    assert!(
        said.contains("1 record is older than the one before, by up to 3599.000 s: the clock"),
        "{said}"
    );
}

#[test]
fn records_longer_than_the_snap_length_are_records() {
    // The file's header says 40.
    let longer: Vec<(u32, usize)> = (0..20).map(|second| (1_700_000_000 + second, 50)).collect();
    let (status, said, packets) = said_of(&longer);
    assert_eq!((status, packets), (0, vec!["20".to_owned()]), "{said}");
    assert!(!said.contains("error"), "{said}");
}

#[test]
fn a_decompression_bomb_is_told_and_takes_neither_memory_nor_time() {
    let folder = tempfile::tempdir().unwrap();
    // A capture of 20 packets, and behind it more than a gigabyte of records that say nothing.
    let mut records = dated(&[(1_700_000_000, 50); 20]);
    let first = records.len();
    let nothing = Packet {
        at_ns: 1_700_000_001_000_000_000,
        bytes: vec![0; 65_520],
        original_len: 65_520,
    };
    records.extend(RAW_US.record(&nothing).repeat(16));
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.write_all(&records).unwrap();
    for _ in 0..1100 {
        encoder.write_all(&records[first..]).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < 1 << 20, "{}", bomb.len());
    fs::write(folder.path().join("bomb.pcap.zst"), bomb).unwrap();
    let bomb = run(folder.path(), &["bomb.pcap.zst"]);
    assert_eq!(bomb.status, 1, "{}", bomb.stderr);
    assert!(
        bomb.stderr.contains("error: bomb.pcap.zst: record ")
            && bomb.stderr.contains(
                "the zstd stream expands 5,000 times and more, which hardly any capture does (a decompression bomb?): decompress it first, if it is none; the "
            ),
        "{}",
        bomb.stderr
    );
    // One of frames that hold hardly anything does not expand, but takes its time: room is cleared for each.
    let frames = dated(&[(1_700_000_000, 50); 20].repeat(60))
        .chunks(16)
        .flat_map(|part| {
            let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
            encoder.write_all(part).unwrap();
            encoder.finish().unwrap()
        })
        .collect::<Vec<u8>>();
    fs::write(folder.path().join("frames.pcap.lz4"), frames).unwrap();
    let frames = run(folder.path(), &["frames.pcap.lz4"]);
    assert_eq!(frames.status, 1, "{}", frames.stderr);
    assert!(
        frames.stderr.contains(
            "the lz4 stream holds thousands of frames of less than 270 bytes on average, which hardly any capture does"
        ),
        "{}",
        frames.stderr
    );
    // One of zeros ends where the zeros begin.
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder
        .write_all(&dated(&[(1_700_000_000, 50); 20]))
        .unwrap();
    encoder.write_all(&vec![0; 64 << 20]).unwrap();
    fs::write(
        folder.path().join("zeros.pcap.zst"),
        encoder.finish().unwrap(),
    )
    .unwrap();
    let zeros = run(folder.path(), &["zeros.pcap.zst"]);
    assert_eq!(zeros.status, 1, "{}", zeros.stderr);
    assert!(
        zeros.stderr.contains(
            "zeros.pcap.zst: record 21 at byte 1344: nothing but zeros where a record should begin: the file was never written there"
        ),
        "{}",
        zeros.stderr
    );
}

/// The command reads two files as one capture, the second of which it has to wait for, so that the
/// first can be changed while it is read.
#[cfg(unix)]
#[test]
fn a_file_that_grows_or_shrinks_while_it_is_read_is_told() {
    use std::process::Stdio;
    for (change, status, told) in [
        (
            "grow",
            1,
            "the capture was cut short (still being written, or the disk was full?)",
        ),
        (
            "shrink",
            1,
            "the file was truncated while it was being read, from ",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("live.pcap");
        let fifo = folder.path().join("gate");
        assert!(
            std::process::Command::new("mkfifo")
                .arg(&fifo)
                .status()
                .unwrap()
                .success()
        );
        let records: Vec<(u32, usize)> = (0..40_000)
            .map(|index| (1_700_000_000 + index / 100, 50))
            .collect();
        let whole = dated(&records);
        fs::write(&path, &whole).unwrap();
        let child = super::cli::command(folder.path())
            .args([
                "--concat",
                "live.pcap",
                "gate",
                "--io",
                "read",
                "--threads",
                "1",
            ])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It has looked at the first file when it opens the second, and reads it after that.
        let mut gate = fs::OpenOptions::new().write(true).open(&fifo).unwrap();
        let file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        if change == "grow" {
            // A whole record and a part of one.
            (&file)
                .write_all(&dated(&[(1_700_001_000, 50); 2])[24..24 + 66 + 30])
                .unwrap();
        } else {
            file.set_len(24 + 66 * 1000 + 5).unwrap();
        }
        gate.write_all(&dated(&[(1_800_000_000, 50)])).unwrap();
        drop(gate);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(
            said.contains("error: live.pcap: record ") && said.contains(told),
            "{said}"
        );
    }
}

/// What was read before a checksum was found to be wrong need not be what was captured.
#[test]
fn records_that_a_wrong_checksum_is_over_are_said_to_be_doubtful() {
    let said = "(damaged before here: records that were read may be wrong); the 752 records before it are used";
    let pcap = fs::read(capture("drop-one.pcap")).unwrap();
    let mut zstd = zstd::Encoder::new(Vec::new(), 1).unwrap();
    zstd.include_checksum(true).unwrap();
    zstd.write_all(&pcap).unwrap();
    let mut zstd = zstd.finish().unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&pcap).unwrap();
    let mut gzip = gzip.finish().unwrap();
    // The last four bytes of zstd are its checksum, those before the length that of gzip.
    *zstd.last_mut().unwrap() ^= 1;
    let checksum = gzip.len() - 8;
    gzip[checksum] ^= 1;
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [("in.pcap.zst", zstd), ("in.pcap.gz", gzip)] {
        fs::write(folder.path().join(name), bytes).unwrap();
        let run = run(folder.path(), &[name]);
        assert_eq!(run.status, 1, "{}", run.stderr);
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
}

#[test]
fn damage_among_records_of_a_compressed_file_may_have_begun_before() {
    let folder = tempfile::tempdir().unwrap();
    let (bytes, _) = damaged();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&bytes).unwrap();
    fs::write(folder.path().join("bad.pcap"), bytes).unwrap();
    fs::write(folder.path().join("bad.pcap.gz"), gzip.finish().unwrap()).unwrap();
    for (name, is_said) in [("bad.pcap", false), ("bad.pcap.gz", true)] {
        let run = run(folder.path(), &[name]);
        assert_eq!(run.status, 1);
        let said = "the 400 records before it are used; where `gzip -t` tells of damage, too, it began earlier";
        assert_eq!(run.stderr.contains(said), is_said, "{}", run.stderr);
    }
}
