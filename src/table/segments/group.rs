//! A group of rows as packed columns: what a file of columns is written from.

use super::{Place, SegmentRows, SegmentTable};
use crate::event::{ClassifiedSegment, LossPlace, Reason, RttLabel, Verdict};
use crate::table::packed::{Keys, Numbers, Packed, Shared};

/// Rows that are taken at a time: so few that they stay in the nearest cache until they are added to the columns.
const BLOCK_ROWS: usize = 128;

/// Some rows as columns, in places that do not move: where a row goes needs no look at the room that each column has left.
struct Block {
    rows: usize,
    flows: [u32; BLOCK_ROWS],
    files: [u32; BLOCK_ROWS],
    frames: Cells,
    times: [i64; BLOCK_ROWS],
    seqs: [i64; BLOCK_ROWS],
    offsets: [i64; BLOCK_ROWS],
    payload_lens: [u32; BLOCK_ROWS],
    verdicts: [Verdict; BLOCK_ROWS],
    rtts: Cells,
    rtt_labels: [u32; BLOCK_ROWS],
    in_flight: Cells,
}

/// Numbers of which some may be null.
struct Cells {
    /// Those that are not null are the first `some` of these.
    values: [i64; BLOCK_ROWS],
    some: usize,
    valid: [bool; BLOCK_ROWS],
}

impl Cells {
    const NONE: Self = Self {
        values: [0; BLOCK_ROWS],
        some: 0,
        valid: [false; BLOCK_ROWS],
    };

    /// Puts the cell of a row in its place, which is below [`BLOCK_ROWS`].
    #[inline]
    fn put(&mut self, row: usize, cell: Option<i64>) {
        // A null is written over by the next one.
        self.values[self.some % BLOCK_ROWS] = cell.unwrap_or_default();
        self.some += usize::from(cell.is_some());
        self.valid[row] = cell.is_some();
    }
}

impl Block {
    const EMPTY: Self = Self {
        rows: 0,
        flows: [0; BLOCK_ROWS],
        files: [0; BLOCK_ROWS],
        frames: Cells::NONE,
        times: [0; BLOCK_ROWS],
        seqs: [0; BLOCK_ROWS],
        offsets: [0; BLOCK_ROWS],
        payload_lens: [0; BLOCK_ROWS],
        verdicts: [Verdict::NEW; BLOCK_ROWS],
        rtts: Cells::NONE,
        rtt_labels: [0; BLOCK_ROWS],
        in_flight: Cells::NONE,
    };

    fn clear(&mut self) {
        self.rows = 0;
        for cells in [&mut self.frames, &mut self.rtts, &mut self.in_flight] {
            cells.some = 0;
        }
    }

    /// Adds a row; there is room for it.
    #[inline]
    fn push(&mut self, place: Place, segment: ClassifiedSegment) {
        debug_assert!(self.rows < BLOCK_ROWS, "no more rows than wanted");
        // Below the length of every column, as the compiler sees.
        let row = self.rows % BLOCK_ROWS;
        self.rows += 1;
        self.flows[row] = place.flow;
        self.files[row] = place.file;
        self.frames
            .put(row, (place.file > 0).then_some(place.frame.cast_signed()));
        self.times[row] = segment.at.as_ns();
        self.seqs[row] = segment.seq.0.into();
        self.offsets[row] = segment.offset;
        self.payload_lens[row] = segment.payload_len;
        self.verdicts[row] = segment.verdict;
        let (rtt, label) = segment.rtt.unzip();
        self.rtts.put(row, rtt);
        self.rtt_labels[row] = label.map_or(0, |label| label as u32 + 1);
        self.in_flight
            .put(row, segment.in_flight_bytes.map(u64::cast_signed));
    }
}

/// Rows one after the other, as columns.
#[derive(Default)]
pub struct SegmentGroup {
    rows: usize,
    /// By their places in the table.
    flows: Keys,
    /// By their places in the table, plus one; 0 for none.
    files: Keys,
    frames: Numbers,
    times: Numbers,
    seqs: Numbers,
    offsets: Numbers,
    payload_lens: Keys,
    /// By their places in `judgements`.
    verdicts: Keys,
    judgements: Vec<Verdict>,
    rtts: Numbers,
    /// By their numbers plus one; 0 for none.
    rtt_labels: Keys,
    in_flight: Numbers,
}

impl SegmentGroup {
    /// Takes the next rows, `rows_max` at most, in the place of those that it had.
    pub(super) fn refill(&mut self, rows: &mut SegmentRows<'_>, rows_max: usize) {
        self.clear();
        let mut block = Block::EMPTY;
        while self.rows < rows_max {
            block.clear();
            let wanted = BLOCK_ROWS.min(rows_max - self.rows);
            rows.take(wanted, |place, segment| block.push(place, segment));
            if block.rows == 0 {
                break;
            }
            self.add(&block);
        }
    }

    fn clear(&mut self) {
        self.rows = 0;
        self.judgements.clear();
        for keys in [
            &mut self.flows,
            &mut self.files,
            &mut self.payload_lens,
            &mut self.verdicts,
            &mut self.rtt_labels,
        ] {
            keys.clear();
        }
        for numbers in [
            &mut self.frames,
            &mut self.times,
            &mut self.seqs,
            &mut self.offsets,
            &mut self.rtts,
            &mut self.in_flight,
        ] {
            numbers.clear();
        }
    }

    fn add(&mut self, block: &Block) {
        let rows = block.rows;
        self.rows += rows;
        self.flows.extend(&block.flows[..rows]);
        self.files.extend(&block.files[..rows]);
        self.times.extend_all(&block.times[..rows]);
        self.seqs.extend_all(&block.seqs[..rows]);
        self.offsets.extend_all(&block.offsets[..rows]);
        self.payload_lens.extend(&block.payload_lens[..rows]);
        for &verdict in &block.verdicts[..rows] {
            let judgement = self.judgement(verdict);
            self.verdicts.push(judgement);
        }
        self.rtt_labels.extend(&block.rtt_labels[..rows]);
        let cells = [
            (&mut self.frames, &block.frames),
            (&mut self.rtts, &block.rtts),
            (&mut self.in_flight, &block.in_flight),
        ];
        for (column, cells) in cells {
            column.extend_valid(&cells.values[..cells.some], &cells.valid[..rows]);
        }
    }

    /// Place of a verdict among those of the group.
    #[inline]
    fn judgement(&mut self, verdict: Verdict) -> u32 {
        let place = self.judgements.iter().position(|known| *known == verdict);
        let place = place.unwrap_or_else(|| {
            self.judgements.push(verdict);
            self.judgements.len() - 1
        });
        place as u32
    }

    /// How many rows it has.
    pub(super) fn len(&self) -> usize {
        self.rows
    }

    /// Its columns, in the order of the table.
    pub(super) fn columns<'a>(&'a self, table: &'a SegmentTable<'a>) -> Vec<Packed<'a>> {
        let of = |flow: u32| &table.flows[flow as usize];
        let text = |text: &'a str| Some(Shared::Text(text));
        let count = |count: u64| Some(Shared::Whole(count as i64));
        let judged = |name: fn(&Verdict) -> Option<&'static str>| {
            let name = move |place: u32| name(&self.judgements[place as usize]);
            self.verdicts
                .column(move |place| name(place).map(Shared::Text))
        };
        let label = |label: u32| {
            let label = RttLabel::ALL.get((label as usize).checked_sub(1)?)?;
            Some(Shared::Text(label.name()))
        };
        vec![
            self.flows.column(|flow| text(&of(flow).capture.name)),
            self.flows.column(|flow| count(of(flow).connection_id)),
            self.flows.column(|flow| text(&of(flow).src)),
            self.flows.column(|flow| count(of(flow).ports().0)),
            self.flows.column(|flow| text(&of(flow).dst)),
            self.flows.column(|flow| count(of(flow).ports().1)),
            self.files.column(|file| table.file(file).map(Shared::Text)),
            Packed::Numbers(&self.frames),
            Packed::Numbers(&self.times),
            Packed::Numbers(&self.seqs),
            Packed::Numbers(&self.offsets),
            self.payload_lens.column(|len| count(len.into())),
            judged(|verdict| Some(verdict.class.name())),
            judged(|verdict| verdict.reason.map(Reason::name)),
            judged(|verdict| verdict.lost.map(LossPlace::name)),
            judged(|verdict| Some(verdict.evidence.name())),
            judged(|verdict| Some(verdict.confidence.name())),
            Packed::Numbers(&self.rtts),
            self.rtt_labels.column(label),
            Packed::Numbers(&self.in_flight),
        ]
    }
}
