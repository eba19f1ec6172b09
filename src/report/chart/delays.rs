//! How the delays of a capture's flows are distributed: round trips, and gaps between packets.

use crate::observe::{DelayBucket, DelayDistribution};

use super::axis::Quantity;
use super::canvas::Canvas;
use super::choice::{NamedFlow, Scene, left_out};
use super::distribution::{Distribution, Distributions};
use super::palette::LINES;

/// RTT samples of each flow. None without any.
pub(super) fn rtt(scene: &Scene<'_>) -> Option<Canvas> {
    draw(
        scene,
        "Distribution of the RTT",
        Quantity::RTT,
        "",
        |flow| Some(flow.flow.summary().rtt),
    )
}

/// Time between consecutive data packets of each flow. None where none was kept.
pub(super) fn gaps(scene: &Scene<'_>) -> Option<Canvas> {
    draw(
        scene,
        "Gaps between data packets",
        Quantity::GAP,
        "as they passed here, retransmissions included",
        |flow| flow.flow.record.gaps().cloned(),
    )
}

/// Delays so few that each is seen: where they are not known to the nanosecond, they stand in the middle of what is
/// known, 0.4 % off at most. More of them are spread over it.
const FEW: u64 = 200;

/// Smallest and largest of some delays in s, and how many there are.
fn steps(delays: &DelayDistribution) -> Vec<(f64, f64, u64)> {
    let few = delays.samples() < FEW;
    let seconds = |ns: i64| ns as f64 / 1e9;
    let step = |bucket: DelayBucket| {
        let (min, max) = (bucket.ns_min, bucket.ns_max);
        let ends = match bucket.count {
            // The smallest and the largest of all are known.
            1 if few && Some(min) == delays.ns_min() => [min; 2],
            1 if few && Some(max) == delays.ns_max() => [max; 2],
            _ if few => [i64::midpoint(min, max); 2],
            _ => [min, max],
        };
        let [low, high] = ends.map(seconds);
        (low, high, bucket.count)
    };
    delays.buckets().map(step).collect()
}

fn draw(
    scene: &Scene<'_>,
    what: &str,
    quantity: Quantity,
    note: &str,
    delays: impl Fn(&NamedFlow<'_>) -> Option<DelayDistribution>,
) -> Option<Canvas> {
    let (shown, _) = scene.largest(scene.lines_max());
    let found: Vec<Distribution> = shown
        .into_iter()
        .zip(LINES)
        .filter_map(|(flow, style)| {
            Some(Distribution {
                name: flow.name.to_string(),
                style,
                steps: steps(&delays(flow)?),
            })
        })
        .filter(|of| of.n() > 0)
        .collect();
    let notes = [
        note.to_owned(),
        left_out(scene.flows.len() - found.len(), scene.small.len()),
    ];
    Distributions {
        title: format!("{what} – {}", scene.title),
        note: super::label::joined(&notes),
        quantity,
        panels: vec![(String::new(), found)],
        histogram: true,
    }
    .draw(scene.style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_delays_stand_where_they_are_and_many_are_spread() {
        let mut delays = DelayDistribution::default();
        for ns in [62_000_000, 67_000_000] {
            delays.add(ns);
        }
        assert_eq!(steps(&delays), [(0.062, 0.062, 1), (0.067, 0.067, 1)]);
        (0..1000).for_each(|_| delays.add(64_500_000));
        let wide = |&(low, high, count): &(f64, f64, u64)| count == 1000 && low < high;
        assert!(steps(&delays).iter().any(wide));
    }
}
