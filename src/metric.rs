//! What number is that? Pure functions on quantities; each cites its entry in METRICS.md.
//!
//! | function | METRICS.md |
//! | --- | --- |
//! | [`rate_bps`] | G1, G2 |
//! | [`overhead`] | O1 |
//! | [`fness`] | N1 |
//! | [`jain_index`] | N2 |
//! | [`sharing_ratio`], [`sharing_bound`] | N3 |
//! | [`harm()`] | N4 |
//! | [`utilisation`] | N5 |
//! | [`Dispersion`], [`shared_link`] | R8 |
//! | [`balance()`] | P1 |
//! | [`stats`] | S1 to S10 |
//! | [`split`] | T1 to T7 |

mod balance;
mod dispersion;
mod fairness;
mod harm;
pub mod split;
pub mod stats;

pub use balance::{Balance, BalanceWeights, balance, bdp_bytes};
pub use dispersion::{
    Dispersion, Link, STEPS_MIN, Step, carries, full_bytes, is_interleaved, shared_link, tick_ns,
};
pub use fairness::{fness, jain_index, sharing_bound, sharing_ratio};
pub use harm::{Better, harm};

/// A rate in bits per second: `8 * bytes` over an interval.
///
/// `None` where the interval is empty or negative, never 0 or infinite. With acked bytes and the
/// time from the first data segment to the first ACK that covers the last of them it is the
/// goodput, with IP bytes over the same interval the throughput.
///
/// Source: definitions G1 and G2 in METRICS.md.
#[must_use]
pub fn rate_bps(bytes: u64, interval_ns: i64) -> Option<f64> {
    (interval_ns > 0).then(|| 8e9 * bytes as f64 / interval_ns as f64)
}

/// Overhead as a ratio: `ip_bytes / acked_bytes - 1`, throughput over goodput.
///
/// `None` where nothing was acked. Below 0 where the capture missed a part of the flow. About 0.027 for a clean
/// download of 1500-byte packets.
///
/// Source: definition O1 in METRICS.md.
#[must_use]
pub fn overhead(ip_bytes: u64, acked_bytes: u64) -> Option<f64> {
    (acked_bytes > 0).then(|| ip_bytes as f64 / acked_bytes as f64 - 1.0)
}

/// Share of the capacity that goodput takes: `goodput / capacity`.
///
/// `None` where the capacity is not positive, or one of both is no finite number.
///
/// Source: definition N5 in METRICS.md.
#[must_use]
pub fn utilisation(goodput_bps: f64, capacity_bps: f64) -> Option<f64> {
    ratio(goodput_bps, capacity_bps)
}

/// A number, if it is one: no metric is NaN or infinite.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// `part / whole`; `None` where the whole is not positive, or one of both or of them is no finite number.
fn ratio(part: f64, whole: f64) -> Option<f64> {
    finite(whole).filter(|&whole| whole > 0.0)?;
    finite(part / whole)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_megabyte_in_a_second_is_eight_megabits() {
        assert_eq!(rate_bps(1_000_000, 1_000_000_000), Some(8e6));
        assert_eq!(rate_bps(1, 0), None);
        assert_eq!(rate_bps(1, -5), None);
    }

    #[test]
    fn a_clean_download_of_full_packets_has_2_74_percent_overhead() {
        let overhead = overhead(1500 * 1000, 1460 * 1000).unwrap();
        assert!((overhead - 40.0 / 1460.0).abs() < 1e-12);
        assert_eq!(super::overhead(40, 0), None);
    }

    #[test]
    fn a_share_of_nothing_or_of_no_number_is_none() {
        assert_eq!(utilisation(5e6, 10e6), Some(0.5));
        let infinite = f64::INFINITY;
        for (goodput_bps, capacity_bps) in [
            (1.0, 0.0),
            (1.0, -1.0),
            (f64::NAN, 1.0),
            (infinite, 1.0),
            (1.0, infinite),
        ] {
            assert_eq!(utilisation(goodput_bps, capacity_bps), None);
        }
    }

    fn any_number() -> impl Strategy<Value = f64> {
        let ends = [0.0, 1.0, f64::MAX, f64::MIN_POSITIVE, f64::INFINITY];
        prop_oneof![
            prop::num::f64::ANY,
            -1e3..1e3,
            prop::sample::select(ends.to_vec()),
            Just(f64::NAN)
        ]
    }

    proptest! {
        /// Whatever numbers there are, nothing panics and no metric is NaN or infinite.
        #[test]
        fn metrics_of_any_numbers_are_numbers_or_nothing(
            [a, b, c, d] in prop::array::uniform4(any_number()),
            weights in prop::array::uniform3(any_number()),
            numbers in prop::collection::vec(any_number(), 0..6),
            bytes in any::<[u64; 2]>(),
            interval_ns in any::<i64>(),
        ) {
            let [alpha, beta, gamma] = weights;
            let balance = balance(a, b, c, d, bytes[0], BalanceWeights { alpha, beta, gamma });
            let parts = |of: Balance| [of.goodput, of.delay, of.retransmission, of.pm].map(Some);
            let prediction = split::SplitPrediction::of(a, b, c, d);
            let model = split::PathModel { delay_ns: 1.0, rate_bps: 1.0, loss: 0.0 };
            let mut grid = split::SplitGrid::default();
            grid.insert(model, a);
            let steps: Vec<Step> = (1..100).map(|at| Step { ns: at % 2, bytes: at }).collect();
            let shown = Dispersion {
                data: &steps,
                acks: &steps,
                header_bytes: a,
                packet_bytes: b,
                full_bytes: 0,
                delivered_bps: Some(c),
                clock_step_ns: bytes[1] as u32,
            };
            let found = [
                rate_bps(bytes[0], interval_ns),
                overhead(bytes[0], bytes[1]),
                utilisation(a, b),
                fness(bytes[0], bytes[1]),
                jain_index(numbers.iter().copied()),
                sharing_ratio(&numbers, a),
                harm(a, b, Better::More),
                harm(a, b, Better::Less),
                shown.link_bps(),
                prediction.gain(),
                prediction.split_utilisation(),
                split::prediction_error(a, b),
                grid.throughput_bps(model),
                stats::change_percent(a, b),
                stats::mean(&numbers),
                stats::variance(&numbers),
                stats::quantile(&numbers, a),
            ];
            let mut all = found.into_iter().chain(balance.into_iter().flat_map(parts)).flatten();
            prop_assert!(all.all(f64::is_finite), "{found:?} {balance:?}");

            let rates: Vec<(f64, u64)> = numbers.iter().map(|&bps| (bps, bytes[0])).collect();
            let is_rate = |bps: f64| bps > 0.0 && bps.is_finite();
            let shared = shared_link(&rates).map(|place| rates[place].0);
            prop_assert!(shared.is_none_or(is_rate), "{rates:?} {shared:?}");
            prop_assert_eq!(shared.is_some(), numbers.into_iter().any(is_rate));
        }
    }
}
