//! `cairn man`: the manual pages, for packages of Cairn.

use crate::app::App;
use crate::failure::{CommandResult, Context as _};
use clap::{Command, CommandFactory as _};
use serde_json::json;
use std::path::PathBuf;

/// Write the manual pages to a directory
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Target directory; it is made if it is missing
    directory: PathBuf,
}

pub(super) fn run(app: &App, args: &Args) -> CommandResult {
    let directory = &args.directory;
    std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(pages(), directory))
        .context(format_args!(
            "write the manual pages to {}",
            directory.display()
        ))?;
    app.out.line(format_args!(
        "The manual pages are in {}.",
        directory.display()
    ));
    app.out.json(&json!({ "directory": directory }));
    Ok(())
}

/// Returns the definition of the command line with a synopsis for each command. The library's own leaves out
/// the values that options take.
fn pages() -> Command {
    let mut root = super::Cli::command().disable_help_subcommand(true);
    // Names commands in full and gives each the options for every command.
    root.build();
    with_synopsis(root)
}

fn with_synopsis(command: Command) -> Command {
    let text = synopsis(&command);
    command.override_usage(text).mut_subcommands(with_synopsis)
}

/// Returns a command with all its options: `cairn add [--remote </PATH>] [--yes] <LOCAL>`.
fn synopsis(command: &Command) -> String {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let shown = || command.get_arguments().filter(|arg| !arg.is_hide_set());
    let options = shown().filter(|arg| !arg.is_positional()).map(|option| {
        if option.is_required_set() {
            option.to_string()
        } else {
            format!("[{option}]")
        }
    });
    let positionals = shown().filter(|arg| arg.is_positional()).map(|arg| {
        // As in the usage line: angle brackets for what has to be there, square ones for the rest.
        arg.to_string()
    });
    let subcommand = command.has_subcommands().then(|| {
        if command.is_subcommand_required_set() {
            "<COMMAND>".to_owned()
        } else {
            "[COMMAND]".to_owned()
        }
    });
    let words: Vec<String> = std::iter::once(name.to_owned())
        .chain(options)
        .chain(positionals)
        .chain(subcommand)
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_synopsis_names_the_values_of_options() {
        let dir = tempfile::tempdir().unwrap();
        clap_mangen::generate_to(pages(), dir.path()).unwrap();
        let synopsis = |page: &str| -> String {
            let text = std::fs::read_to_string(dir.path().join(page)).unwrap();
            let (_, after) = text.split_once(".SH SYNOPSIS\n").unwrap();
            let (own, _) = after.split_once("\n.SH").unwrap();
            own.replace('\\', "")
        };
        let add = synopsis("cairn-add.1");
        for part in [
            "[--remote </PATH>]",
            "[--mode <MODE>]",
            "[--yes]",
            "<LOCAL>",
        ] {
            assert!(add.contains(part), "{part} is not in {add}");
        }
        assert!(synopsis("cairn.1").contains("<COMMAND>"));
        let restore = synopsis("cairn-trash-restore.1");
        assert!(restore.contains("[--to <PATH>]"), "{restore}");
    }
}
