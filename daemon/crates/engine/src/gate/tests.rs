//! Decisions about mass deletions, and the nodes that they apply to.

use super::*;
use crate::confirm::confirm;
use crate::key::LockedKeys;
use crate::observe::rules::Rules;
use crate::planning::{BlockedChanges, Part, plan_folder};
use crate::testing::TestEngine;
use cairn_index::{Dirty, LocalRow, LocalStat, PlanSizes, RemoteRow, Round, Skipped, SyncedRow};
use cairn_model::{ContentHash, DeletionDecision, DeletionGate, LocalId, Name, RevisionId};
use std::sync::Arc;

/// An engine with one folder of synced files, of which both sides are gone, and a deletion gate.
struct Scene {
    engine: Arc<Engine>,
    folder: FolderRow,
    _dir: tempfile::TempDir,
}

fn node(number: u64) -> NodeId {
    let mut id = [0; 16];
    id[8..].copy_from_slice(&number.to_be_bytes());
    NodeId::from_random_bytes(id)
}

fn name(number: u64) -> Name {
    Name::new(format!("f{number}")).unwrap()
}

fn synced_file(folder: &FolderRow, number: u64, local: LocalId) -> SyncedRow {
    SyncedRow {
        folder: folder.id,
        node: node(number),
        local,
        parent: None,
        name: name(number),
        kind: Kind::File,
        revision: Some(RevisionId::from_random_bytes([1; 16])),
        hash: Some(ContentHash([1; 32])),
        size: 1,
        executable: false,
    }
}

fn local_file(folder: &FolderRow, number: u64, skipped: Skipped) -> LocalRow {
    LocalRow {
        id: LocalId(0),
        folder: folder.id,
        parent: None,
        name: name(number),
        kind: Kind::File,
        stat: LocalStat {
            size: 1,
            ..LocalStat::default()
        },
        executable: false,
        hash: Some(ContentHash([1; 32])),
        skipped,
    }
}

/// Returns a plan that deletes these on the service.
fn remote_plan(numbers: impl IntoIterator<Item = u64>) -> Plan {
    let file = |number| Deletion {
        node: node(number),
        kind: Kind::File,
    };
    Plan {
        remote_deletions: numbers.into_iter().map(file).collect(),
        ..Plan::default()
    }
}

impl Scene {
    fn new(files: u64) -> Self {
        let test = TestEngine::new();
        let mut folder = test.folder.clone();
        folder.settings.gate = Some(DeletionGate::default());
        let (engine, dir) = test.into_engine();
        let insert = |db: &Db<'_>| {
            for number in 0..files {
                // Ids that no local row has.
                let local = LocalId(i64::MAX - number as i64);
                db.put_synced(&synced_file(&folder, number, local))?;
            }
            Ok(())
        };
        engine.index.write(insert).unwrap();
        Self {
            engine,
            folder,
            _dir: dir,
        }
    }

    /// Returns the files of a plan that wait on the service.
    fn waiting(&self, plan: &Plan) -> u64 {
        self.waiting_beside(plan, &BTreeSet::new())
    }

    /// Returns the same where some of the files were made a moment ago.
    fn waiting_beside(&self, plan: &Plan, new_files: &BTreeSet<NodeId>) -> u64 {
        let unconfirmed = unconfirmed_deletions(&self.engine, &self.folder, plan).unwrap();
        let none = Deletions::default();
        let waiting = check(&self.engine, &self.folder, &unconfirmed, none, new_files).unwrap();
        assert_eq!(waiting.local, 0);
        let rows = self
            .engine
            .index
            .read(|db| db.confirmations(self.folder.id));
        let asked: Vec<u64> = rows.unwrap().iter().map(|row| row.files).collect();
        assert_eq!(asked.iter().sum::<u64>(), waiting.remote);
        waiting.remote
    }

    fn decide(&self, decision: DeletionDecision) {
        confirm(&self.engine, self.folder.id, decision).unwrap();
    }

    /// Returns whether a file is still synced.
    fn is_synced(&self, number: u64) -> bool {
        let (index, folder) = (&self.engine.index, self.folder.id);
        let row = index.read(|db| db.synced_row(folder, node(number)));
        row.unwrap().is_some()
    }
}

#[test]
fn a_decision_is_about_the_deletions_that_a_person_saw() {
    let scene = Scene::new(1000);
    assert_eq!(scene.waiting(&remote_plan(0..600)), 600);
    scene.decide(DeletionDecision::Delete);
    assert_eq!(scene.waiting(&remote_plan(0..600)), 0);
    // All but one are done; that one can't be.
    let folder = scene.folder.id;
    scene
        .engine
        .index
        .write(|db| (1..600).try_for_each(|number| db.remove_synced(folder, node(number))))
        .unwrap();
    assert_eq!(scene.waiting(&remote_plan([0])), 0);
    assert_eq!(
        scene.waiting(&remote_plan((0..1).chain(600..900))),
        300,
        "nobody was asked about these"
    );
    scene.decide(DeletionDecision::Keep);
    assert!(scene.is_synced(0), "its deletion was confirmed before");
    assert!(!scene.is_synced(600), "it comes back");
}

#[test]
fn deletions_that_came_after_the_question_was_shown_are_not_confirmed_with_it() {
    let scene = Scene::new(1000);
    assert_eq!(scene.waiting(&remote_plan(0..600)), 600);
    // More is gone, and no plan has seen it when the person decides.
    scene.decide(DeletionDecision::Delete);
    assert_eq!(scene.waiting(&remote_plan(0..1000)), 400);
}

#[test]
fn a_thousand_deletions_wait_whatever_their_share() {
    let scene = Scene::new(5000);
    assert_eq!(scene.waiting(&remote_plan(0..999)), 0);
    assert_eq!(scene.waiting(&remote_plan(0..1000)), 1000);
}

#[test]
fn deletions_of_a_moment_ago_are_counted_with_those_of_a_plan() {
    let mut scene = Scene::new(5000);
    let waiting = |scene: &Scene, recent| {
        let unconfirmed =
            unconfirmed_deletions(&scene.engine, &scene.folder, &remote_plan(0..10)).unwrap();
        let recent = Deletions {
            local: 0,
            remote: recent,
        };
        let new_files = BTreeSet::new();
        check(
            &scene.engine,
            &scene.folder,
            &unconfirmed,
            recent,
            &new_files,
        )
        .unwrap()
    };
    assert_eq!(waiting(&scene, 989).remote, 0);
    scene.folder.settings.gate = None;
    assert_eq!(waiting(&scene, 990).remote, 0, "it is switched off");
    scene.folder.settings.gate = Some(DeletionGate::default());
    assert_eq!(waiting(&scene, 990).remote, 10);
}

#[test]
fn as_many_new_files_do_not_hide_that_all_others_are_deleted() {
    let scene = Scene::new(400);
    let new_files: BTreeSet<NodeId> = (200..400).map(node).collect();
    let old = remote_plan(0..200);
    assert_eq!(scene.waiting(&old), 0, "half of all");
    assert_eq!(scene.waiting_beside(&old, &new_files), 200);
    // A new file that is gone again makes nothing smaller.
    let gone: BTreeSet<NodeId> = (1000..1400).map(node).collect();
    assert_eq!(scene.waiting_beside(&remote_plan([]), &gone), 0);
    assert_eq!(scene.waiting_beside(&old, &gone), 0);
}

#[test]
fn a_few_of_many_new_files_can_be_deleted_again() {
    let scene = Scene::new(210);
    let new_files: BTreeSet<NodeId> = (10..210).map(node).collect();
    assert_eq!(scene.waiting_beside(&remote_plan(10..100), &new_files), 0);
}

#[test]
fn a_question_is_about_what_would_be_deleted_now() {
    let scene = Scene::new(1000);
    assert_eq!(scene.waiting(&remote_plan(0..600)), 600);
    // Once asked, it stays asked, also about fewer and others.
    assert_eq!(scene.waiting(&remote_plan(599..601)), 2);
    scene.decide(DeletionDecision::Delete);
    assert_eq!(scene.waiting(&remote_plan([599, 600])), 0);
    assert_eq!(scene.waiting(&remote_plan(0..599)), 599);
    assert_eq!(scene.waiting(&remote_plan([])), 0);
    assert_eq!(
        scene.waiting(&remote_plan([0])),
        0,
        "the question has ended"
    );
}

#[test]
fn a_confirmation_ends_when_the_file_comes_back() {
    let scene = Scene::new(0);
    let folder = &scene.folder;
    let index = &scene.engine.index;
    let insert = |db: &Db<'_>| {
        let local = db.insert_local(&local_file(folder, 0, Skipped::No))?;
        db.put_synced(&synced_file(folder, 0, local))?;
        db.confirm_deletion(node(0))
    };
    index.write(insert).unwrap();
    let count = |plan: &Plan| {
        unconfirmed_deletions(&scene.engine, folder, plan)
            .unwrap()
            .files()
            .local
    };
    let deletes = Plan {
        local_deletions: remote_plan([0]).remote_deletions,
        ..Plan::default()
    };
    assert_eq!(count(&deletes), 0, "another device's person agreed");
    assert_eq!(count(&Plan::default()), 0);
    assert_eq!(count(&deletes), 0, "it is still gone");
    let row = RemoteRow {
        kind: Kind::File,
        ..RemoteRow::folder(node(0), None, name(0))
    };
    index.write(|db| db.put_remote(&[], &row)).unwrap();
    assert_eq!(count(&Plan::default()), 0);
    assert_eq!(count(&deletes), 1, "nobody agreed to this deletion");
}

#[tokio::test]
async fn a_confirmed_deletion_that_is_not_carried_out_here_counts_for_no_other() {
    let scene = Scene::new(0);
    let folder = &scene.folder;
    let insert = |db: &Db<'_>| {
        for (number, skipped) in [(0, Skipped::Ignored), (1, Skipped::No)] {
            let local = db.insert_local(&local_file(folder, number, skipped))?;
            db.put_synced(&synced_file(folder, number, local))?;
        }
        db.confirm_deletion(node(0))
    };
    scene.engine.index.write(insert).unwrap();
    let rules = Rules::load(
        &*scene.engine.ports.disk,
        folder.root.as_ref(),
        &folder.settings,
    );
    let part = Part {
        round: Round::default(),
        sizes: PlanSizes::default(),
        with_left: true,
        retried: Dirty::default(),
        locked: LockedKeys::new(),
    };
    let blocked = BlockedChanges::default();
    let planned = plan_folder(&scene.engine, folder, &rules, blocked, &part).await;
    let unconfirmed = unconfirmed_deletions(&scene.engine, folder, &planned.unwrap().plan).unwrap();
    assert_eq!(unconfirmed.files().local, 1);
}
