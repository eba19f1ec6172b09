//! Axes: where ticks go, in which unit, and what they are called.

mod delays;

use std::ops::RangeInclusive;

use crate::report::digits::to_digits;
use crate::study::words::Thousands;

pub(super) use self::delays::SPREAD;

/// What an axis measures, as a ladder of units: name and size in the base unit, ascending.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// As written beside the axis.
    pub name: &'static str,
    units: &'static [(&'static str, f64)],
}

impl Quantity {
    /// In bits per second.
    pub const GOODPUT: Self = Self::new("Goodput", RATES);
    /// In bits per second.
    pub const THROUGHPUT: Self = Self::new("Throughput", RATES);
    /// In seconds.
    pub const RTT: Self = Self::new("RTT", DELAYS);
    /// In seconds.
    pub const PING: Self = Self::new("Ping RTT", DELAYS);
    /// In seconds.
    pub const QUEUE_DELAY: Self = Self::new("Queueing delay", DELAYS);
    /// In seconds.
    pub const DELAY: Self = Self::new("Delay", DELAYS);
    /// In seconds.
    pub const GAP: Self = Self::new("Time between data packets", DELAYS);
    /// In seconds.
    pub const COMPLETION: Self = Self::new("Completion time", DURATIONS);
    /// In seconds.
    pub const TIME: Self = Self::new(
        "Time since the first packet",
        &[("µs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("h", 3600.0)],
    );
    /// In bytes.
    pub const IN_FLIGHT: Self = Self::new("Bytes in flight", BYTES);
    /// In bytes.
    pub(super) const OFFSET: Self = Self::new("Stream offset", BYTES);
    /// In bytes.
    pub(super) const AHEAD: Self = Self::new("Ahead of the cumulative ACK", BYTES);
    /// In packets.
    pub const RETRANSMISSIONS: Self = Self::new("Retransmissions", PACKETS);
    /// In packets of each bin of time: a mean.
    pub(super) const RETRANSMITTED_A_BIN: Self =
        Self::new("Retransmitted", &[("packets a bin", 1.0)]);
    /// As a ratio.
    pub const RETRANSMISSION_RATE: Self = Self::new("Retransmitted", PERCENT);
    /// As a ratio.
    pub const OVERHEAD: Self = Self::new("Overhead", PERCENT);
    /// As a ratio.
    pub const UTILISATION: Self = Self::new("Utilisation", PERCENT);
    /// As a ratio.
    pub const LOSS: Self = Self::new("Loss", PERCENT);
    /// As a ratio.
    pub const SHARE: Self = Self::new("Share", PERCENT);
    /// Without a unit.
    pub const PLAIN: Self = Self::new("Value", NONE);
    /// Without a unit.
    pub const FNESS: Self = Self::new("fness", NONE);
    /// Without a unit.
    pub const JAIN: Self = Self::new("Jain’s index", NONE);
    /// Without a unit.
    pub const PM: Self = Self::new("Balanced metric Pm", NONE);

    const fn new(name: &'static str, units: &'static [(&'static str, f64)]) -> Self {
        Self { name, units }
    }

    /// The same quantity by another name.
    #[must_use]
    pub const fn called(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Steps of 1, 2 or 5 times a power of ten in its unit; at least 1 where only whole numbers
    /// make sense.
    fn step(&self, range: f64, steps_max: usize) -> f64 {
        let step_min = if self.is_count() { 1.0 } else { 0.0 };
        nice_step(range, steps_max).max(step_min)
    }

    /// The same in one unit, of this size, if there is one.
    pub(super) fn in_unit_of(self, size: f64) -> Self {
        let alike = |(_, of): &(&str, f64)| (of / size - 1.0).abs() < 1e-9;
        match self.units.iter().position(alike) {
            Some(place) => Self {
                units: &self.units[place..=place],
                ..self
            },
            None => self,
        }
    }

    /// Whether it is a rate, of which links differ by decades.
    pub(super) fn is_rate(&self) -> bool {
        self.units == RATES
    }

    /// Whether it is a number of things.
    pub(super) fn is_count(&self) -> bool {
        self.units == PACKETS
    }

    /// Whether it is the time since something, of which one part is as much as another.
    fn is_time(&self) -> bool {
        self.units == Self::TIME.units
    }

    /// Whether it is a delay: then it may spread over decades.
    pub(super) fn is_delay(&self) -> bool {
        self.units == DELAYS || self.units == DURATIONS
    }

    /// The largest unit that `magnitude` reaches, and its size. Hours come in where there are two of them.
    pub(super) fn unit(&self, magnitude: f64) -> (&'static str, f64) {
        let reached = |&&(name, size): &&(&str, f64)| {
            let least = if name == "h" { 2.0 * size } else { size };
            magnitude >= least * (1.0 - 1e-9)
        };
        self.units
            .iter()
            .rev()
            .find(reached)
            .or(self.units.first())
            .copied()
            .unwrap_or(("", 1.0))
    }

    /// Where ticks of a log scale may stand around these values, all in units of `size`, ascending: round numbers of
    /// the unit that they are written in. An hour is no round number of seconds.
    fn log_marks(&self, min: f64, max: f64, size: f64) -> Vec<f64> {
        let wide = (max / min).log10() > 3.5;
        let factors: &[f64] = if wide { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let decades = min.log10().floor() as i32 - 1..=max.log10().ceil() as i32 + 1;
        let marks = |decades: RangeInclusive<i32>, unit: f64| {
            decades.flat_map(move |decade| {
                let mark = move |factor| factor * 10_f64.powi(decade) * (unit / size);
                factors.iter().map(mark)
            })
        };
        let Some(&(_, hour)) = self.units.iter().find(|&&(name, _)| name == "h") else {
            return marks(decades, size).collect();
        };
        // Other units differ by a power of ten.
        let decades = decades.start() - 4..=decades.end() + 4;
        let is_hours = |mark: &f64| self.unit(mark * size).1.total_cmp(&hour).is_eq();
        let below = if size < hour { size } else { 1.0 };
        let below = marks(decades.clone(), below).filter(|mark| !is_hours(mark));
        let hours = marks(decades, hour).filter(is_hours);
        below.chain(hours).collect()
    }

    /// A condition, as somebody set it: like [`format`](Self::format), but `20 ms` and not `20.0 ms`.
    pub(super) fn format_set(&self, value: f64) -> String {
        let (unit, size) = self.unit(value.abs());
        format!("{} {unit}", short(value / size))
            .trim_end()
            .to_owned()
    }

    /// A value with three significant digits and its unit; there are no parts of a byte.
    pub(super) fn format(&self, value: f64) -> String {
        let (unit, size) = self.unit(value.abs());
        let number = match unit {
            "B" => number(value, 0),
            _ => significant(value / size),
        };
        if unit.is_empty() {
            number
        } else {
            format!("{number} {unit}")
        }
    }
}

const RATES: &[(&str, f64)] = &[
    ("bit/s", 1.0),
    ("kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
];

const DELAYS: &[(&str, f64)] = &[("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)];

const DURATIONS: &[(&str, f64)] = &[
    ("ns", 1e-9),
    ("µs", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("h", 3600.0),
];

const PACKETS: &[(&str, f64)] = &[("packets", 1.0)];

const PERCENT: &[(&str, f64)] = &[("%", 0.01)];

const NONE: &[(&str, f64)] = &[("", 1.0)];

const BYTES: &[(&str, f64)] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
];

/// How values become lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Linear,
    Log,
    /// A log scale beside a place of its own for 0, which such a scale has not.
    ZeroAndLog,
}

/// The part of an axis between 0 and where a log scale begins.
const ZERO: f64 = 0.08;

/// One axis, in the base unit of its quantity.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    /// Name and unit, as written beside it.
    pub(super) title: String,
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) scale: Scale,
    /// Values and what is written there.
    pub(super) ticks: Vec<(f64, String)>,
    /// Size of the unit in the title.
    pub(super) unit: f64,
    /// Somebody chose the numbers that are its ticks: each tells something.
    pub(super) is_chosen: bool,
}

impl Axis {
    /// Ticks in steps of 1, 2 or 5, at most `ticks_max` of them. The axis ends on ticks, or where the data ends just
    /// above the last one: for 101 of 100 packets it does not go on to 150.
    pub(super) fn linear(quantity: Quantity, min: f64, max: f64, ticks_max: usize) -> Self {
        Self::linear_in(quantity, min.abs().max(max.abs()), min, max, ticks_max)
    }

    /// The same in the unit that `magnitude` has.
    pub(super) fn linear_in(
        quantity: Quantity,
        magnitude: f64,
        min: f64,
        max: f64,
        ticks_max: usize,
    ) -> Self {
        /// How much of the data may lie above the last tick.
        const ABOVE: f64 = 0.04;
        let on_ticks = |max| Self::on_ticks(quantity, magnitude, (min, max), ticks_max);
        let lower = on_ticks(max - ABOVE * (max - min));
        if max > min && lower.max <= max {
            Self { max, ..lower }
        } else {
            on_ticks(max)
        }
    }

    /// The same for lines, which look cut off where they leave the last tick below: one more, where they still fill most of
    /// the axis.
    pub(super) fn linear_above(quantity: Quantity, min: f64, max: f64, ticks_max: usize) -> Self {
        /// How much of an axis is most of it.
        const FILLED: f64 = 0.8;
        let magnitude = min.abs().max(max.abs());
        let whole = Self::on_ticks(quantity, magnitude, (min, max), ticks_max);
        if max - min >= FILLED * (whole.max - whole.min) {
            whole
        } else {
            Self::linear(quantity, min, max, ticks_max)
        }
    }

    /// The axis that ends on ticks.
    fn on_ticks(
        quantity: Quantity,
        magnitude: f64,
        (min, max): (f64, f64),
        ticks_max: usize,
    ) -> Self {
        let mut axis = Self::tight_in(quantity, magnitude, min, max, ticks_max);
        let size = axis.unit;
        let step = quantity.step((axis.max - axis.min) / size, ticks_max);
        let (low, high) = (
            (axis.min / size / step + 1e-9).floor(),
            (axis.max / size / step - 1e-9).ceil(),
        );
        // What is smaller than any step has one.
        let high = high.max(low + 1.0);
        axis.min = low * step * size;
        axis.max = high * step * size;
        axis.ticks = ticks(axis.min / size, axis.max / size, step, size);
        axis
    }

    /// Like [`linear`](Self::linear), but the axis ends where the data does.
    pub(super) fn tight(quantity: Quantity, min: f64, max: f64, ticks_max: usize) -> Self {
        Self::tight_in(quantity, min.abs().max(max.abs()), min, max, ticks_max)
    }

    /// The same in the unit that `magnitude` has.
    pub(super) fn tight_in(
        quantity: Quantity,
        magnitude: f64,
        min: f64,
        max: f64,
        ticks_max: usize,
    ) -> Self {
        let (unit, size) = quantity.unit(magnitude);
        let max = if max > min { max } else { min + size };
        let step = quantity.step((max - min) / size, ticks_max);
        Self {
            title: title(quantity, unit),
            min,
            max,
            scale: Scale::Linear,
            ticks: ticks(min / size, max / size, step, size),
            unit: size,
            is_chosen: false,
        }
    }

    /// The time since the first packet, in seconds, where the data is. Far from the first packet it is counted from a
    /// round time shortly before the data, which the title says: no one reads `62 967.24694 h`.
    pub(super) fn of_time(start: f64, end: f64, ticks_max: usize) -> Self {
        /// How many times as long as what is shown the time before it is.
        const FAR: f64 = 100.0;
        let span = end - start;
        if span <= 0.0 || start <= FAR * span {
            return Self::tight(Quantity::TIME, start, end, ticks_max);
        }
        // A whole number of seconds, or a decimal with as few digits as can be.
        let digits = -(span.log10().ceil() as i32);
        let grain = 10_f64.powi(-digits);
        let base = (start / grain).floor() * grain;
        let mut axis = Self::tight(Quantity::TIME, start - base, end - base, ticks_max);
        let since = format!(
            "{} s after the first packet",
            number(base, digits.max(0) as usize)
        );
        axis.title = axis.title.replace("the first packet", &since);
        axis.min += base;
        axis.max += base;
        for (at, _) in &mut axis.ticks {
            *at += base;
        }
        axis
    }

    /// Ticks at 1, 2 and 5 of each decade, or at decades where these are many. `min` is above 0.
    pub(super) fn log(quantity: Quantity, min: f64, max: f64) -> Self {
        /// Below and above there is no room for decades.
        const ROOM: [f64; 2] = [1e-290, 1e290];
        let [min, max] = [min, max].map(|end| end.clamp(ROOM[0], ROOM[1]));
        let (unit, size) = quantity.unit(min.sqrt() * max.sqrt());
        let (min, max) = (min / size, (max / size).max(min / size * 1.01));
        let marks = quantity.log_marks(min, max, size);
        let low = marks
            .iter()
            .rev()
            .find(|&&mark| mark <= min * 1.000_001)
            .copied()
            .unwrap_or(min);
        let high = marks
            .iter()
            .find(|&&mark| mark >= max * 0.999_999)
            .copied()
            .unwrap_or(max);
        // Three decades in one unit make long numbers: then each tick has its own.
        let own_units = quantity.unit(low * size) != quantity.unit(high * size);
        let write = |mark: f64| {
            if own_units {
                let (unit, unit_size) = quantity.unit(mark * size);
                format!("{} {unit}", number((mark * size / unit_size).round(), 0))
            } else {
                number(mark, (-mark.log10().floor()).max(0.0) as usize)
            }
        };
        let ticks = marks
            .into_iter()
            .filter(|mark| (low * 0.999_999..=high * 1.000_001).contains(mark))
            .map(|mark| (mark * size, write(mark)))
            .collect();
        let unit = if own_units || unit.is_empty() {
            String::new()
        } else {
            format!("{unit}, ")
        };
        let title = format!("{} ({unit}log scale)", quantity.name);
        Self {
            title,
            min: low * size,
            max: high * size,
            scale: Scale::Log,
            ticks,
            unit: size,
            is_chosen: false,
        }
    }

    /// Of numbers that somebody chose: they are its ticks, on a log scale where those above 0 spread over more than a
    /// decade. A 0 among them, as links without loss have, has a place of its own before that.
    pub(super) fn for_chosen(quantity: Quantity, values: &[f64], ticks_max: usize) -> Option<Self> {
        /// More are no longer read one by one.
        const CHOSEN_MAX: usize = 10;
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let (min, max) = (*values.first()?, *values.last()?);
        let least = values.iter().copied().find(|&value| value > 0.0);
        let least = least.filter(|&least| min >= 0.0 && max > 10.0 * least);
        let Some(least) = least.filter(|_| !quantity.is_time()) else {
            return Some(Self::tight(quantity, min, max, ticks_max));
        };
        let mut axis = Self::log(quantity, least, max);
        if values.len() <= CHOSEN_MAX && quantity.unit(least) == quantity.unit(max) {
            let ticks = values
                .iter()
                .filter(|value| **value > 0.0)
                .map(|value| (*value, short(value / axis.unit)));
            axis.ticks = ticks.collect();
            axis.is_chosen = true;
        }
        Some(if min > 0.0 { axis } else { axis.with_zero() })
    }

    /// A log scale with a place for 0 before it.
    fn with_zero(mut self) -> Self {
        self.scale = Scale::ZeroAndLog;
        self.ticks.insert(0, (0.0, "0".to_owned()));
        self
    }

    pub(super) fn is_log(&self) -> bool {
        self.scale != Scale::Linear
    }

    /// Where the axis is broken, between 0 and its log scale: the middle of that part, from 0 to 1.
    pub(super) fn broken_at(&self) -> Option<f64> {
        (self.scale == Scale::ZeroAndLog).then_some(ZERO / 2.0)
    }

    /// The smallest value that has a place on it.
    pub(super) fn lowest(&self) -> f64 {
        if self.scale == Scale::ZeroAndLog {
            0.0
        } else {
            self.min
        }
    }

    /// How far up a log scale a value lies, from 0 to 1.
    fn decades(&self, value: f64) -> f64 {
        (value.max(self.min) / self.min).log10() / (self.max / self.min).log10()
    }

    /// Where a value lies between the axis' ends, from 0 to 1; clamped.
    pub(super) fn share(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.min) / (self.max - self.min),
            Scale::Log => self.decades(value),
            Scale::ZeroAndLog if value > 0.0 => ZERO + (1.0 - ZERO) * self.decades(value),
            Scale::ZeroAndLog => 0.0,
        };
        share.clamp(0.0, 1.0)
    }
}

fn title(quantity: Quantity, unit: &str) -> String {
    if unit.is_empty() {
        quantity.name.to_owned()
    } else {
        format!("{} ({unit})", quantity.name)
    }
}

/// The smallest of 1, 2, 5 times a power of ten that makes at most `steps_max` steps of `range`.
pub(super) fn nice_step(range: f64, steps_max: usize) -> f64 {
    // Below the smallest normal number a power of ten has no digits left, and at last is 0.
    let raw = (range / steps_max.max(1) as f64).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf(raw.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|factor| factor * power >= raw * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// Multiples of `step` from `min` to `max`, in units of `size`.
fn ticks(min: f64, max: f64, step: f64, size: f64) -> Vec<(f64, String)> {
    /// More than any axis has, whatever numbers there are.
    const TICKS_MAX: usize = 1000;
    let digits = (-step.log10().floor() + 1e-9).max(0.0) as usize;
    let (first, last) = (
        (min / step - 1e-6).ceil() as i64,
        (max / step + 1e-6).floor() as i64,
    );
    (first..=last)
        .take(TICKS_MAX)
        .map(|index| {
            (
                index as f64 * step * size,
                number(index as f64 * step, digits),
            )
        })
        .collect()
}

/// A number with thin spaces between thousands and a proper minus sign.
pub(super) fn number(value: f64, digits: usize) -> String {
    /// Nobody reads more behind the point.
    const DIGITS_MAX: usize = 20;
    let digits = digits.min(DIGITS_MAX);
    let plain = format!("{:.digits$}", value.abs());
    let (whole, fraction) = plain
        .split_once('.')
        .map_or((plain.as_str(), None), |(whole, rest)| (whole, Some(rest)));
    let mut text = String::new();
    if value < 0.0 && plain.chars().any(|c| ('1'..='9').contains(&c)) {
        text.push('−');
    }
    text.push_str(&Thousands::Thin.apart(whole));
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

/// A count.
pub(super) fn grouped(n: u64) -> String {
    Thousands::Thin.grouped(n)
}

/// Three significant digits at most, without zeros that say nothing.
fn short(value: f64) -> String {
    let number = significant(value);
    match number.split_once('.') {
        Some(_) => number
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned(),
        None => number,
    }
}

/// No value has more digits that were measured.
const MEASURED_DIGITS: usize = 12;

/// Three significant digits, but no more than four behind the point, where one is significant at least; integers in
/// full.
pub(super) fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    // As of 46.95 ms in seconds: tables and the terminal round the value itself, which is measured to fewer digits.
    let value = to_digits(value, MEASURED_DIGITS);
    let place = value.abs().log10().floor();
    number(
        value,
        (2.0 - place).clamp(0.0, (-place).clamp(4.0, 12.0)) as usize,
    )
}

#[cfg(test)]
mod tests;
