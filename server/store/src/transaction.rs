//! Transactions: reads of one consistent state, and writes that give out positions of the change feed.

use super::error::Result;
use super::mails::MailQueue;
use super::outbox::{Outbox, Raised};
use super::source::Source;
use super::{Space, Store, feed, log_guard};
use crate::cluster::Message;
use crate::db::{Begin, Connection, Dialect, Notification, params};
use parking_lot::{Mutex, MutexGuard};
use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering;
use tokio::runtime::{Handle, RuntimeFlavor};

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
    /// On the disk as soon as the write returns: what is acknowledged is a promise to a device.
    OnDisk,
}

/// Runs `f` with a durability. Usual writes, which are many, change no setting of the connection.
fn with_durability<T>(
    conn: &mut Connection,
    durability: Durability,
    f: impl FnOnce(&mut Connection) -> Result<T>,
) -> Result<T> {
    if durability == Durability::Usual {
        return f(conn);
    }
    conn.flush_commits(true)?;
    let done = f(conn);
    // A connection that keeps it is slower, and no less safe: what was committed is no failure for that.
    if let Err(error) = conn.flush_commits(false) {
        tracing::warn!(%error, "the database goes on writing each change through to the disk");
    }
    done
}

/// The result of a transaction, and what to tell once it is committed.
struct Written<T> {
    value: T,
    /// Rows of the spaces (file trees of accounts and teams) that changed.
    moved: Vec<i64>,
    raised: bool,
    mails: bool,
}

/// Runs what may take long, or wait long, without holding up the requests that this thread would serve
/// meanwhile: a thread of the runtime hands them to another one first.
fn off_the_runtime<T>(f: impl FnOnce() -> T) -> T {
    let on_one_of_many = Handle::try_current()
        .is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if on_one_of_many {
        tokio::task::block_in_place(f)
    } else {
        f()
    }
}

/// Locks a connection. One that is free costs nothing more.
fn lock(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    connection
        .try_lock()
        .unwrap_or_else(|| off_the_runtime(|| connection.lock()))
}

impl Store {
    /// Reads one consistent state. `f` must not call the store again.
    pub(crate) fn read<T>(&self, f: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.as_it_takes(|| self.read_here(f))
    }

    /// Runs what waits for another machine without holding up the thread's other requests.
    pub(crate) fn as_it_takes<T>(&self, f: impl FnOnce() -> T) -> T {
        match self.dialect {
            Dialect::Sqlite => f(),
            Dialect::Postgres => off_the_runtime(f),
        }
    }

    /// Reads with a single statement, which sees one state without a transaction. `f` runs once more if its connection
    /// has broken, and must not call the store again.
    pub(crate) fn read_one<T>(&self, f: impl Fn(&Connection) -> Result<T>) -> Result<T> {
        self.as_it_takes(|| {
            let mut conn = self.reader();
            match f(&conn) {
                Err(error) if conn.forget_broken() => {
                    tracing::warn!(%error, "reading from the database again");
                    f(&conn)
                }
                done => done,
            }
        })
    }

    fn read_here<T>(&self, f: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let mut conn = self.reader();
        let tx = conn.transaction(Begin::Read)?;
        f(&tx)
    }

    /// Runs `f` in one transaction: all of it happens, or nothing. `f` must not call the store again.
    pub fn write<T>(&self, f: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
        self.write_with(Durability::Usual, f)
    }

    /// The same for what may change thousands of rows: other requests are served meanwhile.
    pub fn write_many<T>(&self, f: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
        off_the_runtime(|| self.write(f))
    }

    /// The same with a promise of when it is on the disk.
    pub(crate) fn write_with<T>(
        &self,
        durability: Durability,
        f: impl FnOnce(&Tx<'_>) -> Result<T>,
    ) -> Result<T> {
        let written = self.as_it_takes(|| {
            let mut conn = lock(&self.writer);
            with_durability(&mut conn, durability, |conn| self.transact(conn, f))
        });
        let Written {
            value,
            moved,
            raised,
            mails,
        } = written?;
        if raised {
            self.outbox.wake();
        }
        if mails {
            self.mail_queue.wake();
        }
        for space in moved {
            self.feed_notifier.notify(space);
        }
        Ok(value)
    }

    /// Runs `f` in a transaction and commits it.
    fn transact<T>(
        &self,
        conn: &mut Connection,
        f: impl FnOnce(&Tx<'_>) -> Result<T>,
    ) -> Result<Written<T>> {
        let transaction = conn.transaction(Begin::Write)?;
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
        let written = Written {
            value: f(&tx)?,
            moved: tx.moved.take(),
            raised: tx.raised.any(),
            mails: tx.mails_queued.get(),
        };
        if let Some(seq) = tx.last_seq.get() {
            transaction
                .prepare_cached("INSERT INTO commits (seq, nonce) VALUES (?1, ?2)")?
                .execute(params![seq, self.source.nonce()])?;
        }
        transaction.commit_and_notify(self.news(&written).as_ref())?;
        Ok(written)
    }

    /// Returns a function that wakes whoever waits for the news of another server.
    pub(crate) fn waker(&self) -> impl Fn(&Message) + Send + Sync + use<> {
        let feed = self.feed_notifier.clone();
        let (outbox, mails) = (self.outbox.clone(), self.mail_queue.clone());
        move |message| {
            for space in &message.spaces {
                feed.notify(*space);
            }
            if message.everything {
                feed.notify_all();
            }
            if message.deliveries || message.everything {
                outbox.wake();
            }
            if message.mails || message.everything {
                mails.wake();
            }
        }
    }

    /// Runs single statements on a connection for reads, each in a transaction of its own. They may write what needs no
    /// place in the order of all writes.
    pub(crate) fn each_alone<T>(&self, f: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.as_it_takes(|| {
            let mut conn = self.reader();
            conn.forget_broken();
            f(&conn)
        })
    }

    /// Returns what the other servers on the database have to hear of a transaction.
    fn news<T>(&self, written: &Written<T>) -> Option<Notification> {
        let cluster = self.cluster.as_ref()?;
        let message = Message {
            spaces: written.moved.clone(),
            deliveries: written.raised,
            mails: written.mails,
            ..Message::default()
        };
        (!message.is_empty()).then(|| cluster.notification(message))
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
        lock(busy)
    }
}

impl Tx<'_> {
    /// Runs `f` so that all of it happens, or nothing, and the transaction goes on. Not for one within another.
    ///
    /// # Errors
    /// Returns the error of `f`: then nothing of it is left. After that of a broken database the transaction is not to be
    /// trusted any more.
    pub fn together<T>(&self, f: impl FnOnce() -> Result<T>) -> Result<T> {
        let last_seq = self.last_seq.get();
        self.conn.execute_batch("SAVEPOINT together")?;
        let done = f();
        if done.is_err() {
            self.conn.execute_batch("ROLLBACK TO SAVEPOINT together")?;
            // What is told in vain, to those who wait for the feed or deliver webhooks and mails, finds nothing new.
            self.last_seq.set(last_seq);
        }
        self.conn.execute_batch("RELEASE SAVEPOINT together")?;
        done
    }

    /// Gives out the next position of the feed to a change in `space`.
    ///
    /// # Errors
    /// 409 in a space with a log: it would not tell of the change.
    pub(crate) fn next_seq(&self, space: Space) -> Result<i64> {
        let mut moved = self.moved.borrow_mut();
        if !moved.contains(&space.row) {
            log_guard::check_no_log(self.conn, space)?;
            moved.push(space.row);
        }
        let last = match self.last_seq.get() {
            Some(seq) => seq,
            None => feed::last_commit(self.conn)?,
        };
        self.last_seq.set(Some(last + 1));
        Ok(last + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db;
    use crate::error::Error;
    use crate::source::Clock;
    use std::sync::Arc;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_write_that_waits_for_another_holds_up_no_other_task() {
        let store =
            Arc::new(Store::open(None, Arc::new(Source::new(Clock::System, None))).unwrap());
        let (locked, is_locked) = std::sync::mpsc::channel();
        let (release, is_released) = std::sync::mpsc::channel::<()>();
        let writing = {
            let store = store.clone();
            std::thread::spawn(move || {
                store.write(|_| {
                    locked.send(()).unwrap();
                    is_released.recv().unwrap();
                    Ok(())
                })
            })
        };
        is_locked.recv().unwrap();
        let waiting = {
            let store = store.clone();
            tokio::spawn(async move { store.write(|_| Ok(())) })
        };
        // The only thread of the runtime takes them in this order.
        let other = tokio::spawn(async {});
        other.await.unwrap();
        release.send(()).unwrap();
        waiting.await.unwrap().unwrap();
        writing.join().unwrap().unwrap();
    }

    #[test]
    fn a_failed_part_leaves_nothing_and_the_rest_stays() {
        let store = crate::testing::open(Arc::new(Source::new(Clock::System, None)));
        let put = |tx: &Tx<'_>, key: &str| -> Result<()> {
            let sql = "INSERT INTO settings (key, value) VALUES (?1, x'00')";
            tx.conn.execute(sql, params![key])?;
            Ok(())
        };
        let written = store.write(|tx| {
            put(tx, "test a")?;
            let failed: Result<()> = tx.together(|| {
                put(tx, "test b")?;
                Err(Error::invalid("no"))
            });
            assert!(failed.is_err());
            tx.together(|| put(tx, "test c"))
        });
        written.unwrap();
        let left = store.read(|c| {
            let sql = "SELECT key FROM settings WHERE key LIKE 'test _' ORDER BY key";
            let mut keys = c.prepare(sql)?;
            let keys = keys.query_map([], |row| row.get::<String>(0))?;
            Ok(keys.collect::<db::Result<Vec<_>>>()?)
        });
        assert_eq!(left.unwrap(), ["test a", "test c"]);
    }

    #[test]
    fn a_failed_transaction_leaves_nothing() {
        let store = crate::testing::open(Arc::new(Source::new(Clock::System, None)));
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
