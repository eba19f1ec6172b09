//! How the delays of a capture's flows are distributed: round trips, and gaps between packets.

use crate::observe::DelayDistribution;

use super::axis::Quantity;
use super::canvas::Canvas;
use super::choice::{NamedFlow, Scene, left_out};
use super::distribution::{Distribution, Distributions};
use super::palette::{LINES, LINES_MAX};

/// RTT samples of each flow. None without any.
pub(super) fn rtt(scene: &Scene<'_>) -> Option<Canvas> {
    draw(
        scene,
        "Distribution of the RTT",
        Quantity::RTT,
        "",
        |flow| Some(&flow.flow.summary().rtt),
    )
}

/// Time between consecutive data packets of each flow. None where none was kept.
pub(super) fn gaps(scene: &Scene<'_>) -> Option<Canvas> {
    draw(
        scene,
        "Gaps between data packets",
        Quantity::GAP,
        "as they passed here, retransmissions included",
        |flow| flow.flow.record.gaps.as_deref(),
    )
}

fn draw<'a>(
    scene: &Scene<'a>,
    what: &str,
    quantity: Quantity,
    note: &str,
    delays: impl Fn(&NamedFlow<'a>) -> Option<&'a DelayDistribution>,
) -> Option<Canvas> {
    let (shown, _) = scene.largest(LINES_MAX);
    let found: Vec<Distribution> = shown
        .into_iter()
        .zip(LINES)
        .filter_map(|(flow, style)| {
            let steps = delays(flow)?
                .buckets()
                .map(|bucket| {
                    let seconds = |ns: i64| ns as f64 / 1e9;
                    (seconds(bucket.ns_min), seconds(bucket.ns_max), bucket.count)
                })
                .collect();
            Some(Distribution {
                name: flow.name.to_string(),
                style,
                steps,
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
        note: super::plot::joined(&notes),
        quantity,
        panels: vec![(String::new(), found)],
        histogram: true,
    }
    .draw(scene.style)
}
