//! The window that the receiver of one direction advertises.

use crate::decode::{Segment, TcpFlags};

/// Whether a segment says that its sender has no room (METRICS.md X7).
pub(super) fn closes_window(segment: &Segment) -> bool {
    let opens_or_ends = TcpFlags::SYN.with(TcpFlags::FIN).with(TcpFlags::RST);
    segment.window == 0 && !segment.flags.any(opens_or_ends)
}

/// No offset is as low as this.
const UNKNOWN: i64 = i64::MIN;

/// The last window advertised for one direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Shift of the windows that the receiver advertises; `None` when unknown.
    pub(super) scale: Option<u8>,
    /// As on the wire; `None` before one was seen.
    pub(super) advertised: Option<u16>,
    /// Offset just after it, where the scale is known, else [`UNKNOWN`]: with a word of its own for whether it is known,
    /// each connection would be two words larger.
    end: i64,
}

impl Default for Window {
    fn default() -> Self {
        Self {
            scale: None,
            advertised: None,
            end: UNKNOWN,
        }
    }
}

impl Window {
    /// Offset just after it, where the scale is known.
    #[inline]
    pub(super) fn end(self) -> Option<i64> {
        (self.end != UNKNOWN).then_some(self.end)
    }

    /// Whether it is known to end at `offset`.
    #[inline]
    pub(super) fn ends_at(self, offset: i64) -> bool {
        self.end == offset
    }

    /// Takes the window of a segment that acknowledges `ack`: where it ends, if that is known. `scale` is the
    /// segment's, since a SYN's window has none (RFC 7323 section 2.2).
    #[inline(always)]
    pub(super) fn take(&mut self, advertised: u16, ack: i64, scale: Option<u8>) -> Option<i64> {
        self.advertised = Some(advertised);
        let end = scale.map(|scale| ack + (i64::from(advertised) << scale));
        self.end = end.unwrap_or(UNKNOWN);
        end
    }

    /// Whether the receiver has no room.
    #[inline]
    pub(super) fn is_closed(self) -> bool {
        self.advertised == Some(0)
    }

    /// Whether the sender may send up to `offset`, as far as is known.
    #[inline]
    pub(super) fn allows(self, offset: i64) -> bool {
        self.end().is_none_or(|end| offset <= end)
    }
}

#[cfg(test)]
mod tests {
    use super::Window;

    #[test]
    fn a_window_ends_where_its_scale_puts_it() {
        let mut window = Window::default();
        assert!(window.allows(i64::MAX) && !window.is_closed());
        // Without a known scale nobody knows where.
        assert_eq!(window.take(10, 1000, None), None);
        assert!(window.allows(i64::MAX));
        assert_eq!(window.take(10, 1000, Some(7)), Some(2280));
        assert!(window.allows(2280) && !window.allows(2281));
        window.take(0, 2280, Some(7));
        assert!(window.is_closed());
    }
}
