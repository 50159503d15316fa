//! The source of the bearer token.

use crate::ApiError;
use async_trait::async_trait;

/// A source of the token that each request carries.
#[async_trait]
pub trait Auth: Send + Sync {
    /// Returns the token to send.
    ///
    /// # Errors
    /// No token can be had.
    async fn bearer(&self) -> Result<String, ApiError>;

    /// Is called after a 401 to a request with the token `refused`. Returns whether there is another token to
    /// try, once.
    ///
    /// # Errors
    /// The new token could not be fetched.
    async fn refresh(&self, refused: &str) -> Result<bool, ApiError>;
}

/// An API key: it never changes, so a 401 is final.
pub struct ApiKey(String);

impl ApiKey {
    #[must_use]
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

#[async_trait]
impl Auth for ApiKey {
    async fn bearer(&self) -> Result<String, ApiError> {
        Ok(self.0.clone())
    }

    async fn refresh(&self, _refused: &str) -> Result<bool, ApiError> {
        Ok(false)
    }
}
