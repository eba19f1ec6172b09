//! The balanced metric of the mobility study.

use super::ratio;

/// Weights of the three parts of [`Balance`]; 1 each by default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BalanceWeights {
    /// Of goodput over capacity.
    pub alpha: f64,
    /// Of smallest over current delay.
    pub beta: f64,
    /// Of the share of the path not wasted on retransmissions.
    pub gamma: f64,
}

impl Default for BalanceWeights {
    fn default() -> Self {
        Self {
            alpha: 1.0,
            beta: 1.0,
            gamma: 1.0,
        }
    }
}

/// The balanced metric and its parts, each at most 1 where the quantities are consistent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Balance {
    /// A: goodput over available capacity.
    pub goodput: f64,
    /// B: smallest over current delay.
    pub delay: f64,
    /// C: `(BDP - R * MSS) / BDP`; negative when more was retransmitted than the path holds.
    pub retransmission: f64,
    /// The weighted mean of the three.
    pub pm: f64,
}

/// `Pm = (alpha A + beta B + gamma C) / (alpha + beta + gamma)` over one interval.
///
/// `A = goodput / capacity`, `B = smallest / current delay`, `C = (BDP - retransmitted) / BDP`
/// with `BDP = capacity * smallest delay`. Rates in bits per second, delays in nanoseconds,
/// `retransmitted_bytes` within the interval. `None` where capacity, a delay or the sum of the
/// weights is not positive, or where one of what goes in or comes out is no finite number.
///
/// Source: definition P1 in METRICS.md.
#[must_use]
pub fn balance(
    goodput_bps: f64,
    capacity_bps: f64,
    delay_ns_min: f64,
    delay_ns: f64,
    retransmitted_bytes: u64,
    weights: BalanceWeights,
) -> Option<Balance> {
    let bdp_bytes = bdp_bytes(capacity_bps, delay_ns_min);
    let weight = weights.alpha + weights.beta + weights.gamma;
    let goodput = ratio(goodput_bps, capacity_bps)?;
    let delay = ratio(delay_ns_min, delay_ns)?;
    let retransmission = ratio(bdp_bytes - retransmitted_bytes as f64, bdp_bytes)?;
    let weighted = weights.alpha * goodput + weights.beta * delay + weights.gamma * retransmission;
    let pm = ratio(weighted, weight)?;
    Some(Balance {
        goodput,
        delay,
        retransmission,
        pm,
    })
}

/// Bandwidth-delay product, in bytes: what a path holds without a queue.
#[must_use]
pub fn bdp_bytes(capacity_bps: f64, delay_ns_min: f64) -> f64 {
    capacity_bps * delay_ns_min / 8e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_link_without_queue_or_loss_scores_one() {
        let balance = balance(10e6, 10e6, 20e6, 20e6, 0, BalanceWeights::default()).unwrap();
        assert_eq!(
            balance,
            Balance {
                goodput: 1.0,
                delay: 1.0,
                retransmission: 1.0,
                pm: 1.0
            }
        );
    }

    #[test]
    fn each_part_counts_a_third() {
        // Half the rate, twice the delay, half the BDP (25 kB at 10 Mbit/s and 20 ms) repeated.
        let balance = balance(5e6, 10e6, 20e6, 40e6, 12_500, BalanceWeights::default()).unwrap();
        assert_eq!(
            (balance.goodput, balance.delay, balance.retransmission),
            (0.5, 0.5, 0.5)
        );
        assert!((balance.pm - 0.5).abs() < 1e-12);
    }

    #[test]
    fn without_capacity_or_delay_it_is_undefined() {
        assert_eq!(
            balance(1.0, 0.0, 1.0, 1.0, 0, BalanceWeights::default()),
            None
        );
        assert_eq!(
            balance(1.0, 1.0, 0.0, 1.0, 0, BalanceWeights::default()),
            None
        );
    }
}
