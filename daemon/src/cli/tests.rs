//! The command line as people and scripts know it: help texts, and what counts as wrong usage.

use super::*;
use clap::CommandFactory as _;

#[test]
fn the_definition_holds_together() {
    Cli::command().debug_assert();
}

/// Every command's help, in one snapshot each.
#[test]
fn help_texts() {
    let mut root = help::command().term_width(100);
    root.build();
    insta::assert_snapshot!("cairn", root.render_long_help().to_string());
    let commands: Vec<_> = root
        .get_subcommands()
        .filter(|c| c.get_name() != "help")
        .cloned()
        .collect();
    assert!(commands.len() > 35);
    for mut command in commands {
        let name = command.get_name().to_owned();
        let mut text = command.render_long_help().to_string();
        for action in command
            .get_subcommands_mut()
            .filter(|c| c.get_name() != "help")
        {
            let action_name = action.get_name().to_owned();
            let help = action.render_long_help();
            text.push_str(&format!(
                "
==== {name} {action_name} ====
{help}"
            ));
        }
        insta::assert_snapshot!(name, text);
    }
}

#[test]
fn wrong_usage_is_exit_code_2() {
    for args in [
        &["cairn"][..],
        &["cairn", "nonsense"],
        &["cairn", "status", "--timeout", "5"],
        &["cairn", "status", "--wait", "--timeout", "soon"],
        &["cairn", "resolve", "f", "--keep", "none"],
        &["cairn", "confirm", "f"],
        &["cairn", "add", "f", "--deletion-gate", "half"],
        &["cairn", "limits", "--up", "fast"],
        &["cairn", "limits", "--up-at", "08:00 1MB"],
        &["cairn", "delete"],
        &["cairn", "search", "x", "--limit", "0"],
        &["cairn", "versions", "/f", "--out", "x"],
    ] {
        let error = Cli::try_parse_from(args).unwrap_err();
        let help = args.len() == 1;
        assert_eq!(error.exit_code(), 2, "{args:?}");
        assert_eq!(error.to_string().starts_with("error:"), !help, "{args:?}");
    }
}

#[test]
fn a_number_that_does_not_fit_is_named_with_what_fits() {
    for args in [
        &["activity", "--limit"][..],
        &["history", "--limit"],
        &["history", "--page"],
        &["search", "ab", "--limit"],
        &["tree", "--depth"],
        &["share", "create", "/f", "--limit"],
        &["download-folder", "/f", "--limit"],
        &["logs", "--lines"],
    ] {
        for number in ["-1", "1.5", "many"] {
            let all = [&["cairn"], args, &[number]].concat();
            let text = Cli::try_parse_from(all).unwrap_err().to_string();
            let names_it = text.contains(&format!("invalid value '{number}'"));
            assert!(names_it && text.contains("give a whole number"), "{text}");
        }
    }
}

#[test]
fn global_flags_stand_anywhere() {
    for args in [
        &["cairn", "--json", "--home", "/h", "status"][..],
        &["cairn", "status", "--home", "/h", "--json"],
    ] {
        let cli = Cli::try_parse_from(args).unwrap();
        assert!(cli.global.json);
        assert_eq!(cli.global.home.as_deref(), Some(std::path::Path::new("/h")));
    }
}

#[test]
fn an_empty_variable_is_no_home_and_an_empty_flag_is_refused() {
    let variable = |text: &str| Some(OsString::from(text));
    assert_eq!(home_of(OsString::new(), variable("")), Ok(PathBuf::new()));
    assert!(home_of(OsString::new(), None).is_err());
    assert!(home_of(OsString::new(), variable("/h")).is_err());
    assert_eq!(home_of("/h".into(), variable("")), Ok(PathBuf::from("/h")));
}

#[test]
fn what_is_wrong_with_the_usage_is_reported_whole_and_in_one_line() {
    for (args, message) in [
        (&["cairn", "add"][..], "not provided: <LOCAL>"),
        (
            &["cairn", "status", "--frob"],
            "unexpected argument '--frob' found",
        ),
        (
            &["cairn", "confirm", "f", "maybe"],
            "possible values: delete, overwrite, keep",
        ),
    ] {
        let error = Cli::try_parse_from(args).unwrap_err();
        let text = in_one_line(&error.to_string());
        assert!(text.contains(message), "{text}");
        assert!(!text.contains('\n') && !text.starts_with("error"), "{text}");
        assert!(!text.contains("Usage:"), "{text}");
    }
}
