//! What parts of names are taken for.

use super::*;

#[test]
fn thousands_of_nobody_knows_what_are_no_rates() {
    let folder = folder_of(&[
        "cubic_25k_1.pcap",
        "cubic_150k_2.pcap",
        "bbr_25k_1.pcap",
        "bbr_150k_2.pcap",
    ]);
    let text = draft(folder.path(), None).unwrap();
    assert!(text.contains("{cca}_{label1}_{run}.pcap"), "{text}");
    assert!(text.contains("# label1: 25k, 150k\n"), "{text}");
    // They may be bytes of a buffer, unless a template says what they are.
    for (name, is_rate) in [("buf", false), ("rate", true)] {
        let template = format!("{{cca}}_{{{name}}}_{{run}}.pcap");
        let text = draft(folder.path(), Some(&template)).unwrap();
        let has_unit = text.contains("unit = \"Mbit\"");
        let has_capacity = text.contains("\ncapacity = ");
        assert_eq!((has_unit, has_capacity), (is_rate, is_rate), "{text}");
    }
    let names = ["cubic_500k_1.pcap", "cubic_2000k_1.pcap"];
    let text = draft(folder_of(&names).path(), None).unwrap();
    assert!(text.contains("cubic_{rate}_1.pcap"), "{text}");
}

#[test]
fn numbers_with_units_of_bytes_are_sizes() {
    let folder = folder_of(&[
        "cubic_30kB_1.pcap",
        "cubic_1MB_1.pcap",
        "bbr_30kB_1.pcap",
        "bbr_1MB_1.pcap",
    ]);
    let text = draft(folder.path(), None).unwrap();
    assert!(text.contains("\"{cca}_{size}_1.pcap\""), "{text}");
    assert!(text.contains("[labels.size]\nunit = \"kB\"\n"), "{text}");
}

#[test]
fn of_two_bare_numbers_the_last_that_counts_tells_repetitions_apart() {
    for (first, second, written) in [
        // Both count: names end in the number of the run.
        (
            ["1", "2", "3"],
            ["1", "2", "3"],
            "{cca}_{number}_{run}.pcap",
        ),
        (
            ["1", "4", "8"],
            ["1", "2", "3"],
            "{cca}_{number}_{run}.pcap",
        ),
        (
            ["10", "50", "100"],
            ["0", "1", "2"],
            "{cca}_{number}_{run}.pcap",
        ),
        (
            ["1", "2", "3"],
            ["10", "50", "100"],
            "{cca}_{run}_{number}.pcap",
        ),
        // Neither does.
        (
            ["2", "4", "8"],
            ["10", "20", "30"],
            "{cca}_{number}_{run}.pcap",
        ),
        // Another part says it.
        (
            ["10", "20", "50"],
            ["run1", "run2", "run3"],
            "{cca}_{number}_run{run}.pcap",
        ),
    ] {
        let mut names = Vec::new();
        for cca in ["bbr", "cubic"] {
            for one in first {
                names.extend(second.map(|other| format!("{cca}_{one}_{other}.pcap")));
            }
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let folder = folder_of(&names);
        let text = draft(folder.path(), None).unwrap();
        assert!(text.contains(written), "{written}\n{text}");
        let of_groups = "group_by = [\"cca\", \"number\"]";
        assert!(text.contains(of_groups), "{text}");
    }
}
