//! Webhooks: making, changing and deleting them.

use super::access::{self, Table};
use super::caps::Cap;
use super::page::read_page;
use super::{Store, Tx};
use crate::db::{self, Connection, Optional as _, Row, params};
use crate::error::Result;
use cairn_model::{AccountId, EventKind};
use cairn_wire::Timestamp;
use cairn_wire::webhooks::{Webhook, WebhookFilter, WebhookStatus};
use serde_json::json;
use uuid::Uuid;

const MAX_WEBHOOKS: Cap = Cap {
    rows: "webhooks WHERE account = ?1",
    most: 50,
    whose: "the account has",
    name: "webhooks",
};
/// The time that a rotated secret still signs.
const OVERLAP_MS: i64 = 24 * 3600 * 1000;

const COLUMNS: &str = "id, url, events, enabled, created_at, updated_at, previous_until";

fn webhook(row: &Row<'_>, now: i64) -> db::Result<Webhook> {
    let until: Option<i64> = row.get(6)?;
    Ok(Webhook {
        id: Uuid::from_bytes(row.get(0)?).to_string(),
        url: row.get(1)?,
        events: EventKind::of_bits(row.get(2)?).collect(),
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

pub(super) fn find(conn: &Connection, account: AccountId, id: Uuid, now: i64) -> Result<Webhook> {
    let sql = format!("SELECT {COLUMNS} FROM webhooks WHERE account = ?1 AND id = ?2");
    conn.prepare_cached(&sql)?
        .query_row(params![account.as_bytes(), id.as_bytes()], |row| {
            webhook(row, now)
        })
        .optional()?
        .ok_or_else(|| {
            access::absent_error(
                conn,
                Table::Webhooks,
                id.as_bytes(),
                &format!("webhook {id}"),
            )
        })
}

/// Returns the associated data with which a secret is encrypted.
pub(super) fn secret_of(webhook: Uuid) -> Vec<u8> {
    [b"secret ".as_slice(), webhook.as_bytes()].concat()
}

fn bits(events: &[EventKind]) -> u32 {
    events.iter().fold(0, |bits, kind| bits | kind.bit())
}

impl Tx<'_> {
    pub(super) fn sample(&self, webhook: Uuid) -> Result<Uuid> {
        let data = json!({"message": "This is a test event: the address can be reached."});
        self.enqueue(webhook, EventKind::WebhookTest, data)
    }
}

impl Store {
    /// Makes a webhook and raises its first test event.
    ///
    /// # Errors
    /// 409 for an account with as many as it may have.
    pub fn add_webhook(
        &self,
        account: AccountId,
        url: &str,
        events: &[EventKind],
        secret: &str,
    ) -> Result<Webhook> {
        self.write(|tx| {
            MAX_WEBHOOKS.check(tx.conn, params![account.as_bytes()])?;
            let id = tx
                .source
                .id(|bytes| uuid::Builder::from_random_bytes(bytes).into_uuid());
            let sealed = tx.outbox.sealer.seal(tx.source, &secret_of(id), secret.as_bytes())?;
            tx.conn.execute(
                "INSERT INTO webhooks (id, account, url, events, enabled, secret, created_at, updated_at) \
                 VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, ?6)",
                params![id.as_bytes(), account.as_bytes(), url, bits(events), sealed, tx.now],
            )?;
            tx.note_webhooks_changed();
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
            let filter = "account = ?1 AND (enabled = ?2 OR ?2 IS NULL)";
            let count = format!("SELECT count(*) FROM webhooks WHERE {filter}");
            let list = format!(
                "SELECT {COLUMNS} FROM webhooks WHERE {filter} ORDER BY created_at, id LIMIT ?4 OFFSET ?3"
            );
            let which = params![account.as_bytes(), enabled];
            read_page(conn, (&count, &list), which, (skip, take), |row| webhook(row, now))
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

    /// Gives a webhook a new secret; the old one signs, too, for a day. Within that day a second new secret takes the
    /// place of the first one, and the old one goes on signing until its day is over.
    pub fn rotate_webhook(&self, account: AccountId, id: Uuid, secret: &str) -> Result<Webhook> {
        self.change_webhook(account, id, |tx| {
            let sealed = tx.outbox.sealer.seal(tx.source, &secret_of(id), secret.as_bytes())?;
            Ok(tx.conn.execute(
                "UPDATE webhooks SET previous = CASE WHEN previous_until > ?4 THEN previous ELSE secret END, \
                 previous_until = CASE WHEN previous_until > ?4 THEN previous_until ELSE ?3 END, secret = ?2, \
                 updated_at = ?4 WHERE id = ?1",
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
            tx.note_webhooks_changed();
            find(tx.conn, account, id, tx.now)
        })
    }

    /// Deletes a webhook with everything that waits for it.
    ///
    /// # Errors
    /// 404, 403 for another account's.
    pub fn delete_webhook(&self, account: AccountId, id: Uuid) -> Result<()> {
        self.write(|tx| {
            find(tx.conn, account, id, tx.now)?;
            tx.conn
                .execute("DELETE FROM webhooks WHERE id = ?1", [id.as_bytes()])?;
            tx.note_webhooks_changed();
            Ok(())
        })
    }
}
