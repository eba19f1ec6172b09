//! Headers of pages: what they say about lengths, before anything believes it.
//!
//! A page that lies makes the reader ask for more memory than there is, which no program survives.
//! Headers are never compressed, so they can be looked at beforehand. They are structs of Thrift's
//! compact protocol: `PageHeader` in `parquet.thrift` of the Parquet format.

use crate::study::import::{BYTES_MAX, CELLS_MAX};

/// Structs and lists within each other; a header has three levels, with its statistics.
const DEPTH_MAX: usize = 8;

/// Checks the pages of a column chunk that is to hold so many values: none has more bytes than a
/// table may have, and all together have no more values than the chunk.
///
/// `None` where a page says something else, or its header cannot be read.
pub(super) fn check(chunk: &[u8], values: i64) -> Option<()> {
    let is_within = |number: i64, most: i64| (0..=most).contains(&number).then_some(());
    is_within(values, CELLS_MAX as i64)?;
    let mut left = values;
    let mut cursor = Cursor { rest: chunk };
    while !cursor.rest.is_empty() {
        let mut header = Header::default();
        cursor.fields(0, 0, &mut header)?;
        is_within(header.uncompressed_bytes, BYTES_MAX as i64)?;
        // A dictionary may have values that no row has.
        is_within(header.dictionary_values, CELLS_MAX as i64)?;
        is_within(header.values, left)?;
        is_within(header.nulls, header.values)?;
        is_within(header.rows, values)?;
        is_within(header.definition_bytes, header.uncompressed_bytes)?;
        is_within(header.repetition_bytes, header.uncompressed_bytes)?;
        left -= header.values;
        let body = usize::try_from(header.compressed_bytes).ok()?;
        cursor.rest = cursor.rest.get(body..)?;
    }
    Some(())
}

/// The lengths of a page header; 0 where it does not say one.
#[derive(Debug, Default)]
struct Header {
    uncompressed_bytes: i64,
    compressed_bytes: i64,
    values: i64,
    nulls: i64,
    rows: i64,
    definition_bytes: i64,
    repetition_bytes: i64,
    dictionary_values: i64,
}

impl Header {
    /// Keeps a number: field `field` of the header itself (struct 0), or of the struct that is
    /// field `parent` of it.
    fn keep(&mut self, parent: i64, field: i64, number: i64) {
        // Fields by their numbers in parquet.thrift.
        let place = match (parent, field) {
            (0, 2) => &mut self.uncompressed_bytes,
            (0, 3) => &mut self.compressed_bytes,
            // `DataPageHeader` and `DataPageHeaderV2`.
            (5 | 8, 1) => &mut self.values,
            (8, 2) => &mut self.nulls,
            (8, 3) => &mut self.rows,
            (8, 5) => &mut self.definition_bytes,
            (8, 6) => &mut self.repetition_bytes,
            (7, 1) => &mut self.dictionary_values,
            _ => return,
        };
        *place = number;
    }
}

/// Reads the compact protocol; `None` where the bytes are none of it.
struct Cursor<'a> {
    rest: &'a [u8],
}

impl Cursor<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn skip(&mut self, bytes: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(bytes).ok()?..)?;
        Some(())
    }

    /// A number in seven bits a byte, the lowest first.
    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// A number with a sign: 0, -1, 1, -2 and so on.
    fn zigzag(&mut self) -> Option<i64> {
        let number = self.varint()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// The fields of a struct that is field `parent` of the header, or the header itself.
    fn fields(&mut self, depth: usize, parent: i64, header: &mut Header) -> Option<()> {
        let mut field = 0_i64;
        loop {
            let byte = self.byte()?;
            let (step, kind) = (byte >> 4, byte & 0x0f);
            if kind == 0 {
                return Some(());
            }
            field = if step == 0 {
                self.zigzag()?
            } else {
                field.checked_add(i64::from(step))?
            };
            match kind {
                // Truth values are in their kind.
                1 | 2 => {}
                4..=6 => {
                    let number = self.zigzag()?;
                    if depth < 2 {
                        header.keep(parent, field, number);
                    }
                }
                12 if depth == 0 => self.fields(1, field, header)?,
                _ => self.value(depth, kind)?,
            }
        }
    }

    /// Passes over a value of a kind.
    fn value(&mut self, depth: usize, kind: u8) -> Option<()> {
        if depth > DEPTH_MAX {
            return None;
        }
        match kind {
            1..=3 => self.skip(1),
            4..=6 => self.varint().map(|_| ()),
            7 => self.skip(8),
            8 => {
                let bytes = self.varint()?;
                self.skip(bytes)
            }
            9 | 10 => {
                let byte = self.byte()?;
                let length = match byte >> 4 {
                    15 => self.varint()?,
                    short => u64::from(short),
                };
                (0..length).try_for_each(|_| self.value(depth + 1, byte & 0x0f))
            }
            12 => self.fields(depth + 2, 0, &mut Header::default()),
            _ => None,
        }
    }
}
