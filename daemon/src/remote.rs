//! The service for commands that work without a synced folder: finding nodes by path or id, and changing them.
//!
//! Everything from the server is checked before it is used; changes are sealed (authenticated with the keys)
//! like those of the sync engine, if the node's present state is verified.

mod back;
pub(crate) mod change;
pub(crate) mod download;
pub(crate) mod download_folder;
pub(crate) mod journal;
mod many;
pub(crate) mod own_files;
mod path;
mod place_back;
pub(crate) mod seen;
pub(crate) mod upload;
pub(crate) mod verification;
pub(crate) mod versions;

use crate::app::App;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::rotation;
use crate::session::Session;
use crate::team;
use cairn_api::Api;
use cairn_model::{Kind, Name, NodeId};
use cairn_space::account_keys::{self, Comparison};
use cairn_space::{Space, SpaceKeys};
use cairn_transfer::{Transfer, api_in_space};
use cairn_wire::nodes::{Node, NodeState};
use journal::Journal;
use path::LocalPaths;
use std::collections::HashMap;
use std::sync::Arc;

/// A place on the service.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum RemoteNode {
    /// The top of the space, which is no node.
    Top,
    Node(Box<Node>),
}

impl RemoteNode {
    /// The id to list or to put something into; an error for a file.
    pub(crate) fn folder(&self) -> CommandResult<Option<NodeId>> {
        match self {
            Self::Top => Ok(None),
            Self::Node(node) if node.kind == Kind::Folder => Ok(Some(node.id)),
            Self::Node(node) => Err(Failure::usage(format!(
                "{} is a file, not a folder",
                node.name
            ))),
        }
    }

    /// The node; an error for the top.
    pub(crate) fn node(self) -> CommandResult<Node> {
        match self {
            Self::Top => Err(Failure::usage(
                "this needs a file or folder, not the top of the space",
            )),
            Self::Node(node) => Ok(*node),
        }
    }
}

/// Refuses to go on with keys that were replaced on another device: what is written under them, whoever has them
/// can read.
async fn refuse_replaced_keys(app: &App, session: &Session) -> CommandResult {
    match account_keys::compare_with_service(&session.api, &session.keys).await {
        Ok(Comparison::Replaced(by)) => Err(rotation::replaced_error(by.as_ref(), &app.zone)),
        Ok(Comparison::Refused(error)) => {
            tracing::warn!(%error, "the server's copy of the account's keys is refused");
            Ok(())
        }
        // A server that can't be reached is reported by what comes next.
        Ok(Comparison::Same) | Err(_) => Ok(()),
    }
}

/// The space that a command works in.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Within {
    /// Work in the space of a team: its name or id [default: your own, or that of the synced folder you name]
    #[arg(long, value_name = "TEAM")]
    pub(crate) team: Option<String>,
}

impl Within {
    /// Returns the same; where no team is named, with that in whose synced folder a path of this machine lies.
    pub(crate) fn or_of(&self, app: &App, path: &str) -> CommandResult<Self> {
        if self.team.is_some() {
            return Ok(self.clone());
        }
        let team = path::team_of(&app.home, path)?;
        Ok(Self {
            team: team.map(|space| space.team.to_string()),
        })
    }
}

/// The service, for one command.
pub(crate) struct Remote {
    pub(crate) api: Arc<Api>,
    pub(crate) transfer: Transfer,
    pub(crate) space: Space,
    local: LocalPaths,
    pub(crate) journal: Journal,
}

impl Remote {
    /// The account's own space.
    fn own(app: &App, session: &Session) -> Self {
        let local = LocalPaths::of(&app.home, None);
        let remote = Self::of(session, session.api.clone(), session.keys.space.clone());
        Self {
            local,
            journal: Journal::new(&app.home, session.account.account, None),
            space: remote
                .space
                .with_seen(seen::SeenInHome::of(&app.home, None)),
            ..remote
        }
    }

    /// Opens the space that the command line names.
    pub(crate) async fn open(app: &App, within: &Within) -> CommandResult<Self> {
        let session = app.session()?;
        refuse_replaced_keys(app, &session).await?;
        let Some(wanted) = &within.team else {
            return Ok(Self::own(app, &session));
        };
        let team = team::find(&session.api, wanted).await?;
        let keys = team::open(&app.home, &session, &team).await?;
        let keys = Arc::new(keys);
        let remote = Self::of(&session, api_in_space(&session.api, &keys), keys);
        let seen = seen::SeenInHome::of(&app.home, Some(team.space_id));
        Ok(Self {
            journal: Journal::new(&app.home, session.account.account, Some(wanted.clone())),
            local: LocalPaths::of(&app.home, Some(team.space_id)),
            space: remote.space.with_seen(seen),
            ..remote
        })
    }

    /// Opens the space that the command line names; where it names none, that of the synced folder in which a
    /// path of this machine lies.
    pub(crate) async fn open_at(app: &App, within: &Within, path: &str) -> CommandResult<Self> {
        Self::open(app, &within.or_of(app, path)?).await
    }

    fn of(session: &Session, api: Arc<Api>, keys: Arc<SpaceKeys>) -> Self {
        let options = cairn_transfer::Options::default();
        let device = session.account.device;
        let transfer = Transfer::new(api.clone(), keys.clone(), device, options);
        Self {
            space: Space::new(api.clone(), keys, transfer.clone()),
            api,
            transfer,
            local: LocalPaths::default(),
            journal: Journal::none(),
        }
    }

    /// Returns the path on the service that a person means, in its one form: one of the service, or that of
    /// a file in a synced folder of this machine.
    pub(crate) fn path(&self, text: &str) -> CommandResult<String> {
        self.local.remote_path(text)
    }

    /// Finds what a person named: a path such as `/a/b`, one in a synced folder, or a node's id.
    pub(crate) async fn find(&self, text: &str) -> CommandResult<RemoteNode> {
        self.look_up_or_why_not(text).await?
    }

    /// Finds a node as [`Remote::find`] does; `None` if nothing has that path, such as one below a file.
    pub(crate) async fn look_up(&self, text: &str) -> CommandResult<Option<RemoteNode>> {
        Ok(self.look_up_or_why_not(text).await?.ok())
    }

    /// Finds a node; the inner failure says why nothing has that path.
    async fn look_up_or_why_not(&self, text: &str) -> CommandResult<CommandResult<RemoteNode>> {
        if let Ok(id) = text.parse::<NodeId>() {
            let node = self
                .api
                .node(id)
                .await
                .context(format_args!("find {text}"))?;
            self.space.check(&node)?;
            if node.state == NodeState::Trashed {
                return Err(Failure::failed(format!(
                    "{text} is in the trash: restore it with `cairn trash restore --remote {text}`"
                )));
            }
            return Ok(Ok(RemoteNode::Node(Box::new(node))));
        }
        let path = self.local.remote_path(text)?;
        let mut at = RemoteNode::Top;
        let mut names = Vec::new();
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let parent = match at.folder() {
                Ok(parent) => parent,
                Err(a_file) => return Ok(Err(a_file)),
            };
            match self
                .child(parent, name)
                .await
                .context(format_args!("find {text}"))?
            {
                Some(node) => {
                    names.push(node.name.clone());
                    at = RemoteNode::Node(Box::new(node));
                }
                None => {
                    return Ok(Err(Failure::failed(format!(
                        "there is no {path} on the service: see `cairn list`"
                    ))));
                }
            }
        }
        self.local.check_same_file(text, &names)?;
        Ok(Ok(at))
    }

    /// Finds where something new can go: the folder that the path's last name would be in, and the name.
    pub(crate) async fn find_new(&self, text: &str) -> CommandResult<(Option<NodeId>, Name)> {
        let path = self.local.remote_path(text)?;
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let name = Name::new(name)
            .map_err(|_| Failure::usage(format!("`{text}` names no file or folder")))?;
        let parent = self
            .find(if parent.is_empty() { "/" } else { parent })
            .await?
            .folder()?;
        Ok((parent, name))
    }

    /// The child of a folder under a name, in any normal form of it.
    pub(crate) async fn child(
        &self,
        parent: Option<NodeId>,
        name: &str,
    ) -> CommandResult<Option<Node>> {
        let wanted =
            Name::new(name).map_err(|e| Failure::usage(format!("`{name}` can't be found: {e}")))?;
        Ok(self.space.child(parent, &wanted).await?)
    }

    /// The children of a folder, by name; what can't be one is left out with a note in the log.
    pub(crate) async fn children(&self, parent: Option<NodeId>) -> CommandResult<Vec<Node>> {
        Ok(self.space.children(parent).await?)
    }

    /// The path of a place from the top of the space, which is `/` itself.
    pub(crate) async fn path_of_place(&self, place: &RemoteNode) -> CommandResult<String> {
        match place {
            RemoteNode::Top => Ok("/".to_owned()),
            RemoteNode::Node(node) => self.path_of(node, &mut HashMap::new()).await,
        }
    }

    /// The path of a node from the top of the space. `known` saves asking twice for the same folder.
    pub(crate) async fn path_of(
        &self,
        node: &Node,
        known: &mut HashMap<NodeId, String>,
    ) -> CommandResult<String> {
        let path = self.space.path_of(node, known).await;
        path.context("find the folder above")
    }

    /// Returns true if a valid seal covers the node's present state, and this device has seen no later one.
    pub(crate) fn is_verified(&self, node: &Node) -> bool {
        self.space.is_verified(node)
    }
}
