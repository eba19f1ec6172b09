//! What any bytes must stand: one function a fuzz target (`fuzz/`), replayed by `regressions.rs`.

use ccanalyze::analyze::{CaptureAnalysis, Engine};
use ccanalyze::capture::{
    CaptureErrorKind, CaptureReader, CaptureSource, Compression, LinkType, ReadOptions, Record,
    Window,
};
use ccanalyze::decode::{
    Datagram, Datagrams, DecodeOptions, Decoded, Endpoint, Filter, FragmentTable, Segment,
    TunnelLayer, decode, decode_datagrams, usual,
};
use ccanalyze::flow::TableFacts;
use ccanalyze::observe::{RecordConfig, Recorder};
use ccanalyze::time::CaptureTime;

use super::answers::{Pieces, analyze, told};
use super::packets::{Packet, RAW_IP, Twist, pcap, play};

/// A check, by the name of its fuzz target and of its folder of regressions.
pub(crate) type Check = (&'static str, fn(&[u8]));

/// All of them.
pub(crate) const CHECKS: [Check; 8] = [
    ("capture_pcap", capture),
    ("capture_pcapng", capture),
    ("capture_compressed", capture),
    ("decode", decoded),
    ("track", track),
    ("pipeline", pipeline),
    ("path", super::crossings::path),
    ("filter", filter),
];

/// Records of a file, and why it could not be read to its end.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    /// Frame, time, link type, bytes (their sum and number), and length.
    records: Vec<(u64, i64, u16, u64, usize, u32)>,
    /// Record, place and kind of what is wrong.
    errors: Vec<(u64, u64, String)>,
    /// Damaged places, and bytes skipped there.
    repaired: (u64, u64),
}

fn read(
    file: &[u8],
    piece: usize,
    window_bytes: usize,
    decompressors: usize,
    repair: bool,
) -> Outcome {
    let reader = Box::new(Pieces {
        bytes: file.to_vec(),
        piece,
        at: 0,
    });
    let name = "file".to_owned();
    let mut outcome = Outcome::default();
    let options = ReadOptions {
        window_bytes,
        repair,
        decompressors,
        ..ReadOptions::default()
    };
    let source = CaptureSource::Reader { name, reader };
    let mut capture = match CaptureReader::open(vec![source], &options) {
        Ok(capture) => capture,
        Err(error) => {
            let what = (error.record_index, error.offset_bytes, error.to_string());
            outcome.errors.push(what);
            return outcome;
        }
    };
    let mut window = Window::new();
    loop {
        match capture.read_window(&mut window) {
            Ok(true) => assert!(!window.is_empty(), "a window without records"),
            Ok(false) => break,
            Err(error) => {
                assert!(window.is_empty(), "records beside an error");
                let what = (error.record_index, error.offset_bytes, error.to_string());
                outcome.errors.push(what);
                continue;
            }
        }
        for record in window.all() {
            let sum = record.bytes.iter().map(|&byte| u64::from(byte)).sum();
            outcome.records.push((
                record.frame,
                record.at.as_ns(),
                record.link.0,
                sum,
                record.bytes.len(),
                record.original_len,
            ));
        }
    }
    let facts = &capture.files()[0];
    assert_eq!(facts.records, outcome.records.len() as u64);
    outcome.repaired = (facts.gaps_total, facts.skipped_bytes);
    outcome
}

/// A file gives the same records and the same error, however it comes and however it is taken.
/// With repair too; and where nothing had to be repaired, that changes nothing.
pub(crate) fn capture(file: &[u8]) {
    let whole = capture_in(file, false);
    let mended = capture_in(file, true);
    if mended.repaired == (0, 0) {
        let both = whole.records.len().min(mended.records.len());
        assert_eq!(whole.records[..both], mended.records[..both]);
        assert_eq!(whole.errors.len(), mended.errors.len());
    }
}

fn capture_in(file: &[u8], repair: bool) -> Outcome {
    let whole = read(file, usize::MAX, 1 << 16, 1, repair);
    assert!(whole.errors.len() <= 1, "a file fails once");
    for (index, record) in whole.records.iter().enumerate() {
        assert_eq!(record.0, index as u64 + 1, "frames count up");
    }
    for (_, _, text) in &whole.errors {
        assert!(!text.is_empty() && !text.contains('\n'));
    }
    let last = file.last().copied().unwrap_or(0);
    let pieces = read(
        file,
        1 + usize::from(last),
        1 + 16 * usize::from(last),
        1 + usize::from(last % 4),
        repair,
    );
    let depends =
        |text: &str| text.contains("xz stream cannot be") || text.contains("lz4 stream cannot be");
    if whole.errors.iter().any(|(_, _, text)| depends(text)) {
        // How far these are decompressed depends on how they come; what comes does not.
        let both = whole.records.len().min(pieces.records.len());
        if !repair {
            assert_eq!(whole.records[..both], pieces.records[..both]);
        }
        return whole;
    }
    assert_eq!(whole, pieces, "windows change what is read");
    whole
}

/// A packet: link type and original length, two bytes each, and its captured bytes.
pub(crate) fn decoded(input: &[u8]) {
    let Some((head, bytes)) = input.split_first_chunk::<5>() else {
        return;
    };
    let link = LinkType(u16::from_le_bytes([head[0], head[1]]));
    let beyond = u32::from(u16::from_le_bytes([head[2], head[3]]));
    let layer = if head[4] & 1 == 0 {
        TunnelLayer::Innermost
    } else {
        TunnelLayer::Outermost
    };
    let record = |bytes| Record {
        frame: 1,
        at: CaptureTime::from_ns(1),
        link,
        bytes,
        original_len: input.len() as u32 + beyond,
    };
    let options = DecodeOptions { layer };
    let whole = decode(&record(bytes), 0, &options);
    if let Some(segment) = usual(&record(bytes), 0) {
        let short = Decoded::Segment(segment);
        assert_eq!(format!("{short:?}"), format!("{whole:?}"));
    }
    let (mut found, mut datagrams) = (whole, Datagrams::default());
    decode_datagrams(&record(bytes), 0, &options, &mut found, &mut datagrams);
    assert_eq!(format!("{found:?}"), format!("{whole:?}"), "asked for UDP");
    datagrams.whole.iter().for_each(datagram_holds);
    let mut table = FragmentTable::new();
    for &fragment in datagrams.fragments.iter().cycle().take(3) {
        if let Some(datagram) = table.push_datagram(fragment) {
            datagram_holds(&datagram);
        }
    }
    if let Decoded::Fragment(fragment) = whole {
        let mut table = FragmentTable::new();
        for _ in 0..3 {
            if let Some(segment) = table.push(fragment) {
                segment_holds(&segment);
            }
        }
        let told = table.records_in_whole() + table.skipped().total();
        assert_eq!(told, 3, "a fragment was lost");
    }
    let (Decoded::Segment(segment) | Decoded::FirstOf(segment, _)) = whole else {
        return;
    };
    segment_holds(&segment);
    // A snap length changes no number as long as it keeps the TCP header.
    let cut = bytes.len() - bytes.len().min(usize::from(head[4]) / 2);
    if let Decoded::Segment(snapped) | Decoded::FirstOf(snapped, _) =
        decode(&record(&bytes[..cut]), 0, &options)
        && !segment.header_cut
        && !snapped.header_cut
    {
        assert_eq!(format!("{segment:?}"), format!("{snapped:?}"));
    }
}

fn datagram_holds(datagram: &Datagram) {
    assert!(datagram.ip_packets >= 1);
    assert!(datagram.payload_len < datagram.ip_len);
}

fn segment_holds(segment: &Segment) {
    assert!(segment.ip_packets >= 1);
    assert!(segment.payload_len <= segment.ip_len);
    assert!(segment.syn.window_scale.is_none_or(|shift| shift <= 14));
}

/// A script of packets (`packets.rs`) through the state machines: as a capture, and pushed.
pub(crate) fn track(script: &[u8]) {
    let packets = play(script, Twist::default());
    let (segments, flows) = push(&packets);
    let capture = analyze(vec![pcap(&packets)], usize::MAX, 1, true);
    assert_eq!(capture.records, packets.len() as u64);
    assert_eq!(capture.tcp_records, packets.len() as u64, "all are TCP");
    // The engine and the pipeline are two ways to the same state machines.
    assert_eq!(summaries(&capture), flows);
    let rows: usize = capture
        .flows()
        .map(|flow| flow.record.segments().len())
        .sum();
    assert_eq!(rows, segments, "a row for each data segment");
}

/// Pushes packets into an engine: how many rows it gave, and its flows by their first record.
fn push(packets: &[Packet]) -> (usize, Vec<String>) {
    let config = RecordConfig {
        origin: CaptureTime::from_ns(packets.first().map_or(0, |packet| packet.at_ns)),
        bins_max: Some(u32::MAX),
        bin_ns: 100_000_000,
        curves: false,
        time_sequence: false,
        gaps: false,
        curve_growth: std::sync::Arc::default(),
    };
    let mut engine = Engine::new(Recorder::<true>::new(config));
    for packet in packets {
        let at = CaptureTime::from_ns(packet.at_ns);
        engine.push(at, LinkType(RAW_IP), &packet.bytes, packet.original_len);
    }
    let (mut recorder, facts) = engine.finish();
    assert_eq!(facts.records, packets.len() as u64);
    assert_eq!(facts.skipped.total(), 0);
    assert_eq!(facts.table, TableFacts::default());
    let mut connections = recorder.take_ended();
    connections.sort_by_key(|connection| connection.identity.first_ordinal);
    let flows: Vec<_> = connections.iter().flat_map(|each| each.flows()).collect();
    let texts = flows
        .iter()
        .map(|flow| format!("{:?} {:?}", flow.summary(), flow.state()));
    let rows = flows.iter().map(|flow| flow.segments().len()).sum();
    (rows, texts.collect())
}

/// A capture file through everything up to the results, at once and in pieces.
pub(crate) fn pipeline(file: &[u8]) {
    let whole = analyze(vec![file.to_vec()], usize::MAX, 1, true);
    let depends = |kind: &CaptureErrorKind| match kind {
        CaptureErrorKind::Compression { format, .. } => {
            matches!(format, Compression::Xz | Compression::Lz4)
        }
        _ => false,
    };
    if whole.errors.iter().any(|error| depends(&error.kind)) {
        // How far these are decompressed depends on how they come.
        return;
    }
    let last = usize::from(file.last().copied().unwrap_or(0));
    let pieces = analyze(vec![file.to_vec()], 1 + last, 1 + last % 3, true);
    assert_eq!(whole.skipped, pieces.skipped);
    assert_eq!(
        told(&whole, Twist::default()),
        told(&pieces, Twist::default())
    );
    assert_eq!(format!("{:?}", whole.pairs), format!("{:?}", pieces.pairs));
    assert_eq!(whole.pings.len(), pieces.pings.len());
    for flow in whole.flows() {
        let handshake = flow.record.connection.handshake();
        if let Some((all, server, client)) = handshake.round_trip_ns() {
            assert!(server.min(client) < 0 || all >= server.max(client));
        }
    }
    // Rows change no other number.
    let rowless = analyze(vec![file.to_vec()], usize::MAX, 1, false);
    assert_eq!(summaries(&whole), summaries(&rowless));
}

/// The numbers of each flow.
fn summaries(capture: &CaptureAnalysis) -> Vec<String> {
    let flows = capture.flows();
    flows
        .map(|flow| format!("{:?} {:?}", flow.summary(), flow.state()))
        .collect()
}

/// A filter expression: it is read or refused with a place in it, and asks without sides do not
/// ask for directions.
pub(crate) fn filter(expression: &[u8]) {
    let expression = String::from_utf8_lossy(expression);
    let filter = match Filter::parse(&expression) {
        Ok(filter) => filter,
        Err(error) => {
            assert!((1..=expression.chars().count() + 1).contains(&error.column));
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let ends = [
        Endpoint::v4([10, 0, 0, 1], 443),
        Endpoint::v4([192, 168, 7, 9], 80),
        Endpoint::v6([0xfd; 16], 5001),
        Endpoint::v6([0; 16], 0),
    ];
    let sided = expression.contains("src") || expression.contains("dst");
    // A connection's ends are of one version, so `ip` asks about both.
    for (one, other) in [(ends[0], ends[1]), (ends[2], ends[3])] {
        let (there, back) = (filter.keeps(&one, &other), filter.keeps(&other, &one));
        assert!(sided || there == back, "only one direction is kept");
    }
}
