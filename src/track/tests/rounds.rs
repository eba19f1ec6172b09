//! What was skipped while a repair goes on, round by round (METRICS.md, what skipped ids tell).

use super::{check, last_reason, opened, opened_bare, play};
use crate::event::{Class, ClassifiedSegment, Reason};

/// Every second packet of a flight is lost: 1000, 3000, 5000, 7000 and 9000. Each repeat but the last is followed by new
/// data, of which all is lost as well, ids 14, 16, 18 and 20. No packet is missing between the repeats, so these ids
/// were no repeats. Which copy an ACK answers is not known, so repeats give no round trip (RFC 6298 section 3).
#[test]
fn ids_skipped_between_repeats_that_leave_nothing_out_were_new_data() {
    check(
        &opened(
            "100 A>B data 0..1000 id 2
             102 A>B data 2000..3000 id 4
             104 A>B data 4000..5000 id 6
             106 A>B data 6000..7000 id 8
             108 A>B data 8000..9000 id 10
             110 A>B data 10000..11000 id 12
             120 B>A ack 1000
             122 B>A ack 1000 sack 2000..3000
             124 B>A ack 1000 sack 4000..5000 sack 2000..3000
             126 B>A ack 1000 sack 6000..7000 sack 4000..5000 sack 2000..3000
             128 B>A ack 1000 sack 8000..9000 sack 6000..7000 sack 4000..5000
             130 B>A ack 1000 sack 10000..11000 sack 8000..9000 sack 6000..7000
             140 A>B data 1000..2000 id 13
             141 A>B data 3000..4000 id 15
             142 A>B data 5000..6000 id 17
             143 A>B data 7000..8000 id 19
             144 A>B data 9000..10000 id 21
             160 B>A ack 3000 sack 10000..11000 sack 8000..9000 sack 6000..7000
             161 B>A ack 5000 sack 10000..11000 sack 8000..9000 sack 6000..7000
             162 B>A ack 7000 sack 10000..11000 sack 8000..9000
             163 B>A ack 9000 sack 10000..11000
             164 B>A ack 11000
             174 A>B data 11000..12000 id 22
             175 A>B data 12000..13000 id 23
             176 A>B data 13000..14000 id 24
             177 A>B data 14000..15000 id 25
             178 A>B data 15000..16000 id 26",
        ),
        "100 new 0..1000 rtt 20 clean
         102 new 2000..3000 rtt 20 sack
         104 new 4000..5000 rtt 20 sack
         106 new 6000..7000 rtt 20 sack
         108 new 8000..9000 rtt 20 sack
         110 new 10000..11000 rtt 20 sack
         140 retransmission 1000..2000 fast upstream ip_id
         141 retransmission 3000..4000 fast upstream ip_id
         142 retransmission 5000..6000 fast upstream ip_id
         143 retransmission 7000..8000 fast upstream ip_id
         144 retransmission 9000..10000 fast upstream ip_id
         174 retransmission 11000..12000 fast upstream ip_id
         175 retransmission 12000..13000 fast upstream ip_id
         176 retransmission 13000..14000 fast upstream ip_id
         177 retransmission 14000..15000 fast upstream ip_id
         178 new 15000..16000",
    );
}

/// Every second packet of a flight is lost, and all that is sent after each repeat: what lies above all that came, as
/// often as it is repeated. An id is skipped before each packet then and no byte is missing, and yet no other
/// connection took these ids.
#[test]
fn ids_skipped_while_a_lost_tail_is_repeated_are_not_doubted() {
    /// Packets repeated in a round, and those before, all of which come.
    const LOST: i64 = 12;
    const BEFORE: i64 = 4 * LOST;
    const HIGH: i64 = BEFORE + 2 * LOST + 1;
    let mut trace = Vec::new();
    let mut send = |at: i64, packet: i64, id: i64, answer: &str| {
        let (start, end) = (1000 * packet, 1000 * packet + 1000);
        trace.push((at, format!("{at} A>B data {start}..{end} id {id}")));
        trace.push((at + 20, format!("{} B>A {answer}", at + 20)));
    };
    let ack_of = |packet: i64| format!("ack {}", 1000 * packet + 1000);
    for n in 0..=BEFORE {
        send(40 + n, n, 2 + n, &ack_of(n));
    }
    for n in 1..=LOST {
        let (edge, start) = (ack_of(BEFORE), 1000 * (BEFORE + 2 * n));
        let sack = format!("{edge} sack {start}..{}", start + 1000);
        send(100 + n, BEFORE + 2 * n, 2 + BEFORE + 2 * n, &sack);
    }
    let first_round = HIGH + 2;
    for n in 0..LOST {
        let packet = BEFORE + 2 * n + 1;
        send(140 + n, packet, first_round + 2 * n, &ack_of(packet + 1));
    }
    // Nothing follows the last of a round: of that its sender would not know yet.
    let second_round = first_round + 2 * LOST - 1;
    for n in 0..LOST - 1 {
        let packet = HIGH + n;
        send(172 + n, packet, second_round + 2 * n, &ack_of(packet));
    }
    let third_round = second_round + 2 * (LOST - 1) - 1;
    for n in 0..LOST - 1 {
        let packet = HIGH + LOST - 1 + n;
        send(204 + n, packet, third_round + n, &ack_of(packet));
    }
    trace.sort();
    let trace: Vec<String> = trace.into_iter().map(|(_, line)| line).collect();
    let seen = play(&opened(&trace.join("\n")));
    let again = |row: &&ClassifiedSegment| row.verdict.class == Class::Retransmission;
    // All but the last packet of the third round, which nothing was lost of before.
    assert_eq!(seen.rows.iter().filter(again).count() as i64, 3 * LOST - 3);
    assert_eq!(seen.lost, [3 * LOST - 3, 0]);
}

/// The receiver reports no more than the lowest range: that 3000..6000 is missing nobody told A, which repeats it after
/// 1000 all the same. Of that 4000..5000 is lost, with id 11, and 7000 was not sent before.
#[test]
fn what_is_missing_between_repeats_was_repeated_though_nobody_told_of_it() {
    let seen = play(&opened(
        "100 A>B data 0..1000 id 2
         102 A>B data 2000..3000 id 4
         106 A>B data 6000..7000 id 8
         120 B>A ack 1000
         122 B>A ack 1000 sack 2000..3000
         126 B>A ack 1000 sack 2000..3000
         140 A>B data 1000..2000 id 9
         141 A>B data 3000..4000 id 10
         142 A>B data 5000..6000 id 12
         160 B>A ack 3000
         161 B>A ack 4000
         162 B>A ack 4000 sack 5000..7000
         172 A>B data 4000..5000 id 13
         192 B>A ack 7000
         202 A>B data 7000..8000 id 14",
    ));
    let last = seen.rows.last().map(|row| row.verdict.class);
    assert_eq!((last, seen.lost), (Some(Class::New), [4, 0]));
}

/// 900 and 2700 were repeated, of which A has not heard when a timer makes it go back to them: 2700 comes, and of id 12
/// is known what it was, for the lowest is repeated first. 7200 was not sent before.
#[test]
fn what_goes_back_begins_at_the_left_edge_that_its_sender_knows() {
    let last = |echo: u32| {
        let seen = play(&opened(&format!(
            "100 A>B data 0..900 id 2 ts 90/10
             101 A>B data 1800..2700 id 4 ts 91/10
             102 A>B data 3600..4500 id 6 ts 92/10
             103 A>B data 4500..5400 id 7 ts 93/10
             104 A>B data 5400..6300 id 8 ts 94/10
             120 B>A ack 900 ts 120/90
             121 B>A ack 900 sack 1800..2700 ts 121/90
             122 B>A ack 900 sack 3600..4500 sack 1800..2700 ts 122/90
             123 B>A ack 900 sack 3600..5400 sack 1800..2700 ts 123/90
             124 B>A ack 900 sack 3600..6300 sack 1800..2700 ts 124/90
             134 A>B data 900..1800 id 9 ts 124/124
             135 A>B data 2700..3600 id 10 ts 125/124
             150 A>B data 6300..7200 id 11 ts 140/124
             154 B>A ack 2700 sack 3600..6300 ts 154/124
             155 A>B data 2700..3600 id 13 ts 145/{echo}
             156 B>A ack 6300 ts 156/125
             170 B>A ack 7200 ts 170/140
             190 A>B data 7200..8100 id 14 ts 180/170
             210 B>A ack 8100 ts 210/180"
        )));
        seen.rows.last().map(|row| row.verdict.class)
    };
    assert_eq!(last(124), Some(Class::New));
    // Who has heard of that ACK repeats nothing below 2700: the id was that of new data.
    assert_eq!(last(154), Some(Class::Retransmission));
}

/// Packets before a flight, all of which come.
const BEFORE: i64 = 40;
/// As many bytes as fit with timestamps, or a little less.
const LEN: i64 = 900;

/// Where a packet lies in the stream, by its number in the flight.
fn range(packet: i64) -> String {
    let start = LEN * (BEFORE + packet);
    format!("{start}..{}", start + LEN)
}

/// A packet of the flight, by its sender's clock, which had last heard of what B sent at `heard`.
fn data(at: i64, packet: i64, id: i64, heard: i64) -> String {
    let id = BEFORE + id;
    format!("{at} A>B data {} id {id} ts {at}/{heard}\n", range(packet))
}

/// B acknowledges all below `packet`, reports others, and echoes what A sent at `echo`.
fn ack(at: i64, packet: i64, reported: &[i64], echo: i64) -> String {
    let blocks = reported
        .iter()
        .map(|&packet| format!("sack {}", range(packet)));
    let (sack, edge) = (
        blocks.collect::<Vec<String>>().join(" "),
        LEN * (BEFORE + packet),
    );
    format!("{at} B>A ack {edge} {sack} ts {at}/{echo}\n")
}

/// What comes before the flight.
fn before() -> String {
    let sent = (0..BEFORE).map(|n| data(40 + n, n - BEFORE, 2 + n - BEFORE, 30));
    sent.chain([ack(99, 0, &[], 79)]).collect()
}

/// The class of the last packet, and how many are retransmissions.
fn last_and_repeats(trace: &str) -> (Option<Class>, usize) {
    let rows = play(&opened(trace)).rows;
    let classes = || rows.iter().map(|row| row.verdict.class);
    let repeats = classes().filter(|&class| class == Class::Retransmission);
    (classes().next_back(), repeats.count())
}

/// Of a flight of 20 packets 0, 10 and 19 come, and of the first round of repeats 1, 3 and 5. In the second one A goes on
/// with 11 and 12 in between, which are lost again: what it has known to be lost for a round trip comes before new data,
/// so that these ids were repeats although nothing is missing between those that come.
#[test]
fn what_was_known_to_be_lost_is_repeated_before_new_data_even_where_repeats_leave_nothing_out() {
    let mut trace = before();
    trace += &(data(100, 0, 2, 30) + &data(110, 10, 12, 30) + &data(119, 19, 21, 30));
    trace += &(ack(120, 1, &[], 100) + &ack(130, 1, &[10], 100) + &ack(139, 1, &[19, 10], 100));
    trace += &(data(151, 1, 22, 139) + &data(153, 3, 24, 139) + &data(155, 5, 26, 139));
    trace +=
        &(ack(171, 2, &[19, 10], 151) + &ack(173, 2, &[3, 19], 151) + &ack(175, 2, &[5, 3], 151));
    // Repeats 6 to 9 were lost, and so is 11 with id 31, and 12 with id 33.
    trace += &(data(186, 2, 32, 175) + &data(188, 4, 34, 175));
    trace += &(ack(206, 4, &[19], 186) + &ack(208, 6, &[19], 188));
    let rest = [6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18];
    for (place, packet) in (0..).zip(rest) {
        trace += &data(219 + place, packet, 35 + place, 208);
    }
    trace += &(ack(239, 7, &[19], 219) + &ack(250, 20, &[], 230) + &data(261, 20, 47, 250));
    assert_eq!(last_and_repeats(&trace), (Some(Class::New), 17));
}

/// Packets 1, 3 and 4 of a flight are lost. Three that were sent later tell of 1, which A repeats, and as it repairs then,
/// one tells of 3, which it repeats next. Both of these are lost, ids 8 and 9, and a timer brings all three. 6 is new.
#[test]
fn in_a_repair_one_later_packet_tells_of_a_loss_whether_its_repeats_came_or_not() {
    let mut trace = before();
    trace += &(data(100, 0, 2, 30) + &data(102, 2, 4, 30) + &data(105, 5, 7, 30));
    trace += &(ack(120, 1, &[], 100) + &ack(122, 1, &[2], 100) + &ack(125, 1, &[5, 2], 100));
    trace += &(data(400, 1, 10, 125) + &ack(420, 3, &[5], 400));
    trace += &(data(431, 3, 11, 420) + &data(432, 4, 12, 420));
    trace += &(ack(451, 4, &[5], 431) + &ack(452, 6, &[], 432) + &data(463, 6, 13, 452));
    assert_eq!(last_and_repeats(&trace), (Some(Class::New), 3));
}

#[test]
fn what_is_left_out_when_something_new_is_tried_had_been_given_up_by_the_timer() {
    // 2000 and what follows was lost before it came here, and nothing tells how much, until the sender tries something
    // new (RFC 5682 section 2.1).
    let trace = |tried: u32, ms: u32| {
        format!(
            "100 A>B data 0..1000
             120 B>A ack 1000
             130 A>B data 1000..2000
             600 A>B data 1000..2000
             620 B>A ack 2000
             {ms} A>B data {tried}..{}
             {} B>A ack 2000 sack {tried}..{}
             {} A>B data 2000..3000",
            tried + 1000,
            ms + 20,
            tried + 1000,
            ms + 120
        )
    };
    let bare = |tried, ms| trace(tried, ms).replace(" sack 5000..6000", "");
    assert_eq!(
        last_reason(&opened(&trace(5000, 650))),
        Some(Reason::Timeout)
    );
    assert_eq!(
        last_reason(&opened_bare(&bare(5000, 650))),
        Some(Reason::Timeout)
    );
    // Two packets may have been tried before it; and what comes later answers something else.
    assert_eq!(last_reason(&opened(&trace(4000, 650))), Some(Reason::Fast));
    assert_eq!(last_reason(&opened(&trace(5000, 665))), Some(Reason::Fast));
    // Nor where the sender had repeated something else since: then it went on with what is new.
    let goes_on = "100 A>B data 0..1000
         120 B>A ack 1000
         130 A>B data 1000..2000
         131 A>B data 2000..3000
         600 A>B data 1000..2000
         620 B>A ack 2000
         630 A>B data 2000..3000
         650 B>A ack 3000
         660 A>B data 6000..7000
         680 B>A ack 3000
         780 A>B data 3000..4000";
    assert_eq!(last_reason(&opened_bare(goes_on)), Some(Reason::Fast));
}
