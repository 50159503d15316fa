//! States that files and folders had before they were moved, renamed, put into the trash or taken out of it.

use super::world::{Caller, TestResponse, World};
use cairn_model::NodeId;
use cairn_wire::Timestamp;
use cairn_wire::changes::{PastState, PastStates};
use cairn_wire::nodes::{Node, NodeState};
use cairn_wire::teams::Team;
use serde_json::{Value, json};

async fn past(who: &Caller) -> PastStates {
    who.get("/api/v1/changes/past").await.ok()
}

/// The parts of states that a test names.
fn brief(states: &[PastState]) -> Vec<(NodeId, Option<NodeId>, &str, NodeState)> {
    let part = |one: &PastState| (one.node_id, one.parent_id, one.state);
    states
        .iter()
        .map(|one| (part(one), one.name.as_str()))
        .map(|((node, parent, state), name)| (node, parent, name, state))
        .collect()
}

async fn edit(who: &Caller, node: &Node, change: Value) -> Node {
    who.put(&format!("/api/v1/nodes/{}", node.id), &change)
        .await
        .ok()
}

async fn trash(who: &Caller, node: NodeId) -> Node {
    who.delete(&format!("/api/v1/nodes/{node}")).await.ok()
}

async fn restore(who: &Caller, node: NodeId) -> Node {
    let path = format!("/api/v1/trash/{node}/restore");
    who.post(&path, &json!({})).await.ok()
}

#[tokio::test]
async fn each_place_and_each_stay_in_the_trash_is_kept_with_its_end_and_the_device() {
    let world = World::new();
    let (one, other) = (world.owner().on_device(1), world.owner().on_device(2));
    let top = one.folder(None, "top").await;
    let file = one.file(Some(top.id), "f", "x").await;
    let renamed = edit(&other, &file, json!({"name": "g"})).await;
    let moved = edit(&one, &file, json!({"parent_id": null, "name": "h"})).await;
    let trashed = trash(&other, file.id).await;
    one.folder(None, "h").await;
    let back = restore(&one, file.id).await;
    assert_eq!(back.name, "h (2)");
    let (active, gone) = (NodeState::Active, NodeState::Trashed);
    let known = past(&one).await;
    assert_eq!(
        brief(&known.states),
        [
            (file.id, Some(top.id), "f", active),
            (file.id, Some(top.id), "g", active),
            (file.id, None, "h", active),
            (file.id, None, "h", gone),
        ]
    );
    let ends: Vec<_> = known.states.iter().map(|one| one.until).collect();
    let made = [&renamed, &moved, &trashed, &back].map(|node| node.updated_at);
    assert_eq!(ends, made);
    let devices: Vec<_> = known.states.iter().map(|one| one.device_id).collect();
    let made = [&renamed, &moved, &trashed, &back].map(|node| node.device_id);
    assert_eq!(devices, made);
    assert_eq!(known.known_from, Timestamp(0));
}

#[tokio::test]
async fn what_goes_along_with_its_folder_and_what_keeps_its_place_have_no_entry() {
    let world = World::new();
    let owner = world.owner();
    let top = owner.folder(None, "top").await;
    let file = owner.file(Some(top.id), "f", "x").await;
    let alone = owner.file(Some(top.id), "alone", "y").await;
    edit(&owner, &file, json!({"description": "seen"})).await;
    edit(&owner, &file, json!({"name": "f"})).await;
    trash(&owner, alone.id).await;
    trash(&owner, top.id).await;
    trash(&owner, top.id).await;
    restore(&owner, top.id).await;
    let (active, gone) = (NodeState::Active, NodeState::Trashed);
    assert_eq!(
        brief(&past(&owner).await.states),
        [
            (alone.id, Some(top.id), "alone", active),
            (top.id, None, "top", active),
            (top.id, None, "top", gone),
        ]
    );
    // What is deleted for good leaves no names behind.
    let path = format!("/api/v1/trash/{}", alone.id);
    owner.delete(&path).await.done(200);
    let left = past(&owner).await.states;
    assert!(left.iter().all(|one| one.node_id == top.id), "{left:?}");
}

#[tokio::test]
async fn a_batch_leaves_the_same_as_single_requests() {
    let world = World::new();
    let owner = world.owner();
    let top = owner.folder(None, "top").await;
    let file = owner.file(None, "f", "x").await;
    let operations = json!([
        {"op": "move", "id": file.id, "parent_id": top.id, "name": "g"},
        {"op": "trash", "id": file.id},
    ]);
    let response = owner
        .post("/api/v1/nodes/batch", &json!({ "operations": operations }))
        .await;
    response.done(200);
    let left = past(&owner).await.states;
    assert_eq!(
        brief(&left),
        [
            (file.id, None, "f", NodeState::Active),
            (file.id, Some(top.id), "g", NodeState::Active),
        ]
    );
}

#[tokio::test]
async fn pages_follow_each_other_and_begin_after_a_time() {
    let world = World::new();
    let owner = world.owner();
    let folder = owner.folder(None, "0").await;
    let mut ends = Vec::new();
    for name in 1..=7 {
        let name = name.to_string();
        ends.push(
            edit(&owner, &folder, json!({ "name": name }))
                .await
                .updated_at,
        );
    }
    let (mut names, mut after) = (Vec::new(), String::new());
    let mut pages = 0;
    loop {
        let path = format!("/api/v1/changes/past?limit=3{after}");
        let page: PastStates = owner.get(&path).await.ok();
        names.extend(page.states.into_iter().map(|one| one.name));
        pages += 1;
        let Some(next) = page.next else { break };
        after = format!("&after={next}");
    }
    assert_eq!((names.join(""), pages), ("0123456".to_owned(), 3));
    for (since, left) in [(ends[0], 6), (ends[6], 0), (Timestamp(0), 7)] {
        let expected = ends.iter().filter(|end| **end > since).count();
        let path = format!("/api/v1/changes/past?since={since}");
        let later: PastStates = owner.get(&path).await.ok();
        assert_eq!(later.states.len(), expected, "{since}");
        assert!(later.states.len() <= left, "{since}");
    }
    for bad in [
        "limit=0",
        "limit=1001",
        "after=x",
        "after=1",
        "after=1.x",
        "since=x",
        "since=1",
    ] {
        let response: TestResponse = owner.get(&format!("/api/v1/changes/past?{bad}")).await;
        response.failed(400);
    }
}

#[tokio::test]
async fn the_past_of_others_is_not_shown() {
    let world = World::new();
    let (owner, outsider) = (world.owner(), world.outsider());
    let team: Team = owner
        .post("/api/v1/teams/", &json!({"name": "Team"}))
        .await
        .ok();
    for who in [owner.clone(), owner.in_space(team.space_id)] {
        let folder = who.folder(None, "before").await;
        edit(&who, &folder, json!({"name": "after"})).await;
        let own = past(&who).await.states;
        assert_eq!(
            brief(&own),
            [(folder.id, None, "before", NodeState::Active)]
        );
    }
    assert_eq!(past(&outsider).await.states, []);
    let elsewhere = outsider.in_space(team.space_id);
    elsewhere.get("/api/v1/changes/past").await.failed(403);
    world.nobody().get("/api/v1/changes/past").await.failed(401);
}
