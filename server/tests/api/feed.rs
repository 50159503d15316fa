//! The change feed (each file and folder once, in the order of its latest change) and the snapshot of all of them.

use super::world::{Caller, Draft, World};
use cairn_model::{Cursor, NodeId};
use cairn_server::Options;
use cairn_wire::changes::{ChangeKind, Changes, Snapshot};
use cairn_wire::nodes::Node;
use serde_json::json;
use std::collections::BTreeMap;

async fn changes(who: &Caller, cursor: Option<&Cursor>) -> Changes {
    let query = cursor.map_or(String::new(), |cursor| format!("?cursor={cursor}"));
    who.get(&format!("/api/v1/changes{query}")).await.ok()
}

#[tokio::test]
async fn a_node_stands_once_at_its_latest_change() {
    let world = World::new();
    let owner = world.owner();
    let empty = changes(&owner, None).await;
    assert!(empty.changes.is_empty() && !empty.has_more);
    let (a, b) = (owner.folder(None, "a").await, owner.folder(None, "b").await);
    owner
        .put(&format!("/api/v1/nodes/{}", a.id), &json!({"name": "c"}))
        .await
        .done(200);
    owner
        .put(&format!("/api/v1/nodes/{}", a.id), &json!({"name": "d"}))
        .await
        .done(200);
    let all = changes(&owner, Some(&empty.cursor)).await;
    let seen: Vec<_> = all
        .changes
        .iter()
        .map(|change| (change.kind, change.node_id, change.seq))
        .collect();
    assert_eq!(
        seen,
        [
            (ChangeKind::Created, b.id, 2),
            (ChangeKind::Updated, a.id, 4)
        ]
    );
    assert_eq!(all.changes[1].node.as_ref().unwrap().name, "d");
    let after = changes(&owner, Some(&all.cursor)).await;
    assert!(after.changes.is_empty());
    assert_eq!(after.cursor, all.cursor, "a quiet feed does not move");
    world.outsider().folder(None, "x").await;
    assert_eq!(
        changes(&owner, Some(&all.cursor)).await.cursor,
        all.cursor,
        "others don't move it either"
    );
}

#[tokio::test]
async fn pages_follow_each_other_without_gaps() {
    let world = World::new();
    let owner = world.owner();
    for number in 0..7 {
        owner.folder(None, &format!("f{number}")).await;
    }
    let mut seen = Vec::new();
    let mut cursor = String::new();
    let mut pages = 0;
    loop {
        let page: Changes = owner
            .get(&format!("/api/v1/changes?limit=3{cursor}"))
            .await
            .ok();
        seen.extend(page.changes.iter().map(|change| change.seq));
        pages += 1;
        cursor = format!("&cursor={}", page.cursor);
        if !page.has_more {
            break;
        }
    }
    assert_eq!((seen, pages), ((1..=7).collect::<Vec<u64>>(), 3));
    for bad in [
        "limit=0",
        "limit=1001",
        "limit=x",
        "cursor=x",
        "cursor=1.2.3.4",
        "cursor=..",
        "cursor=a.-1.b",
    ] {
        owner
            .get(&format!("/api/v1/changes?{bad}"))
            .await
            .failed(400);
    }
}

#[tokio::test]
async fn positions_inside_a_batch_are_positions() {
    let world = World::new();
    let owner = world.owner();
    let operations: Vec<_> = (0..5)
        .map(|n| json!({"op": "create_folder", "name": format!("f{n}")}))
        .collect();
    owner
        .post("/api/v1/nodes/batch", &json!({ "operations": operations }))
        .await
        .done(200);
    let two: Changes = owner.get("/api/v1/changes?limit=2").await.ok();
    let rest = changes(&owner, Some(&two.cursor)).await;
    assert_eq!(
        rest.changes
            .iter()
            .map(|change| change.seq)
            .collect::<Vec<_>>(),
        [3, 4, 5]
    );
}

#[tokio::test]
async fn a_restored_backup_refuses_positions_of_the_lost_history() {
    let data = tempfile::tempdir().unwrap();
    let backup = tempfile::tempdir().unwrap();
    let open = |seed| {
        World::with_seed(
            Options {
                data: data.path().to_owned(),
                ..Options::default()
            },
            seed,
        )
    };
    let kept = {
        let world = open(1);
        world.owner().folder(None, "kept").await;
        changes(&world.owner(), None).await.cursor
    };
    std::fs::copy(data.path().join("cairn.db"), backup.path().join("cairn.db")).unwrap();
    let lost = {
        let world = open(2);
        world.owner().folder(None, "lost").await;
        changes(&world.owner(), None).await.cursor
    };
    for leftover in ["cairn.db-wal", "cairn.db-shm"] {
        drop(std::fs::remove_file(data.path().join(leftover)));
    }
    std::fs::copy(backup.path().join("cairn.db"), data.path().join("cairn.db")).unwrap();
    let world = open(3);
    let owner = world.owner();
    let path = format!("/api/v1/changes?cursor={lost}");
    owner.get(&path).await.failed(410);
    owner.folder(None, "another").await;
    owner.get(&path).await.failed(410);
    owner
        .get(&format!("/api/v1/changes/stream?cursor={lost}"))
        .await
        .failed(410);
    let since = changes(&owner, Some(&kept)).await;
    assert_eq!(
        since.changes.len(),
        1,
        "positions from before the backup still hold"
    );
}

#[tokio::test]
async fn another_server_refuses_the_cursor() {
    let world = World::new();
    world.owner().folder(None, "a").await;
    let cursor = changes(&world.owner(), None).await.cursor;
    world
        .nobody()
        .post("/_dev/reset", &json!({}))
        .await
        .done(204);
    world.owner().folder(None, "a").await;
    world
        .owner()
        .get(&format!("/api/v1/changes?cursor={cursor}"))
        .await
        .failed(410);
}

#[tokio::test]
async fn a_cursor_of_another_space_is_refused_and_one_without_a_space_holds() {
    let world = World::new();
    let (owner, outsider) = (world.owner(), world.outsider());
    owner.folder(None, "a").await;
    outsider.folder(None, "b").await;
    let own = changes(&owner, None).await.cursor;
    let others = changes(&outsider, None).await.cursor;
    owner.folder(None, "c").await;
    for path in [
        format!("/api/v1/changes?cursor={others}"),
        format!("/api/v1/changes/stream?cursor={others}"),
        format!("/api/v1/changes/snapshot?after={others}~1"),
    ] {
        let message = owner.get(&path).await.failed(410);
        assert!(message.contains("snapshot"), "{message}");
    }
    let (without_space, _) = own.0.rsplit_once('.').unwrap();
    let old = Cursor(without_space.to_owned());
    let since = changes(&owner, Some(&old)).await;
    assert_eq!(since.changes.len(), 1);
    assert_eq!(since.cursor.0.split('.').count(), 4);
}

/// Applies a feed to a tree, as a client does.
fn apply(tree: &mut BTreeMap<NodeId, Node>, page: Changes) {
    for change in page.changes {
        match (change.kind, change.node) {
            (ChangeKind::Created | ChangeKind::Updated, Some(node)) => {
                tree.insert(node.id, node);
            }
            (ChangeKind::Trashed | ChangeKind::Deleted, _) => {
                let mut gone = vec![change.node_id];
                while let Some(id) = gone.pop() {
                    tree.remove(&id);
                    gone.extend(
                        tree.values()
                            .filter(|node| node.parent_id == Some(id))
                            .map(|node| node.id),
                    );
                }
            }
            (ChangeKind::Created | ChangeKind::Updated, None) => {
                panic!("a change without its node")
            }
        }
    }
}

#[tokio::test]
async fn a_snapshot_with_the_changes_after_it_is_the_present() {
    let world = World::new();
    let owner = world.owner();
    let top = owner.folder(None, "top").await;
    let mut files = Vec::new();
    for number in 0..5 {
        files.push(owner.file(Some(top.id), &format!("f{number}"), "x").await);
    }
    owner
        .delete(&format!("/api/v1/nodes/{}", files[0].id))
        .await
        .done(200);
    let mut tree = BTreeMap::new();
    let first: Snapshot = owner.get("/api/v1/changes/snapshot?limit=2").await.ok();
    let cursor = first.cursor.clone();
    let mut page = first;
    // Everything goes on between the pages.
    owner
        .delete(&format!("/api/v1/nodes/{}", files[1].id))
        .await
        .done(200);
    owner
        .upload(&Draft::of(&files[2], "edited"))
        .await
        .done(200);
    owner.file(None, "late", "y").await;
    let sub = owner.folder(Some(top.id), "sub").await;
    owner
        .put(
            &format!("/api/v1/nodes/{}", files[3].id),
            &json!({"parent_id": sub.id}),
        )
        .await
        .done(200);
    loop {
        assert_eq!(page.cursor, cursor);
        tree.extend(page.nodes.into_iter().map(|node| (node.id, node)));
        let Some(next) = page.next else { break };
        page = owner
            .get(&format!("/api/v1/changes/snapshot?limit=2&after={next}"))
            .await
            .ok();
    }
    apply(&mut tree, changes(&owner, Some(&cursor)).await);
    let mut fresh = BTreeMap::new();
    apply(&mut fresh, changes(&owner, None).await);
    assert_eq!(tree, fresh);
    assert_eq!(tree.len(), 6);
    for bad in ["after=x", "after=x~1", "limit=0"] {
        assert!(
            [400, 410].contains(
                &owner
                    .get(&format!("/api/v1/changes/snapshot?{bad}"))
                    .await
                    .status
                    .as_u16()
            )
        );
    }
}
