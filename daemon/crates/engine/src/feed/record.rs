//! Recording a batch of changes: which are taken, which are refused, and which wait for a person.

use super::CURSOR;
use crate::doubt::{Doubt, Reason};
use crate::facts::{Deletion, Trust, deletion, remote_row};
use crate::shared::{Key, Shared};
use cairn_index::{Db, FolderRow, IndexError, Put, RemoteRow};
use cairn_model::{Cursor, Kind, NodeId};
use cairn_wire::changes::{Change, ChangeKind};
use std::collections::{BTreeMap, BTreeSet};

/// Which changes are taken without asking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Admission {
    All,
    /// Those that a device of the account vouches for; others wait for a person.
    Verified,
}

/// Changes, sorted by what is to be done with them.
struct Batch {
    rows: BTreeMap<NodeId, RemoteRow>,
    removed: BTreeMap<NodeId, Deletion>,
    doubts: BTreeMap<NodeId, Doubt>,
}

/// Records changes and the cursor after them. Returns whether any was news: this device's own
/// changes come back through the feed, and need no plan.
pub(super) fn record(
    shared: &Shared,
    db: &Db<'_>,
    changes: &[Change],
    to: &Cursor,
    admission: Admission,
) -> Result<bool, IndexError> {
    let folders = db.folders()?;
    let mut batch = Batch::sort(shared, changes);
    for change in changes {
        shared.health().accept(change.node_id);
    }
    if admission == Admission::Verified {
        batch.hold(db)?;
    }
    let mut news = batch.put(shared, db, &folders)?;
    for (id, deletion) in &batch.removed {
        if *deletion == Deletion::Agreed {
            db.agree_to_deletion(*id)?;
        }
        news |= db.remove_remote(*id)?;
    }
    for (id, doubt) in batch.doubts {
        doubt.tell(shared, db, &folders, id)?;
    }
    db.set_meta(CURSOR, to.0.as_bytes())?;
    Ok(news)
}

impl Batch {
    fn sort(shared: &Shared, changes: &[Change]) -> Self {
        let mut batch = Self {
            rows: BTreeMap::new(),
            removed: BTreeMap::new(),
            doubts: BTreeMap::new(),
        };
        for change in changes {
            let id = change.node_id;
            match (change.kind, &change.node) {
                (ChangeKind::Created | ChangeKind::Updated, Some(node)) => {
                    batch.doubts.remove(&node.id);
                    match remote_row(&shared.keys, node) {
                        Ok((row, trust)) => {
                            if trust == Trust::Broken {
                                tracing::warn!(node = %node.id, "a node seal does not fit: the change is unverified");
                            }
                            if trust != Trust::Verified {
                                let doubt = Doubt::of_row(Reason::Unverified, &row);
                                batch.doubts.insert(row.node, doubt);
                            }
                            batch.removed.remove(&row.node);
                            batch.rows.insert(row.node, row);
                        }
                        Err(why) => {
                            tracing::warn!(node = %node.id, why, "a node can't be taken as it is; it is left alone");
                            batch.rows.remove(&node.id);
                            let doubt = Doubt::of_node(Reason::Impossible(why), node);
                            batch.doubts.insert(node.id, doubt);
                        }
                    }
                }
                (ChangeKind::Created | ChangeKind::Updated, None) => {}
                (ChangeKind::Trashed | ChangeKind::Deleted, node) => {
                    batch.rows.remove(&id);
                    batch.doubts.remove(&id);
                    let deletion = deletion(&shared.keys, node.as_ref());
                    batch.removed.insert(id, deletion);
                }
            }
        }
        batch
    }

    /// Takes out what no device vouches for and remembers that it waits.
    fn hold(&mut self, db: &Db<'_>) -> Result<(), IndexError> {
        let waiting: BTreeSet<NodeId> = db.unaccepted()?.into_iter().map(|row| row.node).collect();
        for id in self.rows.keys().chain(self.removed.keys()) {
            // Whatever comes now takes the place of what waited; it may wait in its turn.
            if waiting.contains(id) {
                db.remove_unaccepted(*id)?;
            }
        }
        for (id, doubt) in &mut self.doubts {
            if doubt.reason != Reason::Unverified {
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
            doubt.reason = Reason::Held;
            db.put_unaccepted(&doubt.row(*id))?;
        }
        for (id, deletion) in &self.removed {
            if *deletion == Deletion::Unverified
                && let Some(known) = db.remote(*id)?
            {
                let doubt = Doubt::of_row(Reason::Held, &known);
                db.put_unaccepted(&doubt.row(*id))?;
                self.doubts.insert(*id, doubt);
            }
        }
        let doubts = &self.doubts;
        self.removed.retain(|id, _| !doubts.contains_key(id));
        Ok(())
    }

    /// Records nodes, parents before children: a node never stands without its parent, not even for
    /// a moment. Returns whether any was news.
    fn put(
        &mut self,
        shared: &Shared,
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
                    self.doubts.insert(here, Doubt::of_row(Reason::Ring, row));
                    continue;
                }
                match db.put_remote(folders, row)? {
                    // What an upload of ours is making is recorded, and planned, when that ends.
                    Put::News => news |= !shared.is_arriving(Key::Node(here)),
                    Put::Known => {}
                    Put::Rollback => {
                        tracing::warn!(node = %here, "the service serves an older state of a node; it is refused");
                        self.doubts
                            .insert(here, Doubt::of_row(Reason::Rollback, row));
                    }
                }
            }
        }
        Ok(news)
    }
}

/// Whether name, place and content are the same.
fn is_same(known: &RemoteRow, row: &RemoteRow) -> bool {
    known.parent == row.parent
        && known.name == row.name
        && known.kind == row.kind
        && known.revision == row.revision
        && known.source == row.source
        && known.executable == row.executable
}

/// Whether a folder would stand above itself.
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
