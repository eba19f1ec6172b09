//! ICMP echo, for series of pings.

use std::net::IpAddr;

use super::ip::IpHeader;
use super::rest::Rest;
use super::skip::Skip;
use super::{Decoded, Outcome, Way};
use crate::time::CaptureTime;

/// Request or reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EchoKind {
    /// Echo request: ICMP type 8, `ICMPv6` type 128.
    Request,
    /// Echo reply: ICMP type 0, `ICMPv6` type 129.
    Reply,
}

/// An echo message (RFC 792, RFC 4443 section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Echo {
    /// When it was captured.
    pub at: CaptureTime,
    /// Position of its record in the capture.
    pub ordinal: u64,
    /// Request or reply.
    pub kind: EchoKind,
    /// Who sent it.
    pub src: IpAddr,
    /// Whom it is for.
    pub dst: IpAddr,
    /// Which series it belongs to.
    pub identifier: u16,
    /// Its number in the series.
    pub sequence: u16,
}

/// An ICMP message; errors with a TCP header inside are still only ICMP.
pub(super) fn v4(way: Way<'_>, ip: &IpHeader, rest: Rest<'_>) -> Outcome {
    echo(way, ip, rest, 8, 0)
}

/// An `ICMPv6` message.
pub(super) fn v6(way: Way<'_>, ip: &IpHeader, rest: Rest<'_>) -> Outcome {
    echo(way, ip, rest, 128, 129)
}

fn echo(way: Way<'_>, ip: &IpHeader, rest: Rest<'_>, request: u8, reply: u8) -> Outcome {
    // One that the snap length cut hides no TCP.
    let (header, _) = rest.split::<8>(Skip::Icmp).map_err(|_| Skip::Icmp)?;
    let [kind, code, _, _, id_high, id_low, seq_high, seq_low] = *header;
    let kind = match kind {
        kind if code == 0 && kind == request => EchoKind::Request,
        kind if code == 0 && kind == reply => EchoKind::Reply,
        _ => return Err(Skip::Icmp),
    };
    let echo = Echo {
        at: way.at,
        ordinal: way.ordinal,
        kind,
        src: ip.src.ip(),
        dst: ip.dst.ip(),
        identifier: u16::from_be_bytes([id_high, id_low]),
        sequence: u16::from_be_bytes([seq_high, seq_low]),
    };
    way.arrive(Decoded::Echo(echo));
    Ok(())
}
