//! How far apart colours look, to readers with and without full colour vision.

use super::palette::Colour;
use super::style::Theme;

/// Colours that are less apart than this, to any reader, are alike: two and a half of the smallest differences that
/// are seen side by side, as bars and their legend are not. The eight of Okabe and Ito are 0.055 apart and more.
pub(super) const APART: f64 = 0.05;

/// Rows of a matrix that takes linear red, green and blue to what is seen.
type Eye = [[f64; 3]; 3];

/// Full colour vision, and none of one kind of cone: protanopia, deuteranopia, tritanopia (Machado, Oliveira and
/// Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", 2009, severity 1).
const EYES: [Eye; 4] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [
        [0.152_286, 1.052_583, -0.204_868],
        [0.114_503, 0.786_281, 0.099_216],
        [-0.003_882, -0.048_116, 1.051_998],
    ],
    [
        [0.367_322, 0.860_646, -0.227_968],
        [0.280_085, 0.672_501, 0.047_413],
        [-0.011_820, 0.042_940, 0.968_881],
    ],
    [
        [1.255_528, -0.076_749, -0.178_779],
        [-0.078_411, 0.930_809, 0.147_602],
        [0.004_733, 0.691_367, 0.303_900],
    ],
];

/// How far apart two colours look at least: on white or near black, to any of the eyes; 1 is from black to white.
pub(super) fn apart(one: Colour, two: Colour) -> f64 {
    let themes = [Theme::Light, Theme::Dark].into_iter();
    let views = themes.flat_map(|theme| EYES.map(|eye| (theme, eye)));
    let apart = views.map(|(theme, eye)| {
        let [one, two] = [one, two].map(|colour| seen(linear(colour, theme), &eye));
        let squares = one.iter().zip(two).map(|(a, b)| (a - b) * (a - b));
        squares.sum::<f64>().sqrt()
    });
    apart.fold(f64::INFINITY, f64::min)
}

/// Red, green and blue, as amounts of light from 0 to 1.
pub(super) fn linear(colour: Colour, theme: Theme) -> [f64; 3] {
    let (r, g, b) = colour.rgb(theme);
    [r, g, b].map(|part| {
        let part = f64::from(part) / 255.0;
        if part <= 0.040_45 {
            part / 12.92
        } else {
            ((part + 0.055) / 1.055).powf(2.4)
        }
    })
}

/// What an eye sees, where distances are as they look: `OKLab` (Ottosson, "A perceptual color space", 2020).
fn seen(light: [f64; 3], eye: &Eye) -> [f64; 3] {
    const CONES: Eye = [
        [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
        [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
        [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
    ];
    const LAB: Eye = [
        [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
        [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
        [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
    ];
    let light = times(eye, light).map(|part| part.clamp(0.0, 1.0));
    times(&LAB, times(&CONES, light).map(f64::cbrt))
}

fn times(rows: &Eye, of: [f64; 3]) -> [f64; 3] {
    rows.map(|row| row.iter().zip(of).map(|(a, b)| a * b).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_sources() {
        let black = Colour::Exact(0, 0, 0);
        let white = Colour::Exact(255, 255, 255);
        assert!((apart(black, white) - 1.0).abs() < 1e-3);
        assert!(apart(white, white) < 1e-12);
        // To full colour vision red and this green are 0.5 apart; without the cones for green they are neighbours.
        let [red, green] = [Colour::Exact(0xa0, 0x60, 0), Colour::Exact(0x60, 0x80, 0)];
        assert!(apart(red, green) < APART, "{}", apart(red, green));
        // Its own example: red is (0.628, 0.225, 0.126).
        let [l, a, b] = seen([1.0, 0.0, 0.0], &EYES[0]);
        let off = (l - 0.628).abs() + (a - 0.225).abs() + (b - 0.126).abs();
        assert!(off < 2e-3, "{l} {a} {b}");
        // Grey is grey to every eye.
        for eye in &EYES {
            let [_, a, b] = seen([0.2; 3], eye);
            assert!(a.abs() < 2e-3 && b.abs() < 2e-3, "{a} {b}");
        }
    }
}
