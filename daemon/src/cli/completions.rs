//! `cairn completions`: scripts that let a shell complete commands and flags.

use crate::app::App;
use crate::cli::Cli;
use crate::failure::CommandResult;
use clap::CommandFactory as _;
use clap_complete::Shell;
use serde_json::json;

/// Print a script for your shell's completion
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(app: &App, args: Args) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "cairn", &mut script);
    let script = String::from_utf8_lossy(&script);
    if app.out.json {
        let shell = args.shell.to_string();
        app.out.json(&json!({ "shell": shell, "script": script }));
    } else {
        app.out.raw(&script);
    }
    Ok(())
}
