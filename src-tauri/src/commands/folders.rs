//! Folder pairs: their choices, the server's folders to choose from, ignore rules.

use super::context::{Commands, path_below};
use crate::program::{ProgramError, ProgramErrorCode, Run};
use crate::view::{self, TeamView};
use cairn_control::{NewFolder, Request, typed};
use cairn_model::{DeletionGate, Kind, SyncMode};
use cairn_platform::dirs::expand_home;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The deletion gate: more than `percent` of the files, and at least `files` of them, need a confirmation; so do `most`
/// files, whatever their share.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
pub struct GateView {
    pub percent: u8,
    pub files: u64,
    pub most: u64,
}

/// The choices of a person for a folder pair.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
pub struct FolderChoices {
    pub local: String,
    pub remote: String,
    /// The team in whose space `remote` is; none: the account's own.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub team: Option<TeamView>,
    /// True if `remote` of a new pair is in the account's private space, of whose names the server has sealed ones only.
    #[serde(default)]
    pub private: bool,
    pub mode: SyncMode,
    /// If not empty, only these subfolders are synced to this device.
    pub only: Vec<String>,
    pub exclude: Vec<String>,
    /// The limit of deletions; none: they never need a confirmation.
    #[ts(optional = nullable)]
    pub gate: Option<GateView>,
}

impl From<FolderChoices> for NewFolder {
    fn from(choices: FolderChoices) -> Self {
        Self {
            local: choices.local,
            remote: choices.remote,
            mode: choices.mode,
            exclude: choices.exclude,
            only: choices.only,
            gate: choices.gate.map(|gate| DeletionGate {
                percent: gate.percent,
                files: gate.files,
                most: gate.most,
            }),
        }
    }
}

/// The bandwidth limits that are in force.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, TS)]
pub struct LimitsView {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub up: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub down: Option<u64>,
}

/// A folder on the service.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct RemoteFolder {
    pub name: String,
    /// `/a/b`.
    pub path: String,
    /// All files below it together; absent where the server doesn't say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub bytes: Option<u64>,
}

/// A file or folder on the service.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct RemoteItem {
    pub id: String,
    pub name: String,
    /// `/a/b`.
    pub path: String,
    pub is_folder: bool,
}

/// The result of the ignore rules for a path, with the rule that decided.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct IgnoreCheck {
    pub ignored: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub rule: Option<String>,
}

pub(super) async fn choices(
    commands: &Commands,
    local: String,
) -> Result<FolderChoices, ProgramError> {
    let folders = commands.request(typed::Folders {}).await?;
    folders
        .iter()
        .find(|folder| folder.local == local)
        .map(view::folder)
        .ok_or_else(|| ProgramError::new(ProgramErrorCode::Usage, format!("{local} isn't synced")))
}

/// Adds a pair with the `cairn` program, which creates the folder and checks what may be paired.
pub(super) async fn add(commands: &Commands, folder: FolderChoices) -> Result<(), ProgramError> {
    let mut arguments = vec![
        "add".to_owned(),
        format!("--remote={}", folder.remote),
        format!("--mode={}", folder.mode),
        format!("--deletion-gate={}", gate(folder.gate)),
    ];
    arguments.extend(folder.private.then(|| "--private".to_owned()));
    arguments.extend(folder.team.map(|team| format!("--space={}", team.id)));
    arguments.extend(folder.only.iter().map(|path| format!("--only={path}")));
    arguments.extend(
        folder
            .exclude
            .iter()
            .map(|rule| format!("--exclude={rule}")),
    );
    arguments.extend([
        "--".to_owned(),
        expand_home(folder.local.trim())
            .to_string_lossy()
            .into_owned(),
    ]);
    let added = commands.run(Run::of(arguments)).await;
    commands.daemon.allow();
    added
}

/// The bandwidth limits in force now, for all folders together: bytes per second, absent without a limit.
pub(super) async fn limits(commands: &Commands) -> Result<LimitsView, ProgramError> {
    let status = commands.request(typed::Status {}).await?;
    let limits = status.limits.unwrap_or_default();
    Ok(LimitsView {
        up: limits.up,
        down: limits.down,
    })
}

pub(super) async fn change(commands: &Commands, folder: FolderChoices) -> Result<(), ProgramError> {
    let folder = folder.into();
    commands.send(Request::ChangeFolder { folder }).await
}

pub(super) async fn remove(commands: &Commands, local: String) -> Result<(), ProgramError> {
    commands.send(Request::RemoveFolder { folder: local }).await
}

fn gate(gate: Option<GateView>) -> String {
    gate.map_or_else(
        || "off".to_owned(),
        |gate| format!("{}%:{}:{}", gate.percent, gate.files, gate.most),
    )
}

pub(super) async fn teams(commands: &Commands) -> Result<Vec<TeamView>, ProgramError> {
    #[derive(Deserialize)]
    struct Document {
        teams: Vec<TeamView>,
    }
    let mut found: Document = commands.document(Run::of(["teams", "list"])).await?;
    found.teams.sort_by_key(|team| team.name.to_lowercase());
    Ok(found.teams)
}

/// Lists the folders of a folder on the service, each with its size if the server says it.
pub(super) async fn list_remote(
    commands: &Commands,
    team: Option<String>,
    path: String,
) -> Result<Vec<RemoteFolder>, ProgramError> {
    let nodes = nodes(commands, &["list", "--sizes"], team, path).await?;
    let folders = nodes.into_iter().filter(|node| node.kind == Kind::Folder);
    Ok(folders
        .map(|node| RemoteFolder {
            name: node.name,
            path: node.path,
            bytes: node.total.map(|total| total.bytes),
        })
        .collect())
}

pub(super) async fn remote_items(
    commands: &Commands,
    team: Option<String>,
    path: String,
) -> Result<Vec<RemoteItem>, ProgramError> {
    let nodes = nodes(commands, &["list"], team, path).await?;
    Ok(nodes
        .into_iter()
        .map(|node| RemoteItem {
            id: node.id,
            name: node.name,
            path: node.path,
            is_folder: node.kind == Kind::Folder,
        })
        .collect())
}

/// A file or folder, as `cairn list` gives it.
#[derive(Deserialize)]
struct ListedNode {
    id: String,
    name: String,
    path: String,
    kind: Kind,
    total: Option<ListedTotal>,
}

#[derive(Deserialize)]
struct ListedTotal {
    bytes: u64,
}

/// Lists a folder on the service: folders first, each kind by name.
async fn nodes(
    commands: &Commands,
    command: &[&str],
    team: Option<String>,
    path: String,
) -> Result<Vec<ListedNode>, ProgramError> {
    #[derive(Deserialize)]
    struct Document {
        nodes: Vec<ListedNode>,
    }
    let mut arguments: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
    arguments.extend(team.map(|team| format!("--team={team}")));
    arguments.extend(["--".to_owned(), path]);
    let mut found: Document = commands.document(Run::of(arguments)).await?;
    found
        .nodes
        .sort_by_key(|node| (node.kind != Kind::Folder, node.name.to_lowercase()));
    Ok(found.nodes)
}

pub(super) async fn rules(
    commands: &Commands,
    folder: String,
) -> Result<Vec<String>, ProgramError> {
    let rules = commands.request(typed::Ignore { folder }).await?;
    Ok(rules.shared)
}

pub(super) async fn set_rules(
    commands: &Commands,
    folder: String,
    lines: Vec<String>,
) -> Result<(), ProgramError> {
    commands.send(Request::SetIgnore { folder, lines }).await
}

pub(super) async fn try_rules(
    commands: &Commands,
    folder: String,
    lines: Vec<String>,
    path: String,
) -> Result<IgnoreCheck, ProgramError> {
    let path = path_below(&folder, &path)?.to_string_lossy().into_owned();
    let check = commands
        .request(typed::CheckIgnore {
            folder,
            path,
            lines: Some(lines),
        })
        .await?;
    Ok(IgnoreCheck {
        ignored: check.ignored,
        rule: check.rule,
    })
}
