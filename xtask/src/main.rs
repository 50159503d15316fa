//! `cargo xtask`: what developers and CI run on this workspace. It builds, checks, measures and shows;
//! it is no part of the product.

#![expect(
    clippy::print_stdout,
    reason = "it talks to the person who runs it, on stdout"
)]

mod checks;
mod demo;
mod docs;
mod judges;
mod long;
mod mail;
mod openapi;
mod package;
mod proxy;
mod python;
mod run;
mod running;
mod s3;
mod setup;
mod tray;

use anyhow::{Result, bail};
use std::process::ExitCode;

const HELP: &str = "\
Usage: cargo xtask COMMAND [OPTIONS]

  setup [--bench]         install the tools that the other commands need
  check                   format, lints, unit tests and laws: what to run while working
  test [--no-setup] [--only TEXT]
                          everything CI checks: format, lints, licences, tests, end-to-end stories;
                          or only the stages whose names contain a text
  demo [FOLDER] [--keep]  two devices and a server on this machine, from nothing to a conflict
  soak [--seeds N]        the simulator for long: N whole systems of each plot; and the long stories
  fuzz [--cases N]        random inputs to the planner and the formats: N cases for each law
  package [--check | --bills]
                          the Debian packages of command line, tray and server; or try them in a root
                          of their own; or only the bills of materials
  docs                    the site of docs/, with search, in target/book
  screenshots             the pictures of the tray in docs/, drawn anew
  bench [OPTIONS…]        side by side with rclone, restic and Syncthing (options of cairn-bench)

CONTRIBUTING.md says how to begin; docs/ARCHITECTURE.md explains the rules that `test` checks.";

fn main() -> ExitCode {
    match command(std::env::args().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nxtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn command(mut arguments: Vec<String>) -> Result<()> {
    if arguments.is_empty() {
        bail!("say what to do\n\n{HELP}");
    }
    let command = arguments.remove(0);
    match command.as_str() {
        "setup" => {
            let bench = take_flag(&mut arguments, "--bench");
            nothing_left(&arguments)?;
            setup::run(bench)
        }
        "check" => alone(&arguments, checks::quick),
        "test" => {
            let no_setup = take_flag(&mut arguments, "--no-setup");
            let only = take_value(&mut arguments, "--only")?;
            nothing_left(&arguments)?;
            checks::run(!no_setup, only)
        }
        "demo" => {
            let keep = take_flag(&mut arguments, "--keep");
            let folder = (!arguments.is_empty()).then(|| arguments.remove(0));
            nothing_left(&arguments)?;
            demo::run(folder.map(Into::into), keep)
        }
        "soak" => {
            let seeds = take_number(&mut arguments, "--seeds")?;
            nothing_left(&arguments)?;
            long::soak(seeds)
        }
        "fuzz" => {
            let cases = take_number(&mut arguments, "--cases")?;
            nothing_left(&arguments)?;
            long::fuzz(cases)
        }
        "package" => {
            let check = take_flag(&mut arguments, "--check");
            let bills = take_flag(&mut arguments, "--bills");
            nothing_left(&arguments)?;
            match (check, bills) {
                (true, _) => package::check(),
                (false, true) => package::bills(),
                (false, false) => package::release(),
            }
        }
        "docs" => alone(&arguments, docs::build),
        "screenshots" => alone(&arguments, tray::screenshots),
        "bench" => long::bench(&arguments),
        "help" | "--help" | "-h" => {
            println!("{HELP}");
            Ok(())
        }
        other => bail!("there is no command `{other}`\n\n{HELP}"),
    }
}

/// Runs what takes no options.
fn alone(arguments: &[String], run: fn() -> Result<()>) -> Result<()> {
    nothing_left(arguments)?;
    run()
}

fn take_flag(arguments: &mut Vec<String>, flag: &str) -> bool {
    let before = arguments.len();
    arguments.retain(|argument| argument != flag);
    arguments.len() < before
}

fn take_value(arguments: &mut Vec<String>, option: &str) -> Result<Option<String>> {
    let Some(at) = arguments.iter().position(|a| a == option) else {
        return Ok(None);
    };
    if at + 1 >= arguments.len() {
        bail!("{option} needs a value");
    }
    let value = arguments.remove(at + 1);
    arguments.remove(at);
    Ok(Some(value))
}

fn take_number(arguments: &mut Vec<String>, option: &str) -> Result<Option<u64>> {
    let Some(value) = take_value(arguments, option)? else {
        return Ok(None);
    };
    match value.parse() {
        Ok(number) if number > 0 => Ok(Some(number)),
        _ => bail!("{option} needs a number above 0, not `{value}`"),
    }
}

fn nothing_left(arguments: &[String]) -> Result<()> {
    match arguments.first() {
        Some(unknown) => bail!("can't make sense of `{unknown}`\n\n{HELP}"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_are_taken_from_anywhere() {
        let mut arguments = words("docs --keep --seeds 12");
        assert!(take_flag(&mut arguments, "--keep"));
        assert!(!take_flag(&mut arguments, "--keep"));
        assert_eq!(take_number(&mut arguments, "--seeds").unwrap(), Some(12));
        assert_eq!(arguments, ["docs"]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for wrong in [
            "",
            "tset",
            "test --fast",
            "check tray",
            "soak --seeds",
            "soak --seeds 0",
            "demo a b",
        ] {
            assert!(command(words(wrong)).is_err(), "{wrong:?}");
        }
    }
}
