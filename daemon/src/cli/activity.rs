//! `cairn activity`: what happened, newest last, and what happens.

use crate::app::App;
use crate::cli::number::at_least_one;
use crate::cli::watch;
use crate::failure::CommandResult;
use cairn_control::{ActivityList, typed};

/// Show what happened to files
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Show what happens from now on, until Ctrl-C; with --json one document a line
    #[arg(long)]
    follow: bool,
    /// Number of entries
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 50, value_parser = at_least_one)]
    limit: u64,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let client = app.daemon().await?;
    if args.follow {
        return watch::activity(app, &client).await;
    }
    let limit = u32::try_from(args.limit).unwrap_or(u32::MAX);
    let list: ActivityList = client.send(typed::Activity { limit }).await?;
    if list.events.is_empty() {
        app.out.line("Nothing has happened yet.");
    }
    for activity in list.events.iter().rev() {
        app.out.line(watch::activity_line(app, activity));
    }
    app.out.json(&list);
    Ok(())
}
