//! `--dry-run`: shows what a command would do, and does nothing.

use crate::app::App;
use crate::failure::CommandResult;
use serde_json::Value;
use std::fmt::Display;

/// The flag of commands that can show what they would do.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(super) struct DryRun {
    /// Only show what would be done
    #[arg(long = "dry-run")]
    pub(super) is_wanted: bool,
}

/// Shows what would be done: a line for people, and a document that says that nothing was.
pub(super) fn show(app: &App, line: impl Display, mut document: Value) -> CommandResult {
    document["dry_run"] = true.into();
    app.out.line(line);
    app.out.json(&document);
    Ok(())
}
