//! The trash on this disk.

use super::Args;
use crate::app::App;
use crate::cli::trash::rows;
use crate::failure::CommandResult;
use crate::folders::trash;
use crate::output::text::{clean, count, size};
use cairn_control::{Trashed, typed};
use cairn_index::FolderRow;
use cairn_platform::RealDisk;
use serde_json::json;
use std::collections::BTreeSet;

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
        for (row, trashed) in &found {
            delete(app, row, trashed).await?;
        }
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

/// Deletes what was trashed at the times that were listed; what came in a later second stays.
async fn delete(app: &App, row: &FolderRow, trashed: &[Trashed]) -> CommandResult {
    let times: BTreeSet<String> = trashed
        .iter()
        .filter_map(|one| one.id.split_once('/'))
        .map(|(time, _)| time.to_owned())
        .collect();
    let Some(client) = app.running_daemon().await? else {
        return trash::delete(&RealDisk::new(), row, &times);
    };
    let folder = row.root.clone();
    client.send(typed::DeleteTrashed { folder, times }).await?;
    Ok(())
}
