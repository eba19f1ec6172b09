//! From published measurements the manifests of `examples/studies` make what was published.

use std::fs;

use ccanalyze::analyze::Watch;
use ccanalyze::study::{Cells, Metric, ReportTable, StudyPlan, StudyResults};

use super::support::{close, root, shared};

/// The cells of a report's column, as text.
#[track_caller]
pub(crate) fn column(table: &ReportTable, name: &str) -> Vec<String> {
    let column = table.columns.iter().find(|column| column.name == name);
    match &column.unwrap_or_else(|| panic!("{name}")).cells {
        Cells::Text(cells) => cells
            .iter()
            .map(|c| c.clone().unwrap_or_default())
            .collect(),
        Cells::Count(cells) => cells
            .iter()
            .map(|c| c.unwrap_or_default().to_string())
            .collect(),
        Cells::Real(_) => panic!("{name} is a column of numbers"),
    }
}

#[track_caller]
pub(crate) fn numbers(table: &ReportTable, name: &str) -> Vec<Option<f64>> {
    let column = table.columns.iter().find(|column| column.name == name);
    match &column.unwrap_or_else(|| panic!("{name}")).cells {
        Cells::Real(cells) => cells.clone(),
        _ => panic!("{name} is no column of numbers"),
    }
}

#[track_caller]
pub(crate) fn report<'a>(results: &'a StudyResults, name: &str) -> &'a ReportTable {
    let found = results.reports.iter().find(|report| report.name == name);
    found.unwrap_or_else(|| panic!("{name}"))
}

/// What a manifest of `examples/studies` makes of the corpus.
fn example(name: &str) -> Option<StudyResults> {
    shared("corpus/studies")?;
    let manifest = root().join("examples/studies").join(name);
    let text = fs::read_to_string(manifest).unwrap();
    let beside = tempfile::tempdir().unwrap();
    // The manifest names the corpus as it stands beside the crate; it may be elsewhere.
    let corpus = shared("corpus")?.canonicalize().unwrap();
    let text = text.replace("../../../shared/corpus", &corpus.to_string_lossy());
    fs::write(beside.path().join("study.toml"), text).unwrap();
    let plan = StudyPlan::read(&beside.path().join("study.toml"));
    let plan = plan.unwrap_or_else(|error| panic!("{error}"));
    Some(plan.carry_out(None, &Watch::default()))
}

#[test]
fn the_manifest_of_the_sixteen_streams_gives_the_published_tables() {
    let Some(results) = example("sixteen-streams.toml") else {
        return;
    };
    // Table 2 and 3 of the study.
    let summary = report(&results, "series-summary");
    let published = [
        (
            "goodput_mbps",
            "bbr3",
            301,
            28_895.804_09,
            189.197_289_5,
            1e-9,
        ),
        (
            "goodput_mbps",
            "cubic",
            301,
            19_210.379_13,
            1_047.042_73,
            1e-9,
        ),
        (
            "goodput_mbps",
            "reno",
            301,
            18_434.638_04,
            1_005.274_918,
            1e-9,
        ),
        ("ping_ms", "bbr3", 350, 9_635.222, 326.307_4, 1e-6),
        ("ping_ms", "cubic", 350, 829_330.9, 1_855_440.0, 1e-6),
        ("ping_ms", "reno", 350, 1_041_544.0, 1_483_448.0, 1e-6),
    ];
    let (sums, variances) = (numbers(summary, "sum"), numbers(summary, "variance"));
    assert_eq!(sums.len(), published.len());
    for (row, (measure, cca, n, sum, variance, relative)) in published.into_iter().enumerate() {
        assert_eq!(column(summary, "measure")[row], measure);
        assert_eq!(column(summary, "cca")[row], cca);
        assert_eq!(column(summary, "n")[row], n.to_string());
        close(sums[row].unwrap(), sum, relative);
        close(variances[row].unwrap(), variance, relative);
    }
    let anova = report(&results, "series-anova");
    let (ss, ms) = (numbers(anova, "ss"), numbers(anova, "ms"));
    close(ss[0].unwrap(), 225_742.221, 1e-8);
    close(ss[1].unwrap(), 672_454.481, 1e-8);
    close(ms[0].unwrap(), 112_871.110, 1e-8);
    close(ms[1].unwrap(), 747.171_645, 1e-8);
    assert_eq!(column(anova, "df")[..3], ["2", "900", "902"]);
    let (f, p, crit) = (
        numbers(anova, "f"),
        numbers(anova, "p"),
        numbers(anova, "f_crit"),
    );
    close(f[0].unwrap(), 151.064_49, 1e-7);
    close(p[0].unwrap(), 2.69e-57, 0.005);
    close(crit[0].unwrap(), 3.005_726_0, 1e-8);
    close(f[3].unwrap(), 762.271_4, 1e-7);
    close(p[3].unwrap(), 5.1e-205, 0.01);
    close(crit[3].unwrap(), 3.004_32, 1e-5);
}

/// Streams, algorithm, quartiles of throughput, quartiles of ping: by `numpy.quantile`.
const BOXES: [(&str, &str, [f64; 3], [f64; 3]); 4] = [
    (
        "1up",
        "bbr3",
        [93.666_040, 94.011_134, 94.212_438],
        [5.785_093, 8.723_943, 10.270_900],
    ),
    (
        "2up",
        "cubic",
        [93.577_245, 94.181_351, 95.141_566],
        [327.492_332, 453.789_922, 467.075_880],
    ),
    (
        "12up",
        "reno",
        [61.658_526, 67.917_243, 75.304_927],
        [2_501.082_662, 2_720.930_442, 2_741.711_507],
    ),
    (
        "nup",
        "bbr3",
        [93.768_952, 94.485_851, 95.337_656],
        [19.914_549, 25.264_503, 31.217_139],
    ),
];

#[test]
fn the_manifest_of_the_streams_gives_boxes_and_pings_of_each() {
    let Some(results) = example("streams.toml") else {
        return;
    };
    assert_eq!(results.runs.len(), 12);
    let boxes = report(&results, "series-boxes");
    let quartiles = ["q1", "median", "q3"].map(|name| numbers(boxes, name));
    for (streams, cca, throughput, ping) in BOXES {
        for (measure, expected) in [("goodput_mbps", throughput), ("ping_ms", ping)] {
            let row = (0..quartiles[0].len()).find(|&row| {
                column(boxes, "streams")[row] == streams
                    && column(boxes, "cca")[row] == cca
                    && column(boxes, "measure")[row] == measure
            });
            for (quartile, expected) in quartiles.iter().zip(expected) {
                close(quartile[row.unwrap()].unwrap(), expected, 1e-5);
            }
        }
    }
    // Each number of streams has an analysis of its own, of throughput and of ping.
    assert_eq!(
        column(report(&results, "series-anova"), "source").len(),
        4 * 2 * 3
    );
}

#[test]
fn the_manifest_of_the_grid_gives_its_heat_maps_and_its_anova() {
    let Some(results) = example("bbr-cubic.toml") else {
        return;
    };
    assert_eq!(results.runs.len(), 192);
    // Group by cca, buffer, rate, rtt: the change against Cubic is a cell of the heat maps.
    let cell = |buffer: &str, rate: &str, rtt: &str| {
        let wanted = ["bbr", buffer, rate, rtt];
        let group = results.groups.iter().find(|group| {
            let key = group.key.iter().map(|value| value.as_ref().unwrap().text());
            group.metric == Metric::GoodputBps && key.eq(wanted)
        });
        group.unwrap().change_percent.unwrap()
    };
    for (rate, rtt, percent) in [
        ("500", "200", 199.0),
        ("100", "100", 22.0),
        ("100", "200", 33.0),
    ] {
        let found = cell("100", rate, rtt);
        assert!((found - percent).abs() <= 0.5, "{rate} {rtt}: {found}");
    }
    assert!((cell("10000", "10", "10") + 11.2).abs() < 0.05);
    // The same as a table: two buffers, four round-trip times in lines, four rates in columns.
    let map = report(&results, "heat-map-change");
    let line = (0..8).find(|&line| {
        let label = |name| numbers(map, name)[line];
        [label("buffer_kb"), label("rtt_ms")] == [Some(100.0), Some(200.0)]
    });
    let found = numbers(map, "rate_mbps_500")[line.unwrap()].unwrap();
    assert!((found - 199.0).abs() <= 0.5, "{found}");
    assert_eq!(numbers(map, "rtt_ms").len(), 8);
    let test = |metric| {
        let test = results.tests.iter().find(|test| {
            test.metric == metric && test.overall && results.labels[test.label].name == "cca"
        });
        test.unwrap()
    };
    // By scipy.stats.
    let goodput = test(Metric::GoodputBps).anova.as_ref().unwrap();
    assert_eq!((goodput.between.df, goodput.within.df), (1, 190));
    close(goodput.f.unwrap(), 0.129_550_985_402_034_97, 1e-9);
    close(goodput.p.unwrap(), 0.719_297_810_279_550_6, 1e-9);
    let again = test(Metric::RetransmittedPackets).anova.as_ref().unwrap();
    close(again.f.unwrap(), 12.045_779_578_522_43, 1e-9);
}

#[test]
fn the_manifest_of_the_predicted_splits_gives_the_published_errors() {
    let Some(results) = example("split-accuracy.toml") else {
        return;
    };
    assert_eq!(results.runs.len(), 70);
    let accuracy = report(&results, "split-accuracy");
    let overall = column(accuracy, "scope")
        .iter()
        .position(|scope| scope == "overall");
    let of = |name| numbers(accuracy, name)[overall.unwrap()].unwrap();
    // Section 6.2: "The maximum error is ±14%, and on average ±4%."
    assert!((of("absolute_error_percent_max") - 14.0).abs() < 0.5);
    assert!((of("absolute_error_percent_mean") - 4.0).abs() < 0.5);
    assert_eq!(column(accuracy, "n")[overall.unwrap()], "70");
}
