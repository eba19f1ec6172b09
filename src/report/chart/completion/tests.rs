use super::super::tests::texts;
use super::*;
use crate::Analysis;
use crate::analyze::Config;
use crate::capture::tests::build::Pcap;
use crate::report::chart::style::{Style, Theme};

/// A download: whose, and how.
#[derive(Clone, Copy)]
struct Download {
    /// Port of the server.
    port: u16,
    /// Packets of 1000 bytes.
    packets: u32,
    /// From one to the next, in µs.
    step_us: u32,
    /// Whether its SYN and its FIN are there.
    is_begun: bool,
    is_ended: bool,
}

const WHOLE: Download = Download {
    port: 5001,
    packets: 5,
    step_us: 1000,
    is_begun: true,
    is_ended: true,
};

const FIN: u8 = 0x11;
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;

/// Downloads one after the other, each from a port of its own: handshake, a request of 100 bytes, which is repeated after
/// 50 ms, the packets, each with its ACK, and both FINs.
fn capture_of(downloads: &[Download]) -> Vec<u8> {
    let mut file = Pcap::raw_ip(0xa1b2_c3d4);
    let mut packets = Vec::new();
    for (index, download) in (0..).zip(downloads) {
        let ports = [20_000 + index as u16, download.port];
        let start_us = index * 1_000_000;
        let last = 1 + 1000 * download.packets;
        let mut put = |at_us, is_request, numbers, flags, payload| {
            let at_us = start_us + at_us;
            packets.push((at_us, is_request, numbers, flags, payload, ports));
        };
        if download.is_begun {
            put(0, true, [0, 0], SYN, 0);
            put(10, false, [0, 1], SYN | ACK, 0);
        }
        put(20, true, [1, 1], ACK, 100);
        for number in 0..download.packets {
            let at_us = 60_000 + number * download.step_us;
            put(at_us, false, [1 + 1000 * number, 101], ACK, 1000);
            put(at_us + 5, true, [101, 1001 + 1000 * number], ACK, 0);
        }
        if download.is_ended {
            put(900_000, false, [last, 101], FIN, 0);
            put(900_010, true, [101, last + 1], FIN, 0);
            put(900_020, false, [last + 1, 102], ACK, 0);
        }
    }
    for (at_us, is_request, [seq, ack], flags, payload, [client, server]) in packets {
        let len: u16 = 40 + payload;
        let mut bytes = vec![0x45, 0];
        bytes.extend(len.to_be_bytes());
        bytes.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        let hosts = [[10, 0, 0, 9], [10, 0, 0, 1]];
        let way = |request: usize| usize::from(!is_request) ^ request;
        bytes.extend([hosts[way(0)], hosts[way(1)]].concat());
        let ports = [client, server];
        bytes.extend(
            [ports[way(0)], ports[way(1)]]
                .map(u16::to_be_bytes)
                .concat(),
        );
        bytes.extend([seq, ack].map(u32::to_be_bytes).concat());
        bytes.extend([0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
        file = file.cut_record(at_us / 1_000_000, at_us % 1_000_000, &bytes, u32::from(len));
    }
    file.bytes
}

fn analysis_of(downloads: &[Download]) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("generated.pcap");
    std::fs::write(&path, capture_of(downloads)).unwrap();
    let analysis = Analysis::of([path], &Config::default());
    assert!(analysis.captures[0].error().is_none());
    analysis
}

fn named(names: &[(&str, &str)]) -> FlowNames {
    let mut all = FlowNames::default();
    for (filter, name) in names {
        all.add(filter.parse().unwrap(), name);
    }
    all
}

fn drawn(downloads: &[Download], names: &[(&str, &str)], style: Style) -> Option<Canvas> {
    let options = ChartOptions {
        names: named(names),
        style,
        ..ChartOptions::default()
    };
    let analysis = analysis_of(downloads);
    draw(&Scene::of(&analysis, &options)[0], &options)
}

/// A download takes from its first to its last packet, whatever its request took, and is known where both ends are.
#[test]
fn what_counts_is_the_larger_direction_of_whole_connections_by_its_size() {
    let downloads = [
        WHOLE,
        Download {
            is_ended: false,
            ..WHOLE
        },
        Download {
            is_begun: false,
            ..WHOLE
        },
        Download {
            packets: 1,
            ..WHOLE
        },
        Download {
            packets: 9,
            step_us: 2000,
            ..WHOLE
        },
        Download {
            packets: 10,
            ..WHOLE
        },
        Download {
            packets: 100,
            port: 5002,
            ..WHOLE
        },
    ];
    let analysis = analysis_of(&downloads);
    let flows = larger_flows(analysis.captures[0].flows());
    assert_eq!(flows.len(), downloads.len());
    let times = Times::of(&flows, &named(&[("port 5002", "BBR")]));
    // 10 and 100 kB are the smallest of their sizes; n packets are n - 1 steps from first to last.
    let of = [
        ((0, None), vec![0.004, 0.0, 0.016]),
        ((1, None), vec![0.009]),
        ((2, Some(Arc::from("BBR"))), vec![0.099]),
    ];
    let expected = Times {
        of: of.into_iter().collect(),
        not_whole: 2,
        few: 0,
    };
    assert_eq!(times, expected);
}

#[test]
fn some_tens_of_flows_are_drawn_by_size_and_what_is_not_drawn_is_said() {
    let large = Download {
        packets: 20,
        ..WHOLE
    };
    let begun = Download {
        is_ended: false,
        ..WHOLE
    };
    let huge = Download {
        packets: 101,
        ..WHOLE
    };
    let style = Style::default();
    assert!(drawn(&[WHOLE; 29], &[], style).is_none());
    assert!(drawn(&[WHOLE; 30], &[], style).is_some());
    // Lines of 20 and of 9 flows: the latter are too few, and the others not enough.
    let few = [[WHOLE; 20].as_slice(), &[large; 9]].concat();
    assert!(drawn(&few, &[], style).is_none());
    let all = [
        [WHOLE; 20].as_slice(),
        &[large; 10],
        &[begun; 3],
        &[huge; 2],
    ]
    .concat();
    let chart = drawn(&all, &[], style).unwrap();
    let said = texts(&chart);
    for text in [
        "under 10 kB (n = 20)",
        "10–100 kB (n = 10)",
        "from first to last data; of each connection the direction with more · \
         not drawn: 3 flows without begin or end, 2 of sizes with few",
    ] {
        assert!(said.contains(&text), "{text}: {said:?}");
    }
    assert!(!said.iter().any(|text| text.contains("1 MB")), "{said:?}");
    // Of one packet it takes no time, for which a log scale has a place.
    let single = Download {
        packets: 1,
        ..WHOLE
    };
    let zero = [[WHOLE; 20].as_slice(), &[single; 10]].concat();
    let chart = drawn(&zero, &[], style).unwrap();
    assert!(texts(&chart).join(" ").contains("0: all in one packet"));
}

#[test]
fn names_have_a_line_each_in_a_panel_for_each_size() {
    let large = Download {
        packets: 20,
        ..WHOLE
    };
    let at = |port, of: Download| Download { port, ..of };
    let all = [
        [at(5002, WHOLE); 14].as_slice(),
        &[at(5003, WHOLE); 13],
        &[large; 10],
        &[at(5002, large); 12],
    ]
    .concat();
    let names = [("port 5001", "Reno"), ("port 5002", "CUBIC")];
    for &size in Size::ALL {
        for &theme in Theme::ALL {
            let chart = drawn(&all, &names, Style { size, theme }).unwrap();
            let said = texts(&chart);
            let wanted = [
                "CUBIC (n = 26)",
                "Reno (n = 10)",
                "others (n = 13)",
                "under 10 kB",
                "ECDF (%), n = 27",
                "10–100 kB",
                "ECDF (%), n = 22",
            ];
            let places = wanted.map(|text| said.iter().position(|of| *of == text));
            assert!(places.iter().all(Option::is_some), "{said:?}");
            // Those without a name come last.
            assert!(places.is_sorted(), "{said:?}");
            super::super::tests::assert_legible(&chart);
        }
    }
    // One name that all have tells nothing apart.
    let one = drawn(&all, &[("tcp", "all")], Style::default()).unwrap();
    assert!(texts(&one).contains(&"under 10 kB (n = 27)"));
}

/// What a slide has no room for is counted with what is left out, and so are names beyond those that have a line.
#[test]
fn there_are_no_more_panels_than_a_slide_holds_nor_more_lines_than_are_told_apart() {
    let times = |sizes: usize, names: usize| {
        let mut times = Times::default();
        for size in 0..sizes {
            for name in 0..names {
                let name = Arc::from(format!("name {name}"));
                let flows = vec![0.1; LINE_MIN + size];
                times.of.insert((size, Some(name)), flows);
            }
        }
        times
    };
    let slide = times(5, 2).shown(Size::Slide);
    let sizes: Vec<usize> = slide.of.keys().map(|&(size, _)| size).collect();
    assert_eq!((sizes, slide.few), (vec![2, 2, 3, 3, 4, 4], 42));
    let paper = times(5, 2).shown(Size::OneColumn);
    assert_eq!((paper.of.len(), paper.few), (10, 0));
    let many = times(1, LINES_MAX + 3).shown(Size::OneColumn);
    assert_eq!((many.of.len(), many.few), (LINES_MAX, 3 * LINE_MIN));
}
