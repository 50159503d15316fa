//! Undoing one change, if nobody has changed the node since.

use super::{LastChange, NodeChange, OwnVersions, Record, worked_on};
use cairn_model::{Kind, Name, NodeId, RevisionId};
use cairn_wire::nodes::{Node, NodeState};
use parking_lot::Mutex;

/// The requests that taking back needs, and the recorder's versions.
pub trait Undoing: Sync {
    type Error: Send;

    /// Files and folders that are looked at below a folder; one with more stays where it is.
    const MAX_NODES: usize;

    /// The versions in which the recorder's changes have left nodes.
    fn own_versions(&self) -> &Mutex<OwnVersions>;

    /// Returns a node, which may be in the trash; `None` if it was deleted for good.
    fn node(&self, id: NodeId) -> impl Future<Output = Result<Option<Node>, Self::Error>> + Send;

    fn children(
        &self,
        folder: &Node,
    ) -> impl Future<Output = Result<Vec<Node>, Self::Error>> + Send;

    fn trash(&self, node: &Node) -> impl Future<Output = Result<(), Self::Error>> + Send;

    fn restore(&self, node: &Node) -> impl Future<Output = Result<(), Self::Error>> + Send;

    fn move_to(
        &self,
        node: &Node,
        parent: Option<NodeId>,
        name: &Name,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Makes the content of an older revision the newest again; returns false if that revision is not kept.
    fn restore_content(
        &self,
        node: &Node,
        revision: RevisionId,
    ) -> impl Future<Output = Result<bool, Self::Error>> + Send;
}

/// A change that is no more. As text it is a clause with the node's name in quotation marks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TakenBack {
    BackAlready(String),
    Restored(String),
    TrashedAlready(String),
    Trashed(String),
    Moved {
        name: String,
        to: String,
        /// True if it went back to another folder.
        to_other_folder: bool,
    },
    Content(String),
}

impl std::fmt::Display for TakenBack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BackAlready(name) => write!(f, "{} is back already", quote(name)),
            Self::Restored(name) => write!(f, "{} is back from the trash", quote(name)),
            Self::TrashedAlready(name) => write!(f, "{} is in the trash already", quote(name)),
            Self::Trashed(name) => write!(f, "{} is in the trash", quote(name)),
            Self::Moved {
                name,
                to,
                to_other_folder,
            } => {
                let (is_renamed, name, to) = (name != to, quote(name), quote(to));
                match (to_other_folder, is_renamed) {
                    (true, false) => write!(f, "{name} is back in the folder where it was"),
                    (true, true) => write!(
                        f,
                        "{name} is called {to} again, and back in the folder where it was"
                    ),
                    (false, _) => write!(f, "{name} is called {to} again"),
                }
            }
            Self::Content(name) => write!(f, "{} has its content from before", quote(name)),
        }
    }
}

/// The longest name that is shown whole, in characters.
const MAX_SHOWN: usize = 120;

/// Returns a name between marks that it can't end, on one line: others may have chosen it.
fn quote(name: &str) -> String {
    let plain = |c: char| match c {
        '`' => '\'',
        c if c.is_control() => ' ',
        // Separators of lines, and what changes the direction of the text around it.
        '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' => ' ',
        c => c,
    };
    let is_long = name.chars().nth(MAX_SHOWN).is_some();
    let shown: String = name.chars().take(MAX_SHOWN).map(plain).collect();
    format!("`{shown}{}`", if is_long { "…" } else { "" })
}

/// The reason why a change stays.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotTakenBack {
    #[error("{0} was deleted for good")]
    DeletedForGood(NodeId),
    #[error("{} is in the trash", quote(.0))]
    InTrash(String),
    #[error("{} was deleted again since", quote(.0))]
    DeletedAgain(String),
    #[error("{} is not empty", quote(.0))]
    NotEmpty(String),
    #[error("{} was worked on since", quote(.0))]
    WorkedOn(String),
    #[error("{} has too many files to see whether somebody worked on them since", quote(.0))]
    TooMany(String),
    #[error("{} was moved again since", quote(.0))]
    MovedAgain(String),
    #[error("the former name of {} can't be used", quote(.0))]
    Name(String),
    #[error("{} was changed since", quote(.0))]
    ContentChanged(String),
    #[error("the version of {} from before is not kept any more", quote(.0))]
    ContentNotKept(String),
}

/// Takes one change back, or returns the reason why it stays.
///
/// # Errors
/// The errors of the requests; the change may have been taken back or not.
pub async fn take_back<S: Undoing>(
    service: &S,
    record: &Record,
) -> Result<Result<TakenBack, NotTakenBack>, S::Error> {
    let Some(node) = service.node(record.node).await? else {
        return Ok(Err(NotTakenBack::DeletedForGood(record.node)));
    };
    let taken = match node.state {
        NodeState::Trashed => of_trashed(service, record, &node).await?,
        NodeState::Active => of_active(service, record, &node).await?,
    };
    let changed = matches!(
        taken,
        Ok(TakenBack::Restored(_)
            | TakenBack::Trashed(_)
            | TakenBack::Moved { .. }
            | TakenBack::Content(_))
    );
    if changed {
        // The change was made, whether its result can be read or not.
        let after = service.node(record.node).await;
        let mut own = service.own_versions().lock();
        match after {
            Ok(Some(after)) => own.note_undone(&node, &after),
            Ok(None) => {}
            Err(_) => own.note_undone_unread(&node),
        }
    }
    Ok(taken)
}

async fn of_trashed<S: Undoing>(
    service: &S,
    record: &Record,
    node: &Node,
) -> Result<Result<TakenBack, NotTakenBack>, S::Error> {
    let name = node.name.clone();
    Ok(match record.change {
        NodeChange::Trashed => {
            let last = service.own_versions().lock().last_change(node);
            if last == LastChange::Others {
                return Ok(Err(NotTakenBack::DeletedAgain(name)));
            }
            service.restore(node).await?;
            Ok(TakenBack::Restored(name))
        }
        NodeChange::Made | NodeChange::Copied | NodeChange::Restored => {
            Ok(TakenBack::TrashedAlready(name))
        }
        NodeChange::Moved { .. } | NodeChange::Content { .. } => Err(NotTakenBack::InTrash(name)),
    })
}

async fn of_active<S: Undoing>(
    service: &S,
    record: &Record,
    node: &Node,
) -> Result<Result<TakenBack, NotTakenBack>, S::Error> {
    let name = node.name.clone();
    match &record.change {
        NodeChange::Trashed => Ok(Ok(TakenBack::BackAlready(name))),
        NodeChange::Made | NodeChange::Copied | NodeChange::Restored => {
            if let Some(newer) = newer_work(service, record, node).await? {
                return Ok(Err(newer));
            }
            service.trash(node).await?;
            Ok(Ok(TakenBack::Trashed(name)))
        }
        NodeChange::Moved {
            parent,
            name: to,
            to_parent,
            to_name,
        } => {
            if (node.parent_id, &name) == (*parent, to) {
                return Ok(Ok(TakenBack::BackAlready(name)));
            }
            let is_unmoved = to_name.is_empty() || (node.parent_id, &name) == (*to_parent, to_name);
            if !is_unmoved {
                return Ok(Err(NotTakenBack::MovedAgain(name)));
            }
            let Ok(former) = Name::new(to.clone()) else {
                return Ok(Err(NotTakenBack::Name(name)));
            };
            service.move_to(node, *parent, &former).await?;
            Ok(Ok(TakenBack::Moved {
                name,
                to: to.clone(),
                to_other_folder: node.parent_id != *parent,
            }))
        }
        NodeChange::Content { after, .. } if node.revision_id != Some(*after) => {
            Ok(Err(NotTakenBack::ContentChanged(name)))
        }
        NodeChange::Content { before, .. } => {
            let is_kept = service.restore_content(node, *before).await?;
            Ok(if is_kept {
                Ok(TakenBack::Content(name))
            } else {
                Err(NotTakenBack::ContentNotKept(name))
            })
        }
    }
}

/// Returns the newer work that keeps something out of the trash: of somebody else on the node itself, or of
/// anybody in a folder that was made empty.
async fn newer_work<S: Undoing>(
    service: &S,
    record: &Record,
    node: &Node,
) -> Result<Option<NotTakenBack>, S::Error> {
    let last = service.own_versions().lock().last_change(node);
    let is_own = match last {
        LastChange::Own => true,
        LastChange::OwnAfterOthers | LastChange::Others => false,
        LastChange::Unknown => node.updated_at <= record.at || record.change == NodeChange::Made,
    };
    if !is_own {
        return Ok(Some(NotTakenBack::WorkedOn(node.name.clone())));
    }
    match node.kind {
        Kind::File => Ok(None),
        Kind::Folder if record.change == NodeChange::Made => {
            let is_empty = service.children(node).await?.is_empty();
            Ok((!is_empty).then(|| NotTakenBack::NotEmpty(node.name.clone())))
        }
        Kind::Folder => worked_on::reason_below(service, node, record.at).await,
    }
}
