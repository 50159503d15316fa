//! Nodes that were left out of the remote tree because their folder is not recorded: it waits for a person, was
//! refused, or can't be. The feed shows each change once, so nothing but a new listing brings them after their folder
//! has come.

use cairn_index::{Db, IndexError};

/// Key in the index that marks that everything has to be listed again: a change was lost.
pub(super) const LIST_AGAIN: &str = "list_again";

/// Returns whether everything has to be listed again: a change was lost, or the folder of what was left out is recorded
/// now. While that folder is held, a listing would change nothing.
///
/// # Errors
/// Returns the error of the index.
pub(super) fn must_list_again(db: &Db<'_>) -> Result<bool, IndexError> {
    Ok(db.meta(LIST_AGAIN)?.is_some() || db.can_take_left_out()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::feed::record::{Page, record};
    use crate::node_rows::folder_seal;
    use crate::testing::TestEngine;
    use cairn_model::{NodeId, SpaceId, Verification};
    use cairn_wire::Timestamp;
    use cairn_wire::changes::{Change, ChangeKind};
    use cairn_wire::nodes::Node;
    use serde_json::json;
    use std::collections::BTreeSet;

    fn id(n: u8) -> NodeId {
        NodeId::from_random_bytes([n; 16])
    }

    /// Returns a folder `nN` with a seal, in the folder of another number.
    fn folder(engine: &Engine, n: u8, parent: Option<u8>) -> Node {
        named(engine, n, parent, &format!("n{n}"))
    }

    fn named(engine: &Engine, n: u8, parent: Option<u8>, name: &str) -> Node {
        let at = Timestamp(0).to_string();
        let parent = parent.map(id);
        let text = json!({
            "id": id(n), "space_id": SpaceId::from_random_bytes([2; 16]), "parent_id": parent, "kind": "folder",
            "name": name, "name_format": "plain", "size": 0, "mime_type": null, "category": null,
            "state": "active", "revision_id": null, "version": 1, "created_at": at, "updated_at": at,
            "modified_at": null, "executable": false, "description": "", "labels": {}, "tags": [],
            "favorite": false, "seal": folder_seal(&engine.keys, id(n), parent, name), "seq": n,
        });
        serde_json::from_value(text).unwrap()
    }

    fn without_seal(mut node: Node) -> Node {
        node.seal = None;
        node
    }

    fn change(node: Node, kind: ChangeKind) -> Change {
        Change {
            seq: node.seq,
            kind,
            node_id: node.id,
            node: Some(node),
        }
    }

    /// Records the last page of a poll on a strict device.
    fn poll(engine: &Engine, changes: &[Change]) {
        let page = Page {
            changes,
            cursor: None,
            is_last: true,
            accepted: &BTreeSet::new(),
        };
        let strict = Verification::Strict;
        let recorded = |db: &Db<'_>| record(engine, db, &page, strict);
        engine.index.write(recorded).unwrap();
    }

    fn see(engine: &Engine, nodes: Vec<Node>) {
        let updated = |node| change(node, ChangeKind::Updated);
        let changes: Vec<Change> = nodes.into_iter().map(updated).collect();
        poll(engine, &changes);
    }

    fn lists_again(engine: &Engine) -> bool {
        engine.index.read(must_list_again).unwrap()
    }

    fn is_known(engine: &Engine, n: u8) -> bool {
        let row = engine.index.read(|db| db.remote_row(id(n)));
        row.unwrap().is_some()
    }

    #[test]
    fn what_was_left_out_of_a_held_folder_is_listed_once_the_folder_is_recorded() {
        let (engine, _dir) = TestEngine::new().into_engine();
        let held = || without_seal(folder(&engine, 1, None));
        see(
            &engine,
            vec![
                held(),
                folder(&engine, 2, Some(1)),
                folder(&engine, 3, Some(2)),
            ],
        );
        assert_eq!([1, 2, 3].map(|n| is_known(&engine, n)), [false; 3]);
        assert!(!lists_again(&engine), "the folder is still held");
        see(&engine, vec![held()]);
        see(&engine, vec![folder(&engine, 9, None)]);
        assert!(!lists_again(&engine), "nothing of it can be recorded");

        see(&engine, vec![folder(&engine, 1, None)]);
        assert!(is_known(&engine, 1));
        assert!(lists_again(&engine), "its seal has come");

        // What the listing shows.
        see(
            &engine,
            vec![folder(&engine, 2, Some(1)), folder(&engine, 3, Some(2))],
        );
        engine.index.write(|db| db.end_left_out()).unwrap();
        assert_eq!([1, 2, 3].map(|n| is_known(&engine, n)), [true; 3]);
        assert!(!lists_again(&engine), "everything was listed");
    }

    #[test]
    fn a_folder_that_was_held_and_deleted_may_come_back_without_what_is_in_it() {
        let (engine, _dir) = TestEngine::new().into_engine();
        let held = without_seal(folder(&engine, 1, None));
        see(&engine, vec![held.clone(), folder(&engine, 2, Some(1))]);
        poll(&engine, &[change(held, ChangeKind::Trashed)]);
        assert!(!lists_again(&engine));
        see(&engine, vec![folder(&engine, 1, None)]);
        assert!(lists_again(&engine));
    }

    #[test]
    fn a_folder_with_something_that_can_not_be_is_known_to_hold_it_until_that_is_gone_or_has_another_name()
     {
        let (engine, _dir) = TestEngine::new().into_engine();
        let holds = |n| engine.index.read(|db| db.holds_unrecorded(id(n))).unwrap();
        let impossible = || named(&engine, 3, Some(2), "a/b");
        see(
            &engine,
            vec![
                folder(&engine, 1, None),
                folder(&engine, 2, Some(1)),
                impossible(),
            ],
        );
        assert_eq!([1, 2].map(holds), [true; 2]);
        see(&engine, vec![named(&engine, 3, Some(2), "b")]);
        assert_eq!([1, 2].map(holds), [false; 2]);
        see(&engine, vec![impossible(), folder(&engine, 4, Some(3))]);
        assert_eq!([1, 2].map(holds), [true; 2]);
        poll(&engine, &[change(impossible(), ChangeKind::Trashed)]);
        assert_eq!([1, 2].map(holds), [false; 2]);
    }

    #[test]
    fn what_was_left_out_of_a_folder_that_can_not_be_is_listed_once_it_has_another_name() {
        let (engine, _dir) = TestEngine::new().into_engine();
        let impossible = named(&engine, 1, None, "a/b");
        see(&engine, vec![impossible, folder(&engine, 2, Some(1))]);
        assert!(!lists_again(&engine));
        see(&engine, vec![named(&engine, 1, None, "a")]);
        assert!(lists_again(&engine));
    }
}
