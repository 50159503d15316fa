//! Executable bits of files that no seal covers, such as after a change with an API key alone.
//!
//! Other devices take a bit under a seal only, and only a revision of its own lets a device seal such a file: the bit
//! is sent with the content.

use crate::engine::Engine;
use crate::node_rows::known_numbers;
use cairn_index::{Db, FolderRow, IndexError};
use cairn_plan::{Parent, ParentAndName, Plan, Step};

/// Replaces changes of a bit alone by uploads where only these can be sealed.
pub(super) fn send_with_content(
    engine: &Engine,
    db: &Db<'_>,
    folder: &FolderRow,
    plan: &mut Plan,
) -> Result<(), IndexError> {
    for step in &mut plan.steps {
        let Step::SetRemoteExecutable { node, local, .. } = *step else {
            continue;
        };
        let Some(row) = db.remote_row(node)? else {
            continue;
        };
        if known_numbers(&engine.keys, &row).sealed {
            continue;
        }
        let top = folder.remote_node.flatten();
        let parent = row.parent.filter(|_| row.parent != top);
        *step = Step::Upload {
            local,
            over: Some(node),
            to: ParentAndName {
                parent: parent.map_or(Parent::Root, Parent::Node),
                name: row.name,
            },
        };
    }
    Ok(())
}
