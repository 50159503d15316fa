//! Plans about folders that leave.

use crate::engine::Engine;
use crate::folder_rules::present_rules;
use crate::key::LockedKeys;
use crate::planning::{BlockedChanges, Part, plan_folder};
use crate::testing::TestEngine;
use cairn_index::{
    Db, Dirty, FolderRow, IndexError, LocalRow, LocalStat, PlanSizes, RemoteRow, Round, Skipped,
    SyncedRow,
};
use cairn_model::{ContentHash, FolderId, Kind, LocalId, Name, NodeId, RelPath, RevisionId};
use cairn_plan::{Plan, Step};
use std::sync::Arc;
use tempfile::TempDir;

/// The name that the rules leave out.
const LEFT_OUT: &str = "d.txt";

fn name(text: &str) -> Name {
    Name::new(text.to_owned()).unwrap()
}

fn node(id: u8) -> NodeId {
    NodeId::from_random_bytes([id; 16])
}

/// The nodes of the folder `d` and of the file `d/a`.
fn dir() -> NodeId {
    node(1)
}

fn file() -> NodeId {
    node(2)
}

/// A pair whose rules leave out `*.txt`, with `d` and `d/a` in sync and nothing marked.
struct Pair {
    engine: Arc<Engine>,
    folder: FolderRow,
    dir: LocalId,
    _disk: TempDir,
}

impl Pair {
    fn new() -> Self {
        let test = TestEngine::new();
        std::fs::write(test.dir.path().join(".cairnignore"), "*.txt\n").unwrap();
        let folder = test.folder.clone();
        let (engine, _disk) = test.into_engine();
        let dir = engine.index.write(|db| {
            let dir = put_pair(db, &folder, None, &remote(dir(), None, "d", Kind::Folder))?;
            let file = remote(file(), Some(self::dir()), "a", Kind::File);
            let file = put_pair(db, &folder, Some(dir), &file)?;
            clean(db, folder.id, &[dir, file], &[self::dir(), self::file()])?;
            Ok(dir)
        });
        Self {
            engine,
            folder,
            dir: dir.unwrap(),
            _disk,
        }
    }

    fn change(&self, change: impl FnOnce(&Db<'_>) -> Result<(), IndexError>) {
        self.engine.index.write(change).unwrap();
    }

    /// Moves `d` on the service to the name that is left out.
    fn leave_service(&self) {
        self.change(|db| {
            let moved = RemoteRow {
                version: 2,
                ..remote(dir(), None, LEFT_OUT, Kind::Folder)
            };
            db.put_remote(std::slice::from_ref(&self.folder), &moved)
                .map(drop)
        });
    }

    /// Records a file in `d` that the rules leave out, as one that was looked at.
    fn ignore_inside(&self) {
        self.change(|db| {
            let ignored = LocalRow {
                skipped: Skipped::Ignored,
                ..local(self.folder.id, Some(self.dir), "i.txt", Kind::File)
            };
            db.insert_local(&ignored).map(drop)
        });
    }

    async fn plan(&self) -> Plan {
        let rules = present_rules(&self.engine, &self.folder, &RelPath::root()).unwrap();
        let part = Part {
            round: Round::default(),
            sizes: PlanSizes::default(),
            with_left: true,
            retried: Dirty::default(),
            locked: LockedKeys::default(),
        };
        let blocked = BlockedChanges::default();
        let planned = plan_folder(&self.engine, &self.folder, &rules, blocked, &part).await;
        planned.unwrap().plan
    }
}

fn local(folder: FolderId, parent: Option<LocalId>, text: &str, kind: Kind) -> LocalRow {
    LocalRow {
        id: LocalId(0),
        folder,
        parent,
        name: name(text),
        kind,
        stat: LocalStat::default(),
        executable: false,
        hash: (kind == Kind::File).then_some(ContentHash([1; 32])),
        skipped: Skipped::No,
    }
}

fn remote(node: NodeId, parent: Option<NodeId>, text: &str, kind: Kind) -> RemoteRow {
    RemoteRow {
        kind,
        revision: (kind == Kind::File).then_some(RevisionId::from_random_bytes([3; 16])),
        version: 1,
        ..RemoteRow::folder(node, parent, name(text))
    }
}

/// Puts a node on both sides, in sync.
fn put_pair(
    db: &Db<'_>,
    folder: &FolderRow,
    parent: Option<LocalId>,
    row: &RemoteRow,
) -> Result<LocalId, IndexError> {
    let here = local(folder.id, parent, row.name.as_str(), row.kind);
    let id = db.insert_local(&here)?;
    db.put_remote(std::slice::from_ref(folder), row)?;
    db.put_synced(&SyncedRow {
        folder: folder.id,
        node: row.node,
        local: id,
        parent: row.parent,
        name: row.name.clone(),
        kind: row.kind,
        revision: row.revision,
        hash: here.hash,
        size: 0,
        executable: false,
    })?;
    Ok(id)
}

fn clean(
    db: &Db<'_>,
    folder: FolderId,
    locals: &[LocalId],
    nodes: &[NodeId],
) -> Result<(), IndexError> {
    for local in locals {
        db.clean_local(folder, *local)?;
    }
    for node in nodes {
        db.clean_node(folder, *node)?;
    }
    Ok(())
}

fn trashed_here(plan: &Plan) -> Vec<NodeId> {
    let trashed = plan.steps.iter().filter_map(|step| {
        let Step::TrashLocal { node, .. } = step else {
            return None;
        };
        Some(*node)
    });
    trashed.collect()
}

#[tokio::test]
async fn what_is_synced_in_a_folder_that_leaves_goes_though_something_keeps_the_folder() {
    let pair = Pair::new();
    pair.ignore_inside();
    pair.leave_service();
    let plan = pair.plan().await;
    assert_eq!(trashed_here(&plan), [file()], "{:?}", plan.steps);
}

#[tokio::test]
async fn all_files_of_a_folder_that_leaves_count_as_deleted() {
    let pair = Pair::new();
    pair.leave_service();
    let plan = pair.plan().await;
    assert_eq!(trashed_here(&plan), [dir()], "it goes as a whole");
    let deleted: Vec<NodeId> = plan.local_deletions.iter().map(|d| d.node).collect();
    assert_eq!(deleted, [dir(), file()]);
}

#[tokio::test]
async fn what_was_never_here_keeps_a_folder_that_is_left_out_after_its_move() {
    let pair = Pair::new();
    let unknown = node(4);
    pair.change(|db| {
        let unselected = remote(unknown, Some(dir()), "u.txt", Kind::File);
        db.put_remote(std::slice::from_ref(&pair.folder), &unselected)?;
        let row = db.local_row(pair.dir)?.unwrap();
        db.update_local(&LocalRow {
            name: name(LEFT_OUT),
            skipped: Skipped::Ignored,
            ..row
        })?;
        // It was looked at when it came, and left out.
        db.clean_node(pair.folder.id, unknown)
    });
    let plan = pair.plan().await;
    let trash = |node| Step::TrashRemote { node };
    assert_eq!(plan.steps, [trash(file())]);
}

#[tokio::test]
async fn of_a_folder_that_leaves_only_what_is_to_be_done_is_marked() {
    let pair = Pair::new();
    pair.ignore_inside();
    pair.leave_service();
    pair.change(|db| {
        let all = db.dirty_keys(pair.folder.id)?;
        clean(db, pair.folder.id, &all.local, &all.node)?;
        db.mark_node(pair.folder.id, dir())
    });
    let plan = pair.plan().await;
    assert_eq!(trashed_here(&plan), [file()], "{:?}", plan.steps);
    pair.change(|db| {
        let marked = db.dirty_keys(pair.folder.id)?;
        let file = db.synced_row(pair.folder.id, file())?.unwrap();
        assert_eq!((marked.local, marked.node), (vec![file.local], vec![dir()]));
        Ok(())
    });
}
