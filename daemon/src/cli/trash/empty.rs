//! `cairn trash empty`: what is in the service's trash, deleted for good.

use crate::app::App;
use crate::cli::prompt;
use crate::failure::{CommandResult, Context as _, Exit, Failure};
use crate::output::text::{clean, count, size};
use crate::remote::{Remote, Within};
use cairn_api::ApiError;
use serde_json::json;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The service's trash: that on this disk empties by itself
    #[arg(long, required = true)]
    remote: bool,
    /// The trash of a team's space: the team's name or id
    #[arg(long, value_name = "TEAM")]
    team: Option<String>,
    /// Only show what would be deleted
    #[arg(long)]
    dry_run: bool,
    /// Don't ask
    #[arg(long)]
    yes: bool,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let remote = Remote::open(app, &Within { team: args.team }).await?;
    let nodes = remote
        .api
        .trash()
        .await
        .context("list the service's trash")?;
    let bytes = nodes.iter().map(|node| node.size).sum();
    for node in &nodes {
        app.out.line(format_args!("  {}", clean(&node.name)));
    }
    app.out.line(format_args!(
        "{} in the service's trash, {}.",
        count(nodes.len() as u64, "item"),
        size(bytes)
    ));
    let mut deleted = Vec::new();
    if !args.dry_run && !nodes.is_empty() {
        if !args.yes
            && !prompt::confirm("Delete all of it for good? Nothing brings it back. [y/N] ")?
        {
            return Err(Failure::new(
                Exit::Decision,
                "nothing was deleted: add --yes to delete it for good, or --dry-run to see it only",
            ));
        }
        // One by one: what comes to the trash meanwhile was not shown to anybody.
        for node in &nodes {
            match remote.api.purge_node(node.id).await {
                Ok(()) => deleted.push(node.id),
                // It was taken out, or is gone already.
                Err(ApiError::NotFound { .. } | ApiError::Gone { .. }) => {}
                Err(error) => {
                    return Err(error).context(format_args!("delete {} for good", node.name));
                }
            }
        }
        app.out.line(format_args!(
            "{} deleted for good.",
            count(deleted.len() as u64, "item")
        ));
    }
    let found: Vec<_> = nodes
        .iter()
        .map(|node| json!({ "id": node.id, "name": node.name, "bytes": node.size }))
        .collect();
    app.out
        .json(&json!({ "found": found, "deleted": deleted, "dry_run": args.dry_run }));
    Ok(())
}
