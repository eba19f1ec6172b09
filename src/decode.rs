//! Slices the headers of a record: link layer, tunnels, IP, TCP.
//!
//! [`decode`] goes from a record's first byte to its innermost TCP header and tells what it found;
//! it keeps nothing between records. What it cannot use is data too, counted by reason
//! ([`Skip`], [`Tally`]), never an error. TCP datagrams in IP fragments are put together by
//! [`FragmentTable`].

mod datagram;
mod fabric;
mod filter;
mod fragments;
mod icmp;
mod inner;
mod ip;
mod link;
mod plain;
mod quic;
mod rest;
mod routing;
mod segment;
mod skip;
mod taps;
mod tcp;
#[cfg(test)]
mod tests;
mod tunnel;
mod usual;
mod wifi;

pub use datagram::{Datagram, Datagrams, Transport};
pub use filter::{Filter, FilterError};
pub use fragments::{FRAGMENTS_MAX, Fragment, FragmentTable};
pub use icmp::{Echo, EchoKind};
pub use inner::{HEAD_LEN, IpPacket};
pub(crate) use plain::{Plain, is_plain};
pub use quic::{QuicHeader, QuicPackets};
pub use segment::{
    Ecn, Endpoint, SackBlock, SackBlocks, Segment, SynOptions, TcpFlags, Timestamps,
};
pub use skip::{Skip, Tally};
pub use usual::usual;
pub(crate) use usual::{Usual, nearly_usual};

use crate::capture::{LinkType, Record};
use crate::time::CaptureTime;
use rest::Rest;

/// IP bytes of a usual full packet: what Ethernet carries.
pub(crate) const FULL_PACKET_LEN: u32 = 1500;

/// Which TCP header of a packet that was tunnelled counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TunnelLayer {
    /// The innermost: tunnels are followed as deep as they go.
    #[default]
    Innermost,
    /// The outermost: tunnels are not entered, and their packets are skipped.
    Outermost,
}

/// How records are decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DecodeOptions {
    /// Which layer of a tunnelled packet is analysed.
    pub layer: TunnelLayer,
}

/// What one record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decoded {
    /// A TCP segment in one IP packet.
    Segment(Segment),
    /// The first of several TCP segments in one record, an aggregate of Wi-Fi frames, and how many
    /// come behind it: [`decode_each`] tells of all.
    FirstOf(Segment, u16),
    /// A part of a TCP segment, for [`FragmentTable::push`].
    Fragment(Fragment),
    /// An ICMP echo request or reply.
    Echo(Echo),
    /// Nothing to analyse, and why.
    Skipped(Skip),
}

/// Decodes one record. `ordinal` is its position in the capture and is passed on.
///
/// Any bytes are allowed; nothing panics and nothing is allocated.
#[inline]
#[must_use]
pub fn decode(record: &Record<'_>, ordinal: u64, options: &DecodeOptions) -> Decoded {
    let mut found = Decoded::Skipped(Skip::NonIp);
    decode_into(record, ordinal, options, &mut found);
    found
}

/// [`decode`] for the loop over packets: writes what it found to `found`, whatever that held, and
/// so does without a copy of it.
pub fn decode_into(
    record: &Record<'_>,
    ordinal: u64,
    options: &DecodeOptions,
    found: &mut Decoded,
) {
    decode_with(record, ordinal, options, found, None);
}

/// [`decode_into`], which also puts what is UDP, and no tunnel, into `datagrams`. To `found` that is skipped all the
/// same.
pub fn decode_datagrams(
    record: &Record<'_>,
    ordinal: u64,
    options: &DecodeOptions,
    found: &mut Decoded,
    datagrams: &mut Datagrams,
) {
    decode_with(record, ordinal, options, found, Some(datagrams));
}

#[inline(always)]
fn decode_with(
    record: &Record<'_>,
    ordinal: u64,
    options: &DecodeOptions,
    found: &mut Decoded,
    datagrams: Option<&mut Datagrams>,
) {
    let way = Way {
        at: record.at,
        ordinal,
        layer: options.layer,
        depth: 0,
        found: &mut *found,
        inner: None,
        each: None,
        datagrams,
    };
    let rest = Rest::new(record.bytes, record.original_len);
    if let Err(skip) = link::decode(way, record.link, rest) {
        *found = Decoded::Skipped(skip);
    }
}

/// Calls `each` with every TCP segment of a record that holds [several](Decoded::FirstOf), in their order.
#[cold]
pub fn decode_each(
    record: &Record<'_>,
    ordinal: u64,
    options: &DecodeOptions,
    each: &mut dyn FnMut(&Segment),
) {
    let mut found = Decoded::Skipped(Skip::NonIp);
    let way = Way {
        at: record.at,
        ordinal,
        layer: options.layer,
        depth: 0,
        found: &mut found,
        inner: None,
        each: Some(each),
        datagrams: None,
    };
    let rest = Rest::new(record.bytes, record.original_len);
    // Why there is none was told before.
    let _ = link::decode(way, record.link, rest);
}

/// The link type that kept a record from being decoded ([`Skip::UnknownLinkType`]): the record's
/// own, or the one that a tap's header names.
#[must_use]
pub fn unknown_link(record: &Record<'_>) -> LinkType {
    link::told(record)
}

/// [`decode`], which also gives the innermost IP packet, whatever that carries. `None` where the
/// record has no whole IP header.
#[must_use]
pub fn decode_packet(
    record: &Record<'_>,
    ordinal: u64,
    options: &DecodeOptions,
) -> (Decoded, Option<IpPacket>) {
    let mut found = Decoded::Skipped(Skip::NonIp);
    let mut inner = None;
    let way = Way {
        at: record.at,
        ordinal,
        layer: options.layer,
        depth: 0,
        found: &mut found,
        inner: Some(&mut inner),
        each: None,
        datagrams: None,
    };
    let rest = Rest::new(record.bytes, record.original_len);
    if let Err(skip) = link::decode(way, record.link, rest) {
        found = Decoded::Skipped(skip);
    }
    (found, inner)
}

/// What every layer returns: something was found, or why the record is of no use.
type Outcome = Result<(), Skip>;

/// What is carried from layer to layer on the way in.
struct Way<'a> {
    at: CaptureTime,
    ordinal: u64,
    layer: TunnelLayer,
    depth: u8,
    /// Where to write what was found: a segment handed from layer to layer instead was copied at
    /// each, which took as long as the decoding.
    found: &'a mut Decoded,
    /// Where to write the IP packet passed last, for those who ask.
    inner: Option<&'a mut Option<IpPacket>>,
    /// Whom to tell each segment of a record that holds several.
    each: Option<&'a mut dyn FnMut(&Segment)>,
    /// Where to put what is UDP, for those who ask.
    datagrams: Option<&'a mut Datagrams>,
}

impl Way<'_> {
    /// The end of the way.
    #[inline]
    fn arrive(self, found: Decoded) {
        *self.found = found;
    }

    /// The same way for one of several frames side by side, of which what is found goes to `found`.
    fn beside<'b>(&'b mut self, found: &'b mut Decoded) -> Way<'b> {
        Way {
            found,
            inner: self.inner.as_deref_mut(),
            each: match &mut self.each {
                Some(each) => Some(&mut **each),
                None => None,
            },
            datagrams: self.datagrams.as_deref_mut(),
            ..*self
        }
    }

    /// The way into an inner header, unless there were too many already.
    fn deeper(self) -> Result<Self, Skip> {
        if self.depth == DEPTH_MAX {
            return Err(Skip::TooDeep);
        }
        Ok(Self {
            depth: self.depth + 1,
            ..self
        })
    }

    /// The way into an IP tunnel, if tunnels are to be entered.
    fn into_tunnel(self) -> Result<Self, Skip> {
        match self.layer {
            TunnelLayer::Innermost => self.deeper(),
            TunnelLayer::Outermost => Err(Skip::Tunnel),
        }
    }
}

/// Encapsulations entered before a packet is given up as [`Skip::TooDeep`]: deeper ones are
/// made by hand, and each takes stack.
const DEPTH_MAX: u8 = 16;
