//! The development server's `/_dev` interface: fault rules (failures on purpose), the recording of requests, quota.

use crate::http::Http;
use crate::wait;
use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A client of `/_dev` of a server, or of all that look like one: each has faults, a recording and a clock of its own.
#[derive(Clone, Debug)]
pub struct Dev(Vec<Http>);

/// One recorded request.
#[derive(Clone, Debug, Deserialize)]
pub struct Request {
    pub method: String,
    pub path: String,
    #[serde(default)]
    pub query: Option<String>,
    pub status: u16,
    #[serde(default)]
    pub request_bytes: u64,
    #[serde(default)]
    pub response_bytes: u64,
    #[serde(default)]
    pub device: Option<String>,
}

impl Request {
    /// Returns `true` if the request can change nodes or their content. Downloads in batches and key
    /// bundles are POST and PUT too, and change none.
    #[must_use]
    pub fn changes_nodes(&self) -> bool {
        self.method != "GET"
            && (self.path.contains("/nodes")
                || self.path.contains("/uploads")
                || self.path.contains("/trash"))
    }
}

/// A rule that makes the server misbehave.
#[derive(Clone, Debug)]
pub struct Fault(Map<String, Value>);

impl Fault {
    /// Applies to requests whose path begins with the pattern; with `*` it is a glob over the whole
    /// path, with `$` at its end the exact path.
    #[must_use]
    pub fn on(pattern: &str) -> Self {
        Self(Map::from_iter([(
            "path_pattern".to_owned(),
            json!(pattern),
        )]))
    }

    fn with(mut self, name: &str, value: Value) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }

    #[must_use]
    pub fn method(self, method: &str) -> Self {
        self.with("method", json!(method))
    }

    /// Returns this status in place of the real response.
    #[must_use]
    pub fn status(self, status: u16) -> Self {
        self.with("status", json!(status))
    }

    /// Seconds of the `Retry-After` header.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        self.with("retry_after", json!(seconds))
    }

    #[must_use]
    pub fn latency_ms(self, latency: u64) -> Self {
        self.with("latency_ms", json!(latency))
    }

    /// Closes the connection after so many bytes of the response's body.
    #[must_use]
    pub fn cut_after(self, bytes: u64) -> Self {
        self.with("cut_after_bytes", json!(bytes))
    }

    /// Flips a byte of the response's body.
    #[must_use]
    pub fn corrupt(self) -> Self {
        self.with("corrupt", json!(true))
    }

    /// Changes JSON responses: `reorder`, `replay`, `swap_sources`.
    #[must_use]
    pub fn say(self, lie: &str) -> Self {
        self.with("lie", json!(lie))
    }

    /// Replaces one part of a JSON response; `pointer` says which (RFC 6901).
    #[must_use]
    pub fn lie(self, pointer: &str, value: Value) -> Self {
        self.with("set", json!({ pointer: value }))
    }

    /// The rule ends after so many requests.
    #[must_use]
    pub fn times(self, count: u64) -> Self {
        self.with("count", json!(count))
    }
}

impl Dev {
    pub(crate) fn new(bases: &[String]) -> Self {
        Self(bases.iter().map(|base| Http::new(base, None)).collect())
    }

    fn post_to_all(&self, path: &str, body: &Value) -> Result<()> {
        self.0
            .iter()
            .try_for_each(|one| one.post(path, body).map(drop))
    }

    fn delete_at_all(&self, path: &str) -> Result<()> {
        self.0.iter().try_for_each(|one| one.delete(path).map(drop))
    }

    /// Returns the lists of all servers, one after the other.
    fn lists(&self, path: &str, field: &str) -> Result<Vec<Value>> {
        let mut all = Vec::new();
        for one in &self.0 {
            all.extend(list(&one.get(path)?, field)?.iter().cloned());
        }
        Ok(all)
    }

    /// # Errors
    /// The server refuses the rule.
    pub fn fault(&self, fault: &Fault) -> Result<()> {
        self.post_to_all("/_dev/faults", &Value::Object(fault.0.clone()))
    }

    /// # Errors
    /// No answer.
    pub fn clear_faults(&self) -> Result<()> {
        self.delete_at_all("/_dev/faults")
    }

    /// Returns the number of requests that a fault rule has hit, over all rules.
    ///
    /// # Errors
    /// No answer, or one without hit counts.
    pub fn fault_hits(&self) -> Result<u64> {
        let rules = self.lists("/_dev/faults", "faults")?;
        rules
            .iter()
            .map(|rule| {
                rule["hits"]
                    .as_u64()
                    .with_context(|| format!("a fault rule without hits: {rule}"))
            })
            .sum()
    }

    /// Waits until fault rules have applied at least so often.
    ///
    /// # Errors
    /// They did not.
    pub fn wait_for_hits(&self, hits: u64) -> Result<()> {
        wait::holds(
            &format!("{hits} requests meet a fault rule"),
            wait::SYNC,
            || Ok(self.fault_hits()? >= hits),
        )
    }

    /// Everything asked of the REST interface since the start or the last [`Dev::forget_requests`].
    ///
    /// # Errors
    /// No answer, or one of another shape.
    pub fn requests(&self) -> Result<Vec<Request>> {
        let list = self.lists("/_dev/requests", "requests")?;
        let all: Vec<Request> = serde_json::from_value(Value::Array(list))?;
        Ok(all
            .into_iter()
            .filter(|request| !request.path.starts_with("/_dev"))
            .collect())
    }

    /// # Errors
    /// No answer.
    pub fn forget_requests(&self) -> Result<()> {
        self.delete_at_all("/_dev/requests")
    }

    /// Waits until a request of this kind was recorded; gives all that were.
    ///
    /// # Errors
    /// None came.
    pub fn wait_for_request(
        &self,
        what: &str,
        matches: impl Fn(&Request) -> bool,
    ) -> Result<Vec<Request>> {
        wait::until(what, wait::SYNC, || {
            let all = self.requests()?;
            Ok(all.iter().any(&matches).then_some(all))
        })
    }

    /// Puts the server's clock forward.
    ///
    /// # Errors
    /// No answer.
    pub fn advance(&self, by: std::time::Duration) -> Result<()> {
        let ms = u64::try_from(by.as_millis())?;
        self.post_to_all("/_dev/clock/advance", &json!({ "ms": ms }))
    }

    /// Sets how many bytes an account may store.
    ///
    /// # Errors
    /// No answer, or no such account.
    pub fn set_quota(&self, email: &str, bytes: u64) -> Result<()> {
        self.post_to_all(
            "/_dev/quota",
            &json!({"email": email, "storage_limit": bytes}),
        )
    }

    /// Changes how many bytes an account may transfer in a month.
    ///
    /// # Errors
    /// The server refuses.
    pub fn set_bandwidth(&self, email: &str, bytes: u64) -> Result<()> {
        self.post_to_all(
            "/_dev/quota",
            &json!({"email": email, "bandwidth_limit": bytes}),
        )
    }
}

fn list<'a>(response: &'a Value, field: &str) -> Result<&'a Vec<Value>> {
    response
        .as_array()
        .or_else(|| response[field].as_array())
        .with_context(|| format!("expected a list of {field}, got {response:.200}"))
}
