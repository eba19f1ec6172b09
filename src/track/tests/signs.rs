//! What ACKs and empty segments say (METRICS.md I1, X4, X7).

use super::{check_in_flight, check_signs, opened, play};
use crate::event::Reason;

#[test]
fn bytes_in_flight_are_those_sent_less_those_reported() {
    check_in_flight(
        &opened(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             103 A>B data 3000..4000
             121 B>A ack 0 sack 1000..3000
             122 A>B data 4000..5000
             140 B>A ack 3000
             141 A>B data 5000..6000",
        ),
        &[
            Some(1000),
            Some(2000),
            Some(3000),
            Some(4000),
            Some(3000),
            Some(3000),
        ],
    );
}

#[test]
fn before_the_first_ack_bytes_in_flight_are_unknown() {
    check_in_flight(
        "100 A>B data 5000..6000
         120 B>A ack 6000
         130 A>B data 6000..7000",
        &[None, Some(1000)],
    );
}

#[test]
fn an_ack_that_moves_nothing_while_data_is_out_is_a_duplicate() {
    check_signs(
        &opened(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             120 B>A ack 1000
             121 B>A ack 1000
             122 B>A ack 1000 win 400
             123 B>A ack 2000 win 400
             124 B>A ack 2000 win 400",
        ),
        // At 122 the window changes, at 124 nothing is outstanding (RFC 5681 section 2).
        &["121 DupAck"],
    );
}

#[test]
fn a_sack_hole_that_closes_without_a_copy_is_reordering_at_the_receiver() {
    check_signs(
        &opened(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             121 B>A ack 0 sack 1000..2000
             122 B>A ack 2000",
        ),
        &["121 SackBlocks(1)", "121 DupAck", "122 ReorderedAtReceiver"],
    );
}

#[test]
fn the_last_byte_of_the_window_fills_it() {
    // A window of 8 with a scale of 7 is 1024 bytes.
    check_signs(
        &opened(
            "100 A>B data 0..1000
             120 B>A ack 1000 win 8
             130 A>B data 1000..2000
             131 A>B data 2000..2024
             150 B>A ack 2024 win 0",
        ),
        &["131 WindowFull", "150 ZeroWindow"],
    );
}

#[test]
fn a_window_is_closed_before_the_first_data_of_a_capture_too() {
    // METRICS.md X7: the capture starts mid-flow, while the sender waits for room.
    check_signs(
        "100 B>A ack 1000 win 0
         300 B>A ack 1000 win 500
         301 A>B data 1000..2000
         320 B>A ack 2000 win 0",
        &["100 ZeroWindow", "320 ZeroWindow"],
    );
}

#[test]
fn a_repeat_of_the_last_byte_of_the_window_fills_it_again() {
    // X7 counts data segments, whether their bytes are new or not, but not what the network doubles.
    check_signs(
        &opened(
            "100 A>B data 0..1000 id 2
             120 B>A ack 1000 win 8
             130 A>B data 1000..1024 id 3
             131 A>B data 1024..2024 id 4
             132 A>B data 1024..2024 id 4
             431 A>B data 1024..2024 id 5
             451 B>A ack 2024 win 8",
        ),
        &["131 WindowFull", "431 WindowFull"],
    );
}

#[test]
fn a_fin_that_is_reported_takes_no_byte_out_of_flight() {
    // The FIN takes a sequence number and is not payload (RFC 9293 section 3.4).
    check_in_flight(
        &opened(
            "100 A>B data 0..1000
             101 A>B fin
             121 B>A ack 0 sack 1000..1001
             400 A>B data 0..1000",
        ),
        &[Some(1000), Some(1000)],
    );
}

#[test]
fn where_sack_was_agreed_a_copy_of_an_ack_shows_no_hole() {
    // RFC 2018 section 4: an ACK for less than what has arrived reports the rest. B's SYN allows it too.
    let trace = opened(
        "100 A>B data 0..1000
         101 A>B data 1000..2000
         102 A>B data 2000..3000
         120 B>A ack 1000
         121 B>A ack 1000
         140 B>A ack 3000",
    );
    check_signs(&trace, &["121 DupAck"]);
    let samples = play(&trace)
        .rows
        .iter()
        .filter(|row| row.rtt.is_some())
        .count();
    assert_eq!(samples, 3);
}

#[test]
fn an_ack_seen_twice_by_its_id_counts_once() {
    // B's ids count up by one; a mirror port shows its ACK of 122 twice (X7): one DSACK, no duplicate ACK.
    check_signs(
        &opened(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             103 A>B data 3000..4000
             118 B>A ack 0 id 1 win 501
             119 B>A ack 0 id 2 win 502
             120 B>A ack 0 id 3 win 503
             121 B>A ack 1000 id 4
             122 B>A ack 2000 sack 0..1000 id 5
             122 B>A ack 2000 sack 0..1000 id 5",
        ),
        &["122 Dsack"],
    );
}

#[test]
fn an_ack_that_was_overtaken_does_not_take_the_window_back() {
    // The ACK of 1000 came late: its window ended at 2024, that of the ACK of 2000 at 4048. Data up to 2024 does
    // not fill the window any more, and 2024 bytes of room are no full one (L1).
    let trace = opened(
        "100 A>B data 0..1000
         101 A>B data 1000..2000
         120 B>A ack 2000 win 16
         121 B>A ack 1000 win 8
         130 A>B data 2000..2024
         150 B>A ack 2024 win 16",
    );
    check_signs(&trace, &[]);
    // From 100 to 120 alone, as the SYN-ACK's window is 500 bytes (it is not scaled, RFC 7323 section 2.2).
    assert_eq!(play(&trace).state.receiver_limited_ns, 20_000_000);
}

#[test]
fn an_ack_without_room_for_all_news_says_nothing_of_what_it_leaves_out() {
    // Without timestamps four blocks fit (RFC 2018 section 3). At 125 either 2000..3000 has not arrived, or there is no
    // room for it beside four that came later; at 155 it is acknowledged with what was repeated.
    let trace = |last: &str| {
        opened(&format!(
            "100 A>B data 0..1000
             101 A>B data 2000..3000
             102 A>B data 4000..5000
             103 A>B data 6000..7000
             104 A>B data 8000..9000
             105 A>B data 10000..11000
             120 B>A ack 1000
             125 B>A ack 1000 sack 10000..11000 sack 8000..9000 sack 6000..7000{last}
             135 A>B data 1000..2000
             155 B>A ack 3000 sack 10000..11000 sack 8000..9000 sack 6000..7000"
        ))
    };
    let sign = "155 ReorderedAtReceiver".to_owned();
    assert!(!play(&trace(" sack 4000..5000")).signs.contains(&sign));
    assert!(play(&trace("")).signs.contains(&sign));
}

#[test]
fn what_an_ack_reports_first_came_last_whatever_others_left_out() {
    // At 125 there is no room for 2000..3000 and 1000..2000. The ACK at 126 answers 2000..3000, which its first block
    // holds (RFC 2018 section 4); and 1000..2000 had not come while the cumulative ACK stood below it.
    let trace = |first: &str| {
        opened(&format!(
            "100 A>B data 0..1000
             100 A>B data 1000..2000
             101 A>B data 2000..3000
             102 A>B data 4000..5000
             103 A>B data 6000..7000
             104 A>B data 8000..9000
             105 A>B data 10000..11000
             120 B>A ack 1000
             125 B>A ack 1000 sack 10000..11000 sack 8000..9000 sack 6000..7000 sack 4000..5000
             126 B>A ack 1000 {first} sack 8000..9000 sack 6000..7000
             155 B>A ack 3000 sack 10000..11000 sack 8000..9000 sack 6000..7000"
        ))
    };
    let reordered = |first| {
        let signs = play(&trace(first)).signs;
        let reordered = signs
            .iter()
            .filter_map(|sign| sign.strip_suffix(" ReorderedAtReceiver"));
        reordered.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        reordered("sack 2000..3000 sack 10000..11000"),
        ["126", "155"]
    );
    // The ACK for 2000..3000 may have come before that at 125, and was lost.
    assert_eq!(reordered("sack 10000..11000 sack 2000..3000"), ["155"]);
}

#[test]
fn an_ack_that_passes_again_says_nothing_though_others_came_in_between() {
    // Seen before and after a queue, in which all of them waited.
    let signs = |first: &str, second: &str, third: &str| {
        let trace = format!(
            "100 A>B data 0..1000 id 2
             100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             102 A>B data 2000..3000 id 4
             103 A>B data 3000..4000 id 5
             121 B>A ack 0 sack 1000..2000 {first}
             122 B>A ack 0 sack 1000..3000 {second}
             122 B>A ack 0 sack 1000..2000 {first}
             123 B>A ack 0 sack 1000..4000 {third}
             124 B>A ack 0 sack 1000..3000 {second}
             125 B>A ack 0 sack 1000..4000 {third}"
        );
        play(&opened(&trace)).signs
    };
    let once = [
        "121 SackBlocks(1)",
        "121 DupAck",
        "122 SackBlocks(1)",
        "122 DupAck",
        "123 SackBlocks(1)",
        "123 DupAck",
    ];
    assert_eq!(signs("id 10", "id 11", "id 12"), once);
    assert_eq!(signs("ts 50/7", "ts 51/7", "ts 51/7"), once);
}

#[test]
fn a_dsack_that_passes_again_is_one_of_the_senders_repeat() {
    // Each packet is seen twice, so that the receiver got 0..1000 only twice, too.
    let seen = play(&opened(
        "100 A>B data 0..1000 id 2
         100 A>B data 0..1000 id 2
         400 A>B data 0..1000 id 3
         400 A>B data 0..1000 id 3
         421 B>A ack 1000 id 9
         421 B>A ack 1000 id 9
         422 B>A ack 1000 sack 0..1000 id 10
         422 B>A ack 1000 sack 0..1000 id 10",
    ));
    assert_eq!(seen.signs, ["422 Dsack"]);
    assert_eq!(seen.lost, [0, 0]);
}

/// The first block is of one packet, which has come twice or not; the second is of what had waited as well.
#[test]
fn blocks_of_which_several_lie_below_the_ack_are_left_over() {
    let told = |blocks: &str| {
        let seen = play(&opened(&format!(
            "100 A>B data 0..1000 ack 0
             101 A>B data 1000..2000 ack 0
             102 A>B data 2000..3000 ack 0
             103 A>B data 3000..4000 ack 0
             104 A>B data 4000..5000 fin ack 0
             124 B>A ack 0 sack 4000..5000
             140 A>B data 0..1000 ack 0
             141 A>B data 1000..2000 ack 0
             142 A>B data 2000..3000 ack 0
             160 B>A ack 1000 sack 2000..3000 sack 4000..5000
             180 A>B data 1000..2000 ack 0
             181 A>B data 3000..4000 ack 0
             201 B>A ack 5001 {blocks}"
        )));
        let unneeded = seen
            .rows
            .iter()
            .filter(|row| row.verdict.reason == Some(Reason::Unneeded));
        unneeded.count()
    };
    assert_eq!(told("sack 2000..3000 sack 4000..5000"), 0);
    assert_eq!(told("sack 2000..3000"), 1);
}

#[test]
fn what_was_reported_above_a_hole_did_not_come_twice() {
    // The repeat of 0..1000 was lost, too. B, which has closed its side, acknowledges the FIN before it forgets what it
    // had to report; a DSACK tells of one packet (RFC 2883 section 4).
    let lost = |last: &str| {
        let seen = play(&opened(&format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             103 A>B data 3000..4000
             104 A>B data 4000..4500 fin
             121 B>A ack 0 sack 1000..2000
             123 B>A ack 0 sack 3000..4000 sack 1000..2000
             124 B>A ack 0 sack 3000..4501 sack 1000..2000
             134 A>B data 0..1000
             134 A>B data 2000..3000
             154 B>A ack 0 sack 1000..4501
             164 A>B data 0..1000
             {last}"
        )));
        assert!(seen.signs.contains(&"184 Dsack".into()));
        seen.lost
    };
    let stale = "184 B>A ack 4501 sack 1000..4501 id 9";
    assert_eq!(lost(stale), [0, 3]);
    // Nor does a copy of that ACK tell of more.
    assert_eq!(lost(&format!("{stale}\n{stale}")), [0, 3]);
    assert_eq!(lost("184 B>A ack 4501 sack 2000..3000"), [0, 2]);
}

#[test]
fn a_fin_that_was_reported_did_not_come_twice() {
    // A probe repeats the last packet, with the FIN, and all that was sent is lost but for that.
    let reasons = |last: &str| {
        let seen = play(&opened(&format!(
            "100 A>B data 0..1000 ack 0
             120 B>A ack 1000
             130 A>B data 1000..2000 ack 0
             131 A>B data 2000..2500 fin ack 0
             195 A>B data 2000..2500 fin ack 0
             215 B>A ack 1000 sack 2000..2501
             430 A>B data 1000..2000 ack 0
             {last}"
        )));
        let rows = seen.rows.iter().skip(3);
        rows.map(|row| row.verdict.reason).collect::<Vec<_>>()
    };
    let stale = "450 B>A ack 2501 sack 2000..2501";
    assert_eq!(
        reasons(stale),
        [Some(Reason::TailProbe), Some(Reason::Timeout)]
    );
    let twice = "216 B>A ack 1000 sack 2000..2501 sack 2000..2501\n450 B>A ack 2501";
    assert_eq!(reasons(twice)[0], Some(Reason::Unneeded));
}

#[test]
fn what_comes_in_fragments_is_one_packet_however_long() {
    // Of a sender that takes no notice of the MSS of 1000.
    let trace = opened(
        "100 A>B data 0..3000 id 2 parts 3
         101 A>B data 3000..6000 id 3 parts 3
         120 B>A ack 6000",
    );
    check_signs(&trace, &[]);
    let state = play(&trace).state;
    assert_eq!(state.skipped_packets, 0);
    let frames = trace.replace(" parts 3", "");
    // In frames they are three packets each on the wire, of 1000 bytes.
    let merged = "SuperSegment { further: 2, headers_len: 40, full_len: 1000 }";
    check_signs(
        &frames,
        &[&format!("100 {merged}"), &format!("101 {merged}")],
    );
}

#[test]
fn an_ack_that_comes_twice_in_a_row_counts_once_before_ids_are_known_to_count() {
    // X7: a packet seen twice counts once. B's ids have changed twice, so the third is no number of all its packets.
    check_signs(
        &opened(
            "40 B>A ack 0 id 7
             100 A>B data 0..1000
             120 B>A ack 1000 id 8
             121 A>B data 1000..2000
             130 B>A ack 1000 id 9
             130 B>A ack 1000 id 9",
        ),
        &["130 DupAck"],
    );
}

#[test]
fn a_closed_window_that_data_tells_counts_once_though_the_data_comes_twice() {
    let mut trace = String::from("40 B>A ack 0\n100 A>B data 0..1000\n");
    for n in 0..6 {
        let (at, start) = (120 + 10 * n, 100 * n);
        let data = format!(
            "{at} B>A data {start}..{} ack 1000 win 0 id {}\n",
            start + 100,
            n + 5
        );
        trace += &data.repeat(2);
    }
    let signs = play(&opened(&trace)).signs;
    let closed = signs.iter().filter(|sign| sign.ends_with("ZeroWindow"));
    // Of the first few it is not known yet whether ids tell packets apart.
    let closed: Vec<_> = closed.skip_while(|sign| !sign.starts_with("150")).collect();
    assert_eq!(
        closed,
        ["150 ZeroWindow", "160 ZeroWindow", "170 ZeroWindow"]
    );
}

/// As where something on the way changes sequence numbers, and not those in SACK blocks.
#[test]
fn a_block_below_the_syn_tells_of_nothing_that_came_twice() {
    let is_told = |trace: &str| {
        let signs = play(trace).signs;
        signs.iter().any(|sign| sign.ends_with("Dsack"))
    };
    let block = |block: &str| format!("100 A>B data 5000..6000\n120 B>A ack 6000 sack {block}");
    assert!(!is_told(&opened(&block("-500000..-499000"))));
    assert!(is_told(&opened(&block("1000..2000"))));
    // Where no SYN was seen it may be of what was sent before.
    assert!(is_told(&block("-500000..-499000")));
}

/// Four segments, of which the first is lost; with SACK each ACK tells what came since the one before.
#[test]
fn an_ack_delivers_what_it_is_the_first_to_report() {
    let trace = |sack: bool| {
        let held = |upto: u32| {
            let range = format!(" sack 1000..{upto}");
            if sack { range } else { String::new() }
        };
        format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..4000
             121 B>A ack 0{}
             122 B>A ack 0{}
             150 A>B data 0..1000
             170 B>A ack 4000
             171 A>B data 4000..5000
             191 B>A ack 5000",
            held(2000),
            held(4000)
        )
    };
    let delivered = |sack| play(&opened(&trace(sack))).delivered;
    assert_eq!(
        delivered(true),
        [(121, 1000), (122, 2000), (170, 1000), (191, 1000)]
    );
    // Two segments came before, of nobody knows which size.
    assert_eq!(delivered(false), [(170, 0), (191, 1000)]);
}
