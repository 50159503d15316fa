//! The request for an upload, and its result.

use crate::download::Download;
use crate::local::Source;
use crate::progress::{NewPlace, ResumableUpload};
use cairn_model::{ContentHash, Manifest, NodeId, RevisionId};
use cairn_wire::nodes::Node;
use std::sync::Arc;

/// The target of an upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UploadTarget {
    /// A new file.
    New {
        /// Chosen by the caller: content is sealed to it.
        node: NodeId,
        /// `None` is the top of the space.
        parent: Option<NodeId>,
        name: String,
    },
    /// A new revision of a file.
    Revision {
        node: NodeId,
        parent: Option<NodeId>,
        name: String,
        /// The head that this revision replaces.
        base: RevisionId,
        /// The number of the new revision: the base's plus one.
        number: u64,
        /// The content that is replaced, where a device with the keys has signed it: chunks that stay as they
        /// are keep their objects. Without a [hash](Download::manifest_hash) it isn't looked at.
        replaced: Option<Download>,
        /// Sequence of the new node seal: one more than that of the last one.
        seal_seq: u64,
        /// The node's version that name, place and seal are made for: nothing is committed to another one.
        /// `None` commits to any.
        version: Option<u64>,
    },
}

/// One file to upload.
#[derive(Clone)]
pub struct Upload {
    pub target: UploadTarget,
    /// The new revision's id, chosen by the caller, so that doing it twice is doing it once.
    pub revision: RevisionId,
    pub source: Arc<dyn Source>,
    /// Length in bytes, as the file system reported it; any other length means that the file is being changed.
    pub size: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub modified_ms: i64,
    pub executable: bool,
    /// Hash of the content that the server is known to have: an upload of it is skipped.
    pub skip_if: Option<ContentHash>,
    /// An upload of this file that was begun before.
    pub resume: Option<ResumableUpload>,
}

/// One small file to upload with others in one request.
#[derive(Clone, Debug)]
pub struct SmallUpload {
    pub target: UploadTarget,
    pub revision: RevisionId,
    /// The whole file; [`cairn_crypto::MIN_CHUNK`] bytes or less is what batches are made for.
    pub bytes: Vec<u8>,
    /// Milliseconds since 1970-01-01 UTC.
    pub modified_ms: i64,
    pub executable: bool,
    /// Hash of the content that the server is known to have: an upload of it is skipped.
    pub skip_if: Option<ContentHash>,
}

/// The result of an upload.
#[derive(Clone, Debug, PartialEq)]
pub enum Uploaded {
    /// The revision is the head; the node is as the server returned it.
    Committed {
        node: Box<Node>,
        manifest: Box<Manifest>,
    },
    /// The content is the one that was said to need no upload; nothing was sent.
    Unchanged,
}

impl UploadTarget {
    /// Returns the node that is made or changed.
    #[must_use]
    pub fn node(&self) -> NodeId {
        match self {
            Self::New { node, .. } | Self::Revision { node, .. } => *node,
        }
    }

    /// Returns the folder; `None` is the top of the space.
    #[must_use]
    pub fn parent(&self) -> Option<NodeId> {
        match self {
            Self::New { parent, .. } | Self::Revision { parent, .. } => *parent,
        }
    }

    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::New { name, .. } | Self::Revision { name, .. } => name,
        }
    }

    /// Returns the place of a new file; none for a new revision.
    pub(crate) fn new_place(&self) -> Option<NewPlace> {
        match self {
            Self::New { parent, name, .. } => Some(NewPlace {
                parent: *parent,
                name: name.clone(),
            }),
            Self::Revision { .. } => None,
        }
    }

    /// Has a new file made in another place.
    pub(crate) fn set_new_place(&mut self, place: Option<NewPlace>) {
        if let (Self::New { parent, name, .. }, Some(place)) = (self, place) {
            (*parent, *name) = (place.parent, place.name);
        }
    }

    pub(crate) fn base(&self) -> Option<RevisionId> {
        match self {
            Self::New { .. } => None,
            Self::Revision { base, .. } => Some(*base),
        }
    }

    /// Returns the content that is replaced, where a device with the keys has signed it.
    pub(crate) fn sealed_content(&self) -> Option<Download> {
        match self {
            Self::New { .. } => None,
            Self::Revision { replaced, .. } => replaced.filter(|one| one.manifest_hash.is_some()),
        }
    }

    pub(crate) fn number(&self) -> u64 {
        match self {
            Self::New { .. } => 1,
            Self::Revision { number, .. } => *number,
        }
    }

    pub(crate) fn version(&self) -> Option<u64> {
        match self {
            Self::New { .. } => None,
            Self::Revision { version, .. } => *version,
        }
    }

    pub(crate) fn seal_seq(&self) -> u64 {
        match self {
            Self::New { .. } => 1,
            Self::Revision { seal_seq, .. } => *seal_seq,
        }
    }
}
