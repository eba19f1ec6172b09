//! What a shell completes: commands within commands, files, and the names of commands for `man`.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::cli::run;

/// What bash offers for the last of some words, in a folder.
fn offered(folder: &Path, words: &[&str]) -> Vec<String> {
    let script = run(folder, &["completions", "bash"]).stdout;
    let ask = "COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1))\n\
        _ccanalyze ccanalyze \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD - 1]}\"\n\
        printf '%s\\n' \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash");
    bash.current_dir(folder)
        .args(["--norc", "-c", &format!("{script}\n{ask}"), "bash"]);
    let said = bash.arg("ccanalyze").args(words).output().unwrap();
    assert!(said.status.success(), "{said:?}");
    let said = String::from_utf8(said.stdout).unwrap();
    said.lines().map(str::to_owned).collect()
}

#[test]
fn bash_offers_commands_and_files_and_options_behind_a_dash() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("traces")).unwrap();
    for file in ["a.pcap", "study.toml"] {
        fs::write(folder.path().join(file), "").unwrap();
    }
    let commands = ["path", "study", "completions", "man", "help"];
    let files = ["a.pcap", "study.toml", "traces"];
    for (words, wanted) in [
        (&[""][..], [&commands[..], &files].concat()),
        (&["st"], vec!["study", "study.toml"]),
        (&["a.pcap", "tr"], vec!["traces"]),
        (&["study", ""], [&["init", "help"], &files[..]].concat()),
        (&["study", "--afr"], vec!["--afresh"]),
        (&["study", "study.toml", "--chart-theme", "d"], vec!["dark"]),
        (&["study", "init", ""], vec!["traces"]),
        (&["path", "--before", "a"], vec!["a.pcap"]),
        (&["path", "--before", "a.pcap", "s"], vec!["study.toml"]),
        (&["man", "st"], vec!["study"]),
        (&["man", "study", "in"], vec!["init"]),
        (&["completions", "z"], vec!["zsh"]),
    ] {
        let mut found = offered(folder.path(), words);
        found.sort();
        let mut wanted: Vec<&str> = wanted;
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{words:?}");
    }
}

/// As zsh and fish, run by hand, complete them: there is none of them on most machines that test.
#[test]
fn zsh_takes_a_first_word_for_a_command_or_a_file_and_fish_knows_words() {
    let folder = tempfile::tempdir().unwrap();
    let zsh = run(folder.path(), &["completions", "zsh"]).stdout;
    for either in [
        "$words[2] == (path|study|completions|man|help) ]]; then\n    words_taken=(\":: :_ccanalyze_commands\" \"*::: :->ccanalyze\")",
        "words_taken=(\":: :{_ccanalyze_commands; _files}\" \"*: :_files\")",
        "$words[2] == (init|help) ]]; then\n    words_taken=(\":: :_ccanalyze__subcmd__study_commands\" \"*::: :->study\")",
        "words_taken=(\":: :{_ccanalyze__subcmd__study_commands; _files}\")",
    ] {
        assert_eq!(zsh.matches(either).count(), 1, "{either}: {zsh}");
    }
    assert!(!zsh.contains("$line[2]"), "a command is the first word");
    assert!(!zsh.contains("\n':captures") && !zsh.contains("\n':manifest"));
    let fish = run(folder.path(), &["completions", "fish"]).stdout;
    for (command, words) in [
        ("completions", "bash elvish fish powershell zsh"),
        ("man", "path study init completions man"),
    ] {
        let line = format!(
            "complete -c ccanalyze -n \"__fish_ccanalyze_using_subcommand {command}\" -f -a \"{words}\""
        );
        assert!(fish.lines().any(|of| of == line), "{line}: {fish}");
    }
}

/// As elvish, run by hand, completes them.
#[test]
fn elvish_offers_files_and_words_and_takes_no_file_for_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let elvish = run(folder.path(), &["completions", "elvish"]).stdout;
    let block = |key: &str| {
        let (_, rest) = elvish.split_once(&format!("&'{key}'= {{\n")).unwrap();
        rest.split_once("\n        }\n").unwrap().0
    };
    let files = "edit:complete-filename $words[-1]";
    for key in [
        "ccanalyze",
        "ccanalyze;path",
        "ccanalyze;study",
        "ccanalyze;study;init",
    ] {
        assert!(block(key).contains(files), "{key}");
    }
    for (key, word) in [("ccanalyze;man", "study"), ("ccanalyze;completions", "zsh")] {
        assert!(!block(key).contains(files), "{key}");
        assert!(block(key).contains(&format!("cand {word} ''")), "{key}");
    }
    let (completions, which) = elvish
        .split_once("    var command = 'ccanalyze'\n")
        .unwrap();
    assert!(completions.contains("    var completions = ["));
    assert!(which.contains("if (not (has-key $completions $command';'$word)) {"));
    assert!(
        which.ends_with("    $completions[$command]\n}\n"),
        "{which}"
    );
}
