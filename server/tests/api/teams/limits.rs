//! Limits of a new team, and the number of teams that an account owns.

use super::super::world::World;
use super::TEAMS;
use cairn_server::{Limits, NewLimits};
use cairn_wire::teams::{Team, TeamQuota};
use serde_json::json;

#[tokio::test]
async fn a_team_may_use_no_more_than_its_owner_and_an_account_owns_fifty() {
    let world = World::new();
    let outsider = world.outsider();
    let smaller = NewLimits {
        storage: Some(1_000),
        files: Some(7),
        ..NewLimits::default()
    };
    let email = "outsider@example.com";
    world.app.change_user_limits(email, smaller).unwrap();
    let new = json!({"name": "T"});
    let team: Team = outsider.post(TEAMS, &new).await.ok();
    let path = format!("{TEAMS}/{}/quota", team.id);
    let quota: TeamQuota = outsider.get(&path).await.ok();
    assert_eq!((quota.storage_limit, quota.file_count_limit), (1_000, 7));
    let larger = NewLimits {
        storage: Some(u64::MAX),
        ..NewLimits::default()
    };
    world.app.change_user_limits(email, larger).unwrap();
    let team: Team = outsider.post(TEAMS, &new).await.ok();
    let path = format!("{TEAMS}/{}/quota", team.id);
    let quota: TeamQuota = outsider.get(&path).await.ok();
    assert_eq!(quota.storage_limit, Limits::default().storage);
    for _ in 2..50 {
        outsider.post(TEAMS, &new).await.done(201);
    }
    let refused = outsider.post(TEAMS, &new).await.failed(409);
    assert!(refused.contains("50 teams"), "{refused}");
    outsider
        .delete(&format!("{TEAMS}/{}", team.id))
        .await
        .done(204);
    outsider.post(TEAMS, &new).await.done(201);
}
