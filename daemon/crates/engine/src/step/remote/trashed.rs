//! Recording what the service has moved to the trash: one transaction for all.

use crate::step::Ctx;
use crate::step::batch::BatchResults;
use cairn_index::IndexError;
use cairn_model::NodeId;
use cairn_plan::Step;

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
