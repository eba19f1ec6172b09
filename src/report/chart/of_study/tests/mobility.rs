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
        // Those between them, in which nothing happened, are not there, as of a flow that lasts for days.
        let bins = [(0, 10e6, Some(30e6), 5), (3, 30e6, None, 0)];
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

#[test]
fn webs_of_bins_over_several_capacities_are_of_utilisation() {
    let mut draft = Draft::new(&[]);
    for (variant, bps, capacity_bps) in [
        ("bbr", 8e6, 10e6),
        ("bbr", 30e6, 50e6),
        ("cubic", 2e6, 10e6),
        ("cubic", 10e6, 50e6),
    ] {
        let numbers = [
            (Metric::GoodputBps, bps),
            (Metric::Utilisation, 0.9),
            (Metric::RttNsMean, 80e6),
            (Metric::RetransmissionRate, 0.04),
            (Metric::RetransmittedPackets, 5.0),
        ];
        draft.run(&[], &numbers, &[FlowOf(variant, (0, 10), &numbers)]);
        let run = draft.0.runs.last_mut().unwrap();
        run.conditions.capacity = Some(PathCapacity::Constant(capacity_bps));
        let sample = |bin: i64| Sample {
            time_ns: bin * 100_000_000,
            goodput_bps: Some(bps),
            rtt_ns_mean: Some(20e6),
            retransmitted_packets: Some(4),
            pm: None,
        };
        run.flows[0].measure.samples = (0..5).map(sample).collect();
    }
    let asked = |reports: &[ReportPlan]| asked_of(&draft, reports).join("; ");
    let of_bins = asked(&[ReportPlan::Mobility { variant: 0 }]);
    // 80 and 60 % in the mean; RTT and what was sent again of bins, too.
    for said in [
        "Utilisation, delay, retransmissions",
        "70.0 %",
        "20.0 ms",
        "4.00 packets a bin",
        "means of runs, of each over its bins of 100 ms",
    ] {
        assert!(of_bins.contains(said), "{said}: {of_bins}");
    }
    let of_runs = asked(&[]);
    assert!(
        of_runs.contains("90.0 %") && of_runs.contains("80.0 ms"),
        "{of_runs}"
    );
}
