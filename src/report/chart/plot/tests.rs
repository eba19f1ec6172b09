use super::*;
use crate::report::chart::canvas::Shape;
use crate::report::chart::palette::LINES;
use crate::report::chart::tests::difference;

fn bins(last: i64) -> Bins {
    Bins {
        length_s: 1e-6,
        first: 0,
        last,
        covered_s: None,
    }
}

/// A saw with a spike here and there.
fn saw(bins: i64) -> impl Iterator<Item = Sample> {
    (0..bins).map(|bin| {
        let spike = if bin % 99_991 == 5 { 300.0 } else { 0.0 };
        let value = (bin * 7919 % 101) as f64 + spike;
        Sample {
            bin,
            value,
            range: Some((value - 1.0, value + 2.0)),
        }
    })
}

fn plot(samples: Vec<Sample>) -> Plot {
    let lines = vec![Line {
        name: "saw".to_owned(),
        style: LINES[0],
        samples,
    }];
    Plot {
        what: "Saw",
        extent: Plot::extent_of(&lines).unwrap(),
        lines,
        scale: PlotScale::Linear(Quantity::IN_FLIGHT),
        reference: None,
        drawing: Drawing::Band,
        notes: Vec::new(),
    }
}

#[test]
fn lines_stay_below_the_last_tick_where_that_takes_little_of_the_axis() {
    let axis = |value: f64, ticks_max| {
        let sample = Sample {
            bin: 0,
            value,
            range: None,
        };
        let axis = plot(vec![sample]).axis(ticks_max);
        (axis.max, axis.ticks.last().unwrap().1.clone())
    };
    assert_eq!(axis(50_770.0, 8), (60_000.0, "60".to_owned()));
    assert_eq!(axis(50_770.0, 4), (60_000.0, "60".to_owned()));
    assert_eq!(axis(50_000.0, 8), (50_000.0, "50".to_owned()));
    // A third of the axis is too much.
    assert_eq!(axis(101_000.0, 4), (101_000.0, "100".to_owned()));
}

#[test]
fn of_a_million_bins_the_extremes_are_kept_while_reading() {
    let bins = bins(999_999);
    let kept = bins.thinned(saw(1_000_000));
    assert!(kept.len() <= 4 * 8193, "{}", kept.len());
    let spikes = kept.iter().filter(|sample| sample.value >= 300.0).count();
    // At 5 and every 99,991 after it.
    assert_eq!(spikes, 11);
    // Every stretch but the last has the range of all its samples: 123 of them run through all
    // heights.
    let whole = kept.iter().filter(|sample| sample.bin < 8130 * 123);
    assert!(
        whole
            .map(|sample| sample.range.unwrap())
            .all(|(low, high)| low <= -1.0 && high >= 102.0)
    );
    assert_eq!(runs(&kept, bins.reach()).count(), 1, "there is no gap");
}

#[test]
fn few_bins_are_all_kept() {
    let samples: Vec<Sample> = saw(8192).collect();
    assert_eq!(bins(8191).thinned(samples.iter().copied()), samples);
}

#[test]
fn a_thinned_figure_looks_like_the_whole_one() {
    let bins = bins(29_999);
    let thinned = bins.thinned(saw(30_000));
    assert!(thinned.len() < 29_999);
    let caption = Caption {
        title: "30,000 bins".to_owned(),
        style: Style::default(),
    };
    let [whole, thinned] =
        [saw(30_000).collect(), thinned].map(|samples| plot(samples).figure(&caption, &bins));
    // Of 255: a few pixels at the rims of columns differ.
    let found = difference(&whole, &thinned);
    assert!(found < 0.05, "{found}");
}

#[test]
fn silence_of_any_length_is_a_line_at_0_of_few_samples() {
    // A hundred years in bins of a nanosecond.
    let last = 100 * 365 * 86_400 * 1_000_000_000_i64;
    let amounts = [(0, 5), (1, 6), (last, 7)];
    let bins = bins(last);
    let samples: Vec<Sample> = bins.filled(amounts.into_iter(), |_, n| n as f64).collect();
    assert!(samples.len() < 10_000, "{}", samples.len());
    let before_last = samples[samples.len() - 2];
    assert_eq!((before_last.bin, before_last.value), (last - 1, 0.0));
    assert!(samples[2].value.abs() < 1e-9);
    assert!(samples.is_sorted_by_key(|sample| sample.bin));
    let few: Vec<i64> = self::bins(5)
        .filled([(-9, 1), (1, 5), (4, 6), (last, 1)].into_iter(), |_, n| {
            n as f64
        })
        .map(|sample| sample.bin)
        .collect();
    assert_eq!(few, [1, 2, 3, 4]);
}

#[test]
fn counts_are_steps_as_long_as_their_bins() {
    let of = |drawing| {
        let samples = [(0, 0.0), (1, 4.0), (2, 0.0)].map(|(bin, value)| Sample {
            bin,
            value,
            range: None,
        });
        let plot = Plot {
            drawing,
            ..plot(samples.to_vec())
        };
        let caption = Caption {
            title: "Three bins".to_owned(),
            style: Style::default(),
        };
        let colour = LINES[0].colour;
        let shapes = plot.figure(&caption, &bins(2)).shapes;
        let mut lines = shapes.into_iter().filter_map(|shape| match shape {
            Shape::Line { points, stroke } if stroke.colour == colour => Some(points),
            _ => None,
        });
        // The last: behind the one of the legend.
        lines.next_back().expect("the line")
    };
    let level = |points: &[Point]| {
        let top = points.iter().map(|point| point.1).fold(f64::MAX, f64::min);
        points.iter().filter(|point| point.1 <= top).count()
    };
    assert_eq!(level(&of(Drawing::Line)), 1, "a peak");
    let steps = of(Drawing::Steps);
    assert_eq!(level(&steps), 2, "from the start to the end of the bin");
    // They begin and end with the first and the last bin, and are three times as long as the one in the middle.
    let (first, last) = (steps[0].0, steps[steps.len() - 1].0);
    let top: Vec<f64> = steps[2..4].iter().map(|point| point.0).collect();
    assert!(
        (last - first - 3.0 * (top[1] - top[0])).abs() < 1.0,
        "{steps:?}"
    );
}

#[test]
fn counts_of_bins_beside_gaps_have_both_sides() {
    let sample = |(bin, value)| Sample {
        bin,
        value,
        range: None,
    };
    // One bin alone, and two that end a line.
    let mut plot = plot([(10, 4.0), (50, 0.0), (51, 3.0)].map(sample).to_vec());
    plot.drawing = Drawing::Steps;
    let caption = Caption {
        title: String::new(),
        style: Style::default(),
    };
    let drawn = plot.figure(&caption, &bins(99));
    let lines = drawn.shapes.iter().filter_map(|shape| match shape {
        Shape::Line { points, stroke } if *stroke == Stroke::solid(LINES[0].colour, 3.0) => {
            Some(points)
        }
        _ => None,
    });
    // Without its sample in the legend.
    let lines: Vec<&Vec<Point>> = lines.skip(1).collect();
    assert_eq!(lines.len(), 2);
    let zero = lines[0][0].1;
    for points in lines {
        let ends = [points[0].1, points[points.len() - 1].1];
        assert!(
            ends.iter().all(|end| (end - zero).abs() < 1e-9),
            "{points:?}"
        );
        assert!(points.iter().any(|&(_, y)| y < zero - 50.0), "{points:?}");
    }
}

/// A flow whose first packet met no queue: 8 us, where means are 15 to 40 ms.
#[test]
fn one_sample_far_below_the_others_presses_no_line_flat() {
    let samples = (0..100).map(|bin| {
        let value = 0.015 + 0.025 * (bin as f64 / 99.0);
        let low = if bin == 0 { 8e-6 } else { value - 0.002 };
        Sample {
            bin,
            value,
            range: Some((low, value + 0.01)),
        }
    });
    let delays = |samples: Vec<Sample>| Plot {
        scale: PlotScale::Delays(Quantity::RTT),
        ..plot(samples)
    };
    let samples: Vec<Sample> = samples.collect();
    assert!(!delays(samples.clone()).axis(8).is_log());
    // Another flow, however short, is not pressed flat either.
    let mut two = delays(samples.clone());
    two.lines.push(Line {
        name: "short".to_owned(),
        style: LINES[1],
        samples: samples[..3]
            .iter()
            .map(|sample| Sample {
                value: 3e-4,
                range: None,
                ..*sample
            })
            .collect(),
    });
    assert!(two.axis(8).is_log());
    // A tenth of them is no exception.
    let mut mixed = samples;
    for sample in &mut mixed[..10] {
        (sample.value, sample.range) = (8e-6, Some((8e-6, 8e-6)));
    }
    assert!(delays(mixed).axis(8).is_log());
}
