//! `cairn resume`: ends a pause.

use crate::app::App;
use crate::failure::CommandResult;
use crate::local_path;
use cairn_control::typed;
use serde_json::json;
use std::path::PathBuf;

/// Resume syncing after a pause
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Only this folder
    folder: Option<PathBuf>,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let folder = args.folder.as_deref().map(local_path::folder).transpose()?;
    app.daemon()
        .await?
        .send(typed::Resume {
            folder: folder.clone(),
        })
        .await?;
    app.out.line(format_args!(
        "{} is resumed.",
        folder.as_deref().unwrap_or("Syncing")
    ));
    app.out.json(&json!({ "paused": false, "folder": folder }));
    Ok(())
}
