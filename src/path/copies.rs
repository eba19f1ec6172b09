//! Points that have packets more than once: a capture of all interfaces of a router has each as it came in and
//! as it went out, one of a bridge once a port more.

use std::collections::{BTreeMap, HashMap, VecDeque};

use foldhash::fast::FixedState;

use super::rules::Rules;
use super::sighting::Print;

/// How often a point has its packets, by some of them: as often as more than half of them have equal headers, and more
/// than half of all headers that there are. Headers that hardly end, as of datagrams that are all the same, tell
/// nothing.
pub(super) fn times_seen(prints: &[Print]) -> u32 {
    let mut keys: Vec<u64> = prints.iter().map(key).collect();
    keys.sort_unstable();
    let mut headers_by: BTreeMap<usize, usize> = BTreeMap::new();
    for copies in keys.chunk_by(|a, b| a == b) {
        *headers_by.entry(copies.len()).or_default() += 1;
    }
    headers_by.retain(|&times, _| times <= TIMES_MAX);
    let headers: usize = headers_by.values().sum();
    let packets: usize = headers_by.iter().map(|(times, of)| times * of).sum();
    let most = headers_by
        .into_iter()
        .find(|&(times, of)| 2 * times * of > packets && 2 * of > headers);
    most.map_or(1, |(times, _)| times as u32)
}

/// The first copies alone of packets that a point has so many `times`.
pub(super) fn first_copies(mut prints: Vec<Print>, times: u32) -> Vec<Print> {
    if let Some(mut copies) = Copies::of(times) {
        prints.retain(|print| !copies.is_copy(print));
    }
    prints
}

/// Tells copies that a point has of one packet from the first of them.
#[derive(Debug)]
pub(super) struct Copies {
    /// How often the point has each packet.
    times: u32,
    recent: HashMap<u64, Recent, FixedState>,
    /// Those of `recent`, and some that have gone, in the order they came.
    order: VecDeque<(u64, i64)>,
}

/// A packet of which not all copies have come.
#[derive(Clone, Copy, Debug)]
struct Recent {
    first_at: i64,
    copies: u32,
}

impl Copies {
    /// `None` for a point that has each packet once.
    pub(super) fn of(times: u32) -> Option<Self> {
        (times > 1).then(|| Self {
            times,
            recent: HashMap::default(),
            order: VecDeque::new(),
        })
    }

    /// The same for a point of which nothing has come yet.
    pub(super) fn anew(&self) -> Option<Self> {
        Self::of(self.times)
    }

    /// Whether a packet is a copy of one before it; as soon as that has all of its copies, the next is a packet of its
    /// own, as repeated ACKs without IP ids are.
    pub(super) fn is_copy(&mut self, print: &Print) -> bool {
        self.forget_until(print.at);
        let key = key(print);
        let Some(recent) = self.recent.get_mut(&key) else {
            let first = Recent {
                first_at: print.at,
                copies: 1,
            };
            self.recent.insert(key, first);
            self.order.push_back((key, print.at));
            return false;
        };
        recent.copies += 1;
        if recent.copies == self.times {
            self.recent.remove(&key);
        }
        true
    }

    fn forget_until(&mut self, now: i64) {
        while let Some(&(key, at)) = self.order.front()
            && (now.saturating_sub(at) > COPY_NS || self.order.len() >= RECENT_MAX)
        {
            self.order.pop_front();
            if self
                .recent
                .get(&key)
                .is_some_and(|recent| recent.first_at == at)
            {
                self.recent.remove(&key);
            }
        }
    }
}

/// What copies have in common, whatever differs between the points.
fn key(print: &Print) -> u64 {
    print.key(Rules::STRICTEST) ^ u64::from(print.checksum)
}

/// No point has its packets so often as more.
const TIMES_MAX: usize = 16;
/// What copies are apart at most, in ns: a full queue may be between them.
const COPY_NS: i64 = 1_000_000_000;
/// Packets whose copies are waited for at most: some 50 MB.
const RECENT_MAX: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{Endpoint, Segment};
    use crate::time::CaptureTime;

    fn print(id: u16, at_ms: i64) -> Print {
        let ends = [1, 2].map(|host| Endpoint::v4([10, 0, 0, host], 80));
        let segment = Segment {
            at: CaptureTime::from_ns(at_ms * 1_000_000),
            ip_id: Some(id),
            ..Segment::empty(ends[0], ends[1])
        };
        Print::of_usual(&segment, 0)
    }

    #[test]
    fn a_point_has_its_packets_as_often_as_most_of_them() {
        let seen = |times: &[u16]| {
            let ids = (0..).zip(times);
            let prints = ids.flat_map(|(id, &times)| (0..times).map(move |_| print(id, 0)));
            times_seen(&prints.collect::<Vec<_>>())
        };
        assert_eq!(seen(&[]), 1);
        assert_eq!(seen(&[1, 1, 1, 2]), 1);
        assert_eq!(seen(&[2, 2, 1]), 2);
        // Four of eight packets are no majority, and of three copies each are six of eight.
        assert_eq!(seen(&[2, 2, 1, 1, 1, 1]), 1);
        assert_eq!(seen(&[3, 3, 2]), 3);
        // Streams of datagrams that are all the same, alone and beside others.
        assert_eq!(seen(&[100]), 1);
        assert_eq!(seen(&[100; 4]), 1);
        assert_eq!(seen(&[&[100][..], &[1; 50]].concat()), 1);
        assert_eq!(seen(&[&[200][..], &[2; 50]].concat()), 2);
        // A few that have copies of some others' length, among more without.
        assert_eq!(seen(&[&[9; 4][..], &[1; 20]].concat()), 1);
    }

    #[test]
    fn every_second_is_a_copy_for_a_second() {
        let kept = |times: u32, packets: &[(u16, i64)]| {
            let prints = packets.iter().map(|&(id, at_ms)| print(id, at_ms));
            let kept = first_copies(prints.collect(), times);
            kept.iter()
                .map(|print| print.at / 1_000_000)
                .collect::<Vec<_>>()
        };
        let packets = [(1, 0), (2, 1), (1, 2), (2, 3), (1, 500), (1, 501), (3, 510)];
        assert_eq!(kept(2, &packets), [0, 1, 500, 510]);
        assert_eq!(kept(3, &packets), [0, 1, 501, 510]);
        assert_eq!(kept(1, &packets).len(), packets.len());
        // The second copy was lost: what comes a second later is the next packet.
        assert_eq!(
            kept(2, &[(1, 0), (2, 900), (1, 1001), (2, 1002)]),
            [0, 900, 1001]
        );
    }
}
