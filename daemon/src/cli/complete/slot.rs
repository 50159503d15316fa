//! The argument at the cursor, found in the definition of the command line.

use clap::{Arg, ArgAction, Command};

/// The kind of thing that an argument names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// A file or folder of the service, or its path in a synced folder.
    Node,
    /// A folder of the service, or its path in a synced folder.
    Folder,
    /// A folder of the service by its path there.
    RemoteFolder,
    /// A local folder that is synced.
    Pair,
    Team,
    Device,
    /// A share link, by its short code.
    Link,
}

/// The arguments that are completed: the command, the argument's id, and what it names.
const SOURCES: [(&str, &str, Source); 31] = [
    ("add", "remote", Source::RemoteFolder),
    ("add", "space", Source::Team),
    ("cat", "node", Source::Node),
    ("confirm", "folder", Source::Pair),
    ("copy", "from", Source::Node),
    ("copy", "to", Source::Folder),
    ("delete", "nodes", Source::Node),
    ("devices remove", "device", Source::Device),
    ("diff", "path", Source::Node),
    ("download", "node", Source::Node),
    ("download-folder", "folder", Source::Folder),
    ("history", "path", Source::Node),
    ("ignore", "folder", Source::Pair),
    ("info", "node", Source::Node),
    ("list", "folder", Source::Folder),
    ("mkdir", "path", Source::Folder),
    ("move", "from", Source::Node),
    ("move", "to", Source::Folder),
    ("pause", "folder", Source::Pair),
    ("remove", "local", Source::Pair),
    ("restore", "path", Source::Node),
    ("resume", "folder", Source::Pair),
    ("rewind", "path", Source::Node),
    ("share disable", "link", Source::Link),
    ("share enable", "link", Source::Link),
    ("share refresh", "link", Source::Link),
    ("share revoke", "link", Source::Link),
    ("sync", "folder", Source::Pair),
    ("tree", "folder", Source::Folder),
    ("upload", "to", Source::RemoteFolder),
    ("versions", "node", Source::Node),
];

/// The argument at the cursor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Slot {
    pub(super) source: Source,
    /// The beginning of it that is typed.
    pub(super) typed: String,
    /// The begin of the same word of the shell, which stays: `--to=`.
    pub(super) prefix: String,
    /// The team that the command line names.
    pub(super) team: Option<String>,
    /// The home that it names.
    pub(super) home: Option<String>,
}

/// A command line that is read word by word.
struct Reader<'a> {
    command: &'a Command,
    /// The names of the subcommands, without the program's.
    path: Vec<&'a str>,
    positionals: usize,
    /// An option that waits for its value.
    pending: Option<&'a Arg>,
    only_positionals: bool,
    team: Option<String>,
    home: Option<String>,
}

/// Finds the argument that the last word begins, if it is one that is completed.
pub(super) fn at_cursor(definition: &Command, words: &[String]) -> Option<Slot> {
    let (words, split) = join_equals(words);
    let (last, before) = words.get(1..)?.split_last()?;
    let mut reader = Reader {
        command: definition,
        path: Vec::new(),
        positionals: 0,
        pending: None,
        only_positionals: false,
        team: None,
        home: None,
    };
    for word in before {
        reader.read(word);
    }
    let (argument, prefix, typed) = reader.argument_of(last)?;
    let source = source(&reader.path.join(" "), argument.get_id().as_str())?;
    Some(Slot {
        source,
        typed: typed.to_owned(),
        prefix: if split {
            String::new()
        } else {
            prefix.to_owned()
        },
        team: reader.team,
        home: reader.home,
    })
}

fn source(command: &str, argument: &str) -> Option<Source> {
    if argument == "team" {
        return Some(Source::Team);
    }
    let mut sources = SOURCES.iter();
    sources
        .find(|(of, id, _)| (*of, *id) == (command, argument))
        .map(|(_, _, source)| *source)
}

/// Joins what a shell takes apart at an equals sign: `--to`, `=` and `/a`. Returns whether the last word was.
fn join_equals(words: &[String]) -> (Vec<String>, bool) {
    let mut joined: Vec<String> = Vec::new();
    let mut split = false;
    for (at, word) in words.iter().enumerate() {
        let after_equals = at > 0 && words.get(at - 1).is_some_and(|before| before == "=");
        let is_value = after_equals && joined.last().is_some_and(|last| last.ends_with('='));
        let is_equals = word == "=" && joined.last().is_some_and(|last| last.starts_with("--"));
        split = is_value || is_equals;
        match joined.last_mut() {
            Some(last) if split => last.push_str(word),
            Some(_) | None => joined.push(word.clone()),
        }
    }
    (joined, split)
}

impl<'a> Reader<'a> {
    /// Reads a word before the cursor.
    fn read(&mut self, word: &str) {
        if let Some(option) = self.pending.take() {
            self.note(option, word);
        } else if self.only_positionals {
            self.positionals += 1;
        } else if word == "--" {
            self.only_positionals = true;
        } else if let Some(option) = self.option(word) {
            match word.split_once('=') {
                Some((_, value)) => self.note(option, value),
                None if takes_value(option) => self.pending = Some(option),
                None => {}
            }
        } else if word.starts_with('-') && word.len() > 1 {
            // An unknown option: it is taken as one without a value.
        } else if let Some(sub) = self.subcommand(word) {
            self.command = sub;
            self.path.push(sub.get_name());
            self.positionals = 0;
        } else {
            self.positionals += 1;
        }
    }

    fn note(&mut self, option: &Arg, value: &str) {
        match option.get_id().as_str() {
            "team" | "space" => self.team = Some(value.to_owned()),
            "home" => self.home = Some(value.to_owned()),
            _ => {}
        }
    }

    fn subcommand(&self, word: &str) -> Option<&'a Command> {
        let found = (self.positionals == 0).then(|| self.command.find_subcommand(word));
        found.flatten()
    }

    /// Returns the option that a word names, with or without a value behind an equals sign.
    fn option(&self, word: &str) -> Option<&'a Arg> {
        let mut all = self.command.get_arguments();
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        match name.strip_prefix("--") {
            Some(long) => all.find(|arg| arg.get_long() == Some(long)),
            None => {
                let short = name.strip_prefix('-')?.chars().last();
                all.find(|arg| short.is_some() && arg.get_short() == short)
            }
        }
    }

    /// Returns the argument of the word at the cursor, what stands before its value, and the value as far as it is
    /// typed.
    fn argument_of<'w>(&self, word: &'w str) -> Option<(&'a Arg, &'w str, &'w str)> {
        if let Some(option) = self.pending {
            return Some((option, "", word));
        }
        if !self.only_positionals && word.starts_with('-') {
            let option = self.option(word).filter(|option| takes_value(option))?;
            let equals = word.find('=')? + 1;
            return Some((option, word.get(..equals)?, word.get(equals..)?));
        }
        if self.command.has_subcommands() {
            return None;
        }
        let positionals: Vec<&Arg> = self.command.get_positionals().collect();
        let many = |arg: &&&Arg| matches!(arg.get_action(), ArgAction::Append);
        let at = positionals.get(self.positionals);
        let found = at.or_else(|| positionals.last().filter(many))?;
        Some((found, "", word))
    }
}

fn takes_value(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::Set | ArgAction::Append)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    fn definition() -> Command {
        let mut definition = crate::cli::Cli::command();
        definition.build();
        definition
    }

    fn slot(line: &[&str]) -> Option<(Source, String)> {
        let words: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
        at_cursor(&definition(), &words).map(|slot| (slot.source, slot.typed))
    }

    #[test]
    fn every_completed_argument_exists() {
        let definition = definition();
        for (command, argument, _) in SOURCES {
            let found = command
                .split(' ')
                .try_fold(&definition, |at, name| at.find_subcommand(name));
            let command = found.unwrap_or_else(|| panic!("there is no command {command}"));
            let mut arguments = command.get_arguments();
            assert!(
                arguments.any(|arg| arg.get_id() == argument),
                "{} has no {argument}",
                command.get_name()
            );
        }
    }

    #[test]
    fn the_argument_at_the_cursor_is_found() {
        let of = |source, typed: &str| Some((source, typed.to_owned()));
        assert_eq!(slot(&["cairn", "ls", "/ph"]), of(Source::Folder, "/ph"));
        assert_eq!(slot(&["cairn", "rm", "/a", "/b"]), of(Source::Node, "/b"));
        assert_eq!(slot(&["cairn", "mv", "/a", ""]), of(Source::Folder, ""));
        assert_eq!(slot(&["cairn", "mv", "/a", "/b", "/c"]), None);
        let revoke = ["cairn", "--json", "share", "revoke", "ab"];
        assert_eq!(slot(&revoke), of(Source::Link, "ab"));
        assert_eq!(
            slot(&["cairn", "ls", "--team", "Cr"]),
            of(Source::Team, "Cr")
        );
        let add = ["cairn", "add", "x", "--only", "y", "--remote", "/p"];
        assert_eq!(slot(&add), of(Source::RemoteFolder, "/p"));
        assert_eq!(
            slot(&["cairn", "info", "--", "-odd"]),
            of(Source::Node, "-odd")
        );
        for other in [
            &["cairn"][..],
            &["cairn", "li"],
            &["cairn", "ls", "--te"],
            &["cairn", "devices", "rem"],
            &["cairn", "config", "set", "x"],
            &[],
        ] {
            assert_eq!(slot(other), None, "{other:?}");
        }
    }

    #[test]
    fn a_value_behind_an_equals_sign_is_completed_as_each_shell_splits_it() {
        let found = |line: &[&str]| {
            let words: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
            let slot = at_cursor(&definition(), &words).expect("an argument");
            (slot.prefix, slot.typed, slot.team)
        };
        let whole = found(&["cairn", "add", "x", "--space=Crew", "--remote=/p"]);
        let crew = Some("Crew".to_owned());
        assert_eq!(whole, ("--remote=".into(), "/p".into(), crew.clone()));
        let split = [
            "cairn", "add", "x", "--space", "=", "Crew", "--remote", "=", "/p",
        ];
        assert_eq!(found(&split), (String::new(), "/p".into(), crew));
        let begun = found(&["cairn", "add", "x", "--remote", "="]);
        assert_eq!((begun.0.as_str(), begun.1.as_str()), ("", ""));
    }
}
