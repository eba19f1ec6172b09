//! The quiet path against the general one: random traces, played both ways, tell the same.

use proptest::prelude::*;

use super::*;

/// All that a connection tells, as text, in its order; what ACKs deliver apart, as that may be told before what else they
/// tell.
#[derive(Default)]
struct Log(Vec<String>, [u64; 2], Vec<String>);

impl FlowSink for Log {
    const SEGMENTS: bool = true;

    fn packet(&mut self, dir: Direction, packet: &crate::event::PacketArrival) {
        self.0.push(format!("{dir:?} {packet:?}"));
    }
    fn data(&mut self, dir: Direction, data: &DataArrival) {
        self.0.push(format!("{dir:?} {data:?}"));
    }
    fn amended(&mut self, dir: Direction, amendment: &crate::event::Amendment) {
        self.0.push(format!("{dir:?} {amendment:?}"));
    }
    fn lost(&mut self, dir: Direction, place: crate::event::LossPlace, packets: i32) {
        self.0.push(format!("{dir:?} {place:?} {packets}"));
    }
    fn rtt(&mut self, dir: Direction, sample: &crate::event::RttSample) {
        self.0.push(format!("{dir:?} {sample:?}"));
    }
    fn timestamp_rtt(&mut self, dir: Direction, at: CaptureTime, rtt_ns: i64) {
        self.0.push(format!("{dir:?} {at:?} {rtt_ns}"));
    }
    fn acked(&mut self, dir: Direction, acked: &crate::event::Acked) {
        self.1[dir.index()] += acked.bytes;
        self.0.push(format!("{dir:?} {acked:?}"));
    }
    fn delivered(&mut self, dir: Direction, at: CaptureTime, bytes: u64) {
        self.2.push(format!("{dir:?} {bytes} delivered {at:?}"));
    }
    fn acked_less(&mut self, dir: Direction, at: CaptureTime, bytes: u64) {
        self.1[dir.index()] -= bytes;
        self.0.push(format!("{dir:?} {bytes} less {at:?}"));
    }
    fn window(&mut self, dir: Direction, at: CaptureTime, end: i64) {
        self.0.push(format!("{dir:?} window {at:?} {end}"));
    }
    fn sacked(&mut self, dir: Direction, part: &crate::event::StreamPart) {
        self.0.push(format!("{dir:?} sacked {part:?}"));
    }
    fn hole(&mut self, dir: Direction, part: &crate::event::StreamPart) {
        self.0.push(format!("{dir:?} hole {part:?}"));
    }
    fn recovery(&mut self, dir: Direction, recovery: &Recovery) {
        self.0.push(format!("{dir:?} {recovery:?}"));
    }
    fn signal(&mut self, dir: Direction, at: CaptureTime, signal: Signal) {
        self.0.push(format!("{dir:?} {at:?} {signal:?}"));
    }
    fn segment(&mut self, dir: Direction, segment: &ClassifiedSegment) {
        self.0.push(format!("{dir:?} {segment:?}"));
    }
}

/// What a connection told, and what it knows after it, each as text; and how many segments took the
/// quiet path.
fn run(trace: &str, quiet: bool) -> (Vec<String>, String, u64) {
    let mut connection = Connection::new();
    connection.loud = !quiet;
    let mut log = Log::default();
    let mut sides = [Side::new(999), Side::new(4999)];
    for (ordinal, line) in trace.lines().map(str::trim).enumerate() {
        let [at, way, words @ ..] = &line.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("no packet: {line}");
        };
        let dir = match *way {
            "A>B" => Direction::Forward,
            _ => Direction::Reverse,
        };
        let at = CaptureTime::from_ns(at.parse::<i64>().unwrap() * 1_000_000);
        let segment = packet(dir, at, ordinal as u64, words, &mut sides);
        connection.on_segment(dir, &segment, &mut log);
    }
    connection.finish(&mut log);
    // What was told, part by part, is what is known in the end.
    for dir in [Direction::Forward, Direction::Reverse] {
        let acked_bytes = connection.state(dir).acked_bytes.unwrap_or(0);
        assert_eq!(log.1[dir.index()], acked_bytes, "{trace}");
    }
    let taken = connection.quiet;
    (connection.quiet, connection.loud) = (0, false);
    // Found out only when it is asked for, and said only where it is of interest.
    for half in &mut connection.halves {
        (half.calm, half.times.heard_at) = (false, None);
    }
    log.0.append(&mut log.2);
    (log.0, format!("{connection:?}"), taken)
}

/// One step of a transfer from A to B.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// New data of so many bytes, after so many that went lost, which took an id a kilobyte.
    Data(i64, i64),
    /// So many packets of A are lost, of which only the ids tell.
    Lose(u16),
    /// Bytes sent before, so far below the highest.
    Again(i64, i64),
    /// B acknowledges all but so many bytes, with a window.
    Ack(i64, u16),
    /// B acknowledges so many bytes above all that was sent.
    Above(i64),
    /// A segment of another connection, so far from what was sent, or a FIN there.
    Stray(i64, bool),
    /// B repeats its last ACK, with a SACK block of what came after it.
    Sack(i64, i64),
    /// B repeats its last ACK, with the SACK block of before, grown, and one that it may have told of.
    Grow(i64, u8),
    /// B sends data of its own.
    Answer(i64),
    /// A sends its last ACK again, or a probe one below.
    Empty(bool),
    /// B acknowledges all, and its header is cut where options would be.
    Cut,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        10 => (prop_oneof![Just(900_i64), 1_i64..1500], Just(0_i64)).prop_map(|(len, gap)| Act::Data(len, gap)),
        1 => (1_i64..1100, prop_oneof![Just(1000_i64), 1_i64..3000]).prop_map(|(len, gap)| Act::Data(len, gap)),
        1 => (0_i64..6000, 1_i64..1500).prop_map(|(below, len)| Act::Again(below, len)),
        8 => (prop_oneof![3 => Just(0_i64), 2 => Just(900_i64), 1 => 0_i64..5000], prop_oneof![9 => Just(500_u16), 1 => 0_u16..40])
            .prop_map(|(short, window)| Act::Ack(short, window)),
        1 => (0_i64..3000, 1_i64..3000).prop_map(|(above, len)| Act::Sack(above, len)),
        6 => (prop_oneof![2 => Just(900_i64), 1 => 0_i64..2500], 0_u8..8).prop_map(|(by, others)| Act::Grow(by, others)),
        1 => (1_i64..1200).prop_map(Act::Answer),
        1 => any::<bool>().prop_map(Act::Empty),
        1 => (1_u16..4).prop_map(Act::Lose),
        1 => Just(Act::Cut),
        1 => prop_oneof![1_i64..100_000, Just(1_000_000)].prop_map(Act::Above),
        1 => prop_oneof![Just(20_000_000), 1_i64..200_000].prop_map(|gap| Act::Data(900, gap)),
        1 => (prop_oneof![Just(30_000_000_i64), Just(-30_000_000), -2000_i64..40_000], any::<bool>())
            .prop_map(|(by, fin)| Act::Stray(by, fin)),
    ]
}

/// How a trace looks apart from what happens in it.
#[derive(Clone, Copy, Debug)]
struct Style {
    opened: bool,
    timestamps: bool,
    ids: Option<u16>,
    /// ECN was agreed on, and so each direction marks: every packet with payload, nearly each of them, whatever, or none.
    marks: Option<[u8; 2]>,
}

fn style() -> impl Strategy<Value = Style> {
    (
        any::<bool>(),
        any::<bool>(),
        prop_oneof![3 => Just(Some(1)), 1 => Just(Some(0)), 1 => Just(Some(7919)), 1 => Just(None)],
        prop_oneof![
            Just(None),
            (0_u8..4, 0_u8..4).prop_map(|(own, peer)| Some([own, peer]))
        ],
    )
        .prop_map(|(opened, timestamps, ids, marks)| Style {
            opened,
            timestamps,
            ids,
            marks,
        })
}

fn write(style: Style, acts: &[(Act, i64)]) -> String {
    let mut text = String::new();
    if style.opened {
        let [ask, answer] = style.marks.map_or(["", ""], |_| [" ece cwr", " ece"]);
        let _ = writeln!(
            text,
            "0 A>B syn{ask}\n20 B>A syn ack 0{answer}\n30 A>B ack 0 id 1"
        );
    }
    // Highest byte and last ACK of both sides.
    let (mut high, mut acked, mut now) = ([0_i64; 2], [0_i64; 2], 40_i64);
    let mut ids = [1_u16, 500];
    let mut told: Vec<[i64; 2]> = Vec::new();
    for &(act, step) in acts {
        now += step;
        let (own, words) = match act {
            Act::Lose(packets) => {
                ids[0] = ids[0].wrapping_add(packets);
                continue;
            }
            Act::Stray(by, false) => {
                let start = (high[0] + by).max(0);
                (0, format!("data {start}..{} ack {}", start + 100, acked[0]))
            }
            Act::Stray(by, true) => (
                0,
                format!("at {} fin ack {}", (high[0] + by).max(0), acked[0]),
            ),
            Act::Above(by) => (1, format!("ack {}", high[0] + by)),
            Act::Cut => (1, format!("ack {} cut", high[0])),
            Act::Data(len, gap) => {
                let start = high[0] + gap;
                high[0] = start + len;
                ids[0] = ids[0].wrapping_add(gap.unsigned_abs().div_ceil(1000) as u16);
                (0, format!("data {start}..{} ack {}", high[0], acked[0]))
            }
            Act::Again(below, len) => {
                let start = (high[0] - below).max(0);
                (0, format!("data {start}..{} ack {}", start + len, acked[0]))
            }
            Act::Ack(short, window) => {
                acked[1] = acked[1].max(high[0] - short);
                (1, format!("ack {} win {window}", acked[1]))
            }
            Act::Sack(above, len) => {
                let start = acked[1] + 1 + above;
                told.insert(0, [start, start + len]);
                (1, format!("ack {} sack {start}..{}", acked[1], start + len))
            }
            Act::Grow(by, others) => {
                let mut words = format!("ack {}", acked[1]);
                if let Some([_, end]) = told.first_mut() {
                    // Mostly as far as something was sent.
                    *end += if others < 6 {
                        by.min((high[0] - *end).max(0))
                    } else {
                        by
                    };
                }
                for [start, end] in told.iter().take(1 + usize::from(others % 4)) {
                    let _ = write!(words, " sack {start}..{end}");
                }
                (1, words)
            }
            Act::Answer(len) => {
                let start = high[1];
                high[1] += len;
                acked[0] = high[1];
                (1, format!("data {start}..{} ack {}", high[1], acked[1]))
            }
            Act::Empty(probe) => (
                0,
                format!("at {} ack {}", high[0] - i64::from(probe), acked[0]),
            ),
        };
        let way = ["A>B", "B>A"][own];
        let _ = write!(text, "{now} {way} {words}");
        if style.timestamps {
            let _ = write!(text, " ts {}/{}", now + 1000, now + 970);
        }
        if let Some(by) = style.ids {
            ids[own] = ids[own].wrapping_add(by);
            let _ = write!(text, " id {}", ids[own]);
        }
        let is_marked = style.marks.is_some_and(|marks| match marks[own] {
            0 => words.starts_with("data"),
            1 => words.starts_with("data") && now % 8 != 0,
            2 => now % 2 == 1,
            _ => false,
        });
        if is_marked {
            text.push_str(" ect");
        }
        text.push('\n');
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn both_paths_tell_the_same(
        style in style(),
        acts in proptest::collection::vec((act(), prop_oneof![9 => 0_i64..8, 1 => -3_i64..900]), 1..80),
    ) {
        let trace = write(style, &acts);
        let (quiet, loud) = (run(&trace, true), run(&trace, false));
        prop_assert_eq!(&quiet.0, &loud.0, "{}", trace);
        prop_assert_eq!(&quiet.1, &loud.1, "{}", trace);
    }
}

/// A transfer without losses takes the quiet path from its second data segment and ACK on, so the
/// comparison above compares something.
#[test]
fn a_smooth_transfer_is_quiet() {
    let style = Style {
        opened: true,
        timestamps: true,
        ids: Some(1),
        marks: Some([0, 0]),
    };
    let round = [Act::Data(900, 0), Act::Data(900, 0), Act::Ack(0, 500)];
    let acts: Vec<(Act, i64)> = round
        .into_iter()
        .cycle()
        .take(90)
        .map(|act| (act, 3))
        .collect();
    let trace = write(style, &acts);
    let (quiet, loud) = (run(&trace, true), run(&trace, false));
    assert_eq!(quiet.0, loud.0);
    assert!(quiet.2 >= 80 && loud.2 == 0, "{} of 93", quiet.2);
}

/// While a hole is open, so do data and ACKs that report more and more above it.
#[test]
fn a_transfer_with_a_hole_is_quiet() {
    let style = Style {
        opened: true,
        timestamps: true,
        ids: Some(1),
        marks: Some([0, 0]),
    };
    let smooth = [Act::Data(900, 0), Act::Data(900, 0), Act::Ack(0, 500)];
    let hole = [Act::Data(900, 900), Act::Sack(899, 900)];
    let more = [Act::Data(900, 0), Act::Grow(900, 0)];
    let acts: Vec<(Act, i64)> = smooth
        .into_iter()
        .cycle()
        .take(30)
        .chain(hole)
        .chain(more.into_iter().cycle().take(60))
        .map(|act| (act, 3))
        .collect();
    let trace = write(style, &acts);
    let (quiet, loud) = (run(&trace, true), run(&trace, false));
    assert_eq!(quiet.0, loud.0);
    assert!(quiet.2 >= 80 && loud.2 == 0, "{} of 95", quiet.2);
}

/// What the next ACK may still tell of a repeat is not left to the one after it.
#[test]
fn an_ack_behind_a_repeat_that_was_repeated_is_not_quiet() {
    let trace = "0 A>B syn
20 B>A syn ack 0
30 A>B ack 0 id 1
58 B>A ack 0 cut id 502
60 A>B data 0..1 ack 0 id 3
60 A>B at 0 ack 0 id 4
60 A>B data 0..900 ack 0 id 5
60 B>A ack 0 id 503
60 A>B data 900..1800 ack 0 id 6
70 A>B data 1800..2700 ack 0 id 7
70 B>A ack 2700 id 504
70 A>B data 2700..3600 ack 0 id 8
70 B>A ack 3600 id 505";
    let (quiet, loud) = (run(trace, true), run(trace, false));
    assert_eq!(quiet.0, loud.0);
    assert_eq!(quiet.1, loud.1);
}

/// SACK reports data from above all that was seen until data passes that lies above, or the stream's end does.
#[test]
fn what_is_reported_from_above_is_so_no_more_when_the_end_of_the_stream_has_passed() {
    let trace = "40 B>A ack 0 sack 1..2 id 501
40 A>B data 0..1 ack 0 id 2
40 B>A ack 0 sack 1..2 id 502
40 A>B at 30000000 fin ack 0 id 3
40 B>A ack 0 sack 1..902 id 503";
    let (quiet, loud) = (run(trace, true), run(trace, false));
    assert_eq!(quiet.0, loud.0);
    assert_eq!(quiet.1, loud.1);
}

#[test]
fn a_timeout_that_was_taken_back_is_over_on_either_way() {
    let trace = "0 A>B syn
         20 B>A syn ack 0
         30 A>B ack 0 id 1
         40 A>B data 0..900 ack 0 ts 1040/1010 id 2
         40 A>B data 900..1800 ack 0 ts 1040/1010 id 3
         40 B>A ack 1800 win 500 ts 1040/1010 id 501
         216 A>B data 1800..1801 ack 0 ts 1216/1186 id 6
         216 B>A ack 1801 win 500 ts 1216/1186 id 502
         217 A>B data 534..535 ack 0 ts 1217/1187 id 7
         218 A>B data 1801..2701 ack 0 ts 1218/1188 id 8
         218 B>A ack 2701 win 500 ts 1218/1188 id 503
         218 A>B data 2701..3601 ack 0 ts 1218/1188 id 9
         218 B>A ack 3601 win 500 ts 1218/1188 id 504";
    let (quiet, loud) = (run(trace, true), run(trace, false));
    assert_eq!(quiet.0, loud.0);
    assert_eq!(quiet.1, loud.1);
}
