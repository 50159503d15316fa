//! Share links: made, listed, switched off and on, revoked.

use super::context::{Commands, local_text};
use crate::program::{ProgramError, Run};
use cairn_model::ShareStatus;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

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
    pub state: ShareStatus,
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
    /// A password; none: whoever has the address can open it.
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

/// Lists all links, or those of one synced folder.
pub(super) async fn list(
    commands: &Commands,
    folder: Option<String>,
) -> Result<Vec<LinkView>, ProgramError> {
    #[derive(Deserialize)]
    struct Document {
        links: Vec<Link>,
    }
    let mut arguments = vec!["share".to_owned(), "list".to_owned()];
    if let Some(folder) = folder {
        arguments.extend(["--".to_owned(), folder]);
    }
    let found: Document = commands.document(Run::of(arguments)).await?;
    Ok(found.links.into_iter().map(Link::view).collect())
}

pub(super) async fn create(
    commands: &Commands,
    target: LinkTarget,
    choices: LinkChoices,
) -> Result<LinkView, ProgramError> {
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
    let made: Link = commands.document(run).await?;
    Ok(made.view())
}

pub(super) async fn change(
    commands: &Commands,
    id: String,
    action: LinkAction,
) -> Result<(), ProgramError> {
    let word = match action {
        LinkAction::Disable => "disable",
        LinkAction::Enable => "enable",
        LinkAction::Revoke => "revoke",
    };
    let run = Run::of(["share", word, "--", &id]);
    commands.run(run).await
}

/// A link as the `cairn` program shows it.
#[derive(Deserialize)]
struct Link {
    id: String,
    file_name: String,
    address: Option<String>,
    status: ShareStatus,
    is_active: bool,
    has_password: bool,
    expires_at: Option<String>,
    download_limit: Option<u64>,
    download_count: u64,
    access_count: u64,
}

impl Link {
    fn view(self) -> LinkView {
        LinkView {
            id: self.id,
            name: self.file_name,
            address: self.address,
            state: self.status,
            is_on: self.is_active,
            has_password: self.has_password,
            expires_at: self.expires_at,
            download_limit: self.download_limit,
            downloads: self.download_count,
            opened: self.access_count,
        }
    }
}
