//! Webhooks of the account and their deliveries.

use super::context::Commands;
use crate::program::{Fault, Run};
use cairn_model::{DeliveryState, EventKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// An address that is notified of events in the account.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct WebhookView {
    pub id: String,
    pub url: String,
    pub events: Vec<String>,
    pub enabled: bool,
}

/// An event that was sent to a webhook, or is to be sent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct DeliveryView {
    pub id: String,
    pub event: String,
    pub state: DeliveryState,
    /// RFC 3339 in UTC.
    pub at: String,
    pub attempts: u32,
    /// The reason that the last attempt failed: an HTTP status or a network error; else empty.
    pub last_error: String,
}

/// A change of a webhook.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum WebhookAction {
    Test,
    Enable,
    Disable,
    Remove,
}

pub(super) async fn list(commands: &Commands) -> Result<Vec<WebhookView>, Fault> {
    let document = commands.run(Run::of(["webhooks", "list"])).await?;
    Ok(elements(&document["webhooks"])
        .iter()
        .map(|webhook| WebhookView {
            id: text(&webhook["id"]),
            url: text(&webhook["url"]),
            events: elements(&webhook["events"]).iter().map(text).collect(),
            enabled: webhook["status"] == "active",
        })
        .collect())
}

pub(super) async fn add(
    commands: &Commands,
    url: String,
    events: Vec<EventKind>,
) -> Result<String, Fault> {
    let mut arguments = vec!["webhooks".to_owned(), "add".to_owned()];
    arguments.extend(events.iter().map(|event| format!("--event={event}")));
    arguments.extend(["--".to_owned(), url.trim().to_owned()]);
    let document = commands.run(Run::of(arguments)).await?;
    Ok(text(&document["webhook"]["secret"]))
}

pub(super) async fn change(
    commands: &Commands,
    id: String,
    action: WebhookAction,
) -> Result<(), Fault> {
    let word = match action {
        WebhookAction::Test => "test",
        WebhookAction::Enable => "enable",
        WebhookAction::Disable => "disable",
        WebhookAction::Remove => "remove",
    };
    let run = Run::of(["webhooks", word, "--", &id]);
    commands.run(run).await.map(drop)
}

pub(super) async fn deliveries(
    commands: &Commands,
    id: String,
) -> Result<Vec<DeliveryView>, Fault> {
    let run = Run::of(["webhooks", "deliveries", "--", &id]);
    let document = commands.run(run).await?;
    elements(&document["deliveries"])
        .iter()
        .map(delivery)
        .collect()
}

fn delivery(delivery: &Value) -> Result<DeliveryView, Fault> {
    let attempts = elements(&delivery["attempts"]);
    Ok(DeliveryView {
        id: text(&delivery["id"]),
        event: text(&delivery["event"]),
        state: DeliveryState::deserialize(&delivery["state"])
            .map_err(|error| Fault::failed(format!("can't read a delivery: {error}")))?,
        at: text(&delivery["created_at"]),
        attempts: u32::try_from(attempts.len()).unwrap_or(u32::MAX),
        last_error: attempts.last().map(attempt_error).unwrap_or_default(),
    })
}

pub(super) async fn retry(commands: &Commands, id: String, delivery: String) -> Result<(), Fault> {
    let run = Run::of(["webhooks", "retry", "--", &id, &delivery]);
    commands.run(run).await.map(drop)
}

fn attempt_error(attempt: &Value) -> String {
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
