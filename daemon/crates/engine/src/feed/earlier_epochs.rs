//! States that were sealed with the key of an earlier epoch (generation of the space's key).
//!
//! A person who lost access when the key was replaced still has the earlier keys, and can seal with them. So once
//! everything was listed with the keys of the present epoch, such a seal vouches for what this device knows already,
//! and for nothing new: that counts as unverified, as if it had no seal.

use crate::engine::Engine;
use crate::node_rows::{is_deletion_current, is_seal_current};
use cairn_index::{Db, EarlierSeal, IndexError, RemoteRow};
use cairn_wire::nodes::Node;

/// Bytes of the MAC at the end of a seal.
const MAC: usize = 32;

/// Notes that everything was listed with the present keys.
pub(super) fn note_listed(engine: &Engine, db: &Db<'_>) -> Result<(), IndexError> {
    db.note_listed_epoch(engine.keys.epoch())
}

/// Returns whether seals of earlier epochs vouch for nothing new any more.
pub(super) fn are_over(engine: &Engine, db: &Db<'_>) -> Result<bool, IndexError> {
    Ok(engine.keys.has_older() && db.is_listed_in(engine.keys.epoch())?)
}

/// Takes the seal off a state that is new and was sealed in an earlier epoch. Returns whether it did.
pub(super) fn strip_seal(
    engine: &Engine,
    db: &Db<'_>,
    row: &mut RemoteRow,
) -> Result<bool, IndexError> {
    let Some(seal) = &row.seal else {
        return Ok(false);
    };
    if !are_over(engine, db)? || is_seal_current(&engine.keys, row) {
        return Ok(false);
    }
    let epoch = engine.keys.epoch();
    let is_known = db.still_vouches(epoch, row.node, EarlierSeal::State(seal))?;
    if is_known || mac_of(seal).is_some_and(|mac| engine.earlier_seals.lock().contains(&mac)) {
        return Ok(false);
    }
    tracing::warn!(node = %row.node, "a change was sealed with a key that was replaced: it is unverified");
    row.seal = None;
    row.seen = 0;
    Ok(true)
}

/// Returns whether the seal of a deletion is of an earlier epoch and vouches for nothing any more.
pub(super) fn is_deletion_over(
    engine: &Engine,
    db: &Db<'_>,
    node: Option<&Node>,
) -> Result<bool, IndexError> {
    Ok(are_over(engine, db)? && !node.is_some_and(|node| is_deletion_current(&engine.keys, node)))
}

/// Remembers the seals of all known states, before these are dropped because the service has another history.
pub(super) fn remember_known(engine: &Engine) -> Result<(), IndexError> {
    if !engine.keys.has_older() {
        return Ok(());
    }
    let rows = engine.index.read(|db| db.all_remotes())?;
    let macs = rows
        .iter()
        .filter_map(|row| mac_of(row.seal.as_deref().unwrap_or_default()));
    engine.earlier_seals.lock().extend(macs);
    Ok(())
}

fn mac_of(seal: &[u8]) -> Option<[u8; MAC]> {
    seal.last_chunk::<MAC>().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::record::{Page, record};
    use crate::node_rows::{Deletion, deletion, folder_seal};
    use crate::testing::TestEngine;
    use cairn_crypto::{KeyRing, NodeFacts, NodeSeal, SealInfo, SpaceKeys, SystemRandom};
    use cairn_model::{Kind, NodeId, SpaceId, Verification};
    use cairn_wire::Sealed;
    use cairn_wire::changes::{Change, ChangeKind};
    use serde_json::json;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    fn folder(n: u8, seal: Sealed, state: &str) -> Node {
        let at = cairn_wire::Timestamp(0).to_string();
        let text = json!({
            "id": NodeId::from_random_bytes([n; 16]), "space_id": SpaceId::from_random_bytes([2; 16]),
            "parent_id": null, "kind": "folder", "name": format!("f{n}"), "name_format": "plain", "size": 0,
            "mime_type": null, "category": null, "state": state, "revision_id": null, "version": 1,
            "created_at": at, "updated_at": at, "modified_at": null,
            "executable": false, "description": "", "labels": {}, "tags": [], "favorite": false, "seal": seal,
            "seq": n,
        });
        serde_json::from_value(text).unwrap()
    }

    fn sealed_folder(keys: &SpaceKeys, n: u8) -> Node {
        let seal = folder_seal(
            keys,
            NodeId::from_random_bytes([n; 16]),
            None,
            &format!("f{n}"),
        );
        folder(n, seal, "active")
    }

    fn deleted_folder(keys: &SpaceKeys, n: u8) -> Node {
        let name = format!("f{n}");
        let facts = NodeFacts {
            node: NodeId::from_random_bytes([n; 16]),
            parent: None,
            name: &name,
            kind: Kind::Folder,
            executable: false,
            deleted: true,
        };
        let info = SealInfo {
            seq: 2,
            manifest_hash: None,
        };
        folder(n, Sealed(NodeSeal::make(keys, &facts, info)), "trashed")
    }

    fn record_change(engine: &Engine, kind: ChangeKind, node: Node, verification: Verification) {
        let change = Change {
            seq: node.seq,
            kind,
            node_id: node.id,
            node: Some(node),
        };
        let page = Page {
            changes: &[change],
            cursor: None,
            is_last: true,
            accepted: &BTreeSet::new(),
        };
        engine
            .index
            .write(|db| record(engine, db, &page, verification))
            .unwrap();
    }

    /// Returns whether the recorded node has a seal; `None` if it isn't recorded.
    fn recorded(engine: &Engine, n: u8) -> Option<bool> {
        let node = NodeId::from_random_bytes([n; 16]);
        let row = engine.index.read(|db| db.remote_row(node)).unwrap();
        row.map(|row| row.seal.is_some())
    }

    #[test]
    fn seals_of_a_replaced_key_vouch_for_what_is_known_and_for_nothing_new() {
        let space = SpaceId::from_random_bytes([2; 16]);
        let first = KeyRing::generate(space, 1, &mut SystemRandom);
        let next = first.renew(2, &mut SystemRandom).unwrap();
        let (former, present) = (first.keys(), next.keys());
        let mut test = TestEngine::new();
        test.options.keys = Arc::new(present.clone());
        let (engine, _dir) = test.into_engine();
        let (created, trashed) = (ChangeKind::Created, ChangeKind::Trashed);
        let (warn, strict) = (Verification::Warn, Verification::Strict);

        // While everything is listed with the new keys, what was sealed before counts.
        record_change(&engine, created, sealed_folder(&former, 1), strict);
        record_change(&engine, created, sealed_folder(&former, 2), strict);
        assert_eq!(recorded(&engine, 1), Some(true));
        engine.index.write(|db| note_listed(&engine, db)).unwrap();

        // Then only what is known, and what is sealed with the new key.
        record_change(&engine, created, sealed_folder(&former, 1), strict);
        record_change(&engine, created, sealed_folder(&former, 3), strict);
        record_change(&engine, created, sealed_folder(&former, 4), warn);
        record_change(&engine, created, sealed_folder(&present, 5), strict);
        let all = [1, 3, 4, 5].map(|n| recorded(&engine, n));
        assert_eq!(all, [Some(true), None, Some(false), Some(true)]);

        let gone = deleted_folder(&former, 2);
        assert_eq!(
            deletion(&present, Some(&gone)),
            Deletion::Verified { seq: 2 }
        );
        record_change(&engine, trashed, gone, strict);
        assert_eq!(recorded(&engine, 2), Some(true), "it waits for a person");
        record_change(&engine, trashed, deleted_folder(&present, 1), strict);
        assert_eq!(recorded(&engine, 1), None);

        // The service has another history: what was known still counts.
        remember_known(&engine).unwrap();
        engine.index.write(|db| db.clear_remote()).unwrap();
        record_change(&engine, created, sealed_folder(&former, 2), strict);
        record_change(&engine, created, sealed_folder(&former, 6), strict);
        assert_eq!([2, 6].map(|n| recorded(&engine, n)), [Some(true), None]);
    }
}
