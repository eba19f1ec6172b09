//! The flows of a path on the terminal.

use std::slice::from_ref;

use super::super::super::ends::ends;
use super::super::super::largest::largest_path_flows;
use super::super::tables::{add_names, flows_table};
use super::super::{FLOWS_SHOWN, delays, grouped, not_shown, volume};
use super::queue_share;
use crate::path::{Hop, PathConfig, PathFlow};

pub(super) fn table(hop: &Hop, config: &PathConfig) -> String {
    let (flows, all) = largest_path_flows(from_ref(hop), FLOWS_SHOWN);
    let mut header = vec![
        "flow",
        "way",
        "packets",
        "IP bytes",
        "dropped",
        "delay min/mean/max",
        "of the queue",
        "episodes (shared)",
    ];
    let mut rows: Vec<Vec<String>> = flows.iter().map(|(_, flow)| cells(hop, flow)).collect();
    let names = flows.iter().map(|(_, flow)| config.names.of_key(&flow.key));
    let named = names.map(|name| name.as_deref().unwrap_or_default().to_owned());
    let columns = header.len();
    add_names(&mut header, &mut rows, 0, named.collect());
    let texts = 2 + header.len() - columns;
    flows_table(&header, &rows, texts..header.len()) + &not_shown(all)
}

fn cells(hop: &Hop, flow: &PathFlow) -> Vec<String> {
    let dash = || "-".to_owned();
    let delay = match (
        flow.delay.ns_min(),
        flow.delay.ns_mean(),
        flow.delay.ns_max(),
    ) {
        (Some(min), Some(mean), Some(max)) => delays([min as f64, mean, max as f64]),
        _ => dash(),
    };
    let share = queue_share(hop, flow);
    let share = share.map_or_else(dash, |share| format!("{:.1} %", 100.0 * share));
    vec![
        ends(&flow.key).join(" > "),
        flow.heading.name().to_owned(),
        grouped(flow.packets),
        volume(flow.ip_bytes),
        grouped(flow.dropped_packets),
        delay,
        share,
        format!(
            "{} ({})",
            grouped(flow.episodes),
            grouped(flow.episodes_shared)
        ),
    ]
}
