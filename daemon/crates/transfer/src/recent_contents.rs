//! The contents that this device has sent or fetched last: the next edit of one of them needs the list of its chunks, and
//! needn't ask for what is known.
//!
//! Each was sealed here, or was checked when it came. The hash of its record (the manifest) names it, so that it stands in
//! for nothing else.

use crate::chunk_list::ChunkList;
use crate::cuts::CutVersion;
use crate::download::Download;
use cairn_wire::transfer::SealedChunk;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// Chunks of all contents together that are kept at most; each takes some 120 bytes.
const CHUNKS: usize = 32 * 1024;
/// Contents that are kept at most, of however few chunks.
const CONTENTS: usize = 1024;

/// The chunks of a revision, and the lengths of all of its sealed objects.
#[derive(Debug)]
pub(crate) struct StoredContent {
    pub(crate) list: Arc<ChunkList>,
    pub(crate) stored: Vec<SealedChunk>,
}

/// A content that is kept.
#[derive(Debug)]
struct Recent {
    of: Download,
    content: Arc<StoredContent>,
    /// The version that is to replace it.
    next: Option<CutVersion>,
}

/// The contents that were sent or fetched last, the latest at the end.
#[derive(Debug, Default)]
pub(crate) struct RecentContents(Mutex<VecDeque<Recent>>);

impl RecentContents {
    /// Returns a content, if it is known by the hash of its record.
    pub(crate) fn find(&self, of: &Download) -> Option<Arc<StoredContent>> {
        let kept = self.0.lock();
        let found = kept.iter().find(|one| is_same(&one.of, of));
        found.map(|one| one.content.clone())
    }

    /// Returns another content of the same node.
    pub(crate) fn other_of(&self, of: &Download) -> Option<Arc<StoredContent>> {
        let kept = self.0.lock();
        let is_other = |one: &&Recent| one.of.node == of.node && one.of.revision != of.revision;
        kept.iter().find(is_other).map(|one| one.content.clone())
    }

    /// Takes the version that is to replace a content, if it was cut when it was in this state: for one upload, so that
    /// the next try of one that fails reads all of it.
    pub(crate) fn take_next(&self, replaced: &Download, state: [u8; 32]) -> Option<CutVersion> {
        let mut kept = self.0.lock();
        let found = kept.iter_mut().find(|one| is_same(&one.of, replaced))?;
        found.next.take().filter(|next| next.state == state)
    }

    /// Keeps the version that is to replace a content beside it.
    pub(crate) fn put_next(&self, replaced: &Download, next: CutVersion) {
        let mut kept = self.0.lock();
        if let Some(found) = kept.iter_mut().find(|one| is_same(&one.of, replaced)) {
            found.next = Some(next);
        }
    }

    /// Keeps a content in place of an earlier one of its node. One without a checked record is not kept.
    pub(crate) fn put(&self, of: Download, content: StoredContent) {
        if of.manifest_hash.is_none() {
            return;
        }
        let mut kept = self.0.lock();
        kept.retain(|one| one.of.node != of.node);
        kept.push_back(Recent {
            of,
            content: Arc::new(content),
            next: None,
        });
        let chunks = |one: &Recent| one.content.list.rows().len();
        let mut all: usize = kept.iter().map(chunks).sum();
        while all > CHUNKS || kept.len() > CONTENTS {
            let Some(oldest) = kept.pop_front() else {
                return;
            };
            all -= chunks(&oldest);
        }
    }
}

fn is_same(one: &Download, other: &Download) -> bool {
    let ids = |of: &Download| (of.node, of.revision, of.manifest_hash);
    one.manifest_hash.is_some() && ids(one) == ids(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_crypto::format2::{ChunkRow, Manifest as List, ObjectId};
    use cairn_model::{NodeId, RevisionId};

    fn content(chunks: usize) -> StoredContent {
        let row = ChunkRow {
            key: 0,
            id: ObjectId([1; 32]),
            length: 1,
            hash: [2; 32],
        };
        let list = List {
            keys: Vec::new(),
            cut: 0,
            rows: vec![row; chunks],
        };
        StoredContent {
            list: Arc::new(ChunkList::with_keys(list, Vec::new())),
            stored: Vec::new(),
        }
    }

    fn revision(node: u8, revision: u8) -> Download {
        Download {
            manifest_hash: Some([revision; 32]),
            ..Download::new(
                NodeId::from_random_bytes([node; 16]),
                RevisionId::from_random_bytes([revision; 16]),
            )
        }
    }

    #[test]
    fn only_the_very_record_is_found() {
        let recent = RecentContents::default();
        recent.put(revision(1, 1), content(3));
        assert!(recent.find(&revision(1, 1)).is_some());
        for manifest_hash in [None, Some([9; 32])] {
            let other = Download {
                manifest_hash,
                ..revision(1, 1)
            };
            assert!(recent.find(&other).is_none(), "{manifest_hash:?}");
            recent.put(other, content(3));
        }
        assert!(recent.find(&revision(1, 1)).is_none(), "it was replaced");
        recent.put(revision(1, 2), content(3));
        assert_eq!(recent.0.lock().len(), 1);
    }

    #[test]
    fn the_oldest_go_where_there_are_too_many_chunks() {
        let recent = RecentContents::default();
        for node in 1..=3 {
            recent.put(revision(node, 1), content(CHUNKS / 2));
        }
        let found = [1, 2, 3].map(|node| recent.find(&revision(node, 1)).is_some());
        assert_eq!(found, [false, true, true]);
        recent.put(revision(4, 1), content(CHUNKS + 1));
        assert!(recent.0.lock().is_empty());
    }
}
