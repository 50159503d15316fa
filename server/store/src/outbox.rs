//! Events become deliveries, inside the transaction that made them true.
//!
//! One row per webhook that asked for the event. If nobody did, an event costs one look into a small
//! index per transaction, and no text is made of it.

use super::seal::Sealer;
use super::{Store, Tx};
use crate::db::{self, Connection, params};
use crate::error::{Error, Result};
use cairn_model::{AccountId, EventKind};
use cairn_wire::Timestamp;
use cairn_wire::webhooks::WebhookPayload;
use serde_json::Value;
use std::cell::{Cell, RefCell};
use tokio::sync::Notify;
use uuid::Uuid;

/// The sealer that transactions need for their events, and the notifier of whoever waits for
/// deliveries.
pub struct Outbox {
    pub(crate) sealer: Sealer,
    waiting: Notify,
}

/// The record of what one transaction has raised so far.
#[derive(Default)]
pub(super) struct Raised {
    /// The enabled webhooks of the account that was looked up last, with their event bits.
    known: RefCell<Option<(AccountId, Vec<Subscriber>)>>,
    any: Cell<bool>,
}

#[derive(Clone, Copy)]
struct Subscriber {
    webhook: Uuid,
    events: u32,
}

/// Returns the associated data with which a delivery's body is encrypted.
pub(super) fn associated_data(delivery: Uuid) -> Vec<u8> {
    [b"delivery ".as_slice(), delivery.as_bytes()].concat()
}

impl Outbox {
    pub(super) fn new(sealer: Sealer) -> Self {
        Self {
            sealer,
            waiting: Notify::new(),
        }
    }

    /// Wakes whoever waits for deliveries.
    pub fn wake(&self) {
        self.waiting.notify_one();
    }

    /// Waits until there may be something to deliver.
    pub async fn wait_for_work(&self) {
        self.waiting.notified().await;
    }
}

/// Returns the enabled webhooks of an account; one that is disabled itself hears of nothing.
fn subscribers(conn: &Connection, account: AccountId) -> Result<Vec<Subscriber>> {
    Ok(conn
        .prepare_cached(
            "SELECT id, events FROM webhooks WHERE account = ?1 AND enabled = 1 AND NOT EXISTS \
             (SELECT 1 FROM accounts WHERE id = ?1 AND disabled_at IS NOT NULL)",
        )?
        .query_map([account.as_bytes()], |row| {
            Ok(Subscriber {
                webhook: Uuid::from_bytes(row.get(0)?),
                events: row.get(1)?,
            })
        })?
        .collect::<db::Result<_>>()?)
}

impl Raised {
    pub(super) fn any(&self) -> bool {
        self.any.get()
    }
}

impl Tx<'_> {
    /// Raises an event whose data is only made where a webhook asked for it.
    pub fn emit_with(
        &self,
        account: AccountId,
        kind: EventKind,
        data: impl FnOnce() -> Value,
    ) -> Result<()> {
        let mut known = self.raised.known.borrow_mut();
        if known.as_ref().is_none_or(|(of, _)| *of != account) {
            *known = Some((account, subscribers(self.conn, account)?));
        }
        let bit = kind.bit();
        let wanted: Vec<Uuid> = known
            .iter()
            .flat_map(|(_, all)| all)
            .filter(|one| one.events & bit != 0)
            .map(|one| one.webhook)
            .collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let data = data();
        wanted
            .into_iter()
            .try_for_each(|webhook| self.enqueue(webhook, kind, data.clone()).map(drop))
    }

    /// Writes one delivery, due at once.
    pub(super) fn enqueue(&self, webhook: Uuid, kind: EventKind, data: Value) -> Result<Uuid> {
        let delivery: Uuid = self
            .source
            .id(|bytes| uuid::Builder::from_random_bytes(bytes).into_uuid());
        let payload = WebhookPayload {
            event: kind,
            timestamp: Timestamp(self.now),
            data,
            webhook_id: webhook.to_string(),
            delivery_id: delivery.to_string(),
        };
        let body = serde_json::to_vec(&payload)
            .map_err(|e| Error::Internal(format!("an event can't be written: {e}")))?;
        let sealed = self
            .outbox
            .sealer
            .seal(self.source, &associated_data(delivery), &body)?;
        self.conn
            .prepare_cached(
                "INSERT INTO webhook_deliveries (id, webhook, event, state, failures, due_at, created_at, payload) \
                 VALUES (?1, ?2, ?3, 0, 0, ?4, ?4, ?5)",
            )?
            .execute(params![
                delivery.as_bytes(),
                webhook.as_bytes(),
                kind.number(),
                self.now,
                sealed
            ])?;
        self.raised.any.set(true);
        Ok(delivery)
    }

    /// The rows of webhooks changed: what is known of them in this transaction no longer holds.
    pub(super) fn note_webhooks_changed(&self) {
        self.raised.known.take();
        self.raised.any.set(true);
    }
}

impl Store {
    /// The deliveries on their way out.
    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Returns true if an enabled webhook of the account asked for a kind of event.
    pub fn is_wanted(&self, account: AccountId, kind: EventKind) -> Result<bool> {
        self.read(|conn| {
            Ok(subscribers(conn, account)?
                .iter()
                .any(|one| one.events & kind.bit() != 0))
        })
    }
}
