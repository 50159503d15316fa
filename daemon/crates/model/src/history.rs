//! Kinds of activities, of events in the past of a file, and of conflicts; and the places (parent folder and name)
//! that nodes have left.

use crate::NodeId;
use crate::words::word_enum;

word_enum! {
    /// The kind of an activity.
    ActivityKind("activity") {
        Uploaded = "uploaded",
        Downloaded = "downloaded",
        Renamed = "renamed",
        Deleted = "deleted",
        /// Two versions were kept.
        Conflict = "conflict",
        /// A person ended a conflict.
        Resolved = "resolved",
        /// A change that was made without the account's keys.
        Unverified = "unverified",
        /// Something the server sent that can't be accepted.
        Refused = "refused",
        /// A kind of another version of Cairn.
        #[serde(other)]
        Other = "other",
    }
}

word_enum! {
    /// The kind of an event in the past of a file or folder.
    PastKind("event in the past") {
        Created = "created",
        /// A file got another content.
        Version = "version",
        Moved = "moved",
        /// Something about it changed; its earlier state is not kept.
        Changed = "changed",
        Deleted = "deleted",
        /// Taken out of the trash.
        Restored = "restored",
    }
}

word_enum! {
    /// The way in which two versions met.
    ConflictKind("kind of conflict") {
        /// Both sides changed the same file.
        Edit = "edit",
        /// Both sides made something of the same name.
        Create = "create",
        /// A move or rename met a name that was in use.
        Move = "move",
        /// A file met a folder.
        Type = "type",
    }
}

word_enum! {
    /// The version of a conflict that stays under the name.
    Keep("version to keep") {
        /// The version of this device; refused where it is not known which one that is.
        Mine = "mine",
        /// The version of the other device; refused where it is not known which one that is.
        Theirs = "theirs",
        /// Both stay; the conflict copy gets a plain name, on every device unless the folder only receives.
        Both = "both",
        /// A three-way merge of two small text files; refused where both changed the same lines.
        Merge = "merge",
        /// The conflict copy's content takes the name; the other goes to the local trash.
        Copy = "copy",
        /// The one that has the name; the copy goes to the local trash.
        Original = "original",
    }
}

/// A place that a node has left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PastPlace {
    pub node: NodeId,
    /// `None`: the top of the space.
    pub parent: Option<NodeId>,
    pub name: String,
    /// Milliseconds since 1970-01-01 UTC: when it was moved away from there.
    pub until_ms: i64,
}
