//! The queue of webhook deliveries that are due, and the result of each attempt.

use super::Store;
use super::outbox::associated_data;
use super::rows::id as read_id;
use super::webhook_deliveries::{number_of, response_of};
use super::webhooks::secret_of;
use crate::db::{self, Optional as _, params};
use crate::error::{Error, Result};
use cairn_model::{AccountId, DeliveryState, EventKind};
use uuid::Uuid;

/// Deliveries of one webhook that are on their way at once.
const PER_WEBHOOK: i64 = 4;
/// The waits before further attempts, as the API documents them: minutes 1, 5 and 30, hours 2 and 12.
const RETRY_AFTER_MS: [i64; 5] = [60_000, 300_000, 1_800_000, 7_200_000, 43_200_000];
/// The time for which finished deliveries can be looked at.
const KEPT_MS: i64 = 30 * 24 * 3600 * 1000;

/// A delivery that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Due {
    pub row: i64,
    pub webhook: Uuid,
    /// The account whose webhook it is.
    pub account: AccountId,
}

/// Everything that an attempt needs.
pub struct Outgoing {
    pub url: String,
    /// The one in force, then the one before it while that still signs.
    pub secrets: Vec<String>,
    pub event: EventKind,
    pub delivery: Uuid,
    pub body: Vec<u8>,
}

/// The result of an attempt.
#[derive(Debug)]
pub struct AttemptResult {
    pub status: Option<u16>,
    pub latency_ms: u64,
    pub error: Option<String>,
    /// The first KiB.
    pub response: Option<Vec<u8>>,
}

/// The state in which an attempt left its delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterAttempt {
    Delivered,
    Again,
    Failed,
    /// The webhook was deleted meanwhile.
    Gone,
}

impl AttemptResult {
    fn is_success(&self) -> bool {
        self.status
            .is_some_and(|status| (200..300).contains(&status))
    }
}

impl Store {
    /// Lists the due deliveries, the oldest first, a few of each webhook, so that a slow one can't keep the
    /// others waiting. Those of disabled accounts wait, as those of disabled webhooks do.
    pub fn due_deliveries(&self) -> Result<Vec<Due>> {
        let now = self.source.now_ms();
        self.read(|conn| {
            Ok(conn
                .prepare_cached(
                    "SELECT d.row, w.id, w.account FROM webhooks w JOIN accounts a ON a.id = w.account \
                     JOIN webhook_deliveries d ON d.row IN \
                     (SELECT row FROM webhook_deliveries WHERE webhook = w.id AND due_at <= ?1 \
                      ORDER BY due_at, row LIMIT ?2) \
                     WHERE w.enabled = 1 AND a.disabled_at IS NULL ORDER BY d.due_at, d.row",
                )?
                .query_map(params![now, PER_WEBHOOK], |row| {
                    Ok(Due {
                        row: row.get(0)?,
                        webhook: Uuid::from_bytes(row.get(1)?),
                        account: read_id(row, 2)?,
                    })
                })?
                .collect::<db::Result<_>>()?)
        })
    }

    /// Returns the time at which the next delivery is due that is not due yet.
    pub fn next_delivery_at(&self) -> Result<Option<i64>> {
        let now = self.source.now_ms();
        self.read(|conn| {
            Ok(conn
                .prepare_cached(
                    "SELECT min(due_at) FROM webhooks w JOIN accounts a ON a.id = w.account \
                     JOIN webhook_deliveries d ON d.webhook = w.id \
                     WHERE w.enabled = 1 AND a.disabled_at IS NULL AND d.due_at > ?1",
                )?
                .query_row([now], |row| row.get(0))?)
        })
    }

    /// Marks a delivery as failed that can't be sent at all, however often it is tried.
    pub fn give_up_delivery(&self, due: Due, reason: &str) -> Result<()> {
        self.write(|tx| {
            tx.conn
                .prepare_cached(
                    "INSERT INTO webhook_attempts (delivery, number, at, latency_ms, error) \
                     SELECT ?1, coalesce(max(number), 0) + 1, ?2, 0, ?3 FROM webhook_attempts WHERE delivery = ?1",
                )?
                .execute(params![due.row, tx.now, reason])?;
            tx.conn
                .prepare_cached("UPDATE webhook_deliveries SET state = ?2, due_at = NULL WHERE row = ?1")?
                .execute(params![due.row, number_of(DeliveryState::Failed)])?;
            Ok(())
        })
    }

    /// Opens a delivery that is still due; `None` if its webhook or account was disabled or deleted
    /// meanwhile.
    ///
    /// # Errors
    /// [`Error::Unopenable`] where the delivery or the secret was sealed with a key that is gone.
    pub fn open_delivery(&self, due: Due) -> Result<Option<Outgoing>> {
        let now = self.source.now_ms();
        let id = due.webhook;
        self.read(|conn| {
            let found = conn
                .prepare_cached(
                    "SELECT w.url, w.secret, CASE WHEN w.previous_until > ?3 THEN w.previous END, d.event, d.id, d.payload \
                     FROM webhooks w JOIN accounts a ON a.id = w.account \
                     JOIN webhook_deliveries d ON d.webhook = w.id \
                     WHERE w.id = ?1 AND d.row = ?2 AND w.enabled = 1 AND a.disabled_at IS NULL AND d.due_at <= ?3",
                )?
                .query_row(params![id.as_bytes(), due.row, now], |row| {
                    Ok((
                        row.get::<String>(0)?,
                        [row.get::<Option<Vec<u8>>>(1)?, row.get(2)?],
                        row.get::<u32>(3)?,
                        Uuid::from_bytes(row.get(4)?),
                        row.get::<Vec<u8>>(5)?,
                    ))
                })
                .optional()?;
            let Some((url, secrets, event, delivery, payload)) = found else {
                return Ok(None);
            };
            let sealer = &self.outbox.sealer;
            let secrets = secrets
                .into_iter()
                .flatten()
                .map(|sealed| {
                    let plain = sealer.open_record(&secret_of(id), &sealed)?;
                    String::from_utf8(plain)
                        .map_err(|_| Error::Internal("a webhook's secret is not text".into()))
                })
                .collect::<Result<_>>()?;
            Ok(Some(Outgoing {
                url,
                secrets,
                event: EventKind::of(event)
                    .ok_or_else(|| Error::Internal(format!("there is no event {event}")))?,
                body: sealer.open_record(&associated_data(delivery), &payload)?,
                delivery,
            }))
        })
    }

    /// Records what came of an attempt that began at `began`, and plans the next one.
    pub fn record_attempt(
        &self,
        due: Due,
        began: i64,
        attempt: &AttemptResult,
    ) -> Result<AfterAttempt> {
        self.write(|tx| {
            let failures: Option<usize> = tx
                .conn
                .prepare_cached("SELECT failures FROM webhook_deliveries WHERE row = ?1")?
                .query_row([due.row], |row| row.get(0))
                .optional()?;
            let Some(failures) = failures else {
                return Ok(AfterAttempt::Gone);
            };
            let response = attempt
                .response
                .as_deref()
                .map(|plain| tx.outbox.sealer.seal(tx.source, &response_of(due.row), plain))
                .transpose()?;
            tx.conn
                .prepare_cached(
                    "INSERT INTO webhook_attempts (delivery, number, at, status, latency_ms, error, response) \
                     SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4, ?5, ?6 FROM webhook_attempts \
                     WHERE delivery = ?1",
                )?
                .execute(params![
                    due.row,
                    began,
                    attempt.status,
                    attempt.latency_ms,
                    attempt.error,
                    response
                ])?;
            let wait = RETRY_AFTER_MS.get(failures);
            let (state, due_at, after) = match (attempt.is_success(), wait) {
                (true, _) => (DeliveryState::Delivered, None, AfterAttempt::Delivered),
                (false, Some(wait)) => (DeliveryState::Retrying, Some(tx.now + wait), AfterAttempt::Again),
                (false, None) => (DeliveryState::Failed, None, AfterAttempt::Failed),
            };
            tx.conn
                .prepare_cached(
                    "UPDATE webhook_deliveries SET state = ?2, due_at = ?3, failures = ?4 WHERE row = ?1",
                )?
                .execute(params![
                    due.row,
                    number_of(state),
                    due_at,
                    failures + usize::from(wait.is_some() && !attempt.is_success())
                ])?;
            Ok(after)
        })
    }

    /// Forgets finished deliveries that are a month old.
    pub fn forget_old_deliveries(&self) -> Result<u64> {
        self.write(|tx| {
            let gone = tx.conn.execute(
                "DELETE FROM webhook_deliveries WHERE created_at <= ?1 AND due_at IS NULL",
                [tx.now - KEPT_MS],
            )?;
            Ok(gone as u64)
        })
    }
}
