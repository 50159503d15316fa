//! Failures of steps, and their effect on the next ones.

use super::*;
use crate::testing::{TestEngine, synced_file};
use cairn_index::{RemoteRow, Skipped, SyncedRow};
use cairn_model::{Kind, Name};

#[test]
fn only_if_every_step_met_the_outage_it_is_one() {
    let failed = |status| -> Result<(), EngineError> {
        Err(ApiError::from_status(status, String::new()).into())
    };
    assert!(overload(&[failed(503), failed(429)]).is_some());
    assert!(overload(&[failed(503), Ok(())]).is_none());
    assert!(overload(&[failed(503), failed(500)]).is_none());
    assert!(overload(&[]).is_none());
}

#[test]
fn what_lies_in_a_folder_that_is_unlinked_is_planned_anew() {
    let test = TestEngine::new();
    let [dir, file] = ["d", "f"].map(|name| test.local_file(name, Skipped::No));
    let node = NodeId::from_random_bytes([1; 16]);
    let (ctx, _dir) = test.into_ctx();
    let (index, folder) = (&ctx.engine.index, ctx.folder.id);
    let prepared = index.write(|db| {
        for (id, parent, kind) in [(dir, None, Kind::Folder), (file, Some(dir), Kind::File)] {
            let row = db.local_row(id)?.unwrap();
            db.update_local(&LocalRow {
                parent,
                kind,
                ..row
            })?;
            db.clean_local(folder, id)?;
        }
        db.put_synced(&SyncedRow {
            kind: Kind::Folder,
            ..synced_file(folder, node, dir, "d")
        })
    });
    prepared.unwrap();
    unlink(&ctx, node).unwrap();
    let dirty = index.read(|db| db.dirty_keys(folder)).unwrap();
    assert_eq!(dirty.local, [dir, file]);
}

#[test]
fn what_was_deleted_here_is_called_by_its_place_on_the_service() {
    let test = TestEngine::new();
    let local = test.local_file("f", Skipped::No);
    let node = NodeId::from_random_bytes([1; 16]);
    let (ctx, _dir) = test.into_ctx();
    let (index, folder) = (&ctx.engine.index, ctx.folder.id);
    let name = Name::new("g").unwrap();
    let prepared = index.write(|db| {
        db.put_remote(&[], &RemoteRow::folder(node, None, name))?;
        db.put_synced(&synced_file(folder, node, local, "f"))
    });
    prepared.unwrap();
    assert_eq!(path_of(&ctx, Key::Node(node)), "f");
    index.write(|db| db.remove_local(folder, local)).unwrap();
    assert_eq!(path_of(&ctx, Key::Node(node)), "g");
}

#[tokio::test]
async fn nothing_more_is_deleted_here_once_something_is_not_as_planned() {
    let test = TestEngine::new();
    let gone = test.local_node("gone", Kind::Folder, Skipped::No);
    let edited = test.local_file("edited", Skipped::No);
    let (ctx, dir) = test.into_ctx();
    let (_paused, pause) = tokio::sync::watch::channel(false);
    let ctx = Ctx { pause, ..ctx };
    std::fs::write(dir.path().join("edited"), "after the plan").unwrap();
    let node = |local: LocalId| NodeId::from_random_bytes([local.0 as u8; 16]);
    let delete = |local| Step::TrashLocal {
        node: node(local),
        local,
    };
    let between = Step::Forget { node: node(gone) };
    let plan = Plan {
        steps: vec![delete(gone), between, delete(edited)],
        ..Plan::default()
    };
    let until = Instant::now() + std::time::Duration::from_secs(60);
    let out = execute(&ctx, &plan, &LockedKeys::default(), until).await;
    assert!(dir.path().join("edited").exists());
    assert!(out.replan && out.waiting.contains(&Key::Node(node(edited))));
}

#[cfg(unix)]
#[tokio::test]
async fn other_names_of_a_file_that_gets_the_executable_bit_are_looked_at() {
    let test = TestEngine::new();
    let at = |name: &str| test.dir.path().join(name);
    std::fs::write(at("f"), "f").unwrap();
    std::fs::hard_link(at("f"), at("g")).unwrap();
    let stat = test.options.ports.disk.stat(&at("f")).unwrap();
    let [local, other] = ["f", "g"].map(|name| test.local_file(name, Skipped::No));
    let node = NodeId::from_random_bytes([1; 16]);
    let index = std::sync::Arc::clone(&test.options.index);
    let prepared = index.write(|db| {
        for id in [local, other] {
            let row = db.local_row(id)?.unwrap();
            let stat = crate::observe::hash::local_stat(&stat);
            db.update_local(&LocalRow { stat, ..row })?;
        }
        db.put_synced(&synced_file(test.folder.id, node, local, "f"))
    });
    prepared.unwrap();
    let (ctx, _dir) = test.into_ctx();
    let (_paused, pause) = tokio::sync::watch::channel(false);
    let ctx = Ctx { pause, ..ctx };
    let plan = Plan {
        steps: vec![Step::SetLocalExecutable {
            node,
            local,
            executable: true,
        }],
        ..Plan::default()
    };
    let until = Instant::now() + std::time::Duration::from_secs(60);
    let out = execute(&ctx, &plan, &LockedKeys::default(), until).await;
    let name = RelPath::parse("g").unwrap();
    assert_eq!(out.other_names, [(ctx.folder.id, name)]);
}
