//! Why records are not analysed, and how many of each.

use std::fmt;

use crate::capture::LinkType;

/// Why a record gave no TCP segment. Of a tunnelled packet, the innermost header decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Skip {
    /// The link type of the capture is not one that is decoded.
    UnknownLinkType,
    /// The frame carries something else than IP: ARP, spanning tree, Wi-Fi management.
    NonIp,
    /// UDP, and no tunnel inside.
    Udp,
    /// ICMP or `ICMPv6`, other than echo.
    Icmp,
    /// An IP protocol other than TCP, UDP and ICMP.
    OtherProtocol,
    /// A tunnel, and tunnels are not entered ([`TunnelLayer::Outermost`](super::TunnelLayer)).
    Tunnel,
    /// More encapsulations than are followed.
    TooDeep,
    /// Encrypted below TCP: ESP, `MACsec`, protected Wi-Fi.
    Encrypted,
    /// Compressed below TCP: `IPComp`, Van Jacobson.
    Compressed,
    /// The snap length cut the record before the fields that are needed.
    HeaderCut,
    /// The link layer contradicts itself.
    MalformedLink,
    /// The receiver says that the frame's check sequence was wrong, so that its bytes may be.
    BadCheckSequence,
    /// The IP header contradicts itself.
    MalformedIp,
    /// The TCP header contradicts itself or the IP length.
    MalformedTcp,
    /// A fragment, not the first, of a datagram that is not TCP: a tunnel's, or UDP, of which those that are asked for
    /// count as these or as incomplete.
    LaterFragment,
    /// A fragment of a datagram of TCP, or of UDP that is asked for, whose other fragments did not come in time.
    FragmentIncomplete,
    /// Not wanted by the user's filter.
    Filtered,
}

impl Skip {
    /// All reasons, in the order in which they are reported.
    pub const ALL: &'static [Self] = &[
        Self::UnknownLinkType,
        Self::NonIp,
        Self::Udp,
        Self::Icmp,
        Self::OtherProtocol,
        Self::Tunnel,
        Self::TooDeep,
        Self::Encrypted,
        Self::Compressed,
        Self::HeaderCut,
        Self::MalformedLink,
        Self::BadCheckSequence,
        Self::MalformedIp,
        Self::MalformedTcp,
        Self::LaterFragment,
        Self::FragmentIncomplete,
        Self::Filtered,
    ];

    /// A short name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnknownLinkType => "unknown link type",
            Self::NonIp => "non-ip",
            Self::Udp => "udp",
            Self::Icmp => "icmp",
            Self::OtherProtocol => "other ip protocol",
            Self::Tunnel => "tunnel",
            Self::TooDeep => "too many tunnels",
            Self::Encrypted => "encrypted",
            Self::Compressed => "compressed",
            Self::HeaderCut => "header cut",
            Self::MalformedLink => "malformed link layer",
            Self::BadCheckSequence => "bad check sequence",
            Self::MalformedIp => "malformed ip",
            Self::MalformedTcp => "malformed tcp",
            Self::LaterFragment => "later fragment",
            Self::FragmentIncomplete => "incomplete fragments",
            Self::Filtered => "filtered",
        }
    }
}

shown_by_name!(Skip);

/// Records skipped, by reason.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    counts: [u64; Skip::ALL.len()],
    unknown_link: Option<LinkType>,
}

impl Tally {
    /// Counts one record.
    #[inline]
    pub fn add(&mut self, skip: Skip) {
        self.add_many(skip, 1);
    }

    /// Counts `records` records.
    #[inline]
    pub fn add_many(&mut self, skip: Skip, records: u64) {
        let count = &mut self.counts[skip as usize];
        *count = count.saturating_add(records);
    }

    /// Counts a record whose link type is not one that is decoded.
    pub fn add_unknown(&mut self, link: LinkType) {
        self.add(Skip::UnknownLinkType);
        self.unknown_link.get_or_insert(link);
    }

    /// The first link type that was not one that is decoded.
    #[must_use]
    pub fn unknown_link(&self) -> Option<LinkType> {
        self.unknown_link
    }

    /// Adds the counts of `other`, of later records.
    pub fn merge(&mut self, other: &Self) {
        self.unknown_link = self.unknown_link.or(other.unknown_link);
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count = count.saturating_add(more);
        }
    }

    /// Records skipped for `skip`.
    #[must_use]
    pub fn count(&self, skip: Skip) -> u64 {
        self.counts[skip as usize]
    }

    /// Records skipped for any reason.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Every reason with its count, in the order of [`Skip::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Skip, u64)> + '_ {
        Skip::ALL.iter().copied().zip(self.counts)
    }
}

/// Those reasons, each by its name, that there are records for.
impl fmt::Debug for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = f.debug_map();
        all.entries(self.iter().filter(|&(_, records)| records > 0));
        if let Some(link) = &self.unknown_link {
            all.key(&"unknown_link").value(link);
        }
        all.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_counted_under_its_own_name() {
        let mut tally = Tally::default();
        for (position, skip) in Skip::ALL.iter().copied().enumerate() {
            assert_eq!(skip as usize, position);
            tally.add_many(skip, position as u64);
        }
        let mut twice = tally;
        twice.merge(&tally);
        assert_eq!(twice.total(), 2 * tally.total());
        assert!(
            twice
                .iter()
                .enumerate()
                .all(|(position, (_, n))| n == 2 * position as u64)
        );
    }

    #[test]
    fn what_was_skipped_is_shown_by_name() {
        let mut tally = Tally::default();
        assert_eq!(format!("{tally:?}"), "{}");
        tally.add_many(Skip::Udp, 3);
        tally.add_unknown(LinkType(63));
        assert_eq!(
            format!("{tally:?}"),
            r#"{UnknownLinkType: 1, Udp: 3, "unknown_link": LinkType(63)}"#
        );
    }

    #[test]
    fn the_first_unknown_link_type_is_remembered() {
        let (mut first, mut later) = (Tally::default(), Tally::default());
        assert_eq!(first.unknown_link(), None);
        later.add_unknown(LinkType(63));
        later.add_unknown(LinkType(64));
        first.merge(&later);
        assert_eq!(first.unknown_link(), Some(LinkType(63)));
        assert_eq!(first.count(Skip::UnknownLinkType), 2);
        later.add_unknown(LinkType(65));
        first.merge(&later);
        assert_eq!(first.unknown_link(), Some(LinkType(63)));
    }
}
