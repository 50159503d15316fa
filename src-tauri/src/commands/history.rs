//! Activity on this device, the past of a folder on the service, and the way back there.

use super::context::{Commands, local_text};
use crate::program::{ProgramError, Run};
use crate::view::{self, ActivityView};
use cairn_control::typed;
use cairn_model::PastKind;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Events of one page of a folder's past.
const PAGE: u64 = 2_000;
/// Paths of one kind that a plan shows; their number is always told.
const SHOWN: usize = 50;

/// Something that happened to a file or folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
pub struct PastEvent {
    /// RFC 3339 in UTC.
    pub at: String,
    pub kind: PastKind,
    /// The path on the service that it had then.
    pub path: String,
    /// The path before a move.
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

pub(super) async fn activity(
    commands: &Commands,
    limit: u32,
) -> Result<Vec<ActivityView>, ProgramError> {
    let list = commands.request(typed::Activity { limit }).await?;
    Ok(list.events.iter().map(view::activity).collect())
}

pub(super) async fn past(
    commands: &Commands,
    folder: String,
    path: String,
    page: u64,
) -> Result<PastPage, ProgramError> {
    let path = local_text(&folder, &path)?;
    let (limit, page) = (format!("--limit={PAGE}"), format!("--page={page}"));
    let run = Run::of(["history", &limit, &page, "--", &path]);
    commands.document(run).await
}

/// Makes a folder or file what it was at a time; a dry run returns the plan alone.
pub(super) async fn rewind(
    commands: &Commands,
    folder: String,
    path: String,
    at: String,
    dry_run: bool,
) -> Result<RewindView, ProgramError> {
    let path = local_text(&folder, &path)?;
    let how = if dry_run { "--dry-run" } else { "--yes" };
    let to = format!("--to={at}");
    let run = Run::of(["rewind", &to, how, "--", &path]);
    let rewound: RewindDocument = commands.document(run).await?;
    Ok(RewindView {
        plan: rewound.plan.view(),
        session: rewound.session,
        failed: rewound.done.unwrap_or_default().failed,
    })
}

/// A rewind as the `cairn` program shows it.
#[derive(Deserialize)]
struct RewindDocument {
    plan: PlanDocument,
    session: Option<String>,
    done: Option<DoneDocument>,
}

#[derive(Default, Deserialize)]
struct DoneDocument {
    #[serde(default)]
    failed: Vec<LeftAsItIs>,
}

#[derive(Deserialize)]
struct PlanDocument {
    files_back: u64,
    files_trashed: u64,
    files_changed: u64,
    back: Vec<String>,
    trash: Vec<String>,
    contents: Vec<ChangedContent>,
    moves: Vec<MovedBack>,
    #[serde(default)]
    incomplete: Vec<LeftAsItIs>,
}

#[derive(Deserialize)]
struct ChangedContent {
    path: String,
}

#[derive(Deserialize)]
struct MovedBack {
    from: String,
}

impl PlanDocument {
    fn view(self) -> RewindPlan {
        RewindPlan {
            files_back: self.files_back,
            files_trashed: self.files_trashed,
            files_changed: self.files_changed,
            moved: self.moves.len() as u64,
            back: beginning(self.back),
            trash: beginning(self.trash),
            changed: beginning(self.contents.into_iter().map(|one| one.path)),
            moves: beginning(self.moves.into_iter().map(|one| one.from)),
            incomplete: self.incomplete,
        }
    }
}

/// Returns as many paths as a plan shows.
fn beginning(paths: impl IntoIterator<Item = String>) -> Vec<String> {
    paths.into_iter().take(SHOWN).collect()
}
