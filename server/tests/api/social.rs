//! Relations between users: profiles, following, blocking, the feed, tips.

use super::world::{Caller, World};
use cairn_model::AccountId;
use cairn_wire::Page;
use cairn_wire::comments::Comment;
use cairn_wire::notifications::{Notification, NotificationKind};
use cairn_wire::payments::Wallet;
use cairn_wire::social::{
    Connection, Contact, FeedEntry, FeedEntryKind, FollowedMany, Profile, Relationship, Report,
    ReportState, Suggestion, TipJar, TipReceipt, Visibility,
};
use cairn_wire::teams::Team;
use serde_json::json;
use uuid::Uuid;

async fn profile(who: &Caller) -> Profile {
    who.get("/api/v1/social/profile").await.ok()
}

async fn follow(who: &Caller, user: AccountId) -> Connection {
    who.post(&format!("/api/v1/social/follow/{user}"), &json!({}))
        .await
        .ok()
}

async fn feed(who: &Caller) -> Vec<FeedEntry> {
    who.get("/api/v1/social/feed")
        .await
        .ok::<Page<FeedEntry>>()
        .content
}

#[tokio::test]
async fn a_profile_changes_only_where_it_is_asked_to() {
    let world = World::new();
    let owner = world.owner();
    let first = profile(&owner).await;
    assert_eq!(first.display_name, "owner");
    assert_eq!(
        (first.visibility, first.bio.as_str()),
        (Visibility::Public, "")
    );
    let path = "/api/v1/social/profile";
    let changed: Profile = owner
        .put(
            path,
            &json!({"bio": "Hello", "avatar_url": "https://a.example/x.png"}),
        )
        .await
        .ok();
    assert_eq!(
        (changed.display_name.as_str(), changed.bio.as_str()),
        ("owner", "Hello")
    );
    let renamed: Profile = owner
        .put(
            path,
            &json!({"display_name": "The Owner", "avatar_url": ""}),
        )
        .await
        .ok();
    assert_eq!((renamed.bio.as_str(), renamed.avatar_url), ("Hello", None));
    assert_eq!(renamed.tip_jar_id, first.tip_jar_id);
    for bad in [
        json!({"display_name": " "}),
        json!({"display_name": "The Owner\n\nYour account is closed"}),
        json!({"display_name": "a\u{2028}b"}),
        json!({"bio": "a\u{0}b"}),
        json!({"display_name": "x".repeat(101)}),
        json!({"bio": "x".repeat(501)}),
        json!({"avatar_url": "http://a.example/x.png"}),
        json!({"avatar_url": "javascript:alert(1)"}),
    ] {
        owner.put(path, &bad).await.failed(400);
    }
    let seen: Profile = world
        .outsider()
        .get(&format!("/api/v1/social/profiles/{}", first.user_id))
        .await
        .ok();
    assert_eq!(seen.display_name, "The Owner");
    owner
        .get(&format!("/api/v1/social/profiles/{}", Uuid::new_v4()))
        .await
        .failed(404);
}

#[tokio::test]
async fn names_are_unique_whatever_their_case() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let name = |text: &str| json!({"username": text});
    let url = |text: &str| json!({"vanity_url": text});
    let set: Profile = owner
        .put("/api/v1/social/username", &name("The_Owner-1"))
        .await
        .ok();
    assert_eq!(set.username.as_deref(), Some("The_Owner-1"));
    member
        .put("/api/v1/social/username", &name("the_owner-1"))
        .await
        .failed(409);
    owner
        .put("/api/v1/social/username", &name("the_owner-1"))
        .await
        .done(200);
    for bad in ["", "a b", "ä", &"x".repeat(31)] {
        owner
            .put("/api/v1/social/username", &name(bad))
            .await
            .failed(400);
    }
    owner
        .put("/api/v1/social/vanity-url", &url("abc"))
        .await
        .done(200);
    member
        .put("/api/v1/social/vanity-url", &url("ABC"))
        .await
        .failed(409);
    for bad in ["ab", "a.b", &"x".repeat(31)] {
        owner
            .put("/api/v1/social/vanity-url", &url(bad))
            .await
            .failed(400);
    }
}

#[tokio::test]
async fn a_profile_is_seen_by_whom_it_is_open_to() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let owner_id = owner.id().await;
    let path = format!("/api/v1/social/profiles/{owner_id}");
    let visible = |to: &str| json!({"visibility": to});
    follow(&member, owner_id).await;
    owner
        .put("/api/v1/social/visibility", &visible("followers_only"))
        .await
        .done(200);
    member.get(&path).await.done(200);
    world.outsider().get(&path).await.failed(403);
    owner
        .put("/api/v1/social/visibility", &visible("private"))
        .await
        .done(200);
    member.get(&path).await.failed(403);
    owner.get(&path).await.done(200);
    world
        .outsider()
        .post(&format!("/api/v1/social/follow/{owner_id}"), &json!({}))
        .await
        .failed(403);
    owner
        .put("/api/v1/social/visibility", &visible("friends"))
        .await
        .failed(400);
}

#[tokio::test]
async fn following_each_other_makes_friends() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let (owner_id, member_id) = (owner.id().await, member.id().await);
    let first = follow(&owner, member_id).await;
    assert_eq!(first.relationship, Relationship::Following);
    assert_eq!(follow(&owner, member_id).await, first);
    let back = follow(&member, owner_id).await;
    assert_eq!(back.relationship, Relationship::Friends);
    let followers: Page<Contact> = owner.get("/api/v1/social/followers").await.ok();
    assert_eq!(followers.content[0].user_id, member_id);
    assert_eq!(followers.content[0].relationship, Relationship::Friends);
    let following: Page<Contact> = owner.get("/api/v1/social/following").await.ok();
    assert_eq!(following.total_elements, 1);
    assert_eq!(profile(&owner).await.follower_count, 1);
    let notified: Page<Notification> = owner.get("/api/v1/social/notifications").await.ok();
    assert_eq!(
        (notified.total_elements, notified.content[0].kind),
        (1, NotificationKind::Follow)
    );
    let path = format!("/api/v1/social/follow/{member_id}");
    let left: Connection = owner.delete(&path).await.ok();
    assert_eq!(left.relationship, Relationship::FollowsYou);
    owner.delete(&path).await.done(200);
    owner
        .post(&format!("/api/v1/social/follow/{owner_id}"), &json!({}))
        .await
        .failed(400);
    owner
        .post(
            &format!("/api/v1/social/follow/{}", Uuid::new_v4()),
            &json!({}),
        )
        .await
        .failed(404);
}

#[tokio::test]
async fn many_are_followed_with_a_response_each() {
    let world = World::new();
    let owner = world.owner();
    let (member, nobody) = (world.member().id().await, Uuid::new_v4());
    let path = "/api/v1/social/follow/bulk";
    let done: FollowedMany = owner
        .post(path, &json!({"user_ids": [member, nobody]}))
        .await
        .ok();
    assert_eq!((done.total, done.succeeded, done.failed), (2, 1, 1));
    assert!(done.results[0].success && done.results[0].error.is_none());
    assert_eq!(done.results[1].error.as_ref().unwrap().code, 404);
    owner.post(path, &json!({"user_ids": []})).await.failed(400);
    let many: Vec<Uuid> = (0..21).map(|_| Uuid::new_v4()).collect();
    owner
        .post(path, &json!({"user_ids": many}))
        .await
        .failed(400);
}

#[tokio::test]
async fn a_block_parts_both_and_keeps_the_blocked_away() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let (owner_id, member_id) = (owner.id().await, member.id().await);
    follow(&owner, member_id).await;
    follow(&member, owner_id).await;
    let block = format!("/api/v1/social/block/{member_id}");
    let parted: Connection = owner.post(&block, &json!({})).await.ok();
    assert!(parted.is_blocked && parted.relationship == Relationship::None);
    let path = format!("/api/v1/social/follow/{owner_id}");
    member.post(&path, &json!({})).await.failed(403);
    member
        .get(&format!("/api/v1/social/profiles/{owner_id}"))
        .await
        .failed(403);
    let jar = profile(&owner).await.tip_jar_id;
    let jar_path = format!("/api/v1/social/tip-jars/{jar}");
    member.get(&jar_path).await.failed(403);
    let held: TipJar = owner.get(&jar_path).await.ok();
    assert_eq!((held.id, held.user_id), (jar, owner_id));
    member
        .post(
            "/api/v1/social/tips",
            &json!({"tip_jar_id": jar, "amount": "1.00"}),
        )
        .await
        .failed(403);
    owner
        .post(&format!("/api/v1/social/follow/{member_id}"), &json!({}))
        .await
        .failed(409);
    // No way around it: comments, links and invitations would reach them as well.
    let team: Page<Team> = owner.get("/api/v1/teams").await.ok();
    let space = team.content[0].space_id;
    let file = owner.in_space(space).file(None, "a", "x").await;
    let comments = format!("/api/v1/nodes/{}/comments", file.id);
    let text = json!({"text": "hi"});
    let comment: Comment = owner.in_space(space).post(&comments, &text).await.ok();
    let there = member.in_space(space);
    there.post(&comments, &text).await.failed(403);
    let own = there.file(None, "b", "x").await;
    let about = format!("/api/v1/nodes/{}/comments", own.id);
    there.post(&about, &text).await.done(201);
    let replies = format!("{comments}/{}/replies", comment.id);
    there.post(&replies, &text).await.failed(403);
    let file = member.file(None, "c", "x").await;
    let link = json!({"file_id": file.id, "email": "owner@example.com"});
    member.post("/api/v1/shares/email", &link).await.failed(403);
    let made: Team = member
        .post("/api/v1/teams", &json!({"name": "M"}))
        .await
        .ok();
    let invite = format!("/api/v1/teams/{}/invite", made.id);
    let whom = json!({"email": "Owner@example.com"});
    member.post(&invite, &whom).await.failed(403);
    let free: Connection = owner.delete(&block).await.ok();
    assert!(!free.is_blocked && !free.is_following);
    follow(&member, owner_id).await;
    owner
        .post(&format!("/api/v1/social/block/{owner_id}"), &json!({}))
        .await
        .failed(400);
}

#[tokio::test]
async fn the_feed_shows_what_the_followed_do_until_they_are_muted() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let member_id = member.id().await;
    assert!(feed(&owner).await.is_empty());
    follow(&owner, member_id).await;
    let change = |n: u32| json!({"bio": format!("version {n}")});
    for n in 0..25 {
        member
            .put("/api/v1/social/profile", &change(n))
            .await
            .done(200);
    }
    let page: Page<FeedEntry> = owner.get("/api/v1/social/feed").await.ok();
    assert_eq!((page.page_size, page.content.len()), (20, 20));
    assert_eq!(page.content[0].kind, FeedEntryKind::ProfileUpdated);
    assert!(page.content.iter().all(|entry| entry.user_id == member_id));
    // With the plan that the seed made.
    let rest: Page<FeedEntry> = owner.get("/api/v1/social/feed?page=2").await.ok();
    assert_eq!((rest.content.len(), rest.total_elements), (6, 26));
    assert_eq!(rest.content[5].kind, FeedEntryKind::PlanCreated);
    owner.get("/api/v1/social/feed?page=0").await.failed(400);
    let mute = format!("/api/v1/social/mute/{member_id}");
    let muted: Connection = owner.post(&mute, &json!({})).await.ok();
    assert!(muted.is_muted && muted.is_following);
    assert!(feed(&owner).await.is_empty());
    owner.delete(&mute).await.done(200);
    assert_eq!(feed(&owner).await.len(), 20);
    member
        .put(
            "/api/v1/social/visibility",
            &json!({"visibility": "private"}),
        )
        .await
        .done(200);
    assert!(feed(&owner).await.is_empty());
}

#[tokio::test]
async fn suggestions_come_from_the_people_one_knows() {
    let world = World::new();
    let (owner, member, outsider) = (world.owner(), world.member(), world.outsider());
    let (member_id, outsider_id) = (member.id().await, outsider.id().await);
    let suggested = async || -> Vec<AccountId> {
        let all: Page<Suggestion> = owner.get("/api/v1/social/suggestions").await.ok();
        all.content.iter().map(|one| one.user_id).collect()
    };
    // A teammate first, then whoever is left.
    assert_eq!(suggested().await, [member_id, outsider_id]);
    let path = "/api/v1/social/suggestions?page_size=1&page=2";
    let second: Page<Suggestion> = owner.get(path).await.ok();
    assert_eq!(
        (second.content[0].user_id, second.total_elements),
        (outsider_id, 2)
    );
    follow(&owner, member_id).await;
    follow(&member, outsider_id).await;
    let all: Page<Suggestion> = owner.get("/api/v1/social/suggestions").await.ok();
    assert_eq!(all.content[0].mutual_connections, 1);
    assert_eq!(suggested().await, [outsider_id]);
    owner
        .post(&format!("/api/v1/social/mute/{outsider_id}"), &json!({}))
        .await
        .done(200);
    assert!(suggested().await.is_empty());
}

#[tokio::test]
async fn a_tip_in_dollars_or_tokens_reaches_the_wallet() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let jar = profile(&member).await.tip_jar_id;
    let path = "/api/v1/social/tips";
    let response = owner
        .post(
            path,
            &json!({"tip_jar_id": jar, "amount": "4.99", "message": "thanks"}),
        )
        .await;
    response.done(201);
    let receipt: TipReceipt = response.ok();
    assert_eq!(receipt.amount.to_string(), "4.99");
    assert_eq!(receipt.recipient_name, "member");
    let body = json!({"tip_jar_id": jar, "amount": "1.00", "currency_type": "tokens",
        "token_amount": 250, "is_anonymous": true});
    owner.post(path, &body).await.done(201);
    let wallet: Wallet = member.get("/api/v1/payment/wallet").await.ok();
    assert_eq!(wallet.fiat_balance.to_string(), "4.99");
    assert_eq!(wallet.token_balance.to_string(), "2.50");
    let left: Wallet = owner.get("/api/v1/payment/wallet").await.ok();
    assert_eq!(left.token_balance.to_string(), "97.50");
    let notified: Page<Notification> = member.get("/api/v1/social/notifications").await.ok();
    assert_eq!(notified.content[0].data["sender_id"], json!(null));
    assert_eq!(
        notified.content[1].data["sender_id"],
        json!(owner.id().await)
    );
    // Of the two only the open one shows in a feed.
    follow(&world.outsider(), owner.id().await).await;
    let shown = feed(&world.outsider()).await;
    assert_eq!(shown.len(), 1);
    assert_eq!(shown[0].kind, FeedEntryKind::Tipped);
}

#[tokio::test]
async fn a_tip_is_refused_outside_its_bounds() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let jar = profile(&member).await.tip_jar_id;
    let own = profile(&owner).await.tip_jar_id;
    let path = "/api/v1/social/tips";
    for bad in [
        json!({"tip_jar_id": jar, "amount": "0.00"}),
        json!({"tip_jar_id": jar, "amount": "0.001"}),
        json!({"tip_jar_id": jar, "amount": "10000.01"}),
        json!({"tip_jar_id": jar, "amount": "-1.00"}),
        json!({"tip_jar_id": jar, "amount": "1.00", "currency_type": "tokens"}),
        json!({"tip_jar_id": jar, "amount": "1.00", "message": "x".repeat(1001)}),
        json!({"tip_jar_id": own, "amount": "1.00"}),
    ] {
        owner.post(path, &bad).await.failed(400);
    }
    owner
        .post(
            path,
            &json!({"tip_jar_id": Uuid::new_v4(), "amount": "1.00"}),
        )
        .await
        .failed(404);
    let body = json!({"tip_jar_id": jar, "amount": "1.00", "currency_type": "tokens", "token_amount": 10_001});
    owner.post(path, &body).await.failed(402);
    owner
        .post(path, &json!({"tip_jar_id": jar, "amount": "10000.00"}))
        .await
        .done(201);
    let wallet: Wallet = member.get("/api/v1/payment/wallet").await.ok();
    assert_eq!(wallet.fiat_balance.to_string(), "10000.00");
}

#[tokio::test]
async fn a_report_goes_to_moderation_alone() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let user = member.id().await;
    let path = "/api/v1/social/reports";
    let response = owner
        .post(
            path,
            &json!({"user_id": user, "reason": "spam", "details": "x"}),
        )
        .await;
    response.done(201);
    let report: Report = response.ok();
    assert_eq!(
        (report.user_id, report.status),
        (user, ReportState::Received)
    );
    let notified: Page<Notification> = member.get("/api/v1/social/notifications").await.ok();
    assert_eq!(notified.total_elements, 0);
    for bad in [
        json!({"user_id": user, "reason": "boring"}),
        json!({"user_id": user, "reason": "other", "details": "x".repeat(1001)}),
        json!({"user_id": owner.id().await, "reason": "other"}),
    ] {
        owner.post(path, &bad).await.failed(400);
    }
    owner
        .post(path, &json!({"user_id": Uuid::new_v4(), "reason": "other"}))
        .await
        .failed(404);
}

#[tokio::test]
async fn notifications_are_read_one_by_one() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let owner_id = owner.id().await;
    follow(&member, owner_id).await;
    follow(&world.outsider(), owner_id).await;
    let path = "/api/v1/social/notifications";
    let page: Page<Notification> = owner.get(&format!("{path}?limit=1")).await.ok();
    assert_eq!((page.content.len(), page.total_elements), (1, 2));
    let id = page.content[0].id;
    let read: Notification = owner
        .put(&format!("{path}/{id}/read"), &json!({}))
        .await
        .ok();
    assert!(read.read && read.read_at.is_some());
    let unread: Page<Notification> = owner
        .get(&format!("{path}?unread_only=true&limit=50"))
        .await
        .ok();
    assert_eq!(unread.total_elements, 1);
    assert_ne!(unread.content[0].id, id);
    member
        .put(&format!("{path}/{id}/read"), &json!({}))
        .await
        .failed(403);
    for bad in ["0", "101", "x"] {
        owner.get(&format!("{path}?limit={bad}")).await.failed(400);
    }
}
