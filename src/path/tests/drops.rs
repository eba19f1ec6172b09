//! What drops tell of the queue.

use super::*;

/// A packet comes every ms and one leaves, soon while nine wait, or up to thirty: what comes beside them is dropped
/// when `CoDel` would drop. Where the queue is always equally full it is drop-tail.
#[test]
fn drops_of_a_full_queue_are_no_codels_whenever_they_come() {
    let pattern = |waiting: fn(i64) -> i64| {
        let [mut first, mut second] = [Vec::new(), Vec::new()];
        let mut left_at = 0;
        for n in 0..2500_i64 {
            let at = SECOND + n * MS;
            first.push(data(n as u16, at));
            let delay = if n < 50 { 1 } else { waiting(n) };
            left_at = (at + delay * MS).max(left_at + 1);
            second.push(data(n as u16, left_at));
        }
        let dropped = [200, 300, 371, 429, 479, 524, 2000, 2100, 2171, 2229];
        for (number, n) in (4000..).zip(dropped) {
            first.push(data(number, SECOND + n * MS + MS / 2));
        }
        let hop = hop(&first, &second);
        let way = &hop.ways[Heading::Forward as usize];
        assert_eq!(way.drops.len(), dropped.len());
        (way.pattern(), way.limit.is_some())
    };
    assert_eq!(pattern(|_| 10), (Some(DropPattern::Tail), true));
    assert_eq!(
        pattern(|n| 10 + (n / 20) % 20),
        (Some(DropPattern::Head), false)
    );
}
