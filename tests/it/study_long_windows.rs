//! Windows of runs that are too long for each of their packets to be kept.

use ccanalyze::metric;
use ccanalyze::study::Metric;

use super::directions::Wire;
use super::study_windows::{folder_with, study};

const MS: u64 = 1_000_000;

/// Of long captures packets are kept one by one only around instants that will be asked for.
#[test]
fn windows_of_long_captures_are_cut_to_the_byte() {
    /// When packets of a flow leave that begins at one instant: one each of so many ns for half a minute, then for another.
    fn leaving(first_ns: u64, every_ns: [u64; 2]) -> impl Iterator<Item = u64> {
        const HALF_NS: u64 = 30_000_000_000;
        let halves = (0..).zip(every_ns);
        halves.flat_map(move |(half, every_ns)| {
            let packets = 0..HALF_NS / every_ns;
            packets.map(move |packet| first_ns + half * HALF_NS + packet * every_ns)
        })
    }
    const FIRST_NS: u64 = 1_000_000_000;
    let flows = [
        (FIRST_NS, [800_000, 200_000]),
        (FIRST_NS + 100_000, [400_000, 400_000]),
    ];
    let mut wire = Wire::default();
    for (host, (first_ns, every_ns)) in (1..).zip(flows) {
        for (index, at_ns) in (0..).zip(leaving(first_ns, every_ns)) {
            let seq = 1 + 1000 * index;
            wire.packet(at_ns, [host, 3], [1000, 80], [seq, 1], 1000);
            if index % 64 == 63 {
                wire.packet(at_ns + 5 * MS, [3, host], [80, 1000], [1, seq + 1000], 0);
            }
        }
    }
    let folder = folder_with(wire);
    // Both are there from before the windows to the last packet of the one that ends first (METRICS.md N1, N2).
    let last_ns = flows.map(|(first_ns, every_ns)| leaving(first_ns, every_ns).last().unwrap());
    let both_until_ns = last_ns.into_iter().min().unwrap() - FIRST_NS;
    for (window, from_ns, length_ns) in [
        ("10s+2s", 10_000_000_000_u64, 2_000_000_000_u64),
        ("29s+3s", 29_000_000_000, 3_000_000_000),
        ("skip 10s", 10_000_000_000, u64::MAX),
    ] {
        let results = study(folder.path(), window);
        let run = &results.runs[0];
        assert_eq!(run.error, None, "{window}");
        let [a, b] = flows.map(|(first_ns, every_ns)| {
            let after_ns = leaving(first_ns, every_ns).map(|at_ns| at_ns - FIRST_NS);
            let until_ns = from_ns.saturating_add(length_ns).min(both_until_ns + 1);
            after_ns
                .filter(|ns| (from_ns..until_ns).contains(ns))
                .count() as u64
        });
        let fness = run.values.get(Metric::Fness);
        // In packets as in bytes, as they are of one size.
        assert_eq!(fness, metric::fness(a, b), "{window}: {a} and {b}");
        let jain = metric::jain_index([a, b].map(|packets| packets as f64));
        assert_eq!(run.values.get(Metric::Jain), jain, "{window}: {a} and {b}");
    }
}
