//! The client itself: addresses, headers, retries, and how a response becomes a value or an error.
//!
//! The endpoints stand in the modules beside this one, each a few lines over [`Api::json`] and
//! [`Api::bytes`].

use crate::auth::Auth;
use crate::call::{Base, Call};
use crate::counters::Counters;
use crate::entropy::{Entropy, SystemEntropy};
use crate::error::{ApiError, quote};
use crate::retry::{Again, Repeat, RetryPolicy, retry_after};
use crate::transport::{Request, Response, Transport, TransportError};
use bytes::{Bytes, BytesMut};
use cairn_model::{DeviceId, SpaceId};
use cairn_wire::{ErrorBody, headers};
use futures_util::StreamExt as _;
use http::{HeaderName, HeaderValue, header};
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;

const MAX_ERROR_BODY: usize = 64 * 1024;

/// A client of one server for one account and device.
pub struct Api {
    transport: Arc<dyn Transport>,
    auth: Arc<dyn Auth>,
    entropy: Arc<dyn Entropy>,
    retry: RetryPolicy,
    counters: Arc<Counters>,
    device: DeviceId,
    /// The space in which requests act; the account's own if `None`.
    space: Option<SpaceId>,
    base: Base,
    files: Base,
}

/// A failed try, and whether another one makes sense.
struct Failure {
    error: ApiError,
    again: Again,
    at_least: Duration,
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self {
            error,
            again: Again::Never,
            at_least: Duration::ZERO,
        }
    }
}

impl From<TransportError> for Failure {
    fn from(error: TransportError) -> Self {
        let (error, again) = match error {
            TransportError::Connect(text) => (ApiError::Offline(text), Again::Always),
            TransportError::Cut(text) => (ApiError::Offline(text), Again::IfSafe),
            TransportError::Invalid(text) => (ApiError::Protocol(text), Again::Never),
        };
        Self {
            error,
            again,
            at_least: Duration::ZERO,
        }
    }
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
        let base = Base::parse(base_url)?;
        let files = file_server_url.map_or_else(|| Ok(base.clone()), Base::parse)?;
        Ok(Self {
            transport,
            auth,
            entropy: Arc::new(SystemEntropy),
            retry: RetryPolicy::default(),
            counters: Arc::default(),
            device,
            space: None,
            base,
            files,
        })
    }

    /// The same client at work in the space of a team.
    #[must_use]
    pub fn in_space(&self, space: SpaceId) -> Self {
        Self {
            transport: self.transport.clone(),
            auth: self.auth.clone(),
            entropy: self.entropy.clone(),
            retry: self.retry,
            counters: self.counters.clone(),
            device: self.device,
            space: Some(space),
            base: self.base.clone(),
            files: self.files.clone(),
        }
    }

    /// The same client with another retry policy.
    #[must_use]
    pub fn retrying(&self, retry: RetryPolicy) -> Self {
        Self {
            transport: self.transport.clone(),
            auth: self.auth.clone(),
            entropy: self.entropy.clone(),
            retry,
            counters: self.counters.clone(),
            device: self.device,
            space: self.space,
            base: self.base.clone(),
            files: self.files.clone(),
        }
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

    /// Requests and bytes since the client was made.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The server's address, without a trailing slash.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base.text
    }

    /// The device that the client's changes are attributed to.
    #[must_use]
    pub fn device(&self) -> DeviceId {
        self.device
    }

    pub(crate) fn file_base(&self) -> Base {
        self.files.clone()
    }

    pub(crate) fn shared_auth(&self) -> Arc<dyn Auth> {
        self.auth.clone()
    }

    pub(crate) fn shared_counters(&self) -> Arc<Counters> {
        self.counters.clone()
    }

    /// Accepts an address that the server named, if it belongs to a configured origin.
    /// Returns where chunks of an upload go: to the file server that was configured, else where the server
    /// says, if that is itself.
    pub(crate) fn chunk_base(&self, text: &str) -> Result<Base, ApiError> {
        let named = self.known_base(text)?;
        if named.origin == self.files.origin {
            return Ok(named);
        }
        // The same path below the file server's address.
        let below = named.text.strip_prefix(&self.base.text).unwrap_or_default();
        Ok(Base {
            text: format!("{}{below}", self.files.text),
            origin: self.files.origin.clone(),
        })
    }

    pub(crate) fn known_base(&self, text: &str) -> Result<Base, ApiError> {
        let base = Base::parse(text)?;
        if base.origin == self.base.origin || base.origin == self.files.origin {
            return Ok(base);
        }
        Err(ApiError::Protocol(format!(
            "the server sends content to {}, which is neither {} nor the configured file server",
            base.origin, self.base.origin
        )))
    }

    /// Marks a creating POST with a new idempotency key, which makes it repeatable.
    pub(crate) fn idempotent(&self, call: Call) -> Result<Call, ApiError> {
        let key = self.new_key();
        Ok(call.header(headers::IDEMPOTENCY_KEY, &key)?.repeatable())
    }

    pub(crate) fn new_key(&self) -> String {
        crate::entropy::key(self.entropy.as_ref())
    }

    /// Sends a call and reads its response as JSON.
    pub(crate) async fn json<T: DeserializeOwned>(&self, call: Call) -> Result<T, ApiError> {
        let what = format!("{} {}", call.method, path_only(&call.path));
        let body = self.bytes(call).await?;
        serde_json::from_slice(&body)
            .map_err(|e| ApiError::Protocol(format!("{what} sent an unexpected response: {e}")))
    }

    /// Sends a call whose response has nothing to say beyond its status.
    pub(crate) async fn done(&self, call: Call) -> Result<(), ApiError> {
        self.bytes(call).await.map(drop)
    }

    /// Sends a call and reads its whole answer.
    pub(crate) async fn bytes(&self, call: Call) -> Result<Bytes, ApiError> {
        self.persist(&call, |response| self.collect(response, call.limit))
            .await
    }

    /// Sends a call and hands out the response while its body is still on the way.
    pub(crate) async fn open(&self, call: Call) -> Result<Response, ApiError> {
        self.persist(&call, |response| std::future::ready(Ok(response)))
            .await
    }

    /// Tries until a good response is there and `read`, or until trying again makes no sense.
    async fn persist<T, F, R>(&self, call: &Call, read: F) -> Result<T, ApiError>
    where
        F: Fn(Response) -> R,
        R: Future<Output = Result<T, Failure>>,
    {
        let mut tried = 0;
        let mut refreshed = false;
        loop {
            tried += 1;
            let attempt = async { read(self.attempt(call).await?).await };
            let failure = match attempt.await {
                Ok(value) => return Ok(value),
                Err(failure) => failure,
            };
            if failure.error == ApiError::Unauthorized && !refreshed {
                refreshed = true;
                if self.auth.refresh().await? {
                    continue;
                }
            }
            let worth = match failure.again {
                Again::Never => false,
                Again::IfSafe => call.repeat == Repeat::Safe,
                Again::Always => true,
            };
            if !worth
                || tried >= self.retry.tries
                || failure.at_least > self.retry.longest_retry_after
            {
                return Err(failure.error);
            }
            let wait = self
                .retry
                .backoff(tried, self.entropy.as_ref())
                .max(failure.at_least);
            tracing::debug!(
                method = %call.method, path = path_only(&call.path), tried, ?wait, error = %failure.error,
                "trying again"
            );
            tokio::time::sleep(wait).await;
        }
    }

    async fn attempt(&self, call: &Call) -> Result<Response, Failure> {
        let mut headers = call.headers.clone();
        let bearer = format!("Bearer {}", self.auth.bearer().await?);
        let mut bearer = HeaderValue::from_str(&bearer).map_err(|_| ApiError::Unauthorized)?;
        bearer.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, bearer);
        let device = HeaderValue::from_str(&self.device.to_string())
            .map_err(|_| ApiError::Protocol("the device id is not a valid header value".into()))?;
        headers.insert(HeaderName::from_static(headers::DEVICE_ID), device);
        if let Some(space) = self.space {
            let space = HeaderValue::from_str(&space.to_string()).map_err(|_| {
                ApiError::Protocol("the space id is not a valid header value".into())
            })?;
            headers.insert(HeaderName::from_static(headers::SPACE_ID), space);
        }
        let base = call.base.as_ref().unwrap_or(&self.base);
        self.counters.request(call.body.len());
        let response = self
            .transport
            .send(Request {
                method: call.method.clone(),
                base: base.text.clone(),
                path: call.path.clone(),
                headers,
                body: call.body.clone(),
            })
            .await?;
        if response.status.is_success() {
            return Ok(response);
        }
        Err(self.failure(response).await)
    }

    async fn collect(&self, mut response: Response, limit: usize) -> Result<Bytes, Failure> {
        let mut whole = BytesMut::new();
        let mut first = Bytes::new();
        while let Some(part) = response.body.next().await {
            let part = part?;
            self.counters.received(part.len());
            if first.len() + whole.len() + part.len() > limit {
                let text = format!("it has more than the {limit} bytes that belong there");
                return Err(ApiError::Protocol(text).into());
            }
            // Most bodies arrive in one part, which then needs no copy.
            if first.is_empty() && whole.is_empty() {
                first = part;
            } else {
                if whole.is_empty() {
                    whole.extend_from_slice(&std::mem::take(&mut first));
                }
                whole.extend_from_slice(&part);
            }
        }
        Ok(if whole.is_empty() {
            first
        } else {
            whole.freeze()
        })
    }

    /// Makes the error of a response that is no success. Its body is read as far as it helps.
    async fn failure(&self, response: Response) -> Failure {
        let status = response.status;
        let wait = retry_after(&response.headers);
        if status.is_redirection() {
            let to = header_text(&response, &header::LOCATION).unwrap_or_else(|| "nowhere".into());
            let text = format!(
                "it redirects to {}, and redirects are not followed",
                quote(&to)
            );
            return ApiError::Protocol(text).into();
        }
        let head = header_text(&response, &header::ETAG)
            .and_then(|tag| tag.trim_start_matches("W/").trim_matches('"').parse().ok());
        let message = self.error_message(response).await;
        let mut error = ApiError::from_status(status.as_u16(), message);
        if let ApiError::Conflict { head: known, .. } = &mut error {
            *known = head;
        }
        if let (ApiError::RateLimited { retry_after }, Some(wait)) = (&mut error, wait) {
            *retry_after = wait;
        }
        if let ApiError::Server { retry_after, .. } = &mut error {
            *retry_after = wait;
        }
        Failure {
            again: if matches!(error, ApiError::RateLimited { .. }) {
                Again::Always
            } else if error.is_transient() {
                Again::IfSafe
            } else {
                Again::Never
            },
            error,
            at_least: wait.unwrap_or_default(),
        }
    }

    /// Reads the server's reason, or returns that of the status.
    async fn error_message(&self, response: Response) -> String {
        let status = response.status;
        let body = self.collect(response, MAX_ERROR_BODY).await.ok();
        let body = body.and_then(|body| serde_json::from_slice::<ErrorBody>(&body).ok());
        match body {
            Some(body) => quote(&body.message),
            None => status
                .canonical_reason()
                .unwrap_or("no reason given")
                .to_owned(),
        }
    }
}

fn header_text(response: &Response, name: &HeaderName) -> Option<String> {
    let value = response.headers.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn path_only(path: &str) -> &str {
    path.split('?').next().unwrap_or(path)
}

#[cfg(test)]
mod tests;
