//! The store's one error; variants follow what a caller can do.
//!
//! The messages of the first group are for those who made the request. Those of the second group
//! are for the log: their causes lie inside the server.

use crate::db;
use cairn_model::RevisionId;
use std::io;

/// The result of the crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A request that was refused, or a store that failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Invalid(String),
    #[error("{0}")]
    Unauthorized(String),
    /// The card was declined, or the wallet holds too little.
    #[error("{0}")]
    PaymentRequired(String),
    #[error("{0}")]
    Forbidden(String),
    #[error("{0}")]
    NotFound(String),
    /// A name is taken or the base revision moved on; `head` is the present one where there is one.
    #[error("{message}")]
    Conflict {
        message: String,
        head: Option<RevisionId>,
    },
    #[error("{0}")]
    Gone(String),
    /// `If-Match` named another version than the present one.
    #[error("{message}")]
    Stale { message: String, version: u64 },
    /// Too many failed attempts; the next one may come after `retry_after` seconds.
    #[error("{message}; try again in {retry_after} s")]
    TooManyAttempts { message: String, retry_after: u64 },
    #[error("{0}")]
    QuotaFull(String),

    #[error("the database failed: {0}")]
    Sql(#[from] db::Error),
    #[error("the object store failed: {0}")]
    Objects(#[from] object_store::Error),
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
    /// A record (an encrypted secret of the server) can't be decrypted: its key is not here, or it is damaged.
    #[error("{0}")]
    Unopenable(String),
    /// The configuration or the data directory can't be used.
    #[error("{0}")]
    Config(String),
    #[error("{0}")]
    Internal(String),
}

impl Error {
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(message.into())
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::NotFound(message.into())
    }

    pub fn conflict(message: impl Into<String>) -> Self {
        Self::Conflict {
            message: message.into(),
            head: None,
        }
    }

    /// Returns true if the object store has no such object.
    #[must_use]
    pub fn is_missing_object(&self) -> bool {
        matches!(self, Self::Objects(object_store::Error::NotFound { .. }))
    }

    /// Returns true if the database can't be reached now: the same request may succeed later.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::Sql(error) if error.is_unreachable())
    }

    /// Returns true if a disk of the server has no room left: the same succeeds once somebody has made some.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        if let Self::Sql(error) = self {
            return error.is_disk_full();
        }
        let mut cause = self.cause_outside();
        while let Some(error) = cause {
            let Some(error) = error.downcast_ref::<io::Error>() else {
                cause = error.source();
                continue;
            };
            if matches!(
                error.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
            ) {
                return true;
            }
            // Its `source` is that of the error that it holds, and passes over this one itself.
            cause = error.get_ref().map(|held| held as _);
        }
        false
    }

    /// Returns the error of a system or library that files or objects lie in.
    fn cause_outside(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Self::Objects(error) = self {
            return Some(error);
        }
        if let Self::Io { source, .. } = self {
            return Some(source);
        }
        None
    }

    /// Returns true if the server failed, rather than the request.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        match self {
            Self::Sql(_)
            | Self::Objects(_)
            | Self::Io { .. }
            | Self::Unopenable(_)
            | Self::Config(_)
            | Self::Internal(_) => true,
            Self::Invalid(_)
            | Self::Unauthorized(_)
            | Self::PaymentRequired(_)
            | Self::Forbidden(_)
            | Self::NotFound(_)
            | Self::Conflict { .. }
            | Self::Gone(_)
            | Self::Stale { .. }
            | Self::TooManyAttempts { .. }
            | Self::QuotaFull(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{add_actor, make_folder};
    use crate::{Clock, Edit, Source, Store};
    use std::sync::Arc;

    #[test]
    fn a_database_on_a_full_disk_refuses_changes_and_goes_on_answering() {
        let source = Arc::new(Source::new(Clock::System, Some(1)));
        let store = Store::open(None, source).unwrap();
        let actor = add_actor(&store);
        let folder = make_folder(&store, &actor, "a");
        // The smallest number of pages that SQLite accepts: those that there are.
        let full = "PRAGMA max_page_count = 1";
        let shrunk = store.write(|tx| Ok(tx.conn.query_row(full, [], |row| row.get::<i64>(0))?));
        shrunk.unwrap();
        let describe = |text: String| {
            let edit = Edit {
                description: Some(text),
                ..Edit::default()
            };
            store.write(|tx| tx.edit(&actor, folder, &edit))
        };
        let before = store.node(actor.space, folder).unwrap();
        let refused = describe("x".repeat(1 << 20)).unwrap_err();
        assert!(refused.is_disk_full(), "{refused}");
        assert_eq!(store.node(actor.space, folder).unwrap(), before);
        let freed = "PRAGMA max_page_count = 1000000";
        let freed = store.write(|tx| Ok(tx.conn.query_row(freed, [], |row| row.get::<i64>(0))?));
        freed.unwrap();
        describe("x".repeat(1 << 20)).unwrap();
    }

    #[test]
    fn a_full_disk_is_recognised_however_deep_its_error_lies() {
        let of_objects = |kind: io::ErrorKind| {
            Error::Objects(object_store::Error::Generic {
                store: "LocalFileSystem",
                source: Box::new(io::Error::other(io::Error::from(kind))),
            })
        };
        let of_io = |kind: io::ErrorKind| Error::Io {
            what: "write".to_owned(),
            source: kind.into(),
        };
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
            assert!(of_objects(kind).is_disk_full(), "{kind}");
            assert!(of_io(kind).is_disk_full(), "{kind}");
        }
        assert!(!of_objects(io::ErrorKind::PermissionDenied).is_disk_full());
        assert!(!Error::Internal("no".to_owned()).is_disk_full());
    }
}
