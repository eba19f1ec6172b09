//! How the captures of a study's runs were taken, in words: what each would be warned of alone, a line a kind.

use crate::analyze::Quality;
use crate::study::{Metric, StudyResults, StudyRun};

use super::runs::first_of;
use super::{counted, grouped};

/// What words of quality (METRICS.md Q1) mean for the numbers of a run, in the order in which they are said.
const SIGNS: [(Quality, &str); 6] = [
    (
        Quality::RecordsDropped,
        "receivers acknowledged bytes that the capture never saw: it missed packets or began late, so that counts of packets, bytes and losses are too low",
    ),
    (
        Quality::HeadersCut,
        "the snap length cut TCP headers: SACK and timestamps may be missing",
    ),
    (
        Quality::SuperSegments,
        "segments are several packets on the wire (offload): packets are frames, IP bytes, throughput and overhead lack headers, which `wire_ip_bytes` and `wire_overhead` have, and round-trip times are those of whole frames",
    ),
    (
        Quality::OneWay,
        "only one direction was seen: no ACKs, no round-trip times",
    ),
    (
        Quality::Copies,
        "many packets are there more than once, as in a capture of all interfaces: packets, IP bytes, throughput and overhead count each copy, and round-trip times are from the first copy of data to the first of its ACK",
    ),
    (
        Quality::ClockSteppedBack,
        "the clock stepped back, or several interfaces were captured into one file, which `reordercap` puts in order",
    ),
];

/// What runs lack by how they were captured: of each kind the first run, and how many others it is so of.
pub(super) fn captured(results: &StudyResults) -> Vec<String> {
    let of_kinds = |of_run: &dyn Fn(&StudyRun) -> Option<String>| {
        let runs = results.runs.iter().filter(|run| run.error.is_none());
        first_of(runs.filter_map(|run| Some((run.name.as_str(), of_run(run)?))))
    };
    let mut said: Vec<String> = of_kinds(&dropped).into_iter().collect();
    let signs = SIGNS.iter();
    said.extend(signs.filter_map(|&(sign, means)| of_kinds(&|run| marked(run, sign, means))));
    said.extend(of_kinds(&beside));
    said
}

/// What a sign of some of its flows means for a run.
fn marked(run: &StudyRun, sign: Quality, means: &str) -> Option<String> {
    let flows = run.flows.len();
    let marked = run
        .flows
        .iter()
        .filter(|flow| flow.measure.has(sign))
        .count();
    let which = match (marked, flows) {
        (0, _) => return None,
        (1, 1) => "its flow".to_owned(),
        _ => format!(
            "{} of {}",
            grouped(marked as u64),
            counted(flows as u64, "flow")
        ),
    };
    let goodput = run.values.get(Metric::GoodputBps);
    let lacking = match goodput {
        _ if sign != Quality::OneWay => "",
        None => ", and the run has no goodput",
        Some(_) => ", and goodput counts new bytes that were seen",
    };
    Some(format!("of {which} {means}{lacking}"))
}

/// What its files themselves counted as lost.
fn dropped(run: &StudyRun) -> Option<String> {
    let dropped = run.shortfall.dropped_packets;
    (dropped > 0).then(|| {
        let packets = counted(dropped, "packet");
        format!("{packets} not captured, by the file's own count: what they held is missing in all numbers")
    })
}

/// Whether there is UDP beside its flows that shares a link with them.
fn beside(run: &StudyRun) -> Option<String> {
    let [udp, all] = run.shortfall.udp_beside?.map(grouped);
    Some(format!(
        "{udp} of {all} packets of TCP and UDP are UDP, which only `udp = true` of [analysis] takes: what it takes of a link is missing in utilisation, Jain's index and fness"
    ))
}

#[cfg(test)]
mod tests {
    use super::super::study_warnings;
    use crate::analyze::Watch;
    use crate::capture::tests::build::Pcap;
    use crate::study::StudyPlan;

    /// A raw IPv4 segment between `10.0.0.1:1` and `10.0.0.2:2`, in either direction.
    fn segment(reverse: bool, seq: u32, ack: u32, payload: u16) -> Vec<u8> {
        let len = 40 + payload;
        let (source, target) = if reverse { (2_u8, 1_u8) } else { (1, 2) };
        let mut bytes = vec![0x45, 0];
        bytes.extend(len.to_be_bytes());
        bytes.extend([
            0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, source, 10, 0, 0, target,
        ]);
        bytes.extend([0, source, 0, target]);
        bytes.extend([seq.to_be_bytes(), ack.to_be_bytes()].concat());
        bytes.extend([0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
        bytes.extend(std::iter::repeat_n(0, payload.into()));
        bytes
    }

    #[test]
    fn what_runs_lack_is_said_once_a_kind_with_the_first_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, with_acks: bool| {
            let mut file = Pcap::raw_ip(0xa1b2_c3d4);
            for number in 0..20 {
                file = file.record(
                    1,
                    10_000 * number,
                    &segment(false, 1 + 100 * number, 1, 100),
                );
                if with_acks {
                    let ack = segment(true, 1, 101 + 100 * number, 0);
                    file = file.record(1, 10_000 * number + 5000, &ack);
                }
            }
            std::fs::write(folder.path().join(name), file.bytes).unwrap();
        };
        write("a_1.pcap", true);
        for name in ["b_1.pcap", "b_2.pcap", "c_1.pcap"] {
            write(name, false);
        }
        let manifest = "[study]\ngroup_by = [\"kind\"]\n[[runs]]\nfiles = \"{kind}_{run}.pcap\"\n";
        let path = folder.path().join("study.toml");
        std::fs::write(&path, manifest).unwrap();
        let plan = StudyPlan::read(&path).unwrap();
        // What was kept of a run says the same.
        let cache = folder.path().join("cache");
        for _ in 0..2 {
            let results = plan.carry_out(Some(&cache), &Watch::default());
            let said = study_warnings(&plan, &results);
            let of: Vec<&String> = said
                .iter()
                .filter(|said| said.contains("one direction"))
                .collect();
            let expected = "b_1.pcap: of its flow only one direction was seen: no ACKs, no round-trip times, and goodput counts new bytes that were seen; so it is of 2 other runs";
            assert_eq!(of, [expected], "{said:?}");
        }
    }
}
