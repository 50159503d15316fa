//! Teams: who may do what with whom, and what others learn of them.

mod keys;
mod limits;

use super::world::{Caller, RECORD, World};
use cairn_wire::Page;
use cairn_wire::notifications::{Notification, NotificationKind};
use cairn_wire::teams::{
    Invitation, InvitationState, Offboarded, Team, TeamDetails, TeamMember, TeamPermissions,
    TeamQuota, TeamRole, TeamStorage,
};
use serde_json::{Value, json};
use uuid::Uuid;

const TEAMS: &str = "/api/v1/teams";

async fn dev_team(who: &Caller) -> Team {
    let page: Page<Team> = who.get(TEAMS).await.ok();
    page.content.into_iter().next().unwrap()
}

async fn members(who: &Caller, team: &Team) -> Vec<TeamMember> {
    let path = format!("{TEAMS}/{}/members", team.id);
    who.get(&path).await.ok::<Page<TeamMember>>().content
}

async fn invite(who: &Caller, team: &Team, email: &str) -> Invitation {
    let response = who
        .post(
            &format!("{TEAMS}/{}/invite", team.id),
            &json!({"email": email}),
        )
        .await;
    response.done(201);
    response.ok()
}

/// Brings the outsider into the team.
async fn bring_in(world: &World, team: &Team) {
    let sent = invite(&world.owner(), team, "outsider@example.com").await;
    world
        .outsider()
        .post(
            &format!("{TEAMS}/invitations/{}/accept", sent.id),
            &json!({}),
        )
        .await
        .done(200);
}

fn events(world: &World) -> impl Future<Output = Value> {
    let owner = world.owner();
    async move { owner.get("/_dev/mail").await.ok() }
}

#[tokio::test]
async fn the_development_accounts_share_a_team_that_the_outsider_does_not_see() {
    let world = World::new();
    let (owner, member, outsider) = (world.owner(), world.member(), world.outsider());
    let team = dev_team(&owner).await;
    assert_eq!(
        (team.name.as_str(), team.role),
        ("Dev Team", TeamRole::Owner)
    );
    assert_eq!(team.member_count, 2);
    let same = dev_team(&member).await;
    assert_eq!((same.id, same.role), (team.id, TeamRole::Member));
    let none: Page<Team> = outsider.get(TEAMS).await.ok();
    assert_eq!(none.total_elements, 0);
    let aliased: Page<Team> = owner.get("/api/v1/team?page=1&page_size=50").await.ok();
    assert_eq!(aliased.content, std::slice::from_ref(&team));
    let details: TeamDetails = owner.get(&format!("/api/v1/team/{}", team.id)).await.ok();
    assert_eq!(details.team, team);
    let roles: Vec<_> = details
        .members
        .iter()
        .map(|member| (member.email.as_str(), member.role))
        .collect();
    assert_eq!(
        roles,
        [
            ("owner@example.com", TeamRole::Owner),
            ("member@example.com", TeamRole::Member)
        ]
    );
    for path in [
        "",
        "/members",
        "/quota",
        "/permissions",
        "/storage",
        "/keys",
    ] {
        let path = format!("{TEAMS}/{}{path}", team.id);
        outsider.get(&path).await.failed(403);
        owner.get(&path).await.done(200);
    }
}

#[tokio::test]
async fn whoever_makes_a_team_owns_it() {
    let world = World::new();
    let outsider = world.outsider();
    let response = outsider.post(TEAMS, &json!({"name": "  Alpha  "})).await;
    response.done(201);
    let team: Team = response.ok();
    assert_eq!((team.name.as_str(), team.role), ("Alpha", TeamRole::Owner));
    assert_eq!((team.owner_id, team.member_count), (outsider.id().await, 1));
    for bad in ["", "   ", "A\n\nCall us", "A\rB", &"x".repeat(256)] {
        outsider
            .post(TEAMS, &json!({"name": bad}))
            .await
            .failed(400);
    }
    outsider
        .post(TEAMS, &json!({"name": "é".repeat(255)}))
        .await
        .done(201);
    let path = format!("{TEAMS}/{}", team.id);
    let renamed: Team = outsider.put(&path, &json!({"name": "Beta"})).await.ok();
    assert_eq!(renamed.name, "Beta");
    world
        .owner()
        .put(&path, &json!({"name": "x"}))
        .await
        .failed(403);
    world.owner().delete(&path).await.failed(403);
    outsider.delete(&path).await.done(204);
    outsider.get(&path).await.failed(404);
}

#[tokio::test]
async fn an_invitation_goes_out_by_mail_and_makes_a_member() {
    let world = World::new();
    let (owner, outsider) = (world.owner(), world.outsider());
    let team = dev_team(&owner).await;
    let sent = invite(&owner, &team, "Outsider@Example.com").await;
    assert_eq!(
        (sent.status, sent.role),
        (InvitationState::Pending, TeamRole::Member)
    );
    let mails = events(&world).await;
    let mail = &mails["mails"][0];
    assert_eq!(mail["to"], "outsider@example.com");
    assert!(
        mail["body"]
            .as_str()
            .unwrap()
            .contains(&sent.id.to_string())
    );
    let waiting: Page<Invitation> = outsider.get("/api/v1/teams/invitations").await.ok();
    assert_eq!(waiting.content, std::slice::from_ref(&sent));
    let notified: Page<Notification> = outsider.get("/api/v1/social/notifications").await.ok();
    assert_eq!(notified.content[0].kind, NotificationKind::Team);
    let accept = format!("{TEAMS}/invitations/{}/accept", sent.id);
    world.member().post(&accept, &json!({})).await.failed(403);
    let joined: Team = outsider.post(&accept, &json!({})).await.ok();
    assert_eq!((joined.id, joined.member_count), (team.id, 3));
    outsider.post(&accept, &json!({})).await.failed(409);
    assert_eq!(members(&outsider, &team).await.len(), 3);
    let notified: Page<Notification> = owner.get("/api/v1/social/notifications").await.ok();
    assert_eq!(notified.content[0].title, "Your invitation was accepted");
}

#[tokio::test]
async fn an_invitation_can_be_declined_withdrawn_or_expire() {
    let world = World::new();
    let (owner, outsider) = (world.owner(), world.outsider());
    let team = dev_team(&owner).await;
    let response = |id: Uuid, word: &str| format!("{TEAMS}/invitations/{id}/{word}");
    let first = invite(&owner, &team, "outsider@example.com").await;
    outsider
        .post(&response(first.id, "decline"), &json!({}))
        .await
        .done(204);
    outsider
        .post(&response(first.id, "accept"), &json!({}))
        .await
        .failed(409);
    let second = invite(&owner, &team, "outsider@example.com").await;
    let path = format!("{TEAMS}/{}/invitations", team.id);
    let open: Page<Invitation> = owner.get(&path).await.ok();
    assert_eq!(open.content, std::slice::from_ref(&second));
    world.member().get(&path).await.failed(403);
    owner
        .delete(&format!("{path}/{}", second.id))
        .await
        .done(204);
    outsider
        .post(&response(second.id, "accept"), &json!({}))
        .await
        .failed(410);
    let third = invite(&owner, &team, "outsider@example.com").await;
    world.app.source().advance(7 * 24 * 3600 * 1000);
    outsider
        .post(&response(third.id, "accept"), &json!({}))
        .await
        .failed(410);
    assert_eq!(
        outsider
            .get("/api/v1/teams/invitations")
            .await
            .ok::<Page<Invitation>>()
            .total_elements,
        0
    );
    // An expired one does not stand in the way of another.
    invite(&owner, &team, "outsider@example.com").await;
}

#[tokio::test]
async fn invitations_are_refused_where_they_make_no_sense() {
    let world = World::new();
    let owner = world.owner();
    let team = dev_team(&owner).await;
    let path = format!("{TEAMS}/{}/invite", team.id);
    for bad in ["", "nobody", "a b@c", "@c", "<a@b>"] {
        owner.post(&path, &json!({"email": bad})).await.failed(400);
    }
    owner
        .post(&path, &json!({"email": "x@y", "role": "owner"}))
        .await
        .failed(400);
    owner
        .post(&path, &json!({"email": "member@example.com"}))
        .await
        .failed(409);
    invite(&owner, &team, "nobody@example.com").await;
    owner
        .post(&path, &json!({"email": "NOBODY@example.com"}))
        .await
        .failed(409);
    let body = json!({"email": "x@example.com"});
    world.member().post(&path, &body).await.failed(403);
    world.outsider().post(&path, &body).await.failed(403);
    // The free plan has room for ten, members and open invitations together.
    for number in 3..10 {
        invite(&owner, &team, &format!("p{number}@example.com")).await;
    }
    owner.post(&path, &body).await.failed(507);
}

#[tokio::test]
async fn roles_change_within_their_rules() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let team = dev_team(&owner).await;
    let (owner_id, member_id) = (owner.id().await, member.id().await);
    let path = |user| format!("{TEAMS}/{}/members/{user}", team.id);
    let admin = json!({"role": "admin"});
    member.put(&path(member_id), &admin).await.failed(403);
    world
        .outsider()
        .put(&path(member_id), &admin)
        .await
        .failed(403);
    let changed: TeamMember = owner.put(&path(member_id), &admin).await.ok();
    assert_eq!(changed.role, TeamRole::Admin);
    // An admin manages people, too, but never the owner.
    bring_in(&world, &team).await;
    let outsider_id = world.outsider().id().await;
    let back: TeamMember = member.put(&path(outsider_id), &admin).await.ok();
    assert_eq!(back.role, TeamRole::Admin);
    for (who, body) in [(&member, &admin), (&owner, &json!({"role": "member"}))] {
        who.put(&path(owner_id), body).await.failed(403);
    }
    owner
        .put(&path(member_id), &json!({"role": "owner"}))
        .await
        .failed(400);
    owner
        .put(&path(member_id), &json!({"role": "guest"}))
        .await
        .failed(400);
    owner
        .put(
            &format!("{TEAMS}/{}/members/{}", team.id, Uuid::new_v4()),
            &admin,
        )
        .await
        .failed(404);
    let lowered: TeamMember = member
        .put(&path(member_id), &json!({"role": "member"}))
        .await
        .ok();
    assert_eq!(lowered.role, TeamRole::Member);
}

#[tokio::test]
async fn members_are_removed_by_admins_and_may_leave_but_the_owner_stays() {
    let world = World::new();
    let (owner, member, outsider) = (world.owner(), world.member(), world.outsider());
    let team = dev_team(&owner).await;
    bring_in(&world, &team).await;
    let (owner_id, member_id) = (owner.id().await, member.id().await);
    let outsider_id = outsider.id().await;
    let path = |user| format!("{TEAMS}/{}/members/{user}", team.id);
    member.delete(&path(outsider_id)).await.failed(403);
    owner.delete(&path(owner_id)).await.failed(403);
    outsider.delete(&path(outsider_id)).await.done(204);
    outsider
        .get(&format!("{TEAMS}/{}", team.id))
        .await
        .failed(403);
    assert_eq!(dev_team(&owner).await.key_epoch, team.key_epoch + 1);
    owner.delete(&path(member_id)).await.done(204);
    owner.delete(&path(member_id)).await.failed(404);
    assert_eq!(members(&owner, &team).await.len(), 1);
    let notified: Page<Notification> = member.get("/api/v1/social/notifications").await.ok();
    assert_eq!(notified.content[0].title, "You were removed from a team");
}

#[tokio::test]
async fn permissions_follow_the_role() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let team = dev_team(&owner).await;
    let path = format!("{TEAMS}/{}/permissions", team.id);
    let its: TeamPermissions = member.get(&path).await.ok();
    assert_eq!(its.role, TeamRole::Member);
    assert!(its.permissions["upload"] && its.permissions["edit"]);
    assert!(!its.permissions["invite"] && !its.permissions["remove"]);
    let its: TeamPermissions = owner.get(&path).await.ok();
    assert!(its.permissions.values().all(|may| *may));
    member
        .get(&format!("{TEAMS}/{}/storage", team.id))
        .await
        .failed(403);
}

#[tokio::test]
async fn figures_tell_what_a_team_and_each_of_its_members_use() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let team = dev_team(&owner).await;
    owner.in_space(team.space_id).file(None, "a", "four").await;
    member
        .in_space(team.space_id)
        .file(None, "b", "eighteen bytes, ok")
        .await;
    let quota: TeamQuota = member.get(&format!("{TEAMS}/{}/quota", team.id)).await.ok();
    assert_eq!((quota.storage_used, quota.file_count), (22 + 2 * RECORD, 2));
    assert_eq!((quota.member_count, quota.member_limit), (2, 10));
    assert_eq!(quota.bandwidth_used, 22);
    let storage: TeamStorage = owner
        .get(&format!("{TEAMS}/{}/storage", team.id))
        .await
        .ok();
    assert_eq!(storage.storage_used, 22 + 2 * RECORD);
    let used: Vec<_> = storage
        .page
        .content
        .iter()
        .map(|one| {
            (
                one.email.as_deref().unwrap(),
                one.storage_used,
                one.is_member,
            )
        })
        .collect();
    assert_eq!(
        used,
        [
            ("member@example.com", 18 + RECORD, true),
            ("owner@example.com", 4 + RECORD, true)
        ]
    );
    let own: Value = owner.get("/api/v1/userusage/quota-limit").await.ok();
    assert_eq!(own["storage_used"], 0);
}

#[tokio::test]
async fn offboarding_revokes_what_the_member_had_opened() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let team = dev_team(&owner).await;
    let member_id = member.id().await;
    owner
        .put(
            &format!("{TEAMS}/{}/members/{member_id}", team.id),
            &json!({"role": "admin"}),
        )
        .await
        .done(200);
    let sent = invite(&member, &team, "outsider@example.com").await;
    let inside = member.in_space(team.space_id);
    let links = async |who: &Caller, name: &str| -> Value {
        let file = who.file(None, name, "text").await;
        who.post("/api/v1/shares", &json!({"file_id": file.id}))
            .await
            .ok()
    };
    let of_the_team = links(&inside, "shared").await;
    let own = links(&member, "own").await;
    let body = json!({"epoch": 1, "grants": [{"user_id": member_id, "grant": "eA=="}]});
    owner
        .put(&format!("{TEAMS}/{}/keys", team.id), &body)
        .await
        .done(200);
    let path = |user| format!("{TEAMS}/{}/members/{user}/offboard", team.id);
    let owner_id = owner.id().await;
    member.post(&path(owner_id), &json!({})).await.failed(403);
    world
        .outsider()
        .post(&path(member_id), &json!({}))
        .await
        .failed(403);
    let done: Offboarded = owner.post(&path(member_id), &json!({})).await.ok();
    assert_eq!((done.revoked_grants, done.withdrawn_invitations), (1, 1));
    assert_eq!(done.revoked_share_links, 1);
    for (who, link, is_active) in [(&owner, of_the_team, false), (&member, own, true)] {
        let path = format!("/api/v1/shares/{}", link["id"].as_str().unwrap());
        let now: Value = who.get(&path).await.ok();
        assert_eq!(now["is_active"], is_active);
    }
    world
        .outsider()
        .post(
            &format!("{TEAMS}/invitations/{}/accept", sent.id),
            &json!({}),
        )
        .await
        .failed(410);
    member
        .get(&format!("{TEAMS}/{}", team.id))
        .await
        .failed(403);
    owner.post(&path(member_id), &json!({})).await.failed(404);
}

#[tokio::test]
async fn a_disabled_member_with_open_links_is_taken_out_like_any_other() {
    for ending in [
        "remove",
        "offboard",
        "delete the team",
        "delete the user",
        "purge",
    ] {
        let world = World::new();
        let (owner, member) = (world.owner(), world.member());
        let team = dev_team(&owner).await;
        let file = member.in_space(team.space_id).file(None, "f", "x").await;
        super::shares::share(&member.in_space(team.space_id), &file, json!({})).await;
        let path = format!("{TEAMS}/{}", team.id);
        let user = format!("{path}/members/{}", member.id().await);
        if ending == "purge" {
            member.delete("/api/v1/useraccount").await.done(200);
        }
        world
            .app
            .set_user_disabled("member@example.com", true)
            .unwrap();
        match ending {
            "remove" => owner.delete(&user).await.done(204),
            "offboard" => {
                let gone: Offboarded = owner
                    .post(&format!("{user}/offboard"), &json!({}))
                    .await
                    .ok();
                assert_eq!(gone.revoked_share_links, 1);
            }
            "delete the team" => owner.delete(&path).await.done(204),
            "purge" => {
                world.app.source().advance(60 * 24 * 3600 * 1000);
                world.app.housekeep().await.unwrap();
                assert!(world.app.user("member@example.com").is_err());
            }
            _ => world.app.delete_user("member@example.com").await.unwrap(),
        }
        if ending != "delete the team" {
            assert_eq!(members(&owner, &team).await.len(), 1, "{ending}");
        }
    }
}

#[tokio::test]
async fn the_invitations_of_a_removed_admin_are_withdrawn() {
    let world = World::new();
    let (owner, member, outsider) = (world.owner(), world.member(), world.outsider());
    let team = dev_team(&owner).await;
    let user = format!("{TEAMS}/{}/members/{}", team.id, member.id().await);
    owner.put(&user, &json!({"role": "admin"})).await.done(200);
    let invited: Invitation = member
        .post(
            &format!("{TEAMS}/{}/invite", team.id),
            &json!({"email": "outsider@example.com", "role": "admin"}),
        )
        .await
        .ok();
    owner.delete(&user).await.done(204);
    outsider
        .post(
            &format!("{TEAMS}/invitations/{}/accept", invited.id),
            &json!({}),
        )
        .await
        .failed(410);
    assert_eq!(members(&owner, &team).await.len(), 1);
}

#[tokio::test]
async fn a_team_goes_to_a_member_whose_account_is_in_use() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let team = dev_team(&owner).await;
    bring_in(&world, &team).await;
    let user = format!("{TEAMS}/{}/members/{}", team.id, member.id().await);
    owner.put(&user, &json!({"role": "admin"})).await.done(200);
    let disable = |email| world.app.set_user_disabled(email, true).unwrap();
    disable("member@example.com");
    world.app.delete_user("owner@example.com").await.unwrap();
    assert_eq!(dev_team(&world.outsider()).await.role, TeamRole::Owner);
    // A team is not deleted because nobody in it is in use.
    world.app.delete_user("outsider@example.com").await.unwrap();
    world
        .app
        .set_user_disabled("member@example.com", false)
        .unwrap();
    assert_eq!(dev_team(&member).await.role, TeamRole::Owner);
}
