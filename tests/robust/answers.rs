//! What must hold of every flow, and flows as text that can be compared.

use std::fmt::Write as _;

use ccanalyze::Analysis;
use ccanalyze::analyze::{CaptureAnalysis, CaptureInput, Config, Flow, Pairs, Watch};
use ccanalyze::capture::CaptureSource;
use ccanalyze::decode::Transport;
use ccanalyze::event::{Class, ClassifiedSegment, Reason};
use ccanalyze::observe::{Bin, Span};
use ccanalyze::seq::Seq;

use super::packets::Twist;

/// Analyses capture bytes, given in pieces of at most `piece` bytes, on so many threads.
pub(crate) fn analyze(
    files: Vec<Vec<u8>>,
    piece: usize,
    threads: usize,
    segments: bool,
) -> CaptureAnalysis {
    let sources = files
        .into_iter()
        .enumerate()
        .map(|(index, bytes)| CaptureSource::Reader {
            name: format!("file {index}"),
            reader: Box::new(Pieces {
                bytes,
                piece,
                at: 0,
            }),
        })
        .collect();
    let config = Config {
        udp: true,
        segments,
        time_sequence: segments,
        threads: Some(threads),
        ..Config::default()
    };
    analyze_with(sources, &config)
}

/// Analyses one capture.
pub(crate) fn analyze_with(sources: Vec<CaptureSource>, config: &Config) -> CaptureAnalysis {
    let input = CaptureInput {
        name: "capture".to_owned(),
        sources,
    };
    let mut analysis = Analysis::run(vec![input], config, &Watch::default());
    assert_eq!(analysis.captures.len(), 1);
    let capture = analysis.captures.remove(0);
    holds(&capture);
    capture
}

/// Gives bytes in pieces, as a pipe does.
pub(crate) struct Pieces {
    pub(crate) bytes: Vec<u8>,
    pub(crate) piece: usize,
    pub(crate) at: usize,
}

impl std::io::Read for Pieces {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let rest = &self.bytes[self.at..];
        let len = rest.len().min(buf.len()).min(self.piece.max(1));
        buf[..len].copy_from_slice(&rest[..len]);
        self.at += len;
        Ok(len)
    }
}

/// What holds of every capture, whatever is in it (METRICS.md; ARCHITECTURE.md, invariants).
pub(crate) fn holds(capture: &CaptureAnalysis) {
    assert_eq!(
        capture.records,
        capture.tcp_records + capture.skipped.total(),
        "a record was lost or counted twice"
    );
    let in_files: u64 = capture.files.iter().map(|file| file.records).sum();
    assert_eq!(capture.records, in_files);
    let packets: u64 = capture
        .connections
        .iter()
        .filter(|(_, connection)| connection.identity.transport == Transport::Tcp)
        .map(|(_, connection)| connection.facts().packets.iter().sum::<u64>())
        .sum();
    assert!(packets <= capture.tcp_records);
    assert!(capture.connections_total >= capture.connections.len() as u64);
    let mut before = None;
    for (id, connection) in &capture.connections {
        assert!(before < Some(*id), "connections are in order");
        before = Some(*id);
        assert!(connection.flows().next().is_some());
    }
    for error in &capture.errors {
        let text = error.to_string();
        assert!(!text.is_empty() && !text.contains('\n'));
    }
    capture.flows().for_each(|flow| flow_holds(&flow));
    let totals = capture.totals();
    assert_eq!(totals.flows, capture.flows().count() as u64);
    let ip_bytes: u64 = capture.flows().map(|flow| flow.summary().ip_bytes).sum();
    assert_eq!(totals.ip_bytes, ip_bytes);
    pairs_hold(&capture.pairs);
}

/// N1, N2: between flows.
fn pairs_hold(pairs: &Pairs) {
    for pair in &pairs.pairs {
        assert!(pair.start <= pair.end);
        assert!(pair.fness.is_none_or(|fness| (-1.0..=1.0).contains(&fness)));
        let neither_sent = pair.bytes_a == 0 && pair.bytes_b == 0;
        assert_eq!(pair.fness.is_none(), neither_sent);
    }
    assert!(
        pairs
            .jain
            .is_none_or(|jain| jain > 0.0 && jain <= 1.0 + 1e-9)
    );
    assert!(pairs.sharing_ratio.is_none_or(f64::is_finite));
}

fn flow_holds(flow: &Flow<'_>) {
    let summary = flow.summary();
    let state = flow.state();
    assert!(summary.data_packets > 0 && summary.data_packets <= summary.packets);
    // X2: the four reasons add up to X1.
    let reasons = [
        summary.incidents().rtx_fast,
        summary.incidents().rtx_timeout,
        summary.incidents().rtx_tail_probe,
        summary.incidents().rtx_unneeded,
    ];
    assert!(
        reasons
            .iter()
            .all(|&packets| packets <= summary.data_packets)
    );
    let reasons: u64 = reasons.iter().sum();
    assert_eq!(summary.incidents().retransmitted_packets, reasons);
    let classed = summary.incidents().retransmitted_packets
        + summary.incidents().duplicate_packets
        + summary.incidents().reordered_packets
        + summary.incidents().ambiguous_packets;
    assert!(
        classed <= summary.data_segments(),
        "a class of its own for each"
    );
    assert!(state.unique_bytes <= summary.payload_bytes);
    if flow.transport() == Transport::Udp {
        // Nothing of it is known but what passed.
        assert_eq!(
            (classed, state.unique_bytes, state.acked_bytes),
            (0, 0, None)
        );
        assert_eq!(summary.rtt.samples() + summary.in_flight_samples, 0);
        assert!(flow.overhead().is_none() && flow.limited_by().is_none());
    }
    assert!(summary.payload_bytes <= summary.ip_bytes);
    // C5, C6: what was acknowledged was seen, or is told not to have been.
    if let (Some(acked), Some(unseen)) = (state.acked_bytes, state.unseen_bytes) {
        assert!(unseen <= acked && acked - unseen <= state.unique_bytes);
    }
    assert_eq!(state.acked_bytes.is_some(), state.unseen_bytes.is_some());
    // G1 and G2 are taken over one interval, O1 over the same bytes.
    if state.unseen_bytes.unwrap_or(0) == 0 {
        assert!(flow.goodput_bps() <= flow.throughput_bps());
        assert!(flow.overhead().is_none_or(|overhead| overhead >= 0.0));
    }
    assert!(summary.in_flight_samples <= summary.data_segments());
    assert!(
        summary.in_flight_bytes_mean() <= summary.in_flight_bytes_max().map(|bytes| bytes as f64)
    );
    // R3: some of the samples of R1.
    let exact = &summary.rtt_exact;
    assert!(exact.samples() <= summary.rtt.samples());
    assert!(
        exact
            .ns_min()
            .is_none_or(|ns| Some(ns) >= summary.rtt.ns_min())
    );
    assert!(exact.ns_max() <= summary.rtt.ns_max());
    for delays in [summary.rtt.stats(), &summary.rtt_exact, &summary.rtt_ts] {
        // Beyond 104 days a float counts no single nanoseconds.
        let [least, most] = [delays.ns_min(), delays.ns_max()].map(|ns| ns.map(|ns| ns as f64));
        assert!(least <= delays.ns_mean() && delays.ns_mean() <= most);
        assert_eq!(delays.ns_min().is_some(), delays.samples() > 0);
        // A round trip takes time.
        assert!(delays.ns_min().is_none_or(|ns| ns >= 0));
    }
    let quantile = |q| summary.rtt.ns_quantile(q);
    assert!(summary.rtt.ns_min() <= quantile(0.5) && quantile(0.5) <= quantile(0.99));
    assert!(quantile(0.99) <= summary.rtt.ns_max());
    for value in [flow.goodput_bps(), flow.throughput_bps()]
        .into_iter()
        .flatten()
    {
        assert!(value.is_finite() && value > 0.0, "{value} bit/s");
    }
    assert!(flow.overhead().is_none_or(f64::is_finite));
    // F1: undefined where nothing but keep-alives had payload.
    let byte_wise = summary.incidents().keepalives + summary.incidents().duplicate_packets;
    let are_all =
        byte_wise >= summary.data_packets && summary.payload_bytes == summary.data_packets;
    assert!(flow.completion_ns().map_or(are_all, |ns| ns >= 0));
    assert!(summary.incidents().recovery_ns >= 0);
    if let Some(limited) = flow.limited_by() {
        let shares = [limited.network, limited.receiver, limited.application];
        assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)));
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
    series_holds(flow);
    rows_hold(flow);
}

/// The rows of `--segments`, where there are any, add up to the summary.
fn rows_hold(flow: &Flow<'_>) {
    let rows: Vec<_> = flow.record.segments().iter().collect();
    if rows.is_empty() {
        return;
    }
    let summary = flow.summary();
    let incidents = summary.incidents();
    assert!(
        rows.is_sorted_by(|one, next| one.ordinal < next.ordinal),
        "rows in order"
    );
    assert!(rows.len() as u64 <= summary.data_segments());
    let payload: u64 = rows.iter().map(|row| u64::from(row.payload_len)).sum();
    assert_eq!(payload, summary.payload_bytes);
    let count =
        |is: &dyn Fn(&ClassifiedSegment) -> bool| rows.iter().filter(|&row| is(row)).count() as u64;
    let of_class = |class| count(&|row| row.verdict.class == class);
    let of_reason = |reason| count(&|row| row.verdict.reason == Some(reason));
    assert_eq!(
        of_class(Class::Retransmission),
        incidents.retransmitted_packets
    );
    assert_eq!(of_class(Class::Duplicate), incidents.duplicate_packets);
    assert_eq!(of_class(Class::Reordered), incidents.reordered_packets);
    assert_eq!(of_class(Class::Ambiguous), incidents.ambiguous_packets);
    assert_eq!(of_reason(Reason::Fast), incidents.rtx_fast);
    assert_eq!(of_reason(Reason::Timeout), incidents.rtx_timeout);
    assert_eq!(of_reason(Reason::TailProbe), incidents.rtx_tail_probe);
    assert_eq!(of_reason(Reason::Unneeded), incidents.rtx_unneeded);
    // Probes without payload have no row.
    assert!(of_class(Class::KeepAlive) <= incidents.keepalives);
    assert!(of_class(Class::WindowProbe) <= incidents.window_probes);
    let samples = || rows.iter().filter_map(|row| row.rtt).map(|(ns, _)| ns);
    assert_eq!(samples().count() as u64, summary.rtt.samples());
    assert_eq!(samples().min(), summary.rtt.ns_min());
    assert_eq!(samples().max(), summary.rtt.ns_max());
    let in_flight = || rows.iter().filter_map(|row| row.in_flight_bytes);
    assert_eq!(in_flight().count() as u64, summary.in_flight_samples);
    assert_eq!(in_flight().max(), summary.in_flight_bytes_max());
}

/// The bins of a series add up to the summary.
fn series_holds(flow: &Flow<'_>) {
    let summary = flow.summary();
    if flow.record.series().is_cut() {
        return;
    }
    let bins: Vec<_> = flow.record.series().bins().collect();
    assert!(bins.is_sorted_by(|one, next| one.index < next.index));
    let sum = |of: fn(&Bin) -> u64| bins.iter().map(of).sum::<u64>();
    assert_eq!(sum(|bin| bin.payload_bytes), summary.payload_bytes);
    assert_eq!(sum(|bin| bin.data_packets), summary.data_packets);
    assert_eq!(sum(Bin::data_segments), summary.data_segments());
    assert_eq!(sum(|bin| bin.rtt_samples), summary.rtt.samples());
    assert_eq!(
        sum(|bin| bin.retransmitted_bytes),
        summary.incidents().retransmitted_bytes
    );
    assert!(sum(|bin| bin.ip_bytes) <= summary.ip_bytes);
    let sampled = || bins.iter().filter(|bin| bin.rtt_samples > 0);
    assert_eq!(
        sampled().map(|bin| bin.rtt_ns_min).min(),
        summary.rtt.ns_min()
    );
    assert_eq!(
        sampled().map(|bin| bin.rtt_ns_max).max(),
        summary.rtt.ns_max()
    );
    let most = bins.iter().filter_map(|bin| bin.in_flight_bytes_max).max();
    assert_eq!(most, summary.in_flight_bytes_max());
}

/// Everything measured of each flow as text, by its ends and its turn: what a twist changed is
/// changed back, and nothing is in it that other connections have a part in.
pub(crate) fn told(capture: &CaptureAnalysis, twist: Twist) -> Vec<String> {
    let mut texts: Vec<String> = capture
        .flows()
        .map(|flow| tell(&flow, capture, twist))
        .collect();
    texts.sort();
    texts
}

fn tell(flow: &Flow<'_>, capture: &CaptureAnalysis, twist: Twist) -> String {
    let at = |at: ccanalyze::time::CaptureTime| at.plus_ns(-twist.later_ns).as_ns();
    let span = |span: Span| Span {
        first: span.first.plus_ns(-twist.later_ns),
        last: span.last.plus_ns(-twist.later_ns),
    };
    let (mut src, mut dst) = flow.ends();
    if twist.exchange {
        (src, dst) = (dst, src);
    }
    let mut text = format!("{src} > {dst}");
    let _ = writeln!(text, " at {}", at(flow.connection().identity.first_at));
    let mut summary = flow.summary();
    summary.span = summary.span.map(span);
    summary.data_span = summary.data_span.map(span);
    summary.last_new_ack_at = summary
        .last_new_ack_at
        .map(|at| at.plus_ns(-twist.later_ns));
    let _ = writeln!(text, "{:?} {summary:?}", flow.record.dir);
    let _ = writeln!(text, "{:?}", flow.state());
    let _ = writeln!(text, "{:?}", flow.limited_by());
    let _ = writeln!(text, "{:?} {:?}", flow.goodput_bps(), flow.throughput_bps());
    let words: Vec<_> = flow
        .quality()
        .iter()
        .map(|quality| quality.name())
        .collect();
    let _ = writeln!(text, "{words:?}");
    let handshake = flow.connection().handshake();
    let _ = writeln!(
        text,
        "{:?} {:?}",
        handshake.round_trip_ns(),
        handshake.closing()
    );
    for bin in flow.record.series().bins() {
        let _ = writeln!(text, "{bin:?}");
    }
    let _ = write!(text, "bins from {}", at(capture.origin));
    for mut segment in flow.record.segments() {
        segment.ordinal = 0;
        segment.at = segment.at.plus_ns(-twist.later_ns);
        segment.seq = Seq(segment.seq.0.wrapping_sub(twist.seq));
        let _ = write!(text, "\n{segment:?}");
    }
    text
}
