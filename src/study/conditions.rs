//! Under what conditions a run took place: capacity, base round-trip time, buffer, queue discipline.

use super::import::{ImportErrorKind, MeasuredTable};
use super::manifest::suggestion;
use super::units::{Dimension, parse};
use crate::decode::FULL_PACKET_LEN;
use crate::metric;
use crate::time::CaptureTime;

/// Bytes of a packet where a buffer is counted in packets: the usual MTU.
pub const PACKET_BYTES: f64 = FULL_PACKET_LEN as f64;

/// What a run took place under, as far as the manifest says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// Capacity of the shared link.
    pub capacity: Option<PathCapacity>,
    /// Round-trip time of the empty path, in ns.
    pub base_rtt_ns: Option<i64>,
    /// Limit of the bottleneck's queue.
    pub buffer: Option<Buffer>,
    /// Queue discipline at the bottleneck.
    pub qdisc: Option<String>,
}

impl Conditions {
    /// Mean capacity in bit/s; of a trace over all of its time.
    #[must_use]
    pub fn capacity_bps(&self) -> Option<f64> {
        match self.capacity.as_ref()? {
            PathCapacity::Constant(bps) => Some(*bps),
            PathCapacity::Trace(trace) => trace.mean_bps(),
        }
    }

    /// The most capacity at any time, in bits per second.
    pub(super) fn capacity_bps_max(&self) -> Option<f64> {
        match self.capacity.as_ref()? {
            PathCapacity::Constant(bps) => Some(*bps),
            PathCapacity::Trace(trace) => {
                let rates = trace.steps.iter().map(|&(_, bps)| bps);
                rates.reduce(f64::max)
            }
        }
    }

    /// Bandwidth-delay product in bytes.
    #[must_use]
    pub fn bdp_bytes(&self) -> Option<f64> {
        Some(metric::bdp_bytes(
            self.capacity_bps()?,
            self.base_rtt_ns? as f64,
        ))
    }

    /// The buffer in bytes; packets count [`PACKET_BYTES`] each.
    #[must_use]
    pub fn buffer_bytes(&self) -> Option<f64> {
        Some(match self.buffer? {
            Buffer::Bytes(bytes) => bytes,
            Buffer::Packets(packets) => packets * PACKET_BYTES,
            Buffer::Bdp(share) => share * self.bdp_bytes()?,
        })
    }

    /// The buffer in bandwidth-delay products.
    #[must_use]
    pub fn buffer_bdp(&self) -> Option<f64> {
        match self.buffer? {
            Buffer::Bdp(share) => Some(share),
            _ => Some(self.buffer_bytes()? / self.bdp_bytes()?).filter(|bdp| bdp.is_finite()),
        }
    }
}

/// Limit of a queue, as it was given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Buffer {
    /// In bytes.
    Bytes(f64),
    /// In packets.
    Packets(f64),
    /// In bandwidth-delay products.
    Bdp(f64),
}

impl Buffer {
    /// A buffer such as `100 packets`, `64kB` or `0.5BDP`.
    ///
    /// # Errors
    /// Says how a buffer is written.
    pub fn parse(text: &str) -> Result<Self, String> {
        let as_dimension = |dimension| parse(text, dimension).ok().filter(|&value| value >= 0.0);
        as_dimension(Dimension::Packets)
            .map(Self::Packets)
            .or_else(|| as_dimension(Dimension::Bdp).map(Self::Bdp))
            .or_else(|| as_dimension(Dimension::Size).map(Self::Bytes))
            .ok_or_else(|| {
                format!("'{text}' is no buffer: write it as 100 packets, 64kB or 0.5BDP")
            })
    }
}

/// Capacity of a path: one rate, or one that changes.
#[derive(Clone, Debug, PartialEq)]
pub enum PathCapacity {
    /// Bits per second, all the time.
    Constant(f64),
    /// Bits per second over time.
    Trace(CapacityTrace),
}

/// Where the time of a capacity trace begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TraceOrigin {
    /// At the first record of the capture.
    #[default]
    FirstRecord,
    /// At the epoch that the capture's times count from.
    Epoch,
}

impl TraceOrigin {
    /// When it is, in a capture whose first record is at `first`.
    fn of(self, first: CaptureTime) -> CaptureTime {
        match self {
            Self::FirstRecord => first,
            Self::Epoch => CaptureTime::from_ns(0),
        }
    }
}

/// A capacity that changes at known times; each rate holds until the next one.
#[derive(Clone, Debug, PartialEq)]
pub struct CapacityTrace {
    /// When, in ns after the origin, ascending, and from then on how many bits per second.
    steps: Vec<(i64, f64)>,
    origin: TraceOrigin,
}

impl CapacityTrace {
    /// A trace of steps: times in ns, rates in bit/s.
    ///
    /// # Errors
    /// An empty trace, times that do not ascend, or a rate below 0.
    pub fn new(steps: Vec<(i64, f64)>, origin: TraceOrigin) -> Result<Self, String> {
        if steps.is_empty() {
            return Err("has no rates".to_owned());
        }
        if let Some(pair) = steps.windows(2).find(|pair| pair[1].0 <= pair[0].0) {
            return Err(format!(
                "times must ascend, but {} ns follows {} ns",
                pair[1].0, pair[0].0
            ));
        }
        if let Some((_, bps)) = steps
            .iter()
            .find(|(_, bps)| !(*bps >= 0.0 && bps.is_finite()))
        {
            return Err(format!("{bps} bit/s is no rate"));
        }
        Ok(Self { steps, origin })
    }

    /// The trace that two columns of a table make.
    ///
    /// # Errors
    /// Says which column, or which line of the file, is wrong.
    pub fn of_table(table: &MeasuredTable, columns: &TraceColumns) -> Result<Self, String> {
        let numbers = |name: &str| table.numbers(name).map_err(|kind| fault(name, kind));
        let (times, rates) = (numbers(&columns.time)?, numbers(&columns.rate)?);
        let mut steps: Vec<(i64, f64)> = Vec::with_capacity(table.rows());
        for (row, (&time, &rate)) in times.iter().zip(rates).enumerate() {
            let at = table.place(row);
            let number = |cell: Option<f64>, name: &str| {
                cell.ok_or_else(|| format!("{at}: no number in column '{name}'"))
            };
            let ns = (number(time, &columns.time)? * columns.time_unit_ns).round() as i64;
            if steps.last().is_some_and(|&(before, _)| ns <= before) {
                return Err(format!("{at}: times must ascend"));
            }
            let bps = number(rate, &columns.rate)? * columns.rate_unit_bps;
            if bps < 0.0 {
                return Err(format!("{at}: {bps} bit/s is no rate"));
            }
            steps.push((ns, bps));
        }
        Self::new(steps, columns.origin)
    }

    /// Whether another rate begins between `start` and `end`, in ns after the origin.
    fn changes_within(&self, start: i64, end: i64) -> bool {
        let mut later = self.steps.iter().skip(1);
        later.any(|&(at, _)| start < at && at < end)
    }

    /// Mean over the time of the trace, the last rate holding as long as the one before it.
    #[must_use]
    pub fn mean_bps(&self) -> Option<f64> {
        let (first, last) = (self.steps.first()?.0, self.steps.last()?.0);
        let step = self
            .steps
            .len()
            .checked_sub(2)
            .map_or(1, |before| last.saturating_sub(self.steps[before].0));
        Some(self.mean_within(first, last.saturating_add(step)))
    }

    /// Mean from `start` to `end`, in ns after the origin. Before its first step the first rate
    /// holds.
    fn mean_within(&self, start: i64, end: i64) -> f64 {
        let first = self
            .steps
            .partition_point(|&(at, _)| at <= start)
            .saturating_sub(1);
        let (mut from, mut sum) = (start, 0.0);
        for (index, &(_, bps)) in self.steps.iter().enumerate().skip(first) {
            let until = self
                .steps
                .get(index + 1)
                .map_or(end, |&(at, _)| at.min(end));
            sum += bps * until.saturating_sub(from).max(0) as f64;
            from = from.max(until);
            if from >= end {
                break;
            }
        }
        sum / end.saturating_sub(start).max(1) as f64
    }
}

/// What is wrong with the column of a trace, with the one that may be meant.
fn fault(name: &str, kind: ImportErrorKind) -> String {
    match kind {
        ImportErrorKind::NoColumn { columns, .. } => {
            format!("has no column '{name}'{}", suggestion(name, &columns))
        }
        kind => kind.to_string(),
    }
}

/// Which columns of a table make a capacity trace.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceColumns {
    /// Column of times.
    pub time: String,
    /// One unit of it, in ns.
    pub time_unit_ns: f64,
    /// Column of rates.
    pub rate: String,
    /// One unit of it, in bit/s.
    pub rate_unit_bps: f64,
    /// Where its time begins.
    pub origin: TraceOrigin,
}

impl PathCapacity {
    /// Mean capacity in bit/s from `start` to `end`, in a capture whose first record is at `first`.
    #[must_use]
    pub fn mean_bps(&self, first: CaptureTime, start: CaptureTime, end: CaptureTime) -> f64 {
        match self {
            Self::Constant(bps) => *bps,
            Self::Trace(trace) => {
                let origin = trace.origin.of(first);
                trace.mean_within(start.since(origin), end.since(origin))
            }
        }
    }

    /// Whether it is a trace of several rates of which none begins from `start` to `end`, in a capture whose first
    /// record is at `first`: as where its times are in another unit, or count from something else.
    #[must_use]
    pub fn is_beside(&self, first: CaptureTime, start: CaptureTime, end: CaptureTime) -> bool {
        match self {
            Self::Constant(_) => false,
            Self::Trace(trace) => {
                let origin = trace.origin.of(first);
                let changes = trace.changes_within(start.since(origin), end.since(origin));
                trace.steps.len() > 1 && !changes
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(text: &str) -> Result<CapacityTrace, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, text).unwrap();
        CapacityTrace::of_table(&MeasuredTable::read(file.path()).unwrap(), &columns())
    }

    fn columns() -> TraceColumns {
        TraceColumns {
            time: "t_s".to_owned(),
            time_unit_ns: 1e9,
            rate: "rate".to_owned(),
            rate_unit_bps: 1e6,
            origin: TraceOrigin::FirstRecord,
        }
    }

    #[test]
    fn a_buffer_in_packets_is_one_in_bytes_and_in_bdp() {
        // 10 Mbit/s for 60 ms is 75 kB, 50 packets of 1500 B.
        let conditions = Conditions {
            capacity: Some(PathCapacity::Constant(10e6)),
            base_rtt_ns: Some(60_000_000),
            buffer: Buffer::parse("100 packets").ok(),
            qdisc: None,
        };
        assert_eq!(conditions.bdp_bytes(), Some(75_000.0));
        assert_eq!(conditions.buffer_bytes(), Some(150_000.0));
        assert_eq!(conditions.buffer_bdp(), Some(2.0));
        assert_eq!(Buffer::parse("0.5BDP"), Ok(Buffer::Bdp(0.5)));
        assert_eq!(Buffer::parse("64kB"), Ok(Buffer::Bytes(64_000.0)));
        assert!(Buffer::parse("deep").is_err());
    }

    #[test]
    fn a_trace_holds_each_rate_until_the_next() {
        let trace = trace("t_s,rate\n0,10\n1,20\n2,40\n").unwrap();
        let second = 1_000_000_000;
        assert!((trace.mean_within(0, second) - 10e6).abs() < 1e-3);
        assert!((trace.mean_within(second / 2, 3 * second / 2) - 15e6).abs() < 1e-3);
        assert!((trace.mean_within(10 * second, 11 * second) - 40e6).abs() < 1e-3);
        assert!((trace.mean_within(-second, second) - 10e6).abs() < 1e-3);
        // 10, 20 and 40 for a second each.
        assert!((trace.mean_bps().unwrap() - 70e6 / 3.0).abs() < 1.0);
    }

    #[test]
    fn what_is_wrong_in_a_trace_is_named() {
        let fault = |text: &str| trace(text).unwrap_err();
        assert!(fault("t_s,rates\n0,1\n").contains("did you mean 'rates'"));
        assert!(fault("t_s,rate\n0,x\n").contains("line 2: 'x' in column 'rate'"));
        assert!(fault("t_s,rate\n0,1\n1,\n").contains("line 3: no number in column 'rate'"));
        assert!(fault("t_s,rate\n1,1\n0,1\n").contains("line 3: times must ascend"));
        assert!(fault("t_s,rate\n0,1\n\n1,-1\n").contains("line 4: -1000000 bit/s is no rate"));
    }

    /// However a spreadsheet wrote it.
    #[test]
    fn a_trace_may_be_written_as_any_table() {
        let plain = trace("t_s,rate\n0,10\n1,20\n").unwrap();
        let others = [
            "\u{feff}t_s,rate\n0,10\n1,20\n",
            "t_s;rate\n0;10\n1;20\n",
            "\"t_s\",\"rate\"\r\n\"0\",\"10\"\r\n\"1\",\"20\"\r\n",
            "rate\tnote\tt_s\n10\tat first, as always\t0\n20\t\t1\n",
        ];
        for other in others {
            assert_eq!(trace(other).as_ref(), Ok(&plain), "{other}");
        }
    }
}
