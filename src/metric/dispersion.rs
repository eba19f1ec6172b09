//! The rate of the narrowest link, from how far apart packets come that it sent back to back
//! (METRICS.md R8).
//!
//! A link that sends packets one right after the other puts them its transmission time apart, and
//! they stay so behind it (Jacobson 1988; Paxson 1997). Not all packets are neighbours there: others
//! come in between, or it has nothing to send. So the distances have modes (Dovrolis, Ramanathan,
//! Moore: "Packet-dispersion techniques and a capacity-estimation methodology", 2004), and those of a
//! passive capture show the link in the largest rate at which many of them agree (Katti et al.:
//! "`MultiQ`: automated detection of multiple bottleneck capacities along a path", 2004).

#[cfg(test)]
mod tests;

use super::finite;

/// From one packet, or one ACK, to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Time between the two, in ns.
    pub ns: u32,
    /// Payload of the second packet, or newly acknowledged by the second ACK, in bytes.
    pub bytes: u32,
}

/// What one flow shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dispersion<'a> {
    /// Between data packets of one size; none where frames are not packets (offload).
    pub data: &'a [Step],
    /// Between ACKs that acknowledge new payload.
    pub acks: &'a [Step],
    /// IP and TCP headers of a packet, in bytes.
    pub header_bytes: f64,
    /// Payload of a full packet, in bytes.
    pub packet_bytes: f64,
    /// Payload from which on a packet is full, in bytes ([`full_bytes`]).
    pub full_bytes: u32,
    /// What the flow was delivered for a second (METRICS.md R7), in bit/s: no link is slower.
    pub delivered_bps: Option<f64>,
    /// Step of the clock, in ns, as far as its capture says; 0 where it does not.
    pub clock_step_ns: u32,
}

/// The narrowest link that a flow passed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Its rate, in bits of IP packets a second.
    pub bps: f64,
    /// Whether data packets came at that rate: they had passed it before they were captured.
    pub is_upstream: bool,
}

impl Dispersion<'_> {
    /// Rate of the link in bits of IP packets a second; `None` where the steps do not show it, or
    /// show several.
    ///
    /// Data packets tell behind the link, their ACKs on both sides of it. Data before the link are
    /// told from those behind it as they come in bursts quicker than ACKs ever do.
    #[must_use]
    pub fn link_bps(&self) -> Option<f64> {
        self.link().and_then(|link| finite(link.bps))
    }

    /// The link, and on which side of it the capture was taken.
    #[must_use]
    pub fn link(&self) -> Option<Link> {
        let data = Rates::new(self.logs(self.data), DATA_HALF_WIDTH);
        let acks = Rates::new(self.logs(self.acks), ACKS_HALF_WIDTH);
        let by_data = data
            .edge(DATA_PART, DATA_ABOVE)
            .filter(|&rate| self.is_possible(rate));
        let by_acks = acks
            .edge(ACKS_PART, ACKS_ABOVE)
            .or_else(|| acks.strongest_near(self.delivered_ip_log()?))
            .filter(|&rate| self.is_possible(rate) && !self.acks_have_own_pace(&acks));
        let link = |log: f64, is_upstream| Link {
            bps: log.exp(),
            is_upstream,
        };
        let by_acks_alone = |acks: f64| (!self.were_held(acks)).then(|| link(acks, false));
        let (data, few) = match (by_data, by_acks) {
            (None, acks) => return by_acks_alone(acks?),
            (Some(data), None) => (data, FEW_ALONE),
            (Some(data), Some(acks)) if data < acks + SAME => return Some(link(data, true)),
            (Some(data), Some(acks)) => {
                let times = (data - acks).exp();
                // ACKs for several packets are seldom all of neighbours; but a quicker link before
                // this one, with this one behind the capture, can be as many times as quick.
                let is_multiple = times < TIMES_MAX
                    && (times - times.round()).abs() < EXACTLY * times
                    && times.round() > 1.0;
                if !is_multiple {
                    return by_acks_alone(acks);
                }
                (data, FEW)
            }
        };
        let agree = acks.within(data, SAME);
        let enough = few.max((acks.sorted.len() as f64 * AGREE_PART) as usize);
        (agree >= enough).then(|| link(data, true))
    }

    /// Logarithms of the rates in bit/s.
    fn logs(&self, steps: &[Step]) -> Vec<f64> {
        let shown_ns = tick_ns(steps.iter().copied()).unwrap_or(0);
        let told_ns = TICKS_MIN.saturating_mul(shown_ns.max(self.clock_step_ns));
        let log = |(index, step): (usize, &Step)| {
            // Quicker than all others, by nobody knows how much: no two agree.
            if step.ns < told_ns {
                return UNTOLD + index as f64;
            }
            let bytes = f64::from(step.bytes);
            let packets = (bytes / self.packet_bytes).max(1.0);
            let bits = 8e9 * (bytes + packets * self.header_bytes);
            (bits / f64::from(step.ns)).ln()
        };
        // Behind a packet that is not full none waited: how far the next one is shows when it was written.
        let is_full = |(_, step): &(usize, &Step)| step.bytes >= self.full_bytes;
        steps.iter().enumerate().filter(is_full).map(log).collect()
    }

    /// Logarithm of what the flow was delivered for a second, in bits of IP packets.
    fn delivered_ip_log(&self) -> Option<f64> {
        let headers = (self.packet_bytes + self.header_bytes) / self.packet_bytes;
        Some((self.delivered_bps? * headers).ln())
    }

    fn is_possible(&self, log: f64) -> bool {
        carries(log.exp(), self.delivered_bps)
    }

    /// ACKs that come a hundred times as quick as they ever did for a second were held, and let go at once.
    fn were_held(&self, log: f64) -> bool {
        let delivered_log = self.delivered_ip_log();
        delivered_log.is_some_and(|delivered_log| log - delivered_log > BURSTS)
    }

    /// ACKs that come at a steady pace, whatever they acknowledge, show the link that they came by.
    fn acks_have_own_pace(&self, acks: &Rates) -> bool {
        let paces = self.acks.iter().map(|step| f64::from(step.ns.max(1)).ln());
        let paces = Rates::new(paces.collect(), ACKS_HALF_WIDTH);
        paces.share() > OWN_PACE * acks.share()
    }
}

/// Payload from which on a packet is full, in bytes, where the receiver takes segments of `mss`, or did not say, and its
/// sender of `own_mss`, as its link may carry no more: whatever options it has, and on any path that carries the smallest
/// MTU of IPv6 (RFC 8200 section 5).
#[must_use]
pub fn full_bytes(mss: Option<u16>, own_mss: Option<u16>) -> u32 {
    let mss = mss.unwrap_or(MSS_UNSAID).min(own_mss.unwrap_or(u16::MAX));
    u32::from(mss).saturating_sub(OPTIONS_BYTES).min(FULL_BYTES)
}

/// The tick of a clock that stamped two packets alike, in ns: the highest power of ten that all steps are multiples of,
/// a second at most. `None` where no two are alike, as where all packets of a simulated link are equally far apart.
#[must_use]
pub fn tick_ns(steps: impl Iterator<Item = Step>) -> Option<u32> {
    let (common, alike) = steps.fold((0, false), |(common, alike), step| {
        (gcd(common, step.ns), alike || step.ns == 0)
    });
    let mut ticks = (0..=9).rev().map(|digits| 10_u32.pow(digits));
    ticks.find(|&tick| alike && common.is_multiple_of(tick))
}

/// The greatest common divisor.
fn gcd(mut one: u32, mut other: u32) -> u32 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// Logarithms of rates, and where many of them agree.
struct Rates {
    sorted: Vec<f64>,
    /// Strongest first: the middle rate and its share of all.
    modes: Vec<(f64, f64)>,
}

impl Rates {
    /// Modes are so wide, from their middle to either side.
    fn new(mut logs: Vec<f64>, half_width: f64) -> Self {
        logs.sort_unstable_by(f64::total_cmp);
        let mut rates = Self {
            sorted: logs,
            modes: Vec::new(),
        };
        if rates.sorted.len() >= STEPS_MIN {
            rates.modes = rates.find_modes(half_width);
        }
        rates
    }

    fn find_modes(&self, half_width: f64) -> Vec<(f64, f64)> {
        let all = self.sorted.len();
        let counts = self.near_each(half_width);
        let is_enough = |count: usize| count >= FEW && count as f64 >= MODE_PART * all as f64;
        let mut order: Vec<usize> = (0..all).filter(|&index| is_enough(counts[index])).collect();
        order.sort_unstable_by_key(|&index| (std::cmp::Reverse(counts[index]), index));
        let mut tops: Vec<f64> = Vec::new();
        let mut modes = Vec::new();
        for index in order {
            let (log, count) = (self.sorted[index], counts[index]);
            // What is beside a top is its slope.
            if tops.iter().any(|top| (top - log).abs() < 4.0 * half_width) {
                continue;
            }
            tops.push(log);
            let first = self
                .sorted
                .partition_point(|&other| other < log - half_width);
            modes.push((self.sorted[first + count / 2], count as f64 / all as f64));
        }
        modes
    }

    /// How many are within `half_width` of each.
    fn near_each(&self, half_width: f64) -> Vec<usize> {
        let at = |place: usize| self.sorted.get(place);
        // They are in order, and so are the limits.
        let (mut below, mut upto) = (0, 0);
        let count = |&log: &f64| {
            while at(below).is_some_and(|&other| other < log - half_width) {
                below += 1;
            }
            while at(upto).is_some_and(|&other| other <= log + half_width) {
                upto += 1;
            }
            upto - below
        };
        self.sorted.iter().map(count).collect()
    }

    /// How many are within `half_width` of `log`.
    fn within(&self, log: f64, half_width: f64) -> usize {
        let below = |limit: f64| self.sorted.partition_point(|&other| other < limit);
        let upto = |limit: f64| self.sorted.partition_point(|&other| other <= limit);
        upto(log + half_width) - below(log - half_width)
    }

    /// Share of the strongest mode; 0 without any.
    fn share(&self) -> f64 {
        self.modes.first().map_or(0.0, |mode| mode.1)
    }

    /// The strongest mode, if it is what was delivered for a second: that link was busy all the time,
    /// and ACKs that came quicker had been held.
    fn strongest_near(&self, log: f64) -> Option<f64> {
        let &(strongest, share) = self.modes.first()?;
        (share >= SHARE_MIN && (strongest - log).abs() <= SAME).then_some(strongest)
    }

    /// The quickest of the modes that have `part` of the strongest one's share, if no more than
    /// `above` of all steps are quicker than it.
    fn edge(&self, part: f64, above: f64) -> Option<f64> {
        let &strongest = self.modes.first()?;
        let is_other = |&&(log, share): &&(f64, f64)| {
            share >= part * strongest.1 && log >= strongest.0 + INTERLEAVED
        };
        let others = self.modes.iter().filter(is_other).copied();
        let (log, share) = others.fold(
            strongest,
            |one, other| {
                if other.0 > one.0 { other } else { one }
            },
        );
        let upto = self.sorted.partition_point(|&other| other <= log + QUICKER);
        let quicker = (self.sorted.len() - upto) as f64 / self.sorted.len() as f64;
        // Others that come in between are not so many. Either its sender holds packets back, and lets a few go at once,
        // or that link does, and a quicker one follows.
        let is_other_link = log - strongest.0 > BURSTS;
        (share >= SHARE_MIN && quicker <= above && !is_other_link).then_some(log)
    }
}

/// Whether a link of `bps` carries what was delivered over it for a second (METRICS.md R7), in bit/s.
#[must_use]
pub fn carries(bps: f64, delivered_bps: Option<f64>) -> bool {
    delivered_bps.is_none_or(|delivered_bps| bps >= DELIVERED_PART * delivered_bps)
}

/// The rate that most bytes of several flows show: each as its rate in bit/s and its bytes. Of
/// rates that many show (a quarter of what shows the most) the highest, as flows that share a link
/// come between each other's packets. Its place among `flows`, of which those whose rate is not positive and finite say
/// nothing.
#[must_use]
pub fn shared_link(flows: &[(f64, u64)]) -> Option<usize> {
    let is_rate = |&place: &usize| finite(flows[place].0).is_some_and(|bps| bps > 0.0);
    let mut order: Vec<usize> = (0..flows.len()).filter(is_rate).collect();
    order.sort_by(|&one, &other| {
        flows[one]
            .0
            .total_cmp(&flows[other].0)
            .then(one.cmp(&other))
    });
    let mut sums = vec![0_u128];
    for &place in &order {
        sums.push(sums[sums.len() - 1] + u128::from(flows[place].1));
    }
    let weight = |bps: f64| {
        let upto = order.partition_point(|&place| flows[place].0 <= bps * SAME.exp());
        let below = order.partition_point(|&place| flows[place].0 < bps / SAME.exp());
        sums[upto] - sums[below]
    };
    let most = order.iter().map(|&place| weight(flows[place].0)).max()?;
    let highest = order
        .iter()
        .rev()
        .find(|&&place| weight(flows[place].0) >= most.div_ceil(4))?;
    let near = order
        .iter()
        .filter(|&&place| flows[place].0 >= flows[*highest].0 / (2.0 * SAME).exp())
        .filter(|&&place| flows[place].0 <= flows[*highest].0);
    near.max_by_key(|&&place| weight(flows[place].0)).copied()
}

/// Whether `bps` is what is seen of a link of `link_bps` when every packet, or every second or third,
/// has another one of the link before it.
#[must_use]
pub fn is_interleaved(bps: f64, link_bps: f64) -> bool {
    let times = link_bps / bps;
    (1.5..TIMES_MAX).contains(&times) && (times - times.round()).abs() < SAME * times
}

/// What a receiver takes that did not say (RFC 9293 section 3.7.1), in bytes.
const MSS_UNSAID: u16 = 536;
/// Payload of a full packet in the smallest MTU of IPv6, with options of 20 bytes.
const FULL_BYTES: u32 = 1200;
/// Options that a TCP header has room for, in bytes.
const OPTIONS_BYTES: u32 = 40;
/// Ticks of the clock from which on a step tells a rate.
const TICKS_MIN: u32 = 4;
/// Logarithm above that of any rate.
const UNTOLD: f64 = 1000.0;
/// Steps from which on they are believed, those of data and those of ACKs each by themselves.
pub const STEPS_MIN: usize = 32;
/// Half the width of a mode of data packets, as a difference of logarithms: 3 %.
const DATA_HALF_WIDTH: f64 = 0.03;
/// The same of ACKs, which hosts send when they get to it.
const ACKS_HALF_WIDTH: f64 = 0.04;
/// Part of all steps, and number of them, that make a mode.
const MODE_PART: f64 = 0.04;
const FEW: usize = 8;
/// Of ACKs that show what data show, where they show nothing else.
const FEW_ALONE: usize = 4;
/// Part of the strongest mode that a quicker one must have.
const DATA_PART: f64 = 0.12;
const ACKS_PART: f64 = 0.25;
/// Share of all steps that a mode must have to be the link.
const SHARE_MIN: f64 = 0.08;
/// A quicker mode is quicker by 40 % at least: a packet among others makes it half as many again.
const INTERLEAVED: f64 = 0.336;
/// Steps quicker by this (35 %) were not made by the link: a burst before it, ACKs that were held.
const QUICKER: f64 = 0.3;
/// The logarithm of a hundred.
const BURSTS: f64 = 4.605;
/// Part of all steps that may be quicker.
const DATA_ABOVE: f64 = 0.1;
const ACKS_ABOVE: f64 = 0.25;
/// Rates are the same within 4 %.
const SAME: f64 = 0.04;
/// A rate is a multiple of another within 1.5 %, and a small one.
const EXACTLY: f64 = 0.015;
const TIMES_MAX: f64 = 4.5;
/// Part of the ACKs that must show what data show.
const AGREE_PART: f64 = 0.05;
/// The delivered rate is of payload, and may be too high before the link.
const DELIVERED_PART: f64 = 0.9;
/// By how much more the pace of ACKs agrees than what they acknowledge in a time.
const OWN_PACE: f64 = 1.1;
