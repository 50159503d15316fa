//! How a server is set up: what the command line, the configuration file or a test decides.

use crate::source::Clock;
use std::path::PathBuf;
use std::time::Duration;

/// Everything that can be chosen at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Holds the database and the objects; unused with `ephemeral`.
    pub data: PathBuf,
    /// Keeps everything in memory.
    pub ephemeral: bool,
    /// Serves `/_dev` and seeds the development accounts.
    pub dev: bool,
    /// Lets webhooks go to private and loopback addresses, without TLS.
    pub allow_private_webhooks: bool,
    /// Makes ids, epoch and nonces repeatable.
    pub seed: Option<u64>,
    pub clock: Clock,
    /// The address in `chunk_url`, such as `https://files.example.com`; taken from the request if absent.
    pub public_url: Option<String>,
    pub objects: Objects,
    pub limits: Limits,
    pub patience: Patience,
    /// Applications, besides Cairn's own, that people may log in to with their account.
    pub clients: Vec<RegisteredClient>,
    pub revisions: KeptRevisions,
    /// Takes a visitor's address from the last one in `X-Forwarded-For`.
    pub behind_proxy: bool,
}

/// What the server puts up with from those who connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For the head of a request, from the connection or the request before it on.
    pub head: Duration,
    /// Between two parts of a request's body.
    pub body: Duration,
    /// Open at once; more wait in the system's queue.
    pub connections: usize,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            // Longer than clients keep a connection for another request.
            head: Duration::from_secs(60),
            body: Duration::from_secs(60),
            connections: 10_000,
        }
    }
}

/// An application that uses the identity provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisteredClient {
    pub id: String,
    /// What people read on the login page; the id if absent.
    pub name: Option<String>,
    /// Where answers may go, compared as texts.
    pub redirect_uris: Vec<String>,
    /// Makes the client a confidential one.
    pub secret: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            data: PathBuf::from("cairn-server-data"),
            ephemeral: false,
            dev: false,
            allow_private_webhooks: false,
            seed: None,
            clock: Clock::System,
            public_url: None,
            objects: Objects::default(),
            limits: Limits::default(),
            patience: Patience::default(),
            clients: Vec::new(),
            revisions: KeptRevisions::default(),
            behind_proxy: false,
        }
    }
}

impl Options {
    /// A server in memory, as tests want it.
    #[must_use]
    pub fn ephemeral() -> Self {
        Self {
            ephemeral: true,
            ..Self::default()
        }
    }
}

/// How many old revisions of a file are kept; all of them by default. The current one always is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeptRevisions {
    /// The newest so many, the current one included.
    pub newest: Option<u32>,
    /// Those of the last so many days.
    pub days: Option<u32>,
}

/// Where sealed chunks are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Objects {
    /// `objects/` under the data directory, or memory with `ephemeral`.
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

/// Quotas of new accounts, and how many requests a minute one token may make at one endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes.
    pub storage: u64,
    /// Bytes per month.
    pub bandwidth: u64,
    pub files: u64,
    pub rate: RateLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            storage: 1 << 40,
            bandwidth: 10 << 40,
            files: 10_000_000,
            rate: RateLimits::default(),
        }
    }
}

/// Requests per minute, token and endpoint, by kind of endpoint; also the size of a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimits {
    pub read: u32,
    pub write: u32,
    /// Chunks and batches.
    pub content: u32,
    /// Without a token, and credentials.
    pub open: u32,
}

impl Default for RateLimits {
    // Generous: a first sync of 100,000 folders and files finishes without meeting them.
    fn default() -> Self {
        Self {
            read: 30_000,
            write: 30_000,
            content: 120_000,
            open: 6_000,
        }
    }
}
