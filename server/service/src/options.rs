//! The setup of a server: what the command line, the configuration file or a test decides.

mod check;

use crate::error::{Error, Result};
use crate::mail::MailOptions;
use cairn_store::{Clock, Expiry, KeptRevisions, Limits, ObjectLocation, PostgresUrl};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Everything that can be chosen at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Holds the database and the objects (stored blobs of chunks); unused with `ephemeral`.
    pub data: PathBuf,
    /// Keeps everything in memory, except for what goes to a `database` elsewhere.
    pub ephemeral: bool,
    /// A PostgreSQL database; without it the database is a file in `data`.
    pub database: Option<PostgresUrl>,
    /// Keeps other servers off the data directory from the start, rather than from [`serve`](crate::serve) on: only
    /// then may the database of an older version be brought up to date without asking who else uses it.
    pub serving: bool,
    /// Lets webhooks go to private and loopback addresses, without TLS.
    pub allow_private_webhooks: bool,
    /// Makes ids, the history id and nonces repeatable.
    pub seed: Option<u64>,
    pub clock: Clock,
    /// The address in `chunk_url`, such as `https://files.example.com`; taken from the request if absent.
    pub public_url: Option<String>,
    pub objects: ObjectLocation,
    pub limits: Limits,
    pub rate_limits: RateLimits,
    /// The bcrypt cost of new passwords; 10 takes about 60 ms.
    pub password_cost: u32,
    pub connections: ConnectionLimits,
    /// Applications, besides Cairn's own, that people may log in to with their account.
    pub clients: Vec<RegisteredClient>,
    pub revisions: KeptRevisions,
    pub expiry: Expiry,
    /// The days in which everything that is stored is read and checked once; 0 for never.
    pub scrub_days: u32,
    /// Takes a visitor's address from the last one in `X-Forwarded-For`.
    pub behind_proxy: bool,
    /// Logs each request.
    pub access_log: bool,
    pub metrics: MetricsOptions,
    /// The collector of traces; without it nothing is traced.
    pub telemetry: Option<TelemetryOptions>,
    pub cors: CorsOptions,
    /// Without it mails are kept, and nobody is told that one was sent.
    pub mail: Option<MailOptions>,
    /// Keeps signed logs of changes (docs/design/format-2.md). Off unless the configuration says so: no client writes
    /// them yet, and a space that has one takes no changes over REST any more.
    pub signed_logs: bool,
}

/// The places at which metrics are served; none by default. A proxy on the same machine makes everyone's
/// requests come from a loopback address, so that this alone opens nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetricsOptions {
    /// An address of their own. Without a token it has to be a loopback one.
    pub listen: Option<SocketAddr>,
    /// Opens `/metrics` beside the API, for those who send it; asked for at the address of their own,
    /// too.
    pub token: Option<String>,
}

impl MetricsOptions {
    /// Refuses an address that others reach, where no token is asked for.
    ///
    /// # Errors
    /// [`Error::Store`] with a configuration that shows metrics to everyone.
    pub(crate) fn check(&self) -> Result<()> {
        match self.listen {
            Some(address) if !address.ip().is_loopback() && self.token.is_none() => {
                Err(Error::config(format!(
                    "[metrics] listen = \"{address}\" would show the metrics to every machine that reaches \
                     this one; listen on 127.0.0.1, or set `token` beside it"
                )))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// The collector that traces of requests go to.
#[derive(Clone, Debug, PartialEq)]
pub struct TelemetryOptions {
    /// The address of the collector, such as `http://127.0.0.1:4318`.
    pub endpoint: String,
    /// The part of the requests that is traced, 0 to 1, where the caller has not decided.
    pub ratio: f64,
}

/// The web pages of other origins that may use the API; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CorsOptions {
    /// Origins such as `https://app.example.com`, or `*` for all.
    pub origins: Vec<String>,
    /// Lets in all pages that this machine serves, at any port.
    pub loopback: bool,
}

/// Time limits and the number of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// The time for the head of a request, from the connection or the request before it on.
    pub head: Duration,
    /// Between two parts of a request's body, and while a client takes nothing of a response. A body that comes at less
    /// than 1 KiB a second on average is given up once it has cost this and a second for each KiB that has come. A
    /// client takes something of a response as long as the buffers of both systems have room: of a stream, whose events
    /// are small, that may be hours.
    pub body: Duration,
    /// Open at once; more wait in the system's queue.
    pub most: usize,
    /// Streams of changes that one account has open at once at each server.
    pub streams: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            // Longer than clients keep a connection for another request.
            head: Duration::from_secs(60),
            body: Duration::from_secs(60),
            most: 10_000,
            // A device has one for each space: this is enough for 30 devices with 16 spaces. It keeps one account from
            // taking all of `most`.
            streams: 512,
        }
    }
}

/// An application that uses the identity provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisteredClient {
    pub id: String,
    /// The name that people read on the login page; the id if absent.
    pub name: Option<String>,
    /// Addresses that responses may go to, compared as texts; those on the loopback interface are good at any port.
    pub redirect_uris: Vec<String>,
    /// Makes the client a confidential one.
    pub secret: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            data: PathBuf::from("cairn-server-data"),
            ephemeral: false,
            database: None,
            serving: false,
            allow_private_webhooks: false,
            seed: None,
            clock: Clock::System,
            public_url: None,
            objects: ObjectLocation::default(),
            limits: Limits::default(),
            rate_limits: RateLimits::default(),
            password_cost: 10,
            connections: ConnectionLimits::default(),
            clients: Vec::new(),
            revisions: KeptRevisions::default(),
            expiry: Expiry::default(),
            scrub_days: 30,
            behind_proxy: false,
            access_log: false,
            metrics: MetricsOptions::default(),
            telemetry: None,
            cors: CorsOptions::default(),
            mail: None,
            signed_logs: false,
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

/// Requests per minute, account and endpoint, by kind of endpoint; also the size of a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimits {
    pub read: u32,
    pub write: u32,
    /// Chunks and batches.
    pub content: u32,
    /// Commits to signed logs, and pages of them: each may have megabytes.
    pub logs: u32,
    /// Without a valid token, per network.
    pub open: u32,
}

impl Default for RateLimits {
    // Generous: a first sync of 100,000 folders and files finishes without meeting them.
    fn default() -> Self {
        Self {
            read: 30_000,
            write: 30_000,
            content: 120_000,
            logs: 3_000,
            open: 6_000,
        }
    }
}
