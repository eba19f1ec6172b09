//! What ACKs tell that begin a capture in the middle of a stream.

use super::check_in_flight;

#[test]
fn a_report_from_before_the_first_data_counts_when_it_comes_again() {
    // METRICS.md I1: 7000 less 1000 acknowledged and 2000 reported. The report of 99 tells nothing yet, as nobody knows
    // where the stream is.
    check_in_flight(
        "99 B>A ack 1000 sack 2000..4000
         100 A>B data 5000..6000
         110 B>A ack 1000 sack 2000..4000
         111 A>B data 6000..7000",
        &[None, Some(4000)],
    );
}
