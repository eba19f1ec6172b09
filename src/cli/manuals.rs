//! `ccanalyze completions` and `ccanalyze man`: what shells and manuals are told about the command,
//! by its own definition.

use std::fmt::Write as _;
use std::io;

use anyhow::Context as _;
use clap::{Command, CommandFactory as _, ValueHint};
use clap_complete::Shell;

use super::{Args, ExitStatus, printed};

/// The name that the command is called by.
const NAME: &str = "ccanalyze";

/// Prints what lets a shell complete commands, options and files.
pub(super) fn print_completions(shell: Shell) -> ExitStatus {
    let mut command = Args::command();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, NAME, &mut script);
    let text = String::from_utf8_lossy(&script).into_owned();
    let script = match shell {
        Shell::Bash => with_files(text, &command, NAME),
        Shell::Zsh => with_commands(text, &command, "_ccanalyze"),
        Shell::Fish => with_words(text, &command),
        Shell::Elvish => with_arguments(with_known_commands(&text), &command, NAME),
        _ => text,
    };
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

/// The script for zsh, in which the generator has a command come behind the files of one that takes both: either the
/// first word is one and all else belongs to it, or all words are files.
fn with_commands(script: String, command: &Command, function: &str) -> String {
    const CALL: &str = "_arguments \"${_arguments_options[@]}\" : \\\n";
    const WHICH: &str = "case $line[2] in";
    let within = command.get_subcommands();
    let script = within.fold(script, |script, command| {
        let function = format!("{function}__subcmd__{}", command.get_name());
        with_commands(script, command, &function)
    });
    let Some(files) = command.get_positionals().next() else {
        return script;
    };
    let commands = format!(
        "\":: :{function}_commands\" \"*::: :->{}\"",
        command.get_name()
    );
    let together = commands.replace("\" \"", "\" \\\n\"");
    let Some((before, after)) = script.split_once(&together) else {
        return script;
    };
    let (Some((before, options)), Some((state, after))) =
        (before.rsplit_once(CALL), after.split_once(WHICH))
    else {
        return script;
    };
    // The last of the lines are the files.
    let options = options.trim_end_matches('\n');
    let options = options.rsplit_once('\n').map_or("", |(options, _)| options);
    let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    let names = names.join("|");
    let several = files.get_num_args().is_some_and(|n| n.max_values() > 1);
    let further = if several { " \"*: :_files\"" } else { "" };
    let state = state.replace("$line[2]", "$line[1]");
    format!(
        "{before}local -a words_taken
if [[ CURRENT -gt 2 && $words[2] == ({names}) ]]; then
    words_taken=({commands})
else
    words_taken=(\":: :{{{function}_commands; _files}}\"{further})
fi
{CALL}{options}
\"${{words_taken[@]}}\"{state}case $line[1] in{after}"
    )
}

/// The script for fish, with what the generator leaves out of it: the words that a command takes as arguments, where
/// these are known.
fn with_words(mut script: String, command: &Command) -> String {
    for command in command.get_subcommands() {
        let words = words_of(command);
        if !words.is_empty() {
            let (name, words) = (command.get_name(), words.join(" "));
            let _ = writeln!(
                script,
                "complete -c {NAME} -n \"__fish_{NAME}_using_subcommand {name}\" -f -a \"{words}\""
            );
        }
    }
    script
}

/// The words that a command takes as arguments, where these are known.
fn words_of(command: &Command) -> Vec<String> {
    command
        .get_positionals()
        .filter_map(|argument| argument.get_value_parser().possible_values())
        .flatten()
        .map(|word| word.get_name().to_owned())
        .collect()
}

/// The script for elvish, in which the generator takes every word up to the first option for a command, and fails where
/// it is a file: which words are commands is looked up in what there is to complete.
fn with_known_commands(script: &str) -> String {
    const START: &str = "    var command = ";
    const COMPLETIONS: &str = "    var completions = [\n";
    const NEXT: &str = "        set command = ";
    const END: &str = "    $completions[$command]\n";
    let moved = || {
        let (before, rest) = script.split_once(START)?;
        let (which, rest) = rest.split_once(COMPLETIONS)?;
        let (completions, after) = rest.split_once(END)?;
        let known = "        if (not (has-key $completions $command';'$word)) {
            break
        }
";
        let which = which.replace(NEXT, &format!("{known}{NEXT}"));
        Some(format!(
            "{before}{COMPLETIONS}{completions}{START}{which}{END}{after}"
        ))
    };
    moved().unwrap_or_else(|| script.to_owned())
}

/// The script for elvish, with what the generator leaves out of it: the files or the words that a command takes.
fn with_arguments(script: String, command: &Command, key: &str) -> String {
    let within = command.get_subcommands();
    let script = within.fold(script, |script, command| {
        let key = format!("{key};{}", command.get_name());
        with_arguments(script, command, &key)
    });
    let files = files_of(command).map(|_| "edit:complete-filename $words[-1]".to_owned());
    let words = words_of(command).into_iter();
    let words = words.map(|word| format!("cand {word} ''"));
    let offers: Vec<String> = files.into_iter().chain(words).collect();
    let head = format!("        &'{key}'= {{\n");
    let block = offers.iter().fold(head.clone(), |block, offer| {
        format!("{block}            {offer}\n")
    });
    script.replace(&head, &block)
}

/// Prints the page of a command within commands, or of the whole without any.
pub(super) fn print_manual(words: &[String]) -> anyhow::Result<ExitStatus> {
    let page = manual(words)?.context("the page cannot be made")?;
    Ok(printed(&String::from_utf8_lossy(&page)))
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
