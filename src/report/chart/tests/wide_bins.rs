//! Charts of more bins than can be told apart.

use super::super::over_time::goodput_line;
use super::super::palette::LINES;
use super::super::plot::Bins;
use super::{download, with_scene};

#[test]
fn goodput_over_many_bins_is_a_mean_over_what_can_be_seen() {
    // A packet of 1000 bytes every 10 ms in bins of 100 ms, of which five make one here, and it is drawn over all of them.
    with_scene(download(1, 0, 100, |_| false), |scene, options| {
        let bins = Bins::of(scene, options.bin_ns).unwrap();
        let means = bins.joined(3);
        assert_eq!(means.1, 5);
        let line = goodput_line(&[&scene.flows[0]], String::new(), LINES[0], (&bins, means));
        let drawn: Vec<i64> = line.samples.iter().map(|sample| sample.bin).collect();
        assert_eq!(drawn, (bins.first..=bins.last).collect::<Vec<_>>());
        assert!((line.samples[6].value - 800_000.0).abs() < 1.0);
    });
}
