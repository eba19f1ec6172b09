//! Ids that were skipped when nothing below was left to repeat.

use super::*;

/// The classes of all data of `trace` but the first `known`.
fn classes_from(known: usize, trace: &str) -> Vec<Class> {
    let seen = play(trace);
    let rows = seen.rows.iter().skip(known);
    rows.map(|row| row.verdict.class).collect()
}

/// Ids 17 to 19 were 15000..18000, which never came here; all below, of which 11000..14000 was lost as well, is repaired at
/// 154. Then `rest`.
fn with_tail(rest: &str) -> String {
    let firsts = (0..11).map(|n| {
        let (at, id, end) = (40 + n, n + 2, n + 1);
        format!("{at} A>B data {n}000..{end}000 id {id} ts {at}/1\n")
    });
    opened(&format!(
        "{}70 B>A ack 11000 ts 70/50
         102 A>B data 14000..15000 id 16 ts 102/70
         122 B>A ack 11000 sack 14000..15000 ts 122/50
         132 A>B data 11000..12000 id 20 ts 132/122
         133 A>B data 12000..13000 id 21 ts 133/122
         134 A>B data 13000..14000 id 22 ts 134/122
         152 B>A ack 12000 sack 14000..15000 ts 152/132
         153 B>A ack 13000 sack 14000..15000 ts 153/133
         154 B>A ack 15000 ts 154/134
         {rest}",
        firsts.collect::<String>()
    ))
}

#[test]
fn what_is_skipped_while_nothing_below_is_to_be_repeated_lies_above() {
    // Ids 17 to 19 are repeated one by one; 24, 26 and 28 were 18000..21000, new data in between: when 25, 27 and 29 went out,
    // SACK had told of nothing below.
    let trace = with_tail(
        "164 A>B data 15000..16000 id 23 ts 164/154
         184 B>A ack 16000 ts 184/164
         194 A>B data 16000..17000 id 25 ts 194/184
         214 B>A ack 17000 ts 214/194
         224 A>B data 17000..18000 id 27 ts 224/214
         244 B>A ack 18000 ts 244/224
         254 A>B data 18000..19000 id 29 ts 254/244
         274 B>A ack 19000 ts 274/254
         284 A>B data 19000..20000 id 30 ts 284/274
         304 B>A ack 20000 ts 304/284
         314 A>B data 20000..21000 id 31 ts 314/304
         334 B>A ack 21000 ts 334/314
         344 A>B data 21000..22000 id 32 ts 344/334",
    );
    let mut expected = vec![Class::Retransmission; 9];
    // As many as were skipped are repeated, and no more.
    expected.push(Class::New);
    assert_eq!(classes_from(12, &trace), expected);
}

#[test]
fn what_waits_above_all_that_was_seen_is_not_repeated_before_the_lowest_of_it() {
    // Ids 23 to 25 are 18000..21000, new: when these were sent nothing had told that 17 to 19 are lost, and when something had,
    // the lowest of them came first.
    let trace = with_tail(
        "170 A>B data 15000..16000 id 26 ts 170/154
         171 A>B data 16000..17000 id 27 ts 171/154
         172 A>B data 17000..18000 id 28 ts 172/154
         190 B>A ack 16000 ts 190/170
         191 B>A ack 17000 ts 191/171
         192 B>A ack 18000 ts 192/172
         202 A>B data 18000..19000 id 29 ts 202/192
         222 B>A ack 19000 ts 222/202
         232 A>B data 19000..20000 id 30 ts 232/222
         233 A>B data 20000..21000 id 31 ts 233/222
         253 B>A ack 21000 ts 253/233
         263 A>B data 21000..22000 id 32 ts 263/253",
    );
    let mut expected = vec![Class::Retransmission; 9];
    expected.push(Class::New);
    assert_eq!(classes_from(12, &trace), expected);
}

#[test]
fn the_id_of_an_ack_that_was_owed_lies_nowhere() {
    // Id 9 was the ACK of what B sent.
    let trace = opened(
        "40 A>B data 0..1000 id 2
         41 A>B data 1000..2000 id 3
         43 A>B data 3000..4000 id 5
         44 A>B data 4000..5000 id 6
         45 A>B data 5000..6000 id 7
         61 B>A ack 2000
         65 B>A ack 2000 sack 3000..6000
         75 A>B data 2000..3000 id 8
         95 B>A data 0..100 ack 6000
         105 A>B data 6000..7000 ack 100 id 10
         125 B>A ack 7000",
    );
    assert_eq!(classes_from(6, &trace), [Class::New]);
}

#[test]
fn what_is_missing_below_is_repeated_before_what_is_new() {
    // Ids 4 and 5 were 2000..4000, and id 9 is 3000..4000 again.
    let trace = opened(
        "40 A>B data 0..1000 id 2
         41 A>B data 1000..2000 id 3
         44 A>B data 4000..5000 id 6
         45 A>B data 5000..6000 id 7
         61 B>A ack 2000
         65 B>A ack 2000 sack 4000..6000
         75 A>B data 2000..3000 id 8
         76 A>B data 6000..7000 id 10",
    );
    assert_eq!(classes_from(5, &trace), [Class::New]);
}

#[test]
fn what_passed_before_something_that_came_is_repeated_before_what_is_new() {
    // Neither 1000..2000 nor 5000..6000 came to B at first. The ACK of the repeat of the former, which was sent after the latter,
    // tells of that (RFC 8985 section 6.2): it is id 9.
    let trace = opened(
        "40 A>B data 0..1000 id 2
         41 A>B data 1000..2000 id 3
         42 A>B data 2000..3000 id 4
         43 A>B data 3000..4000 id 5
         44 A>B data 4000..5000 id 6
         50 A>B data 5000..6000 id 7
         60 B>A ack 1000
         64 B>A ack 1000 sack 2000..5000
         74 A>B data 1000..2000 id 8
         94 B>A ack 5000
         104 A>B data 6000..7000 id 10",
    );
    assert_eq!(classes_from(7, &trace), [Class::New]);
}

#[test]
fn who_is_not_told_by_sack_may_repeat_anything_at_any_time() {
    // Id 8 is late: 1000..2000 again.
    let trace = "0 A>B syn bare
         20 B>A syn bare ack 0
         30 A>B ack 0 id 1
         40 A>B data 0..1000 id 2
         41 A>B data 1000..2000 id 3
         42 A>B data 2000..3000 id 4
         43 A>B data 3000..4000 id 5
         63 B>A ack 4000
         73 A>B data 4000..5000 id 6
         74 A>B data 0..1000 id 7
         75 A>B data 5000..6000 id 9
         76 A>B data 1000..2000 id 8";
    assert_eq!(classes_from(6, trace)[0], Class::New);
}

#[test]
fn of_very_many_packets_in_flight_not_all_are_looked_at() {
    // 1000..2000 was lost, and what was sent last, which never came here. The id before that comes again is of new data.
    let class = |packets: u32| {
        let flight = (2..packets).map(|n| {
            let (end, id) = (n + 1, n + 2);
            format!("41 A>B data {n}000..{end}000 id {id}\n")
        });
        let end = packets + 1;
        let trace = format!(
            "40 A>B data 0..1000 id 2
             40 A>B data 1000..2000 id 3
             {}61 B>A ack 1000 sack 2000..{packets}000
             75 A>B data 1000..2000 id {}
             85 A>B data {packets}000..{end}000 id {}",
            flight.collect::<String>(),
            packets + 3,
            packets + 5
        );
        classes_from(packets as usize + 1, &opened(&trace))
    };
    assert_eq!(class(200), [Class::Retransmission]);
    assert_eq!(class(300), [Class::New]);
}

#[test]
fn where_packets_come_late_what_was_skipped_may_have_been_overtaken() {
    // Id 4 comes late, and so does id 11: a repeat that was not needed, or its sender had not heard so yet.
    let trace = opened(
        "40 A>B data 0..1000 id 2
         41 A>B data 1000..2000 id 3
         43 A>B data 3000..4000 id 5
         44 A>B data 2000..3000 id 4
         45 A>B data 4000..5000 id 6
         46 A>B data 5000..6000 id 7
         47 A>B data 6000..7000 id 8
         48 A>B data 7000..8000 id 9
         65 B>A ack 5000
         67 B>A ack 5000 sack 6000..7000
         68 B>A ack 5000 sack 6000..8000
         78 A>B data 5000..6000 id 10
         80 A>B data 8000..9000 id 12
         81 A>B data 6000..7000 id 11",
    );
    assert_eq!(classes_from(9, &trace), [Class::New, Class::Retransmission]);
}

#[test]
fn ids_that_a_frame_may_have_taken_lay_nowhere() {
    // A router takes packets of 800 bytes: frames that are four packets of 988 are repeated as five, by ids 11 to 20. What
    // goes on by id 21 is new, though 19 is the last one that its frame seems to have taken.
    let trace = |ack: u32| {
        opened(&format!(
            "100 A>B data 0..988 id 2 ts 100/1
             120 B>A ack 988 ts 120/100
             130 A>B data 988..4940 id 3 ts 130/120
             131 A>B data 4940..8892 id 7 ts 131/120
             135 A>B data 988..4940 id 11 ts 135/120
             136 A>B data 4940..8892 id 16 ts 136/120
             156 B>A ack {ack} ts 156/135
             160 A>B data 8892..12844 id 21 ts 160/156
             161 A>B data 12844..16796 id 26 ts 161/156
             181 B>A ack 16796 ts 181/160"
        ))
    };
    // All of it is acknowledged by then, or one frame is in flight.
    for ack in [8892, 4940] {
        let expected = [[Class::Retransmission; 2], [Class::New; 2]].concat();
        assert_eq!(classes_from(3, &trace(ack)), expected, "{ack}");
    }
}
