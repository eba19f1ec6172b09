//! How the clocks of two points went, in words.

use super::engineering;
use crate::path::{ClockChoice, Hop, PathConfig};

/// How the second clock went against the first, and what was done about it.
pub(in crate::report) fn clocks(hop: &Hop, config: &PathConfig) -> String {
    let Some(estimate) = &hop.clock_estimate else {
        return "too few packets to compare them".to_owned();
    };
    let within = estimate.uncertainty_ns.map_or_else(
        || "with no bound, since packets went one way only".to_owned(),
        |ns| format!("within {}", seconds(ns)),
    );
    if hop.clock_is_fixed() {
        let steps = estimate.steps.iter().map(|step| {
            let way = if step.by_ns < 0.0 { "back" } else { "forward" };
            let whose = ["the first", "it"][step.point.min(1)];
            format!("{whose} was set {way} by {}", seconds(step.by_ns.abs()))
        });
        let bends = estimate.pieces.saturating_sub(1 + estimate.steps.len());
        let bends =
            (bends > 0).then(|| format!("bent {bends} times").replace("bent 1 times", "bent once"));
        let changes: Vec<String> = steps.chain(bends).collect();
        let changes = if changes.is_empty() {
            String::new()
        } else {
            format!(", {}", changes.join(", "))
        };
        let offset_ns = hop.clock.offset_ns;
        let side = if offset_ns < 0.0 { "behind" } else { "ahead" };
        format!(
            "corrected, the second was {} {side} and gained {:.3} ppm{changes}; {within}",
            seconds(offset_ns.abs()),
            hop.clock.drift * 1e6
        )
    } else {
        let why = match config.clock {
            ClockChoice::Keep => "as --clock keep asks for",
            ClockChoice::Auto | ClockChoice::Fix => "as no packet arrived before it left",
        };
        let offset_ns = estimate.clock.offset_ns;
        match estimate.uncertainty_ns {
            // A wide interval around an offset that nobody believes in reads as an error of the clock.
            Some(ns) if offset_ns.abs() <= ns => format!(
                "not corrected, {why} (the second may be {} behind to {} ahead)",
                seconds(ns - offset_ns),
                seconds(offset_ns + ns),
            ),
            _ => format!(
                "not corrected, {why} (offset {}, {within})",
                seconds(offset_ns)
            ),
        }
    }
}

/// So many ns in the unit that suits them.
pub(super) fn seconds(ns: f64) -> String {
    let sign = if ns < 0.0 { "-" } else { "" };
    if ns.abs() < 1.0 {
        return "0 ns".to_owned();
    }
    let text = if ns.abs() < 999.5e9 {
        let (value, units): (f64, &[&str]) = (ns.abs(), &["ns", "µs", "ms", "s"]);
        engineering(value, units)
    } else {
        format!("{:.3} s", ns.abs() / 1e9)
    };
    format!("{sign}{text}")
}
