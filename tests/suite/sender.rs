//! A sender that decides for itself what to send: SACK-based loss recovery with a fixed window
//! (RFC 6675), lost retransmissions by later deliveries (RFC 8985 section 6.2), a tail loss probe
//! (RFC 8985 section 7), a retransmission timer (RFC 6298).

use super::script::{Fate, Fated, Leg};

/// After a packet was emitted, the next one follows at the earliest, in ns.
pub(crate) const SPACING_NS: i64 = 100_000;

/// Quiet time after which the timer runs out.
const TIMEOUT_NS: i64 = 300_000_000;

/// Packets at the beginning and the end of the flow that nothing happens to.
const SAFE: usize = 12;

/// What happens to packets on one leg, each in thousandths.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Odds {
    pub(crate) lost: u64,
    /// Late by up to [`Plan::late_ns`].
    pub(crate) late: u64,
    /// Copied by the network, right behind.
    pub(crate) twice: u64,
}

/// What a random run plays.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// Segments to send, and how many at most without an answer.
    pub(crate) segments: usize,
    pub(crate) window: usize,
    /// What happens to the data, by leg, and to the ACKs.
    pub(crate) data: [Odds; 2],
    pub(crate) acks: [Odds; 2],
    pub(crate) late_ns: i64,
}

/// Numbers that look random, the same for the same seed (xorshift64*).
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) % end
    }

    pub(crate) fn fates(&mut self, odds: &[Odds; 2], late_ns: i64) -> Vec<Fated> {
        let mut fates = Vec::new();
        for (leg, odds) in [Leg::Up, Leg::Down].into_iter().zip(odds) {
            let mut add = |fate| fates.push(Fated { leg, fate });
            if self.below(1000) < odds.lost {
                add(Fate::Lost);
            }
            if self.below(1000) < odds.late {
                add(Fate::Late(1 + self.below(late_ns as u64) as i64));
            }
            if self.below(1000) < odds.twice {
                add(Fate::Twice(1000 + self.below(20_000) as i64));
            }
        }
        fates
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Unit {
    sacked: bool,
    lost: bool,
    copies: u32,
    /// Number of its last emission, and when that was.
    order: u64,
    at_ns: i64,
}

/// The sender's state.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    pub(crate) plan: Plan,
    pub(crate) dice: Dice,
    segment: i64,
    round_trip_ns: i64,
    units: Vec<Unit>,
    una: usize,
    emissions: u64,
    /// Highest emission known to have arrived.
    delivered: u64,
    heard_at: i64,
    probed: bool,
    pub(crate) last_emission_at: i64,
    /// The last segments are being sent, after a pause.
    ending: bool,
}

impl Sender {
    pub(crate) fn new(plan: Plan, segment: u32, round_trip_ns: i64) -> Self {
        Self {
            plan,
            dice: Dice::new(plan.seed),
            segment: i64::from(segment),
            round_trip_ns,
            units: Vec::new(),
            una: 0,
            emissions: 0,
            delivered: 0,
            heard_at: 0,
            probed: false,
            last_emission_at: i64::MIN / 2,
            ending: false,
        }
    }

    /// An ACK arrived.
    pub(crate) fn on_ack(&mut self, ack: i64, blocks: &[(i64, i64)], now: i64) {
        let una = ((ack / self.segment) as usize).min(self.units.len());
        let news = una > self.una;
        for index in self.una..self.units.len() {
            let (start, end) = (
                index as i64 * self.segment,
                (index as i64 + 1) * self.segment,
            );
            let reported = end <= ack || blocks.iter().any(|&(s, e)| s <= start && end <= e);
            let unit = &mut self.units[index];
            if reported && !unit.sacked {
                unit.sacked = true;
                // An answer within less than a round trip is one to an earlier copy.
                if unit.copies == 1 || now - unit.at_ns >= self.round_trip_ns {
                    self.delivered = self.delivered.max(unit.order);
                }
            }
        }
        self.una = self.una.max(una);
        for unit in &mut self.units[self.una..] {
            unit.lost |= !unit.sacked && unit.order + 3 <= self.delivered;
        }
        if news {
            self.heard_at = now;
            self.probed = false;
        }
    }

    /// What to emit at `now`: first byte, whether it is a repeat, and its fates.
    pub(crate) fn next(&mut self, now: i64) -> Option<(i64, bool, Vec<Fated>)> {
        if now < self.last_emission_at + SPACING_NS {
            return None;
        }
        let quiet_ns = now - self.heard_at.max(self.last_emission_at);
        let outstanding = self.una < self.units.len();
        if outstanding && quiet_ns >= TIMEOUT_NS {
            for unit in &mut self.units[self.una..] {
                unit.lost = !unit.sacked;
            }
        }
        let flight = self.units[self.una..]
            .iter()
            .filter(|unit| !unit.sacked && !unit.lost)
            .count();
        let total = self.plan.segments + if self.ending { SAFE } else { 0 };
        if flight < self.plan.window {
            let lost = (self.una..self.units.len()).find(|&index| self.units[index].lost);
            if let Some(index) = lost {
                return Some(self.emit(index, now));
            }
            if self.units.len() < total {
                self.units.push(Unit::default());
                return Some(self.emit(self.units.len() - 1, now));
            }
        }
        let last = self.units.len().checked_sub(1)?;
        if outstanding && !self.probed && quiet_ns >= 2 * self.round_trip_ns + 2_000_000 {
            self.probed = true;
            if !self.units[last].sacked {
                return Some(self.emit(last, now));
            }
        }
        self.ending |= !outstanding && quiet_ns >= TIMEOUT_NS;
        None
    }

    /// Whether everything was sent and acknowledged.
    pub(crate) fn is_done(&self) -> bool {
        self.ending && self.una == self.plan.segments + SAFE
    }

    fn emit(&mut self, index: usize, now: i64) -> (i64, bool, Vec<Fated>) {
        self.emissions += 1;
        self.last_emission_at = now;
        let unit = &mut self.units[index];
        *unit = Unit {
            sacked: false,
            lost: false,
            copies: unit.copies + 1,
            order: self.emissions,
            at_ns: now,
        };
        let repeat = unit.copies > 1;
        let safe = self.emissions as usize <= SAFE || self.ending;
        let fates = if safe {
            Vec::new()
        } else {
            self.dice.fates(&self.plan.data, self.plan.late_ns)
        };
        (index as i64 * self.segment, repeat, fates)
    }

    pub(crate) fn ack_fates(&mut self) -> Vec<Fated> {
        if self.ending || (self.emissions as usize) <= SAFE {
            return Vec::new();
        }
        let odds = self.plan.acks;
        self.dice.fates(&odds, self.plan.late_ns)
    }
}
