//! Members of gzip (RFC 1952), one after the other.

use std::io;

use flate2::{Decompress, FlushDecompress, Status};

use super::stepwise::{Decompressor, Step};

/// Size of the window, as a power of two: the largest that DEFLATE knows.
const WINDOW_BITS: u8 = 15;

/// What members begin with.
const MAGIC: u8 = 0x1f;

pub(super) struct GzipMembers {
    /// The one that is being decompressed; `None` between members.
    member: Option<Decompress>,
    /// One has ended: what follows may be padding.
    has_ended: bool,
}

impl GzipMembers {
    /// `follows` says that other members came before these.
    pub(super) fn new(follows: bool) -> Self {
        Self {
            member: None,
            has_ended: follows,
        }
    }
}

impl Decompressor for GzipMembers {
    const WANTS_ALL: bool = false;

    fn wanted(&self) -> usize {
        usize::MAX
    }

    fn step(&mut self, bytes: &[u8], room: &mut [u8]) -> Step {
        // gzip(1) passes over padding, too.
        if self.is_between() && self.has_ended && bytes.first() == Some(&0) {
            return Step::past_zeros(bytes);
        }
        // One that is whole is not wrong for what somebody put behind it, as where a transfer adds lines of its own.
        if self.is_between() && self.has_ended && bytes.first().is_some_and(|&byte| byte != MAGIC) {
            let what = "what follows its end is no gzip";
            return Step::failed(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let member = self
            .member
            .get_or_insert_with(|| Decompress::new_gzip(WINDOW_BITS));
        let before = (member.total_in(), member.total_out());
        let outcome = member.decompress(bytes, room, FlushDecompress::None);
        // Both have moved on where it fails, too.
        let consumed = (member.total_in() - before.0) as usize;
        let filled = (member.total_out() - before.1) as usize;
        let mut failure = None;
        match outcome {
            Ok(Status::StreamEnd) => (self.member, self.has_ended) = (None, true),
            Ok(_) if consumed > 0 || filled > 0 || bytes.is_empty() => {}
            // The library has a reason, but which depends on how much it is given at a time.
            Ok(_) | Err(_) => {
                let what = "its codes or its checksum are wrong";
                failure = Some(io::Error::new(io::ErrorKind::InvalidData, what));
            }
        }
        Step {
            consumed,
            filled,
            failure,
        }
    }

    fn is_between(&self) -> bool {
        self.member.is_none()
    }
}
