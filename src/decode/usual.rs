//! The usual packet: Ethernet, IPv4 without options, TCP with the options that established
//! connections use. Nearly all records are one, and they are decoded here in one step.
//!
//! Whatever is not quite so is left to the general way, layer by layer; what both can decode they
//! decode to the same, which the tests hold them to.

use super::segment::{
    Ecn, Endpoint, SackBlock, SackBlocks, Segment, SynOptions, TcpFlags, Timestamps,
};
use crate::capture::Record;
use crate::seq::Seq;

/// Ethernet, IPv4 and TCP without options, in bytes.
const HEADERS_LEN: usize = 14 + IP_LEN + TCP_LEN;
const IP_LEN: usize = 20;
const TCP_LEN: usize = 20;
/// Two no-operations and the timestamps option, as one word (RFC 7323 appendix A).
const TIMESTAMPS: u32 = 0x0101_080a;
/// Two no-operations and the SACK option but for its length (RFC 2018 section 3).
const SACK: u32 = 0x0101_0500;

/// The segment of a usual packet; `None` when it takes the general way, [`decode`](super::decode), to tell.
#[inline]
#[must_use]
pub fn usual(record: &Record<'_>, ordinal: u64) -> Option<Segment> {
    let (head, behind) = record.bytes.split_first_chunk::<HEADERS_LEN>()?;
    let u16_at = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let u32_at =
        |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    // Ether type, version and header length in one word; then whole, and TCP.
    let ipv4 = u32_at(12) & 0xffff_ff00 == 0x0800_4500;
    let fragment = u16_at(20) & 0x3fff != 0;
    if !(record.link.0 == 1 && ipv4 && !fragment && head[23] == super::ip::TCP) {
        return None;
    }
    let ip_len = u32::from(u16_at(16));
    // Nine bits of flags below four of the header's length in words.
    let flags = u16_at(46);
    let header_len = usize::from(flags >> 12) * 4;
    let options_len = header_len.checked_sub(TCP_LEN)?;
    let payload_len = ip_len.checked_sub((IP_LEN + header_len) as u32)?;
    let flags = TcpFlags(flags & 0x1ff);
    if flags.has(TcpFlags::SYN) {
        return None;
    }
    let (timestamps, sack) = options(behind.get(..options_len)?)?;
    let endpoint =
        |address: usize, port: usize| Endpoint::v4(u32_at(address).to_be_bytes(), u16_at(port));
    Some(Segment {
        at: record.at,
        ordinal,
        src: endpoint(26, 34),
        dst: endpoint(30, 36),
        seq: Seq(u32_at(38)),
        ack: Seq(u32_at(42)),
        flags,
        window: u16_at(48),
        payload_len,
        ip_len,
        ip_packets: 1,
        ip_id: Some(u16_at(18)),
        ecn: Ecn::from_bits(head[15]),
        timestamps,
        syn: SynOptions::default(),
        sack,
        length_from_frame: false,
        header_cut: false,
    })
}

/// Timestamps, SACK, both or none, laid out as every system does; `None` when there is more to it.
#[inline]
fn options(options: &[u8]) -> Option<(Option<Timestamps>, SackBlocks)> {
    let (timestamps, others) = match options.split_first_chunk::<12>() {
        Some((&[k0, k1, k2, k3, v0, v1, v2, v3, e0, e1, e2, e3], others))
            if u32::from_be_bytes([k0, k1, k2, k3]) == TIMESTAMPS =>
        {
            let timestamps = Timestamps {
                value: u32::from_be_bytes([v0, v1, v2, v3]),
                echo: u32::from_be_bytes([e0, e1, e2, e3]),
            };
            (Some(timestamps), others)
        }
        _ => (None, options),
    };
    let mut sack = SackBlocks::default();
    if let Some((&[k0, k1, k2, len], blocks)) = others.split_first_chunk::<4>() {
        let says_sack = u32::from_be_bytes([k0, k1, k2, 0]) == SACK;
        let (blocks, odd) = blocks.as_chunks::<8>();
        if !says_sack
            || blocks.is_empty()
            || usize::from(len) != 2 + 8 * blocks.len()
            || !odd.is_empty()
        {
            return None;
        }
        for &[s0, s1, s2, s3, e0, e1, e2, e3] in blocks {
            sack.push(SackBlock {
                start: Seq(u32::from_be_bytes([s0, s1, s2, s3])),
                end: Seq(u32::from_be_bytes([e0, e1, e2, e3])),
            });
        }
    } else if !others.is_empty() {
        return None;
    }
    Some((timestamps, sack))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::capture::LinkType;
    use crate::decode::{DecodeOptions, Decoded, decode};
    use crate::time::CaptureTime;

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
        Record {
            frame: 1,
            at: CaptureTime::from_ns(7),
            link: LinkType(1),
            bytes,
            original_len: bytes.len() as u32,
        }
    }

    fn in_general(bytes: &[u8]) -> Option<Segment> {
        match decode(&record(bytes), 9, &DecodeOptions::default()) {
            Decoded::Segment(segment) => Some(segment),
            _ => None,
        }
    }

    const TIMESTAMPS: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 4];
    const SACK: [u8; 12] = [1, 1, 5, 10, 0, 0, 1, 0, 0, 0, 2, 0];

    #[test]
    fn what_established_connections_send_is_usual() {
        let both = [TIMESTAMPS, SACK].concat();
        for options in [&[][..], &TIMESTAMPS, &SACK, &both] {
            for (flags, payload) in [(0x10, 0), (0x18, 100), (0x11, 0), (0x04, 0)] {
                let bytes = frame(flags, options, payload);
                let found = usual(&record(&bytes), 9).map(|segment| format!("{segment:?}"));
                let expected = in_general(&bytes).map(|segment| format!("{segment:?}"));
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
        /// Whatever bytes are changed or cut: what it finds, the general way finds.
        #[test]
        fn it_never_contradicts_the_general_way(
            flags: u8,
            options in prop_oneof![
                Just(TIMESTAMPS.to_vec()),
                Just(SACK.to_vec()),
                Just([TIMESTAMPS, SACK].concat()),
                proptest::collection::vec(any::<u8>(), 0..40),
            ],
            payload in 0_u16..100,
            changes in proptest::collection::vec((12_usize..80, any::<u8>()), 0..4),
            cut in 0_usize..200,
        ) {
            let mut bytes = frame(flags, &options, payload);
            for (at, value) in changes {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = value;
                }
            }
            bytes.truncate(cut.max(40));
            if let Some(segment) = usual(&record(&bytes), 9) {
                prop_assert_eq!(
                    Some(format!("{segment:?}")),
                    in_general(&bytes).map(|segment| format!("{segment:?}"))
                );
            }
        }
    }
}
