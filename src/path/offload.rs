//! Frames that hold several packets, as segmentation and receive offload make them: how large these are.

use std::collections::HashMap;
use std::num::NonZeroU16;

use super::sighting::FlowKey;
use crate::decode::{FULL_PACKET_LEN, Segment, TcpFlags};

/// So many packets of one length, the largest that was seen where none may be larger, are no ends of messages.
const ALIKE_MIN: u32 = 8;

/// No frame is made of smaller packets, by IP length: what every host takes with its headers (RFC 9293 section 3.7.1).
/// Where the other point's packets are, they are something else.
const PACKET_LEN_MIN: u32 = 576;

/// Bytes of the headers of IP and TCP without options, which no MSS counts (RFC 6691).
const HEADERS_LEN: [u32; 2] = [40, 60];

/// What a point's segments of a flow say of how large they are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sizes {
    /// IP length of the largest with payload, in bytes; 0 without any.
    pub(super) len_max: u32,
    /// That of the largest of those that can be one packet, and how many are as large.
    packet_max: u32,
    packets: u32,
    /// The IP id of the first with payload, and whether another has another.
    id: Option<u16>,
    ids_differ: bool,
    /// IP length of the largest datagram, in bytes; 0 without any.
    datagram_max: u32,
    /// Largest segment that their sender takes itself, in bytes, as its SYN says.
    pub(super) mss: Option<u16>,
}

/// What the frames of a flow are taken apart into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pieces {
    /// IP length of all but the last of a frame, in bytes.
    pub(super) packet_len: u32,
    /// Whether each has the IP id that follows that of the one before; else all have that of the frame, as of senders
    /// that put the same one into all packets that nobody may fragment (RFC 6864 section 4.1).
    pub(super) ids_count: bool,
}

impl Sizes {
    #[inline]
    pub(super) fn see(&mut self, segment: &Segment) {
        if segment.payload_len > 0 {
            self.see_data(segment.ip_len);
            let id = *self.id.get_or_insert(segment.ip_id.unwrap_or(0));
            self.ids_differ |= segment.ip_id.is_some_and(|other| other != id);
        }
        if segment.flags.has(TcpFlags::SYN) {
            self.mss = segment.syn.mss.map(NonZeroU16::get).or(self.mss);
        }
    }

    pub(super) fn see_datagram(&mut self, ip_len: u32) {
        self.datagram_max = self.datagram_max.max(ip_len);
    }

    #[inline]
    fn see_data(&mut self, ip_len: u32) {
        self.len_max = self.len_max.max(ip_len);
        if (self.packet_max..=FULL_PACKET_LEN).contains(&ip_len) {
            if ip_len > self.packet_max {
                (self.packet_max, self.packets) = (ip_len, 0);
            }
            self.packets = self.packets.saturating_add(1);
        }
    }
}

/// How large the segments of each flow are at each point. Of a flow that is `translated`, thus another at the second
/// point, that is known of both; where all packets of it were merged its answers tell.
pub(super) fn of_both(
    seen: [impl Iterator<Item = (FlowKey, Sizes)>; 2],
    translated: impl Iterator<Item = [FlowKey; 2]>,
) -> HashMap<FlowKey, [Sizes; 2]> {
    let mut sizes: HashMap<FlowKey, [Option<Sizes>; 2]> = HashMap::new();
    for (side, seen) in seen.into_iter().enumerate() {
        for (key, of_flow) in seen {
            sizes.entry(key).or_default()[side] = Some(of_flow);
        }
    }
    for keys in translated {
        for keys in [keys, keys.map(FlowKey::reversed)] {
            let seen = keys.map(|key| sizes.get(&key).copied().unwrap_or_default());
            if let [[Some(first), None], [None, Some(second)]] = seen {
                sizes.extend(keys.map(|key| (key, [Some(first), Some(second)])));
            }
        }
    }
    let sizes = sizes.into_iter();
    let sizes = sizes.map(|(key, seen)| (key, seen.map(Option::unwrap_or_default)));
    sizes.collect()
}

/// What the frames of the flows are taken apart into that are larger at one point than at the other, where offload
/// merged packets. The IP length is the largest at the other point or, where that merged, too, what the
/// receiver's MSS allows, or the largest that it left alone, where the path takes less. A sender counts the options of
/// each segment, such as SACK blocks, in (RFC 6691), so lengths with headers are what its segments have in common.
pub(super) fn pieces(sizes: &HashMap<FlowKey, [Sizes; 2]>) -> HashMap<FlowKey, Pieces> {
    let pieces = |(&flow, of_flow): (&FlowKey, &[Sizes; 2])| {
        let [one, other] = of_flow.map(|sizes| sizes.len_max);
        let (small, large) = (one.min(other), one.max(other));
        let taken = sizes.get(&flow.reversed()).into_iter().flatten();
        let mss = taken.filter_map(|sizes| sizes.mss).min();
        let headers_len = HEADERS_LEN[usize::from(flow.src.v4_address().is_none())];
        let allowed = mss.map_or(u32::MAX, |mss| u32::from(mss) + headers_len);
        // Where both points have the same frames, only what the receiver takes tells that they are no packets.
        let is_merged = large > FULL_PACKET_LEN && (large > small || allowed <= FULL_PACKET_LEN);
        let ids_count = of_flow.iter().any(|sizes| sizes.ids_differ);
        let cut_at = |packet_len| {
            let pieces = Pieces {
                packet_len,
                ids_count,
            };
            (packet_len >= PACKET_LEN_MIN).then_some((flow, pieces))
        };
        if !is_merged {
            return None;
        }
        if small <= allowed || allowed > FULL_PACKET_LEN {
            return cut_at(small.min(allowed));
        }
        let alone = of_flow.iter().map(|sizes| sizes.packet_max).max()?;
        let alike = of_flow.iter().filter(|sizes| sizes.packet_max == alone);
        let is_largest = alike.map(|sizes| sizes.packets).sum::<u32>() >= ALIKE_MIN;
        let largest = if is_largest {
            alone.min(allowed)
        } else {
            allowed
        };
        cut_at(largest)
    };
    sizes.iter().filter_map(pieces).collect()
}

/// Flows of UDP whose datagrams hold several at one of the points: what is in a datagram tells nothing of where the
/// next one begins, so they are not taken apart.
pub(super) fn merged_datagrams(sizes: &HashMap<FlowKey, [Sizes; 2]>) -> u64 {
    let is_merged = |of_flow: &&[Sizes; 2]| {
        let [one, other] = of_flow.map(|sizes| sizes.datagram_max);
        let (small, large) = (one.min(other), one.max(other));
        small > 0 && large > small && large > FULL_PACKET_LEN
    };
    sizes.values().filter(is_merged).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Endpoint;

    /// The largest at each point, and the length of the packets that frames are taken apart into.
    fn packet_len(len_max: [u32; 2], receivers_mss: Option<u16>) -> Option<u32> {
        let flow = FlowKey {
            src: Endpoint::v4([10, 0, 0, 1], 443),
            dst: Endpoint::v4([10, 0, 0, 2], 5001),
            protocol: 6,
        };
        let of = |len_max, mss| Sizes {
            len_max,
            mss,
            ..Sizes::default()
        };
        let data = len_max.map(|len_max| of(len_max, Some(9000)));
        let acks = [of(0, receivers_mss), of(0, None)];
        let sizes = HashMap::from([(flow, data), (flow.reversed(), acks)]);
        pieces(&sizes).get(&flow).map(|pieces| pieces.packet_len)
    }

    #[test]
    fn packets_are_as_large_as_at_the_other_point() {
        assert_eq!(packet_len([14_532, 1500], None), Some(1500));
        assert_eq!(packet_len([1500, 2948], Some(1460)), Some(1500));
        // A way that takes less than the receiver would.
        assert_eq!(packet_len([14_532, 1400], Some(1460)), Some(1400));
    }

    #[test]
    fn where_both_points_merge_packets_are_as_the_receiver_takes_them() {
        assert_eq!(packet_len([15_980, 14_532], Some(1460)), Some(1500));
        assert_eq!(packet_len([15_980, 14_532], Some(536)), Some(576));
        assert_eq!(packet_len([15_980, 14_532], None), Some(14_532));
    }

    #[test]
    fn where_the_path_takes_less_than_the_receiver_packets_that_were_left_alone_tell() {
        // PPPoE: 1492 bytes, of which a shaper leaves two together.
        let of = |ip_lens: &[u32], mss| {
            let mut sizes = Sizes::default();
            for &ip_len in ip_lens {
                sizes.see_data(ip_len);
            }
            Sizes { mss, ..sizes }
        };
        let flow = FlowKey {
            src: Endpoint::v4([10, 0, 0, 1], 443),
            dst: Endpoint::v4([10, 0, 0, 2], 5001),
            protocol: 6,
        };
        let packet_len = |alone: &[u32]| {
            let after = [&[2932, 700], alone].concat();
            let data = [of(&[14_452, 1132], None), of(&after, None)];
            let acks = [of(&[], Some(1460)), of(&[], None)];
            let sizes = HashMap::from([(flow, data), (flow.reversed(), acks)]);
            pieces(&sizes).get(&flow).map(|pieces| pieces.packet_len)
        };
        assert_eq!(packet_len(&[1492; 8]), Some(1492));
        // The end of a message, perhaps.
        assert_eq!(packet_len(&[1492; 2]), Some(1500));
    }

    #[test]
    fn frames_that_are_alike_are_taken_apart_where_the_receiver_takes_less() {
        assert_eq!(packet_len([14_532, 14_532], Some(1460)), Some(1500));
        assert_eq!(packet_len([8960, 8960], Some(8920)), None);
        assert_eq!(packet_len([14_532, 14_532], None), None);
        assert_eq!(packet_len([1500, 1500], Some(1460)), None);
        assert_eq!(packet_len([1200, 600], Some(1460)), None);
        assert_eq!(packet_len([2948, 0], Some(1460)), None);
        // A frame of 64 KiB would be a thousand packets.
        assert_eq!(packet_len([60_000, 41], None), None);
        assert_eq!(packet_len([60_000, 1500], Some(20)), None);
    }
}
