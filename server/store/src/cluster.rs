//! Several servers on one database of PostgreSQL: what they tell each other, who of them does the work that one does at
//! a time, and what they count together.
//!
//! The tables are the truth. A notification only wakes: whoever missed some is woken once it listens again.

mod counters;
mod leases;
mod message;
mod turns;

pub use counters::Taken;
pub(crate) use message::Message;

use crate::db::{Connection, Listening, Notification};
use crate::error::{Error, Result};
use crate::source::Source;
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The place of a server among those on its database.
pub(crate) struct Cluster {
    /// The name of this server, new with each start.
    id: String,
    channel: String,
    /// The connection for leases, which must not wait for anything else.
    leases: Mutex<Connection>,
    /// True once another server may have emptied the database.
    is_history_stale: Arc<AtomicBool>,
    _listening: Listening,
}

impl Cluster {
    /// Joins the servers on the database that `conn` is connected to.
    pub(crate) fn join(
        url: &str,
        conn: &Connection,
        source: &Source,
        wake: impl Fn(&Message) + Send + Sync + 'static,
    ) -> Result<Self> {
        // Channels are the database's, and a database may have the tables of several services.
        let schema = conn.schema()?.ok_or_else(|| {
            Error::Config("the address of the database names no schema that is there".into())
        })?;
        let channel = format!("cairn_{}", hex::encode(&Sha256::digest(schema)[..8]));
        let id = hex::encode(source.bytes::<8>());
        let is_history_stale = Arc::new(AtomicBool::new(false));
        let (own, stale) = (id.clone(), is_history_stale.clone());
        let handler = move |payload: Option<&str>| {
            let message = payload
                .and_then(Message::parse)
                .unwrap_or_else(Message::of_everything);
            if message.from == own {
                return;
            }
            // Before anybody is woken who looks at it.
            if message.everything {
                stale.store(true, Ordering::SeqCst);
            }
            wake(&message);
        };
        let listening = Connection::listen(url, channel.clone(), handler)?;
        Ok(Self {
            id,
            channel,
            leases: Mutex::new(Connection::postgres(url)?),
            is_history_stale,
            _listening: listening,
        })
    }

    /// Returns the notification that tells the other servers of a transaction.
    pub(crate) fn notification(&self, message: Message) -> Notification {
        Notification {
            channel: self.channel.clone(),
            payload: message.write(&self.id),
        }
    }

    /// Notes that another history may have begun.
    pub(crate) fn mark_history_stale(&self) {
        self.is_history_stale.store(true, Ordering::SeqCst);
    }

    /// Returns true once after another server may have emptied the database.
    pub(crate) fn take_stale_mark(&self) -> bool {
        self.is_history_stale.swap(false, Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests;
