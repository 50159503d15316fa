//! The error of a database, whichever it is.

use tokio_postgres::error::SqlState;

/// The result of the module's functions.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// The beginnings of PostgreSQL's codes for failures that pass: of the connection, of resources, by an operator or a
/// restart; and a database that takes no changes, as a replica does.
const PASSING: [&str; 4] = ["08", "53", "57", "25006"];

/// A statement that failed, or a value that is not what the store expects.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no row where there has to be one")]
    NoRow,
    /// A column whose value has no meaning for the store.
    #[error("the column {column}: {reason}")]
    Column {
        column: usize,
        reason: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A parameter that no column can hold.
    #[error("the number {0} does not fit into a column")]
    OutOfRange(u64),
    #[error("a statement takes {expected} parameters, and got {given}")]
    ParameterCount { expected: usize, given: usize },
    #[error("the database has no file of its own on this machine")]
    NoFile,
    #[error("a statement of the transaction has failed before")]
    Failed,
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error("{}", describe(.0))]
    Postgres(#[from] tokio_postgres::Error),
    #[error("the connection to the database: {0}")]
    Connection(#[from] std::io::Error),
}

/// Returns the words of an error and of its causes.
fn describe(error: &tokio_postgres::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(one) = cause {
        text += &format!(": {one}");
        cause = one.source();
    }
    text
}

impl Error {
    /// Returns true if the database can't be reached now, or takes no changes: the same may succeed later.
    pub(crate) fn is_unreachable(&self) -> bool {
        match self {
            Self::Connection(_) => true,
            Self::Postgres(error) => match error.code() {
                Some(code) => passes(code.code()),
                None => error.is_closed() || error.as_db_error().is_none() && is_io(error),
            },
            Self::NoRow
            | Self::Column { .. }
            | Self::OutOfRange(_)
            | Self::ParameterCount { .. }
            | Self::NoFile
            | Self::Failed
            | Self::Sqlite(_) => false,
        }
    }

    /// Returns true if the disk of the database has no room left.
    pub(crate) fn is_disk_full(&self) -> bool {
        match self {
            Self::Sqlite(error) => error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull),
            Self::Postgres(error) => error.code().is_some_and(|code| is_full(code.code())),
            Self::NoRow
            | Self::Column { .. }
            | Self::OutOfRange(_)
            | Self::ParameterCount { .. }
            | Self::NoFile
            | Self::Failed
            | Self::Connection(_) => false,
        }
    }

    /// The error for a column whose value has no meaning.
    pub(crate) fn column(
        column: usize,
        reason: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Column {
            column,
            reason: reason.into(),
        }
    }
}

fn is_io(error: &tokio_postgres::Error) -> bool {
    std::error::Error::source(error).is_some_and(<dyn std::error::Error>::is::<std::io::Error>)
}

/// Makes an option of a result that lacks a row.
pub(crate) trait Optional<T> {
    fn optional(self) -> Result<Option<T>>;
}

/// Returns true for a code of PostgreSQL that stands for a failure that passes. A full disk does not by itself, although
/// it is of a class whose failures do.
fn passes(code: &str) -> bool {
    !is_full(code) && PASSING.iter().any(|class| code.starts_with(class))
}

/// Returns true for the code of PostgreSQL that stands for a full disk.
fn is_full(code: &str) -> bool {
    code == SqlState::DISK_FULL.code()
}

impl<T> Optional<T> for Result<T> {
    fn optional(self) -> Result<Option<T>> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(Error::NoRow) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, is_full, passes};

    #[test]
    fn a_failure_of_the_database_passes_and_one_of_a_statement_does_not() {
        for code in ["08006", "53300", "57P01", "57P03", "25006"] {
            assert!(passes(code), "{code}");
        }
        for code in ["22012", "23505", "25001", "25P02", "40001", "42601"] {
            assert!(!passes(code), "{code}");
        }
    }

    #[test]
    fn a_full_disk_is_no_database_that_cannot_be_reached() {
        assert!(is_full("53100") && !passes("53100"));
        assert!(!is_full("53200") && passes("53200"), "memory");
        let code = rusqlite::ffi::SQLITE_FULL;
        let full = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
        let full = Error::from(full);
        assert!(full.is_disk_full() && !full.is_unreachable(), "{full}");
    }

    #[test]
    fn a_lost_connection_passes_and_a_wrong_statement_does_not() {
        let lost = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        assert!(Error::from(lost).is_unreachable());
        assert!(!Error::Failed.is_unreachable() && !Error::NoRow.is_unreachable());
        // Nobody listens there.
        let mut conn =
            crate::db::Connection::postgres("postgres://cairn@127.0.0.1:1/none").unwrap();
        let refused = conn.transaction(crate::db::Begin::Read).err().unwrap();
        assert!(refused.is_unreachable(), "{refused}");
    }
}
