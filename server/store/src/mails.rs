//! Mails, from the transaction that is their reason to the mail server that takes them.
//!
//! A server without a mail server keeps them, so that a developer can read them, and never sends them later: what
//! an invitation said months ago is no news.

use super::{Store, Tx};
use crate::db::{self, Optional as _, Row, params};
use crate::error::Result;
use crate::rows::{name_of, word};
use cairn_model::AccountId;
use cairn_wire::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

/// Mails that are taken from the queue at once.
const AT_ONCE: u32 = 20;
const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// After this a mail is no news, and the mail server has had its time.
const LIFETIME_MS: i64 = 3 * DAY_MS;
/// Mails of one account to addresses of its choice.
const MAX_A_DAY: u32 = 200;

/// The state of a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailState {
    /// There was no mail server to hand it to, and there never will be for this mail.
    Kept,
    /// Waits for the first or next attempt.
    Waiting,
    /// The mail server has taken it.
    Sent,
    /// The mail server refused it, or couldn't be reached for days.
    Failed,
}

/// One mail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mail {
    pub(crate) to: String,
    pub(crate) subject: String,
    pub(crate) body: String,
    pub(crate) at: Timestamp,
    pub(crate) state: MailState,
    /// The reason that the last attempt failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

/// A mail whose attempt is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueMail {
    pub row: i64,
    pub to: String,
    pub subject: String,
    pub body: String,
    /// Attempts before this one.
    pub attempts: u32,
    /// The time at which it was queued, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
}

/// Decides whether mails are sent at all, and wakes who sends them.
#[derive(Default)]
pub struct MailQueue {
    sending: AtomicBool,
    waiting: Notify,
}

impl MailQueue {
    /// Lets mails wait for the mail server from now on.
    pub fn enable(&self) {
        self.sending.store(true, Ordering::Relaxed);
    }

    /// Returns true if there is a mail server.
    pub fn is_enabled(&self) -> bool {
        self.sending.load(Ordering::Relaxed)
    }

    /// Wakes who sends mails.
    pub fn wake(&self) {
        self.waiting.notify_one();
    }

    /// Waits until there may be something to send.
    pub async fn wait_for_work(&self) {
        self.waiting.notified().await;
    }
}

/// Returns a text that somebody else has chosen, such as the name of a file, for a line of a mail: it must not begin
/// lines of its own, which would read as if the server had written them.
#[must_use]
pub fn one_line(text: &str) -> String {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    text.replace(breaks, "\u{fffd}")
}

fn due_mail(row: &Row<'_>) -> db::Result<DueMail> {
    Ok(DueMail {
        row: row.get(0)?,
        to: row.get(1)?,
        subject: row.get(2)?,
        body: row.get(3)?,
        attempts: row.get(4)?,
        at_ms: row.get(5)?,
    })
}

impl Tx<'_> {
    /// Queues a mail, in the transaction that is the reason for it. Returns true if it will be sent.
    pub fn send_mail(&self, to: &str, subject: &str, body: &str) -> Result<bool> {
        self.queue_mail(to, subject, body, LIFETIME_MS, None)
    }

    /// The same for one that is no news after `lifetime_ms`.
    pub fn send_mail_within(
        &self,
        lifetime_ms: i64,
        to: &str,
        subject: &str,
        body: &str,
    ) -> Result<bool> {
        self.queue_mail(to, subject, body, lifetime_ms, None)
    }

    /// The same for one that an account has sent to an address of its choice: so many a day, and no more.
    pub fn send_mail_for(
        &self,
        sender: AccountId,
        to: &str,
        subject: &str,
        body: &str,
    ) -> Result<bool> {
        let sent: u32 = self
            .conn
            .prepare_cached("SELECT count(*) FROM mails WHERE sender = ?1 AND at > ?2")?
            .query_row(params![sender.as_bytes(), self.now - DAY_MS], |row| {
                row.get(0)
            })?;
        if sent >= MAX_A_DAY {
            return Ok(false);
        }
        self.queue_mail(to, subject, body, LIFETIME_MS, Some(sender))
    }

    /// Returns true if a mail with this subject was queued for an address within the last hour.
    pub(crate) fn was_just_mailed(&self, to: &str, subject: &str) -> Result<bool> {
        Ok(self
            .conn
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM mails WHERE at > ?3 AND recipient = ?1 AND subject = ?2)",
            )?
            .query_row(params![to, subject, self.now - HOUR_MS], |row| row.get(0))?)
    }

    fn queue_mail(
        &self,
        to: &str,
        subject: &str,
        body: &str,
        lifetime_ms: i64,
        sender: Option<AccountId>,
    ) -> Result<bool> {
        let sending = self.mail_queue.is_enabled();
        let state = if sending {
            MailState::Waiting
        } else {
            MailState::Kept
        };
        self.conn
            .prepare_cached(
                "INSERT INTO mails (recipient, subject, body, at, state, due_at, give_up_at, sender) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?4, ?6, ?7)",
            )?
            .execute(params![
                to,
                one_line(subject),
                body,
                self.now,
                name_of(&state),
                self.now + lifetime_ms,
                sender.as_ref().map(AccountId::as_bytes)
            ])?;
        self.mails_queued.set(true);
        Ok(sending)
    }
}

impl Store {
    pub fn mail_queue(&self) -> &MailQueue {
        &self.mail_queue
    }

    /// Returns all mail, the oldest first.
    pub fn mails(&self) -> Result<Vec<Mail>> {
        self.read(|conn| {
            Ok(conn
                .prepare_cached(
                    "SELECT recipient, subject, body, at, state, error FROM mails ORDER BY row",
                )?
                .query_map([], |row| {
                    Ok(Mail {
                        to: row.get(0)?,
                        subject: row.get(1)?,
                        body: row.get(2)?,
                        at: Timestamp(row.get(3)?),
                        state: word(row, 4)?,
                        error: row.get(5)?,
                    })
                })?
                .collect::<db::Result<_>>()?)
        })
    }

    /// Returns the mails whose attempt is due; those that are no news soon come first.
    pub fn due_mails(&self) -> Result<Vec<DueMail>> {
        let now = self.source().now_ms();
        self.read(|conn| {
            Ok(conn
                .prepare_cached(
                    "SELECT row, recipient, subject, body, attempts, at FROM mails \
                     WHERE state = 'waiting' AND due_at <= ?1 ORDER BY give_up_at, row LIMIT ?2",
                )?
                .query_map(params![now, AT_ONCE], due_mail)?
                .collect::<db::Result<_>>()?)
        })
    }

    /// Returns the time of the next attempt, in milliseconds since 1970-01-01 UTC.
    pub fn next_mail_at(&self) -> Result<Option<i64>> {
        self.read(|conn| {
            Ok(conn
                .prepare_cached(
                    "SELECT due_at FROM mails WHERE state = 'waiting' ORDER BY due_at LIMIT 1",
                )?
                .query_row([], |row| row.get(0))
                .optional()?)
        })
    }

    /// Records that the mail server has taken a mail. Its text goes: nobody needs it any more.
    pub fn record_mail_sent(&self, row: i64) -> Result<()> {
        self.write(|tx| {
            tx.conn.execute(
                "UPDATE mails SET state = 'sent', body = '', error = NULL WHERE row = ?1",
                [row],
            )?;
            Ok(())
        })
    }

    /// Records that an attempt begins, and the time of the next one, should this one fail or nobody record how it
    /// ended.
    pub fn claim_mail(&self, row: i64, next_at_ms: i64) -> Result<()> {
        self.write(|tx| {
            tx.conn.execute(
                "UPDATE mails SET attempts = attempts + 1, due_at = ?2 WHERE row = ?1",
                params![row, next_at_ms],
            )?;
            Ok(())
        })
    }

    /// Records the reason that an attempt failed; after the last one the mail has failed, and its text goes.
    pub fn record_mail_failed(&self, row: i64, error: &str, is_last: bool) -> Result<()> {
        let sql = if is_last {
            "UPDATE mails SET error = ?2, state = 'failed', body = '' WHERE row = ?1"
        } else {
            "UPDATE mails SET error = ?2 WHERE row = ?1"
        };
        self.write(|tx| {
            tx.conn.execute(sql, params![row, error])?;
            Ok(())
        })
    }

    /// Gives up the waiting mails that are no news any more.
    pub fn give_up_old_mails(&self) -> Result<()> {
        let now = self.source().now_ms();
        let any: bool = self.read(|conn| {
            Ok(conn
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM mails WHERE state = 'waiting' AND give_up_at <= ?1)",
                )?
                .query_row([now], |row| row.get(0))?)
        })?;
        if !any {
            return Ok(());
        }
        self.write(|tx| {
            tx.conn.execute(
                "UPDATE mails SET state = 'failed', body = '', error = coalesce(error, 'it was not sent in time') \
                 WHERE state = 'waiting' AND give_up_at <= ?1",
                [now],
            )?;
            Ok(())
        })
    }

    /// Deletes mails that are older than `days` and wait for nothing, and codes that have expired. Returns the
    /// number of mails.
    pub fn forget_old_mails(&self, days: u32) -> Result<u64> {
        self.give_up_old_mails()?;
        let before = self.source().now_ms() - i64::from(days) * DAY_MS;
        self.write(|tx| {
            let gone = tx.conn.execute(
                "DELETE FROM mails WHERE at < ?1 AND state <> 'waiting'",
                [before],
            )?;
            tx.conn
                .execute("DELETE FROM mail_codes WHERE expires_at < ?1", [tx.now])?;
            Ok(gone as u64)
        })
    }
}
