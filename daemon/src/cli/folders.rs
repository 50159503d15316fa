//! `cairn folders`: the pairs of this device, and the disks that they are on.

use crate::app::App;
use crate::cli::status_lines::NO_FOLDER;
use crate::config::Config;
use crate::failure::{CommandResult, Context as _};
use crate::folders::pairs::{self, Pair};
use crate::folders::spaces;
use crate::local_path;
use crate::output::table::{Align, Table};
use crate::output::text::{clean, size};
use cairn_control::{Folder, FolderStatus, typed};
use cairn_model::{DeletionGate, SyncState};
use serde_json::{Value, json};
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
    let chosen = choices(app).await?;
    let mut columns = vec![
        ("LOCAL", Align::Name),
        ("REMOTE", Align::Name),
        ("MODE", Align::Left),
        ("STATE", Align::Left),
        ("FILES", Align::Right),
        ("SIZE", Align::Right),
    ];
    let has_teams = folders.iter().any(|folder| folder.space.is_some());
    if has_teams {
        columns.push(("SPACE", Align::Left));
    }
    let mut table = Table::new(&columns);
    for folder in &folders {
        let state = if running {
            super::status_lines::word(folder.state)
        } else {
            "not running"
        };
        let mut row = vec![
            folder.local.clone(),
            folder.remote.clone(),
            folder.mode.to_string(),
            state.to_owned(),
            folder.files.to_string(),
            size(folder.bytes),
        ];
        if has_teams {
            let team = folder.space.as_ref();
            row.push(team.map_or_else(|| "your own".to_owned(), |team| team.name.clone()));
        }
        table.row(row);
    }
    table.print(&app.out, NO_FOLDER);
    let usual = |_| Some(DeletionGate::default());
    let default_gate = Config::load(&app.home).map_or_else(usual, |config| config.deletion_gate);
    for choice in &chosen {
        for line in choice_lines(choice, default_gate) {
            app.out.line(clean(&line));
        }
    }
    let folders: Vec<Value> = folders.iter().map(|f| document(f, &chosen)).collect();
    app.out
        .json(&json!({ "folders": folders, "running": running }));
    Ok(())
}

/// Returns what a person chose for each pair.
async fn choices(app: &App) -> CommandResult<Vec<Folder>> {
    if let Some(client) = app.running_daemon().await? {
        return Ok(client.send(typed::Folders {}).await?);
    }
    let pairs = pairs::list(&spaces::open_usable(&app.home)?.0)?;
    Ok(pairs.iter().map(Pair::to_control).collect())
}

/// Returns the choices for a pair that are not the usual ones, each in a line.
fn choice_lines(folder: &Folder, default_gate: Option<DeletionGate>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut add = |what: &str| lines.push(format!("{}: {what}", folder.local));
    if !folder.only.is_empty() {
        add(&format!("only {}", folder.only.join(", ")));
    }
    if !folder.exclude.is_empty() {
        add(&format!("without {}", folder.exclude.join(", ")));
    }
    if folder.gate != default_gate {
        add(&match folder.gate {
            Some(gate) => format!(
                "deletions of more than {}% of the files, and at least {}, or of {}, wait for `cairn confirm`",
                gate.percent, gate.files, gate.most
            ),
            None => "deletions never wait for `cairn confirm`".to_owned(),
        });
    }
    lines
}

/// Returns a pair as a document, with what a person chose for it.
fn document(folder: &FolderStatus, chosen: &[Folder]) -> Value {
    let mut document = json!(folder);
    let choice = chosen.iter().find(|choice| choice.local == folder.local);
    if let (Some(fields), Some(choice)) = (document.as_object_mut(), choice) {
        fields.insert("only".to_owned(), json!(choice.only));
        fields.insert("exclude".to_owned(), json!(choice.exclude));
        fields.insert("gate".to_owned(), json!(choice.gate));
    }
    document
}

/// Reads the folders from the index while no daemon runs: nothing moves, so nothing is in sync for
/// sure.
fn from_files(app: &App) -> CommandResult<Vec<FolderStatus>> {
    let pairs = pairs::list(&spaces::open_noting(app)?)?;
    let folders = pairs.into_iter().map(|Pair { space, index, row }| {
        let (files, bytes) = index.read(|db| db.local_totals(row.id))?;
        Ok(FolderStatus {
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
            space,
            ..FolderStatus::default()
        })
    });
    folders.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::SyncMode;

    #[test]
    fn what_was_chosen_for_a_pair_is_shown_where_it_is_not_the_usual() {
        let usual = Some(DeletionGate::default());
        let folder = Folder {
            local: "/f".into(),
            remote: "/f".into(),
            mode: SyncMode::TwoWay,
            exclude: vec!["*.tmp".into()],
            only: vec!["a".into(), "b/c".into()],
            gate: None,
            space: None,
        };
        let lines = choice_lines(&folder, usual);
        assert_eq!(
            lines,
            [
                "/f: only a, b/c",
                "/f: without *.tmp",
                "/f: deletions never wait for `cairn confirm`",
            ]
        );
        let status = FolderStatus {
            local: "/f".into(),
            ..FolderStatus::default()
        };
        let shown = document(&status, std::slice::from_ref(&folder));
        assert_eq!(shown["only"], json!(["a", "b/c"]));
        assert_eq!(
            (&shown["exclude"], &shown["gate"]),
            (&json!(["*.tmp"]), &Value::Null)
        );
        let plain = Folder {
            exclude: Vec::new(),
            only: Vec::new(),
            gate: usual,
            ..folder
        };
        assert_eq!(choice_lines(&plain, usual), [""; 0]);
    }
}
