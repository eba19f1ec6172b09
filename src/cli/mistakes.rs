//! What was typed by mistake, and what may be meant.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::Path;
use std::process;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser as _};

use super::ExitStatus;
use super::args::{Args, EXAMPLES, commands};
use crate::report::terminal;

/// Options that a study has in its manifest, and where.
const IN_MANIFESTS: [(&str, &str); 8] = [
    ("--bin", "`bin` of [analysis]"),
    ("--capacity", "`capacity` of [conditions]"),
    ("--filter", "`filter` of [analysis]"),
    ("--fness-window", "`window` of [analysis] or of [[runs]]"),
    ("--name", "`names` of [labels.cca]"),
    ("--outer", "`outer` of [analysis]"),
    ("--udp", "`udp` of [analysis]"),
    ("-c", "`capacity` of [conditions]"),
];

impl Args {
    /// What was typed. Ends the program where it was help that was asked for, or where it makes no
    /// sense.
    #[must_use]
    pub fn from_command_line() -> Self {
        let typed: Vec<OsString> = std::env::args_os().collect();
        parse(&typed).unwrap_or_else(|error| end_with(&error))
    }

    /// Checks that no command is among the captures, for it came too late.
    pub(super) fn ensure_command_comes_first(&self) -> anyhow::Result<()> {
        let mut captures = self.captures.iter();
        match captures.find(|path| is_command(path) && !path.exists()) {
            Some(command) => anyhow::bail!(comes_first(&command.to_string_lossy())),
            None => Ok(()),
        }
    }
}

/// Prints help, or what makes no sense, and ends the program: help that cannot be printed with an error, as all else.
fn end_with(error: &clap::Error) -> ! {
    let outcome = error.print().and_then(|()| io::stdout().flush());
    let is_told = error.use_stderr() || terminal::was_printed(outcome);
    process::exit(if is_told {
        error.exit_code()
    } else {
        ExitStatus::Failed as i32
    })
}

/// Understands what was typed, with the name of the program before it.
pub(super) fn parse(typed: &[OsString]) -> Result<Args, clap::Error> {
    Args::try_parse_from(typed).or_else(|error| {
        // A value below zero is refused as one, not as an option that nobody knows.
        if error.kind() == ErrorKind::UnknownArgument
            && let Some(joined) = with_values_below_zero(typed)
        {
            match Args::try_parse_from(joined) {
                Err(other) if !is_of_value(&other) => {}
                understood => return understood,
            }
        }
        Err(explained(error, typed))
    })
}

fn is_of_value(error: &clap::Error) -> bool {
    let kinds = [ErrorKind::ValueValidation, ErrorKind::InvalidValue];
    kinds.contains(&error.kind())
}

/// What was typed, with values such as `-5Mbit` joined to the options before them.
fn with_values_below_zero(typed: &[OsString]) -> Option<Vec<OsString>> {
    let mut words: Vec<OsString> = Vec::new();
    for word in typed {
        let option = words.last_mut().filter(|last| is_option(last));
        match option.filter(|_| is_below_zero(word)) {
            Some(option) => {
                option.push("=");
                option.push(word);
            }
            None => words.push(word.clone()),
        }
    }
    (words.len() < typed.len()).then_some(words)
}

fn is_option(word: &OsStr) -> bool {
    let word = word.to_string_lossy();
    word.starts_with('-') && !word.trim_matches('-').is_empty() && !word.contains('=')
}

fn is_below_zero(word: &OsStr) -> bool {
    let word = word.to_string_lossy();
    let number = word.strip_prefix('-').unwrap_or_default();
    number.starts_with(|c: char| c.is_ascii_digit() || c == '.')
}

/// An error with what may be meant.
fn explained(mut error: clap::Error, typed: &[OsString]) -> clap::Error {
    let word = |error: &clap::Error, kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.clone()),
        _ => None,
    };
    if typed.len() < 2 {
        let said = format!("name a capture, or a command\n\n{EXAMPLES}");
        return Args::command().error(ErrorKind::MissingRequiredArgument, said);
    }
    let in_study = typed.get(1).is_some_and(|word| word == "study");
    let in_draft = in_study && typed.get(2).is_some_and(|word| word == "init");
    let in_path = typed.get(1).is_some_and(|word| word == "path");
    if let Some(word) = word(&error, ContextKind::InvalidSubcommand).filter(|_| in_study) {
        let said = format!(
            "'{word}' is one too many: a study has one manifest, or is drafted by `ccanalyze study init FOLDER`\n"
        );
        let mut commands = Args::command();
        commands.build();
        return match commands.find_subcommand_mut("study") {
            Some(study) => study.error(ErrorKind::ArgumentConflict, said),
            None => error,
        };
    }
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let unknown = word(&error, ContextKind::InvalidArg).unwrap_or_default();
    let in_manifest = IN_MANIFESTS.iter().find(|(option, _)| *option == unknown);
    let mut later = typed.iter().skip(2);
    let tip = if let Some((_, place)) = in_manifest.filter(|_| in_study) {
        format!("the manifest says it: {place}")
    } else if let Some(tip) = tip_of_draft(&unknown).filter(|_| in_draft) {
        tip.to_owned()
    } else if let Some(command) = later.find(|word| is_command(Path::new(word))) {
        comes_first(&command.to_string_lossy())
    } else if in_path && !unknown.starts_with('-') {
        tip_of_points(&typed[2..])
    } else if let Some(owner) = owner_of(&unknown) {
        format!("'{unknown}' is an option of `{owner}`")
    } else if let Some(tip) = tip_of_other_tools(&unknown) {
        tip.to_owned()
    } else {
        return error;
    };
    let tip = ContextValue::StyledStrs(vec![tip.into()]);
    error.insert(ContextKind::Suggested, tip);
    error
}

/// What may be meant where a draft of a manifest is asked for with something else than a folder.
fn tip_of_draft(unknown: &str) -> Option<&'static str> {
    match unknown {
        "-o" | "--out" => {
            Some("a draft goes to standard output: `ccanalyze study init FOLDER > study.toml`")
        }
        option if option.starts_with('-') => None,
        _ => Some("name the folder alone: what is in it is found"),
    }
}

/// What options of other tools do is done here by other means.
fn tip_of_other_tools(unknown: &str) -> Option<&'static str> {
    match unknown {
        "-r" | "--read" => Some("name captures without an option: `ccanalyze FILE`"),
        "-i" | "--interface" => {
            Some("what is captured comes through a pipe: `tcpdump -i eth0 -U -w - | ccanalyze -`")
        }
        "--csv" | "--json" | "--parquet" | "--format" | "--output-format" => Some(
            "the ending of the file says the format: `--out results.csv`, or .parquet, .jsonl, .arrow",
        ),
        "--start" | "--end" | "--from" | "--to" | "--duration" => {
            Some("`editcap -A` and `-B` cut a capture by times, `--filter` by ends")
        }
        _ => None,
    }
}

/// Whether a word is the name of a command.
fn is_command(word: &Path) -> bool {
    commands().iter().any(|command| word == Path::new(command))
}

fn comes_first(command: &str) -> String {
    format!("'{command}' is a command and comes first: ccanalyze {command} ...")
}

/// The command that has an option of this very name: an option that is like it is not what was meant.
fn owner_of(option: &str) -> Option<String> {
    let name = option.strip_prefix("--")?;
    let all = Args::command();
    let has = |command: &clap::Command| {
        let mut options = command.get_arguments();
        options.any(|option| option.get_long() == Some(name))
    };
    if has(&all) {
        return Some("ccanalyze CAPTURE...".to_owned());
    }
    let owner = all.get_subcommands().find(|command| has(command))?;
    Some(format!("ccanalyze {}", owner.get_name()))
}

/// How points of a path are named, where this was typed behind `path`.
fn tip_of_points(typed: &[OsString]) -> String {
    match typed {
        [before, after] if !is_option(before) && !is_option(after) => {
            let [before, after] = [before, after].map(|capture| capture.to_string_lossy());
            format!("options say which is which: '--before {before} --after {after}'")
        }
        _ => "options name the points: '--point CAPTURE --point CAPTURE ...'".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> String {
        let typed: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        parse(&typed).unwrap_err().to_string()
    }

    #[test]
    fn a_value_below_zero_is_refused_as_a_value() {
        for (line, words) in [
            (
                "ccanalyze a -c -5Mbit",
                "invalid value '-5Mbit' for '--capacity",
            ),
            ("ccanalyze a --capacity -5Mbit -q", "'-5Mbit' is below 0"),
            ("ccanalyze a -qc -.5Mbit", "'-.5Mbit' is below 0"),
            ("ccanalyze a --top -1", "-1 is too little: at least 0"),
            ("ccanalyze a --top 1001", "1001 is too much: at most 1000"),
            ("ccanalyze a --io -1", "possible values: auto, mmap, read"),
            (
                "ccanalyze path --before a --after b --limit -5p",
                "'-5p' is no limit",
            ),
            (
                "ccanalyze study s --out s --memory -4GB",
                "'-4GB' is below 0",
            ),
            // No value of an option.
            ("ccanalyze a -q -5Mbit", "unexpected argument '-5' found"),
            ("ccanalyze a -5.pcap", "unexpected argument '-5' found"),
        ] {
            let said = said(line);
            assert!(said.contains(words), "{line}: {said}");
        }
        let file = ["ccanalyze", "--filter", "-5", "a"].map(OsString::from);
        assert!(parse(&file).is_ok_and(|args| args.filter.as_deref() == Some("-5")));
    }

    #[test]
    fn points_of_a_path_are_named_by_options() {
        for (line, tip) in [
            ("path a.pcap b.pcap", "'--before a.pcap --after b.pcap'"),
            ("path a b c", "'--point CAPTURE --point CAPTURE ...'"),
            ("path -q a", "'--point CAPTURE --point CAPTURE ...'"),
        ] {
            let said = said(&format!("ccanalyze {line}"));
            assert!(said.contains(tip), "{line}: {said}");
        }
        assert!(!said("ccanalyze path --nonsense a").contains("--point CAPTURE --point"));
    }

    #[test]
    fn an_option_of_another_command_is_told_whose_it_is() {
        for (line, tip) in [
            (
                "ccanalyze pth --before a --after b",
                "'--before' is an option of `ccanalyze path`",
            ),
            (
                "ccanalyze a.pcap --afresh",
                "'--afresh' is an option of `ccanalyze study`",
            ),
            (
                "ccanalyze path --before a --after b --top 5",
                "'--top' is an option of `ccanalyze CAPTURE...`",
            ),
            (
                "ccanalyze study s --out s --segments s.csv",
                "'--segments' is an option of `ccanalyze CAPTURE...`",
            ),
        ] {
            let said = said(line);
            assert!(said.contains(&format!("tip: {tip}\n")), "{line}: {said}");
        }
        assert!(said("ccanalyze a.pcap --otu b").contains("similar argument"));
    }

    #[test]
    fn options_of_other_tools_are_told_what_does_it_here() {
        for (option, tip) in [
            ("-r", "name captures without an option"),
            ("-i", "| ccanalyze -`"),
            ("--csv", "`--out results.csv`"),
            ("--format", "`--out results.csv`"),
            ("--start", "`editcap -A` and `-B`"),
        ] {
            let said = said(&format!("ccanalyze {option} a.pcap"));
            assert!(
                said.contains(tip) && !said.contains("use '--"),
                "{option}: {said}"
            );
        }
    }

    #[test]
    fn nothing_typed_shows_what_there_is() {
        let said = said("ccanalyze");
        assert!(
            said.starts_with("error: name a capture, or a command\n"),
            "{said}"
        );
        assert!(
            said.contains("\nUsage: ccanalyze [OPTIONS] <CAPTURE>...\n"),
            "{said}"
        );
        assert!(said.contains("       ccanalyze <COMMAND>\n"), "{said}");
        assert!(said.contains("ccanalyze capture.pcap "), "{said}");
    }

    #[test]
    fn what_a_manifest_says_is_no_option_of_a_study() {
        for (option, _) in IN_MANIFESTS {
            let said = said(&format!("ccanalyze study s --out s {option} 5"));
            assert!(said.contains("tip: the manifest says it: `"), "{said}");
        }
        let said = said("ccanalyze study one.toml two.toml --out s");
        assert!(said.contains("'two.toml' is one too many"), "{said}");
        assert!(said.contains("Usage: ccanalyze study"), "{said}");
    }

    #[test]
    fn a_draft_is_of_one_folder_and_goes_to_standard_output() {
        for out in ["-o", "--out"] {
            let said = said(&format!("ccanalyze study init traces {out} study.toml"));
            assert!(
                said.contains(
                    "tip: a draft goes to standard output: `ccanalyze study init FOLDER > "
                ),
                "{said}"
            );
        }
        let two = said("ccanalyze study init traces/a.pcap traces/b.pcap");
        assert!(two.contains("tip: name the folder alone"), "{two}");
        let misspelt = said("ccanalyze study init traces --templat x");
        assert!(misspelt.contains("'--template'"), "{misspelt}");
    }
}
