//! The table of the commands and their options.

use crate::{checks, demo, docs, long, package, setup, tray};
use anyhow::{Result, bail};

/// A command of this program.
pub(crate) struct Command {
    pub(crate) name: &'static str,
    pub(super) about: &'static str,
    pub(super) options: &'static [Opt],
    /// A word that may follow, as the help names it.
    pub(super) word: Option<&'static str>,
    /// The options of another program, which reads them itself.
    pub(super) passes_options_on: bool,
    pub(crate) run: fn(&Given) -> Result<()>,
}

/// An option of a command.
pub(super) struct Opt {
    pub(super) name: &'static str,
    /// Its value, as the help names it.
    pub(super) value: Option<&'static str>,
    pub(super) about: &'static str,
}

/// The arguments that a command got.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Given {
    pub(super) options: Vec<(&'static str, String)>,
    pub(crate) words: Vec<String>,
}

impl Given {
    pub(super) fn has(&self, option: &str) -> bool {
        self.text(option).is_some()
    }

    fn text(&self, option: &str) -> Option<&str> {
        let found = self.options.iter().find(|(name, _)| *name == option);
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn number(&self, option: &str) -> Result<Option<u64>> {
        let Some(value) = self.text(option) else {
            return Ok(None);
        };
        match value.parse() {
            Ok(number) if number > 0 => Ok(Some(number)),
            _ => bail!("{option} needs a number above 0, not `{value}`"),
        }
    }
}

const fn flag(name: &'static str, about: &'static str) -> Opt {
    Opt {
        name,
        value: None,
        about,
    }
}

const fn value(name: &'static str, value: &'static str, about: &'static str) -> Opt {
    Opt {
        name,
        value: Some(value),
        about,
    }
}

const fn command(
    name: &'static str,
    about: &'static str,
    options: &'static [Opt],
    run: fn(&Given) -> Result<()>,
) -> Command {
    Command {
        name,
        about,
        options,
        word: None,
        passes_options_on: false,
        run,
    }
}

pub(crate) const COMMANDS: &[Command] = &[
    command(
        "setup",
        "install the tools that the other commands need",
        &[flag(
            "--bench",
            "also the programs that `bench` measures against",
        )],
        |given| setup::run(given.has("--bench")),
    ),
    command(
        "check",
        "format, lints, unit tests and laws: what to run while working",
        &[],
        |_| checks::quick(),
    ),
    command(
        "test",
        "everything CI checks: format, lints, licences, tests, end-to-end stories",
        &[
            flag("--no-setup", "install nothing"),
            value(
                "--only",
                "TEXT",
                "only the stages whose names contain a text",
            ),
        ],
        |given| {
            let only = given.text("--only").map(str::to_owned);
            checks::run(!given.has("--no-setup"), only)
        },
    ),
    Command {
        word: Some("FOLDER"),
        ..command(
            "demo",
            "two devices and a server on this machine, from nothing to a conflict; with a copy of a folder of yours",
            &[flag("--keep", "leave what it made where it is")],
            |given| demo::run(given.words.first().map(Into::into), given.has("--keep")),
        )
    },
    command(
        "soak",
        "the simulator for long, and the long stories",
        &[value("--seeds", "N", "whole systems of each plot")],
        |given| long::soak(given.number("--seeds")?),
    ),
    command(
        "fuzz",
        "random inputs to the planner and the formats",
        &[value("--cases", "N", "cases for each law")],
        |given| long::fuzz(given.number("--cases")?),
    ),
    command(
        "package",
        "the Debian packages of command line, tray and server, with bills of materials and checksums",
        &[
            flag(
                "--check",
                "make them of the programs that the tests use, and try them in a root of their own",
            ),
            flag("--bills", "only the bills of materials"),
        ],
        |given| match (given.has("--check"), given.has("--bills")) {
            (true, _) => package::check(),
            (false, true) => package::bills(),
            (false, false) => package::release(),
        },
    ),
    command(
        "five-minutes",
        "what the README shows, with the packages installed in a Debian made for it (root, debootstrap, network)",
        &[],
        |_| package::try_readme(),
    ),
    command(
        "docs",
        "the site of docs/, with search, in target/book",
        &[],
        |_| docs::build(),
    ),
    command(
        "screenshots",
        "the pictures of the tray in docs/, drawn anew",
        &[],
        |_| tray::screenshots(),
    ),
    Command {
        passes_options_on: true,
        ..command(
            "bench",
            "side by side with rclone, restic and Syncthing; its options: `cargo run --release -p cairn-bench -- --help`",
            &[],
            |given| long::bench(&given.words),
        )
    },
];
