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
use crate::error::Result;
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
    /// True once another server has emptied the database.
    history_ended: Arc<AtomicBool>,
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
        let schema = conn.schema()?.unwrap_or_default();
        let channel = format!("cairn_{}", hex::encode(&Sha256::digest(schema)[..8]));
        let id = hex::encode(source.bytes::<8>());
        let history_ended = Arc::new(AtomicBool::new(false));
        let (own, ended) = (id.clone(), history_ended.clone());
        let everything = Message {
            everything: true,
            ..Message::default()
        };
        let handler = move |payload: Option<&str>| match payload.map(Message::parse) {
            Some(Some(message)) if message.from == own => {}
            Some(Some(message)) => {
                if message.history_ended {
                    ended.store(true, Ordering::SeqCst);
                }
                wake(&message);
            }
            Some(None) | None => wake(&everything),
        };
        let listening = Connection::listen(url, channel.clone(), handler)?;
        Ok(Self {
            id,
            channel,
            leases: Mutex::new(Connection::postgres(url)?),
            history_ended,
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

    /// Notes that another history has begun.
    pub(crate) fn note_history_ended(&self) {
        self.history_ended.store(true, Ordering::SeqCst);
    }

    /// Returns true once after another server has emptied the database.
    pub(crate) fn take_history_ended(&self) -> bool {
        self.history_ended.swap(false, Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests;
