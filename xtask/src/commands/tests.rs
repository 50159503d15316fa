//! Arguments that run a command, and those that only print something.

use super::*;

fn ask(text: &str) -> Result<Asked> {
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    read(&words)
}

fn given_of(text: &str) -> Given {
    match ask(text).unwrap() {
        Asked::Run(_, given) => given,
        Asked::Help(_) => panic!("{text} only gives help"),
    }
}

#[test]
fn a_question_for_help_runs_nothing() {
    let runs = |text: &str| matches!(ask(text).unwrap(), Asked::Run(..));
    for command in COMMANDS {
        let name = command.name;
        for text in [
            format!("{name} --help"),
            format!("{name} -h"),
            format!("help {name}"),
            format!("{name} --keep --only x --help"),
        ] {
            assert!(!runs(&text), "{text}");
        }
    }
    assert!(!runs("--help") && !runs("help"));
}

#[test]
fn an_unknown_option_runs_nothing_and_prints_the_usage() {
    for command in COMMANDS.iter().filter(|command| !command.passes_options_on) {
        let name = command.name;
        let error = ask(&format!("{name} --no-such-option")).err().unwrap();
        let text = error.to_string();
        assert!(
            text.starts_with("can't make sense of `--no-such-option`"),
            "{text}"
        );
        assert!(
            text.contains(&format!("Usage: cargo xtask {name}")),
            "{text}"
        );
    }
}

#[test]
fn an_option_stands_once_and_takes_no_other_for_its_value() {
    for (text, reason) in [
        ("soak --seeds 1 --seeds 500", "--seeds stands there twice"),
        ("test --only --no-setup", "--only needs a value"),
    ] {
        let error = ask(text).err().unwrap().to_string();
        assert!(error.starts_with(reason), "{error}");
    }
}

#[test]
fn options_are_taken_from_anywhere() {
    let demo = given_of("demo --keep folder");
    assert!(demo.has("--keep"));
    assert_eq!(demo.words, ["folder"]);
    assert_eq!(demo, given_of("demo folder --keep"));
    for text in ["soak --seeds 12", "soak --seeds=12"] {
        assert_eq!(given_of(text).number("--seeds").unwrap(), Some(12));
    }
    assert_eq!(given_of("bench --quick x").words, ["--quick", "x"]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    for wrong in [
        "",
        "tset",
        "help tset",
        "test --fast",
        "test --no-setup=1",
        "check tray",
        "soak --seeds",
        "demo a b",
    ] {
        assert!(ask(wrong).is_err(), "{wrong:?}");
    }
    assert!(given_of("soak --seeds 0").number("--seeds").is_err());
}

#[test]
fn the_overview_has_every_command_and_option() {
    let text = overview();
    for command in COMMANDS {
        assert!(text.contains(command.about), "{}", command.name);
        for option in command.options {
            assert!(text.contains(option.name), "{}", option.name);
        }
    }
}
