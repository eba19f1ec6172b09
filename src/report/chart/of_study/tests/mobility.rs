//! While the capacity changes.

use super::*;

fn asked_of(draft: &Draft, reports: &[ReportPlan]) -> Vec<String> {
    let charts = draft.charts(reports);
    let texts = texts(named(&charts, "spider"));
    texts.iter().map(|&text| text.to_owned()).collect()
}

#[test]
fn webs_of_the_mobility_report_are_of_bins() {
    let mut draft = Draft::new(&[]);
    for (variant, factor) in [("bbr", 1.0), ("cubic", 0.5)] {
        let numbers = [
            (Metric::GoodputBps, 40e6),
            (Metric::RttNsMean, 80e6),
            (Metric::RetransmissionRate, 0.04),
            (Metric::RetransmittedPackets, 5.0),
        ];
        draft.run(&[], &[], &[FlowOf(variant, (0, 10), &numbers)]);
        let flow = &mut draft.0.runs.last_mut().unwrap().flows[0];
        // Of bins 20 Mbit/s, 30 ms (the second has no samples of it) and 2.5 packets in the mean; of cubic half of the
        // goodput.
        let sample = |(bin, bps, rtt_ns, packets): (i64, f64, Option<f64>, u64)| Sample {
            time_ns: bin * 100_000_000,
            goodput_bps: Some(bps * factor),
            rtt_ns_mean: rtt_ns,
            retransmitted_packets: Some(packets),
            pm: None,
        };
        let bins = [(0, 10e6, Some(30e6), 5), (1, 30e6, None, 0)];
        flow.measure.samples = bins.map(sample).to_vec();
    }
    let asked = |reports: &[ReportPlan]| asked_of(&draft, reports);
    let of_bins = asked(&[ReportPlan::Mobility { variant: 0 }]);
    for said in ["20.0 Mbit/s", "30.0 ms", "2.50 packets a bin"] {
        assert!(
            of_bins.iter().any(|text| text == said),
            "{said}: {of_bins:?}"
        );
    }
    let note = "means of runs, of each over its bins of 100 ms";
    assert!(
        of_bins.iter().any(|text| text.starts_with(note)),
        "{of_bins:?}"
    );
    // Of whole runs without the report, and where one has no bins, as what was measured elsewhere.
    let of_runs = asked(&[]);
    let numbers = [
        (Metric::GoodputBps, 10e6),
        (Metric::RttNsMean, 40e6),
        (Metric::RetransmissionRate, 0.01),
    ];
    draft.run(&[], &[], &[FlowOf("reno", (0, 10), &numbers)]);
    let with_others = asked_of(&draft, &[ReportPlan::Mobility { variant: 0 }]);
    assert!(
        with_others.iter().any(|text| text == "reno"),
        "{with_others:?}"
    );
    assert!(
        with_others.iter().any(|text| text == "4.00 %"),
        "{with_others:?}"
    );
    for said in ["40.0 Mbit/s", "80.0 ms", "4.00 %"] {
        assert!(
            of_runs.iter().any(|text| text == said),
            "{said}: {of_runs:?}"
        );
    }
}
