//! The page of a run: its captures and flows.

use std::convert::Infallible;
use std::slice::from_ref;

use crate::analyze::{Analysis, CaptureAnalysis, Config, Flow, FlowNames, Limited, Pair};
use crate::event::Direction;

use super::super::chart::{Canvas, ChartOptions, Theme, attempt, for_each_chart};
use super::super::ends::mark;
use super::super::largest::largest_flows;
use super::super::rivals::{Rivals, largest_pairs};
use super::super::terminal::{
    before_ends, compared, counted, given_up, grouped, is_of_one_way, name_of, nothing_found,
    percent, put_away, rate, repairs, utilisation, volume, warnings,
};
use super::{
    Block, Cell, Page, PageTable, ROWS_MAX, add_names, columns, delay, left_out, notes_on_captures,
    section, took,
};

/// Captures whose charts are on the page.
const CAPTURES_DRAWN: usize = 12;

/// What stands behind a utilisation that is not of all flows.
const ONE_WAY: &str = " one way";

/// Captures whose charts are not folded away.
const CAPTURES_OPEN: usize = 2;

/// Everything about a run. `made` tells how: names and values, such as version and options.
/// Without `options` there are no charts.
#[must_use]
pub fn of_run(
    analysis: &Analysis,
    config: &Config,
    options: Option<&ChartOptions>,
    theme: Theme,
    made: &[(String, String)],
) -> Page {
    let flows: usize = analysis
        .captures
        .iter()
        .map(|capture| capture.totals().flows as usize)
        .sum();
    let title = match analysis.captures.as_slice() {
        [capture] => format!("Report on {}", capture.name),
        captures => format!("Report on {} captures", captures.len()),
    };
    let records: u64 = analysis
        .captures
        .iter()
        .map(|capture| capture.records)
        .sum();
    let mut sections = vec![
        section("Captures", vec![Block::Table(captures(analysis, config))]),
        section("Quality of the captures", vec![quality(analysis, config)]),
    ];
    sections.push(section(
        "Flows",
        vec![Block::Table(flow_table(analysis, config))],
    ));
    let pairs = pair_table(analysis, &config.names);
    if !pairs.rows.is_empty() {
        sections.push(section("Fairness by pair", vec![Block::Table(pairs)]));
    }
    if let Some(options) = options {
        let [run, by_capture] = charts(analysis, options);
        if !run.is_empty() {
            sections.push(section("All flows side by side", run));
        }
        if !by_capture.is_empty() {
            sections.push(section("Charts by capture", by_capture));
        }
    }
    sections.push(section("How this was made", how(analysis, made)));
    Page {
        title,
        subtitle: format!(
            "{}, {}. A flow is one direction of a connection with payload. What each number means: METRICS.md of ccanalyze.",
            counted(records, "packet"),
            counted(flows as u64, "flow")
        ),
        theme,
        sections,
    }
}

fn three(value: f64) -> String {
    format!("{value:.3}")
}

fn captures(analysis: &Analysis, config: &Config) -> PageTable {
    let row = |(index, capture): (usize, &CaptureAnalysis)| {
        let goodput = capture.goodput_bps();
        let utilisation = utilisation(capture, config);
        vec![
            Cell::count(index as u64 + 1),
            Cell::text(&capture.name),
            Cell::count(capture.records),
            Cell::count(capture.tcp_records),
            Cell::count(capture.left_out().map(|(_, n)| n).sum()),
            Cell::number(capture.span.map(|span| span.length_ns() as f64), took),
            Cell::count(capture.connections_total),
            Cell::count(capture.totals().flows),
            Cell::number(goodput, rate),
            Cell::number(utilisation, |share| {
                let note = if is_of_one_way(capture) { ONE_WAY } else { "" };
                percent(share) + note
            }),
            Cell::number(capture.pairs.jain, three),
            Cell::number(capture.pairs.sharing_ratio, three),
        ]
    };
    let rows: Vec<Vec<Cell>> = analysis.captures.iter().enumerate().map(row).collect();
    let ends_in_note = |cell: &Cell| cell.text.ends_with(ONE_WAY);
    let caption = if rows.iter().flatten().any(ends_in_note) {
        "Goodput is of all flows; utilisation “one way” is of those that go the main way alone, over their own time, as the others take nothing of the same capacity (METRICS.md N5)."
    } else {
        ""
    };
    PageTable {
        caption: caption.to_owned(),
        columns: columns(&[
            ("#", true),
            ("capture", false),
            ("packets", true),
            ("TCP", true),
            ("skipped", true),
            ("duration", true),
            ("connections", true),
            ("flows", true),
            ("goodput", true),
            ("utilisation", true),
            ("Jain’s index", true),
            ("sharing ratio", true),
        ]),
        rows,
    }
}

/// What bears on the numbers of each capture.
fn quality(analysis: &Analysis, config: &Config) -> Block {
    let mut notes = Vec::new();
    for capture in &analysis.captures {
        notes.extend(capture.errors.iter().map(ToString::to_string));
        notes.extend(repairs(&capture.files));
        notes.extend(given_up(capture.given_up).map(|text| format!("{}: {text}", capture.name)));
        notes.extend(put_away(capture).map(|text| format!("{}: {text}", capture.name)));
        if capture.totals().flows == 0 && capture.errors.is_empty() {
            let why = nothing_found(from_ref(capture));
            notes.push(format!("{}: no {why}", capture.name));
        }
        let warnings = warnings(capture, config);
        notes.extend(
            warnings
                .iter()
                .map(|warning| format!("{}: {warning}", capture.name)),
        );
    }
    notes_on_captures(notes)
}

/// Charts of the run, and those of each capture.
fn charts(analysis: &Analysis, options: &ChartOptions) -> [Vec<Block>; 2] {
    let mut run = Vec::new();
    let mut by_capture: Vec<(usize, Vec<Block>)> = Vec::new();
    let put = |capture: Option<usize>, stem: &str, canvas: Canvas| {
        let Some(index) = capture else {
            run.push(Block::figure(&canvas, stem));
            return Ok(());
        };
        if by_capture.last().is_none_or(|&(last, _)| last != index) {
            by_capture.push((index, Vec::new()));
        }
        if by_capture.len() <= CAPTURES_DRAWN
            && let Some((_, blocks)) = by_capture.last_mut()
        {
            blocks.push(Block::figure(&canvas, stem));
        }
        Ok::<(), Infallible>(())
    };
    let composed = attempt(|| for_each_chart(analysis, options, put));
    if let Err(said) = composed {
        run.push(Block::Undrawn(format!(
            "Some charts cannot be drawn: {said}"
        )));
    }
    let left_out = by_capture.len().saturating_sub(CAPTURES_DRAWN);
    by_capture.truncate(CAPTURES_DRAWN);
    let folds = by_capture
        .into_iter()
        .enumerate()
        .map(|(place, (index, blocks))| Block::Fold {
            title: format!("{}. {}", index + 1, analysis.captures[index].name),
            open: place < CAPTURES_OPEN,
            blocks,
        });
    let mut by_capture: Vec<Block> = folds.collect();
    if left_out > 0 {
        by_capture.push(Block::Text(format!(
            "Charts of {left_out} more captures are not on this page; --out writes all of them."
        )));
    }
    [run, by_capture]
}

fn flow_table(analysis: &Analysis, config: &Config) -> PageTable {
    let (flows, all) = largest_flows(&analysis.captures, ROWS_MAX);
    let names = flows.iter().map(|(_, flow)| name_of(&config.names, flow));
    let names: Vec<String> = names.collect();
    let mut table = PageTable {
        caption: left_out("largest", "flows", all, flows.len()),
        columns: columns(&[
            ("#", true),
            ("sender", false),
            ("receiver", false),
            ("goodput", true),
            ("utilisation", true),
            ("data", true),
            ("overhead", true),
            ("RTT min", true),
            ("RTT mean", true),
            ("RTT 95 %", true),
            ("RTT max", true),
            ("retransmitted", true),
            ("retransmission rate", true),
            ("unneeded", true),
            ("lost upstream", true),
            ("lost downstream", true),
            ("reordered", true),
            ("completion", true),
            ("limited by", false),
            ("quality", false),
        ]),
        rows: flows
            .iter()
            .map(|(index, flow)| flow_row(*index, flow, config))
            .collect(),
    };
    add_names(&mut table, 1, names);
    table
}

fn flow_row(index: usize, flow: &Flow<'_>, config: &Config) -> Vec<Cell> {
    let (src, dst) = flow.ends();
    let summary = flow.summary();
    let rtt = &summary.rtt;
    let goodput = flow.goodput_bps();
    let capacity = config.capacity.map(|capacity| capacity.bps);
    let quality: Vec<&str> = flow
        .quality()
        .iter()
        .map(|quality| quality.name())
        .collect();
    let figures = flow.figures();
    let incidents = summary.incidents();
    let retransmitted = figures.wire_retransmitted_packets(incidents);
    // Of frames of offload the rate is another: of how many packets these were is not counted apart.
    let has_merged = retransmitted != incidents.retransmitted_packets;
    let rate_of_packets = summary.retransmission_rate().filter(|_| !has_merged);
    let bytes = figures.goodput_bytes();
    let tcp = |cell: Cell| {
        if flow.tcp().is_some() {
            cell
        } else {
            Cell::text("")
        }
    };
    vec![
        Cell::count(index as u64 + 1),
        Cell::text(src.to_string()),
        Cell::text(dst.to_string()),
        Cell::number(goodput, rate),
        Cell::number(goodput.zip(capacity).map(|(bps, all)| bps / all), percent),
        Cell::number(Some(bytes as f64), |bytes| volume(bytes as u64)),
        Cell::number(flow.wire_overhead(), percent),
        Cell::number(rtt.ns_min().map(|ns| ns as f64), delay),
        Cell::number(rtt.ns_mean(), delay),
        Cell::number(rtt.ns_quantile(0.95).map(|ns| ns as f64), delay),
        Cell::number(rtt.ns_max().map(|ns| ns as f64), delay),
        tcp(Cell::count(retransmitted)),
        tcp(Cell::number(rate_of_packets, percent)),
        tcp(Cell::count(incidents.rtx_unneeded)),
        tcp(Cell::count(flow.lost_upstream())),
        tcp(Cell::count(incidents.lost_downstream)),
        tcp(Cell::count(incidents.reordered_packets)),
        Cell::number(flow.completion_ns().map(|ns| ns as f64), took),
        Cell::text(limited_by(flow).unwrap_or_default()),
        Cell::text(quality.join(", ")),
    ]
}

/// What limited a flow, as far as that is seen where it was captured.
fn limited_by(flow: &Flow<'_>) -> Option<String> {
    let limits = limits(flow.limited_by()?);
    let handshake = flow.connection().handshake().round_trip_ns();
    let is_near = handshake.is_some_and(|(all_ns, server_ns, client_ns)| {
        let receiver_ns = match flow.dir() {
            Direction::Forward => server_ns,
            Direction::Reverse => client_ns,
        };
        is_near_receiver(receiver_ns, all_ns)
    });
    Some(if is_near {
        limits + "; its window hardly shows here, near the receiver"
    } else {
        limits
    })
}

/// Whether of a round trip of `all_ns` so little lies behind the capture, `receiver_ns`, that what a sender may have in
/// flight has mostly not come by yet (METRICS.md L1).
fn is_near_receiver(receiver_ns: i64, all_ns: i64) -> bool {
    receiver_ns < all_ns / 4
}

/// What limited a flow, most of its time first, without what took less than half a percent of it.
fn limits(limited: Limited) -> String {
    let mut shares = [
        (limited.network, "network"),
        (limited.receiver, "receiver"),
        (limited.application, "application"),
    ];
    shares.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let shares = shares.iter().filter(|&&(share, _)| share >= 0.005);
    let words = shares.map(|&(share, what)| format!("{what} {:.0} %", 100.0 * share));
    words.collect::<Vec<_>>().join(", ")
}

/// Pairs that compete, as the terminal and charts have them: not those of a download and the control connection beside it.
fn pair_table(analysis: &Analysis, names: &FlowNames) -> PageTable {
    let captures = analysis.captures.iter();
    let captures = captures.map(|capture| (capture, capture.flows().collect()));
    let captures: Vec<(&CaptureAnalysis, Vec<Flow<'_>>)> = captures.collect();
    let competing = captures.iter().enumerate();
    let competing = competing.flat_map(|(index, (capture, flows))| {
        compared(capture, flows).map(move |pair| (index, pair, Rivals::of(index, pair, flows)))
    });
    let competing: Vec<_> = competing.collect();
    let sizes: Vec<Rivals> = competing.iter().map(|&(.., rivals)| rivals).collect();
    let shown = largest_pairs(&sizes, ROWS_MAX).into_iter();
    let row = |(index, pair, _): (usize, &Pair, Rivals)| {
        let flows = &captures[index].1;
        let (a, b) = (flows.get(pair.a)?, flows.get(pair.b)?);
        let name = |flow: &Flow<'_>| {
            let (src, dst) = flow.ends();
            let called = before_ends(names.of(flow));
            format!("{called}{src} → {dst}{}", mark(flow))
        };
        let span = pair.end.since(pair.start) as f64;
        Some(vec![
            Cell::count(index as u64 + 1),
            Cell::text(name(a)),
            Cell::text(name(b)),
            Cell::number(Some(span), took),
            Cell::number(Some(pair.bytes_a as f64), |bytes| volume(bytes as u64)),
            Cell::number(Some(pair.bytes_b as f64), |bytes| volume(bytes as u64)),
            Cell::number(pair.fness, three),
        ])
    };
    let rows: Vec<Vec<Cell>> = shown.filter_map(|place| row(competing[place])).collect();
    let pairs = analysis.captures.iter();
    let all = pairs.map(|capture| capture.pairs.pairs.len()).sum();
    let which = if competing.len() > rows.len() {
        "pairs of the largest flows that compete,"
    } else {
        "that compete"
    };
    PageTable {
        caption: left_out(which, "pairs", all, rows.len()),
        columns: columns(&[
            ("#", true),
            ("A", false),
            ("B", false),
            ("span", true),
            ("payload of A", true),
            ("payload of B", true),
            ("fness (−1: A alone, 1: B alone)", true),
        ]),
        rows,
    }
}

fn how(analysis: &Analysis, made: &[(String, String)]) -> Vec<Block> {
    let mut facts: Vec<(String, String)> = made.to_vec();
    for (index, capture) in analysis.captures.iter().enumerate() {
        let mut skipped: Vec<String> = capture
            .left_out()
            .map(|(skip, n)| format!("{} {}", grouped(n), skip.name()))
            .collect();
        skipped.sort_unstable();
        let files = match capture.files.len() {
            1 => String::new(),
            n => format!("; {n} files"),
        };
        let udp = capture.udp_records();
        let udp = udp.map_or_else(String::new, |n| format!("{} of UDP, ", grouped(n)));
        let skipped = if skipped.is_empty() {
            "nothing skipped".to_owned()
        } else {
            format!("skipped: {}", skipped.join(", "))
        };
        facts.push((
            format!("capture {}", index + 1),
            format!(
                "{}{files}; {} records, {udp}{skipped}",
                capture.name,
                grouped(capture.records)
            ),
        ));
    }
    vec![Block::Facts(facts)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_limited_a_flow_most_comes_first_and_what_hardly_did_is_left_out() {
        let limits = |network, receiver, application| {
            limits(Limited {
                network,
                receiver,
                application,
            })
        };
        assert_eq!(limits(1.0, 0.0, 0.0), "network 100 %");
        assert_eq!(limits(0.246, 0.004, 0.75), "application 75 %, network 25 %");
    }

    /// Of 40 ms of the handshake 2 are to the client and back: of the download that it gets its window hardly shows, of its
    /// request the server's does.
    #[test]
    fn near_the_receiver_its_window_does_not_show() {
        let analysis = Analysis::of(["testdata/captures/drop-one.pcap"], &Config::default());
        let flows = analysis.captures[0].flows();
        let noted: Vec<_> = flows
            .map(|flow| {
                (
                    flow.dir(),
                    limited_by(&flow).unwrap().contains("near the receiver"),
                )
            })
            .collect();
        assert_eq!(
            noted,
            [(Direction::Forward, false), (Direction::Reverse, true)]
        );
        assert!(is_near_receiver(9, 40) && !is_near_receiver(10, 40));
    }
}
