//! Choices of a server's set-up that the store looks at: quotas, kept revisions, the place of objects.

use serde_json::{Value, json};

/// The old revisions of a file that are kept: all of them by default and for a number of 0, the current one always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeptRevisions {
    /// The newest so many, the current one included.
    pub newest: Option<u32>,
    /// The number of the latest days whose revisions are kept.
    pub days: Option<u32>,
}

/// The time after which things are deleted, in days; 0 for never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// Nodes in the trash, since they were put there.
    pub trash_days: u32,
    /// Share links, since they expired.
    pub share_days: u32,
    /// Notifications that were read, since they were made.
    pub notification_days: u32,
}

impl Default for Expiry {
    fn default() -> Self {
        Self {
            trash_days: 30,
            share_days: 90,
            notification_days: 180,
        }
    }
}

/// The address of a PostgreSQL database, `postgres://USER:PASSWORD@HOST/DATABASE`.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresUrl(pub String);

impl std::fmt::Debug for PostgresUrl {
    /// Leaves the password out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PostgresUrl").finish_non_exhaustive()
    }
}

/// The place of objects (stored blobs of encrypted chunks).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ObjectLocation {
    /// `objects/` under the data directory, or memory without one.
    #[default]
    Local,
    /// An S3-compatible store; `url` is `s3://BUCKET/PREFIX`. Credentials come from the `AWS_*`
    /// variables of the environment.
    S3 {
        url: String,
        endpoint: Option<String>,
        region: Option<String>,
        allow_http: bool,
    },
}

/// Quotas of new accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes.
    pub storage: u64,
    /// Bytes per month.
    pub bandwidth: u64,
    pub files: u64,
}

/// Limits to be changed; what is absent stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewLimits {
    /// Bytes.
    pub storage: Option<u64>,
    /// Bytes per month.
    pub bandwidth: Option<u64>,
    pub files: Option<u64>,
}

impl NewLimits {
    /// Returns the limits as the log of administrators has them.
    pub(super) fn event_data(self) -> Value {
        json!({
            "storage_limit": self.storage, "bandwidth_limit": self.bandwidth, "file_count_limit": self.files,
        })
    }
}

/// Returns a limit as the database has it: the largest number there for one beyond that.
pub(super) fn to_sql_limit(limit: u64) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            storage: 1 << 40,
            bandwidth: 10 << 40,
            files: 10_000_000,
        }
    }
}
