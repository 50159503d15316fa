//! Any endpoint, as JSON in and JSON out: for callers that have their own table of endpoints.

use crate::auth::Auth;
use crate::call::Call;
use crate::client::Api;
use crate::error::{ApiError, CallFailure};
use crate::names::{open_in_json, sealed_names_error};
use cairn_model::percent_encode;
use http::Method;
use serde_json::Value;
use std::sync::Arc;

impl Api {
    /// Returns the source of the client's tokens, for another client of the same account.
    #[must_use]
    pub fn auth(&self) -> Arc<dyn Auth> {
        self.shared_auth()
    }

    /// Calls an endpoint below `/api/v1` and reads its response, which is null where it has none. A GET
    /// and a POST, which carries an idempotency key, are repeated as the retry policy says. Every part of `path`
    /// becomes one segment, whatever is in it.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn call(
        &self,
        method: Method,
        path: &[&str],
        query: &[(String, String)],
        body: Option<&Value>,
    ) -> Result<Value, ApiError> {
        Ok(self
            .call_under("/api/v1", method, path, query, body)
            .await?)
    }

    /// Calls an endpoint below another root, such as `/v2`, like [`Self::call`].
    ///
    /// # Errors
    /// [`CallFailure`], with whether the call may have been carried out.
    pub async fn call_under(
        &self,
        root: &str,
        method: Method,
        path: &[&str],
        query: &[(String, String)],
        body: Option<&Value>,
    ) -> Result<Value, CallFailure> {
        let mut full = root.to_owned();
        for part in path {
            full.push('/');
            full.push_str(&percent_encode(part));
        }
        let what = format!("{method} {full}");
        if self.is_private() {
            check_sendable(query, body)?;
        }
        let posts = method == Method::POST;
        let mut call = Call::new(method, full).query(&query)?;
        if let Some(body) = body {
            call = call.json(body)?;
        }
        if posts {
            call = self.with_idempotency_key(call)?;
        }
        let response = self.exchange(call).await?;
        if response.is_empty() {
            return Ok(Value::Null);
        }
        let mut value = serde_json::from_slice(&response).map_err(|e| CallFailure {
            error: ApiError::Protocol(format!("{what}: it is not JSON: {e}")),
            // The server has reported success.
            may_be_done: true,
        })?;
        if let Some(names) = self.names() {
            open_in_json(names, &mut value);
        }
        Ok(value)
    }
}

/// Fields of requests that would tell the server of a private space what is in it.
const READABLE: [&str; 8] = [
    "name",
    "new_name",
    "path",
    "description",
    "labels",
    "tags",
    "query",
    "operations",
];

/// Refuses a request with a readable text in a private space.
fn check_sendable(query: &[(String, String)], body: Option<&Value>) -> Result<(), ApiError> {
    let fields = body.and_then(Value::as_object);
    let mut keys = fields
        .into_iter()
        .flat_map(|fields| fields.keys())
        .chain(query.iter().map(|(key, _)| key));
    match keys.find(|key| READABLE.contains(&key.as_str())) {
        Some(key) => Err(sealed_names_error(&format!(
            "`{key}` is not sent there in clear"
        ))),
        None => Ok(()),
    }
}
