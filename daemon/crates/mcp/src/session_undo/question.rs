//! The question to the person before a session's changes are undone: it names their kinds and numbers.

use crate::session_journal::{Change, LinkChange, Noted};
use crate::session_link_tools::LinkTools;
use cairn_model::Kind;
use cairn_space::undo::NodeChange;
use serde::Serialize;

/// Files and empty folders that go to the trash without a question.
const MAX_TRASHED_UNASKED: usize = 3;

/// The numbers of changes, by what taking them back does.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize)]
pub struct Counts {
    /// Files and empty folders that go to the trash.
    trashed_items: usize,
    /// Folders that go to the trash with all that is in them.
    trashed_trees: usize,
    restored: usize,
    moved: usize,
    contents: usize,
    details: usize,
    links_deleted: usize,
    links_changed: usize,
    /// Changes of links that stay.
    links_left: usize,
}

impl Counts {
    pub(super) fn of(changes: &[Noted], link_tools: LinkTools) -> Self {
        let mut counts = Self::default();
        for noted in changes {
            *counts.counter_for(&noted.change, link_tools) += 1;
        }
        counts
    }

    fn counter_for(&mut self, change: &Change, link_tools: LinkTools) -> &mut usize {
        match change {
            Change::Node { kind, record } => match (&record.change, kind) {
                (NodeChange::Copied | NodeChange::Restored, Kind::Folder) => {
                    &mut self.trashed_trees
                }
                (NodeChange::Made | NodeChange::Copied | NodeChange::Restored, _) => {
                    &mut self.trashed_items
                }
                (NodeChange::Trashed, _) => &mut self.restored,
                (NodeChange::Moved { .. }, _) => &mut self.moved,
                (NodeChange::Content { .. }, _) => &mut self.contents,
            },
            Change::Details { .. } => &mut self.details,
            Change::Link { change, .. } if !link_tools.may_undo(change) => &mut self.links_left,
            Change::Link { change, .. } => match change {
                LinkChange::Made => &mut self.links_deleted,
                LinkChange::Settings { .. } => &mut self.links_changed,
                LinkChange::Password => &mut self.links_left,
            },
        }
    }

    /// Returns whether more than a few things go to the trash.
    pub(super) fn fills_trash(&self) -> bool {
        self.trashed_items > MAX_TRASHED_UNASKED || self.trashed_trees > 0
    }

    /// Returns the confirmation question for undoing `what`.
    pub(super) fn question(&self, what: &str) -> String {
        let mut parts = Vec::new();
        let mut trashed = Vec::new();
        match self.trashed_items {
            0 => {}
            1 => trashed.push("1 file or empty folder".to_owned()),
            many => trashed.push(format!("{many} files or empty folders")),
        }
        match self.trashed_trees {
            0 => {}
            1 => trashed.push("1 folder with everything in it".to_owned()),
            many => trashed.push(format!("{many} folders with everything in them")),
        }
        if !trashed.is_empty() {
            parts.push(format!("Moved to the trash: {}.", trashed.join(" and ")));
        }
        let counts = [
            ("Restored from the trash", self.restored),
            ("Moved or renamed back", self.moved),
            ("Contents as before", self.contents),
            ("Details as before", self.details),
            ("Share links deleted", self.links_deleted),
            ("Share links as before", self.links_changed),
            ("Share link changes that stay", self.links_left),
        ];
        let nonzero = counts.iter().filter(|(_, number)| *number > 0);
        parts.extend(nonzero.map(|(kind, number)| format!("{kind}: {number}.")));
        format!("Undo {what}? {}", parts.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::NodeId;
    use cairn_space::undo::Record;
    use cairn_wire::Timestamp;

    fn node(kind: Kind, change: NodeChange) -> Change {
        let record = Record {
            node: NodeId::from_random_bytes([1; 16]),
            change,
            version_before: None,
            version: Some(1),
            at: Timestamp::default(),
        };
        Change::Node { kind, record }
    }

    fn counts(changes: Vec<Change>) -> Counts {
        let noted = (0..).zip(changes);
        let noted: Vec<_> = noted
            .map(|(number, change)| Noted { number, change })
            .collect();
        Counts::of(&noted, LinkTools::ALL)
    }

    #[test]
    fn what_goes_to_the_trash_is_counted() {
        let few = || {
            vec![
                node(Kind::Folder, NodeChange::Made),
                node(Kind::File, NodeChange::Copied),
                node(Kind::File, NodeChange::Restored),
                node(Kind::Folder, NodeChange::Trashed),
            ]
        };
        assert!(!counts(few()).fills_trash());
        let mut many = few();
        many.push(node(Kind::Folder, NodeChange::Made));
        assert!(counts(many).fills_trash());
        let mut whole = few();
        whole.push(node(Kind::Folder, NodeChange::Restored));
        assert!(counts(whole).fills_trash());
    }

    #[test]
    fn a_question_names_kinds_and_numbers() {
        let link = |change| Change::Link {
            link: "1".to_owned(),
            change,
        };
        let counts = counts(vec![
            node(Kind::Folder, NodeChange::Made),
            node(Kind::Folder, NodeChange::Copied),
            node(Kind::File, NodeChange::Trashed),
            link(LinkChange::Made),
            link(LinkChange::Made),
            link(LinkChange::Password),
        ]);
        assert_eq!(
            counts.question("all"),
            "Undo all? Moved to the trash: 1 file or empty folder and 1 folder with everything in it. \
             Restored from the trash: 1. Share links deleted: 2. Share link changes that stay: 1."
        );
    }
}
