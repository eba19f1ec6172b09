//! The time-sequence graph of a capture's largest flow: the whole stream, and below it the same
//! with the cumulative ACK as zero, which shows at any length what a few round trips look like.

use crate::observe::{Mark, MarkKind, TimeSequence};
use crate::study::words::Thousands;
use crate::time::CaptureTime;

use super::axis::{Axis, Quantity, grouped};
use super::canvas::{Canvas, Stroke};
use super::choice::{NamedFlow, Scene};
use super::frame::{Panel, ROOM_MIN, X_AXIS_HEIGHT, Y_TITLE_HEIGHT, header};
use super::legend::Swatch;
use super::palette::{Colour, Marker};
use super::style::Size;

pub(super) const DATA: Colour = Colour::BLUE;
const ACK: Stroke = Stroke::solid(Colour::BLACK, 2.0);
const WINDOW: Stroke = Stroke::solid(Colour::GREY, 2.0);

/// Marks of one kind of which each is drawn smaller, to leave the others to be seen.
const MANY: usize = 200;

/// How each kind of mark looks: colour, shape, or none for a plain bar; in the order they cover
/// each other.
const MARKS: [(MarkKind, &str, Colour, Option<Marker>); 7] = [
    (MarkKind::Sacked, "SACK block", Colour::PURPLE, None),
    (
        MarkKind::Reordered,
        "reordered",
        Colour::SKY,
        Some(Marker::Disc),
    ),
    (MarkKind::Hole, "hole", Colour::ORANGE, None),
    (
        MarkKind::Undecided,
        "copy, or undecided",
        Colour::BROWN,
        Some(Marker::Plus),
    ),
    (
        MarkKind::Unneeded,
        "retransmission, unneeded",
        Colour::GREEN,
        Some(Marker::Ring),
    ),
    (
        MarkKind::LostUpstream,
        "retransmission, lost upstream",
        Colour::ORANGE,
        Some(Marker::Up),
    ),
    (
        MarkKind::LostDownstream,
        "retransmission, lost downstream",
        Colour::VERMILLION,
        Some(Marker::Cross),
    ),
];

/// The graph; none where no flow kept its time sequence.
pub(super) fn draw(scene: &Scene<'_>) -> Option<Canvas> {
    // Each part of the capture kept its largest flow's: the first found is that of the largest.
    let (flow, sequence) = scene
        .flows
        .iter()
        .find_map(|flow| Some((flow, flow.flow.record.time_sequence()?)))?;
    let handshake = flow.flow.connection().handshake();
    let opening = handshake.opening(flow.flow.dir());
    let trace = Trace::of(sequence, scene.capture.origin, opening.is_some())?;
    let height = scene.style.size.height() * 4.0 / 3.0;
    let mut canvas = Canvas::new(scene.style, height);
    let top = header(
        &mut canvas,
        &format!("Time sequence – {}", scene.title),
        &subtitle(flow, sequence),
        &legend(sequence, &trace),
    );
    let x = trace.time_axis(scene.style.size);
    // A long legend takes nothing from the panels.
    let has_acks = trace.points.iter().any(|point| point.ack.is_some());
    // A slide has a height, and room for panels beside each other.
    let is_wide = scene.style.size == Size::Slide;
    canvas.height = if has_acks && !is_wide {
        height.max((top + 0.9 * scene.style.size.height()).ceil())
    } else {
        // Nothing to be ahead of, or that beside it.
        let least = top + Y_TITLE_HEIGHT + ROOM_MIN + X_AXIS_HEIGHT + 16.0;
        scene.style.size.height().max(least)
    };
    let height = canvas.height;
    let half = if has_acks && !is_wide {
        top + (height - top) * 0.52
    } else {
        height - 16.0
    };
    let ticks_max = if scene.style.size == Size::TwoColumns {
        7
    } else {
        4
    };
    let y = Axis::linear(Quantity::OFFSET, trace.low, trace.high, ticks_max);
    let whole = Panel::between(&canvas, top, half, x.clone(), y);
    if !has_acks {
        whole.draw_back(&mut canvas);
        trace.draw(&mut canvas, &whole, sequence, Zero::Beginning);
        return Some(canvas);
    }
    let (low, high) = trace.ahead_range(sequence);
    let y = Axis::linear(Quantity::AHEAD, low, high, ticks_max);
    let panels = if is_wide {
        let ahead = Panel::between(&canvas, top, half, x, y);
        whole.beside(ahead, &canvas)
    } else {
        let ahead = Panel::between(&canvas, half + 10.0, height - 16.0, x, y);
        let left = whole.left.max(ahead.left);
        [whole, ahead].map(|panel| Panel { left, ..panel })
    };
    for (panel, zero) in panels.into_iter().zip([Zero::Beginning, Zero::Acked]) {
        panel.draw_back(&mut canvas);
        trace.draw(&mut canvas, &panel, sequence, zero);
    }
    Some(canvas)
}

fn subtitle(flow: &NamedFlow<'_>, sequence: &TimeSequence) -> String {
    let payload = Quantity::OFFSET.format(flow.payload as f64);
    let packets = flow.flow.summary().data_packets;
    // Below a microsecond or two every packet has a slot of its own.
    let slots = if sequence.slot_ns() > 2_000 {
        format!(
            " · smallest and largest of each {}",
            Quantity::RTT.format(sequence.slot_ns() as f64 / 1e9)
        )
    } else {
        String::new()
    };
    let acks = if sequence.slots().all(|(_, slot)| slot.ack().is_none()) {
        " · no ACK was seen"
    } else {
        ""
    };
    format!(
        "{}, the largest flow · {payload} in {}{acks}{slots}",
        flow.name,
        Thousands::Thin.counted(packets, "data packet")
    )
}

/// Only what occurs; retransmissions and late originals with their number.
fn legend(sequence: &TimeSequence, trace: &Trace) -> Vec<(Swatch, String)> {
    let mut entries = vec![(Swatch::Tick(DATA, 3.0), "data".to_owned())];
    if trace.points.iter().any(|point| point.ack.is_some()) {
        entries.push((Swatch::Stroke(ACK), "cumulative ACK".to_owned()));
    }
    if trace.points.iter().any(|point| point.window.is_some()) {
        entries.push((Swatch::Stroke(WINDOW), "window edge".to_owned()));
    }
    for (kind, name, colour, marker) in MARKS {
        let total: u64 = marks(sequence)
            .filter(|mark| mark.kind == kind)
            .map(|mark| u64::from(mark.count))
            .sum();
        if total > 0 {
            let swatch = marker.map_or(
                Swatch::Tick(colour, if kind == MarkKind::Sacked { 7.0 } else { 3.0 }),
                |marker| Swatch::Mark(marker, colour),
            );
            entries.push((swatch, format!("{name} ({})", grouped(total))));
        }
    }
    entries
}

fn marks(sequence: &TimeSequence) -> impl Iterator<Item = &Mark> {
    sequence.parts().iter().chain(sequence.anomalies())
}

/// Where bytes are counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Zero {
    /// The first one of the stream.
    Beginning,
    /// The cumulative ACK.
    Acked,
}

/// One slot, in seconds and bytes.
#[derive(Clone, Copy, Debug)]
struct TracePoint {
    at_s: f64,
    data: Option<(f64, f64)>,
    ack: Option<(f64, f64)>,
    window: Option<(f64, f64)>,
    /// The cumulative ACK as the slot ends, and as it begins.
    una: Option<f64>,
    una_before: Option<f64>,
}

/// Where the first ACK that was seen passed in a slot, the cumulative ACK as the slot began: below that one, and not
/// above what passed there, since nothing is acknowledged before it is sent.
fn una_before_first(ack: Option<(f64, f64)>, data: Option<(f64, f64)>) -> Option<f64> {
    let (first, _) = ack?;
    Some(data.map_or(first, |(start, _)| first.min(start)))
}

impl TracePoint {
    /// How far its data is ahead of the cumulative ACK. What passes first in a slot is told from the ACK as
    /// the slot begins, what passes last from that as it ends: a slot may be longer than a round trip.
    fn ahead(&self) -> Option<(f64, f64)> {
        let (start, end) = self.data?;
        let first = start - self.una_before?;
        let last = end - self.una?;
        Some((first.min(last), first.max(last)))
    }
}

/// What is drawn, and its extent.
struct Trace {
    origin: CaptureTime,
    points: Vec<TracePoint>,
    start_s: f64,
    end_s: f64,
    low: f64,
    high: f64,
}

impl Trace {
    /// Where the beginning was seen, nothing is acknowledged before the first ACK of data.
    fn of(sequence: &TimeSequence, origin: CaptureTime, from_start: bool) -> Option<Self> {
        let mut una = from_start.then_some(0.0);
        let points: Vec<TracePoint> = sequence
            .slots()
            .map(|(at, slot)| {
                let pair = |reach: crate::observe::Reach| (reach.min as f64, reach.max as f64);
                let (ack, data) = (slot.ack().map(pair), slot.data().map(pair));
                let una_before = una.or_else(|| una_before_first(ack, data));
                una = ack.map_or(una, |(_, last)| Some(last));
                TracePoint {
                    at_s: seconds(at, origin),
                    data,
                    ack,
                    window: slot.window().map(pair),
                    una,
                    una_before,
                }
            })
            .collect();
        let data = || {
            let marks = marks(sequence).map(|mark| (mark.start as f64, mark.end as f64));
            points.iter().filter_map(|point| point.data).chain(marks)
        };
        let high = data().map(|(_, end)| end).fold(f64::NEG_INFINITY, f64::max);
        let low = data().map(|(start, _)| start).fold(f64::INFINITY, f64::min);
        // The window before and after the data is of no interest.
        let active = points
            .iter()
            .filter(|point| point.data.is_some() || point.ack.is_some())
            .map(|point| point.at_s)
            .chain(marks(sequence).map(|mark| seconds(mark.at, origin)));
        let (start_s, end_s) = active
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(start, end), at| {
                (start.min(at), end.max(at))
            });
        // From the first packet on, unless nothing was sent for long.
        let start_s = if start_s < 0.25 * end_s {
            start_s.min(0.0)
        } else {
            start_s
        };
        (high > low && start_s.is_finite()).then(|| Self {
            origin,
            start_s,
            end_s,
            low: low.min(0.0),
            high,
            points,
        })
    }

    fn time_axis(&self, size: Size) -> Axis {
        // A single packet takes no time: half a millisecond about it, but none before the first packet of all.
        let (start_s, end_s) = if self.end_s > self.start_s {
            (self.start_s, self.end_s)
        } else {
            ((self.start_s - 5e-4).max(0.0), self.start_s + 5e-4)
        };
        Axis::of_time(start_s, end_s, size.ticks_across(1.0))
    }

    /// The range of the lower panel: all data, and the window where it is not far beyond.
    fn ahead_range(&self, sequence: &TimeSequence) -> (f64, f64) {
        let (mut low, mut high) = (0.0_f64, 1.0_f64);
        for point in &self.points {
            if let Some((start, end)) = point.ahead() {
                low = low.min(start);
                high = high.max(end);
            }
        }
        for mark in marks(sequence) {
            if let Some(una) = self.una_at(mark.at) {
                low = low.min(mark.start as f64 - una);
                high = high.max(mark.end as f64 - una);
            }
        }
        // An ACK and a data packet in one slot make the latter look late by a little.
        let low = if low > -0.05 * high { 0.0 } else { low };
        let window = self.common_window().filter(|&window| window < 3.0 * high);
        (low, window.map_or(high, |window| window.max(high)))
    }

    /// The window that nine of ten ACKs do not exceed, ahead of the cumulative ACK.
    fn common_window(&self) -> Option<f64> {
        let mut windows: Vec<f64> = self
            .points
            .iter()
            .filter_map(|point| Some(point.window?.1 - point.una?))
            .collect();
        windows.sort_by(f64::total_cmp);
        windows.get(windows.len() * 9 / 10).copied()
    }

    /// The cumulative ACK as the slot of an instant begins.
    fn una_at(&self, at: CaptureTime) -> Option<f64> {
        let at_s = seconds(at, self.origin);
        let after = self.points.partition_point(|point| point.at_s <= at_s);
        self.points[..after].last()?.una_before
    }

    fn draw(&self, canvas: &mut Canvas, panel: &Panel, sequence: &TimeSequence, zero: Zero) {
        self.draw_window(canvas, panel, zero);
        self.draw_ack(canvas, panel, zero);
        // SACK follows the data so closely that either would hide the other; so it is a wide bar behind. So do late
        // originals, where there are many.
        let (behind, before) = MARKS.split_at(2);
        self.draw_marks(canvas, panel, sequence, zero, behind);
        for point in &self.points {
            let data = match zero {
                Zero::Beginning => point.data,
                Zero::Acked => point.ahead(),
            };
            if let Some(data) = data {
                bar(canvas, panel, point.at_s, data, 2.0, DATA);
            }
        }
        self.draw_marks(canvas, panel, sequence, zero, before);
    }

    fn draw_marks(
        &self,
        canvas: &mut Canvas,
        panel: &Panel,
        sequence: &TimeSequence,
        zero: Zero,
        styles: &[(MarkKind, &str, Colour, Option<Marker>)],
    ) {
        for &(kind, _, colour, marker) in styles {
            let width = match (kind, marker) {
                (MarkKind::Sacked, _) => 7.0,
                (_, None) => 3.0,
                (_, Some(_)) => 2.0,
            };
            let of_kind = || marks(sequence).filter(|mark| mark.kind == kind);
            let size = if of_kind().count() > MANY { 3.5 } else { 5.0 };
            for mark in of_kind() {
                let from = match zero {
                    Zero::Beginning => Some(0.0),
                    Zero::Acked => self.una_at(mark.at),
                };
                let Some(from) = from else {
                    continue;
                };
                let at_s = seconds(mark.at, self.origin);
                let (start, end) = (mark.start as f64 - from, mark.end as f64 - from);
                bar(canvas, panel, at_s, (start, end), width, colour);
                if let Some(marker) = marker {
                    canvas.marker(
                        panel.at(at_s, f64::midpoint(start, end)),
                        size,
                        marker,
                        colour,
                    );
                }
            }
        }
    }

    /// A step at each ACK: nothing is acknowledged between two of them.
    fn draw_ack(&self, canvas: &mut Canvas, panel: &Panel, zero: Zero) {
        if zero == Zero::Acked {
            canvas.line(
                &[panel.at(self.start_s, 0.0), panel.at(self.end_s, 0.0)],
                ACK,
            );
            return;
        }
        let mut points = Vec::new();
        let mut last: Option<f64> = None;
        for point in &self.points {
            let Some((low, high)) = point.ack else {
                continue;
            };
            points.push(panel.at(point.at_s, last.unwrap_or(low)));
            points.push(panel.at(point.at_s, high));
            last = Some(high);
        }
        if let (Some(last), false) = (last, points.is_empty()) {
            points.push(panel.at(self.end_s, last));
        }
        points.dedup();
        canvas.line(&points, ACK);
    }

    fn draw_window(&self, canvas: &mut Canvas, panel: &Panel, zero: Zero) {
        if zero == Zero::Acked
            && self
                .common_window()
                .is_some_and(|window| window > panel.y.max)
        {
            return;
        }
        let mut run = Vec::new();
        let mut last: Option<f64> = None;
        for point in self
            .points
            .iter()
            .filter(|point| point.at_s >= self.start_s && point.at_s <= self.end_s)
        {
            let from = match zero {
                Zero::Beginning => Some(0.0),
                Zero::Acked => point.una,
            };
            let value = point
                .window
                .map(|(_, edge)| edge)
                .or(last)
                .zip(from)
                .map(|(edge, from)| edge - from);
            last = point.window.map(|(_, edge)| edge).or(last);
            // Where the window is beyond the panel, the line has a gap rather than a false value.
            match value.filter(|&value| value <= panel.y.max && value >= panel.y.min) {
                Some(value) => {
                    // A step: the edge stays where it is between two ACKs.
                    let here = panel.at(point.at_s, value);
                    if let Some(&(_, before)) = run.last() {
                        run.push((here.0, before));
                    }
                    run.push(here);
                }
                None => {
                    canvas.line(&std::mem::take(&mut run), WINDOW);
                }
            }
        }
        canvas.line(&run, WINDOW);
    }
}

/// A vertical bar, at least as high as it is wide.
fn bar(
    canvas: &mut Canvas,
    panel: &Panel,
    at_s: f64,
    (start, end): (f64, f64),
    width: f64,
    colour: Colour,
) {
    let ((x, low), (_, high)) = (panel.at(at_s, start), panel.at(at_s, end));
    let (low, high) = if low - high < 2.0 {
        (
            f64::midpoint(low, high) + 1.0,
            f64::midpoint(low, high) - 1.0,
        )
    } else {
        (low, high)
    };
    canvas.rect((x - width / 2.0, high), (x + width / 2.0, low), colour);
}

fn seconds(at: CaptureTime, origin: CaptureTime) -> f64 {
    at.since(origin) as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{DataArrival, Verdict};

    #[test]
    fn data_is_ahead_by_what_is_in_flight_however_long_a_slot_is() {
        // 40 kB pass in the slot and are acknowledged, with 2 kB in flight as it begins and 3 kB as it ends.
        let point = TracePoint {
            at_s: 0.0,
            data: Some((2e3, 43e3)),
            ack: Some((1e3, 40e3)),
            window: None,
            una: Some(40e3),
            una_before: Some(0.0),
        };
        assert_eq!(point.ahead(), Some((2e3, 3e3)));
    }

    #[test]
    fn before_the_first_ack_that_is_seen_no_data_is_behind_it() {
        // In mid-flow, in one slot of a microsecond: 1000 bytes at a time, each acknowledged before the next.
        let mut sequence = TimeSequence::new(CaptureTime::from_ns(0));
        for (at, offset) in [(0, 0), (10, 1000), (20, 2000)] {
            let at = CaptureTime::from_ns(at);
            sequence.on_data(&DataArrival {
                ordinal: 0,
                at,
                offset,
                payload_len: 1000,
                unique_len: 1000,
                repeated_len: 0,
                in_flight_bytes: None,
                verdict: Verdict::NEW,
                extent: None,
            });
            sequence.on_ack(at.plus_ns(5), offset + 1000);
        }
        let trace = Trace::of(&sequence, CaptureTime::from_ns(0), false).unwrap();
        let [point] = trace.points.as_slice() else {
            panic!("{:?}", trace.points);
        };
        assert_eq!(point.ahead(), Some((0.0, 0.0)));
    }
}
