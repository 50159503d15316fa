//! The overview of all commands, in groups: what `cairn --help` prints.

use super::Cli;
use clap::{Command, CommandFactory as _};
use std::ffi::OsString;
use std::fmt::Write as _;

/// The commands by what a person wants to do; a test sees that each stands here once.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Sync",
        &[
            "add",
            "remove",
            "folders",
            "status",
            "why",
            "sync",
            "pause",
            "resume",
            "activity",
            "conflicts",
            "resolve",
            "confirm",
            "accept",
            "ignore",
            "limits",
        ],
    ),
    (
        "Files on the service",
        &[
            "list",
            "tree",
            "search",
            "info",
            "cat",
            "mkdir",
            "move",
            "copy",
            "delete",
            "upload",
            "download",
            "download-folder",
        ],
    ),
    (
        "Back in time",
        &[
            "history", "versions", "diff", "restore", "rewind", "undo", "trash",
        ],
    ),
    ("Sharing", &["share"]),
    ("Teams", &["teams"]),
    ("Devices", &["devices", "compare"]),
    (
        "Account",
        &[
            "login",
            "logout",
            "whoami",
            "keys",
            "passphrase",
            "recovery-key",
            "second-factor",
            "tokens",
            "webhooks",
        ],
    ),
    ("Assistants", &["mcp"]),
    (
        "Daemon and settings",
        &[
            "start",
            "stop",
            "restart",
            "daemon",
            "autostart",
            "config",
            "completions",
            "help",
        ],
    ),
    ("Diagnosis", &["doctor", "verify", "logs", "bugreport"]),
];

/// Returns the definition of the command line with its commands in groups.
pub(super) fn command() -> Command {
    let mut plain = Cli::command();
    plain.build();
    let header = *plain.get_styles().get_header();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{header}Options:{header:#}\n{{options}}{{after-help}}",
        groups(&plain)
    );
    Cli::command().help_template(template)
}

/// Returns the arguments with `help` explained as other commands are: `cairn help --help` is `cairn help help`,
/// and `cairn help add --help` asks twice for the same. Options for every command may stand before it.
pub(super) fn arguments(given: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = given.collect();
    let at = command_index(&words);
    if words.get(at).is_none_or(|word| word != "help") {
        return words;
    }
    let mut asked = words.split_off(at);
    let count = asked.len();
    asked.retain(|word| word != "--help" && word != "-h");
    if asked.len() < count && asked.len() == 1 {
        asked.push("help".into());
    }
    words.append(&mut asked);
    words
}

/// Returns where the name of the command stands: after the program's, and the options before it with their values.
fn command_index(words: &[OsString]) -> usize {
    let root = Cli::command();
    let takes_value = |word: &OsString| {
        root.get_arguments()
            .filter(|option| option.get_action().takes_values())
            .filter_map(clap::Arg::get_long)
            .any(|long| word.to_str().and_then(|word| word.strip_prefix("--")) == Some(long))
    };
    let mut at = 1;
    while let Some(word) = words.get(at)
        && word.as_encoded_bytes().starts_with(b"-")
    {
        at += if takes_value(word) { 2 } else { 1 };
    }
    at
}

/// Returns the list of commands under the headings of their groups.
fn groups(root: &Command) -> String {
    let header = root.get_styles().get_header();
    let literal = root.get_styles().get_literal();
    let known = |name: &str| root.get_subcommands().find(|c| c.get_name() == name);
    let wide = GROUPS
        .iter()
        .flat_map(|(_, names)| *names)
        .filter_map(|name| known(name))
        .map(|command| label(command).len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for (heading, names) in GROUPS {
        // Writing to a string can't fail.
        let _ = writeln!(text, "{header}{heading}:{header:#}");
        for command in names.iter().filter_map(|name| known(name)) {
            let label = label(command);
            let pad = " ".repeat(wide - label.len());
            let about = command.get_about().map(ToString::to_string);
            let about = about.unwrap_or_default();
            let _ = writeln!(text, "  {literal}{label}{literal:#}{pad}  {about}");
        }
        text.push('\n');
    }
    text
}

/// The name of a command, with its short one.
fn label(command: &Command) -> String {
    let mut label = command.get_name().to_owned();
    for alias in command.get_visible_aliases() {
        label = format!("{label}, {alias}");
    }
    label
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn every_command_stands_in_one_group() {
        let mut root = Cli::command();
        root.build();
        let mut shown: Vec<&str> = root
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(Command::get_name)
            .collect();
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, shown);
    }

    #[test]
    fn help_is_explained_like_any_command() {
        for (given, wanted) in [
            ("cairn help --help", "cairn help help"),
            ("cairn help -h", "cairn help help"),
            ("cairn help add --help", "cairn help add"),
            ("cairn --home X help --help", "cairn --home X help help"),
            (
                "cairn --log=info --home X help add -h",
                "cairn --log=info --home X help add",
            ),
            ("cairn help", "cairn help"),
            ("cairn help add", "cairn help add"),
            ("cairn add --help", "cairn add --help"),
            ("cairn --help", "cairn --help"),
        ] {
            let words = arguments(given.split(' ').map(OsString::from));
            assert_eq!(words.join(OsStr::new(" ")), *wanted, "{given}");
            let shown = command().try_get_matches_from(words).unwrap_err();
            assert_eq!(shown.exit_code(), 0, "{given}: {shown}");
        }
    }

    #[test]
    fn the_short_names_mean_the_long_ones() {
        for (short, long) in [
            ("ls", "list"),
            ("mv", "move"),
            ("cp", "copy"),
            ("rm", "delete"),
        ] {
            let root = command();
            let found = root.find_subcommand(short).unwrap();
            assert_eq!(found.get_name(), long);
        }
    }
}
