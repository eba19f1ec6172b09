//! Points whose captures are in several files.

use super::*;

/// A point of a download in as many files, which are given last first.
pub(super) fn in_parts(folder: &std::path::Path, packets: &[Packet], parts: usize) -> Vec<PathBuf> {
    let each = packets.len().div_ceil(parts);
    let mut paths = Vec::new();
    for (number, part) in packets.chunks(each).enumerate() {
        let path = folder.join(format!("part{number}"));
        fs::write(&path, file(part)).unwrap();
        paths.insert(0, path);
    }
    paths
}

/// What fits between two packets of the first point goes into two files of it.
#[test]
fn parts_of_a_rotated_capture_are_one_point() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = download(Some);
    let write = |name: &str, packets: &[Packet]| {
        let path = folder.path().join(name);
        fs::write(&path, file(packets)).unwrap();
        path
    };
    let parts = in_parts(folder.path(), &first, 2);
    let whole = Point::file(write("whole", &first));
    let after = Point::file(write("after", &second));
    let of = |before: Point| {
        let points = [before, after.clone()];
        let mut analysis = PathAnalysis::of(&points, &PathConfig::default()).unwrap();
        let hop = analysis.hops.remove(0);
        let flows = hop.flows_in_order();
        let passed: Vec<_> = flows
            .iter()
            .map(|flow| (flow.key, flow.passed_packets, flow.delay.ns_mean()))
            .collect();
        (passed, hop.ways[0].bins.clone())
    };
    assert_eq!(of(Point::files(parts)), of(whole));
}

/// As where the disk was full when the capture went on to its next file, or nothing came any more.
#[test]
fn a_part_without_a_byte_or_without_a_record_keeps_none_of_the_others_from_being_seen() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = download(Some);
    let mut parts = in_parts(folder.path(), &first, 3);
    for (name, bytes) in [("empty", Vec::new()), ("header", file(&[]))] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        parts.push(path);
    }
    let after = folder.path().join("after");
    fs::write(&after, file(&second)).unwrap();
    let points = [Point::files(parts), Point::file(after)];
    let analysis = PathAnalysis::of(&points, &PathConfig::default()).unwrap();
    let hop = &analysis.hops[0];
    for heading in [Heading::Forward, Heading::Reverse] {
        let flow = flow(hop, heading);
        assert_eq!((flow.packets, flow.passed_packets), (40, 40), "{heading:?}");
    }
    assert_eq!(hop.facts[0].errors.len(), 1);
    assert_eq!(hop.quality(), ["capture_damaged"]);
}
