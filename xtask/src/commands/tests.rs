//! Arguments that run a command, and those that only print something.

use super::*;
use clap::CommandFactory as _;
use clap::error::ErrorKind;

fn read(text: &str) -> Result<Command, ErrorKind> {
    let arguments = ["cargo xtask"].into_iter().chain(text.split_whitespace());
    match Arguments::try_parse_from(arguments) {
        Ok(arguments) => Ok(arguments.command),
        Err(error) => Err(error.kind()),
    }
}

/// The names of the commands that read their options themselves.
fn names() -> Vec<String> {
    let commands = Arguments::command();
    let names = commands
        .get_subcommands()
        .map(|one| one.get_name().to_owned());
    names.filter(|name| name != "bench").collect()
}

#[test]
fn the_declaration_is_sound() {
    Arguments::command().debug_assert();
}

#[test]
fn a_question_for_help_runs_nothing() {
    for name in names() {
        for text in [
            format!("{name} --help"),
            format!("{name} -h"),
            format!("help {name}"),
        ] {
            assert_eq!(read(&text), Err(ErrorKind::DisplayHelp), "{text}");
        }
    }
    let text = "demo --keep folder --help";
    assert_eq!(read(text), Err(ErrorKind::DisplayHelp), "{text}");
    assert_eq!(read("--help"), Err(ErrorKind::DisplayHelp));
}

#[test]
fn what_is_not_known_runs_nothing() {
    for name in names() {
        let text = format!("{name} --no-such-option");
        assert_eq!(read(&text), Err(ErrorKind::UnknownArgument), "{text}");
    }
    for text in ["no-such-command", "help no-such-command"] {
        assert_eq!(read(text), Err(ErrorKind::InvalidSubcommand), "{text}");
    }
    let nothing = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    assert_eq!(read(""), Err(nothing));
    for (text, kind) in [
        ("soak --seeds 1 --seeds 500", ErrorKind::ArgumentConflict),
        ("test --only --no-setup", ErrorKind::InvalidValue),
        ("test --no-setup=yes", ErrorKind::TooManyValues),
        ("soak --seeds", ErrorKind::InvalidValue),
        ("soak --seeds 0", ErrorKind::ValueValidation),
        ("fuzz --cases many", ErrorKind::ValueValidation),
        // More than proptest reads.
        ("fuzz --cases 4294967296", ErrorKind::ValueValidation),
        ("check now", ErrorKind::UnknownArgument),
        ("demo one two", ErrorKind::UnknownArgument),
        ("package --check --sboms", ErrorKind::ArgumentConflict),
        ("package --twice --check", ErrorKind::ArgumentConflict),
        ("setup --benchmark", ErrorKind::UnknownArgument),
    ] {
        assert_eq!(read(text), Err(kind), "{text}");
    }
}

#[test]
fn options_are_taken_from_anywhere() {
    let demo = read("demo --keep folder");
    assert_eq!(
        demo,
        Ok(Command::Demo {
            folder: Some("folder".into()),
            keep: true
        })
    );
    assert_eq!(demo, read("demo folder --keep"));
    for text in ["soak --seeds 12", "soak --seeds=12"] {
        assert_eq!(read(text), Ok(Command::Soak { seeds: Some(12) }));
    }
}

#[test]
fn the_bench_gets_its_options_as_they_are() {
    for text in ["bench --only small --skip-peers", "bench --help"] {
        let options = text.split_whitespace().skip(1).map(str::to_owned).collect();
        assert_eq!(read(text), Ok(Command::Bench { options }), "{text}");
    }
}
