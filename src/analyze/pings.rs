//! Ping series: ICMP echo requests and their replies.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::decode::{Echo, EchoKind};
use crate::time::CaptureTime;

/// Requests that are remembered; one more forgets those that had their reply, or the oldest half.
const LATEST_MAX: usize = 1 << 16;

/// The same request again within so long is a copy, as a capture of several interfaces or a mirror port has it, in ns:
/// who pings begins again with the same number after 65,536 others, which takes longer even when flooding.
const COPY_NS: i64 = 200_000_000;

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
    /// The latest of each key: those that wait for a reply and, for their copies, those that had one lately.
    latest: HashMap<Key, usize>,
}

impl Pings {
    pub(super) fn on_echo(&mut self, echo: &Echo) {
        self.take(echo, PINGS_MAX);
    }

    /// The same, of which so many pings are kept.
    fn take(&mut self, echo: &Echo, pings_max: usize) {
        match echo.kind {
            EchoKind::Request => {
                let key = (echo.src, echo.dst, echo.identifier, echo.sequence);
                let earlier = self.latest.get(&key).map(|&index| self.pings[index]);
                if earlier.is_some_and(|earlier| echo.at.since(earlier.at).abs() < COPY_NS) {
                    return;
                }
                if self.pings.len() >= pings_max {
                    // The reply belongs to this one, not to the last of its number that was kept.
                    self.latest.remove(&key);
                    return;
                }
                self.make_room();
                // A number used anew: the reply belongs to the latest.
                self.latest.insert(key, self.pings.len());
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
                let ping = self.latest.get(&key).map(|&index| &mut self.pings[index]);
                if let Some(ping) = ping.filter(|ping| ping.rtt_ns.is_none()) {
                    ping.rtt_ns = Some(echo.at.since(ping.at)).filter(|&ns| ns >= 0);
                }
            }
        }
    }

    /// Forgets those that had their reply, then the oldest.
    fn make_room(&mut self) {
        if self.latest.len() < LATEST_MAX {
            return;
        }
        let pings = &self.pings;
        self.latest
            .retain(|_, index| pings[*index].rtt_ns.is_none());
        if self.latest.len() > LATEST_MAX / 2 {
            let floor = pings.len().saturating_sub(LATEST_MAX / 2);
            self.latest.retain(|_, index| *index >= floor);
        }
    }

    /// In the order of the requests.
    pub(super) fn pings(&self) -> &[Ping] {
        &self.pings
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    /// Echo messages: request or reply, sequence number, and when, in µs.
    fn pings(echoes: &[(EchoKind, u16, i64)]) -> Vec<(i64, Option<i64>)> {
        at_most(PINGS_MAX, echoes)
    }

    /// The same where so many are kept.
    fn at_most(pings_max: usize, echoes: &[(EchoKind, u16, i64)]) -> Vec<(i64, Option<i64>)> {
        let mut pings = Pings::default();
        let ends = [1, 2].map(|host| IpAddr::V4(Ipv4Addr::new(10, 0, 0, host)));
        for &(kind, sequence, us) in echoes {
            let [src, dst] = match kind {
                EchoKind::Request => ends,
                EchoKind::Reply => [ends[1], ends[0]],
            };
            let echo = Echo {
                at: CaptureTime::from_ns(us * 1000),
                ordinal: 0,
                kind,
                src,
                dst,
                identifier: 7,
                sequence,
            };
            pings.take(&echo, pings_max);
        }
        let told = pings.pings().iter();
        told.map(|ping| (ping.at.as_ns() / 1000, ping.rtt_ns.map(|ns| ns / 1000)))
            .collect()
    }

    #[test]
    fn a_request_that_passes_twice_is_one_ping() {
        use EchoKind::{Reply, Request};
        let twice = [
            (Request, 1, 0),
            (Request, 1, 20),
            (Reply, 1, 30_000),
            (Reply, 1, 30_020),
        ];
        assert_eq!(pings(&twice), [(0, Some(30_000))]);
        // The target is so near that its reply comes before the copy.
        let near = [
            (Request, 1, 0),
            (Reply, 1, 10),
            (Request, 1, 20),
            (Reply, 1, 30),
        ];
        assert_eq!(pings(&near), [(0, Some(10))]);
        // Nobody answers.
        let lost = [(Request, 1, 0), (Request, 1, 20), (Request, 2, 1_000_000)];
        assert_eq!(pings(&lost), [(0, None), (1_000_000, None)]);
    }

    #[test]
    fn a_number_used_anew_is_another_ping() {
        use EchoKind::{Reply, Request};
        // Some devices send the same number each second.
        let anew = [
            (Request, 1, 0),
            (Request, 1, 1_000_000),
            (Reply, 1, 1_030_000),
        ];
        assert_eq!(pings(&anew), [(0, None), (1_000_000, Some(30_000))]);
    }

    #[test]
    fn the_reply_to_a_request_that_is_not_kept_is_nobody_elses() {
        use EchoKind::{Reply, Request};
        let echoes = [
            (Request, 1, 0),
            (Request, 2, 1000),
            // A copy of one that is kept, and a number used anew.
            (Request, 2, 1020),
            (Reply, 2, 2000),
            (Request, 1, 655_360_000),
            (Reply, 1, 655_361_000),
        ];
        assert_eq!(at_most(2, &echoes), [(0, None), (1000, Some(1000))]);
    }

    #[test]
    fn more_requests_than_are_remembered_keep_the_latest() {
        let requests = (0..=u16::MAX).chain(0..=u16::MAX).zip(0..);
        let echoes: Vec<_> = requests
            .map(|(number, us)| (EchoKind::Request, number, us * 10))
            .collect();
        let late = (EchoKind::Reply, u16::MAX, 2_000_000);
        let told = pings(&[&echoes[..], &[late]].concat());
        assert_eq!(told.len(), 2 << 16);
        assert_eq!(
            told[(2 << 16) - 1].1,
            Some(2_000_000 - ((2 << 16) - 1) * 10)
        );
    }
}
