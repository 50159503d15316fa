//! Contents that turn into noise, on a real disk: which of them wait, and what the answers do.

use super::*;
use crate::confirm::confirm;
use crate::gate::sample_heads;
use crate::gate::testing::ciphertext;
use crate::observe::hash::local_stat;
use crate::testing::TestEngine;
use cairn_index::{Skipped, SyncedRow};
use cairn_model::{ContentHash, DeletionDecision, Name, RevisionId};
use cairn_plan::{Deletion, Parent, ParentAndName};
use cairn_platform::RealDisk;
use std::fs;

/// A folder with a gate whose files are in sync, and what changes in it.
pub(super) struct Scene {
    engine: Arc<Engine>,
    folder: FolderRow,
    flow: OverwriteFlow,
    dirs: BTreeMap<PathBuf, Option<LocalId>>,
    files: BTreeMap<PathBuf, LocalRow>,
    dir: tempfile::TempDir,
}

fn node(local: LocalId) -> NodeId {
    let mut id = [0; 16];
    id[8..].copy_from_slice(&local.0.to_be_bytes());
    NodeId::from_random_bytes(id)
}

/// Returns a text; others for each number.
pub(super) fn text(number: u32) -> Vec<u8> {
    format!("{number}: It was a bright cold day in April.\n")
        .repeat(20)
        .into_bytes()
}

fn content_hash(path: &Path) -> ContentHash {
    ContentHash(*blake3::hash(&fs::read(path).unwrap()).as_bytes())
}

impl Scene {
    pub(super) fn new() -> Self {
        let test = TestEngine::new();
        let mut folder = test.folder.clone();
        folder.settings.gate = Some(DeletionGate::default());
        let (engine, dir) = test.into_engine();
        Self {
            engine,
            folder,
            flow: OverwriteFlow::default(),
            dirs: [(dir.path().to_owned(), None)].into(),
            files: BTreeMap::new(),
            dir,
        }
    }

    /// A folder with so many texts in sync.
    async fn with_texts(count: u32) -> Self {
        let mut scene = Self::new();
        for number in 0..count {
            fs::write(scene.path(number), text(number)).unwrap();
        }
        scene.sync().await;
        scene
    }

    pub(super) fn root(&self) -> &Path {
        self.dir.path()
    }

    fn path(&self, number: u32) -> PathBuf {
        self.root().join(format!("{number}.txt"))
    }

    fn encrypt(&self, number: u32) {
        let bytes = ciphertext(u64::from(number), 740);
        fs::write(self.path(number), bytes).unwrap();
    }

    /// Records everything as in sync, as it is now.
    pub(super) async fn sync(&mut self) {
        self.observe();
        let write = |db: &Db<'_>| {
            for (path, row) in &mut self.files {
                let hash = content_hash(path);
                row.hash = Some(hash);
                db.update_local(row)?;
                db.put_synced(&SyncedRow {
                    folder: self.folder.id,
                    node: node(row.id),
                    local: row.id,
                    parent: row.parent.map(node),
                    name: row.name.clone(),
                    kind: Kind::File,
                    revision: Some(RevisionId::from_random_bytes([1; 16])),
                    hash: Some(hash),
                    size: row.stat.size,
                    executable: false,
                })?;
            }
            Ok(())
        };
        self.engine.index.write(write).unwrap();
        let mut after = None;
        loop {
            after = sample_heads(&self.engine, &self.folder, after)
                .await
                .unwrap();
            if after.is_none() {
                break;
            }
        }
    }

    /// Records what is on the disk. Returns the plan for it.
    pub(super) fn observe(&mut self) -> Plan {
        let mut plan = Plan::default();
        let gone: Vec<PathBuf> = self.files.keys().filter(|p| !p.exists()).cloned().collect();
        for path in gone {
            let row = self.files.remove(&path).unwrap();
            let (index, folder) = (&self.engine.index, self.folder.id);
            index.write(|db| db.remove_local(folder, row.id)).unwrap();
            plan.remote_deletions.push(Deletion {
                node: node(row.id),
                kind: Kind::File,
            });
        }
        let mut open = vec![self.root().to_owned()];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(&dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    self.record_dir(&path);
                    open.push(path);
                } else if let Some(step) = self.record_file(&path) {
                    plan.steps.push(step);
                }
            }
        }
        plan
    }

    fn row(&self, path: &Path, kind: Kind) -> LocalRow {
        let stat = cairn_platform::Disk::stat(&RealDisk::new(), path).unwrap();
        LocalRow {
            id: LocalId(0),
            folder: self.folder.id,
            parent: self.dirs[path.parent().unwrap()],
            name: Name::new(path.file_name().unwrap().to_str().unwrap().to_owned()).unwrap(),
            kind,
            stat: local_stat(&stat),
            executable: false,
            hash: None,
            skipped: Skipped::No,
        }
    }

    fn record_dir(&mut self, path: &Path) {
        if self.dirs.contains_key(path) {
            return;
        }
        let row = self.row(path, Kind::Folder);
        let synced = |id| SyncedRow {
            folder: self.folder.id,
            node: node(id),
            local: id,
            parent: row.parent.map(node),
            name: row.name.clone(),
            kind: Kind::Folder,
            revision: None,
            hash: None,
            size: 0,
            executable: false,
        };
        let index = &self.engine.index;
        let id = index.write(|db| {
            let id = db.insert_local(&row)?;
            db.put_synced(&synced(id))?;
            Ok(id)
        });
        self.dirs.insert(path.to_owned(), Some(id.unwrap()));
    }

    /// Records a file. Returns the step that sends it over the version in sync, if it is another one.
    fn record_file(&mut self, path: &Path) -> Option<Step> {
        let mut row = self.row(path, Kind::File);
        let index = &self.engine.index;
        let Some(known) = self.files.get_mut(path) else {
            row.id = index.write(|db| db.insert_local(&row)).unwrap();
            self.files.insert(path.to_owned(), row);
            return None;
        };
        if known.stat == row.stat {
            return None;
        }
        row.id = known.id;
        index.write(|db| db.update_local(&row)).unwrap();
        *known = row;
        Some(Step::Upload {
            local: known.id,
            over: Some(node(known.id)),
            to: ParentAndName {
                parent: Parent::Root,
                name: known.name.clone(),
            },
        })
    }

    /// Returns the number of files that wait after what has changed on the disk.
    pub(super) async fn waiting(&mut self) -> usize {
        let plan = self.observe();
        self.waiting_of(&plan).await
    }

    pub(super) async fn waiting_of(&mut self, plan: &Plan) -> usize {
        let held = check(&self.engine, &self.folder, &mut self.flow, plan).await;
        held.unwrap().len()
    }
}

#[tokio::test]
async fn many_contents_that_turn_into_noise_wait_over_a_restart() {
    let mut scene = Scene::with_texts(100).await;
    for number in 0..30 {
        scene.encrypt(number);
    }
    for number in 30..60 {
        fs::write(scene.path(number), text(number + 1)).unwrap();
    }
    let plan = scene.observe();
    assert_eq!(plan.steps.len(), 60);
    assert_eq!(scene.waiting_of(&plan).await, 30);
    scene.flow = OverwriteFlow::default();
    assert_eq!(scene.waiting_of(&plan).await, 30);
    // Fewer are no reason to let the rest through.
    let is_first = |step: &Step| {
        let Step::Upload { to, .. } = step else {
            return false;
        };
        ["0.txt", "1.txt"].contains(&to.name.as_str())
    };
    let fewer = Plan {
        steps: plan.steps.into_iter().filter(is_first).collect(),
        ..Plan::default()
    };
    assert_eq!(scene.waiting_of(&fewer).await, 2);
    assert_eq!(scene.waiting_of(&Plan::default()).await, 0);
}

#[tokio::test]
async fn a_few_files_wait_only_if_they_are_most_of_a_small_folder() {
    let mut large = Scene::with_texts(100).await;
    let mut small = Scene::with_texts(8).await;
    for scene in [&large, &small] {
        for number in 0..6 {
            scene.encrypt(number);
        }
    }
    assert_eq!(large.waiting().await, 0);
    assert_eq!(small.waiting().await, 6);
}

#[tokio::test(start_paused = true)]
async fn files_that_turn_one_by_one_are_counted_together_for_an_hour() {
    let mut scene = Scene::with_texts(100).await;
    for number in 0..19 {
        scene.encrypt(number);
        assert_eq!(scene.waiting().await, 0, "{number}");
        tokio::time::advance(Duration::from_secs(60)).await;
    }
    scene.encrypt(19);
    assert_eq!(scene.waiting().await, 1);
    let mut slow = Scene::with_texts(100).await;
    for number in 0..40 {
        slow.encrypt(number);
        assert_eq!(slow.waiting().await, 0, "{number}");
        tokio::time::advance(MEMORY / 10).await;
    }
}

#[tokio::test]
async fn originals_wait_that_were_encrypted_into_new_files_beside_them() {
    let mut scene = Scene::with_texts(60).await;
    for number in 0..30 {
        let path = scene.path(number);
        let bytes = ciphertext(u64::from(number), 740);
        fs::write(path.with_extension("txt.locked"), bytes).unwrap();
        fs::remove_file(path).unwrap();
    }
    // These are only deleted, or packed.
    for number in 30..40 {
        fs::remove_file(scene.path(number)).unwrap();
    }
    for number in 40..50 {
        let path = scene.path(number);
        let packed = [b"\x1f\x8b", ciphertext(u64::from(number), 740).as_slice()].concat();
        fs::write(path.with_extension("txt.gz"), packed).unwrap();
        fs::remove_file(path).unwrap();
    }
    let plan = scene.observe();
    assert_eq!(plan.remote_deletions.len(), 50);
    assert_eq!(scene.waiting_of(&plan).await, 30);
}

#[tokio::test]
async fn what_a_person_agrees_to_is_sent_and_nothing_that_comes_later() {
    let mut scene = Scene::with_texts(100).await;
    for number in 0..30 {
        scene.encrypt(number);
    }
    let plan = scene.observe();
    assert_eq!(scene.waiting_of(&plan).await, 30);
    let refused = confirm(&scene.engine, scene.folder.id, DeletionDecision::Delete);
    assert!(matches!(refused, Err(EngineError::NothingToConfirm)));
    confirm(&scene.engine, scene.folder.id, DeletionDecision::Overwrite).unwrap();
    scene.flow.forget();
    assert_eq!(scene.waiting_of(&plan).await, 0);
    for number in 30..60 {
        scene.encrypt(number);
    }
    assert_eq!(scene.waiting().await, 30);
}

#[tokio::test]
async fn keeping_the_versions_of_the_service_parts_them_from_what_is_here() {
    let mut scene = Scene::with_texts(30).await;
    for number in 0..25 {
        scene.encrypt(number);
    }
    assert_eq!(scene.waiting().await, 25);
    confirm(&scene.engine, scene.folder.id, DeletionDecision::Keep).unwrap();
    let (folder, index) = (scene.folder.id, &scene.engine.index);
    let (synced, dirty) = index
        .read(|db| Ok((db.all_synced(folder)?, db.dirty_keys(folder)?)))
        .unwrap();
    assert_eq!(synced.len(), 5);
    let parted = scene.files.values().filter(|row| {
        let is_dirty = dirty.local.contains(&row.id) && dirty.node.contains(&node(row.id));
        is_dirty && synced.iter().all(|base| base.local != row.id)
    });
    assert_eq!(parted.count(), 25);
    assert!(scene.path(0).exists(), "the bytes here stay");
}

#[tokio::test]
async fn without_a_gate_nothing_waits_and_a_question_ends() {
    let mut scene = Scene::with_texts(30).await;
    for number in 0..25 {
        scene.encrypt(number);
    }
    let plan = scene.observe();
    assert_eq!(scene.waiting_of(&plan).await, 25);
    scene.folder.settings.gate = None;
    assert_eq!(scene.waiting_of(&plan).await, 0);
    let (folder, index) = (scene.folder.id, &scene.engine.index);
    let left = index.read(|db| db.waiting_overwrite_count(folder));
    assert_eq!(left.unwrap(), 0);
}
