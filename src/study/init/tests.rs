//! Drafts: what names say, and that a draft is a manifest without mistakes.

mod meanings;
mod points;

use proptest::prelude::*;

use super::*;
use crate::study::StudyPlan;

fn folder_of(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    folder
}

fn plan(folder: &Path, text: &str) -> StudyPlan {
    let path = folder.join("study.toml");
    std::fs::write(&path, text).unwrap();
    StudyPlan::read(&path).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Names of its labels, in their order.
fn labels(plan: &StudyPlan) -> Vec<&str> {
    let mut labels: Vec<&str> = plan
        .labels
        .iter()
        .map(|label| label.name.as_str())
        .collect();
    labels.sort_unstable();
    labels
}

#[test]
fn a_draft_is_a_manifest_without_mistakes_that_finds_every_capture_once() {
    let names = [
        "single/cubic-10m-rtt18-deep/egress.pcap.zst",
        "single/bbr-50m-rtt68-shallow/egress.pcap.zst",
        "single/bbr-50m-rtt68-shallow/truth.json",
        "pairs/bbr-cubic-0.5bdp/egress.pcap.zst",
        "pairs/cubic-cubic-2bdp/egress.pcap.zst",
        "loss/bbr-loss0-owd20-seed1.pcap.gz",
        "loss/cubic-loss4-owd100-seed2.pcap.gz",
        "s7-clean/client.pcap",
        "s7-clean/sender.pcap",
        "s7-drop1-acc/client.pcap",
        "odd name.pcapng",
    ];
    let folder = folder_of(&names);
    let text = draft(folder.path(), None).unwrap();
    let plan = plan(folder.path(), &text);
    assert_eq!(plan.runs.len(), names.len() - 1, "{text}");
    let single = plan
        .runs
        .iter()
        .find(|run| run.name.contains("50m"))
        .unwrap();
    let value = |name: &str| {
        let place = plan
            .labels
            .iter()
            .position(|label| label.name == name)
            .unwrap();
        single.labels[place].as_ref().unwrap().text().to_owned()
    };
    assert_eq!(
        ["cca", "rate", "rtt", "buffer"].map(value),
        ["bbr", "50", "68", "shallow"],
        "{text}"
    );
    assert_eq!(single.conditions.capacity_bps(), Some(50e6));
    assert_eq!(single.conditions.base_rtt_ns, Some(68_000_000));
}

#[test]
fn a_rate_that_all_names_have_in_them_is_shown_as_the_capacity() {
    for (names, said) in [
        (
            ["10m-bbr-cubic-deep.pcap", "10m-cubic-bbr-deep.pcap"],
            "# capacity = \"10Mbit\"  # as the names seem to say\n",
        ),
        // No unit, and two rates.
        (
            ["10-bbr-cubic.pcap", "10-cubic-bbr.pcap"],
            "# capacity = \"50Mbit\"\n",
        ),
        (
            ["10m-1g-bbr-cubic.pcap", "10m-1g-cubic-bbr.pcap"],
            "# capacity = \"50Mbit\"\n",
        ),
    ] {
        let folder = folder_of(&names);
        let text = draft(folder.path(), None).unwrap();
        assert!(text.contains(said), "{text}");
        plan(folder.path(), &text);
    }
}

#[test]
fn compression_does_not_part_files_that_are_named_alike() {
    let names = [
        "bbr_1.pcap",
        "bbr_2.pcap.zst",
        "cubic_1.pcap.zst",
        "cubic_2.PCAP.gz",
        "reno_1.pcapng",
    ];
    let folder = folder_of(&names);
    let text = draft(folder.path(), None).unwrap();
    let plan = plan(folder.path(), &text);
    assert_eq!(plan.runs.len(), names.len(), "{text}");
    let cca = plan.labels.iter().position(|label| label.name == "cca");
    let ccas = plan.runs.iter().map(|run| {
        let value = run.labels[cca.unwrap()].as_ref();
        value.map(|value| value.text().to_owned())
    });
    let ccas: Vec<Option<String>> = ccas.collect();
    let [bbr, cubic] = ["bbr", "cubic"].map(|cca| Some(cca.to_owned()));
    assert_eq!(
        ccas,
        [bbr.clone(), bbr, cubic.clone(), cubic, None],
        "{text}"
    );
}

#[test]
fn experiments_that_only_fixed_words_tell_apart_are_no_repetitions_of_each_other() {
    let folder = folder_of(&[
        "lab_rrul_bbr.pcap",
        "lab_rrul_cubic.pcap",
        "lab_rtt_fair_bbr.pcap",
        "lab_rtt_fair_cubic.pcap",
    ]);
    let text = draft(folder.path(), None).unwrap();
    assert!(text.contains("group_by = [\"cca\", \"set\"]"), "{text}");
    let plan = plan(folder.path(), &text);
    let set = plan.labels.iter().position(|label| label.name == "set");
    let sets = plan.runs.iter().map(|run| {
        let value = run.labels[set.unwrap()].as_ref();
        value.unwrap().text().to_owned()
    });
    let sets: Vec<String> = sets.collect();
    assert_eq!(sets, ["rrul", "rrul", "rtt-fair", "rtt-fair"], "{text}");
}

#[test]
fn numbers_without_a_unit_get_the_usual_one_as_a_guess() {
    let folder = folder_of(&[
        "bbr-loss0-owd20-rtt18-1.pcap",
        "cubic-loss4-owd100-rtt68-1.pcap",
    ]);
    let text = draft(folder.path(), None).unwrap();
    for (name, unit) in [("loss", "%"), ("owd", "ms"), ("rtt", "ms")] {
        let section = format!("[labels.{name}]\nunit = \"{unit}\"  # a guess");
        assert!(text.contains(&section), "{text}");
    }
    let plan = plan(folder.path(), &text);
    assert_eq!(plan.runs.len(), 2);
    assert_eq!(plan.runs[0].conditions.base_rtt_ns, Some(18_000_000));
    // A word is no number, with whatever name.
    let folder = folder_of(&["bbr-loss0-1.pcap", "bbr-lossnone-2.pcap"]);
    let text = draft(folder.path(), None).unwrap();
    assert!(!text.contains("unit ="), "{text}");
}

#[test]
fn places_of_one_run_are_not_taken_for_runs_without_a_word() {
    let places = ["sender", "ingress", "egress"];
    let names = ["bbr-1", "cubic-1"].map(|run| places.map(|place| format!("{run}/{place}.pcap")));
    let names: Vec<&str> = names.as_flattened().iter().map(String::as_str).collect();
    let folder = folder_of(&names);
    // By a template with a label for the place, since without one these are found to be one run.
    let text = draft(folder.path(), Some("{cca}-1/{vantage}.pcap")).unwrap();
    assert_eq!(plan(folder.path(), &text).runs.len(), 6);
    let template = "files = \"{cca}-1/{vantage}.pcap\"\n";
    let said = text
        .replace(template, "")
        .replace("\"cca\", \"vantage\"", "\"cca\"");
    let said = ["files", "before", "after"].iter().fold(said, |text, key| {
        text.replace(&format!("# {key} = "), &format!("{key} = "))
    });
    let plan = plan(folder.path(), &said);
    let runs: Vec<&str> = plan.runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(runs, ["bbr-1/sender.pcap", "cubic-1/sender.pcap"], "{said}");
    let points = plan.runs[0].queue.as_ref().unwrap();
    assert!(points.before.ends_with("bbr-1/ingress.pcap"));
    assert!(points.after.ends_with("bbr-1/egress.pcap"));
}

#[test]
fn conditions_are_said_as_far_as_the_names_tell_them() {
    let folder = folder_of(&[
        "westwood+-rtt18-deep-1.pcap",
        "bbrv3-rtt68-shallow-1.pcap",
        "bbrv3-rtt68-deep-2.pcap",
    ]);
    let template = Some("{cca}-{rtt}-{buffer}-{run}.pcap");
    let text = draft(folder.path(), template).unwrap();
    let rtt = r#"# base_rtt = { by = "rtt", "rtt18" = "20ms", "rtt68" = "20ms" }"#;
    let buffer =
        r#"# buffer = { by = "buffer", "deep" = "100 packets", "shallow" = "100 packets" }"#;
    assert!(text.contains(rtt) && text.contains(buffer), "{text}");
    assert_eq!(
        plan(folder.path(), &text).runs[0].conditions.base_rtt_ns,
        None
    );
    // What is a comment there is a manifest too.
    let said = text
        .replace("# base_rtt =", "base_rtt =")
        .replace("# buffer =", "buffer =");
    let conditions = &plan(folder.path(), &said).runs[0].conditions;
    assert_eq!(conditions.base_rtt_ns, Some(20_000_000));
    let folder = folder_of(&["westwood+_0.5bdp_1.pcap", "bbr_2bdp_1.pcap"]);
    let text = draft(folder.path(), None).unwrap();
    assert!(text.contains("{cca}_{buffer}_1.pcap"), "{text}");
    assert!(text.contains("# buffer = \"{buffer}\""), "{text}");
}

#[test]
fn names_of_one_form_whose_parts_mean_different_things_are_sections_of_their_own() {
    let folder = folder_of(&[
        "s1-single-50m-bbr-deep/ingress.pcap",
        "s1-single-100m-cubic-shallow/ingress.pcap",
        "s3-two-bbr-cubic-2bdp/ingress.pcap",
        "s3-two-cubic-bbr-codel/ingress.pcap",
        "s5-loss0-d100-bbr-bn/ingress.pcap",
        "s5-loss1-d1-cubic-wan/ingress.pcap",
    ]);
    let text = draft(folder.path(), None).unwrap();
    for files in [
        "s1-single-{rate}-{cca}-{buffer}/ingress.pcap",
        "s3-two-{first}-{second}-{label1}/ingress.pcap",
        "s5-loss{loss}-d{d}-{cca}-{label1}/ingress.pcap",
    ] {
        assert!(
            text.contains(&format!("files = \"{files}\"")),
            "{files} {text}"
        );
    }
    assert_eq!(plan(folder.path(), &text).runs.len(), 6);
    // Scenarios that only words tell apart are one list, and so are algorithms that nobody knows.
    for names in [
        &[
            "s7-drop1-wan.pcap",
            "s7-drop4-acc.pcap",
            "s7-tail3-wan.pcap",
            "s7-tail1-acc.pcap",
        ][..],
        &[
            "orca-50m.pcap",
            "orca-10m.pcap",
            "bbr-50m.pcap",
            "bbr-10m.pcap",
        ],
        &[
            "mix/bbr3-cubic3.pcap",
            "mix/cubic3-reno3.pcap",
            "mix/cubic3-bbr3.pcap",
        ],
    ] {
        let text = draft(folder_of(names).path(), None).unwrap();
        assert_eq!(text.matches("[[runs]]").count(), 1, "{text}");
    }
}

#[test]
fn a_draft_of_pairs_says_which_groups_go_with_labels_of_flows() {
    let folder = folder_of(&["bbr-cubic-2bdp.pcap", "cubic-bbr-0.5bdp.pcap"]);
    let text = draft(folder.path(), None).unwrap();
    assert!(
        text.contains("\n# group_by = [\"buffer\", \"cca\"]\n"),
        "{text}"
    );
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.retain(|line| !line.starts_with("group_by"));
    let wanted = ["group_by", "[[runs.flows]]", "label =", "by =", "values ="];
    for line in &mut lines {
        if let Some(rest) = line.strip_prefix("# ")
            && wanted.iter().any(|wanted| rest.starts_with(wanted))
        {
            *line = rest.to_owned();
        }
    }
    let plan = plan(folder.path(), &lines.join("\n"));
    let groups = plan
        .group_by
        .iter()
        .map(|&place| plan.labels[place].name.as_str());
    assert_eq!(groups.collect::<Vec<_>>(), ["buffer", "cca"]);
    assert!(plan.runs.iter().all(|run| run.flow_rules.len() == 1));
}

#[test]
fn a_number_in_a_name_keeps_its_sign() {
    let names = [
        "cubic_-70dBm_1.pcap",
        "cubic_-70dBm_2.pcap",
        "cubic_-40dBm_1.pcap",
        "cubic_10dBm_1.pcap",
        // Between dashes nobody knows.
        "bbr--70dBm-1.pcap",
        "bbr--40dBm-1.pcap",
    ];
    let folder = folder_of(&names);
    let text = draft(folder.path(), None).unwrap();
    assert!(text.contains(r#""cubic_{label1}_{run}.pcap""#), "{text}");
    assert!(text.contains(r#""bbr--{label1}-1.pcap""#), "{text}");
    let values = text.find("-70dBm, -40dBm, 10dBm");
    assert!(values.is_some(), "{text}");
    assert_eq!(plan(folder.path(), &text).runs.len(), names.len());
}

#[test]
fn values_are_listed_in_the_order_of_their_numbers() {
    let folder = folder_of(&[
        "bbr-1Gbit-rtt100-12up-0.5bdp-1.pcap",
        "bbr-50m-rtt20-1up-10bdp-10.pcap",
        "bbr-200m-rtt40-2up-2bdp-9.pcap",
        "bbr-200m-rtt40-nup-2bdp-9.pcap",
    ]);
    let text = draft(folder.path(), None).unwrap();
    for line in [
        "# rate: 50m, 200m, 1Gbit\n",
        "# rtt: 20, 40, 100\n",
        "# label1: nup, 1up, 2up, 12up\n",
        "# buffer: 0.5bdp, 2bdp, 10bdp\n",
        "# run: 1, 9, 10\n",
    ] {
        assert!(text.contains(line), "{line} {text}");
    }
}

#[test]
fn names_may_be_of_any_letters() {
    let names = [
        "größe_50m_1.pcap.zst",
        "größe_50m_2.pcap.zst",
        "é_1.pcap.zst",
        "日本_1.pcap",
        "abc–def_1.pcap",
        "İ_7.PCAP",
    ];
    let folder = folder_of(&names);
    let text = draft(folder.path(), None).unwrap();
    assert_eq!(plan(folder.path(), &text).runs.len(), names.len(), "{text}");
}

/// Captures of both sides of the queue are no runs, whether the run has a capture of its own or not.
#[test]
fn captures_of_both_sides_belong_to_their_run() {
    let runs = ["cubic_10m_1", "cubic_10m_2", "bbr_10m_1", "bbr_20m_1"];
    for (endings, has_own) in [(["-in", "-out"], true), (["_before", "_after"], false)] {
        let own = runs.into_iter().filter(|_| has_own).map(str::to_owned);
        let sides = runs
            .iter()
            .flat_map(|run| endings.map(|ending| format!("{run}{ending}")));
        let names = own.chain(sides).map(|name| format!("{name}.pcap"));
        let names: Vec<String> = names.collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let folder = folder_of(&names);
        let text = draft(folder.path(), None).unwrap();
        let plan = plan(folder.path(), &text);
        assert_eq!(labels(&plan), ["cca", "rate", "run"], "{text}");
        assert_eq!(plan.runs.len(), runs.len(), "{text}");
        for run in &plan.runs {
            let [before, after] = endings.map(|ending| {
                let run = run.name.replace(".pcap", "").replace(endings[0], "");
                folder.path().join(format!("{run}{ending}.pcap"))
            });
            let points = run.queue.as_ref().unwrap();
            assert!(
                points.before.ends_with(before.file_name().unwrap()),
                "{text}"
            );
            assert!(points.after.ends_with(after.file_name().unwrap()), "{text}");
        }
    }
    // One run lacks a side: who knows what these are.
    let folder = folder_of(&["cubic_1-in.pcap", "cubic_1-out.pcap", "bbr_1-in.pcap"]);
    let text = draft(folder.path(), None).unwrap();
    assert_eq!(plan(folder.path(), &text).runs.len(), 3, "{text}");
}

#[test]
fn a_shape_takes_its_own_files_not_as_many_others() {
    // The template of the first and the last takes the second, and not the first, as a part is never empty.
    let names = ["-", "0-.pcap", "b-c"].map(str::to_owned);
    assert!(guess::shapes(&names).is_empty());
}

#[test]
fn one_name_of_another_form_leaves_the_others_their_template() {
    let regular = [
        "bbr_50m_1.pcap",
        "bbr_50m_2.pcap",
        "bbr_50m_3.pcap",
        "cubic_50m_1.pcap",
        "cubic_50m_2.pcap",
        "cubic_50m_3.pcap",
    ];
    let drafted = |other: &str| {
        let folder = folder_of(&[&regular[..], &[other]].concat());
        let text = draft(folder.path(), None).unwrap();
        let plan = plan(folder.path(), &text);
        assert_eq!(plan.runs.len(), 7, "{text}");
        let cca = plan.labels.iter().position(|label| label.name == "cca");
        let of = |run: &crate::study::PlannedRun| {
            let value = run.labels[cca.unwrap()].as_ref();
            value.map(|value| value.text().to_owned())
        };
        let mut values: Vec<Option<String>> = plan.runs.iter().map(of).collect();
        values.sort();
        (values, text)
    };
    let values = |other: Option<&str>| {
        let mut values = [["bbr", "cubic"].map(Some); 3].concat();
        values.push(other);
        values.sort_unstable();
        let values = values.into_iter();
        values
            .map(|value| value.map(str::to_owned))
            .collect::<Vec<_>>()
    };
    // An algorithm whose name has a separator in it.
    assert_eq!(drafted("bbr-v3_50m_1.pcap").0, values(Some("bbr-v3")));
    // No algorithm: it is none of them, and said to be none.
    let (found, text) = drafted("note-to-self_50m_1.pcap");
    assert_eq!(found, values(None));
    assert!(
        text.contains("except = \"note-to-self_50m_1.pcap\""),
        "{text}"
    );
}

#[cfg(unix)]
#[test]
fn names_that_a_template_would_misread_are_named_or_said_to_be_left_out() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    // Of one form no two, so that each is named by itself.
    let names = [
        "lab{el}_1.pcap",
        "a-b-open{.pcap",
        "c/star*.pcap",
        "x?y.pcap",
    ];
    let folder = folder_of(&names);
    let latin = folder.path().join(OsStr::from_bytes(b"caf\xe9_1_2.pcap"));
    std::fs::write(&latin, "").unwrap();
    let text = draft(folder.path(), None).unwrap();
    let planned = plan(folder.path(), &text);
    assert_eq!(planned.runs.len(), 5, "{text}");
    assert!(planned.runs.iter().any(|run| run.path == latin), "{text}");
    // `x?y` fits both.
    std::fs::write(folder.path().join("x-y.pcap"), "").unwrap();
    let text = draft(folder.path(), None).unwrap();
    assert!(text.contains("# Left out: 1 file with letters"), "{text}");
    assert_eq!(plan(folder.path(), &text).runs.len(), 5, "{text}");
}

#[cfg(unix)]
#[test]
fn what_a_draft_leaves_out_is_said() {
    let folder = folder_of(&["bbr_1.pcap", "cubic_1.pcap", "cubic.pcap"]);
    let text = draft(folder.path(), Some("{cca}_{run}.pcap")).unwrap();
    let said = "# Left out: 1 file which the template does not fit: cubic.pcap\n";
    assert!(text.contains(said), "{text}");
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(folder.path(), elsewhere.path().join("link")).unwrap();
    let error = draft(elsewhere.path(), None).unwrap_err().to_string();
    assert!(
        error.ends_with("; links to folders are not followed: link"),
        "{error}"
    );
    std::fs::write(elsewhere.path().join("bbr_1.pcap"), "").unwrap();
    let text = draft(elsewhere.path(), None).unwrap();
    assert!(text.ends_with("lead to: link\n"), "{text}");
}

#[test]
fn labels_that_are_another_one_for_each_of_many_files_make_no_groups() {
    let names = |n: usize| {
        (0..n)
            .map(|n| format!("trace_a{n}b.pcap"))
            .collect::<Vec<_>>()
    };
    let drafted = |names: &[String]| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let folder = folder_of(&names);
        let text = draft(folder.path(), None).unwrap();
        let plan = plan(folder.path(), &text);
        assert_eq!(plan.runs.len(), names.len());
        (plan.group_by.len(), text)
    };
    assert_eq!(drafted(&names(COMPARED_MAX)).0, 1);
    let (groups, text) = drafted(&names(COMPARED_MAX + 1));
    assert_eq!(groups, 0);
    assert!(text.contains("repetition = [\"label1\"]"), "{text}");
    // A name is of one run, as the study itself takes it.
    let folder = folder_of(&["bbr-a.pcap", "cubic.pcap"]);
    let text = draft(folder.path(), Some("{name*}.pcap")).unwrap();
    assert!(text.contains("group_by = []"), "{text}");
}

proptest! {
    #[test]
    fn any_names_make_a_draft_that_is_toml(
        names in proptest::collection::btree_set("(\\PC|[-_/.a1é\t\u{1}]){1,12}(\\.pcap(\\.zst)?)?", 1..8),
    ) {
        let names: Vec<String> = names.into_iter().collect();
        let shapes = guess::shapes(&names);
        let text = written(Path::new("größe"), &shapes, &names, &[]);
        prop_assert!(toml::de::DeTable::parse(&text).is_ok(), "{text}");
        for shape in shapes {
            prop_assert_eq!(names.iter().filter(|name| shape.fits(name)).count(), shape.files);
        }
    }
}

#[test]
fn what_only_comments_say_is_a_manifest_too_once_it_is_none() {
    let folder = folder_of(&[
        "bbr-cubic-rtt0-10m.pcap",
        "cubic-bbr-rtt20-10m.pcap",
        "cubic-reno-rtt20-50m.pcap",
    ]);
    let text = draft(folder.path(), None).unwrap();
    // A base round-trip time of 0 would be a mistake.
    assert!(text.contains("# base_rtt = \"{rtt}\""), "{text}");
    assert!(plan(folder.path(), &text).runs[0].flow_rules.is_empty());
    let mut text = text;
    for line in ["[[runs.flows]]", "label = ", "by = ", "values = "] {
        assert!(text.contains(&format!("# {line}")), "{text}");
        text = text.replace(&format!("# {line}"), line);
    }
    assert_eq!(plan(folder.path(), &text).runs[0].flow_rules.len(), 1);
}

#[test]
fn a_template_that_is_given_is_used() {
    let folder = folder_of(&[
        "home_100M_deep_cubic_6_1.pcap",
        "home_100M_deep_bbr_6_1.pcap",
    ]);
    let template = "{network}_{rate}_{buffer}_{cca}_{connections}_{run}.pcap";
    let text = draft(folder.path(), Some(template)).unwrap();
    let plan = plan(folder.path(), &text);
    let names: Vec<&str> = plan
        .labels
        .iter()
        .map(|label| label.name.as_str())
        .collect();
    assert_eq!(plan.runs.len(), 2);
    for name in ["network", "rate", "buffer", "cca", "connections", "run"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    let error = draft(folder.path(), Some("{a}.cap")).unwrap_err();
    assert!(error.to_string().contains("fits none of the 2 captures"));
}

#[test]
fn parts_of_captures_are_said_to_be_left_out() {
    let folder = folder_of(&["a_1.pcap", "a_1.pcap1", "a_1.pcap2", "a_2.pcap"]);
    let text = draft(folder.path(), None).unwrap();
    assert_eq!(plan(folder.path(), &text).runs.len(), 2);
    let said = "# Left out: 2 files in which captures go on";
    assert!(
        text.contains(said) && text.contains(": a_1.pcap1, a_1.pcap2\n"),
        "{text}"
    );
    assert!(
        text.contains("mergecap -w whole/a_1.pcap a_1.pcap*"),
        "{text}"
    );
    let folder = folder_of(&["a_1.pcap0", "a_1.pcap1"]);
    let error = draft(folder.path(), None).unwrap_err().to_string();
    assert!(error.contains("; a_1.pcap0 is a part of one"), "{error}");
}

#[test]
fn a_folder_without_captures_is_said_to_have_none() {
    let folder = folder_of(&["readme.txt"]);
    assert!(matches!(
        draft(folder.path(), None),
        Err(DraftError::NoCaptures { .. })
    ));
    let folder = folder_of(&["readme.txt", "cubic_1.flent.gz"]);
    let error = draft(folder.path(), None).unwrap_err().to_string();
    assert!(error.contains("such as cubic_1.flent.gz") && error.contains("[[measured]]"));
    let missing = folder.path().join("nowhere");
    assert!(matches!(
        draft(&missing, None),
        Err(DraftError::Folder { .. })
    ));
}
