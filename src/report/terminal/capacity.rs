//! What bears on numbers that rest on the capacity given.

use crate::analyze::{CaptureAnalysis, Config, Delivered, Flow, LinkRates};
use crate::metric;
use crate::table::pm_mean;

use super::{counted, delay, rate, volume};

/// What is to be said of the capacity, and of what rests on it.
pub(super) fn warnings(capture: &CaptureAnalysis, config: &Config) -> Vec<String> {
    let Some(capacity) = config.capacity else {
        return Vec::new();
    };
    let goodput_bps = capture
        .delivered_towards_capacity()
        .and_then(Delivered::goodput_bps);
    let fits = match goodput_bps {
        Some(bps) => overfull((bps, capacity.bps)).or_else(|| oversized(capture, capacity.bps)),
        None => unacknowledged(capture),
    };
    fits.into_iter()
        .chain(outrun(capture, config, capacity.bps))
        .collect()
}

/// Whether more came through than there is said to be room for.
pub(super) fn overfull((goodput_bps, capacity_bps): (f64, f64)) -> Option<String> {
    let is_more = goodput_bps > capacity_bps;
    is_more.then(|| format!(
        "its goodput is {}, more than the capacity given, {}: figures that rest on the capacity, such as utilisation, are wrong",
        rate(goodput_bps),
        rate(capacity_bps)
    ))
}

/// Whether the capacity was given for nothing, as of flows that it is for no ACKs were seen.
fn unacknowledged(capture: &CaptureAnalysis) -> Option<String> {
    let flows = capture.towards_capacity();
    let untold = flows.iter().filter(|flow| flow.delivered_bytes().is_none());
    let untold = untold.count();
    if untold == 0 || Delivered::is_told(flows.iter().copied()) {
        return None;
    }
    Some(if untold == flows.len() {
        "without ACKs, --capacity gives no utilisation of all flows together and no balanced metric; that of each flow is of new bytes that were seen"
            .to_owned()
    } else {
        format!(
            "of {untold} of {} no ACKs were seen: --capacity gives no utilisation of all flows together; these have no balanced metric, and their own utilisation is of new bytes that were seen",
            counted(flows.len() as u64, "flow")
        )
    })
}

/// A flow whose handshake took so many times its smallest round-trip time was captured near its receiver.
const NEAR: i64 = 10;

/// Whether in bins of flows so much was repeated that the balanced metric is below anything that it can be taken for:
/// the lowest one is named.
fn outrun(capture: &CaptureAnalysis, config: &Config, capacity_bps: f64) -> Option<String> {
    let flows = capture.flows();
    let below = flows.filter_map(|flow| {
        let pm = pm_mean(&flow, config).filter(|&pm| pm < 0.0)?;
        Some((pm, flow))
    });
    let mut below: Vec<(f64, Flow<'_>)> = below.collect();
    below.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let (pm, flow) = below.first()?;
    let (sender, receiver) = flow.ends();
    let rtt_ns = flow.summary().rtt.ns_min()?;
    let others = match below.len() - 1 {
        0 => String::new(),
        others => format!("; so is that of {}", counted(others as u64, "other flow")),
    };
    let parts = flow.connection().parts();
    let advice = match parts.handshake().round_trip_ns() {
        Some((whole_ns, _, _)) if whole_ns > rtt_ns.saturating_mul(NEAR) => format!(
            "its handshake took {}, so that nearly all of the path is on the way to its sender: capture there",
            delay(whole_ns as f64)
        ),
        _ => "--bin as long as a round trip keeps it above that".to_owned(),
    };
    Some(format!(
        "the balanced metric (`pm`) of {sender} > {receiver} is {pm:.1}, as in bins of {} more was repeated than the path holds, {}, by the capacity and its smallest round-trip time{others}; {advice}",
        delay(config.bin_ns as f64),
        volume(metric::bdp_bytes(capacity_bps, rtt_ns as f64) as u64)
    ))
}

/// So many times the rate that the packets show is no capacity that they could have met.
const OVERSIZED: f64 = 5.0;

/// Whether the capacity given is far above that of the link which the packets show.
fn oversized(capture: &CaptureAnalysis, capacity_bps: f64) -> Option<String> {
    let flows: Vec<Flow<'_>> = capture.flows().collect();
    let links = LinkRates::of(&flows, capture.main_way(), capture.bin_ns);
    let delivered = capture.delivered_most();
    let link_bps = links.shared_bps(delivered.bps_at_least)?;
    (capacity_bps > OVERSIZED * link_bps).then(|| {
        format!(
            "its packets show a link of {}, far below the capacity given, {}: figures that rest on the capacity, such as utilisation, are wrong where that is the narrowest link",
            rate(link_bps),
            rate(capacity_bps)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Analysis;
    use crate::analyze::Capacity;
    use crate::decode::Filter;

    /// A capture analysed in bins of 10 s, with so much capacity.
    fn analysed(name: &str, bps: f64, filter: Option<&str>) -> (Analysis, Config) {
        let config = Config {
            capacity: Some(Capacity { bps }),
            filter: filter.map(|filter| filter.parse::<Filter>().unwrap()),
            bin_ns: 10_000_000_000,
            ..Config::default()
        };
        let analysis = Analysis::of([format!("testdata/captures/{name}")], &config);
        (analysis, config)
    }

    fn said((analysis, config): &(Analysis, Config)) -> Vec<String> {
        warnings(&analysis.captures[0], config)
    }

    #[test]
    fn a_capacity_that_fits_is_not_spoken_of() {
        assert_eq!(said(&analysed("drop-one.pcap", 20e6, None)), [""; 0]);
    }

    #[test]
    fn without_acks_a_capacity_tells_little() {
        let said = said(&analysed("drop-one.pcap", 20e6, Some("src host 10.77.0.1")));
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("without ACKs, --capacity gives no utilisation"));
    }

    #[test]
    fn a_balanced_metric_below_0_is_told_why() {
        let analysed = analysed("ipv6-loss.pcap.zst", 5e6, None);
        let said = said(&analysed);
        assert_eq!(said.len(), 1, "{said:?}");
        let metric = "the balanced metric (`pm`) of [";
        assert!(said[0].starts_with(metric), "{said:?}");
        // As the table of flows has it, and what 5 Mbit/s carry in the smallest round-trip time.
        let (analysis, config) = &analysed;
        let below = analysis.captures[0].flows().find_map(|flow| {
            let pm = pm_mean(&flow, config).filter(|&pm| pm < 0.0)?;
            let handshake = flow.connection().parts().handshake();
            Some((pm, flow.summary().rtt.ns_min()?, handshake.round_trip_ns()?))
        });
        let (pm, rtt_ns, (whole_ns, to_sender_ns, _)) = below.unwrap();
        let held = volume((5e6 / 8.0 * (rtt_ns as f64 / 1e9)) as u64);
        let why = format!(
            "is {pm:.1}, as in bins of 10.0 s more was repeated than the path holds, {held}, by the capacity"
        );
        assert!(said[0].contains(&why), "{said:?}");
        // The server sends, and SYN and SYN-ACK tell how far it is from here.
        assert!(to_sender_ns > 10 * rtt_ns);
        let advice = format!(
            "; its handshake took {}, so that nearly all of the path is on the way to its sender: capture there",
            delay(whole_ns as f64)
        );
        assert!(said[0].ends_with(&advice), "{said:?}");
    }

    /// Here nearly all of the path is between the capture and the receiver.
    #[test]
    fn where_the_path_is_seen_longer_bins_mend_a_balanced_metric_below_0() {
        let said = said(&analysed("two-flows-cubic-bbr.pcap.zst", 5e6, None));
        let below: Vec<&String> = said.iter().filter(|said| said.contains("(`pm`)")).collect();
        assert_eq!(below.len(), 1, "{said:?}");
        assert!(below[0].ends_with("; --bin as long as a round trip keeps it above that"));
    }
}
