//! Names that this disk takes for those of other files, as failed steps have found them: the planner can't know such
//! names.

use crate::engine::Engine;
use crate::health::Alias;
use cairn_index::{Db, Dirty, FolderRow, IndexError};
use cairn_model::{LocalId, Name};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The aliases of each row of the local tree.
pub(super) type Aliases = BTreeMap<LocalId, BTreeSet<Name>>;

/// Returns the aliases that are in the way of something in a folder.
pub(super) fn find(
    engine: &Engine,
    db: &Db<'_>,
    folder: &FolderRow,
) -> Result<Aliases, IndexError> {
    let mut out = Aliases::new();
    for Alias { there, wanted } in engine.health().aliases(folder.id) {
        let name = wanted.file_name().and_then(|name| name.to_str());
        let name = name.and_then(|name| Name::new(name).ok());
        if let (Some(name), Some(row)) = (name, row_at(db, folder, &there)?) {
            out.entry(row).or_default().insert(name);
        }
    }
    Ok(out)
}

/// Returns the keys of what has an alias.
pub(super) fn keys(db: &Db<'_>, aliases: &Aliases) -> Result<Dirty, IndexError> {
    let mut keys = Dirty::default();
    for local in aliases.keys() {
        keys.local.push(*local);
        keys.node
            .extend(db.synced_by_local(*local)?.map(|synced| synced.node));
    }
    Ok(keys)
}

fn row_at(db: &Db<'_>, folder: &FolderRow, path: &Path) -> Result<Option<LocalId>, IndexError> {
    let mut at = None;
    let Ok(below) = path.strip_prefix(&folder.root) else {
        return Ok(None);
    };
    for part in below {
        let name = part.to_str().and_then(|part| Name::new(part).ok());
        let row = name
            .map(|name| db.child(folder.id, at, &name))
            .transpose()?;
        let Some(row) = row.flatten() else {
            return Ok(None);
        };
        at = Some(row.id);
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::EngineError;
    use crate::health::RetryHint;
    use crate::key::Key;
    use crate::testing::{TestEngine, synced_file};
    use cairn_index::Skipped;
    use cairn_model::NodeId;

    #[test]
    fn what_a_step_has_met_in_another_spelling_is_an_alias_of_what_is_there() {
        let test = TestEngine::new();
        let folder = test.folder.clone();
        let [waiting, there] = ["b", "a"].map(|name| test.local_file(name, Skipped::No));
        let node = NodeId::from_random_bytes([1; 16]);
        let (engine, _dir) = test.into_engine();
        let park = |key: Key, there: &str| {
            let root = Path::new(&folder.root);
            let (there, wanted) = (root.join(there), root.join("A"));
            let clash = EngineError::NameClash { there, wanted };
            let retry = RetryHint::Later;
            engine
                .health()
                .park(folder.id, key, String::new(), &clash, retry);
        };
        park(Key::Local(waiting), "a");
        park(Key::Node(node), "gone");
        let known = engine.index.write(|db| {
            db.put_synced(&synced_file(folder.id, node, there, "a"))?;
            let found = find(&engine, db, &folder)?;
            Ok((keys(db, &found)?, found))
        });
        let (keys, found) = known.unwrap();
        let expected = BTreeSet::from([Name::new("A").unwrap()]);
        assert_eq!(found, Aliases::from([(there, expected)]));
        assert_eq!((keys.local, keys.node), (vec![there], vec![node]));
    }
}
