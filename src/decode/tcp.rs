//! The TCP header and its options.

use std::num::NonZeroU16;

use etherparse::TcpHeaderSlice;

use super::ip::IpHeader;
use super::rest::Rest;
use super::segment::{SackBlock, SackBlocks, Segment, SynOptions, TcpFlags, Timestamps};
use super::skip::Skip;
use super::{Decoded, Outcome, Way};
use crate::seq::Seq;

/// The segment whose TCP header `rest` begins with (RFC 9293 section 3.1).
#[inline]
pub(super) fn segment(mut way: Way<'_>, ip: &IpHeader, rest: Rest<'_>) -> Outcome {
    match TcpHeaderSlice::from_slice(rest.bytes) {
        Ok(header) => with_header(&mut way, ip, rest.wire_len, &header, header.slice().len()),
        Err(_) => cut_segment(&mut way, ip, rest),
    }
}

/// The same when the captured bytes end in the header: what is missing reads as zero, which no
/// one looks at but as the end of the options.
#[cold]
fn cut_segment(way: &mut Way<'_>, ip: &IpHeader, rest: Rest<'_>) -> Outcome {
    if rest.wire_len < HEADER_LEN {
        return Err(Skip::MalformedTcp);
    }
    if rest.bytes.len() < NEEDED_LEN {
        return Err(Skip::HeaderCut);
    }
    let mut whole = [0; HEADER_LEN_MAX];
    let have = rest.bytes.len().min(HEADER_LEN_MAX);
    whole[..have].copy_from_slice(&rest.bytes[..have]);
    match TcpHeaderSlice::from_slice(&whole) {
        Ok(header) => with_header(way, ip, rest.wire_len, &header, have),
        Err(_) => Err(Skip::MalformedTcp),
    }
}

/// `wire_len` is the length of TCP header and payload by the IP header, `captured_len` how much
/// of the header there is; both in bytes.
#[inline]
fn with_header(
    way: &mut Way<'_>,
    ip: &IpHeader,
    wire_len: usize,
    header: &TcpHeaderSlice<'_>,
    captured_len: usize,
) -> Outcome {
    let bytes = header.slice();
    let Some(payload_len) = wire_len.checked_sub(bytes.len()) else {
        return Err(Skip::MalformedTcp);
    };
    // One load for the nine bits; the slice's accessors give them one by one.
    let flags = TcpFlags(u16::from_be_bytes([bytes[12], bytes[13]]) & 0x1ff);
    let options = bytes
        .get(HEADER_LEN..bytes.len().min(captured_len))
        .unwrap_or_default();
    let (timestamps, others) = match usual_timestamps(options) {
        Some((timestamps, behind)) => (Some(timestamps), behind),
        None => (None, options),
    };
    let mut options = Options {
        timestamps,
        ..Options::default()
    };
    if !others.is_empty() {
        options.read(others, flags);
    }
    options.syn.ttl_above_64 = flags.has(TcpFlags::SYN) && ip.ttl > 64;
    *way.found = Decoded::Segment(Segment {
        at: way.at,
        ordinal: way.ordinal,
        src: ip.src.with_port(header.source_port()),
        dst: ip.dst.with_port(header.destination_port()),
        seq: Seq(header.sequence_number()),
        ack: Seq(header.acknowledgment_number()),
        flags,
        window: header.window_size(),
        // Text in an RST tells why, and is no part of the stream (RFC 9293 section 3.5.3).
        payload_len: if flags.has(TcpFlags::RST) {
            0
        } else {
            payload_len as u32
        },
        ip_len: ip.len,
        ip_packets: ip.packets,
        ip_id: ip.id,
        ecn: ip.ecn,
        timestamps: options.timestamps,
        syn: options.syn,
        sack: options.sack,
        length_from_frame: ip.length_from_frame,
        header_cut: captured_len < bytes.len(),
    });
    Ok(())
}

/// Timestamps where nearly every segment of an established connection has them, first and aligned
/// (RFC 7323 appendix A), and the options behind.
#[inline]
fn usual_timestamps(options: &[u8]) -> Option<(Timestamps, &[u8])> {
    let (prefix, behind) = options.split_first_chunk::<4>()?;
    let (value, behind) = behind.split_first_chunk::<8>()?;
    // Compared as one word.
    (*prefix == [NO_OPERATION, NO_OPERATION, TIMESTAMPS, 10]).then(|| (timestamps(*value), behind))
}

/// The options that are analysed.
#[derive(Default)]
struct Options {
    timestamps: Option<Timestamps>,
    syn: SynOptions,
    sack: SackBlocks,
}

impl Options {
    /// Reads options up to their end, or to one that lies about its length, since nothing after
    /// it can be trusted.
    fn read(&mut self, mut options: &[u8], flags: TcpFlags) {
        let is_syn = flags.has(TcpFlags::SYN);
        loop {
            options = match options {
                [] | [END, ..] | [_] => return,
                [NO_OPERATION, behind @ ..] => behind,
                [kind, len, behind @ ..] => {
                    let len = usize::from(*len);
                    let Some((value, behind)) = len
                        .checked_sub(2)
                        .and_then(|len| behind.split_at_checked(len))
                    else {
                        return;
                    };
                    self.take(*kind, value, is_syn);
                    behind
                }
            };
        }
    }

    fn take(&mut self, kind: u8, value: &[u8], is_syn: bool) {
        match (kind, value) {
            (TIMESTAMPS, value) => {
                if let Ok(value) = value.try_into() {
                    self.timestamps = Some(timestamps(value));
                }
            }
            (SACK, value) => {
                let (blocks, _) = value.as_chunks::<8>();
                for &block in blocks {
                    let (start, end) = two_words(block);
                    self.sack.push(SackBlock {
                        start: Seq(start),
                        end: Seq(end),
                    });
                }
            }
            (MSS, &[high, low]) if is_syn => {
                self.syn.mss = NonZeroU16::new(u16::from_be_bytes([high, low]));
            }
            (WINDOW_SCALE, &[shift]) if is_syn => {
                self.syn.window_scale = Some(shift.min(WINDOW_SCALE_MAX));
            }
            (SACK_PERMITTED, []) if is_syn => self.syn.sack_permitted = true,
            (MULTIPATH, _) if is_syn => self.syn.multipath = true,
            _ => {}
        }
    }
}

#[inline]
fn timestamps(value: [u8; 8]) -> Timestamps {
    let (value, echo) = two_words(value);
    Timestamps { value, echo }
}

#[inline]
fn two_words(bytes: [u8; 8]) -> (u32, u32) {
    let both = u64::from_be_bytes(bytes);
    ((both >> 32) as u32, both as u32)
}

/// Length of the header without options, in bytes.
const HEADER_LEN: usize = 20;
/// Length of the longest header, in bytes.
pub(super) const HEADER_LEN_MAX: usize = 60;
/// Bytes of the header that a segment cannot do without: up to the window.
const NEEDED_LEN: usize = 16;

/// Largest shift (RFC 7323 section 2.3); a larger one counts as this.
const WINDOW_SCALE_MAX: u8 = 14;

const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
const MULTIPATH: u8 = 30;
