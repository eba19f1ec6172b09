//! Bars, their intervals and values, and the numbers above them.

use super::super::interval::Spread;
use super::*;
use crate::report::chart::canvas::Shape;

#[test]
fn rows_are_shorter_where_names_would_lose_their_middle() {
    let estimate = Estimate {
        value: 1e6,
        spread: Spread::Unknown,
        n: 1,
    };
    let bars = |name: &str| GroupedBars {
        title: String::new(),
        note: String::new(),
        quantity: Quantity::GOODPUT,
        groups: (0..12)
            .map(|group| {
                let bars = vec![("cubic".to_owned(), Some(estimate))];
                (name.replace('#', &group.to_string()), bars)
            })
            .collect(),
    };
    let width = 1000.0;
    assert_eq!(bars("case #").in_row(width, 1), 6);
    let long = bars("core, #-bytefifo-vegas-westwood, 10 Mbit/s, several, 3 flows");
    let in_row = long.in_row(width, 1);
    assert!((4..6).contains(&in_row), "{in_row}");
}

#[test]
fn a_long_interval_ends_in_an_arrow_and_leaves_the_bars_their_height() {
    let bar = |name: &str, value, (low, high)| {
        let estimate = Estimate {
            value,
            spread: Spread::Interval(low, high),
            n: 4,
        };
        (name.to_owned(), Some(estimate))
    };
    let drawn = |high: f64| {
        let figure = GroupedBars {
            title: "Retransmitted".to_owned(),
            note: "mean of runs".to_owned(),
            quantity: Quantity::RETRANSMISSION_RATE,
            groups: vec![(
                "deep".to_owned(),
                vec![
                    bar("bbr", 0.06, (0.0, high)),
                    bar("cubic", 0.02, (0.01, 0.03)),
                ],
            )],
        };
        let canvas = figure.draw(Style::default()).unwrap();
        let arrows = canvas
            .shapes
            .iter()
            .filter(|shape| matches!(shape, Shape::Area { colour, .. } if *colour == Colour::INK));
        let said = canvas.shapes.iter().any(|shape| {
            matches!(shape, Shape::Text { text, .. }
                if text == "mean of runs · arrow: the interval goes on, to 44.0 % at most · n = 4")
        });
        let bars = canvas.shapes.iter().filter_map(|shape| match shape {
            Shape::Rect { from, to, .. } => Some(to.1 - from.1),
            _ => None,
        });
        (arrows.count(), said, bars.fold(0.0, f64::max))
    };
    let (arrows, said, height) = drawn(0.44);
    assert_eq!((arrows, said), (1, true));
    // Whole, the interval would leave the bar an eighth of the panel; now it has half of it.
    assert!(height > 300.0, "{height}");
    let (arrows, said, _) = drawn(0.09);
    assert_eq!((arrows, said), (0, false));
}

#[test]
fn few_values_are_dots_which_no_number_covers() {
    let bar = |value, spread, n| {
        let estimate = Estimate { value, spread, n };
        ("cubic".to_owned(), Some(estimate))
    };
    let drawn = |bars: Vec<Bar>| {
        let figure = GroupedBars {
            title: String::new(),
            note: "mean of runs".to_owned(),
            quantity: Quantity::GOODPUT,
            groups: vec![("deep".to_owned(), bars)],
        };
        figure.draw(Style::default()).unwrap()
    };
    let three = bar(4e6, Spread::Three([1.2e6, 4.2e6, 6.6e6]), 3);
    let canvas = drawn(vec![three.clone()]);
    let dots = canvas.shapes.iter().filter_map(|shape| match shape {
        Shape::Marker { at, colour, .. } if *colour == Colour::INK => Some(*at),
        _ => None,
    });
    let dots: Vec<(f64, f64)> = dots.collect();
    let [low, middle, high] = dots[..] else {
        panic!("{dots:?}");
    };
    assert!(low.1 > middle.1 && middle.1 > high.1 && low.0 < high.0);
    // The middle one lies where the number would be.
    let number = canvas.shapes.iter().find_map(|shape| match shape {
        Shape::Text { at, text, .. } if text == "4.00" => Some(at.1),
        _ => None,
    });
    assert!(number.is_some_and(|y| y < high.1), "{number:?} {high:?}");
    let said = |canvas: &Canvas, wanted: &str| super::super::tests::texts(canvas).contains(&wanted);
    assert!(said(&canvas, "mean of runs · dots: each run · n = 3"));
    let four = bar(4e6, Spread::Interval(3e6, 5e6), 4);
    let both = drawn(vec![three, four.clone()]);
    let words = "mean of runs · dots: each run, where there are 3 or fewer · n = 3 to 4";
    assert!(said(&both, words));
    assert!(said(&drawn(vec![four]), "mean of runs · n = 4"));
}

#[test]
fn the_interval_of_a_bar_as_dark_as_its_line_is_seen() {
    let estimate = Estimate {
        value: 5e6,
        spread: Spread::Interval(4e6, 6e6),
        n: 5,
    };
    let figure = GroupedBars {
        title: String::new(),
        note: String::new(),
        quantity: Quantity::GOODPUT,
        groups: vec![(
            "deep".to_owned(),
            vec![("vegas".to_owned(), Some(estimate))],
        )],
    };
    let canvas = figure.draw(Style::default()).unwrap();
    let colour = super::super::palette::variant("vegas").colour;
    // The last one, behind that of the legend.
    let bar = canvas.shapes.iter().rev().find_map(|shape| match shape {
        Shape::Rect {
            from,
            to,
            colour: of,
        } if *of == colour => Some((*from, *to)),
        _ => None,
    });
    let (from, to) = bar.unwrap();
    let within = |at: &(f64, f64)| from.0 <= at.0 && at.0 <= to.0 && from.1 <= at.1;
    let lines = canvas.shapes.iter().filter_map(|shape| match shape {
        Shape::Line { points, stroke } if points.iter().all(within) => {
            Some((points.clone(), *stroke))
        }
        _ => None,
    });
    let lines: Vec<_> = lines.collect();
    // The line down to the lower end and the bar across it, of the bar's own colour, each on paper that stands
    // out on either side.
    let of = |colour| {
        lines
            .iter()
            .filter(move |(_, stroke)| stroke.colour == colour)
    };
    assert_eq!((of(colour).count(), of(Colour::Paper).count()), (2, 2));
    for ((dark, line), (light, rim)) in of(colour).zip(of(Colour::Paper)) {
        assert!(rim.width >= line.width + 4.0, "{rim:?}");
        assert!(light[0].0 <= dark[0].0 && light[1].0 >= dark[1].0);
    }
    let last_rim = lines.iter().rposition(|(_, of)| of.colour == Colour::Paper);
    let first_line = lines.iter().position(|(_, of)| of.colour == colour);
    assert!(last_rim < first_line, "the paper would cover the line");
}

#[test]
fn a_row_with_a_scale_of_its_own_has_room_for_its_labels() {
    let group = |value: f64| {
        let estimate = Estimate {
            value,
            spread: Spread::Unknown,
            n: 1,
        };
        let bars = (0..12).map(|bar| (format!("variant {bar}"), Some(estimate)));
        ("deep".to_owned(), bars.collect())
    };
    let mut figure = GroupedBars {
        title: String::new(),
        note: String::new(),
        quantity: Quantity::RETRANSMISSION_RATE,
        groups: (0..6).map(|_| group(0.5)).collect(),
    };
    figure.groups.extend((0..6).map(|_| group(4e-9)));
    let canvas = figure.draw(Style::default()).unwrap();
    let shown = super::super::tests::texts(&canvas);
    assert!(shown.contains(&"0.0000002"), "{shown:?}");
    super::super::tests::assert_legible(&canvas);
    let lefts = canvas.shapes.iter().filter_map(|shape| match shape {
        Shape::Text {
            at,
            text,
            font,
            align: Align::Right,
        } => Some(at.0 - text_width(text, *font)),
        _ => None,
    });
    let left = lefts.fold(f64::INFINITY, f64::min);
    assert!(left >= super::super::letters::MARGIN, "{left}");
}

#[test]
fn what_is_small_among_small_ones_has_a_number() {
    let y = Axis::linear_in(Quantity::RETRANSMISSION_RATE, 9e-7, 0.0, 9e-7, 7);
    assert_eq!(number_of(4e-7, &y), "0.00004");
}

#[test]
fn numbers_are_no_finer_than_can_be_seen() {
    for (max, value, text) in [
        (250e6, 177e6, "177"),
        (250e6, 2.804e6, "2.8"),
        (250e6, 0.385e6, "0.4"),
        (250e6, 0.01e6, "<0.1"),
        (12e6, 0.4042e6, "0.40"),
        (2.5e6, 0.0687e6, "0.069"),
        (2.5e6, 2.17e6, "2.17"),
        (2.5e6, 0.0, "0"),
    ] {
        let y = Axis::linear_in(Quantity::GOODPUT, 1e6, 0.0, max, 7);
        assert_eq!(number_of(value, &y), text, "{value} of {max}");
    }
}

/// Two rows on a slide, which leave each bar but a few lines of text of height.
#[test]
fn on_slides_values_near_the_top_have_their_numbers_too() {
    let three = |values: [f64; 3]| Estimate {
        value: values[1],
        spread: Spread::Three(values),
        n: 3,
    };
    let group = |name: &str, values: [f64; 3]| {
        let bars = ["bbr", "cubic", "reno"].map(|of| (of.to_owned(), Some(three(values))));
        (name.to_owned(), bars.to_vec())
    };
    let names = (0..7).map(|place| format!("buffer {place}50k, 1 bbr + 1 cubic"));
    let figure = GroupedBars {
        title: "Goodput".to_owned(),
        note: "mean of runs, with its 95 % confidence interval; of several flows of a variant in a run: their mean"
            .to_owned(),
        quantity: Quantity::GOODPUT,
        groups: names.map(|name| group(&name, [18.7e6, 18.8e6, 18.85e6])).collect(),
    };
    let style = Style {
        size: super::super::style::Size::Slide,
        ..Style::default()
    };
    let canvas = figure.draw(style).unwrap();
    let numbers = super::super::tests::texts(&canvas);
    let numbers = numbers.iter().filter(|text| **text == "18.8");
    assert_eq!(numbers.count(), 21);
    super::super::tests::assert_legible(&canvas);
}
