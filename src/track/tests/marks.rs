//! What the ECN field tells: new data is marked, what is repeated is not (RFC 3168 section 6.1.5).

use super::*;

/// Both agree on ECN; 20 ms towards the receiver, 10 ms towards the sender.
const AGREED: &str = "0 A>B syn ece cwr
     20 B>A syn ack 0 ece
     30 A>B ack 0
     ";

/// The same with other words in SYN and SYN-ACK.
fn opened_with(ask: &str, answer: &str, trace: &str) -> String {
    let opened = AGREED.replace("ece cwr", ask).replace("ack 0 ece", answer);
    opened + trace
}

/// A round of marked data, and 470 ms later one more packet, with the field `mark`: longer than a timer takes.
fn after_silence(mark: &str) -> String {
    format!(
        "100 A>B data 0..1000 ect
         101 A>B data 1000..2000 ect
         130 B>A ack 2000
         600 A>B data 2000..3000 {mark}
         630 B>A ack 3000"
    )
}

/// The last data segment of a trace as `check` has it.
fn last(trace: &str) -> String {
    let seen = play(trace);
    describe(seen.rows.last().unwrap(), seen.data.last().unwrap())
}

#[test]
fn a_lost_tail_is_told_by_its_missing_mark() {
    // There are no ids, and nothing above it was seen: but for the mark it could be new.
    let repeat = "600 retransmission 2000..3000 timeout upstream ecn";
    let new = "600 new 2000..3000 rtt 30 clean";
    assert_eq!(last(&(AGREED.to_owned() + &after_silence(""))), repeat);
    for mark in ["ect", "ce"] {
        assert_eq!(last(&(AGREED.to_owned() + &after_silence(mark))), new);
    }
    // Where only one side wants it, or marks are counted otherwise (RFC 9768), it says nothing.
    assert_eq!(last(&opened_with("", "ack 0", &after_silence(""))), new);
    assert_eq!(
        last(&opened_with("ece cwr", "ack 0", &after_silence(""))),
        new
    );
    assert_eq!(
        last(&opened_with("ae ece cwr", "ack 0 cwr", &after_silence(""))),
        new
    );
    // Nor where the last of several answers takes it back.
    let taken_back = AGREED.replace("30 A", "21 B>A syn ack 0\n30 A");
    assert_eq!(last(&(taken_back + &after_silence(""))), new);
    // Nor does it where all marks are taken off on the way.
    let bleached = after_silence("").replace(" ect", "");
    assert_eq!(last(&(AGREED.to_owned() + &bleached)), new);
}

#[test]
fn what_follows_a_lost_tail_is_lost_with_it_as_far_as_marks_are_missing() {
    let trace = AGREED.to_owned()
        + &after_silence("")
        + "
         640 A>B data 3000..4000
         641 A>B data 4000..5000
         642 A>B data 5000..6000 ect
         670 B>A ack 6000
         680 A>B data 6000..7000 ect";
    check(
        &trace,
        "100 new 0..1000 rtt 30 delayed_ack
         101 new 1000..2000 rtt 29 clean
         600 retransmission 2000..3000 timeout upstream ecn
         640 retransmission 3000..4000 timeout upstream ecn
         641 retransmission 4000..5000 timeout upstream ecn
         642 new 5000..6000 rtt 28 recovery
         680 new 6000..7000",
    );
}

#[test]
fn who_gives_up_marking_repeats_nothing() {
    // In time, one behind the other: no timer has run out, and after three of these nothing is told any more.
    let trace = AGREED.to_owned()
        + "100 A>B data 0..1000 ect
         130 B>A ack 1000
         131 A>B data 1000..2000
         132 A>B data 2000..3000
         160 B>A ack 3000
         161 A>B data 3000..4000
         190 B>A ack 4000
         900 A>B data 4000..5000";
    assert_eq!(last(&trace), "900 new 4000..5000");
    // They are counted in a row.
    let apart = trace.replace(
        "190 B>A ack 4000
         900 A>B data 4000..5000",
        "162 A>B data 4000..5000 ect
         163 A>B data 5000..6000
         190 B>A ack 6000
         900 A>B data 6000..7000",
    );
    let apart = apart.replace("161 A>B data 3000..4000", "161 A>B data 3000..4000 ect");
    assert_eq!(
        last(&apart),
        "900 retransmission 6000..7000 timeout upstream ecn"
    );
}

#[test]
fn no_more_was_lost_than_the_window_has_room_for() {
    // Who gives up marking with a timer is found out when the window that was offered is used up.
    let mut trace = AGREED.replace("ece\n", "ece win 40\n")
        + "100 A>B data 0..1000 ect
           130 B>A ack 1000 win 40\n";
    for packet in 1..12_i64 {
        let (at, start) = (600 + 40 * packet + packet / 6 * 1000, 1000 * packet);
        let end = start + 1000;
        let _ = writeln!(trace, "{at} A>B data {start}..{end}");
        let _ = writeln!(trace, "{} B>A ack {end} win 40", at + 30);
    }
    let classes: Vec<&str> = play(&trace)
        .rows
        .iter()
        .map(|row| row.verdict.class.name())
        .collect();
    // 40 by the scale of 7: 5,120 bytes.
    let told = [["retransmission"; 6].as_slice(), &["new"; 5]].concat();
    assert_eq!(classes[1..], told);
    // It counts from the last new packet on.
    let twice = trace.replace("5000..6000", "5000..6000 ect");
    let rows = play(&twice).rows;
    assert_eq!(rows[5].verdict.class, Class::New);
    let again = rows
        .iter()
        .filter(|row| row.verdict.class == Class::Retransmission);
    assert_eq!(again.count(), 4 + 6);
}

#[test]
fn where_ids_count_and_none_was_skipped_nothing_was_lost() {
    let numbered = |id: u16| {
        AGREED.replace("30 A>B ack 0", "30 A>B ack 0 id 1")
            + "100 A>B data 0..1000 ect id 2
               101 A>B data 1000..2000 ect id 3
               102 A>B data 2000..3000 ect id 4
               103 A>B data 3000..4000 ect id 5
               130 B>A ack 4000\n"
            + &format!("600 A>B data 4000..5000 id {id}")
    };
    assert_eq!(last(&numbered(6)), "600 new 4000..5000");
    // By ids it is told as well, and they are the stronger evidence.
    assert_eq!(
        last(&numbered(7)),
        "600 retransmission 4000..5000 tail_probe upstream ip_id"
    );
}

#[test]
fn what_is_marked_is_no_repeat_whatever_ids_were_skipped() {
    // Id 6 was another packet's, which the mark tells.
    let trace = AGREED.replace("30 A>B ack 0", "30 A>B ack 0 id 1")
        + "100 A>B data 0..1000 ect id 2
           101 A>B data 1000..2000 ect id 3
           102 A>B data 2000..3000 ect id 4
           103 A>B data 3000..4000 ect id 5
           130 B>A ack 4000
           600 A>B data 4000..5000 ce id 7";
    assert_eq!(last(&trace), "600 new 4000..5000");
    // But not of who marks all, as its ACK shows (RFC 8257).
    let all = trace.replace("30 A>B ack 0", "30 A>B ack 0 ect");
    assert_eq!(
        last(&all),
        "600 retransmission 4000..5000 tail_probe upstream ip_id"
    );
    // Nor once it has repeated something with a mark.
    let repeated = trace.replace(
        "130 B>A ack 4000",
        "130 B>A ack 3000
         400 A>B data 3000..4000 ect id 6
         430 B>A ack 4000",
    );
    let repeated = repeated.replace(
        "600 A>B data 4000..5000 ce id 7",
        "900 A>B data 4000..5000 ce id 8",
    );
    assert_eq!(
        last(&repeated),
        "900 retransmission 4000..5000 timeout upstream ip_id"
    );
}

/// One packet is missing when the others pass, and comes with the field `mark` at once, or after a round trip and more.
fn filled(at: u32, mark: &str) -> String {
    AGREED.to_owned()
        + &format!(
            "100 A>B data 0..1000 ect
             101 A>B data 2000..3000 ect
             102 A>B data 3000..4000 ect
             103 A>B data 4000..5000 ect
             120 B>A ack 1000
             121 B>A ack 1000 sack 2000..3000
             122 B>A ack 1000 sack 2000..4000
             123 B>A ack 1000 sack 2000..5000
             {at} A>B data 1000..2000 {mark}
             163 B>A ack 5000"
        )
}

#[test]
fn what_fills_a_hole_is_late_where_it_is_marked() {
    let last_but_late = |trace: &str| last(trace).split(" rtt").next().unwrap().to_owned();
    // Without ids and clocks only the time would tell.
    assert_eq!(
        last_but_late(&filled(140, "ect")),
        "140 reordered 1000..2000 ecn"
    );
    assert_eq!(
        last_but_late(&filled(140, "")),
        "140 retransmission 1000..2000 fast upstream ecn"
    );
    assert_eq!(
        last_but_late(&filled(124, "")),
        "124 retransmission 1000..2000 fast upstream ecn"
    );
}

#[test]
fn a_mark_tells_of_nothing_as_long_as_its_sender_may_mark_all() {
    // A answers, and nothing is known of it but its SYN-ACK, which who marks all may send without the mark, too.
    let answers = "0 B>A syn ece cwr
         10 A>B syn ack 0 ece
         30 B>A ack 0
         ";
    let trace = filled(140, "ect").replace(AGREED, answers);
    let told = last(&trace);
    assert!(
        told.starts_with("140 retransmission 1000..2000 fast upstream sack"),
        "{told}"
    );
}

#[test]
fn what_is_not_certain_to_be_a_repeat_does_not_tell_how_repeats_are_marked() {
    // Ids that were skipped told that 4000..5000 is a repeat, as nothing was known of marks. Then 6000..7000 is one for
    // certain, without a mark, and what fills the hole at 9000 is marked.
    let trace = "0 B>A syn ece cwr
         10 A>B syn ack 0 ece
         30 B>A ack 0
         100 A>B data 0..1000 ect id 2
         101 A>B data 1000..2000 ect id 3
         102 A>B data 2000..3000 ect id 4
         103 A>B data 3000..4000 ect id 5
         130 B>A ack 4000
         600 A>B data 4000..5000 ect id 7
         630 B>A ack 5000
         640 A>B data 5000..6000 ect id 8
         641 A>B data 6000..7000 ect id 9
         670 B>A ack 6000
         1000 A>B data 6000..7000 id 10
         1030 B>A ack 7000
         1040 A>B data 7000..8000 ect id 11
         1041 A>B data 8000..9000 ect id 12
         1070 B>A ack 9000
         1600 A>B data 9000..10000 ect id 15";
    let rows = play(trace).rows;
    let classes: Vec<Class> = rows[4..].iter().map(|row| row.verdict.class).collect();
    let (new, again) = (Class::New, Class::Retransmission);
    assert_eq!(classes, [again, new, new, again, new, new, new]);
}

#[test]
fn new_bytes_behind_repeated_ones_do_not_give_up_marking() {
    // As senders repeat small segments put together, what is partly new has no mark.
    let mut trace = AGREED.to_owned()
        + "100 A>B data 0..1000 ect
           130 B>A ack 1000\n";
    for packet in 1..5_i64 {
        let (at, start) = (500 * packet, 1000 * packet);
        let _ = writeln!(trace, "{at} A>B data {}..{}", start - 500, start + 1000);
        let _ = writeln!(trace, "{} B>A ack {}", at + 30, start + 1000);
    }
    trace.push_str("3000 A>B data 5000..6000");
    assert_eq!(
        last(&trace),
        "3000 retransmission 5000..6000 timeout upstream ecn"
    );
}

#[test]
fn what_passed_before_is_a_copy_of_the_network_where_both_are_marked() {
    let trace = AGREED.to_owned()
        + "100 A>B data 0..1000 ect
           101 A>B data 1000..2000 ect
           120 B>A ack 1000
           400 A>B data 1000..2000 ect";
    assert_eq!(last(&trace), "400 duplicate 1000..2000 ecn");
    let again = trace.replace("400 A>B data 1000..2000 ect", "102 A>B data 1000..2000");
    assert_eq!(
        last(&again),
        "102 retransmission 1000..2000 fast downstream seen_before"
    );
}

#[test]
fn of_several_copies_the_mark_does_not_tell_which_came_again() {
    // The original had passed, so what comes behind its repeat is no late original.
    let trace = AGREED.to_owned()
        + "100 A>B data 0..1000 ect
           101 A>B data 1000..2000 ect
           120 B>A ack 1000
           400 A>B data 1000..2000
           401 A>B data 1000..2000 ect";
    assert!(!last(&trace).contains("reordered"), "{}", last(&trace));
}

#[test]
fn a_marked_copy_of_a_repeat_is_the_original() {
    let trace = filled(140, "").replace("163 B>A ack 5000", "145 A>B data 1000..2000 ect");
    assert_eq!(last(&trace), "145 reordered 1000..2000 ecn");
    let seen = play(&trace);
    assert_eq!(seen.rows[4].verdict.reason, Some(Reason::Unneeded));
}

#[test]
fn a_syn_carries_its_data_unmarked() {
    // RFC 7413: what the SYN carried is new, and tells nothing of how its sender marks.
    let trace = "0 A>B data 0..500 syn ece cwr
         20 B>A syn ack 500 ece
         30 A>B data 500..1000 ack 0 ect
         50 B>A ack 1000";
    check(
        trace,
        "0 new 0..500 rtt 20 clean
         30 new 500..1000 rtt 20 clean",
    );
}

#[test]
fn a_probe_below_what_had_been_sent_was_a_timers() {
    // The repeat of 2000..3000 is no probe, which repeats the last packet: what the next new packet leaves out is sent
    // again later, and so had been sent before.
    let mut trace = AGREED.to_owned()
        + "100 A>B data 0..1000 ect
           101 A>B data 1000..2000 ect
           130 B>A ack 2000
           330 A>B data 2000..3000
           360 B>A ack 3000
           370 A>B data 14000..15000 ect
           400 B>A ack 3000 sack 14000..15000\n";
    for packet in 3..14 {
        let start = 1000 * packet;
        let _ = writeln!(trace, "{} A>B data {start}..{}", 410 + packet, start + 1000);
    }
    let reasons: Vec<Option<Reason>> = play(&trace)
        .rows
        .iter()
        .map(|row| row.verdict.reason)
        .collect();
    let timeout = Some(Reason::Timeout);
    let expected = [[None, None, timeout, None].as_slice(), &[timeout; 11]].concat();
    assert_eq!(reasons, expected);
}
