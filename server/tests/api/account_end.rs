//! An account's end: 60 days in which it can come back, and then nothing is left.

use super::world::World;
use cairn_wire::Page;
use cairn_wire::account::{AccountInfo, AccountState, AccountStatus};
use cairn_wire::social::Contact;
use cairn_wire::teams::{Team, TeamRole, TeamStorage};
use serde_json::json;
use uuid::Uuid;

const DAY_MS: u64 = 24 * 3600 * 1000;
const ACCOUNT: &str = "/api/v1/useraccount";
const RESTORE: &str = "/api/v1/useraccount/restore";

#[tokio::test]
async fn an_account_pending_deletion_reads_and_changes_nothing() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "a", "text").await;
    owner.post(RESTORE, &json!({})).await.failed(409);
    let status: AccountStatus = owner.delete(ACCOUNT).await.ok();
    assert_eq!(status.status, AccountState::PendingDeletion);
    let purge_at = status.deletion.unwrap().purge_at.to_string();
    assert_eq!(purge_at, "2026-03-02T00:00:00.000Z");
    let info: AccountInfo = owner.get("/api/v1/useraccount/composite").await.ok();
    assert_eq!(info.deletion, status.deletion);
    owner.chunk(file.id, "text").await.done(200);
    let path = format!("/api/v1/nodes/{}", file.id);
    let why = owner.put(&path, &json!({"name": "b"})).await.failed(403);
    assert!(why.contains("restore") && why.contains(&purge_at), "{why}");
    owner.delete(&path).await.failed(403);
    owner
        .post("/api/v1/teams", &json!({"name": "x"}))
        .await
        .failed(403);
    owner.delete(ACCOUNT).await.failed(403);
    // Others are not held up by it.
    world.member().folder(None, "x").await;
    let restored: AccountStatus = owner.post(RESTORE, &json!({})).await.ok();
    assert_eq!(
        (restored.status, restored.deletion),
        (AccountState::Active, None)
    );
    owner.put(&path, &json!({"name": "b"})).await.done(200);
}

#[tokio::test]
async fn after_60_days_an_account_is_gone_with_all_of_its_data() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let owner_id = owner.id().await;
    let page: Page<Team> = owner.get("/api/v1/teams").await.ok();
    let team = page.content[0].clone();
    owner
        .in_space(team.space_id)
        .file(None, "team", "of the team")
        .await;
    let alone: Team = owner
        .post("/api/v1/teams", &json!({"name": "Alone"}))
        .await
        .ok();
    owner
        .in_space(alone.space_id)
        .file(None, "alone", "of nobody")
        .await;
    let folder = owner.folder(None, "f").await;
    owner.file(Some(folder.id), "own", "of the owner").await;
    let id = owner.file(None, "trashed", "in the trash").await.id;
    owner.delete(&format!("/api/v1/nodes/{id}")).await.done(200);
    member
        .post(&format!("/api/v1/social/follow/{owner_id}"), &json!({}))
        .await
        .done(200);
    owner
        .post(
            "/api/v1/payment/tokens/purchase",
            &json!({"pack": "starter"}),
        )
        .await
        .done(201);
    owner.delete(ACCOUNT).await.done(200);

    let wait = async |ms: u64| {
        member
            .post("/_dev/clock/advance", &json!({"ms": ms}))
            .await
            .done(200);
    };
    wait(60 * DAY_MS - 1).await;
    owner.get("/api/v1/nodes").await.done(200);
    wait(1).await;
    owner.get("/api/v1/nodes").await.failed(401);
    owner.post(RESTORE, &json!({})).await.failed(401);
    member
        .get(&format!("/api/v1/social/profiles/{owner_id}"))
        .await
        .failed(404);
    let following: Page<Contact> = member.get("/api/v1/social/following").await.ok();
    assert_eq!(following.total_elements, 0);
    // The team goes on under the member; the one that nobody was left in is gone.
    let teams: Page<Team> = member.get("/api/v1/teams").await.ok();
    assert_eq!(teams.total_elements, 1);
    assert_eq!(
        (teams.content[0].id, teams.content[0].role),
        (team.id, TeamRole::Owner)
    );
    let storage: TeamStorage = member
        .get(&format!("/api/v1/teams/{}/storage", team.id))
        .await
        .ok();
    let gone = storage
        .page
        .content
        .iter()
        .find(|one| one.user_id == owner_id)
        .unwrap();
    assert_eq!(
        (gone.email.as_deref(), gone.is_member, gone.file_count),
        (None, false, 1)
    );
    // What it stored is gone: only the team's one object is left, and none lies about unknown.
    assert_eq!(world.app.sweep_objects(i64::MAX).await.unwrap(), 0);
    world.app.add_user("owner@example.com", "again").unwrap();
}

#[tokio::test]
async fn the_grace_period_ends_the_account_without_anybody_asking() {
    let world = World::new();
    world.app.add_user("brief@example.com", "x").unwrap();
    let key = world.app.create_api_key("brief@example.com").unwrap();
    let brief = world.caller(Some(&key));
    brief.delete(ACCOUNT).await.done(200);
    world.app.source().advance(60 * DAY_MS);
    // Not purged yet, but past its time.
    brief.post(RESTORE, &json!({})).await.failed(410);
    world.app.housekeep().await.unwrap();
    brief.get(ACCOUNT).await.failed(405);
    brief.get("/api/v1/useraccount/composite").await.failed(401);
    assert!(world.app.create_api_key("brief@example.com").is_err());
}

#[tokio::test]
async fn another_accounts_restoration_is_nobodys_business() {
    let world = World::new();
    world.nobody().delete(ACCOUNT).await.failed(401);
    world.nobody().post(RESTORE, &json!({})).await.failed(401);
    let stranger = world.caller(Some(&format!("ck_{}", Uuid::new_v4())));
    stranger.delete(ACCOUNT).await.failed(401);
}
