//! Earlier contents of many files, compared and restored in few requests.

use super::content::past_content;
use super::restore::is_same_content;
use super::{Space, new_revision};
use cairn_model::{Manifest, NodeId};
use cairn_transfer::{Restore, Uploaded};
use cairn_wire::nodes::{Node, Revision};
use std::collections::{HashMap, HashSet};

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
    /// Each file comes back as it was given, in any order, with `None` where nothing is known to be changed: a request
    /// of its own does it or tells why it can't be done.
    pub async fn restore_revisions(&self, files: Vec<Earlier>) -> Vec<(Earlier, Option<Node>)> {
        let mut done = Vec::with_capacity(files.len());
        let mut sending = Vec::with_capacity(files.len());
        for (file, manifests) in self.open_both(files).await {
            let (node, revision) = &file;
            let Some((present, older)) = manifests else {
                done.push((file, None));
                continue;
            };
            if is_same_content(&older, &present) && self.seal(node).is_some() {
                let unchanged = node.clone();
                done.push((file, Some(unchanged)));
                continue;
            }
            let target = node
                .revision_id
                .and_then(|base| self.next_revision(node, base, &present).ok());
            let restore = target.map(|target| Restore {
                target,
                revision: new_revision(),
                content: past_content(node.id, revision),
            });
            match restore {
                Some(restore) => sending.push((file, restore, older)),
                None => done.push((file, None)),
            }
        }
        let sent = self.transfer.restore_batch(sending).await.into_iter();
        done.extend(sent.map(|(file, uploaded)| match uploaded {
            Some(Uploaded::Committed { node, .. }) => (file, Some(*node)),
            Some(Uploaded::Unchanged) | None => (file, None),
        }));
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
