//! Changes that are kept out of the remote tree: those that wait for a person, and those that can't be.

use super::{Batch, is_same};
use crate::node_rows::Deletion;
use crate::unverified::{Reason, UnverifiedChange};
use cairn_index::{Db, IndexError};
use cairn_model::NodeId;
use cairn_transfer::MAX_NUMBER;
use std::collections::BTreeSet;

impl Batch<'_> {
    /// Keeps changes without a valid seal out of the tree, and records that they wait for a person.
    ///
    /// # Errors
    /// Returns the error of the index.
    pub(super) fn quarantine_unverified(&mut self, db: &Db<'_>) -> Result<(), IndexError> {
        let waiting: BTreeSet<NodeId> = db
            .unaccepted_nodes()?
            .into_iter()
            .map(|row| row.node)
            .collect();
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
            if db
                .remote_row(*id)?
                .is_some_and(|known| is_same(&known, row))
            {
                continue;
            }
            self.rows.remove(id);
            change.reason = Reason::Blocked;
            db.put_unaccepted(&change.row(*id))?;
        }
        for (id, deletion) in &self.removed {
            if *deletion == Deletion::Unverified
                && let Some(known) = db.remote_row(*id)?
            {
                let change = UnverifiedChange::of_deletion(Reason::Blocked, &known);
                db.put_unaccepted(&change.row(*id))?;
                self.unverified.insert(*id, change);
            }
        }
        let unverified = &self.unverified;
        self.removed.retain(|id, _| !unverified.contains_key(id));
        Ok(())
    }

    /// Records only the versions of the changes that wait for a person: what this device changes in such a node
    /// meanwhile is then for the node as the service has it, and not refused for ever.
    ///
    /// # Errors
    /// Returns the error of the index.
    pub(super) fn note_versions(&self, db: &Db<'_>) -> Result<(), IndexError> {
        for (id, change) in &self.unverified {
            // The version is the service's word, and a state that can't be says nothing about later ones.
            if change.reason != Reason::Blocked {
                continue;
            }
            let node = self.changes.get(id).and_then(|change| change.node.as_ref());
            if let Some(version) = node.map(|node| node.version)
                && version <= MAX_NUMBER
            {
                db.raise_remote_version(*id, version, 0)?;
            }
        }
        Ok(())
    }

    /// Notes the nodes that can't be recorded as they are: the folders that they are in are not deleted unseen.
    ///
    /// # Errors
    /// Returns the error of the index.
    pub(super) fn note_impossible(&self, db: &Db<'_>) -> Result<(), IndexError> {
        for (id, change) in &self.unverified {
            if matches!(change.reason, Reason::Impossible(_)) {
                db.put_impossible(*id, change.parent())?;
            }
        }
        Ok(())
    }
}
