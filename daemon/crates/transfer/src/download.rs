//! The request for a download.

use cairn_model::{NodeId, RevisionId};
use cairn_wire::nodes::ContentSource;

/// One revision to download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Download {
    pub node: NodeId,
    pub revision: RevisionId,
    /// The node under whose id the content was sealed, as the node or revision has it; `None` if
    /// its own.
    pub source: Option<ContentSource>,
    /// The manifest's hash in a checked node seal; another manifest is refused.
    pub manifest_hash: Option<[u8; 32]>,
}

impl Download {
    /// Returns the download of a revision that was sealed where it is.
    #[must_use]
    pub fn new(node: NodeId, revision: RevisionId) -> Self {
        Self {
            node,
            revision,
            source: None,
            manifest_hash: None,
        }
    }

    /// Returns the ids that manifest and content key are bound to.
    pub(crate) fn content_source(&self) -> ContentSource {
        self.source.unwrap_or(ContentSource {
            node_id: self.node,
            revision_id: self.revision,
        })
    }
}
