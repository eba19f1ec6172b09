//! A flow over time, in bins of fixed length (METRICS.md, "Over time").

use std::ops::Range;

use crate::metric::{self, Balance, BalanceWeights};
use crate::packing::{len_of_all, number_of, put_numbers, take, take_numbers, unzigzag, zigzag};

/// Length of a bin, in ns, where nobody asks for another.
pub const BIN_NS: i64 = 100_000_000;

/// One bin of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    /// Number of the bin: 0 begins with the capture's first record.
    pub index: i64,
    /// Payload bytes newly acknowledged.
    pub acked_bytes: u64,
    /// IP bytes.
    pub ip_bytes: u64,
    /// Payload bytes, every copy counted.
    pub payload_bytes: u64,
    /// Packets with payload.
    pub data_packets: u64,
    /// Those of them that are fragments of segments, but for one of each.
    pub further_fragments: u64,
    /// Packets that are retransmissions.
    pub retransmitted_packets: u64,
    /// Their payload bytes.
    pub retransmitted_bytes: u64,
    /// RTT samples whose ACK passed in this bin.
    pub rtt_samples: u64,
    /// Sum of them, in ns.
    pub rtt_ns_sum: i64,
    /// Smallest, in ns; meaningless without samples.
    pub rtt_ns_min: i64,
    /// Largest, in ns; meaningless without samples.
    pub rtt_ns_max: i64,
    /// Largest number of bytes in flight, at the data segments of this bin.
    pub in_flight_bytes_max: Option<u64>,
}

impl Bin {
    /// Segments with payload.
    #[must_use]
    pub fn data_segments(&self) -> u64 {
        self.data_packets.saturating_sub(self.further_fragments)
    }

    /// Mean RTT, in ns; `None` without samples.
    #[must_use]
    pub fn rtt_ns_mean(&self) -> Option<f64> {
        (self.rtt_samples > 0).then(|| self.rtt_ns_sum as f64 / self.rtt_samples as f64)
    }

    /// Its balanced metric (METRICS.md P1), where a bin lasts `bin_ns`, as it was made with, the link carries `capacity_bps` and the flow's
    /// smallest RTT is `floor_ns`; `None` without samples, and where [`metric::balance`] has none.
    #[must_use]
    pub fn balance(
        &self,
        bin_ns: i64,
        capacity_bps: f64,
        floor_ns: i64,
        weights: BalanceWeights,
    ) -> Option<Balance> {
        metric::balance(
            metric::rate_bps(self.acked_bytes, bin_ns)?,
            capacity_bps,
            floor_ns as f64,
            self.rtt_ns_mean()?,
            self.retransmitted_bytes,
            weights,
        )
    }

    /// Its numbers as they are written behind a bin with the number `before`: near 0 where that is
    /// usual, and those last that are 0 most often.
    fn numbers(&self, before: i64) -> [u64; NUMBERS] {
        let step = self.index.wrapping_sub(before).wrapping_sub(1);
        [
            zigzag(step),
            self.ip_bytes,
            self.payload_bytes,
            self.data_packets,
            self.in_flight_bytes_max.unwrap_or(0),
            self.acked_bytes,
            self.rtt_samples,
            zigzag(self.rtt_ns_min),
            zigzag(self.rtt_ns_max.wrapping_sub(self.rtt_ns_min)),
            zigzag(self.rtt_ns_sum.wrapping_sub(self.rtt_ns_min)),
            self.retransmitted_packets,
            self.retransmitted_bytes,
            self.further_fragments,
        ]
    }

    /// The bin of this number of which [`numbers`](Self::numbers) gave these.
    fn of(numbers: [u64; NUMBERS], has_in_flight: bool, index: i64) -> Self {
        let rtt_ns_min = unzigzag(numbers[place::RTT_NS_MIN]);
        Self {
            index,
            ip_bytes: numbers[1],
            payload_bytes: numbers[place::PAYLOAD_BYTES],
            data_packets: numbers[3],
            in_flight_bytes_max: has_in_flight.then_some(numbers[4]),
            acked_bytes: numbers[place::ACKED_BYTES],
            rtt_samples: numbers[place::RTT_SAMPLES],
            rtt_ns_min,
            rtt_ns_max: rtt_ns_min.wrapping_add(unzigzag(numbers[8])),
            rtt_ns_sum: rtt_ns_min.wrapping_add(unzigzag(numbers[9])),
            retransmitted_packets: numbers[10],
            retransmitted_bytes: numbers[11],
            further_fragments: numbers[12],
        }
    }
}

/// Numbers of a bin that is written.
const NUMBERS: usize = 13;
/// Places of some of them, which are asked for alone.
mod place {
    pub(super) const STEP: usize = 0;
    pub(super) const PAYLOAD_BYTES: usize = 2;
    pub(super) const ACKED_BYTES: usize = 5;
    pub(super) const RTT_SAMPLES: usize = 6;
    pub(super) const RTT_NS_MIN: usize = 7;
}
/// The number before that of the first bin.
const BEFORE_FIRST: i64 = -1;

/// The bins of one flow in which anything happened, in order: some 20 bytes each.
///
/// ```
/// use ccanalyze::Analysis;
/// use ccanalyze::analyze::Config;
///
/// let config = Config {
///     bin_ns: 200_000_000,
///     ..Config::default()
/// };
/// let analysis = Analysis::of(["testdata/captures/drop-one.pcap"], &config);
/// let capture = &analysis.captures[0];
/// let download = capture.flows().max_by_key(|flow| flow.payload_bytes()).unwrap();
/// let series = download.record.series();
/// let mut payload_bytes = 0;
/// for bin in series.bins() {
///     let begins = capture.origin.plus_ns(bin.index * capture.bin_ns);
///     println!("{begins}: {} bytes, {:?} ns", bin.payload_bytes, bin.rtt_ns_mean());
///     payload_bytes += bin.payload_bytes;
/// }
/// // None is missing, so that all that was sent is in one of them.
/// assert!(!series.is_cut());
/// assert_eq!(payload_bytes, download.payload_bytes());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Series<'a> {
    pub(super) packed: &'a [u8],
    pub(super) facts: SeriesFacts,
}

/// What is known of a series besides its bins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SeriesFacts {
    /// How many bins there are, and how many bytes they take.
    pub(super) bins: u32,
    pub(super) len: usize,
    pub(super) cut: bool,
    pub(super) given_up: bool,
}

impl SeriesFacts {
    /// Of one of which all bins were given up.
    pub(super) const GIVEN_UP: Self = Self {
        bins: 0,
        len: 0,
        cut: true,
        given_up: true,
    };
}

impl<'a> Series<'a> {
    /// The bins, in order of time.
    #[must_use]
    pub fn bins(&self) -> Bins<'a> {
        Bins::of(self.packed, self.facts.bins)
    }

    /// Whether bins are missing: there were too many, or they were given up. Where none was
    /// [asked for](super::RecordConfig::bins_max), none is missing.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.facts.cut
    }

    /// Number of the last bin up to which, as long as the clock never stepped back, none is missing: `i64::MAX` where
    /// none is at all, `None` where all are.
    #[must_use]
    pub fn complete_through(&self) -> Option<i64> {
        if self.is_cut() {
            self.bins().last().map(|bin| bin.index)
        } else {
            Some(i64::MAX)
        }
    }

    /// The bins, where none is missing.
    #[must_use]
    pub fn whole(&self) -> Option<Bins<'a>> {
        (!self.is_cut()).then(|| self.bins())
    }

    /// Whether all bins were given up.
    #[must_use]
    pub fn is_given_up(&self) -> bool {
        self.facts.given_up
    }
}

/// The bins of a flow, one after the other.
#[derive(Clone, Debug)]
pub struct Bins<'a> {
    bytes: &'a [u8],
    left: u32,
    before: i64,
}

impl<'a> Bins<'a> {
    fn of(bytes: &'a [u8], bins: u32) -> Self {
        Self {
            bytes,
            left: bins,
            before: BEFORE_FIRST,
        }
    }
}

/// What a bin tells of what was sent and delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Number of the bin, as [`Bin::index`].
    pub index: i64,
    /// Payload bytes newly acknowledged.
    pub acked_bytes: u64,
    /// Payload bytes, every copy counted.
    pub payload_bytes: u64,
}

impl From<Bin> for Delivery {
    fn from(bin: Bin) -> Self {
        Self {
            index: bin.index,
            acked_bytes: bin.acked_bytes,
            payload_bytes: bin.payload_bytes,
        }
    }
}

/// A bin as it is written.
struct WrittenBin<'a> {
    index: i64,
    has_in_flight: bool,
    /// How many bytes each of its numbers takes.
    lens: u64,
    numbers: &'a [u8],
}

impl WrittenBin<'_> {
    /// One of its numbers, by its [`place`].
    #[inline]
    fn number(&self, place: usize) -> u64 {
        number_of(self.numbers, self.lens, place)
    }

    fn delivery(&self) -> Delivery {
        Delivery {
            index: self.index,
            acked_bytes: self.number(place::ACKED_BYTES),
            payload_bytes: self.number(place::PAYLOAD_BYTES),
        }
    }

    fn rtt_ns_min(&self) -> Option<i64> {
        let has_samples = self.number(place::RTT_SAMPLES) > 0;
        has_samples.then(|| unzigzag(self.number(place::RTT_NS_MIN)))
    }
}

impl<'a> Bins<'a> {
    /// The next one, of which nothing has been unpacked but its number.
    #[inline]
    fn next_written(&mut self) -> Option<WrittenBin<'a>> {
        self.left = self.left.checked_sub(1)?;
        let mark = take(&mut self.bytes, 1);
        let lens = take(&mut self.bytes, (mark & LENS_LEN) as usize);
        let numbers = self.bytes;
        self.bytes = numbers.get(len_of_all(lens)..).unwrap_or_default();
        let step = unzigzag(number_of(numbers, lens, place::STEP));
        self.before = self.before.wrapping_add(1).wrapping_add(step);
        Some(WrittenBin {
            index: self.before,
            has_in_flight: mark & HAS_IN_FLIGHT != 0,
            lens,
            numbers,
        })
    }

    /// What they tell of what was sent and delivered, without what else they do.
    pub fn deliveries(mut self) -> impl Iterator<Item = Delivery> + use<'a> {
        // Who asks how many there may be is told.
        let bins = self.left;
        (0..bins).map_while(move |_| Some(self.next_written()?.delivery()))
    }

    /// The smallest RTT of each that has samples, in ns.
    pub fn rtts_ns_min(mut self) -> impl Iterator<Item = i64> + use<'a> {
        std::iter::from_fn(move || Some(self.next_written()?.rtt_ns_min())).flatten()
    }
}

impl Iterator for Bins<'_> {
    type Item = Bin;

    fn next(&mut self) -> Option<Bin> {
        let written = self.next_written()?;
        let mut numbers = [0; NUMBERS];
        let mut bytes = written.numbers;
        take_numbers(&mut bytes, written.lens, &mut numbers);
        Some(Bin::of(numbers, written.has_in_flight, written.index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Bins<'_> {}

/// Bins as they are written, each behind one with a lower number: a mark, how many bytes each of its numbers
/// takes up to the last that is not 0, and these.
#[derive(Clone, Debug)]
pub(super) struct PackedBins {
    bytes: Vec<u8>,
    bins: u32,
    /// Number of the last one.
    last: i64,
}

/// In the mark of a bin: how many bytes say what each number takes.
const LENS_LEN: u64 = 7;
/// In the mark of a bin: bytes in flight are known.
const HAS_IN_FLIGHT: u64 = 8;

/// In front of the numbers of a bin as much room as what is written last, at once, may take.
const BIN_FRONT: usize = 9;

/// Bytes that a bin may take, with what is written around it at once.
const BIN_ROOM: usize = BIN_FRONT + 8 * (NUMBERS + 1);

/// Bytes that there is room for when the first bin is written.
const FIRST_ROOM: usize = 64;

/// Writes a bin that comes after the one with the number `before`; where.
fn write(bin: &Bin, before: i64, room: &mut [u8; BIN_ROOM]) -> Range<usize> {
    let mut end = BIN_FRONT;
    let lens = put_numbers(room, &mut end, &bin.numbers(before));
    let lens_len = (u64::BITS - lens.leading_zeros()).div_ceil(8);
    let shifted = lens.unbounded_shl(u64::BITS - 8 * lens_len);
    room[BIN_FRONT - 8..BIN_FRONT].copy_from_slice(&shifted.to_le_bytes());
    let start = BIN_FRONT - 1 - lens_len as usize;
    let in_flight = u64::from(bin.in_flight_bytes_max.is_some()) * HAS_IN_FLIGHT;
    room[start] = u64::from(lens_len) as u8 | in_flight as u8;
    start..end
}

impl PackedBins {
    pub(super) const NONE: Self = Self {
        bytes: Vec::new(),
        bins: 0,
        last: BEFORE_FIRST,
    };

    /// How many there are.
    pub(super) fn len(&self) -> u32 {
        self.bins
    }

    /// Whether a bin of this number comes after all there are.
    pub(super) fn ends_before(&self, index: i64) -> bool {
        self.bins == 0 || self.last < index
    }

    /// Adds a bin that comes after all there are.
    pub(super) fn push(&mut self, bin: &Bin) {
        let mut written = [0; BIN_ROOM];
        let place = write(bin, self.last, &mut written);
        let (bytes, len) = (&mut self.bytes, place.len());
        if bytes.capacity() - bytes.len() < len {
            // Twice the room, or that for some three: most flows end in their first bin, which is not written here.
            bytes.reserve_exact(bytes.len().max(len).max(FIRST_ROOM));
        }
        bytes.extend_from_slice(&written[place]);
        self.bins += 1;
        self.last = bin.index;
    }

    /// Writes all of them behind `bytes`, and behind them `last`, which comes after all there are; how many these are.
    pub(super) fn end(&self, last: Option<&Bin>, bytes: &mut Vec<u8>) -> u32 {
        bytes.extend_from_slice(&self.bytes);
        let Some(last) = last else { return self.bins };
        let mut written = [0; BIN_ROOM];
        let place = write(last, self.last, &mut written);
        bytes.extend_from_slice(&written[place]);
        self.bins + 1
    }

    /// All of them.
    pub(super) fn bins(&self) -> Bins<'_> {
        Bins::of(&self.bytes, self.bins)
    }

    /// Memory that they take, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.capacity()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number() -> impl Strategy<Value = u64> {
        prop_oneof![Just(0), 0..300_u64, any::<u64>()]
    }

    fn bin() -> impl Strategy<Value = Bin> {
        (
            prop::array::uniform11(number()),
            proptest::option::of(number()),
        )
            .prop_map(|(numbers, in_flight)| {
                let signed = |place: usize| numbers[place].cast_signed();
                Bin {
                    index: 0,
                    acked_bytes: numbers[0],
                    ip_bytes: numbers[1],
                    payload_bytes: numbers[2],
                    data_packets: numbers[3],
                    retransmitted_packets: numbers[4],
                    retransmitted_bytes: numbers[5],
                    rtt_samples: numbers[6],
                    rtt_ns_sum: signed(7),
                    rtt_ns_min: signed(8),
                    rtt_ns_max: signed(9),
                    in_flight_bytes_max: in_flight,
                    further_fragments: numbers[10],
                }
            })
    }

    proptest! {
        #[test]
        fn bins_come_back_as_they_were(
            mut bins in prop::collection::vec(bin(), 0..20),
            indices in prop::collection::btree_set(any::<i64>(), 20),
        ) {
            let mut packed = PackedBins::NONE;
            for (bin, index) in bins.iter_mut().zip(indices) {
                bin.index = index;
                prop_assert!(packed.ends_before(index));
                packed.push(bin);
                prop_assert!(!packed.ends_before(index));
            }
            prop_assert_eq!(packed.bins().len(), bins.len());
            let deliveries = bins.iter().copied().map(Delivery::from);
            prop_assert!(packed.bins().deliveries().eq(deliveries));
            let with_samples = bins.iter().filter(|bin| bin.rtt_samples > 0);
            prop_assert!(packed.bins().rtts_ns_min().eq(with_samples.map(|bin| bin.rtt_ns_min)));
            prop_assert_eq!(packed.bins().collect::<Vec<_>>(), bins);
        }
    }

    #[test]
    fn a_bin_of_an_ack_takes_three_bytes() {
        let mut packed = PackedBins::NONE;
        for index in 0..100 {
            packed.push(&Bin {
                index,
                ip_bytes: 52,
                ..Bin::default()
            });
        }
        assert_eq!(packed.bytes.len(), 300);
    }

    #[test]
    fn a_usual_bin_takes_a_quarter_of_its_room() {
        let mut packed = PackedBins::NONE;
        for index in 0..100 {
            packed.push(&Bin {
                index,
                acked_bytes: 144_800,
                ip_bytes: 150_000,
                payload_bytes: 144_800,
                data_packets: 100,
                rtt_samples: 50,
                rtt_ns_sum: 50 * 41_000_000,
                rtt_ns_min: 40_000_000,
                rtt_ns_max: 42_000_000,
                in_flight_bytes_max: Some(60_000),
                ..Bin::default()
            });
        }
        let bytes = packed.bytes.len() / 100;
        assert!(bytes <= 36, "{bytes}");
    }
}
