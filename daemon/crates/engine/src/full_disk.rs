//! A full disk: the space that a failed step needed, and the space that is free.

use crate::error::{EngineError, explain};
use crate::key::Key;
use crate::step::Ctx;
use cairn_model::ProblemCode;

/// Figures for people, in bytes.
pub(crate) struct FullDisk {
    /// The size of the file that didn't fit.
    pub(crate) wanted: u64,
    pub(crate) free: u64,
}

/// Measures what a person wants to know after a failure, if it is one of a full disk.
pub(crate) fn measure(ctx: &Ctx, key: Key, error: &EngineError) -> Option<FullDisk> {
    if explain(error).0.code() != ProblemCode::DiskFull {
        return None;
    }
    let size = ctx.engine.index.read(|db| {
        Ok(match key {
            Key::Node(node) => db.remote_row(node)?.map(|row| row.size),
            Key::Local(local) => db.local_row(local)?.map(|row| row.stat.size),
        })
    });
    // Without the figures the problem is reported all the same.
    let wanted = size.ok().flatten().unwrap_or_default();
    let free = ctx.engine.ports.disk.free_space(ctx.root()).ok()?;
    Some(FullDisk { wanted, free })
}
