//! Where ticks go, and what is written there.

use super::*;

fn labels(axis: &Axis) -> Vec<&str> {
    axis.ticks.iter().map(|(_, text)| text.as_str()).collect()
}

#[test]
fn ticks_are_steps_of_one_two_or_five_in_the_unit_that_fits() {
    for (quantity, max, title, ticks) in [
        (
            Quantity::GOODPUT,
            47.3e6,
            "Goodput (Mbit/s)",
            vec!["0", "10", "20", "30", "40", "50"],
        ),
        (
            Quantity::GOODPUT,
            1e9,
            "Goodput (Gbit/s)",
            vec!["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"],
        ),
        (
            Quantity::GOODPUT,
            900.0,
            "Goodput (bit/s)",
            vec!["0", "200", "400", "600", "800", "1000"],
        ),
        (
            Quantity::RTT,
            0.0033,
            "RTT (ms)",
            vec!["0", "1", "2", "3", "4"],
        ),
        (
            Quantity::OVERHEAD,
            0.033,
            "Overhead (%)",
            vec!["0", "1", "2", "3", "4"],
        ),
        (
            Quantity::IN_FLIGHT,
            1.2e5,
            "Bytes in flight (kB)",
            vec!["0", "20", "40", "60", "80", "100", "120"],
        ),
        (
            Quantity::RETRANSMISSIONS,
            1.0,
            "Retransmissions (packets)",
            vec!["0", "1"],
        ),
        (
            Quantity::GOODPUT,
            10e9,
            "Goodput (Gbit/s)",
            vec!["0", "2", "4", "6", "8", "10"],
        ),
    ] {
        let axis = Axis::linear(quantity, 0.0, max, 6);
        assert_eq!(
            (axis.title.as_str(), labels(&axis)),
            (title, ticks),
            "{max}"
        );
        assert!(axis.max >= max);
    }
}

#[test]
fn an_axis_does_not_go_on_for_what_lies_just_above_a_tick() {
    for (max, end, ticks) in [
        // A queue of 100 packets and one that is being sent.
        (101.0, 101.0, vec!["0", "20", "40", "60", "80", "100"]),
        (100.0, 100.0, vec!["0", "20", "40", "60", "80", "100"]),
        (99.0, 100.0, vec!["0", "20", "40", "60", "80", "100"]),
        (110.0, 150.0, vec!["0", "50", "100", "150"]),
    ] {
        let axis = Axis::linear(
            Quantity::RETRANSMISSIONS.called("Queue length"),
            0.0,
            max,
            5,
        );
        assert_eq!((axis.max, labels(&axis)), (end, ticks), "{max}");
    }
    let axis = Axis::linear(Quantity::SHARE, 0.0, 1.0005, 5);
    assert_eq!((axis.max, labels(&axis).len()), (1.0005, 6));
}

#[test]
fn bytes_have_no_parts() {
    for (bytes, words) in [(53.0, "53 B"), (1500.0, "1.50 kB")] {
        assert_eq!(Quantity::IN_FLIGHT.format(bytes), words);
    }
}

#[test]
fn a_tight_axis_ends_where_the_data_does() {
    let axis = Axis::tight(Quantity::TIME, 0.0, 6.4, 7);
    assert_eq!(
        (axis.max, labels(&axis)),
        (6.4, vec!["0", "1", "2", "3", "4", "5", "6"])
    );
    for (seconds, unit) in [(3600.0, "s"), (7190.0, "s"), (7200.0, "h"), (1e6, "h")] {
        assert_eq!(
            Axis::tight(Quantity::TIME, 0.0, seconds, 8).title,
            format!("Time since the first packet ({unit})")
        );
    }
    assert_eq!(Quantity::COMPLETION.format(9000.0), "2.50 h");
    assert_eq!(Quantity::RTT.format(9000.0), "9000 s");
    assert!(Quantity::COMPLETION.is_delay());
}

#[test]
fn nothing_has_a_place_of_its_own_beside_a_log_scale() {
    let axis_of = |values: &[f64]| {
        let max = values.iter().copied().fold(0.0, f64::max);
        Axis::for_any_delays(Quantity::RTT, (0.0, max), values.iter().copied(), 8)
    };
    let axis = axis_of(&[0.0, 1e-3, 1.0]);
    assert!(axis.share(0.0) < 1e-9);
    assert_eq!(axis.ticks[0], (0.0, "0".to_owned()));
    assert!((axis.share(1e-3) - ZERO).abs() < 1e-9);
    assert!((axis.share(1.0) - 1.0).abs() < 1e-9);
    // Whole seconds: 0 and 1.
    let near = axis_of(&[0.0, 1.0]);
    assert_eq!((near.scale, near.min), (Scale::Linear, 0.0));
    // Nothing but 0, as between a capture and its copy.
    let none = axis_of(&[0.0]);
    assert!(none.scale == Scale::Linear && none.share(0.0) < 1e-9 && none.max > 0.0);
}

#[test]
fn delays_that_spread_over_decades_get_a_log_scale() {
    let axis = Axis::for_delays(Quantity::RTT, 0.002, 0.4, 8);
    assert_eq!(
        (axis.scale, axis.title.as_str()),
        (Scale::Log, "RTT (ms, log scale)")
    );
    assert_eq!(
        labels(&axis),
        ["2", "5", "10", "20", "50", "100", "200", "500"]
    );
    assert!((axis.share(0.01) - (5.0_f64).ln() / (250.0_f64).ln()).abs() < 1e-9);
    // A number of which nobody knows the unit.
    let bare = Axis::for_chosen(Quantity::new("Bw", &[("", 1.0)]), &[10.0, 1000.0], 8).unwrap();
    assert_eq!(bare.title, "Bw (log scale)");
    let wide = Axis::for_delays(Quantity::RTT, 5e-6, 0.09, 8);
    assert_eq!(wide.title, "RTT (log scale)");
    assert_eq!(
        labels(&wide),
        ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms"]
    );
    assert_eq!(
        Axis::for_delays(Quantity::RTT, 0.01, 0.4, 8).scale,
        Scale::Linear
    );
    let close = Axis::for_delays(Quantity::RTT, 0.0500, 0.0502, 8);
    assert!(close.min > 0.049 && close.max < 0.051, "{close:?}");
    // One value alone is not on the rim.
    let one = Axis::for_delays(Quantity::GAP, 1.23e-6, 1.23e-6, 8);
    assert!((0.3..0.7).contains(&one.share(1.23e-6)), "{one:?}");
}

#[test]
fn one_packet_that_met_no_queue_makes_no_log_scale() {
    let axis_of = |(min, max): (f64, f64), middle| {
        Axis::for_ranges(Quantity::RTT, (min, max), [min, max].into_iter(), middle, 8)
    };
    // 8 us, and then 15 to 40 ms in means.
    let near = axis_of((8e-6, 0.09), Some(0.015));
    assert_eq!((near.scale, near.min), (Scale::Linear, 0.0));
    assert_eq!(axis_of((8e-6, 0.09), Some(0.001)).scale, Scale::Log);
    assert_eq!(axis_of((8e-6, 0.09), None).scale, Scale::Log);
    assert_eq!(axis_of((0.0, 0.09), Some(0.015)).scale, Scale::Linear);
    // Where ranges are near each other nothing changes.
    let close = axis_of((0.0500, 0.0502), Some(0.0501));
    assert!(close.min > 0.049, "{close:?}");
}

#[test]
fn no_range_at_all_still_makes_an_axis() {
    for axis in [
        Axis::linear(Quantity::GOODPUT, 0.0, 0.0, 8),
        Axis::tight(Quantity::TIME, 0.0, 0.0, 8),
        Axis::log(Quantity::RTT, 0.02, 0.02),
    ] {
        assert!(
            axis.max > axis.min && axis.share(axis.min) < 1e-9 && axis.share(axis.max) > 1.0 - 1e-9,
            "{axis:?}"
        );
        assert!((2..=20).contains(&axis.ticks.len()), "{axis:?}");
    }
}

#[test]
fn numbers_have_proper_signs_and_thin_spaces() {
    for (value, digits, text) in [
        (-1.5, 1, "−1.5"),
        (-0.01, 1, "0.0"),
        (1234.0, 0, "1234"),
        (1_234_567.0, 0, "1\u{2009}234\u{2009}567"),
    ] {
        assert_eq!(number(value, digits), text);
    }
    assert_eq!(
        ["12.3", "1235", "0"],
        [12.345, 1234.6, 0.0]
            .map(significant)
            .each_ref()
            .map(String::as_str)
    );
    assert_eq!(Quantity::GOODPUT.format(9.57e6), "9.57 Mbit/s");
    assert_eq!(
        [0.02, 0.0125, 0.2, 0.0].map(|delay| Quantity::DELAY.format_set(delay)),
        ["20 ms", "12.5 ms", "200 ms", "0 ns"]
    );
}

#[test]
fn numbers_that_were_chosen_are_ticks_in_the_unit_they_were_chosen_in() {
    let rates = Quantity::GOODPUT.in_unit_of(1e6);
    let axis = Axis::for_chosen(rates, &[1e9, 10e6, 100e6, 10e6, 500e6], 8).unwrap();
    assert_eq!(axis.title, "Goodput (Mbit/s, log scale)");
    assert_eq!(labels(&axis), ["10", "100", "500", "1000"]);
    assert!((axis.share(100e6) - 0.5).abs() < 1e-9);
    // Within a decade, below 0, or over time: even.
    let scale = |quantity, values: &[f64]| Axis::for_chosen(quantity, values, 8).unwrap().scale;
    assert_eq!(scale(rates, &[10e6, 100e6]), Scale::Linear);
    assert_eq!(scale(Quantity::LOSS, &[0.0, 0.01, 0.04]), Scale::Linear);
    assert_eq!(scale(Quantity::LOSS, &[0.0, 0.5]), Scale::Linear);
    assert_eq!(scale(Quantity::LOSS, &[-0.1, 0.01, 0.5]), Scale::Linear);
    assert_eq!(scale(Quantity::TIME, &[0.2, 20.0]), Scale::Linear);
    assert_eq!(Quantity::GOODPUT.in_unit_of(3.0), Quantity::GOODPUT);
    assert_eq!(Axis::for_chosen(rates, &[], 8), None);
}

#[test]
fn no_loss_has_a_place_beside_losses_of_several_decades() {
    let losses = [0.05, 0.0, 1e-6, 0.0, 1e-4, 1e-2];
    let axis = Axis::for_chosen(Quantity::LOSS, &losses, 8).unwrap();
    assert_eq!((axis.scale, axis.is_chosen), (Scale::ZeroAndLog, true));
    assert_eq!(axis.title, "Loss (%, log scale)");
    assert_eq!(labels(&axis), ["0", "0.0001", "0.01", "1", "5"]);
    let places: Vec<f64> = axis.ticks.iter().map(|(at, _)| axis.share(*at)).collect();
    let steps: Vec<f64> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // Each is seen, and two decades are as far apart as two others.
    assert!(
        places[0].abs() < 1e-9 && steps.iter().all(|&step| step > 0.05),
        "{places:?}"
    );
    assert!((steps[1] - steps[2]).abs() < 1e-9, "{places:?}");
    // Of more than are read one by one decades are named, and still the 0.
    let many: Vec<f64> = (0..20).map(|of| f64::from(of) / 100.0).collect();
    let axis = Axis::for_chosen(Quantity::LOSS, &many, 8).unwrap();
    assert_eq!((axis.scale, axis.is_chosen), (Scale::ZeroAndLog, false));
    assert_eq!(labels(&axis), ["0", "1", "2", "5", "10", "20"]);
}

#[test]
fn far_from_the_first_packet_time_is_counted_from_a_round_one() {
    let near = Axis::of_time(2.0, 12.0, 5);
    assert_eq!(near, Axis::tight(Quantity::TIME, 2.0, 12.0, 5));
    // Three seconds an hour into the capture.
    let far = Axis::of_time(3612.5, 3615.5, 5);
    assert_eq!(far.title, "Time since 3610 s after the first packet (s)");
    assert_eq!((far.min, far.max), (3612.5, 3615.5));
    let ticks = far.ticks.iter().map(|(_, text)| text.as_str());
    assert!(ticks.eq(["3", "4", "5"]), "{:?}", far.ticks);
    assert!((far.ticks[0].0 - 3613.0).abs() < 1e-9);
    // 40 ms after a year.
    let later = Axis::of_time(31_557_600.123, 31_557_600.163, 5);
    assert_eq!(
        later.title,
        "Time since 31\u{2009}557\u{2009}600.1 s after the first packet (ms)"
    );
    assert_eq!(later.ticks[0].1, "30");
}

#[test]
fn labels_of_a_log_scale_say_where_they_stand() {
    // Ten minutes to eleven hours: an hour is no round number of seconds.
    for (min, max) in [
        (600.0, 40_000.0),
        (0.2, 40_000.0),
        (9000.0, 4e6),
        (1.0, 6e3),
    ] {
        let axis = Axis::log(Quantity::COMPLETION, min, max);
        assert!(
            axis.min <= min * 1.001 && max <= axis.max * 1.001,
            "{axis:?}"
        );
        for (value, text) in &axis.ticks {
            let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
            let number: f64 = number.replace('\u{2009}', "").parse().unwrap();
            let size = match unit {
                "" => axis.unit,
                "ms" => 1e-3,
                "h" => 3600.0,
                _ => 1.0,
            };
            assert!(
                (number * size / value - 1.0).abs() < 1e-9,
                "{text}: {value}"
            );
        }
        assert!(axis.ticks.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
    let axis = Axis::log(Quantity::COMPLETION, 600.0, 40_000.0);
    assert_eq!(
        labels(&axis),
        [
            "500 s", "1000 s", "2000 s", "5000 s", "2 h", "5 h", "10 h", "20 h"
        ]
    );
}

#[test]
fn a_small_number_is_no_row_of_zeros() {
    for (value, text) in [
        (0.000_04, "0.00004"),
        (0.000_96, "0.0010"),
        (0.012_34, "0.0123"),
        (-0.000_002, "−0.000002"),
        (0.0, "0"),
        (47.31, "47.3"),
    ] {
        assert_eq!(significant(value), text);
    }
}

/// Results of a division may be as small or large as numbers can be.
#[test]
fn numbers_of_any_size_have_an_axis() {
    let sizes = [
        5e-324,
        1e-323,
        1e-310,
        f64::MIN_POSITIVE,
        1e-200,
        1.0,
        1e200,
        f64::MAX,
    ];
    for quantity in [
        Quantity::GOODPUT,
        Quantity::PLAIN,
        Quantity::RTT,
        Quantity::TIME,
    ] {
        for max in sizes {
            for min in sizes.into_iter().chain([0.0]).filter(|min| *min <= max) {
                let mut axes = vec![
                    Axis::linear(quantity, min, max, 5),
                    Axis::tight(quantity, min, max, 5),
                    Axis::of_time(min, max, 5),
                    Axis::for_any_delays(quantity, (min, max), [min, max].into_iter(), 5),
                ];
                axes.extend(Axis::for_chosen(quantity, &[min, max], 5));
                if min > 0.0 {
                    axes.push(Axis::log(quantity, min, max));
                }
                for axis in axes {
                    assert!(axis.ticks.len() <= 1000, "{quantity:?} {min:e} {max:e}");
                    let longest = axis.ticks.iter().map(|(_, text)| text.len()).max();
                    assert!(longest.unwrap_or(0) < 1000, "{quantity:?} {min:e} {max:e}");
                }
            }
        }
    }
}

/// A capture that counts microseconds has round-trip times of 46.95 ms, which is no number of seconds of 64 bits: the
/// terminal has three digits of the nanoseconds, and so have charts.
#[test]
fn three_digits_are_those_of_the_value_in_whatever_unit_it_was_held() {
    for tenths in 100..1000 {
        let ns = f64::from(tenths) * 1e5 + 5e4;
        let size = Quantity::RTT.unit(ns / 1e9).1;
        let expected = format!("{:.1}", ns / 1e6);
        assert_eq!(significant(ns / 1e9 / size), expected, "{ns}");
    }
}
