//! The state that all requests share, and the work on it that no single request does.

pub(crate) mod bandwidth;
mod local_objects;
pub(crate) mod seen;
pub(crate) mod shared_pages;
pub(crate) mod streams;
pub(crate) mod uploads;

use self::bandwidth::Bandwidth;
use self::seen::Seen;
use self::shared_pages::SharedPages;
use self::streams::OpenStreams;
use self::uploads::OpenUploads;
use crate::auth::api_key;
use crate::auth::token::{Issue, LIFETIME_S, LOCAL_ISSUER, Tokens};
use crate::background;
use crate::bounds::REPORT_DETAILS;
use crate::error::{Error, Result};
use crate::http::idempotency::kept::KeptResponses;
use crate::http::metrics::Metrics;
use crate::http::rate::RateLimiter;
use crate::http::text::{bounded_lines, email_address};
use crate::identity::Identity;
use crate::options::Options;
use crate::signing_keys;
use crate::stored::StoredChunks;
use crate::telemetry::Traces;
use cairn_model::AccountId;
use cairn_store::{Administrator, Damage, NewAccount, Objects, Scopes, Source, Store, one_line};
use cairn_wire::admin::{AnswerReport, ReportOverview};
use std::collections::HashSet;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use uuid::Uuid;

/// Expired uploads and responses are looked for at most this often.
const HOUSEKEEPING_MS: i64 = 600_000;
/// The longest time without looking into a queue, in case the clock was changed.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The state that every handler gets.
pub type AppState = Arc<ServerState>;

/// The parts of a running server.
pub struct ServerState {
    pub(crate) options: Options,
    pub source: Arc<Source>,
    pub store: Store,
    pub(crate) objects: Objects,
    pub(crate) tokens: Tokens,
    pub(crate) identity: Identity,
    pub(crate) rate: RateLimiter,
    pub(crate) uploads: OpenUploads,
    pub(crate) kept: KeptResponses,
    pub(crate) bandwidth: Bandwidth,
    pub(crate) metrics: Metrics,
    pub(crate) traces: Option<Traces>,
    pub(crate) seen: Seen,
    pub(crate) shared_pages: SharedPages,
    pub(crate) streams: OpenStreams,
    /// True once the server is to end, which streams wait for.
    pub(crate) closing: watch::Sender<bool>,
    /// The lock of the data directory, if the server was built to serve.
    pub(crate) lock: Option<File>,
    last_housekeeping: AtomicI64,
}

impl ServerState {
    /// Returns what reads stored chunks.
    pub(crate) fn stored_chunks(&self) -> StoredChunks<'_> {
        StoredChunks {
            store: &self.store,
            objects: &self.objects,
        }
    }

    /// Opens the store. `lock` keeps other servers off the data directory as long as the state lives.
    pub(crate) fn open(options: Options, lock: Option<File>) -> Result<Self> {
        let source = Arc::new(Source::new(options.clock, options.seed));
        let data = (!options.ephemeral).then_some(options.data.as_path());
        let store = match (&options.database, &lock) {
            (Some(url), _) => Store::open_postgres(url, data, source.clone())?,
            (None, Some(_)) => Store::open_for_server(data, source.clone())?,
            (None, None) => Store::open(data, source.clone())?,
        };
        if options.mail.is_some() {
            store.mail_queue().enable();
        }
        let tokens = Tokens::new(
            &store.secret(signing_keys::ACCESS_TOKENS)?,
            options.public_url.as_deref(),
        )?;
        local_objects::check(&options, &store)?;
        let now = source.now_ms();
        for ended in store.logins_ended_since(now - LIFETIME_S * 1000)? {
            tokens.end(ended, now);
        }
        let salt = if store.is_shared() {
            let secret = store.secret("rate_salt")?;
            *secret.first_chunk().unwrap_or(&[0; 16])
        } else {
            source.bytes()
        };
        Ok(Self {
            objects: Objects::open(&options.objects, data)?,
            tokens,
            identity: Identity::new(&options, &store)?,
            rate: RateLimiter::new(&options.rate_limits, source.clone(), salt),
            uploads: OpenUploads::default(),
            kept: KeptResponses::default(),
            bandwidth: Bandwidth::default(),
            metrics: Metrics::default(),
            traces: options.telemetry.as_ref().map(Traces::begin).transpose()?,
            seen: Seen::default(),
            shared_pages: SharedPages::default(),
            streams: OpenStreams::default(),
            closing: watch::Sender::new(false),
            lock,
            last_housekeeping: AtomicI64::new(now),
            source,
            store,
            options,
        })
    }

    /// Returns the options that the server was built with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Makes the text of a new API key.
    pub fn fresh_key(&self) -> String {
        api_key::generate(&self.source)
    }

    /// Records the answer to a report, of an administrator here or over REST.
    ///
    /// # Errors
    /// Not found for an unknown report; invalid for a text of more than 1000 characters.
    pub(crate) fn answer_report(
        &self,
        by: Administrator,
        report: Uuid,
        answer: &AnswerReport,
    ) -> Result<ReportOverview> {
        let text = answer.answer.as_deref().unwrap_or_default();
        let answer = AnswerReport {
            answer: Some(bounded_lines("answer", text, 0..=REPORT_DETAILS)?),
            ..answer.clone()
        };
        Ok(self.store.answer_report(by, report, &answer)?)
    }

    /// Stores an API key for an account.
    ///
    /// # Errors
    /// A conflict for an account with as many keys as it may have.
    pub fn store_key(
        &self,
        account: AccountId,
        name: &str,
        key: &str,
        expires_in_ms: Option<i64>,
    ) -> Result<cairn_wire::account::ApiKey> {
        let (shown, hash) = (api_key::visible_prefix(key), api_key::hash(key));
        Ok(self
            .store
            .add_api_key(account, name, &shown, hash, expires_in_ms)?)
    }

    /// Makes an account.
    ///
    /// # Errors
    /// A conflict if the address is taken, an invalid request if it is not an address.
    pub fn add_user(&self, email: &str, password: &str) -> Result<AccountId> {
        let email = address(email)?;
        let hash = self.password_hash(password)?;
        let new = NewAccount {
            email: &email,
            password: &hash,
            limits: self.options.limits,
        };
        Ok(self.store.add_account(&new)?.id)
    }

    /// Returns the bcrypt hash of a password.
    pub(crate) fn password_hash(&self, password: &str) -> Result<String> {
        if password.is_empty() || password.len() > 72 {
            return Err(Error::invalid("a password has 1 to 72 bytes"));
        }
        let cost = self.options.password_cost;
        bcrypt::hash_with_salt(password, cost, self.source.bytes())
            .map(|hash| hash.to_string())
            .map_err(|e| Error::internal(format!("can't hash a password: {e}")))
    }

    /// Issues an access token that belongs to no login.
    pub(crate) fn issue_local_token(&self, account: AccountId) -> Result<String> {
        let new = Issue {
            issuer: LOCAL_ISSUER,
            account,
            client: LOCAL_ISSUER,
            scope: Scopes::ALL,
            login: Uuid::from_bytes(self.source.bytes()),
            id: hex::encode(self.source.bytes::<16>()),
        };
        self.tokens.issue(&new, self.source.now_ms())
    }

    /// Empties the server: no account, no file, a new history, the machine's time.
    ///
    /// # Errors
    /// A database or an object store that fails.
    pub async fn reset(&self) -> Result<()> {
        self.store.reset()?;
        self.uploads.clear();
        self.kept.clear();
        self.bandwidth.clear();
        self.objects.sweep(&HashSet::new(), i64::MAX).await?;
        self.source.reset_time();
        self.store.clear_counts()?;
        self.rate.clear();
        self.identity.throttle.clear();
        Ok(())
    }

    /// Does what is due. A task that fails keeps no other from running.
    ///
    /// # Errors
    /// The first one of a task: a database that fails.
    pub async fn housekeep(&self) -> Result<()> {
        self.last_housekeeping
            .store(self.source.now_ms(), Ordering::SeqCst);
        background::run_due(self).await
    }

    /// Damages one of the stored objects on purpose. Returns its name; `None` if there are none.
    ///
    /// # Errors
    /// An object store that fails.
    pub async fn damage_object(&self, number: usize, damage: Damage) -> Result<Option<String>> {
        Ok(self.objects.damage(number, damage).await?)
    }

    /// Housekeeping where no timer runs: called by requests that begin uploads.
    pub(crate) async fn housekeep_if_due(&self) -> Result<()> {
        // Among several servers the one that has the lease does it.
        if self.options.serving && self.store.is_shared() {
            return Ok(());
        }
        if self.source.now_ms() - self.last_housekeeping.load(Ordering::SeqCst) < HOUSEKEEPING_MS {
            return Ok(());
        }
        self.housekeep().await
    }

    /// Returns how long a queue may rest whose next item is due at a time, if it has one.
    pub(crate) fn wait_until(&self, due_ms: Option<i64>) -> Duration {
        due_ms.map_or(LONGEST_WAIT, |due| {
            let ms = due.saturating_sub(self.source.now_ms()).max(0);
            Duration::from_millis(ms.unsigned_abs()).min(LONGEST_WAIT)
        })
    }
}

/// Returns an e-mail address in the form in which accounts keep theirs.
///
/// # Errors
/// An invalid request for what is none.
pub(crate) fn address(email: &str) -> Result<String> {
    email_address(email).ok_or_else(|| {
        Error::invalid(format!(
            "`{}` is not a valid e-mail address",
            one_line(email.trim())
        ))
    })
}
