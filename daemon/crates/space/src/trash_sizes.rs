//! The sizes of what is in a trash. The service lists only what was put there; what went along with a folder is in the
//! change feed, and is deleted for good with it.

use cairn_api::{Api, ApiError};
use cairn_model::{Kind, NodeId};
use cairn_wire::changes::{Change, ChangeKind};
use cairn_wire::nodes::{Node, NodeState};
use std::collections::HashMap;

/// The most pages of the feed, of 1,000 nodes each, that are read.
const MOST_PAGES: usize = 20;

/// The most folders that are climbed from a node to what it went into the trash with.
const MOST_LEVELS: usize = 1_000;

/// Something in the trash with everything that went there along with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TrashedSize {
    /// The number of files and folders.
    pub items: u64,
    /// The sizes of the files, of their present versions alone.
    pub bytes: u64,
}

/// The sizes of everything in a trash.
#[derive(Debug, Default)]
pub struct TrashSizes {
    pub total: TrashedSize,
    /// False if there may be more than was counted.
    pub is_complete: bool,
    by_top: HashMap<NodeId, TrashedSize>,
}

/// A node in the trash.
#[derive(Clone, Copy, Debug)]
struct Trashed {
    parent: Option<NodeId>,
    bytes: u64,
}

impl TrashSizes {
    /// Adds up what is in a trash, where `listed` are nodes that the service lists there, of `count` in all. Of a feed
    /// that is too long, or can't be read, the sizes are the least that there is.
    pub async fn read(api: &Api, listed: &[Node], count: u64) -> Self {
        let mut trashed = of_listed(listed);
        let is_whole =
            listed.len() as u64 >= count && listed.iter().all(|node| node.kind == Kind::File);
        let is_complete = is_whole
            || match read_feed(api, &mut trashed).await {
                Ok(is_complete) => is_complete,
                Err(error) => {
                    tracing::warn!(%error, "what went along with folders in the trash is not known");
                    false
                }
            };
        Self::add_up(listed, count, &trashed, is_complete)
    }

    /// Returns the least that there is in a trash, from what the service lists there alone.
    pub fn least(listed: &[Node], count: u64) -> Self {
        Self::add_up(listed, count, &of_listed(listed), false)
    }

    /// Returns what goes with a node that the service lists in the trash.
    pub fn of(&self, node: &Node) -> TrashedSize {
        let alone = TrashedSize {
            items: 1,
            bytes: node.size,
        };
        self.by_top.get(&node.id).copied().unwrap_or(alone)
    }

    fn add_up(
        listed: &[Node],
        count: u64,
        trashed: &HashMap<NodeId, Trashed>,
        is_complete: bool,
    ) -> Self {
        let mut by_top: HashMap<NodeId, TrashedSize> = listed
            .iter()
            .map(|node| (node.id, TrashedSize::default()))
            .collect();
        let mut total = TrashedSize::default();
        for (id, node) in trashed {
            total.add(node.bytes);
            if let Some(top) = top_of(*id, trashed, |id| by_top.contains_key(&id))
                && let Some(size) = by_top.get_mut(&top)
            {
                size.add(node.bytes);
            }
        }
        total.items = total.items.max(count);
        Self {
            total,
            is_complete,
            by_top,
        }
    }
}

impl TrashedSize {
    fn add(&mut self, bytes: u64) {
        self.items += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

fn of_listed(listed: &[Node]) -> HashMap<NodeId, Trashed> {
    let trashed = listed.iter().map(|node| (node.id, Trashed::of(node)));
    trashed.collect()
}

impl Trashed {
    fn of(node: &Node) -> Self {
        Self {
            parent: node.parent_id,
            bytes: node.size,
        }
    }
}

/// Adds the nodes in the trash that the feed tells of. True if it was read to its end.
async fn read_feed(api: &Api, trashed: &mut HashMap<NodeId, Trashed>) -> Result<bool, ApiError> {
    let mut cursor = None;
    for _ in 0..MOST_PAGES {
        let page = api.changes(cursor.as_ref()).await?;
        for change in page.changes {
            note(trashed, change);
        }
        if !page.has_more {
            return Ok(true);
        }
        cursor = Some(page.cursor);
    }
    Ok(false)
}

fn note(trashed: &mut HashMap<NodeId, Trashed>, change: Change) {
    match (change.kind, change.node) {
        (ChangeKind::Trashed, Some(node)) if node.state == NodeState::Trashed => {
            trashed.insert(node.id, Trashed::of(&node));
        }
        (
            ChangeKind::Created | ChangeKind::Updated | ChangeKind::Trashed | ChangeKind::Deleted,
            _,
        ) => {
            trashed.remove(&change.node_id);
        }
    }
}

/// Returns the node that something went into the trash with: itself, or the nearest above that is listed there.
fn top_of(
    id: NodeId,
    trashed: &HashMap<NodeId, Trashed>,
    is_listed: impl Fn(NodeId) -> bool,
) -> Option<NodeId> {
    let mut at = id;
    for _ in 0..MOST_LEVELS {
        if is_listed(at) {
            return Some(at);
        }
        at = trashed.get(&at)?.parent?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn node(n: u8, kind: Kind, parent: Option<u8>, size: u64) -> Node {
        let id = |n: u8| NodeId::from_random_bytes([n; 16]);
        let at = "2026-11-22T03:05:53.123Z";
        let node = json!({
            "id": id(n), "space_id": id(99), "parent_id": parent.map(id), "kind": kind, "name": format!("n{n}"),
            "name_format": "plain", "size": size, "mime_type": null, "category": null, "state": "trashed",
            "revision_id": null, "version": 1, "created_at": at, "updated_at": at, "modified_at": null,
            "executable": false, "description": "", "labels": {}, "tags": [], "favorite": false,
            "seal": null, "seq": 1,
        });
        serde_json::from_value(node).unwrap()
    }

    fn change(node: Node) -> Change {
        Change {
            seq: 1,
            kind: ChangeKind::Trashed,
            node_id: node.id,
            node: Some(node),
        }
    }

    #[test]
    fn what_went_along_with_a_folder_is_counted_with_it() {
        let top = node(1, Kind::Folder, None, 0);
        // It was deleted before its folder, and is listed for itself.
        let own = node(4, Kind::File, Some(2), 7);
        let listed = [top.clone(), own.clone()];
        let mut trashed = of_listed(&listed);
        for node in [
            node(2, Kind::Folder, Some(1), 0),
            node(3, Kind::File, Some(2), 50),
            node(5, Kind::File, Some(2), 30),
        ] {
            note(&mut trashed, change(node));
        }
        let mut back = change(node(5, Kind::File, Some(2), 30));
        back.kind = ChangeKind::Updated;
        note(&mut trashed, back);
        let sizes = TrashSizes::add_up(&listed, 2, &trashed, true);
        let size = |items, bytes| TrashedSize { items, bytes };
        assert_eq!(sizes.total, size(4, 57));
        assert_eq!(sizes.of(&top), size(3, 50));
        assert_eq!(sizes.of(&own), size(1, 7));
    }

    #[test]
    fn what_is_not_known_makes_it_no_less() {
        let listed = [node(1, Kind::File, None, 5)];
        let sizes = TrashSizes::least(&listed, 130);
        assert_eq!((sizes.total.items, sizes.total.bytes), (130, 5));
        assert!(!sizes.is_complete);
        assert_eq!(sizes.of(&node(2, Kind::File, None, 9)).bytes, 9);
    }

    #[test]
    fn folders_in_a_circle_end_the_climb() {
        let mut trashed = HashMap::new();
        for node in [
            node(1, Kind::Folder, Some(2), 0),
            node(2, Kind::Folder, Some(1), 0),
        ] {
            note(&mut trashed, change(node));
        }
        let top = top_of(NodeId::from_random_bytes([1; 16]), &trashed, |_| false);
        assert_eq!(top, None);
    }
}
