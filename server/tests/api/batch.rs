//! `POST /nodes/batch`: many changes of files and folders in one request.

use super::world::{Caller, World, new_node};
use cairn_wire::nodes::{Node, NodeResults};
use serde_json::{Value, json};

async fn run(who: &Caller, operations: Value) -> NodeResults {
    who.post("/api/v1/nodes/batch", &json!({ "operations": operations }))
        .await
        .ok()
}

fn statuses(results: &NodeResults) -> Vec<u16> {
    results.results.iter().map(|result| result.status).collect()
}

#[tokio::test]
async fn each_operation_succeeds_or_fails_alone_and_in_order() {
    let world = World::new();
    let owner = world.owner();
    let (a, b) = (new_node(), new_node());
    let file = owner.file(None, "f", "x").await;
    let results = run(
        &owner,
        json!([
            {"op": "create_folder", "id": a, "name": "a"},
            {"op": "create_folder", "id": b, "parent_id": a, "name": "b"},
            {"op": "create_folder", "name": "a"},
            {"op": "move", "id": file.id, "name": "g", "parent_id": b},
            {"op": "move", "id": file.id, "name": "h", "parent_id": b, "version": 1},
            {"op": "move", "id": a, "name": "a", "parent_id": b},
            {"op": "trash", "id": new_node()},
            {"op": "create_folder", "name": "x/y"},
            {"op": "trash", "id": b},
        ]),
    )
    .await;
    assert_eq!(
        statuses(&results),
        [201, 201, 409, 200, 412, 409, 404, 400, 200]
    );
    for result in &results.results {
        assert_eq!(result.node.is_some(), result.status < 300);
        assert_eq!(
            result.error.as_ref().map(|error| error.code),
            (result.status >= 400).then_some(result.status)
        );
    }
    let moved: Node = owner.node(file.id).await.ok();
    assert_eq!((moved.name.as_str(), moved.parent_id), ("g", Some(b)));
    let json: Value = owner.node(file.id).await.ok();
    assert_eq!(json["state"], "trashed");
}

/// Runs operations of which those of each group, by positions, are done together.
async fn run_together(who: &Caller, operations: Value, groups: &[(u32, u32)]) -> Vec<u16> {
    let together: Vec<Value> = groups
        .iter()
        .map(|(first, last)| json!({"first": first, "last": last}))
        .collect();
    let body = json!({"operations": operations, "together": together});
    let results = who.post("/api/v1/nodes/batch", &body).await.ok();
    statuses(&results)
}

fn move_to(node: &Node, name: &str, version: u64) -> Value {
    json!({"op": "move", "id": node.id, "name": name, "version": version})
}

async fn names(who: &Caller, nodes: &[&Node]) -> Vec<(String, u64)> {
    let mut names = Vec::new();
    for node in nodes {
        let node: Node = who.node(node.id).await.ok();
        names.push((node.name, node.version));
    }
    names
}

#[tokio::test]
async fn files_exchange_their_names_together_or_not_at_all() {
    let world = World::new();
    let (laptop, phone) = (world.owner().on_device(1), world.owner().on_device(2));
    let (a, b) = (
        laptop.file(None, "a", "x").await,
        laptop.file(None, "b", "y").await,
    );
    let swap = |of_b: u64| {
        json!([
            {"op": "create_folder", "name": format!("before {of_b}")},
            move_to(&a, "for now", 1),
            move_to(&b, "a", of_b),
            move_to(&a, "b", 2),
            {"op": "create_folder", "name": format!("after {of_b}")},
        ])
    };
    let path = format!("/api/v1/nodes/{}", b.id);
    let executable: Node = phone.put(&path, &json!({"executable": true})).await.ok();
    assert_eq!(executable.version, 2);
    let before: Value = laptop.get("/api/v1/changes").await.ok();

    let refused = run_together(&laptop, swap(1), &[(1, 3)]).await;
    assert_eq!(refused, [201, 412, 412, 412, 201]);
    let kept = [("a".to_owned(), 1), ("b".to_owned(), 2)];
    assert_eq!(names(&laptop, &[&a, &b]).await, kept);
    let cursor = before["cursor"].as_str().unwrap();
    let since: Value = laptop
        .get(&format!("/api/v1/changes?cursor={cursor}"))
        .await
        .ok();
    assert_eq!(
        since["changes"].as_array().map(Vec::len),
        Some(2),
        "{since}"
    );

    let done = run_together(&laptop, swap(2), &[(1, 3)]).await;
    assert_eq!(done, [201, 200, 200, 200, 201]);
    let exchanged = [("b".to_owned(), 3), ("a".to_owned(), 3)];
    assert_eq!(names(&laptop, &[&a, &b]).await, exchanged);
}

#[tokio::test]
async fn groups_that_are_no_runs_of_the_operations_are_refused() {
    let world = World::new();
    let owner = world.owner();
    let operations: Vec<Value> = (0..4)
        .map(|n| json!({"op": "create_folder", "name": format!("f{n}")}))
        .collect();
    for groups in [
        json!([{"first": 0, "last": 4}]),
        json!([{"first": 2, "last": 1}]),
        json!([{"first": 0, "last": 2}, {"first": 2, "last": 3}]),
        json!([{"first": 2, "last": 3}, {"first": 0, "last": 1}]),
        json!([{"first": 0, "last": u32::MAX}]),
        json!([{"first": -1, "last": 1}]),
        json!([{"first": 0}]),
    ] {
        let body = json!({"operations": operations, "together": groups});
        owner.post("/api/v1/nodes/batch", &body).await.failed(400);
    }
    let good = run_together(&owner, json!(operations), &[(0, 0), (1, 2)]).await;
    assert_eq!(good, [201; 4]);
}

#[tokio::test]
async fn a_thousand_folders_fit_and_more_do_not() {
    let world = World::new();
    let owner = world.owner();
    let folders = |count: usize| {
        (0..count)
            .map(|n| json!({"op": "create_folder", "id": new_node(), "name": format!("f{n}")}))
            .collect::<Vec<_>>()
    };
    let asked = json!(folders(1_000));
    let first = run(&owner, asked.clone()).await;
    assert!(statuses(&first).iter().all(|status| *status == 201));
    let again = run(&owner, asked).await;
    assert!(
        statuses(&again).iter().all(|status| *status == 200),
        "repeating it is harmless"
    );
    owner
        .post(
            "/api/v1/nodes/batch",
            &json!({"operations": folders(1_001)}),
        )
        .await
        .failed(400);
    owner
        .post(
            "/api/v1/nodes/batch",
            &json!({"operations": [{"op": "explode"}]}),
        )
        .await
        .failed(400);
}

#[tokio::test]
async fn seen_guards_a_deletion_in_a_batch() {
    let world = World::new();
    let (laptop, phone) = (world.owner().on_device(1), world.owner().on_device(2));
    let folder = laptop.folder(None, "a").await;
    let feed: Value = laptop.get("/api/v1/changes").await.ok();
    phone.folder(Some(folder.id), "new").await;
    let trash = json!([{"op": "trash", "id": folder.id, "seen": feed["cursor"]}]);
    assert_eq!(statuses(&run(&laptop, trash).await), [409]);
    let feed: Value = laptop.get("/api/v1/changes").await.ok();
    let trash = json!([
        {"op": "trash", "id": folder.id, "seen": "bad"},
        {"op": "trash", "id": folder.id, "seen": "other.1.x"},
        {"op": "trash", "id": folder.id, "seen": feed["cursor"]},
    ]);
    assert_eq!(statuses(&run(&laptop, trash).await), [400, 410, 200]);
}

#[tokio::test]
async fn seen_guards_a_file_against_the_changes_of_others_alone() {
    let world = World::new();
    let (laptop, phone) = (world.owner().on_device(1), world.owner().on_device(2));
    let file = laptop.file(None, "f", "x").await;
    let path = format!("/api/v1/nodes/{}", file.id);
    let trash = async |seen: &Value| {
        let operations = json!([{"op": "trash", "id": file.id, "seen": seen["cursor"]}]);
        statuses(&run(&laptop, operations).await)
    };
    let before: Value = laptop.get("/api/v1/changes").await.ok();
    let _: Node = phone.put(&path, &json!({"executable": true})).await.ok();
    assert_eq!(trash(&before).await, [409]);
    let _: Node = laptop.put(&path, &json!({"name": "g"})).await.ok();
    assert_eq!(trash(&before).await, [200]);
}

#[tokio::test]
async fn a_restore_takes_the_given_name_where_its_own_is_in_use() {
    let world = World::new();
    let owner = world.owner();
    let (free, taken) = (
        owner.folder(None, "free").await,
        owner.folder(None, "taken").await,
    );
    let trash = [free.id, taken.id].map(|id| json!({"op": "trash", "id": id}));
    assert_eq!(statuses(&run(&owner, json!(trash)).await), [200; 2]);
    owner.folder(None, "taken").await;
    owner.folder(None, "Other").await;
    let results = run(
        &owner,
        json!([
            {"op": "restore", "id": free.id, "name": "never"},
            {"op": "restore", "id": taken.id, "name": "a/b"},
            {"op": "restore", "id": taken.id, "name": "Other"},
            {"op": "restore", "id": taken.id, "name": "third", "in_place": true},
            {"op": "restore", "id": taken.id, "name": "third"},
        ]),
    )
    .await;
    assert_eq!(statuses(&results), [200, 400, 409, 409, 200]);
    let names = [0, 4].map(|at| results.results[at].node.as_ref().map(|node| &*node.name));
    assert_eq!(names, [Some("free"), Some("third")]);
}

#[tokio::test]
async fn a_restore_keeps_its_seal_only_at_the_place_for_which_it_was_made() {
    let world = World::new();
    let owner = world.owner();
    let folder = owner.folder(None, "folder").await;
    let (same, other) = (
        owner.folder(None, "same").await,
        owner.folder(None, "x").await,
    );
    let below = owner.folder(Some(folder.id), "below").await;
    let trash = [same.id, other.id, below.id, folder.id].map(|id| json!({"op": "trash", "id": id}));
    assert_eq!(statuses(&run(&owner, json!(trash)).await), [200; 4]);
    owner.folder(None, "x").await;
    let seal = "c2VhbA==";
    let in_place = json!([
        {"op": "restore", "id": other.id, "seal": seal, "in_place": true},
        {"op": "restore", "id": below.id, "seal": seal, "in_place": true},
    ]);
    assert_eq!(statuses(&run(&owner, in_place).await), [409, 409]);
    let results = run(
        &owner,
        json!([
            {"op": "restore", "id": same.id, "version": 2, "seal": seal, "in_place": true},
            {"op": "restore", "id": other.id, "seal": seal},
            // Its folder is in the trash.
            {"op": "restore", "id": below.id, "seal": seal},
            {"op": "restore", "id": folder.id, "version": 1},
            {"op": "restore", "id": new_node()},
            // It is there already: a repeat is harmless, and changes no seal.
            {"op": "restore", "id": other.id, "seal": seal},
            // With a version it is not as it was seen: nobody can tell that the caller is the same.
            {"op": "restore", "id": other.id, "version": 2},
            {"op": "trash", "id": same.id, "version": 2},
            {"op": "trash", "id": same.id, "version": 3},
            {"op": "trash", "id": same.id, "version": 3},
        ]),
    )
    .await;
    assert_eq!(
        statuses(&results),
        [200, 200, 200, 412, 404, 200, 412, 412, 200, 412]
    );
    let back: Vec<(&str, bool)> = results
        .results
        .iter()
        .filter_map(|result| result.node.as_ref())
        .map(|node| (node.name.as_str(), node.seal.is_some()))
        .collect();
    assert_eq!(
        back[..3],
        [("same", true), ("x (2)", false), ("below", false)]
    );
    let again: Node = owner.node(other.id).await.ok();
    assert!(again.seal.is_none());
    let below: Node = owner.node(below.id).await.ok();
    assert_eq!(below.parent_id, None);
}
