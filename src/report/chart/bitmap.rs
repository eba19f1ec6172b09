//! Small PNG files: at most 256 colours, since a chart has few, and the blends at their edges are
//! told apart by nobody.

use std::collections::BTreeMap;

/// Colours of one file.
const COLOURS_MAX: usize = 256;

/// Pixels (row by row; red, green, blue) as a PNG; `width_m` is its width in print, in metres.
pub(super) fn encode(
    pixels: &[u8],
    width: u32,
    height: u32,
    width_m: Option<f64>,
) -> Result<Vec<u8>, String> {
    let palette = Palette::of(pixels);
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(palette.bytes());
    encoder.set_compression(png::Compression::Default);
    // Indices are no amounts: their differences say nothing.
    encoder.set_filter(png::FilterType::NoFilter);
    if let Some(width_m) = width_m {
        let per_metre = (f64::from(width) / width_m).round() as u32;
        encoder.set_pixel_dims(Some(png::PixelDimensions {
            xppu: per_metre,
            yppu: per_metre,
            unit: png::Unit::Meter,
        }));
    }
    let mut writer = encoder.write_header().map_err(|error| error.to_string())?;
    writer
        .write_image_data(&palette.indices(pixels))
        .map_err(|error| error.to_string())?;
    writer.finish().map_err(|error| error.to_string())?;
    Ok(file)
}

type Rgb = [u8; 3];

/// The colours of a picture: all of them where they are few, otherwise the most frequent.
struct Palette {
    colours: Vec<Rgb>,
    /// Where each colour of the picture is in the palette.
    places: BTreeMap<Rgb, u8>,
}

impl Palette {
    fn of(pixels: &[u8]) -> Self {
        let mut counts: BTreeMap<Rgb, u32> = BTreeMap::new();
        runs(pixels, |rgb, n| *counts.entry(rgb).or_default() += n as u32);
        counts.retain(|_, count| *count > 0);
        let mut ranked: Vec<(Rgb, u32)> = counts.iter().map(|(&rgb, &n)| (rgb, n)).collect();
        ranked.sort_by_key(|&(rgb, n)| (std::cmp::Reverse(n), rgb));
        // The smallest difference that must be told apart for there to be few enough.
        let colours = (0..=442)
            .map(|step| apart(&ranked, step * step))
            .find(|colours| colours.len() <= COLOURS_MAX)
            .unwrap_or_default();
        let places = counts
            .keys()
            .map(|&rgb| (rgb, nearest(&colours, rgb)))
            .collect();
        Self { colours, places }
    }

    fn bytes(&self) -> Vec<u8> {
        self.colours.concat()
    }

    fn indices(&self, pixels: &[u8]) -> Vec<u8> {
        let mut indices = Vec::with_capacity(pixels.len() / 3);
        runs(pixels, |rgb, n| {
            let place = self.places.get(&rgb).copied().unwrap_or(0);
            indices.resize(indices.len() + n, place);
        });
        indices
    }
}

/// Calls `each` with colour and length of every run of pixels of one colour: charts are made of long
/// ones.
fn runs(pixels: &[u8], mut each: impl FnMut(Rgb, usize)) {
    let (pixels, _) = pixels.as_chunks::<3>();
    pixels
        .chunk_by(|one, other| one == other)
        .for_each(|run| each(run[0], run.len()));
}

fn distance(one: Rgb, two: Rgb) -> i32 {
    one.iter()
        .zip(two)
        .map(|(&one, two)| (i32::from(one) - i32::from(two)).pow(2))
        .sum()
}

/// Colours in their order, without those that are no farther than `near` from one before them;
/// one more than there may be is enough.
fn apart(ranked: &[(Rgb, u32)], near: i32) -> Vec<Rgb> {
    let mut colours: Vec<Rgb> = Vec::new();
    for &(rgb, _) in ranked {
        if colours.len() > COLOURS_MAX {
            break;
        }
        if near == 0 || colours.iter().all(|&other| distance(other, rgb) > near) {
            colours.push(rgb);
        }
    }
    colours
}

/// The place of the colour that is least far away; of several, the most frequent.
fn nearest(colours: &[Rgb], rgb: Rgb) -> u8 {
    let place = (0..colours.len()).min_by_key(|&place| distance(colours[place], rgb));
    place.unwrap_or(0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(file: &[u8]) -> Vec<u8> {
        let mut decoder = png::Decoder::new(file);
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size()];
        let info = reader.next_frame(&mut pixels).unwrap();
        pixels.truncate(info.buffer_size());
        pixels
    }

    #[test]
    fn few_colours_are_kept_exactly() {
        let pixels: Vec<u8> = (0..200_u8).flat_map(|n| [n, 255 - n, n / 2]).collect();
        assert_eq!(decode(&encode(&pixels, 20, 10, None).unwrap()), pixels);
    }

    #[test]
    fn of_many_colours_the_frequent_are_exact_and_the_others_near() {
        let mut pixels = [9, 9, 200].repeat(1000);
        pixels.extend((0..=255_u8).flat_map(|n| [n, 0, 0]));
        pixels.extend((0..=255_u8).flat_map(|n| [n, 0, 3]));
        let found = decode(&encode(&pixels, 1512, 1, Some(0.1)).unwrap());
        assert_eq!(&found[..3000], &pixels[..3000]);
        let far = pixels
            .iter()
            .zip(&found)
            .map(|(one, two)| one.abs_diff(*two));
        assert!(far.max().unwrap() <= 3);
    }
}
