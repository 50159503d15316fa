//! The trash of this device and that of the server, and the way back out of them.

use super::context::{Commands, local_text};
use crate::program::{ProgramError, Run};
use cairn_control::typed;
use cairn_model::Kind;
use serde::{Deserialize, Serialize};
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

pub(super) async fn list_local(commands: &Commands) -> Result<Vec<LocalTrashed>, ProgramError> {
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
) -> Result<String, ProgramError> {
    let restored = commands
        .request(typed::RestoreTrashed { folder, id })
        .await?;
    Ok(restored.path)
}

pub(super) async fn list_remote(commands: &Commands) -> Result<Vec<RemoteTrashed>, ProgramError> {
    #[derive(Deserialize)]
    struct Document {
        trashed: Vec<Trashed>,
    }
    #[derive(Deserialize)]
    struct Trashed {
        id: String,
        name: String,
        kind: Kind,
        at: String,
        bytes: u64,
    }
    let run = Run::of(["trash", "list", "--remote"]);
    let found: Document = commands.document(run).await?;
    let mut trashed: Vec<_> = found
        .trashed
        .into_iter()
        .map(|one| RemoteTrashed {
            id: one.id,
            name: one.name,
            is_folder: one.kind == Kind::Folder,
            at: one.at,
            bytes: one.bytes,
        })
        .collect();
    trashed.sort_by(|a, b| b.at.cmp(&a.at));
    Ok(trashed)
}

/// Takes something out of the server's trash. Returns its path there, with another name where its own is
/// in use by now.
pub(super) async fn restore_remote(
    commands: &Commands,
    id: String,
) -> Result<String, ProgramError> {
    let run = Run::of(["trash", "restore", "--remote", "--", &id]);
    path_of(commands, run).await
}

/// Brings back what was deleted last under a path of a synced folder. Returns its path on the service.
pub(super) async fn restore_deleted(
    commands: &Commands,
    folder: String,
    path: String,
) -> Result<String, ProgramError> {
    let path = local_text(&folder, &path)?;
    path_of(commands, Run::of(["restore", "--", &path])).await
}

/// Runs the program and returns the path in its document.
async fn path_of(commands: &Commands, run: Run) -> Result<String, ProgramError> {
    #[derive(Deserialize)]
    struct Document {
        path: String,
    }
    let restored: Document = commands.document(run).await?;
    Ok(restored.path)
}
