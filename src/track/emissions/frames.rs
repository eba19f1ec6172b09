//! What ids tell of the packets of frames that network cards merged.

/// Frames that must agree on how long their packets are.
const AGREE_MIN: u8 = 3;

/// How long the packets of frames are that network cards merged, by the ids that such frames take.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    /// In bytes of payload, as the first frame told; 0: nothing is known.
    packet_len: u32,
    /// Packets of that frame.
    packets: u16,
    /// Frames that agree.
    agree: u8,
    /// One of them had another number of packets.
    varied: bool,
    /// A repeat that was cut anew, as a router had said that packets are too big: its length, and how many packets had
    /// passed before it.
    cut: Option<(u32, u64)>,
}

impl Frames {
    /// A frame of `len` bytes took so many ids: how many bytes are in a packet if they were all its own, and whether
    /// frames of different lengths agree on that, as they do where no other packets come between them.
    pub(super) fn note(&mut self, len: u32, packets: u16) -> Option<(u32, bool)> {
        let exact = len.is_multiple_of(packets.into());
        if self.packet_len > 0 && len.div_ceil(self.packet_len) == u32::from(packets) {
            self.agree = self.agree.saturating_add(1);
            self.varied |= packets != self.packets;
        } else if exact {
            *self = Self {
                packet_len: len / u32::from(packets),
                packets,
                agree: 1,
                varied: false,
                cut: None,
            };
        } else {
            return None;
        }
        let is_known = self.agree >= AGREE_MIN && self.varied;
        Some((self.packet_len, is_known))
    }

    /// A repeat of `len` bytes passed behind so many `packets`, cut anew as a router had said that packets are too big.
    pub(super) fn note_cut(&mut self, len: u32, packets: u64) {
        self.cut = Some((len, packets));
    }

    /// How long that was, where it was the last of so many `packets`.
    pub(super) fn take_cut(&mut self, packets: u64) -> Option<u32> {
        let (len, before) = self.cut.take()?;
        (before + 1 == packets).then_some(len)
    }
}
