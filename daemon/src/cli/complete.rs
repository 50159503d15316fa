//! `cairn complete`: what could stand at the cursor of a command line, for the scripts of `cairn completions`.
//!
//! Names of commands and options the scripts know themselves; this finds what only the account, the daemon or
//! the disk knows. A failure gives nothing: a person who presses a key wants no error.

mod found;
mod slot;

use crate::app::App;
use crate::cli::Cli;
use crate::failure::CommandResult;
use clap::CommandFactory as _;
use serde_json::json;
use std::time::Duration;

/// A longer wait at a key press is worse than no suggestion.
const LIMIT: Duration = Duration::from_secs(3);

/// Print what could stand at the end of a command line
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The words of the command line up to the cursor, the program's name first
    #[arg(last = true)]
    words: Vec<String>,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let mut definition = Cli::command();
    // Hands the options for every command to each of them.
    definition.build();
    let found = match slot::at_cursor(&definition, &args.words) {
        Some(slot) => tokio::time::timeout(LIMIT, found::candidates(app, &slot))
            .await
            .unwrap_or_default(),
        None => Vec::new(),
    };
    for one in &found {
        app.out.line(one);
    }
    app.out.json(&json!({ "candidates": found }));
    Ok(())
}
