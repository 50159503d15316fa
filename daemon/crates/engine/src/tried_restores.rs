//! The deletions on the service that this engine has tried to take back. Each is taken back once: a deletion that is
//! still known after that can't be, and what is here becomes a new node.

use cairn_index::{Db, IndexError};
use cairn_model::{FolderId, Kind, LocalId, NodeId};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};

/// The deletions that were tried, and the folders that come back.
#[derive(Default)]
pub(crate) struct TriedRestores {
    /// Each node of a folder pair with the number of the deletion's seal. One that has not come back is not in the
    /// trash, or can't be taken out of it.
    deletions: Mutex<BTreeMap<(FolderId, NodeId), u64>>,
    /// Folders that the service was asked to take out of the trash, and that have no plan yet with what came back.
    folders: Mutex<BTreeSet<(FolderId, NodeId)>>,
}

impl TriedRestores {
    pub(crate) fn contains(&self, folder: FolderId, node: NodeId, number: u64) -> bool {
        self.deletions.lock().get(&(folder, node)) == Some(&number)
    }

    pub(crate) fn add(&self, folder: FolderId, node: NodeId, number: u64) {
        self.deletions.lock().insert((folder, node), number);
    }

    /// Records a folder before the service is asked for it: its response may be lost, or say that nothing was done.
    pub(crate) fn add_folder(&self, folder: FolderId, node: NodeId) {
        self.folders.lock().insert((folder, node));
    }

    /// Unlinks, before a plan, everything in a folder that has come back and that has not come back with it: a person
    /// has moved all of it here, so nothing of it is deleted for that. Nodes that a device has deleted for themselves
    /// stay deleted. Returns the folders of which this is done: [`Self::end`] ends them once it is recorded.
    ///
    /// # Errors
    /// Returns the error of the index.
    pub(crate) fn keep_missing(
        &self,
        db: &Db<'_>,
        folder: FolderId,
    ) -> Result<Vec<NodeId>, IndexError> {
        let asked: Vec<NodeId> = {
            let folders = self.folders.lock();
            let own = folders.iter().filter(|(of, _)| *of == folder);
            own.map(|(_, node)| *node).collect()
        };
        let mut done = Vec::new();
        for node in asked {
            match db.synced_row(folder, node)? {
                Some(base) if db.remote_row(node)?.is_some() => {
                    unlink_missing(db, folder, base.local)?;
                    done.push(node);
                }
                // The feed may show it yet.
                Some(_) => {}
                None => done.push(node),
            }
        }
        Ok(done)
    }

    /// Forgets folders about which nothing is left to do.
    pub(crate) fn end(&self, folder: FolderId, done: &[NodeId]) {
        let mut folders = self.folders.lock();
        for node in done {
            folders.remove(&(folder, *node));
        }
    }
}

fn unlink_missing(db: &Db<'_>, folder: FolderId, above: LocalId) -> Result<(), IndexError> {
    let mut open = vec![above];
    while let Some(dir) = open.pop() {
        for row in db.children(folder, Some(dir))? {
            if let Some(base) = db.synced_by_local(row.id)?
                && db.remote_row(base.node)?.is_none()
            {
                if db.deletion_seal(base.node)?.is_some() {
                    // What is in it went with it.
                    continue;
                }
                db.remove_synced(folder, base.node)?;
                db.clean_node(folder, base.node)?;
                db.mark_local(folder, row.id)?;
            }
            if row.kind == Kind::Folder {
                open.push(row.id);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestEngine, synced_file};
    use cairn_index::{LocalRow, LocalStat, RemoteRow, Skipped, SyncedRow};
    use cairn_model::Name;

    fn node(n: u8) -> NodeId {
        NodeId::from_random_bytes([n; 16])
    }

    #[test]
    fn what_does_not_come_back_with_its_folder_is_kept_unless_a_device_deleted_it_for_itself() {
        let (ctx, _dir) = TestEngine::new().into_ctx();
        let folder = ctx.folder.id;
        let tried = &ctx.engine.tried_restores;
        tried.add_folder(folder, node(1));
        let linked = ctx.engine.index.write(|db| {
            let insert = |parent, name: &str, kind| {
                db.insert_local(&LocalRow {
                    id: LocalId(0),
                    folder,
                    parent,
                    name: Name::new(name).unwrap(),
                    kind,
                    stat: LocalStat::default(),
                    executable: false,
                    hash: None,
                    skipped: Skipped::No,
                })
            };
            let dir = insert(None, "d", Kind::Folder)?;
            let deleted = insert(Some(dir), "deleted", Kind::Folder)?;
            for (n, local, name) in [(1, dir, "d"), (3, deleted, "deleted")] {
                db.put_synced(&SyncedRow {
                    kind: Kind::Folder,
                    ..synced_file(folder, node(n), local, name)
                })?;
            }
            db.put_deletion_seal(node(3), 5)?;
            for (n, parent, name) in [
                (2, dir, "back"),
                (4, dir, "held back"),
                (5, deleted, "with it"),
            ] {
                let local = insert(Some(parent), name, Kind::File)?;
                db.put_synced(&synced_file(folder, node(n), local, name))?;
            }
            assert_eq!(tried.keep_missing(db, folder)?, [], "it is not back yet");
            let row = |n, parent, name: &str| {
                RemoteRow::folder(node(n), parent, Name::new(name).unwrap())
            };
            let folders = db.folders()?;
            db.put_remote(&folders, &row(1, None, "d"))?;
            db.put_remote(&folders, &row(2, Some(node(1)), "back"))?;
            assert_eq!(tried.keep_missing(db, folder)?, [node(1)]);
            [1, 2, 3, 4, 5]
                .into_iter()
                .map(|n| Ok(db.synced_row(folder, node(n))?.is_some()))
                .collect::<Result<Vec<_>, IndexError>>()
        });
        assert_eq!(linked.unwrap(), [true, true, true, false, true]);
        tried.end(folder, &[node(1)]);
        assert!(tried.folders.lock().is_empty());
    }
}
