//! What happened between two points, on the terminal.

mod flows;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::clocks::{clocks, seconds};
use super::{
    counted, grouped, is_mostly_silent, overlap, print, rate, repairs, say, say_capture_errors,
    timeless, volume, written_line,
};
use crate::capture::SNAP_LEN_ADVICE;
use crate::path::{
    CaptureGap, DROPS_MIN, DropCause, DropPattern, FlowKey, GapKind, Heading, Hop, PathAnalysis,
    PathConfig, PathFlow, PointFacts, QueueLimit, UNSEEN_MIN, Way,
};

/// Prints what kept captures from being read to their end, and what bears on the numbers.
pub(crate) fn warn(analysis: &PathAnalysis, config: &PathConfig, quiet: bool) {
    for (number, hop) in analysis.hops.iter().enumerate() {
        // The point between two hops is of both.
        let facts = &hop.facts[usize::from(number > 0)..];
        for facts in facts {
            say_capture_errors(&facts.errors, &[], &facts.files);
        }
        for repair in facts.iter().flat_map(|facts| repairs(&facts.files)) {
            say(&format!("warning: {repair}"));
        }
        if !quiet {
            for warning in warnings(hop, config) {
                let [from, to] = &hop.points;
                say(&format!("warning: {from} to {to}: {warning}"));
            }
        }
    }
}

/// Prints a paragraph for each hop, and its largest flows; whether that could be done.
#[must_use]
pub(crate) fn summarise(analysis: &PathAnalysis, config: &PathConfig, written: &[PathBuf]) -> bool {
    let mut text = String::new();
    for hop in &analysis.hops {
        text.push_str(&summary(hop, config));
    }
    text.push_str(&written_line(written));
    print(&text)
}

/// What bears on the numbers of a hop.
pub(in crate::report) fn warnings(hop: &Hop, config: &PathConfig) -> Vec<String> {
    let sum = |of: fn(&PathFlow) -> u64| hop.flows.iter().flatten().map(of).sum::<u64>();
    let uncertain = sum(|flow| flow.uncertain_packets);
    let merged: u64 = hop.facts.iter().map(|facts| facts.super_segments).sum();
    let whole: u64 = hop.facts.iter().map(|facts| facts.whole_frames).sum();
    let copies: u64 = hop.facts.iter().map(|facts| facts.copies).sum();
    let out_of_order: u64 = hop.facts.iter().map(|facts| facts.out_of_order).sum();
    let untold: u64 = hop.facts.iter().map(|facts| facts.untold).sum();
    let mut ways = hop.ways.iter();
    let varies = ways.any(|way| {
        way.rate_varies(hop.bin_ns) && way.link_bps(hop.capacity_bps, hop.bin_ns).is_none()
    });
    let one_way = hop.clock_is_fixed()
        && hop
            .clock_estimate
            .as_ref()
            .is_some_and(|clock| clock.uncertainty_ns.is_none());
    [
        (
            hop.is_filtered,
            "the filter chooses whose packets, drops and delays are told: the queue and the link are those of all packets that passed".to_owned(),
        ),
        (
            uncertain > 0,
            format!("{} packets have the same headers as others near them, and were matched in order", grouped(uncertain)),
        ),
        (
            whole > 0,
            format!("{} frames hold several packets (offload), and nothing tells how large these are, as the begin of their connections was not captured: packets, drops and the link are counted in frames; switch offload off (`ethtool -K IF tso off gso off gro off`)", grouped(whole)),
        ),
        (
            merged > 0,
            format!("{} frames hold several packets (offload), and were taken apart by size; their times are those of whole frames", grouped(merged)),
        ),
        (
            copies > 0,
            format!("{} packets were left out, as each is in a capture more than once, as in those of all interfaces (`tcpdump -i any`): the first copy counts", grouped(copies)),
        ),
        (
            out_of_order > 0,
            format!("{} packets have times far earlier than those recorded before them: queue lengths and causes of drops are unreliable, unless `reordercap` puts the captures in order first", grouped(out_of_order)),
        ),
        (
            untold > 0,
            format!("{} packets were left out, as the snap length cut their headers so short that they all look alike: {SNAP_LEN_ADVICE}", grouped(untold)),
        ),
        (
            one_way,
            "the clocks disagree, and packets went one way only: delays are those above the smallest".to_owned(),
        ),
        (
            hop.negative_delays().is_some() && !hop.clock_is_fixed(),
            format!("packets left up to {} before they came in, by the clocks: --clock fix corrects these", seconds(-(hop.negative_delays().unwrap_or(0) as f64))),
        ),
        (
            varies,
            "what left and what waited do not go with one rate of the link: the estimate is the middle one, and there is no utilisation unless --capacity is given".to_owned(),
        ),
        (
            hop.given_up > 0,
            format!("{} packets were given up early, because too many waited to be found", grouped(hop.given_up)),
        ),
        (
            hop.matched_without().next().is_some(),
            format!("packets were {}", hop.matched_without().collect::<Vec<_>>().join(", ").replace('_', " ")),
        ),
    ]
    .into_iter()
    .filter_map(|(holds, text)| holds.then_some(text))
    .chain(hop.facts.iter().filter_map(|facts| overlap(&facts.files)))
    .chain(hop.points.iter().zip(&hop.facts).filter_map(untimed))
    .chain((0..hop.facts.len()).filter_map(|point| gaps(hop, point)))
    .chain([Heading::Forward, Heading::Reverse].into_iter().filter_map(|way| appeared(hop, way)))
    .chain(aside(hop))
    .chain(unseen(hop))
    .chain(flow_unseen(hop))
    .chain(merged_datagrams(hop))
    .chain(strangers(hop, config))
    .chain(apart(hop))
    .chain(cut_series(hop))
    .chain(same(hop))
    .chain(turned_round(hop))
    .chain(contradicted(hop))
    .collect()
}

/// Whether the records of a point say times.
fn untimed((name, facts): (&String, &PointFacts)) -> Option<String> {
    let (start, end) = facts.span?;
    let said = timeless(end.saturating_sub(start), facts.records, &facts.files)?;
    Some(format!("{name}: {said}"))
}

/// What left without having come in: who may have missed it may have missed what left where it was, too.
fn appeared(hop: &Hop, way: Heading) -> Option<String> {
    let of_way = |flow: &&PathFlow| flow.heading == way;
    let flows = hop.flows.iter().flatten().filter(of_way);
    let count: u64 = flows.map(|flow| flow.appeared_packets).sum();
    let arrived = hop.ways[way as usize].arrived().packets;
    let whose = ["first", "second"][way as usize];
    let drops = !hop.ways[way.opposite() as usize].drops.is_empty();
    let also = if drops {
        format!(
            " (then what it missed on the way {} counts as dropped)",
            way.opposite().name()
        )
    } else {
        String::new()
    };
    (count > 0).then(|| {
        format!(
            "{} packets ({:.2} %) left on the way {} without having come in: the {whose} capture missed them{also}, or something between the points made them",
            grouped(count),
            100.0 * count as f64 / (arrived + count) as f64,
            way.name()
        )
    })
}

/// What did not go on to the other point.
fn aside(hop: &Hop) -> Option<String> {
    let aside = hop.left_aside;
    (aside.packets > 0).then(|| {
        format!(
            "{} packets of {} were left out: who answered them was not beyond the other point (the router itself, say), so that they are no drops",
            grouped(aside.packets),
            counted(aside.flows, "flow")
        )
    })
}

/// What one point alone captured.
fn unseen(hop: &Hop) -> impl Iterator<Item = String> {
    hop.unseen.iter().map(|unseen| {
        let name = unseen.kind.name();
        format!(
            "{}: its {} packets of {name} ({}) were left out, as not one of them is in {}, while others passed: that was captured without {name}, it seems (with another capture filter), and nobody knows how many were dropped, nor how much of the queue they were",
            hop.points[unseen.point],
            grouped(unseen.packets),
            counted(unseen.flows, "flow"),
            hop.points[1 - unseen.point],
        )
    })
}

/// Flows of many packets, none of which is at the other point.
fn flow_unseen(hop: &Hop) -> Option<String> {
    let is_unseen = |flow: &&PathFlow| {
        flow.dropped_packets >= UNSEEN_MIN && flow.passed_packets + flow.appeared_packets == 0
    };
    let flows: Vec<&PathFlow> = hop.flows.iter().flatten().filter(is_unseen).collect();
    let largest = flows
        .iter()
        .max_by_key(|flow| (flow.dropped_packets, flow.key))?;
    let more = match flows.len() {
        1 => String::new(),
        all => format!(" (and of {} more)", counted(all as u64 - 1, "flow")),
    };
    Some(format!(
        "all of the {} packets of {} > {}{more} came in and never left: if the other capture was made with another filter, they count as dropped for that alone; `-f` chooses those that both have",
        grouped(largest.dropped_packets),
        largest.key.src,
        largest.key.dst,
    ))
}

/// Datagrams that are larger at one point than their packets at the other.
fn merged_datagrams(hop: &Hop) -> Option<String> {
    (hop.merged_datagrams > 0).then(|| {
        format!(
            "datagrams of {} of UDP hold several packets in one of the captures (offload), and are not taken apart: they count as dropped, and their packets as having appeared, or the other way round; switch that off where they were captured (`ethtool -K DEVICE tx-udp-segmentation off rx-udp-gro-forwarding off`)",
            counted(hop.merged_datagrams, "flow")
        )
    })
}

/// Whether much of some connections came in and never left, and much left without having come in.
fn strangers(hop: &Hop, config: &PathConfig) -> Option<String> {
    let flows = || hop.flows.iter().flatten();
    let found: u64 = flows().map(|flow| flow.passed_packets).sum();
    let alone: [fn(&PathFlow) -> u64; 2] =
        [|flow| flow.dropped_packets, |flow| flow.appeared_packets];
    // Of connections that have some of both.
    let of_both = |one: usize| -> u64 {
        let other = flows().filter(|flow| alone[1 - one](flow) > 0);
        let other: HashSet<FlowKey> = other.map(|flow| flow.key).collect();
        let is_of_both = |key: &FlowKey| other.contains(key) || other.contains(&key.reversed());
        let flows = flows().filter(|flow| is_of_both(&flow.key));
        flows.map(alone[one]).sum()
    };
    let alone = [of_both(0), of_both(1)];
    let are_many = alone
        .iter()
        .all(|&alone| alone >= STRANGERS_MIN && alone * 10 > found);
    (are_many && hop.merged_datagrams == 0).then(|| {
        format!(
            "{} packets of the one capture and {} of the other were not found: if they take longer than --patience ({}) from one to the other, or a clock was set by more meanwhile, a longer one finds them",
            grouped(alone[0]),
            grouped(alone[1]),
            seconds(config.patience_ns as f64)
        )
    })
}

/// So many packets of each capture that are not in the other are no copies.
const STRANGERS_MIN: u64 = 100;

/// When a point saw nothing of what the other one saw, and what became of that: the longest time, and how many more.
fn gaps(hop: &Hop, point: usize) -> Option<String> {
    let facts = &hop.facts[point];
    let lasted_ns = |gap: &CaptureGap| gap.span_ns.1.saturating_sub(gap.span_ns.0);
    let longest = facts.gaps.iter().max_by_key(|gap| lasted_ns(gap))?;
    let (start, _) = facts.span?;
    let packets = counted(longest.not_left + longest.not_come_in, "packet");
    let then = match longest.why {
        GapKind::BetweenParts => format!(
            "between two of its files, while {packets} were seen at the other point: they are undecided"
        ),
        GapKind::Missed => format!(
            "though the path was up, as {packets} of that time show that were seen elsewhere: they are undecided"
        ),
        GapKind::Damaged => format!(
            "where its file is damaged, and {packets} of the other point are not found: they are undecided"
        ),
        GapKind::Open => format!(
            "while {packets} came in that never left: they count as dropped, as where the path is down (if capturing stopped meanwhile, nobody knows)"
        ),
    };
    let more = match facts.gaps.len() - 1 {
        0 => String::new(),
        more => format!("; and so on {} more", counted(more as u64, "occasion")),
    };
    Some(format!(
        "the {} capture has nothing for {}, {} after its first packet, {then}{more}",
        ["first", "second"][point],
        seconds(lasted_ns(longest) as f64),
        seconds(longest.span_ns.0.saturating_sub(start) as f64),
    ))
}

/// Whether nearly all of the time passes without a packet, as where parts of captures are of different days.
fn apart(hop: &Hop) -> Option<String> {
    let [mut forward, mut back] = hop.ways.each_ref().map(|way| {
        let bins = way.bins.iter();
        let busy = bins.filter(|bin| bin.arrived.packets + bin.dropped.packets > 0);
        busy.map(|bin| bin.index).peekable()
    });
    let mut busy = std::iter::from_fn(|| match (forward.peek(), back.peek()) {
        (Some(one), Some(other)) if one <= other => forward.next(),
        (Some(_), None) => forward.next(),
        _ => back.next(),
    });
    let first = busy.next()?;
    let (last, pause) = busy.fold((first, 0), |(last, pause), bin| {
        (bin, pause.max(bin - last - 1))
    });
    let pause_ns = pause.saturating_mul(hop.bin_ns);
    let all_ns = (last - first + 1).saturating_mul(hop.bin_ns);
    let remedy = if hop.facts.iter().any(|facts| facts.files.len() > 1) {
        "name the parts of one run alone"
    } else {
        "cut both captures there, such as with editcap -A and -B"
    };
    is_mostly_silent(pause_ns, all_ns).then(|| {
        let seconds = |ns: i64| grouped(ns.unsigned_abs() / 1_000_000_000);
        format!(
            "nothing passed in {} of {} s, and averages over time and charts include that time: {remedy}",
            seconds(pause_ns),
            seconds(all_ns)
        )
    })
}

/// Whether packets waited for so long that not all bins are kept.
fn cut_series(hop: &Hop) -> Option<String> {
    hop.ways.iter().any(|way| way.series_cut).then(|| {
        "something waited for so many bins that only the first are kept (quality `series_cut`): the rest of the time is in the last one, and the standing queue and the highest rate are not known; a clock that jumped makes it seem so, --bin makes bins longer".to_owned()
    })
}

/// Whether all packets have the same times at both points, as where a copy of a capture is given beside it.
fn same(hop: &Hop) -> Option<String> {
    let delays = hop.flows.iter().flatten().map(|flow| &flow.delay);
    let mut delays = delays
        .filter_map(|delay| delay.ns_min().zip(delay.ns_max()))
        .peekable();
    let any = delays.peek().is_some();
    (any && delays.all(|(min, max)| (min, max) == (0, 0))).then(|| {
        "all packets have the same times in both captures: one is a copy of the other, or both were stamped as one; take one from before the queue and the other from after it".to_owned()
    })
}

/// Whether nearly all goes the way back and waits there, as when the captures are given the wrong way round.
fn turned_round(hop: &Hop) -> Option<String> {
    let [forward, back] = &hop.ways;
    let is_back = back.arrived().bytes > MOSTLY * forward.arrived().bytes && has_queue(back);
    (is_back && !has_queue(forward)).then(|| {
        "nearly all goes the way back, and waits there: if the second capture is from before the queue, give it first (--limit and --capacity are of the way forward)".to_owned()
    })
}

/// How many times the other way's bytes are nearly all.
const MOSTLY: u64 = 4;

/// What was given of the queue and the link, and cannot be.
fn contradicted(hop: &Hop) -> Vec<String> {
    let mut said = Vec::new();
    let forward = hop.ways.iter().find(|way| way.heading == Heading::Forward);
    let Some(way) = forward else { return said };
    said.extend(way.limit_refuted.map(|given| refuted_limit(way, given)));
    let capacity = hop.capacity_bps;
    said.extend(capacity.and_then(|bps| contradicted_capacity(hop, way, bps)));
    said
}

fn refuted_limit(way: &Way, given: QueueLimit) -> String {
    let held = way.max();
    let words = |limit: QueueLimit| match limit {
        QueueLimit::Packets(packets) => counted(packets, "packet"),
        QueueLimit::Bytes(bytes) => volume(bytes),
    };
    let waited = match given {
        QueueLimit::Packets(_) => counted(held.packets, "packet"),
        QueueLimit::Bytes(_) => volume(held.bytes),
    };
    let limit = words(given);
    match way.limit {
        Some(shown) if given.is_out_of_reach_of(way.max_counted()) => format!(
            "no more than {waited} waited, and most drops found the queue full at {0}, far below the limit given, {limit}: {0} are taken for it",
            words(shown)
        ),
        Some(shown) => format!(
            "{waited} waited, more than the limit given, {limit}: what the drops show, {}, is taken for it",
            words(shown)
        ),
        None => format!(
            "{waited} waited, more than the limit given, {limit}: it is not used, so that nothing tells how full the queue was"
        ),
    }
}

fn contradicted_capacity(hop: &Hop, way: &Way, given_bps: f64) -> Option<String> {
    let given = rate(given_bps);
    let used = way.utilisation(given_bps)?;
    if used > 1.01 {
        return Some(format!(
            "{used:.2} times as much left as the capacity given, {given}, lets through: figures that rest on the capacity are wrong"
        ));
    }
    if !way.contradicts(given_bps, hop.bin_ns) {
        return None;
    }
    let most_bps = way.delivered_bps_max(hop.bin_ns);
    Some(match most_bps.filter(|&most_bps| most_bps > given_bps) {
        Some(most_bps) => format!(
            "as much as {} left for a second, more than the capacity given, {given}: the link's rate is another one, or not constant",
            rate(most_bps)
        ),
        None => format!(
            "something waited {:.1} % of the time, but what left is {:.1} % of the capacity given, {given}: the link was slower, at least for a while",
            100.0 * way.busy_share()?,
            100.0 * used
        ),
    })
}

fn summary(hop: &Hop, config: &PathConfig) -> String {
    let mut text = format!("{} to {}\n", hop.points[0], hop.points[1]);
    for (way, lines) in told_ways(hop) {
        let _ = writeln!(text, "  {way}: {}", lines.join("\n    "));
    }
    let _ = writeln!(text, "  clocks: {}", clocks(hop, config));
    text.push_str(&flows::table(hop, config));
    text
}

/// The ways that packets went, and what is said of each, in lines.
pub(in crate::report) fn told_ways(hop: &Hop) -> impl Iterator<Item = (&'static str, Vec<String>)> {
    let ways = hop.ways.iter().filter(|way| way.arrived().packets > 0);
    ways.map(move |way| (way.heading.name(), way_lines(hop, way)))
}

fn way_lines(hop: &Hop, way: &Way) -> Vec<String> {
    let mut lines = vec![drops_line(way)];
    lines.extend(jitter_line(way));
    if has_queue(way) {
        lines.extend(queue_line(hop, way));
        lines.extend(link_line(hop, way));
    }
    lines
}

fn drops_line(way: &Way) -> String {
    let arrived = way.arrived();
    let drops = way.drops.len() as u64;
    let mut text = format!(
        "{} packets, {} dropped",
        grouped(arrived.packets),
        grouped(drops)
    );
    if drops > 0 {
        let share = 100.0 * drops as f64 / arrived.packets as f64;
        let _ = write!(text, " ({share:.2} %): {}", causes(way));
    }
    text
}

/// Why nothing is told of a queue.
fn jitter_line(way: &Way) -> Option<String> {
    way.has_jitter.then(|| {
        "no queue: what packets take does not go with what is ahead of them, as where each is delayed by chance (jitter)"
            .to_owned()
    })
}

fn queue_line(hop: &Hop, way: &Way) -> Option<String> {
    let (mean, bytes, busy) = (way.packets_mean()?, way.bytes_mean()?, way.busy_share()?);
    let mut text = format!(
        "queue: mean {mean:.2} packets ({}{}), largest {}, something waited {:.1} % of the time",
        volume(bytes.round() as u64),
        occupancy(way, mean, bytes),
        grouped(way.max().packets),
        100.0 * busy
    );
    if let Some((standing, _)) = way.standing(hop.bin_ns) {
        let _ = write!(text, ", standing {standing:.2}");
    }
    Some(text)
}

fn link_line(hop: &Hop, way: &Way) -> Option<String> {
    let given = hop.capacity_bps.filter(|_| way.heading == Heading::Forward);
    let bps = given.or(way.rate_bps)?;
    let basis = if given.is_some() {
        "given"
    } else {
        "estimated"
    };
    let mut text = format!("link: {} ({basis})", rate(bps));
    let constant = way.link_bps(given, hop.bin_ns);
    if let Some(used) = constant.and_then(|bps| way.utilisation(bps)) {
        let _ = write!(text, ", {:.1} % used", 100.0 * used);
    }
    Some(text)
}

/// Where hardly anything ever waited there is no queue to speak of.
fn has_queue(way: &Way) -> bool {
    !way.drops.is_empty() || way.busy_share().is_some_and(|share| share >= 0.01)
}

fn causes(way: &Way) -> String {
    let count = |cause: DropCause| way.drops.iter().filter(|drop| drop.cause == cause).count();
    let early = if way.fullness_is_open() {
        "while packets waited"
    } else {
        "before it was full"
    };
    let words = [
        (DropCause::Full, "at a full queue"),
        (DropCause::Early, early),
        (DropCause::Idle, "with nothing waiting"),
    ];
    let parts: Vec<String> = words
        .into_iter()
        .filter(|&(cause, _)| count(cause) > 0)
        .map(|(cause, words)| format!("{} {words}", grouped(count(cause) as u64)))
        .collect();
    let pattern = match way.pattern() {
        Some(DropPattern::Tail) => "drop-tail",
        Some(DropPattern::Head) => "at the head, as CoDel does",
        Some(DropPattern::Early) => "early drop or loss at random",
        None if way.several_queues => {
            "packets of some flows overtake others: there are several queues, and nobody knows whether theirs was full"
        }
        None if way.is_incomplete => {
            "more waited than both captures show, and nobody knows whether it was full"
        }
        None if way.drops.len() < DROPS_MIN => "too few to tell whether it was full (--limit)",
        None if way.limit_refuted.is_some() => "nothing tells whether it was full",
        None => "they show no limit, and nothing else tells whether it was full (--limit)",
    };
    format!("{}; {pattern}", parts.join(", "))
}

fn occupancy(way: &Way, packets: f64, bytes: f64) -> String {
    let Some(limit) = way.limit else {
        return String::new();
    };
    let share = way.occupancy(packets, bytes).unwrap_or(0.0);
    let limit = match limit {
        QueueLimit::Packets(packets) => format!("{} packets", grouped(packets)),
        QueueLimit::Bytes(bytes) => volume(bytes),
    };
    let basis = if way.limit_is_estimated {
        ", as the drops show"
    } else {
        ""
    };
    format!("; {:.1} % of {limit}{basis}", 100.0 * share)
}

/// Part of all that waited over time on its way that was the flow's, in bytes; `None` where there is no queue to speak
/// of.
pub(in crate::report) fn queue_share(hop: &Hop, flow: &PathFlow) -> Option<f64> {
    let way = &hop.ways[flow.heading as usize];
    way.share(flow).filter(|_| has_queue(way))
}
