//! Webhooks, and how their deliveries go.

use super::access::{self, Table};
use super::outbox::about;
use super::{Store, Tx};
use crate::error::{Error, Result};
use crate::events::EventKind;
use cairn_model::AccountId;
use cairn_wire::Timestamp;
use cairn_wire::webhooks::{
    Delivery, DeliveryAttempt, DeliveryState, Webhook, WebhookFilter, WebhookStatus,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde_json::json;
use uuid::Uuid;

/// Webhooks of one account at most.
const MAX_WEBHOOKS: i64 = 50;
/// Deliveries of one webhook that are on their way at once.
const PER_WEBHOOK: i64 = 4;
/// The times that the contract gives: minutes 1, 5 and 30, hours 2 and 12.
const RETRY_AFTER_MS: [i64; 5] = [60_000, 300_000, 1_800_000, 7_200_000, 43_200_000];
/// The time that a rotated secret still signs.
const OVERLAP_MS: i64 = 24 * 3600 * 1000;
/// The time for which finished deliveries can be looked at.
const KEPT_MS: i64 = 30 * 24 * 3600 * 1000;

/// A delivery that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Due {
    pub(crate) row: i64,
    pub webhook: Uuid,
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

const COLUMNS: &str = "id, url, events, enabled, created_at, updated_at, previous_until";

fn webhook(row: &Row<'_>, now: i64) -> rusqlite::Result<Webhook> {
    let until: Option<i64> = row.get(6)?;
    Ok(Webhook {
        id: Uuid::from_bytes(row.get(0)?).to_string(),
        url: row.get(1)?,
        events: EventKind::of_bits(row.get(2)?)
            .map(EventKind::on_wire)
            .collect(),
        status: if row.get(3)? {
            WebhookStatus::Active
        } else {
            WebhookStatus::Disabled
        },
        created_at: Timestamp(row.get(4)?),
        updated_at: Timestamp(row.get(5)?),
        previous_secret_until: until.filter(|until| *until > now).map(Timestamp),
    })
}

fn find(conn: &Connection, account: AccountId, id: Uuid, now: i64) -> Result<Webhook> {
    let sql = format!("SELECT {COLUMNS} FROM webhooks WHERE account = ?1 AND id = ?2");
    conn.prepare_cached(&sql)?
        .query_row(params![account.as_bytes(), id.as_bytes()], |row| {
            webhook(row, now)
        })
        .optional()?
        .ok_or_else(|| {
            access::absent(
                conn,
                Table::Webhooks,
                id.as_bytes(),
                &format!("webhook {id}"),
            )
        })
}

fn state_of(number: i64) -> DeliveryState {
    match number {
        0 => DeliveryState::Pending,
        1 => DeliveryState::Retrying,
        2 => DeliveryState::Delivered,
        _ => DeliveryState::Failed,
    }
}

fn number_of(state: DeliveryState) -> i64 {
    match state {
        DeliveryState::Pending => 0,
        DeliveryState::Retrying => 1,
        DeliveryState::Delivered => 2,
        DeliveryState::Failed => 3,
    }
}

fn secret_of(webhook: Uuid) -> Vec<u8> {
    [b"secret ".as_slice(), webhook.as_bytes()].concat()
}

fn response_of(delivery: i64) -> Vec<u8> {
    [b"response ".as_slice(), &delivery.to_be_bytes()].concat()
}

fn bits(events: &[EventKind]) -> u32 {
    events.iter().fold(0, |bits, kind| bits | kind.bit())
}

impl Tx<'_> {
    fn sample(&self, webhook: Uuid) -> Result<Uuid> {
        let data = json!({"message": "This is a test event: the address can be reached."});
        self.enqueue(webhook, EventKind::WebhookTest, data)
    }
}

impl Store {
    /// Makes a webhook and raises its first test event.
    ///
    /// # Errors
    /// [`Error::Conflict`] for an account with too many.
    pub fn add_webhook(
        &self,
        account: AccountId,
        url: &str,
        events: &[EventKind],
        secret: &str,
    ) -> Result<Webhook> {
        self.write(|tx| {
            let count: i64 = tx.conn.query_row(
                "SELECT count(*) FROM webhooks WHERE account = ?1",
                [account.as_bytes()],
                |row| row.get(0),
            )?;
            if count >= MAX_WEBHOOKS {
                return Err(Error::conflict(format!(
                    "the account has {MAX_WEBHOOKS} webhooks, the most allowed; delete one first"
                )));
            }
            let id = tx
                .source
                .id(|bytes| uuid::Builder::from_random_bytes(bytes).into_uuid());
            let sealed = tx.outbox.sealer.seal(tx.source, &secret_of(id), secret.as_bytes())?;
            tx.conn.execute(
                "INSERT INTO webhooks (id, account, url, events, enabled, secret, created_at, updated_at) \
                 VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, ?6)",
                params![id.as_bytes(), account.as_bytes(), url, bits(events), sealed, tx.now],
            )?;
            tx.webhooks_changed();
            tx.sample(id)?;
            find(tx.conn, account, id, tx.now)
        })
    }

    /// One page of an account's webhooks, oldest first, and their number.
    pub fn webhooks(
        &self,
        account: AccountId,
        which: WebhookFilter,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<Webhook>, u64)> {
        let now = self.source.now_ms();
        let enabled = match which {
            WebhookFilter::Active => Some(true),
            WebhookFilter::Disabled => Some(false),
            WebhookFilter::All => None,
        };
        self.read(|conn| {
            let total = conn.query_row(
                "SELECT count(*) FROM webhooks WHERE account = ?1 AND (?2 IS NULL OR enabled = ?2)",
                params![account.as_bytes(), enabled],
                |row| row.get(0),
            )?;
            let sql = format!(
                "SELECT {COLUMNS} FROM webhooks WHERE account = ?1 AND (?2 IS NULL OR enabled = ?2) \
                 ORDER BY created_at, id LIMIT ?4 OFFSET ?3"
            );
            let found = conn
                .prepare_cached(&sql)?
                .query_map(params![account.as_bytes(), enabled, skip, take], |row| webhook(row, now))?
                .collect::<rusqlite::Result<_>>()?;
            Ok((found, total))
        })
    }

    /// Changes what is given.
    pub fn update_webhook(
        &self,
        account: AccountId,
        id: Uuid,
        url: Option<&str>,
        events: Option<&[EventKind]>,
    ) -> Result<Webhook> {
        self.change_webhook(account, id, |tx| {
            Ok(tx.conn.execute(
                "UPDATE webhooks SET url = coalesce(?2, url), events = coalesce(?3, events), updated_at = ?4 \
                 WHERE id = ?1",
                params![id.as_bytes(), url, events.map(bits), tx.now],
            )?)
        })
    }

    /// Lets deliveries be attempted, or stops it.
    pub fn enable_webhook(&self, account: AccountId, id: Uuid, on: bool) -> Result<Webhook> {
        self.change_webhook(account, id, |tx| {
            Ok(tx.conn.execute(
                "UPDATE webhooks SET enabled = ?2, updated_at = ?3 WHERE id = ?1",
                params![id.as_bytes(), on, tx.now],
            )?)
        })
    }

    /// Gives a webhook a new secret; the old one signs, too, for a day.
    pub fn rotate_webhook(&self, account: AccountId, id: Uuid, secret: &str) -> Result<Webhook> {
        self.change_webhook(account, id, |tx| {
            let sealed = tx.outbox.sealer.seal(tx.source, &secret_of(id), secret.as_bytes())?;
            Ok(tx.conn.execute(
                "UPDATE webhooks SET previous = secret, previous_until = ?3, secret = ?2, updated_at = ?4 \
                 WHERE id = ?1",
                params![id.as_bytes(), sealed, tx.now + OVERLAP_MS, tx.now],
            )?)
        })
    }

    fn change_webhook(
        &self,
        account: AccountId,
        id: Uuid,
        change: impl FnOnce(&Tx<'_>) -> Result<usize>,
    ) -> Result<Webhook> {
        self.write(|tx| {
            find(tx.conn, account, id, tx.now)?;
            change(tx)?;
            tx.webhooks_changed();
            find(tx.conn, account, id, tx.now)
        })
    }

    /// Deletes a webhook with everything that waits for it.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn delete_webhook(&self, account: AccountId, id: Uuid) -> Result<()> {
        self.write(|tx| {
            find(tx.conn, account, id, tx.now)?;
            tx.conn
                .execute("DELETE FROM webhooks WHERE id = ?1", [id.as_bytes()])?;
            tx.webhooks_changed();
            Ok(())
        })
    }

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
            let total = conn.query_row(
                "SELECT count(*) FROM webhook_deliveries WHERE webhook = ?1 AND (?2 IS NULL OR state = ?2)",
                params![webhook.as_bytes(), state],
                |row| row.get(0),
            )?;
            let ids: Vec<[u8; 16]> = conn
                .prepare_cached(
                    "SELECT id FROM webhook_deliveries WHERE webhook = ?1 AND (?2 IS NULL OR state = ?2) \
                     ORDER BY row DESC LIMIT ?4 OFFSET ?3",
                )?
                .query_map(params![webhook.as_bytes(), state, skip, take], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            let found = ids
                .into_iter()
                .map(|id| self.delivery(conn, webhook, Uuid::from_bytes(id)))
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
                    event: event.on_wire(),
                    state: state_of(row.get(2)?),
                    created_at: Timestamp(row.get(3)?),
                    next_attempt_at: row.get::<_, Option<i64>>(4)?.map(Timestamp),
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
        let about = response_of(delivery);
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
            .collect::<rusqlite::Result<_>>()?;
        rows.into_iter()
            .map(|(mut attempt, sealed)| {
                if let Some(sealed) = sealed {
                    // One that was sealed with a lost key is no reason to hide the rest.
                    let plain = self.outbox.sealer.open_record(&about, &sealed).ok();
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
            tx.webhooks_changed();
            self.delivery(tx.conn, webhook, id)
        })
    }

    /// Lists the due deliveries, a few of each webhook, so that a slow one can't keep the others
    /// waiting.
    pub fn due_deliveries(&self) -> Result<Vec<Due>> {
        let now = self.source.now_ms();
        self.read(|conn| {
            Ok(conn
                .prepare_cached(
                    "SELECT d.row, w.id FROM webhooks w JOIN webhook_deliveries d ON d.row IN \
                     (SELECT row FROM webhook_deliveries WHERE webhook = w.id AND due_at <= ?1 \
                      ORDER BY due_at, row LIMIT ?2) WHERE w.enabled = 1 ORDER BY d.due_at, d.row",
                )?
                .query_map(params![now, PER_WEBHOOK], |row| {
                    Ok(Due {
                        row: row.get(0)?,
                        webhook: Uuid::from_bytes(row.get(1)?),
                    })
                })?
                .collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Returns the time at which the next delivery is due that is not due yet.
    pub fn next_delivery_at(&self) -> Result<Option<i64>> {
        let now = self.source.now_ms();
        self.read(|conn| {
            Ok(conn
                .prepare_cached(
                    "SELECT min(due_at) FROM webhooks w JOIN webhook_deliveries d ON d.webhook = w.id \
                     WHERE w.enabled = 1 AND d.due_at > ?1",
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

    /// Opens a delivery that is still due; `None` if its webhook was disabled or deleted meanwhile.
    ///
    /// # Errors
    /// [`Error::Unopenable`] where the delivery or the secret was sealed with a key that is gone.
    pub fn outgoing(&self, due: Due) -> Result<Option<Outgoing>> {
        let now = self.source.now_ms();
        let id = due.webhook;
        self.read(|conn| {
            let found = conn
                .prepare_cached(
                    "SELECT w.url, w.secret, iif(w.previous_until > ?3, w.previous, NULL), d.event, d.id, d.payload \
                     FROM webhooks w JOIN webhook_deliveries d ON d.webhook = w.id \
                     WHERE w.id = ?1 AND d.row = ?2 AND w.enabled = 1 AND d.due_at <= ?3",
                )?
                .query_row(params![id.as_bytes(), due.row, now], |row| {
                    Ok((
                        row.get::<_, String>(0)?,
                        [row.get::<_, Option<Vec<u8>>>(1)?, row.get(2)?],
                        row.get::<_, u32>(3)?,
                        Uuid::from_bytes(row.get(4)?),
                        row.get::<_, Vec<u8>>(5)?,
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
                        .map_err(|_| Error::Internal("a webhook's secret is no text".into()))
                })
                .collect::<Result<_>>()?;
            Ok(Some(Outgoing {
                url,
                secrets,
                event: EventKind::of(event)
                    .ok_or_else(|| Error::Internal(format!("there is no event {event}")))?,
                body: sealer.open_record(&about(delivery), &payload)?,
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
    pub fn forget_old_deliveries(&self) -> Result<()> {
        self.write(|tx| {
            tx.conn.execute(
                "DELETE FROM webhook_deliveries WHERE created_at <= ?1 AND due_at IS NULL",
                [tx.now - KEPT_MS],
            )?;
            Ok(())
        })
    }
}
