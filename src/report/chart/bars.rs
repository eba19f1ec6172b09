//! Flows side by side: goodput, overhead, RTT.

use super::ChartOptions;
use super::axis::{Axis, Quantity, significant};
use super::canvas::{Align, Canvas, Stroke};
use super::choice::{NamedFlow, Scene};
use super::fit::{shorten, shorten_apart};
use super::font::text_width;
use super::frame::{Panel, X_AXIS_HEIGHT, header};
use super::label::{count, joined};
use super::legend::Swatch;
use super::letters::{AXIS_TITLE, LABEL, MARGIN, baseline};
use super::palette::{Colour, Marker};
use super::rows::{GROUP, Room, fitted};
use super::selection::{Candidate, Selection};
use super::style::Style;

/// The widest that names may get, as a share of the width.
const NAMES_MAX: f64 = 0.35;

/// The least that what is drawn gets where it would get more beside briefer texts, as a share of the width.
const PANEL_MIN: f64 = 0.3;

/// The most ticks of the horizontal axis, which has about half of the width.
fn ticks(style: Style) -> usize {
    style.size.ticks_across(0.55)
}

/// One row: what is drawn and written for a flow.
#[derive(Clone, Debug, PartialEq)]
struct Bar {
    name: String,
    /// From and to.
    range: (f64, f64),
    /// A point between them.
    mean: Option<f64>,
    /// Written beside it.
    text: String,
    /// Written where that leaves no room for what is drawn.
    brief: Option<String>,
}

/// The rows of one capture.
#[derive(Clone, Debug, PartialEq)]
struct Group {
    /// Empty where its bar has the capture's name.
    title: String,
    bars: Vec<Bar>,
}

/// The rows of a chart, and how many flows have none.
struct Rows {
    groups: Vec<Group>,
    captures: usize,
    note: String,
    n: usize,
}

impl Rows {
    /// Flows of the run that have a value, by capture, those that shared a link first; `bar` makes a row of it.
    fn of<V>(
        scenes: &[Scene<'_>],
        rows_max: usize,
        value: impl Fn(&NamedFlow<'_>) -> Option<V>,
        bar: impl Fn(&NamedFlow<'_>, V) -> Bar,
    ) -> Self {
        let mut without = 0;
        let mut found: Vec<Vec<(&NamedFlow<'_>, V)>> = Vec::new();
        for scene in scenes {
            let flows = scene.flows.iter().chain(scene.starved());
            let (all, with) = flows.fold((0, Vec::new()), |(all, mut with), flow| {
                with.extend(value(flow).map(|value| (flow, value)));
                (all + 1, with)
            });
            without += all - with.len();
            found.push(with);
        }
        let candidates = found.iter().map(|flows| {
            let candidate = |&(flow, _): &(&NamedFlow<'_>, V)| Candidate {
                payload: flow.payload,
                span_ns: flow.values.span_ns,
            };
            flows.iter().map(candidate).collect()
        });
        let candidates: Vec<Vec<Candidate>> = candidates.collect();
        let selection = Selection::of(&candidates, rows_max);
        let mut groups: Vec<Group> = Vec::new();
        for ((scene, flows), chosen) in scenes.iter().zip(found).zip(&selection.chosen) {
            let chosen = flows
                .into_iter()
                .enumerate()
                .filter(|(place, _)| chosen.binary_search(place).is_ok());
            let mut chosen: Vec<(&NamedFlow<'_>, V)> = chosen.map(|(_, flow)| flow).collect();
            // In the order of their first packets.
            chosen.sort_by_key(|(flow, _)| flow.place);
            if !chosen.is_empty() {
                groups.push(Group {
                    title: scene.title.clone(),
                    bars: chosen
                        .into_iter()
                        .map(|(flow, value)| bar(flow, value))
                        .collect(),
                });
            }
        }
        let n = groups.iter().map(|group| group.bars.len()).sum();
        let small = |scene: &Scene<'_>| scene.small.len() - scene.starved().count();
        let small = scenes.iter().map(small).sum();
        let captures = groups.len();
        let alike = name_by_capture(&mut groups);
        Self {
            groups,
            captures,
            note: joined(&[alike, selection.left_out(small), without_any(without)]),
            n,
        }
    }

    fn bars(&self) -> impl Iterator<Item = &Bar> {
        self.groups.iter().flat_map(|group| &group.bars)
    }

    /// Names no wider than this.
    fn shorten_names(&mut self, width: f64) {
        let names: Vec<&str> = self.bars().map(|bar| bar.name.as_str()).collect();
        let short = shorten_apart(&names, LABEL, width);
        let bars = self.groups.iter_mut().flat_map(|group| &mut group.bars);
        for (bar, name) in bars.zip(short) {
            bar.name = name;
        }
    }

    fn texts_width(&self) -> f64 {
        let widths = self.bars().map(|bar| text_width(&bar.text, LABEL));
        widths.fold(0.0, f64::max)
    }

    /// Takes the briefer texts, if all have one.
    fn take_brief(&mut self) -> bool {
        let have_all = self.bars().all(|bar| bar.brief.is_some());
        let bars = self.groups.iter_mut().flat_map(|group| &mut group.bars);
        for bar in bars.filter(|_| have_all) {
            bar.text = bar.brief.take().unwrap_or_default();
        }
        have_all
    }

    fn extent(&self) -> Option<(f64, f64)> {
        let min = self.bars().map(|bar| bar.range.0).reduce(f64::min)?;
        Some((min, self.bars().map(|bar| bar.range.1).reduce(f64::max)?))
    }

    fn subtitle(&self) -> String {
        let captures = count(self.captures, "capture");
        let n = format!("n = {} in {captures}", count(self.n, "flow"));
        if self.note.is_empty() {
            n
        } else {
            format!("{n} · {}", self.note)
        }
    }
}

/// Of captures with a flow each the captures are compared: they name the bars. What all these flows are called is
/// returned, if it is one name.
fn name_by_capture(groups: &mut [Group]) -> String {
    let alone = groups.iter().all(|group| group.bars.len() == 1);
    if groups.len() < 2 || !alone {
        return String::new();
    }
    let mut names = Vec::new();
    for group in groups {
        let title = std::mem::take(&mut group.title);
        names.push(std::mem::replace(&mut group.bars[0].name, title));
    }
    names.dedup();
    match names.as_slice() {
        [name] => format!("{name} each"),
        _ => String::new(),
    }
}

/// That some flows have no such value, as one that is never acknowledged has no goodput.
fn without_any(flows: usize) -> String {
    match flows {
        0 => String::new(),
        1 => "1 flow has none".to_owned(),
        flows => format!("{flows} flows have none"),
    }
}

/// Goodput of each flow. None without any.
pub(super) fn goodput(scenes: &[Scene<'_>], options: &ChartOptions) -> Option<Canvas> {
    let style = options.style;
    fitted(style, |room| goodput_in(scenes, options, room))
}

fn goodput_in(scenes: &[Scene<'_>], options: &ChartOptions, room: Room) -> Option<Canvas> {
    let style = options.style;
    let mut rows = Rows::of(
        scenes,
        room.rows,
        |flow| flow.values.goodput_bps,
        |flow, bps| Bar {
            name: flow.name.to_string(),
            range: (0.0, bps),
            mean: None,
            text: Quantity::GOODPUT.format(bps),
            brief: None,
        },
    );
    let (_, max) = rows.extent()?;
    let (capacity, note) = options.capacity_beside(max);
    rows.note = joined(&[rows.note, note]);
    let most = capacity.as_ref().map_or(max, |&(bps, _)| bps.max(max));
    let x = Axis::linear(Quantity::GOODPUT, 0.0, most, ticks(style));
    let stroke = Stroke::dashed(Colour::INK, 2.5);
    let reference = capacity.as_ref().map(|&(bps, _)| (bps, stroke));
    let legend: Vec<(Swatch, String)> = capacity
        .into_iter()
        .map(|(_, name)| (Swatch::Stroke(stroke), name))
        .collect();
    let figure = Figure {
        title: "Goodput by flow",
        brief: "Goodput by flow",
        legend: &legend,
        x,
        reference,
    };
    Some(figure.draw(style, rows, room))
}

/// Overhead of each flow, in percent. None without any.
pub(super) fn overhead(scenes: &[Scene<'_>], style: Style) -> Option<Canvas> {
    fitted(style, |room| overhead_in(scenes, style, room))
}

fn overhead_in(scenes: &[Scene<'_>], style: Style, room: Room) -> Option<Canvas> {
    let mut rows = Rows::of(
        scenes,
        room.rows,
        |flow| flow.values.overhead,
        |flow, overhead| Bar {
            name: flow.name.to_string(),
            range: (overhead.min(0.0), overhead.max(0.0)),
            mean: None,
            text: Quantity::OVERHEAD.format(overhead),
            brief: None,
        },
    );
    let (min, max) = rows.extent()?;
    if (scenes.iter()).any(|scene| scene.capture.quality().super_segments > 0) {
        let merged = "of merged frames (offload) with the headers of each packet on the wire";
        rows.note = joined(&[rows.note, merged.to_owned()]);
    }
    let x = Axis::linear(Quantity::OVERHEAD, min, max.max(0.001), ticks(style));
    let figure = Figure {
        title: "Overhead by flow",
        brief: "Overhead by flow",
        legend: &[],
        x,
        reference: None,
    };
    Some(figure.draw(style, rows, room))
}

/// RTT of each flow: smallest, mean, largest. None without samples.
pub(super) fn rtt(scenes: &[Scene<'_>], style: Style) -> Option<Canvas> {
    fitted(style, |room| rtt_in(scenes, style, room))
}

fn rtt_in(scenes: &[Scene<'_>], style: Style, room: Room) -> Option<Canvas> {
    let seconds = |flow: &NamedFlow<'_>| flow.values.rtt_s;
    let rows = Rows::of(scenes, room.rows, seconds, |flow, values| {
        let [min, mean, max] = values;
        let (unit, size) = Quantity::RTT.unit(min);
        let text = if Quantity::RTT.unit(max) == (unit, size) {
            let [low, middle, high] = values.map(|value| significant(value / size));
            format!("{low} · {middle} · {high} {unit}")
        } else {
            values.map(|value| Quantity::RTT.format(value)).join(" · ")
        };
        Bar {
            name: flow.name.to_string(),
            range: (min, max),
            mean: Some(mean),
            text,
            brief: Some(Quantity::RTT.format(mean)),
        }
    });
    let (min, max) = rows.extent()?;
    let values = rows
        .bars()
        .flat_map(|bar| [bar.range.0, bar.mean.unwrap_or(0.0), bar.range.1]);
    let means = rows.bars().filter_map(|bar| bar.mean);
    let middle = means.reduce(f64::min);
    let x = Axis::for_ranges(Quantity::RTT, (min, max), values, middle, ticks(style));
    let legend = [
        (Swatch::Bar(RANGE), "smallest to largest".to_owned()),
        (
            Swatch::Mark(Marker::Diamond, Colour::INK),
            "mean".to_owned(),
        ),
    ];
    let figure = Figure {
        title: "RTT by flow (smallest · mean · largest)",
        brief: "RTT by flow (mean)",
        legend: &legend,
        x,
        reference: None,
    };
    Some(figure.draw(style, rows, room))
}

const FULL: Colour = Colour::BLUE;
const RANGE: Colour = Colour::SKY;

/// What is around rows.
struct Figure<'a> {
    title: &'a str,
    /// With the briefer texts of rows.
    brief: &'a str,
    legend: &'a [(Swatch, String)],
    x: Axis,
    /// A value that all are compared with, and its line.
    reference: Option<(f64, Stroke)>,
}

impl Figure<'_> {
    /// Draws rows below each other.
    fn draw(self, style: Style, mut rows: Rows, room: Room) -> Canvas {
        let names = rows
            .bars()
            .map(|bar| text_width(&bar.name, LABEL))
            .fold(0.0, f64::max)
            .min(NAMES_MAX * style.size.width());
        rows.shorten_names(names);
        let left = MARGIN + names + 18.0;
        let right = |rows: &Rows| style.size.width() - MARGIN - rows.texts_width() - 16.0;
        let is_narrow = right(&rows) - left < PANEL_MIN * style.size.width();
        let title = if is_narrow && rows.take_brief() {
            self.brief
        } else {
            self.title
        };
        let title = match rows.groups.as_mut_slice() {
            // As in the charts of a capture.
            [alone] => format!("{title} – {}", std::mem::take(&mut alone.title)),
            _ => title.to_owned(),
        };
        let titled = rows.groups.iter().filter(|group| !group.title.is_empty());
        let height = titled.count() as f64 * GROUP + rows.n as f64 * room.height;
        let mut canvas = Canvas::new(style, 0.0);
        let top = header(&mut canvas, &title, &rows.subtitle(), self.legend) + 6.0;
        canvas.height = (top + height + 12.0 + X_AXIS_HEIGHT + 16.0).ceil();
        let panel = Panel {
            rim: MARGIN,
            left,
            top,
            right: right(&rows),
            bottom: top + height + 12.0,
            x: self.x,
            y: Axis::tight(Quantity::FNESS, 0.0, 1.0, 1),
        };
        draw_grid(&mut canvas, &panel);
        if let Some((value, stroke)) = self.reference {
            let (x, _) = panel.at(value, 0.0);
            canvas.line(&[(x, panel.top), (x, panel.bottom)], stroke);
        }
        let mut y = top;
        for group in &rows.groups {
            if !group.title.is_empty() {
                draw_capture(&mut canvas, &group.title, y);
                y += GROUP;
            }
            for bar in &group.bars {
                draw_bar(&mut canvas, &panel, bar, (y, room));
                y += room.height;
            }
        }
        canvas
    }
}

/// The name of a capture above its bars.
pub(super) fn draw_capture(canvas: &mut Canvas, title: &str, y: f64) {
    let title = shorten(title, AXIS_TITLE, canvas.width - 2.0 * MARGIN);
    // It must not be crossed by the grid, nor may the ends of its lines stand out.
    canvas.rect(
        (MARGIN, y - 2.0),
        (MARGIN + text_width(&title, AXIS_TITLE) + 10.0, y + GROUP),
        Colour::WHITE,
    );
    canvas.text(
        (MARGIN, baseline(y + GROUP / 2.0 + 4.0, AXIS_TITLE)),
        &title,
        AXIS_TITLE,
        Align::Left,
    );
}

/// Draws a bar below a height.
fn draw_bar(canvas: &mut Canvas, panel: &Panel, bar: &Bar, (top, room): (f64, Room)) {
    let (y, half) = (top + room.height / 2.0, room.half_bar());
    canvas.text(
        (panel.left - 14.0, baseline(y, LABEL)),
        &bar.name,
        LABEL,
        Align::Right,
    );
    let ((from, _), (to, _)) = (panel.at(bar.range.0, 0.0), panel.at(bar.range.1, 0.0));
    // What is too small to be seen is still there.
    let to = to.max(from + 2.0);
    if let Some(mean) = bar.mean {
        canvas.rect((from, y - half * 0.6), (to, y + half * 0.6), RANGE);
        canvas.rect((from - 1.5, y - half), (from + 1.5, y + half), FULL);
        canvas.rect((to - 1.5, y - half), (to + 1.5, y + half), FULL);
        let (x, _) = panel.at(mean, 0.0);
        canvas.marker((x, y), 0.67 * half, Marker::Diamond, Colour::INK);
    } else {
        canvas.rect((from, y - half), (to, y + half), FULL);
    }
    canvas.text(
        (canvas.width - MARGIN, baseline(y, LABEL)),
        &bar.text,
        LABEL,
        Align::Right,
    );
}

/// Vertical lines at the ticks of the horizontal axis, and that axis.
pub(super) fn draw_grid(canvas: &mut Canvas, panel: &Panel) {
    for (value, _) in &panel.x.ticks {
        let (x, _) = panel.at(*value, 0.0);
        let stroke = if *value == 0.0 {
            Stroke::solid(Colour::INK, 2.0)
        } else {
            Stroke::solid(Colour::GRID, 1.5)
        };
        canvas.line(&[(x, panel.top), (x, panel.bottom)], stroke);
    }
    panel.draw_x_axis(canvas);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::Size;
    use crate::report::chart::canvas::Shape;

    fn group(title: &str, flows: &[&str]) -> Group {
        let bar = |name: &&str| Bar {
            name: (*name).to_owned(),
            range: (0.0, 1.0),
            mean: None,
            text: "1".to_owned(),
            brief: None,
        };
        Group {
            title: title.to_owned(),
            bars: flows.iter().map(bar).collect(),
        }
    }

    /// The names of IPv6 and round-trip times in several units would leave a fifth of a column to the bars.
    #[test]
    fn where_names_and_numbers_are_long_the_mean_alone_stands_beside_bars() {
        let long = "2.00 µs · 1.62 ms · 15.3 ms";
        for (size, title, text) in [
            (Size::OneColumn, "RTT (mean) – a", "1.62 ms"),
            (Size::TwoColumns, "RTT (all) – a", long),
        ] {
            let mut group = group("a", &["2001:…:7999 → [2001:…:7334]:47200"]);
            group.bars[0].text = long.to_owned();
            group.bars[0].brief = Some("1.62 ms".to_owned());
            let rows = Rows {
                groups: vec![group],
                captures: 1,
                note: String::new(),
                n: 1,
            };
            let figure = Figure {
                title: "RTT (all)",
                brief: "RTT (mean)",
                legend: &[],
                x: Axis::linear(Quantity::RTT, 0.0, 1.0, 3),
                reference: None,
            };
            let style = Style {
                size,
                ..Style::default()
            };
            let room = Room {
                rows: 10,
                height: 38.0,
            };
            let canvas = figure.draw(style, rows, room);
            let texts = canvas.shapes.iter().filter_map(|shape| match shape {
                Shape::Text { text, .. } => Some(text.as_str()),
                _ => None,
            });
            let texts: Vec<&str> = texts.collect();
            assert!(texts.contains(&title) && texts.contains(&text), "{texts:?}");
        }
    }

    #[test]
    fn bars_of_captures_with_a_flow_each_have_the_captures_names() {
        let mut one_each = [group("first", &["a → b"]), group("second", &["a → b"])];
        assert_eq!(name_by_capture(&mut one_each), "a → b each");
        let names = one_each.iter().map(|group| group.bars[0].name.as_str());
        assert!(names.eq(["first", "second"]));
        assert!(one_each.iter().all(|group| group.title.is_empty()));
        let mut others = [group("first", &["a → b"]), group("second", &["c → b"])];
        assert_eq!(name_by_capture(&mut others), "");
        assert_eq!(others[1].bars[0].name, "second");
        for several in [
            vec![group("first", &["a", "b"]), group("second", &["a"])],
            vec![group("alone", &["a"])],
        ] {
            let mut named = several.clone();
            assert_eq!(name_by_capture(&mut named), "");
            assert_eq!(named, several);
        }
    }
}
