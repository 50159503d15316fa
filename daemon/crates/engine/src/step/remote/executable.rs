//! The step that changes an executable bit on the service.

use super::journal::is_refusal;
use super::{Sent, row_of};
use crate::error::EngineError;
use crate::node_rows::{Next, next_seal};
use crate::record;
use crate::step::Ctx;
use cairn_index::SentBit;
use cairn_model::{LocalId, NodeId};
use cairn_wire::nodes::UpdateNode;

/// Sets or clears the executable bit on the service.
pub(crate) async fn set_executable(
    ctx: &Ctx,
    node: NodeId,
    local: LocalId,
    executable: bool,
) -> Result<(), EngineError> {
    let known = ctx
        .engine
        .index
        .read(|db| db.remote_row(node))?
        .ok_or(EngineError::Stale)?;
    let next = Next {
        parent: known.parent,
        name: known.name.as_str(),
        executable,
    };
    let seal = next_seal(&ctx.engine.keys, &known, &next);
    let bit = SentBit {
        node,
        folder: ctx.folder.id,
        local,
        executable,
        version: known.version + 1,
    };
    ctx.engine.index.write(|db| db.put_sent_bit(&bit))?;
    let change = UpdateNode {
        executable: Some(executable),
        seal,
        ..Default::default()
    };
    let response = ctx
        .engine
        .structure_api
        .update_node(node, Some(known.version), &change)
        .await;
    let index = &ctx.engine.index;
    let response = match response.map_err(EngineError::from) {
        Ok(response) => response,
        Err(error) => {
            if is_refusal(&error) {
                index.write(|db| db.end_sent_bit(&bit))?;
            }
            return Err(error);
        }
    };
    let sent = Sent {
        parent: known.parent,
        name: known.name,
        executable,
        has_content: false,
    };
    let row = row_of(ctx, Some(response), &sent)?;
    Ok(index.write(|db| {
        db.put_remote(&db.folders()?, &row)?;
        record::update_synced_executable(db, &ctx.folder, node, executable)?;
        db.end_sent_bits(node, row.version)
    })?)
}
