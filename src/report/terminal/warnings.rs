//! What bears on the numbers of a capture: what it lacks, what was given up, what cannot be believed.

use std::cmp::Reverse;
use std::slice::from_ref;

use crate::analyze::{
    CaptureAnalysis, CaptureQuality, Config, Disorder, Flow, GivenUp, Pair, never_seen_empty,
};
use crate::capture::{
    CaptureError, FileFacts, Overlap, SNAP_LEN_ADVICE, TimeResolution, display_name, spoken_name,
};
use crate::decode::Skip;
use crate::flow::SHARDS;
use crate::observe::Span;
use crate::time::{CaptureTime, SECOND_NS};

use super::super::largest::largest_flows;
use super::{
    FLOWS_SHOWN, alone, capacity, clocks::seconds, counted, delay, duration, grouped, millis,
    nothing, pairs, volume,
};

const DAY_NS: i64 = 86_400 * 1_000_000_000;

/// Days between the first and the last record of a capture beyond which its dates are not believed.
const DAYS_MAX: i64 = 1000;

/// Damaged places of a file that are told one by one.
const GAPS_SHOWN: usize = 5;

/// How many connections were put away by the limits on their number.
pub(in crate::report) fn put_away(capture: &CaptureAnalysis) -> Option<String> {
    let connections = capture.cut_by_limit - capture.given_up.connections;
    (connections > 0).then(|| {
        format!(
            "{} connections were put away because too many were alive at once in one of {SHARDS} parts, each of which holds its share of --max-flows and --max-half-open; what goes on after that counts as a new connection (quality `limit_hit`)",
            grouped(connections)
        )
    })
}

/// What was given up for want of memory.
pub(in crate::report) fn given_up(given_up: GivenUp) -> Option<String> {
    let flows = grouped(given_up.flows_without_series);
    let connections = grouped(given_up.connections);
    let parts = [
        (
            given_up.flows_without_series > 0,
            format!(
                "series and rows of the {flows} smallest flows (quality `series_cut`: what is made of these is null)"
            ),
        ),
        (
            given_up.connections > 0,
            format!("{connections} connections put away (quality `limit_hit`)"),
        ),
        (
            given_up.time_sequences,
            "time sequences of all flows but the largest".to_owned(),
        ),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter_map(|(holds, text)| holds.then_some(text))
        .collect();
    let meaning = if given_up.connections > 0 {
        "what goes on after it was put away counts as a new connection"
    } else {
        "no count depends on it"
    };
    given_up.anything().then(|| {
        format!(
            "the memory limit was reached and this was given up: {}; {meaning}, and --memory raises it",
            parts.join(", ")
        )
    })
}

/// What was passed over in damaged files.
pub(in crate::report) fn repairs(files: &[FileFacts]) -> Vec<String> {
    let mut lines = Vec::new();
    for file in files {
        let name = spoken_name(&file.path).to_string();
        for gap in file.gaps.iter().take(GAPS_SHOWN) {
            lines.push(format!("{name}: {gap}; repaired"));
        }
        lines.extend(damaged(&name, file.gaps_total, file.skipped_bytes));
    }
    lines
}

/// How much of a capture was passed over, if any was.
pub(super) fn damaged(name: &str, places: u64, skipped_bytes: u64) -> Option<String> {
    let bytes = grouped(skipped_bytes);
    let places = match places {
        0 => return None,
        1 => "one place".to_owned(),
        places => format!("{} places", grouped(places)),
    };
    Some(if skipped_bytes == 0 {
        format!("{name}: damaged in {places}: what was cut away there is missing in all numbers")
    } else {
        format!(
            "{name}: damaged in {places}, {bytes} bytes were skipped: what they held is missing in all numbers"
        )
    })
}

/// What bears on the numbers of a capture, in words.
pub(in crate::report) fn warnings(capture: &CaptureAnalysis, config: &Config) -> Vec<String> {
    let mut said: Vec<String> = drops(capture).into_iter().collect();
    let overlap = overlap(&capture.files);
    let has_filtered = capture.skipped.count(Skip::Filtered) > 0;
    let mut quality = capture.quality();
    if let Some(overlap) = overlap {
        said.push(overlap);
    } else if let Some(disorder) = &capture.disorder {
        // A step back within a direction is one between records, or less than a user has to know.
        quality.clock_steps_back = 0;
        said.push(out_of_order(disorder));
    }
    said.extend(signs(&quality, has_filtered));
    said.extend(limited(capture));
    said.extend(cut_away(capture));
    said.extend(unknown_link(capture));
    said.extend(beside(capture));
    said.extend(dates(capture));
    let length_ns = capture.span.map_or(i64::MAX, |span| span.length_ns());
    said.extend(timeless(length_ns, capture.records, &capture.files));
    // Without times nothing shows how fine they are.
    said.extend((length_ns > 0).then(|| coarse(capture)).flatten());
    said.extend(short(capture, config));
    said.extend(apart(capture, config));
    let flows: Vec<Flow<'_>> = capture.flows().collect();
    said.extend(pairs::subflows(capture, &flows));
    said.extend(alone::of_pairs(capture, &flows, config));
    said.extend(queue_never_empty(&flows));
    said.extend(window_behind(capture, &flows));
    let beyond = |_| window_beyond(capture, &flows);
    said.extend(config.pairs.window.and_then(beyond));
    said.extend(capacity::warnings(capture, config));
    said
}

/// What damage among records casts doubt on, where one of `files` was compressed: the stream may be damaged before them,
/// and what it gives then looks like records for a while.
pub(super) fn doubt(error: &CaptureError, files: &[FileFacts]) -> String {
    let mut files = files.iter().filter(|file| file.path == error.path);
    let compression = files.find_map(|file| file.compression);
    let compression = compression.filter(|_| error.kind.is_damage());
    compression.map_or_else(String::new, |format| {
        format!(
            "; where `{format} -t` tells of damage, too, it began earlier, in records that are used"
        )
    })
}

/// What the file itself counted as lost.
fn drops(capture: &CaptureAnalysis) -> Option<String> {
    let drops = capture
        .files
        .iter()
        .filter_map(|file| file.drops)
        .fold(0_u64, u64::saturating_add);
    (drops > 0).then(|| {
        format!(
            "{} packets were dropped while capturing, by the file's own count",
            grouped(drops)
        )
    })
}

/// Whether parts of a capture overlap in time: they are read one after the other.
pub(super) fn overlap(files: &[FileFacts]) -> Option<String> {
    let Overlap {
        before,
        behind,
        by_ns,
    } = Overlap::largest(files)?;
    Some(format!(
        "{} begins {} ms before {} ends: parts are read one after the other, so that packets are out of order and numbers wrong; `mergecap` puts together what was captured side by side, and a part that is there twice is to be left out",
        display_name(&behind.path),
        grouped(by_ns.unsigned_abs() / 1_000_000),
        display_name(&before.path),
    ))
}

/// That records are older than those before them.
fn out_of_order(disorder: &Disorder) -> String {
    let by_ns = disorder.largest_ns;
    // The one goes from ns to seconds, the other on to days.
    let by = if by_ns < 1000 * SECOND_NS {
        seconds(by_ns as f64)
    } else {
        duration(by_ns)
    };
    format!(
        "{} {} older than the one before, by up to {}: the clock stepped back, or several queues or interfaces were captured into one file. What compares data with ACKs may be wrong then (bytes in flight, reasons of retransmissions, what limited flows, some round-trip times), of flows with `clock_stepped_back` in `quality`; `reordercap` puts records in order",
        counted(disorder.steps_back, "record"),
        if disorder.steps_back == 1 {
            "is"
        } else {
            "are"
        },
        by,
    )
}

/// What the packets show of how they were captured.
fn signs(quality: &CaptureQuality, has_filtered: bool) -> impl Iterator<Item = String> {
    let missed = match quality.mid_stream_flows {
        0 => "it missed packets".to_owned(),
        flows => format!(
            "it missed packets, or began when {} had",
            counted(flows, "flow")
        ),
    };
    let by_filter = if has_filtered {
        "; where it is the filter that left out the other one, `host` and `port` without `src` and `dst` keep both"
    } else {
        ""
    };
    [
        (
            quality.unseen_bytes,
            format!(
                "receivers acknowledged {} that the capture never saw: {missed}, so counts of packets, bytes and losses are too low; goodput counts what was acknowledged, from the first data seen on",
                volume(quality.unseen_bytes)
            ),
        ),
        (
            quality.headers_cut,
            format!(
                "the snap length cut {}: SACK and timestamps may be missing; {SNAP_LEN_ADVICE}",
                counted(quality.headers_cut, "TCP header")
            ),
        ),
        (
            quality.super_segments,
            format!(
                "{} segments are several packets on the wire (offload): packets are frames here, IP bytes and throughput lack the headers of all but one packet of each, which the columns `wire_…` and overhead as it is shown have, and round-trip times are those of whole frames; capture with offload off, or behind the host",
                grouped(quality.super_segments)
            ),
        ),
        (
            quality.one_way_flows,
            format!(
                "of {} only one direction was seen: no ACKs, no round-trip times{by_filter}",
                counted(quality.one_way_flows, "flow")
            ),
        ),
        (
            quality.copied_flows,
            format!(
                "of {} many packets are there more than once, as in a capture of all interfaces (`tcpdump -i any`), of a mirror port or of several places in one file: packets, IP bytes, throughput, overhead and the rates of flows together count each copy, fness is wrong where not all flows are copied alike, and round-trip times, from the first copy of data to the first of its ACK, are those of no place where the copies are of several; capture one interface",
                counted(quality.copied_flows, "flow")
            ),
        ),
        (
            quality.clock_steps_back,
            format!(
                "the time of {} is before that of the one in front of it: the clock stepped back, or several queues or interfaces were captured into one file, which `reordercap` puts in order",
                counted(quality.clock_steps_back, "packet")
            ),
        ),
    ]
    .into_iter()
    .filter_map(|(count, text)| (count > 0).then_some(text))
}

/// What limits other than those on memory and connections kept back.
fn limited(capture: &CaptureAnalysis) -> impl Iterator<Item = String> {
    let quality = capture.quality();
    let cut = (quality.cut_flows > 0).then(|| {
        format!(
            "of {} only the first bins are kept (quality `series_cut`): what is made of all bins is null; --max-bins keeps more, --bin makes them longer",
            counted(quality.cut_flows, "flow")
        )
    });
    // Of connections that were put away it is said as such.
    let forgetful = (capture.cut_by_limit == 0 && quality.limited_connections > 0).then(|| {
        format!(
            "of {} some of the segments in flight were forgotten (quality `limit_hit`): they have no round-trip time, and repeats of them may count as new; --max-in-flight keeps more",
            counted(quality.limited_connections, "connection")
        )
    });
    cut.into_iter().chain(forgetful)
}

/// Whether packets are missing beside the flows because the snap length cut off their headers, as it does first with
/// IPv6, whose headers are longer.
fn cut_away(capture: &CaptureAnalysis) -> Option<String> {
    let cut = capture.skipped.count(Skip::HeaderCut);
    (cut > 0 && capture.totals().flows > 0).then(|| {
        format!(
            "the snap length cut {} packets before the end of their headers: they are missing, and so may be whole flows; {SNAP_LEN_ADVICE}",
            grouped(cut)
        )
    })
}

/// Whether packets are missing beside the flows because their link type is not known, as of one of several interfaces.
fn unknown_link(capture: &CaptureAnalysis) -> Option<String> {
    let packets = capture.skipped.count(Skip::UnknownLinkType);
    let link = capture.skipped.unknown_link()?;
    (capture.totals().flows > 0).then(|| {
        format!(
            "{} are missing, and so may be whole flows: their {}",
            counted(packets, "packet"),
            nothing::unknown(link)
        )
    })
}

/// Whether flows never saw the queue as empty as another one on their path did: the one that lacks most is named.
fn queue_never_empty(flows: &[Flow<'_>]) -> Option<String> {
    let all = never_seen_empty(flows);
    let worst = all
        .iter()
        .max_by_key(|of| (of.lacks_ns(), Reverse(of.flow)))?;
    let (sender, receiver) = flows[worst.flow].ends();
    let others = match all.len() - 1 {
        0 => String::new(),
        others => format!("; so are those of {}", counted(others as u64, "other flow")),
    };
    Some(format!(
        "queueing delays (`queue_delay_ns_*`) count from each flow's own smallest round-trip time: those of {sender} > {receiver} are too low by {} at least, as it had {} where another between the same hosts had {} at the same time{others}; `ccanalyze path` measures the queue",
        delay(worst.lacks_ns() as f64),
        delay(worst.own_ns as f64),
        delay(worst.least_ns as f64)
    ))
}

/// Whether there is UDP beside the flows that shares a link with them.
fn beside(capture: &CaptureAnalysis) -> Option<String> {
    capture.udp_beside().map(|[udp, all]| {
        format!(
            "{} of {} packets of TCP and UDP are UDP, as of QUIC, which is analysed only with --udp: what it takes of a link is missing in utilisation, Jain's index and fness",
            grouped(udp),
            grouped(all)
        )
    })
}

/// Whether the dates of a capture can be believed.
fn dates(capture: &CaptureAnalysis) -> Option<String> {
    let days = capture.span.map_or(0, |span| span.length_ns() / DAY_NS);
    (days > DAYS_MAX).then(|| {
        format!(
            "its records are {} days apart: some are dated wrong (0, or a clock that was set), and rates over the whole capture say nothing",
            grouped(days.unsigned_abs())
        )
    })
}

/// Whether there are times at all in a capture that lasts so long, where there is more than one record, and of all
/// records.
pub(super) fn timeless(length_ns: i64, records: u64, files: &[FileFacts]) -> Option<String> {
    if records < 2 {
        return None;
    }
    if length_ns == 0 {
        return Some("all its records have the same time, as those of Simple Packet Blocks have: there are no rates, and round-trip times of 0 are none".to_owned());
    }
    let untimed = files.iter().map(|file| file.untimed_records).sum();
    (untimed > 0).then(|| {
        format!(
            "{} of its {} records say no time (Simple Packet Blocks) and have that of the record before, or 0: rates and times of what they carry tell nothing; capture with Enhanced Packet Blocks",
            grouped(untimed),
            grouped(records)
        )
    })
}

/// The shortest round-trip time of the largest flows that [count](Flow::counts_beside) beside the largest: connections
/// that control others answer at once.
fn shortest_rtt_ns(capture: &CaptureAnalysis) -> Option<i64> {
    let (flows, _) = largest_flows(from_ref(capture), FLOWS_SHOWN);
    let flows = || flows.iter().map(|(_, flow)| flow);
    let largest = flows().map(Flow::payload_bytes).max()?;
    let counting = flows().filter(|flow| flow.counts_beside(largest));
    counting
        .filter_map(|flow| flow.summary().rtt.ns_min())
        .min()
}

/// Whether timestamps are fine enough for the round-trip times.
fn coarse(capture: &CaptureAnalysis) -> Option<String> {
    let told_ns = capture
        .files
        .iter()
        .filter_map(|file| file.resolution)
        .map(TimeResolution::step_ns)
        .fold(0.0, f64::max);
    // Files say what they can hold, not how fine the clock was.
    let tick_ns = capture
        .shown_tick_ns()
        .map_or(told_ns, |ns| told_ns.max(ns.into()));
    // Where that does for all, it does for those that count, which takes a look at each flow.
    capture
        .totals()
        .rtt_ns_min
        .filter(|&ns| tick_ns * 10.0 > ns as f64)?;
    let shortest_ns = shortest_rtt_ns(capture)?;
    let step = grouped(tick_ns as u64);
    if shortest_ns == 0 && tick_ns > told_ns {
        return Some(format!(
            "timestamps come in steps of {step} ns: round-trip times are as coarse, and shorter ones are 0"
        ));
    }
    (shortest_ns > 0 && tick_ns * 10.0 > shortest_ns as f64).then(|| {
        format!(
            "timestamps come in steps of {step} ns, coarse for the shortest round-trip time, {} ns",
            grouped(shortest_ns as u64)
        )
    })
}

/// Whether a capture is too short for charts over time.
fn short(capture: &CaptureAnalysis, config: &Config) -> Option<String> {
    let span_ns = capture.span?.length_ns();
    let is_short = config.time_sequence && span_ns > 0 && span_ns < 2 * config.bin_ns;
    if !is_short || capture.totals().flows == 0 {
        return None;
    }
    // Fifty of them or a few more.
    let bin_ns = [1, 2, 5, 10].map(|factor| factor * 10_i64.pow((span_ns / 50).max(1).ilog10()));
    let bin_ns = bin_ns.into_iter().rev().find(|bin| bin * 50 <= span_ns);
    let bin = match bin_ns.unwrap_or(1) {
        ns if ns % 1_000_000 == 0 => format!("{}ms", ns / 1_000_000),
        ns if ns % 1000 == 0 => format!("{}us", ns / 1000),
        ns => format!("{ns}ns"),
    };
    Some(format!(
        "lasts {} ms, less than two bins: charts over time show more with --bin {bin}",
        millis(span_ns as f64)
    ))
}

/// The least that a long pause takes.
const PAUSE_MIN_NS: i64 = 60_000_000_000;

/// Whether a pause is long, and nearly all of the time there is.
pub(super) fn is_mostly_silent(pause_ns: i64, all_ns: i64) -> bool {
    pause_ns >= PAUSE_MIN_NS && pause_ns / 9 >= all_ns - pause_ns
}

/// Whether nearly all of a capture's time lies between flows, as where its parts are of different days: charts over
/// time show it all.
fn apart(capture: &CaptureAnalysis, config: &Config) -> Option<String> {
    if !config.time_sequence || capture.span?.length_ns() < PAUSE_MIN_NS {
        return None;
    }
    let mut spans: Vec<Span> = capture
        .flows()
        .filter_map(|flow| flow.data_span())
        .collect();
    spans.sort_by_key(|span| span.first);
    let (mut end, mut pause_ns) = (spans.first()?.last, 0);
    for span in &spans {
        pause_ns = pause_ns.max(span.first.since(end));
        end = end.max(span.last);
    }
    let all_ns = end.since(spans[0].first);
    if !is_mostly_silent(pause_ns, all_ns) {
        return None;
    }
    let remedy = if capture.files.len() > 1 {
        "without --concat each file is a capture with charts of its own"
    } else {
        "cut it in two, such as with editcap -A and -B"
    };
    Some(format!(
        "for {} of {} s no flow sent anything, and charts over time show hardly more than that: {remedy}",
        grouped(pause_ns.unsigned_abs() / 1_000_000_000),
        grouped(all_ns.unsigned_abs() / 1_000_000_000)
    ))
}

/// When the last data of either flow of a pair passed.
fn last_data(flows: &[Flow<'_>], pair: &Pair) -> Option<CaptureTime> {
    let ends = [pair.a, pair.b].map(|flow| flows[flow].data_span().map(|span| span.last));
    ends.into_iter().flatten().max()
}

/// Whether flows were compared over a time of which both sent nothing in a tenth or more at its end: only
/// `--fness-window` can ask for that.
fn window_beyond(capture: &CaptureAnalysis, flows: &[Flow<'_>]) -> Option<String> {
    let of_window = |pair: &Pair| {
        let idle_ns = pair.end.since(last_data(flows, pair)?);
        let all_ns = pair.end.since(pair.start);
        (pair.fness.is_some() && idle_ns > all_ns / 10).then_some((idle_ns, all_ns))
    };
    let (idle_ns, all_ns) = capture.pairs.pairs.iter().filter_map(of_window).min()?;
    Some(format!(
        "the window of --fness-window goes on for {:.1} s and more of its {:.1} s when both flows of a pair have ended: rates in it count that time, too",
        idle_ns as f64 / 1e9,
        all_ns as f64 / 1e9
    ))
}

/// Whether flows were to be compared when both of them had ended: only `--fness-window` can ask
/// for that.
fn window_behind(capture: &CaptureAnalysis, flows: &[Flow<'_>]) -> Option<String> {
    let pairs = &capture.pairs.pairs;
    if pairs.iter().all(|pair| pair.fness.is_some()) {
        return None;
    }
    // By how much each window is too late, in ns.
    let late: Vec<i64> = pairs
        .iter()
        .filter_map(|pair| Some(pair.start.since(last_data(flows, pair)?)))
        .filter(|&ns| ns > 0)
        .collect();
    let least_ns = *late.iter().min()?;
    let which = if late.len() == pairs.len() {
        "all pairs of flows".to_owned()
    } else {
        format!(
            "{} of {} pairs of flows",
            grouped(late.len() as u64),
            grouped(pairs.len() as u64)
        )
    };
    Some(format!(
        "{which} had ended when the window of --fness-window begins, by {:.1} s and more: no fness for them; let it begin earlier",
        least_ns as f64 / 1e9
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_no_reason_where_it_left_out_nothing() {
        let quality = CaptureQuality {
            one_way_flows: 1,
            ..CaptureQuality::default()
        };
        for has_filtered in [true, false] {
            let said: Vec<String> = signs(&quality, has_filtered).collect();
            assert!(said[0].contains("no round-trip times"), "{said:?}");
            assert_eq!(said[0].contains("filter"), has_filtered, "{said:?}");
        }
    }

    #[test]
    fn what_was_never_seen_may_have_passed_before_the_capture_began() {
        for (mid_stream_flows, why) in [
            (0, "it missed packets, so"),
            (2, "it missed packets, or began when 2 flows had, so"),
        ] {
            let quality = CaptureQuality {
                unseen_bytes: 5000,
                mid_stream_flows,
                ..CaptureQuality::default()
            };
            let said: Vec<String> = signs(&quality, false).collect();
            assert!(said[0].contains(why), "{said:?}");
        }
    }

    #[test]
    fn damage_of_which_nothing_was_skipped_speaks_of_no_bytes() {
        assert_eq!(damaged("a.pcap", 0, 0), None);
        let said = damaged("a.pcap", 1, 0).unwrap();
        assert_eq!(
            said,
            "a.pcap: damaged in one place: what was cut away there is missing in all numbers"
        );
        let said = damaged("a.pcap", 2000, 5000).unwrap();
        assert!(
            said.contains("2,000 places, 5,000 bytes were skipped"),
            "{said}"
        );
    }
}
