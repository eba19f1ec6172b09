//! What holds of any packets: how they come, when, and in whose company changes no number.
//!
//! The same cases in every run; `PROPTEST_CASES=5000 PROPTEST_RNG_SEED=1` tries others.

use ccanalyze::analyze::{Config, PacketAnalysis};
use ccanalyze::capture::LinkType;
use ccanalyze::time::CaptureTime;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::answers::{analyze, told};
use super::crossings::path;
use super::packets::{Packet, RAW_IP, STEP_BYTES, Twist, pcap, play};

/// Any bytes are a script; these are mostly plausible ones: in order, answered, some of it late,
/// repeated or reported missing.
fn script() -> impl Strategy<Value = Vec<u8>> {
    let options = prop_oneof![
        4 => Just(0_u8),
        4 => Just(0x08),
        2 => Just(0x18),
        2 => Just(0x09),
        1 => Just(0x3b),
        1 => any::<u8>(),
    ];
    // Data and ACKs of one or two connections, rarely something else.
    let first = prop_oneof![
        6 => prop::sample::select(vec![0_u8, 0x40, 0x14, 0x54, 0x10, 0x04, 0x01, 0x15]),
        1 => any::<u8>(),
    ];
    let near = prop_oneof![3 => -1500_i16..1500, 1 => any::<i16>()];
    let step = (
        first,
        0_u8..40,
        near.clone(),
        near,
        any::<u16>(),
        options,
        any::<[u8; 3]>(),
    );
    let step = step.prop_map(|(first, time, seq, ack, length, options, rest)| {
        let mut step = [0; STEP_BYTES];
        (step[0], step[1], step[8]) = (first, time, options);
        step[2..4].copy_from_slice(&seq.to_le_bytes());
        step[4..6].copy_from_slice(&ack.to_le_bytes());
        step[6..8].copy_from_slice(&length.to_le_bytes());
        step[9..].copy_from_slice(&rest);
        step
    });
    let plausible = prop::collection::vec(step, 1..150).prop_map(|steps| steps.concat());
    let wild = prop::collection::vec(any::<u8>(), STEP_BYTES..100 * STEP_BYTES);
    prop_oneof![3 => plausible, 1 => wild]
}

/// The same cases in every run, unless the environment asks for others.
pub(crate) fn config() -> ProptestConfig {
    let config = ProptestConfig::default();
    let rng_seed = match config.rng_seed {
        RngSeed::Random => RngSeed::Fixed(0xcca),
        fixed @ RngSeed::Fixed(_) => fixed,
    };
    let cases = std::env::var("PROPTEST_CASES").map_or(64, |_| config.cases);
    ProptestConfig {
        rng_seed,
        cases,
        ..config
    }
}

/// What is told of packets as one capture.
fn tell(packets: &[Packet], twist: Twist) -> Vec<String> {
    told(&analyze(vec![pcap(packets)], usize::MAX, 1, true), twist)
}

/// The script without steps of the clock backwards: captures can be merged by time.
fn calm(mut script: Vec<u8>) -> Vec<u8> {
    let (steps, _) = script.as_chunks_mut::<STEP_BYTES>();
    for step in steps {
        if step[0] >> 6 == 3 {
            step[0] &= 0x3f;
        }
    }
    script
}

proptest! {
    #![proptest_config(config())]

    /// What is found between two points adds up, whatever happened there.
    #[test]
    fn between_two_points_each_packet_has_one_fate(
        steps in script(),
        whole in any::<u8>(),
        crossings in prop::collection::vec(prop_oneof![
            4 => (prop::sample::select(vec![0_u8, 8]), 0_u8..20),
            1 => (any::<u8>(), any::<u8>()),
        ], 150),
    ) {
        let (steps, _) = steps.as_chunks::<STEP_BYTES>();
        let mut script = vec![whole];
        for (step, (fate, delay)) in steps.iter().zip(crossings) {
            // What goes back comes from the other point.
            let back = (step[0] >> 2 & 1) << 3;
            script.extend(step);
            script.extend([fate ^ back, delay]);
        }
        path(&script);
    }

    /// Packets that a program hands over are what they are in a capture.
    #[test]
    fn packets_alone_come_to_what_a_capture_comes_to(script in script(), segments in any::<bool>()) {
        let packets = play(&script, Twist::default());
        let mut expected = analyze(vec![pcap(&packets)], usize::MAX, 1, segments);
        expected.files.clear();
        let config = Config {
            udp: true,
            segments,
            time_sequence: segments,
            threads: Some(1),
            ..Config::default()
        };
        let mut alone = PacketAnalysis::new("capture", config);
        for packet in &packets {
            let at = CaptureTime::from_ns(packet.at_ns);
            alone.push(at, LinkType(RAW_IP), &packet.bytes, packet.original_len);
        }
        let found = alone.finish();
        // Sums are made when they are asked for, and those of the capture were.
        prop_assert_eq!(found.totals().flows, found.flows().count() as u64);
        prop_assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    }

    #[test]
    fn many_workers_find_what_one_finds(script in script(), times in 1_usize..60) {
        // Often enough for several tasks in a window, and more than one window.
        let packets = play(&script.repeat(times), Twist::default());
        let file = pcap(&packets);
        let alone = analyze(vec![file.clone()], usize::MAX, 1, true);
        let many = analyze(vec![file], usize::MAX, 5, true);
        prop_assert_eq!(told(&alone, Twist::default()), told(&many, Twist::default()));
        prop_assert_eq!(format!("{:?}", alone.pairs), format!("{:?}", many.pairs));
    }

    #[test]
    fn rotated_files_give_what_one_file_gives(
        script in script(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        turned in any::<prop::sample::Index>(),
    ) {
        let packets = play(&script, Twist::default());
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(packets.len())).collect();
        cuts.sort_unstable();
        cuts.dedup();
        // Files are put in order by their first packet, so that must tell the order.
        let mut starts = vec![0];
        for cut in cuts {
            if starts.iter().all(|&start: &usize| packets[start].at_ns < packets[cut].at_ns) {
                starts.push(cut);
            }
        }
        let ends = starts.iter().skip(1).copied().chain([packets.len()]);
        let mut files: Vec<Vec<u8>> = starts
            .iter()
            .zip(ends)
            .map(|(&start, end)| pcap(&packets[start..end]))
            .collect();
        let turn = turned.index(files.len());
        files.rotate_left(turn);
        let rotated = told(&analyze(files, usize::MAX, 2, true), Twist::default());
        prop_assert_eq!(rotated, tell(&packets, Twist::default()));
    }

    #[test]
    fn a_cut_capture_gives_what_its_whole_records_give(
        script in script(),
        cut in any::<prop::sample::Index>(),
    ) {
        const FILE_HEADER: usize = 24;
        const RECORD_HEADER: usize = 16;
        let packets = play(&script, Twist::default());
        let mut file = pcap(&packets);
        file.truncate(FILE_HEADER + cut.index(file.len() - FILE_HEADER));
        let mut end = FILE_HEADER;
        let mut whole = 0;
        while let Some(packet) = packets.get(whole) {
            if end + RECORD_HEADER + packet.bytes.len() > file.len() {
                break;
            }
            end += RECORD_HEADER + packet.bytes.len();
            whole += 1;
        }
        let clean = end == file.len();
        let capture = analyze(vec![file], usize::MAX, 1, true);
        prop_assert_eq!(capture.records, whole as u64);
        prop_assert_eq!(capture.errors.is_empty(), clean);
        prop_assert_eq!(told(&capture, Twist::default()), tell(&packets[..whole], Twist::default()));
    }

    /// From 1974 to 2100: what pcap can say.
    #[test]
    fn later_packets_give_the_same_later(
        script in script(),
        later_ns in -1_550_000_000_000_000_000_i64..2_400_000_000_000_000_000,
    ) {
        let twist = Twist { later_ns, ..Twist::default() };
        let now = tell(&play(&script, Twist::default()), Twist::default());
        prop_assert_eq!(tell(&play(&script, twist), twist), now);
    }

    #[test]
    fn other_initial_sequence_numbers_give_the_same(script in script(), seq in any::<u32>()) {
        let twist = Twist { seq, ..Twist::default() };
        let here = tell(&play(&script, Twist::default()), Twist::default());
        prop_assert_eq!(tell(&play(&script, twist), twist), here);
    }

    #[test]
    fn exchanged_addresses_exchange_the_flows(script in script()) {
        let twist = Twist { exchange: true, ..Twist::default() };
        let here = tell(&play(&script, Twist::default()), Twist::default());
        prop_assert_eq!(tell(&play(&script, twist), twist), here);
    }

    #[test]
    fn the_company_of_other_flows_changes_nothing(
        script in script(),
        others in script(),
        later_ms in 0_i64..300_000,
    ) {
        let packets = play(&calm(script), Twist::default());
        // Ours begin, and with them all bins.
        let first = play(&[0; STEP_BYTES], Twist::default())[0].at_ns;
        let twist = Twist {
            elsewhere: true,
            later_ns: packets[0].at_ns - first + later_ms * 1_000_000,
            ..Twist::default()
        };
        let others = play(&calm(others), twist);
        let alone = tell(&packets, Twist::default());
        let strange = tell(&others, Twist::default());
        let mut all = [packets, others].concat();
        // Stable: of two at the same time, ours stay first.
        all.sort_by_key(|packet| packet.at_ns);
        let together = tell(&all, Twist::default());
        let ours = together.iter().filter(|text| alone.contains(text)).count();
        prop_assert_eq!(ours, alone.len());
        prop_assert_eq!(together.len(), alone.len() + strange.len());
    }
}
