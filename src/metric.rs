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

pub use balance::{Balance, BalanceWeights, balance};
pub use dispersion::{
    Dispersion, Link, STEPS_MIN, Step, carries, is_interleaved, shared_link, tick_ns,
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
    let share = goodput_bps / capacity_bps;
    (capacity_bps > 0.0 && share.is_finite()).then_some(share)
}

#[cfg(test)]
mod tests {
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
        for (goodput_bps, capacity_bps) in [(1.0, 0.0), (f64::NAN, 1.0), (f64::INFINITY, 1.0)] {
            assert_eq!(utilisation(goodput_bps, capacity_bps), None);
        }
    }
}
