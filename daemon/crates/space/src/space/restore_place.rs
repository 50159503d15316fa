//! Back from the trash to the same path, also where the folder is in the trash by now.
//!
//! The server puts what has lost its folder at the top of the space. Here the folder is made again in the same request,
//! without what else was in it: that stays in the trash. A folder that was made at its path meanwhile is taken instead.

use super::batch::{is_at, node_of, without_mark};
use super::{MAX_DEPTH, Space, facts, new_node};
use cairn_api::{Api, ApiError};
use cairn_crypto::NodeFacts;
use cairn_model::{Kind, Name, NodeId};
use cairn_transfer::TransferError;
use cairn_wire::Sealed;
use cairn_wire::nodes::{Node, NodeBatch, NodeOperation, NodeResult, NodeState, Together};

/// The end of the numbers that are tried for a name that is in use.
const NUMBERS: u32 = 1_000;

/// A node that came out of the trash.
#[derive(Clone, PartialEq, Debug)]
pub struct BroughtBack {
    pub node: Node,
    /// The folders that were made for it, the outermost first.
    pub folders: Vec<Node>,
}

/// The place to which a node comes back from the trash.
#[derive(Clone, PartialEq, Debug)]
pub struct PlaceBack {
    /// The folder that is there; `None`: the top of the space.
    pub above: Option<NodeId>,
    /// The folders in it that are made, the outermost first.
    pub made: Vec<FolderAgain>,
    /// The reason why it is the top of the space instead of the former place, if it is.
    pub lost: Option<LostPlace>,
    /// False if only the service says how a folder above was called: then the node gets no seal there.
    is_verified: bool,
}

/// A folder that is made under the name of one in the trash.
#[derive(Clone, PartialEq, Debug)]
pub struct FolderAgain {
    pub name: Name,
    /// False if no device with the keys has named it: then the new one has no seal either.
    is_verified: bool,
}

/// The reason why something can't come back to its path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LostPlace {
    /// A folder above it was deleted for good, and its name with it.
    DeletedForGood,
    /// A file has the name of a folder above it now.
    FileInTheWay,
}

impl std::fmt::Display for LostPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::DeletedForGood => "the folder that it was in was deleted for good",
            Self::FileInTheWay => "a file has the name of the folder that it was in",
        })
    }
}

/// The service as somebody sees it who has the keys of a space, or who has none.
struct View<'a> {
    api: &'a Api,
    keys: Option<&'a Space>,
}

/// Takes a node out of the trash as [`Space::restore_node`] does, without a seal. Returns `None`, and does nothing, where
/// the service does the same by itself, or the names are sealed.
///
/// # Errors
/// [`TransferError::Api`].
pub async fn restore_without_keys(
    api: &Api,
    trashed: &Node,
) -> Result<Option<BroughtBack>, TransferError> {
    if trashed.space_id.is_private() {
        return Ok(None);
    }
    let view = View { api, keys: None };
    let place = view.place_back(trashed).await?;
    if place.is_of_server(trashed) {
        return Ok(None);
    }
    view.bring_back(trashed, &place).await.map(Some)
}

impl Space {
    /// Finds the place to which [`Space::restore_node`] brings a node back.
    ///
    /// # Errors
    /// As for [`Space::node`].
    pub async fn place_back(&self, trashed: &Node) -> Result<PlaceBack, TransferError> {
        self.view().place_back(trashed).await
    }

    /// Returns the name under which a node comes back: its own, or that with a number where it is in use.
    ///
    /// # Errors
    /// As for [`Space::child`].
    pub async fn name_back(
        &self,
        trashed: &Node,
        place: &PlaceBack,
    ) -> Result<Name, TransferError> {
        self.view().name_back(trashed, place).await
    }

    /// Takes a node out of the trash into a folder that is not the one of before. All of it is done or nothing.
    pub(super) async fn bring_back(
        &self,
        trashed: &Node,
        place: &PlaceBack,
    ) -> Result<BroughtBack, TransferError> {
        self.view().bring_back(trashed, place).await
    }

    fn view(&self) -> View<'_> {
        View {
            api: &self.api,
            keys: Some(self),
        }
    }

    /// Seals the place of a node that comes out of the trash, if its state there is verified.
    async fn seal_of_restored(
        &self,
        trashed: &Node,
        parent: Option<NodeId>,
        name: &Name,
    ) -> Result<Option<Sealed>, TransferError> {
        let hashes = self
            .hashes_of_confirmed(std::slice::from_ref(trashed))
            .await;
        let info = self.seal(trashed);
        let info = info.map(|info| without_mark(info, trashed, &hashes));
        let moved = NodeFacts {
            parent,
            name: name.as_str(),
            ..facts(trashed)
        };
        self.seal_after(trashed, info.transpose()?, moved)
    }

    /// Returns whether a device with the keys has put a folder of the trash under its name. One that went there with
    /// another has the seal of the state before.
    fn has_verified_place(&self, folder: &Node) -> bool {
        let before = Node {
            state: NodeState::Active,
            ..folder.clone()
        };
        self.seal(folder).is_some() || self.seal(&before).is_some()
    }
}

impl View<'_> {
    /// Returns a node; `None` for one that was deleted for good, or may not be read.
    async fn node(&self, id: NodeId) -> Result<Option<Node>, TransferError> {
        let found = match self.keys {
            Some(space) => space.node(id).await,
            None => self.api.node(id).await.map_err(TransferError::from),
        };
        match found {
            Ok(node) => Ok(Some(node)),
            Err(TransferError::Api(
                ApiError::NotFound { .. } | ApiError::Gone { .. } | ApiError::Forbidden { .. },
            )) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn child(
        &self,
        parent: Option<NodeId>,
        name: &Name,
    ) -> Result<Option<Node>, TransferError> {
        if let Some(space) = self.keys {
            return space.child(parent, name).await;
        }
        let found = self.api.children(parent, Some(name.as_str())).await?;
        let has_name = |node: &Node| is_at(node, parent, name);
        Ok(found.into_iter().find(has_name))
    }

    async fn place_back(&self, trashed: &Node) -> Result<PlaceBack, TransferError> {
        let mut gone = Vec::new();
        let mut at = trashed.parent_id;
        while let Some(id) = at {
            match self.node(id).await? {
                Some(folder) if folder.state == NodeState::Active => break,
                Some(folder) if gone.len() < MAX_DEPTH => {
                    at = folder.parent_id;
                    gone.push(folder);
                }
                Some(_) | None => return Ok(PlaceBack::top(LostPlace::DeletedForGood)),
            }
        }
        let is_named = |folder: &Node| {
            let keys = self.keys;
            keys.is_some_and(|space| space.has_verified_place(folder))
        };
        let is_verified = gone.iter().all(is_named);
        let mut above = at;
        while let Some(folder) = gone.last() {
            let name = name_of(folder)?;
            match self.child(above, &name).await? {
                Some(found) if found.kind == Kind::Folder => above = Some(found.id),
                Some(_) => return Ok(PlaceBack::top(LostPlace::FileInTheWay)),
                None => break,
            }
            gone.pop();
        }
        let made = gone.iter().rev().map(|folder| {
            Ok(FolderAgain {
                name: name_of(folder)?,
                is_verified: is_named(folder),
            })
        });
        Ok(PlaceBack {
            above,
            made: made.collect::<Result<_, TransferError>>()?,
            lost: None,
            is_verified,
        })
    }

    async fn name_back(&self, trashed: &Node, place: &PlaceBack) -> Result<Name, TransferError> {
        let own = name_of(trashed)?;
        if !place.made.is_empty() {
            return Ok(own);
        }
        let mut name = own.clone();
        for number in 2..NUMBERS {
            if self.child(place.above, &name).await?.is_none() {
                break;
            }
            name = own.with_number(number);
        }
        Ok(name)
    }

    async fn bring_back(
        &self,
        trashed: &Node,
        place: &PlaceBack,
    ) -> Result<BroughtBack, TransferError> {
        let name = self.name_back(trashed, place).await?;
        let mut operations = Vec::new();
        let mut parent = place.above;
        for folder in &place.made {
            let id = new_node();
            let keys = self.keys.filter(|_| folder.is_verified);
            operations.push(NodeOperation::CreateFolder {
                id: Some(id),
                parent_id: parent,
                name: folder.name.as_str().to_owned(),
                seal: keys.map(|space| space.folder_seal(id, parent, &folder.name)),
            });
            parent = Some(id);
        }
        operations.push(NodeOperation::Restore {
            id: trashed.id,
            version: Some(trashed.version),
            seal: None,
            in_place: false,
            name: None,
        });
        let seal = match self.keys.filter(|_| place.is_verified) {
            Some(space) => space.seal_of_restored(trashed, parent, &name).await?,
            None => None,
        };
        operations.push(NodeOperation::Move {
            id: trashed.id,
            name: name.as_str().to_owned(),
            parent_id: parent,
            version: Some(trashed.version + 1),
            seal,
        });
        let nodes = self.send_together(operations).await?;
        self.check_result(nodes, (trashed, place), parent, &name)
    }

    /// Sends operations of which all are done or none, and returns the nodes that came of them.
    async fn send_together(
        &self,
        operations: Vec<NodeOperation>,
    ) -> Result<Vec<Node>, TransferError> {
        let together = Together {
            first: 0,
            last: u32::try_from(operations.len() - 1).unwrap_or(u32::MAX),
        };
        let batch = NodeBatch {
            operations,
            together: vec![together],
        };
        all_done(self.api.node_batch(&batch).await?.results)
    }

    fn check_result(
        &self,
        mut nodes: Vec<Node>,
        (trashed, place): (&Node, &PlaceBack),
        parent: Option<NodeId>,
        name: &Name,
    ) -> Result<BroughtBack, TransferError> {
        let is_there = |node: &Node| {
            node.id == trashed.id && node.state == NodeState::Active && is_at(node, parent, name)
        };
        let node = nodes.pop().filter(is_there).ok_or_else(|| {
            TransferError::protocol("a node came out of the trash to another place than asked for")
        })?;
        nodes.truncate(place.made.len());
        if let Some(space) = self.keys {
            nodes
                .iter()
                .chain([&node])
                .try_for_each(|node| space.check(node))?;
        }
        Ok(BroughtBack {
            node,
            folders: nodes,
        })
    }
}

impl PlaceBack {
    fn top(why: LostPlace) -> Self {
        Self {
            above: None,
            made: Vec::new(),
            lost: Some(why),
            is_verified: false,
        }
    }

    /// Returns whether the server puts the node there by itself.
    pub(super) fn is_of_server(&self, trashed: &Node) -> bool {
        self.lost.is_some() || self.made.is_empty() && self.above == trashed.parent_id
    }
}

fn name_of(node: &Node) -> Result<Name, TransferError> {
    Name::new(node.name.clone())
        .map_err(|_| TransferError::protocol(format!("node {} has an impossible name", node.id)))
}

/// Returns the nodes that came of operations that were done together, or the reason why none was.
fn all_done(results: Vec<NodeResult>) -> Result<Vec<Node>, TransferError> {
    /// The status of those that were not done because of another one.
    const UNDONE: u16 = 412;
    let is_reason = |result: &NodeResult| !(200..300).contains(&result.status);
    let of_itself = |result: &&NodeResult| is_reason(result) && result.status != UNDONE;
    let reason = results.iter().find(of_itself);
    match reason.or_else(|| results.iter().find(|result| is_reason(result))) {
        Some(reason) => Err(node_of(reason.clone()).err().unwrap_or_else(|| {
            TransferError::protocol("a change that was refused came with its node")
        })),
        None => results.into_iter().map(node_of).collect(),
    }
}
