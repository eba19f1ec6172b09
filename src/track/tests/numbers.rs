//! What the numbers of segments without payload tell of data that was sent before them (RFC 9293 section 3.10.7.4).

use super::*;
use crate::event::Class;

fn classes(trace: &str) -> Vec<Class> {
    let rows = play(&opened(trace)).rows;
    rows.iter().map(|row| row.verdict.class).collect()
}

#[test]
fn the_first_data_of_a_flow_that_an_ack_overtook_is_late() {
    // The ACK at 125 tells that 0..2000 was sent. A round trip takes 30 ms; neither ids nor clocks are there.
    let at = |ms: [u32; 2]| {
        let [first, second] = ms;
        classes(&format!(
            "120 B>A data 0..500 ack 0
             125 A>B at 2000 ack 500
             {first} A>B data 0..1000 ack 0
             {second} A>B data 1000..2000 ack 0"
        ))
    };
    assert_eq!(at([127, 128]), [Class::New; 2]);
    assert_eq!(at([400, 401]), [Class::Retransmission; 2]);
}

#[test]
fn data_that_an_ack_overtook_after_a_pause_is_late() {
    let at = |ms: u32| {
        classes(&format!(
            "100 A>B data 0..1000
             120 B>A ack 1000
             9000 B>A data 0..500 ack 1000
             9010 A>B at 2000 ack 500
             {ms} A>B data 1000..2000 ack 0"
        ))
    };
    assert_eq!(at(9012), [Class::New; 2]);
    assert_eq!(at(9250), [Class::New, Class::Retransmission]);
}
