//! `cairn folders`: the pairs of this device.

use crate::app::App;
use crate::failure::Outcome;
use crate::folders::open_index;
use crate::output::table::{Align, Table};
use crate::output::text::size;
use cairn_control::{FolderStatus, typed};
use cairn_model::SyncState;
use serde_json::json;

/// Show the folders that are synced
#[derive(clap::Args, Debug)]
pub(super) struct Args {}

pub(super) async fn run(app: &App, _: Args) -> Outcome {
    let (folders, running) = match app.running().await? {
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
            super::watch::word(folder.state)
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
fn from_files(app: &App) -> Outcome<Vec<FolderStatus>> {
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
