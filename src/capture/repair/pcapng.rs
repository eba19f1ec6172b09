//! Which bytes make sense as pcapng blocks. A block says its length twice, so that one is hardly
//! ever taken for what it is not.

use pcap_parser::{EPB_MAGIC, IDB_MAGIC, ISB_MAGIC, SHB_MAGIC, SPB_MAGIC};

use super::{Place, Step, View};
use crate::capture::error::{BlockFault, CaptureErrorKind};
use crate::capture::facts::ByteOrder;
use crate::capture::pcapng::{
    BLOCK_BYTES_MAX, PB_MAGIC, PcapngWalker, block_bytes_min, section_order,
};
use crate::capture::record::Entry;

/// Bytes that tell type and length of a block, and the byte order where it begins a section.
pub(super) const HEAD_BYTES: usize = 12;

/// Blocks in a row that are a run.
const RUN_BLOCKS: usize = 3;

/// Types of blocks that hold no packets: name resolution, systemd journal, decryption secrets, and
/// custom blocks, to be copied or not.
const OTHER_TYPES: [u32; 5] = [4, 9, 10, 0x0bad, 0x4000_0bad];

/// Looks at the block at `place`.
pub(super) fn step(walker: &mut PcapngWalker, place: &Place<'_>, entries: &mut Vec<Entry>) -> Step {
    let rest = place.bytes.get(place.at..).unwrap_or_default();
    if rest.len() < HEAD_BYTES {
        return Step::Needs(HEAD_BYTES);
    }
    let Some((block_type, length, order)) = head(rest, walker.order()) else {
        return Step::Lost;
    };
    let Some(block) = rest.get(..length) else {
        let view = View {
            bytes: rest,
            ends: true,
        };
        let goes_on = place.at_end
            && (1..rest.len())
                .any(|at| could_begin(walker, &rest[at..]) && is_run(walker, view.from(at)));
        return if goes_on {
            Step::Lost
        } else {
            Step::Needs(length)
        };
    };
    if !ends_as_it_begins(block, order) {
        return Step::Lost;
    }
    let mut at = place.at;
    let walked = walker.walk(&place.bytes[..place.at + length], &mut at, entries, None);
    // Whatever else such a block says is lost, what comes behind it counts from it.
    match (&walked, block_type) {
        (Err(_), IDB_MAGIC) => walker.lost_interface(),
        (Err(_), SHB_MAGIC) => walker.begin_section(order),
        _ => {}
    }
    match walked {
        Ok(_) => Step::Taken(length),
        Err(CaptureErrorKind::BadBlock { fault, .. }) => Step::Unusable(length, fault),
        Err(CaptureErrorKind::UnsupportedVersion { major, minor, .. }) => {
            Step::Unusable(length, BlockFault::Version { major, minor })
        }
        Err(_) => Step::Unusable(length, BlockFault::Options),
    }
}

/// Whether a run of blocks could begin here, by the first twelve bytes alone.
pub(super) fn could_begin(walker: &PcapngWalker, rest: &[u8]) -> bool {
    head(rest, walker.order()).is_some_and(|(block_type, ..)| is_known(block_type))
}

/// Whether a run of blocks begins here.
pub(super) fn is_run(walker: &PcapngWalker, view: View<'_>) -> bool {
    let (mut at, mut order) = (0, walker.order());
    for blocks in 0..RUN_BLOCKS {
        let rest = view.from(at).bytes;
        if rest.len() < HEAD_BYTES {
            return blocks > 0;
        }
        let Some((block_type, length, order_here)) = head(rest, order) else {
            return false;
        };
        match rest.get(..length) {
            _ if !is_known(block_type) => return false,
            None => return blocks > 0,
            Some(block) if !ends_as_it_begins(block, order_here) => return false,
            Some(_) => {}
        }
        at += length;
        order = order_here;
    }
    true
}

/// Type, length and byte order of the block that `rest` begins with, if they can be.
fn head(rest: &[u8], order: ByteOrder) -> Option<(u32, usize, ByteOrder)> {
    let block_type = order.u32_at(rest, 0)?;
    let order = if block_type == SHB_MAGIC {
        section_order(rest)?
    } else {
        order
    };
    let length = order.u32_at(rest, 4)?;
    let possible = length >= block_bytes_min(block_type)
        && length.is_multiple_of(4)
        && length <= BLOCK_BYTES_MAX;
    possible.then_some((block_type, length as usize, order))
}

fn ends_as_it_begins(block: &[u8], order: ByteOrder) -> bool {
    order.u32_at(block, 4) == order.u32_at(block, block.len() - 4)
}

fn is_known(block_type: u32) -> bool {
    matches!(
        block_type,
        EPB_MAGIC | PB_MAGIC | SPB_MAGIC | SHB_MAGIC | IDB_MAGIC | ISB_MAGIC
    ) || OTHER_TYPES.contains(&block_type)
}
