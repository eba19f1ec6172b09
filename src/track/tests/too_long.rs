//! Packets that were longer than the path takes, sent again in pieces (RFC 1191 section 4).

use std::fmt::Write as _;

use super::{check, last_reason, opened, play};
use crate::event::{Class, Reason};

/// Ids 6 to 9 were 4000..8000, which a router in front of here dropped and told of: all four are sent again in pieces
/// of 600 bytes, sooner than a round trip later.
const PIECES: &str = "100 A>B data 0..1000 id 2
     101 A>B data 1000..2000 id 3
     102 A>B data 2000..3000 id 4
     103 A>B data 3000..4000 id 5
     123 B>A ack 4000
     138 A>B data 4000..4600 id 10
     138 A>B data 4600..5000 id 11
     138 A>B data 5000..5600 id 12
     138 A>B data 5600..6000 id 13
     138 A>B data 6000..6600 id 14
     138 A>B data 6600..7000 id 15
     158 B>A ack 7000
     168 A>B data 7000..7600 id 16
     168 A>B data 7600..8000 id 17
     168 A>B data 8000..8600 id 18
     188 B>A ack 8600";

/// How many of A's packets repeat bytes.
fn repeats(trace: &str) -> usize {
    let rows = play(&opened(trace)).rows;
    let repeats = |class| class == Class::Retransmission;
    rows.iter().filter(|row| repeats(row.verdict.class)).count()
}

#[test]
fn packets_too_long_for_the_path_are_repeated_in_pieces() {
    check(
        &opened(PIECES),
        "100 new 0..1000 rtt 23 stretch_ack
         101 new 1000..2000 rtt 22 stretch_ack
         102 new 2000..3000 rtt 21 stretch_ack
         103 new 3000..4000 rtt 20 stretch_ack
         138 retransmission 4000..4600 fast upstream ip_id
         138 retransmission 4600..5000 fast upstream ip_id
         138 retransmission 5000..5600 fast upstream ip_id
         138 retransmission 5600..6000 fast upstream ip_id
         138 retransmission 6000..6600 fast upstream ip_id
         138 retransmission 6600..7000 fast upstream ip_id
         168 retransmission 7000..7600 fast upstream ip_id
         168 retransmission 7600..8000 fast upstream ip_id
         168 new 8000..8600 rtt 20 recovery",
    );
    // As many packets were lost as ids skipped, however many pieces they became.
    let seen = play(&opened(PIECES));
    assert_eq!((seen.lost, seen.state.skipped_packets), ([4, 0], 4));
    // After as long as a timer takes, too.
    let late = [
        ("138", "438"),
        ("158", "458"),
        ("168", "468"),
        ("188", "488"),
    ];
    let later = late.iter().fold(PIECES.to_owned(), |trace, (from, to)| {
        trace
            .replace(&format!("{from} A"), &format!("{to} A"))
            .replace(&format!("{from} B"), &format!("{to} B"))
    });
    assert_eq!(repeats(&later), 8);
}

#[test]
fn what_is_shorter_is_no_piece_where_it_ends_what_was_to_be_sent_or_the_next_does_not_fit() {
    let pushed = PIECES.replace("4600 id 10", "4600 psh id 10");
    assert_eq!(repeats(&pushed), 0);
    // Nor where SACK blocks take room.
    let reports = PIECES.replace("4600 id 10", "4600 ack 0 sack 500..600 id 10");
    assert_eq!(repeats(&reports), 0);
    // Neither as long as the one before nor the rest of a packet.
    let other = PIECES
        .replace("4600..5000", "4600..5100")
        .replace("5000..5600", "5100..5600");
    assert_eq!(repeats(&other), 0);
    // Nothing was skipped.
    let all_here = (10..=18).fold(PIECES.to_owned(), |trace, id| {
        trace.replace(&format!("id {id}"), &format!("id {}", id - 4))
    });
    assert_eq!(repeats(&all_here), 0);
}

#[test]
fn a_sender_that_fills_no_packet_sends_no_pieces() {
    // B announces 1000. Id 3 is none of these bytes', which nobody can have sent before 80.
    let first_flight = "60 B>A data 0..100 ack 0
         80 A>B ack 100 id 2
         82 A>B data 0..900 ack 100 id 4
         82 A>B data 900..1800 ack 100 id 5
         82 A>B data 1800..2500 ack 100 id 6
         102 B>A ack 2500";
    assert_eq!(repeats(first_flight), 0);
    // But the rest of a full one shows that it was filled.
    let rest = first_flight
        .replace("900..1800", "900..1000")
        .replace("1800..2500", "1000..1900");
    assert_eq!(repeats(&rest), 2);
}

#[test]
fn timestamps_leave_less_room_in_a_packet_than_the_mss() {
    // Frames of several packets tell nothing but the MSS, 1000, of which timestamps take 12. Other packets took ids 14
    // and 15.
    let trace = "100 A>B data 0..2964 ts 100/20 id 2
         120 B>A ack 2964 ts 120/100
         130 A>B data 2964..5928 ts 130/120 id 5
         150 B>A ack 5928 ts 150/130
         160 A>B data 5928..8892 ts 160/150 id 8
         180 B>A ack 8892 ts 180/160
         190 A>B data 8892..11856 ts 190/180 id 11
         210 B>A ack 11856 ts 210/190
         220 A>B data 11856..12844 ts 220/210 id 16
         220 A>B data 12844..13832 ts 220/210 id 17
         240 B>A ack 13832 ts 240/220";
    assert_eq!(repeats(trace), 0);
    // Of 600 bytes they are pieces.
    let pieces = trace.replace("12844", "12456").replace("13832", "13056");
    assert_eq!(repeats(&pieces), 2);
}

#[test]
fn pieces_go_on_above_what_was_short_enough() {
    // Ids 6 to 9 were 4000..8000 and 11 and 12 8400..10400.
    let trace = "100 A>B data 0..1000 id 2
         101 A>B data 1000..2000 id 3
         102 A>B data 2000..3000 id 4
         103 A>B data 3000..4000 id 5
         123 B>A ack 4000
         133 A>B data 8000..8400 psh id 10
         138 A>B data 4000..4600 id 13
         138 A>B data 4600..5000 id 14
         138 A>B data 5000..5600 id 15
         138 A>B data 5600..6000 id 16
         138 A>B data 6000..6600 id 17
         138 A>B data 6600..7000 id 18
         138 A>B data 7000..7600 id 19
         138 A>B data 7600..8000 id 20
         138 A>B data 8400..9000 id 21
         138 A>B data 9000..9400 id 22
         138 A>B data 9400..10000 id 23
         138 A>B data 10000..10400 id 24
         139 A>B data 10400..11000 id 25
         159 B>A ack 11000";
    let rows = play(&opened(trace)).rows;
    let new: Vec<i64> = rows
        .iter()
        .filter(|row| row.verdict.class == Class::New)
        .map(|row| row.offset)
        .collect();
    assert_eq!(new, [0, 1000, 2000, 3000, 8000, 10_400]);
    let seen = play(&opened(trace));
    assert_eq!((seen.lost, seen.state.skipped_packets), ([6, 0], 6));
}

#[test]
fn a_path_may_take_less_twice() {
    // First 1000 bytes, then 600 while there was nothing above that for long, then 400.
    let trace = "40 A>B data 0..1000 id 2
         60 B>A ack 1000
         90 A>B data 1000..1600 psh id 3
         91 A>B data 1600..2200 psh id 4
         92 A>B data 2200..2800 psh id 5
         93 A>B data 2800..3400 psh id 6
         94 A>B data 3400..4000 psh id 7
         95 A>B data 4000..4600 psh id 8
         96 A>B data 4600..5200 psh id 9
         97 A>B data 5200..5800 psh id 10
         98 A>B data 5800..6400 psh id 11
         118 B>A ack 6400
         133 A>B data 6400..6800 id 14
         133 A>B data 6800..7000 id 15
         133 A>B data 7000..7400 id 16
         133 A>B data 7400..7600 psh id 17
         133 A>B data 7600..8000 id 18
         153 B>A ack 8000";
    assert_eq!(repeats(trace), 4);
}

#[test]
fn frames_that_a_router_has_cut_anew_are_no_timers_and_tell_how_long_packets_are() {
    // Two frames of four packets each, which are too long for the path: 600 bytes are not. A router says so within 2 ms.
    let rows = play(&opened(
        "100 A>B data 0..4000 ack 0 id 2
         101 A>B data 4000..8000 ack 0 id 6
         103 A>B data 0..3000 ack 0 id 10
         103 A>B data 3000..4000 ack 0 id 15
         103 A>B data 4000..7000 ack 0 id 17
         103 A>B data 7000..8000 ack 0 id 22
         124 B>A ack 8000
         134 A>B data 8000..11000 ack 0 id 24
         135 A>B data 11000..14000 ack 0 id 29
         136 A>B data 14000..17000 ack 0 id 34
         156 B>A ack 17000",
    ))
    .rows;
    let reasons: Vec<_> = rows.iter().filter_map(|row| row.verdict.reason).collect();
    assert_eq!(reasons, [Reason::Fast; 4]);
}

#[test]
fn merged_frames_may_be_of_packets_shorter_than_half_of_what_the_receiver_takes() {
    // Packets of 300 bytes, of which some frames are no longer than one of the 1000 that B takes, and one silence.
    let repeats_of = |packet: u32| {
        let (mut trace, mut start, mut id) = (String::new(), 0, 2);
        for (n, packets) in [4, 5, 6, 2, 2, 3, 3, 2, 2, 5, 3, 3].into_iter().enumerate() {
            let (at, end) = (100 + 40 * n as u32, start + packet * packets);
            let at = if n < 8 { at } else { at + 400 };
            writeln!(trace, "{at} A>B data {start}..{end} ack 0 id {id}").unwrap();
            writeln!(trace, "{} B>A ack {end}", at + 20).unwrap();
            (start, id) = (end, id + packets);
        }
        repeats(&trace)
    };
    assert_eq!(repeats_of(300), 0);
}

#[test]
fn no_frame_that_was_sent_once_is_a_timers_sooner_than_a_round_trip_later() {
    // The same, of frames whose packets are of a third of the size, so that they are repeated whole; nobody asked for it.
    let reasons = |at: u32| -> Vec<Reason> {
        let rows = play(&opened(&format!(
            "100 A>B data 0..3000 ack 0 ts 100/20
             101 A>B data 3000..6000 ack 0 ts 101/20
             {at} A>B data 0..3000 ack 0 ts {at}/20
             {} A>B data 3000..6000 ack 0 ts {}/20
             {} B>A ack 6000 ts 9000/{at}",
            at + 1,
            at + 1,
            at + 25
        )))
        .rows;
        rows.iter().filter_map(|row| row.verdict.reason).collect()
    };
    assert_eq!(reasons(110), [Reason::Fast; 2]);
    assert_eq!(reasons(400), [Reason::Timeout; 2]);
}

#[test]
fn no_timer_repeats_a_frame_within_two_ms_however_short_a_round_trip_is() {
    // A round trip takes less than a millisecond, and frames have four packets of up to 1000 bytes. Two ticks of 1000 a
    // second are the shortest timer.
    let reasons = |frames: [&str; 2], at: u32| {
        let [first, second] = frames;
        let trace = format!(
            "0 A>B syn
             0 B>A syn ack 0
             0 A>B ack 0
             10 A>B data 0..4000 ack 0
             10 A>B data 4000..8000 ack 0
             {at} A>B data {first} ack 0
             {at} A>B data {second} ack 0
             {at} B>A ack 8000"
        );
        let rows = play(&trace).rows;
        rows.iter()
            .filter_map(|row| row.verdict.reason)
            .collect::<Vec<_>>()
    };
    // As long, but of packets of less, and cut otherwise.
    for frames in [["0..4000", "4000..8000"], ["0..3200", "3200..8000"]] {
        assert_eq!(reasons(frames, 11), [Reason::Fast; 2], "{frames:?}");
        assert_eq!(reasons(frames, 210), [Reason::Timeout; 2], "{frames:?}");
    }
}

#[test]
fn a_short_timer_repeats_the_first_packet_of_a_frame() {
    // A round trip takes 30 ms, and 1000 bytes are a full packet: no router has said that it is too big.
    let trace = "100 A>B data 0..1000
         120 B>A ack 1000
         160 A>B data 1000..4000
         210 A>B data 1000..2000";
    assert_eq!(last_reason(&opened(trace)), Some(Reason::Timeout));
}
