//! Data that SACK reports and this capture never saw: what lies below it was sent before.

use super::*;

#[test]
fn a_capture_that_begins_in_a_repair_tells_repeats_by_what_sack_reports_above_them() {
    // First transmissions are in order, so what passes below data that has arrived already is no first one, unless it
    // took a round trip longer (RFC 6675 section 5: a sender fills holes first).
    let trace = "0 B>A ack 10000 sack 14000..20000 ts 500/70
         1 A>B data 12000..13000 ts 100/460
         4 B>A ack 10000 sack 12000..13000 sack 14000..20000 ts 504/70
         5 A>B data 13000..14000 ts 104/464
         6 A>B data 20000..21000 ts 105/465
         9 B>A ack 10000 sack 12000..20000 ts 509/70";
    check(
        trace,
        "1 retransmission 0..1000 fast sack
         5 retransmission 1000..2000 fast sack
         6 new 8000..9000",
    );
    // It has what comes again.
    let again = trace.replace("data 13000..14000", "data 14000..15000");
    let verdict = play(&again).rows[1].verdict;
    assert_eq!(verdict.reason, Some(Reason::Unneeded));
    // Nothing tells of data above them.
    let silent = trace
        .replace(" sack 12000..13000 sack 14000..20000", "")
        .replace(" sack 14000..20000", "");
    let rows = play(&silent).rows;
    assert!(rows.iter().all(|row| row.verdict == Verdict::NEW));
}

#[test]
fn what_the_capture_lost_tells_of_repeats_below_it_once_the_sender_can_have_heard() {
    // The records of 2000..4000 are missing, and 1000..2000 was lost. It takes 10 ms to the sender: what passes sooner
    // may be the original, late.
    let trace = |ms: u32| {
        opened(&format!(
            "100 A>B data 0..1000
             120 B>A ack 1000
             123 B>A ack 1000 sack 2000..4000
             {ms} A>B data 1000..2000"
        ))
    };
    let class = |ms| play(&trace(ms)).rows[1].verdict.class;
    assert_eq!(class(125), Class::New);
    assert_eq!(class(135), Class::Retransmission);
    // Numbers far outside the window, as where a middlebox has rewritten those of the header alone, tell nothing.
    let far = trace(135).replace("2000..4000", "9000000..9001000");
    assert_eq!(play(&far).rows[1].verdict.class, Class::New);
}

#[test]
fn a_report_of_a_fin_tells_of_no_data_above() {
    // A sends on what it had kept back, and its FIN is reported before: the number of that tells of 1000..2000 itself.
    let trace = opened(
        "100 A>B data 0..1000
         101 A>B at 2000 fin
         120 B>A ack 1000
         121 B>A ack 1000 sack 2000..2001
         124 A>B data 1000..2000",
    );
    assert_eq!(play(&trace).rows[1].verdict.class, Class::New);
}

#[test]
fn what_sack_shows_to_be_a_repeat_begins_a_repair() {
    // 10000..11000 was lost and comes again as the first thing that is seen; what lies above was reported.
    let trace = "0 B>A ack 10000 sack 11000..20000 ts 500/70
         1 A>B data 10000..11000 ts 100/460
         21 B>A ack 20000 ts 521/100";
    assert_eq!(play(trace).recoveries, ["1..21 fast"]);
}
