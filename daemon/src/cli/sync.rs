//! `cairn sync`: a look at both sides, now.

use crate::app::App;
use crate::failure::CommandResult;
use crate::local_path;
use cairn_control::typed;
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
    let rescan = typed::Rescan {
        folder: folder.clone(),
    };
    client.send(rescan).await?;
    let status = client.send(typed::Status {}).await?;
    if status.state == SyncState::Offline {
        app.out.note(
            "the server can't be reached: local changes are noted and sync when it responds again",
        );
    }
    app.out
        .line("Looking for changes. `cairn status --wait` returns when everything is in sync.");
    app.out.json(&json!({ "rescan": true, "folder": folder }));
    Ok(())
}
