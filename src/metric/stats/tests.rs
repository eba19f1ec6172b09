//! Numbers of published studies and textbooks; where one is named, R and scipy print the same.

use super::distribution::{chi_squared_tail, f_tail, student_t_quantile, student_t_tail};
use super::*;

use proptest::prelude::*;

/// R's `PlantGrowth` (A. Dobson, An Introduction to Statistical Modelling, 1983): dried weights of
/// plants, control and two treatments.
const PLANTS: [[f64; 10]; 3] = [
    [4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14],
    [4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69],
    [6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26],
];

/// R's `sleep` (Student, The Probable Error of a Mean, 1908): hours gained by two drugs.
const SLEEP: [[f64; 10]; 2] = [
    [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
];

#[track_caller]
fn close(value: f64, expected: f64, relative: f64) {
    assert!(
        (value - expected).abs() <= relative * expected.abs(),
        "{value:e} is not {expected:e}"
    );
}

fn summary((n, sum, variance): (u64, f64, f64)) -> GroupSummary {
    GroupSummary {
        n,
        sum,
        variance: Some(variance),
    }
}

#[test]
fn anova_of_the_wired_throughput_of_the_bbrv3_study() {
    let groups = [
        (301, 28_895.804_09, 189.197_289_5),
        (301, 19_210.379_13, 1_047.042_73),
        (301, 18_434.638_04, 1_005.274_918),
    ];
    let anova = Anova::of_summaries(&groups.map(summary)).unwrap();
    close(anova.between.ss, 225_742.221, 1e-8);
    close(anova.within.ss, 672_454.481, 1e-8);
    close(anova.total_ss, 898_196.702, 1e-8);
    assert_eq!((anova.between.df, anova.within.df), (2, 900));
    assert_eq!(anova.total_df, 902);
    close(anova.between.ms, 112_871.110, 1e-8);
    close(anova.within.ms, 747.171_645, 1e-8);
    close(anova.f.unwrap(), 151.064_49, 1e-7);
    close(anova.p.unwrap(), 2.69e-57, 0.005);
    close(anova.f_crit, 3.005_726_0, 1e-8);
    // By hand: 225742.221 / 898196.702, and (225742.221 - 2 x 747.171645) / (898196.702 + 747.17).
    close(anova.eta_squared().unwrap(), 0.251_328_3, 1e-6);
    close(anova.omega_squared().unwrap(), 0.249_456_9, 1e-4);
}

#[test]
fn anova_of_the_wired_ping_of_the_bbrv3_study() {
    let groups = [
        (350, 9_635.222, 326.307_4),
        (350, 829_330.9, 1_855_440.0),
        (350, 1_041_544.0, 1_483_448.0),
    ];
    let anova = Anova::of_summaries(&groups.map(summary)).unwrap();
    close(anova.between.ss, 1.7e9, 0.005);
    close(anova.within.ss, 1.17e9, 0.005);
    close(anova.between.ms, 8.48e8, 0.005);
    close(anova.within.ms, 1_113_071.0, 1e-6);
    assert_eq!((anova.between.df, anova.within.df), (2, 1047));
    close(anova.f.unwrap(), 762.271_4, 1e-6);
    close(anova.p.unwrap(), 5.1e-205, 0.01);
    close(anova.f_crit, 3.004_32, 1e-6);
}

#[test]
fn anova_of_the_wireless_throughput_of_the_bbrv3_study() {
    let groups = [
        (302, 13_868.34, 91.175_81),
        (302, 7_754.156, 516.200_4),
        (302, 6_562.44, 377.903_9),
    ];
    let anova = Anova::of_summaries(&groups.map(summary)).unwrap();
    close(anova.between.ss, 101_743.4, 1e-6);
    close(anova.within.ss, 296_569.3, 1e-6);
    close(anova.f.unwrap(), 154.895, 1e-5);
    close(anova.p.unwrap(), 1.46e-58, 0.005);
    close(anova.f_crit, 3.005_693, 1e-6);
}

#[test]
fn anova_rows_leave_empty_what_papers_leave_empty() {
    let anova = Anova::of_samples(&PLANTS).unwrap();
    let [between, within, total] = anova.rows();
    assert_eq!(between.source, "Between Groups");
    assert_eq!((between.f, between.p), (anova.f, anova.p));
    assert_eq!(between.f_crit, Some(anova.f_crit));
    assert_eq!((within.ms, within.f), (Some(anova.within.ms), None));
    assert_eq!((total.ss, total.df, total.ms), (anova.total_ss, 29, None));
}

#[test]
fn anova_of_samples_agrees_with_r() {
    // R: aov(weight ~ group, PlantGrowth): SS 3.766 and 10.492, F 4.846, P 0.0159.
    let anova = Anova::of_samples(&PLANTS).unwrap();
    close(anova.between.ss, 3.766_34, 1e-9);
    close(anova.within.ss, 10.492_09, 1e-9);
    close(anova.f.unwrap(), 4.846_087_862_380_135, 1e-12);
    close(anova.p.unwrap(), 0.015_909_958_325_622_912, 1e-10);
    close(
        anova.eta_squared().unwrap(),
        0.264_148_296_832_119_77,
        1e-12,
    );
    close(
        anova.omega_squared().unwrap(),
        0.204_078_845_989_970_98,
        1e-12,
    );
}

#[test]
fn anova_takes_groups_of_any_size() {
    let largest = |sum| summary((u64::MAX, sum, 1.0));
    let anova = Anova::of_summaries(&[largest(0.0), largest(1.0)]).unwrap();
    assert_eq!(anova.total_df, u64::MAX - 1);
    assert!(anova.f_crit.is_finite() && anova.p.unwrap().is_finite());
}

#[test]
fn anova_needs_two_groups_and_something_to_vary() {
    assert_eq!(Anova::of_samples(&PLANTS[..1]), None);
    assert_eq!(Anova::of_samples::<[f64; 1]>(&[[1.0], [2.0]]), None);
    assert_eq!(Anova::of_samples::<&[f64]>(&[&[1.0, 2.0], &[]]), None);
    assert_eq!(Anova::of_samples(&[[1.0, f64::NAN], [1.0, 2.0]]), None);
    // Nothing varies within the groups: sums of squares, but no F.
    let anova = Anova::of_samples(&[[1.0, 1.0], [3.0, 3.0]]).unwrap();
    assert_eq!((anova.between.ss, anova.within.ss), (4.0, 0.0));
    assert_eq!((anova.f, anova.p), (None, None));
    assert_eq!(anova.eta_squared(), Some(1.0));
    // A group of one value counts, and has no variance of its own.
    assert!(Anova::of_samples::<&[f64]>(&[&[1.0, 2.0], &[4.0]]).is_some());
}

#[test]
fn kruskal_wallis_agrees_with_r() {
    // R: kruskal.test(weight ~ group, PlantGrowth): 7.9882, df 2, P 0.01842. Two values are tied.
    let test = KruskalWallis::of(&PLANTS).unwrap();
    assert_eq!((test.n, test.df), (30, 2));
    close(test.h, 7.988_228_749_443_715, 1e-12);
    close(test.p, 0.018_423_755_731_471_966, 1e-12);
    close(test.epsilon_squared, 7.988_228_749_443_715 / 29.0, 1e-12);
}

#[test]
fn kruskal_wallis_is_undefined_where_all_values_are_equal() {
    assert_eq!(KruskalWallis::of(&[[1.0, 1.0], [1.0, 1.0]]), None);
    assert_eq!(KruskalWallis::of(&[[1.0, 2.0]]), None);
    assert_eq!(KruskalWallis::of::<&[f64]>(&[&[1.0], &[]]), None);
}

#[test]
fn kruskal_wallis_is_undefined_where_no_group_has_two_values() {
    // As an analysis of variance: H would be 2 and epsilon squared 1 for any three values.
    assert_eq!(KruskalWallis::of(&[[1.0], [7.0], [3.0]]), None);
    assert_eq!(Anova::of_samples(&[[1.0], [7.0], [3.0]]), None);
    let one_has_two: [&[f64]; 3] = [&[1.0], &[7.0, 8.0], &[3.0]];
    assert!(KruskalWallis::of(&one_has_two).is_some());
}

#[test]
fn welch_agrees_with_r() {
    // R: t.test(extra ~ group, sleep): t -1.8608, df 17.776, P 0.07939, -3.3654832 to 0.2054832.
    let pairs = compare_pairs(&SLEEP, PairTest::WelchT).unwrap();
    let [pair] = pairs.as_slice() else {
        panic!("one pair, not {}", pairs.len());
    };
    assert_eq!((pair.a, pair.b), (0, 1));
    close(pair.difference, -1.58, 1e-12);
    close(pair.statistic.unwrap(), -1.860_813_467_486_852_6, 1e-12);
    close(pair.df.unwrap(), 17.776_473_516_178_488, 1e-12);
    close(pair.p.unwrap(), 0.079_394_140_187_358_3, 1e-10);
    let ci95 = pair.ci95.unwrap();
    close(ci95.low, -3.365_483_230_711_710_4, 1e-9);
    close(ci95.high, 0.205_483_230_711_711_37, 1e-9);
    assert_eq!(pair.p_holm, pair.p);
}

/// Tables put both tests of a pair side by side by its place.
#[test]
fn every_test_compares_the_same_pairs_in_the_same_order() {
    let samples: Vec<Vec<f64>> = (0..9)
        .map(|group| {
            (0..=group % 4)
                .map(|value| f64::from(group * value))
                .collect()
        })
        .collect();
    let places = |test| -> Vec<(usize, usize)> {
        let pairs = compare_pairs(&samples, test).unwrap();
        pairs.iter().map(|pair| (pair.a, pair.b)).collect()
    };
    let pairs = places(PairTest::WelchT);
    assert_eq!((pairs.len(), pairs[0], pairs[35]), (36, (0, 1), (7, 8)));
    assert_eq!(pairs, places(PairTest::MannWhitney));
    // Where one test has none, the other has none.
    for wrong in [vec![], vec![f64::NAN], vec![f64::MAX, -f64::MAX]] {
        let samples = [vec![1.0, 2.0], wrong];
        let has = |test| compare_pairs(&samples, test).is_some();
        assert_eq!(has(PairTest::WelchT), has(PairTest::MannWhitney));
    }
}

#[test]
fn mann_whitney_is_exact_for_few_values_without_ties_and_corrected_otherwise() {
    // scipy.stats.mannwhitneyu: method="exact" for the second and third pair; the first has a tie
    // (4.17) and is asymptotic.
    let pairs = compare_pairs(&PLANTS, PairTest::MannWhitney).unwrap();
    let expected = [
        (67.5, 0.198_595_758_633_215_2),
        (25.0, 0.063_012_838_554_634_22),
        (16.0, 0.008_930_697_785_186_95),
    ];
    for (pair, (u, p)) in pairs.iter().zip(expected) {
        assert_eq!(pair.statistic, Some(u));
        close(pair.p.unwrap(), p, 1e-10);
        assert_eq!(pair.effect, Some(u / 100.0));
    }
    // Three against three: the most extreme of 20 orders, and its mirror image.
    let extreme = compare_pairs(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], PairTest::MannWhitney);
    close(extreme.unwrap()[0].p.unwrap(), 0.1, 1e-15);
    // Hours of sleep have ties in 0.8, 3.4 and -0.1.
    let sleep = compare_pairs(&SLEEP, PairTest::MannWhitney).unwrap();
    assert_eq!(sleep[0].statistic, Some(25.5));
    close(sleep[0].p.unwrap(), 0.069_327_575_433_626_58, 1e-10);
}

#[test]
fn tests_without_variation_have_no_p_and_do_not_count() {
    let samples = [vec![1.0, 1.0], vec![1.0, 1.0], vec![1.0, 2.0]];
    let pairs = compare_pairs(&samples, PairTest::WelchT).unwrap();
    assert_eq!((pairs[0].statistic, pairs[0].p), (None, None));
    assert_eq!(
        pairs[1].p_bonferroni,
        pairs[1].p.map(|p| (2.0 * p).min(1.0))
    );
    assert_eq!(compare_pairs(&[vec![], vec![1.0]], PairTest::WelchT), None);
}

#[test]
fn holm_multiplies_step_by_step_and_never_falls() {
    // By hand: 0.01 x 4, 0.02 x 3, 0.03 x 2, 0.6; the third may not be below the second.
    let p = [Some(0.03), Some(0.01), None, Some(0.6), Some(0.02)];
    let expected = [Some(0.06), Some(0.04), None, Some(0.6), Some(0.06)];
    for (corrected, expected) in holm(&p).into_iter().zip(expected) {
        assert_eq!(corrected.is_some(), expected.is_some());
        close(corrected.unwrap_or(1.0), expected.unwrap_or(1.0), 1e-12);
    }
    assert_eq!(
        bonferroni(&p),
        [Some(0.12), Some(0.04), None, Some(1.0), Some(0.08)]
    );
}

#[test]
fn a_sample_is_described_as_numpy_and_r_describe_it() {
    let sample = Describe::of(&PLANTS[0]).unwrap();
    assert_eq!((sample.n, sample.min, sample.max), (10, 4.17, 6.11));
    close(sample.mean, 5.032, 1e-14);
    // numpy.quantile(…, [0.25, 0.5, 0.75]).
    close(sample.q1, 4.55, 1e-12);
    close(sample.median, 5.155, 1e-12);
    close(sample.q3, 5.2925, 1e-12);
    close(sample.std_dev.unwrap(), 0.583_091_378_392_405_6, 1e-12);
    let ci95 = sample.ci95.unwrap();
    close(ci95.low, 4.614_881_555_655_038, 1e-9);
    close(ci95.high, 5.449_118_444_344_96, 1e-9);
}

#[test]
fn one_value_has_no_deviation_and_none_has_no_description() {
    let one = Describe::of(&[7.0]).unwrap();
    assert_eq!((one.mean, one.median, one.q1, one.q3), (7.0, 7.0, 7.0, 7.0));
    assert_eq!((one.std_dev, one.ci95), (None, None));
    assert_eq!(Describe::of(&[]), None);
    assert_eq!(Describe::of(&[1.0, f64::INFINITY]), None);
    assert_eq!(Describe::of(&[f64::MAX, f64::MAX]), None);
}

#[test]
fn a_mean_keeps_small_values_beside_large_ones() {
    // A plain sum loses both ones.
    assert_eq!(mean(&[1.0, 1e100, 1.0, -1e100]), Some(0.5));
    // Ten nanoseconds of spread on an epoch time in ns.
    let times = [1.7e18, 1.7e18 + 512.0, 1.7e18 + 1024.0];
    assert_eq!(variance(&times), Some(512.0 * 512.0));
}

#[test]
fn values_that_differ_by_rounding_do_not_vary() {
    // 0.1 + 0.7 is one unit in the last place below 0.8.
    assert_eq!(variance(&[0.1 + 0.7, 0.8, 0.8]), Some(0.0));
    assert!(variance(&[0.8, 0.8 + 1e-15]).is_some_and(|variance| variance > 0.0));
}

#[test]
fn box_plots_end_at_values_and_keep_the_rest_apart() {
    // Quartiles 2 and 4: fences at -1 and 7.
    let plot = BoxPlot::of(&[3.0, 1.0, 100.0, 2.0, 4.0, 7.0, 2.0, -1.5, 3.0]).unwrap();
    assert_eq!((plot.q1, plot.median, plot.q3), (2.0, 3.0, 4.0));
    assert_eq!((plot.whisker_low, plot.whisker_high), (1.0, 7.0));
    assert_eq!(plot.outliers, [-1.5, 100.0]);
    assert_eq!(BoxPlot::of(&[]), None);
}

#[test]
fn a_value_at_a_fence_is_within_whatever_rounding_says() {
    // Goodput in Mbit/s of steps of 0.2 s, in packets of 1448 bytes: quartiles 165 and 167, fences at 162 and 170. Of
    // 170 packets it is 9.8464, and one unit in the last place above what the quartiles make of the fence.
    let mbps = |packets: f64| packets * 1448.0 * 8.0 / 0.2 / 1e6;
    let plot = |packets: [f64; 5]| BoxPlot::of(&packets.map(mbps)).unwrap();
    let high = plot([165.0, 165.0, 166.0, 167.0, 170.0]);
    assert!(high.q3 + 1.5 * (high.q3 - high.q1) < mbps(170.0));
    assert_eq!(
        (high.whisker_low, high.whisker_high),
        (mbps(165.0), mbps(170.0))
    );
    let low = plot([162.0, 165.0, 166.0, 167.0, 171.0]);
    assert_eq!(
        (low.whisker_low, low.whisker_high),
        (mbps(162.0), mbps(167.0))
    );
    assert_eq!(low.outliers, [mbps(171.0)]);
}

#[test]
fn changes_are_those_of_the_access_network_study() {
    // Its appendix: Windows, fibre, 500 Mbps, shallow, against Cubic: speed and IP volume.
    close(change_percent(308.284, 20.496).unwrap(), 1404.1, 1e-4);
    close(change_percent(11.016, 10.63).unwrap(), 3.631, 1e-4);
    close(change_percent(396.851, 397.489).unwrap(), -0.16, 0.01);
    assert_eq!(change_percent(1.0, 0.0), None);
}

#[test]
fn the_ecdf_climbs_at_each_value_and_ends_with_one() {
    assert_eq!(
        ecdf(&[2.0, 1.0, 2.0, 5.0]),
        [(1.0, 0.25), (2.0, 0.75), (5.0, 1.0)]
    );
    assert_eq!(ecdf(&[]), []);
}

#[test]
fn a_density_shows_bells_that_are_narrower_than_the_steps_of_its_range() {
    let range = |points| DensityRange {
        low: -1.0,
        high: 1.0,
        points,
    };
    let peak = |values: &[f64], points| {
        let density = Density::of(values, range(points)).unwrap();
        let points = density.points.iter();
        points.fold(
            (0.0, 0.0),
            |most: (f64, f64), &point| {
                if point.1 > most.1 { point } else { most }
            },
        )
    };
    for spread in [0.01, 0.004, 0.001, 0.0003] {
        let values = [0.0, 0.3, 0.4, 1.0].map(|share| -0.295 + share * spread);
        // Of so many points the steps are a fiftieth of the narrowest bell.
        let (found, expected) = (peak(&values, 121), peak(&values, 2_000_001));
        assert!((found.0 - expected.0).abs() < 0.3 * spread, "{spread}");
        assert!(
            (found.1 / expected.1 - 1.0).abs() < 0.06,
            "{spread}: {found:?} {expected:?}"
        );
    }
    // What lies outside the range is not drawn, and points ascend.
    let density = Density::of(&[1.0, 1.0, 0.9999], range(121)).unwrap();
    assert!(density.points.is_sorted_by(|one, next| one.0 < next.0));
    close(density.points.last().unwrap().0, 1.0, 0.0);
}

#[test]
fn densities_agree_with_scipy_and_cover_one() {
    // scipy.stats.gaussian_kde with this bandwidth; R: bw.nrd0 gives the bandwidth.
    let range = DensityRange {
        low: 4.0,
        high: 6.0,
        points: 3,
    };
    let density = Density::of(&PLANTS[0], range).unwrap();
    close(density.bandwidth, 0.314_654_660_782_753_34, 1e-12);
    let expected = [0.195_929_82, 0.568_800_78, 0.195_629_07];
    // Among others, as these steps are coarse.
    for (place, expected) in [4.0, 5.0, 6.0].into_iter().zip(expected) {
        let found = density.points.iter().find(|(at, _)| *at >= place);
        let &(at, value) = found.unwrap();
        close(at, place, 0.0);
        close(value, expected, 1e-7);
    }
    let wide = DensityRange {
        low: 0.0,
        high: 10.0,
        points: 1001,
    };
    let whole: f64 = Density::of(&PLANTS[0], wide)
        .unwrap()
        .points
        .iter()
        .map(|(_, density)| density * 0.01)
        .sum();
    close(whole, 1.0, 1e-6);
    assert_eq!(Density::of(&[1.0, 1.0], wide), None);
}

#[test]
fn tails_keep_their_digits_far_out() {
    // scipy.stats: f.sf, chi2.sf, t.sf.
    close(
        f_tail(151.064_49, 2.0, 900.0),
        2.698_665_988_750_557e-57,
        1e-10,
    );
    close(
        f_tail(762.2714, 2.0, 1047.0),
        5.077_571_836_318_124e-205,
        1e-10,
    );
    close(
        chi_squared_tail(1400.0, 2.0),
        9.859_676_543_759_39e-305,
        1e-10,
    );
    close(
        student_t_tail(40.0, 300.0),
        1.426_209_016_576_559_4e-122,
        1e-8,
    );
}

#[test]
fn critical_values_keep_their_digits_for_any_number_of_degrees_of_freedom() {
    for (df, expected) in [
        (1.0, 12.706_204_736_174_694),
        (3.0, 3.182_446_305_283_707_8),
        (29.0, 2.045_229_642_132_703),
        (1e5, 1.959_987_707_534_609_5),
        (1e7, 1.959_964_221_767_205),
    ] {
        close(student_t_quantile(0.025, df), expected, 1e-8);
    }
}

/// Instants and large counts differ by little of what they are: that must not cost digits.
#[test]
fn what_all_values_have_in_common_costs_no_digits() {
    let near = [
        [1.0, 2.0, 4.0, 4.5],
        [3.0, 5.0, 6.5, 3.5],
        [2.0, 2.5, 9.0, 1.5],
    ];
    let far = near.map(|sample| sample.map(|value| value + 1e15));
    let (of_near, of_far) = (
        Anova::of_samples(&near).unwrap(),
        Anova::of_samples(&far).unwrap(),
    );
    close(of_far.between.ss, of_near.between.ss, 1e-14);
    close(of_far.p.unwrap(), of_near.p.unwrap(), 1e-13);
    let pairs = |samples| compare_pairs(samples, PairTest::WelchT).unwrap();
    for (far, near) in pairs(&far).iter().zip(pairs(&near)) {
        close(far.difference, near.difference, 1e-14);
        close(far.statistic.unwrap(), near.statistic.unwrap(), 1e-14);
        close(far.p.unwrap(), near.p.unwrap(), 1e-13);
    }
}

/// Welch's degrees of freedom are a ratio: the unit of the values must not matter.
#[test]
fn degrees_of_freedom_do_not_depend_on_the_unit() {
    let df = |unit: f64| {
        let samples = SLEEP.map(|sample| sample.map(|value| value * unit));
        compare_pairs(&samples, PairTest::WelchT).unwrap()[0].df
    };
    for unit in [1e-120, 1e-80, 1e80, 1e120] {
        close(df(unit).unwrap(), df(1.0).unwrap(), 1e-12);
    }
}

proptest! {
    /// Whatever numbers there are, nothing panics and no statistic is NaN or infinite.
    #[test]
    fn statistics_of_any_numbers_are_numbers_or_nothing(
        samples in prop::collection::vec(
            prop::collection::vec(prop_oneof![prop::num::f64::ANY, -1e3..1e3, Just(1.0)], 0..12),
            0..5,
        )
    ) {
        for sample in &samples {
            if let Some(d) = Describe::of(sample) {
                let ci95 = d.ci95.map_or([0.0; 2], |ci95| [ci95.low, ci95.high]);
                let all = [d.mean, d.median, d.std_dev.unwrap_or(0.0), d.q1, d.q3, d.min, d.max];
                prop_assert!(all.iter().all(|value| value.is_finite()), "{d:?}");
                prop_assert!(ci95.iter().all(|value| !value.is_nan()), "{d:?}");
                prop_assert!(d.min <= d.q1 && d.q1 <= d.median);
                prop_assert!(d.median <= d.q3 && d.q3 <= d.max);
            }
            if let Some(plot) = BoxPlot::of(sample) {
                prop_assert!(plot.whisker_low <= plot.median && plot.median <= plot.whisker_high);
            }
            let steps = ecdf(sample);
            prop_assert!(steps.last().is_none_or(|&(_, share)| share >= 1.0));
            let range = DensityRange { low: -1.0, high: 1.0, points: 5 };
            if let Some(density) = Density::of(sample, range) {
                prop_assert!(density.points.iter().all(|(_, value)| !value.is_nan()));
            }
        }
        if let Some(anova) = Anova::of_samples(&samples) {
            prop_assert!(anova.p.is_none_or(|p| (0.0..=1.0).contains(&p)), "{anova:?}");
            prop_assert!(anova.f_crit > 0.0);
        }
        if let Some(test) = KruskalWallis::of(&samples) {
            prop_assert!((0.0..=1.0).contains(&test.p), "{test:?}");
        }
        for test in [PairTest::WelchT, PairTest::MannWhitney] {
            for pair in compare_pairs(&samples, test).unwrap_or_default() {
                let p = [pair.p, pair.p_holm, pair.p_bonferroni];
                prop_assert!(p.iter().flatten().all(|p| (0.0..=1.0).contains(p)), "{pair:?}");
                prop_assert!(pair.p <= pair.p_holm && pair.p_holm <= pair.p_bonferroni);
            }
        }
    }

    /// Summaries give what the samples give.
    #[test]
    fn anova_of_summaries_is_that_of_the_samples(
        samples in prop::collection::vec(prop::collection::vec(-1e6..1e6, 2..20), 2..6)
    ) {
        let of_samples = Anova::of_samples(&samples).unwrap();
        let summaries: Vec<GroupSummary> = samples
            .iter()
            .map(|sample| GroupSummary {
                n: sample.len() as u64,
                sum: sample.iter().sum(),
                variance: variance(sample),
            })
            .collect();
        let of_summaries = Anova::of_summaries(&summaries).unwrap();
        let relative = |a: f64, b: f64| (a - b).abs() / b.abs().max(1e-300);
        prop_assert!(relative(of_summaries.total_ss, of_samples.total_ss) < 1e-9);
        prop_assert!(relative(of_summaries.within.ms, of_samples.within.ms) < 1e-9);
    }
}
