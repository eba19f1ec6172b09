//! Axes: where ticks go, in which unit, and what they are called.

use crate::report::thousands;

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
    pub const COMPLETION: Self = Self::new("Completion time", DELAYS);
    /// In seconds.
    pub const TIME: Self = Self::new(
        "Time since the first packet",
        &[
            ("µs", 1e-6),
            ("ms", 1e-3),
            ("s", 1.0),
            ("min", 60.0),
            ("h", 3600.0),
        ],
    );
    /// In bytes.
    pub const IN_FLIGHT: Self = Self::new("Bytes in flight", BYTES);
    /// In bytes.
    pub(super) const OFFSET: Self = Self::new("Stream offset", BYTES);
    /// In bytes.
    pub(super) const AHEAD: Self = Self::new("Ahead of the cumulative ACK", BYTES);
    /// In packets.
    pub const RETRANSMISSIONS: Self = Self::new("Retransmissions", PACKETS);
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
        let step_min = if self.units == PACKETS { 1.0 } else { 0.0 };
        nice_step(range, steps_max).max(step_min)
    }

    /// Whether it is a delay: then it may spread over decades.
    pub(super) fn is_delay(&self) -> bool {
        self.units == DELAYS
    }

    /// The largest unit that `magnitude` reaches, and its size. Hours and minutes come in only
    /// where there are many of the smaller unit.
    pub(super) fn unit(&self, magnitude: f64) -> (&'static str, f64) {
        let reached = |&&(name, size): &&(&str, f64)| {
            let many = if matches!(name, "min" | "h") {
                120.0
            } else {
                1.0
            };
            magnitude >= size * many * (1.0 - 1e-9)
        };
        self.units
            .iter()
            .rev()
            .find(reached)
            .or(self.units.first())
            .copied()
            .unwrap_or(("", 1.0))
    }

    /// A condition, as somebody set it: like [`format`](Self::format), but `20 ms` and not `20.0 ms`.
    pub(super) fn format_set(&self, value: f64) -> String {
        let (unit, size) = self.unit(value.abs());
        let number = significant(value / size);
        let number = match number.split_once('.') {
            Some(_) => number.trim_end_matches('0').trim_end_matches('.'),
            None => &number,
        };
        format!("{number} {unit}").trim_end().to_owned()
    }

    /// A value with three significant digits and its unit.
    pub(super) fn format(&self, value: f64) -> String {
        let (unit, size) = self.unit(value.abs());
        let number = significant(value / size);
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

/// Delays that spread over more than this have a log scale: the largest over the smallest.
const SPREAD: f64 = 50.0;

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
}

impl Axis {
    /// Ticks in steps of 1, 2 or 5, at most `ticks_max` of them. The axis ends on ticks.
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
        let mut axis = Self::tight_in(quantity, magnitude, min, max, ticks_max);
        let size = axis.unit;
        let step = quantity.step((axis.max - axis.min) / size, ticks_max);
        let (low, high) = (
            (axis.min / size / step + 1e-9).floor(),
            (axis.max / size / step - 1e-9).ceil(),
        );
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
        }
    }

    /// Ticks at 1, 2 and 5 of each decade, or at decades where these are many. `min` is above 0.
    pub(super) fn log(quantity: Quantity, min: f64, max: f64) -> Self {
        let (unit, size) = quantity.unit((min * max).sqrt());
        let (min, max) = (min / size, (max / size).max(min / size * 1.01));
        let wide = (max / min).log10() > 3.5;
        let factors: &[f64] = if wide { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let decades = min.log10().floor() as i32 - 1..=max.log10().ceil() as i32 + 1;
        let marks: Vec<f64> = decades
            .flat_map(|decade| {
                factors
                    .iter()
                    .map(move |factor| factor * 10_f64.powi(decade))
            })
            .collect();
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
        let unit = if own_units {
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
        }
    }

    /// Log scale where the largest is more than [`SPREAD`] times the smallest; linear from 0 otherwise,
    /// or from near the smallest where all are close together, as jitter is on a long path.
    pub(super) fn for_delays(quantity: Quantity, min: f64, max: f64, ticks_max: usize) -> Self {
        if min > 0.0 && max / min > SPREAD {
            Self::log(quantity, min, max)
        } else if min > 0.7 * max {
            let margin = (max - min).max(max * 0.01) * 0.3;
            Self::linear(quantity, (min - margin).max(0.0), max, ticks_max)
        } else {
            Self::linear(quantity, 0.0, max, ticks_max)
        }
    }

    /// [`for_delays`](Self::for_delays), where some may be 0, as clocks are that are coarse, or less, as those are that
    /// disagree; `values` tells which is the smallest above 0.
    pub(super) fn for_any_delays(
        quantity: Quantity,
        (min, max): (f64, f64),
        values: impl Iterator<Item = f64>,
        ticks_max: usize,
    ) -> Self {
        if min > 0.0 {
            return Self::for_delays(quantity, min, max, ticks_max);
        }
        // One without a length would have no scale.
        let max = max.max(1e-9);
        let least = values.filter(|&value| value > 0.0).reduce(f64::min);
        let spreads = least.is_some_and(|least| max / least > SPREAD);
        match least {
            Some(least) if spreads && min == 0.0 => {
                let mut axis = Self::log(quantity, least, max);
                axis.scale = Scale::ZeroAndLog;
                axis.ticks.insert(0, (0.0, "0".to_owned()));
                axis
            }
            _ => Self::linear(quantity, min, max, ticks_max),
        }
    }

    pub(super) fn is_log(&self) -> bool {
        self.scale != Scale::Linear
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
    let raw = range / steps_max.max(1) as f64;
    let power = 10_f64.powf(raw.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|factor| factor * power >= raw * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// Multiples of `step` from `min` to `max`, in units of `size`.
fn ticks(min: f64, max: f64, step: f64, size: f64) -> Vec<(f64, String)> {
    let digits = (-step.log10().floor() + 1e-9).max(0.0) as usize;
    let (first, last) = (
        (min / step - 1e-6).ceil() as i64,
        (max / step + 1e-6).floor() as i64,
    );
    (first..=last)
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
    let plain = format!("{:.digits$}", value.abs());
    let (whole, fraction) = plain
        .split_once('.')
        .map_or((plain.as_str(), None), |(whole, rest)| (whole, Some(rest)));
    let mut text = String::new();
    if value < 0.0 && plain.chars().any(|c| ('1'..='9').contains(&c)) {
        text.push('−');
    }
    // Four digits are read at a glance.
    if whole.len() > 4 {
        text.push_str(&thousands(whole, '\u{2009}'));
    } else {
        text.push_str(whole);
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

/// A count.
pub(super) fn grouped(n: u64) -> String {
    number(n as f64, 0)
}

/// Three significant digits; integers in full.
pub(super) fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    number(
        value,
        (2.0 - value.abs().log10().floor()).clamp(0.0, 4.0) as usize,
    )
}

#[cfg(test)]
mod tests {
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
                0.0031,
                "RTT (ms)",
                vec!["0", "1", "2", "3", "4"],
            ),
            (
                Quantity::OVERHEAD,
                0.031,
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
    fn a_tight_axis_ends_where_the_data_does() {
        let axis = Axis::tight(Quantity::TIME, 0.0, 6.4, 7);
        assert_eq!(
            (axis.max, labels(&axis)),
            (6.4, vec!["0", "1", "2", "3", "4", "5", "6"])
        );
        assert_eq!(
            Axis::tight(Quantity::TIME, 0.0, 7300.0, 8).title,
            "Time since the first packet (min)"
        );
        assert_eq!(
            Axis::tight(Quantity::TIME, 0.0, 3600.0, 8).title,
            "Time since the first packet (s)"
        );
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
    }

    #[test]
    fn no_range_at_all_still_makes_an_axis() {
        for axis in [
            Axis::linear(Quantity::GOODPUT, 0.0, 0.0, 8),
            Axis::tight(Quantity::TIME, 0.0, 0.0, 8),
            Axis::log(Quantity::RTT, 0.02, 0.02),
        ] {
            assert!(
                axis.max > axis.min
                    && axis.share(axis.min) < 1e-9
                    && axis.share(axis.max) > 1.0 - 1e-9,
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
}
