//! Delays that change by chance, with a queue and without one.

use super::*;

/// Chance that is the same each time: below 1000.
pub(super) fn chance(n: u16) -> i64 {
    let mixed = (u64::from(n) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed >> 32) % 1000) as i64
}

/// A flow that goes one way in bursts of ten packets each 12 ms, the 100th of which is lost, and when each that comes
/// leaves.
fn one_way(leaves: impl FnMut(u16, i64) -> i64) -> Hop {
    let comes = |n: u16| SECOND + i64::from(n / 10) * 12 * MS + i64::from(n % 10) * 100 * US;
    let first: Vec<Packet> = (0..2000).map(|n| data(n, comes(n))).collect();
    let mut leaves = leaves;
    let left = (0..2000).map(|n| data(n, leaves(n, comes(n))));
    let second: Vec<Packet> = left.filter(|packet| packet.id != 200).collect();
    hop(&first, &second)
}

/// In order, or overtaking each other.
#[test]
fn delays_by_chance_make_no_queue_and_no_rate() {
    for in_order in [false, true] {
        let mut last = 0;
        let hop = one_way(|n, at| {
            let leaves = at + 5 * MS + chance(n) * 8 * US;
            last = if in_order {
                leaves.max(last + US)
            } else {
                leaves
            };
            last
        });
        let way = &hop.ways[Heading::Forward as usize];
        assert!(way.has_jitter, "in order: {in_order}");
        assert_eq!(
            (way.rate_bps, way.packets_mean(), way.busy_share()),
            (None, None, None)
        );
        let causes: Vec<DropCause> = way.drops.iter().map(|drop| drop.cause).collect();
        assert_eq!(causes, [DropCause::Idle]);
        let flow = flow(&hop, Heading::Forward);
        assert_eq!(flow.queue_delay.ns_mean(), None);
        assert!(flow.delay.ns_max() > Some(12 * MS));
        assert!(hop.quality().contains(&"jitter"));
    }
}

/// 1040 bytes take 1.1 ms, or from time to time much longer or less, and then up to 2 ms more by chance.
#[test]
fn a_queue_shows_behind_delays_by_chance_and_with_a_rate_that_changes() {
    let rates = [1, 1, 1, 2, 1, 1, 1, 1, 3, 1, 1, 1];
    // What most packets took or, where they do not agree, what they took together: 15 / 12 of that.
    for (rates, jitter, times) in [
        (&rates[..1], 2, 1.0),
        (&rates[..], 0, 1.0),
        (&rates[..], 2, 1.25),
    ] {
        let (mut free, mut last) = (0, 0);
        let hop = one_way(|n, at| {
            let slower = rates[usize::from(n / 40) % rates.len()];
            free = at.max(free) + slower * 1100 * US;
            last = last.max(free + MS + chance(n) * jitter * US);
            last
        });
        let way = &hop.ways[Heading::Forward as usize];
        assert!(!way.has_jitter, "{rates:?} {jitter}");
        let rate_bps = way.rate_bps.unwrap();
        let off = rate_bps / (1040.0 * 8e9 / 1.1e6) * times - 1.0;
        assert!(off.abs() < 0.1, "{rates:?} {jitter}: {rate_bps}");
        assert!(way.packets_mean() > Some(2.0));
    }
}
