//! Folder pairs: their choices, the service's folders to choose from, ignore rules.

use crate::calls::{Desk, below};
use crate::program::{Fault, FaultCode, Run};
use crate::view::{self, ModeView};
use cairn_control::{Folder, Gate, IgnoreRules, IgnoreVerdict, NewFolder, Request};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// Deletions of more than `percent` of the files, and at least `files` of them, wait for a person.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
pub struct GateView {
    pub percent: u8,
    pub files: u64,
}

/// What a person chooses for a pair.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
pub struct FolderChoices {
    pub local: String,
    pub remote: String,
    pub mode: ModeView,
    /// Where not empty: only these subfolders come to this device.
    pub only: Vec<String>,
    pub exclude: Vec<String>,
    /// None: deletions never wait.
    #[ts(optional = nullable)]
    pub gate: Option<GateView>,
}

impl From<FolderChoices> for NewFolder {
    fn from(choices: FolderChoices) -> Self {
        Self {
            local: choices.local,
            remote: choices.remote,
            mode: choices.mode.into(),
            exclude: choices.exclude,
            only: choices.only,
            gate: choices.gate.map(|gate| Gate {
                percent: gate.percent,
                files: gate.files,
            }),
        }
    }
}

/// A folder on the service.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct RemoteFolder {
    pub name: String,
    /// `/a/b`.
    pub path: String,
}

/// Whether a path is ignored, and by which rule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct VerdictView {
    pub ignored: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub rule: Option<String>,
}

pub(super) async fn choices(desk: &Desk, local: &str) -> Result<FolderChoices, Fault> {
    let folders: Vec<Folder> = desk.ask(Request::Folders).await?;
    folders
        .iter()
        .find(|folder| folder.local == local)
        .map(view::folder)
        .ok_or_else(|| Fault::new(FaultCode::Usage, format!("{local} is no synced folder")))
}

/// Adds a pair through the program, which makes the folder and knows what may be paired.
pub(super) async fn add(desk: &Desk, folder: &FolderChoices) -> Result<Value, Fault> {
    let mut arguments = vec![
        "add".to_owned(),
        format!("--remote={}", folder.remote),
        format!("--mode={}", mode(folder.mode)),
        format!("--deletion-gate={}", gate(folder.gate)),
    ];
    arguments.extend(folder.only.iter().map(|path| format!("--only={path}")));
    arguments.extend(
        folder
            .exclude
            .iter()
            .map(|rule| format!("--exclude={rule}")),
    );
    arguments.extend(["--".to_owned(), folder.local.clone()]);
    let added = desk.program.run(Run::of(arguments)).await;
    desk.daemon.release();
    added
}

fn mode(mode: ModeView) -> &'static str {
    match mode {
        ModeView::TwoWay => "two-way",
        ModeView::Upload => "upload",
        ModeView::Download => "download",
    }
}

fn gate(gate: Option<GateView>) -> String {
    gate.map_or_else(
        || "off".to_owned(),
        |gate| format!("{}%:{}", gate.percent, gate.files),
    )
}

pub(super) async fn remote(desk: &Desk, path: &str) -> Result<Vec<RemoteFolder>, Fault> {
    let document = desk.program.run(Run::of(["list", "--", path])).await?;
    let nodes = document["nodes"].as_array().cloned().unwrap_or_default();
    let mut folders: Vec<RemoteFolder> = nodes
        .iter()
        .filter(|node| node["kind"] == "folder")
        .filter_map(|node| {
            Some(RemoteFolder {
                name: node["name"].as_str()?.to_owned(),
                path: node["path"].as_str()?.to_owned(),
            })
        })
        .collect();
    folders.sort_by_key(|folder| folder.name.to_lowercase());
    Ok(folders)
}

pub(super) async fn rules(desk: &Desk, folder: String) -> Result<Vec<String>, Fault> {
    let rules: IgnoreRules = desk.ask(Request::Ignore { folder }).await?;
    Ok(rules.shared)
}

pub(super) async fn try_rules(
    desk: &Desk,
    folder: String,
    lines: Vec<String>,
    path: &str,
) -> Result<VerdictView, Fault> {
    let path = below(&folder, path)?.to_string_lossy().into_owned();
    let verdict: IgnoreVerdict = desk
        .ask(Request::CheckIgnore {
            folder,
            path,
            lines: Some(lines),
        })
        .await?;
    Ok(VerdictView {
        ignored: verdict.ignored,
        rule: verdict.rule,
    })
}
