//! `cairn trash empty`: what is in a trash, deleted for good.

mod local;
mod remote;

use crate::app::App;
use crate::cli::prompt;
use crate::failure::{CommandResult, Exit, Failure};
use std::path::PathBuf;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Only this folder's
    folder: Option<PathBuf>,
    /// The service's trash
    #[arg(long, conflicts_with = "folder")]
    remote: bool,
    /// The trash of a team's space: the team's name or id
    #[arg(long, value_name = "TEAM", requires = "remote")]
    team: Option<String>,
    /// Only show what would be deleted
    #[arg(long)]
    dry_run: bool,
    /// Don't ask
    #[arg(long)]
    yes: bool,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    match args.remote {
        true => remote::run(app, args).await,
        false => local::run(app, &args).await,
    }
}

/// Asks whether what was listed is to be deleted for good.
///
/// # Errors
/// [`Exit::Decision`] if it is not.
fn confirm(args: &Args) -> CommandResult {
    if args.yes || prompt::confirm("Delete all of it for good? Nothing brings it back. [y/N] ")? {
        return Ok(());
    }
    Err(Failure::new(
        Exit::Decision,
        "nothing was deleted: add --yes to delete it for good, or --dry-run to see it only",
    ))
}
