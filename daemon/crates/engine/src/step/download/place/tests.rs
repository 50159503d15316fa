//! A deletion that the feed shows while the file is put in place.

use super::*;
use crate::observe::rules::TEMP_DIR;
use crate::testing::TestEngine;
use cairn_model::{ChunkId, ContentHash, ContentObject, DeviceId, Name, RevisionId, SpaceId};
use cairn_plan::{Parent, ParentAndName};
use std::fs;
use tempfile::TempDir;

const NODE: [u8; 16] = [7; 16];

/// Returns a folder whose service has one file, and that file as a task.
fn one_file() -> (Ctx, Task, RemoteRow, TempDir) {
    let (ctx, dir) = TestEngine::new().into_ctx();
    let name = Name::new("f".to_owned()).unwrap();
    let remote = RemoteRow {
        kind: Kind::File,
        revision: Some(RevisionId::from_random_bytes([8; 16])),
        size: 5,
        seal: Some(vec![1]),
        ..RemoteRow::folder(NodeId::from_random_bytes(NODE), None, name.clone())
    };
    let index = &ctx.engine.index;
    index
        .write(|db| db.put_remote(&db.folders()?, &remote))
        .unwrap();
    let task = Task {
        node: remote.node,
        over: None,
        to: ParentAndName {
            parent: Parent::Root,
            name,
        },
        size: remote.size,
    };
    (ctx, task, remote, dir)
}

fn arrived(dir: &TempDir, remote: &RemoteRow) -> Arrived {
    let temp = dir.path().join(TEMP_DIR).join("f");
    fs::create_dir(dir.path().join(TEMP_DIR)).unwrap();
    fs::write(&temp, b"bytes").unwrap();
    let manifest = Manifest {
        format: Manifest::FORMAT,
        space: SpaceId::from_random_bytes([2; 16]),
        node: remote.node,
        revision: remote.revision.unwrap(),
        base: None,
        number: 1,
        size: remote.size,
        modified_ms: 0,
        executable: false,
        content: ContentObject {
            id: ChunkId([3; 32]),
            node: remote.node,
            epoch: 1,
            is_list: false,
        },
        hash: ContentHash([4; 32]),
        author: DeviceId::from_random_bytes([5; 16]),
    };
    Arrived { temp, manifest }
}

/// Removes the node as a page of the feed does that says that a person has agreed.
fn remove_confirmed(ctx: &Ctx, node: NodeId) {
    let placing = &ctx.engine.placing;
    let removed = ctx.engine.index.write(|db| {
        placing.confirm_deletions(&db.sealed_below(node)?);
        db.confirm_deletion(node)?;
        db.remove_remote(node)
    });
    assert!(removed.unwrap());
}

#[test]
fn consent_that_comes_while_a_file_is_put_in_place_is_kept() {
    let (ctx, task, remote, dir) = one_file();
    let arrived = arrived(&dir, &remote);
    let (there, placing) = check_still_there(&ctx, &[task.node]).unwrap();
    assert!(there.contains(&task.node));
    let placed = place(&ctx, &task, &arrived).unwrap();
    remove_confirmed(&ctx, task.node);
    commit(&ctx, &[(&task, &remote, &placed)]).unwrap();
    let index = &ctx.engine.index;
    let confirmed = index.read(|db| db.confirmed_deletions(ctx.folder.id));
    assert_eq!(confirmed.unwrap(), BTreeSet::from([task.node]));
    drop(placing);
    assert!(ctx.engine.placing.is_empty());
}

#[test]
fn what_was_deleted_before_is_not_put_in_place() {
    let (ctx, task, _, _dir) = one_file();
    remove_confirmed(&ctx, task.node);
    let (there, _placing) = check_still_there(&ctx, &[task.node]).unwrap();
    assert_eq!(there, BTreeSet::new());
}
