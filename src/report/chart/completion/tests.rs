use super::super::tests::texts;
use super::*;
use crate::Analysis;
use crate::analyze::Config;
use crate::capture::tests::build::Pcap;
use crate::report::chart::draw_all;
use crate::report::chart::style::{Style, Theme};

/// A download: whose, and how.
#[derive(Clone, Copy)]
struct Download {
    /// Port of the server.
    port: u16,
    /// Bytes that are asked for it with.
    request: u16,
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
    request: 100,
    packets: 5,
    step_us: 1000,
    is_begun: true,
    is_ended: true,
};

const FIN: u8 = 0x11;
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;

/// Downloads one after the other, each from a port of its own: handshake, a request, which is repeated after 50 ms, the
/// packets, each with its ACK, and both FINs.
fn capture_of(downloads: &[Download]) -> Vec<u8> {
    let mut file = Pcap::raw_ip(0xa1b2_c3d4);
    let mut packets = Vec::new();
    for (index, download) in (0..).zip(downloads) {
        let ports = [20_000 + index as u16, download.port];
        let start_us = index * 1_000_000;
        let asked = 1 + u32::from(download.request);
        let last = 1 + 1000 * download.packets;
        let mut put = |at_us, is_request, numbers, flags, payload| {
            let at_us = start_us + at_us;
            packets.push((at_us, is_request, numbers, flags, payload, ports));
        };
        if download.is_begun {
            put(0, true, [0, 0], SYN, 0);
            put(10, false, [0, 1], SYN | ACK, 0);
        }
        put(20, true, [1, 1], ACK, download.request);
        put(50_020, true, [1, 1], ACK, download.request);
        for number in 0..download.packets {
            let at_us = 60_000 + number * download.step_us;
            put(at_us, false, [1 + 1000 * number, asked], ACK, 1000);
            put(at_us + 5, true, [asked, 1001 + 1000 * number], ACK, 0);
        }
        if download.is_ended {
            put(900_000, false, [last, asked], FIN, 0);
            put(900_010, true, [asked, last + 1], FIN, 0);
            put(900_020, false, [last + 1, asked + 1], ACK, 0);
        }
    }
    packets.sort_by_key(|&(at_us, ..)| at_us);
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
        left_out: LeftOut {
            not_whole: 2,
            ..LeftOut::default()
        },
    };
    assert_eq!(times, expected);
}

/// What was delivered decides, not what was sent: of a request that passed twice half. Of two with as much the first is
/// taken, which is the request, of 50 ms.
#[test]
fn the_direction_with_more_is_the_one_that_delivered_more() {
    let times_of = |request| {
        let download = Download {
            request,
            packets: 1,
            ..WHOLE
        };
        let analysis = analysis_of(&[download]);
        let flows = larger_flows(analysis.captures[0].flows());
        let times = Times::of(&flows, &FlowNames::default());
        times.of.into_iter().collect::<Vec<_>>()
    };
    let of = |seconds| vec![((0, None), vec![seconds])];
    assert_eq!(times_of(999), of(0.0));
    assert_eq!(times_of(1000), of(0.05));
}

#[test]
fn flows_of_no_connection_are_alone() {
    let flows = [
        (None, 1, 'a'),
        (None, 2, 'b'),
        (Some(7), 5, 'c'),
        (Some(7), 6, 'd'),
        (Some(8), 4, 'e'),
        (Some(8), 4, 'f'),
    ];
    let larger = larger(flows.into_iter());
    assert_eq!(larger, [(1, 'a'), (2, 'b'), (6, 'd'), (4, 'e')]);
}

/// A chart of its own among all of a capture.
#[test]
fn all_charts_of_a_capture_of_many_flows_are_drawn_with_that_of_their_times() {
    let folder = tempfile::tempdir().unwrap();
    let options = ChartOptions::default();
    let analysis = analysis_of(&[WHOLE; 30]);
    let names = draw_all(&analysis, folder.path(), &options).unwrap().names;
    let completion = "01-generated-completion.png".into();
    assert!(names.contains(&completion), "{names:?}");
}

#[test]
fn each_reason_for_which_flows_are_not_drawn_is_said_on_its_own() {
    let none = LeftOut::default();
    assert_eq!(none.notes("name").concat(), "");
    let all = LeftOut {
        not_whole: 12_000,
        without_acks: 1,
        few: 2,
        of_further_names: 30,
        of_further_sizes: 42,
    };
    let said = all.notes("variant");
    assert_eq!(
        said,
        [
            "12\u{2009}000 flows not seen from begin to end, or reset, not drawn",
            "1 flow without ACKs not drawn",
            "2 flows in groups of fewer than 10 not drawn",
            "30 flows of further variants not drawn",
            "42 flows of further sizes not drawn",
        ]
    );
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
    let said = texts(&chart).join(" ");
    for text in [
        "under 10 kB (n = 20)",
        "10–100 kB (n = 10)",
        "from first to last data; of each connection the direction with more · \
         3 flows not seen from begin to end, or reset, not drawn · \
         2 flows in groups of fewer than 10 not drawn",
    ] {
        assert!(said.contains(text), "{text}: {said}");
    }
    assert!(
        !said.contains("1 MB") && !said.contains("instant"),
        "{said}"
    );
    // Within one instant it takes no time, for which a log scale has a place, be it of one packet or of two.
    for packets in [1, 2] {
        let single = Download {
            packets,
            step_us: 0,
            ..WHOLE
        };
        let zero = [[WHOLE; 20].as_slice(), &[single; 10]].concat();
        let chart = drawn(&zero, &[], style).unwrap();
        let said = texts(&chart).join(" ");
        assert!(said.contains("more · 0: within one instant"), "{said}");
    }
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
                "unnamed (n = 13)",
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
    // Some may be called so.
    let others = [("port 5001", "others"), ("port 5002", "CUBIC")];
    let chart = drawn(&all, &others, Style::default()).unwrap();
    let said = texts(&chart);
    for text in ["others (n = 10)", "unnamed (n = 13)"] {
        assert!(said.contains(&text), "{said:?}");
    }
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
    let all_of = |times: &Times| times.of.values().map(Vec::len).sum::<usize>();
    let slide = times(5, 2).shown(Size::Slide);
    let sizes: Vec<usize> = slide.of.keys().map(|&(size, _)| size).collect();
    assert_eq!(sizes, [2, 2, 3, 3, 4, 4]);
    let left_out = LeftOut {
        of_further_sizes: 42,
        ..LeftOut::default()
    };
    assert_eq!(slide.left_out, left_out);
    let paper = times(5, 2).shown(Size::OneColumn);
    assert_eq!((paper.of.len(), &paper.left_out), (10, &LeftOut::default()));
    // Of a name beyond those that are told apart a group is too small anyway.
    let mut many = times(1, LINES_MAX + 3);
    let last = Some(Arc::from(format!("name {}", LINES_MAX + 2)));
    many.of.insert((1, last), vec![0.1; LINE_MIN - 1]);
    let many = many.shown(Size::OneColumn);
    assert_eq!(all_of(&many), LINES_MAX * LINE_MIN);
    let left_out = LeftOut {
        few: LINE_MIN - 1,
        of_further_names: 3 * LINE_MIN,
        ..LeftOut::default()
    };
    assert_eq!(many.left_out, left_out);
}
