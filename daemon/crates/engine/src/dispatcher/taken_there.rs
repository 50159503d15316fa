//! Files and folders of a folder that only sends whose name something else has on the service: they can't be sent, and
//! what is on the service isn't fetched.

use cairn_index::{Db, Dirty, FolderRow, IndexError, LocalRow, Skipped};
use cairn_model::{NodeId, Problem, ProblemCause, RelPath, SyncMode};
use std::collections::BTreeMap;

/// Adds the nodes that have the names of what can't be sent, among some dirty rows that no step and no wait mentions and
/// among those of which that was known.
pub(super) fn find(
    db: &Db<'_>,
    folder: &FolderRow,
    dirty: &Dirty,
    known: &BTreeMap<NodeId, String>,
    found: &mut BTreeMap<NodeId, Problem>,
) -> Result<(), IndexError> {
    if folder.settings.mode != SyncMode::Upload {
        return Ok(());
    }
    let mut paths: Vec<RelPath> = Vec::new();
    for local in &dirty.local {
        paths.extend(db.local_path(*local)?);
    }
    for node in &dirty.node {
        paths.extend(db.remote_path_in(folder, *node)?);
    }
    paths.extend(known.values().filter_map(|path| RelPath::parse(path).ok()));
    for path in paths {
        if let Some(row) = db.local_at(folder.id, &path)?
            && let Some(node) = holder(db, folder, &row)?
        {
            found.entry(node).or_insert_with(|| problem(&path));
        }
    }
    Ok(())
}

/// Returns the node that has the place of a local file or folder on the service, if that is another one.
fn holder(db: &Db<'_>, folder: &FolderRow, row: &LocalRow) -> Result<Option<NodeId>, IndexError> {
    if row.skipped != Skipped::No {
        return Ok(None);
    }
    let parent = match row.parent {
        Some(local) => db.synced_by_local(local)?.map(|synced| Some(synced.node)),
        None => folder.remote_node,
    };
    let Some(parent) = parent else {
        // The folder that it lies in is reported, or on its way.
        return Ok(None);
    };
    let own = db.synced_by_local(row.id)?.map(|synced| synced.node);
    let there = db.remote_children_by_key(parent, &row.name)?;
    let is_there = there.iter().any(|other| Some(other.node) == own);
    Ok(there.first().filter(|_| !is_there).map(|other| other.node))
}

fn problem(path: &RelPath) -> Problem {
    Problem::new(
        path.to_string(),
        ProblemCause::OneWaySends,
        "the service has another file or folder of this name, and this folder only sends: both stay as they are",
        "rename it to have it sent as a file of its own",
    )
}
