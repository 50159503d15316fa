//! The key of a team: granting it to each member, and the epochs in which it is renewed.

use super::super::keys::{bundle, first_keys};
use super::super::world::World;
use super::{TEAMS, dev_team};
use cairn_wire::teams::TeamKeys;
use serde_json::json;

#[tokio::test]
async fn a_grant_ends_with_the_keys_that_it_was_sealed_to() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let team = dev_team(&owner).await;
    let (path, user) = (format!("{TEAMS}/{}/keys", team.id), member.id().await);
    first_keys(&member, false).await.done(200);
    let grant = json!({"epoch": 1, "grants": [{"user_id": user, "grant": "eA=="}]});
    owner.put(&path, &grant).await.done(200);
    let auth = "a".repeat(64);
    for (version, rsa, left) in [(2, "", 1), (3, "bmV3", 0)] {
        let mut bundle = bundle(version, false);
        bundle["rsa_public"] = json!(rsa);
        let put = json!({"bundle": bundle, "auth": auth, "current_auth": auth});
        member.put("/api/v1/keys", &put).await.done(200);
        let keys: TeamKeys = member.get(&path).await.ok();
        assert_eq!(keys.grants.len(), left);
    }
    owner.put(&path, &grant).await.done(200);
}

#[tokio::test]
async fn the_team_key_is_granted_to_each_member_and_renewed_when_one_goes() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let team = dev_team(&owner).await;
    let (owner_id, member_id) = (owner.id().await, member.id().await);
    let path = format!("{TEAMS}/{}/keys", team.id);
    let grant = |epoch: u32, user, text: &str| json!({"epoch": epoch, "grants": [{"user_id": user, "grant": text}]});
    member
        .put(&path, &grant(1, member_id, "bWluZQ=="))
        .await
        .failed(403);
    owner
        .put(&path, &grant(1, owner_id, "b3duZXI="))
        .await
        .done(200);
    let keys: TeamKeys = owner
        .put(&path, &grant(1, member_id, "bWVtYmVy"))
        .await
        .ok();
    assert!(keys.members.iter().all(|one| one.has_grant));
    let own: TeamKeys = member.get(&path).await.ok();
    assert_eq!((own.epoch, own.space_id), (1, team.space_id));
    assert_eq!(own.grants.len(), 1);
    assert_eq!(own.grants[0].grant.0, b"member");
    assert_eq!(own.grants[0].granted_by, owner_id);
    // What was granted stays: the same again is no change, another is refused.
    owner
        .put(&path, &grant(1, member_id, "bWVtYmVy"))
        .await
        .done(200);
    owner
        .put(&path, &grant(1, member_id, "b3RoZXI="))
        .await
        .failed(409);
    owner
        .put(&path, &grant(2, member_id, "b3RoZXI="))
        .await
        .failed(409);
    owner.put(&path, &grant(1, member_id, "")).await.failed(400);
    let stranger = world.outsider().id().await;
    owner
        .put(&path, &grant(1, stranger, "eA=="))
        .await
        .failed(404);
    owner
        .delete(&format!("{TEAMS}/{}/members/{member_id}", team.id))
        .await
        .done(204);
    member.get(&path).await.failed(403);
    let keys: TeamKeys = owner.get(&path).await.ok();
    assert_eq!(keys.epoch, 2);
    assert!(keys.members.iter().all(|one| !one.has_grant));
    owner
        .put(&path, &grant(2, owner_id, "bmV3"))
        .await
        .done(200);
}

#[tokio::test]
async fn an_admin_puts_the_next_epoch_in_force_with_its_grants_and_of_two_one_wins() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let team = dev_team(&owner).await;
    let (owner_id, member_id) = (owner.id().await, member.id().await);
    let path = format!("{TEAMS}/{}/keys", team.id);
    let raise = |epoch: u32, user, text: &str| json!({"epoch": epoch, "raise": true, "grants": [{"user_id": user, "grant": text}]});
    member
        .put(&path, &raise(2, member_id, "bWluZQ=="))
        .await
        .failed(403);
    for epoch in [0, 1, 3] {
        owner
            .put(&path, &raise(epoch, owner_id, "eA=="))
            .await
            .failed(409);
    }
    // Nobody shuts themselves out.
    owner
        .put(&path, &raise(2, member_id, "eA=="))
        .await
        .failed(400);
    let keys: TeamKeys = owner.put(&path, &raise(2, owner_id, "b3du")).await.ok();
    assert_eq!(keys.epoch, 2);
    let granted: Vec<_> = keys.members.iter().filter(|one| one.has_grant).collect();
    assert!(granted.len() == 1 && granted[0].user_id == owner_id);
    // Whoever raises it at the same time comes too late.
    owner
        .put(&path, &raise(2, owner_id, "b3RoZXI="))
        .await
        .failed(409);
}
