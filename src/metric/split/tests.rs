use super::*;

fn segment(delay_ms: f64, loss_percent: f64, rate_mbps: f64) -> PathModel {
    PathModel {
        delay_ns: delay_ms * 1e6,
        rate_bps: rate_mbps * 1e6,
        loss: loss_percent / 100.0,
    }
}

/// The grid of the study's Table 1, with a throughput for each setting.
fn table_1(throughput_bps: impl Fn(PathModel) -> f64) -> SplitGrid {
    let mut grid = SplitGrid::default();
    for rate in [10.0, 20.0, 30.0, 40.0, 50.0] {
        for delay in [1.0, 20.0, 40.0, 60.0, 80.0, 100.0] {
            for loss in [0.0, 1.0, 2.0, 3.0, 4.0] {
                let model = segment(delay, loss, rate);
                grid.insert(model, throughput_bps(model));
            }
        }
    }
    grid
}

#[test]
fn delay_adds_the_slower_rate_stays_and_loss_composes() {
    let path = compose(
        segment(20.0, 4.0, 10.0),
        segment(60.0, 3.0, 50.0),
        Composition::Exact,
    );
    assert_eq!((path.delay_ns, path.rate_bps), (80e6, 10e6));
    // 4 % + 96 % of 3 %.
    assert!((path.loss - 0.0688).abs() < 1e-15);
}

#[test]
fn on_the_grid_a_millisecond_vanishes_and_losses_add() {
    let path = compose(
        segment(1.0, 4.0, 10.0),
        segment(60.0, 3.0, 50.0),
        Composition::OnGrid,
    );
    assert!((path.loss - 0.07).abs() < 1e-15);
    assert_eq!((path.delay_ns, path.rate_bps), (60e6, 10e6));
    let path = compose(
        segment(20.0, 1.0, 30.0),
        segment(20.0, 1.0, 20.0),
        Composition::OnGrid,
    );
    assert_eq!(path, segment(40.0, 2.0, 20.0));
}

#[test]
fn the_example_of_the_study_splits_0_49_into_0_82() {
    // Figure 4d: 100 ms 0 % has utilisation 0.82, 1 ms 4 % has 0.85, 100 ms 4 % has 0.49.
    let mut grid = SplitGrid::default();
    grid.insert(segment(100.0, 0.0, 10.0), 8.2e6);
    grid.insert(segment(1.0, 4.0, 10.0), 8.5e6);
    grid.insert(segment(100.0, 4.0, 10.0), 4.9e6);
    let prediction = grid
        .predict(
            segment(100.0, 0.0, 10.0),
            segment(1.0, 4.0, 10.0),
            Composition::OnGrid,
        )
        .unwrap();
    assert_eq!(
        (prediction.split_bps, prediction.end_to_end_bps),
        (8.2e6, 4.9e6)
    );
    assert_eq!(prediction.split_utilisation(), Some(0.82));
    assert!((prediction.gain().unwrap() - 8.2 / 4.9).abs() < 1e-12);
}

#[test]
fn table_1_has_7875_paths_of_two_segments() {
    // 15 pairs of losses x 21 of delays x 25 of rates, as the study counts them.
    let (counts, _) = study_splits(&table_1(|model| model.rate_bps), SplitFilter::default());
    assert_eq!(counts.initial, 7875);
    assert_eq!(counts.gain, 0);
}

#[test]
fn an_algorithm_that_stands_no_loss_over_distance_profits_at_a_lossy_last_mile_only() {
    // Full rate without loss or at 1 ms, a hundredth otherwise: Cubic, overdrawn.
    let grid = table_1(|model| {
        if model.loss > 0.0 && model.delay_ns > 1e6 {
            model.rate_bps / 100.0
        } else {
            model.rate_bps
        }
    });
    let (counts, scenarios) = study_splits(&grid, SplitFilter::default());
    // A lossy 1 ms (4 losses, 5 rates) with a clean longer segment (5 delays, 5 rates), both ways.
    assert_eq!(counts.utilisation, 2 * 4 * 5 * 5 * 5);
    assert_eq!(counts.classes, [counts.utilisation, 0, 0]);
    assert_eq!(scenarios.len() as u64, counts.utilisation);
    assert!(
        scenarios
            .iter()
            .all(|scenario| scenario.class == Some(PathClass::LossyLastMile))
    );
}

#[test]
fn classes_are_those_of_figure_1_in_either_order() {
    let clean = segment(60.0, 0.0, 10.0);
    let lossy = segment(60.0, 2.0, 10.0);
    let near_clean = segment(1.0, 0.0, 10.0);
    let near_lossy = segment(1.0, 2.0, 10.0);
    for (a, b, expected) in [
        (near_lossy, clean, Some(PathClass::LossyLastMile)),
        (near_lossy, lossy, Some(PathClass::LossyAsymmetric)),
        (lossy, lossy, Some(PathClass::LossySymmetric)),
        (near_clean, lossy, None),
        (near_clean, clean, None),
        (near_lossy, near_lossy, None),
        (clean, lossy, None),
    ] {
        assert_eq!(PathClass::of(a, b), expected, "{a:?} {b:?}");
        assert_eq!(PathClass::of(b, a), expected, "{b:?} {a:?}");
    }
}

#[test]
fn errors_are_shares_of_the_measured_value() {
    // First line of the study's notebook: 10 % too much.
    let error = prediction_error(9.520, 8.635).unwrap();
    assert!((error - 0.1025).abs() < 1e-4);
    assert_eq!(prediction_error(1.0, 0.0), None);
}
