//! Changes of the feed that can't be recorded yet, because a later page has the change that makes them possible: the
//! parent folder, the move that ends a cycle, or the deletion of a folder above.

use super::earlier_epochs;
use crate::engine::Engine;
use crate::node_rows::remote_row;
use cairn_index::{Db, IndexError, RemoteRow};
use cairn_model::NodeId;
use cairn_wire::changes::{Change, ChangeKind};

/// Maximum number of nodes looked at together.
const TOGETHER: u32 = 1_000;

/// The result of trying to record a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RecordResult {
    Recorded,
    /// The node's folder is not known.
    NoFolder,
    /// A folder that would contain itself.
    Cycle,
}

/// Keeps a change for later.
///
/// # Errors
/// Returns the error of the index.
pub(super) fn keep(db: &Db<'_>, change: &Change) -> Result<(), IndexError> {
    match serde_json::to_vec(change) {
        Ok(bytes) => db.put_pending(change.node_id, &bytes),
        Err(error) => {
            tracing::warn!(%error, "a change can't be kept for later");
            Ok(())
        }
    }
}

/// Takes out all removals that were kept.
///
/// # Errors
/// Returns the error of the index.
pub(super) fn take_removals(db: &Db<'_>) -> Result<Vec<Change>, IndexError> {
    let mut removals = Vec::new();
    let mut after: Option<NodeId> = None;
    loop {
        let kept = db.pending_changes(after, TOGETHER)?;
        let Some((last, _)) = kept.last() else {
            break;
        };
        after = Some(*last);
        // What can't be read stays for the time when all that is left is tried.
        let changes = kept
            .iter()
            .filter_map(|(_, bytes)| serde_json::from_slice(bytes).ok());
        removals.extend(changes.filter(is_removal));
    }
    for change in &removals {
        db.remove_pending(change.node_id)?;
    }
    Ok(removals)
}

fn is_removal(change: &Change) -> bool {
    match change.kind {
        ChangeKind::Trashed | ChangeKind::Deleted => true,
        ChangeKind::Created | ChangeKind::Updated => false,
    }
}

/// Tries all that was kept again and again, as long as that records anything. The rest is given to
/// `left` and dropped. Returns whether anything was lost because it can't be read any more.
///
/// # Errors
/// Returns the error of the index.
pub(super) fn resolve(
    engine: &Engine,
    db: &Db<'_>,
    mut try_record: impl FnMut(&RemoteRow) -> Result<RecordResult, IndexError>,
    mut left: impl FnMut(&RemoteRow, RecordResult),
) -> Result<bool, IndexError> {
    let (mut progress, mut lost) = (true, false);
    while progress {
        progress = false;
        lost |= each(engine, db, |row| {
            if try_record(row)? == RecordResult::Recorded {
                db.remove_pending(row.node)?;
                progress = true;
            }
            Ok(())
        })?;
    }
    each(engine, db, |row| {
        left(row, try_record(row)?);
        Ok(())
    })?;
    db.clear_pending()?;
    Ok(lost)
}

/// Gives each change that was kept to `f`. One that can't be read is dropped; returns whether there was any.
fn each(
    engine: &Engine,
    db: &Db<'_>,
    mut f: impl FnMut(&RemoteRow) -> Result<(), IndexError>,
) -> Result<bool, IndexError> {
    let mut lost = false;
    let mut after: Option<NodeId> = None;
    loop {
        let kept = db.pending_changes(after, TOGETHER)?;
        let Some((last, _)) = kept.last() else {
            return Ok(lost);
        };
        after = Some(*last);
        for (id, bytes) in &kept {
            match serde_json::from_slice::<Change>(bytes) {
                Ok(change) => {
                    if let Some(node) = change.node
                        && let Ok((mut row, _)) = remote_row(&engine.keys, &node)
                    {
                        earlier_epochs::strip_seal(engine, db, &mut row)?;
                        f(&row)?;
                    }
                }
                Err(error) => {
                    tracing::warn!(node = %id, %error, "a change that waits for its folder can't be read; everything is listed again");
                    db.remove_pending(*id)?;
                    lost = true;
                }
            }
        }
    }
}
