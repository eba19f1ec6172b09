//! The bytes not yet decoded.

use super::skip::Skip;

/// What lies ahead at some layer: the bytes captured, and how many there were on the wire.
///
/// The two differ where the snap length cut the packet. Only `wire_len` makes lengths; `bytes`
/// only tells whether a header is whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) wire_len: usize,
}

impl<'a> Rest<'a> {
    /// A whole record. An original length below the captured one is a writer's mistake.
    #[inline]
    pub(super) fn new(bytes: &'a [u8], original_len: u32) -> Self {
        Self {
            bytes,
            wire_len: bytes.len().max(original_len as usize),
        }
    }

    /// The first `N` bytes, and what comes after them.
    ///
    /// `malformed` is the reason to give when the packet ended here on the wire already.
    #[inline]
    pub(super) fn split<const N: usize>(
        self,
        malformed: Skip,
    ) -> Result<(&'a [u8; N], Self), Skip> {
        match self.bytes.split_first_chunk::<N>() {
            Some((head, bytes)) => Ok((
                head,
                Self {
                    bytes,
                    wire_len: self.wire_len - N,
                },
            )),
            None => Err(self.short_of(N, malformed)),
        }
    }

    /// What comes after the first `len` bytes.
    #[inline]
    pub(super) fn after(self, len: usize, malformed: Skip) -> Result<Self, Skip> {
        match self.bytes.get(len..) {
            Some(bytes) => Ok(Self {
                bytes,
                wire_len: self.wire_len - len,
            }),
            None => Err(self.short_of(len, malformed)),
        }
    }

    /// The same, known by a header to be `wire_len` bytes long: what is beyond (padding, a frame
    /// check sequence) is dropped. A longer `wire_len` is believed: filters cut packets and leave
    /// no trace of it but this.
    #[inline]
    pub(super) fn of_len(self, wire_len: usize) -> Self {
        Self {
            bytes: self.bytes.get(..wire_len).unwrap_or(self.bytes),
            wire_len,
        }
    }

    /// The same without its last `len` bytes on the wire.
    pub(super) fn without_trailer(self, len: usize) -> Self {
        let wire_len = self.wire_len.saturating_sub(len);
        self.of_len(wire_len)
    }

    /// Why there are no `len` bytes: cut by the snap length, or never there.
    #[cold]
    pub(super) fn short_of(self, len: usize, malformed: Skip) -> Skip {
        if self.wire_len >= len {
            Skip::HeaderCut
        } else {
            malformed
        }
    }
}
