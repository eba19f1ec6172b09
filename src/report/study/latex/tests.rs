//! How tables lie on their pages, and what stands in their cells.

use super::*;
use polars::prelude::{Column as PolarsColumn, DataFrame, df};

#[test]
fn long_words_break_between_letters_and_never_within_a_command() {
    let hash = "0123456789abcdef0123456789abcdef01234567";
    let parts = ["0123456789abcdef"; 2].join("\\allowbreak{}");
    assert_eq!(
        with_breaks(hash),
        format!("{parts}\\allowbreak{{}}01234567")
    );
    assert_eq!(
        with_breaks("congestioncontro"),
        "congestioncontro\\allowbreak{}"
    );
    let command = "\\textasciicircumandmuchmore{}";
    assert_eq!(with_breaks(command), command);
    assert_eq!(with_breaks("a\\_b"), "a\\_\\allowbreak{}b");
}

fn of(frame: DataFrame) -> String {
    latex(&StudyTable {
        name: "groups".to_owned(),
        title: "Of groups".to_owned(),
        label: "tab:s-groups".to_owned(),
        keys: vec!["capture".to_owned(), "cca".to_owned()],
        shares: Vec::new(),
        above: std::collections::BTreeMap::new(),
        usual: std::collections::BTreeMap::new(),
        frame,
    })
}

/// A table with so many more columns of numbers.
fn with_numbers(frame: DataFrame, columns: usize) -> DataFrame {
    with_columns(frame, "some_long_name", columns)
}

/// The same with names that begin with this.
fn with_columns(mut frame: DataFrame, name: &str, columns: usize) -> DataFrame {
    for column in 0..columns {
        let name = format!("{name}_{column}");
        let numbers = vec![12_345_678.9; frame.height()];
        let column = PolarsColumn::new(name.into(), numbers);
        frame.with_column(column).unwrap();
    }
    frame
}

fn narrow() -> DataFrame {
    df!("cca" => ["bbr"], "change_percent" => [-3.5]).unwrap()
}

#[test]
fn a_table_is_as_large_as_fits_a_page() {
    assert_eq!(
        of(narrow()),
        "% \\usepackage{booktabs}\n\\begin{table*}\n\\centering\n\\caption{Of groups}\\label{tab:s-groups}\n\\smallskip\n\\begin{tabular}{lr}\n\\toprule\n\
         CCA & Change (\\%) \\\\\n\\midrule\nbbr & $-$3.5 \\\\\n\\bottomrule\n\\end{tabular}\n\\end{table*}\n"
    );
    let small = of(with_numbers(narrow(), 3));
    assert!(
        small.contains("\n\\centering\\footnotesize\\setlength"),
        "{small}"
    );
    assert!(!small.contains("rotatebox"), "{small}");
    assert!(!small.contains("shortstack"), "{small}");
    // Names of columns are the widest of it.
    let stacked = of(with_numbers(narrow(), 4));
    assert!(
        stacked.contains("\n\\centering\\footnotesize\\setlength"),
        "{stacked}"
    );
    let names = "\nCCA & \\shortstack[r]{\\strut Change\\\\\\strut (\\%)} & \\shortstack[r]{\\strut Some long\\\\\\strut name 0} & ";
    assert!(stacked.contains(names), "{stacked}");
    let upright = of(with_columns(narrow(), "incomprehensibilities", 6));
    assert!(upright.starts_with(
        "% \\usepackage{booktabs,graphicx}\n\\begin{table*}\n\\centering\\footnotesize"
    ));
    assert!(
        upright.contains("\\rotatebox{90}{Incomprehensibilities 5}"),
        "{upright}"
    );
    assert!(!upright.contains("minipage"), "{upright}");
    // Wider than the text of `article`, and not than that of two columns.
    let fitted = of(with_numbers(narrow(), 8));
    let begin = "\\smallskip\n\\resizebox{\\ifdim\\width>\\textwidth\\textwidth\\else\\width\\fi}{!}{%\n\\begin{tabular}";
    assert!(fitted.contains(begin), "{fitted}");
    assert!(
        fitted.ends_with("\\end{tabular}}\n\\end{table*}\n"),
        "{fitted}"
    );
    assert!(!fitted.contains("minipage"), "{fitted}");
    let wide = of(with_numbers(narrow(), 11));
    assert!(wide.starts_with("% \\usepackage{booktabs,graphicx}\n"));
    assert!(wide.contains("\\rotatebox{90}{Some long name 7}"));
    // It stands in the class `acmart`, too, which does not know sideways tables.
    let begin = "\n\\begin{table*}[p]\n\\centering\\rotatebox{90}{\\begin{minipage}{\\textheight}\n\\centering";
    let end = "\\end{tabular}\n\\end{minipage}}\n\\end{table*}\n";
    assert!(wide.contains(begin) && wide.ends_with(end), "{wide}");
    assert_eq!(wide.matches("\\begin{tabular}").count(), 1, "{wide}");
}

#[test]
fn a_table_longer_than_a_page_runs_over_pages_and_is_listed_once() {
    let rows =
        |rows: usize| of(df!("cca" => vec!["bbr"; rows], "harm" => vec![0.5; rows]).unwrap());
    // A line of `article` is 12 points high, and its text 598 or 550 points, as the paper is.
    assert!(!rows(35).contains("longtable"));
    let long = rows(50);
    assert!(
        long.starts_with("% \\usepackage{booktabs,longtable}\n% runs over pages: "),
        "{long}"
    );
    assert_eq!(long.matches("\\caption{").count(), 1, "{long}");
    assert_eq!(
        long.matches("\\caption[]{Of groups, continued}").count(),
        1,
        "{long}"
    );
    assert_eq!(
        long.matches("\nCCA & Harm ").count(),
        2,
        "on the first page, and on others"
    );
    let across = of(with_numbers(df!("cca" => vec!["bbr"; 40]).unwrap(), 11));
    assert!(across.starts_with("% \\usepackage{booktabs,longtable,graphicx,pdflscape}\n"));
    assert!(across.contains("\n\\begin{landscape}") && across.ends_with("\\end{landscape}\n"));
}

#[test]
fn a_table_that_fits_no_page_is_cut_and_says_again_what_its_rows_are() {
    let text = of(with_numbers(narrow(), 30));
    let parts: Vec<&str> = text.split("\\begin{longtable}").skip(1).collect();
    assert_eq!(parts.len(), 3, "{text}");
    for (place, part) in parts.iter().enumerate() {
        assert!(part.contains(&format!("\\caption{{Of groups ({} of 3)}}", place + 1)));
        assert!(part.contains("\nbbr & "), "{part}");
        let is_referred_to = part.contains("(1 of 3)}\\label{tab:s-groups}\\\\\n");
        assert_eq!(is_referred_to, place == 0, "{part}");
        assert_eq!(part.matches("\\label").count(), usize::from(place == 0));
        assert_eq!(part.matches("{CCA}").count(), 2, "{part}");
    }
    assert_eq!(
        text.matches("Some long").count(),
        60,
        "each column in one part, with its two heads"
    );
    assert_eq!(text.matches("\\addtocounter{table}{-1}").count(), 2);
}

#[test]
fn rows_are_numbered_where_what_they_are_takes_much_of_a_page() {
    let name = "bbr-100mbit-0.1percent/a-long-name-of-a-capture_1.pcap";
    let frame = df!(
        "capture" => [name, "b.pcap"],
        "cca" => ["a name of a variant that goes on and on".repeat(2), String::new()]
    );
    let text = of(with_numbers(frame.unwrap(), 20));
    let parts: Vec<&str> = text.split("\\begin{longtable}").skip(1).collect();
    assert!(parts.len() > 1, "{text}");
    for part in &parts {
        assert!(part.contains("\\rotatebox{90}{\\#} & "), "{part}");
        assert!(part.contains("\n1 & ") && part.contains("\n2 & "), "{part}");
    }
    // Said once, in lines that end where names of files may be taken apart.
    assert!(parts[0].starts_with("{rp{120pt}p{120pt}r"), "{}", parts[0]);
    assert!(
        parts[0].contains("bbr-\\allowbreak{}100mbit"),
        "{}",
        parts[0]
    );
    assert!(!parts[1].contains("pcap"), "{}", parts[1]);
}

#[test]
fn a_column_that_holds_nothing_is_left_out() {
    let frame = df!("cca" => ["bbr"], "queue_percent" => [None::<f64>], "harm" => [0.5]);
    assert!(of(frame.unwrap()).contains("\nCCA & Harm \\\\\n"));
}

#[test]
fn a_table_without_rows_is_a_sentence() {
    let frame = df!("cca" => Vec::<String>::new(), "harm" => Vec::<f64>::new());
    assert_eq!(of(frame.unwrap()), "Of groups: no rows.\n");
}

#[test]
fn numbers_in_latex_are_typeset() {
    for (cell, text) in [
        (Cell::Real(-37.462), "$-$37.46"),
        (Cell::Real(2.69e-57), "$2.690\\times 10^{-57}$"),
        (Cell::Whole(1200), "1200"),
        (Cell::Below(-300), "$<10^{-300}$"),
        (Cell::Text("bbr-lt".to_owned()), "bbr-lt"),
        (Cell::Null, ""),
        (
            Cell::Mean {
                value: -0.5,
                half: Some(0.25),
                n: None,
            },
            "$-$0.50 $\\pm$ 0.25",
        ),
        // Each number has its own power.
        (
            Cell::Median {
                value: 1.75e-8,
                quartiles: Some([1.375e-8, 2.25e-8]),
                n: Some(2),
            },
            "$1.750\\times 10^{-8}$ [$1.375\\times 10^{-8}$, $2.250\\times 10^{-8}$] (n = 2)",
        ),
    ] {
        assert_eq!(in_latex(&cell), text);
    }
}

/// A table of groups with words above columns.
fn of_groups(above: std::collections::BTreeMap<String, String>, frame: DataFrame) -> String {
    latex(&StudyTable {
        name: "groups".to_owned(),
        title: "Of groups".to_owned(),
        label: "tab:s-groups".to_owned(),
        keys: vec!["cca".to_owned()],
        shares: Vec::new(),
        above,
        usual: std::collections::BTreeMap::new(),
        frame,
    })
}

/// Columns below `bbr` and `cubic`, so many of each.
fn below(columns: usize) -> String {
    let mut frame = df!("cca" => ["reno"]).unwrap();
    let mut above = std::collections::BTreeMap::new();
    for variant in ["bbr", "cubic"] {
        for column in 0..columns {
            let name = format!("{variant}_packets_{column}");
            above.insert(name.clone(), variant.to_owned());
            let column = PolarsColumn::new(name.into(), vec![12_345_678.9]);
            frame.with_column(column).unwrap();
        }
    }
    of_groups(above, frame)
}

#[test]
fn what_columns_have_in_common_stands_above_them() {
    let text = below(2);
    let head = "\n\\toprule\n & \\multicolumn{2}{c}{bbr} & \\multicolumn{2}{c}{cubic} \\\\\n\\cmidrule(lr){2-3}\\cmidrule(lr){4-5}\nCCA & Packets 0 & Packets 1 & Packets 0 & Packets 1 \\\\\n\\midrule\n";
    assert!(text.contains(head), "{text}");
}

#[test]
fn a_table_is_cut_between_what_columns_have_in_common() {
    // Ten of these fit beside the name of a row, and seven of each are cut behind the seventh.
    let text = below(7);
    let parts: Vec<&str> = text.split("\\begin{longtable}").skip(1).collect();
    assert_eq!(parts.len(), 2, "{text}");
    for (part, variant) in parts.iter().zip(["bbr", "cubic"]) {
        let above = format!(" & \\multicolumn{{7}}{{c}}{{{variant}}} \\\\");
        assert!(part.contains(&above), "{part}");
        let heads = part.matches("multicolumn").count();
        assert_eq!(heads, 2, "with its second head: {part}");
    }
}

#[test]
fn what_stands_above_columns_has_room() {
    let above = "a variant of which much is told";
    let frame = |kinds: usize| {
        let mut frame = narrow();
        for kind in 0..kinds {
            for of in ["x", "y"] {
                let name = format!("{above} {kind}_{of}");
                let column = PolarsColumn::new(name.into(), vec![1.5]);
                frame.with_column(column).unwrap();
            }
        }
        frame
    };
    let of = |kinds: usize| {
        let named = |kind: usize| {
            let above = format!("{above} {kind}");
            ["x", "y"].map(|of| (format!("{above}_{of}"), above.clone()))
        };
        of_groups((0..kinds).flat_map(named).collect(), frame(kinds))
    };
    // Each pair of columns is 40 points wide, and what stands above it 140.
    let (one, three) = (of(1), of(3));
    assert!(one.contains("\n\\centering\n"), "{one}");
    assert!(three.contains("\\resizebox"), "{three}");
    let parts = of(9);
    assert!(parts.contains("(1 of 3)"), "{parts}");
}
