//! Frames of a compressed stream that are decompressed side by side.
//!
//! A stream of several zstd frames (pzstd, the seekable format) or of gzip members that state their size
//! (BGZF) can be cut without decompressing it. Where a cut may not be right, or anything is
//! unusual, the rest is read as any other stream: what comes out, and which error, is the same.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::Arc;
use std::thread;

use super::compression::Compression;

/// Compressed bytes that are decompressed at a time by one thread, at least: several small frames.
const PART_BYTES_MIN: usize = 256 << 10;

/// Compressed bytes that are held for one thread at most; a longer frame is not.
const PART_BYTES_MAX: usize = 8 << 20;

/// Decompressed bytes that are held of one part at most.
const EXPANDED_BYTES_MAX: u64 = 32 << 20;

/// Threads for one stream at most.
const THREADS_MAX: usize = 4;

const ZSTD_MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();

/// Makes a reader of the decompressed bytes of a whole stream.
pub(super) type Decode =
    fn(Compression, Box<dyn BufRead + Send>) -> io::Result<Box<dyn Read + Send>>;

/// The decompressed bytes of a stream, frame after frame as far as it can be cut, and the rest.
pub(super) struct Frames {
    compression: Compression,
    decode: Decode,
    threads: usize,
    /// What has not been cut into parts yet; `None` once the end, or a part that has to be read with
    /// all the rest, was found.
    input: Option<Box<dyn BufRead + Send>>,
    /// What is left of the stream, by the sequential way.
    rest: Option<Box<dyn Read + Send>>,
    /// Decompressed parts, the next one last.
    done: Vec<Cursor<Vec<u8>>>,
}

/// Some whole frames, or the beginning of what cannot be cut.
struct Cut {
    bytes: Vec<u8>,
    /// Whether these are whole frames, and further ones may follow.
    whole: bool,
    /// What kept the next bytes from being read.
    failure: Option<io::Error>,
}

impl Frames {
    /// Whether a stream of this kind may consist of frames that can be told apart.
    pub(super) fn can_be_in(compression: Compression) -> bool {
        matches!(compression, Compression::Gzip | Compression::Zstd)
    }

    pub(super) fn new(
        compression: Compression,
        input: Box<dyn BufRead + Send>,
        threads: usize,
        decode: Decode,
    ) -> Self {
        Self {
            compression,
            decode,
            threads: threads.clamp(1, THREADS_MAX),
            input: Some(input),
            rest: None,
            done: Vec::new(),
        }
    }

    /// Cuts off and decompresses the next parts.
    fn go_on(&mut self, mut input: Box<dyn BufRead + Send>) -> io::Result<()> {
        let mut parts: Vec<Arc<[u8]>> = Vec::new();
        let mut last = None;
        while parts.len() < self.threads && last.is_none() {
            let cut = cut_off(self.compression, &mut input);
            if cut.whole && !cut.bytes.is_empty() {
                parts.push(cut.bytes.into());
            } else {
                last = Some(cut);
            }
        }
        let outcomes = self.decompress(&parts);
        for (index, outcome) in outcomes.into_iter().enumerate() {
            let Some(bytes) = outcome else {
                // From here on as if nothing had been cut.
                let held = parts[index..].concat();
                let (held_last, failure) =
                    last.map_or((Vec::new(), None), |cut: Cut| (cut.bytes, cut.failure));
                let held = Cursor::new([held, held_last].concat());
                self.done.reverse();
                return self.read_on(held, failure, input);
            };
            self.done.push(Cursor::new(bytes));
        }
        self.done.reverse();
        match last {
            // More frames may follow.
            None => self.input = Some(input),
            Some(cut) if cut.bytes.is_empty() && cut.whole => {}
            Some(cut) => self.read_on(Cursor::new(cut.bytes), cut.failure, input)?,
        }
        Ok(())
    }

    /// Leaves the rest of the stream to the sequential way.
    fn read_on(
        &mut self,
        held: Cursor<Vec<u8>>,
        failure: Option<io::Error>,
        input: Box<dyn BufRead + Send>,
    ) -> io::Result<()> {
        let held = held.chain(BufReader::new(Failure(failure)));
        self.rest = Some((self.decode)(
            self.compression,
            Box::new(held.chain(input)),
        )?);
        Ok(())
    }

    /// Decompresses parts side by side; `None` for one that is damaged or becomes too long.
    fn decompress(&self, parts: &[Arc<[u8]>]) -> Vec<Option<Vec<u8>>> {
        let (compression, decode) = (self.compression, self.decode);
        let one = |part: &Arc<[u8]>| decompress_one(compression, decode, part);
        let Some((first, others)) = parts.split_first() else {
            return Vec::new();
        };
        thread::scope(|scope| {
            let started: Vec<_> = others
                .iter()
                .map(|part| {
                    let thread = thread::Builder::new().name("decompress".to_owned());
                    (
                        part,
                        thread
                            .spawn_scoped(scope, move || decompress_one(compression, decode, part)),
                    )
                })
                .collect();
            let mut outcomes = vec![one(first)];
            for (part, thread) in started {
                outcomes.push(match thread {
                    // A panic in a library is told by the sequential way, which meets it again.
                    Ok(thread) => thread.join().ok().flatten(),
                    // No thread to be had: the slow way is still a way.
                    Err(_) => one(part),
                });
            }
            outcomes
        })
    }
}

fn decompress_one(compression: Compression, decode: Decode, part: &Arc<[u8]>) -> Option<Vec<u8>> {
    let input = Cursor::new(Arc::clone(part));
    let reader = decode(compression, Box::new(input)).ok()?;
    let mut bytes = Vec::with_capacity(4 * part.len());
    let mut reader = reader.take(EXPANDED_BYTES_MAX + 1);
    let read = reader.read_to_end(&mut bytes).ok()?;
    (read as u64 <= EXPANDED_BYTES_MAX).then_some(bytes)
}

impl Read for Frames {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        loop {
            while let Some(part) = self.done.last_mut() {
                let read = part.read(buf)?;
                if read > 0 {
                    return Ok(read);
                }
                self.done.pop();
            }
            if let Some(rest) = &mut self.rest {
                return rest.read(buf);
            }
            let Some(input) = self.input.take() else {
                return Ok(0);
            };
            self.go_on(input)?;
        }
    }
}

/// Fails once, where reading failed.
struct Failure(Option<io::Error>);

impl Read for Failure {
    fn read(&mut self, _buf: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Cuts whole frames off a stream: some small ones, or one.
fn cut_off(compression: Compression, input: &mut dyn Read) -> Cut {
    let mut taker = Taker {
        input,
        bytes: Vec::new(),
        failure: None,
    };
    let mut whole = true;
    while whole && taker.bytes.len() < PART_BYTES_MIN {
        let start = taker.bytes.len();
        let frame = match compression {
            Compression::Gzip => taker.member(),
            _ => taker.frame(),
        };
        if frame.is_none() {
            // At its very end a stream is whole.
            whole = taker.bytes.len() == start && taker.failure.is_none();
            break;
        }
    }
    Cut {
        bytes: taker.bytes,
        whole,
        failure: taker.failure,
    }
}

/// Takes bytes off a stream, and keeps them.
struct Taker<'a> {
    input: &'a mut dyn Read,
    bytes: Vec<u8>,
    failure: Option<io::Error>,
}

impl Taker<'_> {
    /// The next bytes, so many; `None` where there are fewer, or more than are held at a time.
    fn take(&mut self, count: usize) -> Option<&[u8]> {
        let start = self.bytes.len();
        if count > PART_BYTES_MAX.saturating_sub(start) {
            return None;
        }
        let mut more = (&mut *self.input).take(count as u64);
        match more.read_to_end(&mut self.bytes) {
            Ok(read) if read == count => self.bytes.get(start..),
            Ok(_) => None,
            Err(error) => {
                self.failure = Some(error);
                None
            }
        }
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.first_chunk().copied()
    }

    /// A zstd frame, or a skippable one (RFC 8878 section 3.1).
    fn frame(&mut self) -> Option<()> {
        let magic = self.array::<4>()?;
        if let [0x50..=0x5f, 0x2a, 0x4d, 0x18] = magic {
            let length = u32::from_le_bytes(self.array()?);
            self.take(length as usize)?;
            return Some(());
        }
        if magic != ZSTD_MAGIC {
            return None;
        }
        let [descriptor] = self.array()?;
        let single_segment = descriptor & 0x20 != 0;
        let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let content_size = match descriptor >> 6 {
            0 => usize::from(single_segment),
            size => 1 << size,
        };
        self.take(usize::from(!single_segment) + dictionary + content_size)?;
        loop {
            let [low, middle, high] = self.array()?;
            let header = u32::from_le_bytes([low, middle, high, 0]);
            let size = (header >> 3) as usize;
            match header >> 1 & 3 {
                // One byte that is repeated.
                1 => self.take(1)?,
                0 | 2 => self.take(size)?,
                _ => return None,
            };
            if header & 1 != 0 {
                break;
            }
        }
        if descriptor & 4 != 0 {
            self.take(4)?;
        }
        Some(())
    }

    /// A gzip member that states its size as BGZF does: in the first field of the header that may
    /// hold more (RFC 1952 section 2.3.1.1; the SAM format, section 4.1).
    fn member(&mut self) -> Option<()> {
        const HEADER_BYTES: usize = 18;
        let header = self.array::<HEADER_BYTES>()?;
        let [
            0x1f,
            0x8b,
            8,
            4,
            _,
            _,
            _,
            _,
            _,
            _,
            6,
            0,
            b'B',
            b'C',
            2,
            0,
            low,
            high,
        ] = header
        else {
            return None;
        };
        let bytes = usize::from(u16::from_le_bytes([low, high])) + 1;
        self.take(bytes.checked_sub(HEADER_BYTES)?)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// A BGZF member: gzip with its own size in the header.
    fn bgzf(bytes: &[u8]) -> Vec<u8> {
        let extra = [b'B', b'C', 2, 0, 0, 0];
        let mut encoder = flate2::GzBuilder::new()
            .extra(extra)
            .write(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        let mut member = encoder.finish().unwrap();
        let size = (member.len() - 1) as u16;
        member[16..18].copy_from_slice(&size.to_le_bytes());
        member
    }

    fn plain_member(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// With a checksum and without, with the size of the content and without.
    fn zstd_frame(bytes: &[u8], kind: u8) -> Vec<u8> {
        if kind == 0 {
            return [&[0x5a, 0x2a, 0x4d, 0x18][..], &3_u32.to_le_bytes(), b"abc"].concat();
        }
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.include_checksum(kind & 1 != 0).unwrap();
        encoder.include_contentsize(kind & 2 != 0).unwrap();
        if kind & 2 != 0 {
            encoder
                .set_pledged_src_size(Some(bytes.len() as u64))
                .unwrap();
        }
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// Bytes and the outcome: all, or up to which error.
    fn read(mut reader: Box<dyn Read + Send>) -> (Vec<u8>, Option<(io::ErrorKind, String)>) {
        let mut bytes = Vec::new();
        let error = reader.read_to_end(&mut bytes).err();
        (bytes, error.map(|error| (error.kind(), error.to_string())))
    }

    /// The same by both ways; whether anything was decompressed side by side.
    fn check(compression: Compression, file: &[u8]) {
        let input = || Cursor::new(file.to_vec());
        let alone = read(compression.decoder(input(), 1).unwrap());
        for threads in [2, 3] {
            let aside = read(compression.decoder(input(), threads).unwrap());
            assert_eq!(aside.1, alone.1);
            assert!(aside.0 == alone.0, "other bytes");
        }
    }

    fn noise(seed: u64, len: usize) -> Vec<u8> {
        let mut state = seed | 1;
        let noise = (0..len).map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 58) as u8
        });
        noise.collect()
    }

    /// Frames of all kinds, a byte changed, an end cut off.
    fn files(frame: fn(&[u8], u8) -> Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
        let frames = vec((any::<u64>(), 0_usize..60_000, 0_u8..5), 1..30);
        let damage = proptest::option::of((any::<prop::sample::Index>(), any::<u8>()));
        let cut = proptest::option::of(any::<prop::sample::Index>());
        (frames, damage, cut).prop_map(move |(frames, damage, cut)| {
            let frames = frames.iter();
            let mut file: Vec<u8> = frames
                .flat_map(|&(seed, len, kind)| frame(&noise(seed, len), kind))
                .collect();
            if let Some((place, byte)) = damage {
                let place = place.index(file.len());
                file[place] = byte;
            }
            if let Some(cut) = cut {
                file.truncate(cut.index(file.len()).max(6));
            }
            file
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn zstd_side_by_side_is_zstd_one_after_the_other(file in files(zstd_frame)) {
            check(Compression::Zstd, &file);
        }

        /// Kind 0 is a member that does not state its size.
        #[test]
        fn gzip_side_by_side_is_gzip_one_after_the_other(
            file in files(|bytes, kind| if kind == 0 { plain_member(bytes) } else { bgzf(bytes) }),
        ) {
            check(Compression::Gzip, &file);
        }
    }

    /// All of it is cut, or the tests above would compare one way with itself.
    #[test]
    fn streams_of_many_frames_are_cut() {
        let noises: Vec<Vec<u8>> = (0..40).map(|seed| noise(seed, 50_000)).collect();
        let zstd: Vec<u8> = noises
            .iter()
            .flat_map(|bytes| zstd_frame(bytes, 3))
            .collect();
        let gzip: Vec<u8> = noises.iter().flat_map(|bytes| bgzf(bytes)).collect();
        for (compression, file) in [(Compression::Zstd, zstd), (Compression::Gzip, gzip)] {
            let decode: Decode = |_, input| Ok(Box::new(input));
            let mut frames =
                Frames::new(compression, Box::new(Cursor::new(file.clone())), 3, decode);
            let mut bytes = Vec::new();
            frames.read_to_end(&mut bytes).unwrap();
            assert!(frames.rest.is_none(), "{compression}: not to the end");
            // Nothing is decompressed here, so that the parts come out as they are.
            assert!(bytes == file, "{compression}");
        }
    }

    /// A size that is not that of the member must not change what is read.
    #[test]
    fn sizes_that_lie_are_found_out() {
        let noises: Vec<Vec<u8>> = (0..20).map(|seed| noise(seed, 30_000)).collect();
        let members: Vec<Vec<u8>> = noises.iter().map(|bytes| bgzf(bytes)).collect();
        for lie in [-1_i32, 1, 100, -20_000, 20_000] {
            let mut members = members.clone();
            let true_size = i32::from(u16::from_le_bytes([members[7][16], members[7][17]]));
            let size = (true_size + lie).clamp(0, 0xffff) as u16;
            members[7][16..18].copy_from_slice(&size.to_le_bytes());
            check(Compression::Gzip, &members.concat());
        }
    }

    /// A part that becomes longer than what is held of one is read all the same.
    #[test]
    fn parts_that_become_too_long_are_read_by_the_sequential_way() {
        let zeros = vec![0; EXPANDED_BYTES_MAX as usize + 1];
        let frames = [&noise(1, 9000)[..], &zeros, &noise(2, 9000)];
        let file: Vec<u8> = frames
            .iter()
            .flat_map(|bytes| zstd_frame(bytes, 1))
            .collect();
        check(Compression::Zstd, &file);
    }

    /// What was read before the input failed comes first, then the failure.
    #[test]
    fn an_input_that_fails_fails_where_it_does() {
        let file: Vec<u8> = (0..20)
            .flat_map(|seed| bgzf(&noise(seed, 60_000)))
            .collect();
        for place in [10, file.len() / 2, file.len()] {
            let input = || {
                let failure = Failure(Some(io::ErrorKind::TimedOut.into()));
                Cursor::new(file[..place].to_vec()).chain(failure)
            };
            let alone = read(Compression::Gzip.decoder(input(), 1).unwrap());
            let aside = read(Compression::Gzip.decoder(input(), 2).unwrap());
            assert_eq!(aside.1, alone.1);
            assert!(aside.0 == alone.0);
        }
    }
}
