//! Small PNG files: at most 256 colours, since a chart has few, and the blends at their edges are
//! told apart by nobody.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, BufWriter, Write as _};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use foldhash::fast::FixedState;

use super::raster::Pixel;

/// Colours of one file.
const COLOURS_MAX: usize = 256;

/// So many are exact, however near they are: areas, while blends at edges are rarer.
const EXACT: usize = 128;

/// How hard the compressor tries: level 6 takes twice as long for files that are a fifteenth smaller.
const EFFORT: u32 = 2;

/// Pixels (row by row) as a PNG; `width_m` is its width in print, in metres, and `software` what made it.
pub(super) fn encode(
    pixels: &[Pixel],
    (width, height): (u32, u32),
    width_m: Option<f64>,
    software: &str,
) -> Result<Vec<u8>, String> {
    let picture = Picture::of(pixels);
    let palette = picture.palette();
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(palette.bytes());
    if let Some(width_m) = width_m {
        let per_metre = (f64::from(width) / width_m).round() as u32;
        encoder.set_pixel_dims(Some(png::PixelDimensions {
            xppu: per_metre,
            yppu: per_metre,
            unit: png::Unit::Meter,
        }));
    }
    encoder
        .add_text_chunk("Software".to_owned(), software.to_owned())
        .map_err(|error| error.to_string())?;
    let mut writer = encoder.write_header().map_err(|error| error.to_string())?;
    let data = compressed(&picture, &palette, width).map_err(|error| error.to_string())?;
    writer
        .write_chunk(png::chunk::IDAT, &data)
        .map_err(|error| error.to_string())?;
    writer.finish().map_err(|error| error.to_string())?;
    Ok(file)
}

/// Image data as the file has it. The library would hand over row by row, for each of which the compressor fills a
/// buffer with zeros: a tenth of the time that a chart takes.
fn compressed(picture: &Picture, palette: &Palette, width: u32) -> io::Result<Vec<u8>> {
    /// Handed over at once.
    const PIECE: usize = 1 << 18;
    /// Indices are no amounts: their differences say nothing.
    const NO_FILTER: u8 = 0;
    let zlib = ZlibEncoder::new(Vec::new(), Compression::new(EFFORT));
    let mut pieces = BufWriter::with_capacity(PIECE, zlib);
    let row_len = width as usize + 1;
    let mut row = Vec::with_capacity(row_len);
    row.push(NO_FILTER);
    for &(place, length) in &picture.runs {
        let index = palette.places[place as usize];
        let mut left = length as usize;
        while left > 0 {
            let here = left.min(row_len - row.len());
            row.resize(row.len() + here, index);
            left -= here;
            if row.len() == row_len {
                pieces.write_all(&row)?;
                row.truncate(1);
            }
        }
    }
    pieces.into_inner()?.finish()
}

/// Pixels as runs of one colour: charts are made of long ones.
#[derive(Default)]
struct Picture {
    /// The colours, in the order they come up, and the pixels of each.
    colours: Vec<(Pixel, u32)>,
    /// Place of a colour among them, and how many pixels it goes on for.
    runs: Vec<(u32, u32)>,
}

impl Picture {
    fn of(pixels: &[Pixel]) -> Self {
        let mut picture = Self::default();
        let mut places: HashMap<u32, u32, FixedState> = HashMap::default();
        let mut left = pixels;
        while let Some(&colour) = left.first() {
            let length = run_len(left, colour);
            left = &left[length..];
            let length = length as u32;
            let next = picture.colours.len() as u32;
            let place = *places.entry(u32::from_ne_bytes(colour)).or_insert(next);
            if place == next {
                picture.colours.push((colour, 0));
            }
            picture.colours[place as usize].1 += length;
            picture.runs.push((place, length));
        }
        picture
    }

    /// All colours where they are few, otherwise the most frequent.
    fn palette(&self) -> Palette {
        let mut ranked = self.colours.clone();
        ranked.sort_by_key(|&(colour, pixels)| (Reverse(pixels), colour));
        // The smallest difference that must be told apart for there to be few enough.
        let colours = (0..=444)
            .step_by(4)
            .map(|step| apart(&ranked, step * step))
            .find(|colours| colours.len() <= COLOURS_MAX)
            .unwrap_or_default();
        let exact: HashMap<Pixel, u8, FixedState> =
            colours.iter().copied().zip(0..=u8::MAX).collect();
        let place = |&(colour, _): &(Pixel, u32)| {
            let exact = exact.get(&colour).copied();
            exact.unwrap_or_else(|| nearest(&colours, colour))
        };
        let places = self.colours.iter().map(place).collect();
        Palette { colours, places }
    }
}

/// The colours of a file.
struct Palette {
    colours: Vec<Pixel>,
    /// Where each colour of the picture is among them.
    places: Vec<u8>,
}

impl Palette {
    fn bytes(&self) -> Vec<u8> {
        let colours = self.colours.iter();
        colours
            .flat_map(|&[red, green, blue, _]| [red, green, blue])
            .collect()
    }
}

/// How many pixels of this colour come first.
fn run_len(pixels: &[Pixel], colour: Pixel) -> usize {
    /// Pixels that are compared at once.
    const BLOCK: usize = 16;
    let bits = u32::from_ne_bytes;
    let (blocks, _) = pixels.as_chunks::<BLOCK>();
    let even = |block: &&[Pixel; BLOCK]| {
        let differences = block.iter().map(|&at| bits(at) ^ bits(colour));
        differences.fold(0, |all, bits| all | bits) == 0
    };
    let whole = BLOCK * blocks.iter().take_while(even).count();
    let rest = pixels[whole..].iter();
    whole + rest.take_while(|&&at| at == colour).count()
}

fn distance(one: Pixel, two: Pixel) -> i32 {
    one.iter()
        .zip(two)
        .map(|(&one, two)| (i32::from(one) - i32::from(two)).pow(2))
        .sum()
}

/// Colours in their order, the first of them and those that are farther than `near` from all before
/// them; one more than there may be is enough.
fn apart(ranked: &[(Pixel, u32)], near: i32) -> Vec<Pixel> {
    let mut colours: Vec<Pixel> = Vec::new();
    for &(colour, _) in ranked {
        if colours.len() > COLOURS_MAX {
            break;
        }
        let exact = near == 0 || colours.len() < EXACT;
        if exact || colours.iter().all(|&other| distance(other, colour) > near) {
            colours.push(colour);
        }
    }
    colours
}

/// The place of the colour that is least far away; of several, the most frequent.
fn nearest(colours: &[Pixel], colour: Pixel) -> u8 {
    let place = (0..colours.len()).min_by_key(|&place| distance(colours[place], colour));
    place.unwrap_or(0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pixels as they are in a file.
    fn plain(pixels: &[Pixel]) -> Vec<u8> {
        let colours = pixels.iter();
        colours
            .flat_map(|&[red, green, blue, _]| [red, green, blue])
            .collect()
    }

    fn decode(file: &[u8]) -> Vec<u8> {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        pixels.truncate(info.buffer_size());
        pixels
    }

    #[test]
    fn few_colours_are_kept_exactly() {
        let pixels: Vec<Pixel> = (0..200_u8).map(|n| [n, 255 - n, n / 2, 0]).collect();
        assert_eq!(
            decode(&encode(&pixels, (20, 10), None, "a test").unwrap()),
            plain(&pixels)
        );
    }

    #[test]
    fn as_many_colours_as_a_file_has_are_kept_exactly() {
        let pixels: Vec<Pixel> = (0..=255_u8).map(|n| [n, 0, 255 - n, 0]).collect();
        assert_eq!(
            decode(&encode(&pixels, (16, 16), None, "a test").unwrap()),
            plain(&pixels)
        );
    }

    #[test]
    fn of_many_colours_the_frequent_are_exact_and_the_others_near() {
        let mut pixels = vec![[9, 9, 200, 0]; 1000];
        pixels.extend((0..=255_u8).map(|n| [n, 0, 0, 0]));
        pixels.extend((0..=255_u8).map(|n| [n, 0, 3, 0]));
        let found = decode(&encode(&pixels, (1512, 1), Some(0.1), "a test").unwrap());
        let pixels = plain(&pixels);
        assert_eq!(&found[..3000], &pixels[..3000]);
        let far = pixels
            .iter()
            .zip(&found)
            .map(|(one, two)| one.abs_diff(*two));
        assert!(far.max().unwrap() <= 3);
    }

    #[test]
    fn runs_of_every_length_come_out_as_they_went_in() {
        // Lengths around the block that is compared at once, and over the ends of rows.
        let runs = (0..70_u8).flat_map(|n| vec![[n, n, 7, 0]; usize::from(n)]);
        let pixels: Vec<Pixel> = runs.collect();
        assert_eq!(pixels.len(), 69 * 35);
        assert_eq!(
            decode(&encode(&pixels, (69, 35), None, "a test").unwrap()),
            plain(&pixels)
        );
    }
}
