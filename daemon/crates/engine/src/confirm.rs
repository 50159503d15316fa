//! A person's decision about deletions that wait.

use crate::engine::Engine;
use crate::error::EngineError;
use cairn_index::{ConfirmationRow, ConfirmationState, Db, IndexError};
use cairn_model::{DeletionDecision, FolderId, Side};

/// Records the decision; the next plan follows it.
///
/// # Errors
/// [`EngineError::NothingToConfirm`], or the index's.
pub(crate) fn confirm(
    engine: &Engine,
    id: FolderId,
    decision: DeletionDecision,
) -> Result<(), EngineError> {
    let recorded = engine.index.write(|db| {
        let mut pending = db.confirmations(id)?;
        pending.retain(|row| row.state == ConfirmationState::Pending);
        for row in &pending {
            match decision {
                DeletionDecision::Delete => db.put_confirmation(&ConfirmationRow {
                    state: ConfirmationState::Confirmed,
                    ..row.clone()
                })?,
                DeletionDecision::Keep => keep_files(db, id, row.side)?,
            }
        }
        if !pending.is_empty()
            && let Some(row) = db.folder(id)?
        {
            db.mark_differing(&row)?;
        }
        Ok(!pending.is_empty())
    })?;
    recorded.then_some(()).ok_or(EngineError::NothingToConfirm)
}

/// Drops the merge bases of what would have been deleted on one side: without one an absence is no
/// deletion, and what is left on the other side comes back.
fn keep_files(db: &Db<'_>, id: FolderId, side: Side) -> Result<(), IndexError> {
    for synced in db.all_synced(id)? {
        let kept = match side {
            Side::Remote => db.local_row(synced.local)?.is_none(),
            Side::Local => db.remote_row(synced.node)?.is_none(),
        };
        if kept {
            db.remove_synced(id, synced.node)?;
            db.mark_node(id, synced.node)?;
            db.mark_local(id, synced.local)?;
        }
    }
    db.end_confirmation(id, side)
}
