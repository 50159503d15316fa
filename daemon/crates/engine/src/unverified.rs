//! Changes from the service that have no valid seal (a MAC made with the account's keys), or that are
//! impossible; they are reported to people.

use crate::engine::Engine;
use cairn_index::{ActivityRow, Db, FolderRow, IndexError, RemoteRow, UnacceptedRow};
use cairn_model::{ActivityKind, NodeId, Problem, ProblemCause, ProblemValues};
use cairn_wire::nodes::Node;

/// The reason why a change is not simply accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reason {
    /// A change without a seal of one of the account's devices (by a dashboard, a tool without keys, or a server that
    /// lies). It is accepted all the same.
    Unverified,
    /// The same, and it waits for a person.
    Blocked,
    /// An older state, served as the present one. It is refused.
    Rollback,
    /// A folder that would contain itself. It is refused.
    Cycle,
    /// No file can be like this. It is refused.
    Impossible(&'static str),
}

/// An unverified or refused change, and where the service has the node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct UnverifiedChange {
    pub(crate) reason: Reason,
    parent: Option<NodeId>,
    name: String,
    /// True if the node is deleted by it; `None` if that is not known.
    deleted: Option<bool>,
}

/// A change that waits, as a person is told of it.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Waiting {
    Created,
    Deleted,
    /// Has the new path in the folder; `None` if it is outside.
    Moved(Option<String>),
    Changed,
    /// Recorded by an older Cairn, which did not say.
    Unknown,
}

impl Waiting {
    fn values(&self) -> ProblemValues {
        let (word, name) = match self {
            Self::Created => (Some("created"), None),
            Self::Deleted => (Some("deleted"), None),
            Self::Moved(to) => (Some("moved"), to.clone()),
            Self::Changed => (Some("changed"), None),
            Self::Unknown => (None, None),
        };
        ProblemValues {
            detail: word.map(str::to_owned),
            name,
            ..ProblemValues::default()
        }
    }

    fn sentence(&self) -> String {
        match self {
            Self::Created => "it was made on the service".to_owned(),
            Self::Deleted => "it was deleted on the service".to_owned(),
            Self::Moved(Some(to)) => format!("it was moved to {to} on the service"),
            Self::Moved(None) => "it was moved out of this folder on the service".to_owned(),
            Self::Changed => "its content or a mark of it was changed on the service".to_owned(),
            Self::Unknown => "it was changed or deleted on the service".to_owned(),
        }
    }
}

impl UnverifiedChange {
    pub(crate) fn of_node(reason: Reason, node: &Node) -> Self {
        Self {
            reason,
            parent: node.parent_id,
            // It comes from outside and is shown in a terminal.
            name: node.name.escape_debug().take(120).collect(),
            deleted: Some(false),
        }
    }

    pub(crate) fn of_row(reason: Reason, row: &RemoteRow) -> Self {
        Self {
            reason,
            parent: row.parent,
            name: row.name.to_string(),
            deleted: Some(false),
        }
    }

    /// Returns the deletion of what is recorded.
    pub(crate) fn of_deletion(reason: Reason, known: &RemoteRow) -> Self {
        Self {
            deleted: Some(true),
            ..Self::of_row(reason, known)
        }
    }

    /// Returns the folder that the service has the node in.
    pub(crate) const fn parent(&self) -> Option<NodeId> {
        self.parent
    }

    /// Returns the row by which a waiting change is remembered.
    pub(crate) fn row(&self, node: NodeId) -> UnacceptedRow {
        UnacceptedRow {
            node,
            parent: self.parent,
            name: self.name.clone(),
            deleted: self.deleted,
        }
    }

    /// Puts it into the activity of each pair that has the node, and what was not taken also among the
    /// problems.
    ///
    /// # Errors
    /// Returns the error of the index.
    pub(crate) fn report(
        &self,
        engine: &Engine,
        db: &Db<'_>,
        folders: &[FolderRow],
        node: NodeId,
    ) -> Result<(), IndexError> {
        for folder in folders {
            let Some(path) = self.path(db, folder, node)? else {
                continue;
            };
            let kind = match self.reason {
                Reason::Unverified | Reason::Blocked => ActivityKind::Unverified,
                Reason::Rollback | Reason::Cycle | Reason::Impossible(_) => ActivityKind::Refused,
            };
            db.add_activity(&ActivityRow {
                at_ms: engine.ports.clock.now_ms(),
                folder: Some(folder.id),
                kind,
                path: path.clone(),
                device: None,
                bytes: 0,
            })?;
            let waiting = self.compare_with_known(db, folder, node)?;
            if let Some(problem) = self.problem(path, &waiting) {
                engine.health().refuse(folder.id, node, problem);
            }
        }
        Ok(())
    }

    /// Returns what the change does to what is recorded in a pair.
    fn compare_with_known(
        &self,
        db: &Db<'_>,
        folder: &FolderRow,
        node: NodeId,
    ) -> Result<Waiting, IndexError> {
        let Some(known) = db.remote_row(node)? else {
            return Ok(Waiting::Created);
        };
        let is_moved = known.parent != self.parent || known.name.to_string() != self.name;
        Ok(match self.deleted {
            Some(true) => Waiting::Deleted,
            Some(false) | None if is_moved => Waiting::Moved(self.path_there(db, folder)?),
            Some(false) => Waiting::Changed,
            None => Waiting::Unknown,
        })
    }

    fn problem(&self, path: String, waiting: &Waiting) -> Option<Problem> {
        const UNTOUCHED: &str =
            "what you have is untouched; ask the operator of the server what happened to it";
        let (cause, message, hint) = match self.reason {
            Reason::Unverified => return None,
            Reason::Blocked => (
                ProblemCause::Unverified,
                format!(
                    "{} without your keys, or with keys that were replaced; `sync.verify = \"strict\"` holds that back",
                    waiting.sentence()
                ),
                "if that was you (a dashboard, a tool without keys, a device before it had the new keys), run `cairn accept`",
            ),
            Reason::Rollback => (
                ProblemCause::Rollback,
                "the server sent an older state of it as the present one; it was refused"
                    .to_owned(),
                UNTOUCHED,
            ),
            Reason::Cycle => (
                ProblemCause::IntoItself,
                "the server put this folder into itself; it was left where it is".to_owned(),
                UNTOUCHED,
            ),
            Reason::Impossible(why) => (
                ProblemCause::Impossible,
                format!("the server sent something that can't be: {why}; it was left alone"),
                "rename it on the service, or ask its operator",
            ),
        };
        let values = match self.reason {
            Reason::Impossible(why) => ProblemValues::of_detail(why),
            Reason::Blocked => waiting.values(),
            Reason::Unverified | Reason::Rollback | Reason::Cycle => ProblemValues::default(),
        };
        Some(Problem::new(path, cause, message, hint).with(values))
    }

    /// Returns the node's path in a pair: the recorded one, else the one that the service gave.
    fn path(
        &self,
        db: &Db<'_>,
        folder: &FolderRow,
        node: NodeId,
    ) -> Result<Option<String>, IndexError> {
        if let Some(known) = db.remote_path_in(folder, node)? {
            return Ok(Some(known.to_string()));
        }
        self.path_there(db, folder)
    }

    /// Returns the path in a pair that the service gives.
    fn path_there(&self, db: &Db<'_>, folder: &FolderRow) -> Result<Option<String>, IndexError> {
        if folder.remote_node == Some(self.parent) {
            return Ok(Some(self.name.clone()));
        }
        let Some(parent) = self.parent else {
            return Ok(None);
        };
        let above = db.remote_path_in(folder, parent)?;
        Ok(above.map(|above| format!("{above}/{}", self.name)))
    }
}

/// Reports a change that an earlier run has blocked as a problem again.
///
/// # Errors
/// Returns the error of the index.
pub(crate) fn restore_problem(
    engine: &Engine,
    db: &Db<'_>,
    folders: &[FolderRow],
    row: UnacceptedRow,
) -> Result<(), IndexError> {
    let change = UnverifiedChange {
        reason: Reason::Blocked,
        parent: row.parent,
        name: row.name,
        deleted: row.deleted,
    };
    for folder in folders {
        let waiting = change.compare_with_known(db, folder, row.node)?;
        if let Some(path) = change.path(db, folder, row.node)?
            && let Some(problem) = change.problem(path, &waiting)
        {
            engine.health().refuse(folder.id, row.node, problem);
        }
    }
    Ok(())
}
