//! Completion times of runs of many flows.

use super::*;

/// A run of so many flows of 5 kB and of 50 kB, which take 1 and 2 s.
fn run_of(draft: &mut Draft, variant: &str, rate: &str, [small, large]: [usize; 2]) {
    let of = |bytes, seconds: f64| {
        let completion = (Metric::CompletionNs, 1e9 * seconds);
        [(Metric::AckedBytes, bytes), completion]
    };
    let (few, many) = (of(5e3, 1.0), of(5e4, 2.0));
    let all = std::iter::repeat_n(&few, small).chain(std::iter::repeat_n(&many, large));
    let flows: Vec<FlowOf<'_>> = all.map(|of| FlowOf(variant, (0, 2), of)).collect();
    draft.run(&[rate], &[], &flows);
}

#[test]
fn runs_of_many_flows_have_their_completion_times_by_size_and_variant() {
    let mut draft = Draft::new(&[("rate", Some("Mbit"))]);
    for variant in ["cubic", "bbr"] {
        run_of(&mut draft, variant, "10", [20, 12]);
        // Of settings without a run of as many flows boxes tell it.
        run_of(&mut draft, variant, "20", [19, 10]);
    }
    let charts = draft.charts(&[]);
    let canvas = named(&charts, "completion-ecdf");
    for text in [
        "Completion times of flows by size and variant – draft: 10\u{a0}Mbit/s",
        "bbr (n = 32)",
        "cubic (n = 32)",
        "under 10 kB",
        "ECDF (%), n = 40",
        "10–100 kB",
        "ECDF (%), n = 24",
    ] {
        assert!(has(canvas, text), "{text}: {:?}", texts(canvas));
    }
    // A variant looks as it does beside others.
    let looks = Looks::of(["cubic", "bbr"]);
    let is_of = |variant: &str| {
        let colour = looks.style(variant).colour;
        let lines = canvas.shapes.iter().filter(|shape| match shape {
            Shape::Line { stroke, .. } => stroke.colour == colour,
            _ => false,
        });
        lines.count()
    };
    // Two lines, and one in the legend.
    assert_eq!([is_of("cubic"), is_of("bbr")], [3, 3]);

    // Two connections that are there in part, one that was reset, one of which no ACK tells, nor of its request, and a
    // small request of a large one. UDP does not count.
    let flows = &mut draft.0.runs[0].flows;
    let mut udp = flows[0].clone();
    udp.measure.connection_id = Some(1000);
    udp.measure.quality = "udp".to_owned();
    udp.measure.values.set(Metric::AckedBytes, None);
    for (place, quality) in ["mid_stream,super_segments", "unfinished", "reset"]
        .into_iter()
        .enumerate()
    {
        flows[place].measure.quality = quality.to_owned();
    }
    for (place, request) in [(3, 24), (4, 25)] {
        let connection_id = flows[request].measure.connection_id;
        flows[place].measure.connection_id = connection_id;
        flows[place]
            .measure
            .values
            .set(Metric::AckedBytes, Some(100.0));
    }
    let unacked = &mut flows[24].measure.values;
    unacked.set(Metric::AckedBytes, None);
    unacked.set(Metric::IpBytes, Some(52e3));
    flows.extend([udp.clone(), udp]);
    let charts = draft.charts(&[]);
    let canvas = named(&charts, "completion-ecdf");
    let said = texts(canvas).join(" ");
    // Of 32 flows these 4 and the 2 requests are missing, of the small ones 5.
    assert!(said.contains("cubic (n = 26)"), "{said}");
    assert!(said.contains("n = 35") && said.contains("n = 23"), "{said}");
    let wanted = "more · 3 flows not seen from begin to end, or reset, not drawn · 1 flow without ACKs not drawn";
    assert!(said.contains(wanted), "{said}");
}

/// Repetitions of one setting may differ by a few flows: all of them count.
#[test]
fn a_setting_with_a_run_of_many_flows_is_drawn_with_all_of_its_runs() {
    let mut draft = Draft::new(&[("rate", Some("Mbit"))]);
    for flows in [[20, 10], [19, 10]] {
        run_of(&mut draft, "cubic", "10", flows);
    }
    let charts = draft.charts(&[]);
    let canvas = named(&charts, "completion-ecdf");
    for text in ["under 10 kB (n = 39)", "10–100 kB (n = 20)"] {
        assert!(has(canvas, text), "{text}: {:?}", texts(canvas));
    }
    assert!(!texts(canvas).join(" ").contains("not drawn"));
    // None is without it, nor where fewer than 30 are there as a whole, or have times: within a window none has.
    let is_drawn = |draft: &Draft| {
        let charts = draft.charts(&[]);
        charts.iter().any(|chart| chart.stem == "completion-ecdf")
    };
    assert!(is_drawn(&draft));
    let many = draft.0.runs.remove(0);
    assert!(!is_drawn(&draft));
    draft.0.runs = vec![many];
    assert!(is_drawn(&draft));
    draft.0.runs[0].flows[0].measure.quality = "unfinished".to_owned();
    assert!(!is_drawn(&draft));
    draft.0.runs[0].flows[0].measure.quality.clear();
    assert!(is_drawn(&draft));
    for flow in &mut draft.0.runs[0].flows {
        flow.measure.values.set(Metric::CompletionNs, None);
    }
    assert!(!is_drawn(&draft));
}
