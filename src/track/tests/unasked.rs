//! Timers that ran out while ACKs went on: silences, repeats again of what was repeated, and who goes on with other data (METRICS.md
//! RT1, RT5, RT12, RT13).

use std::fmt::Write as _;

use super::{last_reason, opened, play};
use crate::event::Reason;

/// Seven packets, of which the first two and the sixth are missing; the first is asked for and repeated at 138, with id 9. What
/// passes `then`.
fn repeated(then: &str) -> Option<Reason> {
    last_reason(&opened(&format!(
        "100 A>B data 0..1000 id 2
         101 A>B data 1000..2000 id 3
         102 A>B data 2000..3000 id 4
         103 A>B data 3000..4000 id 5
         104 A>B data 4000..5000 id 6
         105 A>B data 5000..6000 id 7
         106 A>B data 6000..7000 id 8
         122 B>A ack 0 sack 2000..3000
         123 B>A ack 0 sack 2000..4000
         124 B>A ack 0 sack 2000..5000
         126 B>A ack 0 sack 6000..7000 sack 2000..5000
         138 A>B data 0..1000 id 9
         {then}"
    )))
}

#[test]
fn what_is_repeated_again_before_anything_since_is_delivered_was_given_up() {
    // A round trip takes 30 ms.
    let reason = |sent: &str, told: &str, again: &str| {
        repeated(&format!(
            "140 A>B data 1000..2000 id 10
             141 A>B data {sent} id 11
             161 B>A ack 0 sack {told}
             190 A>B data {again} id 12"
        ))
    };
    let known = "6000..7000 sack 2000..5000";
    let edge = "0..1000";
    assert_eq!(reason("7000..8000", known, edge), Some(Reason::Timeout));
    let later = "6000..8000 sack 2000..5000";
    assert_eq!(reason("7000..8000", later, edge), Some(Reason::Fast));
    // When that was sent which never passed here nobody knows.
    let unseen = "6000..7000 sack 7000..8000 sack 2000..5000";
    assert_eq!(reason("8000..9000", unseen, edge), Some(Reason::Fast));
    assert_eq!(reason("8000..9000", known, edge), Some(Reason::Timeout));
    // A timer begins with the lowest bytes.
    let above = "1000..2000";
    assert_eq!(reason("7000..8000", known, above), Some(Reason::Fast));
    // What was sent at once with the repeat may have been sent later.
    let at_once = repeated(
        "139 A>B data 7000..8000 id 10
         159 B>A ack 0 sack 6000..8000 sack 2000..5000
         190 A>B data 0..1000 id 11",
    );
    assert_eq!(at_once, Some(Reason::Fast));
}

#[test]
fn what_is_repeated_again_within_a_round_trip_was_given_up() {
    // An ACK takes 20 ms, and its answer 10.
    let reason = |ms: u32, piece: &str| {
        repeated(&format!(
            "139 A>B data 1000..2000 id 10
             140 A>B data 7000..8000 id 11
             141 B>A ack 0 sack 6000..7000 sack 2000..5000
             {ms} A>B data {piece} id 12"
        ))
    };
    assert_eq!(reason(164, "1000..2000"), Some(Reason::Timeout));
    assert_eq!(reason(166, "1000..2000"), Some(Reason::Fast));
    assert_eq!(reason(164, "1000..1500"), Some(Reason::Fast));
}

#[test]
fn a_timer_runs_out_though_its_repeat_is_acknowledged_by_then() {
    // What follows was not repeated before, and is the timer's.
    let reason_of = |before: &str, sent: &str, needless: &str, told: &str| {
        repeated(&format!(
            "{before}
             143 A>B data {sent} id 13
             163 B>A ack 5000 sack {told}
             164 A>B data {needless} id 14
             165 A>B data 5000..6000 id 15"
        ))
    };
    let reason =
        |before: &str, needless: &str, told: &str| reason_of(before, "7000..8000", needless, told);
    let known = "6000..7000";
    let again = "140 A>B data 1000..2000 id 10";
    assert_eq!(reason(again, "0..1000", known), Some(Reason::Timeout));
    assert_eq!(reason(again, "1000..2000", known), Some(Reason::Timeout));
    // It may have been told of by what was sent later.
    let later = "6000..8000";
    assert_eq!(reason(again, "0..1000", later), Some(Reason::Fast));
    // When that was sent which never passed here nobody knows.
    let with_unseen = |told: &str| reason_of(again, "8000..9000", "0..1000", told);
    assert_eq!(with_unseen(later), Some(Reason::Fast));
    assert_eq!(with_unseen(known), Some(Reason::Timeout));
    // Or by what was sent later below it.
    let lower = |first: &str, second: &str| {
        repeated(&format!(
            "140 A>B data {first} id 10
             142 A>B data {second} id 11
             143 A>B data 7000..8000 id 12
             163 B>A ack 7000
             164 A>B data 5000..6000 id 13
             165 A>B data 7000..8000 id 14"
        ))
    };
    assert_eq!(lower("1000..2000", "5000..6000"), Some(Reason::Timeout));
    assert_eq!(lower("5000..6000", "1000..2000"), Some(Reason::Fast));
}

#[test]
fn a_silence_of_two_round_trips_is_a_timers_whatever_was_told_before() {
    let reason = |ms: u32| {
        let trace = format!(
            "60 A>B data 0..1000 ack 0 ts 60/1
             80 B>A ack 1000 ts 80/60
             90 A>B data 1000..2000 ack 0 ts 90/80
             91 A>B data 2000..3000 ack 0 ts 91/80
             92 A>B data 3000..4000 ack 0 ts 92/80
             111 B>A ack 1000 sack 2000..3000 ts 111/60
             {ms} A>B data 1000..2000 ack 0 ts {ms}/111"
        );
        opened(&trace)
    };
    // A round trip takes 30 ms, and a timer may be 12 late.
    assert_eq!(last_reason(&reason(187)), Some(Reason::Timeout));
    assert_eq!(last_reason(&reason(180)), Some(Reason::Fast));
    // Data passed meanwhile, or an ACK.
    let with =
        |packet: &str| reason(187).replace("\n             187", &format!("\n{packet}\n187"));
    let data = with("140 A>B data 4000..5000 ack 0 ts 140/111");
    assert_eq!(last_reason(&data), Some(Reason::Fast));
    let ack = with("140 B>A ack 1000 sack 2000..4000 ts 140/60");
    assert_eq!(last_reason(&ack), Some(Reason::Fast));
    // A timer begins with the lowest bytes.
    let above = reason(187)
        .replace("111 B>A", "93 A>B data 4000..5000 ack 0 ts 93/80\n111 B>A")
        .replace("187 A>B data 1000..2000", "187 A>B data 3000..4000");
    assert_eq!(last_reason(&above), Some(Reason::Fast));
    // Queues on the way to the sender do not show.
    let untimed = reason(187)
        .lines()
        .map(|line| line.split(" ts ").next().unwrap().to_owned() + "\n")
        .collect::<String>();
    assert_eq!(last_reason(&untimed), Some(Reason::Fast));
}

#[test]
fn a_silence_of_two_round_trips_is_none_where_answers_take_longer() {
    // An answer took 10 ms, and then 100.
    let reason = |ms: u32| {
        last_reason(&opened(&format!(
            "60 A>B data 0..1000 ack 0 ts 60/1
             61 A>B data 1000..2000 ack 0 ts 61/1
             80 B>A ack 1000 ts 80/60
             81 B>A ack 2000 ts 81/61
             90 A>B data 2000..3000 ack 0 ts 90/80
             181 A>B data 3000..4000 ack 0 ts 181/81
             182 A>B data 4000..5000 ack 0 ts 182/81
             201 B>A ack 2000 sack 3000..4000 ts 201/61
             {ms} A>B data 2000..3000 ack 0 ts {ms}/201"
        )))
    };
    assert_eq!(reason(320), Some(Reason::Fast));
    assert_eq!(reason(350), Some(Reason::Timeout));
}

/// A segment each 10 ms, of which 1000..2000 is lost before it comes here, and so is 5000..6000, with the ACKs of a round trip
/// of 20 ms there and as long back; `above` is repeated meanwhile. The repeat of 1000..2000 passes at `ms` and echoes an ACK that passed
/// `heard` before.
fn told_meanwhile((ms, heard): (u32, u32), stamps: bool, above: &str) -> String {
    const HALF: u32 = 20;
    let syn = "0 A>B syn\n20 B>A syn ack 0\n40 A>B ack 0 id 1\n".to_owned();
    let stamp = |at: u32, echo: u32| {
        if stamps {
            format!(" ts {at}/{echo}")
        } else {
            String::new()
        }
    };
    let begin = 200 + 2 * HALF;
    let mut packets = Vec::new();
    for (n, at) in (begin..ms).step_by(10).enumerate() {
        let start = 1000 * n as u32;
        let (end, echo) = (
            start + 1000,
            if at < begin + 2 * HALF { 1 } else { at - HALF },
        );
        if ![1000, 5000].contains(&start) {
            packets.push((
                at,
                format!("A>B data {start}..{end} ack 0{}", stamp(at, echo)),
            ));
        }
        let sack = match start {
            0 | 1000 => String::new(),
            5000 => continue,
            _ if start < 5000 => format!(" sack 2000..{end}"),
            _ => format!(" sack 6000..{end} sack 2000..5000"),
        };
        let told = at + HALF;
        if told < ms && start != 1000 {
            packets.push((told, format!("B>A ack 1000{sack}{}", stamp(told, begin))));
        }
    }
    packets.sort_by_key(|&(at, _)| at);
    let mut trace = syn;
    let mut above = Some(above);
    for (at, packet) in packets {
        if at > begin + 4 * HALF + 50
            && let Some(above) = above.take().filter(|above| !above.is_empty())
        {
            let _ = writeln!(trace, "{at} A>B data {above} ack 0{}", stamp(at, at - HALF));
        }
        let _ = writeln!(trace, "{at} {packet}");
    }
    let _ = writeln!(
        trace,
        "{ms} A>B data 1000..2000 ack 0{}",
        stamp(ms, ms - heard)
    );
    trace
}

#[test]
fn without_timestamps_who_repeats_what_is_above_has_repeated_what_is_below() {
    let reason = |ms: u32, above: &str| last_reason(&told_meanwhile((ms, 20), false, above));
    assert_eq!(reason(600, "5000..6000"), Some(Reason::Timeout));
    assert_eq!(reason(380, "5000..6000"), Some(Reason::Fast));
    // There may be a queue.
    assert_eq!(reason(600, ""), Some(Reason::Fast));
}

#[test]
fn who_had_heard_all_and_was_asked_round_trips_ago_repeats_by_its_timer() {
    let reason = |ms: u32| last_reason(&told_meanwhile((ms, 10), true, ""));
    assert_eq!(reason(600), Some(Reason::Timeout));
    assert_eq!(reason(380), Some(Reason::Fast));
}

#[test]
fn what_was_sent_since_a_timer_ran_out_is_not_given_up_by_what_it_repeats_needlessly() {
    // The first timer runs out at 400 and gives up 0..4000. What it repeats of that at 430 is acknowledged here before its
    // sender knows, and repeated again; what is new since was asked for.
    let reason = |needless: &str, start: u32| {
        last_reason(&opened(&format!(
            "100 A>B data 0..1000
             101 A>B data 1000..2000
             102 A>B data 2000..3000
             103 A>B data 3000..4000
             400 A>B data 0..1000
             420 B>A ack 1000
             430 A>B data 1000..2000
             431 A>B data 4000..5000
             432 A>B data 5000..6000
             450 B>A ack 2000
             460 A>B data {needless}
             461 B>A ack 2000 sack 5000..6000
             470 A>B data {start}..{}",
            start + 1000
        )))
    };
    assert_eq!(reason("1000..2000", 4000), Some(Reason::Fast));
    assert_eq!(reason("1000..2000", 2000), Some(Reason::Timeout));
}

#[test]
fn what_is_written_just_before_a_timer_runs_out_leaves_it_as_it_is() {
    // RFC 6298 section 5.1: nothing was outstanding at 91, and no duplicate ACK tells of what came later. The timer of 200 ms
    // needs no round trip more than that.
    let trace = opened(
        "70 A>B data 0..1000
         90 B>A ack 1000
         91 A>B data 1000..2000
         130 A>B data 2000..3000
         270 A>B data 3000..4000
         290 A>B data 1000..2000
         310 B>A ack 2000",
    );
    for trace in [trace.replace("syn", "syn bare"), trace] {
        assert_eq!(play(&trace).rows[4].verdict.reason, Some(Reason::Timeout));
    }
}

#[test]
fn what_is_repeated_twice_within_a_round_trip_was_not_asked_for() {
    // Who has nothing new to send repeats its tail (RFC 6675 section 4, `NextSeg` (3)), before any ACK can ask for it. B
    // answers the first copy late, by 7 ms, and the others with duplicate ACKs.
    let repeats = |again: &str, acks: &str| {
        let rows = play(&opened(&format!(
            "100 A>B data 0..1000
             120 B>A ack 1000
             200 A>B data 1000..2000 id 2
             {again}
             208 A>B data 1000..2000 id 4
             227 B>A ack 2000 id 11
             {acks}"
        )))
        .rows;
        rows.last().and_then(|row| row.verdict.reason)
    };
    let unneeded = Some(Reason::Unneeded);
    assert_eq!(repeats("", "235 B>A ack 2000 id 12"), unneeded);
    let acks = "231 B>A ack 2000 id 12\n235 B>A ack 2000 id 13";
    assert_eq!(repeats("204 A>B data 1000..2000 id 3", acks), unneeded);
}
