//! Of which steps a link is told.

use super::*;

fn shown<'a>(data: &'a [Step], acks: &'a [Step]) -> Dispersion<'a> {
    Dispersion {
        data,
        acks,
        header_bytes: 52.0,
        packet_bytes: 1448.0,
        delivered_bps: None,
        full_bytes: 0,
        clock_step_ns: 0,
    }
}

/// 1448 bytes of payload are 1500 of IP: 1.2 ms at 10 Mbit/s, and two of them 2.4 ms.
const PACKET: Step = Step {
    ns: 1_200_000,
    bytes: 1448,
};
const PAIR: Step = Step {
    ns: 2_400_000,
    bytes: 2896,
};

fn times(step: Step, times: u32) -> Step {
    Step {
        ns: step.ns * times,
        ..step
    }
}

fn is_10_mbit(bps: Option<f64>) -> bool {
    bps.is_some_and(|bps| (bps - 10e6).abs() < 1.0)
}

#[test]
fn those_near_each_are_as_many_as_are_within() {
    // Many are the same, and many as far apart as the width.
    let logs: Vec<f64> = (0..500_u32)
        .map(|at| f64::from(at * at % 97) * 0.01)
        .collect();
    let rates = Rates::new(logs, DATA_HALF_WIDTH);
    for half_width in [0.0, 0.01, DATA_HALF_WIDTH, ACKS_HALF_WIDTH, 2.0] {
        let within = rates
            .sorted
            .iter()
            .map(|&log| rates.within(log, half_width));
        assert_eq!(rates.near_each(half_width), within.collect::<Vec<_>>());
    }
}

/// Packets so far apart, stamped by a clock that is read in steps of so many ns.
fn stamped(packet_ns: u32, tick_ns: u32) -> Vec<Step> {
    let stamp = |packet: u32| packet * packet_ns / tick_ns * tick_ns;
    let steps = (0..200).map(|packet| Step {
        ns: stamp(packet + 1) - stamp(packet),
        ..PACKET
    });
    steps.collect()
}

#[test]
fn what_all_steps_are_multiples_of_is_the_tick_where_some_are_none() {
    let tick = |ns: &[u32]| {
        let steps: Vec<Step> = ns.iter().map(|&ns| Step { ns, ..PACKET }).collect();
        tick_ns(steps.iter().copied())
    };
    assert_eq!(tick(&[]), None);
    assert_eq!(tick(&[3_000_000, 40_000_000]), None);
    assert_eq!(tick(&[0, 3_000_000, 40_000_000]), Some(1_000_000));
    assert_eq!(tick(&[3_000_000, 0, 2_500_000]), Some(100_000));
    assert_eq!(
        tick(&[2_000_000_000, 0, 1_000_000_000]),
        Some(1_000_000_000)
    );
    assert_eq!(tick(&[7, 0]), Some(1));
}

#[test]
fn clocks_that_stamp_packets_alike_tell_no_rate_by_their_ticks() {
    let steps = stamped(PACKET.ns, 10_000_000);
    assert!(steps.iter().any(|step| step.ns == 0));
    assert_eq!(shown(&steps, &steps).link_bps(), None);
    // Fine enough, though some packets come at once.
    let mut steps = stamped(PACKET.ns, 100_000);
    steps.extend([Step { ns: 0, ..PACKET }; 10]);
    assert!(is_10_mbit(shown(&steps, &steps).link_bps()));
}

/// At 10 Gbit/s packets are 1.2 us apart: 1 or 2 us by a clock that counts these, and never 0.
#[test]
fn a_clock_that_stamps_no_two_packets_alike_tells_no_rate_by_its_steps_either() {
    let steps = stamped(1200, 1000);
    assert!(steps.iter().all(|step| step.ns > 0));
    let mut shown = shown(&steps, &steps);
    assert!(shown.link_bps().is_some_and(|bps| bps > 11e9));
    shown.clock_step_ns = 1000;
    assert_eq!(shown.link_bps(), None);
    // At 10 Mbit/s they are 1200 of its steps apart.
    (shown.data, shown.acks) = (&[PACKET; 40], &[PACKET; 40]);
    assert!(is_10_mbit(shown.link_bps()));
}

#[test]
fn bursts_that_are_a_hundred_times_as_quick_tell_no_link() {
    // A shaper of 10 Mbit/s lets some packets through at once: which of the two rates is the narrowest link?
    let burst = |times: u32| {
        let quick = |step: Step| Step {
            ns: step.ns / times,
            ..step
        };
        let data = [[PACKET; 60], [quick(PACKET); 60]].concat();
        let acks = [[PAIR; 60], [quick(PAIR); 60]].concat();
        // Fewer are quick.
        shown(&data[..100], &acks[..100]).link_bps()
    };
    assert_eq!(burst(120), None);
    assert!(burst(80).is_some_and(|bps| (bps / 800e6 - 1.0).abs() < 0.01));
}

#[test]
fn behind_the_link_data_and_acks_show_it() {
    let (data, acks) = ([PACKET; 40], [PAIR; 40]);
    assert!(is_10_mbit(shown(&data, &acks).link_bps()));
    // A packet at a time is acknowledged by some receivers.
    assert!(is_10_mbit(shown(&data, &data).link_bps()));
    let link = shown(&data, &acks).link();
    assert!(link.is_some_and(|link| link.is_upstream));
}

#[test]
fn before_the_link_only_acks_show_it() {
    // Two packets for each ACK, 12 us apart: 1 Gbit/s.
    let burst = Step {
        ns: 12_000,
        bytes: 1448,
    };
    let data: Vec<Step> = (0..80)
        .map(|at| if at % 2 == 0 { burst } else { times(PACKET, 2) })
        .collect();
    assert!(is_10_mbit(shown(&data, &[PAIR; 40]).link_bps()));
    // In bursts of many nearly all data are as quick as the sender's link.
    assert!(is_10_mbit(shown(&[burst; 80], &[PAIR; 40]).link_bps()));
    let link = shown(&data, &[PAIR; 40]).link();
    assert!(link.is_some_and(|link| !link.is_upstream));
}

#[test]
fn packets_of_others_between_make_slower_modes() {
    // Of 5 packets one has no other before it, three have one, and one has two.
    let data: Vec<Step> = (0..100)
        .map(|at| times(PACKET, [1, 2, 2, 2, 3][at % 5]))
        .collect();
    let acks: Vec<Step> = (0..100)
        .map(|at| times(PAIR, [1, 2, 2, 1, 2][at % 5]))
        .collect();
    assert!(is_10_mbit(shown(&data, &acks).link_bps()));
}

/// Of 100 ACKs 40 come as the link sends, 30 sooner than that, and 30 later.
#[test]
fn acks_that_were_held_do_not_hide_a_busy_link() {
    let held = |at: u32| Step {
        ns: 20_000 + at * 15_000,
        ..PAIR
    };
    let late = |at: u32| Step {
        ns: PAIR.ns * 2 + at * 70_000,
        ..PAIR
    };
    let acks: Vec<Step> = (0..100)
        .map(|at| match at % 10 {
            0..=3 => PAIR,
            4..=6 => held(at),
            _ => late(at),
        })
        .collect();
    let mut shown = shown(&[], &acks);
    assert_eq!(shown.link_bps(), None);
    // 10 Mbit/s of IP is 9.65 Mbit/s of payload: it was delivered all the time.
    shown.delivered_bps = Some(9.65e6);
    assert!(is_10_mbit(shown.link_bps()));
    shown.delivered_bps = Some(7e6);
    assert_eq!(shown.link_bps(), None);
}

#[test]
fn what_was_delivered_is_not_more_than_the_link() {
    let slow = [times(PAIR, 2); 40];
    let mut shown = shown(&[], &slow);
    assert!(shown.link_bps().is_some_and(|bps| (bps - 5e6).abs() < 1.0));
    shown.delivered_bps = Some(9e6);
    assert_eq!(shown.link_bps(), None);
}

#[test]
fn acks_at_a_pace_of_their_own_show_another_link() {
    // Every 2 ms an ACK, for 2, 4 or 6 packets: those between were lost.
    let acks: Vec<Step> = (0..90)
        .map(|at| Step {
            ns: 2_000_000,
            bytes: 1448 * [2, 4, 6][at % 3],
        })
        .collect();
    assert_eq!(shown(&[], &acks).link_bps(), None);
}

#[test]
fn a_quicker_link_before_is_not_taken_for_it_nor_data_alone() {
    // Data at twice the rate of the ACKs, always: interleaved behind the link, or a link
    // before the capture that is twice as quick.
    let data = [Step {
        ns: 600_000,
        bytes: 1448,
    }; 60];
    assert_eq!(shown(&data, &[PAIR; 40]).link_bps(), None);
    assert_eq!(shown(&data, &[]).link_bps(), None);
    // At 9.7 times it is a link before.
    let data = [Step {
        ns: 123_700,
        bytes: 1448,
    }; 60];
    assert!(is_10_mbit(shown(&data, &[PAIR; 40]).link_bps()));
}

#[test]
fn distances_that_do_not_agree_show_nothing() {
    let scattered: Vec<Step> = (0..200_u32)
        .map(|at| Step {
            ns: 1_000_000 + at * at * 1000,
            bytes: 2896,
        })
        .collect();
    assert_eq!(shown(&[], &scattered).link_bps(), None);
    assert_eq!(shown(&[PACKET; 31], &[PAIR; 31]).link_bps(), None);
}

#[test]
fn of_several_flows_the_highest_rate_that_many_bytes_show_is_the_link() {
    // Half of the rate has most bytes, but the whole has a quarter of that.
    let flows = [(5.0e6, 400), (10.0e6, 60), (10.1e6, 70), (19.0e6, 20)];
    assert_eq!(shared_link(&flows), Some(2));
    assert_eq!(shared_link(&[]), None);
    assert_eq!(shared_link(&[(-10.0, 5), (0.0, 5), (f64::NAN, 5)]), None);
    assert_eq!(
        shared_link(&[(-10.0, 500), (5.0e6, 1), (f64::INFINITY, 500)]),
        Some(1)
    );
    assert!(is_interleaved(5.0e6, 10.1e6));
    assert!(is_interleaved(3.3e6, 10.0e6));
    assert!(!is_interleaved(7.0e6, 10.0e6));
    assert!(!is_interleaved(10.0e6, 10.0e6));
}

#[test]
fn small_packets_at_an_even_pace_show_their_sender_and_no_link() {
    // 200 bytes every 5 ms, and an ACK for each.
    let step = Step {
        ns: 5_000_000,
        bytes: 200,
    };
    let steps = [step; 60];
    let mut shown = shown(&steps, &steps);
    assert!(shown.link_bps().is_some());
    shown.full_bytes = full_bytes(Some(1460), Some(1460));
    assert_eq!(shown.link_bps(), None);
    // Full packets that come between small ones show it all the same.
    let data = [[step; 40], [PACKET; 40]].concat();
    let acks = [[step; 40], [PAIR; 40]].concat();
    (shown.data, shown.acks) = (&data, &acks);
    assert!(is_10_mbit(shown.link_bps()));
}

#[test]
fn packets_are_full_from_what_both_sides_take_on_but_for_options() {
    assert_eq!(full_bytes(Some(536), Some(1460)), 496);
    assert_eq!(full_bytes(Some(20), None), 0);
    // Not where the path carries no more.
    assert_eq!(full_bytes(Some(8960), Some(8960)), 1200);
    // Who did not say takes 536, but sends what the other one takes.
    assert_eq!(full_bytes(None, Some(1460)), 496);
    assert_eq!(full_bytes(Some(1460), None), 1200);
    // A sender on a link of 1000 bytes sends no more to anyone.
    assert_eq!(full_bytes(Some(1460), Some(960)), 920);
}

#[test]
fn acks_that_come_a_hundred_times_as_quick_as_they_were_ever_delivered_were_held() {
    // Of data before the link nothing is told.
    let mut shown = shown(&[], &[PAIR; 40]);
    shown.delivered_bps = Some(10e6 / 90.0);
    assert!(is_10_mbit(shown.link_bps()));
    shown.delivered_bps = Some(10e6 / 110.0);
    assert_eq!(shown.link_bps(), None);
    let quick = [Step {
        ns: 123_700,
        ..PACKET
    }; 60];
    shown.data = &quick;
    assert_eq!(shown.link_bps(), None);
    // Behind it, where the packets are seen themselves, it may be as quick.
    shown.data = &[PACKET; 40];
    assert!(is_10_mbit(shown.link_bps()));
}
