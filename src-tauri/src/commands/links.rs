//! Share links: made, listed, switched off and on, revoked.

use super::context::{Commands, local_text};
use crate::program::{Fault, Run};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// The state of a share link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum LinkState {
    Active,
    FileGone,
    MakerLeft,
    Deactivated,
    Expired,
    AtDownloadLimit,
    NotYetActive,
    ActiveWindowEnded,
    /// One of a newer version.
    Other,
}

impl LinkState {
    fn of(word: &str) -> Self {
        match word {
            "active" => Self::Active,
            "file_gone" => Self::FileGone,
            "maker_left" => Self::MakerLeft,
            "deactivated" => Self::Deactivated,
            "expired" => Self::Expired,
            "at_download_limit" => Self::AtDownloadLimit,
            "not_yet_active" => Self::NotYetActive,
            "active_window_ended" => Self::ActiveWindowEnded,
            _ => Self::Other,
        }
    }
}

/// A share link.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct LinkView {
    pub id: String,
    /// The name of the file or folder.
    pub name: String,
    /// The whole address with its key; absent if this device can't complete it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub address: Option<String>,
    pub state: LinkState,
    /// False if it was switched off.
    pub is_on: bool,
    pub has_password: bool,
    /// RFC 3339 in UTC; absent if it never ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub expires_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub download_limit: Option<u64>,
    pub downloads: u64,
    pub opened: u64,
}

/// The file or folder that a new link is for.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LinkTarget {
    /// In a synced folder.
    Local { folder: String, path: String },
    /// On the server.
    Remote { id: String },
}

/// The choices of a person for a new link.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, TS)]
pub struct LinkChoices {
    /// None: whoever has the address can open it.
    #[ts(optional = nullable)]
    pub password: Option<String>,
    /// Days from now; none: the account's default.
    #[ts(optional = nullable)]
    pub days: Option<u32>,
    /// Downloads after which it ends.
    #[ts(optional = nullable)]
    pub downloads: Option<u32>,
    /// Files can be looked at, and not downloaded.
    pub view_only: bool,
}

/// A change of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum LinkAction {
    Disable,
    Enable,
    Revoke,
}

pub(super) async fn list(commands: &Commands) -> Result<Vec<LinkView>, Fault> {
    let document = commands.run(Run::of(["share", "list"])).await?;
    let links = document["links"].as_array().cloned().unwrap_or_default();
    Ok(links.iter().map(link).collect())
}

pub(super) async fn create(
    commands: &Commands,
    target: LinkTarget,
    choices: LinkChoices,
) -> Result<LinkView, Fault> {
    let target = match target {
        LinkTarget::Local { folder, path } => local_text(&folder, &path)?,
        LinkTarget::Remote { id } => id,
    };
    let password = choices.password.filter(|text| !text.is_empty());
    let mut arguments = vec!["share".to_owned(), "create".to_owned()];
    if password.is_some() {
        arguments.push("--password-file=-".to_owned());
    }
    if let Some(days) = choices.days {
        arguments.push(format!("--expires={days}d"));
    }
    if let Some(downloads) = choices.downloads {
        arguments.push(format!("--limit={downloads}"));
    }
    if choices.view_only {
        arguments.push("--view-only".to_owned());
    }
    arguments.extend(["--".to_owned(), target]);
    let mut run = Run::of(arguments);
    run.secrets.extend(password);
    Ok(link(&commands.run(run).await?))
}

pub(super) async fn change(
    commands: &Commands,
    id: String,
    action: LinkAction,
) -> Result<(), Fault> {
    let word = match action {
        LinkAction::Disable => "disable",
        LinkAction::Enable => "enable",
        LinkAction::Revoke => "revoke",
    };
    let run = Run::of(["share", word, "--", &id]);
    commands.run(run).await.map(drop)
}

fn link(document: &Value) -> LinkView {
    let text = |key: &str| document[key].as_str().map(str::to_owned);
    let flag = |key: &str| document[key].as_bool().unwrap_or(false);
    let count = |key: &str| document[key].as_u64();
    LinkView {
        id: text("id").unwrap_or_default(),
        name: text("file_name").unwrap_or_default(),
        address: text("address"),
        state: LinkState::of(document["status"].as_str().unwrap_or_default()),
        is_on: flag("is_active"),
        has_password: flag("has_password"),
        expires_at: text("expires_at"),
        download_limit: count("download_limit"),
        downloads: count("download_count").unwrap_or(0),
        opened: count("access_count").unwrap_or(0),
    }
}
