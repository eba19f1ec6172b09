//! Timers that run out again, or while other things go on (METRICS.md X2).

use std::fmt::Write as _;

use super::{last_reason, opened, opened_bare, play};
use crate::event::{Class, Reason};

#[test]
fn a_second_repeat_of_the_left_edge_is_a_timers_unless_something_sent_after_the_first_has_arrived()
{
    // ACKs and new data go on all the time, so no silence tells of the timer.
    let reason = |told: i64| {
        let trace = format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             103 A>B data 3000..4000
             104 A>B data 4000..5000
             105 A>B data 5000..6000
             121 B>A ack 0 sack 1000..2000
             122 B>A ack 0 sack 1000..3000
             123 B>A ack 0 sack 1000..4000
             133 A>B data 0..1000
             134 A>B data 6000..7000
             300 B>A ack 0 sack 1000..5000
             311 A>B data 7000..8000
             330 B>A ack 0 sack 1000..{told}
             345 A>B data 0..1000"
        );
        last_reason(&opened(&trace))
    };
    assert_eq!(reason(6000), Some(Reason::Timeout));
    assert_eq!(reason(7000), Some(Reason::Fast));
}

#[test]
fn a_second_repeat_is_no_timers_above_the_left_edge_so_soon_or_once_something_sent_later_was_acknowledged()
 {
    let reason = |behind: &str| {
        let trace = format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             103 A>B data 3000..4000
             104 A>B data 4000..5000
             105 A>B data 5000..6000
             122 B>A ack 0 sack 2000..3000
             123 B>A ack 0 sack 2000..4000
             124 B>A ack 0 sack 2000..5000
             134 A>B data 0..1000
             134 A>B data 1000..2000
             {behind}"
        );
        last_reason(&opened(&trace))
    };
    let goes_on = "240 A>B data 6000..7000\n260 B>A ack 0 sack 2000..6000\n";
    let repeat = |ms: u32, what: &str| reason(&format!("{goes_on}{ms} A>B data {what}"));
    // Nothing that was sent since the repeat has come, so that nobody asked for another one, however short the timer is.
    assert_eq!(repeat(274, "0..1000"), Some(Reason::Timeout));
    // A timer repeats the left edge.
    assert_eq!(repeat(310, "1000..2000"), Some(Reason::Fast));
    // The third copy of 0..1000 arrived, and was sent after the repeat of 1000..2000.
    let edge = "135 A>B data 7000..8000
         156 B>A ack 0 sack 7000..8000 sack 2000..5000
         165 A>B data 0..1000
         185 B>A ack 1000 sack 7000..8000 sack 2000..5000\n";
    let goes_on = "190 A>B data 8000..9000\n260 B>A ack 1000 sack 2000..6000\n";
    let later = format!("{edge}{goes_on}310 A>B data 1000..2000");
    assert_eq!(reason(&later), Some(Reason::Fast));
}

#[test]
fn a_second_repeat_is_a_timers_where_new_data_was_sent_long_after_the_first_was_known_to_be_lost() {
    // 6000..7000 was sent after the first repeat, and the sender is told of it at 165: one that knows by that repeats
    // before it sends new data, but for another round trip (30 ms) in which packets may be overtaken.
    let reason = |goes_on: &str| {
        let trace = format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             103 A>B data 3000..4000
             121 B>A ack 0 sack 1000..2000
             122 B>A ack 0 sack 1000..3000
             123 B>A ack 0 sack 1000..4000
             133 A>B data 0..1000
             134 A>B data 4000..5000
             155 B>A ack 0 sack 1000..5000
             165 A>B data 5000..6000
             {goes_on}
             310 B>A ack 0 sack 1000..5000
             320 A>B data 0..1000"
        );
        last_reason(&opened(&trace))
    };
    let later = |ms: u32| format!("{ms} A>B data 6000..7000");
    assert_eq!(reason(&later(240)), Some(Reason::Timeout));
    assert_eq!(reason(&later(185)), Some(Reason::Fast));
    // What is above was repeated itself: nothing new was sent.
    let repeated = format!("{}\n241 A>B data 6000..7000", later(185));
    assert_eq!(reason(&repeated), Some(Reason::Fast));
}

#[test]
fn without_sack_the_left_edge_is_asked_for_once() {
    // RFC 6582 section 3.2: three duplicate ACKs, or a partial one.
    let reason = |behind: &str| {
        let trace = format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             103 A>B data 3000..4000
             104 A>B data 4000..5000
             121 B>A ack 0
             122 B>A ack 0
             123 B>A ack 0
             124 B>A ack 0
             133 A>B data 0..1000
             {behind}"
        );
        last_reason(&opened_bare(&trace))
    };
    let goes_on = "134 A>B data 5000..6000\n155 B>A ack 0\n";
    let again = |ms: u32| reason(&format!("{goes_on}{ms} A>B data 0..1000"));
    assert_eq!(again(170), Some(Reason::Timeout));
    // Some take duplicate ACKs of the same round trip for a second request.
    assert_eq!(again(160), Some(Reason::Fast));
    // The lowest bytes now, which were repeated when lower ones were missing: the partial ACK asks for them.
    let partial = "134 A>B data 1000..2000\n160 B>A ack 1000\n170 A>B data 1000..2000";
    assert_eq!(reason(partial), Some(Reason::Fast));
}

#[test]
fn without_sack_duplicate_acks_do_not_set_the_timer_anew() {
    // RFC 6298 section 5.3. The sender waits for more of them than three, and goes on with new data; a timer of 200
    // ms and the round trip of 30 ms, less an eighth of the timer, end 205 ms after 0..1000 was sent.
    let reason = |ms: u32| {
        let trace = format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             103 A>B data 3000..4000
             121 B>A ack 0
             122 B>A ack 0
             123 B>A ack 0
             200 A>B data 4000..5000
             221 B>A ack 0
             280 A>B data 5000..6000
             301 B>A ack 0
             {ms} A>B data 0..1000"
        );
        last_reason(&opened_bare(&trace))
    };
    assert_eq!(reason(302), Some(Reason::Fast));
    assert_eq!(reason(310), Some(Reason::Timeout));
}

#[test]
fn without_sack_a_timer_runs_out_whatever_duplicate_acks_tell_after_another_one() {
    // RFC 6582 section 4: no repeat is asked for before what had been sent when the timer ran out is acknowledged, and
    // (section 3.2, step 2) more than that. Duplicate ACKs of new data do not set the timer anew.
    let reasons = |behind: &str| {
        let trace = format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             500 A>B data 0..1000
             520 B>A ack 1000
             530 A>B data 1000..2000
             531 A>B data 2000..3000
             {behind}"
        );
        let rows = play(&opened_bare(&trace)).rows;
        let last = rows[6..].iter().filter_map(|row| row.verdict.reason);
        last.collect::<Vec<_>>()
    };
    // The repeat of 2000..3000 was lost, and so was 5000..6000, which had been sent before its second one.
    let lost_again = "550 B>A ack 2000
         560 A>B data 3000..4000
         580 B>A ack 2000
         600 A>B data 4000..5000
         620 B>A ack 2000
         640 A>B data 5000..6000
         641 A>B data 6000..7000
         661 B>A ack 2000
         760 A>B data 2000..3000
         780 B>A ack 5000
         790 A>B data 5000..6000";
    assert_eq!(reasons(lost_again), [Reason::Timeout; 2]);
    // All is acknowledged, and nothing that was sent since.
    let lost_then = "551 B>A ack 3000
         560 A>B data 3000..4000
         561 A>B data 4000..5000
         562 A>B data 5000..6000
         563 A>B data 6000..7000
         581 B>A ack 3000
         582 B>A ack 3000
         583 B>A ack 3000
         620 A>B data 7000..8000
         745 B>A ack 3000
         760 A>B data 3000..4000";
    assert_eq!(reasons(lost_then), [Reason::Timeout]);
    // No timer is as short: this sender heeds them all the same.
    let heeds = lost_then.split("620").next().unwrap().to_owned() + "593 A>B data 3000..4000";
    assert_eq!(reasons(&heeds), [Reason::Fast]);
    // One more byte, and three duplicate ACKs ask for a repeat.
    let goes_on = lost_then
        .replace("ack 3000", "ack 4000")
        .replace("760 A>B data 3000..4000", "760 A>B data 4000..5000");
    assert_eq!(reasons(&goes_on), [Reason::Fast]);
}

#[test]
fn new_data_does_not_set_the_timer_anew() {
    // RFC 6298 section 5.1: it runs from the last progress, or from what was sent when it did not run.
    let reasons = |first: &str, told: &str| -> Vec<_> {
        let rows = play(&opened(&format!(
            "70 A>B data 0..1000
             90 B>A ack 1000
             {first}
             130 A>B data 2000..3000
             200 A>B data 3000..4000
             {told}
             330 A>B data 1000..2000
             350 B>A ack 2000
             361 A>B data 2000..3000
             381 B>A ack 4000"
        )))
        .rows;
        rows.iter().filter_map(|row| row.verdict.reason).collect()
    };
    let sent = "91 A>B data 1000..2000";
    assert_eq!(reasons(sent, ""), [Reason::Timeout; 2]);
    // The first copy was lost before it came here.
    assert_eq!(reasons("", ""), [Reason::Timeout; 2]);
    // Here an ACK may have asked for it.
    let told = reasons(sent, "311 B>A ack 1000 sack 3000..4000");
    assert_eq!(told, [Reason::Fast; 2]);
    assert_eq!(reasons(sent, "311 B>A ack 1000"), [Reason::Fast; 2]);
}

#[test]
fn what_duplicate_acks_ask_for_is_no_timers_however_long_a_round_trip_takes() {
    // Captured at the sender: nothing passes for a round trip of 300 ms before what it repeats, as all that it may send
    // is out. Its timer takes at least 200 ms longer than that.
    let reason = |end: &str| {
        let mut trace = "0 A>B syn\n300 B>A syn ack 0\n301 A>B ack 0\n".to_owned();
        for segment in 0..12 {
            let (start, end) = (1000 * segment, 1000 * (segment + 1));
            writeln!(trace, "{} A>B data {start}..{end}", 302 + segment).unwrap();
            writeln!(trace, "{} B>A ack {end}", 602 + segment).unwrap();
        }
        let mut lines: Vec<&str> = trace.lines().collect();
        lines.sort_by_key(|line| line.split(' ').next().unwrap().parse::<u32>().unwrap());
        let mut trace = lines.join("\n") + "\n";
        for segment in 12..18 {
            let (start, end) = (1000 * segment, 1000 * (segment + 1));
            writeln!(trace, "{} A>B data {start}..{end}", 608 + segment).unwrap();
        }
        last_reason(&(trace + end))
    };
    let asked = "921 B>A ack 12000 sack 13000..14000
         922 B>A ack 12000 sack 13000..15000
         923 B>A ack 12000 sack 13000..16000
         924 A>B data 12000..13000";
    assert_eq!(reason(asked), Some(Reason::Fast));
    assert_eq!(reason("1130 A>B data 12000..13000"), Some(Reason::Timeout));
}

#[test]
fn who_repeats_again_what_cannot_be_known_to_be_lost_has_not_taken_the_timeout_back() {
    // 0 and 1000 are repeated as they were asked for; their answers take longer than the timer. The first answer echoes
    // the first repeat: not all that was repeated since the repair began was for nothing, so who repeats more has not
    // taken the timeout back (RFC 3708 section 3; Linux compares the echo with the first repeat of the repair).
    let reason = |at: u32, what: &str, delivered: &str| {
        let trace = format!(
            "100 A>B data 0..1000 ts 100/20
             101 A>B data 1000..2000 ts 101/20
             102 A>B data 2000..3000 ts 102/20
             103 A>B data 3000..4000 ts 103/20
             104 A>B data 4000..5000 ts 104/20
             105 A>B data 5000..6000 ts 105/20
             123 B>A ack 0 ts 123/20 sack 2000..3000
             124 B>A ack 0 ts 124/20 sack 2000..4000
             125 B>A ack 0 ts 125/20 sack 2000..5000
             135 A>B data 0..1000 ts 135/125
             136 A>B data 1000..2000 ts 136/125
             137 A>B data 6000..7000 ts 137/125
             400 A>B data 0..1000 ts 400/125
             420 B>A ack 1000 ts 420/135 sack 2000..{delivered}
             {at} A>B data {what} ts {at}/420"
        );
        last_reason(&opened(&trace))
    };
    assert_eq!(reason(430, "1000..2000", "5000"), Some(Reason::Timeout));
    // It gave up all that was outstanding, whatever is known of it since (RFC 6675 section 5.1).
    assert_eq!(reason(430, "1000..2000", "7000"), Some(Reason::Timeout));
    assert_eq!(reason(430, "5000..6000", "5000"), Some(Reason::Timeout));
}

#[test]
fn what_is_asked_for_comes_at_once_and_so_what_comes_after_a_round_trip_of_silence_is_a_timers() {
    // The timer runs from the last progress, at 120 ms; the repeat at 162 ms was asked for meanwhile.
    let trace = |heard: u32, at: u32| {
        format!(
            "100 A>B data 0..1000
             120 B>A ack 1000
             130 A>B data 1000..2000
             130 A>B data 2000..3000
             130 A>B data 3000..4000
             151 B>A ack 1000 sack 2000..3000
             152 B>A ack 1000 sack 2000..4000
             162 A>B data 1000..2000
             {heard} B>A ack 1000 sack 2000..4000
             {at} A>B data 1000..2000"
        )
    };
    let reason = |heard: u32, at: u32| last_reason(&opened(&trace(heard, at)));
    assert_eq!(reason(153, 310), Some(Reason::Timeout));
    // Nothing that was sent since the repeat has come: a timer may be shorter.
    assert_eq!(reason(153, 290), Some(Reason::Timeout));
    // An ACK had just come by, which tells nothing of the repeat at 162 ms, but may have asked for a first one.
    assert_eq!(reason(290, 310), Some(Reason::Timeout));
    let first = |heard: u32| trace(heard, 300).replace("162 A>B data 1000..2000\n", "");
    assert_eq!(last_reason(&opened(&first(153))), Some(Reason::Timeout));
    assert_eq!(last_reason(&opened(&first(290))), Some(Reason::Fast));
    // Where the capture began later, nobody knows how long the way to the sender and back takes.
    assert_eq!(last_reason(&first(153)), Some(Reason::Fast));
    // One of 35 ms before came to its sender and back within 15 ms, as its echoes tell: packets may be overtaken for a
    // quarter of a round trip beside that, or for all of it where DSACKs have told its sender so (RFC 8985 section 6.2).
    let near = "0 A>B syn ts 1/0
         20 B>A syn ack 0 ts 7/1
         25 A>B ack 0 ts 2/7
         ";
    let stamped = |trace: &str| {
        let lines = trace.lines().map(|line| {
            let ms = line.split_whitespace().next().unwrap();
            format!("{line} ts {ms}/1\n")
        });
        format!("{near}{}", lines.collect::<String>())
    };
    let late = first(265);
    assert_eq!(last_reason(&stamped(&late)), Some(Reason::Timeout));
    let patient = late.replace("265 B>A ack 1000", "265 B>A ack 1000 sack 0..1000");
    assert_eq!(last_reason(&stamped(&patient)), Some(Reason::Fast));
    // Without timestamps nobody knows how long queues on the way have become.
    let unstamped = "0 A>B syn
         20 B>A syn ack 0
         25 A>B ack 0
         ";
    assert_eq!(
        last_reason(&format!("{unstamped}{late}")),
        Some(Reason::Fast)
    );
}

#[test]
fn what_nothing_asked_for_is_a_timers_however_short_that_is() {
    // Round trips of 150 ms, and the last progress at 410: some timers wait for 200 ms from then on, others as long beyond
    // a round trip (RFC 6298 section 2.3).
    let reason = |at: u32| {
        let trace = format!(
            "100 A>B data 0..1000
             250 B>A ack 1000
             260 A>B data 1000..2000
             300 A>B data 2000..3000
             301 A>B data 3000..4000
             302 A>B data 4000..5000
             410 B>A ack 2000
             451 B>A ack 2000 sack 3000..4000
             452 B>A ack 2000 sack 3000..5000
             {at} A>B data 2000..3000"
        );
        last_reason(&opened(&trace))
    };
    assert_eq!(reason(640), Some(Reason::Timeout));
    assert_eq!(reason(580), Some(Reason::Fast));
}

#[test]
fn what_is_repeated_though_no_ack_told_of_anything_is_a_timers_however_long_a_round_trip_takes() {
    // Answers take 300 ms, and nothing is told of what is lost: who waits for 200 ms repeats it sooner.
    let steady = (0..8)
        .map(|n| {
            let (sent, acked) = (100 + 310 * n, 400 + 310 * n);
            let (from, to) = (1000 * n, 1000 * (n + 1));
            format!("{sent} A>B data {from}..{to}\n{acked} B>A ack {to}\n")
        })
        .collect::<Vec<_>>()
        .concat();
    let reason = |told: &str, at: u32| {
        let trace = format!(
            "{steady}
             2580 A>B data 8000..9000
             2581 A>B data 9000..10000
             2582 A>B data 10000..11000
             {told}
             {at} A>B data 8000..9000"
        );
        last_reason(&opened(&trace))
    };
    assert_eq!(reason("", 2770), Some(Reason::Timeout));
    // No timer is as short, or a duplicate ACK may be one of several of which the others were lost.
    assert_eq!(reason("", 2750), Some(Reason::Fast));
    let told = "2765 B>A ack 8000";
    assert_eq!(reason(told, 2770), Some(Reason::Fast));
    let reported = format!("{told} sack 9000..10000");
    assert_eq!(reason(&reported, 2770), Some(Reason::Fast));
}

#[test]
fn what_goes_on_in_the_instant_in_which_an_ack_came_was_asked_for() {
    // At the sender: by the time since the first repeat of 0..1000 the second may be a timer's, but with it comes new
    // data, for which a timer leaves no room (RFC 5681 section 3.1), and no other ACK came in between.
    let trace = |next: &str| {
        format!(
            "0 A>B syn
             20 B>A syn ack 0
             20 A>B ack 0
             100 A>B data 0..1000
             100 A>B data 1000..2000
             100 A>B data 2000..3000
             100 A>B data 3000..4000
             100 A>B data 4000..5000
             120 B>A ack 0 sack 1000..2000
             120 B>A ack 0 sack 1000..3000
             120 B>A ack 0 sack 1000..4000
             120 A>B data 0..1000
             290 A>B data 5000..6000
             300 B>A ack 0 sack 1000..5000
             300 A>B data 0..1000
             {next}"
        )
    };
    let reason = |next: &str| {
        let rows = play(&trace(next)).rows;
        let mut repeats = rows.iter().filter(|row| row.offset == 0);
        repeats.next_back().and_then(|row| row.verdict.reason)
    };
    assert_eq!(reason("300 A>B data 6000..7000"), Some(Reason::Fast));
    assert_eq!(reason("320 A>B data 6000..7000"), Some(Reason::Timeout));
}

/// Without SACK: every other packet of 16 is lost, and each partial ACK has one repeated, the last of them at 326 ms.
fn slow_repair(last: &str) -> String {
    let mut trace = String::new();
    for (id, start) in (0..16).enumerate() {
        let id = id + 2;
        let _ = writeln!(
            trace,
            "{} A>B data {start}000..{}000 id {id}",
            100 + start,
            start + 1
        );
    }
    for dup in 0..3 {
        let _ = writeln!(trace, "{} B>A ack 0", 121 + 2 * dup);
    }
    for round in 0..7 {
        let (start, id) = (2 * round, 18 + round);
        let _ = writeln!(
            trace,
            "{} A>B data {start}000..{}000 id {id}\n{} B>A ack {}000",
            136 + 31 * round,
            start + 1,
            156 + 31 * round,
            start + 2
        );
    }
    opened_bare(&(trace + last))
}

#[test]
fn without_sack_each_partial_ack_asks_once_whatever_the_timer_has_run_for() {
    let last = "353 A>B data 14000..15000 id 25\n";
    assert_eq!(last_reason(&slow_repair(last)), Some(Reason::Fast));
    // RFC 6582 section 4: the timer need not be set anew but by the first partial ACK, at 156 ms.
    let again = format!("{last}364 A>B data 14000..15000 id 26");
    assert_eq!(last_reason(&slow_repair(&again)), Some(Reason::Timeout));
}

/// 0..1000 is repeated, lost behind here, and repeated again as soon as A has heard that a packet came which it sent
/// later: 400 ms after the first time, as it is so far away. Its handshake was not seen, and without timestamps nothing
/// else tells how far: then new data in between does not tell that it waited for a timer.
#[test]
fn where_the_way_to_the_sender_is_not_known_new_data_does_not_tell_that_it_knew_of_a_loss() {
    let mut trace = vec![
        "100 A>B data 0..1000".to_owned(),
        "101 A>B data 1000..2000".to_owned(),
        "121 B>A ack 0 sack 1000..2000".to_owned(),
    ];
    // One each 20 ms, of which the ACK comes 20 ms later.
    let mut write = |at: i64| {
        let start = 2000 + (at - 120) / 20 * 1000;
        trace.push(format!("{at} A>B data {start}..{}", start + 1000));
        trace.push(format!("{} B>A ack 0 sack 1000..{}", at + 20, start + 1000));
        if at == 500 {
            trace.push("501 A>B data 0..1000".to_owned());
        }
    };
    for at in (120..=900).step_by(20) {
        write(at);
    }
    trace.push("922 A>B data 0..1000".to_owned());
    let seen = play(&trace.join("\n"));
    let repeats = seen.rows.iter().filter_map(|row| row.verdict.reason);
    assert_eq!(repeats.collect::<Vec<_>>(), [Reason::Fast, Reason::Fast]);
}

#[test]
fn of_a_lost_tail_timers_repeat_the_first_packet_as_often_as_they_can_have_fired() {
    // Ids 5 to 8 were 3000..4000, and three timers' repeats of it: in 3.3 s four fire, each after twice as long as the
    // one before (RFC 6298 section 5.5), of which the last one brings it here.
    let repeated_to = |skipped: u32| {
        let id = |packet: u32| 5 + skipped + packet;
        let seen = play(&opened(&format!(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             102 A>B data 2000..3000 id 4
             122 B>A ack 3000
             3400 A>B data 3000..4000 id {}
             3420 B>A ack 4000
             3430 A>B data 4000..5000 id {}
             3431 A>B data 5000..6000 id {}
             3451 B>A ack 6000
             3461 A>B data 6000..7000 id {}",
            id(0),
            id(1),
            id(2),
            id(3)
        )));
        let repeats = seen
            .rows
            .iter()
            .filter(|row| row.verdict.class == Class::Retransmission);
        repeats
            .map(|row| row.offset + i64::from(row.payload_len))
            .max()
    };
    assert_eq!(repeated_to(4), Some(4000));
    // Of six, three were 3000..6000.
    assert_eq!(repeated_to(6), Some(6000));
    // One at least had been sent before.
    assert_eq!(repeated_to(1), Some(4000));
}

#[test]
fn a_timers_first_repeat_is_known_by_all_that_is_left_out_behind_it() {
    // Without ids: what was sent from 2000 on, up to 20000, was lost in an outage that the timer outlasted. Its first repeat
    // looks like new data, until its answer makes the sender try what is new (RFC 5682 section 2.1).
    let reasons = |trace: &str| -> Vec<(Class, Option<Reason>)> {
        let seen = play(&opened(trace));
        let verdicts = seen.rows.iter().skip(1).map(|row| row.verdict);
        verdicts.map(|told| (told.class, told.reason)).collect()
    };
    let trace = |timer: u32, tried: u32, sent_to: u32| {
        format!(
            "100 A>B data 0..1000 ack 0
             120 B>A ack 1000
             130 A>B data 1000..2000 ack 0
             150 B>A ack 2000
             {timer} A>B data 2000..3000 ack 0
             720 B>A ack 3000
             {tried} A>B data {sent_to}..{} ack 0
             751 B>A ack 3000 sack {sent_to}..{}
             801 A>B data 3000..4000 ack 0",
            sent_to + 1000,
            sent_to + 1000
        )
    };
    let new = (Class::New, None);
    let repeated = |reason| (Class::Retransmission, Some(reason));
    let timeout = repeated(Reason::Timeout);
    assert_eq!(
        reasons(&trace(700, 731, 20_000)),
        [new, timeout, new, timeout]
    );
    // After a pause a sender begins with ten packets, all but the first of which are lost here; or the pause was short,
    // or what comes is no answer.
    let fast = [new, new, new, repeated(Reason::Fast)];
    assert_eq!(reasons(&trace(700, 731, 13_000)), fast);
    assert_eq!(reasons(&trace(290, 731, 20_000)), fast);
    assert_eq!(reasons(&trace(700, 721, 20_000)), fast);
}
