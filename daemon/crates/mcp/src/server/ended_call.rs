//! Calls that ended early: whether they may have changed something.

use crate::tool::Tool;
use crate::toolset;

/// Returns true if a call of a tool that has begun and ended early may have changed something. `has_sent` says whether
/// the service was asked for a change meanwhile.
pub(super) fn may_have_changed(tool: &Tool, has_sent: bool) -> bool {
    !tool.effect.is_read_only() && (has_sent || changes_this_machine(tool))
}

/// Returns true for a tool whose changes the service may not see: those of local files, and of the sync daemon.
fn changes_this_machine(tool: &Tool) -> bool {
    let mut sets = toolset::ALL.iter().filter(|set| set.id == toolset::SYNC);
    let is_of_sync = sets.any(|set| set.tools.iter().any(|one| one.name == tool.name));
    is_of_sync || tool.local_paths().next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_tool(name: &str) -> &'static Tool {
        let mut tools = toolset::ALL.iter().flat_map(|set| set.tools);
        tools.find(|tool| tool.name == name).unwrap()
    }

    #[test]
    fn a_call_that_has_sent_nothing_has_done_nothing() {
        for (name, has_sent, expected) in [
            ("move_file", false, false),
            ("move_file", true, true),
            ("list_files", true, false),
            ("download_folder", false, true),
            ("sync_pause", false, true),
        ] {
            let may = may_have_changed(find_tool(name), has_sent);
            assert_eq!(may, expected, "{name}");
        }
    }
}
