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
        // Of runs of fewer flows boxes tell it.
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

    // A flow that had begun before, one that had not ended, and a small request of a large one.
    let flows = &mut draft.0.runs[0].flows;
    flows[0].measure.quality = "mid_stream,super_segments".to_owned();
    flows[1].measure.quality = "unfinished".to_owned();
    flows[2].measure.connection_id = flows[25].measure.connection_id;
    flows[2].measure.values.set(Metric::AckedBytes, Some(100.0));
    let charts = draft.charts(&[]);
    let canvas = named(&charts, "completion-ecdf");
    let said = texts(canvas).join(" ");
    assert!(said.contains("cubic (n = 29)"), "{said}");
    assert!(said.contains("n = 37") && said.contains("n = 24"), "{said}");
    assert!(
        said.contains("not drawn: 2 flows without begin or end"),
        "{said}"
    );
}
