//! Which flows go the same way: a link has a capacity of its own for each of its directions.

use std::collections::HashMap;
use std::iter;

use foldhash::quality::RandomState;

use super::ahead::all_ahead;
use super::flow::Flow;
use crate::observe::Wanted;

/// Hosts that exchange packets, as a forest: who leads to whom, and whether that one is on the other side of the link.
#[derive(Default)]
struct Hosts {
    places: HashMap<[u8; 16], usize, RandomState>,
    /// The next host towards the root, and whether it is on the other side; the root itself.
    parents: Vec<(usize, bool)>,
    /// Of roots: hosts would have to be on both sides.
    contradict: Vec<bool>,
}

impl Hosts {
    fn place(&mut self, address: [u8; 16]) -> usize {
        let next = self.parents.len();
        let place = *self.places.entry(address).or_insert(next);
        if place == next {
            self.parents.push((next, false));
            self.contradict.push(false);
        }
        place
    }

    /// The root of a host, and whether the host is on its other side.
    fn root(&mut self, mut host: usize) -> (usize, bool) {
        let mut is_across = false;
        loop {
            let (parent, across) = self.parents[host];
            if parent == host {
                return (host, is_across);
            }
            // Halved on the way, so that the next one is quick; a root is not across itself.
            let (above, further) = self.parents[parent];
            self.parents[host] = (above, across ^ further);
            is_across ^= across ^ further;
            host = above;
        }
    }

    /// Two hosts of one connection are on both sides of the link. Their places.
    fn separate(&mut self, one: [u8; 16], other: [u8; 16]) -> [usize; 2] {
        let places = [self.place(one), self.place(other)];
        let [one, other] = places;
        let ((one, one_across), (other, other_across)) = (self.root(one), self.root(other));
        if one == other {
            self.contradict[one] |= one_across == other_across;
        } else {
            self.parents[other] = (one, one_across == other_across);
            self.contradict[one] |= self.contradict[other];
        }
        places
    }
}

/// Whether each of these flows goes the way that most payload goes (METRICS.md N0): hosts of one connection are on both
/// sides of the link, and so are those that are reached over others. Of hosts that have none in common, and where hosts
/// would have to be on both sides, the way that most of their payload goes counts as the same. Of ways with as much
/// payload it is that of the flow that stands first.
#[must_use]
pub fn goes_the_main_way(flows: &[Flow<'_>]) -> Vec<bool> {
    let mut hosts = Hosts::default();
    let mut senders = Vec::with_capacity(flows.len());
    // The flows of a connection follow each other, and often connections of the same hosts: these are looked up once.
    let mut last = None;
    for flow in flows {
        let identity = &flow.connection().identity;
        let both = [identity.opener.octets(), identity.peer.octets()];
        let ends = match last {
            Some((before, ends)) if before == both => ends,
            _ => hosts.separate(both[0], both[1]),
        };
        last = Some((both, ends));
        senders.push(ends[flow.dir() as usize]);
    }
    let ways: Vec<(usize, bool)> = senders.into_iter().map(|host| hosts.root(host)).collect();
    let mut sent = vec![[0_u64; 2]; hosts.parents.len()];
    let mut of_connections: HashMap<u64, [u64; 2], RandomState> = HashMap::default();
    for (flow, &(root, across)) in all_ahead(flows, Wanted::Outlines).zip(&ways) {
        let (both, way) = if hosts.contradict[root] {
            let of_connection = of_connections.entry(flow.connection_id).or_default();
            (of_connection, flow.dir() as usize)
        } else {
            (&mut sent[root], usize::from(across))
        };
        // Twice, and one more for the first of them, which decides where both are alike.
        let is_first = *both == [0, 0];
        both[way] += 2 * flow.payload_bytes() + u64::from(is_first);
    }
    let is_larger = |both: [u64; 2], way: usize| both[way] > both[1 - way];
    flows
        .iter()
        .zip(ways)
        .map(|(flow, (root, across))| {
            if hosts.contradict[root] {
                is_larger(of_connections[&flow.connection_id], flow.dir() as usize)
            } else {
                is_larger(sent[root], usize::from(across))
            }
        })
        .collect()
}

/// Requests and the like are less than this part of the payload.
const LITTLE: u64 = 100;

/// Whether each of these flows counts towards what a link's capacity is for (METRICS.md N5): those that go the
/// [main way](goes_the_main_way) or, where less than a hundredth of the payload goes the other way, all. `main_way` has
/// one entry for each flow; what it leaves out does not go that way.
#[must_use]
pub fn counts_towards_capacity(flows: &[Flow<'_>], main_way: &[bool]) -> Vec<bool> {
    let goes = main_way.iter().copied().chain(iter::repeat(false));
    let (mut all, mut others) = (0_u64, 0_u64);
    for (flow, goes) in all_ahead(flows, Wanted::Outlines).zip(goes.clone()) {
        let payload_bytes = flow.payload_bytes();
        all += payload_bytes;
        others += if goes { 0 } else { payload_bytes };
    }
    let are_few = others.saturating_mul(LITTLE) < all;
    let counts = goes.map(|goes| goes || are_few);
    counts.take(flows.len()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(number: u8) -> [u8; 16] {
        [number; 16]
    }

    #[test]
    fn hosts_are_on_the_side_that_their_connections_tell() {
        let mut hosts = Hosts::default();
        // 1, 2 and 5 on one side, 3, 4 and 6 on the other; what joins them comes late.
        for (one, other) in [(1, 3), (2, 4), (5, 6), (4, 1), (3, 5)] {
            hosts.separate(host(one), host(other));
        }
        let mut side = |number| {
            let place = hosts.place(host(number));
            hosts.root(place)
        };
        let (root, first) = side(1);
        for (number, is_first) in [
            (1, true),
            (2, true),
            (5, true),
            (3, false),
            (4, false),
            (6, false),
        ] {
            assert_eq!(side(number), (root, first == is_first), "{number}");
        }
        assert!(!hosts.contradict[root]);
    }

    #[test]
    fn hosts_that_would_be_on_both_sides_are_known() {
        let mut hosts = Hosts::default();
        for (one, other) in [(1, 2), (2, 3), (4, 5), (3, 1), (6, 6)] {
            hosts.separate(host(one), host(other));
        }
        let mut contradicts = |number| {
            let place = hosts.place(host(number));
            let (root, _) = hosts.root(place);
            hosts.contradict[root]
        };
        let found = [1, 2, 3, 4, 5, 6].map(&mut contradicts);
        assert_eq!(found, [true, true, true, false, false, true]);
    }
}
