//! pcapng: blocks, in sections that each have their own byte order and interfaces.
//!
//! Layout after `draft-ietf-opsawg-pcapng`. Packet blocks are read by hand, checked against the
//! bounds of their block; section headers, interface descriptions, statistics and their options by
//! the library, except for the values of options, which it reads in one byte order only.

use pcap_parser::{
    BOM_MAGIC, EPB_MAGIC, IDB_MAGIC, ISB_MAGIC, SHB_MAGIC, SPB_MAGIC, parse_sectionheaderblock,
};

use super::RECORD_BYTES_MAX;
use super::error::{BlockFault, CaptureErrorKind};
use super::facts::{ByteOrder, CaptureFormat, FileFacts, TimeResolution};
use super::interface::{Drops, Interface, dropped_before, options_before_end};
use super::lanes::{Lanes, walk_to};
use super::pcap::begins_file;
use super::record::Entry;
use super::starts::pcapng_block;
use crate::time::CaptureTime;

/// The obsolete Packet Block: as an Enhanced Packet Block, but with a shorter interface field.
pub(super) const PB_MAGIC: u32 = 2;

/// Bytes of an Enhanced Packet Block before the packet.
const EPB_HEAD: usize = 28;

/// A Packet Block's count of dropped packets where nobody counted.
const PB_DROPS_UNKNOWN: u16 = u16::MAX;

/// Type, length, and the length again at the end.
const BLOCK_BYTES_MIN: u32 = 12;

/// Bytes of a section header without options.
const HEADER_BYTES_MIN: usize = 28;

/// Largest block that is read whole, in bytes: a packet of the largest size and ample options.
/// Blocks that are only skipped may have any length.
pub(super) const BLOCK_BYTES_MAX: u32 = RECORD_BYTES_MAX + (1 << 20);

/// Interfaces of a section at most: as many as a Packet Block, whose field for them has 16 bits, can name. They are
/// kept for as long as the section is read.
pub(super) const INTERFACES_MAX: usize = 1 << 16;

/// Walks the blocks of one pcapng file.
#[derive(Clone, Debug)]
pub(super) struct PcapngWalker {
    order: ByteOrder,
    /// `None`: one whose description cannot be used, where damage is passed over.
    interfaces: Vec<Option<Interface>>,
    /// Simple Packet Blocks carry no time: they take that of the packet before them.
    last_at: CaptureTime,
    /// How many there were.
    untimed: u64,
    skip: Option<Skip>,
    resolution: Option<TimeResolution>,
    snap_len: Option<u32>,
    /// Drops in the sections before this one.
    past_drops: Drops,
}

/// A block that is passed over without being held in memory.
#[derive(Clone, Copy, Debug)]
struct Skip {
    block_type: u32,
    length: u32,
    /// Bytes before the length at the end.
    left: u32,
}

/// Bytes that a block of this type has at least.
pub(super) fn block_bytes_min(block_type: u32) -> u32 {
    match block_type {
        EPB_MAGIC | PB_MAGIC => 32,
        SHB_MAGIC => 28,
        IDB_MAGIC => 20,
        ISB_MAGIC => 24,
        SPB_MAGIC => 16,
        _ => BLOCK_BYTES_MIN,
    }
}

impl PcapngWalker {
    /// `None` when the file is not pcapng. The section header is left for the walk, except that
    /// what says it cannot be pcapng is an error of the file, not of its first record.
    pub(super) fn recognise(first: &[u8]) -> Result<Option<Self>, CaptureErrorKind> {
        let magic = SHB_MAGIC.to_be_bytes();
        let known = first.len().min(magic.len());
        if first[..known] != magic[..known] {
            return Ok(None);
        }
        let mut walker = Self::new(section_order(first).unwrap_or(ByteOrder::Little));
        if first.len() < HEADER_BYTES_MIN {
            let have = first.len() as u64;
            let need = HEADER_BYTES_MIN as u64;
            return Err(CaptureErrorKind::Truncated { have, need });
        }
        let length = walker.section_length(first)?;
        if let Some(block) = first.get(..length as usize) {
            walker.section(block)?;
        }
        Ok(Some(walker))
    }

    /// The same of a file of which no more has to be whole than what tells the byte order of its section.
    pub(super) fn recognise_damaged(first: &[u8]) -> Option<Self> {
        let is_one = first.len() >= HEADER_BYTES_MIN && begins_section(first);
        section_order(first).filter(|_| is_one).map(Self::new)
    }

    fn new(order: ByteOrder) -> Self {
        Self {
            order,
            interfaces: Vec::new(),
            last_at: CaptureTime::default(),
            untimed: 0,
            skip: None,
            resolution: None,
            snap_len: None,
            past_drops: Drops::default(),
        }
    }

    /// See `Walker::walk`.
    pub(super) fn walk(
        &mut self,
        bytes: &[u8],
        at: &mut usize,
        entries: &mut Vec<Entry>,
        mut lanes: Option<&mut Lanes>,
    ) -> Result<usize, CaptureErrorKind> {
        loop {
            if self.skip.is_some()
                && let Some(need) = self.go_on_skipping(bytes, at)?
            {
                return Ok(need);
            }
            // Once a walk, and only where packets begin: starts are looked for in all bytes that are left.
            let begins = self.begins_usual(bytes.get(*at..).unwrap_or_default());
            let lanes = if begins { lanes.take() } else { None };
            self.walk_usual((bytes, at), entries, lanes);
            let rest = bytes.get(*at..).unwrap_or_default();
            let Some(head) = rest.first_chunk::<12>() else {
                return Ok(12);
            };
            let [t0, t1, t2, t3, l0, l1, l2, l3, ..] = *head;
            let block_type = self.order.u32([t0, t1, t2, t3]);
            let length = if block_type == SHB_MAGIC {
                self.section_length(rest)?
            } else {
                self.order.u32([l0, l1, l2, l3])
            };
            let fault = |fault| CaptureErrorKind::BadBlock { block_type, fault };
            let is_known = matches!(
                block_type,
                EPB_MAGIC | PB_MAGIC | SPB_MAGIC | SHB_MAGIC | IDB_MAGIC | ISB_MAGIC
            );
            if !is_known && begins_file(rest) {
                return Err(CaptureErrorKind::AnotherCapture);
            }
            if *head == [0; 12] {
                return Err(CaptureErrorKind::Hole);
            }
            if length < block_bytes_min(block_type) || length % 4 != 0 {
                return Err(fault(BlockFault::Length(length)));
            }
            if !is_known {
                self.skip = Some(Skip {
                    block_type,
                    length,
                    left: length - 4,
                });
                continue;
            }
            if length > BLOCK_BYTES_MAX {
                return Err(fault(BlockFault::TooLong(length)));
            }
            let Some(block) = rest.get(..length as usize) else {
                return Ok(length as usize);
            };
            let end = self
                .order_of(block_type, block)
                .u32_at(block, block.len() - 4);
            check_end(length, end).map_err(fault)?;
            match block_type {
                EPB_MAGIC | PB_MAGIC => {
                    entries.push(self.packet(block_type, block, *at).map_err(fault)?);
                }
                SPB_MAGIC => {
                    entries.push(self.simple_packet(block, *at).map_err(fault)?);
                    self.untimed += 1;
                }
                SHB_MAGIC => self.section(block)?,
                IDB_MAGIC => self.interface(block).map_err(fault)?,
                _ => self.statistics(block),
            }
            *at += block.len();
        }
    }

    /// The whole and faultless Enhanced Packet Block that `rest` begins with, and its length. What is
    /// anything else is told by the long way, which finds the same of this one.
    #[inline]
    pub(super) fn usual(&self, rest: &[u8], at: usize, order: ByteOrder) -> Option<(Entry, usize)> {
        let (words, _) = rest.first_chunk::<28>()?.as_chunks::<4>();
        let &[
            block_type,
            length,
            interface,
            high,
            low,
            captured_len,
            original_len,
        ] = words
        else {
            return None;
        };
        let length = order.u32(length);
        if order.u32(block_type) != EPB_MAGIC
            || !length.is_multiple_of(4)
            || !(32..=BLOCK_BYTES_MAX).contains(&length)
        {
            return None;
        }
        let (_, end) = rest.get(..length as usize)?.split_last_chunk()?;
        let interface = self.interfaces.get(order.u32(interface) as usize)?;
        let interface = interface.as_ref()?;
        let captured_len = order.u32(captured_len);
        if order.u32(*end) != length || captured_len > length - 32 {
            return None;
        }
        let ticks = u64::from(order.u32(high)) << 32 | u64::from(order.u32(low));
        let entry = Entry {
            at: interface.clock.at(ticks),
            start: (at + EPB_HEAD) as u32,
            captured_len,
            original_len: order.u32(original_len),
            link: interface.link,
        };
        Some((entry, length as usize))
    }

    /// Whether the first of these blocks is one of the usual ones.
    fn begins_usual(&self, blocks: &[u8]) -> bool {
        self.usual(blocks, 0, self.order).is_some()
    }

    /// Appends the packets from `at` on, to the first block that is none of the usual.
    fn walk_usual(
        &mut self,
        (bytes, at): (&[u8], &mut usize),
        entries: &mut Vec<Entry>,
        lanes: Option<&mut Lanes>,
    ) {
        let (order, before) = (self.order, entries.len());
        let step = |bytes: &[u8], at: usize| {
            let (entry, length) = self.usual(bytes.get(at..)?, at, order)?;
            Some((entry, at + length))
        };
        match lanes {
            Some(lanes) => {
                let packet = match order {
                    ByteOrder::Little => EPB_MAGIC.to_le_bytes(),
                    ByteOrder::Big => EPB_MAGIC.to_be_bytes(),
                };
                let block = *at;
                let guess = |from| pcapng_block(bytes, (from, block), packet, step);
                // Of a block both ends are looked at.
                let ahead = |next: usize| {
                    let length = order.u32_at(bytes, next.wrapping_add(4));
                    next.wrapping_add(length.unwrap_or(0) as usize)
                };
                lanes.walk(guess, ahead, (bytes, at), entries, step);
            }
            None => walk_to(usize::MAX, (bytes, at), entries, &step),
        }
        if let Some(last) = entries[before..].last() {
            self.last_at = last.at;
        }
        self.count_drops(&bytes[..*at], &entries[before..]);
    }

    /// Takes note of the drops that the blocks of these packets tell of, which follow each other to the end of `bytes`.
    /// To look for options when each is walked takes more than twice as many instructions.
    fn count_drops(&mut self, bytes: &[u8], packets: &[Entry]) {
        for pair in packets.windows(2) {
            self.count_drops_of(bytes, &pair[0], pair[1].start as usize - EPB_HEAD);
        }
        if let Some(last) = packets.last() {
            self.count_drops_of(bytes, last, bytes.len());
        }
    }

    /// The same of one packet, whose block ends at `end`.
    #[inline]
    fn count_drops_of(&mut self, bytes: &[u8], packet: &Entry, end: usize) {
        let packet_end = packet.start as usize + packet.captured_len as usize;
        // Behind padding and the length of the block.
        if end - packet_end >= 8 {
            let block = &bytes[packet.start as usize - EPB_HEAD..end];
            self.count_told_drops(block, packet.captured_len);
        }
    }

    #[cold]
    fn count_told_drops(&mut self, block: &[u8], captured_len: u32) {
        let interface = self.order.u32_at(block, 8).map(|id| id as usize);
        let interface = interface.and_then(|id| self.interfaces.get_mut(id));
        if let Some(Some(interface)) = interface
            && let Some(dropped) = dropped_in(block, captured_len, self.order)
        {
            interface.add_before_packet(dropped);
        }
    }

    /// Byte order of the section.
    pub(super) fn order(&self) -> ByteOrder {
        self.order
    }

    /// Bytes walked of a block that is being skipped, and its length.
    pub(super) fn open_block(&self) -> Option<(u64, u64)> {
        self.skip.map(|skip| {
            (
                u64::from(skip.length - 4 - skip.left),
                u64::from(skip.length),
            )
        })
    }

    pub(super) fn describe(&self, facts: &mut FileFacts) {
        let drops = self.drops();
        facts.format = Some(CaptureFormat::Pcapng);
        facts.byte_order = Some(self.order);
        facts.resolution = self.resolution;
        facts.snap_len = self.snap_len;
        facts.untimed_records = self.untimed;
        facts.interface_drops = drops.interface;
        facts.system_drops = drops.system;
        facts.drops = drops.all;
    }

    fn drops(&self) -> Drops {
        self.interfaces
            .iter()
            .flatten()
            .fold(self.past_drops, |sum, interface| {
                sum.plus(interface.drops())
            })
    }

    fn go_on_skipping(
        &mut self,
        bytes: &[u8],
        at: &mut usize,
    ) -> Result<Option<usize>, CaptureErrorKind> {
        let Some(mut skip) = self.skip else {
            return Ok(None);
        };
        let passed = (bytes.len() - *at).min(skip.left as usize);
        *at += passed;
        skip.left -= passed as u32;
        self.skip = Some(skip);
        if skip.left > 0 {
            return Ok(Some(1));
        }
        let Some(end) = self.order.u32_at(bytes, *at) else {
            return Ok(Some(4));
        };
        let Skip {
            block_type, length, ..
        } = skip;
        check_end(length, Some(end))
            .map_err(|fault| CaptureErrorKind::BadBlock { block_type, fault })?;
        *at += 4;
        self.skip = None;
        Ok(None)
    }

    /// Length of a section header, by the byte order it announces itself.
    fn section_length(&self, block: &[u8]) -> Result<u32, CaptureErrorKind> {
        let fault = |fault| CaptureErrorKind::BadBlock {
            block_type: SHB_MAGIC,
            fault,
        };
        let magic = self.order.u32_at(block, 8).unwrap_or_default();
        let order = section_order(block).ok_or(fault(BlockFault::ByteOrderMagic(magic)))?;
        let length = order.u32_at(block, 4).unwrap_or_default();
        if length < 28 || !length.is_multiple_of(4) {
            return Err(fault(BlockFault::Length(length)));
        }
        Ok(length)
    }

    fn order_of(&self, block_type: u32, block: &[u8]) -> ByteOrder {
        match block_type {
            SHB_MAGIC => section_order(block).unwrap_or(self.order),
            _ => self.order,
        }
    }

    /// A new section: the interfaces of the one before it are gone.
    fn section(&mut self, block: &[u8]) -> Result<(), CaptureErrorKind> {
        let fault = |fault| CaptureErrorKind::BadBlock {
            block_type: SHB_MAGIC,
            fault,
        };
        let Ok((_, section)) = parse_sectionheaderblock(block) else {
            return Err(fault(BlockFault::Options));
        };
        let (major, minor) = (section.major_version, section.minor_version);
        // 1.2 is what some writers called 1.0.
        if !matches!((major, minor), (1, 0 | 2)) {
            let format = CaptureFormat::Pcapng;
            return Err(CaptureErrorKind::UnsupportedVersion {
                format,
                major,
                minor,
            });
        }
        if options_before_end(&section.options, block.len() - 28).is_none() {
            return Err(fault(BlockFault::Options));
        }
        self.begin_section(section_order(block).unwrap_or(self.order));
        Ok(())
    }

    /// From here on blocks have this byte order, and interfaces are described anew.
    pub(super) fn begin_section(&mut self, order: ByteOrder) {
        self.order = order;
        self.past_drops = self.drops();
        self.interfaces.clear();
    }

    fn interface(&mut self, block: &[u8]) -> Result<(), BlockFault> {
        if self.interfaces.len() == INTERFACES_MAX {
            return Err(BlockFault::TooManyInterfaces(INTERFACES_MAX));
        }
        let interface = Interface::read(block, self.order)?;
        let Interface {
            resolution,
            snap_len,
            ..
        } = interface;
        self.interfaces.push(Some(interface));
        if self
            .resolution
            .is_none_or(|so_far| so_far.step_ns() < resolution.step_ns())
        {
            self.resolution = Some(resolution);
        }
        if snap_len > 0 {
            self.snap_len = Some(
                self.snap_len
                    .map_or(snap_len, |so_far| so_far.min(snap_len)),
            );
        }
        Ok(())
    }

    /// An interface whose description cannot be used: those behind it keep their numbers.
    pub(super) fn lost_interface(&mut self) {
        if self.interfaces.len() < INTERFACES_MAX {
            self.interfaces.push(None);
        }
    }

    fn statistics(&mut self, block: &[u8]) {
        if let Some((interface, later)) = Drops::read(block, self.order)
            && let Some(Some(interface)) = self.interfaces.get_mut(interface)
        {
            interface.count(later);
        }
    }

    /// An Enhanced Packet Block, or an obsolete Packet Block.
    #[inline]
    pub(super) fn packet(
        &mut self,
        block_type: u32,
        block: &[u8],
        at: usize,
    ) -> Result<Entry, BlockFault> {
        let length = block.len() as u32;
        let Some(fields) = block.first_chunk::<28>() else {
            return Err(BlockFault::Length(length));
        };
        let field = |at: usize| {
            self.order
                .u32([fields[at], fields[at + 1], fields[at + 2], fields[at + 3]])
        };
        let old = block_type == PB_MAGIC;
        let interface_id = if old {
            self.order.u16_at(fields, 8).unwrap_or(u16::MAX).into()
        } else {
            field(8)
        };
        let ticks = u64::from(field(12)) << 32 | u64::from(field(16));
        let (captured_len, original_len) = (field(20), field(24));
        let room = length - 32;
        if captured_len > room {
            return Err(BlockFault::CapturedLength {
                captured: captured_len,
                room,
            });
        }
        let dropped = if old {
            let count = self.order.u16_at(fields, 10);
            count
                .filter(|&count| count != PB_DROPS_UNKNOWN)
                .map(u64::from)
        } else {
            dropped_in(block, captured_len, self.order)
        };
        let unknown = self.unknown(interface_id);
        let interface = self.interfaces.get_mut(interface_id as usize);
        let interface = interface.and_then(Option::as_mut).ok_or(unknown)?;
        if let Some(dropped) = dropped {
            interface.add_before_packet(dropped);
        }
        let (time, link) = (interface.clock.at(ticks), interface.link);
        self.last_at = time;
        Ok(Entry {
            at: time,
            start: (at + EPB_HEAD) as u32,
            captured_len,
            original_len,
            link,
        })
    }

    fn simple_packet(&self, block: &[u8], at: usize) -> Result<Entry, BlockFault> {
        let length = block.len() as u32;
        let original_len = self
            .order
            .u32_at(block, 8)
            .ok_or(BlockFault::Length(length))?;
        let interface = self.described(0)?;
        let room = length - 16;
        let snap_len = if interface.snap_len == 0 {
            u32::MAX
        } else {
            interface.snap_len
        };
        Ok(Entry {
            at: self.last_at,
            start: (at + 12) as u32,
            captured_len: original_len.min(snap_len).min(room),
            original_len,
            link: interface.link,
        })
    }

    #[inline]
    fn described(&self, interface: u32) -> Result<&Interface, BlockFault> {
        let known = self.interfaces.get(interface as usize);
        known
            .and_then(Option::as_ref)
            .ok_or_else(|| self.unknown(interface))
    }

    /// What is wrong with a packet of an interface that is not known.
    fn unknown(&self, interface: u32) -> BlockFault {
        let described = self.interfaces.len();
        if (interface as usize) < described {
            BlockFault::LostInterface { interface }
        } else {
            BlockFault::UnknownInterface {
                interface,
                described,
            }
        }
    }
}

/// What an Enhanced Packet Block says of packets dropped before it, where its options do.
fn dropped_in(block: &[u8], captured_len: u32, order: ByteOrder) -> Option<u64> {
    let options = EPB_HEAD + (captured_len as usize).next_multiple_of(4);
    dropped_before(block.get(options..block.len() - 4)?, order)
}

/// Whether a section begins here, by its type and byte order.
pub(super) fn begins_section(bytes: &[u8]) -> bool {
    bytes.starts_with(&SHB_MAGIC.to_be_bytes()) && section_order(bytes).is_some()
}

pub(super) fn section_order(block: &[u8]) -> Option<ByteOrder> {
    [ByteOrder::Little, ByteOrder::Big]
        .into_iter()
        .find(|order| order.u32_at(block, 8) == Some(BOM_MAGIC))
}

#[inline]
fn check_end(start: u32, end: Option<u32>) -> Result<(), BlockFault> {
    let end = end.unwrap_or_default();
    if start == end {
        Ok(())
    } else {
        Err(BlockFault::LengthMismatch { start, end })
    }
}
