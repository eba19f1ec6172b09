//! A flow over time, in bins of fixed length (METRICS.md section 4).

use crate::packing::{take, unzigzag, zigzag};

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
    /// Mean RTT, in ns; `None` without samples.
    #[must_use]
    pub fn rtt_ns_mean(&self) -> Option<f64> {
        (self.rtt_samples > 0).then(|| self.rtt_ns_sum as f64 / self.rtt_samples as f64)
    }

    /// Its numbers as they are written behind a bin with the number `before`: near 0 where that is
    /// usual.
    fn numbers(&self, before: i64) -> [u64; NUMBERS] {
        let step = self.index.wrapping_sub(before).wrapping_sub(1);
        [
            zigzag(step),
            self.acked_bytes,
            self.ip_bytes,
            self.payload_bytes,
            self.data_packets,
            self.retransmitted_packets,
            self.retransmitted_bytes,
            self.rtt_samples,
            zigzag(self.rtt_ns_min),
            zigzag(self.rtt_ns_max.wrapping_sub(self.rtt_ns_min)),
            zigzag(self.rtt_ns_sum.wrapping_sub(self.rtt_ns_min)),
            self.in_flight_bytes_max.unwrap_or(0),
        ]
    }

    /// The bin of which [`numbers`](Self::numbers) gave these.
    fn of(numbers: [u64; NUMBERS], has_in_flight: bool, before: i64) -> Self {
        let rtt_ns_min = unzigzag(numbers[8]);
        Self {
            index: before.wrapping_add(1).wrapping_add(unzigzag(numbers[0])),
            acked_bytes: numbers[1],
            ip_bytes: numbers[2],
            payload_bytes: numbers[3],
            data_packets: numbers[4],
            retransmitted_packets: numbers[5],
            retransmitted_bytes: numbers[6],
            rtt_samples: numbers[7],
            rtt_ns_min,
            rtt_ns_max: rtt_ns_min.wrapping_add(unzigzag(numbers[9])),
            rtt_ns_sum: rtt_ns_min.wrapping_add(unzigzag(numbers[10])),
            in_flight_bytes_max: has_in_flight.then_some(numbers[11]),
        }
    }
}

/// Numbers of a bin that is written.
const NUMBERS: usize = 12;
/// The number before that of the first bin.
const BEFORE_FIRST: i64 = -1;

/// The bins of one flow in which anything happened, in order: some 20 bytes each.
#[derive(Clone, Debug, Default)]
pub struct Series {
    packed: Box<[u8]>,
    bins: u32,
    cut: bool,
    given_up: bool,
}

impl Series {
    /// Of bins in order of time, of which some may be missing.
    pub(super) fn new(packed: PackedBins, cut: bool) -> Self {
        Self {
            packed: packed.bytes.into(),
            bins: packed.bins,
            cut,
            given_up: false,
        }
    }

    /// The bins, in order of time.
    #[must_use]
    pub fn bins(&self) -> Bins<'_> {
        Bins::of(&self.packed, self.bins)
    }

    /// Whether bins are missing: there were too many, or they were given up.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Whether all bins were given up.
    #[must_use]
    pub fn is_given_up(&self) -> bool {
        self.given_up
    }

    /// Gives up all bins.
    pub fn give_up(&mut self) {
        *self = Self {
            cut: true,
            given_up: true,
            ..Self::default()
        };
    }

    /// Memory that the bins take, in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.packed.len()
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

impl Iterator for Bins<'_> {
    type Item = Bin;

    fn next(&mut self) -> Option<Bin> {
        self.left = self.left.checked_sub(1)?;
        let marks = take(&mut self.bytes, MARK_BYTES);
        let numbers = std::array::from_fn(|place| {
            let len = marks >> (LEN_BITS * place) & LEN_MASK;
            take(&mut self.bytes, len as usize)
        });
        let bin = Bin::of(numbers, marks & HAS_IN_FLIGHT != 0, self.before);
        self.before = bin.index;
        Some(bin)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Bins<'_> {}

/// Bins as they are written, each behind one with a lower number: how many bytes each of its numbers
/// takes, and these.
#[derive(Debug)]
pub(super) struct PackedBins {
    bytes: Vec<u8>,
    bins: u32,
    /// Number of the last one.
    last: i64,
}

/// Bits of the length of a number, 0 to 8 bytes.
const LEN_BITS: usize = 4;
const LEN_MASK: u64 = (1 << LEN_BITS) - 1;
/// The mark of a bin in which bytes in flight are known, behind the lengths.
const HAS_IN_FLIGHT: u64 = 1 << (LEN_BITS * NUMBERS);
/// Bytes of the lengths and this.
const MARK_BYTES: usize = 7;

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
        let mut written = [0; MARK_BYTES + 8 * (NUMBERS + 1)];
        let mut marks = if bin.in_flight_bytes_max.is_some() {
            HAS_IN_FLIGHT
        } else {
            0
        };
        let mut end = MARK_BYTES;
        for (place, number) in bin.numbers(self.last).into_iter().enumerate() {
            // All eight: the next number is written over those that are 0.
            written[end..end + 8].copy_from_slice(&number.to_le_bytes());
            let len = (u64::BITS - number.leading_zeros()).div_ceil(8) as usize;
            marks |= (len as u64) << (LEN_BITS * place);
            end += len;
        }
        written[..MARK_BYTES].copy_from_slice(&marks.to_le_bytes()[..MARK_BYTES]);
        let bytes = &mut self.bytes;
        if bytes.capacity() - bytes.len() < end {
            // Twice the room, or that for this one: most flows end in their first bin.
            bytes.reserve_exact(bytes.len().max(end));
        }
        bytes.extend_from_slice(&written[..end]);
        self.bins += 1;
        self.last = bin.index;
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
            prop::array::uniform10(number()),
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
            let series = Series::new(packed, false);
            prop_assert_eq!(series.bins().len(), bins.len());
            prop_assert_eq!(series.bins().collect::<Vec<_>>(), bins);
        }
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
        let bytes = Series::new(packed, false).memory_bytes() / 100;
        assert!(bytes <= 36, "{bytes}");
    }
}
