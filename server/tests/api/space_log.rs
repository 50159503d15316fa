//! The signed log of a space (in which devices sign every change, docs/design/format-2.md) over HTTP: commits of honest
//! devices, each refusal and what comes with it, and objects.

mod concurrent;
mod damage;
mod objects;
mod refusals;
#[path = "../../store/src/space_log/tests/writer.rs"]
mod writer;

use super::quota::quota;
use super::world::{Caller, TestResponse, World};
use axum::http::Method;
use cairn_log::{
    CommitRequest, CommitResponse, LogPage, ManifestObjects, NodeOp, ObjectId, Proof, Refusal,
    SnapshotPage, decode_snapshot, hash_leaf, verify_consistency, verify_inclusion,
};
use cairn_model::SpaceId;
use cairn_wire::ErrorBody;
use cairn_wire::account::AccountInfo;
use cairn_wire::teams::Team;
use cairn_wire::{Page, nodes::Node};
use writer::{Writer, bytes, node};

/// Somebody's view of a log.
struct Client {
    caller: Caller,
    space: SpaceId,
}

impl Client {
    /// The caller's own space.
    async fn own(caller: Caller) -> Self {
        let info: AccountInfo = caller.get("/api/v1/useraccount/composite").await.ok();
        Self {
            space: info.space_id,
            caller,
        }
    }

    fn path(&self, rest: &str) -> String {
        format!("/api/v1/spaces/{}/{rest}", self.space)
    }

    async fn get(&self, rest: &str) -> TestResponse {
        self.caller.get(&self.path(rest)).await
    }

    async fn page(&self, from: u64) -> LogPage {
        let response = self.get(&format!("log?from={from}")).await;
        response.done(200);
        assert_eq!(response.header("content-type"), "application/octet-stream");
        LogPage::decode(&response.body).unwrap()
    }

    async fn send(&self, commit: &[u8], manifests: &[ManifestObjects]) -> TestResponse {
        let request = CommitRequest {
            commit: commit.to_vec(),
            manifests: manifests.to_vec(),
        };
        let path = self.path("commits");
        self.caller
            .send(Method::POST, &path, &[], request.encode())
            .await
    }

    /// Sends a commit that the server takes, and reads what came with it.
    async fn write(&self, writer: &mut Writer, statements: Vec<Vec<u8>>) -> u64 {
        let commit = writer.commit(statements);
        self.write_commit(writer, &commit).await
    }

    async fn write_commit(&self, writer: &mut Writer, commit: &[u8]) -> u64 {
        let response = self.send(commit, &[]).await;
        response.done(200);
        match CommitResponse::decode(&response.body).unwrap() {
            CommitResponse::Accepted { position, page } => {
                writer.read(&page);
                position
            }
            CommitResponse::Refused { refusal, .. } => panic!("{refusal}"),
        }
    }

    /// Sends a commit that the server refuses; returns why, and what it says that the device missed.
    async fn send_refused(&self, commit: &[u8]) -> (Refusal, LogPage) {
        let response = self.send(commit, &[]).await;
        response.done(409);
        assert_eq!(response.header("content-type"), "application/octet-stream");
        match CommitResponse::decode(&response.body).unwrap() {
            CommitResponse::Refused { refusal, page } => (refusal, page),
            CommitResponse::Accepted { .. } => panic!("it was taken"),
        }
    }

    /// Writes the first commit of the space's log, with device 1 of the caller's account.
    async fn found_space(&self) -> Writer {
        let page = self.page(0).await;
        assert_eq!((page.size, &page.frames[..]), (0, &[][..]));
        let mut writer = Writer::new(self.space, self.caller.id().await, page.history);
        let commit = writer.first_commit();
        assert_eq!(self.write_commit(&mut writer, &commit).await, 0);
        writer
    }
}

async fn found_own_space(world: &World) -> (Client, Writer) {
    let client = Client::own(world.owner()).await;
    let writer = client.found_space().await;
    (client, writer)
}

#[tokio::test]
async fn two_devices_write_one_history() {
    let world = World::new();
    let (client, mut first) = found_own_space(&world).await;
    let list = first.control(first.list(2, &[1, 2]));
    client.write(&mut first, vec![list]).await;
    let mut second = first.device(2);
    let folder = bytes(first.folder(node(1), None, "plans"));
    client.write(&mut first, vec![folder]).await;
    // The second device hasn't read the folder; what it missed comes with the answer.
    let other = bytes(second.folder(node(2), None, "photos"));
    assert_eq!(client.write(&mut second, vec![other]).await, 3);
    let mut moved = second.next(node(1), NodeOp::Place);
    (moved.parent, moved.name) = (Some(node(2)), b"2026".to_vec());
    client.write(&mut second, vec![bytes(moved)]).await;
    let (from, _) = first.state.head();
    first.read(&client.page(from).await);
    assert_eq!(first.state.core(), second.state.core());
    assert_eq!(first.state.statement(node(1)).unwrap().name, b"2026");
    // Somebody who comes new reads the same.
    let page = client.page(0).await;
    let mut reader = Writer::new(client.space, client.caller.id().await, page.history);
    reader.read(&page);
    assert_eq!(reader.state.core(), first.state.core());
}

#[tokio::test]
async fn proofs_and_snapshots_hold_against_the_log() {
    let world = World::new();
    let (client, mut writer) = found_own_space(&world).await;
    let mut heads = vec![writer.state.head()];
    for n in 1..=69 {
        let folder = bytes(writer.folder(node(n), None, &format!("folder {n}")));
        client.write(&mut writer, vec![folder]).await;
        heads.push(writer.state.head());
    }
    let (size, root) = writer.state.head();
    for (from, old) in &heads {
        let response = client.get(&format!("proof?from={from}")).await;
        response.done(200);
        let proof = Proof::decode(&response.body).unwrap();
        assert_eq!(proof.size, size);
        assert!(verify_consistency((*from, old), (size, &root), &proof.path).is_ok());
    }
    for position in [0, 1, 63, 64, 69] {
        let response = client.get(&format!("proof?position={position}")).await;
        let proof = Proof::decode(&response.body).unwrap();
        let leaf = hash_leaf(&proof.leaf.unwrap());
        assert!(verify_inclusion(&leaf, position, size, &proof.path, &root).is_ok());
    }
    client.get("proof").await.failed(400);
    client.get("proof?from=1&position=1").await.failed(400);
    client.get("proof?from=1&size=1000").await.failed(400);
    client.get("proof?position=70").await.failed(400);
    let snapshot = client.get("snapshot?size=64").await;
    snapshot.done(200);
    let page = SnapshotPage::decode(&snapshot.body).unwrap();
    assert_eq!(page.next, None);
    let (items, _) = decode_snapshot(&page.items).unwrap();
    // Beside the folders, the chain of the space and that of the account.
    assert_eq!(items.len(), 63 + 2);
    client.get("snapshot?size=65").await.failed(404);
    client.get("snapshot?size=64&after=zz").await.failed(400);
    client
        .get(&format!("snapshot?size=64&after={}", "f".repeat(32)))
        .await
        .failed(400);
    let last = format!("snapshot?size=64&after={}", "f".repeat(34));
    let page = SnapshotPage::decode(&client.get(&last).await.body).unwrap();
    assert!(page.items.is_empty() && page.next.is_none());
}

#[tokio::test]
async fn who_has_no_part_in_a_space_has_none_in_its_log() {
    let world = World::new();
    let (client, mut writer) = found_own_space(&world).await;
    let commit = writer.commit(vec![bytes(writer.folder(node(1), None, "a"))]);
    for (caller, status) in [(world.outsider(), 403), (world.nobody(), 401)] {
        let other = Client {
            caller,
            space: client.space,
        };
        other.send(&commit, &[]).await.failed(status);
        let object = format!("objects/{}?sha256={}", "0".repeat(64), "0".repeat(64));
        for path in ["log", "proof?from=0", "snapshot?size=64", &object] {
            other.get(path).await.failed(status);
        }
    }
    let nowhere = Client {
        caller: world.owner(),
        space: SpaceId::from_random_bytes([7; 16]),
    };
    nowhere.get("log").await.failed(404);
    let response = client.send(&commit, &[]).await;
    response.done(200);
}

#[tokio::test]
async fn a_teams_log_is_begun_by_its_owner_and_read_by_its_members() {
    let world = World::new();
    let page: Page<Team> = world.owner().get("/api/v1/teams").await.ok();
    let space = page.content[0].space_id;
    let as_team = |caller: Caller| Client { caller, space };
    let (owner, member) = (as_team(world.owner()), as_team(world.member()));
    let history = member.page(0).await.history;
    let mut writer = Writer::new(space, member.caller.id().await, history);
    let commit = writer.first_commit();
    member.send(&commit, &[]).await.failed(403);
    let mut writer = owner.found_space().await;
    let page = member.page(0).await;
    assert_eq!((page.size, page.root), writer.state.head());
    // The service lets members write, the roster doesn't know this one yet.
    let folder = bytes(writer.folder(node(1), None, "a"));
    let mut stranger = Writer::new(space, member.caller.id().await, history);
    stranger.read(&page);
    let commit = stranger.commit(vec![folder.clone()]);
    assert_eq!(member.send_refused(&commit).await.0, Refusal::Device);
    // And nobody sends what another account's device has signed.
    let commit = writer.commit(vec![folder]);
    member.send(&commit, &[]).await.failed(403);
    owner.send(&commit, &[]).await.done(200);
}

#[tokio::test]
async fn a_space_with_a_log_is_changed_by_commits_only() {
    let world = World::new();
    let client = Client::own(world.owner()).await;
    let made: Node = world.owner().folder(None, "before").await;
    let page = client.page(0).await;
    let mut writer = Writer::new(client.space, client.caller.id().await, page.history);
    let commit = writer.first_commit();
    let message = client.send(&commit, &[]).await.failed(409);
    assert!(message.contains("empty"), "{message}");
    let owner = world.owner();
    owner
        .delete(&format!("/api/v1/nodes/{}", made.id))
        .await
        .done(200);
    owner.delete("/api/v1/trash").await.done(200);
    client.send(&commit, &[]).await.done(200);
    let folder = serde_json::json!({"kind": "folder", "name": "after"});
    let refused = owner.post("/api/v1/nodes", &folder).await;
    assert!(refused.failed(409).contains("signed log"));
    let draft = super::world::Draft::new("a.txt", "a");
    let refused = owner.post("/api/v1/uploads", &draft.create()).await;
    assert!(refused.failed(409).contains("signed log"));
    let used = quota(&owner).await;
    let before = (used.storage_used, used.file_count);
    let drafts = [draft, super::world::Draft::new("empty", "").chunks(&[])];
    let results = super::upload_batch::upload(&owner, &drafts).await;
    assert!(results.results.iter().all(|result| result.status == 409));
    let used = quota(&owner).await;
    assert_eq!(
        (used.storage_used, used.file_count),
        before,
        "nothing is left of the batch"
    );
    let nodes: Page<Node> = owner.get("/api/v1/nodes").await.ok();
    assert_eq!(nodes.total_elements, 0);
}

#[tokio::test]
async fn a_server_that_is_none_for_development_keeps_no_logs() {
    let app = cairn_server::build(cairn_server::Options::ephemeral()).unwrap();
    app.add_user("a@example.com", "x").unwrap();
    let key = app.create_api_key("a@example.com").unwrap();
    let space = SpaceId::from_random_bytes([7; 16]);
    let request = axum::http::Request::builder()
        .uri(format!("/api/v1/spaces/{space}/log"))
        .header("authorization", format!("Bearer {key}"))
        .body(axum::body::Body::empty())
        .unwrap();
    let response = tower::ServiceExt::oneshot(app.router(), request)
        .await
        .unwrap();
    assert_eq!(response.status(), 404);
    let body = axum::body::to_bytes(response.into_body(), 4096)
        .await
        .unwrap();
    let text = std::str::from_utf8(&body).unwrap();
    assert!(text.contains("keeps no signed logs"), "{text}");
}

#[tokio::test]
async fn a_server_keeps_logs_where_its_configuration_says_so() {
    let app = cairn_server::build(cairn_server::Options {
        signed_logs: true,
        ..cairn_server::Options::ephemeral()
    })
    .unwrap();
    app.add_user("a@example.com", "x").unwrap();
    let key = app.create_api_key("a@example.com").unwrap();
    let world = World::around(app);
    let client = Client::own(world.caller(Some(&key))).await;
    let writer = client.found_space().await;
    assert_eq!(writer.state.head().0, 1);
}
