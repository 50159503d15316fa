//! Places of the service's files and folders that something else has on this disk, which neither gives way nor is sent:
//! symbolic links, sockets and the like; and in a folder that only sends, files and folders that were made on both
//! sides. They wait for a person, so the folder is not up to date.

use super::taken_there;
use crate::engine::Engine;
use crate::error::EngineError;
use cairn_index::{Db, Dirty, FolderRow, IndexError, Skipped};
use cairn_model::{FolderId, NodeId, Problem, ProblemCause, RelPath};
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

/// Returns the path of a node which was never here, if a link, a socket or the like has its place.
fn place_of_special(
    db: &Db<'_>,
    folder: &FolderRow,
    node: NodeId,
) -> Result<Option<RelPath>, IndexError> {
    if db.remote_row(node)?.is_none() || db.synced_row(folder.id, node)?.is_some() {
        return Ok(None);
    }
    let Some(path) = db.remote_path_in(folder, node)? else {
        return Ok(None);
    };
    let local = db.local_at(folder.id, &path)?;
    Ok(local
        .filter(|row| row.skipped == Skipped::Special)
        .map(|_| path))
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
