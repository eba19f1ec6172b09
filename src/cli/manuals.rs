//! `ccanalyze completions` and `ccanalyze man`: what shells and manuals are told about the command,
//! by its own definition.

use std::io;

use anyhow::Context as _;
use clap::{Command, CommandFactory as _, ValueHint};
use clap_complete::Shell;

use super::Args;
use super::ExitStatus;
use crate::report::terminal;

/// The name that the command is called by.
const NAME: &str = "ccanalyze";

/// Prints what lets a shell complete commands, options and files.
pub(super) fn print_completions(shell: Shell) -> ExitStatus {
    let mut command = Args::command();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, NAME, &mut script);
    if shell == Shell::Bash {
        let text = String::from_utf8_lossy(&script).into_owned();
        script = with_files(text, &command, NAME).into_bytes();
    }
    printed(&script)
}

/// The script for bash, of which the generator offers a word without a dash nothing but options: with files, and the
/// commands within a command, in each that takes files.
fn with_files(script: String, command: &Command, key: &str) -> String {
    let within = command.get_subcommands();
    let script = within.fold(script, |script, command| {
        let key = format!("{key}__subcmd__{}", command.get_name());
        with_files(script, command, &key)
    });
    let Some(files) = files_of(command) else {
        return script;
    };
    let Some((before, block, after)) = block_of(&script, key) else {
        return script;
    };
    let commands: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    let options = "compgen -W \"${opts}\" -- \"${cur}\"";
    let commands = format!("compgen -W \"{}\" -- \"${{cur}}\"", commands.join(" "));
    let either = format!(
        "if [[ ${{cur}} == -* ]]; then {options}; else {commands}; {files} -- \"${{cur}}\"; fi"
    );
    format!("{before}{}{after}", block.replace(options, &either))
}

/// What completes the files that a command takes: as arguments, or as several of one option. None takes none.
fn files_of(command: &Command) -> Option<&'static str> {
    let mut arguments = command.get_arguments();
    arguments.find_map(|argument| {
        let several = argument.get_num_args().is_some_and(|n| n.max_values() > 1);
        match argument.get_value_hint() {
            _ if !argument.is_positional() && !several => None,
            ValueHint::AnyPath | ValueHint::FilePath => Some("compgen -f"),
            ValueHint::DirPath => Some("compgen -d"),
            _ => None,
        }
    })
}

/// What the script does in a command, and what stands before and after that.
fn block_of<'s>(script: &'s str, key: &str) -> Option<(&'s str, &'s str, &'s str)> {
    let head = format!("\n        {key})\n");
    let start = script.find(&head)?;
    let end = start + script[start..].find("\n            ;;\n")?;
    let (before, rest) = script.split_at(start);
    let (block, after) = rest.split_at(end - start);
    Some((before, block, after))
}

/// Prints the page of a command within commands, or of the whole without any.
pub(super) fn print_manual(words: &[String]) -> anyhow::Result<ExitStatus> {
    let page = manual(words)?.context("the page cannot be made")?;
    Ok(printed(&page))
}

/// The page of the command that some words name.
fn manual(words: &[String]) -> anyhow::Result<io::Result<Vec<u8>>> {
    let mut command = Args::command();
    command.build();
    for word in words {
        let found = command.find_subcommand(word).cloned();
        command = found.with_context(|| {
            let name = command.get_bin_name().unwrap_or(NAME);
            format!("'{word}' is no command of `{name}`: `{name} --help` lists what there is")
        })?;
    }
    let mut page = Vec::new();
    let version = concat!("ccanalyze ", env!("CARGO_PKG_VERSION"));
    let manual = clap_mangen::Man::new(command).source(version);
    let rendered = manual.render(&mut page);
    Ok(rendered.map(|()| page))
}

fn printed(text: &[u8]) -> ExitStatus {
    if terminal::print(&String::from_utf8_lossy(text)) {
        ExitStatus::Complete
    } else {
        ExitStatus::Failed
    }
}
