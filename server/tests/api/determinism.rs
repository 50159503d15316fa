//! The same seed and the same requests give the same responses, byte for byte.

use super::world::{Draft, World};
use cairn_model::{NodeId, RevisionId};
use cairn_server::Options;
use serde_json::json;
use uuid::Uuid;

async fn responses(seed: u64) -> Vec<(u16, Vec<(String, String)>, Vec<u8>)> {
    let world = World::with_seed(Options::ephemeral(), seed);
    let owner = world.owner();
    let draft = Draft {
        node: NodeId(Uuid::from_bytes([1; 16])),
        revision: RevisionId(Uuid::from_bytes([2; 16])),
        ..Draft::new("f", "content")
    };
    let responses = vec![
        owner
            .post("/api/v1/nodes", &json!({"kind": "folder", "name": "a"}))
            .await,
        owner.post("/api/v1/uploads", &draft.create()).await,
        owner.upload(&draft).await,
        owner
            .post(
                &format!("/api/v1/nodes/{}/copy", draft.node),
                &json!({"name": "g"}),
            )
            .await,
        owner.post("/api/v1/apikeys", &json!({"name": "k"})).await,
        owner.get("/api/v1/changes").await,
        owner.get("/api/v1/changes/snapshot").await,
        owner.get("/api/v1/useraccount/composite").await,
        owner.get("/nothing").await,
    ];
    responses
        .into_iter()
        .map(|response| {
            let headers = response
                .headers
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
            (
                response.status.as_u16(),
                headers.collect(),
                response.body.to_vec(),
            )
        })
        .collect()
}

#[test]
fn a_run_can_be_repeated_without_timers_or_threads() {
    // A bare executor: anything that needed the runtime would panic.
    let run = |seed| run_to_end(responses(seed));
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}

/// Polls on this thread alone, with a waker that does nothing.
fn run_to_end<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    for _ in 0..10_000 {
        if let std::task::Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
    panic!("the server waits for something outside itself");
}
