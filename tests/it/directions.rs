//! A link has a capacity for each of its directions: an upload takes nothing from a download.

use std::fs;

use ccanalyze::Analysis;
use ccanalyze::analyze::{Config, Watch};
use ccanalyze::metric;
use ccanalyze::study::{Metric, StudyPlan};
use ccanalyze::table::Tables;

use super::cli::run;
use super::path_pings::echo;
use super::support::{
    FILE_HEADER, RECORD_HEADER, capture, close, records, records_mut, shared, tables_of,
};
use super::wire::{Packet, pcap, tcp4};

/// Ethernet, and where addresses begin in an IPv4 header.
const ADDRESSES: usize = 14 + 12;

/// The download of `drop-one.pcap`, and beside each of its packets another one: with the addresses the other way round
/// (an upload of its own), or with another port (a second download).
fn doubled(upload: bool) -> Vec<u8> {
    let bytes = fs::read(capture("drop-one.pcap")).unwrap();
    let mut made = bytes[..FILE_HEADER].to_vec();
    for record in records(&bytes) {
        let mut other = record.to_vec();
        let at = RECORD_HEADER + ADDRESSES;
        if upload {
            other[at..at + 8].rotate_left(4);
        } else {
            // The ports follow; the client's is the one above 30,000.
            let client = if other[at + 8] > 100 { at + 8 } else { at + 10 };
            other[client] ^= 1;
        }
        made.extend_from_slice(record);
        made.extend_from_slice(&other);
    }
    made
}

#[test]
fn flows_in_opposite_directions_do_not_compete() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.pcap");
    fs::write(&path, doubled(false)).unwrap();
    let analysis = Analysis::of([&path], &Config::default());
    let both = &analysis.captures[0];
    assert_eq!(both.pairs.jain, Some(1.0));
    assert_eq!(both.pairs.sharing_ratio, Some(1.0));
    let largest = both.flows().map(|flow| flow.payload_bytes()).max();
    let is_large = |flow: usize| {
        let bytes = both.flows().nth(flow).unwrap().payload_bytes();
        Some(bytes) == largest
    };
    let large = both.pairs.pairs.iter();
    assert_eq!(
        large
            .filter(|pair| is_large(pair.a) && is_large(pair.b))
            .count(),
        1
    );

    fs::write(&path, doubled(true)).unwrap();
    let analysis = Analysis::of([&path], &Config::default());
    let opposite = &analysis.captures[0];
    assert_eq!(opposite.flows().count(), 4);
    assert_eq!(
        (opposite.pairs.jain, opposite.pairs.sharing_ratio),
        (None, None)
    );
    let flows: Vec<_> = opposite.flows().collect();
    for pair in &opposite.pairs.pairs {
        let senders = [pair.a, pair.b].map(|place| flows[place].ends().0.ip());
        assert_eq!(senders[0], senders[1]);
    }
    assert_eq!(opposite.towards_capacity().len(), 2);
}

#[test]
fn a_run_has_the_utilisation_of_one_direction_of_its_link() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(capture("drop-one.pcap"), folder.path().join("one.pcap")).unwrap();
    fs::write(folder.path().join("two.pcap"), doubled(true)).unwrap();
    let manifest = "[[runs]]\nfiles = \"{name}.pcap\"\n[runs.conditions]\ncapacity = \"20Mbit\"\n";
    fs::write(folder.path().join("study.toml"), manifest).unwrap();
    let plan = StudyPlan::read(&folder.path().join("study.toml")).unwrap();
    let results = plan.carry_out(None, &Watch::default());
    let values = [0, 1].map(|run| results.runs[run].values.clone());
    assert_eq!(results.runs[1].flows.len(), 2);
    let goodput = values[0].get(Metric::GoodputBps).unwrap();
    let used = metric::utilisation(goodput, 20e6).unwrap();
    // The upload has the answers of the download, and the other way round: all it takes is one packet longer.
    close(values[1].get(Metric::Utilisation).unwrap(), used, 0.01);
    close(
        values[1].get(Metric::GoodputBps).unwrap(),
        2.0 * goodput,
        0.02,
    );
    assert_eq!(
        (values[1].get(Metric::Fness), values[1].get(Metric::Jain)),
        (None, None)
    );
}

#[test]
fn requests_count_towards_the_goodput_that_utilisation_is_made_of() {
    let analysis = Analysis::of([&capture("drop-one.pcap")], &Config::default());
    let download = &analysis.captures[0];
    assert_eq!(download.flows().count(), 2);
    // 64 bytes of 600 kB go the other way.
    assert_eq!(download.towards_capacity().len(), 2);
    assert_eq!(download.delivered_towards_capacity(), download.delivered());
}

#[test]
fn the_share_of_the_link_is_that_of_one_direction() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(capture("drop-one.pcap"), folder.path().join("one.pcap")).unwrap();
    fs::write(folder.path().join("two.pcap"), doubled(true)).unwrap();
    let said = ["one.pcap", "two.pcap"].map(|name| {
        let args = [name, "--capacity", "20Mbit", "--svg", "--out", "r.parquet"];
        let output = run(folder.path(), &args);
        assert_eq!(output.status, 0);
        output.stdout
    });
    let percent = said.each_ref().map(|said| {
        let (_, behind) = said.split_once("utilisation ").unwrap();
        let (number, _) = behind.split_once(" %").unwrap();
        number.parse::<f64>().unwrap()
    });
    // The upload has the answers of the download: all it takes is a packet longer.
    close(percent[1], percent[0], 0.01);
    let one_way = said.each_ref().map(|said| said.contains(" % one way;"));
    assert_eq!(one_way, [false, true], "{said:?}");
    for (name, is_said) in [("one.pcap", false), ("two.pcap", true)] {
        let args = [name, "-c", "20Mbit", "--no-charts", "--report", "r.html"];
        assert_eq!(run(folder.path(), &args).status, 0);
        let page = fs::read_to_string(folder.path().join("r.html")).unwrap();
        let caption = "utilisation “one way” is of those that go the main way alone";
        assert_eq!(page.contains(caption), is_said);
        assert_eq!(page.contains(" % one way<"), is_said);
    }
    assert!(!said[1].contains("flows together"), "{}", said[1]);
    let charts = fs::read_dir(folder.path().join("r.charts")).unwrap();
    let charts = charts.map(|entry| entry.unwrap().path());
    let shares: Vec<_> = charts
        .filter(|path| path.to_string_lossy().ends_with("-share.svg"))
        .collect();
    assert_eq!(shares.len(), 1);
    let text = fs::read_to_string(&shares[0]).unwrap();
    assert!(text.contains("1 flow the other way not shown"), "{text}");
}

/// Packets of raw IPv4 with 1000 bytes of payload each, and the ACK of each 5 ms later.
#[derive(Default)]
pub(super) struct Wire(Vec<(u64, Vec<u8>)>);

impl Wire {
    /// One flow, of which packets leave after these steps in ns; `hosts` are its sender and its receiver, by their last
    /// byte.
    pub(super) fn flow(&mut self, hosts: [u8; 2], port: u16, steps_ns: impl Iterator<Item = u64>) {
        let mut at_ns = 1_000_000;
        for (index, step_ns) in steps_ns.enumerate() {
            at_ns += step_ns;
            let seq = 1 + 1000 * index as u32;
            self.packet(at_ns, hosts, [port, 80], [seq, 1], 1000);
            let back = [hosts[1], hosts[0]];
            self.packet(at_ns + 5_000_000, back, [80, port], [1, seq + 1000], 0);
        }
    }

    /// Its headers alone are captured.
    pub(super) fn packet(
        &mut self,
        at_ns: u64,
        hosts: [u8; 2],
        ports: [u16; 2],
        numbers: [u32; 2],
        payload: u16,
    ) {
        let ends = [0, 1].map(|end| ([10, 0, 0, hosts[end]], ports[end]));
        self.0.push((at_ns, tcp4(ends, numbers, 0x10, payload)));
    }

    /// A ping from one host to another, by their last bytes, and its answer so much later.
    pub(super) fn ping(&mut self, at_ns: u64, hosts: [u8; 2], number: u16, rtt_ns: u64) {
        let ends = hosts.map(|host| [10, 0, 0, host]);
        self.0.push((at_ns, echo(ends, 8, 1, number)));
        let back = [ends[1], ends[0]];
        self.0.push((at_ns + rtt_ns, echo(back, 0, 1, number)));
    }

    /// The same, to which nobody answers.
    pub(super) fn ping_without_answer(&mut self, at_ns: u64, hosts: [u8; 2], number: u16) {
        let ends = hosts.map(|host| [10, 0, 0, host]);
        self.0.push((at_ns, echo(ends, 8, 1, number)));
    }

    /// A pcap file in nanoseconds.
    pub(super) fn pcap(mut self) -> Vec<u8> {
        self.0.sort();
        let packets = self.0.into_iter();
        pcap(packets.map(|(at_ns, bytes)| Packet::ipv4(at_ns as i64, bytes)))
    }
}

#[test]
fn of_many_pairs_those_of_large_flows_are_shown_and_how_many_there_are() {
    for (flows, pairs) in [(6, 15), (7, 21)] {
        let mut wire = Wire::default();
        for flow in 0..flows {
            wire.flow([1, 2], 1000 + flow, std::iter::repeat_n(1_000_000, 100));
        }
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("many.pcap"), wire.pcap()).unwrap();
        let said = run(folder.path(), &["many.pcap"]).stdout;
        let table = said.split("flows together").nth(1).unwrap();
        // Two flows a pair, each in a line.
        assert_eq!(table.matches(" > ").count(), 2 * 15, "{said}");
        let more = "15 pairs of the largest flows, of 21 that compete; the table of pairs of --out has all.";
        assert_eq!(table.contains(more), pairs > 15, "{said}");
    }
}

/// Answers take 5 ms: who sends for 2 ms beside others competes with nobody.
#[test]
fn pairs_of_less_than_a_round_trip_are_counted_and_not_shown() {
    for (short_ns, shown, said) in [
        (
            20_000,
            1,
            Some(
                "Without 2 pairs that were together for less than a round trip; the table of pairs of --out has all.",
            ),
        ),
        (100_000, 3, None),
    ] {
        let mut wire = Wire::default();
        wire.flow([1, 2], 1000, std::iter::repeat_n(1_000_000, 300));
        wire.flow([1, 2], 1001, std::iter::repeat_n(1_000_000, 300));
        wire.flow([1, 2], 1002, std::iter::repeat_n(short_ns, 100));
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("short.pcap"), wire.pcap()).unwrap();
        let run = run(folder.path(), &["short.pcap", "--out", "r.csv", "--svg"]);
        let table = run.stdout.split("flows together").nth(1).unwrap();
        assert_eq!(table.matches(" > ").count(), 2 * shown, "{}", run.stdout);
        assert_eq!(table.contains("less than a round trip"), said.is_some());
        assert!(table.contains(said.unwrap_or_default()), "{}", run.stdout);
        let pairs = fs::read_to_string(folder.path().join("r.pairs.csv")).unwrap();
        assert_eq!(pairs.lines().count(), 1 + 3);
        let charts = folder.path().join("r.charts");
        let chart = fs::read_to_string(charts.join("pairs-fness.svg")).unwrap();
        assert_eq!(
            chart.contains("2 pairs together for less than a round trip"),
            said.is_some()
        );
    }
}

/// Two uploads are the largest flows, and more goes the other way, in more downloads than are compared.
#[test]
fn fairness_is_that_of_the_way_that_most_payload_goes() {
    for (downloads, packets, jain) in [(100, 10, Some(1.0)), (500, 5, None)] {
        let mut wire = Wire::default();
        // For 300 ms each: Jain's index of these is 0.9.
        wire.flow([1, 2], 1000, std::iter::repeat_n(1_000_000, 300));
        wire.flow([1, 2], 1001, std::iter::repeat_n(500_000, 600));
        for flow in 0..downloads {
            wire.flow([2, 1], 2000 + flow, std::iter::repeat_n(1_000_000, packets));
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("both.pcap");
        fs::write(&path, wire.pcap()).unwrap();
        let analysis = Analysis::of([&path], &Config::default());
        let both = &analysis.captures[0];
        assert_eq!(both.pairs.paired.len(), 64);
        let sharing = (both.pairs.jain, both.pairs.sharing_bound.is_some());
        assert_eq!(sharing, (jain, jain.is_some()));
        // What utilisation is made of.
        assert_eq!(both.towards_capacity().len(), usize::from(downloads));
        // No way has its flows compared with those of the other one.
        let pairs = both.pairs.pairs.len();
        assert_eq!(pairs, 1 + 62 * 61 / 2);
    }
}

#[test]
fn of_ways_with_as_much_payload_the_first_flows_is_the_main_one() {
    // 1 and 4 are on one side, 3 on the other; the flow from there is first.
    let mut wire = Wire::default();
    wire.flow([3, 4], 1000, std::iter::repeat_n(1_000_000, 10));
    wire.flow([1, 3], 2000, std::iter::repeat_n(2_000_000, 10));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("even.pcap");
    fs::write(&path, wire.pcap()).unwrap();
    let analysis = Analysis::of([&path], &Config::default());
    assert_eq!(analysis.captures[0].main_way(), [true, false]);
}

/// The last packet of one flow passes with the first of the other.
#[test]
fn a_common_span_may_be_an_instant() {
    let mut wire = Wire::default();
    wire.flow([1, 2], 1000, std::iter::repeat_n(1_000_000, 3));
    wire.flow(
        [1, 2],
        2000,
        [3_000_000, 1_000_000, 1_000_000, 1_000_000].into_iter(),
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("touch.pcap");
    fs::write(&path, wire.pcap()).unwrap();
    let analysis = Analysis::of([&path], &Config::default());
    let pairs = &analysis.captures[0].pairs;
    // Over the span of the shorter one it sent three packets and the other one of them.
    assert_eq!(pairs.pairs.len(), 1);
    assert_eq!(pairs.pairs[0].fness, Some(-1.0 + 1.0 / 3.0));
    // At that instant each sent one.
    assert_eq!(pairs.jain, Some(1.0));
}

/// Steps from `least_ns` to 200 times as long that show no link, as no rate is more frequent than another.
fn all_sorts(least_ns: f64) -> impl Iterator<Item = u64> {
    // The golden ratio spreads them evenly.
    let spread = (1..).map(|index| (f64::from(index) * 0.618_033_988_749_895).fract());
    spread.map(move |part| (least_ns * 200_f64.powf(part)) as u64)
}

/// 1040 bytes every millisecond.
const PACED_BPS: f64 = 8.32e6;

#[test]
fn only_what_goes_the_main_way_shows_the_link_of_a_capture() {
    let mut wire = Wire::default();
    wire.flow([1, 2], 1000, std::iter::repeat_n(1_000_000, 500));
    wire.flow([2, 1], 2000, all_sorts(1e5).take(800));
    let tables = tables_of(wire.pcap());
    let shown = tables.flows.column("link_bps_estimated").unwrap();
    let shown: Vec<Option<f64>> = shown.f64().unwrap().iter().collect();
    assert_eq!(shown.len(), 2);
    close(shown.into_iter().flatten().sum(), PACED_BPS, 0.01);
    let of_capture = |name: &str| tables.captures.column(name).unwrap().f64().unwrap().get(0);
    assert!(of_capture("capacity_estimated_bps").unwrap() < PACED_BPS / 2.0);
    assert_eq!(of_capture("link_bps_estimated"), None);
    assert_eq!(of_capture("link_utilisation_estimated"), None);
}

#[test]
fn no_link_is_slower_than_what_a_capture_delivered_for_a_second() {
    for (further, link_bps) in [(0, Some(PACED_BPS)), (4000, None)] {
        let mut wire = Wire::default();
        wire.flow([1, 2], 1000, std::iter::repeat_n(1_000_000, 1500));
        wire.flow([1, 2], 2000, all_sorts(1e4).take(further));
        let captures = tables_of(wire.pcap()).captures;
        let of_capture = |name: &str| captures.column(name).unwrap().f64().unwrap().get(0);
        let shown = of_capture("link_bps_estimated").map(f64::round);
        assert_eq!(shown, link_bps);
        assert_eq!(
            of_capture("link_utilisation_estimated").is_some(),
            link_bps.is_some()
        );
    }
}

/// Bursts of four packets down, whose ACKs wait behind the packets of an upload: they come 60 us apart, and say nothing
/// of how quickly data go down.
#[test]
fn acks_that_waited_behind_data_show_no_link() {
    const BURST_BPS: f64 = 1040.0 * 8.0 / 60e-6;
    for (upload, period_ns, expected) in [
        (true, 5_000_000, &[PACED_BPS][..]),
        // Nothing that they could have waited behind.
        (false, 5_000_000, &[BURST_BPS]),
        // More goes down than would go up: these are two links.
        (true, 1_000_000, &[BURST_BPS, PACED_BPS]),
    ] {
        let mut wire = Wire::default();
        if upload {
            wire.flow([1, 2], 1000, std::iter::repeat_n(1_000_000, 2000));
        }
        // For two seconds.
        let bursts = 2_000_000_000 / period_ns as u32;
        for packet in 0..4 * bursts {
            let (burst, place) = (u64::from(packet) / 4, u64::from(packet) % 4);
            let (at_ns, seq) = (1_000_000 + burst * period_ns, 1 + 1000 * packet);
            wire.packet(at_ns + place * 1000, [2, 1], [80, 2000], [seq, 1], 1000);
            let acked_ns = at_ns + 20_000_000 + place * 60_000;
            wire.packet(acked_ns, [1, 2], [2000, 80], [1, seq + 1000], 0);
        }
        let tables = tables_of(wire.pcap());
        let shown = tables.flows.column("link_bps_estimated").unwrap();
        let mut shown: Vec<_> = shown.f64().unwrap().iter().flatten().collect();
        shown.sort_by(|one, other| other.total_cmp(one));
        assert_eq!(shown.len(), expected.len(), "{shown:?}");
        for (shown, &expected) in shown.into_iter().zip(expected) {
            close(shown, expected, 0.01);
        }
    }
}

/// 20 Mbit/s down and 10 Mbit/s up, both filled. Which way most payload goes depends on where it was captured.
#[test]
fn a_link_filled_both_ways_has_the_rate_of_the_main_one() {
    let Some(folder) = shared("lab/s7-bidir") else {
        return;
    };
    for (place, expected) in [
        ("egress", Some((10e6, 0.79))),
        ("client", Some((10e6, 0.79))),
        ("sender", None),
        ("ingress", None),
    ] {
        let config = Config::default();
        let path = folder.join(format!("{place}.pcap.zst"));
        let analysis = Analysis::of([&path], &config);
        let captures = Tables::of(&analysis, &config).captures;
        let shown = ["link_bps_estimated", "link_utilisation_estimated"]
            .map(|name| captures.column(name).unwrap().f64().unwrap().get(0));
        let Some((bps, utilisation)) = expected else {
            assert_eq!(shown, [None, None], "{place}");
            continue;
        };
        close(shown[0].unwrap(), bps, 0.01);
        close(shown[1].unwrap(), utilisation, 0.01);
    }
}

/// What may carry one stream is no rival of itself, and which flows do nobody tells.
#[test]
fn flows_of_multipath_tcp_that_are_compared_are_told_of() {
    let file = fs::File::open(capture("two-flows-cubic-bbr.pcap.zst")).unwrap();
    let bytes = zstd::decode_all(file).unwrap();
    let folder = tempfile::tempdir().unwrap();
    // Linux writes the window scale last, which makes room for MP_CAPABLE, without a key.
    let with_options = |ports: &[u16]| {
        let mut bytes = bytes.clone();
        for record in records_mut(&mut bytes) {
            let is_of = |port: &u16| {
                let port = port.to_be_bytes();
                record.windows(2).any(|two| two == port)
            };
            if ports.iter().any(is_of)
                && let Some(place) = record.windows(3).rposition(|three| three == [1, 3, 3])
            {
                record[place..place + 4].copy_from_slice(&[30, 4, 0x01, 0x81]);
            }
        }
        fs::write(folder.path().join("a.pcap"), bytes).unwrap();
        run(folder.path(), &["a.pcap", "--out", "r.csv", "--no-charts"]).stderr
    };
    let told = "2 flows that are compared are of Multipath TCP";
    let said = with_options(&[5001, 5002]);
    assert!(said.contains(told), "{said}");
    let flows = fs::read_to_string(folder.path().join("r.csv")).unwrap();
    let column = flows
        .lines()
        .next()
        .unwrap()
        .split(',')
        .position(|name| name == "multipath");
    let values = flows
        .lines()
        .skip(1)
        .map(|row| row.split(',').nth(column.unwrap()));
    assert!(values.eq([Some("true"); 4]), "{flows}");
    // One of them alone competes with the other.
    let said = with_options(&[5001]);
    assert!(!said.contains("Multipath"), "{said}");
}
