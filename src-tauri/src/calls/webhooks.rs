//! Webhooks of the account and what was sent to them.

use crate::calls::{Desk, document};
use crate::program::{Fault, Run};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// An address that hears of what happens in the account.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct WebhookView {
    pub id: String,
    pub url: String,
    pub events: Vec<String>,
    pub enabled: bool,
}

/// Something that was sent, or is to be.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct DeliveryView {
    pub id: String,
    pub event: String,
    /// `pending`, `retrying`, `delivered` or `failed`.
    pub state: String,
    pub at: String,
    pub attempts: u32,
    /// Why the last attempt failed: what the other end answered, or that it didn't.
    pub trouble: String,
}

/// What a person does with a webhook.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum WebhookAct {
    Test,
    Enable,
    Disable,
    Remove,
}

pub(super) async fn list(desk: &Desk) -> Result<Vec<WebhookView>, Fault> {
    let answer = desk.program.run(Run::of(["webhooks", "list"])).await?;
    Ok(elements(&answer["webhooks"])
        .iter()
        .map(|webhook| WebhookView {
            id: text(&webhook["id"]),
            url: text(&webhook["url"]),
            events: elements(&webhook["events"]).iter().map(text).collect(),
            enabled: webhook["status"] == "active",
        })
        .collect())
}

pub(super) async fn add(desk: &Desk, url: &str, events: &[String]) -> Result<Value, Fault> {
    let mut arguments = vec!["webhooks".to_owned(), "add".to_owned()];
    arguments.extend(events.iter().map(|event| format!("--event={event}")));
    arguments.extend(["--".to_owned(), url.trim().to_owned()]);
    let answer = desk.program.run(Run::of(arguments)).await?;
    Ok(answer["webhook"]["secret"].clone())
}

pub(super) async fn act(desk: &Desk, id: &str, act: WebhookAct) -> Result<Value, Fault> {
    let word = match act {
        WebhookAct::Test => "test",
        WebhookAct::Enable => "enable",
        WebhookAct::Disable => "disable",
        WebhookAct::Remove => "remove",
    };
    let run = Run::of(["webhooks", word, "--", id]);
    desk.program.run(run).await.map(|_| Value::Null)
}

pub(super) async fn deliveries(desk: &Desk, id: &str) -> Result<Value, Fault> {
    let run = Run::of(["webhooks", "deliveries", "--", id]);
    let answer = desk.program.run(run).await?;
    let deliveries: Vec<DeliveryView> = elements(&answer["deliveries"])
        .iter()
        .map(|delivery| {
            let attempts = elements(&delivery["attempts"]);
            DeliveryView {
                id: text(&delivery["id"]),
                event: text(&delivery["event"]),
                state: text(&delivery["state"]),
                at: text(&delivery["created_at"]),
                attempts: u32::try_from(attempts.len()).unwrap_or(u32::MAX),
                trouble: attempts.last().map(trouble).unwrap_or_default(),
            }
        })
        .collect();
    document(&deliveries)
}

pub(super) async fn retry(desk: &Desk, id: &str, delivery: &str) -> Result<Value, Fault> {
    let run = Run::of(["webhooks", "retry", "--", id, delivery]);
    desk.program.run(run).await.map(|_| Value::Null)
}

fn trouble(attempt: &Value) -> String {
    match attempt["status"].as_u64() {
        Some(200..300) => String::new(),
        Some(status) => format!("HTTP {status}"),
        None => text(&attempt["error"]),
    }
}

fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
