//! Rounds over more keys than one plan takes.

use super::*;
use crate::{FolderSettings, Index, LocalRow, LocalStat, Skipped, SyncedRow};
use cairn_model::{Kind, Name, NodeId};
use std::collections::BTreeSet;

const SIZES: PlanSizes = PlanSizes { whole: 5, part: 3 };

struct Scene {
    index: Index,
    folder: FolderId,
}

impl Scene {
    fn new() -> Self {
        let index = Index::memory().unwrap();
        let folder = index.write(|db| db.add_folder("/home/x", "/", &FolderSettings::default()));
        Self {
            folder: folder.unwrap(),
            index,
        }
    }

    /// Records new files, which are dirty.
    fn add(&self, names: impl IntoIterator<Item = u32>) -> Vec<LocalId> {
        let row = |name: u32| LocalRow {
            id: LocalId(0),
            folder: self.folder,
            parent: None,
            name: Name::new(name.to_string()).unwrap(),
            kind: Kind::File,
            stat: LocalStat {
                size: 10,
                ..LocalStat::default()
            },
            executable: false,
            hash: None,
            skipped: Skipped::No,
        };
        let add = |db: &Db<'_>| {
            let names = names.into_iter();
            names.map(|name| db.insert_local(&row(name))).collect()
        };
        self.index.write(add).unwrap()
    }

    fn sync(&self, local: LocalId) {
        let row = SyncedRow {
            folder: self.folder,
            node: NodeId::from_random_bytes([u8::try_from(local.0).unwrap(); 16]),
            local,
            name: Name::new(local.0.to_string()).unwrap(),
            parent: None,
            kind: Kind::File,
            hash: None,
            revision: None,
            size: 0,
            executable: false,
        };
        self.index.write(|db| db.put_synced(&row)).unwrap();
    }

    fn next(&self, round: Round, with_left: bool) -> Worklist {
        let read = |db: &Db<'_>| db.worklist(self.folder, round, SIZES, with_left);
        self.index.read(read).unwrap()
    }
}

#[test]
fn few_keys_are_planned_together() {
    let scene = Scene::new();
    let files = scene.add(0..4);
    let list = scene.next(Round::default(), false);
    assert_eq!((list.keys.local, list.is_whole), (files, true));
    assert!(!list.is_more);
}

#[test]
fn a_round_has_each_new_file_once_and_the_newest_first() {
    let scene = Scene::new();
    let files = scene.add(0..8);
    let mut round = Round::default();
    let mut parts = Vec::new();
    loop {
        let list = scene.next(round, true);
        assert!(!list.is_whole);
        round = list.round;
        parts.push(list.keys.local);
        if !list.is_more {
            break;
        }
    }
    let expected = [&files[5..8], &files[2..5], &files[0..2]];
    assert_eq!(parts, expected);
    let left = scene
        .index
        .read(|db| db.files_left(scene.folder, Round::default()));
    assert_eq!(left.unwrap(), (8, 80));
}

#[test]
fn what_is_new_is_planned_at_once_and_the_round_goes_on_where_it_was() {
    let scene = Scene::new();
    let files = scene.add(0..8);
    let first = scene.next(Round::default(), true);
    let new = scene.add([100]);
    let second = scene.next(first.round, false);
    assert_eq!(second.keys.local, new, "and nothing of what is left");
    assert!(second.is_more);
    let third = scene.next(second.round, true);
    assert_eq!(third.keys.local, files[2..5]);
    let left = |round| scene.index.read(|db| db.files_left(scene.folder, round));
    assert_eq!(left(third.round).unwrap(), (2, 20));
}

#[test]
fn a_file_that_changes_again_is_new_again() {
    let scene = Scene::new();
    let files = scene.add(0..8);
    let first = scene.next(Round::default(), true);
    let mark = |db: &Db<'_>| db.mark_local(scene.folder, files[7]);
    scene.index.write(mark).unwrap();
    let second = scene.next(first.round, false);
    assert_eq!(second.keys.local, files[7..]);
}

#[test]
fn more_news_than_one_plan_takes_are_all_planned() {
    let scene = Scene::new();
    let files = scene.add(0..8);
    let mut round = scene.next(Round::default(), true).round;
    let news = scene.add(100..107);
    let mut seen = BTreeSet::new();
    for _ in 0..20 {
        let list = scene.next(round, true);
        round = list.round;
        seen.extend(list.keys.local);
        if !list.is_more {
            break;
        }
    }
    let all: BTreeSet<LocalId> = files.into_iter().chain(news).collect();
    assert_eq!(seen, all);
}

#[test]
fn what_was_in_sync_is_in_every_part() {
    let scene = Scene::new();
    let files = scene.add(0..8);
    // Marked before its first sync: it counts all the same.
    scene.sync(files[0]);
    let first = scene.next(Round::default(), true);
    assert_eq!(first.keys.local, [&files[..1], &files[5..]].concat());
    let second = scene.next(first.round, true);
    assert_eq!(second.keys.local, [&files[..1], &files[2..5]].concat());
    for file in &files[1..6] {
        scene.sync(*file);
    }
    assert!(scene.next(second.round, true).is_whole, "there are many");
}

#[test]
fn what_was_marked_since_somebody_looked_is_known_also_after_other_marks_have_gone() {
    let scene = Scene::new();
    let files = scene.add(0..3);
    let since = |seen, most| {
        let read = |db: &Db<'_>| db.marked_since(scene.folder, seen, most);
        let (keys, seen) = scene.index.read(read).unwrap();
        (keys.local, seen)
    };
    let (first, seen) = since(SeenMarks::default(), 2);
    assert_eq!(
        first,
        [files[2], files[1]],
        "the newest, as many as asked for"
    );
    assert_eq!(since(seen, 9), (Vec::new(), seen));
    let clean = |db: &Db<'_>| {
        for file in &files {
            db.clean_local(scene.folder, *file)?;
        }
        Ok(())
    };
    scene.index.write(clean).unwrap();
    assert_eq!(since(seen, 9), (Vec::new(), seen));
    let mark = |db: &Db<'_>| db.mark_local(scene.folder, files[0]);
    scene.index.write(mark).unwrap();
    let (again, newer) = since(seen, 9);
    assert_eq!(again, [files[0]]);
    assert_ne!(newer, seen);
}
