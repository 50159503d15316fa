//! Places of the service's files and folders that something else has on this disk, which neither gives way nor is sent:
//! symbolic links, sockets and the like; and in a folder that only sends, files and folders that were made on both
//! sides. They wait for a person, so the folder is not up to date.

use super::taken_there;
use crate::engine::Engine;
use crate::error::EngineError;
use cairn_index::{Db, Dirty, FolderRow, IndexError, Skipped};
use cairn_model::{FolderId, NodeId, Problem, ProblemCause, RelPath, SyncMode};
use std::collections::BTreeMap;

/// Reports what is in the way of some dirty rows of a folder, which no step and no wait mentions, and forgets what is
/// not in the way any more.
pub(super) fn report(engine: &Engine, id: FolderId, dirty: &Dirty) -> Result<(), EngineError> {
    let known = engine.health().blocked_places(id);
    let found = engine.index.read(|db| {
        let mut found = BTreeMap::new();
        let Some(folder) = db.folder(id)? else {
            return Ok(found);
        };
        for node in dirty.node.iter().chain(known.keys()).copied() {
            if let Some(path) = place_of_special(db, &folder, node)? {
                found.insert(node, problem(&path));
            }
        }
        taken_there::find(db, &folder, dirty, &known, &mut found)?;
        Ok(found)
    })?;
    engine.health().record_blocked_places(id, found);
    Ok(())
}

/// Returns the path of a node that can't come as the service has it, because a link, a socket or the like has its place
/// or that of a folder above it. Below a folder that has not come either, that one stands for all.
fn place_of_special(
    db: &Db<'_>,
    folder: &FolderRow,
    node: NodeId,
) -> Result<Option<RelPath>, IndexError> {
    let (Some(remote), synced) = (db.remote_row(node)?, db.synced_row(folder.id, node)?) else {
        return Ok(None);
    };
    let is_due = synced.as_ref().is_none_or(|synced| {
        let (there, here) = (&remote.revision, &synced.revision);
        let has_moved = (remote.parent, &remote.name) != (synced.parent, &synced.name);
        folder.settings.mode != SyncMode::Upload && (there != here || has_moved)
    });
    if !is_due || !has_parent_here(db, folder, remote.parent)? {
        return Ok(None);
    }
    let Some(path) = db.remote_path_in(folder, node)? else {
        return Ok(None);
    };
    let own = synced
        .map(|synced| db.local_row(synced.local))
        .transpose()?;
    if own
        .flatten()
        .is_some_and(|row| row.skipped == Skipped::Special)
    {
        return Ok(Some(path));
    }
    let mut above = None;
    for name in path.names() {
        match db.child(folder.id, above, name)? {
            Some(row) if row.skipped == Skipped::Special => return Ok(Some(path)),
            Some(row) => above = Some(row.id),
            None => break,
        }
    }
    Ok(None)
}

/// Returns whether the folder that a node lies in on the service is the synced one, or was synced.
fn has_parent_here(
    db: &Db<'_>,
    folder: &FolderRow,
    parent: Option<NodeId>,
) -> Result<bool, IndexError> {
    if folder.remote_node == Some(parent) {
        return Ok(true);
    }
    let Some(parent) = parent else {
        return Ok(false);
    };
    Ok(db.synced_row(folder.id, parent)?.is_some())
}

fn problem(path: &RelPath) -> Problem {
    Problem::new(
        path.to_string(),
        ProblemCause::SpecialInTheWay,
        "the service has a file or folder of this name, and a symbolic link or special file is in its way \
         here",
        "move it away here, or rename the other on the service; both stay until then",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestEngine;
    use cairn_index::{FolderSettings, RemoteRow, SyncedRow};
    use cairn_model::{LocalId, Name, ProblemCode, RevisionId};

    #[test]
    fn a_link_at_the_name_of_a_file_of_the_service_needs_a_person_until_it_is_gone() {
        let test = TestEngine::new();
        let id = test.folder.id;
        let link = test.local_file("l", Skipped::Special);
        let node = NodeId::from_random_bytes([7; 16]);
        let (engine, _dir) = test.into_engine();
        let write = |db: &Db<'_>| {
            let folder = db.folder(id)?.expect("it was added");
            let parent = folder.remote_node.flatten();
            let row = RemoteRow::folder(node, parent, Name::new("l".to_owned()).expect("a name"));
            db.put_remote(&[folder], &row)?;
            db.mark_node(id, node)
        };
        engine.index.write(write).unwrap();
        let report = |nodes: &[NodeId]| {
            let dirty = Dirty {
                node: nodes.to_vec(),
                ..Dirty::default()
            };
            report(&engine, id, &dirty).unwrap();
        };
        report(&[node]);
        assert!(engine.health().waits_for_person(id));
        let codes: Vec<_> = engine
            .health()
            .problems(id)
            .iter()
            .map(|p| p.code)
            .collect();
        assert_eq!(codes, [ProblemCode::NameClash]);
        engine.index.write(|db| db.clean_node(id, node)).unwrap();
        report(&[]);
        assert!(
            engine.health().waits_for_person(id),
            "the mark is gone, the link is not"
        );
        engine.index.write(|db| db.remove_local(id, link)).unwrap();
        report(&[]);
        assert!(!engine.health().waits_for_person(id));
    }

    /// A folder `d` and its file `d/x`, both synced, after a link has taken the place of `d`.
    struct Replaced {
        engine: std::sync::Arc<Engine>,
        id: FolderId,
        file: NodeId,
        _dir: tempfile::TempDir,
    }

    fn dir() -> NodeId {
        NodeId::from_random_bytes([1; 16])
    }

    fn named(name: &str) -> Name {
        Name::new(name.to_owned()).expect("a name")
    }

    fn synced(folder: &FolderRow, remote: &RemoteRow, local: LocalId) -> SyncedRow {
        SyncedRow {
            folder: folder.id,
            node: remote.node,
            local,
            parent: remote.parent,
            name: remote.name.clone(),
            kind: remote.kind,
            revision: remote.revision,
            hash: None,
            size: 0,
            executable: false,
        }
    }

    impl Replaced {
        fn new() -> Self {
            let test = TestEngine::new();
            let (id, file) = (test.folder.id, NodeId::from_random_bytes([2; 16]));
            let link = test.local_file("d", Skipped::Special);
            let gone = test.local_file("gone", Skipped::No);
            let (engine, _dir) = test.into_engine();
            let write = |db: &Db<'_>| {
                let folder = db.folder(id)?.expect("it was added");
                let top = folder.remote_node.flatten();
                let above = RemoteRow::folder(dir(), top, named("d"));
                let file = RemoteRow::folder(file, Some(dir()), named("x"));
                for (row, local) in [(&above, link), (&file, gone)] {
                    db.put_remote(std::slice::from_ref(&folder), row)?;
                    db.put_synced(&synced(&folder, row, local))?;
                }
                db.remove_local(id, gone)
            };
            engine.index.write(write).unwrap();
            Self {
                engine,
                id,
                file,
                _dir,
            }
        }

        /// Returns the paths of the problems after a report of these nodes.
        fn report(&self, nodes: &[NodeId]) -> Vec<String> {
            let dirty = Dirty {
                node: nodes.to_vec(),
                ..Dirty::default()
            };
            report(&self.engine, self.id, &dirty).unwrap();
            let problems = self.engine.health().problems(self.id);
            problems.into_iter().map(|problem| problem.path).collect()
        }

        fn put(&self, row: &RemoteRow) {
            let write = |db: &Db<'_>| {
                let folder = db.folder(self.id)?.expect("it was added");
                db.put_remote(&[folder], row)
            };
            self.engine.index.write(write).unwrap();
        }
    }

    #[test]
    fn what_changed_on_the_service_below_a_link_needs_a_person() {
        let it = Replaced::new();
        assert!(it.report(&[it.file]).is_empty(), "it is as it was");
        let mut changed = RemoteRow::folder(it.file, Some(dir()), named("x"));
        changed.revision = Some(RevisionId::from_random_bytes([3; 16]));
        it.put(&changed);
        assert_eq!(it.report(&[it.file]), ["d/x"]);
        assert!(it.engine.health().waits_for_person(it.id));
        let mode = |db: &Db<'_>| {
            let folder = db.folder(it.id)?.expect("it was added");
            let settings = FolderSettings {
                mode: SyncMode::Upload,
                ..folder.settings
            };
            db.set_folder_settings(it.id, &settings)
        };
        it.engine.index.write(mode).unwrap();
        assert!(it.report(&[]).is_empty(), "nothing comes to this folder");
    }

    #[test]
    fn a_folder_that_has_not_come_stands_for_all_that_is_in_it() {
        let it = Replaced::new();
        let new = NodeId::from_random_bytes([4; 16]);
        let below = NodeId::from_random_bytes([5; 16]);
        it.put(&RemoteRow::folder(new, Some(dir()), named("new")));
        it.put(&RemoteRow::folder(below, Some(new), named("below")));
        assert_eq!(it.report(&[below, new]), ["d/new"]);
    }
}
