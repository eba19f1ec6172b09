//! Flows that compete, two by two, on the terminal.

use std::collections::BTreeSet;

use super::super::ends::mark;
use super::super::rivals::{Rivals, largest_pairs};
use super::tables::{add_names, flows_table};
use super::{counted, duration, grouped, name_of, percent, rate};
use crate::analyze::{Analysis, CaptureAnalysis, Flow, FlowNames, Pair};
use crate::metric;

/// Pairs shown, as many as six flows have; more are a matrix, and a chart shows that better.
const PAIRS_SHOWN: usize = 15;

/// The pairs of flows that compete (METRICS.md N1): those of the largest flows, where they are many.
pub(super) fn pair_table(analysis: &Analysis, names: &FlowNames) -> String {
    let several = analysis.captures.len() > 1;
    let captures = analysis.captures.iter();
    let captures = captures.map(|capture| (capture, capture.flows().collect()));
    let captures: Vec<(&CaptureAnalysis, Vec<Flow<'_>>)> = captures.collect();
    let (mut found, mut momentary) = (Vec::new(), 0);
    for (index, (capture, flows)) in captures.iter().enumerate() {
        for pair in rivals(capture, flows) {
            if pair.is_momentary(flows) {
                momentary += 1;
            } else {
                found.push((index, pair));
            }
        }
    }
    let of_pair = |&(index, pair): &(usize, &Pair)| Rivals::of(index, pair, &captures[index].1);
    let sizes: Vec<Rivals> = found.iter().map(of_pair).collect();
    let (mut rows, mut named) = (Vec::new(), Vec::new());
    for place in largest_pairs(&sizes, PAIRS_SHOWN) {
        let (index, pair) = found[place];
        let flows = &captures[index].1;
        let mut cells = cells(flows, pair);
        if several {
            cells.insert(0, (index + 1).to_string());
        }
        rows.push(cells);
        let [a, b] = [pair.a, pair.b].map(|place| name_of(names, &flows[place]));
        named.push(format!("{a}\n{b}"));
    }
    let all = found.len();
    if rows.is_empty() {
        return not_shown(all, momentary);
    }
    let mut header = vec!["flows together", "rate", "share", "fness", "over"];
    if several {
        header.insert(0, "#");
    }
    let columns = header.len();
    add_names(&mut header, &mut rows, usize::from(several), named);
    let texts = usize::from(several) + 1 + header.len() - columns;
    flows_table(&header, &rows, texts..header.len()) + &not_shown(all, momentary)
}

/// Pairs of which both count beside the largest flow, and that are not of one connection.
fn rivals<'a>(
    capture: &'a CaptureAnalysis,
    flows: &'a [Flow<'a>],
) -> impl Iterator<Item = &'a Pair> {
    let largest = largest_paired(capture, flows);
    capture.pairs.pairs.iter().filter(move |pair| {
        [pair.a, pair.b]
            .iter()
            .all(|&place| flows[place].counts_beside(largest))
            && flows[pair.a].connection_id != flows[pair.b].connection_id
    })
}

/// Those of them that are compared for a round trip or longer, as the table has them.
pub(in crate::report) fn compared<'a>(
    capture: &'a CaptureAnalysis,
    flows: &'a [Flow<'a>],
) -> impl Iterator<Item = &'a Pair> {
    rivals(capture, flows).filter(|pair| !pair.is_momentary(flows))
}

/// Whether flows were compared that may carry one stream together.
pub(super) fn subflows(capture: &CaptureAnalysis, flows: &[Flow<'_>]) -> Option<String> {
    let paired = capture.pairs.paired.iter();
    let paired = paired.filter_map(|&place| Some((place, flows.get(place)?)));
    let of_multipath: BTreeSet<usize> = paired
        .filter(|(_, flow)| {
            let handshake = flow.connection().parts().handshake();
            handshake.agreed(|opening| opening.options.multipath) == Some(true)
        })
        .map(|(place, _)| place)
        .collect();
    let are_subflows = |pair: &&Pair| {
        let both = [pair.a, pair.b];
        both.iter().all(|place| of_multipath.contains(place))
            && flows[pair.a].connection_id != flows[pair.b].connection_id
    };
    let pairs = capture.pairs.pairs.iter().filter(are_subflows).count();
    (pairs > 0).then(|| {
        format!(
            "{} that are compared are of Multipath TCP: where they are subflows of one connection they carry one stream and do not compete, which fness and Jain's index take them to; --filter keeps one of each connection",
            counted(of_multipath.len() as u64, "flow")
        )
    })
}

/// That the table above has not all pairs, where it has not.
fn not_shown(all: usize, momentary: usize) -> String {
    let shown = match all {
        0..=PAIRS_SHOWN => String::new(),
        _ => format!(
            "{PAIRS_SHOWN} pairs of the largest flows, of {} that compete",
            grouped(all as u64)
        ),
    };
    let short = "together for less than a round trip";
    let momentary = grouped(momentary as u64);
    let said = match (shown.is_empty(), momentary.as_str()) {
        (true, "0") => return String::new(),
        (false, "0") => shown,
        (true, "1") => format!("Without a pair that was {short}"),
        (false, "1") => format!("{shown}, without one that was {short}"),
        (true, _) => format!("Without {momentary} pairs that were {short}"),
        (false, _) => format!("{shown}, without {momentary} that were {short}"),
    };
    format!("{said}; the table of pairs of --out has all.\n")
}

/// Payload bytes of the largest flow that is compared.
fn largest_paired(capture: &CaptureAnalysis, flows: &[Flow<'_>]) -> u64 {
    let paired = capture.pairs.paired.iter();
    let bytes = paired.map(|&place| flows[place].payload_bytes());
    bytes.max().unwrap_or(0)
}

fn cells(flows: &[Flow<'_>], pair: &Pair) -> Vec<String> {
    let name = |place: usize| {
        let (src, dst) = flows[place].ends();
        format!("{src} > {dst}{}", mark(&flows[place]))
    };
    let span_ns = pair.end.since(pair.start);
    let rate = |bytes| metric::rate_bps(bytes, span_ns).map_or_else(|| "-".to_owned(), rate);
    let share = |bytes: u64| {
        let all = pair.bytes_a + pair.bytes_b;
        if all == 0 {
            "-".to_owned()
        } else {
            percent(bytes as f64 / all as f64)
        }
    };
    let both = |a: String, b: String| format!("{a}\n{b}");
    vec![
        both(name(pair.a), name(pair.b)),
        both(rate(pair.bytes_a), rate(pair.bytes_b)),
        both(share(pair.bytes_a), share(pair.bytes_b)),
        pair.fness
            .map_or_else(|| "-".to_owned(), |fness| format!("{fness:+.3}")),
        duration(span_ns),
    ]
}
