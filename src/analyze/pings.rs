//! Ping series: ICMP echo requests and their replies.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::decode::{Echo, EchoKind};
use crate::time::CaptureTime;

/// Requests that wait for a reply; one more forgets the oldest half.
const WAITING_MAX: usize = 1 << 16;

/// Pings kept of one capture; further ones are counted only.
const PINGS_MAX: usize = 4 << 20;

/// One echo request and the first reply to it (RFC 792, RFC 4443 section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping {
    /// When the request passed.
    pub at: CaptureTime,
    /// Who asked.
    pub src: IpAddr,
    /// Who was asked.
    pub dst: IpAddr,
    /// Identifier of the series.
    pub identifier: u16,
    /// Number in the series.
    pub sequence: u16,
    /// From request to reply, in ns: vantage point - `dst` - vantage point. `None` when no reply
    /// passed.
    pub rtt_ns: Option<i64>,
}

type Key = (IpAddr, IpAddr, u16, u16);

/// Matches replies with requests.
#[derive(Debug, Default)]
pub(super) struct Pings {
    pings: Vec<Ping>,
    waiting: HashMap<Key, usize>,
}

impl Pings {
    pub(super) fn on_echo(&mut self, echo: &Echo) {
        match echo.kind {
            EchoKind::Request => {
                if self.pings.len() >= PINGS_MAX {
                    return;
                }
                if self.waiting.len() >= WAITING_MAX {
                    let floor = self.pings.len().saturating_sub(WAITING_MAX / 2);
                    self.waiting.retain(|_, index| *index >= floor);
                }
                let key = (echo.src, echo.dst, echo.identifier, echo.sequence);
                // The same request again is a copy, or a number used anew after 65,536 pings; the
                // reply belongs to the latest.
                self.waiting.insert(key, self.pings.len());
                self.pings.push(Ping {
                    at: echo.at,
                    src: echo.src,
                    dst: echo.dst,
                    identifier: echo.identifier,
                    sequence: echo.sequence,
                    rtt_ns: None,
                });
            }
            EchoKind::Reply => {
                let key = (echo.dst, echo.src, echo.identifier, echo.sequence);
                if let Some(ping) = self
                    .waiting
                    .remove(&key)
                    .and_then(|index| self.pings.get_mut(index))
                {
                    ping.rtt_ns = Some(echo.at.since(ping.at)).filter(|&ns| ns >= 0);
                }
            }
        }
    }

    /// In the order of the requests.
    pub(super) fn into_pings(self) -> Vec<Ping> {
        self.pings
    }
}
