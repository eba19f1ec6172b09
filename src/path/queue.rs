//! What waits between two points, swept over in time (METRICS.md B4).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Packets and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Packets.
    pub packets: u64,
    /// IP bytes.
    pub bytes: u64,
}

impl Amount {
    pub(super) fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }

    fn remove(&mut self, bytes: u32) {
        self.packets = self.packets.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(u64::from(bytes));
    }

    /// So many packets, with so many bytes more for each.
    #[must_use]
    pub fn with_headers(self, header: u64) -> Self {
        let headers = self.packets.saturating_mul(header);
        Self {
            bytes: self.bytes.saturating_add(headers),
            ..self
        }
    }

    fn at_most(self, other: Self) -> Self {
        Self {
            packets: self.packets.min(other.packets),
            bytes: self.bytes.min(other.bytes),
        }
    }

    pub(super) fn at_least(self, other: Self) -> Self {
        Self {
            packets: self.packets.max(other.packets),
            bytes: self.bytes.max(other.bytes),
        }
    }
}

/// The queue in one bin of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueBin {
    /// Number of the bin, from the first packet of either point on ([`Hop::origin_ns`](super::Hop::origin_ns)).
    pub index: i64,
    /// Packets that came in and were not dropped.
    pub arrived: Amount,
    /// Packets that left the queue for the link.
    pub left: Amount,
    /// Packets dropped.
    pub dropped: Amount,
    /// Integral of the packets waiting over time, in packet nanoseconds.
    pub packets_ns: u128,
    /// Integral of the bytes waiting, in byte nanoseconds.
    pub bytes_ns: u128,
    /// Time in which something waited, in ns.
    pub busy_ns: i64,
    /// Most that waited.
    pub max: Amount,
    /// Packets that waited when the most bytes did.
    pub max_bytes_packets: u64,
    /// Least that waited at any time in the bin.
    pub min: Amount,
    /// What waited at its end.
    pub end: Amount,
}

impl QueueBin {
    /// Most that waited in a queue that adds a `header` to the bytes of each packet, to within what packets of other
    /// sizes make of the headers.
    #[must_use]
    pub fn max_with_headers(&self, header: u64) -> Amount {
        let headers = self.max_bytes_packets.saturating_mul(header);
        Amount {
            bytes: self.max.bytes.saturating_add(headers),
            ..self.max
        }
    }
}

/// How a packet leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Leaving {
    /// Without having waited.
    AtOnce,
    Waited,
    /// It is not seen to leave: it is dropped after having waited, or its turn had come.
    Unseen,
    /// It waits for as long as is seen.
    Stays,
}

/// When a packet leaves, its bytes, and how.
type Leaves = (i64, u32, Leaving);

/// Packets in the order in which they leave: nearly always that in which they came.
#[derive(Debug, Default)]
struct Order {
    in_order: VecDeque<Leaves>,
    /// Those that leave before one that came before them.
    ahead: BinaryHeap<Reverse<Leaves>>,
}

impl Order {
    #[inline]
    fn add(&mut self, leaves: Leaves) {
        match self.in_order.back() {
            Some(last) if leaves.0 < last.0 => self.ahead.push(Reverse(leaves)),
            _ => self.in_order.push_back(leaves),
        }
    }

    /// The next one, if it leaves until then.
    #[inline]
    fn next(&mut self, until: i64) -> Option<Leaves> {
        let first = self.in_order.front();
        if let Some(&Reverse(ahead)) = self.ahead.peek()
            && first.is_none_or(|first| ahead.0 < first.0)
        {
            return (ahead.0 <= until)
                .then(|| self.ahead.pop())
                .flatten()
                .map(|_| ahead);
        }
        first.filter(|first| first.0 <= until)?;
        self.in_order.pop_front()
    }

    fn is_empty(&self) -> bool {
        self.in_order.is_empty() && self.ahead.is_empty()
    }
}

/// Follows what waits, in the order of arrival.
#[derive(Debug)]
pub(super) struct Sweep {
    bin_ns: i64,
    origin: Option<i64>,
    now: i64,
    waiting: Amount,
    leaving: Order,
    bin: QueueBin,
    /// When the bin ends.
    bin_end: i64,
    bins: Vec<QueueBin>,
    /// Bins of these in which something waited and nothing came or left.
    quiet: usize,
    /// What still waited when nothing more was seen, within the bin.
    stayed: Amount,
    /// Times that do not count, in order, those that have passed left out.
    unseen: VecDeque<(i64, i64)>,
}

impl Sweep {
    pub(super) fn new(bin_ns: i64) -> Self {
        Self {
            bin_ns,
            origin: None,
            now: 0,
            waiting: Amount::default(),
            leaving: Order::default(),
            bin: QueueBin::default(),
            bin_end: 0,
            bins: Vec::new(),
            quiet: 0,
            stayed: Amount::default(),
            unseen: VecDeque::new(),
        }
    }

    /// In these times, which are in order and do not meet, what waits does not count.
    pub(super) fn leave_out(&mut self, unseen: &[(i64, i64)]) {
        self.unseen = unseen.iter().copied().collect();
    }

    /// Bins are counted from here, if nothing came before.
    pub(super) fn begin(&mut self, origin: i64) {
        if self.origin.is_none() {
            self.origin = Some(origin);
            self.now = origin;
            self.bin_end = self.end_of_bin(origin);
        }
    }

    /// A packet comes in at `at` and leaves the queue at `leaves`. Gives what it found waiting.
    pub(super) fn pass(&mut self, at: i64, leaves: i64, bytes: u32) -> Amount {
        self.advance(at);
        let found = self.waiting;
        let at = self.now;
        self.bin.arrived.add(bytes);
        if leaves > at {
            self.wait(leaves, bytes, Leaving::Waited);
        } else {
            self.leaving.add((at, bytes, Leaving::AtOnce));
        }
        found
    }

    /// A packet comes in at `at` and is dropped: at once, or after it waited until then. Gives what
    /// it found waiting.
    pub(super) fn drop(&mut self, at: i64, until: Option<i64>, bytes: u32) -> Amount {
        self.advance(at);
        let found = self.waiting;
        self.bin.dropped.add(bytes);
        if let Some(until) = until.filter(|&until| until > self.now) {
            self.wait(until, bytes, Leaving::Unseen);
        }
        found
    }

    /// Packets that nobody saw come in wait from `at` on, before anything else happens: until when each, and its bytes.
    pub(super) fn hold(&mut self, at: i64, held: impl Iterator<Item = (i64, u32)>) {
        self.advance(at);
        for (leaves, bytes) in held {
            if leaves > at {
                self.wait(leaves, bytes, Leaving::Waited);
            } else {
                self.leaving.add((at, bytes, Leaving::AtOnce));
            }
        }
        self.bin.min = self.waiting;
    }

    /// A packet comes in at `at` that nobody sees leave: it waits until then, which may be when nothing more `is_seen`;
    /// but not where as much waits as `most`. Whether it waits.
    pub(super) fn hold_unseen(
        &mut self,
        at: i64,
        (until, is_seen): (i64, bool),
        bytes: u32,
        most: Option<Amount>,
    ) -> bool {
        self.advance(at);
        let is_full = most.is_some_and(|most| {
            self.waiting.packets >= most.packets || self.waiting.bytes >= most.bytes
        });
        let waits = !is_full && until > self.now;
        if waits {
            let how = if is_seen {
                Leaving::Unseen
            } else {
                Leaving::Stays
            };
            self.wait(until, bytes, how);
        }
        waits
    }

    /// Most that has waited.
    pub(super) fn most(&self) -> Amount {
        let bins = self.bins.iter().map(|bin| bin.max);
        bins.fold(self.bin.max, Amount::at_least)
    }

    fn wait(&mut self, until: i64, bytes: u32, how: Leaving) {
        self.waiting.add(bytes);
        if self.waiting.bytes >= self.bin.max.bytes {
            self.bin.max_bytes_packets = self.waiting.packets;
        }
        self.bin.max = self.bin.max.at_least(self.waiting);
        self.leaving.add((until, bytes, how));
    }

    /// The bins, and whether the last of them holds what would be in others.
    pub(super) fn finish(mut self) -> (Vec<QueueBin>, bool) {
        while !self.leaving.is_empty() {
            self.leave_until(i64::MAX);
        }
        let is_endless = self.bin_end == i64::MAX;
        let origin = self.origin.unwrap_or(self.now);
        let last = self.now.saturating_sub(origin) / self.bin_ns;
        let is_cut = is_endless && last > self.bin.index;
        self.close_bin();
        (self.bins, is_cut)
    }

    /// Lets all leave that leaves until `at`; time that runs backwards stands still.
    fn advance(&mut self, at: i64) {
        self.begin(at);
        self.leave_until(at);
        self.move_to(at);
    }

    fn leave_until(&mut self, at: i64) {
        while let Some((leaves, bytes, how)) = self.leaving.next(at) {
            self.move_to(leaves);
            if how != Leaving::AtOnce {
                self.waiting.remove(bytes);
            }
            match how {
                Leaving::AtOnce | Leaving::Waited => self.bin.left.add(bytes),
                Leaving::Unseen => {}
                Leaving::Stays => {
                    self.stayed.add(bytes);
                    continue;
                }
            }
            self.bin.min = self.bin.min.at_most(self.waiting);
        }
    }

    /// When the bin ends: the last one never does.
    fn end_of_bin(&self, origin: i64) -> i64 {
        if self.has_room() {
            origin.saturating_add((self.bin.index + 1).saturating_mul(self.bin_ns))
        } else {
            i64::MAX
        }
    }

    /// Whether further bins are told apart: not of a capture that has so few packets for its bins that a clock jumped.
    fn has_room(&self) -> bool {
        self.bins.len() < BINS_MAX && self.quiet < QUIET_MAX
    }

    /// Time passes, and nothing changes but the bin.
    #[inline]
    fn move_to(&mut self, at: i64) {
        while at > self.now {
            let until = at.min(self.bin_end);
            let ns = self.seen_ns(until);
            if self.waiting.packets > 0 {
                self.bin.packets_ns += u128::from(self.waiting.packets) * ns as u128;
                self.bin.bytes_ns += u128::from(self.waiting.bytes) * ns as u128;
                self.bin.busy_ns += ns;
            }
            self.now = until;
            if until == self.bin_end {
                self.next_bin(at);
            }
        }
    }

    /// How much of the time until then counts, in ns.
    #[inline]
    fn seen_ns(&mut self, until: i64) -> i64 {
        let mut ns = until.saturating_sub(self.now);
        while let Some(&(start, end)) = self.unseen.front()
            && start < until
        {
            let unseen_ns = end.min(until).saturating_sub(start.max(self.now));
            ns = ns.saturating_sub(unseen_ns.max(0));
            if end > until {
                break;
            }
            self.unseen.pop_front();
        }
        ns.max(0)
    }

    /// Ends the bin; the next one is that of `at`, if nothing happens before.
    #[cold]
    fn next_bin(&mut self, at: i64) {
        let origin = self.origin.unwrap_or(at);
        let until = self.now;
        self.close_bin();
        // Nothing happens in the bins before `at` when nothing waits.
        let index = if self.waiting.packets == 0 {
            at.saturating_sub(origin) / self.bin_ns
        } else {
            self.bin.index + 1
        };
        self.now = if self.waiting.packets == 0 { at } else { until };
        self.bin = QueueBin {
            index,
            max: self.waiting,
            max_bytes_packets: self.waiting.packets,
            min: self.waiting,
            ..QueueBin::default()
        };
        self.bin_end = self.end_of_bin(origin);
    }

    fn close_bin(&mut self) {
        let stayed = std::mem::take(&mut self.stayed);
        self.bin.end = Amount {
            packets: self.waiting.packets + stayed.packets,
            bytes: self.waiting.bytes + stayed.bytes,
        };
        let idle = QueueBin {
            index: self.bin.index,
            ..QueueBin::default()
        };
        if self.bin != idle {
            let QueueBin {
                arrived,
                left,
                dropped,
                ..
            } = self.bin;
            let packets = arrived.packets + left.packets + dropped.packets;
            self.quiet += usize::from(packets == 0);
            self.bins.push(self.bin);
        }
    }
}

/// Bins kept, as many as of a flow of one capture (`--max-bins`); what comes later is in the last one.
const BINS_MAX: usize = 1 << 20;
/// Bins kept of those in which something waits and nothing comes or leaves: two hours in bins of 100 ms. The others are
/// bounded by the packets that are in them.
pub(super) const QUIET_MAX: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// Three packets of 1000 bytes come at 0, 1 and 2 ms, and leave the queue at 0, 10 and 20 ms.
    #[test]
    fn what_waits_is_integrated_over_bins() {
        let mut sweep = Sweep::new(10 * MS);
        sweep.begin(0);
        assert_eq!(sweep.pass(0, 0, 1000), Amount::default());
        assert_eq!(sweep.pass(MS, 10 * MS, 1000), Amount::default());
        let found = sweep.pass(2 * MS, 20 * MS, 1000);
        assert_eq!((found.packets, found.bytes), (1, 1000));
        let found = sweep.drop(12 * MS, None, 1000);
        assert_eq!((found.packets, found.bytes), (1, 1000));
        let (bins, is_cut) = sweep.finish();
        assert!(!is_cut);
        // 9 ms of one packet and 8 ms of another; then 10 ms of that.
        let integrals: Vec<u128> = bins.iter().map(|bin| bin.packets_ns).collect();
        assert_eq!(integrals[..2], [17 * MS as u128, 10 * MS as u128]);
        assert_eq!(bins[0].max.packets, 2);
        assert_eq!(bins[0].end.packets, 2);
        assert_eq!(bins[1].dropped.packets, 1);
        assert_eq!(bins.iter().map(|bin| bin.left.packets).sum::<u64>(), 3);
    }

    /// A packet that is dropped 5 ms after it came waited for these, and leaves for no link.
    #[test]
    fn what_is_dropped_later_waits_until_then() {
        let mut sweep = Sweep::new(10 * MS);
        sweep.begin(0);
        sweep.pass(0, 4 * MS, 1000);
        let found = sweep.drop(2 * MS, Some(7 * MS), 500);
        assert_eq!((found.packets, found.bytes), (1, 1000));
        let (bins, is_cut) = sweep.finish();
        assert!(!is_cut);
        assert_eq!(bins[0].packets_ns, 9 * MS as u128);
        assert_eq!(bins[0].bytes_ns, 6500 * MS as u128);
        assert_eq!(bins[0].max.bytes, 1500);
        assert_eq!((bins[0].left.packets, bins[0].dropped.packets), (1, 1));
    }

    /// One packet waits from 0 to 40 ms, of which nobody sees 5 to 8, 15 to 25 and 38 on.
    #[test]
    fn times_that_are_left_out_do_not_count() {
        let mut sweep = Sweep::new(10 * MS);
        sweep.leave_out(&[(5 * MS, 8 * MS), (15 * MS, 25 * MS), (38 * MS, i64::MAX)]);
        sweep.begin(0);
        sweep.pass(0, 40 * MS, 1000);
        let (bins, is_cut) = sweep.finish();
        assert!(!is_cut);
        let busy: Vec<i64> = bins.iter().map(|bin| bin.busy_ns / MS).collect();
        assert_eq!(busy[..4], [7, 5, 5, 8]);
        assert_eq!(
            bins.iter().map(|bin| bin.packets_ns).sum::<u128>(),
            25 * MS as u128
        );
    }

    #[test]
    fn idle_years_cost_nothing() {
        let mut sweep = Sweep::new(1);
        sweep.pass(0, 5, 100);
        sweep.pass(i64::MAX / 2, i64::MAX / 2, 100);
        let (bins, is_cut) = sweep.finish();
        assert!(!is_cut);
        assert!(bins.len() < 10);
    }

    /// A packet waits for a year, as a clock that jumps makes it seem: the rest of the time is in the last bin.
    #[test]
    fn what_waits_for_years_is_cut() {
        let mut sweep = Sweep::new(MS);
        let year = 365 * 86_400_000 * MS;
        sweep.pass(0, year, 100);
        sweep.pass(MS / 2, MS / 2, 100);
        let (bins, is_cut) = sweep.finish();
        assert!(is_cut);
        // But for the one in which two came.
        assert_eq!(bins.len(), QUIET_MAX + 2);
        let waited: u128 = bins.iter().map(|bin| bin.packets_ns).sum();
        assert_eq!(waited, year as u128);
    }
}
