//! The interfaces of a pcapng section: what they say about time, link type and drops.

use pcap_parser::nom::IResult;
use pcap_parser::{
    OptionCode, PcapError, PcapNGOption, parse_interfacedescriptionblock_be,
    parse_interfacedescriptionblock_le, parse_interfacestatisticsblock_be,
    parse_interfacestatisticsblock_le,
};

use super::clock::{Clock, resolution_from_option};
use super::error::BlockFault;
use super::facts::{ByteOrder, TimeResolution};
use super::record::LinkType;

/// One interface of a section.
#[derive(Clone, Debug)]
pub(super) struct Interface {
    pub(super) link: LinkType,
    pub(super) clock: Clock,
    pub(super) resolution: TimeResolution,
    /// 0 is no limit.
    pub(super) snap_len: u32,
    /// By its statistics blocks.
    counted: Drops,
    /// The sum of what stands beside its packets, each since the one before it.
    beside_packets: Option<u64>,
}

/// Packets that were not captured, by the count of those who dropped them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Drops {
    /// `isb_ifdrop`.
    pub(super) interface: Option<u64>,
    /// `isb_osdrop`.
    pub(super) system: Option<u64>,
    /// Both, or what stands beside packets where that is more: they count the same packets.
    pub(super) all: Option<u64>,
}

impl Interface {
    /// Reads an Interface Description Block.
    pub(super) fn read(block: &[u8], order: ByteOrder) -> Result<Self, BlockFault> {
        let description = parsed(match order {
            ByteOrder::Little => parse_interfacedescriptionblock_le(block),
            ByteOrder::Big => parse_interfacedescriptionblock_be(block),
        })
        .ok_or(BlockFault::Options)?;
        let room = block.len().saturating_sub(20);
        let options = options_before_end(&description.options, room).ok_or(BlockFault::Options)?;
        let resolution = match option(options, OptionCode::IfTsresol) {
            None => TimeResolution::MICROSECONDS,
            Some([value]) => resolution_from_option(*value),
            Some(_) => return Err(BlockFault::Options),
        };
        let offset_seconds = match option(options, OptionCode::IfTsoffset) {
            None => 0,
            Some(value) => u64_option(value, order)
                .ok_or(BlockFault::Options)?
                .cast_signed(),
        };
        Ok(Self {
            link: LinkType(description.linktype.0 as u16),
            clock: Clock::new(resolution, offset_seconds),
            resolution,
            snap_len: description.snaplen,
            counted: Drops::default(),
            beside_packets: None,
        })
    }

    /// Later counts of statistics: they count up from the start, so the latest stands.
    pub(super) fn count(&mut self, later: Drops) {
        self.counted.interface = later.interface.or(self.counted.interface);
        self.counted.system = later.system.or(self.counted.system);
    }

    /// So many were dropped since the packet before this one.
    pub(super) fn add_before_packet(&mut self, dropped: u64) {
        self.beside_packets = sum(self.beside_packets, Some(dropped));
    }

    /// What was dropped in all.
    pub(super) fn drops(&self) -> Drops {
        let Drops {
            interface, system, ..
        } = self.counted;
        Drops {
            all: sum(interface, system).max(self.beside_packets),
            ..self.counted
        }
    }
}

impl Drops {
    /// Reads an Interface Statistics Block; also gives its interface. `None` when it is malformed:
    /// it says nothing about records, so that it can be passed over.
    pub(super) fn read(block: &[u8], order: ByteOrder) -> Option<(usize, Self)> {
        let statistics = parsed(match order {
            ByteOrder::Little => parse_interfacestatisticsblock_le(block),
            ByteOrder::Big => parse_interfacestatisticsblock_be(block),
        })?;
        let room = block.len().saturating_sub(24);
        let options = options_before_end(&statistics.options, room)?;
        let count = |code| option(options, code).and_then(|value| u64_option(value, order));
        let drops = Self {
            interface: count(OptionCode::IsbIfDrop),
            system: count(OptionCode::IsbOsDrop),
            all: None,
        };
        Some((statistics.if_id as usize, drops))
    }

    /// The counts of other interfaces added.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            interface: sum(self.interface, other.interface),
            system: sum(self.system, other.system),
            all: sum(self.all, other.all),
        }
    }
}

fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (one, other) => one.or(other),
    }
}

/// The value of `epb_dropcount` among the options of an Enhanced Packet Block. By hand, since nothing else is asked of
/// them, and what is wrong with them is wrong with nothing else.
#[cold]
pub(super) fn dropped_before(mut options: &[u8], order: ByteOrder) -> Option<u64> {
    loop {
        let (code, length) = (order.u16_at(options, 0)?, order.u16_at(options, 2)?);
        let value = options.get(4..)?;
        match code {
            END_OF_OPTIONS => return None,
            EPB_DROPCOUNT => return u64_option(value.get(..length.into())?, order),
            _ => options = value.get(usize::from(length).next_multiple_of(4)..)?,
        }
    }
}

fn parsed<'a, T>(result: IResult<&'a [u8], T, PcapError<&'a [u8]>>) -> Option<T> {
    result.ok().map(|(_, block)| block)
}

/// The options before the end-of-options mark. `None` when they do not fill their `room`: the
/// library stops without a word where an option runs out of the block.
pub(super) fn options_before_end<'a, 'b>(
    options: &'a [PcapNGOption<'b>],
    room: usize,
) -> Option<&'a [PcapNGOption<'b>]> {
    let mut used = 0;
    for (index, option) in options.iter().enumerate() {
        if option.code == OptionCode::EndOfOpt {
            return options.get(..index);
        }
        used += 4 + option.value.len();
    }
    (used == room).then_some(options)
}

fn option<'a>(options: &'a [PcapNGOption<'_>], code: OptionCode) -> Option<&'a [u8]> {
    let option = options.iter().find(|option| option.code == code)?;
    option.as_bytes().ok()
}

/// The library reads numbers in options as little-endian in every section.
fn u64_option(value: &[u8], order: ByteOrder) -> Option<u64> {
    value.try_into().ok().map(|field| order.u64(field))
}

const END_OF_OPTIONS: u16 = 0;
const EPB_DROPCOUNT: u16 = 4;
