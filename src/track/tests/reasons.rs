//! Repeats that timers made, and those that ACKs asked for (METRICS.md X2).

use super::{Seen, check, last_reason, opened, play};
use crate::event::{Confidence, Evidence, Reason};

/// A repeat that comes so late that a timer may have run out.
const LATE: &str = "100 A>B data 0..1000
     101 A>B data 1000..2000
     102 A>B data 2000..3000
     121 B>A ack 0 sack 1000..2000
     122 B>A ack 0 sack 1000..3000
     380 A>B data 0..1000";

#[test]
fn what_comes_in_one_burst_with_a_repeat_shows_that_no_timer_ran_out() {
    let reason = |trace: &str| play(trace).rows[3].verdict.reason;
    let behind = |behind: &str| reason(&opened(&format!("{LATE}\n{behind}")));
    // RFC 5681 section 3.1: a timer leaves a window of one packet, whatever comes with it.
    assert_eq!(behind("380 A>B data 3000..4000"), Some(Reason::Fast));
    assert_eq!(behind("410 A>B data 3000..4000"), Some(Reason::Timeout));
    assert_eq!(behind("380 A>B data 1000..2000"), Some(Reason::Fast));
    assert_eq!(behind("410 A>B data 1000..2000"), Some(Reason::Timeout));
    // Some fill a window of one full packet with several smaller ones.
    let halves = opened(&format!("{LATE}\n380 A>B data 500..1000"))
        .replace("380 A>B data 0..1000", "380 A>B data 0..500");
    assert_eq!(reason(&halves), Some(Reason::Timeout));
    // What is below the left edge, or is it again, tells of no window.
    assert_eq!(behind("381 A>B data 0..1000"), Some(Reason::Timeout));

    // An ACK may have opened the window again where it comes to the sender at once, and not where that takes 10 ms.
    let asked = format!("{LATE}\n380 B>A ack 0 sack 1000..3000\n380 A>B data 3000..4000");
    let far = opened(&asked);
    assert_eq!(reason(&far), Some(Reason::Fast));
    let near = |shaken| far.replace("30 A>B ack 0 id 1", shaken);
    let at_once = near("20 A>B ack 0 id 1");
    assert_ne!(at_once, far);
    assert_eq!(reason(&at_once), Some(Reason::Timeout));
    // The quickest answer so far took 2 ms: one may take half as long.
    let soon = near("22 A>B ack 0 id 1").replace("380 A>B data 3000", "381 A>B data 3000");
    assert_ne!(soon, near("22 A>B ack 0 id 1"));
    assert_eq!(reason(&soon), Some(Reason::Timeout));
}

#[test]
fn a_burst_takes_back_no_timeout_that_follows_another() {
    // What an ACK opens the window for while a timer's repairs go on is of that timer's, though another one had run out.
    let trace = opened(
        "100 A>B data 0..1000
         101 A>B data 1000..2000
         102 A>B data 2000..3000
         103 A>B data 3000..4000
         121 B>A ack 0 sack 3000..4000
         600 A>B data 0..1000
         1400 A>B data 0..1000
         1420 B>A ack 1000 sack 3000..4000
         2300 A>B data 1000..2000
         2300 A>B data 2000..3000",
    );
    let rows = play(&trace).rows;
    let reasons = rows[4..].iter().map(|row| row.verdict.reason);
    assert!(reasons.eq([Some(Reason::Timeout); 4]), "{rows:#?}");
}

#[test]
fn a_repeat_of_two_segments_in_one_packet_is_judged_again_once() {
    let trace = format!("{LATE}\n380 A>B data 3000..4000")
        .replace("sack 1000..2000", "sack 2000..2500")
        .replace("sack 1000..3000", "sack 2000..3000")
        .replace("380 A>B data 0..1000", "380 A>B data 0..2000");
    let seen = play(&opened(&trace));
    assert_eq!(seen.rows[3].verdict.reason, Some(Reason::Fast));
    assert_eq!(seen.amendments, 1);
}

#[test]
fn nobody_asked_for_what_is_repeated_once_more_without_an_ack() {
    // An old timer repeats two packets at once; the SACK block is older than their last copies.
    let trace = opened(
        "100 A>B data 0..1000
         101 A>B data 1000..2000
         102 A>B data 2000..3000
         122 B>A ack 0 sack 2000..3000
         132 A>B data 0..1000
         132 A>B data 1000..2000
         632 A>B data 0..1000
         632 A>B data 1000..2000
         1632 A>B data 0..1000
         1632 A>B data 1000..2000",
    );
    let rows = play(&trace).rows;
    let reasons = rows[7..].iter().map(|row| row.verdict.reason);
    assert!(reasons.eq([Some(Reason::Timeout); 2]), "{rows:#?}");
}

#[test]
fn what_was_outstanding_at_a_timeout_is_repeated_for_that_whatever_sack_reports() {
    // All but the last segment were lost, and so was the ACK that reported it. RFC 6675 section 5.1: no fast recovery
    // before all that was outstanding is acknowledged; 5000..6000 was not.
    let trace = opened(
        "100 A>B data 0..1000
         101 A>B data 1000..2000
         102 A>B data 2000..3000
         103 A>B data 3000..4000
         104 A>B data 4000..5000
         400 A>B data 0..1000
         420 B>A ack 1000 sack 4000..5000
         430 A>B data 1000..2000
         450 B>A ack 2000 sack 4000..5000
         460 A>B data 2000..3000
         465 A>B data 5000..6000
         465 A>B data 6000..7000
         465 A>B data 7000..8000
         465 A>B data 8000..9000
         480 B>A ack 3000 sack 4000..5000
         480 B>A ack 3000 sack 6000..7000 sack 4000..5000
         480 B>A ack 3000 sack 6000..8000 sack 4000..5000
         480 B>A ack 3000 sack 6000..9000 sack 4000..5000
         490 A>B data 3000..4000
         490 A>B data 5000..6000
         510 B>A ack 9000",
    );
    let rows = play(&trace).rows;
    let reasons: Vec<_> = rows.iter().filter_map(|row| row.verdict.reason).collect();
    let timeouts = [Reason::Timeout; 4];
    assert_eq!(reasons, [&timeouts[..], &[Reason::Fast]].concat());
}

#[test]
fn what_was_repeated_since_a_timeout_and_is_again_was_asked_for() {
    // All was lost, and of the repeats that the timer made 2000..3000, which 4000..5000, sent later, tells (RFC 8985
    // section 6.2): its sender goes over to fast recovery, in which it repeats 3000..4000, too.
    let trace = opened(
        "100 A>B data 0..1000
         101 A>B data 1000..2000
         102 A>B data 2000..3000
         103 A>B data 3000..4000
         400 A>B data 0..1000
         430 B>A ack 1000
         440 A>B data 1000..2000
         440 A>B data 2000..3000
         470 B>A ack 2000
         480 A>B data 4000..5000
         500 B>A ack 2000 sack 4000..5000
         510 A>B data 2000..3000
         510 A>B data 3000..4000
         530 B>A ack 5000",
    );
    let reasons = |trace: &str| -> Vec<_> {
        let rows = play(trace).rows;
        rows.iter().filter_map(|row| row.verdict.reason).collect()
    };
    let (timeout, fast) = (Reason::Timeout, Reason::Fast);
    assert_eq!(reasons(&trace), [timeout, timeout, timeout, fast, fast]);
    // Where it runs out once more, it gives up what it repeated itself.
    let again = trace
        .replace("500 B>A ack 2000 sack 4000..5000", "")
        .replace("510 A>B data 2000..3000", "900 A>B data 2000..3000")
        .replace(
            "510 A>B data 3000..4000",
            "930 B>A ack 3000\n940 A>B data 3000..4000",
        )
        .replace("530 B>A", "970 B>A");
    assert_eq!(reasons(&again), [timeout; 5]);
    // Nothing can have told within a round trip.
    let at_once = trace.replace("470 B>A", "441 A>B data 2000..3000 id 9\n470 B>A");
    let told = [timeout, timeout, timeout, timeout, fast, fast];
    assert_eq!(reasons(&at_once), told);
    // Reports of what is sent later do not set the timer anew.
    let waiting = "100 A>B data 0..1000
         101 A>B data 1000..2000
         121 B>A ack 0 sack 1000..2000
         400 A>B data 0..1000
         470 A>B data 2000..3000
         490 B>A ack 0 sack 1000..3000
         540 A>B data 3000..4000
         560 B>A ack 0 sack 1000..4000
         600 A>B data 0..1000
         630 B>A ack 4000";
    assert_eq!(reasons(&opened(waiting)), [timeout; 2]);
}

#[test]
fn what_was_overtaken_long_ago_is_not_what_a_quick_ack_answers() {
    // A full queue drains while 1000..3000 is repeated: acknowledged after 9 ms, where no answer took less than 20
    // before.
    let behind = |repeat: i64, more: &str| {
        let answer = repeat + 9;
        let trace = format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             103 A>B data 3000..4000
             200 B>A ack 1000
             203 B>A ack 1000 sack 3000..4000
             {repeat} A>B data 1000..2000
             {repeat} A>B data 2000..3000
             {answer} B>A ack 1000 sack 2000..4000
             {answer} B>A ack 4000
             {more}"
        );
        play(&opened(&trace))
    };
    let trace = |repeat: i64| behind(repeat, "");
    let told = |seen: &Seen| {
        let repeats = seen.rows[4..].iter().map(|row| row.verdict);
        let unneeded = repeats.map(|verdict| {
            (verdict.reason == Some(Reason::Unneeded)).then_some(verdict.confidence)
        });
        (unneeded.collect::<Vec<_>>(), seen.lost)
    };
    // Both originals may be late by as much as that.
    assert_eq!(
        told(&trace(213)),
        (vec![Some(Confidence::Medium); 2], [0, 0])
    );
    assert_eq!(told(&trace(1013)), (vec![None; 2], [0, 2]));
    // What timing alone tells, a DSACK proves.
    let dsack = "230 B>A ack 4000 sack 1000..2000";
    let proven = vec![Some(Confidence::High), Some(Confidence::Medium)];
    assert_eq!(told(&behind(213, dsack)).0, proven);
}

#[test]
fn a_quick_ack_may_answer_a_repeat_before_the_last_one() {
    // As above, but 1000..2000 was repeated twice: the first repeat is answered, 96 ms later.
    let seen = play(&opened(
        "100 A>B data 0..1000
         101 A>B data 1000..2000
         102 A>B data 2000..3000
         200 B>A ack 1000
         203 B>A ack 1000 sack 2000..3000
         1013 A>B data 1000..2000
         1100 A>B data 1000..2000
         1109 B>A ack 3000",
    ));
    let unneeded = |row: usize| seen.rows[row].verdict.reason == Some(Reason::Unneeded);
    assert!(!unneeded(3) && unneeded(4));
    assert_eq!(seen.lost, [0, 1]);
}

#[test]
fn what_was_sent_after_a_repeat_has_arrived_however_much_is_above_it() {
    // A round trip of 200 ms, in which thousands are sent: the first of them have been reported, so the repeat is lost,
    // too.
    for sent in [100, 6000] {
        let new = |i: i64, ms: i64| format!("{ms} A>B data {}..{}\n", i * 1000, i * 1000 + 1000);
        let mut trace = String::from("0 A>B syn\n190 B>A syn ack 0\n200 A>B ack 0\n");
        trace.extend((0..5).map(|i| new(i, 1000)));
        trace += "1190 B>A ack 0 sack 1000..5000\n1200 A>B data 0..1000\n";
        trace.extend((5..sent).map(|i| new(i, 1201 + i * 190 / sent)));
        trace += "1392 B>A ack 0 sack 1000..10000\n1402 A>B data 0..1000\n";
        let rows = play(&trace).rows;
        let last = rows.last().and_then(|row| row.verdict.reason);
        assert_eq!(last, Some(Reason::Fast), "{sent}");
    }
}

#[test]
fn of_repeats_made_twice_the_echo_tells_before_timing_does() {
    // Acknowledged with the echo of the first copy, 5 ms after the second repeat, where an answer takes 20.
    let trace = |words: [&str; 9]| {
        let packets = [
            "40 A>B data 0..1000",
            "60 B>A ack 1000",
            "110 A>B data 1000..2000",
            "113 A>B data 2000..3000",
            "116 A>B data 3000..4000",
            "117 B>A ack 1000",
            "122 A>B data 1000..2000",
            "125 A>B data 1000..2000",
            "130 B>A ack 4000",
        ];
        let lines = packets.iter().zip(words);
        let line = |(packet, words): (&&str, &str)| format!("{packet} {words}\n");
        let trace: String = lines.map(line).collect();
        let bare = opened("").replace("syn", "syn bare") + &trace;
        let rows = play(&bare).rows;
        rows[4..6]
            .iter()
            .map(|row| {
                (
                    row.verdict.reason,
                    row.verdict.evidence,
                    row.verdict.confidence,
                )
            })
            .collect::<Vec<_>>()
    };
    let clocks = [
        "ts 40/4",
        "ts 50/40",
        "ts 110/50",
        "ts 113/50",
        "ts 116/50",
        "ts 107/40",
        "ts 122/107",
        "ts 125/107",
        "ts 120/110",
    ];
    let told = trace(clocks);
    assert!(
        told.iter()
            .all(|&(reason, evidence, _)| reason == Some(Reason::Unneeded)
                && evidence == Evidence::Dsack),
        "{told:?}"
    );
    // Without clocks, ids tell that it was repeated, and timing that it need not have been.
    let numbers = ["id 2", "", "id 3", "id 4", "id 5", "", "id 6", "id 7", ""];
    let timing = (Some(Reason::Unneeded), Evidence::Timing, Confidence::Medium);
    assert_eq!(trace(numbers), [timing; 2]);
}

#[test]
fn what_came_with_a_syn_and_was_refused_is_repeated_without_a_loss() {
    // RFC 7413 section 4.2.2: the answer acknowledges the SYN alone, or a part of the data.
    let trace = "0 A>B data 0..500 syn
         20 B>A syn ack 0
         30 A>B data 0..500 ack 0
         31 A>B data 500..1500 ack 0
         50 B>A ack 1500";
    check(
        trace,
        "0 new 0..500
         30 retransmission 0..500 fast seen_before
         31 new 500..1500 rtt 19 clean",
    );
    let seen = play(trace);
    assert_eq!((seen.lost, seen.recoveries.len()), ([0, 0], 0));
    let more = trace.replace("30 A>B data 0..500", "30 A>B data 0..1000");
    assert_eq!(play(&more).lost, [0, 0]);
    let part = trace.replace("20 B>A syn ack 0", "20 B>A syn ack 200");
    let part = part.replace("30 A>B data 0..500", "30 A>B data 200..500");
    let seen = play(&part);
    assert_eq!(seen.rows[1].verdict.reason, Some(Reason::Fast));
    assert_eq!(seen.lost, [0, 0]);
    // Without an answer it may have been lost, and so it may where the SYN was repeated.
    let unseen = trace.replace("20 B>A syn ack 0", "");
    assert_eq!(play(&unseen).lost, [0, 1]);
    let bare = trace.replace("20 B>A", "1000 A>B syn\n1020 B>A");
    let bare = bare
        .replace("30 A>B", "1030 A>B")
        .replace("31 A>B", "1031 A>B");
    let seen = play(&bare);
    assert_eq!(seen.lost, [0, 1]);
    // The SYN's timer gave it up (section 4.1.3): nobody probes before there is a connection (RFC 8985 section 7.3).
    assert_eq!(seen.rows[1].verdict.reason, Some(Reason::Timeout));
    // But not where the answer had come before.
    let late = bare.replace("1000 A>B syn", "20 B>A syn ack 0\n1000 A>B syn");
    assert_eq!(play(&late).lost, [0, 0]);
}

#[test]
fn what_is_repeated_after_a_timeout_that_was_taken_back_was_asked_for() {
    // An ACK of 2000 was lost on its way to A, whose timer runs out. The DSACK tells that the only repeat was for
    // nothing, so the timeout is undone (RFC 3708 section 3, RFC 5682 section 2.1), and the losses above are reported
    // by what is sent then (RFC 6675 section 5).
    let trace = |also: &str| {
        opened(&format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             103 A>B data 3000..4000
             500 A>B data 0..1000
             {also}
             520 B>A ack 2000 sack 0..1000
             530 A>B data 4000..5000
             531 A>B data 5000..6000
             532 A>B data 6000..7000
             550 B>A ack 2000 sack 4000..5000
             551 B>A ack 2000 sack 4000..6000
             552 B>A ack 2000 sack 4000..7000
             562 A>B data 2000..3000
             563 A>B data 3000..4000
             583 B>A ack 7000"
        ))
    };
    let reasons = |also: &str| -> Vec<Option<Reason>> {
        let seen = play(&trace(also));
        let rows = seen.rows.iter().rev().take(2);
        rows.map(|row| row.verdict.reason).collect()
    };
    assert_eq!(reasons(""), [Some(Reason::Fast); 2]);
    // With a second repeat under way the sender cannot know.
    assert_eq!(
        reasons("501 A>B data 1000..2000"),
        [Some(Reason::Timeout); 2]
    );
}

#[test]
fn no_echo_tells_of_a_repeat_whose_ack_was_overtaken() {
    // Linux takes the clock of no segment with an ACK number below another that came before it.
    let told = |ack: u32, echo: u32| {
        let seen = play(&opened(&format!(
            "80 A>B data 0..1000 ack 0 ts 80/1
             100 B>A ack 1000 ts 2/80
             120 A>B data 1000..2000 ack 0 ts 120/2
             380 B>A data 0..1000 ack 1000 ts 380/80
             391 A>B ack 1000 ts 400/380
             392 A>B data 1000..2000 ack {ack} ts 399/2
             412 B>A ack 2000 ts 412/{echo}"
        )));
        (seen.rows[2].verdict.reason, seen.lost, seen.rtts_ms.len())
    };
    assert_eq!(told(0, 80), (Some(Reason::TailProbe), [0, 1], 1));
    assert_eq!(told(1000, 120), (Some(Reason::Unneeded), [0, 0], 2));
    // Here it did.
    assert_eq!(told(0, 399), (Some(Reason::TailProbe), [0, 1], 2));
}

#[test]
fn who_has_just_been_asked_needs_no_timer_however_long_the_repeat_is_on_its_way() {
    // Behind a queue: A answers 300 ms after an ACK passes here. It had heard of the ACK of 112, which asks for the
    // hole, and not yet of that of 113.
    let reason = |echo: u32| {
        let rows = play(&opened(&format!(
            "100 A>B data 0..1000 ack 0 ts 50/1
             101 A>B data 2000..3000 ack 0 ts 50/1
             102 A>B data 3000..4000 ack 0 ts 50/1
             103 A>B data 4000..5000 ack 0 ts 50/1
             104 A>B data 5000..6000 ack 0 ts 50/1
             110 B>A ack 1000 ts 10/50
             111 B>A ack 1000 sack 2000..3000 ts 11/50
             112 B>A ack 1000 sack 2000..5000 ts 12/50
             113 B>A ack 1000 sack 2000..6000 ts 13/50
             412 A>B data 1000..2000 ack 0 ts 350/{echo}"
        )))
        .rows;
        rows[5].verdict.reason
    };
    assert_eq!(reason(12), Some(Reason::Fast));
    // All ACKs had come to it: it was silent since.
    assert_eq!(reason(13), Some(Reason::Timeout));
    // The one that asks was lost on its way.
    assert_eq!(reason(11), Some(Reason::Timeout));
}

#[test]
fn without_clocks_ids_tell_that_a_repeat_is_the_first_packet_since_it_was_asked_for() {
    // As above, without timestamps.
    let reason = |id: u32, last_ack: &str| {
        let rows = play(&opened(&format!(
            "100 A>B data 0..1000 id 2
             101 A>B data 2000..3000 id 4
             102 A>B data 3000..4000 id 5
             103 A>B data 4000..5000 id 6
             104 A>B data 5000..6000 id 7
             110 B>A ack 1000
             111 B>A ack 1000 sack 2000..3000
             112 B>A ack 1000 sack 2000..5000
             {last_ack}
             412 A>B data 1000..2000 id {id}"
        )))
        .rows;
        rows[5].verdict.reason
    };
    let last_ack = "113 B>A ack 1000 sack 2000..6000";
    assert_eq!(reason(8, last_ack), Some(Reason::Fast));
    // What was asked for may have been lost, with id 8.
    assert_eq!(reason(9, last_ack), Some(Reason::Timeout));
    // Two ACKs may have been lost on their way.
    assert_eq!(reason(8, ""), Some(Reason::Timeout));
}

#[test]
fn what_a_router_says_is_too_big_is_repeated_in_smaller_packets_without_a_timer() {
    // Captured at the sender; a round trip takes 40 ms, and the router answered within 10.
    let reasons = |cut: [u32; 3], at: u32| {
        let [first, second, third] = cut;
        let trace = format!(
            "0 A>B syn
             40 B>A syn ack 0
             40 A>B ack 0
             50 A>B data 0..1000 ack 0
             51 A>B data 1000..2000 ack 0
             {at} A>B data 0..{first} ack 0
             {at} A>B data {first}..{second} ack 0
             {at} A>B data {second}..{third} ack 0
             {} B>A ack {third}",
            at + 40
        );
        let rows = play(&trace).rows;
        let reasons: Vec<_> = rows.iter().filter_map(|row| row.verdict.reason).collect();
        reasons
    };
    assert_eq!(reasons([700, 1400, 2000], 61), [Reason::Fast; 3]);
    // Its word may have waited in a queue for longer than a round trip.
    assert_eq!(reasons([700, 1400, 2000], 100), [Reason::Fast; 3]);
    // After the time of a timer that is what brought them.
    assert_eq!(reasons([700, 1400, 2000], 400), [Reason::Timeout; 3]);
}

#[test]
fn no_timer_runs_before_the_hole_opens_where_all_was_acknowledged() {
    // 1000..2000 is lost after a pause.
    let reason = |at: u32| {
        last_reason(&opened(&format!(
            "100 A>B data 0..1000
             120 B>A ack 1000
             400 A>B data 2000..3000
             420 B>A ack 1000 sack 2000..3000
             {at} A>B data 1000..2000"
        )))
    };
    assert_eq!(reason(500), Some(Reason::Fast));
    assert_eq!(reason(600), Some(Reason::Timeout));
}

#[test]
fn who_waits_for_what_may_be_overtaken_does_so_by_ticks() {
    // The way to A and back takes 10 ms, with the four variations that are left after two answers 24, and A waits for a
    // quarter of 30 ms, and up to 12 ms more.
    let reason = |at: u32| {
        last_reason(&opened(&format!(
            "100 A>B data 0..1000 ts 100/0
             101 A>B data 2000..3000 ts 101/0
             121 B>A ack 1000 ts 100/100
             300 B>A ack 1000 sack 2000..3000 ts 279/100
             {at} A>B data 1000..2000 ts {at}/279"
        )))
    };
    assert_eq!(reason(340), Some(Reason::Fast));
    assert_eq!(reason(350), Some(Reason::Timeout));
}

#[test]
fn what_nobody_asked_for_is_a_timers_however_short_that_is_set() {
    // A round trip takes 30 ms.
    let reason = |at: u32, told: &str| {
        last_reason(&opened(&format!(
            "100 A>B data 0..1000
             120 B>A ack 1000
             130 A>B data 1000..2000
             131 A>B data 2000..3000
             {told}
             {at} A>B data 1000..2000"
        )))
    };
    assert_eq!(reason(210, ""), Some(Reason::Timeout));
    // What a router refuses is repeated sooner, and what is asked for may take longer.
    assert_eq!(reason(190, ""), Some(Reason::Fast));
    let asks = "200 B>A ack 1000 sack 2000..3000";
    assert_eq!(reason(210, asks), Some(Reason::Fast));
}

#[test]
fn who_misses_something_of_the_peer_echoes_what_came_before_that() {
    // What fills the hole echoes the third ACK that asked for it, and comes late. Its sender's clock tells of no timer.
    let reason = |b_sends: &str| {
        last_reason(&opened(&format!(
            "90 B>A data 0..100 ack 0 ts 90/1
             100 A>B data 0..1000 ack 100 ts 100/90
             101 A>B data 2000..3000 ack 100 ts 101/90
             102 A>B data 3000..4000 ack 100 ts 102/90
             103 A>B data 4000..5000 ack 100 ts 103/90
             120 B>A ack 1000 ts 120/100
             121 B>A ack 1000 sack 2000..3000 ts 121/100
             122 B>A ack 1000 sack 2000..4000 ts 122/100
             123 B>A ack 1000 sack 2000..5000 ts 123/100
             {b_sends}
             420 A>B data 1000..2000 ack 100 ts 220/123"
        )))
    };
    let all = "240 B>A ack 1000 sack 2000..5000 ts 240/100";
    assert_eq!(reason(all), Some(Reason::Fast));
    // A packet of B's that was lost there is why A takes no clock of what B sends then.
    let misses = "240 B>A data 100..200 ack 1000 sack 2000..5000 ts 240/100";
    assert_eq!(reason(misses), Some(Reason::Timeout));
}

#[test]
fn without_sack_an_ack_that_moves_on_in_a_repair_asks_for_what_comes_a_long_round_trip_later() {
    // The way to A and back takes 300 ms.
    let reason = |at: u32| {
        last_reason(&format!(
            "0 A>B syn bare
             1 B>A syn ack 0 bare
             301 A>B ack 0
             310 A>B data 0..1000
             311 B>A ack 1000
             312 A>B data 2000..3000
             313 B>A ack 1000
             314 A>B data 4000..5000
             315 B>A ack 1000
             316 A>B data 5000..6000
             317 B>A ack 1000
             617 A>B data 1000..2000
             618 B>A ack 3000
             {at} A>B data 3000..4000"
        ))
    };
    assert_eq!(reason(919), Some(Reason::Fast));
    assert_eq!(reason(1218), Some(Reason::Timeout));
}
