//! The trash on this disk.

use super::Args;
use crate::app::App;
use crate::cli::trash::rows;
use crate::failure::{CommandResult, Failure};
use crate::folders::trash;
use crate::output::text::{clean, count, size};
use cairn_control::{Trashed, typed};
use cairn_index::FolderRow;
use cairn_platform::RealDisk;
use serde_json::json;
use std::collections::BTreeSet;

/// A request to the daemon stays far below the longest that it takes.
const IDS_AT_ONCE: usize = 1_000;

pub(super) async fn run(app: &App, args: &Args) -> CommandResult {
    let mut found = Vec::new();
    for row in rows(app, args.folder.as_deref())? {
        let trashed = trash::list(&RealDisk::new(), &row)?;
        if !trashed.is_empty() {
            found.push((row, trashed));
        }
    }
    let all: Vec<&Trashed> = found.iter().flat_map(|(_, trashed)| trashed).collect();
    for one in &all {
        app.out.line(format_args!("  {}", clean(&one.id)));
    }
    app.out.line(format_args!(
        "{} in the local trash, {}.",
        count(all.len() as u64, "item"),
        size(all.iter().map(|one| one.bytes).sum())
    ));
    let deletes = !args.dry_run && !all.is_empty();
    if deletes {
        super::confirm(args)?;
        let mut result = Ok(());
        for (row, trashed) in &found {
            // A failure in one folder keeps nothing in the others.
            result = result.and(delete(app, row, trashed).await);
        }
        result?;
        app.out.line(format_args!(
            "{} deleted for good.",
            count(all.len() as u64, "item")
        ));
    }
    let deleted: Vec<&str> = all.iter().map(|one| one.id.as_str()).collect();
    app.out.json(&json!({
        "found": all,
        "deleted": if deletes { deleted } else { Vec::new() },
        "dry_run": args.dry_run,
    }));
    Ok(())
}

/// Deletes what was listed; what came since stays.
async fn delete(app: &App, row: &FolderRow, trashed: &[Trashed]) -> CommandResult {
    let client = app.running_daemon().await?;
    let mut result = Ok(());
    // From the last: what is in a folder goes before it.
    for part in trashed.rchunks(IDS_AT_ONCE) {
        let ids: BTreeSet<String> = part.iter().map(|one| one.id.clone()).collect();
        let deleted = match &client {
            None => trash::delete(&RealDisk::new(), row, &ids),
            Some(client) => {
                let folder = row.root.clone();
                let sent = client.send(typed::DeleteTrashed { folder, ids }).await;
                sent.map(drop).map_err(Failure::from)
            }
        };
        // A failure in one part keeps nothing in the others.
        result = result.and(deleted);
    }
    result
}
