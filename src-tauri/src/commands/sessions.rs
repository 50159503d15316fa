//! Changes that commands on this device and assistants made on the service, and taking them back.

use super::context::Commands;
use crate::program::{ProgramError, Run};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A command or an assistant's session whose changes can be taken back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
pub struct SessionView {
    #[serde(rename(deserialize = "session"))]
    pub id: String,
    pub by: SessionBy,
    /// RFC 3339 in UTC.
    pub at: String,
    /// The command without the program's name.
    pub command: String,
    pub changes: u64,
}

/// The maker of changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SessionBy {
    Assistant,
    Command,
}

/// The effect of taking a session back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
pub struct UndoPreview {
    /// The numbers by kind; absent for a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub counts: Option<UndoCounts>,
    /// A line for each change of a command that would be taken back, and for each that would stay.
    #[serde(default)]
    pub taken_back: Vec<String>,
    #[serde(default)]
    pub left: Vec<String>,
}

/// The numbers of an assistant's changes, by what taking them back does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
pub struct UndoCounts {
    /// Files and empty folders that go to the trash.
    pub trashed_items: u64,
    /// Folders that go to the trash with all that is in them.
    pub trashed_trees: u64,
    pub restored: u64,
    pub moved: u64,
    pub contents: u64,
    pub details: u64,
    pub links_deleted: u64,
    pub links_changed: u64,
    /// Changes of links that stay.
    pub links_left: u64,
}

pub(super) async fn list(commands: &Commands) -> Result<Vec<SessionView>, ProgramError> {
    #[derive(Deserialize)]
    struct Document {
        sessions: Vec<SessionView>,
    }
    let found: Document = commands.document(Run::of(["undo", "--list"])).await?;
    Ok(found.sessions)
}

/// Returns what an undo would do; nothing is done.
pub(super) async fn preview(
    commands: &Commands,
    session: String,
) -> Result<UndoPreview, ProgramError> {
    let session = format!("--session={session}");
    let run = Run::of(["undo", &session, "--dry-run"]);
    commands.document(run).await
}

/// Takes a session, or a rewind, back. Returns what could not be taken back, each with its reason.
pub(super) async fn undo(
    commands: &Commands,
    session: String,
) -> Result<Vec<String>, ProgramError> {
    #[derive(Deserialize)]
    struct Document {
        #[serde(default)]
        left: Vec<String>,
    }
    let session = format!("--session={session}");
    let run = Run::of(["undo", &session, "--yes"]);
    let done: Document = commands.document(run).await?;
    Ok(done.left)
}
