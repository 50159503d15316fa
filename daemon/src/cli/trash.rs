//! `cairn trash`: the local trash (what sync removed on this disk), and the trash of the service.

mod empty;

use crate::app::App;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::folders::{pairs, spaces, trash};
use crate::local_path;
use crate::output::table::{Align, Table};
use crate::output::text::{clean, local_rfc3339, local_time, size};
use crate::remote::{Remote, Within, verification};
use cairn_control::{TrashedList, typed};
use cairn_model::NodeId;
use cairn_platform::RealDisk;
use cairn_space::TrashSizes;
use serde_json::json;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Show or restore what was deleted
///
/// Files that sync removes or overwrites on this disk are kept for 30 days in .cairn-trash at the root
/// of its folder. The oldest goes earlier, but not within a day, where the trash takes more than a third
/// of the free space or a download needs it. The service has a trash of its own, reached with --remote.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Show its content, newest first
    List {
        /// Only this folder's
        folder: Option<PathBuf>,
        /// The service's trash
        #[arg(long, conflicts_with = "folder")]
        remote: bool,
        /// In the trash of a team's space: its name or id
        #[arg(long, value_name = "TEAM", requires = "remote")]
        team: Option<String>,
    },
    /// Put something back where it was; never over anything
    Restore {
        /// The ID that `trash list` shows
        id: String,
        /// The folder that it was in, if several are synced
        #[arg(long, value_name = "LOCAL")]
        folder: Option<PathBuf>,
        /// Put it at this path instead, on the same file system
        #[arg(long, value_name = "PATH", conflicts_with = "remote")]
        to: Option<PathBuf>,
        /// From the service's trash
        #[arg(long, conflicts_with = "folder")]
        remote: bool,
        /// From that of a team's space: its name or id
        #[arg(long, value_name = "TEAM", requires = "remote")]
        team: Option<String>,
    },
    /// Delete for good what is in the trash of this disk, or of the service
    Empty(empty::Args),
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    match args.action {
        Action::List {
            remote: true, team, ..
        } => list_remote(app, team).await,
        Action::List { folder, .. } => list(app, folder.as_deref()),
        Action::Restore {
            id,
            remote: true,
            team,
            ..
        } => restore_remote(app, &id, team).await,
        Action::Empty(args) => empty::run(app, args).await,
        Action::Restore { id, folder, to, .. } => {
            restore(app, &id, folder.as_deref(), to.as_deref()).await
        }
    }
}

fn rows(app: &App, folder: Option<&Path>) -> CommandResult<Vec<cairn_index::FolderRow>> {
    let all = spaces::open_noting(app)?;
    let pairs = match folder {
        Some(path) => vec![pairs::find(&all, &local_path::folder(path)?)?],
        None => pairs::list(&all)?,
    };
    Ok(pairs.into_iter().map(|pair| pair.row).collect())
}

fn list(app: &App, folder: Option<&Path>) -> CommandResult {
    let mut trashed = Vec::new();
    for row in rows(app, folder)? {
        trashed.extend(trash::list(&RealDisk::new(), &row)?);
    }
    let mut table = Table::new(&[
        ("ID", Align::Name),
        ("SIZE", Align::Right),
        ("SINCE", Align::Left),
        ("FOLDER", Align::Name),
    ]);
    for found in &trashed {
        let since = local_rfc3339(&found.at, &app.zone);
        table.row([
            found.id.clone(),
            size(found.bytes),
            since,
            found.folder.clone(),
        ]);
    }
    table.print(&app.out, "The local trash is empty.");
    app.out.json(&TrashedList { trashed });
    Ok(())
}

async fn restore(app: &App, id: &str, folder: Option<&Path>, to: Option<&Path>) -> CommandResult {
    let to = match to {
        Some(to) => Some(local_path::file(to)?),
        None => None,
    };
    let mut holding = Vec::new();
    for row in rows(app, folder)? {
        let found = trash::list(&RealDisk::new(), &row)?.into_iter();
        let meant = found.filter(|trashed| is_meant(&trashed.id, id));
        holding.extend(meant.map(|trashed| (row.clone(), trashed.id)));
    }
    if holding.iter().any(|(_, found)| found == id) {
        holding.retain(|(_, found)| found == id);
    }
    let (row, id) = match holding.as_slice() {
        [one] => one,
        [] => {
            return Err(Failure::usage(format!(
                "`{id}` is not in the local trash: see `cairn trash list`"
            )));
        }
        [(_, one), .., (_, other)] if one != other => {
            return Err(Failure::usage(format!(
                "`{id}` stands for several things in the local trash: `cairn trash list | cat` shows their whole ids"
            )));
        }
        [..] => {
            return Err(Failure::usage(format!(
                "`{id}` is in the trash of several folders: name one with --folder"
            )));
        }
    };
    let restored = trash::restore(&RealDisk::new(), row, id, to.as_deref())?;
    if let Some(client) = app.running_daemon().await? {
        client
            .send(typed::Rescan {
                folder: Some(row.root.clone()),
            })
            .await?;
    }
    let path = clean(&restored.path);
    match to {
        Some(_) => app.out.line(format_args!("It is back as {path}.")),
        None => app
            .out
            .line(format_args!("{path} is back in {}.", restored.folder)),
    }
    app.out.json(&restored);
    Ok(())
}

/// Returns whether a person means this id: the whole of it, or as a narrow terminal shows it.
fn is_meant(id: &str, given: &str) -> bool {
    let ends = given.split_once('…');
    id == given || ends.is_some_and(|(begin, end)| id.starts_with(begin) && id.ends_with(end))
}

async fn list_remote(app: &App, team: Option<String>) -> CommandResult {
    let remote = Remote::open(app, &Within { team }).await?;
    let mut nodes = remote
        .api
        .trash()
        .await
        .context("list the service's trash")?;
    nodes.sort_by_key(|node| Reverse(node.updated_at));
    let mut table = Table::new(&[
        ("ID", Align::Left),
        ("NAME", Align::Name),
        ("SIZE", Align::Right),
        ("SINCE", Align::Left),
        ("FOLDER", Align::Name),
    ]);
    let sizes = TrashSizes::read(&remote.api, &nodes, nodes.len() as u64).await;
    let mut known = HashMap::new();
    let mut trashed = Vec::new();
    for node in &nodes {
        let size_of_all = sizes.of(node);
        // A folder that is gone for good has no path, and keeps nobody from seeing the rest.
        let path = remote.path_of(node, &mut known).await.ok();
        let folder = path.as_deref().and_then(|path| path.rsplit_once('/'));
        let folder = folder.map_or("", |(above, _)| if above.is_empty() { "/" } else { above });
        table.row([
            node.id.to_string(),
            node.name.clone(),
            size(size_of_all.bytes),
            local_time(node.updated_at.0, &app.zone),
            folder.to_owned(),
        ]);
        trashed.push(json!({
            "id": node.id,
            "name": node.name,
            "path": path,
            "kind": node.kind,
            "items": size_of_all.items,
            "bytes": size_of_all.bytes,
            "at": node.updated_at,
        }));
    }
    table.print(&app.out, "The service's trash is empty.");
    if !sizes.is_complete {
        app.out
            .note("folders may have more in them than their sizes say: it is too much to add up");
    }
    app.out
        .json(&json!({ "trashed": trashed, "complete": sizes.is_complete }));
    Ok(())
}

async fn restore_remote(app: &App, id: &str, team: Option<String>) -> CommandResult {
    let id: NodeId = id.parse().map_err(|_| {
        Failure::usage(format!(
            "`{id}` is not a valid id: see `cairn trash list --remote`"
        ))
    })?;
    let remote = Remote::open(app, &Within { team }).await?;
    let trashed = remote
        .space
        .node(id)
        .await
        .context(format_args!("restore {id}"))?;
    let back = remote.restore_node(&trashed).await?;
    let node = back.node;
    let path = remote.path_of(&node, &mut Default::default()).await?;
    app.out
        .line(format_args!("{} is back on the service.", clean(&path)));
    let folders = remote
        .note_place(app, &trashed, &node, &back.folders)
        .await?;
    verification::note_restored(app, &remote.space, &node, &path);
    app.out
        .json(&json!({ "id": node.id, "path": path, "folders_made": folders }));
    Ok(())
}
