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

/// So many are exact, however near they are, and more where they are of areas, as those of a scale of colours: blends at
/// edges are rarer.
const EXACT: usize = 128;
const EXACT_AREAS: usize = 208;

/// What an area weighs, at least: a step of a scale, 6 pixels wide and 20 high, weighs 720.
const AREA_WEIGHT: u64 = 500;

/// How hard the compressor tries: level 6 takes twice as long for files that are a fifteenth smaller.
const EFFORT: u32 = 2;

/// Pixels (row by row) as a PNG; `width_m` is its width in print, in metres, and `software` what made it.
pub(super) fn encode(
    pixels: &[Pixel],
    (width, height): (u32, u32),
    width_m: Option<f64>,
    software: &str,
) -> Result<Vec<u8>, String> {
    let picture = Picture::of(pixels, width as usize);
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
    let data = compressed(&picture, &palette).map_err(|error| error.to_string())?;
    writer
        .write_chunk(png::chunk::IDAT, &data)
        .map_err(|error| error.to_string())?;
    writer.finish().map_err(|error| error.to_string())?;
    Ok(file)
}

/// Image data as the file has it. The library would hand over row by row, for each of which the compressor fills a
/// buffer with zeros: a tenth of the time that a chart takes.
fn compressed(picture: &Picture, palette: &Palette) -> io::Result<Vec<u8>> {
    /// Handed over at once.
    const PIECE: usize = 1 << 18;
    /// Indices are no amounts: their differences say nothing.
    const NO_FILTER: u8 = 0;
    let zlib = ZlibEncoder::new(Vec::new(), Compression::new(EFFORT));
    let mut pieces = BufWriter::with_capacity(PIECE, zlib);
    let mut row = Vec::new();
    let mut runs = &picture.runs[..];
    for &(count, times) in &picture.rows {
        let of_row;
        (of_row, runs) = runs.split_at(count);
        row.clear();
        row.push(NO_FILTER);
        for &(place, length) in of_row {
            row.resize(row.len() + length as usize, palette.places[place as usize]);
        }
        for _ in 0..times {
            pieces.write_all(&row)?;
        }
    }
    pieces.into_inner()?.finish()
}

/// Pixels as runs of one colour: charts are made of long ones, and of rows that are as the one above.
#[derive(Default)]
struct Picture {
    /// The colours, in the order they come up, and the weight of each.
    colours: Vec<(Pixel, u64)>,
    /// Place of a colour among them, and how many pixels of a row it goes on for.
    runs: Vec<(u32, u32)>,
    /// How many runs a row has, and how many rows in turn have these.
    rows: Vec<(usize, u32)>,
}

impl Picture {
    /// Rows of pixels, each of so many.
    fn of(pixels: &[Pixel], width: usize) -> Self {
        let mut picture = Self::default();
        let mut places = Places::default();
        let alike = |one: &&[Pixel], next: &&[Pixel]| one.as_flattened() == next.as_flattened();
        let rows: Vec<&[Pixel]> = pixels.chunks(width.max(1)).collect();
        for alike in rows.chunk_by(alike) {
            let times = alike.len() as u32;
            let before = picture.runs.len();
            let mut left = alike[0];
            while let Some(&colour) = left.first() {
                let length = run_len(left, colour);
                left = &left[length..];
                let length = length as u32;
                let next = picture.colours.len() as u32;
                let place = places.of(colour, next);
                if place == next {
                    picture.colours.push((colour, 0));
                }
                picture.colours[place as usize].1 += weight(length, times);
                picture.runs.push((place, length));
            }
            picture.rows.push((picture.runs.len() - before, times));
        }
        picture
    }

    /// All colours where they are few, otherwise those of most weight.
    fn palette(&self) -> Palette {
        let mut ranked = self.colours.clone();
        ranked.sort_by_key(|&(colour, weight)| (Reverse(weight), colour));
        // The smallest difference that must be told apart for there to be few enough.
        let colours = (0..=444)
            .step_by(4)
            .map(|step| apart(&ranked, step * step))
            .find(|colours| colours.len() <= COLOURS_MAX)
            .unwrap_or_default();
        let exact: HashMap<Pixel, u8, FixedState> =
            colours.iter().copied().zip(0..=u8::MAX).collect();
        let channels: Channels = colours.iter().copied().collect();
        // Of several that are as near, that of most weight.
        let place = |&(colour, _): &(Pixel, u64)| {
            let exact = exact.get(&colour).copied();
            exact.unwrap_or_else(|| channels.nearest(colour))
        };
        let places = self.colours.iter().map(place).collect();
        Palette { colours, places }
    }
}

/// What so many pixels in a row weigh, in so many rows: in an area, more than as many that are strewn along edges.
fn weight(length: u32, rows: u32) -> u64 {
    u64::from(length) * u64::from(length) * u64::from(rows)
}

/// Where the colours of a picture are among them. Few colours come up again and again: these are found without a table.
struct Places {
    all: HashMap<Pixel, u32, FixedState>,
    recent: [Option<(Pixel, u32)>; 1 << Self::RECENT_BITS],
}

impl Default for Places {
    fn default() -> Self {
        Self {
            all: HashMap::default(),
            recent: [None; 1 << Self::RECENT_BITS],
        }
    }
}

impl Places {
    const RECENT_BITS: u32 = 8;

    /// That of this colour, which is `next` where there is none yet.
    fn of(&mut self, colour: Pixel, next: u32) -> u32 {
        let mixed = u32::from_ne_bytes(colour).wrapping_mul(0x9e37_79b1);
        let recent = &mut self.recent[(mixed >> (u32::BITS - Self::RECENT_BITS)) as usize];
        match *recent {
            Some((known, place)) if known == colour => place,
            _ => {
                let place = *self.all.entry(colour).or_insert(next);
                *recent = Some((colour, place));
                place
            }
        }
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

/// Colours, a channel beside the other: the processor takes several at a time where it looks how far they are from
/// another one.
#[derive(Default)]
struct Channels([Vec<i16>; 3]);

impl FromIterator<Pixel> for Channels {
    fn from_iter<I: IntoIterator<Item = Pixel>>(colours: I) -> Self {
        let mut channels = Self::default();
        for colour in colours {
            channels.push(colour);
        }
        channels
    }
}

impl Channels {
    fn push(&mut self, [red, green, blue, _]: Pixel) {
        for (channel, value) in self.0.iter_mut().zip([red, green, blue]) {
            channel.push(value.into());
        }
    }

    fn distances(&self, [red, green, blue, _]: Pixel) -> impl Iterator<Item = i32> {
        let squared = |one: i16, other: u8| i32::from(one - i16::from(other)).pow(2);
        let [reds, greens, blues] = &self.0;
        let colours = reds.iter().zip(greens).zip(blues);
        colours.map(move |((&one, &two), &three)| {
            squared(one, red) + squared(two, green) + squared(three, blue)
        })
    }

    /// To the one that is least far away.
    fn least_distance(&self, colour: Pixel) -> i32 {
        self.distances(colour).fold(i32::MAX, i32::min)
    }

    /// The place of that; of several, the first.
    fn nearest(&self, colour: Pixel) -> u8 {
        // Distances take 18 bits: with the place behind them, the least is found in one go.
        let ranked = self.distances(colour).zip(0..);
        let ranked = ranked.map(|(distance, place)| distance << u8::BITS | place);
        ranked.fold(i32::MAX, i32::min) as u8
    }
}

/// Colours in their order, the first of them and those that are farther than `near` from all before
/// them; one more than there may be is enough.
fn apart(ranked: &[(Pixel, u64)], near: i32) -> Vec<Pixel> {
    let mut colours = Vec::new();
    let mut channels = Channels::default();
    for &(colour, weight) in ranked {
        if colours.len() > COLOURS_MAX {
            break;
        }
        let exact = if weight < AREA_WEIGHT {
            EXACT
        } else {
            EXACT_AREAS
        };
        if near == 0 || colours.len() < exact || channels.least_distance(colour) > near {
            colours.push(colour);
            channels.push(colour);
        }
    }
    colours
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
    fn a_scale_of_colours_is_exact_beside_blends_that_are_more_frequent() {
        // Steps of six pixels in twenty rows, each one nearer to the next than blends to each other.
        let scale = (0..200_u8).flat_map(|n| [[n, 100, 255 - n, 0]; 6]);
        let scale: Vec<Pixel> = scale.collect();
        let blends = (0..1200_u32).map(|n| [(n % 2) as u8 * 9, (n % 254) as u8, 0, 0]);
        let blends: Vec<Pixel> = blends.collect();
        let rows = [vec![scale.as_slice(); 20], vec![&blends[..]; 40]].concat();
        let pixels = rows.concat();
        let found = decode(&encode(&pixels, (1200, 60), None, "a test").unwrap());
        let of_scale = 3 * 20 * 1200;
        assert_eq!(&found[..of_scale], &plain(&pixels)[..of_scale]);
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

    #[test]
    fn rows_that_are_alike_come_out_as_often_as_they_went_in() {
        let row = |which: u8| [[which, 9, 200, 0], [7, which, 0, 0], [7, which, 0, 0]];
        let rows = [1, 1, 2, 1, 1, 1, 3, 3].map(row);
        let pixels = rows.as_flattened();
        assert_eq!(
            decode(&encode(pixels, (3, 8), None, "a test").unwrap()),
            plain(pixels)
        );
        assert_eq!(Picture::of(pixels, 3).rows.len(), 4);
    }

    #[test]
    fn the_nearest_colour_is_that_of_the_least_distance_and_of_two_the_first() {
        let colours: Vec<Pixel> = vec![
            [0, 0, 0, 0],
            [255, 0, 255, 0],
            [10, 20, 30, 0],
            [30, 20, 10, 0],
        ];
        let channels: Channels = colours.iter().copied().collect();
        // As far from the third as from the fourth: 10 in each of two channels.
        let nearest = |colour| channels.nearest(colour);
        assert_eq!(nearest([20, 20, 20, 0]), 2);
        assert_eq!(nearest([255, 255, 255, 0]), 1);
        assert_eq!(channels.least_distance([255, 255, 255, 0]), 255 * 255);
    }
}
