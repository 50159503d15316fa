//! Deliveries of webhooks as their owner sees them: the list, the attempts, a test and a retry.

use super::Store;
use super::page::read_page;
use super::rows::id as read_id;
use super::webhooks::find;
use crate::db::{self, Connection, Optional as _, params};
use crate::error::{Error, Result};
use cairn_model::{AccountId, DeliveryState, EventKind};
use cairn_wire::Timestamp;
use cairn_wire::webhooks::{Delivery, DeliveryAttempt, WebhookStatus};
use uuid::Uuid;

fn state_of(number: i64) -> DeliveryState {
    match number {
        0 => DeliveryState::Pending,
        1 => DeliveryState::Retrying,
        2 => DeliveryState::Delivered,
        _ => DeliveryState::Failed,
    }
}

pub(super) fn number_of(state: DeliveryState) -> i64 {
    match state {
        DeliveryState::Pending => 0,
        DeliveryState::Retrying => 1,
        DeliveryState::Delivered => 2,
        DeliveryState::Failed => 3,
    }
}

/// Returns the associated data with which the start of a response is encrypted.
pub(super) fn response_of(delivery: i64) -> Vec<u8> {
    [b"response ".as_slice(), &delivery.to_be_bytes()].concat()
}

impl Store {
    /// Raises a test event for one webhook.
    ///
    /// # Errors
    /// [`Error::NotFound`], or [`Error::Conflict`] for a disabled one.
    pub fn test_webhook(&self, account: AccountId, id: Uuid) -> Result<Delivery> {
        self.write(|tx| {
            if find(tx.conn, account, id, tx.now)?.status == WebhookStatus::Disabled {
                return Err(Error::conflict(format!(
                    "the webhook {id} is disabled; enable it first"
                )));
            }
            let delivery = tx.sample(id)?;
            self.delivery(tx.conn, id, delivery)
        })
    }

    /// One page of a webhook's deliveries, newest first, and their number.
    pub fn deliveries(
        &self,
        account: AccountId,
        webhook: Uuid,
        state: Option<DeliveryState>,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<Delivery>, u64)> {
        let now = self.source.now_ms();
        let state = state.map(number_of);
        self.read(|conn| {
            find(conn, account, webhook, now)?;
            let filter = "webhook = ?1 AND (state = ?2 OR ?2 IS NULL)";
            let count = format!("SELECT count(*) FROM webhook_deliveries WHERE {filter}");
            let list = format!(
                "SELECT id FROM webhook_deliveries WHERE {filter} ORDER BY row DESC LIMIT ?4 OFFSET ?3"
            );
            let which = params![webhook.as_bytes(), state];
            let (ids, total) =
                read_page(conn, (&count, &list), which, (skip, take), |row| read_id(row, 0))?;
            let found = ids
                .into_iter()
                .map(|id| self.delivery(conn, webhook, id))
                .collect::<Result<_>>()?;
            Ok((found, total))
        })
    }

    fn delivery(&self, conn: &Connection, webhook: Uuid, id: Uuid) -> Result<Delivery> {
        let found: Option<(i64, Delivery)> = conn
            .prepare_cached(
                "SELECT row, event, state, created_at, due_at FROM webhook_deliveries WHERE webhook = ?1 AND id = ?2",
            )?
            .query_row(params![webhook.as_bytes(), id.as_bytes()], |row| {
                let event = EventKind::of(row.get(1)?).unwrap_or(EventKind::WebhookTest);
                let delivery = Delivery {
                    id: id.to_string(),
                    webhook_id: webhook.to_string(),
                    event,
                    state: state_of(row.get(2)?),
                    created_at: Timestamp(row.get(3)?),
                    next_attempt_at: row.get::<Option<i64>>(4)?.map(Timestamp),
                    attempts: Vec::new(),
                };
                Ok((row.get(0)?, delivery))
            })
            .optional()?;
        let (row, mut delivery) =
            found.ok_or_else(|| Error::not_found(format!("there is no delivery {id}")))?;
        delivery.attempts = self.attempts(conn, row)?;
        Ok(delivery)
    }

    fn attempts(&self, conn: &Connection, delivery: i64) -> Result<Vec<DeliveryAttempt>> {
        let associated_data = response_of(delivery);
        let rows: Vec<(DeliveryAttempt, Option<Vec<u8>>)> = conn
            .prepare_cached(
                "SELECT at, status, latency_ms, error, response FROM webhook_attempts WHERE delivery = ?1 \
                 ORDER BY number",
            )?
            .query_map([delivery], |row| {
                let attempt = DeliveryAttempt {
                    at: Timestamp(row.get(0)?),
                    status: row.get(1)?,
                    latency_ms: row.get(2)?,
                    error: row.get(3)?,
                    response: None,
                };
                Ok((attempt, row.get(4)?))
            })?
            .collect::<db::Result<_>>()?;
        rows.into_iter()
            .map(|(mut attempt, sealed)| {
                if let Some(sealed) = sealed {
                    // One that was sealed with a lost key is no reason to hide the rest.
                    let plain = self
                        .outbox
                        .sealer
                        .open_record(&associated_data, &sealed)
                        .ok();
                    attempt.response =
                        plain.map(|plain| String::from_utf8_lossy(&plain).into_owned());
                }
                Ok(attempt)
            })
            .collect()
    }

    /// Makes a failed delivery due at once, for one more attempt.
    ///
    /// # Errors
    /// [`Error::NotFound`], or [`Error::Conflict`] for one that has not failed.
    pub fn retry_delivery(&self, account: AccountId, webhook: Uuid, id: Uuid) -> Result<Delivery> {
        self.write(|tx| {
            find(tx.conn, account, webhook, tx.now)?;
            let delivery = self.delivery(tx.conn, webhook, id)?;
            if delivery.state != DeliveryState::Failed {
                return Err(Error::conflict(format!(
                    "the delivery {id} has not failed; only a failed one can be retried by hand"
                )));
            }
            tx.conn.execute(
                "UPDATE webhook_deliveries SET state = 1, due_at = ?2 WHERE id = ?1",
                params![id.as_bytes(), tx.now],
            )?;
            tx.note_webhooks_changed();
            self.delivery(tx.conn, webhook, id)
        })
    }
}
