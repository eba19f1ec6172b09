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
