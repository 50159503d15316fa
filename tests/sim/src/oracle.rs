//! The test oracle: which contents must not be lost. It is those that somebody wrote and that no device that had them
//! has overwritten or deleted.

use crate::random::noise;
use cairn_crypto::content_hash;
use cairn_model::{ContentHash, RevisionId, Side};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Length of what makes a content a large one, which is sent alone and in chunks.
const LARGE: usize = 600_000;

/// Returns the part of a content that tells it from others.
#[must_use]
pub fn label(content: &[u8]) -> Cow<'_, str> {
    let end = content.iter().position(|byte| *byte == b'\n');
    String::from_utf8_lossy(&content[..end.unwrap_or(content.len())])
}

impl Contents {
    fn put_away(&mut self, hash: ContentHash, who: &str) {
        if let Some(content) = self.alive.remove(&hash) {
            self.put_away.insert(hash, (content, BTreeSet::new()));
        }
        if let Some((_, all)) = self.put_away.get_mut(&hash) {
            all.insert(who.to_owned());
        }
    }
}

/// All contents that must still be somewhere. Every write makes a content that never was before. Clones share it.
#[derive(Clone, Default)]
pub struct Oracle(Arc<Mutex<Contents>>);

#[derive(Default)]
struct Contents {
    alive: BTreeMap<ContentHash, Vec<u8>>,
    /// The contents that need not be there, each with those who have overwritten or deleted it.
    put_away: BTreeMap<ContentHash, (Vec<u8>, BTreeSet<String>)>,
    /// The hashes of the contents of file versions on the server.
    revisions: BTreeMap<RevisionId, ContentHash>,
    next: u64,
}

impl Oracle {
    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new content, written by a device.
    pub fn write(&self, device: &str) -> Vec<u8> {
        let mut contents = self.contents();
        contents.next += 1;
        let content = format!("{device}-{}", contents.next).into_bytes();
        contents
            .alive
            .insert(content_hash(&content), content.clone());
        content
    }

    /// A new large content, written by a device.
    pub fn write_large(&self, device: &str) -> Vec<u8> {
        let mut contents = self.contents();
        contents.next += 1;
        let mut content = format!("{device}-{}\n", contents.next).into_bytes();
        content.extend(noise(u32::try_from(contents.next).unwrap_or(0), LARGE));
        contents
            .alive
            .insert(content_hash(&content), content.clone());
        content
    }

    /// Records that a device that had this content overwrote or deleted it: it need not be there any more.
    pub fn put_away(&self, content: &[u8], device: &str) {
        self.contents().put_away(content_hash(content), device);
    }

    /// Records that the person of a device has decided to keep a content that is left on one side alone: it must be
    /// there again, unless somebody else has put it away, too.
    pub fn keep(&self, hash: ContentHash, device: &str, left_on: Side) {
        let mut contents = self.contents();
        let Some((_, who)) = contents.put_away.get(&hash) else {
            return;
        };
        let is_by_user = left_on == Side::Remote;
        let is_kept = who.len() == 1 && who.contains(device) == is_by_user;
        if is_kept && let Some((content, _)) = contents.put_away.remove(&hash) {
            contents.alive.insert(hash, content);
        }
    }

    /// Notes the content of a revision on the service.
    pub fn note_revision(&self, revision: RevisionId, hash: ContentHash) {
        self.contents().revisions.insert(revision, hash);
    }

    /// Notes that the service has made a revision with the content of another one.
    pub fn note_copy(&self, source: RevisionId, copy: Option<RevisionId>) {
        let mut contents = self.contents();
        if let (Some(hash), Some(copy)) = (contents.revisions.get(&source).copied(), copy) {
            contents.revisions.insert(copy, hash);
        }
    }

    /// Records that somebody who saw this revision on the server removed or replaced it.
    pub fn put_away_revision(&self, revision: RevisionId) {
        let mut contents = self.contents();
        if let Some(hash) = contents.revisions.get(&revision).copied() {
            contents.put_away(hash, "service");
        }
    }

    /// The contents that must be there and are not.
    #[must_use]
    pub fn missing_contents(&self, tree: &BTreeMap<String, Option<Vec<u8>>>) -> Vec<Vec<u8>> {
        let there: BTreeSet<&Vec<u8>> = tree.values().flatten().collect();
        let contents = self.contents();
        let alive = contents.alive.values();
        alive
            .filter(|content| !there.contains(content))
            .cloned()
            .collect()
    }
}
