//! Steps that failed are tried again, without waiting for the end of their pauses, when what they failed for may have
//! gone: a hint about the path or a directory above it, another state of the file or node, other rules, more space.
//!
//! Nothing else counts: a change elsewhere makes no try.

use super::Dispatcher;
use super::schedule::DueScan;
use crate::full_disk::{Room, fits};
use crate::health::Failure;
use crate::key::Key;
use cairn_index::{Db, Dirty, IndexError, SeenMarks};
use cairn_model::{FolderId, ProblemCode};
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

/// The most news that are compared with what failed; others don't shorten a pause.
const MOST: usize = 2_000;

/// The keys that were marked since the last look, with the other sides of them.
#[derive(Default)]
pub(super) struct Marked {
    keys: BTreeSet<Key>,
    pub(super) seen: SeenMarks,
}

/// Returns what was marked after `seen`; no keys if nothing has failed that could be about them.
pub(super) fn marked_since(
    db: &Db<'_>,
    folder: FolderId,
    seen: SeenMarks,
    has_failures: bool,
) -> Result<Marked, IndexError> {
    let most = if has_failures { MOST } else { 0 };
    let (Dirty { local, node }, seen) = db.marked_since(folder, seen, most)?;
    let mut keys = BTreeSet::new();
    for local in local {
        keys.insert(Key::Local(local));
        let synced = db.synced_by_local(local)?;
        keys.extend(synced.map(|synced| Key::Node(synced.node)));
    }
    for node in node {
        keys.insert(Key::Node(node));
        let synced = db.synced_row(folder, node)?;
        keys.extend(synced.map(|synced| Key::Local(synced.local)));
    }
    Ok(Marked { keys, seen })
}

impl Dispatcher {
    /// Lets what failed be tried again whose path, or a directory above it, is among the hints of a scan.
    pub(super) fn retry_hinted(&mut self, id: FolderId, due: &DueScan) {
        let is_hinted = due.is_root_hinted || due.dirs.values().any(|names| !names.is_empty());
        if !is_hinted || !self.engine.health().has_failures(id) {
            return;
        }
        let mut paths = HashSet::new();
        for (dir, names) in &due.dirs {
            paths.extend(names.iter().map(|name| dir.join(name.clone()).to_string()));
        }
        self.hurry(id, |failure| {
            let path = failure.path;
            let mut above = path.match_indices('/').map(|(end, _)| &path[..end]);
            failure.is_lasting
                && (due.is_root_hinted
                    || paths.contains(path)
                    || above.any(|dir| paths.contains(dir)))
        });
    }

    /// Lets what failed be tried again that has another state than before.
    pub(super) fn retry_marked(&mut self, id: FolderId, marked: &Marked) {
        if let Some(folder) = self.folders.get_mut(&id) {
            folder.seen_marks = marked.seen;
        }
        self.hurry(id, |failure| {
            // A file that changes while it is sent is always marked: that is what it waits for.
            let is_new = failure.is_lasting || matches!(failure.key, Key::Node(_));
            is_new && marked.keys.contains(&failure.key)
        });
    }

    /// Does the same for all that the feed has brought since the last plan.
    ///
    /// # Errors
    /// Returns the error of the index.
    pub(super) fn retry_news(&mut self, id: FolderId) -> Result<(), IndexError> {
        let Some(seen) = self.folders.get(&id).map(|folder| folder.seen_marks) else {
            return Ok(());
        };
        let has_failures = self.engine.health().has_failures(id);
        let read = |db: &Db<'_>| marked_since(db, id, seen, has_failures);
        let marked = self.engine.index.read(read)?;
        self.retry_marked(id, &marked);
        Ok(())
    }

    /// Lets all that failed in a folder be tried again: its rules or settings are others now.
    pub(super) fn retry_by_rules(&mut self, id: FolderId) {
        self.hurry(id, |failure| failure.is_lasting);
    }

    /// Lets what did not fit on a folder's disk be tried again if it does now.
    pub(super) fn retry_with_room(&mut self, id: FolderId) {
        let Some(folder) = self.folders.get(&id) else {
            return;
        };
        if !self.engine.health().is_disk_full(id) {
            return;
        }
        let then = self.engine.health().free_bytes(id);
        let disk = &self.engine.ports.disk;
        let root = Path::new(&folder.row.root);
        let Ok(free) = disk.free_space(root) else {
            return;
        };
        let files = disk.free_files(root).ok().flatten();
        let now = Room { free, files };
        self.hurry(id, |failure| {
            failure.code == ProblemCode::DiskFull && fits(failure.bytes, then, now)
        });
    }

    fn hurry(&mut self, id: FolderId, is_concerned: impl Fn(&Failure<'_>) -> bool) {
        let any = self.engine.health().hurry(id, is_concerned);
        if any && let Some(folder) = self.folders.get_mut(&id) {
            // By the clock alone, a plan of this very moment would count as the try.
            folder.news_due = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::EngineError;
    use crate::health::RetryHint;
    use crate::testing::{TestEngine, synced_file};
    use cairn_index::Skipped;
    use cairn_model::{LocalId, NodeId, RelPath};
    use std::time::Duration;
    use tokio::time::Instant;

    fn node() -> NodeId {
        NodeId::from_random_bytes([1; 16])
    }

    /// Lets steps of a key fail as long as it takes for a long pause.
    fn fail(dispatcher: &Dispatcher, id: FolderId, key: Key, retry: RetryHint) {
        for _ in 0..10 {
            let denied = EngineError::Disk(std::io::ErrorKind::PermissionDenied.into());
            let mut health = dispatcher.engine.health();
            health.park(id, key, "d/f".into(), &denied, retry);
        }
    }

    fn waits(dispatcher: &Dispatcher, id: FolderId, key: Key) -> bool {
        dispatcher.engine.health().is_parked(id, key)
    }

    #[tokio::test(start_paused = true)]
    async fn a_hint_about_the_path_or_above_it_is_a_chance_and_one_elsewhere_is_none() {
        let key = Key::Node(node());
        for (hinted, is_chance) in [
            ("d/f", true),
            ("d", true),
            ("", true),
            ("d/g", false),
            ("d/f2", false),
            ("f", false),
        ] {
            let (mut dispatcher, id, _dir) = TestEngine::new().into_dispatcher();
            dispatcher.scan_due(id).await;
            fail(&dispatcher, id, key, RetryHint::Later);
            let folder = dispatcher.folders.get_mut(&id).unwrap();
            folder.news_due = false;
            let path = RelPath::parse(hinted).unwrap();
            folder.schedule.hint(&path, Instant::now());
            tokio::time::advance(Duration::from_secs(1)).await;
            dispatcher.scan_due(id).await;
            assert_eq!(!waits(&dispatcher, id, key), is_chance, "{hinted:?}");
            assert_eq!(dispatcher.folders[&id].news_due, is_chance, "{hinted:?}");
            let tries = dispatcher.engine.health().tries(id, key);
            assert!(is_chance || tries == 10, "{tries} tries, {hinted:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn another_state_of_a_node_or_file_is_a_chance_for_both_sides_of_it() {
        let test = TestEngine::new();
        let local = test.local_file("f", Skipped::No);
        let (mut dispatcher, id, _dir) = test.into_dispatcher();
        let engine = std::sync::Arc::clone(&dispatcher.engine);
        let put = |db: &Db<'_>| db.put_synced(&synced_file(id, node(), local, "f"));
        engine.index.write(put).unwrap();
        let (here, there) = (Key::Local(local), Key::Node(node()));
        for (key, retry, of_node, of_file) in [
            (here, RetryHint::Later, true, true),
            (there, RetryHint::Later, true, true),
            (there, RetryHint::Soon, true, true),
            (here, RetryHint::Soon, false, false),
            (Key::Local(LocalId(99)), RetryHint::Later, false, false),
        ] {
            for (is_of_node, is_chance) in [(true, of_node), (false, of_file)] {
                engine.health().forget(id);
                dispatcher.retry_news(id).unwrap();
                fail(&dispatcher, id, key, retry);
                dispatcher.retry_news(id).unwrap();
                assert!(waits(&dispatcher, id, key), "nothing is new");
                let mark = |db: &Db<'_>| match is_of_node {
                    true => db.mark_node(id, node()),
                    false => db.mark_local(id, local),
                };
                engine.index.write(mark).unwrap();
                dispatcher.retry_news(id).unwrap();
                assert_eq!(!waits(&dispatcher, id, key), is_chance, "{key:?} {retry:?}");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_whole_scan_that_finds_a_file_as_it_was_is_no_chance_and_other_rules_are() {
        let (mut dispatcher, id, dir) = TestEngine::new().into_dispatcher();
        std::fs::write(dir.path().join("f"), "f").unwrap();
        dispatcher.scan_due(id).await;
        let row = |db: &Db<'_>| db.local_at(id, &RelPath::parse("f").expect("a path"));
        let row = dispatcher.engine.index.read(row).unwrap();
        let key = Key::Local(row.unwrap().id);
        fail(&dispatcher, id, key, RetryHint::Later);
        dispatcher.folders.get_mut(&id).unwrap().schedule.rescan();
        dispatcher.scan_due(id).await;
        dispatcher.retry_news(id).unwrap();
        assert!(
            waits(&dispatcher, id, key),
            "it is marked anew all the same"
        );
        dispatcher.retry_by_rules(id);
        assert!(!waits(&dispatcher, id, key));
    }
}
