//! The remote tree from a snapshot: at the beginning, when the history was replaced, and when a person
//! takes what was held.

use super::changes_since;
use super::record::record;
use crate::admission::Admission;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::restored;
use crate::unverified;
use cairn_index::{Db, IndexError};
use cairn_model::{ContentHash, Cursor, NodeId, RevisionId};
use cairn_wire::changes::{Change, ChangeKind};
use std::collections::{BTreeMap, BTreeSet};

/// Records the remote tree for the first time.
///
/// # Errors
/// The network's, the index's, or a service that breaks the protocol.
pub(super) async fn load_first(engine: &Engine) -> Result<(), EngineError> {
    let (all, to, _) = fetch(engine).await?;
    engine.index.write(|db| {
        record(engine, db, &all, &to, engine.admission.get())?;
        compare_afresh(db)
    })?;
    Ok(())
}

/// Records the remote tree of another history: what is known says nothing about deletions any more.
///
/// # Errors
/// As for [`load_first`].
pub(super) async fn load_replaced(engine: &Engine) -> Result<(), EngineError> {
    let (all, to, history) = fetch(engine).await?;
    engine.index.write(|db| {
        let known = known_manifests(db)?;
        db.clear_remote()?;
        db.clear_synced()?;
        db.clear_unaccepted()?;
        record(engine, db, &all, &to, engine.admission.get())?;
        for (revision, (node, hash, number)) in known {
            db.set_remote_manifest(node, revision, hash, number)?;
        }
        restored::begin(db, &history)?;
        compare_afresh(db)
    })?;
    Ok(())
}

/// Accepts every change that was held for a person, as the service has the nodes now. Returns how many
/// there were.
///
/// # Errors
/// As for [`load_first`].
pub(crate) async fn accept(engine: &Engine) -> Result<u64, EngineError> {
    let held = engine.index.read(|db| db.unaccepted())?;
    if held.is_empty() {
        return Ok(0);
    }
    // The whole tree: a folder that was held has kept everything below it from being recorded.
    let (all, to, _) = fetch(engine).await?;
    let there: BTreeSet<NodeId> = all.iter().map(|change| change.node_id).collect();
    engine.index.write(|db| {
        record(engine, db, &all, &to, Admission::All)?;
        // Only what was held: an upload may have ended since, and its node be in no snapshot yet.
        for row in held.iter().filter(|row| !there.contains(&row.node)) {
            db.remove_remote(row.node)?;
        }
        db.clear_unaccepted()?;
        compare_afresh(db)
    })?;
    for row in &held {
        engine.health().accept(row.node);
    }
    Ok(held.len() as u64)
}

/// Puts what an earlier run has held among the problems again.
///
/// # Errors
/// The index's.
pub(crate) fn restore_held_problems(engine: &Engine) -> Result<(), IndexError> {
    engine.index.read(|db| {
        let folders = db.folders()?;
        for row in db.unaccepted()? {
            unverified::restore_problem(engine, db, &folders, row)?;
        }
        Ok(())
    })
}

/// Every node of the space, as changes, the position up to which they are complete, and the history
/// that they are of.
async fn fetch(engine: &Engine) -> Result<(Vec<Change>, Cursor, String), EngineError> {
    let mut all = Vec::new();
    let mut after: Option<String> = None;
    let mut cursor = None;
    loop {
        let page = engine.api.snapshot(after.as_deref()).await?;
        let first = cursor.get_or_insert(page.cursor.clone()).clone();
        all.extend(page.nodes.into_iter().map(|node| Change {
            seq: node.seq,
            kind: ChangeKind::Created,
            node_id: node.id,
            node: Some(node),
        }));
        match page.next {
            Some(next) if after.as_ref() != Some(&next) => after = Some(next),
            Some(_) => {
                return Err(EngineError::Protocol(
                    "the snapshot does not move on".into(),
                ));
            }
            None => {
                let (changes, to) = changes_since(engine, &first).await?;
                all.extend(changes);
                return Ok((all, to, page.epoch));
            }
        }
    }
}

fn compare_afresh(db: &Db<'_>) -> Result<(), IndexError> {
    for folder in db.folders()? {
        db.mark_differing(&folder)?;
    }
    Ok(())
}

type Known = BTreeMap<RevisionId, (NodeId, ContentHash, u64)>;

/// Returns the contents of opened manifests, which stay valid for the same revisions.
fn known_manifests(db: &Db<'_>) -> Result<Known, IndexError> {
    Ok(db
        .all_remotes()?
        .into_iter()
        .filter_map(|row| Some((row.revision?, (row.node, row.hash?, row.number?))))
        .collect())
}
