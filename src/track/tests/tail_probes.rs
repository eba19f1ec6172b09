//! Repeats that probe for a lost tail, and those that do not (METRICS.md X2).

use super::{last_reason, opened, play};
use crate::event::{Class, LossPlace, Reason};

#[test]
fn nobody_probes_while_losses_are_repaired() {
    // RFC 8985 section 7.2: 0..1000 and 4000..4500 are lost. What was asked for is repeated, and then a timer runs out.
    let trace = opened(
        "100 A>B data 0..1000
         101 A>B data 1000..2000
         102 A>B data 2000..3000
         103 A>B data 3000..4000
         104 A>B data 4000..4500
         121 B>A ack 0 sack 1000..2000
         122 B>A ack 0 sack 1000..3000
         123 B>A ack 0 sack 1000..4000
         133 A>B data 0..1000
         153 B>A ack 4000
         380 A>B data 4000..4500
         400 B>A ack 4500",
    );
    let rows = play(&trace).rows;
    let reasons: Vec<Reason> = rows.iter().filter_map(|row| row.verdict.reason).collect();
    assert_eq!(reasons, [Reason::Fast, Reason::Timeout]);
}

#[test]
fn a_probe_that_comes_before_a_round_trip_is_over_leaves_lower_segments_out() {
    // Captured at the sender, a round trip of 300 ms. 1000..2000 was sent 280 ms before, and its timer is about to run
    // out.
    let reason = |again: &str| {
        let seen = play(&format!(
            "0 A>B syn
             300 B>A syn ack 0
             300 A>B ack 0 id 1
             310 A>B data 0..1000 ack 0 id 2
             610 B>A ack 1000
             630 A>B data 1000..2000 ack 0 id 3
             800 A>B data 2000..3000 ack 0 id 4
             {again}"
        ));
        seen.rows[3].verdict.reason
    };
    assert_eq!(
        reason("910 A>B data 2000..3000 ack 0 id 5"),
        Some(Reason::TailProbe)
    );
    assert_eq!(
        reason("910 A>B data 1000..2000 ack 0 id 5"),
        Some(Reason::Timeout)
    );
}

#[test]
fn who_has_probed_waits_for_the_answer_before_another_probe() {
    // RFC 8985 section 7.3: the ACK at 210 is of what came before the probe, which is lost as well.
    let trace = opened(
        "100 A>B data 0..1000 ack 0
         120 B>A ack 1000
         130 A>B data 1000..2000 ack 0
         131 A>B data 2000..2500 ack 0
         195 A>B data 2000..2500 ack 0
         210 B>A ack 2000
         460 A>B data 2000..2500 ack 0
         480 B>A ack 2500
         490 A>B data 2500..3000 ack 0
         555 A>B data 2500..3000 ack 0
         575 B>A ack 3000",
    );
    let rows = play(&trace).rows;
    let reasons: Vec<Reason> = rows.iter().filter_map(|row| row.verdict.reason).collect();
    let probe = Reason::TailProbe;
    assert_eq!(reasons, [probe, Reason::Timeout, probe]);
}

#[test]
fn a_probe_may_repeat_the_fin_alone_and_is_what_the_report_of_it_answers() {
    // RFC 8985 section 7.3: a probe is the last segment that was sent.
    let reason = |probe: &str| {
        let trace = format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B at 2000 fin
             121 B>A ack 1000
             {probe}
             361 B>A ack 1000 sack 2000..2001
             371 A>B data 1000..2000"
        );
        let rows = play(&opened(&trace)).rows;
        rows.last().and_then(|row| row.verdict.reason)
    };
    assert_eq!(reason("340 A>B at 2000 fin"), Some(Reason::Fast));
    // The report may be of the first one, late.
    assert_eq!(reason(""), Some(Reason::Timeout));
}

#[test]
fn ids_whose_counter_is_not_known_tell_of_no_packets_above_a_probe() {
    // A step of one on a host that writes its lower byte first.
    let trace = "0 A>B data 0..600 id 26892
         206 A>B data 0..600 id 27148";
    let rows = play(trace).rows;
    assert_eq!(rows[1].verdict.reason, Some(Reason::TailProbe));
}

#[test]
fn skipped_ids_are_no_packets_for_which_the_receiver_has_no_room() {
    let reason = |window: u32| {
        let trace = opened(&format!(
            "100 A>B data 0..1000 id 11
             120 B>A ack 1000 win {window}
             121 A>B data 1000..2000 id 12
             400 A>B data 1000..2000 id 33"
        ));
        play(&trace).rows[2].verdict.reason
    };
    // Twenty packets above it were lost: a probe would have repeated the last of them.
    assert_eq!(reason(200), Some(Reason::Timeout));
    // Those of other connections.
    assert_eq!(reason(100), Some(Reason::TailProbe));
}

#[test]
fn a_repeat_below_the_number_of_an_ack_is_no_probe() {
    // RFC 8985 section 7.3: a probe is the last segment that was sent. The ACK at 125 tells that 500..1000 was, too.
    let trace = |number: &str| {
        opened(&format!(
            "120 B>A data 0..500 ack 0
             125 A>B at {number} ack 500
             400 A>B data 0..500 ack 500
             420 B>A ack 500"
        ))
    };
    let reason = |number: &str| play(&trace(number)).rows[0].verdict.reason;
    assert_eq!(reason("1000"), Some(Reason::Timeout));
    assert_eq!(reason("500"), Some(Reason::TailProbe));
    // The number behind a FIN is no byte.
    assert_eq!(reason("501"), Some(Reason::TailProbe));
    // All that was sent before it is one repair.
    let rest = "430 A>B data 500..1000 ack 500\n450 B>A ack 1000";
    let repaired = play(&format!("{}\n{rest}", trace("1000")));
    assert_eq!(repaired.recoveries, ["400..450 timeout"]);
}

#[test]
fn nobody_probes_for_a_tail_while_sack_tells_of_losses() {
    // 0..1000 was lost behind here. RFC 8985 section 7.2: a probe needs an empty scoreboard; id 4 repeated 0..1000 and
    // was lost before it came here.
    let trace = "100 A>B data 0..1000 id 2
         101 A>B data 1000..2000 id 3
         121 B>A ack 0 sack 1000..2000
         170 A>B data 2000..3000 id 5";
    assert_eq!(last_reason(&opened(trace)), None);
    // All that was seen had come: there may be a tail, with id 4, of which a probe repeats the last packet.
    let all = trace.replace("ack 0 sack 1000..2000", "ack 2000");
    assert_eq!(last_reason(&opened(&all)), Some(Reason::TailProbe));
}

#[test]
fn what_a_repair_goes_on_with_was_sent_before_something_that_came() {
    // The repeat of 0..1000 is lost, too, and the next one, with id 8, is overtaken by new data. Nothing that was sent
    // after id 8 can have told that it was lost (RFC 8985 section 6.2).
    let overtaken = "100 A>B data 0..1000 id 2
         101 A>B data 1000..2000 id 3
         102 A>B data 2000..3000 id 4
         103 A>B data 3000..4000 id 5
         121 B>A ack 0 sack 1000..2000
         122 B>A ack 0 sack 1000..3000
         123 B>A ack 0 sack 1000..4000
         133 A>B data 0..1000 id 6
         134 A>B data 4000..5000 id 7
         154 B>A ack 0 sack 1000..5000
         199 A>B data 5000..6000 id 9";
    assert_eq!(last_reason(&opened(overtaken)), None);
    // Here the second repeat came by and arrived: it tells of what was sent with id 8 above all that was seen.
    let told = overtaken.replace(
        "199 A>B data 5000..6000 id 9",
        "164 A>B data 0..1000 id 9
         184 B>A ack 5000
         199 A>B data 5000..6000 id 10",
    );
    assert_eq!(last_reason(&opened(&told)), Some(Reason::Fast));
}

#[test]
fn after_a_timers_repeat_is_acknowledged_a_lost_tail_does_not_wait_for_long() {
    // Ids 4 and 5 were the first copy of 2000..3000 and a probe, or two packets of a tail.
    let after = |at: u32| {
        last_reason(&opened(&format!(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             121 B>A ack 2000
             700 A>B data 2000..3000 id 6
             720 B>A ack 3000
             {at} A>B data 3000..4000 id 7"
        )))
    };
    // Nobody probes before all is acknowledged that had been sent when the timer ran out (RFC 8985 section 7.3).
    assert_eq!(after(731), Some(Reason::Timeout));
    assert_eq!(after(779), Some(Reason::Timeout));
    // Two round trips of 30 ms later its sender had nothing left to repeat.
    assert_eq!(after(781), None);
}

#[test]
fn a_probe_does_not_wait_for_seconds() {
    // A round trip takes 30 ms: a probe comes within 390 ms, twice that and 200 ms, and half as much again.
    let reason = |ms: u32| {
        let trace = format!(
            "100 A>B data 0..1000
             120 B>A ack 1000
             130 A>B data 1000..2000
             {ms} A>B data 1000..2000
             {} B>A ack 2000",
            ms + 20
        );
        play(&opened(&trace)).rows[2].verdict.reason
    };
    assert_eq!(reason(200), Some(Reason::TailProbe));
    assert_eq!(reason(500), Some(Reason::TailProbe));
    assert_eq!(reason(700), Some(Reason::Timeout));
    assert_eq!(reason(5000), Some(Reason::Timeout));
    // Where something lower is outstanding, a timer would repeat that.
    let above = opened(
        "100 A>B data 0..1000
         120 B>A ack 1000
         130 A>B data 1000..2000
         131 A>B data 2000..3000
         2000 A>B data 2000..3000
         2020 B>A ack 1000 sack 2000..3000",
    );
    assert_eq!(play(&above).rows[3].verdict.reason, Some(Reason::TailProbe));
}

#[test]
fn after_a_probe_there_is_no_other_before_more_than_it_repeated_is_acknowledged() {
    // The tails of two answers are lost, of which the probe of the first was needed.
    let reason = |first: &str| {
        last_reason(&opened(&format!(
            "100 A>B data 0..1000
             {first}
             800 A>B data 1000..2000
             1100 A>B data 1000..2000"
        )))
    };
    let probe = "400 A>B data 0..1000\n420 B>A ack 1000";
    assert_eq!(reason(probe), Some(Reason::Timeout));
    assert_eq!(reason("120 B>A ack 1000"), Some(Reason::TailProbe));
    // A DSACK tells that it was for nothing.
    let for_nothing = format!("{probe} sack 0..1000");
    assert_eq!(reason(&for_nothing), Some(Reason::TailProbe));
    // A timer follows it: whoever repairs has no probe any more.
    let and_timer = "400 A>B data 0..1000\n700 A>B data 0..1000\n720 B>A ack 1000";
    assert_eq!(reason(and_timer), Some(Reason::TailProbe));
}

#[test]
fn since_when_its_sender_waited_is_not_known_where_the_first_copy_did_not_come_here() {
    // Id 6 was 4000..5000, sent at any time in that pause.
    let reason = |id: u32| {
        last_reason(&opened(&format!(
            "100 A>B data 0..1000 id 2
             101 A>B data 1000..2000 id 3
             102 A>B data 2000..3000 id 4
             103 A>B data 3000..4000 id 5
             123 B>A ack 4000
             2000 A>B data 4000..5000 id {id}"
        )))
    };
    assert_eq!(reason(7), Some(Reason::TailProbe));
    // A probe was lost as well, and a timer followed it.
    assert_eq!(reason(8), Some(Reason::Timeout));
}

/// RFC 8985 section 6.2: what was sent before a repeat that is acknowledged is lost once it cannot be late any more, which a
/// sender waits for. By here, behind a queue, that takes longer than two round trips without it.
#[test]
fn what_the_ack_of_a_repeat_tells_to_be_lost_needs_no_timer() {
    // 2000..3000, id 4, and all from 4000 on, ids 6 to 9 before the repeat and 11 and 12 behind it, are lost before they come here.
    let trace = opened(
        "90 A>B data 0..1000 id 2
         91 A>B data 1000..2000 id 3
         93 A>B data 3000..4000 id 5
         110 B>A ack 1000
         111 B>A ack 2000
         113 B>A ack 2000 sack 3000..4000
         143 A>B data 2000..3000 id 10
         163 B>A ack 4000
         205 A>B data 4000..5000 id 13
         206 A>B data 5000..6000 id 14
         207 A>B data 6000..7000 id 15
         208 A>B data 7000..8000 id 16
         225 B>A ack 5000
         228 B>A ack 8000",
    );
    let seen = play(&trace);
    assert_eq!(seen.state.skipped_packets, 7);
    for row in seen.rows {
        let is_repeat = row.offset == 2000 || (4000..8000).contains(&row.offset);
        let lost = is_repeat.then_some((Some(Reason::Fast), Some(LossPlace::Upstream)));
        let told = (row.verdict.class == Class::Retransmission)
            .then_some((row.verdict.reason, row.verdict.lost));
        assert_eq!(told, lost, "{}", row.offset);
    }
    let reason_of = |lines: usize, of: &dyn Fn(&str) -> String| {
        let first: Vec<&str> = trace.lines().take(lines).collect();
        last_reason(&of(&first.join("\n")))
    };
    let until_repeat = trace
        .lines()
        .position(|line| line.contains("205 A>B"))
        .unwrap()
        + 1;
    assert_eq!(reason_of(until_repeat, &str::to_owned), Some(Reason::Fast));
    // A timeout takes longer than what may be late alone.
    let timed_out = |trace: &str| trace.replace("205 A>B", "405 A>B");
    assert_eq!(reason_of(until_repeat, &timed_out), Some(Reason::Timeout));
    // One packet that was lost alone is the last one, which is what a probe repeats (section 7.3).
    let alone = |trace: &str| {
        let trace = trace.replace("id 13", "id 8");
        trace.replace("2000..3000 id 10", "2000..3000 id 6")
    };
    assert_eq!(reason_of(until_repeat, &alone), Some(Reason::TailProbe));
}

/// After a repair others take ids, and two packets pass before any ACK: what a timer or RACK sends again comes in order behind
/// what it has, so that both were new.
#[test]
fn what_waits_after_a_repair_for_its_application_is_new() {
    let repaired = "90 A>B data 0..1000 id 2
         91 A>B data 1000..2000 id 3
         93 A>B data 3000..4000 id 5
         110 B>A ack 1000
         111 B>A ack 2000
         113 B>A ack 2000 sack 3000..4000
         143 A>B data 2000..3000 id 6
         163 B>A ack 4000";
    for behind in [
        // Longer than any timeout takes.
        "463 A>B data 4000..5000 id 12
         464 A>B data 5000..6000 id 13
         484 B>A ack 6000",
        // One id alone was skipped.
        "225 A>B data 4000..5000 id 8
         226 A>B data 5000..6000 id 9
         246 B>A ack 6000",
        // What passed last was no repeat.
        "193 A>B data 4000..5000 id 7
         213 B>A ack 5000
         293 A>B data 5000..6000 id 10
         294 A>B data 6000..7000 id 11
         314 B>A ack 7000",
    ] {
        let seen = play(&opened(&format!("{repaired}\n{behind}")));
        for row in seen.rows {
            let is_repeat = row.verdict.class == Class::Retransmission;
            assert_eq!(is_repeat, row.offset == 2000, "{behind}: {}", row.offset);
        }
    }
}

#[test]
fn who_knows_lower_bytes_to_be_outstanding_repeats_the_last_packet_by_no_timer() {
    // The ACK at 124 is lost behind here, as all is until 1300: A's timers repeat what it acknowledges. Its sender hears of
    // 4000 by the DSACK, and of nothing above that.
    let reasons = |told: &str| {
        let trace = format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             103 A>B data 3000..4000
             104 A>B data 4000..5000
             105 A>B data 5000..6000
             122 B>A ack 2000
             124 B>A ack 4000
             260 A>B data 5000..6000
             600 A>B data 2000..3000
             1300 A>B data 2000..3000
             1320 B>A ack 4000 {told}
             3000 A>B data 5000..6000
             3020 B>A ack 4000 sack 5000..6000
             3030 A>B data 4000..5000
             3050 B>A ack 6000"
        );
        let rows = play(&opened(&trace)).rows;
        [9, 10].map(|row: usize| rows[row].verdict.reason)
    };
    let probed = [Some(Reason::TailProbe), Some(Reason::Fast)];
    assert_eq!(reasons("sack 2000..3000"), probed);
}

#[test]
fn nobody_probes_for_what_a_timer_gave_up() {
    // RFC 8985 section 7.2: 2000..3000 goes on with what the timer at 500 gave up, however late.
    let reason = last_reason(&opened(
        "100 A>B data 0..1000
         101 A>B data 1000..2000
         102 A>B data 2000..3000
         500 A>B data 0..1000
         520 B>A ack 1000
         530 A>B data 1000..2000
         1300 A>B data 2000..3000",
    ));
    assert_eq!(reason, Some(Reason::Timeout));
}
