//! The outbox: mail that the server would send. Nothing here sends it; a development server shows it.

use super::{Store, Tx};
use crate::error::Result;
use cairn_wire::Timestamp;
use rusqlite::params;
use serde::Serialize;

/// One mail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mail {
    pub(crate) to: String,
    pub(crate) subject: String,
    pub(crate) body: String,
    pub(crate) at: Timestamp,
}

impl Tx<'_> {
    /// Puts a mail into the outbox, in the transaction that is the reason for it.
    pub fn send_mail(&self, to: &str, subject: &str, body: &str) -> Result<()> {
        self.conn
            .prepare_cached(
                "INSERT INTO mails (recipient, subject, body, at) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![to, subject, body, self.now])?;
        Ok(())
    }
}

impl Store {
    /// All mail, the oldest first.
    pub fn mails(&self) -> Result<Vec<Mail>> {
        self.read(|conn| {
            Ok(conn
                .prepare_cached("SELECT recipient, subject, body, at FROM mails ORDER BY row")?
                .query_map([], |row| {
                    Ok(Mail {
                        to: row.get(0)?,
                        subject: row.get(1)?,
                        body: row.get(2)?,
                        at: Timestamp(row.get(3)?),
                    })
                })?
                .collect::<rusqlite::Result<_>>()?)
        })
    }
}
