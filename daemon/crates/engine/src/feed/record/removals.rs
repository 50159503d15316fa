//! Nodes that went to the trash with a folder. The service changes the folder alone; each node below it keeps
//! the seal (MAC over name, parent and state) of its own last change, which proves no deletion. So the verified
//! deletion of the folder counts for it.

use super::{Batch, pending};
use crate::engine::Engine;
use crate::node_rows::{Deletion, Trust};
use cairn_index::{Db, IndexError};
use cairn_model::{Kind, NodeId};
use cairn_wire::changes::Change;
use std::collections::{BTreeMap, BTreeSet};

impl<'a> Batch<'a> {
    /// Returns whether there is a verified deletion of a folder, so that something may have gone with it.
    pub(super) fn has_deleted_folder(&self) -> bool {
        self.removed.iter().any(|(id, deletion)| {
            let row = self.trashed.get(id);
            *deletion != Deletion::Unverified && row.is_none_or(|(row, _)| row.kind == Kind::Folder)
        })
    }

    /// Adds removals of earlier pages that were kept for the deletion of their folder.
    pub(super) fn add_kept(&mut self, engine: &Engine, kept: &'a [Change]) {
        for change in kept {
            if !self.changes.contains_key(&change.node_id) {
                self.add(engine, change);
            }
        }
    }

    /// Lets the verified deletion of a folder count for what went with it. Unverified removals are kept until the
    /// last page: the deletion of their folder may come with a later one.
    ///
    /// # Errors
    /// Returns the error of the index.
    pub(super) fn apply_folder_deletions(
        &mut self,
        db: &Db<'_>,
        is_last: bool,
    ) -> Result<(), IndexError> {
        let mut covered = BTreeMap::new();
        let mut open = Vec::new();
        for id in self.unverified_removals() {
            match self.deletion_above(db, id)? {
                Some(deletion) => {
                    covered.insert(id, deletion.of_content());
                }
                None if is_last => {}
                None if self.is_link(id) || db.remote_row(id)?.is_some() => open.push(id),
                None => {}
            }
        }
        self.removed.extend(covered);
        for id in open {
            self.removed.remove(&id);
            if let Some(change) = self.changes.get(&id) {
                pending::keep(db, change)?;
            }
        }
        Ok(())
    }

    fn unverified_removals(&self) -> Vec<NodeId> {
        let removed = self.removed.iter();
        let unverified = removed.filter(|(_, deletion)| **deletion == Deletion::Unverified);
        unverified.map(|(id, _)| *id).collect()
    }

    /// Returns whether something else may have gone through this node with a folder above it.
    fn is_link(&self, id: NodeId) -> bool {
        self.trashed
            .get(&id)
            .is_some_and(|(row, _)| row.kind == Kind::Folder)
    }

    /// Returns the nearest verified deletion of a folder above a node. A person's agreement is about
    /// what devices have put into the folder, not about what the service alone has.
    fn deletion_above(&self, db: &Db<'_>, id: NodeId) -> Result<Option<Deletion>, IndexError> {
        let mut seen = BTreeSet::from([id]);
        let (mut at, mut is_sealed) = (id, true);
        while let Some((above, is_place_sealed)) = self.last_parent(db, at)? {
            is_sealed &= is_place_sealed;
            // What is not in the trash took nothing there; and a service that lies may show a cycle.
            if self.rows.contains_key(&above) || !seen.insert(above) {
                return Ok(None);
            }
            match self.removed.get(&above) {
                Some(Deletion::Unverified) | None => at = above,
                Some(deletion) if is_sealed => return Ok(Some(*deletion)),
                Some(deletion) => return Ok(Some(deletion.without_agreement())),
            }
        }
        Ok(None)
    }

    /// Returns the folder in which a removed node was last, as far as a seal proves it: if the service's claim were
    /// enough, it could put anything into a folder that was deleted. Returns, too, whether a seal proves it: what the
    /// service told before was taken where the device is not strict, or a person accepted it.
    fn last_parent(&self, db: &Db<'_>, id: NodeId) -> Result<Option<(NodeId, bool)>, IndexError> {
        let known = db.remote_row(id)?;
        let seen = known.as_ref().map_or(0, |row| row.seen);
        let moved = self
            .trashed
            .get(&id)
            .filter(|(row, trust)| *trust == Trust::Verified && row.seen > seen);
        Ok(match moved {
            Some((row, _)) => row.parent.map(|parent| (parent, true)),
            None => known.and_then(|row| Some((row.parent?, row.seal.is_some()))),
        })
    }
}

/// Nodes whose state is refused or waits for a person, each with the node whose removal ends that.
pub(super) struct Waiting(Vec<(NodeId, NodeId)>);

impl Waiting {
    /// Finds them before anything is removed.
    ///
    /// # Errors
    /// Returns the error of the index.
    pub(super) fn find(engine: &Engine, db: &Db<'_>) -> Result<Self, IndexError> {
        let refused = engine.health().refused_nodes();
        let mut found = BTreeMap::new();
        for row in db.unaccepted_nodes()? {
            if let Some(parent) = row.parent {
                found.insert(row.node, parent);
            }
        }
        for node in refused
            .into_iter()
            .chain(found.keys().copied().collect::<Vec<_>>())
        {
            if db.remote_row(node)?.is_some() {
                found.insert(node, node);
            }
        }
        let mut waiting = Vec::new();
        for (node, anchor) in found {
            if db.remote_row(anchor)?.is_some() {
                waiting.push((node, anchor));
            }
        }
        Ok(Self(waiting))
    }

    /// Ends the waiting of those that are gone.
    ///
    /// # Errors
    /// Returns the error of the index.
    pub(super) fn end_removed(self, engine: &Engine, db: &Db<'_>) -> Result<(), IndexError> {
        for (node, anchor) in self.0 {
            if db.remote_row(anchor)?.is_none() {
                db.remove_unaccepted(node)?;
                engine.health().accept(node);
            }
        }
        Ok(())
    }
}
