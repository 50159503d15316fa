//! Recording a page of the change feed in the index: which changes are accepted, which are refused, and which
//! wait for a person.

mod held;
mod removals;

use super::earlier_epochs;
use super::pending::{self, RecordResult};
use super::went_back;
use super::{CURSOR, LAST_SEQ, LIST_AGAIN, last_seq};
use crate::engine::Engine;
use crate::key::Key;
use crate::node_rows::{Deletion, Trust, deletion, remote_row};
use crate::unverified::{Reason, UnverifiedChange};
use cairn_index::{Db, FolderRow, IndexError, PutResult, RemoteRow};
use cairn_model::{Cursor, Kind, NodeId, Verification};
use cairn_wire::changes::{Change, ChangeKind};
use removals::Waiting;
use std::collections::{BTreeMap, BTreeSet};

/// A page of the feed, or of a snapshot.
pub(super) struct Page<'a> {
    pub(super) changes: &'a [Change],
    /// The position after it; none in a snapshot.
    pub(super) cursor: Option<&'a Cursor>,
    /// No page follows: what waits for its folder has none.
    pub(super) is_last: bool,
    /// Nodes that a person has accepted as the service has them.
    pub(super) accepted: &'a BTreeSet<NodeId>,
}

/// Changes, sorted by what is to be done with them.
struct Batch<'a> {
    changes: BTreeMap<NodeId, &'a Change>,
    rows: BTreeMap<NodeId, RemoteRow>,
    removed: BTreeMap<NodeId, Deletion>,
    /// Nodes in the trash as they are there.
    trashed: BTreeMap<NodeId, (RemoteRow, Trust)>,
    unverified: BTreeMap<NodeId, UnverifiedChange>,
    accepted: &'a BTreeSet<NodeId>,
}

/// Records a page and the cursor after it. Returns whether any change was news: this device's own
/// changes come back through the feed, and need no plan.
pub(super) fn record(
    engine: &Engine,
    db: &Db<'_>,
    page: &Page<'_>,
    verification: Verification,
) -> Result<bool, IndexError> {
    let folders = db.folders()?;
    let nodes = page
        .changes
        .iter()
        .filter_map(|change| change.node.as_ref());
    engine.devices.note(nodes.filter_map(|node| node.device_id));
    let mut batch = Batch::sort(engine, page);
    for change in page.changes {
        engine.health().accept(change.node_id);
        db.remove_pending(change.node_id)?;
        db.remove_impossible(change.node_id)?;
    }
    let kept = match page.is_last || batch.has_deleted_folder() {
        true => pending::take_removals(db)?,
        false => Vec::new(),
    };
    batch.add_kept(engine, &kept);
    batch.distrust_earlier_epochs(engine, db)?;
    batch.take_past_states(engine, db, verification)?;
    batch.refuse_old_deletions(db)?;
    batch.apply_folder_deletions(db, page.is_last)?;
    if verification == Verification::Strict {
        batch.quarantine_unverified(db)?;
    }
    let mut news = batch.put(engine, db, &folders)?;
    news |= batch.remove(engine, db, &folders)?;
    batch.note_versions(db)?;
    batch.note_impossible(db)?;
    if page.is_last {
        news |= batch.put_pending(engine, db, &folders)?;
    }
    for (id, change) in batch.unverified {
        change.report(engine, db, &folders, id)?;
    }
    if let Some(cursor) = page.cursor {
        db.set_meta(CURSOR, cursor.0.as_bytes())?;
        let shown = page.changes.iter().map(|change| change.seq).max();
        let last = last_seq(db)?.max(shown.unwrap_or(0));
        db.set_meta(LAST_SEQ, &last.to_be_bytes())?;
    }
    Ok(news)
}

impl<'a> Batch<'a> {
    fn sort(engine: &Engine, page: &Page<'a>) -> Self {
        let mut batch = Self {
            changes: BTreeMap::new(),
            rows: BTreeMap::new(),
            removed: BTreeMap::new(),
            trashed: BTreeMap::new(),
            unverified: BTreeMap::new(),
            accepted: page.accepted,
        };
        for change in page.changes {
            batch.add(engine, change);
        }
        batch
    }

    fn add(&mut self, engine: &Engine, change: &'a Change) {
        let id = change.node_id;
        self.changes.insert(id, change);
        let node = match (change.kind, &change.node) {
            (ChangeKind::Created | ChangeKind::Updated, Some(node)) => node,
            (ChangeKind::Created | ChangeKind::Updated, None) => return,
            (ChangeKind::Trashed | ChangeKind::Deleted, node) => {
                self.rows.remove(&id);
                self.unverified.remove(&id);
                let row = node.as_ref().map(|node| remote_row(&engine.keys, node));
                if let Some(Ok(row)) = row {
                    self.trashed.insert(id, row);
                }
                let deletion = deletion(&engine.keys, node.as_ref());
                self.removed.insert(id, deletion);
                return;
            }
        };
        self.unverified.remove(&node.id);
        match remote_row(&engine.keys, node) {
            Ok((row, trust)) => {
                if trust == Trust::Broken {
                    tracing::warn!(node = %node.id, "a node seal does not fit: the change is unverified");
                }
                if trust != Trust::Verified {
                    let change = UnverifiedChange::of_row(Reason::Unverified, &row);
                    self.unverified.insert(row.node, change);
                }
                self.removed.remove(&row.node);
                self.rows.insert(row.node, row);
            }
            Err(why) => {
                tracing::warn!(node = %node.id, why, "a node can't be taken as it is; it is left alone");
                self.rows.remove(&node.id);
                let change = UnverifiedChange::of_node(Reason::Impossible(why), node);
                self.unverified.insert(node.id, change);
            }
        }
    }

    /// Takes what is new and was sealed with a replaced key for unverified.
    fn distrust_earlier_epochs(&mut self, engine: &Engine, db: &Db<'_>) -> Result<(), IndexError> {
        if !earlier_epochs::are_over(engine, db)? {
            return Ok(());
        }
        for (id, row) in &mut self.rows {
            if !self.unverified.contains_key(id) && earlier_epochs::strip_seal(engine, db, row)? {
                let change = UnverifiedChange::of_row(Reason::Unverified, row);
                self.unverified.insert(*id, change);
            }
        }
        for (id, deletion) in &mut self.removed {
            let node = self.changes.get(id).and_then(|change| change.node.as_ref());
            if deletion.seq().is_some() && earlier_epochs::is_deletion_over(engine, db, node)? {
                tracing::warn!(node = %id, "a deletion was sealed with a key that was replaced: it is unverified");
                *deletion = Deletion::Unverified;
            }
        }
        Ok(())
    }

    /// Lets the states of a history that takes the place of the known one pass, whatever was seen before. Those
    /// that are older are unverified, and people are told. A strict device has looked before, and refuses what is
    /// older all the same.
    fn take_past_states(
        &mut self,
        engine: &Engine,
        db: &Db<'_>,
        verification: Verification,
    ) -> Result<(), IndexError> {
        if !went_back::is_recording(db)? {
            return Ok(());
        }
        for (id, row) in &self.rows {
            if db.is_past(row)? {
                if verification == Verification::Strict {
                    continue;
                }
                went_back::note(engine, db)?;
                let change = UnverifiedChange::of_row(Reason::Unverified, row);
                self.unverified.insert(*id, change);
            }
            db.remove_past_seal(*id)?;
        }
        Ok(())
    }

    /// Refuses deletions whose seal is no later than one that was seen: the node was restored, or changed,
    /// since, and somebody serves its past as its present.
    fn refuse_old_deletions(&mut self, db: &Db<'_>) -> Result<(), IndexError> {
        let mut refused = Vec::new();
        for (id, deletion) in &self.removed {
            if let Some(seq) = deletion.seq()
                && let Some(known) = db.remote_row(*id)?
                && seq <= known.seen
            {
                tracing::warn!(node = %id, "the service sent an old deletion of a node; it is refused");
                refused.push((*id, UnverifiedChange::of_row(Reason::Rollback, &known)));
            }
        }
        for (id, change) in refused {
            self.removed.remove(&id);
            self.unverified.insert(id, change);
        }
        Ok(())
    }

    /// Records nodes, parents before children: a node is never recorded without its parent. Returns whether
    /// anything changed.
    fn put(
        &mut self,
        engine: &Engine,
        db: &Db<'_>,
        folders: &[FolderRow],
    ) -> Result<bool, IndexError> {
        let mut news = false;
        let rows = std::mem::take(&mut self.rows);
        let mut done = BTreeSet::new();
        for id in rows.keys() {
            let mut chain = Vec::new();
            let mut at = Some(*id);
            while let Some(id) = at
                && !done.contains(&id)
                && !chain.contains(&id)
                && let Some(row) = rows.get(&id)
            {
                chain.push(id);
                at = row.parent;
            }
            for id in chain.into_iter().rev() {
                done.insert(id);
                let Some(row) = rows.get(&id) else {
                    continue;
                };
                let tried = self.put_one(engine, db, folders, row, &mut news)?;
                if tried != RecordResult::Recorded
                    && let Some(change) = self.changes.get(&id)
                {
                    pending::keep(db, change)?;
                }
            }
        }
        Ok(news)
    }

    fn put_one(
        &mut self,
        engine: &Engine,
        db: &Db<'_>,
        folders: &[FolderRow],
        row: &RemoteRow,
        news: &mut bool,
    ) -> Result<RecordResult, IndexError> {
        if let Some(parent) = row.parent
            && db.remote_row(parent)?.is_none()
        {
            return Ok(RecordResult::NoFolder);
        }
        if row.kind == Kind::Folder && is_above(db, row)? {
            return Ok(RecordResult::Cycle);
        }
        let mut row = row.clone();
        if row.seen == 0 {
            row.seal = None;
            if !self.accepted.contains(&row.node) {
                keep_known_bit(db, &mut row)?;
            }
        }
        match db.put_remote(folders, &row)? {
            // What an upload of ours is making is recorded, and planned, when that ends.
            PutResult::New => {
                *news |= !engine.arriving.contains(Key::Node(row.node));
                crate::record::end_sent(db, folders, &row)?;
            }
            PutResult::Known => crate::record::end_sent(db, folders, &row)?,
            PutResult::Tampered => {
                tracing::warn!(node = %row.node, "the service serves another content key of a revision; it is refused");
                let reason = Reason::Impossible("another key for the same content");
                let change = UnverifiedChange::of_row(reason, &row);
                self.unverified.insert(row.node, change);
            }
            PutResult::Rollback => {
                tracing::warn!(node = %row.node, "the service serves an older state of a node; it is refused");
                let change = UnverifiedChange::of_row(Reason::Rollback, &row);
                self.unverified.insert(row.node, change);
            }
        }
        Ok(RecordResult::Recorded)
    }

    /// Records deletions. Returns whether anything changed.
    fn remove(
        &self,
        engine: &Engine,
        db: &Db<'_>,
        folders: &[FolderRow],
    ) -> Result<bool, IndexError> {
        if self.removed.is_empty() {
            return Ok(false);
        }
        let mut news = false;
        let waiting = Waiting::find(engine, db)?;
        for (id, deletion) in &self.removed {
            // Who deleted a revision of ours, or a node where we have put it, has seen that, even if the response
            // to it was lost.
            if let Some((row, _)) = self.trashed.get(id) {
                crate::record::end_sent(db, folders, row)?;
                news |= crate::record::end_sent_places(db, row, engine.api.device())?;
            }
            if matches!(deletion, Deletion::Confirmed { .. }) {
                if !engine.placing.is_empty() {
                    engine.placing.confirm_deletions(&db.sealed_below(*id)?);
                }
                db.confirm_deletion(*id)?;
            }
            db.end_sent_node(*id)?;
            news |= db.remove_remote(*id)?;
            self.keep_seals(engine, db, *id, *deletion)?;
        }
        waiting.end_removed(engine, db)?;
        Ok(news)
    }

    /// Records the seals of a node that is gone: none of its states before that can come back.
    fn keep_seals(
        &self,
        engine: &Engine,
        db: &Db<'_>,
        id: NodeId,
        deletion: Deletion,
    ) -> Result<(), IndexError> {
        if let Some(seq) = deletion.seq().filter(|seq| *seq > 0) {
            db.put_deletion_seal(id, seq)?;
        }
        if let Some((row, Trust::Verified)) = self.trashed.get(&id) {
            let mut row = row.clone();
            earlier_epochs::strip_seal(engine, db, &mut row)?;
            db.put_past_state(&row)?;
        }
        Ok(())
    }

    /// Records changes that have waited for a later page. Returns whether anything changed.
    fn put_pending(
        &mut self,
        engine: &Engine,
        db: &Db<'_>,
        folders: &[FolderRow],
    ) -> Result<bool, IndexError> {
        let mut news = false;
        let (mut rings, mut left) = (Vec::new(), Vec::new());
        let record = |row: &RemoteRow| self.put_one(engine, db, folders, row, &mut news);
        let lost = pending::resolve(engine, db, record, |row, why| match why {
            RecordResult::Cycle => {
                tracing::warn!(node = %row.node, "the service sent a folder that contains itself");
                rings.push((row.node, UnverifiedChange::of_row(Reason::Cycle, row)));
            }
            // Its folder could not be taken: what is known of it stays as it was, so that
            // nothing is deleted for it.
            RecordResult::NoFolder => {
                tracing::warn!(node = %row.node, "a node without a folder is left alone");
                left.push((row.node, row.parent, row.version, row.seen));
            }
            RecordResult::Recorded => {}
        })?;
        for (node, parent, version, seen) in left {
            // Edits of it go to the service, too.
            db.raise_remote_version(node, version, seen)?;
            // No later change brings it, so it is listed again once its folder is recorded.
            if let Some(parent) = parent {
                db.put_left_out(parent)?;
            }
        }
        if lost {
            db.set_meta(LIST_AGAIN, b"1")?;
        }
        self.unverified.extend(rings);
        Ok(news)
    }
}

/// Gives a state that no seal covers the executable bit that is known of its node: the service's word makes nothing
/// executable.
fn keep_known_bit(db: &Db<'_>, row: &mut RemoteRow) -> Result<(), IndexError> {
    let known = db.remote_row(row.node)?;
    row.executable = known.is_some_and(|known| known.executable);
    Ok(())
}

/// Returns whether name, place and content are the same.
pub(super) fn is_same(known: &RemoteRow, row: &RemoteRow) -> bool {
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
        at = db.remote_row(above)?.and_then(|row| row.parent);
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestEngine;
    use cairn_model::DeviceId;
    use cairn_wire::Timestamp;
    use serde_json::json;

    #[test]
    fn the_devices_that_a_page_shows_have_their_names_loaded() {
        let (engine, _dir) = TestEngine::new().into_engine();
        let [known, new] = [1, 2].map(|n| DeviceId::from_random_bytes([n; 16]));
        let at = Timestamp(0).to_string();
        let id = NodeId::from_random_bytes([2; 16]);
        engine.devices.load([(known, "known".to_owned())]);
        for (device, is_due) in [(known, false), (new, true)] {
            let change = json!({ "seq": 1, "kind": "created", "node_id": id, "node": {
                "id": id, "space_id": engine.keys.space(), "parent_id": null, "kind": "folder", "name": "a",
                "name_format": "plain", "size": 0, "mime_type": null, "category": null, "state": "active",
                "revision_id": null, "version": 1, "created_at": at, "updated_at": at, "modified_at": null,
                "executable": false, "description": "", "labels": {}, "tags": [], "favorite": false, "seal": null,
                "seq": 1, "device_id": device,
            }});
            let page = Page {
                changes: &[serde_json::from_value(change).unwrap()],
                cursor: None,
                is_last: true,
                accepted: &BTreeSet::new(),
            };
            let recorded = |db: &Db<'_>| record(&engine, db, &page, Verification::Warn);
            engine.index.write(recorded).unwrap();
            assert_eq!(engine.devices.is_due(), is_due);
        }
    }

    #[test]
    fn a_change_that_can_not_be_read_any_more_holds_up_no_other() {
        let (engine, _dir) = TestEngine::new().into_engine();
        let cursor = Cursor("after".into());
        let page = Page {
            changes: &[],
            cursor: Some(&cursor),
            is_last: true,
            accepted: &BTreeSet::new(),
        };
        engine
            .index
            .write(|db| {
                db.put_pending(NodeId::from_random_bytes([7; 16]), b"rubbish")?;
                record(&engine, db, &page, Verification::Warn)?;
                assert_eq!(db.pending_changes(None, 1)?, []);
                assert_eq!(db.meta(CURSOR)?, Some(b"after".to_vec()));
                assert!(
                    db.meta(LIST_AGAIN)?.is_some(),
                    "it comes with the next list"
                );
                Ok(())
            })
            .unwrap();
    }
}
