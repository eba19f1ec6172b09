use super::*;

impl IdCounter {
    fn take(&mut self, id: u16, packets: u16) -> Step {
        if self.takes_next(id, packets) {
            return Step::Ahead(0);
        }
        self.observe(id, packets, CaptureTime::from_ns(0), false)
    }
}

fn steps(ids: &[u16]) -> (Vec<Step>, bool) {
    let mut counter = IdCounter::default();
    let steps = ids.iter().map(|&id| counter.take(id, 1)).collect();
    (steps, counter.counts())
}

#[test]
fn a_counter_with_losses_and_swaps_counts() {
    let (steps, counts) = steps(&[65533, 65534, 65535, 0, 1, 3, 4, 7, 6, 8]);
    assert!(counts);
    assert_eq!(
        steps[5..],
        [
            Step::Ahead(1),
            Step::Ahead(0),
            Step::Ahead(2),
            Step::Behind(1),
            Step::Ahead(0)
        ]
    );
}

#[test]
fn a_counter_counts_where_half_of_the_packets_are_lost_or_late() {
    // Every other one is lost, as the bytes tell that are missing.
    let mut counter = IdCounter::default();
    counter.take(10, 1);
    for id in (12..100).step_by(2) {
        counter.take(id, 1);
        counter.explain_last(1);
    }
    assert!(counter.counts());
    // Others have taken them: no byte is missing.
    let mut shared = IdCounter::default();
    for id in (10..100).step_by(2) {
        shared.take(id, 1);
        shared.explain_last(0);
    }
    assert!(!shared.counts());
    assert!(steps(&[10, 12, 11, 14, 13, 16, 15, 18, 17, 20, 19]).1);
    assert!(!steps(&[10, 22, 11, 34, 23, 46, 35, 58, 47, 60, 59]).1);
}

#[test]
fn steps_of_a_flow_of_billions_of_packets_are_counted_no_further() {
    let mut counter = IdCounter::default();
    (0..10).for_each(|id| _ = counter.take(id, 1));
    counter.steps = STEPS_MAX;
    let turns = (10..u16::MAX).chain((0..3).flat_map(|_| 0..u16::MAX));
    turns.for_each(|id| _ = counter.take(id, 1));
    assert!(counter.counts() && counter.steps < STEPS_MAX + u32::from(u16::MAX));
}

/// A frame of 45 packets takes 45 ids, and so does one that was lost as a whole: what was skipped is held against
/// packets.
#[test]
fn a_counter_counts_where_whole_frames_are_lost() {
    let frames_before = |packets: u16| {
        let mut counter = IdCounter::default();
        (0..10).for_each(|frame| _ = counter.take(1 + frame * packets, packets));
        let behind_the_lost = 1 + 10 * packets + 45;
        counter.take(behind_the_lost, packets)
    };
    assert_eq!(frames_before(45), Step::Ahead(45));
    // Of ten single packets that were seen others must have taken so many.
    assert_eq!(frames_before(1), Step::Unknown);
}

/// Every other frame of eight packets is lost, new ones and repeats: no byte is missing where a repeat goes on from the
/// highest one seen.
#[test]
fn whole_frames_that_are_skipped_are_no_other_connections_packets() {
    let counts = |packets: u16, skipped: u16| {
        let mut counter = IdCounter::default();
        for frame in 0..20 {
            counter.take(1 + frame * (packets + skipped), packets);
            counter.doubt();
        }
        counter.scope != Scope::Shared
    };
    assert!(counts(8, 8));
    assert!(!counts(8, 7) && !counts(1, 1));
}

/// Two uploads of a Windows host, whose frames are of 45 packets each: of the other one there are as many as of this one's
/// every other frame.
#[test]
fn whole_frames_that_are_skipped_are_other_connections_where_the_host_counts_over_all() {
    let mut counter = IdCounter::default();
    counter.suspect();
    let mut id = 1_u16;
    for frame in 0..20 {
        counter.take(id, 45);
        let is_behind_another = frame % 2 == 1;
        if is_behind_another {
            counter.doubt();
        }
        id += if frame % 2 == 0 { 90 } else { 45 };
    }
    assert!(!counter.counts() && counter.scope == Scope::Shared);
}

/// As of a sender each of whose repeats has a new packet behind it that is lost: until these are repeated, no byte tells
/// of them.
#[test]
fn a_counter_that_was_one_for_long_counts_where_every_other_id_is_skipped() {
    let counts = |by_one: u16, doubts: u16, every_other: u16| {
        let mut counter = IdCounter::default();
        (0..by_one).for_each(|id| _ = counter.take(id, 1));
        (0..doubts).for_each(|_| counter.doubt());
        let others = (0..every_other).map(|step| by_one + 1 + 2 * step);
        others.for_each(|id| _ = counter.take(id, 1));
        counter.counts()
    };
    assert!(counts(64, 0, 170));
    assert!(!counts(64, 0, 200), "more than three of four");
    assert!(!counts(20, 0, 30), "no 64 steps");
    assert!(counts(64, 1, 110));
    assert!(!counts(64, 3, 110), "doubted more than once in 64 steps");
}

#[test]
fn as_many_ids_skipped_as_packets_are_missing_are_a_step_of_a_counter() {
    let counts = |missing| {
        let mut counter = IdCounter::default();
        counter.take(10, 1);
        counter.take(21, 1);
        counter.explain_last(missing);
        // What waited for a timer, and was lost once before.
        for id in [22, 24, 26] {
            counter.take(id, 1);
        }
        counter.counts()
    };
    assert!(counts(10));
    assert!(!counts(7));
}

#[test]
fn a_host_that_counts_all_it_sends_skips_more_than_a_connection_loses() {
    // Most packets come two at a time; between these the host sends to others.
    let ids =
        |others: u16| (0..6).flat_map(move |pair| [0, 1].map(|id| 100 + (2 + others) * pair + id));
    let counter = |others| {
        let mut counter = IdCounter::default();
        ids(others).for_each(|id| _ = counter.take(id, 1));
        counter
    };
    assert!(counter(2).counts() && !counter(2).is_of_its_own());
    assert!(!counter(9).counts());
    assert!(counter(0).counts() && counter(0).is_of_its_own());
}

#[test]
fn zeros_and_random_ids_do_not_count() {
    assert!(!steps(&[0; 20]).1);
    assert!(!steps(&[9, 41_000, 700, 33_333, 12, 60_000, 2_500, 51_000]).1);
}

#[test]
fn a_zero_far_from_a_counter_is_none_of_its() {
    assert!(steps(&[50_010, 50_011, 50_012, 50_013, 0]).1);
    assert!(!steps(&[50_010, 50_011, 50_012, 50_013, 9]).1);
    // One that comes round is.
    assert!(steps(&[65_533, 65_534, 65_535, 65_535, 0, 2]).1);
}

#[test]
fn the_id_of_a_syn_is_a_step_where_the_next_is_near() {
    let counter = |syn: u16, ids: &[u16]| {
        let mut counter = IdCounter::default();
        counter.begin(syn);
        let steps: Vec<Step> = ids.iter().map(|&id| counter.take(id, 1)).collect();
        (steps, counter.counts())
    };
    let (first, counts) = counter(9, &[10, 11, 12]);
    assert_eq!((first[0], counts), (Step::Early(0), true));
    assert_eq!(counter(9, &[14]).0, [Step::Early(4)]);
    // Another host's, or none.
    for syn in [0, 9000, 30] {
        let (first, counts) = counter(syn, &[20_010, 20_011, 20_012, 20_013]);
        assert_eq!((first[0], counts), (Step::Unknown, true), "{syn}");
    }
}

#[test]
fn a_counter_whose_packets_are_all_seen_twice_counts() {
    let (steps, counts) = steps(&[10, 10, 11, 11, 12, 12, 13, 13, 15, 15]);
    assert!(counts);
    assert_eq!(steps[8..], [Step::Ahead(1), Step::Same]);
}

#[test]
fn ids_that_hardly_ever_change_tell_no_packets_apart() {
    let tell_apart = |ids: &[u16], times: usize| {
        let mut counter = IdCounter::default();
        for &id in ids.iter().flat_map(|id| std::iter::repeat_n(id, times)) {
            counter.take(id, 1);
        }
        counter.tell_apart((ids.len() * times) as u64)
    };
    assert!(tell_apart(&[9, 41_000, 700, 33_333], 1));
    assert!(tell_apart(&[9, 41_000, 700, 33_333], 4));
    assert!(!tell_apart(&[7; 20], 1));
    assert!(!tell_apart(&[0, 7, 7, 7, 7, 7, 7, 7, 7], 1));
}

#[test]
fn a_super_segment_takes_the_ids_of_its_packets() {
    let mut counter = IdCounter::default();
    for id in [10, 11, 12, 13] {
        counter.take(id, 1);
    }
    assert_eq!(counter.take(14, 3), Step::Ahead(0));
    assert_eq!(counter.take(17, 1), Step::Ahead(0));
    assert_eq!(counter.take(19, 1), Step::Ahead(1));
    assert_eq!(counter.take(23, 1), Step::Ahead(3));
    assert_eq!(counter.take(20, 3), Step::Behind(3));
}
