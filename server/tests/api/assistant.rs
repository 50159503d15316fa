//! The assistant's stream, its cost, the classification of folders and the check before it; and the diagnoses.

use super::world::World;
use cairn_wire::ai::{AiUsage, ClassifiedFolder};
use cairn_wire::diagnostics::{CheckResult, EncryptionDiagnosis, UploadDiagnosis};
use cairn_wire::nodes::Node;
use cairn_wire::payments::{Plan, TokenBalance};
use serde_json::{Value, json};

/// Name and data of each event of a whole stream.
fn events(body: &[u8]) -> Vec<(String, Value)> {
    let text = std::str::from_utf8(body).unwrap();
    text.split("\n\n")
        .filter(|event| !event.trim().is_empty())
        .map(|event| {
            let field = |name: &str| {
                event
                    .lines()
                    .find_map(|line| line.strip_prefix(name))
                    .unwrap()
                    .trim()
                    .to_owned()
            };
            (
                field("event:"),
                serde_json::from_str(&field("data:")).unwrap(),
            )
        })
        .collect()
}

#[tokio::test]
async fn an_answer_streams_and_is_counted() {
    let world = World::new();
    let owner = world.owner();
    owner.file(None, "film.mp4", "12345").await;
    let ask = json!({"message": "What are my largest files?"});
    let answer = owner.post("/api/v1/ai/chat", &ask).await;
    answer.done(200);
    assert_eq!(answer.header("content-type"), "text/event-stream");
    let stream = events(&answer.body);
    let text: String = stream
        .iter()
        .filter(|(name, _)| name == "delta")
        .map(|(_, data)| data["text"].as_str().unwrap())
        .collect();
    assert_eq!(
        text,
        "Your largest files are:\n- film.mp4 (5 B, 2026-01-01)"
    );
    let [.., (usage, tokens), (done, conversation)] = &stream[..] else {
        panic!("{stream:?}")
    };
    assert_eq!((usage.as_str(), done.as_str()), ("usage", "done"));
    let id = conversation["conversation_id"].clone();
    let again = owner
        .post(
            "/api/v1/ai/chat",
            &json!({"message": "What are my largest files?", "conversation_id": id}),
        )
        .await;
    assert_eq!(
        events(&again.body),
        stream,
        "the same question, the same answer"
    );
    let used: AiUsage = owner.get("/api/v1/ai/usage").await.ok();
    assert_eq!(used.tokens_used, 2 * tokens["tokens"].as_u64().unwrap());
    assert_eq!(
        (used.period.as_str(), used.plan),
        ("2026-01", Plan::Standard)
    );
    assert_eq!(used.breakdown["chat"].requests, 2);
    assert_eq!((used.included_tokens, used.cost.as_str()), (500, "0.00"));
    for bad in [
        json!({"message": " "}),
        json!({"message": "x".repeat(4001)}),
        json!({}),
    ] {
        owner.post("/api/v1/ai/chat", &bad).await.failed(400);
    }
    let other: AiUsage = world.outsider().get("/api/v1/ai/usage").await.ok();
    assert_eq!((other.tokens_used, other.cost.as_str()), (0, "0.00"));
    world.app.source().advance(31 * 86_400_000);
    assert_eq!(
        owner
            .get("/api/v1/ai/usage")
            .await
            .ok::<AiUsage>()
            .tokens_used,
        0
    );
}

#[tokio::test]
async fn tokens_come_from_the_plan_and_then_from_what_was_bought() {
    let world = World::new();
    let owner = world.owner();
    let ask = json!({"message": "x".repeat(600)});
    let chat = async || owner.post("/api/v1/ai/chat", &ask).await;
    let books = async || -> (AiUsage, TokenBalance) {
        let used = owner.get("/api/v1/ai/usage").await.ok();
        (used, owner.get("/api/v1/payment/tokens/balance").await.ok())
    };
    let mut answer = chat().await;
    while answer.status == 200 {
        answer = chat().await;
    }
    let message = answer.failed(402);
    assert!(message.contains("buy a pack"), "{message}");
    let (used, balance) = books().await;
    assert_eq!((balance.used, used.purchased_tokens_used), (0, 0));
    assert_eq!(
        used.tokens_used + u64::try_from(balance.included).unwrap(),
        500
    );

    let pack = json!({"pack": "starter"});
    owner
        .post("/api/v1/payment/tokens/purchase", &pack)
        .await
        .done(201);
    chat().await.done(200);
    let (used, balance) = books().await;
    assert_eq!(balance.included, 0);
    assert!(balance.used > 0 && used.cost != "0.00");
    assert_eq!(
        used.purchased_tokens_used,
        u64::try_from(balance.used).unwrap()
    );
    assert_eq!(used.tokens_used, 500 + used.purchased_tokens_used);
    assert_eq!(balance.balance, 500 - balance.used);

    // The next month begins with the plan's tokens; bought ones stay.
    world.app.source().advance(31 * 86_400_000);
    let (used, later) = books().await;
    assert_eq!((used.tokens_used, later.included), (0, 500));
    assert_eq!(later.balance, 500 + balance.balance);
}

#[tokio::test]
async fn a_folder_is_classified_as_a_whole_or_not_at_all() {
    let world = World::new();
    let owner = world.owner();
    let folder = owner.folder(None, "d").await;
    let photo = owner.file(Some(folder.id), "a.JPG", "1").await;
    owner
        .put(
            &format!("/api/v1/nodes/{}", photo.id),
            &json!({"labels": {"who": "Ada"}}),
        )
        .await
        .done(200);
    owner.file(Some(folder.id), "README", "2").await;
    owner.folder(Some(folder.id), "sub").await;
    let classify = async |id, confirm: bool| {
        owner
            .post(
                "/api/v1/ai/classify",
                &json!({"folder_id": id, "confirm_token_use": confirm}),
            )
            .await
    };
    classify(folder.id, false).await.failed(400);
    classify(photo.id, true).await.failed(400);
    let done: ClassifiedFolder = classify(folder.id, true).await.ok();
    assert_eq!((done.classified, done.failed, done.tokens_used), (2, 0, 2));
    assert_eq!(done.remaining_this_month, Some(98));
    let labelled: Node = owner.node(photo.id).await.ok();
    assert_eq!(labelled.labels["category"], "image");
    assert_eq!(
        (
            labelled.labels["type"].as_str(),
            labelled.labels["who"].as_str()
        ),
        ("jpg", "Ada")
    );
    let big = owner.folder(None, "big").await;
    let mut last = None;
    for number in 0..99 {
        last = Some(
            owner
                .file(Some(big.id), &format!("{number}.txt"), "x")
                .await,
        );
    }
    let last = last.unwrap();
    let message = classify(big.id, true).await.failed(403);
    assert!(message.contains("98 of its 100"), "{message}");
    assert!(
        owner.node(last.id).await.ok::<Node>().labels.is_empty(),
        "nothing is half done"
    );
    owner
        .delete(&format!("/api/v1/nodes/{}", last.id))
        .await
        .done(200);
    let done: ClassifiedFolder = classify(big.id, true).await.ok();
    assert_eq!((done.classified, done.remaining_this_month), (98, Some(0)));
    world.app.source().advance(31 * 86_400_000);
    classify(folder.id, true).await.done(200);
    let foreign = json!({"folder_id": folder.id, "confirm_token_use": true});
    world
        .outsider()
        .post("/api/v1/ai/classify", &foreign)
        .await
        .failed(403);
}

#[tokio::test]
async fn an_upload_is_diagnosed_before_it_is_tried() {
    let world = World::new();
    let owner = world.owner();
    let look = async |query: &str| {
        owner
            .get(&format!("/api/v1/diagnostics/upload{query}"))
            .await
            .ok::<UploadDiagnosis>()
    };
    assert_eq!(look("").await.diagnosis, "ready");
    let quota = json!({"email": "owner@example.com", "storage_limit": 100});
    world.nobody().post("/_dev/quota", &quota).await.done(200);
    assert_eq!(look("?file_size_bytes=89").await.diagnosis, "ready");
    let near = look("?file_size_bytes=90").await;
    assert_eq!(
        (near.diagnosis.as_str(), near.checks[0].status),
        ("warning", CheckResult::Warn)
    );
    let over = look("?file_size_bytes=101").await;
    assert_eq!(over.diagnosis, "upload_blocked");
    let names: Vec<_> = over
        .checks
        .iter()
        .map(|check| (check.name.as_str(), check.status))
        .collect();
    assert_eq!(
        names,
        [
            ("storage_quota", CheckResult::Fail),
            ("bandwidth", CheckResult::Pass),
            ("file_count", CheckResult::Pass)
        ]
    );
    owner
        .get("/api/v1/diagnostics/upload?file_size_bytes=-1")
        .await
        .failed(400);
}

#[tokio::test]
async fn encryption_is_ready_once_there_are_keys() {
    let world = World::new();
    let owner = world.owner();
    let look = async || {
        owner
            .get("/api/v1/diagnostics/encryption")
            .await
            .ok::<EncryptionDiagnosis>()
    };
    let bare = look().await;
    assert!(!bare.encryption_ready && !bare.recovery_key_configured);
    assert_eq!(bare.recommendations.len(), 2);
    owner.file(None, "f", "x").await;
    let put = super::keys::first_keys(&owner, true).await;
    put.done(200);
    let ready = look().await;
    assert!(
        ready.encryption_ready && ready.recovery_key_configured,
        "{ready:?}"
    );
    assert!(ready.recommendations.is_empty());
}
