//! Rules files and directories that steps move on this disk: other rules count after the one, and something may have
//! changed in the other that was not looked at yet. A watcher need not tell of either.

use crate::observe::rules::IGNORE_FILE;
use crate::step::Ctx;
use cairn_model::{Kind, RelPath};
use cairn_plan::Step;

/// Returns the present path of the directory that a step moves on this disk.
pub(super) fn moved_dir(ctx: &Ctx, step: &Step) -> Option<RelPath> {
    let Step::MoveLocal { local, .. } = step else {
        return None;
    };
    let path = ctx.engine.index.read(|db| {
        let row = db.local_row(*local)?;
        match row.is_some_and(|row| row.kind == Kind::Folder) {
            true => db.local_path(*local),
            false => Ok(None),
        }
    });
    path.ok().flatten()
}

/// The directories below the root that have rules files.
pub(super) struct RulesDirs(Vec<RelPath>);

impl RulesDirs {
    pub(super) fn of(ctx: &Ctx) -> Self {
        Self(ctx.rules.nested_dirs())
    }

    /// Returns whether a step, before it is carried out, moves or removes one of the files. An index that fails says so
    /// with the step.
    pub(super) fn are_moved_by(&self, ctx: &Ctx, step: &Step) -> bool {
        let local = match step {
            Step::MoveLocal { to, .. } if to.name.as_str() == IGNORE_FILE => return true,
            Step::MoveLocal { local, .. } | Step::TrashLocal { local, .. } => *local,
            Step::Adopt { .. }
            | Step::Forget { .. }
            | Step::Unlink { .. }
            | Step::CreateLocalFolder { .. }
            | Step::CreateRemoteFolder { .. }
            | Step::RestoreRemote { .. }
            | Step::MoveRemote { .. }
            | Step::SetLocalExecutable { .. }
            | Step::SetRemoteExecutable { .. }
            | Step::Download { .. }
            | Step::Upload { .. }
            | Step::TrashRemote { .. } => return false,
        };
        if self.0.is_empty() {
            return false;
        }
        let path = ctx.engine.index.read(|db| db.local_path(local));
        path.ok().flatten().is_some_and(|path| {
            let is_file = path.name().is_some_and(|name| name.as_str() == IGNORE_FILE);
            self.0.iter().any(|dir| {
                dir.starts_with(&path) || (is_file && path.parent().as_ref() == Some(dir))
            })
        })
    }
}
