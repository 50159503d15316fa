//! Deletion by rules: files under a retention rule, old file versions.

use super::world::{Caller, Draft, World};
use cairn_server::{KeptRevisions, Options};
use cairn_wire::Page;
use cairn_wire::nodes::{Node, NodeState, Revision};
use cairn_wire::retention::RetentionRule;
use cairn_wire::teams::Team;
use serde_json::json;

const DAY: u64 = 86_400_000;

async fn advance(world: &World, ms: u64) {
    world
        .nobody()
        .post("/_dev/clock/advance", &json!({ "ms": ms }))
        .await
        .done(200);
}

#[tokio::test]
async fn files_go_into_the_trash_when_their_time_has_come() {
    let world = World::new();
    let owner = world.owner();
    let folder = owner.folder(None, "logs").await;
    let inner = owner.folder(Some(folder.id), "old").await;
    let first = owner.file(Some(folder.id), "1.log", "1").await;
    let deep = owner.file(Some(inner.id), "2.log", "2").await;
    let outside = owner.file(None, "3.log", "3").await;
    let response = owner
        .post(
            "/api/v1/retention-rules",
            &json!({"folder_id": folder.id, "delete_after_days": 30.0, "name": "logs"}),
        )
        .await;
    response.done(201);
    let rule: RetentionRule = response.json();
    advance(&world, 30 * DAY - 1).await;
    let edited: Node = owner.upload(&Draft::of(&first, "1 again")).await.ok();
    advance(&world, 1).await;
    let state = async |id| owner.node(id).await.ok::<Node>().state;
    assert_eq!(
        state(first.id).await,
        NodeState::Active,
        "uploaded again, it is young"
    );
    assert_eq!(state(deep.id).await, NodeState::Trashed);
    assert_eq!(state(outside.id).await, NodeState::Active);
    assert_eq!(state(inner.id).await, NodeState::Active, "folders stay");
    let rules: Page<RetentionRule> = owner.get("/api/v1/retention-rules").await.ok();
    assert_eq!(
        (rules.content[0].id, rules.content[0].deleted_files),
        (rule.id, 1)
    );
    owner
        .post(&format!("/api/v1/trash/{}/restore", deep.id), &json!({}))
        .await
        .done(200);
    owner
        .delete(&format!("/api/v1/retention-rules/{}", rule.id))
        .await
        .done(204);
    advance(&world, 60 * DAY).await;
    assert_eq!(state(edited.id).await, NodeState::Active);
    assert_eq!(state(deep.id).await, NodeState::Active);
}

#[tokio::test]
async fn a_rule_has_a_folder_days_and_a_name_and_is_its_owners() {
    let world = World::new();
    let (owner, outsider) = (world.owner(), world.outsider());
    let folder = owner.folder(None, "d").await;
    let file = owner.file(None, "f", "x").await;
    let good = json!({"folder_id": folder.id, "delete_after_days": 1, "name": "n"});
    for (field, bad) in [
        ("folder_id", json!(file.id)),
        ("delete_after_days", json!(0)),
        ("delete_after_days", json!(-1)),
        ("delete_after_days", json!(36_501)),
        ("name", json!(" ")),
        ("name", json!("x".repeat(256))),
    ] {
        let mut body = good.clone();
        body[field] = bad;
        owner
            .post("/api/v1/retention-rules", &body)
            .await
            .failed(400);
    }
    outsider
        .post("/api/v1/retention-rules", &good)
        .await
        .failed(403);
    let rule: RetentionRule = owner.post("/api/v1/retention-rules", &good).await.ok();
    outsider
        .delete(&format!("/api/v1/retention-rules/{}", rule.id))
        .await
        .failed(403);
    let none: Page<RetentionRule> = outsider.get("/api/v1/retention-rules").await.ok();
    assert_eq!(none.total_elements, 0);
}

#[tokio::test]
async fn old_revisions_are_all_kept_unless_the_configuration_says_otherwise() {
    for (kept, left) in [
        (KeptRevisions::default(), vec![4, 3, 2, 1]),
        (
            KeptRevisions {
                newest: Some(2),
                days: None,
            },
            vec![4, 3],
        ),
        (
            KeptRevisions {
                newest: None,
                days: Some(2),
            },
            vec![4, 3],
        ),
        (
            KeptRevisions {
                newest: Some(1),
                days: Some(1),
            },
            vec![4],
        ),
    ] {
        let world = World::with(Options {
            revisions: kept,
            ..Options::ephemeral()
        });
        let owner = world.owner();
        let first = owner.file(None, "f", "v1").await;
        let mut node = first.clone();
        for content in ["v2", "v3", "v4"] {
            advance(&world, DAY).await;
            node = owner.upload(&Draft::of(&node, content)).await.ok();
        }
        advance(&world, 1000).await;
        let list: Page<Revision> = owner
            .get(&format!("/api/v1/nodes/{}/revisions", node.id))
            .await
            .ok();
        let numbers: Vec<u64> = list
            .content
            .iter()
            .map(|revision| revision.number)
            .collect();
        assert_eq!(numbers, left, "{kept:?}");
        owner.chunk(node.id, "v4").await.done(200);
        let oldest = owner.chunk(node.id, "v1").await;
        assert_eq!(
            oldest.status == 200,
            left.contains(&1),
            "its bytes go with it"
        );
        assert_eq!(list.content[0].uploaded_by, "owner@example.com");
    }
}

#[tokio::test]
async fn a_shared_revision_is_kept() {
    let kept = KeptRevisions {
        newest: Some(1),
        days: None,
    };
    let world = World::with(Options {
        revisions: kept,
        ..Options::ephemeral()
    });
    let owner = world.owner();
    let first = owner.file(None, "f", "v1").await;
    let link = super::shares::share(&owner, &first, json!({})).await;
    super::visitors::put_file(&owner, &link, &first)
        .await
        .done(200);
    owner.upload(&Draft::of(&first, "v2")).await.done(200);
    advance(&world, DAY).await;
    owner.chunk(first.id, "v1").await.done(200);
    owner
        .delete(&format!("/api/v1/shares/{}", link.id))
        .await
        .done(204);
    advance(&world, DAY).await;
    owner.chunk(first.id, "v1").await.failed(404);
}

/// The team of the development accounts.
async fn team(world: &World) -> Team {
    let page: Page<Team> = world.owner().get("/api/v1/teams").await.ok();
    page.content[0].clone()
}

/// Makes a rule that deletes the files in a folder after a day.
async fn daily_rule(who: &Caller, folder: &Node) -> RetentionRule {
    let rule = json!({"folder_id": folder.id, "delete_after_days": 1, "name": "daily"});
    who.post("/api/v1/retention-rules", &rule).await.ok()
}

async fn rules(who: &Caller) -> Vec<RetentionRule> {
    let page: Page<RetentionRule> = who.get("/api/v1/retention-rules").await.ok();
    page.content
}

#[tokio::test]
async fn a_rule_in_a_teams_space_ends_with_the_membership_of_who_made_it() {
    for word in ["", "/offboard"] {
        let world = World::new();
        let its = team(&world).await;
        let owner = world.owner().in_space(its.space_id);
        let member = world.member().in_space(its.space_id);
        let folder = owner.folder(None, "reports").await;
        daily_rule(&member, &folder).await;
        let path = format!(
            "/api/v1/teams/{}/members/{}{word}",
            its.id,
            member.id().await
        );
        let gone = match word {
            "" => world.owner().delete(&path).await,
            _ => world.owner().post(&path, &json!({})).await,
        };
        assert!(gone.status.is_success(), "{path}: {gone:?}");
        let file = owner.file(Some(folder.id), "2026.txt", "x").await;
        advance(&world, 2 * DAY).await;
        let node: Node = owner.node(file.id).await.ok();
        assert_eq!(node.state, NodeState::Active, "{word}");
        assert!(rules(&world.member()).await.is_empty(), "{word}");
        assert!(rules(&owner).await.is_empty(), "{word}");
    }
}

#[tokio::test]
async fn who_manages_a_team_lists_and_deletes_the_rules_of_its_members() {
    let world = World::new();
    let its = team(&world).await;
    let owner = world.owner().in_space(its.space_id);
    let member = world.member().in_space(its.space_id);
    let folder = owner.folder(None, "reports").await;
    let of_owner = daily_rule(&owner, &folder).await;
    let of_member = daily_rule(&member, &folder).await;
    let own = world.owner().folder(None, "own").await;
    let private = daily_rule(&world.owner(), &own).await;
    let ids = |rules: Vec<RetentionRule>| -> Vec<_> { rules.iter().map(|rule| rule.id).collect() };
    assert_eq!(ids(rules(&owner).await), [of_owner.id, of_member.id]);
    assert_eq!(ids(rules(&member).await), [of_member.id]);
    assert_eq!(
        ids(rules(&world.owner()).await),
        [of_owner.id, private.id],
        "without the header all of one's own"
    );
    let path = |rule: &RetentionRule| format!("/api/v1/retention-rules/{}", rule.id);
    member.delete(&path(&of_owner)).await.failed(403);
    world.outsider().delete(&path(&of_owner)).await.failed(403);
    owner.delete(&path(&of_member)).await.done(204);
    assert_eq!(ids(rules(&owner).await), [of_owner.id]);
}

#[tokio::test]
async fn a_rule_rests_while_the_account_of_who_made_it_is_not_in_use() {
    let world = World::new();
    let its = team(&world).await;
    let owner = world.owner().in_space(its.space_id);
    let member = world.member().in_space(its.space_id);
    let folder = owner.folder(None, "reports").await;
    daily_rule(&member, &folder).await;
    let file = owner.file(Some(folder.id), "2026.txt", "x").await;
    let state = async || owner.node(file.id).await.ok::<Node>().state;
    let disable = |on| world.app.set_user_disabled("member@example.com", on);
    disable(true).unwrap();
    advance(&world, 2 * DAY).await;
    assert_eq!(state().await, NodeState::Active, "disabled");
    disable(false).unwrap();
    member.delete("/api/v1/useraccount").await.done(200);
    advance(&world, DAY).await;
    assert_eq!(state().await, NodeState::Active, "about to be deleted");
    member
        .post("/api/v1/useraccount/restore", &json!({}))
        .await
        .done(200);
    advance(&world, DAY).await;
    assert_eq!(state().await, NodeState::Trashed, "in use again");
}

#[tokio::test]
async fn a_number_of_0_keeps_all_old_revisions() {
    let world = World::with(Options {
        revisions: KeptRevisions {
            newest: Some(0),
            days: Some(0),
        },
        ..Options::ephemeral()
    });
    let owner = world.owner();
    let mut file = owner.file(None, "f", "0").await;
    for content in ["1", "2"] {
        file = owner.upload(&Draft::of(&file, content)).await.ok();
    }
    advance(&world, 400 * DAY).await;
    let path = format!("/api/v1/nodes/{}/revisions", file.id);
    let kept: Page<Revision> = owner.get(&path).await.ok();
    assert_eq!(kept.total_elements, 3);
}
