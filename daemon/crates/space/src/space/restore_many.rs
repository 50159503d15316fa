//! Earlier contents of many files, compared and restored in few requests.

use super::content::past_content;
use super::restore::is_same_content;
use super::{Space, random_id};
use cairn_model::{Manifest, NodeId, RevisionId};
use cairn_transfer::{Restore, TransferError, Uploaded};
use cairn_wire::nodes::{Node, Revision};
use futures_util::stream::{self, StreamExt as _};
use std::collections::{HashMap, HashSet};

/// The number of concurrent requests for files that need requests of their own.
const AT_ONCE: usize = 16;

/// A file and one of its earlier revisions.
pub type Earlier = (Node, Revision);

impl Space {
    /// Returns the files that have the content of one of their revisions now, as after that was restored. A content
    /// that can't be compared counts as different.
    pub async fn with_equal_content(&self, files: Vec<Earlier>) -> HashSet<NodeId> {
        // Without a seal of its own a file is sealed by the restore.
        let sealed = files
            .into_iter()
            .filter(|(node, _)| self.seal(node).is_some());
        let opened = self.open_both(sealed.collect()).await;
        let equal = opened.into_iter().filter_map(|((node, _), manifests)| {
            let (present, older) = manifests?;
            is_same_content(&older, &present).then_some(node.id)
        });
        equal.collect()
    }

    /// Makes the content of an older revision of each file the newest again, as [`Space::restore_revision`] does.
    /// Each file comes back as it was given, with what became of it, in any order.
    pub async fn restore_revisions(
        &self,
        files: Vec<Earlier>,
    ) -> Vec<(Earlier, Result<Node, TransferError>)> {
        let mut done = Vec::with_capacity(files.len());
        let (mut together, mut alone) = (Vec::new(), Vec::new());
        for (file, manifests) in self.open_both(files).await {
            let (node, revision) = &file;
            let restore = manifests.and_then(|(present, older)| {
                let target = self.next_revision(node, node.revision_id?, &present).ok()?;
                let is_there = is_same_content(&older, &present) && self.seal(node).is_some();
                let restore = Restore {
                    target,
                    revision: RevisionId::from_random_bytes(random_id()),
                    content: past_content(node.id, revision),
                };
                (!is_there).then_some((restore, older))
            });
            match restore {
                Some((restore, older)) => together.push((file, restore, older)),
                None => alone.push(file),
            }
        }
        for (file, uploaded) in self.transfer.restore_batch(together).await {
            match uploaded {
                Some(Uploaded::Committed { node, .. }) => done.push((file, Ok(*node))),
                Some(Uploaded::Unchanged) | None => alone.push(file),
            }
        }
        let restoring = alone.into_iter().map(|(node, revision)| async move {
            let restored = self.restore_revision(&node, &revision).await;
            ((node, revision), restored)
        });
        let mut restoring = stream::iter(restoring).buffer_unordered(AT_ONCE);
        while let Some(one) = restoring.next().await {
            done.push(one);
        }
        done
    }

    /// Opens the present and the earlier manifest of each file; `None` where one can't be opened.
    async fn open_both(&self, files: Vec<Earlier>) -> Vec<(Earlier, Option<(Manifest, Manifest)>)> {
        let mut wanted = Vec::with_capacity(2 * files.len());
        for (at, (node, revision)) in files.iter().enumerate() {
            if let Ok(head) = self.head(node) {
                wanted.push(((at, true), head));
                wanted.push(((at, false), past_content(node.id, revision)));
            }
        }
        let opened = self.transfer.manifests(wanted).await.into_iter();
        let mut opened: HashMap<(usize, bool), Manifest> = opened
            .filter_map(|(which, manifest)| Some((which, manifest.ok()?)))
            .collect();
        let both = files.into_iter().enumerate().map(|(at, file)| {
            let mut take = |is_present| opened.remove(&(at, is_present));
            let manifests = take(true).zip(take(false));
            (file, manifests)
        });
        both.collect()
    }
}
