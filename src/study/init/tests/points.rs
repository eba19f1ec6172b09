//! Drafts of runs that were captured at several points: one run each, with the captures at both sides of the queue.

use super::*;

/// Runs of one algorithm and of two, of which the template of the first fits the second, too.
const RUNS: [&str; 8] = [
    "cubic_10m_1",
    "cubic_25m_2",
    "bbr_10m_1",
    "bbr_25m_2",
    "cubic-bbr_10m_1",
    "cubic-bbr_25m_2",
    "bbr-cubic_10m_1",
    "bbr-reno_25m_2",
];

/// Names of all runs at these points: `RUN` and `POINT` stand for these.
fn names(layout: &str, points: &[&str]) -> Vec<String> {
    let of_run = |run: &&str| {
        let layout = layout.replace("RUN", run);
        points
            .iter()
            .map(move |point| layout.replace("POINT", point))
            .collect::<Vec<_>>()
    };
    RUNS.iter().flat_map(of_run).collect()
}

/// The draft for these names, as it is and understood.
fn drafted(names: &[String], template: Option<&str>) -> (String, StudyPlan) {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let folder = folder_of(&names);
    let text = draft(folder.path(), template).unwrap();
    let plan = plan(folder.path(), &text);
    (text, plan)
}

/// Runs with their captures before and after the queue.
fn captures(plan: &StudyPlan) -> Vec<[String; 3]> {
    let folder = |run: &crate::study::PlannedRun| {
        let path = run.path.to_string_lossy().into_owned();
        path[..path.len() - run.name.len()].to_owned()
    };
    let of = |run: &crate::study::PlannedRun| {
        let points = run.queue.as_ref().expect("captures at both sides");
        let name = |path: &Path| path.to_string_lossy()[folder(run).len()..].to_owned();
        [run.name.clone(), name(&points.before), name(&points.after)]
    };
    let mut captures: Vec<[String; 3]> = plan.runs.iter().map(of).collect();
    captures.sort();
    captures
}

/// What the captures of all runs should be, by a layout for each of the three.
fn expected(layouts: [&str; 3]) -> Vec<[String; 3]> {
    let of = |run: &&str| layouts.map(|layout| layout.replace("RUN", run));
    let mut expected: Vec<[String; 3]> = RUNS.iter().map(of).collect();
    expected.sort();
    expected
}

/// However the point stands in a name: all runs of both kinds are found once, and the point is no label.
#[test]
fn runs_of_one_and_of_two_algorithms_have_their_captures_at_both_sides() {
    for (layout, sides) in [
        ("RUN-POINT.pcap", ["in", "out"]),
        ("RUN_POINT.pcap.gz", ["ingress", "egress"]),
        ("RUN.POINT.pcap", ["in", "out"]),
        ("RUN-POINT.pcapng.zst", ["IN", "OUT"]),
        ("POINT-RUN.pcap", ["pre", "post"]),
        ("POINT_RUN.pcap", ["Before", "After"]),
        ("POINT/RUN.pcap", ["in", "out"]),
        ("lab/POINT/RUN.pcap.gz", ["before", "after"]),
        ("RUN/POINT.pcap", ["ingress", "egress"]),
        ("POINT/RUN-POINT.pcap", ["in", "out"]),
    ] {
        let at = |point: &str| layout.replace("POINT", point);
        let [before, after] = sides.map(at);
        // A third point changes nothing, whether its word is known or not.
        for third in [None, Some("client"), Some("wlan0")] {
            // A folder that nobody knows may be another experiment.
            if third == Some("wlan0") && layout.contains("POINT/") {
                continue;
            }
            let points: Vec<&str> = sides.into_iter().chain(third).collect();
            let (text, plan) = drafted(&names(layout, &points), None);
            assert_eq!(
                captures(&plan),
                expected([&before, &before, &after]),
                "{text}"
            );
            assert_eq!(
                labels(&plan),
                ["cca", "first", "rate", "run", "second"],
                "{text}"
            );
            assert_eq!(text.matches("[[runs]]").count(), 2, "{text}");
            let said = third.map(|third| format!("# Left out: 4 files of another point, {third}"));
            let said = said.map_or(0, |said| text.matches(&said).count());
            assert_eq!(said, if third.is_some() { 2 } else { 0 }, "{text}");
        }
    }
}

/// The comment about them is a manifest, too, once it takes the place of `files`.
#[test]
fn a_further_point_can_be_taken_for_the_runs_as_the_draft_says() {
    let names = names("RUN-POINT.pcap", &["in", "out", "client"]);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let folder = folder_of(&names);
    let text = draft(folder.path(), None).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("files = "));
    let lines = lines.map(|line| match line.strip_prefix("# ") {
        Some(said) if said.starts_with("files = ") || said.starts_with("before = ") => said,
        _ => line,
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    let plan = plan(folder.path(), &text);
    let layouts = ["RUN-client.pcap", "RUN-in.pcap", "RUN-out.pcap"];
    assert_eq!(captures(&plan), expected(layouts), "{text}");
}

/// The sender sees whole round trips; where not all runs have its capture, it would be another vantage point for some.
#[test]
fn the_capture_of_the_sender_is_the_run_where_all_have_one() {
    let mut names = names(
        "RUN/POINT.pcap",
        &["sender", "ingress", "egress", "receiver"],
    );
    let (text, plan) = drafted(&names, None);
    let layouts = ["RUN/sender.pcap", "RUN/ingress.pcap", "RUN/egress.pcap"];
    assert_eq!(captures(&plan), expected(layouts), "{text}");
    names.retain(|name| name != "bbr_10m_1/sender.pcap");
    let (text, plan) = drafted(&names, None);
    let layouts = ["RUN/ingress.pcap", "RUN/ingress.pcap", "RUN/egress.pcap"];
    assert_eq!(captures(&plan), expected(layouts), "{text}");
    assert!(
        text.contains("# Left out: 3 files of another point, sender: "),
        "{text}"
    );
}

#[test]
fn captures_called_like_the_run_stay_the_runs_beside_further_points() {
    let mut names = names("RUN-POINT.pcap", &["in", "out", "client"]);
    names.extend(RUNS.map(|run| format!("{run}.pcap")));
    let (text, plan) = drafted(&names, None);
    let layouts = ["RUN.pcap", "RUN-in.pcap", "RUN-out.pcap"];
    assert_eq!(captures(&plan), expected(layouts), "{text}");
}

/// Each section names one ending, as what is before and after is named and not sought; it is one experiment still.
#[test]
fn compression_of_some_captures_does_not_part_their_runs() {
    let names = RUNS.iter().enumerate().flat_map(|(place, run)| {
        let [before, after] = [["pcap", "pcap.gz"], ["pcap.zst", "pcap.zst"]][place % 2];
        [format!("{run}-in.{before}"), format!("{run}-out.{after}")]
    });
    let names: Vec<String> = names.collect();
    let (text, plan) = drafted(&names, None);
    assert_eq!(captures(&plan).len(), RUNS.len(), "{text}");
    assert_eq!(
        labels(&plan),
        ["cca", "first", "rate", "run", "second"],
        "{text}"
    );
}

/// Where a few runs lack a side, they are runs still, and the others keep both.
#[test]
fn runs_without_a_capture_at_one_side_do_not_part_those_of_the_others() {
    let mut names = names("RUN-POINT.pcap", &["in", "out"]);
    names.retain(|name| name != "bbr_10m_1-out.pcap");
    let (text, plan) = drafted(&names, None);
    assert_eq!(plan.runs.len(), RUNS.len(), "{text}");
    let alone = plan.runs.iter().filter(|run| run.queue.is_none());
    let alone: Vec<&str> = alone.map(|run| run.name.as_str()).collect();
    assert_eq!(alone, ["bbr_10m_1-in.pcap"], "{text}");
}

/// `cubic_before_1` may be what was before a change, and `check-in` is no point without its partner.
#[test]
fn words_that_need_not_tell_a_point_are_labels() {
    let names = [
        "cubic_before_1",
        "cubic_after_1",
        "bbr_before_1",
        "bbr_after_1",
    ];
    let names = names.map(|name| format!("{name}.pcap"));
    let (text, plan) = drafted(&names, None);
    assert_eq!(plan.runs.len(), 4, "{text}");
    assert!(plan.runs.iter().all(|run| run.queue.is_none()), "{text}");
    let names = ["check-in_cubic_1.pcap", "check-in_bbr_1.pcap"].map(str::to_owned);
    let (text, plan) = drafted(&names, None);
    assert_eq!(labels(&plan), ["cca"], "{text}");
    assert_eq!(plan.runs.len(), 2, "{text}");
}

/// The other captures of its runs are named where the template fits one of them, or the run.
#[test]
fn a_template_for_one_point_gets_the_others_of_its_runs() {
    let names = names("RUN-POINT.pcap", &["in", "out", "client"]);
    for (point, run) in [
        ("-in", "RUN-in.pcap"),
        ("-out", "RUN-out.pcap"),
        ("-client", "RUN-client.pcap"),
        ("", "RUN-in.pcap"),
    ] {
        let template = format!("{{cca}}_{{rate}}_{{run}}{point}.pcap");
        let (text, plan) = drafted(&names, Some(&template));
        let layouts = [run, "RUN-in.pcap", "RUN-out.pcap"];
        assert_eq!(captures(&plan), expected(layouts), "{text}");
        assert!(!text.contains("which the template does not fit"), "{text}");
    }
    let (text, plan) = drafted(&names, Some("{first}-{second}_{rate}_{run}-in.pcap"));
    assert_eq!(captures(&plan).len(), 4, "{text}");
    // Those of one algorithm, at three points.
    assert!(
        text.contains("# Left out: 12 files which the template does not fit"),
        "{text}"
    );
    // Where one has none, nothing could be said of all of them.
    let names: Vec<String> = names
        .into_iter()
        .filter(|name| name != "bbr_10m_1-out.pcap")
        .collect();
    let (text, plan) = drafted(&names, Some("{cca}_{rate}_{run}-in.pcap"));
    assert_eq!(plan.runs.len(), RUNS.len(), "{text}");
    assert!(plan.runs.iter().all(|run| run.queue.is_none()), "{text}");
}

/// A template that has a label in the place of the point is taken at its word, and the way to say otherwise is shown.
#[test]
fn a_template_with_a_label_for_the_point_shows_how_runs_are_said() {
    let names = names("RUN-POINT.pcap", &["in", "out"]);
    let (text, plan) = drafted(&names, Some("{cca}_{rate}_{run}-{point}.pcap"));
    assert_eq!(plan.runs.len(), 2 * RUNS.len(), "{text}");
    let said =
        "# files = \"{cca}_{rate}_{run}-in.pcap\"\n# after = \"{cca}_{rate}_{run}-out.pcap\"\n";
    assert!(text.contains(said), "{text}");
}

/// More files than could be left out one by one: their own template leaves them out.
#[test]
fn many_runs_of_two_algorithms_leave_those_of_one_their_template() {
    let ccas = ["cubic", "bbr", "reno"];
    let rates = ["10m", "25m", "50m"];
    let pairs = ccas
        .iter()
        .flat_map(|first| ccas.map(|second| format!("{first}-{second}")));
    let kinds: Vec<String> = pairs.chain(ccas.map(str::to_owned)).collect();
    let names = kinds
        .iter()
        .flat_map(|kind| rates.map(|rate| format!("{kind}_{rate}_1.pcap")));
    let names: Vec<String> = names.collect();
    let (text, plan) = drafted(&names, None);
    assert_eq!(plan.runs.len(), names.len(), "{text}");
    let template = "files = \"{cca}_{rate}_1.pcap\"\nexcept = \"{first}-{second}_{rate}_1.pcap\"";
    assert!(text.contains(template), "{text}");
}
