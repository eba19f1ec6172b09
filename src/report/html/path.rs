//! The page of a path: its queues and links, its flows, who lost together, and its charts.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::analyze::FlowNames;
use crate::path::{Episode, Hop, PathAnalysis, PathConfig, PathFlow};

use super::super::chart::Theme;
use super::super::chart::path::PathChart;
use super::super::ends::ends;
use super::super::largest::largest_path_flows;
use super::super::terminal::clocks::clocks;
use super::super::terminal::path::{queue_share, told_ways, warnings};
use super::super::terminal::{before_ends, counted, grouped, percent, repairs, volume};
use super::{
    Block, Cell, Page, PageTable, ROWS_MAX, add_names, columns, delay, left_out, notes_on_captures,
    section, took,
};

/// Flows of an episode that are named.
const LOSERS_MAX: usize = 8;

/// Everything about a path. `made` tells how: names and values, such as version and options.
#[must_use]
pub fn of_path(
    analysis: &PathAnalysis,
    config: &PathConfig,
    charts: &[PathChart],
    theme: Theme,
    made: &[(String, String)],
) -> Page {
    let mut sections = vec![
        section("Queue and link", queues(analysis, config)),
        section("Quality of the captures", vec![quality(analysis, config)]),
    ];
    if !charts.is_empty() {
        let figures = charts
            .iter()
            .map(|chart| Block::figure(&chart.canvas, &chart.stem));
        sections.push(section("Charts", figures.collect()));
    }
    sections.push(section(
        "Flows",
        vec![Block::Table(flow_table(analysis, config))],
    ));
    let episodes = episode_table(analysis, config);
    if !episodes.rows.is_empty() {
        sections.push(section("Episodes of drops", vec![Block::Table(episodes)]));
    }
    sections.push(section("How this was made", vec![how(analysis, made)]));
    Page {
        title: title(analysis),
        subtitle: subtitle(analysis),
        theme,
        sections,
    }
}

fn title(analysis: &PathAnalysis) -> String {
    let ends = analysis.hops.first().zip(analysis.hops.last());
    ends.map_or_else(
        || "Report on a path".to_owned(),
        |(first, last)| {
            let [from, to] = [&first.points[0], &last.points[1]];
            format!("Report on the path from {from} to {to}")
        },
    )
}

fn subtitle(analysis: &PathAnalysis) -> String {
    let ways = analysis.hops.iter().flat_map(|hop| &hop.ways);
    let drops: usize = ways.map(|way| way.drops.len()).sum();
    let first = analysis.hops.iter().take(1).flat_map(|hop| &hop.ways);
    let packets: u64 = first.map(|way| way.arrived().packets).sum();
    format!(
        "{}, {} dropped over {}. A flow is one direction of a connection, its ACKs too. What each number means: METRICS.md of ccanalyze.",
        counted(packets, "packet"),
        grouped(drops as u64),
        counted(analysis.hops.len() as u64, "hop")
    )
}

/// Hops with their numbers.
fn hops(analysis: &PathAnalysis) -> impl Iterator<Item = (u64, &Hop)> + Clone {
    (1..).zip(&analysis.hops)
}

/// What happened on each way of each hop, and how clocks went.
fn queues(analysis: &PathAnalysis, config: &PathConfig) -> Vec<Block> {
    let of_hop = |hop: &Hop| {
        let ways = told_ways(hop);
        let ways = ways.map(|(way, lines)| (way.to_owned(), lines.join("\n")));
        let clocks = ("clocks".to_owned(), clocks(hop, config));
        let [from, to] = &hop.points;
        [
            Block::Text(format!("{from} to {to}")),
            Block::Facts(ways.chain([clocks]).collect()),
        ]
    };
    analysis.hops.iter().flat_map(of_hop).collect()
}

/// What kept captures from being read to their end, and what bears on the numbers.
fn quality(analysis: &PathAnalysis, config: &PathConfig) -> Block {
    let mut notes = Vec::new();
    for hop in &analysis.hops {
        let [from, to] = &hop.points;
        for facts in &hop.facts {
            notes.extend(facts.errors.iter().map(ToString::to_string));
            notes.extend(repairs(&facts.files));
        }
        let said = warnings(hop, config).into_iter();
        notes.extend(said.map(|warning| format!("{from} to {to}: {warning}")));
    }
    // A point between two others is read for both of its hops.
    let mut told = BTreeSet::new();
    notes.retain(|note| told.insert(note.clone()));
    notes_on_captures(notes)
}

/// The largest flows, by hop and way.
fn flow_table(analysis: &PathAnalysis, config: &PathConfig) -> PageTable {
    let (flows, all) = largest_path_flows(&analysis.hops, ROWS_MAX);
    let names = flows.iter().map(|(_, flow)| config.names.of_key(&flow.key));
    let names = names.map(|name| name.as_deref().unwrap_or_default().to_owned());
    let names: Vec<String> = names.collect();
    let rows = flows
        .into_iter()
        .map(|(place, flow)| flow_row(place as u64 + 1, &analysis.hops[place], flow));
    let rows: Vec<Vec<Cell>> = rows.collect();
    let mut table = PageTable {
        caption: left_out("largest", "flows", all, rows.len()),
        columns: columns(&[
            ("hop", true),
            ("sender", false),
            ("receiver", false),
            ("way", false),
            ("packets", true),
            ("IP bytes", true),
            ("dropped", true),
            ("loss", true),
            ("delay min", true),
            ("delay mean", true),
            ("delay 95 %", true),
            ("delay max", true),
            ("queue delay mean", true),
            ("of the queue", true),
            ("episodes", true),
            ("shared", true),
            ("reordered", true),
            ("CE marks", true),
        ]),
        rows,
    };
    add_names(&mut table, 1, names);
    table
}

fn flow_row(number: u64, hop: &Hop, flow: &PathFlow) -> Vec<Cell> {
    let whole = |ns: Option<i64>| Cell::number(ns.map(|ns| ns as f64), delay);
    let delays = &flow.delay;
    let [src, dst] = ends(&flow.key);
    vec![
        Cell::count(number),
        Cell::text(src),
        Cell::text(dst),
        Cell::text(flow.heading.name()),
        Cell::count(flow.packets),
        Cell::number(Some(flow.ip_bytes as f64), |_| volume(flow.ip_bytes)),
        Cell::count(flow.dropped_packets),
        Cell::number(flow.loss_rate(), percent),
        whole(delays.ns_min()),
        Cell::number(delays.ns_mean(), delay),
        whole(delays.ns_quantile(0.95)),
        whole(delays.ns_max()),
        Cell::number(flow.queue_delay.ns_mean(), delay),
        Cell::number(queue_share(hop, flow), percent),
        Cell::count(flow.episodes),
        Cell::count(flow.episodes_shared),
        Cell::count(flow.reordered_packets),
        Cell::count(flow.ce_marked_packets),
    ]
}

/// Drops that followed each other, and who lost.
fn episode_table(analysis: &PathAnalysis, config: &PathConfig) -> PageTable {
    let episodes = hops(analysis).flat_map(|(number, hop)| {
        let ways = hop.ways.iter();
        ways.flat_map(move |way| {
            let episodes = way.episodes.iter();
            episodes.map(move |episode| (number, hop, way, episode))
        })
    });
    let all = episodes.clone().count();
    let shown = episodes.take(ROWS_MAX);
    let rows = shown.map(|(number, hop, way, episode)| {
        let begins = episode.start_ns.saturating_sub(hop.origin_ns) as f64;
        let lasts = episode.end_ns.saturating_sub(episode.start_ns) as f64;
        vec![
            Cell::count(number),
            Cell::text(way.heading.name()),
            Cell::number(Some(begins), took),
            Cell::number(Some(lasts), took),
            Cell::count(episode.drops),
            Cell::number(Some(episode.bytes as f64), |_| volume(episode.bytes)),
            Cell::count(episode.run_max),
            Cell::count(episode.found.packets),
            Cell::count(episode.flows.len() as u64),
            Cell::text(losers(hop, episode, &config.names)),
        ]
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    PageTable {
        caption: left_out("first", "episodes", all, rows.len()),
        columns: columns(&[
            ("hop", true),
            ("way", false),
            ("begins", true),
            ("lasts", true),
            ("dropped", true),
            ("IP bytes", true),
            ("most in a row", true),
            ("waiting at the first", true),
            ("flows", true),
            ("who lost", false),
        ]),
        rows,
    }
}

/// `10.0.0.1:80 → 10.0.0.2:5001: 3` for each flow that lost, behind its name where it has one; those that lost most
/// first.
fn losers(hop: &Hop, episode: &Episode, names: &FlowNames) -> String {
    let mut flows = episode.flows.clone();
    flows.sort_by_key(|&(flow, drops)| (Reverse(drops), flow));
    let named = flows.iter().take(LOSERS_MAX).filter_map(|&(flow, drops)| {
        let flow = hop.flow(flow)?;
        let ends = ends(&flow.key).join(" → ");
        let name = before_ends(names.of_key(&flow.key));
        Some(format!("{name}{ends}: {}", grouped(drops)))
    });
    let mut named: Vec<String> = named.collect();
    if let Some(more) = flows.len().checked_sub(LOSERS_MAX).filter(|&more| more > 0) {
        named.push(format!("and {} more", grouped(more as u64)));
    }
    named.join(", ")
}

fn how(analysis: &PathAnalysis, made: &[(String, String)]) -> Block {
    let mut facts: Vec<(String, String)> = made.to_vec();
    let points = analysis.hops.iter().enumerate().flat_map(|(place, hop)| {
        // A point between two others has been told of as the second one of its first hop.
        let points = hop.points.iter().zip(&hop.facts);
        points.skip(usize::from(place > 0))
    });
    for (number, (name, point)) in (1..).zip(points) {
        let files = match point.files.len() {
            0 | 1 => String::new(),
            n => format!("; {n} files"),
        };
        facts.push((
            format!("point {number}"),
            format!(
                "{name}{files}; {}, {} followed",
                counted(point.records, "record"),
                counted(point.packets, "IP packet")
            ),
        ));
    }
    Block::Facts(facts)
}
