//! Who gets more: pairwise fairness, a bar from the middle towards the flow that sent more.

use std::collections::HashMap;

use crate::analyze::{Flow, Pair};

use super::super::rivals::{Rivals, largest_pairs};
use super::axis::{Axis, Quantity};
use super::bars::{draw_capture, draw_grid};
use super::canvas::{Align, Canvas};
use super::choice::{NamedFlow, Scene};
use super::fit::shorten;
use super::font::text_width;
use super::frame::{Panel, X_AXIS_HEIGHT, header};
use super::label::{apart, count};
use super::legend::Swatch;
use super::letters::{AXIS_TITLE, LABEL, MARGIN, baseline};
use super::palette::Colour;
use super::rows::{GROUP, Room, fitted};
use super::style::Style;

/// Height of what stands above the names.
const HEADING: f64 = 38.0;

/// The widest that names may get on either side, as a share of the width.
const NAMES_MAX: f64 = 0.27;

/// Blue and vermillion stay apart in every kind of colour vision, and in grey.
const A: Colour = Colour::BLUE;
const B: Colour = Colour::VERMILLION;

/// A pair to be drawn.
#[derive(Clone, Copy)]
struct Row<'a> {
    scene: usize,
    a: &'a NamedFlow<'a>,
    b: &'a NamedFlow<'a>,
    fness: f64,
    rivals: Rivals,
}

/// Pairs of the large flows of each capture. None where no two of them overlap.
pub(super) fn draw(scenes: &[Scene<'_>], style: Style) -> Option<Canvas> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut momentary = 0;
    for (index, scene) in scenes.iter().enumerate() {
        let by_place: HashMap<usize, &NamedFlow<'_>> =
            scene.flows.iter().map(|flow| (flow.place, flow)).collect();
        let flows: Vec<Flow<'_>> = scene.capture.flows().collect();
        let pairs = scene.capture.pairs.pairs.iter();
        let found = pairs.filter_map(|pair| Some((pair, row(index, pair, &by_place, &flows)?)));
        for (pair, row) in found {
            if pair.is_momentary(&flows) {
                momentary += 1;
            } else {
                rows.push(row);
            }
        }
    }
    let total = rows.len();
    let rivals: Vec<Rivals> = rows.iter().map(|row| row.rivals).collect();
    fitted(style, |room| {
        let chosen = largest_pairs(&rivals, room.rows).into_iter();
        let mut rows: Vec<Row<'_>> = chosen.map(|place| rows[place]).collect();
        rows.sort_by_key(|row| (row.scene, row.a.place, row.b.place));
        (!rows.is_empty()).then(|| draw_rows(scenes, &rows, (total, momentary), style, room))
    })
}

fn row<'a>(
    scene: usize,
    pair: &Pair,
    by_place: &HashMap<usize, &'a NamedFlow<'a>>,
    flows: &[Flow<'_>],
) -> Option<Row<'a>> {
    let (a, b) = (by_place.get(&pair.a)?, by_place.get(&pair.b)?);
    // The two directions of one connection do not compete.
    (a.flow.connection_id != b.flow.connection_id).then_some(())?;
    Some(Row {
        scene,
        a,
        b,
        fness: pair.fness?,
        rivals: Rivals::of(scene, pair, flows),
    })
}

fn draw_rows(
    scenes: &[Scene<'_>],
    rows: &[Row<'_>],
    (total, momentary): (usize, usize),
    style: Style,
    room: Room,
) -> Canvas {
    let groups: Vec<&[Row<'_>]> = rows.chunk_by(|one, next| one.scene == next.scene).collect();
    let name = |group: &[Row<'_>]| scenes[group[0].scene].title.as_str();
    let (title, titled) = match groups.as_slice() {
        // As in the charts of a capture.
        [alone] => (format!("Fairness by pair – {}", name(alone)), 0),
        _ => ("Fairness by pair".to_owned(), groups.len()),
    };
    let (names, shared) = apart(rows.iter().flat_map(|row| [&row.a.name, &row.b.name]));
    let (names, _) = names.as_chunks::<2>();
    let width = |name: &str| text_width(name, LABEL).min(NAMES_MAX * style.size.width());
    let (left, right) = names
        .iter()
        .fold((0.0_f64, 0.0_f64), |(left, right), [a, b]| {
            (left.max(width(a)), right.max(width(b)))
        });
    let height = titled as f64 * GROUP + rows.len() as f64 * room.height;
    let mut canvas = Canvas::new(style, 0.0);
    let subtitle = subtitle(rows.len(), total, momentary, shared);
    let legend = [
        (Swatch::Bar(A), "A sent more".to_owned()),
        (Swatch::Bar(B), "B sent more".to_owned()),
    ];
    let top = header(&mut canvas, &title, &subtitle, &legend) + 6.0;
    let title = "fness (−1: A alone … 0: even … +1: B alone)".to_owned();
    let x = Axis {
        title,
        ..Axis::linear(Quantity::FNESS, -1.0, 1.0, 4)
    };
    let bottom = top + HEADING + height + 12.0;
    canvas.height = (bottom + X_AXIS_HEIGHT + 16.0).ceil();
    let panel = Panel {
        rim: MARGIN,
        left: MARGIN + left + 20.0,
        top: top + HEADING,
        right: canvas.width - MARGIN - right - 20.0,
        bottom,
        x,
        y: Axis::tight(Quantity::FNESS, 0.0, 1.0, 1),
    };
    draw_grid(&mut canvas, &panel);
    let heading = baseline(top + HEADING / 2.0, AXIS_TITLE);
    canvas.text((panel.left - 16.0, heading), "A", AXIS_TITLE, Align::Right);
    canvas.text((panel.right + 16.0, heading), "B", AXIS_TITLE, Align::Left);
    let mut y = panel.top;
    let mut names = names.iter();
    for group in groups {
        if titled > 0 {
            draw_capture(&mut canvas, name(group), y);
            y += GROUP;
        }
        for (row, [a, b]) in group.iter().zip(names.by_ref()) {
            let (a, b) = (shorten(a, LABEL, left), shorten(b, LABEL, right));
            draw_row(&mut canvas, &panel, row.fness, [&a, &b], (y, room));
            y += room.height;
        }
    }
    canvas
}

/// A fness as it stands beside its mark.
pub(super) fn in_words(fness: f64) -> String {
    let sign = if fness < -0.005 { "−" } else { "" };
    format!("{sign}{:.2}", fness.abs())
}

/// How many pairs are drawn of all, and the end that all flows share.
fn subtitle(drawn: usize, total: usize, momentary: usize, shared: Option<String>) -> String {
    let pairs = count(drawn, "pair");
    let which = match total - drawn {
        0 => format!("n = {pairs} of flows over 1 % of the largest"),
        more => format!(
            "n = {pairs} of the largest flows · {} not drawn",
            count(more, "pair")
        ),
    };
    let which = match momentary {
        0 => which,
        _ => format!(
            "{which} · without {} together for less than a round trip",
            count(momentary, "pair")
        ),
    };
    match shared {
        Some(end) => format!("{which} · {end}"),
        None => which,
    }
}

/// Draws a pair below a height.
fn draw_row(
    canvas: &mut Canvas,
    panel: &Panel,
    fness: f64,
    [a, b]: [&str; 2],
    (top, room): (f64, Room),
) {
    let (y, half) = (top + room.height / 2.0, room.half_bar());
    let base = baseline(y, LABEL);
    canvas.text((panel.left - 16.0, base), a, LABEL, Align::Right);
    canvas.text((panel.right + 16.0, base), b, LABEL, Align::Left);
    let ((zero, _), (end, _)) = (panel.at(0.0, 0.0), panel.at(fness, 0.0));
    if fness < 0.0 {
        canvas.rect((end.min(zero - 3.0), y - half), (zero, y + half), A);
    } else {
        canvas.rect((zero, y - half), (end.max(zero + 3.0), y + half), B);
    }
    let text = in_words(fness);
    // On the side where the bar is not.
    let (x, align) = if fness < 0.0 {
        (zero + 12.0, Align::Left)
    } else {
        (zero - 12.0, Align::Right)
    };
    canvas.text((x, base), &text, LABEL, align);
}
