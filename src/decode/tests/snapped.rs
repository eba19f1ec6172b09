//! Packets that the snap length cut.

use super::*;

#[test]
fn the_snap_length_changes_no_number_until_it_cuts_the_window() {
    let packet = tcp_v4();
    let whole = segment(RAW, &packet);
    for cut in 0..packet.len() {
        let record = Record {
            original_len: packet.len() as u32,
            ..record(RAW, &packet[..cut])
        };
        match decode(&record, 0, &DecodeOptions::default()) {
            Decoded::Segment(found) => {
                assert!(cut >= 36);
                assert_eq!(found.payload_len, whole.payload_len);
                assert_eq!(found.ip_len, whole.ip_len);
                assert_eq!((found.seq, found.window), (whole.seq, whole.window));
                assert_eq!(found.header_cut, cut < 52);
                assert_eq!(found.timestamps.is_some(), cut >= 52);
            }
            Decoded::Skipped(skip) => {
                assert!(cut < 36);
                assert_eq!(skip, Skip::HeaderCut);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn icmp_that_the_snap_length_cut_hides_no_tcp() {
    let echo = ipv4(1, &[8, 0, 0, 0, 0, 1, 0, 1]);
    for cut in 20..echo.len() {
        let record = Record {
            original_len: echo.len() as u32,
            ..record(RAW, &echo[..cut])
        };
        let decoded = decode(&record, 0, &DecodeOptions::default());
        assert!(
            matches!(decoded, Decoded::Skipped(Skip::Icmp)),
            "{decoded:?}"
        );
    }
}
