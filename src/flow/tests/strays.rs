//! A SYN between the segments of a connection: stray, or the beginning of the next one.
//!
//! A's numbers begin at 1000, B's at 5000. A segment is `A SYN 1000`, `B SYN,ACK 5000 1001` or, with
//! 100 bytes, `A ACK 1001 5001 100`: who, flags, sequence number, acknowledged, bytes.

use super::*;

fn segment(line: &str, ordinal: usize) -> Segment {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |index: usize| words.get(index).map_or(0, |word| word.parse().unwrap());
    let ends = [
        Endpoint::v4([10, 0, 0, 1], 1000),
        Endpoint::v4([10, 0, 0, 2], 80),
    ];
    let from = usize::from(words[0] == "B");
    let flags = words[1].split(',').fold(TcpFlags(0), |flags, word| {
        flags.with(match word {
            "SYN" => TcpFlags::SYN,
            "ACK" => TcpFlags::ACK,
            "FIN" => TcpFlags::FIN,
            "RST" => TcpFlags::RST,
            _ => panic!("which flag is '{word}'?"),
        })
    });
    Segment {
        at: CaptureTime::from_ns(ordinal as i64 * 1_000_000),
        ordinal: ordinal as u64,
        seq: Seq(number(2)),
        ack: Seq(number(3)),
        flags,
        payload_len: number(4),
        ip_len: 40 + number(4),
        ..Segment::empty(ends[from], ends[1 - from])
    }
}

/// Expects connections of these records, counted from 0 in the whole trace, segment by segment and
/// in windows of any size.
fn check(traces: &[&str], expected: &[&[u64]]) {
    check_apart(0, traces, expected);
}

/// The same of traces with a pause between them, in ms.
fn check_apart(pause_ms: i64, traces: &[&str], expected: &[&[u64]]) {
    let traces = (0..).zip(traces);
    let lines = traces.flat_map(|(number, trace)| trace.lines().map(move |line| (number, line)));
    let segments: Vec<Segment> = lines
        .enumerate()
        .map(|(ordinal, (number, line))| {
            let segment = segment(line, ordinal);
            let at = segment.at.plus_ns(number * pause_ms * 1_000_000);
            Segment { at, ..segment }
        })
        .collect();
    for window_len in 0..segments.len() {
        let found = connections::<false>(&segments, window_len);
        assert_eq!(found, expected, "windows of {window_len}");
        let found = connections::<true>(&segments, window_len);
        assert_eq!(found, expected, "waiting, windows of {window_len}");
    }
}

/// Records of each connection, in windows of so many segments; with 0 of them, one by one.
fn connections<const WAITS: bool>(segments: &[Segment], window_len: usize) -> Vec<Vec<u64>> {
    let limits = ConnectionLimits::default();
    let ended = match window_len {
        0 => one_by_one::<WAITS>(segments, limits),
        _ => by_connection::<WAITS>(segments, window_len.div_ceil(2), limits),
    };
    let ordinals = |(_, taken, _): End| -> Vec<u64> {
        let mut ordinals: Vec<u64> = taken.iter().map(|&(_, ordinal)| ordinal).collect();
        ordinals.sort_unstable();
        ordinals
    };
    ended.into_iter().map(ordinals).collect()
}

/// Records 0 to 4: A asks for something and gets it; nobody closes.
const OPEN: &str = "A SYN 1000
    B SYN,ACK 5000 1001
    A ACK 1001 5001
    A ACK 1001 5001 100
    B ACK 5001 1101 100";

#[test]
fn a_syn_that_a_challenge_ack_answers_is_a_stray_where_the_connection_goes_on() {
    // RFC 5961 section 4.2: B acknowledges what it has, and A, which is no rebooted host, goes on.
    check(
        &[
            OPEN,
            "A SYN 900000000
            B ACK 5101 1101
            A ACK 1101 5101 100
            B ACK 5101 1201",
        ],
        &[&[0, 1, 2, 3, 4, 5, 6, 7, 8]],
    );
}

#[test]
fn a_syn_that_nothing_answers_is_a_stray_where_the_connection_goes_on() {
    // Within the window, and where B alone sends data while A acknowledges it.
    check(
        &[
            OPEN,
            "A SYN 1500
            B ACK 5101 1101 100
            A ACK 1101 5201
            A ACK 1101 5201 100",
        ],
        &[&[0, 1, 2, 3, 4, 5, 6, 7, 8]],
    );
}

#[test]
fn a_syn_from_the_answering_side_is_a_stray_too() {
    check(
        &[OPEN, "B SYN 77\nB ACK 5101 1101 100\nA ACK 1101 5201"],
        &[&[0, 1, 2, 3, 4, 5, 6, 7]],
    );
}

#[test]
fn a_stray_syn_ack_is_no_new_connection() {
    // It acknowledges nothing that A ever sent, and A does not acknowledge its number.
    check(
        &[
            OPEN,
            "B SYN,ACK 700000000 800000001
            A ACK 1101 5101 100
            B ACK 5101 1201 100",
        ],
        &[&[0, 1, 2, 3, 4, 5, 6, 7]],
    );
}

#[test]
fn what_follows_a_syn_ack_in_a_capture_without_the_handshake_tells_whose_it_is() {
    // A's stream and B's were seen from 1001 and 5001 on: the connection cannot have opened with these numbers.
    let stray = "B SYN,ACK 700000000 800000001";
    let midst = "A ACK 1001 5001 100
        B ACK 5001 1101 100";
    let alone = "A ACK 1001 5001 100
        B ACK 5001 1101";
    // Both go on with theirs.
    for midst in [midst, alone] {
        check(
            &[
                midst,
                stray,
                "A ACK 1101 5001 100
                B ACK 5001 1201",
            ],
            &[&[0, 1, 2, 3, 4]],
        );
    }
    // A acknowledges it: the capture missed the SYN of the next connection, too.
    check(
        &[
            midst,
            stray,
            "A ACK 800000001 700000001
            A ACK 800000001 700000001 100",
        ],
        &[&[0, 1], &[2, 3, 4]],
    );
    // A copy of what opened it, late.
    check(
        &[
            midst,
            "B SYN,ACK 4900 901
            A ACK 1101 5101 100
            B ACK 5101 1201",
        ],
        &[&[0, 1, 2, 3, 4]],
    );
}

#[test]
fn another_answer_to_a_syn_of_the_same_number_begins_a_connection() {
    // A begins with 1000 each time, as small stacks do; B does not, and it had sent data. A's SYN could be a late
    // copy of the first one.
    for number in [900_000_000, 4_000_000_000_u32] {
        let next = format!(
            "A SYN 1000
            B SYN,ACK {number} 1001
            A ACK 1001 {first}
            A ACK 1001 {first} 100
            B ACK {first} 1101 100
            A ACK 1101 {second}",
            first = number + 1,
            second = number + 101,
        );
        check(
            &[OPEN, "B ACK 5001 1101 100\nA ACK 1101 5101", &next],
            &[&[0, 1, 2, 3, 4, 5, 6, 7], &[8, 9, 10, 11, 12]],
        );
        // Where both go on with what they had, something else answered.
        let stray = format!("B SYN,ACK {number} 1001\nB ACK 5101 1101 100\nA ACK 1101 5201");
        check(
            &[OPEN, "B ACK 5001 1101 100\nA ACK 1101 5101", &stray],
            &[&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
        );
    }
}

/// The capture lost the first answer and the second SYN: the second answer is of what comes then, as the first
/// connection is over and its answering side has sent data.
#[test]
fn the_answer_to_a_syn_that_was_not_seen_begins_a_connection_where_the_first_answer_was_not_seen_either()
 {
    check(
        &[
            "A SYN 1000
            A ACK 1001 5001
            A ACK 1001 5001 100
            B ACK 5001 1101 100
            A FIN,ACK 1101 5101
            B FIN,ACK 5101 1102
            A ACK 1102 5102",
            "B SYN,ACK 900000000 700000001
            A ACK 700000001 900000001
            A ACK 700000001 900000001 100
            B ACK 900000001 700000101 100",
        ],
        &[&[0, 1, 2, 3, 4, 5, 6], &[7, 8, 9, 10]],
    );
}

/// Whether a SYN of the opener and of its peer counts in each connection that has ended.
#[derive(Default)]
struct Openings(Vec<[bool; 2]>);

impl Observer for Openings {
    type Sink = Taken;

    fn open(&mut self, _: &ConnectionIdentity) -> Taken {
        Taken::default()
    }

    fn close(&mut self, _: &ConnectionIdentity, connection: &Connection, _: Taken, _: bool) {
        let ways = [Direction::Forward, Direction::Reverse];
        let opening = |dir| connection.handshake().opening(dir).is_some();
        self.0.push(ways.map(opening));
    }
}

#[test]
fn a_stray_syn_ack_announces_nothing() {
    // METRICS.md H1: the MSS would be that of another connection. The last one is B's own, a little late.
    for (answer, counts) in [
        ("B SYN,ACK 300000000 800000001", false),
        ("B SYN,ACK 5000 1001", true),
    ] {
        let trace = format!(
            "A ACK 1001 5001 100
            {answer}
            A ACK 1101 5001 100
            B ACK 5001 1201"
        );
        let mut table = ConnectionTable::new(Openings::default(), ConnectionLimits::default());
        for (ordinal, line) in trace.lines().enumerate() {
            table.on_segment(&segment(line, ordinal));
        }
        assert_eq!(table.finish().0.0, [[false, counts]], "{answer}");
    }
}

#[test]
fn strays_before_the_answer_to_a_syn_do_not_take_its_place() {
    // B acknowledges 1001, so the first SYN was the connection's.
    check(
        &["A SYN 1000
            A SYN 3000000
            B SYN,ACK 5000 1001
            A ACK 1001 5001
            A ACK 1001 5001 100"],
        &[&[0, 1, 2, 3, 4]],
    );
}

#[test]
fn a_syn_whose_number_is_acknowledged_begins_a_connection_though_none_was_closed() {
    // The host of A was switched off and on again.
    check(
        &[
            OPEN,
            "A SYN 900000000
            B SYN,ACK 7000 900000001
            A ACK 900000001 7001
            A ACK 900000001 7001 100",
        ],
        &[&[0, 1, 2, 3, 4], &[5, 6, 7, 8]],
    );
}

#[test]
fn data_in_the_new_sequence_space_begins_a_connection_where_one_way_was_captured() {
    check(
        &[
            "A SYN 1000\nA ACK 1001 5001\nA ACK 1001 5001 100",
            "A SYN 900000000\nA ACK 900000001 7001 100",
        ],
        &[&[0, 1, 2], &[3, 4]],
    );
    check(
        &[
            "A SYN 1000\nA ACK 1001 5001\nA ACK 1001 5001 100",
            "A SYN 900000000\nA ACK 900000101 7001 100",
        ],
        &[&[0, 1, 2], &[3, 4]],
    );
}

#[test]
fn ports_used_anew_just_behind_a_fin_begin_a_connection() {
    // Linux begins 65,537 above where the connection ended that it reuses the ports of; the other FIN was not
    // captured.
    check(
        &[
            "A SYN 1000\nA ACK 1001 5001 100\nA FIN,ACK 1101 5001",
            "A SYN 66639\nA ACK 66640 7001 100",
        ],
        &[&[0, 1, 2], &[3, 4]],
    );
}

/// Both sides have closed, and B waits for the ACK of its FIN, when A uses the ports again.
#[test]
fn what_answers_a_syn_for_a_connection_that_was_closed_stays_with_that() {
    let closed = &format!("{OPEN}\nA FIN,ACK 1101 5101\nB FIN,ACK 5101 1102");
    // A challenge ACK, which A resets (RFC 5961 section 4.2), and the SYN again a second later.
    let again = "A SYN 90000
        B ACK 5102 1102
        A RST 1102
        A SYN 90000";
    let answer = "B SYN,ACK 800000 90001
        A ACK 90001 800001";
    check(
        &[closed, again, answer],
        &[&[0, 1, 2, 3, 4, 5, 6, 8, 9], &[7, 10, 11, 12]],
    );
    // So does the last ACK of A, late, and nothing is a stray.
    check(
        &[closed, "A SYN 90000\nA ACK 1102 5102", answer],
        &[&[0, 1, 2, 3, 4, 5, 6, 8], &[7, 9, 10]],
    );
    // A SYN that nothing answers is a connection of its own.
    check(&[closed, "A SYN 90000"], &[&[0, 1, 2, 3, 4, 5, 6], &[7]]);
}

/// A's next number lies just below those that it used before, and the SYN-ACK was not captured.
#[test]
fn behind_a_connection_that_was_closed_the_first_number_of_the_next_one_tells() {
    let closed = &format!("{OPEN}\nA FIN,ACK 1101 5101\nB FIN,ACK 5101 1102");
    for next in ["A ACK 601 9001 100", "B ACK 9001 601 100"] {
        check(
            &[closed, "A SYN 600", next],
            &[&[0, 1, 2, 3, 4, 5, 6], &[7, 8]],
        );
    }
}

#[test]
fn a_capture_that_is_played_again_has_each_connection_again() {
    let closed = &format!("{OPEN}\nA FIN,ACK 1101 5101\nB FIN,ACK 5101 1102");
    let one_way = "A SYN 1000\nA ACK 1001 5001 100\nA RST 1101";
    check_apart(
        200,
        &[closed, closed],
        &[&[0, 1, 2, 3, 4, 5, 6], &[7, 8, 9, 10, 11, 12, 13]],
    );
    check_apart(200, &[one_way, one_way], &[&[0, 1, 2], &[3, 4, 5]]);
    // A SYN that was refused is sent again, with the number that it had.
    let refused = "A SYN 1000\nB RST,ACK 0 1001";
    check_apart(200, &[refused, OPEN], &[&[0, 1], &[2, 3, 4, 5, 6]]);
    // What comes at once is a copy of the SYN, and that of a connection that goes on is a repeat of it.
    check(&[closed, "A SYN 1000"], &[&[0, 1, 2, 3, 4, 5, 6, 7]]);
    let repeated = "A SYN 1000\nB SYN,ACK 5000 1001\nA ACK 1101 5101 100";
    check_apart(200, &[OPEN, repeated], &[&[0, 1, 2, 3, 4, 5, 6, 7]]);
}

#[test]
fn an_answer_whose_syn_was_not_captured_begins_a_connection_when_it_is_acknowledged() {
    check(
        &[
            OPEN,
            "B SYN,ACK 700000000 900000001
            A ACK 900000001 700000001
            A ACK 900000001 700000001 100",
        ],
        &[&[0, 1, 2, 3, 4], &[5, 6, 7]],
    );
}

/// A gives up a download and begins the next on the same ports at once: what B had sent by then comes between
/// the SYN and its answer, and A resets it.
#[test]
fn what_a_reset_made_useless_stays_with_its_connection() {
    let late = "A RST 1101
        A SYN 90000
        A RST 1101
        B ACK 5101 1101 100
        A RST 1101
        B ACK 5201 1101 100
        A RST 1101";
    let answer = "B SYN,ACK 800000 90001
        A ACK 90001 800001
        A ACK 90001 800001 100";
    check(
        &[OPEN, late, answer],
        &[&[0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11], &[6, 12, 13, 14]],
    );
    // The answer was not captured; or A's side alone was.
    check(
        &[OPEN, late, "B ACK 800001 90001 100"],
        &[&[0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11], &[6, 12]],
    );
    check(
        &[OPEN, late, "A ACK 90001 800001\nA ACK 90001 800001 100"],
        &[&[0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11], &[6, 12, 13]],
    );
    // Nothing answers: an attempt.
    check(&[OPEN, late], &[&[0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11], &[6]]);
    // B reset it, and what A had sent comes late, behind its SYN.
    check(
        &[
            OPEN,
            "B RST 5101
            A SYN 90000
            A ACK 1101 5101 100
            B RST 5101",
            answer,
        ],
        &[&[0, 1, 2, 3, 4, 5, 7, 8], &[6, 9, 10, 11]],
    );
}

#[test]
fn a_reboot_that_the_other_side_has_to_be_told_of() {
    // RFC 9293 figure 10: B still has the connection and acknowledges what it has; A answers with a reset, which
    // ends it, and repeats its SYN. ACK and reset belong to the earlier connection, both SYNs to the next.
    check(
        &[
            OPEN,
            "A SYN 900000000
            B ACK 5101 1101
            A RST 1101
            A SYN 900000000
            B SYN,ACK 7000 900000001
            A ACK 900000001 7001",
        ],
        &[&[0, 1, 2, 3, 4, 6, 7], &[5, 8, 9, 10]],
    );
}

#[test]
fn a_refused_syn_is_a_connection_of_its_own() {
    // RFC 9293 section 3.5.2: the reset acknowledges the SYN's number.
    check(
        &[OPEN, "A SYN 900000000\nB RST,ACK 0 900000001"],
        &[&[0, 1, 2, 3, 4], &[5, 6]],
    );
}

#[test]
fn who_refused_a_syn_may_begin_the_next_connection() {
    let refused = "A SYN 900000000\nB RST,ACK 0 900000001";
    check(
        &[
            refused,
            "B SYN 7000
            A SYN,ACK 950000000 7001
            B ACK 7001 950000001 100",
        ],
        &[&[0, 1], &[2, 3, 4]],
    );
    // Both sides at once (RFC 9293 section 3.5).
    check(
        &[
            refused,
            "B SYN 7000
            A SYN 950000000
            B SYN,ACK 7000 950000001
            A SYN,ACK 950000000 7001
            A ACK 950000001 7001 100",
        ],
        &[&[0, 1], &[2, 3, 4, 5, 6]],
    );
}

#[test]
fn syns_after_which_nothing_comes_are_attempts_of_their_own() {
    // Of two numbers; the first was repeated.
    check(
        &[
            OPEN,
            "A SYN 900000000
            A SYN 900000000
            A SYN 950000000",
        ],
        &[&[0, 1, 2, 3, 4], &[5, 6], &[7]],
    );
}

#[test]
fn of_several_attempts_the_answered_one_begins_the_connection() {
    check(
        &["A SYN 1000
            A SYN 3000000
            A SYN 900000000
            B SYN,ACK 5000 900000001
            A ACK 900000001 5001 100"],
        &[&[0], &[1], &[2, 3, 4]],
    );
}

#[test]
fn more_strays_than_are_held_do_not_split_a_connection() {
    let strays: Vec<String> = (0..20)
        .map(|n| format!("A SYN {}", 900_000_000 + n))
        .collect();
    let all: Vec<u64> = (0..27).collect();
    check(
        &[
            OPEN,
            &strays.join("\n"),
            "A ACK 1101 5101 100\nB ACK 5101 1201",
        ],
        &[&all],
    );
}

/// Like a connection without anything held: whether it was looked at in the meantime plays no part.
#[test]
fn a_syn_held_of_a_connection_that_falls_silent_came_to_nothing() {
    const SECOND_NS: i64 = 1_000_000_000;
    let limits = ConnectionLimits {
        idle_ns: 10 * SECOND_NS,
        ..ConnectionLimits::default()
    };
    let at = |line: &str, ordinal: usize, second: i64| Segment {
        at: CaptureTime::from_ns(second * SECOND_NS),
        ..segment(line, ordinal)
    };
    let own = |lines: &'static str, second: i64| {
        let lines = lines.lines().map(str::trim).enumerate();
        lines.map(move |(ordinal, line)| at(line, ordinal, second))
    };
    let company = (1..6).map(|turn| Segment {
        src: Endpoint::v4([10, 0, 0, 9], 9),
        ..at("A ACK 1 1 100", 100 + turn, turn as i64 * 30)
    });
    let alone: Vec<Segment> = own(OPEN, 0)
        .chain([at("A SYN 900000000", 5, 1)])
        .chain([at("B SYN,ACK 70 900000001", 6, 160)])
        .collect();
    let mut beside = alone.clone();
    beside.splice(6..6, company);
    for segments in [alone, beside] {
        let found: Vec<Vec<u64>> = one_by_one::<true>(&segments, limits)
            .into_iter()
            .map(|(_, taken, _)| taken.iter().map(|&(_, ordinal)| ordinal).collect())
            .filter(|ordinals: &Vec<u64>| ordinals[0] < 100)
            .collect();
        assert_eq!(found, [vec![0, 1, 2, 3, 4], vec![5], vec![6]]);
    }
}
