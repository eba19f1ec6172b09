//! The packets of young connections, in runs: nothing is copied as a connection goes on, and what one gives
//! back serves the next.

use bytemuck::allocation::zeroed_slice_box;

use crate::flow::kept::Kept;
use crate::prefetch::prefetch;

/// Where the runs of a connection begin among its packets, and where the last one ends. The first is a
/// handshake or a scan, which come no further; all of them a page's request and answer, with less
/// memory than the connection's state takes.
const RUN_STARTS: [u8; RUNS_MAX + 1] = [0, 3, 6, 12, 18, 24, 36, 54, 90];

/// Runs of a connection, at most.
pub(super) const RUNS_MAX: usize = 8;

/// Packets of a connection, at most.
const PACKETS_MAX: usize = RUN_STARTS[RUNS_MAX] as usize;

/// All runs are a multiple of it long.
const UNIT: usize = 3;

/// The longest run, in units.
const UNITS_MAX: usize = 12;

/// Packets of a piece: what an allocator takes for small still, and has no room to spare in: it rounds up to 10 KiB.
const PIECE_PACKETS: usize = 85 * UNIT;

/// Free packets that are not worth giving back.
const FREE_MIN: usize = 4096;

/// The run of each packet of a connection.
const RUN_OF: [u8; PACKETS_MAX] = {
    let mut runs = [0; PACKETS_MAX];
    let (mut place, mut run) = (0, 0);
    while place < PACKETS_MAX {
        if place == RUN_STARTS[run + 1] as usize {
            run += 1;
        }
        runs[place] = run as u8;
        place += 1;
    }
    runs
};

/// Packets that have room in a run.
#[inline]
fn run_len(run: usize) -> usize {
    usize::from(RUN_STARTS[run + 1] - RUN_STARTS[run])
}

/// Where a run begins in the store, in units, in three bytes: enough for two gigabytes of packets.
#[derive(Clone, Copy, Debug, Default)]
struct Run([u8; 3]);

impl Run {
    /// `None` where the store has too many packets.
    fn at(packet: usize) -> Option<Self> {
        let unit = u32::try_from(packet / UNIT).ok()?;
        let [low, mid, high, 0] = unit.to_le_bytes() else {
            return None;
        };
        Some(Self([low, mid, high]))
    }

    /// Its first packet.
    #[inline]
    fn start(self) -> usize {
        let [low, mid, high] = self.0;
        u32::from_le_bytes([low, mid, high, 0]) as usize * UNIT
    }
}

/// A young connection: where its packets are, and what is known of them all.
#[derive(Clone, Debug, Default)]
pub(super) struct Young {
    /// Where its runs are; as many count as its packets take.
    runs: [Run; RUNS_MAX],
    payload_bytes: u32,
    len: u8,
    /// One of its packets, or of those it had, has FIN or RST.
    pub(super) ends: bool,
    /// What can be given up of it was.
    pub(super) gave_up: bool,
    /// Parts that will be kept of it, [apart](super::Observer::is_apart) from each other.
    pub(super) parts: u8,
}

impl Young {
    /// Packets at hand: none when it is young no longer.
    pub(super) fn len(&self) -> usize {
        usize::from(self.len)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Payload of its packets, and of those it had, in both directions.
    pub(super) fn payload_bytes(&self) -> u64 {
        u64::from(self.payload_bytes)
    }

    /// Memory that its packets take, in bytes.
    #[inline]
    pub(super) fn memory_bytes(&self) -> usize {
        let len = self.len().checked_sub(1).map_or(0, |last| {
            usize::from(RUN_STARTS[usize::from(RUN_OF[last]) + 1])
        });
        len * size_of::<Kept>()
    }

    /// Whether its next packet is the first of a run.
    #[inline]
    pub(super) fn is_at_start(&self) -> bool {
        self.next().is_some_and(|(_, place)| place == 0)
    }

    /// A packet of so much payload, and with FIN or RST or without, has been put in its place.
    #[inline]
    pub(super) fn take(&mut self, payload_len: u32, ends: bool) {
        self.len += 1;
        self.payload_bytes = self.payload_bytes.saturating_add(payload_len);
        self.ends |= ends;
    }

    /// Run and place in it of its next packet; `None` where it has as many as can be.
    #[inline]
    fn next(&self) -> Option<(usize, usize)> {
        let run = usize::from(*RUN_OF.get(self.len())?);
        Some((run, usize::from(self.len - RUN_STARTS[run])))
    }

    /// Its runs: where they are in the store, and how many packets have room there.
    fn runs(&self) -> impl Iterator<Item = (Run, usize)> {
        let runs = (0..RUNS_MAX).take_while(|&run| RUN_STARTS[run] < self.len);
        runs.map(|run| (self.runs[run], run_len(run)))
    }
}

/// The packets of all young connections of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct PacketStore {
    /// Pointers that fit into the cache, as each packet asks for one.
    pieces: Vec<Box<[Kept]>>,
    /// Packets of the pieces that are in runs, free ones among them.
    used: usize,
    /// Runs that are free, by their length in units less one.
    free: [Vec<Run>; UNITS_MAX],
    /// Packets of these.
    free_packets: usize,
}

impl PacketStore {
    /// The place of a connection's next packet, which is one of its packets when that is [taken](Young::take); `None`
    /// where it has as many as can be.
    #[inline]
    pub(super) fn place(&mut self, young: &mut Young) -> Option<&mut Kept> {
        let (run, place) = young.next()?;
        // What has just been written is not read again: it would be in other pieces, and the processor would wait until
        // all that was written before is in the cache.
        let at = if place == 0 {
            let at = self.add(run_len(run))?;
            young.runs[run] = at;
            at
        } else {
            young.runs[run]
        };
        let index = at.start() + place;
        Some(&mut self.pieces[index / PIECE_PACKETS][index % PIECE_PACKETS])
    }

    /// Gives back the place of a connection's next packet, which is not taken.
    #[cold]
    pub(super) fn leave(&mut self, young: &Young) {
        if let Some((run, 0)) = young.next() {
            self.give_back(young.runs[run], run_len(run));
        }
    }

    /// Notes that a run of so many packets is free.
    fn give_back(&mut self, run: Run, len: usize) {
        self.free[len / UNIT - 1].push(run);
        self.free_packets += len;
    }

    /// Room for a run of so many packets.
    #[inline(never)]
    fn add(&mut self, packets: usize) -> Option<Run> {
        if let Some(run) = self.free[packets / UNIT - 1].pop() {
            self.free_packets -= packets;
            return Some(run);
        }
        // What is left of a piece, and too short, is for shorter runs.
        while self.used % PIECE_PACKETS + packets > PIECE_PACKETS {
            let left = Run::at(self.used)?;
            self.give_back(left, UNIT);
            self.used += UNIT;
        }
        let run = Run::at(self.used)?;
        self.used += packets;
        if self.used > self.pieces.len() * PIECE_PACKETS {
            // As the system gives it: to write what is not there yet would take as long as to write what comes.
            self.pieces.push(zeroed_slice_box(PIECE_PACKETS));
        }
        Some(run)
    }

    /// The packets of a connection, in the order they came.
    pub(super) fn iter(&self, young: &Young) -> impl Iterator<Item = &Kept> {
        let full = young.runs().zip(RUN_STARTS.map(usize::from));
        full.flat_map(|((run, len), before)| self.run(run, len.min(young.len() - before)))
    }

    /// Those of them that are in its run with this number, below [`RUNS_MAX`].
    pub(super) fn run_of(&self, young: &Young, run: usize) -> &[Kept] {
        let before = usize::from(RUN_STARTS[run]);
        let len = young.len().saturating_sub(before).min(run_len(run));
        if len == 0 {
            return &[];
        }
        self.run(young.runs[run], len)
    }

    fn run(&self, run: Run, len: usize) -> &[Kept] {
        let start = run.start();
        let piece = self.pieces.get(start / PIECE_PACKETS);
        piece.map_or(&[], |piece| &piece[start % PIECE_PACKETS..][..len])
    }

    /// Gives back the room of a connection's packets, which is young no longer.
    pub(super) fn clear(&mut self, young: &mut Young) {
        for (run, len) in young.runs() {
            self.give_back(run, len);
        }
        young.len = 0;
    }

    /// Begins to fetch the place of a connection's next packet.
    pub(super) fn expect_next(&self, young: &Young) {
        if let Some((run, place @ 1..)) = young.next()
            && let Some(packet) = self.run(young.runs[run], place + 1).last()
        {
            prefetch(packet);
        }
    }

    /// Begins to fetch a connection's packets.
    pub(super) fn expect_all(&self, young: &Young) {
        self.iter(young).for_each(prefetch);
    }

    /// Whether there is more free room than packets.
    #[inline]
    pub(super) fn is_sparse(&self) -> bool {
        self.free_packets > FREE_MIN.max(self.used / 2)
    }

    /// Gives back all room that is free. `all` are the connections that have packets here.
    pub(super) fn shrink<'a>(&mut self, all: impl Iterator<Item = &'a mut Young>) {
        let before = std::mem::take(self);
        for young in all {
            let old = std::mem::take(young);
            for packet in before.iter(&old) {
                if let Some(place) = self.place(young) {
                    *place = *packet;
                    young.len += 1;
                }
            }
            *young = Young {
                runs: young.runs,
                ..old
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{Endpoint, Segment};
    use crate::event::Direction;
    use crate::flow::kept::Start;
    use proptest::prelude::*;

    fn packet(number: u32) -> Kept {
        let end = Endpoint::v4([10, 0, 0, 1], 1);
        let segment = Segment {
            payload_len: number,
            ..Segment::empty(end, end)
        };
        Kept::of(Direction::Forward, &segment, Start::of(&segment)).unwrap()
    }

    #[test]
    fn runs_are_of_whole_units() {
        for len in (0..RUNS_MAX).map(run_len) {
            assert!(len > 0 && len % UNIT == 0 && len / UNIT <= UNITS_MAX);
        }
    }

    #[test]
    fn a_store_has_room_for_so_many_packets() {
        let most = ((1 << 24) - 1) * UNIT;
        for packet in [0, UNIT, 300 * UNIT, 70_000 * UNIT, most] {
            assert_eq!(Run::at(packet).map(Run::start), Some(packet));
        }
        assert!(Run::at(most + UNIT).is_none());
    }

    proptest! {
        /// Connections that take packets, give them back, and are moved together, against vectors.
        #[test]
        fn each_has_its_own_packets_in_order(
            steps in proptest::collection::vec((0..60_usize, 0..200_u32), 1..6000)
        ) {
            let mut store = PacketStore::default();
            let mut held: Vec<(Young, Vec<u32>)> = Vec::new();
            held.resize_with(60, Default::default);
            for (number, (which, what)) in (0..).zip(steps) {
                let (young, expected) = &mut held[which];
                match what {
                    0..3 => {
                        store.clear(young);
                        expected.clear();
                    }
                    3 => {
                        store.shrink(held.iter_mut().map(|(young, _)| young));
                        // What is left at the end of pieces.
                        let packets: usize = held.iter().map(|(young, _)| young.len()).sum();
                        prop_assert!(store.free_packets <= packets);
                    }
                    _ => match store.place(young) {
                        None => prop_assert_eq!(expected.len(), PACKETS_MAX),
                        Some(_) if what < 8 => store.leave(young),
                        Some(place) => {
                            *place = packet(number);
                            young.take(number, false);
                            expected.push(number);
                        }
                    },
                }
                let bytes: usize = held.iter().map(|(young, _)| young.memory_bytes()).sum();
                let room = store.free_packets + bytes / size_of::<Kept>();
                prop_assert_eq!(store.used, room);
            }
            for (young, expected) in &held {
                let numbers: Vec<u32> = store.iter(young).map(Kept::payload_len).collect();
                prop_assert_eq!(&numbers, expected);
            }
        }
    }
}
