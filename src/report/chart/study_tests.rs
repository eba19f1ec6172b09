//! Charts of studies: what is drawn where, and that nothing is cut or covered.

use super::axis::Quantity;
use super::canvas::{Canvas, Shape};
use super::palette::{Colour, variant};
use super::style::{Size, Style, Theme};
use super::tests::{assert_legible, difference, texts};
use super::{
    BandLines, BoxPanel, Boxes, Distribution, Distributions, Estimate, FnessPair, FnessScatter,
    GroupedBars, HeatMap, HeatMaps, HeatScale, SpiderShape, Spiders, Spread,
};

const LONG: &str = "a condition that somebody described with very many words, 50 Mbit/s";

fn styles() -> [Style; 3] {
    [Size::OneColumn, Size::TwoColumns, Size::Slide].map(|size| Style {
        size,
        theme: Theme::Light,
    })
}

fn estimate(value: f64) -> Estimate {
    Estimate {
        value,
        spread: Spread::Interval(value * 0.8, value * 1.25),
        n: 7,
    }
}

fn bars(groups: usize, variants: usize, name: &str, scale: f64) -> GroupedBars {
    let bar = |place: usize| {
        (
            format!("variant{place}"),
            Some(estimate((place + 1) as f64 * scale)),
        )
    };
    GroupedBars {
        title: format!("Goodput – {name}"),
        note: "95 % confidence interval of the mean".to_owned(),
        quantity: Quantity::GOODPUT,
        groups: (0..groups)
            .map(|group| (format!("{name} {group}"), (0..variants).map(bar).collect()))
            .collect(),
    }
}

fn maps(columns: usize, rows: usize, maps: usize, scale: f64) -> HeatMaps {
    let cell = |row: usize, column: usize| {
        (row + column != 1).then_some((row * columns + column) as f64 * scale)
    };
    HeatMaps {
        title: format!("Utilisation – {LONG}"),
        note: "median of n = 20 runs".to_owned(),
        quantity: Quantity::GOODPUT,
        columns: (
            "One-way delay (ms)".to_owned(),
            (0..columns)
                .map(|column| format!("{}", 20 * column))
                .collect(),
        ),
        rows: (
            "Loss (%)".to_owned(),
            (0..rows).map(|row| format!("{row}")).collect(),
        ),
        maps: (0..maps)
            .map(|map| HeatMap {
                name: format!("variant {map}"),
                scale: if map % 3 == 2 {
                    HeatScale::Difference
                } else {
                    HeatScale::Amount
                },
                cells: (0..rows)
                    .map(|row| (0..columns).map(|column| cell(row, column)).collect())
                    .collect(),
            })
            .collect(),
    }
}

fn rects(canvas: &Canvas, wanted: Colour) -> Vec<((f64, f64), (f64, f64))> {
    let mut rects = Vec::new();
    for shape in &canvas.shapes {
        if let Shape::Rect { from, to, colour } = shape
            && *colour == wanted
        {
            rects.push((*from, *to));
        }
    }
    rects
}

#[test]
fn numbers_stand_at_their_bars_not_at_the_ends_of_long_intervals() {
    let long = Estimate {
        spread: Spread::Interval(0.0, 80e6),
        ..estimate(11e6)
    };
    let bar = |estimate| ("cubic".to_owned(), Some(estimate));
    let figure = GroupedBars {
        groups: vec![("all".to_owned(), vec![bar(long), bar(estimate(40e6))])],
        ..bars(0, 0, "runs", 1.0)
    };
    let canvas = figure.draw(Style::default()).unwrap();
    let (from, _) = rects(&canvas, variant("cubic").colour)[1];
    let number = canvas.shapes.iter().find_map(|shape| match shape {
        Shape::Text { at, text, .. } if text == "11.0" => Some(at.1),
        _ => None,
    });
    assert!(number.is_some_and(|y| (0.0..10.0).contains(&(from.1 - y))));
}

#[test]
fn one_large_change_leaves_the_others_their_colours() {
    let drawn = |large: f64| {
        let mut figure = maps(2, 1, 1, 1.0);
        figure.quantity = Quantity::SHARE.called("Change");
        figure.maps[0].scale = HeatScale::Change;
        figure.maps[0].cells = vec![vec![Some(-0.43), Some(large)]];
        figure.draw(Style::default()).unwrap()
    };
    let (even, uneven) = (drawn(1.0), drawn(8.67));
    let cell = |canvas: &Canvas| {
        let colours = canvas.shapes.iter().filter_map(|shape| match shape {
            Shape::Rect { colour, .. } => Some(*colour),
            _ => None,
        });
        colours.rev().nth(1)
    };
    assert_eq!(cell(&even), cell(&uneven));
    let said = "Change (%), one colour from 100 % on";
    assert!(texts(&uneven).contains(&said) && !texts(&even).contains(&said));
}

#[test]
fn numbers_above_bars_are_in_the_unit_of_the_axis() {
    // The axis ends at 1000 Mbit/s, which is a Gbit/s, and is still one of Mbit/s.
    let bar = |value| ("cubic".to_owned(), Some(estimate(value)));
    let figure = GroupedBars {
        groups: vec![("all".to_owned(), vec![bar(720e6), bar(9.6e6)])],
        ..bars(0, 0, "rates", 1.0)
    };
    let canvas = figure.draw(Style::default()).unwrap();
    let texts = texts(&canvas);
    for wanted in ["Goodput (Mbit/s)", "720", "9.6"] {
        assert!(texts.contains(&wanted), "{wanted}: {texts:?}");
    }
}

#[test]
fn bars_are_as_high_as_their_values() {
    let figure = GroupedBars {
        groups: vec![
            (
                "deep".to_owned(),
                vec![
                    ("cubic".to_owned(), Some(estimate(40e6))),
                    ("bbr".to_owned(), None),
                ],
            ),
            (
                "shallow".to_owned(),
                vec![("cubic".to_owned(), Some(estimate(10e6)))],
            ),
        ],
        ..bars(0, 0, "buffers", 1.0)
    };
    let canvas = figure.draw(Style::default()).unwrap();
    // The swatch of the legend, then the bars.
    let found = rects(&canvas, variant("cubic").colour);
    let heights: Vec<f64> = found[1..].iter().map(|(from, to)| to.1 - from.1).collect();
    assert_eq!(heights.len(), 2);
    assert!((heights[0] - 4.0 * heights[1]).abs() < 0.1, "{heights:?}");
    let texts = texts(&canvas);
    for wanted in ["40.0", "10.0", "–", "n", "Goodput (Mbit/s)"] {
        assert!(
            texts.iter().any(|text| text.contains(wanted)),
            "{wanted}: {texts:?}"
        );
    }
    assert!(
        texts
            .iter()
            .any(|text| text.ends_with("95 % confidence interval of the mean · n = 7"))
    );
}

#[test]
fn small_bars_are_seen_and_nothing_is_nothing() {
    let bar = |name: &str, value| {
        let estimate = Estimate {
            value,
            spread: Spread::Unknown,
            n: 1,
        };
        (name.to_owned(), Some(estimate))
    };
    let figure = GroupedBars {
        groups: vec![(
            "deep".to_owned(),
            vec![bar("cubic", 40e6), bar("bbr", 1.0), bar("reno", 0.0)],
        )],
        ..bars(0, 0, "buffers", 1.0)
    };
    let canvas = figure.draw(Style::default()).unwrap();
    let height = |name: &str| {
        // Behind the swatch of the legend.
        let (from, to) = rects(&canvas, variant(name).colour)[1];
        to.1 - from.1
    };
    assert!(height("bbr") >= 3.0 && height("reno") == 0.0);
    let bottom = |name: &str| rects(&canvas, variant(name).colour)[1].1.1;
    assert!((bottom("bbr") - bottom("cubic")).abs() < 1e-6);
}

#[test]
fn rows_of_bars_that_could_not_be_seen_have_scales_of_their_own() {
    // 24 settings take more than one row; the last one's bars are 1000 times the first one's.
    let figure = |last: f64| {
        let all = bars(24, 4, "setting", 1e6);
        let groups = all.groups.into_iter().enumerate();
        let scaled = groups.map(|(index, (name, bars))| {
            let scale = if index == 23 { last } else { 1.0 };
            let bars = bars.into_iter().map(|(name, of)| {
                let of = of.map(|of| estimate(of.value * scale));
                (name, of)
            });
            (name, bars.collect())
        });
        GroupedBars {
            groups: scaled.collect(),
            ..bars(0, 0, "rows", 1.0)
        }
    };
    let said = |last: f64| {
        let canvas = figure(last).draw(Style::default()).unwrap();
        let texts = texts(&canvas).join(" ");
        texts.contains("each row has a scale of its own")
    };
    assert!(said(1000.0) && !said(2.0));
}

#[test]
fn a_box_reaches_from_quartile_to_quartile() {
    let values: Vec<f64> = (0..=100).map(f64::from).map(|value| value * 1e5).collect();
    let boxes = Boxes {
        title: "Throughput".to_owned(),
        note: String::new(),
        panels: vec![BoxPanel {
            quantity: Quantity::THROUGHPUT,
            samples: vec![("bbr".to_owned(), values)],
        }],
    };
    let canvas = boxes.draw(Style::default()).unwrap();
    let found = rects(&canvas, variant("bbr").colour);
    let [(from, to)] = found.as_slice() else {
        panic!("{found:?}");
    };
    // The axis goes from 0 to 10 Mbit/s, the box over half of it; whiskers over the rest.
    let ticks: Vec<f64> = canvas
        .shapes
        .iter()
        .filter_map(|shape| match shape {
            Shape::Line { points, stroke } if stroke.colour == Colour::GRID => Some(points[0].1),
            _ => None,
        })
        .collect();
    let height = ticks[0] - ticks[ticks.len() - 1];
    assert!(
        ((to.1 - from.1) - height / 2.0).abs() < 0.5,
        "{from:?} {to:?} {height}"
    );
}

#[test]
fn each_cell_has_its_number_and_missing_ones_have_a_dash() {
    let canvas = maps(3, 2, 1, 1e6).draw(Style::default()).unwrap();
    let texts = texts(&canvas);
    for wanted in ["0", "2.00", "4.00", "5.00", "–", "Goodput (Mbit/s)"] {
        assert!(texts.contains(&wanted), "{wanted}: {texts:?}");
    }
    assert_eq!(texts.iter().filter(|text| **text == "–").count(), 2);
    // 0 % is the light end, the largest value the dark one.
    let colours: Vec<Colour> = canvas
        .shapes
        .iter()
        .filter_map(|shape| match shape {
            Shape::Rect { colour, from, to } if to.1 - from.1 > 40.0 => Some(*colour),
            _ => None,
        })
        .collect();
    assert_eq!(colours.len(), 6);
    assert!(colours[0].luminance() > 0.9 && colours[5].luminance() < 0.05);
}

#[test]
fn a_spider_ends_at_the_largest_value_of_each_axis() {
    let shape = |name: &str, values: [f64; 3]| SpiderShape {
        name: name.to_owned(),
        values: values.map(Some).to_vec(),
        n: 5,
    };
    let spiders = Spiders {
        title: "Mobility".to_owned(),
        note: String::new(),
        axes: vec![
            Quantity::GOODPUT,
            Quantity::RTT,
            Quantity::RETRANSMISSION_RATE,
        ],
        panels: vec![(
            "60 km/h".to_owned(),
            vec![
                shape("cubic", [20e6, 0.1, 0.0]),
                shape("bbr", [10e6, 0.05, 0.02]),
            ],
        )],
    };
    let canvas = spiders.draw(Style::default()).unwrap();
    for wanted in ["20.0 Mbit/s", "100 ms", "2.00 %"] {
        assert!(
            texts(&canvas).contains(&wanted),
            "{wanted}: {:?}",
            texts(&canvas)
        );
    }
    let outlines: Vec<&Vec<(f64, f64)>> = canvas
        .shapes
        .iter()
        .filter_map(|shape| match shape {
            Shape::Area { points, .. } => Some(points),
            _ => None,
        })
        .collect();
    let [cubic, bbr] = outlines.as_slice() else {
        panic!("{outlines:?}");
    };
    // Up is goodput: bbr has half of it. The third axis has its middle where nothing was sent again.
    let middle = cubic[2];
    let up = |points: &[(f64, f64)]| middle.1 - points[0].1;
    assert!((up(cubic) - 2.0 * up(bbr)).abs() < 1e-6);
    // Where nothing was sent again at all, the axis does not end at 100 %.
    let mut without = spiders.clone();
    without.panels[0].1.pop();
    let canvas = without.draw(Style::default()).unwrap();
    assert!(texts(&canvas).contains(&"0 %"), "{:?}", texts(&canvas));
    let two = Spiders {
        axes: spiders.axes[..2].to_vec(),
        ..spiders
    };
    assert_eq!(two.draw(Style::default()), None);
}

#[test]
fn a_few_heat_maps_fit_a_slide() {
    let slide = Style {
        size: Size::Slide,
        theme: Theme::Light,
    };
    for (columns, rows, count) in [(5, 5, 3), (4, 4, 4), (2, 2, 5), (6, 5, 2), (5, 5, 1)] {
        let figure = HeatMaps {
            title: "Goodput".to_owned(),
            ..maps(columns, rows, count, 1e6)
        };
        let canvas = figure.draw(slide).unwrap();
        assert_legible(&canvas);
        assert!(canvas.height <= 675.0, "{count}: {}", canvas.height);
        // On paper height is free, and maps are larger.
        let paper = figure.draw(Style::default()).unwrap();
        assert_legible(&paper);
    }
}

fn four_spiders(name: impl Fn(usize) -> String) -> Spiders {
    let shape = SpiderShape {
        name: "cubic".to_owned(),
        values: vec![Some(20e6), Some(0.1), Some(0.02)],
        n: 5,
    };
    Spiders {
        title: "Mobility".to_owned(),
        note: "means of runs".to_owned(),
        axes: vec![
            Quantity::GOODPUT,
            Quantity::RTT,
            Quantity::RETRANSMISSION_RATE,
        ],
        panels: (0..4)
            .map(|panel| (name(panel), vec![shape.clone()]))
            .collect(),
    }
}

#[test]
fn long_names_of_spiders_take_two_lines() {
    let spiders = four_spiders(|panel| format!("buffer {panel} kB, 1 bbr + 1 cubic"));
    for style in styles() {
        let canvas = spiders.draw(style).unwrap();
        assert_legible(&canvas);
        let said = texts(&canvas).join(" ");
        let whole = (0..4).all(|panel| said.contains(&format!("buffer {panel} kB")));
        assert!(whole && !said.contains('…'), "{said}");
        assert!(style.size != Size::Slide || canvas.height <= 676.0);
    }
}

#[test]
fn four_spiders_fit_a_slide() {
    let slide = Style {
        size: Size::Slide,
        theme: Theme::Dark,
    };
    let canvas = four_spiders(|panel| format!("setting {panel}"))
        .draw(slide)
        .unwrap();
    assert_legible(&canvas);
    // 1920 by 1080 pixels.
    assert!((canvas.height - 675.0).abs() < 1.5, "{}", canvas.height);
}

#[test]
fn medians_and_densities_are_named_only_where_they_are_drawn() {
    let figure = |runs: usize| FnessScatter {
        title: "Fairness".to_owned(),
        note: String::new(),
        point: "a run".to_owned(),
        a: None,
        pairs: vec![FnessPair {
            name: "bbr | cubic".to_owned(),
            a_first: (0..runs).map(|run| 0.1 * run as f64).collect(),
            b_first: Vec::new(),
        }],
    };
    for (runs, has_median, has_density) in [(1, false, false), (3, true, false), (5, true, true)] {
        let canvas = figure(runs).draw(Style::default()).unwrap();
        let texts = texts(&canvas);
        assert_eq!(texts.contains(&"median"), has_median);
        let density = "areas: Gaussian kernel density";
        assert_eq!(texts.iter().any(|text| text.contains(density)), has_density);
    }
}

#[test]
fn nothing_measured_is_nothing_drawn() {
    let style = Style::default();
    assert_eq!(bars(0, 0, "", 1.0).draw(style), None);
    assert_eq!(maps(0, 0, 0, 1.0).draw(style), None);
    let boxes = Boxes {
        title: String::new(),
        note: String::new(),
        panels: vec![BoxPanel {
            quantity: Quantity::RTT,
            samples: vec![("bbr".to_owned(), vec![f64::NAN])],
        }],
    };
    assert_eq!(boxes.draw(style), None);
    assert_eq!(scatter(0, 0).draw(style), None);
    let lines = BandLines {
        title: String::new(),
        note: String::new(),
        interval: "95 % confidence interval",
        x: Quantity::LOSS,
        x_name: "Loss".to_owned(),
        y: Quantity::GOODPUT,
        lines: vec![("bbr".to_owned(), Vec::new())],
    };
    assert_eq!(lines.draw(style), None);
}

fn scatter(pairs: usize, values: u32) -> FnessScatter {
    let values = |shift: f64| -> Vec<f64> {
        (0..values)
            .map(|value| (f64::from(value) * 0.37 + shift).sin())
            .collect()
    };
    FnessScatter {
        title: format!("Fairness – {LONG}"),
        note: String::new(),
        point: "a run".to_owned(),
        a: None,
        pairs: (0..pairs)
            .map(|pair| FnessPair {
                name: format!("variant{pair} | {LONG}"),
                a_first: values(0.0),
                b_first: values(1.0),
            })
            .collect(),
    }
}

#[test]
fn no_text_of_a_study_is_cut_or_covered() {
    for style in styles() {
        for (groups, variants) in [(1, 1), (2, 2), (6, 3), (3, 40), (40, 2)] {
            for scale in [0.0, 1.0, 250e6] {
                let canvas = bars(groups, variants, LONG, scale).draw(style).unwrap();
                assert_legible(&canvas);
            }
        }
        for (columns, rows, count) in [(1, 1, 1), (6, 5, 2), (4, 5, 3), (20, 12, 1), (6, 6, 7)] {
            for scale in [0.0, 1e-3, 80e6] {
                assert_legible(&maps(columns, rows, count, scale).draw(style).unwrap());
            }
        }
        for pairs in [1, 2, 6, 25] {
            assert_legible(&scatter(pairs, 12).draw(style).unwrap());
        }
        for names in [1, 2, 6, 40] {
            let of = |place: usize| {
                let values = (0..20).map(|value| f64::from(value) * 1e-3 * place as f64);
                values.collect::<Vec<f64>>()
            };
            let samples: Vec<(String, Vec<f64>)> = (0..names)
                .map(|place| (format!("variant{place} {LONG}"), of(place)))
                .collect();
            let panel = |quantity| BoxPanel {
                quantity,
                samples: samples.clone(),
            };
            let boxes = Boxes {
                title: LONG.to_owned(),
                note: LONG.to_owned(),
                panels: vec![panel(Quantity::THROUGHPUT), panel(Quantity::PING)],
            };
            boxes.draw(style).iter().for_each(assert_legible);
            let panels: Vec<(String, Vec<Distribution>)> = (0..names.min(7))
                .map(|place| {
                    let each = |(name, values): &(String, Vec<f64>)| {
                        Distribution::of_values(name.clone(), variant(name), values)
                    };
                    (
                        format!("{place} {LONG}"),
                        samples.iter().map(each).collect(),
                    )
                })
                .collect();
            let ecdfs = Distributions {
                title: LONG.to_owned(),
                note: LONG.to_owned(),
                quantity: Quantity::PM,
                panels,
                histogram: false,
            };
            ecdfs.draw(style).iter().for_each(assert_legible);
            let shape = |place: usize, axes: usize| SpiderShape {
                name: format!("variant{place} {LONG}"),
                values: vec![Some(place as f64 + 1.0); axes],
                n: 3,
            };
            for axes in [3, 4, 6] {
                let spiders = Spiders {
                    title: LONG.to_owned(),
                    note: LONG.to_owned(),
                    axes: [
                        Quantity::GOODPUT,
                        Quantity::RTT,
                        Quantity::RETRANSMISSION_RATE,
                    ]
                    .repeat(2)[..axes]
                        .to_vec(),
                    panels: (0..names.min(7))
                        .map(|panel| {
                            let shapes = (0..names).map(|place| shape(place, axes));
                            (format!("{panel} {LONG}"), shapes.collect())
                        })
                        .collect(),
                };
                let canvas = spiders.draw(style).unwrap();
                assert_legible(&canvas);
            }
        }
    }
}

/// The picture of a fixed chart is near one put together by hand: bars of these colours at these
/// places on white, and little else.
#[test]
fn a_heat_map_looks_like_its_cells() {
    let style = Style {
        size: Size::OneColumn,
        theme: Theme::Light,
    };
    let canvas = maps(3, 3, 1, 1e6).draw(style).unwrap();
    let mut expected = Canvas::new(style, canvas.height);
    for shape in &canvas.shapes {
        if let Shape::Rect { from, to, colour } = shape {
            expected.rect(*from, *to, *colour);
        }
    }
    let blank = Canvas::new(style, canvas.height);
    // Text covers less than a twentieth; the cells cover a third.
    let (text, all) = (difference(&canvas, &expected), difference(&canvas, &blank));
    assert!(text < 8.0 && all > 3.0 * text, "{text} {all}");
}
