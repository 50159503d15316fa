//! Transactions: reads of one consistent state, and writes that give out positions of the feed.

use super::error::Result;
use super::mails::MailQueue;
use super::outbox::{Outbox, Raised};
use super::source::Source;
use super::{Space, Store, feed, keyless};
use parking_lot::MutexGuard;
use rusqlite::{Connection, TransactionBehavior, params};
use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering;

/// A write transaction: the connection, its time, and the feed positions that it gives out.
pub struct Tx<'a> {
    pub(crate) conn: &'a Connection,
    pub now: i64,
    pub(crate) source: &'a Source,
    pub(crate) outbox: &'a Outbox,
    pub(crate) mail_queue: &'a MailQueue,
    /// True once a mail was queued.
    pub(crate) mails_queued: Cell<bool>,
    pub(crate) raised: Raised,
    last_seq: Cell<Option<i64>>,
    moved: RefCell<Vec<i64>>,
}

/// The moment from which a transaction outlasts a power failure; it outlasts a crash of the server at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// With the next checkpoint of the database.
    Usual,
    /// As soon as the write returns: what is acknowledged is a promise to a device.
    OnDisk,
}

impl Durability {
    fn pragma(self) -> &'static str {
        match self {
            Self::Usual => "NORMAL",
            Self::OnDisk => "FULL",
        }
    }
}

impl Store {
    /// Reads one consistent state. `f` must not call the store again.
    pub(crate) fn read<T>(&self, f: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let mut conn = self.reader();
        let tx = conn.transaction_with_behavior(TransactionBehavior::Deferred)?;
        f(&tx)
    }

    /// Runs `f` in one transaction: all of it happens, or nothing. `f` must not call the store again.
    pub fn write<T>(&self, f: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
        self.write_with(Durability::Usual, f)
    }

    /// The same with a promise of when it is on the disk.
    pub(crate) fn write_with<T>(
        &self,
        durability: Durability,
        f: impl FnOnce(&Tx<'_>) -> Result<T>,
    ) -> Result<T> {
        let (value, seq, moved, raised, mails) = {
            let mut conn = self.writer.lock();
            conn.pragma_update(None, "synchronous", durability.pragma())?;
            let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let tx = Tx {
                conn: &transaction,
                now: self.source.now_ms(),
                source: &self.source,
                outbox: &self.outbox,
                mail_queue: &self.mail_queue,
                mails_queued: Cell::new(false),
                raised: Raised::default(),
                last_seq: Cell::new(None),
                moved: RefCell::default(),
            };
            let value = f(&tx)?;
            let (seq, moved) = (tx.last_seq.get(), tx.moved.take());
            let (raised, mails) = (tx.raised.any(), tx.mails_queued.get());
            if let Some(seq) = seq {
                transaction
                    .prepare_cached("INSERT INTO commits (seq, nonce) VALUES (?1, ?2)")?
                    .execute(params![seq, self.source.nonce()])?;
            }
            transaction.commit()?;
            (value, seq, moved, raised, mails)
        };
        if raised {
            self.outbox.wake();
        }
        if mails {
            self.mail_queue.wake();
        }
        for space in moved {
            self.hub.moved(space, seq.unwrap_or_default());
        }
        Ok(value)
    }

    fn reader(&self) -> MutexGuard<'_, Connection> {
        for reader in &self.readers {
            if let Some(free) = reader.try_lock() {
                return free;
            }
        }
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let busy = if self.readers.is_empty() {
            &self.writer
        } else {
            &self.readers[turn % self.readers.len()]
        };
        busy.lock()
    }
}

impl Tx<'_> {
    /// Gives out the next position of the feed to a change in `space`.
    ///
    /// # Errors
    /// 409 in a space with a log: it would not tell of the change.
    pub(crate) fn next_seq(&self, space: Space) -> Result<i64> {
        keyless::check_no_log(self.conn, space)?;
        let last = match self.last_seq.get() {
            Some(seq) => seq,
            None => feed::last_commit(self.conn)?,
        };
        self.last_seq.set(Some(last + 1));
        let mut moved = self.moved.borrow_mut();
        if !moved.contains(&space.row) {
            moved.push(space.row);
        }
        Ok(last + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::source::Clock;
    use std::sync::Arc;

    #[test]
    fn a_failed_transaction_leaves_nothing() {
        let store = Store::open(None, Arc::new(Source::new(Clock::System, None))).unwrap();
        let failed: Result<()> = store.write(|tx| {
            tx.conn
                .execute("INSERT INTO settings (key, value) VALUES ('x', x'00')", [])?;
            Err(Error::invalid("no"))
        });
        assert!(failed.is_err());
        let left: i64 = store
            .read(|c| {
                Ok(
                    c.query_row("SELECT count(*) FROM settings WHERE key = 'x'", [], |r| {
                        r.get(0)
                    })?,
                )
            })
            .unwrap();
        assert_eq!(left, 0);
    }
}
