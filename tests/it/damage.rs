//! What a user sees of captures that are damaged, absurd, or change while they are read.

use std::fs;

use super::cli::run;
use super::support::capture;

/// A capture of 752 records, with 5000 bytes of no meaning before a record in its middle: its
/// bytes, and where they begin.
fn damaged() -> (Vec<u8>, usize) {
    let mut bytes = fs::read(capture("drop-one.pcap")).unwrap();
    let mut at = 24;
    for _ in 0..400 {
        let len: [u8; 4] = bytes[at + 8..at + 12].try_into().unwrap();
        at += 16 + u32::from_le_bytes(len) as usize;
    }
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
    let whole = capture("drop-one.pcap");
    fs::copy(whole, folder.path().join("bad.pcap")).unwrap();
    let intact = run(folder.path(), &[&args[..], &["--repair"]].concat());
    assert_eq!(intact.status, 0, "{}", intact.stderr);
    assert_eq!(tables[0].0, table("r.csv"));
    assert_eq!(tables[0].1, table("r.series.csv"));
    assert!(tables[0].2.contains(",1,5000,"), "{}", tables[0].2);
    assert!(table("r.captures.csv").contains(",0,0,"));
}
