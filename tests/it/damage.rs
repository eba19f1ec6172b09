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

#[test]
fn too_little_memory_is_told_with_what_was_given_up() {
    let folder = tempfile::tempdir().unwrap();
    // Raw IPv4: 3000 one-way connections that each send 10 bytes in 12 bins.
    let mut file = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0];
    for field in [0_u32, 0, 65_535, 101] {
        file.extend(field.to_le_bytes());
    }
    for second in 0..12_u32 {
        for port in 0..3000_u16 {
            for field in [second, u32::from(port), 50, 50] {
                file.extend(field.to_le_bytes());
            }
            file.extend([0x45, 0, 0, 50, 0, 0, 0x40, 0, 64, 6, 0, 0]);
            file.extend([10, 0, 0, 1, 10, 0, 0, 2]);
            file.extend((1000 + port).to_be_bytes());
            file.extend([0, 80]);
            file.extend((1 + 10 * second).to_be_bytes());
            file.extend([0, 0, 0, 0, 0x50, 0x18, 1, 0, 0, 0, 0, 0]);
            file.extend([0; 10]);
        }
    }
    fs::write(folder.path().join("many.pcap"), file).unwrap();
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
