//! Sending one call: headers, retries with their waits, and a new token after a 401.

use super::failure::Failure;
use super::{Api, path_only};
use crate::call::Call;
use crate::error::{ApiError, CallFailure};
use crate::retry::Again;
use crate::transport::{Request, Response};
use bytes::{Bytes, BytesMut};
use cairn_wire::headers;
use futures_util::StreamExt as _;
use http::{HeaderName, HeaderValue, header};

impl Api {
    /// Tries until a good response is there and `read`, or until trying again makes no sense.
    pub(super) async fn send_with_retries<T, F, R>(
        &self,
        call: &Call,
        read: F,
    ) -> Result<T, CallFailure>
    where
        F: Fn(Response) -> R,
        R: Future<Output = Result<T, Failure>>,
    {
        let mut tried = 0;
        let mut refreshed = false;
        let mut may_be_done = false;
        loop {
            tried += 1;
            let token = self.auth.bearer().await;
            let token = token.map_err(|error| CallFailure { error, may_be_done })?;
            let result = match self.attempt(call, &token).await {
                Ok(response) => {
                    // The server has reported success, whether the rest of the response can be read or not.
                    may_be_done = true;
                    read(response).await
                }
                Err(failure) => Err(failure),
            };
            let failure = match result {
                Ok(value) => return Ok(value),
                Err(failure) => failure,
            };
            if failure.error == ApiError::Unauthorized && !refreshed {
                refreshed = true;
                let renewed = self.auth.refresh(&token).await;
                if renewed.map_err(|error| CallFailure { error, may_be_done })? {
                    continue;
                }
            }
            may_be_done |= matches!(failure.again, Again::IfSafe | Again::AfterSilence);
            if tried >= self.retry.tries || !failure.is_worth_a_try(call.retry, &self.retry) {
                let error = failure.error;
                return Err(CallFailure { error, may_be_done });
            }
            let wait = self
                .retry
                .wait_after(tried, self.entropy.as_ref())
                .max(failure.at_least);
            tracing::debug!(
                method = %call.method, path = path_only(&call.path), tried, ?wait, error = %failure.error,
                "trying again"
            );
            tokio::time::sleep(wait).await;
        }
    }

    async fn attempt(&self, call: &Call, token: &str) -> Result<Response, Failure> {
        let mut headers = call.headers.clone();
        let mut bearer = HeaderValue::from_str(&format!("Bearer {token}"))
            .map_err(|_| ApiError::Unauthorized)?;
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
        ApiError::check_address(base.text.len() + call.path.len())?;
        self.counters.add_request(call.body.len());
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

    /// Reads a whole body, up to a limit.
    pub(super) async fn collect(
        &self,
        mut response: Response,
        limit: usize,
    ) -> Result<Bytes, Failure> {
        let mut whole = BytesMut::new();
        let mut first = Bytes::new();
        while let Some(part) = response.body.next().await {
            let part = part?;
            self.counters.add_received(part.len());
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
}
