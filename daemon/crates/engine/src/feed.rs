//! The remote tree: catching up with the change feed.
//!
//! All pages are fetched first and then recorded in one transaction together with the cursor, so the
//! remote tree is always a state that the service really had. A cursor that the service does not
//! know any more (too old, or its data was restored) means that the shared history is gone: then no
//! absence may count as a deletion, and the synced tree is dropped in the same transaction.

use crate::error::EngineError;
use crate::facts::{Trust, deletion_was_agreed, remote_row};
use crate::shared::{Key, Shared};
use cairn_api::ApiError;
use cairn_index::{ActivityRow, Db, FolderRow, IndexError, RemoteRow};
use cairn_model::{Cursor, NodeId, RevisionId};
use cairn_wire::changes::{Change, ChangeKind};
use std::collections::{BTreeMap, BTreeSet};

/// Where the cursor stands in the index.
const CURSOR: &str = "cursor";

/// What catching up found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Caught {
    Nothing,
    Changes,
    /// The history was replaced: everything was compared afresh.
    Anew,
}

/// The feed position up to which everything is recorded.
pub(crate) fn cursor(shared: &Shared) -> Result<Option<Cursor>, IndexError> {
    let bytes = shared.index.read(|db| db.meta(CURSOR))?;
    Ok(bytes.and_then(|b| String::from_utf8(b).ok()).map(Cursor))
}

/// Brings the remote tree up to date.
///
/// # Errors
/// The network's, the index's, or a service that breaks the protocol.
pub(crate) async fn catch_up(shared: &Shared) -> Result<Caught, EngineError> {
    match cursor(shared)? {
        None => {
            snapshot(shared, false).await?;
            Ok(Caught::Anew)
        }
        Some(from) => match changes_since(shared, &from).await {
            Ok((changes, to)) => {
                if to == from && changes.is_empty() {
                    return Ok(Caught::Nothing);
                }
                let news = shared.index.write(|db| record(shared, db, &changes, &to))?;
                Ok(if news {
                    Caught::Changes
                } else {
                    Caught::Nothing
                })
            }
            Err(EngineError::Api(ApiError::Gone { message })) => {
                tracing::warn!(%message, "the change feed's history was replaced; comparing afresh, deleting nothing");
                snapshot(shared, true).await?;
                Ok(Caught::Anew)
            }
            Err(error) => Err(error),
        },
    }
}

async fn changes_since(
    shared: &Shared,
    from: &Cursor,
) -> Result<(Vec<Change>, Cursor), EngineError> {
    let mut all = Vec::new();
    let mut cursor = from.clone();
    loop {
        let page = shared.api.changes(Some(&cursor)).await?;
        all.extend(page.changes);
        if page.has_more && page.cursor == cursor {
            return Err(EngineError::Protocol(
                "the change feed does not move on".into(),
            ));
        }
        cursor = page.cursor;
        if !page.has_more {
            return Ok((all, cursor));
        }
    }
}

async fn snapshot(shared: &Shared, replaced: bool) -> Result<(), EngineError> {
    let mut nodes = Vec::new();
    let mut after: Option<String> = None;
    let mut cursor = None;
    loop {
        let page = shared.api.snapshot(after.as_deref()).await?;
        let first = cursor.get_or_insert(page.cursor.clone()).clone();
        nodes.extend(page.nodes);
        match page.next {
            Some(next) if after.as_ref() != Some(&next) => after = Some(next),
            Some(_) => {
                return Err(EngineError::Protocol(
                    "the snapshot does not move on".into(),
                ));
            }
            None => {
                let (changes, to) = changes_since(shared, &first).await?;
                let mut all: Vec<Change> = nodes
                    .into_iter()
                    .map(|node| Change {
                        seq: node.seq,
                        kind: ChangeKind::Created,
                        node_id: node.id,
                        node: Some(node),
                    })
                    .collect();
                all.extend(changes);
                shared.index.write(|db| {
                    let known = known_manifests(db)?;
                    db.clear_remote()?;
                    if replaced {
                        db.clear_synced()?;
                    }
                    record(shared, db, &all, &to)?;
                    for (revision, (node, hash, number)) in known {
                        db.set_remote_manifest(node, revision, hash, number)?;
                    }
                    for folder in db.folders()? {
                        db.mark_differing(&folder)?;
                    }
                    Ok(())
                })?;
                return Ok(());
            }
        }
    }
}

type Known = BTreeMap<RevisionId, (NodeId, cairn_model::ContentHash, u64)>;

/// What manifests said is still true of the same revisions.
fn known_manifests(db: &Db<'_>) -> Result<Known, IndexError> {
    Ok(db
        .all_remotes()?
        .into_iter()
        .filter_map(|row| Some((row.revision?, (row.node, row.hash?, row.number?))))
        .collect())
}

/// Records changes and the cursor after them. Returns whether any was news: this device's own
/// changes come back through the feed, and need no plan.
fn record(
    shared: &Shared,
    db: &Db<'_>,
    changes: &[Change],
    to: &Cursor,
) -> Result<bool, IndexError> {
    let folders = db.folders()?;
    let mut rows: BTreeMap<NodeId, RemoteRow> = BTreeMap::new();
    let mut removed: BTreeMap<NodeId, bool> = BTreeMap::new();
    let mut unverified = BTreeSet::new();
    for change in changes {
        match (change.kind, &change.node) {
            (ChangeKind::Created | ChangeKind::Updated, Some(node)) => {
                match remote_row(&shared.keys, node) {
                    Ok((row, trust)) => {
                        if trust == Trust::Broken {
                            tracing::warn!(node = %node.id, "a node seal does not fit: the change is unverified");
                        }
                        if trust != Trust::Verified {
                            unverified.insert(row.node);
                        }
                        removed.remove(&row.node);
                        rows.insert(row.node, row);
                    }
                    Err(why) => {
                        tracing::warn!(node = %node.id, why, "a node can't be taken as it is; it is left alone");
                        rows.remove(&node.id);
                    }
                }
            }
            (ChangeKind::Created | ChangeKind::Updated, None) => {}
            (ChangeKind::Trashed | ChangeKind::Deleted, _) => {
                rows.remove(&change.node_id);
                let agreed = change
                    .node
                    .as_ref()
                    .is_some_and(|node| deletion_was_agreed(&shared.keys, node));
                removed.insert(change.node_id, agreed);
            }
        }
    }
    let mut news = false;
    // Parents before children: a node never stands without its parent, not even for a moment.
    let mut done = BTreeSet::new();
    let ids: Vec<NodeId> = rows.keys().copied().collect();
    for id in ids {
        let mut chain = Vec::new();
        let mut at = Some(id);
        while let Some(here) = at
            && !done.contains(&here)
            && let Some(row) = rows.get(&here)
        {
            if chain.contains(&here) {
                return Err(IndexError::Corrupt(
                    "the service sent folders that contain each other",
                ));
            }
            chain.push(here);
            at = row.parent;
        }
        for here in chain.into_iter().rev() {
            if let Some(row) = rows.get(&here) {
                let parent_known = match row.parent {
                    None => true,
                    Some(parent) => db.remote(parent)?.is_some(),
                };
                if parent_known {
                    // What an upload of ours is making is recorded, and planned, when that ends.
                    news |= db.put_remote(&folders, row)? && !shared.is_arriving(Key::Node(here));
                } else {
                    // Its folder could not be taken: what is known of it stays as it was, so that
                    // nothing is deleted for it.
                    tracing::warn!(node = %here, "a node without a folder is left alone");
                }
                done.insert(here);
            }
        }
    }
    for (id, agreed) in removed {
        if agreed {
            db.agree_to_deletion(id)?;
        }
        news |= db.remove_remote(id)?;
    }
    for id in unverified {
        mark_unverified(shared, db, &folders, id)?;
    }
    db.set_meta(CURSOR, to.0.as_bytes())?;
    Ok(news)
}

/// Tells people that a change came without a seal of one of their devices (a dashboard, a tool
/// without keys, or a server that lies).
fn mark_unverified(
    shared: &Shared,
    db: &Db<'_>,
    folders: &[FolderRow],
    node: NodeId,
) -> Result<(), IndexError> {
    for folder in folders {
        if let Some(path) = db.remote_path_in(folder, node)? {
            db.add_activity(&ActivityRow {
                at_ms: shared.ports.clock.now_ms(),
                folder: Some(folder.id),
                kind: "unverified".into(),
                path: path.to_string(),
                device: None,
                bytes: 0,
            })?;
        }
    }
    Ok(())
}
