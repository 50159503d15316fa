//! Checkpoints: what devices of a space leave for one another.

use super::world::{Caller, TestResponse, World};
use cairn_wire::Page;
use cairn_wire::checkpoints::{Checkpoints, DeviceCheckpoint, MAX_CHECKPOINT};
use cairn_wire::sealed::Sealed;
use cairn_wire::teams::Team;
use serde_json::json;
use uuid::Uuid;

const PATH: &str = "/api/v1/checkpoints";

/// Registers a device of an account.
async fn device(who: &Caller, number: u8) -> Caller {
    let id = Uuid::from_bytes([number; 16]);
    let path = format!("/api/v1/devices/{id}");
    let put = who.put(&path, &json!({"id": id, "name": "d"})).await;
    put.done(200);
    who.on_device(number)
}

async fn leave(who: &Caller, bytes: &[u8]) -> TestResponse {
    who.put(PATH, &json!({"sealed": Sealed(bytes.to_vec())}))
        .await
}

/// Returns what a caller is shown, in order.
async fn shown(who: &Caller) -> Vec<Vec<u8>> {
    let list: Checkpoints = who.get(PATH).await.ok();
    let sealed = list.checkpoints.into_iter().map(|one| one.sealed.0);
    sealed.collect()
}

#[tokio::test]
async fn the_latest_checkpoint_of_each_device_is_kept_for_its_account() {
    let world = World::new();
    let owner = world.owner();
    let (first, second) = (device(&owner, 1).await, device(&owner, 2).await);
    assert_eq!(shown(&owner).await, Vec::<Vec<u8>>::new());
    leave(&first, b"one").await.done(200);
    let left: DeviceCheckpoint = leave(&second, b"two").await.ok();
    assert_eq!(left.device_id.0, Uuid::from_bytes([2; 16]));
    leave(&first, b"three").await.done(200);
    let mut all = shown(&second).await;
    all.sort();
    assert_eq!(all, [b"three".to_vec(), b"two".to_vec()]);
    assert_eq!(shown(&world.outsider()).await, Vec::<Vec<u8>>::new());
}

#[tokio::test]
async fn what_no_device_leaves_is_refused() {
    let world = World::new();
    let owner = world.owner();
    leave(&owner, b"one").await.failed(400);
    leave(&owner.on_device(9), b"one").await.failed(404);
    let known = device(&owner, 1).await;
    leave(&known, b"").await.failed(400);
    leave(&known, &[0; MAX_CHECKPOINT + 1]).await.failed(400);
    leave(&known, &[0; MAX_CHECKPOINT]).await.done(200);
    leave(&world.nobody(), b"one").await.failed(401);
}

#[tokio::test]
async fn a_device_that_was_removed_is_not_shown() {
    let world = World::new();
    let owner = world.owner();
    leave(&device(&owner, 1).await, b"one").await.done(200);
    let path = format!("/api/v1/devices/{}", Uuid::from_bytes([1; 16]));
    owner.delete(&path).await.done(200);
    assert_eq!(shown(&owner).await, Vec::<Vec<u8>>::new());
}

#[tokio::test]
async fn those_of_a_team_are_for_its_members() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let teams: Page<Team> = owner.get("/api/v1/teams").await.ok();
    let team = &teams.content[0];
    let theirs = device(&member, 1).await.in_space(team.space_id);
    leave(&theirs, b"one").await.done(200);
    let inside = owner.in_space(team.space_id);
    assert_eq!(shown(&inside).await, [b"one".to_vec()]);
    assert_eq!(shown(&owner).await, Vec::<Vec<u8>>::new(), "another space");
    let outsider = world.outsider().in_space(team.space_id);
    outsider.get(PATH).await.failed(403);
    let user = member.id().await;
    let path = format!("/api/v1/teams/{}/members/{user}", team.id);
    owner.delete(&path).await.done(204);
    assert_eq!(shown(&inside).await, Vec::<Vec<u8>>::new(), "no member");
}
