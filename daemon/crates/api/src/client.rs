//! The client itself: its parts, and the calls that read a response as a value.
//!
//! The endpoints are in the modules beside this one, each a few lines over [`Api::json`] and
//! [`Api::bytes`]. `send` sends one call and retries it; `failure` makes errors of unsuccessful responses.

mod failure;
mod send;

use crate::auth::Auth;
use crate::call::{BaseUrl, Call};
use crate::counters::Counters;
use crate::entropy::{Entropy, SystemEntropy};
use crate::error::{ApiError, CallFailure};
use crate::names::NameSeal;
use crate::retry::RetryPolicy;
use crate::transport::{Response, Transport};
use bytes::Bytes;
use cairn_model::{DeviceId, SpaceId};
use cairn_wire::headers;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// A client of one server for one account and device.
#[derive(Clone)]
pub struct Api {
    transport: Arc<dyn Transport>,
    auth: Arc<dyn Auth>,
    entropy: Arc<dyn Entropy>,
    retry: RetryPolicy,
    counters: Arc<Counters>,
    device: DeviceId,
    /// The space (files of an account or team) that requests are about; the account's own if `None`.
    space: Option<SpaceId>,
    /// Seals and opens the names, in a private space.
    names: Option<Arc<dyn NameSeal>>,
    base: BaseUrl,
    files: BaseUrl,
}

impl Api {
    /// Makes a client. Chunks go to `file_server_url`, or to `base_url` where there is none.
    ///
    /// # Errors
    /// [`ApiError::Protocol`] for a text that is no http or https address.
    pub fn new(
        transport: Arc<dyn Transport>,
        base_url: &str,
        file_server_url: Option<&str>,
        auth: Arc<dyn Auth>,
        device: DeviceId,
    ) -> Result<Self, ApiError> {
        let base = BaseUrl::parse(base_url)?;
        let files = file_server_url.map_or_else(|| Ok(base.clone()), BaseUrl::parse)?;
        Ok(Self {
            transport,
            auth,
            entropy: Arc::new(SystemEntropy),
            retry: RetryPolicy::default(),
            counters: Arc::default(),
            device,
            space: None,
            names: None,
            base,
            files,
        })
    }

    /// Returns a copy of the client whose requests act in the space of a team.
    #[must_use]
    pub fn in_space(&self, space: SpaceId) -> Self {
        Self {
            space: Some(space),
            names: None,
            ..self.clone()
        }
    }

    /// Seals and opens the names of the space, if it is a private one.
    #[must_use]
    pub fn with_names(mut self, names: Arc<dyn NameSeal>) -> Self {
        self.names = self.is_private().then_some(names);
        self
    }

    /// Takes another retry policy than the default.
    #[must_use]
    pub fn with_retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// Takes waiting times and idempotency keys from another source than the system's.
    #[must_use]
    pub fn with_entropy(mut self, entropy: Arc<dyn Entropy>) -> Self {
        self.entropy = entropy;
        self
    }

    /// Returns the requests and bytes since the client was made.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the server's address, without a trailing slash.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base.text
    }

    /// Returns the device that the client's changes are attributed to.
    #[must_use]
    pub fn device(&self) -> DeviceId {
        self.device
    }

    pub(crate) fn space(&self) -> Option<SpaceId> {
        self.space
    }

    pub(crate) fn names(&self) -> Option<&dyn NameSeal> {
        self.names.as_deref()
    }

    pub(crate) fn file_base(&self) -> BaseUrl {
        self.files.clone()
    }

    pub(crate) fn shared_auth(&self) -> Arc<dyn Auth> {
        self.auth.clone()
    }

    pub(crate) fn shared_counters(&self) -> Arc<Counters> {
        self.counters.clone()
    }

    /// Returns the address for the chunks of an upload: the one that the server named if it belongs to the file
    /// server (without one: to the server itself), else the same path below the file server.
    ///
    /// # Errors
    /// [`ApiError::Protocol`] for an address of another server, or outside this one's.
    pub(crate) fn chunk_base(&self, text: &str) -> Result<BaseUrl, ApiError> {
        let named = self.known_base(text)?;
        if named.origin == self.files.origin {
            return Ok(named);
        }
        // Whole segments: what follows is put behind the name of another host.
        let below = named.text.strip_prefix(&self.base.text);
        let below = below.filter(|below| below.is_empty() || below.starts_with('/'));
        let below = below.ok_or_else(|| {
            ApiError::Protocol(format!(
                "the server sends content to {}, which is not below {}",
                named.text, self.base.text
            ))
        })?;
        Ok(BaseUrl {
            text: format!("{}{below}", self.files.text),
            origin: self.files.origin.clone(),
        })
    }

    /// Accepts an address that the server named, if it belongs to a configured origin.
    pub(crate) fn known_base(&self, text: &str) -> Result<BaseUrl, ApiError> {
        let base = BaseUrl::parse(text)?;
        if base.origin == self.base.origin || base.origin == self.files.origin {
            return Ok(base);
        }
        Err(ApiError::Protocol(format!(
            "the server sends content to {}, which is neither {} nor the configured file server",
            base.origin, self.base.origin
        )))
    }

    /// Marks a creating POST with a new idempotency key, which makes it repeatable.
    pub(crate) fn with_idempotency_key(&self, call: Call) -> Result<Call, ApiError> {
        let key = self.new_key();
        Ok(call
            .header(headers::IDEMPOTENCY_KEY, &key)?
            .mark_idempotent())
    }

    pub(crate) fn new_key(&self) -> String {
        crate::entropy::key(self.entropy.as_ref())
    }

    /// Sends a call and reads its response as JSON.
    pub(crate) async fn json<T: DeserializeOwned>(&self, call: Call) -> Result<T, ApiError> {
        let what = format!("{} {}", call.method, path_only(&call.path));
        let body = self.bytes(call).await?;
        serde_json::from_slice(&body).map_err(|e| ApiError::Protocol(format!("{what}: {e}")))
    }

    /// Sends a call whose response has nothing but its status.
    pub(crate) async fn send_for_status(&self, call: Call) -> Result<(), ApiError> {
        self.bytes(call).await.map(drop)
    }

    /// Sends a call and reads its whole response.
    pub(crate) async fn bytes(&self, call: Call) -> Result<Bytes, ApiError> {
        Ok(self.exchange(call).await?)
    }

    /// Sends a call and reads its whole response; a failure tells whether the call may have been carried out.
    pub(crate) async fn exchange(&self, call: Call) -> Result<Bytes, CallFailure> {
        self.send_with_retries(&call, |response| self.collect(response, call.limit))
            .await
    }

    /// Sends a call and returns the response while its body is still on the way.
    pub(crate) async fn open(&self, call: Call) -> Result<Response, ApiError> {
        let opened = self.send_with_retries(&call, |response| std::future::ready(Ok(response)));
        Ok(opened.await?)
    }
}

fn path_only(path: &str) -> &str {
    path.split('?').next().unwrap_or(path)
}

#[cfg(test)]
mod tests;
