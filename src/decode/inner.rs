//! The innermost IP packet of a record, for those who follow packets rather than segments.

use super::Way;
use super::ip::IpHeader;
use super::rest::Rest;
use super::segment::{Ecn, Endpoint};

/// Bytes kept of what an IP packet carries: a TCP header without options.
pub const HEAD_LEN: usize = 20;

/// An IP packet, as far as it stays the same on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IpPacket {
    /// Who sent it, at port 0.
    pub src: Endpoint,
    /// Whom it is for, at port 0.
    pub dst: Endpoint,
    /// What it carries: the IP protocol number behind extension headers; 44 in an IPv6 fragment.
    pub protocol: u8,
    /// Total length by the IP header, in bytes.
    pub len: u32,
    /// IPv4 identification; `None` for IPv6.
    pub id: Option<u16>,
    /// ECN bits.
    pub ecn: Ecn,
    /// Where an IPv4 fragment begins, in units of 8 bytes; 0 in a whole packet.
    pub fragment_offset: u16,
    /// The first bytes that it carries; zero beyond `head_len`.
    pub head: [u8; HEAD_LEN],
    /// How many bytes of `head` were captured.
    pub head_len: u8,
}

impl Way<'_> {
    /// Remembers an IP packet for those who asked; one further in takes its place.
    #[inline]
    pub(super) fn pass(
        &mut self,
        ip: &IpHeader,
        protocol: u8,
        fragment_offset: u16,
        rest: Rest<'_>,
    ) {
        let Some(inner) = self.inner.as_deref_mut() else {
            return;
        };
        let mut head = [0; HEAD_LEN];
        let head_len = rest.bytes.len().min(HEAD_LEN);
        head[..head_len].copy_from_slice(&rest.bytes[..head_len]);
        *inner = Some(IpPacket {
            src: ip.src,
            dst: ip.dst,
            protocol,
            len: ip.len,
            id: ip.id,
            ecn: ip.ecn,
            fragment_offset,
            head,
            head_len: head_len as u8,
        });
    }
}
