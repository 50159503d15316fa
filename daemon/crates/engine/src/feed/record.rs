//! Recording a batch of changes: which are taken, which are refused, and which wait for a person.

use super::CURSOR;
use crate::admission::Admission;
use crate::engine::Engine;
use crate::key::Key;
use crate::node_rows::{Deletion, Trust, deletion, remote_row};
use crate::unverified::{Reason, UnverifiedChange};
use cairn_index::{Db, FolderRow, IndexError, PutResult, RemoteRow};
use cairn_model::{Cursor, Kind, NodeId};
use cairn_wire::changes::{Change, ChangeKind};
use std::collections::{BTreeMap, BTreeSet};

/// Changes, sorted by what is to be done with them.
struct Batch {
    rows: BTreeMap<NodeId, RemoteRow>,
    removed: BTreeMap<NodeId, Deletion>,
    unverified: BTreeMap<NodeId, UnverifiedChange>,
}

/// Records changes and the cursor after them. Returns whether any was news: this device's own
/// changes come back through the feed, and need no plan.
pub(super) fn record(
    engine: &Engine,
    db: &Db<'_>,
    changes: &[Change],
    to: &Cursor,
    admission: Admission,
) -> Result<bool, IndexError> {
    let folders = db.folders()?;
    let mut batch = Batch::sort(engine, changes);
    for change in changes {
        engine.health().accept(change.node_id);
    }
    if admission == Admission::Verified {
        batch.hold(db)?;
    }
    let mut news = batch.put(engine, db, &folders)?;
    for (id, deletion) in &batch.removed {
        if *deletion == Deletion::Agreed {
            db.agree_to_deletion(*id)?;
        }
        news |= db.remove_remote(*id)?;
    }
    for (id, change) in batch.unverified {
        change.report(engine, db, &folders, id)?;
    }
    db.set_meta(CURSOR, to.0.as_bytes())?;
    Ok(news)
}

impl Batch {
    fn sort(engine: &Engine, changes: &[Change]) -> Self {
        let mut batch = Self {
            rows: BTreeMap::new(),
            removed: BTreeMap::new(),
            unverified: BTreeMap::new(),
        };
        for change in changes {
            let id = change.node_id;
            match (change.kind, &change.node) {
                (ChangeKind::Created | ChangeKind::Updated, Some(node)) => {
                    batch.unverified.remove(&node.id);
                    match remote_row(&engine.keys, node) {
                        Ok((row, trust)) => {
                            if trust == Trust::Broken {
                                tracing::warn!(node = %node.id, "a node seal does not fit: the change is unverified");
                            }
                            if trust != Trust::Verified {
                                let change = UnverifiedChange::of_row(Reason::Unverified, &row);
                                batch.unverified.insert(row.node, change);
                            }
                            batch.removed.remove(&row.node);
                            batch.rows.insert(row.node, row);
                        }
                        Err(why) => {
                            tracing::warn!(node = %node.id, why, "a node can't be taken as it is; it is left alone");
                            batch.rows.remove(&node.id);
                            let change = UnverifiedChange::of_node(Reason::Impossible(why), node);
                            batch.unverified.insert(node.id, change);
                        }
                    }
                }
                (ChangeKind::Created | ChangeKind::Updated, None) => {}
                (ChangeKind::Trashed | ChangeKind::Deleted, node) => {
                    batch.rows.remove(&id);
                    batch.unverified.remove(&id);
                    let deletion = deletion(&engine.keys, node.as_ref());
                    batch.removed.insert(id, deletion);
                }
            }
        }
        batch
    }

    /// Holds back what no device vouches for, and records that it waits.
    fn hold(&mut self, db: &Db<'_>) -> Result<(), IndexError> {
        let waiting: BTreeSet<NodeId> = db.unaccepted()?.into_iter().map(|row| row.node).collect();
        for id in self.rows.keys().chain(self.removed.keys()) {
            // Whatever comes now takes the place of what waited; it may wait in its turn.
            if waiting.contains(id) {
                db.remove_unaccepted(*id)?;
            }
        }
        for (id, change) in &mut self.unverified {
            if change.reason != Reason::Unverified {
                continue;
            }
            let Some(row) = self.rows.get(id) else {
                continue;
            };
            // Accepted before, or made by this device: only what is new waits.
            if db.remote(*id)?.is_some_and(|known| is_same(&known, row)) {
                continue;
            }
            self.rows.remove(id);
            change.reason = Reason::Skipped;
            db.put_unaccepted(&change.row(*id))?;
        }
        for (id, deletion) in &self.removed {
            if *deletion == Deletion::Unverified
                && let Some(known) = db.remote(*id)?
            {
                let change = UnverifiedChange::of_row(Reason::Skipped, &known);
                db.put_unaccepted(&change.row(*id))?;
                self.unverified.insert(*id, change);
            }
        }
        let unverified = &self.unverified;
        self.removed.retain(|id, _| !unverified.contains_key(id));
        Ok(())
    }

    /// Records nodes, parents before children: a node never stands without its parent, not even for
    /// a moment. Returns whether any was news.
    fn put(
        &mut self,
        engine: &Engine,
        db: &Db<'_>,
        folders: &[FolderRow],
    ) -> Result<bool, IndexError> {
        let mut news = false;
        let mut done = BTreeSet::new();
        for id in self.rows.keys() {
            let mut chain = Vec::new();
            let mut at = Some(*id);
            while let Some(here) = at
                && !done.contains(&here)
                && !chain.contains(&here)
                && let Some(row) = self.rows.get(&here)
            {
                chain.push(here);
                at = row.parent;
            }
            for here in chain.into_iter().rev() {
                done.insert(here);
                let Some(row) = self.rows.get(&here) else {
                    continue;
                };
                if let Some(parent) = row.parent
                    && db.remote(parent)?.is_none()
                {
                    // Its folder could not be taken: what is known of it stays as it was, so that
                    // nothing is deleted for it.
                    tracing::warn!(node = %here, "a node without a folder is left alone");
                    continue;
                }
                if row.kind == Kind::Folder && is_above(db, row)? {
                    tracing::warn!(node = %here, "the service sent a folder that contains itself");
                    self.unverified
                        .insert(here, UnverifiedChange::of_row(Reason::Ring, row));
                    continue;
                }
                match db.put_remote(folders, row)? {
                    // What an upload of ours is making is recorded, and planned, when that ends.
                    PutResult::New => news |= !engine.arriving.contains(Key::Node(here)),
                    PutResult::Known => {}
                    PutResult::Tampered => {
                        tracing::warn!(node = %here, "the service serves another content key of a revision; it is refused");
                        let reason = Reason::Impossible("another key for the same content");
                        self.unverified
                            .insert(here, UnverifiedChange::of_row(reason, row));
                    }
                    PutResult::Rollback => {
                        tracing::warn!(node = %here, "the service serves an older state of a node; it is refused");
                        self.unverified
                            .insert(here, UnverifiedChange::of_row(Reason::Rollback, row));
                    }
                }
            }
        }
        Ok(news)
    }
}

/// Returns whether name, place and content are the same.
fn is_same(known: &RemoteRow, row: &RemoteRow) -> bool {
    known.parent == row.parent
        && known.name == row.name
        && known.kind == row.kind
        && known.revision == row.revision
        && known.source == row.source
        && known.executable == row.executable
}

/// Returns whether a folder would contain itself.
fn is_above(db: &Db<'_>, folder: &RemoteRow) -> Result<bool, IndexError> {
    let mut at = folder.parent;
    while let Some(above) = at {
        if above == folder.node {
            return Ok(true);
        }
        at = db.remote(above)?.and_then(|row| row.parent);
    }
    Ok(false)
}
