use proptest::prelude::*;

use super::*;
use crate::capture::LinkType;
use crate::decode::{DecodeOptions, Decoded, decode};

/// Ethernet, IPv4, TCP with these options (padded), and `payload` bytes of payload.
fn frame(flags: u8, options: &[u8], payload: u16) -> Vec<u8> {
    let padded = options.len().next_multiple_of(4);
    let ip_len = 40 + padded as u16 + payload;
    let mut frame = [&[2; 12], &[8, 0, 0x45, 2][..], &ip_len.to_be_bytes()].concat();
    frame.extend([0x12, 0x34, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend([0x1f, 0x90, 0xc0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
    frame.extend([(5 + padded as u8 / 4) << 4, flags, 0xff, 0, 0, 0, 0, 0]);
    frame.extend(options);
    frame.resize(14 + usize::from(ip_len), 0);
    frame
}

fn record(bytes: &[u8]) -> Record<'_> {
    record_on(1, bytes)
}

fn record_on(link: u16, bytes: &[u8]) -> Record<'_> {
    Record {
        frame: 1,
        at: CaptureTime::from_ns(7),
        link: LinkType(link),
        bytes,
        original_len: bytes.len() as u32,
    }
}

/// The segment as the pipeline has it, one way or the other.
fn usual(record: &Record<'_>, ordinal: u64) -> Option<Segment> {
    super::usual(record, ordinal).or_else(|| nearly_usual(record, ordinal))
}

fn in_general(record: &Record<'_>) -> Option<String> {
    match decode(record, 9, &DecodeOptions::default()) {
        Decoded::Segment(segment) => Some(format!("{segment:?}")),
        _ => None,
    }
}

const TIMESTAMPS: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 4];
const SACK: [u8; 12] = [1, 1, 5, 10, 0, 0, 1, 0, 0, 0, 2, 0];
/// As ns-3 lays them out.
const SIMULATED: [u8; 12] = [8, 10, 0, 0, 0, 5, 0, 0, 0, 4, 0, 0];
const SIMULATED_SACK: [u8; 20] = [8, 10, 0, 0, 0, 5, 0, 0, 0, 4, 5, 10, 0, 0, 1, 0, 0, 0, 2, 0];

#[test]
fn what_established_connections_send_is_usual() {
    let both = [TIMESTAMPS, SACK].concat();
    for options in [&[][..], &TIMESTAMPS, &SACK, &both] {
        for (flags, payload) in [(0x10, 0), (0x18, 100), (0x11, 0), (0x04, 0)] {
            let bytes = frame(flags, options, payload);
            let found = usual(&record(&bytes), 9).map(|segment| format!("{segment:?}"));
            let expected = in_general(&record(&bytes));
            assert!(
                found.is_some() && found == expected,
                "{found:?} for {expected:?}"
            );
            // Cut behind the headers, as a snap length does.
            let cut = usual(&record(&bytes[..54 + options.len()]), 9);
            assert_eq!(cut.map(|segment| format!("{segment:?}")), expected);
        }
    }
}

/// The same packet behind headers of other links.
fn on_links(frame: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let behind = |header: &[u8]| [header, &frame[14..]].concat();
    let cooked = |hardware: u8| [0, 0, 0, hardware, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 8, 0];
    let cooked_2 = |hardware: u8| {
        let [zeros, address] = [[0; 6], [1, 2, 3, 4, 5, 6]];
        [&[8, 0], &zeros[..], &[0, hardware, 0, 6], &address, &[0, 0]].concat()
    };
    let vlan = [&frame[..12], &[0x81, 0, 0, 7, 8, 0]].concat();
    let vlans = [&frame[..12], &[0x88, 0xa8, 0, 7, 0x81, 0, 0, 8, 8, 0]].concat();
    vec![
        (1, behind(&vlan)),
        (1, behind(&vlans)),
        (9, behind(&[0, 0x21])),
        (9, behind(&[0xff, 3, 0, 0x21])),
        (0, behind(&[2, 0, 0, 0])),
        (108, behind(&[0, 0, 0, 2])),
        (12, behind(&[])),
        (14, behind(&[])),
        (101, behind(&[])),
        (228, behind(&[])),
        (113, behind(&cooked(1))),
        (276, behind(&cooked_2(1))),
        // Hardware of which the protocol is no ether type (of netlink).
        (
            113,
            behind(&[0, 0, 3, 56, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 8, 0]),
        ),
    ]
}

#[test]
fn other_links_are_usual_where_ipv4_is_at_a_known_place() {
    for options in [&[][..], &TIMESTAMPS, &SIMULATED, &SIMULATED_SACK] {
        let all = on_links(&frame(0x10, options, 100));
        let (netlink, known) = all.split_last().unwrap();
        assert!(usual(&record_on(netlink.0, &netlink.1), 9).is_none());
        for (link, bytes) in known {
            let record = record_on(*link, bytes);
            let found = usual(&record, 9).map(|segment| format!("{segment:?}"));
            assert!(
                found.is_some() && found == in_general(&record),
                "{link} {bytes:?}"
            );
        }
    }
}

#[test]
fn what_takes_more_looking_is_not() {
    let usual_bytes = frame(0x10, &TIMESTAMPS, 10);
    assert!(usual(&record(&usual_bytes), 9).is_some());
    assert!(
        usual(&record(&frame(0x12, &[2, 4, 5, 0xb4], 0)), 9).is_none(),
        "a SYN"
    );
    assert!(
        usual(&record(&frame(0x10, &[1, 1, 19, 18], 0)), 9).is_none(),
        "another option"
    );
    // Text that tells why a connection is reset is no payload.
    let reset = frame(0x14, &[], 30);
    assert!(usual(&record(&reset), 9).is_none());
    let reset = in_general(&record(&reset)).unwrap();
    assert!(reset.contains("payload_len: 0, ip_len: 70,"), "{reset}");
    for (at, value, why) in [
        (12, 0x86, "another ether type"),
        (14, 0x46, "IP options"),
        (20, 0x20, "a fragment"),
        (23, 17, "another protocol"),
        (46, 0xf0, "a header longer than its packet"),
        (16, 1, "more payload than captured"),
    ] {
        let mut bytes = usual_bytes.clone();
        bytes[at] = value;
        let found = usual(&record(&bytes), 9);
        assert_eq!(found.is_some(), why.starts_with("more payload"), "{why}");
    }
}

proptest! {
    /// Whatever bytes are changed or cut, on whatever link: what it finds, the general way finds.
    #[test]
    fn it_never_contradicts_the_general_way(
        flags: u8,
        options in prop_oneof![
            Just(TIMESTAMPS.to_vec()),
            Just(SACK.to_vec()),
            Just([TIMESTAMPS, SACK].concat()),
            Just(SIMULATED.to_vec()),
            Just(SIMULATED_SACK.to_vec()),
            proptest::collection::vec(any::<u8>(), 0..40),
            proptest::collection::vec(prop_oneof![0_u8..10, Just(10), Just(18)], 0..40),
        ],
        payload in 0_u16..100,
        changes in proptest::collection::vec((0_usize..80, any::<u8>()), 0..4),
        cut in 0_usize..200,
        link in 0_usize..20,
    ) {
        let frame = frame(flags, &options, payload);
        let others = on_links(&frame);
        let (link, mut bytes) = others.get(link).cloned().unwrap_or((1, frame));
        for (at, value) in changes {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
        }
        bytes.truncate(cut.max(40));
        let record = record_on(link, &bytes);
        if let Some(segment) = usual(&record, 9) {
            prop_assert_eq!(Some(format!("{segment:?}")), in_general(&record));
        }
    }
}
