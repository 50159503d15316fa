//! Comments, replies, and whose they are.

use super::world::{Caller, Draft, World};
use cairn_wire::Page;
use cairn_wire::comments::{Comment, Comments};
use cairn_wire::notifications::{Notification, NotificationKind};
use cairn_wire::teams::Team;
use serde_json::json;

#[tokio::test]
async fn comments_nest_and_are_counted() {
    let world = World::new();
    let owner = world.owner();
    let file = owner.file(None, "a.txt", "x").await;
    let path = format!("/api/v1/nodes/{}/comments", file.id);
    let response = owner.post(&path, &json!({"text": "first"})).await;
    response.done(201);
    let first: Comment = response.json();
    assert_eq!(
        (
            first.body.as_str(),
            first.author.email.as_str(),
            first.parent_id
        ),
        ("first", "owner@example.com", None)
    );
    let second: Comment = owner.post(&path, &json!({"text": "second"})).await.ok();
    let replies = format!("{path}/{}/replies", first.id);
    let reply: Comment = owner.post(&replies, &json!({"text": "reply"})).await.ok();
    assert_eq!(reply.parent_id, Some(first.id));
    let deeper: Comment = owner
        .post(
            &format!("{path}/{}/replies", reply.id),
            &json!({"text": "deeper"}),
        )
        .await
        .ok();
    let all: Comments = owner.get(&path).await.ok();
    assert_eq!(all.total, 4);
    assert_eq!(all.page.content.len(), 2);
    assert_eq!(all.page.content[0].replies[0].replies[0], deeper);
    assert_eq!(all.page.content[1], second);

    // Pages count threads, and each has all of its replies.
    let paged: Comments = owner.get(&format!("{path}?page_size=1")).await.ok();
    assert_eq!(paged.page.content, all.page.content[..1]);
    assert_eq!(
        (
            paged.page.total_elements,
            paged.page.total_pages,
            paged.total
        ),
        (2, 2, 4)
    );
    let paged: Comments = owner.get(&format!("{path}?page_size=1&page=2")).await.ok();
    assert_eq!(paged.page.content, all.page.content[1..]);

    // Whoever sees the file sees a comment by its id, without the replies.
    let one: Comment = owner
        .get(&format!("/api/v1/comments/{}", first.id))
        .await
        .ok();
    assert_eq!((one.body, one.replies), (first.body.clone(), Vec::new()));
    let stranger = world.outsider();
    stranger
        .get(&format!("/api/v1/comments/{}", first.id))
        .await
        .failed(403);

    // The place of an answered comment stays until the last answer goes.
    owner
        .delete(&format!("/api/v1/comments/{}", first.id))
        .await
        .done(204);
    let left: Comments = owner.get(&path).await.ok();
    assert_eq!(left.total, 3);
    assert!(left.page.content[0].deleted && left.page.content[0].body.is_empty());
    owner
        .post(&replies, &json!({"text": "late"}))
        .await
        .failed(404);
    owner
        .delete(&format!("/api/v1/comments/{}", first.id))
        .await
        .failed(404);
    owner
        .get(&format!("/api/v1/comments/{}", first.id))
        .await
        .failed(404);
    for id in [reply.id, deeper.id] {
        owner
            .delete(&format!("/api/v1/comments/{id}"))
            .await
            .done(204);
    }
    assert_eq!(
        owner.get(&path).await.ok::<Comments>().page.content,
        [second]
    );
}

#[tokio::test]
async fn a_text_has_bounds_and_what_is_others_is_not_there() {
    let world = World::new();
    let (owner, outsider) = (world.owner(), world.outsider());
    let file = owner.file(None, "a.txt", "x").await;
    let other = owner.file(None, "b.txt", "x").await;
    let path = format!("/api/v1/nodes/{}/comments", file.id);
    for bad in ["", "  ", &"x".repeat(5001)] {
        owner.post(&path, &json!({"text": bad})).await.failed(400);
    }
    let long = "é".repeat(5000);
    let written: Comment = owner.post(&path, &json!({"text": long})).await.ok();
    outsider.get(&path).await.failed(403);
    outsider
        .post(&path, &json!({"text": "hi"}))
        .await
        .failed(403);
    outsider
        .delete(&format!("/api/v1/comments/{}", written.id))
        .await
        .failed(403);
    let elsewhere = format!("/api/v1/nodes/{}/comments/{}/replies", other.id, written.id);
    owner
        .post(&elsewhere, &json!({"text": "hi"}))
        .await
        .failed(404);
    let mut at = written.id;
    for _ in 0..19 {
        let reply: Comment = owner
            .post(&format!("{path}/{at}/replies"), &json!({"text": "down"}))
            .await
            .ok();
        at = reply.id;
    }
    owner
        .post(
            &format!("{path}/{at}/replies"),
            &json!({"text": "too deep"}),
        )
        .await
        .failed(400);
}

#[tokio::test]
async fn whose_file_it_is_hears_of_comments_on_it_in_a_team_as_well() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let teams: Page<Team> = owner.get("/api/v1/teams").await.ok();
    let space = teams.content[0].space_id;
    let (here, there) = (owner.in_space(space), member.in_space(space));
    let file = here.file(None, "a", "x").await;
    let comment = async |who: &Caller| {
        let path = format!("/api/v1/nodes/{}/comments", file.id);
        who.post(&path, &json!({"text": "hi"})).await.done(201);
    };
    let heard = async |who: &Caller| -> u64 {
        let all: Page<Notification> = who.get("/api/v1/social/notifications").await.ok();
        all.content
            .iter()
            .filter(|one| one.kind == NotificationKind::Comment)
            .count() as u64
    };
    comment(&there).await;
    assert_eq!((heard(&owner).await, heard(&member).await), (1, 0));
    // Both who made it and who changed it last.
    there.upload(&Draft::of(&file, "y")).await.done(200);
    comment(&here).await;
    assert_eq!((heard(&owner).await, heard(&member).await), (1, 1));
    comment(&there).await;
    assert_eq!((heard(&owner).await, heard(&member).await), (2, 1));
}

#[tokio::test]
async fn a_comment_in_a_team_is_deleted_without_naming_the_space() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let teams: Page<Team> = owner.get("/api/v1/teams").await.ok();
    let team = &teams.content[0];
    let there = member.in_space(team.space_id);
    let file = there.file(None, "a", "x").await;
    let path = format!("/api/v1/nodes/{}/comments", file.id);
    let mut written = Vec::new();
    for text in ["first", "second"] {
        let comment: Comment = there.post(&path, &json!({"text": text})).await.ok();
        written.push(format!("/api/v1/comments/{}", comment.id));
    }
    owner.delete(&written[0]).await.failed(403);
    world.outsider().delete(&written[0]).await.failed(403);
    member.delete(&written[0]).await.done(204);
    // Who has left has no part in what is said there any more.
    let leave = format!("/api/v1/teams/{}/members/{}", team.id, member.id().await);
    member.delete(&leave).await.done(204);
    member.delete(&written[1]).await.failed(403);
    let left: Comments = owner.in_space(team.space_id).get(&path).await.ok();
    assert_eq!(
        (left.total, left.page.content[0].body.as_str()),
        (1, "second")
    );
}

#[tokio::test]
async fn replies_outlive_the_account_that_they_answer() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let teams: Page<Team> = owner.get("/api/v1/teams").await.ok();
    let space = teams.content[0].space_id;
    let (here, there) = (owner.in_space(space), member.in_space(space));
    let file = here.file(None, "a", "x").await;
    let path = format!("/api/v1/nodes/{}/comments", file.id);
    let answered: Comment = there.post(&path, &json!({"text": "question"})).await.ok();
    let reply: Comment = here
        .post(
            &format!("{path}/{}/replies", answered.id),
            &json!({"text": "reply"}),
        )
        .await
        .ok();
    there.post(&path, &json!({"text": "alone"})).await.done(201);
    world.app.delete_user("member@example.com").await.unwrap();
    let left: Comments = here.get(&path).await.ok();
    assert_eq!((left.total, left.page.content.len()), (1, 1));
    let place = &left.page.content[0];
    assert!(place.deleted && place.body.is_empty() && place.author.email.is_empty());
    assert_eq!(place.replies, [reply]);
}
