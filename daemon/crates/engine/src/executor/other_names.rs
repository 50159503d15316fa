//! Other names (hard links) of a file that a step has changed under one of them.

use crate::observe::hard_links;
use crate::step::Ctx;
use cairn_model::{FolderId, RelPath};
use cairn_plan::Step;

/// Returns the names, with their pairs, at which something has changed with a step that was carried out. Content that
/// comes from the service has a file of its own, so that only the executable bit is seen under other names, too.
pub(super) fn changed_by(ctx: &Ctx, step: &Step) -> Vec<(FolderId, RelPath)> {
    let Step::SetLocalExecutable { local, .. } = step else {
        return Vec::new();
    };
    let names = ctx.engine.index.read(|db| match db.local_row(*local)? {
        Some(row) => hard_links::other_names(db, *local, &row.stat),
        None => Ok(Vec::new()),
    });
    // An index that fails says so with the next step.
    names.unwrap_or_default()
}
