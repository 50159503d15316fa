//! A server as a value: built from its options, it serves in-process or over TCP.

use crate::error::{Error, Result};
use crate::hooks::Hooks;
use crate::options::Options;
use crate::state::{AppState, ServerState};
use crate::{background, compaction, router, serve, webhooks};
use axum::Router;
use cairn_model::AccountId;
use cairn_store::{Source, private_files};
use std::sync::Arc;

/// A server. Clones share everything.
#[derive(Clone)]
pub struct Server {
    pub(crate) state: AppState,
    hooks: Option<Arc<dyn Hooks>>,
}

/// Opens the store and makes a server of it.
///
/// # Errors
/// Options that can't work, with the name of the option; a data directory, database or object store that can't be used;
/// a data directory that another server uses, if this one is to serve.
pub fn build(options: Options) -> Result<Server> {
    options.check()?;
    if !options.ephemeral {
        let data = &options.data;
        private_files::create_dir(data)
            .map_err(|source| Error::io(format!("can't make {}", data.display()), source))?;
    }
    // Before the database is opened, which changes one of an older version.
    let lock = if options.serving {
        serve::lock(&options)?
    } else {
        None
    };
    Ok(Server {
        state: Arc::new(ServerState::open(options, lock)?),
        hooks: None,
    })
}

impl Server {
    /// Adds the routes and interceptors of `hooks`.
    #[must_use]
    pub fn with_hooks(self, hooks: Arc<dyn Hooks>) -> Self {
        Self {
            hooks: Some(hooks),
            ..self
        }
    }

    /// Returns the whole HTTP interface.
    pub fn router(&self) -> Router {
        router::build(&self.state, self.hooks.as_ref())
    }

    /// Returns the state that all requests share.
    #[must_use]
    pub fn state(&self) -> &AppState {
        &self.state
    }

    /// Makes an account.
    ///
    /// # Errors
    /// A conflict if the address is taken, an invalid request if it is not an address.
    pub fn add_user(&self, email: &str, password: &str) -> Result<AccountId> {
        self.state.add_user(email, password)
    }

    /// Makes an API key for an account and returns it; it can't be read again.
    ///
    /// # Errors
    /// Not found for an unknown account, a conflict for one with ten keys.
    pub fn create_api_key(&self, email: &str) -> Result<String> {
        let account = self.state.store.account_by_email(email)?.id;
        let key = self.state.fresh_key();
        self.state.store_key(account, "command line", &key, None)?;
        Ok(key)
    }

    /// Issues an access token for an account.
    ///
    /// # Errors
    /// Not found for an unknown account.
    pub fn issue_token(&self, email: &str) -> Result<String> {
        let account = self.state.store.account_by_email(email)?.id;
        self.state.issue_local_token(account)
    }

    /// Returns the server's source of time and randomness.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.state.source
    }

    /// Ends streams, so that connections can close.
    pub fn close(&self) {
        self.state.closing.send_replace(true);
    }

    /// Deletes rows and objects that have expired.
    ///
    /// # Errors
    /// A database that fails.
    pub async fn housekeep(&self) -> Result<()> {
        self.state.housekeep().await
    }

    /// Delivers to webhooks until nothing is due; returns the number of attempts. A server that
    /// serves over TCP does this by itself.
    ///
    /// # Errors
    /// A database that fails.
    pub async fn deliver_due(&self) -> Result<usize> {
        webhooks::deliver_due(&self.state).await
    }

    /// Rewrites objects of at least `least` bytes of which less than half is needed; returns their
    /// number. The old ones are left to the next sweep.
    ///
    /// # Errors
    /// A database or an object store that fails.
    pub async fn compact_objects(&self, least: u64) -> Result<usize> {
        compaction::compact(&self.state, least).await
    }

    /// Deletes objects that no chunk lies in: left by a crash between an object and its
    /// transaction. Objects younger than `before_ms` are spared.
    ///
    /// # Errors
    /// A database or an object store that fails.
    pub async fn sweep_objects(&self, before_ms: i64) -> Result<usize> {
        let swept = background::sweep(&self.state, before_ms).await?;
        Ok(usize::try_from(swept).unwrap_or(usize::MAX))
    }
}
