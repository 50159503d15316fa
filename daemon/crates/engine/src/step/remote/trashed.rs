//! Nodes that go to the service's trash: what is looked at before, and recording them, in one transaction for all.

use crate::error::EngineError;
use crate::step::Ctx;
use crate::step::batch::BatchResults;
use cairn_index::{IndexError, RemoteRow};
use cairn_model::{Kind, NodeId};
use cairn_plan::Step;

/// Checks that all that the service has in a folder is known here. The position in the feed that guards a deletion
/// covers all that the feed has shown, so that something that is held back, or was left out, would go with the folder
/// though nobody has seen it.
///
/// # Errors
/// [`EngineError::HoldsUnrecorded`] if it is not, or the index's.
pub(super) fn check_known(ctx: &Ctx, row: &RemoteRow) -> Result<(), EngineError> {
    let is_folder = row.kind == Kind::Folder;
    if is_folder && ctx.engine.index.read(|db| db.holds_unrecorded(row.node))? {
        return Err(EngineError::HoldsUnrecorded);
    }
    Ok(())
}

/// A node whose deletion was sent.
pub(super) struct Trashed {
    pub(super) node: NodeId,
    pub(super) path: String,
    /// The number of the seal of the deletion, if it has one.
    pub(super) number: Option<u64>,
}

/// Records nodes that the service has moved to the trash. Each step gets its own result.
pub(super) fn record(ctx: &Ctx, trashed: Vec<(Step, Trashed)>, results: &mut BatchResults<Step>) {
    if trashed.is_empty() {
        return;
    }
    match record_all(ctx, &trashed) {
        Ok(()) => results.extend(trashed.into_iter().map(|(step, _)| (step, Ok(())))),
        Err(error) => {
            tracing::warn!(%error, "deletions were sent but can't be recorded; the feed shows them");
            results.fail_unrecorded(trashed.into_iter().map(|(step, _)| step), error);
        }
    }
}

fn record_all(ctx: &Ctx, trashed: &[(Step, Trashed)]) -> Result<(), IndexError> {
    let device = Some(&*ctx.engine.device_name);
    ctx.record_deletions(
        device,
        trashed,
        |db, (_, Trashed { node, path, number })| {
            db.end_sent_node(*node)?;
            db.forget_remote_below(ctx.folder.id, *node)?;
            db.remove_remote(*node)?;
            if let Some(number) = number {
                db.put_deletion_seal(*node, *number)?;
            }
            Ok(path.clone())
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestEngine;
    use cairn_index::UnacceptedRow;
    use cairn_model::Name;

    #[test]
    fn a_folder_with_something_that_is_held_back_is_not_deleted() {
        let (ctx, _dir) = TestEngine::new().into_ctx();
        let [top, inner, held] = [1, 2, 3].map(|n| NodeId::from_random_bytes([n; 16]));
        let row = |node, parent, name: &str| {
            RemoteRow::folder(node, parent, Name::new(name.to_owned()).unwrap())
        };
        let rows = [row(top, None, "top"), row(inner, Some(top), "inner")];
        let file = RemoteRow {
            kind: Kind::File,
            ..row(held, Some(inner), "held")
        };
        let waiting = UnacceptedRow {
            node: held,
            parent: Some(inner),
            name: "held".into(),
            deleted: Some(false),
        };
        let check = || rows.iter().map(|row| check_known(&ctx, row));
        let index = &ctx.engine.index;
        let filled = index.write(|db| {
            for row in &rows {
                db.put_remote(&[], row)?;
            }
            Ok(())
        });
        filled.unwrap();
        assert!(check().all(|checked| checked.is_ok()));
        index.write(|db| db.put_unaccepted(&waiting)).unwrap();
        for refused in check() {
            let refused = refused.unwrap_err();
            assert!(matches!(refused, EngineError::HoldsUnrecorded), "{refused}");
        }
        check_known(&ctx, &file).unwrap();
        // A person has accepted it.
        index.write(|db| db.put_remote(&[], &file)).unwrap();
        assert!(check().all(|checked| checked.is_ok()));
    }
}
