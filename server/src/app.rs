//! The server as a value: everything that a request needs, and the router over it.

use crate::auth::KEY_PREFIX;
use crate::auth::token::{Issue, LIFETIME_S, LOCAL_ISSUER, Tokens};
use crate::dev::{DEV_KEY_NAME, Dev};
use crate::error::{Error, Result};
use crate::http;
use crate::http::rate::RateLimiter;
use crate::identity::Identity;
use crate::identity::scope::Scopes;
use crate::objects::Objects;
use crate::options::Options;
use crate::routes;
use crate::routes::uploads::OpenUploads;
use crate::source::Source;
use crate::store::{NewAccount, Store};
use crate::webhooks;
use axum::Router;
use cairn_model::AccountId;
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tokio::sync::watch;

/// bcrypt's cost for people's passwords: about 60 ms.
const PASSWORD_COST: u32 = 10;
/// For the development accounts, whose passwords are no secret.
pub(crate) const DEV_PASSWORD_COST: u32 = 4;
/// Characters of an API key that are shown in lists.
const KEY_SHOWN: usize = 10;
/// Expired uploads and answers are looked for at most this often.
const HOUSEKEEPING_MS: i64 = 600_000;

/// What every handler gets.
pub(crate) type Shared = Arc<Inner>;

/// The parts of a running server.
pub(crate) struct Inner {
    pub(crate) options: Options,
    pub(crate) source: Arc<Source>,
    pub(crate) store: Store,
    pub(crate) objects: Objects,
    pub(crate) tokens: Tokens,
    pub(crate) identity: Identity,
    pub(crate) rate: RateLimiter,
    pub(crate) uploads: OpenUploads,
    pub(crate) answers: http::idempotency::Answers,
    pub(crate) bandwidth: routes::account::Bandwidth,
    /// Present with `--dev`.
    pub(crate) dev: Option<Dev>,
    /// True once the server is to end, which streams wait for.
    pub(crate) closing: watch::Sender<bool>,
    last_housekeeping: AtomicI64,
}

/// A server. Clones share everything.
#[derive(Clone)]
pub struct App {
    pub(crate) inner: Shared,
}

/// Opens the store and makes a server of it; with `dev`, the development accounts are there.
///
/// # Errors
/// A data directory, database or object store that can't be used.
pub fn build(options: Options) -> Result<App> {
    let source = Arc::new(Source::new(options.clock, options.seed));
    let data = (!options.ephemeral).then_some(options.data.as_path());
    if let Some(data) = data {
        std::fs::create_dir_all(data).map_err(|source| Error::Io {
            what: format!("can't make {}", data.display()),
            source,
        })?;
    }
    let store = Store::open(data, source.clone())?;
    let tokens = Tokens::new(&store.secret("token_key")?);
    let now = source.now_ms();
    for ended in store.ended_since(now - LIFETIME_S * 1000)? {
        tokens.end(ended, now);
    }
    let app = App {
        inner: Arc::new(Inner {
            objects: Objects::open(&options)?,
            tokens,
            identity: Identity::new(&options, &store)?,
            rate: RateLimiter::new(&options.limits.rate, source.clone()),
            uploads: OpenUploads::default(),
            answers: http::idempotency::Answers::default(),
            bandwidth: routes::account::Bandwidth::default(),
            dev: options.dev.then(Dev::default),
            closing: watch::Sender::new(false),
            last_housekeeping: AtomicI64::new(source.now_ms()),
            source,
            store,
            options,
        }),
    };
    if app.inner.options.dev {
        app.inner.seed()?;
    }
    Ok(app)
}

impl App {
    /// The whole HTTP interface.
    pub fn router(&self) -> Router {
        http::serve_all(&self.inner, routes::router(&self.inner))
    }

    /// Makes an account.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the address is taken, [`Error::Invalid`] if it is none.
    pub fn add_user(&self, email: &str, password: &str) -> Result<AccountId> {
        self.inner.add_user(email, password, PASSWORD_COST)
    }

    /// Makes an API key for an account and shows it, this once.
    ///
    /// # Errors
    /// [`Error::NotFound`] for an unknown account, [`Error::Conflict`] for one with ten keys.
    pub fn create_api_key(&self, email: &str) -> Result<String> {
        let account = self.inner.store.account_by_email(email)?.id;
        let key = self.inner.fresh_key();
        self.inner.store_key(account, "command line", &key, None)?;
        Ok(key)
    }

    /// Issues an access token for an account.
    ///
    /// # Errors
    /// [`Error::NotFound`] for an unknown account.
    pub fn issue_token(&self, email: &str) -> Result<String> {
        let account = self.inner.store.account_by_email(email)?.id;
        let id = hex::encode(self.inner.source.bytes::<16>());
        let new = Issue {
            issuer: LOCAL_ISSUER,
            account,
            client: LOCAL_ISSUER,
            scope: Scopes::ALL,
            grant: None,
            id,
        };
        self.inner.tokens.issue(&new, self.inner.source.now_ms())
    }

    /// Time and randomness of this server.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.inner.source
    }

    /// Ends streams, so that connections can close.
    pub fn close(&self) {
        self.inner.closing.send_replace(true);
    }

    /// Does what is due: forgets expired uploads and answers.
    ///
    /// # Errors
    /// A database that fails.
    pub async fn housekeep(&self) -> Result<()> {
        self.inner.housekeep().await
    }

    /// Delivers to webhooks whatever is due, until nothing is; answers the number of attempts. A
    /// served app does this by itself.
    ///
    /// # Errors
    /// A database that fails.
    pub async fn deliver_due(&self) -> Result<usize> {
        webhooks::deliver_due(self).await
    }

    /// Deletes objects that no chunk lies in: left by a crash between an object and its
    /// transaction. Objects younger than `before_ms` are spared.
    ///
    /// # Errors
    /// A database or an object store that fails.
    pub async fn sweep_objects(&self, before_ms: i64) -> Result<usize> {
        let known = self.inner.store.object_names()?;
        self.inner.objects.sweep(&known, before_ms).await
    }
}

impl Inner {
    pub(crate) fn fresh_key(&self) -> String {
        format!("{KEY_PREFIX}{}", hex::encode(self.source.bytes::<24>()))
    }

    pub(crate) fn store_key(
        &self,
        account: AccountId,
        name: &str,
        key: &str,
        expires_in_ms: Option<i64>,
    ) -> Result<cairn_wire::account::ApiKey> {
        let hash: [u8; 32] = Sha256::digest(key).into();
        let prefix: String = key.chars().take(KEY_SHOWN).collect();
        self.store
            .add_api_key(account, name, &prefix, hash, expires_in_ms)
    }

    pub(crate) fn add_user(&self, email: &str, password: &str, cost: u32) -> Result<AccountId> {
        let email = email.trim();
        let well_formed = email.split_once('@').is_some_and(|(who, place)| {
            !who.is_empty()
                && !place.is_empty()
                && !place.contains('@')
                && !email.contains(char::is_whitespace)
        });
        if !well_formed || email.len() > 254 {
            return Err(Error::invalid(format!("`{email}` is no e-mail address")));
        }
        if password.is_empty() || password.len() > 72 {
            return Err(Error::invalid("a password has 1 to 72 bytes"));
        }
        let hash = bcrypt::hash_with_salt(password, cost, self.source.bytes())
            .map_err(|e| Error::Internal(format!("can't hash a password: {e}")))?
            .to_string();
        let new = NewAccount {
            email,
            password: &hash,
            limits: self.options.limits,
        };
        Ok(self.store.add_account(&new)?.id)
    }

    /// The accounts of `--dev`; those that exist already stay as they are.
    pub(crate) fn seed(&self) -> Result<()> {
        let mut made = false;
        for name in ["owner", "member", "outsider"] {
            let email = format!("{name}@example.com");
            match self.add_user(&email, name, DEV_PASSWORD_COST) {
                Ok(account) => {
                    self.store_key(account, DEV_KEY_NAME, &format!("ck_dev_{name}"), None)?;
                    made = true;
                }
                Err(Error::Conflict { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        if made {
            self.store.seed_people(&self.options.limits)?;
        }
        Ok(())
    }

    pub(crate) async fn housekeep(&self) -> Result<()> {
        self.last_housekeeping
            .store(self.source.now_ms(), Ordering::SeqCst);
        self.store.forget_old_answers()?;
        self.answers.forget_old(self.source.now_ms());
        self.store.forget_old_deliveries()?;
        self.store.forget_old_logins()?;
        let garbage = self.store.expire_uploads()?;
        self.objects.delete(&garbage).await;
        self.store.settle_payments(self.options.limits.storage)?;
        let purged = self.store.purge_accounts()?;
        self.objects.delete(&purged.objects).await;
        self.store.apply_retention()?;
        let garbage = self.store.prune_revisions(self.options.revisions)?;
        self.objects.delete(&garbage).await;
        Ok(())
    }

    /// Housekeeping where no timer runs: called by requests that begin uploads.
    pub(crate) async fn housekeep_if_due(&self) -> Result<()> {
        if self.source.now_ms() - self.last_housekeeping.load(Ordering::SeqCst) < HOUSEKEEPING_MS {
            return Ok(());
        }
        self.housekeep().await
    }
}
