//! `cairn sync`: a look at both sides, now.

use crate::app::App;
use crate::failure::{CommandResult, Exit, Failure};
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
    let paused = match folder {
        Some(_) => Vec::new(),
        None => paused_folders(&client.send(typed::Status {}).await?),
    };
    for local in &paused {
        let command = format!("cairn resume {}", shell_word(local));
        app.out.note(format_args!(
            "{} is paused and is left out: run `{}` to sync it, too",
            clean(local),
            clean(&command)
        ));
    }
    app.out
        .line("Looking for changes. `cairn status --wait` returns when everything is in sync.");
    app.out
        .json(&json!({ "rescan": true, "folder": folder, "paused": paused }));
    Ok(())
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
