//! The change feed (each file and folder once, in the order of its latest change) as server-sent events.

use super::world::{Caller, World};
use axum::body::{Body, BodyDataStream};
use axum::http::Method;
use cairn_server::Options;
use cairn_wire::changes::{Changes, FeedMoved};
use futures_util::StreamExt as _;
use serde_json::json;
use std::time::Duration;

/// Reads events off a stream, one after the other.
struct Events {
    body: BodyDataStream,
    text: String,
}

#[derive(Debug)]
struct Event {
    name: String,
    id: String,
    data: String,
    comment: bool,
}

impl Events {
    async fn open(who: &Caller, query: &str, headers: &[(&str, &str)]) -> Self {
        let path = format!("/api/v1/changes/stream{query}");
        let response = who.open(Method::GET, &path, headers, Body::empty()).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self {
            body: response.into_body().into_data_stream(),
            text: String::new(),
        }
    }

    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    let lines = block.lines().filter_map(|line| line.strip_prefix(name));
                    lines
                        .map(|value| value.trim_start_matches(": ").to_owned())
                        .collect::<Vec<_>>()
                        .join("\n")
                };
                let event = Event {
                    name: field("event"),
                    id: field("id"),
                    data: field("data"),
                    comment: block.starts_with(':'),
                };
                self.text = rest.to_owned();
                return Some(event);
            }
            let piece = self.body.next().await?.unwrap();
            self.text.push_str(std::str::from_utf8(&piece).unwrap());
        }
    }

    async fn next_change(&mut self) -> FeedMoved {
        let event = self.next().await.unwrap();
        assert_eq!(event.name, "change");
        let moved: FeedMoved = serde_json::from_str(&event.data).unwrap();
        assert_eq!(event.id, moved.cursor.0);
        moved
    }
}

#[tokio::test]
async fn a_bare_stream_tells_positions_only() {
    let world = World::new();
    let owner = world.owner();
    let mut events = Events::open(&owner, "?bare=true", &[]).await;
    owner.folder(None, "a").await;
    let moved = events.next_change().await;
    assert_eq!(moved.changes, []);
    let now: Changes = owner.get("/api/v1/changes").await.ok();
    assert_eq!(now.cursor, moved.cursor);
}

#[tokio::test]
async fn changes_arrive_as_they_happen_and_bursts_are_one_event() {
    let world = World::new();
    let owner = world.owner();
    owner.folder(None, "before").await;
    let mut events = Events::open(&owner, "", &[]).await;
    let a = owner.folder(None, "a").await;
    let moved = events.next_change().await;
    assert_eq!(
        moved
            .changes
            .iter()
            .map(|change| change.node_id)
            .collect::<Vec<_>>(),
        [a.id]
    );
    let operations: Vec<_> = (0..50)
        .map(|n| json!({"op": "create_folder", "name": format!("f{n}")}))
        .collect();
    owner
        .post("/api/v1/nodes/batch", &json!({ "operations": operations }))
        .await
        .done(200);
    owner.folder(None, "and one more").await;
    let moved = events.next_change().await;
    assert_eq!(moved.changes.len(), 51);
    let feed: Changes = owner.get("/api/v1/changes").await.ok();
    assert_eq!(moved.cursor, feed.cursor);
}

#[tokio::test]
async fn a_stream_resumes_where_it_was_cut() {
    let world = World::new();
    let owner = world.owner();
    owner.folder(None, "a").await;
    let seen = owner.get("/api/v1/changes").await.ok::<Changes>().cursor;
    let b = owner.folder(None, "b").await;
    let by_query = format!("?cursor={seen}");
    for (query, headers) in [
        (by_query.as_str(), vec![]),
        ("", vec![("last-event-id", seen.0.as_str())]),
    ] {
        let mut events = Events::open(&owner, query, &headers).await;
        let moved = events.next_change().await;
        assert_eq!(
            moved
                .changes
                .iter()
                .map(|change| change.node_id)
                .collect::<Vec<_>>(),
            [b.id]
        );
    }
    owner
        .get("/api/v1/changes/stream?cursor=nonsense")
        .await
        .failed(400);
    owner
        .get("/api/v1/changes/stream?cursor=other.1.0")
        .await
        .failed(410);
    world
        .nobody()
        .get("/api/v1/changes/stream")
        .await
        .failed(401);
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_has_a_heartbeat() {
    let world = World::new();
    let mut events = Events::open(&world.owner(), "", &[]).await;
    let begun = tokio::time::Instant::now();
    for beat in 1..=2 {
        assert!(events.next().await.unwrap().comment);
        assert_eq!(begun.elapsed().as_secs(), 25 * beat);
    }
}

#[tokio::test]
async fn others_are_not_heard() {
    let world = World::new();
    let mut events = Events::open(&world.owner(), "", &[]).await;
    world.outsider().folder(None, "theirs").await;
    let own = world.owner().folder(None, "own").await;
    assert_eq!(events.next_change().await.changes[0].node_id, own.id);
}

#[tokio::test]
async fn streams_end_with_the_server_and_with_its_history() {
    let world = World::new();
    let mut first = Events::open(&world.owner(), "", &[]).await;
    world
        .nobody()
        .post("/_dev/reset", &json!({}))
        .await
        .done(204);
    assert!(first.next().await.is_none());
    let mut second = Events::open(&world.owner(), "", &[]).await;
    world.app.close();
    assert!(second.next().await.is_none());
}

/// Reads up to the end of a stream, over heartbeats alone.
async fn ends_unheard(mut events: Events) {
    while let Some(event) = events.next().await {
        assert!(event.comment, "{event:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_with_its_credential() {
    let world = World::new();
    let disabled = Events::open(&world.owner(), "", &[]).await;
    world
        .app
        .set_user_disabled("owner@example.com", true)
        .unwrap();
    ends_unheard(disabled).await;

    let outsider = world.outsider();
    let revoked = Events::open(&outsider, "", &[]).await;
    for key in world.app.user_keys("outsider@example.com").unwrap() {
        world
            .app
            .revoke_user_key("outsider@example.com", &key.id.to_string())
            .unwrap();
    }
    ends_unheard(revoked).await;
}

#[tokio::test]
async fn a_stream_hears_nothing_that_came_after_its_credential_ended() {
    let world = World::new();
    let owner = world.owner();
    let mut events = Events::open(&owner, "", &[]).await;
    let (secret, _) = world
        .app
        .add_user_key("owner@example.com", "second")
        .unwrap();
    let second = world.caller(Some(&secret));
    for key in world.app.user_keys("owner@example.com").unwrap() {
        if key.name != "second" {
            world
                .app
                .revoke_user_key("owner@example.com", &key.id.to_string())
                .unwrap();
        }
    }
    second.folder(None, "later").await;
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn a_stream_ends_when_its_access_token_expires() {
    let world = World::new();
    let tokens = super::identity::log_in_as(&world, "owner@example.com", "owner").await;
    let holder = world.caller(Some(&tokens.access_token));
    let mut events = Events::open(&holder, "", &[]).await;
    world.app.source().advance(599_000);
    world.owner().folder(None, "a").await;
    events.next_change().await;
    world.app.source().advance(1_000);
    world.owner().folder(None, "b").await;
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn a_thousand_listeners_get_one_change() {
    let mut options = Options::ephemeral();
    options.connections.streams = 1_000;
    let world = World::with(options);
    let owner = world.owner();
    let mut listeners = Vec::new();
    for _ in 0..1_000 {
        listeners.push(Events::open(&owner, "", &[]).await);
    }
    let folder = owner.folder(None, "a").await;
    for events in &mut listeners {
        let moved = tokio::time::timeout(Duration::from_secs(30), events.next_change())
            .await
            .unwrap();
        assert_eq!(moved.changes[0].node_id, folder.id);
    }
}

#[tokio::test]
async fn an_account_has_only_so_many_streams_open() {
    let mut options = Options::ephemeral();
    options.connections.streams = 2;
    let world = World::with(options);
    let owner = world.owner();
    let first = Events::open(&owner, "", &[]).await;
    let _second = Events::open(&owner, "", &[]).await;
    let refused = owner.get("/api/v1/changes/stream").await;
    refused.failed(429);
    assert_eq!(refused.header("retry-after"), "30");
    let _other = Events::open(&world.outsider(), "", &[]).await;
    drop(first);
    let _third = Events::open(&owner, "", &[]).await;
}
