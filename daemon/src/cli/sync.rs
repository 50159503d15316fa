//! `cairn sync`: a look at both sides, now.

use crate::app::App;
use crate::cli::status_lines::NO_FOLDER;
use crate::failure::{CommandResult, Exit, Failure};
use crate::folders::unsynced;
use crate::local_path;
use crate::output::text::{clean, shell_word};
use cairn_control::{ControlError, Status, typed};
use cairn_model::SyncState;
use serde_json::json;
use std::path::PathBuf;

/// Look for changes now, instead of waiting for them to be noticed
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Only this folder
    folder: Option<PathBuf>,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let folder = args.folder.as_deref().map(local_path::folder).transpose()?;
    let client = app.daemon().await?;
    let asked = client.send(typed::SyncNow {
        folder: folder.clone(),
    });
    asked.await.map_err(without_server)?;
    let status = match folder {
        Some(_) => None,
        None => Some(client.send(typed::Status {}).await?),
    };
    let paused = status.as_ref().map(paused_folders).unwrap_or_default();
    let errors = status.as_ref().map(unsynced_folders).unwrap_or_default();
    for local in &paused {
        let command = format!("cairn resume {}", shell_word(local));
        app.out.note(format_args!(
            "{} is paused and is left out: run `{}` to sync it, too",
            clean(local),
            clean(&command)
        ));
    }
    for (_, message) in &errors {
        app.out.note(message);
    }
    app.out.line(match status {
        Some(status) if status.folders.is_empty() => NO_FOLDER,
        Some(_) | None => {
            "Looking for changes. `cairn status --wait` returns when everything is in sync."
        }
    });
    let errors = errors.iter();
    let errors = errors.map(|(local, message)| json!({ "folder": local, "message": message }));
    app.out.json(&json!({
        "rescan": true,
        "folder": folder,
        "paused": paused,
        "errors": errors.collect::<Vec<_>>(),
    }));
    Ok(())
}

/// Lists the folders of which nothing is synced now, each with the reason.
fn unsynced_folders(status: &Status) -> Vec<(String, String)> {
    let folders = status.folders.iter();
    let found = folders.filter_map(|folder| {
        let reason = unsynced::reason(folder)?;
        Some((folder.local.clone(), reason.message))
    });
    found.collect()
}

fn paused_folders(status: &Status) -> Vec<String> {
    let folders = status.folders.iter();
    let paused = folders.filter(|folder| folder.state == SyncState::Paused);
    paused.map(|folder| folder.local.clone()).collect()
}

/// Adds what becomes of local changes, where the server can't be reached.
fn without_server(error: ControlError) -> Failure {
    let failure = Failure::from(error);
    if failure.exit != Exit::Offline {
        return failure;
    }
    Failure::new(
        Exit::Offline,
        format!(
            "only this machine was looked at for changes, which are sent later: {}",
            failure.message
        ),
    )
}
