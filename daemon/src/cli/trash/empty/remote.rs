//! The service's trash.

use super::Args;
use crate::app::App;
use crate::failure::{CommandResult, Context as _};
use crate::output::text::{clean, count, size};
use crate::remote::{Remote, Within};
use cairn_api::ApiError;
use cairn_space::TrashSizes;
use serde_json::json;

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let remote = Remote::open(
        app,
        &Within {
            team: args.team.clone(),
        },
    )
    .await?;
    let nodes = remote
        .api
        .trash()
        .await
        .context("list the service's trash")?;
    let sizes = TrashSizes::read(&remote.api, &nodes, nodes.len() as u64).await;
    for node in &nodes {
        app.out.line(format_args!("  {}", clean(&node.name)));
    }
    app.out.line(format_args!(
        "{}{} in the service's trash, {}.",
        if sizes.is_complete { "" } else { "At least " },
        count(sizes.total.items, "item"),
        size(sizes.total.bytes)
    ));
    let (mut deleted, mut deleted_items) = (Vec::new(), 0);
    if !args.dry_run && !nodes.is_empty() {
        super::confirm(&args)?;
        // One by one: what comes to the trash meanwhile was not shown to anybody.
        for node in &nodes {
            match remote.api.purge_node(node.id).await {
                Ok(()) => {
                    deleted.push(node.id);
                    deleted_items += sizes.of(node).items;
                }
                // It was taken out, or is gone already.
                Err(ApiError::NotFound { .. } | ApiError::Gone { .. }) => {}
                Err(error) => {
                    return Err(error).context(format_args!("delete {} for good", node.name));
                }
            }
        }
        app.out.line(format_args!(
            "{} deleted for good.",
            count(deleted_items, "item")
        ));
    }
    let found: Vec<_> = nodes
        .iter()
        .map(|node| {
            let all = sizes.of(node);
            json!({ "id": node.id, "name": node.name, "items": all.items, "bytes": all.bytes })
        })
        .collect();
    app.out
        .json(&json!({ "found": found, "deleted": deleted, "dry_run": args.dry_run }));
    Ok(())
}
