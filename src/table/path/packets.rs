//! One row per packet and hop.

use crate::path::{FateIter, Fates, Hop, Outcome, PacketFate, PathAnalysis, PathFlow};
use crate::table::blocks::{self, Blocks};
use crate::table::packed::{Keys, Numbers, Packed, PackedTable, Shared, Values};
use crate::table::schema::{Column, column_list};

/// The table of the packets of a path, of which no more is made at a time than is asked for: it has
/// more rows than any other.
pub struct PacketTable<'a> {
    hops: Vec<OfHop<'a>>,
    /// Of all hops, one after the other.
    flows: Vec<OfFlow<'a>>,
}

/// A hop's packets, and where its flows are among all.
struct OfHop<'a> {
    packets: &'a Fates,
    first_flow: usize,
}

/// What the rows of one flow have in common, written once for all of them.
struct OfFlow<'a> {
    /// Number of the hop, from 1.
    hop: u64,
    flow: Option<&'a PathFlow>,
    src: String,
    dst: String,
}

impl<'a> PacketTable<'a> {
    /// Of the packets of an analysis; without rows where they were not kept.
    #[must_use]
    pub fn of(analysis: &'a PathAnalysis) -> Self {
        let mut table = Self {
            hops: Vec::new(),
            flows: Vec::new(),
        };
        for (number, hop) in (1..).zip(&analysis.hops) {
            table.hops.push(OfHop {
                packets: &hop.packets,
                first_flow: table.flows.len(),
            });
            if !hop.packets.is_empty() {
                table.flows.extend(flows(number, hop));
            }
        }
        table
    }
}

fn flows(number: u64, hop: &Hop) -> impl Iterator<Item = OfFlow<'_>> {
    hop.flows.iter().map(move |flow| {
        let flow = flow.as_ref();
        let ip = |end: fn(&PathFlow) -> String| flow.map(end).unwrap_or_default();
        OfFlow {
            hop: number,
            flow,
            src: ip(|flow| flow.key.src.ip().to_string()),
            dst: ip(|flow| flow.key.dst.ip().to_string()),
        }
    })
}

impl PackedTable for PacketTable<'_> {
    type Rows<'a>
        = PacketRows<'a>
    where
        Self: 'a;
    type Group = PacketGroup;

    fn rows(&self) -> PacketRows<'_> {
        PacketRows {
            hops: self.hops.iter(),
            packets: None,
            first_flow: 0,
        }
    }

    fn refill(group: &mut PacketGroup, rows: &mut PacketRows<'_>, rows_max: usize) {
        group.clear();
        rows.take(rows_max).for_each(|row| group.add(row));
    }

    fn len(group: &PacketGroup) -> usize {
        group.uncertain.len()
    }

    fn columns<'a>(&'a self, group: &'a PacketGroup) -> Vec<Packed<'a>> {
        group.columns(self)
    }

    fn blocks(&self, rows_max: usize) -> Blocks<'_> {
        let mut rows = self.rows();
        let groups = std::iter::from_fn(move || {
            let rows = rows.by_ref().take(rows_max.max(1));
            let group: Vec<_> = rows.map(|row| PacketRow { table: self, row }).collect();
            (!group.is_empty()).then_some(group)
        });
        blocks::of_groups(packet_columns, groups, |group| (group.len(), group))
    }
}

/// A packet, and the place of its flow in the table.
type Row = (u32, PacketFate);

/// The rows of a table, one after the other.
pub struct PacketRows<'a> {
    hops: std::slice::Iter<'a, OfHop<'a>>,
    packets: Option<FateIter<'a>>,
    first_flow: usize,
}

impl Iterator for PacketRows<'_> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        loop {
            if let Some(fate) = self.packets.as_mut().and_then(Iterator::next) {
                return Some((self.first_flow as u32 + fate.flow, fate));
            }
            let hop = self.hops.next()?;
            self.packets = Some(hop.packets.iter());
            self.first_flow = hop.first_flow;
        }
    }
}

/// Rows one after the other, as columns.
#[derive(Default)]
pub struct PacketGroup {
    /// By their places in the table.
    flows: Keys,
    times: Numbers,
    frames_in: Numbers,
    frames_out: Numbers,
    ip_lens: Keys,
    /// By their numbers.
    outcomes: Keys,
    delays: Numbers,
    queue_delays: Numbers,
    uncertain: Values<bool>,
}

impl PacketGroup {
    fn clear(&mut self) {
        for keys in [&mut self.flows, &mut self.ip_lens, &mut self.outcomes] {
            keys.clear();
        }
        for numbers in [
            &mut self.times,
            &mut self.frames_in,
            &mut self.frames_out,
            &mut self.delays,
            &mut self.queue_delays,
        ] {
            numbers.clear();
        }
        self.uncertain.clear();
    }

    fn add(&mut self, (flow, fate): Row) {
        let frame = |frame: u64| frame.cast_signed();
        self.flows.push(flow);
        self.times.push(Some(fate.at_ns));
        self.frames_in.push(fate.entry_frame.map(frame));
        self.frames_out.push(fate.exit_frame.map(frame));
        self.ip_lens.push(fate.ip_len);
        self.outcomes.push(fate.outcome as u32);
        self.delays.push(fate.delay_ns);
        self.queue_delays.push(fate.queue_delay_ns);
        self.uncertain.push(Some(fate.uncertain));
    }

    /// Its columns, in the order of the table.
    fn columns<'a>(&'a self, table: &'a PacketTable<'a>) -> Vec<Packed<'a>> {
        let of = |flow: u32| &table.flows[flow as usize];
        let count = |count: u64| Some(Shared::Whole(count.cast_signed()));
        let outcome = |outcome: u32| {
            let outcome = Outcome::ALL.get(outcome as usize)?;
            Some(Shared::Text(outcome.name()))
        };
        let port = |port: u16| count(port.into());
        vec![
            self.flows.column(|flow| count(of(flow).hop)),
            self.flows
                .column(|flow| Some(Shared::Text(of(flow).flow?.heading.name()))),
            self.flows.column(|flow| of(flow).src().map(Shared::Text)),
            self.flows
                .column(|flow| port(of(flow).flow?.key.src.port())),
            self.flows.column(|flow| of(flow).dst().map(Shared::Text)),
            self.flows
                .column(|flow| port(of(flow).flow?.key.dst.port())),
            Packed::Numbers(&self.times),
            Packed::Numbers(&self.frames_in),
            Packed::Numbers(&self.frames_out),
            self.ip_lens.column(|len| count(len.into())),
            self.outcomes.column(outcome),
            Packed::Numbers(&self.delays),
            Packed::Numbers(&self.queue_delays),
            Packed::Truths(&self.uncertain),
        ]
    }
}

impl OfFlow<'_> {
    fn src(&self) -> Option<&str> {
        self.flow.map(|_| self.src.as_str())
    }

    fn dst(&self) -> Option<&str> {
        self.flow.map(|_| self.dst.as_str())
    }
}

/// What a row is made of.
pub(super) struct PacketRow<'a> {
    table: &'a PacketTable<'a>,
    row: Row,
}

impl<'a> PacketRow<'a> {
    fn of(&self) -> &'a OfFlow<'a> {
        &self.table.flows[self.row.0 as usize]
    }

    fn flow(&self) -> Option<&'a PathFlow> {
        self.of().flow
    }

    fn packet(&self) -> &PacketFate {
        &self.row.1
    }
}

pub(super) fn packet_columns<'a>() -> Vec<Column<PacketRow<'a>>> {
    column_list![
    "hop" "-" Count |row| Some(row.of().hop);
    "way" "B1" Name |row| Some(row.flow()?.heading.name());
    "src_ip" "-" Name |row| row.of().src();
    "src_port" "-" Count |row| Some(u64::from(row.flow()?.key.src.port()));
    "dst_ip" "-" Name |row| row.of().dst();
    "dst_port" "-" Count |row| Some(u64::from(row.flow()?.key.dst.port()));
    "time_ns" "-" Whole |row| Some(row.packet().at_ns);
    "frame_in" "-" Count |row| row.packet().entry_frame;
    "frame_out" "-" Count |row| row.packet().exit_frame;
    "ip_len" "-" Count |row| Some(u64::from(row.packet().ip_len));
    "outcome" "B1" Name |row| Some(row.packet().outcome.name());
    "delay_ns" "B3" Whole |row| row.packet().delay_ns;
    "queue_delay_ns" "B4" Whole |row| row.packet().queue_delay_ns;
    "uncertain" "B1" Truth |row| Some(row.packet().uncertain);
    ]
}
