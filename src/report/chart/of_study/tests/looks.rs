//! How variants of a study look.

use super::super::super::palette::Colour;
use super::*;

/// The colours of data of all boxes, bars and samples.
fn colours(canvas: &Canvas) -> Vec<(u8, u8, u8)> {
    let mut found: Vec<(u8, u8, u8)> = Vec::new();
    for shape in &canvas.shapes {
        if let Shape::Rect { colour, .. } = shape
            && matches!(colour, Colour::Data(..))
        {
            let rgb = colour.rgb(Theme::Light);
            if !found.contains(&rgb) {
                found.push(rgb);
            }
        }
    }
    found
}

#[test]
fn variants_of_a_study_have_colours_of_their_own_in_all_its_charts() {
    let mut draft = Draft::new(&[]);
    let names = ["bbr", "bbr+cubic", "bbr-lt", "bbr1", "cubic"];
    for name in names {
        for mbps in [1.0, 2.0, 3.0, 5.0, 6.0] {
            draft.run(&[], &[], &[goodput(name, mbps * 1e6)]);
        }
    }
    let charts = draft.charts(&[]);
    let [bars, boxes] = ["bars-goodput", "boxes"].map(|stem| colours(named(&charts, stem)));
    assert_eq!(bars.len(), names.len());
    assert_eq!(bars, boxes);
}
