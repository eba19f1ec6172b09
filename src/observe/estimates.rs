//! What one capture tells about the bottleneck, as estimates (METRICS.md R6, R7).

use std::collections::BTreeMap;

use super::series::Delivery;
use crate::time::SECOND_NS;

/// The queueing delay that stayed, in ns: the mean of `rtts_ns_min`, the smallest in each bin with RTT samples
/// ([`Bins::rtts_ns_min`](super::Bins::rtts_ns_min)), less `floor_ns`, the smallest of all. `None` without samples.
#[must_use]
pub fn standing_queue_ns(rtts_ns_min: impl IntoIterator<Item = i64>, floor_ns: i64) -> Option<f64> {
    let (n, sum) = rtts_ns_min
        .into_iter()
        .fold((0_u64, 0.0), |(n, sum), rtt_ns| {
            (n + 1, sum + rtt_ns.saturating_sub(floor_ns) as f64)
        });
    (n > 0).then(|| sum / n as f64)
}

/// The highest rate that was sent and delivered for a whole second, in bits of payload a second:
/// of as many bins of `bin_ns` as make a second, at least one, the bytes newly acknowledged or the
/// bytes seen, whichever is less. ACKs alone would not do: one that ends a repair acknowledges what
/// had arrived long before.
///
/// `series` are the bins, in order, of all flows that share the link
/// ([`Bins::deliveries`](super::Bins::deliveries)), each of `bin_ns`. `None` where they last no such time.
#[must_use]
pub fn delivery_bps_max<I: IntoIterator<Item = Delivery>>(
    series: impl IntoIterator<Item = I>,
    bin_ns: i64,
) -> Option<f64> {
    let mut series = series.into_iter().map(|bins| {
        // What follows the last data, such as a FIN after a pause, makes the transfer no longer.
        let bins = bins.into_iter();
        bins.filter(|bin| bin.acked_bytes > 0 || bin.payload_bytes > 0)
            .map(|bin| (bin.index, (bin.acked_bytes, bin.payload_bytes)))
    });
    let first = series.next()?;
    let Some(second) = series.next() else {
        // One bin lasts no longer than one, and most flows have no more.
        if first.size_hint().1.is_some_and(|bins| bins < 2) {
            return None;
        }
        let bytes: Vec<_> = first.collect();
        return most_delivered(&bytes, bin_ns);
    };
    let mut bytes: BTreeMap<i64, (u64, u64)> = BTreeMap::new();
    for (index, news) in first.chain(second).chain(series.flatten()) {
        let (acked, seen) = bytes.entry(index).or_default();
        *acked = acked.saturating_add(news.0);
        *seen = seen.saturating_add(news.1);
    }
    let bytes: Vec<_> = bytes.into_iter().collect();
    most_delivered(&bytes, bin_ns)
}

/// Of bins in order: their numbers, bytes acknowledged and seen.
fn most_delivered(bytes: &[(i64, (u64, u64))], bin_ns: i64) -> Option<f64> {
    let bin_ns = bin_ns.max(1);
    let window = (SECOND_NS.saturating_add(bin_ns - 1) / bin_ns).max(1);
    let ((first, _), (last, _)) = (bytes.first()?, bytes.last()?);
    if last.saturating_sub(*first) < window {
        return None;
    }
    // The window that ends with each bin: what is older has left it.
    // In twice the bits, as bins may hold any number of bytes.
    let (mut acked, mut seen, mut most) = (0_u128, 0_u128, 0_u128);
    let mut oldest = bytes.iter().peekable();
    for &(index, news) in bytes {
        acked += u128::from(news.0);
        seen += u128::from(news.1);
        let is_old = |&&(old, _): &&(i64, _)| index.saturating_sub(old) >= window;
        while let Some(&(_, gone)) = oldest.next_if(is_old) {
            acked -= u128::from(gone.0);
            seen -= u128::from(gone.1);
        }
        most = most.max(acked.min(seen));
    }
    let seconds = window as f64 * bin_ns as f64 / 1e9;
    (most > 0).then(|| most as f64 * 8.0 / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bin(index: i64, bytes: u64) -> Delivery {
        Delivery {
            index,
            acked_bytes: bytes,
            payload_bytes: bytes,
        }
    }

    #[test]
    fn the_standing_queue_is_what_no_bin_drained_below() {
        // (0 + 30 + 20) / 3.
        let standing = standing_queue_ns([40, 70, 60], 40).unwrap();
        assert!((standing - 50.0 / 3.0).abs() < 1e-9, "{standing}");
        assert_eq!(standing_queue_ns([], 40), None);
    }

    #[test]
    fn an_ack_that_ends_a_repair_is_no_rate() {
        // 1000 bytes every 100 ms; those of 400 ms are acknowledged at once, late.
        let mut bins: Vec<Delivery> = (0..30).map(|index| bin(index, 1000)).collect();
        for bin in &mut bins[15..18] {
            bin.acked_bytes = 0;
        }
        bins[18].acked_bytes = 4000;
        // The second that begins with the burst acknowledges 13,000 bytes, and sends 10,000.
        let bps = delivery_bps_max([bins.clone()], 100_000_000).unwrap();
        assert!((bps - 80_000.0).abs() < 1e-6, "{bps}");
        let other = vec![bin(20, 500)];
        let both = delivery_bps_max([bins.clone(), other], 100_000_000).unwrap();
        assert!((both - 84_000.0).abs() < 1e-6, "{both}");
        assert_eq!(delivery_bps_max([bins[..5].to_vec()], 100_000_000), None);
        // Not even where a bin is longer than a second.
        assert_eq!(delivery_bps_max([bins[..1].to_vec()], 2_000_000_000), None);
        let closed_late = [bin(0, 5000), bin(30, 0)];
        assert_eq!(delivery_bps_max([closed_late], 100_000_000), None);
    }

    #[test]
    fn bins_may_hold_any_number_of_bytes() {
        let bins: Vec<Delivery> = (0..20).map(|index| bin(index, u64::MAX)).collect();
        let bps = delivery_bps_max([bins.clone()], 100_000_000).unwrap();
        assert!((bps / (80.0 * u64::MAX as f64) - 1.0).abs() < 1e-9, "{bps}");
        assert_eq!(
            delivery_bps_max([bins.clone(), bins], 100_000_000),
            Some(bps)
        );
    }
}
