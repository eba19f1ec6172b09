//! One way between two points: its queue, its link, its drops.

use super::PathConfig;
use super::clock::Heading;
use super::flows::PathFlow;
use super::limit::{self, FoundByPassed, QueueLimit};
use super::link::{Dispersion, Link, Passed, TapPlace, sending_ns};
use super::losses::{self, DropCause, DropPattern, DroppedPacket, Episode};
use super::queue::{Amount, QueueBin, Sweep};
use crate::metric;
use crate::time::SECOND_NS;

/// What happened to the packets that went one way between two points.
#[derive(Clone, Debug)]
pub struct Way {
    /// Which way.
    pub heading: Heading,
    /// The link behind the queue.
    pub link: Link,
    /// Its rate in IP bits per second, from what it sent while more was waiting; `None` where
    /// that was less than 1 % of the time.
    pub rate_bps: Option<f64>,
    /// When its first packet came in and its last one came in or left, in ns.
    pub span: Option<(i64, i64)>,
    /// Times of it in which a capture has a gap, in order: nobody knows what waited then, and they do not count.
    pub unseen: Vec<(i64, i64)>,
    /// Where bins are counted from: the first packet of either point, in ns.
    pub origin_ns: i64,
    /// The queue over time; bins in which nothing happened are left out.
    pub bins: Vec<QueueBin>,
    /// What the queue holds at most: given, unless what waited contradicts it, or shown by the drops.
    pub limit: Option<QueueLimit>,
    /// Whether the limit is one that the drops show.
    pub limit_is_estimated: bool,
    /// The limit that was given, where what waited contradicts it (METRICS.md B6): it is not used.
    pub limit_refuted: Option<QueueLimit>,
    /// Bytes that the queue counts for each packet beside those of IP, where its limit is one of bytes (METRICS.md B6).
    pub header_bytes: u64,
    /// Drops in the order they came in.
    pub drops: Vec<DroppedPacket>,
    /// More than half of the drops were not at a full queue, whatever it holds: nothing waited, or enough packets
    /// passed that found clearly more.
    pub early_is_shown: bool,
    /// Drops in groups.
    pub episodes: Vec<Episode>,
    /// The queue drops what it had taken, when its turn comes: until then it counts as waiting.
    pub drops_at_head: bool,
    /// Delays change whatever is ahead of packets (METRICS.md B5): there is no queue to tell of, and no rate.
    pub has_jitter: bool,
    /// IP bytes times the ns that they waited, of all flows.
    pub waited_byte_ns: u128,
    /// Packets of some flows overtake those of others (METRICS.md B6): what waits is in several queues, and the drops
    /// do not show their limits.
    pub several_queues: bool,
    /// The other point did not capture some of what came in: more waited than is known.
    pub is_incomplete: bool,
    /// The last bin holds what would be in further ones (METRICS.md B4): what single bins tell is not known.
    pub series_cut: bool,
    /// Packets of the flows that a filter keeps that came in; `None` without one.
    pub asked_for: Option<Amount>,
}

impl Way {
    /// Packets that came in within the time that both captures cover: those that left and those dropped. With a filter
    /// those that it keeps.
    #[must_use]
    pub fn arrived(&self) -> Amount {
        if let Some(asked_for) = self.asked_for {
            return asked_for;
        }
        let sum = |of: fn(&QueueBin) -> u64| self.bins.iter().map(of).sum();
        Amount {
            packets: sum(|bin| bin.arrived.packets + bin.dropped.packets),
            bytes: sum(|bin| bin.arrived.bytes + bin.dropped.bytes),
        }
    }

    /// Length of the span without what of it is unseen, in ns; `None` without packets.
    #[must_use]
    pub fn duration_ns(&self) -> Option<i64> {
        let (first, last) = self.span?;
        Some(self.seen_ns(first, last)).filter(|&ns| ns > 0)
    }

    /// How much of a time is not unseen, in ns.
    #[must_use]
    pub fn seen_ns(&self, from: i64, to: i64) -> i64 {
        let first = self.unseen.partition_point(|&(_, end)| end <= from);
        let within = self.unseen[first..]
            .iter()
            .take_while(|&&(start, _)| start < to);
        let unseen = within.map(|&(start, end)| end.min(to).saturating_sub(start.max(from)));
        unseen
            .fold(to.saturating_sub(from), i64::saturating_sub)
            .max(0)
    }

    /// The queue of the way, unless its delays are no queue's.
    #[must_use]
    pub fn queue(&self) -> Option<&Self> {
        (!self.has_jitter).then_some(self)
    }

    /// Mean packets waiting, over time; `None` without a queue.
    #[must_use]
    pub fn packets_mean(&self) -> Option<f64> {
        let sum: u128 = self.queue()?.bins.iter().map(|bin| bin.packets_ns).sum();
        Some(sum as f64 / self.duration_ns()? as f64)
    }

    /// Mean IP bytes waiting, over time; `None` without a queue.
    #[must_use]
    pub fn bytes_mean(&self) -> Option<f64> {
        let sum: u128 = self.queue()?.bins.iter().map(|bin| bin.bytes_ns).sum();
        Some(sum as f64 / self.duration_ns()? as f64)
    }

    /// Part of all that waited over time that was a flow's, in bytes; `None` where nothing waited.
    #[must_use]
    pub fn share(&self, flow: &PathFlow) -> Option<f64> {
        let all = self.waited_byte_ns;
        (all > 0).then(|| flow.waited_byte_ns as f64 / all as f64)
    }

    /// Most that waited.
    #[must_use]
    pub fn max(&self) -> Amount {
        most_counted(&self.bins, 0)
    }

    /// Most that waited as the queue counts it, with its headers.
    #[must_use]
    pub fn max_counted(&self) -> Amount {
        most_counted(&self.bins, self.header_bytes)
    }

    /// Part of the limit that so many packets and IP bytes fill; `None` without one.
    #[must_use]
    pub fn occupancy(&self, packets: f64, bytes: f64) -> Option<f64> {
        let headers = packets * self.header_bytes as f64;
        self.limit?.share(packets, bytes + headers)
    }

    /// How long a bin lasts within the span, in ns: less than `bin_ns` where that begins or ends in it. `bin_ns` is that
    /// of the [hop](super::Hop::bin_ns), in all that is made of bins: with any other, it is of other times.
    #[must_use]
    pub fn lasts_ns(&self, bin: i64, bin_ns: i64) -> i64 {
        let start = bin.saturating_mul(bin_ns);
        let start = self.origin_ns.saturating_add(start);
        let (first, last) = self.span.unwrap_or((start, start));
        let end = start.saturating_add(bin_ns).min(last);
        self.seen_ns(start.max(first).min(end), end)
    }

    /// The standing queue: the mean over time of the fewest packets that waited in each bin, and
    /// of the bytes. What never drained for the length of a bin.
    #[must_use]
    pub fn standing(&self, bin_ns: i64) -> Option<(f64, f64)> {
        let way = self.queue().filter(|way| !way.series_cut);
        let duration_ns = way?.duration_ns()? as f64;
        let mean = |of: fn(&QueueBin) -> u64| {
            let bins = self.bins.iter();
            let sum: f64 = bins
                .map(|bin| of(bin) as f64 * self.lasts_ns(bin.index, bin_ns) as f64)
                .sum();
            sum / duration_ns
        };
        Some((mean(|bin| bin.min.packets), mean(|bin| bin.min.bytes)))
    }

    /// Part of the time in which something waited; `None` without a queue.
    #[must_use]
    pub fn busy_share(&self) -> Option<f64> {
        let busy: i64 = self.queue()?.bins.iter().map(|bin| bin.busy_ns).sum();
        Some(busy as f64 / self.duration_ns()? as f64)
    }

    /// Bytes that left, as a part of what a link of `rate_bps` could have sent; `None` where that is nothing.
    #[must_use]
    pub fn utilisation(&self, rate_bps: f64) -> Option<f64> {
        let bytes: u64 = self.bins.iter().map(|bin| bin.left.bytes).sum();
        metric::utilisation(metric::rate_bps(bytes, self.duration_ns()?)?, rate_bps)
    }

    /// Whether the link cannot have had this rate all the time: more left within a second than the rate allows, or
    /// something waited for longer than sending what left takes. Where packets are small only the former counts, as the
    /// link's own headers add to each.
    #[must_use]
    pub fn contradicts(&self, rate_bps: f64, bin_ns: i64) -> bool {
        let sum = |of: fn(&Amount) -> u64| self.bins.iter().map(|bin| of(&bin.left)).sum::<u64>();
        let large = sum(|left| left.bytes) >= LARGE_BYTES * sum(|left| left.packets);
        let most_bps = self.delivered_bps_max(bin_ns);
        let used = self.utilisation(rate_bps).filter(|_| large);
        most_bps.is_some_and(|most_bps| most_bps > (1.0 + VARIES) * rate_bps)
            || self
                .busy_share()
                .zip(used)
                .is_some_and(|(busy, used)| busy > used + VARIES)
    }

    /// Whether the link's rate cannot have been the one found all the time.
    #[must_use]
    pub fn rate_varies(&self, bin_ns: i64) -> bool {
        self.rate_bps
            .is_some_and(|rate_bps| self.contradicts(rate_bps, bin_ns))
    }

    /// The rate that utilisation is relative to: the capacity `given` (of the way forward), else the rate found, if it
    /// was constant.
    #[must_use]
    pub fn link_bps(&self, given_bps: Option<f64>, bin_ns: i64) -> Option<f64> {
        let found_bps = || self.rate_bps.filter(|_| !self.rate_varies(bin_ns));
        given_bps
            .filter(|_| self.heading == Heading::Forward)
            .or_else(found_bps)
    }

    /// The highest rate that was sustained for a second, in IP bits per second: of any second (as
    /// many bins as make one) the bytes that left, and of all seconds the most. `None` where the
    /// way is no second long.
    #[must_use]
    pub fn delivered_bps_max(&self, bin_ns: i64) -> Option<f64> {
        let bins = SECOND_NS.div_euclid(bin_ns.max(1)).max(1);
        let window_ns = bins.checked_mul(bin_ns)?;
        if self.series_cut || self.duration_ns()? < window_ns {
            return None;
        }
        let (mut first, mut bytes, mut most) = (0, 0, 0);
        for bin in &self.bins {
            bytes += bin.left.bytes;
            while self.bins[first].index <= bin.index - bins {
                bytes -= self.bins[first].left.bytes;
                first += 1;
            }
            most = most.max(bytes);
        }
        metric::rate_bps(most, window_ns)
    }

    /// Whether nobody knows if the queue was full when packets were dropped: some waited, and its limit is not known, nor
    /// do the drops show what they were without it; there are several queues, or more waited than is known.
    #[must_use]
    pub fn fullness_is_open(&self) -> bool {
        let is_shown = self.drops.len() >= limit::DROPS_MIN
            && !self.several_queues
            && (self.early_is_shown || losses::pattern(&self.drops) == Some(DropPattern::Tail));
        let waited = |drop: &DroppedPacket| drop.cause == DropCause::Early;
        (self.is_incomplete || self.limit.is_none() && !is_shown) && self.drops.iter().any(waited)
    }

    /// What pattern the drops make; `None` without any, and where nobody knows whether the queue was full.
    #[must_use]
    pub fn pattern(&self) -> Option<DropPattern> {
        if self.drops_at_head {
            return Some(DropPattern::Head);
        }
        losses::pattern(&self.drops).filter(|_| !self.fullness_is_open())
    }
}

/// Puts a [`Way`] together, packet by packet in the order of arrival.
#[derive(Debug)]
pub(super) struct WayMaker {
    heading: Heading,
    link: Link,
    /// What the link takes for a byte, in ns; `None` where hardly anything waits for it.
    ns_per_byte: Option<f64>,
    origin_ns: i64,
    sweep: Sweep,
    dispersion: Dispersion,
    found_by_passed: FoundByPassed,
    span: Option<(i64, i64)>,
    unseen: Vec<(i64, i64)>,
    drops: Vec<DroppedPacket>,
    run: u64,
    /// When the latest packet came in that passed.
    passed_at: i64,
    /// When the link has sent all that is known to pass.
    free_at: i64,
    /// Most that waited before the first packet of which nobody knows whether it left, where any was dropped.
    most: Option<Amount>,
    /// Longest delay so far, in ns.
    pub(super) delay_max_ns: i64,
    /// The queue drops what it had taken.
    pub(super) drops_at_head: bool,
    /// Delays are no queue's: nothing waits.
    pub(super) has_jitter: bool,
    /// More waited than is known.
    pub(super) is_incomplete: bool,
    /// One of the captures is of Ethernet.
    pub(super) is_ethernet: bool,
    overtaking: Overtaking,
    /// Nothing waits longer: times that say so are damaged.
    wait_ns_max: i64,
}

impl WayMaker {
    pub(super) fn new(
        heading: Heading,
        (link, rate_bps): (Link, Option<f64>),
        config: &PathConfig,
        origin: i64,
    ) -> Self {
        let mut sweep = Sweep::new(config.bin_ns);
        sweep.begin(origin);
        Self {
            heading,
            link,
            ns_per_byte: rate_bps.map(|bps| sending_ns(1, bps)),
            origin_ns: origin,
            sweep,
            dispersion: Dispersion::default(),
            found_by_passed: FoundByPassed::default(),
            span: None,
            unseen: Vec::new(),
            drops: Vec::new(),
            run: 0,
            passed_at: i64::MIN,
            free_at: i64::MIN,
            most: None,
            delay_max_ns: 0,
            drops_at_head: false,
            has_jitter: false,
            is_incomplete: false,
            is_ethernet: false,
            overtaking: Overtaking::default(),
            wait_ns_max: config.patience_ns.saturating_mul(2),
        }
    }

    pub(super) fn heading(&self) -> Heading {
        self.heading
    }

    /// Of these times nobody knows what waited.
    pub(super) fn leave_out(&mut self, mut unseen: Vec<(i64, i64)>) {
        unseen.sort_unstable();
        unseen.dedup_by(|next, last| {
            let meet = next.0 <= last.1;
            last.1 = if meet { last.1.max(next.1) } else { last.1 };
            meet
        });
        self.sweep.leave_out(&unseen);
        self.unseen = unseen;
    }

    /// A packet passed; it was late behind the link where an `overtaker` of its flow had left before it. Gives when it
    /// left the queue, if there is one.
    pub(super) fn pass(
        &mut self,
        bytes: u32,
        passed: Passed,
        overtaker: Option<Passed>,
    ) -> Option<i64> {
        let Passed { at, left_at, .. } = passed;
        let sent = overtaker.unwrap_or(passed);
        let leaves = if self.has_jitter {
            at
        } else {
            self.link.leaves(at, sent.left_at, sent.left_before)
        };
        let leaves = leaves.min(at.saturating_add(self.wait_ns_max));
        let found = self.sweep.pass(at, leaves, bytes);
        self.found_by_passed.add(found, bytes);
        self.run = 0;
        self.passed_at = at;
        losses::pass(&mut self.drops, at);
        self.cover(at, left_at.max(at));
        self.delay_max_ns = self.delay_max_ns.max(left_at.saturating_sub(at));
        self.dispersion.see(bytes, &passed, &self.link);
        self.free_at = match self.link.tap {
            TapPlace::AfterLink => sent.left_at.saturating_sub(self.link.transit_ns),
            TapPlace::BeforeLink => leaves.saturating_add(self.sending_ns(bytes)),
        };
        (!self.has_jitter).then_some(leaves)
    }

    /// A packet of a flow left at `left_at`, the next one that came in; it `is_overtaken` by one of its flow.
    #[inline]
    pub(super) fn see_order(&mut self, flow: u32, left_at: i64, is_overtaken: bool) {
        self.overtaking.see(flow, left_at, is_overtaken);
    }

    /// Packets were in the queue at `start`, when the capture in which they would have come in began: when each was
    /// stamped where it left, in that order, and its bytes. Gives for how long each waited since then, in ns.
    pub(super) fn hold_from(&mut self, start: i64, held: &[(i64, u32)]) -> Vec<i64> {
        let before = held.iter().map(|&(stamped, _)| Some(stamped));
        let before = [None].into_iter().chain(before);
        let leaves = |(stamped, before)| {
            if self.has_jitter {
                start
            } else {
                self.link.leaves(start, stamped, before)
            }
        };
        let latest = start.saturating_add(self.wait_ns_max);
        let stamped = held.iter().map(|&(stamped, _)| stamped);
        let leaves = stamped.zip(before).map(leaves);
        let leaves: Vec<i64> = leaves.map(|leaves| leaves.min(latest)).collect();
        if let Some(&(last, _)) = held.last() {
            let bytes = held.iter().map(|&(_, bytes)| bytes);
            self.sweep.hold(start, leaves.iter().copied().zip(bytes));
            self.cover(start, last.clamp(start, latest));
        }
        let waited = leaves.iter().map(|leaves| leaves.saturating_sub(start));
        waited.collect()
    }

    /// A packet came in at `at`, and the capture in which it would have left had ended, at `end`. Until then it waits
    /// for those before it, which the link sends at its rate; but not where others were dropped and as much waits as
    /// ever did. Gives for how long it waited, in ns.
    pub(super) fn hold_until(&mut self, end: i64, at: i64, bytes: u32) -> i64 {
        if self.ns_per_byte.is_none() {
            return 0;
        }
        if self.most.is_none() && !self.drops.is_empty() {
            self.most = Some(self.sweep.most());
        }
        let leaves = self.free_at.max(at);
        let until = leaves.min(at.saturating_add(self.wait_ns_max));
        let seen = (until.min(end), until < end);
        if !self.sweep.hold_unseen(at, seen, bytes, self.most) {
            return 0;
        }
        self.free_at = leaves.saturating_add(self.sending_ns(bytes));
        let until = until.min(end);
        self.cover(at, until.max(at));
        until.saturating_sub(at).max(0)
    }

    /// How long the link takes for so many bytes, in ns.
    fn sending_ns(&self, bytes: u32) -> i64 {
        self.ns_per_byte
            .map_or(0, |ns| (f64::from(bytes) * ns).round() as i64)
    }

    /// A packet was dropped: at once, or when it had waited until then.
    pub(super) fn lose(&mut self, mut drop: DroppedPacket, held_until: Option<i64>) {
        let latest = drop.at_ns.saturating_add(self.wait_ns_max);
        let held_until = held_until.map(|until| until.min(latest));
        drop.found = self.sweep.drop(drop.at_ns, held_until, drop.ip_len);
        drop.run_before = self.run;
        self.cover(drop.at_ns, held_until.unwrap_or(drop.at_ns));
        losses::add(&mut self.drops, drop, self.passed_at);
        self.run += 1;
    }

    /// A packet was dropped that nobody asks for: where the queue had taken it, it waited until then.
    pub(super) fn lose_another(&mut self, at: i64, held_until: Option<i64>, bytes: u32) {
        let Some(until) = held_until else { return };
        let until = until.min(at.saturating_add(self.wait_ns_max));
        self.sweep.hold_unseen(at, (until, true), bytes, None);
        self.cover(at, until.max(at));
    }

    /// Whether nearly all drops found the queue full, so that it is drop-tail, whenever they came.
    pub(super) fn is_drop_tail(&self) -> bool {
        let drops = &self.drops;
        let shown = limit::shown_limit(drops, &self.found_by_passed, self.is_ethernet);
        shown.is_some_and(|(limit, header)| limit::nearly_all_found_full(drops, limit, header))
    }

    fn cover(&mut self, from: i64, to: i64) {
        let (first, last) = self.span.unwrap_or((from, to));
        self.span = Some((first.min(from), last.max(to)));
    }

    /// The finished way; what its drops were is added to their flows.
    pub(super) fn finish(self, given: Option<QueueLimit>, flows: &mut [Option<PathFlow>]) -> Way {
        let (bins, series_cut) = self.sweep.finish();
        let duration_ns = self
            .span
            .map_or(0, |(first, last)| last.saturating_sub(first));
        let rate_bps = self.dispersion.served().rate_bps(duration_ns);
        let rate_bps = rate_bps.filter(|_| !self.has_jitter);
        let mut drops = self.drops;
        let several_queues = self.overtaking.is_of_flows();
        let shown = limit::shown_limit(&drops, &self.found_by_passed, self.is_ethernet);
        let shown = shown.filter(|_| !several_queues && !self.is_incomplete);
        let header = given.map_or(0, |given| {
            limit::header_of(given, &drops, &self.found_by_passed, self.is_ethernet)
        });
        let held = most_counted(&bins, header);
        // Where the drops show no limit nobody knows that the queue was full once.
        let limit_refuted = given.filter(|given| {
            let is_exceeded = given.is_contradicted_by(held)
                && !limit::stands(*given, header, &drops, &self.found_by_passed);
            is_exceeded || shown.is_some() && given.is_out_of_reach_of(held)
        });
        let given = given.filter(|_| limit_refuted.is_none());
        let limit_is_estimated = given.is_none();
        let used = given.map(|given| (given, header)).or(shown);
        let (limit, header_bytes) = used.unzip();
        let header_bytes = header_bytes.unwrap_or(0);
        losses::judge(&mut drops, limit, header_bytes);
        let early_is_shown = limit::shows_early(&drops, &self.found_by_passed);
        // What is far below what waited once is not what the queue holds, though hardly any packet passed beyond it.
        let waited = most_counted(&bins, header_bytes);
        let limit = match limit {
            Some(shown) if limit_is_estimated => {
                (!shown.is_contradicted_by(waited)).then(|| shown.with_what_waited(waited))
            }
            given => given,
        };
        let episodes = losses::episodes(&drops, EPISODE_PAUSE_NS);
        for drop in &drops {
            if let Some(Some(flow)) = flows.get_mut(drop.flow as usize) {
                flow.dropped_by_cause[drop.cause as usize] += 1;
            }
        }
        for episode in &episodes {
            for &(flow, _) in &episode.flows {
                if let Some(Some(flow)) = flows.get_mut(flow as usize) {
                    flow.episodes += 1;
                    flow.episodes_shared += u64::from(episode.flows.len() > 1);
                }
            }
        }
        let of_way = flows
            .iter()
            .flatten()
            .filter(|flow| flow.heading == self.heading);
        let waited = of_way.map(|flow| flow.waited_byte_ns);
        Way {
            heading: self.heading,
            link: self.link,
            rate_bps,
            span: self.span,
            unseen: self.unseen,
            origin_ns: self.origin_ns,
            bins,
            limit,
            limit_is_estimated,
            limit_refuted,
            header_bytes: limit.map_or(0, |_| header_bytes),
            drops,
            early_is_shown,
            episodes,
            drops_at_head: self.drops_at_head,
            has_jitter: self.has_jitter,
            waited_byte_ns: waited.sum(),
            several_queues,
            is_incomplete: self.is_incomplete,
            series_cut,
            asked_for: None,
        }
    }
}

/// How packets leave that came in one after the other.
#[derive(Clone, Copy, Debug, Default)]
struct Overtaking {
    packets: u64,
    /// The one that left last so far: when, and its flow.
    last: Option<(i64, u32)>,
    /// Packets that overtook one of another flow, and those that were overtaken by one of their own.
    of_others: u64,
    of_own: u64,
}

impl Overtaking {
    #[inline]
    fn see(&mut self, flow: u32, left_at: i64, is_overtaken: bool) {
        self.packets += 1;
        self.of_own += u64::from(is_overtaken);
        match self.last {
            Some((last_at, last)) if left_at < last_at => self.of_others += u64::from(last != flow),
            _ => self.last = Some((left_at, flow)),
        }
    }

    /// Whether flows overtake each other and keep their own order, so that they wait in several queues.
    fn is_of_flows(&self) -> bool {
        self.of_others >= OVERTAKING_MIN
            && self.of_others >= self.packets / 100
            && self.of_own < self.of_others / 4
    }
}

/// Packets that overtook others from which on they are no chance.
const OVERTAKING_MIN: u64 = 16;

/// Most that waited in some bins, in a queue that adds a `header` to the bytes of each packet.
fn most_counted(bins: &[QueueBin], header: u64) -> Amount {
    let most = bins.iter().map(|bin| bin.max_with_headers(header));
    most.fold(Amount::default(), Amount::at_least)
}

/// Part by which what leaves, or waits, disagrees with a constant rate: on links of one it is a hundredth.
const VARIES: f64 = 0.05;

/// Mean size of packets from which on a link's own headers hardly count, in IP bytes.
const LARGE_BYTES: u64 = 1000;

/// An episode of drops ends when there is none for so long: the usual round-trip time, after
/// which senders have reacted.
pub const EPISODE_PAUSE_NS: i64 = 100_000_000;

#[cfg(test)]
mod tests;
