//! The changes of share links that a process may undo for earlier sessions: only those that the tools which it offers
//! could make themselves.

use crate::session_journal::LinkChange;

/// The kinds of changes of links that this process's tools make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkTools {
    pub(crate) deletes: bool,
    pub(crate) changes: bool,
}

impl LinkTools {
    pub(crate) const ALL: Self = Self {
        deletes: true,
        changes: true,
    };

    /// Returns whether a change may be taken back.
    pub(crate) fn may_undo(self, change: &LinkChange) -> bool {
        match change {
            LinkChange::Made => self.deletes,
            LinkChange::Settings { .. } | LinkChange::Password => self.changes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_deleted_only_where_a_tool_deletes_links() {
        let changing = LinkTools {
            deletes: false,
            changes: true,
        };
        assert!(changing.may_undo(&LinkChange::Password));
        assert!(!changing.may_undo(&LinkChange::Made));
        assert!(LinkTools::ALL.may_undo(&LinkChange::Made));
    }
}
