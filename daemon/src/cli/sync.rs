//! `cairn sync`: a look at both sides, now.

use crate::app::App;
use crate::failure::{CommandResult, Exit, Failure};
use crate::local_path;
use cairn_control::{ControlError, typed};
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
    app.out
        .line("Looking for changes. `cairn status --wait` returns when everything is in sync.");
    app.out.json(&json!({ "rescan": true, "folder": folder }));
    Ok(())
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
