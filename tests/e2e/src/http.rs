//! A small blocking HTTP client for the server's REST and `/_dev` interfaces.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::time::Duration;
use ureq::{Agent, RequestBuilder};

/// Speaks JSON with one server, as one account if it has a key.
#[derive(Clone, Debug)]
pub struct Http {
    base: String,
    key: Option<String>,
    space: Option<String>,
    agent: Agent,
}

impl Http {
    #[must_use]
    pub fn new(base: &str, key: Option<&str>) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(Duration::from_secs(60)))
            .http_status_as_error(false)
            // A server that answers before it has read the whole request closes the connection then: a
            // kept one would fail the next request.
            .max_idle_connections(0)
            .build();
        Self {
            base: base.to_owned(),
            key: key.map(str::to_owned),
            space: None,
            agent: config.into(),
        }
    }

    /// Returns a client whose requests are about a team's space.
    #[must_use]
    pub fn in_space(self, space: &str) -> Self {
        Self {
            space: Some(space.to_owned()),
            ..self
        }
    }

    fn with_headers<B>(&self, mut request: RequestBuilder<B>) -> RequestBuilder<B> {
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        if let Some(space) = &self.space {
            request = request.header("x-space-id", space);
        }
        request
    }

    /// # Errors
    /// No answer, or a status other than success.
    pub fn get(&self, path: &str) -> Result<Value> {
        let request = self.with_headers(self.agent.get(format!("{}{path}", self.base)));
        json("GET", path, request.call())
    }

    /// # Errors
    /// Fails like [`Http::get`].
    pub fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let request = self.with_headers(self.agent.post(format!("{}{path}", self.base)));
        json("POST", path, request.send_json(body))
    }

    /// # Errors
    /// Fails like [`Http::get`].
    pub fn put(&self, path: &str, body: &Value) -> Result<Value> {
        let request = self.with_headers(self.agent.put(format!("{}{path}", self.base)));
        json("PUT", path, request.send_json(body))
    }

    /// # Errors
    /// Fails like [`Http::get`].
    pub fn delete(&self, path: &str) -> Result<Value> {
        let request = self.with_headers(self.agent.delete(format!("{}{path}", self.base)));
        json("DELETE", path, request.call())
    }
}

fn json(
    method: &str,
    path: &str,
    response: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
) -> Result<Value> {
    let mut response = response.with_context(|| format!("{method} {path} got no answer"))?;
    let text = response
        .body_mut()
        .with_config()
        .limit(256 * 1024 * 1024)
        .read_to_string()
        .with_context(|| format!("the answer to {method} {path} broke off"))?;
    if !response.status().is_success() {
        bail!("{method} {path} answered {}: {text}", response.status());
    }
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_str(&text)
        .with_context(|| format!("{method} {path} answered no JSON: {text:.200}"))
}
