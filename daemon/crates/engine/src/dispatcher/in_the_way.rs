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
/// or that of a folder above it.
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
    let Some(path) = db.remote_path_in(folder, node)?.filter(|_| is_due) else {
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
    for depth in 1..=path.names().len() {
        let above = path.names()[..depth].iter().cloned();
        let above = above.fold(RelPath::root(), |dir, name| dir.join(name));
        match db.local_at(folder.id, &above)? {
            Some(row) if row.skipped == Skipped::Special => return Ok(Some(path)),
            Some(_) => {}
            None => break,
        }
    }
    Ok(None)
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
    use cairn_index::RemoteRow;
    use cairn_model::{Name, ProblemCode};

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
}
