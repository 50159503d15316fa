//! Webhooks of the account and their deliveries.

use super::context::Commands;
use crate::program::{ProgramError, Run};
use cairn_model::{DeliveryState, EventKind, WebhookStatus};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The kind of an event, also one that this version doesn't know.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, TS)]
#[serde(untagged)]
pub enum EventName {
    Known(EventKind),
    Unknown(String),
}

/// An address that is notified of events in the account.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct WebhookView {
    pub id: String,
    pub url: String,
    pub events: Vec<EventName>,
    pub enabled: bool,
}

/// An event that was sent to a webhook, or is to be sent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct DeliveryView {
    pub id: String,
    pub event: EventName,
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

pub(super) async fn list(commands: &Commands) -> Result<Vec<WebhookView>, ProgramError> {
    #[derive(Deserialize)]
    struct Document {
        webhooks: Vec<Webhook>,
    }
    #[derive(Deserialize)]
    struct Webhook {
        id: String,
        url: String,
        events: Vec<EventName>,
        status: WebhookStatus,
    }
    let found: Document = commands.document(Run::of(["webhooks", "list"])).await?;
    Ok(found
        .webhooks
        .into_iter()
        .map(|webhook| WebhookView {
            id: webhook.id,
            url: webhook.url,
            events: webhook.events,
            enabled: webhook.status == WebhookStatus::Active,
        })
        .collect())
}

pub(super) async fn add(
    commands: &Commands,
    url: String,
    events: Vec<EventKind>,
) -> Result<String, ProgramError> {
    #[derive(Deserialize)]
    struct Document {
        webhook: Added,
    }
    #[derive(Deserialize)]
    struct Added {
        secret: String,
    }
    let mut arguments = vec!["webhooks".to_owned(), "add".to_owned()];
    arguments.extend(events.iter().map(|event| format!("--event={event}")));
    arguments.extend(["--".to_owned(), url.trim().to_owned()]);
    let added: Document = commands.document(Run::of(arguments)).await?;
    Ok(added.webhook.secret)
}

pub(super) async fn change(
    commands: &Commands,
    id: String,
    action: WebhookAction,
) -> Result<(), ProgramError> {
    let word = match action {
        WebhookAction::Test => "test",
        WebhookAction::Enable => "enable",
        WebhookAction::Disable => "disable",
        WebhookAction::Remove => "remove",
    };
    let run = Run::of(["webhooks", word, "--", &id]);
    commands.run(run).await
}

pub(super) async fn deliveries(
    commands: &Commands,
    id: String,
) -> Result<Vec<DeliveryView>, ProgramError> {
    #[derive(Deserialize)]
    struct Document {
        deliveries: Vec<Delivery>,
    }
    let run = Run::of(["webhooks", "deliveries", "--", &id]);
    let found: Document = commands.document(run).await?;
    Ok(found.deliveries.into_iter().map(Delivery::view).collect())
}

#[derive(Deserialize)]
struct Delivery {
    id: String,
    event: EventName,
    state: DeliveryState,
    created_at: String,
    attempts: Vec<Attempt>,
}

/// An attempt to send an event: the status that came, or the network's error.
#[derive(Deserialize)]
struct Attempt {
    status: Option<u16>,
    error: Option<String>,
}

impl Delivery {
    fn view(self) -> DeliveryView {
        DeliveryView {
            id: self.id,
            event: self.event,
            state: self.state,
            at: self.created_at,
            attempts: u32::try_from(self.attempts.len()).unwrap_or(u32::MAX),
            last_error: self
                .attempts
                .into_iter()
                .next_back()
                .map(Attempt::failure)
                .unwrap_or_default(),
        }
    }
}

impl Attempt {
    /// Returns the reason for which it failed; empty if it succeeded.
    fn failure(self) -> String {
        match self.status {
            Some(200..300) => String::new(),
            Some(status) => format!("HTTP {status}"),
            None => self.error.unwrap_or_default(),
        }
    }
}

pub(super) async fn retry(
    commands: &Commands,
    id: String,
    delivery: String,
) -> Result<(), ProgramError> {
    let run = Run::of(["webhooks", "retry", "--", &id, &delivery]);
    commands.run(run).await
}
