//! A person's decision about deletions that wait.

use crate::engine::Engine;
use crate::error::EngineError;
use cairn_index::{Db, IndexError};
use cairn_model::{DeletionDecision, FolderId, Side};

/// Records the decision about the deletions that the last plan held, and no others; the next plan follows it.
///
/// # Errors
/// [`EngineError::NothingToConfirm`], or the index's.
pub(crate) fn confirm(
    engine: &Engine,
    id: FolderId,
    decision: DeletionDecision,
) -> Result<(), EngineError> {
    let recorded = engine.index.write(|db| {
        let waiting = db.confirmations(id)?;
        for row in &waiting {
            match decision {
                DeletionDecision::Delete => db.confirm_waiting_deletions(id, row.side)?,
                DeletionDecision::Keep => keep_files(db, id, row.side)?,
            }
            db.end_confirmation(id, row.side)?;
        }
        if !waiting.is_empty()
            && let Some(row) = db.folder(id)?
        {
            db.mark_differing(&row)?;
        }
        Ok(!waiting.is_empty())
    })?;
    recorded.then_some(()).ok_or(EngineError::NothingToConfirm)
}

/// Drops the merge bases of what would have been deleted on one side: without one an absence is no
/// deletion, and what is left on the other side comes back.
fn keep_files(db: &Db<'_>, id: FolderId, side: Side) -> Result<(), IndexError> {
    for synced in db.deletions_to_keep(id, side)? {
        db.remove_synced(id, synced.node)?;
        db.mark_node(id, synced.node)?;
        db.mark_local(id, synced.local)?;
    }
    Ok(())
}
