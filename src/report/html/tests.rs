use super::*;
use crate::Analysis;
use crate::analyze::{Config, FlowNames};
use crate::path::{PathAnalysis, PathConfig, Point, QueueLimit};
use crate::report::chart::path::of_path as path_charts;
use crate::report::chart::tests::{analyze, download};
use crate::report::chart::{ChartOptions, Size, Style};

/// What would do harm if it were taken for anything but text.
const HOSTILE: &str =
    "</title><script>alert(1)</script>\"' onload=x &amp; <svg/onload=alert(2)>\u{202e}\u{7}";

fn page() -> Page {
    let text = || HOSTILE.to_owned();
    Page {
        title: text(),
        subtitle: text(),
        theme: Theme::Light,
        sections: vec![Section {
            title: text(),
            blocks: vec![
                Block::Text(text()),
                Block::Notes(vec![text()]),
                Block::Facts(vec![(text(), text())]),
                Block::Table(PageTable {
                    caption: text(),
                    columns: vec![(text(), false), (text(), true)],
                    rows: vec![vec![Cell::text(HOSTILE), Cell::count(1234)]],
                }),
                Block::Figure {
                    svg: String::new(),
                    title: text(),
                },
                Block::Fold {
                    title: text(),
                    open: true,
                    blocks: vec![Block::Text(text())],
                },
            ],
        }],
    }
}

#[test]
fn what_cannot_be_drawn_is_said_in_its_place() {
    let mut page = page();
    assert!(page.undrawn().is_empty());
    let said = "goodput: the chart cannot be drawn: no room for <b>";
    let undrawn = || Block::Undrawn(said.to_owned());
    page.sections[0].blocks.push(Block::Fold {
        title: "1".to_owned(),
        open: false,
        blocks: vec![undrawn()],
    });
    page.sections[0].blocks.push(undrawn());
    assert_eq!(page.undrawn(), [said, said]);
    let paragraph = "<p>goodput: the chart cannot be drawn: no room for &lt;b&gt;</p>";
    assert_eq!(page.to_html().matches(paragraph).count(), 2);
}

#[test]
fn names_are_text_wherever_they_stand() {
    let html = page().to_html();
    assert_eq!(html.matches("<script").count(), 1, "the one for sorting");
    assert_eq!(html.matches("<svg").count(), 0);
    assert_eq!(html.matches("</title>").count(), 1);
    // Inside an attribute a quote would end it.
    assert!(!html.contains("\"' onload"));
    assert!(!html.contains('\u{202e}') && !html.contains('\u{7}'));
    let inside =
        "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39; onload=x &amp;amp;";
    // Title twice, subtitle, section twice, text, note, facts twice, caption, two heads, the figure,
    // the fold and its text; and a cell, which lines may end in.
    assert_eq!(html.matches(inside).count(), 15);
    let in_cell = inside.replace('/', "/<wbr>");
    assert_eq!(html.matches(&in_cell).count(), 1);
}

#[test]
fn what_stands_between_backticks_is_code_and_still_text() {
    let mut page = page();
    let said = "`--fness-window` compares <b>`pm`</b>, ``, `<script>` & a lone `";
    page.sections[0].blocks = vec![
        Block::Text(said.to_owned()),
        Block::Notes(vec![said.to_owned()]),
    ];
    let html = page.to_html();
    let code = "<code>--fness-window</code> compares &lt;b&gt;<code>pm</code>&lt;/b&gt;, ``, <code>&lt;script&gt;</code> &amp; a lone `";
    assert!(html.contains(&format!("<p>{code}</p>")), "{html}");
    assert!(html.contains(&format!("<li>{code}</li>")), "{html}");
}

#[test]
fn a_figure_alone_is_no_wider_than_several_are() {
    let html = page().to_html();
    assert_eq!(html.matches("<figure").count(), 1);
    let framed = "<div class=\"figures\">\n<figure";
    assert!(html.contains(framed), "{html}");
}

#[test]
fn a_page_fetches_nothing() {
    let html = page().to_html();
    for wanted in ["http:", "https:", "src=\"", "import ", "//cdn", "fetch("] {
        assert!(!html.contains(wanted), "{wanted}");
    }
    assert!(html.contains("default-src 'none'"));
}

#[test]
fn long_cells_may_be_broken_where_addresses_and_names_have_parts() {
    assert_eq!(with_breaks("10.0.0.1:50123"), "10.0.0.1:50123");
    let broken = with_breaks("[fd77::200:1]:47126");
    assert_eq!(broken, "[fd77:<wbr>:<wbr>200:<wbr>1]:<wbr>47126");
    assert_eq!(
        with_breaks(&escaped("a <name> & b")),
        "a &lt;name&gt; &amp; b"
    );
}

#[test]
fn numbers_are_sorted_by_value_and_words_by_letter() {
    let html = page().to_html();
    assert!(html.contains("<td class=\"n\" data-k=\"1234\">1,234</td>"));
    let undefined = Cell::number(Some(f64::NAN), |_| unreachable!());
    assert_eq!((undefined.text.as_str(), undefined.key), ("–", None));
}

#[test]
fn a_column_in_which_no_row_has_anything_is_left_out() {
    let of = |rows: Vec<Vec<Cell>>| {
        let mut page = page();
        page.sections[0].blocks = vec![Block::Table(PageTable {
            caption: String::new(),
            columns: ["name", "share", "quality"]
                .map(|name| (name.to_owned(), name == "share"))
                .to_vec(),
            rows,
        })];
        page.to_html()
    };
    let row = |share| {
        vec![
            Cell::text("a"),
            Cell::number(share, |of| of.to_string()),
            Cell::text(""),
        ]
    };
    let html = of(vec![row(None), row(None)]);
    assert!(html.contains(">name<") && !html.contains(">share<") && !html.contains(">quality<"));
    assert!(html.contains("<tr><td>a</td></tr>"), "{html}");
    let html = of(vec![row(None), row(Some(0.5))]);
    assert!(
        html.contains("<tr><td>a</td><td class=\"n\">–</td></tr>"),
        "{html}"
    );
    assert!(of(Vec::new()).contains(">quality<"));
}

#[test]
fn the_page_of_a_run_has_its_flows_charts_and_how_it_was_made() {
    let config = Config {
        time_sequence: true,
        gaps: true,
        ..Config::default()
    };
    let mut analysis = Analysis::of(["testdata/captures/drop-one.pcap"], &config);
    analysis.captures[0].name = format!("runs/{HOSTILE}.pcap");
    let options = ChartOptions {
        style: Style {
            size: Size::OneColumn,
            theme: Theme::Dark,
        },
        ..ChartOptions::default()
    };
    let made = [("version".to_owned(), "1.2.3".to_owned())];
    let html = of_run(&analysis, &config, Some(&options), Theme::Dark, &made).to_html();
    assert_eq!(html.matches("<script").count(), 1);
    assert_eq!(
        html.matches("<svg").count(),
        html.matches("<figure").count()
    );
    assert!(html.matches("<figure").count() >= 10);
    for wanted in [
        "<td>10.77.0.1:5001</td><td>10.77.200.1:<wbr>35364</td>",
        "<dt>version</dt><dd>1.2.3</dd>",
        "752 packets",
        "<body class=\"dark\">",
        // 600 kB were acknowledged: the download of testdata/README.md.
        "data-k=\"600000\"",
    ] {
        assert!(html.contains(wanted), "{wanted}");
    }
    let plain = of_run(&analysis, &config, None, Theme::Dark, &made).to_html();
    assert!(!plain.contains("<figure") && plain.contains("10.77.0.1:5001"));
    assert!(plain.contains("<body class=\"dark\">"));
}

/// iperf has a control connection beside each of its tests, of some hundred bytes.
#[test]
fn the_page_of_a_run_has_the_pairs_that_compete() {
    let folder = tempfile::tempdir().unwrap();
    let pairs = |packets: [(u8, u32); 3]| {
        let all =
            packets.map(|(host, packets)| download(host, u32::from(host), packets, |_| false));
        let analysis = analyze(folder.path(), all.concat());
        assert_eq!(analysis.captures[0].pairs.pairs.len(), 3);
        let html = of_run(&analysis, &Config::default(), None, Theme::Light, &[]).to_html();
        let (_, section) = html.split_once("<h2>Fairness by pair</h2>").unwrap();
        let (section, _) = section.split_once("</section>").unwrap();
        let rows = section.matches("<tr>").count() - 1;
        (
            rows,
            section.contains("The 1 that compete of 3 pairs; all of them are in"),
        )
    };
    // Two packets of 300 are less than one hundredth.
    assert_eq!(pairs([(1, 300), (2, 300), (3, 2)]), (1, true));
    assert_eq!(pairs([(1, 300), (2, 300), (3, 30)]), (3, false));
}

#[test]
fn a_run_without_captures_that_could_be_read_has_a_page() {
    let config = Config::default();
    let analysis = Analysis::of(["no/such/<file>"], &config);
    let options = ChartOptions::default();
    let html = of_run(&analysis, &config, Some(&options), Theme::Light, &[]).to_html();
    assert!(html.contains("no/such/&lt;file&gt;") && html.contains("class=\"notes\""));
}

/// `testdata/captures/drop-one.pcap` as a point sees it 5 ms later, behind a queue that drops the data packets
/// `dropped`.
fn behind_a_queue(dropped: std::ops::Range<usize>) -> Vec<u8> {
    let bytes = std::fs::read("testdata/captures/drop-one.pcap").unwrap();
    let (header, mut rest) = bytes.split_at(24);
    let mut kept = header.to_vec();
    let mut data_packets = 0;
    while !rest.is_empty() {
        let field = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap());
        let (mut seconds, mut ns, wire_len) = (field(0), field(4) + 5_000_000, field(12));
        if ns >= 1_000_000_000 {
            (seconds, ns) = (seconds + 1, ns - 1_000_000_000);
        }
        let (record, further) = rest.split_at(16 + field(8) as usize);
        let is_data = wire_len > 1000;
        if !is_data || !dropped.contains(&data_packets) {
            kept.extend(seconds.to_le_bytes());
            kept.extend(ns.to_le_bytes());
            kept.extend(&record[8..]);
        }
        data_packets += usize::from(is_data);
        rest = further;
    }
    kept
}

#[test]
fn the_page_of_a_path_has_its_queues_flows_episodes_and_how_it_was_made() {
    let folder = tempfile::tempdir().unwrap();
    let after = folder.path().join("after.pcap");
    std::fs::write(&after, behind_a_queue(200..203)).unwrap();
    let before = std::path::PathBuf::from("testdata/captures/drop-one.pcap");
    let config = PathConfig {
        limit: Some(QueueLimit::Packets(1000)),
        ..PathConfig::default()
    };
    let points = [before, after].map(Point::file);
    let mut analysis = PathAnalysis::of(&points, &config).unwrap();
    analysis.hops[0].points = ["before", HOSTILE].map(str::to_owned);
    let style = Style {
        size: Size::OneColumn,
        theme: Theme::Dark,
    };
    let charts = path_charts(&analysis, &FlowNames::default(), style);
    let made = [("version".to_owned(), "1.2.3".to_owned())];
    let page = of_path(&analysis, &config, &charts, style.theme, &made);
    let html = page.to_html();
    assert_eq!(html.matches("<script").count(), 1);
    assert_eq!(html.matches("<figure").count(), charts.len());
    assert_eq!(charts.len(), 1, "packets were dropped one way only");
    for wanted in [
        // All 752 packets of the capture, of which three were taken out.
        "752 packets, 3 dropped over 1 hop.",
        "<dt>forward</dt><dd>752 packets, 3 dropped (0.40 %): 3 ",
        " % of 1,000 packets), ",
        "<td class=\"n\" data-k=\"5000000\">5.00 ms</td>",
        "<dt>clocks</dt><dd>not corrected, as no packet arrived before it left",
        "10.77.0.1:<wbr>5001 → 10.77.200.1:<wbr>35364:<wbr> 3</td>",
        "before; 752 records, 752 IP packets followed</dd>",
        "749 records, 749 IP packets followed</dd>",
        "<dt>version</dt><dd>1.2.3</dd>",
        "<body class=\"dark\">",
    ] {
        assert!(html.contains(wanted), "{wanted}: {html}");
    }
    let plain = of_path(&analysis, &config, &[], Theme::Light, &made);
    let titles: Vec<&str> = plain.sections.iter().map(|of| of.title.as_str()).collect();
    assert_eq!(
        titles,
        [
            "Queue and link",
            "Quality of the captures",
            "Flows",
            "Episodes of drops",
            "How this was made"
        ]
    );
}
