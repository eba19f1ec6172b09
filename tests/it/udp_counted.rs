//! What of UDP is counted, and as what.

use ccanalyze::Analysis;
use ccanalyze::analyze::{CaptureAnalysis, CaptureInput, Config, Watch};
use ccanalyze::capture::CaptureSource;
use ccanalyze::decode::{Filter, Skip};

use super::udp::{analyzed, crowd, tcp_flow, udp, with_udp};
use super::wire::{Format, Packet};

/// How many records count for each of these.
fn skipped(capture: &CaptureAnalysis) -> [u64; 4] {
    let reasons = [
        Skip::Udp,
        Skip::LaterFragment,
        Skip::FragmentIncomplete,
        Skip::Filtered,
    ];
    reasons.map(|reason| capture.skipped.count(reason))
}

#[test]
fn a_fragment_counts_for_what_becomes_of_its_datagram() {
    let packets = crowd();
    let of = |packets: &[Packet], config: &Config| {
        let capture = analyzed(packets, config).captures.remove(0);
        assert_eq!(
            capture.tcp_records + capture.skipped.total(),
            capture.records
        );
        skipped(&capture)
    };
    let whole = 502 + 12_000;
    assert_eq!(of(&packets, &with_udp()), [whole + 600, 0, 0, 0]);
    assert_eq!(of(&packets, &Config::default()), [whole + 300, 300, 0, 0]);
    // Of one datagram the first fragment is missing, as of a tunnel that is entered, of another one the second.
    let is_part = |packet: &Packet| packet.bytes[6..8] != [0x40, 0];
    let mut number = 0;
    let mut some = packets.clone();
    some.retain(|packet| {
        number += usize::from(is_part(packet));
        !is_part(packet) || number != 1 && number != 4
    });
    assert_eq!(of(&some, &with_udp()), [whole + 596, 1, 1, 0]);
}

#[test]
fn udp_that_a_filter_leaves_out_counts_as_such() {
    let of = |expression: &str| {
        let config = Config {
            filter: Some(Filter::parse(expression).unwrap()),
            ..with_udp()
        };
        let capture = analyzed(&crowd(), &config).captures.remove(0);
        // Who leaves it out has asked for that.
        assert_eq!(capture.udp_beside(), None);
        assert_eq!(capture.udp_records(), Some(skipped(&capture)[0]));
        (capture.tcp_records, skipped(&capture))
    };
    assert_eq!(of("tcp"), (2000, [0, 0, 0, 13_102]));
    assert_eq!(of("udp"), (0, [13_102, 0, 0, 2000]));
    assert_eq!(of("port 7001"), (0, [600, 0, 0, 14_502]));
    assert_eq!(of("not port 7001"), (2000, [12_502, 0, 0, 600]));
}

/// An aggregate of Wi-Fi is one record, whatever is in it.
#[test]
fn a_record_of_several_frames_counts_once() {
    let parts: Vec<Packet> = crowd()
        .into_iter()
        .filter(|packet| packet.bytes[6..8] != [0x40, 0])
        .take(2)
        .collect();
    let segment = tcp_flow().remove(0);
    let whole = udp(0, [1, 2], [443, 5000], 500);
    let config = with_udp();
    let of = |frames: &[&Packet]| {
        let mut bytes = [&[0x88, 1, 0, 0][..], &[2; 18], &[0, 0, 0x80, 0]].concat();
        for frame in frames {
            let mut packet = frame.bytes.clone();
            packet.resize(packet.len().next_multiple_of(4), 0);
            let len = (packet.len() as u16 + 8).to_be_bytes();
            let llc = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
            // Together with these a multiple of four.
            let subframe = [&[2; 12], &len[..], &llc, &packet, &[0; 2]].concat();
            bytes.extend(subframe);
        }
        let packet = Packet {
            at_ns: 0,
            original_len: bytes.len() as u32,
            bytes,
        };
        let file = Format {
            link: 105,
            ..Format::RAW
        };
        let name = "wifi".to_owned();
        let reader = Box::new(std::io::Cursor::new(file.file([packet])));
        let input = CaptureInput {
            name: name.clone(),
            sources: vec![CaptureSource::Reader { name, reader }],
        };
        let analysis = Analysis::run(vec![input], &config, &Watch::default());
        let capture = &analysis.captures[0];
        let flows = capture.flows().map(|flow| flow.transport().name());
        (
            flows.collect::<Vec<_>>(),
            capture.tcp_records,
            skipped(capture),
        )
    };
    let (first, later) = (&parts[0], &parts[1]);
    assert_eq!(of(&[first, later]), (vec!["udp"], 0, [1, 0, 0, 0]));
    assert_eq!(of(&[later, first]), (vec!["udp"], 0, [0, 1, 0, 0]));
    assert_eq!(of(&[first]), (vec![], 0, [0, 0, 1, 0]));
    assert_eq!(of(&[&segment, first]), (vec!["tcp"], 1, [0; 4]));
    assert_eq!(of(&[&whole, &whole]), (vec!["udp"], 0, [1, 0, 0, 0]));
}
