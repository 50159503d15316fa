//! Changes that came after a plan was made: the person who agreed to the plan has not seen them.

use super::Past;
use cairn_model::NodeId;
use cairn_wire::nodes::{Node, NodeState};
use std::collections::{HashMap, HashSet};

/// The folders and files of a plan that are not what it was made for any more.
pub struct Unseen {
    /// Nodes that have changed, with all folders above them.
    touched: HashSet<NodeId>,
}

impl Unseen {
    /// Finds out what has changed since a plan was made: `changed` are the nodes with a new state, `own` the
    /// versions that carrying it out has made.
    pub fn new(past: &Past, changed: HashMap<NodeId, Node>, own: &HashMap<NodeId, u64>) -> Self {
        let is_known = |node: &Node| {
            let planned = past.get(node.id).map(|one| one.node.version);
            planned == Some(node.version) || own.get(&node.id) == Some(&node.version)
        };
        let parent_of = |id: NodeId| match changed.get(&id) {
            Some(node) => node.parent_id,
            None => past.get(id).and_then(|one| one.node.parent_id),
        };
        let mut touched = HashSet::new();
        for node in changed.values() {
            if node.state != NodeState::Active || is_known(node) {
                continue;
            }
            let mut at = Some(node.id);
            // Where one was there before, so were those above it; a cycle ends there, too.
            while let Some(id) = at.filter(|id| touched.insert(*id)) {
                at = parent_of(id);
            }
        }
        Self { touched }
    }

    /// Returns whether a node, or anything below it, has changed.
    pub fn is_below(&self, id: NodeId) -> bool {
        self.touched.contains(&id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::past::PastNode;
    use serde_json::json;

    fn id(n: u8) -> NodeId {
        NodeId::from_random_bytes([n; 16])
    }

    fn node(n: u8, parent: u8, version: u64, state: &str) -> Node {
        let at = cairn_wire::Timestamp(0).to_string();
        serde_json::from_value(json!({
            "id": id(n), "space_id": id(0), "parent_id": (parent > 0).then(|| id(parent)),
            "kind": "folder", "name": format!("n{n}"), "name_format": "plain", "size": 0,
            "mime_type": null, "category": null, "state": state, "revision_id": null,
            "version": version, "created_at": at, "updated_at": at, "modified_at": null,
            "executable": false, "description": "", "labels": {}, "tags": [], "favorite": false,
            "seal": null, "seq": 1,
        }))
        .unwrap()
    }

    /// Folders 1 and 2 at the top, 3 in 1, 4 in 3, 5 in 2.
    fn unseen_folders(changed: Vec<Node>, own: &[(u8, u64)]) -> [bool; 5] {
        let planned = [(1, 0), (2, 0), (3, 1), (4, 3), (5, 2)];
        let past = Past::new(planned.map(|(n, parent)| PastNode {
            node: node(n, parent, 1, "active"),
            deleted: None,
            left: Vec::new(),
        }));
        let changed = changed.into_iter().map(|node| (node.id, node));
        let own = own.iter().map(|(n, version)| (id(*n), *version));
        let unseen = Unseen::new(&past, changed.collect(), &own.collect());
        [1, 2, 3, 4, 5].map(|n| unseen.is_below(id(n)))
    }

    #[test]
    fn what_came_or_changed_is_in_all_folders_above_it() {
        let (yes, no) = (true, false);
        assert_eq!(unseen_folders(vec![], &[]), [no; 5]);
        let came = node(9, 4, 1, "active");
        assert_eq!(unseen_folders(vec![came], &[]), [yes, no, yes, yes, no]);
        let moved = node(5, 3, 2, "active");
        assert_eq!(unseen_folders(vec![moved], &[]), [yes, no, yes, no, yes]);
        let changed = node(2, 0, 2, "active");
        assert_eq!(unseen_folders(vec![changed], &[]), [no, yes, no, no, no]);
        // Its folder was moved, too.
        let both = vec![node(4, 5, 2, "active"), node(5, 2, 1, "active")];
        assert_eq!(unseen_folders(both, &[]), [no, yes, no, yes, yes]);
    }

    #[test]
    fn known_versions_and_what_is_in_the_trash_count_for_nothing() {
        let moved = node(5, 3, 2, "active");
        assert_eq!(unseen_folders(vec![moved.clone()], &[(5, 2)]), [false; 5]);
        assert!(unseen_folders(vec![moved], &[(5, 1)])[0]);
        assert_eq!(
            unseen_folders(vec![node(4, 3, 2, "trashed")], &[]),
            [false; 5]
        );
        assert_eq!(
            unseen_folders(vec![node(4, 3, 1, "active")], &[]),
            [false; 5]
        );
    }

    #[test]
    fn a_ring_of_folders_ends() {
        let ring = vec![node(1, 3, 2, "active"), node(3, 1, 1, "active")];
        assert_eq!(unseen_folders(ring, &[]), [true, false, true, false, false]);
    }
}
