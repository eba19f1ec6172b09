//! Which delay stands beside rates: ping or RTT, and never both on one axis.

use super::*;
use crate::analyze::LinkSide;

/// Four runs of two variants each, with an RTT of 20 ms, whose pings of 30 ms are there for so many of each variant.
fn with_pings_of(runs: usize) -> Draft {
    let mut draft = Draft::new(&[]);
    for variant in ["bbr", "cubic"] {
        for repetition in 0..4 {
            let mut numbers = vec![(Metric::GoodputBps, 8e6), (Metric::RttNsMean, 20e6)];
            let ping = (repetition < runs).then_some(30e6);
            numbers.extend(ping.map(|ns| (Metric::PingNsMean, ns)));
            let flow = FlowOf(variant, (0, 9), &numbers);
            draft.run(&[], &numbers, &[flow]);
            let step = |second: i64| {
                let values = [Some(8e6), None, Some(20e6), ping];
                SeriesPoint::new(second * 1_000_000_000, values)
            };
            draft.0.runs.last_mut().unwrap().series = (0..10).map(step).collect();
        }
    }
    draft
}

#[test]
fn pings_stand_beside_rates_only_where_all_runs_have_them() {
    let report = ReportPlan::Series(SeriesReport {
        variant: 0,
        of: SeriesOf::Runs,
        step_ns: 1_000_000_000,
        rate: SeriesKind::Goodput,
        delay: None,
    });
    for (runs, axes, note) in [
        (
            4,
            ["Ping RTT (ms)", "Ping RTT (ms)"],
            "values of flows, pings of runs",
        ),
        (
            3,
            ["Mean RTT (ms)", "RTT (ms)"],
            "values of flows; RTT, as not all runs have pings",
        ),
        (0, ["Mean RTT (ms)", "RTT (ms)"], "values of flows"),
    ] {
        let charts = with_pings_of(runs).charts(std::slice::from_ref(&report));
        let charts = ["boxes", "series-boxes"].map(|stem| named(&charts, stem));
        for (chart, axis) in charts.iter().zip(axes) {
            assert!(has(chart, axis), "{axis}: {:?}", texts(chart));
        }
        assert!(has(charts[0], note), "{note}: {:?}", texts(charts[0]));
    }
}

/// Of runs that were measured elsewhere there may be nothing but pings, and of some not even these.
#[test]
fn pings_of_some_are_shown_where_nothing_has_an_rtt() {
    let mut draft = with_pings_of(4);
    for run in &mut draft.0.runs {
        run.flows[0].measure.values.set(Metric::RttNsMean, None);
    }
    draft.0.runs[0].values.set(Metric::PingNsMean, None);
    let charts = draft.charts(&[]);
    let boxes = named(&charts, "boxes");
    assert!(has(boxes, "Ping RTT (ms)"), "{:?}", texts(boxes));
}

#[test]
fn how_many_runs_lack_the_queue_of_the_link_is_said_where_there_are_delays() {
    for (behind, unknown, said) in [
        (8, 0, Some("; captured behind the link, without its queue")),
        (
            3,
            0,
            Some("; 3 of all 8 runs captured behind the link, without its queue"),
        ),
        (
            3,
            1,
            Some(
                "; 3 of all 8 runs captured behind the link (of 1 it is not known), without its queue",
            ),
        ),
        // Nothing says that any was.
        (0, 1, None),
        (0, 0, None),
    ] {
        let mut draft = with_pings_of(0);
        for (place, run) in draft.0.runs.iter_mut().enumerate() {
            run.records = Some(1000);
            run.shortfall.captured = match place {
                _ if place < behind => LinkSide::Behind,
                _ if place < behind + unknown => LinkSide::Unknown,
                _ => LinkSide::Before,
            };
        }
        let charts = draft.charts(&[]);
        for stem in ["bars-latency", "boxes"] {
            let chart = named(&charts, stem);
            let is_said = has(chart, said.unwrap_or("behind the link"));
            assert_eq!(is_said, said.is_some(), "{stem}: {:?}", texts(chart));
        }
    }
}
