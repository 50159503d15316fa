//! The kinds of change that a session can take back, as the tools declare them.

/// The kind of change that a session can take back. It is found by looking before and after the call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Undo {
    /// The folders in the result, as far as they were made.
    NewFolders,
    /// The result is a copy.
    NewCopy,
    /// The links in the result.
    NewLinks,
    /// The node of the argument `file_uuid` is changed.
    Node(NodeEdit),
    /// The settings of the link `short_code`.
    LinkSettings,
    /// Many changes, which the tool's function records in the journal itself.
    NotedByTool,
}

/// A change of a file or folder that is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NodeEdit {
    Move,
    Trash,
    Restore,
    /// An older revision becomes the newest.
    Content,
    /// Description, labels, favorite.
    Details,
}
