//! A handshake in as few bytes as it takes, for connections that have ended.

use std::num::NonZeroU16;

use thin_vec::ThinVec;

use super::{Closing, Confirmation, EcnSetup, Handshake, Opening};
use crate::decode::{SynOptions, Timestamps};
use crate::event::Direction;
use crate::packing::{Bits, step, stepped, unzigzag, zigzag};
use crate::seq::Seq;
use crate::time::CaptureTime;

/// Numbers that a handshake is written as: bits, six of each SYN, and the round trips.
pub(crate) const HANDSHAKE_NUMBERS: usize = 1 + 2 * OPENING_NUMBERS + 2;

const OPENING_NUMBERS: usize = 6;

impl Handshake {
    /// Its numbers, with times told from `start`.
    pub(crate) fn numbers(&self, start: CaptureTime) -> [u64; HANDSHAKE_NUMBERS] {
        let Self {
            openings,
            answer_ns,
            confirm_ns,
            answer_dir,
            completed_by,
            confirmation,
            closing:
                Closing {
                    fin: [fin_forward, fin_reverse],
                    reset,
                },
            // Of no use once nothing comes any more.
            passed_over: _,
            syn_ids: _,
        } = self;
        let mut bits = Bits::default();
        for opening in openings {
            bits.put_flag(opening.is_some());
        }
        for dir in [*answer_dir, *completed_by] {
            bits.put_flag(dir.is_some());
            bits.put_flag(dir == Some(Direction::Reverse));
        }
        // Nobody waits for an answer that was overtaken once nothing comes any more.
        let is_done = *confirmation == Confirmation::Done;
        for is_set in [is_done, *fin_forward, *fin_reverse, *reset] {
            bits.put_flag(is_set);
        }
        for ns in [answer_ns, confirm_ns] {
            bits.put_flag(ns.is_some());
        }
        let mut numbers = [0; HANDSHAKE_NUMBERS];
        let (mut apart_ns, mut before) = (0, Before { at: start, echo: 0 });
        let (parts, _) = numbers[1..].as_chunks_mut();
        for (opening, part) in openings.iter().zip(parts) {
            if let Some(opening) = opening {
                opening.put_bits(&mut bits);
                *part = opening.numbers(before);
                apart_ns = opening.at.since(before.at);
                before = Before::of(opening);
            }
        }
        numbers[0] = bits.number();
        // What an answer took is what the SYNs are apart.
        numbers[HANDSHAKE_NUMBERS - 2] = told(*answer_ns, apart_ns);
        numbers[HANDSHAKE_NUMBERS - 1] = told(*confirm_ns, 0);
        numbers
    }

    /// Whether a SYN of each direction was seen, by the first of its [numbers](Self::numbers) alone.
    pub(crate) fn are_openings_seen(first: u64) -> [bool; 2] {
        let mut bits = Bits::of(first);
        [(); 2].map(|()| bits.take_flag())
    }

    /// That of which [`numbers`](Self::numbers) gave these.
    pub(crate) fn of_numbers(numbers: &[u64; HANDSHAKE_NUMBERS], start: CaptureTime) -> Self {
        let mut bits = Bits::of(numbers[0]);
        let are_seen = [(); 2].map(|()| bits.take_flag());
        let mut dir = || {
            let (is_some, is_reverse) = (bits.take_flag(), bits.take_flag());
            let dir = if is_reverse {
                Direction::Reverse
            } else {
                Direction::Forward
            };
            is_some.then_some(dir)
        };
        let (answer_dir, completed_by) = (dir(), dir());
        let [
            is_done,
            fin_forward,
            fin_reverse,
            reset,
            is_answered,
            is_confirmed,
        ] = [(); 6].map(|()| bits.take_flag());
        let (mut apart_ns, mut before) = (0, Before { at: start, echo: 0 });
        let (parts, _) = numbers[1..].as_chunks();
        let mut parts = parts.iter();
        let openings = are_seen.map(|is_seen| {
            let part = parts.next().filter(|_| is_seen)?;
            let opening = Opening::of(part, &mut bits, before);
            apart_ns = opening.at.since(before.at);
            before = Before::of(&opening);
            Some(opening)
        });
        let ns = |place: usize, from| unzigzag(numbers[place]).wrapping_add(from);
        Self {
            openings,
            answer_ns: is_answered.then(|| ns(HANDSHAKE_NUMBERS - 2, apart_ns)),
            confirm_ns: is_confirmed.then(|| ns(HANDSHAKE_NUMBERS - 1, 0)),
            answer_dir,
            completed_by,
            confirmation: if is_done {
                Confirmation::Done
            } else {
                Confirmation::None
            },
            closing: Closing {
                fin: [fin_forward, fin_reverse],
                reset,
            },
            passed_over: ThinVec::new(),
            syn_ids: [0; 2],
        }
    }
}

/// A time in ns, told from another.
fn told(ns: Option<i64>, from: i64) -> u64 {
    ns.map_or(0, |ns| zigzag(ns.wrapping_sub(from)))
}

/// What a SYN is told from: the one of the other direction, which it answers or is answered by.
#[derive(Clone, Copy)]
struct Before {
    at: CaptureTime,
    /// The timestamp that an answer echoes.
    echo: u32,
}

impl Before {
    fn of(opening: &Opening) -> Self {
        Self {
            at: opening.at,
            echo: opening.timestamps.map_or(0, |timestamps| timestamps.value),
        }
    }
}

impl Opening {
    fn put_bits(&self, bits: &mut Bits) {
        let SynOptions {
            mss: _,
            window_scale,
            sack_permitted,
            multipath,
            ttl_above_64,
        } = self.options;
        for is_set in [
            self.answer,
            self.header_cut,
            self.same_clock,
            sack_permitted,
            multipath,
            ttl_above_64,
            window_scale.is_some(),
            self.timestamps.is_some(),
        ] {
            bits.put_flag(is_set);
        }
        bits.put(2, self.ecn as u64);
        bits.put(8, window_scale.unwrap_or(0).into());
    }

    fn numbers(&self, before: Before) -> [u64; OPENING_NUMBERS] {
        let timestamps = self.timestamps.unwrap_or(Timestamps { value: 0, echo: 0 });
        let mss = u64::from(self.options.mss.map_or(0, NonZeroU16::get));
        [
            zigzag(self.at.since(before.at)),
            self.isn.0.into(),
            u64::from(self.payload_len) << 16 | mss,
            timestamps.value.into(),
            step(before.echo.into(), timestamps.echo.into()),
            // Nearly always one.
            step(1, self.copies.into()),
        ]
    }

    fn of(numbers: &[u64; OPENING_NUMBERS], bits: &mut Bits, before: Before) -> Self {
        let &[at, isn, lens, value, echo, copies] = numbers;
        let [
            answer,
            header_cut,
            same_clock,
            sack_permitted,
            multipath,
            ttl_above_64,
            has_scale,
            has_timestamps,
        ] = [(); 8].map(|()| bits.take_flag());
        let ecn = match bits.take(2) {
            0 => EcnSetup::None,
            1 => EcnSetup::Classic,
            _ => EcnSetup::Accurate,
        };
        let scale = bits.take(8) as u8;
        Self {
            at: before.at.plus_ns(unzigzag(at)),
            isn: Seq(isn as u32),
            options: SynOptions {
                mss: NonZeroU16::new(lens as u16),
                window_scale: has_scale.then_some(scale),
                sack_permitted,
                multipath,
                ttl_above_64,
            },
            payload_len: (lens >> 16) as u16,
            timestamps: has_timestamps.then_some(Timestamps {
                value: value as u32,
                echo: stepped(before.echo.into(), echo) as u32,
            }),
            copies: stepped(1, copies) as u16,
            answer,
            ecn,
            header_cut,
            same_clock,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = u64> {
        prop_oneof![Just(0), Just(u64::MAX), any::<u64>()]
    }

    fn opening() -> impl Strategy<Value = Opening> {
        let options = proptest::option::of(any::<(u16, u32, u32)>());
        let scale = proptest::option::of(any::<u8>());
        let ecn = [EcnSetup::None, EcnSetup::Classic, EcnSetup::Accurate];
        let flags = any::<[bool; 7]>();
        let numbers = (number(), any::<u32>(), any::<(u16, u16)>());
        let all = (
            options,
            scale,
            prop::sample::select(ecn.to_vec()),
            flags,
            numbers,
        );
        all.prop_map(
            |(options, window_scale, ecn, flags, (at, isn, (payload_len, copies)))| Opening {
                at: CaptureTime::from_ns(at.cast_signed()),
                isn: Seq(isn),
                options: SynOptions {
                    mss: options.and_then(|(mss, ..)| NonZeroU16::new(mss)),
                    window_scale,
                    sack_permitted: flags[0],
                    multipath: flags[6],
                    ttl_above_64: flags[5],
                },
                payload_len,
                timestamps: options.map(|(_, value, echo)| Timestamps { value, echo }),
                copies,
                answer: flags[1],
                ecn,
                header_cut: flags[2],
                same_clock: flags[3],
            },
        )
    }

    proptest! {
        #[test]
        fn handshakes_come_back_as_they_were(
            openings in prop::array::uniform2(proptest::option::of(opening())),
            times in any::<[Option<i64>; 2]>(),
            dirs in any::<[Option<bool>; 2]>(),
            flags: [bool; 4],
            start: i64,
        ) {
            let dir = |is_reverse| if is_reverse { Direction::Reverse } else { Direction::Forward };
            let handshake = Handshake {
                openings,
                answer_ns: times[0],
                confirm_ns: times[1],
                answer_dir: dirs[0].map(dir),
                completed_by: dirs[1].map(dir),
                confirmation: if flags[0] { Confirmation::Done } else { Confirmation::None },
                closing: Closing { fin: [flags[1], flags[2]], reset: flags[3] },
                passed_over: ThinVec::new(),
                syn_ids: [0; 2],
            };
            let start = CaptureTime::from_ns(start);
            let numbers = handshake.numbers(start);
            let again = Handshake::of_numbers(&numbers, start);
            prop_assert_eq!(format!("{again:?}"), format!("{handshake:?}"));
            let are_seen = openings.map(|opening| opening.is_some());
            prop_assert_eq!(Handshake::are_openings_seen(numbers[0]), are_seen);
        }
    }
}
