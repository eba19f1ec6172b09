//! How much of a packet's headers must agree for it to be the same packet (METRICS.md B1).

/// How much of a packet's headers must agree for it to be the same packet (METRICS.md B1), from
/// the strictest on. Time to live, link layer, VLAN tags, tunnels and ECN marks never count: they
/// change on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Identity {
    /// Addresses, ports, IP id, and all of the TCP header that stays the same, with timestamps
    /// and SACK blocks.
    Full,
    /// Without the SACK blocks, and the timestamps of SYNs, which have the longest options of those without blocks: the
    /// snap length of a point cut them off.
    WithoutSack,
    /// Without the options: the snap length of a point cut them off.
    WithoutOptions,
    /// Of the header of TCP ports and sequence number alone, of others the first 8 bytes: the snap length of a point
    /// cut the rest off.
    WithoutAck,
    /// Without the IP id: something between the points rewrites it.
    WithoutId,
    /// Without addresses: they are translated between the points. The IP id counts unless it is rewritten, too.
    WithoutAddresses,
    /// Without addresses and ports: both are translated. The IP id counts unless it is rewritten, too.
    WithoutEndpoints,
}

impl Identity {
    /// All, from the strictest on.
    pub const ALL: &'static [Self] = &[
        Self::Full,
        Self::WithoutSack,
        Self::WithoutOptions,
        Self::WithoutAck,
        Self::WithoutId,
        Self::WithoutAddresses,
        Self::WithoutEndpoints,
    ];

    /// A short name for tables; `None` for [`Full`](Self::Full), which is the rule.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Full => None,
            Self::WithoutSack => Some("matched_without_sack"),
            Self::WithoutOptions => Some("matched_without_options"),
            Self::WithoutAck => Some("matched_without_ack"),
            Self::WithoutId => Some("matched_without_ip_id"),
            Self::WithoutAddresses => Some("matched_without_addresses"),
            Self::WithoutEndpoints => Some("matched_without_ports"),
        }
    }
}

/// Whether IP ids tell packets apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ids {
    Count,
    /// Something between the points rewrites them.
    Rewritten,
}

/// Whether checksums of UDP tell packets apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum UdpChecksums {
    Count,
    /// One of the points has those that cards were yet to finish: packets as their own sender captured them.
    Unfinished,
}

/// What packets are told apart by: how much of the headers, and of these how much of what a snap length may have cut
/// besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    pub(super) identity: Identity,
    /// [`Identity::Full`], without SACK blocks, without options, or without the ACK number and all behind it.
    pub(super) options: Identity,
    pub(super) ids: Ids,
    pub(super) udp_checksums: UdpChecksums,
}

impl Rules {
    /// The strictest of each.
    pub(super) const STRICTEST: Self = Self::of(Identity::Full);

    /// What even the loosest point keeps of a packet.
    pub(super) const LOOSEST: Self = Self {
        identity: Identity::WithoutEndpoints,
        options: Identity::WithoutOptions,
        ids: Ids::Rewritten,
        udp_checksums: UdpChecksums::Unfinished,
    };

    const fn of(identity: Identity) -> Self {
        let options = match identity {
            Identity::WithoutSack | Identity::WithoutOptions | Identity::WithoutAck => identity,
            _ => Identity::Full,
        };
        let ids = match identity {
            Identity::WithoutId | Identity::WithoutAddresses | Identity::WithoutEndpoints => {
                Ids::Rewritten
            }
            _ => Ids::Count,
        };
        Self {
            identity,
            options,
            ids,
            udp_checksums: UdpChecksums::Count,
        }
    }

    /// [`of`](Self::of); where packets are translated first with their IP ids, which who translates need not touch.
    fn with_ids_first(identity: Identity) -> impl Iterator<Item = Self> {
        let is_translated = identity >= Identity::WithoutAddresses;
        let kept = is_translated.then(|| Self {
            ids: Ids::Count,
            ..Self::of(identity)
        });
        kept.into_iter().chain([Self::of(identity)])
    }

    /// What quality says where IP ids do not count beside what else does not.
    pub(super) fn without_id(self) -> Option<Identity> {
        let is_besides = self.ids == Ids::Rewritten && self.identity > Identity::WithoutId;
        is_besides.then_some(Identity::WithoutId)
    }

    /// Whether an IP id tells a packet from others with the same headers. Hosts put 0 where it need not (RFC 6864).
    #[inline]
    pub(super) fn tell_by(self, id: Option<u16>) -> bool {
        self.ids == Ids::Count && id.is_some_and(|id| id != 0)
    }

    /// The same where so much was cut off besides.
    pub(super) fn cut(self, options: Identity) -> Self {
        Self {
            identity: self.identity.max(options),
            options: self.options.max(options),
            ..self
        }
    }

    /// All, in the order in which they are tried: packets that were rewritten and of which options
    /// are missing besides come last.
    pub(super) fn all(udp_checksums: UdpChecksums) -> impl Iterator<Item = Self> {
        let cut = Identity::ALL.iter().copied();
        let cut = cut.filter(|cut| (Identity::WithoutSack..Identity::WithoutId).contains(cut));
        let rewritten = cut.flat_map(|options| {
            let some = Identity::ALL.iter().copied();
            let some = some.filter(|&identity| identity >= Identity::WithoutId);
            let some = some.flat_map(Self::with_ids_first);
            some.map(move |rules| Self { options, ..rules })
        });
        let all = Identity::ALL
            .iter()
            .copied()
            .flat_map(Self::with_ids_first)
            .chain(rewritten);
        all.map(move |rules| Self {
            udp_checksums,
            ..rules
        })
    }
}
