//! Activity on this device, the past of a folder on the service, and the way back there.

use super::context::{Commands, local_text};
use crate::program::{Fault, Run};
use crate::view::{self, ActivityView};
use cairn_control::typed;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// Events of one page of a folder's past.
const PAGE: u64 = 2_000;
/// Paths of one kind that a plan shows; their number is always told.
const SHOWN: usize = 50;

/// The kind of an event in the past of a file or folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PastKind {
    Created,
    /// A file got another content.
    Version,
    Moved,
    Changed,
    Deleted,
}

/// Something that happened to a file or folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
pub struct PastEvent {
    /// RFC 3339 in UTC.
    pub at: String,
    pub kind: PastKind,
    /// The path on the service that it had then.
    pub path: String,
    /// For a move: the path before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub from: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub device: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub bytes: Option<u64>,
}

/// One page of the past, the newest first.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
pub struct PastPage {
    pub events: Vec<PastEvent>,
    pub page: u64,
    pub pages: u64,
}

/// Something that stays as it is, with the reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
pub struct LeftAsItIs {
    pub path: String,
    pub message: String,
}

/// The changes that make a folder what it was. Of each list, only the beginning is here.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct RewindPlan {
    /// Files that come out of the trash.
    pub files_back: u64,
    /// Files that go to the trash.
    pub files_trashed: u64,
    /// Files that get an earlier content.
    pub files_changed: u64,
    /// Items that go back to where they were.
    pub moved: u64,
    pub back: Vec<String>,
    pub trash: Vec<String>,
    pub changed: Vec<String>,
    pub moves: Vec<String>,
    pub incomplete: Vec<LeftAsItIs>,
}

/// A rewind: its plan, and what came of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct RewindView {
    pub plan: RewindPlan,
    /// Names it for an undo; absent if nothing was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub session: Option<String>,
    /// Items that could not be made what they were.
    pub failed: Vec<LeftAsItIs>,
}

pub(super) async fn activity(commands: &Commands, limit: u32) -> Result<Vec<ActivityView>, Fault> {
    let list = commands.request(typed::Activity { limit }).await?;
    Ok(list.events.iter().map(view::activity).collect())
}

pub(super) async fn past(
    commands: &Commands,
    folder: String,
    path: String,
    page: u64,
) -> Result<PastPage, Fault> {
    let path = local_text(&folder, &path)?;
    let (limit, page) = (format!("--limit={PAGE}"), format!("--page={page}"));
    let run = Run::of(["history", &limit, &page, "--", &path]);
    read(commands.run(run).await?)
}

/// Makes a folder or file what it was at a time; a dry run returns the plan alone.
pub(super) async fn rewind(
    commands: &Commands,
    folder: String,
    path: String,
    at: String,
    dry_run: bool,
) -> Result<RewindView, Fault> {
    let path = local_text(&folder, &path)?;
    let how = if dry_run { "--dry-run" } else { "--yes" };
    let to = format!("--to={at}");
    let document = commands
        .run(Run::of(["rewind", &to, how, "--", &path]))
        .await?;
    Ok(RewindView {
        plan: plan(&document["plan"])?,
        session: document["session"].as_str().map(str::to_owned),
        failed: optional(&document["done"]["failed"])?,
    })
}

/// Takes a rewind back. Returns what could not be taken back, each with its reason.
pub(super) async fn undo(commands: &Commands, session: String) -> Result<Vec<String>, Fault> {
    let session = format!("--session={session}");
    let document = commands.run(Run::of(["undo", &session, "--yes"])).await?;
    optional(&document["left"])
}

fn plan(plan: &Value) -> Result<RewindPlan, Fault> {
    let count = |key: &str| plan[key].as_u64().unwrap_or(0);
    let list = |key: &str| plan[key].as_array().map_or(&[][..], Vec::as_slice);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let texts = |key: &str| list(key).iter().take(SHOWN).map(text).collect();
    let paths = |key: &str, field: &str| {
        let shown = list(key).iter().take(SHOWN);
        shown.map(|one| text(&one[field])).collect()
    };
    Ok(RewindPlan {
        files_back: count("files_back"),
        files_trashed: count("files_trashed"),
        files_changed: count("files_changed"),
        moved: list("moves").len() as u64,
        back: texts("back"),
        trash: texts("trash"),
        changed: paths("contents", "path"),
        moves: paths("moves", "from"),
        incomplete: optional(&plan["incomplete"])?,
    })
}

fn optional<T: DeserializeOwned>(value: &Value) -> Result<Vec<T>, Fault> {
    if value.is_null() {
        return Ok(Vec::new());
    }
    read(value.clone())
}

fn read<T: DeserializeOwned>(document: Value) -> Result<T, Fault> {
    serde_json::from_value(document).map_err(|error| {
        Fault::failed(format!(
            "can't read the reply of the cairn program: {error}"
        ))
    })
}
