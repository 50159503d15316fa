//! Objects (encrypted blobs) that commits of a signed log refer to, over HTTP.

use super::*;
use sha2::{Digest as _, Sha256};

impl Client {
    async fn object(&self, method: Method, id: u8, sha256: &str, body: &[u8]) -> TestResponse {
        let id = hex::encode([id; 32]);
        let path = self.path(&format!("objects/{id}?sha256={sha256}"));
        self.caller.send(method, &path, &[], body.to_vec()).await
    }

    pub(super) async fn put(&self, id: u8, body: &[u8]) -> TestResponse {
        self.object(Method::PUT, id, &sha256(body), body).await
    }

    pub(super) async fn has(&self, id: u8, body: &[u8]) -> bool {
        let response = self.object(Method::HEAD, id, &sha256(body), b"").await;
        match response.status.as_u16() {
            204 => true,
            404 => false,
            other => panic!("{other}"),
        }
    }
}

fn sha256(body: &[u8]) -> String {
    hex::encode(Sha256::digest(body))
}

#[tokio::test]
async fn an_object_is_sent_before_or_with_its_commit() {
    let world = World::new();
    let (client, mut writer) = found_own_space(&world).await;
    let file = bytes(writer.file(node(1), "a.txt", [1; 32]));
    let commit = writer.commit(vec![file]);
    let message = client.send(&commit, &[]).await.failed(409);
    assert!(message.contains(&hex::encode([1; 32])), "{message}");
    assert!(!client.has(1, b"sealed").await);
    client.put(1, b"sealed").await.done(204);
    client.put(2, b"a chunk").await.done(204);
    assert!(client.has(1, b"sealed").await && !client.has(1, b"other").await);
    let list = ManifestObjects {
        manifest: ObjectId([1; 32]),
        objects: vec![ObjectId([2; 32])],
    };
    client.send(&commit, &[list]).await.done(200);
    for (id, body) in [(1, "sealed"), (2, "a chunk")] {
        let response = client
            .get(&format!("objects/{}", hex::encode([id; 32])))
            .await;
        response.done(200);
        assert_eq!(response.body, body);
    }
    // It survives a refusal, and nothing replaces it.
    assert_eq!(client.send_refused(&commit).await.0, Refusal::Own);
    client.put(1, b"other").await.failed(409);
    client.put(1, b"sealed").await.done(204);
    assert!(client.has(1, b"sealed").await);
}

#[tokio::test]
async fn bytes_are_checked_as_they_come_in() {
    let world = World::new();
    let (client, _) = found_own_space(&world).await;
    for wrong in [&sha256(b"other"), "zz"] {
        let response = client.object(Method::PUT, 1, wrong, b"a").await;
        response.failed(400);
    }
    client.get("objects/zz").await.failed(404);
    let missing = format!("objects/{}", hex::encode([9; 32]));
    client.get(&missing).await.failed(404);
    let body = vec![0; cairn_log::MAX_OBJECT + 1];
    client.put(3, &body).await.failed(413);
}

#[tokio::test]
async fn a_repeated_commit_is_checked_again() {
    let world = World::new();
    let (client, mut writer) = found_own_space(&world).await;
    let file = bytes(writer.file(node(1), "a.txt", [1; 32]));
    let request = CommitRequest {
        commit: writer.commit(vec![file]),
        manifests: Vec::new(),
    };
    let (path, body) = (client.path("commits"), request.encode());
    let key = [("idempotency-key", "the same")];
    let send = || client.caller.send(Method::POST, &path, &key, body.clone());
    send().await.failed(409);
    client.put(1, b"sealed").await.done(204);
    send().await.done(200);
}
