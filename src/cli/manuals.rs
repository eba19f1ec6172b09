//! `ccanalyze completions` and `ccanalyze man`: what shells and manuals are told about the command,
//! by its own definition.

use std::io;

use anyhow::Context as _;
use clap::CommandFactory as _;
use clap_complete::Shell;

use super::Args;
use super::ExitStatus;
use crate::report::terminal;

/// The name that the command is called by.
const NAME: &str = "ccanalyze";

/// Prints what lets a shell complete commands, options and files.
pub(super) fn print_completions(shell: Shell) -> ExitStatus {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), NAME, &mut script);
    printed(&script)
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
