//! The trash of this device and that of the server, and the way back out of them.

use super::context::{Commands, local_text};
use crate::program::{Fault, Run};
use cairn_control::typed;
use serde::Serialize;
use serde_json::Value;
use ts_rs::TS;

/// Something in the trash of this device.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct LocalTrashed {
    /// Names it for a restore.
    pub id: String,
    /// The local folder.
    pub folder: String,
    /// The path that it had, below the folder.
    pub path: String,
    /// RFC 3339 in UTC.
    pub at: String,
    pub bytes: u64,
}

/// Something in the trash of the server.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct RemoteTrashed {
    pub id: String,
    pub name: String,
    pub is_folder: bool,
    /// RFC 3339 in UTC.
    pub at: String,
    pub bytes: u64,
}

pub(super) async fn local(commands: &Commands) -> Result<Vec<LocalTrashed>, Fault> {
    let list = commands.request(typed::Trash { folder: None }).await?;
    let mut trashed: Vec<_> = list
        .trashed
        .into_iter()
        .map(|one| LocalTrashed {
            id: one.id,
            folder: one.folder,
            path: one.path,
            at: one.at,
            bytes: one.bytes,
        })
        .collect();
    trashed.sort_by(|a, b| b.at.cmp(&a.at));
    Ok(trashed)
}

/// Puts something back where it was on this device. Returns its path below the folder.
pub(super) async fn restore_local(
    commands: &Commands,
    folder: String,
    id: String,
) -> Result<String, Fault> {
    let restored = commands
        .request(typed::RestoreTrashed { folder, id })
        .await?;
    Ok(restored.path)
}

pub(super) async fn remote(commands: &Commands) -> Result<Vec<RemoteTrashed>, Fault> {
    let document = commands.run(Run::of(["trash", "list", "--remote"])).await?;
    let trashed = document["trashed"].as_array().cloned().unwrap_or_default();
    let mut trashed: Vec<_> = trashed.iter().map(remote_trashed).collect();
    trashed.sort_by(|a, b| b.at.cmp(&a.at));
    Ok(trashed)
}

fn remote_trashed(one: &Value) -> RemoteTrashed {
    let text = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
    RemoteTrashed {
        id: text("id"),
        name: text("name"),
        is_folder: one["kind"] == "folder",
        at: text("at"),
        bytes: one["bytes"].as_u64().unwrap_or(0),
    }
}

/// Takes something out of the server's trash. Returns its path there, with another name where its own is
/// in use by now.
pub(super) async fn restore_remote(commands: &Commands, id: String) -> Result<String, Fault> {
    let run = Run::of(["trash", "restore", "--remote", "--", &id]);
    path_of(&commands.run(run).await?)
}

/// Brings back what was deleted last under a path of a synced folder. Returns its path on the service.
pub(super) async fn restore_deleted(
    commands: &Commands,
    folder: String,
    path: String,
) -> Result<String, Fault> {
    let path = local_text(&folder, &path)?;
    path_of(&commands.run(Run::of(["restore", "--", &path])).await?)
}

fn path_of(document: &Value) -> Result<String, Fault> {
    document["path"].as_str().map(str::to_owned).ok_or_else(|| {
        Fault::failed("can't read the reply of the cairn program: install Cairn again")
    })
}
