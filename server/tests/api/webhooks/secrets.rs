//! The secrets that deliveries are signed with, and the day in which an old one still signs.

use super::{path, ready_webhook, signature, world};
use serde_json::{Value, json};

#[tokio::test]
async fn a_rotated_secret_signs_for_another_day_with_the_new_one_beside_it() {
    let world = world();
    let owner = world.owner();
    let (receiver, made) = ready_webhook(&world, &["file.uploaded"]).await;
    let rotated: Value = owner.post(&path(&made, "/rotate"), &json!({})).await.ok();
    let (old, new) = (
        made["secret"].as_str().unwrap(),
        rotated["secret"].as_str().unwrap(),
    );
    assert_ne!(old, new);
    assert_eq!(rotated["previous_secret_until"], "2026-01-02T00:00:00.000Z");
    owner.file(None, "a", "x").await;
    world.app.deliver_due().await.unwrap();
    let (headers, body) = receiver.requests().remove(0);
    let signatures = headers.get_all("x-service-signature");
    assert_eq!(
        signatures.iter().collect::<Vec<_>>(),
        [&signature(old, &body)]
    );
    assert_eq!(headers["x-service-signature-next"], signature(new, &body));

    world.app.source().advance(24 * 3600 * 1000);
    owner
        .post(&path(&made, "/test"), &json!({}))
        .await
        .done(202);
    world.app.deliver_due().await.unwrap();
    let (headers, body) = receiver.requests().remove(0);
    assert_eq!(headers["x-service-signature"], signature(new, &body));
    assert!(!headers.contains_key("x-service-signature-next"));
}

#[tokio::test]
async fn a_secret_that_is_rotated_twice_in_a_day_keeps_the_first_one_to_its_end() {
    let world = world();
    let owner = world.owner();
    let (receiver, made) = ready_webhook(&world, &["file.uploaded"]).await;
    let rotate = async || -> Value { owner.post(&path(&made, "/rotate"), &json!({})).await.ok() };
    let lost = rotate().await;
    world.app.source().advance(3600 * 1000);
    let latest = rotate().await;
    assert_eq!(latest["previous_secret_until"], "2026-01-02T00:00:00.000Z");
    owner.file(None, "a", "x").await;
    world.app.deliver_due().await.unwrap();
    let (headers, body) = receiver.requests().remove(0);
    let signed_with = |secret: &Value| signature(secret.as_str().unwrap(), &body);
    assert_eq!(headers["x-service-signature"], signed_with(&made["secret"]));
    assert_eq!(
        headers["x-service-signature-next"],
        signed_with(&latest["secret"])
    );
    assert_ne!(lost["secret"], latest["secret"]);

    world.app.source().advance(24 * 3600 * 1000);
    let next = rotate().await;
    assert_eq!(next["previous_secret_until"], "2026-01-03T01:00:00.000Z");
}
