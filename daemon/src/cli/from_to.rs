//! The arguments of what copies or moves on the service: a node, and where it goes.

use crate::app::App;
use crate::cli::dry_run::{self, DryRun};
use crate::failure::CommandResult;
use crate::output::text::clean;
use crate::remote::{Remote, Within};
use cairn_model::{Name, NodeId};
use cairn_wire::nodes::Node;
use serde_json::json;

#[derive(clap::Args, Debug)]
pub(super) struct FromTo {
    /// A path such as /a/b, or an id
    from: String,
    /// A folder that it goes into, or a path that is free
    to: String,
    #[command(flatten)]
    within: Within,
    #[command(flatten)]
    pub(super) dry_run: DryRun,
}

/// The node that is named, and the folder and name that it gets.
pub(super) struct Found {
    pub(super) remote: Remote,
    pub(super) node: Node,
    pub(super) parent: Option<NodeId>,
    pub(super) name: Name,
}

impl FromTo {
    pub(super) async fn find(&self, app: &App) -> CommandResult<Found> {
        let remote = Remote::open_at(app, &self.within, &self.from).await?;
        let node = remote.find(&self.from).await?.node()?;
        let (parent, name) = remote.destination(&self.to, &node).await?;
        Ok(Found {
            remote,
            node,
            parent,
            name,
        })
    }
}

impl Found {
    /// Returns true if the node would get the place and name that it has, or the same name in other letters.
    pub(super) fn is_unmoved(&self) -> bool {
        is_at(&self.node, self.parent, &self.name)
    }

    /// Returns true if the node has just the place and name that it would get.
    pub(super) fn is_there_already(&self) -> bool {
        self.node.parent_id == self.parent && self.node.name == self.name.as_str()
    }

    /// Shows what would be done with the node, in words such as `moved`.
    pub(super) async fn show(&self, app: &App, done: &str) -> CommandResult {
        let from = self.path_of(&self.node).await?;
        let above = match self.parent {
            Some(parent) => {
                let folder = self.remote.find(&parent.to_string()).await?.node()?;
                self.path_of(&folder).await?
            }
            None => String::new(),
        };
        let to = format!("{above}/{}", self.name);
        let line = format!("{} would be {done} to {}.", clean(&from), clean(&to));
        let document = json!({ "id": self.node.id, "from": from, "to": to });
        dry_run::show(app, line, document)
    }

    /// The path of the node that came of it.
    pub(super) async fn path_of(&self, node: &Node) -> CommandResult<String> {
        self.remote.path_of(node, &mut Default::default()).await
    }
}

fn is_at(node: &Node, parent: Option<NodeId>, name: &Name) -> bool {
    let own = Name::new(node.name.as_str());
    node.parent_id == parent && own.is_ok_and(|own| own.key() == name.key())
}
