//! The rate of the narrowest link, from how far apart packets come that it sent back to back
//! (METRICS.md R8).
//!
//! A link that sends packets one right after the other puts them its transmission time apart, and
//! they stay so behind it (Jacobson 1988; Paxson 1997). Not all packets are neighbours there: others
//! come in between, or it has nothing to send. So the distances have modes (Dovrolis, Ramanathan,
//! Moore: "Packet-dispersion techniques and a capacity-estimation methodology", 2004), and those of a
//! passive capture show the link in the largest rate at which many of them agree (Katti et al.:
//! "`MultiQ`: automated detection of multiple bottleneck capacities along a path", 2004).

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
        let (data, few) = match (by_data, by_acks) {
            (None, acks) => return acks.map(|acks| link(acks, false)),
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
                    return Some(link(acks, false));
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
        steps.iter().enumerate().map(log).collect()
    }

    /// Logarithm of what the flow was delivered for a second, in bits of IP packets.
    fn delivered_ip_log(&self) -> Option<f64> {
        let headers = (self.packet_bytes + self.header_bytes) / self.packet_bytes;
        Some((self.delivered_bps? * headers).ln())
    }

    fn is_possible(&self, log: f64) -> bool {
        carries(log.exp(), self.delivered_bps)
    }

    /// ACKs that come at a steady pace, whatever they acknowledge, show the link that they came by.
    fn acks_have_own_pace(&self, acks: &Rates) -> bool {
        let paces = self.acks.iter().map(|step| f64::from(step.ns.max(1)).ln());
        let paces = Rates::new(paces.collect(), ACKS_HALF_WIDTH);
        paces.share() > OWN_PACE * acks.share()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn shown<'a>(data: &'a [Step], acks: &'a [Step]) -> Dispersion<'a> {
        Dispersion {
            data,
            acks,
            header_bytes: 52.0,
            packet_bytes: 1448.0,
            delivered_bps: None,
            clock_step_ns: 0,
        }
    }

    /// 1448 bytes of payload are 1500 of IP: 1.2 ms at 10 Mbit/s, and two of them 2.4 ms.
    const PACKET: Step = Step {
        ns: 1_200_000,
        bytes: 1448,
    };
    const PAIR: Step = Step {
        ns: 2_400_000,
        bytes: 2896,
    };

    fn times(step: Step, times: u32) -> Step {
        Step {
            ns: step.ns * times,
            ..step
        }
    }

    fn is_10_mbit(bps: Option<f64>) -> bool {
        bps.is_some_and(|bps| (bps - 10e6).abs() < 1.0)
    }

    #[test]
    fn those_near_each_are_as_many_as_are_within() {
        // Many are the same, and many as far apart as the width.
        let logs: Vec<f64> = (0..500_u32)
            .map(|at| f64::from(at * at % 97) * 0.01)
            .collect();
        let rates = Rates::new(logs, DATA_HALF_WIDTH);
        for half_width in [0.0, 0.01, DATA_HALF_WIDTH, ACKS_HALF_WIDTH, 2.0] {
            let within = rates
                .sorted
                .iter()
                .map(|&log| rates.within(log, half_width));
            assert_eq!(rates.near_each(half_width), within.collect::<Vec<_>>());
        }
    }

    /// Packets so far apart, stamped by a clock that is read in steps of so many ns.
    fn stamped(packet_ns: u32, tick_ns: u32) -> Vec<Step> {
        let stamp = |packet: u32| packet * packet_ns / tick_ns * tick_ns;
        let steps = (0..200).map(|packet| Step {
            ns: stamp(packet + 1) - stamp(packet),
            ..PACKET
        });
        steps.collect()
    }

    #[test]
    fn what_all_steps_are_multiples_of_is_the_tick_where_some_are_none() {
        let tick = |ns: &[u32]| {
            let steps: Vec<Step> = ns.iter().map(|&ns| Step { ns, ..PACKET }).collect();
            tick_ns(steps.iter().copied())
        };
        assert_eq!(tick(&[]), None);
        assert_eq!(tick(&[3_000_000, 40_000_000]), None);
        assert_eq!(tick(&[0, 3_000_000, 40_000_000]), Some(1_000_000));
        assert_eq!(tick(&[3_000_000, 0, 2_500_000]), Some(100_000));
        assert_eq!(
            tick(&[2_000_000_000, 0, 1_000_000_000]),
            Some(1_000_000_000)
        );
        assert_eq!(tick(&[7, 0]), Some(1));
    }

    #[test]
    fn clocks_that_stamp_packets_alike_tell_no_rate_by_their_ticks() {
        let steps = stamped(PACKET.ns, 10_000_000);
        assert!(steps.iter().any(|step| step.ns == 0));
        assert_eq!(shown(&steps, &steps).link_bps(), None);
        // Fine enough, though some packets come at once.
        let mut steps = stamped(PACKET.ns, 100_000);
        steps.extend([Step { ns: 0, ..PACKET }; 10]);
        assert!(is_10_mbit(shown(&steps, &steps).link_bps()));
    }

    /// At 10 Gbit/s packets are 1.2 us apart: 1 or 2 us by a clock that counts these, and never 0.
    #[test]
    fn a_clock_that_stamps_no_two_packets_alike_tells_no_rate_by_its_steps_either() {
        let steps = stamped(1200, 1000);
        assert!(steps.iter().all(|step| step.ns > 0));
        let mut shown = shown(&steps, &steps);
        assert!(shown.link_bps().is_some_and(|bps| bps > 11e9));
        shown.clock_step_ns = 1000;
        assert_eq!(shown.link_bps(), None);
        // At 10 Mbit/s they are 1200 of its steps apart.
        (shown.data, shown.acks) = (&[PACKET; 40], &[PACKET; 40]);
        assert!(is_10_mbit(shown.link_bps()));
    }

    #[test]
    fn bursts_that_are_a_hundred_times_as_quick_tell_no_link() {
        // A shaper of 10 Mbit/s lets some packets through at once: which of the two rates is the narrowest link?
        let burst = |times: u32| {
            let quick = |step: Step| Step {
                ns: step.ns / times,
                ..step
            };
            let data = [[PACKET; 60], [quick(PACKET); 60]].concat();
            let acks = [[PAIR; 60], [quick(PAIR); 60]].concat();
            // Fewer are quick.
            shown(&data[..100], &acks[..100]).link_bps()
        };
        assert_eq!(burst(120), None);
        assert!(burst(80).is_some_and(|bps| (bps / 800e6 - 1.0).abs() < 0.01));
    }

    #[test]
    fn behind_the_link_data_and_acks_show_it() {
        let (data, acks) = ([PACKET; 40], [PAIR; 40]);
        assert!(is_10_mbit(shown(&data, &acks).link_bps()));
        // A packet at a time is acknowledged by some receivers.
        assert!(is_10_mbit(shown(&data, &data).link_bps()));
        let link = shown(&data, &acks).link();
        assert!(link.is_some_and(|link| link.is_upstream));
    }

    #[test]
    fn before_the_link_only_acks_show_it() {
        // Two packets for each ACK, 12 us apart: 1 Gbit/s.
        let burst = Step {
            ns: 12_000,
            bytes: 1448,
        };
        let data: Vec<Step> = (0..80)
            .map(|at| if at % 2 == 0 { burst } else { times(PACKET, 2) })
            .collect();
        assert!(is_10_mbit(shown(&data, &[PAIR; 40]).link_bps()));
        // In bursts of many nearly all data are as quick as the sender's link.
        assert!(is_10_mbit(shown(&[burst; 80], &[PAIR; 40]).link_bps()));
        let link = shown(&data, &[PAIR; 40]).link();
        assert!(link.is_some_and(|link| !link.is_upstream));
    }

    #[test]
    fn packets_of_others_between_make_slower_modes() {
        // Of 5 packets one has no other before it, three have one, and one has two.
        let data: Vec<Step> = (0..100)
            .map(|at| times(PACKET, [1, 2, 2, 2, 3][at % 5]))
            .collect();
        let acks: Vec<Step> = (0..100)
            .map(|at| times(PAIR, [1, 2, 2, 1, 2][at % 5]))
            .collect();
        assert!(is_10_mbit(shown(&data, &acks).link_bps()));
    }

    /// Of 100 ACKs 40 come as the link sends, 30 sooner than that, and 30 later.
    #[test]
    fn acks_that_were_held_do_not_hide_a_busy_link() {
        let held = |at: u32| Step {
            ns: 20_000 + at * 15_000,
            ..PAIR
        };
        let late = |at: u32| Step {
            ns: PAIR.ns * 2 + at * 70_000,
            ..PAIR
        };
        let acks: Vec<Step> = (0..100)
            .map(|at| match at % 10 {
                0..=3 => PAIR,
                4..=6 => held(at),
                _ => late(at),
            })
            .collect();
        let mut shown = shown(&[], &acks);
        assert_eq!(shown.link_bps(), None);
        // 10 Mbit/s of IP is 9.65 Mbit/s of payload: it was delivered all the time.
        shown.delivered_bps = Some(9.65e6);
        assert!(is_10_mbit(shown.link_bps()));
        shown.delivered_bps = Some(7e6);
        assert_eq!(shown.link_bps(), None);
    }

    #[test]
    fn what_was_delivered_is_not_more_than_the_link() {
        let slow = [times(PAIR, 2); 40];
        let mut shown = shown(&[], &slow);
        assert!(shown.link_bps().is_some_and(|bps| (bps - 5e6).abs() < 1.0));
        shown.delivered_bps = Some(9e6);
        assert_eq!(shown.link_bps(), None);
    }

    #[test]
    fn acks_at_a_pace_of_their_own_show_another_link() {
        // Every 2 ms an ACK, for 2, 4 or 6 packets: those between were lost.
        let acks: Vec<Step> = (0..90)
            .map(|at| Step {
                ns: 2_000_000,
                bytes: 1448 * [2, 4, 6][at % 3],
            })
            .collect();
        assert_eq!(shown(&[], &acks).link_bps(), None);
    }

    #[test]
    fn a_quicker_link_before_is_not_taken_for_it_nor_data_alone() {
        // Data at twice the rate of the ACKs, always: interleaved behind the link, or a link
        // before the capture that is twice as quick.
        let data = [Step {
            ns: 600_000,
            bytes: 1448,
        }; 60];
        assert_eq!(shown(&data, &[PAIR; 40]).link_bps(), None);
        assert_eq!(shown(&data, &[]).link_bps(), None);
        // At 9.7 times it is a link before.
        let data = [Step {
            ns: 123_700,
            bytes: 1448,
        }; 60];
        assert!(is_10_mbit(shown(&data, &[PAIR; 40]).link_bps()));
    }

    #[test]
    fn distances_that_do_not_agree_show_nothing() {
        let scattered: Vec<Step> = (0..200_u32)
            .map(|at| Step {
                ns: 1_000_000 + at * at * 1000,
                bytes: 2896,
            })
            .collect();
        assert_eq!(shown(&[], &scattered).link_bps(), None);
        assert_eq!(shown(&[PACKET; 31], &[PAIR; 31]).link_bps(), None);
    }

    #[test]
    fn of_several_flows_the_highest_rate_that_many_bytes_show_is_the_link() {
        // Half of the rate has most bytes, but the whole has a quarter of that.
        let flows = [(5.0e6, 400), (10.0e6, 60), (10.1e6, 70), (19.0e6, 20)];
        assert_eq!(shared_link(&flows), Some(2));
        assert_eq!(shared_link(&[]), None);
        assert_eq!(shared_link(&[(-10.0, 5), (0.0, 5), (f64::NAN, 5)]), None);
        assert_eq!(
            shared_link(&[(-10.0, 500), (5.0e6, 1), (f64::INFINITY, 500)]),
            Some(1)
        );
        assert!(is_interleaved(5.0e6, 10.1e6));
        assert!(is_interleaved(3.3e6, 10.0e6));
        assert!(!is_interleaved(7.0e6, 10.0e6));
        assert!(!is_interleaved(10.0e6, 10.0e6));
    }
}
