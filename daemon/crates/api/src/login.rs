//! A login as the source of bearer tokens: access tokens are renewed before they expire and when the
//! server refuses one.
//!
//! Refresh tokens are used once, by the first process of this installation that needs one: the store is
//! locked meanwhile, and the next process finds the tokens that the first one got.

use crate::auth::Auth;
use crate::error::ApiError;
use crate::provider;
use crate::transport::Transport;
use async_trait::async_trait;
use cairn_wire::Timestamp;
use cairn_wire::identity::TokenResponse;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// An access token is renewed when it would expire within this time.
const MARGIN_MS: i64 = 30_000;
/// Tries of one renewal; the provider takes the old refresh token again while its successor is unused.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(500);

/// The tokens of a login, with the endpoints that renew and revoke them.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    pub access_token: String,
    /// Milliseconds since 1970 on this machine's clock.
    pub expires_at: i64,
    pub refresh_token: String,
    pub token_endpoint: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revocation_endpoint: Option<String>,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tokens(…)")
    }
}

/// The store in which the processes of one installation keep the tokens.
#[async_trait]
pub trait TokenStore: Send + Sync {
    /// Locks the renewal against other processes for as long as the returned guard lives.
    ///
    /// # Errors
    /// The lock can't be had.
    async fn lock(&self) -> Result<Box<dyn Any + Send>, ApiError>;

    /// Returns the tokens that are kept; `None` after a logout.
    ///
    /// # Errors
    /// The tokens can't be read.
    async fn load(&self) -> Result<Option<Tokens>, ApiError>;

    /// Keeps new tokens in place of the old ones.
    ///
    /// # Errors
    /// The tokens can't be written; the old ones are kept then.
    async fn save(&self, tokens: &Tokens) -> Result<(), ApiError>;
}

/// The tokens of one login, renewed when they are about to expire or the server refuses one.
pub struct Login {
    transport: Arc<dyn Transport>,
    store: Arc<dyn TokenStore>,
    tokens: Mutex<Option<Tokens>>,
}

impl Tokens {
    /// Returns the tokens of a response; `None` if it holds no refresh token.
    #[must_use]
    pub fn new(
        response: TokenResponse,
        token_endpoint: &str,
        revocation_endpoint: Option<&str>,
    ) -> Option<Self> {
        Some(Self {
            expires_at: expiry(response.expires_in),
            access_token: response.access_token,
            refresh_token: response.refresh_token?,
            token_endpoint: token_endpoint.to_owned(),
            revocation_endpoint: revocation_endpoint.map(str::to_owned),
        })
    }

    fn with_response(&self, response: TokenResponse) -> Self {
        Self {
            expires_at: expiry(response.expires_in),
            access_token: response.access_token,
            // A provider that does not rotate sends none.
            refresh_token: response
                .refresh_token
                .unwrap_or_else(|| self.refresh_token.clone()),
            ..self.clone()
        }
    }

    fn is_fresh(&self) -> bool {
        self.expires_at > Timestamp::now().0.saturating_add(MARGIN_MS)
    }
}

fn expiry(seconds: u64) -> i64 {
    let ms = i64::try_from(seconds.saturating_mul(1000)).unwrap_or(i64::MAX);
    Timestamp::now().0.saturating_add(ms)
}

impl Login {
    #[must_use]
    pub fn new(transport: Arc<dyn Transport>, store: Arc<dyn TokenStore>) -> Self {
        Self {
            transport,
            store,
            tokens: Mutex::default(),
        }
    }

    /// Replaces the known tokens: by those that another process has stored since, or by new ones of the provider.
    async fn renew(&self, known: &mut Option<Tokens>) -> Result<(), ApiError> {
        let _lock = self.store.lock().await?;
        let kept = self.store.load().await?.ok_or(ApiError::Unauthorized)?;
        let last = known.as_ref().map(|tokens| &tokens.access_token);
        if last != Some(&kept.access_token) && kept.is_fresh() {
            *known = Some(kept);
            return Ok(());
        }
        let response = self.fetch(&kept).await?;
        let fresh = kept.with_response(response);
        // Kept before it is used: the old one is used up.
        self.store.save(&fresh).await?;
        tracing::debug!("renewed the access token");
        *known = Some(fresh);
        Ok(())
    }

    async fn fetch(&self, kept: &Tokens) -> Result<TokenResponse, ApiError> {
        let mut tried = 0;
        loop {
            tried += 1;
            let (endpoint, token) = (&kept.token_endpoint, &kept.refresh_token);
            match provider::refresh(self.transport.as_ref(), endpoint, token).await {
                Err(error) if error.is_transient() && tried < TRIES => {
                    tracing::debug!(%error, tried, "renewing the access token again");
                    tokio::time::sleep(PAUSE * tried).await;
                }
                response => return response,
            }
        }
    }
}

#[async_trait]
impl Auth for Login {
    async fn bearer(&self) -> Result<String, ApiError> {
        let mut known = self.tokens.lock().await;
        if known.is_none() {
            *known = self.store.load().await?;
        }
        match known.as_ref() {
            None => return Err(ApiError::Unauthorized),
            Some(tokens) if tokens.is_fresh() => return Ok(tokens.access_token.clone()),
            Some(_) => {}
        }
        self.renew(&mut known).await?;
        let tokens = known.as_ref().ok_or(ApiError::Unauthorized)?;
        Ok(tokens.access_token.clone())
    }

    async fn refresh(&self, refused: &str) -> Result<bool, ApiError> {
        let mut known = self.tokens.lock().await;
        if (known.as_ref()).is_some_and(|tokens| tokens.access_token != refused) {
            // Calls that were refused together renew once.
            return Ok(true);
        }
        match self.renew(&mut known).await {
            Ok(()) => Ok(true),
            Err(ApiError::Unauthorized) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
