//! `cairn folders`: the pairs of this device, and the disks that they are on.

use crate::app::App;
use crate::failure::{CommandResult, Context as _};
use crate::folders::open_index;
use crate::local_path;
use crate::output::table::{Align, Table};
use crate::output::text::size;
use cairn_control::{FolderStatus, typed};
use cairn_model::SyncState;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Show the folders that are synced
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Accept another disk in place of one that is missing
    ///
    /// A folder, or a directory in it, whose disk is gone or was replaced waits: nothing is deleted for it.
    /// This syncs the directory with its present content instead. Nothing is deleted here or on the service:
    /// what only one side has is copied to the other.
    AcceptDisk {
        /// The folder or directory, as `cairn status` names it
        path: PathBuf,
    },
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    match args.action {
        Some(Action::AcceptDisk { path }) => accept_disk(app, &path).await,
        None => list(app).await,
    }
}

async fn accept_disk(app: &App, path: &Path) -> CommandResult {
    let path = local_path::folder(path)?;
    let request = typed::AcceptDisk { path: path.clone() };
    app.daemon()
        .await?
        .send(request)
        .await
        .context(format_args!("accept the disk at {path}"))?;
    app.out.line(format_args!(
        "{path} is synced with its present content; what is missing there is downloaded again from the service."
    ));
    app.out.json(&json!({ "accepted": path }));
    Ok(())
}

async fn list(app: &App) -> CommandResult {
    let (folders, running) = match app.running_daemon().await? {
        Some(client) => (client.send(typed::Status {}).await?.folders, true),
        None => (from_files(app)?, false),
    };
    let mut table = Table::new(&[
        ("LOCAL", Align::Left),
        ("REMOTE", Align::Left),
        ("MODE", Align::Left),
        ("STATE", Align::Left),
        ("FILES", Align::Right),
        ("SIZE", Align::Right),
    ]);
    for folder in &folders {
        let state = if running {
            super::status_lines::word(folder.state)
        } else {
            "not running"
        };
        table.row([
            folder.local.clone(),
            folder.remote.clone(),
            folder.mode.to_string(),
            state.to_owned(),
            folder.files.to_string(),
            size(folder.bytes),
        ]);
    }
    table.print(
        &app.out,
        "No folder is synced yet: add one with `cairn add FOLDER`.",
    );
    app.out
        .json(&json!({ "folders": folders, "running": running }));
    Ok(())
}

/// Reads the folders from the index while no daemon runs: nothing moves, so nothing is in sync for
/// sure.
fn from_files(app: &App) -> CommandResult<Vec<FolderStatus>> {
    let (index, _) = open_index(&app.home)?;
    Ok(index.read(|db| {
        let mut folders = Vec::new();
        for row in db.folders()? {
            let (files, bytes) = db.local_totals(row.id)?;
            folders.push(FolderStatus {
                local: row.root,
                remote: row.remote_path,
                state: if row.settings.paused {
                    SyncState::Paused
                } else {
                    SyncState::Offline
                },
                mode: row.settings.mode,
                files,
                bytes,
                ..FolderStatus::default()
            });
        }
        Ok(folders)
    })?)
}
