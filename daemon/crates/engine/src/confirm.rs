//! A person's decision about the mass deletions, or the mass overwriting, that waits for one.

use crate::engine::Engine;
use crate::error::EngineError;
use cairn_index::{Db, IndexError, SyncedRow};
use cairn_model::{DeletionDecision, FolderId, Side};

/// Records the decision about what the last plan held, and nothing else; the next plan follows it.
///
/// # Errors
/// [`EngineError::NothingToConfirm`], or the index's.
pub(crate) fn confirm(
    engine: &Engine,
    id: FolderId,
    decision: DeletionDecision,
) -> Result<(), EngineError> {
    let recorded = engine.index.write(|db| {
        let recorded = match decision {
            DeletionDecision::Delete => decide_deletions(db, id, confirm_deletions)?,
            DeletionDecision::Overwrite => confirm_overwriting(db, id)?,
            // Both are decided: what the service has stays, or comes back.
            DeletionDecision::Keep => {
                let deletions = decide_deletions(db, id, keep_files)?;
                keep_versions(db, id)? || deletions
            }
        };
        if recorded && let Some(row) = db.folder(id)? {
            db.mark_differing(&row)?;
        }
        Ok(recorded)
    })?;
    recorded.then_some(()).ok_or(EngineError::NothingToConfirm)
}

/// Decides about the deletions that wait. Returns whether there were any.
fn decide_deletions(
    db: &Db<'_>,
    id: FolderId,
    decide: fn(&Db<'_>, FolderId, Side) -> Result<(), IndexError>,
) -> Result<bool, IndexError> {
    let waiting = db.confirmations(id)?;
    for row in &waiting {
        decide(db, id, row.side)?;
        db.end_confirmation(id, row.side)?;
    }
    Ok(!waiting.is_empty())
}

fn confirm_deletions(db: &Db<'_>, id: FolderId, side: Side) -> Result<(), IndexError> {
    db.confirm_waiting_deletions(id, side)
}

/// Drops the merge bases of what would have been deleted on one side: without one an absence is no
/// deletion, and what is left on the other side comes back.
fn keep_files(db: &Db<'_>, id: FolderId, side: Side) -> Result<(), IndexError> {
    for synced in db.deletions_to_keep(id, side)? {
        unlink(db, &synced)?;
    }
    Ok(())
}

/// Agrees to the overwriting that waits. Returns whether any did.
fn confirm_overwriting(db: &Db<'_>, id: FolderId) -> Result<bool, IndexError> {
    let waits = db.waiting_overwrite_count(id)? > 0;
    db.confirm_waiting_overwrites(id)?;
    Ok(waits)
}

/// Drops the merge bases of what would have overwritten the service's versions: without one the two are different
/// files. The service's comes back under its name, and what is here stays beside it as a conflict copy. Returns
/// whether any waited.
fn keep_versions(db: &Db<'_>, id: FolderId) -> Result<bool, IndexError> {
    let waiting = db.waiting_overwrites(id)?;
    for node in &waiting {
        if let Some(synced) = db.synced_row(id, *node)? {
            unlink(db, &synced)?;
        }
    }
    Ok(!waiting.is_empty())
}

/// Drops a merge base; both sides are looked at again.
fn unlink(db: &Db<'_>, synced: &SyncedRow) -> Result<(), IndexError> {
    db.remove_synced(synced.folder, synced.node)?;
    db.mark_node(synced.folder, synced.node)?;
    db.mark_local(synced.folder, synced.local)
}
